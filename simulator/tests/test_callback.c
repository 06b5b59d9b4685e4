/* Callbacks from C: order, blocking, host functions, exceptions, streams destroyed with pending calls, many threads. */
#include "check.h"
#include "engine/stream.h"
#include <acl/acl_sim.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STREAMS 8
#define ROUNDS 200

static uint64_t self(void)
{
    return (uint64_t)pthread_self();
}

/* A thread that serves callbacks until a callback stops it. */
struct server {
    pthread_t thread;
    atomic_bool stop;
};

static void *serve(void *argument)
{
    struct server *server = argument;
    while (!atomic_load(&server->stop)) {
        aclError code = aclrtProcessReport(1000);
        CHECK(code == 0 || code == ACL_ERROR_RT_REPORT_TIMEOUT || code == ACL_ERROR_RT_THREAD_SUBSCRIBE);
    }
    return NULL;
}

static void stop_serving(void *argument)
{
    atomic_store(&((struct server *)argument)->stop, true);
}

static void start(struct server *server)
{
    atomic_store(&server->stop, false);
    CHECK(pthread_create(&server->thread, NULL, serve, server) == 0);
}

static void finish(struct server *server, aclrtStream stream)
{
    CHECK_CODE(aclrtLaunchCallback(stop_serving, server, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    pthread_join(server->thread, NULL);
}

/* The tasks and callbacks of a stream append to a log. */
struct log {
    int count;
    int entries[3 * ROUNDS];
};
struct note {
    struct log *log;
    int value;
};

static void write_note(void *argument)
{
    struct note *note = argument;
    note->log->entries[note->log->count++] = note->value;
}

static aclError write_note_as_task(void *argument)
{
    write_note(argument);
    return 0;
}

static void test_codes(void)
{
    aclrtStream stream, host;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtCreateStream(&host), 0);
    CHECK_CODE(aclrtProcessReport(0), 100000);
    CHECK_TEXT("timeout is 0");
    CHECK_CODE(aclrtProcessReport(-2), 100000);
    CHECK_CODE(aclrtProcessReport(-1), 107012);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107012);
    CHECK_CODE(aclrtLaunchCallback(stop_serving, NULL, (aclrtCallbackBlockType)2, stream), 100000);
    CHECK_CODE(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), 107000);
    CHECK_CODE(aclrtLaunchCallback(stop_serving, NULL, ACL_CALLBACK_BLOCK, stream), 107015);
    CHECK_CODE(aclrtUnSubscribeReport(self(), stream), 107011);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self() + 1, stream), 107011);
    CHECK_CODE(aclrtLaunchHostFunc(stream, write_note, NULL), 107011);
    CHECK_CODE(aclrtUnSubscribeReport(self() + 1, stream), 107012);
    CHECK_CODE(aclrtProcessReport(1), 507012);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 507012);
    CHECK_CODE(aclrtUnSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtProcessReport(1), 107012);

    struct log log = {0};
    struct note note = {&log, 1};
    CHECK_CODE(aclrtLaunchHostFunc(host, NULL, NULL), 107000);
    CHECK_CODE(aclrtLaunchHostFunc(host, write_note, &note), 0);
    CHECK_CODE(aclrtSynchronizeStream(host), 0);
    CHECK(log.count == 1);
    CHECK_CODE(aclrtSubscribeReport(self(), host), 107011);
    CHECK_CODE(aclrtUnSubscribeReport(self(), host), 107011);
    CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, host), 107011);
    CHECK_CODE(aclrtDestroyStream(host), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 107017);
    CHECK_CODE(aclrtLaunchHostFunc(stream, write_note, &note), 107017);
    uint32_t task;
    CHECK_CODE(aclrtGetThreadLastTaskId(NULL), 100000);
    CHECK_CODE(aclrtGetThreadLastTaskId(&task), 0);
}

