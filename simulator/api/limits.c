/* Entry points of system switches, time-outs, device limits and core limits. */
#include "engine/limits.h"
#include "base/config.h"
#include "engine/device.h"
#include "engine/query.h"

/* ---- switches ---- */

static aclError check_option(aclSysParamOpt opt, int64_t value)
{
    int64_t most = opt == ACL_OPT_DETERMINISTIC ? 3 : 1;
    SIM_CHECK(value >= 0 && value <= most, ACL_ERROR_RT_PARAM_INVALID, "value is %lld, expected 0 to %lld",
              (long long)value, (long long)most);
    return ACL_SUCCESS;
}

#define IS_OPTION(opt, count)                                                                                          \
    SIM_ARGUMENT((unsigned)(opt) < (count), ACL_ERROR_INVALID_PARAM, "opt is %d, expected 0 to %d", (int)(opt),        \
                 (int)(count) - 1)

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    SIM_ENTER();
    IS_OPTION(opt, SIM_PROCESS_OPTIONS);
    SIM_TRY(check_option(opt, value));
    sim_limits_set_option(opt, value);
    return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    SIM_ENTER();
    IS_OPTION(opt, SIM_PROCESS_OPTIONS);
    SIM_NOT_NULL(value);
    *value = sim_limits_option(opt);
    return ACL_SUCCESS;
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    SIM_ENTER();
    IS_OPTION(opt, SIM_CONTEXT_OPTIONS);
    SIM_TRY(check_option(opt, value));
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    atomic_store(&context->cx_options[opt], (uint8_t)(value + 1));
    return ACL_SUCCESS;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    SIM_ENTER();
    IS_OPTION(opt, SIM_CONTEXT_OPTIONS);
    SIM_NOT_NULL(value);
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    uint8_t set = atomic_load(&context->cx_options[opt]);
    SIM_CHECK(set != 0, ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
              "opt is %d, which was never set in the current context, expected aclrtCtxSetSysParamOpt before",
              (int)opt);
    *value = set - 1;
    return ACL_SUCCESS;
}

/* ---- time-outs ---- */

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    SIM_ENTER();
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile != SIM_P310P, "the %s does not support a time-out for waits", soc->so_name);
    sim_limits_set_wait(soc->so_profile == SIM_P910 ? 0 : timeout); /* P910 accepts any and waits without limit */
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    SIM_ENTER();
    sim_limits_set_execute(timeout * UINT64_C(1000000));
    return ACL_SUCCESS;
}

/* Only chips that are not simulated have it. */
aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    SIM_ENTER();
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      "timeout is %u, and the %s does not support milliseconds, expected aclrtSetOpExecuteTimeOutV2",
                      timeout,
                      sim_config()->cf_soc->so_name);
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(actualTimeout);
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *actualTimeout = sim_limits_set_execute(timeout);
    return ACL_SUCCESS;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
    SIM_ENTER();
    SIM_NOT_NULL(interval);
    *interval = sim_limits_interval();
    return ACL_SUCCESS;
}

/* ---- device limits ---- */

static aclError check_limit(aclrtDeviceLimit limit)
{
    SIM_ARGUMENT((unsigned)limit <= ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, ACL_ERROR_INVALID_PARAM,
                 "limit is %d, expected 0 to %d", (int)limit, ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE);
    return ACL_SUCCESS;
}

/* The vendor's runtime asks logical device 0, whatever the current device is. */
static aclError check_first_device(aclrtDeviceLimit limit)
{
    SIM_SUPPORTED(sim_limits_has(limit), "limit is %d, which the %s does not have", (int)limit,
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(sim_query_user_id(0) >= 0, ACL_ERROR_RT_INVALID_DEVICEID,
              "ASCEND_RT_VISIBLE_DEVICES hides device 0, through which limits are set, expected it among them");
    return ACL_SUCCESS;
}

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value)
{
    SIM_ENTER();
    SIM_TRY(check_limit(limit));
    SIM_ARGUMENT(value <= UINT32_MAX, ACL_ERROR_INVALID_PARAM, "value is %zu, expected at most %u", value, UINT32_MAX);
    SIM_TRY(check_first_device(limit));
    return sim_limits_set_size(limit, value, "value");
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value)
{
    SIM_ENTER();
    SIM_TRY(check_limit(limit));
    SIM_NOT_NULL(value);
    SIM_TRY(check_first_device(limit));
    *value = sim_limits_size(limit);
    return ACL_SUCCESS;
}

/* ---- cores ---- */

static aclError check_type(aclrtDevResLimitType type)
{
    SIM_CHECK(type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE, ACL_ERROR_RT_PARAM_INVALID,
              "type is %d, expected ACL_RT_DEV_RES_CUBE_CORE (0) or ACL_RT_DEV_RES_VECTOR_CORE (1)", (int)type);
    return ACL_SUCCESS;
}

static aclError check_cores(aclrtDevResLimitType type, uint32_t value)
{
    SIM_TRY(check_type(type));
    uint32_t most = sim_limits_hardware(type);
    SIM_CHECK(most != 0, ACL_ERROR_RT_PARAM_INVALID, "value is %u, and the %s has no cores of type %d", value,
              sim_config()->cf_soc->so_name, (int)type);
    SIM_CHECK(value != 0 && value <= most, ACL_ERROR_RT_PARAM_INVALID,
              "value is %u, expected 1 to %u, the number of cores of that type on the %s", value, most,
              sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
    SIM_ENTER();
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_TRY(check_cores(type, value));
    sim_limits_set_device(deviceId, type, value);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_TRY(check_type(type));
    *value = sim_limits_of_device(deviceId, type);
    return ACL_SUCCESS;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId)
{
    SIM_ENTER();
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    for (int type = 0; type < SIM_CORE_TYPES; type++)
        sim_limits_set_device(deviceId, (aclrtDevResLimitType)type, 0);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    SIM_TRY(check_cores(type, value));
    atomic_store(&target.tg_stream->st_cores[type], value);
    return ACL_SUCCESS;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    SIM_TRY(check_type(type));
    *value = sim_limits_of_stream(target.tg_stream, type);
    return ACL_SUCCESS;
}

aclError aclrtResetStreamResLimit(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    for (int type = 0; type < SIM_CORE_TYPES; type++)
        atomic_store(&target.tg_stream->st_cores[type], 0);
    return ACL_SUCCESS;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    sim_limits_use(target);
    return ACL_SUCCESS;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    sim_limits_stop_using(target);
    return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    SIM_TRY(check_type(type));
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *value = sim_limits_of_thread(context->cx_device->dv_id, type);
    return ACL_SUCCESS;
}
