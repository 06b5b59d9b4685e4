/* Gates: a gate is a completion counter (its level) with waiters, which wait until it reaches a target.
 *
 * Every wait uses one: for a stream's count of finished tasks, for a callback that has returned, for a stream's latch,
 * for a flag event (level 0 or 1). A waiter is a parked stream or a sleeping host thread, and both use one protocol.
 * Under the gate's lock, either the level has passed the target or the waiter is put into the list; the thread that
 * raises the level afterwards takes it out under the same lock. The level may also be read without the lock (acquire):
 * a read that has reached the target is never wrong. */
#ifndef SIM_GATE_H
#define SIM_GATE_H

#include "base/lock.h"
#include <stddef.h>

struct sim_stream;

/* A poke wakes a host before the gate has reached its target, so that it helps. It does not wake a host that leaves the
 * work to others, nor a stream. */
enum sim_waiter_kind { SIM_WAITER_HELPS, SIM_WAITER_LEAVES, SIM_WAITER_STREAM };

struct sim_waiter {
    struct sim_waiter *wt_next;
    uint64_t wt_target;
    union {
        struct sim_stream *wt_stream; /* which is resumed */
        _Atomic uint32_t *wt_word;    /* the futex word of a host: set to 1 under the gate's lock, then woken */
    };
    enum sim_waiter_kind wt_kind;
    struct sim_gate *_Atomic wt_gate; /* the gate whose list it is in; set and cleared under that gate's lock */
};

struct sim_gate {
    struct sim_lock gt_lock;
    _Atomic uint64_t gt_level;
    struct sim_waiter *gt_waiters;
};

static inline uint64_t sim_gate_level(struct sim_gate *gate)
{
    return atomic_load_explicit(&gate->gt_level, memory_order_acquire);
}

static inline bool sim_gate_passed(struct sim_gate *gate, uint64_t target)
{
    return sim_gate_level(gate) >= target;
}

/* Queues the waiter. False, and it is not queued, when the gate has passed its target already. */
bool sim_gate_enter(struct sim_gate *gate, struct sim_waiter *waiter);

/* Takes the waiter out of this gate. False when it is not in the list: another thread has taken it out, and has woken
 * it or is about to. Afterwards no thread uses a host's waiter any more. */
bool sim_gate_leave(struct sim_gate *gate, struct sim_waiter *waiter);

/* Sets the level (most gates only rise; a flag may fall) and wakes every waiter whose target it has reached. */
void sim_gate_set(struct sim_gate *gate, uint64_t level);

/* Raises the level by one. */
void sim_gate_count(struct sim_gate *gate);

/* Sets the level unless it is that high already: for threads that may finish in another order than they were
 * numbered. */
void sim_gate_raise(struct sim_gate *gate, uint64_t level);

/* The same as sim_gate_raise, but takes the waiter out instead of waking it if the level reaches its target. False when
 * it is not in the list, or waits for more. */
bool sim_gate_raise_and_take(struct sim_gate *gate, uint64_t level, struct sim_waiter *waiter);

/* Releases the gate's lock, which the caller holds, and wakes every waiter whose target the level has reached. With
 * `poke` it also wakes every other sleeping host to check again: a stream became ready or parked, or a task was
 * discarded. */
void sim_gate_release(struct sim_gate *gate, bool poke);

#endif
