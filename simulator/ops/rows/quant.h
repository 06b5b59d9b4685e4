/* Quantization, dequantization and the activations fused with them. */

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

/** aclnnop/aclnn_dequant_swiglu_quant.h */
OP aclnnDequantSwigluQuant(IN const aclTensor *x, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *quantScaleOptional, IN OPT const aclTensor *quantOffsetOptional,
    IN OPT const aclTensor *groupIndexOptional, bool activateLeft, OPT char *quantModeOptional,
    OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_quant.h */
OP aclnnDynamicQuant(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_dynamic_quant_v2.h */
OP aclnnDynamicQuantV2(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *groupIndexOptional, int64_t dstType, OUT const aclTensor *yOut,
    OUT const aclTensor *scaleOut, OUT OPT const aclTensor *offsetOut);

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

/** aclnnop/aclnn_group_quant.h level2 */
OP aclnnGroupQuant(IN const aclTensor *x, IN const aclTensor *scale, IN const aclTensor *groupIndex,
    IN OPT const aclTensor *offsetOptional, int32_t dstType, OUT aclTensor *y);

/** aclnnop/aclnn_quantize.h */
OP aclnnQuantize(IN const aclTensor *x, IN const aclTensor *scales, IN OPT const aclTensor *zeroPoints,
    aclDataType dtype, int32_t axis, OUT aclTensor *out);

/** aclnnop/aclnn_swi_glu_quant.h */
OP aclnnSwiGluQuant(IN const aclTensor *x, IN OPT const aclTensor *smoothScalesOptional,
    IN OPT const aclTensor *offsetsOptional, IN OPT const aclTensor *groupIndexOptional, bool activateLeft,
    OPT char *quantModeOptional, OUT const aclTensor *yOut, OUT const aclTensor *scaleOut);

/** aclnnop/aclnn_trans_quant_param.h */
HELPER aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray, uint64_t offsetSize,
    uint64_t **quantParam, uint64_t *quantParamSize);

/** aclnnop/aclnn_trans_quant_param_v2.h level2 */
OP aclnnTransQuantParamV2(IN const aclTensor *scale, IN OPT const aclTensor *offset, OUT const aclTensor *out);
