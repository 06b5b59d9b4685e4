/* Design notes
 *
 * This file replays the plan of an instance, inside the task of an execution (capture_execute.c) or of a condition.
 *
 * A walker takes a ready segment, runs its steps, and makes its successors ready. When a step parks or a heavy step
 * begins while other segments are ready, a helper is queued: another walker, a task on a stream of the instance. There
 * are as many helpers as branches, so each branch can park by itself. Only the first walker, in the execution's own
 * task, waits for the others, at in_wake; a host that waits for it runs the helper named in in_helper, which names
 * another one when it finishes.
 *
 * The instance owns everything that a replay uses, because helpers may still be in a step when the execution's task is
 * discarded; the last of them then ends the replay. Replays of one instance do not overlap: the next one parks at
 * in_finished. A helper queued in one replay may run in the next, so a replay is opened only when it is ready for every
 * walker. After a failure the segments are still walked, without their steps, so that all counts reach zero.
 *
 * Locks: the run lock guards the ready stack, the counts of the segments and the flags of the replay, except
 * in_skipping. It is a leaf: gates are raised after it is released. */
#include "address/memory.h"
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

#define LOOK_STEPS 16 /* steps between two looks: is the replay discarded, is a watcher on? */

/* ---- walkers ---- */

static aclError run_helper(struct sim_run *run, void *argument);
static void drop_helper(void *argument);
static const struct sim_op helper_op = {.op_name = "aclmdlRIExecuteAsync",
                                        .op_run = run_helper,
                                        .op_drop = drop_helper};
static const struct sim_op worker_helper_op = {
    .op_name = "aclmdlRIExecuteAsync", .op_run = run_helper, .op_drop = drop_helper, .op_flags = SIM_OP_WORKER};

/* Wakes the first walker, or queues a helper, for the ready segments while this walker is busy or parked. */
SIM_RARE static void call_help(struct sim_instance *instance)
{
    struct sim_walker *walker = NULL;
    struct sim_branch *branch = NULL;
    sim_lock(&instance->in_run_lock);
    bool wake = instance->in_idle && instance->in_plan.pl_ready_count != 0;
    for (uint32_t i = 0; i < instance->in_branch_count && instance->in_plan.pl_ready_count != 0 && !wake; i++)
        if (!instance->in_walkers[i + 1].wk_busy) {
            walker = &instance->in_walkers[i + 1];
            branch = instance->in_branches[i];
            walker->wk_busy = true;
            break;
        }
    sim_unlock(&instance->in_run_lock);
    if (wake)
        sim_gate_count(&instance->in_wake);
    if (walker == NULL)
        return;
    const struct sim_op *op = instance->in_plan.pl_flags & SIM_OP_WORKER ? &worker_helper_op : &helper_op;
    if (sim_engine_enqueue(branch->br_stream, op, &walker, sizeof walker, NULL, &instance->in_helper) == ACL_SUCCESS) {
        sim_worker_kick(branch->br_stream.tg_stream);
        return;
    }
    sim_lock(&instance->in_run_lock); /* without memory for a helper the branches run one after another */
    walker->wk_busy = false;
    sim_unlock(&instance->in_run_lock);
}

static struct sim_segment *take_segment(struct sim_plan *plan)
{
    uint32_t count = plan->pl_ready_count;
    if (count == 0)
        return NULL;
    uint32_t at = likely(count == 1) ? 0 : sim_engine_choose(count), chosen = plan->pl_ready[at];
    plan->pl_ready_count = count - 1;
    memmove(&plan->pl_ready[at], &plan->pl_ready[at + 1], (count - 1 - at) * sizeof *plan->pl_ready);
    return &plan->pl_segments[chosen];
}

/* The number of predecessors that must finish before the segment is ready. */
static uint32_t needs(const struct sim_segment *segment)
{
    return unlikely(segment->sg_activations != 0) ? 1 : segment->sg_waits;
}

