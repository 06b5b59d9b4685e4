/* All groups of functions at once: sixteen threads do random operations, and each checks the values of its own results.
 * At the end no handle and no byte of device memory may be left.
 *
 * ACL_STRESS_SECONDS (default 2) is the duration, ACL_STRESS_SEED (default 1) the seed. The seed determines the
 * operations of each thread, but not how the threads interleave. Each operation leaves the thread's streams idle, so
 * that operations do not depend on each other. */
#include "model_file.h"
#include "stress.h"
#include <acl/acl_op.h>
#include <acl/acl_prof.h>
#include <acl/acl_tdt.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_add.h>

enum { THREADS = 16, VISITED = 2 /* the device that is opened and closed */ };

static struct worker workers[THREADS];
static struct timespec deadline;
static aclrtStream dead; /* a destroyed stream */

/* ---- models, operators, kernels ---- */

static void use_models(struct worker *worker)
{
    struct file file = make_file("double");
    struct sides sides = make_sides();
    aclmdlDesc *desc = aclmdlCreateDesc();
    float first = (float)draw(worker, 1000);
    uint32_t id;
    CHECK_CODE(aclmdlLoadFromMem(file.bytes, file.size, &id), 0);
    CHECK_CODE(aclmdlGetDesc(desc, id), 0);
    CHECK(aclmdlGetNumInputs(desc) == 1 && aclmdlGetInputSizeByIndex(desc, 0) == 16);
    set_input(&sides, first);
    if (draw(worker, 2) == 0) {
        CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), 0);
    } else {
        CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], worker->stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    }
    check_output(&sides, 2 * first);
    CHECK_CODE(aclmdlUnload(id), 0);
    CHECK_CODE(aclmdlDestroyDesc(desc), 0);
    free_sides(&sides);
}

/* second = first + 2 * first, with an aclnn function. */
static void use_operators(struct worker *worker)
{
    int64_t dim = 4, stride = 1;
    float two = 2, first = (float)draw(worker, 1000);
    aclTensor *tensors[2];
    aclScalar *alpha = aclCreateScalar(&two, ACL_FLOAT);
    aclOpExecutor *executor;
    uint64_t size;
    put_floats(worker->memory[0], first, 1);
    for (int i = 0; i < 2; i++)
        tensors[i] = aclCreateTensor(&dim, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &dim, 1, worker->memory[i]);
    CHECK_CODE(aclnnAddGetWorkspaceSize(tensors[0], tensors[0], alpha, tensors[1], &size, &executor), 0);
    CHECK_CODE(aclnnAdd(NULL, size, executor, worker->stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    expect_floats(worker->memory[1], 3 * first, 3);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclDestroyTensor(tensors[i]), 0);
    CHECK_CODE(aclDestroyScalar(alpha), 0);
}

/* second = first * value, with a single operator by type. */
static void use_types(struct worker *worker)
{
    const int64_t dim = 4;
    float first = (float)draw(worker, 1000);
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, &dim, ACL_FORMAT_ND);
    aclDataBuffer *buffers[2];
    aclopAttr *attr = aclopCreateAttr();
    put_floats(worker->memory[0], first, 1);
    for (int i = 0; i < 2; i++)
        buffers[i] = aclCreateDataBuffer(worker->memory[i], 16);
    CHECK_CODE(aclopSetAttrFloat(attr, "value", (float)worker->number), 0);
    CHECK_CODE(aclopExecuteV2("Muls", 1, &desc, &buffers[0], 1, &desc, &buffers[1], attr, worker->stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    expect_floats(worker->memory[1], first * (float)worker->number, (float)worker->number);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclDestroyDataBuffer(buffers[i]), 0);
    aclopDestroyAttr(attr);
    aclDestroyTensorDesc(desc);
}

struct arguments {
    unsigned char *memory;
    uint64_t byte;
};

static aclError write_blocks(const aclsimKernelLaunch *launch)
{
    struct arguments args;
    memcpy(&args, launch->args, sizeof args);
    unsigned char *memory = aclsimReach(args.memory, BYTES);
    CHECK(memory != NULL);
    for (uint32_t i = launch->blockIndex; i < BYTES; i += launch->numBlocks)
        memory[i] = (unsigned char)args.byte;
    return ACL_SUCCESS;
}

static void use_kernels(struct worker *worker)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    struct arguments args = {worker->memory[1], worker->byte = worker->byte % 255 + 1};
    CHECK_CODE(aclrtBinaryLoadFromFile("stress.o", NULL, &binary), 0);
    CHECK_CODE(aclrtBinaryGetFunction(binary, "write_blocks", &function), 0);
    CHECK_CODE(aclrtLaunchKernelWithHostArgs(function, 1 + draw(worker, 8), worker->stream, NULL, &args, sizeof args,
                                             NULL, 0), 0);
    expect(worker);
    CHECK_CODE(aclrtBinaryUnLoad(binary), 0);
}

