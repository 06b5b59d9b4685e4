/* Aborts: what waiting hosts return, work that arrives during an abort, and aborts that race with each other and with
 * destruction. */
#include "address/memory.h"
#include "engine/context.h"
#include "engine/recovery.h"
#include "engine.h"

static aclrtContext context;

/* A thread that makes one call in the context of the test. */
struct caller {
    pthread_t thread;
    aclError (*call)(void *handle);
    void *handle;
    aclError code;
};

static void *make_call(void *argument)
{
    struct caller *caller = argument;
    CHECK_CODE(aclrtSetCurrentContext(context), 0);
    caller->code = caller->call(caller->handle);
    return NULL;
}

static void begin_call(struct caller *caller, aclError (*call)(void *handle), void *handle)
{
    *caller = (struct caller){.call = call, .handle = handle};
    caller->thread = start(make_call, caller);
}

static aclError end_call(struct caller *caller)
{
    pthread_join(caller->thread, NULL);
    return caller->code;
}

static struct sim_stream *stream_of(aclrtStream handle)
{
    return sim_table_find(&sim_streams, handle);
}

/* Returns when a thread waits at the stream's own gate. */
static void await_sleeper(aclrtStream handle)
{
    struct sim_gate *gate = &stream_of(handle)->st_gate;
    for (bool sleeps = false; !sleeps; sched_yield()) {
        sim_lock(&gate->gt_lock);
        sleeps = gate->gt_waiters != NULL;
        sim_unlock(&gate->gt_lock);
    }
}

static void await_abort(aclrtStream handle)
{
    while (!sim_stream_is_aborting(stream_of(handle)))
        sched_yield();
}

static aclError synchronize_device(void *unused)
{
    (void)unused;
    return aclrtSynchronizeDevice();
}

static aclError abort_device(void *unused)
{
    (void)unused;
    return aclrtDeviceTaskAbort(0, 0);
}

static struct {
    aclError (*abort)(void *stream);
    aclError code; /* that waiting hosts return */
} aborts[] = {{aclrtStreamAbort, ACL_ERROR_RT_STREAM_ABORT}, {abort_device, ACL_ERROR_RT_DEVICE_TASK_ABORT}};

static aclrtStream open_stream(void)
{
    aclrtStream stream;
    open_device("parallel");
    CHECK_CODE(aclrtGetCurrentContext(&context), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    return stream;
}

static void test_hosts_that_wait(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct caller caller;
        aclrtEvent event;
        aclrtStream stream = open_stream();
        CHECK_CODE(aclrtCreateEvent(&event), 0);
        struct {
            aclError (*wait)(void *handle);
            void *handle;
        } waits[] = {{aclrtSynchronizeStream, stream}, {aclrtSynchronizeEvent, event}, {synchronize_device, NULL}};
        for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
            CHECK_CODE(aclsimStreamHold(stream), 0);
            CHECK_CODE(aclrtRecordEvent(event, stream), 0);
            begin_call(&caller, waits[k].wait, waits[k].handle);
            await_sleeper(stream);
            CHECK_CODE(aborts[i].abort(stream), 0);
            CHECK_CODE(end_call(&caller), aborts[i].code);
            CHECK_CODE(waits[k].wait(waits[k].handle), 0);
        }
    }
}

/* A wait in slices begins with its first slice: an abort between two slices ends it. */
static void test_slices(void)
{
    for (size_t i = 0; i < 2; i++) {
        aclrtStream stream = open_stream();
        CHECK_CODE(aclsimStreamHold(stream), 0);
        CHECK(aclsimIsReady(ACLSIM_WAIT_STREAM, stream) == 0);
        CHECK(aclsimWaitSlice(ACLSIM_WAIT_STREAM, stream, 1, -1) == 0);
        CHECK_CODE(aborts[i].abort(stream), 0);
        CHECK(aclsimWaitSlice(ACLSIM_WAIT_STREAM, stream, 1, -1) != 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), aborts[i].code);
        CHECK_TEXT("was aborted");
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    }
}

static struct latch started = LATCH, may_end = LATCH;

static aclError run_until_told(void *argument)
{
    (void)argument;
    latch_open(&started);
    latch_wait(&may_end, 1);
    return ACL_SUCCESS;
}

