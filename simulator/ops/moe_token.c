/* MoeTokenPermute: tokens, indices, numOutTokens, paddedMode, permuteTokens, sortedIndices. The pairs of a token and an
 * expert are sorted by expert, in a stable order; sortedIndices says where each pair went. And the gradient of
 * MoeTokenUnpermute: permutedTokens, unpermutedTokensGrad, sortedIndices, probs, paddedMode, restoreShape,
 * permutedTokensGrad, probsGrad. */
#include "moe.h"

#include <inttypes.h>

/* ---- MoeTokenPermute ---- */

/* The rows of the result: as many as asked for, or all but so many if the number is not positive. */
static int64_t rows_of(const aclsimArgument *number, int64_t pairs)
{
    const int64_t asked = number->integer;
    return asked > 0 ? (asked < pairs ? asked : pairs) : asked + pairs > 0 ? asked + pairs : 0;
}

static aclnnStatus plan_permute(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[4];
    const aclsimTensor *tokens = given->tensors, *indices = given[1].tensors;
    const int64_t pairs = sim_walk_count(indices);
    (void)workspace_size;
    SIM_TRY(sim_require_types(given, out, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPES_INDEX));
    SIM_TRY(sim_require_type(&given[5], SIM_TYPE(ACL_INT32)));
    SIM_ARGUMENT(tokens->rank >= 2 && (indices->rank == 1 || indices->rank == 2), ACLNN_ERR_INNER_TILING_ERROR,
                 "%s and %s have %u and %u dimensions, expected 2 or more, and 1 or 2", given->name, given[1].name,
                 tokens->rank, indices->rank);
    SIM_TRY(sim_moe_require_number(&given[3], 0, 0));
    SIM_TRY(sim_moe_require_shape(&given[1], indices->rank, tokens->dims[0], -1));
    SIM_ARGUMENT(pairs >= 0 && given[2].integer > -INT32_MAX, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 ", expected a number of rows", given[2].name, given[2].integer);
    SIM_TRY(sim_moe_require_shape(&given[5], 1, pairs, -1));
    aclsimTensor wanted = *tokens;
    wanted.dims[0] = rows_of(&given[2], pairs);
    SIM_ARGUMENT(sim_require_is_shape(out->tensors, wanted.dims, wanted.rank), ACLNN_ERR_INNER_TILING_ERROR,
                 "%s does not have %" PRId64 " rows with the shape of those of %s", out->name, wanted.dims[0],
                 given->name);
    return ACL_SUCCESS;
}

static aclError run_permute(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *tokens = given->tensors, *indices = given[1].tensors;
    const size_t pairs = (size_t)sim_walk_count(indices), width = sim_slices_extent(tokens, 1, tokens->rank);
    const size_t each = indices->rank == 1 ? 1 : (size_t)indices->dims[1], rows = (size_t)given[4].tensors->dims[0];
    double *values, *experts, *order, *places, *results;
    SIM_TRY(sim_lists_load(lists, given, &values));
    SIM_TRY(sim_lists_load(lists, &given[1], &experts));
    SIM_TRY(sim_moe_sort(lists, experts, pairs, &order));
    SIM_TRY(sim_lists_take(lists, pairs, &places));
    SIM_TRY(sim_lists_take(lists, rows * width, &results));
    for (size_t i = 0; i < pairs; i++) {
        const size_t pair = (size_t)order[i];
        places[pair] = (double)i;
        if (i < rows && width != 0)
            memcpy(results + i * width, values + pair / each * width, width * sizeof *results);
    }
    sim_lists_store(&given[4], results);
    sim_lists_store(&given[5], places);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind permute = {run_permute};
const struct sim_kernel sim_kernel_aclnnMoeTokenPermute = {plan_permute, sim_lists_run, (void *)&permute, false};

/* ---- MoeTokenUnpermuteGrad ---- */

enum { PERMUTED, GRADIENT, PLACES, FACTORS, PADDED, RESTORED, ROWS_OUT, FACTORS_OUT };

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *factors = &given[FACTORS];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[PERMUTED], &given[GRADIENT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_types(&given[PERMUTED], &given[ROWS_OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[PLACES], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(&given[GRADIENT], 2, -1, -1));
    const int64_t tokens = given[GRADIENT].tensors->dims[0], width = given[GRADIENT].tensors->dims[1];
    SIM_TRY(sim_moe_require_shape(&given[PERMUTED], 2, -1, width));
    SIM_TRY(sim_moe_require_shape(&given[ROWS_OUT], 2, given[PERMUTED].tensors->dims[0], width));
    SIM_TRY(sim_moe_require_number(&given[PADDED], 0, 0));
    int64_t pairs = tokens;
    if (factors->present != 0) {
        SIM_TRY(sim_require_types(factors, &given[FACTORS_OUT], SIM_TYPES_SINGLE));
        SIM_TRY(sim_moe_require_shape(factors, 2, tokens, -1));
        SIM_TRY(sim_moe_require_shape(&given[FACTORS_OUT], 2, tokens, factors->tensors->dims[1]));
        pairs = sim_walk_count(factors->tensors);
    }
    SIM_ARGUMENT(pairs >= 0, ACLNN_ERR_INNER_TILING_ERROR, "%s has more elements than fit into 63 bits", factors->name);
    return sim_moe_require_shape(&given[PLACES], 1, pairs, -1);
}

/* A pair whose place is behind the last row was left out by MoeTokenPermute, and has no gradient. */
static aclError run_gradient(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const bool has_factors = given[FACTORS].present != 0;
    const size_t rows = (size_t)given[PERMUTED].tensors->dims[0], width = (size_t)given[PERMUTED].tensors->dims[1];
    const size_t pairs = (size_t)given[PLACES].tensors->dims[0];
    const size_t each = has_factors ? (size_t)given[FACTORS].tensors->dims[1] : 1;
    double *values, *slopes, *places, *factors, *results, *sums;
    SIM_TRY(sim_lists_load(lists, &given[PERMUTED], &values));
    SIM_TRY(sim_lists_load(lists, &given[GRADIENT], &slopes));
    SIM_TRY(sim_lists_load(lists, &given[PLACES], &places));
    SIM_TRY(sim_lists_load_or(lists, &given[FACTORS], pairs, 1, &factors));
    SIM_TRY(sim_lists_take(lists, rows * width, &results));
    SIM_TRY(sim_lists_take(lists, pairs, &sums));
    for (size_t pair = 0; pair < pairs; pair++) {
        if (places[pair] < 0)
            return sim_moe_fail(&given[PLACES], pair, places[pair], 0, (int64_t)pairs - 1);
        if (places[pair] >= (double)rows)
            continue;
        const size_t row = (size_t)places[pair];
        const double *slope = slopes + pair / each * width;
        for (size_t h = 0; h < width; h++) {
            results[row * width + h] += slope[h] * factors[pair];
            sums[pair] += slope[h] * values[row * width + h];
        }
    }
    sim_lists_store(&given[ROWS_OUT], results);
    if (has_factors)
        sim_lists_store(&given[FACTORS_OUT], sums);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind gradient = {run_gradient};
const struct sim_kernel sim_kernel_aclnnMoeTokenUnpermuteGrad = {plan_gradient, sim_lists_run, (void *)&gradient,
                                                                 false};
