/* Entry points of capture and model running instances: recording, executing and building them. */
#include "capture/capture.h"

/* Finds an explicit stream of the current context. */
static aclError find_stream(aclrtStream stream, struct sim_target *target)
{
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    return sim_stream_own(stream, target);
}

/* The same for functions that end a recording: they also work in a context that has failed. */
static aclError find_stream_to_clean(aclrtStream stream, struct sim_target *target)
{
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    return sim_stream_to_clean(stream, target);
}

/* ---- capturing ---- */

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_begin(stream, mode, NULL);
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_begin(stream, mode, modelRI);
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_ARGUMENT(status != NULL || modelRI != NULL, ACL_ERROR_INVALID_PARAM,
                 "status and modelRI are both NULL, expected a valid pointer for one of them");
    SIM_TRY(sim_capture_check_chip());
    struct sim_target target;
    SIM_TRY(sim_stream_find(stream, &target));
    return sim_capture_info(target.tg_stream, status, modelRI);
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_end(stream, modelRI);
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    SIM_ENTER();
    SIM_NOT_NULL(mode);
    struct sim_context *context;
    SIM_TRY(sim_capture_check_chip());
    SIM_TRY(sim_capture_check_mode(*mode));
    SIM_TRY(sim_context_current(&context));
    *mode = sim_capture_exchange_mode(*mode);
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_group_begin(stream);
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    struct sim_target target;
    SIM_TRY(find_stream_to_clean(stream, &target));
    return sim_capture_group_end(target, handle);
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(handle);
    struct sim_target target;
    SIM_TRY(find_stream(stream, &target));
    return sim_capture_update_begin(target, handle);
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find_stream_to_clean(stream, &target));
    return sim_capture_update_end(target);
}

/* ---- running ---- */

SIM_HOT aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_execute_async(modelRI, stream, SIM_SITE());
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    SIM_CHECK(timeout > 0 || timeout == -1, ACL_ERROR_RT_PARAM_INVALID,
              "timeout is %d, expected -1 (no limit) or milliseconds above 0", timeout);
    return sim_capture_execute(modelRI, timeout, SIM_SITE());
}

aclError aclmdlRIAbort(aclmdlRI modelRI)
{
    SIM_ENTER();
    SIM_CHECK(modelRI != NULL, ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL, expected a live model running instance");
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_abort(modelRI);
}

aclError aclmdlRIDestroy(aclmdlRI modelRI)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_destroy(modelRI);
}

static aclError check_callback(aclmdlRI modelRI, aclrtCallback func)
{
    SIM_CHECK(modelRI != NULL, ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL, expected a live model running instance");
    SIM_CHECK(func != NULL, ACL_ERROR_RT_PARAM_INVALID, "func is NULL, expected a function");
    return sim_capture_check_chip();
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData)
{
    SIM_ENTER();
    SIM_TRY(check_callback(modelRI, func));
    return sim_capture_add_callback(modelRI, func, userData);
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func)
{
    SIM_ENTER();
    SIM_TRY(check_callback(modelRI, func));
    return sim_capture_remove_callback(modelRI, func);
}

/* ---- building ---- */

aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    SIM_CHECK(flag == 0, ACL_ERROR_RT_PARAM_INVALID, "flag is %u, expected 0: it is reserved", flag);
    return sim_capture_build_begin(modelRI);
}

static aclError find_both(aclmdlRI modelRI, aclrtStream stream, struct sim_target *target)
{
    SIM_NOT_NULL(modelRI);
    return find_stream(stream, target);
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find_both(modelRI, stream, &target));
    SIM_CHECK(flag == ACL_MODEL_STREAM_FLAG_HEAD || flag == ACL_MODEL_STREAM_FLAG_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_MODEL_STREAM_FLAG_HEAD (0) or ACL_MODEL_STREAM_FLAG_DEFAULT (0x7fffffff)",
              flag);
    return sim_capture_build_bind(modelRI, target, flag == ACL_MODEL_STREAM_FLAG_HEAD);
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find_both(modelRI, stream, &target));
    return sim_capture_build_end_task(modelRI, target);
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_ARGUMENT(reserve == NULL, ACL_ERROR_INVALID_PARAM, "reserve is %p, expected NULL", reserve);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_build_end(modelRI);
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(modelRI);
    SIM_TRY(find_stream_to_clean(stream, &target));
    return sim_capture_build_unbind(modelRI, target);
}
