/* A custom kernel: loaded, launched, captured and replayed, and launched through a host function that this program is
 * linked with. Kernel and host function are in vector_add.o, compiled from vector_add.c, in the current folder. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 8
#define BLOCKS 4
#define ROUNDS 3

#ifdef __cplusplus
extern "C"
#endif
aclError aclrtlaunch_vector_add(uint32_t blocks, aclrtStream stream, void *x, void *y, void *z, uint64_t count);

static void check(aclError ret, const char *function, const char *what)
{
    if (ret != ACL_SUCCESS) {
        fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, aclGetRecentErrMsg());
        exit(1);
    }
    printf("[INFO] %s ok\n", what);
}

static void *take(float first, float step)
{
    void *device;
    float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = first + step * (float)i;
    if (aclrtMalloc(&device, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        aclrtMemcpy(device, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
        check(ACL_ERROR_FAILURE, "aclrtMalloc", "");
    return device;
}

static void show(aclrtStream stream, const void *device)
{
    float host[COUNT];
    aclError ret = aclrtSynchronizeStream(stream);
    if (ret == ACL_SUCCESS)
        ret = aclrtMemcpy(host, sizeof host, device, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    if (ret != ACL_SUCCESS)
        check(ret, "aclrtSynchronizeStream", "");
    for (int i = 0; i < COUNT; i++)
        printf("%g%c", host[i], i + 1 < COUNT ? ' ' : '\n');
}

static aclrtArgsHandle arguments(aclrtFuncHandle function, void *x, void *y)
{
    aclrtArgsHandle list;
    aclrtParamHandle parameter;
    uint64_t count = COUNT;
    check(aclrtKernelArgsInit(function, &list), "aclrtKernelArgsInit", "argument list");
    if (aclrtKernelArgsAppend(list, &x, sizeof x, &parameter) != ACL_SUCCESS ||
        aclrtKernelArgsAppend(list, &y, sizeof y, &parameter) != ACL_SUCCESS ||
        aclrtKernelArgsAppend(list, &y, sizeof y, &parameter) != ACL_SUCCESS ||
        aclrtKernelArgsAppend(list, &count, sizeof count, &parameter) != ACL_SUCCESS)
        check(ACL_ERROR_FAILURE, "aclrtKernelArgsAppend", "");
    check(aclrtKernelArgsFinalize(list), "aclrtKernelArgsFinalize", "arguments x, y, y, count");
    return list;
}

int main(void)
{
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclmdlRI instance;
    check(aclInit(NULL), "aclInit", "initialise");
    check(aclrtSetDevice(0), "aclrtSetDevice", "set device 0");
    check(aclrtCreateStream(&stream), "aclrtCreateStream", "create stream");
    check(aclrtBinaryLoadFromFile("vector_add.o", NULL, &binary), "aclrtBinaryLoadFromFile", "load vector_add.o");
    check(aclrtBinaryGetFunction(binary, "vector_add", &function), "aclrtBinaryGetFunction", "find vector_add");
    void *x = take(1, 1), *y = take(10, 10);
    aclrtArgsHandle list = arguments(function, x, y);
    check(aclrtLaunchKernelWithConfig(function, BLOCKS, stream, NULL, list, NULL), "aclrtLaunchKernelWithConfig",
          "launch 4 blocks");
    show(stream, y);
    check(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), "aclmdlRICaptureBegin", "begin capture");
    check(aclrtLaunchKernelWithConfig(function, BLOCKS, stream, NULL, list, NULL), "aclrtLaunchKernelWithConfig",
          "captured launch");
    check(aclmdlRICaptureEnd(stream, &instance), "aclmdlRICaptureEnd", "end capture");
    for (int i = 0; i < ROUNDS; i++) {
        check(aclmdlRIExecuteAsync(instance, stream), "aclmdlRIExecuteAsync", "replay");
        show(stream, y);
    }
    check(aclrtlaunch_vector_add(BLOCKS, stream, x, y, y, COUNT), "aclrtlaunch_vector_add", "launch another way");
    show(stream, y);
    check(aclmdlRIDestroy(instance), "aclmdlRIDestroy", "destroy instance");
    check(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad", "unload vector_add.o");
    check(aclrtFree(x), "aclrtFree", "free x");
    check(aclrtFree(y), "aclrtFree", "free y");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy stream");
    check(aclrtResetDevice(0), "aclrtResetDevice", "reset device 0");
    check(aclFinalize(), "aclFinalize", "finalise");
    return 0;
}
