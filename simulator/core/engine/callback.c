/* User callbacks: binding streams to threads, queueing calls from tasks, and making the calls.
 *
 * A launched call belongs to its task until the task queues it, then to the callback queue, then to the thread that
 * makes it. The task looks the queue up when it runs; if the stream was unbound meanwhile, it fails with 107015. A
 * blocking call gets the next number of its stream (st_posted), and the stream stays parked until st_returned has
 * reached it. Discarding the task takes the call out of the queue unless it has begun. A report caller exists while a
 * stream is bound to it, calls are queued or its thread is inside aclrtProcessReport; an unsubscribed thread therefore
 * still gets the calls queued before.
 *
 * sim_caller_lock guards the bindings and the list of report callers (caller.h). */
#include "callback.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/registry.h"
#include "caller.h"
#include "context.h"
#include "device.h"
#include <stdlib.h>

static struct sim_caller *reports; /* report callers in use; sim_caller_lock guards both */
static uint32_t report_count;

static struct sim_caller *find_report(uint64_t thread)
{
    struct sim_caller *caller = reports;
    while (caller != NULL && caller->cl_thread != thread)
        caller = caller->cl_next;
    return caller;
}

static void unlink_report(struct sim_caller *caller)
{
    struct sim_caller **link = &reports;
    while (*link != caller)
        link = &(*link)->cl_next;
    *link = caller->cl_next;
    report_count--;
}

/* Frees a report caller that is not needed any more. A stopped one has left `reports` already. */
static void end_unused_report(struct sim_caller *caller)
{
    if (caller->cl_streams != 0 || caller->cl_first != NULL || caller->cl_serving != 0)
        return;
    if (!caller->cl_stop)
        unlink_report(caller);
    sim_caller_give(caller);
}

/* ---- bindings ---- */

static struct sim_caller *caller_of(struct sim_stream *stream)
{
    return atomic_load_explicit(&stream->st_caller, memory_order_relaxed);
}

/* With the lock held: while a stream's handle is live, sim_callback_forget will still be called for it. */
static bool is_live(struct sim_target target)
{
    return atomic_load_explicit(&target.tg_stream->st_slot.sl_handle, memory_order_acquire) == target.tg_handle;
}