/* Tasks and blocking callbacks of one stream run in the order of submission. */
static void test_order(void)
{
    aclrtStream stream;
    struct server server;
    static struct log log;
    static struct note notes[3 * ROUNDS];
    log.count = 0;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    start(&server);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)server.thread, stream), 0);
    for (int i = 0; i < 3 * ROUNDS; i++) {
        notes[i] = (struct note){&log, i};
        CHECK_CODE(i % 3 == 1 ? aclrtLaunchCallback(write_note, &notes[i], ACL_CALLBACK_BLOCK, stream)
                              : aclsimLaunchTask(stream, write_note_as_task, &notes[i], NULL, 0, ACLSIM_TASK_LIGHT),
                   0);
    }
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(log.count == 3 * ROUNDS);
    for (int i = 0; i < log.count; i++)
        CHECK(log.entries[i] == i);
    finish(&server, stream);
    CHECK_CODE(aclrtUnSubscribeReport((uint64_t)server.thread, stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A callback that is not served yet holds back the rest of its stream, unless it was launched without blocking. */
static void test_blocking(void)
{
    aclrtStream stream;
    aclrtStreamStatus status;
    struct log log = {0};
    struct note called = {&log, 1}, after = {&log, 2};
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtLaunchCallback(write_note, &called, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclsimLaunchTask(stream, write_note_as_task, &after, NULL, 0, ACLSIM_TASK_LIGHT), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
    CHECK(log.count == 0);
    CHECK_CODE(aclrtStreamQuery(stream, &status), 0);
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    CHECK_CODE(aclrtProcessReport(-1), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(log.count == 2 && log.entries[0] == 1 && log.entries[1] == 2);

    log.count = 0;
    CHECK_CODE(aclrtLaunchCallback(write_note, &called, ACL_CALLBACK_NO_BLOCK, stream), 0);
    CHECK_CODE(aclsimLaunchTask(stream, write_note_as_task, &after, NULL, 0, ACLSIM_TASK_LIGHT), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(log.count == 1 && log.entries[0] == 2);
    CHECK_CODE(aclrtProcessReport(-1), 0);
    CHECK(log.count == 2 && log.entries[1] == 1);

    /* A callback that reached its thread's queue before the stream was destroyed is still called. */
    CHECK_CODE(aclrtLaunchCallback(write_note, &called, ACL_CALLBACK_NO_BLOCK, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtProcessReport(-1), 0);
    CHECK(log.count == 3);
    CHECK_CODE(aclrtProcessReport(-1), 107012);
}

static aclError note_thread(void *thread)
{
    *(uint64_t *)thread = self();
    return 0;
}

/* Waits until the stream is parked for a callback, and no thread that runs it is on its way there. */
static void await_callback(aclrtStream handle)
{
    struct sim_target target;
    CHECK_CODE(sim_stream_find(handle, &target), 0);
    struct sim_stream *stream = target.tg_stream;
    for (bool parked = false; !parked; sched_yield()) {
        sim_lock(&stream->st_returned.gt_lock);
        parked = stream->st_returned.gt_waiters != NULL;
        sim_unlock(&stream->st_returned.gt_lock);
    }
}

static void *synchronise(void *stream)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    return NULL;
}

/* The thread that makes a stream's callbacks also runs the light tasks between them, so that no thread needs to be
 * woken for them. A host that sleeps meanwhile is woken for a task that this thread leaves to others. */
static void test_serving(void)
{
    static uint64_t threads[ROUNDS], last;
    pthread_t host;
    aclrtStream stream;
    struct log log = {0};
    struct note note = {&log, 1};
    last = 0;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    for (int i = 0; i < ROUNDS; i++) {
        threads[i] = 0;
        CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, stream), 0);
        CHECK_CODE(aclsimLaunchTask(stream, note_thread, &threads[i], NULL, 0, ACLSIM_TASK_LIGHT), 0);
    }
    CHECK_CODE(aclsimLaunchTask(stream, note_thread, &last, NULL, 0, 0), 0);
    CHECK(pthread_create(&host, NULL, synchronise, stream) == 0);
    await_callback(stream);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(log.count == i);
        CHECK_CODE(aclrtProcessReport(-1), 0);
        CHECK(threads[i] == self());
    }
    pthread_join(host, NULL);
    CHECK(log.count == ROUNDS && last != 0 && last != self());
    CHECK_CODE(aclrtUnSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A stream is destroyed, or its thread unsubscribes, before its callback was called. */
static void test_pending(void)
{
    aclrtStream stream;
    struct log log = {0};
    struct note note = {&log, 1};
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
    CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    CHECK_CODE(aclrtProcessReport(1), 107012);
    CHECK(log.count == 0);

    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclrtUnSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 107015);
    CHECK_TEXT("aclrtLaunchCallback");
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* The host functions of all streams of a context run on one thread, and may call every function. */
struct visit {
    aclrtContext context;
    aclrtStream stream, sibling;
    uint64_t thread;
    struct note note; /* for the task that it submits */
    aclError sync_self;
    char text[1024];
};

static void look_around(void *argument)
{
    struct visit *visit = argument;
    visit->thread = self();
    CHECK_CODE(aclrtSetCurrentContext(visit->context), 0);
    CHECK_CODE(aclrtSynchronizeStream(visit->sibling), 0);
    visit->sync_self = aclrtSynchronizeStream(visit->stream);
    const char *text = aclGetRecentErrMsg();
    snprintf(visit->text, sizeof visit->text, "%s", text != NULL ? text : "");
    CHECK_CODE(aclsimLaunchTask(visit->sibling, write_note_as_task, &visit->note, NULL, 0, ACLSIM_TASK_LIGHT), 0);
    CHECK_CODE(aclrtSynchronizeStream(visit->sibling), 0);
}

static void test_host_functions(void)
{
    struct visit visits[2] = {0};
    aclrtStream streams[2];
    aclrtContext context;
    struct log log = {0};
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtCreateStream(&streams[i]), 0);
    for (int i = 0; i < 2; i++) {
        visits[i] = (struct visit){.context = context, .stream = streams[i], .sibling = streams[1 - i],
                                   .note = {&log, i}};
        CHECK_CODE(aclrtLaunchHostFunc(streams[i], look_around, &visits[i]), 0);
        CHECK_CODE(aclrtSynchronizeStream(streams[i]), 0);
        CHECK(visits[i].sync_self == 507000 && strstr(visits[i].text, "deadlock") != NULL);
    }
    CHECK(visits[0].thread == visits[1].thread && visits[0].thread != self());
    CHECK(log.count == 2 && log.entries[1] == 1);
    CHECK_CODE(aclrtDestroyContext(context), 0); /* ends the thread */
    CHECK_CODE(aclrtSetDevice(0), 0);
}

static aclError fail_task(void *argument)
{
    (void)argument;
    return 507015;
}

static _Atomic uint32_t seen_code, seen_task, seen_stream, seen_device, seen_thread, seen_count;
static aclrtExceptionInfo *_Atomic seen_info;

static void see(aclrtExceptionInfo *info)
{
    seen_code = aclrtGetErrorCodeFromExceptionInfo(info);
    seen_task = aclrtGetTaskIdFromExceptionInfo(info);
    seen_stream = aclrtGetStreamIdFromExceptionInfo(info);
    seen_device = aclrtGetDeviceIdFromExceptionInfo(info);
    seen_thread = aclrtGetThreadIdFromExceptionInfo(info);
    seen_info = info;
    seen_count++;
}

static void see_too(aclrtExceptionInfo *info)
{
    void *args;
    uint32_t length;
    aclrtFuncHandle function;
    CHECK_CODE(aclrtGetArgsFromExceptionInfo(info, NULL, &length), 100000);
    CHECK_CODE(aclrtGetArgsFromExceptionInfo(info, &args, NULL), 100000);
    CHECK_CODE(aclrtGetArgsFromExceptionInfo(info, &args, &length), -1);
    CHECK_CODE(aclrtGetFuncHandleFromExceptionInfo(info, NULL), 100000);
    CHECK_CODE(aclrtGetFuncHandleFromExceptionInfo(info, &function), -1);
    seen_count++;
}

static void test_exceptions(void)
{
    aclrtStream stream;
    int32_t id;
    uint32_t task;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtStreamGetId(stream, &id), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackRegister(NULL), 107000);
    CHECK_CODE(aclrtExceptionInfoCallbackUnregister(NULL), 107000);
    CHECK_CODE(aclrtExceptionInfoCallbackUnregister(see), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackRegister(see), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackRegister(see), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackRegister(see_too), 0);
    CHECK_CODE(aclsimLaunchTask(stream, fail_task, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtGetThreadLastTaskId(&task), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 507015);
    CHECK(seen_count == 2 && seen_code == 507015 && seen_device == 0 && seen_task == task);
    CHECK(seen_stream == (uint32_t)id && seen_thread != 0 && seen_thread != UINT32_MAX);
    CHECK(aclrtGetErrorCodeFromExceptionInfo(NULL) == UINT32_MAX);
    CHECK(aclrtGetErrorCodeFromExceptionInfo(seen_info) == UINT32_MAX); /* valid only during the callback */
    CHECK_CODE(aclrtGetArgsFromExceptionInfo(NULL, NULL, NULL), -1);

    CHECK_CODE(aclrtSetExceptionInfoCallback(see), 0); /* registered in both ways, and called twice */
    CHECK_CODE(aclsimLaunchTask(stream, fail_task, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 507015);
    CHECK(seen_count == 5);
    CHECK_CODE(aclrtSetExceptionInfoCallback(NULL), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackUnregister(see), 0);
    CHECK_CODE(aclrtExceptionInfoCallbackUnregister(see_too), 0);
    CHECK_CODE(aclsimLaunchTask(stream, fail_task, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 507015);
    CHECK(seen_count == 5);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

static int32_t on_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *args)
{
    (void)device, (void)stage, (void)timeout, (void)args;
    return 0;
}

static uint32_t on_snapshot(int32_t device, void *args)
{
    (void)device, (void)args;
    return 0;
}

static void test_registries(void)
{
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback(NULL, on_abort, NULL), 100000);
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback("a", on_abort, NULL), 0);
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback("a", on_abort, NULL), 107000);
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback("a", NULL, NULL), 0);
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback("a", NULL, NULL), 0);
    CHECK_CODE(aclrtSetDeviceTaskAbortCallback("a", on_abort, NULL), 0);
    CHECK_CODE(aclrtSnapShotCallbackRegister((aclrtSnapShotStage)6, on_snapshot, NULL), 107000);
    CHECK_CODE(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, NULL, NULL), 107000);
    CHECK_CODE(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, on_snapshot, NULL), 0);
    CHECK_CODE(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, on_snapshot, NULL), 507913);
    CHECK_CODE(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_UNLOCK_POST, on_snapshot, NULL), 0);
    CHECK_CODE(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_BACKUP_PRE, on_snapshot), 107000);
    CHECK_CODE(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, on_snapshot), 0);
    CHECK_CODE(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, on_snapshot), 107000);
    CHECK_CODE(aclrtSubscribeHostFunc(0, NULL), 207000);
    CHECK_CODE(aclrtProcessHostFunc(-1), 207000);
    CHECK_CODE(aclrtUnSubscribeHostFunc(0, NULL), 207000);
}

