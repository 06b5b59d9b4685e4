/* Memory through the entry points, as far as it needs C or many threads. The other tests are in
 * tests/test_memory*.py. */
#include "check.h"
#include <acl/acl_sim.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, TURNS = 2000, BYTES = 1024 };

static void *copy_by_thread(void *argument)
{
    char first = (char)(uintptr_t)argument;
    aclrtStream stream;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    void *host;
    CHECK_CODE(aclrtMallocHost(&host, BYTES), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        void *a, *b;
        char value = (char)(first + turn), out = 0;
        CHECK_CODE(aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtMalloc(&b, BYTES * 40, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
        CHECK_CODE(aclrtMemsetAsync(a, BYTES, value, BYTES, stream), 0);
        CHECK_CODE(aclrtMemcpyAsync(b, BYTES, a, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
        CHECK_CODE(aclrtMemcpyAsync(host, BYTES, b, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
        CHECK_CODE(aclrtMemcpyAsync(&out, 1, (char *)b + BYTES - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
        CHECK(out == value && ((char *)host)[BYTES - 1] == value); /* the pageable copy waited for the other tasks */
        CHECK_CODE(aclrtFree(a), 0);
        CHECK_CODE(aclrtFree(b), 0);
    }
    CHECK_CODE(aclrtFreeHost(host), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    size_t before, after, total;
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, copy_by_thread, (void *)(i * 37)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
    CHECK(before == after);
}

/* A block is freed and allocated again under a queued task: the task fails, and its message names the free. */
static void test_freed_under_task(aclrtStream stream)
{
    void *block, *again;
    char site[64];
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemsetAsync(block, 100, 1, 100, stream), 0);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtMalloc(&again, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK(again == block);
    CHECK_CODE(aclrtMemset(again, 100, 5, 100), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    const char *text = aclGetRecentErrMsg();
    snprintf(site, sizeof site, "by thread %d at 0x", (int)gettid());
    CHECK(text != NULL && strstr(text, "aclrtMemsetAsync failed") != NULL && strstr(text, site) != NULL);
    snprintf(site, sizeof site, "submitted by thread %d at 0x", (int)gettid());
    CHECK(strstr(text, site) != NULL && strstr(text, "allocated again since") != NULL);
    unsigned char out[100];
    CHECK_CODE(aclrtMemcpy(out, 100, again, 100, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(out[0] == 5 && out[99] == 5);
    CHECK_CODE(aclrtFree(again), 0);
}

static aclError copy_in_kernel(void *argument)
{
    char value = 1;
    CHECK_CODE(aclrtMemcpy(argument, 1, &value, 1, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_INTERNAL_ERROR);
    CHECK_CODE(aclrtMemset(argument, 1, 1, 1), ACL_ERROR_RT_INTERNAL_ERROR);
    CHECK_CODE(aclrtFreeWithDevSync(argument), ACL_ERROR_RT_INTERNAL_ERROR);
    CHECK_CODE(aclrtSynchronizeDevice(), ACL_ERROR_RT_INTERNAL_ERROR);
    *(char *)aclsimTranslate(argument) = 9;
    return ACL_SUCCESS;
}

static void test_in_kernel(aclrtStream stream)
{
    void *block;
    char out = 0;
    CHECK_CODE(aclrtMalloc(&block, 8, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    aclsimRange range = {block, 8, 1};
    for (uint32_t flags = 0; flags <= ACLSIM_TASK_WORKER; flags += ACLSIM_TASK_WORKER) { /* a host, a worker */
        CHECK_CODE(aclrtMemset(block, 8, 0, 8), 0);
        CHECK_CODE(aclsimLaunchTask(stream, copy_in_kernel, block, &range, 1, flags), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtMemcpy(&out, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        CHECK(out == 9);
    }
    CHECK_CODE(aclrtFree(block), 0);
    CHECK(aclsimTranslate(block) == NULL && aclsimTranslate(&out) == NULL);
}

/* Registered memory counts as pinned in copies; a task fails if its memory was unregistered meanwhile. */
static void test_registered(aclrtStream stream)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *block, *mapped;
    CHECK_CODE(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(block, 16, pages, 16, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    pages[0] = 7; /* read when the task runs */
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    char out = 0;
    CHECK_CODE(aclrtMemcpy(&out, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(out == 7);
    CHECK_CODE(aclrtMemcpyAsync(block, 64, pages + 4090, 7, ACL_MEMCPY_HOST_TO_DEVICE, stream),
               ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("count is 7, expected at most 6");
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(pages, 16, block, 16, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    CHECK_CODE(aclrtHostUnregister(pages), 0);
    munmap(pages, 8192);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK_CODE(aclrtFree(block), 0);
}

static aclError do_nothing(void *unused)
{
    (void)unused;
    return 0;
}

/* Queues a task that declares that it writes to the bytes. */
static aclError touch(aclrtStream stream, void *address, uint64_t size)
{
    aclsimRange range = {address, size, 1};
    return aclsimLaunchTask(stream, do_nothing, NULL, &range, 1, 0);
}

/* Tasks can use registered memory that is mapped for devices like device memory, as long as it is registered. */
static void test_mapped(aclrtStream stream)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *mapped;
    CHECK_CODE(touch(stream, pages, 64), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped), 0);
    CHECK(mapped == pages);
    CHECK_CODE(touch(stream, pages + 4000, 96), 0);
    CHECK_CODE(touch(stream, pages + 4000, 97), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("size is 97, expected at most 96");
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    for (int again = 0; again < 2; again++) { /* a later registration does not replace that of the task */
        CHECK_CODE(aclsimStreamHold(stream), 0);
        CHECK_CODE(touch(stream, pages, 64), 0);
        CHECK_CODE(aclrtHostUnregister(pages), 0);
        if (again == 0)
            CHECK_CODE(aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped), 0);
        CHECK_CODE(aclsimStreamRelease(stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    }
    CHECK_TEXT("unregistered");
    CHECK_CODE(touch(stream, pages, 64), ACL_ERROR_RT_PARAM_INVALID);
    munmap(pages, 8192);
}

/* Memory is counted among the live objects, and an unknown kind is refused. */
static void test_live_counts(void)
{
    void *block, *pinned;
    aclrtEvent event;
    size_t all = aclsimLiveCount(NULL), memory = aclsimLiveCount("memory"), events = aclsimLiveCount("event");
    size_t notifies = aclsimLiveCount("notify");
    CHECK_CODE(aclrtMalloc(&block, 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost(&pinned, 16), 0);
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    CHECK(aclsimLiveCount("memory") == memory + 2);
    CHECK(aclsimLiveCount("event") == events + 1 && aclsimLiveCount("notify") == notifies);
    CHECK(aclsimLiveCount(NULL) == all + 3);
    CHECK(aclsimLiveCount("events") == SIZE_MAX);
    CHECK_TEXT("kind is \"events\", expected NULL or one of memory, model, ");
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtFreeHost(pinned), 0);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK(aclsimLiveCount(NULL) == all);
}

/* If the program runs on the device itself, it can access the device's memory, and there is no virtual memory. */
static void test_on_the_device(void)
{
    char *block, source[16] = {1};
    void *address;
    aclrtRunMode mode;
    aclrtStream stream;
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclrtGetRunMode(&mode), 0);
    CHECK(mode == ACL_HOST);
    CHECK_CODE(aclsimConfigure("soc", "Ascend310B1"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtGetRunMode(&mode), 0);
    CHECK(mode == ACL_DEVICE);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtMalloc((void **)&block, 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    block[0] = 7;
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(block, 16, source, 16, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    CHECK(block[0] == 7);
    source[0] = 2; /* read when the task runs: a copy from device to device */
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(block[0] == 2);
    CHECK_CODE(aclrtReserveMemAddress(&address, (size_t)1 << 21, 0, NULL, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_CODE(aclsimReset(), 0);
}

/* aclsimReset frees every block, and the next device may have another size. */
static void test_reset(void)
{
    void *block, *host;
    size_t unused, total;
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost(&host, 100), 0);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("memory", "64Mi"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtFreeHost(host), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total), 0);
    CHECK(total == (size_t)64 << 20 && unused == total);
}

/* ---- batches, addresses in device memory, symbols ---- */

struct batch {
    void *dsts[2], *srcs[2];
    size_t sizes[2], start;
    aclrtMemcpyBatchAttr attribute;
};

static aclError queue_batch(struct batch *batch, aclrtStream stream)
{
    return aclrtMemcpyBatchAsyncV2(batch->dsts, batch->sizes, batch->srcs, batch->sizes, 2, &batch->attribute,
                                   &batch->start, 1, stream);
}

static aclrtStream shared;

/* Each thread copies its own memory to the device and, with offsets, within the device, all on one stream. */
static void *copy_parts(void *argument)
{
    unsigned char first = (unsigned char)(uintptr_t)argument, *host;
    unsigned char *block, out[2 * BYTES];
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtMallocHost((void **)&host, BYTES), 0);
    CHECK_CODE(aclrtMallocWithCfg((void **)&block, 3 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST, NULL), 0);
    uint64_t addresses[2] = {(uint64_t)(uintptr_t)(block + BYTES), (uint64_t)(uintptr_t)block};
    unsigned char *words = block + 2 * BYTES;
    CHECK_CODE(aclrtMemcpy(words, sizeof addresses, addresses, sizeof addresses, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    struct batch batch = {.dsts = {block, block + BYTES / 2}, .srcs = {host + BYTES / 2, host},
                          .sizes = {BYTES / 2, BYTES / 2},
                          .attribute = {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}}};
    for (int turn = 0; turn < TURNS / 10; turn++) {
        memset(host, first + turn, BYTES / 2);
        memset(host + BYTES / 2, first + turn + 1, BYTES / 2);
        CHECK_CODE(queue_batch(&batch, shared), 0);
        CHECK_CODE(aclrtMemcpyAsyncWithOffset((void **)words, BYTES, 1, (const void **)(words + 8), BYTES - 1, 1,
                                              ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, shared), 0);
        CHECK_CODE(aclrtMemcpyAsync(out, sizeof out, block, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST, shared), 0);
        CHECK(out[0] == (unsigned char)(first + turn + 1) && out[BYTES - 1] == (unsigned char)(first + turn));
        CHECK(memcmp(out + 1, out + BYTES + 1, BYTES - 1) == 0);
    }
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtFreeHost(host), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

static void test_parts(aclrtStream stream)
{
    pthread_t threads[THREADS];
    shared = stream;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, copy_parts, (void *)(i * 50)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* A batch with a copy that cannot be captured is not recorded at all. */
static void test_batch_in_capture(aclrtStream stream)
{
    unsigned char *block, *host, ordinary[8] = {0}, out = 0;
    aclmdlRI instance;
    CHECK_CODE(aclrtMalloc((void **)&block, 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost((void **)&host, 8), 0);
    CHECK_CODE(aclrtMemset(block, 16, 3, 16), 0);
    memset(host, 9, 8);
    struct batch batch = {.dsts = {block, block + 8}, .srcs = {host, ordinary}, .sizes = {8, 8},
                          .attribute = {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}}};
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    CHECK_CODE(queue_batch(&batch, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(&out, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(out == 3);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtFreeHost(host), 0);
}

/* Addresses below 64 KiB, which no process maps, are refused, unless the count is 0. */
static void test_low_addresses(aclrtStream stream)
{
    void *low = (void *)(uintptr_t)65535, *block, *mapped;
    char bytes[16] = {0};
    CHECK_CODE(aclrtMalloc(&block, 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    struct batch batch = {.dsts = {block, block}, .srcs = {bytes, low}, .sizes = {8, 8},
                          .attribute = {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}}};
    CHECK_CODE(aclrtMemset(low, 16, 0, 16), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("0xffff, expected an address in host or device memory, which is never below 64 KiB");
    CHECK_CODE(aclrtMemcpy(bytes, 16, low, 16, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtMemcpyAsync(low, 16, block, 16, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(queue_batch(&batch, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("srcs[1] is 0xffff");
    void *page = (void *)(uintptr_t)61440;
    CHECK_CODE(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &mapped), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("ptr is 0xf000, expected an address in host or device memory");
    CHECK_CODE(aclrtMemset(low, 16, 0, 0), 0);
    CHECK_CODE(aclrtFree(block), 0);
}

/* A variable of this program, which loads itself as a binary. */
static unsigned char variable_of_the_test[BYTES] = {1, 2, 3};
static aclrtBinHandle _Atomic loaded;

static void *ask_for_symbol(void *argument)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        void *address;
        size_t size = BYTES;
        aclError code = turn % 2 ? aclrtGetSymbolAddress(variable_of_the_test, &address)
                                 : aclrtGetSymbolSize(variable_of_the_test, &size);
        CHECK((code == 0 && size == BYTES) || code == ACL_ERROR_RT_INVALID_SYMBOL);
        code = aclsimRegisterVariable(turn % 8 ? argument : variable_of_the_test, loaded, "variable_of_the_test");
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
    }
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

static void test_symbols(void)
{
    pthread_t threads[THREADS];
    aclrtBinHandle binary;
    unsigned char out[3];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, ask_for_symbol, (void *)(i + 1)) == 0);
    for (int turn = 0; turn < 10; turn++) {
        CHECK_CODE(aclrtBinaryLoadFromFile("/proc/self/exe", NULL, &binary), 0);
        loaded = binary;
        CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclrtBinaryLoadFromFile("/proc/self/exe", NULL, &binary), 0);
    CHECK_CODE(aclsimRegisterVariable(variable_of_the_test, binary, "variable_of_the_test"), 0);
    CHECK_CODE(aclrtMemcpyFromSymbol(out, 3, variable_of_the_test, 2, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(out[0] == 2 && out[1] == 3);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
}

int main(void)
{
    aclrtStream stream;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    test_freed_under_task(stream);
    test_in_kernel(stream);
    test_registered(stream);
    test_mapped(stream);
    test_low_addresses(stream);
    test_live_counts();
    test_threads();
    test_parts(stream);
    test_batch_in_capture(stream);
    test_symbols();
    test_reset();
    test_on_the_device();
    return 0;
}
