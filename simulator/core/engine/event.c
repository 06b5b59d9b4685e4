/* Events: creating, recording, waiting, resetting, querying, and their timestamps.
 *
 * An event's newest record is one word (sim_record), stored while the recording stream is locked; it is complete when
 * that stream's counter has reached it. Waits of default and Ex events copy the word when they are issued, so that a
 * later record does not change them. A flag event has a level: record sets it, reset clears it, and its waits park at
 * the event's gate; hosts query and synchronise its newest record, as for other events.
 *
 * The handle owns one reference. Tasks that use the event when they run own one too: waits of default events, which are
 * counted for aclrtQueryEventWaitStatus, and all tasks of flag events. The slot is freed with the last reference. Other
 * tasks need none: records never repeat, so that a stamp for a slot's former event is recognised.
 *
 * ev_flag's lock guards the timestamp; no other lock is taken inside it. */
#include "base/clock.h"
#include "base/room.h"
#include "context.h"
#include "device.h"
#include "recorder.h"

#define FLAG_SYNC ACL_EVENT_SYNC
#define FLAG_TIMED ACL_EVENT_TIME_LINE

_Atomic uint32_t sim_event_listeners;
uint64_t (*_Atomic sim_event_clock)(const struct sim_run *run);
struct sim_table sim_events = {
    .tb_stride = sizeof(struct sim_event), .tb_limit = 1u << 20, .tb_kind = SIM_KIND_EVENT};

static bool is_flag(const struct sim_event *event)
{
    return event->ev_class == SIM_EVENT_FLAG && (event->ev_flags & (FLAG_SYNC | ACL_EVENT_EXTERNAL));
}

static bool is_timed(const struct sim_event *event)
{
    return event->ev_class == SIM_EVENT_DEFAULT || (event->ev_flags & FLAG_TIMED);
}

void sim_event_release(struct sim_event *event)
{
    if (atomic_fetch_sub_explicit(&event->ev_references, 1, memory_order_acq_rel) != 1)
        return;
    if (unlikely(event->ev_share.sr_link != NULL))
        sim_exchange_share_leave(&event->ev_share);
    sim_table_give(&sim_events, event);
}

static aclError refuse_destroyed(aclrtEvent handle)
{
    return sim_fail(ACL_ERROR_RT_INVALID_HANDLE, "event %p was destroyed by another thread during the call", handle);
}

/* The count is raised only from above 0, so that a freed slot stays unchanged. A slot that was reused has another
 * handle; the reference is taken first, so that the slot cannot be freed before that check. */
aclError sim_event_refer(struct sim_event *event, aclrtEvent handle)
{
    uint32_t count = atomic_load_explicit(&event->ev_references, memory_order_relaxed);
    while (count != 0 && !atomic_compare_exchange_weak_explicit(&event->ev_references, &count, count + 1,
                                                                memory_order_acquire, memory_order_relaxed)) {
    }
    if (unlikely(count == 0))
        return refuse_destroyed(handle);
    if (likely(sim_table_find(&sim_events, handle) == event))
        return ACL_SUCCESS;
    sim_event_release(event);
    return refuse_destroyed(handle);
}

