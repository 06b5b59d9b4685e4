/* Matrix products, plain, batched, grouped and quantized. */

/** aclnnop/aclnn_add_lora.h */
/* y is the value added to; the result is out */
OP aclnnAddLora(IN const aclTensor *y, IN const aclTensor *x, IN const aclTensor *weightB, IN const aclTensor *indices,
    IN OPT const aclTensor *weightAOptional, int64_t layerIdx, double scale, int64_t yOffset, int64_t ySliceSize,
    OUT const aclTensor *out);

/** aclnnop/aclnn_addbmm.h level2 */
OP aclnnAddbmm(IN const aclTensor *self, IN const aclTensor *batch1, IN const aclTensor *batch2, const aclScalar *beta,
    const aclScalar *alpha, OUT aclTensor *out, int8_t cubeMathType);
OP aclnnInplaceAddbmm(INOUT aclTensor *selfRef, IN const aclTensor *batch1, IN const aclTensor *batch2,
    const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType);

/** aclnnop/aclnn_addmm.h level2 */
OP aclnnAddmm(IN const aclTensor *self, IN const aclTensor *mat1, IN const aclTensor *mat2, const aclScalar *beta,
    const aclScalar *alpha, OUT aclTensor *out, int8_t cubeMathType);
OP aclnnInplaceAddmm(INOUT const aclTensor *selfRef, IN const aclTensor *mat1, IN const aclTensor *mat2,
    const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType);
