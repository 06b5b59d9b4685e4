/* Rotary positions, key/value caches and what is fused with them. */

/** aclnnop/aclnn_apply_rotary_pos_emb.h */
OP aclnnApplyRotaryPosEmb(INOUT aclTensor *queryRef, INOUT aclTensor *keyRef, IN const aclTensor *cos,
    IN const aclTensor *sin, int64_t layout);

/** aclnnop/aclnn_apply_rotary_pos_emb_v2.h */
OP(8, 5) aclnnApplyRotaryPosEmbV2(INOUT aclTensor *queryRef, INOUT aclTensor *keyRef, IN const aclTensor *cos,
    IN const aclTensor *sin, int64_t layout, char *rotaryMode);

/** aclnnop/aclnn_dequant_rope_quant_kvcache.h */
OP aclnnDequantRopeQuantKvcache(IN const aclTensor *x, IN const aclTensor *cos, IN const aclTensor *sin,
    INOUT aclTensor *kCacheRef, INOUT aclTensor *vCacheRef, IN const aclTensor *indices, IN const aclTensor *scaleK,
    IN const aclTensor *scaleV, IN OPT const aclTensor *offsetKOptional, IN OPT const aclTensor *offsetVOptional,
    IN OPT const aclTensor *weightScaleOptional, IN OPT const aclTensor *activationScaleOptional,
    IN OPT const aclTensor *biasOptional, const aclIntArray *sizeSplits, OPT char *quantModeOptional,
    OPT char *layoutOptional, bool kvOutput, OPT char *cacheModeOptional, OUT const aclTensor *qOut,
    OUT const aclTensor *kOut, OUT const aclTensor *vOut);

/** aclnnop/aclnn_gather_pa_kv_cache.h */
OP(8, 5) aclnnGatherPaKvCache(IN const aclTensor *keyCache, IN const aclTensor *valueCache,
    IN const aclTensor *blockTables, IN const aclTensor *seqLens, INOUT aclTensor *keyRef, INOUT aclTensor *valueRef,
    IN OPT const aclTensor *seqOffsetOptional, char *cacheMode, bool isSeqLensCumsum);

/** aclnnop/aclnn_indexer_quant_cache.h */
OP(9, 2) aclnnIndexerQuantCache(INOUT aclTensor *cacheRef, INOUT aclTensor *cacheScaleRef, IN const aclTensor *x,
    IN const aclTensor *slotMapping, int64_t quantMode, bool roundScale, float xScale);

/** aclnnop/aclnn_inplace_partial_rotary_mul.h */
OP(9, 2) aclnnInplacePartialRotaryMul(INOUT const aclTensor *xRef, IN const aclTensor *cos, IN const aclTensor *sin,
    int64_t rotary_mode, OPT const aclIntArray *partialSlice);

/** aclnnop/aclnn_inplace_partial_rotary_mul_grad.h */
OP(9, 2) aclnnInplacePartialRotaryMulGrad(INOUT aclTensor *dyRef, IN const aclTensor *cos, IN const aclTensor *sin,
    int64_t rotaryMode, const aclIntArray *partialSlice);

/** aclnnop/aclnn_interleave_rope_example.h */
OP(8, 5) aclnnInterleaveRope(IN const aclTensor *x, IN const aclTensor *cos, IN const aclTensor *sin,
    OUT aclTensor *out);

/** aclnnop/aclnn_kv_compress_epilog.h */
OP(9, 2) aclnnKvCompressEpilog(INOUT aclTensor *cacheRef, IN const aclTensor *x, IN const aclTensor *slotMapping,
    int64_t quantGroupSize, int64_t quantMode, bool roundScale, float xScale);

/** aclnnop/aclnn_kv_rms_norm_rope_cache.h */
OP(8, 5) aclnnKvRmsNormRopeCache(IN const aclTensor *kv, IN const aclTensor *gamma, IN const aclTensor *cos,
    IN OPT const aclTensor *sin, IN const aclTensor *index, INOUT aclTensor *kCacheRef, INOUT aclTensor *ckvCacheRef,
    IN OPT const aclTensor *kRopeScaleOptional, IN OPT const aclTensor *cKvScaleOptional,
    IN OPT const aclTensor *kRopeOffsetOptional, IN OPT const aclTensor *cKvOffsetOptional, double epsilon,
    OPT char *cacheModeOptional, bool isOutputKv, OUT const aclTensor *kRopeOut, OUT const aclTensor *cKvOut);

