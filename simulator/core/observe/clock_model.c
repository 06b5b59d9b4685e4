/* The clock model: when tasks start and end in virtual time (docs/clock.rst). clock_cost.c says how long they take.
 *
 * It is a watcher. A stream's virtual time is the end of its newest task that has run; tasks are added up in the order
 * of their execution, which for each stream is the order of their submission. So workers, schedules and the load of the
 * machine do not matter. What passes from one stream to another is the time of a record: a stream that waits for it
 * learns when it passed, whether or not the wait was needed in this run (rm_event_waited). For flag events, notifies,
 * values and latches, gates keep when they were raised (clock_gate.c).
 *
 * All host threads share one time, which rises when one of them waits. A thread that makes a callback has the time of
 * the task that queued it instead, until the function returns. A task starts no earlier than the time of the thread
 * that submits it.
 *
 * A replay of an instance has a time per segment: it starts when the segments before it have ended. Bodies of
 * conditional tasks do so inside of their step.
 *
 * `lock` guards everything here and in clock_gate.c, except what is of a thread. It is a leaf, taken with locks of
 * streams, heaps and replays held. If the host runs out of memory, times are missing, so that tasks start too early. */
#include "clock_model.h"
#include "base/zero.h"
#include "capture/capture_inner.h"
#include "clock_cost.h"
#include "clock_gate.h"
#include "engine/device.h"
#include "engine/event.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS (1u << 16)
#define RECORDS (1u << 20) /* of a stream; when there are more, the older half is forgotten */

struct line { /* of a stream's slot */
    uint64_t ln_now;            /* when its newest task has ended */
    uint64_t ln_ready;          /* a task that is submitted from now on does not start before this */
    uint64_t ln_floor;          /* the newest of ln_floors */
    struct sim_moments ln_floors;   /* from a task on, the time before which none starts */
    struct sim_moments ln_records;  /* when records, and other tasks that take no time, have passed */
    uint64_t ln_ticket;         /* the task that runs, and when it began */
    uint64_t ln_began;
    uint64_t ln_cost;           /* of the work that runs on this stream, its task or a step of a replay */
    uint64_t ln_called;         /* the task whose callback was queued last; 0: it is over */
    struct sim_moments ln_calls;    /* when callbacks were queued that have not begun */
    uint64_t ln_returned;       /* when the newest callback that it waits for has returned */
};

struct replay { /* of an instance's slot */
    uint64_t rp_handle;
    bool rp_runs;
    uint64_t rp_start, rp_end;
    uint64_t *rp_outer;         /* the time of the stream, or of the step, that it is a part of */
    struct segment_times {
        uint64_t sg_ready, sg_now;
    } *rp_segments;
    uint32_t rp_room;
};

static _Atomic bool on; /* the watcher is */
static struct sim_lock lock;
static bool has_lines;                     /* `lines` was written to since the last reset */
static struct line *lines[STREAMS], spare; /* `spare` is for all streams without memory */
static struct replay **replays;
static uint32_t replay_count;
static uint64_t host;

static _Thread_local struct {
    bool th_calls; /* the thread makes a callback */
    uint64_t th_now;
    uint64_t th_steps; /* what the steps of the saved model that it executes have taken */
} own;

static void raise_to(uint64_t *time, uint64_t other)
{
    if (*time < other)
        *time = other;
}

/* ---- streams and records ---- */

static struct line *line_of(uint32_t index)
{
    if (lines[index] == NULL) {
        lines[index] = calloc(1, sizeof *lines[index]);
        has_lines = true;
    }
    return lines[index] != NULL ? lines[index] : &spare;
}

/* When a record passed. Records are in the order of their tickets; of a task that is not among them, the time is known
 * only as that of the next one. */
static uint64_t time_of(sim_record record)
{
    const struct line *line = line_of((uint32_t)(record >> 48));
    const struct sim_moments *records = &line->ln_records;
    uint32_t low = records->ms_first, high = records->ms_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (records->ms_all[middle].mo_ticket < sim_record_ticket(record))
            low = middle + 1;
        else
            high = middle;
    }
    return record == 0 ? 0 : low < records->ms_end ? records->ms_all[low].mo_time : line->ln_now;
}

