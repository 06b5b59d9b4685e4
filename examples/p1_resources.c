/* Devices, contexts and streams: acquired in one order, and released in the opposite order. */
#include <acl/acl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE 0
#define STREAMS 3
#define STEPS 4
#define CELL 64 /* bytes */

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

/* Prints that a step in the wrong order was refused as expected, or exits. */
static void refused(aclError ret, aclError code, const char *what)
{
    if (ret != code) {
        fprintf(stderr, "[ERROR] %s returned %d, expected %d\n", what, ret, code);
        exit(1);
    }
    printf("[INFO] %s is refused with %d ok\n", what, ret);
}

/* Memory in which tasks record their order: each sets a cell to its number and copies the cell to an address of its
 * own. */
static char *take_cells(void)
{
    void *cells;
    aclError ret = aclrtMalloc(&cells, CELL * (1 + STEPS), ACL_MEM_MALLOC_HUGE_FIRST);
    check(ret, "aclrtMalloc", "device memory %p", cells);
    return (char *)cells;
}

static aclError submit(char *cell, int step, aclrtStream stream)
{
    aclError ret = aclrtMemsetAsync(cell, CELL, step, CELL, stream);
    if (ret != ACL_SUCCESS)
        return ret;
    return aclrtMemcpyAsync(cell + CELL * step, CELL, cell, CELL, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}

static void finish(char *cell, aclrtStream stream, const char *name)
{
    char seen[CELL * STEPS], order[STEPS * 4] = "";
    int length = 0;
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream", "synchronize %s", name);
    aclError ret = aclrtMemcpy(seen, sizeof seen, cell + CELL, sizeof seen, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < STEPS; i++)
        length += snprintf(order + length, sizeof order - (size_t)length, " %d", seen[CELL * i]);
    check(ret, "aclrtMemcpy", "%s ran its tasks in the order%s", name, order);
    check(aclrtFree(cell), "aclrtFree", "free %s's memory", name);
}

static void one_thread(aclrtStream stream, const char *name)
{
    char *cell = take_cells();
    for (int step = 1; step <= STEPS; step++)
        check(submit(cell, step, stream), "aclrtMemcpyAsync", "submit task %d to %s", step, name);
    finish(cell, stream, name);
}

struct lane {
    aclrtStream stream;
    char name[16];
    char *cell;
    aclrtContext context;
    aclError ret; /* the first error of the thread */
    pthread_t thread;
};

static void open_lanes(struct lane *lanes)
{
    for (int i = 0; i < STREAMS; i++) {
        snprintf(lanes[i].name, sizeof lanes[i].name, "stream %d", i);
        aclError ret = aclrtCreateStream(&lanes[i].stream);
        check(ret, "aclrtCreateStream", "create %s %p", lanes[i].name, lanes[i].stream);
        lanes[i].cell = take_cells();
    }
}

static void close_lanes(struct lane *lanes)
{
    for (int i = 0; i < STREAMS; i++) {
        finish(lanes[i].cell, lanes[i].stream, lanes[i].name);
        check(aclrtDestroyStream(lanes[i].stream), "aclrtDestroyStream", "destroy %s", lanes[i].name);
    }
}

/* Runs the tasks on several streams in parallel: only the order within each stream is defined. */
static void several_streams(void)
{
    struct lane lanes[STREAMS];
    open_lanes(lanes);
    for (int step = 1; step <= STEPS; step++)
        for (int i = 0; i < STREAMS; i++)
            check(submit(lanes[i].cell, step, lanes[i].stream), "aclrtMemcpyAsync", "submit task %d to %s", step,
                  lanes[i].name);
    close_lanes(lanes);
}

/* A new thread has no current context, so it sets one first. */
static void *work(void *argument)
{
    struct lane *lane = (struct lane *)argument;
    lane->ret = aclrtSetCurrentContext(lane->context);
    for (int step = 1; step <= STEPS && lane->ret == ACL_SUCCESS; step++)
        lane->ret = submit(lane->cell, step, lane->stream);
    if (lane->ret == ACL_SUCCESS)
        lane->ret = aclrtSynchronizeStream(lane->stream);
    return NULL;
}

/* Runs the tasks on several threads, each with its own stream, in one context that they share. */
static void several_threads(void)
{
    struct lane lanes[STREAMS];
    aclrtContext context;
    int32_t device;
    aclError ret = aclrtCreateContext(&context, DEVICE);
    check(ret, "aclrtCreateContext", "create context %p", context);
    ret = aclrtGetDevice(&device);
    check(ret, "aclrtGetDevice", "the context's device %d", device);
    open_lanes(lanes);
    for (int i = 0; i < STREAMS; i++) {
        lanes[i].context = context;
        check(pthread_create(&lanes[i].thread, NULL, work, &lanes[i]), "pthread_create", "start thread %d", i);
    }
    for (int i = 0; i < STREAMS; i++) {
        check(pthread_join(lanes[i].thread, NULL), "pthread_join", "join thread %d", i);
        check(lanes[i].ret, "a call of the thread", "thread %d", i);
    }
    close_lanes(lanes);
    check(aclrtDestroyContext(context), "aclrtDestroyContext", "destroy context");
}

int main(void)
{
    uint32_t count;
    int32_t device;
    aclrtRunMode mode;
    aclrtContext default_context;
    aclrtStream stream;
    check(aclInit(NULL), "aclInit", "initialize");
    aclError ret = aclrtGetDeviceCount(&count);
    check(ret, "aclrtGetDeviceCount", "device count %u", count);
    check(aclrtSetDevice(DEVICE), "aclrtSetDevice", "set device %d", DEVICE);
    ret = aclrtGetDevice(&device);
    check(ret, "aclrtGetDevice", "current device %d", device);
    ret = aclrtGetRunMode(&mode);
    check(ret, "aclrtGetRunMode", "run mode %s", mode == ACL_HOST ? "ACL_HOST, host buffers are needed"
                                                                  : "ACL_DEVICE, host buffers are not needed");
    ret = aclrtGetCurrentContext(&default_context);
    check(ret, "aclrtGetCurrentContext", "the device's default context %p", default_context);

    one_thread(NULL, "the default stream");
    several_streams();
    several_threads();
    check(aclrtSetCurrentContext(default_context), "aclrtSetCurrentContext", "back to the default context");

    refused(aclrtDestroyStream(NULL), 100000, "destroying the default stream");
    refused(aclrtDestroyContext(default_context), 107002, "destroying the default context");
    ret = aclrtCreateStream(&stream);
    check(ret, "aclrtCreateStream", "create stream %p", stream);
    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy the stream");
    check(aclrtResetDevice(DEVICE), "aclrtResetDevice", "reset device %d", DEVICE);
    refused(aclrtDestroyStream(stream), 107017, "destroying a stream twice");
    refused(aclrtResetDevice(DEVICE), 507007, "resetting a device twice");
    check(aclFinalize(), "aclFinalize", "finalize");
    return 0;
}
