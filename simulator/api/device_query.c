/* Entry points of queries about devices: their number, state, capabilities and ids. */
#include "address/memory.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/query.h"
#include "memory/saturation.h"

#include <string.h>

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    SIM_ENTER();
    SIM_NOT_NULL(runMode);
    *runMode = sim_memory_runs_on_device() ? ACL_DEVICE : ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    SIM_ENTER();
    SIM_NOT_NULL(count);
    const struct sim_config *config = sim_config();
    SIM_CHECK(!config->cf_visible_bad, ACL_ERROR_RT_NO_DEVICE,
              "ASCEND_RT_VISIBLE_DEVICES does not begin with a device, expected ascending ids from 0 to %d with commas "
              "between them", (int)config->cf_devices - 1);
    *count = config->cf_visible_count;
    return ACL_SUCCESS;
}

aclError aclrtSetTsDevice(aclrtTsId tsId)
{
    SIM_ENTER();
    SIM_ARGUMENT(tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR, ACL_ERROR_INVALID_PARAM,
                 "tsId is %d, expected ACL_TS_ID_AICORE (0) or ACL_TS_ID_AIVECTOR (1)", tsId);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(utilizationInfo);
    SIM_ARGUMENT(utilizationInfo->utilizationExtend == NULL, ACL_ERROR_INVALID_PARAM,
                 "utilizationInfo->utilizationExtend is %p, expected NULL: it is reserved",
                 (void *)utilizationInfo->utilizationExtend);
    const struct sim_config *config = sim_config();
    bool exists = deviceId >= 0 && (uint32_t)deviceId < config->cf_visible_count;
    *utilizationInfo = (aclrtUtilizationInfo){
        .cubeUtilization = exists ? 0 : -1,
        .vectorUtilization = exists && config->cf_soc->so_vector_core != 0 ? 0 : -1,
        .aicpuUtilization = exists ? 0 : -1,
        .memoryUtilization = -1,
    };
    return ACL_SUCCESS;
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    SIM_ENTER();
    SIM_NOT_NULL(deviceStatus);
    struct sim_device *found;
    SIM_TRY(sim_device_find(deviceId, &found));
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    return sim_query_attribute(deviceId, attr, value);
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    uint32_t count = sim_config()->cf_visible_count;
    SIM_ARGUMENT(deviceId < count, ACL_ERROR_INVALID_PARAM,
                 "deviceId is %u, expected less than %u, the number of devices", deviceId, count);
    int64_t found = sim_query_older_attribute(deviceInfo);
    SIM_ARGUMENT(found >= 0, ACL_ERROR_INVALID_PARAM, "deviceInfo is %d, expected 0 to %d", (int)deviceInfo,
                 ACL_DEVICE_INFO_L2_SIZE);
    *value = found;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    struct sim_device *found;
    SIM_TRY(sim_device_find(deviceId, &found));
    bool updates = devFeatureType == ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV;
    SIM_CHECK(updates || devFeatureType == ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, ACL_ERROR_RT_PARAM_INVALID,
              "devFeatureType is %d, expected 1 or 21", (int)devFeatureType);
    bool has = updates && sim_config()->cf_soc->so_profile <= SIM_PA2; /* chips that can update captured tasks */
    *value = has ? ACL_DEV_FEATURE_SUPPORT : ACL_DEV_FEATURE_NOT_SUPPORT;
    return ACL_SUCCESS;
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    struct sim_device *one, *other;
    SIM_TRY(sim_device_find((int32_t)deviceId, &one));
    SIM_TRY(sim_device_find((int32_t)otherDeviceId, &other));
    *value = sim_query_link(one->dv_id, other->dv_id);
    return ACL_SUCCESS;
}

/* ---- ids ---- */

