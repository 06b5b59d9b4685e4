/* Waiting host threads: a host follows the gates that parked streams wait at, runs the stream at the end of the chain
 * as far as needed, and checks again. It sleeps only when it cannot help, and it never nests.
 *
 * Most streams that wait for another one are never parked: the task that waits runs the few light tasks before its
 * record itself (sim_engine_run_ahead). Only there does a thread hold several streams, at most AHEAD_DEPTH + 1. It
 * waits for no other thread meanwhile, and light tasks are soon done, so that the outer stream is not delayed.
 *
 * A host spins before it sleeps while another thread runs its stream, or makes the callback that its stream waits for.
 * The thread that makes a stream's callbacks runs the tasks between them itself (sim_engine_serve): waking the host for
 * them, and being woken by it for the next callback, would take far longer than most tasks. Meanwhile the host sleeps
 * at the stream's own gate, and is woken only when it has to wait for something else.
 *
 * Behind a flag event the chain continues at the event's newest record, and behind a notify at its newest change: these
 * links are guesses. Behind a stream that waits inside a replay it continues at a stream that walks the replay; that
 * link is not a guess. The host sleeps at the end of the chain, at the first flag on it and at its own stream; after it
 * has entered these gates it checks the streams once more, because they may have changed in between.
 *
 * A host does not help for ever if its own stream parks again and again at a gate that is not a stream's, as in a long
 * queue of collective operators. Waking it for a task that parks at once takes longer than the task, and a worker that
 * is awake can run such streams in turn. So after LEAVES_AFTER rounds the host leaves its stream to the workers. It
 * sleeps at the stream's own gate, and pokes do not wake it. If the stream makes no progress within LEAVES_NS, perhaps
 * because all workers are busy or none could be started, the host helps again.
 *
 * Without workers, a stream runs by itself up to a limit that the schedule sets (sim_stream_limit): in the thread that
 * submits or resumes it. What lies beyond is run by hosts that wait: what the chain needs, and where the chain ends at
 * a gate that any task may raise, one ready task after another.
 *
 * A waiter belongs to the sleeping host, on its stack. Locks: those of the gates and of the streams, one at a time. */
#include "base/clock.h"
#include "base/room.h"
#include "caller.h"
#include "schedule.h"
#include <sched.h>
#include <string.h>

#define SPIN_NS 10000 /* a thread spins this long while another one runs what it waits for */
#define AHEAD_TASKS 16 /* a task that waits runs at most so many tasks of another stream ... */
#define AHEAD_DEPTH 4  /* ... in at most so many engine loops, one inside another */
#define SERVE_TASKS 256 /* the thread of a stream's callbacks runs at most so many tasks between two of them */
#define SERVE_NS 50000  /* models that take longer are left to others: waking two threads takes about that long */
#define LEAVES_AFTER 8    /* a host leaves its stream to the workers after so many rounds, */
#define LEAVES_NS 1000000 /* and looks again after this time; a worker that patrols looks within 1.6 ms */
#define FLAGS 64      /* links of a chain through gates that are not of streams; these may form a circle */

/* What a waiting host finds at the end of the chain of gates. */
enum sight { SIGHT_HELD, SIGHT_BUSY, SIGHT_BLOCKED, SIGHT_CHANGED, SIGHT_OWN };

/* A stream and the state in which it was found. */
struct spot {
    struct sim_stream *sp_stream;
    enum sim_stream_state sp_state;
    struct sim_gate *sp_gate; /* PARKED: at which gate, and for which level */
    uint64_t sp_target;
};

struct look {
    struct spot lk_end;       /* the stream at the end of the chain */
    uint64_t lk_ticket;       /* up to which ticket this host needs it */
    struct sim_gate *lk_gate; /* where to sleep for it, and for which level */
    uint64_t lk_target;
    struct spot lk_flag;      /* if lk_flags is not 0: the first stream of the chain that waits for a flag event */
    uint32_t lk_flags;        /* links that are not records */
    bool lk_guessed;          /* one of them is a guess, and may lead to tasks that are not needed */
    bool lk_leaves;           /* this host leaves its stream to the workers */
};