/* Many threads launch callbacks on many streams that one thread serves; each stream keeps its order. */
struct producer {
    pthread_t thread;
    aclrtStream stream;
    struct log log;
    struct note notes[ROUNDS];
    uint64_t server;
};

static void *produce(void *argument)
{
    struct producer *producer = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&producer->stream), 0);
    CHECK_CODE(aclrtSubscribeReport(producer->server, producer->stream), 0);
    for (int i = 0; i < ROUNDS; i++) {
        producer->notes[i] = (struct note){&producer->log, i};
        CHECK_CODE(aclrtLaunchCallback(write_note, &producer->notes[i],
                                       i % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, producer->stream), 0);
    }
    CHECK_CODE(aclrtSynchronizeStream(producer->stream), 0); /* the last one blocks */
    CHECK(producer->log.count == ROUNDS);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(producer->log.entries[i] == i);
    CHECK_CODE(aclrtUnSubscribeReport(producer->server, producer->stream), 0);
    CHECK_CODE(aclrtDestroyStream(producer->stream), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

static void test_many_threads(void)
{
    static struct producer producers[STREAMS];
    struct server server;
    aclrtStream last;
    start(&server);
    CHECK_CODE(aclrtCreateStream(&last), 0);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)server.thread, last), 0);
    for (int i = 0; i < STREAMS; i++) {
        producers[i].log.count = 0;
        producers[i].server = (uint64_t)server.thread;
        CHECK(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0);
    }
    for (int i = 0; i < STREAMS; i++)
        pthread_join(producers[i].thread, NULL);
    finish(&server, last);
    CHECK_CODE(aclrtDestroyStream(last), 0);
}

