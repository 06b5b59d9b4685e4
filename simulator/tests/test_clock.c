/* The clock model: exact times of tasks, waits, replays and callbacks, equal in each run, whatever runs them. */
#include "observe/clock_cost.h"
#include "observe/clock_model.h"
#include "capture.h"

/* Ascend910B3: 20 AI cores of 32 bytes per cycle, 1800 MHz. A set of 1 MiB takes 1,048,576 / 640 = 1,639 cycles, which
 * are 911 ns; a copy inside the device 3,277 cycles and 1,821 ns; one over the link 1,048,576 / 32 = 32,768 ns. */
#define SIZE (UINT64_C(1) << 20)
#define LAUNCH UINT64_C(5000)
#define SET (LAUNCH + 911)
#define COPY (LAUNCH + 1821)
#define LINK (LAUNCH + 32768)
#define REPEATS 20

static char *a, *b, *c, *pinned;
static aclrtStream one, two;
static aclrtEvent first, last;

static uint64_t time_of(aclrtEvent handle)
{
    uint64_t nanoseconds;
    struct sim_event *event;
    CHECK_CODE(sim_event_find(handle, &event), 0);
    CHECK_CODE(sim_event_timestamp(event, "event", &nanoseconds), 0);
    return nanoseconds;
}

static void record(aclrtEvent event, aclrtStream stream)
{
    CHECK_CODE(aclrtRecordEvent(event, stream), 0);
}

static void set(void *block, aclrtStream stream)
{
    CHECK_CODE(aclrtMemsetAsync(block, SIZE, 1, SIZE, stream), 0);
}

static void copy(void *to, const void *from, aclrtMemcpyKind kind, aclrtStream stream)
{
    CHECK_CODE(aclrtMemcpyAsync(to, SIZE, from, SIZE, kind, stream), 0);
}

static void wait_for(aclrtStream stream, aclrtEvent event)
{
    CHECK_CODE(aclrtStreamWaitEvent(stream, event), 0);
}

/* Nanoseconds from `first` to `last`, which were recorded. */
static uint64_t elapsed(void)
{
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    return time_of(last) - time_of(first);
}

/* ---- programs; each returns its time ---- */