/* Whether any segment of the branch that begins with this one is pending. */
SIM_RARE static bool is_running(const struct sim_plan *plan, const struct sim_segment *begin)
{
    const struct sim_segment *last = &plan->pl_segments[begin->sg_last];
    for (const struct sim_segment *segment = begin; segment <= last; segment++)
        if (segment->sg_pending)
            return true;
    return false;
}

/* A segment may become ready again in the same replay, when a switch jumps back, but not while it is pending. A stream
 * that is activated while it runs starts again when it has ended. */
static inline void make_ready(struct sim_plan *plan, uint32_t index)
{
    struct sim_segment *segment = &plan->pl_segments[index];
    segment->sg_left = needs(segment);
    if (unlikely(segment->sg_activations != 0) && is_running(plan, segment)) {
        segment->sg_again++;
        return;
    }
    if (segment->sg_pending)
        return;
    segment->sg_pending = true;
    plan->pl_ready[plan->pl_ready_count++] = index;
    plan->pl_left++;
}

SIM_RARE static void activate_again(struct sim_plan *plan, uint32_t begin)
{
    struct sim_segment *segment = &plan->pl_segments[begin];
    if (is_running(plan, segment))
        return;
    segment->sg_again--;
    make_ready(plan, begin);
}

/* Makes the successors of a finished segment ready, or the target that its switch has chosen. */
static void finish(struct sim_plan *plan, struct sim_segment *done, uint32_t choice)
{
    done->sg_pending = false;
    uint32_t way = choice < done->sg_ways ? plan->pl_ways[done->sg_way + choice] : SIM_NOWHERE;
    if (unlikely(way != SIM_NOWHERE))
        make_ready(plan, way);
    for (uint32_t i = 0; i < done->sg_nexts && choice >= done->sg_ways; i++) {
        uint32_t next = plan->pl_nexts[done->sg_next + i];
        if (--plan->pl_segments[next].sg_left == 0)
            make_ready(plan, next);
    }
    if (unlikely(plan->pl_segments[done->sg_begin].sg_again != 0))
        activate_again(plan, done->sg_begin);
    plan->pl_left--;
}

/* Names a helper that is still busy, for hosts that wait for the first walker. The run lock is held. */
static void name_helper(struct sim_instance *instance)
{
    for (uint32_t i = 0; i < instance->in_branch_count; i++) {
        struct sim_stream *stream = instance->in_branches[i]->br_stream.tg_stream;
        if (instance->in_walkers[i + 1].wk_busy) {
            atomic_store_explicit(&instance->in_helper, sim_record_of(stream, sim_stream_tail(stream)),
                                  memory_order_release);
            return;
        }
    }
}

/* Finishes the walker's segment and takes the next one. Returns false if none is ready: then a helper's walker is free,
 * and another thread may already use it. */
static bool next_segment(struct sim_instance *instance, struct sim_walker *walker, bool *all_done)
{
    struct sim_plan *plan = &instance->in_plan;
    struct sim_segment *done = walker->wk_segment;
    bool is_first = walker == instance->in_walkers;
    sim_lock(&instance->in_run_lock);
    if (done != NULL)
        finish(plan, done, walker->wk_choice);
    *all_done = plan->pl_left == 0;
    walker->wk_segment = take_segment(plan);
    if (sim_watcher_any())
        sim_watcher_segment(instance, done, walker->wk_choice, walker->wk_segment);
    walker->wk_at = 0;
    walker->wk_choice = SIM_STRAIGHT_ON;
    bool more = walker->wk_segment != NULL;
    bool wake = instance->in_idle && !is_first && (*all_done || plan->pl_ready_count != 0);
    if (is_first)
        instance->in_idle = !more && !*all_done;
    else
        walker->wk_busy = more;
    if (!is_first && !more)
        name_helper(instance);
    sim_unlock(&instance->in_run_lock);
    if (wake)
        sim_gate_count(&instance->in_wake);
    return more;
}

/* ---- steps ---- */

