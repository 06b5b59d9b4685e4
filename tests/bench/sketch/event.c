/* Events: an event remembers the record of its newest call of sketch_event_record, and waiting for it is waiting for
 * that record. */
#include "stream.h"

#define MAX_EVENTS 1048576
#define EVENT_KIND 6ull

struct event {
    ALONE _Atomic uint64_t ev_handle; /* 0: the slot is free */
    _Atomic uint64_t ev_record;
    _Atomic uint64_t ev_time;
    struct event *ev_next_free;
};

static struct event *events, *free_events;
static uint32_t event_count;
static struct sketch_lock table_lock; /* guards the free events and their number */

void sketch_events_open(void)
{
    events = reserve(MAX_EVENTS * sizeof *events);
}

static struct event *find_event(sketch_event handle)
{
    uint32_t index = (uintptr_t)handle & 0xffffff;
    if (unlikely(index >= MAX_EVENTS))
        return NULL;
    struct event *event = &events[index];
    return likely(handle != NULL && LOAD(&event->ev_handle) == (uintptr_t)handle) ? event : NULL;
}

int sketch_event_create(sketch_event *handle)
{
    lock(&table_lock);
    struct event *event = free_events;
    if (event != NULL) {
        free_events = event->ev_next_free;
    } else {
        if (event_count >= MAX_EVENTS) {
            unlock(&table_lock);
            return SKETCH_NO_MEMORY;
        }
        event = &events[event_count++];
    }
    uint64_t value = (sketch_generation() << 28) | (EVENT_KIND << 24) | (uint64_t)(event - events);
    unlock(&table_lock);
    STORE_RELAXED(&event->ev_record, 0);
    STORE_RELAXED(&event->ev_time, 0);
    STORE(&event->ev_handle, value);
    *handle = (sketch_event)(uintptr_t)value;
    return SKETCH_OK;
}

int sketch_event_destroy(sketch_event handle)
{
    struct event *event = find_event(handle);
    uint64_t value = (uintptr_t)handle;
    if (event == NULL || !atomic_compare_exchange_strong(&event->ev_handle, &value, 0))
        return SKETCH_NO_HANDLE;
    lock(&table_lock);
    event->ev_next_free = free_events;
    free_events = event;
    unlock(&table_lock);
    return SKETCH_OK;
}

struct record_argument {
    struct event *ra_event;
    uint64_t ra_record; /* 0: any */
};

static void run_record(void *argument)
{
    struct record_argument record;
    memcpy(&record, argument, sizeof record);
    if (LOAD_RELAXED(&record.ra_event->ev_record) == record.ra_record || record.ra_record == 0)
        STORE_RELAXED(&record.ra_event->ev_time, ticks());
}

int sketch_event_record(sketch_event event_handle, sketch_stream stream_handle)
{
    static const struct sketch_op op = {run_record, SKETCH_RECORD | SKETCH_LIGHT};
    struct event *event = find_event(event_handle);
    struct stream *stream = find_stream(stream_handle);
    if (unlikely(event == NULL || stream == NULL))
        return SKETCH_NO_HANDLE;
    if (unlikely(sketch_thread.th_context == NULL))
        return SKETCH_NO_CONTEXT;
    struct record_argument argument = {event, 0};
    uint64_t ticket;
    int code = submit(stream, stream_handle, &op, &argument, sizeof argument, &ticket);
    if (code != SKETCH_OK)
        return code;
    STORE(&event->ev_record, (uint64_t)stream->st_index << POSITION_BITS | ticket);
    return SKETCH_OK;
}

int sketch_event_sync(sketch_event handle)
{
    struct event *event = find_event(handle);
    if (unlikely(event == NULL))
        return SKETCH_NO_HANDLE;
    uint64_t record = LOAD(&event->ev_record);
    if (record_done(record))
        return SKETCH_OK;
    if (sketch_thread.th_in_task)
        return SKETCH_IN_TASK;
    sketch_wait_until(record_stream(record), record_position(record));
    return SKETCH_OK;
}

int sketch_stream_wait(sketch_stream stream_handle, sketch_event event_handle)
{
    static const struct sketch_op op = {NULL, SKETCH_WAIT};
    struct event *event = find_event(event_handle);
    struct stream *stream = find_stream(stream_handle);
    if (unlikely(event == NULL || stream == NULL))
        return SKETCH_NO_HANDLE;
    uint64_t record = LOAD(&event->ev_record);
    if (record_done(record) || record_stream(record) == stream)
        return SKETCH_OK;
    return submit(stream, stream_handle, &op, &record, sizeof record, NULL);
}
