/* Products of matrices that other operators use for theirs. Each takes the arguments of Mm (self, mat2, out) or, for a
 * sum, of Addmm (self, mat1, mat2, beta, alpha, out, cubeMathType), and has its own types. */
#ifndef OPS_PRODUCT_H
#define OPS_PRODUCT_H

#include "operator/row.h"

extern const struct sim_kernel sim_product_outer, sim_product_outer_sum; /* without math type */
extern const struct sim_kernel sim_product_batch_sum;
extern const struct sim_kernel sim_kernel_aclnnAddmm;

#endif
