/* Forms of the attention operators that CANN 8.5 added: with rotary parts as operands of their own (V3), and with a
 * choice of the order of statistics (V4 of the packed forms). */
#include "attention_infer.h"
#include "attention_train.h"

SIM_SCORE(FlashAttentionVarLenScoreV3, SIM_TRAIN_PACKED)
SIM_SCORE(FlashAttentionVarLenScoreV4, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV3, SIM_TRAIN_PACKED)
SIM_SCORE_GRAD(FlashAttentionUnpaddingScoreGradV4, SIM_TRAIN_PACKED)