OP(8, 5) aclnnAddmmWeightNz(IN const aclTensor *self, IN const aclTensor *mat1, IN const aclTensor *mat2,
    const aclScalar *beta, const aclScalar *alpha, OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_addmv.h level2 */
OP aclnnAddmv(IN const aclTensor *self, IN const aclTensor *mat, IN const aclTensor *vec, const aclScalar *alpha,
    const aclScalar *beta, OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_addr.h level2 */
OP aclnnAddr(IN const aclTensor *self, IN const aclTensor *vec1, IN const aclTensor *vec2,
    OPT const aclScalar *betaOptional, OPT const aclScalar *alphaOptional, OUT aclTensor *out);
OP aclnnInplaceAddr(INOUT aclTensor *selfRef, IN const aclTensor *vec1, IN const aclTensor *vec2,
    OPT const aclScalar *betaOptional, OPT const aclScalar *alphaOptional);

/** aclnnop/aclnn_baddbmm.h level2 */
OP aclnnBaddbmm(IN const aclTensor *self, IN const aclTensor *batch1, IN const aclTensor *batch2, const aclScalar *beta,
    const aclScalar *alpha, OUT aclTensor *out, int8_t cubeMathType);
OP aclnnInplaceBaddbmm(INOUT const aclTensor *selfRef, IN const aclTensor *batch1, IN const aclTensor *batch2,
    const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType);

/** aclnnop/aclnn_batch_matmul.h level2 */
OP aclnnBatchMatMul(IN const aclTensor *self, IN const aclTensor *mat2, OUT aclTensor *out, int8_t cubeMathType);
OP(8, 5) aclnnBatchMatMulWeightNz(IN const aclTensor *self, IN const aclTensor *mat2, OUT aclTensor *out,
    int8_t cubeMathType);

/** aclnnop/aclnn_batchmatmul_quant.h */
OP aclnnBatchMatmulQuant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *quantParam,
    IN OPT const aclTensor *bias, bool transposeX1, bool transposeX2, OUT aclTensor *out);

/** aclnnop/aclnn_convert_weight_to_int4_pack.h */
OP aclnnConvertWeightToINT4Pack(IN const aclTensor *weight, OUT aclTensor *weightInt4Pack);

/** aclnnop/aclnn_dot.h level2 */
OP aclnnDot(IN const aclTensor *self, IN const aclTensor *tensor, OUT aclTensor *out);

/** aclnnop/aclnn_dual_level_quant_matmul_nz.h */
OP(9, 0) aclnnDualLevelQuantMatmulWeightNz(IN const aclTensor *x1, IN const aclTensor *x2,
    IN const aclTensor *x1Level0Scale, IN const aclTensor *x2Level0Scale, IN const aclTensor *x1Level1Scale,
    IN const aclTensor *x2Level1Scale, IN OPT const aclTensor *optionalBias, bool transposeX1, bool transposeX2,
    int64_t level0GroupSize, int64_t level1GroupSize, OUT aclTensor *out);

/** aclnnop/aclnn_einsum.h level2 */
OP aclnnEinsum(IN const aclTensorList *tensors, const char *equation, OUT aclTensor *output);

/** aclnnop/aclnn_ffn.h level2 */
OP aclnnFFN(IN const aclTensor *x, IN const aclTensor *weight1, IN const aclTensor *weight2,
    OPT const aclIntArray *expertTokens, IN OPT const aclTensor *bias1, IN OPT const aclTensor *bias2,
    IN OPT const aclTensor *scale, IN OPT const aclTensor *offset, IN OPT const aclTensor *deqScale1,
    IN OPT const aclTensor *deqScale2, IN OPT const aclTensor *antiquantScale1, IN OPT const aclTensor *antiquantScale2,
    IN OPT const aclTensor *antiquantOffset1, IN OPT const aclTensor *antiquantOffset2, const char *activation,
    int64_t innerPrecise, OUT const aclTensor *y);

/** aclnnop/aclnn_ffn_v2.h level2 */
OP aclnnFFNV2(IN const aclTensor *x, IN const aclTensor *weight1, IN const aclTensor *weight2,
    OPT const aclIntArray *expertTokens, IN OPT const aclTensor *bias1, IN OPT const aclTensor *bias2,
    IN OPT const aclTensor *scale, IN OPT const aclTensor *offset, IN OPT const aclTensor *deqScale1,
    IN OPT const aclTensor *deqScale2, IN OPT const aclTensor *antiquantScale1, IN OPT const aclTensor *antiquantScale2,
    IN OPT const aclTensor *antiquantOffset1, IN OPT const aclTensor *antiquantOffset2, const char *activation,
    int64_t innerPrecise, bool tokensIndexFlag, OUT const aclTensor *y);

/** aclnnop/aclnn_ffn_v3.h level2 */
OP aclnnFFNV3(IN const aclTensor *x, IN const aclTensor *weight1, IN const aclTensor *weight2,
    IN OPT const aclTensor *expertTokensOptional, IN OPT const aclTensor *bias1Optional,
    IN OPT const aclTensor *bias2Optional, IN OPT const aclTensor *scaleOptional,
    IN OPT const aclTensor *offsetOptional, IN OPT const aclTensor *deqScale1Optional,
    IN OPT const aclTensor *deqScale2Optional, IN OPT const aclTensor *antiquantScale1Optional,
    IN OPT const aclTensor *antiquantScale2Optional, IN OPT const aclTensor *antiquantOffset1Optional,
    IN OPT const aclTensor *antiquantOffset2Optional, const char *activation, int64_t innerPrecise,
    bool tokensIndexFlag, OUT const aclTensor *y);

/** aclnnop/aclnn_fused_linear_cross_entropy_loss_grad.h */
OP(8, 5) aclnnFusedLinearCrossEntropyLossGrad(IN const aclTensor *grad, IN const aclTensor *input,
    IN const aclTensor *weight, IN const aclTensor *targetMask, IN const aclTensor *maskedTarget, float labelSmoothing,
    IN OPT const aclTensor *logitsMaxOptional, IN OPT const aclTensor *sumExpLogitsOptional,
    IN OPT const aclTensor *softmaxOptional, OUT aclTensor *inputGradOut, OUT aclTensor *weightGradOut);

/** aclnnop/aclnn_fused_linear_online_max_sum.h */
OP(8, 5) aclnnFusedLinearOnlineMaxSum(IN const aclTensor *input, IN const aclTensor *weight, IN const aclTensor *target,
    int64_t vocabStartIndex, int64_t vocabEndIndex, OUT aclTensor *logitsMaxLocalOut,
    OUT aclTensor *sumExpLogitsLocalOut, OUT aclTensor *predictedLogitsLocalOut, OUT aclTensor *targetMaskOut,
    OUT aclTensor *maskedTargetOut, OUT OPT aclTensor *vocabParallelLogitsOutOptional);

/** aclnnop/aclnn_fused_matmul.h */
OP(8, 5) aclnnFusedMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *bias,
    IN const aclTensor *x3, const char *fusedOpType, int8_t cubeMathType, OUT const aclTensor *y);

