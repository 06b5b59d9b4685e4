/* Operators that pick elements at indices: Embedding, Gather, GatherV2 and IndexSelect. Each index is read once, and
 * checked where it is used. An index out of range ends the task, and elements written before stay written. The message
 * names the first such index in the order of the index tensor. */
#include "base/fail.h"
#include "indices.h"
#include "operator/row.h"
#include "require.h"
#include <stdlib.h>
#include <string.h>

/* The tensor from which elements are picked, and the indices. */
struct picking {
    struct sim_indices pn_indices;
    size_t pn_size;           /* of elements */
    struct sim_walk pn_slice; /* over a slice of the result and of self; used for whole slices */
};

static struct picking picking_of(const aclsimArgument *self, uint32_t dim, const aclsimArgument *index, bool from_end)
{
    return (struct picking){
        .pn_indices = sim_indices_of(index->name, index->tensors, self, self->tensors, dim, from_end),
        .pn_size = sim_element_size(self->tensors->type),
        .pn_slice.wk_places = 2};
}

#define PICK(bytes)                                                                                                    \
    case bytes:                                                                                                        \
        for (int64_t i = 0; i < length; i++) {                                                                         \
            if (!sim_indices_offset(&picking->pn_indices, places[1] + i * strides[1], &offset))                        \
                return ACL_ERROR_RT_AICORE_EXCEPTION;                                                                  \
            memcpy(places[0] + i * strides[0], places[2] + i * strides[2] + offset, bytes);                            \
        }                                                                                                              \
        break;

/* places: the addresses of the result, of the indices, and of self at index 0. */
static aclError pick_elements(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct picking *picking = context;
    int64_t offset;
    switch (picking->pn_size) {
        PICK(1)
        PICK(2)
        PICK(4)
        PICK(8)
        PICK(16)
    default:
        break;
    }
    return ACL_SUCCESS;
}

/* The same for the first elements of slices. */
static aclError pick_slices(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct picking *picking = context;
    int64_t offset;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_offset(&picking->pn_indices, places[1] + i * strides[1], &offset))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        char *slice[] = {places[0] + i * strides[0], places[2] + offset};
        sim_walk_run(&picking->pn_slice, slice, sim_walk_copy_line, &picking->pn_size);
    }
    return ACL_SUCCESS;
}

/* ---- whole slices: IndexSelect and GatherV2 (self, dim, index, out), Embedding (weight, indices, out) ---- */

struct pick {
    const aclsimArgument *pi_self, *pi_index, *pi_out;
    uint32_t pi_dim;
};

enum pick_flag {
    PICK_ROWS = 1,     /* the rows of a matrix; the operator has no argument dim */
    PICK_ONE_LINE = 2, /* the indices have one dimension */
    PICK_FROM_END = 4, /* negative indices count from the end */
};

static aclnnStatus find_pick(const aclsimCall *call, unsigned flags, struct pick *pick)
{
    const aclsimArgument *given = call->arguments;
    if (flags & PICK_ROWS) {
        *pick = (struct pick){&given[0], &given[1], &given[2], 0};
        return ACL_SUCCESS;
    }
    *pick = (struct pick){&given[0], &given[2], &given[3], 0};
    return sim_require_dim(&given[1], given[0].tensors->rank, &pick->pi_dim);
}

