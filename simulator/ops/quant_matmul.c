/* QuantMatmul and its versions: x1 @ x2 of integers, with a bias, scaled per column or as a whole, in some versions
 * also per row, and with an offset if the result is int8. A bias of integers is added before the scales are applied,
 * any other one after. A result of int32 is not scaled. Dimensions before the last two are batches, which are
 * broadcast. */
#include "quant_matmul.h"

#include "quant_product.h"
#include <inttypes.h>
#include <stdlib.h>

#define LEAST_RANK 2
#define MOST_RANK 6

static const struct sim_quant_matmul *places_of(const aclsimCall *call)
{
    return call->userData;
}

static const aclsimArgument *result_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount - 1];
}

/* An argument, or NULL if the version has none or the tensor is absent. */
static const aclsimArgument *find(const aclsimCall *call, uint8_t place)
{
    const aclsimArgument *argument = &call->arguments[place];
    return place == 0 || (argument->kind == ACLSIM_TENSOR && argument->present == 0) ? NULL : argument;
}

/* ---- factors ---- */

/* Exchanges the last two dimensions. */
static aclsimTensor turn(aclsimTensor matrix)
{
    const uint32_t row = matrix.rank - 2, column = matrix.rank - 1;
    const int64_t dim = matrix.dims[row], stride = matrix.strides[row];
    matrix.dims[row] = matrix.dims[column];
    matrix.strides[row] = matrix.strides[column];
    matrix.dims[column] = dim;
    matrix.strides[column] = stride;
    return matrix;
}

/* The view of factor 0 or 1, as the product needs it. */
static aclsimTensor factor_of(const aclsimCall *call, uint32_t factor, const aclsimTensor *plain)
{
    const uint8_t turns = places_of(call)->qm_turns;
    return turns != 0 && call->arguments[turns + factor].integer != 0 ? turn(*plain) : *plain;
}

struct shape {
    aclsimTensor sh_left, sh_right; /* views */
    int64_t sh_dims[SIM_RANK];      /* of the result */
    uint32_t sh_rank;
};

/* The size of dimension `place` of `rank` ones, aligned at the right. */
static int64_t dim_at(const aclsimTensor *tensor, uint32_t rank, uint32_t place)
{
    const uint32_t missing = rank - tensor->rank;
    return place < missing ? 1 : tensor->dims[place - missing];
}

/* The last dimension, as the factor is stored, has a limit; the others have none. */
static aclnnStatus check_last(const aclsimArgument *factor, const aclsimTensor *plain)
{
    const int64_t last = plain->dims[plain->rank - 1];
    SIM_ARGUMENT(last <= SIM_QUANT_SIZE, ACLNN_ERR_PARAM_INVALID,
                 "the last dimension of %s has %" PRId64 " numbers, expected %d at most", factor->name, last,
                 SIM_QUANT_SIZE);
    return ACL_SUCCESS;
}

static aclnnStatus find_shape(const aclsimCall *call, struct shape *shape)
{
    const aclsimArgument *x1 = &call->arguments[0], *x2 = &call->arguments[1];
    SIM_TRY(sim_require_rank(x1, LEAST_RANK, MOST_RANK));
    SIM_TRY(sim_require_rank(x2, LEAST_RANK, MOST_RANK));
    const aclsimTensor one = sim_packed_view(x1->tensors, sim_packed_axis(x1->tensors));
    const aclsimTensor other = sim_packed_view(x2->tensors, sim_packed_axis(x2->tensors));
    SIM_ARGUMENT(one.rank != 0 && other.rank != 0, ACLNN_ERR_PARAM_INVALID,
                 "%s and %s have more elements than fit into 63 bits", x1->name, x2->name);
    SIM_TRY(check_last(x1, &one));
    SIM_TRY(check_last(x2, &other));
    *shape = (struct shape){.sh_left = factor_of(call, 0, &one), .sh_right = factor_of(call, 1, &other)};
    const aclsimTensor *left = &shape->sh_left, *right = &shape->sh_right;
    const int64_t depth = left->dims[left->rank - 1], across = right->dims[right->rank - 2];
    SIM_ARGUMENT(depth == across, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " columns and %s has %" PRId64 " rows, expected the same", x1->name, depth, x2->name,
                 across);
    shape->sh_rank = left->rank > right->rank ? left->rank : right->rank;
    for (uint32_t k = 0; k + 2 < shape->sh_rank; k++) {
        const int64_t size = dim_at(left, shape->sh_rank, k), matching = dim_at(right, shape->sh_rank, k);
        SIM_ARGUMENT(size == matching || size == 1 || matching == 1, ACLNN_ERR_PARAM_INVALID,
                     "the batches of %s and %s have %" PRId64 " and %" PRId64 " elements, expected the same or 1",
                     x1->name, x2->name, size, matching);
        shape->sh_dims[k] = size == 1 ? matching : size;
    }
    shape->sh_dims[shape->sh_rank - 2] = left->dims[left->rank - 2];
    shape->sh_dims[shape->sh_rank - 1] = right->dims[right->rank - 1];
    return ACL_SUCCESS;
}

