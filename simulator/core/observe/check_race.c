/* Races: two accesses of the same bytes, at least one of them a write, of which neither is ordered before the other.
 * They are found in each run, also if the order happened to be right in this one.
 *
 * An agent is a stream, a branch of a replayed instance, or the host. A stream's clock is its ticket; that of a branch
 * counts segments, that of the host its own accesses. All host threads are one agent: a program orders its threads by
 * means that are not visible here (locks, joins), so each call counts as ordered before each later call.
 *
 * Agents learn from each other: a stream what the host knew when it submitted a task; a waiting stream what the
 * recording one knew at the record; the host what a stream knew at the ticket that it waited for. A wait is an edge
 * even if the record had passed and nothing was queued. Flag events, notifies, values and callbacks are gates: a gate
 * knows what all agents knew that raised it so far, and an agent that has passed it learns all of that, which may be
 * more than was needed. So a race may be missed behind a gate, but none is invented. Two accesses are ordered if the
 * agent of the later one knows the clock of the earlier one.
 *
 * Tasks are compared when they start (wt_start), in the order of their execution. check_race_order.c keeps what streams
 * know, check_race_memory.c which bytes were accessed.
 *
 * A replay of one branch counts as its stream. Of several branches, each segment learns from its predecessors; the
 * stream learns from all of them when the replay ends. So does the stream or branch in which a conditional task runs a
 * body; a body of one branch counts as that stream or branch. Replays of one instance are ordered, because the instance
 * runs them one after another.
 *
 * `lock` guards everything here and in the other files of this checker, except: `taught` belongs to the streams' locks,
 * and host_version and newest_known are also read without it. It is taken with locks of streams, heaps, pools and
 * replays held, and takes only those of check.c and check_block.c inside. */
#include "check_race.h"
#include "capture/capture_inner.h"
#include "engine/event.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS (1u << 16)
#define WAITING 64 /* queued lessons of a stream from which on they are learned early */

struct branch {
    struct branch *br_next;
    uint32_t br_begin;  /* its first segment, which identifies it */
    uint32_t br_agent, br_number;
    uint64_t br_clock;
    uint64_t br_gate;   /* a gate that its newest step waited at; 0: none */
    sim_record br_record;
    struct sim_clocks *br_clocks;
};

struct replay { /* of an instance's slot */
    sim_record rp_holder;          /* the task that replays it, or has replayed it last; 0: a body between two runs */
    struct sim_clocks *rp_start, *rp_end;
    uint32_t rp_segments;
    struct sim_clocks **rp_before; /* by segment: what it learns from its predecessors */
    struct branch *rp_branches;
    uint32_t rp_branch_count;
};

static struct sim_lock lock;
static bool on;
static uint64_t taught[STREAMS]; /* the host_version that a stream was taught last */
static struct sim_clocks *host;
static uint64_t host_clock;
static _Atomic uint64_t host_version;
static _Atomic sim_record newest_known; /* what the host has learned last */
static struct replay **replays;
static uint32_t replay_count;

/* ---- the host ---- */

static void change_host(void)
{
    atomic_fetch_add_explicit(&host_version, 1, memory_order_relaxed);
}

/* Without a reference for the caller. */
static struct sim_clocks *host_with_itself(void)
{
    sim_check_race_order_learn_clock(&host, SIM_RACE_HOST, host_clock);
    return host;
}

static void know(uint64_t record)
{
    if (sim_thread.th_in_kernel || record == 0)
        return;
    if (atomic_load_explicit(&newest_known, memory_order_acquire) == record)
        return;
    sim_lock(&lock);
    struct sim_clocks *known = sim_check_race_order_known_at(record, SIM_RACE_BEHIND(sim_record_ticket(record)));
    if (sim_check_race_order_learn(&host, known))
        change_host();
    sim_check_race_order_let_go(&known);
    atomic_store_explicit(&newest_known, record, memory_order_release);
    sim_unlock(&lock);
}

static void see_callback(const struct sim_stream *stream, bool ends, bool blocks)
{
    sim_lock(&lock);
    if (!ends) {
        if (sim_check_race_order_learn_gate(&host, (uintptr_t)&stream->st_returned))
            change_host();
    } else if (blocks) {
        sim_check_race_order_raise((uintptr_t)&stream->st_posted, host_with_itself(), SIM_RACE_HOST, host_clock);
    }
    sim_unlock(&lock);
}

