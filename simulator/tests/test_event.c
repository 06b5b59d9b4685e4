/* Events: which record a wait is bound to, flags that are set and cleared, records and resets that overtake each other,
 * and destruction. */
#include "engine.h"

#define RECORDS 5000

static aclrtStream first, second, held;

static aclrtEvent make_flag(void)
{
    aclrtEvent event;
    CHECK_CODE(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), 0);
    return event;
}

static void check_held(aclrtStream stream)
{
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

static aclrtEventRecordedStatus status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK_CODE(aclrtQueryEventStatus(event, &status), 0);
    return status;
}

static aclrtEventWaitStatus wait_status_of(aclrtEvent event)
{
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_NOT_READY;
    CHECK_CODE(aclrtQueryEventWaitStatus(event, &status), 0);
    return status;
}

/* A wait is bound to the record that was the newest one when the wait was issued. */
static void test_binding(void)
{
    aclrtEvent event = make_event();
    CHECK_CODE(aclrtStreamWaitEvent(second, event), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclsimStreamHold(first), 0);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtStreamWaitEvent(second, event), 0);
    CHECK_CODE(aclsimStreamHold(held), 0);
    for (int i = 0; i < 100; i++)
        launch(held, do_nothing, NULL, 0);
    CHECK_CODE(aclrtRecordEvent(event, held), 0);
    check_held(second);
    CHECK(wait_status_of(event) == ACL_EVENT_WAIT_STATUS_NOT_READY);
    CHECK_CODE(aclsimStreamRelease(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK(wait_status_of(event) == ACL_EVENT_WAIT_STATUS_COMPLETE);
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtSynchronizeEvent(event), 0);
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* A flag is set by records, also those issued after the wait, and cleared by resets. */
static void test_flag(void)
{
    aclrtEvent flag = make_flag();
    for (int i = 0; i < 10; i++) {
        CHECK_CODE(aclrtStreamWaitEvent(second, flag), 0);
        CHECK_CODE(aclrtResetEvent(flag, second), 0);
        check_held(second);
        CHECK_CODE(aclrtRecordEvent(flag, first), 0);
        CHECK_CODE(aclrtSynchronizeStream(second), 0);
    }
    CHECK_CODE(aclrtRecordEvent(flag, first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtStreamWaitEvent(second, flag), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
}

/* A reset clears the record that was the newest one when the reset was issued, but no later one. */
static void test_reset(void)
{
    aclrtEvent event = make_event();
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtResetEvent(event, first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclsimStreamHold(held), 0);
    CHECK_CODE(aclrtResetEvent(event, held), 0);
    CHECK_CODE(aclrtRecordEvent(event, first), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtSynchronizeStream(held), 0);
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

/* Queued tasks of a destroyed event still run, and its slot is not reused before. */
static void test_end(void)
{
    aclrtEvent flag = make_flag(), other, plain = make_event();
    uint32_t id, other_id;
    CHECK_CODE(aclrtGetEventId(flag, &id), 0);
    CHECK_CODE(aclsimStreamHold(held), 0);
    CHECK_CODE(aclrtRecordEvent(flag, held), 0);
    CHECK_CODE(aclrtRecordEvent(plain, held), 0);
    CHECK_CODE(aclrtStreamWaitEvent(first, plain), 0);
    CHECK_CODE(aclrtStreamWaitEvent(second, flag), 0);
    CHECK_CODE(aclrtDestroyEvent(flag), 0);
    CHECK_CODE(aclrtDestroyEvent(plain), 0);
    CHECK_CODE(aclrtRecordEvent(flag, first), ACL_ERROR_RT_INVALID_HANDLE);
    other = make_flag();
    CHECK_CODE(aclrtGetEventId(other, &other_id), 0);
    CHECK(id != other_id);
    check_held(first);
    check_held(second);
    CHECK_CODE(aclsimStreamRelease(held), 0);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK_CODE(aclrtSynchronizeStream(second), 0);
    CHECK(((struct sim_event *)sim_table_find(&sim_events, other))->ev_flag.gt_level == 0);
    CHECK_CODE(aclrtDestroyEvent(other), 0);
    aclrtEvent again = make_flag(); /* two slots are free now: that of `flag` and that of `other` */
    aclrtEvent next = make_flag(), last = make_event();
    CHECK_CODE(aclrtGetEventId(again, &other_id), 0);
    bool reused = id == other_id;
    CHECK_CODE(aclrtGetEventId(next, &other_id), 0);
    reused = reused || id == other_id;
    CHECK_CODE(aclrtRecordEvent(last, first), 0);
    CHECK_CODE(aclrtGetEventId(last, &other_id), 0);
    CHECK(reused || id == other_id);
    CHECK_CODE(aclrtDestroyEvent(again), 0);
    CHECK_CODE(aclrtDestroyEvent(next), 0);
    CHECK_CODE(aclrtDestroyEvent(last), 0);
}

/* The record is stored in the event before its task can run, so the task recognises it and writes the time stamp. */
static void test_time(void)
{
    aclrtEvent begin = make_event(), end = make_event();
    float milliseconds = -1;
    for (int i = 0; i < 100; i++) {
        CHECK_CODE(aclrtRecordEvent(begin, first), 0);
        CHECK_CODE(aclrtRecordEvent(end, first), 0);
        CHECK_CODE(aclrtSynchronizeEvent(end), 0);
        CHECK_CODE(aclrtEventElapsedTime(&milliseconds, begin, end), 0);
        CHECK(milliseconds >= 0 && milliseconds < 60000);
    }
    CHECK_CODE(aclrtDestroyEvent(begin), 0);
    CHECK_CODE(aclrtDestroyEvent(end), 0);
}

/* Two threads record one event on one stream: the event must hold the last record of the stream. */
static aclrtEvent shared;

static void *record_often(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < RECORDS; i++)
        CHECK_CODE(aclrtRecordEvent(shared, first), 0);
    return unused;
}

static void test_two_recorders(void)
{
    shared = make_event();
    for (int round = 0; round < 5; round++) {
        pthread_t threads[2] = {start(record_often, NULL), start(record_often, NULL)};
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        struct sim_stream *stream = target_of(first).tg_stream;
        struct sim_event *event = sim_table_find(&sim_events, shared);
        CHECK(atomic_load(&event->ev_record) == sim_record_of(stream, sim_stream_tail(stream)));
        CHECK_CODE(aclrtSynchronizeEvent(shared), 0);
        CHECK(status_of(shared) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
        CHECK(sim_gate_passed(&stream->st_gate, sim_stream_tail(stream)));
    }
    CHECK_CODE(aclrtDestroyEvent(shared), 0);
}

/* Another thread destroys the event during a call: the call must not affect the next event in the slot. */
static void test_next_life(void)
{
    struct sim_event *found;
    struct sim_target target = target_of(first);
    aclrtEvent event = make_flag();
    CHECK_CODE(sim_event_find(event, &found), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(sim_event_record(found, event, target, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_TEXT("by another thread during the call");
    aclrtEvent next = make_flag();
    CHECK(found->ev_slot.sl_handle == (uint64_t)(uintptr_t)next); /* the same slot */
    CHECK_CODE(sim_event_record(found, event, target, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(sim_event_wait(found, event, target, SIM_FOREVER, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(sim_event_reset(found, event, target, NULL), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_CODE(aclrtSynchronizeStream(first), 0);
    CHECK(found->ev_references == 1 && status_of(next) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_CODE(aclrtDestroyEvent(next), 0);
}

static void test_schedule(const char *schedule)
{
    open_device(schedule);
    first = make_stream();
    second = make_stream();
    held = make_stream();
    test_binding();
    test_flag();
    test_reset();
    test_end();
    test_time();
    test_two_recorders();
    test_next_life();
    CHECK_CODE(aclrtDestroyStream(held), 0);
    CHECK_CODE(aclrtDestroyStream(second), 0);
    CHECK_CODE(aclrtDestroyStream(first), 0);
}

int main(void)
{
    watch_dog(60);
    test_schedule("parallel");
    test_schedule("eager");
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
