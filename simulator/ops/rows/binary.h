/* Pointwise operators of two or more operands, comparison, logic and choice. */

/** aclnnop/aclnn_add.h level2 */
OP aclnnAdd(IN const aclTensor *self, IN const aclTensor *other, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnAdds(IN const aclTensor *self, const aclScalar *other, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnInplaceAdd(INOUT const aclTensor *selfRef, IN const aclTensor *other, const aclScalar *alpha);
OP aclnnInplaceAdds(INOUT const aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha);

/** aclnnop/aclnn_add_n.h */
OP(9, 1) aclnnAddN(IN const aclTensorList *tensors, OUT aclTensor *out);

/** aclnnop/aclnn_add_relu.h level2 */
OP aclnnAddRelu(IN const aclTensor *self, IN const aclTensor *other, aclScalar *alpha, OUT aclTensor *out);
OP aclnnInplaceAddRelu(INOUT aclTensor *selfRef, IN const aclTensor *other, aclScalar *alpha);

/** aclnnop/aclnn_add_v3.h */
OP(8, 5) aclnnAddV3(const aclScalar *self, IN const aclTensor *other, const aclScalar *alpha, OUT aclTensor *out);
OP(8, 5) aclnnInplaceAddV3(const aclScalar *selfRef, INOUT const aclTensor *other, const aclScalar *alpha);

/** aclnnop/aclnn_addcdiv.h level2 */
OP aclnnAddcdiv(IN const aclTensor *self, IN const aclTensor *tensor1, IN const aclTensor *tensor2,
    const aclScalar *value, OUT const aclTensor *out);
OP aclnnInplaceAddcdiv(INOUT const aclTensor *selfRef, IN const aclTensor *tensor1, IN const aclTensor *tensor2,
    const aclScalar *value);

/** aclnnop/aclnn_addcmul.h level2 */
OP aclnnAddcmul(IN const aclTensor *self, IN const aclTensor *tensor1, IN const aclTensor *tensor2,
    const aclScalar *value, OUT aclTensor *out);
OP aclnnInplaceAddcmul(INOUT const aclTensor *selfRef, IN const aclTensor *tensor1, IN const aclTensor *tensor2,
    const aclScalar *value);

/** aclnnop/aclnn_atan2.h level2 */
OP aclnnAtan2(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceAtan2(INOUT aclTensor *selfRef, IN aclTensor *other);

/** aclnnop/aclnn_bitwise_and_scalar.h level2 */
OP aclnnBitwiseAndScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseAndScalar(INOUT const aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_bitwise_and_tensor.h level2 */
OP aclnnBitwiseAndTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseAndTensor(INOUT const aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_bitwise_or_scalar.h level2 */
OP aclnnBitwiseOrScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseOrScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_bitwise_or_tensor.h level2 */
OP aclnnBitwiseOrTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseOrTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_bitwise_xor_scalar.h */
OP aclnnBitwiseXorScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseXorScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_bitwise_xor_tensor.h */
OP aclnnBitwiseXorTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceBitwiseXorTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_bitwiseand.h */
OP(8, 5) aclnnBitwiseAndTensorOut(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP(8, 5) aclnnInplaceBitwiseAndTensorOut(INOUT const aclTensor *self, IN const aclTensor *other);

/** aclnnop/aclnn_clamp.h level2 */
OP aclnnClamp(IN const aclTensor *self, OPT const aclScalar *clipValueMin, OPT const aclScalar *clipValueMax,
    OUT aclTensor *out);
OP aclnnClampMin(IN const aclTensor *self, const aclScalar *clipValueMin, OUT aclTensor *out);
OP aclnnClampTensor(IN const aclTensor *self, IN OPT const aclTensor *clipValueMin,
    IN OPT const aclTensor *clipValueMax, OUT aclTensor *out);
OP aclnnClampMinTensor(IN const aclTensor *self, IN const aclTensor *clipValueMin, OUT aclTensor *out);
OP aclnnInplaceClampMinTensor(INOUT aclTensor *selfRef, IN const aclTensor *clipValueMin);
OP aclnnClampMax(IN const aclTensor *self, const aclScalar *clipValueMax, OUT aclTensor *out);
OP aclnnInplaceClampMax(INOUT const aclTensor *selfRef, const aclScalar *clipValueMax);
OP aclnnClampMaxTensor(IN const aclTensor *self, IN const aclTensor *max, OUT aclTensor *out);
OP aclnnInplaceClampMaxTensor(INOUT aclTensor *selfRef, IN const aclTensor *max);

/** aclnnop/aclnn_div.h level2 */
OP aclnnDiv(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnDivs(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnDivMod(IN const aclTensor *self, IN const aclTensor *other, int mode, OUT aclTensor *out);
OP aclnnDivMods(IN const aclTensor *self, const aclScalar *other, int mode, OUT aclTensor *out);
OP aclnnInplaceDiv(INOUT aclTensor *selfRef, IN const aclTensor *other);
OP aclnnInplaceDivs(INOUT aclTensor *selfRef, const aclScalar *other);
OP aclnnInplaceDivMod(INOUT aclTensor *selfRef, IN const aclTensor *other, int mode);
OP aclnnInplaceDivMods(INOUT aclTensor *selfRef, const aclScalar *other, int mode);

/** aclnnop/aclnn_eq_scalar.h level2 */
OP aclnnEqScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceEqScalar(INOUT const aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_eq_tensor.h level2 */
OP aclnnEqTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceEqTensor(INOUT const aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_floor_divide.h level2 */
OP aclnnFloorDivide(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnFloorDivides(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceFloorDivide(INOUT aclTensor *selfRef, IN const aclTensor *other);
OP aclnnInplaceFloorDivides(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_fmod_scalar.h */
OP aclnnFmodScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceFmodScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_fmod_tensor.h */
OP aclnnFmodTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceFmodTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_gcd.h level2 */
OP aclnnGcd(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_ge_scalar.h level2 */
OP aclnnGeScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceGeScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_ge_tensor.h level2 */
OP aclnnGeTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceGeTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_gt_scalar.h level2 */
OP aclnnGtScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceGtScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_gt_tensor.h level2 */
OP aclnnGtTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceGtTensor(INOUT const aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_heaviside.h */
OP(8, 5) aclnnHeaviside(IN const aclTensor *input, IN const aclTensor *values, OUT aclTensor *out);

/** aclnnop/aclnn_isclose.h */
OP aclnnIsClose(IN const aclTensor *self, IN const aclTensor *other, double rtol, double atol, bool equal_nan,
    OUT aclTensor *out);

/** aclnnop/aclnn_le_scalar.h level2 */
OP aclnnLeScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceLeScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_le_tensor.h level2 */
OP aclnnLeTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceLeTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_left_shift.h */
OP(8, 5) aclnnLeftShift(IN const aclTensor *self, IN const aclTensor *shiftBits, OUT aclTensor *out);
OP(8, 5) aclnnLeftShifts(IN const aclTensor *self, const aclScalar *shiftBits, OUT aclTensor *out);

/** aclnnop/aclnn_lerp_scalar.h level2 */
OP aclnnLerps(IN const aclTensor *self, IN const aclTensor *end, const aclScalar *weight, OUT aclTensor *out);
OP aclnnInplaceLerps(INOUT aclTensor *selfRef, IN const aclTensor *end, const aclScalar *weight);

/** aclnnop/aclnn_lerp_tensor.h level2 */
OP aclnnLerp(IN const aclTensor *self, IN const aclTensor *end, IN const aclTensor *weight, OUT aclTensor *out);
OP aclnnInplaceLerp(INOUT aclTensor *selfRef, IN const aclTensor *end, IN const aclTensor *weight);

/** aclnnop/aclnn_logaddexp.h level2 */
OP aclnnLogAddExp(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_logaddexp2.h level2 */
OP aclnnLogAddExp2(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_logical_and.h level2 */
OP aclnnLogicalAnd(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceLogicalAnd(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_logical_or.h level2 */
OP aclnnLogicalOr(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceLogicalOr(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_logical_xor.h level2 */
OP aclnnLogicalXor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_lt_scalar.h level2 */
OP aclnnLtScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceLtScalar(INOUT const aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_lt_tensor.h level2 */
OP aclnnLtTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceLtTensor(INOUT const aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_maximum.h level2 */
OP aclnnMaximum(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_minimum.h level2 */
OP aclnnMinimum(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_modulate.h */
OP(8, 5) aclnnModulate(IN const aclTensor *self, IN OPT const aclTensor *scaleOptional,
    IN OPT const aclTensor *shiftOptional, OUT aclTensor *out);

/** aclnnop/aclnn_mul.h level2 */
OP aclnnMuls(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnMul(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceMuls(INOUT aclTensor *selfRef, const aclScalar *other);
OP aclnnInplaceMul(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_ne_scalar.h level2 */
OP aclnnNeScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceNeScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_ne_tensor.h level2 */
OP aclnnNeTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceNeTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_pow.h level2 */
OP aclnnPowTensorScalar(IN const aclTensor *self, const aclScalar *exponent, OUT const aclTensor *out);
OP aclnnInplacePowTensorScalar(INOUT const aclTensor *self, const aclScalar *exponent);
OP aclnnPowScalarTensor(const aclScalar *self, IN const aclTensor *exponent, OUT const aclTensor *out);

/** aclnnop/aclnn_pow_tensor_tensor.h level2 */
OP aclnnPowTensorTensor(IN const aclTensor *self, IN const aclTensor *exponent, OUT aclTensor *out);
OP aclnnInplacePowTensorTensor(INOUT const aclTensor *self, IN const aclTensor *exponent);

/** aclnnop/aclnn_remainder.h level2 */
OP aclnnRemainderTensorTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnRemainderTensorScalar(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnRemainderScalarTensor(const aclScalar *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceRemainderTensorTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);
OP aclnnInplaceRemainderTensorScalar(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_right_shift.h */
OP(8, 5) aclnnRightShift(IN const aclTensor *input, IN const aclTensor *shiftBits, OUT aclTensor *out);

/** aclnnop/aclnn_rsub.h level2 */
OP aclnnRsubs(IN const aclTensor *self, const aclScalar *other, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnRsub(IN const aclTensor *self, IN const aclTensor *other, const aclScalar *alpha, OUT aclTensor *out);

/** aclnnop/aclnn_s_where.h level2 */
OP aclnnSWhere(IN const aclTensor *condition, IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_scale.h level2 */
OP aclnnScale(IN const aclTensor *x, IN const aclTensor *scale, IN OPT const aclTensor *bias, int64_t axis,
    int64_t numAxes, bool scaleFromBlob, OUT aclTensor *y);

/** aclnnop/aclnn_sub.h level2 */
OP aclnnSub(IN const aclTensor *self, IN const aclTensor *other, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnSubs(IN const aclTensor *self, const aclScalar *other, const aclScalar *alpha, OUT aclTensor *out);
OP aclnnInplaceSub(INOUT aclTensor *selfRef, IN const aclTensor *other, const aclScalar *alpha);
OP aclnnInplaceSubs(INOUT aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha);

/** aclnnop/aclnn_x_log_y_scalar_other.h level2 */
OP aclnnXLogYScalarOther(IN const aclTensor *self, const aclScalar *other, OUT aclTensor *out);
OP aclnnInplaceXLogYScalarOther(INOUT aclTensor *selfRef, const aclScalar *other);

/** aclnnop/aclnn_x_log_y_scalar_self.h level2 */
OP aclnnXLogYScalarSelf(const aclScalar *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_x_log_y_tensor.h level2 */
OP aclnnXLogYTensor(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);
OP aclnnInplaceXLogYTensor(INOUT aclTensor *selfRef, IN const aclTensor *other);

/** aclnnop/aclnn_xlog1py.h */
OP(9, 1) aclnnXlog1py(IN const aclTensor *x, IN const aclTensor *y, OUT const aclTensor *z);
