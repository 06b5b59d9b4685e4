/* Gradients of activations, losses and pools. */

/** aclnnop/aclnn_adaptive_avg_pool2d_backward.h level2 */
OP aclnnAdaptiveAvgPool2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_adaptive_avg_pool3d_backward.h level2 */
OP aclnnAdaptiveAvgPool3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_adaptive_max_pool2d_backward.h */
OP(8, 5) aclnnAdaptiveMaxPool2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self,
    IN const aclTensor *indices, OUT aclTensor *gradInput);

/** aclnnop/aclnn_adaptive_max_pool3d_backward.h level2 */
OP aclnnAdaptiveMaxPool3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *indices,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_avgpool2d_backward.h */
OP aclnnAvgPool2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *kernelSize,
    const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
    int8_t cubeMathType, OUT aclTensor *gradInput);

/** aclnnop/aclnn_avgpool3d_backward.h level2 */
OP aclnnAvgPool3dBackward(IN const aclTensor *gradOuput, IN const aclTensor *self, const aclIntArray *kernelSize,
    const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
    OUT aclTensor *output);

/** aclnnop/aclnn_binary_cross_entropy_backward.h level2 */
OP aclnnBinaryCrossEntropyBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    IN OPT const aclTensor *weightOptional, int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_binary_cross_entropy_with_logits_backward.h level2 */
OP aclnnBinaryCrossEntropyWithLogitsBackward(IN const aclTensor *gradOutput, IN const aclTensor *self,
    IN const aclTensor *target, IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *posWeightOptional,
    int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_binary_cross_entropy_with_logits_target_backward.h level2 */
OP aclnnBinaryCrossEntropyWithLogitsTargetBackward(IN const aclTensor *gradOutput, IN const aclTensor *self,
    IN const aclTensor *target, IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *posWeightOptional,
    int64_t reduction, OUT aclTensor *gradTarget);

/** aclnnop/aclnn_cdist_backward.h */
OP(9, 0) aclnnCdistBackward(IN const aclTensor *grad, IN const aclTensor *x1, IN const aclTensor *x2,
    IN const aclTensor *cdist, float p, OUT aclTensor *out);

/** aclnnop/aclnn_chamfer_distance_backward.h level2 */
OP aclnnChamferDistanceBackward(IN const aclTensor *xyz1, IN const aclTensor *xyz2, IN const aclTensor *idx1,
    IN const aclTensor *idx2, IN const aclTensor *gradDist1, IN const aclTensor *gradDist2, OUT aclTensor *gradXyz1,
    OUT aclTensor *gradXyz2);

/** aclnnop/aclnn_clipped_swiglu_grad.h */
OP(9, 2) aclnnClippedSwigluGrad(IN const aclTensor *gradY, IN const aclTensor *x,
    IN OPT const aclTensor *groupIndexOptional, int64_t dim, double alpha, double limit, double bias, bool interleaved,
    OUT const aclTensor *gradXOut);

/** aclnnop/aclnn_cross_entropy_loss_grad.h */
OP aclnnCrossEntropyLossGrad(IN const aclTensor *gradLoss, IN const aclTensor *logProb, IN const aclTensor *target,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *gradZlossOptional,
    IN OPT const aclTensor *lseForZlossOptional, OPT char *reductionOptional, int64_t ignoreIndex,
    double labelSmoothing, double lseSquareScaleForZloss, OUT const aclTensor *out);

/** aclnnop/aclnn_ctc_loss_backward.h level2 */
OP aclnnCtcLossBackward(IN const aclTensor *gradOut, IN const aclTensor *logProbs, IN const aclTensor *targets,
    const aclIntArray *inputLengths, const aclIntArray *targetLengths, IN const aclTensor *negLogLikelihood,
    IN const aclTensor *logAlpha, int64_t blank, bool zeroInfinity, OUT aclTensor *out);

/** aclnnop/aclnn_elu_backward.h level2 */
OP aclnnEluBackward(IN const aclTensor *gradOutput, const aclScalar *alpha, const aclScalar *scale,
    const aclScalar *inputScale, bool isResult, IN const aclTensor *selfOrResult, OUT aclTensor *gradInput);

/** aclnnop/aclnn_exp_segsum_backward.h */
OP(8, 5) aclnnExpSegsumBackward(IN const aclTensor *gradOutput, IN const aclTensor *gradSelf, OUT aclTensor *gradInput);

/** aclnnop/aclnn_fast_gelu_backward.h */
OP(8, 5) aclnnFastGeluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *gradInput);

