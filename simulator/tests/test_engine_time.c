/* Waits of hosts and of streams with a time limit, whichever threads are awake when it passes; and work that arrives
 * just when the patrolling worker goes to sleep. */
#include "address/heap_inner.h"
#include "base/clock.h"
#include "engine.h"

#define MS UINT64_C(1000000)
#define TIMED 40

static void wait_at_most(aclrtStream stream, aclrtEvent event, uint64_t timeout_ns)
{
    struct sim_event *found;
    CHECK_CODE(sim_event_find(event, &found), 0);
    CHECK_CODE(sim_event_wait(found, event, target_of(stream), timeout_ns, NULL), 0);
}

/* ---- hosts ---- */

static void test_host_limits(void)
{
    aclrtStream held = make_stream(), behind = make_stream();
    aclrtEvent event = make_event();
    CHECK_CODE(aclsimStreamHold(held), 0);
    CHECK_CODE(aclrtRecordEvent(event, held), 0);
    CHECK_CODE(aclrtStreamWaitEvent(behind, event), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(aclrtSynchronizeStreamWithTimeout(held, 2), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        CHECK_TEXT("timeout is 2 ms, which expired");
        CHECK_CODE(aclrtSynchronizeStreamWithTimeout(behind, 2), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        CHECK_CODE(aclrtSynchronizeEventWithTimeout(event, 2), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
        CHECK_CODE(aclrtSynchronizeDeviceWithTimeout(2), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        CHECK(aclsimWaitSlice(ACLSIM_WAIT_STREAM, held, 1, -1) == 0);
        CHECK(aclsimWaitSlice(ACLSIM_WAIT_EVENT, event, 1, -1) == 0);
        CHECK(aclsimIsReady(ACLSIM_WAIT_STREAM, behind) == 0 && aclsimIsReady(ACLSIM_WAIT_EVENT, event) == 0);
        CHECK(aclsimIsReady(ACLSIM_WAIT_QUEUE, behind) == sim_worker_available());
        CHECK(aclsimIsReady(ACLSIM_WAIT_QUEUE, NULL) == sim_worker_available());
        CHECK(aclsimIsReady(ACLSIM_WAIT_NOTHING, NULL) == 1);
    }
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(behind, 60000), 0);
    CHECK_CODE(aclrtSynchronizeEventWithTimeout(event, 60000), 0);
    CHECK_CODE(aclrtSynchronizeDeviceWithTimeout(60000), 0);
    CHECK(aclsimWaitSlice(ACLSIM_WAIT_STREAM, behind, 1, -1) == 1);
    CHECK(aclsimIsReady(ACLSIM_WAIT_STREAM, behind) == 1 && aclsimIsReady(ACLSIM_WAIT_EVENT, event) == 1);
    CHECK_CODE(aclsimStreamHold(held), 0);
    for (int i = 0; i < 200; i++)
        CHECK_CODE(aclrtRecordEvent(event, held), 0);
    CHECK(aclsimIsReady(ACLSIM_WAIT_QUEUE, held) == sim_worker_available()); /* no submitter can run it */
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtSynchronizeStream(held), 0);
    CHECK_CODE(aclrtDestroyStream(behind), 0);
    CHECK_CODE(aclrtDestroyStream(held), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Behind a long backlog of a ready stream, the next submitter runs tasks. */
static void test_no_room(void)
{
    aclrtStream stream = make_stream();
    occupy_workers();
    launch(stream, do_nothing, NULL, 0);
    for (int i = 0; i < 200; i++)
        launch(stream, do_nothing, NULL, ACLSIM_TASK_LIGHT);
    CHECK(aclsimIsReady(ACLSIM_WAIT_QUEUE, stream) == 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(aclsimIsReady(ACLSIM_WAIT_QUEUE, stream) == 1);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A host that waits with a time limit must not run a task itself, because the task may take longer: here it waits for
 * this host. */
static void test_long_task(void)
{
    aclrtStream stream = make_stream();
    struct blocker task = BLOCKER;
    launch(stream, block, &task, 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    latch_open(&task.let);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 60000), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* ---- streams ---- */

static void test_stream_limits(void)
{
    aclrtStream held = make_stream(), stream = make_stream();
    aclrtEvent event = make_event();
    struct latch ran = LATCH;
    CHECK_CODE(aclsimStreamHold(held), 0);
    CHECK_CODE(aclrtRecordEvent(event, held), 0);
    for (uint32_t i = 1; i <= 3; i++) { /* no thread synchronises; the workers may be asleep */
        if (i == 3)
            await_idle();
        wait_at_most(stream, event, 3 * MS);
        launch(stream, open_latch, &ran, 0);
        latch_wait(&ran, i);
        CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_TASK_TIMEOUT);
        CHECK_TEXT("aclrtStreamWaitEvent failed because its wait timed out");
    }
    wait_at_most(stream, event, 3 * MS); /* a host synchronises */
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_TASK_TIMEOUT);
    CHECK_CODE(aclrtStreamWaitEventWithTimeout(stream, event, 1), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_TASK_TIMEOUT);
    /* A wait that ends in time; its deadline must have no effect later. */
    wait_at_most(stream, event, 60000 * MS);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(held), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Many deadlines, set in reverse order. */
static void test_many_limits(void)
{
    static struct sim_gate never;
    aclrtStream streams[TIMED];
    struct latch ran = LATCH;
    uint64_t now = sim_clock_now();
    for (uint32_t i = 0; i < TIMED; i++) {
        streams[i] = make_stream();
        park_at(streams[i], &never, 1, now + (TIMED - i) * MS);
        launch(streams[i], open_latch, &ran, 0);
    }
    latch_wait(&ran, TIMED);
    CHECK(sim_clock_now() - now >= TIMED * MS);
    for (int i = 0; i < TIMED; i++) {
        CHECK_CODE(aclrtSynchronizeStream(streams[i]), ACL_ERROR_RT_TASK_TIMEOUT);
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
    }
    CHECK(never.gt_waiters == NULL);
}

/* A host thread runs a stream, which parks with a deadline when `before` is released. Until then both workers are
 * occupied; a test frees the first one, which then patrols and finds nothing to do. */
struct timed_run {
    aclrtStream stream;
    struct blocker before;
    struct sim_gate never;
    struct latch ran;
    pthread_t thread;
};

static void begin_timed_run(struct timed_run *run)
{
    run->stream = make_stream();
    occupy_workers();
    launch(run->stream, block, &run->before, 0);
    park_at(run->stream, &run->never, 1, sim_clock_now() + MS);
    launch(run->stream, open_latch, &run->ran, 0);
    run->thread = start(run_it, run->stream);
    latch_wait(&run->before.begun, 1);
}

static void end_timed_run(struct timed_run *run)
{
    latch_wait(&run->ran, 1);
    CHECK_CODE(aclrtSynchronizeStream(run->stream), ACL_ERROR_RT_TASK_TIMEOUT);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(run->stream), 0);
}

/* The deadline is set while the patrolling worker trims the heap, just before it sleeps without a limit. */
static void test_limit_before_sleep(void)
{
    struct sim_lock *heap = &sim_heap_zone_of_device.zn_heaps[0].hp_lock;
    struct timed_run run = {.before = BLOCKER, .ran = LATCH};
    begin_timed_run(&run);
    sim_lock(heap);
    latch_open(&busy[0].let);
    await_sleepers(heap, 1);
    latch_open(&run.before.let);
    pthread_join(run.thread, NULL);
    sim_unlock(heap);
    end_timed_run(&run);
}

/* The same for a task that is submitted instead of a deadline. */
static void test_push_before_sleep(void)
{
    struct sim_lock *heap = &sim_heap_zone_of_device.zn_heaps[0].hp_lock;
    struct latch ran = LATCH;
    aclrtStream stream = make_stream();
    occupy_workers();
    sim_lock(heap);
    latch_open(&busy[0].let);
    await_sleepers(heap, 1);
    launch(stream, open_latch, &ran, 0);
    sim_unlock(heap);
    latch_wait(&ran, 1);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* The deadline is set while the patrolling worker sleeps without a limit. */
static void test_limit_while_asleep(void)
{
    struct timed_run run = {.before = BLOCKER, .ran = LATCH};
    begin_timed_run(&run);
    latch_open(&busy[0].let);
    await_idle();
    latch_open(&run.before.let);
    pthread_join(run.thread, NULL);
    end_timed_run(&run);
}

/* ---- a deadline that races with the awaited event ---- */

static void *run_timers(void *argument)
{
    sleeper_enter(argument);
    sim_worker_run_timers();
    return NULL;
}

/* A gate releases the stream while the timer is about to remove it; the stream parks at another gate immediately. */
static void test_limit_and_event(void)
{
    for (int round = 0; round < 50; round++) {
        struct sim_gate first = {0}, second = {0};
        struct sleeper timer = {0};
        aclrtStream stream = make_stream();
        park_at(stream, &first, 1, sim_clock_now());
        park_at(stream, &second, 1, SIM_FOREVER);
        sim_lock(&first.gt_lock);
        pthread_t thread = start(run_timers, &timer);
        await_asleep(&timer);
        atomic_store_explicit(&first.gt_level, 1, memory_order_release);
        sim_gate_release(&first, false);
        pthread_join(thread, NULL);
        CHECK(second.gt_waiters != NULL);
        sim_gate_set(&second, 1);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
    }
}

/* Without a context, nothing is ready: a call may have to open a device first. */
static void *ask_without_context(void *unused)
{
    for (int kind = ACLSIM_WAIT_STREAM; kind <= ACLSIM_WAIT_NOTHING; kind++)
        CHECK(aclsimIsReady((aclsimWaitKind)kind, NULL) == 0);
    return unused;
}

int main(void)
{
    watch_dog(60);
    open_device("parallel");
    test_host_limits();
    pthread_join(start(ask_without_context, NULL), NULL);
    test_no_room();
    test_long_task();
    test_stream_limits();
    test_many_limits();
    test_limit_before_sleep();
    test_push_before_sleep();
    test_limit_while_asleep();
    open_device("eager");
    test_host_limits();
    test_limit_and_event();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
