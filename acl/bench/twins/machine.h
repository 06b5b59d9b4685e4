/* What the machine itself needs, without any library: the scale of all other figures. Nanoseconds per pass. */
#ifndef TWIN_MACHINE_H
#define TWIN_MACHINE_H

#include "sample.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

double twin_clock_read(int loops)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        twin_now();
    return twin_each(start, loops);
}

double twin_exchange(int loops)
{
    static _Atomic uint64_t word;
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        atomic_exchange(&word, i);
    return twin_each(start, loops);
}

double twin_mutex(int loops)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return twin_each(start, loops);
}

double twin_host_copy(int loops, void *target, const void *source, size_t size)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        memcpy(target, source, size);
    return twin_each(start, loops);
}

/* --- Futexes */

static _Atomic uint32_t twin_ping, twin_pong;

static void twin_futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

double twin_futex_wake(int loops)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        twin_futex(&twin_ping, FUTEX_WAKE_PRIVATE, 1);
    return twin_each(start, loops);
}

static void twin_wait_for(_Atomic uint32_t *word, uint32_t value)
{
    for (uint32_t seen = atomic_load(word); seen != value; seen = atomic_load(word))
        twin_futex(word, FUTEX_WAIT_PRIVATE, seen);
}

static void twin_raise_to(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    twin_futex(word, FUTEX_WAKE_PRIVATE, 1);
}

static void *twin_partner(void *loops)
{
    for (uint32_t value = 1; value <= *(uint32_t *)loops; value++) {
        twin_wait_for(&twin_ping, value);
        twin_raise_to(&twin_pong, value);
    }
    return NULL;
}

/* A thread wakes another one, and sleeps until that one wakes it. */
double twin_futex_round(int loops)
{
    pthread_t thread;
    uint32_t last = (uint32_t)loops;
    atomic_store(&twin_ping, 0);
    atomic_store(&twin_pong, 0);
    if (pthread_create(&thread, NULL, twin_partner, &last) != 0)
        exit(1);
    uint64_t start = twin_now();
    for (uint32_t value = 1; value <= last; value++) {
        twin_raise_to(&twin_ping, value);
        twin_wait_for(&twin_pong, value);
    }
    double each = twin_each(start, loops);
    pthread_join(thread, NULL);
    return each;
}

#endif
