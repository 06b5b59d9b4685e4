/* Contexts: a context owns streams, and a thread is bound to one context at a time. */
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
    struct sim_device *_Atomic cx_device; /* atomic, as others below, because a call may run while the slot is reused */
    _Atomic bool cx_primary;
    _Atomic uint64_t cx_inactive;    /* its handle after its device was reset: it can only be destroyed; else 0 */
    _Atomic uint64_t cx_default;     /* handle value of the default stream */
    struct sim_stream *_Atomic cx_default_stream;
    struct sim_lock cx_lock;         /* guards cx_streams, cx_instances, cx_closing and cx_overflow */
    struct sim_stream *cx_streams;
    bool cx_closing;
    _Atomic bool cx_stop_on_failure; /* once set, it stays set */
    _Atomic aclError cx_failed;      /* set when a failed task stops the context, or while its device aborts its work */
    struct sim_caller *_Atomic cx_host_caller; /* the callback queue of its host functions, or NULL */
    _Atomic uint32_t cx_captures;           /* number of captures in progress in it */
    struct sim_instance *cx_instances;      /* guarded by cx_lock */
    struct sim_range cx_overflow;           /* guarded by cx_lock; rg_birth 0: no address is set */
    _Atomic bool cx_overflowed;             /* on chips that have an overflow status per context */
    _Atomic uint8_t cx_options[SIM_CONTEXT_OPTIONS]; /* of aclrtCtxSetSysParamOpt: the value + 1; 0: not set */
};

_Static_assert(offsetof(struct sim_context, cx_slot) == 0, "base/runtime.h reads the slot");

extern struct sim_table sim_contexts;

static inline bool sim_context_is_live(struct sim_context *context, uint64_t handle)
{
    return context != NULL && atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire) == handle;
}

/* Finds the context that is current on this thread, waiting while the process is locked. Without one, sets the default
 * device of aclInit's file first; returns 107002 if there is no such device either. A caller that has already seen that
 * the process is not locked calls sim_context_current_unlocked, which does not look again. */
aclError sim_context_find_current(struct sim_context **context);
static inline aclError sim_context_current_unlocked(struct sim_context **context)
{
    struct sim_context *found = sim_thread.th_context;
    if (unlikely(!sim_runtime_is_bound())) {
        struct sim_context *other; /* the call takes its address, so `found` can stay in a register */
        SIM_TRY(sim_context_find_current(&other));
        found = other;
    }
    *context = found;
    return ACL_SUCCESS;
}
static inline aclError sim_context_current(struct sim_context **context)
{
    SIM_TRY(sim_runtime_pass());
    return sim_context_current_unlocked(context);
}

/* The current context, or NULL; sets no default device and leaves no message. */
struct sim_context *sim_context_peek(void);

/* Returns the failure code that has stopped the context, with its message. The check returns 0 if there is none. */
aclError sim_context_report_failed(struct sim_context *context);
static inline aclError sim_context_check_failed(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return likely(code == ACL_SUCCESS) ? code : sim_context_report_failed(context);
}

/* Whether a failed task has stopped the context, and the check that returns the failure code. An abort of the device
 * does not count: these are for calls that are allowed during one. */
static inline bool sim_context_is_stopped(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return unlikely(code != ACL_SUCCESS) && code != ACL_ERROR_RT_DEVICE_TASK_ABORT;
}
static inline aclError sim_context_check_stopped(struct sim_context *context)
{
    return unlikely(sim_context_is_stopped(context)) ? sim_context_report_failed(context) : ACL_SUCCESS;
}

/* Returns 107022 while the device aborts its work: the check of calls that are allowed in a stopped context. */
static inline aclError sim_context_check_aborting(struct sim_context *context)
{
    aclError code = atomic_load_explicit(&context->cx_failed, memory_order_acquire);
    return unlikely(code == ACL_ERROR_RT_DEVICE_TASK_ABORT) ? sim_context_report_failed(context) : ACL_SUCCESS;
}

/* Creates a context with its default stream on an open device. Returns 207001 when there are too many contexts, and
 * 207008 when there are too many streams. */
aclError sim_context_create(struct sim_device *device, bool primary, struct sim_context **context);

/* Waits for the tasks of the context's streams (with `force`, discards them), destroys the streams and frees the slot.
 * If a stream cannot be destroyed, the context stays open. `keep_handle` keeps an explicit context as an inactive one.
 * Returns 507007 when another thread is closing it. */
aclError sim_context_close(struct sim_context *context, bool force, bool keep_handle);

/* aclrtDestroyContext: returns 107002 unless the handle is a live or inactive explicit context. */
aclError sim_context_destroy(aclrtContext handle);

/* Binds this thread to the context as long as it has this handle. */
void sim_context_bind(struct sim_context *context, aclrtContext handle);
static inline aclrtContext sim_context_handle(struct sim_context *context)
{
    return (aclrtContext)(uintptr_t)atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_relaxed);
}
void sim_context_unbind(void);

/* The handles of the context's live streams: an array of *count, which the caller frees. NULL, and *count is 0, when
 * there is no memory. */
uint64_t *sim_context_streams(struct sim_context *context, size_t *count);

/* aclrtSynchronizeDevice: waits for all streams of the context, at most `timeout` milliseconds. Returns 507046 if the
 * time is over, otherwise the first failure. */
aclError sim_context_synchronize(struct sim_context *context, int32_t timeout);

#endif