static void test_while_a_task_runs(void)
{
    struct caller aborting, destroying;
    void *block;
    unsigned char data[32], expected[32];
    aclrtStream stream = open_stream();
    memset(expected, 1, sizeof expected);
    CHECK_CODE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(block, 32, 1, 32), 0);
    CHECK_CODE(aclsimLaunchTask(stream, run_until_told, NULL, NULL, 0, ACLSIM_TASK_WORKER), 0);
    latch_wait(&started, 1);
    begin_call(&aborting, aclrtStreamAbort, stream);
    await_abort(stream);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT);
    CHECK_CODE(aclrtMemsetAsync(block, 32, 2, 32, stream), 0);
    begin_call(&destroying, aclrtDestroyStream, stream);
    while (stream_of(stream) != NULL)
        sched_yield();
    CHECK_CODE(aclrtStreamAbort(stream), ACL_ERROR_RT_INVALID_HANDLE);
    latch_open(&may_end);
    CHECK_CODE(end_call(&aborting), 0);
    CHECK_CODE(end_call(&destroying), 0);
    CHECK_CODE(aclrtMemcpy(data, 32, block, 32, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(memcmp(data, expected, sizeof data) == 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0); /* the next stream in the slot */
    CHECK(!sim_stream_is_aborting(stream_of(stream)));
}

/* ---- aborts and work at the same time ---- */

#define ROUNDS (3000 * stress_factor())

static aclError keep_aborting(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        aclError code = i % 3 != 0 ? aclrtStreamAbort(NULL) : aclrtDeviceTaskAbort(0, 0);
        CHECK(code == 0 || code == ACL_ERROR_RT_DEVICE_TASK_ABORT);
    }
    return ACL_SUCCESS;
}

/* Work on the default stream uses the block that all threads share. */
static aclError keep_working(void *shared)
{
    void *own;
    CHECK_CODE(aclrtMalloc(&own, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        aclrtStream stream = NULL;
        aclError code = aclrtCreateStream(&stream);
        CHECK_CODE(code, 0);
        for (int k = 0; k < 4; k++) {
            code = k % 2 == 0 ? aclrtMemsetAsync(own, 32, k, 32, stream) : aclrtMemsetAsync(shared, 32, k, 32, NULL);
            CHECK(code == 0 || code == ACL_ERROR_RT_DEVICE_TASK_ABORT);
        }
        code = aclrtSynchronizeStream(i % 2 == 0 ? stream : NULL);
        CHECK(code == 0 || code == ACL_ERROR_RT_DEVICE_TASK_ABORT || code == ACL_ERROR_RT_STREAM_ABORT);
        do {
            code = aclrtDestroyStream(stream);
        } while (code == ACL_ERROR_RT_DEVICE_TASK_ABORT);
        CHECK_CODE(code, 0);
    }
    return aclrtFree(own);
}

static void test_aborts_meet_work(void)
{
    struct caller callers[4];
    void *block;
    aclrtStream stream = open_stream();
    CHECK_CODE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (int i = 0; i < 4; i++)
        begin_call(&callers[i], i < 2 ? keep_aborting : keep_working, block);
    for (int i = 0; i < 4; i++)
        CHECK_CODE(end_call(&callers[i]), 0);
    CHECK(!sim_stream_is_aborting(stream_of(stream)));
    CHECK_CODE(aclrtMemsetAsync(block, 32, 5, 32, NULL), 0);
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    unsigned char data[32];
    CHECK_CODE(aclrtMemcpy(data, 32, block, 32, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(data[0] == 5 && data[31] == 5);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* ---- after a task failed on a stream that stops on failure ---- */

static aclError fail(void *unused)
{
    (void)unused;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* Only new work is refused: captures can end, and streams with queued work can be stopped, aborted and destroyed. */
static void test_a_stopped_context(void)
{
    void *block;
    unsigned char data[4] = {0};
    aclmdlRI instance;
    aclrtStream recorded, queued, made, stream = open_stream();
    CHECK_CODE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(block, 32, 1, 32), 0);
    CHECK_CODE(aclrtCreateStream(&recorded), 0);
    CHECK_CODE(aclmdlRICaptureBegin(recorded, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    CHECK_CODE(aclrtCreateStream(&queued), 0);
    CHECK_CODE(aclsimStreamHold(queued), 0);
    CHECK_CODE(aclrtMemsetAsync(block, 32, 5, 32, queued), 0);
    CHECK_CODE(aclrtSetStreamFailureMode(stream, 1), 0);
    CHECK_CODE(aclsimLaunchTask(stream, fail, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclrtMemsetAsync(block, 32, 5, 32, queued), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclrtCreateStream(&made), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclmdlRICaptureEnd(recorded, &instance), 0);
    CHECK_CODE(aclrtStreamStop(queued), 0);
    CHECK_CODE(aclrtStreamAbort(queued), 0);
    CHECK_CODE(aclrtDestroyStream(queued), 0);
    CHECK_CODE(aclrtDestroyStreamForce(recorded), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(data, 4, block, 4, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(data[0] == 1); /* the set was discarded */
    CHECK_CODE(aclrtResetDeviceForce(0), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&made), 0);
}

int main(void)
{
    watch_dog(120);
    test_hosts_that_wait();
    test_slices();
    test_while_a_task_runs();
    test_aborts_meet_work();
    test_a_stopped_context();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
