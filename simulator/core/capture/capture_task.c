/* This file reads the properties of instances, and reads and changes their single tasks.
 *
 * Listed streams are the instance's own. A task handle is created when a program first lists the task, and belongs to
 * the instance. The instance's lock guards its tasks; a task handle's own lock keeps it alive during a look-up. */
#include "kernel/kernel.h"
#include "operator/row.h"
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512

struct task_handle {
    struct sim_object th_object;
    struct sim_instance *th_instance;
    struct sim_point th_point;
    void *th_shown; /* the memory that the pointers returned by aclmdlRITaskGetParams refer to */
};

struct sim_table sim_capture_task_handles = SIM_OBJECT_TABLE(struct task_handle, SIM_KIND_TASK);

/* ---- names and numbers ---- */

aclError sim_capture_set_name(aclmdlRI handle, const char *name)
{
    struct sim_instance *instance;
    size_t length = strnlen(name, NAME_BYTES + 1);
    SIM_CHECK(length <= NAME_BYTES, ACL_ERROR_RT_PARAM_INVALID, "name is longer than %d bytes", NAME_BYTES);
    char *copy = strdup(name);
    SIM_CHECK(copy != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a name");
    aclError code = sim_capture_instance_open(handle, &instance);
    if (code != ACL_SUCCESS) {
        free(copy);
        return code;
    }
    free(instance->in_name);
    instance->in_name = copy;
    sim_object_close(instance);
    return ACL_SUCCESS;
}

aclError sim_capture_get_name(aclmdlRI handle, uint32_t length, char *name)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    const char *found = instance->in_name != NULL ? instance->in_name : "";
    size_t count = strnlen(found, length - 1);
    memcpy(name, found, count);
    name[count] = '\0';
    sim_object_close(instance);
    return ACL_SUCCESS;
}

aclError sim_capture_get_id(aclmdlRI handle, uint32_t *id)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    *id = instance->in_object.ob_slot.sl_index;
    sim_object_close(instance);
    return ACL_SUCCESS;
}

/* ---- lists ---- */

/* The two-call pattern: a call without an array returns the count alone. */
static aclError check_room(bool asks, uint32_t count, uint32_t *room)
{
    SIM_CHECK(asks || *room >= count, ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
              "the array has room for %u, expected at least %u", *room, count);
    *room = count;
    return ACL_SUCCESS;
}

static aclError list_streams(const struct sim_instance *instance, aclrtStream *streams, uint32_t *count)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "modelRI is a body of a conditional task");
    SIM_TRY(check_room(streams == NULL, instance->in_branch_count, count));
    for (uint32_t i = 0; streams != NULL && i < instance->in_branch_count; i++)
        streams[i] = (aclrtStream)(uintptr_t)instance->in_branches[i]->br_stream.tg_handle;
    return ACL_SUCCESS;
}

aclError sim_capture_get_streams(aclmdlRI handle, aclrtStream *streams, uint32_t *count)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    aclError code = list_streams(instance, streams, count);
    sim_object_close(instance);
    return code;
}

