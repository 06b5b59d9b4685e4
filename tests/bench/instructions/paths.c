/* The hot paths whose instructions instructions.py counts: PROGRAM ROUNDS runs each of them ROUNDS times, one path
 * after the other. Without an argument, the program prints their names and how many passes a round has.
 *
 * callgrind counts what the calling thread does inside `counted`. The rest of a round (waiting for what was only
 * submitted, for example) is in `pt_after`. The only worker is busy with a task that never ends, because otherwise it
 * would sometimes do a part of the work, and the count would be too small. */
#include <acl/acl_sim.h>
#include <aclnnop/aclnn_add.h>
#include "twin.h"
#include <semaphore.h>
#include <unistd.h>

#define LARGE (64u << 20)
#define PASSES 200
#define REPLAYED 100 /* tasks of the captured instance */
#define BURST 64     /* fewer than those that make a submitter run tasks itself */
#define ADDED 16     /* elements of the operator */

static aclrtStream stream, other;
static aclrtEvent event;
static aclmdlRI instance;
static char *cell, *large;
static aclTensor *tensors[3];
static aclScalar *one;

static sem_t busy;

static aclError keep_busy(void *argument)
{
    (void)argument;
    sem_post(&busy);
    while (pause() != 0)
        ;
    return ACL_SUCCESS;
}

static void open_all(void)
{
    twin_open();
    aclrtStream blocked;
    OK(aclrtCreateStream(&blocked));
    sem_init(&busy, 0, 0);
    OK(aclsimLaunchTask(blocked, keep_busy, NULL, NULL, 0, ACLSIM_TASK_WORKER));
    sem_wait(&busy);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc((void **)&cell, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&large, LARGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < REPLAYED; i++)
        OK(aclrtMemsetAsync(cell + 4 * i, 4, 1, 4, stream));
    OK(aclmdlRICaptureEnd(stream, &instance));
    int64_t shape[1] = {ADDED}, strides[1] = {1};
    for (int i = 0; i < 3; i++)
        tensors[i] = aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, cell + 64 * i);
    float value = 1;
    one = aclCreateScalar(&value, ACL_FLOAT);
}

static void nothing(void)
{
}

static void synchronize(void)
{
    OK(aclrtSynchronizeStream(stream));
}

static void launch_to(aclrtStream target)
{
    OK(aclrtMemsetAsync(cell, 4, 1, 4, target));
}

static aclError return_at_once(void *argument)
{
    (void)argument;
    return ACL_SUCCESS;
}

static void submit(int passes)
{
    for (int i = 0; i < passes; i++)
        launch_to(stream);
}

static void tasks(int passes)
{
    for (int i = 0; i < passes; i++)
        OK(aclsimLaunchTask(stream, return_at_once, NULL, NULL, 0, ACLSIM_TASK_LIGHT));
    synchronize();
}

static void launch_sync(int passes)
{
    for (int i = 0; i < passes; i++) {
        launch_to(stream);
        synchronize();
    }
}

static void idle_sync(int passes)
{
    for (int i = 0; i < passes; i++)
        synchronize();
}

static void idle_query(int passes)
{
    for (int i = 0; i < passes; i++) {
        aclrtStreamStatus status;
        OK(aclrtStreamQuery(stream, &status));
    }
}

static void record_sync(int passes)
{
    for (int i = 0; i < passes; i++) {
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtSynchronizeEvent(event));
    }
}

static void hop(int passes)
{
    for (int i = 0; i < passes; i++) {
        launch_to(stream);
        OK(aclrtRecordEvent(event, stream));
        OK(aclrtStreamWaitEvent(other, event));
        launch_to(other);
        OK(aclrtSynchronizeStream(other));
    }
}

static void create_destroy(int passes)
{
    for (int i = 0; i < passes; i++) {
        aclrtStream made;
        OK(aclrtCreateStream(&made));
        OK(aclrtDestroyStream(made));
    }
}

static void malloc_and_free(int passes, size_t size)
{
    for (int i = 0; i < passes; i++) {
        void *block;
        OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtFree(block));
    }
}

static void malloc_free(int passes)
{
    malloc_and_free(passes, 4096);
}

static void malloc_free_large(int passes)
{
    malloc_and_free(passes, LARGE);
}

static void copy(int passes)
{
    uint32_t number = 7;
    for (int i = 0; i < passes; i++)
        OK(aclrtMemcpy(large + 4096, LARGE - 4096, &number, sizeof number, ACL_MEMCPY_HOST_TO_DEVICE));
}

/* `passes` are tasks. */
static void replay(int passes)
{
    for (int i = 0; i < passes; i += REPLAYED) {
        OK(aclmdlRIExecuteAsync(instance, stream));
        synchronize();
    }
}

static void add(int passes)
{
    for (int i = 0; i < passes; i++) {
        uint64_t size;
        aclOpExecutor *executor;
        OK(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], one, tensors[2], &size, &executor));
        OK(aclnnAdd(NULL, size, executor, stream));
        synchronize();
    }
}

struct path {
    const char *pt_name;
    void (*pt_count)(int passes);
    int pt_passes;
    void (*pt_after)(void);
};

static const struct path paths[] = {
    {"submit", submit, BURST, synchronize},
    {"tasks", tasks, PASSES, nothing},
    {"launch_sync", launch_sync, PASSES, nothing},
    {"idle_sync", idle_sync, PASSES, nothing},
    {"idle_query", idle_query, PASSES, nothing},
    {"record_sync", record_sync, PASSES, nothing},
    {"hop", hop, PASSES, synchronize},
    {"create_destroy", create_destroy, PASSES, nothing},
    {"malloc_free", malloc_free, PASSES, nothing},
    {"malloc_free_large", malloc_free_large, PASSES, nothing},
    {"copy", copy, PASSES, nothing},
    {"replay", replay, PASSES, nothing},
    {"add", add, PASSES, nothing},
};

__attribute__((noinline)) void counted(const struct path *path);
void counted(const struct path *path)
{
    path->pt_count(path->pt_passes);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        open_all();
    for (const struct path *path = paths; path < paths + sizeof paths / sizeof *paths; path++) {
        if (argc != 2)
            printf("%s %d\n", path->pt_name, path->pt_passes);
        for (int left = argc == 2 ? atoi(argv[1]) : 0; left > 0; left--) {
            counted(path);
            path->pt_after();
        }
    }
    return 0;
}
