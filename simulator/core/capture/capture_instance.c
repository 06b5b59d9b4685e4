/* Design notes
 *
 * This file creates, finds and frees instances, takes streams over and releases them, and stores recorded tasks.
 *
 * A context owns its instances. The memory of an instance is only reused for instances; freeing first invalidates the
 * handle under the object's lock, so that later look-ups fail. A stream that is taken over names its instance by handle
 * (st_owner).
 *
 * Locks: cx_lock guards the context's list of instances. The instance's lock guards the recording and st_branch.
 * st_owner is written under the stream's lock, inside the instance's; a submission reads it without a lock, opens the
 * instance, and checks st_owner again. Lock order: instance, then stream or context, then their leaves. */
#include "base/config.h"
#include "base/site.h"
#include "base/watcher.h"
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

struct sim_table sim_capture_instances = SIM_OBJECT_TABLE(struct sim_instance, SIM_KIND_INSTANCE);

aclError sim_capture_instance_open(aclmdlRI handle, struct sim_instance **instance)
{
    *instance = sim_object_peek(&sim_capture_instances, handle);
    SIM_CHECK(*instance != NULL, ACL_ERROR_RT_INVALID_HANDLE,
              "modelRI is %p, %s, expected a live model running instance", handle, sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_capture_instance_open_own(aclmdlRI handle, struct sim_instance **instance)
{
    struct sim_context *context;
    SIM_TRY(sim_runtime_pass()); /* before any lock is taken */
    SIM_TRY(sim_capture_instance_open(handle, instance));
    aclError code = sim_context_current(&context);
    if (code == ACL_SUCCESS && (*instance)->in_context != context)
        code = sim_fail(ACL_ERROR_RT_MODEL_CONTEXT,
                        "modelRI %p belongs to another context than %p, which is current on this thread", handle,
                        (void *)(uintptr_t)sim_thread.th_bound);
    if (code != ACL_SUCCESS)
        sim_object_close(*instance);
    return code;
}

static void link_instance(struct sim_context *context, struct sim_instance *instance)
{
    sim_lock(&context->cx_lock);
    instance->in_before = NULL;
    instance->in_after = context->cx_instances;
    if (context->cx_instances != NULL)
        context->cx_instances->in_before = instance;
    context->cx_instances = instance;
    sim_unlock(&context->cx_lock);
}

static void unlink_instance(struct sim_instance *instance)
{
    struct sim_context *context = instance->in_context;
    sim_lock(&context->cx_lock);
    if (instance->in_before != NULL)
        instance->in_before->in_after = instance->in_after;
    else
        context->cx_instances = instance->in_after;
    if (instance->in_after != NULL)
        instance->in_after->in_before = instance->in_before;
    sim_unlock(&context->cx_lock);
}

aclError sim_capture_instance_create(struct sim_context *context, enum sim_instance_state state,
                                     aclmdlRICaptureMode mode, struct sim_instance **instance)
{
    uint64_t handle;
    struct sim_instance *fresh = sim_object_take(&sim_capture_instances, &handle);
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_NO_MODEL_RESOURCE, "no further model running instance can be made");
    memset(&fresh->in_context, 0,
           offsetof(struct sim_instance, in_run_lock) - offsetof(struct sim_instance, in_context));
    atomic_store_explicit(&fresh->in_state, state, memory_order_relaxed);
    atomic_store_explicit(&fresh->in_mode, mode, memory_order_relaxed);
    atomic_store_explicit(&fresh->in_thread, sim_thread_number(), memory_order_relaxed);
    fresh->in_submitted = sim_gate_level(&fresh->in_finished); /* in_finished also counted replays of bodies */
    fresh->in_context = context;
    fresh->in_built = state == SIM_INSTANCE_BUILDING;
    link_instance(context, fresh);
    atomic_store_explicit(&fresh->in_object.ob_slot.sl_handle, handle, memory_order_release);
    *instance = fresh;
    return ACL_SUCCESS;
}

static void destroy_stream(struct sim_target stream)
{
    if (stream.tg_stream != NULL)
        sim_stream_destroy(stream, true);
}

void sim_capture_branch_clear(struct sim_branch *branch)
{
    for (uint32_t i = 0; i < branch->br_count; i++) {
        struct sim_task *task = &branch->br_tasks[i].ct_task;
        sim_capture_task_handle_free(&branch->br_tasks[i]);
        if (task->ta_op->op_drop != NULL)
            task->ta_op->op_drop(sim_task_argument(task));
        free(task->ta_ext);
        sim_capture_notes_free(branch->br_tasks[i].ct_notes);
    }
    free(branch->br_tasks);
    branch->br_tasks = NULL;
    branch->br_count = branch->br_room = 0;
}

void sim_capture_instance_clear(struct sim_instance *instance)
{
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        destroy_stream(instance->in_branches[i]->br_stream); /* and the helper tasks that are still queued on it */
    for (struct sim_external *external; (external = instance->in_externals) != NULL;) {
        instance->in_externals = external->xt_next;
        destroy_stream(external->xt_stream);
        free(external);
    }
    sim_capture_plan_free(instance);
    sim_capture_group_free_all(instance);
    sim_capture_condition_free_all(instance);
    sim_capture_replay_retire(instance, NULL);
    for (uint32_t i = 0; i < instance->in_branch_count; i++) {
        sim_capture_branch_clear(instance->in_branches[i]);
        free(instance->in_branches[i]);
    }
    free(instance->in_branches);
    instance->in_branches = NULL;
    instance->in_branch_count = instance->in_unresolved = instance->in_external_waits = instance->in_shadows = 0;
}

void sim_capture_instance_stop_capture(struct sim_instance *instance, enum sim_instance_state state)
{
    if (sim_capture_instance_is_capturing(instance)) {
        atomic_fetch_sub_explicit(&instance->in_context->cx_captures, 1, memory_order_relaxed);
        if (sim_watcher_any())
            sim_watcher_capture(sim_capture_instance_handle(instance), NULL);
    }
    atomic_store_explicit(&instance->in_state, state, memory_order_release);
}

void sim_capture_instance_free(struct sim_instance *instance)
{
    sim_capture_instance_stop_capture(instance, SIM_INSTANCE_EMPTY);
    atomic_store_explicit(&instance->in_object.ob_slot.sl_handle, 0, memory_order_relaxed);
    sim_unlock(&instance->in_object.ob_lock); /* with a dead handle no other thread can find it any more */
    unlink_instance(instance);
    destroy_stream(instance->in_launch); /* and the executions that are still queued on it */
    sim_capture_instance_clear(instance);
    for (struct sim_callback_link *link; (link = instance->in_callbacks) != NULL;) {
        instance->in_callbacks = link->cb_next;
        free(link);
    }
    free(instance->in_name);
    sim_table_give(&sim_capture_instances, instance);
}

/* ---- branches ---- */

/* Takes the stream over, unless another instance has it, or it was destroyed meanwhile. */
static aclError take_over(struct sim_branch *branch, struct sim_target target, enum sim_taken taken)
{
    struct sim_stream *stream = target.tg_stream;
    sim_lock(&stream->st_gate.gt_lock);
    bool live = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle;
    enum sim_taken before = sim_stream_taken(stream);
    if (live && before == SIM_TAKEN_NOT) {
        atomic_store_explicit(&stream->st_taken, taken, memory_order_relaxed);
        atomic_store_explicit(&stream->st_owner, sim_capture_instance_handle(branch->br_instance),
                              memory_order_release);
    }
    sim_unlock(&stream->st_gate.gt_lock);
    SIM_CHECK(live, ACL_ERROR_RT_INVALID_HANDLE, "stream %#llx was destroyed by another thread during the call",
              (unsigned long long)target.tg_handle);
    return sim_stream_refuse_taken(stream, before);
}

aclError sim_capture_instance_adopt(struct sim_instance *instance, struct sim_target stream, enum sim_taken taken,
                            struct sim_branch **branch)
{
    uint32_t count = instance->in_branch_count;
    aclrtStream own = NULL;
    struct sim_branch **branches = realloc(instance->in_branches, (count + 1) * sizeof *branches);
    instance->in_branches = branches != NULL ? branches : instance->in_branches;
    struct sim_branch *fresh = branches != NULL ? calloc(1, sizeof *fresh) : NULL;
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory to record a stream");
    aclError code = sim_stream_create(instance->in_context, 0, 0, SIM_STREAM_INSTANCE, &own);
    if (code == ACL_SUCCESS) {
        *fresh = (struct sim_branch){.br_instance = instance, .br_user = stream, .br_index = count, .br_head = true};
        fresh->br_stream = (struct sim_target){sim_table_find(&sim_streams, own), (uint64_t)(uintptr_t)own};
        code = take_over(fresh, stream, taken);
        if (code != ACL_SUCCESS)
            destroy_stream(fresh->br_stream);
    }
    if (code != ACL_SUCCESS) {
        free(fresh);
        return code;
    }
    fresh->br_stream.tg_stream->st_branch = fresh;
    atomic_store_explicit(&fresh->br_stream.tg_stream->st_owner, sim_capture_instance_handle(instance),
                          memory_order_release);
    stream.tg_stream->st_branch = fresh;
    instance->in_branches[count] = fresh;
    instance->in_branch_count = count + 1;
    *branch = fresh;
    return ACL_SUCCESS;
}

void sim_capture_stream_let_go(struct sim_stream *stream)
{
    sim_lock(&stream->st_gate.gt_lock);
    stream->st_branch = NULL;
    atomic_store_explicit(&stream->st_taken, SIM_TAKEN_NOT, memory_order_relaxed);
    atomic_store_explicit(&stream->st_owner, sim_stream_free_owner(stream->st_flags), memory_order_release);
    sim_unlock(&stream->st_gate.gt_lock);
}

void sim_capture_instance_let_go(struct sim_instance *instance)
{
    for (uint32_t i = 0; i < instance->in_branch_count; i++) {
        struct sim_target *user = &instance->in_branches[i]->br_user;
        if (user->tg_stream != NULL)
            sim_capture_stream_let_go(user->tg_stream);
        *user = (struct sim_target){NULL, 0};
    }
    sim_capture_group_let_go(instance);
}

struct sim_instance *sim_capture_instance_of(struct sim_stream *stream)
{
    uint64_t owner = atomic_load_explicit(&stream->st_owner, memory_order_acquire);
    struct sim_instance *instance = sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)owner);
    if (instance == NULL)
        return NULL;
    if (atomic_load_explicit(&stream->st_owner, memory_order_relaxed) == owner)
        return instance;
    sim_object_close(instance);
    return NULL;
}

