/* SwiGlu with a quantised result: SwiGluQuant, and DequantSwigluQuant, whose input may be sums of integers; both also
 * in V2. A row of x is halved; one half, after SiLU, is multiplied by the other. V2 of DequantSwigluQuant also has
 * clipped forms (swiglu.h). A static result is value * scale + offset; a dynamic one has a scale per row, after the
 * values are multiplied by smoothing factors. Groups of rows have factors of their own. Rows behind the last group are
 * 0. All is computed in double. */
#include "base/bytes.h"
#include "packed.h"
#include "report.h"
#include "swiglu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct operands {
    const aclsimArgument *op_x, *op_weight_scale, *op_row_scale, *op_bias; /* the last three may be NULL */
    const aclsimArgument *op_factor, *op_offset, *op_groups, *op_left, *op_mode, *op_y, *op_scale;
    const aclsimArgument *op_type, *op_group_type, *op_form; /* of V2, which has one of the last two; or NULL */
    bool op_counts; /* groups are counts of rows; otherwise, they are the ends of the groups */
};

/* How many arguments the versions have, and what follows quantMode in the last one. */
enum { SECOND = 10, DEQUANT = 11, SECOND_DEQUANT = 18 };
enum { TYPE, ROUND, DIM, FORM, LIMIT, ALPHA, BIAS };

/* x, smoothScales, offsets, groupIndex, activateLeft, quantMode, in V2 also groupListType and dstType, yOut, scaleOut;
 * DequantSwigluQuant also has weightScale, activationScale and bias behind x, and in V2 dstType, roundMode,
 * activateDim, swigluMode, clampLimit, gluAlpha and gluBias behind quantMode. */
static struct operands operands_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments, *outs = given + call->argumentCount - 2;
    const bool dequantises = call->argumentCount == DEQUANT || call->argumentCount == SECOND_DEQUANT;
    struct operands operands = {.op_x = given, .op_counts = dequantises, .op_y = outs, .op_scale = &outs[1]};
    if (dequantises) {
        operands.op_weight_scale = &given[1];
        operands.op_row_scale = &given[2];
        operands.op_bias = &given[3];
        given += 3;
    }
    operands.op_factor = &given[1];
    operands.op_offset = &given[2];
    operands.op_groups = &given[3];
    operands.op_left = &given[4];
    operands.op_mode = &given[5];
    if (call->argumentCount == SECOND) {
        operands.op_group_type = &given[6];
        operands.op_type = &given[7];
        operands.op_counts = given[6].integer == 1;
    } else if (call->argumentCount == SECOND_DEQUANT) {
        operands.op_type = &given[6 + TYPE];
        operands.op_form = &given[6];
    }
    return operands;
}

/* The halves of a row. */
static struct sim_swiglu form_of(const struct operands *operands)
{
    const aclsimArgument *form = operands->op_form;
    struct sim_swiglu swiglu = {.sw_left = operands->op_left->integer != 0};
    if (form == NULL || form[FORM].integer == 0)
        return swiglu;
    return (struct sim_swiglu){.sw_left = form[FORM].integer == 1 || swiglu.sw_left,
                               .sw_interleaved = form[FORM].integer == 1,
                               .sw_clipped = true,
                               .sw_limit = form[LIMIT].number,
                               .sw_alpha = form[ALPHA].number,
                               .sw_bias = form[BIAS].number};
}

