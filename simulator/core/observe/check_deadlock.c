/* Deadlocks: waits of streams and host threads that nothing can end any more.
 *
 * The checker knows each wait in progress, of a parked stream (wt_park) or a host thread (wt_sleep), and each queued
 * task that may end waits: records of flag events and notifies, writes of values, and tasks that may run any code
 * (callbacks, kernels, replays). A wait is stuck if every task that could end it is queued on a stream whose own wait
 * is stuck: all waits are taken as stuck first, then those that something can end are taken out until nothing changes.
 * It is judged again when a stream parks, a host is about to sleep, a record is queued behind a parked stream, a task
 * that could have ended a wait is done, and a thread ends.
 *
 * Streams alone: a wait without any queued record may be ended by a host, so it is not stuck; what remains are circles.
 * They are reported when the threads that have queued their tasks wait for them: until then, one may be about to record
 * from outside, which starts a ring of streams on purpose.
 * Hosts: only if every known host thread waits, and no thread is about to call a function of the program, a wait
 * without a queued record is stuck, too. Threads are known from their first call that queues, makes or waits for
 * something; check_deadlock_thread.c looks for those that have not called yet. Waits with a time-out, holds and what
 * other processes may change are never stuck.
 *
 * A wait that has ended is not told: it is recognised by its gate and by the counter of its stream. A finished task
 * counts as done before that counter rises, because nothing is told afterwards; `finished` is written before `waiting`
 * is read, and a wait is counted before `finished` is read, so that one of the two threads sees the other.
 *
 * The watchdog uses no thread: a thread that sleeps for a wait, or patrols, wakes when nothing may have happened for
 * long enough (wt_next_look). `progress` is the time when something happened last. The same wakes it for a second look.
 *
 * `lock` guards everything here and in the other files of this checker, except the atomics. It is taken with locks of
 * streams held, and takes only those of check.c inside; notifies are locked before it. */
#include "check_deadlock.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/room.h"
#include "base/site.h"
#include "capture/capture_inner.h"
#include "engine/event.h"
#include "memory/notify.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS 65536u                        /* indices of streams, which have 16 bits */
#define PATIENCE UINT64_C(10000000)           /* nanoseconds until a second look, */
#define PATIENCE_MOST UINT64_C(1000000000)    /* and at most until later ones */

static struct sim_lock lock;
static struct sim_deadlock_wait *waits[STREAMS];  /* by stream; made at its first wait */
static struct sim_deadlock_wait *parked[STREAMS]; /* those that may be in progress */
static size_t parked_count;
static _Atomic uint32_t waiting;                  /* parked_count, and the hosts that wait */
static _Atomic uint64_t finished[STREAMS];        /* the newest ticket whose function has returned */
static bool is_used;                              /* a device was opened with this checker on */
static bool judges;                               /* the check is on, not only the watchdog */
static uint64_t watchdog;                         /* nanoseconds; 0: none. Written while no device is open */
static _Atomic uint64_t progress;
static uint64_t told;                             /* the `progress` at which the watchdog has reported */
static _Atomic uint64_t next_judgement = SIM_FOREVER; /* when to look again */
static uint64_t patience;                             /* nanoseconds between these looks */

/* ---- what is in progress ---- */

bool sim_check_deadlock_is_done(struct sim_stream *stream, uint64_t ticket)
{
    return sim_gate_passed(&stream->st_gate, ticket) || atomic_load(&finished[stream->st_slot.sl_index]) >= ticket;
}

bool sim_check_deadlock_is_waiting(const struct sim_deadlock_wait *wait)
{
    struct sim_stream *stream = wait->dw_stream;
    if (sim_gate_passed(wait->dw_gate, wait->dw_target))
        return false;
    if (stream == NULL)
        return true;
    const struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    return !sim_check_deadlock_is_done(stream, wait->dw_ticket) &&
           atomic_load_explicit(&stream->st_drop, memory_order_acquire) < wait->dw_ticket &&
           atomic_load_explicit(&context->cx_failed, memory_order_relaxed) == ACL_SUCCESS;
}

