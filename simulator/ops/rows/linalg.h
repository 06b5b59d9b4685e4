/* Linear algebra, Fourier transforms, distances, recurrent layers and the rest. */

/** aclnnop/acl_rfft1d.h level2 */
OP aclRfft1D(IN const aclTensor *self, int64_t n, int64_t dim, int64_t norm, OUT aclTensor *out);

/** aclnnop/acl_stft.h */
OP aclStft(IN const aclTensor *self, IN OPT const aclTensor *windowOptional, OUT aclTensor *out, int64_t nFft,
    int64_t hopLength, int64_t winLength, bool normalized, bool onesided, bool returnComplex);

/** aclnnop/aclnn_bidirection_lstm.h */
OP aclnnBidirectionLSTM(IN const aclTensor *x, IN const aclTensor *initH, IN const aclTensor *initC,
    IN const aclTensor *wIh, IN const aclTensor *wHh, IN OPT const aclTensor *bIhOptional,
    IN OPT const aclTensor *bHhOptional, IN OPT const aclTensor *wIhReverseOptional,
    IN OPT const aclTensor *wHhReverseOptional, IN OPT const aclTensor *bIhReverseOptional,
    IN OPT const aclTensor *bHhReverseOptional, int64_t numLayers, bool isbias, bool batchFirst, bool bidirection,
    OUT const aclTensor *yOut, OUT const aclTensor *outputHOut, OUT const aclTensor *outputCOut);

/** aclnnop/aclnn_bidirection_lstmv2.h */
OP aclnnBidirectionLSTMV2(IN const aclTensor *x, IN const aclTensor *initH, IN const aclTensor *initC,
    IN const aclTensor *wIh, IN const aclTensor *wHh, IN OPT const aclTensor *bIhOptional,
    IN OPT const aclTensor *bHhOptional, IN OPT const aclTensor *wIhReverseOptional,
    IN OPT const aclTensor *wHhReverseOptional, IN OPT const aclTensor *bIhReverseOptional,
    IN OPT const aclTensor *bHhReverseOptional, IN OPT const aclTensor *batchSizeOptional, int64_t numLayers,
    bool isbias, bool batchFirst, bool bidirection, bool packed, OUT const aclTensor *yOut,
    OUT const aclTensor *outputHOut, OUT const aclTensor *outputCOut);

/** aclnnop/aclnn_cdist.h */
OP(9, 0) aclnnCdist(IN const aclTensor *x1, IN const aclTensor *x2, float p, int64_t compute_mode, OUT aclTensor *out);

/** aclnnop/aclnn_gru.h */
OP(9, 2) aclnnGRU(IN const aclTensor *input, IN const aclTensorList *params, IN OPT const aclTensor *hx,
    IN OPT const aclTensor *batchSizes, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirection,
    bool batchFirst, OUT aclTensor *output, OUT aclTensor *hy, OUT OPT aclTensorList *rOut, OUT OPT aclTensorList *zOut,
    OUT OPT aclTensorList *nOut, OUT OPT aclTensorList *hnOut, OUT OPT aclTensorList *hOut);

/** aclnnop/aclnn_gru_backward.h */
OP(9, 2) aclnnGRUBackward(IN const aclTensor *input, IN const aclTensorList *params, IN const aclTensor *hx,
    IN const aclTensor *dy, IN const aclTensor *dh, IN const aclTensorList *r, IN const aclTensorList *z,
    IN const aclTensorList *n, IN const aclTensorList *hn, IN const aclTensorList *h,
    IN OPT const aclTensor *batchSizes, bool hasBias, int64_t numLayers, bool bidirection, bool batchFirst,
    OUT aclTensor *dxOut, OUT aclTensor *dhPrevOut, OUT aclTensorList *dparamsOut);

