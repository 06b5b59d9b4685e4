/* Normalization layers and their gradients. */

/** aclnnop/aclnn_add_layer_norm.h */
OP aclnnAddLayerNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *beta, IN OPT const aclTensor *biasOptional, double epsilon, bool additionalOutput,
    OUT const aclTensor *yOut, OUT const aclTensor *meanOut, OUT const aclTensor *rstdOut, OUT const aclTensor *xOut);

/** aclnnop/aclnn_add_layer_norm_grad.h */
OP aclnnAddLayerNormGrad(IN const aclTensor *dy, IN const aclTensor *x1, IN const aclTensor *x2,
    IN const aclTensor *rstd, IN const aclTensor *mean, IN const aclTensor *gamma, IN OPT const aclTensor *dsumOptional,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut, OUT const aclTensor *dbetaOut);

/** aclnnop/aclnn_add_rms_norm.h */
OP aclnnAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma, double epsilon,
    OUT const aclTensor *yOut, OUT const aclTensor *rstdOut, OUT const aclTensor *xOut);

/** aclnnop/aclnn_add_rms_norm_dynamic_quant.h */
OP aclnnAddRmsNormDynamicQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN OPT const aclTensor *smoothScale1Optional, IN OPT const aclTensor *smoothScale2Optional, double epsilon,
    OUT const aclTensor *y1Out, OUT const aclTensor *y2Out, OUT const aclTensor *xOut, OUT const aclTensor *scale1Out,
    OUT const aclTensor *scale2Out);

/** aclnnop/aclnn_add_rms_norm_quant.h */
OP aclnnAddRmsNormQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *gamma,
    IN const aclTensor *scales1, IN OPT const aclTensor *scales2Optional, IN OPT const aclTensor *zeroPoints1Optional,
    IN OPT const aclTensor *zeroPoints2Optional, int64_t axis, double epsilon, bool divMode, OUT const aclTensor *y1Out,
    OUT const aclTensor *y2Out, OUT const aclTensor *xOut);

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

/** aclnnop/aclnn_group_norm_swish.h */
OP aclnnGroupNormSwish(IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta, int64_t numGroups,
    OPT char *dataFormatOptional, double eps, bool activateSwish, double swishScale, OUT const aclTensor *yOut,
    OUT const aclTensor *meanOut, OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_group_norm_swish_grad.h */
OP aclnnGroupNormSwishGrad(IN const aclTensor *dy, IN const aclTensor *mean, IN const aclTensor *rstd,
    IN const aclTensor *x, IN const aclTensor *gamma, IN const aclTensor *beta, int64_t numGroups,
    OPT char *dataFormatOptional, double swishScale, bool dgammaIsRequire, bool dbetaIsRequire,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut, OUT const aclTensor *dbetaOut);

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

/** aclnnop/aclnn_layer_norm_backward.h level2 */
OP aclnnLayerNormBackward(IN const aclTensor *gradOut, IN const aclTensor *input, const aclIntArray *normalizedShape,
    IN const aclTensor *mean, IN const aclTensor *rstd, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *biasOptional, const aclBoolArray *outputMask, OUT OPT aclTensor *gradInputOut,
    OUT OPT aclTensor *gradWeightOut, OUT OPT aclTensor *gradBiasOut);

/** aclnnop/aclnn_rms_norm.h */
OP aclnnRmsNorm(IN const aclTensor *x, IN const aclTensor *gamma, double epsilon, OUT const aclTensor *yOut,
    OUT const aclTensor *rstdOut);

/** aclnnop/aclnn_rms_norm_grad.h */
OP aclnnRmsNormGrad(IN const aclTensor *dy, IN const aclTensor *x, IN const aclTensor *rstd, IN const aclTensor *gamma,
    OUT const aclTensor *dxOut, OUT const aclTensor *dgammaOut);
