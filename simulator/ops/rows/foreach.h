/* One operation applied to every tensor of a list. */

/** aclnnop/aclnn_foreach_a_cos_inplace.h */
OP(9, 2) aclnnForeachACosInplace(INOUT const aclTensorList *x);

/** aclnnop/aclnn_foreach_abs.h */
OP aclnnForeachAbs(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_acos.h */
OP aclnnForeachAcos(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_add_list.h */
OP aclnnForeachAddList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensor *alpha,
    OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_add_list_inplace.h */
OP(9, 2) aclnnForeachAddListInplace(INOUT const aclTensorList *x1, IN const aclTensorList *x2,
    IN const aclTensor *alpha);

/** aclnnop/aclnn_foreach_add_list_v2.h level2 */
OP aclnnForeachAddListV2(IN const aclTensorList *x1, IN const aclTensorList *x2, const aclScalar *alpha,
    OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_add_scalar.h */
OP aclnnForeachAddScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_add_scalar_list.h */
OP aclnnForeachAddScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_add_scalar_v2.h level2 */
OP aclnnForeachAddScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_addcdiv_list.h */
OP aclnnForeachAddcdivList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcdiv_scalar.h */
OP aclnnForeachAddcdivScalar(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcdiv_scalar_list.h */
OP aclnnForeachAddcdivScalarList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcdiv_scalar_v2.h level2 */
OP aclnnForeachAddcdivScalarV2(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_addcmul_list.h */
OP aclnnForeachAddcmulList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcmul_scalar.h */
OP aclnnForeachAddcmulScalar(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcmul_scalar_list.h */
OP aclnnForeachAddcmulScalarList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    IN const aclTensor *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_addcmul_scalar_v2.h level2 */
OP aclnnForeachAddcmulScalarV2(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *x3,
    const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_asin.h */
OP aclnnForeachAsin(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_atan.h */
OP aclnnForeachAtan(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_copy.h */
OP aclnnForeachCopy(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_cos.h */
OP aclnnForeachCos(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_cosh.h */
OP aclnnForeachCosh(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_div_list.h */
OP aclnnForeachDivList(IN const aclTensorList *x1, IN const aclTensorList *x2, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_div_list_inplace.h */
OP(9, 2) aclnnForeachDivListInplace(INOUT const aclTensorList *x1, IN const aclTensorList *x2);

/** aclnnop/aclnn_foreach_div_scalar.h */
OP aclnnForeachDivScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_div_scalar_list.h */
OP aclnnForeachDivScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_div_scalar_v2.h level2 */
OP aclnnForeachDivScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_erf.h */
OP aclnnForeachErf(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_erfc.h */
OP aclnnForeachErfc(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_exp.h */
OP aclnnForeachExp(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_expm1.h */
OP aclnnForeachExpm1(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_lerp_list.h */
OP aclnnForeachLerpList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensorList *weight,
    OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_lerp_scalar.h */
OP aclnnForeachLerpScalar(IN const aclTensorList *x1, IN const aclTensorList *x2, const aclScalar *weight,
    OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_log.h */
OP aclnnForeachLog(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_log10.h */
OP aclnnForeachLog10(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_log1p.h */
OP aclnnForeachLog1p(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_log2.h */
OP aclnnForeachLog2(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_log_inplace.h */
OP(9, 2) aclnnForeachLogInplace(INOUT const aclTensorList *x);

/** aclnnop/aclnn_foreach_maximum_list.h */
OP aclnnForeachMaximumList(IN const aclTensorList *x1, IN const aclTensorList *x2, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_maximum_scalar.h */
OP aclnnForeachMaximumScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_maximum_scalar_list.h */
OP aclnnForeachMaximumScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_maximum_scalar_v2.h level2 */
OP aclnnForeachMaximumScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_minimum_list.h */
OP aclnnForeachMinimumList(IN const aclTensorList *x1, IN const aclTensorList *x2, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_minimum_scalar.h */
OP aclnnForeachMinimumScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_minimum_scalar_list.h */
OP aclnnForeachMinimumScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_minimum_scalar_v2.h level2 */
OP aclnnForeachMinimumScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_mul_list.h */
OP aclnnForeachMulList(IN const aclTensorList *x1, IN const aclTensorList *x2, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_mul_list_inplace.h */
OP(9, 2) aclnnForeachMulListInplace(INOUT const aclTensorList *x1, IN const aclTensorList *x2);

/** aclnnop/aclnn_foreach_mul_scalar.h */
OP aclnnForeachMulScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_mul_scalar_inplace.h */
OP(9, 2) aclnnForeachMulScalarInplace(INOUT const aclTensorList *x, IN const aclTensor *scalar);

/** aclnnop/aclnn_foreach_mul_scalar_list.h */
OP aclnnForeachMulScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_mul_scalar_v2.h level2 */
OP aclnnForeachMulScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_neg.h */
OP aclnnForeachNeg(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_non_finite_check_and_unscale.h */
OP(8, 5) aclnnForeachNonFiniteCheckAndUnscale(INOUT const aclTensorList *scaledGrads, INOUT const aclTensor *foundInf,
    IN const aclTensor *invScale);

/** aclnnop/aclnn_foreach_norm.h */
OP aclnnForeachNorm(IN const aclTensorList *x, const aclScalar *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_pow_list.h */
OP aclnnForeachPowList(IN const aclTensorList *x1, IN const aclTensorList *x2, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_pow_scalar.h */
OP aclnnForeachPowScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_pow_scalar_and_tensor.h */
OP aclnnForeachPowScalarAndTensor(const aclScalar *scalar, IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_pow_scalar_list.h */
OP aclnnForeachPowScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_pow_scalar_v2.h level2 */
OP aclnnForeachPowScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_reciprocal.h */
OP aclnnForeachReciprocal(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_round_off_number.h */
OP aclnnForeachRoundOffNumber(IN const aclTensorList *x, IN const aclTensor *roundMode, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_round_off_number_v2.h level2 */
OP aclnnForeachRoundOffNumberV2(IN const aclTensorList *x, const aclScalar *roundMode, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_sigmoid.h */
OP aclnnForeachSigmoid(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sign.h */
OP aclnnForeachSign(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sin.h */
OP aclnnForeachSin(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sinh.h */
OP aclnnForeachSinh(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sqrt.h */
OP aclnnForeachSqrt(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sub_list.h */
OP aclnnForeachSubList(IN const aclTensorList *x1, IN const aclTensorList *x2, IN const aclTensor *alpha,
    OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sub_list_inplace.h */
OP(9, 2) aclnnForeachSubListInplace(INOUT const aclTensorList *x1, IN const aclTensorList *x2,
    IN const aclTensor *alpha);

/** aclnnop/aclnn_foreach_sub_list_v2.h level2 */
OP aclnnForeachSubListV2(IN const aclTensorList *x1, IN const aclTensorList *x2, const aclScalar *alpha,
    OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_sub_scalar.h */
OP aclnnForeachSubScalar(IN const aclTensorList *x, IN const aclTensor *scalar, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sub_scalar_inplace.h */
OP(9, 2) aclnnForeachSubScalarInplace(INOUT const aclTensorList *x, IN const aclTensor *scalar);

/** aclnnop/aclnn_foreach_sub_scalar_list.h */
OP aclnnForeachSubScalarList(IN const aclTensorList *x, const aclScalarList *scalars, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_sub_scalar_v2.h level2 */
OP aclnnForeachSubScalarV2(IN const aclTensorList *x, const aclScalar *scalar, OUT aclTensorList *out);

/** aclnnop/aclnn_foreach_tan.h */
OP aclnnForeachTan(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_tanh.h */
OP aclnnForeachTanh(IN const aclTensorList *x, OUT const aclTensorList *out);

/** aclnnop/aclnn_foreach_zero_inplace.h */
/* pure fill: the old values are not read */
OP aclnnForeachZeroInplace(OUT const aclTensorList *x);
