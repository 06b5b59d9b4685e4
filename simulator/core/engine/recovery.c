/* Aborting the work of a stream or a device: waiting for the running task, and discarding the others.
 *
 * A running task cannot be stopped here. Tasks that arrive at a stream meanwhile are discarded, because the abort has
 * raised its st_drop; the abort of a device also marks its contexts with 107022, so that new work is refused. The abort
 * owns the list of streams on which it has begun. A stream may be destroyed meanwhile: destroying it waits until the
 * abort has ended there, which is before the last callbacks run.
 *
 * dv_aborting makes aborts of a device exclusive. No lock is held while callbacks run or tasks are waited for. */
#include "recovery.h"
#include "base/clock.h"
#include "base/registry.h"
#include "base/room.h"
#include "context.h"
#include "engine.h"

#include <stdlib.h>

#define STREAM_LIMIT_MS 60000

static aclError wait_until(struct sim_stream *stream, uint64_t deadline)
{
    uint64_t tail = sim_stream_tail(stream);
    enum sim_wait wait = sim_engine_wait(stream, tail, deadline, SIM_SUBMITTER);
    if (sim_watcher_any() && wait == SIM_WAIT_PASSED)
        sim_watcher_know(sim_record_of(stream, tail));
    SIM_CHECK(wait != SIM_WAIT_EXPIRED, ACL_ERROR_RT_WAIT_TIMEOUT,
              "a task of stream %u did not end in time; what was queued behind it is discarded",
              stream->st_slot.sl_index);
    return sim_engine_refusal(wait);
}

aclError sim_recovery_abort_stream(struct sim_target stream)
{
    SIM_TRY(sim_engine_may_wait());
    SIM_CHECK(sim_engine_abort(stream, ACL_ERROR_RT_STREAM_ABORT), ACL_ERROR_RT_INVALID_HANDLE,
              "stream %#llx was destroyed by another thread during the call", (unsigned long long)stream.tg_handle);
    aclError code = wait_until(stream.tg_stream, sim_clock_deadline(STREAM_LIMIT_MS));
    sim_engine_abort_end(stream.tg_stream);
    return code;
}

/* ---- a device ---- */

/* The streams on which an abort has begun. */
struct batch {
    struct sim_stream **bt_streams;
    size_t bt_count, bt_room;
};

static bool add(struct batch *batch, struct sim_stream *stream)
{
    if (batch->bt_count == batch->bt_room) {
        size_t room = batch->bt_room * 2 + 64;
        struct sim_stream **streams = realloc(batch->bt_streams, room * sizeof *streams);
        if (streams == NULL)
            return false;
        batch->bt_streams = streams;
        batch->bt_room = room;
    }
    batch->bt_streams[batch->bt_count++] = stream;
    return true;
}

/* Skips the streams of instances: they only do work of a replay on another stream. */
static aclError begin_context(struct sim_context *context, struct batch *batch)
{
    size_t count;
    uint64_t *handles = sim_context_streams(context, &count);
    bool has_room = handles != NULL;
    for (size_t i = 0; i < count && has_room; i++) {
        struct sim_target target = {sim_table_find(&sim_streams, (void *)(uintptr_t)handles[i]), handles[i]};
        if (target.tg_stream == NULL || sim_stream_kind(target.tg_stream) == SIM_STREAM_INSTANCE)
            continue;
        has_room = add(batch, target.tg_stream);
        if (has_room && !sim_engine_abort(target, ACL_ERROR_RT_DEVICE_TASK_ABORT))
            batch->bt_count--; /* it was destroyed just now */
    }
    free(handles);
    SIM_CHECK(has_room, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a list of streams");
    return ACL_SUCCESS;
}

/* The context at an index if it is live and of the device, else NULL. */
static struct sim_context *context_at(uint32_t index, const struct sim_device *device)
{
    struct sim_context *context = sim_table_at(&sim_contexts, index);
    bool live = atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire) != 0;
    return live && context->cx_device == device ? context : NULL;
}

#define EACH_CONTEXT(context, device)                                                                                  \
    for (uint32_t index = 1; index < atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire); index++)      \
        for (struct sim_context *context = context_at(index, device); context != NULL; context = NULL)

/* Contexts that a failed task has stopped keep that code. */
static void mark(const struct sim_device *device, aclError from, aclError to)
{
    EACH_CONTEXT(context, device) {
        aclError before = from;
        atomic_compare_exchange_strong(&context->cx_failed, &before, to);
    }
}

static aclError abort_all(struct sim_device *device, uint64_t deadline, struct batch *batch)
{
    SIM_TRY(sim_registry_fire_abort(device->dv_id, ACL_RT_DEVICE_TASK_ABORT_PRE, deadline));
    EACH_CONTEXT(context, device) {
        SIM_TRY(begin_context(context, batch));
    }
    for (size_t i = 0; i < batch->bt_count; i++)
        SIM_TRY(wait_until(batch->bt_streams[i], deadline));
    return ACL_SUCCESS;
}

aclError sim_recovery_abort_device(struct sim_device *device, uint32_t timeout)
{
    struct batch batch = {NULL, 0, 0};
    uint64_t deadline = timeout == 0 ? SIM_FOREVER : sim_clock_deadline((int32_t)timeout);
    bool first = false;
    SIM_TRY(sim_engine_may_wait());
    SIM_CHECK(atomic_compare_exchange_strong(&device->dv_aborting, &first, true), ACL_ERROR_RT_DEVICE_TASK_ABORT,
              "the work on device %d is being aborted already", device->dv_id);
    mark(device, ACL_SUCCESS, ACL_ERROR_RT_DEVICE_TASK_ABORT);
    aclError code = abort_all(device, deadline, &batch);
    for (size_t i = 0; i < batch.bt_count; i++)
        sim_engine_abort_end(batch.bt_streams[i]);
    sim_room_device_aborted(device->dv_id);
    if (code == ACL_SUCCESS)
        code = sim_registry_fire_abort(device->dv_id, ACL_RT_DEVICE_TASK_ABORT_POST, deadline);
    mark(device, ACL_ERROR_RT_DEVICE_TASK_ABORT, ACL_SUCCESS);
    atomic_store(&device->dv_aborting, false);
    free(batch.bt_streams);
    return code;
}
