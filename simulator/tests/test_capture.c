/* Captures and their replays: order, branches that park while others continue, failures. */
#include "capture.h"

/* ---- order ---- */

static void test_one_branch(void)
{
    struct line lines[100] = {{0, {NULL}}};
    begin(origin);
    for (int i = 0; i < 100; i++) {
        lines[i].after[0] = i != 0 ? &lines[i - 1] : NULL;
        launch(origin, note, &lines[i], i % 2 ? ACLSIM_TASK_LIGHT : 0);
    }
    aclmdlRI instance = end(origin);
    CHECK(lines[0].begun == 0);
    for (int i = 0; i < 10; i++)
        execute(instance, i % 2 ? launching : origin);
    CHECK_CODE(aclrtSynchronizeStream(origin), 0);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(lines[99].begun == 10);
    destroy(instance);
}

/* A diamond, with a task for workers on one side. */
static aclmdlRI capture_diamond(struct line lines[4], uint32_t flags)
{
    lines[1].after[0] = lines[2].after[0] = &lines[0];
    lines[3].after[0] = &lines[1];
    lines[3].after[1] = &lines[2];
    begin(origin);
    launch(origin, note, &lines[0], 0);
    link_streams(origin, other);
    link_streams(origin, third);
    launch(other, note, &lines[1], flags);
    launch(third, note, &lines[2], 0);
    link_streams(other, origin);
    link_streams(third, origin);
    launch(origin, note, &lines[3], ACLSIM_TASK_LIGHT);
    return end(origin);
}

static void test_branches(void)
{
    struct line lines[4] = {{0, {NULL}}};
    aclmdlRI instance = capture_diamond(lines, ACLSIM_TASK_WORKER);
    for (int i = 0; i < 100; i++)
        execute(instance, i % 3 ? launching : other);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(lines[3].begun == 100);
    destroy(instance);
}

/* A wait captured before the event's first record still makes an edge. */
static void test_a_wait_before_the_record(void)
{
    struct blocker blocker = BLOCKER;
    struct line before = {0, {NULL}}, after = {0, {&before}};
    aclrtEvent event = ex_event();
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtStreamWaitEvent(other, event), 0);
    launch(other, note, &after, 0);
    CHECK_CODE(aclrtLaunchHostFunc(origin, block_host, &blocker), 0);
    launch(origin, note, &before, 0);
    CHECK_CODE(aclrtRecordEvent(event, origin), 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    execute(instance, launching);
    latch_wait(&blocker.begun, 1);
    await_parked(target_of(launching).tg_stream);
    CHECK(after.begun == 0);
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(after.begun == 1);
    destroy(instance);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Every stream that joined a capture must be joined back: another stream has to wait for its record. */
static void test_streams_that_do_not_come_back(void)
{
    aclmdlRI instance;
    aclrtEvent event = ex_event();
    for (int i = 0; i < 3; i++) {
        begin(origin);
        link_streams(origin, other);
        link_streams(origin, third);
        link_streams(other, origin);
        if (i != 0)
            CHECK_CODE(aclrtRecordEvent(event, third), 0);
        if (i == 2)
            CHECK_CODE(aclrtStreamWaitEvent(third, event), 0); /* its own record, which joins nothing */
        CHECK_CODE(aclmdlRICaptureEnd(origin, &instance), ACL_ERROR_RT_STREAM_UNJOINED);
        CHECK(instance == NULL);
        CHECK_CODE(aclrtSynchronizeStream(third), 0);
    }
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* ---- branches that park ---- */

/* While one branch is inside a host function, the other continues; the last task runs when both are done. */
static void test_a_host_function_blocks_one_branch(aclrtStream blocked, aclrtStream free)
{
    struct blocker blocker = BLOCKER;
    struct latch ran = LATCH;
    struct line last = {0, {NULL}};
    begin(origin);
    link_streams(origin, other);
    link_streams(origin, third);
    CHECK_CODE(aclrtLaunchHostFunc(blocked, block_host, &blocker), 0);
    launch(free, open_latch, &ran, 0);
    if (blocked != other && free != other)
        launch(other, do_nothing, NULL, 0);
    link_streams(other, origin);
    link_streams(third, origin);
    launch(origin, note, &last, 0);
    aclmdlRI instance = end(origin);
    execute(instance, launching);
    latch_wait(&blocker.begun, 1);
    latch_wait(&ran, 1);
    aclrtStreamStatus status;
    CHECK_CODE(aclrtStreamQuery(launching, &status), 0);
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(last.begun == 1);
    run(instance, launching);
    CHECK(last.begun == 2 && latch_count(&blocker.begun) == 2 && latch_count(&ran) == 2);
    destroy(instance);
}

/* Every branch parks, and they are released in the given order. */
static void test_all_branches_block(bool forward)
{
    struct blocker blockers[3] = {BLOCKER, BLOCKER, BLOCKER};
    struct line lines[4] = {{0, {NULL}}};
    aclrtStream streams[3] = {origin, other, third};
    begin(origin);
    link_streams(origin, other);
    link_streams(origin, third);
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(aclrtSubscribeReport((uint64_t)pthread_self(), streams[i]), 0);
        CHECK_CODE(aclrtLaunchCallback(block_host, &blockers[i], ACL_CALLBACK_BLOCK, streams[i]), 0);
        launch(streams[i], note, &lines[i], 0);
        lines[3].after[i] = &lines[i];
    }
    link_streams(other, origin);
    link_streams(third, origin);
    launch(origin, note, &lines[3], 0);
    aclmdlRI instance = end(origin);
    execute(instance, launching);
    for (int i = 0; i < 3; i++)
        latch_open(&blockers[forward ? i : 2 - i].let);
    for (int i = 0; i < 3;) { /* this thread serves the three callbacks, in any order */
        CHECK_CODE(aclrtProcessReport(-1), 0);
        i = (int)(latch_count(&blockers[0].begun) + latch_count(&blockers[1].begun) + latch_count(&blockers[2].begun));
    }
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(lines[3].begun == 1);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclrtUnSubscribeReport((uint64_t)pthread_self(), streams[i]), 0);
    destroy(instance);
}

