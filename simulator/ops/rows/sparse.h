/* Sparse and linear attention, its indexers and their gradients. */

/** aclnnop/aclnn_block_sparse_attention.h */
OP(9, 0) aclnnBlockSparseAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *blockSparseMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *blockShapeOptional, OPT const aclIntArray *actualSeqLengthsOptional,
    OPT const aclIntArray *actualSeqLengthsKvOptional, IN OPT const aclTensor *blockTableOptional, char *qInputLayout,
    char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise,
    int64_t blockSize, int64_t preTokens, int64_t nextTokens, int64_t softmaxLseFlag, OUT aclTensor *attentionOut,
    OUT OPT aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_block_sparse_attention_grad.h */
OP(9, 0) aclnnBlockSparseAttentionGrad(IN const aclTensor *dout, IN const aclTensor *query, IN const aclTensor *key,
    IN const aclTensor *value, IN const aclTensor *attentionOut, IN const aclTensor *softmaxLse,
    IN OPT const aclTensor *blockSparseMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *blockShapeOptional, OPT const aclIntArray *actualSeqLengthsOptional,
    OPT const aclIntArray *actualSeqLengthsKvOptional, char *qInputLayout, char *kvInputLayout,
    int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t preTokens, int64_t nextTokens,
    OUT aclTensor *dq, OUT aclTensor *dk, OUT aclTensor *dv);

/** aclnnop/aclnn_block_sparse_attention_v2.h */
OP(9, 1) aclnnBlockSparseAttentionV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *blockSparseMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *blockShapeOptional, OPT const aclIntArray *actualSeqLengthsOptional,
    OPT const aclIntArray *actualSeqLengthsKvOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *qDequantScaleOptional, IN OPT const aclTensor *kDequantScaleOptional,
    IN OPT const aclTensor *vDequantScaleOptional, char *qInputLayout, char *kvInputLayout, int64_t numKeyValueHeads,
    int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize, int64_t preTokens, int64_t nextTokens,
    int64_t softmaxLseFlag, OUT aclTensor *attentionOut, OUT OPT aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_block_sparse_attention_v3.h */
