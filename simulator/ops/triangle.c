/* Operators on matrices and their diagonals: Eye, Triu, Tril and their forms in place, Diag, DiagFlat and Trace. A
 * diagonal is a view of one dimension; it lies above the main one if its number is positive. */
#include "base/fail.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"
#include "walk.h"

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t length_of(const aclsimTensor *matrix, int64_t diagonal)
{
    int64_t rows = matrix->dims[0], columns = matrix->dims[1];
    if (diagonal >= columns || diagonal <= -rows)
        return 0;
    return diagonal >= 0 ? least(rows, columns - diagonal) : least(rows + diagonal, columns);
}

/* The diagonal, which is not empty. */
static aclsimTensor diagonal_of(const aclsimTensor *matrix, int64_t diagonal)
{
    aclsimTensor view = {.data = matrix->data, .rank = 1, .type = matrix->type};
    view.dims[0] = length_of(matrix, diagonal);
    view.strides[0] = view.dims[0] == 1 ? 0 : matrix->strides[0] + matrix->strides[1];
    if (diagonal != 0)
        sim_walk_advance(&view, diagonal > 0 ? diagonal * matrix->strides[1] : -diagonal * matrix->strides[0]);
    return view;
}

/* ---- Eye: n, m, out ---- */

#define IDENTITY (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE)

static aclnnStatus plan_eye(const aclsimCall *call, uint64_t *workspace_size)
{
    int64_t dims[2];
    (void)workspace_size;
    SIM_TRY(sim_require_type(&call->arguments[2], IDENTITY));
    for (uint32_t i = 0; i < 2; i++) {
        SIM_TRY(sim_require_natural(&call->arguments[i]));
        dims[i] = call->arguments[i].integer;
    }
    return sim_require_shape(&call->arguments[2], dims, 2, "that of n and m");
}

static aclError run_eye(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[2].tensors, view = diagonal_of(out, 0);
    union sim_block_values one = {.bv_integers = {1}};
    _Alignas(16) char element[16];
    sim_element_store(&one, SIM_CLASS_INTEGER, element, out->type, 0, 1);
    sim_walk_fill(out, NULL);
    sim_walk_fill(&view, element);
    return ACL_SUCCESS;
}

/* ---- Triu and Tril: self, diagonal, out; in place: selfRef, diagonal ---- */

#define CUT (SIM_TYPES_ALL & ~SIM_TYPE(ACL_COMPLEX128))

/* Operators in place have no other tensor than the result. */
static const aclsimArgument *result_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount == 3 ? 2 : 0];
}

static aclnnStatus plan_triangle(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = result_of(call);
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, CUT));
    SIM_TRY(sim_require_rank(self, 2, SIM_RANK));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

/* Sets the columns from `first` to before `end` of a row to 0, in all matrices. */
static void clear_row(const aclsimTensor *out, int64_t row, int64_t first, int64_t end)
{
    uint32_t rows = out->rank - 2, columns = out->rank - 1;
    aclsimTensor part = *out;
    if (first >= end)
        return;
    if (row != 0)
        sim_walk_advance(&part, row * part.strides[rows]);
    if (first != 0)
        sim_walk_advance(&part, first * part.strides[columns]);
    part.dims[rows] = 1;
    part.dims[columns] = end - first;
    sim_walk_fill(&part, NULL);
}

static int64_t clamp(int64_t number, int64_t low, int64_t high)
{
    return number < low ? low : least(number, high);
}

static aclError run_triangle(const aclsimCall *call)
{
    const bool upper = *(const bool *)call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *out = result_of(call)->tensors;
    int64_t rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1];
    int64_t diagonal = clamp(call->arguments[1].integer, -rows, columns); /* beyond these nothing changes */
    if (self != out)
        sim_walk_copy(out, self);
    for (int64_t row = 0; row < rows; row++) {
        int64_t from = clamp(row + diagonal, 0, columns), behind = clamp(row + diagonal + 1, 0, columns);
        clear_row(out, row, upper ? 0 : behind, upper ? from : columns);
    }
    return ACL_SUCCESS;
}

/* ---- Diag and DiagFlat: self, diagonal, out ---- */

#define DIAGONAL (SIM_TYPES_REAL | SIM_TYPE(ACL_COMPLEX64))

