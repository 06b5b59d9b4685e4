/* Helpers for the tests of the engine: latches that fix the order of threads, tasks that use them, a watchdog. */
#ifndef TESTS_ENGINE_H
#define TESTS_ENGINE_H

#include "engine/event.h"
#include "check.h"
#include <acl/acl_sim.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void hang(int signal)
{
    static const char text[] = "HANG\n";
    (void)signal;
    if (write(2, text, sizeof text - 1) >= 0)
        abort();
}

/* Ends a test that hangs, because all waits here have no limit. */
static inline void watch_dog(unsigned seconds)
{
    signal(SIGALRM, hang);
    alarm(seconds);
}

/* Resets the simulator, sets the schedule, and makes device 0 current on this thread. There are two workers on each
 * machine, so that a test can occupy them. */
static inline void open_device(const char *schedule)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), 0);
    CHECK_CODE(aclsimConfigure("workers", "2"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* ---- latches: threads and tasks wait for them without the engine's help ---- */

struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t count;
};
#define LATCH {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void latch_open(struct latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    latch->count++;
    pthread_cond_broadcast(&latch->changed);
    pthread_mutex_unlock(&latch->mutex);
}

/* Waits until it has been opened `count` times. */
static inline void latch_wait(struct latch *latch, uint32_t count)
{
    pthread_mutex_lock(&latch->mutex);
    while (latch->count < count)
        pthread_cond_wait(&latch->changed, &latch->mutex);
    pthread_mutex_unlock(&latch->mutex);
}

static inline uint32_t latch_count(struct latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    uint32_t count = latch->count;
    pthread_mutex_unlock(&latch->mutex);
    return count;
}

static inline aclError open_latch(void *latch)
{
    latch_open(latch);
    return 0;
}

/* A task that opens the latch `begun`, and returns when `let` is opened. */
struct blocker {
    struct latch begun, let;
};
#define BLOCKER {LATCH, LATCH}

static inline aclError block(void *argument)
{
    struct blocker *blocker = argument;
    latch_open(&blocker->begun);
    latch_wait(&blocker->let, 1);
    return 0;
}

static inline aclError do_nothing(void *unused)
{
    (void)unused;
    return 0;
}

/* ---- shorthand ---- */

static inline void launch(aclrtStream stream, aclsimTaskFunc function, void *argument, uint32_t flags)
{
    CHECK_CODE(aclsimLaunchTask(stream, function, argument, NULL, 0, flags), 0);
}

static inline aclrtStream make_stream(void)
{
    aclrtStream stream;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    return stream;
}

static inline aclrtEvent make_event(void)
{
    aclrtEvent event;
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    return event;
}

static inline pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, argument) == 0);
    return thread;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 20;
}

/* ACL_STRESS multiplies the number of repetitions in tests. */
static inline unsigned stress_factor(void)
{
    const char *text = getenv("ACL_STRESS");
    int factor = text != NULL ? atoi(text) : 1;
    return factor > 0 ? (unsigned)factor : 1;
}

/* ---- waiting until another thread sleeps in the kernel, where it cannot open a latch ---- */

struct sleeper {
    _Atomic int id; /* kernel id, set by the thread itself just before the call that sleeps */
};

static inline void sleeper_enter(struct sleeper *sleeper)
{
    atomic_store(&sleeper->id, (int)syscall(SYS_gettid));
}

/* Returns when the thread has called sleeper_enter and sleeps. */
static inline void await_asleep(struct sleeper *sleeper)
{
    char path[64], line[512], state;
    do {
        sched_yield();
        state = 'R';
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&sleeper->id));
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        char *name_end = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
        state = name_end != NULL ? name_end[2] : 'R';
        fclose(file);
    } while (state != 'S');
}

/* Returns when `count` threads sleep for the lock, which this thread holds. */
static inline void await_sleepers(struct sim_lock *lock, uint32_t count)
{
    while (atomic_load(&lock->lk_sleepers) != count)
        sched_yield();
}

