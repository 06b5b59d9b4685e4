/* Attention, rotary positions, key/value caches and softmax. */

/** aclnnop/aclnn_advance_step.h */
/* the step state is updated in place; only its first numQueries entries change */
OP aclnnAdvanceStep(INOUT const aclTensor *inputTokens, IN const aclTensor *sampledTokenIds,
    INOUT const aclTensor *inputPositions, INOUT const aclTensor *seqLens, INOUT const aclTensor *slotMapping,
    IN const aclTensor *blockTables, int64_t numSeqs, int64_t numQueries, int64_t blockSize);

/** aclnnop/aclnn_apply_rotary_pos_emb.h */
OP aclnnApplyRotaryPosEmb(INOUT aclTensor *queryRef, INOUT aclTensor *keyRef, IN const aclTensor *cos,
    IN const aclTensor *sin, int64_t layout);

/** aclnnop/aclnn_dequant_rope_quant_kvcache.h */
OP aclnnDequantRopeQuantKvcache(IN const aclTensor *x, IN const aclTensor *cos, IN const aclTensor *sin,
    INOUT aclTensor *kCacheRef, INOUT aclTensor *vCacheRef, IN const aclTensor *indices, IN const aclTensor *scaleK,
    IN const aclTensor *scaleV, IN OPT const aclTensor *offsetKOptional, IN OPT const aclTensor *offsetVOptional,
    IN OPT const aclTensor *weightScaleOptional, IN OPT const aclTensor *activationScaleOptional,
    IN OPT const aclTensor *biasOptional, const aclIntArray *sizeSplits, OPT char *quantModeOptional,
    OPT char *layoutOptional, bool kvOutput, OPT char *cacheModeOptional, OUT const aclTensor *qOut,
    OUT const aclTensor *kOut, OUT const aclTensor *vOut);

/** aclnnop/aclnn_flash_attention_score.h */
OP aclnnFlashAttentionScore(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
    int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, OUT const aclTensor *softmaxMaxOut,
    OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut, OUT const aclTensor *attentionOutOut);
OP aclnnFlashAttentionVarLenScore(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
    OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut,
    OUT const aclTensor *attentionOutOut);
OP aclnnFlashAttentionScoreV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut,
    OUT const aclTensor *attentionOutOut);
OP aclnnFlashAttentionVarLenScoreV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut,
    OUT const aclTensor *attentionOutOut);

/** aclnnop/aclnn_flash_attention_score_grad.h */
OP aclnnFlashAttentionScoreGrad(IN const aclTensor *query, IN const aclTensor *keyIn, IN const aclTensor *value,
    IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    OPT const aclIntArray *prefixOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
    int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, OUT const aclTensor *dqOut,
    OUT const aclTensor *dkOut, OUT const aclTensor *dvOut, OUT OPT const aclTensor *dpseOut);
OP aclnnFlashAttentionUnpaddingScoreGrad(IN const aclTensor *query, IN const aclTensor *keyIn,
    IN const aclTensor *value, IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional,
    IN OPT const aclTensor *dropMaskOptional, IN OPT const aclTensor *paddingMaskOptional,
    IN OPT const aclTensor *attenMaskOptional, IN OPT const aclTensor *softmaxMaxOptional,
    IN OPT const aclTensor *softmaxSumOptional, IN OPT const aclTensor *softmaxInOptional,
    IN OPT const aclTensor *attentionInOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, OUT const aclTensor *dqOut, OUT const aclTensor *dkOut, OUT const aclTensor *dvOut,
    OUT OPT const aclTensor *dpseOut);
OP aclnnFlashAttentionScoreGradV2(IN const aclTensor *query, IN const aclTensor *keyIn, IN const aclTensor *value,
    IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    OUT const aclTensor *dqOut, OUT const aclTensor *dkOut, OUT const aclTensor *dvOut,
    OUT OPT const aclTensor *dpseOut);
