/* The checker of memory: exact bounds of strided views, addresses of tensors, frees by pools and by threads while work
 * is queued. */
#include "check.h"

#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_sim.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_exp.h>
#include <pthread.h>

static aclrtStream stream;

static void start(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclsimConfigure("check", "memory"), 0);
    CHECK_CODE(aclInit(NULL), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
}

static void *take(size_t size)
{
    void *block;
    CHECK_CODE(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    return block;
}

/* Four floats of every third element. */
static aclTensor *view_of(void *data, int64_t offset)
{
    const int64_t dims[] = {4}, strides[] = {3}, storage[] = {16};
    return aclCreateTensor(dims, 1, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, storage, 1, data);
}

static void run_exp(aclTensor *from, aclTensor *to)
{
    uint64_t size;
    aclOpExecutor *executor;
    CHECK_CODE(aclnnExpGetWorkspaceSize(from, to, &size, &executor), 0);
    CHECK_CODE(aclnnExp(NULL, 0, executor, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclDestroyTensor(from), 0);
    CHECK_CODE(aclDestroyTensor(to), 0);
}

static void test_a_view_may_end_with_the_requested_bytes(void)
{
    start();
    char *from = take(10 * sizeof(float)), *to = take(64);
    CHECK_CODE(aclrtMemset(from, 40, 0, 40), 0);
    run_exp(view_of(from, 0), view_of(to, 1)); /* elements 0, 3, 6, 9 of 10; a view with an offset is right */
    CHECK(aclsimFindingCount() == 0);
    run_exp(view_of(from, 1), view_of(to, 0)); /* element 10 is padding */
    CHECK(aclsimFindingCount() == 1);
    CHECK(strstr(aclsimFinding(0), "aclnnExp reads 4 bytes behind the 40 bytes that were requested") != NULL);
    CHECK(strstr(aclsimFinding(0), "\"level\":\"warning\"") != NULL);
}

static void test_memory_of_a_tensor_starts_at_a_multiple_of_32(void)
{
    start();
    char *from = take(128), *to = take(64);
    CHECK_CODE(aclrtMemset(from, 128, 0, 128), 0);
    run_exp(view_of(from + 32, 0), view_of(to, 0));
    CHECK(aclsimFindingCount() == 0);
    run_exp(view_of(from + 4, 0), view_of(to, 0));
    CHECK(aclsimFindingCount() == 1 && strstr(aclsimFinding(0), "\"rule\":\"unaligned-tensor\"") != NULL);
}

static void test_a_free_in_the_order_of_the_stream_is_right(void)
{
    const aclrtMemPoolProps props = {.location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemPool pool;
    void *block, *again;
    start();
    CHECK_CODE(aclrtMemPoolCreate(&pool, &props), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemPoolMallocAsync(&block, 4096, pool, stream), 0);
    CHECK_CODE(aclrtMemsetAsync(block, 4096, 1, 4096, stream), 0);
    CHECK_CODE(aclrtMemPoolFreeAsync(block, stream), 0);
    CHECK_CODE(aclrtMemPoolMallocAsync(&again, 4096, pool, stream), 0);
    CHECK(again == block); /* while work of the former allocation is queued */
    CHECK_CODE(aclrtMemsetAsync(again, 4096, 2, 4096, stream), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemPoolFreeAsync(again, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
    CHECK(aclsimFindingCount() == 0);
}

static void test_a_free_that_synchronises_the_device_is_right(void)
{
    start();
    void *block = take(4096);
    CHECK_CODE(aclrtMemsetAsync(block, 4096, 1, 4096, stream), 0);
    CHECK_CODE(aclrtFreeWithDevSync(block), 0);
    CHECK(aclsimFindingCount() == 0);
}

#define TURNS 300

static void *use_and_free(void *unused)
{
    aclrtStream own;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&own), 0);
    for (int i = 0; i < TURNS; i++) {
        void *block = take(64);
        CHECK_CODE(aclrtMemsetAsync(block, 32, 1, 32, own), 0);
        CHECK_CODE(aclrtMemsetAsync((char *)block + 32, 32, 2, 32, stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(own), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtFree(block), 0);
    }
    CHECK_CODE(aclrtDestroyStream(own), 0);
    return unused;
}

static void test_threads_that_wait_before_they_free_are_right(void)
{
    pthread_t threads[4];
    start();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, use_and_free, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(aclsimFindingCount() == 0);
}

int main(void)
{
    test_a_view_may_end_with_the_requested_bytes();
    test_memory_of_a_tensor_starts_at_a_multiple_of_32();
    test_a_free_in_the_order_of_the_stream_is_right();
    test_a_free_that_synchronises_the_device_is_right();
    test_threads_that_wait_before_they_free_are_right();
    CHECK_CODE(aclsimReset(), 0);
    puts("ok");
    return 0;
}