OP(9, 2) aclnnBlockSparseAttentionV3(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *blockSparseMaskOptional, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *blockShapeOptional, OPT const aclIntArray *actualSeqLengthsOptional,
    OPT const aclIntArray *actualSeqLengthsKvOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *qDequantScaleOptional, IN OPT const aclTensor *kDequantScaleOptional,
    IN OPT const aclTensor *vDequantScaleOptional, IN OPT const aclTensor *pQuantScaleOptional, char *qInputLayout,
    char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise,
    int64_t blockSize, int64_t preTokens, int64_t nextTokens, int64_t softmaxLseFlag, int64_t quantMode,
    double dstTypeMax, OUT aclTensor *attentionOut, OUT OPT aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_bsa_select_block_mask.h */
OP(9, 2) aclnnBSASelectBlockMask(IN const aclTensor *query, IN const aclTensor *key, const aclIntArray *blockShape,
    const aclIntArray *postBlockShape, const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKV,
    OPT const aclIntArray *actualBlockLenQuery, OPT const aclIntArray *actualBlockLenKey, char *qInputLayout,
    char *kvInputLayout, int64_t numKeyValueHeads, double scaleValue, double sparsity,
    OUT aclTensor *blockSparseMaskOut);

/** aclnnop/aclnn_chunk_gated_delta_rule.h */
OP(9, 1) aclnnChunkGatedDeltaRule(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *beta, IN const aclTensor *initialState, IN const aclTensor *actualSeqLengths,
    IN OPT const aclTensor *gOptional, float scaleValue, OUT const aclTensor *out, OUT const aclTensor *finalState);

/** aclnnop/aclnn_chunk_kda_fwd.h */
OP(9, 2) aclnnChunkKdaFwd(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *v, IN const aclTensor *g,
    IN const aclTensor *beta, IN OPT const aclTensor *aLogOptional, IN OPT const aclTensor *dtBiasOptional,
    IN OPT const aclTensor *initialStateOptional, OPT const aclIntArray *cuSeqlensOptional,
    OPT const aclIntArray *chunkIndicesOptional, const char *layout, double scale, int64_t chunkSize, bool safeGate,
    double lowerBound, bool useGateInKernel, bool stateVFirst, OUT const aclTensor *attnOut,
    OUT OPT const aclTensor *finalStateOut, OUT OPT const aclTensor *gkOut, OUT const aclTensor *aqkOut,
    OUT const aclTensor *akkOut, OUT OPT const aclTensor *wOut, OUT OPT const aclTensor *uOut,
    OUT OPT const aclTensor *qgOut, OUT OPT const aclTensor *kgOut, OUT OPT const aclTensor *vNewOut,
    OUT OPT const aclTensor *hOut);

/** aclnnop/aclnn_compressor.h */
OP(9, 2) aclnnCompressor(IN const aclTensor *x, IN const aclTensor *wkv, IN const aclTensor *wgate,
    INOUT aclTensor *stateCacheRef, IN const aclTensor *ape, IN OPT const aclTensor *stateBlockTableOptional,
    IN OPT const aclTensor *cuSeqlensOptional, IN OPT const aclTensor *sequsedOptional,
    IN OPT const aclTensor *startPosOptional, int64_t cmpRatio, int64_t coff, int64_t cacheMode,
    int64_t stateCacheStrideDim0, bool gradEnabled, OUT const aclTensor *cmpKvOut, OUT const aclTensor *softmaxScoreOut,
    OUT const aclTensor *kvOut);

/** aclnnop/aclnn_dense_lightning_indexer_grad_kl_loss.h */
OP(9, 0) aclnnDenseLightningIndexerGradKLLoss(IN const aclTensor *query, IN const aclTensor *key,
    IN const aclTensor *queryIndex, IN const aclTensor *keyIndex, IN const aclTensor *weights,
    IN const aclTensor *softmaxMax, IN const aclTensor *softmaxSum, IN const aclTensor *softmaxMaxIndex,
    IN const aclTensor *softmaxSumIndex, IN const aclTensor *queryRope, IN const aclTensor *keyRope,
    const aclIntArray *actualSeqLengthsQuery, const aclIntArray *actualSeqLengthsKey, double scaleValue, char *layout,
    int64_t sparseMode, int64_t preTokens, int64_t nextTokens, OUT const aclTensor *dQueryIndex,
    OUT const aclTensor *dKeyIndex, OUT const aclTensor *dWeights, OUT const aclTensor *loss);

/** aclnnop/aclnn_dense_lightning_indexer_kl_loss_grad.h */
OP(9, 2) aclnnDenseLightningIndexerKLLossGrad(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *w,
    IN const aclTensor *attnSoftmaxL1Norm, IN const aclTensor *softmaxLse, IN OPT const aclTensor *cuSeqLensQOptional,
    IN OPT const aclTensor *cuSeqLensKOptional, IN OPT const aclTensor *seqUsedQOptional,
    IN OPT const aclTensor *seqUsedKOptional, IN OPT const aclTensor *cmpResidualKOptional,
    IN OPT const aclTensor *metadataOptional, char *layoutQ, char *layoutK, int64_t maskMode, int64_t cmpRatio,
    OUT const aclTensor *dq, OUT const aclTensor *dk, OUT const aclTensor *dw, OUT const aclTensor *softmaxOut);

/** aclnnop/aclnn_dense_lightning_indexer_kl_loss_grad_metadata.h */
UNVERIFIED OP(9, 2) aclnnDenseLightningIndexerKLLossGradMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKOptional, IN OPT const aclTensor *cmpResidualKOptional, int64_t batchSize,
    int64_t maxSeqlenQ, int64_t maxSeqlenK, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim,
    OPT char *layoutQOptional, OPT char *layoutKOptional, int64_t maskMode, int64_t cmpRatio,
    OUT const aclTensor *metadata);

/** aclnnop/aclnn_dense_lightning_indexer_softmax_lse.h */
OP(9, 0) aclnnDenseLightningIndexerSoftmaxLse(IN const aclTensor *queryIndex, IN const aclTensor *keyIndex,
    IN const aclTensor *weight, OPT const aclIntArray *actualSeqLengthsQueryOptional,
    OPT const aclIntArray *actualSeqLengthsKeyOptional, OPT char *layoutOptional, int64_t sparseMode, int64_t preTokens,
    int64_t nextTokens, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut);

/** aclnnop/aclnn_dense_lightning_indexer_softmax_lse_v2.h */
OP(9, 2) aclnnDenseLightningIndexerSoftmaxLseV2(IN const aclTensor *queryIndex, IN const aclTensor *keyIndex,
    IN const aclTensor *weight, IN OPT const aclTensor *cuSeqLensQOptional, IN OPT const aclTensor *cuSeqLensKOptional,
    IN OPT const aclTensor *seqUsedQOptional, IN OPT const aclTensor *seqUsedKOptional,
    IN OPT const aclTensor *cmpResidualKOptional, IN OPT const aclTensor *metadataOptional, OPT const char *layoutQ,
    OPT const char *layoutK, int64_t maskMode, int64_t cmpRatio, OUT const aclTensor *softmaxLseOut);

