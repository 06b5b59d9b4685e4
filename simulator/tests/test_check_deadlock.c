/* The checker of deadlocks: circles of streams, waits that no host thread can end, what may still end, the watchdog;
 * and right programs on many threads, in which nothing is found. */
#include "engine.h"

/* ---- setting ---- */

static aclrtStream one, two, three;
static aclrtNotify first, second;
static aclrtEvent flags[2];

static void start_anew(const char *check, const char *watchdog)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclsimConfigure("check", check), 0);
    CHECK_CODE(aclsimConfigure("watchdog", watchdog), 0);
    CHECK_CODE(aclsimConfigure("workers", "2"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    one = make_stream();
    two = make_stream();
    three = make_stream();
    CHECK_CODE(aclrtCreateNotify(&first, 0), 0);
    CHECK_CODE(aclrtCreateNotify(&second, 0), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclrtCreateEventWithFlag(&flags[i], ACL_EVENT_SYNC), 0);
}

static void expect(size_t index, const char *text)
{
    const char *finding = aclsimFinding(index);
    if (finding == NULL || strstr(finding, text) == NULL) {
        fprintf(stderr, "finding %zu lacks \"%s\": %s\n", index, text, finding != NULL ? finding : "none");
        exit(1);
    }
}

static void await_findings(size_t count)
{
    while (aclsimFindingCount() < count)
        sched_yield();
}

static void await_for(aclrtNotify notify, aclrtStream stream)
{
    CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 0), 0);
}

static void record(aclrtNotify notify, aclrtStream stream)
{
    CHECK_CODE(aclrtRecordNotify(notify, stream), 0);
}

/* A thread that is there before the device opens, and calls nothing until a finding was made: then it may end the wait
 * that was found. */
struct rescuer {
    pthread_t thread;
    size_t findings;
    void (*rescue)(void);
};

static void *watch(void *argument)
{
    struct rescuer *rescuer = argument;
    await_findings(rescuer->findings);
    CHECK_CODE(aclrtSetDevice(0), 0);
    rescuer->rescue();
    return NULL;
}

static struct rescuer rescuer;

static void start_with_rescuer(void (*rescue)(void))
{
    CHECK_CODE(aclsimReset(), 0);
    rescuer = (struct rescuer){.findings = 1, .rescue = rescue};
    rescuer.thread = start(watch, &rescuer);
    start_anew("deadlock", "none");
}

static void record_first(void)
{
    record(first, three);
}

static void abort_one(void)
{
    CHECK_CODE(aclrtStreamAbort(one), 0);
}

/* ---- circles of streams ---- */

static void test_two_streams_that_wait_for_each_other_s_notifies(void)
{
    start_with_rescuer(record_first);
    await_for(first, one);
    record(second, one);
    await_for(second, two);
    record(first, two);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(two, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(aclsimFindingCount() == 0); /* this thread might record from outside */
    CHECK_CODE(aclrtSynchronizeStream(two), 0);
    pthread_join(rescuer.thread, NULL);
    expect(0, "\"rule\":\"circular-wait\",\"level\":\"error\"");
    expect(0, "wait for each other in a circle");
    expect(0, "aclrtWaitAndResetNotify, task ");
    expect(0, "\"queued behind\",\"text\":\"aclrtRecordNotify, task ");
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(aclsimFindingCount() == 1);
}

static void test_flag_events_and_a_record_in_one_circle(void)
{
    aclrtEvent behind;
    start_with_rescuer(abort_one);
    CHECK_CODE(aclrtCreateEventExWithFlag(&behind, ACL_EVENT_SYNC), 0);
    CHECK_CODE(aclrtStreamWaitEvent(one, flags[0]), 0);
    CHECK_CODE(aclrtRecordEvent(behind, one), 0);
    CHECK_CODE(aclrtStreamWaitEvent(two, behind), 0);
    CHECK_CODE(aclrtRecordEvent(flags[1], two), 0);
    CHECK_CODE(aclrtStreamWaitEvent(three, flags[1]), 0);
    CHECK_CODE(aclrtRecordEvent(flags[0], three), 0);
    CHECK_CODE(aclrtSynchronizeStream(two), 0); /* the record was discarded, and so is done */
    pthread_join(rescuer.thread, NULL);
    expect(0, "wait for each other in a circle");
    expect(0, "aclrtStreamWaitEvent, task ");
    expect(0, "waits for task ");
    CHECK_CODE(aclrtSynchronizeStream(three), 0);
    CHECK(aclsimFindingCount() == 1);
}

static void test_a_ring_that_is_started_from_outside(void)
{
    start_anew("deadlock", "none");
    for (int i = 0; i < 100; i++) {
        await_for(first, one);
        record(second, one);
        await_for(second, two);
        record(first, two);
        sched_yield(); /* the streams may park */
        record(first, three);
        CHECK_CODE(aclrtSynchronizeStream(two), 0);
        await_for(first, three);
        CHECK_CODE(aclrtSynchronizeStream(three), 0);
    }
    CHECK(aclsimFindingCount() == 0);
}

static void test_a_stream_that_waits_for_its_own_record(void)
{
    start_with_rescuer(abort_one);
    CHECK_CODE(aclsimStreamHold(one), 0); /* the record is queued before the wait begins */
    await_for(first, one);
    record(first, one);
    CHECK(aclsimFindingCount() == 0);
    CHECK_CODE(aclsimStreamRelease(one), 0);
    CHECK_CODE(aclrtSynchronizeStream(one), ACL_ERROR_RT_STREAM_ABORT);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "waits for aclrtRecordNotify, which is queued behind the wait");
}

