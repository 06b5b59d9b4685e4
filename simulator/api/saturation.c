/* Entry points of saturation: the overflow mode of a device, and overflow checks of streams. */
#include "memory/saturation.h"
#include "base/config.h"
#include "engine/context.h"
#include "engine/stream.h"

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    SIM_ENTER();
    SIM_CHECK(mode == ACL_RT_OVERFLOW_MODE_SATURATION || mode == ACL_RT_OVERFLOW_MODE_INFNAN,
              ACL_ERROR_RT_PARAM_INVALID,
              "mode is %d, expected ACL_RT_OVERFLOW_MODE_SATURATION (0) or ACL_RT_OVERFLOW_MODE_INFNAN (1)", (int)mode);
    return sim_saturation_set_mode(mode);
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    SIM_ENTER();
    SIM_NOT_NULL(mode);
    *mode = sim_saturation_mode();
    return ACL_SUCCESS;
}

/* The switch can be set and read on every chip. On a chip without it, setting has no effect and reading gives 0. */
static bool has_switch(void)
{
    return sim_config()->cf_soc->so_profile <= SIM_PA2;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    SIM_ENTER();
    SIM_ARGUMENT(flag <= 1, ACL_ERROR_INVALID_PARAM, "flag is %u, expected 0 or 1", flag);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(sim_stream_refuse_captured(target.tg_stream));
    return has_switch() ? sim_saturation_switch(SIM_SWITCH, target, flag != 0, SIM_SITE()) : ACL_SUCCESS;
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(flag);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    SIM_TRY(sim_stream_refuse_captured(target.tg_stream));
    *flag = atomic_load(&target.tg_stream->st_saturation.sa_asked);
    return ACL_SUCCESS;
}

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(outputAddr);
    return sim_saturation_read(SIM_STATUS, outputAddr, outputSize, stream, SIM_SITE());
}

aclError aclrtResetOverflowStatus(aclrtStream stream)
{
    SIM_ENTER();
    return sim_saturation_clear(SIM_STATUS, stream, SIM_SITE());
}

aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream)
{
    SIM_ENTER();
    return sim_saturation_read(SIM_STATUS_FLOAT, outputAddr, outputSize, stream, SIM_SITE());
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream)
{
    SIM_ENTER();
    return sim_saturation_clear(SIM_STATUS_FLOAT, stream, SIM_SITE());
}

/* checkMode is internal to the vendor's library: every value is accepted, and none has an effect. */
aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream)
{
    SIM_ENTER();
    (void)checkMode;
    return sim_saturation_clear(SIM_STATUS_NPU, stream, SIM_SITE());
}

aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr)
{
    SIM_ENTER();
    SIM_CHECK(overflowAddr != NULL, ACL_ERROR_RT_PARAM_INVALID, "overflowAddr is NULL, expected a valid pointer");
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    return sim_saturation_address(context, overflowAddr);
}
