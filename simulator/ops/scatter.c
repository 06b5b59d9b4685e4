/* Operators that write at indices into a dimension. The indices of Scatter, ScatterValue and ScatterAdd have the shape
 * of the source, and each belongs to one element; those of IndexAdd and IndexCopy are a line, and each belongs to a
 * slice. IndexFillTensor takes numbers that are known in the first phase.
 *
 * Updates are made in the order of the indices. An index out of range ends the task, and elements written before stay
 * written. */
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include "update.h"
#include <inttypes.h>

/* All schemas begin with self, dim, index and source. The result is the last argument, or self. */
enum { SELF, DIM, INDEX, SOURCE, EXTRA };

struct scatter {
    uint64_t sc_types;
    enum sim_update_mode sc_mode; /* if no argument selects it */
};

static const aclsimArgument *result_of(const aclsimCall *call)
{
    const aclsimArgument *last = &call->arguments[call->argumentCount - 1];
    return last->kind == ACLSIM_TENSOR && (last->direction & ACLSIM_OUT) != 0 ? last : &call->arguments[SELF];
}

/* The argument at EXTRA, if it is of this kind. */
static const aclsimArgument *extra_of(const aclsimCall *call, aclsimArgumentKind kind)
{
    const aclsimArgument *extra = &call->arguments[EXTRA];
    return call->argumentCount > EXTRA && extra->kind == kind ? extra : NULL;
}

/* What all of them check; finds the dimension. */
static aclnnStatus plan_common(const aclsimCall *call, uint64_t types, uint32_t *dim)
{
    const aclsimArgument *self = &call->arguments[SELF], *out = result_of(call);
    const aclsimTensor *tensor = self->tensors;
    SIM_TRY(sim_require_types(self, out, types));
    SIM_TRY(sim_require_dim(&call->arguments[DIM], tensor->rank, dim));
    return sim_require_shape(out, tensor->dims, tensor->rank, "that of self");
}

static aclnnStatus plan_indices(const aclsimCall *call, uint64_t types, uint32_t *dim)
{
    const aclsimArgument *self = &call->arguments[SELF], *index = &call->arguments[INDEX];
    const aclsimTensor *tensor = self->tensors;
    SIM_TRY(plan_common(call, types, dim));
    SIM_TRY(sim_require_type(index, SIM_TYPES_INDEX));
    SIM_ARGUMENT(sim_indices_length(tensor, *dim) != 0 ||
                     sim_walk_is_empty(index->tensors->dims, index->tensors->rank),
                 ACLNN_ERR_PARAM_INVALID, "dimension %u of %s is 0, expected 1 or more because the index is not empty",
                 *dim, self->name);
    return ACL_SUCCESS;
}

static aclnnStatus require_scalar(const aclsimArgument *scalar, aclDataType type)
{
    SIM_TRY(sim_require_type(scalar, SIM_TYPES_ARITHMETIC));
    return sim_require_cast(scalar->name, scalar->scalars->type, "the type of self", type);
}

/* The result begins as a copy of self. */
static const aclsimTensor *start_result(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[SELF], *out = result_of(call);
    if (out != self)
        sim_walk_copy(out->tensors, self->tensors);
    return out->tensors;
}

/* ---- single elements: Scatter, ScatterValue and ScatterAdd ---- */