static void test_a_circle_with_a_time_out_or_a_further_record_is_none(void)
{
    start_anew("deadlock", "none");
    CHECK_CODE(aclsimStreamHold(three), 0);
    record(first, three);
    await_for(first, one);
    record(second, one);
    await_for(second, two);
    record(first, two);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(one, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_CODE(aclsimStreamRelease(three), 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK_CODE(aclrtWaitAndResetNotify(second, one, 1), 0); /* with a time-out of a second, ended before */
    record(first, one);
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(one, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    record(second, two);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(aclsimFindingCount() == 0);
}

/* ---- hosts ---- */

static void test_a_host_waits_for_a_record_that_only_it_could_queue(void)
{
    start_with_rescuer(record_first);
    await_for(first, one);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "\"rule\":\"endless-wait\"");
    expect(0, "waits for a record of notify");
    expect(0, "aclrtSynchronizeStream waits for task ");
}

static void test_an_abort_ends_what_was_found(void)
{
    start_with_rescuer(abort_one);
    CHECK_CODE(aclrtStreamWaitEvent(one, flags[0]), 0);
    CHECK_CODE(aclrtSynchronizeStream(one), ACL_ERROR_RT_STREAM_ABORT);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "waits for a record of its event, which nothing can bring");
}

static struct blocker blocker;

static void *call_and_end(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    launch(two, do_nothing, NULL, 0);
    latch_open(&blocker.begun);
    latch_wait(&blocker.let, 1);
    return NULL;
}

static void test_a_thread_that_ends_without_the_record(void)
{
    CHECK_CODE(aclsimReset(), 0);
    blocker = (struct blocker)BLOCKER;
    start_with_rescuer(record_first);
    await_for(first, one);
    pthread_t other = start(call_and_end, NULL);
    latch_wait(&blocker.begun, 1);
    pthread_detach(other);
    latch_open(&blocker.let); /* it ends before or after this thread sleeps: in both cases it was the last hope */
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "\"rule\":\"endless-wait\"");
}

static struct sleeper sleeper;

static void *record_later(void *unused)
{
    (void)unused;
    await_asleep(&sleeper);
    CHECK(aclsimFindingCount() == 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    record(first, two);
    return NULL;
}

static void test_a_thread_that_has_not_called_yet_may_bring_it(void)
{
    start_anew("deadlock", "none");
    atomic_store(&sleeper.id, 0);
    await_for(first, one);
    pthread_t thread = start(record_later, NULL);
    sleeper_enter(&sleeper);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    pthread_join(thread, NULL);
    CHECK(aclsimFindingCount() == 0);
}

/* ---- callbacks ---- */

static void do_call(void *unused)
{
    (void)unused;
}

static void test_a_callback_that_no_thread_makes(void)
{
    start_with_rescuer(abort_one);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)pthread_self(), one), 0);
    CHECK_CODE(aclrtLaunchCallback(do_call, NULL, ACL_CALLBACK_BLOCK, one), 0);
    CHECK_CODE(aclrtSynchronizeStream(one), ACL_ERROR_RT_STREAM_ABORT);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "\"rule\":\"unserved-callback\"");
    expect(0, "waits in aclrtSynchronizeStream");
}

static void synchronize_two(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtSynchronizeStream(two), ACL_ERROR_RT_INTERNAL_ERROR);
}

static void synchronize_two_later(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    sleeper_enter(&sleeper);
    CHECK_CODE(aclrtSynchronizeStream(two), 0);
}

static void test_a_host_function_in_a_circle(void)
{
    start_with_rescuer(record_first);
    await_for(first, two);
    atomic_store(&sleeper.id, 0);
    CHECK_CODE(aclrtLaunchHostFunc(one, synchronize_two_later, NULL), 0);
    await_asleep(&sleeper); /* else the wait would be refused */
    record(first, one);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    pthread_join(rescuer.thread, NULL);
    CHECK(aclsimFindingCount() == 1);
    expect(0, "\"rule\":\"circular-wait\"");
    expect(0, "aclrtLaunchHostFunc, task ");
    expect(0, "waits for its callback to return");
    expect(0, "\"queued behind\",\"text\":\"aclrtRecordNotify");
}

static void test_a_host_function_whose_wait_is_refused(void)
{
    start_anew("deadlock", "none");
    for (int i = 0; i < 20; i++) {
        await_for(first, two);
        CHECK_CODE(aclsimStreamHold(one), 0); /* the record is queued before the function runs */
        CHECK_CODE(aclrtLaunchHostFunc(one, synchronize_two, NULL), 0);
        record(first, one);
        CHECK_CODE(aclsimStreamRelease(one), 0);
        CHECK_CODE(aclrtSynchronizeStream(one), 0);
        CHECK_CODE(aclrtSynchronizeStream(two), 0);
    }
    CHECK(aclsimFindingCount() == 0);
}

