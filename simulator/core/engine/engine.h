/* The engine: submitting tasks, running them and waiting for them. Design notes are in engine.c and worker.c. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "stream.h"
#include "watch.h"

/* A point in a stream: index << 48 | ticket. It has passed when the stream's counter has reached the ticket. The
 * record 0 has always passed. */
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

/* Queues a task. `site` is the return address of the public call. If `record` is not NULL, the task's position is
 * stored there while the stream is locked, so that two records of one event on one stream keep the stream's order.
 * Returns 107017 when the stream was destroyed meanwhile, and 207001 when there is no memory for the argument. */
aclError sim_engine_submit(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                           void *site, _Atomic sim_record *record);

/* The same without checking whether an instance has taken the stream over. */
aclError sim_engine_enqueue(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                            void *site, _Atomic sim_record *record);

/* The same as sim_engine_submit with an argument that malloc made. It is taken over in any case. */
aclError sim_engine_submit_block(struct sim_target target, const struct sim_op *op, void *block, size_t size,
                                 void *site);

/* Runs a task or discards it. Returns 0, SIM_PARK (wait at the gate in `run`), SIM_DROPPED, SIM_FAILED, or the code of
 * a failure, which has been kept for the next synchronisation of the stream. */
aclError sim_engine_execute(struct sim_run *run, const struct sim_task *task, void *argument);

/* Keeps the failure of a task for the next synchronisation of its stream. */
void sim_engine_fail(struct sim_run *run, const struct sim_task *task, aclError code, const char *reason);
/* True when the task that runs has been discarded meanwhile. */
bool sim_engine_is_dropped(const struct sim_run *run);

/* The same as sim_engine_fail from inside the task's function, which returns the result. */
static inline aclError sim_engine_give_up(struct sim_run *run, aclError code, const char *reason)
{
    sim_engine_fail(run, run->rn_task, code, reason);
    return SIM_FAILED;
}

/* The code of a task that called a user's function: negative codes have other meanings here, so they are replaced. */
static inline aclError sim_engine_user_code(aclError code)
{
    return unlikely(code < ACL_SUCCESS) ? ACL_ERROR_RT_AICORE_EXCEPTION : code;
}

/* Keeps the failure of a task whose function has returned `code`. */
static inline aclError sim_engine_result(struct sim_run *run, const struct sim_task *task, aclError code)
{
    if (unlikely(code > ACL_SUCCESS)) {
        const char *reason = run->rn_expired ? "its wait timed out" : "its task failed";
        sim_engine_fail(run, task, code, run->rn_reason != NULL ? run->rn_reason : reason);
        run->rn_reason = NULL;
    }
    return code;
}

/* Calls the function of a task whose memory has been checked; keeps its failure. */
static inline aclError sim_engine_call(struct sim_run *run, const struct sim_task *task, void *argument)
{
    const struct sim_op *op = task->ta_op;
    bool outer = sim_thread.th_in_kernel;
    sim_thread.th_in_kernel = (op->op_flags & SIM_OP_KERNEL) != 0;
    run->rn_task = task;
    aclError code = sim_watcher_any() ? sim_watch_run(run, task, argument) : op->op_run(run, argument);
    sim_thread.th_in_kernel = outer;
    return sim_engine_result(run, task, code);
}

/* The function of a task that does nothing, such as a label. */
aclError sim_engine_nothing(struct sim_run *run, void *argument);

/* True when a task submitted now is only queued: the caller neither waits nor runs anything. */
bool sim_engine_has_room(struct sim_stream *stream);

enum sim_wait { SIM_WAIT_PASSED, SIM_WAIT_EXPIRED, SIM_WAIT_KERNEL, SIM_WAIT_OWN };

/* Which tasks a thread runs: a worker all, a helper all except those for workers, a submitter only light ones, a server
 * light ones, callbacks and models. */
enum sim_role { SIM_HELPER, SIM_WORKER, SIM_SUBMITTER, SIM_SERVER };

/* Waits until `stream` has finished the task with this ticket. Meanwhile this thread runs the tasks that it waits for:
 * all of them as a SIM_HELPER; only light ones as a SIM_SUBMITTER, so that no task can delay the deadline. KERNEL and
 * OWN mean that the wait was refused because it would never end: inside a task's function, or for a callback of this
 * thread. */
enum sim_wait sim_engine_wait(struct sim_stream *stream, uint64_t ticket, uint64_t deadline, enum sim_role role);

/* Called by a task that waits for the ticket of another stream: if no thread runs that stream and only a few light
 * tasks are left up to the ticket, runs them. True when it has finished the ticket. */
bool sim_engine_run_ahead(struct sim_stream *stream, uint64_t ticket);

/* Spins while another thread is about to raise the gate: for some microseconds, less than a sleep costs. True when the
 * gate has passed. */
bool sim_engine_spin(struct sim_gate *gate, uint64_t target);

/* Waits at a gate without running tasks. The second one runs ready tasks in a schedule that holds some back, since one
 * of them may raise the gate. */
enum sim_wait sim_engine_wait_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline);
enum sim_wait sim_engine_help_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline);

/* The code of a wait's outcome, with its message: 0, 507000 for a refused wait, or `expired` after `timeout`
 * milliseconds. sim_engine_refusal is for a wait without a time-out. */
