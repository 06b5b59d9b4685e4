/* Gradients of the weights of groups: GroupedMatmulAdd and its V2: x, weight, groupList, yRef, transposeX,
 * transposeWeight, groupType, in V2 also groupListType. For each group of rows, the product of x, transposed, and
 * weight is added to a matrix of y. The list has the ends of the groups, or how many rows they have. */
#include "base/bytes.h"
#include "groups.h"
#include "quant_product.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

enum { X, WEIGHT, GROUPS, Y, TURN_X, TURN_WEIGHT, TYPE, LIST_TYPE };
#define SECOND_ARGUMENTS 8
#define ROWS_ARE_SUMMED 2 /* the only value of groupType */

static aclnnStatus check_flag(const aclsimArgument *flag, bool wanted)
{
    if ((flag->integer != 0) != wanted)
        sim_report_number(flag->name, wanted);
    SIM_ARGUMENT((flag->integer != 0) == wanted, ACLNN_ERR_PARAM_INVALID, "%s is %s, expected %s", flag->name,
                 wanted ? "false" : "true", wanted ? "true" : "false");
    return ACL_SUCCESS;
}

static aclnnStatus check_flags(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    SIM_TRY(check_flag(&given[TURN_X], true));
    SIM_TRY(check_flag(&given[TURN_WEIGHT], false));
    if (given[TYPE].integer != ROWS_ARE_SUMMED)
        sim_report_number(given[TYPE].name, ROWS_ARE_SUMMED);
    SIM_ARGUMENT(given[TYPE].integer == ROWS_ARE_SUMMED, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected %d",
                 given[TYPE].name, given[TYPE].integer, ROWS_ARE_SUMMED);
    return call->argumentCount < SECOND_ARGUMENTS ? ACL_SUCCESS : sim_groups_require_kind(&given[LIST_TYPE]);
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors, *y = given[Y].tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[X], &given[WEIGHT], SIM_TYPES_HALF));
    SIM_TRY(sim_require_type(&given[GROUPS], SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_type(&given[Y], SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(check_flags(call));
    SIM_TRY(sim_require_rank(&given[X], 2, 2));
    SIM_TRY(sim_require_rank(&given[WEIGHT], 2, 2));
    SIM_TRY(sim_require_rank(&given[GROUPS], 1, 1));
    const int64_t columns = given[WEIGHT].tensors->dims[1], factors[] = {x->dims[0], columns};
    const int64_t groups = given[GROUPS].tensors->dims[0], dims[] = {groups, x->dims[1], columns};
    SIM_TRY(sim_require_shape(&given[WEIGHT], factors, 2, "the rows of x"));
    SIM_TRY(sim_require_rank(&given[Y], 2, 3));
    if (y->rank == 3)
        return sim_require_shape(&given[Y], dims, 3, "one matrix per group");
    int64_t rows = groups;
    SIM_ARGUMENT(sim_length_multiply(&rows, x->dims[1]), ACLNN_ERR_PARAM_INVALID,
                 "%s has more groups than fit into 63 bits", given[GROUPS].name);
    const int64_t flat[] = {rows, columns};
    return sim_require_shape(&given[Y], flat, 2, "one matrix per group");
}

/* The matrix of y that belongs to a group. */
static aclsimTensor target_of(const aclsimArgument *given, int64_t group)
{
    const aclsimTensor *y = given[Y].tensors;
    const int64_t depth = given[X].tensors->dims[1];
    aclsimTensor part = y->rank == 3 ? sim_line_without(y, 0) : *y;
    part.dims[0] = depth;
    if (group != 0)
        sim_walk_advance(&part, group * (y->rank == 3 ? 1 : depth) * y->strides[0]);
    return part;
}

/* Adds the products of some rows to the matrix of a group. */
static aclError add_group(const aclsimArgument *given, int64_t group, int64_t start, int64_t end, float *sums)
{
    const aclsimTensor *x = given[X].tensors, *weight = given[WEIGHT].tensors;
    const aclsimTensor to = target_of(given, group);
    struct sim_quant_product product = {.qp_left = *x, .qp_right = *weight,
                                        .qp_out = sim_walk_plain(sums, ACL_FLOAT, to.dims, 2)};
    product.qp_left.dims[0] = x->dims[1];
    product.qp_left.strides[0] = x->strides[1];
    product.qp_left.dims[1] = product.qp_right.dims[0] = end - start;
    product.qp_left.strides[1] = x->strides[0];
    if (start != 0) {
        sim_walk_advance(&product.qp_left, start * x->strides[0]);
        sim_walk_advance(&product.qp_right, start * weight->strides[0]);
    }
    SIM_TRY(sim_quant_product_run(&product));
    for (int64_t i = 0; i < to.dims[0]; i++)
        for (int64_t k = 0; k < to.dims[1]; k++)
            ((float *)to.data)[i * to.strides[0] + k * to.strides[1]] += sums[i * to.dims[1] + k];
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const int64_t rows = given[X].tensors->dims[0], groups = given[GROUPS].tensors->dims[0];
    const bool counts = call->argumentCount == SECOND_ARGUMENTS && given[LIST_TYPE].integer == 1;
    double *numbers, *memory;
    if (sim_walk_is_empty(given[Y].tensors->dims, given[Y].tensors->rank))
        return ACL_SUCCESS;
    const size_t elements = (size_t)given[X].tensors->dims[1] * (size_t)given[WEIGHT].tensors->dims[1];
    SIM_TRY(sim_lists_load(lists, &given[GROUPS], &numbers));
    SIM_TRY(sim_lists_take(lists, elements, &memory)); /* room for floats as well */
    struct sim_groups found = {.gr_name = given[GROUPS].name, .gr_numbers = numbers, .gr_counts = counts,
                               .gr_rows = rows};
    for (int64_t group = 0; group < groups; group++) {
        SIM_TRY(sim_groups_step(&found, group));
        if (found.gr_end > found.gr_start)
            SIM_TRY(add_group(given, group, found.gr_start, found.gr_end, (float *)memory));
    }
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulAdd = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulAddV2 = {plan, sim_lists_run, (void *)&kind, false};
