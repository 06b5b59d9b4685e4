/* Single-stream capture: the work of a stream is recorded once and replayed eight times. */
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE 0
#define ROWS 4
#define COLUMNS 2
#define COUNT (ROWS * COLUMNS)
#define SIZE (COUNT * sizeof(float))
#define ROUNDS 8
#define JSON "./modelRI.json"

/* Prints that a step succeeded, or exits with the reason why it failed. */
static void check(int ret, const char *function, const char *what)
{
    if (ret != ACL_SUCCESS) {
        fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, aclGetRecentErrMsg());
        exit(1);
    }
    printf("[INFO] %s ok\n", what);
}

static float *take_host(float value)
{
    void *host;
    check(aclrtMallocHost(&host, SIZE), "aclrtMallocHost", "pinned host memory");
    for (int i = 0; i < COUNT; i++)
        ((float *)host)[i] = value;
    return (float *)host;
}

static void *take_device(void)
{
    void *device;
    check(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc", "device memory");
    return device;
}

static aclTensor *take_tensor(void *device)
{
    const int64_t dims[] = {ROWS, COLUMNS}, strides[] = {COLUMNS, 1};
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, device);
}

/* Counts the tasks of a printed instance: there is one object per task, and one object per line. */
static int count_tasks(const char *path)
{
    FILE *file = fopen(path, "r");
    int count = 0;
    char line[1024];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += line[0] == '{';
    if (file != NULL)
        fclose(file);
    return count;
}

int main(void)
{
    aclrtStream stream;
    aclmdlRI instance;
    aclOpExecutor *executor;
    uint64_t workspace_size;
    void *workspace = NULL;
    float one_point_one = 1.1f;

    check(aclInit(NULL), "aclInit", "initialize");
    check(aclrtSetDevice(DEVICE), "aclrtSetDevice", "set device");
    check(aclrtCreateStream(&stream), "aclrtCreateStream", "stream");
    float *self_host = take_host(0), *other_host = take_host(1);
    void *self_device = take_device(), *other_device = take_device(), *out_device = take_device();
    aclTensor *self = take_tensor(self_device), *other = take_tensor(other_device), *out = take_tensor(out_device);
    aclScalar *alpha = aclCreateScalar(&one_point_one, ACL_FLOAT);
    check(aclnnAddGetWorkspaceSize(self, other, alpha, out, &workspace_size, &executor), "aclnnAddGetWorkspaceSize",
          "workspace of the addition");
    if (workspace_size != 0)
        check(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc", "workspace");

    check(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), "aclmdlRICaptureBegin", "begin capture");
    check(aclrtMemcpyAsync(self_device, SIZE, self_host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), "aclrtMemcpyAsync",
          "captured copy to the device");

    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED; /* in GLOBAL a synchronous copy fails */
    check(aclmdlRICaptureThreadExchangeMode(&mode), "aclmdlRICaptureThreadExchangeMode", "relax capture mode");
    check(aclrtMemcpy(other_device, SIZE, other_host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy",
          "copy that runs at once");
    check(aclmdlRICaptureThreadExchangeMode(&mode), "aclmdlRICaptureThreadExchangeMode", "restore capture mode");

    check(aclnnAdd(workspace, workspace_size, executor, stream), "aclnnAdd", "captured addition");
    check(aclrtMemcpyAsync(self_host, SIZE, out_device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream), "aclrtMemcpyAsync",
          "captured copy to the host");
    check(aclmdlRICaptureEnd(stream, &instance), "aclmdlRICaptureEnd", "end capture");
    check(aclmdlRIDebugJsonPrint(instance, JSON, ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY), "aclmdlRIDebugJsonPrint",
          "print to " JSON);
    printf("[INFO] %d tasks in " JSON "\n", count_tasks(JSON));

    for (int round = 0; round < ROUNDS; round++) { /* each round starts from the result of the last one */
        int ret = aclmdlRIExecuteAsync(instance, stream);
        if (ret == ACL_SUCCESS)
            ret = aclrtSynchronizeStream(stream);
        check(ret, "aclmdlRIExecuteAsync", "replay");
        for (int i = 0; i < COUNT; i++)
            printf("%f%c", self_host[i], i + 1 < COUNT ? ' ' : '\n');
    }

    check(aclmdlRIDestroy(instance), "aclmdlRIDestroy", "destroy instance");
    aclDestroyTensor(self);
    aclDestroyTensor(other);
    aclDestroyTensor(out);
    aclDestroyScalar(alpha);
    if (workspace != NULL)
        check(aclrtFree(workspace), "aclrtFree", "free workspace");
    check(aclrtFree(self_device), "aclrtFree", "free self");
    check(aclrtFree(other_device), "aclrtFree", "free other");
    check(aclrtFree(out_device), "aclrtFree", "free out");
    check(aclrtFreeHost(self_host), "aclrtFreeHost", "free host self");
    check(aclrtFreeHost(other_host), "aclrtFreeHost", "free host other");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy stream");
    check(aclrtResetDevice(DEVICE), "aclrtResetDevice", "reset device");
    check(aclFinalize(), "aclFinalize", "finalize");
    return 0;
}