aclError sim_event_find(aclrtEvent handle, struct sim_event **event)
{
    *event = sim_table_find(&sim_events, handle);
    SIM_CHECK(*event != NULL, ACL_ERROR_RT_INVALID_HANDLE, "event is %p, %s, expected a live event", handle,
              sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_event_create(enum sim_event_class class, uint32_t flags, aclrtEvent *handle)
{
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    struct sim_device *device = context->cx_device;
    bool takes_id = class == SIM_EVENT_FLAG && (flags & (FLAG_SYNC | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL));
    uint32_t limit = sim_config()->cf_max_events;
    uint32_t taken = takes_id ? atomic_fetch_add(&device->dv_events, 1) : 0;
    uint64_t value = 0;
    struct sim_event *event = taken < limit ? sim_table_take(&sim_events, &value) : NULL;
    if (unlikely(event == NULL)) {
        if (takes_id)
            atomic_fetch_sub(&device->dv_events, 1);
        return sim_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "device %d has %u flag events alive, expected fewer than %u",
                        device->dv_id, taken, limit);
    }
    atomic_store_explicit(&event->ev_class, class, memory_order_relaxed);
    atomic_store_explicit(&event->ev_flags, flags, memory_order_relaxed);
    atomic_store_explicit(&event->ev_device, device, memory_order_relaxed);
    atomic_store_explicit(&event->ev_context, context, memory_order_relaxed);
    atomic_store_explicit(&event->ev_context_handle, sim_thread.th_bound, memory_order_relaxed);
    atomic_store_explicit(&event->ev_counted, takes_id, memory_order_relaxed);
    sim_lock(&event->ev_flag.gt_lock); /* a record task of the slot's former event may be reading these */
    event->ev_stamped = 0;
    atomic_store_explicit(&event->ev_record, 0, memory_order_relaxed);
    sim_unlock(&event->ev_flag.gt_lock);
    atomic_store_explicit(&event->ev_cleared, 0, memory_order_relaxed);
    atomic_store_explicit(&event->ev_waits, 0, memory_order_relaxed);
    atomic_store_explicit(&event->ev_record_use, 0, memory_order_relaxed);
    atomic_store_explicit(&event->ev_wait_use, 0, memory_order_relaxed);
    atomic_store_explicit(&event->ev_capture, 0, memory_order_relaxed);
    event->ev_share = (struct sim_share){0};
    event->ev_id = 0;
    atomic_store_explicit(&event->ev_references, 1, memory_order_relaxed);
    atomic_store_explicit(&event->ev_flag.gt_level, 0, memory_order_relaxed);
    atomic_store_explicit(&event->ev_slot.sl_handle, value, memory_order_release);
    *handle = (aclrtEvent)(uintptr_t)value;
    return ACL_SUCCESS;
}

aclError sim_event_destroy(struct sim_event *event, aclrtEvent handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    if (!atomic_compare_exchange_strong(&event->ev_slot.sl_handle, &value, 0))
        return refuse_destroyed(handle);
    if (event->ev_counted)
        atomic_fetch_sub(&event->ev_device->dv_events, 1);
    if (unlikely(event->ev_id != 0))
        sim_exchange_withdraw(SIM_EXCHANGE_EVENT, event->ev_id, "event");
    sim_event_release(event);
    return ACL_SUCCESS;
}

/* ---- tasks ---- */

/* The argument of a task. A record stores the first member only, and a wait without a time-out the first two: what it
 * does not store, its op says. */
struct event_task {
    struct sim_event *et_event;
    sim_record et_record; /* wait: the record that it waits for, 0: the flag; reset: the record that it clears */
    uint64_t et_timeout;  /* wait with a time-out: nanoseconds */
    uint64_t et_deadline; /* the same, counted from when the wait begins to run; 0: not yet */
};

/* What a task holds of its event, from its submission until it has run or is discarded: nothing, a reference, or a
 * reference and a place in ev_waits. */
enum hold { HOLDS_NOTHING, HOLDS_EVENT, HOLDS_PLACE };

const struct sim_event *sim_event_of_task(const void *argument)
{
    return ((const struct event_task *)argument)->et_event;
}

static void drop_event(void *argument)
{
    sim_event_release(((struct event_task *)argument)->et_event);
}

static void drop_place(void *argument)
{
    atomic_fetch_sub_explicit(&((struct event_task *)argument)->et_event->ev_waits, 1, memory_order_release);
    drop_event(argument);
}

/* Captured tasks, which are those of flag events, keep a reference as long as their instance lives. */
static aclError renew(void *argument)
{
    struct event_task *task = argument;
    atomic_fetch_add_explicit(&task->et_event->ev_references, 1, memory_order_relaxed);
    return ACL_SUCCESS;
}

/* The task that runs now ends. */
static void end_task(const struct sim_run *run, void *argument)
{
    if (run->rn_task->ta_op->op_drop != NULL)
        run->rn_task->ta_op->op_drop(argument);
}

/* Only records of flag events hold something. */
static aclError run_record(struct sim_run *run, void *argument)
{
    if (run->rn_task->ta_op->op_drop != NULL)
        sim_gate_set(&((struct event_task *)argument)->et_event->ev_flag, 1);
    end_task(run, argument);
    return ACL_SUCCESS;
}

SIM_RARE static uint64_t watched_time(const struct sim_run *run)
{
    uint64_t (*clock)(const struct sim_run *) = atomic_load_explicit(&sim_event_clock, memory_order_relaxed);
    return clock != NULL ? clock(run) : sim_clock_now();
}

static aclError run_timed_record(struct sim_run *run, void *argument)
{
    struct sim_event *event = ((struct event_task *)argument)->et_event;
    sim_record own = sim_record_of(run->rn_stream, run->rn_ticket);
    uint64_t now = sim_watcher_any() ? watched_time(run) : sim_clock_now();
    sim_lock(&event->ev_flag.gt_lock);
    if (atomic_load_explicit(&event->ev_record, memory_order_acquire) == own) {
        event->ev_timestamp = now;
        event->ev_stamped = own;
    }
    sim_unlock(&event->ev_flag.gt_lock);
    return run_record(run, argument);
}

static aclError run_wait(struct sim_run *run, void *argument)
{
    struct event_task *wait = argument;
    bool on_flag = wait->et_record == 0;
    struct sim_gate *gate = on_flag ? &wait->et_event->ev_flag : &sim_record_stream(wait->et_record)->st_gate;
    uint64_t target = on_flag ? 1 : sim_record_ticket(wait->et_record);
    if (!sim_gate_passed(gate, target) && !run->rn_expired &&
        (on_flag || !sim_engine_run_ahead(sim_record_stream(wait->et_record), target))) {
        run->rn_gate = gate;
        run->rn_target = target;
        run->rn_deadline = SIM_FOREVER;
        return SIM_PARK;
    }
    end_task(run, argument);
    return run->rn_expired ? ACL_ERROR_RT_TASK_TIMEOUT : ACL_SUCCESS;
}

static aclError run_timed_wait(struct sim_run *run, void *argument)
{
    struct event_task *wait = argument;
    aclError code = run_wait(run, argument);
    if (code == SIM_PARK) {
        if (wait->et_deadline == 0)
            wait->et_deadline = sim_clock_now() + wait->et_timeout;
        run->rn_deadline = wait->et_deadline;
    }
    return code;
}

static aclError run_reset(struct sim_run *run, void *argument)
{
    struct event_task *reset = argument;
    if (is_flag(reset->et_event))
        sim_gate_set(&reset->et_event->ev_flag, 0);
    atomic_store_explicit(&reset->et_event->ev_cleared, reset->et_record, memory_order_release);
    end_task(run, argument);
    return ACL_SUCCESS;
}

static struct sim_edge edge_of_record(const void *argument)
{
    const struct event_task *task = argument;
    return (struct sim_edge){.eg_kind = SIM_EDGE_RAISES, .eg_gate = &task->et_event->ev_flag};
}

static struct sim_edge edge_of_wait(const void *argument)
{
    const struct event_task *task = argument;
    return (struct sim_edge){.eg_kind = task->et_record != 0 ? SIM_EDGE_AFTER : SIM_EDGE_AWAITS,
                             .eg_record = task->et_record,
                             .eg_gate = &task->et_event->ev_flag};
}

#define EVENT_OP(name, run, drop, edge, kind)                                                                          \
    {.op_name = name, .op_run = run, .op_drop = drop, .op_edge = edge, .op_flags = SIM_OP_LIGHT, .op_kind = kind,      \
     .op_renew = renew}
#define RECORD_OPS(drop, edge)                                                                                         \
    {EVENT_OP("aclrtRecordEvent", run_record, drop, edge, SIM_TASK_FLAG_RECORD),                                       \
     EVENT_OP("aclrtRecordEvent", run_timed_record, drop, edge, SIM_TASK_FLAG_RECORD)}
#define WAIT_OPS(drop)                                                                                                 \
    {EVENT_OP("aclrtStreamWaitEvent", run_wait, drop, edge_of_wait, SIM_TASK_FLAG_WAIT),                               \
     EVENT_OP("aclrtStreamWaitEvent", run_timed_wait, drop, edge_of_wait, SIM_TASK_FLAG_WAIT)}
/* By what the task holds, and whether it stamps its event (a record) or has a time-out (a wait). A record cannot look
 * that up when it runs, because its event may be gone. */
static const struct sim_op record_ops[][2] = {RECORD_OPS(NULL, NULL), RECORD_OPS(drop_event, edge_of_record)},
                           wait_ops[][2] = {WAIT_OPS(NULL), WAIT_OPS(drop_event), WAIT_OPS(drop_place)};
static const struct sim_op reset_op =
    EVENT_OP("aclrtResetEvent", run_reset, drop_event, NULL, SIM_TASK_RESET);

/* Submits the first `size` bytes of the task. */
static aclError submit(struct sim_target stream, const struct sim_op *op, enum hold hold, struct event_task *task,
                       size_t size, aclrtEvent handle, void *site, _Atomic sim_record *record)
{
    if (hold != HOLDS_NOTHING)
        SIM_TRY(sim_event_refer(task->et_event, handle));
    if (hold == HOLDS_PLACE)
        atomic_fetch_add_explicit(&task->et_event->ev_waits, 1, memory_order_relaxed);
    aclError code = sim_engine_submit(stream, op, task, size, site, record);
    if (unlikely(code != ACL_SUCCESS) && hold != HOLDS_NOTHING)
        op->op_drop(task);
    return code;
}

/* A stream records events of its own device only; it may wait for events of any device. */
static aclError check_device(const struct sim_event *event, struct sim_target stream)
{
    const struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    bool of_several = event->ev_class == SIM_EVENT_IPC; /* every device sees them */
    SIM_CHECK(of_several || event->ev_device == context->cx_device, ACL_ERROR_RT_PARAM_INVALID,
              "the event belongs to device %d and the stream to device %d, expected one device",
              event->ev_device->dv_id, context->cx_device->dv_id);
    return ACL_SUCCESS;
}

/* Refuses events that a stream which an instance has taken over cannot use: only Ex events connect the streams of a
 * capture, and flag events are ordinary tasks. */
static aclError check_taken(const struct sim_event *event, struct sim_target stream)
{
    enum sim_taken taken = sim_stream_taken(stream.tg_stream);
    if (likely(taken == SIM_TAKEN_NOT || taken == SIM_TAKEN_UPDATES))
        return ACL_SUCCESS;
    bool is_external = event->ev_class == SIM_EVENT_FLAG && (event->ev_flags & ACL_EVENT_EXTERNAL);
    bool fits = taken == SIM_TAKEN_BOUND ? is_flag(event) : is_external || event->ev_class == SIM_EVENT_EX;
    SIM_SUPPORTED(fits, "the stream %s, expected an event made by %s",
                  taken == SIM_TAKEN_BOUND ? "is bound to a model running instance" : "is being captured",
                  taken == SIM_TAKEN_BOUND ? "aclrtCreateEventWithFlag with ACL_EVENT_SYNC"
                                           : "aclrtCreateEventExWithFlag with ACL_EVENT_SYNC");
    return ACL_SUCCESS;
}

aclError sim_event_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site)
{
    aclError code;
    SIM_TRY(check_device(event, stream));
    SIM_TRY(check_taken(event, stream));
    if (unlikely(event->ev_class == SIM_EVENT_IPC))
        return sim_event_share_record(event, handle, stream, site);
    bool is_ex = event->ev_class == SIM_EVENT_EX;
    bool concerns = is_ex && (event->ev_flags & FLAG_SYNC) &&
                    (sim_stream_taken(stream.tg_stream) != SIM_TAKEN_NOT || sim_event_is_captured(event));
    if (unlikely(concerns) && sim_engine_recorder->rc_record(event, handle, stream, false, site, &code))
        return code;
    if (unlikely(is_ex && sim_stream_taken(stream.tg_stream) == SIM_TAKEN_CAPTURES))
        return ACL_SUCCESS; /* without ACL_EVENT_SYNC it has no place in a capture */
    enum hold hold = is_flag(event) ? HOLDS_EVENT : HOLDS_NOTHING;
    struct event_task task = {.et_event = event};
    return submit(stream, &record_ops[hold][is_timed(event)], hold, &task, offsetof(struct event_task, et_record),
                  handle, site, &event->ev_record);
}

