/* Operators that copy parts of tensors: SplitTensor, SplitWithSize and the single operators StridedSlice and Split
 * (also used for Unpack). Elements are copied bit by bit. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/op.h"
#include "require.h"
#include "tables.h"
#include "walk.h"
#include <string.h>

/* ---- StridedSlice: x, starts, steps, sizes, y; y may have any shape with the right number of elements ---- */

static aclnnStatus check_cut(const aclsimArgument *given, uint32_t dim)
{
    int64_t start = given[1].integers[dim], step = given[2].integers[dim], size = given[3].integers[dim];
    int64_t length = given[0].tensors->dims[dim], last = step;
    bool fits = size >= 0 && size <= length &&
                (size == 0 || (start >= 0 && start < length && sim_length_multiply(&last, size - 1) &&
                               !__builtin_add_overflow(last, start, &last) && last >= 0 && last < length));
    SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                 "the slice of %lld elements from index %lld with step %lld leaves dimension %u of %s, "
                 "expected indices within its %lld elements", (long long)size, (long long)start,
                 (long long)step, dim, given[0].name, (long long)length);
    return ACL_SUCCESS;
}

static aclnnStatus plan_strided(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = &given[4];
    uint32_t rank = given[0].tensors->rank;
    uint64_t elements = 1, found = 1; /* a product wraps only if another factor is 0 */
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], y, SIM_TYPES_ALL));
    for (uint32_t i = 1; i <= 3; i++)
        SIM_TRY(sim_require_count(&given[i], rank));
    for (uint32_t i = 0; i < rank; i++) {
        SIM_TRY(check_cut(given, i));
        elements *= (uint64_t)given[3].integers[i];
    }
    for (uint32_t i = 0; i < y->tensors->rank; i++)
        found *= (uint64_t)y->tensors->dims[i];
    SIM_ARGUMENT(elements == found, ACLNN_ERR_PARAM_INVALID, "%s has %llu elements, expected %llu", y->name,
                 (unsigned long long)found, (unsigned long long)elements);
    return ACL_SUCCESS;
}

static aclError run_strided(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    aclsimTensor view = *given[0].tensors, to = *given[4].tensors;
    for (uint32_t i = 0; i < view.rank; i++) {
        sim_walk_advance(&view, given[1].integers[i] * view.strides[i]);
        view.dims[i] = given[3].integers[i];
        view.strides[i] = view.dims[i] > 1 ? view.strides[i] * given[2].integers[i] : 0;
    }
    to.strides[0] = 1;
    to = sim_walk_fold(&to, &view);
    sim_walk_copy(&to, &view);
    return ACL_SUCCESS;
}

/* ---- SplitTensor: self, splitSections (elements of each part), dim, out;
 *      SplitWithSize: self, splitSize, dim, out; Split: x, sizes, axis, outputs ---- */

/* The part of the split dimension that each output gets. */
struct split {
    uint32_t sp_axis;
    const aclsimArgument *sp_sizes; /* NULL: each has sp_size, and the last one what is left */
    uint64_t sp_size;
};

static aclnnStatus find_split(const aclsimCall *call, struct split *split)
{
    const aclsimArgument *self = &call->arguments[0], *sizes = &call->arguments[1];
    bool listed = sizes->kind == ACLSIM_INTEGERS;
    SIM_TRY(sim_require_rank(self, 1, SIM_RANK));
    *split = (struct split){.sp_sizes = listed ? sizes : NULL,
                            .sp_size = listed ? 0 : (uint64_t)sizes->integer};
    return sim_require_dim(&call->arguments[2], self->tensors->rank, &split->sp_axis);
}

/* `rest`: what the parts before leave of the dimension. */
static int64_t size_of_part(const struct split *split, uint64_t part, int64_t rest)
{
    if (split->sp_sizes != NULL)
        return split->sp_sizes->integers[part];
    return split->sp_size < (uint64_t)rest ? (int64_t)split->sp_size : rest;
}

