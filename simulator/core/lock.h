/* The simulator's one lock, and the futex under it.
 *
 * 0 free, 1 taken, 2 taken and somebody sleeps. Uncontended it costs one compare-and-swap and one exchange, two thirds
 * of a pthread mutex; contended it sleeps in the kernel at once, because on a small runner the owner may need this CPU.
 * Locks are leaves unless the header of their owner says otherwise; no user code and no futex wait runs under one. */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define SIM_LINE 64 /* bytes of a cache line */
#define SIM_FOREVER UINT64_MAX

struct sim_lock {
    _Atomic uint32_t lk_word;
};

/* Sleeps while *word == seen, at most `nanoseconds` (SIM_FOREVER: no limit). Spurious returns are allowed. */
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

void sim_lock_slow(struct sim_lock *lock);

static inline void sim_lock(struct sim_lock *lock)
{
    uint32_t free_word = 0;
    if (unlikely(!atomic_compare_exchange_strong_explicit(&lock->lk_word, &free_word, 1, memory_order_acquire,
                                                          memory_order_relaxed)))
        sim_lock_slow(lock);
}

static inline void sim_unlock(struct sim_lock *lock)
{
    if (unlikely(atomic_exchange_explicit(&lock->lk_word, 0, memory_order_release) == 2))
        sim_futex_wake(&lock->lk_word, 1);
}

#endif