struct sim_deadlock_wait *sim_check_deadlock_parked(size_t index)
{
    return index < parked_count ? parked[index] : NULL;
}

static void forget_ended(void)
{
    for (size_t i = parked_count; i-- != 0;)
        if (!sim_check_deadlock_is_waiting(parked[i])) {
            parked[i]->dw_gate = NULL;
            parked[i]->dw_stuck = false;
            parked[i] = parked[--parked_count];
            atomic_fetch_sub(&waiting, 1);
        }
}

/* The stuck wait of the stream, or NULL. */
static struct sim_deadlock_wait *wait_of(const struct sim_stream *stream)
{
    struct sim_deadlock_wait *wait = stream != NULL ? waits[stream->st_slot.sl_index] : NULL;
    return wait != NULL && wait->dw_stuck ? wait : NULL;
}

static void note_progress(void)
{
    if (watchdog != 0)
        atomic_store_explicit(&progress, sim_clock_now(), memory_order_relaxed);
}

/* ---- judging ---- */

/* True if a queued task that can still run may end waits with this key. *by: the first one that cannot, and records. */
static bool may_be_raised(uint64_t key, const struct sim_deadlock_raiser **by)
{
    const struct sim_deadlock_raiser *raiser = sim_check_deadlock_task_first(key);
    for (; raiser != NULL; raiser = raiser->dr_next) {
        if (raiser->dr_key != key || sim_check_deadlock_is_done(raiser->dr_stream, raiser->dr_ticket))
            continue;
        if (wait_of(raiser->dr_stream) == NULL)
            return true;
        bool first = *by == NULL || raiser->dr_stream < (*by)->dr_stream ||
                     (raiser->dr_stream == (*by)->dr_stream && raiser->dr_ticket < (*by)->dr_ticket);
        if (raiser->dr_is_record && first)
            *by = raiser;
    }
    return false;
}

/* The first stream with unfinished tasks whose wait is, or is not, stuck. */
static struct sim_stream *find_busy(bool of_instances, bool stuck)
{
    uint32_t count = atomic_load_explicit(&sim_streams.tb_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        struct sim_stream *stream = sim_stream_at(i);
        if ((!of_instances || sim_stream_kind(stream) == SIM_STREAM_INSTANCE) &&
            !sim_check_deadlock_is_done(stream, sim_stream_tail(stream)) && (wait_of(stream) != NULL) == stuck)
            return stream;
    }
    return NULL;
}

/* The stream that a replay waits for: the holder of the former replay, or one with another branch. NULL: none. */
static struct sim_stream *find_replayer(const struct sim_deadlock_wait *wait)
{
    bool guessed;
    sim_record record = sim_room_setter(wait->dw_gate, &guessed);
    return sim_record_passed(record) ? find_busy(true, true) : sim_record_stream(record);
}

/* True if something in progress may end the wait. `hosts`: no host thread can end it. */
static bool has_ender(const struct sim_deadlock_wait *wait, bool hosts)
{
    const struct sim_deadlock_raiser *by = NULL, *other = NULL;
    const struct sim_stream *replayer;
    switch (wait->dw_source) {
    case SIM_DEADLOCK_RECORD:
        return wait_of(sim_table_slot_of(&sim_streams, wait->dw_gate)) == NULL;
    case SIM_DEADLOCK_VALUE:
        if (find_busy(false, false) != NULL) /* any task may write it */
            return true;
        return may_be_raised(wait->dw_key, &by) || (by == NULL && !hosts);
    case SIM_DEADLOCK_EVENT:
    case SIM_DEADLOCK_NOTIFY:
        return may_be_raised(wait->dw_key, &by) || may_be_raised(SIM_DEADLOCK_ANY_CODE, &other) ||
               (by == NULL && !hosts);
    case SIM_DEADLOCK_EXTERNAL:
        return may_be_raised(SIM_DEADLOCK_ANY_CODE, &by) || (by == NULL && !hosts);
    case SIM_DEADLOCK_REPLAY:
        replayer = find_replayer(wait);
        return find_busy(true, false) != NULL || wait_of(replayer) == NULL;
    case SIM_DEADLOCK_CALLBACK:
        /* Until it has parked, a wait inside the callback may still be refused (sim_caller_is_own). */
        return !hosts || atomic_load(&wait->dw_stream->st_waiter.wt_gate) != wait->dw_gate;
    case SIM_DEADLOCK_REPORT:
        return !hosts || may_be_raised(SIM_DEADLOCK_ANY_CODE, &other);
    case SIM_DEADLOCK_HOLD:
    case SIM_DEADLOCK_ELSEWHERE:
        break;
    }
    return true;
}

