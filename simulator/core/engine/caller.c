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

#define UNSPUN 16 /* after a spin in vain, so many waits sleep at once: the threads may share a CPU */
#define UNSERVED 64 /* after a model that took long, so many callbacks leave their streams to other threads */

struct sim_lock sim_caller_lock;
static struct sim_caller *unused; /* guarded by the lock */

struct sim_caller *sim_caller_take(void)
{
    struct sim_caller *caller = unused;
    if (caller != NULL) {
        unused = caller->cl_next;
        caller->cl_stop = caller->cl_abandoned = caller->cl_own_thread = caller->cl_runs = false;
        caller->cl_resumed = NULL;
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

/* True when a thread runs the stream or is about to, so that it may soon queue the next call. */
static bool is_active(struct sim_stream *stream)
{
    sim_lock(&stream->st_gate.gt_lock);
    bool active = stream->st_state == SIM_RUNNING || stream->st_state == SIM_READY;
    sim_unlock(&stream->st_gate.gt_lock);
    return active;
}

/* Both sides of a caller spin, or neither. The counter needs no order and may lose a step. */
static bool spin(struct sim_caller *caller, struct sim_gate *gate, uint64_t target)
{
    uint32_t unspun = atomic_load_explicit(&caller->cl_unspun, memory_order_relaxed);
    bool passed = unspun == 0 && sim_engine_spin(gate, target);
    if (!passed)
        atomic_store_explicit(&caller->cl_unspun, unspun == 0 ? UNSPUN : unspun - 1, memory_order_relaxed);
    return passed;
}

bool sim_caller_spin(struct sim_stream *stream, uint64_t target)
{
    struct sim_caller *returner = atomic_load_explicit(&stream->st_returner, memory_order_relaxed);
    return returner != NULL && !atomic_load_explicit(&returner->cl_asleep, memory_order_relaxed) &&
           spin(returner, &stream->st_returned, target);
}

/* Waits until a call or a stop arrives. Releases the lock meanwhile. After a call that let its stream go on, it spins
 * before it sleeps: if callbacks follow each other, waking threads would take most of the time. */
static enum sim_wait wait_for_call(struct sim_caller *caller, uint64_t deadline)
{
    uint64_t next = caller->cl_count + 1;
    struct sim_stream *resumed = caller->cl_resumed;
    caller->cl_resumed = NULL;
    sim_unlock(&sim_caller_lock);
    enum sim_wait wait = SIM_WAIT_PASSED;
    if (resumed == NULL || !is_active(resumed) || !spin(caller, &caller->cl_queued, next)) {
        atomic_store_explicit(&caller->cl_asleep, true, memory_order_relaxed);
        wait = sim_engine_wait_gate(&caller->cl_queued, next, deadline);
        atomic_store_explicit(&caller->cl_asleep, false, memory_order_relaxed);
    }
    sim_lock(&sim_caller_lock);
    return wait;
}

enum sim_wait sim_caller_await(struct sim_caller *caller, uint64_t deadline)
{
    while (caller->cl_first == NULL && !caller->cl_stop) {
        enum sim_wait wait = wait_for_call(caller, deadline);
        if (wait != SIM_WAIT_PASSED && caller->cl_first == NULL && !caller->cl_stop)
            return wait;
    }
    return SIM_WAIT_PASSED;
}

/* Lets the stream of a call that has been made go on. The counter needs no order and may lose a step: when a thread is
 * being ended and the next one has started, both may be here. */
static void let_go_on(struct sim_caller *caller, const struct sim_call *call)
{
    struct sim_stream *stream = call->ca_stream;
    uint32_t unserved = atomic_load_explicit(&caller->cl_unserved, memory_order_relaxed);
    if (unserved > 1) {
        sim_gate_raise(&stream->st_returned, call->ca_return);
        unserved--;
    } else {
        unserved = sim_engine_serve(stream, call->ca_return) ? 0 : UNSERVED;
    }
    atomic_store_explicit(&caller->cl_unserved, unserved, memory_order_relaxed);
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
        if (sim_watcher_any() && call->ca_stream != NULL)
            sim_watcher_callback(call->ca_stream, false, call->ca_return != 0);
        call->ca_function(call->ca_user);
        if (sim_watcher_any() && call->ca_stream != NULL)
            sim_watcher_callback(call->ca_stream, true, call->ca_return != 0);
        /* Before the gates below wake a host, which may read this at once. Release: after all that the function did. */
        atomic_store_explicit(&caller->cl_calling, false, memory_order_release);
        struct sim_stream *resumed = call->ca_return != 0 ? call->ca_stream : NULL;
        sim_gate_raise(&caller->cl_made, call->ca_order);
        if (resumed != NULL)
            let_go_on(caller, call);
        free(call);
        sim_lock(&sim_caller_lock);
        caller->cl_resumed = resumed;
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
        if (caller->cl_first != NULL)
            sim_caller_make(caller);
        else
            wait_for_call(caller, SIM_FOREVER);
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
