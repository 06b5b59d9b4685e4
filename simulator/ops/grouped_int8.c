/* Products of groups of rows of int8. */
#include "grouped_int8.h"

#include "quant_product.h"
#include <inttypes.h>
#include <stdlib.h>

/* An argument, or NULL if it is absent or a list without members. */
static const aclsimArgument *given(const aclsimArgument *argument)
{
    return argument == NULL || argument->present == 0 || (argument->kind == ACLSIM_TENSOR_LIST && argument->count == 0)
               ? NULL
               : argument;
}

/* Whether an argument of all groups is one tensor with a dimension for them. */
static bool is_joined(const aclsimArgument *argument, uint32_t rank)
{
    return argument->kind == ACLSIM_TENSOR || (argument->count == 1 && argument->tensors[0].rank > rank);
}

/* The part of a group. `rank` is that of the tensor of one group. */
static aclsimTensor part_of(const aclsimArgument *argument, uint32_t rank, int64_t group)
{
    if (!is_joined(argument, rank))
        return argument->tensors[argument->count == 1 ? 0 : group];
    aclsimTensor part = sim_line_without(argument->tensors, 0);
    if (group != 0)
        sim_walk_advance(&part, group * argument->tensors->strides[0]);
    return part;
}

/* One tensor of an argument. */
static aclsimArgument single(const aclsimArgument *argument, const aclsimTensor *tensor)
{
    aclsimArgument one = *argument;
    one.kind = ACLSIM_TENSOR;
    one.present = 1;
    one.count = 1;
    one.tensors = tensor;
    return one;
}

/* The weight of a group with its numbers one by one, without data. */
static aclsimTensor view_of(const struct sim_grouped_int8 *operands, const aclsimTensor *weight)
{
    aclsimTensor view = sim_packed_view(weight, sim_packed_axis(weight));
    if (operands->go_turned) {
        const int64_t dim = view.dims[0], stride = view.strides[0];
        view.dims[0] = view.dims[1];
        view.strides[0] = view.strides[1];
        view.dims[1] = dim;
        view.strides[1] = stride;
    }
    return view;
}

static int64_t count_groups(const struct sim_grouped_int8 *operands)
{
    return operands->go_groups->tensors->dims[0];
}

/* An argument has a tensor, or a part of one, per group. */
static aclnnStatus check_parts(const struct sim_grouped_int8 *operands, const aclsimArgument *argument, uint32_t rank)
{
    const int64_t groups = count_groups(operands);
    if (!is_joined(argument, rank)) {
        SIM_ARGUMENT((int64_t)argument->count == groups, ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRIu64 " tensors, expected %" PRId64 ", one per group", argument->name,
                     argument->count, groups);
        return ACL_SUCCESS;
    }
    const aclsimArgument one = single(argument, argument->tensors);
    SIM_TRY(sim_require_rank(&one, rank + 1, rank + 2)); /* scales may have a dimension for parts of the sum */
    SIM_ARGUMENT(argument->tensors->dims[0] >= groups, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " groups, expected at least %" PRId64, argument->name, argument->tensors->dims[0],
                 groups);
    return ACL_SUCCESS;
}

