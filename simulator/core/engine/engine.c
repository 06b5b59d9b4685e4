/* The engine: submitting, running, parking, discarding and failing tasks. engine_wait.c waits for them, worker.c has
 * the workers.
 *
 * States of a stream: IDLE -submit-> READY -hold-> RUNNING -release-> IDLE or READY; RUNNING -gate not passed-> PARKED
 * -resume-> READY. The thread that makes it RUNNING is its holder and alone runs its tasks, outside the lock. A READY
 * stream is in the ready list or with the thread that took it out; st_listed may stay true on an idle stream, so that
 * launching and synchronising in turn never touches the list. A stream owns the chunks of its queue; chunk_lock guards
 * the list of free chunks.
 *
 * A stream's gt_lock guards its tickets, its state and the tail of its chunks. The holder stores the completion counter
 * after every task, and flushes (takes the lock and wakes waiters) after 16 light tasks, before every other task, when
 * it parks and when it releases the stream. A waiter enters the gate under the same lock: either it sees the counter,
 * or the next flush sees it. A light task wakes no thread.
 *
 * Lock order: tm_lock (worker.c), a gate's lock, chunk_lock. No user code, device allocation or futex wait runs under
 * them. The counter, st_tail, records and st_error are read without the lock (acquire), paired with release stores. */
#include "engine.h"
#include "address/memory.h"
#include "base/config.h"
#include "base/site.h"
#include "context.h"
#include "device.h"
#include "exception.h"
#include "recorder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FLUSH_TASKS 16       /* light tasks between two flushes */
#define HELP_TASKS 128       /* above this backlog a submitter runs tasks, so that the queue stays in the cache */
#define QUEUE_TASKS (8u << 20) /* 1 GiB of pending tasks: the limit if the configuration sets none */
#define CHUNKS_AT_ONCE 64

static struct sim_lock chunk_lock; /* guards chunk_free */
static struct sim_chunk *chunk_free;

_Atomic uint64_t sim_engine_aborts;

static void chunk_give(struct sim_chunk *chunk)
{
    sim_lock(&chunk_lock);
    atomic_store_explicit(&chunk->ch_next, chunk_free, memory_order_relaxed);
    chunk_free = chunk;
    sim_unlock(&chunk_lock);
}

/* Returns a chunk for the stream, its spare one if it has one; NULL if the host is out of memory. The caller holds the
 * stream's lock. Only it empties st_spare, and only the holder fills it when it is empty: neither needs an exchange. */
static struct sim_chunk *chunk_take(struct sim_stream *stream)
{
    struct sim_chunk *chunk = atomic_load_explicit(&stream->st_spare, memory_order_acquire);
    if (chunk != NULL) {
        atomic_store_explicit(&stream->st_spare, NULL, memory_order_relaxed);
    } else {
        sim_lock(&chunk_lock);
        chunk = chunk_free;
        if (chunk != NULL)
            chunk_free = atomic_load_explicit(&chunk->ch_next, memory_order_relaxed);
        sim_unlock(&chunk_lock);
    }
    if (chunk == NULL) {
        chunk = mmap(NULL, CHUNKS_AT_ONCE * sizeof *chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED)
            return NULL;
        for (int i = 1; i < CHUNKS_AT_ONCE; i++)
            chunk_give(&chunk[i]);
    }
    atomic_store_explicit(&chunk->ch_next, NULL, memory_order_relaxed);
    return chunk;
}

/* The last entry of a chunk is filled only after the next chunk is linked, so that a holder always finds that one. */
static bool room_for_task(struct sim_stream *stream, uint64_t tail)
{
    if (unlikely(stream->st_tail_chunk == NULL)) {
        stream->st_tail_chunk = stream->st_head_chunk = chunk_take(stream);
        if (stream->st_tail_chunk == NULL)
            return false;
    }
    if (likely((tail + 1) % SIM_CHUNK_TASKS != 0))
        return true;
    struct sim_chunk *next = chunk_take(stream);
    if (next == NULL)
        return false;
    atomic_store_explicit(&stream->st_tail_chunk->ch_next, next, memory_order_release);
    return true;
}

