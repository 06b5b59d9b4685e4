/* Design notes
 *
 * This file provides conditions and the conditional tasks IF, WHILE and SWITCH.
 *
 * A condition belongs to an instance and owns eight bytes of device memory, which kernels and copies write. Its one
 * conditional task owns the bodies: instances that are captured separately and freed with the condition.
 *
 * The task is a step of the parent's plan and runs its bodies one at a time: it calls sim_capture_replay_walk inside
 * the parent's sim_capture_replay_walk, and parks through it. It is a heavy task, so that other branches of the parent
 * run at the same time: a WHILE may end because one of them writes its condition.
 *
 * Locks: the parent's lock guards the list of conditions and their bodies, which replays read without it because a
 * complete recording does not change them. A condition's own lock keeps its handle alive during a look-up. */
#include "address/memory.h"
#include "capture_inner.h"
#include <stdlib.h>

#define SLOT_BYTES 64 /* aclrtMalloc's size for eight bytes */
#define BODIES 1024   /* limit of a SWITCH */

struct sim_condition {
    struct sim_object cn_object;
    struct sim_instance *cn_instance;
    struct sim_condition *cn_next; /* of the same instance */
    uint64_t *cn_slot;             /* device memory */
    uint32_t cn_default;
    bool cn_assigns;               /* each replay begins with the default value */
    aclmdlRICondTaskType cn_type;
    struct sim_instance **cn_bodies; /* NULL without a conditional task */
    uint32_t cn_body_count;
};

struct sim_table sim_capture_conditions = SIM_OBJECT_TABLE(struct sim_condition, SIM_KIND_CONDITION);

static aclError create(struct sim_instance *instance, uint32_t value, uint32_t flag, aclmdlRICondHandle *handle)
{
    uint64_t number;
    void *slot;
    SIM_SUPPORTED(!instance->in_built, "modelRI is built without capture, expected one that is being captured");
    SIM_CHECK(sim_capture_instance_state(instance) == SIM_INSTANCE_CAPTURING, ACL_ERROR_RT_PARAM_INVALID,
              "modelRI is not being captured, expected an open capture");
    SIM_CHECK(flag <= ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %u, expected 0 or ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT (1)", flag);
    SIM_TRY(sim_memory_allocate(&slot, sizeof(uint64_t), SLOT_BYTES,
                                (struct sim_policy){.po_page = SIM_PAGE_NORMAL}));
    sim_memory_expose(slot);
    struct sim_condition *condition = sim_object_take(&sim_capture_conditions, &number);
    if (condition == NULL) {
        sim_memory_release(slot, NULL);
        return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no further condition can be made");
    }
    condition->cn_instance = instance;
    condition->cn_next = instance->in_conditions;
    condition->cn_slot = slot;
    condition->cn_default = value;
    condition->cn_assigns = flag == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    condition->cn_bodies = NULL;
    condition->cn_body_count = 0;
    *(uint64_t *)sim_memory_reach(slot) = 0;
    instance->in_conditions = condition;
    *handle = sim_object_publish(condition, number);
    return ACL_SUCCESS;
}

aclError sim_capture_condition_create(aclmdlRI handle, uint32_t value, uint32_t flag, aclmdlRICondHandle *condition)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = create(instance, value, flag, condition);
    sim_object_close(instance);
    return code;
}

