/* Normalization layers and their gradients. */

/** aclnnop/aclnn_ada_layer_norm.h */
OP(8, 5) aclnnAdaLayerNorm(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *shift,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional, double epsilon, OUT aclTensor *out);

/** aclnnop/aclnn_ada_layer_norm_backward.h */
OP(9, 1) aclnnAdaLayerNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input,
    const aclIntArray *normalizedShape, IN const aclTensor *rstd, IN const aclTensor *mean, IN const aclTensor *scale,
    IN const aclTensor *shift, IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional,
    OUT OPT aclTensor *gradInputOut, OUT OPT aclTensor *gradScaleOut, OUT OPT aclTensor *gradShiftOut,
    OUT OPT aclTensor *gradWeightOut, OUT OPT aclTensor *gradBiasOut);

/** aclnnop/aclnn_ada_layer_norm_quant.h */
OP(8, 5) aclnnAdaLayerNormQuant(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *shift,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *smoothScalesOptional, double epsilon, const char *quantMode, OUT aclTensor *out,
    OUT aclTensor *quantScale, OUT OPT aclTensor *quantOffsetOptional);

/** aclnnop/aclnn_ada_layer_norm_v2.h */
OP(8, 5) aclnnAdaLayerNormV2(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *shift,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional, double epsilon, OUT aclTensor *out,
    OUT OPT aclTensor *meanOutOptional, OUT OPT aclTensor *rstdOutOptional);

/** aclnnop/aclnn_add_layer_norm.h */
OP aclnnAddLayerNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *beta, IN OPT const aclTensor *biasOptional, double epsilon, bool additionalOutput,
    OUT const aclTensor *yOut, OUT const aclTensor *meanOut, OUT const aclTensor *rstdOut, OUT const aclTensor *xOut);

/** aclnnop/aclnn_add_layer_norm_grad.h */
OP aclnnAddLayerNormGrad(IN const aclTensor *dy, IN const aclTensor *x1, IN const aclTensor *x2,
    IN const aclTensor *rstd, IN const aclTensor *mean, IN const aclTensor *gamma, IN OPT const aclTensor *dsumOptional,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut, OUT const aclTensor *dbetaOut);

/** aclnnop/aclnn_add_layer_norm_quant.h */
OP(8, 5) aclnnAddLayerNormQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *beta, IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *scales1Optional,
    IN OPT const aclTensor *scales2Optional, IN OPT const aclTensor *zeroPoints1Optional,
    IN OPT const aclTensor *zeroPoints2Optional, const char *quantMode, double epsilon, bool additionalOutput,
    bool divMode, OUT aclTensor *y1Out, OUT aclTensor *y2Out, OUT aclTensor *xOut, OUT aclTensor *outScales1Out,
    OUT aclTensor *outScales2Out);

/** aclnnop/aclnn_add_layer_norm_quant_v2.h */
OP(9, 1) aclnnAddLayerNormQuantV2(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *beta, IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *scales1Optional,
    IN OPT const aclTensor *scales2Optional, IN OPT const aclTensor *zeroPoints1Optional,
    IN OPT const aclTensor *zeroPoints2Optional, const char *quantMode, double epsilon, bool additionalOutput,
    bool divMode, OUT aclTensor *y1Out, OUT aclTensor *y2Out, OUT aclTensor *xOut, OUT aclTensor *layernormRes,
    OUT aclTensor *outScales1Out, OUT aclTensor *outScales2Out);

/** aclnnop/aclnn_add_rms_norm.h */
OP aclnnAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma, double epsilon,
    OUT const aclTensor *yOut, OUT OPT const aclTensor *rstdOut, OUT OPT const aclTensor *xOut);

/** aclnnop/aclnn_add_rms_norm_cast.h */
OP(8, 5) aclnnAddRmsNormCast(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma, double epsilon,
    OUT const aclTensor *y1Out, OUT const aclTensor *y2Out, OUT const aclTensor *rstdOut, OUT const aclTensor *xOut);

/** aclnnop/aclnn_add_rms_norm_dynamic_mx_quant.h */
OP(9, 1) aclnnAddRmsNormDynamicMxQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN OPT const aclTensor *beta, double epsilon, int64_t scaleAlg, char *roundMode, int64_t dstType, bool outputRstd,
    OUT aclTensor *yOut, OUT aclTensor *xOut, OUT aclTensor *mxscaleOut, OUT aclTensor *rstdOut);

/** aclnnop/aclnn_add_rms_norm_dynamic_quant.h */
OP aclnnAddRmsNormDynamicQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN OPT const aclTensor *smoothScale1Optional, IN OPT const aclTensor *smoothScale2Optional, double epsilon,
    OUT const aclTensor *y1Out, OUT const aclTensor *y2Out, OUT const aclTensor *xOut, OUT const aclTensor *scale1Out,
    OUT const aclTensor *scale2Out);

