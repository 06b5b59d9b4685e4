/* Forms of the attention operators that came after CANN 8.1: training with rotary parts as operands of their own (V3
 * of the packed forms), with a choice of the order of statistics (V4) and with sinks (V3, and V5 of the packed forms);
 * inference with sinks and slopes. */
#include "attention_infer.h"
#include "attention_train.h"

SIM_SCORE(FlashAttentionScoreV3, SIM_TRAIN_LAYOUTS)
SIM_SCORE(FlashAttentionVarLenScoreV3, SIM_TRAIN_PACKED)
SIM_SCORE(FlashAttentionVarLenScoreV4, SIM_TRAIN_PACKED)
SIM_SCORE(FlashAttentionVarLenScoreV5, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionScoreGradV3, SIM_TRAIN_LAYOUTS)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV3, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV4, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV5, SIM_TRAIN_PACKED)

static const struct sim_infer_kind fourth = {SIM_INFER_LAYOUTS, false},
                                   fifth = {SIM_INFER_LAYOUTS "BSND_BNSD BSH_BNSD ", false};

SIM_INFER(FusedInferAttentionScoreV4, fourth)
SIM_INFER(FusedInferAttentionScoreV5, fifth)
