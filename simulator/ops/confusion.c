/* ConfusionTranspose: x, perm, shape, transpose_first, out. The dimensions of x are permuted, and its elements then
 * reshaped; or reshaped first, and then permuted. Between the two steps the elements are in memory of the host, because
 * a view of x need not have the other shape. */
#include "base/bytes.h"
#include "base/fail.h"
#include "require.h"
#include "walk.h"
#include "operator/row.h"

#include <inttypes.h>
#include <stdlib.h>

enum { X, PERM, SHAPE, FIRST, OUT };

#define MOVED                                                                                                          \
    (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED | SIM_TYPES_FLOAT) /* more than a card, to move elements */

static aclsimTensor permuted(const aclsimTensor *tensor, const uint32_t *perm)
{
    aclsimTensor view = *tensor;
    for (uint32_t k = 0; k < tensor->rank; k++) {
        view.dims[k] = tensor->dims[perm[k]];
        view.strides[k] = tensor->strides[perm[k]];
    }
    return view;
}

static aclnnStatus check_shape(const aclsimArgument *x, const aclsimArgument *shape)
{
    const int64_t count = sim_walk_count(x->tensors);
    int64_t found = 1;
    bool fits = shape->count <= SIM_RANK;
    for (uint64_t i = 0; fits && i < shape->count; i++)
        fits = shape->integers[i] >= 0 && sim_length_multiply(&found, shape->integers[i]);
    SIM_ARGUMENT(fits && found == count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " numbers, expected a shape of %" PRId64 " elements, those of %s", shape->name,
                 shape->count, count, x->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *shape = &given[SHAPE];
    const bool is_first = given[FIRST].integer != 0;
    uint32_t perm[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[X], &given[OUT], MOVED));
    SIM_TRY(sim_require_rank(&given[X], 1, SIM_RANK));
    SIM_TRY(check_shape(&given[X], shape));
    const uint32_t rank = is_first ? given[X].tensors->rank : (uint32_t)shape->count;
    SIM_TRY(sim_require_count(&given[PERM], rank));
    SIM_TRY(sim_require_dims(&given[PERM], rank, perm));
    aclsimTensor wanted = sim_walk_plain(NULL, given[X].tensors->type, shape->integers, (uint32_t)shape->count);
    if (!is_first)
        wanted = permuted(&wanted, perm);
    return sim_require_shape(&given[OUT], wanted.dims, wanted.rank, "that of the result");
}

static aclError run(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments, *shape = &given[SHAPE];
    const aclsimTensor *x = given[X].tensors;
    const bool is_first = given[FIRST].integer != 0;
    uint32_t perm[SIM_RANK];
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    const size_t bytes = (size_t)sim_walk_count(x) * sim_element_size(x->type);
    SIM_TRY(sim_require_dims(&given[PERM], is_first ? x->rank : (uint32_t)shape->count, perm));
    void *memory = malloc(bytes);
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate %zu bytes of host memory", bytes);
    const aclsimTensor from = is_first ? permuted(x, perm) : *x;
    const aclsimTensor between = sim_walk_plain(memory, x->type, from.dims, from.rank);
    sim_walk_copy(&between, &from);
    const aclsimTensor reshaped = sim_walk_plain(memory, x->type, shape->integers, (uint32_t)shape->count);
    const aclsimTensor to = is_first ? reshaped : permuted(&reshaped, perm);
    sim_walk_copy(given[OUT].tensors, &to);
    free(memory);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnConfusionTranspose = {plan, run, NULL, false};
