/* WeightQuantBatchMatmulV2 and V3: x, weight, antiquantScale, antiquantOffset, quantScale, quantOffset, bias,
 * antiquantGroupSize, in V3 also innerPrecise, y. The result is x @ ((weight + offset) * scale) + bias, which may be
 * quantised to int8. Transposed matrices are views. An int32 weight holds eight numbers per element along its
 * contiguous dimension, which is the one that makes it fit x. */
#include "quant_product.h"

#include <inttypes.h>
#include <stdlib.h>

enum { X, WEIGHT, SCALE, OFFSET, QUANT_SCALE, QUANT_OFFSET, BIAS, GROUP };

#define GROUP_STEP 32

static const aclsimArgument *result_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount - 1];
}

/* The dimension along which an int32 weight is packed. */
static uint32_t axis_of(const aclsimArgument *given)
{
    return given[WEIGHT].tensors->dims[0] == given[X].tensors->dims[1] ? 1 : 0;
}

static aclnnStatus check_sizes(const aclsimArgument *given, const aclsimArgument *y)
{
    const aclsimTensor *x = given[X].tensors, weight = sim_packed_view(given[WEIGHT].tensors, axis_of(given));
    const int64_t depth = x->dims[1], columns = weight.dims[1], dims[] = {x->dims[0], columns};
    SIM_ARGUMENT(weight.dims[0] == depth, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of %s is %" PRId64 " and dimension 0 of %s is %" PRId64 ", expected the same",
                 given[X].name, depth, given[WEIGHT].name, weight.dims[0]);
    SIM_ARGUMENT(x->dims[0] > 0, ACLNN_ERR_PARAM_INVALID, "dimension 0 of %s is 0, expected 1 or more", given[X].name);
    SIM_ARGUMENT(depth > 0 && depth <= SIM_QUANT_SIZE && columns > 0 && columns <= SIM_QUANT_SIZE,
                 ACLNN_ERR_PARAM_INVALID,
                 "%s is a matrix of %" PRId64 " x %" PRId64 " numbers, expected sizes of 1 to %d", given[WEIGHT].name,
                 depth, columns, SIM_QUANT_SIZE);
    return sim_require_shape(y, dims, 2, "that of the product");
}

/* One scale for all columns or one per column, or with groups one row of these per group. */
static aclnnStatus check_scale(const aclsimArgument *given, int64_t depth, int64_t columns)
{
    const aclsimArgument *scale = &given[SCALE], *offset = &given[OFFSET];
    const int64_t group = given[GROUP].integer;
    SIM_ARGUMENT(group == 0 || (group >= GROUP_STEP && group < depth && group % GROUP_STEP == 0),
                 ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0 or a multiple of %d less than %" PRId64,
                 given[GROUP].name, group, GROUP_STEP, depth);
    if (group == 0) {
        SIM_TRY(sim_packed_require_vector(scale, columns));
    } else {
        const int64_t dims[] = {(depth + group - 1) / group, columns};
        SIM_TRY(sim_require_shape(scale, dims, 2, "one row per group"));
    }
    return offset->present == 0 ? ACL_SUCCESS
                                : sim_require_shape(offset, scale->tensors->dims, scale->tensors->rank,
                                                    "that of antiquantScale");
}

static aclnnStatus check_types(const aclsimArgument *given, const aclsimArgument *y)
{
    const aclDataType type = given[X].tensors->type;
    const bool quantises = given[QUANT_SCALE].present != 0, half = type == ACL_FLOAT16;
    SIM_TRY(sim_require_type(&given[X], SIM_TYPES_HALF));
    SIM_TRY(sim_packed_require(&given[WEIGHT], SIM_TYPES_PACKED));
    const bool packs = half && given[WEIGHT].tensors->type == ACL_INT8 && given[GROUP].integer == 0;
    SIM_TRY(sim_require_type(&given[SCALE], SIM_TYPE(type) | (packs ? SIM_TYPES_SCALE : 0)));
    const aclDataType scale = given[SCALE].tensors->type;
    if (given[OFFSET].present != 0)
        SIM_TRY(sim_require_type(&given[OFFSET], SIM_TYPE(scale == type ? type : ACL_INT32)));
    if (given[BIAS].present != 0)
        SIM_TRY(sim_require_type(&given[BIAS], SIM_TYPE(half ? ACL_FLOAT16 : ACL_FLOAT)));
    if (quantises)
        SIM_TRY(sim_require_type(&given[QUANT_SCALE], SIM_TYPE(ACL_UINT64)));
    SIM_ARGUMENT(quantises || given[QUANT_OFFSET].present == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is a tensor and %s is NULL, expected both or only the second one", given[QUANT_OFFSET].name,
                 given[QUANT_SCALE].name);
    if (given[QUANT_OFFSET].present != 0)
        SIM_TRY(sim_require_type(&given[QUANT_OFFSET], SIM_TYPE(ACL_FLOAT)));
    return sim_require_type(y, SIM_TYPE(quantises ? ACL_INT8 : type));
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = result_of(call);
    (void)workspace_size;
    SIM_TRY(check_types(given, y));
    SIM_TRY(sim_require_rank(&given[X], 2, 2));
    SIM_TRY(sim_require_rank(&given[WEIGHT], 2, 2));
    SIM_TRY(check_sizes(given, y));
    const int64_t columns = y->tensors->dims[1];
    SIM_TRY(check_scale(given, given[X].tensors->dims[1], columns));
    for (size_t k = QUANT_SCALE; k <= BIAS; k++)
        SIM_TRY(sim_packed_require_vector(&given[k], columns));
    return ACL_SUCCESS;
}

/* Loads one number per column and group. */
static aclError load_groups(struct sim_lists *lists, const aclsimArgument *numbers, int64_t group, size_t columns,
                            const double **loaded)
{
    double *all = NULL;
    if (group == 0)
        return sim_packed_load_vector(lists, numbers, columns, loaded);
    if (numbers->present != 0)
        SIM_TRY(sim_packed_load(lists, numbers, &all));
    *loaded = all;
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *y = result_of(call);
    const size_t columns = (size_t)y->tensors->dims[1];
    struct sim_quant_product product = {
        .qp_left = *given[X].tensors, .qp_out = *y->tensors, .qp_group = given[GROUP].integer};
    void *memory;
    SIM_TRY(load_groups(lists, &given[SCALE], product.qp_group, columns, &product.qp_right_scale));
    SIM_TRY(load_groups(lists, &given[OFFSET], product.qp_group, columns, &product.qp_right_offset));
    SIM_TRY(sim_packed_load_vector(lists, &given[BIAS], columns, &product.qp_early));
    SIM_TRY(sim_packed_load_vector(lists, &given[QUANT_SCALE], columns, &product.qp_scale));
    SIM_TRY(sim_packed_load_vector(lists, &given[QUANT_OFFSET], columns, &product.qp_offset));
    SIM_TRY(sim_packed_open(given[WEIGHT].tensors, axis_of(given), &product.qp_right, &memory));
    const aclError code = sim_quant_product_run(&product);
    free(memory);
    return code;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnWeightQuantBatchMatmulV2 = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnWeightQuantBatchMatmulV3 = {plan, sim_lists_run, (void *)&kind, false};
