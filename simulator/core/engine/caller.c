/* Callback queues and callback threads (caller.h): queueing calls, making them, discarding them, and starting and
 * ending the threads.
 *
 * A queue owns its calls until its thread takes them out to make them. Unused callers are in a list, never freed.
 *
 * sim_caller_lock guards all of it. It is released while a user's function runs, while a thread waits, and before a
 * gate is raised. */
#include "caller.h"
#include "base/thread.h"
#include "engine.h"
#include <stdlib.h>

struct sim_lock sim_caller_lock;
static struct sim_caller *unused; /* guarded by the lock */

struct sim_caller *sim_caller_take(void)
{
    struct sim_caller *caller = unused;
    if (caller != NULL) {
        unused = caller->cl_next;
        caller->cl_stop = caller->cl_abandoned = caller->cl_own_thread = caller->cl_runs = false;
        /* Discarded calls of its former use were never made, and no thread waits for them. */
        atomic_store_explicit(&caller->cl_made.gt_level, caller->cl_count, memory_order_relaxed);
    } else {
        caller = calloc(1, sizeof *caller);
        if (caller == NULL)
            return NULL;
    }
    caller->cl_first = NULL;
    caller->cl_last = &caller->cl_first;
    return caller;
}

void sim_caller_give(struct sim_caller *caller)
{
    caller->cl_next = unused;
    unused = caller;
}

static void *serve(void *argument);

static bool start_thread(struct sim_caller *caller)
{
    caller->cl_runs = sim_thread_start(&caller->cl_main, serve, caller) == 0;
    return caller->cl_runs;
}

uint64_t sim_caller_append(struct sim_caller *caller, struct sim_call *call)
{
    call->ca_next = NULL;
    call->ca_order = ++caller->cl_count;
    *caller->cl_last = call;
    caller->cl_last = &call->ca_next;
    if (unlikely(caller->cl_own_thread && !caller->cl_runs))
        (void)start_thread(caller); /* if no thread starts, the next call tries again */
    return call->ca_order;
}

struct sim_call *sim_caller_take_out(struct sim_caller *caller, struct sim_call **link)
{
    struct sim_call *call = *link;
    *link = call->ca_next;
    if (call->ca_next == NULL)
        caller->cl_last = link;
    return call;
}

void sim_caller_discard(struct sim_caller *caller)
{
    uint64_t last = caller->cl_count;
    struct sim_call *call = caller->cl_first;
    caller->cl_first = NULL;
    caller->cl_last = &caller->cl_first;
    sim_unlock(&sim_caller_lock);
    while (call != NULL) {
        struct sim_call *next = call->ca_next;
        if (call->ca_return != 0)
            sim_gate_raise(&call->ca_stream->st_returned, call->ca_return);
        free(call);
        call = next;
    }
    sim_gate_raise(&caller->cl_made, last);
    sim_lock(&sim_caller_lock);
}

void sim_caller_halt(struct sim_caller *caller)
{
    caller->cl_stop = true;
    uint64_t level = ++caller->cl_count;
    sim_unlock(&sim_caller_lock);
    sim_gate_raise(&caller->cl_queued, level);
    sim_lock(&sim_caller_lock);
}

enum sim_wait sim_caller_await(struct sim_caller *caller, uint64_t deadline)
{
    while (caller->cl_first == NULL && !caller->cl_stop) {
        uint64_t next = caller->cl_count + 1;
        sim_unlock(&sim_caller_lock);
        enum sim_wait wait = sim_engine_wait_gate(&caller->cl_queued, next, deadline);
        sim_lock(&sim_caller_lock);
        if (wait != SIM_WAIT_PASSED && caller->cl_first == NULL && !caller->cl_stop)
            return wait;
    }
    return SIM_WAIT_PASSED;
}

void sim_caller_make(struct sim_caller *caller)
{
    struct sim_caller *outer = sim_thread.th_caller;
    const char *function = sim_thread.th_function;
    uint64_t last = caller->cl_count;
    sim_thread.th_caller = caller;
    while (!caller->cl_stop && caller->cl_first != NULL && caller->cl_first->ca_order <= last) {
        struct sim_call *call = sim_caller_take_out(caller, &caller->cl_first);
        atomic_store_explicit(&caller->cl_calling, true, memory_order_relaxed); /* read with the lock held */
        sim_unlock(&sim_caller_lock);
        call->ca_function(call->ca_user);
        /* Before the gates below wake a host, which may read this at once. Release: after all that the function did. */
        atomic_store_explicit(&caller->cl_calling, false, memory_order_release);
        if (call->ca_return != 0)
            sim_gate_raise(&call->ca_stream->st_returned, call->ca_return);
        sim_gate_raise(&caller->cl_made, call->ca_order);
        free(call);
        sim_lock(&sim_caller_lock);
    }
    sim_thread.th_caller = outer;
    sim_thread.th_function = function;
}

