/* Sums of the rows that experts have computed, per token: MoeFinalizeRouting with V2 to V4, MoeTokenUnpermute, and the
 * gradients of MoeInitRoutingV2 and MoeTokenPermute. Sums are computed in double and rounded once. */
#include "base/bytes.h"
#include "moe.h"

#include <inttypes.h>
#include <string.h>

/* out[i] += factor[i, k] * (rows[places[i, k]] + bias[experts[i, k]]) for all k. Places are listed by token or, with
 * gs_turned, by k. A place without row is -1, or with gs_partial any that is not less than the number of rows. */
struct sums {
    const aclsimArgument *gs_places, *gs_experts; /* for messages */
    const double *gs_rows, *gs_place, *gs_factor, *gs_bias, *gs_expert; /* NULL: no factors, or no bias */
    size_t gs_count, gs_width, gs_tokens, gs_each, gs_biases;
    bool gs_turned, gs_sparse, gs_partial;
};

static aclError find_row(const struct sums *sums, size_t pair, const double **row)
{
    const double place = sums->gs_place[pair];
    *row = NULL;
    if (place >= 0 && place < (double)sums->gs_count)
        *row = sums->gs_rows + (size_t)place * sums->gs_width;
    else if (!(sums->gs_sparse && place == -1) && !(sums->gs_partial && place >= 0))
        return sim_moe_fail(sums->gs_places, pair, place, sums->gs_sparse ? -1 : 0, (int64_t)sums->gs_count - 1);
    return ACL_SUCCESS;
}

static aclError add_pair(const struct sums *sums, size_t token, size_t k, double *out)
{
    const size_t pair = sums->gs_turned ? k * sums->gs_tokens + token : token * sums->gs_each + k;
    const size_t straight = token * sums->gs_each + k;
    const double factor = sums->gs_factor == NULL ? 1 : sums->gs_factor[straight], *row, *bias = NULL;
    SIM_TRY(find_row(sums, pair, &row));
    if (sums->gs_bias != NULL) {
        const double expert = sums->gs_expert[straight];
        if (expert < 0 || expert >= (double)sums->gs_biases)
            return sim_moe_fail(sums->gs_experts, straight, expert, 0, (int64_t)sums->gs_biases - 1);
        bias = sums->gs_bias + (size_t)expert * sums->gs_width;
    }
    for (size_t h = 0; h < sums->gs_width && (row != NULL || bias != NULL); h++)
        out[h] += factor * ((row == NULL ? 0 : row[h]) + (bias == NULL ? 0 : bias[h]));
    return ACL_SUCCESS;
}

static aclError add_all(const struct sums *sums, double *out)
{
    for (size_t token = 0; token < sums->gs_tokens; token++)
        for (size_t k = 0; k < sums->gs_each; k++)
            SIM_TRY(add_pair(sums, token, k, out + token * sums->gs_width));
    return ACL_SUCCESS;
}

/* ---- MoeFinalizeRouting ---- */

struct final {
    const aclsimArgument *fi_rows, *fi_places, *fi_x1, *fi_x2, *fi_bias, *fi_scales, *fi_experts, *fi_out, *fi_k;
    int64_t fi_mode; /* 1 and 3: expandedX has a place per expert and capacity; 2 and 3: places are by token */
};

/* expandedX, x1, x2, bias, scales, expandedRowIdx, expandedExpertIdx, out; V2: expandedX, expandedRowIdx, x1, x2, bias,
 * scales, expertIdx, in V3 and V4 also x, a1, a2, v, dropPadMode, in V3 and V4 also zeroExpertRange, copyExpertRange,
 * constantExpertRange, in V4 also k, out */
enum { SECOND = 9, THIRD = 16, FOURTH = 17, FIRST_RANGE = 12, RANGES = 3, NUMBER_OF_ROWS = 15 };

static struct final final_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    if (call->argumentCount == 8)
        return (struct final){given,     &given[5], &given[1], &given[2], &given[3],
                              &given[4], &given[6], &given[7], NULL,      0};
    const aclsimArgument *mode = &given[call->argumentCount == SECOND ? 7 : 11];
    return (struct final){given,
                          &given[1],
                          &given[2],
                          &given[3],
                          &given[4],
                          &given[5],
                          &given[6],
                          &given[call->argumentCount - 1],
                          call->argumentCount == FOURTH ? &given[NUMBER_OF_ROWS] : NULL,
                          mode->integer};
}

