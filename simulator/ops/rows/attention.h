/* Attention, rotary positions, key/value caches and softmax. */

/** aclnnop/aclnn_advance_step.h */
/* the step state is updated in place; only its first numQueries entries change */
OP aclnnAdvanceStep(INOUT const aclTensor *inputTokens, IN const aclTensor *sampledTokenIds,
    INOUT const aclTensor *inputPositions, INOUT const aclTensor *seqLens, INOUT const aclTensor *slotMapping,
    IN const aclTensor *blockTables, int64_t numSeqs, int64_t numQueries, int64_t blockSize);

/** aclnnop/aclnn_advance_step_v2.h */
OP(8, 5) aclnnAdvanceStepV2(INOUT const aclTensor *inputTokens, IN const aclTensor *sampledTokenIds,
    INOUT const aclTensor *inputPositions, INOUT const aclTensor *seqLens, INOUT const aclTensor *slotMapping,
    IN const aclTensor *blockTables, IN const aclTensor *specToken, IN const aclTensor *acceptedNum, int64_t numSeqs,
    int64_t numQueries, int64_t blockSize);

/** aclnnop/aclnn_attention_update.h */
OP(8, 5) aclnnAttentionUpdate(IN const aclTensorList *lse, IN const aclTensorList *localOut, int64_t updateType,
    OUT aclTensor *out, OUT OPT aclTensor *lseOut);

/** aclnnop/aclnn_compressor_grad.h */
OP(9, 2) aclnnCompressorGrad(IN const aclTensor *x, IN const aclTensor *wkv, IN const aclTensor *wgate,
    IN const aclTensor *dCmpKv, IN const aclTensor *softmaxScore, IN const aclTensor *kv,
    IN OPT const aclTensor *cuSeqlensOptional, IN OPT const aclTensor *sequsedOptional,
    IN OPT const aclTensor *startPosOptional, int64_t cmpRatio, int64_t coff, OUT const aclTensor *dXOut,
    OUT const aclTensor *dWkvOut, OUT const aclTensor *dWgateOut, OUT const aclTensor *dApeOut);

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
OP(8, 5) aclnnFlashAttentionScoreV3(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *sinkOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut,
    OUT OPT const aclTensor *softmaxOutOut, OUT const aclTensor *attentionOutOut);
OP(9, 0) aclnnFlashAttentionScoreV4(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *queryRopeOptional, IN OPT const aclTensor *keyRopeOptional,
    IN OPT const aclTensor *dScaleQOptional, IN OPT const aclTensor *dScaleKOptional,
    IN OPT const aclTensor *dScaleVOptional, IN OPT const aclTensor *sinkOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t outDtype,
    int64_t pseType, char *softmaxOutLayout, int64_t seed, int64_t offset, OUT const aclTensor *softmaxMaxOut,
    OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut, OUT const aclTensor *attentionOutOut);
OP(8, 5) aclnnFlashAttentionVarLenScoreV3(IN const aclTensor *query, IN OPT const aclTensor *queryRope,
    IN const aclTensor *key, IN OPT const aclTensor *keyRope, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut,
    OUT const aclTensor *attentionOutOut);
OP(8, 5) aclnnFlashAttentionVarLenScoreV4(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
    OPT char *softmaxOutLayout, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut,
    OUT OPT const aclTensor *softmaxOutOut, OUT const aclTensor *attentionOutOut);
OP(8, 5) aclnnFlashAttentionVarLenScoreV5(IN const aclTensor *query, IN OPT const aclTensor *queryRope,
    IN const aclTensor *key, IN OPT const aclTensor *keyRope, IN const aclTensor *value,
    IN OPT const aclTensor *realShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *sinkOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, OPT char *softmaxOutLayout, OUT const aclTensor *softmaxMaxOut,
    OUT const aclTensor *softmaxSumOut, OUT OPT const aclTensor *softmaxOutOut, OUT const aclTensor *attentionOutOut);
