/* Quantization, dequantization and the activations fused with them. */

/** aclnnop/aclnn_anti_mx_quant.h */
OP(9, 1) aclnnAntiMxQuant(IN const aclTensor *x, IN const aclTensor *mxscale, int64_t axis, int64_t dstType,
    OUT const aclTensor *y);

/** aclnnop/aclnn_ascend_anti_quant.h level2 */
OP aclnnAscendAntiQuant(IN const aclTensor *x, IN const aclTensor *scale, IN OPT const aclTensor *offset,
    int64_t dstType, bool sqrtMode, OUT const aclTensor *y);

/** aclnnop/aclnn_ascend_quant.h level2 */
OP aclnnAscendQuant(IN const aclTensor *x, IN const aclTensor *scale, IN OPT const aclTensor *offset, bool sqrtMode,
    const char *roundMode, int32_t dstType, OUT const aclTensor *y);

/** aclnnop/aclnn_ascend_quant_v3.h level2 */
OP aclnnAscendQuantV3(IN const aclTensor *x, IN const aclTensor *scale, IN OPT const aclTensor *offset, bool sqrtMode,
    const char *roundMode, int32_t dstType, int32_t axis, OUT const aclTensor *y);

/** aclnnop/aclnn_dequant_bias.h */
OP aclnnDequantBias(IN const aclTensor *x, IN const aclTensor *weightScale,
    IN OPT const aclTensor *activateScaleOptional, IN OPT const aclTensor *biasOptional, int64_t outputDtype,
    OUT const aclTensor *out);

/** aclnnop/aclnn_dequant_situ_quant.h */
OP(9, 2) aclnnDequantSituQuant(IN const aclTensor *x, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *quantScaleOptional, IN OPT const aclTensor *quantOffsetOptional,
    IN OPT const aclTensor *groupIndexOptional, float beta, float linearBeta, bool activateLeft,
    OPT char *quantTypeOptional, OUT const aclTensor *yOut, OUT const aclTensor *yScaleOut);

