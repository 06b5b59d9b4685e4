/* Design notes
 *
 * This file makes the plan of an instance: when a recording is complete, and again when changed tasks take effect.
 *
 * Each branch is cut into segments: before a wait for another branch, after a record that another branch waits for, and
 * after an activation. The steps of a segment run in order. A segment may start when the one before it in its branch
 * and the one with its wait's record have finished; sg_waits counts these predecessors. Records and waits are not
 * steps. A single branch without edges is one segment: its replay is a loop over an array.
 *
 * A stream that several streams activate runs once for each of them, one after another. Activations are edges, so that
 * cycles are rejected, but a single one makes the stream ready. A label begins a segment, and a switch ends one;
 * pl_ways holds the segments it can jump to. Jumps are not edges, so a replay may run a segment again, or never.
 *
 * The instance owns the plan. Its lock guards the recording while the plan is made; the run lock guards the
 * exchange. */
#include "address/heap.h"
#include "capture_inner.h"
#include "label.h"
#include <stdlib.h>
#include <string.h>

/* While the plan is being made. */
struct maker {
    const struct sim_instance *mk_instance;
    struct sim_plan mk_plan;
    uint32_t **mk_segments; /* per branch and task: the number of its segment */
    uint32_t mk_edges;
    uint32_t mk_ways;
};

static bool is_edge(struct sim_point from, uint32_t branch)
{
    return from.pt_branch != SIM_NO_BRANCH && from.pt_branch != branch;
}

static bool starts_itself(const struct sim_branch *branch)
{
    return branch->br_head || branch->br_jumped;
}

/* The branch that a task activates, or NULL. */
static struct sim_branch *activated_by(const struct sim_captured *captured)
{
    struct sim_branch *branch = NULL;
    if (captured->ct_kind == SIM_TASK_ACTIVE)
        memcpy(&branch, captured->ct_task.ta_argument, sizeof branch);
    return branch;
}

static void reach(struct sim_branch *branch, struct sim_branch **last)
{
    branch->br_reached = true;
    (*last)->br_next_reached = branch;
    *last = branch;
}

/* Marks the branches that a replay can start: those that start with it, those that a switch jumps to, and those that
 * another reached branch activates. */
static void find_reached(const struct sim_instance *instance)
{
    struct sim_branch first = {.br_next_reached = NULL}, *last = &first;
    for (uint32_t i = 0; i < instance->in_branch_count; i++) {
        struct sim_branch *branch = instance->in_branches[i];
        branch->br_next_reached = NULL;
        branch->br_reached = false;
    }
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        if (starts_itself(instance->in_branches[i]))
            reach(instance->in_branches[i], &last);
    for (struct sim_branch *branch = first.br_next_reached; branch != NULL; branch = branch->br_next_reached)
        for (uint32_t k = 0; k < branch->br_count; k++) {
            struct sim_branch *activated = activated_by(&branch->br_tasks[k]);
            if (activated != NULL && !activated->br_reached)
                reach(activated, &last);
        }
}

static bool is_step(const struct sim_captured *captured)
{
    return captured->ct_kind != SIM_TASK_RECORD && captured->ct_kind != SIM_TASK_WAIT &&
           captured->ct_kind != SIM_TASK_ACTIVE && captured->ct_kind != SIM_TASK_LABEL && !captured->ct_disabled;
}

static bool ends_segment(const struct sim_captured *captured)
{
    return captured->ct_waited || captured->ct_kind == SIM_TASK_ACTIVE || captured->ct_kind == SIM_TASK_SWITCH;
}

/* Calls `way` for every target of every recorded switch. */
static aclError each_way(struct maker *maker, aclError (*way)(struct maker *maker, struct sim_point from,
                                                              struct sim_point to))
{
    const struct sim_instance *instance = maker->mk_instance;
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        for (uint32_t k = 0; k < instance->in_branches[i]->br_count; k++) {
            struct sim_captured *captured = &instance->in_branches[i]->br_tasks[k];
            bool jumps = captured->ct_kind == SIM_TASK_SWITCH;
            const void *argument = captured->ct_task.ta_argument;
            uint32_t ways = jumps ? sim_label_ways(argument) : 0;
            for (uint32_t choice = 0; choice < ways; choice++) {
                struct sim_point to;
                SIM_TRY(sim_label_resolve(argument, choice, sim_capture_instance_handle(instance), &to));
                SIM_TRY(way(maker, (struct sim_point){i, k}, to));
            }
        }
    return ACL_SUCCESS;
}