OP(9, 0) aclnnQuantFlashAttentionScore(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *attenMaskOptional, IN const aclTensor *dScaleQ, IN const aclTensor *dScaleK,
    IN const aclTensor *dScaleV, IN const aclTensor *pScale, double scaleValue, int64_t preTokens, int64_t nextTokens,
    int64_t headNum, char *inputLayout, int64_t sparseMode, OUT aclTensor *softmaxMaxOut, OUT aclTensor *softmaxSumOut,
    OUT aclTensor *softmaxOutout, OUT aclTensor *attentionOutOut);
HELPER(9, 1) aclnnFlashAttentionVarLenScoreV5GetMaxWorkspaceSize();

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
OP(8, 5) aclnnFlashAttentionScoreGradV3(IN const aclTensor *query, IN const aclTensor *keyIn, IN const aclTensor *value,
    IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    IN OPT const aclTensor *sinkInOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, OUT const aclTensor *dqOut, OUT const aclTensor *dkOut,
    OUT const aclTensor *dvOut, OUT OPT const aclTensor *dpseOut, OUT const aclTensor *dsinkOut);
OP(9, 0) aclnnFlashAttentionScoreGradV4(IN const aclTensor *query, IN const aclTensor *keyIn, IN const aclTensor *value,
    IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    IN OPT const aclTensor *sinkInOptional, IN OPT const aclTensor *queryRopeOptional,
    IN OPT const aclTensor *keyRopeOptional, IN OPT const aclTensor *dScaleQOptional,
    IN OPT const aclTensor *dScaleKOptional, IN OPT const aclTensor *dScaleVOptional,
    IN OPT const aclTensor *dScaleDyOptional, IN OPT const aclTensor *dScaleOOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, char *softmaxInLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, int64_t seed, int64_t offset, int64_t outDtype, OUT const aclTensor *dqOut,
    OUT const aclTensor *dkOut, OUT const aclTensor *dvOut, OUT const aclTensor *dqRopeOut,
    OUT const aclTensor *dkRopeOut, OUT OPT const aclTensor *dpseOut, OUT const aclTensor *dsinkOut);
OP(8, 5) aclnnFlashAttentionUnpaddingScoreGradV3(IN const aclTensor *query, IN OPT const aclTensor *queryRope,
    IN const aclTensor *keyIn, IN OPT const aclTensor *keyInRope, IN const aclTensor *value, IN const aclTensor *dy,
    IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    OPT const aclIntArray *prefixOptional, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, OPT const aclIntArray *qStartIdxOptional,
    OPT const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    OUT const aclTensor *dqOut, OUT const aclTensor *dqRopeOut, OUT const aclTensor *dkOut,
    OUT const aclTensor *dkRopeOut, OUT const aclTensor *dvOut, OUT OPT const aclTensor *dpseOut);
OP(8, 5) aclnnFlashAttentionUnpaddingScoreGradV4(IN const aclTensor *query, IN const aclTensor *keyIn,
    IN const aclTensor *value, IN const aclTensor *dy, IN OPT const aclTensor *pseShiftOptional,
    IN OPT const aclTensor *dropMaskOptional, IN OPT const aclTensor *paddingMaskOptional,
    IN OPT const aclTensor *attenMaskOptional, IN OPT const aclTensor *softmaxMaxOptional,
    IN OPT const aclTensor *softmaxSumOptional, IN OPT const aclTensor *softmaxInOptional,
    IN OPT const aclTensor *attentionInOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, OUT const aclTensor *dqOut, OUT const aclTensor *dkOut, OUT const aclTensor *dvOut,
    OUT OPT const aclTensor *dpseOut, OPT char *softmaxInLayout);
