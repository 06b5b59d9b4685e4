/* Streams: ordered queues inside a context. Creating, finding, destroying; the queue itself is run by engine.c. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "base/fail.h"
#include "base/handle.h"
#include "task.h"
#include "task_value.h"

enum sim_stream_state {
    SIM_IDLE,    /* no task */
    SIM_READY,   /* tasks, nobody runs them, and they may run */
    SIM_RUNNING, /* one thread holds it */
    SIM_PARKED,  /* its head waits at a gate, with st_waiter */
};

#define SIM_CORE_TYPES 2 /* cube and vector */
#define SIM_DROP_ALL (UINT64_C(1) << 56) /* each abort in progress adds it to st_drop: more than any ticket */
#define SIM_STREAM_TEXT 384 /* bytes of the message of a failed task */

enum sim_stream_kind {
    SIM_STREAM_USER,
    SIM_STREAM_DEFAULT,
    SIM_STREAM_INSTANCE, /* a model running instance's own: programs see it, but submit nothing */
};

/* How an instance has taken a stream over: what is submitted goes to capture.c. */
enum sim_taken { SIM_TAKEN_NOT, SIM_TAKEN_CAPTURES, SIM_TAKEN_BOUND, SIM_TAKEN_UPDATES };

struct sim_branch;

/* What memory/saturation.c keeps with a stream. */
struct sim_stream_saturation {
    _Atomic bool sa_on;      /* floats that overflow saturate, as the process had it when the stream was created */
    _Atomic bool sa_asked;   /* the switch of their status, as programs have set it */
    _Atomic bool sa_reached; /* the same, as the stream's holder has reached it */
};

/* Fields sit on separate cache lines by who writes them. Never reset when the slot is reused: tickets, level and
 * st_returned go on counting, so a record or a waiter of a slot's former life reads as done. */
struct sim_stream {
    struct sim_slot st_slot;
    struct sim_context *_Atomic st_context;
    struct sim_stream *st_before, *st_after; /* in the context's list; guarded by cx_lock */
    _Atomic uint32_t st_priority;  /* these are atomic because a getter may race with the slot's next life */
    _Atomic uint32_t st_flags;
    _Atomic uint32_t st_tag;       /* a number of the program's */
    _Atomic uint32_t st_keeps_op_info; /* a switch, 0 or 1 */
    _Atomic enum sim_stream_kind st_kind;
    _Atomic bool st_stop_on_failure;
    _Atomic enum sim_taken st_taken;
    _Atomic uint64_t st_owner;     /* handle of the instance that has taken it over or owns it; written under gt_lock */
    struct sim_branch *st_branch;  /* there; guarded by that instance's lock */

    /* Guarded by st_gate.gt_lock; st_tail is also read without it. st_gate's level is the count of finished tasks,
     * written by the holder only. Pending tasks = st_tail - level. */
    _Alignas(SIM_LINE) struct sim_gate st_gate;
    _Atomic uint64_t st_tail;      /* tickets given out */
    struct sim_chunk *st_tail_chunk;
    enum sim_stream_state st_state;
    bool st_listed;                /* in the ready list or in a worker's hands; may stay so while idle */
    bool st_worker;                /* its head may only be run by a worker */
    bool st_expired;               /* the deadline of its wait came first */
    struct sim_gate *st_parked_at; /* while SIM_PARKED */
    uint64_t st_deadline;          /* of that wait, SIM_FOREVER: none */

    /* The holder's. */
    _Alignas(SIM_LINE) struct sim_chunk *st_head_chunk;
    struct sim_chunk *_Atomic st_spare;
    struct sim_waiter st_waiter;   /* for the one gate it can be parked at */

    /* The workers'; see worker.c. */
    _Alignas(SIM_LINE) struct sim_stream *st_next_ready;
    uint64_t st_seen;
    _Atomic uint32_t st_kicked;
    _Atomic uint32_t st_habit;
    struct sim_stream *st_next_timed; /* guarded, like st_timed, by worker.c's timer lock */
    bool st_timed;

    /* Rare. */
    _Alignas(SIM_LINE) _Atomic uint64_t st_drop; /* tasks with a ticket up to this one are discarded; see SIM_DROP_ALL */
    _Atomic aclError st_error;     /* first failure not yet reported; text guarded by gt_lock */
    char st_error_text[SIM_STREAM_TEXT];
    _Atomic uint64_t st_aborted;   /* what sim_engine_aborts was when the newest abort of this stream began */
    _Atomic aclError st_abort_code;
    struct sim_gate st_abort_ends; /* monotone, like st_aborts, which counts those begun */
    _Atomic uint64_t st_aborts;
    struct sim_stream_saturation st_saturation;
    _Atomic uint32_t st_cores[SIM_CORE_TYPES]; /* how many its work may use; 0: not limited here */
    struct sim_gate st_returned;   /* user callbacks given back by their thread; monotone */
    uint64_t st_posted;            /* user callbacks handed over; the holder's */
    struct sim_gate st_latch;      /* releases of aclsimStreamHold; monotone */
    _Atomic uint64_t st_holds;
    struct sim_gate st_valued;     /* conditions of value waits that came to hold; monotone */
    struct sim_task_value st_value;     /* what it waits for; guarded, as the next two, by the list's lock (task_value.c) */
    bool st_waits_for_value;
    struct sim_stream *st_next_valued;
    struct sim_caller *_Atomic st_caller;   /* who makes its callbacks; guarded by the callback room's lock */
    struct sim_caller *_Atomic st_returner; /* who makes the one it waits for, if any */
};

