/* The guarantees of the engine, tested with a fixed order of threads: every submitted task runs, unless it is
 * discarded, and discarding always ends. */
#include "engine.h"

#define MANY 2000

/* ---- silence: a submitted task runs even if the program makes no further call ---- */

static void submit_and_be_silent(aclrtStream stream)
{
    static const uint32_t kinds[] = {0, ACLSIM_TASK_LIGHT, ACLSIM_TASK_WORKER};
    struct latch ran = LATCH;
    for (uint32_t i = 0; i < 3; i++) {
        launch(stream, open_latch, &ran, kinds[i]);
        latch_wait(&ran, i + 1);
    }
}

/* One stream waits for another, which is released without a call on the first one. */
static void park_and_be_silent(aclrtStream first, aclrtStream second, aclrtEvent event)
{
    struct latch ran = LATCH;
    CHECK_CODE(aclsimStreamHold(first), 0);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtStreamWaitEvent(second, event), 0);
    launch(second, open_latch, &ran, 0);
    CHECK_CODE(aclsimStreamRelease(first), 0);
    latch_wait(&ran, 1);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
}

static void test_silence(void)
{
    aclrtStream first = make_stream(), second = make_stream(), other = make_stream();
    aclrtEvent event = make_event(), flag;
    struct blocker task = BLOCKER;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_SYNC), 0);
    for (int round = 0; round < 2; round++) { /* with two workers, then with one */
        for (int i = 0; i < 20; i++) {
            submit_and_be_silent(first);
            park_and_be_silent(first, second, event);
            park_and_be_silent(first, second, flag);
            CHECK_CODE(aclrtResetEvent(flag, second), 0);
            CHECK_CODE(aclrtSynchronizeStream(second), 0);
        }
        if (round == 0) {
            launch(other, block, &task, ACLSIM_TASK_WORKER);
            latch_wait(&task.begun, 1);
        }
    }
    latch_open(&task.let);
    CHECK_CODE(aclrtDestroyStream(other), 0);
    CHECK_CODE(aclrtDestroyStream(second), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* A worker is busy with one stream when work arrives for another: the second worker must run it. */
static void test_second_worker(void)
{
    aclrtStream streams[2] = {make_stream(), make_stream()};
    struct blocker task = BLOCKER;
    struct latch ran = LATCH;
    for (uint32_t i = 0; i < 20; i++) {
        launch(streams[i % 2], block, &task, ACLSIM_TASK_WORKER);
        launch(streams[1 - i % 2], open_latch, &ran, ACLSIM_TASK_WORKER);
        latch_wait(&ran, i + 1);
        latch_wait(&task.begun, 1);
        latch_open(&task.let);
        CHECK_CODE(aclrtSynchronizeStream(streams[i % 2]), 0);
        task = (struct blocker)BLOCKER;
    }
    CHECK_CODE(aclrtDestroyStream(streams[0]), 0);
    CHECK_CODE(aclrtDestroyStream(streams[1]), 0);
}

/* ---- waits that could never end are refused ---- */

struct inside {
    aclrtStream stream;
    aclrtEvent event;
    aclError codes[6];
};

static aclError wait_inside(void *argument)
{
    struct inside *inside = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    inside->codes[0] = aclrtSynchronizeStream(inside->stream);
    CHECK_TEXT("inside a task's function");
    inside->codes[1] = aclrtSynchronizeEvent(inside->event);
    inside->codes[2] = aclrtSynchronizeDevice();
    inside->codes[3] = aclrtDestroyStream(inside->stream);
    inside->codes[4] = aclrtDestroyStreamForce(inside->stream);
    inside->codes[5] = aclsimReset();
    return 0;
}

static void test_refusals(void)
{
    struct inside inside = {make_stream(), make_event(), {0}};
    static const uint32_t kinds[] = {0, ACLSIM_TASK_WORKER};
    for (int i = 0; i < 2; i++) {
        memset(inside.codes, 0, sizeof inside.codes);
        CHECK_CODE(aclsimStreamHold(inside.stream), 0);
        launch(inside.stream, wait_inside, &inside, kinds[i]);
        CHECK_CODE(aclrtRecordEvent(inside.event, inside.stream), 0);
        CHECK_CODE(aclsimStreamRelease(inside.stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(inside.stream), 0);
        for (int k = 0; k < 6; k++)
            CHECK(inside.codes[k] == ACL_ERROR_RT_INTERNAL_ERROR);
    }
    CHECK_CODE(aclrtDestroyStream(inside.stream), 0);
    CHECK_CODE(aclrtDestroyEvent(inside.event), 0);
}

/* A task for workers never runs on a host thread, neither on one that waits nor on one that submits many tasks. */
static _Atomic uint32_t on_host;
static pthread_t host;

static aclError look_where(void *unused)
{
    (void)unused;
    atomic_fetch_add(&on_host, pthread_equal(host, pthread_self()) != 0);
    return 0;
}

static void test_worker_only(void)
{
    aclrtStream stream = make_stream();
    host = pthread_self();
    for (int i = 0; i < 1000; i++) {
        launch(stream, look_where, NULL, ACLSIM_TASK_WORKER);
        if (i % 20 == 0)
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK(on_host == 0);
}

/* ---- discarding ---- */

static int32_t id_of(aclrtStream stream)
{
    int32_t id;
    CHECK_CODE(aclrtStreamGetId(stream, &id), 0);
    return id;
}

static void test_force(void)
{
    struct latch ran = LATCH;
    aclrtStream stream = make_stream();
    int32_t id = id_of(stream);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    CHECK(latch_count(&ran) == 0);
    /* The next stream in the slot does not inherit the latches. */
    stream = make_stream();
    CHECK(id_of(stream) == id);
    CHECK_CODE(aclsimStreamRelease(stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(latch_count(&ran) == 1);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A stream that waits for another stream can be destroyed by force at once. */
static void test_force_behind(void)
{
    aclrtStream held = make_stream(), stream = make_stream();
    aclrtEvent event = make_event();
    CHECK_CODE(aclsimStreamHold(held), 0);
    CHECK_CODE(aclrtRecordEvent(event, held), 0);
    CHECK_CODE(aclrtStreamWaitEvent(stream, event), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtDestroyStream(held), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Destroying by force waits for the running task and discards the queued ones. */
struct destruction {
    struct sleeper sleeper;
    aclrtStream stream;
};

static void *destroy_by_force(void *argument)
{
    struct destruction *destruction = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&destruction->sleeper);
    CHECK_CODE(aclrtDestroyStreamForce(destruction->stream), 0);
    return NULL;
}

static void test_force_while_running(void)
{
    struct blocker task = BLOCKER;
    struct latch ran = LATCH;
    struct destruction destruction = {.stream = make_stream()};
    launch(destruction.stream, block, &task, ACLSIM_TASK_WORKER);
    launch(destruction.stream, open_latch, &ran, 0);
    latch_wait(&task.begun, 1);
    pthread_t thread = start(destroy_by_force, &destruction);
    await_asleep(&destruction.sleeper);
    CHECK_CODE(aclsimLaunchTask(destruction.stream, do_nothing, NULL, NULL, 0, 0), ACL_ERROR_RT_INVALID_HANDLE);
    latch_open(&task.let);
    pthread_join(thread, NULL);
    CHECK(latch_count(&ran) == 0);
}

/* The stream is dropped after its task decided to park, and before the stream enters the gate. */
static void test_drop_before_enter(void)
{
    struct sim_gate gate = {0};
    aclrtStream stream = make_stream();
    occupy_workers();
    park_at(stream, &gate, 1, SIM_FOREVER);
    sim_lock(&gate.gt_lock);
    pthread_t thread = start(run_it, stream);
    await_sleepers(&gate.gt_lock, 1);
    struct sim_stream *found = target_of(stream).tg_stream;
    atomic_store(&found->st_drop, sim_stream_tail(found));
    sim_unlock(&gate.gt_lock);
    pthread_join(thread, NULL);
    CHECK(gate.gt_waiters == NULL);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A submitter finds the stream alive, but the stream is destroyed before the submitter gets the lock. */
static void *submit_late(void *argument)
{
    struct waiter *waiter = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&waiter->sleeper);
    waiter->code = aclsimLaunchTask(waiter->stream, do_nothing, NULL, NULL, 0, 0);
    return NULL;
}

static void test_submit_to_dead(void)
{
    aclrtStream stream = make_stream();
    struct waiter submitting = {.stream = stream};
    struct sim_stream *found = sim_table_find(&sim_streams, stream);
    struct sim_lock *lock = lock_of(stream);
    sim_lock(lock);
    pthread_t thread = start(submit_late, &submitting);
    await_sleepers(lock, 1); /* it has found the stream alive */
    atomic_store(&found->st_slot.sl_handle, 0); /* as destroying does, under this lock */
    sim_unlock(lock);
    pthread_join(thread, NULL);
    CHECK(submitting.code == ACL_ERROR_RT_INVALID_HANDLE);
    atomic_store(&found->st_slot.sl_handle, (uint64_t)(uintptr_t)stream);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

static aclError fail_task(void *argument)
{
    (void)argument;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* In stop mode the first failure ends all waits of the context, and everything queued is discarded. */
static void test_stop_mode(void)
{
    aclrtContext context;
    struct latch ran = LATCH;
    struct waiter waiter = {0};
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    aclrtStream failing = make_stream(), held = make_stream();
    waiter.stream = held;
    CHECK_CODE(aclrtSetStreamFailureMode(failing, 1), 0);
    CHECK_CODE(aclsimStreamHold(held), 0);
    launch(held, open_latch, &ran, 0);
    pthread_t thread = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    CHECK_CODE(aclsimStreamHold(failing), 0);
    launch(failing, fail_task, NULL, 0);
    launch(failing, open_latch, &ran, 0);
    CHECK_CODE(aclsimStreamRelease(failing), 0);
    CHECK_CODE(aclrtSynchronizeStream(failing), ACL_ERROR_RT_AICORE_EXCEPTION);
    pthread_join(thread, NULL);
    CHECK(waiter.code == ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclsimLaunchTask(held, open_latch, &ran, NULL, 0, 0), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK(latch_count(&ran) == 0);
    CHECK_CODE(aclrtDestroyContext(context), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* Destroying a context waits for the tasks of its streams and invalidates their handles. */
static void test_context(void)
{
    aclrtContext context;
    struct latch ran = LATCH;
    aclrtStream streams[20];
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    for (int i = 0; i < 20; i++) {
        streams[i] = make_stream();
        launch(streams[i], open_latch, &ran, i % 2 == 0 ? 0 : ACLSIM_TASK_WORKER);
    }
    launch(NULL, open_latch, &ran, 0);
    CHECK_CODE(aclrtDestroyContext(context), 0);
    CHECK(latch_count(&ran) == 21);
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 20; i++)
        CHECK_CODE(aclrtSynchronizeStream(streams[i]), ACL_ERROR_RT_INVALID_HANDLE);
}

/* Two long tasks run in parallel, whatever the patrolling worker was doing when they were submitted. */
static void test_side_by_side(void)
{
    aclrtStream first = make_stream(), streams[2] = {make_stream(), make_stream()};
    for (long round = 0; round < 30; round++) {
        struct timespec pause = {0, round * 50000};
        struct blocker tasks[2] = {BLOCKER, BLOCKER};
        launch(first, do_nothing, NULL, ACLSIM_TASK_WORKER);
        CHECK_CODE(aclrtSynchronizeStream(first), 0);
        nanosleep(&pause, NULL);
        for (int i = 0; i < 2; i++)
            launch(streams[i], block, &tasks[i], ACLSIM_TASK_WORKER);
        for (int i = 0; i < 2; i++)
            latch_wait(&tasks[i].begun, 1);
        for (int i = 0; i < 2; i++) {
            latch_open(&tasks[i].let);
            CHECK_CODE(aclrtSynchronizeStream(streams[i]), 0);
        }
    }
    CHECK_CODE(aclrtDestroyStream(first), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
}

/* ---- bounds ---- */

struct flood {
    struct sleeper sleeper;
    aclrtStream stream;
    _Atomic uint32_t submitted;
    uint32_t ran; /* plain: only the tasks of one stream use it */
};
#define FLOOD 5000

static aclError count_flood(void *argument)
{
    ((struct flood *)argument)->ran++;
    return 0;
}

static void *submit_flood(void *argument)
{
    struct flood *flood = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&flood->sleeper);
    for (int i = 0; i < FLOOD; i++) {
        launch(flood->stream, count_flood, flood, i % 3 == 0 ? 0 : ACLSIM_TASK_LIGHT);
        atomic_fetch_add(&flood->submitted, 1);
    }
    return NULL;
}

/* A full queue makes its submitter wait. */
static void test_backlog(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("queue", "documented"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    struct flood flood = {.stream = make_stream()};
    CHECK_CODE(aclsimStreamHold(flood.stream), 0);
    pthread_t thread = start(submit_flood, &flood);
    await_asleep(&flood.sleeper);
    uint32_t submitted = atomic_load(&flood.submitted);
    CHECK(submitted > 1500 && submitted < 2500); /* the documented depths are about 2,000 */
    CHECK_CODE(aclsimStreamRelease(flood.stream), 0);
    pthread_join(thread, NULL);
    CHECK_CODE(aclrtSynchronizeStream(flood.stream), 0);
    CHECK(flood.ran == FLOOD);
    CHECK_CODE(aclrtDestroyStream(flood.stream), 0);
}

static void test_many_streams(void)
{
    static aclrtStream streams[MANY];
    struct latch ran = LATCH;
    for (int i = 0; i < MANY; i++)
        streams[i] = make_stream();
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++)
            launch(streams[i], open_latch, &ran, i % 2 == 0 ? 0 : ACLSIM_TASK_LIGHT);
    latch_wait(&ran, 3 * MANY); /* only workers run the tasks */
    for (int i = 0; i < MANY; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
}

/* ---- idle workers: this test depends on time ---- */

static void test_idle(void)
{
    aclrtStream stream = make_stream();
    launch(stream, do_nothing, NULL, 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    await_idle(); /* if the patrol never sleeps, the watchdog ends the test */
    submit_and_be_silent(stream);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

int main(void)
{
    watch_dog(60);
    open_device("parallel");
    test_idle();
    test_silence();
    test_second_worker();
    test_refusals();
    test_worker_only();
    test_force();
    test_force_behind();
    test_force_while_running();
    test_drop_before_enter();
    test_submit_to_dead();
    test_stop_mode();
    test_context();
    test_side_by_side();
    test_many_streams();
    test_idle();
    test_backlog();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