/* The gate is read last: what ended the wait may have been done in between, and so no longer be in progress. */
static bool may_end(const struct sim_deadlock_wait *wait, bool hosts)
{
    return has_ender(wait, hosts) || !sim_check_deadlock_is_waiting(wait);
}

struct sim_deadlock_wait *sim_check_deadlock_next(const struct sim_deadlock_wait *wait,
                                                  const struct sim_deadlock_raiser **by)
{
    *by = NULL;
    switch (wait->dw_source) {
    case SIM_DEADLOCK_RECORD:
        return wait_of(sim_table_slot_of(&sim_streams, wait->dw_gate));
    case SIM_DEADLOCK_VALUE:
    case SIM_DEADLOCK_EVENT:
    case SIM_DEADLOCK_NOTIFY:
    case SIM_DEADLOCK_EXTERNAL:
        may_be_raised(wait->dw_source == SIM_DEADLOCK_EXTERNAL ? SIM_DEADLOCK_ANY_CODE : wait->dw_key, by);
        return *by != NULL ? wait_of((*by)->dr_stream) : NULL;
    case SIM_DEADLOCK_REPLAY:
        return wait_of(find_replayer(wait));
    case SIM_DEADLOCK_CALLBACK:
        for (struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
            if (host->dh_calls && host->dh_caller == sim_check_deadlock_returner(wait))
                return &host->dh_wait;
        break;
    default:
        break;
    }
    return NULL;
}

/* Takes out the waits that may end, until none is left. False: a host's wait was one of them. */
static bool shrink(bool hosts)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < parked_count; i++)
            if (parked[i]->dw_stuck && may_end(parked[i], hosts)) {
                parked[i]->dw_stuck = false;
                changed = true;
            }
        for (struct sim_deadlock_host *host = sim_check_deadlock_hosts; hosts && host != NULL; host = host->dh_next)
            if (may_end(&host->dh_wait, true))
                return false;
    }
    return true;
}

static bool is_asleep(const struct sim_deadlock_host *host)
{
    return host->dh_waits && !host->dh_wait.dw_ends && atomic_load(host->dh_woken) == 0 &&
           sim_check_deadlock_is_waiting(&host->dh_wait);
}

bool sim_check_deadlock_host_is_stuck(const struct sim_deadlock_host *host)
{
    return is_asleep(host) && !may_end(&host->dh_wait, false);
}