static aclError make_handle(struct sim_branch *branch, uint32_t index)
{
    uint64_t value;
    struct sim_captured *captured = &branch->br_tasks[index];
    if (captured->ct_handle != 0)
        return ACL_SUCCESS;
    struct task_handle *task = sim_object_take(&sim_capture_task_handles, &value);
    SIM_CHECK(task != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no further task can be named");
    task->th_instance = branch->br_instance;
    task->th_point = (struct sim_point){branch->br_index, index};
    task->th_shown = NULL;
    captured->ct_handle = value;
    sim_object_publish(task, value);
    return ACL_SUCCESS;
}

static aclError list_tasks(struct sim_branch *branch, aclmdlRITask *tasks, uint32_t *count)
{
    SIM_TRY(check_room(tasks == NULL, branch->br_count, count));
    for (uint32_t i = 0; tasks != NULL && i < branch->br_count; i++) {
        SIM_TRY(make_handle(branch, i));
        tasks[i] = (aclmdlRITask)(uintptr_t)branch->br_tasks[i].ct_handle;
    }
    return ACL_SUCCESS;
}

aclError sim_capture_get_tasks(aclrtStream handle, aclmdlRITask *tasks, uint32_t *count)
{
    struct sim_target stream;
    SIM_TRY(sim_stream_find(handle, &stream));
    struct sim_instance *instance = sim_capture_instance_of(stream.tg_stream);
    struct sim_branch *branch = instance != NULL ? stream.tg_stream->st_branch : NULL;
    aclError code = ACL_SUCCESS;
    if (branch != NULL)
        code = list_tasks(branch, tasks, count);
    if (instance != NULL)
        sim_object_close(instance);
    SIM_CHECK(branch != NULL, ACL_ERROR_RT_PARAM_INVALID,
              "stream does not belong to a model running instance, expected one of aclmdlRIGetStreams");
    return code;
}

void sim_capture_task_handle_free(const struct sim_captured *captured)
{
    struct task_handle *task = sim_object_peek(&sim_capture_task_handles, (void *)(uintptr_t)captured->ct_handle);
    if (task == NULL)
        return;
    free(task->th_shown);
    sim_object_end(&sim_capture_task_handles, task);
}

/* ---- single tasks ---- */

/* Finds the task and locks its instance, which alone frees the handle's slot. */
static aclError open_task(aclmdlRITask handle, struct task_handle **task, struct sim_captured **captured)
{
    uint64_t owner = 0;
    *task = sim_object_peek(&sim_capture_task_handles, handle);
    if (*task != NULL) {
        owner = sim_capture_instance_handle((*task)->th_instance);
        sim_object_close(*task);
    }
    struct sim_instance *instance =
        owner != 0 ? sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)owner) : NULL;
    SIM_CHECK(instance != NULL, ACL_ERROR_RT_INVALID_HANDLE, "task is %p, %s, expected a live task", handle,
              sim_handle_describe(handle));
    *captured = sim_capture_instance_at(instance, (*task)->th_point);
    return ACL_SUCCESS;
}

static aclmdlRITaskType type_of(enum sim_task_kind kind)
{
    switch (kind) {
    case SIM_TASK_CUBE:
    case SIM_TASK_VECTOR:
    case SIM_TASK_HOST_KERNEL:
        return ACL_MODEL_RI_TASK_KERNEL;
    case SIM_TASK_RECORD:
    case SIM_TASK_FLAG_RECORD:
    case SIM_TASK_EXTERNAL_RECORD:
        return ACL_MODEL_RI_TASK_EVENT_RECORD;
    case SIM_TASK_WAIT:
    case SIM_TASK_FLAG_WAIT:
    case SIM_TASK_EXTERNAL_WAIT:
        return ACL_MODEL_RI_TASK_EVENT_WAIT;
    case SIM_TASK_RESET:
        return ACL_MODEL_RI_TASK_EVENT_RESET;
    case SIM_TASK_VALUE_WRITE:
        return ACL_MODEL_RI_TASK_VALUE_WRITE;
    case SIM_TASK_VALUE_WAIT:
        return ACL_MODEL_RI_TASK_VALUE_WAIT;
    default:
        return ACL_MODEL_RI_TASK_DEFAULT;
    }
}

aclError sim_capture_task_type(aclmdlRITask handle, aclmdlRITaskType *type)
{
    struct task_handle *task;
    struct sim_captured *captured;
    SIM_TRY(open_task(handle, &task, &captured));
    *type = type_of(captured->ct_kind);
    sim_object_close(task->th_instance);
    return ACL_SUCCESS;
}

aclError sim_capture_task_number(aclmdlRITask handle, uint32_t *number)
{
    struct task_handle *task;
    struct sim_captured *captured;
    SIM_TRY(open_task(handle, &task, &captured));
    *number = task->th_point.pt_index;
    sim_object_close(task->th_instance);
    return ACL_SUCCESS;
}

const void *sim_captured_argument(const struct sim_captured *captured)
{
    const struct sim_task *task = &captured->ct_task;
    return task->ta_ext != NULL ? task->ta_ext : (const void *)task->ta_argument;
}

const struct sim_range *sim_captured_ranges(const struct sim_captured *captured, size_t *count)
{
    const struct sim_op *op = captured->ct_task.ta_op;
    const struct sim_range *ranges = sim_task_ranges(op, sim_captured_argument(captured), count);
    return *count == 0 && op->op_ranges == NULL ? NULL : ranges;
}

