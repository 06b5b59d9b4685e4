/* Entry points of memory queries: use of a device's memory, types of addresses, and access of devices to host memory.
 * More queries are in memory.c. */
#include "address/memory.h"
#include "base/config.h"
#include "engine/device.h"
#include "engine/query.h"

/* The only component that uses memory here is the program. */
aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum)
{
    SIM_ENTER();
    struct sim_device *device;
    SIM_NOT_NULL(memUsageInfo);
    SIM_NOT_NULL(outputNum);
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile != SIM_P950, "%s does not report memory use per component",
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(inputNum != 0, ACL_ERROR_RT_PARAM_INVALID, "inputNum is 0, expected at least 1");
    SIM_TRY(sim_device_find(deviceId, &device));
    struct sim_usage usage = sim_memory_usage(deviceId);
    *memUsageInfo = (aclrtMemUsageInfo){.name = "APP", .curMemSize = usage.us_now, .memPeakSize = usage.us_peak};
    *outputNum = 1;
    return ACL_SUCCESS;
}

#define MEMORY_TYPES (ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD)

/* The ACL_RT_MEM_TYPE_* bits of an address; 0 if it is not device memory. */
static uint32_t type_of(const void *address)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    if (place.pl_class != SIM_MEMORY_DEVICE)
        return 0;
    bool one_kind = sim_config()->cf_soc->so_profile == SIM_P950; /* there, all device memory is also media memory */
    return one_kind ? ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP : ACL_RT_MEM_TYPE_DEV;
}

aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve)
{
    SIM_ENTER();
    SIM_NOT_NULL(addrList);
    SIM_NOT_NULL(checkResult);
    SIM_CHECK(size != 0, ACL_ERROR_RT_PARAM_INVALID, "size is 0, expected the length of addrList");
    SIM_CHECK(memType != 0 && (memType & ~(uint32_t)MEMORY_TYPES) == 0, ACL_ERROR_RT_PARAM_INVALID,
              "memType is %#x, expected a sum of ACL_RT_MEM_TYPE_DEV (0x2), _DVPP (0x8) and _RSVD (0x10)", memType);
    SIM_CHECK(reserve == 0, ACL_ERROR_RT_PARAM_INVALID, "reserve is %u, expected 0: it is reserved", reserve);
    uint32_t index = 0;
    while (index < size && (type_of(addrList[index]) & memType) != 0)
        index++;
    *checkResult = index == size;
    return ACL_SUCCESS;
}

/* ---- host memory ---- */

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities)
{
    SIM_ENTER();
    SIM_NOT_NULL(capabilities);
    SIM_CHECK(deviceId < sim_config_devices(), ACL_ERROR_RT_INVALID_DEVICEID,
              "deviceId is %u, expected less than %u, the number of devices", deviceId, sim_config_devices());
    SIM_CHECK((unsigned)hacType <= ACL_RT_HAC_TYPE_CCU, ACL_ERROR_RT_PARAM_INVALID,
              "hacType is %d, expected an aclrtHacType (0 to %d)", hacType, ACL_RT_HAC_TYPE_CCU);
    bool newest_only = hacType == ACL_RT_HAC_TYPE_UDMA || hacType == ACL_RT_HAC_TYPE_CCU;
    bool there = !newest_only || sim_config()->cf_soc->so_profile == SIM_P950;
    *capabilities =
        there && sim_memory_maps_host() ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
                                              const uint32_t count, int32_t deviceId)
{
    SIM_ENTER();
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    return sim_query_atomics(capabilities, operations, count);
}
