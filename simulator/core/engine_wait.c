/* Waiting hosts: they follow what blocks them, help, and sleep only when there is nothing to help with. The protocol and
 * its locks are described in engine.c. */
#include "callback.h"
#include "clock.h"
#include "engine.h"
#include <sched.h>
#include <string.h>

#define SPIN_NS 10000 /* a host spins this long while another thread runs what it waits for */

/* What a host that waits finds at the end of the chain of gates. */
enum sight { SIGHT_HELD, SIGHT_BUSY, SIGHT_BLOCKED, SIGHT_CHANGED, SIGHT_OWN };

struct look {
    struct sim_stream *lk_stream; /* the stream at the end of the chain ... */
    uint64_t lk_ticket;           /* ... how far it is needed ... */
    struct sim_gate *lk_gate;     /* ... and where to sleep for it */
    uint64_t lk_target;
    enum sim_stream_state lk_state;   /* as that stream was seen: its state ... */
    struct sim_gate *lk_parked_at;    /* ... and where it was parked, for which level */
    uint64_t lk_parked_for;
    uint64_t lk_given_up;         /* level of `given_up` before the look */
};

/* Counts the waits of streams that ended otherwise than by their gates: rare, and hosts that sleep may sleep elsewhere. */
static struct sim_gate given_up;

void sim_engine_given_up(void)
{
    sim_lock(&given_up.gt_lock);
    atomic_fetch_add_explicit(&given_up.gt_level, 1, memory_order_release);
    sim_gate_release(&given_up, false);
}

void sim_engine_wait_after_fork(void)
{
    memset(&given_up, 0, sizeof given_up); /* whoever slept is not in the child */
}

static struct sim_stream *stream_of(struct sim_gate *gate)
{
    unsigned char *at = (unsigned char *)gate;
    size_t reach = sim_streams.tb_stride * sim_streams.tb_limit;
    if (at < sim_streams.tb_base || at >= sim_streams.tb_base + reach)
        return NULL;
    return sim_stream_at((uint32_t)((size_t)(at - sim_streams.tb_base) / sim_streams.tb_stride));
}

/* Follows the chain from look->lk_stream. HELD: its end was ready, and this thread holds it now. The chain ends: each
 * link leads to a record that was issued before the wait for it. */
static enum sight look_along(struct look *look)
{
    for (;;) {
        struct sim_stream *stream = look->lk_stream;
        sim_lock(&stream->st_gate.gt_lock);
        look->lk_state = stream->st_state;
        if (stream->st_state == SIM_READY && !stream->st_worker)
            stream->st_state = SIM_RUNNING;
        struct sim_gate *gate = look->lk_parked_at = stream->st_parked_at;
        uint64_t target = look->lk_parked_for = stream->st_waiter.wt_target;
        bool helped = stream->st_state != look->lk_state;
        sim_unlock(&stream->st_gate.gt_lock);
        if (helped)
            return SIGHT_HELD;
        look->lk_gate = &stream->st_gate;
        look->lk_target = look->lk_ticket;
        if (look->lk_state != SIM_PARKED)
            return look->lk_state == SIM_IDLE ? SIGHT_CHANGED : SIGHT_BUSY;
        if (sim_gate_passed(gate, target))
            return SIGHT_BUSY; /* whoever raised it is about to resume the stream, and pokes those who sleep here */
        struct sim_stream *next = stream_of(gate);
        if (next == NULL || gate != &next->st_gate) {
            look->lk_gate = gate;
            look->lk_target = target;
            return next != NULL && gate == &next->st_returned && sim_callback_is_own(next) ? SIGHT_OWN : SIGHT_BLOCKED;
        }
        look->lk_stream = next;
        look->lk_ticket = target;
    }
}

/* True when the end of the chain is no longer as it was seen, so that sleeping could miss its change. */
static bool has_changed(const struct look *look)
{
    struct sim_stream *stream = look->lk_stream;
    sim_lock(&stream->st_gate.gt_lock);
    bool changed = stream->st_state != look->lk_state ||
                   (look->lk_state == SIM_PARKED && (stream->st_parked_at != look->lk_parked_at ||
                                                     stream->st_waiter.wt_target != look->lk_parked_for));
    sim_unlock(&stream->st_gate.gt_lock);
    return changed;
}

