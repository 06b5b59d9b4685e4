/* GroupedMatmul and its versions: products of lists of matrices, or of parts of one matrix, with a weight per group.
 * The groups divide the rows of x (group type 0), or the summed dimension (2), or are the members of the lists (-1). A
 * single weight for divided rows has a dimension for the groups, as have its biases and scales. Rows behind the last
 * group are not written. A bias of integers is added before the scales are applied, any other one after. */
#include "grouped_matmul.h"

#include "quant_product.h"
#include "smooth.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { X, WEIGHT, BIAS, SCALE, OFFSET, WEIGHT_SCALE, WEIGHT_OFFSET };
enum { SPLIT_NONE = -1, SPLIT_ROWS = 0, SPLIT_DEPTH = 2 };
enum { ENDS, SIZES, PAIRS }; /* what a list of groups holds */

#define MOST_WEIGHTS 128
#define FIRST_SINGLE 2 /* from this split item on, the result is a single tensor */

/* A parsed call. */
struct grouped {
    const aclsimArgument *gr_given, *gr_rows, *gr_groups, *gr_out; /* gr_rows NULL: no scales per row */
    int64_t gr_split, gr_type, gr_kind, gr_activation;
    size_t gr_count; /* of weights */
    bool gr_sliced;  /* one weight has all groups */
    bool gr_shifted; /* integers of 8 bits are multiplied by ones of 4 */
};

/* A list without elements counts as absent. Single members may be empty, such as the scales of a group without rows. */
static bool is_given(const aclsimArgument *list)
{
    bool given = false;
    for (size_t k = 0; list != NULL && list->present != 0 && k < list->count; k++)
        given = given || sim_walk_count(&list->tensors[k]) != 0;
    return given;
}

static struct grouped parse(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool with_rows = call->argumentCount > 11; /* from V4 on */
    const size_t groups = with_rows ? 8 : 7, split = with_rows ? 12 : 8;
    struct grouped grouped = {.gr_given = given,
                              .gr_rows = with_rows ? &given[7] : NULL,
                              .gr_groups = &given[groups],
                              .gr_split = given[split].integer};
    if (call->argumentCount == 10) { /* the first version */
        grouped.gr_type = given[groups].present != 0 ? SPLIT_ROWS : SPLIT_NONE;
        grouped.gr_out = &given[9];
    } else {
        grouped.gr_type = given[split + 1].integer;
        grouped.gr_out = &given[with_rows ? call->argumentCount - 3 : 10];
    }
    if (with_rows) {
        grouped.gr_kind = given[split + 2].integer;
        grouped.gr_activation = given[split + 3].integer;
    }
    const aclsimArgument *weight = &given[WEIGHT];
    grouped.gr_shifted = given[X].count != 0 && weight->count != 0 && given[X].tensors[0].type == ACL_INT8 &&
                         sim_element_is(weight->tensors[0].type, SIM_TYPES_PACKED & ~SIM_TYPE(ACL_INT8));
    grouped.gr_sliced = weight->count == 1 && weight->tensors[0].rank == 3;
    grouped.gr_count = grouped.gr_sliced ? (size_t)weight->tensors[0].dims[0] : (size_t)weight->count;
    return grouped;
}

/* The part of a list that belongs to a group. */
static aclsimTensor part_of(const struct grouped *grouped, const aclsimArgument *list, size_t group)
{
    if (!grouped->gr_sliced)
        return list->tensors[list->count == 1 ? 0 : group];
    aclsimTensor part = sim_line_without(&list->tensors[0], 0);
    if (list->tensors[0].data != NULL && list->tensors[0].dims[0] > 1)
        sim_walk_advance(&part, (int64_t)group * list->tensors[0].strides[0]);
    return part;
}

static int64_t list_length(const aclsimArgument *groups)
{
    return groups->kind == ACLSIM_TENSOR ? groups->tensors->dims[0] : (int64_t)groups->count;
}

/* ---- the first phase ---- */

