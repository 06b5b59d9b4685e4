/* Reads of memory that nothing has written are found in copies, sets and tasks with ranges, with the first byte and the
 * number of bytes; each program beside it is right and finds nothing. Host memory that changes under a queued copy is
 * found. */
#include "observe/check.h"
#include "check.h"
#include <acl/acl_sim.h>

enum { BYTES = 4096 };

static aclrtStream stream;
static unsigned char *block, *other, *pinned, host[BYTES];

static aclError nothing(void *argument)
{
    (void)argument;
    return 0;
}

static void begin(void)
{
    CHECK_CODE(aclsimForgetFindings(), 0);
    CHECK_CODE(aclrtMalloc((void **)&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMalloc((void **)&other, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost((void **)&pinned, BYTES), 0);
    memset(pinned, 1, BYTES);
}

/* Ends a program that has this finding, or (NULL) none. */
static void end(const char *rule, const char *text)
{
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    if (rule == NULL && aclsimFindingCount() != 0)
        fprintf(stderr, "%s\n", aclsimFinding(0));
    CHECK(aclsimFindingCount() == (rule != NULL));
    if (rule != NULL && (strstr(aclsimFinding(0), rule) == NULL || strstr(aclsimFinding(0), text) == NULL))
        fprintf(stderr, "%s\n", aclsimFinding(0));
    CHECK(rule == NULL || (strstr(aclsimFinding(0), rule) != NULL && strstr(aclsimFinding(0), text) != NULL));
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtFree(other), 0);
    CHECK_CODE(aclrtFreeHost(pinned), 0);
}

static void run(const void *from, size_t size, int writes)
{
    aclsimRange range = {.address = (void *)(uintptr_t)from, .size = size, .write = writes};
    CHECK_CODE(aclsimLaunchTask(stream, nothing, NULL, &range, 1, 0), 0);
}

static void test_ranges_of_tasks(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        run(block + 100, 1000, 1);
        run(block + 100 - wrong, 1000, 0);
        end(wrong ? "uninitialised-read" : NULL,
            "reads 1 byte that nothing has written since the allocation; the first is byte 99 of the block");
    }
}

