/* Single operators that copy parts of tensors: StridedSlice, Split (also used for Unpack) and GatherNd. Elements are
 * copied bit by bit. */
#include "base/fail.h"
#include "operator/op.h"
#include "require.h"
#include "tables.h"
#include "walk.h"
#include <stdio.h>
#include <string.h>

/* ---- StridedSlice: x, starts, steps, sizes, y; y may have any shape with the right number of elements ---- */

static aclnnStatus check_cut(const aclsimArgument *given, uint32_t dim)
{
    int64_t start = given[1].integers[dim], step = given[2].integers[dim], size = given[3].integers[dim];
    int64_t length = given[0].tensors->dims[dim], last = 0;
    bool fits = size >= 0 && size <= length &&
                (size == 0 || (start >= 0 && start < length &&
                                            !__builtin_mul_overflow(size - 1, step, &last) &&
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

/* ---- Split: x, axis, sizes, outputs ---- */

static aclnnStatus plan_split(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0], *sizes = &call->arguments[2], *outputs = &call->arguments[3];
    aclsimTensor part = *x->tensors;
    int64_t rest;
    uint32_t axis;
    (void)workspace_size;
    SIM_TRY(sim_require_rank(x, 1, SIM_RANK));
    SIM_TRY(sim_require_dim(&call->arguments[1], part.rank, &axis));
    SIM_TRY(sim_require_count(sizes, outputs->count));
    rest = part.dims[axis];
    for (uint64_t i = 0; i < outputs->count; i++) {
        char name[64];
        const aclsimArgument output = {.name = name, .kind = ACLSIM_TENSOR, .tensors = &outputs->tensors[i]};
        snprintf(name, sizeof name, "%.40s[%llu]", outputs->name, (unsigned long long)i);
        part.dims[axis] = sizes->integers[i];
        SIM_ARGUMENT(part.dims[axis] >= 0 && part.dims[axis] <= rest, ACLNN_ERR_PARAM_INVALID,
                     "%s[%llu] is %lld, expected 0 to %lld, the rest of dimension %u of %s", sizes->name,
                     (unsigned long long)i, (long long)part.dims[axis], (long long)rest, axis, x->name);
        rest -= part.dims[axis];
        SIM_TRY(sim_require_types(x, &output, SIM_TYPES_ALL));
        SIM_TRY(sim_require_shape(&output, part.dims, part.rank, "that of the part"));
    }
    SIM_ARGUMENT(rest == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s leaves %lld of dimension %u of %s over, expected parts that add up to the dimension",
                 sizes->name, (long long)rest, axis, x->name);
    return ACL_SUCCESS;
}

static aclError run_split(const aclsimCall *call)
{
    const aclsimArgument *outputs = &call->arguments[3];
    aclsimTensor part = *call->arguments[0].tensors;
    uint32_t axis;
    SIM_TRY(sim_require_dim(&call->arguments[1], part.rank, &axis));
    for (uint64_t i = 0; i < outputs->count; i++) {
        const aclsimTensor *to = &outputs->tensors[i];
        if (sim_walk_is_empty(to->dims, to->rank))
            continue;
        part.dims[axis] = to->dims[axis];
        sim_walk_copy(to, &part);
        if (i + 1 < outputs->count)
            sim_walk_advance(&part, to->dims[axis] * part.strides[axis]);
    }
    return ACL_SUCCESS;
}

/* ---- GatherNd: x, indices, y; the last dimension of indices holds positions in the first dimensions of x ---- */

static aclnnStatus plan_gather_nd(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0], *indices = &call->arguments[1], *y = &call->arguments[2];
    const aclsimTensor *self = x->tensors, *index = indices->tensors;
    int64_t dims[2 * SIM_RANK];
    uint32_t rank = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, y, SIM_TYPES_ALL));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(indices, 1, SIM_RANK));
    int64_t depth = index->dims[index->rank - 1];
    SIM_ARGUMENT(depth <= self->rank, ACLNN_ERR_PARAM_INVALID,
                 "the last dimension of %s is %lld, expected at most %u, the number of dimensions of %s", indices->name,
                 (long long)depth, self->rank, x->name);
    for (uint32_t i = 0; i + 1 < index->rank; i++)
        dims[rank++] = index->dims[i];
    for (uint32_t i = (uint32_t)depth; i < self->rank; i++)
        dims[rank++] = self->dims[i];
    return sim_require_shape(y, dims, rank, "that of the selected elements");
}