/** aclnnop/aclnn_dequant_swiglu_quant.h */
OP aclnnDequantSwigluQuant(IN const aclTensor *x, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *quantScaleOptional, IN OPT const aclTensor *quantOffsetOptional,
    IN OPT const aclTensor *groupIndexOptional, bool activateLeft, OPT char *quantModeOptional,
    OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dequant_swiglu_quant_v2.h */
OP(9, 0) aclnnDequantSwigluQuantV2(IN const aclTensor *x, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *quantScaleOptional, IN OPT const aclTensor *quantOffsetOptional,
    IN OPT const aclTensor *groupIndexOptional, bool activateLeft, OPT char *quantModeOptional, int64_t dstType,
    OPT char *roundModeOptional, int64_t activateDim, int64_t swigluMode, double clampLimit, double gluAlpha,
    double gluBias, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_block_mx_quant.h */
OP(9, 1) aclnnDynamicBlockMxQuant(IN const aclTensor *x, OPT char *roundModeOptional, int64_t dstType, int64_t scaleAlg,
    double dstTypeMax, OUT const aclTensor *yOut, OUT const aclTensor *scale1Out, OUT const aclTensor *scale2Out);

/** aclnnop/aclnn_dynamic_block_quant.h */
OP(8, 5) aclnnDynamicBlockQuant(IN const aclTensor *x, double minScale, OPT char *roundModeOptional, int64_t dstType,
    int64_t rowBlockSize, int64_t colBlockSize, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_block_quant_v2.h */
OP(9, 1) aclnnDynamicBlockQuantV2(IN const aclTensor *x, double minScale, OPT char *roundModeOptional, int64_t dstType,
    int64_t rowBlockSize, int64_t colBlockSize, double dstTypeMax, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_dual_level_mx_quant.h */
OP(9, 0) aclnnDynamicDualLevelMxQuant(IN const aclTensor *x, IN OPT const aclTensor *smoothScaleOptional,
    OPT char *roundModeOptional, int64_t level0BlockSize, int64_t level1BlockSize, OUT const aclTensor *yOut,
    OUT const aclTensor *level0ScaleOut, OUT const aclTensor *level1ScaleOut);

/** aclnnop/aclnn_dynamic_mx_quant.h */
OP(8, 5) aclnnDynamicMxQuant(IN const aclTensor *x, int64_t axis, OPT char *roundModeOptional, int64_t dstType,
    int64_t blocksize, int64_t scaleAlg, OUT const aclTensor *yOut, OUT const aclTensor *mxscaleOut);

/** aclnnop/aclnn_dynamic_mx_quant_v2.h */
OP(9, 1) aclnnDynamicMxQuantV2(IN const aclTensor *x, int64_t axis, OPT char *roundModeOptional, int64_t dstType,
    int64_t blocksize, int64_t scaleAlg, double dstTypeMax, OUT const aclTensor *yOut, OUT const aclTensor *mxscaleOut);

/** aclnnop/aclnn_dynamic_mx_quant_v3.h */
OP(9, 2) aclnnDynamicMxQuantV3(IN const aclTensor *x, int64_t axis, OPT char *roundModeOptional, int64_t dstType,
    int64_t blocksize, int64_t scaleAlg, double dstTypeMax, double maxLowBound, OUT const aclTensor *yOut,
    OUT const aclTensor *mxscaleOut);

/** aclnnop/aclnn_dynamic_mx_quant_with_dual_axis.h */
OP(9, 0) aclnnDynamicMxQuantWithDualAxis(IN const aclTensor *x, OPT char *roundModeOptional, int64_t dstType,
    int64_t scaleAlg, OUT const aclTensor *y1Out, OUT const aclTensor *mxscale1Out, OUT const aclTensor *y2Out,
    OUT const aclTensor *mxscale2Out);

/** aclnnop/aclnn_dynamic_mx_quant_with_dual_axis_v2.h */
OP(9, 1) aclnnDynamicMxQuantWithDualAxisV2(IN const aclTensor *x, OPT char *roundModeOptional, int64_t dstType,
    int64_t scaleAlg, double dstTypeMax, OUT const aclTensor *y1Out, OUT const aclTensor *mxscale1Out,
    OUT const aclTensor *y2Out, OUT const aclTensor *mxscale2Out);

/** aclnnop/aclnn_dynamic_quant.h */
OP aclnnDynamicQuant(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_quant_v2.h */
OP aclnnDynamicQuantV2(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *groupIndexOptional, int64_t dstType, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut, OUT OPT const aclTensor *offsetOut);

/** aclnnop/aclnn_dynamic_quant_v3.h */
OP(8, 5) aclnnDynamicQuantV3(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical, const char *quantMode,
    OUT const aclTensor *yOut, OUT const aclTensor *scaleOut, OUT OPT const aclTensor *offsetOut);

/** aclnnop/aclnn_dynamic_quant_v4.h */
OP(9, 1) aclnnDynamicQuantV4(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical, const char *quantMode,
    float dstTypeMax, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut, OUT OPT const aclTensor *offsetOut);

/** aclnnop/aclnn_fake_quant_per_channel_affine_cachemask.h level2 */
OP aclnnFakeQuantPerChannelAffineCachemask(IN const aclTensor *self, IN const aclTensor *scale,
    IN const aclTensor *zeroPoint, int64_t axis, int64_t quantMin, int64_t quantMax, OUT aclTensor *out,
    OUT aclTensor *mask);

/** aclnnop/aclnn_fake_quant_per_tensor_affine_cachemask.h level2 */
OP aclnnFakeQuantPerTensorAffineCachemask(IN const aclTensor *self, IN const aclTensor *scale,
    IN const aclTensor *zeroPoint, float fakeQuantEnbled, int64_t quantMin, int64_t quantMax, OUT aclTensor *out,
    OUT aclTensor *mask);

/** aclnnop/aclnn_flat_quant.h */
OP aclnnFlatQuant(IN const aclTensor *x, IN const aclTensor *kroneckerP1, IN const aclTensor *kroneckerP2,
    double clipRatio, OUT aclTensor *out, OUT aclTensor *quantScale);

/** aclnnop/aclnn_flat_quant_v2.h */
OP(9, 1) aclnnFlatQuantV2(IN const aclTensor *x, IN const aclTensor *kroneckerP1, IN const aclTensor *kroneckerP2,
    double clipRatio, double dstTypeMax, OUT aclTensor *out, OUT aclTensor *quantScale);

/** aclnnop/aclnn_flat_quant_v3.h */
OP(9, 2) aclnnFlatQuantV3(IN const aclTensor *x, IN const aclTensor *kroneckerP1, IN const aclTensor *kroneckerP2,
    IN OPT const aclTensor *groupListOptional, double clipRatio, double dstTypeMax, int64_t groupListType,
    OUT aclTensor *out, OUT aclTensor *quantScale);

/** aclnnop/aclnn_gelu_quant.h */
OP(8, 5) aclnnGeluQuant(IN const aclTensor *self, IN OPT const aclTensor *inputScaleOptional,
    IN OPT const aclTensor *inputOffsetOptional, const char *approximate, const char *quantMode, const char *roundMode,
    int64_t dstType, OUT const aclTensor *y, OUT OPT const aclTensor *outScaleOptional);

/** aclnnop/aclnn_group_quant.h level2 */
OP aclnnGroupQuant(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *groupIndex,
    IN OPT const aclTensor *offsetOptional, int32_t dstType, OUT aclTensor *y);

/** aclnnop/aclnn_grouped_dynamic_block_quant.h */
OP(9, 0) aclnnGroupedDynamicBlockQuant(IN const aclTensor *x, IN const aclTensor *groupList, double minScale,
    OPT char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, int64_t groupListType,
    OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_grouped_dynamic_block_quant_v2.h */
OP(9, 2) aclnnGroupedDynamicBlockQuantV2(IN const aclTensor *x, IN const aclTensor *groupList, double minScale,
    OPT char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, int64_t groupListType,
    double dstTypeMax, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_grouped_dynamic_mx_quant.h */
OP(8, 5) aclnnGroupedDynamicMxQuant(IN const aclTensor *x, IN const aclTensor *groupIndex, const char *roundMode,
    int64_t dstType, int64_t blocksize, OUT const aclTensor *y, OUT const aclTensor *mxscale);

/** aclnnop/aclnn_grouped_dynamic_mx_quant_v2.h */
OP(9, 1) aclnnGroupedDynamicMxQuantV2(IN const aclTensor *x, IN const aclTensor *groupIndex, const char *roundMode,
    int64_t dstType, int64_t blocksize, int64_t scaleAlg, double dstTypeMax, OUT const aclTensor *y,
    OUT const aclTensor *mxscale);

/** aclnnop/aclnn_grouped_dynamic_mx_quant_with_dual_axis.h */
OP(9, 2) aclnnGroupedDynamicMxQuantWithDualAxis(IN const aclTensor *x, IN const aclTensor *groupIndex,
    OPT char *roundModeOptional, int64_t scaleAlg, int64_t dstDtype, double maxDtypeValue, OUT const aclTensor *y1Out,
    OUT const aclTensor *y1ScaleOut, OUT const aclTensor *y2Out, OUT const aclTensor *y2ScaleOut);

/** aclnnop/aclnn_grouped_quant_max.h */
OP(9, 2) aclnnGroupedQuantMax(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *groupList,
    const char *roundMode, int64_t dstType, OUT const aclTensor *y, OUT const aclTensor *amax);

/** aclnnop/aclnn_mx_to_block_mx_quant.h */
OP(9, 2) aclnnMxToBlockMxQuant(IN const aclTensor *x, IN const aclTensor *mxscale, int64_t dstType,
    OUT const aclTensor *y, OUT const aclTensor *scale1, OUT const aclTensor *scale2);

/** aclnnop/aclnn_quant_max.h */
OP(9, 1) aclnnQuantMax(IN const aclTensor *x, IN const aclTensor *scale, char *roundMode, int64_t dstType,
    OUT const aclTensor *y, OUT const aclTensor *amax);

/** aclnnop/aclnn_quantize.h */
OP aclnnQuantize(IN const aclTensor *x, IN const aclTensor *scales, IN OPT const aclTensor *zeroPoints,
    aclDataType dtype, int32_t axis, OUT aclTensor *out);

/** aclnnop/aclnn_situ_mx_quant.h */
OP(9, 2) aclnnSituMxQuant(IN const aclTensor *x, float beta, float linearBeta, bool activateLeft, int64_t axis,
    int64_t dstType, OPT char *roundModeOptional, OUT const aclTensor *yOut, OUT const aclTensor *yScaleOut);

/** aclnnop/aclnn_swi_glu_quant.h */
OP aclnnSwiGluQuant(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *offsetsOptional, IN OPT const aclTensor *groupIndexOptional, bool activateLeft,
    OPT char *quantModeOptional, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_swi_glu_quant_v2.h */
OP(8, 5) aclnnSwiGluQuantV2(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *offsetsOptional, IN OPT const aclTensor *groupIndexOptional, bool activateLeft,
    OPT char *quantModeOptional, int64_t groupListType, int64_t dstType, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_swiglu_backward_mx_quant_with_dual_axis.h */
OP(9, 1) aclnnSwigluBackwardMxQuantWithDualAxis(IN const aclTensor *x, IN const aclTensor *yGrad,
    IN OPT const aclTensor *groupIndexOptional, bool activateLeft, OPT char *roundModeOptional, int64_t scaleAlg,
    int64_t dstDtype, double maxDtypeValue, OUT const aclTensor *y1Out, OUT const aclTensor *mxscale1Out,
    OUT const aclTensor *y2Out, OUT const aclTensor *mxscale2Out);

/** aclnnop/aclnn_swiglu_group_quant.h */
OP(9, 1) aclnnSwigluGroupQuant(IN const aclTensor *x, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *groupIndexOptional, IN OPT const aclTensor *scaleOptional, int64_t dstType,
    int64_t quantMode, int64_t blockSize, bool roundScale, double clampLimit, double dstTypeMax, bool outputOrigin,
    OUT const aclTensor *yOut, OUT const aclTensor *yScaleOut, OUT const aclTensor *yOriginOut);

/** aclnnop/aclnn_swiglu_group_quant_grad.h */
OP(9, 1) aclnnSwigluGroupQuantGrad(IN const aclTensor *gradY, IN const aclTensor *x,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *yOriginOptional,
    IN OPT const aclTensor *groupIndexOptional, double clampLimit, OUT const aclTensor *gradXOut,
    OUT OPT const aclTensor *gradWeightOutOptional);

/** aclnnop/aclnn_swiglu_mx_quant.h */
OP(9, 1) aclnnSwigluMxQuant(IN const aclTensor *x, IN OPT const aclTensor *groupIndexOptional, int64_t activateDim,
    bool activateLeft, int64_t swigluMode, double clampLimit, double gluAlpha, double gluBias, int64_t groupMode,
    int64_t axis, int64_t dstType, OPT char *roundModeOptional, int64_t scaleAlg, double maxDtypeValue,
    OUT const aclTensor *yOut, OUT const aclTensor *mxscaleOut);

/** aclnnop/aclnn_swiglu_mx_quant_with_dual_axis.h */
OP(9, 1) aclnnSwigluMxQuantWithDualAxis(IN const aclTensor *x, IN OPT const aclTensor *groupIndexOptional,
    bool activateLeft, OPT char *roundModeOptional, int64_t scaleAlg, int64_t dstType, double maxDtypeValue,
    OUT const aclTensor *y1Out, OUT const aclTensor *mxscale1Out, OUT const aclTensor *y2Out,
    OUT const aclTensor *mxscale2Out);

/** aclnnop/aclnn_trans_quant_param.h */
HELPER aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray, uint64_t offsetSize,
    uint64_t **quantParam, uint64_t *quantParamSize);

/** aclnnop/aclnn_trans_quant_param_v2.h level2 */
OP aclnnTransQuantParamV2(IN const aclTensor *scale, IN OPT const aclTensor *offset, OUT const aclTensor *out);

/** aclnnop/aclnn_trans_quant_param_v3.h */
OP(8, 5) aclnnTransQuantParamV3(IN const aclTensor *scale, IN OPT const aclTensor *offset, int64_t roundMode,
    OUT const aclTensor *out);