static void *wait_for_reports(void *code)
{
    *(aclError *)code = aclrtProcessReport(-1);
    return NULL;
}

struct teardown {
    aclrtContext context;
    aclrtStream stream;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool over;
};

static void tear_down(void *argument)
{
    struct teardown *teardown = argument;
    CHECK_CODE(aclsimReset(), 507000);
    CHECK_CODE(aclrtSetCurrentContext(teardown->context), 0);
    CHECK_CODE(aclrtDestroyStream(teardown->stream), 507000);
    CHECK_CODE(aclrtDestroyStreamForce(teardown->stream), 0);
    CHECK_CODE(aclrtDestroyContext(teardown->context), 0);
    pthread_mutex_lock(&teardown->lock);
    teardown->over = true;
    pthread_cond_signal(&teardown->done);
    pthread_mutex_unlock(&teardown->lock);
}

/* A host function may destroy its stream by force, and then the context whose thread runs it. */
static void test_end_inside(void)
{
    struct teardown teardown = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    CHECK_CODE(aclrtCreateContext(&teardown.context, 0), 0);
    CHECK_CODE(aclrtCreateStream(&teardown.stream), 0);
    CHECK_CODE(aclrtLaunchHostFunc(teardown.stream, tear_down, &teardown), 0);
    pthread_mutex_lock(&teardown.lock);
    while (!teardown.over)
        pthread_cond_wait(&teardown.done, &teardown.lock);
    pthread_mutex_unlock(&teardown.lock);
    CHECK_CODE(aclrtSetCurrentContext(teardown.context), 107000);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* aclsimReset wakes the threads that wait for callbacks, and ends all threads. */
static void test_reset(void)
{
    aclrtStream stream;
    pthread_t thread;
    aclError code = 0;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK(pthread_create(&thread, NULL, wait_for_reports, &code) == 0);
    pthread_join(thread, NULL);
    CHECK(code == 107012);
    struct server server;
    start(&server);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)server.thread, stream), 0);
    CHECK_CODE(aclrtLaunchCallback(stop_serving, &server, ACL_CALLBACK_NO_BLOCK, stream), 0);
    CHECK_CODE(aclsimReset(), 0);
    atomic_store(&server.stop, true);
    pthread_join(server.thread, NULL);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtLaunchCallback(stop_serving, &server, ACL_CALLBACK_BLOCK, stream), 107015);
}

