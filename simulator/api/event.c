/* Entry points of events. Each function first refuses the classes of events that the runtime does not accept there.
 * Every function accepts default and flag events; all except reset and the deprecated queries accept Ex events; only
 * records, waits and the newer query accept IPC events. */
#include "base/clock.h"
#include "base/config.h"
#include "capture/capture.h"
#include "engine/limits.h"
#include "memory/pool.h"

#define FLAG_KNOWN 0x3fu     /* aclrtCreateEventWithFlag */
#define FLAG_EX 0xfu         /* aclrtCreateEventExWithFlag */
#define FLAG_ALONE (ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL)

static bool is_device_only(const struct sim_event *event)
{
    return event->ev_class == SIM_EVENT_FLAG && (event->ev_flags & ACL_EVENT_DEVICE_USE_ONLY);
}

static bool is_external(const struct sim_event *event)
{
    return event->ev_class == SIM_EVENT_FLAG && (event->ev_flags & ACL_EVENT_EXTERNAL);
}

static bool can_wait_for(const struct sim_event *event)
{
    return event->ev_class == SIM_EVENT_DEFAULT ||
           (event->ev_flags & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC));
}

static aclError refuse_device_only(const struct sim_event *event)
{
    SIM_CHECK(!is_device_only(event), ACL_ERROR_RT_PARAM_INVALID,
              "the event was created with ACL_EVENT_DEVICE_USE_ONLY, expected an event that hosts may use");
    return ACL_SUCCESS;
}

static aclError refuse_external(const struct sim_event *event)
{
    SIM_SUPPORTED(!is_external(event),
                  "the event was created with ACL_EVENT_EXTERNAL, expected another class of event");
    return ACL_SUCCESS;
}

static aclError refuse_shared(const struct sim_event *event)
{
    SIM_SUPPORTED(event->ev_class != SIM_EVENT_IPC,
                  "the event was created with ACL_EVENT_IPC, expected another class of event");
    return ACL_SUCCESS;
}

/* The deprecated queries accept none of the classes that are newer than they are. */
static aclError refuse_new_classes(const struct sim_event *event)
{
    SIM_SUPPORTED(event->ev_class != SIM_EVENT_EX,
                  "the event was created by aclrtCreateEventExWithFlag, expected another class of event");
    SIM_TRY(refuse_shared(event));
    return refuse_external(event);
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    return sim_event_create(SIM_EVENT_DEFAULT, 0, event);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_CHECK(flag != 0 && !(flag & ~FLAG_KNOWN), ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_EVENT_SYNC (0x1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (0x2), "
              "ACL_EVENT_TIME_LINE (0x8) or their sum, or ACL_EVENT_DEVICE_USE_ONLY (0x10) or ACL_EVENT_EXTERNAL "
              "(0x20)",
              flag);
    SIM_CHECK(!(flag & FLAG_ALONE) || (flag & (flag - 1)) == 0, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_EVENT_DEVICE_USE_ONLY (0x10) or ACL_EVENT_EXTERNAL (0x20) without other "
              "flags", flag);
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_SUPPORTED(!(flag & ACL_EVENT_DEVICE_USE_ONLY) || (profile != SIM_P310B && profile != SIM_P910),
                  "%s does not support device-only events", sim_config()->cf_soc->so_name);
    return sim_event_create(SIM_EVENT_FLAG, flag, event);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    if (flag == ACL_EVENT_IPC) {
        SIM_TRY(sim_event_share_supported());
        return sim_event_share_create(0, event);
    }
    SIM_CHECK(flag != 0 && !(flag & ~FLAG_EX), ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_EVENT_SYNC (0x1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (0x2), "
              "ACL_EVENT_TIME_LINE (0x8) or their sum, or ACL_EVENT_IPC (0x40)",
              flag);
    return sim_event_create(SIM_EVENT_EX, flag, event);
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_TRY(sim_runtime_pass());
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    return sim_event_destroy(found, event);
}

/* ---- in streams ---- */

static aclError record(aclrtEvent event, aclrtStream stream, void *site)
{
    struct sim_event *found;
    struct sim_target target;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(refuse_device_only(found));
    return sim_event_record(found, event, target, site);
}

SIM_HOT aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    return record(event, stream, SIM_SITE());
}

/* External records and waits exist only inside a capture. */
static aclError check_external(const struct sim_event *event, struct sim_target stream)
{
    SIM_SUPPORTED(event->ev_class == SIM_EVENT_EX && event->ev_flags == ACL_EVENT_SYNC,
                  "flag is 1 (external), expected an event made by aclrtCreateEventExWithFlag with ACL_EVENT_SYNC "
                  "alone");
    SIM_CHECK(sim_stream_taken(stream.tg_stream) == SIM_TAKEN_CAPTURES, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
              "flag is 1 (external), expected a stream that is being captured");
    return ACL_SUCCESS;
}

static aclError refuse_ended(void)
{
    return sim_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "the capture was ended by another thread during the call");
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_ARGUMENT(flag <= ACL_EVENT_RECORD_EXTERNAL, ACL_ERROR_INVALID_PARAM, "flag is %u, expected 0 or 1", flag);
    struct sim_event *found;
    struct sim_target target;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(sim_event_stick_flag(&found->ev_record_use, flag));
    if (flag == ACL_EVENT_RECORD_DEFAULT)
        return record(event, stream, SIM_SITE());
    aclError code;
    SIM_TRY(check_external(found, target));
    return sim_capture_record(found, event, target, true, SIM_SITE(), &code) ? code : refuse_ended();
}