aclError sim_capture_instance_open_capture(struct sim_target stream, struct sim_instance **instance)
{
    bool captures = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_CAPTURES;
    *instance = captures ? sim_capture_instance_of(stream.tg_stream) : NULL;
    SIM_CHECK(*instance != NULL, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
              "the stream is not being captured, expected aclmdlRICaptureBegin before");
    return ACL_SUCCESS;
}

/* ---- tasks ---- */

static bool has_room(struct sim_branch *branch)
{
    if (likely(branch->br_count < branch->br_room))
        return true;
    uint32_t room = branch->br_room == 0 ? 64 : 2 * branch->br_room;
    struct sim_captured *tasks = realloc(branch->br_tasks, (size_t)room * sizeof *tasks);
    if (tasks == NULL)
        return false;
    branch->br_tasks = tasks;
    branch->br_room = room;
    return true;
}

struct sim_captured *sim_capture_branch_append(struct sim_branch *branch, const struct sim_op *op,
                                               enum sim_task_kind kind, const void *argument, size_t size, void *site)
{
    void *ext = unlikely(size > SIM_TASK_BYTES) ? malloc(size) : NULL;
    if (unlikely((size > SIM_TASK_BYTES && ext == NULL) || !has_room(branch))) {
        free(ext);
        sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory to record a task");
        return NULL;
    }
    struct sim_captured *captured = &branch->br_tasks[branch->br_count];
    captured->ct_task.ta_op = op;
    captured->ct_task.ta_ext = ext;
    captured->ct_task.ta_is_long = ext != NULL;
    captured->ct_size = ext != NULL ? 0 : (uint8_t)size;
    captured->ct_task.ta_site = sim_watcher_any() ? sim_site_with_line(site) : site;
    captured->ct_task.ta_thread = sim_thread_number();
    memcpy(ext != NULL ? ext : captured->ct_task.ta_argument, argument, size);
    captured->ct_from = (struct sim_point){SIM_NO_BRANCH, 0};
    captured->ct_event = captured->ct_handle = 0;
    captured->ct_shadow = 0;
    captured->ct_waited = captured->ct_disabled = false;
    captured->ct_in_built = branch->br_instance->in_built;
    captured->ct_kind = kind;
    captured->ct_group = NULL;
    captured->ct_step = NULL;
    captured->ct_notes = NULL;
    branch->br_count++;
    return captured;
}

