/* The contents of instances: conditions with bodies, task groups that are updated, and steps that are watched. */
#include "address/memory.h"
#include "capture.h"
#include "base/watcher.h"

/* ---- conditions ---- */

struct loop {
    uint64_t *slot;
    uint32_t turns; /* iterations until the slot is cleared */
};

static aclError count_down(void *argument)
{
    struct loop *loop = argument;
    if (--loop->turns == 0)
        *(uint64_t *)sim_memory_reach(loop->slot) = 0;
    return 0;
}

/* Adds a conditional task to the stream; each replay sets its condition to `value` first. The caller captures the
 * bodies. */
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

/* A WHILE whose body has two branches, one of which parks. The WHILE is in one branch of an instance, and the other
 * branch parks as well. */
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

/* A WHILE continues until the other branch clears its condition. */
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

/* The stream of a replay is destroyed while a body is blocked; the next replay is complete. */
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

/* Instances that reuse the slots of an instance with a body still know whether they are running. */
static void test_slots_of_bodies(void)
{
    aclmdlRI body, instances[3];
    uint64_t patience = sim_capture_patience;
    begin(origin);
    add_condition(origin, ACL_MODEL_RI_COND_TYPE_IF, 1, &body, 1);
    begin_body(other, body);
    launch(other, do_nothing, NULL, 0);
    CHECK_CODE(aclmdlRICaptureEnd(other, NULL), 0);
    aclmdlRI instance = end(origin);
    for (int i = 0; i < 5; i++)
        run(instance, launching);
    destroy(instance);
    CHECK_CODE(aclsimStreamHold(launching), 0);
    sim_capture_patience = 1;
    for (int i = 0; i < 3; i++) {
        begin(origin);
        launch(origin, do_nothing, NULL, 0);
        instances[i] = end(origin);
        execute(instances[i], launching);
        CHECK_CODE(aclmdlRIDestroy(instances[i]), ACL_ERROR_RT_MODEL_RUNNING);
    }
    sim_capture_patience = patience;
    CHECK_CODE(aclsimStreamRelease(launching), 0);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    for (int i = 0; i < 3; i++)
        destroy(instances[i]);
}

/* ---- updates ---- */

static void update(aclrtStream stream, aclrtTaskGrp group, _Atomic uint32_t *first, _Atomic uint32_t *second)
{
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(stream, group), 0);
    launch(stream, count_one, (void *)(uintptr_t)first, 0);
    launch(stream, count_one, (void *)(uintptr_t)second, 0);
    CHECK_CODE(aclmdlRICaptureTaskUpdateEnd(stream), 0);
}

static uint32_t count_retired(aclmdlRI instance)
{
    uint32_t count = 0;
    struct sim_instance *found = sim_object_peek(&sim_capture_instances, instance);
    CHECK(found != NULL);
    sim_lock(&found->in_run_lock);
    for (const struct sim_retired *at = found->in_retired; at != NULL; at = at->re_next)
        count++;
    sim_unlock(&found->in_run_lock);
    sim_object_close(found);
    return count;
}

/* A replay that is blocked before a task group sees the updates made meanwhile. Updates after the instance was
 * destroyed have no effect. */
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
    CHECK(count_retired(instance) == 8); /* the replay might use them; the first two are parts of the tasks */
    latch_open(&blocker.let);
    CHECK_CODE(aclrtSynchronizeStream(launching), 0);
    CHECK(count_retired(instance) == 0);
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

/* ---- steps ---- */

static _Atomic uint32_t seen;

static void see(const struct sim_run *run, const struct sim_task *task, const void *argument,
                const struct sim_watched *watched)
{
    (void)run, (void)argument, (void)watched;
    seen += task->ta_op->op_kind == SIM_TASK_SET;
}

static const struct sim_watcher watcher = {.wt_finish = see};
static bool switches; /* whether the step switches the watcher on */

static aclError switch_on(void *unused)
{
    (void)unused;
    if (switches)
        sim_watcher_set(&watcher, true);
    return 0;
}

/* A watcher sees the steps of a replay while it is on. One that is switched on during a replay sees the last steps, and
 * none of them runs twice. */
static void test_watched_steps(void)
{
    enum { STEPS = 40 };
    uint32_t count = 0;
    char *words;
    CHECK_CODE(aclrtMalloc((void **)&words, 4 * STEPS, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    begin(origin);
    launch(origin, count_one, &count, 0);
    launch(origin, switch_on, NULL, 0); /* does not park, so that the replay goes on from its last look */
    for (int i = 0; i < STEPS; i++)
        CHECK_CODE(aclrtMemsetAsync(words + 4 * i, 4, 1, 4, origin), 0);
    aclmdlRI instance = end(origin);
    seen = 0;
    run(instance, launching);
    CHECK(seen == 0);
    sim_watcher_set(&watcher, true);
    run(instance, launching);
    sim_watcher_set(&watcher, false);
    CHECK(seen == STEPS);
    run(instance, launching);
    CHECK(seen == STEPS);
    switches = true;
    run(instance, launching);
    sim_watcher_set(&watcher, false);
    CHECK(seen > STEPS && seen <= 2 * STEPS && count == 4);
    switches = false;
    destroy(instance);
    CHECK_CODE(aclrtFree(words), 0);
}

static void tests(bool parallel)
{
    (void)parallel;
    make_streams();
    test_a_body_parks();
    test_a_loop_ends_by_the_other_branch(origin, other);
    test_a_loop_ends_by_the_other_branch(other, origin);
    test_a_body_is_dropped(false);
    test_a_body_is_dropped(true);
    test_slots_of_bodies();
    test_updates();
    test_watched_steps();
    destroy_streams();
}

int main(void)
{
    watch_dog(60);
    test_schedules(tests);
    return 0;
}
