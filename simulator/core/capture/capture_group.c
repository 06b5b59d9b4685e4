/* Design notes
 *
 * This file provides task groups: kernels captured one after another on one stream, whose arguments can be updated
 * later. While a group is open (in_open), a task on another stream of the capture makes the capture invalid.
 *
 * An instance owns its groups, and takes over a stream that updates one: each kernel launched on that stream becomes a
 * task that puts the new argument into the plan. So an update takes effect in the order of that stream, and a replay
 * that waits for an external event still sees it. The replaced argument is kept until no replay can be using it
 * (sim_capture_replay_retire).
 *
 * Locks: the instance's lock guards its groups; a group's own lock keeps its handle alive during a look-up. */
#include "kernel/kernel.h"
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

struct sim_table sim_capture_groups = SIM_OBJECT_TABLE(struct sim_group, SIM_KIND_GROUP);

static aclError refuse_status(const char *reason)
{
    return sim_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s", reason);
}

static aclError begin(struct sim_instance *instance, struct sim_branch *branch)
{
    uint64_t handle;
    if (instance->in_open != NULL)
        return refuse_status("a task group is open already, expected aclmdlRICaptureTaskGrpEnd before");
    struct sim_group *group = sim_object_take(&sim_capture_groups, &handle);
    SIM_CHECK(group != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no further task group can be made");
    group->gr_instance = instance;
    group->gr_branch = branch;
    group->gr_first = branch->br_count;
    group->gr_count = group->gr_updated = 0;
    group->gr_stream = 0;
    group->gr_next = NULL;
    *(instance->in_groups == NULL ? &instance->in_groups : &instance->in_last_group->gr_next) = group;
    instance->in_last_group = instance->in_open = group;
    sim_object_publish(group, handle);
    return ACL_SUCCESS;
}

aclError sim_capture_group_begin(aclrtStream handle)
{
    struct sim_instance *instance;
    struct sim_target stream;
    SIM_TRY(sim_stream_any(handle, &stream));
    if (sim_stream_taken(stream.tg_stream) == SIM_TAKEN_UPDATES)
        return refuse_status("the stream updates captured tasks, expected one that is being captured");
    if (sim_stream_taken(stream.tg_stream) == SIM_TAKEN_CAPTURES) /* 107029 takes precedence over a wrong context */
        SIM_TRY(sim_stream_own(handle, &stream));
    SIM_TRY(sim_capture_instance_open_capture(stream, &instance));
    aclError code = begin(instance, stream.tg_stream->st_branch);
    sim_object_close(instance);
    return code;
}

aclError sim_capture_group_end(struct sim_target stream, aclrtTaskGrp *handle)
{
    struct sim_instance *instance;
    aclError code = ACL_SUCCESS;
    *handle = NULL;
    SIM_TRY(sim_capture_instance_open_capture(stream, &instance));
    if (instance->in_open == NULL || instance->in_open->gr_branch != stream.tg_stream->st_branch)
        code = refuse_status("no task group is open on the stream, expected aclmdlRICaptureTaskGrpBegin before");
    else if (instance->in_interrupted)
        code = sim_fail(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                        "a task of another stream of the capture interrupted the group");
    else if (sim_capture_instance_state(instance) == SIM_INSTANCE_INVALID)
        code = sim_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "the capture was made invalid by an earlier failure");
    else
        *handle = (aclrtTaskGrp)(uintptr_t)atomic_load_explicit(&instance->in_open->gr_object.ob_slot.sl_handle,
                                                                memory_order_relaxed);
    if (code == ACL_SUCCESS)
        instance->in_open = NULL;
    sim_object_close(instance);
    return code;
}

aclError sim_capture_group_admit(struct sim_instance *instance, const struct sim_branch *branch,
                                 enum sim_task_kind kind)
{
    if (branch != instance->in_open->gr_branch) {
        instance->in_interrupted = true;
        sim_capture_invalidate(instance);
        return sim_fail(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                        "a task group is open on another stream of the capture, expected its tasks to follow one "
                        "another; the capture is invalid now");
    }
    SIM_CHECK(kind <= SIM_TASK_VECTOR, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
              "a task group is open, which accepts only kernels");
    return ACL_SUCCESS;
}