static inline void report_wait(sim_record own, sim_record waited)
{
    if (unlikely(atomic_load_explicit(&sim_event_listeners, memory_order_relaxed) != 0))
        sim_room_event_waited(own, waited);
}

aclError sim_event_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                        void *site)
{
    aclError code;
    SIM_TRY(check_taken(event, stream));
    bool concerns = event->ev_class == SIM_EVENT_EX &&
                    (sim_stream_taken(stream.tg_stream) != SIM_TAKEN_NOT || sim_event_is_captured(event));
    if (unlikely(concerns) && sim_engine_recorder->rc_wait(event, handle, stream, false, site, &code))
        return code;
    bool own = true;
    if (unlikely(event->ev_class == SIM_EVENT_IPC))
        SIM_TRY(sim_event_share_wait(event, handle, stream, timeout_ns, site, &own));
    if (!own)
        return ACL_SUCCESS;
    struct event_task task = {.et_event = event, .et_timeout = timeout_ns};
    bool counts = event->ev_class == SIM_EVENT_DEFAULT || event->ev_class == SIM_EVENT_FLAG;
    enum hold hold = counts ? HOLDS_PLACE : HOLDS_NOTHING;
    if (unlikely(sim_stream_taken(stream.tg_stream) != SIM_TAKEN_NOT) && counts)
        hold = HOLDS_EVENT; /* a recording would keep it counted */
    sim_record self = sim_record_of(stream.tg_stream, sim_stream_tail(stream.tg_stream) + 1); /* or a later ticket */
    if (!is_flag(event)) {
        task.et_record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
        SIM_CHECK(task.et_record != 0 || event->ev_class != SIM_EVENT_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
                  "the event was never recorded, expected aclrtRecordEvent before the wait");
        bool own_stream = task.et_record >> 48 == stream.tg_stream->st_slot.sl_index;
        if (sim_record_passed(task.et_record) || own_stream) {
            report_wait(self, task.et_record);
            return ACL_SUCCESS;
        }
    }
    bool timed = timeout_ns != SIM_FOREVER;
    size_t size = timed ? sizeof task : offsetof(struct event_task, et_timeout);
    SIM_TRY(submit(stream, &wait_ops[hold][timed], hold, &task, size, handle, site, NULL));
    if (task.et_record != 0)
        report_wait(self, task.et_record);
    return ACL_SUCCESS;
}

