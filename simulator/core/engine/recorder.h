/* The recorder: the functions through which the rooms below `capture` call it. */
#ifndef SIM_RECORDER_H
#define SIM_RECORDER_H

#include "context.h"
#include "event.h"
#include "task.h"

/* Identifies a recorded task; stays valid as a value when its instance is destroyed. */
struct sim_recorded {
    uint64_t rc_instance;
    uint32_t rc_branch, rc_index;
};

struct sim_recorder {
    /* The first three are called when an instance owns the stream or the event. They return true when they have handled
     * the call, and *code is its result. They return false when the instance has released the stream or event
     * meanwhile; the call then continues as usual. */
    /* A submission to a stream that an instance has taken over. */
    bool (*rc_submit)(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size, void *site,
                      aclError *code);
    /* Records and waits of Ex events that concern a capture: the stream is being captured, or the event was recorded in
     * a capture that is still open. */
    bool (*rc_record)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code);
    bool (*rc_wait)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                    aclError *code);
    /* Returns `code` when this thread may not make a synchronous memory call now, because streams of the context are
     * being captured. */
    aclError (*rc_refuse_unsafe)(struct sim_context *context, aclError code);
    /* Finds a task by its kind and number in a stream that is bound to an instance. Returns 107005 or 107000. */
    aclError (*rc_find_task)(struct sim_target stream, uint32_t number, enum sim_task_kind kind,
                             struct sim_recorded *recorded);
    /* Replaces the task's argument by the malloc'ed one that `make` returns for it, also for a replay in progress.
     * False when `make` returns NULL; true also when the instance no longer exists. */
    bool (*rc_replace)(const struct sim_recorded *recorded, void *(*make)(const void *before, void *state),
                       void *state);
};

/* Set by simulator.c before any call. */
extern const struct sim_recorder *sim_engine_recorder;

/* Calls rc_refuse_unsafe. Costs one load while no stream of the context is being captured. */
static inline aclError sim_recorder_allow(struct sim_context *context, aclError code)
{
    bool open = atomic_load_explicit(&context->cx_captures, memory_order_relaxed) != 0;
    return likely(!open) ? ACL_SUCCESS : sim_engine_recorder->rc_refuse_unsafe(context, code);
}

#endif