/** aclnnop/aclnn_add_rms_norm_dynamic_quant_v2.h */
OP(8, 5) aclnnAddRmsNormDynamicQuantV2(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN OPT const aclTensor *smoothScale1Optional, IN OPT const aclTensor *smoothScale2Optional,
    IN OPT const aclTensor *betaOptional, double epsilon, OPT const aclBoolArray *outputMask, OUT aclTensor *y1Out,
    OUT aclTensor *y2Out, OUT aclTensor *xOut, OUT aclTensor *scale1Out, OUT aclTensor *scale2Out);

/** aclnnop/aclnn_add_rms_norm_quant.h */
OP aclnnAddRmsNormQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *scales1, IN OPT const aclTensor *scales2Optional, IN OPT const aclTensor *zeroPoints1Optional,
    IN OPT const aclTensor *zeroPoints2Optional, int64_t axis, double epsilon, bool divMode, OUT const aclTensor *y1Out,
    OUT const aclTensor *y2Out, OUT const aclTensor *xOut);

/** aclnnop/aclnn_add_rms_norm_quant_v2.h */
OP(8, 5) aclnnAddRmsNormQuantV2(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *scales1, IN OPT const aclTensor *scales2Optional, IN OPT const aclTensor *zeroPoints1Optional,
    IN OPT const aclTensor *zeroPoints2Optional, IN OPT const aclTensor *betaOptional, int64_t axis, double epsilon,
    bool divMode, OUT aclTensor *y1Out, OUT aclTensor *y2Out, OUT aclTensor *xOut, OUT OPT aclTensor *rmsNormOut);

/** aclnnop/aclnn_batch_norm.h level2 */
/* the running statistics change only when training */
OP aclnnBatchNorm(IN const aclTensor *input, IN OPT const aclTensor *weight, IN OPT const aclTensor *bias,
    INOUT OPT aclTensor *runningMean, INOUT OPT aclTensor *runningVar, bool training, double momentum, double eps,
    OUT aclTensor *output, OUT OPT aclTensor *saveMean, OUT OPT aclTensor *saveInvstd);

/** aclnnop/aclnn_batch_norm_backward.h level2 */
OP aclnnBatchNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input, IN OPT const aclTensor *weight,
    IN OPT const aclTensor *runningMean, IN OPT const aclTensor *runningVar, IN OPT const aclTensor *saveMean,
    IN OPT const aclTensor *saveInvstd, bool training, double eps, const aclBoolArray *outputMask,
    OUT OPT aclTensor *gradInput, OUT OPT aclTensor *gradWeight, OUT OPT aclTensor *gradBias);

/** aclnnop/aclnn_batch_norm_backward_reduce.h level2 */
OP aclnnBatchNormReduceBackward(IN const aclTensor *gradOut, IN const aclTensor *input, IN const aclTensor *mean,
    IN const aclTensor *invstd, IN OPT const aclTensor *weight, bool inputG, bool weightG, bool biasG,
    OUT OPT aclTensor *sumDy, OUT OPT aclTensor *sumDyXmu, OUT OPT aclTensor *gradWeight, OUT OPT aclTensor *gradBias);

/** aclnnop/aclnn_batch_norm_elemt.h level2 */
/* mean and invstd are given, not computed */
OP aclnnBatchNormElemt(IN const aclTensor *input, IN OPT const aclTensor *weight, IN OPT const aclTensor *bias,
    IN aclTensor *mean, IN aclTensor *invstd, double eps, OUT aclTensor *output);

/** aclnnop/aclnn_batch_norm_elemt_backward.h level2 */
OP aclnnBatchNormElemtBackward(IN const aclTensor *gradOut, IN const aclTensor *input, IN const aclTensor *mean,
    IN const aclTensor *invstd, IN OPT const aclTensor *weight, IN const aclTensor *sumDy, IN const aclTensor *sumDyXmu,
    IN aclTensor *counter, OUT aclTensor *gradInput);

/** aclnnop/aclnn_batch_norm_gather_stats_with_counts.h level2 */
OP aclnnBatchNormGatherStatsWithCounts(IN const aclTensor *input, IN const aclTensor *mean, IN const aclTensor *invstd,
    INOUT OPT aclTensor *runningMean, INOUT OPT aclTensor *runningVar, double momentum, double eps,
    IN const aclTensor *counts, OUT aclTensor *meanAll, OUT aclTensor *invstdAll);

/** aclnnop/aclnn_batch_norm_reduce.h */
OP(8, 5) aclnnBatchNormReduce(IN const aclTensor *x, OUT aclTensor *sum, OUT aclTensor *squareSum);