/* Allocates the memory for returned pointers, which is valid until the next call for the task. */
static aclError take_shown(struct task_handle *task, size_t size)
{
    void *shown = realloc(task->th_shown, size);
    SIM_CHECK(shown != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the arguments of a kernel");
    task->th_shown = shown;
    return ACL_SUCCESS;
}

/* Copies the launch's attributes and, if they are in host memory, its arguments. */
static aclError show_launch(struct task_handle *task, const struct sim_kernel_view *view,
                            aclmdlRIKernelTaskParams *kernel)
{
    size_t args = view->kv_is_host ? (view->kv_args_size + 7) / 8 * 8 : 0;
    size_t attributes = view->kv_attribute_count * sizeof *view->kv_attributes;
    SIM_TRY(take_shown(task, sizeof *kernel->cfg + args + attributes + 1));
    kernel->funcHandle = (aclrtFuncHandle)(uintptr_t)view->kv_function;
    kernel->numBlocks = view->kv_blocks;
    kernel->isHostArgs = view->kv_is_host;
    kernel->argsSize = view->kv_args_size;
    kernel->args = (void *)(uintptr_t)view->kv_args;
    unsigned char *shown = (unsigned char *)task->th_shown + sizeof *kernel->cfg;
    if (view->kv_is_host)
        kernel->args = memcpy(shown, view->kv_args, view->kv_args_size);
    if (attributes == 0)
        return ACL_SUCCESS;
    kernel->cfg = task->th_shown;
    *kernel->cfg =
        (aclrtLaunchKernelCfg){memcpy(shown + args, view->kv_attributes, attributes), view->kv_attribute_count};
    return ACL_SUCCESS;
}

/* Other kernels show the addresses that they touch, in order, as their arguments. */
static aclError show_kernel(struct task_handle *task, const struct sim_captured *captured,
                            aclmdlRIKernelTaskParams *kernel)
{
    size_t count;
    struct sim_kernel_view view;
    if (sim_kernel_view(captured->ct_task.ta_op, sim_captured_argument(captured), &view))
        return show_launch(task, &view, kernel);
    const struct sim_range *ranges = sim_captured_ranges(captured, &count);
    SIM_TRY(take_shown(task, (count + 1) * sizeof(uint64_t)));
    uint64_t *words = task->th_shown;
    for (size_t i = 0; i < count; i++)
        words[i] = (uint64_t)(uintptr_t)ranges[i].rg_address;
    kernel->args = words;
    kernel->isHostArgs = 1;
    kernel->argsSize = count * sizeof *words;
    kernel->numBlocks = 1;
    return ACL_SUCCESS;
}

static bool is_value(aclmdlRITaskType type)
{
    return type == ACL_MODEL_RI_TASK_VALUE_WRITE || type == ACL_MODEL_RI_TASK_VALUE_WAIT;
}

static aclError show_value(const struct sim_captured *captured, aclmdlRITaskParams *parameters)
{
    const struct sim_task_value *value = (const void *)captured->ct_task.ta_argument;
    /* The members of a value write are the first members of a value wait, which adds the flag. */
    parameters->valueWaitTaskParams = (aclmdlRIValueWaitTaskParams){
        (void *)(uintptr_t)value->vl_range.rg_address, value->vl_value, value->vl_flag};
    return ACL_SUCCESS;
}

static aclError show(struct task_handle *task, const struct sim_captured *captured, aclmdlRITaskParams *parameters)
{
    aclmdlRITaskType type = type_of(captured->ct_kind);
    SIM_CHECK(type != ACL_MODEL_RI_TASK_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
              "the task is %s, which has no parameters to return", captured->ct_task.ta_op->op_name);
    memset(parameters, 0, sizeof *parameters);
    parameters->type = type;
    if (captured->ct_notes != NULL) {
        parameters->opInfoPtr = captured->ct_notes->no_info;
        parameters->opInfoSize = captured->ct_notes->no_size;
    }
    if (captured->ct_group != NULL)
        parameters->taskGrp = (aclrtTaskGrp)(uintptr_t)atomic_load_explicit(
            &captured->ct_group->gr_object.ob_slot.sl_handle, memory_order_relaxed);
    if (type == ACL_MODEL_RI_TASK_KERNEL)
        return show_kernel(task, captured, &parameters->kernelTaskParams);
    if (is_value(type))
        return show_value(captured, parameters);
    bool external = captured->ct_kind == SIM_TASK_EXTERNAL_RECORD || captured->ct_kind == SIM_TASK_EXTERNAL_WAIT;
    const struct sim_event *event = sim_table_find(&sim_events, (void *)(uintptr_t)captured->ct_event);
    /* The structures for event records, waits and resets have the same layout. */
    parameters->eventRecordTaskParams = (aclmdlRIEventRecordTaskParams){
        (aclrtEvent)(uintptr_t)captured->ct_event, event != NULL ? event->ev_flags : 0, external};
    return ACL_SUCCESS;
}

aclError sim_capture_task_get(aclmdlRITask handle, aclmdlRITaskParams *parameters)
{
    struct task_handle *task;
    struct sim_captured *captured;
    SIM_TRY(open_task(handle, &task, &captured));
    aclError code = show(task, captured, parameters);
    sim_object_close(task->th_instance);
    return code;
}

/* An attribute that the launch did not set has its default, zero. */
aclError sim_capture_task_attribute(aclmdlRITask handle, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *value)
{
    struct task_handle *task;
    struct sim_captured *captured;
    struct sim_kernel_view view;
    const aclrtLaunchKernelAttrValue *found = NULL;
    SIM_TRY(open_task(handle, &task, &captured));
    aclmdlRITaskType type = type_of(captured->ct_kind);
    if (sim_kernel_view(captured->ct_task.ta_op, sim_captured_argument(captured), &view))
        found = sim_kernel_attribute(view.kv_attributes, view.kv_attribute_count, id);
    memset(value, 0, sizeof *value);
    if (found != NULL)
        *value = *found;
    sim_object_close(task->th_instance);
    SIM_CHECK(type == ACL_MODEL_RI_TASK_KERNEL, ACL_ERROR_RT_PARAM_INVALID, "the task is of type %d, expected a kernel",
              type);
    return ACL_SUCCESS;
}

/* ---- changes ---- */

static aclError check_change(struct sim_instance *instance, const struct sim_captured *captured,
                             const aclmdlRITaskParams *parameters)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "the task belongs to a body of a conditional task");
    bool runs = !sim_gate_passed(&instance->in_finished, instance->in_submitted);
    enum sim_instance_state state = sim_capture_instance_state(instance);
    SIM_CHECK(!runs && (state == SIM_INSTANCE_READY || state == SIM_INSTANCE_UPDATING),
              ACL_ERROR_RT_MODEL_UPDATE_FAILED,
              "the task's instance %s, expected one that is complete and does not run",
              runs ? "runs" : "is still being captured or built");
    aclmdlRITaskType type = type_of(captured->ct_kind);
    SIM_CHECK(type == ACL_MODEL_RI_TASK_KERNEL || is_value(type), ACL_ERROR_RT_PARAM_INVALID,
              "the task is %s, expected a kernel, a value write or a value wait: changing another task would change "
              "the order of tasks",
              captured->ct_task.ta_op->op_name);
    SIM_CHECK(parameters == NULL || parameters->type == type, ACL_ERROR_RT_PARAM_INVALID,
              "params.type is %d, expected %d, the task's own", parameters->type, type);
    return ACL_SUCCESS;
}

