/* The simulator's only lock, and the futex under it.
 *
 * Locks are most of what a launch costs, so they are made cheap: taking one is a compare-and-swap, and releasing it is
 * a plain store and a read of the number of sleepers, half of what other futex locks cost. The CPU may reorder that
 * store and read, and then a release misses a thread that is about to sleep. Therefore that thread makes every running
 * thread of the process pass a full barrier (membarrier) between counting itself and its last look at the word: either
 * it sees the store, or the release sees the count. If the kernel lacks membarrier, a release is an exchange, which is
 * a full barrier itself.
 *
 * A contended lock sleeps in the kernel after a short spin, because on a small machine the owner may need this CPU.
 * Locks are in memory that is never freed, because a release reads the count after the lock is free. They are leaves
 * unless the header of their owner says otherwise; no user code and no futex wait runs under one. */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "compiler.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIM_FOREVER UINT64_MAX

struct sim_lock {
    _Atomic uint32_t lk_word;     /* 1: locked */
    _Atomic uint32_t lk_sleepers; /* threads that sleep for the lock, or are about to */
};

extern bool sim_lock_has_membarrier; /* written before main */

/* Sleeps while *word == seen, at most `nanoseconds` (SIM_FOREVER: no limit). May return early. */
static inline void sim_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds)
{
    struct timespec limit = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nanoseconds == SIM_FOREVER ? NULL : &limit, NULL, 0);
}

/* Wakes at most `count` sleepers. The word itself is not read, so its owner may already be gone. */
static inline void sim_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Takes a lock that is contended. */
void sim_lock_slow(struct sim_lock *lock);

/* Makes every running thread of the process pass a full barrier; does nothing without membarrier. */
void sim_lock_barrier(void);

static inline void sim_lock(struct sim_lock *lock)
{
    uint32_t free_word = 0;
    if (unlikely(!atomic_compare_exchange_strong_explicit(&lock->lk_word, &free_word, 1, memory_order_acquire,
                                                          memory_order_relaxed)))
        sim_lock_slow(lock);
}

static inline void sim_unlock(struct sim_lock *lock)
{
    uint32_t sleepers;
    if (likely(sim_lock_has_membarrier)) {
        atomic_store_explicit(&lock->lk_word, 0, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* orders the compiler; the sleeper's barrier orders the CPU */
        sleepers = atomic_load_explicit(&lock->lk_sleepers, memory_order_relaxed);
    } else {
        atomic_exchange_explicit(&lock->lk_word, 0, memory_order_seq_cst);
        sleepers = atomic_load_explicit(&lock->lk_sleepers, memory_order_seq_cst);
    }
    if (unlikely(sleepers != 0))
        sim_futex_wake(&lock->lk_word, 1);
}

/* In the child of a fork: unlocks a lock that another thread may have held. */
static inline void sim_lock_renew(struct sim_lock *lock)
{
    atomic_store_explicit(&lock->lk_word, 0, memory_order_relaxed);
    atomic_store_explicit(&lock->lk_sleepers, 0, memory_order_relaxed);
}

#endif