OP aclnnFlashAttentionUnpaddingScoreGradV2(IN const aclTensor *query, IN const aclTensor *keyIn,
    IN const aclTensor *value, IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional,
    IN OPT const aclTensor *dropMaskOptional, IN OPT const aclTensor *paddingMaskOptional,
    IN OPT const aclTensor *attenMaskOptional, IN OPT const aclTensor *softmaxMaxOptional,
    IN OPT const aclTensor *softmaxSumOptional, IN OPT const aclTensor *softmaxInOptional,
    IN OPT const aclTensor *attentionInOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, OUT const aclTensor *dqOut, OUT const aclTensor *dkOut,
    OUT const aclTensor *dvOut, OUT OPT const aclTensor *dpseOut);

/** aclnnop/aclnn_fused_infer_attention_score.h */
OP aclnnFusedInferAttentionScore(IN const aclTensor *query, IN const aclTensorList *key, IN const aclTensorList *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    OPT const aclIntArray *actualSeqLengthsKv, IN OPT const aclTensor *deqScale1, IN OPT const aclTensor *quantScale1,
    IN OPT const aclTensor *deqScale2, IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2,
    IN OPT const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffset, IN OPT const aclTensor *blockTable,
    IN OPT const aclTensor *queryPaddingSize, IN OPT const aclTensor *kvPaddingSize, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    OUT const aclTensor *attentionOut, OUT OPT const aclTensor *softmaxLse);

/** aclnnop/aclnn_fused_infer_attention_score_v2.h */
OP aclnnFusedInferAttentionScoreV2(IN const aclTensor *query, IN const aclTensorList *key,
    IN const aclTensorList *value, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *actualSeqLengthsOptional, OPT const aclIntArray *actualSeqLengthsKvOptional,
    IN OPT const aclTensor *deqScale1Optional, IN OPT const aclTensor *quantScale1Optional,
    IN OPT const aclTensor *deqScale2Optional, IN OPT const aclTensor *quantScale2Optional,
    IN OPT const aclTensor *quantOffset2Optional, IN OPT const aclTensor *antiquantScaleOptional,
    IN OPT const aclTensor *antiquantOffsetOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *queryPaddingSizeOptional, IN OPT const aclTensor *kvPaddingSizeOptional,
    IN OPT const aclTensor *keyAntiquantScaleOptional, IN OPT const aclTensor *keyAntiquantOffsetOptional,
    IN OPT const aclTensor *valueAntiquantScaleOptional, IN OPT const aclTensor *valueAntiquantOffsetOptional,
    IN OPT const aclTensor *keySharedPrefixOptional, IN OPT const aclTensor *valueSharedPrefixOptional,
    OPT const aclIntArray *actualSharedPrefixLenOptional, int64_t numHeads, double scaleValue, int64_t preTokens,
    int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
    int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
    OUT const aclTensor *attentionOut, OUT OPT const aclTensor *softmaxLse);

/** aclnnop/aclnn_fused_infer_attention_score_v3.h */
OP aclnnFusedInferAttentionScoreV3(IN const aclTensor *query, IN const aclTensorList *key,
    IN const aclTensorList *value, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *actualSeqLengthsOptional, OPT const aclIntArray *actualSeqLengthsKvOptional,
    IN OPT const aclTensor *deqScale1Optional, IN OPT const aclTensor *quantScale1Optional,
    IN OPT const aclTensor *deqScale2Optional, IN OPT const aclTensor *quantScale2Optional,
    IN OPT const aclTensor *quantOffset2Optional, IN OPT const aclTensor *antiquantScaleOptional,
    IN OPT const aclTensor *antiquantOffsetOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *queryPaddingSizeOptional, IN OPT const aclTensor *kvPaddingSizeOptional,
    IN OPT const aclTensor *keyAntiquantScaleOptional, IN OPT const aclTensor *keyAntiquantOffsetOptional,
    IN OPT const aclTensor *valueAntiquantScaleOptional, IN OPT const aclTensor *valueAntiquantOffsetOptional,
    IN OPT const aclTensor *keySharedPrefixOptional, IN OPT const aclTensor *valueSharedPrefixOptional,
    OPT const aclIntArray *actualSharedPrefixLenOptional, IN OPT const aclTensor *queryRopeOptional,
    IN OPT const aclTensor *keyRopeOptional, IN OPT const aclTensor *keyRopeAntiquantScaleOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    int64_t keyAntiquantMode, int64_t valueAntiquantMode, OUT const aclTensor *attentionOut,
    OUT OPT const aclTensor *softmaxLse);