/* A destroyed stream removes its callback from the queue, and the number of pending calls stays right. The thread of
 * the exception callbacks checks that: it is the next one to use the same queue. */
static void test_taken_back(void)
{
    aclrtStream stream;
    struct log log = {0};
    struct note note = {&log, 1};
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtSubscribeReport(self(), stream), 0);
    CHECK_CODE(aclrtLaunchCallback(write_note, &note, ACL_CALLBACK_BLOCK, stream), 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
    CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    CHECK(log.count == 0);
    CHECK_CODE(aclrtSetExceptionInfoCallback(see), 0);
    CHECK_CODE(aclsimReset(), 0); /* waits for all pending reports, so none may be left */
}

int main(void)
{
    static const char *const schedules[] = {"parallel", "eager"};
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclsimConfigure("schedule", schedules[i]), 0);
        CHECK_CODE(aclrtSetDevice(0), 0);
        seen_count = 0;
        test_codes();
        test_order();
        test_blocking();
        if (i == 0)
            test_serving(); /* without workers, another thread may run the tasks */
        test_pending();
        test_host_functions();
        test_exceptions();
        test_registries();
        test_many_threads();
        test_end_inside();
        test_reset();
        test_taken_back();
        CHECK_CODE(aclsimReset(), 0);
    }
    return 0;
}