static aclnnStatus check_number(const aclsimArgument *list, int64_t value, int64_t least, int64_t most,
                                const char *what)
{
    SIM_ARGUMENT(value >= least && value <= most, ACLNN_ERR_PARAM_INVALID,
                 "%s of %s is %" PRId64 ", expected %" PRId64 " to %" PRId64, what, list->name, value, least, most);
    return ACL_SUCCESS;
}

static aclnnStatus check_types(const struct grouped *grouped)
{
    const uint64_t factors = SIM_TYPES_SINGLE | SIM_TYPES_PACKED;
    const struct {
        const aclsimArgument *list;
        uint64_t types;
    } all[] = {
        {&grouped->gr_given[X], factors},
        {&grouped->gr_given[WEIGHT], factors},
        {&grouped->gr_given[BIAS], SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32)},
        {&grouped->gr_given[SCALE], SIM_TYPES_SCALE | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_BF16)},
        {&grouped->gr_given[OFFSET], SIM_TYPE(ACL_FLOAT)},
        {&grouped->gr_given[WEIGHT_SCALE], SIM_TYPES_SINGLE},
        {&grouped->gr_given[WEIGHT_OFFSET], SIM_TYPES_SINGLE},
        {grouped->gr_rows, SIM_TYPE(ACL_FLOAT)},
        {grouped->gr_out, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT32)},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; is_given(all[i].list) && k < all[i].list->count; k++) {
            aclsimArgument member = *all[i].list;
            member.kind = ACLSIM_TENSOR;
            member.tensors = &all[i].list->tensors[k];
            SIM_TRY(sim_packed_require(&member, all[i].types));
        }
    return ACL_SUCCESS;
}

/* Lists of biases and scales have as many members as the weights. */
static aclnnStatus check_lengths(const struct grouped *grouped)
{
    const aclsimArgument *given = grouped->gr_given, *out = grouped->gr_out, *weight = &given[WEIGHT];
    SIM_TRY(check_number(weight, (int64_t)weight->count, 1, MOST_WEIGHTS, "the length"));
    for (size_t k = BIAS; k <= WEIGHT_OFFSET; k++)
        if (is_given(&given[k]))
            SIM_TRY(check_number(&given[k], (int64_t)given[k].count, (int64_t)weight->count, (int64_t)weight->count,
                                 "the length"));
    const int64_t outs = grouped->gr_split >= FIRST_SINGLE ? 1 : (int64_t)weight->count;
    SIM_TRY(check_number(out, (int64_t)out->count, outs, outs, "the length"));
    const int64_t count = (int64_t)given[X].count, most = (int64_t)weight->count;
    return check_number(&given[X], count, grouped->gr_type == SPLIT_NONE || count != 1 ? most : 1, most, "the length");
}

static aclnnStatus check_groups(const struct grouped *grouped)
{
    const aclsimArgument *groups = grouped->gr_groups, *x = &grouped->gr_given[X];
    const bool is_tensor = groups->kind == ACLSIM_TENSOR;
    if (groups->present == 0) {
        SIM_ARGUMENT(grouped->gr_type == SPLIT_NONE ||
                         (grouped->gr_type == SPLIT_ROWS && x->count == grouped->gr_count),
                     ACLNN_ERR_PARAM_INVALID, "%s is NULL, expected the groups of group type %" PRId64, groups->name,
                     grouped->gr_type);
        return ACL_SUCCESS;
    }
    SIM_ARGUMENT(grouped->gr_type != SPLIT_NONE, ACLNN_ERR_PARAM_INVALID,
                 "%s is given, expected NULL for group type -1", groups->name);
    if (is_tensor) {
        SIM_TRY(sim_require_type(groups, SIM_TYPE(ACL_INT64)));
        SIM_TRY(sim_require_rank(groups, grouped->gr_kind == PAIRS ? 2 : 1, grouped->gr_kind == PAIRS ? 2 : 1));
        SIM_ARGUMENT(grouped->gr_kind != PAIRS || groups->tensors->dims[1] == 2, ACLNN_ERR_PARAM_INVALID,
                     "dimension 1 of %s is %" PRId64 ", expected 2", groups->name, groups->tensors->dims[1]);
    }
    return grouped->gr_type == SPLIT_DEPTH
               ? ACL_SUCCESS
               : check_number(groups, list_length(groups), 0, (int64_t)grouped->gr_count, "the length");
}