/* A branch waits for a record made outside before the replay was queued; the other branch continues meanwhile. */
static void test_an_outer_record_blocks_one_branch(bool host_helps)
{
    struct latch ran = LATCH;
    struct line outer = {0, {NULL}}, inner = {0, {&outer}};
    aclrtEvent event = ex_event();
    aclrtStream outside = make_stream();
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtStreamWaitEventWithFlag(origin, event, 0, ACL_EVENT_WAIT_EXTERNAL), 0);
    launch(origin, note, &inner, 0);
    launch(other, open_latch, &ran, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_CODE(aclsimStreamHold(outside), 0);
        launch(outside, note, &outer, 0);
        CHECK_CODE(aclrtRecordEventWithFlag(event, outside, ACL_EVENT_RECORD_DEFAULT), 0);
        execute(instance, launching);
        latch_wait(&ran, i);
        CHECK(inner.begun == i - 1);
        CHECK_CODE(aclsimStreamRelease(outside), 0);
        CHECK_CODE(aclrtSynchronizeStream(host_helps ? launching : outside), 0);
        CHECK_CODE(aclrtSynchronizeStream(launching), 0);
        CHECK(inner.begun == i);
    }
    destroy(instance);
    CHECK_CODE(aclrtDestroyStream(outside), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* A stream outside waits for a record in the middle of a replay; the wait counts from the moment of the call. */
static void test_a_record_for_the_outside(void)
{
    struct blocker blocker = BLOCKER;
    struct line inner = {0, {NULL}}, outer = {0, {&inner}}, behind = {0, {&outer}};
    aclrtEvent event = ex_event();
    begin(origin);
    launch(origin, note, &inner, 0);
    CHECK_CODE(aclrtRecordEventWithFlag(event, origin, ACL_EVENT_RECORD_EXTERNAL), 0);
    CHECK_CODE(aclrtLaunchHostFunc(origin, block_host, &blocker), 0);
    launch(origin, note, &behind, 0);
    aclmdlRI instance = end(origin);
    CHECK_CODE(aclsimStreamHold(launching), 0);
    execute(instance, launching);
    CHECK_CODE(aclrtStreamWaitEventWithFlag(third, event, 0, ACL_EVENT_WAIT_DEFAULT), 0);
    launch(third, note, &outer, 0);
    CHECK_CODE(aclsimStreamRelease(launching), 0);
    CHECK_CODE(aclrtSynchronizeStream(third), 0);
    CHECK(outer.begun == 1 && behind.begun == 0);
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(behind.begun == 1);
    destroy(instance);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* The older form: another stream records a flag event in each round. */
static void test_a_flag_from_the_outside(void)
{
    struct latch ran = LATCH;
    struct line inner = {0, {NULL}};
    aclrtEvent flag;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_EXTERNAL), 0);
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtStreamWaitEvent(other, flag), 0);
    CHECK_CODE(aclrtResetEvent(flag, other), 0);
    launch(other, note, &inner, 0);
    launch(origin, open_latch, &ran, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    for (uint32_t i = 1; i <= 5; i++) {
        execute(instance, launching);
        latch_wait(&ran, i);
        CHECK(inner.begun == i - 1);
        CHECK_CODE(aclrtRecordEvent(flag, third), 0);
        CHECK_CODE(aclrtSynchronizeStream(launching), 0);
        CHECK(inner.begun == i);
    }
    destroy(instance);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
}

