/* Captures and replays that end early: destroyed streams, contexts and devices, failures that stop a context, forks. */
#include "base/config.h"
#include "capture.h"
#include <sys/wait.h>

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* An instance of two branches, each of which waits for an event that is recorded outside. */
struct pair {
    aclmdlRI instance;
    aclrtStream streams[2], launching, outside[2];
    aclrtEvent events[2];
    struct latch ran[2];
    struct line last;
};

static void capture_pair(struct pair *pair)
{
    *pair = (struct pair){.ran = {LATCH, LATCH}};
    pair->launching = make_stream();
    for (int i = 0; i < 2; i++) {
        pair->streams[i] = make_stream();
        pair->outside[i] = make_stream(); /* created last, so that a closing context destroys it first */
        pair->events[i] = ex_event();
    }
    begin(pair->streams[0]);
    link_streams(pair->streams[0], pair->streams[1]);
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclrtStreamWaitEventWithFlag(pair->streams[i], pair->events[i], 0, ACL_EVENT_WAIT_EXTERNAL), 0);
        launch(pair->streams[i], open_latch, &pair->ran[i], 0);
    }
    link_streams(pair->streams[1], pair->streams[0]);
    launch(pair->streams[0], note, &pair->last, 0);
    pair->instance = end(pair->streams[0]);
}

/* Records the events that the next replay waits for, on streams that are held. */
static void hold_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclsimStreamHold(pair->outside[i]), 0);
        CHECK_CODE(aclrtRecordEventWithFlag(pair->events[i], pair->outside[i], ACL_EVENT_RECORD_DEFAULT), 0);
    }
}

/* Starts a replay on the stream, and returns when it waits in both branches. */
static void park_pair(struct pair *pair, aclrtStream stream)
{
    hold_pair(pair);
    execute(pair->instance, stream);
    await_parked(target_of(stream).tg_stream);
    await_parked(branch_stream(pair->instance, 0));
}

static void release_branch(struct pair *pair, int branch)
{
    CHECK_CODE(aclsimStreamRelease(pair->outside[branch]), 0);
    CHECK_CODE(aclrtSynchronizeStream(pair->outside[branch]), 0);
}

static void release_pair(struct pair *pair)
{
    release_branch(pair, 0);
    release_branch(pair, 1);
}

static void free_pair(struct pair *pair)
{
    destroy(pair->instance);
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclrtDestroyStream(pair->streams[i]), 0);
        CHECK_CODE(aclrtDestroyStream(pair->outside[i]), 0);
        CHECK_CODE(aclrtDestroyEvent(pair->events[i]), 0);
    }
    CHECK_CODE(aclrtDestroyStream(pair->launching), 0);
}

/* ---- the stream of the replay is destroyed ---- */

/* The stream is destroyed by force while both branches wait (gone is -1), or after branch `gone` has continued. */
static void test_the_launch_stream_goes(int gone)
{
    struct pair pair;
    capture_pair(&pair);
    aclrtStream doomed = make_stream();
    park_pair(&pair, doomed);
    execute(pair.instance, doomed);
    execute(pair.instance, pair.launching);
    if (gone >= 0) {
        release_branch(&pair, gone);
        latch_wait(&pair.ran[gone], 1);
    }
    CHECK_CODE(aclrtDestroyStreamForce(doomed), 0);
    for (int i = 0; i < 2; i++) {
        if (i != gone)
            release_branch(&pair, i);
    }
    CHECK_CODE(aclrtSynchronizeStream(pair.launching), 0);
    CHECK(pair.last.begun == 1);
    for (int i = 0; i < 2; i++)
        CHECK(latch_count(&pair.ran[i]) == 1u + (i == gone));
    free_pair(&pair);
}

/* A helper is inside a task when the stream is destroyed. The failure of that task must not reach the next stream in
 * the slot. */
static aclError block_and_fail(void *argument)
{
    block(argument);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static void test_a_late_failure_blames_nobody(void)
{
    struct blocker blocker = BLOCKER;
    aclrtEvent flag;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_EXTERNAL), 0);
    make_streams();
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtStreamWaitEvent(other, flag), 0);
    launch(origin, block_and_fail, &blocker, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    aclrtStream doomed = make_stream();
    execute(instance, doomed);
    latch_wait(&blocker.begun, 1);
    await_parked(target_of(doomed).tg_stream);
    struct sim_stream *slot = target_of(doomed).tg_stream;
    CHECK_CODE(aclrtDestroyStreamForce(doomed), 0);
    aclrtStream next = make_stream();
    CHECK(target_of(next).tg_stream == slot);
    latch_open(&blocker.let);
    destroy(instance);
    CHECK_CODE(aclrtSynchronizeStream(next), 0);
    CHECK_CODE(aclrtDestroyStream(next), 0);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
    destroy_streams();
}