/** aclnnop/aclnn_kv_rms_norm_rope_cache_v2.h */
OP(9, 1) aclnnKvRmsNormRopeCacheV2(IN const aclTensor *kv, IN const aclTensor *gamma, IN const aclTensor *cos,
    IN OPT const aclTensor *sin, IN const aclTensor *index, INOUT aclTensor *kCacheRef, INOUT aclTensor *ckvCacheRef,
    IN OPT const aclTensor *kRopeScaleOptional, IN OPT const aclTensor *cKvScaleOptional,
    IN OPT const aclTensor *kRopeOffsetOptional, IN OPT const aclTensor *cKvOffsetOptional,
    IN OPT const aclTensor *vOptional, double epsilon, OPT char *cacheModeOptional, bool isOutputKv,
    OUT const aclTensor *kRopeOut, OUT const aclTensor *cKvOut);

/** aclnnop/aclnn_mla_preprocess.h */
OP(8, 5) aclnnMlaPreprocess(IN const aclTensor *input, IN const aclTensor *gamma0, IN const aclTensor *beta0,
    IN const aclTensor *quantScale0, IN const aclTensor *quantOffset0, IN const aclTensor *wdqkv,
    IN const aclTensor *descale0, IN OPT const aclTensor *bias0, IN const aclTensor *gamma1, IN const aclTensor *beta1,
    IN const aclTensor *quantScale1, IN const aclTensor *quantOffset1, IN const aclTensor *wuq,
    IN const aclTensor *descale1, IN OPT const aclTensor *bias1, IN const aclTensor *gamma2,
    IN OPT const aclTensor *cos, IN OPT const aclTensor *sin, IN const aclTensor *wuk, IN const aclTensor *kvCache,
    IN OPT const aclTensor *kvCacheRope, IN const aclTensor *slotMapping, IN const aclTensor *ctkvScale,
    IN const aclTensor *qNopeScale, int64_t wdqDim, int64_t qRopeDim, int64_t kRopeDim, double epsilon,
    int64_t qRotaryCoeff, int64_t kRotaryCoeff, bool transeposeWdq, bool transeposeWuq, bool transeposeWuk,
    int64_t cacheMode, int64_t quantMode, bool doRmsNorm, int64_t wdkvSplitCount, OUT const aclTensor *qOutOut,
    OUT const aclTensor *kvCacheOutOut, OUT const aclTensor *qRopeOutOut, OUT const aclTensor *krCacheOutOut);

/** aclnnop/aclnn_mla_preprocess_v2.h */
OP(8, 5) aclnnMlaPreprocessV2(IN const aclTensor *input, IN const aclTensor *gamma0, IN const aclTensor *beta0,
    IN const aclTensor *quantScale0, IN const aclTensor *quantOffset0, IN const aclTensor *wdqkv,
    IN const aclTensor *descale0, IN OPT const aclTensor *bias0, IN const aclTensor *gamma1, IN const aclTensor *beta1,
    IN const aclTensor *quantScale1, IN const aclTensor *quantOffset1, IN const aclTensor *wuq,
    IN const aclTensor *descale1, IN OPT const aclTensor *bias1, IN const aclTensor *gamma2,
    IN OPT const aclTensor *cos, IN OPT const aclTensor *sin, IN const aclTensor *wuk, IN const aclTensor *kvCache,
    IN OPT const aclTensor *kvCacheRope, IN const aclTensor *slotMapping, IN const aclTensor *ctkvScale,
    IN const aclTensor *qNopeScale, int64_t wdqDim, int64_t qRopeDim, int64_t kRopeDim, double epsilon,
    int64_t qRotaryCoeff, int64_t kRotaryCoeff, bool transeposeWdq, bool transeposeWuq, bool transeposeWuk,
    int64_t cacheMode, int64_t quantMode, bool doRmsNorm, int64_t wdkvSplitCount, bool qDownOutFlag,
    OUT const aclTensor *qOutOut, OUT const aclTensor *kvCacheOutOut, OUT const aclTensor *qRopeOutOut,
    OUT const aclTensor *krCacheOutOut, OUT const aclTensor *qDownOutOut);

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

