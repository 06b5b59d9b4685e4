/* Quantisation with given scales, and its inverse: AscendQuant, AscendQuantV3, AscendAntiQuant, Quantize, GroupQuant
 * and DequantBias. Values are computed in double, rounded as the operator says, and clamped to the type of the
 * result. */
#include "packed.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers along one dimension ---- */

/* A dimension of a tensor, whose elements are [outer, size, inner]. */
struct along {
    size_t al_size, al_inner;
};

static struct along along_of(const aclsimTensor *tensor, uint32_t dim)
{
    return (struct along){(size_t)tensor->dims[dim], sim_slices_extent(tensor, dim + 1, tensor->rank)};
}

/* The numbers are one, or one per index of the dimension; all dimensions but one have size 1. */
static aclnnStatus check_numbers(const aclsimArgument *numbers, int64_t size)
{
    const aclsimTensor *tensor = numbers->tensors;
    int64_t most = 1;
    if (numbers->present == 0)
        return ACL_SUCCESS;
    for (uint32_t k = 0; k < tensor->rank; k++)
        most = tensor->dims[k] > most ? tensor->dims[k] : most;
    const int64_t count = sim_walk_count(tensor);
    SIM_ARGUMENT(count == 1 || (count == size && (count == 0 || count == most)), ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected 1 or %" PRId64 ", along one dimension", numbers->name, count,
                 size);
    return ACL_SUCCESS;
}

/* Loads one number per index of the dimension. */
static aclError load_numbers(struct sim_lists *lists, const aclsimArgument *numbers, size_t size, double missing,
                             double **loaded)
{
    SIM_TRY(sim_lists_load_or(lists, numbers, size, missing, loaded));
    if (numbers->present == 0 || sim_walk_count(numbers->tensors) == (int64_t)size)
        return ACL_SUCCESS;
    const double one = (*loaded)[0];
    SIM_TRY(sim_lists_take(lists, size, loaded));
    for (size_t i = 0; i < size; i++)
        (*loaded)[i] = one;
    return ACL_SUCCESS;
}

/* ---- AscendQuant: x, scale, offset, sqrtMode, roundMode, dstType, in V3 also axis, y ---- */

typedef double rounding(double value);

static aclnnStatus find_rounding(const aclsimArgument *mode, rounding **found)
{
    static const struct {
        const char *name;
        rounding *function;
    } modes[] = {{"round", rint}, {"floor", floor}, {"ceil", ceil}, {"trunc", trunc}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        *found = modes[i].function;
        if (strcmp(mode->text, modes[i].name) == 0)
            return ACL_SUCCESS;
    }
    sim_report_text(mode->name, modes[0].name);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is \"%s\", expected round, floor, ceil or trunc", mode->name,
                      mode->text);
}

static aclnnStatus check_target(const aclsimArgument *type, const aclsimArgument *out)
{
    if (type->integer != (int64_t)out->tensors->type)
        sim_report_number(type->name, out->tensors->type);
    SIM_ARGUMENT(type->integer == (int64_t)out->tensors->type, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected %d, the data type of %s", type->name, type->integer,
                 (int)out->tensors->type, out->name);
    return ACL_SUCCESS;
}

