/* RecurrentGatedDeltaRule: a linear attention with a state per batch and head, which each token updates:
 *     S = S exp(g) exp(gk),   S = S + beta (v - S k) k^T,   out = S (scale q).
 * A batch starts from the state of its newest accepted token, and each token stores the state after it. The state is
 * computed in float. */
#include "attention.h"

#include "base/bytes.h"
#include "indices.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUERY, KEY, VALUE, BETA, STATE, LENGTHS, PLACES, DECAY, DECAYS, ACCEPTED, SCALE, OUT };

static aclnnStatus check_shape(const aclsimArgument *argument, uint64_t types, const int64_t *dims, uint32_t rank)
{
    if (!argument->present)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(argument, types));
    return sim_require_shape(argument, dims, rank, "as query, value and stateRef say");
}

static aclnnStatus plan_rule(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments;
    const uint64_t half = SIM_TYPE(ACL_BF16), whole = SIM_TYPE(ACL_INT32);
    (void)workspace_size;
    SIM_TRY(sim_require_rank(&all[QUERY], 3, 3));
    SIM_TRY(sim_require_rank(&all[VALUE], 3, 3));
    SIM_TRY(sim_require_rank(&all[STATE], 4, 4));
    SIM_TRY(sim_require_rank(&all[LENGTHS], 1, 1));
    const int64_t *query = all[QUERY].tensors->dims, *value = all[VALUE].tensors->dims;
    const int64_t state[] = {all[STATE].tensors->dims[0], value[1], value[2], query[2]};
    const int64_t decays[] = {query[0], value[1], query[2]}, values[] = {query[0], value[1], value[2]};
    const int64_t batches[] = {all[LENGTHS].tensors->dims[0]};
    SIM_ARGUMENT(query[1] > 0 && value[1] % query[1] == 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of value is %" PRId64 ", expected a multiple of %" PRId64 ", the heads of query",
                 value[1], query[1]);
    SIM_TRY(check_shape(&all[QUERY], half, query, 3));
    SIM_TRY(check_shape(&all[KEY], half, query, 3));
    SIM_TRY(check_shape(&all[VALUE], half, values, 3));
    SIM_TRY(check_shape(&all[BETA], half, values, 2));
    SIM_TRY(check_shape(&all[STATE], half | SIM_TYPE(ACL_FLOAT), state, 4));
    SIM_TRY(check_shape(&all[LENGTHS], whole, batches, 1));
    SIM_TRY(check_shape(&all[PLACES], whole, query, 1));
    SIM_TRY(check_shape(&all[DECAY], SIM_TYPE(ACL_FLOAT), values, 2));
    SIM_TRY(check_shape(&all[DECAYS], SIM_TYPE(ACL_FLOAT), decays, 3));
    SIM_TRY(check_shape(&all[ACCEPTED], whole, batches, 1));
    return check_shape(&all[OUT], half, values, 3);
}

/* Reads element `number` of a tensor of int32; false, with the reason recorded, unless it is from `low` to `high`. */
static bool read_number(const aclsimArgument *argument, int64_t number, int64_t low, int64_t high, int64_t *found)
{
    int32_t value;
    char text[160];
    memcpy(&value, sim_indices_nth(argument->tensors, number), sizeof value);
    *found = value;
    if (value >= low && value <= high)
        return true;
    snprintf(text, sizeof text, "%.40s[%" PRId64 "] is %d, expected %" PRId64 " to %" PRId64, argument->name, number,
             (int)value, low, high);
    sim_fail_reason(text);
    return false;
}

struct rule {
    struct sim_attention_view ru_views[OUT + 1]; /* of the tensors with numbers */
    int64_t ru_depth, ru_width, ru_group;        /* columns of key and value; value heads per key head */
    float *ru_state, *ru_query, *ru_key, *ru_decays, *ru_value;
};

static void load(const struct rule *rule, size_t which, int64_t head, int64_t token, int64_t count, float *numbers)
{
    const struct sim_attention_rows rows = sim_attention_rows_at(&rule->ru_views[which], 0, head, token);
    sim_attention_load(&rows, 0, count, numbers);
}

/* Updates the state of a value head by a token, and computes its result. */
static void step(const aclsimCall *call, const struct rule *rule, int64_t head, int64_t token)
{
    const int64_t depth = rule->ru_depth;
    const float scale = (float)call->arguments[SCALE].number;
    float decay = 0, beta;
    load(rule, QUERY, head / rule->ru_group, token, depth, rule->ru_query);
    load(rule, KEY, head / rule->ru_group, token, depth, rule->ru_key);
    load(rule, VALUE, head, token, rule->ru_width, rule->ru_value);
    load(rule, BETA, head, token, 1, &beta);
    if (call->arguments[DECAY].present)
        load(rule, DECAY, head, token, 1, &decay);
    for (int64_t c = 0; c < depth; c++)
        rule->ru_decays[c] = 0;
    if (call->arguments[DECAYS].present)
        load(rule, DECAYS, head, token, depth, rule->ru_decays);
    for (int64_t c = 0; c < depth; c++)
        rule->ru_decays[c] = expf(decay) * expf(rule->ru_decays[c]);
    for (int64_t row = 0; row < rule->ru_width; row++) {
        float *state = rule->ru_state + row * depth, known = 0, sum = 0;
        for (int64_t c = 0; c < depth; c++) {
            state[c] *= rule->ru_decays[c];
            known += state[c] * rule->ru_key[c];
        }
        const float change = beta * (rule->ru_value[row] - known);
        for (int64_t c = 0; c < depth; c++) {
            state[c] += change * rule->ru_key[c];
            sum += state[c] * (rule->ru_query[c] * scale);
        }
        rule->ru_value[row] = sum;
    }
    const struct sim_attention_rows out = sim_attention_rows_at(&rule->ru_views[OUT], 0, head, token);
    sim_attention_store(&out, 0, rule->ru_width, rule->ru_value);
}