/* Negative when other threads have submitted and run more tasks meanwhile. */
static int64_t backlog_before(struct sim_stream *stream, uint64_t ticket)
{
    return (int64_t)(ticket - sim_gate_level(&stream->st_gate));
}

/* The number of pending tasks from which on a submission blocks. */
static uint32_t queue_limit(void)
{
    return sim_config()->cf_queue != 0 ? sim_config()->cf_queue : QUEUE_TASKS;
}

bool sim_engine_has_room(struct sim_stream *stream)
{
    int64_t backlog = backlog_before(stream, sim_stream_tail(stream) + 1);
    if (unlikely(!sim_worker_available() || backlog >= queue_limit() / 2))
        return false;
    if (likely(backlog < HELP_TASKS))
        return true;
    sim_lock(&stream->st_gate.gt_lock); /* a submitter runs tasks only of a stream that is ready */
    bool ready = stream->st_state == SIM_READY;
    sim_unlock(&stream->st_gate.gt_lock);
    return !ready;
}

/* Called for every 32nd submission, for every heavy one, and for all in a schedule without workers. */
SIM_RARE static void after_submit(struct sim_stream *stream, const struct sim_op *op, uint64_t ticket)
{
    if (!sim_worker_available()) {
        sim_engine_submitted(stream, ticket);
        return;
    }
    if (op->op_flags & SIM_OP_HEAVY)
        sim_worker_kick(stream);
    int64_t backlog = backlog_before(stream, ticket);
    if (sim_thread.th_depth != 0 || backlog < HELP_TASKS)
        return;
    if (sim_engine_hold(stream, SIM_SUBMITTER))
        sim_engine_run(stream, ticket, SIM_SUBMITTER, UINT32_MAX);
    uint32_t limit = queue_limit();
    if (backlog >= limit) /* like a full hardware queue: block until half of it has run */
        sim_engine_wait(stream, ticket - limit / 2, SIM_FOREVER, SIM_HELPER);
}

const struct sim_recorder *sim_engine_recorder;

aclError sim_engine_submit(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                           void *site, _Atomic sim_record *record)
{
    aclError code;
    bool owned = atomic_load_explicit(&target.tg_stream->st_owner, memory_order_acquire) != 0;
    if (unlikely(owned) && sim_engine_recorder->rc_submit(target, op, argument, size, site, &code))
        return code;
    return sim_engine_enqueue(target, op, argument, size, site, record);
}

/* Queues a task. `ext`: a long argument, which malloc made and the task takes over; else NULL. */
static inline aclError enqueue(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                               void *ext, void *site, _Atomic sim_record *record)
{
    struct sim_stream *stream = target.tg_stream;
    sim_lock(&stream->st_gate.gt_lock);
    uint64_t tail = atomic_load_explicit(&stream->st_tail, memory_order_relaxed);
    bool live = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle;
    if (unlikely(!live || !room_for_task(stream, tail))) {
        sim_unlock(&stream->st_gate.gt_lock);
        free(ext);
        SIM_CHECK(live, ACL_ERROR_RT_INVALID_HANDLE, "stream %#llx was destroyed by another thread during the call",
                  (unsigned long long)target.tg_handle);
        return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the queue of a stream");
    }
    struct sim_chunk *chunk = stream->st_tail_chunk;
    struct sim_task *task = &chunk->ch_tasks[tail % SIM_CHUNK_TASKS];
    task->ta_op = op;
    task->ta_site = site;
    task->ta_thread = sim_thread_number();
    task->ta_is_long = ext != NULL;
    if (likely(ext == NULL))
        memcpy(task->ta_argument, argument, size);
    else
        task->ta_ext = ext;
    uint64_t ticket = tail + 1;
    if (unlikely(ticket % SIM_CHUNK_TASKS == 0))
        stream->st_tail_chunk = atomic_load_explicit(&chunk->ch_next, memory_order_relaxed);
    if (sim_watcher_any())
        sim_watch_submit(stream, ticket, task);
    if (record != NULL)
        atomic_store_explicit(record, sim_record_of(stream, ticket), memory_order_release);
    atomic_store_explicit(&stream->st_tail, ticket, memory_order_release);
    bool push = false;
    if (stream->st_state == SIM_IDLE) {
        stream->st_state = SIM_READY;
        push = !stream->st_listed;
        stream->st_listed = true;
    }
    enum sim_stream_kind kind = sim_stream_kind(stream);
    sim_unlock(&stream->st_gate.gt_lock);
    if (kind != SIM_STREAM_INSTANCE)
        sim_thread.th_recorder = 0;
    if (kind == SIM_STREAM_USER) {
        sim_thread.th_last_task = (uint32_t)ticket;
        sim_thread.th_has_last_task = true;
    }
    if (push)
        sim_worker_push(stream);
    if (unlikely(ticket % SIM_CHUNK_TASKS == 0 || (op->op_flags & SIM_OP_HEAVY) || !sim_worker_available()))
        after_submit(stream, op, ticket);
    return ACL_SUCCESS;
}

