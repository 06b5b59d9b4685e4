/* Walks over the elements of tensors, or parts of them, that are seen as having the same dimensions. That may be more
 * than a tensor has, such as the two dimensions of each repeated one; a stride of 0 stretches a tensor. */
#ifndef OPS_WALK_H
#define OPS_WALK_H

#include "element.h"

#define SIM_WALK_DIMS 16 /* twice those of a tensor */
#define SIM_WALK_PLACES 4

/* Made by sim_walk_add, dimension by dimension, the outermost first, and sim_walk_settle. Strides are in bytes. */
struct sim_walk {
    uint32_t wk_places; /* how many tensors are walked over */
    uint32_t wk_rank;
    bool wk_empty;
    int64_t wk_dims[SIM_WALK_DIMS];
    int64_t wk_strides[SIM_WALK_DIMS][SIM_WALK_PLACES];
};

/* Adds a dimension; strides are in elements of `sizes` bytes, one for each place. */
void sim_walk_add(struct sim_walk *walk, int64_t dim, const int64_t *strides, const size_t *sizes);
/* Joins dimensions that are one: the elements stay in their order. */
void sim_walk_join(struct sim_walk *walk);
/* Orders the dimensions by the strides of the first place, the smallest innermost, and joins them. */
void sim_walk_settle(struct sim_walk *walk);

/* A line of elements; a code that is not 0 ends the walk. */
typedef aclError (*sim_walk_func)(char *const *places, const int64_t *strides, int64_t length, void *context);

/* Calls `line` for all lines along the innermost dimension; `places` are those of the first elements. */
aclError sim_walk_run(const struct sim_walk *walk, char *const *places, sim_walk_func line, void *context);

/* The same for all elements of the first tensor; the others are broadcast to it. */
aclError sim_walk_tensors(const aclsimTensor *const *tensors, uint32_t count, sim_walk_func line, void *context);

bool sim_walk_is_empty(const int64_t *dims, uint32_t rank);

/* The innermost dimension; 1 for a single element. */
static inline int64_t sim_walk_length(const struct sim_walk *walk)
{
    return walk->wk_rank == 0 ? 1 : walk->wk_dims[walk->wk_rank - 1];
}

/* A line function for two places of the same type: copies the second to the first, elements of *(size_t *)context. */
aclError sim_walk_copy_line(char *const *places, const int64_t *strides, int64_t length, void *context);
/* Copies a tensor to another one of the same type, to which it is broadcast. */
void sim_walk_copy(const aclsimTensor *to, const aclsimTensor *from);

#endif
