/* Streams: creating, finding and destroying them, and their stored failures. engine.c runs their queues.
 *
 * A stream belongs to one context, which keeps it in a list. Its slot is type-stable: destroying a stream makes the
 * handle dead first, so that no submission can follow, then waits for the tasks already queued and frees the slot. The
 * counters of the queue go on in the next stream of the slot.
 *
 * The context's cx_lock guards that list. The stream's gt_lock guards its queue, the end of its handle and the text of
 * its failure. */
#include "stream.h"
#include "base/registry.h"
#include "base/room.h"
#include "context.h"
#include "device.h"
#include "engine.h"
#include "exception.h"
#include <string.h>

_Atomic uint32_t sim_stream_listeners;
_Atomic bool sim_stream_saturation;
struct sim_table sim_streams = {
    .tb_stride = sizeof(struct sim_stream), .tb_limit = 1u << 16, .tb_kind = SIM_KIND_STREAM};

aclError sim_stream_find(aclrtStream handle, struct sim_target *target)
{
    *target = (struct sim_target){sim_table_find(&sim_streams, handle), (uint64_t)(uintptr_t)handle};
    SIM_CHECK(target->tg_stream != NULL, ACL_ERROR_RT_INVALID_HANDLE, "stream is %p, %s, expected a live stream",
              handle, sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_stream_check(aclrtStream handle)
{
    struct sim_target target;
    return handle == NULL ? ACL_SUCCESS : sim_stream_find(handle, &target);
}

aclError sim_stream_any(aclrtStream handle, struct sim_target *target)
{
    struct sim_context *context;
    if (handle == NULL) {
        SIM_TRY(sim_context_current(&context));
        *target = (struct sim_target){context->cx_default_stream, context->cx_default};
        return ACL_SUCCESS;
    }
    SIM_TRY(sim_stream_find(handle, target));
    return sim_runtime_check_current();
}

/* On the path of every submission. */
static inline aclError find_own(aclrtStream handle, struct sim_target *target)
{
    SIM_TRY(sim_stream_any(handle, target));
    struct sim_context *context = sim_thread.th_context;
    SIM_CHECK(sim_stream_kind(target->tg_stream) != SIM_STREAM_INSTANCE, ACL_ERROR_RT_STREAM_MODEL,
              "stream %p belongs to a model running instance, expected one made by aclrtCreateStream", handle);
    SIM_CHECK(atomic_load_explicit(&target->tg_stream->st_context, memory_order_relaxed) == context,
              ACL_ERROR_RT_STREAM_CONTEXT,
              "stream %p belongs to another context than %p, which is current on this thread", handle,
              (void *)(uintptr_t)sim_thread.th_bound);
    return ACL_SUCCESS;
}

aclError sim_stream_to_clean(aclrtStream handle, struct sim_target *target)
{
    return find_own(handle, target);
}

aclError sim_stream_own(aclrtStream handle, struct sim_target *target)
{
    SIM_TRY(find_own(handle, target));
    return sim_context_check_failed(sim_thread.th_context);
}

aclError sim_stream_create(struct sim_context *context, uint32_t priority, uint32_t flags, enum sim_stream_kind kind,
                           aclrtStream *handle)
{
    struct sim_device *device = context->cx_device;
    uint32_t limit = sim_config()->cf_max_streams, alive = atomic_fetch_add(&device->dv_streams, 1);
    uint64_t value = 0;
    struct sim_stream *stream = alive < limit ? sim_table_take(&sim_streams, &value) : NULL;
    if (unlikely(stream == NULL)) {
        atomic_fetch_sub(&device->dv_streams, 1);
        return sim_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "device %d has %u streams alive, expected fewer than %u",
                        device->dv_id, alive, limit);
    }
    atomic_store_explicit(&stream->st_priority, priority, memory_order_relaxed);
    atomic_store_explicit(&stream->st_flags, flags, memory_order_relaxed);
    atomic_store_explicit(&stream->st_tag, 0, memory_order_relaxed);
    atomic_store_explicit(&stream->st_keeps_op_info, 0, memory_order_relaxed);
    atomic_store_explicit(&stream->st_kind, kind, memory_order_relaxed);
    atomic_store_explicit(&stream->st_taken, SIM_TAKEN_NOT, memory_order_relaxed);
    atomic_store_explicit(&stream->st_owner, sim_stream_free_owner(flags), memory_order_relaxed);
    stream->st_branch = NULL; /* the slot may have belonged to an instance's stream */
    atomic_store_explicit(&stream->st_stop_on_failure, false, memory_order_relaxed);
    atomic_store_explicit(&stream->st_error, ACL_SUCCESS, memory_order_relaxed);
    bool saturates = atomic_load_explicit(&sim_stream_saturation, memory_order_relaxed);
    atomic_store_explicit(&stream->st_saturation.sa_on, saturates, memory_order_relaxed);
    atomic_store_explicit(&stream->st_saturation.sa_asked, false, memory_order_relaxed);
    atomic_store_explicit(&stream->st_saturation.sa_reached, false, memory_order_relaxed);
    atomic_store_explicit(&stream->st_held, 0, memory_order_relaxed);
    for (size_t type = 0; type < SIM_CORE_TYPES; type++)
        atomic_store_explicit(&stream->st_cores[type], 0, memory_order_relaxed);
    atomic_store_explicit(&stream->st_context, context, memory_order_relaxed);
    sim_lock(&context->cx_lock);
    bool closing = context->cx_closing;
    if (!closing) {
        stream->st_before = NULL;
        stream->st_after = context->cx_streams;
        if (context->cx_streams != NULL)
            context->cx_streams->st_before = stream;
        context->cx_streams = stream;
        atomic_store_explicit(&stream->st_slot.sl_handle, value, memory_order_release);
    }
    sim_unlock(&context->cx_lock);
    if (unlikely(closing)) {
        sim_table_give(&sim_streams, stream);
        atomic_fetch_sub(&device->dv_streams, 1);
        return sim_fail(ACL_ERROR_RT_CONTEXT_NULL, "the current context is being destroyed by another thread");
    }
    *handle = (aclrtStream)(uintptr_t)value;
    if (kind != SIM_STREAM_INSTANCE)
        sim_registry_fire_stream_state(*handle, ACL_RT_STREAM_STATE_CREATE_POST);
    return ACL_SUCCESS;
}

aclError sim_stream_destroy(struct sim_target target, bool force)
{
    struct sim_stream *stream = target.tg_stream;
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    SIM_TRY(sim_engine_may_wait());
    if (sim_stream_kind(stream) != SIM_STREAM_INSTANCE)
        sim_registry_fire_stream_state((aclrtStream)(uintptr_t)target.tg_handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    sim_lock(&stream->st_gate.gt_lock);
    bool live = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle;
    enum sim_taken taken = sim_stream_taken(stream);
    if (live && taken == SIM_TAKEN_NOT)
        atomic_store_explicit(&stream->st_slot.sl_handle, 0, memory_order_release);
    sim_unlock(&stream->st_gate.gt_lock);
    SIM_TRY(sim_stream_refuse_taken(stream, taken));
    SIM_CHECK(live, ACL_ERROR_RT_INVALID_HANDLE, "stream %#llx was destroyed by another thread during the call",
              (unsigned long long)target.tg_handle);
    if (force)
        sim_engine_drop(stream);
    uint64_t holds = atomic_load_explicit(&stream->st_holds, memory_order_relaxed);
    if (!sim_gate_passed(&stream->st_latch, holds))
        sim_gate_raise(&stream->st_latch, holds); /* no call can do it for a dead handle */
    enum sim_wait wait = sim_engine_wait(stream, sim_stream_tail(stream), SIM_FOREVER, SIM_HELPER);
    if (unlikely(wait != SIM_WAIT_PASSED)) { /* the stream stays as it was */
        atomic_store_explicit(&stream->st_slot.sl_handle, target.tg_handle, memory_order_release);
        return sim_engine_refusal(wait);
    }
    if (sim_watcher_any())
        sim_watcher_know(sim_record_of(stream, sim_stream_tail(stream)));
    /* No new abort can begin; those in progress must end before the slot is reused. */
    sim_engine_wait_gate(&stream->st_abort_ends, atomic_load(&stream->st_aborts), SIM_FOREVER);
    bool called_back = atomic_load_explicit(&stream->st_caller, memory_order_relaxed) != NULL;
    if (unlikely(called_back || atomic_load(&sim_stream_listeners) != 0))
        sim_room_stream_destroyed(stream, target.tg_handle);
    sim_task_value_forget(stream);
    sim_lock(&context->cx_lock);
    if (stream->st_before != NULL)
        stream->st_before->st_after = stream->st_after;
    else
        context->cx_streams = stream->st_after;
    if (stream->st_after != NULL)
        stream->st_after->st_before = stream->st_before;
    sim_unlock(&context->cx_lock);
    atomic_fetch_sub(&context->cx_device->dv_streams, 1);
    sim_table_give(&sim_streams, stream);
    return ACL_SUCCESS;
}

SIM_RARE aclError sim_stream_refuse_taken(const struct sim_stream *stream, enum sim_taken taken)
{
    SIM_CHECK(taken == SIM_TAKEN_NOT || taken == SIM_TAKEN_BOUND, ACL_ERROR_RT_STREAM_CAPTURED,
              "stream %u %s, expected aclmdlRICapture%s before", stream->st_slot.sl_index,
              taken == SIM_TAKEN_UPDATES ? "updates captured tasks" : "is being captured",
              taken == SIM_TAKEN_UPDATES ? "TaskUpdateEnd" : "End");
    SIM_CHECK(taken == SIM_TAKEN_NOT, ACL_ERROR_RT_STREAM_MODEL,
              "stream %u is bound to a model running instance, expected aclmdlRIUnbindStream before",
              stream->st_slot.sl_index);
    return ACL_SUCCESS;
}

uint32_t sim_stream_available(const struct sim_context *context)
{
    uint32_t limit = sim_config()->cf_max_streams, alive = atomic_load(&context->cx_device->dv_streams);
    return alive < limit ? limit - alive : 0;
}

SIM_RARE aclError sim_stream_report_aborted(struct sim_stream *stream)
{
    return sim_fail(atomic_load(&stream->st_abort_code),
                    "the work of stream %u was aborted: its queued tasks are discarded, and later tasks run normally",
                    stream->st_slot.sl_index);
}

SIM_HOT bool sim_stream_is_settled(struct sim_stream *stream)
{
    return sim_gate_passed(&stream->st_gate, sim_stream_tail(stream)) &&
           likely(atomic_load_explicit(&stream->st_error, memory_order_acquire) == ACL_SUCCESS);
}

aclError sim_stream_take_error(struct sim_stream *stream)
{
    if (likely(atomic_load_explicit(&stream->st_error, memory_order_acquire) == ACL_SUCCESS))
        return ACL_SUCCESS;
    char text[SIM_STREAM_TEXT];
    sim_lock(&stream->st_gate.gt_lock);
    aclError code = atomic_exchange_explicit(&stream->st_error, ACL_SUCCESS, memory_order_relaxed);
    memcpy(text, stream->st_error_text, sizeof text);
    sim_unlock(&stream->st_gate.gt_lock);
    if (code == ACL_SUCCESS)
        return ACL_SUCCESS;
    sim_exception_settle(); /* its callback has been called before the error is returned */
    return sim_fail_late(code, text);
}