aclError sim_engine_enqueue(struct sim_target target, const struct sim_op *op, const void *argument, size_t size,
                            void *site, _Atomic sim_record *record)
{
    void *ext = NULL;
    if (unlikely(size > SIM_TASK_BYTES)) {
        ext = malloc(size);
        SIM_CHECK(ext != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a task of %zu bytes", size);
        memcpy(ext, argument, size);
    }
    return enqueue(target, op, argument, size, ext, site, record);
}

aclError sim_engine_submit_block(struct sim_target target, const struct sim_op *op, void *block, size_t size,
                                 void *site)
{
    if (likely(size > SIM_TASK_BYTES && atomic_load_explicit(&target.tg_stream->st_owner, memory_order_acquire) == 0))
        return enqueue(target, op, block, size, block, site, NULL);
    aclError code = sim_engine_submit(target, op, block, size, site, NULL);
    free(block);
    return code;
}

bool sim_engine_hold(struct sim_stream *stream, enum sim_role role)
{
    sim_lock(&stream->st_gate.gt_lock);
    bool held = stream->st_state == SIM_READY && (!stream->st_worker || role == SIM_WORKER);
    if (held)
        stream->st_state = SIM_RUNNING;
    sim_unlock(&stream->st_gate.gt_lock);
    return held;
}

/* With the lock held: makes the stream ready. True when the caller must push it after it has released the lock. */
static bool make_ready(struct sim_stream *stream)
{
    stream->st_state = SIM_READY;
    bool push = !stream->st_listed;
    stream->st_listed = true;
    return push;
}

void sim_engine_resume(struct sim_stream *stream)
{
    sim_lock(&stream->st_gate.gt_lock);
    stream->st_parked_at = NULL;
    bool push = make_ready(stream);
    sim_gate_release(&stream->st_gate, true);
    if (push)
        sim_worker_push(stream);
    if (!sim_worker_available())
        sim_engine_resumed(stream);
}

/* True when the task with this ticket is to be discarded, so that a parked stream gives up its wait. */
static bool is_dropped(struct sim_stream *stream, uint64_t ticket)
{
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    aclError failed = atomic_load_explicit(&context->cx_failed, memory_order_relaxed);
    bool stopped = unlikely(failed != ACL_SUCCESS) && sim_context_is_stopped(context); /* an abort sets st_drop */
    return unlikely(ticket <= atomic_load_explicit(&stream->st_drop, memory_order_acquire)) || stopped;
}

static void park(struct sim_stream *stream, const struct sim_run *run)
{
    struct sim_gate *gate = run->rn_gate;
    /* This thread makes the callback next, and then runs the stream again. */
    bool stays = gate == &stream->st_returned && sim_thread.th_caller != NULL &&
                 atomic_load_explicit(&stream->st_returner, memory_order_relaxed) == sim_thread.th_caller;
    sim_lock(&stream->st_gate.gt_lock);
    stays = stays && stream->st_served;
    stream->st_served = false;
    stream->st_state = SIM_PARKED;
    stream->st_parked_at = gate;
    stream->st_deadline = run->rn_deadline;
    stream->st_waiter.wt_stream = stream;
    stream->st_waiter.wt_kind = SIM_WAITER_STREAM;
    stream->st_waiter.wt_target = run->rn_target;
    sim_gate_release(&stream->st_gate, !stays); /* hosts that slept while it ran now follow its gate */
    if (run->rn_deadline != SIM_FOREVER)
        sim_worker_add_timer(stream);
    if (!sim_gate_enter(gate, &stream->st_waiter))
        sim_engine_resume(stream);
    else if (is_dropped(stream, run->rn_ticket) && sim_gate_leave(gate, &stream->st_waiter))
        sim_engine_resume(stream); /* drop_up_to came before the stream had entered the gate */
}

static void give_up_wait(struct sim_stream *stream)
{
    sim_lock(&stream->st_gate.gt_lock);
    struct sim_gate *gate = stream->st_state == SIM_PARKED ? stream->st_parked_at : NULL;
    sim_unlock(&stream->st_gate.gt_lock);
    if (gate != NULL && sim_gate_leave(gate, &stream->st_waiter)) {
        sim_engine_resume(stream);
        sim_engine_given_up();
    }
}

/* Only raises st_drop, because another thread may be discarding more. */
static void drop_up_to(struct sim_stream *stream, uint64_t ticket)
{
    uint64_t before = atomic_load_explicit(&stream->st_drop, memory_order_relaxed);
    while (before % SIM_DROP_ALL < ticket &&
           !atomic_compare_exchange_weak_explicit(&stream->st_drop, &before,
                                                  before / SIM_DROP_ALL * SIM_DROP_ALL + ticket, memory_order_release,
                                                  memory_order_relaxed))
        ;
    give_up_wait(stream);
}

void sim_engine_drop(struct sim_stream *stream)
{
    drop_up_to(stream, sim_stream_tail(stream));
}

bool sim_engine_abort(struct sim_target target, aclError code)
{
    struct sim_stream *stream = target.tg_stream;
    sim_lock(&stream->st_gate.gt_lock);
    bool live = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle;
    if (live) {
        atomic_store(&stream->st_abort_code, code);
        atomic_store(&stream->st_aborted, atomic_fetch_add(&sim_engine_aborts, 1) + 1);
        atomic_fetch_add(&stream->st_aborts, 1);
        atomic_fetch_add(&stream->st_drop, SIM_DROP_ALL);
    }
    sim_unlock(&stream->st_gate.gt_lock);
    if (live)
        give_up_wait(stream);
    return live;
}

void sim_engine_abort_end(struct sim_stream *stream)
{
    drop_up_to(stream, sim_stream_tail(stream));
    sim_lock(&stream->st_gate.gt_lock);
    atomic_store_explicit(&stream->st_error, ACL_SUCCESS, memory_order_relaxed);
    sim_unlock(&stream->st_gate.gt_lock);
    atomic_fetch_sub(&stream->st_drop, SIM_DROP_ALL);
    sim_gate_count(&stream->st_abort_ends);
}

aclError sim_engine_stop(struct sim_stream *stream)
{
    sim_lock(&stream->st_gate.gt_lock);
    uint64_t head = sim_gate_level(&stream->st_gate) + 1;
    bool started = stream->st_state == SIM_RUNNING || stream->st_state == SIM_PARKED;
    sim_unlock(&stream->st_gate.gt_lock);
    if (!started)
        return ACL_SUCCESS;
    drop_up_to(stream, head);
    return sim_engine_refusal(sim_engine_wait(stream, head, SIM_FOREVER, SIM_HELPER));
}

/* The context has failed: ends the waits of its parked streams. */
static void wake_streams_of(struct sim_context *context)
{
    size_t count;
    uint64_t *handles = sim_context_streams(context, &count);
    for (size_t i = 0; i < count; i++) {
        struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)handles[i]);
        if (stream != NULL)
            give_up_wait(stream);
    }
    free(handles);
}