/* The scales and the offsets of a weight are read by the same rows. */
static aclnnStatus check_rows(const struct grouped *grouped, size_t group)
{
    const aclsimArgument *scale = &grouped->gr_given[WEIGHT_SCALE], *offset = &grouped->gr_given[WEIGHT_OFFSET];
    const aclsimArgument *product = &grouped->gr_given[SCALE];
    if (is_given(offset)) {
        SIM_ARGUMENT(is_given(scale), ACLNN_ERR_PARAM_INVALID, "%s is given and %s is NULL, expected both or only the "
                     "second one", offset->name, scale->name);
        const aclsimTensor scales = part_of(grouped, scale, group), offsets = part_of(grouped, offset, group);
        SIM_ARGUMENT(sim_require_is_shape(&offsets, scales.dims, scales.rank), ACLNN_ERR_PARAM_INVALID,
                     "%s of group %zu does not have the shape of %s", offset->name, group, scale->name);
    }
    SIM_ARGUMENT(!is_given(product) || !is_given(scale) || part_of(grouped, product, group).rank == 1,
                 ACLNN_ERR_PARAM_INVALID, "%s of group %zu has 2 dimensions, expected 1 with %s", product->name, group,
                 scale->name);
    return ACL_SUCCESS;
}

/* Vectors of a group have the columns of its weight; scales of a weight may have rows. */
static aclnnStatus check_vectors(const struct grouped *grouped, size_t group, int64_t columns)
{
    for (size_t k = BIAS; k <= WEIGHT_OFFSET; k++) {
        const aclsimArgument *list = &grouped->gr_given[k];
        if (!is_given(list))
            continue;
        SIM_ARGUMENT(!grouped->gr_sliced || (list->tensors[0].rank > 1 &&
                                             list->tensors[0].dims[0] == (int64_t)grouped->gr_count),
                     ACLNN_ERR_PARAM_INVALID, "%s does not have %zu groups in its first dimension", list->name,
                     grouped->gr_count);
        const aclsimTensor part = part_of(grouped, list, group);
        const bool in_rows = k == SCALE || k == WEIGHT_SCALE || k == WEIGHT_OFFSET;
        const int64_t last = part.rank == 0 ? 1 : part.dims[part.rank - 1];
        SIM_ARGUMENT(part.rank >= 1 && part.rank <= (in_rows ? 2 : 1) &&
                         (last == columns || (last == 1 && part.rank == 1)),
                     ACLNN_ERR_PARAM_INVALID, "%s has %" PRId64 " numbers in the last of %u dimensions per group, "
                     "expected %" PRId64, list->name, last, part.rank, columns);
        SIM_ARGUMENT(part.rank == 1 || part.dims[0] > 0, ACLNN_ERR_PARAM_INVALID,
                     "%s of group %zu has 0 rows, expected 1 or more", list->name, group);
    }
    return check_rows(grouped, group);
}

