/* Operators that write at indices into a dimension. The indices of Scatter, ScatterValue, ScatterAdd and ScatterReduce
 * have the shape of the source, and each belongs to one element; those of IndexAdd, IndexCopy and IndexFill are a line,
 * and each belongs to a slice. IndexFillTensor takes numbers that are known in the first phase.
 *
 * Updates are made in the order of the indices. An index out of range ends the task, and elements written before stay
 * written; only IndexFill leaves such indices out. */
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include "update.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

/* All schemas begin with self, dim, index and source. The result is the last argument, or self. */
enum { SELF, DIM, INDEX, SOURCE, EXTRA, INCLUDES_SELF };

struct scatter {
    uint64_t sc_types;
    enum sim_update_mode sc_mode; /* if no argument selects it */
    int sc_modes;                 /* how many an argument selects from */
};

/* The mode of ScatterReduce after those of updates. */
enum { MEAN = SIM_UPDATE_MODES };

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

/* ---- single elements: Scatter, ScatterValue, ScatterAdd and ScatterReduce ---- */

static aclnnStatus require_mode(const aclsimArgument *mode, int count, const aclsimArgument *self)
{
    static const char *const names[] = {"0 (replace), 1 (add) or 2 (multiply)",
                                        "0 (replace), 1 (add), 2 (multiply), 3 (maximum), 4 (minimum) or 5 (mean)"};
    SIM_ARGUMENT(mode->integer >= 0 && mode->integer < count, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected %s", mode->name, mode->integer, names[count > MEAN]);
    if (mode->integer == MEAN)
        return sim_require_type(self, SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL);
    return sim_require_type(self, mode->integer > SIM_UPDATE_MULTIPLY ? SIM_TYPES_REAL : SIM_TYPES_ARITHMETIC);
}

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
        SIM_TRY(require_mode(mode, scatter->sc_modes, self));
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

/* ---- ScatterReduce: self, dim, index, src, reduce, includeSelf ---- */

struct reduction {
    struct job re_job;
    int64_t re_step; /* in bytes, between counts at consecutive indices */
};

/* places: those of update_elements, and the address of the count at index 0. The first element at an index that has no
 * count replaces the result. */
static aclError reduce_elements(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct reduction *reduction = context;
    const struct job *job = &reduction->re_job;
    int64_t at;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_find(&job->jo_indices, places[0] + i * strides[0], &at))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        char *to = places[2] + i * strides[2] + at * job->jo_indices.in_step, *from = places[1] + i * strides[1];
        int64_t *count = (int64_t *)(void *)(places[3] + i * strides[3] + at * reduction->re_step);
        if ((*count)++ == 0)
            memcpy(to, from, job->jo_update.up_size);
        else
            sim_update_element(&job->jo_update, to, from);
    }
    return ACL_SUCCESS;
}

/* A tensor of counts, one per element of the result, in memory that the caller frees. */
static aclError reserve_counts(const aclsimTensor *out, int64_t first, aclsimTensor *counts)
{
    const struct sim_line line = sim_line_of(out, 0, out->rank);
    int64_t step = 1;
    size_t length;
    void *memory;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_INTEGER, 1, &memory, &length));
    for (size_t i = 0; i < length; i++)
        ((int64_t *)memory)[i] = first;
    *counts = *out;
    counts->data = memory;
    counts->type = ACL_INT64;
    for (uint32_t k = out->rank; k-- > 0; step *= out->dims[k])
        counts->strides[k] = step;
    return ACL_SUCCESS;
}

/* The mean of integers is rounded down, as in PyTorch. An element that no index names keeps the value of self. */
static int64_t mean_of_integers(int64_t sum, int64_t count)
{
    return count == 0 ? sum : sum / count - (sum % count < 0);
}

SIM_EACH_INTEGER(average, mean_of_integers(a, b))
SIM_EACH_FLOAT(average, b == 0 ? a : a / b)
SIM_EACH_PAIR(average, b == 0 ? a : a / creal(b)) /* a quotient of two pairs would be rounded more often */

