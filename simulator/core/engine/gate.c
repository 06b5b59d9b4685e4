/* Gates (gate.h): entering, leaving, raising the level, and waking the waiters that it has reached.
 *
 * A waiter belongs to the thread or stream that waits; the gate only links it. A gate's gt_lock guards its list and its
 * level. Parked streams are resumed, and the first AWAKEN hosts woken, after that lock is released. */
#include "gate.h"
#include "engine.h"

#define AWAKEN 16 /* hosts woken after the lock is released; the rest are woken under it */

bool sim_gate_enter(struct sim_gate *gate, struct sim_waiter *waiter)
{
    sim_lock(&gate->gt_lock);
    bool waits = !sim_gate_passed(gate, waiter->wt_target);
    if (waits) {
        waiter->wt_next = gate->gt_waiters;
        gate->gt_waiters = waiter;
        atomic_store_explicit(&waiter->wt_gate, gate, memory_order_relaxed);
    }
    sim_unlock(&gate->gt_lock);
    return waits;
}

/* The functions from here to sim_gate_leave need the gate's lock. */
static bool is_queued(const struct sim_gate *gate, struct sim_waiter *waiter)
{
    /* The field is set to this gate only under its lock: with any other value, the waiter is not in this list. */
    return atomic_load_explicit(&waiter->wt_gate, memory_order_relaxed) == gate;
}

static void take_out(struct sim_gate *gate, struct sim_waiter *waiter)
{
    struct sim_waiter **link = &gate->gt_waiters;
    while (*link != waiter)
        link = &(*link)->wt_next;
    *link = waiter->wt_next;
    atomic_store_explicit(&waiter->wt_gate, NULL, memory_order_relaxed);
}

static void raise_level(struct sim_gate *gate, uint64_t level)
{
    if (!sim_gate_passed(gate, level))
        atomic_store_explicit(&gate->gt_level, level, memory_order_release);
}

bool sim_gate_leave(struct sim_gate *gate, struct sim_waiter *waiter)
{
    sim_lock(&gate->gt_lock);
    bool queued = is_queued(gate, waiter);
    if (queued)
        take_out(gate, waiter);
    sim_unlock(&gate->gt_lock);
    return queued;
}

void sim_gate_release(struct sim_gate *gate, bool poke)
{
    if (likely(gate->gt_waiters == NULL)) {
        sim_unlock(&gate->gt_lock);
        return;
    }
    uint64_t level = sim_gate_level(gate);
    struct sim_waiter *streams = NULL;
    _Atomic uint32_t *words[AWAKEN];
    int count = 0;
    for (struct sim_waiter **link = &gate->gt_waiters, *waiter; (waiter = *link) != NULL;) {
        if (waiter->wt_target > level && !(poke && waiter->wt_kind == SIM_WAITER_HELPS)) {
            link = &waiter->wt_next;
            continue;
        }
        *link = waiter->wt_next;
        atomic_store_explicit(&waiter->wt_gate, NULL, memory_order_relaxed);
        if (waiter->wt_kind == SIM_WAITER_STREAM) {
            waiter->wt_next = streams;
            streams = waiter;
            continue;
        }
        /* Set under the lock: once its owner has left the gate, the word may be gone. Waking does not read it. A host
         * waits at several gates with one word: the thread that sets it first wakes the host, or is about to. */
        _Atomic uint32_t *word = waiter->wt_word;
        if (atomic_exchange_explicit(word, 1, memory_order_acq_rel) != 0)
            continue;
        if (count < AWAKEN)
            words[count++] = word;
        else
            sim_futex_wake(word, 1);
    }
    sim_unlock(&gate->gt_lock);
    while (streams != NULL) {
        struct sim_stream *stream = streams->wt_stream;
        streams = streams->wt_next; /* before the stream is resumed: it may park again at once */
        sim_engine_resume(stream);
    }
    for (int i = 0; i < count; i++)
        sim_futex_wake(words[i], 1);
}

void sim_gate_set(struct sim_gate *gate, uint64_t level)
{
    sim_lock(&gate->gt_lock);
    atomic_store_explicit(&gate->gt_level, level, memory_order_release);
    sim_gate_release(gate, false);
}

void sim_gate_count(struct sim_gate *gate)
{
    sim_lock(&gate->gt_lock);
    atomic_fetch_add_explicit(&gate->gt_level, 1, memory_order_release);
    sim_gate_release(gate, false);
}

void sim_gate_raise(struct sim_gate *gate, uint64_t level)
{
    sim_lock(&gate->gt_lock);
    raise_level(gate, level);
    sim_gate_release(gate, false);
}

bool sim_gate_raise_and_take(struct sim_gate *gate, uint64_t level, struct sim_waiter *waiter)
{
    sim_lock(&gate->gt_lock);
    raise_level(gate, level);
    bool taken = is_queued(gate, waiter) && sim_gate_passed(gate, waiter->wt_target);
    if (taken)
        take_out(gate, waiter);
    sim_gate_release(gate, false);
    return taken;
}