/* Numbers per column of each group; those of scales may have a dimension before the columns. */
static aclnnStatus check_numbers(const struct sim_grouped_int8 *operands, const aclsimArgument *argument,
                                 uint64_t types, int64_t columns)
{
    if (given(argument) == NULL)
        return ACL_SUCCESS;
    SIM_TRY(check_parts(operands, argument, 1));
    const int64_t groups = is_joined(argument, 1) ? 1 : count_groups(operands); /* the parts of a tensor are alike */
    for (int64_t group = 0; group < groups; group++) {
        const aclsimTensor part = part_of(argument, 1, group);
        const aclsimArgument one = single(argument, &part);
        SIM_TRY(sim_require_type(&one, types));
        SIM_TRY(sim_require_rank(&one, 1, 2));
        const int64_t dims[] = {part.dims[0], columns};
        SIM_TRY(part.rank == 1 ? sim_require_shape(&one, &columns, 1, "one number per column of the group")
                               : sim_require_shape(&one, dims, 2, "one number per column of the group"));
        SIM_ARGUMENT(part.dims[0] != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected a number or more",
                     argument->name);
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_grouped_int8_check(const struct sim_grouped_int8 *operands, int64_t *columns)
{
    const aclsimArgument *x = operands->go_x, *weight = operands->go_weight, *rows = given(operands->go_rows);
    const int64_t *dims = x->tensors->dims;
    SIM_TRY(sim_require_type(x, SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_rank(x, 2, 2));
    SIM_TRY(sim_require_type(operands->go_groups, SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_rank(operands->go_groups, 1, 1));
    SIM_TRY(check_parts(operands, weight, 2));
    const int64_t groups = is_joined(weight, 2) ? 1 : count_groups(operands);
    for (int64_t group = 0; group < groups; group++) {
        const aclsimTensor part = part_of(weight, 2, group);
        const aclsimArgument one = single(weight, &part);
        SIM_TRY(sim_packed_require(&one, SIM_TYPES_PACKED));
        SIM_TRY(sim_require_rank(&one, 2, 2));
        const aclsimTensor view = view_of(operands, &part);
        if (group == 0)
            *columns = view.rank == 0 ? 0 : view.dims[1];
        SIM_ARGUMENT(view.rank != 0 && view.dims[0] == dims[1] && view.dims[1] == *columns, ACLNN_ERR_PARAM_INVALID,
                     "%s of group %" PRId64 " is %" PRId64 " x %" PRId64 ", expected %" PRId64 " x %" PRId64,
                     weight->name, group, view.dims[0], view.dims[1], dims[1], *columns);
    }
    SIM_TRY(check_numbers(operands, operands->go_scale, SIM_TYPES_SINGLE | SIM_TYPES_SCALE, *columns));
    SIM_TRY(check_numbers(operands, operands->go_bias, SIM_TYPES_SINGLE, *columns));
    SIM_TRY(check_numbers(operands, operands->go_offset, SIM_TYPES_SINGLE, *columns));
    if (rows == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(rows, SIM_TYPE(ACL_FLOAT)));
    return sim_require_shape(rows, dims, 1, "one number per row of x");
}

/* ---- the second phase ---- */

/* Loads the numbers of a group, or leaves NULL. */
static aclError load_numbers(const aclsimArgument *argument, int64_t group, struct sim_lists *lists, int64_t *parts,
                             const double **numbers)
{
    double *loaded;
    if (given(argument) == NULL)
        return ACL_SUCCESS;
    const aclsimTensor part = part_of(argument, 1, group);
    const aclsimArgument one = single(argument, &part);
    SIM_TRY(sim_packed_load(lists, &one, &loaded));
    *numbers = loaded;
    *parts = part.rank == 2 ? part.dims[0] : 1;
    return ACL_SUCCESS;
}

/* `weights` are those of the operands; if they are one tensor, this is not packed. */
static aclError multiply(const struct sim_grouped_int8 *operands, const aclsimArgument *weights, int64_t group,
                         struct sim_lists *lists, struct sim_quant_product *product)
{
    const aclsimTensor weight = part_of(weights, 2, group);
    const bool narrow = operands->go_weight->tensors->type != ACL_INT8;
    const double *scales = NULL;
    int64_t parts = 1, one;
    aclsimTensor plain;
    void *memory;
    SIM_TRY(load_numbers(operands->go_scale, group, lists, &parts, &scales));
    if (!narrow)
        SIM_TRY(load_numbers(operands->go_bias, group, lists, &one, &product->qp_late));
    SIM_TRY(sim_packed_open(&weight, sim_packed_axis(&weight), &plain, &memory));
    product->qp_right = view_of(operands, &plain);
    product->qp_right.data = plain.data;
    if (parts > 1) { /* scales per part of the sum */
        product->qp_right_scale = scales;
        product->qp_group = (product->qp_right.dims[0] + parts - 1) / parts;
    } else {
        product->qp_scale = scales;
    }
    aclError code = sim_quant_product_run(product);
    free(memory);
    return code;
}

/* An offset of the weight of 4 bits: each row gets its sum times the offset. */
static aclError add_offset(const struct sim_grouped_int8 *operands, int64_t group, const aclsimTensor *left,
                           const double *factors, struct sim_lists *lists, int64_t columns, float *products)
{
    const double *offsets = NULL;
    int64_t parts;
    double *x;
    SIM_TRY(load_numbers(operands->go_offset, group, lists, &parts, &offsets));
    if (offsets == NULL)
        return ACL_SUCCESS;
    const aclsimArgument argument = single(operands->go_x, left);
    SIM_TRY(sim_lists_load(lists, &argument, &x));
    for (int64_t i = 0; i < left->dims[0]; i++) {
        double sum = 0;
        for (int64_t k = 0; k < left->dims[1]; k++)
            sum += x[i * left->dims[1] + k];
        for (int64_t k = 0; k < columns; k++)
            products[i * columns + k] += (float)(sum * offsets[k] * (factors == NULL ? 1 : factors[i]));
    }
    return ACL_SUCCESS;
}

static aclError run_group(const struct sim_grouped_int8 *operands, const aclsimArgument *weights,
                          const struct sim_groups *groups, int64_t group, const double *factors, int64_t columns,
                          float *products)
{
    const int64_t dims[] = {groups->gr_end - groups->gr_start, columns};
    struct sim_lists lists = {.ls_count = 0};
    struct sim_quant_product product = {
        .qp_left = sim_groups_rows(operands->go_x->tensors, groups->gr_start, groups->gr_end),
        .qp_out = sim_walk_plain(products, ACL_FLOAT, dims, 2),
        .qp_rows = factors == NULL ? NULL : factors + groups->gr_start,
    };
    aclError code = multiply(operands, weights, group, &lists, &product);
    if (code == ACL_SUCCESS)
        code = add_offset(operands, group, &product.qp_left, product.qp_rows, &lists, columns, products);
    sim_lists_free(&lists);
    return code;
}

static aclError run_groups(const struct sim_grouped_int8 *operands, const aclsimArgument *weights,
                           struct sim_lists *lists, sim_grouped_int8_func *each, void *context)
{
    const int64_t rows = operands->go_x->tensors->dims[0];
    double *numbers, *factors = NULL, *memory;
    int64_t columns = 0;
    SIM_TRY(sim_grouped_int8_check(operands, &columns));
    SIM_TRY(sim_lists_load(lists, operands->go_groups, &numbers));
    if (given(operands->go_rows) != NULL)
        SIM_TRY(sim_lists_load(lists, operands->go_rows, &factors));
    SIM_TRY(sim_lists_take(lists, (size_t)rows * (size_t)columns, &memory)); /* room for floats as well */
    struct sim_groups groups = {.gr_name = operands->go_groups->name, .gr_numbers = numbers,
                                .gr_counts = operands->go_counts, .gr_rows = rows};
    for (int64_t group = 0; group < count_groups(operands); group++) {
        SIM_TRY(sim_groups_step(&groups, group));
        if (groups.gr_start == groups.gr_end || columns == 0)
            continue;
        SIM_TRY(run_group(operands, weights, &groups, group, factors, columns, (float *)memory));
        SIM_TRY(each(context, group, groups.gr_start, groups.gr_end - groups.gr_start, (const float *)memory));
    }
    return ACL_SUCCESS;
}

aclError sim_grouped_int8_run(const struct sim_grouped_int8 *operands, struct sim_lists *lists,
                              sim_grouped_int8_func *each, void *context)
{
    const aclsimArgument *weights = operands->go_weight;
    if (!is_joined(weights, 2))
        return run_groups(operands, weights, lists, each, context);
    aclsimTensor plain;
    void *memory;
    SIM_TRY(sim_packed_open(weights->tensors, sim_packed_axis(weights->tensors), &plain, &memory));
    const aclsimArgument opened = single(weights, &plain);
    aclError code = run_groups(operands, &opened, lists, each, context);
    free(memory);
    return code;
}
