/* The product of two matrices that lie anywhere in memory, in the class that they meet in. */
#ifndef OPS_MULTIPLY_H
#define OPS_MULTIPLY_H

#include "element.h"

/* What float factors are rounded to before they are multiplied: the "math types" of the cube unit. */
enum sim_rounding { SIM_ROUND_NOT, SIM_ROUND_HALF, SIM_ROUND_HF32 };

/* A matrix with the axis that is summed over, `along`, and the other one, `across`; strides in elements. */
struct sim_factor {
    const char *fa_place;
    aclDataType fa_type;
    int64_t fa_across, fa_along;
};

struct sim_multiply {
    enum sim_class mu_class; /* of complex ones SIM_CLASS_COMPLEX_DOUBLE alone */
    enum sim_rounding mu_rounding;
    int64_t mu_rows, mu_columns, mu_depth;
    struct sim_factor mu_left, mu_right; /* across: a row of the result, a column of it */
    /* Takes finished sums: `count` columns of a row, from `column` on. The block is its to change. */
    void (*mu_put)(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count);
    void *mu_context;
};

/* Every element of the result is put once, also when the depth is 0. 207001 when there is no memory. */
aclError sim_multiply_run(const struct sim_multiply *multiply);

#endif
