/* Operators that communicate: matrix products and mixture of experts fused with collectives. */

/** aclnnop/aclnn_all_gather_add.h */
OP(8, 5) aclnnAllGatherAdd(IN const aclTensor *a, IN const aclTensor *b, char *group, int64_t rankSize,
    OUT const aclTensor *cOut, OUT const aclTensor *gatherOutOut);

/** aclnnop/aclnn_all_gather_matmul.h level2 */
OP aclnnAllGatherMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias, const char *group,
    int64_t gatherIndex, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output,
    OUT const aclTensor *gatherOut);

/** aclnnop/aclnn_all_gather_matmul_v2.h */
OP(9, 0) aclnnAllGatherMatmulV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *x1Scale, IN OPT const aclTensor *x2Scale, IN OPT const aclTensor *quantScale,
    int64_t blockSize, const char *group, int64_t gatherIndex, int64_t commTurn, int64_t streamMode, int64_t groupSize,
    const char *commMode, OUT aclTensor *output, OUT aclTensor *gatherOut, OUT OPT aclTensor *amaxOut);

/** aclnnop/aclnn_all_to_all_all_gather_batch_matmul.h level2 */
OP aclnnAlltoAllAllGatherBatchMatMul(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize,
    int64_t tpWorldSize, int64_t xShardType, int64_t actType, OUT aclTensor *y1Out, OUT OPT aclTensor *y2OutOptional,
    OUT OPT aclTensor *y3OutOptional);

/** aclnnop/aclnn_allto_all_matmul.h */
OP(9, 0) aclnnAlltoAllMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    OPT const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1, bool transposeX2,
    OUT const aclTensor *output, OUT OPT const aclTensor *alltoAllOutOptional);

/** aclnnop/aclnn_allto_all_matmul_v2.h */
OP(9, 1) aclnnAlltoAllMatmulV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    OPT const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode, bool transposeX1,
    bool transposeX2, OUT const aclTensor *output, OUT OPT const aclTensor *alltoAllOutOptional);

/** aclnnop/aclnn_allto_all_quant_matmul.h */
OP(9, 0) aclnnAlltoAllQuantMatmul(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    IN OPT const aclTensor *x1ScaleOptional, IN const aclTensor *x2Scale, IN OPT const aclTensor *commScaleOptional,
    IN OPT const aclTensor *x1OffsetOptional, IN OPT const aclTensor *x2OffsetOptional, const char *group,
    OPT const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode,
    int64_t commQuantDtype, int64_t x1QuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2,
    OUT const aclTensor *output, OUT OPT const aclTensor *alltoAllOutOptional);

/** aclnnop/aclnn_allto_all_quant_matmul_v2.h */
OP(9, 1) aclnnAlltoAllQuantMatmulV2(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *x1ScaleOptional, IN const aclTensor *x2Scale,
    IN OPT const aclTensor *commScaleOptional, IN OPT const aclTensor *x1OffsetOptional,
    IN OPT const aclTensor *x2OffsetOptional, const char *group, const char *commMode,
    OPT const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode,
    int64_t commQuantDtype, int64_t x1QuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2,
    OUT const aclTensor *output, OUT OPT const aclTensor *alltoAllOutOptional);

/** aclnnop/aclnn_allto_allv_grouped_mat_mul.h */
OP(8, 5) aclnnAlltoAllvGroupedMatMul(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN OPT const aclTensor *sendCountsTensorOptional, IN OPT const aclTensor *recvCountsTensorOptional,
    IN OPT const aclTensor *mmXOptional, IN OPT const aclTensor *mmWeightOptional, const char *group,
    int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
    bool transMmWeight, bool permuteOutFlag, OUT aclTensor *gmmY, OUT OPT aclTensor *mmYOptional,
    OUT OPT aclTensor *permuteOutOptional);