/* Keeps the first failure of a stream for its next synchronisation. If the context stops on failure, it stops now. */
SIM_RARE static void keep_failure(const struct sim_run *run, const struct sim_task *task, aclError code,
                                  const char *reason)
{
    sim_record own = sim_record_of(run->rn_stream, run->rn_ticket);
    sim_record blamed = sim_record_passed(run->rn_blame) ? own : run->rn_blame;
    struct sim_stream *stream = sim_record_stream(blamed);
    uint64_t ticket = sim_record_ticket(blamed);
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    sim_lock(&stream->st_gate.gt_lock);
    if (atomic_load_explicit(&stream->st_error, memory_order_relaxed) == ACL_SUCCESS) {
        char site[SIM_SITE_TEXT];
        snprintf(stream->st_error_text, sizeof stream->st_error_text,
                 "%s failed because %s; task %u of stream %u, submitted by thread %u at %s",
                 task->ta_op->op_name, reason, (uint32_t)ticket, stream->st_slot.sl_index, task->ta_thread,
                 sim_site_print(task->ta_site, site));
        atomic_store_explicit(&stream->st_error, code, memory_order_release);
    }
    sim_unlock(&stream->st_gate.gt_lock);
    struct rtExceptionInfo report = {.ex_device = (uint32_t)context->cx_device->dv_id,
                                     .ex_stream = stream->st_slot.sl_index,
                                     .ex_task = (uint32_t)ticket,
                                     .ex_thread = task->ta_thread,
                                     .ex_code = (uint32_t)code};
    const struct sim_kernel_view *kernel = run->rn_kernel;
    if (kernel != NULL) {
        report.ex_function = kernel->kv_function;
        report.ex_args = kernel->kv_is_host ? NULL : kernel->kv_args;
        report.ex_args_size = (uint32_t)kernel->kv_args_size;
    }
    sim_exception_post(&report);
    if (!atomic_load_explicit(&context->cx_stop_on_failure, memory_order_acquire))
        return;
    aclError none = ACL_SUCCESS;
    if (atomic_compare_exchange_strong(&context->cx_failed, &none, code))
        wake_streams_of(context);
}

