/* What a thread of the stress has, and what it does with memory, with streams and what orders them, and with instances. */
#ifndef TESTS_STRESS_H
#define TESTS_STRESS_H

#include "engine.h"

enum { BYTES = 1024 };

struct worker {
    uint64_t random;
    uint32_t number;
    int32_t device; /* its home, 0 or 1 */
    aclrtContext context;
    aclrtStream stream, other;
    unsigned char *memory[2]; /* on its device */
    unsigned char *pinned;
    uint32_t byte;            /* what it wrote last; never twice the same in a row */
    pthread_t thread;
};

static inline uint32_t draw(struct worker *worker, uint32_t limit)
{
    return (uint32_t)(next_random(&worker->random) % limit);
}

/* ---- what the memory of a worker holds ---- */

static inline void set(struct worker *worker, int side, aclrtStream stream)
{
    worker->byte = worker->byte % 255 + 1;
    CHECK_CODE(aclrtMemsetAsync(worker->memory[side], BYTES, (int32_t)worker->byte, BYTES, stream), 0);
}

/* Clears the second half and waits for it: what is there later was copied later. */
static inline void clear(struct worker *worker)
{
    CHECK_CODE(aclrtMemset(worker->memory[1], BYTES, 0, BYTES), 0);
}

static inline void copy(struct worker *worker, aclrtStream stream)
{
    CHECK_CODE(aclrtMemcpyAsync(worker->memory[1], BYTES, worker->memory[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
               0);
}

/* Both streams come to their end, and the second half holds what was written last. */
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

/* From one device's memory into the other's and back, while the other worker's tasks run there. */
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
    CHECK_CODE(aclrtMemcpyAsync(there, BYTES, worker->memory[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(worker->memory[1], BYTES, there, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream), 0);
    expect(worker);
    CHECK_CODE(aclrtFree(there), 0);
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
    for (int i = 0; i < 2; i++) { /* the first record is used up by the first wait */
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

/* Plain: the stream's order is what keeps it right. */
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

/* ---- instances ---- */

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

/* A stream that starts another one, which jumps over what would undo its work. */
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