static void keep_record(struct line *line, uint64_t ticket)
{
    struct sim_moments *records = &line->ln_records;
    if (records->ms_end - records->ms_first >= RECORDS)
        records->ms_first += RECORDS / 2;
    sim_clock_gate_push(records, ticket, line->ln_now);
}

/* ---- hosts ---- */

static uint64_t *thread_time(void)
{
    return own.th_calls ? &own.th_now : &host;
}

uint64_t sim_clock_model_host(void)
{
    sim_lock(&lock);
    uint64_t now = *thread_time();
    sim_unlock(&lock);
    return now;
}

static void know(uint64_t record)
{
    if (sim_thread.th_in_kernel)
        return;
    sim_lock(&lock);
    raise_to(thread_time(), time_of(record));
    sim_unlock(&lock);
}

static void spend(uint64_t nanoseconds)
{
    sim_lock(&lock);
    *thread_time() += nanoseconds;
    sim_unlock(&lock);
}

/* A copy that the calling thread makes itself. */
static void see_copy(const struct sim_footprint *from, const struct sim_footprint *to, const void *site)
{
    struct sim_clock_work work = {.wo_device = sim_thread.th_device};
    (void)site;
    sim_clock_cost_add(from, &work);
    sim_clock_cost_add(to, &work);
    spend(sim_clock_cost_of_bytes(&work));
}

/* A set that it makes itself. Copies are seen by see_copy. */
static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    struct sim_clock_work work = {.wo_device = sim_thread.th_device};
    (void)site;
    if (count != 1 || !ranges->rg_write || sim_thread.th_in_kernel)
        return;
    sim_clock_cost_add(&(struct sim_footprint){.fp_address = ranges->rg_address, .fp_element = ranges->rg_size,
                                               .fp_write = true},
                       &work);
    spend(sim_clock_cost_of_bytes(&work));
}

/* The stream of a blocking call continues when the function has returned. */
static void see_callback(const struct sim_stream *stream, bool ends, bool blocks)
{
    sim_lock(&lock);
    struct line *line = line_of(stream->st_slot.sl_index);
    if (!ends)
        own.th_now = sim_clock_gate_is_empty(&line->ln_calls) ? line->ln_now : sim_clock_gate_take(&line->ln_calls);
    else if (blocks)
        raise_to(&line->ln_returned, own.th_now);
    own.th_calls = !ends;
    sim_unlock(&lock);
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    (void)task;
    sim_lock(&lock);
    struct line *line = line_of(stream->st_slot.sl_index);
    uint64_t floor = *thread_time();
    raise_to(&floor, line->ln_ready);
    if (floor > line->ln_floor)
        sim_clock_gate_push(&line->ln_floors, ticket, line->ln_floor = floor);
    sim_unlock(&lock);
}

/* A wait that was queued does this, too, when it runs. */
void sim_clock_model_waited(uint64_t own_record, uint64_t waited)
{
    if (!sim_clock_model_is_on() || !sim_record_passed(waited) || waited >> 48 == own_record >> 48)
        return;
    sim_lock(&lock);
    raise_to(&line_of((uint32_t)(own_record >> 48))->ln_ready, time_of(waited));
    sim_unlock(&lock);
}

/* ---- tasks that raise gates or wait at them ---- */

/* The gate of a task, or 0; whether it raises it or waits at it. */
static uint64_t gate_of(const struct sim_op *op, const void *argument, const struct sim_edge *edge,
                        enum sim_gate_sort *sort, bool *raises)
{
    bool value = op->op_kind == SIM_TASK_VALUE_WRITE || op->op_kind == SIM_TASK_VALUE_WAIT;
    bool notify = op->op_kind == SIM_TASK_NOTIFY_RECORD || op->op_kind == SIM_TASK_NOTIFY_WAIT;
    *raises = edge->eg_kind == SIM_EDGE_RAISES || op->op_kind == SIM_TASK_VALUE_WRITE ||
              op->op_kind == SIM_TASK_NOTIFY_RECORD;
    if (edge->eg_kind == SIM_EDGE_RAISES || edge->eg_kind == SIM_EDGE_AWAITS) {
        bool flag = op->op_kind == SIM_TASK_FLAG_RECORD || op->op_kind == SIM_TASK_FLAG_WAIT;
        *sort = flag ? SIM_GATE_LEVEL : SIM_GATE_COUNTED;
        return (uintptr_t)edge->eg_gate;
    }
    bool counts = strncmp(op->op_name, "aclrtCnt", 8) == 0; /* a notify with a value that records add to */
    *sort = value || counts ? SIM_GATE_NEWEST : SIM_GATE_COUNTED;
    return value || notify ? op->op_number(argument) | (value ? UINT64_C(1) : UINT64_C(2)) << 62 : 0;
}