/* The dimension of the scales: the last one, or the one before. */
static aclnnStatus find_axis(const aclsimCall *call, uint32_t *dim)
{
    const aclsimArgument *given = call->arguments, *axis = &given[6];
    const uint32_t rank = given[0].tensors->rank;
    *dim = rank - 1;
    if (call->argumentCount == 7)
        return ACL_SUCCESS;
    SIM_ARGUMENT(axis->integer == -1 || (axis->integer == -2 && rank > 1), ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected -1 or -2 for %u dimensions", axis->name, axis->integer, rank);
    *dim = (uint32_t)((int64_t)rank + axis->integer);
    return ACL_SUCCESS;
}

static aclnnStatus plan_quant(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = &given[call->argumentCount - 1];
    rounding *round;
    uint32_t dim = 0;
    (void)workspace_size;
    for (size_t k = 0; k < 3; k++)
        if (given[k].present != 0)
            SIM_TRY(sim_require_type(&given[k], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(&given[0], 1, SIM_RANK));
    SIM_TRY(find_axis(call, &dim));
    SIM_TRY(find_rounding(&given[4], &round));
    SIM_TRY(check_numbers(&given[1], given[0].tensors->dims[dim]));
    SIM_TRY(check_numbers(&given[2], given[0].tensors->dims[dim]));
    SIM_TRY(sim_packed_require_out(y, &given[0]));
    return check_target(&given[5], y);
}

static aclError run_quant(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *y = &given[call->argumentCount - 1];
    const size_t count = (size_t)sim_walk_count(given[0].tensors);
    double *values, *scales, *offsets;
    rounding *round;
    uint32_t dim = 0;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(find_axis(call, &dim));
    SIM_TRY(find_rounding(&given[4], &round));
    const struct along along = along_of(given[0].tensors, dim);
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(load_numbers(lists, &given[1], along.al_size, 1, &scales));
    SIM_TRY(load_numbers(lists, &given[2], along.al_size, 0, &offsets));
    for (size_t i = 0; i < count; i++) {
        const size_t k = i / along.al_inner % along.al_size;
        values[i] = round(values[i] * scales[k] * (given[3].integer != 0 ? scales[k] : 1) + offsets[k]);
    }
    sim_packed_store(y, values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind quant = {run_quant};
const struct sim_kernel sim_kernel_aclnnAscendQuant = {plan_quant, sim_lists_run, (void *)&quant, false};
const struct sim_kernel sim_kernel_aclnnAscendQuantV3 = {plan_quant, sim_lists_run, (void *)&quant, false};

/* ---- AscendAntiQuant: x, scale, offset, dstType, sqrtMode, y ---- */

static uint32_t last_of(const aclsimTensor *tensor)
{
    return tensor->rank - 1;
}

static aclnnStatus plan_anti(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = &given[5];
    (void)workspace_size;
    SIM_TRY(sim_packed_require(&given[0], SIM_TYPES_PACKED));
    SIM_TRY(sim_require_rank(&given[0], 1, SIM_RANK));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPES_SINGLE));
    if (given[2].present != 0)
        SIM_TRY(sim_require_same_type(&given[2], given[1].tensors->type, given[1].name));
    SIM_TRY(sim_require_type(y, SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(y, 1, SIM_RANK));
    SIM_TRY(check_target(&given[3], y));
    const aclsimTensor view = sim_packed_view(given[0].tensors, last_of(given[0].tensors));
    SIM_TRY(sim_require_shape(y, view.dims, view.rank, "that of the integers"));
    SIM_TRY(check_numbers(&given[1], y->tensors->dims[last_of(y->tensors)]));
    return check_numbers(&given[2], y->tensors->dims[last_of(y->tensors)]);
}

static aclError run_anti(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)sim_walk_count(given[5].tensors);
    aclsimArgument whole = given[0];
    aclsimTensor plain;
    double *values, *scales, *offsets;
    void *memory;
    if (count == 0)
        return ACL_SUCCESS;
    const size_t size = (size_t)given[5].tensors->dims[last_of(given[5].tensors)];
    SIM_TRY(load_numbers(lists, &given[1], size, 1, &scales));
    SIM_TRY(load_numbers(lists, &given[2], size, 0, &offsets));
    SIM_TRY(sim_packed_open(given[0].tensors, last_of(given[0].tensors), &plain, &memory));
    whole.tensors = &plain;
    const aclError code = sim_lists_load(lists, &whole, &values);
    free(memory);
    SIM_TRY(code);
    for (size_t i = 0; i < count; i++) {
        const double scale = scales[i % size];
        values[i] = (values[i] + offsets[i % size]) * scale * (given[4].integer != 0 ? scale : 1);
    }
    sim_lists_store(&given[5], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind anti = {run_anti};
const struct sim_kernel sim_kernel_aclnnAscendAntiQuant = {plan_anti, sim_lists_run, (void *)&anti, false};

/* ---- Quantize: x, scales, zeroPoints, dtype, axis, out; values are divided by scales ---- */

static aclnnStatus plan_quantize(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[5];
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPES_SINGLE));
    if (given[2].present != 0)
        SIM_TRY(sim_require_type(&given[2], SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT8) |
                                                SIM_TYPE(ACL_UINT8)));
    SIM_TRY(sim_require_type(out, SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT32)));
    SIM_TRY(check_target(&given[3], out));
    SIM_TRY(sim_require_rank(&given[0], 1, SIM_RANK));
    SIM_TRY(sim_require_dim(&given[4], given[0].tensors->rank, &dim));
    SIM_TRY(check_numbers(&given[1], given[0].tensors->dims[dim]));
    SIM_TRY(check_numbers(&given[2], given[0].tensors->dims[dim]));
    return sim_require_shape(out, given[0].tensors->dims, given[0].tensors->rank, "that of x");
}