/* Counts the waits of streams that ended without their gate, which is rare. In a schedule that holds tasks back it also
 * counts the streams that became ready, because a waiting host may have to run them. Every host that sleeps for a
 * stream also waits here. */
static struct sim_gate given_up;

void sim_engine_given_up(void)
{
    sim_gate_count(&given_up);
}

void sim_engine_wait_after_fork(void)
{
    memset(&given_up, 0, sizeof given_up); /* the threads that slept are not in the child */
}

/* The record whose task is expected to raise a gate that is not a stream's, such as a flag event's, a notify's or an
 * instance's. 0: none. */
static sim_record setter_of(const struct sim_gate *gate, bool *guessed)
{
    sim_record setter = sim_room_setter(gate, guessed);
    return sim_record_passed(setter) ? 0 : setter;
}

/* With the stream's lock held: notes its state. For a host, a stream that the thread of its callbacks runs is parked
 * for them all the time: nobody can help it, and only its own gate wakes the host, when that thread lets it go. */
static void look_at(struct spot *spot)
{
    struct sim_stream *stream = spot->sp_stream;
    bool served = stream->st_state == SIM_RUNNING && stream->st_served;
    spot->sp_state = served ? SIM_PARKED : stream->st_state;
    spot->sp_gate = served ? &stream->st_returned : stream->st_parked_at;
    spot->sp_target = stream->st_waiter.wt_target;
}

/* Follows the chain from the stream look->lk_end. HELD: the stream at its end was ready, and this thread now holds it.
 * The chain is finite: each link leads to a record that was issued before the wait for it, or is one of at most FLAGS
 * links through flag events, where a wrong guess does no harm. */
static enum sight look_along(struct look *look)
{
    for (;;) {
        struct spot *end = &look->lk_end;
        struct sim_stream *stream = end->sp_stream;
        sim_lock(&stream->st_gate.gt_lock);
        look_at(end);
        bool helped = stream->st_state == SIM_READY && !stream->st_worker;
        if (helped)
            stream->st_state = SIM_RUNNING;
        sim_unlock(&stream->st_gate.gt_lock);
        if (helped)
            return SIGHT_HELD;
        struct sim_gate *gate = end->sp_gate;
        uint64_t target = end->sp_target;
        look->lk_gate = &stream->st_gate;
        look->lk_target = look->lk_ticket;
        if (end->sp_state != SIM_PARKED)
            return end->sp_state == SIM_IDLE ? SIGHT_CHANGED : SIGHT_BUSY;
        if (gate == &stream->st_returned)
            return !sim_gate_passed(gate, target) && sim_caller_is_own(stream) ? SIGHT_OWN : SIGHT_BLOCKED;
        if (sim_gate_passed(gate, target))
            return SIGHT_BUSY; /* about to be resumed, which wakes the hosts that sleep here */
        struct sim_stream *next = sim_table_slot_of(&sim_streams, gate);
        if (next == NULL || gate != &next->st_gate) {
            sim_record setter = next == NULL && look->lk_flags < FLAGS ? setter_of(gate, &look->lk_guessed) : 0;
            if (setter == 0) {
                look->lk_gate = gate;
                look->lk_target = target;
                return SIGHT_BLOCKED;
            }
            if (look->lk_flags++ == 0)
                look->lk_flag = *end;
            next = sim_record_stream(setter);
            target = sim_record_ticket(setter);
        }
        end->sp_stream = next;
        look->lk_ticket = target;
    }
}

static enum sight look_from(struct look *look, struct sim_stream *stream, uint64_t ticket)
{
    look->lk_end.sp_stream = stream; /* look_along writes the other fields */
    look->lk_ticket = ticket;
    look->lk_flags = 0;
    look->lk_guessed = look->lk_leaves = false;
    return look_along(look);
}