/** aclnnop/aclnn_dense_lightning_indexer_softmax_lse_v2_metadata.h */
OP(9, 2) aclnnDenseLightningIndexerSoftmaxLseV2Metadata(IN OPT const aclTensor *cuSeqLensQOptional,
    IN OPT const aclTensor *cuSeqLensKOptional, IN OPT const aclTensor *seqUsedQOptional,
    IN OPT const aclTensor *seqUsedKOptional, IN OPT const aclTensor *cmpResidualKOptional, int64_t batchSize,
    int64_t maxSeqLenQ, int64_t maxSeqLenK, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, OPT char *layoutQ,
    OPT char *layoutK, int64_t maskMode, int64_t cmpRatio, OUT const aclTensor *metadata);

/** aclnnop/aclnn_lightning_indexer.h */
OP(9, 0) aclnnLightningIndexer(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *weights,
    IN OPT const aclTensor *actualSeqLengthsQueryOptional, IN OPT const aclTensor *actualSeqLengthsKeyOptional,
    IN OPT const aclTensor *blockTableOptional, OPT char *layoutQueryOptional, OPT char *layoutKeyOptional,
    int64_t sparseCount, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, bool returnValues,
    OUT const aclTensor *sparseIndicesOut, OUT const aclTensor *sparseValuesOut);

/** aclnnop/aclnn_lightning_indexer_grad.h */
OP(8, 5) aclnnLightningIndexerGrad(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *dy,
    IN const aclTensor *sparseIndices, IN const aclTensor *weights, IN OPT const aclTensor *actualSeqQLenOptional,
    IN OPT const aclTensor *actualSeqKvLenOptional, int64_t headNum, char *inputLayout, int64_t sparseMode,
    int64_t preTokens, int64_t nextTokens, bool deterministic, OUT const aclTensor *dqOut, OUT const aclTensor *dkOut,
    OUT const aclTensor *dweightsOut);

/** aclnnop/aclnn_lightning_indexer_kl_loss.h */
OP(9, 2) aclnnLightningIndexerKLLoss(IN const aclTensor *targetScore, IN const aclTensor *indexProbs, double eps,
    const char *weightType, OUT const aclTensor *loss);

/** aclnnop/aclnn_lightning_indexer_v2.h */
OP(9, 1) aclnnLightningIndexerV2(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *w,
    IN OPT const aclTensor *cuSeqlensQOptional, IN OPT const aclTensor *cuSeqlensKOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedKOptional,
    IN OPT const aclTensor *cmpResidualKOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *outputIdxOffsetOptional, IN OPT const aclTensor *metadataOptional, int64_t topk,
    int64_t maxSeqlenQ, char *layoutQ, char *layoutK, int64_t maskMode, int64_t cmpRatio, int64_t returnValue,
    OUT const aclTensor *sparseIndices, OUT const aclTensor *sparseValues);

/** aclnnop/aclnn_lightning_indexer_v2_metadata.h */
OP(9, 1) aclnnLightningIndexerV2Metadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKOptional, IN OPT const aclTensor *cmpResidualKOptional, int64_t numHeadsQ,
    int64_t numHeadsK, int64_t headDim, int64_t topk, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK,
    OPT char *layoutQOptional, OPT char *layoutKOptional, int64_t maskMode, int64_t cmpRatio,
    OUT const aclTensor *metadata);

/** aclnnop/aclnn_mixed_quant_sparse_flash_mla.h */
OP(9, 2) aclnnMixedQuantSparseFlashMla(IN const aclTensor *q, IN OPT const aclTensor *oriKvOptional,
    IN OPT const aclTensor *cmpKvOptional, IN OPT const aclTensor *oriSparseIndicesOptional,
    IN OPT const aclTensor *cmpSparseIndicesOptional, IN OPT const aclTensor *oriBlockTableOptional,
    IN OPT const aclTensor *cmpBlockTableOptional, IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional,
    IN OPT const aclTensor *sinksOptional, IN OPT const aclTensor *metadataOptional, int64_t quantMode,
    int64_t ropeHeadDim, double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode,
    int64_t oriWinLeft, int64_t oriWinRight, OPT char *layoutQOptional, OPT char *layoutKvOptional,
    int64_t topkValueMode, bool returnSoftmaxLse, OUT const aclTensor *attnOutOut,
    OUT OPT const aclTensor *softmaxLseOutOptional);

