/* Captures and their runs: order, branches that park while others go on, failures, conditions, updates. */
#include "capture.h"
#include "memory.h"

static aclrtStream origin, other, third, launching;

static void make_streams(void)
{
    origin = make_stream();
    other = make_stream();
    third = make_stream();
    launching = make_stream();
}

static void destroy_streams(void)
{
    CHECK_CODE(aclrtDestroyStream(origin), 0);
    CHECK_CODE(aclrtDestroyStream(other), 0);
    CHECK_CODE(aclrtDestroyStream(third), 0);
    CHECK_CODE(aclrtDestroyStream(launching), 0);
}

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

/* A diamond, with a worker's task in one side. */
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

/* ---- branches that park ---- */

/* One branch is inside a host function, the other goes on, and so does the end once both are done. */
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

/* Every branch parks, and they are let go in the given order. */
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
    for (int i = 0; i < 3;) { /* the three calls are this thread's to make, in any order */
        CHECK_CODE(aclrtProcessReport(-1), 0);
        i = (int)(latch_count(&blockers[0].begun) + latch_count(&blockers[1].begun) + latch_count(&blockers[2].begun));
    }
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(lines[3].begun == 1);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclrtUnSubscribeReport((uint64_t)pthread_self(), streams[i]), 0);
    destroy(instance);
}

/* A branch waits for what was recorded outside before the run was queued; the other does not wait with it. */
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

/* A stream outside waits, from the moment of the call, for a record that the run makes in the middle. */
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

/* The older form: a flag event that another stream records each round. */
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

/* The workers are busy: branches that become ready again are run by the host that waits for the whole, in any order. */
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

/* ---- failures ---- */

static _Atomic aclError planned_code;

static aclError fail_as_planned(void *unused)
{
    (void)unused;
    return atomic_load(&planned_code);
}

/* The code comes up at the launch stream, what follows in any branch is left out, and the next run is complete. */
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

/* The same with the failure in a helper: the first walker is held up in another branch. */
static void test_a_helper_fails(void)
{
    struct blocker blocker = BLOCKER;
    struct line skipped = {0, {NULL}};
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtLaunchHostFunc(other, block_host, &blocker), 0);
    launch(other, note, &skipped, 0);
    launch(origin, fail_as_planned, NULL, 0);
    launch(origin, note, &skipped, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    atomic_store(&planned_code, ACL_ERROR_RT_AICORE_EXCEPTION);
    execute(instance, launching);
    latch_wait(&blocker.begun, 1);
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), ACL_ERROR_RT_AICORE_EXCEPTION);
    atomic_store(&planned_code, 0);
    run(instance, launching);
    destroy(instance);
}

static void test_memory_is_freed_before_the_run(void)
{
    void *block;
    struct line lines[2] = {{0, {NULL}}};
    CHECK_CODE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    begin(origin);
    link_streams(origin, other);
    launch(other, note, &lines[0], 0);
    CHECK_CODE(aclrtMemsetAsync(block, 64, 1, 64, other), 0);
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
    destroy(instance);
}

/* ---- conditions ---- */

struct loop {
    uint64_t *slot;
    uint32_t turns; /* until the slot is cleared */
};

static aclError count_down(void *argument)
{
    struct loop *loop = argument;
    if (--loop->turns == 0)
        *(uint64_t *)sim_memory_reach(loop->slot) = 0;
    return 0;
}

/* Adds a conditional task to the stream, whose run begins with `value`; its bodies are to be captured. */
static uint64_t *add_condition(aclrtStream stream, aclmdlRICondTaskType type, uint32_t value, aclmdlRI *bodies,
                               uint32_t count)
{
    aclmdlRI instance;
    aclmdlRICondHandle condition;
    uint64_t *slot;
    CHECK_CODE(aclmdlRICaptureGetInfo(stream, NULL, &instance), 0);
    CHECK_CODE(aclmdlRICondHandleCreate(instance, value, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition), 0);
    CHECK_CODE(aclmdlRICondHandleGetCondPtr(condition, &slot), 0);
    aclmdlRICondTaskParams parameters = {condition, type, count, bodies};
    CHECK_CODE(aclmdlRIAddCondTask(parameters, stream, 0), 0);
    return slot;
}