/** aclnnop/aclnn_fused_quant_matmul.h */
OP(9, 0) aclnnFusedQuantMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *x1Scale,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *yScaleOptional, IN OPT const aclTensor *x1OffsetOptional,
    IN OPT const aclTensor *x2OffsetOptional, IN OPT const aclTensor *yOffsetOptional,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *x3Optional, const char *fusedOpType,
    int64_t groupSizeOptional, OUT aclTensor *out);

/** aclnnop/aclnn_fused_quant_matmul_weight_nz.h */
OP(9, 0) aclnnFusedQuantMatmulWeightNz(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *x1Scale,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *yScaleOptional, IN OPT const aclTensor *x1OffsetOptional,
    IN OPT const aclTensor *x2OffsetOptional, IN OPT const aclTensor *yOffsetOptional,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *x3Optional, const char *fusedOpType,
    int64_t groupSizeOptional, OUT aclTensor *out);

/** aclnnop/aclnn_gemm.h level2 */
OP aclnnGemm(IN const aclTensor *A, IN const aclTensor *B, IN const aclTensor *C, float alpha, float beta,
    int64_t transA, int64_t transB, OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_ger.h level2 */
OP aclnnGer(IN const aclTensor *self, IN const aclTensor *vec2, OUT aclTensor *out);

/** aclnnop/aclnn_grouped_bias_add_grad.h */
OP aclnnGroupedBiasAddGrad(IN const aclTensor *gradY, IN OPT const aclTensor *groupIdxOptional, OUT aclTensor *out);
OP aclnnGroupedBiasAddGradV2(IN const aclTensor *gradY, IN OPT const aclTensor *groupIdxOptional, int64_t groupIdxType,
    OUT aclTensor *out);

/** aclnnop/aclnn_grouped_matmul.h level2 */
OP aclnnGroupedMatmul(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, OPT const aclIntArray *groupListOptional, int64_t splitItem,
    OUT const aclTensorList *y);

/** aclnnop/aclnn_grouped_matmul_activation_quant_weight_nz.h */
OP(9, 2) aclnnGroupedMatmulActivationQuantWeightNz(IN const aclTensor *x, IN const aclTensor *groupList,
    IN const aclTensorList *weight, IN const aclTensorList *weightScale, IN OPT const aclTensorList *bias,
    IN OPT const aclTensor *xScaleOptional, const char *activationType, int64_t groupListType,
    OPT const aclIntArray *tuningConfig, OPT const char *quantMode, OPT const char *roundMode, int64_t scaleAlg,
    float dstTypeMax, OUT aclTensor *y, OUT aclTensor *yScale);

/** aclnnop/aclnn_grouped_matmul_add.h */
OP aclnnGroupedMatmulAdd(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *groupList,
    INOUT aclTensor *yRef, bool transposeX, bool transposeWeight, int64_t groupType);

/** aclnnop/aclnn_grouped_matmul_add_v2.h */
OP(8, 5) aclnnGroupedMatmulAddV2(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *groupList,
    INOUT aclTensor *yRef, bool transposeX, bool transposeWeight, int64_t groupType, int64_t groupListType);

/** aclnnop/aclnn_grouped_matmul_finalize_routing.h */
OP(8, 5) aclnnGroupedMatmulFinalizeRouting(IN const aclTensor *x, IN aclTensor *w,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *pertokenScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *sharedInputOptional, IN OPT const aclTensor *logitOptional,
    IN OPT const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset,
    bool transposeX, bool transposeW, int64_t groupListType, OUT aclTensor *y);

/** aclnnop/aclnn_grouped_matmul_finalize_routing_v2.h */
OP(8, 5) aclnnGroupedMatmulFinalizeRoutingV2(IN const aclTensor *x1, IN aclTensor *x2,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *offsetOptional,
    IN OPT const aclTensor *antiquantScaleOptional, IN OPT const aclTensor *antiquantOffsetOptional,
    IN OPT const aclTensor *pertokenScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *sharedInputOptional, IN OPT const aclTensor *logitOptional,
    IN OPT const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset,
    bool transposeX1, bool transposeX2, int64_t groupListType, OUT aclTensor *out);

/** aclnnop/aclnn_grouped_matmul_finalize_routing_v3.h */
OP(8, 5) aclnnGroupedMatmulFinalizeRoutingV3(IN const aclTensor *x1, IN aclTensor *x2,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *offsetOptional,
    IN OPT const aclTensor *antiquantScaleOptional, IN OPT const aclTensor *antiquantOffsetOptional,
    IN OPT const aclTensor *pertokenScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *sharedInputOptional, IN OPT const aclTensor *logitOptional,
    IN OPT const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset,
    bool transposeX1, bool transposeX2, int64_t groupListType, OPT const aclIntArray *tuningConfigOptional,
    OUT aclTensor *out);

/** aclnnop/aclnn_grouped_matmul_finalize_routing_weight_nz.h level2 */
OP aclnnGroupedMatmulFinalizeRoutingWeightNz(IN const aclTensor *x, IN const aclTensor *w,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *pertokenScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *sharedInputOptional, IN OPT const aclTensor *logitOptional,
    IN OPT const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset,
    bool transposeX, bool transposeW, int64_t groupListType, OUT aclTensor *y);

/** aclnnop/aclnn_grouped_matmul_finalize_routing_weight_nz_v2.h */
OP(8, 5) aclnnGroupedMatmulFinalizeRoutingWeightNzV2(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *scale, IN OPT const aclTensor *bias, IN OPT const aclTensor *offsetOptional,
    IN OPT const aclTensor *antiquantScaleOptional, IN OPT const aclTensor *antiquantOffsetOptional,
    IN OPT const aclTensor *pertokenScaleOptional, IN const aclTensor *groupList, IN OPT const aclTensor *sharedInput,
    IN OPT const aclTensor *logit, IN const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight,
    int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType,
    OPT const aclIntArray *tuningConfigOptional, OUT aclTensor *out);

/** aclnnop/aclnn_grouped_matmul_swiglu_quant.h level2 */
OP aclnnGroupedMatmulSwigluQuant(IN const aclTensor *x, IN const aclTensor *weight, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *offset, IN const aclTensor *weightScale, IN const aclTensor *xScale,
    IN const aclTensor *groupList, OUT aclTensor *output, OUT aclTensor *outputScale, OUT OPT aclTensor *outputOffset);

/** aclnnop/aclnn_grouped_matmul_swiglu_quant_v2.h */
OP(8, 5) aclnnGroupedMatmulSwigluQuantV2(IN const aclTensor *x, IN const aclTensorList *weight,
    IN const aclTensorList *weightScale, IN OPT const aclTensorList *weightAssistMatrix, IN OPT const aclTensor *bias,
    IN const aclTensor *xScale, IN OPT const aclTensor *smoothScale, IN const aclTensor *groupList, int64_t dequantMode,
    int64_t dequantDtype, int64_t quantMode, int64_t groupListType, OPT const aclIntArray *tuningConfigOptional,
    OUT aclTensor *output, OUT aclTensor *outputScale);

/** aclnnop/aclnn_grouped_matmul_swiglu_quant_weight_nz.h */
OP(8, 5) aclnnGroupedMatmulSwigluQuantWeightNZ(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *bias, IN OPT const aclTensor *offset, IN const aclTensor *weightScale,
    IN const aclTensor *xScale, IN const aclTensor *groupList, OUT aclTensor *output, OUT aclTensor *outputScale,
    OUT OPT aclTensor *outputOffset);

/** aclnnop/aclnn_grouped_matmul_swiglu_quant_weight_nz_v2.h */
OP(8, 5) aclnnGroupedMatmulSwigluQuantWeightNzV2(IN const aclTensor *x, IN const aclTensorList *weight,
    IN const aclTensorList *weightScale, IN OPT const aclTensorList *weightAssistMatrix, IN OPT const aclTensor *bias,
    IN const aclTensor *xScale, IN OPT const aclTensor *smoothScale, IN const aclTensor *groupList, int64_t dequantMode,
    int64_t dequantDtype, int64_t quantMode, int64_t groupListType, OPT const aclIntArray *tuningConfigOptional,
    OUT aclTensor *output, OUT aclTensor *outputScale);

/** aclnnop/aclnn_grouped_matmul_v2.h level2 */
OP aclnnGroupedMatmulV2(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, OPT const aclIntArray *groupListOptional, int64_t splitItem,
    int64_t groupType, OUT const aclTensorList *y);

/** aclnnop/aclnn_grouped_matmul_v3.h level2 */
OP aclnnGroupedMatmulV3(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, IN OPT const aclTensor *groupListOptional, int64_t splitItem,
    int64_t groupType, OUT const aclTensorList *y);

/** aclnnop/aclnn_grouped_matmul_v4.h level2 */
OP aclnnGroupedMatmulV4(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, IN OPT const aclTensorList *perTokenScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensorList *activationInputOptional,
    IN OPT const aclTensorList *activationQuantScaleOptional, IN OPT const aclTensorList *activationQuantOffsetOptional,
    int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, OUT aclTensorList *out,
    OUT OPT aclTensorList *activationFeatureOutOptional, OUT OPT aclTensorList *dynQuantScaleOutOptional);

/** aclnnop/aclnn_grouped_matmul_v5.h */
OP(8, 5) aclnnGroupedMatmulV5(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, IN OPT const aclTensorList *perTokenScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensorList *activationInputOptional,
    IN OPT const aclTensorList *activationQuantScaleOptional, IN OPT const aclTensorList *activationQuantOffsetOptional,
    int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, OPT aclIntArray *tuningConfigOptional,
    OUT aclTensorList *out, OUT OPT aclTensorList *activationFeatureOutOptional,
    OUT OPT aclTensorList *dynQuantScaleOutOptional);

/** aclnnop/aclnn_grouped_matmul_weight_nz.h */
OP(8, 5) aclnnGroupedMatmulWeightNz(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *biasOptional, IN OPT const aclTensorList *scaleOptional,
    IN OPT const aclTensorList *offsetOptional, IN OPT const aclTensorList *antiquantScaleOptional,
    IN OPT const aclTensorList *antiquantOffsetOptional, IN OPT const aclTensorList *perTokenScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensorList *activationInputOptional,
    IN OPT const aclTensorList *activationQuantScaleOptional, IN OPT const aclTensorList *activationQuantOffsetOptional,
    int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, OPT aclIntArray *tuningConfigOptional,
    int64_t quantGroupSize, OUT aclTensorList *out, OUT OPT aclTensorList *activationFeatureOutOptional,
    OUT OPT aclTensorList *dynQuantScaleOutOptional);

/** aclnnop/aclnn_matmul.h level2 */
OP aclnnMatmul(IN const aclTensor *self, IN const aclTensor *mat2, OUT aclTensor *out, int8_t cubeMathType);
OP(8, 5) aclnnMatmulWeightNz(IN const aclTensor *self, IN const aclTensor *mat2, OUT aclTensor *out,
    int8_t cubeMathType);

/** aclnnop/aclnn_matmul_compress.h */
OP(8, 5) aclnnMatmulCompress(IN const aclTensor *x, IN const aclTensor *weight, IN OPT const aclTensor *bias,
    IN const aclTensor *compressIndex, OUT aclTensor *out);

/** aclnnop/aclnn_matmul_compress_dequant.h level2 */
OP aclnnMatmulCompressDequant(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *compressIndex,
    IN const aclTensor *bias, IN const aclTensor *deqScale, IN OPT const aclTensor *offsetW, int offsetX,
    const aclIntArray *compressInfo, OUT aclTensor *out);

/** aclnnop/aclnn_matmul_emu_split_weight.h */
OP(9, 2) aclnnMatmulEmuSplitWeight(IN const aclTensor *x, IN const aclTensor *wHigh, IN const aclTensor *wLow,
    OUT const aclTensor *y, float wLowScale, int8_t yDtype);

/** aclnnop/aclnn_mm.h level2 */
OP aclnnMm(IN const aclTensor *self, IN const aclTensor *mat2, OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_mv.h */
OP aclnnMv(IN const aclTensor *self, IN const aclTensor *vec, OUT aclTensor *out, int8_t cubeMathType);

/** aclnnop/aclnn_quant_batch_matmul_inplace_add.h */
OP(9, 0) aclnnQuantBatchMatmulInplaceAdd(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *x1ScaleOptional, IN const aclTensor *x2Scale, INOUT aclTensor *yRef, bool transposeX1,
    bool transposeX2, int64_t groupSize);

/** aclnnop/aclnn_quant_grouped_matmul_dequant.h level2 */
OP aclnnQuantGroupedMatmulDequant(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *weightScale,
    IN const aclTensor *groupList, IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *xScaleOptional,
    IN OPT const aclTensor *xOffsetOptional, IN OPT const aclTensor *smoothScaleOptional, char *xQuantMode,
    bool transposeWeight, OUT const aclTensor *out);

/** aclnnop/aclnn_quant_grouped_matmul_dequant_weight_nz.h */
OP(9, 1) aclnnQuantGroupedMatmulDequantWeightNZ(IN const aclTensor *x, IN const aclTensor *weight,
    IN const aclTensor *weightScale, IN const aclTensor *groupList, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *xScaleOptional, IN OPT const aclTensor *xOffsetOptional,
    IN OPT const aclTensor *smoothScaleOptional, char *xQuantMode, bool transposeWeight, OUT aclTensor *out);

/** aclnnop/aclnn_quant_grouped_matmul_inplace_add.h */
OP(8, 5) aclnnQuantGroupedMatmulInplaceAdd(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *scale1Optional, IN const aclTensor *scale2, IN const aclTensor *groupList,
    INOUT aclTensor *yRef, int64_t groupListType, int64_t groupSize);

/** aclnnop/aclnn_quant_matmul.h */
OP aclnnQuantMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias, float deqScale,
    OUT aclTensor *out);
OP aclnnQuantMatmulV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *deqScale, bool adjX1, bool adjX2, OUT aclTensor *out);