/* ---- replays ---- */

static struct replay *replay_of(const struct sim_instance *instance)
{
    uint32_t index = instance->in_object.ob_slot.sl_index;
    if (index >= replay_count) {
        uint32_t count = 2 * index + 8;
        struct replay **longer = realloc(replays, count * sizeof *longer);
        if (longer == NULL)
            return NULL;
        memset(longer + replay_count, 0, (count - replay_count) * sizeof *longer);
        replays = longer;
        replay_count = count;
    }
    if (replays[index] == NULL)
        replays[index] = calloc(1, sizeof **replays);
    return replays[index];
}

/* The time of a segment, or NULL. */
static uint64_t *time_of_segment(const struct sim_instance *instance, const struct sim_segment *segment)
{
    const struct replay *replay = replay_of(instance);
    uint32_t index = (uint32_t)(segment - instance->in_plan.pl_segments);
    return replay != NULL && index < replay->rp_room ? &replay->rp_segments[index].sg_now : NULL;
}

/* The time of what runs the replay: the stream, or the step of the parent that this thread runs. */
static uint64_t *time_around(const struct sim_instance *instance)
{
    const struct sim_walker *walker = sim_thread.th_walker;
    uint64_t *time = NULL;
    if (instance->in_parent == NULL)
        return &line_of((uint32_t)(atomic_load_explicit(&instance->in_holder, memory_order_acquire) >> 48))->ln_now;
    if (walker != NULL && walker->wk_instance == instance->in_parent)
        time = time_of_segment(walker->wk_instance, walker->wk_segment);
    return time != NULL ? time : &spare.ln_now;
}

/* Replays of one instance run one after another. */
static bool begin_replay(struct replay *replay, const struct sim_instance *instance)
{
    uint64_t handle = sim_capture_instance_handle(instance);
    uint32_t count = instance->in_plan.pl_segment_count;
    if (count > replay->rp_room) {
        free(replay->rp_segments);
        replay->rp_segments = malloc(count * sizeof *replay->rp_segments);
        replay->rp_room = replay->rp_segments != NULL ? count : 0;
    }
    replay->rp_outer = time_around(instance);
    uint64_t before = replay->rp_handle == handle ? replay->rp_end : 0;
    replay->rp_handle = handle;
    replay->rp_start = *replay->rp_outer;
    raise_to(&replay->rp_start, before);
    replay->rp_end = replay->rp_start;
    replay->rp_runs = replay->rp_room >= count;
    for (uint32_t i = 0; i < count && replay->rp_runs; i++)
        replay->rp_segments[i].sg_ready = replay->rp_start;
    return replay->rp_runs;
}

static void end_segment(struct replay *replay, const struct sim_plan *plan, const struct sim_segment *done,
                        uint32_t choice)
{
    uint64_t now = replay->rp_segments[done - plan->pl_segments].sg_now;
    uint32_t way = choice < done->sg_ways ? plan->pl_ways[done->sg_way + choice] : SIM_NOWHERE;
    raise_to(&replay->rp_end, now);
    if (way != SIM_NOWHERE)
        raise_to(&replay->rp_segments[way].sg_ready, now);
    for (uint32_t i = 0; i < done->sg_nexts && choice >= done->sg_ways; i++)
        raise_to(&replay->rp_segments[plan->pl_nexts[done->sg_next + i]].sg_ready, now);
}

