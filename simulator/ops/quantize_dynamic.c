/* Quantisation by rows: DynamicQuant and DynamicQuantV2. The greatest size in a row becomes the greatest integer, or,
 * with offsets, the range of a row becomes that of the integers. A row without range gets the scale 0. Rows are
 * computed in double and rounded once. */
#include "packed.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>

/* The arguments of V2; the first version has only x, smoothScales, yOut, scaleOut. */
enum { X, SMOOTH, GROUPS, TYPE, Y, SCALE, OFFSET, ARGUMENTS };

struct quant {
    const aclsimArgument *qu_x, *qu_smooth, *qu_groups, *qu_type, *qu_y, *qu_scale, *qu_offset; /* NULL: no such one */
};

static struct quant arguments_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    if (call->argumentCount < ARGUMENTS)
        return (struct quant){.qu_x = given, .qu_smooth = &given[1], .qu_y = &given[2], .qu_scale = &given[3]};
    const bool has_groups = given[GROUPS].present != 0, has_offset = given[OFFSET].present != 0;
    return (struct quant){
        .qu_x = given,
        .qu_smooth = &given[SMOOTH],
        .qu_groups = has_groups ? &given[GROUPS] : NULL,
        .qu_type = &given[TYPE],
        .qu_y = &given[Y],
        .qu_scale = &given[SCALE],
        .qu_offset = has_offset ? &given[OFFSET] : NULL,
    };
}

static aclnnStatus check_smooth(const struct quant *quant)
{
    const aclsimTensor *x = quant->qu_x->tensors;
    const int64_t width = x->dims[x->rank - 1];
    if (quant->qu_groups != NULL) {
        SIM_TRY(sim_require_type(quant->qu_groups, SIM_TYPES_INDEX | SIM_TYPES_HALF));
        SIM_TRY(sim_require_rank(quant->qu_groups, 1, 1));
    }
    if (quant->qu_smooth->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_same_type(quant->qu_smooth, x->type, quant->qu_x->name));
    if (quant->qu_groups == NULL)
        return sim_require_shape(quant->qu_smooth, &width, 1, "the last dimension of x");
    const int64_t dims[] = {quant->qu_groups->tensors->dims[0], width};
    return sim_require_shape(quant->qu_smooth, dims, 2, "one row per group");
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct quant quant = arguments_of(call);
    const aclsimTensor *x = quant.qu_x->tensors;
    const aclsimArgument *const numbers[] = {quant.qu_scale, quant.qu_offset};
    (void)workspace_size;
    SIM_TRY(sim_require_type(quant.qu_x, SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(quant.qu_x, 2, SIM_RANK));
    SIM_TRY(check_smooth(&quant));
    SIM_TRY(sim_packed_require_out(quant.qu_y, quant.qu_x));
    for (size_t k = 0; k < 2 && numbers[k] != NULL; k++) {
        SIM_TRY(sim_require_type(numbers[k], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(numbers[k], x->dims, x->rank - 1, "one number per row"));
    }
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

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const struct quant quant = arguments_of(call);
    const aclsimTensor *x = quant.qu_x->tensors;
    const size_t rows = sim_slices_extent(x, 0, x->rank - 1), width = (size_t)x->dims[x->rank - 1];
    const double most = quant.qu_y->tensors->type == ACL_INT8 ? INT8_MAX : 7;
    double *values, *factors, *ends, *scales, *offsets;
    size_t groups = 1;
    if (rows == 0 || width == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, quant.qu_x, &values));
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
    for (size_t i = 0; i < rows; i++)
        scales[i] = quant.qu_offset == NULL ? sim_packed_quantize(values + i * width, width, most)
                                            : quantize_range(values + i * width, width, most, &offsets[i]);
    sim_packed_store(quant.qu_y, values);
    sim_lists_store(quant.qu_scale, scales);
    if (quant.qu_offset != NULL)
        sim_lists_store(quant.qu_offset, offsets);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnDynamicQuant = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnDynamicQuantV2 = {plan, sim_lists_run, (void *)&kind, false};