/** aclnnop/aclnn_quant_matmul_activation_quant_weight_nz.h */
OP(9, 2) aclnnQuantMatmulActivationQuantWeightNz(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *x1ScaleOptional, IN const aclTensor *x2Scale, IN OPT const aclTensor *biasOptional,
    bool transposeX1, bool transposeX2, int64_t groupSize, const char *activationType, const char *quantMode,
    OPT const char *roundMode, int64_t scaleAlg, double dstTypeMax, OUT aclTensor *yOut, OUT aclTensor *yScaleOut);

/** aclnnop/aclnn_quant_matmul_dequant.h level2 */
OP aclnnQuantMatmulDequant(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *weightScale,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *xScaleOptional,
    IN OPT const aclTensor *xOffsetOptional, IN OPT const aclTensor *smoothScaleOptional, char *xQuantMode,
    bool transposeWeight, OUT const aclTensor *out);

/** aclnnop/aclnn_quant_matmul_reduce_sum.h */
OP(8, 5) aclnnQuantMatmulReduceSumWeightNz(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *x1Scale,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *yScale, IN OPT const aclTensor *x1Offset,
    IN OPT const aclTensor *x2Offset, IN OPT const aclTensor *yOffset, IN OPT const aclTensor *bias, bool transposeX1,
    bool transposeX2, int64_t groupSize, const aclIntArray *dims, bool keepDims, OUT aclTensor *out);

