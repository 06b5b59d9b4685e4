/* Gradients of FlashAttentionScore. The weights P are computed again from the statistics of the operator. With the
 * gradient dY of its result, and d for the factor of what dropout kept:
 *     dV = (P d)^T dY,   dS = P (d dY V^T - rowsum(dY out)),   dQ = scale dS K,   dK = scale dS^T Q.
 * A pass over blocks of keys sums dK and dV of a block over all query heads that share them; the sums of dQ are kept in
 * memory for these heads. A sink is a key without a value: its gradient sums -P rowsum(dY out) over queries. */
#include "attention_train.h"

#include "base/bytes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tensors that only the gradient has. */
struct slopes {
    struct sim_attention_view sl_out, sl_upper;         /* the result, and the gradient of it */
    struct sim_attention_view sl_query, sl_key, sl_value; /* results */
    struct sim_attention_view sl_query_rope, sl_key_rope;
    struct sim_attention_view sl_sinks;
};

/* The sums of the block's keys, and lines of one query. */
struct sums {
    float su_keys[SIM_ATTENTION_KEYS][SIM_ATTENTION_DEPTH];
    float su_values[SIM_ATTENTION_KEYS][SIM_ATTENTION_DEPTH];
    float su_upper[SIM_ATTENTION_DEPTH], su_out[SIM_ATTENTION_DEPTH];
    float su_scores[SIM_ATTENTION_KEYS]; /* gradients of the scores */
};

static aclnnStatus parse_sinks(const struct sim_training *training, struct sim_attention_view *view)
{
    const aclsimArgument *sinks = sim_attention_argument(training->tr_call, "dsinkOut");
    SIM_TRY(sim_require_type(sinks, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_shape(sinks, &training->tr_heads, 1, "one number per head"));
    *view = sim_attention_spread(sinks->tensors, "N");
    return ACL_SUCCESS;
}

static aclnnStatus parse(const aclsimCall *call, struct sim_training *training, struct slopes *slopes)
{
    const struct sim_attention_view *query = &training->tr_query, *key = &training->tr_key;
    const struct sim_attention_view *value = &training->tr_value;
    *slopes = (struct slopes){0};
    SIM_TRY(sim_attention_train_parse(call, training));
    SIM_TRY(sim_attention_train_view(training, "attentionIn", query, value->vi_columns, &slopes->sl_out));
    SIM_TRY(sim_attention_train_view(training, "dy", query, value->vi_columns, &slopes->sl_upper));
    SIM_TRY(sim_attention_train_view(training, "dqOut", query, query->vi_columns, &slopes->sl_query));
    SIM_TRY(sim_attention_train_view(training, "dkOut", key, key->vi_columns, &slopes->sl_key));
    SIM_TRY(sim_attention_train_view(training, "dvOut", value, value->vi_columns, &slopes->sl_value));
    if (training->tr_sinks.vi_heads != 0)
        SIM_TRY(parse_sinks(training, &slopes->sl_sinks));
    if (training->tr_query_rope.vi_columns == 0)
        return ACL_SUCCESS;
    const int64_t columns = training->tr_query_rope.vi_columns;
    SIM_TRY(sim_attention_train_view(training, "dqRopeOut", query, columns, &slopes->sl_query_rope));
    return sim_attention_train_view(training, "dkRopeOut", key, columns, &slopes->sl_key_rope);
}

aclnnStatus sim_attention_grad_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_training training;
    struct slopes slopes;
    (void)workspace_size;
    return parse(call, &training, &slopes);
}

static float product(const float *one, const float *other, int64_t count)
{
    double sum = 0;
    for (int64_t c = 0; c < count; c++)
        sum += (double)one[c] * other[c];
    return (float)sum;
}