static uint64_t tasks_of_one_stream(void)
{
    record(first, one);
    set(a, one);
    copy(b, a, ACL_MEMCPY_DEVICE_TO_DEVICE, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
    record(last, one);
    uint64_t time = elapsed();
    CHECK(time == SET + COPY + LINK);
    return time;
}

static uint64_t streams_side_by_side(void)
{
    record(first, one);
    set(a, one);
    set(b, two);
    set(b, two);
    record(last, two);
    uint64_t time = elapsed();
    CHECK(time == 2 * SET);
    return time;
}

static uint64_t a_wait_across_streams(void)
{
    aclrtEvent between = ex_event();
    record(first, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
    record(between, one);
    set(b, one);
    wait_for(two, between);
    set(a, two);
    record(last, two);
    CHECK_CODE(aclrtDestroyEvent(between), 0);
    uint64_t time = elapsed();
    CHECK(time == LINK + SET);
    return time;
}

/* The wait is over when it is issued, in real time: it still takes its virtual time. */
static uint64_t a_wait_that_is_not_queued(void)
{
    aclrtEvent between = ex_event();
    record(first, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
    record(between, one);
    struct sim_event *event;
    CHECK_CODE(sim_event_find(between, &event), 0);
    sim_record passed = atomic_load(&event->ev_record); /* waited for without the model's knowledge */
    CHECK(sim_engine_wait(sim_record_stream(passed), sim_record_ticket(passed), SIM_FOREVER, SIM_HELPER) ==
          SIM_WAIT_PASSED);
    wait_for(two, between);
    set(a, two);
    record(last, two);
    CHECK_CODE(aclrtDestroyEvent(between), 0);
    uint64_t time = elapsed();
    CHECK(time == LINK + SET);
    return time;
}

static uint64_t a_flag_event(void)
{
    aclrtEvent flag;
    CHECK_CODE(aclrtCreateEventWithFlag(&flag, ACL_EVENT_SYNC), 0);
    record(first, one);
    wait_for(two, flag);
    set(a, two);
    record(last, two);
    set(b, one);
    record(flag, one);
    set(b, one);
    record(flag, one); /* it is set already */
    uint64_t time = elapsed();
    CHECK(time == 2 * SET);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
    return time;
}

static uint64_t a_notify(void)
{
    aclrtNotify notify;
    CHECK_CODE(aclrtCreateNotify(&notify, 0), 0);
    record(first, one);
    for (int i = 0; i < 2; i++) {
        copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
        CHECK_CODE(aclrtRecordNotify(notify, one), 0);
        CHECK_CODE(aclrtWaitAndResetNotify(notify, two, 0), 0);
        set(a, two);
        CHECK_CODE(aclrtSynchronizeStream(two), 0);
    }
    record(last, two);
    uint64_t time = elapsed();
    CHECK(time == 2 * (LINK + SET)); /* the host submits the second copy when the first set has ended */
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
    return time;
}

static uint64_t a_host_that_synchronises(void)
{
    record(first, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    set(a, two);
    CHECK_CODE(aclrtMemset(c, SIZE, 1, SIZE), 0); /* the host itself, meanwhile */
    CHECK_CODE(aclrtMemcpy(b, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    set(a, two);
    record(last, two);
    uint64_t time = elapsed();
    CHECK(time == LINK + SET + LINK + SET);
    return time;
}

static uint64_t the_default_stream(void)
{
    record(first, NULL);
    set(a, NULL);
    record(last, NULL);
    uint64_t time = elapsed();
    CHECK(time == SET);
    return time;
}

static uint64_t replays_of_one_branch(void)
{
    begin(one);
    set(a, one);
    copy(b, a, ACL_MEMCPY_DEVICE_TO_DEVICE, one);
    aclmdlRI instance = end(one);
    record(first, one);
    execute(instance, one);
    execute(instance, one);
    record(last, one);
    uint64_t time = elapsed();
    CHECK(time == 2 * (SET + COPY));
    destroy(instance);
    return time;
}

/* A set, then three sets beside a copy, then a set. */
static uint64_t a_replay_of_several_branches(void)
{
    begin(one);
    set(a, one);
    link_streams(one, two);
    for (int i = 0; i < 3; i++)
        set(a, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, two);
    link_streams(two, one);
    set(a, one);
    aclmdlRI instance = end(one);
    record(first, one);
    execute(instance, one);
    record(last, one);
    uint64_t time = elapsed();
    CHECK(time == SET + LINK + SET);
    destroy(instance);
    return time;
}

static aclrtContext context;

static void submit_set(void *stream)
{
    CHECK_CODE(aclrtSetCurrentContext(context), 0);
    CHECK_CODE(aclrtMemsetAsync(a, SIZE, 2, SIZE, stream), 0);
}

/* What a host function submits does not start before it is called. */
static uint64_t a_host_function(void)
{
    record(first, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, one);
    CHECK_CODE(aclrtLaunchHostFunc(one, submit_set, two), 0);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    record(last, two);
    uint64_t time = elapsed();
    CHECK(time == LINK + SET);
    return time;
}

static void wait_for_two(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetCurrentContext(context), 0);
    CHECK_CODE(aclrtSynchronizeStream(two), 0);
}

static uint64_t a_host_function_that_waits(void)
{
    record(first, one);
    copy(b, pinned, ACL_MEMCPY_HOST_TO_DEVICE, two);
    CHECK_CODE(aclrtLaunchHostFunc(one, wait_for_two, NULL), 0);
    set(a, one);
    record(last, one);
    uint64_t time = elapsed();
    CHECK(time == LINK + SET);
    return time;
}

static uint64_t (*const programs[])(void) = {
    tasks_of_one_stream, streams_side_by_side, a_wait_across_streams, a_wait_that_is_not_queued, a_flag_event, a_notify,
    a_host_that_synchronises, the_default_stream, replays_of_one_branch, a_replay_of_several_branches, a_host_function,
    a_host_function_that_waits};
#define PROGRAMS (sizeof programs / sizeof *programs)

static void open_with(const char *schedule, const char *workers)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), 0);
    CHECK_CODE(aclsimConfigure("workers", workers), 0);
    CHECK_CODE(aclsimConfigure("clock", "model"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtGetCurrentContext(&context), 0);
    CHECK_CODE(aclrtMalloc((void **)&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMalloc((void **)&b, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMalloc((void **)&c, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost((void **)&pinned, SIZE), 0);
    CHECK_CODE(aclrtCreateStream(&one), 0);
    CHECK_CODE(aclrtCreateStream(&two), 0);
    CHECK_CODE(aclrtCreateEvent(&first), 0);
    CHECK_CODE(aclrtCreateEvent(&last), 0);
}

/* Runs all programs; returns the time of the host at the end. */
static uint64_t run_all(const char *schedule, const char *workers)
{
    uint64_t sum = 0;
    open_with(schedule, workers);
    for (size_t i = 0; i < PROGRAMS; i++)
        sum += programs[i]();
    CHECK(sim_clock_model_host() >= sum);
    return sim_clock_model_host();
}

static void test_equal_times_in_each_run(void)
{
    uint64_t time = run_all("eager", "1");
    for (int i = 1; i < REPEATS; i++) {
        CHECK(run_all("eager", "1") == time);
        CHECK(run_all("parallel", "1") == time);
        CHECK(run_all("parallel", "4") == time);
    }
}

static void test_unfinished_events_have_no_time(void)
{
    float milliseconds;
    open_with("parallel", "2");
    record(first, one);
    CHECK_CODE(aclsimStreamHold(one), 0);
    record(last, one);
    CHECK_CODE(aclrtSynchronizeEvent(first), 0);
    CHECK_CODE(aclrtEventElapsedTime(&milliseconds, first, last), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    CHECK_CODE(aclsimStreamRelease(one), 0);
    CHECK(elapsed() == 0);
    CHECK_CODE(aclrtEventElapsedTime(&milliseconds, first, last), 0);
    CHECK(milliseconds == 0);
}

/* Threads with a stream each: the sums are right, and nothing races. */
static void *work(void *unused)
{
    aclrtStream stream;
    aclrtEvent start, stop;
    void *block;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtCreateEvent(&start), 0);
    CHECK_CODE(aclrtCreateEvent(&stop), 0);
    for (int round = 0; round < 50; round++) {
        record(start, stream);
        for (int i = 0; i < 4; i++)
            CHECK_CODE(aclrtMemsetAsync(block, 64, 1, 64, stream), 0);
        record(stop, stream);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK(time_of(stop) - time_of(start) >= 4 * (LAUNCH + 1));
    }
    return unused;
}

static void test_several_threads(void)
{
    pthread_t threads[4];
    open_with("parallel", "2");
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void test_the_wall_clock(void)
{
    open_device("parallel");
    CHECK(!sim_clock_model_is_on() && sim_event_clock == NULL && sim_watchers == 0);
    uint64_t before = sim_clock_now();
    CHECK_CODE(aclrtCreateEvent(&first), 0);
    record(first, NULL);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(before <= time_of(first) && time_of(first) <= sim_clock_now());
}

int main(void)
{
    watch_dog(300);
    test_equal_times_in_each_run();
    test_unfinished_events_have_no_time();
    test_several_threads();
    test_the_wall_clock();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
