/* The state of a stress thread, and its operations on all kinds of memory, on streams and their ordering, and on model
 * running instances. */
#ifndef TESTS_STRESS_H
#define TESTS_STRESS_H

#include "engine.h"
#include <acl/acl_rt_memory_soma.h>

enum { BYTES = 1024 };

struct worker {
    uint64_t random;
    uint32_t number;
    int32_t device;    /* its device, 0 or 1 */
    aclrtMemPool pool; /* shared by all threads of a device */
    aclrtContext context;
    aclrtStream stream, other;
    unsigned char *memory[2]; /* on its device */
    unsigned char *pinned;
    uint32_t byte;            /* the value written last; two consecutive values always differ */
    pthread_t thread;
};

static inline uint32_t draw(struct worker *worker, uint32_t limit)
{
    return (uint32_t)(next_random(&worker->random) % limit);
}

/* ---- the contents of a worker's memory ---- */

static inline void fill(struct worker *worker, void *place, aclrtStream stream)
{
    worker->byte = worker->byte % 255 + 1;
    CHECK_CODE(aclrtMemsetAsync(place, BYTES, (int32_t)worker->byte, BYTES, stream), 0);
}

static inline void set(struct worker *worker, int side, aclrtStream stream)
{
    fill(worker, worker->memory[side], stream);
}

/* Clears the second half and waits for that, so that values found there later were copied later. */
static inline void clear(struct worker *worker)
{
    CHECK_CODE(aclrtMemset(worker->memory[1], BYTES, 0, BYTES), 0);
}

static inline void fetch(struct worker *worker, const void *place, aclrtStream stream)
{
    CHECK_CODE(aclrtMemcpyAsync(worker->memory[1], BYTES, place, BYTES, ACL_MEMCPY_DEFAULT, stream), 0);
}

static inline void copy(struct worker *worker, aclrtStream stream)
{
    fetch(worker, worker->memory[0], stream);
}

/* Synchronises both streams, and checks that the second half holds the value written last. */
static inline void expect(struct worker *worker)
{
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(worker->pinned, BYTES, worker->memory[1], BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                                worker->other), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->other), 0);
    for (int i = 0; i < BYTES; i++)
        CHECK(worker->pinned[i] == worker->byte);
}