static aclError check_told(const char *what)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile <= SIM_PA2, "the %s does not report its %s", soc->so_name, what);
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid)
{
    SIM_ENTER();
    SIM_NOT_NULL(uuid);
    SIM_TRY(check_told("identity"));
    struct sim_device *found;
    SIM_TRY(sim_device_find(deviceId, &found));
    sim_query_uuid(sim_config()->cf_visible[deviceId], uuid);
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len)
{
    SIM_ENTER();
    SIM_NOT_NULL(pciBusId);
    SIM_TRY(check_told("PCI bus id"));
    struct sim_device *found;
    SIM_TRY(sim_device_find(deviceId, &found));
    SIM_CHECK(len >= SIM_BUS_ID_BYTES, ACL_ERROR_RT_PARAM_INVALID, "len is %d, expected at least %d", len,
              SIM_BUS_ID_BYTES);
    sim_query_bus_id(sim_config()->cf_visible[deviceId], pciBusId);
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId)
{
    SIM_ENTER();
    SIM_NOT_NULL(pciBusId);
    SIM_NOT_NULL(deviceId);
    SIM_TRY(check_told("PCI bus id"));
    const struct sim_config *config = sim_config();
    for (uint32_t i = 0; i < config->cf_visible_count; i++) {
        char text[SIM_BUS_ID_BYTES];
        sim_query_bus_id(config->cf_visible[i], text);
        if (strcasecmp(text, pciBusId) == 0) {
            *deviceId = (int32_t)i;
            return ACL_SUCCESS;
        }
    }
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "pciBusId is \"%.64s\", which no visible device has; expected one such "
                    "as \"0000:01:00.0\"", pciBusId);
}

/* Logical and physical ids are the same here. */
static aclError logical_of_user(const char *name, int32_t user, int32_t *logical)
{
    const struct sim_config *config = sim_config();
    SIM_CHECK(user >= 0 && (uint32_t)user < config->cf_visible_count, ACL_ERROR_RT_PARAM_INVALID,
              "%s is %d, expected 0 to %d", name, user, (int)config->cf_visible_count - 1);
    *logical = config->cf_visible[user];
    return ACL_SUCCESS;
}

static aclError user_of_logical(const char *name, int32_t logical, int32_t *user)
{
    int32_t found = sim_query_user_id(logical);
    SIM_CHECK(found >= 0, ACL_ERROR_RT_PARAM_INVALID,
              "%s is %d, which is not among the %u devices that ASCEND_RT_VISIBLE_DEVICES shows", name, logical,
              sim_config()->cf_visible_count);
    *user = found;
    return ACL_SUCCESS;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    SIM_ENTER();
    SIM_NOT_NULL(logicDevId);
    return logical_of_user("userDevid", userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    SIM_ENTER();
    SIM_NOT_NULL(userDevid);
    return user_of_logical("logicDevId", logicDevId, userDevid);
}

/* Despite its name it returns the user's id, as the vendor's function does. */
aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId)
{
    SIM_ENTER();
    SIM_NOT_NULL(logicDevId);
    return user_of_logical("phyDevId", phyDevId, logicDevId);
}

/* Despite its name it takes the user's id, as the vendor's function does. */
aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId)
{
    SIM_ENTER();
    SIM_NOT_NULL(phyDevId);
    return logical_of_user("logicDevId", logicDevId, phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    SIM_ENTER();
    SIM_NOT_NULL(userDevId);
    return user_of_logical("phyDevId", phyDevId, userDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    SIM_ENTER();
    SIM_NOT_NULL(phyDevId);
    return logical_of_user("userDevId", userDevId, phyDevId);
}

/* ---- the current device ---- */

aclError aclrtDeviceL2CacheFlush(void *rsv)
{
    SIM_ENTER();
    SIM_ARGUMENT(rsv == NULL, ACL_ERROR_INVALID_PARAM, "rsv is %p, expected NULL: it is reserved", rsv);
    struct sim_context *context;
    return sim_context_current(&context);
}

/* checkMode is internal to the vendor's library: every value is accepted, and none has an effect. */
aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize, uint32_t checkMode, aclrtStream stream)
{
    SIM_ENTER();
    (void)checkMode;
    return sim_saturation_read(SIM_STATUS_NPU, outputAddr, outputSize, stream, SIM_SITE());
}
