/* Mixtures of experts: checks and arithmetic that routing operators share. As on a card, shapes and numbers that
 * contradict each other return 561002, and wrong types return 161002. */
#ifndef OPS_MOE_H
#define OPS_MOE_H

#include "packed.h"

/* The tensor has the rank, and these sizes (-1: any). */
aclnnStatus sim_moe_require_shape(const aclsimArgument *argument, uint32_t rank, int64_t first, int64_t second);
/* The number is in the range. */
aclnnStatus sim_moe_require_number(const aclsimArgument *number, int64_t least, int64_t most);

/* Sorts positions by their keys; positions of the same key stay in order. Memory for `count` positions comes from
 * `lists`. Returns 207001 if there is none. */
aclError sim_moe_sort(struct sim_lists *lists, const double *keys, size_t count, double **positions);

/* Records that element `place` of a tensor of indices is out of range, and returns the code of the failed task. */
aclError sim_moe_fail(const aclsimArgument *argument, size_t place, double value, int64_t least, int64_t most);

#endif