/* ---- queues and channels ---- */

static uint32_t shared_queues[2]; /* one per device */
static _Atomic uint64_t put_in, taken_out;

static uint32_t make_queue(void)
{
    uint32_t id;
    CHECK_CODE(acltdtCreateQueue(NULL, &id), 0);
    return id;
}

static aclError take(uint32_t queue, uint64_t *value)
{
    size_t size = 0;
    aclError code = acltdtDequeueData(queue, value, sizeof *value, &size, NULL, 0, 0);
    CHECK(code == ACL_ERROR_RT_QUEUE_EMPTY || (code == 0 && size == sizeof *value));
    return code;
}

/* Checks the order of values through a route of its own; values in the queue that all threads of a device share are
 * summed up. */
static void use_queues(struct worker *worker)
{
    uint32_t queues[2] = {make_queue(), make_queue()};
    uint64_t value, first = draw(worker, 1000);
    acltdtQueueRouteList *routes = acltdtCreateQueueRouteList();
    acltdtQueueRoute *route = acltdtCreateQueueRoute(queues[0], queues[1]);
    CHECK_CODE(acltdtAddQueueRoute(routes, route), 0);
    CHECK_CODE(acltdtBindQueueRoutes(routes), 0);
    for (value = first; value < first + 4; value++)
        CHECK_CODE(acltdtEnqueueData(queues[0], &value, sizeof value, NULL, 0, 0, 0), 0);
    for (uint64_t i = first; i < first + 4; i++)
        CHECK(take(queues[1], &value) == 0 && value == i);
    CHECK_CODE(acltdtUnbindQueueRoutes(routes), 0);
    CHECK_CODE(acltdtDestroyQueueRoute(route), 0);
    CHECK_CODE(acltdtDestroyQueueRouteList(routes), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(acltdtDestroyQueue(queues[i]), 0);
    uint32_t shared = shared_queues[worker->device];
    aclError code = acltdtEnqueueData(shared, &first, sizeof first, NULL, 0, 0, 0);
    if (code != ACL_ERROR_RT_QUEUE_FULL)
        CHECK_CODE(code, 0);
    atomic_fetch_add(&put_in, code == 0 ? first : 0);
    if (draw(worker, 2) == 0 && take(shared, &value) == 0)
        atomic_fetch_add(&taken_out, value);
}

static void use_channels(struct worker *worker)
{
    const int64_t dim = 1, value = draw(worker, 1000);
    char name[32];
    snprintf(name, sizeof name, "stress %u", worker->number);
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity((uint32_t)worker->device, name, 2);
    acltdtDataset *datasets[2] = {acltdtCreateDataset(), acltdtCreateDataset()};
    acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, &dim, 1, ACL_INT64, (void *)(uintptr_t)&value,
                                                sizeof value);
    CHECK_CODE(acltdtAddDataItem(datasets[0], item), 0);
    CHECK_CODE(acltdtSendTensor(channel, datasets[0], -1), 0);
    CHECK_CODE(acltdtReceiveTensor(channel, datasets[1], -1), 0);
    CHECK(*(int64_t *)acltdtGetDataAddrFromItem(acltdtGetDataItem(datasets[1], 0)) == value);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(acltdtDestroyDataset(datasets[i]), 0);
    CHECK_CODE(acltdtDestroyDataItem(item), 0);
    CHECK_CODE(acltdtDestroyChannel(channel), 0);
}

/* ---- profiling ---- */

static char folder[] = "/tmp/test_stress_all.XXXXXX";
static pthread_mutex_t session = PTHREAD_MUTEX_INITIALIZER;