/* The branches wait for events that are never recorded; they end with the replay. */
static void test_branches_that_wait_for_ever(void)
{
    aclrtEvent flag;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_EXTERNAL), 0);
    make_streams();
    begin(origin);
    link_streams(origin, other);
    link_streams(origin, third);
    CHECK_CODE(aclrtStreamWaitEvent(origin, flag), 0);
    CHECK_CODE(aclrtStreamWaitEvent(other, flag), 0);
    CHECK_CODE(aclrtStreamWaitEvent(third, flag), 0);
    link_streams(other, origin);
    link_streams(third, origin);
    aclmdlRI instance = end(origin);
    aclrtStream doomed = make_stream();
    execute(instance, doomed);
    await_parked(target_of(doomed).tg_stream);
    await_parked(branch_stream(instance, 0));
    await_parked(branch_stream(instance, 1));
    CHECK_CODE(aclrtDestroyStreamForce(doomed), 0);
    destroy(instance);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
    destroy_streams();
}

/* If a replay ends before it reaches a record, streams outside that wait for the record are released. */
static void test_records_that_are_not_reached(bool starts)
{
    struct line outer = {0, {NULL}};
    struct blocker blocker = BLOCKER;
    aclrtEvent event = ex_event();
    make_streams();
    begin(origin);
    CHECK_CODE(aclrtLaunchHostFunc(origin, block_host, &blocker), 0);
    CHECK_CODE(aclrtRecordEventWithFlag(event, origin, ACL_EVENT_RECORD_EXTERNAL), 0);
    aclmdlRI instance = end(origin);
    aclrtStream doomed = make_stream();
    if (!starts)
        CHECK_CODE(aclsimStreamHold(doomed), 0);
    execute(instance, doomed);
    CHECK_CODE(aclrtStreamWaitEventWithFlag(third, event, 0, ACL_EVENT_WAIT_DEFAULT), 0);
    launch(third, note, &outer, 0);
    if (starts)
        latch_wait(&blocker.begun, 1);
    CHECK_CODE(aclrtDestroyStreamForce(doomed), 0);
    CHECK_CODE(aclrtSynchronizeStream(third), 0);
    CHECK(outer.begun == 1);
    latch_open(&blocker.let);
    run(instance, launching);
    destroy(instance);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    destroy_streams();
}

/* ---- the instance is destroyed ---- */

static void *destroy_it(void *argument)
{
    struct waiter *waiter = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&waiter->sleeper);
    waiter->code = aclmdlRIDestroy(waiter->stream);
    return NULL;
}

/* Destroying an instance waits for its replay for a limited time, and fails without effect if that is too short. */
static void test_destroying_waits(void)
{
    struct pair pair;
    uint64_t patience = sim_capture_patience;
    capture_pair(&pair);
    park_pair(&pair, pair.launching);
    sim_capture_patience = 1000000;
    CHECK_CODE(aclmdlRIDestroy(pair.instance), ACL_ERROR_RT_MODEL_RUNNING);
    sim_capture_patience = patience;
    release_pair(&pair);
    CHECK_CODE(aclrtSynchronizeStream(pair.launching), 0);
    CHECK(pair.last.begun == 1);
    park_pair(&pair, pair.launching);
    struct waiter waiter = {.stream = pair.instance};
    pthread_t thread = start(destroy_it, &waiter);
    await_asleep(&waiter.sleeper);
    CHECK(sim_table_find(&sim_capture_instances, pair.instance) != NULL);
    release_pair(&pair);
    CHECK_CODE(aclrtSynchronizeStream(pair.launching), 0);
    pthread_join(thread, NULL);
    CHECK_CODE(waiter.code, 0);
    CHECK(pair.last.begun == 2);
    free_pair(&pair);
}

/* ---- contexts and devices are destroyed ---- */