/** aclnnop/aclnn_geglu_backward.h level2 */
OP aclnnGeGluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *gelu, int64_t dim,
    int64_t approximate, OUT aclTensor *gradInput);
OP aclnnGeGluV3Backward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *gelu, int64_t dim,
    int64_t approximate, bool activateLeft, OUT aclTensor *gradInput);

/** aclnnop/aclnn_gelu_backward.h level2 */
OP aclnnGeluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT const aclTensor *gradInput);

/** aclnnop/aclnn_gelu_backward_v2.h */
OP aclnnGeluBackwardV2(IN const aclTensor *gradOutput, IN const aclTensor *self, char *approximate,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_glu_backward.h */
OP aclnnGluBackward(IN const aclTensor *gradOut, IN const aclTensor *self, int64_t dim, OUT const aclTensor *out);

/** aclnnop/aclnn_hardshrink_backward.h */
OP aclnnHardshrinkBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *lambd,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_hardsigmoid_backward.h level2 */
OP aclnnHardsigmoidBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_hardswish_backward.h level2 */
OP aclnnHardswishBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_hardtanh_backward.h level2 */
OP aclnnHardtanhBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *min,
    const aclScalar *max, OUT aclTensor *out);

/** aclnnop/aclnn_kl_div_backward.h level2 */
OP aclnnKlDivBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, bool logTarget, OUT aclTensor *out);

/** aclnnop/aclnn_kl_div_target_backward.h */
OP(9, 0) aclnnKlDivTargetBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, bool logTarget, OUT aclTensor *gradTarget);

/** aclnnop/aclnn_l1_loss_backward.h */
OP aclnnL1LossBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, OUT aclTensor *gradInput);

/** aclnnop/aclnn_leaky_relu_backward.h level2 */
OP aclnnLeakyReluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *negativeSlope,
    bool selfIsResult, OUT aclTensor *out);

/** aclnnop/aclnn_logit_grad.h */
OP aclnnLogitGrad(IN const aclTensor *x, IN const aclTensor *dy, double eps, OUT const aclTensor *out);

/** aclnnop/aclnn_logsigmoid_backward.h */
OP aclnnLogSigmoidBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *buffer,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_max_pool2d_with_indices_backward.h level2 */
OP aclnnMaxPool2dWithMaskBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *indices,
    const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
    bool ceilMode, OUT aclTensor *gradInput);
OP aclnnMaxPool2dWithIndicesBackward(IN const aclTensor *gradOutput, IN const aclTensor *self,
    IN const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool ceilMode, OUT aclTensor *gradInput);

/** aclnnop/aclnn_max_pool3d_with_argmax_backward.h level2 */
OP aclnnMaxPool3dWithArgmaxBackward(IN const aclTensor *gradOutput, IN const aclTensor *self,
    IN const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool ceilMode, OUT aclTensor *gradInput);

/** aclnnop/aclnn_max_unpool2d_backward.h level2 */
OP aclnnMaxUnpool2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *indices,
    const aclIntArray *outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_max_unpool3d_backward.h level2 */
OP aclnnMaxUnpool3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *indices,
    const aclIntArray *outputSize, const aclIntArray *stride, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_mish_backward.h level2 */
OP aclnnMishBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *gradInput);