/* Checks that there is one trace and that it is complete, and removes it. */
static void take_trace(void)
{
    char path[600], line[1024];
    bool whole = false;
    DIR *directory = opendir(folder);
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/trace.json", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && !whole);
        while (fgets(line, sizeof line, file) != NULL)
            whole = strncmp(line, "],\"otherData\":{", 15) == 0 && strstr(line, "}}}\n") != NULL;
        fclose(file);
        static const char *const names[] = {"trace.json", "host/start_info", "host", ""};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(path, sizeof path, "%s/%s/%s", folder, entry->d_name, names[i]);
            CHECK(remove(path) == 0);
        }
    }
    closedir(directory);
    CHECK(whole);
}

/* One thread at a time has a session, which also records the work of the other threads. Every thread may mark at any
 * time. */
static void use_profiling(struct worker *worker)
{
    void *stamp;
    bool mine = pthread_mutex_trylock(&session) == 0;
    if (mine) {
        CHECK_CODE(aclprofInit(folder, strlen(folder)), 0);
        CHECK_CODE(aclprofStart(NULL), 0);
    }
    set(worker, 1, worker->stream);
    if ((stamp = aclprofCreateStamp()) != NULL) {
        CHECK_CODE(aclprofSetStampTraceMessage(stamp, "stress", 6), 0);
        aclError code = aclprofMark(stamp);
        CHECK(code == 0 || (!mine && code == ACL_ERROR_PROFILING_FAILURE));
        aclprofDestroyStamp(stamp);
    } else {
        CHECK(!mine);
    }
    expect(worker);
    if (mine) {
        CHECK_CODE(aclprofFinalize(), 0);
        take_trace();
        pthread_mutex_unlock(&session);
    }
}

/* ---- contexts, devices and failures ---- */

static void use_contexts(struct worker *worker)
{
    aclrtContext context;
    aclrtStream stream;
    CHECK_CODE(aclrtCreateContext(&context, worker->device), 0);
    stream = make_stream();
    set(worker, 1, stream);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    if (draw(worker, 2) == 0)
        CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtDestroyContext(context), 0); /* also destroys the stream, if it still exists */
    CHECK_CODE(aclrtSetCurrentContext(worker->context), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    expect(worker);
}

