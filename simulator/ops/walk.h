/* Walks over the elements of several tensors, or parts of them, with common dimensions. There may be more of these than
 * a tensor has: Repeat walks over each dimension as two. A stride of 0 broadcasts a tensor. */
#ifndef OPS_WALK_H
#define OPS_WALK_H

#include "element.h"

#define SIM_WALK_DIMS 16 /* twice the most dimensions of a tensor */
#define SIM_WALK_PLACES 6

/* Built with sim_walk_add, one dimension at a time, the outermost first, and then sim_walk_settle. Strides are in
 * bytes. */
struct sim_walk {
    uint32_t wk_places; /* how many tensors are walked over */
    uint32_t wk_rank;
    bool wk_empty;
    int64_t wk_dims[SIM_WALK_DIMS];
    int64_t wk_strides[SIM_WALK_DIMS][SIM_WALK_PLACES];
};

/* Adds a dimension. There is one stride per tensor, in elements of `sizes` bytes. */
void sim_walk_add(struct sim_walk *walk, int64_t dim, const int64_t *strides, const size_t *sizes);
/* Joins dimensions that are contiguous; the order of the elements does not change. */
void sim_walk_join(struct sim_walk *walk);
/* Sorts the dimensions by the strides of the first tensor, the smallest innermost, and joins them. */
void sim_walk_settle(struct sim_walk *walk);

/* Processes a line of elements; a code other than 0 ends the walk. Behind the tensors that are walked over, places are
 * NULL and strides 0. */
typedef aclError (*sim_walk_func)(char *const *places, const int64_t *strides, int64_t length, void *context);

/* Calls `line` for all lines along the innermost dimension; `places` holds the addresses of the first elements. */
aclError sim_walk_run(const struct sim_walk *walk, char *const *places, sim_walk_func line, void *context);

/* The same for all elements of the first tensor; the others are broadcast to it. The dimensions are settled. */
aclError sim_walk_tensors(const aclsimTensor *const *tensors, uint32_t count, sim_walk_func line, void *context);
/* The same in the order of the indices, for results that depend on these. */
aclError sim_walk_in_order(const aclsimTensor *const *tensors, uint32_t count, sim_walk_func line, void *context);

/* ---- walks on several threads (engine/split.h) ---- */

/* Processes a part of a line. Each part writes what no other one reads or writes. */
typedef void sim_walk_piece_func(char *const *places, const int64_t *strides, int64_t length, const void *context,
                                 uint32_t seat);

/* How many positions of a walk make a piece, if each leads to `elements` elements of a result. If elements of the
 * result share bytes, there is only one piece, so that the last write wins. */
size_t sim_walk_grain(const aclsimTensor *result, size_t elements);

/* Calls `piece` for all positions of the walk. A part of a line is long enough for a loop: it only ends before the line
 * where a piece ends. */
void sim_walk_split(const struct sim_walk *walk, char *const *places, size_t grain, sim_walk_piece_func *piece,
                    const void *context);
/* The same for all elements of the first tensor; the others are broadcast to it. The dimensions are settled. */
void sim_walk_split_tensors(const aclsimTensor *const *tensors, uint32_t count, size_t grain,
                            sim_walk_piece_func *piece, const void *context);

bool sim_walk_is_empty(const int64_t *dims, uint32_t rank);
/* The number of elements; -1 if it does not fit 64 bits, which dimensions with a stride of 0 allow. */
int64_t sim_walk_count(const aclsimTensor *tensor);

/* Goes on to the next position in a shape, in the order of the indices; after the last one, to the first one, and
 * returns false. No dimension is 0. */
static inline bool sim_walk_step(const int64_t *dims, uint32_t rank, int64_t *at)
{
    for (uint32_t k = rank; k > 0; k--) {
        if (++at[k - 1] < dims[k - 1])
            return true;
        at[k - 1] = 0;
    }
    return false;
}

/* Moves the start of a view by a number of elements. The view is not empty. */
static inline void sim_walk_advance(aclsimTensor *view, int64_t elements)
{
    view->data = (char *)view->data + elements * (int64_t)sim_element_size(view->type);
}

/* The elements from the start of a view on, as far apart as along its first dimension, in the shape of another
 * tensor. */
aclsimTensor sim_walk_fold(const aclsimTensor *line, const aclsimTensor *shape);

/* A contiguous tensor of this shape. */
aclsimTensor sim_walk_plain(void *data, aclDataType type, const int64_t *dims, uint32_t rank);

/* The first part of a tensor, with these dimensions: contiguous if the tensor is, otherwise with its strides. */
aclsimTensor sim_walk_part(const aclsimTensor *tensor, const int64_t *dims);

/* The size of the innermost dimension; 1 for a single element. */
static inline int64_t sim_walk_length(const struct sim_walk *walk)
{
    return walk->wk_rank == 0 ? 1 : walk->wk_dims[walk->wk_rank - 1];
}

/* Line functions for two tensors of the same type: copy the second to the first. *(size_t *)context is the size of an
 * element. */
aclError sim_walk_copy_line(char *const *places, const int64_t *strides, int64_t length, void *context);
void sim_walk_copy_piece(char *const *places, const int64_t *strides, int64_t length, const void *context,
                         uint32_t seat);
/* Broadcasts a tensor to another one of the same type. */
void sim_walk_copy(const aclsimTensor *to, const aclsimTensor *from);
/* Copies one element to all elements of a tensor of its type; NULL: 0. */
void sim_walk_fill(const aclsimTensor *to, const void *element);

#endif