/* The dimensions of the matrix whose diagonal has this many elements. */
static aclnnStatus find_square(const aclsimArgument *given, int64_t length, int64_t *dims)
{
    int64_t diagonal = given[1].integer;
    bool fits = diagonal < 0 ? !__builtin_sub_overflow(length, diagonal, &dims[0])
                             : !__builtin_add_overflow(length, diagonal, &dims[0]);
    SIM_ARGUMENT(length >= 0 && fits, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected a matrix that fits 64 bits",
                 given[1].name, (long long)diagonal);
    dims[1] = dims[0];
    return ACL_SUCCESS;
}

static aclnnStatus plan_diagonal(const aclsimCall *call, uint64_t *workspace_size)
{
    const bool flat = *(const bool *)call->userData;
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors;
    int64_t dims[2] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[2], DIAGONAL));
    SIM_TRY(sim_require_rank(&given[0], 1, flat ? SIM_RANK : 2));
    if (flat || self->rank == 1) {
        SIM_TRY(find_square(given, sim_walk_count(self), dims));
        return sim_require_shape(&given[2], dims, 2, "that of the matrix with this diagonal");
    }
    dims[0] = length_of(self, given[1].integer);
    return sim_require_shape(&given[2], dims, 1, "that of the diagonal");
}

static aclError run_diagonal(const aclsimCall *call)
{
    const bool flat = *(const bool *)call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[2].tensors;
    int64_t diagonal = call->arguments[1].integer;
    aclsimTensor view;
    if (!flat && self->rank == 2) {
        view = diagonal_of(self, diagonal);
        sim_walk_copy(out, &view);
        return ACL_SUCCESS;
    }
    sim_walk_fill(out, NULL);
    if (length_of(out, diagonal) == 0)
        return ACL_SUCCESS;
    view = diagonal_of(out, diagonal);
    view = sim_walk_fold(&view, self);
    sim_walk_copy(&view, self);
    return ACL_SUCCESS;
}

/* ---- Trace: self, out ---- */

static aclnnStatus plan_trace(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[1];
    aclDataType type = self->tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_ARITHMETIC));
    if (sim_element_class(type) == SIM_CLASS_INTEGER)
        SIM_TRY(sim_require_same_type(out, ACL_INT64, "the sum"));
    else
        SIM_TRY(sim_require_same_type(out, type, self->name));
    SIM_TRY(sim_require_rank(self, 2, 2));
    return sim_require_one(out);
}

static aclError run_trace(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[1].tensors;
    enum sim_class class = sim_reduce_class(self->type);
    int64_t length = length_of(self, 0);
    aclsimTensor view = length == 0 ? *self : diagonal_of(self, 0);
    union sim_block_values sum = {.bv_double_pairs = {0}}, block;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        const char *from = (const char *)view.data + done * view.strides[0] * (int64_t)sim_element_size(view.type);
        sim_element_load(&block, class, from, view.type, view.strides[0], count);
        for (size_t i = 0; i < count; i++)
            if (class == SIM_CLASS_INTEGER)
                sum.bv_bits[0] += block.bv_bits[i];
            else if (class == SIM_CLASS_DOUBLE)
                sum.bv_doubles[0] += block.bv_doubles[i];
            else
                sum.bv_double_pairs[0] += block.bv_double_pairs[i];
    }
    sim_element_store(&sum, class, out->data, out->type, 0, 1);
    return ACL_SUCCESS;
}

static const bool yes = true, no = false;

const struct sim_kernel sim_kernel_aclnnEye = {plan_eye, run_eye, NULL, false},
                        sim_kernel_aclnnTriu = {plan_triangle, run_triangle, (void *)&yes, false},
                        sim_kernel_aclnnInplaceTriu = {plan_triangle, run_triangle, (void *)&yes, false},
                        sim_kernel_aclnnTril = {plan_triangle, run_triangle, (void *)&no, false},
                        sim_kernel_aclnnInplaceTril = {plan_triangle, run_triangle, (void *)&no, false},
                        sim_kernel_aclnnDiag = {plan_diagonal, run_diagonal, (void *)&no, false},
                        sim_kernel_aclnnDiagFlat = {plan_diagonal, run_diagonal, (void *)&yes, false},
                        sim_kernel_aclnnTrace = {plan_trace, run_trace, NULL, false};
