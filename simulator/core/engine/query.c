/* Queries that depend only on the configuration: versions of packages, and attributes of the platform and the devices.
 *
 * It owns no state and needs no lock: the configuration is an immutable snapshot. */
#include "query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first ones are in the order of aclCANNPackageName. The others are parts of newer toolkits, which have names
 * only. */
static const char *const packages[] = {
    "cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver",
    "aoe", "asc_devkit", "asc_tools", "bisheng_compiler", "firmware", "ge_compiler", "ge_executor", "graph_autofusion",
    "hcomm", "hixl", "metadef", "ncs", "npu_runtime", "oam_tools", "opbase", "ops_base", "ops_cv", "ops_legacy",
    "ops_math", "ops_nn", "ops_sparse", "ops_tensor", "ops_transformer", "tools",
};

const char *sim_query_package(aclCANNPackageName package)
{
    return (size_t)package <= ACL_PKG_NAME_DRIVER ? packages[package] : NULL;
}

static bool is_same_package(const char *one, const char *other)
{
    while (*one != '\0' && (*one == *other || (*one == '-' && *other == '_')))
        one++, other++;
    return *one == *other;
}

aclError sim_query_version(const char *package, struct sim_version *version)
{
    size_t index = 0;
    while (index < sizeof packages / sizeof *packages && !is_same_package(package, packages[index]))
        index++;
    SIM_ARGUMENT(index < sizeof packages / sizeof *packages, ACL_ERROR_INVALID_FILE,
                 "pkgName is \"%.64s\", expected a package of a toolkit, such as cann, runtime, compiler, hccl, "
                 "toolkit, opp, opp_kernel, driver, ops_math, ops_nn, ops_cv, ops_transformer or ops_legacy", package);
    uint32_t cann = sim_config()->cf_cann;
    *version = (struct sim_version){.ve_major = cann / 100 % 100, .ve_minor = cann % 100};
    snprintf(version->ve_text, sizeof version->ve_text, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, version->ve_major % 100,
             version->ve_minor, version->ve_patch);
    return ACL_SUCCESS;
}

/* ---- the platform ---- */

static aclError put_text(char *target, uint32_t size, const char *text)
{
    SIM_ARGUMENT(strlen(text) < size, ACL_ERROR_INVALID_PARAM, "maxLen is %u, expected at least %zu", size,
                 strlen(text) + 1);
    strcpy(target, text);
    return ACL_SUCCESS;
}

static aclError put_number(char *target, uint32_t size, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return put_text(target, size, text);
}

aclError sim_query_platform(aclplatformDevInfo what, char *text, uint32_t size)
{
    const struct sim_config *config = sim_config();
    const struct sim_soc *soc = config->cf_soc;
    switch (what) {
    case ACL_PLATFORM_AICORE_CNT:
        return put_number(text, size, soc->so_ai_core);
    case ACL_PLATFORM_AICORE_UB_SIZE:
        return put_number(text, size, soc->so_ub);
    case ACL_PLATFORM_CUBE_CORE_CNT:
        return put_number(text, size, soc->so_cube_core);
    case ACL_PLATFORM_VECTOR_CORE_CNT:
        return put_number(text, size, soc->so_vector_core);
    case ACL_PLATFORM_L2_SIZE:
        return put_number(text, size, soc->so_l2);
    case ACL_PLATFORM_MEMORY_SIZE:
        return put_number(text, size, config->cf_memory);
    case ACL_PLATFORM_CUBE_FREQ:
        return put_number(text, size, soc->so_mhz);
    case ACL_PLATFORM_SOC_VERSION:
        return put_text(text, size, soc->so_name);
    case ACL_PLATFORM_AIC_VERSION:
        return put_text(text, size, soc->so_aic);
    case ACL_PLATFORM_NPU_ARCH:
        return put_number(text, size, sim_soc_family(soc)->fa_arch);
    case ACL_PLATFORM_VEC_FREQ:
    case ACL_PLATFORM_BT_SIZE:
    case ACL_PLATFORM_L0_A_SIZE:
    case ACL_PLATFORM_L0_B_SIZE:
    case ACL_PLATFORM_L0_C_SIZE:
    case ACL_PLATFORM_L1_SIZE:
    case ACL_PLATFORM_MEMORY_TYPE:
        return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "infoType is %d, which is not known for the %s", what,
                          soc->so_name);
    }
    return sim_refuse(ACL_ERROR_INVALID_PARAM, "infoType is %d, expected 0 to %d", what, ACL_PLATFORM_MEMORY_TYPE);
}

/* ---- devices ---- */