static aclError open_condition(aclmdlRICondHandle handle, aclError code, struct sim_condition **condition)
{
    *condition = sim_object_peek(&sim_capture_conditions, handle);
    SIM_CHECK(*condition != NULL, code, "handle is %p, %s, expected a live condition", handle,
              sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_capture_condition_address(aclmdlRICondHandle handle, uint64_t **address)
{
    struct sim_condition *condition;
    SIM_TRY(open_condition(handle, ACL_ERROR_RT_INVALID_HANDLE, &condition));
    *address = condition->cn_slot;
    sim_object_close(condition);
    return ACL_SUCCESS;
}

/* ---- the task ---- */

struct branching {
    struct sim_condition *bg_condition;
    struct sim_instance *bg_body; /* being replayed, or NULL */
};

static struct sim_instance *choose(const struct sim_condition *condition)
{
    _Atomic uint64_t *slot = sim_memory_reach(condition->cn_slot);
    uint64_t value = atomic_load_explicit(slot, memory_order_acquire);
    uint64_t body = value;
    if (condition->cn_type == ACL_MODEL_RI_COND_TYPE_IF)
        body = value == 0;
    else if (condition->cn_type == ACL_MODEL_RI_COND_TYPE_WHILE)
        body = value != 0 ? 0 : UINT64_MAX;
    return body < condition->cn_body_count ? condition->cn_bodies[body] : NULL;
}

static aclError run_branching(struct sim_run *run, void *argument)
{
    struct branching *branching = argument;
    const struct sim_condition *condition = branching->bg_condition;
    for (;;) {
        if (branching->bg_body == NULL) {
            struct sim_instance *parent = condition->cn_instance, *body = choose(condition);
            if (body == NULL)
                return ACL_SUCCESS;
            sim_record holder = atomic_load_explicit(&parent->in_holder, memory_order_acquire);
            if (!sim_capture_replay_begin(body, NULL, holder, run))
                return SIM_PARK; /* helpers of a replay that was given up have not finished yet */
            body->in_caller = sim_thread.th_walker;
            sim_capture_replay_open(body);
            branching->bg_body = body;
        }
        aclError code = sim_capture_replay_walk(branching->bg_body, run);
        if (code == SIM_PARK)
            return code;
        sim_capture_replay_end(branching->bg_body);
        branching->bg_body = NULL;
        SIM_TRY(code);
        if (condition->cn_type != ACL_MODEL_RI_COND_TYPE_WHILE)
            return ACL_SUCCESS;
        if (sim_engine_is_dropped(run) || sim_capture_replay_is_skipping(condition->cn_instance))
            return SIM_DROPPED;
        if (!sim_worker_available()) { /* parks at a target already reached, so that other streams run in between */
            run->rn_gate = &condition->cn_instance->in_finished;
            run->rn_target = 0;
            run->rn_deadline = SIM_FOREVER;
            return SIM_PARK;
        }
    }
}

static void drop_branching(void *argument)
{
    struct branching *branching = argument;
    if (branching->bg_body != NULL)
        sim_capture_replay_give_up(branching->bg_body);
    branching->bg_body = NULL;
}

static aclError renew_branching(void *argument)
{
    ((struct branching *)argument)->bg_body = NULL;
    return ACL_SUCCESS;
}

static const struct sim_op branching_op = {.op_name = "aclmdlRIAddCondTask", .op_run = run_branching,
                                           .op_drop = drop_branching, .op_kind = SIM_TASK_CONDITION,
                                           .op_flags = SIM_OP_HEAVY, .op_renew = renew_branching};

static void free_bodies(struct sim_condition *condition)
{
    for (uint32_t i = 0; i < condition->cn_body_count; i++) {
        sim_lock(&condition->cn_bodies[i]->in_object.ob_lock);
        sim_capture_instance_let_go(condition->cn_bodies[i]);
        sim_capture_instance_free(condition->cn_bodies[i]);
    }
    free(condition->cn_bodies);
    condition->cn_bodies = NULL;
    condition->cn_body_count = 0;
}

static aclError make_bodies(struct sim_condition *condition, const aclmdlRICondTaskParams *parameters)
{
    struct sim_instance *parent = condition->cn_instance;
    condition->cn_bodies = calloc(parameters->size, sizeof *condition->cn_bodies);
    SIM_CHECK(condition->cn_bodies != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %u bodies",
              parameters->size);
    for (uint32_t i = 0; i < parameters->size; i++) {
        struct sim_instance *body;
        SIM_TRY(sim_capture_instance_create(parent->in_context, SIM_INSTANCE_EMPTY, ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
                                            &body));
        body->in_parent = parent;
        condition->cn_bodies[condition->cn_body_count++] = body;
        parameters->modelRIArray[i] = (aclmdlRI)(uintptr_t)sim_capture_instance_handle(body);
        sim_object_close(body);
    }
    return ACL_SUCCESS;
}

static aclError check_size(aclmdlRICondTaskType type, uint32_t size)
{
    uint32_t most = type == ACL_MODEL_RI_COND_TYPE_IF ? 2 : type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1 : BODIES;
    SIM_CHECK(size >= 1 && size <= most, ACL_ERROR_RT_PARAM_INVALID, "params.size is %u, expected 1 to %u bodies", size,
              most);
    return ACL_SUCCESS;
}

/* The instance is locked. */
static aclError add(struct sim_instance *instance, struct sim_branch *branch, const aclmdlRICondTaskParams *parameters,
                    void *site)
{
    struct sim_condition *condition;
    SIM_CHECK(sim_capture_instance_state(instance) == SIM_INSTANCE_CAPTURING, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
              "the capture was made invalid by an earlier failure, expected aclmdlRICaptureEnd");
    if (instance->in_open != NULL)
        SIM_TRY(sim_capture_group_admit(instance, branch, SIM_TASK_CONDITION));
    SIM_TRY(open_condition(parameters->handle, ACL_ERROR_RT_PARAM_INVALID, &condition));
    sim_object_close(condition); /* only its instance frees it, and that is locked */
    SIM_CHECK(condition->cn_instance == instance, ACL_ERROR_RT_PARAM_INVALID,
              "params.handle belongs to another modelRI than the stream is captured into");
    SIM_CHECK(condition->cn_bodies == NULL, ACL_ERROR_RT_PARAM_INVALID,
              "params.handle has a conditional task already, expected one task per condition");
    condition->cn_type = parameters->type;
    aclError code = make_bodies(condition, parameters);
    struct branching branching = {.bg_condition = condition};
    if (code == ACL_SUCCESS && sim_capture_branch_append(branch, &branching_op, SIM_TASK_CONDITION, &branching,
                                                 sizeof branching, site) == NULL)
        code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (code != ACL_SUCCESS)
        free_bodies(condition);
    return code;
}

aclError sim_capture_condition_add(const aclmdlRICondTaskParams *parameters, struct sim_target stream, void *site)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_capture(stream, &instance));
    aclError code = check_size(parameters->type, parameters->size);
    if (code == ACL_SUCCESS)
        code = add(instance, stream.tg_stream->st_branch, parameters, site);
    sim_object_close(instance);
    return code;
}

