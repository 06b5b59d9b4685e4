/* The engine: submitting tasks, running them, waiting for them. Design notes are in engine.c and worker.c. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "stream.h"

/* A point in a stream: index << 48 | ticket. Passed when the stream's level has reached the ticket; 0 is always passed. */
typedef uint64_t sim_record;

static inline struct sim_stream *sim_record_stream(sim_record record)
{
    return sim_stream_at((uint32_t)(record >> 48));
}

static inline uint64_t sim_record_ticket(sim_record record)
{
    return record & 0xffffffffffffu;
}

static inline bool sim_record_passed(sim_record record)
{
    return record == 0 || sim_gate_passed(&sim_record_stream(record)->st_gate, sim_record_ticket(record));
}

static inline sim_record sim_record_of(const struct sim_stream *stream, uint64_t ticket)
{
    return (sim_record)stream->st_slot.sl_index << 48 | ticket;
}

/* Queues a task. `site` is the return address of the public call. When `record` is given, the task's own position is
 * stored there while the stream is locked, so two records of one event on one stream keep the stream's order.
 * 107017 when the stream was destroyed meanwhile, 207001 when there is no memory for the argument. */
aclError sim_engine_submit(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                           void *site, _Atomic sim_record *record);

/* The same without asking whether an instance has taken the stream over. */
aclError sim_engine_enqueue(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                            void *site, _Atomic sim_record *record);

/* Runs a task, or discards it: 0, SIM_PARK to wait as `run` says, SIM_DROPPED, SIM_FAILED, or a failure, which has been
 * kept for the next synchronisation of the run's stream. */
aclError sim_engine_execute(struct sim_run *run, const struct sim_task *task, void *argument);

/* Keeps a failure of a task that could not be run; and whether the task that runs is to be discarded after all. */
void sim_engine_fail(struct sim_run *run, const struct sim_task *task, aclError code, const char *reason);
bool sim_engine_is_dropped(const struct sim_run *run);

/* Who looks at tasks while they run, as bits of watch.h; 0: nobody, which costs a task one branch. */
extern _Atomic uint32_t sim_watchers;
aclError sim_watch_run(struct sim_run *run, const struct sim_task *task, void *argument);

/* The same from inside the task's function, which returns the answer. */
static inline aclError sim_engine_give_up(struct sim_run *run, aclError code, const char *reason)
{
    sim_engine_fail(run, run->rn_task, code, reason);
    return SIM_FAILED;
}

/* The code of a user's function as that of its task, where a negative one would mean something else. */
static inline aclError sim_engine_user_code(aclError code)
{
    return unlikely(code < ACL_SUCCESS) ? ACL_ERROR_RT_AICORE_EXCEPTION : code;
}

/* The function of a task whose memory lives; a failure is kept. */
static inline aclError sim_engine_call(struct sim_run *run, const struct sim_task *task, void *argument)
{
    const struct sim_op *op = task->ta_op;
    bool outer = sim_thread.th_in_kernel;
    sim_thread.th_in_kernel = (op->op_flags & SIM_OP_KERNEL) != 0;
    run->rn_task = task;
    bool watched = atomic_load_explicit(&sim_watchers, memory_order_relaxed) != 0;
    aclError code = likely(!watched) ? op->op_run(run, argument) : sim_watch_run(run, task, argument);
    sim_thread.th_in_kernel = outer;
    if (unlikely(code > ACL_SUCCESS)) {
        const char *reason = run->rn_expired ? "its wait timed out" : "its task failed";
        sim_engine_fail(run, task, code, run->rn_reason != NULL ? run->rn_reason : reason);
        run->rn_reason = NULL;
    }
    return code;
}

/* What a task runs that is only a place in an instance, or that has nothing to do. */
aclError sim_engine_nothing(struct sim_run *run, void *argument);

/* True when a task submitted now is only queued: the caller neither waits nor runs anything. */
bool sim_engine_has_room(struct sim_stream *stream);
#define SIM_SITE() __builtin_return_address(0)

enum sim_wait { SIM_WAIT_PASSED, SIM_WAIT_EXPIRED, SIM_WAIT_KERNEL, SIM_WAIT_OWN };

