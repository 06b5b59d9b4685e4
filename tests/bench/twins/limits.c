/* What the machine itself needs, without any library: the scale of all the other rows. */
#include "sample.h"
#include "buffers.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static void nothing(void)
{
}

static double sample_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const int count = 100000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return twin_each(start, count);
}

static double sample_exchange(void)
{
    static _Atomic uint64_t word;
    const int count = 100000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        atomic_exchange(&word, i);
    return twin_each(start, count);
}

static double sample_clock(void)
{
    const int count = 100000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        twin_now();
    return twin_each(start, count);
}

/* --- Futexes */

static _Atomic uint32_t ping, pong;

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static double sample_futex_wake(void)
{
    const int count = 20000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        futex(&ping, FUTEX_WAKE_PRIVATE, 1);
    return twin_each(start, count);
}

static void wait_for(_Atomic uint32_t *word, uint32_t value)
{
    for (uint32_t seen = atomic_load(word); seen != value; seen = atomic_load(word))
        futex(word, FUTEX_WAIT_PRIVATE, seen);
}

static void raise_to(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    futex(word, FUTEX_WAKE_PRIVATE, 1);
}

static void *answer(void *unused)
{
    for (uint32_t value = 1;; value++) {
        wait_for(&ping, value);
        raise_to(&pong, value);
    }
    return unused;
}

static void prepare_partner(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, answer, NULL);
}

/* Microseconds in which a thread wakes another one and sleeps until that one wakes it. */
static double sample_futex_round(void)
{
    const int count = 200;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        uint32_t value = atomic_load(&pong) + 1;
        raise_to(&ping, value);
        wait_for(&pong, value);
    }
    return twin_each(start, count) / 1000;
}

/* --- Copies */

/* Milliseconds of 64 MiB. */
static double sample_memcpy(void)
{
    uint64_t start = twin_now();
    memcpy(target, source, LARGE);
    return twin_each(start, 1e6);
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"clock", nothing, sample_clock},
        {"exchange", nothing, sample_exchange},
        {"mutex", nothing, sample_mutex},
        {"futex_wake", nothing, sample_futex_wake},
        {"futex_round", prepare_partner, sample_futex_round},
        {"memcpy", make_buffers, sample_memcpy},
    };
    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows, nothing);
}
