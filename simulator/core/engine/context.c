/* Contexts: creating, binding, synchronising, closing.
 *
 * A context owns its streams. Closing sets cx_closing, so that no stream is created any more, destroys the streams one
 * by one, the default stream last, and then makes the handle dead. A thread is bound by a pointer and the handle that
 * the context had then: one compare finds that the context was destroyed, or that its device was reset.
 *
 * cx_lock guards the list of streams and whether the context is closing. No other lock is taken inside it. */
#include "base/clock.h"
#include "base/room.h"
#include "device.h"
#include "engine.h"
#include <sched.h>
#include <stdlib.h>

struct sim_table sim_contexts = {
    .tb_stride = sizeof(struct sim_context), .tb_limit = 1u << 16, .tb_kind = SIM_KIND_CONTEXT};

void sim_context_bind(struct sim_context *context, aclrtContext handle)
{
    sim_thread.th_context = context;
    sim_thread.th_bound = (uint64_t)(uintptr_t)handle;
    sim_thread.th_device = context->cx_device->dv_id;
}

void sim_context_unbind(void)
{
    sim_thread.th_context = NULL;
    sim_thread.th_bound = 0;
}

struct sim_context *sim_context_peek(void)
{
    struct sim_context *context = sim_thread.th_context;
    if (likely(sim_context_is_live(context, sim_thread.th_bound)))
        return context;
    sim_context_unbind();
    return NULL;
}

SIM_RARE aclError sim_context_find_current(struct sim_context **context)
{
    bool was_bound = sim_thread.th_context != NULL;
    sim_context_unbind();
    SIM_CHECK(!was_bound, ACL_ERROR_RT_CONTEXT_NULL,
              "the context bound to this thread was destroyed or its device reset, expected aclrtSetCurrentContext or "
              "aclrtSetDevice before");
    SIM_CHECK(sim_device_default() >= 0, ACL_ERROR_RT_CONTEXT_NULL,
              "this thread has no current context, expected aclrtSetDevice, aclrtCreateContext or "
              "aclrtSetCurrentContext before");
    SIM_TRY(sim_device_set(sim_device_default()));
    *context = sim_thread.th_context;
    return ACL_SUCCESS;
}

SIM_RARE aclError sim_context_report_failed(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    SIM_CHECK(code != ACL_ERROR_RT_DEVICE_TASK_ABORT, code,
              "the work on device %d is being aborted, expected no more work until aclrtDeviceTaskAbort has returned",
              context->cx_device->dv_id);
    return sim_fail(code, "a task of the current context failed and one of its streams stops on failure: the context "
                          "accepts no new work until it is destroyed or its device is reset");
}

aclError sim_context_create(struct sim_device *device, bool primary, struct sim_context **context)
{
    uint64_t value;
    struct sim_context *fresh = sim_table_take(&sim_contexts, &value);
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "%u contexts are alive, expected fewer",
              sim_contexts.tb_limit);
    atomic_store_explicit(&fresh->cx_device, device, memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_primary, primary, memory_order_relaxed);
    sim_lock(&fresh->cx_lock);
    fresh->cx_closing = false;
    fresh->cx_overflow = (struct sim_range){.rg_birth = 0}; /* the slot may have been used before a fork */
    sim_unlock(&fresh->cx_lock);
    atomic_store_explicit(&fresh->cx_overflowed, false, memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_inactive, 0, memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_stop_on_failure, false, memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_failed, ACL_SUCCESS, memory_order_relaxed);
    for (size_t i = 0; i < SIM_CONTEXT_OPTIONS; i++)
        atomic_store_explicit(&fresh->cx_options[i], 0, memory_order_relaxed);
    aclrtStream stream;
    aclError code = sim_stream_create(fresh, 0, 0, SIM_STREAM_DEFAULT, &stream);
    if (code != ACL_SUCCESS) {
        sim_table_give(&sim_contexts, fresh);
        return code;
    }
    atomic_store_explicit(&fresh->cx_default, (uint64_t)(uintptr_t)stream, memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_default_stream, sim_table_find(&sim_streams, stream), memory_order_relaxed);
    atomic_store_explicit(&fresh->cx_slot.sl_handle, value, memory_order_release);
    *context = fresh;
    return ACL_SUCCESS;
}

uint64_t *sim_context_streams(struct sim_context *context, size_t *count)
{
    uint64_t *handles = NULL;
    *count = 0;
    for (size_t room = 64;; room *= 2) {
        handles = malloc(room * sizeof *handles);
        if (handles == NULL)
            return NULL;
        size_t found = 0;
        sim_lock(&context->cx_lock);
        for (struct sim_stream *stream = context->cx_streams; stream != NULL; stream = stream->st_after, found++)
            if (found < room)
                handles[found] = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed);
        sim_unlock(&context->cx_lock);
        if (found <= room) {
            *count = found;
            return handles;
        }
        free(handles);
    }
}

