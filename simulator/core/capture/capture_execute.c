/* Design notes
 *
 * This file queues executions of an instance, and destroys instances.
 *
 * An execution is one task of the stream it was queued on, light or heavy depending on the plan; the task replays the
 * plan (capture_replay.c). External events are bound when the execution is queued, not when it runs; the execution owns
 * these records until the replay takes them. Destroying waits until every queued execution has ended, calls the
 * registered callbacks, and frees the instance.
 *
 * Locks: the instance's lock guards in_submitted and the list of callbacks. It is not held while the execution is
 * submitted, while the thread waits, or during a callback. */
#include "base/clock.h"
#include "base/config.h"
#include "engine/launch.h"
#include "capture_inner.h"
#include <stdlib.h>

/* One queued replay; stored in its task. */
struct execution {
    struct sim_instance *ex_instance;
    sim_record *ex_outer; /* the records for its external waits, or NULL; the replay owns them once it has started */
    bool ex_started, ex_open;
};

/* ---- the task ---- */

static aclError run_execution(struct sim_run *run, void *argument)
{
    struct execution *execution = argument;
    struct sim_instance *instance = execution->ex_instance;
    if (!execution->ex_started) {
        if (!sim_capture_replay_begin(instance, execution->ex_outer, sim_record_of(run->rn_stream, run->rn_ticket),
                                      run))
            return SIM_PARK;
        execution->ex_started = true;
    }
    if (!execution->ex_open) { /* bodies of a replay that was given up may still read their conditions */
        if (!sim_capture_condition_rests(instance, run))
            return SIM_PARK;
        sim_capture_condition_assign(instance);
        sim_capture_replay_open(instance);
        execution->ex_open = true;
    }
    aclError code = sim_capture_replay_walk(instance, run);
    if (code == SIM_PARK)
        return code;
    sim_capture_replay_end(instance);
    return code;
}

static void drop_execution(void *argument)
{
    struct execution *execution = argument;
    struct sim_instance *instance = execution->ex_instance;
    if (execution->ex_started) {
        sim_capture_replay_give_up(instance);
        return;
    }
    free(execution->ex_outer);
    sim_capture_replay_release_outer(instance, false);
    sim_gate_count(&instance->in_finished);
}

#define EXECUTION_OP(flags)                                                                                            \
    {.op_name = "aclmdlRIExecuteAsync", .op_run = run_execution, .op_drop = drop_execution,                            \
     .op_flags = (flags) | SIM_OP_LIVE, .op_kind = SIM_TASK_OTHER}
static const struct sim_op light_op = EXECUTION_OP(SIM_OP_LIGHT), plain_op = EXECUTION_OP(0),
                           heavy_op = EXECUTION_OP(SIM_OP_HEAVY), worker_op = EXECUTION_OP(SIM_OP_WORKER);

#define LIGHT_STEPS 8 /* limit for a light task, which a submitting thread may have to run */

static const struct sim_op *op_of(const struct sim_instance *instance)
{
    const struct sim_plan *plan = &instance->in_plan;
    uint32_t flags = plan->pl_flags | sim_capture_condition_flags(instance);
    if (flags & SIM_OP_WORKER)
        return &worker_op;
    if (flags & SIM_OP_HEAVY)
        return &heavy_op;
    bool light = plan->pl_step_count <= LIGHT_STEPS;
    for (uint32_t i = 0; light && i < plan->pl_step_count; i++)
        light = (plan->pl_steps[i].sp_op->op_flags & SIM_OP_LIGHT) != 0;
    return light ? &light_op : &plain_op;
}

/* ---- external events ---- */

aclError sim_capture_replay_wait_outer(struct sim_instance *instance, uint32_t number, struct sim_run *run)
{
    sim_record record = instance->in_outer[number];
    if (sim_record_passed(record))
        return ACL_SUCCESS;
    run->rn_gate = &sim_record_stream(record)->st_gate;
    run->rn_target = sim_record_ticket(record);
    run->rn_deadline = SIM_FOREVER;
    return SIM_PARK;
}

/* Binds the external waits of one replay to the newest records of their events. The replay's external records count as
 * recorded from now on: each is a task held on a stream of its own, which the replay releases. */