static aclError run_quantize(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)sim_walk_count(given[0].tensors);
    double *values, *scales, *zeros;
    uint32_t dim = 0;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_dim(&given[4], given[0].tensors->rank, &dim));
    const struct along along = along_of(given[0].tensors, dim);
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(load_numbers(lists, &given[1], along.al_size, 1, &scales));
    SIM_TRY(load_numbers(lists, &given[2], along.al_size, 0, &zeros));
    for (size_t i = 0; i < count; i++) {
        const size_t k = i / along.al_inner % along.al_size;
        values[i] = rint(values[i] / scales[k]) + zeros[k];
    }
    sim_lists_store(&given[5], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind quantize = {run_quantize};
const struct sim_kernel sim_kernel_aclnnQuantize = {plan_quantize, sim_lists_run, (void *)&quantize, false};

/* ---- GroupQuant: x, scale, groupIndex, offset, dstType, y; a group of rows has a row of scales ---- */

static aclnnStatus plan_group(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = &given[5];
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[2], SIM_TYPES_INDEX));
    if (given[3].present != 0) {
        SIM_TRY(sim_require_same_type(&given[3], given[1].tensors->type, given[1].name));
        SIM_TRY(check_numbers(&given[3], 1));
    }
    SIM_TRY(sim_require_rank(&given[0], 2, 2));
    SIM_TRY(sim_require_rank(&given[2], 1, 1));
    const int64_t dims[] = {given[2].tensors->dims[0], given[0].tensors->dims[1]};
    SIM_TRY(sim_require_shape(&given[1], dims, 2, "one row per group"));
    SIM_TRY(sim_packed_require_out(y, &given[0]));
    return check_target(&given[4], y);
}

/* The ends of the groups do not decrease, and the last one is the number of rows. */
static aclError check_ends(const aclsimArgument *index, const double *ends, size_t groups, size_t rows)
{
    double least = 0;
    for (size_t i = 0; i < groups; least = ends[i++]) {
        const bool is_last = i + 1 == groups;
        if (ends[i] < (is_last ? (double)rows : least) || ends[i] > (double)rows) {
            char text[192];
            snprintf(text, sizeof text, "%.60s[%zu] is %.0f, expected %.0f to %zu", index->name, i, ends[i],
                     is_last ? (double)rows : least, rows);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
    }
    return ACL_SUCCESS;
}

static aclError run_group(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[0].tensors->dims[0], width = (size_t)given[0].tensors->dims[1];
    const size_t groups = (size_t)given[2].tensors->dims[0];
    double *values, *scales, *ends, *offset;
    if (rows == 0 || width == 0 || groups == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load(lists, &given[1], &scales));
    SIM_TRY(sim_lists_load(lists, &given[2], &ends));
    SIM_TRY(sim_lists_load_or(lists, &given[3], 1, 0, &offset));
    SIM_TRY(check_ends(&given[2], ends, groups, rows));
    for (size_t i = 0, group = 0; i < rows; i++) {
        while ((double)i >= ends[group])
            group++; /* ends, because the last group ends behind the last row */
        for (size_t k = 0; k < width; k++)
            values[i * width + k] = rint(values[i * width + k] * scales[group * width + k] + offset[0]);
    }
    sim_packed_store(&given[5], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind group = {run_group};
const struct sim_kernel sim_kernel_aclnnGroupQuant = {plan_group, sim_lists_run, (void *)&group, false};

/* ---- DequantBias: x, weightScale, activateScale, bias, outputDtype, out ---- */

static aclnnStatus plan_bias(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[5];
    const int64_t *dims = given[0].tensors->dims;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_BF16)));
    SIM_TRY(sim_require_rank(&given[0], 2, 2));
    SIM_TRY(sim_require_shape(&given[1], &dims[1], 1, "one number per column"));
    if (given[2].present != 0) {
        SIM_TRY(sim_require_type(&given[2], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(&given[2], dims, 1, "one number per row"));
    }
    if (given[3].present != 0) {
        SIM_TRY(sim_require_type(&given[3], SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32)));
        SIM_TRY(sim_require_shape(&given[3], &dims[1], 1, "one number per column"));
    }
    SIM_TRY(sim_require_type(out, SIM_TYPES_HALF));
    SIM_TRY(check_target(&given[4], out));
    return sim_require_shape(out, dims, 2, "that of x");
}

/* An integer bias is added before the scales are applied, any other one after. */
static aclError run_bias(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[0].tensors->dims[0], width = (size_t)given[0].tensors->dims[1];
    const bool early = given[3].present != 0 && given[3].tensors->type == ACL_INT32;
    double *values, *scales, *factors, *biases;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load(lists, &given[1], &scales));
    SIM_TRY(sim_lists_load_or(lists, &given[2], rows, 1, &factors));
    SIM_TRY(sim_lists_load_or(lists, &given[3], width, 0, &biases));
    for (size_t i = 0; i < rows * width; i++) {
        const size_t k = i % width;
        const double value = values[i] + (early ? biases[k] : 0);
        values[i] = value * scales[k] * factors[i / width] + (early ? 0 : biases[k]);
    }
    sim_lists_store(&given[5], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind bias = {run_bias};
const struct sim_kernel sim_kernel_aclnnDequantBias = {plan_bias, sim_lists_run, (void *)&bias, false};