static aclError wait_for(aclrtStream stream, aclrtEvent event, uint64_t timeout_ns, void *site)
{
    struct sim_event *found;
    struct sim_target target;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(refuse_device_only(found));
    SIM_SUPPORTED(can_wait_for(found), "the event was created with flag %#x, expected ACL_EVENT_SYNC (0x1) in it",
                  found->ev_flags);
    return sim_event_wait(found, event, target, timeout_ns, site);
}

SIM_HOT aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    return wait_for(stream, event, sim_limits_wait(), SIM_SITE());
}

static uint64_t seconds(uint32_t timeout)
{
    bool ignored = sim_config()->cf_soc->so_profile == SIM_P310P || sim_config()->cf_soc->so_profile == SIM_P910;
    return timeout == 0 || ignored ? SIM_FOREVER : timeout * UINT64_C(1000000000);
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    SIM_ENTER();
    SIM_ARGUMENT(timeout >= 0, ACL_ERROR_RT_PARAM_INVALID, "timeout is %d, expected 0 (no limit) or seconds above 0",
                 timeout);
    SIM_CHECK(event != NULL, ACL_ERROR_RT_PARAM_INVALID, "event is NULL, expected a live event");
    return wait_for(stream, event, seconds((uint32_t)timeout), SIM_SITE());
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_ARGUMENT(flag <= ACL_EVENT_WAIT_EXTERNAL, ACL_ERROR_INVALID_PARAM, "flag is %u, expected 0 or 1", flag);
    SIM_ARGUMENT(flag == ACL_EVENT_WAIT_DEFAULT || timeout == 0, ACL_ERROR_INVALID_PARAM,
                 "timeout is %u, expected 0 with flag 1 (external)", timeout);
    struct sim_event *found;
    struct sim_target target;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(sim_event_stick_flag(&found->ev_wait_use, flag));
    if (flag == ACL_EVENT_WAIT_EXTERNAL) {
        aclError code;
        SIM_TRY(check_external(found, target));
        return sim_capture_wait(found, event, target, true, SIM_SITE(), &code) ? code : refuse_ended();
    }
    uint64_t limit = timeout == UINT32_MAX ? sim_limits_wait() : seconds(timeout);
    return wait_for(stream, event, limit, SIM_SITE());
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    struct sim_event *found;
    struct sim_target target;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(refuse_device_only(found));
    SIM_SUPPORTED(found->ev_class != SIM_EVENT_EX,
                  "the event was created by aclrtCreateEventExWithFlag, which needs no reset");
    SIM_TRY(refuse_shared(found));
    SIM_SUPPORTED(can_wait_for(found), "the event was created with flag %#x, expected ACL_EVENT_SYNC (0x1) in it",
                  found->ev_flags);
    return sim_event_reset(found, event, target, SIM_SITE());
}