OP(8, 5) aclnnFlashAttentionUnpaddingScoreGradV5(IN const aclTensor *query, IN OPT const aclTensor *queryRope,
    IN const aclTensor *keyIn, IN OPT const aclTensor *keyInRope, IN const aclTensor *value, IN const aclTensor *dy,
    IN OPT const aclTensor *pseShiftOptional, IN OPT const aclTensor *dropMaskOptional,
    IN OPT const aclTensor *paddingMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *softmaxMaxOptional, IN OPT const aclTensor *softmaxSumOptional,
    IN OPT const aclTensor *softmaxInOptional, IN OPT const aclTensor *attentionInOptional,
    IN OPT const aclTensor *sinkInOptional, OPT const aclIntArray *prefixOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, OPT char *softmaxInLayout, OUT const aclTensor *dqOut,
    OUT OPT const aclTensor *dqRopeOut, OUT const aclTensor *dkOut, OUT OPT const aclTensor *dkRopeOut,
    OUT const aclTensor *dvOut, OUT OPT const aclTensor *dpseOut, OUT const aclTensor *dsinkOut);
HELPER(9, 1) aclnnFlashAttentionUnpaddingScoreGradV5GetMaxWorkspaceSize();

/** aclnnop/aclnn_flash_attn.h */
UNVERIFIED OP(9, 1) aclnnFlashAttn(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *v,
    IN OPT const aclTensor *blockTableOptional, IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKvOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKvOptional, IN OPT const aclTensor *sinksOptional,
    IN OPT const aclTensor *attnMaskOptional, IN OPT const aclTensor *metadataOptional, double softmaxScale,
    int64_t maskMode, int64_t winLeft, int64_t winRight, int64_t maxSeqlenQ, int64_t maxSeqlenKV, const char *layoutQ,
    const char *layoutKv, const char *layoutOut, int64_t returnSoftmaxLse, OUT const aclTensor *attnOut,
    OUT OPT const aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_flash_attn_metadata.h */
UNVERIFIED OP(9, 1) aclnnFlashAttnMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKvOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKvOptional, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv,
    int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t maskMode, int64_t winLeft, int64_t winRight,
    const char *layoutQ, const char *layoutKv, const char *layoutOut, OUT const aclTensor *metaData);

/** aclnnop/aclnn_fused_floyd_attention.h */
OP(9, 0) aclnnFusedFloydAttention(IN const aclTensor *query, IN const aclTensor *key1, IN const aclTensor *value1,
    IN const aclTensor *key2, IN const aclTensor *value2, IN OPT const aclTensor *attenMaskOptional,
    double scaleValueOptional, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut,
    OUT const aclTensor *attentionOutOut);

/** aclnnop/aclnn_fused_floyd_attention_grad.h */
OP(9, 0) aclnnFusedFloydAttentionGrad(IN const aclTensor *query, IN const aclTensor *key1, IN const aclTensor *value1,
    IN const aclTensor *key2, IN const aclTensor *value2, IN const aclTensor *dy,
    IN OPT const aclTensor *attenMaskOptional, IN const aclTensor *softmaxMax, IN const aclTensor *softmaxSum,
    IN const aclTensor *attentionIn, double scaleValue, OUT const aclTensor *dqOut, OUT const aclTensor *dk1Out,
    OUT const aclTensor *dv1Out, OUT const aclTensor *dk2Out, OUT const aclTensor *dv2Out);

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
UNVERIFIED HELPER aclnnFusedInferAttentionScoreV3GetMaxWorkspaceSize();

/** aclnnop/aclnn_fused_infer_attention_score_v4.h */
OP(8, 5) aclnnFusedInferAttentionScoreV4(IN const aclTensor *query, IN const aclTensorList *key,
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
    IN OPT const aclTensor *keyRopeOptional, IN OPT const aclTensor *keyRopeAntiquantScaleOptional,
    IN OPT const aclTensor *dequantScaleQueryOptional, IN OPT const aclTensor *learnableSinkOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, OPT char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, OUT const aclTensor *attentionOut,
    OUT OPT const aclTensor *softmaxLse);
UNVERIFIED HELPER(8, 5) aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize();

/** aclnnop/aclnn_fused_infer_attention_score_v5.h */
OP(9, 0) aclnnFusedInferAttentionScoreV5(IN const aclTensor *query, IN const aclTensorList *key,
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
    IN OPT const aclTensor *keyRopeOptional, IN OPT const aclTensor *keyRopeAntiquantScaleOptional,
    IN OPT const aclTensor *dequantScaleQueryOptional, IN OPT const aclTensor *learnableSinkOptional,
    OPT const aclIntArray *qStartIdxOptional, OPT const aclIntArray *kvStartIdxOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, int64_t pseType,
    OUT const aclTensor *attentionOut, OUT OPT const aclTensor *softmaxLse);