static void begin_body(aclrtStream stream, aclmdlRI body)
{
    CHECK_CODE(aclmdlRICaptureToModelRIBegin(stream, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
}

/* A WHILE whose body has two branches, one of which parks; inside a branch of a run, the other of which parks, too. */
static void test_a_body_parks(void)
{
    struct blocker blocker = BLOCKER;
    struct loop loop = {0};
    struct line lines[3] = {{0, {NULL}}};
    aclrtStream inside = make_stream(), inside_too = make_stream();
    aclmdlRI body;
    lines[2].after[0] = &lines[0];
    lines[2].after[1] = &lines[1];
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtLaunchHostFunc(origin, block_host, &blocker), 0);
    loop.slot = add_condition(other, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body, 1);
    begin_body(inside, body);
    link_streams(inside, inside_too);
    CHECK_CODE(aclrtLaunchHostFunc(inside, note_host, &lines[0]), 0);
    launch(inside_too, note, &lines[1], 0);
    link_streams(inside_too, inside);
    launch(inside, note, &lines[2], 0);
    launch(inside, count_down, &loop, ACLSIM_TASK_WORKER);
    CHECK_CODE(aclmdlRICaptureEnd(inside, NULL), 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    latch_open(&blocker.let);
    for (uint32_t i = 1; i <= 3; i++) {
        loop.turns = 5;
        run(instance, launching);
        CHECK(lines[2].begun == 5 * i && loop.turns == 0);
    }
    destroy(instance);
    CHECK_CODE(aclrtDestroyStream(inside), 0);
    CHECK_CODE(aclrtDestroyStream(inside_too), 0);
}

static aclError clear(void *slot)
{
    atomic_store((_Atomic uint64_t *)sim_memory_reach(slot), 0);
    return 0;
}

/* A WHILE goes on until the other branch ends it. */
static void test_a_loop_ends_by_the_other_branch(aclrtStream looping, aclrtStream ending)
{
    struct line turns = {0, {NULL}};
    aclrtStream inside = make_stream();
    aclmdlRI body;
    begin(origin);
    link_streams(origin, other);
    uint64_t *slot = add_condition(looping, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body, 1);
    begin_body(inside, body);
    launch(inside, note, &turns, 0);
    CHECK_CODE(aclmdlRICaptureEnd(inside, NULL), 0);
    launch(ending, clear, slot, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    run(instance, launching);
    destroy(instance);
    CHECK_CODE(aclrtDestroyStream(inside), 0);
}

/* The stream of the run is destroyed while a body is held up; the next run is complete. */
static void test_a_body_is_dropped(bool in_two_branches)
{
    struct blocker blocker = BLOCKER;
    struct line lines[2] = {{0, {NULL}}};
    aclrtStream inside = make_stream(), inside_too = make_stream(), doomed = make_stream();
    aclmdlRI bodies[2];
    begin(origin);
    link_streams(origin, other);
    add_condition(other, ACL_MODEL_RI_COND_TYPE_IF, 1, bodies, 2);
    begin_body(inside, bodies[0]);
    if (in_two_branches)
        link_streams(inside, inside_too);
    CHECK_CODE(aclrtLaunchHostFunc(inside, block_host, &blocker), 0);
    launch(inside, note, &lines[0], 0);
    if (in_two_branches) {
        CHECK_CODE(aclrtLaunchHostFunc(inside_too, block_host, &blocker), 0);
        launch(inside_too, note, &lines[1], 0);
        link_streams(inside_too, inside);
    }
    CHECK_CODE(aclmdlRICaptureEnd(inside, NULL), 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    execute(instance, doomed);
    execute(instance, doomed);
    latch_wait(&blocker.begun, 1);
    await_parked(target_of(doomed).tg_stream);
    CHECK_CODE(aclrtDestroyStreamForce(doomed), 0);
    latch_open(&blocker.let);
    CHECK(lines[0].begun == 0);
    run(instance, launching);
    CHECK(lines[0].begun == 1 && lines[1].begun == in_two_branches);
    destroy(instance);
    CHECK_CODE(aclrtDestroyStream(inside), 0);
    CHECK_CODE(aclrtDestroyStream(inside_too), 0);
}

/* ---- updates ---- */

static void update(aclrtStream stream, aclrtTaskGrp group, _Atomic uint32_t *first, _Atomic uint32_t *second)
{
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(stream, group), 0);
    launch(stream, count_one, (void *)(uintptr_t)first, 0);
    launch(stream, count_one, (void *)(uintptr_t)second, 0);
    CHECK_CODE(aclmdlRICaptureTaskUpdateEnd(stream), 0);
}

/* A run that is held before the group sees what was updated meanwhile; updates that come too late do no harm. */
static void test_updates(void)
{
    _Atomic uint32_t counts[4] = {0};
    struct blocker blocker = BLOCKER;
    aclrtTaskGrp group;
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtLaunchHostFunc(origin, block_host, &blocker), 0);
    CHECK_CODE(aclmdlRICaptureTaskGrpBegin(origin), 0);
    launch(origin, count_one, &counts[0], 0);
    launch(origin, count_one, &counts[1], 0);
    CHECK_CODE(aclmdlRICaptureTaskGrpEnd(origin, &group), 0);
    launch(other, do_nothing, NULL, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    execute(instance, launching);
    latch_wait(&blocker.begun, 1);
    for (int i = 0; i < 5; i++) {
        update(third, group, &counts[2], &counts[3]);
        CHECK_CODE(aclrtSynchronizeStream(third), 0);
    }
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(counts[0] == 0 && counts[1] == 0 && counts[2] == 1 && counts[3] == 1);
    update(launching, group, &counts[0], &counts[3]);
    run(instance, launching);
    CHECK(counts[0] == 1 && counts[2] == 1 && counts[3] == 2);
    CHECK_CODE(aclsimStreamHold(third), 0);
    update(third, group, &counts[1], &counts[1]);
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(other, group), 0);
    launch(other, count_one, &counts[1], 0);
    destroy(instance);
    CHECK_CODE(aclsimStreamRelease(third), 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(counts[1] == 0);
    launch(other, count_one, &counts[1], 0);
    CHECK_CODE(aclrtSynchronizeStream(other), 0);
    CHECK(counts[1] == 1);
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(other, group), ACL_ERROR_RT_INVALID_HANDLE);
}

int main(void)
{
    static const char *const schedules[] = {"parallel", "eager"};
    watch_dog(60);
    for (int i = 0; i < 2; i++) {
        open_device(schedules[i]);
        uint32_t streams = live(&sim_streams);
        make_streams();
        test_one_branch();
        test_branches();
        test_a_host_function_blocks_one_branch(origin, other);
        test_a_host_function_blocks_one_branch(other, origin);
        test_a_host_function_blocks_one_branch(other, third);
        test_a_host_function_blocks_one_branch(third, other);
        destroy_streams();
        make_streams(); /* without the binding to host functions */
        test_all_branches_block(true);
        test_all_branches_block(false);
        test_an_outer_record_blocks_one_branch(true);
        test_an_outer_record_blocks_one_branch(false);
        test_a_record_for_the_outside();
        test_a_flag_from_the_outside();
        if (i == 0)
            test_the_host_runs_all_branches();
        test_a_task_fails(origin);
        test_a_task_fails(other);
        test_a_helper_fails();
        test_memory_is_freed_before_the_run();
        test_a_body_parks();
        test_a_loop_ends_by_the_other_branch(origin, other);
        test_a_loop_ends_by_the_other_branch(other, origin);
        test_a_body_is_dropped(false);
        test_a_body_is_dropped(true);
        test_updates();
        destroy_streams();
        check_nothing_left(streams);
    }
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