/* ---- calls from other files ---- */

bool sim_capture_condition_captures(const struct sim_instance *instance)
{
    for (const struct sim_condition *at = instance->in_conditions; at != NULL; at = at->cn_next)
        for (uint32_t i = 0; i < at->cn_body_count; i++)
            if (sim_capture_instance_is_capturing(at->cn_bodies[i]))
                return true;
    return false;
}

bool sim_capture_condition_rests(const struct sim_instance *instance, struct sim_run *run)
{
    for (const struct sim_condition *at = instance->in_conditions; at != NULL; at = at->cn_next)
        for (uint32_t i = 0; i < at->cn_body_count; i++)
            if (!sim_capture_replay_rests(at->cn_bodies[i], run) || !sim_capture_condition_rests(at->cn_bodies[i], run))
                return false;
    return true;
}

void sim_capture_condition_assign(const struct sim_instance *instance)
{
    for (const struct sim_condition *at = instance->in_conditions; at != NULL; at = at->cn_next) {
        if (at->cn_assigns)
            *(volatile uint64_t *)sim_memory_reach(at->cn_slot) = at->cn_default;
        for (uint32_t i = 0; i < at->cn_body_count; i++)
            sim_capture_condition_assign(at->cn_bodies[i]);
    }
}

uint32_t sim_capture_condition_flags(const struct sim_instance *instance)
{
    uint32_t flags = 0;
    for (const struct sim_condition *at = instance->in_conditions; at != NULL; at = at->cn_next)
        for (uint32_t i = 0; i < at->cn_body_count; i++) {
            struct sim_instance *body = at->cn_bodies[i];
            sim_lock(&body->in_run_lock);
            flags |= body->in_plan.pl_flags;
            sim_unlock(&body->in_run_lock);
            flags |= sim_capture_condition_flags(body);
        }
    return flags;
}

void sim_capture_condition_free_all(struct sim_instance *instance)
{
    for (struct sim_condition *condition; (condition = instance->in_conditions) != NULL;) {
        instance->in_conditions = condition->cn_next;
        sim_lock(&condition->cn_object.ob_lock);
        void *slot = condition->cn_slot;
        free_bodies(condition);
        sim_object_end(&sim_capture_conditions, condition);
        sim_memory_release(slot, NULL);
    }
}
