/* Tokens sorted by expert and back, for a map that says which experts a token has: MoeTokenPermuteWithRoutingMap,
 * MoeTokenUnpermuteWithRoutingMap, and their gradients. A link connects a token with a row of the sorted tokens, and
 * with an element of the map. Without padding, all tokens have the same number of experts; sortedIndices has the row of
 * each link in the order of the map, and -1 where the link has none. With padding, each expert has the same number of
 * rows; sortedIndices has the token of each row. All is computed in double and rounded once. */
#include "moe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIM_TYPES_MAP (SIM_TYPES_BOOL | SIM_TYPE(ACL_INT8))

/* Three lists of the same length. Links without a row have -1 there; without a map, there are no cells. */
struct links {
    double *li_tokens, *li_rows, *li_cells;
    size_t li_count;
    size_t li_experts; /* columns of the map; 0: unknown */
};

/* What a call says about its links. */
struct routing {
    const aclsimArgument *ro_indices, *ro_map, *ro_probs; /* ro_probs may be NULL */
    size_t ro_tokens, ro_count;                           /* ro_count: of the sorted rows */
    bool ro_padded;
};

static aclError take(struct sim_lists *lists, struct links *links, size_t count)
{
    links->li_count = count;
    SIM_TRY(sim_lists_take(lists, count, &links->li_tokens));
    SIM_TRY(sim_lists_take(lists, count, &links->li_rows));
    return sim_lists_take(lists, count, &links->li_cells);
}

static aclError check_index(const aclsimArgument *indices, size_t place, double value, double least, size_t end)
{
    if (value >= least && value < (double)end)
        return ACL_SUCCESS;
    return sim_moe_fail(indices, place, value, (int64_t)least, (int64_t)end - 1);
}

/* As many elements of the map are set as there are links. */
static aclError check_set(const aclsimArgument *map, size_t found, size_t count)
{
    char text[160];
    if (found == count)
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "%s has %zu elements that are set, expected %zu, one per row", map->name, found, count);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* The cells of links without padding are the elements of the map that are set, in order. */
static aclError find_cells(const struct routing *routing, struct sim_lists *lists, struct links *links)
{
    const size_t cells = routing->ro_tokens * links->li_experts;
    double *map;
    size_t next = 0;
    SIM_TRY(sim_lists_load(lists, routing->ro_map, &map));
    for (size_t cell = 0; cell < cells; cell++)
        if (map[cell] != 0 && next++ < links->li_count)
            links->li_cells[next - 1] = (double)cell;
    return check_set(routing->ro_map, next, links->li_count);
}

/* Finds the links that sorted indices describe. */
static aclError find_links(const struct routing *routing, struct sim_lists *lists, struct links *links)
{
    const size_t count = routing->ro_count, each = routing->ro_tokens == 0 ? 0 : count / routing->ro_tokens;
    const size_t capacity = links->li_experts == 0 ? 0 : count / links->li_experts;
    double *sorted;
    SIM_TRY(take(lists, links, count));
    SIM_TRY(sim_lists_load(lists, routing->ro_indices, &sorted));
    for (size_t i = 0; i < count; i++) {
        SIM_TRY(check_index(routing->ro_indices, i, sorted[i], routing->ro_padded ? 0 : -1,
                            routing->ro_padded ? routing->ro_tokens : count));
        links->li_tokens[i] = routing->ro_padded ? sorted[i] : (double)(i / each);
        links->li_rows[i] = routing->ro_padded ? (double)i : sorted[i];
        if (routing->ro_padded && capacity != 0)
            links->li_cells[i] = sorted[i] * (double)links->li_experts + (double)(i / capacity);
    }
    return routing->ro_padded || routing->ro_map->present == 0 ? ACL_SUCCESS : find_cells(routing, lists, links);
}

/* ---- checks ---- */

/* The number of rows, and how they are divided. */
static aclnnStatus check_count(const aclsimArgument *indices, int64_t count, int64_t parts, const char *what)
{
    SIM_ARGUMENT(parts > 0 ? count % parts == 0 : count == 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has %" PRId64 " elements, expected a multiple of %" PRId64 ", the number of %s", indices->name,
                 count, parts, what);
    return ACL_SUCCESS;
}

