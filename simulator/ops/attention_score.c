/* FlashAttentionScore, and its forms for batches of different lengths. Beside the result, the greatest score and the
 * sum of powers of each query are written 8 times each; a query whose keys are all masked has the lowest float and
 * 0. */
#include "attention_train.h"

#include <stdlib.h>

static aclnnStatus parse(const aclsimCall *call, struct sim_training *training, struct sim_attention_view *out)
{
    SIM_TRY(sim_attention_train_parse(call, training));
    return sim_attention_train_view(training, "attentionOutOut", &training->tr_query, training->tr_value.vi_columns,
                                    out);
}

aclnnStatus sim_attention_score_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_training training;
    struct sim_attention_view out;
    (void)workspace_size;
    return parse(call, &training, &out);
}

aclError sim_attention_score_run(const aclsimCall *call)
{
    struct sim_attention_tile *tile;
    struct sim_attention_head head;
    struct sim_training training;
    struct sim_training_batch batch = {.ba_number = -1};
    struct sim_attention_view out;
    SIM_TRY(parse(call, &training, &out));
    if (training.tr_is_packed) { /* some rows may belong to no batch */
        sim_walk_fill(sim_attention_argument(call, "attentionOutOut")->tensors, NULL);
        sim_walk_fill(sim_attention_argument(call, "softmaxMaxOut")->tensors, NULL);
        sim_walk_fill(sim_attention_argument(call, "softmaxSumOut")->tensors, NULL);
    }
    SIM_TRY(sim_attention_reserve(&tile));
    for (int64_t b = 0; b < training.tr_batches; b++) {
        sim_attention_train_step(&training, &batch);
        for (int64_t n = 0; n < training.tr_heads && batch.ba_queries != 0; n++) {
            sim_attention_train_head(&training, &batch, n, &head);
            head.he_out = sim_attention_rows_at(&out, batch.ba_place, n, batch.ba_first);
            head.he_most = sim_attention_train_statistic(&training, &training.tr_most, &batch, n);
            head.he_sum = sim_attention_train_statistic(&training, &training.tr_sum, &batch, n);
            sim_attention_forward(&head, tile);
        }
    }
    free(tile);
    return ACL_SUCCESS;
}

SIM_SCORE(FlashAttentionScore, SIM_TRAIN_LAYOUTS)
SIM_SCORE(FlashAttentionScoreV2, SIM_TRAIN_LAYOUTS)
SIM_SCORE(FlashAttentionVarLenScore, SIM_TRAIN_PACKED)
SIM_SCORE(FlashAttentionVarLenScoreV2, SIM_TRAIN_PACKED)