/* ---- submissions ---- */

static struct sim_edge edge_of(const struct sim_op *op, const void *argument)
{
    return op->op_edge != NULL ? op->op_edge(argument) : (struct sim_edge){.eg_kind = SIM_EDGE_NONE};
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    const struct sim_op *op = task->ta_op;
    uint32_t index = stream->st_slot.sl_index;
    uint64_t version = atomic_load_explicit(&host_version, memory_order_relaxed);
    bool teaches = taught[index] != version && !sim_thread.th_in_kernel;
    bool waits = op->op_edge != NULL || op->op_kind == SIM_TASK_VALUE_WAIT;
    if (!teaches && !waits)
        return;
    const void *argument = task->ta_is_long ? task->ta_ext : task->ta_argument;
    sim_lock(&lock);
    struct sim_race_line *line = sim_check_race_order_line(index);
    if (line != NULL && teaches) {
        taught[index] = atomic_load_explicit(&host_version, memory_order_relaxed);
        struct sim_clocks *known = sim_check_race_order_refer(host_with_itself());
        sim_check_race_order_queue(line,
                                   (struct sim_race_lesson){.le_place = SIM_RACE_START(ticket), .le_clocks = known});
    }
    uint64_t done = atomic_load_explicit(&stream->st_gate.gt_level, memory_order_acquire);
    if (line != NULL && line->li_count - line->li_learned > WAITING)
        sim_check_race_order_learn_up_to(line, SIM_RACE_END(done));
    struct sim_edge edge = edge_of(op, argument);
    if (line != NULL && edge.eg_kind == SIM_EDGE_AFTER)
        sim_check_race_order_queue_record(line, SIM_RACE_END(ticket), edge.eg_record);
    else if (line != NULL && edge.eg_kind == SIM_EDGE_AWAITS)
        sim_check_race_order_queue_gate(line, SIM_RACE_END(ticket), (uintptr_t)edge.eg_gate);
    else if (line != NULL && op->op_kind == SIM_TASK_VALUE_WAIT)
        sim_check_race_order_queue_gate(line, SIM_RACE_END(ticket), sim_check_race_order_key(op, argument));
    sim_unlock(&lock);
}

/* A wait that was queued is a lesson already, unless its record has passed meanwhile: then it is one twice. */
void sim_check_race_waited(uint64_t own, uint64_t waited)
{
    sim_lock(&lock);
    bool elided = on && waited >> 48 != own >> 48 && sim_record_passed(waited);
    struct sim_race_line *line = elided ? sim_check_race_order_line((uint32_t)(own >> 48)) : NULL;
    if (line != NULL) /* `own` is the next ticket of the stream */
        sim_check_race_order_queue_record(line, SIM_RACE_BEHIND(sim_record_ticket(own) - 1), waited);
    atomic_store_explicit(&newest_known, 0, memory_order_release); /* the host learns more from the same record */
    sim_unlock(&lock);
}

/* ---- accesses ---- */

struct accessor {
    struct sim_race_access ac_access;
    const struct sim_clocks *ac_known;
};

static void touch(const struct sim_footprint *footprint, void *context)
{
    struct accessor *accessor = context;
    struct sim_race_access *access = &accessor->ac_access;
    struct sim_race_view view;
    if (footprint->fp_birth == 0 || !sim_check_race_view_of(footprint, &view))
        return;
    access->ra_write = footprint->fp_write;
    access->ra_argument[0] = '\0';
    if (footprint->fp_name != NULL)
        strncpy(access->ra_argument, footprint->fp_name, SIM_RACE_ARGUMENT - 1);
    sim_check_race_memory_touch(access, accessor->ac_known, footprint->fp_birth, &view);
}

static void touch_range(const struct sim_range *range, struct accessor *accessor)
{
    static const int64_t stride = 1;
    const int64_t size = (int64_t)range->rg_size;
    touch(&(struct sim_footprint){.fp_address = range->rg_address, .fp_element = 1, .fp_rank = 1, .fp_dims = &size,
                                  .fp_strides = &stride, .fp_birth = range->rg_birth, .fp_read = !range->rg_write,
                                  .fp_write = range->rg_write},
          accessor);
}