/* Runs the tokens of a batch: `first` to `first + length` - 1. */
static aclError run_batch(const aclsimCall *call, const struct rule *rule, int64_t batch, int64_t first, int64_t length)
{
    const aclsimArgument *all = call->arguments;
    const int64_t blocks = all[STATE].tensors->dims[0];
    int64_t accepted = 1, start, place;
    if (all[ACCEPTED].present && !read_number(&all[ACCEPTED], batch, 1, length, &accepted))
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    if (!read_number(&all[PLACES], first + accepted - 1, 0, blocks - 1, &start))
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    for (int64_t head = 0; head < all[VALUE].tensors->dims[1]; head++) {
        struct sim_attention_rows rows = sim_attention_rows_at(&rule->ru_views[STATE], start, head, 0);
        for (int64_t row = 0; row < rule->ru_width; row++)
            sim_attention_load(&rows, row, rule->ru_depth, rule->ru_state + row * rule->ru_depth);
        for (int64_t token = first; token < first + length; token++) {
            if (!read_number(&all[PLACES], token, 0, blocks - 1, &place))
                return ACL_ERROR_RT_AICORE_EXCEPTION;
            step(call, rule, head, token);
            rows = sim_attention_rows_at(&rule->ru_views[STATE], place, head, 0);
            for (int64_t row = 0; row < rule->ru_width; row++)
                sim_attention_store(&rows, row, rule->ru_depth, rule->ru_state + row * rule->ru_depth);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_batches(const aclsimCall *call, const struct rule *rule)
{
    const aclsimArgument *all = call->arguments;
    const int64_t tokens = all[QUERY].tensors->dims[0];
    int64_t first = 0, length;
    for (int64_t b = 0; b < all[LENGTHS].tensors->dims[0]; b++, first += length) {
        if (!read_number(&all[LENGTHS], b, 0, tokens - first, &length))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        if (length != 0)
            SIM_TRY(run_batch(call, rule, b, first, length));
    }
    return ACL_SUCCESS;
}

static aclError run_rule(const aclsimCall *call)
{
    static const char *const layouts[] = {[QUERY] = "SND", [KEY] = "SND", [VALUE] = "SND", [BETA] = "SN",
                                          [STATE] = "BNSD", [DECAY] = "SN", [DECAYS] = "SND", [OUT] = "SND"};
    const aclsimArgument *all = call->arguments;
    struct rule rule = {.ru_depth = all[QUERY].tensors->dims[2], .ru_width = all[VALUE].tensors->dims[2]};
    if (sim_walk_count(all[OUT].tensors) == 0 || rule.ru_depth == 0)
        return ACL_SUCCESS;
    rule.ru_group = all[VALUE].tensors->dims[1] / all[QUERY].tensors->dims[1];
    for (size_t i = 0; i <= OUT; i++)
        if (layouts[i] != NULL && all[i].present)
            rule.ru_views[i] = sim_attention_spread(all[i].tensors, layouts[i]);
    uint64_t bytes = (uint64_t)rule.ru_width + 3;
    const bool fits = sim_size_multiply(&bytes, (uint64_t)rule.ru_depth) && bytes < UINT64_MAX / 16 &&
                      sim_size_multiply(&bytes, sizeof(float)) && (uint64_t)rule.ru_width < UINT64_MAX / 16;
    rule.ru_state = fits ? malloc(bytes + (uint64_t)rule.ru_width * sizeof(float)) : NULL;
    SIM_CHECK(rule.ru_state != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for a state of %" PRId64 " x %" PRId64 " numbers", rule.ru_width,
              rule.ru_depth);
    rule.ru_query = rule.ru_state + rule.ru_width * rule.ru_depth;
    rule.ru_key = rule.ru_query + rule.ru_depth;
    rule.ru_decays = rule.ru_key + rule.ru_depth;
    rule.ru_value = rule.ru_decays + rule.ru_depth;
    const aclError code = run_batches(call, &rule);
    free(rule.ru_state);
    return code;
}

const struct sim_kernel sim_kernel_aclnnRecurrentGatedDeltaRule = {plan_rule, run_rule, NULL, false};
