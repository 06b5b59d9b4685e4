/* Hosts that wait: they miss no wake-up, run only the tasks that they need, and follow chains of streams to the end. */
#include "base/clock.h"
#include "engine.h"

#define CHAIN 200

/* ---- a host does not sleep through a long task that is queued behind the awaited one ---- */

static void test_long_task_behind(void)
{
    aclrtStream stream = make_stream();
    struct blocker before = BLOCKER, behind = BLOCKER;
    struct waiter waiter = {.event = make_event()};
    launch(stream, block, &before, ACLSIM_TASK_WORKER);
    latch_wait(&before.begun, 1);
    launch(stream, do_nothing, NULL, ACLSIM_TASK_LIGHT);
    CHECK_CODE(aclrtRecordEvent(waiter.event, stream), 0);
    launch(stream, block, &behind, 0);
    pthread_t thread = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    latch_open(&before.let);
    pthread_join(thread, NULL);
    CHECK(waiter.code == 0);
    latch_open(&behind.let);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtDestroyEvent(waiter.event), 0);
}

/* The same when the long task arrives just after the holder has seen an empty queue: the holder waits for the lock,
 * behind the thread that submits. */
struct announced {
    struct blocker blocker;
    struct sleeper sleeper;
};

static aclError block_and_announce(void *argument)
{
    struct announced *task = argument;
    block(&task->blocker);
    sleeper_enter(&task->sleeper);
    return 0;
}

struct submission {
    struct sleeper sleeper;
    aclrtStream stream;
    struct blocker blocker;
};

static void *submit_block(void *argument)
{
    struct submission *submission = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&submission->sleeper);
    launch(submission->stream, block, &submission->blocker, ACLSIM_TASK_WORKER);
    return NULL;
}

static void test_long_task_arrives(void)
{
    for (int round = 0; round < 20; round++) {
        aclrtStream stream = make_stream();
        struct announced before = {BLOCKER, {0}};
        struct submission late = {.stream = stream, .blocker = BLOCKER};
        struct waiter waiter = {.event = make_event()};
        launch(stream, block_and_announce, &before, ACLSIM_TASK_WORKER);
        latch_wait(&before.blocker.begun, 1);
        CHECK_CODE(aclrtRecordEvent(waiter.event, stream), 0);
        pthread_t waiting = start(wait_there, &waiter);
        await_asleep(&waiter.sleeper);
        sim_lock(lock_of(stream));
        pthread_t submitting = start(submit_block, &late);
        await_asleep(&late.sleeper);
        latch_open(&before.blocker.let);
        await_asleep(&before.sleeper);
        sim_unlock(lock_of(stream));
        pthread_join(waiting, NULL);
        pthread_join(submitting, NULL);
        latch_open(&late.blocker.let);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
        CHECK_CODE(aclrtDestroyEvent(waiter.event), 0);
    }
}

/* A host that needs only part of the queue neither runs the rest nor waits for it. */
static void test_partial_help(void)
{
    aclrtStream stream = make_stream(), other = make_stream();
    aclrtEvent event = make_event();
    struct latch ran = LATCH;
    occupy_workers();
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclrtRecordEvent(event, stream), 0);
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclrtStreamWaitEvent(other, event), 0);
    CHECK_CODE(aclrtSynchronizeStream(other), 0);
    CHECK(latch_count(&ran) == 1);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(latch_count(&ran) == 2);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(other), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* A stream that waits for another runs that one's light tasks itself instead of parking; longer tasks only park it. */
