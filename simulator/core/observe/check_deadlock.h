/* The checker "deadlock", and the watchdog: waits of streams and host threads that cannot end. Design notes are in
 * check_deadlock.c. */
#ifndef SIM_CHECK_DEADLOCK_H
#define SIM_CHECK_DEADLOCK_H

#include "base/watcher.h"
#include "engine/caller.h"

extern const struct sim_watcher sim_check_deadlock;
void sim_check_deadlock_open(void); /* a device opens: reads the configuration, notes the threads that there are */
void sim_check_deadlock_reset(void);
void sim_check_deadlock_after_fork(void);

/* ---- between the files of this checker; its lock is held ---- */

/* What a wait waits for. */
enum sim_deadlock_source {
    SIM_DEADLOCK_RECORD,    /* a task of another stream */
    SIM_DEADLOCK_EVENT,     /* a record of a flag event */
    SIM_DEADLOCK_NOTIFY,    /* a record of a notify */
    SIM_DEADLOCK_VALUE,     /* a value in device memory */
    SIM_DEADLOCK_EXTERNAL,  /* the external record of a replay */
    SIM_DEADLOCK_REPLAY,    /* other branches, or a former replay of the same instance */
    SIM_DEADLOCK_CALLBACK,  /* a callback to return */
    SIM_DEADLOCK_REPORT,    /* a host: a callback to make */
    SIM_DEADLOCK_HOLD,      /* aclsimStreamRelease */
    SIM_DEADLOCK_ELSEWHERE, /* another process, or what the checker does not know */
};

/* A wait of a parked stream, or of a host thread. */
struct sim_deadlock_wait {
    struct sim_stream *dw_stream; /* NULL: a host thread waits */
    uint64_t dw_ticket;           /* of the task that waits */
    struct sim_gate *dw_gate;
    uint64_t dw_target;
    enum sim_deadlock_source dw_source;
    uint64_t dw_key;              /* of the tasks that can end it */
    uint64_t dw_number;           /* of the notify, or the address of the value */
    bool dw_ends;                 /* it has a time-out */
    bool dw_stuck;                /* the newest judgement: it cannot end */
    bool dw_told;                 /* it has been reported */
    bool dw_shown;                /* by the watchdog */
    const char *dw_function;      /* the public call that submitted it, or that waits */
    const void *dw_site;
    uint32_t dw_thread;
};

/* A queued task that may end waits. */
struct sim_deadlock_raiser {
    struct sim_deadlock_raiser *dr_next;
    uint64_t dr_key;
    struct sim_stream *dr_stream;
    uint64_t dr_ticket;
    bool dr_is_record; /* it ends those waits; otherwise it may run any code, or matters to some conditions only */
    const char *dr_function;
    const void *dr_site;
    uint32_t dr_thread;
};

/* Keys: gates have addresses. */
#define SIM_DEADLOCK_ANY_CODE 2u
static inline uint64_t sim_check_deadlock_task_value_key(uint64_t address)
{
    return address | 1; /* addresses of values are multiples of 8 */
}

/* The key of the waits that a task may end, or 0 (check_deadlock_task.c). */
uint64_t sim_check_deadlock_task_key(const struct sim_op *op, const void *argument, bool *is_record);
/* True for a replay, and for the tasks that run its branches. */
bool sim_check_deadlock_task_replays(const struct sim_op *op);
/* Keeps a copy. False without memory. */
bool sim_check_deadlock_task_keep(const struct sim_deadlock_raiser *kept);
/* A list of kept tasks that has all with this key, and perhaps others. */
const struct sim_deadlock_raiser *sim_check_deadlock_task_first(uint64_t key);
void sim_check_deadlock_task_free_all(void);
void sim_check_deadlock_task_forget_all(void);

/* A thread of the program that has called the library, or one of ours inside a function of the program. */
struct sim_deadlock_host {
    struct sim_deadlock_host *dh_next;
    pthread_t dh_self;
    const struct sim_caller *dh_caller; /* whose functions it calls, or has called; NULL: it never did */
    bool dh_calls;                      /* it is inside one */
    bool dh_waits;
    const _Atomic uint32_t *dh_woken;   /* while it waits: not 0 if it has been woken */
    struct sim_deadlock_wait dh_wait;   /* its newest; dw_thread is the thread's */
};

/* The host threads (check_deadlock_thread.c). find: the entry of this one, or NULL. enter: the same, made if it is
 * missing; NULL without memory. */
extern struct sim_deadlock_host *sim_check_deadlock_hosts;
bool sim_check_deadlock_thread_is_known(void);
struct sim_deadlock_host *sim_check_deadlock_thread_find(void);
struct sim_deadlock_host *sim_check_deadlock_thread_enter(void);
void sim_check_deadlock_thread_forget(void);     /* this one */
void sim_check_deadlock_thread_forget_all(void); /* the list is abandoned */
void sim_check_deadlock_thread_ended(void);      /* called without the lock: this thread has ended */

/* The waits of parked streams. */
struct sim_deadlock_wait *sim_check_deadlock_parked(size_t index); /* NULL: there are no more */
/* True when the wait is in progress; a time-out does not matter. */
bool sim_check_deadlock_is_waiting(const struct sim_deadlock_wait *wait);
bool sim_check_deadlock_is_done(struct sim_stream *stream, uint64_t ticket);

/* The queue of the callback that the stream waits for, or NULL. */
static inline const struct sim_caller *sim_check_deadlock_returner(const struct sim_deadlock_wait *wait)
{
    return atomic_load_explicit(&wait->dw_stream->st_returner, memory_order_relaxed);
}

/* Whom a stuck wait waits for: NULL if no wait stands in its way. *by: the queued task that would end it, or NULL. */
struct sim_deadlock_wait *sim_check_deadlock_next(const struct sim_deadlock_wait *wait,
                                                  const struct sim_deadlock_raiser **by);

/* True if the host sleeps for a stream whose wait is stuck. */
bool sim_check_deadlock_host_is_stuck(const struct sim_deadlock_host *host);

/* Report each circle of stuck waits whose tasks no running thread has queued (check_deadlock_report.c); or, if all
 * hosts are stuck, what each of them waits for. What was reported before is left out. */
void sim_check_deadlock_report_circles(void);
void sim_check_deadlock_report_hosts(void);
/* Reports all waits after so many nanoseconds without progress. */
void sim_check_deadlock_report_idle(uint64_t nanoseconds);

/* Notes the threads of the process (check_deadlock_thread.c). */
void sim_check_deadlock_thread_note(void);
/* True when the process has a thread that has started since, is not ours, and has not called yet: it may still call. */
bool sim_check_deadlock_thread_unknown(void);
/* True if a thread is inside a callback or a host function of the program. */
bool sim_check_deadlock_thread_calls(void);
/* True if a thread of ours is about to call one. */
bool sim_check_deadlock_thread_will_call(void);

#endif
