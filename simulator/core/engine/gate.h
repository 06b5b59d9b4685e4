/* A gate is a level that rises, and those who wait for it to reach a target.
 *
 * Everything that anybody waits for is one: a stream's count of finished tasks (waits for events and hosts that
 * synchronise), the callbacks a stream has got back, a stream's latch, a flag event (level 0 or 1). A waiter is a parked
 * stream or a sleeping host thread. Both use one protocol: under the gate's lock, either the level has passed the target
 * or the waiter is in the list, and whoever raises the level afterwards takes it out of the list under the same lock.
 * The level may also be read without the lock (acquire): it says "passed" only when it has. */
#ifndef SIM_GATE_H
#define SIM_GATE_H

#include "base/lock.h"
#include <stddef.h>

struct sim_stream;

struct sim_waiter {
    struct sim_waiter *wt_next;
    uint64_t wt_target;
    struct sim_stream *wt_stream; /* a parked stream, or NULL for a host */
    _Atomic uint32_t *wt_word;    /* a host's futex word: set to 1 under the gate's lock, then woken */
    struct sim_gate *_Atomic wt_gate; /* in whose list it is; set and cleared under that gate's lock */
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

/* Queues the waiter; false (and not queued) when the gate has passed its target already. */
bool sim_gate_enter(struct sim_gate *gate, struct sim_waiter *waiter);

/* Takes the waiter out of this gate; false when it is not there (any more): somebody else has woken it or is about to.
 * Afterwards nobody touches a host's waiter any more. */
bool sim_gate_leave(struct sim_gate *gate, struct sim_waiter *waiter);

/* Sets the level (monotone gates only ever rise; a flag may fall) and wakes every waiter it has reached. */
void sim_gate_set(struct sim_gate *gate, uint64_t level);

/* One more than it was. */
void sim_gate_count(struct sim_gate *gate);

/* The same as setting it, unless the level is there already: for those who raise it in another order than they were numbered. */
void sim_gate_raise(struct sim_gate *gate, uint64_t level);

/* Releases the gate's lock, held by the caller, and wakes every waiter that the level has reached. With `poke` also every
 * other sleeping host, so that it looks again: something became helpable, failed or was dropped. */
void sim_gate_release(struct sim_gate *gate, bool poke);

#endif