/* With the lock held: finds the caller of `thread`, or creates one. */
static aclError report_for(uint64_t thread, struct sim_device *device, struct sim_caller **found)
{
    struct sim_caller *caller = find_report(thread);
    if (caller == NULL) {
        uint32_t limit = sim_config()->cf_max_threads;
        SIM_CHECK(report_count < limit, ACL_ERROR_RT_INTERNAL_ERROR,
                  "threadId %llu would be callback thread number %u, expected at most %u",
                  (unsigned long long)thread, report_count + 1, limit);
        caller = sim_caller_take();
        SIM_CHECK(caller != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the callbacks of a thread");
        caller->cl_thread = thread;
        caller->cl_next = reports;
        reports = caller;
        report_count++;
    }
    SIM_CHECK(caller->cl_streams == 0 || caller->cl_device == device, ACL_ERROR_RT_THREAD_SUBSCRIBE,
              "threadId %llu serves streams of device %d, expected a thread that serves device %d or none",
              (unsigned long long)thread, caller->cl_device->dv_id, device->dv_id);
    caller->cl_device = device;
    *found = caller;
    return ACL_SUCCESS;
}

static aclError subscribe(uint64_t thread, struct sim_target target)
{
    struct sim_stream *stream = target.tg_stream;
    unsigned long long handle = target.tg_handle;
    SIM_CHECK(is_live(target), ACL_ERROR_RT_INVALID_HANDLE,
              "stream %#llx was destroyed by another thread during the call", handle);
    struct sim_caller *caller = caller_of(stream);
    SIM_CHECK(caller == NULL || !caller->cl_own_thread, ACL_ERROR_RT_STREAM_SUBSCRIBE,
              "stream %#llx runs host functions (aclrtLaunchHostFunc), expected one that does not", handle);
    SIM_CHECK(caller == NULL, ACL_ERROR_RT_STREAM_SUBSCRIBE,
              "stream %#llx is served by thread %llu already, expected a stream without a thread", handle,
              (unsigned long long)caller->cl_thread);
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    SIM_TRY(report_for(thread, context->cx_device, &caller));
    caller->cl_streams++;
    atomic_store_explicit(&stream->st_caller, caller, memory_order_relaxed);
    return ACL_SUCCESS;
}

static void unbind(struct sim_stream *stream)
{
    struct sim_caller *caller = caller_of(stream);
    atomic_store_explicit(&stream->st_caller, NULL, memory_order_relaxed);
    if (caller != NULL && !caller->cl_own_thread) {
        caller->cl_streams--;
        end_unused_report(caller);
    }
}

static aclError unsubscribe(uint64_t thread, struct sim_target target)
{
    struct sim_stream *stream = target.tg_stream;
    struct sim_caller *caller = caller_of(stream);
    SIM_CHECK(caller != NULL && !caller->cl_own_thread, ACL_ERROR_RT_STREAM_SUBSCRIBE,
              "stream %#llx is not served by any thread, expected a stream passed to aclrtSubscribeReport",
              (unsigned long long)target.tg_handle);
    SIM_CHECK(caller->cl_thread == thread, ACL_ERROR_RT_THREAD_SUBSCRIBE,
              "threadId is %llu, expected %llu, which serves stream %#llx", (unsigned long long)thread,
              (unsigned long long)caller->cl_thread, (unsigned long long)target.tg_handle);
    unbind(stream);
    return ACL_SUCCESS;
}

aclError sim_callback_subscribe(uint64_t thread, struct sim_target stream)
{
    sim_lock(&sim_caller_lock);
    aclError code = subscribe(thread, stream);
    sim_unlock(&sim_caller_lock);
    return code;
}

aclError sim_callback_unsubscribe(uint64_t thread, struct sim_target stream)
{
    sim_lock(&sim_caller_lock);
    aclError code = unsubscribe(thread, stream);
    sim_unlock(&sim_caller_lock);
    return code;
}

void sim_callback_forget(struct sim_stream *stream, uint64_t handle)
{
    (void)handle;
    if (caller_of(stream) == NULL)
        return;
    sim_lock(&sim_caller_lock);
    unbind(stream);
    sim_unlock(&sim_caller_lock);
}

/* ---- serving ---- */

aclError sim_callback_process(int32_t timeout)
{
    uint64_t thread = (uint64_t)pthread_self();
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = find_report(thread);
    enum sim_wait wait = SIM_WAIT_PASSED;
    bool stopped = true;
    if (caller != NULL) {
        caller->cl_serving++;
        wait = sim_caller_await(caller, sim_clock_deadline_of_call(timeout));
        stopped = caller->cl_stop;
        if (wait == SIM_WAIT_PASSED && !stopped)
            sim_caller_make(caller);
        caller->cl_serving--;
        end_unused_report(caller);
    }
    sim_unlock(&sim_caller_lock);
    SIM_CHECK(!stopped, ACL_ERROR_RT_THREAD_SUBSCRIBE,
              "this thread does not serve any stream, expected aclrtSubscribeReport(%llu, stream) before",
              (unsigned long long)thread);
    SIM_CHECK(wait != SIM_WAIT_EXPIRED, ACL_ERROR_RT_REPORT_TIMEOUT,
              "timeout is %d ms, in which no callback arrived for this thread", timeout);
    return sim_engine_refusal(wait);
}

bool sim_callback_wait_pending(uint64_t deadline)
{
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = find_report((uint64_t)pthread_self());
    bool pending = true;
    if (caller != NULL) {
        caller->cl_serving++;
        pending = sim_caller_await(caller, deadline) != SIM_WAIT_EXPIRED;
        caller->cl_serving--;
        end_unused_report(caller);
    }
    sim_unlock(&sim_caller_lock);
    return pending;
}

/* ---- launching ---- */

struct launch {
    struct sim_call *la_call; /* NULL after the call was queued */
    struct sim_caller *la_caller; /* the queue that has the call */
    struct sim_stream *la_stream; /* the stream that queued it */
    uint64_t la_return;           /* the number of a blocking call in its stream */
    uint64_t la_thread;           /* captured: the report thread that makes the call, on any stream; 0: not captured */
    bool la_for_host;             /* the context's thread for host functions makes the call */
};

/* With the lock held: the queue for the call now. A captured call keeps the report thread of its capture. */
static struct sim_caller *caller_for(const struct launch *launch, struct sim_stream *stream)
{
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    if (launch->la_thread == 0)
        return caller_of(stream);
    return launch->la_for_host ? atomic_load_explicit(&context->cx_host_caller, memory_order_relaxed)
                               : find_report(launch->la_thread);
}

/* Queues the call. False when no thread serves the stream any more. */
static bool hand_over(struct launch *launch, struct sim_stream *stream, struct sim_call *call)
{
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = caller_for(launch, stream);
    if (caller == NULL) {
        sim_unlock(&sim_caller_lock);
        return false;
    }
    launch->la_caller = caller;
    launch->la_stream = call->ca_stream = stream;
    uint64_t order = sim_caller_append(caller, call);
    atomic_store_explicit(&stream->st_returner, call->ca_block ? caller : NULL, memory_order_relaxed);
    sim_unlock(&sim_caller_lock);
    sim_gate_raise(&caller->cl_queued, order);
    return true;
}

static aclError run_launch(struct sim_run *run, void *argument)
{
    struct launch *launch = argument;
    struct sim_stream *stream = run->rn_stream;
    struct sim_call *call = launch->la_call;
    if (call != NULL) {
        launch->la_call = NULL;
        launch->la_return = call->ca_return = call->ca_block ? ++stream->st_posted : 0;
        if (!hand_over(launch, stream, call)) {
            free(call);
            return ACL_ERROR_RT_STREAM_NO_CB_REG;
        }
    }
    if (sim_gate_passed(&stream->st_returned, launch->la_return))
        return ACL_SUCCESS;
    run->rn_gate = &stream->st_returned;
    run->rn_target = launch->la_return;
    run->rn_deadline = SIM_FOREVER;
    return SIM_PARK;
}

/* Frees a call that has not begun, so that it is not made. */
static void drop_launch(void *argument)
{
    struct launch *launch = argument;
    struct sim_call *call = launch->la_call;
    if (call == NULL) {
        sim_lock(&sim_caller_lock);
        struct sim_caller *caller = launch->la_caller;
        struct sim_call **link = caller != NULL ? &caller->cl_first : &call;
        while (*link != NULL && ((*link)->ca_stream != launch->la_stream || (*link)->ca_return != launch->la_return))
            link = &(*link)->ca_next;
        if (*link != NULL)
            call = sim_caller_take_out(caller, link);
        sim_unlock(&sim_caller_lock);
    }
    free(call);
}

/* Copies the call for one more replay of a captured launch. */
static aclError renew_launch(void *argument)
{
    struct launch *launch = argument;
    struct sim_call *call = malloc(sizeof *call);
    if (call == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    *call = *launch->la_call;
    launch->la_call = call;
    return ACL_SUCCESS;
}

#define LAUNCH_OP(name)                                                                                                \
    {.op_name = name, .op_run = run_launch, .op_drop = drop_launch, .op_flags = SIM_OP_HEAVY,                          \
     .op_kind = SIM_TASK_CALLBACK, .op_renew = renew_launch}
static const struct sim_op callback_op = LAUNCH_OP("aclrtLaunchCallback");
static const struct sim_op host_function_op = LAUNCH_OP("aclrtLaunchHostFunc");

/* A captured launch stores the thread that makes its calls, because the stream may be destroyed before a replay. */
static uint64_t maker_of(struct sim_target stream)
{
    if (sim_stream_taken(stream.tg_stream) == SIM_TAKEN_NOT)
        return 0;
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = caller_of(stream.tg_stream);
    uint64_t thread = caller == NULL ? 0 : caller->cl_own_thread ? 1 : caller->cl_thread;
    sim_unlock(&sim_caller_lock);
    return thread;
}

static aclError submit(const struct sim_op *op, void (*function)(void *user), void *user, bool block,
                       struct sim_target stream, void *site)
{
    struct sim_call *call = calloc(1, sizeof *call);
    SIM_CHECK(call != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a callback");
    call->ca_function = function;
    call->ca_user = user;
    call->ca_block = block;
    struct launch launch = {.la_call = call, .la_stream = stream.tg_stream, .la_thread = maker_of(stream),
                            .la_for_host = op == &host_function_op};
    aclError code = sim_engine_submit(stream, op, &launch, sizeof launch, site, NULL);
    if (code != ACL_SUCCESS)
        free(call);
    return code;
}

aclError sim_callback_launch(aclrtCallback function, void *user, bool block, struct sim_target stream, void *site)
{
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = caller_of(stream.tg_stream);
    bool bound = caller != NULL, for_host = bound && caller->cl_own_thread;
    sim_unlock(&sim_caller_lock);
    SIM_CHECK(!for_host, ACL_ERROR_RT_STREAM_SUBSCRIBE,
              "stream %#llx runs host functions (aclrtLaunchHostFunc), expected a stream passed to "
              "aclrtSubscribeReport",
              (unsigned long long)stream.tg_handle);
    SIM_CHECK(bound, ACL_ERROR_RT_STREAM_NO_CB_REG,
              "stream %#llx is not served by any thread, expected aclrtSubscribeReport(threadId, stream) before",
              (unsigned long long)stream.tg_handle);
    return submit(&callback_op, function, user, block, stream, site);
}

/* With the lock held: binds an unbound stream to the host-function thread of its context. */
static aclError bind_for_host(struct sim_target target)
{
    struct sim_stream *stream = target.tg_stream;
    struct sim_caller *caller = caller_of(stream);
    SIM_CHECK(caller == NULL || caller->cl_own_thread, ACL_ERROR_RT_STREAM_SUBSCRIBE,
              "stream %#llx is served by thread %llu (aclrtSubscribeReport), expected a stream without a thread",
              (unsigned long long)target.tg_handle, (unsigned long long)caller->cl_thread);
    if (caller != NULL || !is_live(target))
        return ACL_SUCCESS;
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    caller = atomic_load_explicit(&context->cx_host_caller, memory_order_relaxed);
    if (caller == NULL) {
        caller = sim_caller_start();
        SIM_CHECK(caller != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no thread could be started for host functions");
        atomic_store_explicit(&context->cx_host_caller, caller, memory_order_release);
    }
    atomic_store_explicit(&stream->st_caller, caller, memory_order_relaxed);
    return ACL_SUCCESS;
}

aclError sim_callback_host_function(aclrtHostFunc function, void *user, struct sim_target stream, void *site)
{
    sim_lock(&sim_caller_lock);
    aclError code = bind_for_host(stream);
    sim_unlock(&sim_caller_lock);
    SIM_TRY(code);
    return submit(&host_function_op, function, user, true, stream, site);
}

void sim_callback_close(struct sim_context *context)
{
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = atomic_exchange_explicit(&context->cx_host_caller, NULL, memory_order_relaxed);
    sim_unlock(&sim_caller_lock);
    if (caller != NULL)
        sim_caller_stop(caller);
}

void sim_callback_rest(void)
{
    sim_exception_rest();
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire); i++) {
        struct sim_context *context = sim_table_at(&sim_contexts, i);
        struct sim_caller *caller = atomic_load_explicit(&context->cx_host_caller, memory_order_acquire);
        if (caller != NULL)
            sim_caller_rest(caller);
    }
}

/* ---- reset ---- */

void sim_callback_reset(void)
{
    sim_exception_reset();
    sim_registry_reset();
    sim_lock(&sim_caller_lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_streams.tb_count, memory_order_acquire); i++)
        atomic_store_explicit(&sim_stream_at(i)->st_caller, NULL, memory_order_relaxed);
    for (struct sim_caller *caller; (caller = reports) != NULL;) {
        unlink_report(caller);
        caller->cl_streams = 0;
        caller->cl_serving++; /* keeps it until its waiting threads are woken */
        sim_caller_halt(caller);
        sim_caller_discard(caller);
        caller->cl_serving--;
        end_unused_report(caller);
    }
    sim_unlock(&sim_caller_lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire); i++)
        sim_callback_close(sim_table_at(&sim_contexts, i));
}

void sim_callback_after_fork(void)
{
    sim_caller_after_fork();
    sim_exception_after_fork();
    sim_registry_after_fork();
    reports = NULL;
    report_count = 0;
}
