/* The product of two matrices with any strides, computed in one class. */
#ifndef OPS_MULTIPLY_H
#define OPS_MULTIPLY_H

#include "element.h"

/* The format to which float factors are rounded before they are multiplied: the "math types" of the cube unit. */
enum sim_rounding { SIM_ROUND_NOT, SIM_ROUND_HALF, SIM_ROUND_HF32 };

/* A matrix with the summed axis, `along`, and the other one, `across`. Strides are in elements. */
struct sim_factor {
    const char *fa_place;
    aclDataType fa_type;
    int64_t fa_across, fa_along;
};

enum sim_side { SIM_LEFT, SIM_RIGHT };

struct sim_multiply {
    enum sim_class mu_class; /* the only complex class is SIM_CLASS_COMPLEX_DOUBLE */
    enum sim_rounding mu_rounding;
    int64_t mu_rows, mu_columns, mu_depth;
    struct sim_factor mu_left, mu_right; /* `across` selects a row (left) or a column (right) of the result */
    /* Receives finished sums: `count` columns of a row, from `column` on. It may change the block. */
    void (*mu_put)(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count);
    bool mu_alone; /* one thread computes all elements, in order; otherwise mu_put is called by several threads */
    /* Computes `count` floats of the right factor from (column, along) on, in the direction in which its strides are
     * smaller, or along the summed axis if they are equal; NULL: they are in memory. */
    void (*mu_make)(void *context, int64_t column, int64_t along, float *to, size_t count);
    /* Elements of the right factor are (element + offset) * scale, in the class of floats, with one number per column
     * for each group of so many steps along the summed axis; mu_group 0: one group. NULL: no scales, no offsets. */
    const double *mu_scale, *mu_offset;
    int64_t mu_group;
    void *mu_context;
};

/* The bytes of the widest vectors that the processor multiplies and adds. */
size_t sim_multiply_vector(void);

/* The address of an element. */
const char *sim_multiply_place(const struct sim_factor *factor, int64_t across, int64_t along);

/* Returns a run of a factor from (across, along) on, with the class and the rounding of the product: where it is, or
 * converted to `to`. */
const void *sim_multiply_load(const struct sim_multiply *multiply, enum sim_side side, int64_t across, int64_t along,
                              bool runs_along, void *to, size_t count);

/* Whether elements of a result share bytes, so that their order matters. */
bool sim_multiply_is_alone(const aclsimTensor *result);

/* Whether the factor's elements are closest together along the summed axis. */
bool sim_multiply_runs_along(const struct sim_factor *factor);

/* Passes each element of the result to mu_put exactly once, also if the depth is 0. Returns 207001 if there is no
 * memory. */
aclError sim_multiply_run(const struct sim_multiply *multiply);

#endif