struct gathering {
    const aclsimTensor *ga_x, *ga_y, *ga_indices;
    int64_t ga_depth;
};

/* Finds the part of x at the position in one line of indices. */
static aclError find_part(const struct gathering *job, const char *line, aclsimTensor *part)
{
    union sim_block_values found;
    const aclsimTensor *x = job->ga_x, *indices = job->ga_indices;
    *part = *x;
    part->rank = x->rank - (uint32_t)job->ga_depth;
    for (int64_t i = 0; i < job->ga_depth; i++) {
        sim_element_load(&found, SIM_CLASS_INTEGER,
                         line + i * indices->strides[indices->rank - 1] * (int64_t)sim_element_size(indices->type),
                         indices->type, 0, 1);
        if (found.bv_integers[0] < 0 || found.bv_integers[0] >= x->dims[i]) {
            char text[160];
            snprintf(text, sizeof text, "indices has %lld for dimension %lld of x, expected 0 to %lld",
                     (long long)found.bv_integers[0], (long long)i, (long long)x->dims[i] - 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        sim_walk_advance(part, found.bv_integers[0] * x->strides[i]);
    }
    for (uint32_t i = 0; i < part->rank; i++) {
        part->dims[i] = x->dims[(uint32_t)job->ga_depth + i];
        part->strides[i] = x->strides[(uint32_t)job->ga_depth + i];
    }
    return ACL_SUCCESS;
}

/* places: the addresses of a part of y, and of a line of indices. */
static aclError gather_parts(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct gathering *job = context;
    aclsimTensor part, to = *job->ga_y;
    for (int64_t i = 0; i < length; i++) {
        SIM_TRY(find_part(job, places[1] + i * strides[1], &part));
        to.data = places[0] + i * strides[0];
        to.rank = part.rank;
        for (uint32_t k = 0; k < part.rank; k++) {
            uint32_t from = job->ga_indices->rank - 1 + k;
            to.dims[k] = job->ga_y->dims[from];
            to.strides[k] = job->ga_y->strides[from];
        }
        sim_walk_copy(&to, &part);
    }
    return ACL_SUCCESS;
}

static aclError run_gather_nd(const aclsimCall *call)
{
    const aclsimTensor *indices = call->arguments[1].tensors, *y = call->arguments[2].tensors;
    struct gathering job = {call->arguments[0].tensors, y, indices, indices->dims[indices->rank - 1]};
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {y->data, indices->data};
    const size_t sizes[] = {sim_element_size(y->type), sim_element_size(indices->type)};
    for (uint32_t i = 0; i + 1 < indices->rank; i++) {
        const int64_t strides[] = {y->strides[i], indices->strides[i]};
        sim_walk_add(&walk, indices->dims[i], strides, sizes);
    }
    return sim_walk_run(&walk, places, gather_parts, &job);
}

/* ---- schemas ---- */

static const struct sim_kernel strided_kernel = {plan_strided, run_strided, NULL, false},
                               split_kernel = {plan_split, run_split, NULL, false},
                               gather_kernel = {plan_gather_nd, run_gather_nd, NULL, false};
static const struct sim_parameter
    strided_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                            {"starts", ACLSIM_INTEGERS, 0, false},
                            {"steps", ACLSIM_INTEGERS, 0, false},
                            {"sizes", ACLSIM_INTEGERS, 0, false},
                            {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}},
    split_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                          {"axis", ACLSIM_INTEGER, 0, false},
                          {"sizes", ACLSIM_INTEGERS, 0, false},
                          {"outputs", ACLSIM_TENSOR_LIST, ACLSIM_OUT, false}},
    gather_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                           {"indices", ACLSIM_TENSOR, ACLSIM_IN, false},
                           {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_strided_row = SIM_ROW("StridedSlice", SIM_TASK_VECTOR, strided_parameters, &strided_kernel),
               sim_op_split_row = SIM_ROW("Split", SIM_TASK_VECTOR, split_parameters, &split_kernel),
               sim_op_gather_nd_row = SIM_ROW("GatherNd", SIM_TASK_VECTOR, gather_parameters, &gather_kernel);
