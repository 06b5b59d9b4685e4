/* Design notes
 *
 * Operator schemas: finding them, their kernels, the first phase, and the execution of calls.
 *
 * A call is one block of memory without pointers into itself, so that it can be copied into a task: arguments hold byte
 * offsets from its start, and become pointers on the stack of the thread that calls a kernel. The first phase builds it
 * from the descriptors. The executor (executor.c) owns it, and remembers the descriptor of each tensor, because
 * addresses are read in the second phase. A kernel is copied into the call when it is planned, so that registering
 * another one affects only later calls.
 *
 * A call whose kernel finds the size of an output also holds the handles of its tensors. The kernel changes the
 * aclTensor that a handle finds, at each execution of the task, also in replays. The generation in a handle tells a
 * destroyed tensor from a later one in the same slot.
 *
 * The lock `kernels` guards the registered kernel of every schema. */
#include "row.h"
#include "base/clock.h"

#include "address/memory.h"
#include "engine/context.h"
#include "engine/watch.h"
#include "memory/saturation.h"
#include "call.h"
#include "plan_cache.h"
#include "row_ask.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sim_row_table *sim_row_table;

static struct sim_lock kernels; /* guards ro_registered of every schema */

struct sim_row *sim_row_find(const char *name)
{
    size_t low = 0, high = sim_row_table->rt_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct sim_row *row = sim_row_table->rt_rows[middle];
        int order = strcmp(name, row->ro_op.op_name);
        if (order == 0)
            return row;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* The registered kernel, or the built-in one; kn_run is NULL if there is neither. */
static struct sim_kernel kernel_of(struct sim_row *row)
{
    sim_lock(&kernels);
    struct sim_kernel kernel = row->ro_registered;
    sim_unlock(&kernels);
    if (kernel.kn_run == NULL && row->ro_builtin != NULL)
        kernel = *row->ro_builtin;
    return kernel;
}

bool sim_row_has_kernel(struct sim_row *row)
{
    return kernel_of(row).kn_run != NULL;
}

void sim_row_register(struct sim_row *row, struct sim_kernel kernel)
{
    sim_lock(&kernels);
    row->ro_registered = kernel;
    sim_unlock(&kernels);
    sim_plan_cache_empty();
}

/* ---- arguments ---- */

/* Turns the call's arguments into those of a kernel, with pointers. */
static void bind_arguments(const struct sim_call *call, aclsimArgument *arguments)
{
    const aclsimArgument *packed = sim_call_arguments(call);
    for (size_t i = 0; i < call->ca_row->ro_count; i++) {
        arguments[i] = packed[i];
        if (packed[i].kind < ACLSIM_INTEGER)
            arguments[i].text = packed[i].present ? sim_call_at(call, (uint32_t)packed[i].integer) : NULL;
    }
}

/* What a kernel gets, and the packed call behind it. */
struct shown {
    aclsimCall sh_call; /* first, so that its address is that of the struct */
    struct sim_call *sh_packed;
};

static struct shown show(struct sim_call *call, const aclsimArgument *arguments)
{
    return (struct shown){{call->ca_row->ro_op.op_name, arguments, call->ca_row->ro_count, call->ca_workspace,
                           call->ca_workspace_size, call->ca_kernel.kn_user},
                          call};
}

/* ---- outputs whose size is found by the kernel ---- */

static struct sim_call *packed_of(const aclsimCall *call)
{
    return ((const struct shown *)call)->sh_packed;
}

void sim_row_will_resize(const aclsimCall *call)
{
    packed_of(call)->ca_resizes = true;
}

aclError sim_row_resize(const aclsimCall *call, size_t argument, const aclsimTensor *result)
{
    const struct sim_call *packed = packed_of(call);
    if (packed->ca_handles == 0)
        return ACL_SUCCESS;
    const void *const *handles = sim_call_at(packed, packed->ca_handles);
    return sim_tensor_resize(handles[argument], result->rank, result->dims, result->strides);
}

aclnnStatus sim_row_keep_handles(struct sim_pack *pack)
{
    if (likely(!pack->pk_call->ca_resizes))
        return ACL_SUCCESS;
    uint32_t offset = sim_call_reserve(pack, pack->pk_call->ca_row->ro_count * sizeof(const void *));
    SIM_ARGUMENT(offset != 0, ACLNN_ERR_INNER, "there is no memory for the call");
    const void **handles = sim_call_at(pack->pk_call, offset);
    for (uint32_t i = 0; i < pack->pk_count; i++)
        handles[pack->pk_operands[i].od_parameter] = pack->pk_operands[i].od_handle;
    pack->pk_call->ca_handles = offset;
    return ACL_SUCCESS;
}

/* ---- the execution ---- */

/* Fails with what the kernel said: ": " and a reason, or nothing. If the call is a step of another task, such as a
 * model, that task reports the reason. */
SIM_RARE static aclError give_up(struct sim_run *run, const struct sim_call *call, aclError code, const char *said)
{
    bool is_task = run != NULL && run->rn_task->ta_op == &call->ca_row->ro_op;
    if (is_task)
        sim_watch_tell_failure(run, run->rn_task, call);
    if (said[0] == '\0')
        return code;
    if (is_task)
        return sim_engine_give_up(run, code, said + 2);
    sim_fail_reason(said + 2);
    return code;
}

aclError sim_row_run(struct sim_run *run, void *argument)
{
    struct sim_call *call = argument;
    char reason[SIM_REASON_BYTES];
    aclsimArgument arguments[SIM_ROW_PARAMETERS];
    struct sim_call *apart = NULL;
    if (unlikely(call->ca_overlaps)) {
        apart = sim_row_overlap_apart(call);
        if (apart == NULL)
            return give_up(run, argument, ACL_ERROR_RT_MEMORY_ALLOCATION,
                           ": there is no memory for copies of the inputs that its outputs overlap");
        call = apart;
    }
    bind_arguments(call, arguments);
    const struct shown shown = show(call, arguments);
    struct sim_asked asked = sim_fail_ask(reason);
    aclError code = sim_engine_user_code(call->ca_kernel.kn_run(&shown.sh_call));
    sim_fail_asked(&asked);
    /* Kernels that find sizes copy elements; what is behind them in the output was not computed. */
    if (run != NULL && code == ACL_SUCCESS && !call->ca_resizes)
        sim_saturation_apply(run->rn_stream, arguments, call->ca_row->ro_count);
    if (unlikely(apart != NULL))
        free(apart);
    return likely(code == ACL_SUCCESS) ? code : give_up(run, argument, code, reason);
}

size_t sim_row_show(const void *argument, aclsimArgument *arguments)
{
    const struct sim_call *call = argument;
    bind_arguments(call, arguments);
    return call->ca_row->ro_count;
}

const struct sim_range *sim_row_ranges(const void *argument, size_t *count)
{
    const struct sim_call *call = argument;
    *count = call->ca_range_count;
    return sim_call_at(call, call->ca_ranges);
}

static void visit_bytes(const struct sim_range *range, struct sim_footprint footprint, sim_visit_footprint *visit,
                        void *context)
{
    static const int64_t stride = 1;
    const int64_t size = (int64_t)range->rg_size;
    footprint.fp_address = range->rg_address;
    footprint.fp_element = footprint.fp_rank = 1;
    footprint.fp_dims = &size;
    footprint.fp_strides = &stride;
    visit(&footprint, context);
}

/* The workspace is scratch: written, and perhaps read afterwards. Of packed types, all bytes between the first element
 * and the last one count. */
void sim_row_footprints(const void *argument, sim_visit_footprint *visit, void *context)
{
    const struct sim_call *call = argument;
    const struct sim_range *rest = sim_call_at(call, call->ca_ranges), *end = rest + call->ca_range_count;
    for (struct sim_call_cursor cursor = sim_call_start(call); sim_call_next(&cursor); rest = cursor.cu_range + 1) {
        const aclsimTensor *tensor = cursor.cu_tensor;
        const aclsimArgument *parameter = &sim_call_arguments(call)[cursor.cu_argument];
        ptrdiff_t first = (char *)tensor->data - (char *)sim_memory_reach(cursor.cu_range->rg_address);
        const struct sim_footprint footprint = {.fp_address = (const char *)cursor.cu_range->rg_address + first,
                                                .fp_element = sim_type_bits(tensor->type) / 8,
                                                .fp_rank = tensor->rank, .fp_dims = tensor->dims,
                                                .fp_strides = tensor->strides,
                                                .fp_birth = cursor.cu_range->rg_birth,
                                                .fp_read = (parameter->direction & ACLSIM_IN) != 0,
                                                .fp_write = (parameter->direction & ACLSIM_OUT) != 0,
                                                .fp_name = parameter->name};
        if (sim_type_bits(tensor->type) % 8 == 0)
            visit(&footprint, context);
        else
            visit_bytes(cursor.cu_range, footprint, visit, context);
    }
    for (; rest < end; rest++)
        visit_bytes(rest, (struct sim_footprint){.fp_birth = rest->rg_birth, .fp_write = true, .fp_name = "workspace"},
                    visit, context);
}

/* By how many bytes the cursor's range was moved. */
static intptr_t distance_of(const struct sim_call_cursor *cursor, const struct sim_range *after)
{
    const struct sim_range *before = sim_call_at(cursor->cu_call, cursor->cu_call->ca_ranges);
    const struct sim_range *moved = after + (cursor->cu_range - before);
    return (char *)sim_memory_reach(moved->rg_address) - (char *)sim_memory_reach(cursor->cu_range->rg_address);
}

static aclError check_moved(const struct sim_call *call, const struct sim_range *after)
{
    for (struct sim_call_cursor cursor = sim_call_start(call); sim_call_next(&cursor);) {
        intptr_t size = sim_type_bits(cursor.cu_tensor->type) / 8, distance = distance_of(&cursor, after);
        SIM_CHECK(size < 2 || distance % size == 0, ACL_ERROR_RT_PARAM_INVALID,
                  "args moves a tensor of data type %d by %lld bytes, expected a multiple of %d, the size of an "
                  "element",
                  (int)cursor.cu_tensor->type, (long long)distance, (int)size);
    }
    return ACL_SUCCESS;
}

static void move_tensors(struct sim_call *call, const struct sim_range *after)
{
    for (struct sim_call_cursor cursor = sim_call_start(call); sim_call_next(&cursor);)
        cursor.cu_tensor->data = (char *)cursor.cu_tensor->data + distance_of(&cursor, after);
    if (call->ca_workspace != NULL)
        call->ca_workspace = sim_memory_reach(after[call->ca_range_count - 1].rg_address);
}

/* Exchanges the addresses of the call with those of `other`. */
static void exchange(struct sim_call *call, struct sim_range *other)
{
    struct sim_range *ranges = sim_call_at(call, call->ca_ranges);
    move_tensors(call, other);
    for (uint32_t i = 0; i < call->ca_range_count; i++) {
        struct sim_range before = ranges[i];
        ranges[i] = other[i];
        other[i] = before;
    }
}

static aclError move_call(struct sim_call *call, struct sim_range *other)
{
    SIM_TRY(check_moved(call, other));
    exchange(call, other);
    if (sim_row_overlap_check_outputs(call) != ACL_SUCCESS) {
        exchange(call, other);
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    call->ca_overlaps = sim_row_overlaps(call);
    return ACL_SUCCESS;
}

aclError sim_row_move(void *argument, const uint64_t *addresses)
{
    struct sim_call *call = argument;
    struct sim_range *ranges = sim_call_at(call, call->ca_ranges);
    size_t bytes = call->ca_range_count * sizeof *ranges;
    struct sim_range *moved = malloc(bytes + 1);
    aclError code = ACL_SUCCESS;
    SIM_CHECK(moved != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %u addresses", call->ca_range_count);
    for (uint32_t i = 0; i < call->ca_range_count && code == ACL_SUCCESS; i++) {
        moved[i] = (struct sim_range){.rg_address = (const void *)(uintptr_t)addresses[i], .rg_size = ranges[i].rg_size,
                                      .rg_write = ranges[i].rg_write};
        code = sim_memory_claim(&moved[i], "args");
    }
    if (code == ACL_SUCCESS)
        code = move_call(call, moved);
    free(moved);
    return code;
}

/* ---- the first phase ---- */

static aclnnStatus check_context(const char *name)
{
    SIM_ARGUMENT(sim_context_peek() != NULL, ACLNN_ERR_RUNTIME_ERROR,
                 "this thread has no current context, expected aclrtSetDevice before %s", name);
    return ACL_SUCCESS;
}

aclnnStatus sim_row_check_call(const struct sim_row *row, const union sim_value *values)
{
    for (size_t i = 0; i < row->ro_count; i++) {
        const struct sim_parameter *parameter = &row->ro_parameters[i];
        SIM_ARGUMENT(parameter->pa_kind >= ACLSIM_INTEGER || parameter->pa_optional || values[i].va_pointer != NULL,
                     ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a valid pointer", parameter->pa_name);
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_row_plan_call(struct sim_call *call, uint64_t *workspace_size)
{
    aclsimArgument arguments[SIM_ROW_PARAMETERS];
    call->ca_kernel = kernel_of(call->ca_row);
    SIM_ARGUMENT(call->ca_kernel.kn_run != NULL, ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                 "the simulator has no kernel for %s: register one with acl.sim.kernel(\"%s\") or aclsimRegisterKernel",
                 call->ca_row->ro_op.op_name, call->ca_row->ro_op.op_name);
    *workspace_size = 0;
    if (call->ca_kernel.kn_plan != NULL) {
        bind_arguments(call, arguments);
        const struct shown shown = show(call, arguments);
        SIM_TRY(call->ca_kernel.kn_plan(&shown.sh_call, workspace_size));
    }
    call->ca_workspace_size = *workspace_size;
    return ACL_SUCCESS;
}

aclnnStatus sim_row_ask(struct sim_row *row, const aclsimArgument *arguments)
{
    struct sim_call call = {.ca_row = row, .ca_kernel = *row->ro_builtin};
    const struct shown shown = show(&call, arguments);
    uint64_t workspace_size = 0;
    return call.ca_kernel.kn_plan == NULL ? ACL_SUCCESS : call.ca_kernel.kn_plan(&shown.sh_call, &workspace_size);
}

static aclnnStatus plan(struct sim_row *row, const union sim_value *values, uint64_t *workspace_size,
                        aclOpExecutor **executor)
{
    SIM_TRY(sim_row_check_call(row, values));
    SIM_ARGUMENT(workspace_size != NULL, ACLNN_ERR_PARAM_NULLPTR, "workspaceSize is NULL, expected a valid pointer");
    SIM_ARGUMENT(executor != NULL, ACLNN_ERR_PARAM_NULLPTR, "executor is NULL, expected a valid pointer");
    SIM_TRY(check_context(row->ro_op.op_name));
    struct sim_pack pack;
    aclnnStatus code = sim_call_pack(&pack, row, values);
    if (code == ACL_SUCCESS)
        code = sim_row_plan_call(pack.pk_call, workspace_size);
    if (code == ACL_SUCCESS)
        code = sim_row_keep_handles(&pack);
    if (code == ACL_SUCCESS) {
        if (unlikely(sim_thread.th_keeps_plan))
            sim_plan_cache_keep(&pack);
        *executor = sim_executor_create(&pack, false);
        code = *executor != NULL ? ACL_SUCCESS : ACLNN_ERR_INNER;
    }
    if (code != ACL_SUCCESS)
        sim_call_drop(&pack);
    return code;
}

SIM_RARE static aclnnStatus plan_watched(struct sim_row *row, const union sim_value *values, uint64_t *workspace_size,
                                         aclOpExecutor **executor)
{
    uint64_t start = sim_clock_now();
    aclnnStatus code = sim_watcher_phase(row, NULL);
    if (code == ACL_SUCCESS)
        code = plan(row, values, workspace_size, executor);
    sim_watcher_operator(row, values, row->ro_count, start, code);
    return code;
}

aclnnStatus sim_row_plan(struct sim_row *row, const union sim_value *values, uint64_t *workspace_size,
                         aclOpExecutor **executor)
{
    return (sim_watcher_any() ? plan_watched : plan)(row, values, workspace_size, executor);
}

/* ---- the end of everything ---- */

static void forget_kernels(void)
{
    for (size_t i = 0; i < sim_row_table->rt_count; i++) {
        struct sim_row *row = sim_row_table->rt_rows[i];
        if (row->ro_registered.kn_run != NULL) /* in a fork's child, each write copies a page */
            row->ro_registered = (struct sim_kernel){0};
    }
}

void sim_row_reset(void)
{
    sim_executor_reset();
    sim_plan_cache_empty();
    sim_lock(&kernels);
    forget_kernels();
    sim_unlock(&kernels);
}

void sim_row_after_fork(void)
{
    sim_executor_after_fork();
    sim_plan_cache_after_fork();
    sim_lock_renew(&kernels);
    forget_kernels();
}