/* Sleeps at `gate`, and at the end of the chain when there is one, until either wakes it or the time has come. */
SIM_RARE static void sleep_at(struct sim_gate *gate, uint64_t target, const struct look *look, uint64_t deadline)
{
    _Atomic uint32_t word = 0;
    struct sim_waiter own = {.wt_target = target, .wt_word = &word};
    if (!sim_gate_enter(gate, &own))
        return;
    struct sim_waiter end = {.wt_target = look != NULL ? look->lk_target : 0, .wt_word = &word};
    struct sim_waiter any = {.wt_target = look != NULL ? look->lk_given_up + 1 : 0, .wt_word = &word};
    bool both = look != NULL && look->lk_gate != gate;
    if ((!both || sim_gate_enter(look->lk_gate, &end)) &&
        (look == NULL || (sim_gate_enter(&given_up, &any) && !has_changed(look)))) {
        uint64_t timer = sim_pool_run_timers();
        uint64_t left = sim_clock_left(timer < deadline ? timer : deadline);
        if (left != 0)
            sim_futex_wait(&word, 0, left);
    }
    if (look != NULL)
        sim_gate_leave(&given_up, &any);
    if (both)
        sim_gate_leave(look->lk_gate, &end);
    sim_gate_leave(gate, &own);
}

/* True when it passed while another thread was running towards it. */
SIM_RARE static bool spin_for(struct sim_gate *gate, uint64_t target)
{
    uint64_t until = sim_clock_now() + SPIN_NS;
    for (int turn = 1; !sim_gate_passed(gate, target); turn++) {
        if (turn % 64 == 0)
            sched_yield(); /* the runner may need this CPU */
        if (turn % 16 == 0 && sim_clock_now() >= until)
            return false;
    }
    return true;
}

/* Runs the held stream at the end of the chain; false when its head is not for this role: a worker is called. */
static bool help(struct look *look, enum sim_role role)
{
    struct sim_stream *stream = look->lk_stream;
    uint64_t before = sim_gate_level(&stream->st_gate);
    atomic_store_explicit(&stream->st_habit, 0, memory_order_relaxed);
    sim_engine_run(stream, look->lk_ticket, role, UINT32_MAX);
    if (role == SIM_HELPER || sim_gate_level(&stream->st_gate) != before)
        return true;
    look->lk_gate = &stream->st_gate;
    look->lk_target = look->lk_ticket;
    sim_pool_kick(stream);
    return false;
}

enum sim_wait sim_engine_wait(struct sim_stream *stream, uint64_t ticket, uint64_t deadline, enum sim_role role)
{
    bool spun = false;
    if (!sim_pool_has_workers())
        role = SIM_HELPER;
    while (!sim_gate_passed(&stream->st_gate, ticket)) {
        if (unlikely(sim_thread.th_in_kernel))
            return SIM_WAIT_KERNEL;
        struct look look = {.lk_stream = stream, .lk_ticket = ticket, .lk_given_up = sim_gate_level(&given_up)};
        switch (look_along(&look)) {
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
            if (look.lk_state == SIM_READY)
                sim_pool_kick(look.lk_stream); /* only a worker may run it */
            else if (!spun && look.lk_state == SIM_RUNNING) {
                spun = true;
                if (spin_for(look.lk_gate, look.lk_target))
                    continue;
            }
            break;
        case SIGHT_BLOCKED:
            break;
        }
        if (deadline != SIM_FOREVER && sim_clock_left(deadline) == 0)
            return SIM_WAIT_EXPIRED;
        sleep_at(&stream->st_gate, ticket, &look, deadline);
    }
    return SIM_WAIT_PASSED;
}

enum sim_wait sim_engine_wait_gate(struct sim_gate *gate, uint64_t target, uint64_t deadline)
{
    while (!sim_gate_passed(gate, target)) {
        if (unlikely(sim_thread.th_in_kernel))
            return SIM_WAIT_KERNEL;
        if (deadline != SIM_FOREVER && sim_clock_left(deadline) == 0)
            return SIM_WAIT_EXPIRED;
        sleep_at(gate, target, NULL, deadline);
    }
    return SIM_WAIT_PASSED;
}

aclError sim_engine_outcome(enum sim_wait wait, aclError expired)
{
    switch (wait) {
    case SIM_WAIT_PASSED:
        return ACL_SUCCESS;
    case SIM_WAIT_EXPIRED:
        return sim_fail(expired, "the time ran out before the work was done; it goes on, and waiting again is possible");
    case SIM_WAIT_KERNEL:
        return sim_fail(ACL_ERROR_RT_INTERNAL_ERROR, "it was called inside a task's function, where waiting never ends");
    case SIM_WAIT_OWN:
        break;
    }
    return sim_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                    "it was called inside a callback and waits for a stream that waits for a callback of this very "
                    "thread: a deadlock");
}

void sim_engine_polled(struct sim_stream *stream)
{
    static _Thread_local uint32_t polls;
    sim_pool_kick(stream);
    if (++polls % 16 == 0)
        sched_yield(); /* a woken worker would starve behind the poller */
    if (!sim_pool_has_workers())
        sim_pool_run_timers();
}