static aclnnStatus plan_pick(const aclsimCall *call, uint64_t *workspace_size)
{
    const unsigned flags = *(const unsigned *)call->userData;
    int64_t dims[2 * SIM_RANK];
    uint32_t rank = 0;
    struct pick pick;
    (void)workspace_size;
    SIM_TRY(find_pick(call, flags, &pick));
    const aclsimTensor *self = pick.pi_self->tensors, *index = pick.pi_index->tensors;
    SIM_TRY(sim_require_types(pick.pi_self, pick.pi_out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_type(pick.pi_index, SIM_TYPES_INDEX));
    if (flags & PICK_ROWS)
        SIM_TRY(sim_require_rank(pick.pi_self, 2, 2));
    if (flags & PICK_ONE_LINE)
        SIM_TRY(sim_require_rank(pick.pi_index, 0, 1));
    for (uint32_t k = 0; k < pick.pi_dim; k++)
        dims[rank++] = self->dims[k];
    for (uint32_t k = 0; k < index->rank; k++)
        dims[rank++] = index->dims[k];
    if (index->rank == 0 && !(flags & PICK_ROWS)) /* a scalar index counts as a line of one */
        dims[rank++] = 1;
    for (uint32_t k = pick.pi_dim + 1; k < self->rank; k++)
        dims[rank++] = self->dims[k];
    return sim_require_shape(pick.pi_out, dims, rank, "that of the selected elements");
}

/* Whether neighbouring elements of the result belong to different indices. */
static bool is_by_element(const struct sim_walk *walk, const struct sim_walk *slice)
{
    if (walk->wk_rank == 0 || slice->wk_rank == 0)
        return slice->wk_rank == 0;
    return llabs(walk->wk_strides[walk->wk_rank - 1][0]) < llabs(slice->wk_strides[slice->wk_rank - 1][0]);
}

/* A slice has all dimensions of self except the indexed one; in its position the result has the dimensions of the
 * indices. */
static aclError run_pick(const aclsimCall *call)
{
    const unsigned flags = *(const unsigned *)call->userData;
    struct sim_walk walk = {.wk_places = 3};
    struct pick pick;
    SIM_TRY(find_pick(call, flags, &pick));
    const aclsimTensor *self = pick.pi_self->tensors, *index = pick.pi_index->tensors, *out = pick.pi_out->tensors;
    struct picking picking = picking_of(pick.pi_self, pick.pi_dim, pick.pi_index, (flags & PICK_FROM_END) != 0);
    struct sim_walk *slice = &picking.pn_slice;
    const size_t size = picking.pn_size, sizes[] = {size, sim_element_size(index->type), size};
    const size_t slice_sizes[] = {size, size}, bytes[] = {1, 1, 1};
    if (sim_walk_is_empty(self->dims, self->rank)) /* it is the indexed dimension, as the result is not empty */
        return sim_indices_fail(&picking.pn_indices);
    for (uint32_t k = 0; k < index->rank; k++) {
        const int64_t strides[] = {out->strides[pick.pi_dim + k], index->strides[k], 0};
        sim_walk_add(&walk, index->dims[k], strides, sizes);
    }
    for (uint32_t k = 0; k < self->rank; k++) {
        if (k == pick.pi_dim)
            continue;
        uint32_t place = k < pick.pi_dim ? k : k + out->rank - self->rank;
        const int64_t strides[] = {out->strides[place], self->strides[k]};
        sim_walk_add(slice, self->dims[k], strides, slice_sizes);
    }
    sim_walk_settle(&walk);
    sim_walk_settle(slice);
    char *places[] = {out->data, index->data, self->data};
    if (!is_by_element(&walk, slice))
        return sim_indices_end(&picking.pn_indices, sim_walk_run(&walk, places, pick_slices, &picking));
    for (uint32_t k = 0; k < slice->wk_rank; k++) {
        const int64_t strides[] = {slice->wk_strides[k][0], 0, slice->wk_strides[k][1]};
        sim_walk_add(&walk, slice->wk_dims[k], strides, bytes);
    }
    sim_walk_settle(&walk);
    return sim_indices_end(&picking.pn_indices, sim_walk_run(&walk, places, pick_elements, &picking));
}

/* ---- single elements: Gather (self, dim, index, out) ---- */

static aclnnStatus plan_gather(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *given = &call->arguments[1], *index = &call->arguments[2];
    const aclsimArgument *out = &call->arguments[3];
    uint32_t dim, rank = self->tensors->rank;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_type(index, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_dim(given, rank, &dim));
    SIM_TRY(sim_require_rank(index, rank, rank));
    for (uint32_t k = 0; k < rank; k++)
        SIM_ARGUMENT(k == dim || index->tensors->dims[k] <= self->tensors->dims[k], ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected at most %lld, the size in %s", k, index->name,
                     (long long)index->tensors->dims[k], (long long)self->tensors->dims[k], self->name);
    SIM_ARGUMENT(sim_indices_length(self->tensors, dim) != 0 || sim_walk_is_empty(index->tensors->dims, rank),
                 ACLNN_ERR_PARAM_INVALID, "dimension %u of %s is 0, expected 1 or more because the index is not empty",
                 dim, self->name);
    return sim_require_shape(out, index->tensors->dims, rank, "that of index");
}

static aclError run_gather(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *index = call->arguments[2].tensors;
    const aclsimTensor *out = call->arguments[3].tensors;
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[1], self->rank, &dim));
    struct picking picking = picking_of(&call->arguments[0], dim, &call->arguments[2], false);
    aclsimTensor base = *self; /* walked over with the dimensions of the indices */
    base.strides[dim] = 0;
    const aclsimTensor *tensors[] = {out, index, &base};
    return sim_indices_end(&picking.pn_indices, sim_walk_tensors(tensors, 3, pick_elements, &picking));
}

static const unsigned select_flags = PICK_ONE_LINE, gather_flags = PICK_FROM_END, embedding_flags = PICK_ROWS;

const struct sim_kernel sim_kernel_aclnnIndexSelect = {plan_pick, run_pick, (void *)&select_flags, false},
                        sim_kernel_aclnnGatherV2 = {plan_pick, run_pick, (void *)&gather_flags, false},
                        sim_kernel_aclnnEmbedding = {plan_pick, run_pick, (void *)&embedding_flags, false},
                        sim_kernel_aclnnGather = {plan_gather, run_gather, NULL, false};
