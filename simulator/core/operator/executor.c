/* Executors, each of which owns a packed call between the two phases. An executor that is not repeatable is used up
 * by the second phase, even if that fails. Its lock is held while a phase works on it; descriptors are opened
 * inside, one at a time. */
#include "call.h"
#include "base/clock.h"
#include <stdlib.h>
#include <string.h>

struct sim_executor {
    struct sim_object ex_object;
    struct sim_pack ex_pack;
    bool ex_repeatable;
    bool ex_placed; /* it has no descriptors */
    bool ex_ran;    /* its descriptors may have been destroyed */
};

static struct sim_table executors = SIM_OBJECT_TABLE(struct sim_executor, SIM_KIND_EXECUTOR);

static void destroy(void *object)
{
    struct sim_executor *executor = object;
    sim_call_drop(&executor->ex_pack);
    sim_object_end(&executors, executor);
}

aclOpExecutor *sim_executor_create(const struct sim_pack *pack, bool placed)
{
    uint64_t handle;
    struct sim_executor *executor = sim_object_take(&executors, &handle);
    if (executor == NULL)
        return NULL;
    executor->ex_pack = *pack;
    executor->ex_placed = placed;
    executor->ex_repeatable = executor->ex_ran = false;
    return sim_object_publish(executor, handle);
}

static aclnnStatus open_executor(const aclOpExecutor *handle, aclnnStatus code, struct sim_executor **executor)
{
    *executor = sim_object_open(&executors, handle, "executor", code);
    return *executor != NULL ? ACL_SUCCESS : code;
}

/* ---- the second phase ---- */

static aclnnStatus check_use(const struct sim_executor *executor, const struct sim_row *row, const void *workspace,
                             uint64_t workspace_size)
{
    const struct sim_call *call = executor->ex_pack.pk_call;
    SIM_ARGUMENT(call->ca_row == row, ACLNN_ERR_INNER_NULLPTR,
                 "executor was made by %sGetWorkspaceSize, expected that of %s", call->ca_row->ro_op.op_name,
                 row->ro_op.op_name);
    SIM_ARGUMENT(workspace_size == 0 || workspace != NULL, ACLNN_ERR_PARAM_NULLPTR,
                 "workspace is NULL with workspaceSize %llu, expected device memory of that size",
                 (unsigned long long)workspace_size);
    SIM_ARGUMENT(workspace_size >= call->ca_workspace_size, ACLNN_ERR_PARAM_INVALID,
                 "workspaceSize is %llu, expected %llu, which the first phase asked for",
                 (unsigned long long)workspace_size, (unsigned long long)call->ca_workspace_size);
    return ACL_SUCCESS;
}

/* Reads the address of a tensor again. A descriptor may have been destroyed after the first run; the address stays
 * then. */
static aclnnStatus refresh(const struct sim_executor *executor, struct sim_operand *operand)
{
    const char *name = sim_call_name(&executor->ex_pack, operand);
    struct sim_tensor *tensor;
    if (executor->ex_ran && !sim_tensor_is_live(operand->od_handle))
        return ACL_SUCCESS;
    SIM_ARGUMENT(sim_tensor_open(operand->od_handle, name, &tensor) == ACL_SUCCESS,
                 ACLNN_ERR_INNER_NULLPTR,
                 "%s was destroyed since the first phase, expected it to live until the second one",
                 name);
    operand->od_data = tensor->te_data;
    sim_object_close(tensor);
    return ACL_SUCCESS;
}

/* Reads the addresses and claims the memory that the call touches. */
static aclnnStatus prepare(struct sim_executor *executor, void *workspace)
{
    struct sim_pack *pack = &executor->ex_pack;
    for (uint32_t i = 0; i < pack->pk_count && !executor->ex_placed; i++)
        SIM_TRY(refresh(executor, &pack->pk_operands[i]));
    aclError code = sim_call_place(pack, workspace);
    return code == ACL_SUCCESS || code == ACLNN_ERR_PARAM_INVALID ? code : ACLNN_ERR_RUNTIME_ERROR;
}

/* Returns the call, in a block of its own: the executor's own if that is used up, otherwise a copy. */
static struct sim_call *take_call(struct sim_executor *executor)
{
    struct sim_call *call = executor->ex_pack.pk_call;
    if (!executor->ex_repeatable) {
        executor->ex_pack.pk_call = NULL;
        return call;
    }
    struct sim_call *copy = malloc(call->ca_size);
    if (copy != NULL)
        memcpy(copy, call, call->ca_size);
    else
        sim_refuse(ACLNN_ERR_RUNTIME_ERROR, "there is no memory for the call");
    return copy;
}

static void leave(struct sim_executor *executor)
{
    if (executor->ex_repeatable)
        sim_object_close(executor);
    else
        destroy(executor);
}