/** aclnnop/aclnn_quant_matmul_v3.h level2 */
OP aclnnQuantMatmulV3(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *scale,
    IN OPT const aclTensor *offset, IN OPT const aclTensor *bias, bool transposeX1, bool transposeX2,
    OUT const aclTensor *out);

/** aclnnop/aclnn_quant_matmul_v4.h level2 */
OP aclnnQuantMatmulV4(IN const aclTensor *x1, IN const aclTensor *x2, IN const aclTensor *scale,
    IN OPT const aclTensor *offset, IN OPT const aclTensor *pertokenScaleOptional, IN OPT const aclTensor *bias,
    bool transposeX1, bool transposeX2, OUT const aclTensor *out);

/** aclnnop/aclnn_quant_matmul_v5.h */
OP(8, 5) aclnnQuantMatmulV5(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *x1Scale,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *yScale, IN OPT const aclTensor *x1Offset,
    IN OPT const aclTensor *x2Offset, IN OPT const aclTensor *yOffset, IN OPT const aclTensor *bias, bool transposeX1,
    bool transposeX2, int64_t groupSize, OUT aclTensor *out);

/** aclnnop/aclnn_quant_matmul_weight_nz.h */
OP aclnnQuantMatmulWeightNz(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *x1Scale,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *yScale, IN OPT const aclTensor *x1Offset,
    IN OPT const aclTensor *x2Offset, IN OPT const aclTensor *yOffset, IN OPT const aclTensor *bias, bool transposeX1,
    bool transposeX2, int64_t groupSize, OUT aclTensor *out);