/* How a thread runs tasks: a worker all, a helper all but those for workers, a submitter light ones only. */
enum sim_role { SIM_HELPER, SIM_WORKER, SIM_SUBMITTER };

/* Waits until `stream` has finished the task with this ticket, running what it waits for: all of it as a SIM_HELPER; as
 * a SIM_SUBMITTER only light tasks, so that the deadline is kept whatever runs. KERNEL and OWN: the wait was refused,
 * because it could never end: inside a task's function, or for a callback that this thread is serving. */
enum sim_wait sim_engine_wait(struct sim_stream *stream, uint64_t ticket, uint64_t deadline, enum sim_role role);

/* Waits, without helping, for a gate that no stream's tasks raise. */
enum sim_wait sim_engine_wait_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline);

/* The code of a wait's outcome, with its message: 0, 507000 for a refused one, or `expired` after `timeout`
 * milliseconds. */
aclError sim_engine_refusal(enum sim_wait wait); /* of a wait without a limit */
aclError sim_engine_outcome(enum sim_wait wait, aclError expired, int32_t timeout);

/* 507000 inside a task's function, for calls that may wait: asked before the context, of which a worker has none. */
static inline aclError sim_engine_may_wait(void)
{
    return unlikely(sim_thread.th_in_kernel) ? sim_engine_refusal(SIM_WAIT_KERNEL) : ACL_SUCCESS;
}

/* Says that somebody polls: a worker should hurry to this stream. */
void sim_engine_polled(struct sim_stream *stream);

/* A parked stream whose gate has passed, or whose wait was given up, becomes ready. Called by gate.c and worker.c. */
void sim_engine_resume(struct sim_stream *stream);

/* A stream was resumed though its gate has not passed: hosts that sleep look again. */
void sim_engine_given_up(void);

/* Discards every task submitted so far that has not started, also one that waits at a gate. */
void sim_engine_drop(struct sim_stream *stream);

/* Begins an abort: discards what is queued and, until it ends, what arrives; hosts that wait learn `code`. False when the
 * stream was destroyed. To be ended; then a failure that the stream has kept is forgotten. */
bool sim_engine_abort(struct sim_target target, aclError code);
void sim_engine_abort_end(struct sim_stream *stream);

/* aclrtStreamStop: gives up the head's wait, or waits for the running task; what is queued behind stays. */
aclError sim_engine_stop(struct sim_stream *stream);

/* In the child of a fork: no chunk list lock is held. */
void sim_engine_after_fork(void);
void sim_engine_wait_after_fork(void); /* called by it */

/* ---- worker.c: workers, the ready list, deadlines ---- */

/* Starts the workers of the configured schedule; 0 or -1. Starting twice is free. */
int sim_worker_start(void);
/* aclFinalize: ends and joins their threads unless one runs a task; the next stream that needs one starts them again. */
void sim_worker_rest(void);
/* Stops and joins them; every stream must be idle. */
void sim_worker_stop(void);
/* In the child of a fork: no workers, an empty list. */
void sim_worker_after_fork(void);
extern _Atomic bool sim_worker_serves;
/* False in a schedule without workers, and before the first device opens. True while their threads rest. */
static inline bool sim_worker_available(void)
{
    return atomic_load_explicit(&sim_worker_serves, memory_order_relaxed);
}

/* Takes a stream whose st_listed was just set (by the caller, under its lock). */
void sim_worker_push(struct sim_stream *stream);
struct sim_stream *sim_worker_pop(void);
/* Shortens a worker's way to the stream. */
void sim_worker_kick(struct sim_stream *stream);

/* A stream that has parked with a deadline. */
void sim_worker_add_timer(struct sim_stream *stream);
/* Resumes, expired, every parked stream whose deadline has passed; returns the next deadline. */
uint64_t sim_worker_run_timers(void);

/* ---- between engine.c and worker.c ---- */
/* Becomes the stream's holder when it is ready and this role may run its head. */
bool sim_engine_hold(struct sim_stream *stream, enum sim_role role);
/* Runs a held stream up to `target`, at most `quantum` tasks, and lets go of it. */
void sim_engine_run(struct sim_stream *stream, uint64_t target, enum sim_role role, uint32_t quantum);

#endif
