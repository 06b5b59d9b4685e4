/* Products with quantised matrices: integers are multiplied exactly, or the right matrix is converted to floats. */
#ifndef OPS_QUANT_PRODUCT_H
#define OPS_QUANT_PRODUCT_H

#include "multiply.h"
#include "packed.h"

#define SIM_QUANT_SIZE 65535 /* the most elements of the limited dimensions of a factor */

/* out = activate(((left @ right + early) * scale * rows) + offset + late), where an absent list is left out. The right
 * matrix is (right + right_offset) * right_scale if it has scales. Lists have one number per column, qp_rows one per
 * row; right scales and offsets have one per column for each group of rows of the right matrix. */
struct sim_quant_product {
    aclsimTensor qp_left, qp_right, qp_out; /* matrices of numbers that are not packed */
    const double *qp_right_scale, *qp_right_offset;
    int64_t qp_group; /* rows per group; 0: all rows */
    const double *qp_early, *qp_scale, *qp_rows, *qp_offset, *qp_late;
    double (*qp_activate)(double value); /* NULL: the identity */
};

/* Results in an integer type are rounded to nearest, ties to even, and clamped. Returns 207001 if there is no
 * memory. */
aclError sim_quant_product_run(const struct sim_quant_product *product);

#endif