/* True when the stream has changed since it was looked at, so that a sleeping host could miss the change. */
static bool has_changed(const struct spot *spot)
{
    struct sim_stream *stream = spot->sp_stream;
    struct spot now = {.sp_stream = stream};
    sim_lock(&stream->st_gate.gt_lock);
    look_at(&now);
    sim_unlock(&stream->st_gate.gt_lock);
    /* Whichever callback it waits for, the host sleeps at the same gate. */
    return now.sp_state != spot->sp_state ||
           (now.sp_state == SIM_PARKED &&
            (now.sp_gate != spot->sp_gate ||
             (now.sp_target != spot->sp_target && now.sp_gate != &stream->st_returned)));
}

/* The gates at which a host sleeps, with one futex word. */
struct sleep {
    _Atomic uint32_t sl_word;
    uint32_t sl_count;
    struct sim_gate *sl_gates[4];
    struct sim_waiter sl_waiters[4];
};

/* False when the gate has reached the level already. */
static bool enter(struct sleep *sleep, struct sim_gate *gate, uint64_t target, enum sim_waiter_kind kind)
{
    struct sim_waiter *waiter = &sleep->sl_waiters[sleep->sl_count];
    *waiter = (struct sim_waiter){.wt_target = target, .wt_word = &sleep->sl_word, .wt_kind = kind};
    if (!sim_gate_enter(gate, waiter))
        return false;
    sleep->sl_gates[sleep->sl_count++] = gate;
    return true;
}

/* Enters the gates at which a change of the chain can wake this host. False: follow the chain again. */
static bool enter_chain(struct sleep *sleep, struct sim_gate *own, const struct look *look)
{
    const enum sim_waiter_kind helps = SIM_WAITER_HELPS;
    return (look->lk_gate == own || look->lk_leaves || enter(sleep, look->lk_gate, look->lk_target, helps)) &&
           (look->lk_flags == 0 || enter(sleep, look->lk_flag.sp_gate, look->lk_flag.sp_target, helps)) &&
           !has_changed(&look->lk_end) &&
           (look->lk_flags == 0 || !has_changed(&look->lk_flag));
}

/* Sleeps at `gate`, and at the end of the chain if there is one, until one of them wakes this host, a deadline comes,
 * or the level of `given_up` is higher than `seen` (SIM_FOREVER: whatever it is). */
SIM_RARE static void sleep_at(struct sim_gate *gate, uint64_t target, const struct look *look, uint64_t seen,
                              uint64_t deadline)
{
    struct sleep sleep = {.sl_count = 0};
    const bool leaves = look != NULL && look->lk_leaves;
    if (enter(&sleep, gate, target, leaves ? SIM_WAITER_LEAVES : SIM_WAITER_HELPS) &&
        (seen == SIM_FOREVER || enter(&sleep, &given_up, seen + 1, SIM_WAITER_HELPS)) &&
        (look == NULL || enter_chain(&sleep, gate, look))) {
        bool watched = sim_watcher_any();
        if (unlikely(watched))
            sim_watcher_sleep(gate, target, deadline != SIM_FOREVER && sim_thread.th_sliced == NULL, &sleep.sl_word);
        uint64_t timer = sim_worker_run_timers();
        uint64_t left = sim_clock_left(timer < deadline ? timer : deadline);
        if (leaves && left > LEAVES_NS)
            left = LEAVES_NS;
        if (left != 0)
            sim_futex_wait(&sleep.sl_word, 0, left);
        if (unlikely(watched))
            sim_watcher_wake(gate, target);
    }
    while (sleep.sl_count-- != 0)
        sim_gate_leave(sleep.sl_gates[sleep.sl_count], &sleep.sl_waiters[sleep.sl_count]);
}

/* With `yields` it lets other threads run, because that thread may need this CPU; for a callback that would take far
 * longer than the spin if other programs keep the CPU busy. */
static bool spin_for(struct sim_gate *gate, uint64_t target, bool yields)
{
    uint64_t until = sim_clock_now() + SPIN_NS;
    for (int turn = 1; !sim_gate_passed(gate, target); turn++) {
        if (yields && turn % 64 == 0)
            sched_yield();
        if (turn % 16 == 0 && sim_clock_now() >= until)
            return false;
    }
    return true;
}