/** aclnnop/aclnn_inverse.h */
OP aclnnInverse(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_cholesky.h */
OP(8, 5) aclnnLinalgCholesky(IN const aclTensor *self, bool upper, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_cross.h level2 */
OP aclnnLinalgCross(IN const aclTensor *self, IN const aclTensor *other, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_qr.h level2 */
OP aclnnLinalgQr(IN const aclTensor *self, int64_t mode, OUT aclTensor *Q, OUT aclTensor *R);

/** aclnnop/aclnn_logdet.h */
OP aclnnLogdet(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_lstm.h */
OP(9, 0) aclnnLSTM(IN const aclTensor *input, IN const aclTensorList *params, IN OPT const aclTensorList *hx,
    IN OPT const aclTensor *batchSizes, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirectional,
    bool batchFirst, OUT aclTensor *output, OUT aclTensor *hy, OUT aclTensor *cy, OUT OPT aclTensorList *iOut,
    OUT OPT aclTensorList *jOut, OUT OPT aclTensorList *fOut, OUT OPT aclTensorList *oOut, OUT OPT aclTensorList *hOut,
    OUT OPT aclTensorList *cOut, OUT OPT aclTensorList *tanhCOut);

/** aclnnop/aclnn_lstm_backward.h */
OP(9, 0) aclnnLstmBackward(IN const aclTensor *input, IN const aclTensorList *hx, IN const aclTensorList *params,
    IN OPT const aclTensor *dy, IN OPT const aclTensor *dh, IN OPT const aclTensor *dc, IN const aclTensorList *i,
    IN const aclTensorList *g, IN const aclTensorList *f, IN const aclTensorList *o, IN const aclTensorList *h,
    IN const aclTensorList *c, IN const aclTensorList *tanhc, IN OPT const aclTensor *batchSizesOptional, bool hasBias,
    int64_t numLayers, double dropout, bool train, bool bidirectional, bool batchFirst,
    OPT const aclBoolArray *outputMask, OUT aclTensor *dxOut, OUT aclTensor *dhPrevOut, OUT aclTensor *dcPrevOut,
    OUT aclTensorList *dparamsOut);

/** aclnnop/aclnn_mhc_post.h */
OP(9, 1) aclnnMhcPost(IN const aclTensor *x, IN OPT const aclTensor *hRes, IN const aclTensor *hOut,
    IN const aclTensor *hPost, OUT aclTensor *out);

/** aclnnop/aclnn_mhc_post_backward.h */
OP(9, 1) aclnnMhcPostBackward(IN const aclTensor *gradOutput, IN const aclTensor *x, IN OPT const aclTensor *hRes,
    IN const aclTensor *hOut, IN const aclTensor *hPost, OUT aclTensor *gradX, OUT aclTensor *gradHRes,
    OUT aclTensor *gradHOut, OUT aclTensor *gradHPost);

/** aclnnop/aclnn_mhc_pre.h */
OP(9, 1) aclnnMhcPre(IN const aclTensor *x, IN const aclTensor *phi, IN const aclTensor *alpha,
    IN const aclTensor *bias, IN OPT const aclTensor *gammaOptional, double normEps, double hcEps, OUT aclTensor *hIn,
    OUT aclTensor *hPost, OUT aclTensor *hRes, OUT OPT aclTensor *invRmsOptional, OUT OPT aclTensor *hMixOptional,
    OUT OPT aclTensor *hPreOptional);

/** aclnnop/aclnn_mhc_pre_backward.h */
OP(9, 1) aclnnMhcPreBackward(IN const aclTensor *x, IN const aclTensor *phi, IN const aclTensor *alpha,
    IN const aclTensor *gradHIn, IN const aclTensor *gradHPost, IN const aclTensor *gradHRes,
    IN const aclTensor *invRms, IN const aclTensor *hMix, IN const aclTensor *hPre, IN const aclTensor *hPost,
    IN OPT const aclTensor *gamma, IN OPT const aclTensor *gradXPostOptional, float hcEps, OUT const aclTensor *gradX,
    OUT const aclTensor *gradPhi, OUT const aclTensor *gradAlpha, OUT const aclTensor *gradBias,
    OUT OPT const aclTensor *gradGamma);

/** aclnnop/aclnn_mhc_pre_sinkhorn.h */
OP(9, 1) aclnnMhcPreSinkhorn(IN const aclTensor *x, IN const aclTensor *phi, IN const aclTensor *alpha,
    IN const aclTensor *bias, int64_t hcMult, int64_t numIters, double hcEps, double normEps, bool needBackward,
    OUT aclTensor *hin, OUT aclTensor *hPost, OUT aclTensor *hRes, OUT aclTensor *hPre, OUT aclTensor *hcBeforeNorm,
    OUT aclTensor *invRms, OUT aclTensor *sumOut, OUT aclTensor *normOut);

/** aclnnop/aclnn_mhc_pre_sinkhorn_backward.h */
OP(9, 1) aclnnMhcPreSinkhornBackward(IN const aclTensor *gradHin, IN const aclTensor *gradHPost,
    IN const aclTensor *gradHRes, IN const aclTensor *x, IN const aclTensor *phi, IN const aclTensor *alpha,
    IN const aclTensor *bias, IN const aclTensor *hPre, IN const aclTensor *hcBeforeNorm, IN const aclTensor *invRms,
    IN const aclTensor *sumOut, IN const aclTensor *normOut, double hcEps, OUT const aclTensor *gradX,
    OUT const aclTensor *gradPhi, OUT const aclTensor *gradAlpha, OUT const aclTensor *gradBias);

/** aclnnop/aclnn_mhc_pre_v2.h */
OP(9, 2) aclnnMhcPreV2(IN const aclTensor *x, IN const aclTensor *phi, IN const aclTensor *alpha,
    IN const aclTensor *bias, IN OPT const aclTensor *gammaOptional, double normEps, double hcEps, int64_t opImplMode,
    OUT aclTensor *hIn, OUT aclTensor *hPost, OUT aclTensor *hRes, OUT OPT aclTensor *invRmsOptional,
    OUT OPT aclTensor *hMixOptional, OUT OPT aclTensor *hPreOptional);

/** aclnnop/aclnn_mhc_sinkhorn.h */
OP(9, 1) aclnnMhcSinkhorn(IN const aclTensor *x, float eps, int64_t numIters, OUT aclTensor *output,
    OUT OPT aclTensor *normOut, OUT OPT aclTensor *sumOut);

/** aclnnop/aclnn_mhc_sinkhorn_backward.h */
OP(9, 1) aclnnMhcSinkhornBackward(IN const aclTensor *gradOutput, IN const aclTensor *normOut,
    IN const aclTensor *sumOut, OUT aclTensor *out);

/** aclnnop/aclnn_pdist.h level2 */
OP aclnnPdist(IN const aclTensor *self, float p, OUT aclTensor *out);

/** aclnnop/aclnn_pdist_forward.h level2 */
OP aclnnPdistForward(IN const aclTensor *self, const aclScalar *pScalar, OUT aclTensor *out);

/** aclnnop/aclnn_polar.h level2 */
OP aclnnPolar(IN const aclTensor *input, IN const aclTensor *angle, OUT aclTensor *out);

/** aclnnop/aclnn_precision_compare.h level2 */
OP aclnnPrecisionCompare(IN const aclTensor *golden, IN const aclTensor *realdata, OUT aclTensor *out);

/** aclnnop/aclnn_precision_compare_v2.h */
UNVERIFIED OP(8, 5) aclnnPrecisionCompareV2(IN const aclTensor *golden, IN const aclTensor *realdata,
    uint32_t detect_type, OUT aclTensor *out);

/** aclnnop/aclnn_qr.h level2 */
OP aclnnQr(IN const aclTensor *self, bool some, OUT aclTensor *Q, OUT aclTensor *R);

/** aclnnop/aclnn_sinkhorn.h */
OP aclnnSinkhorn(IN const aclTensor *cost, OPT const aclScalar *tol, OUT aclTensor *p);

/** aclnnop/aclnn_sleep.h */
OP(9, 2) aclnnSleep(const aclIntArray *cycles);

/** aclnnop/aclnn_slogdet.h level2 */
OP aclnnSlogdet(IN const aclTensor *self, OUT aclTensor *signOut, OUT aclTensor *logOut);

/** aclnnop/aclnn_svd.h */
OP(8, 5) aclnnSvd(IN const aclTensor *input, bool fullMatrices, bool computeUV, OUT aclTensor *sigma, OUT aclTensor *u,
    OUT aclTensor *v);

/** aclnnop/aclnn_thnn_fused_lstm_cell.h */
OP(9, 0) aclnnThnnFusedLstmCell(IN const aclTensor *inputGates, IN const aclTensor *hiddenGates, IN const aclTensor *cx,
    IN OPT const aclTensor *inputBiasOptional, IN OPT const aclTensor *hiddenBiasOptional, OUT aclTensor *hyOut,
    OUT aclTensor *cyOut, OUT aclTensor *storageOut);

/** aclnnop/aclnn_thnn_fused_lstm_cell_backward.h */
OP(9, 0) aclnnThnnFusedLstmCellBackward(IN OPT const aclTensor *gradHyOptional, IN OPT const aclTensor *gradCOptional,
    IN const aclTensor *cx, IN const aclTensor *cy, IN const aclTensor *storage, bool hasBias,
    OUT aclTensor *gradGatesOut, OUT aclTensor *gradCxOut, OUT aclTensor *gradBiasOut);

/** aclnnop/aclnn_trace.h level2 */
OP aclnnTrace(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_triangular_solve.h level2 */
OP aclnnTriangularSolve(IN const aclTensor *self, IN const aclTensor *A, bool upper, bool transpose, bool unitriangular,
    OUT aclTensor *xOut, OUT aclTensor *mOut);
