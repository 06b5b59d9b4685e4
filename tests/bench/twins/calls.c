/* The C side of the pyACL calls: a shared library whose loops answer nanoseconds a call, in the caller's thread. */
#include "twin.h"
#include <aclnnop/aclnn_add.h>

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

double twin_memcpy(int loops, void *target, const void *source, size_t size)
{
    uint64_t start = twin_now();
    for (int i = 0; i < loops; i++)
        OK(aclrtMemcpy(target, size, source, size, ACL_MEMCPY_HOST_TO_DEVICE));
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