/* The task is submitted after the executor is closed, because it may run at once and a kernel may make calls itself. */
static aclnnStatus launch(struct sim_row *row, void *workspace, uint64_t workspace_size, aclOpExecutor *handle,
                          aclrtStream stream, void *site)
{
    struct sim_executor *executor;
    struct sim_target target;
    struct sim_call *call = NULL;
    SIM_ARGUMENT(handle != NULL, ACLNN_ERR_PARAM_NULLPTR, "executor is NULL, expected one of %sGetWorkspaceSize",
                 row->ro_op.op_name);
    aclError found = sim_stream_own(stream, &target);
    SIM_TRY(open_executor(handle, ACLNN_ERR_INNER_NULLPTR, &executor));
    aclnnStatus code = check_use(executor, row, workspace, workspace_size);
    if (code == ACL_SUCCESS)
        code = found == ACL_SUCCESS ? prepare(executor, workspace) : ACLNN_ERR_RUNTIME_ERROR;
    bool idle = !executor->ex_pack.pk_call->ca_resizes && sim_call_writes_nothing(&executor->ex_pack);
    if (code == ACL_SUCCESS && !idle)
        call = take_call(executor);
    executor->ex_ran = true;
    leave(executor);
    if (code != ACL_SUCCESS || idle)
        return code;
    bool submitted =
        call != NULL && sim_engine_submit_block(target, &row->ro_op, call, call->ca_size, site) == ACL_SUCCESS;
    return submitted ? ACL_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

SIM_RARE static aclnnStatus launch_watched(struct sim_row *row, void *workspace, uint64_t workspace_size,
                                           aclOpExecutor *handle, aclrtStream stream, void *site)
{
    uint64_t start = sim_clock_now();
    struct sim_executor *executor;
    aclnnStatus code = sim_watcher_phase(row, stream);
    if (code == ACL_SUCCESS)
        code = launch(row, workspace, workspace_size, handle, stream, site);
    else if (open_executor(handle, ACLNN_ERR_INNER_NULLPTR, &executor) == ACL_SUCCESS)
        leave(executor);
    sim_watcher_operator(row, NULL, 0, start, code);
    return code;
}

aclnnStatus sim_executor_launch(struct sim_row *row, void *workspace, uint64_t workspace_size, aclOpExecutor *handle,
                                aclrtStream stream, void *site)
{
    return (sim_watcher_any() ? launch_watched : launch)(row, workspace, workspace_size, handle, stream, site);
}

/* ---- repeatable executors ---- */

aclnnStatus sim_executor_repeat(const aclOpExecutor *handle)
{
    struct sim_executor *executor;
    SIM_TRY(open_executor(handle, ACLNN_ERR_INNER_NULLPTR, &executor));
    executor->ex_repeatable = true;
    sim_object_close(executor);
    return ACL_SUCCESS;
}

aclnnStatus sim_executor_destroy(const aclOpExecutor *handle)
{
    struct sim_executor *executor;
    SIM_ARGUMENT(handle != NULL, ACLNN_ERR_INNER_NULLPTR, "executor is NULL, expected a live executor");
    SIM_TRY(open_executor(handle, ACLNN_ERR_INNER, &executor));
    destroy(executor);
    return ACL_SUCCESS;
}

/* Finds the parameter at `index` among the tensors and lists of these directions. */
static aclnnStatus find_parameter(const struct sim_row *row, unsigned directions, size_t index, size_t *parameter)
{
    size_t count = 0;
    for (size_t i = 0; i < row->ro_count; i++) {
        const struct sim_parameter *candidate = &row->ro_parameters[i];
        if (candidate->pa_kind > ACLSIM_TENSOR_LIST || (candidate->pa_direction & directions) == 0)
            continue;
        *parameter = i;
        if (count++ == index)
            return ACL_SUCCESS;
    }
    return sim_refuse(ACLNN_ERR_PARAM_INVALID,
                      "index is %zu, expected less than %zu, the number of such parameters of %s", index, count,
                      row->ro_op.op_name);
}

static aclnnStatus set_address(struct sim_executor *executor, unsigned directions, bool is_list, size_t index,
                               size_t member, void *address)
{
    size_t parameter = 0;
    const struct sim_row *row = executor->ex_pack.pk_call->ca_row;
    SIM_TRY(find_parameter(row, directions, index, &parameter));
    const struct sim_parameter *found = &row->ro_parameters[parameter];
    SIM_ARGUMENT((found->pa_kind == ACLSIM_TENSOR_LIST) == is_list, ACLNN_ERR_PARAM_INVALID,
                 "index %zu is %s, a %s, expected a %s", index, found->pa_name, is_list ? "tensor" : "list of tensors",
                 is_list ? "list of tensors" : "tensor");
    for (uint32_t i = 0; i < executor->ex_pack.pk_count; i++) {
        struct sim_operand *operand = &executor->ex_pack.pk_operands[i];
        if (operand->od_parameter == parameter && operand->od_member == member) {
            operand->od_data = address;
            return ACL_SUCCESS;
        }
    }
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s had no tensor %zu in the first phase", found->pa_name, member);
}

aclnnStatus sim_executor_set_address(const aclOpExecutor *handle, unsigned directions, bool is_list, size_t index,
                                     size_t member, void *address)
{
    struct sim_executor *executor;
    SIM_TRY(open_executor(handle, ACLNN_ERR_INNER_NULLPTR, &executor));
    aclnnStatus code = set_address(executor, directions, is_list, index, member, address);
    sim_object_close(executor);
    return code;
}

void sim_executor_reset(void)
{
    sim_object_destroy_all(&executors, destroy);
}

void sim_executor_after_fork(void)
{
    sim_table_empty(&executors);
}