static void test_run_ahead(void)
{
    aclrtStream first = make_stream(), second = make_stream();
    aclrtEvent event = make_event();
    struct latch light = LATCH, long_one = LATCH;
    struct sim_stream *found = target_of(second).tg_stream;
    occupy_workers();
    for (uint32_t round = 1; round <= 3; round++) {
        launch(first, open_latch, &light, ACLSIM_TASK_LIGHT);
        if (round == 2)
            launch(first, open_latch, &long_one, 0);
        CHECK_CODE(aclrtRecordEvent(event, first), 0);
        CHECK_CODE(aclrtStreamWaitEvent(second, event), 0);
        run_stream(second);
        CHECK(latch_count(&light) == round && latch_count(&long_one) == (round == 3));
        CHECK(found->st_state == (round == 2 ? SIM_PARKED : SIM_IDLE));
        CHECK_CODE(aclrtSynchronizeStream(second), 0);
    }
    free_workers();
    CHECK_CODE(aclrtDestroyStream(second), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* ---- a long chain of streams, each waiting for the one before ---- */

struct link {
    uint32_t place;
    uint32_t *reached;
};

static aclError run_link(void *argument)
{
    struct link *link = argument;
    CHECK((*link->reached)++ == link->place);
    return 0;
}

static void make_chain(aclrtStream *streams, struct link *links, uint32_t *reached)
{
    aclrtEvent event = make_event();
    for (uint32_t i = 0; i < CHAIN; i++) {
        links[i] = (struct link){i, reached};
        if (i != 0)
            CHECK_CODE(aclrtStreamWaitEvent(streams[i], event), 0);
        launch(streams[i], run_link, &links[i], 0);
        CHECK_CODE(aclrtRecordEvent(event, streams[i]), 0);
    }
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

static void test_chain(void)
{
    static aclrtStream streams[CHAIN];
    static struct link links[CHAIN];
    uint32_t reached = 0;
    struct waiter waiter = {0};
    for (int i = 0; i < CHAIN; i++)
        streams[i] = make_stream();
    CHECK_CODE(aclsimStreamHold(streams[0]), 0);
    make_chain(streams, links, &reached);
    waiter.stream = streams[CHAIN - 1];
    pthread_t thread = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    CHECK(reached == 0);
    CHECK_CODE(aclsimStreamRelease(streams[0]), 0);
    pthread_join(thread, NULL);
    CHECK(waiter.code == 0 && reached == CHAIN);

    /* With no worker left, the host runs the whole chain. */
    occupy_workers();
    reached = 0;
    make_chain(streams, links, &reached);
    CHECK_CODE(aclrtSynchronizeStream(streams[CHAIN - 1]), 0);
    CHECK(reached == CHAIN);
    free_workers();
    for (int i = 0; i < CHAIN; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
}

/* A host follows a chain of streams; the last stream resumes and parks elsewhere just before the host sleeps there. */
static void test_chain_moves(void)
{
    struct sim_gate gate = {0};
    aclrtStream last = make_stream(), middle = make_stream(), first = make_stream();
    aclrtEvent of_middle = make_event(), of_first = make_event();
    struct waiter waiter = {.stream = last};
    occupy_workers();
    launch(first, do_nothing, NULL, 0);
    CHECK_CODE(aclrtRecordEvent(of_first, first), 0);
    park_at(middle, &gate, 1, SIM_FOREVER);
    CHECK_CODE(aclrtStreamWaitEvent(middle, of_first), 0);
    CHECK_CODE(aclrtRecordEvent(of_middle, middle), 0);
    CHECK_CODE(aclrtStreamWaitEvent(last, of_middle), 0);
    run_stream(middle);
    run_stream(last);
    sim_lock(&gate.gt_lock);
    atomic_store_explicit(&gate.gt_level, 1, memory_order_release); /* passed, but the stream is yet to be resumed */
    sim_lock(lock_of(middle));
    pthread_t thread = start(wait_there, &waiter);
    await_sleepers(lock_of(middle), 1);
    sim_lock(lock_of(last));
    sim_unlock(lock_of(middle));
    await_sleepers(lock_of(last), 1);
    sim_gate_release(&gate, false);
    run_stream(middle); /* now it waits for `first`, which only the host can run */
    sim_unlock(lock_of(last));
    pthread_join(thread, NULL);
    CHECK(waiter.code == 0);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(last), 0);
    CHECK_CODE(aclrtDestroyStream(middle), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyEvent(of_middle), 0);
    CHECK_CODE(aclrtDestroyEvent(of_first), 0);
}

/* The wait at the end of a chain times out: the host runs the tasks that follow. */
static void test_chain_expires(void)
{
    struct sim_gate never = {0};
    aclrtStream last = make_stream(), first = make_stream();
    aclrtEvent event = make_event();
    occupy_workers();
    park_at(first, &never, 1, sim_clock_now() + 5000000);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtStreamWaitEvent(last, event), 0);
    CHECK_CODE(aclrtSynchronizeStream(last), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), ACL_ERROR_RT_TASK_TIMEOUT);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(last), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* The thread that runs a stream parks it and leaves, while a host sleeps until that thread is done. */
static void test_runner_parks(void)
{
    aclrtStream stream = make_stream(), other = make_stream();
    aclrtEvent event = make_event();
    struct blocker task = BLOCKER;
    struct waiter waiter = {.stream = stream};
    occupy_workers();
    launch(other, do_nothing, NULL, 0);
    CHECK_CODE(aclrtRecordEvent(event, other), 0);
    launch(stream, block, &task, 0);
    CHECK_CODE(aclrtStreamWaitEvent(stream, event), 0);
    launch(stream, do_nothing, NULL, 0);
    pthread_t running = start(run_it, stream);
    latch_wait(&task.begun, 1);
    pthread_t waiting = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    latch_open(&task.let);
    pthread_join(waiting, NULL);
    pthread_join(running, NULL);
    CHECK(waiter.code == 0);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(other), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* ---- flag events: a host assumes that the newest record will raise the flag ---- */

static aclrtEvent make_flag(void)
{
    aclrtEvent event;
    CHECK_CODE(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), 0);
    return event;
}

/* The host raises the flag itself if no other thread can. */
static void test_flag_helped(void)
{
    aclrtStream raising = make_stream(), waiting = make_stream();
    aclrtEvent event = make_flag();
    struct latch ran = LATCH;
    occupy_workers();
    for (uint32_t round = 1; round <= 3; round++) {
        launch(raising, open_latch, &ran, ACLSIM_TASK_LIGHT);
        CHECK_CODE(aclrtStreamWaitEvent(waiting, event), 0);
        CHECK_CODE(aclrtResetEvent(event, waiting), 0);
        CHECK_CODE(aclrtRecordEvent(event, raising), 0);
        CHECK_CODE(aclrtSynchronizeStream(waiting), 0);
        CHECK(latch_count(&ran) == round);
    }
    free_workers();
    CHECK_CODE(aclrtDestroyStream(waiting), 0);
    CHECK_CODE(aclrtDestroyStream(raising), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Two streams wait for each other's flags, a deadlock of the program: the time limit of a host still works. */
static void test_flags_in_a_circle(void)
{
    aclrtStream one = make_stream(), two = make_stream();
    aclrtEvent first = make_flag(), second = make_flag();
    CHECK_CODE(aclrtStreamWaitEvent(one, second), 0);
    CHECK_CODE(aclrtRecordEvent(first, one), 0);
    CHECK_CODE(aclrtStreamWaitEvent(two, first), 0);
    CHECK_CODE(aclrtRecordEvent(second, two), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(one, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclrtDestroyStreamForce(one), 0);
    CHECK_CODE(aclrtDestroyStreamForce(two), 0);
    CHECK_CODE(aclrtDestroyEvent(first), 0);
    CHECK_CODE(aclrtDestroyEvent(second), 0);
}

/* The newest record is queued behind a task that waits for this host. An older record raises the flag, for a stream
 * that the host waits for only indirectly. */
static void test_flag_guessed_wrong(void)
{
    aclrtStream older = make_stream(), newer = make_stream(), middle = make_stream();
    struct waiter waiter = {.stream = make_stream()};
    aclrtEvent event = make_flag(), behind = make_event();
    struct blocker task = BLOCKER;
    CHECK_CODE(aclrtStreamWaitEvent(middle, event), 0);
    CHECK_CODE(aclrtRecordEvent(behind, middle), 0);
    CHECK_CODE(aclrtStreamWaitEvent(waiter.stream, behind), 0);
    CHECK_CODE(aclsimStreamHold(older), 0);
    CHECK_CODE(aclrtRecordEvent(event, older), 0);
    occupy_workers();
    launch(newer, block, &task, 0);
    CHECK_CODE(aclrtRecordEvent(event, newer), 0);
    pthread_t thread = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    CHECK_CODE(aclsimStreamRelease(older), 0);
    run_stream(older);
    pthread_join(thread, NULL);
    CHECK(waiter.code == 0);
    latch_open(&task.let);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(newer), 0);
    CHECK_CODE(aclrtDestroyStream(older), 0);
    CHECK_CODE(aclrtDestroyStream(middle), 0);
    CHECK_CODE(aclrtDestroyStream(waiter.stream), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtDestroyEvent(behind), 0);
}

/* ---- a host leaves a stream that is parked again and again to the workers, but helps if they are all busy ---- */

static void test_busy_workers_are_replaced(void)
{
    enum { HOLDS = 20 };
    struct waiter waiter = {.stream = make_stream()};
    struct latch ran = LATCH;
    for (int i = 0; i < HOLDS; i++) {
        CHECK_CODE(aclsimStreamHold(waiter.stream), 0);
        launch(waiter.stream, open_latch, &ran, 0);
    }
    occupy_workers();
    pthread_t thread = start(wait_there, &waiter);
    for (uint32_t i = 0; i < HOLDS; i++) {
        await_asleep(&waiter.sleeper);
        CHECK(latch_count(&ran) == i);
        CHECK_CODE(aclsimStreamRelease(waiter.stream), 0);
        latch_wait(&ran, i + 1);
    }
    pthread_join(thread, NULL);
    CHECK(waiter.code == 0);
    free_workers();
    CHECK_CODE(aclrtDestroyStream(waiter.stream), 0);
}

int main(void)
{
    watch_dog(60);
    open_device("parallel");
    test_long_task_behind();
    test_long_task_arrives();
    test_partial_help();
    test_run_ahead();
    test_chain();
    test_chain_moves();
    test_chain_expires();
    test_runner_parks();
    test_flag_helped();
    test_flags_in_a_circle();
    test_flag_guessed_wrong();
    test_busy_workers_are_replaced();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