static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    if (sim_thread.th_in_kernel)
        return;
    sim_lock(&lock);
    host_clock++;
    change_host();
    struct accessor accessor = {.ac_access = {.ra_agent = SIM_RACE_HOST, .ra_clock = host_clock, .ra_site = site,
                                              .ra_function = sim_thread.th_function, .ra_stream = UINT32_MAX,
                                              .ra_thread = sim_thread_number()},
                                .ac_known = host};
    for (size_t i = 0; i < count && !sim_check_race_order_blind; i++)
        touch_range(&ranges[i], &accessor);
    sim_unlock(&lock);
}

/* ---- replays ---- */

static struct replay *replay_of(const struct sim_instance *instance)
{
    uint32_t index = instance->in_object.ob_slot.sl_index;
    if (index >= replay_count) {
        uint32_t count = 2 * index + 8;
        struct replay **longer = realloc(replays, count * sizeof *longer);
        sim_check_race_order_blind |= longer == NULL;
        if (longer == NULL)
            return NULL;
        memset(longer + replay_count, 0, (count - replay_count) * sizeof *longer);
        replays = longer;
        replay_count = count;
    }
    if (replays[index] == NULL)
        replays[index] = calloc(1, sizeof **replays);
    sim_check_race_order_blind |= replays[index] == NULL;
    return replays[index];
}

static struct branch *branch_of(struct replay *replay, uint32_t begin)
{
    struct branch **link = &replay->rp_branches;
    while (*link != NULL && (*link)->br_begin != begin)
        link = &(*link)->br_next;
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        **link = (struct branch){
            .br_begin = begin, .br_agent = sim_check_race_order_agents++, .br_number = ++replay->rp_branch_count};
    sim_check_race_order_blind |= *link == NULL;
    return *link;
}

static void forget_before(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->rp_segments; i++)
        sim_check_race_order_let_go(&replay->rp_before[i]);
}

static void learn_waits(struct branch *branch)
{
    if (branch->br_gate != 0)
        sim_check_race_order_learn_gate(&branch->br_clocks, branch->br_gate);
    if (branch->br_record != 0)
        sim_check_race_order_learn_record(&branch->br_clocks, branch->br_record);
    branch->br_gate = 0;
    branch->br_record = 0;
}

/* Who runs a task: a stream, or a branch of a replay. */
struct runner {
    struct sim_race_line *ru_line; /* NULL: a branch */
    struct branch *ru_branch;
    sim_record ru_record; /* the task of the stream, or the replay */
    uint32_t ru_agent;
    uint64_t ru_clock;
    struct sim_clocks *ru_known;
};

static bool find_line(struct runner *runner, uint64_t place)
{
    runner->ru_line = sim_check_race_order_line((uint32_t)(runner->ru_record >> 48));
    if (runner->ru_line == NULL)
        return false;
    runner->ru_agent = runner->ru_line->li_agent;
    runner->ru_clock = sim_record_ticket(runner->ru_record);
    runner->ru_known = sim_check_race_order_foreign_at(runner->ru_line, place);
    return true;
}

/* Who runs the steps of a segment. False: the replay began before the checker. */
static bool find_walking(struct runner *runner, const struct sim_instance *instance, const struct sim_segment *segment)
{
    for (; instance->in_parent != NULL && instance->in_branch_count == 1; instance = instance->in_parent) {
        if (instance->in_caller == NULL)
            return false;
        segment = instance->in_caller->wk_segment;
    }
    struct replay *replay = replay_of(instance);
    if (replay == NULL || replay->rp_holder == 0)
        return false;
    runner->ru_record = replay->rp_holder;
    if (instance->in_branch_count == 1)
        return find_line(runner, SIM_RACE_INSIDE(sim_record_ticket(replay->rp_holder)));
    struct branch *branch = branch_of(replay, segment->sg_begin);
    if (branch == NULL)
        return false;
    learn_waits(branch);
    runner->ru_branch = branch;
    runner->ru_agent = branch->br_agent;
    runner->ru_clock = branch->br_clock;
    runner->ru_known = branch->br_clocks;
    return true;
}

/* Who runs the conditional task of a body. */
static bool find_caller(struct runner *runner, const struct sim_instance *body)
{
    return body->in_caller != NULL && find_walking(runner, body->in_parent, body->in_caller->wk_segment);
}

