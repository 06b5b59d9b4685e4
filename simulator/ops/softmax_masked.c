/* Softmax along the last dimension of scores that are scaled and masked: ScaledMaskedSoftmax, in which a masked score
 * is -10000, its gradient, and MaskedSoftmaxWithRelPosBias, which adds a mask and a bias. All is computed in double and
 * rounded once. */
#include "base/bytes.h"
#include "report.h"
#include "slices.h"

#include <inttypes.h>
#include <math.h>

#define MASKED (-10000.0)

/* Replaces a line by its softmax. A NaN, or an infinite greatest element, makes all of them NaN. */
static void softmax(double *line, size_t count)
{
    double most = line[0], sum = 0;
    for (size_t i = 1; i < count; i++)
        most = line[i] > most || line[i] != line[i] ? line[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += line[i] = exp(line[i] - most);
    for (size_t i = 0; i < count; i++)
        line[i] /= sum;
}

/* ---- ScaledMaskedSoftmax: x, mask, scale, fixedTriuMask, y; its gradient: gradOutput, y, mask, scale, fixTriuMask,
 * out. With the flag, the mask is not read: each element above the diagonal is masked. ---- */

struct masked {
    const aclsimArgument *ms_x, *ms_mask, *ms_scale, *ms_triangle, *ms_out;
};

static struct masked masked_of(const aclsimCall *call, bool is_gradient)
{
    const aclsimArgument *mask = &call->arguments[is_gradient ? 2 : 1];
    return (struct masked){&call->arguments[0], mask, &mask[1], &mask[2], &mask[3]};
}

static aclnnStatus check_masked(const struct masked *masked)
{
    const aclsimTensor *x = masked->ms_x->tensors, *mask = masked->ms_mask->tensors;
    SIM_TRY(sim_require_types(masked->ms_x, masked->ms_out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(masked->ms_mask, SIM_TYPES_BOOL));
    SIM_TRY(sim_require_rank(masked->ms_x, 4, 4));
    SIM_TRY(sim_require_rank(masked->ms_mask, 4, 4));
    for (uint32_t k = 0; k < 4; k++) {
        const bool fits = mask->dims[k] == x->dims[k] || (k < 2 && mask->dims[k] == 1);
        if (!fits)
            sim_report_shape(masked->ms_mask->name, x->dims, x->rank);
        SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %" PRId64 ", expected %" PRId64 "%s", k, masked->ms_mask->name,
                     mask->dims[k], x->dims[k], k < 2 ? " or 1" : "");
    }
    return sim_require_shape(masked->ms_out, x->dims, 4, "that of the input");
}

static aclnnStatus plan_masked(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct masked masked = masked_of(call, false);
    (void)workspace_size;
    return check_masked(&masked);
}

static aclnnStatus plan_masked_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct masked masked = masked_of(call, true);
    (void)workspace_size;
    SIM_TRY(check_masked(&masked));
    return sim_require_like(&call->arguments[1], masked.ms_x);
}

/* Loads the mask for each element of x. */
static aclError load_mask(const struct masked *masked, struct sim_lists *lists, double **numbers)
{
    const aclsimTensor *x = masked->ms_x->tensors;
    const size_t rows = (size_t)x->dims[2], columns = (size_t)x->dims[3], outer = (size_t)(x->dims[0] * x->dims[1]);
    aclsimArgument spread = *masked->ms_mask;
    aclsimTensor view = *spread.tensors;
    if (masked->ms_triangle->integer != 0) {
        SIM_TRY(sim_lists_take(lists, outer * rows * columns, numbers));
        for (size_t i = 0; i < outer * rows; i++)
            for (size_t k = i % rows + 1; k < columns; k++)
                (*numbers)[i * columns + k] = 1;
        return ACL_SUCCESS;
    }
    for (uint32_t k = 0; k < 2; k++) {
        view.strides[k] = view.dims[k] == 1 ? 0 : view.strides[k];
        view.dims[k] = x->dims[k];
    }
    spread.tensors = &view;
    return sim_lists_load(lists, &spread, numbers);
}

static aclError run_masked(const aclsimCall *call, struct sim_lists *lists)
{
    const struct masked masked = masked_of(call, false);
    const aclsimTensor *x = masked.ms_x->tensors;
    double *values, *mask;
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    const size_t columns = (size_t)x->dims[3], count = (size_t)sim_walk_count(x);
    SIM_TRY(sim_lists_load(lists, masked.ms_x, &values));
    SIM_TRY(load_mask(&masked, lists, &mask));
    for (size_t i = 0; i < count; i++)
        values[i] = mask[i] != 0 ? MASKED : values[i] * masked.ms_scale->number;
    for (size_t i = 0; i < count; i += columns)
        softmax(values + i, columns);
    sim_lists_store(masked.ms_out, values);
    return ACL_SUCCESS;
}

