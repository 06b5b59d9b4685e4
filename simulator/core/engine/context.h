/* Contexts: who owns streams, and what a thread is bound to. */
#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

#include "base/fail.h"
#include "base/runtime.h"
#include "task.h"

struct sim_device;
struct sim_stream;

#define SIM_CONTEXT_OPTIONS 3

struct sim_context {
    struct sim_slot cx_slot;
    struct sim_device *_Atomic cx_device; /* these are atomic because a call may race with the slot's next life */
    _Atomic bool cx_primary;
    _Atomic uint64_t cx_inactive;    /* its handle, once its device was reset: only destroying it is left */
    _Atomic uint64_t cx_default;     /* handle value of the default stream */
    struct sim_stream *_Atomic cx_default_stream;
    struct sim_lock cx_lock;         /* guards cx_streams, cx_instances, cx_closing and cx_overflow */
    struct sim_stream *cx_streams;
    bool cx_closing;
    _Atomic bool cx_stop_on_failure; /* once set, for good */
    _Atomic aclError cx_failed;      /* in stop mode, after the first failed task; or while its device aborts its work */
    struct sim_caller *_Atomic cx_host_caller; /* the thread of its host functions, or NULL */
    _Atomic uint32_t cx_captures;           /* captures open in it */
    struct sim_instance *cx_instances;      /* guarded by cx_lock */
    struct sim_range cx_overflow;           /* guarded by cx_lock; birth 0: no address was asked for */
    _Atomic bool cx_overflowed;             /* on chips whose status is a context's */
    _Atomic uint8_t cx_options[SIM_CONTEXT_OPTIONS]; /* of aclrtCtxSetSysParamOpt: the value and 1; 0: not set */
};

_Static_assert(offsetof(struct sim_context, cx_slot) == 0, "base/runtime.h reads the slot");

extern struct sim_table sim_contexts;

static inline bool sim_context_is_live(struct sim_context *context, uint64_t handle)
{
    return context != NULL && atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire) == handle;
}

/* The context current on this thread (the default device of aclInit's file is set when there is none): 107002. Waits
 * while the process is locked. */
aclError sim_context_find_current(struct sim_context **context);
static inline aclError sim_context_current(struct sim_context **context)
{
    SIM_TRY(sim_runtime_pass());
    *context = sim_thread.th_context;
    return likely(sim_runtime_is_bound()) ? ACL_SUCCESS : sim_context_find_current(context);
}

/* The same without the default device and without a trace: NULL when there is none. */
struct sim_context *sim_context_peek(void);

/* The failure code of a context that stopped on one, with its message; else 0. */
aclError sim_context_report_failed(struct sim_context *context);
static inline aclError sim_context_check_failed(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return likely(code == ACL_SUCCESS) ? code : sim_context_report_failed(context);
}

/* Whether a failed task has stopped the context, and the check that returns its failure code. An abort of its device
 * does not count: these are for calls that stay allowed during one. */
static inline bool sim_context_is_stopped(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return unlikely(code != ACL_SUCCESS) && code != ACL_ERROR_RT_DEVICE_TASK_ABORT;
}
static inline aclError sim_context_check_stopped(struct sim_context *context)
{
    return unlikely(sim_context_is_stopped(context)) ? sim_context_report_failed(context) : ACL_SUCCESS;
}

/* 107022 while its device aborts its work, for what a context that stopped may still do. */
static inline aclError sim_context_check_aborting(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return unlikely(code == ACL_ERROR_RT_DEVICE_TASK_ABORT) ? sim_context_report_failed(context) : ACL_SUCCESS;
}

/* Creates a context with its default stream on an open device. 207008, 207001. */
aclError sim_context_create(struct sim_device *device, bool primary, struct sim_context **context);

/* Waits for (or, with `force`, discards) the tasks of its streams, destroys them and gives the slot back; when that is
 * refused the context stays as it was. `keep_handle` leaves an explicit context behind as inactive. 507007 when another
 * thread is doing so. */
aclError sim_context_close(struct sim_context *context, bool force, bool keep_handle);

/* aclrtDestroyContext: 107002 unless the handle is a live or inactive explicit context. */
aclError sim_context_destroy(aclrtContext handle);

/* To the life of the slot that has this handle, and to no later one. */
void sim_context_bind(struct sim_context *context, aclrtContext handle);
static inline aclrtContext sim_context_handle(struct sim_context *context)
{
    return (aclrtContext)(uintptr_t)atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_relaxed);
}
void sim_context_unbind(void);

/* The streams of the context that are alive now, as their handle values; *count of them, to be freed by the caller.
 * NULL (and 0) without memory. */
uint64_t *sim_context_streams(struct sim_context *context, size_t *count);

/* aclrtSynchronizeDevice: waits for all streams of the context, at most some milliseconds. 507046 on expiry; first failure otherwise. */
aclError sim_context_synchronize(struct sim_context *context, int32_t timeout);

#endif