/* The map and the probabilities have an element per token and expert. `needs` says whether the map is read. */
static aclnnStatus check_map(const struct routing *routing, int64_t *experts, bool needs)
{
    const aclsimArgument *map = routing->ro_map, *probs = routing->ro_probs;
    *experts = -1;
    SIM_TRY(sim_require_present(map, needs && !routing->ro_padded));
    if (map->present != 0) {
        SIM_TRY(sim_require_type(map, SIM_TYPES_MAP));
        SIM_TRY(sim_moe_require_shape(map, 2, (int64_t)routing->ro_tokens, -1));
        *experts = map->tensors->dims[1];
    }
    if (probs == NULL || probs->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(probs, SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_shape(probs, 2, (int64_t)routing->ro_tokens, *experts));
    *experts = probs->tensors->dims[1];
    return ACL_SUCCESS;
}

static aclnnStatus check_indices(const aclsimArgument *indices, int64_t count)
{
    SIM_TRY(sim_require_type(indices, SIM_TYPE(ACL_INT32)));
    return sim_moe_require_shape(indices, 1, count, -1);
}

/* The rows of one of the two tensors are divided among tokens, or among experts. */
static aclnnStatus check_parts(const struct routing *routing, int64_t experts)
{
    const int64_t count = (int64_t)routing->ro_count;
    if (!routing->ro_padded)
        return check_count(routing->ro_indices, count, (int64_t)routing->ro_tokens, "tokens");
    return experts < 0 ? ACL_SUCCESS : check_count(routing->ro_indices, count, experts, "experts");
}

/* The number of experts; 0: the call does not say it. */
static size_t experts_of(const struct routing *routing)
{
    const aclsimArgument *probs = routing->ro_probs;
    if (probs != NULL && probs->present != 0)
        return (size_t)probs->tensors->dims[1];
    return routing->ro_map->present != 0 ? (size_t)routing->ro_map->tensors->dims[1] : 0;
}

/* ---- MoeTokenPermuteWithRoutingMap: tokens, routingMap, probs, numOutTokens, dropAndPad, permuteTokens, permuteProbs,
 * sortedIndices ---- */

static aclnnStatus plan_permute(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *map = &given[1], *probs = &given[2];
    const bool padded = given[4].integer != 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[5], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(map, SIM_TYPES_MAP));
    SIM_TRY(sim_moe_require_shape(&given[0], 2, -1, -1));
    const int64_t tokens = given[0].tensors->dims[0], width = given[0].tensors->dims[1];
    SIM_TRY(sim_moe_require_shape(map, 2, tokens, -1));
    const int64_t experts = map->tensors->dims[1], parts = padded ? experts : tokens;
    SIM_TRY(sim_moe_require_number(&given[3], 0, sim_walk_count(map->tensors)));
    const int64_t count = parts == 0 ? 0 : given[3].integer / parts * parts;
    SIM_TRY(sim_moe_require_shape(&given[5], 2, count, width));
    SIM_TRY(check_indices(&given[7], count));
    if (probs->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_present(&given[6], true));
    SIM_TRY(sim_require_types(probs, &given[6], SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_shape(probs, 2, tokens, experts));
    return sim_moe_require_shape(&given[6], 1, count, -1);
}

/* Lists the tokens of each expert, at first those that have it. */
static void sort_padded(const double *map, size_t tokens, size_t experts, size_t capacity, double *sorted)
{
    for (size_t expert = 0; expert < experts; expert++) {
        size_t next = 0;
        for (int has = 1; has >= 0; has--)
            for (size_t token = 0; token < tokens && next < capacity; token++)
                if ((map[token * experts + expert] != 0) == has)
                    sorted[expert * capacity + next++] = (double)token;
    }
}

/* Lists the row of each link in the order of the map: rows are in the order of the experts. Returns how many links the
 * map has. */
static size_t sort_whole(const double *map, size_t tokens, size_t experts, size_t count, double *rows, double *sorted)
{
    size_t next = 0;
    for (size_t expert = 0; expert < experts; expert++)
        for (size_t token = 0; token < tokens; token++)
            if (map[token * experts + expert] != 0)
                rows[token * experts + expert] = (double)next++;
    next = 0;
    for (size_t cell = 0; cell < tokens * experts; cell++)
        if (map[cell] != 0 && next++ < count)
            sorted[next - 1] = rows[cell];
    return next;
}

static aclError run_permute(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t tokens = (size_t)given[1].tensors->dims[0], experts = (size_t)given[1].tensors->dims[1];
    const size_t width = (size_t)given[0].tensors->dims[1], count = (size_t)given[7].tensors->dims[0];
    const bool padded = given[4].integer != 0;
    const struct routing routing = {&given[7], &given[1], &given[2], tokens, count, padded};
    double *map, *values, *probs, *rows, *sorted, *results, *picked;
    struct links links = {.li_experts = experts};
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[1], &map));
    SIM_TRY(sim_lists_take(lists, tokens * experts, &rows));
    SIM_TRY(sim_lists_take(lists, count, &sorted));
    if (padded)
        sort_padded(map, tokens, experts, count / experts, sorted);
    else
        SIM_TRY(check_set(&given[1], sort_whole(map, tokens, experts, count, rows, sorted), count));
    sim_lists_store(&given[7], sorted);
    SIM_TRY(find_links(&routing, lists, &links));
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load_or(lists, &given[2], tokens * experts, 0, &probs));
    SIM_TRY(sim_lists_take(lists, count * width, &results));
    SIM_TRY(sim_lists_take(lists, count, &picked));
    for (size_t i = 0; i < count; i++) {
        const size_t row = (size_t)links.li_rows[i], token = (size_t)links.li_tokens[i];
        memcpy(results + row * width, values + token * width, width * sizeof *values);
        picked[row] = probs[(size_t)links.li_cells[i]];
    }
    sim_lists_store(&given[5], results);
    if (given[2].present != 0)
        sim_lists_store(&given[6], picked);
    return ACL_SUCCESS;
}

