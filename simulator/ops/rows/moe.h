/* Mixture of experts and matrix products fused with collective communication. */

/** aclnnop/aclnn_attention_worker_combine.h */
OP(9, 2) aclnnAttentionWorkerCombine(IN const aclTensor *scheduleContext, IN const aclTensor *expertScales,
    IN const aclTensor *layerId, int64_t hiddenSize, int64_t tokenDtype, int64_t needSchedule, OUT const aclTensor *y,
    OUT const aclTensor *nextLayerId);

/** aclnnop/aclnn_attention_worker_scheduler.h */
OP(8, 5) aclnnInplaceAttentionWorkerScheduler(INOUT aclTensor *scheduleContextRef);

/** aclnnop/aclnn_ffn_worker_batching.h */
OP(9, 2) aclnnFfnWorkerBatching(IN const aclTensor *scheduleContext, int64_t expertNum, const aclIntArray *maxOutShape,
    int64_t tokenDtype, int64_t needSchedule, int64_t layerNum, OUT const aclTensor *y, OUT const aclTensor *groupList,
    OUT const aclTensor *sessionIds, OUT const aclTensor *microBatchIds, OUT const aclTensor *tokenIds,
    OUT const aclTensor *expertOffsets, OUT const aclTensor *dynamicScale, OUT const aclTensor *actualTokenNum);

/** aclnnop/aclnn_ffn_worker_scheduler.h */
OP(8, 5) aclnnInplaceFfnWorkerScheduler(INOUT aclTensor *scheduleContextRef, int32_t syncGroupSize,
    int32_t executeMode);

/** aclnnop/aclnn_moe_compute_expert_tokens.h */
OP aclnnMoeComputeExpertTokens(IN const aclTensor *sortedExperts, int64_t numExperts, OUT const aclTensor *out);

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