static aclnnStatus check_matrix(const struct grouped *grouped, size_t group)
{
    const aclsimArgument *given = grouped->gr_given, *out = grouped->gr_out;
    const aclsimTensor *x = &given[X].tensors[given[X].count == 1 ? 0 : group];
    const aclsimTensor *y = &out->tensors[out->count == 1 ? 0 : group];
    const aclsimTensor weight = part_of(grouped, &given[WEIGHT], group);
    const uint32_t rank = grouped->gr_type == SPLIT_DEPTH && out->count == 1 ? 3 : 2;
    SIM_ARGUMENT(x->rank == 2 && weight.rank == 2 && y->rank == rank, ACLNN_ERR_PARAM_INVALID,
                 "%s, %s and %s of group %zu have %u, %u and %u dimensions, expected 2, 2 and %u", given[X].name,
                 given[WEIGHT].name, out->name, group, x->rank, weight.rank, y->rank, rank);
    const aclsimTensor left = sim_packed_view(x, sim_packed_axis(x));
    const aclsimTensor right = sim_packed_view(&weight, sim_packed_axis(&weight));
    SIM_ARGUMENT(left.dims[1] == right.dims[0], ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " columns and %s of group %zu has %" PRId64 " rows, expected the same",
                 given[X].name, left.dims[1], given[WEIGHT].name, group, right.dims[0]);
    const bool divided = grouped->gr_type == SPLIT_ROWS && (given[X].count != 1 || out->count != 1);
    SIM_ARGUMENT(y->dims[rank - 1] == right.dims[1] && (divided || y->dims[rank - 2] == left.dims[0]),
                 ACLNN_ERR_PARAM_INVALID, "%s of group %zu is %" PRId64 " x %" PRId64 ", expected %" PRId64
                 " x %" PRId64, out->name, group, y->dims[rank - 2], y->dims[rank - 1], left.dims[0], right.dims[1]);
    if (is_given(grouped->gr_rows)) {
        const aclsimTensor *rows = &grouped->gr_rows->tensors[grouped->gr_rows->count == 1 ? 0 : group];
        SIM_TRY(check_number(grouped->gr_rows, (int64_t)grouped->gr_rows->count, (int64_t)given[X].count,
                             (int64_t)given[X].count, "the length"));
        SIM_ARGUMENT(sim_walk_count(rows) == left.dims[0], ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 " elements, expected %" PRId64 ", one per row", grouped->gr_rows->name,
                     sim_walk_count(rows), left.dims[0]);
    }
    const int64_t parts = grouped->gr_type == SPLIT_DEPTH ? list_length(grouped->gr_groups) : 0;
    SIM_ARGUMENT(rank != 3 || y->dims[0] == parts, ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %" PRId64 ", expected %" PRId64 ", one matrix per group", out->name, y->dims[0],
                 parts);
    return check_vectors(grouped, group, right.dims[1]);
}

/* Only divided rows have a weight per group in one tensor; a divided sum has one weight. */
static aclnnStatus check_weights(const struct grouped *grouped)
{
    const aclsimArgument *weight = &grouped->gr_given[WEIGHT];
    SIM_ARGUMENT(grouped->gr_type == SPLIT_ROWS || !grouped->gr_sliced ||
                     (grouped->gr_type == SPLIT_NONE && grouped->gr_count == 1),
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has 3 dimensions and %zu groups, expected one matrix for group type %" PRId64, weight->name,
                 grouped->gr_count, grouped->gr_type);
    SIM_ARGUMENT(grouped->gr_type != SPLIT_DEPTH || weight->count == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is a list of %zu tensors, expected 1 for group type 2", weight->name, grouped->gr_count);
    return ACL_SUCCESS;
}

aclnnStatus sim_grouped_matmul_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct grouped grouped = parse(call);
    (void)workspace_size;
    SIM_TRY(check_number(grouped.gr_out, grouped.gr_split, 0, 3, "the split item"));
    SIM_ARGUMENT(grouped.gr_type == SPLIT_NONE || grouped.gr_type == SPLIT_ROWS || grouped.gr_type == SPLIT_DEPTH,
                 ACLNN_ERR_PARAM_INVALID, "groupType is %" PRId64 ", expected -1, 0 or 2", grouped.gr_type);
    SIM_TRY(check_number(grouped.gr_groups, grouped.gr_kind, ENDS, PAIRS, "the list type"));
    SIM_TRY(check_number(grouped.gr_out, grouped.gr_activation, 0, 5, "the activation"));
    SIM_TRY(check_lengths(&grouped));
    SIM_TRY(check_types(&grouped));
    SIM_TRY(check_groups(&grouped));
    SIM_TRY(check_weights(&grouped));
    const size_t different = grouped.gr_sliced ? 1 : grouped.gr_count; /* the groups of one weight have one shape */
    for (size_t group = 0; group < different; group++)
        SIM_TRY(check_matrix(&grouped, group));
    return ACL_SUCCESS;
}

/* ---- the second phase: groups ---- */