/* Returns 0, or the failure, which it keeps, of a task that uses memory which was freed before the task ran. */
static aclError check_memory(const struct sim_run *run, const struct sim_task *task, void *argument)
{
    size_t count;
    const struct sim_range *ranges = sim_task_ranges(task->ta_op, argument, &count);
    for (size_t i = 0; i < count; i++) {
        if (likely(sim_memory_lives(&ranges[i])) || (run->rn_replays && sim_memory_is_there(&ranges[i])))
            continue;
        char reason[256];
        aclError code = sim_memory_refuse(&ranges[i], reason, sizeof reason);
        if (code == ACL_SUCCESS)
            continue;
        if (sim_watcher_any())
            sim_watcher_refuse(run, task, &ranges[i]);
        keep_failure(run, task, code, reason);
        return code;
    }
    return ACL_SUCCESS;
}

SIM_RARE void sim_engine_fail(struct sim_run *run, const struct sim_task *task, aclError code, const char *reason)
{
    keep_failure(run, task, code, reason);
}

bool sim_engine_is_dropped(const struct sim_run *run)
{
    return is_dropped(run->rn_stream, run->rn_ticket);
}

aclError sim_engine_nothing(struct sim_run *run, void *argument)
{
    (void)run;
    (void)argument;
    return ACL_SUCCESS;
}

SIM_HOT aclError sim_engine_execute(struct sim_run *run, const struct sim_task *task, void *argument)
{
    const struct sim_op *op = task->ta_op;
    struct sim_stream *stream = run->rn_stream;
    aclError code;
    if (unlikely(is_dropped(stream, run->rn_ticket)))
        code = SIM_DROPPED;
    else
        code = check_memory(run, task, argument);
    if (unlikely(code != ACL_SUCCESS)) {
        if (op->op_drop != NULL)
            op->op_drop(argument);
        return code;
    }
    return sim_engine_call(run, task, argument);
}

/* Releases the stream. False when new tasks have arrived and the holder may run them. */
static bool let_go(struct sim_stream *stream, uint64_t done, bool stopped, bool needs_worker)
{
    bool push = false;
    sim_lock(&stream->st_gate.gt_lock);
    bool left = atomic_load_explicit(&stream->st_tail, memory_order_relaxed) != done;
    if (left && !stopped) {
        sim_gate_release(&stream->st_gate, false); /* wakes the waiters of finished tasks before the new task runs */
        return false;
    }
    stream->st_worker = needs_worker;
    stream->st_served = false;
    if (left)
        push = make_ready(stream);
    else
        stream->st_state = SIM_IDLE;
    sim_gate_release(&stream->st_gate, left);
    if (push)
        sim_worker_push(stream);
    if (needs_worker)
        sim_worker_kick(stream);
    return true;
}