/* ---- the first phase ---- */

static aclnnStatus check_types(const aclsimCall *call)
{
    const struct sim_quant_matmul *places = places_of(call);
    const aclsimArgument *scale = find(call, places->qm_scale), *offset = find(call, places->qm_offset);
    const aclsimArgument *rows = find(call, places->qm_rows), *bias = find(call, places->qm_bias);
    const aclsimArgument *out = result_of(call);
    for (size_t k = 0; k < 2; k++)
        SIM_TRY(sim_packed_require(&call->arguments[k], places->qm_types));
    if (scale->kind == ACLSIM_TENSOR)
        SIM_TRY(sim_require_type(scale, SIM_TYPES_SCALE | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_BF16)));
    if (rows != NULL)
        SIM_TRY(sim_require_type(rows, SIM_TYPE(ACL_FLOAT)));
    if (bias != NULL)
        SIM_TRY(sim_require_type(bias, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_type(out, SIM_TYPES_HALF | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT32)));
    if (offset == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(offset, SIM_TYPE(ACL_FLOAT)));
    SIM_ARGUMENT(out->tensors->type == ACL_INT8, ACLNN_ERR_PARAM_INVALID, "%s is a tensor, expected NULL unless %s is "
                 "int8", offset->name, out->name);
    return ACL_SUCCESS;
}

static aclnnStatus check_numbers(const aclsimCall *call, const struct shape *shape)
{
    const struct sim_quant_matmul *places = places_of(call);
    const aclsimArgument *scale = find(call, places->qm_scale), *offset = find(call, places->qm_offset);
    const aclsimArgument *rows = find(call, places->qm_rows), *bias = find(call, places->qm_bias);
    const int64_t columns = shape->sh_dims[shape->sh_rank - 1];
    if (scale->kind == ACLSIM_TENSOR)
        SIM_TRY(sim_packed_require_vector(scale, columns));
    if (offset != NULL)
        SIM_TRY(sim_packed_require_vector(offset, columns));
    if (rows != NULL)
        SIM_TRY(sim_require_shape(rows, &shape->sh_dims[shape->sh_rank - 2], 1, "one number per row"));
    if (bias == NULL)
        return ACL_SUCCESS;
    const int64_t dims[] = {shape->sh_dims[0], 1, columns};
    return bias->tensors->rank == 3 && shape->sh_rank == 3
               ? sim_require_shape(bias, dims, 3, "one number per batch and column")
               : sim_require_shape(bias, &columns, 1, "one number per column");
}

aclnnStatus sim_quant_matmul_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sim_quant_matmul *places = places_of(call);
    struct shape shape;
    (void)workspace_size;
    SIM_TRY(check_types(call));
    for (size_t k = 0; k < sizeof places->qm_absent; k++) { /* torch_npu passes tensors without elements */
        const aclsimArgument *absent = find(call, places->qm_absent[k]);
        SIM_ARGUMENT(absent == NULL || sim_walk_count(absent->tensors) == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s is a tensor, expected NULL", absent->name);
    }
    const aclsimArgument *group = find(call, places->qm_group);
    SIM_ARGUMENT(group == NULL || group->integer == 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0",
                 group->name, group->integer);
    SIM_TRY(find_shape(call, &shape));
    SIM_TRY(check_numbers(call, &shape));
    SIM_TRY(sim_require_shape(result_of(call), shape.sh_dims, shape.sh_rank, "that of the product"));
    SIM_ARGUMENT(!sim_walk_is_empty(shape.sh_dims, shape.sh_rank), ACLNN_ERR_PARAM_INVALID,
                 "%s is empty, expected one element or more", result_of(call)->name);
    return ACL_SUCCESS;
}

/* ---- the second phase ---- */

/* The matrix at a position among the batches of the result. */
static aclsimTensor matrix_at(const aclsimTensor *tensor, const struct shape *shape, const int64_t *at)
{
    aclsimTensor matrix = {.data = tensor->data, .rank = 2, .type = tensor->type};
    const uint32_t batches = tensor->rank - 2, missing = shape->sh_rank - tensor->rank;
    for (uint32_t k = 0; k < batches; k++)
        if (tensor->dims[k] > 1)
            sim_walk_advance(&matrix, at[k + missing] * tensor->strides[k]);
    for (uint32_t k = 0; k < 2; k++) {
        matrix.dims[k] = tensor->dims[batches + k];
        matrix.strides[k] = tensor->strides[batches + k];
    }
    return matrix;
}