/* ---- on the host ---- */

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_NOT_NULL(status);
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(refuse_new_classes(found));
    SIM_TRY(sim_capture_check_event(found));
    SIM_TRY(sim_event_check_failed(found));
    *status = sim_event_complete(found) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_NOT_NULL(status);
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(refuse_external(found));
    SIM_TRY(sim_capture_check_event(found));
    SIM_TRY(sim_event_check_failed(found));
    bool counts_unrecorded = found->ev_class == SIM_EVENT_EX, complete;
    if (found->ev_class == SIM_EVENT_IPC)
        SIM_TRY(sim_event_share_query(found, event, &complete));
    else
        complete = (counts_unrecorded || sim_event_recorded(found)) && sim_event_complete(found);
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_NOT_NULL(status);
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(sim_capture_check_event(found)); /* first, because a captured event is also an Ex event */
    SIM_TRY(refuse_new_classes(found));
    SIM_TRY(sim_event_check_failed(found));
    bool waits = atomic_load_explicit(&found->ev_waits, memory_order_acquire) != 0;
    *status = waits ? ACL_EVENT_WAIT_STATUS_NOT_READY : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

static aclError synchronize(aclrtEvent event, int32_t timeout)
{
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(refuse_external(found));
    SIM_TRY(sim_capture_check_event(found));
    SIM_TRY(sim_event_check_failed(found));
    if (unlikely(found->ev_class == SIM_EVENT_IPC))
        return sim_event_share_synchronize(found, event, timeout);
    uint64_t began = sim_stream_begin_wait();
    sim_record record = atomic_load_explicit(&found->ev_record, memory_order_acquire);
    if (timeout < 0 || !sim_record_passed(record)) { /* the clock is read only if this may wait */
        uint64_t deadline = sim_clock_deadline_of_call(timeout);
        SIM_TRY(sim_engine_outcome(sim_event_synchronize(found, deadline, timeout < 0 ? SIM_HELPER : SIM_SUBMITTER),
                                   ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, timeout));
    }
    sim_pool_settle();
    if (sim_watcher_any() && record != 0)
        sim_watcher_know(record);
    if (likely(record != 0))
        SIM_TRY(sim_stream_check_aborted(sim_record_stream(record), began));
    return sim_event_check_failed(found);
}

SIM_HOT aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    return synchronize(event, -1);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    SIM_ENTER();
    SIM_TIMEOUT_BOUND(timeout);
    SIM_NOT_NULL(event);
    SIM_TIMEOUT_NOT_ZERO(timeout);
    return synchronize(event, timeout);
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    SIM_ENTER();
    SIM_NOT_NULL(ms);
    SIM_NOT_NULL(startEvent);
    SIM_NOT_NULL(endEvent);
    struct sim_event *start, *end;
    uint64_t from, to;
    SIM_TRY(sim_event_find(startEvent, &start));
    SIM_TRY(sim_event_find(endEvent, &end));
    SIM_TRY(sim_capture_check_event(start));
    SIM_TRY(sim_capture_check_event(end));
    SIM_TRY(refuse_external(start));
    SIM_TRY(refuse_external(end));
    SIM_TRY(refuse_shared(start));
    SIM_TRY(refuse_shared(end));
    SIM_TRY(sim_event_timestamp(start, "startEvent", &from));
    SIM_TRY(sim_event_timestamp(end, "endEvent", &to));
    *ms = (float)((double)(int64_t)(to - from) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    SIM_ENTER();
    SIM_NOT_NULL(timestamp);
    SIM_NOT_NULL(event);
    struct sim_event *found;
    uint64_t nanoseconds;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(refuse_external(found));
    SIM_TRY(refuse_shared(found));
    SIM_TRY(sim_capture_check_event(found));
    SIM_TRY(sim_event_timestamp(found, "event", &nanoseconds));
    *timestamp = nanoseconds / 1000;
    return ACL_SUCCESS;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_NOT_NULL(eventId);
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_TRY(refuse_shared(found));
    bool at_record = found->ev_class != SIM_EVENT_FLAG; /* these get their id when they are recorded */
    SIM_CHECK(can_wait_for(found) && (!at_record || atomic_load(&found->ev_record) != 0), ACL_ERROR_RT_INTERNAL_ERROR,
              "the event has no id: expected one created with ACL_EVENT_SYNC, and recorded unless it is a flag event");
    *eventId = found->ev_slot.sl_index;
    return ACL_SUCCESS;
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(eventCount);
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *eventCount = sim_event_available(context->cx_device);
    return ACL_SUCCESS;
}