aclError sim_event_reset(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site)
{
    SIM_TRY(check_taken(event, stream));
    struct event_task task = {.et_event = event};
    task.et_record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    return submit(stream, &reset_op, HOLDS_EVENT, &task, offsetof(struct event_task, et_timeout), handle, site, NULL);
}

/* ---- hosts ---- */

bool sim_event_recorded(struct sim_event *event)
{
    sim_record record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    return record != 0 && record != atomic_load_explicit(&event->ev_cleared, memory_order_acquire);
}

bool sim_event_complete(struct sim_event *event)
{
    sim_record record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    if (likely(sim_record_passed(record))) {
        if (sim_watcher_any())
            sim_watcher_know(record);
        return true;
    }
    sim_engine_polled(sim_stream_at((uint32_t)(record >> 48)));
    return false;
}

enum sim_wait sim_event_synchronize(struct sim_event *event, uint64_t deadline, enum sim_role role)
{
    sim_record record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    enum sim_wait wait = sim_record_passed(record) ? SIM_WAIT_PASSED
                                                   : sim_engine_wait(sim_record_stream(record),
                                                                     sim_record_ticket(record), deadline, role);
    if (sim_watcher_any() && wait == SIM_WAIT_PASSED)
        sim_watcher_know(record);
    return wait;
}