/* Publishes what is done and wakes the waiters of it. */
static void flush(struct sim_stream *stream, uint64_t done)
{
    sim_gate_set(&stream->st_gate, done);
    sim_task_value_written();
}

/* The holder has run the last task of its chunk: goes on to the next one, which is linked already. */
static void leave_chunk(struct sim_stream *stream)
{
    struct sim_chunk *chunk = stream->st_head_chunk;
    stream->st_head_chunk = atomic_load_explicit(&chunk->ch_next, memory_order_acquire);
    if (atomic_load_explicit(&stream->st_spare, memory_order_relaxed) == NULL)
        atomic_store_explicit(&stream->st_spare, chunk, memory_order_release);
    else
        chunk_give(chunk);
}

/* True when a thread of this role runs a task that is not light. */
static bool may_run(enum sim_role role, const struct sim_op *op)
{
    if (role != SIM_SERVER)
        return role != SIM_SUBMITTER;
    bool model = op->op_kind == SIM_TASK_MODEL;
    sim_thread.th_served_model |= model;
    return model || op->op_kind == SIM_TASK_CALLBACK;
}

void sim_engine_run(struct sim_stream *stream, uint64_t target, enum sim_role role, uint32_t quantum)
{
    struct sim_gate *gate = &stream->st_gate;
    uint64_t done = atomic_load_explicit(&gate->gt_level, memory_order_relaxed);
    uint64_t stop = target < done + quantum ? target : done + quantum;
    uint64_t known = done; /* tasks up to this one may run; st_tail, which submitters write, is read only beyond it */
    uint32_t unflushed = 0;
    bool needs_worker = false;
    const char *function = sim_thread.th_function;
    sim_thread.th_depth++;
    for (;;) {
        if (unlikely(done >= known)) {
            uint64_t tail = sim_stream_tail(stream);
            bool stopped = done >= stop;
            known = tail < stop ? tail : stop;
            if (stopped || done == tail) {
                if (let_go(stream, done, stopped, needs_worker))
                    break;
                unflushed = 0;
                continue;
            }
        }
        struct sim_task *task = &stream->st_head_chunk->ch_tasks[done % SIM_CHUNK_TASKS];
        uint32_t flags = task->ta_op->op_flags;
        if (unlikely(!(flags & SIM_OP_LIGHT))) {
            if (unflushed != 0) { /* wakes the waiters of finished tasks before this one runs */
                flush(stream, done);
                unflushed = 0;
            }
            needs_worker = (flags & SIM_OP_WORKER) && role != SIM_WORKER && sim_worker_available();
            if (needs_worker || !may_run(role, task->ta_op)) {
                known = stop = done;
                continue;
            }
        }
        struct sim_run run = {.rn_stream = stream, .rn_ticket = done + 1, .rn_deadline = SIM_FOREVER};
        if (unlikely(stream->st_expired)) {
            run.rn_expired = true;
            stream->st_expired = false;
        }
        if (sim_engine_execute(&run, task, sim_task_argument(task)) == SIM_PARK) {
            park(stream, &run); /* another thread may hold the stream now */
            break;
        }
        if (unlikely(task->ta_is_long))
            free(task->ta_ext);
        done++;
        if (unlikely(done % SIM_CHUNK_TASKS == 0))
            leave_chunk(stream);
        atomic_store_explicit(&gate->gt_level, done, memory_order_release);
        if (unlikely(++unflushed >= FLUSH_TASKS)) {
            flush(stream, done);
            unflushed = 0;
        }
    }
    sim_task_value_written();
    sim_thread.th_function = function;
    if (--sim_thread.th_depth == 0 && !sim_worker_available())
        sim_engine_run_ready();
}

void sim_engine_after_fork(void)
{
    /* The free list is abandoned, because another thread may have been changing it during the fork. */
    sim_engine_wait_after_fork();
    sim_task_value_after_fork();
    chunk_free = NULL;
    sim_lock_renew(&chunk_lock);
}
