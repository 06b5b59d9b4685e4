/* ClippedSwiglu: x, groupIndex, dim, alpha, limit, bias, interleaved, out. The dimensions from `dim` on are one row, of
 * which one part, after an activation, is multiplied by the other (swiglu.h); the dimensions before it are the rows.
 * With groupIndex, only the first rows are computed, as many as the sum of its elements; the others are 0. All is
 * computed in double and rounded once. */
#include "slices.h"
#include "swiglu.h"

enum { X, GROUPS, DIM, ALPHA, LIMIT, BIAS, INTERLEAVED, OUT };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *x = &given[X];
    aclsimTensor half = *x->tensors;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, &given[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(x, 1, SIM_RANK));
    SIM_TRY(sim_require_dim(&given[DIM], half.rank, &dim));
    if (given[GROUPS].present != 0) {
        SIM_TRY(sim_require_type(&given[GROUPS], SIM_TYPE(ACL_INT64)));
        SIM_TRY(sim_require_rank(&given[GROUPS], 1, 1));
    }
    SIM_ARGUMENT(half.dims[dim] % 2 == 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %lld, expected an even number", dim, x->name, (long long)half.dims[dim]);
    half.dims[dim] /= 2;
    return sim_require_shape(&given[OUT], half.dims, half.rank, "that of one half");
}

/* How many rows are computed. */
static aclError count_rows(struct sim_lists *lists, const aclsimArgument *groups, size_t all, size_t *rows)
{
    double *counts, sum = 0;
    *rows = all;
    if (groups->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, groups, &counts));
    for (int64_t i = 0; i < groups->tensors->dims[0]; i++)
        sum += counts[i];
    *rows = sum < 0 ? 0 : sum < (double)all ? (size_t)sum : all;
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    const struct sim_swiglu swiglu = {.sw_left = true,
                                      .sw_interleaved = given[INTERLEAVED].integer != 0,
                                      .sw_clipped = true,
                                      .sw_limit = given[LIMIT].number,
                                      .sw_alpha = given[ALPHA].number,
                                      .sw_bias = given[BIAS].number};
    double *values, *results;
    uint32_t dim;
    size_t rows;
    SIM_TRY(sim_require_dim(&given[DIM], x->rank, &dim));
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    const size_t all = sim_slices_extent(x, 0, dim), half = sim_slices_extent(x, dim, x->rank) / 2;
    SIM_TRY(count_rows(lists, &given[GROUPS], all, &rows));
    SIM_TRY(sim_lists_load(lists, &given[X], &values));
    SIM_TRY(sim_lists_take(lists, all * half, &results));
    for (size_t row = 0; row < rows; row++)
        for (size_t k = 0; k < half; k++) {
            size_t active, passive;
            sim_swiglu_places(&swiglu, k, half, &active, &passive);
            const double *from = values + row * 2 * half;
            results[row * half + k] = sim_swiglu_value(&swiglu, from[active], from[passive]);
        }
    sim_lists_store(&given[OUT], results);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnClippedSwiglu = {plan, sim_lists_run, (void *)&kind, false};