static aclError renew(struct sim_walker *walker, const struct sim_step *step, const void *argument,
                      struct sim_run *run)
{
    memcpy(walker->wk_argument, argument, sizeof walker->wk_argument);
    aclError code = step->sp_op->op_renew(walker->wk_argument);
    walker->wk_renewed = code == ACL_SUCCESS;
    if (code != ACL_SUCCESS)
        sim_engine_fail(run, step->sp_task, code, "there is no memory for one more execution of it");
    return code;
}

static inline bool memory_lives(const struct sim_step *step)
{
    const struct sim_range *end = step->sp_ranges + step->sp_range_count;
    for (const struct sim_range *range = step->sp_ranges; range != end; range++)
        if (unlikely(!sim_memory_lives(range)))
            return false;
    return true;
}

SIM_RARE static bool others_ready(struct sim_instance *instance)
{
    sim_lock(&instance->in_run_lock);
    bool ready = instance->in_plan.pl_ready_count != 0;
    sim_unlock(&instance->in_run_lock);
    return ready;
}

/* Takes no lock: the walker that sets the flag finishes its segment under the run lock afterwards, and the successors
 * are taken under it, so that their walkers see the flag. Segments that do not depend on the failed one may see it
 * later. */
bool sim_capture_replay_is_skipping(struct sim_instance *instance)
{
    return atomic_load_explicit(&instance->in_skipping, memory_order_relaxed);
}

SIM_RARE static void set_skipping(struct sim_instance *instance)
{
    atomic_store_explicit(&instance->in_skipping, true, memory_order_relaxed);
}

/* Most steps are plain ones that use one block, and the block is live: one compare tells these from all others. */
static inline bool is_single(const struct sim_step *step)
{
    const struct sim_range *range = &step->sp_range;
    return sim_block_birth(atomic_load_explicit(range->rg_record, memory_order_acquire)) == range->rg_birth;
}

/* A plain step whose memory is live. Inside the tasks of a replay th_in_kernel is false, and stays so. */
static inline bool is_simple(const struct sim_step *step)
{
    return likely(step->sp_plain && !sim_watcher_any()) && memory_lives(step);
}

static inline aclError run_simple(struct sim_step *step, struct sim_run *run)
{
    void *argument = atomic_load_explicit(&step->sp_argument, memory_order_acquire);
    run->rn_task = step->sp_task;
    return step->sp_run(run, argument);
}

static aclError run_checked(struct sim_walker *walker, struct sim_step *step, struct sim_run *run)
{
    void *argument = atomic_load_explicit(&step->sp_argument, memory_order_acquire);
    if (step->sp_ranges != NULL && memory_lives(step))
        return sim_engine_call(run, step->sp_task, argument);
    run->rn_replays = true;
    if (step->sp_op->op_renew == NULL)
        return sim_engine_execute(run, step->sp_task, argument);
    if (!walker->wk_renewed)
        SIM_TRY(renew(walker, step, argument, run));
    aclError code = sim_engine_execute(run, step->sp_task, walker->wk_argument);
    walker->wk_renewed = code == SIM_PARK;
    return code;
}

/* Kept out of the loop, which needs the registers. Returns SIM_DROPPED when the rest of the replay is skipped. */
static __attribute__((noinline)) aclError run_other(struct sim_instance *instance, struct sim_walker *walker,
                                                    struct sim_step *step, struct sim_run *run)
{
    bool begun = walker->wk_renewed;
    if (is_simple(step))
        return sim_engine_result(run, step->sp_task, run_simple(step, run));
    if ((step->sp_op->op_flags & SIM_OP_HEAVY) && !begun && others_ready(instance))
        call_help(instance);
    const struct sim_walker *outer = sim_thread.th_walker;
    sim_thread.th_walker = sim_watcher_any() ? walker : NULL;
    aclError code = run_checked(walker, step, run);
    sim_thread.th_walker = outer;
    return code == ACL_SUCCESS && begun && sim_capture_replay_is_skipping(instance) ? SIM_DROPPED : code;
}