/* What is known where the replay starts, with a reference for the caller. */
static struct sim_clocks *known_before(const struct sim_instance *instance, sim_record holder)
{
    struct runner caller = {.ru_line = NULL};
    if (instance->in_parent == NULL)
        return sim_check_race_order_known_at(holder, SIM_RACE_INSIDE(sim_record_ticket(holder)));
    if (!find_caller(&caller, instance))
        return NULL;
    struct sim_clocks *known = sim_check_race_order_refer(caller.ru_known);
    sim_check_race_order_learn_clock(&known, caller.ru_agent, caller.ru_clock);
    return known;
}

/* Called for the first segment of a replay. The replay before it on another stream is over, although that stream's
 * counter may not have passed it yet: it is learned. */
static void begin_replay(struct replay *replay, const struct sim_instance *instance, sim_record holder)
{
    sim_record former = replay->rp_holder;
    struct sim_race_line *line = sim_check_race_order_line((uint32_t)(holder >> 48));
    if (line != NULL && former != 0 && former >> 48 != holder >> 48)
        sim_check_race_order_queue(
            line, (struct sim_race_lesson){
                      .le_place = SIM_RACE_INSIDE(sim_record_ticket(holder)),
                      .le_clocks = sim_check_race_order_known_at(former, SIM_RACE_END(sim_record_ticket(former)))});
    replay->rp_holder = holder;
    if (instance->in_branch_count == 1)
        return;
    uint32_t count = instance->in_plan.pl_segment_count;
    forget_before(replay);
    if (count > replay->rp_segments) {
        struct sim_clocks **longer = realloc(replay->rp_before, count * sizeof *longer);
        sim_check_race_order_blind |= longer == NULL;
        if (longer == NULL)
            return;
        memset(longer + replay->rp_segments, 0, (count - replay->rp_segments) * sizeof *longer);
        replay->rp_before = longer;
        replay->rp_segments = count;
    }
    sim_check_race_order_let_go(&replay->rp_start);
    sim_check_race_order_let_go(&replay->rp_end);
    replay->rp_start = known_before(instance, holder);
}

/* Called for the last segment of a replay of several branches: its stream, or who runs the body, learns from all. */
static void end_replay(struct replay *replay, const struct sim_instance *instance)
{
    struct runner caller = {.ru_record = replay->rp_holder};
    uint64_t ticket = sim_record_ticket(replay->rp_holder);
    bool is_body = instance->in_parent != NULL;
    bool found = is_body ? find_caller(&caller, instance) : find_line(&caller, SIM_RACE_INSIDE(ticket));
    if (found && caller.ru_branch != NULL)
        sim_check_race_order_learn(&caller.ru_branch->br_clocks, replay->rp_end);
    else if (found && replay->rp_end != NULL)
        sim_check_race_order_queue(
            caller.ru_line,
            (struct sim_race_lesson){.le_place = is_body ? SIM_RACE_INSIDE(ticket) : SIM_RACE_END(ticket),
                                     .le_clocks = sim_check_race_order_refer(replay->rp_end)});
    if (is_body)
        replay->rp_holder = 0;
}

static void teach_next(struct replay *replay, uint32_t next, struct sim_clocks *known)
{
    if (next < replay->rp_segments)
        sim_check_race_order_learn(&replay->rp_before[next], known);
}

static void end_segment(struct replay *replay, const struct sim_plan *plan, const struct sim_segment *done,
                        uint32_t choice)
{
    struct branch *branch = branch_of(replay, done->sg_begin);
    if (branch == NULL)
        return;
    learn_waits(branch);
    struct sim_clocks *known = sim_check_race_order_refer(branch->br_clocks);
    sim_check_race_order_learn_clock(&known, branch->br_agent, branch->br_clock);
    sim_check_race_order_learn(&replay->rp_end, known);
    if (choice < done->sg_ways && plan->pl_ways[done->sg_way + choice] != SIM_NOWHERE)
        teach_next(replay, plan->pl_ways[done->sg_way + choice], known);
    for (uint32_t i = 0; i < done->sg_nexts; i++)
        teach_next(replay, plan->pl_nexts[done->sg_next + i], known);
    sim_check_race_order_let_go(&known);
}