/* The arguments that only V2 has. */
static aclnnStatus check_second(const struct operands *operands)
{
    const aclsimArgument *type = operands->op_type, *form = operands->op_form, *groups = operands->op_group_type;
    uint32_t dim;
    if (type == NULL)
        return ACL_SUCCESS;
    if (type->integer != ACL_INT8)
        sim_report_number(type->name, ACL_INT8);
    SIM_ARGUMENT(type->integer == ACL_INT8, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected %d, int8", type->name,
                 type->integer, (int)ACL_INT8);
    SIM_ARGUMENT(groups == NULL || groups->integer == 0 || groups->integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 or 1", groups->name, groups->integer);
    if (form == NULL)
        return ACL_SUCCESS;
    if (form[ROUND].present != 0 && strcmp(form[ROUND].text, "rint") != 0)
        sim_report_text(form[ROUND].name, "rint");
    SIM_ARGUMENT(form[ROUND].present == 0 || strcmp(form[ROUND].text, "rint") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%s\", expected rint", form[ROUND].name, form[ROUND].text);
    SIM_TRY(sim_require_dim(&form[DIM], operands->op_x->tensors->rank, &dim));
    SIM_ARGUMENT(dim == operands->op_x->tensors->rank - 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected the last dimension of x", form[DIM].name, form[DIM].integer);
    SIM_ARGUMENT(form[FORM].integer >= 0 && form[FORM].integer <= 2, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 to 2", form[FORM].name, form[FORM].integer);
    SIM_ARGUMENT(form[FORM].integer == 0 || form[LIMIT].number > 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected a number above 0", form[LIMIT].name, form[LIMIT].number);
    return ACL_SUCCESS;
}

/* A mode that is absent is "static". */
static aclnnStatus find_mode(const aclsimArgument *mode, bool *dynamic)
{
    *dynamic = mode->present != 0 && strcmp(mode->text, "dynamic") == 0;
    if (mode->present != 0 && !*dynamic && strcmp(mode->text, "static") != 0)
        sim_report_text(mode->name, "static");
    SIM_ARGUMENT(mode->present == 0 || *dynamic || strcmp(mode->text, "static") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%s\", expected static or dynamic", mode->name, mode->text);
    return ACL_SUCCESS;
}

/* Numbers per column, one row of these per group. Those of the result may also be one per group. */
static aclnnStatus check_numbers(const struct operands *operands, const aclsimArgument *numbers, int64_t width,
                                 uint64_t types)
{
    const bool grouped = operands->op_groups->present != 0;
    const int64_t groups = grouped ? operands->op_groups->tensors->dims[0] : 1;
    int64_t count = groups;
    if (numbers == NULL || numbers->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(numbers, types));
    SIM_TRY(sim_require_rank(numbers, 1, 2));
    const int64_t found = sim_walk_count(numbers->tensors);
    SIM_ARGUMENT(found == groups || (sim_length_multiply(&count, width) && found == count), ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 " or %" PRId64 ", numbers per group", numbers->name,
                 found, groups, count);
    return ACL_SUCCESS;
}

static aclnnStatus check_scales(const struct operands *operands, int64_t rows, int64_t width)
{
    const aclsimArgument *row_scale = operands->op_row_scale, *groups = operands->op_groups;
    if (groups->present != 0) {
        SIM_TRY(sim_require_type(groups, SIM_TYPES_INDEX));
        SIM_TRY(sim_require_rank(groups, 1, 1));
    }
    SIM_TRY(check_numbers(operands, operands->op_weight_scale, width, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(check_numbers(operands, operands->op_bias, width, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32)));
    SIM_TRY(check_numbers(operands, operands->op_factor, width / 2, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(check_numbers(operands, operands->op_offset, width / 2, SIM_TYPE(ACL_FLOAT)));
    if (row_scale == NULL || row_scale->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(row_scale, SIM_TYPE(ACL_FLOAT)));
    SIM_ARGUMENT(sim_walk_count(row_scale->tensors) == rows, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 ", one per row", row_scale->name,
                 sim_walk_count(row_scale->tensors), rows);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct operands operands = operands_of(call);
    aclsimTensor half = *operands.op_x->tensors;
    bool dynamic;
    (void)workspace_size;
    SIM_TRY(sim_require_type(operands.op_x, operands.op_bias != NULL ? SIM_TYPES_HALF | SIM_TYPE(ACL_INT32)
                                                                     : SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(operands.op_x, 2, SIM_RANK));
    SIM_TRY(check_second(&operands));
    SIM_TRY(find_mode(operands.op_mode, &dynamic));
    int64_t *last = &half.dims[half.rank - 1];
    SIM_ARGUMENT(*last % 2 == 0, ACLNN_ERR_PARAM_INVALID, "the last dimension of %s is %" PRId64
                 ", expected an even number", operands.op_x->name, *last);
    SIM_TRY(check_scales(&operands, (int64_t)sim_slices_extent(&half, 0, half.rank - 1), *last));
    *last /= 2;
    SIM_TRY(sim_require_type(operands.op_y, SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_shape(operands.op_y, half.dims, half.rank, "that of one half"));
    if (!dynamic)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(operands.op_scale, SIM_TYPE(ACL_FLOAT)));
    return sim_require_shape(operands.op_scale, half.dims, half.rank - 1, "one number per row");
}

/* Numbers of a group, or NULL. */
struct numbers {
    double *nu_list;
    size_t nu_step, nu_across; /* from one group to the next, and from one column to the next */
};

static aclError load_numbers(struct sim_lists *lists, const aclsimArgument *given, size_t width,
                             struct numbers *numbers, size_t groups)
{
    *numbers = (struct numbers){NULL, 0, 0};
    if (given == NULL || given->present == 0)
        return ACL_SUCCESS;
    const bool wide = (size_t)sim_walk_count(given->tensors) == groups * width;
    numbers->nu_step = wide ? width : 1;
    numbers->nu_across = wide;
    return sim_lists_load(lists, given, &numbers->nu_list);
}

static double number_at(const struct numbers *numbers, size_t group, size_t column, double missing)
{
    return numbers->nu_list == NULL
               ? missing
               : numbers->nu_list[group * numbers->nu_step + column * numbers->nu_across];
}

struct job {
    struct operands jo_operands;
    struct sim_swiglu jo_form;
    struct numbers jo_weight, jo_bias, jo_factor, jo_offset;
    double *jo_rows; /* a factor per row, or NULL */
    size_t jo_half;
    bool jo_early; /* the bias is added before the scales are applied */
};

static double dequantise(const struct job *job, const double *row, size_t number, size_t group, size_t column)
{
    const double bias = number_at(&job->jo_bias, group, column, 0);
    const double factor = job->jo_rows == NULL ? 1 : job->jo_rows[number];
    const double value = row[column] + (job->jo_early ? bias : 0);
    return value * number_at(&job->jo_weight, group, column, 1) * factor + (job->jo_early ? 0 : bias);
}

/* Computes one row; returns the scale of a dynamic one. */
static double run_row(const struct job *job, const double *row, size_t number, size_t group, bool dynamic, double *to)
{
    for (size_t k = 0; k < job->jo_half; k++) {
        size_t active, passive;
        sim_swiglu_places(&job->jo_form, k, job->jo_half, &active, &passive);
        const double value = sim_swiglu_value(&job->jo_form, dequantise(job, row, number, group, active),
                                              dequantise(job, row, number, group, passive));
        to[k] = value * number_at(&job->jo_factor, group, k, 1);
    }
    if (dynamic)
        return sim_packed_quantize(to, job->jo_half, INT8_MAX);
    for (size_t k = 0; k < job->jo_half; k++)
        to[k] = rint(to[k] + number_at(&job->jo_offset, group, k, 0));
    return 0;
}

static void run_rows(const struct job *job, const double *x, size_t rows, const double *ends, size_t groups,
                     bool dynamic, double *y, double *scales)
{
    size_t row = 0;
    double end = 0;
    for (size_t group = 0; group < groups; group++) {
        end = job->jo_operands.op_counts ? end + ends[group] : ends[group];
        for (; row < rows && (double)row < end; row++)
            scales[row] = run_row(job, x + row * 2 * job->jo_half, row, group, dynamic, y + row * job->jo_half);
    }
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    struct job job = {.jo_operands = operands_of(call)};
    const struct operands *operands = &job.jo_operands;
    const aclsimTensor *x = operands->op_x->tensors;
    const size_t rows = sim_slices_extent(x, 0, x->rank - 1), width = (size_t)x->dims[x->rank - 1];
    double *values, *results, *scales, *ends;
    size_t groups = 1;
    bool dynamic;
    SIM_TRY(find_mode(operands->op_mode, &dynamic));
    if (rows == 0 || width == 0)
        return ACL_SUCCESS;
    job.jo_form = form_of(operands);
    job.jo_half = width / 2;
    job.jo_early = operands->op_bias != NULL && operands->op_bias->present != 0 &&
                   operands->op_bias->tensors->type == ACL_INT32;
    SIM_TRY(sim_lists_load(lists, operands->op_x, &values));
    SIM_TRY(sim_lists_take(lists, rows * job.jo_half, &results));
    SIM_TRY(sim_lists_take(lists, rows, &scales));
    SIM_TRY(sim_lists_load_or(lists, operands->op_groups, 1, (double)rows, &ends));
    if (operands->op_groups->present != 0)
        groups = (size_t)operands->op_groups->tensors->dims[0];
    SIM_TRY(load_numbers(lists, operands->op_weight_scale, width, &job.jo_weight, groups));
    SIM_TRY(load_numbers(lists, operands->op_bias, width, &job.jo_bias, groups));
    SIM_TRY(load_numbers(lists, operands->op_factor, job.jo_half, &job.jo_factor, groups));
    SIM_TRY(load_numbers(lists, operands->op_offset, job.jo_half, &job.jo_offset, groups));
    if (operands->op_row_scale != NULL && operands->op_row_scale->present != 0)
        SIM_TRY(sim_lists_load(lists, operands->op_row_scale, &job.jo_rows));
    run_rows(&job, values, rows, ends, groups, dynamic, results, scales);
    sim_lists_store(operands->op_y, results);
    if (dynamic)
        sim_lists_store(operands->op_scale, scales);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnSwiGluQuant = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDequantSwigluQuant = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnSwiGluQuantV2 = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDequantSwigluQuantV2 = {plan, sim_lists_run, (void *)&kind, false};