/** aclnnop/aclnn_modulate_backward.h */
OP(8, 5) aclnnModulateBackward(IN const aclTensor *grad_output, IN const aclTensor *input,
    IN OPT const aclTensor *scale, IN OPT const aclTensor *shift, OUT const aclTensor *grad_input,
    OUT const aclTensor *grad_scale, OUT const aclTensor *grad_shift);

/** aclnnop/aclnn_mse_loss_backward.h level2 */
OP aclnnMseLossBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_nll_loss2d_backward.h level2 */
/* totalWeight comes from the forward pass */
OP aclnnNLLLoss2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    IN const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, IN aclTensor *totalWeight, OUT aclTensor *out);

/** aclnnop/aclnn_nll_loss_backward.h level2 */
OP aclnnNLLLossBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    IN const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, IN const aclTensor *totalWeight,
    OUT aclTensor *out);

/** aclnnop/aclnn_prelu_backward.h level2 */
OP aclnnPreluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *weight,
    OUT aclTensor *gradInput, OUT aclTensor *gradWeight);

/** aclnnop/aclnn_repeat_interleave_grad.h */
OP(8, 5) aclnnRepeatInterleaveGrad(IN const aclTensor *yGrad, IN const aclTensor *repeats, int64_t axis,
    OUT const aclTensor *out);

/** aclnnop/aclnn_selu_backward.h level2 */
OP aclnnSeluBackward(IN const aclTensor *gradOutput, IN const aclTensor *result, OUT aclTensor *gradInput);

/** aclnnop/aclnn_sigmoid_backward.h level2 */
OP aclnnSigmoidBackward(IN const aclTensor *gradOutput, IN const aclTensor *output, OUT aclTensor *gradInput);

/** aclnnop/aclnn_silu_backward.h */
OP aclnnSiluBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *gradInput);

/** aclnnop/aclnn_situ_glu_grad.h */
OP(9, 2) aclnnSituGluGrad(IN const aclTensor *gradY, IN const aclTensor *x, int64_t dim, double beta, double linearBeta,
    bool activateLeft, OUT const aclTensor *out);

/** aclnnop/aclnn_smooth_l1_loss_backward.h level2 */
OP aclnnSmoothL1LossBackward(IN const aclTensor *gradOut, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, float beta, OUT aclTensor *gradInput);

/** aclnnop/aclnn_soft_margin_loss_backward.h level2 */
OP aclnnSoftMarginLossBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, IN const aclTensor *target,
    int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_softplus_backward.h level2 */
OP aclnnSoftplusBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *beta,
    const aclScalar *threshold, OUT aclTensor *gradInput);

/** aclnnop/aclnn_softshrink_backward.h */
OP aclnnSoftshrinkBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *lambda,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_swi_glu_grad.h */
OP aclnnSwiGluGrad(IN const aclTensor *yGrad, IN const aclTensor *x, int64_t dim, OUT const aclTensor *out);

/** aclnnop/aclnn_swiglu_group_grad.h */
OP(9, 2) aclnnSwigluGroupGrad(IN const aclTensor *gradY, IN const aclTensor *x, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *yOriginOptional, IN OPT const aclTensor *groupIndexOptional, float clampLimit,
    OUT aclTensor *gradXOut, OUT OPT aclTensor *gradWeightOutOptional);

/** aclnnop/aclnn_swish_backward.h */
OP aclnnSwishBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, OPT const aclScalar *betaOptional,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_tanh_backward.h level2 */
OP aclnnTanhBackward(IN const aclTensor *gradOutput, IN const aclTensor *output, OUT aclTensor *gradInput);

/** aclnnop/aclnn_threshold_backward.h level2 */
OP aclnnThresholdBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclScalar *threshold,
    OUT aclTensor *out);

/** aclnnop/aclnn_unfold_grad.h */
OP(8, 5) aclnnUnfoldGrad(IN const aclTensor *gradOut, const aclIntArray *inputSizes, int64_t dim, int64_t size,
    int64_t step, OUT const aclTensor *gradIn);