static void average_block(const struct sim_pointwise *block, const void *context)
{
    static sim_formula_func *const functions[] = {SIM_RUN_REAL(average), SIM_RUN_PAIR(average)};
    const enum sim_class class = sim_element_class(block->pw_tensors[0]->type);
    union sim_block_values loaded[2], result;
    const void *operands[SIM_FORMULA_OPERANDS] = {&loaded[0], &loaded[1], &loaded[0], &loaded[0]};
    (void)context;
    for (size_t i = 0; i < 2; i++)
        sim_element_load(&loaded[i], class, block->pw_places[i], block->pw_tensors[i]->type, block->pw_strides[i],
                         block->pw_count);
    functions[class](&result, operands, block->pw_count);
    sim_element_store(&result, class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

static aclError run_reduce(const aclsimCall *call)
{
    const aclsimTensor *out = start_result(call), *index = call->arguments[INDEX].tensors;
    const int64_t mode = call->arguments[EXTRA].integer;
    const bool averages = mode == MEAN;
    aclsimTensor base = *out, counts;
    struct reduction reduction = {.re_step = 0};
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[DIM], out->rank, &dim));
    SIM_TRY(reserve_counts(out, call->arguments[INCLUDES_SELF].integer != 0, &counts));
    sim_update_start(&reduction.re_job.jo_update, out->type,
                     averages ? SIM_UPDATE_ADD : (enum sim_update_mode)mode, NULL);
    reduction.re_job.jo_indices = indices_of(call, out, dim);
    if (out->rank != 0)
        reduction.re_step = counts.strides[dim] * (int64_t)sizeof(int64_t);
    aclsimTensor at_first = counts;
    base.strides[dim] = at_first.strides[dim] = 0;
    const aclsimTensor *tensors[] = {index, call->arguments[SOURCE].tensors, &base, &at_first};
    aclError ret = sim_indices_end(&reduction.re_job.jo_indices,
                                   sim_walk_in_order(tensors, 4, reduce_elements, &reduction));
    if (ret == ACL_SUCCESS && averages)
        sim_pointwise_run((const aclsimTensor *[]){out, &counts}, 2, average_block, NULL);
    free(counts.data);
    return ret;
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

/* ---- IndexFill and IndexFillTensor: self, dim, index, value ---- */

#define FILLED (SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64) | SIM_TYPES_SINGLE | SIM_TYPES_BOOL)

static aclnnStatus plan_index_fill(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[SELF], *index = &call->arguments[INDEX];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(plan_common(call, FILLED, &dim));
    SIM_TRY(require_scalar(&call->arguments[SOURCE], self->tensors->type));
    if (index->kind == ACLSIM_TENSOR) {
        SIM_TRY(sim_require_type(index, SIM_TYPES_INDEX));
        return sim_require_rank(index, 0, 1);
    }
    const int64_t length = sim_indices_length(self->tensors, dim);
    for (uint64_t i = 0; i < index->count; i++)
        SIM_ARGUMENT(index->integers[i] >= -length && index->integers[i] < length, ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRIu64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for dimension %u of %s",
                     index->name, i, index->integers[i], -length, length - 1, dim, self->name);
    return ACL_SUCCESS;
}

/* The index with this number, counted from the start. */
static int64_t index_at(const aclsimArgument *index, int64_t number, int64_t length)
{
    int64_t at = 0;
    if (index->kind == ACLSIM_TENSOR)
        sim_update_cast(&at, ACL_INT64, sim_indices_nth(index->tensors, number), index->tensors->type);
    else
        at = index->integers[number];
    return at < 0 ? at + length : at;
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
    const int64_t count = index->kind == ACLSIM_TENSOR ? sim_walk_count(index->tensors) : (int64_t)index->count;
    for (int64_t i = 0; i < count && !sim_walk_is_empty(out->dims, out->rank); i++) {
        aclsimTensor slice = sim_line_without(out, dim);
        const int64_t length = sim_indices_length(out, dim), at = index_at(index, i, length);
        if (at < 0 || at >= length)
            continue;
        if (length > 1)
            sim_walk_advance(&slice, at * out->strides[dim]);
        sim_walk_fill(&slice, element);
    }
    return ACL_SUCCESS;
}

static const struct scatter scatter = {SIM_TYPES_ARITHMETIC, SIM_UPDATE_REPLACE, SIM_UPDATE_MULTIPLY + 1},
                            scatter_add = {SIM_TYPES_ARITHMETIC, SIM_UPDATE_ADD, 0},
                            scatter_reduce = {SIM_TYPES_ARITHMETIC, SIM_UPDATE_REPLACE, MEAN + 1},
                            index_add = {SIM_TYPES_REAL, SIM_UPDATE_ADD, 0};

#define KERNEL(op, phases, operator)                                                                                   \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_##phases, run_##phases, (void *)(operator), false}
#define REDUCTION(op)                                                                                                  \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_scatter, run_reduce, (void *)&scatter_reduce, false}

KERNEL(Scatter, scatter, &scatter);
KERNEL(InplaceScatter, scatter, &scatter);
KERNEL(ScatterValue, scatter, &scatter);
KERNEL(InplaceScatterValue, scatter, &scatter);
KERNEL(ScatterAdd, scatter, &scatter_add);
REDUCTION(ScatterReduce);
REDUCTION(InplaceScatterReduce);
KERNEL(IndexAdd, slices, &index_add);
KERNEL(IndexCopy, slices, &scatter);
KERNEL(InplaceIndexCopy, slices, &scatter);
KERNEL(IndexFill, index_fill, NULL);
KERNEL(InplaceIndexFill, index_fill, NULL);
KERNEL(IndexFillTensor, index_fill, NULL);
KERNEL(InplaceIndexFillTensor, index_fill, NULL);
