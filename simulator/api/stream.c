/* Entry points of streams. */
#include "capture.h"
#include "clock.h"
#include "config.h"
#include "device.h"

aclError aclrtCreateStream(aclrtStream *stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    struct sim_context *context;
    *stream = NULL;
    SIM_TRY(sim_context_current(&context));
    return sim_stream_create(context, 0, 0, SIM_STREAM_USER, stream);
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(handle);
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no stream configuration handles, expected "
                      "aclrtCreateStream or aclrtCreateStreamWithConfig", sim_config()->cf_soc->so_name);
}

#define KNOWN_FLAGS 0x3fu

static aclError check_flags(uint32_t flag)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    bool device_only = (flag & ACL_STREAM_DEVICE_USE_ONLY) != 0;
    SIM_SUPPORTED(!(flag & ACL_STREAM_HUGE) || profile != SIM_P310P, "%s has no huge streams",
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(!device_only || flag == ACL_STREAM_DEVICE_USE_ONLY, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_STREAM_DEVICE_USE_ONLY (0x20) to stand alone", flag);
    SIM_SUPPORTED(!device_only || profile == SIM_P950 || profile == SIM_PA3 || profile == SIM_PA2 || profile == SIM_P310P,
                  "%s has no streams for the device alone", sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    struct sim_context *context;
    *stream = NULL;
    SIM_TRY(check_flags(flag & KNOWN_FLAGS));
    SIM_TRY(sim_context_current(&context));
    int32_t wished = (int32_t)priority;
    return sim_stream_create(context, wished < 0 ? 0 : wished > 7 ? 7 : (uint32_t)wished, flag & KNOWN_FLAGS,
                             SIM_STREAM_USER, stream);
}

static aclError destroy(aclrtStream stream, bool force)
{
    SIM_NOT_NULL(stream);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_CHECK(sim_stream_kind(target.tg_stream) != SIM_STREAM_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
              "stream %p is the default stream of its context, expected one made by aclrtCreateStream", stream);
    return sim_stream_destroy(target, force);
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    SIM_ENTER();
    return destroy(stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    SIM_ENTER();
    return destroy(stream, true);
}

static aclError synchronize(aclrtStream stream, int32_t timeout)
{
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    struct sim_stream *found = target.tg_stream;
    struct sim_context *context = atomic_load_explicit(&found->st_context, memory_order_relaxed);
    SIM_TRY(sim_context_check_failed(context));
    SIM_TRY(sim_capture_refuse_stream(found));
    uint64_t tail = sim_stream_tail(found), began = sim_stream_begin_wait();
    if (!sim_gate_passed(&found->st_gate, tail)) {
        if (unlikely(sim_stream_is_aborting(found)))
            return sim_stream_report_aborted(found);
        SIM_TRY(sim_engine_outcome(
            sim_engine_wait(found, tail, sim_clock_deadline(timeout), timeout < 0 ? SIM_HELPER : SIM_SUBMITTER),
            ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, timeout));
    }
    SIM_TRY(sim_stream_check_aborted(found, began));
    SIM_TRY(sim_stream_take_error(found));
    return sim_context_check_failed(context);
}

SIM_HOT aclError aclrtSynchronizeStream(aclrtStream stream)
{
    SIM_ENTER();
    return synchronize(stream, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    SIM_ENTER();
    SIM_TIMEOUT_BOUND(timeout);
    SIM_TIMEOUT_NOT_ZERO(timeout);
    return synchronize(stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(status);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    struct sim_stream *found = target.tg_stream;
    SIM_TRY(sim_context_check_failed(atomic_load_explicit(&found->st_context, memory_order_relaxed)));
    SIM_TRY(sim_capture_refuse_stream(found));
    bool complete = sim_gate_passed(&found->st_gate, sim_stream_tail(found));
    if (!complete)
        sim_engine_polled(found);
    *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    SIM_ENTER();
    struct sim_target target;
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_CHECK(stream != NULL || profile == SIM_P950 || profile == SIM_PA3 || profile == SIM_PA2,
              ACL_ERROR_RT_PARAM_INVALID, "stream is NULL, expected an explicit stream on %s",
              sim_config()->cf_soc->so_name);
    SIM_TRY(sim_stream_own(stream, &target));
    struct sim_context *context = sim_thread.th_context;
    bool stop = mode & 1, stops = atomic_load(&target.tg_stream->st_stop_on_failure);
    if (stop == stops)
        return ACL_SUCCESS;
    SIM_SUPPORTED(stop, "mode is %llu, and a stream that stops on failure never continues again",
                  (unsigned long long)mode);
    atomic_store(&target.tg_stream->st_stop_on_failure, true);
    atomic_store(&context->cx_stop_on_failure, true);
    return ACL_SUCCESS;
}

aclError aclrtStreamStop(aclrtStream stream)
{
    SIM_ENTER();
    SIM_CHECK(stream != NULL, ACL_ERROR_RT_PARAM_INVALID, "stream is NULL, expected an explicit stream");
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_SUPPORTED(profile == SIM_P950 || profile == SIM_PA3 || profile == SIM_PA2, "%s cannot stop a running task",
                  sim_config()->cf_soc->so_name);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_engine_stop(target.tg_stream);
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    SIM_ENTER();
    SIM_NOT_NULL(streamId);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    *streamId = (int32_t)target.tg_stream->st_slot.sl_index;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    SIM_ENTER();
    SIM_NOT_NULL(priority);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    *priority = target.tg_stream->st_priority;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(flags);
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    *flags = target.tg_stream->st_flags;
    return ACL_SUCCESS;
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(streamCount);
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *streamCount = sim_stream_available(context);
    return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *stream = (aclrtStream)(uintptr_t)context->cx_default;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    SIM_ENTER();
    if (leastPriority != NULL)
        *leastPriority = 7;
    if (greatestPriority != NULL)
        *greatestPriority = 0;
    return ACL_SUCCESS;
}