/** aclnnop/aclnn_allto_allv_grouped_mat_mul_v2.h */
OP(9, 1) aclnnAlltoAllvGroupedMatMulV2(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN OPT const aclTensor *sendCountsTensorOptional, IN OPT const aclTensor *recvCountsTensorOptional,
    IN OPT const aclTensor *mmXOptional, IN OPT const aclTensor *mmWeightOptional, const char *group,
    const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts,
    bool transGmmWeight, bool transMmWeight, bool permuteOutFlag, OUT aclTensor *gmmY, OUT OPT aclTensor *mmYOptional,
    OUT OPT aclTensor *permuteOutOptional);

/** aclnnop/aclnn_allto_allv_quant_grouped_mat_mul.h */
OP(9, 0) aclnnAlltoAllvQuantGroupedMatMul(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN const aclTensor *gmmXScale, IN const aclTensor *gmmWeightScale, IN OPT const aclTensor *sendCountsTensorOptional,
    IN OPT const aclTensor *recvCountsTensorOptional, IN OPT const aclTensor *mmXOptional,
    IN OPT const aclTensor *mmWeightOptional, IN OPT const aclTensor *mmXScaleOptional,
    IN OPT const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode,
    int64_t mmXQuantMode, int64_t mmWeightQuantMode, const char *group, int64_t epWorldSize,
    const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
    int64_t groupSize, bool permuteOutFlag, OUT aclTensor *gmmY, OUT OPT aclTensor *mmYOptional,
    OUT OPT aclTensor *permuteOutOptional);

/** aclnnop/aclnn_allto_allv_quant_grouped_mat_mul_v2.h */
OP(9, 1) aclnnAlltoAllvQuantGroupedMatMulV2(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN const aclTensor *gmmXScale, IN const aclTensor *gmmWeightScale, IN OPT const aclTensor *sendCountsTensorOptional,
    IN OPT const aclTensor *recvCountsTensorOptional, IN OPT const aclTensor *mmXOptional,
    IN OPT const aclTensor *mmWeightOptional, IN OPT const aclTensor *mmXScaleOptional,
    IN OPT const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode,
    int64_t mmXQuantMode, int64_t mmWeightQuantMode, const char *group, const char *commMode, int64_t epWorldSize,
    const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
    int64_t groupSize, bool permuteOutFlag, OUT aclTensor *gmmY, OUT OPT aclTensor *mmYOptional,
    OUT OPT aclTensor *permuteOutOptional);

/** aclnnop/aclnn_attention_to_ffn.h */
OP(8, 5) aclnnAttentionToFFN(IN const aclTensor *x, IN const aclTensor *sessionId, IN const aclTensor *microBatchId,
    IN const aclTensor *layerId, IN const aclTensor *expertIds, IN const aclTensor *expertRankTable,
    IN OPT const aclTensor *scales, IN OPT const aclTensor *activeMask, const char *group, int64_t worldSize,
    const aclIntArray *ffnTokenInfoTableShape, const aclIntArray *ffnTokenDataShape,
    const aclIntArray *attnTokenInfoTableShape, int64_t moeExpertNum, int64_t quantMode, int64_t syncFlag,
    int64_t ffnStartRankId);

/** aclnnop/aclnn_bandwidth_test.h */
UNVERIFIED OP(9, 2) aclnnBandwidthTest(IN const aclTensor *x, IN const aclTensor *dstRankId, char *group,
    int64_t worldSize, int64_t maxBs, int64_t mode, char *commAlg, int64_t aivNum, OUT aclTensor *y,
    OUT aclTensor *receiveCnt);

/** aclnnop/aclnn_batch_matmul_reduce_scatter_all_to_all.h level2 */
OP aclnnBatchMatMulReduceScatterAlltoAll(IN const aclTensor *x, IN const aclTensor *weight,
    IN OPT const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize,
    int64_t tpWorldSize, int64_t yShardType, OUT aclTensor *out);

