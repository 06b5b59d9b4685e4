/* Tensors of indices into a dimension: reading an index, checking it, and reporting one that is out of range. Each
 * index is read once, and checked where it is used. */
#ifndef OPS_INDICES_H
#define OPS_INDICES_H

#include "walk.h"
#include <string.h>

/* Indices into one dimension of a tensor, or, if in_flat, into all its elements in the order of the indices. */
struct sim_indices {
    const char *in_name;           /* of the tensor of indices, for messages */
    const aclsimTensor *in_tensor; /* the indices: int32 or int64 */
    const aclsimArgument *in_self; /* the tensor that is indexed */
    uint32_t in_dim;
    bool in_flat;
    bool in_from_end;  /* negative indices count from the end */
    int64_t in_length; /* indices are less than this */
    int64_t in_step;   /* in bytes, between elements at consecutive indices; 0 if in_flat */
};

/* The size of the dimension that is indexed; a scalar counts as one element. */
static inline int64_t sim_indices_length(const aclsimTensor *self, uint32_t dim)
{
    return self->rank == 0 ? 1 : self->dims[dim];
}

/* Indices into a dimension of a tensor of which `view` is self or has its shape. Steps are those of the view. */
struct sim_indices sim_indices_of(const char *name, const aclsimTensor *tensor, const aclsimArgument *self,
                                  const aclsimTensor *view, uint32_t dim, bool from_end);
/* Indices into all elements of a tensor; negative ones count from the end. */
struct sim_indices sim_indices_flat(const aclsimArgument *given, const aclsimArgument *self);

static inline int64_t sim_indices_at(const struct sim_indices *indices, const char *place)
{
    int64_t index;
    int32_t narrow;
    if (indices->in_tensor->type != ACL_INT32) {
        memcpy(&index, place, sizeof index);
        return index;
    }
    memcpy(&narrow, place, sizeof narrow);
    return narrow;
}

/* Finds the index at address `place`, counted from the start; false if it is out of range. */
static inline bool sim_indices_find(const struct sim_indices *indices, const char *place, int64_t *index)
{
    *index = sim_indices_at(indices, place);
    if (*index < 0 && indices->in_from_end)
        *index += indices->in_length;
    return *index >= 0 && *index < indices->in_length;
}

/* Finds the byte offset of an index; false if it is out of range. */
static inline bool sim_indices_offset(const struct sim_indices *indices, const char *place, int64_t *offset)
{
    int64_t index;
    if (!sim_indices_find(indices, place, &index))
        return false;
    *offset = index * indices->in_step;
    return true;
}

/* Records the first index that is out of range as the reason of the failure, such as "index[0, 2] is 7, expected 0 to 2
 * for dimension 0 of self", and returns the code of the failed task. */
aclError sim_indices_fail(const struct sim_indices *indices);
/* The same, if `code` is not 0. */
static inline aclError sim_indices_end(const struct sim_indices *indices, aclError code)
{
    return code == ACL_SUCCESS ? ACL_SUCCESS : sim_indices_fail(indices);
}

/* The address of the element with this number, in the order of the indices. */
char *sim_indices_nth(const aclsimTensor *tensor, int64_t number);

#endif
