/* What the programs of the corpus in C share: streams, blocks, an event, and calls that must succeed. */
#ifndef SETTING_H
#define SETTING_H

#include <acl/acl.h>
#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_sim.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_neg.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4096

static aclrtStream one, two, three;
static char *a, *b, *c, *pinned, plain[SIZE];
static aclrtEvent event;
static aclTensor *tensors[8];
static int tensor_count;

static void must(aclError code, const char *what)
{
    if (code == ACL_SUCCESS)
        return;
    printf("%s returned %d: %s\n", what, code, aclGetRecentErrMsg());
    exit(1);
}
#define MUST(CALL) must(CALL, #CALL)

/* ---- setting ---- */

static void start(void)
{
    MUST(aclsimReset());
    MUST(aclsimConfigure("check", "all"));
    MUST(aclsimConfigure("findings", "/dev/null"));
    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
}

static void open_setting(void)
{
    char **blocks[] = {&a, &b, &c};
    MUST(aclrtCreateStream(&one));
    MUST(aclrtCreateStream(&two));
    MUST(aclrtCreateStream(&three));
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtMallocHost((void **)&pinned, SIZE));
    for (int i = 0; i < 3; i++) {
        MUST(aclrtMalloc((void **)blocks[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(*blocks[i], SIZE, 0, SIZE));
    }
}

static void close_setting(void)
{
    char *blocks[] = {a, b, c};
    aclrtSynchronizeDevice();
    for (int i = 0; i < 3; i++)
        aclrtFree(blocks[i]);
    while (tensor_count != 0)
        aclDestroyTensor(tensors[--tensor_count]);
    aclrtFreeHost(pinned);
    aclrtDestroyEvent(event);
    aclrtDestroyStream(one);
    aclrtDestroyStream(two);
    aclrtDestroyStream(three);
}

/* ---- deadlocks ---- */

/* Ends the waits of a faulty program when they have been found: it was there before the device, and is not one of the
 * threads that the checker knows. */
static void *rescue(void *unused)
{
    (void)unused;
    while (aclsimFindingCount() == 0)
        sched_yield();
    MUST(aclrtSetDevice(0));
    aclrtStreamAbort(one);
    aclrtStreamAbort(two);
    aclrtStreamAbort(three);
    return NULL;
}

static void order(aclrtStream earlier, aclrtStream later)
{
    MUST(aclrtRecordEvent(event, earlier));
    MUST(aclrtStreamWaitEvent(later, event));
}

static aclTensor *vector(void *data, int64_t count, int64_t stride, int64_t offset)
{
    const int64_t storage = SIZE / 4;
    return aclCreateTensor(&count, 1, ACL_FLOAT, &stride, offset, ACL_FORMAT_ND, &storage, 1, data);
}

/* Prepares an operator on two tensors, which live until the setting is closed, so that one line queues it. */
static aclOpExecutor *negation(aclTensor *from, aclTensor *to)
{
    uint64_t size;
    aclOpExecutor *executor;
    MUST(aclnnNegGetWorkspaceSize(from, to, &size, &executor));
    tensors[tensor_count++] = from;
    tensors[tensor_count++] = to;
    return executor;
}

#endif