struct range {
    int64_t ra_group, ra_start, ra_size;
};

static int64_t number_at(const aclsimArgument *groups, int64_t place, int64_t column)
{
    int64_t number;
    if (groups->kind != ACLSIM_TENSOR)
        return groups->integers[place];
    const aclsimTensor *tensor = groups->tensors;
    const int64_t offset = (place == 0 ? 0 : place * tensor->strides[0]) + (column == 0 ? 0 : tensor->strides[1]);
    memcpy(&number, (const char *)tensor->data + offset * (int64_t)sizeof number, sizeof number);
    return number;
}

/* The range at a position of the list, behind the one before. The size wraps if the end is very negative; then it is
 * greater than any number of rows. */
static aclError find_range(const struct grouped *grouped, int64_t place, int64_t most, struct range *range)
{
    const aclsimArgument *groups = grouped->gr_groups;
    const int64_t end = range->ra_start + range->ra_size, number = number_at(groups, place, 0);
    const bool pairs = grouped->gr_kind == PAIRS;
    const int64_t size = pairs ? number_at(groups, place, 1) : number;
    char text[160];
    *range = (struct range){pairs ? number : place, end,
                            grouped->gr_kind == ENDS ? (int64_t)((uint64_t)size - (uint64_t)end) : size};
    const int64_t groups_most = grouped->gr_type == SPLIT_DEPTH ? list_length(groups) : (int64_t)grouped->gr_count;
    if (range->ra_size >= 0 && range->ra_size <= most - end && range->ra_group >= 0 && range->ra_group < groups_most)
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "element %" PRId64 " of %.40s makes group %" PRId64 " of %" PRId64 " rows from %" PRId64
             ", expected 0 to %" PRId64 " rows", place, groups->name, range->ra_group, range->ra_size, end, most - end);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* Rows, or with dimension 1 columns, of a matrix. */
static aclsimTensor cut(const aclsimTensor *matrix, uint32_t dim, int64_t start, int64_t size)
{
    aclsimTensor part = *matrix;
    part.dims[dim] = size;
    if (start != 0 && !sim_walk_is_empty(part.dims, part.rank))
        sim_walk_advance(&part, start * matrix->strides[dim]);
    return part;
}

/* ---- the second phase: products ---- */

static double (*const activations[])(double) = {NULL,     sim_relu,      sim_gelu_by_tanh,
                                                 sim_gelu, sim_fast_gelu, sim_silu};

/* The numbers of a group as an argument. */
static aclsimArgument argument_of(const struct grouped *grouped, size_t place, size_t group, aclsimTensor *part)
{
    aclsimArgument argument = grouped->gr_given[place];
    argument.kind = ACLSIM_TENSOR;
    argument.present = is_given(&grouped->gr_given[place]);
    if (argument.present != 0)
        *part = part_of(grouped, &grouped->gr_given[place], group);
    argument.tensors = part;
    return argument;
}

static aclError load_vector(const struct grouped *grouped, struct sim_lists *lists, size_t place, size_t group,
                            size_t columns, const double **numbers)
{
    aclsimTensor part = {.rank = 0};
    const aclsimArgument argument = argument_of(grouped, place, group, &part);
    return sim_packed_load_vector(lists, &argument, columns, numbers);
}

/* Loads numbers per column, or with two dimensions per column and group of rows of the weight. */
static aclError load_matrix(const struct grouped *grouped, struct sim_lists *lists, size_t place, size_t group,
                            const aclsimTensor *weight, int64_t *rows, const double **numbers)
{
    aclsimTensor part = {.rank = 0};
    const aclsimArgument argument = argument_of(grouped, place, group, &part);
    double *loaded;
    if (part.rank != 2)
        return sim_packed_load_vector(lists, &argument, (size_t)weight->dims[1], numbers);
    SIM_TRY(sim_packed_load(lists, &argument, &loaded));
    *numbers = loaded;
    *rows = (weight->dims[0] + part.dims[0] - 1) / part.dims[0];
    return ACL_SUCCESS;
}