/* A dimension of the index may be shorter than that of self or of the source. */
static aclnnStatus require_within(const aclsimArgument *index, uint32_t k, const aclsimArgument *of)
{
    const int64_t found = index->tensors->dims[k], most = of->tensors->dims[k];
    SIM_ARGUMENT(found <= most, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %" PRId64 ", expected at most %" PRId64 ", the size in %s", k, index->name,
                 found, most, of->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan_scatter(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct scatter *scatter = call->userData;
    const aclsimArgument *self = &call->arguments[SELF], *index = &call->arguments[INDEX];
    const aclsimArgument *source = &call->arguments[SOURCE], *mode = extra_of(call, ACLSIM_INTEGER);
    const uint32_t rank = self->tensors->rank;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(plan_indices(call, scatter->sc_types, &dim));
    SIM_TRY(sim_require_rank(index, rank, rank));
    if (mode != NULL)
        SIM_ARGUMENT(mode->integer >= 0 && mode->integer < SIM_UPDATE_MODES, ACLNN_ERR_PARAM_INVALID,
                     "%s is %" PRId64 ", expected 0 (replace), 1 (add) or 2 (multiply)", mode->name, mode->integer);
    if (source->kind == ACLSIM_SCALAR) {
        SIM_TRY(require_scalar(source, self->tensors->type));
    } else {
        SIM_TRY(sim_require_same_type(source, self->tensors->type, self->name));
        SIM_TRY(sim_require_rank(source, rank, rank));
    }
    if (sim_walk_is_empty(index->tensors->dims, rank))
        return ACL_SUCCESS;
    for (uint32_t k = 0; k < rank; k++) {
        if (k != dim)
            SIM_TRY(require_within(index, k, self));
        if (source->kind == ACLSIM_TENSOR)
            SIM_TRY(require_within(index, k, source));
    }
    return ACL_SUCCESS;
}

struct job {
    struct sim_indices jo_indices;
    struct sim_update jo_update;
    struct sim_walk jo_slice; /* over a slice of the result and of the source; used for slices */
};

/* places: the addresses of the indices, of the source, and of the result at index 0. */
static aclError update_elements(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    int64_t offset;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_offset(&job->jo_indices, places[0] + i * strides[0], &offset))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        sim_update_element(&job->jo_update, places[2] + i * strides[2] + offset, places[1] + i * strides[1]);
    }
    return ACL_SUCCESS;
}

static struct sim_indices indices_of(const aclsimCall *call, const aclsimTensor *out, uint32_t dim)
{
    const aclsimArgument *index = &call->arguments[INDEX];
    return sim_indices_of(index->name, index->tensors, &call->arguments[SELF], out, dim, false);
}

static aclError run_scatter(const aclsimCall *call)
{
    const struct scatter *scatter = call->userData;
    const aclsimArgument *source = &call->arguments[SOURCE], *mode = extra_of(call, ACLSIM_INTEGER);
    const aclsimTensor *out = start_result(call), *index = call->arguments[INDEX].tensors;
    _Alignas(16) char element[16];
    aclsimTensor value = {.data = element, .type = out->type}, base = *out; /* base: without the indexed dimension */
    struct job job = {.jo_slice.wk_places = 2};
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[DIM], out->rank, &dim));
    if (source->kind == ACLSIM_SCALAR)
        sim_update_cast(element, out->type, source->scalars->value, source->scalars->type);
    else
        value = *source->tensors;
    base.strides[dim] = 0;
    sim_update_start(&job.jo_update, out->type, mode == NULL ? scatter->sc_mode : (enum sim_update_mode)mode->integer,
                     NULL);
    job.jo_indices = indices_of(call, out, dim);
    const aclsimTensor *tensors[] = {index, &value, &base};
    return sim_indices_end(&job.jo_indices, sim_walk_in_order(tensors, 3, update_elements, &job));
}

/* ---- slices: IndexAdd and IndexCopy ---- */

static aclnnStatus plan_slices(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct scatter *scatter = call->userData;
    const aclsimArgument *self = &call->arguments[SELF], *index = &call->arguments[INDEX];
    const aclsimArgument *source = &call->arguments[SOURCE], *factor = extra_of(call, ACLSIM_SCALAR);
    aclsimTensor wanted = *self->tensors;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(plan_indices(call, scatter->sc_types, &dim));
    SIM_TRY(sim_require_same_type(source, wanted.type, self->name));
    SIM_TRY(sim_require_rank(index, 0, 1));
    if (factor != NULL)
        SIM_TRY(require_scalar(factor, wanted.type));
    const int64_t count = sim_indices_length(index->tensors, 0);
    SIM_ARGUMENT(wanted.rank != 0 || count == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected 1 because %s is a scalar", index->name, count, self->name);
    wanted.dims[dim] = count;
    return sim_require_shape(source, wanted.dims, wanted.rank, "one slice of self per index");
}

/* places: the addresses of the indices, of the first elements of slices of the source, and of the result at index 0. */
static aclError update_slices(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    int64_t offset;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_offset(&job->jo_indices, places[0] + i * strides[0], &offset))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        char *slice[] = {places[2] + offset, places[1] + i * strides[1]};
        sim_walk_run(&job->jo_slice, slice, sim_update_line, &job->jo_update);
    }
    return ACL_SUCCESS;
}