static void begin_segment(struct replay *replay, const struct sim_plan *plan, const struct sim_segment *next)
{
    struct branch *branch = branch_of(replay, next->sg_begin);
    uint32_t index = (uint32_t)(next - plan->pl_segments);
    if (branch == NULL || index >= replay->rp_segments)
        return;
    sim_check_race_order_learn(&branch->br_clocks, replay->rp_start);
    sim_check_race_order_learn(&branch->br_clocks, replay->rp_before[index]);
    sim_check_race_order_let_go(&replay->rp_before[index]);
    branch->br_clock++;
}

static void see_segment(const struct sim_instance *instance, const struct sim_segment *done, uint32_t choice,
                        const struct sim_segment *next)
{
    const struct sim_plan *plan = &instance->in_plan;
    sim_record holder = atomic_load_explicit(&instance->in_holder, memory_order_acquire);
    if (holder == 0 || (instance->in_parent != NULL && instance->in_branch_count == 1))
        return;
    sim_lock(&lock);
    struct replay *replay = replay_of(instance);
    if (replay != NULL && holder != replay->rp_holder)
        begin_replay(replay, instance, holder);
    if (replay != NULL && instance->in_branch_count > 1) {
        if (done != NULL)
            end_segment(replay, plan, done, choice);
        if (next != NULL)
            begin_segment(replay, plan, next);
        if (plan->pl_left == 0)
            end_replay(replay, instance);
    }
    sim_unlock(&lock);
}

/* ---- tasks ---- */

static void wait_in(const struct runner *runner, uint64_t gate, sim_record record, bool step)
{
    uint64_t ticket = sim_record_ticket(runner->ru_record);
    if (runner->ru_branch != NULL) {
        runner->ru_branch->br_gate = gate;
        runner->ru_branch->br_record = record;
    } else if (gate != 0) {
        sim_check_race_order_queue_gate(runner->ru_line, step ? SIM_RACE_INSIDE(ticket) : SIM_RACE_END(ticket), gate);
    } else if (step) {
        sim_check_race_order_queue_record(runner->ru_line, SIM_RACE_INSIDE(ticket), record);
    }
}

/* The order that a task causes. What the tasks of a stream wait for is known from their submission. */
static void pass_on(const struct sim_run *run, const struct sim_op *op, const void *argument,
                    const struct sim_edge *edge, const struct runner *runner)
{
    bool step = sim_thread.th_walker != NULL;
    if (edge->eg_kind == SIM_EDGE_RAISES)
        sim_check_race_order_raise((uintptr_t)edge->eg_gate, runner->ru_known, runner->ru_agent, runner->ru_clock);
    else if (step && edge->eg_kind == SIM_EDGE_AWAITS)
        wait_in(runner, (uintptr_t)edge->eg_gate, 0, true);
    else if (step && edge->eg_kind == SIM_EDGE_AFTER)
        wait_in(runner, 0, edge->eg_record, true);
    if (op->op_kind == SIM_TASK_CALLBACK) {
        sim_check_race_order_raise((uintptr_t)&run->rn_stream->st_returned, runner->ru_known, runner->ru_agent,
                             runner->ru_clock);
        wait_in(runner, (uintptr_t)&run->rn_stream->st_posted, 0, step);
    } else if (op->op_kind == SIM_TASK_VALUE_WRITE) {
        sim_check_race_order_raise(sim_check_race_order_key(op, argument), runner->ru_known, runner->ru_agent,
                                   runner->ru_clock);
    } else if (step && op->op_kind == SIM_TASK_VALUE_WAIT) {
        wait_in(runner, sim_check_race_order_key(op, argument), 0, true);
    }
}

static void touch_all(const struct sim_task *task, const void *argument, const struct sim_edge *edge,
                      const struct runner *runner)
{
    const struct sim_op *op = task->ta_op;
    struct accessor accessor = {
        .ac_access = {.ra_agent = runner->ru_agent, .ra_clock = runner->ru_clock, .ra_site = task->ta_site,
                      .ra_function = op->op_name, .ra_thread = task->ta_thread,
                      .ra_stream = (uint32_t)(runner->ru_record >> 48),
                      .ra_branch = runner->ru_branch != NULL ? runner->ru_branch->br_number : 0,
                      .ra_ticket = sim_record_ticket(runner->ru_record)},
        .ac_known = runner->ru_known};
    if (edge->eg_kind == SIM_EDGE_ALLOCATES || edge->eg_kind == SIM_EDGE_FREES) {
        accessor.ac_access.ra_kind = edge->eg_kind == SIM_EDGE_FREES ? SIM_RACE_FREE : SIM_RACE_ALLOCATION;
        touch_range(&edge->eg_range, &accessor);
    } else if (!sim_race_is_value(op->op_kind)) {
        sim_watch_footprints(op, argument, touch, &accessor);
    }
}