/** aclnnop/aclnn_incre_flash_attention.h */
OP aclnnIncreFlashAttention(IN const aclTensor *query, IN const aclTensorList *key, IN const aclTensorList *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads,
    OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_incre_flash_attention_v2.h */
OP aclnnIncreFlashAttentionV2(IN const aclTensor *query, IN const aclTensorList *key, IN const aclTensorList *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    IN OPT const aclTensor *dequantScale1, IN OPT const aclTensor *quantScale1, IN OPT const aclTensor *dequantScale2,
    IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2, int64_t numHeads, double scaleValue,
    char *inputLayout, int64_t numKeyValueHeads, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_incre_flash_attention_v3.h */
OP aclnnIncreFlashAttentionV3(IN const aclTensor *query, IN const aclTensorList *key, IN const aclTensorList *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    IN OPT const aclTensor *dequantScale1, IN OPT const aclTensor *quantScale1, IN OPT const aclTensor *dequantScale2,
    IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2, IN OPT const aclTensor *antiquantScale,
    IN OPT const aclTensor *antiquantOffset, IN OPT const aclTensor *blocktable, int64_t numHeads, double scaleValue,
    char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize, int64_t innerPrecise,
    OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_incre_flash_attention_v4.h */
OP aclnnIncreFlashAttentionV4(IN const aclTensor *query, IN const aclTensorList *key, IN const aclTensorList *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    IN OPT const aclTensor *dequantScale1, IN OPT const aclTensor *quantScale1, IN OPT const aclTensor *dequantScale2,
    IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2, IN OPT const aclTensor *antiquantScale,
    IN OPT const aclTensor *antiquantOffset, IN OPT const aclTensor *blocktable, IN OPT const aclTensor *kvPaddingSize,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize,
    int64_t innerPrecise, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_logsoftmax.h level2 */
OP aclnnLogSoftmax(IN const aclTensor *self, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_logsoftmax_backward.h level2 */
OP aclnnLogSoftmaxBackward(IN const aclTensor *gradOutput, IN const aclTensor *output, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_masked_softmax_with_rel_pos_bias.h */
OP aclnnMaskedSoftmaxWithRelPosBias(IN const aclTensor *x, IN OPT const aclTensor *attenMaskOptional,
    IN const aclTensor *relativePosBias, double scaleValue, int64_t innerPrecisionMode, OUT const aclTensor *out);

/** aclnnop/aclnn_mla_prolog.h */
OP aclnnMlaProlog(IN const aclTensor *tokenX, IN const aclTensor *weightDq, IN const aclTensor *weightUqQr,
    IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr, IN const aclTensor *rmsnormGammaCq,
    IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin, IN const aclTensor *ropeCos,
    IN const aclTensor *cacheIndex, INOUT aclTensor *kvCacheRef, INOUT aclTensor *krCacheRef,
    IN OPT const aclTensor *dequantScaleXOptional, IN OPT const aclTensor *dequantScaleWDqOptional,
    IN OPT const aclTensor *dequantScaleWUqQrOptional, IN OPT const aclTensor *dequantScaleWDkvKrOptional,
    IN OPT const aclTensor *quantScaleCkvOptional, IN OPT const aclTensor *quantScaleCkrOptional,
    IN OPT const aclTensor *smoothScalesCqOptional, double rmsnormEpsilonCq, double rmsnormEpsilonCkv,
    OPT char *cacheModeOptional, OUT const aclTensor *queryOut, OUT const aclTensor *queryRopeOut);

/** aclnnop/aclnn_multi_scale_deformable_attention_grad.h level2 */
OP aclnnMultiScaleDeformableAttentionGrad(IN const aclTensor *value, IN const aclTensor *spatialShape,
    IN const aclTensor *levelStartIndex, IN const aclTensor *location, IN const aclTensor *attnWeight,
    IN const aclTensor *gradOutput, OUT aclTensor *gradValue, OUT aclTensor *gradLocation,
    OUT aclTensor *gradAttnWeight);

/** aclnnop/aclnn_multi_scale_deformable_attn_function.h level2 */
OP aclnnMultiScaleDeformableAttnFunction(IN const aclTensor *value, IN const aclTensor *spatialShape,
    IN const aclTensor *levelStartIndex, IN const aclTensor *location, IN const aclTensor *attnWeight,
    OUT aclTensor *output);

/** aclnnop/aclnn_prompt_flash_attention.h */
OP aclnnPromptFlashAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout,
    int64_t numKeyValueHeads, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_prompt_flash_attention_v2.h */
OP aclnnPromptFlashAttentionV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    OPT const aclIntArray *actualSeqLengthsKv, IN OPT const aclTensor *deqScale1, IN OPT const aclTensor *quantScale1,
    IN OPT const aclTensor *deqScale2, IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2,
    int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout,
    int64_t numKeyValueHeads, int64_t sparseMode, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_prompt_flash_attention_v3.h */
OP aclnnPromptFlashAttentionV3(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *pseShift, IN OPT const aclTensor *attenMask, OPT const aclIntArray *actualSeqLengths,
    OPT const aclIntArray *actualSeqLengthsKv, IN OPT const aclTensor *deqScale1, IN OPT const aclTensor *quantScale1,
    IN OPT const aclTensor *deqScale2, IN OPT const aclTensor *quantScale2, IN OPT const aclTensor *quantOffset2,
    int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout,
    int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_ring_attention_update.h */
/* prevAttnOut and curAttnOut are the partial results to merge */
OP aclnnRingAttentionUpdate(IN const aclTensor *prevAttnOut, IN const aclTensor *prevSoftmaxMax,
    IN const aclTensor *prevSoftmaxSum, IN const aclTensor *curAttnOut, IN const aclTensor *curSoftmaxMax,
    IN const aclTensor *curSoftmaxSum, IN OPT const aclTensor *actualSeqQlenOptional, OPT char *inputLayoutOptional,
    OUT const aclTensor *attnOutOut, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut);

/** aclnnop/aclnn_softmax.h level2 */
OP aclnnSoftmax(IN const aclTensor *self, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_softmax_backward.h level2 */
OP aclnnSoftmaxBackward(IN const aclTensor *gradOutput, IN const aclTensor *output, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_swin_attention_score_quant.h */
OP aclnnSwinAttentionScoreQuant(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *scaleQuant, IN const aclTensor *scaleDequant1, IN const aclTensor *scaleDequant2,
    IN OPT const aclTensor *biasQuantOptional, IN OPT const aclTensor *biasDequant1Optional,
    IN OPT const aclTensor *biasDequant2Optional, IN OPT const aclTensor *paddingMask1Optional,
    IN OPT const aclTensor *paddingMask2Optional, bool queryTranspose, bool keyTranspose, bool valueTranspose,
    int64_t softmaxAxes, OUT const aclTensor *out);

/** aclnnop/aclnn_swin_transformer_ln_qkv_quant.h */
OP aclnnSwinTransformerLnQkvQuant(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta,
    IN const aclTensor *weight, IN const aclTensor *bias, IN const aclTensor *quantScale,
    IN const aclTensor *quantOffset, IN const aclTensor *dequantScale, int64_t headNum, int64_t seqLength,
    double epsilon, int64_t oriHeight, int64_t oriWeight, int64_t hWinSize, int64_t wWinSize, bool weightTranspose,
    OUT const aclTensor *queryOutputOut, OUT const aclTensor *keyOutputOut, OUT const aclTensor *valueOutputOut);

/** aclnnop/level2/aclnn_rope_with_sin_cos_cache.h */
OP aclnnRopeWithSinCosCache(IN const aclTensor *positions, IN const aclTensor *queryIn, IN const aclTensor *keyIn,
    IN const aclTensor *cosSinCache, const aclIntArray *mropeSection, int64_t headSize, bool isNeoxStyle,
    OUT aclTensor *queryOut, OUT aclTensor *keyOut);

/** aclnnop/level2/aclnn_scaled_masked_softmax.h */
OP aclnnScaledMaskedSoftmax(IN const aclTensor *x, IN const aclTensor *mask, double scale, bool fixedTriuMask,
    OUT aclTensor *y);

/** aclnnop/level2/aclnn_scaled_masked_softmax_backward.h */
OP aclnnScaledMaskedSoftmaxBackward(IN const aclTensor *gradOutput, IN const aclTensor *y, IN const aclTensor *mask,
    double scale, bool fixTriuMask, OUT aclTensor *out);
