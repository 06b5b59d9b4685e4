/* Events: a point in a stream (default and Ex events), or a flag that streams wait for (flag events). */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "share/exchange.h"
#include "engine.h"

enum sim_event_class { SIM_EVENT_DEFAULT, SIM_EVENT_FLAG, SIM_EVENT_EX, SIM_EVENT_IPC };

struct sim_context;
struct sim_device;

struct sim_event {
    struct sim_slot ev_slot;
    _Atomic enum sim_event_class ev_class; /* atomic because a call may run while the slot is reused */
    _Atomic uint32_t ev_flags;
    struct sim_device *_Atomic ev_device;
    struct sim_context *_Atomic ev_context; /* where it was created; used for its failure, while it lives */
    _Atomic uint64_t ev_context_handle;
    _Atomic bool ev_counted;          /* it uses a hardware id of its device */
    _Atomic sim_record ev_record;     /* newest record, stored under its stream's lock; 0: none */
    _Atomic sim_record ev_cleared;    /* the record that a reset cleared; equal to ev_record: not recorded */
    _Atomic uint32_t ev_references;   /* 1 for the handle and 1 per queued task; 0: the slot is free */
    _Atomic uint32_t ev_waits;        /* number of queued waits */
    _Atomic uint64_t ev_capture; /* the instance that captured its newest record, or 0; it may not exist any more */
    _Atomic uint64_t ev_point;   /* the place of that record in the instance */
    _Atomic uint32_t ev_record_use, ev_wait_use; /* 1 + the flag first used with it; 0: none yet */
    struct sim_gate ev_flag;          /* level 1 while a flag event is set; its lock also guards the next two */
    uint64_t ev_timestamp;            /* nanoseconds */
    sim_record ev_stamped;            /* the record that ev_timestamp belongs to */
    /* For IPC events (event_share.c). */
    struct sim_share ev_share;        /* exists as long as the event */
    uint64_t ev_id;                   /* the id by which other processes open it; 0: another process published it */
    struct sim_gate ev_remote;        /* counts possible changes of the page; never reset */
    _Atomic uint64_t ev_number;       /* the number in the page of this process's newest record */
};

extern struct sim_table sim_events;

/* While not 0, waits of one record for another are reported to the rooms above (rm_event_waited). */
extern _Atomic uint32_t sim_event_listeners __attribute__((visibility("hidden")));

/* The time at which a record's task runs, in nanoseconds; NULL: sim_clock_now. Used while a watcher is on. */
extern uint64_t (*_Atomic sim_event_clock)(const struct sim_run *run) __attribute__((visibility("hidden")));

/* True when the event's newest record was captured; the capture may have ended. */
static inline bool sim_event_is_captured(const struct sim_event *event)
{
    return unlikely(atomic_load_explicit(&event->ev_capture, memory_order_relaxed) != 0);
}

/* Finds a live event. Returns 107017 otherwise. */
aclError sim_event_find(aclrtEvent handle, struct sim_event **event);
/* Creates an event on the current device. Returns 207007 when the device has no event id left. */
aclError sim_event_create(enum sim_event_class class, uint32_t flags, aclrtEvent *handle);
/* Makes the handle dead at once; the slot is freed when the queued tasks of the event are done. */
aclError sim_event_destroy(struct sim_event *event, aclrtEvent handle);

/* Takes a reference for a task. Returns 107017 when the event does not have this handle any more. */
aclError sim_event_refer(struct sim_event *event, aclrtEvent handle);
void sim_event_release(struct sim_event *event);

/* The event of a queued task that one of the next three submitted; the task holds a reference. */
const struct sim_event *sim_event_of_task(const void *argument);

/* For an event found by `handle`: they return 107017 when another thread has destroyed it since. */
aclError sim_event_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);
aclError sim_event_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                        void *site);
aclError sim_event_reset(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);

/* True when the event was recorded, and not reset since. */
bool sim_event_recorded(struct sim_event *event);
/* True when the newest record is done, or there is none; otherwise wakes a worker for its stream. */
bool sim_event_complete(struct sim_event *event);
/* The same without waking a worker: true when synchronising returns at once. */
static inline bool sim_event_is_done(struct sim_event *event)
{
    return sim_record_passed(atomic_load_explicit(&event->ev_record, memory_order_acquire));
}

/* Waits until `deadline` for the record that is the newest now. PASSED when there is none. */
enum sim_wait sim_event_synchronize(struct sim_event *event, uint64_t deadline, enum sim_role role);
/* The failure code of the context in which the event was created, if a failure has stopped it; else 0. */
aclError sim_event_check_failed(const struct sim_event *event);
/* Stores the first flag that an event is used with. Returns 107000 for a different flag later. */
aclError sim_event_stick_flag(_Atomic uint32_t *use, uint32_t flag);
/* The time of the newest record in nanoseconds. Returns 507000 if the event was never recorded, and 107006 if it has no
 * timestamp, or none yet. */
aclError sim_event_timestamp(struct sim_event *event, const char *name, uint64_t *nanoseconds);
/* ---- events of several processes (event_share.c) ---- */

/* Returns 207000 on chips without such events. */
aclError sim_event_share_supported(void);
/* Creates an event that this process publishes (id 0), or opens another process's by its id. Returns 107017 when this
 * process may open no such event. */
aclError sim_event_share_create(uint64_t id, aclrtEvent *handle);
aclError sim_event_share_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);
/* *own: this process made the newest record, and the caller has to wait for it. */
aclError sim_event_share_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                              void *site, bool *own);
/* These return 507901 when the process that made the newest record has exited before it was done. */
aclError sim_event_share_query(struct sim_event *event, aclrtEvent handle, bool *complete);
aclError sim_event_share_synchronize(struct sim_event *event, aclrtEvent handle, int32_t milliseconds);

/* The number of event ids that are left on the device. */
uint32_t sim_event_available(const struct sim_device *device);

/* The functions of struct sim_room: sim_event_setter finds the newest record of the event that a gate belongs to. */
bool sim_event_setter(const struct sim_gate *gate, sim_record *record, bool *guessed);
int sim_event_open(void);
void sim_event_forget_all(void);
void sim_event_after_fork(void);

#endif