static aclError change_value(struct sim_captured *captured, const aclmdlRIValueWaitTaskParams *wanted)
{
    struct sim_task_value value;
    bool waits = captured->ct_kind == SIM_TASK_VALUE_WAIT;
    SIM_TRY(sim_task_value_make(wanted->devAddr, wanted->value, waits ? wanted->flag : 0, waits ? SIM_VALUE_FLAGS : 1,
                                &value));
    memcpy(captured->ct_task.ta_argument, &value, sizeof value);
    return ACL_SUCCESS;
}

static bool is_launch(const struct sim_captured *captured)
{
    struct sim_kernel_view view;
    return sim_kernel_view(captured->ct_task.ta_op, sim_captured_argument(captured), &view);
}

static aclError move(struct sim_captured *captured, const aclmdlRITaskParams *parameters)
{
    size_t count;
    void *argument = sim_task_argument(&captured->ct_task);
    const aclmdlRIKernelTaskParams *kernel = &parameters->kernelTaskParams;
    sim_captured_ranges(captured, &count);
    if (is_value(parameters->type))
        return change_value(captured, &parameters->valueWaitTaskParams);
    SIM_SUPPORTED(captured->ct_task.ta_op->op_run == sim_row_run, "the arguments of %s cannot be changed",
                  captured->ct_task.ta_op->op_name);
    SIM_CHECK(kernel->args != NULL && kernel->isHostArgs == 1 && kernel->argsSize == count * sizeof(uint64_t),
              ACL_ERROR_RT_PARAM_INVALID,
              "args is %p, isHostArgs %u and argsSize %zu, expected host memory with %zu addresses, as "
              "aclmdlRITaskGetParams returned them",
              kernel->args, kernel->isHostArgs, kernel->argsSize, count);
    return sim_row_move(argument, kernel->args);
}