static void record_in_call(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    record(first, three);
}

static void test_a_host_function_may_record(void)
{
    start_anew("deadlock", "none");
    for (int i = 0; i < 100; i++) {
        await_for(first, one);
        CHECK_CODE(aclrtLaunchHostFunc(two, record_in_call, NULL), 0);
        CHECK_CODE(aclrtSynchronizeStream(one), 0);
    }
    CHECK(aclsimFindingCount() == 0);
}

/* ---- the watchdog ---- */

static void *synchronize(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtSynchronizeStream(one), 0);
    return NULL;
}

static void test_the_watchdog_says_what_each_waits_for(void)
{
    start_anew("none", "20ms");
    CHECK_CODE(aclsimStreamHold(two), 0);
    launch(two, do_nothing, NULL, 0);
    await_for(first, one);
    pthread_t waits = start(synchronize, NULL);
    /* The first report may come before the thread waits, and after it has begun there is another one. */
    size_t index = 0;
    for (await_findings(1); strstr(aclsimFinding(index), "aclrtSynchronizeStream waits for task ") == NULL; index++)
        await_findings(index + 2);
    expect(index, "\"rule\":\"no-progress\",\"level\":\"warning\"");
    expect(index, "no task has finished and no call has returned for 0.02 s");
    expect(index, "waits for a record of notify");
    CHECK_CODE(aclsimStreamRelease(two), 0);
    record(first, two); /* on a slow machine, the watchdog may report again before it has run */
    pthread_join(waits, NULL);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
}

static void test_the_watchdog_s_time(void)
{
    static const char *const wrong[] = {"30", "0s", "s", "1h", "-1s", "86401s", "99999999999999999999s", "1 s"};
    CHECK_CODE(aclsimReset(), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_CODE(aclsimConfigure("watchdog", wrong[i]), ACL_ERROR_INVALID_PARAM);
        CHECK_TEXT("expected \"none\", or a time such as 30s or 500ms, up to a day");
    }
    CHECK_CODE(aclsimConfigure("watchdog", "86400s"), 0);
    CHECK_CODE(aclsimConfigure("watchdog", "1ms"), 0);
}

/* ---- right programs ---- */

#define THREADS 4

/* Two streams of a thread that hand a token to and fro. */
static void *play(void *unused)
{
    aclrtNotify there, back;
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    aclrtStream ping = make_stream(), pong = make_stream();
    aclrtEvent event = make_event();
    CHECK_CODE(aclrtCreateNotify(&there, 0), 0);
    CHECK_CODE(aclrtCreateNotify(&back, 0), 0);
    for (unsigned round = 0; round < 50 * stress_factor(); round++) {
        record(there, ping);
        for (int i = 0; i < 4; i++) {
            await_for(there, pong);
            record(back, pong);
            await_for(back, ping);
            record(there, ping);
        }
        await_for(there, pong);
        /* A notify is a flag: the next round's first record must come after this round's last wait. */
        CHECK_CODE(aclrtRecordEvent(event, pong), 0);
        CHECK_CODE(aclrtStreamWaitEvent(ping, event), 0);
        CHECK_CODE(aclrtLaunchHostFunc(pong, do_call, NULL), 0);
        CHECK_CODE(round % 2 == 0 ? aclrtSynchronizeStream(pong) : aclrtSynchronizeEvent(event), 0);
    }
    CHECK_CODE(aclrtDestroyStream(ping), 0);
    CHECK_CODE(aclrtDestroyStream(pong), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtDestroyNotify(there), 0);
    CHECK_CODE(aclrtDestroyNotify(back), 0);
    return NULL;
}

static void test_right_programs_on_many_threads(void)
{
    pthread_t threads[THREADS];
    start_anew("all", "10s");
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(play, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < aclsimFindingCount(); i++)
        fprintf(stderr, "%s\n", aclsimFinding(i));
    CHECK(aclsimFindingCount() == 0);
}

int main(void)
{
    watch_dog(300);
    test_two_streams_that_wait_for_each_other_s_notifies();
    test_flag_events_and_a_record_in_one_circle();
    test_a_ring_that_is_started_from_outside();
    test_a_stream_that_waits_for_its_own_record();
    test_a_circle_with_a_time_out_or_a_further_record_is_none();
    test_a_host_waits_for_a_record_that_only_it_could_queue();
    test_an_abort_ends_what_was_found();
    test_a_thread_that_ends_without_the_record();
    test_a_thread_that_has_not_called_yet_may_bring_it();
    test_a_callback_that_no_thread_makes();
    test_a_host_function_in_a_circle();
    test_a_host_function_whose_wait_is_refused();
    test_a_host_function_may_record();
    test_the_watchdog_says_what_each_waits_for();
    test_the_watchdog_s_time();
    test_right_programs_on_many_threads();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