/* ---- closing a context ---- */

void sim_capture_release(struct sim_stream *stream)
{
    struct sim_instance *instance = sim_stream_taken(stream) != SIM_TAKEN_NOT ? sim_capture_instance_of(stream) : NULL;
    if (instance == NULL)
        return;
    if (sim_capture_instance_is_capturing(instance) && instance->in_parent == NULL) {
        sim_capture_instance_let_go(instance);
        sim_capture_instance_free(instance);
        return;
    }
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        if (instance->in_branches[i]->br_user.tg_stream == stream)
            instance->in_branches[i]->br_user.tg_stream = NULL;
    sim_capture_stream_let_go(stream);
    sim_object_close(instance);
}

/* Any instance of the context, locked. Bodies of conditions are left out: their parents free them. */
static struct sim_instance *find_any(struct sim_context *context)
{
    sim_lock(&context->cx_lock);
    struct sim_instance *instance = context->cx_instances;
    while (instance != NULL && (sim_capture_instance_handle(instance) == 0 || instance->in_parent != NULL))
        instance = instance->in_after;
    uint64_t handle = instance != NULL ? sim_capture_instance_handle(instance) : 0;
    sim_unlock(&context->cx_lock);
    return handle != 0 ? sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)handle) : NULL;
}

void sim_capture_close(struct sim_context *context)
{
    for (struct sim_instance *instance; (instance = find_any(context)) != NULL;) {
        sim_capture_instance_let_go(instance);
        sim_capture_instance_free(instance);
    }
}

