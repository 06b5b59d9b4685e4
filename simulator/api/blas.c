/* Entry points of aclblas: matrix products. A vector is a matrix of one column. The functions for half precision and
 * 8-bit integers call the general ones with their data types. */
#include "operator/blas.h"

#include "engine/engine.h"

#define PRODUCT(a, b, c)                                                                                               \
    {.bl_trans_a = transA, .bl_trans_b = transB, .bl_trans_c = transC, .bl_rows = m, .bl_columns = n, .bl_depth = k,   \
     .bl_type_a = (a), .bl_type_b = (b), .bl_type_c = (c), .bl_compute = type}
#define VECTOR(a, b, c)                                                                                                \
    {.bl_trans_a = transA, .bl_trans_b = ACL_TRANS_N, .bl_trans_c = ACL_TRANS_N, .bl_rows = m, .bl_columns = 1,        \
     .bl_depth = n, .bl_type_a = (a), .bl_type_b = (b), .bl_type_c = (c), .bl_compute = type}
#define MATRICES                                                                                                       \
    {.bd_alpha = alpha, .bd_a = matrixA, .bd_b = matrixB, .bd_beta = beta, .bd_c = matrixC, .bd_distance_a = lda,      \
     .bd_distance_b = ldb, .bd_distance_c = ldc}
#define VECTORS                                                                                                        \
    {.bd_alpha = alpha, .bd_a = a, .bd_b = x, .bd_beta = beta, .bd_c = y, .bd_distance_a = lda,                        \
     .bd_distance_b = incx, .bd_distance_c = incy}

#define EXECUTE(product, data)                                                                                         \
    SIM_ENTER();                                                                                                       \
    const struct sim_blas blas = product;                                                                              \
    const struct sim_blas_data given = data;                                                                           \
    return sim_blas_execute(&blas, &given, stream, SIM_SITE())
#define CREATE_HANDLE(product)                                                                                         \
    SIM_ENTER();                                                                                                       \
    const struct sim_blas blas = product;                                                                              \
    return sim_blas_handle(&blas, handle)

aclError aclblasGemvEx(aclTransType transA, int m, int n, const void *alpha, const void *a, int lda,
                       aclDataType dataTypeA, const void *x, int incx, aclDataType dataTypeX, const void *beta,
                       void *y, int incy, aclDataType dataTypeY, aclComputeType type, aclrtStream stream)
{
    EXECUTE(VECTOR(dataTypeA, dataTypeX, dataTypeY), VECTORS);
}

aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA, aclDataType dataTypeX,
                                      aclDataType dataTypeY, aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(VECTOR(dataTypeA, dataTypeX, dataTypeY));
}

aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16 *alpha, const aclFloat16 *a, int lda,
                      const aclFloat16 *x, int incx, const aclFloat16 *beta, aclFloat16 *y, int incy,
                      aclComputeType type, aclrtStream stream)
{
    EXECUTE(VECTOR(ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16), VECTORS);
}

aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(VECTOR(ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16));
}

aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t *alpha, const int8_t *a, int lda,
                       const int8_t *x, int incx, const int32_t *beta, int32_t *y, int incy, aclComputeType type,
                       aclrtStream stream)
{
    EXECUTE(VECTOR(ACL_INT8, ACL_INT8, ACL_INT32), VECTORS);
}

aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(VECTOR(ACL_INT8, ACL_INT8, ACL_INT32));
}

aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const void *alpha, const void *matrixA, int lda, aclDataType dataTypeA, const void *matrixB,
                       int ldb, aclDataType dataTypeB, const void *beta, void *matrixC, int ldc,
                       aclDataType dataTypeC, aclComputeType type, aclrtStream stream)
{
    EXECUTE(PRODUCT(dataTypeA, dataTypeB, dataTypeC), MATRICES);
}

aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclDataType dataTypeA, aclDataType dataTypeB, aclDataType dataTypeC,
                                      aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(PRODUCT(dataTypeA, dataTypeB, dataTypeC));
}

aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                      const aclFloat16 *alpha, const aclFloat16 *matrixA, int lda, const aclFloat16 *matrixB, int ldb,
                      const aclFloat16 *beta, aclFloat16 *matrixC, int ldc, aclComputeType type, aclrtStream stream)
{
    EXECUTE(PRODUCT(ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16), MATRICES);
}

aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                     int k, aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(PRODUCT(ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16));
}

aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const int32_t *alpha, const int8_t *matrixA, int lda, const int8_t *matrixB, int ldb,
                       const int32_t *beta, int32_t *matrixC, int ldc, aclComputeType type, aclrtStream stream)
{
    EXECUTE(PRODUCT(ACL_INT8, ACL_INT8, ACL_INT32), MATRICES);
}

aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclComputeType type, aclopHandle **handle)
{
    CREATE_HANDLE(PRODUCT(ACL_INT8, ACL_INT8, ACL_INT32));
}