/* While the workers are busy, the host that synchronises runs the branches as they become ready, in any order. */
static void test_the_host_runs_every_branch(const int order[3])
{
    struct line lines[4] = {{0, {NULL}}};
    struct waiter waiter = {.stream = launching};
    aclrtStream streams[3] = {origin, other, third}, outside[3];
    aclrtEvent events[3];
    begin(origin);
    link_streams(origin, other);
    link_streams(origin, third);
    for (int i = 0; i < 3; i++) {
        events[i] = ex_event();
        CHECK_CODE(aclrtStreamWaitEventWithFlag(streams[i], events[i], 0, ACL_EVENT_WAIT_EXTERNAL), 0);
        launch(streams[i], note, &lines[i], 0);
        lines[3].after[i] = &lines[i];
    }
    link_streams(other, origin);
    link_streams(third, origin);
    launch(origin, note, &lines[3], 0);
    aclmdlRI instance = end(origin);
    for (int i = 0; i < 3; i++) {
        outside[i] = make_stream();
        CHECK_CODE(aclsimStreamHold(outside[i]), 0);
        CHECK_CODE(aclrtRecordEventWithFlag(events[i], outside[i], ACL_EVENT_RECORD_DEFAULT), 0);
    }
    execute(instance, launching);
    await_parked(target_of(launching).tg_stream);
    await_parked(branch_stream(instance, 0));
    await_parked(branch_stream(instance, 1));
    occupy_workers();
    pthread_t thread = start(wait_there, &waiter);
    for (int i = 0; i < 3; i++) {
        await_asleep(&waiter.sleeper);
        CHECK(lines[3].begun == 0);
        CHECK_CODE(aclsimStreamRelease(outside[order[i]]), 0);
        CHECK_CODE(aclrtSynchronizeStream(outside[order[i]]), 0);
    }
    pthread_join(thread, NULL);
    CHECK_CODE(waiter.code, 0);
    CHECK(lines[3].begun == 1);
    destroy(instance);
    free_workers();
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(aclrtDestroyStream(outside[i]), 0);
        CHECK_CODE(aclrtDestroyEvent(events[i]), 0);
    }
}

static void test_the_host_runs_all_branches(void)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++)
        test_the_host_runs_every_branch(orders[i]);
}

/* The first walker becomes idle, continues, and parks later; another walker must be found then as well. */
static void test_a_walker_parks_after_idling(void)
{
    struct latch ran = LATCH;
    aclrtStream fourth = make_stream(), waiting[4] = {other, origin, third, fourth}, outside[4];
    aclrtEvent fork = ex_event(), events[4];
    begin(origin);
    link_streams(origin, other);
    for (int i = 0; i < 4; i++) {
        if (i == 2) { /* both wait for the tasks that the origin has waited for */
            CHECK_CODE(aclrtRecordEvent(fork, origin), 0);
            CHECK_CODE(aclrtStreamWaitEvent(third, fork), 0);
            CHECK_CODE(aclrtStreamWaitEvent(fourth, fork), 0);
        }
        events[i] = ex_event();
        outside[i] = make_stream();
        CHECK_CODE(aclrtStreamWaitEventWithFlag(waiting[i], events[i], 0, ACL_EVENT_WAIT_EXTERNAL), 0);
        CHECK_CODE(aclsimStreamHold(outside[i]), 0);
        CHECK_CODE(aclrtRecordEventWithFlag(events[i], outside[i], ACL_EVENT_RECORD_DEFAULT), 0);
    }
    launch(origin, open_latch, &ran, 0);
    link_streams(other, origin);
    link_streams(third, origin);
    link_streams(fourth, origin);
    aclmdlRI instance = end(origin);
    execute(instance, launching);
    await_parked(target_of(launching).tg_stream);
    await_parked(branch_stream(instance, 0));
    for (int i = 0; i < 4; i++) {
        if (i == 2) /* a third walker, beside the two that wait in the third and the fourth branch */
            latch_wait(&ran, 1);
        CHECK_CODE(aclsimStreamRelease(outside[i]), 0);
        CHECK_CODE(aclrtSynchronizeStream(outside[i]), 0);
        if (i == 0)
            await_idle_walker(instance);
    }
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    destroy(instance);
    for (int i = 0; i < 4; i++) {
        CHECK_CODE(aclrtDestroyStream(outside[i]), 0);
        CHECK_CODE(aclrtDestroyEvent(events[i]), 0);
    }
    CHECK_CODE(aclrtDestroyEvent(fork), 0);
    CHECK_CODE(aclrtDestroyStream(fourth), 0);
}

/* ---- failures ---- */

static _Atomic aclError planned_code;