/* Adds what query i contributes to the gradients of the block's keys and values, and they to the query's. */
static void add_query(const struct sim_attention_head *head, struct sim_attention_tile *tile, struct sums *sums,
                      int64_t i, int64_t key, int64_t count, float *query_sums)
{
    const int64_t depth = head->he_plain + head->he_rope;
    const float *query = tile->ti_queries[0];
    float most, sum;
    sim_attention_load(&head->he_most, i, 1, &most);
    sim_attention_load(&head->he_sum, i, 1, &sum);
    if (sum == 0) /* all keys are masked */
        return;
    const float both = product(sums->su_upper, sums->su_out, head->he_width);
    sim_attention_score(head, tile, i, 0, key, count);
    memset(sums->su_scores, 0, sizeof sums->su_scores);
    for (int64_t k = 0; k < count; k++) {
        const float weight = expf(tile->ti_scores[k] - most) / sum;
        if (weight == 0)
            continue;
        const float kept = head->he_drop.ro_place == NULL ? 1 : sim_attention_kept(head, i, key + k);
        const float upper = product(sums->su_upper, tile->ti_values[k], head->he_width) * kept;
        const float slope = weight * (upper - both) * head->he_scale;
        for (int64_t c = 0; c < head->he_width; c++)
            sums->su_values[k][c] += weight * kept * sums->su_upper[c];
        for (int64_t c = 0; c < depth; c++)
            sums->su_keys[k][c] += slope * query[c];
        sums->su_scores[k] = slope;
    }
    for (int64_t c = 0; c < depth; c++) {
        float total = 0;
        for (int64_t k = 0; k < count; k++)
            if (sums->su_scores[k] != 0) /* the numbers of a masked key may be anything */
                total += sums->su_scores[k] * tile->ti_keys[c][k];
        query_sums[c] += total;
    }
}

/* Stores the two parts of the gradient of a query or key. */
static void store_parts(const struct sim_attention_view *plain, const struct sim_attention_view *rope, int64_t place,
                        int64_t n, int64_t row, const float *numbers)
{
    const struct sim_attention_rows one = sim_attention_rows_at(plain, place, n, row);
    const struct sim_attention_rows other = sim_attention_rows_at(rope, place, n, row);
    sim_attention_store(&one, 0, plain->vi_columns, numbers);
    if (other.ro_place != NULL)
        sim_attention_store(&other, 0, rope->vi_columns, numbers + plain->vi_columns);
}

/* Subtracts what the queries of a batch contribute to the gradient of head n's sink. */
static void add_sink(const struct sim_training *training, const struct slopes *slopes,
                     const struct sim_training_batch *batch, int64_t n, struct sums *sums)
{
    const int64_t place = batch->ba_place, width = training->tr_value.vi_columns;
    const struct sim_attention_rows upper = sim_attention_rows_at(&slopes->sl_upper, place, n, batch->ba_first);
    const struct sim_attention_rows out = sim_attention_rows_at(&slopes->sl_out, place, n, batch->ba_first);
    const struct sim_attention_rows most = sim_attention_train_statistic(training, &training->tr_most, batch, n);
    const struct sim_attention_rows sum = sim_attention_train_statistic(training, &training->tr_sum, batch, n);
    const struct sim_attention_rows slope = sim_attention_rows_at(&slopes->sl_sinks, 0, n, 0);
    struct sim_attention_head head;
    float found, top, total;
    sim_attention_train_head(training, batch, n, &head);
    sim_attention_load(&slope, 0, 1, &found);
    for (int64_t i = 0; i < batch->ba_queries; i++) {
        sim_attention_load(&upper, i, width, sums->su_upper);
        sim_attention_load(&out, i, width, sums->su_out);
        sim_attention_load(&most, i, 1, &top);
        sim_attention_load(&sum, i, 1, &total);
        found -= expf(head.he_sink - top) / total * product(sums->su_upper, sums->su_out, width);
    }
    sim_attention_store(&slope, 0, 1, &found);
}