static aclError load_numbers(const aclsimCall *call, struct sim_lists *lists, size_t columns,
                             struct sim_quant_product *product)
{
    const struct sim_quant_matmul *places = places_of(call);
    const aclsimArgument *scale = find(call, places->qm_scale), *offset = find(call, places->qm_offset);
    const aclsimArgument *rows = find(call, places->qm_rows);
    double *numbers;
    if (result_of(call)->tensors->type == ACL_INT32)
        return ACL_SUCCESS;
    if (scale->kind == ACLSIM_TENSOR) {
        SIM_TRY(sim_packed_load_vector(lists, scale, columns, &product->qp_scale));
    } else {
        SIM_TRY(sim_lists_take(lists, columns, &numbers));
        for (size_t i = 0; i < columns; i++)
            numbers[i] = scale->number;
        product->qp_scale = numbers;
    }
    if (offset != NULL)
        SIM_TRY(sim_packed_load_vector(lists, offset, columns, &product->qp_offset));
    if (rows == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, rows, &numbers));
    product->qp_rows = numbers;
    return ACL_SUCCESS;
}

static aclError run_batches(const aclsimCall *call, struct sim_lists *lists, const struct shape *shape)
{
    const aclsimArgument *bias = find(call, places_of(call)->qm_bias);
    const aclsimTensor *out = result_of(call)->tensors;
    const size_t columns = (size_t)shape->sh_dims[shape->sh_rank - 1];
    struct sim_quant_product product = {.qp_group = 0};
    int64_t at[SIM_RANK] = {0};
    double *biases = NULL;
    SIM_TRY(load_numbers(call, lists, columns, &product));
    if (bias != NULL)
        SIM_TRY(sim_lists_load(lists, bias, &biases));
    do {
        const double *numbers = bias == NULL || bias->tensors->rank == 1 ? biases : biases + (size_t)at[0] * columns;
        product.qp_left = matrix_at(&shape->sh_left, shape, at);
        product.qp_right = matrix_at(&shape->sh_right, shape, at);
        product.qp_out = matrix_at(out, shape, at);
        if (bias != NULL && bias->tensors->type == ACL_INT32)
            product.qp_early = numbers;
        else
            product.qp_late = numbers;
        SIM_TRY(sim_quant_product_run(&product));
    } while (sim_walk_step(shape->sh_dims, shape->sh_rank - 2, at));
    return ACL_SUCCESS;
}

aclError sim_quant_matmul_run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimTensor *x1 = call->arguments[0].tensors, *x2 = call->arguments[1].tensors;
    struct shape shape;
    aclsimTensor plain, other;
    void *memory, *more = NULL;
    SIM_TRY(find_shape(call, &shape));
    SIM_TRY(sim_packed_open(x1, sim_packed_axis(x1), &plain, &memory));
    aclError code = sim_packed_open(x2, sim_packed_axis(x2), &other, &more);
    if (code == ACL_SUCCESS) {
        shape.sh_left = factor_of(call, 0, &plain);
        shape.sh_right = factor_of(call, 1, &other);
        code = run_batches(call, lists, &shape);
    }
    free(memory);
    free(more);
    return code;
}

/* ---- versions ---- */

#define VERSION(op, ...)                                                                                               \
    static const struct sim_quant_matmul version_##op = {.qm_kind = {sim_quant_matmul_run}, .qm_types = __VA_ARGS__};  \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_quant_matmul_plan, sim_lists_run, (void *)&version_##op, false}

/* x1, x2, bias, deqScale, out; deqScale is a number */
VERSION(QuantMatmul, SIM_TYPE(ACL_INT8), .qm_bias = 2, .qm_scale = 3);
/* x1, x2, bias, deqScale, adjX1, adjX2, out */
VERSION(QuantMatmulV2, SIM_TYPE(ACL_INT8), .qm_bias = 2, .qm_scale = 3, .qm_turns = 4);
/* x1, x2, scale, offset, bias, transposeX1, transposeX2, out */
VERSION(QuantMatmulV3, SIM_TYPES_PACKED, .qm_scale = 2, .qm_offset = 3, .qm_bias = 4, .qm_turns = 5);
/* x1, x2, scale, offset, pertokenScale, bias, transposeX1, transposeX2, out */
VERSION(QuantMatmulV4, SIM_TYPES_PACKED, .qm_scale = 2, .qm_offset = 3, .qm_rows = 4, .qm_bias = 5, .qm_turns = 6);
/* x1, x2, x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, bias, transposeX1, transposeX2, groupSize, out */
VERSION(QuantMatmulWeightNz, SIM_TYPES_PACKED, .qm_rows = 2, .qm_scale = 3, .qm_absent = {4, 5, 7}, .qm_offset = 6,
        .qm_bias = 8, .qm_turns = 9, .qm_group = 11);