/** aclnnop/aclnn_rotate_quant.h */
OP(9, 1) aclnnRotateQuant(IN const aclTensor *x, IN const aclTensor *rotation, IN OPT const aclTensor *alpha,
    int64_t axis, OPT char *roundMode, int64_t scaleAlg, double dstTypeMax, bool trans, OUT aclTensor *yOut,
    OUT aclTensor *scaleOut);

/** aclnnop/aclnn_sparse4to2quant_matmul_weight_nz.h */
OP(8, 5) aclnnSparse4to2QuantMatmulWeightNz(IN const aclTensor *x, IN const aclTensor *sparseWeight,
    IN const aclTensor *index, IN const aclTensor *xScale, IN const aclTensor *sparseWeightScale,
    IN OPT const aclTensor *biasOptional, OUT aclTensor *out);
HELPER(8, 5) aclnnTransSparse4to2Para(const int8_t *weight, aclIntArray *shape, int8_t **sparseWeight,
    int64_t **sparseWeightDims, uint64_t *sparseWeightDimsNum, uint8_t **index, int64_t **indexDims,
    uint64_t *indexDimsNum);

/** aclnnop/aclnn_trans_matmul_weight.h */
HELPER aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
    uint64_t *weightTensorSize);
HELPER aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize);
/* rearranges the weight in place */
OP aclnnTransMatmulWeight(INOUT aclTensor *mmWeightRef);

