/* Moving, joining, cutting, padding, filling and converting tensors. */

/** aclnnop/aclnn_arange.h level2 */
OP aclnnArange(const aclScalar *start, const aclScalar *end, const aclScalar *step, OUT aclTensor *out);

/** aclnnop/aclnn_cast.h level2 */
OP aclnnCast(IN const aclTensor *self, aclDataType dtype, OUT aclTensor *out);

/** aclnnop/aclnn_cat.h level2 */
OP aclnnCat(IN const aclTensorList *tensors, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_chunk_cat.h */
OP(9, 0) aclnnChunkCat(IN const aclTensorList *tensors, int64_t dim, int64_t numChunks, OUT aclTensor *out);

/** aclnnop/aclnn_circular_pad2d.h level2 */
OP aclnnCircularPad2d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_circular_pad2d_backward.h level2 */
OP aclnnCircularPad2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_circular_pad3d.h level2 */
OP aclnnCircularPad3d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_circular_pad3d_backward.h level2 */
OP aclnnCircularPad3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_coalesce_sparse.h */
OP(9, 0) aclnnCoalesceSparse(IN const aclTensor *uniqueLen, IN const aclTensor *uniqueIndices,
    IN const aclTensor *indices, IN const aclTensor *values, OUT const aclTensor *newIndicesOut,
    OUT const aclTensor *newValuesOut);

/** aclnnop/aclnn_complex.h level2 */
OP aclnnComplex(IN const aclTensor *real, IN const aclTensor *imag, OUT aclTensor *out);

/** aclnnop/aclnn_confusion_transpose.h */
OP(9, 0) aclnnConfusionTranspose(INOUT const aclTensor *x, const aclIntArray *perm, const aclIntArray *shape,
    bool transpose_first, OUT aclTensor *out);

/** aclnnop/aclnn_constant_pad_nd.h */
OP aclnnConstantPadNd(IN const aclTensor *self, const aclIntArray *pad, const aclScalar *value, OUT aclTensor *out);

/** aclnnop/aclnn_copy.h level2 */
/* every element of selfRef is overwritten, none is read */
OP aclnnInplaceCopy(OUT aclTensor *selfRef, IN const aclTensor *src);

/** aclnnop/aclnn_diag.h level2 */
OP aclnnDiag(IN const aclTensor *self, int64_t diagonal, OUT aclTensor *out);

/** aclnnop/aclnn_diag_flat.h level2 */
OP aclnnDiagFlat(IN const aclTensor *self, int64_t diagonal, OUT aclTensor *out);

/** aclnnop/aclnn_expand.h level2 */
OP aclnnExpand(IN const aclTensor *self, const aclIntArray *size, OUT aclTensor *out);

/** aclnnop/aclnn_eye.h level2 */
OP aclnnEye(int64_t n, int64_t m, OUT aclTensor *out);

/** aclnnop/aclnn_fill_diagonal.h level2 */
OP aclnnInplaceFillDiagonal(INOUT aclTensor *selfRef, const aclScalar *fillValue, bool wrap);

/** aclnnop/aclnn_fill_scalar.h level2 */
OP aclnnInplaceFillScalar(OUT aclTensor *selfRef, const aclScalar *value);

/** aclnnop/aclnn_fill_tensor.h level2 */
OP aclnnInplaceFillTensor(OUT aclTensor *selfRef, IN const aclTensor *value);

/** aclnnop/aclnn_flatten.h level2 */
OP aclnnFlatten(IN const aclTensor *self, int64_t axis, OUT aclTensor *out);

/** aclnnop/aclnn_flip.h level2 */
OP aclnnFlip(IN const aclTensor *self, const aclIntArray *dims, OUT aclTensor *out);

/** aclnnop/aclnn_hans_decode.h */
OP(9, 0) aclnnHansDecode(IN const aclTensor *mantissa, IN const aclTensor *fixed, IN const aclTensor *var,
    IN const aclTensor *pdf, bool reshuff, OUT const aclTensor *out);

/** aclnnop/aclnn_hans_encode.h */
OP(9, 0) aclnnHansEncode(IN const aclTensor *inputTensor, INOUT aclTensor *pdfRef, bool statistic, bool reshuff,
    OUT const aclTensor *mantissaOut, OUT const aclTensor *fixedOut, OUT const aclTensor *varOut);

/** aclnnop/aclnn_linspace.h level2 */
OP aclnnLinspace(const aclScalar *start, const aclScalar *end, int64_t steps, OUT aclTensor *out);

/** aclnnop/aclnn_logspace.h */
OP(9, 0) aclnnLogSpace(const aclScalar *start, const aclScalar *end, int64_t steps, double base,
    OUT const aclTensor *result);

/** aclnnop/aclnn_npu_format_cast.h */
OP(8, 5) aclnnNpuFormatCast(IN const aclTensor *srcTensor, OUT aclTensor *dstTensor);
HELPER(8, 5) aclnnNpuFormatCastCalculateSizeAndFormat(IN const aclTensor *srcTensor, int dstFormat, int additionalDtype,
    int64_t **dstShape, uint64_t *dstShapeSize, int *actualFormat);

/** aclnnop/aclnn_ones.h level2 */
OP aclnnInplaceOne(OUT const aclTensor *selfRef);

/** aclnnop/aclnn_pad2d_backward.h level2 */
OP aclnnReflectionPad2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);
OP aclnnReplicationPad2dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_permute.h level2 */
OP aclnnPermute(IN const aclTensor *self, const aclIntArray *dims, OUT aclTensor *out);

