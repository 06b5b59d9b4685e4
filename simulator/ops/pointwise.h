/* Elementwise operators: tensors are broadcast to the shape of the result and processed in blocks. */
#ifndef OPS_POINTWISE_H
#define OPS_POINTWISE_H

#include "walk.h"

#define SIM_POINTWISE_TENSORS SIM_WALK_PLACES

/* Returns 161002 unless every input can be broadcast to the shape of `out`, by the rules of NumPy. */
aclnnStatus sim_pointwise_check_spread(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count);
/* The same, and `out` must have exactly the shape that results from broadcasting the inputs. */
aclnnStatus sim_pointwise_check(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count);
/* Returns 161002 unless the list has tensors, each has the type of `out`, which is in the set, and each can be
 * broadcast to `out`. */
aclnnStatus sim_pointwise_check_list(const aclsimArgument *list, const aclsimArgument *out, uint64_t types);

/* A block of at most SIM_BLOCK elements: the address of the first one in each tensor, and the strides in elements. The
 * first tensor is the result. */
struct sim_pointwise {
    const aclsimTensor *pw_tensors[SIM_POINTWISE_TENSORS];
    char *pw_places[SIM_POINTWISE_TENSORS];
    int64_t pw_strides[SIM_POINTWISE_TENSORS];
    size_t pw_count;
};

typedef void (*sim_pointwise_func)(const struct sim_pointwise *block, const void *context);

/* Calls `run` for all elements of the result, block by block; the others are broadcast to it. Several threads run
 * blocks at the same time. */
void sim_pointwise_run(const aclsimTensor *const *tensors, size_t count, sim_pointwise_func run, const void *context);
/* The same on this thread alone, one block after another, for functions that combine all blocks. */
void sim_pointwise_fold(const aclsimTensor *const *tensors, size_t count, sim_pointwise_func run, const void *context);

#endif