static aclError bind_outer(struct sim_instance *instance, struct execution *execution, void *site)
{
    if (instance->in_external_waits != 0)
        execution->ex_outer = calloc(instance->in_external_waits, sizeof *execution->ex_outer);
    SIM_CHECK(instance->in_external_waits == 0 || execution->ex_outer != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "no host memory for the external waits of an execution");
    for (struct sim_external *at = instance->in_externals; at != NULL; at = at->xt_next) {
        struct sim_event *event = sim_table_find(&sim_events, (void *)(uintptr_t)at->xt_event);
        if (event == NULL)
            continue; /* the event was destroyed: nothing to record or to wait for */
        if (at->xt_stream.tg_stream != NULL)
            SIM_TRY(sim_launch_hold(at->xt_stream, site, &event->ev_record));
        else if (sim_event_recorded(event))
            execution->ex_outer[at->xt_number] = atomic_load_explicit(&event->ev_record, memory_order_acquire);
    }
    return ACL_SUCCESS;
}

/* ---- queueing ---- */

static aclError check_ready(const struct sim_instance *instance)
{
    enum sim_instance_state state = sim_capture_instance_state(instance);
    SIM_SUPPORTED(instance->in_parent == NULL, "modelRI is a body of a conditional task, which runs it");
    SIM_CHECK(!sim_capture_instance_is_capturing(instance), ACL_ERROR_RT_MODEL_CAPTURED,
              "modelRI is still being captured, expected aclmdlRICaptureEnd before");
    SIM_CHECK(state == SIM_INSTANCE_READY, ACL_ERROR_RT_MODEL_EXECUTE, "modelRI %s before",
              state == SIM_INSTANCE_UPDATING ? "has changed tasks, expected aclmdlRIUpdate"
                                             : "is still being built, expected aclmdlRIBuildEnd");
    return ACL_SUCCESS;
}

/* Counts the execution, chooses its op and binds its external events. */
static aclError prepare(struct sim_instance *instance, struct execution *execution, const struct sim_op **op,
                        void *site)
{
    SIM_TRY(check_ready(instance));
    *execution = (struct execution){.ex_instance = instance};
    *op = op_of(instance);
    instance->in_submitted++;
    if (likely(instance->in_externals == NULL))
        return ACL_SUCCESS;
    aclError code = bind_outer(instance, execution, site);
    if (code != ACL_SUCCESS)
        drop_execution(execution);
    return code;
}

static aclError queue(struct sim_instance *instance, struct sim_target stream, void *site)
{
    struct execution execution;
    const struct sim_op *op = NULL;
    aclError code = prepare(instance, &execution, &op, site);
    sim_object_close(instance);
    SIM_TRY(code);
    code = sim_engine_submit(stream, op, &execution, sizeof execution, site, NULL);
    if (code != ACL_SUCCESS)
        drop_execution(&execution);
    return code;
}

/* The kind of the stream is checked before its context. */
static aclError check_stream(aclrtStream stream)
{
    struct sim_target target;
    SIM_TRY(sim_stream_find(stream, &target));
    enum sim_taken taken = sim_stream_taken(target.tg_stream);
    SIM_CHECK(taken != SIM_TAKEN_BOUND && sim_stream_kind(target.tg_stream) != SIM_STREAM_INSTANCE,
              ACL_ERROR_RT_PARAM_INVALID, "stream belongs to a model running instance, expected a plain one");
    return sim_stream_refuse_taken(target.tg_stream, taken);
}

aclError sim_capture_execute_async(aclmdlRI handle, aclrtStream stream, void *site)
{
    struct sim_instance *instance;
    struct sim_target target;
    if (stream != NULL)
        SIM_TRY(check_stream(stream));
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = sim_stream_own(stream, &target);
    if (code == ACL_SUCCESS)
        return queue(instance, target, site);
    sim_object_close(instance);
    return code;
}

/* The stream that aclmdlRIExecute uses; created at the first call. */
static aclError launch_stream(struct sim_instance *instance, struct sim_target *target)
{
    aclrtStream stream;
    if (instance->in_launch.tg_stream == NULL) {
        SIM_TRY(sim_stream_create(instance->in_context, 0, 0, SIM_STREAM_INSTANCE, &stream));
        instance->in_launch =
            (struct sim_target){sim_table_find(&sim_streams, stream), (uint64_t)(uintptr_t)stream};
    }
    *target = instance->in_launch;
    return ACL_SUCCESS;
}

static aclError refuse_aborted(aclmdlRI handle, uint64_t number)
{
    struct sim_instance *instance = sim_object_peek(&sim_capture_instances, handle);
    bool aborted = instance != NULL && instance->in_aborted >= number;
    if (instance != NULL)
        sim_object_close(instance);
    SIM_CHECK(!aborted, ACL_ERROR_RT_MODEL_ABORT_NORMAL, "the execution was stopped by aclmdlRIAbort");
    return ACL_SUCCESS;
}