extern struct sim_table sim_streams;

/* While it is not 0, destroyed streams are reported to the rooms above (rm_stream_destroyed). */
extern _Atomic uint32_t sim_stream_listeners;
/* What sa_on is in a new stream; written by memory/saturation.c. */
extern _Atomic bool sim_stream_saturation;

/* A stream to submit to, with the handle value that the submission re-checks. */
struct sim_target {
    struct sim_stream *tg_stream;
    uint64_t tg_handle;
};

/* Finds the stream of `handle`, which is not NULL, and asks for no context. 107017. */
aclError sim_stream_find(aclrtStream handle, struct sim_target *target);

/* 107017 unless `handle` is NULL or a live stream: what comes before the checks of values and of the context. */
aclError sim_stream_check(aclrtStream handle);

/* Finds the stream of `handle` (NULL: the current context's default stream), requires a live current context, and
 * leaves ownership aside: synchronise, query, getters. Codes 107017, 107002. */
aclError sim_stream_any(aclrtStream handle, struct sim_target *target);

/* The same for submissions: the stream must belong to the current context (107003), which must not have failed in stop
 * mode (its failure code). */
aclError sim_stream_own(aclrtStream handle, struct sim_target *target);

/* The same for destroying, stopping, unbinding and whatever else cleans up: also in a context that has failed. */
aclError sim_stream_to_clean(aclrtStream handle, struct sim_target *target);

/* Creates a stream in `context` and returns its handle. Fires the stream-state callbacks, unless it is an instance's.
 * 207008, 207001. */
aclError sim_stream_create(struct sim_context *context, uint32_t priority, uint32_t flags, enum sim_stream_kind kind,
                           aclrtStream *handle);

/* Makes the handle dead, waits for its tasks (force: discards those not started), and gives the slot back.
 * 107017 when another thread was first, 107027 or 107005 while an instance has taken the stream over. Errors still stored
 * in the stream are lost. */
aclError sim_stream_destroy(struct sim_target target, bool force);

/* Streams that can still be created on the device of `context`. */
uint32_t sim_stream_available(const struct sim_context *context);

/* Counts the aborts of all streams. A host that is going to wait for a stream remembers it; the second fails when the
 * stream was aborted since, or is being aborted: 107022 or 107023. Waits in slices (sim.h) begin with the first slice. */
extern _Atomic uint64_t sim_engine_aborts;
aclError sim_stream_report_aborted(struct sim_stream *stream);
static inline uint64_t sim_stream_begin_wait(void)
{
    uint64_t noted = sim_thread.th_wait_began;
    sim_thread.th_wait_began = 0;
    return likely(noted == 0) ? atomic_load_explicit(&sim_engine_aborts, memory_order_acquire) : noted - 1;
}
static inline aclError sim_stream_check_aborted(struct sim_stream *stream, uint64_t began)
{
    bool aborted = atomic_load_explicit(&stream->st_aborted, memory_order_acquire) > began;
    return unlikely(aborted) ? sim_stream_report_aborted(stream) : ACL_SUCCESS;
}
static inline bool sim_stream_is_aborting(const struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_drop, memory_order_acquire) >= SIM_DROP_ALL;
}

/* Nothing is queued and no failure is stored, before whose report callbacks would be waited for. */
bool sim_stream_is_settled(struct sim_stream *stream);
/* Takes the first stored failure of the stream, if any, into this thread's messages: the code, or 0. */
aclError sim_stream_take_error(struct sim_stream *stream);

static inline enum sim_stream_kind sim_stream_kind(const struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_kind, memory_order_relaxed);
}

/* What a stream that no instance has taken over has as its owner: a persistent one, which runs nothing by itself, a
 * handle that no instance has, so that submissions to it are refused. */
#define SIM_NOBODY 1u
static inline uint64_t sim_stream_free_owner(uint32_t flags)
{
    return flags & ACL_STREAM_PERSISTENT ? SIM_NOBODY : 0;
}

static inline enum sim_taken sim_stream_taken(const struct sim_stream *stream)
{
    bool owned = atomic_load_explicit(&stream->st_owner, memory_order_acquire) != 0;
    return likely(!owned) ? SIM_TAKEN_NOT : atomic_load_explicit(&stream->st_taken, memory_order_relaxed);
}

/* 107027 or 107005, unless it is SIM_TAKEN_NOT. */
aclError sim_stream_refuse_taken(const struct sim_stream *stream, enum sim_taken taken);

/* 107027 when the stream captures. */
static inline aclError sim_stream_refuse_captured(const struct sim_stream *stream)
{
    return unlikely(sim_stream_taken(stream) == SIM_TAKEN_CAPTURES) ? sim_stream_refuse_taken(stream, SIM_TAKEN_CAPTURES)
                                                                    : ACL_SUCCESS;
}

static inline uint64_t sim_stream_tail(struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_tail, memory_order_acquire);
}

static inline struct sim_stream *sim_stream_at(uint32_t index)
{
    return sim_table_at(&sim_streams, index);
}

#endif