/* ---- callers with a thread of their own ---- */

/* With the lock held: true when this thread makes the caller's calls. False in a thread that sim_caller_rest is
 * ending. */
static bool is_own_thread(const struct sim_caller *caller)
{
    return caller->cl_runs && pthread_equal(caller->cl_main, pthread_self());
}

static void *serve(void *argument)
{
    struct sim_caller *caller = argument;
    sim_lock(&sim_caller_lock);
    while (is_own_thread(caller) && !caller->cl_stop) {
        uint64_t next = caller->cl_count + 1;
        if (caller->cl_first != NULL) {
            sim_caller_make(caller);
            continue;
        }
        sim_unlock(&sim_caller_lock);
        sim_engine_wait_gate(&caller->cl_queued, next, SIM_FOREVER);
        sim_lock(&sim_caller_lock);
    }
    if (is_own_thread(caller) && caller->cl_abandoned) {
        sim_caller_discard(caller);
        sim_caller_give(caller);
    }
    sim_unlock(&sim_caller_lock);
    return NULL;
}

struct sim_caller *sim_caller_start(void)
{
    struct sim_caller *caller = sim_caller_take();
    if (caller == NULL)
        return NULL;
    caller->cl_own_thread = true;
    if (start_thread(caller))
        return caller;
    sim_caller_give(caller);
    return NULL;
}

void sim_caller_stop(struct sim_caller *caller)
{
    sim_lock(&sim_caller_lock);
    bool runs = caller->cl_runs;
    caller->cl_abandoned = is_own_thread(caller);
    bool abandoned = caller->cl_abandoned;
    pthread_t thread = caller->cl_main;
    sim_caller_halt(caller);
    sim_unlock(&sim_caller_lock);
    if (abandoned) {
        pthread_detach(thread);
        return;
    }
    if (runs)
        pthread_join(thread, NULL);
    sim_lock(&sim_caller_lock);
    sim_caller_discard(caller);
    sim_caller_give(caller);
    sim_unlock(&sim_caller_lock);
}

void sim_caller_rest(struct sim_caller *caller)
{
    sim_lock(&sim_caller_lock);
    bool calls = caller->cl_first != NULL || atomic_load_explicit(&caller->cl_calling, memory_order_acquire);
    bool ends = caller->cl_runs && !caller->cl_stop && !calls;
    pthread_t thread = caller->cl_main;
    uint64_t level = caller->cl_count += ends;
    if (ends)
        caller->cl_runs = false; /* this function joins the thread, also if the caller is stopped meanwhile */
    sim_unlock(&sim_caller_lock);
    if (!ends)
        return;
    sim_gate_raise(&caller->cl_queued, level);
    pthread_join(thread, NULL); /* it may still raise the gates of its last call, but calls no function */
    sim_gate_raise(&caller->cl_made, level);
}

bool sim_caller_call(struct sim_caller *caller, void (*function)(void *user), void *user)
{
    struct sim_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return false;
    call->ca_function = function;
    call->ca_user = user;
    sim_lock(&sim_caller_lock);
    uint64_t order = sim_caller_append(caller, call);
    sim_unlock(&sim_caller_lock);
    sim_gate_raise(&caller->cl_queued, order);
    return true;
}

void sim_caller_settle(struct sim_caller *caller)
{
    sim_lock(&sim_caller_lock);
    bool own = is_own_thread(caller);
    uint64_t last = caller->cl_count;
    sim_unlock(&sim_caller_lock);
    if (!own)
        sim_engine_wait_gate(&caller->cl_made, last, SIM_FOREVER);
}

bool sim_caller_is_own(struct sim_stream *stream)
{
    struct sim_caller *returner = atomic_load_explicit(&stream->st_returner, memory_order_relaxed);
    if (sim_thread.th_caller == NULL || returner != sim_thread.th_caller)
        return false;
    /* A task that is being discarded does not wait for its callback, even if its holder is parking it just now. */
    return sim_gate_level(&stream->st_gate) >= atomic_load_explicit(&stream->st_drop, memory_order_acquire);
}

void sim_caller_after_fork(void)
{
    /* The list is abandoned, because another thread may have been changing it during the fork. */
    sim_lock_renew(&sim_caller_lock);
    unused = NULL;
    sim_thread.th_caller = NULL;
}
