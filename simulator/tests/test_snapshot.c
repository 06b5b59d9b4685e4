/* Locking a process for a snapshot: calls that arrive, time-outs, locks inside tasks, forks and resets. */
#include "engine/snapshot.h"
#include "base/runtime.h"
#include "base/watcher.h"
#include "engine.h"
#include <sys/wait.h>

static void test_work_that_does_not_end(void)
{
    aclrtStream stream;
    void *block;
    open_device("parallel");
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(sim_snapshot_lock(1), ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT);
    CHECK_TEXT("was not done after 1 ms");
    CHECK_CODE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0); /* nothing is locked */
    CHECK_CODE(sim_snapshot_unlock(), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

static aclError code_of_lock;

static aclError lock_inside(void *unused)
{
    (void)unused;
    code_of_lock = sim_snapshot_lock(-1);
    return ACL_SUCCESS;
}

static void test_a_lock_inside_a_task_is_refused(void)
{
    open_device("parallel");
    CHECK_CODE(aclsimLaunchTask(NULL, lock_inside, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    CHECK_CODE(code_of_lock, ACL_ERROR_RT_INTERNAL_ERROR);
}

static void test_children_are_not_locked(void)
{
    open_device("parallel");
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK_CODE(sim_snapshot_unlock(), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
        CHECK_CODE(sim_runtime_pass(), 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

static void test_a_reset_lets_go(void)
{
    open_device("parallel");
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

static aclrtStream idle;
static char bytes[32];
static void *device_bytes;

static aclError copy(void)
{
    return aclrtMemcpy(device_bytes, sizeof bytes, bytes, sizeof bytes, ACL_MEMCPY_HOST_TO_DEVICE);
}

static aclError query(void)
{
    aclrtStreamStatus status;
    return aclrtStreamQuery(idle, &status);
}

static aclError synchronize(void)
{
    return aclrtSynchronizeStream(idle);
}

struct arrival {
    aclError (*call)(void);
    aclrtContext context;
    struct latch bound, go, end;
    struct sleeper sleeper;
    aclError code;
    _Atomic bool returned;
};

static void *arrive(void *argument)
{
    struct arrival *arrival = argument;
    CHECK_CODE(aclrtSetCurrentContext(arrival->context), 0);
    latch_open(&arrival->bound);
    latch_wait(&arrival->go, 1);
    sleeper_enter(&arrival->sleeper);
    arrival->code = arrival->call();
    atomic_store(&arrival->returned, true);
    latch_wait(&arrival->end, 1); /* asleep also if the call was not held back */
    return NULL;
}

/* The calls that look only once whether the process is locked or watched. */
static void test_calls_wait_while_it_is_locked(void)
{
    static const struct sim_watcher watcher; /* sees nothing */
    aclError (*const calls[])(void) = {copy, query, synchronize};
    open_device("parallel");
    idle = make_stream();
    CHECK_CODE(aclrtMalloc(&device_bytes, sizeof bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (size_t i = 0; i < 2 * (sizeof calls / sizeof *calls); i++) {
        bool watched = i % 2 == 1;
        struct arrival arrival = {.call = calls[i / 2], .bound = LATCH, .go = LATCH, .end = LATCH};
        sim_watcher_set(&watcher, watched);
        CHECK_CODE(aclrtGetCurrentContext(&arrival.context), 0);
        pthread_t thread = start(arrive, &arrival);
        latch_wait(&arrival.bound, 1);
        CHECK_CODE(sim_snapshot_lock(-1), 0);
        CHECK(sim_watcher_is_on(&watcher) == watched);
        latch_open(&arrival.go);
        await_asleep(&arrival.sleeper);
        CHECK(!atomic_load(&arrival.returned));
        CHECK_CODE(sim_snapshot_unlock(), 0);
        CHECK(sim_watcher_is_on(&watcher) == watched && sim_watcher_any() == watched);
        latch_open(&arrival.end);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_CODE(arrival.code, 0);
    }
    sim_watcher_set(&watcher, false);
}

int main(void)
{
    watch_dog(120);
    test_calls_wait_while_it_is_locked();
    test_work_that_does_not_end();
    test_a_lock_inside_a_task_is_refused();
    test_children_are_not_locked();
    test_a_reset_lets_go();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
