/* What every file of the sketch uses: shorthands of the atomic operations, a lock, the futex, and the state of the
 * calling thread.
 *
 * Loads and stores are named by their order: LOAD acquires, STORE releases, the RELAXED forms do neither. The plain
 * functions of <stdatomic.h> are sequentially consistent; the sketch uses them where a store and a later load of
 * another word must not change places, because otherwise a thread that is about to sleep would be missed. */
#ifndef SKETCH_BASE_H
#define SKETCH_BASE_H

#include "sketch.h"
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define ALONE _Alignas(64) /* begins a cache line */
#define LOAD(word) atomic_load_explicit(word, memory_order_acquire)
#define LOAD_RELAXED(word) atomic_load_explicit(word, memory_order_relaxed)
#define STORE(word, value) atomic_store_explicit(word, value, memory_order_release)
#define STORE_RELAXED(word, value) atomic_store_explicit(word, value, memory_order_relaxed)

/* Replaces the value of a word. If the word has changed meanwhile, `seen` gets its value, and the result is false. */
#define REPLACE(word, seen, value) \
    atomic_compare_exchange_weak_explicit(word, seen, value, memory_order_seq_cst, memory_order_acquire)
#define REPLACE_STRONG(word, seen, value) \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_seq_cst, memory_order_acquire)

extern _Thread_local struct sketch_thread {
    void *th_context;
    bool th_in_task;
} sketch_thread;

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The counter of the CPU, which is cheaper than the clock. */
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return 0;
#endif
}

/* Waits a little for another thread; gives it the CPU from the call `patience` on. */
static inline void wait_a_little(int *calls, int patience)
{
    if (++*calls < patience)
        pause_briefly();
    else
        sched_yield();
}

/* A short spin, then the CPU is given away, because on a small machine the owner may need it. */
struct sketch_lock {
    _Atomic uint32_t lk_word;
};

static inline void lock(struct sketch_lock *lock)
{
    int calls = 0;
    while (unlikely(atomic_exchange_explicit(&lock->lk_word, 1, memory_order_acquire))) {
        do
            wait_a_little(&calls, 100);
        while (LOAD_RELAXED(&lock->lk_word));
    }
}

static inline void unlock(struct sketch_lock *lock)
{
    STORE(&lock->lk_word, 0);
}

#define FOREVER (-1)

/* Sleeps while *word == seen, at most `nanoseconds`, or FOREVER. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t seen, long nanoseconds)
{
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nanoseconds >= 0 ? &limit : NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word, int count)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Address space whose pages read as zero and are allocated by the first write. */
static inline void *reserve(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

#endif