/* ---- MoeTokenUnpermuteWithRoutingMap: permutedTokens, sortedIndices, routingMap, probs, paddedMode, restoreShape,
 * unpermutedTokens, outIndex, permuteTokenId, permuteProbs. outIndex and permuteTokenId are written with padding:
 * the rows, sorted by token, and their tokens. ---- */

static struct routing unpermute_of(const aclsimArgument *given)
{
    return (struct routing){&given[1], &given[2], &given[3], (size_t)given[6].tensors->dims[0],
                            (size_t)given[1].tensors->dims[0], given[4].integer != 0};
}

static aclnnStatus check_restore(const aclsimArgument *restore, const aclsimTensor *tokens)
{
    if (restore->present == 0 || restore->count == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_count(restore, 2));
    for (size_t k = 0; k < 2; k++)
        SIM_ARGUMENT(restore->integers[k] == tokens->dims[k], ACLNN_ERR_INNER_TILING_ERROR,
                     "%s[%zu] is %" PRId64 ", expected %" PRId64 ", that of the tokens", restore->name, k,
                     restore->integers[k], tokens->dims[k]);
    return ACL_SUCCESS;
}

static aclnnStatus plan_unpermute(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[6];
    int64_t experts;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_shape(out, 2, -1, -1));
    SIM_TRY(sim_moe_require_shape(&given[0], 2, -1, out->tensors->dims[1]));
    const int64_t count = given[0].tensors->dims[0];
    SIM_TRY(check_indices(&given[1], count));
    const struct routing routing = unpermute_of(given);
    SIM_TRY(check_map(&routing, &experts, given[3].present != 0));
    SIM_TRY(check_parts(&routing, experts));
    SIM_TRY(check_restore(&given[5], out->tensors));
    for (size_t i = 7; i <= 8 && routing.ro_padded; i++)
        SIM_TRY(check_indices(&given[i], count));
    if (given[3].present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_present(&given[9], true));
    SIM_TRY(sim_require_type(&given[9], SIM_TYPE(given[3].tensors->type)));
    return sim_moe_require_shape(&given[9], 1, count, -1);
}

static aclError store_order(const aclsimArgument *given, const struct links *links, struct sim_lists *lists)
{
    double *order, *tokens;
    SIM_TRY(sim_moe_sort(lists, links->li_tokens, links->li_count, &order));
    SIM_TRY(sim_lists_take(lists, links->li_count, &tokens));
    for (size_t i = 0; i < links->li_count; i++)
        tokens[i] = links->li_tokens[(size_t)order[i]];
    sim_lists_store(&given[7], order);
    sim_lists_store(&given[8], tokens);
    return ACL_SUCCESS;
}