static bool all_hosts_wait(void)
{
    for (const struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
        if (!is_asleep(host))
            return false;
    return sim_check_deadlock_hosts != NULL;
}

static void take_all_as_stuck(void)
{
    for (size_t i = 0; i < parked_count; i++)
        parked[i]->dw_stuck = !parked[i]->dw_ends;
}

/* A second look decides where the first one may come too early: an unknown thread may be about to end, of which nothing
 * is told any more, and the wait of a thread inside a callback may be about to be refused. */
static bool is_doubtful(void)
{
    return (patience == 0 && sim_check_deadlock_thread_calls()) || sim_check_deadlock_thread_unknown();
}

static void look_again(bool later)
{
    patience = !later ? 0 : patience == 0 ? PATIENCE : patience < PATIENCE_MOST ? 2 * patience : patience;
    atomic_store(&next_judgement, later ? sim_clock_now() + patience : SIM_FOREVER);
}

static void judge(void)
{
    if (!judges)
        return;
    forget_ended();
    take_all_as_stuck();
    shrink(false);
    sim_check_deadlock_report_circles();
    bool stuck = all_hosts_wait();
    if (stuck) {
        take_all_as_stuck();
        stuck = shrink(true) && !sim_check_deadlock_thread_will_call();
    }
    bool doubtful = stuck && is_doubtful();
    look_again(doubtful);
    if (stuck && !doubtful)
        sim_check_deadlock_report_hosts();
}

/* ---- host threads ---- */

static void stop_waiting(struct sim_deadlock_host *host)
{
    atomic_fetch_sub(&waiting, host->dh_waits ? 1 : 0);
    host->dh_waits = false;
}

void sim_check_deadlock_thread_ended(void)
{
    sim_lock(&lock);
    struct sim_deadlock_host *host = sim_check_deadlock_thread_find();
    if (host != NULL)
        stop_waiting(host);
    sim_check_deadlock_thread_forget();
    judge();
    sim_unlock(&lock);
}

/* The entry of this thread; NULL without memory, and then the checker ends. */
static struct sim_deadlock_host *own_host(void)
{
    struct sim_deadlock_host *host = sim_check_deadlock_thread_enter();
    judges = judges && host != NULL;
    return host;
}

/* This thread has called the library. One that runs a task, or is ours, is not the program's. */
static void note_call(void)
{
    note_progress();
    if (likely(sim_check_deadlock_thread_is_known()) || sim_thread.th_is_own || sim_thread.th_depth != 0)
        return;
    sim_lock(&lock);
    own_host();
    sim_unlock(&lock);
}

/* One of ours counts while it is inside a function of the program, and until it sleeps. */
static void see_callback(const struct sim_stream *stream, bool ends, bool blocks)
{
    (void)stream, (void)blocks;
    note_progress();
    sim_lock(&lock);
    struct sim_deadlock_host *host = own_host();
    if (host != NULL) {
        host->dh_caller = sim_thread.th_caller;
        host->dh_calls = !ends;
    }
    sim_unlock(&lock);
}

static void see_sleep(struct sim_gate *gate, uint64_t target, bool ends, const _Atomic uint32_t *woken)
{
    if (sim_thread.th_is_own && sim_thread.th_caller == NULL) {
        if (sim_check_deadlock_thread_is_known())
            sim_check_deadlock_thread_ended();
        return;
    }
    const char *function = sim_thread.th_sliced != NULL ? sim_thread.th_sliced : sim_thread.th_function;
    const void *site = sim_site_of_call();
    const struct sim_stream *stream = sim_table_slot_of(&sim_streams, gate);
    bool reports = strcmp(function != NULL ? function : "", "aclrtProcessReport") == 0;
    sim_lock(&lock);
    struct sim_deadlock_host *host = own_host();
    if (host != NULL) {
        struct sim_deadlock_wait *wait = &host->dh_wait;
        if (wait->dw_gate != gate || wait->dw_target != target) {
            note_progress();
            wait->dw_told = wait->dw_shown = false;
        } else if (!wait->dw_shown && told == atomic_load_explicit(&progress, memory_order_relaxed)) {
            note_progress(); /* the watchdog reported while this thread was awake to look at its timers */
        }
        wait->dw_gate = gate;
        wait->dw_target = target;
        wait->dw_source = stream != NULL && gate == &stream->st_gate ? SIM_DEADLOCK_RECORD
                          : reports                                  ? SIM_DEADLOCK_REPORT
                                                                     : SIM_DEADLOCK_ELSEWHERE;
        wait->dw_ends = ends;
        wait->dw_function = function;
        wait->dw_site = site;
        host->dh_waits = true;
        host->dh_woken = woken;
        atomic_fetch_add(&waiting, 1);
        if (!ends)
            judge();
    }
    sim_unlock(&lock);
}

static void see_wake(struct sim_gate *gate, uint64_t target)
{
    sim_lock(&lock);
    struct sim_deadlock_host *host = sim_check_deadlock_thread_find();
    if (host != NULL)
        stop_waiting(host);
    sim_unlock(&lock);
    if (sim_gate_passed(gate, target))
        note_progress();
}

/* ---- streams ---- */

static enum sim_deadlock_source source_of(struct sim_gate *gate, const struct sim_op *op)
{
    const struct sim_stream *stream = sim_table_slot_of(&sim_streams, gate);
    const struct sim_event *event = sim_table_slot_of(&sim_events, gate);
    if (stream != NULL && gate == &stream->st_latch)
        return sim_stream_kind(stream) == SIM_STREAM_INSTANCE ? SIM_DEADLOCK_EXTERNAL : SIM_DEADLOCK_HOLD;
    if (stream != NULL)
        return gate == &stream->st_gate       ? SIM_DEADLOCK_RECORD
               : gate == &stream->st_returned ? SIM_DEADLOCK_CALLBACK
               : gate == &stream->st_valued   ? SIM_DEADLOCK_VALUE
                                              : SIM_DEADLOCK_ELSEWHERE;
    if (event != NULL && gate == &event->ev_flag)
        return SIM_DEADLOCK_EVENT;
    if (sim_table_slot_of(&sim_capture_instances, gate) != NULL)
        return SIM_DEADLOCK_REPLAY;
    return op->op_kind == SIM_TASK_NOTIFY_WAIT && !sim_notify_is_shared(gate) ? SIM_DEADLOCK_NOTIFY
                                                                              : SIM_DEADLOCK_ELSEWHERE;
}

/* A step of a replay parks before the task that replays it, which then waits for the same. In between, the replay lets
 * other streams run its other branches, so that the step's wait is not judged yet. */
static void see_park(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    const struct sim_op *op = task->ta_op;
    uint32_t index = run->rn_stream->st_slot.sl_index;
    enum sim_deadlock_source source = source_of(run->rn_gate, op);
    sim_lock(&lock);
    struct sim_deadlock_wait *wait = waits[index];
    if (wait == NULL && (wait = waits[index] = calloc(1, sizeof *wait)) == NULL) {
        judges = false;
        sim_unlock(&lock);
        return;
    }
    bool again = wait->dw_ticket == run->rn_ticket;
    bool replays = again && wait->dw_gate == run->rn_gate && wait->dw_target == run->rn_target &&
                   sim_check_deadlock_task_replays(op);
    if (wait->dw_gate == NULL) {
        parked[parked_count++] = wait;
        atomic_fetch_add(&waiting, 1);
    }
    if (!again)
        note_progress();
    if (!replays)
        *wait = (struct sim_deadlock_wait){
            .dw_stream = run->rn_stream, .dw_ticket = run->rn_ticket, .dw_gate = run->rn_gate,
            .dw_target = run->rn_target, .dw_source = source,
            .dw_number = op->op_number != NULL ? op->op_number(argument) : 0, .dw_told = again && wait->dw_told,
            .dw_function = op->op_name, .dw_site = task->ta_site, .dw_thread = task->ta_thread};
    wait->dw_key = source == SIM_DEADLOCK_VALUE ? sim_check_deadlock_task_value_key(wait->dw_number)
                                                : (uintptr_t)run->rn_gate;
    wait->dw_ends = run->rn_deadline != SIM_FOREVER || sim_thread.th_walker != NULL;
    if (sim_thread.th_walker == NULL)
        judge();
    sim_unlock(&lock);
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    const struct sim_op *op = task->ta_op;
    struct sim_deadlock_raiser raiser = {
        .dr_stream = sim_stream_at(stream->st_slot.sl_index), .dr_ticket = ticket, .dr_function = op->op_name,
        .dr_site = task->ta_site, .dr_thread = task->ta_thread};
    note_call();
    const void *argument = task->ta_is_long ? task->ta_ext : task->ta_argument;
    raiser.dr_key = sim_check_deadlock_task_key(op, argument, &raiser.dr_is_record);
    if (raiser.dr_key == 0)
        return;
    sim_lock(&lock);
    judges = sim_check_deadlock_task_keep(&raiser) && judges; /* without memory, what can end would be reported */
    const struct sim_deadlock_wait *wait = waits[stream->st_slot.sl_index];
    if (wait != NULL && wait->dw_gate != NULL)
        judge();
    sim_unlock(&lock);
}

static void see_finish(const struct sim_run *run, const struct sim_task *task, const void *argument,
                       const struct sim_watched *watched)
{
    bool is_record;
    (void)watched;
    note_progress();
    if (sim_thread.th_walker != NULL)
        return;
    atomic_store(&finished[run->rn_stream->st_slot.sl_index], run->rn_ticket);
    if (atomic_load(&waiting) == 0)
        return;
    uint64_t key = sim_check_deadlock_task_key(task->ta_op, argument, &is_record);
    if (key == 0 && sim_stream_tail(run->rn_stream) != run->rn_ticket)
        return;
    sim_lock(&lock);
    judge();
    sim_unlock(&lock);
}

/* ---- other calls of host threads ---- */

static void see_create(const struct sim_table *table, uint64_t handle)
{
    (void)table, (void)handle;
    note_call();
}

static void see_allocate(const struct sim_block *block, const void *site)
{
    (void)block, (void)site;
    note_call();
}

static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    (void)ranges;
    (void)count;
    (void)site;
    note_call();
}