static aclError run_masked_gradient(const aclsimCall *call, struct sim_lists *lists)
{
    const struct masked masked = masked_of(call, true);
    const aclsimTensor *x = masked.ms_x->tensors;
    double *gradient, *y, *mask;
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    const size_t columns = (size_t)x->dims[3], count = (size_t)sim_walk_count(x);
    SIM_TRY(sim_lists_load(lists, masked.ms_x, &gradient));
    SIM_TRY(sim_lists_load(lists, &call->arguments[1], &y));
    SIM_TRY(load_mask(&masked, lists, &mask));
    for (size_t i = 0; i < count; i += columns) {
        double sum = 0;
        for (size_t k = i; k < i + columns; k++)
            sum += gradient[k] * y[k];
        for (size_t k = i; k < i + columns; k++)
            gradient[k] = mask[k] != 0 ? 0 : (gradient[k] - sum) * y[k] * masked.ms_scale->number;
    }
    sim_lists_store(masked.ms_out, gradient);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind masked_kind = {run_masked}, gradient_kind = {run_masked_gradient};
const struct sim_kernel sim_kernel_aclnnScaledMaskedSoftmax = {plan_masked, sim_lists_run, (void *)&masked_kind,
                                                               false};
const struct sim_kernel sim_kernel_aclnnScaledMaskedSoftmaxBackward = {plan_masked_gradient, sim_lists_run,
                                                                       (void *)&gradient_kind, false};

/* ---- MaskedSoftmaxWithRelPosBias: x, attenMask, relativePosBias, scaleValue, innerPrecisionMode, out. x is [B, W, N,
 * S1, S2] or [B * W, N, S1, S2]; the mask has an element per W, S1 and S2, the bias one per N, S1 and S2. ---- */

/* The product of the dimensions before the last two; -1 if it does not fit. */
static int64_t parts_of(const aclsimTensor *tensor)
{
    int64_t parts = 1;
    for (uint32_t k = 0; k + 2 < tensor->rank; k++)
        if (!sim_length_multiply(&parts, tensor->dims[k]))
            return -1;
    return parts;
}

/* A mask or a bias: `parts` (-1: any number) times the last two dimensions of x. */
static aclnnStatus check_part(const aclsimArgument *part, int64_t parts, const aclsimTensor *x)
{
    const aclsimTensor *tensor = part->tensors;
    SIM_TRY(sim_require_same_type(part, x->type, "x"));
    SIM_TRY(sim_require_rank(part, 3, 5));
    for (uint32_t k = 1; k <= 2; k++)
        SIM_ARGUMENT(tensor->dims[tensor->rank - k] == x->dims[x->rank - k], ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %" PRId64 ", expected %" PRId64 ", that of x", tensor->rank - k, part->name,
                     tensor->dims[tensor->rank - k], x->dims[x->rank - k]);
    const int64_t found = parts_of(tensor);
    SIM_ARGUMENT(found >= 0 && (parts < 0 || found == parts), ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " matrices, expected %" PRId64, part->name, found, parts);
    return ACL_SUCCESS;
}

static aclnnStatus plan_biased(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *mask = &given[1];
    const aclsimTensor *x = given[0].tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[5], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(&given[0], 4, 5));
    SIM_TRY(check_part(&given[2], x->dims[x->rank - 3], x));
    if (mask->present != 0) {
        SIM_TRY(check_part(mask, x->rank == 5 ? x->dims[1] : -1, x));
        const int64_t windows = parts_of(mask->tensors), outer = x->rank == 5 ? x->dims[0] * x->dims[1] : x->dims[0];
        SIM_ARGUMENT(windows > 0 && outer % windows == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 " windows, expected a divisor of %" PRId64 ", dimension 0 of %s", mask->name,
                     windows, outer, given[0].name);
    }
    return sim_require_shape(&given[5], x->dims, x->rank, "that of x");
}

static aclError run_biased(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[0].tensors;
    double *values, *mask, *bias;
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    const size_t columns = (size_t)x->dims[x->rank - 1], area = (size_t)x->dims[x->rank - 2] * columns;
    const size_t heads = (size_t)x->dims[x->rank - 3];
    const size_t windows = given[1].present != 0 ? (size_t)parts_of(given[1].tensors) : 1;
    const size_t count = (size_t)sim_walk_count(x);
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load_or(lists, &given[1], area, 0, &mask));
    SIM_TRY(sim_lists_load(lists, &given[2], &bias));
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] * given[3].number + mask[i / (area * heads) % windows * area + i % area] +
                    bias[i % (area * heads)];
    for (size_t i = 0; i < count; i += columns)
        softmax(values + i, columns);
    sim_lists_store(&given[5], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind biased_kind = {run_biased};
const struct sim_kernel sim_kernel_aclnnMaskedSoftmaxWithRelPosBias = {plan_biased, sim_lists_run,
                                                                       (void *)&biased_kind, false};
