/* Finalisation during work: the simulator's threads stop and start again while other threads submit work, export keys,
 * and destroy contexts. */
#include "check.h"
#include <acl/acl_sim.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sched.h>

#define WORKERS 3
#define ROUNDS 200

static atomic_bool stop;

static void *finalize(void *unused)
{
    while (!atomic_load(&stop)) {
        aclError code = aclInit(NULL);
        CHECK(code == 0 || code == ACL_ERROR_REPEAT_INITIALIZE);
        code = aclFinalize();
        CHECK(code == 0 || code == ACL_ERROR_REPEAT_FINALIZE);
    }
    return unused;
}

static void count(void *calls)
{
    atomic_fetch_add((atomic_int *)calls, 1);
}

static aclError count_task(void *calls)
{
    count(calls);
    return 0;
}

static void await(atomic_int *calls, int wanted)
{
    while (atomic_load(calls) != wanted)
        sched_yield();
}

/* In odd rounds no thread synchronises, so the workers and the context's thread have to run. */
static void *work(void *number)
{
    bool publishes = *(int *)number == 0;
    aclrtContext context;
    aclrtStream stream;
    atomic_int calls = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 10 == 0) {
            CHECK_CODE(aclrtCreateContext(&context, 0), 0);
            CHECK_CODE(aclrtCreateStream(&stream), 0);
        }
        CHECK_CODE(aclsimLaunchTask(stream, count_task, &calls, NULL, 0, ACLSIM_TASK_WORKER), 0);
        CHECK_CODE(aclrtLaunchHostFunc(stream, count, &calls), 0);
        if (round % 2 == 0)
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        await(&calls, 2 * round + 2);
        if (publishes && round % 5 == 0) {
            void *memory;
            char key[65];
            CHECK_CODE(aclrtMalloc(&memory, 2 << 20, ACL_MEM_MALLOC_HUGE_FIRST), 0);
            CHECK_CODE(aclrtIpcMemGetExportKey(memory, 2 << 20, key, sizeof key, 0), 0);
            CHECK_CODE(aclrtIpcMemClose(key), 0);
            CHECK_CODE(aclrtFree(memory), 0);
        }
        if (round % 10 == 9) {
            CHECK_CODE(aclrtDestroyStream(stream), 0);
            CHECK_CODE(aclrtDestroyContext(context), 0);
        }
    }
    return NULL;
}

static void finalize_inside(void *code)
{
    *(aclError *)code = aclFinalize();
}

static void test_inside_a_host_function(void)
{
    aclrtStream stream;
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    for (int i = 0; i < 10; i++) {
        aclError code = -1;
        CHECK_CODE(aclInit(NULL), 0);
        CHECK_CODE(aclrtLaunchHostFunc(stream, finalize_inside, &code), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK(code == 0);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
}

static void test_beside_work(void)
{
    pthread_t finalizers[2], workers[WORKERS];
    int numbers[WORKERS];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&finalizers[i], NULL, finalize, NULL) == 0);
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&workers[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(finalizers[i], NULL);
}

int main(void)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    test_inside_a_host_function();
    test_beside_work();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