/* Newest first, so that the default stream, which was created first, is destroyed last. A stream without a handle is
 * being destroyed by another thread, which takes it out of the list. The streams of instances stay. */
static aclError destroy_streams(struct sim_context *context, bool force)
{
    for (;;) {
        sim_lock(&context->cx_lock);
        struct sim_stream *stream = context->cx_streams;
        while (stream != NULL && sim_stream_kind(stream) == SIM_STREAM_INSTANCE)
            stream = stream->st_after;
        uint64_t handle = stream != NULL ? atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) : 0;
        sim_unlock(&context->cx_lock);
        if (stream == NULL)
            return ACL_SUCCESS;
        if (handle == 0) {
            sim_engine_wait(stream, sim_stream_tail(stream), SIM_FOREVER, SIM_HELPER);
            sched_yield(); /* its tasks are done: the other thread only has to unlink it */
            continue;
        }
        sim_room_release_stream(stream);
        SIM_TRY(sim_stream_destroy((struct sim_target){stream, handle}, force));
    }
}

aclError sim_context_close(struct sim_context *context, bool force, bool keep_handle)
{
    uint64_t handle = atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire);
    sim_lock(&context->cx_lock);
    bool first = !context->cx_closing;
    context->cx_closing = true;
    sim_unlock(&context->cx_lock);
    SIM_CHECK(first, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "context %#llx is being destroyed by another thread",
              (unsigned long long)handle);
    aclError code = destroy_streams(context, force);
    if (code != ACL_SUCCESS) {
        sim_lock(&context->cx_lock);
        context->cx_closing = false;
        sim_unlock(&context->cx_lock);
        return code;
    }
    sim_room_close_context(context);
    if (sim_thread.th_context == context)
        sim_context_unbind();
    if (keep_handle)
        atomic_store_explicit(&context->cx_inactive, handle, memory_order_release);
    atomic_store_explicit(&context->cx_slot.sl_handle, 0, memory_order_release);
    if (!keep_handle)
        sim_table_give(&sim_contexts, context);
    return ACL_SUCCESS;
}

aclError sim_context_destroy(aclrtContext handle)
{
    SIM_TRY(sim_runtime_pass());
    struct sim_context *context = sim_table_find(&sim_contexts, handle);
    if (context == NULL) {
        uint64_t value = (uint64_t)(uintptr_t)handle;
        uint32_t index = sim_handle_index(value);
        if (index != 0 && index < atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire)) {
            struct sim_context *inactive = sim_table_at(&sim_contexts, index);
            if (atomic_compare_exchange_strong(&inactive->cx_inactive, &value, 0)) {
                sim_table_give(&sim_contexts, inactive);
                return ACL_SUCCESS;
            }
        }
    }
    SIM_CHECK(context != NULL, ACL_ERROR_RT_CONTEXT_NULL, "context is %p, %s, expected a live context", handle,
              sim_handle_describe(handle));
    SIM_CHECK(!context->cx_primary, ACL_ERROR_RT_CONTEXT_NULL,
              "context %p is the primary context of device %d, expected one made by aclrtCreateContext; "
              "aclrtResetDevice releases it",
              handle, context->cx_device->dv_id);
    return sim_context_close(context, false, false);
}

static aclError refuse_captures(const struct sim_context *context)
{
    uint32_t open = atomic_load_explicit(&context->cx_captures, memory_order_relaxed);
    SIM_CHECK(open == 0, ACL_ERROR_RT_STREAM_CAPTURED,
              "%u captures are open in the context, expected aclmdlRICaptureEnd before", open);
    return ACL_SUCCESS;
}

aclError sim_context_synchronize(struct sim_context *context, int32_t timeout)
{
    size_t count;
    uint64_t deadline = sim_clock_deadline_of_call(timeout), began = sim_stream_begin_wait();
    SIM_TRY(sim_context_check_aborting(context));
    SIM_TRY(refuse_captures(context));
    uint64_t *handles = sim_context_streams(context, &count);
    SIM_CHECK(handles != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a list of streams");
    aclError first = ACL_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)handles[i]);
        if (stream == NULL)
            continue;
        enum sim_role role = timeout < 0 ? SIM_HELPER : SIM_SUBMITTER;
        uint64_t tail = sim_stream_tail(stream);
        enum sim_wait wait = sim_engine_wait(stream, tail, deadline, role);
        aclError code = sim_engine_outcome(wait, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, timeout);
        if (sim_watcher_any() && wait == SIM_WAIT_PASSED)
            sim_watcher_know(sim_record_of(stream, tail));
        if (wait == SIM_WAIT_PASSED)
            code = sim_stream_check_aborted(stream, began);
        if (wait == SIM_WAIT_PASSED && code == ACL_SUCCESS)
            code = sim_stream_take_error(stream);
        if (first == ACL_SUCCESS)
            first = code;
        if (wait != SIM_WAIT_PASSED || sim_context_check_failed(context) != ACL_SUCCESS)
            break;
    }
    free(handles);
    return first != ACL_SUCCESS ? first : sim_context_check_failed(context);
}
