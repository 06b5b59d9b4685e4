/* Reading and writing at indices, selecting, sorting and searching. */

/** aclnnop/aclnn_apply_top_k_top_p.h */
OP(8, 5) aclnnApplyTopKTopP(IN const aclTensor *logits, IN const aclTensor *p, IN const aclTensor *k,
    OUT aclTensor *out);

/** aclnnop/aclnn_argsort.h level2 */
OP aclnnArgsort(IN const aclTensor *self, int64_t dim, bool descending, OUT aclTensor *out);

/** aclnnop/aclnn_bincount.h level2 */
OP aclnnBincount(IN const aclTensor *self, IN OPT const aclTensor *weights, int64_t minlength, OUT aclTensor *out);

/** aclnnop/aclnn_bucketize.h */
OP(9, 1) aclnnBucketize(IN const aclTensor *self, IN const aclTensor *boundaries, bool outInt32, bool right,
    OUT aclTensor *out);

/** aclnnop/aclnn_embedding.h level2 */
OP aclnnEmbedding(IN const aclTensor *weight, IN const aclTensor *indices, OUT const aclTensor *out);

/** aclnnop/aclnn_embedding_bag.h level2 */
OP aclnnEmbeddingBag(IN const aclTensor *weight, IN const aclTensor *indices, IN const aclTensor *offsets,
    bool scaleGradByFreq, int64_t mode, bool sparse, IN OPT const aclTensor *perSampleWeights, bool includeLastOffset,
    int64_t paddingIdx, OUT aclTensor *output, OUT aclTensor *offset2bag, OUT aclTensor *bagSize,
    OUT aclTensor *maxIndices);

/** aclnnop/aclnn_embedding_dense_backward.h level2 */
OP aclnnEmbeddingDenseBackward(IN const aclTensor *grad, IN const aclTensor *indices, uint64_t numWeights,
    uint64_t paddingIdx, bool scaleGradByFreq, OUT const aclTensor *out);

/** aclnnop/aclnn_embedding_renorm.h level2 */
OP aclnnEmbeddingRenorm(INOUT aclTensor *selfRef, IN const aclTensor *indices, double maxNorm, double normType);

/** aclnnop/aclnn_expand_into_jagged_permute.h */
OP(8, 5) aclnnExpandIntoJaggedPermute(IN const aclTensor *permute, IN const aclTensor *inputOffset,
    IN const aclTensor *outputOffset, int64_t outputSize, OUT const aclTensor *outputPermuteOut);

/** aclnnop/aclnn_gather.h level2 */
OP aclnnGather(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, OUT aclTensor *out);

/** aclnnop/aclnn_gather_nd.h level2 */
OP aclnnGatherNd(IN const aclTensor *self, IN const aclTensor *indices, bool negativeIndexSupport, OUT aclTensor *out);

/** aclnnop/aclnn_gather_v2.h level2 */
OP aclnnGatherV2(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, OUT aclTensor *out);

/** aclnnop/aclnn_gather_v3.h */
OP(8, 5) aclnnGatherV3(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, int64_t batchDims,
    int64_t mode, OUT aclTensor *out);

/** aclnnop/aclnn_histc.h level2 */
OP aclnnHistc(IN const aclTensor *self, int64_t bins, const aclScalar *min, const aclScalar *max, OUT aclTensor *out);

/** aclnnop/aclnn_index.h level2 */
OP aclnnIndex(IN const aclTensor *self, IN const aclTensorList *indices, OUT aclTensor *out);

/** aclnnop/aclnn_index_add.h level2 */
OP aclnnIndexAdd(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, IN const aclTensor *source,
    const aclScalar *alpha, OUT aclTensor *out);

/** aclnnop/aclnn_index_add_v2.h */
OP(8, 5) aclnnIndexAddV2(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, IN const aclTensor *source,
    const aclScalar *alpha, int64_t mode, OUT aclTensor *out);

/** aclnnop/aclnn_index_copy.h level2 */
/* only outRef is written; selfRef gives the elements that no index names */
OP aclnnIndexCopy(IN aclTensor *selfRef, int64_t dim, IN const aclTensor *index, IN const aclTensor *source,
    OUT aclTensor *outRef);
OP aclnnInplaceIndexCopy(INOUT aclTensor *selfRef, int64_t dim, IN const aclTensor *index, IN const aclTensor *source);

/** aclnnop/aclnn_index_fill.h */
OP(8, 5) aclnnIndexFill(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, const aclScalar *value,
    OUT aclTensor *out);
OP(8, 5) aclnnInplaceIndexFill(INOUT aclTensor *selfRef, int64_t dim, IN const aclTensor *index,
    const aclScalar *value);

