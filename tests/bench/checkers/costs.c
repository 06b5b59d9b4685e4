/* What checkers.py measures: each line of the output is the name of a row and the least nanoseconds per pass. */
#include <aclnnop/aclnn_add.h>
#include "twin.h"

#define ROUNDS 7
#define PASSES 2000
#define BURST 50 /* tasks between two waits */
#define PAGE 4096

static aclrtStream stream;
static aclmdlRI instance;
static char *cell, *pinned, host[PAGE];
static aclTensor *tensors[3];
static aclScalar *one;

static void open_all(void)
{
    const int64_t shape = 16, stride = 1;
    const float value = 1;
    twin_open();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&cell, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(cell, PAGE, 0, PAGE));
    OK(aclrtMallocHost((void **)&pinned, PAGE));
    for (int i = 0; i < 3; i++)
        tensors[i] = aclCreateTensor(&shape, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &shape, 1, cell + 64 * i);
    one = aclCreateScalar((void *)(uintptr_t)&value, ACL_FLOAT);
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < BURST; i++)
        OK(aclrtMemsetAsync(cell + 4 * i, 4, 1, 4, stream));
    OK(aclmdlRICaptureEnd(stream, &instance));
}

static void tasks(void)
{
    for (int i = 0; i < BURST; i++)
        OK(aclrtMemsetAsync(cell + 4 * i, 4, 1, 4, stream));
    OK(aclrtSynchronizeStream(stream));
}

static void replayed_tasks(void)
{
    OK(aclmdlRIExecuteAsync(instance, stream));
    OK(aclrtSynchronizeStream(stream));
}

static void operator_of_16_numbers(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    OK(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], one, tensors[2], &size, &executor));
    OK(aclnnAdd(NULL, size, executor, stream));
    OK(aclrtSynchronizeStream(stream));
}

static void allocation_and_free(void)
{
    void *block;
    OK(aclrtMalloc(&block, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(block));
}

static void synchronous_copy(void)
{
    OK(aclrtMemcpy(cell, PAGE, host, 4, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void copy_of_pinned_memory(void)
{
    OK(aclrtMemcpyAsync(cell, PAGE, pinned, PAGE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
}

static const struct {
    const char *name;
    void (*run)(void);
    int passes, calls; /* of a round; in a pass */
} rows[] = {
    {"task", tasks, PASSES / BURST, BURST},
    {"replayed task", replayed_tasks, PASSES / BURST, BURST},
    {"operator of 16 numbers", operator_of_16_numbers, PASSES, 1},
    {"allocation and free", allocation_and_free, PASSES, 1},
    {"synchronous copy of 4 bytes", synchronous_copy, PASSES, 1},
    {"asynchronous copy of 4 KiB", copy_of_pinned_memory, PASSES, 1},
};

int main(void)
{
    open_all();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t least = UINT64_MAX;
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t start = twin_now();
            for (int pass = 0; pass < rows[i].passes; pass++)
                rows[i].run();
            uint64_t spent = twin_now() - start;
            least = spent < least ? spent : least;
        }
        printf("%s: %.1f\n", rows[i].name, (double)least / (rows[i].passes * rows[i].calls));
    }
    return 0;
}
