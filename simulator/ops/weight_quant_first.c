/* WeightQuantBatchMatmul: x1, x2, diagonalMatrix, deqOffset, deqScale, addOffset, mulScale, bias, transposeX1,
 * transposeX2, antiquantScale, antiquantOffset, out. The result is x1 @ weight + bias, where the weight is
 * (x2 + deqOffset) * deqScale for at most 64 rows of x1, and otherwise
 * ((x2 - antiquantOffset) * antiquantScale + addOffset) * mulScale. Programs pass operands that make both the same; if
 * those of one form are absent, the other form is used. The diagonal matrix is a constant of the card. */
#include "quant_product.h"

#include <inttypes.h>

enum {
    X1,
    X2,
    DIAGONAL,
    EARLY_OFFSET,
    EARLY_SCALE,
    LATE_OFFSET,
    LATE_SCALE,
    BIAS,
    TURN_X1,
    TURN_X2,
    ANTI_SCALE,
    ANTI_OFFSET,
    OUT
};

#define FEW_ROWS 64

static aclsimTensor factor_of(const aclsimArgument *given, size_t factor)
{
    aclsimTensor matrix = *given[factor].tensors;
    if (given[TURN_X1 + factor].integer != 0)
        for (uint32_t k = 0; k < 2; k++) {
            matrix.dims[k] = given[factor].tensors->dims[1 - k];
            matrix.strides[k] = given[factor].tensors->strides[1 - k];
        }
    return matrix;
}

static aclnnStatus check_vector(const aclsimArgument *vector, aclDataType type, int64_t columns)
{
    if (vector->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(vector, SIM_TYPE(type)));
    const int64_t count = sim_walk_count(vector->tensors);
    SIM_ARGUMENT(count == 1 || count == columns, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected 1 or %" PRId64, vector->name, count, columns);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    static const aclDataType types[] = {[EARLY_OFFSET] = ACL_INT32,  [EARLY_SCALE] = ACL_UINT64,
                                        [LATE_OFFSET] = ACL_FLOAT16, [LATE_SCALE] = ACL_FLOAT16,
                                        [BIAS] = ACL_FLOAT};
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[X1], SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_type(&given[X2], SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_type(&given[OUT], SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_rank(&given[X1], 2, 2));
    SIM_TRY(sim_require_rank(&given[X2], 2, 2));
    const aclsimTensor left = factor_of(given, X1), right = factor_of(given, X2);
    const int64_t dims[] = {left.dims[0], right.dims[1]};
    SIM_ARGUMENT(left.dims[1] == right.dims[0], ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " columns and %s has %" PRId64 " rows, expected the same", given[X1].name,
                 left.dims[1], given[X2].name, right.dims[0]);
    for (size_t k = EARLY_OFFSET; k <= BIAS; k++)
        SIM_TRY(check_vector(&given[k], types[k], dims[1]));
    return sim_require_shape(&given[OUT], dims, 2, "that of the product");
}

/* Loads one number per column; all are `missing` if the tensor is absent. */
static aclError load_vector(struct sim_lists *lists, const aclsimArgument *vector, size_t columns, double missing,
                            double **numbers)
{
    double *loaded = NULL;
    SIM_TRY(sim_lists_take(lists, columns, numbers));
    if (vector->present != 0)
        SIM_TRY(sim_packed_load(lists, vector, &loaded));
    for (size_t i = 0; i < columns; i++)
        (*numbers)[i] = vector->present == 0 ? missing : loaded[sim_walk_count(vector->tensors) == 1 ? 0 : i];
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_quant_product product = {.qp_left = factor_of(given, X1),
                                        .qp_right = factor_of(given, X2),
                                        .qp_out = *given[OUT].tensors};
    const size_t columns = (size_t)product.qp_right.dims[1];
    const bool early = given[EARLY_SCALE].present != 0 &&
                       (product.qp_left.dims[0] <= FEW_ROWS || given[LATE_SCALE].present == 0);
    double *scale, *offset, *bias;
    SIM_TRY(load_vector(lists, &given[early ? EARLY_SCALE : LATE_SCALE], columns, 1, &scale));
    SIM_TRY(load_vector(lists, &given[early ? EARLY_OFFSET : LATE_OFFSET], columns, 0, &offset));
    SIM_TRY(load_vector(lists, &given[BIAS], columns, 0, &bias));
    for (size_t i = 0; i < columns && !early; i++) {
        offset[i] = offset[i] / given[ANTI_SCALE].number - given[ANTI_OFFSET].number;
        scale[i] *= given[ANTI_SCALE].number;
    }
    product.qp_right_scale = scale;
    product.qp_right_offset = offset;
    product.qp_late = bias;
    return sim_quant_product_run(&product);
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnWeightQuantBatchMatmul = {plan, sim_lists_run, (void *)&kind, false};