/** aclnnop/aclnn_transpose_batch_mat_mul.h */
OP(8, 5) aclnnTransposeBatchMatMul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *scale, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY,
    int8_t cubeMathType, int32_t batchSplitFactor, OUT aclTensor *out);
OP(9, 1) aclnnTransposeBatchMatMulWeightNz(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *scale, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY,
    int8_t cubeMathType, int32_t batchSplitFactor, OUT aclTensor *out);

/** aclnnop/aclnn_transpose_quant_batch_mat_mul.h */
OP(9, 0) aclnnTransposeQuantBatchMatMul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *x1Scale, IN const aclTensor *x2Scale, int32_t dtype, int64_t groupSize,
    const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int32_t batchSplitFactor,
    OUT aclTensor *out);
OP(9, 1) aclnnTransposeQuantBatchMatMulWeightNz(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *bias, IN const aclTensor *x1Scale, IN const aclTensor *x2Scale, int32_t dtype,
    int64_t groupSize, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY,
    int32_t batchSplitFactor, OUT aclTensor *out);

/** aclnnop/aclnn_weight_quant_batch_matmul.h */
OP aclnnWeightQuantBatchMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *diagonalMatrix,
    IN OPT const aclTensor *deqOffset, IN OPT const aclTensor *deqScale, IN OPT const aclTensor *addOffset,
    IN OPT const aclTensor *mulScale, IN OPT const aclTensor *bias, bool transposeX1, bool transposeX2,
    float antiquantScale, float antiquantOffset, OUT aclTensor *out);

/** aclnnop/aclnn_weight_quant_batch_matmul_nz.h */
OP(8, 5) aclnnWeightQuantBatchMatmulNz(IN const aclTensor *x, IN const aclTensor *weight,
    IN const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffsetOptional,
    IN OPT const aclTensor *quantScaleOptional, IN OPT const aclTensor *quantOffsetOptional,
    IN OPT const aclTensor *biasOptional, int antiquantGroupSize, OUT const aclTensor *y);

/** aclnnop/aclnn_weight_quant_batch_matmul_v2.h */
OP aclnnWeightQuantBatchMatmulV2(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *antiquantScale,
    IN OPT const aclTensor *antiquantOffsetOptional, IN OPT const aclTensor *quantScaleOptional,
    IN OPT const aclTensor *quantOffsetOptional, IN OPT const aclTensor *biasOptional, int antiquantGroupSize,
    OUT const aclTensor *y);

/** aclnnop/aclnn_weight_quant_batch_matmul_v3.h */
OP aclnnWeightQuantBatchMatmulV3(IN const aclTensor *x, IN const aclTensor *weight, IN const aclTensor *antiquantScale,
    IN OPT const aclTensor *antiquantOffsetOptional, IN OPT const aclTensor *quantScaleOptional,
    IN OPT const aclTensor *quantOffsetOptional, IN OPT const aclTensor *biasOptional, int antiquantGroupSize,
    int innerPrecise, OUT const aclTensor *y);
