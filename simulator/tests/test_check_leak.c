/* The checker of leaks: what it reports when a device is reset and at aclFinalize, and what it leaves out; threads that
 * make and destroy handles while others do. */
#include "check.h"

#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_sim.h>
#include <aclnn/acl_meta.h>
#include <pthread.h>

static void start(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclsimConfigure("check", "leak"), 0);
    CHECK_CODE(aclInit(NULL), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

static void expect(size_t index, const char *text)
{
    const char *finding = aclsimFinding(index);
    if (finding == NULL || strstr(finding, text) == NULL) {
        fprintf(stderr, "finding %zu lacks \"%s\": %s\n", index, text, finding != NULL ? finding : "none");
        exit(1);
    }
}

static void test_a_reset_reports_what_ends_with_the_device(void)
{
    aclrtStream streams[3];
    aclrtEvent event;
    void *block, *host;
    start();
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclrtCreateStream(&streams[i]), 0);
    CHECK_CODE(aclrtDestroyStream(streams[1]), 0);
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost(&host, 64), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK(aclsimFindingCount() == 2);
    expect(0, "\"text\":\"2 streams made here were never destroyed before device 0 was reset\"");
    expect(1, "\"text\":\"1 block of memory (100 bytes) made here was never freed before device 0 was reset\"");
    CHECK_CODE(aclFinalize(), 0);
    CHECK(aclsimFindingCount() == 4);
    expect(2, "1 event made here was never destroyed before aclFinalize");
    expect(3, "1 block of memory (64 bytes) made here");
}

static void test_a_pool_s_block_is_a_leak_unless_its_free_is_queued(void)
{
    const aclrtMemPoolProps props = {.location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemPool pool;
    aclrtStream stream;
    void *kept, *freed;
    start();
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtMemPoolCreate(&pool, &props), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemPoolMallocAsync(&freed, 4096, pool, stream), 0);
    CHECK_CODE(aclrtMemPoolMallocAsync(&kept, 50, pool, stream), 0);
    CHECK_CODE(aclrtMemPoolFreeAsync(freed, stream), 0);
    CHECK_CODE(aclFinalize(), 0);
    CHECK(aclsimFindingCount() == 3);
    expect(0, "1 stream made here");
    expect(1, "1 memory pool made here");
    expect(2, "1 block of memory (50 bytes) made here was never freed before aclFinalize");
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtMemPoolDestroy(pool), 0);
}

static void test_members_of_a_list_end_with_it(void)
{
    const int64_t dims[] = {2};
    start();
    const aclTensor *tensor = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, NULL);
    aclTensorList *list = aclCreateTensorList(&tensor, 1);
    CHECK(list != NULL);
    CHECK_CODE(aclDestroyTensorList(list), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK_CODE(aclFinalize(), 0);
    CHECK(aclsimFindingCount() == 0);
}

static void test_what_a_library_makes_is_left_out(void)
{
    aclrtStream stream;
    void *block;
    start();
    CHECK_CODE(aclsimSetLibrary(1), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclsimSetLibrary(0), 0);
    CHECK_CODE(aclsimSetLibrary(2), ACL_ERROR_INVALID_PARAM);
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK(aclsimFindingCount() == 0);
    CHECK_CODE(aclFinalize(), 0);
}

#define TURNS 300

static void *make_and_end(void *unused)
{
    aclrtEvent event;
    aclrtStream stream;
    void *block;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < TURNS; i++) {
        CHECK_CODE(aclrtCreateEvent(&event), 0);
        CHECK_CODE(aclrtCreateStream(&stream), 0);
        CHECK_CODE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtFree(block), 0);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
        CHECK_CODE(aclrtDestroyEvent(event), 0);
    }
    return unused;
}

static void test_threads_that_end_what_they_make_leak_nothing(void)
{
    pthread_t threads[4];
    start();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, make_and_end, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_CODE(aclrtResetDeviceForce(0), 0);
    CHECK_CODE(aclFinalize(), 0);
    CHECK(aclsimFindingCount() == 0);
}

int main(void)
{
    test_a_reset_reports_what_ends_with_the_device();
    test_a_pool_s_block_is_a_leak_unless_its_free_is_queued();
    test_members_of_a_list_end_with_it();
    test_what_a_library_makes_is_left_out();
    test_threads_that_end_what_they_make_leak_nothing();
    CHECK_CODE(aclsimReset(), 0);
    puts("ok");
    return 0;
}