static void see_segment(const struct sim_instance *instance, const struct sim_segment *done, uint32_t choice,
                        const struct sim_segment *next)
{
    const struct sim_plan *plan = &instance->in_plan;
    sim_lock(&lock);
    struct replay *replay = replay_of(instance);
    if (replay != NULL && (replay->rp_runs || (next != NULL && begin_replay(replay, instance)))) {
        if (done != NULL)
            end_segment(replay, plan, done, choice);
        if (next != NULL) {
            struct segment_times *times = &replay->rp_segments[next - plan->pl_segments];
            times->sg_now = times->sg_ready;
        }
        if (plan->pl_left == 0) {
            replay->rp_runs = false;
            raise_to(replay->rp_outer, replay->rp_end);
        }
    }
    sim_unlock(&lock);
}

/* ---- tasks ---- */

/* The time of the stream that runs a task, or of the segment that runs a step. */
static uint64_t *time_of_run(const struct sim_run *run)
{
    const struct sim_walker *walker = sim_thread.th_walker;
    uint64_t *time = walker != NULL ? time_of_segment(walker->wk_instance, walker->wk_segment) : NULL;
    return time != NULL ? time : &line_of(run->rn_stream->st_slot.sl_index)->ln_now;
}

uint64_t sim_clock_model_of_run(const struct sim_run *run)
{
    sim_lock(&lock);
    uint64_t now = *time_of_run(run);
    sim_unlock(&lock);
    return now;
}

static void apply_floors(struct line *line, uint64_t ticket)
{
    struct sim_moments *floors = &line->ln_floors;
    while (!sim_clock_gate_is_empty(floors) && floors->ms_all[floors->ms_first].mo_ticket <= ticket)
        raise_to(&line->ln_now, sim_clock_gate_take(floors));
}

static struct sim_edge edge_of(const struct sim_op *op, const void *argument)
{
    return op->op_edge != NULL ? op->op_edge(argument) : (struct sim_edge){.eg_kind = SIM_EDGE_NONE};
}

/* What other threads may need as soon as the task runs is noted here. The argument belongs to the task only now. */
static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    const struct sim_op *op = task->ta_op;
    struct sim_edge edge = edge_of(op, argument);
    const struct sim_context *context = atomic_load_explicit(&run->rn_stream->st_context, memory_order_relaxed);
    bool works = sim_clock_cost_is_work(op->op_kind);
    uint64_t cost = works ? sim_clock_cost_of_task(op, argument, context->cx_device->dv_id) : 0;
    enum sim_gate_sort sort;
    bool raises;
    own.th_steps = 0;
    sim_lock(&lock);
    struct line *line = line_of(run->rn_stream->st_slot.sl_index);
    if (sim_thread.th_walker == NULL && line->ln_ticket != run->rn_ticket) {
        line->ln_ticket = run->rn_ticket;
        apply_floors(line, run->rn_ticket);
        line->ln_began = line->ln_now;
    }
    line->ln_cost = cost;
    uint64_t now = *time_of_run(run), gate = gate_of(op, argument, &edge, &sort, &raises);
    if (gate != 0 && raises)
        sim_clock_gate_raise(gate, sort, now);
    if (op->op_kind == SIM_TASK_RESET)
        sim_clock_gate_lower((uintptr_t)&sim_event_of_task(argument)->ev_flag);
    if (op->op_kind == SIM_TASK_CALLBACK && line->ln_called != run->rn_ticket) {
        line->ln_called = run->rn_ticket; /* started again after it was parked, it queues no further call */
        sim_clock_gate_push(&line->ln_calls, 0, now);
    }
    sim_unlock(&lock);
}