aclError sim_engine_refusal(enum sim_wait wait);
aclError sim_engine_outcome(enum sim_wait wait, aclError expired, int32_t timeout);

/* Returns 507000 inside a task's function, for calls that may wait. Check it before the context: a worker has none. */
static inline aclError sim_engine_may_wait(void)
{
    return unlikely(sim_thread.th_in_kernel) ? sim_engine_refusal(SIM_WAIT_KERNEL) : ACL_SUCCESS;
}

/* A host thread polls the stream: wakes a worker for it. In a schedule that holds tasks back, the host runs some of
 * them after it has polled several times in vain. */
void sim_engine_polled(struct sim_stream *stream);

/* Makes a parked stream ready: its gate has passed, or its wait was given up. Called by gate.c and worker.c. */
void sim_engine_resume(struct sim_stream *stream);

/* For the thread that has made the callback with number `returned` of a stream: lets the stream go on. If it is parked
 * for that callback, this thread runs its next tasks itself; when it parks for the next callback of this thread, no
 * thread has been woken. False when a model took so long that waking another thread for it would have been better. */
bool sim_engine_serve(struct sim_stream *stream, uint64_t returned);

/* A stream was resumed although its gate has not passed: makes sleeping hosts check again. */
void sim_engine_given_up(void);

/* ---- schedules without workers ---- */

/* Who decides what is held back; set while the schedule is neither parallel nor eager. */
extern const struct sim_scheduler *_Atomic sim_engine_scheduler;

/* A task was queued, and a parked stream has become ready: run what the schedule does not hold back, unless this thread
 * runs tasks already. */
void sim_engine_submitted(struct sim_stream *stream, uint64_t ticket);
void sim_engine_resumed(struct sim_stream *stream);
/* Which of several ready segments of a replay runs next; the last one unless the schedule chooses. */
SIM_RARE uint32_t sim_engine_choose_held(uint32_t count);
static inline uint32_t sim_engine_choose(uint32_t count)
{
    return likely(atomic_load_explicit(&sim_engine_scheduler, memory_order_acquire) == NULL)
               ? count - 1
               : sim_engine_choose_held(count);
}
/* Runs all streams as far as they are not held back. */
void sim_engine_run_ready(void);
/* Runs up to `count` tasks of one ready stream, which may be held back. False if no stream is ready. */
bool sim_engine_run_any(uint32_t count);

/* Discards every task submitted so far that has not started, and one that waits at a gate. */
void sim_engine_drop(struct sim_stream *stream);

/* Begins an abort: discards the queued tasks and, until the abort ends, every new one; waiting hosts return `code`.
 * False when the stream was destroyed. The caller must end the abort, which also forgets the stream's stored
 * failure. */
bool sim_engine_abort(struct sim_target target, aclError code);
void sim_engine_abort_end(struct sim_stream *stream);

/* aclrtStreamStop: ends the wait of the first task, or waits until it has run; later tasks stay queued. */
aclError sim_engine_stop(struct sim_stream *stream);

/* In the child of a fork: renews the locks and lists of the engine. The first calls the second. */
void sim_engine_after_fork(void);
void sim_engine_wait_after_fork(void);

/* ---- worker.c: workers, the ready list, deadlines ---- */

/* Starts the workers if the configured schedule has any. Returns 0 or -1. Starting them twice does nothing. */
int sim_worker_start(void);
/* aclFinalize: ends and joins the workers' threads unless one runs a task; the next ready stream starts them again. */
void sim_worker_rest(void);
/* Stops and joins the workers; every stream must be idle. */
void sim_worker_stop(void);
/* In the child of a fork: there are no workers, and the lists are empty. */
void sim_worker_after_fork(void);
extern _Atomic bool sim_worker_serves;
/* False in a schedule without workers and before the first device opens; stays true after sim_worker_rest. */
static inline bool sim_worker_available(void)
{
    return atomic_load_explicit(&sim_worker_serves, memory_order_relaxed);
}

/* Puts a stream into the ready list; the caller has just set its st_listed, under its lock. Pop takes the first one
 * out. */
void sim_worker_push(struct sim_stream *stream);
struct sim_stream *sim_worker_pop(void);
/* The same for schedules without workers: the first stream that may run by itself, or with `held` any. */
struct sim_stream *sim_worker_take(bool held);
/* Wakes a worker for the stream. */
void sim_worker_kick(struct sim_stream *stream);
/* Wakes up to `count` workers, if as many sleep. */
void sim_worker_call(uint32_t count);
/* True when a stream is in the ready list, or the threads end: a worker that does something else should return. */
bool sim_worker_is_wanted(void);

/* Registers the deadline of a stream that has parked. */
void sim_worker_add_timer(struct sim_stream *stream);
/* Resumes every parked stream whose deadline has passed, as expired. Returns the next deadline, or the time when a
 * watcher wants to look again. */
uint64_t sim_worker_run_timers(void);

/* ---- between engine.c and worker.c ---- */
/* Makes this thread the stream's holder if the stream is ready and this role may run its first task. */
bool sim_engine_hold(struct sim_stream *stream, enum sim_role role);
/* Runs a held stream up to the ticket `target`, at most `quantum` tasks, and releases it. */
void sim_engine_run(struct sim_stream *stream, uint64_t target, enum sim_role role, uint32_t quantum);

#endif
