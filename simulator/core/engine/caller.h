/* Callers: queues of calls of the user's functions, each with the one thread that makes them.
 *
 * One lock guards every caller, its queue and the bindings of streams and contexts to callers (st_caller,
 * cx_host_caller). It is held for moments: never while a user's function runs, never while waiting, and gates are raised
 * after it is released. Callers are recycled but never freed, so raising the gate of one that ended meanwhile does no
 * harm; counts and levels only ever rise, across lives too. */
#ifndef SIM_CALLER_H
#define SIM_CALLER_H

#include "engine.h"
#include <pthread.h>

struct sim_call {
    struct sim_call *ca_next;
    void (*ca_function)(void *user);
    void *ca_user;
    struct sim_stream *ca_stream;
    uint64_t ca_return; /* the number to raise ca_stream's st_returned to; 0: the call does not block its stream */
    uint64_t ca_order;  /* in the caller's queue */
    bool ca_block;
};

struct sim_caller {
    struct sim_caller *cl_next;    /* among those in use, or unused */
    bool cl_own_thread;            /* has a thread of its own: host functions, exceptions */
    bool cl_runs;                  /* that thread is there; the next call starts one that rests */
    bool cl_stop;
    bool cl_abandoned;             /* stopped by its own thread, which ends it */
    _Atomic bool cl_calling;       /* a function runs; false again before anybody learns that it has returned */
    uint64_t cl_thread;            /* pthread id of a report caller's thread, which need not exist yet */
    pthread_t cl_main;             /* the own thread */
    struct sim_device *cl_device;  /* of all its streams */
    uint32_t cl_streams;           /* bound */
    uint32_t cl_serving;           /* calls of sim_callback_process in progress; more than one when nested */
    struct sim_call *cl_first, **cl_last;
    uint64_t cl_count;             /* orders given out; never reset */
    struct sim_gate cl_queued;     /* raised to cl_count when a call or a stop arrived */
    struct sim_gate cl_made;       /* raised to the order of every call that was made */
};

extern struct sim_lock sim_caller_lock;

/* ---- with the lock held; those that release it for a while say so ---- */

/* An empty caller, NULL without memory; and its end. */
struct sim_caller *sim_caller_take(void);
void sim_caller_give(struct sim_caller *caller);
/* The same with a thread of its own; NULL when none can be started. */
struct sim_caller *sim_caller_start(void);

/* Puts the call last. Returns its order, to which the gate cl_queued must be raised once the lock is released. */
uint64_t sim_caller_append(struct sim_caller *caller, struct sim_call *call);
struct sim_call *sim_caller_take_out(struct sim_caller *caller, struct sim_call **link);

/* Waits until a call is queued (0) or the caller is stopped (0 with cl_stop). Releases the lock meanwhile. */
enum sim_wait sim_caller_await(struct sim_caller *caller, uint64_t deadline);
/* Makes the calls queued up to now. Releases the lock meanwhile. */
void sim_caller_make(struct sim_caller *caller);
/* Lets whoever awaits calls leave. Releases the lock meanwhile. */
void sim_caller_halt(struct sim_caller *caller);
/* Frees the calls that were not begun; whoever waits for them goes on. Releases the lock meanwhile. */
void sim_caller_discard(struct sim_caller *caller);

/* ---- callers with a thread of their own, without the lock ---- */

/* True when `stream`, parked for a call, gets it back from the caller that this very thread is serving: waiting for it
 * never ends. */
bool sim_caller_is_own(struct sim_stream *stream);

/* Ends the thread after the call it is making; calls not begun are not made. Its own thread may ask for it, too. */
void sim_caller_stop(struct sim_caller *caller);
/* Ends the thread unless it has calls to make. Calls may be queued meanwhile. */
void sim_caller_rest(struct sim_caller *caller);
/* Queues a call; false without memory. */
bool sim_caller_call(struct sim_caller *caller, void (*function)(void *user), void *user);
/* Waits until every call queued so far has been made; returns at once on the caller's own thread. */
void sim_caller_settle(struct sim_caller *caller);

void sim_caller_after_fork(void);

#endif