/** aclnnop/aclnn_mixed_quant_sparse_flash_mla_metadata.h */
OP(9, 2) aclnnMixedQuantSparseFlashMlaMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ,
    int64_t numHeadsKv, int64_t headDim, int64_t quantMode, int64_t batchSize, int64_t maxSeqlenQ,
    int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t ropeHeadDim,
    int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight,
    OPT const char *layoutQOptional, OPT const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv,
    OUT const aclTensor *metaData);

/** aclnnop/aclnn_msa_index_score.h */
OP(9, 2) aclnnMsaIndexScore(IN const aclTensor *query, IN const aclTensor *key,
    IN OPT const aclTensor *blockTableOptional, IN OPT const aclTensor *scaleOptional,
    IN OPT const aclTensor *attenMaskOptional, IN OPT const aclTensor *actualSeqQlenOptional,
    IN OPT const aclTensor *actualSeqKlenOptional, IN const aclTensor *startLoc, OPT char *layoutKeyOptional,
    int64_t sparseMode, int64_t initBlocks, int64_t localBlocks, OUT const aclTensor *score);

/** aclnnop/aclnn_nsa_compress.h */
OP(8, 5) aclnnNsaCompress(IN const aclTensor *input, IN const aclTensor *weight,
    OPT const aclIntArray *actSeqLenOptional, OPT char *layoutOptional, int64_t compressBlockSize,
    int64_t compressStride, int64_t actSeqLenType, OUT aclTensor *output);

/** aclnnop/aclnn_nsa_compress_attention.h */
OP(8, 5) aclnnNsaCompressAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *attenMaskOptional, IN OPT const aclTensor *topkMaskOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualCmpSeqKvLenOptional,
    OPT const aclIntArray *actualSelSeqKvLenOptional, double scaleValue, int64_t headNum, char *inputLayout,
    int64_t sparseMode, int64_t compressBlockSize, int64_t compressStride, int64_t selectBlockSize,
    int64_t selectBlockCount, OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut,
    OUT const aclTensor *attentionOutOut, OUT const aclTensor *topkIndicesOut);

/** aclnnop/aclnn_nsa_compress_attention_infer.h */
OP(8, 5) aclnnNsaCompressAttentionInfer(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *attentionMaskOptional, IN OPT const aclTensor *blockTableOptional,
    OPT const aclIntArray *actualQSeqLenOptional, OPT const aclIntArray *actualCmpKvSeqLenOptional,
    OPT const aclIntArray *actualSelKvSeqLenOptional, IN OPT const aclTensor *topKMaskOptional, int64_t numHeads,
    int64_t numKeyValueHeads, int64_t selectBlockSize, int64_t selectBlockCount, int64_t compressBlockSize,
    int64_t compressBlockStride, double scaleValue, OPT char *layoutOptional, int64_t pageBlockSize, int64_t sparseMode,
    OUT const aclTensor *output, OUT const aclTensor *topKOutput);

/** aclnnop/aclnn_nsa_compress_grad.h */
OP(8, 5) aclnnNsaCompressGrad(IN const aclTensor *outputGrad, IN const aclTensor *input, IN const aclTensor *weight,
    OPT const aclIntArray *actSeqLenOptionalOptional, int64_t compressBlockSize, int64_t compressStride,
    int64_t actSeqLenType, OPT char *layoutOptionalOptional, OUT const aclTensor *inputGradOut,
    OUT const aclTensor *weightGradOut);

/** aclnnop/aclnn_nsa_compress_with_cache.h */
OP(8, 5) aclnnNsaCompressWithCache(IN const aclTensor *input, IN const aclTensor *weight,
    IN const aclTensor *slotMapping, OPT const aclIntArray *actSeqLenOptional,
    IN OPT const aclTensor *blockTableOptional, OPT char *layoutOptional, int64_t compressBlockSize,
    int64_t compressStride, int64_t actSeqLenType, int64_t pageBlockSize, OUT aclTensor *outputCache);

/** aclnnop/aclnn_nsa_selected_attention.h */
OP(8, 5) aclnnNsaSelectedAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *topkIndices, IN OPT const aclTensor *attenMaskOptional,
    OPT const aclIntArray *actualSeqQLenOptional, OPT const aclIntArray *actualSeqKvLenOptional, double scaleValue,
    int64_t headNum, char *inputLayout, int64_t sparseMode, int64_t selectedBlockSize, int64_t selectedBlockCount,
    OUT const aclTensor *softmaxMaxOut, OUT const aclTensor *softmaxSumOut, OUT const aclTensor *attentionOut);

