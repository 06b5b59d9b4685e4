/* Custom kernels: launches of every kind, captured, changed and replayed, their time-outs, and threads that launch,
 * register, unload, fill argument lists and change one instance at the same time. */
#include "base/clock.h"
#include "kernel/kernel.h"
#include "engine.h"

enum { COUNT = 8, THREADS = 4 };

struct arguments {
    float *x, *y;
    uint64_t count;
};

static aclrtStream stream;
static aclrtFuncHandle shared_function;
static float *x, *y;

static aclError add(const aclsimKernelLaunch *launch)
{
    struct arguments args;
    memcpy(&args, launch->args, sizeof args);
    float *in = aclsimReach(args.x, args.count * sizeof *in), *out = aclsimReach(args.y, args.count * sizeof *out);
    CHECK(in != NULL && out != NULL && launch->userData == &stream);
    for (uint64_t i = launch->blockIndex; i < args.count; i += launch->numBlocks)
        out[i] += in[i];
    return 0;
}

static size_t touch(const aclsimKernelLaunch *launch, aclsimRange *ranges, size_t room)
{
    struct arguments args;
    CHECK(room >= 2);
    memcpy(&args, launch->args, sizeof args);
    ranges[0] = (aclsimRange){args.x, args.count * sizeof(float), 0};
    ranges[1] = (aclsimRange){args.y, args.count * sizeof(float), 1};
    return 2;
}

static const aclsimCustomKernel kernel = {.run = add, .touch = touch, .userData = &stream};

static aclrtFuncHandle load(aclrtBinHandle *binary)
{
    aclrtFuncHandle function;
    CHECK_CODE(aclsimRegisterCustomKernel("add.o", "add", &kernel), 0);
    CHECK_CODE(aclrtBinaryLoadFromFile("add.o", NULL, binary), 0);
    CHECK_CODE(aclrtBinaryGetFunction(*binary, "add", &function), 0);
    return function;
}