/* Computes the query heads that share head `kv` of the keys. `query_sums` are zeros. */
static void run_group(const struct sim_training *training, const struct slopes *slopes,
                      const struct sim_training_batch *batch, int64_t kv, struct sim_attention_tile *tile,
                      struct sums *sums, float *query_sums)
{
    const int64_t group = training->tr_heads / training->tr_kv_heads, first = kv * group, place = batch->ba_place;
    const int64_t depth = training->tr_query.vi_columns + training->tr_query_rope.vi_columns;
    struct sim_attention_head head;
    for (int64_t key = 0; key < batch->ba_keys; key += SIM_ATTENTION_KEYS) {
        int64_t count = 0;
        memset(sums, 0, sizeof *sums);
        for (int64_t n = 0; n < group; n++) {
            sim_attention_train_head(training, batch, first + n, &head);
            head.he_most = sim_attention_train_statistic(training, &training->tr_most, batch, first + n);
            head.he_sum = sim_attention_train_statistic(training, &training->tr_sum, batch, first + n);
            count = sim_attention_block(&head, key);
            if (n == 0)
                sim_attention_load_keys(&head, tile, key, count);
            const struct sim_attention_rows upper =
                sim_attention_rows_at(&slopes->sl_upper, place, first + n, batch->ba_first);
            const struct sim_attention_rows out =
                sim_attention_rows_at(&slopes->sl_out, place, first + n, batch->ba_first);
            for (int64_t i = 0; i < batch->ba_queries; i++) {
                sim_attention_load_query(&head, tile, i, 0);
                sim_attention_load(&upper, i, head.he_width, sums->su_upper);
                sim_attention_load(&out, i, head.he_width, sums->su_out);
                add_query(&head, tile, sums, i, key, count, query_sums + (n * batch->ba_queries + i) * depth);
            }
        }
        for (int64_t k = 0; k < count; k++) {
            const int64_t row = batch->ba_first_key + key + k;
            const struct sim_attention_rows values = sim_attention_rows_at(&slopes->sl_value, place, kv, row);
            store_parts(&slopes->sl_key, &slopes->sl_key_rope, place, kv, row, sums->su_keys[k]);
            sim_attention_store(&values, 0, training->tr_value.vi_columns, sums->su_values[k]);
        }
    }
    for (int64_t n = 0; n < group; n++)
        for (int64_t i = 0; i < batch->ba_queries; i++)
            store_parts(&slopes->sl_query, &slopes->sl_query_rope, place, first + n, batch->ba_first + i,
                        query_sums + (n * batch->ba_queries + i) * depth);
}

static aclError run_batch(const struct sim_training *training, const struct slopes *slopes,
                          const struct sim_training_batch *batch, struct sim_attention_tile *tile, struct sums *sums)
{
    uint64_t count = (uint64_t)(training->tr_query.vi_columns + training->tr_query_rope.vi_columns);
    const bool fits = sim_size_multiply(&count, (uint64_t)batch->ba_queries) &&
                      sim_size_multiply(&count, (uint64_t)(training->tr_heads / training->tr_kv_heads));
    for (int64_t kv = 0; kv < training->tr_kv_heads; kv++) {
        float *query_sums = fits && count < SIZE_MAX / sizeof(float) ? calloc(count + 1, sizeof *query_sums) : NULL;
        SIM_CHECK(query_sums != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "cannot allocate host memory for the gradients of %lld queries", (long long)batch->ba_queries);
        run_group(training, slopes, batch, kv, tile, sums, query_sums);
        free(query_sums);
    }
    for (int64_t n = 0; n < training->tr_heads && slopes->sl_sinks.vi_data != NULL; n++)
        add_sink(training, slopes, batch, n, sums);
    return ACL_SUCCESS;
}

/* Rows of packed results that belong to no batch are 0, and gradients of sinks are added to. */
static void clear_results(const aclsimCall *call)
{
    static const char *const names[] = {"dqOut", "dkOut", "dvOut", "dqRopeOut", "dkRopeOut", "dsinkOut"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const aclsimArgument *result = sim_attention_argument(call, names[i]);
        if (result != NULL)
            sim_walk_fill(result->tensors, NULL);
    }
}

aclError sim_attention_grad_run(const aclsimCall *call)
{
    struct sim_training training;
    struct slopes slopes;
    struct sim_training_batch batch = {.ba_number = -1};
    struct sim_attention_tile *tile;
    aclError code = ACL_SUCCESS;
    SIM_TRY(parse(call, &training, &slopes));
    struct sums *sums = malloc(sizeof *sums);
    SIM_CHECK(sums != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate %zu bytes of host memory for gradients",
              sizeof *sums);
    code = sim_attention_reserve(&tile);
    if (code == ACL_SUCCESS && (training.tr_is_packed || slopes.sl_sinks.vi_data != NULL))
        clear_results(call);
    for (int64_t b = 0; b < training.tr_batches && code == ACL_SUCCESS; b++) {
        sim_attention_train_step(&training, &batch);
        code = run_batch(&training, &slopes, &batch, tile, sums);
    }
    free(tile);
    free(sums);
    return code;
}

SIM_SCORE_GRAD(FlashAttentionScoreGrad, SIM_TRAIN_LAYOUTS)
SIM_SCORE_GRAD(FlashAttentionScoreGradV2, SIM_TRAIN_LAYOUTS)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGrad, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV2, SIM_TRAIN_PACKED)