/** aclnnop/aclnn_distribute_barrier.h */
OP(8, 5) aclnnDistributeBarrier(INOUT aclTensor *xRef, const char *group, int64_t worldSize);

/** aclnnop/aclnn_distribute_barrier_v2.h */
OP(8, 5) aclnnDistributeBarrierV2(INOUT const aclTensor *xRef, IN const aclTensor *timeOut,
    IN OPT const aclTensor *elasticInfo, const char *group, int64_t worldSize);

/** aclnnop/aclnn_ffn_to_attention.h */
OP(8, 5) aclnnFFNToAttention(IN const aclTensor *x, IN const aclTensor *sessionIds, IN const aclTensor *microBatchIds,
    IN const aclTensor *tokenIds, IN const aclTensor *expertOffsets, IN const aclTensor *actualTokenNum,
    IN OPT const aclTensor *attnRankTable, const char *group, int64_t worldSize, const aclIntArray *tokenInfoTableShape,
    const aclIntArray *tokenDataShape);

/** aclnnop/aclnn_grouped_mat_mul_all_reduce.h level2 */
OP aclnnGroupedMatMulAllReduce(IN const aclTensorList *x, IN const aclTensorList *weight,
    IN OPT const aclTensorList *bias, OPT const aclIntArray *groupListOptional, int64_t splitItem, const char *group,
    const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensorList *y);

/** aclnnop/aclnn_grouped_mat_mul_allto_allv.h */
OP(8, 5) aclnnGroupedMatMulAlltoAllv(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN OPT const aclTensor *sendCountsTensorOptional, IN OPT const aclTensor *recvCountsTensorOptional,
    IN OPT const aclTensor *mmXOptional, IN OPT const aclTensor *mmWeightOptional, const char *group,
    int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
    bool transMmWeight, OUT aclTensor *y, OUT OPT aclTensor *mmYOptional);

/** aclnnop/aclnn_grouped_mat_mul_allto_allv_v2.h */
OP(9, 1) aclnnGroupedMatMulAlltoAllvV2(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN OPT const aclTensor *sendCountsTensorOptional, IN OPT const aclTensor *recvCountsTensorOptional,
    IN OPT const aclTensor *mmXOptional, IN OPT const aclTensor *mmWeightOptional, const char *group,
    const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts,
    bool transGmmWeight, bool transMmWeight, OUT aclTensor *y, OUT OPT aclTensor *mmYOptional);

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