UNVERIFIED HELPER(9, 0) aclnnFusedInferAttentionScoreV5GetMaxWorkspaceSize();

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

/** aclnnop/aclnn_quant_flash_attn.h */
UNVERIFIED OP(9, 2) aclnnQuantFlashAttn(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *v,
    IN const aclTensor *qDescale, IN const aclTensor *kDescale, IN const aclTensor *vDescale,
    IN OPT const aclTensor *blockTableOptional, IN OPT const aclTensor *pScaleOptional,
    IN OPT const aclTensor *cuSeqlensQOptional, IN OPT const aclTensor *cuSeqlensKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedKvOptional,
    IN OPT const aclTensor *sinksOptional, IN OPT const aclTensor *attnMaskOptional,
    IN OPT const aclTensor *metadataOptional, int64_t quantMode, double softmaxScale, int64_t maskMode, int64_t winLeft,
    int64_t winRight, int64_t maxSeqlenQ, int64_t maxSeqlenKV, const char *layoutQ, const char *layoutQDescale,
    const char *layoutKv, const char *layoutOut, bool returnSoftmaxLse, OUT const aclTensor *attnOut,
    OUT OPT const aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_quant_flash_attn_metadata.h */
UNVERIFIED OP(9, 2) aclnnQuantFlashAttnMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKvOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKvOptional, IN OPT const aclTensor *vDescaleOptional, int64_t batchSize,
    int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t quantMode,
    int64_t maskMode, int64_t winLeft, int64_t winRight, const char *layoutQ, const char *layoutQDescale,
    const char *layoutKv, const char *layoutOut, OUT const aclTensor *metaData);

/** aclnnop/aclnn_ring_attention_update.h */
/* prevAttnOut and curAttnOut are the partial results to merge */
OP aclnnRingAttentionUpdate(IN const aclTensor *prevAttnOut, IN const aclTensor *prevSoftmaxMax,
    IN const aclTensor *prevSoftmaxSum, IN const aclTensor *curAttnOut, IN const aclTensor *curSoftmaxMax,
    IN const aclTensor *curSoftmaxSum, IN OPT const aclTensor *actualSeqQlenOptional, OPT char *inputLayoutOptional,
    OUT const aclTensor *attnOutOut, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut);
OP(8, 5) aclnnRingAttentionUpdateV2(IN const aclTensor *prevAttnOut, IN const aclTensor *prevSoftmaxMax,
    IN const aclTensor *prevSoftmaxSum, IN const aclTensor *curAttnOut, IN const aclTensor *curSoftmaxMax,
    IN const aclTensor *curSoftmaxSum, IN OPT const aclTensor *actualSeqQlenOptional, OPT char *inputLayoutOptional,
    OPT char *inputSoftmaxLayoutOptional, OUT const aclTensor *attnOutOut, OUT const aclTensor *softmaxMaxOut,
    OUT const aclTensor *softmaxSumOut);

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

/** aclnnop/aclnn_transform_bias_rescale_qkv.h */
OP(8, 5) aclnnTransformBiasRescaleQkv(IN const aclTensor *qkv, IN const aclTensor *qkvBias, int64_t numHeads,
    OUT const aclTensor *qOut, OUT const aclTensor *kOut, OUT const aclTensor *vOut);

/** aclnnop/level2/aclnn_scaled_masked_softmax.h */
OP aclnnScaledMaskedSoftmax(IN const aclTensor *x, IN const aclTensor *mask, double scale, bool fixedTriuMask,
    OUT aclTensor *y);

/** aclnnop/level2/aclnn_scaled_masked_softmax_backward.h */
OP aclnnScaledMaskedSoftmaxBackward(IN const aclTensor *gradOutput, IN const aclTensor *y, IN const aclTensor *mask,
    double scale, bool fixTriuMask, OUT aclTensor *out);