/* Changed arguments of a launch touch other memory, and only the kernel's implementation, user code, knows which. It
 * must be called without a lock, so a copy of the launch is changed and later replaces the launch. *copy is NULL for
 * other tasks and without parameters. */
static aclError prepare(aclmdlRITask handle, const aclmdlRITaskParams *parameters, void **copy)
{
    struct task_handle *task;
    struct sim_captured *captured;
    *copy = NULL;
    SIM_TRY(open_task(handle, &task, &captured));
    aclError code = check_change(task->th_instance, captured, parameters);
    bool copies = code == ACL_SUCCESS && parameters != NULL && is_launch(captured);
    if (copies)
        *copy = sim_kernel_copy(sim_captured_argument(captured));
    sim_object_close(task->th_instance);
    SIM_TRY(code);
    SIM_CHECK(!copies || *copy != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the arguments of a kernel");
    if (!copies || (code = sim_kernel_change(*copy, &parameters->kernelTaskParams)) == ACL_SUCCESS)
        return ACL_SUCCESS;
    free(*copy);
    return code;
}

static aclError change(struct sim_instance *instance, struct sim_captured *captured,
                       const aclmdlRITaskParams *parameters, void *copy)
{
    SIM_TRY(check_change(instance, captured, parameters));
    if (copy != NULL)
        sim_captured_replace(instance, captured, copy);
    else if (parameters != NULL)
        SIM_TRY(move(captured, parameters));
    else
        captured->ct_disabled = true;
    atomic_store_explicit(&instance->in_state, SIM_INSTANCE_UPDATING, memory_order_release);
    return ACL_SUCCESS;
}

aclError sim_capture_task_set(aclmdlRITask handle, const aclmdlRITaskParams *parameters)
{
    struct task_handle *task;
    struct sim_captured *captured;
    void *copy;
    SIM_TRY(prepare(handle, parameters, &copy));
    aclError code = open_task(handle, &task, &captured);
    if (code == ACL_SUCCESS) {
        code = change(task->th_instance, captured, parameters, copy);
        sim_object_close(task->th_instance);
    }
    if (code != ACL_SUCCESS)
        free(copy);
    return code;
}

aclError sim_capture_task_disable(aclmdlRITask handle)
{
    return sim_capture_task_set(handle, NULL);
}

static aclError update(struct sim_instance *instance)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "modelRI is a body of a conditional task");
    enum sim_instance_state state = sim_capture_instance_state(instance);
    bool runs = !sim_gate_passed(&instance->in_finished, instance->in_submitted);
    SIM_CHECK(!runs && (state == SIM_INSTANCE_UPDATING || state == SIM_INSTANCE_READY),
              ACL_ERROR_RT_MODEL_UPDATE_FAILED, "modelRI %s, expected one that is complete and does not run",
              runs ? "runs" : "is still being captured or built");
    if (state == SIM_INSTANCE_UPDATING)
        SIM_TRY(sim_capture_plan_make(instance));
    atomic_store_explicit(&instance->in_state, SIM_INSTANCE_READY, memory_order_release);
    return ACL_SUCCESS;
}

aclError sim_capture_update(aclmdlRI handle)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    aclError code = update(instance);
    sim_object_close(instance);
    return code;
}