static inline void put_floats(void *memory, float first, float step)
{
    float values[4] = {first, first + step, first + 2 * step, first + 3 * step};
    CHECK_CODE(aclrtMemcpy(memory, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static inline void expect_floats(const void *memory, float first, float step)
{
    float values[4];
    CHECK_CODE(aclrtMemcpy(values, sizeof values, memory, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (int i = 0; i < 4; i++)
        CHECK(values[i] == first + (float)i * step);
}

/* ---- memory ---- */

static inline void *allocate(struct worker *worker, size_t size)
{
    static aclError (*const kinds[])(void **, size_t, aclrtMemMallocPolicy) = {aclrtMalloc, aclrtMallocAlign32,
                                                                               aclrtMallocCached};
    static const aclrtMemMallocPolicy policies[] = {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY,
                                                    ACL_MEM_MALLOC_NORMAL_ONLY};
    void *memory;
    CHECK_CODE(kinds[draw(worker, 3)](&memory, size, policies[draw(worker, 3)]), 0);
    return memory;
}

static inline void use_memory(struct worker *worker)
{
    size_t size = 1 + draw(worker, 65536);
    unsigned char *host = malloc(2 * size), *blocks[2];
    CHECK(host != NULL);
    for (size_t i = 0; i < size; i++)
        host[i] = (unsigned char)(worker->random >> (i % 7) * 8 ^ i);
    for (int i = 0; i < 2; i++)
        blocks[i] = allocate(worker, size);
    CHECK_CODE(aclrtMemcpy(blocks[0], size, host, size, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclrtMemcpyAsync(blocks[1], size, blocks[0], size, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK_CODE(aclrtMemcpy(host + size, size, blocks[1], size, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(memcmp(host, host + size, size) == 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtFree(blocks[i]), 0);
    free(host);
}

/* Copies from one device's memory to the other's and back, while tasks of other workers run there. */
static inline void use_peers(struct worker *worker)
{
    int32_t peer = 1 - worker->device;
    void *there;
    CHECK_CODE(aclrtDeviceEnablePeerAccess(peer, 0), 0);
    CHECK_CODE(aclrtSetDevice(peer), 0);
    CHECK_CODE(aclrtDeviceEnablePeerAccess(worker->device, 0), 0);
    there = allocate(worker, BYTES);
    CHECK_CODE(aclrtResetDevice(peer), 0);
    CHECK_CODE(aclrtSetCurrentContext(worker->context), 0);
    set(worker, 0, worker->stream);
    CHECK_CODE(aclrtMemcpyAsync(there, BYTES, worker->memory[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream),
               0);
    CHECK_CODE(aclrtMemcpyAsync(worker->memory[1], BYTES, there, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream),
               0);
    expect(worker);
    CHECK_CODE(aclrtFree(there), 0);
}

/* Writes across the border of two adjacent mappings. */
static inline void use_mappings(struct worker *worker)
{
    const size_t size = (size_t)1 << 21;
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE,
                                       .location = {(uint32_t)worker->device, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle handles[2];
    void *range;
    bool early = draw(worker, 2) == 0; /* the handle is freed before the mapping is removed */
    CHECK_CODE(aclrtReserveMemAddress(&range, 2 * size, 0, NULL, 0), 0);
    unsigned char *halves[2] = {range, (unsigned char *)range + size};
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclrtMallocPhysical(&handles[i], size, &prop, 0), 0);
        CHECK_CODE(aclrtMapMem(halves[i], size, 0, handles[i], 0), 0);
    }
    fill(worker, halves[1] - BYTES / 2, worker->stream);
    fetch(worker, halves[1] - BYTES / 2, worker->stream);
    expect(worker);
    for (int i = 0; i < 2; i++) {
        if (early)
            CHECK_CODE(aclrtFreePhysical(handles[i]), 0);
        CHECK_CODE(aclrtUnmapMem(halves[i]), 0);
        if (!early)
            CHECK_CODE(aclrtFreePhysical(handles[i]), 0);
    }
    CHECK_CODE(aclrtReleaseMemAddress(range), 0);
}

/* Uses blocks of a pool in stream order: a block may get the memory of the previous one before its free has run. */
static inline void use_pools(struct worker *worker)
{
    aclrtStream stream = draw(worker, 2) == 0 ? worker->stream : worker->other;
    void *block;
    for (uint32_t left = draw(worker, 4) + 1; left != 0; left--) {
        CHECK_CODE(aclrtMemPoolMallocAsync(&block, (size_t)BYTES << draw(worker, 4), worker->pool, stream), 0);
        fill(worker, block, stream);
        fetch(worker, block, stream);
        if (left > 1 || draw(worker, 2) == 0) {
            CHECK_CODE(aclrtMemPoolFreeAsync(block, stream), 0);
            CHECK_CODE(aclrtSynchronizeStream(left == 1 ? stream : worker->stream), 0);
        } else {
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
            CHECK_CODE(aclrtFree(block), 0);
        }
    }
    if (draw(worker, 4) == 0)
        CHECK_CODE(aclrtMemPoolTrimTo(worker->pool, 0), 0);
    expect(worker);
}

/* A copy reads what the host has written to managed memory, and the host reads what a task has written. */
static inline void use_managed(struct worker *worker)
{
    const size_t size = (size_t)1 << 21;
    const aclrtMemManagedLocation there = {ACL_MEM_LOCATIONTYPE_DEVICE, worker->device};
    int32_t prefetched[2];
    void *memory;
    CHECK_CODE(aclrtMemAllocManaged(&memory, size, ACL_RT_MEM_ATTACH_GLOBAL), 0);
    unsigned char *bytes = memory;
    CHECK_CODE(aclrtMemManagedAdvise(memory, size, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, there), 0);
    CHECK_CODE(aclrtMemManagedPrefetchAsync(memory, size, there, 0, worker->stream), 0);
    worker->byte = worker->byte % 255 + 1;
    memset(bytes, (int)worker->byte, BYTES);
    fetch(worker, bytes, worker->stream);
    expect(worker);
    CHECK_CODE(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, memory, size, prefetched,
                                      sizeof *prefetched), 0);
    CHECK(prefetched[0] == worker->device);
    fill(worker, bytes + size - BYTES, worker->stream);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK(bytes[size - 1] == worker->byte);
    CHECK_CODE(aclrtFree(memory), 0);
}

/* Exports memory, a notify and an event. They still work in this process, which may not import them. */
static inline void use_keys(struct worker *worker)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE,
                                       .location = {(uint32_t)worker->device, ACL_MEM_LOCATION_TYPE_DEVICE}};
    char key[65];
    int32_t process;
    uint64_t shared;
    void *block = allocate(worker, BYTES), *none;
    aclrtDrvMemHandle physical;
    aclrtNotify notify;
    aclrtEvent event;
    aclrtIpcEventHandle handle;
    CHECK_CODE(aclrtDeviceGetBareTgid(&process), 0);
    CHECK_CODE(aclrtIpcMemGetExportKey(block, BYTES, key, sizeof key, draw(worker, 2)), 0);
    CHECK_CODE(aclrtIpcMemSetImportPid(key, &process, 1), 0);
    CHECK_CODE(aclrtIpcMemImportByKey(&none, key, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("this very process");
    fill(worker, block, worker->stream);
    fetch(worker, block, worker->stream);
    expect(worker);
    CHECK_CODE(aclrtIpcMemClose(key), 0);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclrtMallocPhysical(&physical, (size_t)1 << 21, &prop, 0), 0);
    CHECK_CODE(aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &shared), 0);
    CHECK_CODE(aclrtMemSetPidToShareableHandle(shared, &process, 1), 0);
    CHECK_CODE(aclrtMemImportFromShareableHandle(shared, worker->device, &none), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("this very process");
    CHECK_CODE(aclrtFreePhysical(physical), 0);
    CHECK_CODE(aclrtCreateNotify(&notify, 0), 0);
    CHECK_CODE(aclrtNotifyGetExportKey(notify, key, sizeof key, 0), 0);
    CHECK_CODE(aclrtRecordNotify(notify, worker->other), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(notify, worker->stream, 0), 0);
    CHECK_CODE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), 0);
    CHECK_CODE(aclrtIpcGetEventHandle(event, &handle), 0);
    CHECK_CODE(aclrtIpcOpenEventHandle(handle, &none), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_TEXT("this very process");
    clear(worker);
    set(worker, 0, worker->stream);
    CHECK_CODE(aclrtRecordEvent(event, worker->stream), 0);
    CHECK_CODE(aclrtStreamWaitEvent(worker->other, event), 0);
    copy(worker, worker->other);
    expect(worker);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
}

/* ---- order between streams ---- */

static inline void use_events(struct worker *worker)
{
    aclrtEvent event;
    aclrtEventRecordedStatus status;
    clear(worker);
    if (draw(worker, 2) == 0)
        CHECK_CODE(aclrtCreateEvent(&event), 0);
    else
        CHECK_CODE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), 0);
    set(worker, 0, worker->stream);
    CHECK_CODE(aclrtRecordEvent(event, worker->stream), 0);
    CHECK_CODE(aclrtStreamWaitEvent(worker->other, event), 0);
    copy(worker, worker->other);
    CHECK_CODE(aclrtSynchronizeEvent(event), 0);
    CHECK_CODE(aclrtQueryEventStatus(event, &status), 0);
    CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    expect(worker);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

static inline void use_notifies(struct worker *worker)
{
    aclrtNotify notify;
    clear(worker);
    CHECK_CODE(aclrtCreateNotify(&notify, 0), 0);
    for (int i = 0; i < 2; i++) { /* the first wait resets the first record */
        CHECK_CODE(aclrtWaitAndResetNotify(notify, worker->other, 0), 0);
        copy(worker, worker->other);
        set(worker, 0, worker->stream);
        CHECK_CODE(aclrtRecordNotify(notify, worker->stream), 0);
        expect(worker);
    }
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
}

static inline void use_values(struct worker *worker)
{
    uint64_t *flag = allocate(worker, sizeof *flag), value = 1 + draw(worker, 1000);
    clear(worker);
    CHECK_CODE(aclrtMemset(flag, sizeof *flag, 0, sizeof *flag), 0);
    CHECK_CODE(aclrtValueWait(flag, value, ACL_STREAM_WAIT_VALUE_EQ, worker->other), 0);
    copy(worker, worker->other);
    set(worker, 0, worker->stream);
    CHECK_CODE(aclrtValueWrite(flag, value, 0, worker->stream), 0);
    expect(worker);
    CHECK_CODE(aclrtFree(flag), 0);
}

/* ---- callbacks ---- */

/* Uses a plain counter: only the order of the stream protects it. */
static inline void add_one(void *count)
{
    ++*(uint32_t *)count;
}

static inline void use_callbacks(struct worker *worker)
{
    uint32_t count = 0, calls = 1 + draw(worker, 8);
    for (uint32_t i = 0; i < calls; i++)
        CHECK_CODE(aclrtLaunchHostFunc(worker->stream, add_one, &count), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->stream), 0);
    CHECK(count == calls);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)pthread_self(), worker->other), 0);
    for (uint32_t i = 0; i < calls; i++)
        CHECK_CODE(aclrtLaunchCallback(add_one, &count, (aclrtCallbackBlockType)draw(worker, 2), worker->other), 0);
    while (count < 2 * calls)
        CHECK_CODE(aclrtProcessReport(-1), 0);
    CHECK_CODE(aclrtSynchronizeStream(worker->other), 0);
    CHECK_CODE(aclrtUnSubscribeReport((uint64_t)pthread_self(), worker->other), 0);
}

/* ---- model running instances ---- */

static inline void use_captures(struct worker *worker)
{
    uint32_t count = 0, runs = 1 + draw(worker, 3);
    aclrtEvent events[2];
    aclmdlRI instance;
    clear(worker);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC), 0);
    CHECK_CODE(aclmdlRICaptureBegin(worker->stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 0);
    set(worker, 0, worker->stream);
    CHECK_CODE(aclrtRecordEvent(events[0], worker->stream), 0);
    CHECK_CODE(aclrtStreamWaitEvent(worker->other, events[0]), 0);
    copy(worker, worker->other);
    CHECK_CODE(aclrtRecordEvent(events[1], worker->other), 0);
    CHECK_CODE(aclrtStreamWaitEvent(worker->stream, events[1]), 0);
    CHECK_CODE(aclrtLaunchHostFunc(worker->stream, add_one, &count), 0);
    CHECK_CODE(aclmdlRICaptureEnd(worker->stream, &instance), 0);
    for (uint32_t i = 0; i < runs; i++) {
        clear(worker);
        CHECK_CODE(aclmdlRIExecuteAsync(instance, i % 2 == 0 ? worker->stream : worker->other), 0);
        CHECK_CODE(aclrtSynchronizeStream(worker->other), 0);
        expect(worker);
        CHECK(count == i + 1);
    }
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtDestroyEvent(events[i]), 0);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
}

