/* ScatterList: varRef, indice, updates, mask, reduce, axis. Slice i of the updates, along dimension 0, is written to
 * tensor i of the list, from a position along `axis` of that tensor on: indice[i], or indice[i, 0] of a matrix, whose
 * second column says how much of the slice is written. A slice with mask 0 is left out. A position out of range ends
 * the task, and slices written before stay written. */
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "report.h"
#include "require.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIST, INDICES, UPDATES, MASK, REDUCE, AXIS };

#define UPDATED (SIM_TYPES_INTEGER | SIM_TYPE(ACL_UINT16) | SIM_TYPE(ACL_UINT32) | SIM_TYPES_SINGLE)

/* The tensor has the type and the rank of the updates, and room for one slice in all dimensions except the axis. */
static aclnnStatus check_member(const aclsimArgument *list, uint64_t place, const aclsimTensor *slice, uint32_t axis)
{
    char name[SIM_NAME_BYTES];
    const aclsimArgument member = sim_require_member(list, place, name);
    aclsimTensor wanted = *slice;
    SIM_TRY(sim_require_type(&member, SIM_TYPE(slice->type)));
    SIM_TRY(sim_require_rank(&member, slice->rank, slice->rank));
    wanted.dims[axis] = member.tensors->dims[axis];
    SIM_TRY(sim_require_shape(&member, wanted.dims, wanted.rank, "that of a slice of updates except the axis"));
    SIM_ARGUMENT(member.tensors->dims[axis] >= slice->dims[axis], ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %" PRId64 ", expected %" PRId64 " or more, that of a slice of updates", axis,
                 name, member.tensors->dims[axis], slice->dims[axis]);
    return ACL_SUCCESS;
}

static aclnnStatus check_indices(const aclsimCall *call, int64_t count)
{
    const aclsimArgument *indices = &call->arguments[INDICES], *mask = &call->arguments[MASK];
    const int64_t dims[] = {count, 2};
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(indices, 1, 2));
    SIM_TRY(sim_require_shape(indices, dims, indices->tensors->rank, "one position per tensor"));
    if (mask->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(mask, SIM_TYPE(ACL_UINT8)));
    return sim_require_shape(mask, dims, 1, "one number per tensor");
}

/* The dimension of a member; negative ones count from the end. The first dimension of the updates is the list. */
static aclnnStatus find_axis(const aclsimCall *call, uint32_t *axis)
{
    return sim_require_dim(&call->arguments[AXIS], call->arguments[UPDATES].tensors->rank - 1, axis);
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *list = &call->arguments[LIST], *updates = &call->arguments[UPDATES];
    const aclsimArgument *reduce = &call->arguments[REDUCE];
    uint32_t axis;
    (void)workspace_size;
    SIM_TRY(sim_require_type(updates, UPDATED));
    SIM_TRY(sim_require_rank(updates, 2, SIM_RANK));
    const bool updated = reduce->present == 0 || strcmp(reduce->text, "update") == 0;
    if (!updated)
        sim_report_text(reduce->name, "update");
    SIM_ARGUMENT(updated, ACLNN_ERR_PARAM_INVALID, "%s is \"%.40s\", expected update", reduce->name, reduce->text);
    SIM_TRY(find_axis(call, &axis));
    SIM_ARGUMENT((int64_t)list->count == updates->tensors->dims[0] && list->count != 0, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " tensors, expected %" PRId64 ", the size of dimension 0 of updates, and 1 or more",
                 list->name, list->count, updates->tensors->dims[0]);
    SIM_TRY(check_indices(call, updates->tensors->dims[0]));
    const aclsimTensor slice = sim_line_without(updates->tensors, 0);
    for (uint64_t i = 0; i < list->count; i++)
        SIM_TRY(check_member(list, i, &slice, axis));
    return ACL_SUCCESS;
}

static int64_t number_at(const aclsimTensor *tensor, int64_t place)
{
    union sim_block_values value;
    sim_element_load(&value, SIM_CLASS_INTEGER, sim_indices_nth(tensor, place), tensor->type, 0, 1);
    return value.bv_integers[0];
}

/* Writes one slice; its position may be out of range. */
static aclError put_slice(const aclsimCall *call, int64_t place, uint32_t axis, aclsimTensor from)
{
    const aclsimTensor *indices = call->arguments[INDICES].tensors;
    const bool pairs = indices->rank == 2;
    aclsimTensor to = call->arguments[LIST].tensors[place];
    const int64_t start = number_at(indices, pairs ? 2 * place : place);
    const int64_t length = pairs ? number_at(indices, 2 * place + 1) : from.dims[axis];
    if (length < 0 || length > from.dims[axis] || start < 0 || start > to.dims[axis] - length) {
        char text[200];
        snprintf(text, sizeof text,
                 "indice has position %" PRId64 " and length %" PRId64 " for tensor %" PRId64
                 ", expected a part of the %" PRId64 " elements of dimension %u",
                 start, length, place, to.dims[axis], axis);
        sim_fail_reason(text);
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    from.dims[axis] = length;
    if (sim_walk_is_empty(from.dims, from.rank))
        return ACL_SUCCESS;
    if (start != 0) /* a dimension of size 1 may have any stride */
        sim_walk_advance(&to, start * to.strides[axis]);
    to.dims[axis] = length;
    sim_walk_copy(&to, &from);
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call)
{
    const aclsimTensor *updates = call->arguments[UPDATES].tensors;
    const aclsimArgument *mask = &call->arguments[MASK];
    aclsimTensor from = sim_line_without(updates, 0);
    uint32_t axis;
    SIM_TRY(find_axis(call, &axis));
    for (int64_t i = 0; i < updates->dims[0]; i++) {
        if (mask->present == 0 || number_at(mask->tensors, i) != 0)
            SIM_TRY(put_slice(call, i, axis, from));
        if (i + 1 < updates->dims[0] && !sim_walk_is_empty(updates->dims, updates->rank))
            sim_walk_advance(&from, updates->strides[0]);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnScatterList = {plan, run, NULL, false};