static aclError run_unpermute(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct routing routing = unpermute_of(given);
    const size_t width = (size_t)given[6].tensors->dims[1];
    const bool weighs = given[3].present != 0;
    struct links links = {.li_experts = experts_of(&routing)};
    double *rows, *probs = NULL, *results, *picked;
    SIM_TRY(find_links(&routing, lists, &links));
    SIM_TRY(sim_lists_load(lists, &given[0], &rows));
    SIM_TRY(sim_lists_take(lists, routing.ro_tokens * width, &results));
    SIM_TRY(sim_lists_take(lists, links.li_count, &picked));
    if (weighs)
        SIM_TRY(sim_lists_load(lists, &given[3], &probs));
    for (size_t i = 0; i < links.li_count; i++) {
        picked[i] = weighs ? probs[(size_t)links.li_cells[i]] : 1;
        for (size_t h = 0; h < width && links.li_rows[i] >= 0; h++)
            results[(size_t)links.li_tokens[i] * width + h] += picked[i] * rows[(size_t)links.li_rows[i] * width + h];
    }
    sim_lists_store(&given[6], results);
    if (weighs)
        sim_lists_store(&given[9], picked);
    return routing.ro_padded ? store_order(given, &links, lists) : ACL_SUCCESS;
}

/* ---- MoeTokenPermuteWithRoutingMapGrad: permutedTokenOutputGrad, permutedProbsOutputGrad, sortedIndices, routingMap,
 * numExperts, tokensNum, dropAndPad, tokensGrad, probsGrad ---- */

static struct routing permute_grad_of(const aclsimArgument *given)
{
    return (struct routing){&given[2], &given[3], NULL, (size_t)given[5].integer, (size_t)given[2].tensors->dims[0],
                            given[6].integer != 0};
}

static aclnnStatus plan_permute_grad(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *probs = &given[1];
    int64_t experts;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[7], SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_number(&given[4], 0, INT32_MAX));
    SIM_TRY(sim_moe_require_number(&given[5], 0, INT32_MAX));
    SIM_TRY(sim_moe_require_shape(&given[0], 2, -1, -1));
    const int64_t count = given[0].tensors->dims[0];
    SIM_TRY(check_indices(&given[2], count));
    SIM_TRY(sim_moe_require_shape(&given[7], 2, given[5].integer, given[0].tensors->dims[1]));
    const struct routing routing = permute_grad_of(given);
    SIM_TRY(check_map(&routing, &experts, probs->present != 0));
    SIM_TRY(check_parts(&routing, given[4].integer));
    SIM_ARGUMENT(experts < 0 || experts == given[4].integer, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 ", expected %" PRId64 ", the columns of %s", given[4].name, given[4].integer, experts,
                 given[3].name);
    if (probs->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_present(&given[8], true));
    SIM_TRY(sim_require_types(probs, &given[8], SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_shape(probs, 1, count, -1));
    return sim_moe_require_shape(&given[8], 2, given[5].integer, given[4].integer);
}

static aclError run_permute_grad(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct routing routing = permute_grad_of(given);
    const size_t width = (size_t)given[7].tensors->dims[1], experts = (size_t)given[4].integer;
    const bool weighs = given[1].present != 0;
    struct links links = {.li_experts = experts};
    double *slopes, *tokens, *slants = NULL, *probs;
    SIM_TRY(find_links(&routing, lists, &links));
    SIM_TRY(sim_lists_load(lists, &given[0], &slopes));
    SIM_TRY(sim_lists_take(lists, routing.ro_tokens * width, &tokens));
    SIM_TRY(sim_lists_take(lists, routing.ro_tokens * experts, &probs));
    if (weighs)
        SIM_TRY(sim_lists_load(lists, &given[1], &slants));
    for (size_t i = 0; i < links.li_count; i++) {
        if (links.li_rows[i] < 0)
            continue;
        const size_t row = (size_t)links.li_rows[i];
        for (size_t h = 0; h < width; h++)
            tokens[(size_t)links.li_tokens[i] * width + h] += slopes[row * width + h];
        if (weighs)
            probs[(size_t)links.li_cells[i]] += slants[row];
    }
    sim_lists_store(&given[7], tokens);
    if (weighs)
        sim_lists_store(&given[8], probs);
    return ACL_SUCCESS;
}

/* ---- MoeTokenUnpermuteWithRoutingMapGrad: unpermutedTokensGrad, outIndex, permuteTokenId, routingMap, permutedTokens,
 * probs, dropAndPad, restoreShape, permutedTokensGrad, probsGrad. Without padding, outIndex is sortedIndices. ---- */

static struct routing unpermute_grad_of(const aclsimArgument *given)
{
    return (struct routing){&given[1], &given[3], &given[5], (size_t)given[0].tensors->dims[0],
                            (size_t)given[1].tensors->dims[0], given[6].integer != 0};
}