static void fill(void)
{
    float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    CHECK_CODE(aclrtMemcpy(x, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclrtMemset(y, sizeof host, 0, sizeof host), 0);
}

/* Checks that y is x multiplied by `times`. */
static void check_sum(float times)
{
    float host[COUNT];
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(host, sizeof host, y, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(host[i] == times * (float)i);
}

static aclError launch_with(aclrtFuncHandle function, uint32_t blocks)
{
    struct arguments args = {x, y, COUNT};
    return aclrtLaunchKernelWithHostArgs(function, blocks, stream, NULL, &args, sizeof args, NULL, 0);
}

static void test_launches(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function = load(&binary);
    aclrtArgsHandle list;
    aclrtParamHandle parameter;
    aclmdlRI instance;
    struct arguments args = {x, y, COUNT};
    void *device;
    fill();
    CHECK_CODE(launch_with(function, 3), 0);
    check_sum(1);
    CHECK_CODE(aclrtKernelArgsInit(function, &list), 0);
    CHECK_CODE(aclrtKernelArgsAppend(list, &args, sizeof args, &parameter), 0);
    CHECK_CODE(aclrtKernelArgsFinalize(list), 0);
    CHECK_CODE(aclrtLaunchKernelWithConfig(function, 2, stream, NULL, list, NULL), 0);
    check_sum(2);
    CHECK_CODE(aclrtMalloc(&device, sizeof args, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemcpy(device, sizeof args, &args, sizeof args, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclrtLaunchKernel(function, 1, device, sizeof args, stream), 0);
    CHECK_CODE(aclsimLaunchKernel("plain", &kernel, 4, &args, sizeof args, stream), 0);
    check_sum(4);
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    CHECK_CODE(launch_with(function, 5), 0);
    CHECK_CODE(aclrtLaunchKernel(function, 1, device, sizeof args, stream), 0);
    CHECK_CODE(aclsimLaunchKernel("plain", &kernel, 4, &args, sizeof args, stream), 0);
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    check_sum(13);
    CHECK_CODE(aclrtFree(device), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_KERNEL_UNREGISTERING);
    CHECK_TEXT("unloaded before it ran");
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
}

/* ---- changes ---- */

static aclmdlRI capture_launch(aclrtFuncHandle function, aclmdlRITask *task)
{
    aclmdlRI instance;
    aclrtStream inner;
    uint32_t count = 1;
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    CHECK_CODE(launch_with(function, 2), 0);
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    CHECK_CODE(aclmdlRIGetStreams(instance, &inner, &count), 0);
    CHECK_CODE(aclmdlRIGetTasksByStream(inner, task, &count), 0);
    return instance;
}

static aclError change(aclmdlRITask task, struct arguments *args, uint32_t blocks)
{
    aclmdlRITaskParams params;
    CHECK_CODE(aclmdlRITaskGetParams(task, &params), 0);
    params.kernelTaskParams.args = args;
    params.kernelTaskParams.numBlocks = blocks;
    return aclmdlRITaskSetParams(task, &params);
}

static void test_changes(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function = load(&binary);
    aclmdlRITask task;
    float *other;
    struct arguments wrong = {(float *)4096, y, COUNT}, args = {x, y, COUNT};
    fill();
    CHECK_CODE(aclrtMalloc((void **)&other, COUNT * sizeof *other, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemcpy(other, COUNT * sizeof *other, x, COUNT * sizeof *x, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    aclmdlRI instance = capture_launch(function, &task);
    CHECK_CODE(change(task, &wrong, 2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("range 0 of kernel add");
    CHECK_CODE(change(task, &args, SIM_BLOCKS_MAX + 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    check_sum(1);
    args.x = other;
    CHECK_CODE(change(task, &args, 5), 0);
    CHECK_CODE(aclmdlRIUpdate(instance), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    check_sum(2);
    CHECK_CODE(aclrtFree(other), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
}

/* ---- time-outs ---- */

static aclError last(const aclsimKernelLaunch *launch)
{
    uint64_t begin = sim_clock_now();
    ++*(int *)launch->userData;
    while (sim_clock_now() - begin < 200000)
        ;
    return 0;
}

static void test_time_outs(void)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    int begun = 0;
    aclsimCustomKernel slow = {.run = last, .userData = &begun};
    aclrtLaunchKernelAttr attributes[2] = {{.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT},
                                           {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US}};
    aclrtLaunchKernelCfg config = {attributes, 2};
    uint64_t word = 0;
    CHECK_CODE(aclsimRegisterCustomKernel("slow.o", "slow", &slow), 0);
    CHECK_CODE(aclrtBinaryLoadFromFile("slow.o", NULL, &binary), 0);
    CHECK_CODE(aclrtBinaryGetFunction(binary, "slow", &function), 0);
    CHECK_CODE(aclrtLaunchKernelWithHostArgs(function, 3, stream, &config, &word, sizeof word, NULL, 0),
               ACL_ERROR_RT_PARAM_INVALID);
    config.numAttrs = 1;
    CHECK_CODE(aclrtLaunchKernelWithHostArgs(function, 3, stream, &config, &word, sizeof word, NULL, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(begun == 3);
    config.attrs = &attributes[1];
    attributes[1].value.timeoutUs.timeoutLow = 100;
    CHECK_CODE(aclrtLaunchKernelWithHostArgs(function, 3, stream, &config, &word, sizeof word, NULL, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_TIMEOUT);
    CHECK_TEXT("block 0 of 3 ended after the launch's time-out of 100 us");
    CHECK(begun == 4);
    attributes[1].value.timeoutUs.timeoutHigh = 1;
    CHECK_CODE(aclrtLaunchKernelWithHostArgs(function, 3, stream, &config, &word, sizeof word, NULL, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(begun == 7);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
}

/* ---- threads ---- */

static aclmdlRI shared_instance;
static aclmdlRITask shared_task;

/* Several threads change the same instance. Each call must return, and no replay may see a partial change. */
static void *change_often(void *unused)
{
    aclrtStream own;
    aclmdlRITaskParams params = {.type = ACL_MODEL_RI_TASK_KERNEL};
    struct arguments args = {x, y, 0};
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&own), 0);
    for (unsigned i = 0; i < 100 * stress_factor(); i++) {
        params.kernelTaskParams = (aclmdlRIKernelTaskParams){.funcHandle = shared_function,
                                                             .args = &args,
                                                             .argsSize = sizeof args,
                                                             .isHostArgs = 1,
                                                             .numBlocks = 1 + i % 7};
        aclError code = aclmdlRITaskSetParams(shared_task, &params);
        CHECK(code == 0 || code == ACL_ERROR_RT_MODEL_UPDATE_FAILED);
        code = aclmdlRIUpdate(shared_instance);
        CHECK(code == 0 || code == ACL_ERROR_RT_MODEL_UPDATE_FAILED);
        code = aclmdlRIExecuteAsync(shared_instance, own);
        CHECK(code == 0 || code == ACL_ERROR_RT_MODEL_EXECUTE);
        CHECK_CODE(aclrtSynchronizeStream(own), 0);
    }
    CHECK_CODE(aclrtDestroyStream(own), 0);
    return NULL;
}

static void test_threads_that_change(void)
{
    pthread_t threads[THREADS];
    aclrtBinHandle binary;
    shared_function = load(&binary);
    shared_instance = capture_launch(shared_function, &shared_task);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(change_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclmdlRIDestroy(shared_instance), 0);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
}

static aclrtBinHandle shared_binary;
static _Atomic bool done;

static void *launch_often(void *unused)
{
    aclrtStream own;
    struct arguments args = {x, y, 0};
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&own), 0);
    for (unsigned i = 0; i < 200 * stress_factor(); i++) {
        aclError code = aclrtLaunchKernelWithHostArgs(shared_function, 2, own, NULL, &args, sizeof args, NULL, 0);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE || code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        code = aclrtSynchronizeStream(own);
        CHECK(code == 0 || code == ACL_ERROR_RT_KERNEL_UNREGISTERING);
    }
    CHECK_CODE(aclrtDestroyStream(own), 0);
    return NULL;
}

static void *make_lists(void *unused)
{
    aclrtArgsHandle list;
    aclrtParamHandle parameter;
    uint64_t word = 1;
    (void)unused;
    while (!atomic_load(&done)) {
        aclError code = aclrtKernelArgsInit(shared_function, &list);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
        if (code != 0)
            break;
        code = aclrtKernelArgsAppend(list, &word, sizeof word, &parameter);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
        code = aclrtKernelArgsFinalize(list);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
    }
    return NULL;
}

static void *register_often(void *unused)
{
    (void)unused;
    while (!atomic_load(&done)) {
        CHECK_CODE(aclsimRegisterCustomKernel("add.o", "add", NULL), 0);
        CHECK_CODE(aclsimRegisterCustomKernel("add.o", "add", &kernel), 0);
    }
    return NULL;
}

/* Launches and argument lists continue while the implementation changes and, in every second round, while the binary is
 * unloaded. */
static void test_threads(void)
{
    for (int round = 0; round < 4; round++) {
        pthread_t launchers[THREADS], others[2];
        atomic_store(&done, false);
        shared_function = load(&shared_binary);
        for (int i = 0; i < THREADS; i++)
            launchers[i] = start(launch_often, NULL);
        others[0] = start(make_lists, NULL);
        others[1] = start(register_often, NULL);
        if (round % 2 == 1)
            CHECK_CODE(aclrtBinaryUnLoad(shared_binary), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(launchers[i], NULL);
        atomic_store(&done, true);
        for (int i = 0; i < 2; i++)
            pthread_join(others[i], NULL);
        if (round % 2 == 0)
            CHECK_CODE(aclrtBinaryUnLoad(shared_binary), 0);
    }
    CHECK(aclsimLiveCount("kernel") == 0 && aclsimLiveCount("argument list") == 0);
}

int main(void)
{
    static const char *const schedules[] = {"eager", "parallel"};
    watch_dog(120);
    for (int i = 0; i < 2; i++) {
        open_device(schedules[i]);
        stream = make_stream();
        CHECK_CODE(aclrtMalloc((void **)&x, COUNT * sizeof *x, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtMalloc((void **)&y, COUNT * sizeof *y, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        test_launches();
        test_changes();
        test_time_outs();
        test_threads_that_change();
        test_threads();
    }
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