/** aclnnop/aclnn_mla_prolog_v2.h */
UNVERIFIED OP(8, 5) aclnnMlaPrologV2(IN const aclTensor *tokenX, IN const aclTensor *weightDq,
    IN const aclTensor *weightUqQr, IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr,
    IN const aclTensor *rmsnormGammaCq, IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin,
    IN const aclTensor *ropeCos, IN const aclTensor *cacheIndex, INOUT aclTensor *kvCacheRef,
    INOUT aclTensor *krCacheRef, IN OPT const aclTensor *dequantScaleXOptional,
    IN OPT const aclTensor *dequantScaleWDqOptional, IN OPT const aclTensor *dequantScaleWUqQrOptional,
    IN OPT const aclTensor *dequantScaleWDkvKrOptional, IN OPT const aclTensor *quantScaleCkvOptional,
    IN OPT const aclTensor *quantScaleCkrOptional, IN OPT const aclTensor *smoothScalesCqOptional,
    double rmsnormEpsilonCq, double rmsnormEpsilonCkv, OPT char *cacheModeOptional, OUT const aclTensor *queryOut,
    OUT const aclTensor *queryRopeOut, OUT OPT const aclTensor *dequantScaleQNopeOutOptional);

/** aclnnop/aclnn_mla_prolog_v2_weight_nz.h */
OP(8, 5) aclnnMlaPrologV2WeightNz(IN const aclTensor *tokenX, IN const aclTensor *weightDq,
    IN const aclTensor *weightUqQr, IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr,
    IN const aclTensor *rmsnormGammaCq, IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin,
    IN const aclTensor *ropeCos, IN const aclTensor *cacheIndex, INOUT aclTensor *kvCacheRef,
    INOUT aclTensor *krCacheRef, IN OPT const aclTensor *dequantScaleXOptional,
    IN OPT const aclTensor *dequantScaleWDqOptional, IN OPT const aclTensor *dequantScaleWUqQrOptional,
    IN OPT const aclTensor *dequantScaleWDkvKrOptional, IN OPT const aclTensor *quantScaleCkvOptional,
    IN OPT const aclTensor *quantScaleCkrOptional, IN OPT const aclTensor *smoothScalesCqOptional,
    double rmsnormEpsilonCq, double rmsnormEpsilonCkv, OPT char *cacheModeOptional, OUT const aclTensor *queryOut,
    OUT const aclTensor *queryRopeOut, OUT OPT const aclTensor *dequantScaleQNopeOutOptional);

/** aclnnop/aclnn_mla_prolog_v3.h */
UNVERIFIED OP(8, 5) aclnnMlaPrologV3(IN const aclTensor *tokenX, IN const aclTensor *weightDq,
    IN const aclTensor *weightUqQr, IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr,
    IN const aclTensor *rmsnormGammaCq, IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin,
    IN const aclTensor *ropeCos, INOUT aclTensor *kvCacheRef, INOUT aclTensor *krCacheRef,
    IN OPT const aclTensor *cacheIndexOptional, IN OPT const aclTensor *dequantScaleXOptional,
    IN OPT const aclTensor *dequantScaleWDqOptional, IN OPT const aclTensor *dequantScaleWUqQrOptional,
    IN OPT const aclTensor *dequantScaleWDkvKrOptional, IN OPT const aclTensor *quantScaleCkvOptional,
    IN OPT const aclTensor *quantScaleCkrOptional, IN OPT const aclTensor *smoothScalesCqOptional,
    IN OPT const aclTensor *actualSeqLenOptional, IN OPT const aclTensor *kNopeClipAlphaOptional,
    double rmsnormEpsilonCq, double rmsnormEpsilonCkv, OPT char *cacheModeOptional, bool queryNormFlag,
    int64_t weightQuantMode, int64_t kvCacheQuantMode, int64_t queryQuantMode, int64_t ckvkrRepoMode,
    int64_t quantScaleRepoMode, int64_t tileSize, double qcQrScale, double kcScale, OUT const aclTensor *queryOut,
    OUT const aclTensor *queryRopeOut, OUT const aclTensor *dequantScaleQNopeOut, OUT const aclTensor *queryNormOut,
    OUT const aclTensor *dequantScaleQNormOut);

