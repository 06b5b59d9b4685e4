/* Parameter updates of training and the guards that watch gradients. */

/** aclnnop/aclnn_amp_update_scale.h */
OP(9, 1) aclnnAmpUpdateScale(IN const aclTensor *currentScale, IN const aclTensor *growthTracker,
    IN const aclTensor *foundInf, double growthFactor, double backoffFactor, int64_t growthInterval,
    OUT const aclTensor *updatedScale, OUT const aclTensor *updatedGrowthTracker);

/** aclnnop/aclnn_apply_adam.h */
OP(9, 1) aclnnApplyAdam(INOUT aclTensor *varRef, INOUT const aclTensor *m, INOUT const aclTensor *v,
    IN const aclTensor *beta1Power, IN const aclTensor *beta2Power, IN const aclTensor *lr, IN const aclTensor *beta1,
    IN const aclTensor *beta2, IN const aclTensor *epsilon, IN const aclTensor *grad, bool useLocking,
    bool useNesterov);

/** aclnnop/aclnn_apply_adam_w.h */
OP(8, 5) aclnnApplyAdamW(INOUT aclTensor *varRef, INOUT aclTensor *mRef, INOUT aclTensor *vRef,
    IN const aclTensor *beta1Power, IN const aclTensor *beta2Power, IN const aclTensor *lr,
    IN const aclTensor *weightDecay, IN const aclTensor *beta1, IN const aclTensor *beta2, IN const aclTensor *eps,
    IN const aclTensor *grad, IN OPT const aclTensor *maxGradNormOptional, bool amsgrad, bool maximize);

/** aclnnop/aclnn_apply_adam_w_quant.h */
OP(8, 5) aclnnApplyAdamWQuant(INOUT aclTensor *varRef, IN const aclTensor *grad, INOUT aclTensor *mRef,
    INOUT aclTensor *vRef, IN const aclTensor *qmapM, IN const aclTensor *qmapV, INOUT aclTensor *absmaxMRef,
    INOUT aclTensor *absmaxVRef, IN const aclTensor *step, double lr, double beta1, double beta2, double weightDecay,
    double eps, double gnormScale, OPT char *quantModeOptional, int64_t blockSize);

/** aclnnop/aclnn_apply_adam_w_v2.h level2 */
OP aclnnApplyAdamWV2(INOUT aclTensor *varRef, INOUT aclTensor *mRef, INOUT aclTensor *vRef,
    INOUT OPT aclTensor *maxGradNormOptionalRef, IN const aclTensor *grad, IN const aclTensor *step, float lr,
    float beta1, float beta2, float weightDecay, float eps, bool amsgrad, bool maximize);

/** aclnnop/aclnn_apply_fused_ema_adam.h */
OP aclnnApplyFusedEmaAdam(IN const aclTensor *grad, INOUT aclTensor *varRef, INOUT aclTensor *mRef,
    INOUT aclTensor *vRef, INOUT aclTensor *sRef, IN const aclTensor *step, double lr, double emaDecay, double beta1,
    double beta2, double eps, int64_t mode, bool biasCorrection, double weightDecay);

/** aclnnop/aclnn_fused_adamw.h */
OP(9, 2) aclnnFusedAdamw(INOUT const aclTensorList *paramsRef, IN const aclTensorList *grads,
    INOUT const aclTensorList *expAvgsRef, INOUT const aclTensorList *expAvgSqsRef,
    INOUT OPT const aclTensorList *maxExpAvgSqsRef, IN const aclTensorList *stateSteps,
    IN OPT const aclTensor *gradScaleOptional, IN OPT const aclTensor *foundInfOptional, double lr, double beta1,
    double beta2, double weightDecay, double eps, bool amsgrad, bool maximize);

/** aclnnop/aclnn_fused_sgd.h */
OP(9, 1) aclnnFusedSgd(INOUT const aclTensorList *paramsRef, INOUT const aclTensorList *gradsRef,
    INOUT const aclTensorList *momentumBufferListOptionalRef, IN OPT const aclTensor *gradScaleOptional,
    float weightDecay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool isFirstStep);

/** aclnnop/aclnn_silent_check.h */
OP aclnnSilentCheck(IN const aclTensor *val, INOUT aclTensor *inputGradRef, INOUT aclTensor *sfdaRef,
    INOUT aclTensor *stepRef, int32_t cMinSteps, float cThreshL1, float cCoeffL1, float cThreshL2, float cCoeffL2,
    int32_t npuAsdDetect, OUT aclTensor *result);

/** aclnnop/aclnn_silent_check_v2.h */
OP aclnnSilentCheckV2(IN const aclTensor *val, IN const aclTensor *max, INOUT aclTensor *avgRef,
    INOUT aclTensor *inputGradRef, INOUT aclTensor *stepRef, aclIntArray *dstSize, aclIntArray *dstStride,
    aclIntArray *dstOffset, float cThreshL1, float cThreshL2, float beta1, int32_t npuAsdDetect, OUT aclTensor *result);