static aclError count_way(struct maker *maker, struct sim_point from, struct sim_point to)
{
    (void)from;
    maker->mk_instance->in_branches[to.pt_branch]->br_jumped = true;
    maker->mk_ways++;
    return ACL_SUCCESS;
}

/* Assigns each task to a segment; counts segments and steps. */
static bool number_segments(struct maker *maker)
{
    struct sim_plan *plan = &maker->mk_plan;
    for (uint32_t i = 0; i < maker->mk_instance->in_branch_count; i++) {
        struct sim_branch *branch = maker->mk_instance->in_branches[i];
        maker->mk_segments[i] = malloc((branch->br_count + 1) * sizeof **maker->mk_segments);
        if (maker->mk_segments[i] == NULL)
            return false;
        bool fresh = true;
        for (uint32_t k = 0; k < branch->br_count && branch->br_reached; k++) {
            struct sim_captured *captured = &branch->br_tasks[k];
            fresh = fresh || is_edge(captured->ct_from, i) || captured->ct_kind == SIM_TASK_LABEL;
            plan->pl_segment_count += fresh;
            maker->mk_segments[i][k] = plan->pl_segment_count - 1;
            plan->pl_step_count += is_step(captured);
            fresh = ends_segment(captured);
        }
    }
    return true;
}

static bool take_memory(struct sim_plan *plan, uint32_t edges, uint32_t ways)
{
    size_t steps = (plan->pl_step_count + 1) * sizeof *plan->pl_steps;
    plan->pl_steps = aligned_alloc(SIM_LINE, steps);
    if (plan->pl_steps != NULL)
        memset(plan->pl_steps, 0, steps);
    plan->pl_segments = calloc(plan->pl_segment_count + 1, sizeof *plan->pl_segments);
    plan->pl_nexts = calloc(edges + 1, sizeof *plan->pl_nexts);
    plan->pl_ways = calloc(ways + 1, sizeof *plan->pl_ways);
    plan->pl_ready = calloc(plan->pl_segment_count + 1, sizeof *plan->pl_ready);
    return plan->pl_steps != NULL && plan->pl_segments != NULL && plan->pl_nexts != NULL && plan->pl_ways != NULL &&
           plan->pl_ready != NULL;
}

/* Stores in a plain step the range that tells a replay whether the step's memory is live, and a short argument that
 * begins with it. */
static void store_range(struct sim_step *step, const struct sim_captured *captured)
{
    static const _Atomic uint64_t none; /* always has the id 0 */
    _Static_assert(SIM_OTHER_STEP > SIM_BIRTHS, "no block has the allocation id of other steps");
    struct sim_range range = {.rg_birth = step->sp_plain ? 0 : SIM_OTHER_STEP};
    for (uint32_t i = 0; i < step->sp_range_count && range.rg_birth != SIM_OTHER_STEP; i++) {
        if (step->sp_ranges[i].rg_birth == 0) /* ordinary memory lives on */
            continue;
        bool only = range.rg_birth == 0 && step->sp_ranges[i].rg_record != NULL;
        range = only ? step->sp_ranges[i] : (struct sim_range){.rg_birth = SIM_OTHER_STEP};
    }
    if (range.rg_birth == 0 || range.rg_birth == SIM_OTHER_STEP)
        range.rg_record = &none;
    const void *argument = atomic_load_explicit(&step->sp_argument, memory_order_relaxed);
    bool is_short = captured->ct_size != 0 && captured->ct_size <= SIM_STEP_BYTES;
    if (range.rg_record != &none && argument == step->sp_ranges && is_short) {
        memcpy(step->sp_stored, argument, captured->ct_size);
        atomic_store_explicit(&step->sp_argument, step->sp_stored, memory_order_relaxed);
    } else {
        step->sp_range = range;
    }
}