static void see_know(uint64_t record)
{
    (void)record;
    note_call();
}

/* ---- looks at later times ---- */

/* When the watchdog looks next. */
static uint64_t watch(void)
{
    if (watchdog == 0 || atomic_load_explicit(&waiting, memory_order_relaxed) == 0)
        return SIM_FOREVER;
    uint64_t since = atomic_load_explicit(&progress, memory_order_relaxed), next = since + watchdog;
    sim_lock(&lock);
    forget_ended();
    if (told == since || atomic_load_explicit(&waiting, memory_order_relaxed) == 0) {
        next = SIM_FOREVER;
    } else if (sim_clock_now() >= next) {
        told = since;
        next = SIM_FOREVER;
        sim_check_deadlock_report_idle(watchdog);
    }
    sim_unlock(&lock);
    return next;
}

static uint64_t next_look(void)
{
    uint64_t due = atomic_load(&next_judgement), next = watch();
    if (due != SIM_FOREVER && sim_clock_now() >= due) {
        sim_lock(&lock);
        if (atomic_load(&next_judgement) == due)
            judge();
        sim_unlock(&lock);
        due = atomic_load(&next_judgement);
    }
    return due < next ? due : next;
}

const struct sim_watcher sim_check_deadlock = {
    .wt_park = see_park, .wt_sleep = see_sleep, .wt_wake = see_wake, .wt_next_look = next_look,
    .wt_submit = see_submit, .wt_finish = see_finish, .wt_callback = see_callback, .wt_create = see_create,
    .wt_allocate = see_allocate, .wt_access = see_access, .wt_know = see_know};