/* Runs the steps up to `end`, or up to the first one that parks or fails, which `next` is then. Returns its code. */
SIM_HOT static inline aclError run_steps(struct sim_instance *instance, struct sim_walker *walker, struct sim_run *run,
                                         struct sim_step **next, const struct sim_step *end, bool watched)
{
    aclError code = ACL_SUCCESS;
    struct sim_step *step = *next;
    for (; step != end; step++) {
        if (likely(!watched && is_single(step))) {
            code = run_simple(step, run);
            if (unlikely(code != ACL_SUCCESS))
                code = sim_engine_result(run, step->sp_task, code);
        } else {
            code = run_other(instance, walker, step, run);
        }
        if (unlikely(code != ACL_SUCCESS))
            break;
        run->rn_expired = false;
    }
    *next = step;
    return code;
}

static aclError run_watched(struct sim_instance *instance, struct sim_walker *walker, struct sim_run *run);

/* Runs the steps of the walker's segment. Returns SIM_PARK when a step parks, and 0 at the end of the segment. When a
 * step fails, the rest of the replay is skipped, except the steps that have already begun. */
SIM_HOT static inline aclError run_segment(struct sim_instance *instance, struct sim_walker *walker,
                                           struct sim_run *run, bool watched)
{
    const struct sim_segment *segment = walker->wk_segment;
    struct sim_step *steps = instance->in_plan.pl_steps + segment->sg_first;
    if (!walker->wk_renewed && sim_capture_replay_is_skipping(instance))
        return ACL_SUCCESS;
    for (uint32_t at = walker->wk_at, count = segment->sg_count; at < count;) {
        if (unlikely(at % LOOK_STEPS == LOOK_STEPS - 1) && !walker->wk_renewed && sim_engine_is_dropped(run)) {
            set_skipping(instance);
            return ACL_SUCCESS;
        }
        if (!watched && sim_watcher_any()) { /* for each step, this would take a tenth of its time */
            walker->wk_at = at;
            return run_watched(instance, walker, run);
        }
        uint32_t stop = (at + 1) | (LOOK_STEPS - 1); /* the next step before which to check */
        struct sim_step *step = &steps[at], *end = &steps[stop < count ? stop : count];
        aclError code = run_steps(instance, walker, run, &step, end, watched);
        at = (uint32_t)(step - steps);
        if (unlikely(code == SIM_PARK)) {
            walker->wk_at = at;
            call_help(instance);
            return code;
        }
        run->rn_expired = false;
        if (unlikely(code != ACL_SUCCESS)) {
            set_skipping(instance);
            return ACL_SUCCESS;
        }
    }
    if (unlikely(segment->sg_ways != 0))
        walker->wk_choice = run->rn_choice;
    return ACL_SUCCESS;
}

/* Runs the rest of the segment, each step between the hooks of the watchers. It is flattened because otherwise the
 * compiler makes one function of both cases, which asks before each step. */
SIM_RARE __attribute__((flatten)) static aclError run_watched(struct sim_instance *instance, struct sim_walker *walker,
                                                              struct sim_run *run)
{
    return run_segment(instance, walker, run, true);
}

/* Called after a jump, because a loop of jumps may be endless. Without workers it returns true: the walker parks at a
 * target already reached, so that other streams run in between. A discarded replay stops jumping. */
static bool takes_turns(struct sim_instance *instance, struct sim_run *run)
{
    if (sim_engine_is_dropped(run))
        set_skipping(instance);
    run->rn_gate = &instance->in_finished;
    run->rn_target = 0;
    run->rn_deadline = SIM_FOREVER;
    return !sim_worker_available();
}

/* Returns SIM_PARK if a step parks, and 0 when no segment is ready. */
static aclError walk(struct sim_instance *instance, struct sim_walker *walker, struct sim_run *run, bool *all_done)
{
    *all_done = false;
    while (walker->wk_segment != NULL || next_segment(instance, walker, all_done)) {
        SIM_TRY(run_segment(instance, walker, run, false));
        bool jumps = walker->wk_choice != SIM_STRAIGHT_ON;
        if (!next_segment(instance, walker, all_done))
            break;
        if (unlikely(jumps) && takes_turns(instance, run))
            return SIM_PARK;
    }
    return ACL_SUCCESS;
}