/* Loads what is added and multiplied. Integers of 8 bits times ones of 4 have a bias that undoes a shift of the card's
 * arithmetic, which is not needed here. */
static aclError load_numbers(const struct grouped *grouped, struct sim_lists *lists, size_t group, int64_t start,
                             struct sim_quant_product *product)
{
    const aclsimArgument *bias = &grouped->gr_given[BIAS], *rows = grouped->gr_rows;
    const size_t columns = (size_t)product->qp_right.dims[1];
    aclsimTensor scale = {.rank = 0};
    argument_of(grouped, SCALE, group, &scale);
    SIM_TRY(load_matrix(grouped, lists, WEIGHT_SCALE, group, &product->qp_right, &product->qp_group,
                        &product->qp_right_scale));
    SIM_TRY(load_matrix(grouped, lists, WEIGHT_OFFSET, group, &product->qp_right, &product->qp_group,
                        &product->qp_right_offset));
    if (is_given(bias) && bias->tensors[0].type == ACL_INT32)
        SIM_TRY(load_vector(grouped, lists, BIAS, group, columns, &product->qp_early));
    else if (!grouped->gr_shifted)
        SIM_TRY(load_vector(grouped, lists, BIAS, group, columns, &product->qp_late));
    if (product->qp_out.type == ACL_INT32)
        return ACL_SUCCESS;
    SIM_TRY(load_matrix(grouped, lists, SCALE, group, &product->qp_right, &product->qp_group,
                        scale.rank == 2 ? &product->qp_right_scale : &product->qp_scale));
    SIM_TRY(load_vector(grouped, lists, OFFSET, group, columns, &product->qp_offset));
    if (!is_given(rows))
        return ACL_SUCCESS;
    aclsimArgument numbers = *rows;
    numbers.kind = ACLSIM_TENSOR;
    numbers.tensors = &rows->tensors[rows->count == 1 ? 0 : group];
    double *loaded;
    SIM_TRY(sim_lists_load(lists, &numbers, &loaded));
    product->qp_rows = loaded + (rows->count == 1 ? start : 0);
    return ACL_SUCCESS;
}

/* The product of a part of x, from row `start` on, with the weight of a group. */
static aclError run_product(const struct grouped *grouped, size_t group, int64_t start, const aclsimTensor *left,
                            const aclsimTensor *right, const aclsimTensor *out)
{
    struct sim_quant_product product = {.qp_left = *left,
                                        .qp_right = *right,
                                        .qp_out = *out,
                                        .qp_activate = activations[grouped->gr_activation]};
    struct sim_lists lists = {.ls_count = 0};
    aclError code = load_numbers(grouped, &lists, group, start, &product);
    if (code == ACL_SUCCESS)
        code = sim_quant_product_run(&product);
    for (size_t i = 0; i < lists.ls_count; i++)
        free(lists.ls_numbers[i]);
    return code;
}

/* A list of tensors that are not packed. */
struct opened {
    aclsimTensor *op_tensors;
    void **op_memory;
    size_t op_count;
};

static void close_list(struct opened *opened)
{
    for (size_t i = 0; i < opened->op_count; i++)
        free(opened->op_memory[i]);
    free(opened->op_memory);
    free(opened->op_tensors);
}