/** aclnnop/aclnn_mla_prolog_v3_weight_nz.h */
OP(8, 5) aclnnMlaPrologV3WeightNz(IN const aclTensor *tokenX, IN const aclTensor *weightDq,
    IN const aclTensor *weightUqQr, IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr,
    IN const aclTensor *rmsnormGammaCq, IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin,
    IN const aclTensor *ropeCos, INOUT aclTensor *kvCacheRef, INOUT aclTensor *krCacheRef,
    IN OPT const aclTensor *cacheIndexOptional, IN OPT const aclTensor *dequantScaleXOptional,
    IN OPT const aclTensor *dequantScaleWDqOptional, IN OPT const aclTensor *dequantScaleWUqQrOptional,
    IN OPT const aclTensor *dequantScaleWDkvKrOptional, IN OPT const aclTensor *quantScaleCkvOptional,
    IN OPT const aclTensor *quantScaleCkrOptional, IN OPT const aclTensor *smoothScalesCqOptional,
    IN OPT const aclTensor *actualSeqLenOptional, IN OPT const aclTensor *kNopeClipAlphaOptional,
    double rmsnormEpsilonCq, double rmsnormEpsilonCkv, OPT char *cacheModeOptional, int64_t weightQuantMode,
    int64_t kvCacheQuantMode, int64_t queryQuantMode, int64_t ckvkrRepoMode, int64_t quantScaleRepoMode,
    int64_t tileSize, double qcQrScale, double kcScale, OUT const aclTensor *queryOut,
    OUT const aclTensor *queryRopeOut, OUT OPT const aclTensor *dequantScaleQNopeOutOptional,
    OUT OPT const aclTensor *queryNormOutOptional, OUT OPT const aclTensor *dequantScaleQNormOutOptional);

/** aclnnop/aclnn_mla_prolog_v4_weight_nz.h */
OP(9, 2) aclnnMlaPrologV4WeightNz(IN const aclTensor *tokenX, IN const aclTensor *weightDq,
    IN const aclTensor *weightUqQr, IN const aclTensor *weightUk, IN const aclTensor *weightDkvKr,
    IN const aclTensor *rmsnormGammaCq, IN const aclTensor *rmsnormGammaCkv, IN const aclTensor *ropeSin,
    IN const aclTensor *ropeCos, INOUT aclTensor *kvCacheRef, INOUT aclTensor *krCacheRef,
    IN OPT const aclTensor *cacheIndexOptional, IN OPT const aclTensor *dequantScaleXOptional,
    IN OPT const aclTensor *dequantScaleWDqOptional, IN OPT const aclTensor *dequantScaleWUqQrOptional,
    IN OPT const aclTensor *dequantScaleWDkvKrOptional, IN OPT const aclTensor *quantScaleCkvOptional,
    IN OPT const aclTensor *quantScaleCkrOptional, IN OPT const aclTensor *smoothScalesCqOptional,
    IN OPT const aclTensor *actualSeqLenOptional, IN OPT const aclTensor *kNopeClipAlphaOptional,
    double rmsnormEpsilonCq, double rmsnormEpsilonCkv, OPT char *cacheModeOptional, int64_t weightQuantMode,
    int64_t kvCacheQuantMode, int64_t queryQuantMode, int64_t ckvkrRepoMode, int64_t quantScaleRepoMode,
    int64_t tileSize, double qcQrScale, double kcScale, bool doRope, OUT const aclTensor *queryOut,
    OUT const aclTensor *queryRopeOut, OUT OPT const aclTensor *dequantScaleQNopeOutOptional,
    OUT OPT const aclTensor *queryNormOutOptional, OUT OPT const aclTensor *dequantScaleQNormOutOptional);

/** aclnnop/aclnn_norm_rope_concat.h */
OP(8, 5) aclnnNormRopeConcat(IN const aclTensor *query, IN const aclTensor *key, IN const aclTensor *value,
    IN OPT const aclTensor *encoderQuery, IN OPT const aclTensor *encoderKey, IN OPT const aclTensor *encoderValue,
    IN OPT const aclTensor *normQueryWeight, IN OPT const aclTensor *normQueryBias,
    IN OPT const aclTensor *normKeyWeight, IN OPT const aclTensor *normKeyBias,
    IN OPT const aclTensor *normAddedQueryWeight, IN OPT const aclTensor *normAddedQueryBias,
    IN OPT const aclTensor *normAddedKeyWeight, IN OPT const aclTensor *normAddedKeyBias,
    IN OPT const aclTensor *ropeSin, IN OPT const aclTensor *ropeCos, int64_t normType, int64_t normAddedType,
    int64_t ropeType, int64_t concatOrder, double eps, bool isTraining, OUT const aclTensor *queryOutput,
    OUT const aclTensor *keyOutput, OUT const aclTensor *valueOutput, OUT OPT const aclTensor *normQueryMean,
    OUT OPT const aclTensor *normQueryRstd, OUT OPT const aclTensor *normKeyMean, OUT OPT const aclTensor *normKeyRstd,
    OUT OPT const aclTensor *normAddedQueryMean, OUT OPT const aclTensor *normAddedQueryRstd,
    OUT OPT const aclTensor *normAddedKeyMean, OUT OPT const aclTensor *normAddedKeyRstd);

