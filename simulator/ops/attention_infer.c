/* Attention of inference: FusedInferAttentionScore, PromptFlashAttention and IncreFlashAttention in all versions.
 *
 * A call is parsed again when it runs, now with addresses. Rows of the result without a query are 0. Not supported:
 * products of int8, int4 caches, caches in the NZ format, and scales per group or in blocks. */
#include "attention_infer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

aclnnStatus sim_attention_infer_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_infer infer;
    (void)workspace_size;
    SIM_TRY(sim_attention_infer_parse(call, &infer));
    for (size_t i = 0; i < 2; i++) {
        const aclsimArgument *padding = sim_attention_argument(call, i == 0 ? "queryPaddingSize" : "kvPaddingSize");
        if (padding == NULL)
            continue;
        SIM_TRY(sim_require_type(padding, SIM_TYPE(ACL_INT64)));
        SIM_ARGUMENT(sim_walk_count(padding->tensors) == 1, ACLNN_ERR_PARAM_INVALID, "%s has %" PRId64
                     " elements, expected 1", padding->name, sim_walk_count(padding->tensors));
        SIM_ARGUMENT((i == 0 ? infer.in_lengths : infer.in_kv_lengths) != NULL && infer.in_table == NULL &&
                         !infer.in_is_packed,
                     ACLNN_ERR_PARAM_INVALID,
                     "%s is given, expected so only with lengths, without blocks and with batches of one length",
                     padding->name);
    }
    return ACL_SUCCESS;
}

/* Moves the first row: with padding, the rows end that far before the last one of the tensor. */
static aclError pad(const struct sim_infer *infer, const char *name, int64_t rows, int64_t count, int64_t *first)
{
    const aclsimArgument *argument = sim_attention_argument(infer->in_call, name);
    int64_t padding;
    char text[128];
    if (argument == NULL)
        return ACL_SUCCESS;
    memcpy(&padding, argument->tensors->data, sizeof padding);
    padding = padding < 0 ? 0 : padding;
    *first = padding > rows - count ? -1 : rows - count - padding;
    if (*first >= 0)
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "%.24s is %" PRId64 ", expected at most %" PRId64 " for %" PRId64 " of %" PRId64
             " rows", argument->name, padding, rows - count, count, rows);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* What the heads of a batch have in common. */
static aclError start_head(const struct sim_infer *infer, int64_t number, struct sim_infer_batch *batch,
                           struct sim_attention_head *head)
{
    const aclsimCall *call = infer->in_call;
    struct sim_attention_source rows = {.so_batch = number, .so_prefix_rows = infer->in_prefix};
    if (!infer->in_is_packed && !infer->in_is_single && infer->in_lengths != NULL)
        SIM_TRY(pad(infer, "queryPaddingSize", infer->in_queries.vi_rows, batch->ba_queries, &batch->ba_first));
    if (!infer->in_is_packed && infer->in_table == NULL)
        SIM_TRY(pad(infer, "kvPaddingSize", batch->ba_key.vi_rows, batch->ba_keys, &batch->ba_first_key));
    rows.so_first = batch->ba_first_key;
    if (infer->in_table != NULL)
        rows.so_table = sim_attention_spread(infer->in_table->tensors, "SD");
    *head = (struct sim_attention_head){
        .he_queries = batch->ba_queries,
        .he_keys = batch->ba_keys + infer->in_prefix,
        .he_width = infer->in_outs.vi_columns,
        .he_plain = infer->in_queries.vi_columns,
        .he_rope = infer->in_query_rope.vi_columns,
        .he_scale = (float)sim_attention_number(call, "scaleValue", 1),
        .he_shift = infer->in_kind,
        .he_apart = sim_attention_start(call, "qStartIdx") - sim_attention_start(call, "kvStartIdx"),
        .he_has_sink = infer->in_sinks.vi_data != NULL,
        .he_key = rows,
        .he_key_rope = rows,
        .he_value = rows,
    };
    head->he_key.so_view = batch->ba_key;
    head->he_key.so_scale = infer->in_key_scale;
    head->he_key.so_offset = infer->in_key_offset;
    head->he_key.so_prefix = infer->in_key_prefix;
    head->he_key_rope.so_view = infer->in_key_rope;
    head->he_value.so_view = batch->ba_value;
    head->he_value.so_scale = infer->in_value_scale;
    head->he_value.so_offset = infer->in_value_offset;
    head->he_value.so_prefix = infer->in_value_prefix;
    sim_attention_set_band(head, infer->in_mode, sim_attention_integer(call, "preTokens", SIM_ATTENTION_FAR),
                           sim_attention_integer(call, "nextTokens", SIM_ATTENTION_FAR));
    if (infer->in_table == NULL)
        return ACL_SUCCESS;
    return sim_attention_check_pages(&head->he_key, batch->ba_keys, infer->in_table->name);
}

