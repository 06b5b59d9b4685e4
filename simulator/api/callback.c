/* Entry points of callbacks: host functions in streams, reports of exceptions, and registered callbacks. */
#include "engine/callback.h"
#include "base/config.h"
#include "base/registry.h"
#include "engine/engine.h"
#include "engine/init.h"
#include "kernel/kernel.h"

#define NO_VALUE UINT32_MAX /* what the getters of an exception return on failure */

/* Only Ascend 950, Atlas A3 and A2 have it. */
#define ON_RECOVERABLE_ONLY()                                                                                          \
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile <= SIM_PA2,                                                         \
                  "%s does not support it, expected a chip of profile P950, PA3 or PA2", sim_config()->cf_soc->so_name)

#define FUNCTION_NOT_NULL(function)                                                                                    \
    SIM_CHECK((function) != NULL, ACL_ERROR_RT_PARAM_INVALID, "%s is NULL, expected a function", #function)

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    return sim_callback_subscribe(threadId, target);
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    return sim_callback_unsubscribe(threadId, target);
}

aclError aclrtProcessReport(int32_t timeout)
{
    SIM_ENTER();
    SIM_ARGUMENT(timeout >= -1 && timeout != 0, ACL_ERROR_INVALID_PARAM,
                 "timeout is %d, expected milliseconds above 0, or -1 to wait without limit", timeout);
    return sim_callback_process(timeout);
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream)
{
    SIM_ENTER();
    SIM_ARGUMENT(blockType == ACL_CALLBACK_NO_BLOCK || blockType == ACL_CALLBACK_BLOCK, ACL_ERROR_INVALID_PARAM,
                 "blockType is %d, expected ACL_CALLBACK_NO_BLOCK (0) or ACL_CALLBACK_BLOCK (1)", (int)blockType);
    FUNCTION_NOT_NULL(fn);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_callback_launch(fn, userData, blockType == ACL_CALLBACK_BLOCK, target, SIM_SITE());
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    SIM_ENTER();
    FUNCTION_NOT_NULL(fn);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_callback_host_function(fn, args, target, SIM_SITE());
}

/* Only compact chips run host functions on a thread of the program, and no profile describes such a chip. */
static aclError on_compact_only(void)
{
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s does not support it, expected a compact chip; use "
                      "aclrtLaunchHostFunc here",
                      sim_config()->cf_soc->so_name);
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    SIM_ENTER();
    (void)hostFuncThreadId, (void)exeStream;
    return on_compact_only();
}

aclError aclrtProcessHostFunc(int32_t timeout)
{
    SIM_ENTER();
    (void)timeout;
    return on_compact_only();
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    SIM_ENTER();
    (void)hostFuncThreadId, (void)exeStream;
    return on_compact_only();
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId)
{
    SIM_ENTER();
    SIM_NOT_NULL(taskId);
    *taskId = sim_thread.th_has_last_task ? sim_thread.th_last_task : NO_VALUE;
    return ACL_SUCCESS;
}

/* ---- exceptions ---- */

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    SIM_ENTER();
    return sim_exception_set(callback);
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    SIM_ENTER();
    SIM_ARGUMENT(callback != NULL, ACL_ERROR_RT_PARAM_INVALID, "callback is NULL, expected a function");
    return sim_exception_register(callback);
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    SIM_ENTER();
    SIM_ARGUMENT(callback != NULL, ACL_ERROR_RT_PARAM_INVALID, "callback is NULL, expected a function");
    sim_exception_unregister(callback);
    return ACL_SUCCESS;
}

