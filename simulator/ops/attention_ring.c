/* RingAttentionUpdate: joins the results of two calls of FlashAttentionScore on different keys. With the greatest
 * scores m and sums s of both, each result is weighed by s * exp(m - max) over the sum of these. The result of a query
 * that saw no key in either call is 0.
 *
 * With layout TND, statistics have the order in which FlashAttentionVarLenScore stores them: each batch has all rows of
 * head 0, then those of head 1. V2 also accepts statistics in the order of the results. */
#include "attention.h"

#include "indices.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* V2 has the layout of the statistics before the outputs, which are the last three. */
enum { PREVIOUS, PREVIOUS_MOST, PREVIOUS_SUM, CURRENT, CURRENT_MOST, CURRENT_SUM, LENGTHS, LAYOUT, ORDER };

/* The results, and their statistics. */
struct ring {
    bool ri_is_packed, ri_is_sorted; /* ri_is_sorted: the statistics of a batch are sorted by heads */
    struct sim_attention_view ri_results[3], ri_most[3], ri_sums[3]; /* previous, current, output */
};

/* A batch: its rows among those of the results. */
struct part {
    int64_t pa_batch, pa_first, pa_rows; /* pa_batch: 0 if they are packed */
};

static const char *text_of(const aclsimArgument *argument)
{
    return argument->present != 0 ? argument->text : "";
}

