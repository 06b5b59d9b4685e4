/* Products of matrices and vectors: requests of the single operator GEMM. */
#ifndef SIM_BLAS_H
#define SIM_BLAS_H

#include "op.h"
#include <acl/ops/acl_cblas.h>

#define SIM_BLAS_WHOLE (-1) /* the only supported distance between rows: their length */

/* C = alpha op(A) op(B) + beta C. A vector is a matrix of one column. */
struct sim_blas {
    aclTransType bl_trans_a, bl_trans_b, bl_trans_c;
    int bl_rows, bl_columns, bl_depth; /* m, n, k */
    aclDataType bl_type_a, bl_type_b, bl_type_c;
    aclComputeType bl_compute;
};

struct sim_blas_data {
    const void *bd_alpha, *bd_a, *bd_b, *bd_beta;
    void *bd_c;
    int bd_distance_a, bd_distance_b, bd_distance_c;
};

/* Returns 100000, 100026, 200001, or a code of the runtime. */
aclError sim_blas_execute(const struct sim_blas *blas, const struct sim_blas_data *data, aclrtStream stream,
                          void *site);
/* Creates a handle for inputs A, B, C, alpha, beta and output C. Returns 100000, 100026 or 200001. */
aclError sim_blas_handle(const struct sim_blas *blas, aclopHandle **handle);

#endif