void sim_capture_replay_open(struct sim_instance *instance)
{
    struct sim_plan *plan = &instance->in_plan;
    sim_lock(&instance->in_run_lock);
    atomic_store_explicit(&instance->in_skipping, false, memory_order_relaxed);
    instance->in_orphan = instance->in_idle = false;
    plan->pl_left = plan->pl_ready_count = 0;
    for (uint32_t i = plan->pl_segment_count; i-- != 0;) { /* backwards: the stack yields the first branch first */
        struct sim_segment *segment = &plan->pl_segments[i];
        segment->sg_left = needs(segment);
        segment->sg_again = 0;
        segment->sg_pending = false;
        if (segment->sg_starts && segment->sg_waits == 0)
            make_ready(plan, i);
    }
    sim_unlock(&instance->in_run_lock);
}

aclError sim_capture_replay_walk(struct sim_instance *instance, struct sim_run *run)
{
    bool all_done;
    uint64_t seen = sim_gate_level(&instance->in_wake);
    if (instance->in_plan.pl_segment_count == 0)
        return ACL_SUCCESS;
    SIM_TRY(walk(instance, instance->in_walkers, run, &all_done));
    if (!all_done) {
        run->rn_gate = &instance->in_wake;
        run->rn_target = seen + 1;
        run->rn_deadline = SIM_FOREVER;
        return SIM_PARK;
    }
    return sim_capture_replay_is_skipping(instance) ? SIM_FAILED : ACL_SUCCESS;
}

/* ---- replays ---- */

static void free_retired(struct sim_retired *retired)
{
    while (retired != NULL) {
        struct sim_retired *next = retired->re_next;
        free(retired->re_argument);
        free(retired);
        retired = next;
    }
}

void sim_capture_replay_retire(struct sim_instance *instance, void *argument)
{
    struct sim_retired *fresh = argument != NULL ? malloc(sizeof *fresh) : NULL;
    sim_lock(&instance->in_run_lock);
    if (fresh != NULL) { /* without memory for the link the argument leaks: that is better than freeing it too early */
        *fresh = (struct sim_retired){instance->in_retired, argument};
        instance->in_retired = fresh;
    }
    struct sim_retired *unused = instance->in_running ? NULL : instance->in_retired;
    if (!instance->in_running)
        instance->in_retired = NULL;
    sim_unlock(&instance->in_run_lock);
    free_retired(unused);
}

void sim_capture_replay_release_outer(struct sim_instance *instance, bool started)
{
    for (struct sim_external *at = instance->in_externals; at != NULL; at = at->xt_next) {
        bool reached = started && at->xt_reached;
        if (started)
            at->xt_reached = false;
        if (at->xt_stream.tg_stream != NULL && !reached)
            sim_gate_count(&at->xt_stream.tg_stream->st_latch);
    }
}

/* After this call another thread may already have freed the instance; only in_finished is still valid. */
void sim_capture_replay_end(struct sim_instance *instance)
{
    sim_capture_replay_release_outer(instance, true);
    sim_lock(&instance->in_run_lock);
    struct sim_retired *retired = instance->in_retired;
    sim_record *outer = instance->in_outer;
    instance->in_retired = NULL;
    instance->in_running = false;
    instance->in_outer = NULL;
    sim_unlock(&instance->in_run_lock);
    free_retired(retired);
    free(outer);
    sim_gate_count(&instance->in_finished);
}

/* Prepares to park until the replay after the first `finished` ones has ended. */
static void await_end(struct sim_instance *instance, uint64_t finished, struct sim_run *run)
{
    run->rn_gate = &instance->in_finished;
    run->rn_target = finished + 1;
    run->rn_deadline = SIM_FOREVER;
}

