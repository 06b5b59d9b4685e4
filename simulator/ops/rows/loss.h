/* Loss functions, forward. */

/** aclnnop/aclnn_binary_cross_entropy.h level2 */
OP aclnnBinaryCrossEntropy(IN const aclTensor *self, IN const aclTensor *target, IN OPT const aclTensor *weight,
    int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_binary_cross_entropy_with_logits.h level2 */
OP aclnnBinaryCrossEntropyWithLogits(IN const aclTensor *self, IN const aclTensor *target,
    IN OPT const aclTensor *weightOptional, IN OPT const aclTensor *posWeightOptional, int64_t reduction,
    OUT aclTensor *out);

/** aclnnop/aclnn_cross_entropy_loss.h */
OP aclnnCrossEntropyLoss(IN const aclTensor *input, IN const aclTensor *target, IN OPT const aclTensor *weightOptional,
    OPT char *reductionOptional, int64_t ignoreIndex, double labelSmoothing, double lseSquareScaleForZloss,
    bool returnZloss, OUT const aclTensor *lossOut, OUT const aclTensor *logProbOut, OUT const aclTensor *zlossOut,
    OUT const aclTensor *lseForZlossOut);

/** aclnnop/aclnn_cross_entropy_sum_exp_and_index_logit.h */
OP(9, 2) aclnnCrossEntropySumExpAndIndexLogit(IN const aclTensor *vocabParallelLogits, IN const aclTensor *target,
    IN const aclTensor *globalLogitsMax, int64_t vocabStartIndex, int64_t vocabEndIndex,
    OUT const aclTensor *predictedLogitsOut, OUT const aclTensor *sumExpLogitsOut, OUT const aclTensor *expLogitsOut,
    OUT const aclTensor *targetOffsetOut, OUT const aclTensor *targetMaskOut);

/** aclnnop/aclnn_ctc_loss.h level2 */
OP aclnnCtcLoss(IN const aclTensor *logProbs, IN const aclTensor *targets, const aclIntArray *inputLengths,
    const aclIntArray *targetlengths, int64_t blank, bool zeroInfinity, OUT aclTensor *negLogLikelihoodOut,
    OUT aclTensor *logAlphaOut);

/** aclnnop/aclnn_fused_cross_entropy_loss_with_max_sum.h */
OP(8, 5) aclnnFusedCrossEntropyLossWithMaxSum(IN const aclTensor *logitsMax, IN const aclTensor *sumExpLogits,
    IN const aclTensor *predictedLogits, float labelSmoothing, IN OPT const aclTensor *inputOptional,
    IN OPT const aclTensor *weightOptional, OUT OPT const aclTensor *vocabParallelLogitsOptional,
    OUT aclTensor *lossOut, OUT OPT aclTensor *softMaxOutOptional);

/** aclnnop/aclnn_kl_div.h level2 */
OP aclnnKlDiv(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, bool logTarget,
    OUT aclTensor *out);

/** aclnnop/aclnn_l1_loss.h */
OP aclnnL1Loss(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_mse_loss.h level2 */
OP aclnnMseLoss(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_mse_loss_out.h level2 */
OP aclnnMseLossOut(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_multilabel_margin_loss.h level2 */
OP aclnnMultilabelMarginLoss(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction,
    OUT aclTensor *out, OUT aclTensor *isTarget);

/** aclnnop/aclnn_nll_loss.h level2 */
OP aclnnNLLLoss(IN const aclTensor *self, IN const aclTensor *target, IN const aclTensor *weight, int64_t reduction,
    int64_t ignoreIndex, OUT aclTensor *out, OUT aclTensor *totalWeightOut);

/** aclnnop/aclnn_nll_loss2d.h level2 */
OP aclnnNLLLoss2d(IN const aclTensor *self, IN const aclTensor *target, IN const aclTensor *weight, int64_t reduction,
    int64_t ignoreIndex, OUT aclTensor *out, OUT aclTensor *totalWeightOut);

/** aclnnop/aclnn_smooth_l1_loss.h level2 */
OP aclnnSmoothL1Loss(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, float beta,
    OUT aclTensor *result);

/** aclnnop/aclnn_soft_margin_loss.h level2 */
OP aclnnSoftMarginLoss(IN const aclTensor *self, IN const aclTensor *target, int64_t reduction, OUT aclTensor *out);

/** aclnnop/aclnn_softmax_cross_entropy_with_logits.h */
OP(8, 5) aclnnSoftmaxCrossEntropyWithLogits(IN const aclTensor *features, IN aclTensor *labels, OUT aclTensor *loss,
    OUT aclTensor *backprop);