static aclnnStatus plan_unpermute_grad(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *probs = &given[5];
    int64_t experts;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[8], SIM_TYPES_SINGLE));
    SIM_TRY(sim_moe_require_shape(&given[0], 2, -1, -1));
    const int64_t tokens = given[0].tensors->dims[0], width = given[0].tensors->dims[1];
    SIM_TRY(sim_moe_require_shape(&given[8], 2, -1, width));
    const int64_t count = given[8].tensors->dims[0];
    SIM_TRY(check_indices(&given[1], count));
    SIM_TRY(check_indices(&given[2], count));
    const struct routing routing = unpermute_grad_of(given);
    SIM_TRY(check_map(&routing, &experts, probs->present != 0));
    SIM_TRY(check_parts(&routing, experts));
    SIM_TRY(check_restore(&given[7], given[0].tensors));
    if (probs->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_present(&given[4], true));
    SIM_TRY(sim_require_present(&given[9], true));
    SIM_TRY(sim_require_type(&given[4], SIM_TYPE(given[0].tensors->type)));
    SIM_TRY(sim_moe_require_shape(&given[4], 2, count, width));
    SIM_TRY(sim_require_type(&given[9], SIM_TYPES_SINGLE));
    return sim_moe_require_shape(&given[9], 2, tokens, probs->tensors->dims[1]);
}

/* The links of rows that are sorted by token. */
static aclError load_sorted(const aclsimArgument *given, const struct routing *routing, struct sim_lists *lists,
                            struct links *links)
{
    const size_t count = routing->ro_count, experts = links->li_experts;
    double *rows, *tokens;
    SIM_TRY(take(lists, links, count));
    SIM_TRY(sim_lists_load(lists, &given[1], &rows));
    SIM_TRY(sim_lists_load(lists, &given[2], &tokens));
    for (size_t i = 0; i < count; i++) {
        SIM_TRY(check_index(&given[1], i, rows[i], 0, count));
        SIM_TRY(check_index(&given[2], i, tokens[i], 0, routing->ro_tokens));
        links->li_rows[i] = rows[i];
        links->li_tokens[i] = tokens[i];
        if (experts != 0)
            links->li_cells[i] = tokens[i] * (double)experts + (double)((size_t)rows[i] / (count / experts));
    }
    return ACL_SUCCESS;
}

static aclError run_unpermute_grad(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct routing routing = unpermute_grad_of(given);
    const size_t width = (size_t)given[0].tensors->dims[1];
    const bool weighs = given[5].present != 0;
    struct links links = {.li_experts = experts_of(&routing)};
    double *slopes, *results, *rows = NULL, *probs = NULL, *slants;
    SIM_TRY(routing.ro_padded ? load_sorted(given, &routing, lists, &links) : find_links(&routing, lists, &links));
    SIM_TRY(sim_lists_load(lists, &given[0], &slopes));
    SIM_TRY(sim_lists_take(lists, links.li_count * width, &results));
    SIM_TRY(sim_lists_take(lists, routing.ro_tokens * links.li_experts, &slants));
    if (weighs) {
        SIM_TRY(sim_lists_load(lists, &given[4], &rows));
        SIM_TRY(sim_lists_load(lists, &given[5], &probs));
    }
    for (size_t i = 0; i < links.li_count; i++) {
        if (links.li_rows[i] < 0)
            continue;
        const size_t row = (size_t)links.li_rows[i], cell = (size_t)links.li_cells[i];
        const double *slope = slopes + (size_t)links.li_tokens[i] * width, factor = weighs ? probs[cell] : 1;
        for (size_t h = 0; h < width; h++) {
            results[row * width + h] = slope[h] * factor;
            if (weighs)
                slants[cell] += slope[h] * rows[row * width + h];
        }
    }
    sim_lists_store(&given[8], results);
    if (weighs)
        sim_lists_store(&given[9], slants);
    return ACL_SUCCESS;
}

#define KERNEL(name, plan, run)                                                                                        \
    static const struct sim_lists_kind run##_kind = {run};                                                             \
    const struct sim_kernel sim_kernel_aclnnMoeToken##name = {plan, sim_lists_run, (void *)&run##_kind, false}

KERNEL(PermuteWithRoutingMap, plan_permute, run_permute);
KERNEL(UnpermuteWithRoutingMap, plan_unpermute, run_unpermute);
KERNEL(PermuteWithRoutingMapGrad, plan_permute_grad, run_permute_grad);
KERNEL(UnpermuteWithRoutingMapGrad, plan_unpermute_grad, run_unpermute_grad);
