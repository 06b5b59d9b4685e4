/* Products of matrices and vectors as single operators. */

typedef enum aclTransType {
    ACL_TRANS_N = 0,
    ACL_TRANS_T = 1,
    ACL_TRANS_NZ = 2,
    ACL_TRANS_NZ_T = 3,
} aclTransType;

typedef enum aclComputeType {
    ACL_COMPUTE_HIGH_PRECISION = 0,
    ACL_COMPUTE_LOW_PRECISION = 1,
} aclComputeType;

/** Queue y = alpha op(A) x + beta y with selectable data types.
 *  blas.gemv_ex(transA, m, n, alpha, a, lda, dataTypeA, x, incx, dataTypeX, beta, y, incy, dataTypeY, type, stream) ->
 *      ret */
ACL_API(8, 1) aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha, const void *a, int lda,
    aclDataType dataTypeA, const void *x, int incx, aclDataType dataTypeX, const void *beta, void *y, int incy,
    aclDataType dataTypeY, aclComputeType type, aclrtStream stream);

/** Create an operator handle for aclblasGemvEx.
 *  blas.create_handle_for_gemv_ex(transA, m, n, dataTypeA, dataTypeX, dataTypeY, type) -> (handle, ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA,
    aclDataType dataTypeX, aclDataType dataTypeY, aclComputeType type, aclopHandle **handle);

/** Queue y = alpha op(A) x + beta y in half precision.
 *  blas.hgemv(transA, m, n, alpha, a, lda, x, incx, beta, y, incy, type, stream) -> ret */
ACL_API(8, 1) aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16 *alpha, const aclFloat16 *a,
    int lda, const aclFloat16 *x, int incx, const aclFloat16 *beta, aclFloat16 *y, int incy, aclComputeType type,
    aclrtStream stream);

/** Create an operator handle for aclblasHgemv.
 *  blas.create_handle_for_hgemv(transA, m, n, type) -> (handle, ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type,
    aclopHandle **handle);

/** Queue y = alpha op(A) x + beta y on 8-bit integers with 32-bit results.
 *  blas.s8gemv(transA, m, n, alpha, a, lda, x, incx, beta, y, incy, type, stream) -> ret */
ACL_API(8, 1) aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha, const int8_t *a, int lda,
    const int8_t *x, int incx, const int32_t *beta, int32_t *y, int incy, aclComputeType type, aclrtStream stream);

/** Create an operator handle for aclblasS8gemv.
 *  blas.create_handle_for_s8gemv(transA, m, n, type) -> (handle, ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type,
    aclopHandle **handle);

/** Queue C = alpha op(A) op(B) + beta C with selectable data types.
 *  blas.gemm_ex(transA, transB, transC, m, n, k, alpha, matrixA, lda, dataTypeA, matrixB, ldb, dataTypeB, beta,
 *      matrixC, ldc, dataTypeC, type, stream) -> ret */
ACL_API(8, 1) aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
    const void *alpha, const void *matrixA, int lda, aclDataType dataTypeA, const void *matrixB, int ldb,
    aclDataType dataTypeB, const void *beta, void *matrixC, int ldc, aclDataType dataTypeC, aclComputeType type,
    aclrtStream stream);

/** Create an operator handle for aclblasGemmEx.
 *  blas.create_handle_for_gemm_ex(transA, transB, transC, m, n, k, dataTypeA, dataTypeB, dataTypeC, type) -> (handle,
 *      ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC,
    int m, int n, int k, aclDataType dataTypeA, aclDataType dataTypeB, aclDataType dataTypeC, aclComputeType type,
    aclopHandle **handle);

/** Queue C = alpha op(A) op(B) + beta C in half precision.
 *  blas.hgemm(transA, transB, transC, m, n, k, alpha, matrixA, lda, matrixB, ldb, beta, matrixC, ldc, type, stream) ->
 *      ret */
ACL_API(8, 1) aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
    const aclFloat16 *alpha, const aclFloat16 *matrixA, int lda, const aclFloat16 *matrixB, int ldb,
    const aclFloat16 *beta, aclFloat16 *matrixC, int ldc, aclComputeType type, aclrtStream stream);

/** Create an operator handle for aclblasHgemm.
 *  blas.create_handle_for_hgemm(transA, transB, transC, m, n, k, type) -> (handle, ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m,
    int n, int k, aclComputeType type, aclopHandle **handle);

/** Queue C = alpha op(A) op(B) + beta C on 8-bit integers with 32-bit results.
 *  blas.s8gemm(transA, transB, transC, m, n, k, alpha, matrixA, lda, matrixB, ldb, beta, matrixC, ldc, type, stream)
 *      -> ret */
ACL_API(8, 1) aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
    const int32_t *alpha, const int8_t *matrixA, int lda, const int8_t *matrixB, int ldb, const int32_t *beta,
    int32_t *matrixC, int ldc, aclComputeType type, aclrtStream stream);

/** Create an operator handle for aclblasS8gemm.
 *  blas.create_handle_for_s8gemm(transA, transB, transC, m, n, k, type) -> (handle, ret) */
ACL_API(8, 1) aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC,
    int m, int n, int k, aclComputeType type, aclopHandle **handle);