/* A stream activates another one, which jumps over the task that would overwrite its result. */
static inline void use_labels(struct worker *worker)
{
    aclrtLabel label;
    aclrtLabelList list;
    aclrtStream bound[2];
    aclmdlRI instance;
    uint32_t *index = allocate(worker, sizeof *index);
    clear(worker);
    CHECK_CODE(aclrtMemset(index, sizeof *index, 0, sizeof *index), 0);
    CHECK_CODE(aclrtCreateLabel(&label), 0);
    CHECK_CODE(aclrtCreateLabelList(&label, 1, &list), 0);
    CHECK_CODE(aclmdlRIBuildBegin(&instance, 0), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclrtCreateStreamWithConfig(&bound[i], 0, ACL_STREAM_PERSISTENT), 0);
        CHECK_CODE(aclmdlRIBindStream(instance, bound[i], i == 0 ? ACL_MODEL_STREAM_FLAG_HEAD
                                                                 : ACL_MODEL_STREAM_FLAG_DEFAULT), 0);
    }
    set(worker, 0, bound[0]);
    CHECK_CODE(aclrtActiveStream(bound[1], bound[0]), 0);
    copy(worker, bound[1]);
    CHECK_CODE(aclrtSwitchLabelByIndex(index, 1, list, bound[1]), 0);
    CHECK_CODE(aclrtMemsetAsync(worker->memory[1], BYTES, 0, BYTES, bound[1]), 0);
    CHECK_CODE(aclrtSetLabel(label, bound[1]), 0);
    CHECK_CODE(aclmdlRIEndTask(instance, bound[0]), 0);
    CHECK_CODE(aclmdlRIBuildEnd(instance, NULL), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, worker->stream), 0);
    expect(worker);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclmdlRIUnbindStream(instance, bound[i]), 0);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtDestroyStream(bound[i]), 0);
    CHECK_CODE(aclrtDestroyLabelList(list), 0);
    CHECK_CODE(aclrtDestroyLabel(label), 0);
    CHECK_CODE(aclrtFree(index), 0);
}

#endif