/** aclnnop/aclnn_batch_norm_stats.h level2 */
OP aclnnBatchNormStats(IN const aclTensor *input, double eps, OUT aclTensor *mean, OUT aclTensor *invstd);

/** aclnnop/aclnn_deep_norm.h */
OP aclnnDeepNorm(IN const aclTensor *x, IN const aclTensor *gx, IN const aclTensor *beta, IN const aclTensor *gamma,
    double alpha, double epsilon, OUT const aclTensor *meanOut, OUT const aclTensor *rstdOut,
    OUT const aclTensor *yOut);

/** aclnnop/aclnn_deep_norm_grad.h */
OP aclnnDeepNormGrad(IN const aclTensor *dy, IN const aclTensor *x, IN const aclTensor *gx, IN const aclTensor *gamma,
    IN const aclTensor *mean, IN const aclTensor *rstd, double alpha, OUT const aclTensor *dxOut,
    OUT const aclTensor *dgxOut, OUT const aclTensor *dbetaOut, OUT const aclTensor *dgammaOut);

/** aclnnop/aclnn_fast_batch_norm_backward.h */
OP(8, 5) aclnnFastBatchNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input,
    IN OPT const aclTensor *weight, IN OPT const aclTensor *runningMean, IN OPT const aclTensor *runningVar,
    IN OPT const aclTensor *saveMean, IN OPT const aclTensor *saveInvstd, bool training, double eps,
    const aclBoolArray *outputMask, int version, OUT OPT aclTensor *gradInput, OUT OPT aclTensor *gradWeight,
    OUT OPT aclTensor *gradBias);

