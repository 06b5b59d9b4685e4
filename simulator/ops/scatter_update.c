/* InplaceScatterUpdate: data, indices, updates, axis. Each index belongs to one slice of the updates along dimension
 * 0, and is the position in dimension `axis` of data where that slice is written. A line of indices writes slice i to
 * slice i of data; of a matrix, the first column holds the slices of data, the second one the positions. An index out
 * of range ends the task, and slices written before stay written. */
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <inttypes.h>
#include <stdio.h>

enum { DATA, INDICES, UPDATES, AXIS };

#define UPDATED (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT32) | SIM_TYPES_SINGLE)

static aclnnStatus require_filled(const aclsimArgument *argument)
{
    SIM_ARGUMENT(!sim_walk_is_empty(argument->tensors->dims, argument->tensors->rank), ACLNN_ERR_PARAM_INVALID,
                 "%s has no elements, expected 1 or more", argument->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan_update(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *data = &call->arguments[DATA], *indices = &call->arguments[INDICES];
    const aclsimArgument *updates = &call->arguments[UPDATES];
    const aclsimTensor *self = data->tensors, *index = indices->tensors;
    aclsimTensor wanted = *self;
    uint32_t axis;
    (void)workspace_size;
    SIM_TRY(sim_require_types(data, updates, UPDATED));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(data, 2, SIM_RANK));
    SIM_TRY(sim_require_rank(updates, self->rank, self->rank));
    SIM_TRY(sim_require_rank(indices, 0, 2));
    for (uint32_t i = DATA; i <= UPDATES; i++)
        SIM_TRY(require_filled(&call->arguments[i]));
    SIM_TRY(sim_require_dim(&call->arguments[AXIS], self->rank, &axis));
    SIM_ARGUMENT(axis != 0, ACLNN_ERR_PARAM_INVALID, "axis is %" PRId64 ", expected another dimension than the first",
                 call->arguments[AXIS].integer);
    SIM_ARGUMENT(index->rank < 2 || index->dims[1] == 2, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of indices is %" PRId64 ", expected 2", index->dims[1]);
    wanted.dims[0] = index->rank == 0 ? 1 : index->dims[0];
    wanted.dims[axis] = updates->tensors->dims[axis];
    SIM_TRY(sim_require_shape(updates, wanted.dims, wanted.rank, "one slice of data per index"));
    for (uint32_t k = 0; k < self->rank; k += axis) /* dimension 0 and the axis */
        SIM_ARGUMENT(wanted.dims[k] <= self->dims[k] || (k == 0 && index->rank == 2), ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of updates is %" PRId64 ", expected at most %" PRId64 ", the size in data", k,
                     wanted.dims[k], self->dims[k]);
    return ACL_SUCCESS;
}

/* Finds where slice `i` of the updates is written; false if this is out of range, with the reason recorded. */
static bool find_slice(const aclsimCall *call, uint32_t axis, int64_t i, aclsimTensor *slice)
{
    const aclsimTensor *index = call->arguments[INDICES].tensors, *data = call->arguments[DATA].tensors;
    const bool pairs = index->rank == 2;
    const int64_t most[] = {data->dims[0] - 1, data->dims[axis] - call->arguments[UPDATES].tensors->dims[axis]};
    const uint32_t dims[] = {0, axis};
    union sim_block_values at[2] = {{.bv_integers = {i}}};
    *slice = *data;
    for (uint32_t k = pairs ? 0 : 1; k < 2; k++)
        sim_element_load(&at[k], SIM_CLASS_INTEGER, sim_indices_nth(index, pairs ? 2 * i + k : i), index->type, 0, 1);
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t found = at[k].bv_integers[0];
        if (found < 0 || found > most[k]) {
            char text[160];
            snprintf(text, sizeof text,
                     "indices has %" PRId64 " for dimension %u of data, expected 0 to %" PRId64 " for slice %" PRId64,
                     found, dims[k], most[k], i);
            sim_fail_reason(text);
            return false;
        }
        if (found != 0) /* a dimension of size 1 may have any stride */
            sim_walk_advance(slice, found * data->strides[dims[k]]);
    }
    return true;
}

static aclError run_update(const aclsimCall *call)
{
    const aclsimTensor *updates = call->arguments[UPDATES].tensors;
    aclsimTensor from = sim_line_without(updates, 0);
    uint32_t axis;
    SIM_TRY(sim_require_dim(&call->arguments[AXIS], updates->rank, &axis));
    for (int64_t i = 0; i < updates->dims[0]; i++) {
        aclsimTensor slice;
        if (!find_slice(call, axis, i, &slice))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        aclsimTensor to = sim_line_without(&slice, 0);
        to.dims[axis - 1] = from.dims[axis - 1];
        sim_walk_copy(&to, &from);
        if (i + 1 < updates->dims[0])
            sim_walk_advance(&from, updates->strides[0]);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnInplaceScatterUpdate = {plan_update, run_update, NULL, false};