aclError sim_query_attribute(uint32_t device, aclrtDevAttr attribute, int64_t *value)
{
    const struct sim_config *config = sim_config();
    const struct sim_soc *soc = config->cf_soc;
    SIM_CHECK(device < config->cf_visible_count, ACL_ERROR_RT_PARAM_INVALID,
              "deviceId is %u, expected less than %u, the number of devices", device, config->cf_visible_count);
    int32_t logical = config->cf_visible[device];
    switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = soc->so_ai_cpu;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
        *value = soc->so_ai_core;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = soc->so_cube_core;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = soc->so_vector_core;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = (int64_t)config->cf_memory;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = (int64_t)soc->so_l2;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
        *value = logical;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
        *value = ACL_HOST_DEVICE_CONNECT_TYPE_PCIE;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
        *value = ACL_DEVICE_FORM_FACTOR_PCIE_CARD;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH:
        *value = sim_soc_family(soc)->fa_arch;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_WARP_SIZE:
    case ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_MAX_GRID_DIM_X:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Y:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Z:
    case ACL_DEV_ATTR_MAX_BLOCK_PER_GRID:
    case ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_X:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Y:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Z:
        SIM_SUPPORTED(soc->so_profile != SIM_P950, "attr is %d, which is not known for the %s", attribute,
                      soc->so_name);
        *value = 0; /* no SIMT on this chip */
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0; /* one server, no pod, a whole chip */
        return ACL_SUCCESS;
    }
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "attr is %d, expected a value of aclrtDevAttr", attribute);
}

int64_t sim_query_older_attribute(aclDeviceInfo info)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
        return soc->so_ai_core;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        return soc->so_vector_core;
    case ACL_DEVICE_INFO_L2_SIZE:
        return (int64_t)soc->so_l2;
    case ACL_DEVICE_INFO_UNDEFINED:
        break;
    }
    return -1;
}

void sim_query_uuid(int32_t logical, aclrtUuid *uuid)
{
    uint64_t mixed[2] = {UINT64_C(0xcbf29ce484222325), (uint64_t)logical + 1};
    for (const char *at = sim_config()->cf_soc->so_name; *at != '\0'; at++)
        mixed[0] = (mixed[0] ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    mixed[1] *= mixed[0] | 1;
    _Static_assert(sizeof mixed == sizeof *uuid, "two words");
    memcpy(uuid->bytes, mixed, sizeof mixed);
}

uint64_t sim_query_link(int32_t one, int32_t other)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    if (profile == SIM_P310B || profile == SIM_P310P)
        return ACL_RT_DEVS_TOPOLOGY_PIX; /* cards behind one PCIe switch */
    return profile == SIM_PA3 && one != other ? ACL_RT_DEVS_TOPOLOGY_HCCS_SW : ACL_RT_DEVS_TOPOLOGY_HCCS;
}

const aclCannAttr *sim_query_cann_attributes(size_t *count)
{
    /* Every chip here has the last feature, precompiled operators. */
    static const aclCannAttr attributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};
    size_t first = sim_config()->cf_soc->so_profile <= SIM_PA2 ? 0 : 2;
    *count = sizeof attributes / sizeof *attributes - first;
    return &attributes[first];
}

void sim_query_bus_id(int32_t logical, char text[SIM_BUS_ID_BYTES])
{
    snprintf(text, SIM_BUS_ID_BYTES, "0000:%02x:00.0", ((unsigned)logical + 1) & 0xff);
}

int32_t sim_query_user_id(int32_t logical)
{
    const struct sim_config *config = sim_config();
    for (uint32_t i = 0; i < config->cf_visible_count; i++) {
        if (config->cf_visible[i] == logical)
            return (int32_t)i;
    }
    return -1;
}

/* ---- atomic operations ---- */

#define OPERATIONS_MAX 1024 /* more than exist */

static bool is_operation(aclrtAtomicOperation operation)
{
    return operation <= ACL_RT_ATOMIC_OPERATION_FLOAT_MAX ||
           (operation >= ACL_RT_ATOMIC_OPERATION_DMA_ADD && operation <= ACL_RT_ATOMIC_OPERATION_DMA_MAX) ||
           (operation >= ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD &&
            operation <= ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH);
}

/* No task here works on memory atomically, so that no operation has a capability. */
aclError sim_query_atomics(uint32_t *capabilities, const aclrtAtomicOperation *operations, uint32_t count)
{
    SIM_CHECK(capabilities != NULL, ACL_ERROR_RT_PARAM_INVALID, "capabilities is NULL, expected an array of count");
    SIM_CHECK(operations != NULL, ACL_ERROR_RT_PARAM_INVALID, "operations is NULL, expected an array of count");
    SIM_CHECK(count != 0 && count <= OPERATIONS_MAX, ACL_ERROR_RT_PARAM_INVALID, "count is %u, expected 1 to %d", count,
              OPERATIONS_MAX);
    for (uint32_t i = 0; i < count; i++)
        SIM_CHECK(is_operation(operations[i]), ACL_ERROR_RT_PARAM_INVALID,
                  "operations[%u] is %d, expected a value of aclrtAtomicOperation", i, (int)operations[i]);
    memset(capabilities, 0, count * sizeof *capabilities);
    return ACL_SUCCESS;
}