/* ---- destroy callbacks ---- */

static aclError add_callback(struct sim_instance *instance, aclrtCallback function, void *user)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "modelRI is a body of a conditional task, which destroys it");
    for (struct sim_callback_link *at = instance->in_callbacks; at != NULL; at = at->cb_next)
        SIM_CHECK(at->cb_function != function, ACL_ERROR_RT_PARAM_INVALID,
                  "func is registered already, expected a function once for each instance");
    struct sim_callback_link *link = malloc(sizeof *link);
    SIM_CHECK(link != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a callback");
    *link = (struct sim_callback_link){instance->in_callbacks, function, user};
    instance->in_callbacks = link;
    return ACL_SUCCESS;
}

aclError sim_capture_add_callback(aclmdlRI handle, aclrtCallback function, void *user)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    aclError code = add_callback(instance, function, user);
    sim_object_close(instance);
    return code;
}

aclError sim_capture_remove_callback(aclmdlRI handle, aclrtCallback function)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    bool is_body = instance->in_parent != NULL;
    struct sim_callback_link **link = &instance->in_callbacks;
    while (*link != NULL && (*link)->cb_function != function)
        link = &(*link)->cb_next;
    struct sim_callback_link *found = *link;
    if (found != NULL)
        *link = found->cb_next;
    sim_object_close(instance);
    free(found);
    SIM_SUPPORTED(!is_body, "modelRI is a body of a conditional task, which destroys it");
    SIM_CHECK(found != NULL, ACL_ERROR_RT_PARAM_INVALID, "func is not registered, expected one that is");
    return ACL_SUCCESS;
}

/* ---- forks ---- */

int sim_capture_open(void)
{
    return sim_table_open(&sim_capture_instances);
}

void sim_capture_after_fork(void)
{
    sim_table_empty(&sim_capture_instances);
    sim_table_empty(&sim_capture_groups);
    sim_table_empty(&sim_capture_task_handles);
    sim_table_empty(&sim_capture_conditions);
    sim_thread.th_capture_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
}
