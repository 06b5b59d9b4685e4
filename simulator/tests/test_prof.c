/* Profiling sessions start and end while threads mark and submit: every trace is complete, and nothing races. */
#include "observe/prof.h"
#include "check.h"
#include <acl/acl_prof.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 200
#define SESSIONS 20

static char folder[] = "/tmp/test_prof.XXXXXX";
static _Atomic uint32_t marked;

/* Marks fail with 500005 if no session collects them, and only then. */
static void check_mark(aclError code)
{
    CHECK(code == ACL_SUCCESS || code == ACL_ERROR_PROFILING_FAILURE);
    marked += code == ACL_SUCCESS;
}

static void *work(void *unused)
{
    aclrtStream stream;
    void *block;
    CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_CODE(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_CODE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t range;
        void *stamp = aclprofCreateStamp();
        CHECK_CODE(aclrtMemsetAsync(block, 64, i & 0xff, 64, stream), ACL_SUCCESS);
        check_mark(aclprofMarkEx("in the stream", 13, stream));
        if (stamp != NULL) {
            CHECK_CODE(aclprofSetStampTraceMessage(stamp, "work \"1\"", 8), ACL_SUCCESS);
            check_mark(aclprofMark(stamp));
            if (aclprofRangeStart(stamp, &range) == ACL_SUCCESS)
                check_mark(aclprofRangeStop(range));
            if (aclprofPush(stamp) == ACL_SUCCESS)
                check_mark(aclprofPop());
            aclprofDestroyStamp(stamp);
        }
        CHECK(aclprofStr2Id("one") == aclprofStr2Id("one"));
        CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    }
    CHECK_CODE(aclrtFree(block), ACL_SUCCESS);
    CHECK_CODE(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
    return unused;
}

static void remove_start(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/host/start_info", folder, name);
    CHECK(remove(path) == 0);
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0);
}

/* Checks that the trace is complete JSON with one event per line, removes it, and returns the number of lines. */
static uint32_t check_trace(const char *name)
{
    static const char last[] = "],\"otherData\":{\"begin\":{";
    char path[512], line[1024];
    uint32_t lines = 0;
    bool whole = false;
    snprintf(path, sizeof path, "%s/%s/trace.json", folder, name);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    CHECK(fgets(line, sizeof line, file) != NULL && strstr(line, "\"traceEvents\":[") != NULL);
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        whole = strncmp(line, last, sizeof last - 1) == 0 && strstr(line, "}}}\n") != NULL;
        CHECK(whole || line[0] == '{');
    }
    CHECK(whole);
    fclose(file);
    CHECK(remove(path) == 0);
    remove_start(name);
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0);
    return lines;
}

static void check_sessions(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < SESSIONS; i++) {
        CHECK_CODE(aclprofInit(folder, strlen(folder)), ACL_SUCCESS);
        CHECK_CODE(aclprofStart(NULL), ACL_SUCCESS);
        for (int k = 0; i == 0 && k < THREADS; k++)
            CHECK(pthread_create(&threads[k], NULL, work, NULL) == 0);
        while (marked < 100)
            sched_yield(); /* the first session lasts until the threads have marked something */
        CHECK_CODE(i % 2 == 0 ? aclprofStop(NULL) : ACL_SUCCESS, ACL_SUCCESS);
        CHECK_CODE(aclprofFinalize(), ACL_SUCCESS);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    DIR *directory = opendir(folder);
    uint32_t traces = 0, lines = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.') {
            lines += check_trace(entry->d_name);
            traces++;
        }
    closedir(directory);
    CHECK(traces == SESSIONS && lines > 100);
    CHECK(!sim_prof_collects(UINT64_MAX));
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
    check_sessions();
    CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK(rmdir(folder) == 0);
    return 0;
}
