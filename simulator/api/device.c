/* Entry points that set, reset and synchronise devices; queries are in device_query.c. */
#include "base/clock.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "memory/pool.h"

aclError aclrtSetDevice(int32_t deviceId)
{
    SIM_ENTER();
    return sim_device_set(deviceId);
}

aclError aclrtResetDevice(int32_t deviceId)
{
    SIM_ENTER();
    return sim_device_reset(deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    SIM_ENTER();
    return sim_device_reset(deviceId, true);
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    SIM_ENTER();
    SIM_NOT_NULL(deviceId);
    const struct sim_context *context = sim_context_peek();
    SIM_ARGUMENT(context != NULL || sim_device_default() >= 0, ACL_ERROR_RT_CONTEXT_NULL,
                 "this thread has no current context, expected aclrtSetDevice before");
    *deviceId = context != NULL ? context->cx_device->dv_id : sim_device_default();
    return ACL_SUCCESS;
}

static aclError synchronize(int32_t timeout)
{
    struct sim_context *context;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_context_current(&context));
    aclError code = sim_context_synchronize(context, timeout);
    sim_pool_settle();
    return code;
}

aclError aclrtSynchronizeDevice(void)
{
    SIM_ENTER();
    return synchronize(-1);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    SIM_ENTER();
    SIM_TIMEOUT_BOUND(timeout);
    SIM_TIMEOUT_NOT_ZERO(timeout);
    return synchronize(timeout);
}
