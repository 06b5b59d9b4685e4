/* Callers: a caller is a callback queue, that is, a queue of calls of the user's functions and the one thread that
 * makes them.
 *
 * sim_caller_lock guards every caller, its queue, and which caller a stream or context uses (st_caller,
 * cx_host_caller). It is held briefly: never while a user's function runs or a thread waits. Gates are raised after it
 * is released. Callers are reused but never freed, so that raising the gate of one that has ended does no harm; counts
 * and levels only rise, also when a caller is reused. */
#ifndef SIM_CALLER_H
#define SIM_CALLER_H

#include "engine.h"
#include <pthread.h>

struct sim_call {
    struct sim_call *ca_next;
    void (*ca_function)(void *user);
    void *ca_user;
    struct sim_stream *ca_stream;
    uint64_t ca_return; /* st_returned of ca_stream is raised to this; 0: the call does not block its stream */
    uint64_t ca_order;  /* its number in the queue */
    bool ca_block;
};

struct sim_caller {
    struct sim_caller *cl_next;    /* in the list of callers in use, or of unused ones */
    bool cl_own_thread;            /* the simulator's thread serves it: host functions, exceptions */
    bool cl_runs;                  /* that thread exists; if not, the next call starts it */
    bool cl_stop;
    bool cl_abandoned;             /* stopped by its own thread, which then frees it */
    _Atomic bool cl_calling;       /* a function runs; false again before any waiter sees that it has returned */
    _Atomic bool cl_asleep;        /* its thread sleeps until a call arrives, or is about to: a hint */
    _Atomic uint32_t cl_unspun;    /* so many waits of either side do not spin, because a spin was in vain: a hint */
    _Atomic uint32_t cl_unserved;  /* so many streams are left to others after their callbacks: a hint */
    uint64_t cl_thread;            /* pthread id of the thread that serves a report caller; it need not exist yet */
    pthread_t cl_main;             /* the thread, if cl_own_thread */
    struct sim_device *cl_device;  /* the device of all its streams */
    uint32_t cl_streams;           /* number of bound streams */
    uint32_t cl_serving;           /* calls of sim_callback_process in progress; above 1 when nested */
    struct sim_call *cl_first, **cl_last;
    uint64_t cl_count;             /* the newest number of a call or a stop; never reset */
    struct sim_gate cl_queued;     /* raised to cl_count when a call or a stop has arrived */
    struct sim_gate cl_made;       /* raised to ca_order of each call that has been made */
    struct sim_stream *cl_resumed; /* the stream that its newest call has let go on; NULL once it has been waited for */
};

extern struct sim_lock sim_caller_lock;

/* ---- called with the lock held; the comments say which functions release it for a while ---- */

/* Returns an empty caller, or NULL when there is no memory; sim_caller_give frees it. */
struct sim_caller *sim_caller_take(void);
void sim_caller_give(struct sim_caller *caller);
/* Returns an empty caller with a thread of its own, or NULL when no thread can be started. */
struct sim_caller *sim_caller_start(void);

/* Appends the call. Returns its number; raise cl_queued to it after the lock is released. */
uint64_t sim_caller_append(struct sim_caller *caller, struct sim_call *call);
/* Takes the call at `link` out of the queue. */
struct sim_call *sim_caller_take_out(struct sim_caller *caller, struct sim_call **link);

/* Waits until a call is queued or the caller is stopped (cl_stop); both are SIM_WAIT_PASSED. Releases the lock
 * meanwhile. */
enum sim_wait sim_caller_await(struct sim_caller *caller, uint64_t deadline);
/* Makes the calls that are queued now. Releases the lock meanwhile. */
void sim_caller_make(struct sim_caller *caller);
/* Stops the caller: threads that wait for calls return. Releases the lock meanwhile. */
void sim_caller_halt(struct sim_caller *caller);
/* Frees the calls that have not begun, and wakes the streams and threads that wait for them. Releases the lock
 * meanwhile. */
void sim_caller_discard(struct sim_caller *caller);

/* ---- called without the lock ---- */

/* For a host that waits for `stream`, which waits for a callback: spins if the callback's thread does not sleep. True
 * when the callback has returned. */
bool sim_caller_spin(struct sim_stream *stream, uint64_t target);

/* ---- callers with a thread of their own; called without the lock ---- */

/* True when `stream` is parked for a call that this thread itself would have to make, so that waiting for the stream
 * would never end. */
bool sim_caller_is_own(struct sim_stream *stream);

/* Ends the thread after its current call, and discards the calls that have not begun. The thread itself may call
 * this. */
void sim_caller_stop(struct sim_caller *caller);
/* Ends the thread unless it has calls to make. Calls may be queued meanwhile. */
void sim_caller_rest(struct sim_caller *caller);
/* Queues a call. False when there is no memory. */
bool sim_caller_call(struct sim_caller *caller, void (*function)(void *user), void *user);
/* Waits until every call queued so far has been made; returns at once on the caller's own thread. */
void sim_caller_settle(struct sim_caller *caller);

void sim_caller_after_fork(void);

#endif