static aclError run_slices(const aclsimCall *call)
{
    const struct scatter *scatter = call->userData;
    const aclsimTensor *out = start_result(call), *source = call->arguments[SOURCE].tensors;
    const aclsimTensor *index = call->arguments[INDEX].tensors;
    const aclsimArgument *factor = extra_of(call, ACLSIM_SCALAR);
    const size_t size = sim_element_size(out->type), sizes[] = {sim_element_size(index->type), size, size};
    struct sim_walk walk = {.wk_places = 3};
    struct job job = {.jo_slice.wk_places = 2};
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[DIM], out->rank, &dim));
    sim_update_start(&job.jo_update, out->type, scatter->sc_mode, factor == NULL ? NULL : factor->scalars);
    job.jo_indices = indices_of(call, out, dim);
    for (uint32_t k = 0; k < out->rank; k++)
        if (k != dim)
            sim_walk_add(&job.jo_slice, out->dims[k], (const int64_t[]){out->strides[k], source->strides[k]},
                         (const size_t[]){size, size});
    sim_walk_settle(&job.jo_slice);
    if (index->rank != 0)
        sim_walk_add(&walk, index->dims[0],
                     (const int64_t[]){index->strides[0], out->rank == 0 ? 0 : source->strides[dim], 0}, sizes);
    char *places[] = {index->data, source->data, out->data};
    return sim_indices_end(&job.jo_indices, sim_walk_run(&walk, places, update_slices, &job));
}

/* ---- IndexFillTensor: self, dim, index, value ---- */

#define FILLED (SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64) | SIM_TYPES_SINGLE | SIM_TYPES_BOOL)

static aclnnStatus plan_index_fill(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[SELF], *index = &call->arguments[INDEX];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(plan_common(call, FILLED, &dim));
    SIM_TRY(require_scalar(&call->arguments[SOURCE], self->tensors->type));
    const int64_t length = sim_indices_length(self->tensors, dim);
    for (uint64_t i = 0; i < index->count; i++)
        SIM_ARGUMENT(index->integers[i] >= -length && index->integers[i] < length, ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRIu64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for dimension %u of %s",
                     index->name, i, index->integers[i], -length, length - 1, dim, self->name);
    return ACL_SUCCESS;
}

static aclError run_index_fill(const aclsimCall *call)
{
    const aclsimTensor *out = start_result(call);
    const aclsimArgument *index = &call->arguments[INDEX];
    const aclsimScalar *value = call->arguments[SOURCE].scalars;
    _Alignas(16) char element[16];
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[DIM], out->rank, &dim));
    sim_update_cast(element, out->type, value->value, value->type);
    for (uint64_t i = 0; i < index->count && !sim_walk_is_empty(out->dims, out->rank); i++) {
        aclsimTensor slice = sim_line_without(out, dim);
        const int64_t length = sim_indices_length(out, dim), at = index->integers[i];
        if (length > 1)
            sim_walk_advance(&slice, (at < 0 ? at + length : at) * out->strides[dim]);
        sim_walk_fill(&slice, element);
    }
    return ACL_SUCCESS;
}

static const struct scatter scatter = {SIM_TYPES_ARITHMETIC, SIM_UPDATE_REPLACE},
                            scatter_add = {SIM_TYPES_ARITHMETIC, SIM_UPDATE_ADD},
                            index_add = {SIM_TYPES_REAL, SIM_UPDATE_ADD};

#define KERNEL(op, phases, operator)                                                                                   \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_##phases, run_##phases, (void *)(operator), false}

KERNEL(Scatter, scatter, &scatter);
KERNEL(InplaceScatter, scatter, &scatter);
KERNEL(ScatterValue, scatter, &scatter);
KERNEL(InplaceScatterValue, scatter, &scatter);
KERNEL(ScatterAdd, scatter, &scatter_add);
KERNEL(IndexAdd, slices, &index_add);
KERNEL(IndexCopy, slices, &scatter);
KERNEL(InplaceIndexCopy, slices, &scatter);
KERNEL(IndexFillTensor, index_fill, NULL);
KERNEL(InplaceIndexFillTensor, index_fill, NULL);