static aclnnStatus parse_packed(const aclsimCall *call, struct ring *ring)
{
    const aclsimArgument *all = call->arguments, *lengths = &all[LENGTHS];
    const char *order = call->argumentCount == 12 ? text_of(&all[ORDER]) : "";
    SIM_ARGUMENT(lengths->present != 0, ACLNN_ERR_PARAM_INVALID, "%s is NULL, expected the ends of the batches of TND",
                 lengths->name);
    SIM_TRY(sim_require_type(lengths, SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_rank(lengths, 1, 1));
    SIM_ARGUMENT(lengths->tensors->dims[0] > 1, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected 2 or more", lengths->name, lengths->tensors->dims[0]);
    ring->ri_is_sorted = strcmp(order, "TND") != 0;
    SIM_ARGUMENT(!ring->ri_is_sorted || order[0] == '\0' || strcmp(order, "SBH") == 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is \"%.40s\", expected \"\", SBH or TND", all[ORDER].name, order);
    return ACL_SUCCESS;
}

static aclnnStatus parse(const aclsimCall *call, struct ring *ring)
{
    const uint32_t places[] = {PREVIOUS, CURRENT, call->argumentCount - 3};
    const aclsimArgument *all = call->arguments, *first = &all[PREVIOUS_MOST];
    const char *layout = text_of(&all[LAYOUT])[0] != '\0' ? all[LAYOUT].text : "SBH";
    const bool is_packed = ring->ri_is_packed = strcmp(layout, "TND") == 0;
    SIM_ARGUMENT(is_packed || strcmp(layout, "SBH") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", expected SBH or TND", all[LAYOUT].name, layout);
    if (is_packed)
        SIM_TRY(parse_packed(call, ring));
    SIM_TRY(sim_require_rank(first, is_packed ? 3 : 4, is_packed ? 3 : 4));
    const int64_t heads = first->tensors->dims[1];
    SIM_ARGUMENT(heads > 0, ACLNN_ERR_PARAM_INVALID, "%s has no heads, expected 1 or more", first->name);
    for (size_t i = 0; i < 3; i++) {
        const aclsimArgument *result = &all[places[i]], *most = result + 1, *sum = result + 2;
        struct sim_attention_view *view = &ring->ri_results[i];
        SIM_TRY(sim_require_types(&all[PREVIOUS], result, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_shape(result, all[PREVIOUS].tensors->dims, all[PREVIOUS].tensors->rank,
                                  all[PREVIOUS].name));
        SIM_TRY(sim_attention_view(result->name, result->tensors, layout, heads, view));
        const int64_t plain[] = {view->vi_batches, heads, view->vi_rows, SIM_ATTENTION_COPIES};
        const int64_t packed[] = {view->vi_rows, heads, SIM_ATTENTION_COPIES};
        for (const aclsimArgument *statistic = most; statistic <= sum; statistic++) {
            SIM_TRY(sim_require_type(statistic, SIM_TYPE(ACL_FLOAT)));
            SIM_TRY(sim_require_shape(statistic, is_packed ? packed : plain, is_packed ? 3 : 4,
                                      "8 numbers per query and head"));
        }
        ring->ri_most[i] = sim_attention_spread(most->tensors, is_packed ? "TND" : "BNSD");
        ring->ri_sums[i] = sim_attention_spread(sum->tensors, is_packed ? "TND" : "BNSD");
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan_ring(const aclsimCall *call, uint64_t *workspace_size)
{
    struct ring ring = {0};
    (void)workspace_size;
    return parse(call, &ring);
}

/* Joins `count` columns of one row: `share` is the part of the current result. */
static void join(const struct sim_attention_rows *rows, int64_t first, int64_t count, double kept, double share)
{
    float numbers[3][SIM_BLOCK];
    struct sim_attention_rows parts[3];
    for (size_t i = 0; i < 3; i++) {
        parts[i] = rows[i];
        parts[i].ro_place += first * rows[i].ro_column * (int64_t)sim_element_size(rows[i].ro_type);
    }
    for (size_t i = 0; i < 2; i++)
        sim_attention_load(&parts[i], 0, count, numbers[i]);
    for (int64_t c = 0; c < count; c++) /* a part of 0 may stand beside anything */
        numbers[2][c] = (float)((kept == 0 ? 0 : kept * numbers[0][c]) + (share == 0 ? 0 : share * numbers[1][c]));
    sim_attention_store(&parts[2], 0, count, numbers[2]);
}

static struct sim_attention_rows statistic_at(const struct ring *ring, const struct sim_attention_view *view,
                                              const struct part *part, int64_t head, int64_t row)
{
    const int64_t heads = view->vi_heads, place = part->pa_first * heads + head * part->pa_rows + row;
    return ring->ri_is_sorted ? sim_attention_rows_at(view, 0, place % heads, place / heads)
                              : sim_attention_rows_at(view, part->pa_batch, head, part->pa_first + row);
}

static void join_row(const struct ring *ring, const struct part *part, int64_t head, int64_t row)
{
    const int64_t columns = ring->ri_results[0].vi_columns;
    struct sim_attention_rows rows[3], most[3], sums[3];
    float m[2], s[2], copies[2][SIM_ATTENTION_COPIES];
    for (size_t i = 0; i < 3; i++) {
        rows[i] = sim_attention_rows_at(&ring->ri_results[i], part->pa_batch, head, part->pa_first + row);
        most[i] = statistic_at(ring, &ring->ri_most[i], part, head, row);
        sums[i] = statistic_at(ring, &ring->ri_sums[i], part, head, row);
    }
    for (size_t i = 0; i < 2; i++) {
        sim_attention_load(&most[i], 0, 1, &m[i]);
        sim_attention_load(&sums[i], 0, 1, &s[i]);
    }
    const double top = m[0] > m[1] || isnan(m[0]) ? m[0] : m[1];
    const double base = top == -INFINITY ? 0 : top; /* the difference of two infinities would be NaN */
    const double kept = s[0] * exp(m[0] - base), share = s[1] * exp(m[1] - base), all = kept + share;
    for (size_t i = 0; i < SIM_ATTENTION_COPIES; i++) {
        copies[0][i] = (float)top;
        copies[1][i] = (float)all;
    }
    for (int64_t c = 0; c < columns; c += SIM_BLOCK)
        join(rows, c, (int64_t)sim_element_block(c, columns), all == 0 ? 0 : kept / all, all == 0 ? 0 : share / all);
    sim_attention_store(&most[2], 0, SIM_ATTENTION_COPIES, copies[0]);
    sim_attention_store(&sums[2], 0, SIM_ATTENTION_COPIES, copies[1]);
}

static void join_part(const struct ring *ring, const struct part *part)
{
    for (int64_t n = 0; n < ring->ri_results[0].vi_heads; n++)
        for (int64_t row = 0; row < part->pa_rows; row++)
            join_row(ring, part, n, row);
}

/* The lengths are 0 and the ends of the batches. */
static aclError run_packed(const struct ring *ring, const aclsimArgument *lengths)
{
    const int64_t rows = ring->ri_results[0].vi_rows, last = lengths->tensors->dims[0] - 1;
    int64_t start = 0, end;
    for (int64_t i = 0; i <= last; i++, start = end) {
        const int64_t low = i == last ? rows : start, high = i == 0 ? 0 : rows;
        memcpy(&end, sim_indices_nth(lengths->tensors, i), sizeof end);
        if (end < low || end > high) {
            char text[160];
            snprintf(text, sizeof text, "%.40s[%" PRId64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64,
                     lengths->name, i, end, low, high);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        join_part(ring, &(struct part){0, start, end - start});
    }
    return ACL_SUCCESS;
}

static aclError run_ring(const aclsimCall *call)
{
    struct ring ring = {0};
    SIM_TRY(parse(call, &ring));
    if (sim_walk_count(call->arguments[PREVIOUS].tensors) == 0)
        return ACL_SUCCESS;
    if (ring.ri_is_packed)
        return run_packed(&ring, &call->arguments[LENGTHS]);
    for (int64_t b = 0; b < ring.ri_results[0].vi_batches; b++)
        join_part(&ring, &(struct part){b, 0, ring.ri_results[0].vi_rows});
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnRingAttentionUpdate = {plan_ring, run_ring, NULL, false};
const struct sim_kernel sim_kernel_aclnnRingAttentionUpdateV2 = {plan_ring, run_ring, NULL, false};
