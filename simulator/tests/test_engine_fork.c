/* A fork while the engine works: the child has none of the parent's objects and can open a device; the parent
 * continues. */
#include "base/zero.h"
#include "engine.h"
#include <sys/wait.h>

#define FORKS 12

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static _Atomic bool stop;

/* AddressSanitizer forks with its allocator locked as it is, so the child of a process that allocates may hang. */
#ifdef __SANITIZE_ADDRESS__
#define BUSY false
#else
#define BUSY true
#endif

/* Takes the engine's locks as often as it can. */
static void *keep_busy(void *argument)
{
    aclrtStream own = argument;
    uint32_t count = 0;
    CHECK_CODE(aclrtSetDevice(0), 0);
    while (!atomic_load(&stop)) {
        aclrtStream stream = make_stream();
        aclrtEvent event = make_event();
        launch(stream, do_nothing, NULL, ACLSIM_TASK_LIGHT);
        CHECK_CODE(aclrtRecordEvent(event, stream), 0);
        CHECK_CODE(aclrtStreamWaitEvent(own, event), 0);
        launch(own, do_nothing, NULL, count++ % 2);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
        CHECK_CODE(aclrtDestroyEvent(event), 0);
    }
    return NULL;
}

static void be_child(aclrtStream stream, aclrtEvent event)
{
    struct latch ran = LATCH;
    watch_dog(30);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclsimLaunchTask(stream, do_nothing, NULL, NULL, 0, 0), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtSynchronizeEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_CODE(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_CODE(aclrtSetDevice(0), 0);
    aclrtStream fresh = make_stream();
    CHECK(fresh != stream);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    launch(fresh, open_latch, &ran, ACLSIM_TASK_WORKER);
    latch_wait(&ran, 1);
    CHECK_CODE(aclrtRecordEvent(make_event(), fresh), 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    _exit(0);
}

static void fork_once(aclrtStream stream, aclrtEvent event)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        be_child(stream, event);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The child has no device, and can open one; pinned memory keeps its contents. */
static void test_memory_in_child(void)
{
    void *block, *host;
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost(&host, 100), 0);
    memset(host, 3, 100);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        void *own;
        char out = 0;
        CHECK(((char *)host)[99] == 3);
        CHECK_CODE(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
        CHECK_CODE(aclrtMalloc(&own, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
        CHECK_CODE(aclrtSetDevice(0), 0);
        CHECK_CODE(aclrtMalloc(&own, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK(own != block);
        CHECK_CODE(aclrtMemset(own, 100, 8, 100), 0);
        CHECK_CODE(aclrtMemcpy(&out, 1, own, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        _exit(out == 8 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_CODE(aclrtFreeHost(host), 0);
    CHECK_CODE(aclrtFree(block), 0);
}

static pthread_t submitter;

static aclError note(void *argument)
{
    *(bool *)argument = pthread_equal(pthread_self(), submitter) != 0;
    return ACL_SUCCESS;
}

/* The child has no workers, so it can take the schedule without them: a task runs while it is submitted, on the thread
 * that submits it. */
static void test_schedule_of_child(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        bool ran = false;
        submitter = pthread_self();
        CHECK_CODE(aclsimConfigure("schedule", "eager"), 0);
        CHECK_CODE(aclrtSetDevice(0), 0);
        launch(make_stream(), note, &ran, 0);
        CHECK(ran);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* sim_zero clears a table, and nothing beside it, wherever its pages begin. */
static void test_zeroed_tables(void)
{
    static const size_t begins[] = {0, 1, 4095, 65536}, sizes[] = {0, 1, 4096, 65535, 3 * 65536 + 7};
    static unsigned char bytes[5 * 65536]; /* pages have at most 64 KiB */
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            const size_t begin = begins[i], end = begin + sizes[j];
            memset(bytes, 0xAB, sizeof bytes);
            sim_zero(bytes + begin, sizes[j]);
            for (size_t at = 0; at < sizeof bytes; at++)
                CHECK(bytes[at] == (at >= begin && at < end ? 0 : 0xAB));
        }
}

int main(void)
{
    struct latch ran = LATCH;
    watch_dog(60);
    test_zeroed_tables();
    open_device("parallel");
    aclrtStream stream = make_stream(), busy = make_stream();
    aclrtEvent event = make_event();
    CHECK_CODE(aclrtRecordEvent(event, stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    launch(stream, open_latch, &ran, 0);
    pthread_t thread;
    if (BUSY)
        thread = start(keep_busy, busy);
    else
        await_idle();
    for (int i = 0; i < FORKS; i++)
        fork_once(stream, event);
    atomic_store(&stop, true);
    if (BUSY)
        pthread_join(thread, NULL);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    latch_wait(&ran, 1);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    test_memory_in_child();
    test_schedule_of_child();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