/** aclnnop/aclnn_moe_finalize_routing_v3.h */
OP(9, 1) aclnnMoeFinalizeRoutingV3(IN const aclTensor *expandedX, IN const aclTensor *expandedRowIdx,
    IN OPT const aclTensor *x1Optional, IN OPT const aclTensor *x2Optional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *expertIdxOptional,
    IN OPT const aclTensor *xOptional, IN OPT const aclTensor *a1Optional, IN OPT const aclTensor *a2Optional,
    IN OPT const aclTensor *vOptional, int64_t dropPadMode, OPT const aclIntArray *zeroExpertRange,
    OPT const aclIntArray *copyExpertRange, OPT const aclIntArray *constantExpertRange, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_finalize_routing_v4.h */
OP(9, 2) aclnnMoeFinalizeRoutingV4(IN const aclTensor *expandedX, IN const aclTensor *expandedRowIdx,
    IN OPT const aclTensor *x1Optional, IN OPT const aclTensor *x2Optional, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *expertIdxOptional,
    IN OPT const aclTensor *xOptional, IN OPT const aclTensor *a1Optional, IN OPT const aclTensor *a2Optional,
    IN OPT const aclTensor *vOptional, int64_t dropPadMode, OPT const aclIntArray *zeroExpertRange,
    OPT const aclIntArray *copyExpertRange, OPT const aclIntArray *constantExpertRange, int64_t k,
    OUT const aclTensor *out);

/** aclnnop/aclnn_moe_fused_topk.h */
OP(8, 5) aclnnMoeFusedTopk(IN const aclTensor *x, IN const aclTensor *addNum, IN const aclTensor *mappingNum,
    IN const aclTensor *mappingTable, uint32_t groupNum, uint32_t groupTopk, uint32_t topN, uint32_t topK,
    uint32_t activateType, bool isNorm, float scale, bool enableExpertMapping, OUT aclTensor *y,
    OUT aclTensor *indices);

/** aclnnop/aclnn_moe_gating_top_k.h */
OP(8, 5) aclnnMoeGatingTopK(IN const aclTensor *x, IN OPT const aclTensor *biasOptional, int64_t k, int64_t kGroup,
    int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag,
    double routedScalingFactor, double eps, OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut,
    OUT const aclTensor *outOut);

/** aclnnop/aclnn_moe_gating_top_k_backward.h */
OP(9, 1) aclnnMoeGatingTopKBackward(IN const aclTensor *xNorm, IN const aclTensor *gradY, IN const aclTensor *expertIdx,
    int64_t renorm, int64_t normType, double routedScalingFactor, double eps, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_gating_top_k_softmax.h */
OP aclnnMoeGatingTopKSoftmax(IN const aclTensor *x, IN OPT const aclTensor *finishedOptional, int64_t k,
    OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut, OUT const aclTensor *rowIdxOut);

/** aclnnop/aclnn_moe_gating_top_k_softmax_v2.h */
OP aclnnMoeGatingTopKSoftmaxV2(IN const aclTensor *x, IN OPT const aclTensor *finishedOptional, int64_t k,
    int64_t renorm, bool outputSoftmaxResultFlag, OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut,
    OUT OPT const aclTensor *softmaxResultOutOptional);

/** aclnnop/aclnn_moe_gating_top_k_v2.h */
OP(9, 2) aclnnMoeGatingTopKV2(IN const aclTensor *x, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *inputIdsOptional, IN OPT const aclTensor *tid2eidOptional, int64_t k, int64_t kGroup,
    int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag,
    double routedScalingFactor, double eps, OUT const aclTensor *yOut, OUT const aclTensor *expertIdxOut,
    OUT const aclTensor *outOut);

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

/** aclnnop/aclnn_moe_init_routing_v3.h */
OP(8, 5) aclnnMoeInitRoutingV3(IN const aclTensor *x, IN const aclTensor *expertIdx,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *offsetOptional, int64_t activeNum,
    int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode, int64_t expertTokensNumType,
    bool expertTokensNumFlag, int64_t quantMode, OPT const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType,
    OUT const aclTensor *expandedXOut, OUT const aclTensor *expandedRowIdxOut,
    OUT const aclTensor *expertTokensCountOrCumsumOut, OUT const aclTensor *expandedScaleOut);

/** aclnnop/aclnn_moe_init_routing_v4.h */
OP(9, 2) aclnnMoeInitRoutingV4(IN const aclTensor *x, IN const aclTensor *expertIdx,
    IN OPT const aclTensor *scaleOptional, IN OPT const aclTensor *offsetOptional,
    IN OPT const aclTensor *activeNumOptional, IN OPT const aclTensor *topkWeightOptional, int64_t expertCapacity,
    int64_t expertNum, int64_t dropPadMode, int64_t expertTokensNumType, bool expertTokensNumFlag, int64_t quantMode,
    OPT const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType, OUT const aclTensor *expandedXOut,
    OUT const aclTensor *expandedRowIdxOut, OUT const aclTensor *expertTokensCountOrCumsumOut,
    OUT const aclTensor *expandedScaleOut, OUT OPT const aclTensor *expandedTopkWeightOut);

/** aclnnop/aclnn_moe_token_permute.h */
OP aclnnMoeTokenPermute(IN const aclTensor *tokens, IN const aclTensor *indices, int64_t numOutTokens, bool paddedMode,
    OUT const aclTensor *permuteTokensOut, OUT const aclTensor *sortedIndicesOut);

/** aclnnop/aclnn_moe_token_permute_grad.h */
OP aclnnMoeTokenPermuteGrad(IN const aclTensor *permutedOutputGrad, IN const aclTensor *sortedIndices, int64_t numTopk,
    bool paddedMode, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_token_permute_v2.h */
OP(9, 2) aclnnMoeTokenPermuteV2(IN const aclTensor *tokens, IN const aclTensor *indices, int64_t numOutTokens,
    bool paddedMode, int64_t quantMode, OUT const aclTensor *permuteTokensOut, OUT const aclTensor *sortedIndicesOut,
    OUT const aclTensor *expandedScaleOut);

/** aclnnop/aclnn_moe_token_permute_with_ep.h */
OP(8, 5) aclnnMoeTokenPermuteWithEp(IN const aclTensor *tokens, IN const aclTensor *indices,
    IN OPT const aclTensor *probsOptional, OPT const aclIntArray *rangeOptional, int64_t numOutTokens, bool paddedMode,
    OUT const aclTensor *permuteTokensOut, OUT const aclTensor *sortedIndicesOut, OUT const aclTensor *permuteProbsOut);

/** aclnnop/aclnn_moe_token_permute_with_ep_grad.h */
OP(8, 5) aclnnMoeTokenPermuteWithEpGrad(IN const aclTensor *permutedTokensOutputGrad, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *permutedProbsOutputGradOptional, int64_t numTopk, OPT const aclIntArray *rangeOptional,
    bool paddedMode, OUT const aclTensor *tokenGradOut, OUT const aclTensor *probsGradOut);

/** aclnnop/aclnn_moe_token_permute_with_routing_map.h */
OP(8, 5) aclnnMoeTokenPermuteWithRoutingMap(IN const aclTensor *tokens, IN const aclTensor *routingMap,
    IN OPT const aclTensor *probsOptional, int64_t numOutTokens, bool dropAndPad, OUT aclTensor *permuteTokensOut,
    OUT OPT aclTensor *permuteProbsOutOptional, OUT aclTensor *sortedIndicesOut);

/** aclnnop/aclnn_moe_token_permute_with_routing_map_grad.h */
OP(8, 5) aclnnMoeTokenPermuteWithRoutingMapGrad(IN const aclTensor *permutedTokenOutputGrad,
    IN OPT const aclTensor *permutedProbsOutputGradOptional, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *routingMapOptional, int64_t numExperts, int64_t tokensNum, bool dropAndPad,
    OUT aclTensor *tokensGradOut, OUT OPT aclTensor *probsGradOutOptional);

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

/** aclnnop/aclnn_moe_token_unpermute_with_ep.h */
OP(8, 5) aclnnMoeTokenUnpermuteWithEp(IN const aclTensor *permutedTokens, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *probsOptional, int64_t numTopk, OPT const aclIntArray *rangeOptional, bool paddedMode,
    OPT const aclIntArray *restoreShapeOptional, OUT const aclTensor *out);

/** aclnnop/aclnn_moe_token_unpermute_with_ep_grad.h */
OP(8, 5) aclnnMoeTokenUnpermuteWithEpGrad(IN const aclTensor *unpermutedTokensGrad, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *permutedTokensOptional, IN OPT const aclTensor *probsOptional, bool paddedMode,
    OPT const aclIntArray *restoreShapeOptional, OPT const aclIntArray *rangeOptional, int64_t topkNum,
    OUT const aclTensor *permutedTokensGradOut, OUT const aclTensor *probsGradOut);

/** aclnnop/aclnn_moe_token_unpermute_with_routing_map.h */
OP(8, 5) aclnnMoeTokenUnpermuteWithRoutingMap(IN const aclTensor *permutedTokens, IN const aclTensor *sortedIndices,
    IN OPT const aclTensor *routingMapOptional, IN OPT const aclTensor *probsOptional, bool paddedMode,
    OPT const aclIntArray *restoreShapeOptional, OUT aclTensor *unpermutedTokens, OUT aclTensor *outIndex,
    OUT aclTensor *permuteTokenId, OUT aclTensor *permuteProbs);

/** aclnnop/aclnn_moe_token_unpermute_with_routing_map_grad.h */
OP(8, 5) aclnnMoeTokenUnpermuteWithRoutingMapGrad(IN const aclTensor *unpermutedTokensGrad,
    IN const aclTensor *outIndex, IN const aclTensor *permuteTokenId, IN OPT const aclTensor *routingMapOptional,
    IN OPT const aclTensor *permutedTokensOptional, IN OPT const aclTensor *probsOptional, bool dropAndPad,
    OPT const aclIntArray *restoreShapeOptional, OUT const aclTensor *permutedTokensGradOut,
    OUT OPT const aclTensor *probsGradOutOptional);

/** aclnnop/aclnn_moe_update_expert.h */
OP(8, 5) aclnnMoeUpdateExpert(IN const aclTensor *expertIds, IN const aclTensor *eplbTable,
    IN OPT const aclTensor *expertScalesOptional, IN OPT const aclTensor *pruningThresholdOptional,
    IN OPT const aclTensor *activeMaskOptional, int64_t localRankId, int64_t worldSize, int64_t balanceMode,
    OUT aclTensor *balancedExpertIds, OUT aclTensor *balancedActiveMask);