/* Uses a device that the first visiting thread opens and the last one closes. */
static void visit_device(struct worker *worker)
{
    unsigned char *block, bytes[64];
    CHECK_CODE(aclrtSetDevice(VISITED), 0);
    aclrtStream stream = make_stream();
    block = allocate(worker, sizeof bytes);
    CHECK_CODE(aclrtMemsetAsync(block, sizeof bytes, (int32_t)worker->number, sizeof bytes, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(bytes, sizeof bytes, block, sizeof bytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == worker->number);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtResetDevice(VISITED), 0);
    CHECK_CODE(aclrtSetCurrentContext(worker->context), 0);
}

static aclError fail(void *unused)
{
    (void)unused;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* A failed task is reported once, to this thread. A call on a destroyed stream fails with a message of this thread. */
static void use_failures(struct worker *worker)
{
    launch(worker->stream, fail, NULL, 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK_TEXT("its task failed");
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK_CODE(aclrtMemsetAsync(worker->memory[0], BYTES, 0, BYTES, dead), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_TEXT("aclrtMemsetAsync failed because");
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
}

/* Work that is queued behind a latch is discarded when the stream is destroyed by force or aborted. */
static void drop_work(struct worker *worker)
{
    aclrtStream stream = make_stream();
    set(worker, 1, worker->stream);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclrtMemsetAsync(worker->memory[1], BYTES, 0, BYTES, stream), 0);
    if (draw(worker, 2) == 0) {
        CHECK_CODE(aclrtStreamAbort(stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
    } else {
        CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    }
    expect(worker);
}

/* ---- threads ---- */

static void (*const uses[])(struct worker *) = {
    use_memory,    use_peers,    use_mappings, use_pools,    use_managed,   use_keys,     use_events,   use_notifies,
    use_values,    use_callbacks, use_captures, use_labels,  use_models,    use_operators, use_types,   use_kernels,
    use_queues,    use_channels, use_profiling, use_contexts, visit_device, use_failures, drop_work,
};
enum { USES = sizeof uses / sizeof *uses };
static _Atomic uint64_t used[USES];

static bool in_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < deadline.tv_sec || (now.tv_sec == deadline.tv_sec && now.tv_nsec < deadline.tv_nsec);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    void *pinned;
    CHECK_CODE(aclrtSetDevice(worker->device), 0);
    CHECK_CODE(aclrtGetCurrentContext(&worker->context), 0);
    worker->stream = make_stream();
    worker->other = make_stream();
    CHECK_CODE(aclrtMallocHost(&pinned, BYTES), 0);
    worker->pinned = pinned;
    for (int i = 0; i < 2; i++)
        worker->memory[i] = allocate(worker, BYTES);
    /* Each thread does every operation at least once, in its own order, even if the time is short. */
    for (uint32_t i = 0; i < USES || in_time(); i++) {
        uint32_t use = i < USES ? (i + worker->number) % USES : draw(worker, USES);
        uses[use](worker);
        atomic_fetch_add(&used[use], 1);
    }
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtFree(worker->memory[i]), 0);
    CHECK_CODE(aclrtFreeHost(worker->pinned), 0);
    CHECK_CODE(aclrtDestroyStream(worker->stream), 0);
    CHECK_CODE(aclrtDestroyStream(worker->other), 0);
    CHECK_CODE(aclrtResetDevice(worker->device), 0);
    return NULL;
}

static size_t free_memory(int32_t device)
{
    size_t free, total;
    CHECK_CODE(aclrtSetDevice(device), 0);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
    CHECK_CODE(aclrtResetDevice(device), 0);
    return free;
}

static unsigned number_of(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);
    return text != NULL ? (unsigned)atoi(text) : otherwise;
}

int main(void)
{
    static const aclsimCustomKernel kernel = {.run = write_blocks};
    unsigned seconds = number_of("ACL_STRESS_SECONDS", 2), seed = number_of("ACL_STRESS_SEED", 1);
    size_t before[2], alive;
    uint64_t value;
    aclrtMemPool pools[2]; /* one per device */
    watch_dog(seconds + 120);
    CHECK(mkdtemp(folder) != NULL);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("devices", "3"), 0);
    CHECK_CODE(aclsimConfigure("memory", "256M"), 0);
    CHECK_CODE(aclInit(NULL), 0);
    for (int32_t device = 1; device >= 0; device--) {
        CHECK_CODE(aclrtSetDevice(device), 0);
        shared_queues[device] = make_queue();
        const aclrtMemPoolProps props = {.location = {(uint32_t)device, ACL_MEM_LOCATION_TYPE_DEVICE}};
        CHECK_CODE(aclrtMemPoolCreate(&pools[device], &props), 0);
    }
    CHECK_CODE(aclsimRegisterModel("double", NULL, 0, double_it, NULL), 0);
    CHECK_CODE(aclsimRegisterCustomKernel("stress.o", "write_blocks", &kernel), 0);
    dead = make_stream();
    CHECK_CODE(aclrtDestroyStream(dead), 0);
    for (int32_t device = 0; device < 2; device++)
        before[device] = free_memory(device);
    CHECK_CODE(aclrtSetDevice(0), 0);
    alive = aclsimLiveCount(NULL);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)seconds;
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.random = 1 + seed * 1000003ULL + i, .number = i + 1, .device = (int32_t)i % 2,
                                     .pool = pools[i % 2]};
        workers[i].thread = start(work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    for (int i = 0; i < USES; i++)
        CHECK(used[i] >= THREADS);
    for (int32_t device = 0; device < 2; device++) {
        CHECK_CODE(aclrtSetDevice(device), 0);
        while (take(shared_queues[device], &value) == 0)
            taken_out += value;
        CHECK_CODE(aclrtMemPoolTrimTo(pools[device], 0), 0);
        CHECK_CODE(aclrtResetDevice(device), 0);
    }
    CHECK(put_in == taken_out);
    CHECK(aclsimLiveCount(NULL) == alive);
    for (int32_t device = 0; device < 2; device++)
        CHECK(free_memory(device) == before[device]);
    for (int32_t device = 0; device < 2; device++)
        CHECK_CODE(aclrtResetDeviceForce(device), 0); /* also destroys the shared queues and pools */
    CHECK_CODE(aclrtResetDeviceForce(VISITED), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    CHECK(aclsimLiveCount(NULL) == 0);
    CHECK_CODE(aclFinalize(), 0);
    CHECK_CODE(aclsimReset(), 0);
    CHECK(rmdir(folder) == 0);
    return 0;
}
