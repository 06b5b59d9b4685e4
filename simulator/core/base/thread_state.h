/* What the simulator knows of the calling thread: its context and device, the call in progress, its messages, and the
 * newest task that it submitted. */
#ifndef SIM_THREAD_STATE_H
#define SIM_THREAD_STATE_H

#include "lock.h"
#include <acl/acl.h>
#include <acl/acl_sim.h>
#include <stddef.h>

struct sim_context;
struct sim_caller;
struct sim_messages;
struct sim_walker;

/* The state of a thread. Small, because it is in static thread-local storage. */
struct sim_thread {
    const char *th_function;         /* the public call in progress, for messages */
    const char *th_line;             /* the line of the program that makes it, if a watcher needs it and it is known */
    struct sim_context *th_context;  /* the bound context, valid while its handle equals th_bound */
    uint64_t th_bound;
    struct sim_caller *th_caller;    /* the callback queue that this thread serves now, or NULL */
    struct sim_messages *th_messages;
    const struct sim_walker *th_walker; /* who runs the step of a replay that is running; set while a watcher is on */
    char *th_reason;                 /* buffer for the reason of a user's function (sim_fail_ask), or NULL */
    aclError th_last_error;
    uint32_t th_last_task;           /* id of the last task submitted to a stream of the program; UINT32_MAX: none */
    uint64_t th_recorder;            /* the instance that recorded that task; 0: it was queued */
    uint32_t th_recorded_branch;
    uint32_t th_id;                  /* kernel thread id; 0: not read yet */
    uint64_t th_wait_began;          /* sim_engine_aborts + 1 when a wait in slices began; 0: none is in progress */
    uint64_t th_wait_since;          /* the time when that wait began; 0: none is in progress */
    const char *th_sliced;           /* the call that waits in slices, during a slice, if it has no time-out */
    int32_t th_device;               /* device of the bound context, valid as long as that */
    uint32_t th_depth;               /* number of nested engine loops on this stack */
    bool th_in_kernel;               /* a kernel runs: waiting, destroying and synchronous copies are refused */
    bool th_has_last_task;
    bool th_keeps_plan;              /* the next plan of an operator is kept (operator/plan_cache.h) */
    bool th_is_library;              /* aclsimSetLibrary */
    bool th_is_own;                  /* the simulator has started it (thread.h) */
    uint8_t th_capture_mode;         /* aclmdlRICaptureMode, of aclmdlRICaptureThreadExchangeMode */
    bool th_served_model;            /* it ran a model between two callbacks (sim_engine_serve) */
    const void *th_call_site;        /* of the traced call in progress (observe/trace.h); NULL: none */
};
extern _Thread_local struct sim_thread sim_thread __attribute__((visibility("hidden")));

/* The first line of every entry point, and its site (base/site.h). */
#define SIM_ENTER() (sim_thread.th_function = __func__)
#define SIM_SITE() __builtin_return_address(0)

/* The kernel thread id of the calling thread. */
uint32_t sim_thread_number(void);

#endif