static aclError open_list(const aclsimArgument *list, struct opened *opened)
{
    opened->op_tensors = calloc(list->count, sizeof *opened->op_tensors);
    opened->op_memory = calloc(list->count, sizeof *opened->op_memory);
    SIM_CHECK(opened->op_tensors != NULL && opened->op_memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for a list of %llu tensors", (unsigned long long)list->count);
    for (; opened->op_count < list->count; opened->op_count++) {
        const aclsimTensor *tensor = &list->tensors[opened->op_count];
        SIM_TRY(sim_packed_open(tensor, sim_packed_axis(tensor), &opened->op_tensors[opened->op_count],
                                &opened->op_memory[opened->op_count]));
    }
    return ACL_SUCCESS;
}

/* The summed dimension is divided: each group makes a matrix of the result. */
static aclError run_depth(const struct grouped *grouped, const aclsimTensor *x, const aclsimTensor *weight)
{
    const aclsimTensor *out = &grouped->gr_out->tensors[0], matrix = sim_line_without(out, 0);
    struct range range = {0};
    for (int64_t place = 0; place < list_length(grouped->gr_groups); place++) {
        SIM_TRY(find_range(grouped, place, x->dims[1], &range));
        const aclsimTensor left = cut(x, 1, range.ra_start, range.ra_size);
        const aclsimTensor right = cut(weight, 0, range.ra_start, range.ra_size);
        aclsimTensor to = matrix;
        if (range.ra_group != 0 && !sim_walk_is_empty(out->dims, out->rank))
            sim_walk_advance(&to, range.ra_group * out->strides[0]);
        SIM_TRY(run_product(grouped, 0, 0, &left, &right, &to));
    }
    return ACL_SUCCESS;
}

/* Computes `size` rows of x, from `start` on, or a whole member of the list x. */
static aclError run_group(const struct grouped *grouped, const struct opened *x, const struct range *range)
{
    const aclsimArgument *out = grouped->gr_out;
    const size_t group = (size_t)range->ra_group;
    const aclsimTensor *from = &x->op_tensors[x->op_count == 1 ? 0 : group];
    const aclsimTensor *to = &out->tensors[out->count == 1 ? 0 : group];
    const aclsimTensor left = x->op_count == 1 ? cut(from, 0, range->ra_start, range->ra_size) : *from;
    const int64_t first = out->count == 1 ? range->ra_start : 0;
    if (first > to->dims[0] || left.dims[0] > to->dims[0] - first) {
        char text[160];
        snprintf(text, sizeof text, "group %zu has %" PRId64 " rows, expected at most %" PRId64 " in %.40s", group,
                 left.dims[0], to->dims[0] - first, out->name);
        sim_fail_reason(text);
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    const aclsimTensor right = part_of(grouped, &grouped->gr_given[WEIGHT], group);
    const aclsimTensor rows = cut(to, 0, first, left.dims[0]);
    return run_product(grouped, group, range->ra_start, &left, &right, &rows);
}

static aclError run_rows(const struct grouped *grouped, const struct opened *x)
{
    const bool divided = grouped->gr_groups->present != 0 && x->op_count == 1;
    const int64_t count = divided ? list_length(grouped->gr_groups) : (int64_t)grouped->gr_count;
    struct range range = {0};
    for (int64_t place = 0; place < count; place++) {
        if (divided)
            SIM_TRY(find_range(grouped, place, x->op_tensors[0].dims[0], &range));
        else
            range = (struct range){place, range.ra_start + range.ra_size,
                                   x->op_tensors[x->op_count == 1 ? 0 : place].dims[0]};
        SIM_TRY(run_group(grouped, x, &range));
    }
    return ACL_SUCCESS;
}

aclError sim_grouped_matmul_run(const aclsimCall *call)
{
    struct grouped grouped = parse(call);
    struct opened x = {NULL, NULL, 0}, weight = {NULL, NULL, 0};
    aclsimArgument plain[WEIGHT_OFFSET + 1];
    aclError code = open_list(&call->arguments[X], &x);
    if (code == ACL_SUCCESS)
        code = open_list(&call->arguments[WEIGHT], &weight);
    if (code == ACL_SUCCESS) {
        memcpy(plain, call->arguments, sizeof plain);
        plain[X].tensors = x.op_tensors;
        plain[WEIGHT].tensors = weight.op_tensors;
        grouped.gr_given = plain;
        code = grouped.gr_type == SPLIT_DEPTH ? run_depth(&grouped, x.op_tensors, weight.op_tensors)
                                              : run_rows(&grouped, &x);
    }
    close_list(&x);
    close_list(&weight);
    return code;
}

#define VERSION(op)                                                                                                    \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_grouped_matmul_plan, sim_grouped_matmul_run, NULL, false}

VERSION(GroupedMatmul);
VERSION(GroupedMatmulV2);
VERSION(GroupedMatmulV3);
VERSION(GroupedMatmulV4);