static void fill_steps(struct maker *maker)
{
    struct sim_plan *plan = &maker->mk_plan;
    uint32_t count = 0;
    for (uint32_t i = 0; i < maker->mk_instance->in_branch_count; i++) {
        struct sim_branch *branch = maker->mk_instance->in_branches[i];
        if (branch->br_count != 0 && branch->br_head)
            plan->pl_segments[maker->mk_segments[i][0]].sg_starts = true;
        for (uint32_t k = 0; k < branch->br_count; k++) {
            struct sim_captured *captured = &branch->br_tasks[k];
            captured->ct_step = NULL;
            if (!branch->br_reached)
                continue;
            struct sim_segment *segment = &plan->pl_segments[maker->mk_segments[i][k]];
            segment->sg_begin = maker->mk_segments[i][0];
            segment->sg_last = maker->mk_segments[i][branch->br_count - 1];
            if (!is_step(captured))
                continue;
            if (segment->sg_count++ == 0)
                segment->sg_first = count;
            size_t ranges = 0;
            struct sim_step *step = captured->ct_step = &plan->pl_steps[count++];
            step->sp_op = captured->ct_task.ta_op;
            step->sp_run = step->sp_op->op_run;
            step->sp_task = &captured->ct_task;
            atomic_store_explicit(&step->sp_argument, sim_task_argument(&captured->ct_task), memory_order_relaxed);
            if (captured->ct_group == NULL && !(step->sp_op->op_flags & SIM_OP_REPLACED))
                step->sp_ranges = sim_captured_ranges(captured, &ranges);
            step->sp_range_count = (uint32_t)ranges;
            step->sp_plain =
                step->sp_ranges != NULL && (step->sp_op->op_flags & (SIM_OP_HEAVY | SIM_OP_KERNEL)) == 0;
            store_range(step, captured);
            plan->pl_flags |= step->sp_op->op_flags;
        }
    }
}

static uint32_t segment_at(const struct maker *maker, struct sim_point point)
{
    return maker->mk_segments[point.pt_branch][point.pt_index];
}

/* The targets of one switch are consecutive in pl_ways. A branch without tasks has no segment, so that a jump to it
 * ends the stream. */
static aclError add_way(struct maker *maker, struct sim_point from, struct sim_point to)
{
    struct sim_plan *plan = &maker->mk_plan;
    const struct sim_branch *branch = maker->mk_instance->in_branches[to.pt_branch];
    if (!maker->mk_instance->in_branches[from.pt_branch]->br_reached)
        return ACL_SUCCESS;
    struct sim_segment *segment = &plan->pl_segments[segment_at(maker, from)];
    if (segment->sg_ways++ == 0)
        segment->sg_way = maker->mk_ways;
    plan->pl_ways[maker->mk_ways++] = branch->br_count == 0 ? SIM_NOWHERE : segment_at(maker, to);
    return ACL_SUCCESS;
}

/* Calls `edge` for every pair of segments whose second one waits for the first, or is activated by it. */
static void each_edge(struct maker *maker,
                      void (*edge)(struct maker *maker, uint32_t from, uint32_t to, bool activates))
{
    for (uint32_t i = 0; i < maker->mk_instance->in_branch_count; i++) {
        const struct sim_branch *branch = maker->mk_instance->in_branches[i];
        const uint32_t *segments = maker->mk_segments[i];
        for (uint32_t k = 0; k < branch->br_count && branch->br_reached; k++) {
            const struct sim_branch *activated = activated_by(&branch->br_tasks[k]);
            if (activated != NULL && activated->br_count != 0)
                edge(maker, segments[k], maker->mk_segments[activated->br_index][0], true);
            if (is_edge(branch->br_tasks[k].ct_from, i))
                edge(maker, segment_at(maker, branch->br_tasks[k].ct_from), segments[k], false);
            if (k != 0 && segments[k] != segments[k - 1])
                edge(maker, segments[k - 1], segments[k], false);
        }
    }
}

static void count_edge(struct maker *maker, uint32_t from, uint32_t to, bool activates)
{
    (void)from, (void)to, (void)activates;
    maker->mk_edges++;
}

static void count_next(struct maker *maker, uint32_t from, uint32_t to, bool activates)
{
    maker->mk_plan.pl_segments[from].sg_nexts++;
    maker->mk_plan.pl_segments[to].sg_waits++;
    maker->mk_plan.pl_segments[to].sg_activations += activates;
}

static void add_next(struct maker *maker, uint32_t from, uint32_t to, bool activates)
{
    (void)activates;
    struct sim_segment *segment = &maker->mk_plan.pl_segments[from];
    maker->mk_plan.pl_nexts[segment->sg_next + segment->sg_nexts++] = to;
}

