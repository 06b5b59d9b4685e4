/* Memory pools and managed memory, used by several threads at once. */
#include "engine.h"

#include <acl/acl_rt_memory_soma.h>

#define THREADS 4
#define TURNS 400
#define WORDS 1024
#define BYTES (WORDS * sizeof(uint32_t))

static aclrtMemPool pool;

static uint64_t number(aclrtMemPoolAttr attribute)
{
    uint64_t value = 0;
    CHECK_CODE(aclrtMemPoolGetAttr(pool, attribute, &value), 0);
    return value;
}

static void make_pool(uint64_t limit)
{
    const aclrtMemPoolProps props = {.location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}, .maxSize = limit};
    CHECK_CODE(aclrtMemPoolCreate(&pool, &props), 0);
}

static void *take(aclrtStream stream)
{
    void *address;
    CHECK_CODE(aclrtMemPoolMallocAsync(&address, BYTES, pool, stream), 0);
    return address;
}

/* ---- which stream may get a block whose free has not run ---- */

static void test_order(void)
{
    aclrtStream first, second;
    CHECK_CODE(aclrtCreateStream(&first), 0);
    CHECK_CODE(aclrtCreateStream(&second), 0);
    make_pool(2 * BYTES);
    CHECK_CODE(aclsimStreamHold(first), 0);
    void *freed = take(first);
    CHECK_CODE(aclrtMemsetAsync(freed, BYTES, 1, BYTES, first), 0);
    CHECK_CODE(aclrtMemPoolFreeAsync(freed, first), 0);
    CHECK(take(second) != freed);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK(take(second) == freed); /* the pool has no other memory: the stream waits for the free */
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(second, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclsimStreamRelease(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyStream(second), 0);
}

/* The free of a block is aborted while an earlier free is still queued: the stream of that earlier free may get the
 * block, but the aborted stream may not. */
static void test_discarded_free(void)
{
    aclrtStream first, second;
    aclrtEvent event;
    CHECK_CODE(aclrtCreateStream(&first), 0);
    CHECK_CODE(aclrtCreateStream(&second), 0);
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    make_pool(0);
    CHECK_CODE(aclsimStreamHold(first), 0);
    void *freed = take(first);
    CHECK_CODE(aclrtMemPoolFreeAsync(freed, first), 0);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtStreamWaitEvent(second, event), 0);
    CHECK(take(second) == freed);
    CHECK_CODE(aclrtMemPoolFreeAsync(freed, second), 0);
    CHECK_CODE(aclrtStreamAbort(second), 0);
    CHECK(take(second) != freed);
    CHECK(take(first) == freed);
    CHECK_CODE(aclsimStreamRelease(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    CHECK_CODE(aclrtDestroyStream(second), 0);
}

/* ---- memory that is in use is not allocated again ---- */

struct filled {
    void *address;
    uint32_t mark;
    aclError *outcome;
};

static aclError fill(void *argument)
{
    const struct filled *filled = argument;
    uint32_t *words = aclsimReach(filled->address, BYTES);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = filled->mark;
    return 0;
}

static aclError compare(void *argument)
{
    const struct filled *filled = argument;
    const uint32_t *words = aclsimReach(filled->address, BYTES);
    for (size_t i = 0; i < WORDS; i++)
        if (words[i] != filled->mark)
            return ACL_ERROR_RT_AICORE_EXCEPTION;
    return 0;
}

static void *fill_and_compare(void *argument)
{
    static struct filled all[THREADS][TURNS];
    size_t mine = (size_t)(uintptr_t)argument;
    aclrtStream stream;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        struct filled *filled = &all[mine][turn];
        filled->mark = (uint32_t)(mine << 24 | turn);
        CHECK_CODE(aclrtMemPoolMallocAsync(&filled->address, BYTES, pool, stream), 0);
        const aclsimRange range = {filled->address, BYTES, 1};
        CHECK_CODE(aclsimLaunchTask(stream, fill, filled, &range, 1, 0), 0);
        CHECK_CODE(aclsimLaunchTask(stream, compare, filled, &range, 1, 0), 0);
        if (turn % 8 == 7) {
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
            CHECK_CODE(aclrtFree(filled->address), 0);
        } else {
            CHECK_CODE(aclrtMemPoolFreeAsync(filled->address, stream), 0);
        }
    }
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return NULL;
}

static void run_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, function, (void *)(uintptr_t)i) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* With a limit of 0 there is memory for all; otherwise for one block per thread, so that streams wait for the frees of
 * other streams. */
static void test_threads_share_a_pool(uint64_t limit)
{
    make_pool(limit);
    run_threads(fill_and_compare);
    CHECK(number(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(limit == 0 || number(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) <= limit);
    CHECK_CODE(aclrtMemPoolTrimTo(pool, 0), 0);
    CHECK(number(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
}

/* ---- a pool that is destroyed while it is used ---- */

static void *use_until_it_is_gone(void *argument)
{
    aclrtStream stream;
    void *address;
    (void)argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    while (aclrtMemPoolMallocAsync(&address, BYTES, pool, stream) == ACL_SUCCESS) {
        CHECK_CODE(aclrtMemsetAsync(address, BYTES, 1, BYTES, stream), 0);
        CHECK_CODE(aclrtMemPoolFreeAsync(address, stream), 0);
    }
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return NULL;
}

static void test_a_pool_is_destroyed_in_use(void)
{
    size_t before, after, total;
    pthread_t thread;
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), 0);
    for (int turn = 0; turn < 50; turn++) {
        make_pool(0);
        CHECK(pthread_create(&thread, NULL, use_until_it_is_gone, NULL) == 0);
        CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
        pthread_join(thread, NULL);
    }
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
    CHECK(before == after);
}

/* ---- managed memory ---- */

static void *use_managed(void *argument)
{
    aclrtStream stream;
    const aclrtMemManagedLocation host = {ACL_MEM_LOCATIONTYPE_HOST, 0};
    size_t bytes = (size_t)2 << 20;
    unsigned char mark = (unsigned char)((uintptr_t)argument + 1);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    for (int turn = 0; turn < 50; turn++) {
        unsigned char *block;
        int32_t told = 0;
        CHECK_CODE(aclrtMemAllocManaged((void **)&block, bytes, ACL_RT_MEM_ATTACH_GLOBAL), 0);
        CHECK_CODE(aclrtMemsetAsync(block, bytes, mark, 4096, stream), 0);
        CHECK_CODE(aclrtMemManagedPrefetchAsync(block, bytes, host, 0, stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK(block[0] == mark && block[4095] == mark && block[4096] == 0);
        CHECK_CODE(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, bytes, &told,
                                          sizeof told), 0);
        CHECK(told == -1);
        CHECK_CODE(aclrtFree(block), 0);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return NULL;
}

int main(void)
{
    watch_dog(120);
    CHECK_CODE(aclrtSetDevice(0), 0);
    test_order();
    test_discarded_free();
    test_threads_share_a_pool(0);
    test_threads_share_a_pool(THREADS * BYTES);
    test_a_pool_is_destroyed_in_use();
    run_threads(use_managed);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return 0;
}