static size_t each_of(const struct final *final)
{
    if (final->fi_scales->present != 0)
        return (size_t)final->fi_scales->tensors->dims[1];
    return final->fi_k == NULL ? 1 : (size_t)final->fi_k->integer;
}

/* V3 and V4 have experts that compute nothing. Their ranges must be absent, empty or negative. */
static aclnnStatus check_ranges(const aclsimCall *call)
{
    const aclsimArgument *ranges = &call->arguments[FIRST_RANGE];
    for (size_t i = 0; call->argumentCount >= THIRD && i < RANGES; i++)
        for (uint64_t k = 0; ranges[i].present != 0 && k < ranges[i].count; k++)
            SIM_ARGUMENT(ranges[i].integers[k] < 0, ACLNN_ERR_INNER_TILING_ERROR,
                         "%s has %" PRId64 ", expected negative numbers: experts without computation are not supported",
                         ranges[i].name, ranges[i].integers[k]);
    return ACL_SUCCESS;
}

static aclnnStatus check_final_types(const struct final *final)
{
    const aclDataType type = final->fi_rows->tensors->type;
    const aclsimArgument *const alike[] = {final->fi_x1, final->fi_x2, final->fi_bias, final->fi_out};
    SIM_TRY(sim_require_type(final->fi_rows, SIM_TYPES_SINGLE));
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (alike[i]->present != 0)
            SIM_TRY(sim_require_same_type(alike[i], type, final->fi_rows->name));
    if (final->fi_scales->present != 0)
        SIM_TRY(sim_require_type(final->fi_scales, SIM_TYPES_SINGLE));
    if (final->fi_experts->present != 0)
        SIM_TRY(sim_require_type(final->fi_experts, SIM_TYPE(ACL_INT32)));
    return sim_require_type(final->fi_places, SIM_TYPE(ACL_INT32));
}

