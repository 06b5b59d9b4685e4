/* Faults: calls through their variants, from several threads while the faults change, and tasks that are held back. */
#include "check.h"

#include <acl/acl.h>
#include <acl/acl_sim.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef aclError (*malloc_function)(void **block, size_t size, aclrtMemMallocPolicy policy);
typedef aclError (*set_function)(void *block, size_t most, int32_t value, size_t count, aclrtStream stream);

static malloc_function traced_malloc;
static set_function traced_memset;
static _Atomic bool ends;
static aclrtStream streams[3];

static void *variant_of(const char *name)
{
    void *variant = aclsimTraced(name);
    CHECK(variant != NULL);
    return variant;
}

static void test_counts(void)
{
    char text[64];
    uint64_t counted, struck;
    void *block;
    CHECK(aclsimSetFaults("malloc:2; malloc:size>100") == 0 && aclsimFaultCount() == 2);
    CHECK(traced_malloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(block) == 0);
    CHECK(traced_malloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK(traced_malloc(&block, 200, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK(aclsimGetFault(0, text, sizeof text, &counted, &struck) == 0);
    CHECK(strcmp(text, "malloc:2") == 0 && counted == 3 && struck == 1);
    CHECK(aclsimGetFault(1, text, sizeof text, &counted, &struck) == 0 && counted == 1 && struck == 1);
    CHECK(aclsimGetFault(2, text, sizeof text, &counted, &struck) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclsimGetFault(1, text, 5, &counted, &struck) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclsimGetFault(0, NULL, 5, &counted, &struck) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclsimGetFault(0, text, sizeof text, NULL, &struck) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclsimGetFault(0, text, sizeof text, &counted, NULL) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclsimSetFaults("none") == 0 && aclsimFaultCount() == 0);
    CHECK(traced_malloc(&block, 200, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(block) == 0);
}

static void *allocate(void *failures)
{
    while (!atomic_load(&ends)) {
        void *block;
        aclError code = traced_malloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
        CHECK(code == 0 || code == ACL_ERROR_RT_MEMORY_ALLOCATION);
        *(uint64_t *)failures += code != 0;
        CHECK(code != 0 || aclrtFree(block) == 0);
    }
    return NULL;
}

static void *submit(void *stream)
{
    void *block;
    CHECK(aclrtSetDevice(0) == 0 && aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    while (!atomic_load(&ends)) {
        for (int i = 0; i < 8; i++)
            CHECK(traced_memset(block, 64, i, 64, stream) == 0);
        aclError code = aclrtSynchronizeStream(stream);
        CHECK(code == 0 || code == ACL_ERROR_RT_SYS_DMA);
    }
    CHECK(aclrtFree(block) == 0);
    return NULL;
}

static void *allocate_here(void *failures)
{
    CHECK(aclrtSetDevice(0) == 0);
    return allocate(failures);
}

/* Each round ends what the round before holds back. */
static void test_changes_while_calls_and_tasks_run(void)
{
    static const char *const lists[] = {"malloc:3", "task:copy#2; malloc:p=0.5", "hang:5", "slow:10us", "none"};
    pthread_t threads[5];
    uint64_t failures[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, allocate_here, &failures[i]) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[2 + i], NULL, submit, streams[i]) == 0);
    for (int round = 0; round < 400; round++) {
        char text[64];
        uint64_t counted, struck;
        CHECK(aclsimSetFaults(lists[round % 5]) == 0);
        for (int i = 0; i < 20; i++)
            CHECK(round % 5 == 4 || aclsimGetFault(0, text, sizeof text, &counted, &struck) == 0);
    }
    CHECK(aclsimSetFaults("malloc") == 0);
    for (uint64_t counted = 0, struck; counted < 10;) {
        char text[64];
        CHECK(aclsimGetFault(0, text, sizeof text, &counted, &struck) == 0);
    }
    atomic_store(&ends, true);
    CHECK(aclsimSetFaults(NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(failures[0] + failures[1] >= 10);
}

static void test_a_reset_ends_a_hang(void)
{
    void *block;
    CHECK(aclsimSetFaults("hang") == 0 && aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    CHECK(traced_memset(block, 64, 1, 64, streams[0]) == 0);
    CHECK(aclrtSynchronizeStreamWithTimeout(streams[0], 10) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(aclsimReset() == 0 && aclsimFaultCount() == 0);
}

int main(void)
{
    CHECK(aclsimConfigure("faults", "malloc:1000000") == 0);
    traced_malloc = (malloc_function)(uintptr_t)variant_of("aclrtMalloc");
    traced_memset = (set_function)(uintptr_t)variant_of("aclrtMemsetAsync");
    CHECK(aclInit(NULL) == 0 && aclrtSetDevice(0) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(aclrtCreateStream(&streams[i]) == 0);
    test_counts();
    test_changes_while_calls_and_tasks_run();
    test_a_reset_ends_a_hang();
    puts("ok");
    return 0;
}