void sim_capture_group_joined(struct sim_instance *instance, struct sim_branch *branch)
{
    branch->br_tasks[branch->br_count - 1].ct_group = instance->in_open;
    instance->in_open->gr_count++;
}

void sim_capture_group_let_go(struct sim_instance *instance)
{
    for (struct sim_group *group = instance->in_groups; group != NULL; group = group->gr_next) {
        struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)group->gr_stream);
        group->gr_stream = 0;
        if (stream != NULL)
            sim_capture_stream_let_go(stream);
    }
}

void sim_capture_group_free_all(struct sim_instance *instance)
{
    for (struct sim_group *group; (group = instance->in_groups) != NULL;) {
        instance->in_groups = group->gr_next;
        sim_lock(&group->gr_object.ob_lock);
        sim_object_end(&sim_capture_groups, group);
    }
    instance->in_open = NULL;
    instance->in_interrupted = false;
}

/* ---- updating ---- */

/* Locks the group's instance. The lock order is instance, then group, so the instance's handle is read under the
 * group's lock, which is released before the instance is opened. */
static aclError open_group(aclrtTaskGrp handle, struct sim_group **group, struct sim_instance **instance)
{
    uint64_t owner = 0;
    *group = sim_object_peek(&sim_capture_groups, handle);
    if (*group != NULL) {
        owner = sim_capture_instance_handle((*group)->gr_instance);
        sim_object_close(*group);
    }
    *instance = owner != 0 ? sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)owner) : NULL;
    SIM_CHECK(*instance != NULL, ACL_ERROR_RT_INVALID_HANDLE, "handle is %p, %s, expected a live task group", handle,
              sim_handle_describe(handle));
    return ACL_SUCCESS;
}

static aclError take_for_update(struct sim_instance *instance, struct sim_group *group, struct sim_target target)
{
    struct sim_stream *stream = target.tg_stream;
    SIM_CHECK(!sim_capture_instance_is_capturing(instance), ACL_ERROR_RT_MODEL_CAPTURED,
              "the group's instance is still being captured, expected aclmdlRICaptureEnd before");
    if (sim_table_find(&sim_streams, (void *)(uintptr_t)group->gr_stream) != NULL)
        return refuse_status("another stream updates the group, expected its aclmdlRICaptureTaskUpdateEnd before");
    sim_lock(&stream->st_gate.gt_lock);
    bool free = sim_stream_taken(stream) == SIM_TAKEN_NOT;
    if (free) {
        atomic_store_explicit(&stream->st_taken, SIM_TAKEN_UPDATES, memory_order_relaxed);
        atomic_store_explicit(&stream->st_owner, sim_capture_instance_handle(instance), memory_order_release);
    }
    sim_unlock(&stream->st_gate.gt_lock);
    SIM_TRY(sim_stream_refuse_taken(stream, free ? SIM_TAKEN_NOT : sim_stream_taken(stream)));
    group->gr_stream = target.tg_handle;
    group->gr_updated = 0;
    return ACL_SUCCESS;
}

aclError sim_capture_update_begin(struct sim_target stream, aclrtTaskGrp handle)
{
    struct sim_group *group;
    struct sim_instance *instance;
    enum sim_taken taken = sim_stream_taken(stream.tg_stream);
    if (taken == SIM_TAKEN_UPDATES)
        return refuse_status("the stream updates a task group already, expected aclmdlRICaptureTaskUpdateEnd before");
    SIM_TRY(sim_stream_refuse_taken(stream.tg_stream, taken));
    SIM_TRY(open_group(handle, &group, &instance));
    aclError code = take_for_update(instance, group, stream);
    sim_object_close(instance);
    return code;
}

/* The group that the stream updates, with its instance locked; NULL without one. */
static struct sim_group *updated_by(struct sim_target stream, struct sim_instance **instance)
{
    *instance =
        sim_stream_taken(stream.tg_stream) == SIM_TAKEN_UPDATES ? sim_capture_instance_of(stream.tg_stream) : NULL;
    struct sim_group *group = *instance != NULL ? (*instance)->in_groups : NULL;
    while (group != NULL && group->gr_stream != stream.tg_handle)
        group = group->gr_next;
    if (group == NULL && *instance != NULL)
        sim_object_close(*instance);
    return group;
}