/* ---- idle workers: the only tests that depend on time ---- */

/* Processor time of the workers, in nanoseconds; 0 before they have started. */
static inline uint64_t worker_time(void)
{
    uint64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        unsigned long long time = 0;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        bool worker = fgets(name, sizeof name, file) != NULL && strcmp(name, "acl-worker\n") == 0;
        fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
        file = worker ? fopen(path, "r") : NULL;
        if (file == NULL)
            continue;
        CHECK(fscanf(file, "%llu", &time) == 1);
        fclose(file);
        sum += time;
    }
    closedir(tasks);
    return sum;
}

/* Returns when the workers have used no processor time for 0.3 s. */
static inline void await_idle(void)
{
    static const struct timespec pause = {0, 300000000};
    uint64_t time, later = worker_time();
    do {
        time = later;
        nanosleep(&pause, NULL);
        later = worker_time();
    } while (later == 0 || later != time);
}

/* ---- access to the core ---- */

static inline struct sim_target target_of(aclrtStream stream)
{
    return (struct sim_target){sim_table_find(&sim_streams, stream), (uint64_t)(uintptr_t)stream};
}

/* A task that parks at a gate of the test, at most until a deadline. */
struct parking {
    struct sim_gate *gate;
    uint64_t target, deadline;
};

static inline aclError run_parking(struct sim_run *run, void *argument)
{
    const struct parking *parking = argument;
    if (run->rn_expired)
        return ACL_ERROR_RT_TASK_TIMEOUT;
    run->rn_gate = parking->gate;
    run->rn_target = parking->target;
    run->rn_deadline = parking->deadline;
    return sim_gate_passed(parking->gate, parking->target) ? ACL_SUCCESS : SIM_PARK;
}

static inline void park_at(aclrtStream stream, struct sim_gate *gate, uint64_t target, uint64_t deadline)
{
    static const struct sim_op op = {.op_name = "park_at", .op_run = run_parking};
    struct parking parking = {gate, target, deadline};
    CHECK_CODE(sim_engine_submit(target_of(stream), &op, &parking, sizeof parking, NULL, NULL), 0);
}

static inline struct sim_lock *lock_of(aclrtStream stream)
{
    return &target_of(stream).tg_stream->st_gate.gt_lock;
}

/* Runs a ready stream until it parks or is empty. */
static inline void run_stream(aclrtStream stream)
{
    struct sim_stream *found = target_of(stream).tg_stream;
    CHECK(sim_engine_hold(found, SIM_HELPER));
    sim_engine_run(found, UINT64_MAX, SIM_HELPER, UINT32_MAX);
}

static inline void *run_it(void *stream)
{
    run_stream(stream);
    return NULL;
}

/* ---- a thread that synchronises ---- */

struct waiter {
    struct sleeper sleeper;
    aclrtStream stream;
    aclrtEvent event;   /* the event to wait for; NULL: waits for the stream */
    aclError code;
};

static inline void *wait_there(void *argument)
{
    struct waiter *waiter = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&waiter->sleeper);
    waiter->code = waiter->event != NULL ? aclrtSynchronizeEvent(waiter->event)
                                         : aclrtSynchronizeStream(waiter->stream);
    return NULL;
}

/* Occupies both workers with long tasks, so that host threads have to do all other work. */
static struct blocker busy[2];
static aclrtStream busy_streams[2];

static inline void occupy_workers(void)
{
    for (int i = 0; i < 2; i++) {
        busy[i] = (struct blocker)BLOCKER;
        busy_streams[i] = make_stream();
        launch(busy_streams[i], block, &busy[i], ACLSIM_TASK_WORKER);
        latch_wait(&busy[i].begun, 1);
    }
}

static inline void free_workers(void)
{
    for (int i = 0; i < 2; i++) {
        latch_open(&busy[i].let);
        CHECK_CODE(aclrtDestroyStream(busy_streams[i]), 0);
    }
}

#endif
