/* Convolution, pooling, resampling and image operators. */

/** aclnnop/aclnn_adaptive_avg_pool2d.h level2 */
OP aclnnAdaptiveAvgPool2d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_adaptive_avg_pool3d.h level2 */
OP aclnnAdaptiveAvgPool3d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_adaptive_max_pool2d.h level2 */
OP aclnnAdaptiveMaxPool2d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *outputOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_adaptive_max_pool3d.h level2 */
OP aclnnAdaptiveMaxPool3d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *outputOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_affine_grid.h level2 */
OP aclnnAffineGrid(IN const aclTensor *theta, const aclIntArray *size, bool alignCorners, OUT aclTensor *out);

/** aclnnop/aclnn_avgpool2d.h level2 */
OP aclnnAvgPool2d(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *strides,
    const aclIntArray *paddings, bool ceilMode, bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType,
    OUT aclTensor *out);

/** aclnnop/aclnn_avgpool3d.h level2 */
OP aclnnAvgPool3d(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride, OUT aclTensor *out);

/** aclnnop/aclnn_background_replace.h */
OP aclnnBackgroundReplace(IN const aclTensor *bkg, IN const aclTensor *src, IN const aclTensor *mask,
    OUT const aclTensor *out);

/** aclnnop/aclnn_blend_images_custom.h */
OP aclnnBlendImagesCustom(IN const aclTensor *rgb, IN const aclTensor *alpha, IN const aclTensor *frame,
    OUT const aclTensor *out);

/** aclnnop/aclnn_causal_conv1d_fn.h */
OP(9, 2) aclnnCausalConv1dFn(IN const aclTensor *x, IN const aclTensor *weight, INOUT aclTensor *convStatesRef,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *queryStartLocOptional,
    IN OPT const aclTensor *cacheIndicesOptional, IN OPT const aclTensor *initialStateModeOptional,
    IN OPT const aclTensor *blockIdxFirstScheduledTokenOptional,
    IN OPT const aclTensor *blockIdxLastScheduledTokenOptional, IN OPT const aclTensor *initialStateIdxOptional,
    IN OPT const aclTensor *numComputedTokensOptional, const char *activation, int64_t nullBlockId,
    int64_t blockSizeToAlign, OUT aclTensor *y);

/** aclnnop/aclnn_causal_conv1d_update.h */
OP(9, 2) aclnnCausalConv1dUpdate(IN const aclTensor *x, IN const aclTensor *weight, INOUT aclTensor *convStatesRef,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *queryStartLocOptional,
    IN OPT const aclTensor *cacheIndicesOptional, IN OPT const aclTensor *numAcceptedTokensOptional,
    IN OPT const aclTensor *blockIdxLastScheduledTokenOptional, IN OPT const aclTensor *initialStateIdxOptional,
    const char *activation, int64_t nullBlockId, int64_t maxQueryLen, OUT aclTensor *y);

/** aclnnop/aclnn_channel_shuffle.h level2 */
OP aclnnChannelShuffle(IN const aclTensor *self, int64_t groups, OUT aclTensor *out);

/** aclnnop/aclnn_ciou.h */
OP(9, 0) aclnnCIoU(IN const aclTensor *bBoxes, IN const aclTensor *gtBoxes, bool trans, bool isCross, const char *mode,
    OUT aclTensor *overlap, OUT aclTensor *atanSub);

/** aclnnop/aclnn_convolution.h level2 */
OP aclnnConvolution(IN const aclTensor *input, IN const aclTensor *weight, IN OPT const aclTensor *bias,
    const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
    const aclIntArray *outputPadding, int64_t groups, OUT aclTensor *output, int8_t cubeMathType);
OP aclnnConvTbc(IN const aclTensor *self, IN const aclTensor *weight, IN const aclTensor *bias, int64_t pad,
    OUT aclTensor *output, int8_t cubeMathType);
