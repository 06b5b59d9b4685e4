/* Parameter updates of training and the guards that watch gradients. */

/** aclnnop/aclnn_apply_adam_w_v2.h level2 */
OP aclnnApplyAdamWV2(INOUT aclTensor *varRef, INOUT aclTensor *mRef, INOUT aclTensor *vRef,
    INOUT OPT aclTensor *maxGradNormOptionalRef, IN const aclTensor *grad, IN const aclTensor *step, float lr,
    float beta1, float beta2, float weightDecay, float eps, bool amsgrad, bool maximize);

/** aclnnop/aclnn_apply_fused_ema_adam.h */
OP aclnnApplyFusedEmaAdam(IN const aclTensor *grad, INOUT aclTensor *varRef, INOUT aclTensor *mRef,
    INOUT aclTensor *vRef, INOUT aclTensor *sRef, IN const aclTensor *step, double lr, double emaDecay, double beta1,
    double beta2, double eps, int64_t mode, bool biasCorrection, double weightDecay);

/** aclnnop/aclnn_silent_check.h */
OP aclnnSilentCheck(IN const aclTensor *val, INOUT aclTensor *inputGradRef, INOUT aclTensor *sfdaRef,
    INOUT aclTensor *stepRef, int32_t cMinSteps, float cThreshL1, float cCoeffL1, float cThreshL2, float cCoeffL2,
    int32_t npuAsdDetect, OUT aclTensor *result);

/** aclnnop/aclnn_silent_check_v2.h */
OP aclnnSilentCheckV2(IN const aclTensor *val, IN const aclTensor *max, INOUT aclTensor *avgRef,
    INOUT aclTensor *inputGradRef, INOUT aclTensor *stepRef, aclIntArray *dstSize, aclIntArray *dstStride,
    aclIntArray *dstOffset, float cThreshL1, float cThreshL2, float beta1, int32_t npuAsdDetect, OUT aclTensor *result);