/* Returns the report, or NULL after recording a message. */
static const struct rtExceptionInfo *find_report(const aclrtExceptionInfo *info)
{
    const struct rtExceptionInfo *found = sim_exception_find(info);
    if (found == NULL)
        sim_refuse(ACL_ERROR_INVALID_PARAM, "info is %p, expected the info argument of the exception callback that is "
                   "running now",
                   (const void *)info);
    return found;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    return found != NULL ? found->ex_task : NO_VALUE;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    return found != NULL ? found->ex_stream : NO_VALUE;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    return found != NULL ? found->ex_thread : NO_VALUE;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    return found != NULL ? found->ex_device : NO_VALUE;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    return found != NULL ? found->ex_code : NO_VALUE;
}

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen)
{
    SIM_ENTER();
    const struct rtExceptionInfo *found = find_report(info);
    if (found == NULL)
        return (aclError)NO_VALUE;
    SIM_NOT_NULL(devArgsPtr);
    SIM_NOT_NULL(devArgsLen);
    SIM_ARGUMENT(found->ex_args != NULL, (aclError)NO_VALUE,
                 "the task of info has no arguments in device memory, expected a kernel launched with arguments in "
                 "device memory");
    *devArgsPtr = (void *)(uintptr_t)found->ex_args;
    *devArgsLen = found->ex_args_size;
    return ACL_SUCCESS;
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *func)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    const struct rtExceptionInfo *found = find_report(info);
    if (found == NULL)
        return (aclError)NO_VALUE;
    SIM_ARGUMENT(found->ex_function != 0, (aclError)NO_VALUE,
                 "the task of info has no function handle, expected the launch of a kernel");
    *func = (aclrtFuncHandle)(uintptr_t)found->ex_function;
    return ACL_SUCCESS;
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    SIM_NOT_NULL(callback);
    SIM_TRY(sim_kernel_set_callback(binHandle, callback, userData));
    return sim_exception_start();
}

/* ---- registries ---- */

aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback, void *args)
{
    SIM_ENTER();
    SIM_NOT_NULL(regName);
    ON_RECOVERABLE_ONLY();
    return sim_registry_set_abort(regName, callback, args);
}

#define STAGE_AND_CALLBACK(stage, callback)                                                                            \
    do {                                                                                                               \
        ON_RECOVERABLE_ONLY();                                                                                         \
        SIM_CHECK((stage) >= ACL_RT_SNAPSHOT_LOCK_PRE && (stage) <= ACL_RT_SNAPSHOT_UNLOCK_POST,                       \
                  ACL_ERROR_RT_PARAM_INVALID, "stage is %d, expected 0 (LOCK_PRE) to 5 (UNLOCK_POST)", (int)(stage));  \
        FUNCTION_NOT_NULL(callback);                                                                                   \
    } while (0)

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void *args)
{
    SIM_ENTER();
    STAGE_AND_CALLBACK(stage, callback);
    return sim_registry_add_snapshot(stage, callback, args);
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback)
{
    SIM_ENTER();
    STAGE_AND_CALLBACK(stage, callback);
    return sim_registry_remove_snapshot(stage, callback);
}

static aclError check_type(aclRegisterCallbackType type)
{
    SIM_ARGUMENT((uint32_t)type <= ACL_REG_TYPE_ACL_RETR || type == ACL_REG_TYPE_OTHER, ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected 0 to %d or ACL_REG_TYPE_OTHER (65535)", type, ACL_REG_TYPE_ACL_RETR);
    return ACL_SUCCESS;
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(cbFunc);
    SIM_TRY(check_type(type));
    return sim_init_register((struct sim_init_callback){.ic_type = type, .ic_init = cbFunc}, userData);
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
    SIM_ENTER();
    SIM_NOT_NULL(cbFunc);
    return sim_init_unregister((struct sim_init_callback){.ic_type = type, .ic_init = cbFunc});
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(cbFunc);
    SIM_TRY(check_type(type));
    return sim_init_register((struct sim_init_callback){.ic_type = type, .ic_finalize = cbFunc}, userData);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc)
{
    SIM_ENTER();
    SIM_NOT_NULL(cbFunc);
    return sim_init_unregister((struct sim_init_callback){.ic_type = type, .ic_finalize = cbFunc});
}

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback, void *args)
{
    SIM_ENTER();
    SIM_NOT_NULL(regName);
    return sim_registry_set_device_state(regName, callback, args);
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args)
{
    SIM_ENTER();
    SIM_NOT_NULL(regName);
    return sim_registry_set_stream_state(regName, callback, args);
}
