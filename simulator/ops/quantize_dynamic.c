/* Quantisation by rows: DynamicQuant and its versions. The greatest size in a row becomes the greatest integer, or,
 * with offsets, the range of a row becomes that of the integers. A row without range gets the scale 0. Rows are
 * computed in double and rounded once. From V3 on, the whole tensor may be one row, or its channels, the elements
 * with one index in the last dimension, are the rows; then smoothing factors belong to the dimension before the last
 * one. */
#include "packed.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The arguments of V2; the first version has only x, smoothScales, yOut, scaleOut. V3 has isSymmetrical and quantMode
 * behind dstType, V4 also dstTypeMax. */
enum { X, SMOOTH, GROUPS, TYPE, SYMMETRIC, MODE, MOST, SECOND = 7 };
enum mode { BY_TOKEN, BY_TENSOR, BY_CHANNEL, MODES };

struct quant {
    const aclsimArgument *qu_x, *qu_smooth, *qu_groups, *qu_type, *qu_y, *qu_scale, *qu_offset; /* NULL: no such one */
    const aclsimArgument *qu_later; /* the whole call of V3 or V4, or NULL */
    bool qu_has_most;
    enum mode qu_mode; /* MODES: unknown */
};

static enum mode mode_of(const char *text)
{
    static const char *const words[] = {"pertoken", "pertensor", "perchannel"};
    enum mode mode = BY_TOKEN;
    while (mode < MODES && strcmp(text, words[mode]) != 0)
        mode++;
    return mode;
}

static struct quant arguments_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    if (call->argumentCount < SECOND)
        return (struct quant){.qu_x = given, .qu_smooth = &given[1], .qu_y = &given[2], .qu_scale = &given[3]};
    const aclsimArgument *outs = given + call->argumentCount - 3;
    const bool has_groups = given[GROUPS].present != 0, later = call->argumentCount > SECOND;
    return (struct quant){
        .qu_x = given,
        .qu_smooth = &given[SMOOTH],
        .qu_groups = has_groups ? &given[GROUPS] : NULL,
        .qu_type = &given[TYPE],
        .qu_y = outs,
        .qu_scale = &outs[1],
        .qu_offset = outs[2].present != 0 ? &outs[2] : NULL,
        .qu_later = later ? given : NULL,
        .qu_has_most = outs - given > MOST,
        .qu_mode = !later || given[MODE].present == 0 ? BY_TOKEN : mode_of(given[MODE].text),
    };
}

static aclnnStatus check_smooth(const struct quant *quant)
{
    const aclsimTensor *x = quant->qu_x->tensors;
    const int64_t width = x->dims[x->rank - (quant->qu_mode == BY_CHANNEL ? 2 : 1)];
    if (quant->qu_groups != NULL) {
        SIM_TRY(sim_require_type(quant->qu_groups, SIM_TYPES_INDEX | SIM_TYPES_HALF));
        SIM_TRY(sim_require_rank(quant->qu_groups, 1, 1));
    }
    if (quant->qu_smooth->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_same_type(quant->qu_smooth, x->type, quant->qu_x->name));
    if (quant->qu_groups == NULL)
        return sim_require_shape(quant->qu_smooth, &width, 1,
                                 quant->qu_mode == BY_CHANNEL ? "the dimension of x before the last one"
                                                              : "the last dimension of x");
    const int64_t dims[] = {quant->qu_groups->tensors->dims[0], width};
    return sim_require_shape(quant->qu_smooth, dims, 2, "one row per group");
}

