/* Streams, events and the engine behind them. Every sample except those of CPU time is nanoseconds per pass. */
#include "twin.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CHAIN 100 /* hops of the chain */
#define TAIL_PASSES 200000
#define TAIL_LIMIT 65536 /* nanoseconds; slower passes count as this */
#define THREADS 4
#define THREAD_TASKS 10000
#define WINDOW_NS 200000000u

static aclrtStream stream, other;
static aclrtEvent event;
static void *cell;

static void prepare(void)
{
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&cell, 64, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void launch(aclrtStream target)
{
    OK(aclrtMemsetAsync(cell, 4, 1, 4, target));
}

static void launch_and_sync(void)
{
    launch(stream);
    OK(aclrtSynchronizeStream(stream));
}

/* Short bursts into an empty queue. */
static double sample_enqueue_burst(void)
{
    const int bursts = 400, count = 50;
    uint64_t spent = 0;
    for (int i = 0; i < bursts; i++) {
        uint64_t start = twin_now();
        for (int j = 0; j < count; j++)
            launch(stream);
        spent += twin_now() - start;
        OK(aclrtSynchronizeStream(stream));
    }
    return (double)spent / (bursts * count);
}

/* A backlog grows, so the time holds what a full queue makes a submitter do. control.c has the same with a no-op. */
static double sample_light_sets(void)
{
    const int count = 50000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        launch(stream);
    OK(aclrtSynchronizeStream(stream));
    return twin_each(start, count);
}

static _Atomic bool go;

static void *submit_share(void *unused)
{
    OK(aclrtSetDevice(0));
    while (!atomic_load(&go))
        sched_yield();
    for (int i = 0; i < THREAD_TASKS; i++)
        launch(stream);
    return unused;
}

/* Threads that submit to one stream; per task of all of them, with the final synchronise. */
static double sample_threads(void)
{
    pthread_t threads[THREADS];
    atomic_store(&go, false);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, submit_share, NULL);
    uint64_t start = twin_now();
    atomic_store(&go, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(aclrtSynchronizeStream(stream));
    return twin_each(start, THREADS * THREAD_TASKS);
}

static double sample_launch_sync(void)
{
    const int count = 10000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        launch_and_sync();
    return twin_each(start, count);
}

/* p99.9 of single passes; each holds one read of the clock. */
static double sample_launch_sync_tail(void)
{
    static uint32_t histogram[TAIL_LIMIT];
    memset(histogram, 0, sizeof histogram);
    for (uint64_t i = 0, before = twin_now(); i < TAIL_PASSES; i++) {
        launch_and_sync();
        uint64_t after = twin_now(), spent = after - before;
        histogram[spent < TAIL_LIMIT ? spent : TAIL_LIMIT - 1]++;
        before = after;
    }
    uint32_t above = 0;
    int value = TAIL_LIMIT;
    while (above <= TAIL_PASSES / 1000)
        above += histogram[--value];
    return value;
}

static double sample_idle_sync(void)
{
    const int count = 100000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        OK(aclrtSynchronizeStream(stream));
    return twin_each(start, count);
}

static double sample_idle_query(void)
{
    const int count = 100000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        aclrtStreamStatus status;
        OK(aclrtStreamQuery(stream, &status));
    }
    return twin_each(start, count);
}

static double sample_record_sync(void)
{
    const int count = 10000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtSynchronizeEvent(event));
    }
    return twin_each(start, count);
}

static void hop(aclrtStream from, aclrtStream to)
{
    launch(from);
    OK(aclrtRecordEvent(event, from));
    OK(aclrtStreamWaitEvent(to, event));
}

/* Five calls: work, record, wait, work, synchronise. */
static double sample_hop(void)
{
    const int count = 5000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        hop(stream, other);
        launch(other);
        OK(aclrtSynchronizeStream(other));
    }
    return twin_each(start, count);
}

static double sample_chain_hop(void)
{
    const int chains = 50;
    uint64_t start = twin_now();
    for (int i = 0; i < chains; i++) {
        for (int j = 0; j < CHAIN; j += 2) {
            hop(stream, other);
            hop(other, stream);
        }
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, chains * CHAIN);
}

/* CPU time of all threads except this one. */
static uint64_t cpu_of_others(void)
{
    return twin_clock(CLOCK_PROCESS_CPUTIME_ID) - twin_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Percent of a core that workers use beside a host that launches and synchronises, with `pause` between two passes. */
static double patrol_cpu(uint64_t pause)
{
    uint64_t start = twin_now(), cpu = cpu_of_others();
    while (twin_now() - start < WINDOW_NS) {
        launch_and_sync();
        if (pause != 0)
            twin_sleep(pause);
    }
    return 100.0 * (double)(cpu_of_others() - cpu) / (double)(twin_now() - start);
}

static double sample_patrol_busy(void)
{
    return patrol_cpu(0);
}

static double sample_patrol_sparse(void)
{
    return patrol_cpu(1000000);
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"enqueue_burst", prepare, sample_enqueue_burst},
        {"light_sets", prepare, sample_light_sets},
        {"threads", prepare, sample_threads},
        {"launch_sync", prepare, sample_launch_sync},
        {"launch_sync_tail", prepare, sample_launch_sync_tail},
        {"idle_sync", prepare, sample_idle_sync},
        {"idle_query", prepare, sample_idle_query},
        {"record_sync", prepare, sample_record_sync},
        {"hop", prepare, sample_hop},
        {"chain_hop", prepare, sample_chain_hop},
        {"patrol_busy", prepare, sample_patrol_busy},
        {"patrol_sparse", prepare, sample_patrol_sparse},
    };
    return TWIN_MAIN(rows);
}