aclError sim_capture_update_end(struct sim_target stream)
{
    struct sim_instance *instance;
    SIM_TRY(sim_stream_refuse_captured(stream.tg_stream));
    struct sim_group *group = updated_by(stream, &instance);
    if (group == NULL)
        return refuse_status("the stream updates no task group, expected aclmdlRICaptureTaskUpdateBegin before");
    uint32_t updated = group->gr_updated, count = group->gr_count;
    group->gr_stream = 0;
    sim_capture_stream_let_go(stream.tg_stream);
    sim_object_close(instance);
    SIM_CHECK(updated == count, ACL_ERROR_RT_INTERNAL_ERROR,
              "%u kernels were launched for a group of %u, expected the same number; only the launched ones are "
              "updated", updated, count);
    return ACL_SUCCESS;
}

/* A new argument for one task of a group. */
struct update {
    struct sim_recorded up_recorded;
    void *up_argument; /* malloc'ed */
};

static void drop_update(void *argument)
{
    free(((struct update *)argument)->up_argument);
}

static void *take_argument(const void *before, void *state)
{
    struct update *update = state;
    void *argument = update->up_argument;
    (void)before;
    update->up_argument = NULL;
    return argument;
}

static aclError run_update(struct sim_run *run, void *argument)
{
    struct update *update = argument;
    (void)run;
    sim_capture_replace(&update->up_recorded, take_argument, update);
    drop_update(argument); /* not taken if the instance was destroyed before */
    return ACL_SUCCESS;
}

static const struct sim_op update_op = {.op_name = "aclmdlRICaptureTaskUpdateBegin", .op_run = run_update,
                                        .op_drop = drop_update, .op_flags = SIM_OP_LIGHT, .op_kind = SIM_TASK_OTHER};

/* The position of the group's next task, after checking that the new kernel matches it. */
static aclError match(struct sim_group *group, const struct sim_op *op, const void *argument,
                      struct sim_recorded *recorded)
{
    SIM_CHECK(op->op_kind <= SIM_TASK_VECTOR, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
              "the stream updates a task group, which accepts only kernels, not %s", op->op_name);
    SIM_CHECK(group->gr_updated < group->gr_count, ACL_ERROR_RT_INTERNAL_ERROR,
              "the group has %u tasks, all of which were updated already", group->gr_count);
    struct sim_point point = {group->gr_branch->br_index, group->gr_first + group->gr_updated};
    const struct sim_captured *task = sim_capture_instance_at(group->gr_instance, point);
    const struct sim_op *captured = task->ct_task.ta_op;
    SIM_CHECK(captured == op, ACL_ERROR_RT_INTERNAL_ERROR, "task %u of the group is %s, expected that kernel, not %s",
              group->gr_updated, captured->op_name, op->op_name);
    SIM_CHECK(sim_kernel_mode(op, argument) == sim_kernel_mode(op, sim_captured_argument(task)),
              ACL_ERROR_RT_INTERNAL_ERROR,
              "task %u of the group was launched with scheduling mode %u, expected the same one, not %u",
              group->gr_updated, sim_kernel_mode(op, sim_captured_argument(task)), sim_kernel_mode(op, argument));
    *recorded = (struct sim_recorded){sim_capture_instance_handle(group->gr_instance), point.pt_branch, point.pt_index};
    group->gr_updated++;
    return ACL_SUCCESS;
}

aclError sim_capture_group_update(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size,
                          void *site)
{
    struct sim_instance *instance;
    struct sim_group *group = updated_by(stream, &instance);
    if (group == NULL)
        return refuse_status("the update was ended by another thread during the call");
    struct update update = {.up_argument = NULL};
    aclError code = match(group, op, argument, &update.up_recorded);
    sim_object_close(instance);
    SIM_TRY(code);
    update.up_argument = malloc(size);
    SIM_CHECK(update.up_argument != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of arguments",
              size);
    memcpy(update.up_argument, argument, size);
    code = sim_engine_enqueue(stream, &update_op, &update, sizeof update, site, NULL);
    if (code != ACL_SUCCESS)
        drop_update(&update);
    return code;
}