bool sim_capture_replay_rests(struct sim_instance *instance, struct sim_run *run)
{
    uint64_t finished = sim_gate_level(&instance->in_finished);
    sim_lock(&instance->in_run_lock);
    bool rests = !instance->in_running;
    sim_unlock(&instance->in_run_lock);
    await_end(instance, finished, run);
    return rests;
}

bool sim_capture_replay_begin(struct sim_instance *instance, sim_record *outer, sim_record holder, struct sim_run *run)
{
    uint64_t finished = sim_gate_level(&instance->in_finished);
    sim_lock(&instance->in_run_lock);
    bool first = !instance->in_running;
    if (first) {
        instance->in_running = true;
        instance->in_outer = outer;
        atomic_store_explicit(&instance->in_holder, holder, memory_order_release);
    }
    sim_unlock(&instance->in_run_lock);
    await_end(instance, finished, run);
    return first;
}

/* Walks the remaining segments without their steps; true if no segment is left at all. */
static bool skip(struct sim_instance *instance, struct sim_walker *walker)
{
    bool all_done = false;
    set_skipping(instance);
    if (walker->wk_renewed) {
        const struct sim_step *step = &instance->in_plan.pl_steps[walker->wk_segment->sg_first + walker->wk_at];
        if (step->sp_op->op_drop != NULL)
            step->sp_op->op_drop(walker->wk_argument);
        walker->wk_renewed = false;
    }
    while (next_segment(instance, walker, &all_done))
        continue;
    return all_done;
}

/* True once, when the replay whose execution's task was discarded is over. */
static bool is_last(struct sim_instance *instance)
{
    sim_lock(&instance->in_run_lock);
    bool last = instance->in_orphan && instance->in_plan.pl_left == 0;
    instance->in_orphan = instance->in_orphan && !last;
    sim_unlock(&instance->in_run_lock);
    return last;
}

void sim_capture_replay_give_up(struct sim_instance *instance)
{
    if (!skip(instance, instance->in_walkers)) /* helpers are parked or in a step: discard their waits */
        for (uint32_t i = 0; i < instance->in_branch_count; i++)
            sim_engine_drop(instance->in_branches[i]->br_stream.tg_stream);
    sim_lock(&instance->in_run_lock);
    bool over = instance->in_plan.pl_left == 0;
    instance->in_orphan = !over; /* the last helper ends the replay; after the unlock the instance may be freed */
    instance->in_idle = false;
    sim_unlock(&instance->in_run_lock);
    if (over)
        sim_capture_replay_end(instance);
}

static aclError run_helper(struct sim_run *run, void *argument)
{
    struct sim_walker *walker = *(struct sim_walker **)argument;
    struct sim_instance *instance = walker->wk_instance;
    bool all_done;
    run->rn_blame = atomic_load_explicit(&instance->in_holder, memory_order_acquire);
    SIM_TRY(walk(instance, walker, run, &all_done));
    if (all_done && is_last(instance))
        sim_capture_replay_end(instance);
    return ACL_SUCCESS;
}

static void drop_helper(void *argument)
{
    struct sim_walker *walker = *(struct sim_walker **)argument;
    struct sim_instance *instance = walker->wk_instance;
    if (skip(instance, walker) && is_last(instance))
        sim_capture_replay_end(instance);
}

bool sim_capture_setter(const struct sim_gate *gate, sim_record *setter, bool *guessed)
{
    struct sim_instance *instance = sim_table_slot_of(&sim_capture_instances, gate);
    if (instance == NULL)
        return false;
    _Atomic sim_record *who = gate == &instance->in_finished ? &instance->in_holder : &instance->in_helper;
    sim_record record = atomic_load_explicit(who, memory_order_acquire);
    for (sim_record before = 0; record != before && sim_record_passed(record);) { /* a finished helper named another */
        before = record;
        record = atomic_load_explicit(who, memory_order_acquire);
    }
    *setter = record; /* certain, not a guess */
    (void)guessed;
    return true;
}