/** aclnnop/aclnn_index_fill_tensor.h level2 */
OP aclnnIndexFillTensor(IN const aclTensor *self, int64_t dim, const aclIntArray *index, const aclScalar *value,
    OUT aclTensor *out);
OP aclnnInplaceIndexFillTensor(INOUT aclTensor *selfRef, int64_t dim, const aclIntArray *index, const aclScalar *value);

/** aclnnop/aclnn_index_put_impl.h level2 */
OP aclnnIndexPutImpl(INOUT aclTensor *selfRef, IN const aclTensorList *indices, IN const aclTensor *values,
    bool accumulate, bool unsafe);

/** aclnnop/aclnn_index_select.h level2 */
OP aclnnIndexSelect(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, OUT aclTensor *out);

/** aclnnop/aclnn_isin.h level2 */
OP aclnnIsInScalarTensor(const aclScalar *element, IN const aclTensor *testElements, bool assumeUnique, bool invert,
    OUT aclTensor *out);

/** aclnnop/aclnn_isin_tensor_scalar.h level2 */
OP aclnnIsInTensorScalar(IN const aclTensor *element, const aclScalar *testElement, bool assumeUnique, bool invert,
    OUT aclTensor *out);

/** aclnnop/aclnn_kthvalue.h level2 */
OP aclnnKthvalue(IN const aclTensor *self, int64_t k, int64_t dim, bool keepdim, OUT aclTensor *valuesOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_masked_fill_scalar.h level2 */
OP aclnnInplaceMaskedFillScalar(INOUT aclTensor *selfRef, IN const aclTensor *mask, const aclScalar *value);

/** aclnnop/aclnn_masked_fill_tensor.h level2 */
OP aclnnInplaceMaskedFillTensor(INOUT aclTensor *selfRef, IN const aclTensor *mask, IN const aclTensor *value);

/** aclnnop/aclnn_masked_scatter.h level2 */
OP aclnnInplaceMaskedScatter(INOUT aclTensor *selfRef, IN const aclTensor *mask, IN const aclTensor *source);

/** aclnnop/aclnn_masked_select.h level2 */
OP aclnnMaskedSelect(IN const aclTensor *self, IN const aclTensor *mask, OUT aclTensor *out);

/** aclnnop/aclnn_nonzero.h level2 */
OP aclnnNonzero(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_nonzero_v2.h level2 */
OP aclnnNonzeroV2(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_one_hot.h level2 */
OP aclnnOneHot(IN const aclTensor *self, int numClasses, IN const aclTensor *onValue, IN const aclTensor *offValue,
    int64_t axis, OUT aclTensor *out);

/** aclnnop/aclnn_put.h level2 */
OP aclnnInplacePut(INOUT aclTensor *selfRef, IN const aclTensor *index, IN const aclTensor *source, bool accumulate);

/** aclnnop/aclnn_quant_scatter.h level2 */
OP aclnnInplaceQuantScatter(INOUT aclTensor *selfRef, IN const aclTensor *indices, IN const aclTensor *updates,
    IN const aclTensor *quantScales, IN OPT const aclTensor *quantZeroPoints, int64_t axis, int64_t quantAxis,
    int64_t reduction);

/** aclnnop/aclnn_quant_scatter_v2.h */
OP(8, 5) aclnnInplaceQuantScatterV2(INOUT aclTensor *selfRef, IN const aclTensor *indices, IN const aclTensor *updates,
    IN const aclTensor *quantScales, IN const aclTensor *quantZeroPoints, int64_t axis, int64_t quantAxis,
    int64_t reduction, const char *roundMode);

/** aclnnop/aclnn_scatter.h level2 */
OP aclnnScatter(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, IN const aclTensor *src,
    int64_t reduce, OUT aclTensor *out);
OP aclnnScatterValue(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, const aclScalar *value,
    int64_t reduce, OUT aclTensor *out);
OP aclnnInplaceScatter(INOUT aclTensor *selfRef, int64_t dim, IN const aclTensor *index, IN const aclTensor *src,
    int64_t reduce);
OP aclnnInplaceScatterValue(INOUT aclTensor *selfRef, int64_t dim, IN const aclTensor *index, const aclScalar *value,
    int64_t reduce);

/** aclnnop/aclnn_scatter_add.h level2 */
OP aclnnScatterAdd(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, IN const aclTensor *src,
    OUT aclTensor *out);

/** aclnnop/aclnn_scatter_div.h */
OP(9, 1) aclnnScatterDiv(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates,
    bool useLocking);

/** aclnnop/aclnn_scatter_list.h */
OP(9, 0) aclnnScatterList(INOUT aclTensorList *varRef, IN const aclTensor *indice, IN const aclTensor *updates,
    IN OPT const aclTensor *maskOptional, OPT char *reduceOptional, int64_t axis);

/** aclnnop/aclnn_scatter_max.h */
OP(9, 1) aclnnScatterMax(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates,
    bool useLocking);

/** aclnnop/aclnn_scatter_min.h */
OP(9, 1) aclnnScatterMin(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates,
    bool useLocking);

/** aclnnop/aclnn_scatter_mul.h */
OP(9, 1) aclnnScatterMul(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates,
    bool useLocking);

/** aclnnop/aclnn_scatter_nd.h level2 */
OP aclnnScatterNd(IN const aclTensor *data, IN const aclTensor *indices, IN const aclTensor *updates,
    OUT aclTensor *out);

/** aclnnop/aclnn_scatter_nd_update.h level2 */
OP aclnnScatterNdUpdate(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates);

/** aclnnop/aclnn_scatter_reduce.h */
OP(9, 2) aclnnInplaceScatterReduce(INOUT aclTensor *selfRef, int64_t dim, IN const aclTensor *index,
    IN const aclTensor *src, int64_t reduce, bool includeSelf);
OP(9, 2) aclnnScatterReduce(IN const aclTensor *self, int64_t dim, IN const aclTensor *index, IN const aclTensor *src,
    int64_t reduce, bool includeSelf, OUT aclTensor *out);

/** aclnnop/aclnn_scatter_update.h level2 */
OP aclnnInplaceScatterUpdate(INOUT aclTensor *data, IN const aclTensor *indices, IN const aclTensor *updates,
    int64_t axis);

/** aclnnop/aclnn_searchsorted.h level2 */
OP aclnnSearchSorted(IN const aclTensor *sortedSequence, IN const aclTensor *self, bool outInt32, bool right,
    IN OPT const aclTensor *sorter, OUT aclTensor *out);
OP aclnnSearchSorteds(IN const aclTensor *sortedSequence, const aclScalar *self, bool outInt32, bool right,
    IN OPT const aclTensor *sorter, OUT aclTensor *out);

/** aclnnop/aclnn_sort.h level2 */
OP aclnnSort(IN const aclTensor *self, bool stable, int64_t dim, bool descending, OUT aclTensor *valuesOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_take.h level2 */
OP aclnnTake(IN const aclTensor *self, IN const aclTensor *index, OUT aclTensor *out);

/** aclnnop/aclnn_tf_scatter_add.h */
OP(8, 5) aclnnTfScatterAdd(INOUT aclTensor *varRef, IN const aclTensor *indices, IN const aclTensor *updates);

/** aclnnop/aclnn_top_k_top_p_sample.h */
OP(8, 5) aclnnTopKTopPSample(IN const aclTensor *logits, IN const aclTensor *topK, IN const aclTensor *topP,
    IN OPT const aclTensor *q, double eps, bool isNeedLogits, int64_t topKGuess, OUT const aclTensor *logitsSelectIdx,
    OUT const aclTensor *logitsTopKPSelect);

/** aclnnop/aclnn_top_k_top_p_sample_v2.h */
OP(9, 0) aclnnTopKTopPSampleV2(IN const aclTensor *logits, IN const aclTensor *topK, IN const aclTensor *topP,
    IN OPT const aclTensor *q, IN OPT const aclTensor *minPs, double eps, bool isNeedLogits, int64_t topKGuess,
    int64_t ksMax, bool inputIsLogits, bool isNeedSampleResult, OUT const aclTensor *logitsSelectIdx,
    OUT const aclTensor *logitsTopKPSelect, OUT const aclTensor *logitsIdx, OUT const aclTensor *logitsSortMasked);

/** aclnnop/aclnn_topk.h level2 */
OP aclnnTopk(IN const aclTensor *self, int64_t k, int64_t dim, bool largest, bool sorted, OUT aclTensor *valuesOut,
    OUT aclTensor *indicesOut);

/** aclnnop/aclnn_unique.h level2 */
OP aclnnUnique(IN const aclTensor *self, bool sorted, bool returnInverse, OUT aclTensor *valueOut,
    OUT aclTensor *inverseOut);

/** aclnnop/aclnn_unique2.h level2 */
OP aclnnUnique2(IN const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts, OUT aclTensor *valueOut,
    OUT aclTensor *inverseOut, OUT aclTensor *countsOut);

/** aclnnop/aclnn_unique_consecutive.h level2 */
OP aclnnUniqueConsecutive(IN const aclTensor *self, bool returnInverse, bool returnCounts, int64_t dim,
    OUT aclTensor *valueOut, OUT aclTensor *inverseOut, OUT aclTensor *countsOut);

/** aclnnop/aclnn_unique_dim.h level2 */
OP aclnnUniqueDim(IN const aclTensor *self, bool sorted, bool returnInverse, int64_t dim, OUT aclTensor *valueOut,
    OUT aclTensor *inverseOut, OUT aclTensor *countsOut);