OP aclnnConvDepthwise2d(IN const aclTensor *self, IN const aclTensor *weight, const aclIntArray *kernelSize,
    IN OPT const aclTensor *bias, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
    OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_convolution_backward.h level2 */
OP aclnnConvolutionBackward(IN const aclTensor *gradOutput, IN const aclTensor *input, IN const aclTensor *weight,
    OPT const aclIntArray *biasSizes, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int groups,
    const aclBoolArray *outputMask, int8_t cubeMathType, OUT OPT aclTensor *gradInput, OUT OPT aclTensor *gradWeight,
    OUT OPT aclTensor *gradBias);
OP aclnnConvTbcBackward(IN const aclTensor *self, IN const aclTensor *input, IN const aclTensor *weight,
    IN const aclTensor *bias, int64_t pad, int8_t cubeMathType, OUT aclTensor *gradInput, OUT aclTensor *gradWeight,
    OUT aclTensor *gradBias);
OP(9, 1) aclnnDeformableConv2dBackward(IN const aclTensor *input, IN const aclTensor *gradOutput,
    IN const aclTensor *offsetOut, IN const aclTensor *weight, IN const aclTensor *offset,
    const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
    int64_t groups, int64_t deformableGroups, bool modulated, OUT aclTensor *gradInput, OUT aclTensor *gradWeight,
    OUT aclTensor *gradOffset, OUT aclTensor *gradBias);

/** aclnnop/aclnn_deformable_conv2d.h */
OP(8, 5) aclnnDeformableConv2d(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *offset,
    IN OPT const aclTensor *biasOptional, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, int64_t groups, int64_t deformableGroups, bool modulated,
    OUT aclTensor *out, OUT OPT aclTensor *deformOutOptional);

/** aclnnop/aclnn_fused_causal_conv1d.h */
OP(9, 1) aclnnFusedCausalConv1d(IN const aclTensor *x, IN const aclTensor *weight, INOUT aclTensor *convStates,
    IN OPT const aclTensor *queryStartLoc, IN OPT const aclTensor *cacheIndices,
    IN OPT const aclTensor *initialStateMode, IN OPT const aclTensor *bias, IN OPT const aclTensor *numAcceptedTokens,
    IN OPT const aclTensor *numComputedTokens, IN OPT const aclTensor *blockIdxFirstScheduledToken,
    IN OPT const aclTensor *blockIdxLastScheduledToken, IN OPT const aclTensor *initialStateIdx, int64_t activationMode,
    int64_t padSlotId, int64_t runMode, int64_t maxQueryLen, int64_t residualConnection, int64_t blockSize,
    int64_t convMode, OUT aclTensor *y);

/** aclnnop/aclnn_global_average_pool.h level2 */
OP aclnnGlobalAveragePool(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_global_max_pool.h level2 */
OP aclnnGlobalMaxPool(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_grid_sampler2d.h level2 */
OP aclnnGridSampler2D(IN const aclTensor *input, IN const aclTensor *grid, int64_t interpolationMode,
    int64_t paddingMode, bool alignCorners, OUT aclTensor *out);

/** aclnnop/aclnn_grid_sampler2d_backward.h level2 */
OP aclnnGridSampler2DBackward(IN const aclTensor *gradOutput, IN const aclTensor *input, IN const aclTensor *grid,
    int64_t interpolationMode, int64_t paddingMode, bool alignCorners, const aclBoolArray *outputMask,
    OUT aclTensor *inputGrad, OUT aclTensor *gridGrad);

/** aclnnop/aclnn_grid_sampler3d.h level2 */
OP aclnnGridSampler3D(IN const aclTensor *input, IN const aclTensor *grid, int64_t interpolationMode,
    int64_t paddingMode, bool alignCorners, OUT aclTensor *out);

/** aclnnop/aclnn_grid_sampler3d_backward.h level2 */
OP aclnnGridSampler3DBackward(IN const aclTensor *gradOutput, IN const aclTensor *input, IN const aclTensor *grid,
    int64_t interpolationMode, int64_t paddingMode, bool alignCorners, const aclBoolArray *outputMask,
    OUT aclTensor *inputGrad, OUT aclTensor *gridGrad);

/** aclnnop/aclnn_im2col.h level2 */
OP aclnnIm2col(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *dilation,
    const aclIntArray *padding, const aclIntArray *stride, OUT const aclTensor *out);

/** aclnnop/aclnn_im2col_backward.h level2 */
OP aclnnIm2colBackward(IN const aclTensor *gradOutput, const aclIntArray *inputSize, const aclIntArray *kernelSize,
    const aclIntArray *dilation, const aclIntArray *padding, const aclIntArray *stride, OUT aclTensor *out);

/** aclnnop/aclnn_inplace_fused_causal_conv1d.h */
OP(9, 1) aclnnInplaceFusedCausalConv1d(INOUT aclTensor *x, IN const aclTensor *weight, INOUT aclTensor *convStates,
    IN OPT const aclTensor *queryStartLoc, IN OPT const aclTensor *cacheIndices,
    IN OPT const aclTensor *initialStateMode, IN OPT const aclTensor *bias, IN OPT const aclTensor *numAcceptedTokens,
    IN OPT const aclTensor *numComputedTokens, IN OPT const aclTensor *blockIdxFirstScheduledToken,
    IN OPT const aclTensor *blockIdxLastScheduledToken, IN OPT const aclTensor *initialStateIdx, int64_t activationMode,
    int64_t padSlotId, int64_t runMode, int64_t maxQueryLen, int64_t residualConnection, int64_t blockSize,
    int64_t convMode);

/** aclnnop/aclnn_masked_causal_conv1d.h */
OP(9, 1) aclnnMaskedCausalConv1d(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *maskOptional, OUT const aclTensor *out);

/** aclnnop/aclnn_masked_causal_conv1d_backward.h */
OP(9, 1) aclnnMaskedCausalConv1dBackward(IN const aclTensor *gradY, IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *maskOptional, OUT const aclTensor *gradXOut, OUT const aclTensor *gradWeightOut);

/** aclnnop/aclnn_max_pool.h level2 */
OP aclnnMaxPool(IN const aclTensor *self, const aclIntArray *kernelShape, const aclIntArray *strides, int64_t autoPad,
    const aclIntArray *pads, const aclIntArray *dilations, int64_t ceilMode, OUT aclTensor *out);

/** aclnnop/aclnn_max_pool2d_with_indices.h level2 */
OP aclnnMaxPool2dWithMask(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, OUT aclTensor *out, OUT aclTensor *indices);
OP aclnnMaxPool2dWithIndices(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, OUT aclTensor *out, OUT aclTensor *indices);

/** aclnnop/aclnn_max_pool3d_with_argmax.h level2 */
OP aclnnMaxPool3dWithArgmax(IN const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, OUT aclTensor *out, OUT aclTensor *indices);

/** aclnnop/aclnn_max_unpool2d.h level2 */
OP aclnnMaxUnpool2d(IN const aclTensor *self, IN const aclTensor *indices, const aclIntArray *outputSize,
    OUT aclTensor *out);

/** aclnnop/aclnn_max_unpool3d.h level2 */
/* outRef is zeroed before the values are placed, so nothing of it is read */
OP aclnnMaxUnpool3d(IN const aclTensor *self, IN const aclTensor *indices, const aclIntArray *outputSize,
    const aclIntArray *stride, const aclIntArray *padding, OUT aclTensor *outRef);

/** aclnnop/aclnn_mrgba_custom.h */
OP aclnnMrgbaCustom(IN const aclTensor *rgb, IN const aclTensor *alpha, OUT const aclTensor *out);

/** aclnnop/aclnn_non_max_suppression.h level2 */
OP aclnnNonMaxSuppression(IN const aclTensor *boxes, IN const aclTensor *scores, aclIntArray *maxOutputBoxesPerClass,
    aclFloatArray *iouThreshold, aclFloatArray *scoreThreshold, int32_t centerPointBox, OUT aclTensor *selectedIndices);

/** aclnnop/aclnn_quant_convolution.h */
OP(8, 5) aclnnQuantConvolution(IN const aclTensor *input, IN const aclTensor *weight, IN const aclTensor *bias,
    IN const aclTensor *scale, IN const aclTensor *offset, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int64_t groups, int32_t offsetx,
    const char *roundMode, OUT aclTensor *output);
OP(9, 0) aclnnQuantConvolutionWeightNz(IN const aclTensor *input, IN const aclTensor *weight, IN const aclTensor *bias,
    IN const aclTensor *scale, IN const aclTensor *offset, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int64_t groups, int32_t offsetx,
    const char *roundMode, OUT aclTensor *output);

/** aclnnop/aclnn_rasterizer.h */
OP(9, 0) aclnnRasterizer(IN const aclTensor *v, IN const aclTensor *f, IN OPT const aclTensor *dOptional, int64_t width,
    int64_t height, double occlusionTruncation, int64_t useDepthPrior, OUT const aclTensor *findicesOut,
    OUT const aclTensor *barycentricOut);

/** aclnnop/aclnn_resize.h level2 */
OP aclnnResize(IN const aclTensor *self, const aclFloatArray *scales, const char *mode, OUT aclTensor *out);

/** aclnnop/aclnn_roi_align.h level2 */
OP aclnnRoiAlign(IN const aclTensor *self, IN const aclTensor *rois, IN const aclTensor *batchIndices, const char *mode,
    int outputHeight, int outputWidth, int samplingRatio, float spatialScale, OUT aclTensor *out);

/** aclnnop/aclnn_roi_align_v2.h */
OP aclnnRoiAlignV2(IN const aclTensor *self, IN const aclTensor *boxes, int64_t pooledHeight, int64_t pooledWidth,
    float spatialScale, int64_t samplingRatio, bool aligned, OUT aclTensor *out);

/** aclnnop/aclnn_roi_align_v2_backward.h */
OP aclnnRoiAlignV2Backward(IN const aclTensor *gradOutput, IN const aclTensor *boxes, const aclIntArray *inputShape,
    int64_t pooledHeight, int64_t pooledWidth, float spatialScale, int64_t samplingRatio, bool aligned,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_roi_pooling_grad_with_arg_max.h */
OP(9, 0) aclnnRoiPoolingGradWithArgMax(IN const aclTensor *gradOutput, INOUT const aclTensor *gradInputRef,
    IN const aclTensor *rois, IN const aclTensor *argmax, int64_t pooledH, int64_t pooledW, double spatialScale);

/** aclnnop/aclnn_roi_pooling_with_arg_max.h */
OP(9, 0) aclnnRoiPoolingWithArgMax(IN const aclTensor *x, IN const aclTensor *rois, int64_t pooled_h, int64_t pooled_w,
    float spatial_scale_h, float spatial_scale_w, OUT aclTensor *y, OUT aclTensor *argmax);

/** aclnnop/aclnn_three_interpolate_backward.h */
OP(8, 5) aclnnThreeInterpolateBackward(IN const aclTensor *grad_x, IN const aclTensor *idx, IN const aclTensor *weight,
    int m, OUT aclTensor *grad_y);

/** aclnnop/aclnn_trans_convolution_weight.h */
HELPER aclnnCalculateConvolutionWeightSize(const aclIntArray *tensorShape, bool transposed, int64_t groups,
    aclDataType dataType, uint64_t *weightTensorSize);
OP aclnnTransConvolutionWeight(IN const aclTensor *weightIn, bool transposed, int64_t groups, OUT aclTensor *weightOut);

/** aclnnop/aclnn_upsample_bicubic2d_aa.h level2 */
OP aclnnUpsampleBicubic2dAA(IN const aclTensor *x, const aclIntArray *outputSize, bool alignCorners, double scalesH,
    double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bicubic2d_aa_grad.h level2 */
OP aclnnUpsampleBicubic2dAAGrad(IN const aclTensor *gradOutput, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bicubic_2d.h level2 */
OP aclnnUpsampleBicubic2d(IN const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesH,
    double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bicubic_2d_backward.h level2 */
OP aclnnUpsampleBicubic2dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, OUT aclTensor *gradInput);

/** aclnnop/aclnn_upsample_bilinear2d_aa.h level2 */
OP aclnnUpsampleBilinear2dAA(IN const aclTensor *input, const aclIntArray *outputSize, bool alignCorners,
    double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bilinear2d_aa_backward.h level2 */
OP aclnnUpsampleBilinear2dAABackward(IN const aclTensor *gradOutput, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bilinear_2d.h level2 */
OP aclnnUpsampleBilinear2d(IN const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesH,
    double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bilinear_2d_backward.h level2 */
OP aclnnUpsampleBilinear2dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_bilinear_2d_backward_v2.h */
OP aclnnUpsampleBilinear2dBackwardV2(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_linear_1d.h level2 */
OP aclnnUpsampleLinear1d(IN const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scales,
    OUT aclTensor *out);

/** aclnnop/aclnn_upsample_linear_1d_backward.h level2 */
OP aclnnUpsampleLinear1dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scales, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_1d.h level2 */
OP aclnnUpsampleNearest1d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_1d_backward.h level2 */
OP aclnnUpsampleNearest1dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scales, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_1d_v2.h */
OP aclnnUpsampleNearest1dV2(IN const aclTensor *self, const aclIntArray *outputSize, float scaleL, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_2d.h level2 */
OP aclnnUpsampleNearest2d(IN const aclTensor *self, const aclIntArray *outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_2d_backward.h level2 */
OP aclnnUpsampleNearest2dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scalesH, double scalesW, OUT aclTensor *gradInput);

/** aclnnop/aclnn_upsample_nearest_2d_v2.h */
OP aclnnUpsampleNearest2dV2(IN const aclTensor *self, const aclIntArray *outputSize, float scalesH, float scalesW,
    OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_3d.h level2 */
OP aclnnUpsampleNearest3d(IN const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH,
    double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_3d_backward.h level2 */
OP aclnnUpsampleNearest3dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scalesD, double scalesH, double scalesW, OUT aclTensor *gradInput);

/** aclnnop/aclnn_upsample_nearest_exact1d.h */
OP aclnnUpsampleNearestExact1d(IN const aclTensor *self, const aclIntArray *outputSize, double scales,
    OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_exact1d_backward.h */
OP aclnnUpsampleNearestExact1dBackward(IN const aclTensor *gradOutput, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scales, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_exact2d.h */
OP aclnnUpsampleNearestExact2d(IN const aclTensor *self, const aclIntArray *outputSize, double scalesH, double scalesW,
    OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_exact2d_backward.h */
OP aclnnUpsampleNearestExact2dBackward(IN const aclTensor *gradOutput, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_exact3d.h */
OP aclnnUpsampleNearestExact3d(IN const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH,
    double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_nearest_exact3d_backward.h */
OP aclnnUpsampleNearestExact3dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, double scalesD, double scalesH, double scalesW, OUT aclTensor *gradInput);

/** aclnnop/aclnn_upsample_trilinear_3d.h level2 */
OP aclnnUpsampleTrilinear3d(IN const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesD,
    double scalesH, double scalesW, OUT aclTensor *out);

/** aclnnop/aclnn_upsample_trilinear_3d_backward.h level2 */
OP aclnnUpsampleTrilinear3dBackward(IN const aclTensor *gradOut, const aclIntArray *outputSize,
    const aclIntArray *inputSize, bool alignCorners, double scalesD, double scalesH, double scalesW,
    OUT aclTensor *gradInput);

/** aclnnop/level2/aclnn_iou.h */
OP aclnnIou(IN const aclTensor *bBoxes, IN const aclTensor *gtBoxes, const char *mode, float eps, bool aligned,
    OUT aclTensor *overlap);