/** aclnnop/aclnn_nsa_selected_attention_grad.h */
OP(8, 5) aclnnNsaSelectedAttentionGrad(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *attentionOut, IN const aclTensor *attentionOutGrad, IN const aclTensor *softmaxMax,
    IN const aclTensor *softmaxSum, IN const aclTensor *topkIndices, OPT const aclIntArray *actualSeqQLenOptional,
    OPT const aclIntArray *actualSeqKvLenOptional, IN OPT const aclTensor *attenMaskOptional, double scaleValue,
    int64_t selectedBlockSize, int64_t selectedBlockCount, int64_t headNum, char *inputLayout, int64_t sparseMode,
    OUT const aclTensor *dqOut, OUT const aclTensor *dkOut, OUT const aclTensor *dvOut);

/** aclnnop/aclnn_nsa_selected_attention_infer.h */
OP(8, 5) aclnnNsaSelectedAttentionInfer(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *topkIndices, IN OPT const aclTensor *attenMaskOptional,
    IN OPT const aclTensor *blockTableOptional, OPT const aclIntArray *actualQSeqLenOptional,
    OPT const aclIntArray *actualKvSeqLenOptional, OPT char *layoutOptional, int64_t numHeads, int64_t numKeyValueHeads,
    int64_t selectBlockSize, int64_t selectBlockCount, int64_t pageBlockSize, double scaleValue, int64_t sparseMode,
    OUT aclTensor *output);

/** aclnnop/aclnn_quant_compressor.h */
OP(9, 2) aclnnQuantCompressor(IN const aclTensor *x, IN const aclTensor *wkv, IN const aclTensor *wgate,
    INOUT aclTensor *stateCacheRef, IN const aclTensor *ape, IN OPT const aclTensor *xDescaleOptional,
    IN OPT const aclTensor *wkvDescaleOptional, IN OPT const aclTensor *wgateDescaleOptional,
    IN OPT const aclTensor *stateBlockTableOptional, IN OPT const aclTensor *cuSeqlensOptional,
    IN OPT const aclTensor *sequsedOptional, IN OPT const aclTensor *startPosOptional, int64_t quantMode,
    int64_t cmpRatio, int64_t coff, int64_t cacheMode, int64_t stateCacheStrideDim0, OUT const aclTensor *cmpKvOut);

/** aclnnop/aclnn_quant_lightning_indexer.h */
OP(9, 1) aclnnQuantLightningIndexer(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *weights,
    IN const aclTensor *queryDequantScale, IN const aclTensor *keyDequantScale,
    IN OPT const aclTensor *actualSeqLengthsQueryOptional, IN OPT const aclTensor *actualSeqLengthsKeyOptional,
    IN OPT const aclTensor *blockTableOptional, int64_t queryQuantMode, int64_t keyQuantMode,
    OPT char *layoutQueryOptional, OPT char *layoutKeyOptional, int64_t sparseCount, int64_t sparseMode,
    int64_t preTokens, int64_t nextTokens, OUT const aclTensor *out);

/** aclnnop/aclnn_quant_lightning_indexer_v2.h */
OP(9, 2) aclnnQuantLightningIndexerV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *weights,
    IN const aclTensor *queryDequantScale, IN const aclTensor *keyDequantScale,
    IN OPT const aclTensor *cuSeqLensQOptional, IN OPT const aclTensor *cuSeqLensKOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedKOptional,
    IN OPT const aclTensor *cmpResidualKOptional, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *outputIdxOffsetOptional, IN OPT const aclTensor *metadataOptional, int64_t topk,
    int64_t quantMode, int64_t maxSeqlenQOptional, OPT char *layoutQOptional, OPT char *layoutKOptional,
    int64_t maskModeOptional, int64_t cmpRatioOptional, int64_t returnValueOptional,
    OUT const aclTensor *sparseIndicesOut, OUT const aclTensor *sparseValuesOut);

/** aclnnop/aclnn_quant_lightning_indexer_v2_metadata.h */
OP(9, 1) aclnnQuantLightningIndexerV2Metadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKOptional, IN OPT const aclTensor *cmpResidualKOptional, int64_t numHeadsQ,
    int64_t numHeadsK, int64_t headDim, int64_t topk, int64_t quantMode, int64_t batchSize, int64_t maxSeqlenQ,
    int64_t maxSeqlenK, OPT char *layoutQOptional, OPT char *layoutKOptional, int64_t maskMode, int64_t cmpRatio,
    OUT const aclTensor *metadata);

