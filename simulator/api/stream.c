/* Entry points of streams. */
#include "base/clock.h"
#include "base/config.h"
#include "capture/capture.h"
#include "engine/device.h"
#include "memory/pool.h"
#include "memory/saturation.h"

static inline aclError create(uint32_t priority, uint32_t flags, aclrtStream *stream)
{
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_context_check_stopped(context));
    return sim_stream_create(context, priority, flags, SIM_STREAM_USER, stream);
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    *stream = NULL;
    return create(0, 0, stream);
}

/* Only chips that are not simulated have configuration handles. */
static aclError refuse_configuration(void)
{
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no stream configuration handles, expected "
                      "aclrtCreateStream or aclrtCreateStreamWithConfig", sim_config()->cf_soc->so_name);
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(handle);
    return refuse_configuration();
}

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void)
{
    SIM_ENTER();
    refuse_configuration();
    return NULL;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    return refuse_configuration();
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue,
                                 size_t valueSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(attrValue);
    (void)attr;
    (void)valueSize;
    return refuse_configuration();
}

#define KNOWN_FLAGS 0x3fu

static aclError check_flags(uint32_t flag)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    bool device_only = (flag & ACL_STREAM_DEVICE_USE_ONLY) != 0;
    SIM_SUPPORTED(!(flag & ACL_STREAM_HUGE) || profile != SIM_P310P, "%s has no huge streams",
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(!device_only || flag == ACL_STREAM_DEVICE_USE_ONLY, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected ACL_STREAM_DEVICE_USE_ONLY (0x20) without other flags", flag);
    SIM_SUPPORTED(!device_only || profile == SIM_P950 || profile == SIM_PA3 || profile == SIM_PA2 ||
                      profile == SIM_P310P,
                  "%s does not support device-only streams", sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

static uint32_t clamped(uint32_t priority)
{
    int32_t wished = (int32_t)priority;
    return wished < 0 ? 0 : wished > 7 ? 7 : (uint32_t)wished;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    *stream = NULL;
    SIM_TRY(check_flags(flag & KNOWN_FLAGS));
    return create(clamped(priority), flag & KNOWN_FLAGS, stream);
}

static aclError destroy(aclrtStream stream, bool force)
{
    SIM_NOT_NULL(stream);
    struct sim_target target;
    SIM_TRY(sim_stream_to_clean(stream, &target));
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

/* True when all tasks are done, no failure has stopped the context, no instance has taken the stream over, the process
 * is not locked, and no watcher is on. */
static inline bool is_done(struct sim_stream *stream)
{
    if (!sim_gate_passed(&stream->st_gate, sim_stream_tail(stream)))
        return false;
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    aclError failed = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    uint32_t watched = atomic_load_explicit(&sim_watchers, memory_order_acquire); /* or locked */
    return (atomic_load_explicit(&stream->st_owner, memory_order_acquire) | (uint32_t)failed | watched) == 0;
}

/* True when a host that synchronises has nothing to report or to do either. A task stores its failure before the
 * stream's level reaches it, so the level is read first. */
static inline bool is_calm(struct sim_stream *stream)
{
    if (!is_done(stream))
        return false;
    aclError error = atomic_load_explicit(&stream->st_error, memory_order_acquire);
    uint32_t listeners = atomic_load_explicit(&sim_event_listeners, memory_order_relaxed);
    return (sim_thread.th_wait_began | (uint32_t)error | listeners) == 0;
}

/* The functions without the fast case are not inlined, so that the fast case saves no registers. SIM_RARE
 * moves the call out of its way. */
SIM_HOT __attribute__((noinline)) static aclError wait_for(struct sim_stream *found, int32_t timeout)
{
    struct sim_context *context = atomic_load_explicit(&found->st_context, memory_order_relaxed);
    SIM_TRY(sim_context_check_failed(context));
    SIM_TRY(sim_stream_refuse_captured(found));
    uint64_t tail = sim_stream_tail(found), began = sim_stream_begin_wait();
    if (!sim_gate_passed(&found->st_gate, tail)) {
        if (unlikely(sim_stream_is_aborting(found)))
            return sim_stream_report_aborted(found);
        SIM_TRY(sim_engine_outcome(
            sim_engine_wait(found, tail, sim_clock_deadline_of_call(timeout), timeout < 0 ? SIM_HELPER : SIM_SUBMITTER),
            ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, timeout));
    }
    if (sim_watcher_any())
        sim_watcher_know(sim_record_of(found, tail));
    sim_pool_settle();
    SIM_TRY(sim_stream_check_aborted(found, began));
    SIM_TRY(sim_stream_take_error(found));
    return sim_context_check_failed(context);
}

SIM_RARE static aclError find_and_wait(aclrtStream stream, int32_t timeout)
{
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    return wait_for(target.tg_stream, timeout);
}

static inline aclError synchronize(aclrtStream stream, int32_t timeout)
{
    struct sim_stream *found = sim_stream_plain(stream);
    if (unlikely(found == NULL))
        return find_and_wait(stream, timeout);
    if (likely(is_calm(found)))
        return ACL_SUCCESS;
    bool locked = sim_runtime_is_locked();
    return unlikely(locked) ? find_and_wait(stream, timeout) : wait_for(found, timeout);
}

SIM_HOT aclError aclrtSynchronizeStream(aclrtStream stream)
{
    SIM_ENTER();
    return synchronize(stream, -1);
}

SIM_HOT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    SIM_ENTER();
    SIM_TIMEOUT_BOUND(timeout);
    SIM_TIMEOUT_NOT_ZERO(timeout);
    return synchronize(stream, timeout);
}

__attribute__((noinline)) static aclError find_and_query(aclrtStream stream, aclrtStreamStatus *status)
{
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    struct sim_stream *found = target.tg_stream;
    SIM_TRY(sim_context_check_failed(atomic_load_explicit(&found->st_context, memory_order_relaxed)));
    SIM_TRY(sim_stream_refuse_captured(found));
    uint64_t tail = sim_stream_tail(found);
    bool complete = sim_gate_passed(&found->st_gate, tail);
    if (!complete)
        sim_engine_polled(found);
    else if (sim_watcher_any())
        sim_watcher_know(sim_record_of(found, tail));
    *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

SIM_HOT aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(status);
    struct sim_stream *found = sim_stream_plain(stream);
    if (unlikely(found == NULL) || !is_done(found))
        return find_and_query(stream, status);
    *status = ACL_STREAM_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

/* True for Ascend 950, Atlas A3 and A2, the chips for which the documents list several features of streams. */
static bool is_newer_chip(void)
{
    return sim_config()->cf_soc->so_profile <= SIM_PA2;
}

/* The stream belongs to the current context. */
static aclError set_failure_mode(struct sim_stream *stream, uint64_t mode)
{
    bool stop = mode & 1, stops = atomic_load(&stream->st_stop_on_failure);
    if (stop == stops)
        return ACL_SUCCESS;
    SIM_SUPPORTED(stop, "mode is %llu, but a stream cannot change from stop-on-failure back to continue",
                  (unsigned long long)mode);
    SIM_SUPPORTED(sim_stream_taken(stream) != SIM_TAKEN_BOUND && !(stream->st_flags & ACL_STREAM_DEVICE_USE_ONLY),
                  "the stream is %s, expected one that runs its own tasks",
                  sim_stream_taken(stream) == SIM_TAKEN_BOUND ? "bound to a model running instance"
                                                              : "a device-only stream");
    atomic_store(&stream->st_stop_on_failure, true);
    atomic_store(&sim_thread.th_context->cx_stop_on_failure, true);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_CHECK(stream != NULL || is_newer_chip(), ACL_ERROR_RT_PARAM_INVALID,
              "stream is NULL, expected an explicit stream on %s", sim_config()->cf_soc->so_name);
    SIM_TRY(sim_stream_own(stream, &target));
    return set_failure_mode(target.tg_stream, mode);
}

/* ---- attributes ---- */

static aclError check_attribute(aclrtStreamAttr attribute)
{
    SIM_CHECK(attribute >= ACL_STREAM_ATTR_FAILURE_MODE && attribute <= ACL_STREAM_ATTR_PRIORITY,
              ACL_ERROR_RT_PARAM_INVALID,
              "stmAttrType is %d, expected an aclrtStreamAttr from 1 (ACL_STREAM_ATTR_FAILURE_MODE) to 5 "
              "(ACL_STREAM_ATTR_PRIORITY)",
              (int)attribute);
    return ACL_SUCCESS;
}

static aclError check_switch(uint32_t value, const char *name)
{
    SIM_CHECK(value <= 1, ACL_ERROR_RT_PARAM_INVALID, "value->%s is %u, expected 0 or 1", name, value);
    return ACL_SUCCESS;
}

static aclError set_priority(aclrtStream handle, struct sim_stream *stream, uint32_t priority)
{
    SIM_CHECK(handle != NULL, ACL_ERROR_RT_PARAM_INVALID, "stream is NULL, expected an explicit stream");
    SIM_SUPPORTED(!(stream->st_flags & ACL_STREAM_CPU_SCHEDULE),
                  "the stream was created with ACL_STREAM_CPU_SCHEDULE, whose priority does not change");
    atomic_store_explicit(&stream->st_priority, clamped(priority), memory_order_relaxed);
    return ACL_SUCCESS;
}

/* Chips without overflow checks and tags accept both attributes and ignore them. */
static aclError set_overflow_check(struct sim_target target, uint32_t value, void *site)
{
    SIM_TRY(check_switch(value, "overflowSwitch"));
    SIM_TRY(sim_stream_refuse_captured(target.tg_stream));
    return is_newer_chip() ? sim_saturation_switch(SIM_SWITCH_ATTRIBUTE, target, value != 0, site) : ACL_SUCCESS;
}

static aclError set_tag(struct sim_stream *stream, uint32_t value)
{
    SIM_TRY(sim_stream_refuse_captured(stream));
    if (is_newer_chip())
        atomic_store_explicit(&stream->st_tag, value, memory_order_relaxed);
    return ACL_SUCCESS;
}

static aclError set_attribute(aclrtStream handle, struct sim_target target, aclrtStreamAttr attribute,
                              const aclrtStreamAttrValue *value, void *site)
{
    struct sim_stream *stream = target.tg_stream;
    switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        return set_failure_mode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return set_overflow_check(target, value->overflowSwitch, site);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        return set_tag(stream, value->userCustomTag);
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        SIM_TRY(check_switch(value->cacheOpInfoSwitch, "cacheOpInfoSwitch"));
        atomic_store_explicit(&stream->st_keeps_op_info, value->cacheOpInfoSwitch, memory_order_relaxed);
        return ACL_SUCCESS;
    default:
        return set_priority(handle, stream, value->streamPriority);
    }
}

/* The documents disagree about the default stream; here it has attributes like any other stream. */
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(value);
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_attribute(stmAttrType));
    SIM_TRY(sim_stream_own(stream, &target));
    return set_attribute(stream, target, stmAttrType, value, SIM_SITE());
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(value);
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_attribute(stmAttrType));
    SIM_TRY(sim_stream_any(stream, &target));
    struct sim_stream *found = target.tg_stream;
    *value = (aclrtStreamAttrValue){.reserve = {0}};
    if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE)
        value->failureMode = atomic_load(&found->st_stop_on_failure);
    else if (stmAttrType == ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK)
        value->overflowSwitch = found->st_saturation.sa_asked;
    else if (stmAttrType == ACL_STREAM_ATTR_USER_CUSTOM_TAG)
        value->userCustomTag = found->st_tag;
    else if (stmAttrType == ACL_STREAM_ATTR_CACHE_OP_INFO) /* used, and therefore reported, only in captures */
        value->cacheOpInfoSwitch = sim_stream_taken(found) == SIM_TAKEN_CAPTURES ? found->st_keeps_op_info : 0;
    else
        value->streamPriority = found->st_priority;
    return ACL_SUCCESS;
}