/* Fills pl_nexts, in which the successors of each segment are consecutive. */
static void fill_edges(struct maker *maker)
{
    struct sim_plan *plan = &maker->mk_plan;
    uint32_t at = 0;
    each_edge(maker, count_next);
    for (uint32_t i = 0; i < plan->pl_segment_count; i++) {
        plan->pl_segments[i].sg_next = at;
        at += plan->pl_segments[i].sg_nexts;
        plan->pl_segments[i].sg_nexts = 0;
    }
    each_edge(maker, add_next);
}

/* A topological sort: repeatedly takes a segment whose predecessors have all been taken. */
uint32_t sim_capture_plan_order(struct sim_plan *plan, uint32_t *order)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < plan->pl_segment_count; i++) {
        plan->pl_segments[i].sg_left = plan->pl_segments[i].sg_waits;
        if (plan->pl_segments[i].sg_waits == 0)
            order[ready++] = i;
    }
    for (uint32_t seen = 0; seen < ready; seen++) {
        const struct sim_segment *segment = &plan->pl_segments[order[seen]];
        for (uint32_t k = 0; k < segment->sg_nexts; k++) {
            uint32_t next = plan->pl_nexts[segment->sg_next + k];
            if (--plan->pl_segments[next].sg_left == 0)
                order[ready++] = next;
        }
    }
    return ready;
}

static void free_plan(struct sim_plan *plan)
{
    free(plan->pl_steps);
    free(plan->pl_segments);
    free(plan->pl_nexts);
    free(plan->pl_ways);
    free(plan->pl_ready);
}

static aclError make(struct maker *maker)
{
    struct sim_plan *plan = &maker->mk_plan;
    for (uint32_t i = 0; i < maker->mk_instance->in_branch_count; i++)
        maker->mk_instance->in_branches[i]->br_jumped = false;
    SIM_TRY(each_way(maker, count_way));
    find_reached(maker->mk_instance);
    bool room = number_segments(maker);
    if (room) {
        each_edge(maker, count_edge);
        room = take_memory(plan, maker->mk_edges, maker->mk_ways);
    }
    SIM_CHECK(room, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the plan of an instance");
    fill_steps(maker);
    fill_edges(maker);
    maker->mk_ways = 0;
    SIM_TRY(each_way(maker, add_way));
    SIM_CHECK(sim_capture_plan_order(plan, plan->pl_ready) == plan->pl_segment_count, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
              "the streams of the recording wait for or activate one another in a cycle, expected records before their "
              "waits");
    return ACL_SUCCESS;
}

/* Helpers of a replay that has ended may still be leaving next_segment: the walkers stay, and the plan is exchanged
 * under the run lock. */
static void put_in_force(struct sim_instance *instance, const struct sim_plan *plan)
{
    sim_lock(&instance->in_run_lock);
    struct sim_plan before = instance->in_plan;
    instance->in_plan = *plan;
    sim_unlock(&instance->in_run_lock);
    free_plan(&before);
}

static bool has_walkers(struct sim_instance *instance)
{
    uint32_t count = instance->in_branch_count + 1;
    if (instance->in_walkers == NULL)
        instance->in_walkers = calloc(count, sizeof *instance->in_walkers);
    for (uint32_t i = 0; instance->in_walkers != NULL && i < count; i++)
        instance->in_walkers[i].wk_instance = instance;
    return instance->in_walkers != NULL;
}

aclError sim_capture_plan_make(struct sim_instance *instance)
{
    struct maker maker = {.mk_instance = instance};
    maker.mk_segments = calloc(instance->in_branch_count + 1, sizeof *maker.mk_segments);
    SIM_CHECK(has_walkers(instance) && maker.mk_segments != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "no host memory for the plan of an instance");
    aclError code = make(&maker);
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        free(maker.mk_segments[i]);
    free(maker.mk_segments);
    if (code == ACL_SUCCESS)
        put_in_force(instance, &maker.mk_plan);
    else
        free_plan(&maker.mk_plan);
    return code;
}

void sim_capture_plan_free(struct sim_instance *instance)
{
    put_in_force(instance, &(struct sim_plan){0});
    free(instance->in_walkers);
    instance->in_walkers = NULL;
}
