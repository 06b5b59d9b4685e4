/* Mixture of experts and matrix products fused with collective communication. */

/** aclnnop/aclnn_all_gather_matmul.h level2 */
OP aclnnAllGatherMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias, const char *group,
    int64_t gatherIndex, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output,
    OUT const aclTensor *gatherOut);

/** aclnnop/aclnn_all_to_all_all_gather_batch_matmul.h level2 */
OP aclnnAlltoAllAllGatherBatchMatMul(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize,
    int64_t tpWorldSize, int64_t xShardType, int64_t actType, OUT aclTensor *y1Out, OUT OPT aclTensor *y2OutOptional,
    OUT OPT aclTensor *y3OutOptional);

/** aclnnop/aclnn_batch_matmul_reduce_scatter_all_to_all.h level2 */
OP aclnnBatchMatMulReduceScatterAlltoAll(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize,
    int64_t tpWorldSize, int64_t yShardType, OUT aclTensor *out);

/** aclnnop/aclnn_grouped_mat_mul_all_reduce.h level2 */
OP aclnnGroupedMatMulAllReduce(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *bias, OPT const aclIntArray *groupListOptional, int64_t splitItem, const char *group,
    const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensorList *y);

/** aclnnop/aclnn_inplace_matmul_all_reduce_add_rms_norm.h level2 */
/* the sum before normalization replaces residual */
OP aclnnInplaceMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    INOUT const aclTensor *residual, IN const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, OUT const aclTensor *normOut);

/** aclnnop/aclnn_inplace_quant_matmul_all_reduce_add_rms_norm.h level2 */
/* the sum before normalization replaces residual */
OP aclnnInplaceQuantMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *bias, IN const aclTensor *dequantScale, INOUT const aclTensor *residual,
    IN const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn,
    int64_t streamMode, OUT const aclTensor *normOut);

/** aclnnop/aclnn_inplace_weight_quant_matmul_all_reduce_add_rms_norm.h level2 */
/* the sum before normalization replaces residual */
OP aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *bias, IN const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffset,
    INOUT const aclTensor *residual, IN const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, OUT const aclTensor *normOut);

/** aclnnop/aclnn_matmul_all_reduce.h level2 */
OP aclnnMatmulAllReduce(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias, const char *group,
    const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_all_reduce_add_rms_norm.h level2 */
OP aclnnMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *residual, IN const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, OUT const aclTensor *y, OUT const aclTensor *normOut);

/** aclnnop/aclnn_matmul_all_reduce_v2.h level2 */
OP aclnnMatmulAllReduceV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *x3, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode,
    OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_reduce_scatter.h level2 */