/* ---- tasks of a stream ---- */

aclError aclrtPersistentTaskClean(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_SUPPORTED(is_newer_chip(), "%s cannot clear the tasks of a stream", sim_config()->cf_soc->so_name);
    SIM_TRY(sim_stream_to_clean(stream, &target));
    SIM_CHECK(target.tg_stream->st_flags & ACL_STREAM_PERSISTENT, ACL_ERROR_RT_PARAM_INVALID,
              "the stream was created with flag %#x, expected ACL_STREAM_PERSISTENT (0x4)", target.tg_stream->st_flags);
    return sim_capture_build_clean(target);
}

aclError aclrtStreamStop(aclrtStream stream)
{
    SIM_ENTER();
    SIM_CHECK(stream != NULL, ACL_ERROR_RT_PARAM_INVALID, "stream is NULL, expected an explicit stream");
    SIM_SUPPORTED(is_newer_chip(), "%s cannot stop a running task", sim_config()->cf_soc->so_name);
    struct sim_target target;
    SIM_TRY(sim_stream_to_clean(stream, &target));
    return sim_engine_stop(target.tg_stream);
}

/* Body of a getter of one property of a stream. */
#define GET(target, expression)                                                                                        \
    SIM_ENTER();                                                                                                       \
    SIM_NOT_NULL(target);                                                                                              \
    struct sim_target place;                                                                                           \
    SIM_TRY(sim_stream_any(stream, &place));                                                                           \
    const struct sim_stream *found = place.tg_stream;                                                                  \
    *(target) = expression;                                                                                            \
    return ACL_SUCCESS

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    GET(streamId, (int32_t)found->st_slot.sl_index);
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    GET(priority, found->st_priority);
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    GET(flags, found->st_flags);
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
