/* Random numbers and dropout. */

/** aclnnop/aclnn_bernoulli.h level2 */
OP aclnnBernoulli(IN const aclTensor *self, const aclScalar *prob, int64_t seed, int64_t offset, OUT aclTensor *out);
OP aclnnBernoulliTensor(IN const aclTensor *self, IN const aclTensor *prob, int64_t seed, int64_t offset,
    OUT aclTensor *out);
/* pure fill: the old values are not read */
OP aclnnInplaceBernoulli(OUT const aclTensor *selfRef, const aclScalar *prob, int64_t seed, int64_t offset);
OP aclnnInplaceBernoulliTensor(OUT const aclTensor *selfRef, IN const aclTensor *prob, int64_t seed, int64_t offset);

/** aclnnop/aclnn_dropout.h level2 */
OP aclnnDropout(IN const aclTensor *input, double p, bool train, int64_t seed, int64_t offset, OUT aclTensor *out,
    OUT aclTensor *maskOut);

/** aclnnop/aclnn_dropout_backward.h level2 */
OP aclnnDropoutBackward(IN const aclTensor *gradOutput, IN const aclTensor *mask, double scale, OUT aclTensor *out);

/** aclnnop/aclnn_dropout_do_mask.h level2 */
OP aclnnDropoutDoMask(IN const aclTensor *self, IN const aclTensor *mask, double prob, OUT aclTensor *out);

/** aclnnop/aclnn_dropout_gen_mask.h level2 */
OP aclnnDropoutGenMask(const aclIntArray *shape, double prob, int64_t seed, int64_t offset, OUT aclTensor *out);
OP aclnnDropoutGenMaskV2(const aclIntArray *shape, double prob, int64_t seed, int64_t offset, aclDataType probDataType,
    OUT aclTensor *out);
OP(8, 5) aclnnDropoutGenMaskV2Tensor(const aclIntArray *shape, double prob, IN const aclTensor *seedTensor,
    IN const aclTensor *offsetTensor, int64_t offset, aclDataType probDataType, OUT aclTensor *out);

/** aclnnop/aclnn_dropout_v3.h */
OP(8, 5) aclnnDropoutV3(IN const aclTensor *input, IN OPT const aclTensor *optionalNoiseShape, double p, int64_t seed,
    int64_t offset, OUT aclTensor *out, OUT aclTensor *maskOut);

/** aclnnop/aclnn_dropout_v3_grad.h */
OP(9, 2) aclnnDropoutV3Grad(IN const aclTensor *gradY, IN const aclTensor *mask, double scale, OUT aclTensor *gradX);

/** aclnnop/aclnn_masked_scale.h */
OP(8, 5) aclnnMaskedScale(IN const aclTensor *self, IN const aclTensor *mask, float scale, OUT aclTensor *out);

/** aclnnop/aclnn_multinomial.h level2 */
OP aclnnMultinomial(IN const aclTensor *self, int64_t numsamples, bool replacement, int64_t seed, int64_t offset,
    OUT aclTensor *out);
OP(8, 5) aclnnMultinomialTensor(IN const aclTensor *self, int64_t numsamples, bool replacement,
    IN const aclTensor *seedTensor, IN const aclTensor *offsetTensor, int64_t offset, OUT aclTensor *out);

/** aclnnop/aclnn_normal.h level2 */
/* pure fill: the old values are not read */
OP aclnnInplaceNormal(OUT const aclTensor *selfRef, float mean, float std, int64_t seed, int64_t offset);
OP(8, 5) aclnnInplaceNormalTensor(OUT const aclTensor *selfRef, float mean, float std, IN const aclTensor *seedTensor,
    IN const aclTensor *offsetTensor, int64_t offset);

/** aclnnop/aclnn_normal_out.h level2 */
OP aclnnNormalTensorTensor(IN const aclTensor *mean, IN const aclTensor *std, int64_t seed, int64_t offset,
    OUT aclTensor *out);
OP aclnnNormalTensorFloat(IN const aclTensor *mean, float std, int64_t seed, int64_t offset, OUT aclTensor *out);
OP aclnnNormalFloatTensor(float mean, IN const aclTensor *std, int64_t seed, int64_t offset, OUT aclTensor *out);
OP aclnnNormalFloatFloat(float mean, float std, int64_t seed, int64_t offset, OUT aclTensor *out);

/** aclnnop/aclnn_random.h level2 */
/* pure fill: the old values are not read */
OP aclnnInplaceRandom(OUT const aclTensor *selfRef, int64_t from, int64_t to, int64_t seed, int64_t offset);
OP(8, 5) aclnnInplaceRandomTensor(OUT const aclTensor *selfRef, int64_t from, int64_t to,
    IN const aclTensor *seedTensor, IN const aclTensor *offsetTensor, int64_t offset);
OP(9, 1) aclnnInplaceRandomWithoutFromTo(OUT const aclTensor *selfRef, int64_t seed, int64_t offset);
OP(9, 1) aclnnInplaceRandomWithoutFromToTensor(OUT const aclTensor *selfRef, IN const aclTensor *seedTensor,
    IN const aclTensor *offsetTensor, int64_t offset);

/** aclnnop/aclnn_randperm.h level2 */
OP aclnnRandperm(int64_t n, int64_t seed, int64_t offset, OUT aclTensor *out);

/** aclnnop/aclnn_set_pytorch_random.h */
HELPER(9, 1) aclnnSetPytorchRandom(int32_t pytorchRandom);

/** aclnnop/aclnn_sim_thread_exponential.h */
OP(8, 5) aclnnSimThreadExponential(INOUT aclTensor *selfRef, int64_t count, double lambda, int64_t seed,
    int64_t offset);

/** aclnnop/aclnn_uniform.h level2 */
/* pure fill: the old values are not read */
OP aclnnInplaceUniform(OUT const aclTensor *selfRef, double from, double to, uint64_t seed, uint64_t offset);
OP(8, 5) aclnnInplaceUniformTensor(OUT const aclTensor *selfRef, double from, double to,
    IN const aclTensor *seedTensor, IN const aclTensor *offsetTensor, uint64_t offset);