SIM_RARE bool sim_engine_spin(struct sim_gate *gate, uint64_t target)
{
    return spin_for(gate, target, false);
}

/* A stream that a host runs needs no worker at its next push. */
static inline void run_held(struct sim_stream *stream, uint64_t ticket, enum sim_role role)
{
    atomic_store_explicit(&stream->st_habit, 0, memory_order_relaxed);
    sim_engine_run(stream, ticket, role, UINT32_MAX);
}

/* ---- schedules without workers ---- */

const struct sim_scheduler *_Atomic sim_engine_scheduler;

static inline const struct sim_scheduler *scheduler(void)
{
    return atomic_load_explicit(&sim_engine_scheduler, memory_order_acquire);
}

/* Runs a stream that was taken out of the ready list. False if it has no task, or another thread runs it. */
static bool run_taken(struct sim_stream *stream, uint64_t target, uint32_t count)
{
    sim_lock(&stream->st_gate.gt_lock);
    stream->st_listed = false;
    bool held = stream->st_state == SIM_READY;
    if (held)
        stream->st_state = SIM_RUNNING;
    sim_unlock(&stream->st_gate.gt_lock);
    if (held)
        sim_engine_run(stream, target, SIM_HELPER, count);
    return held;
}

SIM_RARE void sim_engine_run_ready(void)
{
    sim_thread.th_depth++;
    for (struct sim_stream *stream; (stream = sim_worker_take(false)) != NULL;)
        run_taken(stream, sim_stream_limit(stream), UINT32_MAX);
    sim_thread.th_depth--;
}

SIM_RARE bool sim_engine_run_any(uint32_t count)
{
    struct sim_stream *stream;
    while ((stream = sim_worker_take(true)) != NULL)
        if (run_taken(stream, UINT64_MAX, count))
            return true;
    return false;
}

SIM_RARE uint32_t sim_engine_choose_held(uint32_t count)
{
    return scheduler()->sd_choose(count);
}

static void run_by_itself(struct sim_stream *stream)
{
    uint64_t limit = sim_stream_limit(stream);
    if (limit > sim_gate_level(&stream->st_gate) && sim_engine_hold(stream, SIM_HELPER))
        sim_engine_run(stream, limit, SIM_HELPER, UINT32_MAX);
}

SIM_RARE void sim_engine_resumed(struct sim_stream *stream)
{
    if (scheduler() != NULL)
        sim_engine_given_up();
    if (sim_thread.th_depth == 0)
        run_by_itself(stream);
}

SIM_RARE void sim_engine_submitted(struct sim_stream *stream, uint64_t ticket)
{
    const struct sim_scheduler *decides = scheduler();
    bool released = decides != NULL && decides->sd_submit(stream, ticket);
    sim_engine_resumed(stream);
    if (released && sim_thread.th_depth == 0)
        sim_engine_run_ready();
}

/* Whether a task of any stream may raise the gate at the end of the chain. Latches are the program's, and callback
 * threads make callbacks. */
static bool may_raise(const struct spot *end)
{
    return scheduler() != NULL && end->sp_gate != &end->sp_stream->st_returned &&
           end->sp_gate != &end->sp_stream->st_latch;
}

/* True when the stream has run without finishing a task, and is ready again: a replay lets other streams run. */
static bool takes_turns(struct sim_stream *stream, uint64_t before)
{
    sim_lock(&stream->st_gate.gt_lock);
    bool turns = stream->st_state == SIM_READY && sim_gate_level(&stream->st_gate) == before;
    sim_unlock(&stream->st_gate.gt_lock);
    return turns;
}

/* Runs the held stream at the end of the chain. False when this role may not run its first task; then a worker is
 * woken. Behind a guess only light tasks are run, because another task might itself wait for this host. */