/* A dimension of 0 elements has one part. */
static aclnnStatus check_parts(const aclsimCall *call, const struct split *split)
{
    const aclsimArgument *sizes = &call->arguments[1], *outputs = &call->arguments[3];
    uint64_t length = (uint64_t)call->arguments[0].tensors->dims[split->sp_axis], size = split->sp_size;
    if (split->sp_sizes != NULL)
        return sim_require_count(sizes, outputs->count);
    SIM_ARGUMENT(size != 0 || length == 0, ACLNN_ERR_PARAM_INVALID, "%s is 0, expected 1 or more", sizes->name);
    uint64_t parts = length == 0 ? 1 : (length - 1) / size + 1;
    SIM_ARGUMENT(outputs->count == parts, ACLNN_ERR_PARAM_INVALID,
                 "%s has %llu tensors, expected %llu: the dimension has %llu elements, each part %llu", outputs->name,
                 (unsigned long long)outputs->count, (unsigned long long)parts, (unsigned long long)length,
                 (unsigned long long)size);
    return ACL_SUCCESS;
}

static aclnnStatus plan_split(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *sizes = &call->arguments[1], *outputs = &call->arguments[3];
    aclsimTensor part = *self->tensors;
    struct split split;
    (void)workspace_size;
    SIM_TRY(find_split(call, &split));
    SIM_TRY(check_parts(call, &split));
    int64_t rest = part.dims[split.sp_axis];
    for (uint64_t i = 0; i < outputs->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument output = sim_require_member(outputs, i, name);
        int64_t size = size_of_part(&split, i, rest);
        SIM_ARGUMENT(size >= 0 && size <= rest, ACLNN_ERR_PARAM_INVALID,
                     "%s[%llu] is %lld, expected 0 to %lld, the rest of dimension %u of %s", sizes->name,
                     (unsigned long long)i, (long long)size, (long long)rest, split.sp_axis, self->name);
        rest -= size;
        part.dims[split.sp_axis] = size;
        SIM_TRY(sim_require_types(self, &output, SIM_TYPES_ALL));
        SIM_TRY(sim_require_shape(&output, part.dims, part.rank, "that of the part"));
    }
    SIM_ARGUMENT(rest == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s leaves %lld of dimension %u of %s over, expected parts that add up to the dimension",
                 sizes->name, (long long)rest, split.sp_axis, self->name);
    return ACL_SUCCESS;
}

static aclError run_split(const aclsimCall *call)
{
    const aclsimArgument *outputs = &call->arguments[3];
    aclsimTensor part = *call->arguments[0].tensors;
    struct split split;
    SIM_TRY(find_split(call, &split));
    for (uint64_t i = 0; i < outputs->count; i++) {
        const aclsimTensor *to = &outputs->tensors[i];
        if (sim_walk_is_empty(to->dims, to->rank))
            continue;
        part.dims[split.sp_axis] = to->dims[split.sp_axis];
        sim_walk_copy(to, &part);
        if (i + 1 < outputs->count)
            sim_walk_advance(&part, part.dims[split.sp_axis] * part.strides[split.sp_axis]);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnSplitTensor = {plan_split, run_split, NULL, false},
                        sim_kernel_aclnnSplitWithSize = {plan_split, run_split, NULL, false};

/* ---- schemas ---- */

static const struct sim_kernel strided_kernel = {plan_strided, run_strided, NULL, false},
                               split_kernel = {plan_split, run_split, NULL, false};
static const struct sim_parameter
    strided_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                            {"starts", ACLSIM_INTEGERS, 0, false},
                            {"steps", ACLSIM_INTEGERS, 0, false},
                            {"sizes", ACLSIM_INTEGERS, 0, false},
                            {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}},
    split_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                          {"sizes", ACLSIM_INTEGERS, 0, false},
                          {"axis", ACLSIM_INTEGER, 0, false},
                          {"outputs", ACLSIM_TENSOR_LIST, ACLSIM_OUT, false}};

struct sim_row sim_op_strided_row = SIM_ROW("StridedSlice", SIM_TASK_VECTOR, strided_parameters, &strided_kernel),
               sim_op_split_row = SIM_ROW("Split", SIM_TASK_VECTOR, split_parameters, &split_kernel);
