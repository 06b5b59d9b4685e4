/* Streams: ordered queues of tasks inside a context. Created, found and destroyed here; engine.c runs the queue. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "base/fail.h"
#include "base/handle.h"
#include "base/runtime.h"
#include "task.h"
#include "task_value.h"

enum sim_stream_state {
    SIM_IDLE,    /* no task */
    SIM_READY,   /* tasks that may run, and no holder */
    SIM_RUNNING, /* one thread, the holder, runs its tasks */
    SIM_PARKED,  /* its first task waits at a gate, with st_waiter */
};

#define SIM_CORE_TYPES 2 /* cube and vector */
#define SIM_DROP_ALL (UINT64_C(1) << 56) /* added to st_drop by each abort in progress; greater than any ticket */
#define SIM_STREAM_TEXT 384 /* bytes of the message of a failed task */

enum sim_stream_kind {
    SIM_STREAM_USER,
    SIM_STREAM_DEFAULT,
    SIM_STREAM_INSTANCE, /* belongs to a model running instance: programs see it, but cannot submit to it */
};

/* How an instance has taken a stream over; submissions to it go to capture.c. */
enum sim_taken { SIM_TAKEN_NOT, SIM_TAKEN_CAPTURES, SIM_TAKEN_BOUND, SIM_TAKEN_UPDATES };

struct sim_branch;

/* The state that memory/saturation.c keeps per stream. */
struct sim_stream_saturation {
    _Atomic bool sa_on;      /* overflowing floats saturate: the mode of the process when the stream was created */
    _Atomic bool sa_asked;   /* the status switch, as the program has set it */
    _Atomic bool sa_reached; /* the status switch, as the tasks run so far have set it */
};

/* Fields are on separate cache lines by the thread that writes them; a launch and its synchronisation touch three of
 * them. Tickets, level and st_returned are not reset when the slot is reused: they keep counting, so that a record or a
 * waiter of the slot's former stream reads as done. */
struct sim_stream {
    /* Read by each call, and seldom written. Atomic, as others below, because a getter may run while the slot is
     * reused. */
    struct sim_slot st_slot;
    struct sim_context *_Atomic st_context;
    _Atomic uint64_t st_owner;     /* handle of the instance that took it over, or owns it; written under gt_lock */
    _Atomic uint64_t st_drop;      /* tasks up to this ticket are discarded; see SIM_DROP_ALL */
    _Atomic uint64_t st_aborted;   /* sim_engine_aborts when the newest abort of this stream began */
    _Atomic aclError st_error;     /* first failure not yet reported; text guarded by gt_lock */
    _Atomic enum sim_stream_kind st_kind;
    _Atomic enum sim_taken st_taken;
    _Atomic bool st_stop_on_failure;

    /* Guarded by st_gate.gt_lock; st_tail is also read without it. The level of st_gate is the count of finished tasks,
     * which only the holder writes. Pending tasks = st_tail - level. */
    _Alignas(SIM_LINE) struct sim_gate st_gate;
    _Atomic uint64_t st_tail;      /* the newest ticket */
    struct sim_chunk *st_tail_chunk;
    enum sim_stream_state st_state;
    bool st_listed;                /* in the ready list, or taken out by a worker; may stay true while idle */
    bool st_worker;                /* only a worker may run its first task */
    bool st_expired;               /* its last wait ended by its deadline */
    bool st_served;                /* while SIM_RUNNING: the thread of its callbacks runs it (sim_engine_serve) */
    struct sim_gate *st_parked_at; /* while SIM_PARKED */
    uint64_t st_deadline;          /* of that wait; SIM_FOREVER: none */

    /* Used by the holder. */
    _Alignas(SIM_LINE) struct sim_chunk *st_head_chunk;
    struct sim_chunk *_Atomic st_spare;
    struct sim_waiter st_waiter;   /* for the gate at which it is parked */
    _Atomic uint32_t st_habit;     /* see worker.c */

    /* Used by the workers, see worker.c, and by schedules without workers. */
    _Alignas(SIM_LINE) struct sim_stream *st_next_ready;
    uint64_t st_seen;
    _Atomic uint32_t st_kicked;
    struct sim_stream *st_next_timed; /* guarded, like st_timed, by worker.c's timer lock */
    bool st_timed;
    _Atomic uint64_t st_held;      /* see sim_stream_limit */

    /* Set when the stream is created, and used when it is destroyed. */
    _Alignas(SIM_LINE) struct sim_stream *st_before, *st_after; /* in the context's list; guarded by cx_lock */
    _Atomic uint32_t st_priority;
    _Atomic uint32_t st_flags;
    _Atomic uint32_t st_tag;       /* a number that the program sets */
    _Atomic uint32_t st_keeps_op_info; /* a switch, 0 or 1 */
    struct sim_branch *st_branch;  /* of the instance that took it over; guarded by the instance's lock */
    _Atomic uint32_t st_cores[SIM_CORE_TYPES]; /* how many cores its work may use; 0: no limit of the stream */
    struct sim_stream_saturation st_saturation;
    struct sim_caller *_Atomic st_caller; /* the queue of its callbacks; guarded by sim_caller_lock */
    struct sim_gate st_latch;      /* counts the releases of aclsimStreamHold */
    _Atomic uint64_t st_holds;
    struct sim_gate st_abort_ends; /* counts the aborts that have ended; st_aborts counts those begun */
    _Atomic uint64_t st_aborts;

