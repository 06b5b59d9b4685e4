/* Products of groups of rows of int8 with a weight per group, scaled per column and per row, which operators fuse with
 * what follows: GroupedMatmulSwigluQuant and GroupedMatmulFinalizeRouting. The products are exact, and scaled in
 * double; they are rounded to float.
 *
 * A weight of integers of 4 bits comes with a bias that undoes a shift of the card's arithmetic, which is not needed
 * here. */
#ifndef OPS_GROUPED_INT8_H
#define OPS_GROUPED_INT8_H

#include "groups.h"
#include "packed.h"

/* The arguments; op_rows, op_bias and op_offset may be NULL or absent. Those of all groups may be in one tensor, with a
 * dimension for the groups, or in a list with a tensor per group. */
struct sim_grouped_int8 {
    const aclsimArgument *go_x, *go_weight, *go_scale, *go_rows, *go_bias, *go_offset, *go_groups;
    bool go_turned; /* the last dimensions of the weight are exchanged */
    bool go_counts; /* of the groups */
};

/* Checks types and shapes; *columns is the size of the last dimension of the product. */
aclnnStatus sim_grouped_int8_check(const struct sim_grouped_int8 *operands, int64_t *columns);

/* Called for the rows of a group with their products, which are contiguous. */
typedef aclError sim_grouped_int8_func(void *context, int64_t group, int64_t start, int64_t rows,
                                       const float *products);

/* Computes all groups. */
aclError sim_grouped_int8_run(const struct sim_grouped_int8 *operands, struct sim_lists *lists,
                              sim_grouped_int8_func *each, void *context);

#endif