/** aclnnop/aclnn_norm_rope_concat_grad.h */
OP(8, 5) aclnnNormRopeConcatBackward(IN OPT const aclTensor *gradQueryOutput, IN OPT const aclTensor *gradKeyOutput,
    IN OPT const aclTensor *gradValueOutput, IN const aclTensor *query, IN const aclTensor *key,
    IN OPT const aclTensor *encoderQuery, IN OPT const aclTensor *encoderKey, IN OPT const aclTensor *normQueryWeight,
    IN OPT const aclTensor *normQueryMean, IN OPT const aclTensor *normQueryRstd, IN OPT const aclTensor *normKeyWeight,
    IN OPT const aclTensor *normKeyMean, IN OPT const aclTensor *normKeyRstd,
    IN OPT const aclTensor *normAddedQueryWeight, IN OPT const aclTensor *normAddedQueryMean,
    IN OPT const aclTensor *normAddedQueryRstd, IN OPT const aclTensor *normAddedKeyWeight,
    IN OPT const aclTensor *normAddedKeyMean, IN OPT const aclTensor *normAddedKeyRstd, IN OPT const aclTensor *ropeSin,
    IN OPT const aclTensor *ropeCos, int64_t normType, int64_t normAddedType, int64_t ropeType, int64_t concatOrder,
    OUT const aclTensor *gradQuery, OUT const aclTensor *gradKey, OUT const aclTensor *gradValue,
    OUT OPT const aclTensor *gradEncoderQuery, OUT OPT const aclTensor *gradEncoderKey,
    OUT OPT const aclTensor *gradEncoderValue, OUT OPT const aclTensor *gradNormQueryWeight,
    OUT OPT const aclTensor *gradNormQueryBias, OUT OPT const aclTensor *gradNormKeyWeight,
    OUT OPT const aclTensor *gradNormKeyBias, OUT OPT const aclTensor *gradNormAddedQueryWeight,
    OUT OPT const aclTensor *gradNormAddedQueryBias, OUT OPT const aclTensor *gradNormAddedKeyWeight,
    OUT OPT const aclTensor *gradNormAddedKeyBias);

/** aclnnop/aclnn_qkv_rms_norm_rope_cache.h */
OP(9, 0) aclnnQkvRmsNormRopeCache(IN const aclTensor *qkv, IN const aclTensor *qGamma, IN const aclTensor *kGamma,
    IN const aclTensor *cos, IN const aclTensor *sin, IN const aclTensor *index, INOUT aclTensor *qOut,
    INOUT aclTensor *kCache, INOUT aclTensor *vCache, IN OPT const aclTensor *kScaleOptional,
    IN OPT const aclTensor *vScaleOptional, IN OPT const aclTensor *kOffsetOptional,
    IN OPT const aclTensor *vOffsetOptional, const aclIntArray *qkvSize, const aclIntArray *headNums, double epsilon,
    OPT char *cacheModeOptional, OUT OPT const aclTensor *qOutBeforeQuant, OUT OPT const aclTensor *kOutBeforeQuant,
    OUT OPT const aclTensor *vOutBeforeQuant);

/** aclnnop/aclnn_qkv_rms_norm_rope_cache_with_k_scale.h */
OP(9, 2) aclnnQkvRmsNormRopeCacheWithKScale(IN const aclTensor *qkv, IN const aclTensor *qGamma,
    IN const aclTensor *kGamma, IN const aclTensor *cosSin, IN const aclTensor *slotMapping, INOUT aclTensor *kCacheRef,
    INOUT aclTensor *vCacheRef, INOUT aclTensor *kScaleCacheRef, IN OPT const aclTensor *queryStartLocOptional,
    IN OPT const aclTensor *seqLensOptional, IN OPT const aclTensor *rotationOptional,
    IN OPT const aclTensor *vScaleOptional, IN OPT const aclTensor *mropePositionOptional, const aclIntArray *headNums,
    OPT const char *layoutQkv, OPT const char *layoutQOut, float epsilon, OPT const aclIntArray *mropeSectionOptional,
    OPT const char *qQuantMode, OUT aclTensor *qOut, OUT OPT aclTensor *qScaleOptional);

