/* The C twins of calls from Python: a shared library whose loops return nanoseconds per pass, in the caller's thread.
 * `ascendcl bench` and tests/bench compile it and load it into Python. */
#include "machine.h"
#include "twin.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_gelu.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_reduce_sum.h>
#include <aclnnop/aclnn_softmax.h>

void twin_nothing(void)
{
}

double twin_get_device(int loops)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        int32_t device;
        OK(aclrtGetDevice(&device));
    }
    return twin_each(start, loops);
}

double twin_malloc_free(int loops, size_t size)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        void *block;
        OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtFree(block));
    }
    return twin_each(start, loops);
}

double twin_memcpy(int loops, void *target, const void *source, size_t size, size_t kind)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtMemcpy(target, size, source, size, (aclrtMemcpyKind)kind));
    return twin_each(start, loops);
}

double twin_record_event(int loops, aclrtEvent event, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtRecordEvent(event, stream));
    return twin_each(start, loops);
}

double twin_create_event(int loops, size_t flags)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        aclrtEvent event;
        OK(aclrtCreateEventExWithFlag(&event, (uint32_t)flags));
        OK(aclrtDestroyEvent(event));
    }
    return twin_each(start, loops);
}

double twin_memset_async(int loops, void *target, size_t size, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtMemsetAsync(target, size, 0, size, stream));
    return twin_each(start, loops);
}

double twin_synchronize_stream(int loops, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtSynchronizeStream(stream));
    return twin_each(start, loops);
}

double twin_create_stream(int loops)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        aclrtStream stream;
        OK(aclrtCreateStream(&stream));
        OK(aclrtDestroyStream(stream));
    }
    return twin_each(start, loops);
}

double twin_burst(int loops, void *target, size_t tasks, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        for (size_t j = 0; j < tasks; j++)
            OK(aclrtMemsetAsync(target, 4, 0, 4, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, loops);
}

double twin_record_event_sync(int loops, aclrtEvent event, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtSynchronizeEvent(event));
    }
    return twin_each(start, loops);
}

double twin_record_stream_sync(int loops, aclrtEvent event, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, loops);
}

double twin_hop(int loops, void *target, aclrtEvent event, aclrtStream from, aclrtStream to)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        OK(aclrtMemsetAsync(target, 4, 0, 4, from));
        OK(aclrtRecordEvent(event, from));
        OK(aclrtStreamWaitEvent(to, event));
        OK(aclrtMemsetAsync(target, 4, 0, 4, to));
        OK(aclrtSynchronizeStream(to));
    }
    return twin_each(start, loops);
}

double twin_capture(int loops, void *target, size_t tasks, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        aclmdlRI instance;
        OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        for (size_t j = 0; j < tasks; j++)
            OK(aclrtMemsetAsync(target, 4, 0, 4, stream));
        OK(aclmdlRICaptureEnd(stream, &instance));
        OK(aclmdlRIDestroy(instance));
    }
    return twin_each(start, loops);
}

double twin_replay_sync(int loops, aclmdlRI instance, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        OK(aclmdlRIExecuteAsync(instance, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, loops);
}

double twin_replay(int loops, aclmdlRI instance, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclmdlRIExecuteAsync(instance, stream));
    return twin_each(start, loops);
}

double twin_execute(int loops, size_t model, aclmdlDataset *input, aclmdlDataset *output)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclmdlExecute((uint32_t)model, input, output));
    return twin_each(start, loops);
}

double twin_execute_sync(int loops, size_t model, aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        OK(aclmdlExecuteAsync((uint32_t)model, input, output, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, loops);
}

static void twin_no_callback(void *unused)
{
    (void)unused;
}

double twin_execute_callbacks(int loops, size_t model, aclmdlDataset *input, aclmdlDataset *output, size_t tasks,
                              aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        for (size_t j = 0; j < tasks; j++) {
            OK(aclmdlExecuteAsync((uint32_t)model, input, output, stream));
            OK(aclrtLaunchCallback(twin_no_callback, NULL, ACL_CALLBACK_BLOCK, stream));
        }
        OK(aclrtSynchronizeStream(stream));
    }
    return twin_each(start, loops);
}

double twin_add(int loops, aclTensor *self, aclTensor *other, aclScalar *alpha, aclTensor *out, aclrtStream stream)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++) {
        uint64_t size;
        aclOpExecutor *executor;
        OK(aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor));
        OK(aclnnAdd(NULL, size, executor, stream));
    }
    return twin_each(start, loops);
}

double twin_launch(int loops, aclrtFuncHandle function, void *x, aclrtStream stream)
{
    struct {
        void *x, *y, *z;
        uint64_t count;
    } arguments = {x, x, x, 4};
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &arguments, sizeof arguments, NULL, 0));
    return twin_each(start, loops);
}

/* --- Operators, each with both phases and a wait for the result on the default stream */

/* Allocates the workspace once, since its size is the same in each pass. */
#define TWIN_OPERATOR(loops, name, ...)                                                                                \
    do {                                                                                                               \
        void *workspace = NULL;                                                                                        \
        uint64_t size, start = twin_now();                                                                             \
        for (int i = 0; i < (loops); i++) {                                                                            \
            aclOpExecutor *executor;                                                                                   \
            OK(name##GetWorkspaceSize(__VA_ARGS__, &size, &executor));                                                 \
            if (size != 0 && workspace == NULL)                                                                        \
                OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));                                          \
            OK(name(workspace, size, executor, NULL));                                                                 \
            OK(aclrtSynchronizeStream(NULL));                                                                          \
        }                                                                                                              \
        each = twin_each(start, loops);                                                                                \
        if (workspace != NULL)                                                                                         \
            OK(aclrtFree(workspace));                                                                                  \
    } while (0)

double twin_nn_add(int loops, aclTensor *self, aclTensor *other, aclTensor *out)
{
    double each;
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    TWIN_OPERATOR(loops, aclnnAdd, self, other, alpha, out);
    OK(aclDestroyScalar(alpha));
    return each;
}

double twin_nn_gelu(int loops, aclTensor *self, aclTensor *out)
{
    double each;
    TWIN_OPERATOR(loops, aclnnGelu, self, out);
    return each;
}

double twin_nn_softmax(int loops, aclTensor *self, aclTensor *out)
{
    double each;
    TWIN_OPERATOR(loops, aclnnSoftmax, self, 1, out);
    return each;
}

double twin_nn_reduce_sum(int loops, aclTensor *self, aclTensor *out)
{
    double each;
    int64_t last = 1;
    aclIntArray *dims = aclCreateIntArray(&last, 1);
    TWIN_OPERATOR(loops, aclnnReduceSum, self, dims, false, ACL_FLOAT, out);
    OK(aclDestroyIntArray(dims));
    return each;
}

double twin_nn_matmul(int loops, aclTensor *self, aclTensor *other, aclTensor *out)
{
    double each;
    TWIN_OPERATOR(loops, aclnnMatmul, self, other, out, 1);
    return each;
}
