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

/** aclnnop/aclnn_inverse.h */
OP aclnnInverse(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_cross.h level2 */
OP aclnnLinalgCross(IN const aclTensor *self, IN const aclTensor *other, int64_t dim, OUT aclTensor *out);

/** aclnnop/aclnn_linalg_qr.h level2 */
OP aclnnLinalgQr(IN const aclTensor *self, int64_t mode, OUT aclTensor *Q, OUT aclTensor *R);

/** aclnnop/aclnn_logdet.h */
OP aclnnLogdet(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_pdist.h level2 */
OP aclnnPdist(IN const aclTensor *self, float p, OUT aclTensor *out);

/** aclnnop/aclnn_pdist_forward.h level2 */
OP aclnnPdistForward(IN const aclTensor *self, const aclScalar *pScalar, OUT aclTensor *out);

/** aclnnop/aclnn_polar.h level2 */
OP aclnnPolar(IN const aclTensor *input, IN const aclTensor *angle, OUT aclTensor *out);

/** aclnnop/aclnn_precision_compare.h level2 */
OP aclnnPrecisionCompare(IN const aclTensor *golden, IN const aclTensor *realdata, OUT aclTensor *out);

/** aclnnop/aclnn_qr.h level2 */
OP aclnnQr(IN const aclTensor *self, bool some, OUT aclTensor *Q, OUT aclTensor *R);

/** aclnnop/aclnn_sinkhorn.h */
OP aclnnSinkhorn(IN const aclTensor *cost, OPT const aclScalar *tol, OUT aclTensor *p);

/** aclnnop/aclnn_slogdet.h level2 */
OP aclnnSlogdet(IN const aclTensor *self, OUT aclTensor *signOut, OUT aclTensor *logOut);

/** aclnnop/aclnn_trace.h level2 */
OP aclnnTrace(IN const aclTensor *self, OUT aclTensor *out);

/** aclnnop/aclnn_triangular_solve.h level2 */
OP aclnnTriangularSolve(IN const aclTensor *self, IN const aclTensor *A, bool upper, bool transpose, bool unitriangular,
    OUT aclTensor *xOut, OUT aclTensor *mOut);
