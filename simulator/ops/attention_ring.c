/* RingAttentionUpdate: joins the results of two calls of FlashAttentionScore on different keys. With the greatest
 * scores m and sums s of both, each result is weighed by s * exp(m - max) over the sum of these. The result of a query
 * that saw no key in either call is 0. */
#include "attention.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PREVIOUS, PREVIOUS_MOST, PREVIOUS_SUM, CURRENT, CURRENT_MOST, CURRENT_SUM, LENGTHS, LAYOUT, OUT, MOST, SUM };

/* The results, and their statistics. */
struct ring {
    struct sim_attention_view ri_results[3], ri_most[3], ri_sums[3]; /* previous, current, output */
};

static aclnnStatus parse(const aclsimCall *call, struct ring *ring)
{
    static const uint8_t places[] = {PREVIOUS, CURRENT, OUT};
    const aclsimArgument *all = call->arguments, *first = &all[PREVIOUS_MOST];
    const char *layout = all[LAYOUT].present && all[LAYOUT].text[0] != '\0' ? all[LAYOUT].text : "SBH";
    const bool is_packed = strcmp(layout, "TND") == 0;
    SIM_ARGUMENT(is_packed || strcmp(layout, "SBH") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", expected SBH or TND", all[LAYOUT].name, layout);
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
    struct ring ring;
    (void)workspace_size;
    return parse(call, &ring);
}

/* Joins `count` columns of a row: `share` is the part of the current result. */
static void join(const struct sim_attention_rows *rows, int64_t row, int64_t first, int64_t count, double kept,
                 double share)
{
    float numbers[3][SIM_BLOCK];
    struct sim_attention_rows parts[3];
    for (size_t i = 0; i < 3; i++) {
        parts[i] = rows[i];
        parts[i].ro_place += first * rows[i].ro_column * (int64_t)sim_element_size(rows[i].ro_type);
    }
    for (size_t i = 0; i < 2; i++)
        sim_attention_load(&parts[i], row, count, numbers[i]);
    for (int64_t c = 0; c < count; c++) /* a part of 0 may stand beside anything */
        numbers[2][c] = (float)((kept == 0 ? 0 : kept * numbers[0][c]) + (share == 0 ? 0 : share * numbers[1][c]));
    sim_attention_store(&parts[2], row, count, numbers[2]);
}

static void join_head(const struct ring *ring, int64_t batch, int64_t head)
{
    const struct sim_attention_view *result = &ring->ri_results[0];
    struct sim_attention_rows rows[3], most[3], sums[3];
    for (size_t i = 0; i < 3; i++) {
        rows[i] = sim_attention_rows_at(&ring->ri_results[i], batch, head, 0);
        most[i] = sim_attention_rows_at(&ring->ri_most[i], batch, head, 0);
        sums[i] = sim_attention_rows_at(&ring->ri_sums[i], batch, head, 0);
    }
    for (int64_t row = 0; row < result->vi_rows; row++) {
        float m[2], s[2], copies[2][SIM_ATTENTION_COPIES];
        for (size_t i = 0; i < 2; i++) {
            sim_attention_load(&most[i], row, 1, &m[i]);
            sim_attention_load(&sums[i], row, 1, &s[i]);
        }
        const double top = m[0] > m[1] || isnan(m[0]) ? m[0] : m[1];
        const double base = top == -INFINITY ? 0 : top; /* the difference of two infinities would be NaN */
        const double kept = s[0] * exp(m[0] - base), share = s[1] * exp(m[1] - base), all = kept + share;
        for (size_t i = 0; i < SIM_ATTENTION_COPIES; i++) {
            copies[0][i] = (float)top;
            copies[1][i] = (float)all;
        }
        for (int64_t c = 0; c < result->vi_columns; c += SIM_BLOCK)
            join(rows, row, c, (int64_t)sim_element_block(c, result->vi_columns), all == 0 ? 0 : kept / all,
                 all == 0 ? 0 : share / all);
        sim_attention_store(&most[2], row, SIM_ATTENTION_COPIES, copies[0]);
        sim_attention_store(&sums[2], row, SIM_ATTENTION_COPIES, copies[1]);
    }
}

static aclError run_ring(const aclsimCall *call)
{
    struct ring ring;
    SIM_TRY(parse(call, &ring));
    if (sim_walk_count(call->arguments[OUT].tensors) == 0)
        return ACL_SUCCESS;
    for (int64_t b = 0; b < ring.ri_results[0].vi_batches; b++)
        for (int64_t n = 0; n < ring.ri_results[0].vi_heads; n++)
            join_head(&ring, b, n);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnRingAttentionUpdate = {plan_ring, run_ring, NULL, false};