/* The arguments that V3 and V4 have. */
static aclnnStatus check_later(const struct quant *quant)
{
    const aclsimArgument *given = quant->qu_later;
    const bool symmetric = quant->qu_offset == NULL;
    if (given == NULL)
        return ACL_SUCCESS;
    if (quant->qu_mode == MODES)
        sim_report_text(given[MODE].name, "pertoken");
    SIM_ARGUMENT(quant->qu_mode != MODES, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", expected pertoken, pertensor or perchannel", given[MODE].name, given[MODE].text);
    if ((given[SYMMETRIC].integer != 0) != symmetric)
        sim_report_number(given[SYMMETRIC].name, symmetric);
    SIM_ARGUMENT((given[SYMMETRIC].integer != 0) == symmetric, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s, expected %s %s offsetOut", given[SYMMETRIC].name, symmetric ? "false" : "true",
                 symmetric ? "true" : "false", symmetric ? "without" : "with");
    SIM_ARGUMENT(quant->qu_groups == NULL || quant->qu_mode == BY_TOKEN, ACLNN_ERR_PARAM_INVALID,
                 "%s is a tensor, expected NULL unless %s is pertoken", quant->qu_groups->name, given[MODE].name);
    SIM_ARGUMENT(!quant->qu_has_most || given[MOST].number == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected 0 for integers", given[MOST].name, given[MOST].number);
    return ACL_SUCCESS;
}

/* Each row has a scale, and perhaps an offset. */
static aclnnStatus check_number(const struct quant *quant, const aclsimArgument *numbers)
{
    const aclsimTensor *x = quant->qu_x->tensors;
    int64_t dims[SIM_RANK];
    memcpy(dims, x->dims, sizeof dims);
    SIM_TRY(sim_require_type(numbers, SIM_TYPE(ACL_FLOAT)));
    if (quant->qu_mode == BY_TENSOR)
        return sim_require_shape(numbers, (const int64_t[]){1}, 1, "one number");
    if (quant->qu_mode == BY_CHANNEL)
        dims[x->rank - 2] = dims[x->rank - 1];
    return sim_require_shape(numbers, dims, x->rank - 1,
                             quant->qu_mode == BY_CHANNEL ? "one number per channel" : "one number per row");
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct quant quant = arguments_of(call);
    const aclsimArgument *const numbers[] = {quant.qu_scale, quant.qu_offset};
    (void)workspace_size;
    SIM_TRY(sim_require_type(quant.qu_x, SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(quant.qu_x, 2, SIM_RANK));
    SIM_TRY(check_later(&quant));
    SIM_TRY(check_smooth(&quant));
    SIM_TRY(sim_packed_require_out(quant.qu_y, quant.qu_x));
    for (size_t k = 0; k < 2 && numbers[k] != NULL; k++)
        SIM_TRY(check_number(&quant, numbers[k]));
    if (quant.qu_type != NULL && quant.qu_type->integer != (int64_t)quant.qu_y->tensors->type)
        sim_report_number(quant.qu_type->name, quant.qu_y->tensors->type);
    SIM_ARGUMENT(quant.qu_type == NULL || quant.qu_type->integer == (int64_t)quant.qu_y->tensors->type,
                 ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected %d, the data type of %s", quant.qu_type->name,
                 quant.qu_type->integer, (int)quant.qu_y->tensors->type, quant.qu_y->name);
    return ACL_SUCCESS;
}

/* Multiplies the rows of each group by its factors. A group that ends before it begins has no rows. */
static void smooth_rows(double *values, size_t rows, size_t width, const double *factors, const double *ends,
                        size_t groups)
{
    size_t row = 0;
    for (size_t group = 0; group < groups; group++)
        for (; row < rows && (double)row < ends[group]; row++)
            for (size_t k = 0; k < width; k++)
                values[row * width + k] *= factors[group * width + k];
}

/* Replaces a row by integers that fill the range from -most - 1 to `most`. */
static double quantize_range(double *row, size_t width, double most, double *offset)
{
    double high = row[0], low = row[0];
    for (size_t k = 1; k < width; k++) {
        high = sim_packed_greater(row[k], high);
        low = -sim_packed_greater(-row[k], -low);
    }
    const double scale = (high - low) / (2 * most + 1), divisor = scale == 0 ? 1 : scale;
    *offset = most - high / divisor;
    for (size_t k = 0; k < width; k++)
        row[k] = rint(row[k] / divisor + *offset);
    return scale;
}

/* Exchanges the two last of three dimensions. */
static aclError turn(struct sim_lists *lists, size_t outer, size_t rows, size_t width, double **values)
{
    double *turned;
    SIM_TRY(sim_lists_take(lists, outer * rows * width, &turned));
    for (size_t i = 0; i < outer; i++)
        for (size_t row = 0; row < rows; row++)
            for (size_t k = 0; k < width; k++)
                turned[(i * width + k) * rows + row] = (*values)[(i * rows + row) * width + k];
    *values = turned;
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const struct quant quant = arguments_of(call);
    const aclsimTensor *x = quant.qu_x->tensors;
    const bool by_channel = quant.qu_mode == BY_CHANNEL;
    const size_t outer = by_channel ? sim_slices_extent(x, 0, x->rank - 2) : 1;
    const size_t last = (size_t)x->dims[x->rank - 1], before = (size_t)x->dims[x->rank - 2];
    size_t rows = by_channel ? outer * last : sim_slices_extent(x, 0, x->rank - 1), width = by_channel ? before : last;
    const double most = quant.qu_y->tensors->type == ACL_INT8 ? INT8_MAX : 7;
    double *values, *factors, *ends, *scales, *offsets;
    size_t groups = 1;
    if (rows == 0 || width == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, quant.qu_x, &values));
    if (by_channel)
        SIM_TRY(turn(lists, outer, before, last, &values));
    SIM_TRY(sim_lists_take(lists, rows, &scales));
    SIM_TRY(sim_lists_take(lists, rows, &offsets));
    if (quant.qu_groups != NULL) {
        groups = (size_t)quant.qu_groups->tensors->dims[0];
        SIM_TRY(sim_lists_load(lists, quant.qu_groups, &ends));
    } else {
        SIM_TRY(sim_lists_take(lists, 1, &ends));
        ends[0] = (double)rows;
    }
    if (quant.qu_smooth->present != 0) {
        SIM_TRY(sim_lists_load(lists, quant.qu_smooth, &factors));
        smooth_rows(values, rows, width, factors, ends, groups);
    }
    if (quant.qu_mode == BY_TENSOR) {
        width *= rows;
        rows = 1;
    }
    for (size_t i = 0; i < rows; i++)
        scales[i] = quant.qu_offset == NULL ? sim_packed_quantize(values + i * width, width, most)
                                            : quantize_range(values + i * width, width, most, &offsets[i]);
    if (by_channel)
        SIM_TRY(turn(lists, outer, last, before, &values));
    sim_packed_store(quant.qu_y, values);
    sim_lists_store(quant.qu_scale, scales);
    if (quant.qu_offset != NULL)
        sim_lists_store(quant.qu_offset, offsets);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnDynamicQuant = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDynamicQuantV2 = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDynamicQuantV3 = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDynamicQuantV4 = {plan, sim_lists_run, (void *)&kind, false};