/** aclnnop/aclnn_quant_sparse_flash_mla.h */
OP(9, 2) aclnnQuantSparseFlashMla(IN const aclTensor *q, IN OPT const aclTensor *oriKvOptional,
    IN OPT const aclTensor *cmpKvOptional, IN OPT const aclTensor *qDescaleOptional,
    IN OPT const aclTensor *oriKvDescaleOptional, IN OPT const aclTensor *cmpKvDescaleOptional,
    IN OPT const aclTensor *oriSparseIndicesOptional, IN OPT const aclTensor *cmpSparseIndicesOptional,
    IN OPT const aclTensor *oriBlockTableOptional, IN OPT const aclTensor *cmpBlockTableOptional,
    IN OPT const aclTensor *cuSeqlensQOptional, IN OPT const aclTensor *cuSeqlensOriKvOptional,
    IN OPT const aclTensor *cuSeqlensCmpKvOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedOriKvOptional, IN OPT const aclTensor *sequsedCmpKvOptional,
    IN OPT const aclTensor *cmpResidualKvOptional, IN OPT const aclTensor *oriTopkLengthOptional,
    IN OPT const aclTensor *cmpTopkLengthOptional, IN OPT const aclTensor *sinksOptional,
    IN OPT const aclTensor *metadataOptional, int64_t quantMode, double softmaxScale, int64_t cmpRatio,
    int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, OPT char *layoutQOptional,
    OPT char *layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse, OUT const aclTensor *attnOutOut,
    OUT OPT const aclTensor *softmaxLseOutOptional);

/** aclnnop/aclnn_quant_sparse_flash_mla_metadata.h */
OP(9, 2) aclnnQuantSparseFlashMlaMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ,
    int64_t numHeadsKv, int64_t headDim, int64_t quantMode, int64_t batchSize, int64_t maxSeqlenQ,
    int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio,
    int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, OPT const char *layoutQOptional,
    OPT const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, OUT const aclTensor *metaData);

/** aclnnop/aclnn_rain_fusion_attention.h */
OP(8, 5) aclnnRainFusionAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *selectIdx, IN const aclTensor *selectNumIdx, const aclIntArray *blockShape,
    IN OPT const aclTensor *attenMaskOptional, OPT const aclIntArray *actualSeqLengthsOptional,
    OPT const aclIntArray *actualSeqLengthsKvOptional, IN OPT const aclTensor *blockTableOptional, char *qInputLayout,
    char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise,
    int64_t blockSize, OUT const aclTensor *attentionOut, OUT OPT const aclTensor *softmaxLseOptional);

/** aclnnop/aclnn_recurrent_gated_delta_rule.h */
OP(8, 5) aclnnRecurrentGatedDeltaRule(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *beta, INOUT aclTensor *stateRef, IN const aclTensor *actualSeqLengths,
    IN const aclTensor *ssmStateIndices, IN OPT const aclTensor *g, IN OPT const aclTensor *gk,
    IN const aclTensor *numAcceptedTokens, float scaleValue, OUT aclTensor *out);

/** aclnnop/aclnn_sparse_flash_attention.h */
OP(9, 0) aclnnSparseFlashAttention(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *sparseIndices, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *actualSeqLengthsQueryOptional, IN OPT const aclTensor *actualSeqLengthsKvOptional,
    IN OPT const aclTensor *queryRopeOptional, IN OPT const aclTensor *keyRopeOptional, double scaleValue,
    int64_t sparseBlockSizeOptional, OPT char *layoutQueryOptional, OPT char *layoutKvOptional, int64_t sparseMode,
    int64_t preTokens, int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse,
    OUT const aclTensor *attentionOut, OUT const aclTensor *softmaxMax, OUT const aclTensor *softmaxSum);

/** aclnnop/aclnn_sparse_flash_attention_grad.h */
OP(8, 5) aclnnSparseFlashAttentionGrad(IN const aclTensor *query, IN const aclTensor *key,
    IN OPT const aclTensor *value, IN const aclTensor *sparseIndices, IN const aclTensor *dOut, IN const aclTensor *out,
    IN const aclTensor *softmaxMax, IN const aclTensor *softmaxSum,
    IN OPT const aclTensor *actualSeqLengthsQueryOptional, IN OPT const aclTensor *actualSeqLengthsKvOptional,
    IN OPT const aclTensor *queryRopeOptional, IN OPT const aclTensor *keyRopeOptional, double scaleValue,
    int64_t sparseBlockSize, OPT char *layoutOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens,
    bool deterministic, OUT const aclTensor *dQueryOut, OUT const aclTensor *dKeyOut,
    OUT OPT const aclTensor *dValueOut, OUT OPT const aclTensor *dQueryRopeOutOptional,
    OUT OPT const aclTensor *dKeyRopeOutOptional);

