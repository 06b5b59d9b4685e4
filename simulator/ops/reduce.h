/* What all reductions share: the set of reduced dimensions, checks of shapes, and a walk over the other dimensions. */
#ifndef OPS_REDUCE_H
#define OPS_REDUCE_H

#include "walk.h"

/* A set of reduced dimensions. With rd_keeps they have the size 1 in the result, otherwise the result lacks them. */
struct sim_reduced {
    unsigned rd_mask;
    bool rd_keeps;
};

static inline bool sim_reduces(const struct sim_reduced *reduced, uint32_t dim)
{
    return (reduced->rd_mask >> dim & 1) != 0;
}

/* Returns 161002 unless the tensor has the shape of the result. Instead of a scalar, a tensor with one dimension of
 * size 1 is accepted as well. */
aclnnStatus sim_reduce_check(const aclsimArgument *out, const aclsimTensor *self, const struct sim_reduced *reduced);
/* Returns 161002 if a reduced dimension is empty, because there is no greatest of no elements. */
aclnnStatus sim_reduce_check_filled(const aclsimArgument *self, const struct sim_reduced *reduced);

/* Builds a walk over the dimensions that are not reduced. The last tensor is self, the others are results. */
void sim_reduce_walk(struct sim_walk *walk, const aclsimTensor *const *tensors, const struct sim_reduced *reduced);

/* The class of a reduction: integers, doubles, or complex doubles. */
enum sim_class sim_reduce_class(aclDataType type);

#endif
