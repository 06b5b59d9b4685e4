/* Streams: failures that are kept until synchronisation, stopping, destruction by several threads, limits. */
#include "engine.h"

#define DESTROYERS 4

static aclError fail_once(void *argument)
{
    (void)argument;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* The first failure is kept until a thread synchronises; the stream continues. */
static void test_failure(void)
{
    aclrtStream stream = make_stream();
    struct latch ran = LATCH;
    launch(stream, fail_once, NULL, 0);
    launch(stream, open_latch, &ran, 0);
    launch(stream, fail_once, NULL, 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_TEXT("aclsimLaunchTask failed because its task failed; task ");
    CHECK(latch_count(&ran) == 1);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    launch(stream, fail_once, NULL, 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    stream = make_stream(); /* the same slot, without the failure of the previous stream */
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* A synchronisation that has nothing to wait for reports the failure as well, and a query leaves it. */
static void test_failure_of_idle(void)
{
    aclrtStream stream = make_stream();
    aclrtStreamStatus status;
    launch(stream, fail_once, NULL, ACLSIM_TASK_LIGHT);
    do
        CHECK_CODE(aclrtStreamQuery(stream, &status), 0);
    while (status != ACL_STREAM_STATUS_COMPLETE);
    CHECK_CODE(aclrtStreamQuery(stream, &status), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* Stopping ends the first task, and the tasks behind it stay queued. */
static void test_stop(void)
{
    aclrtStream stream = make_stream();
    struct latch ran = LATCH;
    CHECK_CODE(aclrtStreamStop(stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    launch(stream, open_latch, &ran, 0);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(latch_count(&ran) == 0);
    CHECK_CODE(aclrtStreamStop(stream), 0);
    latch_wait(&ran, 1);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(latch_count(&ran) == 1);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclsimStreamRelease(stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(latch_count(&ran) == 2);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* No thread can release a latch of a destroyed stream, so destroying releases all of them, and the queued tasks run. */
static void test_destroy_held(void)
{
    aclrtStream stream = make_stream();
    struct latch ran = LATCH;
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(aclsimStreamHold(stream), 0);
        launch(stream, open_latch, &ran, 0);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK(latch_count(&ran) == 3);
    stream = make_stream(); /* the same slot, without a latch */
    CHECK_CODE(aclsimStreamRelease(stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

/* Several threads destroy one stream: exactly one succeeds. */
static aclrtStream doomed;
static pthread_barrier_t all_there;
static _Atomic uint32_t destroyed;

static void *destroy(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 200; i++) {
        pthread_barrier_wait(&all_there);
        aclError code = aclrtDestroyStream(doomed);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
        atomic_fetch_add(&destroyed, code == 0);
        pthread_barrier_wait(&all_there);
    }
    return unused;
}

static void test_destroyers(void)
{
    pthread_t threads[DESTROYERS];
    uint32_t free_before, free_after;
    struct latch ran = LATCH;
    CHECK_CODE(aclrtGetStreamAvailableNum(&free_before), 0);
    pthread_barrier_init(&all_there, NULL, DESTROYERS + 1);
    for (int i = 0; i < DESTROYERS; i++)
        threads[i] = start(destroy, NULL);
    for (uint32_t i = 1; i <= 200; i++) {
        doomed = make_stream();
        launch(doomed, open_latch, &ran, 0);
        pthread_barrier_wait(&all_there);
        pthread_barrier_wait(&all_there);
        CHECK(destroyed == i && latch_count(&ran) == i);
    }
    for (int i = 0; i < DESTROYERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_there);
    CHECK_CODE(aclrtGetStreamAvailableNum(&free_after), 0);
    CHECK(free_before == free_after);
}

/* The number of streams is limited by the profile, and destroying a stream makes room for another one. */
static void test_limit(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("limits", "documented"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    static aclrtStream streams[4096];
    uint32_t room, count;
    aclrtStream more;
    CHECK_CODE(aclrtGetStreamAvailableNum(&room), 0);
    CHECK(room != 0 && room < 4096);
    for (count = 0; count < room; count++)
        streams[count] = make_stream();
    CHECK_CODE(aclrtCreateStream(&more), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    CHECK_CODE(aclrtDestroyStream(streams[--count]), 0);
    CHECK_CODE(aclrtCreateStream(&more), 0);
    CHECK_CODE(aclrtDestroyStream(more), 0);
    while (count != 0)
        CHECK_CODE(aclrtDestroyStream(streams[--count]), 0);
}

static void test_schedule(const char *schedule)
{
    open_device(schedule);
    test_failure();
    test_failure_of_idle();
    test_stop();
    atomic_store(&destroyed, 0);
    test_destroy_held();
    test_destroyers();
}

int main(void)
{
    watch_dog(60);
    test_schedule("parallel");
    test_schedule("eager");
    test_limit();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
