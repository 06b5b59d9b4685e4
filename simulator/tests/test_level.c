/* Streams that wait for notifies, and for values in device memory, while other threads change them. */
#include "address/memory.h"
#include "engine.h"

#define TURNS 2000

static aclrtStream first, second;
static uint64_t *cell; /* device memory */

static aclrtNotify make_notify(void)
{
    aclrtNotify notify;
    CHECK_CODE(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), 0);
    return notify;
}

static uint64_t value(void)
{
    uint64_t found;
    CHECK_CODE(aclrtMemcpy(&found, sizeof found, cell, sizeof found, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return found;
}

static void synchronize_both(void)
{
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
}

/* ---- two streams that take turns; two threads submit to them ---- */

struct side {
    aclrtStream stream;
    aclrtNotify mine, other;
    uint64_t start;
};

static void *take_notify_turns(void *argument)
{
    const struct side *side = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (uint32_t turn = 0; turn < TURNS * stress_factor(); turn++) {
        CHECK_CODE(aclrtWaitAndResetNotify(side->mine, side->stream, 0), 0);
        CHECK_CODE(aclrtRecordNotify(side->other, side->stream), 0);
    }
    return NULL;
}

static void *take_value_turns(void *argument)
{
    const struct side *side = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (uint64_t turn = side->start; turn < side->start + 2 * TURNS * (uint64_t)stress_factor(); turn += 2) {
        CHECK_CODE(aclrtValueWait(cell, turn, ACL_STREAM_WAIT_VALUE_EQ, side->stream), 0);
        CHECK_CODE(aclrtValueWrite(cell, turn + 1, 0, side->stream), 0);
    }
    return NULL;
}

static void test_turns(void *(*take_turns)(void *))
{
    aclrtNotify one = make_notify(), other = make_notify();
    struct side sides[] = {{first, one, other, 0}, {second, other, one, 1}};
    CHECK_CODE(aclrtMemset(cell, sizeof *cell, 0, sizeof *cell), 0);
    pthread_t thread = start(take_turns, &sides[1]);
    CHECK_CODE(aclrtRecordNotify(one, NULL), 0);
    take_turns(&sides[0]);
    pthread_join(thread, NULL);
    synchronize_both();
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    if (take_turns == take_value_turns)
        CHECK(value() == 2 * TURNS * (uint64_t)stress_factor());
    CHECK_CODE(aclrtDestroyNotify(one), 0);
    CHECK_CODE(aclrtDestroyNotify(other), 0);
}

/* ---- the host writes a value that a stream waits for ---- */

#ifndef __SANITIZE_THREAD__ /* it reports the host's copy and the stream's read as a race, which they are */
static void *write_values(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (uint64_t number = 1; number <= TURNS; number++) {
        while (sim_gate_level(&((struct sim_stream *)sim_table_find(&sim_streams, first))->st_gate) % TURNS !=
               (number - 1) % TURNS)
            sched_yield();
        CHECK_CODE(aclrtMemcpy(cell, sizeof *cell, &number, sizeof number, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    }
    return unused;
}

/* The wait and the copy may interleave in any way, and the wait must not miss the value. The stream is new in its
 * slot. */
static void test_host_writes(void)
{
    aclrtStream kept = first;
    uint64_t zero = 0;
    CHECK_CODE(aclrtMemcpy(cell, sizeof *cell, &zero, sizeof zero, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    first = make_stream();
    struct sim_stream *stream = sim_table_find(&sim_streams, first);
    while (sim_stream_tail(stream) % TURNS != 0) /* a new stream continues the tickets of its slot */
        launch(first, do_nothing, NULL, ACLSIM_TASK_LIGHT);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    pthread_t thread = start(write_values, NULL);
    for (uint64_t number = 1; number <= TURNS; number++)
        CHECK_CODE(aclrtValueWait(cell, number, ACL_STREAM_WAIT_VALUE_EQ, first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    pthread_join(thread, NULL);
    CHECK_CODE(aclrtDestroyStream(first), 0);
    first = kept;
}
#endif

static void check_held(aclrtStream stream)
{
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

/* An ordinary task writes the value. */
static void test_other_writers(void)
{
    CHECK_CODE(aclrtMemset(cell, sizeof *cell, 0, sizeof *cell), 0);
    CHECK_CODE(aclrtValueWait(cell, UINT64_C(0x0101010101010101), ACL_STREAM_WAIT_VALUE_EQ, first), 0);
    check_held(first);
    CHECK_CODE(aclrtMemsetAsync(cell, sizeof *cell, 1, sizeof *cell, second), 0);
    synchronize_both();
}

/* ---- one wait uses up what was recorded ---- */

static void test_used_up_notify(void)
{
    aclrtNotify notify = make_notify();
    CHECK_CODE(aclrtRecordNotify(notify, first), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(notify, first, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(notify, second, 0), 0);
    check_held(second);
    CHECK_CODE(aclrtRecordNotify(notify, first), 0);
    synchronize_both();
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
}

/* ---- destruction ---- */

static void test_destroyed_notify(void)
{
    aclrtNotify notify = make_notify();
    CHECK_CODE(aclrtWaitAndResetNotify(notify, first, 0), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(notify, second, 0), 0);
    check_held(first);
    check_held(second);
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
    aclrtNotify next = make_notify(); /* the same slot: the waiting stream must not use it */
    CHECK_CODE(aclrtSynchronizeStream(first), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_TEXT("was destroyed");
    CHECK_CODE(aclrtSynchronizeStream(second), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtRecordNotify(next, first), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(next, second, 0), 0);
    synchronize_both();
    CHECK_CODE(aclrtDestroyNotify(next), 0);
}

static void *write_for_ever(void *argument)
{
    struct latch *stop = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    while (latch_count(stop) == 0) {
        CHECK_CODE(aclrtValueWrite(cell, 1, 0, second), 0);
        CHECK_CODE(aclrtSynchronizeStream(second), 0);
    }
    return NULL;
}

/* Streams are destroyed during their waits, while values are written. */
static void test_ended_waits(void)
{
    struct latch stop = LATCH;
    pthread_t thread = start(write_for_ever, &stop);
    for (uint32_t round = 0; round < 300; round++) {
        aclrtStream streams[4];
        for (int i = 0; i < 4; i++) {
            streams[i] = make_stream();
            CHECK_CODE(aclrtValueWait(cell, i == 0 ? 1 : 2, ACL_STREAM_WAIT_VALUE_EQ, streams[i]), 0);
        }
        CHECK_CODE(aclrtSynchronizeStream(streams[0]), 0);
        for (int i = 0; i < 4; i++)
            CHECK_CODE(aclrtDestroyStreamForce(streams[i]), 0);
    }
    latch_open(&stop);
    pthread_join(thread, NULL);
    CHECK(sim_task_value_waits == 0);
}

static void test_notify_of_another_device(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("devices", "2"), 0);
    CHECK_CODE(aclsimConfigure("memory", "256M"), 0); /* small enough for two devices under a sanitizer */
    CHECK_CODE(aclrtSetDevice(1), 0);
    aclrtNotify theirs = make_notify();
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int round = 0; round < 2; round++) { /* a task without access releases the notify */
        CHECK_CODE(aclrtRecordNotify(theirs, NULL), 0);
        CHECK_CODE(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_PARAM_INVALID);
    }
    CHECK_CODE(aclrtDeviceEnablePeerAccess(1, 0), 0);
    CHECK_CODE(aclrtRecordNotify(theirs, NULL), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(theirs, NULL, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    CHECK_CODE(aclrtDestroyNotify(theirs), 0);
}

static void test_schedule(const char *schedule)
{
    open_device(schedule);
    first = make_stream();
    second = make_stream();
    CHECK_CODE(aclrtMalloc((void **)&cell, sizeof *cell, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    test_turns(take_notify_turns);
    test_turns(take_value_turns);
#ifndef __SANITIZE_THREAD__
    test_host_writes();
#endif
    test_other_writers();
    test_used_up_notify();
    test_destroyed_notify();
    test_ended_waits();
    CHECK_CODE(aclrtFree(cell), 0);
    CHECK_CODE(aclrtDestroyStream(second), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
}

int main(void)
{
    watch_dog(120);
    test_schedule("parallel");
    test_schedule("eager");
    test_notify_of_another_device();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