/* Opens a capture, a condition, a body, a task group and a build at the same time. */
static void open_captures(void)
{
    aclmdlRI instance, bodies[2];
    aclmdlRICondHandle condition;
    aclrtStream streams[3] = {make_stream(), make_stream(), make_stream()};
    aclrtEvent event = ex_event();
    begin(streams[0]);
    link_streams(streams[0], streams[1]);
    CHECK_CODE(aclrtStreamWaitEvent(streams[1], event), 0);
    CHECK_CODE(aclrtLaunchHostFunc(streams[1], note_host, NULL), 0);
    CHECK_CODE(aclrtRecordEventWithFlag(ex_event(), streams[1], ACL_EVENT_RECORD_EXTERNAL), 0);
    CHECK_CODE(aclmdlRICaptureGetInfo(streams[0], NULL, &instance), 0);
    CHECK_CODE(aclmdlRICondHandleCreate(instance, 0, 0, &condition), 0);
    aclmdlRICondTaskParams parameters = {condition, ACL_MODEL_RI_COND_TYPE_IF, 2, bodies};
    CHECK_CODE(aclmdlRIAddCondTask(parameters, streams[0], 0), 0);
    CHECK_CODE(aclmdlRICaptureToModelRIBegin(streams[2], bodies[1], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    launch(streams[2], do_nothing, NULL, 0);
    CHECK_CODE(aclmdlRICaptureTaskGrpBegin(streams[0]), 0);
    launch(streams[0], do_nothing, NULL, 0);
    aclrtStream persistent;
    CHECK_CODE(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT), 0);
    CHECK_CODE(aclmdlRIBuildBegin(&instance, 0), 0);
    CHECK_CODE(aclmdlRIBindStream(instance, persistent, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    launch(persistent, do_nothing, NULL, 0);
}

static struct pair left;

/* Leaves instances that are not destroyed: idle, being updated by a stream, queued, and in the middle of a replay. */
static void leave_instances(bool parked)
{
    aclrtTaskGrp group;
    aclrtStream origin = make_stream(), updating = make_stream(), held = make_stream();
    begin(origin);
    CHECK_CODE(aclmdlRICaptureTaskGrpBegin(origin), 0);
    launch(origin, do_nothing, NULL, 0);
    CHECK_CODE(aclmdlRICaptureTaskGrpEnd(origin, &group), 0);
    aclmdlRI instance = end(origin);
    CHECK_CODE(aclsimStreamHold(held), 0);
    execute(instance, held);
    CHECK_CODE(aclsimStreamHold(updating), 0);
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(updating, group), 0);
    launch(updating, do_nothing, NULL, 0);
    capture_pair(&left);
    if (parked)
        park_pair(&left, left.launching);
}

enum way { DESTROY_CONTEXT, RESET_DEVICE, RESET_DEVICE_FORCE, RESET_SIMULATOR, WAYS };

static void go(enum way way, aclrtContext context)
{
    switch (way) {
    case DESTROY_CONTEXT:
        CHECK_CODE(aclrtDestroyContext(context), 0);
        CHECK_CODE(aclrtSetDevice(0), 0);
        CHECK_CODE(aclrtResetDevice(0), 0);
        CHECK_CODE(aclrtResetDevice(0), 0);
        break;
    case RESET_DEVICE:
        CHECK_CODE(aclrtResetDevice(0), 0);
        break;
    case RESET_DEVICE_FORCE:
        CHECK_CODE(aclrtResetDeviceForce(0), 0);
        break;
    default:
        CHECK_CODE(aclsimReset(), 0);
    }
    check_nothing_left(0);
}

static aclrtContext enter(enum way way, const char *schedule)
{
    aclrtContext context = NULL;
    open_device(schedule);
    if (way != RESET_DEVICE && way != RESET_DEVICE_FORCE)
        CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    return context;
}

static void test_everything_goes(const char *schedule)
{
    for (int way = 0; way < WAYS; way++) {
        aclrtContext context = enter(way, schedule);
        open_captures();
        go(way, context);
        for (int parked = 0; parked < 2; parked++) {
            context = enter(way, schedule);
            leave_instances(parked);
            go(way, context);
        }
    }
}

/* aclmdlRIExecute uses a stream of its own, on which the replay continues after the time-out. */
static void test_a_synchronous_run_is_left(const char *schedule, bool run_ends)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    capture_pair(&left);
    hold_pair(&left);
    /* CANN 9.0 is the last version in which aclmdlRIExecute accepts captured instances, but it lacks the functions that
     * captured this one: so the version is changed in between. */
    struct sim_config *config = (struct sim_config *)(uintptr_t)sim_config();
    uint32_t cann = config->cf_cann;
    config->cf_cann = 900;
    CHECK_CODE(aclmdlRIExecute(left.instance, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    if (run_ends) {
        release_pair(&left);
        CHECK_CODE(aclmdlRIExecute(left.instance, -1), 0);
        CHECK(left.last.begun == 2);
    }
    config->cf_cann = cann;
    CHECK_CODE(aclsimReset(), 0);
    check_nothing_left(0);
}

/* ---- a failure stops the context ---- */

static aclError fail(void *unused)
{
    (void)unused;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static void test_a_failure_stops_all(const char *schedule)
{
    aclrtContext context;
    open_device(schedule);
    uint32_t streams = live(&sim_streams);
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    struct pair pair;
    capture_pair(&pair);
    park_pair(&pair, pair.launching);
    execute(pair.instance, pair.launching);
    execute(pair.instance, pair.streams[0]);
    aclrtStream failing = make_stream();
    CHECK_CODE(aclrtSetStreamFailureMode(failing, 1), 0);
    launch(failing, fail, NULL, 0);
    CHECK_CODE(aclrtSynchronizeStream(failing), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclrtSynchronizeStream(pair.launching), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclmdlRIDestroy(pair.instance), 0);
    CHECK(pair.last.begun == 0);
    CHECK_CODE(aclrtDestroyContext(context), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    check_nothing_left(streams);
    CHECK_CODE(aclsimReset(), 0);
}

/* One branch fails, while the other waits for an event that is never recorded. */
static void test_a_failing_branch_stops_all(const char *schedule)
{
    aclrtContext context;
    open_device(schedule);
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    aclrtStream origin = make_stream(), other = make_stream(), launching = make_stream();
    aclrtEvent flag;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_EXTERNAL), 0);
    CHECK_CODE(aclrtSetStreamFailureMode(launching, 1), 0);
    begin(origin);
    link_streams(origin, other);
    CHECK_CODE(aclrtStreamWaitEvent(other, flag), 0);
    launch(origin, fail, NULL, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    CHECK_CODE(aclsimStreamHold(launching), 0);
    execute(instance, launching);
    execute(instance, launching);
    CHECK_CODE(aclsimStreamRelease(launching), 0);
    CHECK_CODE(aclrtSynchronizeStream(launching), ACL_ERROR_RT_AICORE_EXCEPTION);
    destroy(instance);
    CHECK_CODE(aclrtDestroyContext(context), 0);
    CHECK_CODE(aclsimReset(), 0);
    check_nothing_left(0);
}

/* ---- forks ---- */

static void be_child(struct pair *pair, aclrtStream capturing)
{
    aclmdlRICaptureStatus status;
    struct line line = {0, {NULL}};
    watch_dog(30);
    CHECK_CODE(aclmdlRICaptureGetInfo(capturing, &status, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(pair->instance, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclmdlRIDestroy(pair->instance), 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    aclrtStream fresh = make_stream(), other = make_stream();
    begin(fresh);
    link_streams(fresh, other);
    launch(other, note, &line, ACLSIM_TASK_WORKER);
    link_streams(other, fresh);
    aclmdlRI instance = end(fresh);
    run(instance, fresh);
    run(instance, other);
    CHECK(line.begun == 2);
    destroy(instance);
    CHECK_CODE(aclrtResetDevice(0), 0);
    check_nothing_left(0);
    _exit(0);
}

/* Forks in the middle of a capture and of a replay. */
static void test_forks(void)
{
    struct pair pair;
    struct line line = {0, {NULL}};
    open_device("parallel");
    capture_pair(&pair);
    park_pair(&pair, pair.launching);
    aclrtStream capturing = make_stream();
    begin(capturing);
    launch(capturing, note, &line, 0);
    await_idle();
    for (int i = 0; i < 4; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            be_child(&pair, capturing);
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    aclmdlRI instance = end(capturing);
    run(instance, capturing);
    CHECK(line.begun == 1);
    release_pair(&pair);
    CHECK_CODE(aclrtSynchronizeStream(pair.launching), 0);
    CHECK(pair.last.begun == 1);
    CHECK_CODE(aclsimReset(), 0);
    check_nothing_left(0);
}

static void tests(bool parallel)
{
    for (int gone = -1; gone < 2; gone++)
        test_the_launch_stream_goes(gone);
    if (parallel)
        test_a_late_failure_blames_nobody();
    test_branches_that_wait_for_ever();
    test_records_that_are_not_reached(false);
    test_records_that_are_not_reached(true);
    test_destroying_waits();
}

int main(void)
{
    static const char *const schedules[] = {"parallel", "eager"};
    watch_dog(60);
    test_schedules(tests);
    for (int i = 0; i < 2; i++) {
        test_everything_goes(schedules[i]);
        test_a_synchronous_run_is_left(schedules[i], true);
        test_a_synchronous_run_is_left(schedules[i], false);
        test_a_failure_stops_all(schedules[i]);
        test_a_failing_branch_stops_all(schedules[i]);
    }
    test_forks();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