/** aclnnop/aclnn_gemma_rms_norm.h */
OP aclnnGemmaRmsNorm(IN const aclTensor *x, IN const aclTensor *gamma, double epsilon, OUT const aclTensor *yOut,
    OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm.h level2 */
OP aclnnGroupNorm(IN const aclTensor *self, IN OPT const aclTensor *gamma, IN OPT const aclTensor *beta, int64_t N,
    int64_t C, int64_t HxW, int64_t group, double eps, OUT aclTensor *out, OUT aclTensor *meanOut,
    OUT aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm_backward.h level2 */
OP aclnnGroupNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input, IN const aclTensor *mean,
    IN const aclTensor *rstd, IN OPT const aclTensor *gamma, int64_t N, int64_t C, int64_t HxW, int64_t group,
    const aclBoolArray *outputMask, OUT OPT aclTensor *gradInput, OUT OPT aclTensor *gradGammaOut,
    OUT OPT aclTensor *gradBetaOut);

/** aclnnop/aclnn_group_norm_silu.h level2 */
OP aclnnGroupNormSilu(IN const aclTensor *self, IN OPT const aclTensor *gamma, IN OPT const aclTensor *beta,
    int64_t group, double eps, OUT aclTensor *out, OUT aclTensor *meanOut, OUT aclTensor *rstdOut);
OP aclnnGroupNormSiluV2(IN const aclTensor *self, IN OPT const aclTensor *gamma, IN OPT const aclTensor *beta,
    int64_t group, double eps, bool activateSilu, OUT aclTensor *out, OUT aclTensor *meanOut, OUT aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm_silu_quant.h */
OP(9, 0) aclnnGroupNormSiluQuant(IN const aclTensor *self, IN OPT const aclTensor *gamma, IN OPT const aclTensor *beta,
    IN const aclTensor *quantScale, int64_t group, double eps, bool activateSilu, OUT aclTensor *out,
    OUT aclTensor *meanOut, OUT aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm_swish.h */
OP aclnnGroupNormSwish(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta, int64_t numGroups,
    OPT char *dataFormatOptional, double eps, bool activateSwish, double swishScale, OUT const aclTensor *yOut,
    OUT const aclTensor *meanOut, OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm_swish_grad.h */
OP aclnnGroupNormSwishGrad(IN const aclTensor *dy, IN const aclTensor *mean, IN const aclTensor *rstd,
    IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta, int64_t numGroups,
    OPT char *dataFormatOptional, double swishScale, bool dgammaIsRequire, bool dbetaIsRequire,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut, OUT const aclTensor *dbetaOut);

/** aclnnop/aclnn_inplace_add_rms_norm.h */
OP(8, 5) aclnnInplaceAddRmsNorm(INOUT aclTensor *x1Ref, INOUT aclTensor *x2Ref, IN const aclTensor *gamma,
    double epsilon, OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_instance_norm.h level2 */
OP aclnnInstanceNorm(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta, const char *dataFormat,
    double eps, OUT aclTensor *y, OUT aclTensor *mean, OUT aclTensor *variance);

/** aclnnop/aclnn_layer_norm.h level2 */
OP aclnnLayerNorm(IN const aclTensor *input, const aclIntArray *normalizedShape, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *biasOptional, double eps, OUT aclTensor *out, OUT OPT aclTensor *meanOutOptional,
    OUT OPT aclTensor *rstdOutOptional);
OP aclnnLayerNormWithImplMode(IN const aclTensor *input, const aclIntArray *normalizedShape,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional, double eps, OUT aclTensor *out,
    OUT OPT aclTensor *meanOutOptional, OUT OPT aclTensor *rstdOutOptional, int32_t implMode);
OP(9, 0) aclnnFastLayerNorm(IN const aclTensor *input, const aclIntArray *normalizedShape,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *biasOptional, double eps, OUT aclTensor *out,
    OUT OPT aclTensor *meanOutOptional, OUT OPT aclTensor *rstdOutOptional);

/** aclnnop/aclnn_layer_norm_backward.h level2 */
OP aclnnLayerNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input, const aclIntArray *normalizedShape,
    IN const aclTensor *mean, IN const aclTensor *rstd, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *biasOptional, const aclBoolArray *outputMask, OUT OPT aclTensor *gradInputOut,
    OUT OPT aclTensor *gradWeightOut, OUT OPT aclTensor *gradBiasOut);

/** aclnnop/aclnn_layer_norm_quant.h */
OP(9, 0) aclnnLayerNormQuant(IN const aclTensor *x, IN const aclTensor *gammma, IN const aclTensor *beta,
    IN const aclTensor *scale, IN OPT const aclTensor *zeroPointsOptional, int quantMode, double epsilon,
    OUT aclTensor *res, OUT aclTensor *scaleOut);

/** aclnnop/aclnn_quantized_batch_norm.h */
OP(8, 5) aclnnQuantizedBatchNorm(IN const aclTensor *input, IN const aclTensor *mean, IN const aclTensor *var,
    const aclScalar *inputScale, const aclScalar *inputZeroPoint, const aclScalar *outputScale,
    const aclScalar *outputZeroPoint, IN OPT aclTensor *weight, IN OPT aclTensor *bias, float epsilon,
    OUT aclTensor *output);

/** aclnnop/aclnn_rms_norm.h */
OP aclnnRmsNorm(IN const aclTensor *x, IN const aclTensor *gamma, double epsilon, OUT const aclTensor *yOut,
    OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_rms_norm_dynamic_mx_quant.h */
OP(9, 1) aclnnRmsNormDynamicMxQuant(IN const aclTensor *x, IN const aclTensor *gamma, IN OPT const aclTensor *beta,
    double epsilon, int64_t scaleAlg, char *roundMode, int64_t dstType, bool outputRstd, OUT aclTensor *yOut,
    OUT aclTensor *mxscaleOut, OUT aclTensor *rstdOut);

/** aclnnop/aclnn_rms_norm_dynamic_quant.h */
OP(9, 2) aclnnRmsNormDynamicQuant(IN const aclTensor *x, IN const aclTensor *gamma,
    IN OPT const aclTensor *smoothScalesOptional, IN OPT const aclTensor *betaOptional, double epsilon, int64_t dstType,
    OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_rms_norm_grad.h */
OP aclnnRmsNormGrad(IN const aclTensor *dy, IN const aclTensor *x, IN const aclTensor *rstd, IN const aclTensor *gamma,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut);

/** aclnnop/aclnn_rms_norm_grad_quant.h */
OP(9, 1) aclnnRmsNormGradQuant(IN const aclTensor *dy, IN const aclTensor *x, IN const aclTensor *rstd,
    IN const aclTensor *gamma, IN const aclTensor *scalesX, IN OPT const aclTensor *offsetXOptional,
    const char *quantMode, bool divMode, OUT aclTensor *dxOut, OUT aclTensor *dgammaOut);

/** aclnnop/aclnn_rms_norm_quant.h */
OP(8, 5) aclnnRmsNormQuant(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta,
    IN const aclTensor *scale, IN const aclTensor *offset, double epsilon, OUT aclTensor *y);

/** aclnnop/aclnn_rms_norm_quant_v3.h */
OP(9, 1) aclnnRmsNormQuantV3(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *scale,
    IN OPT const aclTensor *offset, IN OPT const aclTensor *beta, double epsilon, bool divMode, bool outputRstd,
    OUT aclTensor *y, OUT aclTensor *rstd);

/** aclnnop/aclnn_sync_batch_norm_gather_stats.h */
OP(8, 5) aclnnSyncBatchNormGatherStats(IN const aclTensor *totalSum, IN const aclTensor *totalSquareSum,
    IN const aclTensor *sampleCount, IN aclTensor *mean, IN aclTensor *variance, float momentum, float eps,
    OUT aclTensor *batchMean, OUT aclTensor *batchInvstd);