aclError sim_capture_execute(aclmdlRI handle, int32_t timeout, void *site)
{
    struct sim_instance *instance;
    struct sim_target target;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    bool newest = sim_config()->cf_cann > 900;
    aclError code = ACL_SUCCESS;
    if (!instance->in_built && instance->in_parent == NULL && newest)
        code = sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "modelRI was captured, expected aclmdlRIExecuteAsync (CANN up to 9.0 accepts it here, too)");
    if (code == ACL_SUCCESS)
        code = check_ready(instance);
    if (code == ACL_SUCCESS)
        code = launch_stream(instance, &target);
    if (code != ACL_SUCCESS) {
        sim_object_close(instance);
        return code;
    }
    uint64_t number = instance->in_submitted + 1;
    SIM_TRY(queue(instance, target, site));
    uint64_t tail = sim_stream_tail(target.tg_stream);
    enum sim_wait wait = sim_engine_wait(target.tg_stream, tail, sim_clock_deadline(timeout),
                                         timeout < 0 ? SIM_HELPER : SIM_SUBMITTER);
    SIM_TRY(sim_engine_outcome(wait, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, timeout));
    if (sim_watcher_any())
        sim_watcher_know(sim_record_of(target.tg_stream, tail));
    SIM_TRY(sim_stream_take_error(target.tg_stream));
    return refuse_aborted(handle, number);
}

/* ---- destroying an instance ---- */

uint64_t sim_capture_patience = UINT64_C(10000000000);

static aclError check_destroy(const struct sim_instance *instance)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "modelRI is a body of a conditional task, which destroys it");
    SIM_CHECK(!sim_capture_instance_is_capturing(instance), ACL_ERROR_RT_MODEL_CAPTURED,
              "modelRI is still being captured, expected aclmdlRICaptureEnd before");
    return ACL_SUCCESS;
}

static aclError wait_for_runs(struct sim_instance *instance, aclmdlRI handle, uint64_t deadline)
{
    uint64_t target = instance->in_submitted;
    sim_object_close(instance);
    enum sim_wait wait = sim_engine_help_gate(&instance->in_finished, target, deadline);
    SIM_CHECK(wait != SIM_WAIT_EXPIRED, ACL_ERROR_RT_MODEL_RUNNING,
              "modelRI %p still runs after %llu ms, expected its streams to be synchronised before", handle,
              (unsigned long long)(sim_capture_patience / 1000000));
    return sim_engine_refusal(wait);
}

/* Calls the registered callbacks, each once, without the lock. */
static void call_back(struct sim_instance *instance)
{
    struct sim_callback_link *links = instance->in_callbacks;
    instance->in_callbacks = NULL;
    sim_object_close(instance);
    while (links != NULL) {
        struct sim_callback_link *link = links;
        links = link->cb_next;
        link->cb_function(link->cb_user);
        free(link);
    }
}

/* Called with the lock held. Releases it unless the instance is ready to be freed (*free_it). */
static aclError approach_end(struct sim_instance *instance, aclmdlRI handle, uint64_t deadline, bool *free_it)
{
    aclError code = check_destroy(instance);
    *free_it = code == ACL_SUCCESS && sim_gate_passed(&instance->in_finished, instance->in_submitted) &&
               instance->in_callbacks == NULL;
    if (*free_it)
        return ACL_SUCCESS;
    if (code != ACL_SUCCESS)
        sim_object_close(instance);
    else if (!sim_gate_passed(&instance->in_finished, instance->in_submitted))
        code = wait_for_runs(instance, handle, deadline);
    else
        call_back(instance);
    return code;
}

/* Destroying a handle that the context does not know is not an error (contract), nor is destroying a handle that
 * another thread has already destroyed. */
aclError sim_capture_destroy(aclmdlRI handle)
{
    SIM_TRY(sim_engine_may_wait());
    bool free_it = false;
    uint64_t deadline = sim_clock_now() + sim_capture_patience; /* other threads may keep queueing executions */
    for (struct sim_instance *instance; (instance = sim_object_peek(&sim_capture_instances, handle)) != NULL;) {
        SIM_TRY(approach_end(instance, handle, deadline, &free_it));
        if (!free_it)
            continue;
        if (sim_watcher_any()) /* every replay has ended */
            sim_watcher_know(atomic_load_explicit(&instance->in_holder, memory_order_acquire));
        sim_capture_instance_let_go(instance);
        sim_capture_instance_free(instance);
        break;
    }
    return ACL_SUCCESS;
}