    /* Rarely used. */
    _Atomic aclError st_abort_code;
    struct sim_gate st_returned;   /* the newest user callback that has returned; only rises */
    uint64_t st_posted;            /* user callbacks queued; used by the holder */
    struct sim_caller *_Atomic st_returner; /* the queue of the callback that it waits for, or NULL */
    struct sim_gate st_valued;     /* counts the value waits whose condition was met */
    struct sim_task_value st_value;     /* what it waits for; list_lock of task_value.c guards it and the next two */
    bool st_waits_for_value;
    struct sim_stream *st_next_valued;
    char st_error_text[SIM_STREAM_TEXT];
};
_Static_assert(sizeof(struct sim_stream) / SIM_LINE % 2 == 1,
               "with an odd number of lines, the same line of many streams is in many sets of a cache");

extern struct sim_table sim_streams;

/* While not 0, destroyed streams are reported to the rooms above (rm_stream_destroyed). */
extern _Atomic uint32_t sim_stream_listeners;
/* The value of sa_on in a new stream; written by memory/saturation.c. */
extern _Atomic bool sim_stream_saturation;

/* A stream to submit to, with the handle, which the submission checks again. */
struct sim_target {
    struct sim_stream *tg_stream;
    uint64_t tg_handle;
};

/* Finds the stream of `handle`, which is not NULL; needs no current context. Returns 107017 for a dead handle. */
aclError sim_stream_find(aclrtStream handle, struct sim_target *target);

/* Returns 107017 unless `handle` is NULL or a live stream: the check that comes before those of values and context. */
aclError sim_stream_check(aclrtStream handle);

/* Finds the stream of `handle` (NULL: the current context's default stream), of any context, for synchronising, queries
 * and getters. Returns 107017 for a dead handle and 107002 without a current context. */
aclError sim_stream_any(aclrtStream handle, struct sim_target *target);

/* The same for submissions: the stream must belong to the current context (107003), which no failed task may have
 * stopped (its failure code). */
aclError sim_stream_own(aclrtStream handle, struct sim_target *target);

/* The same for calls that clean up, such as destroying, stopping or unbinding: also in a context that has failed. */
aclError sim_stream_to_clean(aclrtStream handle, struct sim_target *target);

/* The stream of `handle` if sim_stream_any has nothing to refuse or to look up; else NULL: the fast case of calls that
 * leave the others to a function of their own. Such a call checks sim_runtime_is_locked itself. */
static inline struct sim_stream *sim_stream_plain(aclrtStream handle)
{
    struct sim_stream *stream = sim_table_find(&sim_streams, handle);
    if (unlikely(stream == NULL))
        return NULL;
    return likely(sim_runtime_is_bound()) ? stream : NULL;
}

/* Creates a stream in `context`, and calls the stream-state callbacks unless the stream is an instance's. Returns
 * 207008 when the device has too many streams, and 107002 when the context is being destroyed. */
aclError sim_stream_create(struct sim_context *context, uint32_t priority, uint32_t flags, enum sim_stream_kind kind,
                           aclrtStream *handle);

/* Makes the handle dead, waits for the stream's tasks (with `force`, discards those not started), and frees the slot.
 * Returns 107017 when another thread was first, and 107027 or 107005 while an instance has taken the stream over.
 * Errors still stored in the stream are lost. */
aclError sim_stream_destroy(struct sim_target target, bool force);

/* The number of streams that can still be created on the device of `context`. */
uint32_t sim_stream_available(const struct sim_context *context);

/* Counts the aborts of all streams. A host calls sim_stream_begin_wait before it waits for a stream, and afterwards
 * sim_stream_check_aborted, which returns 107022 or 107023 if the stream was aborted since. A wait in slices (sim.h)
 * begins with its first slice. */
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

/* True when all tasks are done and no failure is stored, so that synchronising returns at once. */
bool sim_stream_is_settled(struct sim_stream *stream);
/* Takes the stored failure of the stream into this thread's messages. Returns its code, or 0. */
aclError sim_stream_take_error(struct sim_stream *stream);

static inline enum sim_stream_kind sim_stream_kind(const struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_kind, memory_order_relaxed);
}

/* The st_owner of a stream that no instance has taken over: 0, or for a persistent stream, which runs nothing by
 * itself, a value that is not an instance's handle, so that submissions to it are refused. */
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

/* Returns 107027 or 107005 unless `taken` is SIM_TAKEN_NOT. */
aclError sim_stream_refuse_taken(const struct sim_stream *stream, enum sim_taken taken);

/* Returns 107027 when the stream is being captured. */
static inline aclError sim_stream_refuse_captured(const struct sim_stream *stream)
{
    return unlikely(sim_stream_taken(stream) == SIM_TAKEN_CAPTURES)
               ? sim_stream_refuse_taken(stream, SIM_TAKEN_CAPTURES)
               : ACL_SUCCESS;
}

static inline uint64_t sim_stream_tail(struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_tail, memory_order_acquire);
}

/* In schedules without workers: the last task up to which the stream runs without a host that waits for it. From the
 * task st_held on, the schedule holds it back; 0: it holds nothing back. */
static inline uint64_t sim_stream_limit(const struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_held, memory_order_relaxed) - 1;
}

static inline struct sim_stream *sim_stream_at(uint32_t index)
{
    return sim_table_at(&sim_streams, index);
}

#endif