aclError sim_event_check_failed(const struct sim_event *event)
{
    if (!sim_context_is_live(event->ev_context, event->ev_context_handle))
        return ACL_SUCCESS;
    return sim_context_check_failed(event->ev_context);
}

aclError sim_event_stick_flag(_Atomic uint32_t *use, uint32_t flag)
{
    uint32_t first = 0;
    bool same = atomic_compare_exchange_strong(use, &first, flag + 1) || first == flag + 1;
    SIM_CHECK(same, ACL_ERROR_RT_PARAM_INVALID, "flag is %u, expected %u, the flag first used with this event", flag,
              first - 1);
    return ACL_SUCCESS;
}

aclError sim_event_timestamp(struct sim_event *event, const char *name, uint64_t *nanoseconds)
{
    sim_record record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    SIM_CHECK(record != 0, ACL_ERROR_RT_INTERNAL_ERROR, "%s was never recorded, expected a recorded event", name);
    SIM_CHECK(is_timed(event), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
              "%s was created with flag %#x, which does not record the time, expected ACL_EVENT_TIME_LINE (0x8) in "
              "it", name,
              event->ev_flags);
    sim_lock(&event->ev_flag.gt_lock);
    bool stamped = event->ev_stamped == record;
    *nanoseconds = event->ev_timestamp;
    sim_unlock(&event->ev_flag.gt_lock);
    SIM_CHECK(stamped, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
              "%s has not been reached yet, expected aclrtSynchronizeEvent before", name);
    if (sim_watcher_any())
        sim_watcher_know(record);
    return ACL_SUCCESS;
}

uint32_t sim_event_available(const struct sim_device *device)
{
    uint32_t limit = sim_config()->cf_max_events, taken = atomic_load(&device->dv_events);
    return taken < limit ? limit - taken : 0;
}

bool sim_event_setter(const struct sim_gate *gate, sim_record *record, bool *guessed)
{
    const struct sim_event *event = sim_table_slot_of(&sim_events, gate);
    if (event == NULL)
        return false;
    *record = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    *guessed = true;
    return true;
}

int sim_event_open(void)
{
    return sim_table_open(&sim_events);
}

void sim_event_forget_all(void)
{
    uint32_t count = atomic_load_explicit(&sim_events.tb_count, memory_order_acquire);
    for (uint32_t index = 1; index < count; index++) {
        struct sim_event *event = sim_table_at(&sim_events, index);
        uint64_t handle = atomic_load_explicit(&event->ev_slot.sl_handle, memory_order_acquire);
        if (handle != 0)
            sim_event_destroy(event, (aclrtEvent)(uintptr_t)handle);
    }
}

void sim_event_after_fork(void)
{
    sim_table_empty(&sim_events);
}