static bool find_runner(const struct sim_run *run, struct runner *runner)
{
    const struct sim_walker *walker = sim_thread.th_walker;
    if (walker != NULL)
        return find_walking(runner, walker->wk_instance, walker->wk_segment);
    runner->ru_record = sim_record_of(run->rn_stream, run->rn_ticket);
    return find_line(runner, SIM_RACE_START(run->rn_ticket));
}

static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    const struct sim_op *op = task->ta_op;
    if (op->op_ranges == NULL && op->op_range_count == 0 && op->op_footprints == NULL && op->op_edge == NULL &&
        op->op_kind != SIM_TASK_CALLBACK)
        return;
    struct runner runner = {.ru_line = NULL};
    sim_lock(&lock);
    if (!sim_check_race_order_blind && find_runner(run, &runner)) {
        struct sim_edge edge = edge_of(op, argument);
        sim_check_race_order_refer(runner.ru_known); /* the list that it is in may change */
        touch_all(task, argument, &edge, &runner);
        pass_on(run, op, argument, &edge, &runner);
        sim_check_race_order_let_go(&runner.ru_known);
    }
    sim_unlock(&lock);
}

/* ---- memory ---- */

static void see_free(uint32_t birth, const void *site)
{
    (void)site;
    sim_lock(&lock);
    sim_check_race_memory_forget(birth);
    sim_unlock(&lock);
}

const struct sim_watcher sim_check_race = {.wt_submit = see_submit, .wt_start = see_start, .wt_access = see_access,
                                           .wt_free = see_free, .wt_know = know, .wt_callback = see_callback,
                                           .wt_segment = see_segment};

/* ---- life cycle ---- */

void sim_check_race_switch(bool is_on)
{
    sim_lock(&lock);
    bool changes = on != is_on;
    on = is_on;
    if (changes) /* before the first task: a stream has been taught nothing */
        atomic_fetch_add_explicit(&host_version, 1, memory_order_relaxed);
    sim_unlock(&lock);
    if (changes && is_on)
        atomic_fetch_add(&sim_event_listeners, 1);
    else if (changes)
        atomic_fetch_sub(&sim_event_listeners, 1);
}

static void forget_replays(void)
{
    for (uint32_t i = 0; i < replay_count; i++) {
        struct replay *replay = replays[i];
        if (replay == NULL)
            continue;
        for (struct branch *branch; (branch = replay->rp_branches) != NULL;) {
            replay->rp_branches = branch->br_next;
            sim_check_race_order_let_go(&branch->br_clocks);
            free(branch);
        }
        forget_before(replay);
        free(replay->rp_before);
        sim_check_race_order_let_go(&replay->rp_start);
        sim_check_race_order_let_go(&replay->rp_end);
        free(replay);
    }
    free(replays);
    replays = NULL;
    replay_count = 0;
}

void sim_check_race_reset(void)
{
    sim_lock(&lock);
    sim_check_race_memory_reset();
    sim_check_race_order_reset();
    forget_replays();
    sim_check_race_order_let_go(&host);
    host_clock = 0;
    atomic_store_explicit(&newest_known, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&host_version, 1, memory_order_relaxed); /* `taught` is older */
    sim_unlock(&lock);
}

void sim_check_race_after_fork(void)
{
    sim_lock_renew(&lock);
    if (on)
        atomic_fetch_sub(&sim_event_listeners, 1);
    on = false;
    sim_check_race_order_abandon(); /* the parent's lists may be half changed */
    sim_check_race_memory_abandon();
    replays = NULL;
    replay_count = 0;
    host = NULL;
    host_clock = 0;
    atomic_store_explicit(&newest_known, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&host_version, 1, memory_order_relaxed);
}
