/* Entry points of contexts. */
#include "engine/context.h"
#include "engine/device.h"

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    SIM_ENTER();
    SIM_NOT_NULL(context);
    struct sim_device *device;
    struct sim_context *created;
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_TRY(sim_device_open(device));
    SIM_TRY(sim_context_create(device, false, &created));
    *context = sim_context_handle(created);
    sim_context_bind(created, *context);
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    SIM_ENTER();
    SIM_NOT_NULL(context);
    return sim_context_destroy(context);
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    SIM_ENTER();
    SIM_NOT_NULL(context);
    struct sim_context *found = sim_table_find(&sim_contexts, context);
    SIM_CHECK(found != NULL, ACL_ERROR_RT_PARAM_INVALID, "context is %p, %s, expected a live context", context,
              sim_handle_describe(context));
    sim_context_bind(found, context);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    SIM_ENTER();
    SIM_NOT_NULL(context);
    SIM_ARGUMENT(sim_context_peek() != NULL, ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current context");
    *context = (aclrtContext)(uintptr_t)sim_thread.th_bound;
    return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    SIM_ENTER();
    SIM_NOT_NULL(active);
    SIM_ARGUMENT(flags == NULL, ACL_ERROR_INVALID_PARAM, "flags is %p, expected NULL: it is reserved", (void *)flags);
    SIM_CHECK(deviceId >= 0 && deviceId < SIM_DEVICE_IDS, ACL_ERROR_RT_INVALID_DEVICEID,
              "deviceId is %d, expected 0 to %d", deviceId, SIM_DEVICE_IDS - 1);
    *active = sim_device_is_retained(deviceId);
    return ACL_SUCCESS;
}
