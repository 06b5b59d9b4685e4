/* What the rooms below capture ask of it: it is the recorder. */
#ifndef SIM_RECORDER_H
#define SIM_RECORDER_H

#include "context.h"
#include "event.h"
#include "task.h"

/* A recorded task, however long its instance lives. */
struct sim_recorded {
    uint64_t rc_instance;
    uint32_t rc_branch, rc_index;
};

struct sim_recorder {
    /* The first three are asked when a stream or an event belongs to the recorder. They return true when they have dealt
     * with the call, whose outcome is *code; false when the stream or the event has been let go meanwhile, and the call
     * goes on as for any other. */
    /* A submission to a stream that an instance has taken over. */
    bool (*rc_submit)(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size, void *site,
                      aclError *code);
    /* Records and waits of Ex events that concern a capture: the stream captures, or the event was recorded in a capture
     * that is still open. */
    bool (*rc_record)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code);
    bool (*rc_wait)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                    aclError *code);
    /* `code` when a synchronous call on memory may not be made now by this thread, because streams of the context capture
     * (contract: modes and unsafe calls). */
    aclError (*rc_refuse_unsafe)(struct sim_context *context, aclError code);
    /* The task of this kind and number of a stream that is bound to an instance: 107005, 107000. */
    aclError (*rc_find_task)(struct sim_target stream, uint32_t number, enum sim_task_kind kind,
                             struct sim_recorded *recorded);
    /* Puts a malloc'ed argument, which `make` gives for the present one, in the place of that, also for a run in
     * progress. False when it gives NULL; true when the instance is gone, too. */
    bool (*rc_replace)(const struct sim_recorded *recorded, void *(*make)(const void *before, void *state), void *state);
};

/* Set by simulator.c before any call. */
extern const struct sim_recorder *sim_engine_recorder;

/* rc_refuse_unsafe; one load while no stream of the context captures. */
static inline aclError sim_recorder_allow(struct sim_context *context, aclError code)
{
    bool open = atomic_load_explicit(&context->cx_captures, memory_order_relaxed) != 0;
    return likely(!open) ? ACL_SUCCESS : sim_engine_recorder->rc_refuse_unsafe(context, code);
}

#endif
