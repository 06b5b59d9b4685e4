/* Reductions, extreme values and running sums. */

/** aclnnop/aclnn_all.h level2 */
OP aclnnAll(IN const aclTensor *self, const aclIntArray *dim, bool keepdim, OUT aclTensor *out);

/** aclnnop/aclnn_amax.h level2 */
OP aclnnAmax(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, OUT aclTensor *out);

/** aclnnop/aclnn_amin.h level2 */
OP aclnnAmin(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, OUT aclTensor *out);

/** aclnnop/aclnn_aminmax.h level2 */
OP aclnnAminmax(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, OUT aclTensor *minOut,
    OUT aclTensor *maxOut);

/** aclnnop/aclnn_aminmax_all.h level2 */
OP aclnnAminmaxAll(IN const aclTensor *self, OUT aclTensor *minOut, OUT aclTensor *maxOut);

/** aclnnop/aclnn_aminmax_dim.h level2 */
OP aclnnAminmaxDim(IN const aclTensor *self, int64_t dim, bool keepDim, OUT aclTensor *minOut, OUT aclTensor *maxOut);

/** aclnnop/aclnn_any.h level2 */
OP aclnnAny(IN const aclTensor *self, const aclIntArray *dim, bool keepdim, OUT aclTensor *out);

/** aclnnop/aclnn_argmax.h level2 */
OP aclnnArgMax(IN const aclTensor *self, int64_t dim, bool keepdim, OUT aclTensor *out);

/** aclnnop/aclnn_argmin.h level2 */
OP aclnnArgMin(IN const aclTensor *self, int64_t dim, bool keepdim, OUT aclTensor *out);

/** aclnnop/aclnn_cummax.h level2 */
OP aclnnCummax(IN const aclTensor *self, int64_t dim, OUT aclTensor *valuesOut, OUT aclTensor *indicesOut);

/** aclnnop/aclnn_cummin.h level2 */
OP aclnnCummin(IN const aclTensor *self, int64_t dim, OUT aclTensor *valuesOut, OUT aclTensor *indicesOut);

/** aclnnop/aclnn_cumprod.h level2 */
OP aclnnCumprod(IN const aclTensor *input, const aclScalar *dim, aclDataType dtype, OUT aclTensor *out);
OP aclnnInplaceCumprod(INOUT aclTensor *input, const aclScalar *dim);

/** aclnnop/aclnn_cumsum.h level2 */
OP aclnnCumsum(IN const aclTensor *self, int64_t dim, aclDataType dtype, OUT aclTensor *out);
OP aclnnCumsumV2(IN const aclTensor *self, int64_t dim, bool exclusive, bool reverse, OUT aclTensor *out);

/** aclnnop/aclnn_equal.h level2 */
OP aclnnEqual(IN const aclTensor *self, IN const aclTensor *other, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_vector_norm.h level2 */
OP aclnnLinalgVectorNorm(IN const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
    aclDataType dtype, OUT aclTensor *out);

/** aclnnop/aclnn_logsumexp.h level2 */
OP aclnnLogSumExp(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, OUT aclTensor *out);

/** aclnnop/aclnn_max.h level2 */
OP aclnnMax(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_max_dim.h level2 */
OP aclnnMaxDim(IN const aclTensor *self, int64_t dim, bool keepdim, OUT aclTensor *out, OUT aclTensor *indices);

/** aclnnop/aclnn_max_v2.h level2 */
OP aclnnMaxV2(IN const aclTensor *self, const aclIntArray *dims, bool keepDims, bool noopWithEmptyDims,
    OUT aclTensor *out);

/** aclnnop/aclnn_maxn.h level2 */
OP aclnnMaxN(IN const aclTensorList *tensors, OUT aclTensor *out);

/** aclnnop/aclnn_mean.h level2 */
OP aclnnMean(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype, OUT aclTensor *out);
OP aclnnMeanV2(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, bool noopWithEmptyAxes,
    OUT aclTensor *out);

/** aclnnop/aclnn_median.h level2 */
OP aclnnMedian(IN const aclTensor *self, OUT aclTensor *valuesOut);
OP aclnnMedianDim(IN const aclTensor *self, int64_t dim, bool keepDim, OUT aclTensor *valuesOut,
    OUT aclTensor *indicesOut);
OP aclnnNanMedian(IN const aclTensor *self, OUT aclTensor *out);
OP aclnnNanMedianDim(IN const aclTensor *self, int64_t dim, bool keepDim, OUT aclTensor *valuesOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_min.h level2 */
OP aclnnMin(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_min_dim.h level2 */
OP aclnnMinDim(IN const aclTensor *self, int64_t dim, bool keepdim, OUT aclTensor *out, OUT aclTensor *indices);

/** aclnnop/aclnn_minn.h level2 */
OP aclnnMinN(IN const aclTensorList *tensors, OUT aclTensor *out);

/** aclnnop/aclnn_norm.h level2 */
OP aclnnNorm(IN const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim, bool keepdim,
    OUT aclTensor *out);

/** aclnnop/aclnn_prod.h level2 */
OP aclnnProd(IN const aclTensor *self, aclDataType dtype, OUT aclTensor *out);
OP aclnnProdDim(IN const aclTensor *self, int64_t dim, bool keepDim, aclDataType dtype, OUT aclTensor *out);

/** aclnnop/aclnn_reduce_log_sum.h */
OP aclnnReduceLogSum(IN const aclTensor *data, const aclIntArray *axes, bool keepDims, bool noopWithEmptyAxes,
    OUT aclTensor *reduce);

/** aclnnop/aclnn_reduce_nansum.h level2 */
OP aclnnReduceNansum(IN const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype,
    OUT aclTensor *out);

/** aclnnop/aclnn_reduce_sum.h level2 */
OP aclnnReduceSum(IN const aclTensor *self, const aclIntArray *dims, bool keepDims, aclDataType dtype,
    OUT aclTensor *out);

/** aclnnop/aclnn_renorm.h level2 */
OP aclnnRenorm(IN const aclTensor *self, const aclScalar *p, int64_t dim, const aclScalar *maxNorm, OUT aclTensor *out);
OP aclnnInplaceRenorm(INOUT aclTensor *selfRef, const aclScalar *p, int64_t dim, const aclScalar *maxNorm);

/** aclnnop/aclnn_segsum.h */
OP(8, 5) aclnnExpSegsum(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_std.h level2 */
OP aclnnStd(IN const aclTensor *self, OPT const aclIntArray *dim, int64_t correction, bool keepdim, OUT aclTensor *out);

/** aclnnop/aclnn_std_mean_correction.h level2 */
OP aclnnStdMeanCorrection(IN const aclTensor *self, OPT const aclIntArray *dim, int64_t correction, bool keepdim,
    OUT aclTensor *stdOut, OUT aclTensor *meanOut);

/** aclnnop/aclnn_sum.h level2 */
OP aclnnSum(IN const aclTensorList *tensors, OUT aclTensor *out);

/** aclnnop/aclnn_var.h level2 */
OP aclnnVar(IN const aclTensor *self, OPT const aclIntArray *dim, bool unbiased, bool keepdim, OUT aclTensor *out);
OP aclnnVarCorrection(IN const aclTensor *self, OPT const aclIntArray *dim, int64_t correction, bool keepdim,
    OUT aclTensor *out);

/** aclnnop/aclnn_var_mean.h level2 */
OP aclnnVarMean(IN const aclTensor *self, OPT const aclIntArray *dim, int64_t correction, bool keepdim,
    OUT aclTensor *varOut, OUT aclTensor *meanOut);