static void test_copies_keep_what_is_unwritten(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        CHECK_CODE(aclrtMemset(block, BYTES, 0, 1001), 0);
        CHECK_CODE(aclrtMemcpyAsync(other + 13, 2000, block, 2000, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
        CHECK_CODE(aclrtMemcpyAsync(block + 2000, 1500, other + 13, 1500, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
        run(block + 2000, (size_t)(1001 + wrong), 0);
        end(wrong ? "uninitialised-read" : NULL,
            "reads 1 byte that nothing has written since the allocation; the first is byte 3001 of the block");
    }
}

static void test_rows(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        CHECK_CODE(aclrtMemcpy2d(block, 64, host, 16, 16, 10, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        CHECK_CODE(aclrtMemcpy2dAsync(other, 64, block, 64, 16, 10, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
        CHECK_CODE(aclrtMemcpy2dAsync(pinned, 17, other, 64, (size_t)(16 + wrong), 10, ACL_MEMCPY_DEVICE_TO_HOST,
                                      stream), 0);
        end(wrong ? "uninitialised-read" : NULL, "aclrtMemcpy2dAsync reads 10 bytes of src that nothing");
    }
}

static void test_synchronous_reads(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        if (!wrong)
            CHECK_CODE(aclrtMemcpy(block, BYTES, host, 256, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        CHECK_CODE(aclrtMemcpy(host, BYTES, block, 256, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        end(wrong ? "uninitialised-read" : NULL, "aclrtMemcpy reads 256 bytes");
    }
}

static void test_a_task_without_ranges_may_write_anything(void)
{
    begin();
    CHECK_CODE(aclsimLaunchTask(stream, nothing, NULL, NULL, 0, 0), 0);
    run(block, BYTES, 0);
    end(NULL, NULL);
}

static void test_an_exposed_block_counts_as_written(void)
{
    begin();
    CHECK(aclsimReach(block, 8) != NULL);
    run(block, BYTES, 0);
    end(NULL, NULL);
}

/* ---- host memory ---- */

static void test_sources_that_change(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        CHECK_CODE(aclsimStreamHold(stream), 0);
        CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned, 100, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
        pinned[wrong ? 99 : 100] = 2;
        CHECK_CODE(aclsimStreamRelease(stream), 0);
        end(wrong ? "host-write-before-copy" : NULL, "the source of aclrtMemcpyAsync (100 bytes at ");
    }
}

static void write_source(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    (void)run;
    (void)task;
    (void)argument;
    pinned[0]++;
}

/* A watcher that is switched on after the checker is called behind it, so that its write is one during the copy. */
static void test_sources_that_change_during_the_copy(void)
{
    static const struct sim_watcher host_code = {.wt_start = write_source};
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        sim_watcher_set(&host_code, true);
        CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned + 1 - wrong, 100, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        sim_watcher_set(&host_code, false);
        end(wrong ? "host-write-before-copy" : NULL, "(100 bytes at ");
    }
}

/* That is a race of two tasks, which another checker reports. */
static void test_a_copy_of_another_stream_is_not_the_host(void)
{
    aclrtStream second;
    begin();
    CHECK_CODE(aclrtCreateStream(&second), 0);
    CHECK_CODE(aclrtMemset(other, BYTES, 7, BYTES), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(pinned, BYTES, other, 1, ACL_MEMCPY_DEVICE_TO_HOST, second), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    end(NULL, NULL);
    CHECK_CODE(aclrtDestroyStream(second), 0);
}

static void test_destinations_that_change(void)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        begin();
        CHECK_CODE(aclrtMemset(block, BYTES, 0, BYTES), 0);
        CHECK_CODE(aclsimStreamHold(stream), 0);
        CHECK_CODE(aclrtMemcpy2dAsync(pinned, 20, block, 10, 10, 5, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
        pinned[wrong ? 29 : 30] = 2; /* the last byte of the second row, and the first between rows */
        CHECK_CODE(aclsimStreamRelease(stream), 0);
        end(wrong ? "host-write-to-destination" : NULL, "the destination of aclrtMemcpy2dAsync (50 bytes at ");
    }
}

/* The copies change the memory themselves, in the order of the stream. */
static void test_copies_there_and_back(void)
{
    begin();
    CHECK_CODE(aclrtMemset(block, BYTES, 7, BYTES), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(pinned, BYTES, block, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(other, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(pinned, BYTES, other, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    end(NULL, NULL);
}

/* The host writes, then lets the stream go on by a value that the stream waits for. */
static void test_a_value_orders_the_host_before_the_copy(void)
{
    uint64_t *flag;
    begin();
    CHECK_CODE(aclrtMalloc((void **)&flag, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(flag, 64, 0, 64), 0);
    CHECK_CODE(aclrtValueWait(flag, 1, 1, stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    memset(pinned, 3, BYTES);
    CHECK_CODE(aclrtMemset(flag, 64, 1, 1), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtFree(flag), 0);
    end(NULL, NULL);
}

static void test_many_queued_copies(void)
{
    begin();
    CHECK_CODE(aclsimStreamHold(stream), 0);
    for (int i = 0; i < 3000; i++)
        CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(block, BYTES, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    pinned[0] = 9;
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    end("host-write-before-copy", "(64 bytes");
}

int main(void)
{
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclsimConfigure("check", "init,sync"), 0);
    CHECK_CODE(aclInit(NULL), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    test_ranges_of_tasks();
    test_copies_keep_what_is_unwritten();
    test_rows();
    test_synchronous_reads();
    test_a_task_without_ranges_may_write_anything();
    test_an_exposed_block_counts_as_written();
    test_sources_that_change();
    test_sources_that_change_during_the_copy();
    test_a_copy_of_another_stream_is_not_the_host();
    test_destinations_that_change();
    test_copies_there_and_back();
    test_a_value_orders_the_host_before_the_copy();
    test_many_queued_copies();
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK_CODE(aclsimReset(), 0); /* frees what the checkers keep */
    puts("ok");
    return 0;
}
