/* What all reductions share: which dimensions of a tensor go, and how the results lie over those that stay. */
#ifndef OPS_REDUCE_H
#define OPS_REDUCE_H

#include "walk.h"

/* A set of dimensions; those that are kept are 1 in the result. */
struct sim_reduced {
    unsigned rd_mask;
    bool rd_keeps;
};

static inline bool sim_reduces(const struct sim_reduced *reduced, uint32_t dim)
{
    return (reduced->rd_mask >> dim & 1) != 0;
}

/* 161002 unless the tensor has the shape of the result; where that is a scalar, one dimension of 1 is taken as well. */
aclnnStatus sim_reduce_check(const aclsimArgument *out, const aclsimTensor *self, const struct sim_reduced *reduced);
/* 161002 when a dimension that goes is empty: no element is the greatest. */
aclnnStatus sim_reduce_check_filled(const aclsimArgument *self, const struct sim_reduced *reduced);

/* Settles a walk over the dimensions that stay: results at all places but the last one, self there. */
void sim_reduce_walk(struct sim_walk *walk, const aclsimTensor *const *tensors, const struct sim_reduced *reduced);

/* Sums, means, products and extremes are made of integers, doubles or pairs of these. */
enum sim_class sim_reduce_class(aclDataType type);

#endif