/* ---- life cycle ---- */

void sim_check_deadlock_open(void)
{
    const struct sim_config *config = sim_config();
    sim_lock(&lock);
    bool on = (config->cf_checks & SIM_CHECK_DEADLOCK) != 0 || config->cf_watchdog != 0;
    if (on && !is_used) {
        judges = (config->cf_checks & SIM_CHECK_DEADLOCK) != 0;
        watchdog = config->cf_watchdog;
        sim_check_deadlock_thread_note();
    }
    is_used |= on;
    sim_unlock(&lock);
    if (on)
        note_call();
}

static void forget(void)
{
    memset(waits, 0, sizeof waits);
    sim_check_deadlock_task_forget_all();
    parked_count = 0;
    sim_check_deadlock_thread_forget_all();
    atomic_store(&waiting, 0);
    is_used = judges = false;
    watchdog = told = 0;
    look_again(false);
}

void sim_check_deadlock_reset(void)
{
    sim_lock(&lock);
    for (uint32_t i = 0; i < STREAMS && is_used; i++)
        free(waits[i]);
    sim_check_deadlock_task_free_all();
    for (struct sim_deadlock_host *host; (host = sim_check_deadlock_hosts) != NULL; free(host))
        sim_check_deadlock_hosts = host->dh_next;
    if (is_used)
        forget();
    sim_unlock(&lock);
}

void sim_check_deadlock_after_fork(void)
{
    sim_lock_renew(&lock);
    for (uint32_t i = 0; i < STREAMS && is_used; i++)
        atomic_store_explicit(&finished[i], 0, memory_order_relaxed);
    if (is_used)
        forget(); /* what it knew is abandoned, because another thread may have been changing it during the fork */
}