/** aclnnop/aclnn_range.h level2 */
OP aclnnRange(const aclScalar *start, const aclScalar *end, const aclScalar *step, OUT aclTensor *out);

/** aclnnop/aclnn_real.h level2 */
OP aclnnReal(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_reflection_pad1d.h level2 */
OP aclnnReflectionPad1d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_reflection_pad1d_backward.h level2 */
OP aclnnReflectionPad1dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_reflection_pad2d.h level2 */
OP aclnnReflectionPad2d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_reflection_pad3d.h level2 */
OP aclnnReflectionPad3d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_reflection_pad3d_backward.h level2 */
OP aclnnReflectionPad3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_repeat.h level2 */
OP aclnnRepeat(IN const aclTensor *self, const aclIntArray *repeats, OUT aclTensor *out);

/** aclnnop/aclnn_repeat_interleave.h level2 */
OP aclnnRepeatInterleave(IN const aclTensor *self, IN const aclTensor *repeats, int64_t outputSize, OUT aclTensor *out);
OP aclnnRepeatInterleaveWithDim(IN const aclTensor *self, IN const aclTensor *repeats, int64_t dim, int64_t outputSize,
    OUT aclTensor *out);
OP aclnnRepeatInterleaveInt(IN const aclTensor *self, int64_t repeats, int64_t outputSize, OUT aclTensor *out);
OP aclnnRepeatInterleaveIntWithDim(IN const aclTensor *self, int64_t repeats, int64_t dim, int64_t outputSize,
    OUT aclTensor *out);
OP aclnnRepeatInterleaveTensor(IN const aclTensor *repeats, int64_t outputSize, OUT aclTensor *out);

/** aclnnop/aclnn_replication_pad1d.h level2 */
OP aclnnReplicationPad1d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_replication_pad1d_backward.h level2 */
OP aclnnReplicationPad1dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_replication_pad2d.h level2 */
OP aclnnReplicationPad2d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_replication_pad3d.h level2 */
OP aclnnReplicationPad3d(IN const aclTensor *self, const aclIntArray *padding, OUT aclTensor *out);

/** aclnnop/aclnn_replication_pad3d_backward.h level2 */
OP aclnnReplicationPad3dBackward(IN const aclTensor *gradOutput, IN const aclTensor *self, const aclIntArray *padding,
    OUT aclTensor *gradInput);

/** aclnnop/aclnn_roll.h level2 */
OP aclnnRoll(IN const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims, OUT aclTensor *out);

/** aclnnop/aclnn_sign_bits_pack.h */
OP aclnnSignBitsPack(IN const aclTensor *self, int64_t size, OUT aclTensor *out);

/** aclnnop/aclnn_sign_bits_unpack.h */
OP aclnnSignBitsUnpack(IN const aclTensor *self, int64_t size, aclDataType dtype, OUT aclTensor *out);

/** aclnnop/aclnn_slice.h level2 */
OP aclnnSlice(IN const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step, OUT aclTensor *out);

/** aclnnop/aclnn_slice_v2.h */
OP aclnnSliceV2(IN const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends, const aclIntArray *axes,
    const aclIntArray *steps, OUT aclTensor *out);

/** aclnnop/aclnn_split_tensor.h level2 */
OP aclnnSplitTensor(IN const aclTensor *self, uint64_t splitSections, int64_t dim, OUT aclTensorList *out);

/** aclnnop/aclnn_split_with_size.h level2 */
OP aclnnSplitWithSize(IN const aclTensor *self, const aclIntArray *splitSize, int64_t dim, OUT aclTensorList *out);

/** aclnnop/aclnn_stack.h level2 */
OP aclnnStack(IN const aclTensorList *tensors, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_strided_slice.h */
OP(9, 0) aclnnStridedSlice(IN const aclTensor *self, const aclIntArray *begin, const aclIntArray *end,
    const aclIntArray *strides, int64_t beginMask, int64_t endMask, int64_t ellipsisMask, int64_t newAxisMask,
    int64_t shrinkAxisMask, OUT aclTensor *out);

/** aclnnop/aclnn_strided_slice_assign_v2.h */
OP aclnnStridedSliceAssignV2(INOUT aclTensor *varRef, IN const aclTensor *inputValue, const aclIntArray *begin,
    const aclIntArray *end, const aclIntArray *strides, OPT const aclIntArray *axesOptional);

/** aclnnop/aclnn_tril.h level2 */
OP aclnnTril(IN const aclTensor *self, int64_t diagonal, OUT aclTensor *out);
OP aclnnInplaceTril(INOUT const aclTensor *selfRef, int64_t diagonal);

/** aclnnop/aclnn_triu.h level2 */
OP aclnnTriu(IN const aclTensor *self, int64_t diagonal, OUT aclTensor *out);
OP aclnnInplaceTriu(INOUT aclTensor *selfRef, int64_t diagonal);

/** aclnnop/aclnn_weight_quant_preprocess.h */
OP(9, 2) aclnnWeightQuantPreprocess(IN const aclTensor *weight, IN const aclTensor *weightScale,
    IN OPT const aclTensor *weightOffsetOptional, IN OPT const aclTensor *biasOptional, aclDataType xDtype,
    aclDataType xScaleDtype, int64_t kGroupSize, OUT aclTensor *outWeight, OUT aclTensor *outWeightScale,
    OUT OPT aclTensor *outWeightOffsetOptional, OUT OPT aclTensor *outBiasOptional);

/** aclnnop/aclnn_zero.h level2 */
OP aclnnInplaceZero(OUT aclTensor *selfRef);