/** aclnnop/aclnn_matmul_all_reduce_v3.h */
OP(9, 1) aclnnMatmulAllReduceV3(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *x3, const char *group, const char *reduceOp, const char *commMode, int64_t commTurn,
    int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_allto_all.h */
OP(9, 0) aclnnMatmulAlltoAll(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    OPT const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1, bool transposeX2,
    OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_allto_all_v2.h */
OP(9, 1) aclnnMatmulAlltoAllV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    OPT const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode, bool transposeX1,
    bool transposeX2, OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_reduce_scatter.h level2 */
OP aclnnMatmulReduceScatter(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, OUT const aclTensor *output);

/** aclnnop/aclnn_matmul_reduce_scatter_v2.h */
OP(9, 0) aclnnMatmulReduceScatterV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN OPT const aclTensor *x1Scale, IN OPT const aclTensor *x2Scale, IN OPT const aclTensor *quantScale,
    int64_t blockSize, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t groupSize,
    const char *commMode, OUT aclTensor *output, OUT OPT aclTensor *amaxOutOptional);

/** aclnnop/aclnn_moe_distribute_combine.h */
OP aclnnMoeDistributeCombine(IN const aclTensor *expandX, IN const aclTensor *expertIds, IN const aclTensor *expandIdx,
    IN const aclTensor *epSendCounts, IN const aclTensor *expertScales, IN OPT const aclTensor *tpSendCounts,
    IN OPT const aclTensor *xActiveMask, IN OPT const aclTensor *activationScale, IN OPT const aclTensor *weightScale,
    IN OPT const aclTensor *groupList, IN OPT const aclTensor *expandScales, const char *groupEp, int64_t epWorldSize,
    int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype,
    int64_t commQuantMode, int64_t groupList_type, OUT aclTensor *x);

/** aclnnop/aclnn_moe_distribute_combine_add_rms_norm.h */
OP(8, 5) aclnnMoeDistributeCombineAddRmsNorm(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, IN const aclTensor *epSendCounts, IN const aclTensor *expertScales,
    IN const aclTensor *residualX, IN const aclTensor *gamma, IN OPT const aclTensor *tpSendCountsOptional,
    IN OPT const aclTensor *xActiveMaskOptional, IN OPT const aclTensor *activationScaleOptional,
    IN OPT const aclTensor *weightScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *expandScalesOptional, IN OPT const aclTensor *sharedExpertXOptional, const char *groupEp,
    int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize,
    int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
    int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg, float normEps,
    OUT aclTensor *yOut, OUT aclTensor *rstdOut, OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_combine_add_rms_norm_v2.h */
OP(8, 5) aclnnMoeDistributeCombineAddRmsNormV2(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, IN const aclTensor *epSendCounts, IN const aclTensor *expertScales,
    IN const aclTensor *residualX, IN const aclTensor *gamma, IN OPT const aclTensor *tpSendCountsOptional,
    IN OPT const aclTensor *xActiveMaskOptional, IN OPT const aclTensor *activationScaleOptional,
    IN OPT const aclTensor *weightScaleOptional, IN OPT const aclTensor *groupListOptional,
    IN OPT const aclTensor *expandScalesOptional, IN OPT const aclTensor *sharedExpertXOptional,
    IN OPT const aclTensor *elasticInfoOptional, IN OPT const aclTensor *oriXOptional,
    IN OPT const aclTensor *constExpertAlpha1Optional, IN OPT const aclTensor *constExpertAlpha2Optional,
    IN OPT const aclTensor *constExpertVOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode,
    int64_t groupListType, const char *commAlg, float normEps, int64_t zeroExpertNum, int64_t copyExpertNum,
    int64_t constExpertNum, OUT aclTensor *yOut, OUT aclTensor *rstdOut, OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_combine_setup.h */
OP(9, 1) aclnnMoeDistributeCombineSetup(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, int64_t expertSharedType, int64_t sharedExpertNum, int64_t sharedExpertRankNum,
    int64_t globalBs, int64_t commQuantMode, int64_t commType, OPT const char *commAlg, OUT aclTensor *quantExpandXOut,
    OUT aclTensor *commCmdInfoOut);

/** aclnnop/aclnn_moe_distribute_combine_teardown.h */
OP(9, 1) aclnnMoeDistributeCombineTeardown(IN const aclTensor *expandX, IN const aclTensor *quantExpandX,
    IN const aclTensor *expertIds, IN const aclTensor *expandIdx, IN const aclTensor *expertScales,
    IN const aclTensor *commCmdInfo, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum,
    int64_t globalBs, int64_t commQuantMode, int64_t commType, OPT const char *commAlg, OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_combine_v2.h */
OP(8, 5) aclnnMoeDistributeCombineV2(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, IN const aclTensor *epSendCounts, IN const aclTensor *expertScales,
    IN OPT const aclTensor *tpSendCountsOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensor *expandScalesOptional,
    IN OPT const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode,
    int64_t groupListType, const char *commAlg, OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_combine_v3.h */
OP(8, 5) aclnnMoeDistributeCombineV3(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, IN const aclTensor *epSendCounts, IN const aclTensor *expertScales,
    IN OPT const aclTensor *tpSendCountsOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensor *expandScalesOptional,
    IN OPT const aclTensor *sharedExpertXOptional, IN OPT const aclTensor *elasticInfoOptional,
    IN OPT const aclTensor *oriXOptional, IN OPT const aclTensor *constExpertAlpha1Optional,
    IN OPT const aclTensor *constExpertAlpha2Optional, IN OPT const aclTensor *constExpertVOptional,
    const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp,
    int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum,
    int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType,
    const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_combine_v4.h */
OP(8, 5) aclnnMoeDistributeCombineV4(IN const aclTensor *expandX, IN const aclTensor *expertIds,
    IN const aclTensor *assistInfoForCombine, IN const aclTensor *epSendCounts, IN const aclTensor *expertScales,
    IN OPT const aclTensor *tpSendCountsOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *activationScaleOptional, IN OPT const aclTensor *weightScaleOptional,
    IN OPT const aclTensor *groupListOptional, IN OPT const aclTensor *expandScalesOptional,
    IN OPT const aclTensor *sharedExpertXOptional, IN OPT const aclTensor *elasticInfoOptional,
    IN OPT const aclTensor *oriXOptional, IN OPT const aclTensor *constExpertAlpha1Optional,
    IN OPT const aclTensor *constExpertAlpha2Optional, IN OPT const aclTensor *constExpertVOptional,
    IN OPT const aclTensor *performanceInfoOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode,
    int64_t groupListType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum,
    OUT aclTensor *xOut);

/** aclnnop/aclnn_moe_distribute_dispatch.h */
OP aclnnMoeDistributeDispatch(IN const aclTensor *x, IN const aclTensor *expertIds, IN OPT const aclTensor *scales,
    IN OPT const aclTensor *xActiveMask, IN OPT const aclTensor *expertScales, const char *groupEp, int64_t epWorldSize,
    int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
    int64_t expertTokenNumsType, OUT aclTensor *expandX, OUT aclTensor *dynamicScales, OUT aclTensor *expandIdx,
    OUT aclTensor *expertTokenNums, OUT aclTensor *epRecvCounts, OUT aclTensor *tpRecvCounts,
    OUT aclTensor *expandScales);

/** aclnnop/aclnn_moe_distribute_dispatch_setup.h */
OP(9, 1) aclnnMoeDistributeDispatchSetup(IN const aclTensor *x, IN const aclTensor *expertIds,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *xActiveMaskOptional, const char *groupEp,
    int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum,
    int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t commType, OPT const char *commAlg,
    OUT aclTensor *yOut, OUT aclTensor *expandIdxOut, OUT aclTensor *commCmdInfoOut);

/** aclnnop/aclnn_moe_distribute_dispatch_teardown.h */
OP(9, 1) aclnnMoeDistributeDispatchTeardown(IN const aclTensor *x, IN const aclTensor *y, IN const aclTensor *expertIds,
    IN const aclTensor *commCmdInfo, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
    int64_t expertTokenNumsType, int64_t commType, OPT char *commAlg, OUT aclTensor *expandXOut,
    OUT aclTensor *dynamicScalesOut, OUT aclTensor *assistInfoForCombineOut, OUT aclTensor *expertTokenNumsOut);

/** aclnnop/aclnn_moe_distribute_dispatch_v2.h */
OP(8, 5) aclnnMoeDistributeDispatchV2(IN const aclTensor *x, IN const aclTensor *expertIds,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *expertScalesOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
    int64_t expertTokenNumsType, const char *commAlg, OUT aclTensor *expandXOut, OUT aclTensor *dynamicScalesOut,
    OUT aclTensor *assistInfoForCombineOut, OUT aclTensor *expertTokenNumsOut, OUT aclTensor *epRecvCountsOut,
    OUT aclTensor *tpRecvCountsOut, OUT aclTensor *expandScalesOut);

/** aclnnop/aclnn_moe_distribute_dispatch_v3.h */
OP(8, 5) aclnnMoeDistributeDispatchV3(IN const aclTensor *x, IN const aclTensor *expertIds,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *expertScalesOptional, IN OPT const aclTensor *elasticInfoOptional, const char *groupEp,
    int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize,
    int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
    int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum,
    int64_t constExpertNum, OUT aclTensor *expandXOut, OUT aclTensor *dynamicScalesOut,
    OUT aclTensor *assistInfoForCombineOut, OUT aclTensor *expertTokenNumsOut, OUT aclTensor *epRecvCountsOut,
    OUT aclTensor *tpRecvCountsOut, OUT aclTensor *expandScalesOut);

/** aclnnop/aclnn_moe_distribute_dispatch_v4.h */
OP(8, 5) aclnnMoeDistributeDispatchV4(IN const aclTensor *x, IN const aclTensor *expertIds,
    IN OPT const aclTensor *scalesOptional, IN OPT const aclTensor *xActiveMaskOptional,
    IN OPT const aclTensor *expertScalesOptional, IN OPT const aclTensor *elasticInfoOptional,
    IN OPT const aclTensor *performanceInfoOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
    int64_t expertTokenNumsType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum,
    int64_t constExpertNum, OUT aclTensor *expandXOut, OUT aclTensor *dynamicScalesOut,
    OUT aclTensor *assistInfoForCombineOut, OUT aclTensor *expertTokenNumsOut, OUT aclTensor *epRecvCountsOut,
    OUT aclTensor *tpRecvCountsOut, OUT aclTensor *expandScalesOut);

/** aclnnop/aclnn_quant_all_reduce.h */
OP(9, 0) aclnnQuantAllReduce(IN const aclTensor *x, IN const aclTensor *scales, const char *group,
    OPT const char *reduceOp, OUT aclTensor *output);

/** aclnnop/aclnn_quant_allto_allv_grouped_mat_mul.h */
OP(9, 0) aclnnQuantAlltoAllvGroupedMatMul(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN const aclTensor *gmmXScale, IN const aclTensor *gmmWeightScale, IN OPT const aclTensor *gmmXOffsetOptional,
    IN OPT const aclTensor *gmmWeightOffsetOptional, IN OPT const aclTensor *sendCountsTensorOptional,
    IN OPT const aclTensor *recvCountsTensorOptional, IN OPT const aclTensor *mmXOptional,
    IN OPT const aclTensor *mmWeightOptional, IN OPT const aclTensor *mmXScaleOptional,
    IN OPT const aclTensor *mmWeightScaleOptional, IN OPT const aclTensor *mmXOffsetOptional,
    IN OPT const aclTensor *mmWeightOffsetOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode,
    int64_t mmXQuantMode, int64_t mmWeightQuantMode, const char *group, int64_t epWorldSize,
    const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
    int64_t groupSize, bool permuteOutFlag, OUT const aclTensor *gmmY, OUT OPT const aclTensor *mmYOptional,
    OUT OPT const aclTensor *permuteOutOptional);

/** aclnnop/aclnn_quant_grouped_mat_mul_allto_allv.h */
OP(9, 0) aclnnQuantGroupedMatMulAlltoAllv(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN const aclTensor *gmmXScale, IN const aclTensor *gmmWeightScale, IN OPT const aclTensor *sendCountsTensorOptional,
    IN OPT const aclTensor *recvCountsTensorOptional, IN OPT const aclTensor *mmXOptional,
    IN OPT const aclTensor *mmWeightOptional, IN OPT const aclTensor *mmXScaleOptional,
    IN OPT const aclTensor *mmWeightScaleOptional, IN OPT const aclTensor *commQuantScaleOptional,
    int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode,
    int64_t commQuantMode, int64_t commQuantDtypeOptional, int64_t groupSize, const char *group, int64_t epWorldSize,
    const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
    OUT const aclTensor *y, OUT OPT const aclTensor *mmYOptional);

/** aclnnop/aclnn_quant_grouped_mat_mul_allto_allv_v2.h */
OP(9, 1) aclnnQuantGroupedMatMulAlltoAllvV2(IN const aclTensor *gmmX, IN const aclTensor *gmmWeight,
    IN const aclTensor *gmmXScale, IN const aclTensor *gmmWeightScale, IN OPT const aclTensor *sendCountsTensorOptional,
    IN OPT const aclTensor *recvCountsTensorOptional, IN OPT const aclTensor *mmXOptional,
    IN OPT const aclTensor *mmWeightOptional, IN OPT const aclTensor *mmXScaleOptional,
    IN OPT const aclTensor *mmWeightScaleOptional, IN OPT const aclTensor *commQuantScaleOptional,
    int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode,
    int64_t commQuantMode, int64_t commQuantDtypeOptional, int64_t groupSize, const char *group, const char *commMode,
    int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
    bool transMmWeight, OUT const aclTensor *y, OUT OPT const aclTensor *mmYOptional);

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

/** aclnnop/aclnn_quant_matmul_all_reduce_v4.h */
OP(8, 5) aclnnQuantMatmulAllReduceV4(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *x3Optional, IN OPT const aclTensor *x1ScaleOptional,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *commQuantScale1Optional,
    IN OPT const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, int64_t commTurn,
    int64_t streamMode, int64_t groupSize, int64_t commQuantMode, OUT const aclTensor *output);

/** aclnnop/aclnn_quant_matmul_all_reduce_v5.h */
OP(9, 1) aclnnQuantMatmulAllReduceV5(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *biasOptional, IN OPT const aclTensor *x3Optional, IN OPT const aclTensor *x1ScaleOptional,
    IN const aclTensor *x2Scale, IN OPT const aclTensor *commQuantScale1Optional,
    IN OPT const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, const char *commMode,
    int64_t commTurn, int64_t streamMode, int64_t groupSize, int64_t commQuantMode, OUT const aclTensor *output);

/** aclnnop/aclnn_quant_matmul_allto_all.h */
OP(9, 0) aclnnQuantMatmulAlltoAll(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *biasOptional,
    IN const aclTensor *x1Scale, IN const aclTensor *x2Scale, IN OPT const aclTensor *commScaleOptional,
    IN OPT const aclTensor *x1OffsetOptional, IN OPT const aclTensor *x2OffsetOptional,
    OPT const aclIntArray *alltoAllAxesOptional, const char *group, int64_t x1QuantMode, int64_t x2QuantMode,
    int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2,
    OUT const aclTensor *output);

/** aclnnop/aclnn_quant_matmul_allto_all_v2.h */
OP(9, 1) aclnnQuantMatmulAlltoAllV2(IN const aclTensor *x1, IN const aclTensor *x2,
    IN OPT const aclTensor *biasOptional, IN const aclTensor *x1Scale, IN const aclTensor *x2Scale,
    IN OPT const aclTensor *commScaleOptional, IN OPT const aclTensor *x1OffsetOptional,
    IN OPT const aclTensor *x2OffsetOptional, OPT const aclIntArray *alltoAllAxesOptional, const char *group,
    const char *commMode, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode, int64_t commQuantDtype,
    int64_t groupSize, bool transposeX1, bool transposeX2, OUT const aclTensor *output);

/** aclnnop/aclnn_quant_reduce_scatter.h */
OP(9, 0) aclnnQuantReduceScatter(IN const aclTensor *x, IN const aclTensor *scales, const char *group,
    const char *reduceOp, OUT aclTensor *output);

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

/** aclnnop/aclnn_weight_quant_matmul_all_reduce_v2.h */
OP(9, 1) aclnnWeightQuantMatmulAllReduceV2(IN const aclTensor *x1, IN const aclTensor *x2, IN OPT const aclTensor *bias,
    IN const aclTensor *antiquantScale, IN OPT const aclTensor *antiquantOffset, IN OPT const aclTensor *x3,
    const char *group, const char *reduceOp, const char *commMode, int64_t commTurn, int64_t streamMode,
    int64_t antiquantGroupSize, OUT const aclTensor *output);