/** aclnnop/aclnn_sparse_flash_attention_v2.h */
OP(9, 2) aclnnSparseFlashAttentionV2(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN const aclTensor *sparseIndices, IN OPT const aclTensor *blockTableOptional,
    IN OPT const aclTensor *actualSeqLengthsQueryOptional, IN OPT const aclTensor *actualSeqLengthsKvOptional,
    IN OPT const aclTensor *queryRopeOptional, IN OPT const aclTensor *keyRopeOptional,
    IN OPT const aclTensor *sinksOptional, double scaleValue, int64_t sparseBlockSizeOptional,
    OPT char *layoutQueryOptional, OPT char *layoutKvOptional, int64_t sparseMode, int64_t preTokens,
    int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse, OUT const aclTensor *attentionOut,
    OUT const aclTensor *softmaxMax, OUT const aclTensor *softmaxSum);

/** aclnnop/aclnn_sparse_flash_mla.h */
OP(9, 1) aclnnSparseFlashMla(IN const aclTensor *q, IN OPT const aclTensor *oriKvOptional,
    IN OPT const aclTensor *cmpKvOptional, IN OPT const aclTensor *oriSparseIndicesOptional,
    IN OPT const aclTensor *cmpSparseIndicesOptional, IN OPT const aclTensor *oriBlockTableOptional,
    IN OPT const aclTensor *cmpBlockTableOptional, IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional,
    IN OPT const aclTensor *sinksOptional, IN OPT const aclTensor *metadataOptional, double softmaxScale,
    int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight,
    OPT char *layoutQOptional, OPT char *layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse,
    OUT const aclTensor *attnOutOut, OUT OPT const aclTensor *softmaxLseOutOptional);

/** aclnnop/aclnn_sparse_flash_mla_grad.h */
OP(9, 1) aclnnSparseFlashMlaGrad(IN const aclTensor *query, IN const aclTensor *dOut, IN const aclTensor *out,
    IN const aclTensor *lse, IN OPT const aclTensor *oriKvOptional, IN OPT const aclTensor *cmpKvOptional,
    IN OPT const aclTensor *oriSparseIndicesOptional, IN OPT const aclTensor *cmpSparseIndicesOptional,
    IN OPT const aclTensor *cuSeqlensQOptional, IN OPT const aclTensor *cuSeqlensOriKvOptional,
    IN OPT const aclTensor *cuSeqlensCmpKvOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedOriKvOptional, IN OPT const aclTensor *sequsedCmpKvOptional,
    IN OPT const aclTensor *cmpResidualKvOptional, IN OPT const aclTensor *oriTopkLengthOptional,
    IN OPT const aclTensor *cmpTopkLengthOptional, IN OPT const aclTensor *sinksOptional,
    IN OPT const aclTensor *metadataOptional, double scaleValue, int64_t cmpRatio, int64_t oriMaskMode,
    int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, OPT char *layoutQOptional, OPT char *layoutKvOptional,
    OUT const aclTensor *dQueryOut, OUT OPT const aclTensor *dOriKvOutOptional,
    OUT OPT const aclTensor *dCmpKvOutOptional, OUT OPT const aclTensor *dSinksOutOptional,
    OUT OPT const aclTensor *oriSoftmaxL1NormOptional, OUT OPT const aclTensor *cmpSoftmaxL1NormOptional);

/** aclnnop/aclnn_sparse_flash_mla_grad_metadata.h */
OP(9, 2) aclnnSparseFlashMlaGradMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ,
    int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv,
    int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode,
    int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, OPT const char *layoutQOptional,
    OPT const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, OUT const aclTensor *metaData);

/** aclnnop/aclnn_sparse_flash_mla_metadata.h */
OP(9, 1) aclnnSparseFlashMlaMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensOriKvOptional, IN OPT const aclTensor *cuSeqlensCmpKvOptional,
    IN OPT const aclTensor *sequsedQOptional, IN OPT const aclTensor *sequsedOriKvOptional,
    IN OPT const aclTensor *sequsedCmpKvOptional, IN OPT const aclTensor *cmpResidualKvOptional,
    IN OPT const aclTensor *oriTopkLengthOptional, IN OPT const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ,
    int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv,
    int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode,
    int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, OPT const char *layoutQOptional,
    OPT const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, OUT const aclTensor *metaData);

/** aclnnop/aclnn_sparse_flash_mla_softmax_l1_norm.h */
OP(9, 2) aclnnSparseFlashMlaSoftmaxL1Norm(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *softmaxLse,
    IN OPT const aclTensor *sparseIndicesOptional, IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKOptional, IN OPT const aclTensor *cmpResidualKOptional,
    IN OPT const aclTensor *topkLengthOptional, IN OPT const aclTensor *metadataOptional, double softmaxScale,
    int64_t cmpRatio, int64_t maskMode, OPT char *layoutQOptional, OPT char *layoutKOptional,
    OUT const aclTensor *softmaxL1Norm);