/** aclnnop/aclnn_rope_with_sin_cos_cache_v2.h */
OP(9, 0) aclnnRopeWithSinCosCacheV2(IN const aclTensor *positions, IN const aclTensor *queryIn,
    IN const aclTensor *keyIn, IN const aclTensor *cosSinCache, const aclIntArray *mropeSection, int64_t headSize,
    bool isNeoxStyle, int64_t cacheMode, OUT aclTensor *queryOut, OUT aclTensor *keyOut);

/** aclnnop/aclnn_rotary_position_embedding.h */
OP(8, 5) aclnnRotaryPositionEmbedding(IN const aclTensor *x, IN const aclTensor *cos, IN const aclTensor *sin,
    int64_t mode, OUT aclTensor *out);

/** aclnnop/aclnn_rotary_position_embedding_grad.h */
OP(8, 5) aclnnRotaryPositionEmbeddingGrad(IN const aclTensor *dy, IN const aclTensor *cos, IN const aclTensor *sin,
    IN OPT const aclTensor *xOptional, int64_t mode, OUT const aclTensor *dxOut, OUT const aclTensor *dcosOut,
    OUT const aclTensor *dsinOut);

/** aclnnop/aclnn_rotary_position_embedding_v2.h */
OP(8, 5) aclnnRotaryPositionEmbeddingV2(IN const aclTensor *x, IN const aclTensor *cos, IN const aclTensor *sin,
    int64_t mode, IN OPT const aclTensor *rotate, OUT aclTensor *out);

/** aclnnop/aclnn_scatter_pa_cache.h */
OP(9, 0) aclnnScatterPaCache(IN const aclTensor *key, INOUT aclTensor *keyCacheRef, IN const aclTensor *slotMapping,
    IN OPT const aclTensor *compressLensOptional, IN OPT const aclTensor *compressSeqOffsetOptional,
    IN OPT const aclTensor *seqLensOptional, char *cacheMode);

/** aclnnop/aclnn_scatter_pa_kv_cache.h */
OP(8, 5) aclnnScatterPaKvCache(IN const aclTensor *key, INOUT aclTensor *keyCacheRef, IN const aclTensor *slotMapping,
    IN const aclTensor *value, INOUT aclTensor *valueCacheRef, IN OPT const aclTensor *compressLensOptional,
    IN OPT const aclTensor *compressSeqOffsetOptional, IN OPT const aclTensor *seqLensOptional,
    OPT char *cacheModeOptional, OPT char *scatterModeOptional, OPT const aclIntArray *stridesOptional,
    OPT const aclIntArray *offsetsOptional);

/** aclnnop/aclnn_scatter_pa_kv_cache_with_k_scale.h */
OP(9, 2) aclnnScatterPaKvCacheWithKScale(IN const aclTensor *key, IN const aclTensor *value,
    INOUT aclTensor *keyCacheRef, INOUT aclTensor *valueCacheRef, IN const aclTensor *slotMapping,
    IN aclTensor *keyScale, INOUT aclTensor *keyScaleCacheRef, OPT char *cacheLayoutOptional);

/** aclnnop/aclnn_und_gen_qkv_rms_norm_rope_cache.h */
OP(9, 2) aclnnUndGenQkvRmsNormRopeCache(IN const aclTensor *undQkv, IN const aclTensor *undWeightsQ,
    IN const aclTensor *undWeightsK, IN const aclTensor *cosSinCache, INOUT aclTensor *kCacheRef,
    INOUT aclTensor *vCacheRef, IN const aclTensor *slotMapping, IN const aclTensor *positions,
    IN OPT const aclTensor *genQkvOptional, IN OPT const aclTensor *genWeightsQOptional,
    IN OPT const aclTensor *genWeightsKOptional, IN OPT const aclTensor *catIndicesOptional, int64_t numHeadsQ,
    int64_t numHeadsK, int64_t numHeadsV, double normEps, OPT const aclIntArray *mropeSection, OUT aclTensor *qOut);

/** aclnnop/level2/aclnn_rope_with_sin_cos_cache.h */
OP aclnnRopeWithSinCosCache(IN const aclTensor *positions, IN const aclTensor *queryIn, IN const aclTensor *keyIn,
    IN const aclTensor *cosSinCache, const aclIntArray *mropeSection, int64_t headSize, bool isNeoxStyle,
    OUT aclTensor *queryOut, OUT aclTensor *keyOut);
