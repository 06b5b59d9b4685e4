/* GroupedBiasAddGrad: gradY, groupIdx, in V2 also groupIdxType, out. The gradient of a bias that is added to all rows
 * of a group is the sum of these rows. Without groups, gradY is [groups, rows, columns]; otherwise it is a matrix, and
 * groups are given by their ends or, with type 1, by their sizes. Sums are computed in double and rounded once. */
#include "slices.h"

#include <inttypes.h>
#include <stdio.h>

static bool are_sizes(const aclsimCall *call)
{
    return call->argumentCount == 4 && call->arguments[2].integer == 1;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *groups = &given[1], *out = &given[call->argumentCount - 1];
    const aclsimTensor *slope = given->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(given, out, SIM_TYPES_SINGLE));
    if (call->argumentCount == 4)
        SIM_ARGUMENT(given[2].integer == 0 || given[2].integer == 1, ACLNN_ERR_PARAM_INVALID,
                     "%s is %" PRId64 ", expected 0 or 1", given[2].name, given[2].integer);
    if (groups->present == 0) {
        SIM_TRY(sim_require_rank(given, 3, 3));
        const int64_t dims[] = {slope->dims[0], slope->dims[2]};
        return sim_require_shape(out, dims, 2, "one row per group");
    }
    SIM_TRY(sim_require_type(groups, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(groups, 1, 1));
    SIM_TRY(sim_require_rank(given, 2, 2));
    const int64_t dims[] = {groups->tensors->dims[0], slope->dims[1]};
    return sim_require_shape(out, dims, 2, "one row per group");
}

static aclError fail(const aclsimArgument *groups, size_t group, double end, size_t start, size_t rows)
{
    char text[192];
    snprintf(text, sizeof text, "element %zu of %.60s ends its group at row %.0f, expected %zu to %zu", group,
             groups->name, end, start, rows);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *groups = &given[1], *out = &given[call->argumentCount - 1];
    const aclsimTensor *slope = given->tensors;
    const size_t count = (size_t)out->tensors->dims[0], width = (size_t)out->tensors->dims[1];
    const size_t rows = sim_slices_extent(slope, 0, slope->rank - 1), each = count == 0 ? 0 : rows / count;
    double *values, *sums, *ends = NULL;
    size_t row = 0;
    SIM_TRY(sim_lists_load(lists, given, &values));
    SIM_TRY(sim_lists_take(lists, count * width, &sums));
    if (groups->present != 0)
        SIM_TRY(sim_lists_load(lists, groups, &ends));
    for (size_t group = 0; group < count; group++) {
        double end = (double)((group + 1) * each);
        if (ends != NULL)
            end = are_sizes(call) ? (double)row + ends[group] : ends[group];
        if (end < (double)row || end > (double)rows)
            return fail(groups, group, end, row, rows);
        for (; (double)row < end; row++)
            for (size_t k = 0; k < width; k++)
                sums[group * width + k] += values[row * width + k];
    }
    sim_lists_store(out, sums);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnGroupedBiasAddGrad = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnGroupedBiasAddGradV2 = {plan, sim_lists_run, (void *)&kind, false};