/** aclnnop/aclnn_sparse_flash_mla_softmax_l1_norm_metadata.h */
OP(9, 2) aclnnSparseFlashMlaSoftmaxL1NormMetadata(IN OPT const aclTensor *cuSeqLensQOptional,
    IN OPT const aclTensor *cuSeqLensKOptional, IN OPT const aclTensor *seqUsedQOptional,
    IN OPT const aclTensor *seqUsedKOptional, IN OPT const aclTensor *cmpResidualKOptional,
    IN OPT const aclTensor *topkLengthOptional, int64_t batchSize, int64_t maxSeqLenQ, int64_t maxSeqLenK,
    int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t topk, int64_t cmpRatio, int64_t maskMode,
    char *layoutQ, char *layoutK, OUT const aclTensor *metadata);

/** aclnnop/aclnn_sparse_lightning_indexer_grad_kl_loss.h */
OP(8, 5) aclnnSparseLightningIndexerGradKLLoss(IN const aclTensor *query, IN const aclTensor *key,
    IN const aclTensor *queryIndex, IN const aclTensor *keyIndex, IN const aclTensor *weights,
    IN const aclTensor *sparseIndices, IN const aclTensor *softmaxMax, IN const aclTensor *softmaxSum,
    IN const aclTensor *queryRope, IN const aclTensor *keyRope, const aclIntArray *actualSeqLengthsQuery,
    const aclIntArray *actualSeqLengthsKey, double scaleValue, char *layout, int64_t sparseMode, int64_t pre_tokens,
    int64_t next_tokens, bool deterministic, OUT const aclTensor *dQueryIndex, OUT const aclTensor *dKeyIndex,
    OUT const aclTensor *dWeights, OUT const aclTensor *loss);

/** aclnnop/aclnn_sparse_lightning_indexer_kl_loss_grad.h */
OP(9, 1) aclnnSparseLightningIndexerKLLossGrad(IN const aclTensor *q, IN const aclTensor *k, IN const aclTensor *w,
    IN const aclTensor *sparseIndices, IN const aclTensor *attnSoftmaxL1Norm,
    IN OPT const aclTensor *cuSeqLensQOptional, IN OPT const aclTensor *cuSeqLensKOptional,
    IN OPT const aclTensor *seqUsedQOptional, IN OPT const aclTensor *seqUsedKOptional,
    IN OPT const aclTensor *cmpResidualKOptional, IN OPT const aclTensor *metadataOptional, char *layoutQ,
    char *layoutK, int64_t maskMode, int64_t cmpRatio, OUT const aclTensor *dq, OUT const aclTensor *dk,
    OUT const aclTensor *dw, OUT const aclTensor *softmaxOut);

/** aclnnop/aclnn_sparse_lightning_indexer_kl_loss_grad_metadata.h */
OP(9, 1) aclnnSparseLightningIndexerKLLossGradMetadata(IN OPT const aclTensor *cuSeqlensQOptional,
    IN OPT const aclTensor *cuSeqlensKOptional, IN OPT const aclTensor *sequsedQOptional,
    IN OPT const aclTensor *sequsedKOptional, IN OPT const aclTensor *cmpResidualKOptional, int64_t batchSize,
    int64_t maxSeqlenQ, int64_t maxSeqlenK, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t topk,
    OPT char *layoutQOptional, OPT char *layoutKOptional, int64_t maskMode, int64_t cmpRatio,
    OUT const aclTensor *metadata);

/** aclnnop/aclnn_stem_oam_prep_paged_kv.h */
OP(9, 2) aclnnStemOamPrepPagedKv(IN const aclTensor *kCache, IN const aclTensor *vCache, IN const aclTensor *kvIndices,
    const aclIntArray *kvSeqLens, IN OPT const aclTensor *kScaleCacheOptional, IN OPT const aclTensor *vScaleOptional,
    double lambdaMag, char *kvLayout, int64_t stemBlockSize, int64_t stemStride, OUT const aclTensor *kFlat,
    OUT const aclTensor *vBias);

/** aclnnop/aclnn_stem_oam_prep_varlen_q.h */
OP(9, 2) aclnnStemOamPrepVarlenQ(IN const aclTensor *q, const aclIntArray *qSeqLens, const aclIntArray *cuSeqLensQ,
    IN const aclTensor *qScale, int64_t stemBlockSize, int64_t stemStride, OUT aclTensor *qFlat);