static aclError fail_as_planned(void *unused)
{
    (void)unused;
    return atomic_load(&planned_code);
}

/* The launch stream gets the code, all branches skip their remaining tasks, and the next replay is complete. */
static void test_a_task_fails(aclrtStream failing)
{
    struct line lines[4] = {{0, {NULL}}};
    begin(origin);
    link_streams(origin, other);
    link_streams(origin, third);
    launch(failing, fail_as_planned, NULL, 0);
    launch(failing, note, &lines[0], 0);
    launch(third, do_nothing, NULL, 0);
    link_streams(other, origin);
    link_streams(third, origin);
    launch(origin, note, &lines[1], 0);
    aclmdlRI instance = end(origin);
    for (uint32_t i = 0; i < 4; i++) {
        aclError code = i % 2 == 0 ? ACL_ERROR_RT_AICORE_EXCEPTION : 0;
        atomic_store(&planned_code, code);
        execute(instance, launching);
        CHECK_CODE(aclrtSynchronizeStream(launching), code);
        CHECK(lines[0].begun == (i + 1) / 2 && lines[1].begun == (i + 1) / 2);
        CHECK_CODE(aclrtSynchronizeStream(launching), 0);
        CHECK_CODE(aclrtSynchronizeDevice(), 0);
    }
    destroy(instance);
}

/* The same with a failure in a helper, while the first walker is blocked in another branch. */
static void test_a_helper_fails(void)
{
    struct blocker blocker = BLOCKER;
    struct line behind = {0, {NULL}}, skipped = {0, {NULL}};
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtLaunchHostFunc(other, block_host, &blocker), 0);
    launch(other, note, &behind, 0);
    launch(origin, fail_as_planned, NULL, 0);
    launch(origin, note, &skipped, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    atomic_store(&planned_code, ACL_ERROR_RT_AICORE_EXCEPTION);
    execute(instance, launching);
    latch_wait(&blocker.begun, 1);
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK(skipped.begun == 0);
    atomic_store(&planned_code, 0);
    run(instance, launching);
    CHECK(skipped.begun == 1);
    destroy(instance);
}

static void test_memory_changes_hands_before_the_run(void)
{
    enum { BYTES = 64 };
    void *block, *again;
    struct line lines[2] = {{0, {NULL}}};
    CHECK_CODE(aclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    begin(origin);
    link_streams(origin, other);
    launch(other, note, &lines[0], 0);
    CHECK_CODE(aclrtMemsetAsync(block, BYTES, 1, BYTES, other), 0);
    launch(other, note, &lines[1], 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    run(instance, launching);
    CHECK_CODE(aclrtFree(block), 0);
    for (int i = 0; i < 2; i++) {
        execute(instance, launching);
        CHECK_CODE(aclrtSynchronizeStream(launching), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    }
    CHECK(lines[0].begun == 3 && lines[1].begun == 1);
    CHECK_CODE(aclrtMalloc(&again, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK(again == block);
    execute(instance, launching); /* accepts memory that was allocated again */
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(lines[1].begun == 2);
    CHECK_CODE(aclsimStreamHold(launching), 0); /* a task outside of an instance does not */
    CHECK_CODE(aclrtMemsetAsync(again, BYTES, 2, BYTES, launching), 0);
    CHECK_CODE(aclrtFree(again), 0);
    CHECK_CODE(aclrtMalloc(&again, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK(again == block);
    CHECK_CODE(aclsimStreamRelease(launching), 0);
    CHECK_CODE(aclrtSynchronizeStream(launching), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK_CODE(aclrtFree(again), 0);
    destroy(instance);
}

static void tests(bool parallel)
{
    make_streams();
    test_one_branch();
    test_branches();
    test_streams_that_do_not_come_back();
    test_a_wait_before_the_record();
    test_a_host_function_blocks_one_branch(origin, other);
    test_a_host_function_blocks_one_branch(other, origin);
    test_a_host_function_blocks_one_branch(other, third);
    test_a_host_function_blocks_one_branch(third, other);
    destroy_streams();
    make_streams(); /* streams that are not subscribed for callbacks */
    test_all_branches_block(true);
    test_all_branches_block(false);
    test_an_outer_record_blocks_one_branch(true);
    test_an_outer_record_blocks_one_branch(false);
    test_a_walker_parks_after_idling();
    test_a_record_for_the_outside();
    test_a_flag_from_the_outside();
    if (parallel)
        test_the_host_runs_all_branches();
    test_a_task_fails(origin);
    test_a_task_fails(other);
    test_a_helper_fails();
    test_memory_changes_hands_before_the_run();
    destroy_streams();
}

int main(void)
{
    watch_dog(60);
    test_schedules(tests);
    return 0;
}
