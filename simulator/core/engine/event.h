/* Events: a name for a point in a stream (default and Ex events), or a flag that streams wait for (flag events). */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "share/exchange.h"
#include "engine.h"

enum sim_event_class { SIM_EVENT_DEFAULT, SIM_EVENT_FLAG, SIM_EVENT_EX, SIM_EVENT_IPC };

struct sim_context;
struct sim_device;

struct sim_event {
    struct sim_slot ev_slot;
    _Atomic enum sim_event_class ev_class; /* these are atomic because a call may race with the slot's next life */
    _Atomic uint32_t ev_flags;
    struct sim_device *_Atomic ev_device;
    struct sim_context *_Atomic ev_context; /* it was created in; only its failure matters, while it lives */
    _Atomic uint64_t ev_context_handle;
    _Atomic bool ev_counted;          /* takes a hardware id of its device */
    _Atomic sim_record ev_record;     /* newest record, stored under its stream's lock; 0: never recorded */
    _Atomic sim_record ev_cleared;    /* the record that an executed reset put back; equal to ev_record: not recorded */
    _Atomic uint32_t ev_references;   /* 1 for the handle, 1 a queued task; once 0, it stays so until the next life */
    _Atomic uint32_t ev_waits;        /* queued waits */
    _Atomic uint64_t ev_capture; /* the instance that captured its newest record, or 0; it may have ended */
    _Atomic uint64_t ev_point;   /* where, there */
    _Atomic uint32_t ev_record_use, ev_wait_use; /* 1 + the flag first used on it, 0: none yet */
    struct sim_gate ev_flag;          /* level 1 while a flag event is set; its lock also guards the next two */
    uint64_t ev_timestamp;            /* nanoseconds */
    sim_record ev_stamped;            /* the record that ev_timestamp belongs to */
    /* Of IPC events; event_share.c. */
    struct sim_share ev_share;        /* stays as long as the object */
    uint64_t ev_id;                   /* by which others open it; 0: another process's */
    struct sim_gate ev_remote;        /* counts what may have changed there; monotone over all lives of the slot */
    _Atomic uint64_t ev_number;       /* there, of this process's newest record */
};

extern struct sim_table sim_events;

/* While it is not 0, a wait of one record for another is reported to the rooms above (rm_event_waited). */
extern _Atomic uint32_t sim_event_listeners;

/* Whether the event was recorded in a capture, which may have ended. */
static inline bool sim_event_is_captured(const struct sim_event *event)
{
    return unlikely(atomic_load_explicit(&event->ev_capture, memory_order_relaxed) != 0);
}

aclError sim_event_find(aclrtEvent handle, struct sim_event **event); /* 107017 */
aclError sim_event_create(enum sim_event_class class, uint32_t flags, aclrtEvent *handle);
/* The handle is dead at once; the object lives until its queued tasks are done. */
aclError sim_event_destroy(struct sim_event *event, aclrtEvent handle);

/* A reference for a task: 107017 when the handle is not this event's any more. */
aclError sim_event_refer(struct sim_event *event, aclrtEvent handle);
void sim_event_release(struct sim_event *event);

/* The event of a queued task of one of the next three, which holds a reference. */
const struct sim_event *sim_event_of_task(const void *argument);

/* Of an event that was found by this handle: 107017 when another thread destroyed it since. */
aclError sim_event_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);
aclError sim_event_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                        void *site);
aclError sim_event_reset(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);

/* Whether the newest record has been reached, and been made at all. */
bool sim_event_recorded(struct sim_event *event);
bool sim_event_complete(struct sim_event *event);
/* True when the event's last record has run (or there is none), so that synchronising returns at once. */
static inline bool sim_event_is_done(struct sim_event *event)
{
    return sim_record_passed(atomic_load_explicit(&event->ev_record, memory_order_acquire));
}

/* Waits at most some milliseconds (negative: for ever) for the newest record of the moment; passed when there is none. */
enum sim_wait sim_event_synchronize(struct sim_event *event, uint64_t deadline, enum sim_role role);
/* The failure code of the context that the event was created in, when that stopped on a failure. */
aclError sim_event_check_failed(const struct sim_event *event);
/* The first flag an event is used with stays: another one is 107000. */
aclError sim_event_stick_flag(_Atomic uint32_t *use, uint32_t flag);
/* Time of the newest record in nanoseconds: 507000 never recorded, 107006 no timestamp (yet). */
aclError sim_event_timestamp(struct sim_event *event, const char *name, uint64_t *nanoseconds);
/* ---- events of several processes (event_share.c) ---- */

/* 207000 on chips without. */
aclError sim_event_share_supported(void);
/* One that this process shares, or (id not 0) another one's: 107017 when there is none that this process may open. */
aclError sim_event_share_create(uint64_t id, aclrtEvent *handle);
aclError sim_event_share_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site);
/* `own`: the newest record is this process's own, and waiting for it is left to the caller. */
aclError sim_event_share_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                              void *site, bool *own);
/* 507901 when the process that made the newest record is gone and left it undone. */
aclError sim_event_share_query(struct sim_event *event, aclrtEvent handle, bool *complete);
aclError sim_event_share_synchronize(struct sim_event *event, aclrtEvent handle, int32_t milliseconds);

uint32_t sim_event_available(const struct sim_device *device);

/* The newest record of the event that a gate belongs to (rm_setter), and its part in the life of the library. */
bool sim_event_setter(const struct sim_gate *gate, sim_record *record, bool *guessed);
int sim_event_open(void);
void sim_event_forget_all(void);
void sim_event_after_fork(void);

#endif
