/* Host and device memory: allocate, set and copy it, and query how much is free. */
#include <acl/acl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE 0
#define SIZE 256
#define LARGE (4 * 1024 * 1024 - 64) /* two huge pages */
#define BLOCKS 4
#define ATTRIBUTES 6

static const char *const policies[] = {"HUGE_FIRST", "HUGE_ONLY", "NORMAL_ONLY"};
static const char *const attributes[] = {"DDR",           "HBM", "DDR huge pages", "DDR normal pages",
                                         "HBM huge pages", "HBM normal pages"};

/* Prints that a step succeeded, or exits with the reason why it failed. */
static void check(aclError ret, const char *function, const char *what, ...)
{
    va_list values;
    if (ret != ACL_SUCCESS) {
        fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, aclGetRecentErrMsg());
        exit(1);
    }
    va_start(values, what);
    printf("[INFO] ");
    vprintf(what, values);
    printf(" ok\n");
    va_end(values);
}

/* Prints that a step was refused as expected, or exits. */
static void refused(aclError ret, aclError code, const char *what)
{
    if (ret != code) {
        fprintf(stderr, "[ERROR] %s returned %d, expected %d\n", what, ret, code);
        exit(1);
    }
    printf("[INFO] %s is refused with %d ok\n", what, ret);
}

/* Queries the free bytes of each memory type. */
static void memory(const char *when, size_t *left)
{
    for (int i = 0; i < ATTRIBUTES; i++) {
        size_t total;
        aclError ret = aclrtGetMemInfo((aclrtMemAttr)i, &left[i], &total);
        check(ret, "aclrtGetMemInfo", "%s %s: free %#zx of %#zx bytes", attributes[i], when, left[i], total);
    }
}

static const char *first_bytes(const void *host)
{
    static char text[16];
    const unsigned char *bytes = (const unsigned char *)host;
    snprintf(text, sizeof text, "%02x %02x %02x %02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    return text;
}

static void *take(int policy, size_t size)
{
    void *device;
    aclError ret = aclrtMalloc(&device, size, (aclrtMemMallocPolicy)policy);
    check(ret, "aclrtMalloc", "device memory %p, %zu bytes, %s", device, size, policies[policy]);
    return device;
}

static void *take_host(void)
{
    void *host;
    aclError ret = aclrtMallocHost(&host, SIZE);
    check(ret, "aclrtMallocHost", "host memory %p, %d bytes", host, SIZE);
    return host;
}

int main(void)
{
    size_t before[ATTRIBUTES], left[ATTRIBUTES], free_bytes, total;
    void *blocks[BLOCKS], *device;
    aclrtRunMode mode;
    aclrtStream stream;
    check(aclInit(NULL), "aclInit", "initialize");
    refused(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE, "initializing again");
    check(aclrtSetDevice(DEVICE), "aclrtSetDevice", "set device %d", DEVICE);
    aclError ret = aclrtGetRunMode(&mode);
    check(ret, "aclrtGetRunMode", "run mode %s", mode == ACL_HOST ? "ACL_HOST" : "ACL_DEVICE");
    ret = aclrtCreateStream(&stream);
    check(ret, "aclrtCreateStream", "create stream %p", stream);
    memory("before", before);

    void *source = take_host(), *target = take_host();
    for (int policy = 0; policy < 3; policy++)
        blocks[policy] = take(policy, SIZE);
    blocks[3] = take(ACL_MEM_MALLOC_HUGE_ONLY, LARGE);
    memory("after", left);
    for (int i = 0; i < ATTRIBUTES; i++)
        printf("[INFO] %s %s ok\n", attributes[i], left[i] < before[i] ? "fell" : "did not fall");
    ret = aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total);
    check(ret, "aclrtGetMemInfo", "total %#zx bytes", total);
    ret = aclrtMalloc(&device, total, ACL_MEM_MALLOC_HUGE_ONLY);
    refused(ret, ACL_ERROR_RT_MEMORY_ALLOCATION, "allocating more huge pages than available");

    check(aclrtMemset(source, SIZE, 1, SIZE), "aclrtMemset", "set host memory to 1");
    for (int i = 0; i < 2; i++)
        check(aclrtMemset(blocks[i], SIZE, 0, SIZE), "aclrtMemset", "set device memory to 0");
    ret = aclrtMemcpy(target, SIZE, blocks[0], SIZE, ACL_MEMCPY_DEVICE_TO_HOST);
    check(ret, "aclrtMemcpy", "copy device to host: %s", first_bytes(target));
    ret = aclrtMemcpy(blocks[0], SIZE, source, SIZE, ACL_MEMCPY_HOST_TO_DEVICE);
    check(ret, "aclrtMemcpy", "copy host to device");
    ret = aclrtMemcpy(blocks[1], SIZE, blocks[0], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE);
    check(ret, "aclrtMemcpy", "copy device to device");
    ret = aclrtMemcpy(target, SIZE, blocks[1], SIZE, ACL_MEMCPY_DEVICE_TO_HOST);
    check(ret, "aclrtMemcpy", "copy device to host: %s", first_bytes(target));
    check(aclrtMemset(target, SIZE, 2, SIZE), "aclrtMemset", "set host memory to 2");
    ret = aclrtMemcpy(source, SIZE, target, SIZE, ACL_MEMCPY_HOST_TO_HOST);
    check(ret, "aclrtMemcpy", "copy host to host: %s", first_bytes(source));

    ret = aclrtMemsetAsync(blocks[2], SIZE, 3, SIZE, stream);
    check(ret, "aclrtMemsetAsync", "set device memory to 3, queued");
    ret = aclrtMemcpyAsync(target, SIZE, blocks[2], SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    check(ret, "aclrtMemcpyAsync", "copy device to host, queued");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream", "synchronize stream");
    printf("[INFO] copied in order: %s ok\n", first_bytes(target));

    for (int i = 0; i < BLOCKS; i++)
        check(aclrtFree(blocks[i]), "aclrtFree", "free device memory %p", blocks[i]);
    check(aclrtFreeHost(source), "aclrtFreeHost", "free host memory %p", source);
    check(aclrtFreeHost(target), "aclrtFreeHost", "free host memory %p", target);
    memory("at the end", left);
    printf("[INFO] free memory is %s ok\n",
           memcmp(left, before, sizeof left) == 0 ? "as before" : "less than before");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy stream");
    check(aclrtResetDevice(DEVICE), "aclrtResetDevice", "reset device %d", DEVICE);
    check(aclFinalize(), "aclFinalize", "finalize");
    refused(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE, "finalizing again");
    return 0;
}