static aclnnStatus plan_final(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct final final = final_of(call);
    const aclsimTensor *out = final.fi_out->tensors, *rows = final.fi_rows->tensors;
    (void)workspace_size;
    SIM_TRY(check_final_types(&final));
    if (call->argumentCount >= SECOND)
        SIM_TRY(sim_moe_require_number(&call->arguments[call->argumentCount == SECOND ? 7 : 11], 0, 3));
    SIM_TRY(check_ranges(call));
    if (final.fi_k != NULL)
        SIM_TRY(sim_moe_require_number(final.fi_k, 1, INT32_MAX));
    SIM_TRY(sim_moe_require_shape(final.fi_out, 2, -1, -1));
    SIM_TRY(sim_moe_require_shape(final.fi_rows, final.fi_mode % 2 == 1 ? 3 : 2, -1, -1));
    SIM_ARGUMENT(rows->dims[rows->rank - 1] == out->dims[1], ACLNN_ERR_INNER_TILING_ERROR,
                 "the last dimension of %s is %" PRId64 ", expected %" PRId64, final.fi_rows->name,
                 rows->dims[rows->rank - 1], out->dims[1]);
    if (final.fi_scales->present != 0)
        SIM_TRY(sim_moe_require_shape(final.fi_scales, 2, out->dims[0], -1));
    int64_t count = out->dims[0];
    SIM_ARGUMENT(sim_length_multiply(&count, (int64_t)each_of(&final)), ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has more elements than fit into 63 bits", final.fi_scales->name);
    SIM_TRY(sim_moe_require_shape(final.fi_places, 1, count, -1));
    if (final.fi_x1->present != 0)
        SIM_TRY(sim_moe_require_shape(final.fi_x1, 2, out->dims[0], out->dims[1]));
    SIM_ARGUMENT(final.fi_x2->present == 0 || final.fi_x1->present != 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is a tensor and %s is NULL, expected both or only the second one", final.fi_x2->name,
                 final.fi_x1->name);
    if (final.fi_x2->present != 0)
        SIM_TRY(sim_moe_require_shape(final.fi_x2, 2, out->dims[0], out->dims[1]));
    if (final.fi_experts->present != 0)
        SIM_TRY(sim_moe_require_shape(final.fi_experts, 2, out->dims[0], (int64_t)each_of(&final)));
    if (final.fi_bias->present == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(final.fi_experts->present != 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is a tensor and %s is NULL, expected both", final.fi_bias->name, final.fi_experts->name);
    return sim_moe_require_shape(final.fi_bias, 2, -1, out->dims[1]);
}

/* Adds the elements of an optional tensor. */
static aclError add_tensor(struct sim_lists *lists, const aclsimArgument *tensor, size_t count, double *out)
{
    double *numbers;
    if (tensor->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, tensor, &numbers));
    for (size_t i = 0; i < count; i++)
        out[i] += numbers[i];
    return ACL_SUCCESS;
}

static aclError load(struct sim_lists *lists, const aclsimArgument *tensor, const double **numbers)
{
    double *loaded = NULL;
    if (tensor->present != 0)
        SIM_TRY(sim_lists_load(lists, tensor, &loaded));
    *numbers = loaded;
    return ACL_SUCCESS;
}

static aclError run_final(const aclsimCall *call, struct sim_lists *lists)
{
    const struct final final = final_of(call);
    const aclsimTensor *out = final.fi_out->tensors, *rows = final.fi_rows->tensors;
    struct sums sums = {.gs_places = final.fi_places,
                        .gs_experts = final.fi_experts,
                        .gs_count = sim_slices_extent(rows, 0, rows->rank - 1),
                        .gs_width = (size_t)out->dims[1],
                        .gs_tokens = (size_t)out->dims[0],
                        .gs_each = each_of(&final),
                        .gs_turned = final.fi_mode < 2,
                        .gs_sparse = final.fi_mode % 2 == 1};
    const size_t count = sums.gs_tokens * sums.gs_width;
    double *results;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(load(lists, final.fi_rows, &sums.gs_rows));
    SIM_TRY(load(lists, final.fi_places, &sums.gs_place));
    SIM_TRY(load(lists, final.fi_scales, &sums.gs_factor));
    SIM_TRY(load(lists, final.fi_bias, &sums.gs_bias));
    SIM_TRY(load(lists, final.fi_experts, &sums.gs_expert));
    sums.gs_biases = final.fi_bias->present == 0 ? 0 : (size_t)final.fi_bias->tensors->dims[0];
    SIM_TRY(sim_lists_take(lists, count, &results));
    SIM_TRY(add_tensor(lists, final.fi_x1, count, results));
    SIM_TRY(add_tensor(lists, final.fi_x2, count, results));
    SIM_TRY(add_all(&sums, results));
    sim_lists_store(final.fi_out, results);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind final = {run_final};
const struct sim_kernel sim_kernel_aclnnMoeFinalizeRouting = {plan_final, sim_lists_run, (void *)&final, false};
const struct sim_kernel sim_kernel_aclnnMoeFinalizeRoutingV2 = {plan_final, sim_lists_run, (void *)&final, false};
const struct sim_kernel sim_kernel_aclnnMoeFinalizeRoutingV3 = {plan_final, sim_lists_run, (void *)&final, false};
const struct sim_kernel sim_kernel_aclnnMoeFinalizeRoutingV4 = {plan_final, sim_lists_run, (void *)&final, false};

/* ---- sums without bias: MoeTokenUnpermute: permutedTokens, sortedIndices, probs, paddedMode, restoreShape, out;
 * MoeTokenPermuteGrad: permutedOutputGrad, sortedIndices, numTopk, paddedMode, out; MoeInitRoutingV2Grad:
 * gradExpandedX, expandedRowIdx, topK, dropPadMode, activeNum, out ---- */

struct sum_kind {
    struct sim_lists_kind sk_kind; /* first, because sim_lists_run reads it */
    bool sk_has_factors; /* argument 2 is an optional tensor of factors; otherwise, it is the number of pairs */
    uint8_t sk_padded;   /* an argument that must be 0; 0: there is none */
    uint8_t sk_drop;     /* an argument that is 1 if places may be -1; 0: there is none */
};

static int64_t pairs_of(const aclsimCall *call)
{
    const struct sum_kind *kind = call->userData;
    const aclsimArgument *given = &call->arguments[2];
    if (!kind->sk_has_factors)
        return given->integer;
    return given->present == 0 ? 1 : given->tensors->dims[1];
}

static aclnnStatus plan_sum(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sum_kind *kind = call->userData;
    const aclsimArgument *given = call->arguments, *out = &given[call->argumentCount - 1];
    (void)workspace_size;
    SIM_TRY(sim_require_types(given, out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[1], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(out, 2, -1, -1));
    const int64_t tokens = out->tensors->dims[0], width = out->tensors->dims[1];
    if (kind->sk_padded != 0)
        SIM_TRY(sim_moe_require_number(&given[kind->sk_padded], 0, 0));
    if (kind->sk_drop != 0)
        SIM_TRY(sim_moe_require_number(&given[kind->sk_drop], 0, 1));
    const bool blocks = kind->sk_drop != 0 && given[kind->sk_drop].integer == 1;
    SIM_TRY(sim_moe_require_shape(given, blocks ? 3 : 2, -1, blocks ? -1 : width));
    SIM_ARGUMENT(given->tensors->dims[given->tensors->rank - 1] == width, ACLNN_ERR_INNER_TILING_ERROR,
                 "the last dimension of %s is %" PRId64 ", expected %" PRId64, given->name,
                 given->tensors->dims[given->tensors->rank - 1], width);
    if (!kind->sk_has_factors) {
        SIM_TRY(sim_moe_require_number(&given[2], 1, INT32_MAX));
    } else if (given[2].present != 0) {
        SIM_TRY(sim_require_type(&given[2], SIM_TYPES_SINGLE));
        SIM_TRY(sim_moe_require_shape(&given[2], 2, tokens, -1));
    }
    int64_t count = tokens;
    SIM_ARGUMENT(sim_length_multiply(&count, pairs_of(call)), ACLNN_ERR_INNER_TILING_ERROR,
                 "%s needs more elements than fit into 63 bits", given[1].name);
    return sim_moe_require_shape(&given[1], 1, count, -1);
}

static aclError run_sum(const aclsimCall *call, struct sim_lists *lists)
{
    const struct sum_kind *kind = call->userData;
    const aclsimArgument *given = call->arguments, *out = &given[call->argumentCount - 1];
    const aclsimTensor *rows = given->tensors;
    const bool blocks = kind->sk_drop != 0 && given[kind->sk_drop].integer == 1;
    struct sums sums = {.gs_places = &given[1],
                        .gs_count = sim_slices_extent(rows, 0, rows->rank - 1),
                        .gs_width = (size_t)out->tensors->dims[1],
                        .gs_tokens = (size_t)out->tensors->dims[0],
                        .gs_each = (size_t)pairs_of(call),
                        .gs_sparse = blocks,
                        .gs_partial = !blocks};
    double *results;
    if (sums.gs_tokens == 0 || sums.gs_width == 0)
        return ACL_SUCCESS;
    SIM_TRY(load(lists, given, &sums.gs_rows));
    SIM_TRY(load(lists, &given[1], &sums.gs_place));
    if (kind->sk_has_factors)
        SIM_TRY(load(lists, &given[2], &sums.gs_factor));
    SIM_TRY(sim_lists_take(lists, sums.gs_tokens * sums.gs_width, &results));
    SIM_TRY(add_all(&sums, results));
    sim_lists_store(out, results);
    return ACL_SUCCESS;
}

static const struct sum_kind unpermute = {.sk_kind = {run_sum}, .sk_has_factors = true, .sk_padded = 3};
static const struct sum_kind permute_grad = {.sk_kind = {run_sum}, .sk_padded = 3};
static const struct sum_kind routing_grad = {.sk_kind = {run_sum}, .sk_drop = 3};
const struct sim_kernel sim_kernel_aclnnMoeTokenUnpermute = {plan_sum, sim_lists_run, (void *)&unpermute, false};
const struct sim_kernel sim_kernel_aclnnMoeTokenPermuteGrad = {plan_sum, sim_lists_run, (void *)&permute_grad, false};
const struct sim_kernel sim_kernel_aclnnMoeInitRoutingV2Grad = {plan_sum, sim_lists_run, (void *)&routing_grad, false};