static void see_end(const struct sim_run *run, const struct sim_task *task, const void *argument,
                    struct sim_watched *watched)
{
    const struct sim_op *op = task->ta_op;
    struct sim_edge edge = edge_of(op, argument);
    bool is_step = sim_thread.th_walker != NULL, works = sim_clock_cost_is_work(op->op_kind), raises;
    enum sim_gate_sort sort;
    sim_lock(&lock);
    struct line *line = line_of(run->rn_stream->st_slot.sl_index);
    uint64_t *now = time_of_run(run), gate = gate_of(op, argument, &edge, &sort, &raises);
    watched->wd_start = is_step ? *now : line->ln_began;
    if (works)
        *now += own.th_steps != 0 ? own.th_steps : line->ln_cost;
    if (gate != 0 && !raises)
        raise_to(now, sim_clock_gate_pass(gate, sort));
    if (edge.eg_kind == SIM_EDGE_AFTER && sim_record_passed(edge.eg_record)) /* not if the wait has timed out */
        raise_to(now, time_of(edge.eg_record));
    if (op->op_kind == SIM_TASK_CALLBACK) {
        raise_to(now, line->ln_returned);
        line->ln_returned = line->ln_called = 0;
    }
    if (!is_step && !works)
        keep_record(line, run->rn_ticket);
    watched->wd_end = *now;
    own.th_steps = 0;
    sim_unlock(&lock);
}

void sim_clock_model_step(const struct sim_op *op, const void *argument, uint64_t bytes)
{
    const struct sim_clock_work work = {.wo_device = SIM_CLOCK_INSIDE, .wo_memory = bytes};
    own.th_steps +=
        op != NULL ? sim_clock_cost_of_task(op, argument, SIM_CLOCK_INSIDE) : sim_clock_cost_of_bytes(&work);
}

/* Slots are used again: a new stream begins at the time of the host, and the flag of a new event is not set. */
static void see_create(const struct sim_table *table, uint64_t handle)
{
    uint32_t index = sim_handle_index(handle);
    sim_lock(&lock);
    if (table == &sim_streams) {
        struct line *line = line_of(index);
        line->ln_now = line->ln_ready = line->ln_floor = 0;
        sim_clock_gate_empty(&line->ln_floors);
        sim_clock_gate_empty(&line->ln_calls);
    } else if (table == &sim_events) {
        const struct sim_event *event = sim_table_at(&sim_events, index);
        sim_clock_gate_lower((uintptr_t)&event->ev_flag);
    }
    sim_unlock(&lock);
}

static const struct sim_watcher watcher = {.wt_submit = see_submit, .wt_start = see_start, .wt_time = see_end,
                                           .wt_know = know, .wt_access = see_access, .wt_copy = see_copy,
                                           .wt_callback = see_callback, .wt_segment = see_segment,
                                           .wt_create = see_create};

/* ---- life cycle ---- */

static void set_on(bool is_on)
{
    if (atomic_exchange(&on, is_on) == is_on)
        return;
    sim_watcher_set(&watcher, is_on);
    atomic_store_explicit(&sim_event_clock, is_on ? sim_clock_model_of_run : NULL, memory_order_relaxed);
    if (is_on)
        atomic_fetch_add(&sim_event_listeners, 1);
    else
        atomic_fetch_sub(&sim_event_listeners, 1);
}

int sim_clock_model_open(void)
{
    set_on(sim_config()->cf_clock_model);
    return 0;
}

static void free_lines(void)
{
    for (uint32_t i = 0; has_lines && i < STREAMS; i++) {
        if (lines[i] == NULL)
            continue;
        free(lines[i]->ln_floors.ms_all);
        free(lines[i]->ln_records.ms_all);
        free(lines[i]->ln_calls.ms_all);
        free(lines[i]);
        lines[i] = NULL;
    }
    has_lines = false;
}

static void free_replays(void)
{
    for (uint32_t i = 0; i < replay_count; i++) {
        if (replays[i] != NULL)
            free(replays[i]->rp_segments);
        free(replays[i]);
    }
    free(replays);
    replays = NULL;
    replay_count = 0;
}

void sim_clock_model_reset(void)
{
    set_on(false);
    sim_lock(&lock);
    free_lines();
    sim_clock_gate_reset();
    free_replays();
    host = 0;
    sim_unlock(&lock);
}

/* What the parent has may be half changed: it is abandoned. */
void sim_clock_model_after_fork(void)
{
    sim_lock_renew(&lock);
    set_on(false);
    sim_zero(lines, sizeof lines);
    has_lines = false;
    sim_clock_gate_abandon();
    replays = NULL;
    replay_count = 0;
    host = 0;
}