static bool help(struct look *look, enum sim_role role)
{
    if (look->lk_guessed && sim_worker_available())
        role = SIM_SUBMITTER;
    struct sim_stream *stream = look->lk_end.sp_stream;
    uint64_t before = sim_gate_level(&stream->st_gate);
    run_held(stream, look->lk_ticket, role);
    if (unlikely(scheduler() != NULL) && takes_turns(stream, before))
        sim_engine_run_any(1);
    if (role == SIM_HELPER || sim_gate_level(&stream->st_gate) != before)
        return true;
    look->lk_gate = &stream->st_gate;
    look->lk_target = look->lk_ticket;
    sim_worker_kick(stream);
    return false;
}

/* Whether a host leaves its blocked stream to the workers; one is woken when that stream is resumed. */
static bool leaves(const struct look *look, struct sim_stream *stream, uint32_t *rounds)
{
    if (look->lk_end.sp_stream != stream || look->lk_gate == &stream->st_gate || !sim_worker_available() ||
        ++*rounds <= LEAVES_AFTER)
        return false;
    atomic_store_explicit(&stream->st_habit, 1, memory_order_relaxed);
    return true;
}

/* The wait of sim_engine_wait when the stream cannot simply be run up to the ticket. */
SIM_RARE static enum sim_wait wait_along(struct sim_stream *stream, uint64_t ticket, uint64_t deadline,
                                         enum sim_role role)
{
    bool spun = false;
    uint32_t rounds = 0;
    while (!sim_gate_passed(&stream->st_gate, ticket)) {
        if (unlikely(sim_thread.th_in_kernel))
            return SIM_WAIT_KERNEL;
        struct look look;
        uint64_t seen = sim_gate_level(&given_up);
        switch (look_from(&look, stream, ticket)) {
        case SIGHT_HELD:
            spun = false;
            if (help(&look, role))
                continue;
            break;
        case SIGHT_CHANGED:
            continue;
        case SIGHT_OWN:
            return SIM_WAIT_OWN;
        case SIGHT_BUSY:
            if (look.lk_end.sp_state == SIM_READY)
                sim_worker_kick(look.lk_end.sp_stream); /* only a worker may run it */
            else if (!spun && look.lk_end.sp_state == SIM_RUNNING) {
                spun = true;
                if (spin_for(look.lk_gate, look.lk_target, true))
                    continue;
            }
            break;
        case SIGHT_BLOCKED:
            if (may_raise(&look.lk_end) && sim_engine_run_any(1))
                continue;
            if (!spun && look.lk_end.sp_gate == &look.lk_end.sp_stream->st_returned) {
                spun = true;
                if (sim_caller_spin(look.lk_end.sp_stream, look.lk_end.sp_target))
                    continue;
            }
            look.lk_leaves = leaves(&look, stream, &rounds);
            break;
        }
        if (deadline != SIM_FOREVER && sim_clock_left(deadline) == 0)
            return SIM_WAIT_EXPIRED;
        const uint64_t before = sim_gate_level(&stream->st_gate);
        sleep_at(&stream->st_gate, ticket, &look, seen, deadline);
        if (look.lk_leaves && sim_gate_level(&stream->st_gate) == before)
            rounds = 0;
    }
    return SIM_WAIT_PASSED;
}

enum sim_wait sim_engine_wait(struct sim_stream *stream, uint64_t ticket, uint64_t deadline, enum sim_role role)
{
    if (sim_gate_passed(&stream->st_gate, ticket))
        return SIM_WAIT_PASSED;
    if (!sim_worker_available())
        role = SIM_HELPER;
    if (likely(!sim_thread.th_in_kernel) && likely(sim_engine_hold(stream, SIM_HELPER))) {
        run_held(stream, ticket, role);
        if (likely(sim_gate_passed(&stream->st_gate, ticket)))
            return SIM_WAIT_PASSED;
    }
    return wait_along(stream, ticket, deadline, role);
}