OP aclnnMatmulReduceScatter(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_moe_compute_expert_tokens.h */
OP aclnnMoeComputeExpertTokens(IN const aclTensor *sortedExperts, int64_t numExperts, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_distribute_combine.h */
OP aclnnMoeDistributeCombine(IN const aclTensor *expandX, IN const aclTensor *expertIds, IN const aclTensor *expandIdx,
    IN const aclTensor *epSendCounts, IN const aclTensor *expertScales, IN OPT const aclTensor *tpSendCounts,
    IN OPT const aclTensor *xActiveMask, IN OPT const aclTensor *activationScale, IN OPT const aclTensor *weightScale,
    IN OPT const aclTensor *groupList, IN OPT const aclTensor *expandScales, const char *groupEp, int64_t epWorldSize,
    int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype,
    int64_t commQuantMode, int64_t groupList_type, OUT aclTensor *x);

/** aclnnop/aclnn_moe_distribute_dispatch.h */
OP aclnnMoeDistributeDispatch(IN const aclTensor *x, IN const aclTensor *expertIds, IN OPT const aclTensor *scales,
    IN OPT const aclTensor *xActiveMask, IN OPT const aclTensor *expertScales, const char *groupEp, int64_t epWorldSize,
    int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
    int64_t expertTokenNumsType, OUT aclTensor *expandX, OUT aclTensor *dynamicScales, OUT aclTensor *expandIdx,
    OUT aclTensor *expertTokenNums, OUT aclTensor *epRecvCounts, OUT aclTensor *tpRecvCounts,
    OUT aclTensor *expandScales);

/** aclnnop/aclnn_moe_finalize_routing.h */
OP aclnnMoeFinalizeRouting(IN const aclTensor *expandedX, IN const aclTensor *x1, IN OPT const aclTensor *x2Optional,
    IN const aclTensor *bias, IN const aclTensor *scales, IN const aclTensor *expandedRowIdx,
    IN const aclTensor *expandedExpertIdx, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_finalize_routing_v2.h */
OP aclnnMoeFinalizeRoutingV2(IN const aclTensor *expandedX, IN const aclTensor *expandedRowIdx,
    IN OPT const aclTensor *x1Optional, IN OPT const aclTensor *x2Optional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *expertIdxOptional, int64_t dropPadMode,
    OUT const aclTensor *out);

/** aclnnop/aclnn_moe_finalize_routing_v2_grad.h */
OP aclnnMoeFinalizeRoutingV2Grad(IN const aclTensor *gradY, IN const aclTensor *expandedRowIdx,
    IN OPT const aclTensor *expandedXOptional, IN OPT const aclTensor *scalesOptional,
    IN OPT const aclTensor *expertIdxOptional, IN OPT const aclTensor *biasOptional, int64_t dropPadMode,
    int64_t activeNum, int64_t expertNum, int64_t expertCapacity, OUT const aclTensor *gradExpandedXOut,
    OUT const aclTensor *gradScalesOut);

/** aclnnop/aclnn_moe_gating_top_k_softmax.h */
OP aclnnMoeGatingTopKSoftmax(IN const aclTensor *x, IN OPT const aclTensor *finishedOptional, int64_t k,
    OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut, OUT const aclTensor *rowIdxOut);

/** aclnnop/aclnn_moe_gating_top_k_softmax_v2.h */
OP aclnnMoeGatingTopKSoftmaxV2(IN const aclTensor *x, IN OPT const aclTensor *finishedOptional, int64_t k,
    int64_t renorm, bool outputSoftmaxResultFlag, OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut,
    OUT OPT const aclTensor *softmaxResultOutOptional);

/** aclnnop/aclnn_moe_init_routing.h */
OP aclnnMoeInitRouting(IN const aclTensor *x, IN const aclTensor *rowIdx, IN const aclTensor *expertIdx,
    int64_t activeNum, OUT const aclTensor *expandedXOut, OUT const aclTensor *expandedRowIdxOut,
    OUT const aclTensor *expandedExpertIdxOut);

/** aclnnop/aclnn_moe_init_routing_quant.h */
OP aclnnMoeInitRoutingQuant(IN const aclTensor *x, IN const aclTensor *rowIdx, IN const aclTensor *expertIdx,
    int64_t activeNum, double scale, double offset, OUT const aclTensor *expandedXOut,
    OUT const aclTensor *expandedRowIdxOut, OUT const aclTensor *expandedExpertIdxOut);

/** aclnnop/aclnn_moe_init_routing_quant_v2.h */
OP aclnnMoeInitRoutingQuantV2(IN const aclTensor *x, IN const aclTensor *expertIdx,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *offsetOptional, int64_t activeNum,
    int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode, int64_t expertTokensCountOrCumsumFlag,
    bool expertTokensBeforeCapacityFlag, int64_t quantMode, OUT const aclTensor *expandedXOut,
    OUT const aclTensor *expandedRowIdxOut, OUT OPT const aclTensor *expertTokensCountOrCumsumOutOptional,
    OUT OPT const aclTensor *expertTokensBeforeCapacityOutOptional,
    OUT OPT const aclTensor *dynamicQuantScaleOutOptional);

/** aclnnop/aclnn_moe_init_routing_v2.h */
OP aclnnMoeInitRoutingV2(IN const aclTensor *x, IN const aclTensor *expertIdx, int64_t activeNumOptional,
    int64_t expertCapacityOptional, int64_t expertNumOptional, int64_t dropPadModeOptional,
    int64_t expertTokensCountOrCumsumFlagOptional, bool expertTokensBeforeCapacityFlagOptional,
    OUT const aclTensor *expandedXOut, OUT const aclTensor *expandedRowIdxOut,
    OUT OPT const aclTensor *expertTokensCountOrCumsumOutOptional,
    OUT OPT const aclTensor *expertTokensBeforeCapacityOutOptional);

/** aclnnop/aclnn_moe_init_routing_v2_grad.h */
OP aclnnMoeInitRoutingV2Grad(IN const aclTensor *gradExpandedX, IN const aclTensor *expandedRowIdx, int64_t topK,
    int64_t dropPadMode, int64_t activeNum, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_token_permute.h */
OP aclnnMoeTokenPermute(IN const aclTensor *tokens, IN const aclTensor *indices, int64_t numOutTokens, bool paddedMode,
    OUT const aclTensor *permuteTokensOut, OUT const aclTensor *sortedIndicesOut);

/** aclnnop/aclnn_moe_token_permute_grad.h */
OP aclnnMoeTokenPermuteGrad(IN const aclTensor *permutedOutputGrad, IN const aclTensor *sortedIndices, int64_t numTopk,
    bool paddedMode, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_token_unpermute.h */
OP aclnnMoeTokenUnpermute(IN const aclTensor *permutedTokens, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *probsOptional, bool paddedMode, OPT const aclIntArray *restoreShapeOptional,
    OUT const aclTensor *out);

/** aclnnop/aclnn_moe_token_unpermute_grad.h */
/* both gradients are outputs despite their const */
OP aclnnMoeTokenUnpermuteGrad(IN const aclTensor *permutedTokens, IN const aclTensor *unpermutedTokensGrad,
    IN const aclTensor *sortedIndices, IN OPT const aclTensor *probsOptional, bool paddedMode,
    OPT const aclIntArray *restoreShapeOptional, OUT const aclTensor *permutedTokensGradOut,
    OUT const aclTensor *probsGradOut);

/** aclnnop/aclnn_quant_matmul_all_reduce.h level2 */
OP aclnnQuantMatmulAllReduce(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *x3, IN const aclTensor *dequantScale, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_quant_matmul_all_reduce_add_rms_norm.h level2 */
OP aclnnQuantMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *dequantScale, IN const aclTensor *residual, IN const aclTensor *gamma, double epsilon,
    const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *y,
    OUT const aclTensor *normOut);

/** aclnnop/aclnn_quant_matmul_all_reduce_v2.h level2 */
OP aclnnQuantMatmulAllReduceV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *x3Optional, IN const aclTensor *dequantScale, IN OPT const aclTensor *pertokenScaleOptional,
    const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_quant_matmul_all_reduce_v3.h level2 */
OP aclnnQuantMatmulAllReduceV3(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *x3Optional, IN const aclTensor *dequantScale, IN OPT const aclTensor *pertokenScaleOptional,
    IN OPT const aclTensor *commQuantScale1Optional, IN OPT const aclTensor *commQuantScale2Optional, const char *group,
    const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_weight_quant_matmul_all_reduce.h level2 */
OP aclnnWeightQuantMatmulAllReduce(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffset, IN OPT const aclTensor *x3,
    const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize,
    OUT const aclTensor *output);

/** aclnnop/aclnn_weight_quant_matmul_all_reduce_add_rms_norm.h level2 */
OP aclnnWeightQuantMatmulAllReduceAddRmsNorm(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *bias, IN const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffset,
    IN const aclTensor *residual, IN const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, OUT const aclTensor *y,
    OUT const aclTensor *normOut);
