/* Pointwise operators of one operand and activations. */

/** aclnnop/aclnn_abs.h level2 */
OP aclnnAbs(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_acos.h level2 */
OP aclnnAcos(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceAcos(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_acosh.h level2 */
OP aclnnAcosh(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceAcosh(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_angle_v2.h */
OP(9, 0) aclnnAngleV2(IN const aclTensor *x, OUT const aclTensor *out);

/** aclnnop/aclnn_asin.h */
OP aclnnAsin(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceAsin(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_asinh.h level2 */
OP aclnnAsinh(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceAsinh(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_atan.h level2 */
OP aclnnAtan(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceAtan(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_atanh.h level2 */
OP aclnnAtanh(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceAtanh(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_bitwise_not.h level2 */
OP aclnnBitwiseNot(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_ceil.h level2 */
OP aclnnCeil(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceCeil(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_celu.h level2 */
OP aclnnCelu(IN const aclTensor *self, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnInplaceCelu(INOUT aclTensor *selfRef, const aclScalar *alpha);

/** aclnnop/aclnn_clipped_swiglu.h */
OP(8, 5) aclnnClippedSwiglu(IN const aclTensor *x, IN OPT const aclTensor *groupIndexOptional, int64_t dim,
    double alpha, double limit, double bias, bool interleaved, OUT const aclTensor *out);

/** aclnnop/aclnn_clipped_swiglu_v2.h */
OP(9, 2) aclnnClippedSwigluV2(IN const aclTensor *x, IN OPT const aclTensor *groupIndexOptional, int64_t dim,
    double alpha, double limit, double bias, bool interleaved, int64_t clampMode, OUT const aclTensor *out);

/** aclnnop/aclnn_cos.h level2 */
OP aclnnCos(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceCos(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_cosh.h level2 */
OP aclnnCosh(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceCosh(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_digamma.h level2 */
OP aclnnDigamma(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_elu.h level2 */
OP aclnnElu(IN const aclTensor *self, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale,
    OUT aclTensor *out);
OP aclnnInplaceElu(INOUT aclTensor *selfRef, const aclScalar *alpha, const aclScalar *scale,
    const aclScalar *inputScale);

/** aclnnop/aclnn_erf.h level2 */
OP aclnnErf(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceErf(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_erfc.h */
OP aclnnErfc(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceErfc(INOUT const aclTensor *selfRef);

/** aclnnop/aclnn_erfinv.h */
OP aclnnErfinv(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceErfinv(INOUT const aclTensor *selfRef);

/** aclnnop/aclnn_exp.h level2 */
OP aclnnExp(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceExp(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_exp2.h level2 */
OP aclnnExp2(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceExp2(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_expm1.h */
OP aclnnExpm1(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceExpm1(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_fast_gelu.h */
OP(8, 5) aclnnFastGelu(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_fatrelu_mul.h */
OP aclnnFatreluMul(IN const aclTensor *input, IN const aclTensor *threshold, OUT const aclTensor *out);

/** aclnnop/aclnn_floor.h level2 */
OP aclnnFloor(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceFloor(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_frac.h level2 */
OP aclnnFrac(IN const aclTensor *input, OUT aclTensor *out);
OP aclnnInplaceFrac(INOUT aclTensor *inputRef);

/** aclnnop/aclnn_geglu.h level2 */
OP aclnnGeGlu(IN const aclTensor *self, int64_t dim, int64_t approximate, OUT aclTensor *out, OUT aclTensor *outGelu);
OP aclnnGeGluV3(IN const aclTensor *self, int64_t dim, int64_t approximate, bool activateLeft, OUT aclTensor *out,
    OUT aclTensor *outGelu);

/** aclnnop/aclnn_gelu.h level2 */
OP aclnnGelu(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_gelu_mul.h */
OP aclnnGeluMul(IN const aclTensor *input, OPT char *approximateOptional, OUT const aclTensor *out);

/** aclnnop/aclnn_gelu_v2.h level2 */
OP aclnnGeluV2(IN const aclTensor *x, int64_t approximate, OUT aclTensor *y);

/** aclnnop/aclnn_glu.h */
OP aclnnGlu(IN const aclTensor *self, int64_t dim, OUT const aclTensor *out);

/** aclnnop/aclnn_hardshrink.h */
OP aclnnHardshrink(IN const aclTensor *self, const aclScalar *lambd, OUT aclTensor *out);

/** aclnnop/aclnn_hardsigmoid.h level2 */
OP aclnnHardsigmoid(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceHardsigmoid(INOUT const aclTensor *self);

/** aclnnop/aclnn_hardswish.h level2 */
OP aclnnHardswish(IN const aclTensor *self, OUT const aclTensor *out);
OP aclnnInplaceHardswish(INOUT const aclTensor *self);

/** aclnnop/aclnn_hardswish_backward_v2.h */
OP(8, 5) aclnnHardswishBackwardV2(IN const aclTensor *gradOutput, IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_hardtanh.h level2 */
OP aclnnHardtanh(IN const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
    OUT aclTensor *out);
OP aclnnInplaceHardtanh(INOUT aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax);

/** aclnnop/aclnn_is_inf.h */
OP aclnnIsInf(IN const aclTensor *x, OUT const aclTensor *out);

/** aclnnop/aclnn_isfinite.h level2 */
OP aclnnIsFinite(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_isneginf.h level2 */
OP aclnnIsNegInf(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_isposinf.h level2 */
OP aclnnIsPosInf(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_leaky_relu.h level2 */
OP aclnnLeakyRelu(IN const aclTensor *self, const aclScalar *negativeSlope, OUT aclTensor *out);
OP aclnnInplaceLeakyRelu(INOUT aclTensor *selfRef, const aclScalar *negativeSlope);

/** aclnnop/aclnn_lgamma.h level2 */
OP aclnnLgamma(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_log.h level2 */
OP aclnnLog(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceLog(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_log10.h level2 */
OP aclnnLog10(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceLog10(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_log1p.h level2 */
OP aclnnLog1p(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceLog1p(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_log2.h level2 */
OP aclnnLog2(IN const aclTensor *self, OUT const aclTensor *out);
OP aclnnInplaceLog2(INOUT const aclTensor *selfRef);

/** aclnnop/aclnn_logical_not.h level2 */
OP aclnnLogicalNot(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceLogicalNot(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_logit.h */
OP aclnnLogit(IN const aclTensor *input, double eps, OUT const aclTensor *out);

/** aclnnop/aclnn_logsigmoid.h level2 */
OP aclnnLogSigmoid(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnLogSigmoidForward(IN const aclTensor *self, OUT aclTensor *out, OUT aclTensor *buffer);

/** aclnnop/aclnn_mish.h level2 */
OP aclnnMish(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceMish(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_nan_to_num.h level2 */
OP aclnnNanToNum(IN const aclTensor *self, float nan, float posinf, float neginf, OUT aclTensor *out);
OP aclnnInplaceNanToNum(INOUT aclTensor *selfRef, float nan, float posinf, float neginf);

/** aclnnop/aclnn_neg.h level2 */
OP aclnnNeg(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceNeg(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_prelu.h level2 */
OP aclnnPrelu(IN const aclTensor *self, IN const aclTensor *weight, OUT aclTensor *out);

/** aclnnop/aclnn_reciprocal.h level2 */
OP aclnnReciprocal(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceReciprocal(INOUT const aclTensor *selfRef);

/** aclnnop/aclnn_relu.h level2 */
OP aclnnRelu(IN const aclTensor *self, OUT const aclTensor *out);
OP aclnnInplaceRelu(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_round.h level2 */
OP aclnnRound(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceRound(INOUT const aclTensor *selfRef);
OP aclnnRoundDecimals(IN const aclTensor *self, int64_t decimals, OUT aclTensor *out);
OP aclnnInplaceRoundDecimals(INOUT aclTensor *selfRef, int64_t decimals);

/** aclnnop/aclnn_rrelu_with_noise.h level2 */
/* noise receives the drawn slopes when training and is left alone otherwise */
OP aclnnRReluWithNoise(IN const aclTensor *self, INOUT const aclTensor *noise, const aclScalar *lower,
    const aclScalar *upper, bool training, int64_t seed, int64_t offset, OUT aclTensor *out);
/* noise: as above */
OP aclnnInplaceRReluWithNoise(INOUT const aclTensor *self, INOUT const aclTensor *noise, const aclScalar *lower,
    const aclScalar *upper, bool training, int64_t seed, int64_t offset);

/** aclnnop/aclnn_rsqrt.h level2 */
OP aclnnRsqrt(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceRsqrt(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_selu.h level2 */
OP aclnnSelu(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSelu(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_shrink.h */
OP aclnnShrink(IN const aclTensor *self, const aclScalar *lambd, const aclScalar *bias, OUT aclTensor *out);

/** aclnnop/aclnn_sigmoid.h level2 */
OP aclnnSigmoid(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSigmoid(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_sign.h level2 */
OP aclnnSign(IN const aclTensor *self, OUT aclTensor *result);

/** aclnnop/aclnn_signbit.h level2 */
OP aclnnSignbit(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_silu.h level2 */
OP aclnnSilu(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_sin.h level2 */
OP aclnnSin(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSin(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_sinc.h level2 */
OP aclnnSinc(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSinc(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_sinh.h level2 */
OP aclnnSinh(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSinh(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_situ_glu.h */
OP(9, 2) aclnnSituGlu(IN const aclTensor *x, int64_t dim, double beta, double linearBeta, bool activateLeft,
    OUT const aclTensor *out);

/** aclnnop/aclnn_softplus.h level2 */
OP aclnnSoftplus(IN const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, OUT aclTensor *out);

/** aclnnop/aclnn_softshrink.h */
OP aclnnSoftshrink(IN const aclTensor *self, const aclScalar *lambd, OUT aclTensor *out);

/** aclnnop/aclnn_sqrt.h level2 */
OP aclnnSqrt(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceSqrt(INOUT aclTensor *self);

/** aclnnop/aclnn_square.h */
OP(8, 5) aclnnSquare(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_squared_relu.h */
OP(8, 5) aclnnSquaredRelu(IN const aclTensor *input, OUT const aclTensor *out);

/** aclnnop/aclnn_swi_glu.h */
OP aclnnSwiGlu(IN const aclTensor *x, int64_t dim, OUT const aclTensor *out);

/** aclnnop/aclnn_swiglu_group.h */
OP(9, 2) aclnnSwigluGroup(IN const aclTensor *x, IN OPT const aclTensor *weightOptional,
    IN OPT const aclTensor *groupIndexOptional, double clampLimit, OUT const aclTensor *out);

/** aclnnop/aclnn_swish.h */
OP aclnnSwish(IN const aclTensor *self, OPT const aclScalar *betaOptional, OUT aclTensor *out);

/** aclnnop/aclnn_tan.h level2 */
OP aclnnTan(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceTan(INOUT const aclTensor *selfRef);

/** aclnnop/aclnn_tanh.h level2 */
OP aclnnTanh(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceTanh(INOUT aclTensor *selfRef);

/** aclnnop/aclnn_threshold.h level2 */
OP aclnnThreshold(IN const aclTensor *self, const aclScalar *threshold, const aclScalar *value, OUT aclTensor *out);
OP aclnnInplaceThreshold(INOUT aclTensor *selfRef, const aclScalar *threshold, const aclScalar *value);

/** aclnnop/aclnn_trunc.h level2 */
OP aclnnTrunc(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnInplaceTrunc(INOUT aclTensor *selfRef);