bool sim_engine_run_ahead(struct sim_stream *stream, uint64_t ticket)
{
    /* Without workers, the order of the tasks of all streams is part of the schedule. A watcher that times the waiting
     * task must not see other tasks inside it. */
    if (sim_thread.th_depth > AHEAD_DEPTH || ticket - sim_gate_level(&stream->st_gate) > AHEAD_TASKS ||
        !sim_worker_available() || sim_watcher_any() ||
        !sim_engine_hold(stream, SIM_SUBMITTER))
        return false;
    sim_engine_run(stream, ticket, SIM_SUBMITTER, UINT32_MAX);
    return sim_gate_passed(&stream->st_gate, ticket);
}

bool sim_engine_serve(struct sim_stream *stream, uint64_t returned)
{
    /* Without workers, the order of the tasks of all streams is part of the schedule. */
    if (sim_thread.th_depth != 0 || !sim_worker_available()) {
        sim_gate_raise(&stream->st_returned, returned);
        return true;
    }
    if (!sim_gate_raise_and_take(&stream->st_returned, returned, &stream->st_waiter))
        return true; /* its holder is about to park it, and will find the gate passed */
    sim_lock(&stream->st_gate.gt_lock);
    stream->st_parked_at = NULL;
    stream->st_state = SIM_RUNNING;
    stream->st_served = true;
    sim_unlock(&stream->st_gate.gt_lock);
    sim_thread.th_served_model = false;
    uint64_t start = sim_clock_now();
    sim_engine_run(stream, UINT64_MAX, SIM_SERVER, SERVE_TASKS);
    return !sim_thread.th_served_model || sim_clock_now() - start <= SERVE_NS;
}

static enum sim_wait wait_at(struct sim_gate *gate, uint64_t target, uint64_t deadline, bool helps)
{
    while (!sim_gate_passed(gate, target)) {
        if (unlikely(sim_thread.th_in_kernel))
            return SIM_WAIT_KERNEL;
        if (deadline != SIM_FOREVER && sim_clock_left(deadline) == 0)
            return SIM_WAIT_EXPIRED;
        uint64_t seen = helps ? sim_gate_level(&given_up) : SIM_FOREVER;
        if (!helps || !sim_engine_run_any(1))
            sleep_at(gate, target, NULL, seen, deadline);
    }
    return SIM_WAIT_PASSED;
}

enum sim_wait sim_engine_wait_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline)
{
    return wait_at(gate, target, deadline, false);
}

enum sim_wait sim_engine_help_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline)
{
    return wait_at(gate, target, deadline, scheduler() != NULL);
}

aclError sim_engine_refusal(enum sim_wait wait)
{
    SIM_CHECK(wait != SIM_WAIT_KERNEL, ACL_ERROR_RT_INTERNAL_ERROR,
              "it was called inside a task's function, where it would wait forever");
    SIM_CHECK(wait != SIM_WAIT_OWN, ACL_ERROR_RT_INTERNAL_ERROR,
              "it was called inside a callback and waits for a stream that waits for a callback of this very thread: a "
              "deadlock");
    return ACL_SUCCESS;
}

aclError sim_engine_outcome(enum sim_wait wait, aclError expired, int32_t timeout)
{
    SIM_CHECK(wait != SIM_WAIT_EXPIRED, expired,
              "timeout is %d ms, which expired before the work was done; the work continues, and you can wait again",
              timeout);
    return sim_engine_refusal(wait);
}

void sim_engine_polled(struct sim_stream *stream)
{
    static _Thread_local uint32_t polls;
    sim_worker_kick(stream);
    if (++polls % 16 == 0)
        sched_yield(); /* a woken worker would starve behind the poller */
    if (sim_worker_available())
        return;
    sim_worker_run_timers();
    const struct sim_scheduler *decides = scheduler();
    uint32_t count = decides != NULL && !sim_thread.th_in_kernel ? decides->sd_poll(stream) : 0;
    if (count == 0)
        return;
    struct look look;
    if (look_from(&look, stream, sim_stream_tail(stream)) == SIGHT_HELD)
        sim_engine_run(look.lk_end.sp_stream, look.lk_ticket, SIM_HELPER, count);
    else if (may_raise(&look.lk_end))
        sim_engine_run_any(count);
}