/* The number of a head, or 0 without numbers. */
static void load_number(const struct sim_attention_view *numbers, int64_t head, float *number)
{
    const struct sim_attention_rows rows = sim_attention_rows_at(numbers, 0, head, 0);
    *number = 0;
    if (rows.ro_place != NULL)
        sim_attention_load(&rows, 0, 1, number);
}

static aclError run_batch(const struct sim_infer *infer, int64_t number, struct sim_attention_tile *tile)
{
    const int64_t place = infer->in_is_packed ? 0 : number, group = infer->in_heads / infer->in_kv_heads;
    struct sim_attention_head head;
    struct sim_infer_batch batch;
    SIM_TRY(sim_attention_infer_batch(infer, number, &batch));
    if (batch.ba_queries == 0)
        return ACL_SUCCESS;
    SIM_TRY(start_head(infer, number, &batch, &head));
    for (int64_t n = 0; n < infer->in_heads; n++) {
        head.he_key.so_head = head.he_key_rope.so_head = head.he_value.so_head = n / group;
        head.he_query = sim_attention_rows_at(&infer->in_queries, place, n, batch.ba_first);
        head.he_query_rope = sim_attention_rows_at(&infer->in_query_rope, place, n, batch.ba_first);
        head.he_pse = sim_attention_rows_at(&infer->in_shift, number, n, 0);
        load_number(&infer->in_slopes, n, &head.he_slope);
        load_number(&infer->in_sinks, n, &head.he_sink);
        head.he_mask = sim_attention_rows_at(&infer->in_mask, number, 0, 0);
        head.he_out = sim_attention_rows_at(&infer->in_outs, place, n, batch.ba_first);
        head.he_lse = sim_attention_rows_at(&infer->in_lses, place, n, batch.ba_first);
        head.he_quant = sim_attention_rows_at(&infer->in_quant, 0, n, 0);
        head.he_quant_offset = sim_attention_rows_at(&infer->in_quant_offset, 0, n, 0);
        sim_attention_forward(&head, tile);
    }
    return ACL_SUCCESS;
}

aclError sim_attention_infer_run(const aclsimCall *call)
{
    static const float infinite = INFINITY;
    struct sim_attention_tile *tile;
    struct sim_infer infer;
    aclError code = ACL_SUCCESS;
    SIM_TRY(sim_attention_infer_parse(call, &infer));
    if (sim_walk_count(infer.in_out->tensors) == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_attention_reserve(&tile));
    if (infer.in_lengths != NULL) { /* some rows may belong to no query */
        sim_walk_fill(infer.in_out->tensors, NULL);
        if (infer.in_lse != NULL)
            sim_walk_fill(infer.in_lse->tensors, &infinite);
    }
    for (int64_t b = 0; b < infer.in_batches && code == ACL_SUCCESS; b++)
        code = run_batch(&infer, b, tile);
    free(tile);
    return code;
}

static const struct sim_infer_kind fused = {" BSH BSND BNSD BNSD_BSND ", false},
                                   fused_later = {SIM_INFER_LAYOUTS, false},
                                   prompt = {" BSH BSND BNSD BNSD_BSND ", false},
                                   prompt_later = {" BSH BSND BNSD BNSD_BSND TND ", false},
                                   step = {" BSH BSND BNSD ", true};

SIM_INFER(FusedInferAttentionScore, fused)
SIM_INFER(FusedInferAttentionScoreV2, fused)
SIM_INFER(FusedInferAttentionScoreV3, fused_later)
SIM_INFER(PromptFlashAttention, prompt)
SIM_INFER(PromptFlashAttentionV2, prompt)
SIM_INFER(PromptFlashAttentionV3, prompt_later)
SIM_INFER(IncreFlashAttention, step)
SIM_INFER(IncreFlashAttentionV2, step)
SIM_INFER(IncreFlashAttentionV3, step)
SIM_INFER(IncreFlashAttentionV4, step)
