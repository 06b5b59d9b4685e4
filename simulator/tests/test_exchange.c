/* Two processes that share memory, notifies and events, with several threads in each. Each process sees the changes of
 * the other, and waiting for a process that is killed fails. The other process is a child, forked before this one uses
 * the library. */
#include "engine.h"
#include <sys/socket.h>
#include <sys/wait.h>

#define THREADS 4
#define ROUNDS 60
#define KEY 65
#define BYTES 4096

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static int channel; /* to the other process */

static void say(const void *what, size_t size)
{
    CHECK(write(channel, what, size) == (ssize_t)size);
}

static void hear(void *what, size_t size)
{
    for (char *at = what; size != 0;) {
        ssize_t got = read(channel, at, size);
        CHECK(got > 0);
        at += got;
        size -= (size_t)got;
    }
}

/* ---- notifies: each thread takes turns with a thread of the other process ---- */

struct pair {
    aclrtNotify pa_mine, pa_theirs;
    bool pa_begins;
};

static void *take_turns(void *argument)
{
    struct pair *pair = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    aclrtStream stream = make_stream();
    for (int round = 0; round < ROUNDS; round++) {
        if (pair->pa_begins)
            CHECK_CODE(aclrtRecordNotify(pair->pa_theirs, stream), 0);
        CHECK_CODE(aclrtWaitAndResetNotify(pair->pa_mine, stream, 0), 0);
        if (!pair->pa_begins)
            CHECK_CODE(aclrtRecordNotify(pair->pa_theirs, stream), 0);
        if (round % 3 == 0)
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    }
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return NULL;
}

static void run_notifies(bool begins)
{
    struct pair pairs[THREADS];
    pthread_t threads[THREADS];
    char key[KEY];
    for (int i = 0; i < THREADS; i++) {
        CHECK_CODE(aclrtCreateNotify(&pairs[i].pa_mine, 0), 0);
        CHECK_CODE(aclrtNotifyGetExportKey(pairs[i].pa_mine, key, sizeof key, 2), 0);
        say(key, sizeof key);
    }
    for (int i = 0; i < THREADS; i++) {
        pairs[i].pa_begins = begins;
        hear(key, sizeof key);
        CHECK_CODE(aclrtNotifyImportByKey(&pairs[i].pa_theirs, key, 0), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, take_turns, &pairs[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_CODE(aclrtDestroyNotify(pairs[i].pa_theirs), 0);
    }
}

/* ---- memory: threads open and close the same key while they use it ---- */

static char memory_key[KEY];

static void *use_memory(void *argument)
{
    unsigned char expected = 7, seen[BYTES];
    (void)argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int round = 0; round < ROUNDS; round++) {
        void *memory;
        CHECK_CODE(aclrtIpcMemImportByKey(&memory, memory_key, 0), 0);
        CHECK_CODE(aclrtMemcpy(seen, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        CHECK(seen[0] == expected && seen[BYTES - 1] == expected);
        CHECK_CODE(aclrtIpcMemClose(memory_key), 0);
    }
    return NULL;
}

static void run_memory(bool owns)
{
    int32_t own, other;
    if (!owns) {
        void *memory;
        hear(memory_key, sizeof memory_key);
        CHECK_CODE(aclrtIpcMemImportByKey(&memory, memory_key, 0), ACL_ERROR_RT_NO_PERMISSION);
        CHECK_TEXT("has not allowed this process to open it");
        CHECK_CODE(aclrtDeviceGetBareTgid(&own), 0);
        say(&own, sizeof own);
        hear(&other, sizeof other);
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, use_memory, NULL) == 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        say(&own, sizeof own);
        return;
    }
    void *memory;
    CHECK_CODE(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(memory, BYTES, 7, BYTES), 0);
    CHECK_CODE(aclrtIpcMemGetExportKey(memory, BYTES, memory_key, sizeof memory_key, 0), 0);
    say(memory_key, sizeof memory_key);
    hear(&other, sizeof other);
    CHECK_CODE(aclrtIpcMemSetImportPid(memory_key, &other, 1), 0);
    say(&other, sizeof other);
    hear(&other, sizeof other); /* wait until the other process is done */
    CHECK_CODE(aclrtIpcMemClose(memory_key), 0);
    CHECK_CODE(aclrtFree(memory), 0);
}

/* ---- events: the recording process is killed before its record completes ---- */

static void *wait_on_host(void *event)
{
    CHECK_CODE(aclrtSynchronizeEvent(event), ACL_ERROR_RT_SOCKET_CLOSE);
    return NULL;
}

static void outlive(pid_t child)
{
    aclrtIpcEventHandle handle;
    aclrtEvent event;
    pthread_t host;
    aclrtStream stream = make_stream();
    hear(&handle, sizeof handle);
    CHECK_CODE(aclrtIpcOpenEventHandle(handle, &event), 0);
    CHECK_CODE(aclrtStreamWaitEvent(stream, event), 0);
    CHECK(pthread_create(&host, NULL, wait_on_host, event) == 0);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("ended before the record was done");
    pthread_join(host, NULL);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtIpcOpenEventHandle(handle, &event), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

static void be_killed(void)
{
    aclrtIpcEventHandle handle;
    aclrtEvent event;
    aclrtStream stream = make_stream();
    CHECK_CODE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), 0);
    CHECK_CODE(aclrtIpcGetEventHandle(event, &handle), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtRecordEvent(event, stream), 0);
    say(&handle, sizeof handle);
    hear(&handle, sizeof handle); /* blocks until this process is killed */
}

int main(void)
{
    int ends[2];
    watch_dog(120);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    channel = ends[child == 0];
    close(ends[child != 0]);
    watch_dog(120);
    open_device("parallel");
    run_memory(child == 0);
    run_memory(child != 0);
    run_notifies(child == 0);
    if (child == 0) {
        be_killed();
        return 1;
    }
    outlive(child);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK_CODE(aclsimReset(), 0);
    printf("ok\n");
    return 0;
}
