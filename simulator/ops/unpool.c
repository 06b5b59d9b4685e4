/* MaxUnpool2d, MaxUnpool3d and their backward forms. The forward form writes each element of self to the place that its
 * index gives in a larger image, the rest of which is 0; the backward form reads the gradient there. Elements are
 * copied bit by bit.
 *
 * The parameters are self, indices, outputSize, in three dimensions stride and padding, and the result. A backward form
 * begins with gradOutput. */
#include "base/fail.h"
#include "operator/row.h"
#include "planes.h"
#include "walk.h"

#include <string.h>

struct unpool {
    uint64_t un_types, un_index_types;
    uint32_t un_directions;
    bool un_backward;
};

static aclnnStatus plan_unpool(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct unpool *unpool = call->userData;
    const aclsimArgument *given = &call->arguments[unpool->un_backward ? 1 : 0], *self = &given[0];
    const aclsimArgument *result = &call->arguments[call->argumentCount - 1];
    const aclsimArgument *large = unpool->un_backward ? call->arguments : result;
    const uint32_t directions = unpool->un_directions, rank = self->tensors->rank;
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, large, unpool->un_types));
    SIM_TRY(sim_require_type(&given[1], unpool->un_index_types));
    SIM_TRY(sim_require_rank(self, directions + 1, directions + 2));
    SIM_TRY(sim_require_shape(&given[1], self->tensors->dims, rank, "that of self"));
    SIM_TRY(sim_require_steps(&given[2], directions, 1));
    if (directions == 3) {
        SIM_TRY(sim_require_steps(&given[3], directions, 1));
        SIM_TRY(sim_require_steps(&given[4], directions, 0));
    }
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = k < rank - directions ? self->tensors->dims[k] : given[2].integers[k - (rank - directions)];
    SIM_TRY(sim_require_shape(large, dims, rank, "that of self with outputSize"));
    if (!unpool->un_backward)
        return ACL_SUCCESS;
    return sim_require_like(result, self);
}

/* The address of an element, given its index in row-major order. */
static char *element_at(const aclsimTensor *tensor, int64_t index)
{
    int64_t offset = 0;
    for (uint32_t k = tensor->rank; k > 0; k--) {
        int64_t at = index % tensor->dims[k - 1];
        offset += at == 0 ? 0 : at * tensor->strides[k - 1]; /* a dimension of size 1 may have any stride */
        index /= tensor->dims[k - 1];
    }
    return (char *)tensor->data + offset * (int64_t)sim_element_size(tensor->type);
}

static int64_t size_of_image(const aclsimTensor *tensor, uint32_t directions)
{
    int64_t size = 1;
    for (uint32_t k = tensor->rank - directions; k < tensor->rank; k++)
        size *= tensor->dims[k];
    return size;
}

static aclError run_unpool(const aclsimCall *call)
{
    const struct unpool *unpool = call->userData;
    const aclsimArgument *given = &call->arguments[unpool->un_backward ? 1 : 0];
    const aclsimTensor *result = call->arguments[call->argumentCount - 1].tensors, *indices = given[1].tensors;
    const aclsimTensor *small = unpool->un_backward ? result : given[0].tensors;
    const aclsimTensor *large = unpool->un_backward ? call->arguments[0].tensors : result;
    const size_t size = sim_element_size(result->type);
    if (!unpool->un_backward)
        sim_walk_fill(result, NULL);
    if (sim_walk_is_empty(small->dims, small->rank))
        return ACL_SUCCESS;
    const int64_t from = size_of_image(small, unpool->un_directions), to = size_of_image(large, unpool->un_directions);
    const int64_t count = sim_walk_count(small);
    for (int64_t i = 0; i < count; i++) {
        union sim_block_values index;
        sim_element_load(&index, SIM_CLASS_INTEGER, element_at(indices, i), indices->type, 0, 1);
        if (index.bv_integers[0] < 0 || index.bv_integers[0] >= to)
            return sim_planes_fail_index(given[1].name, (double)index.bv_integers[0], to);
        char *place = element_at(large, i / from * to + index.bv_integers[0]), *element = element_at(small, i);
        memcpy(unpool->un_backward ? element : place, unpool->un_backward ? place : element, size);
    }
    return ACL_SUCCESS;
}

#define UNPOOL(op, ...)                                                                                                \
    static const struct unpool unpool_##op = {__VA_ARGS__};                                                            \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_unpool, run_unpool, (void *)&unpool_##op, false};

#define COPIED (SIM_TYPES_INTEGER | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16))

UNPOOL(MaxUnpool2d, COPIED | SIM_TYPE(ACL_DOUBLE), SIM_TYPES_INDEX, 2, false)
UNPOOL(MaxUnpool2dBackward, COPIED | SIM_TYPES_BOOL, SIM_TYPES_INDEX, 2, true)
UNPOOL(MaxUnpool3d, COPIED | SIM_TYPE(ACL_DOUBLE), SIM_TYPES_INDEX, 3, false)
UNPOOL(MaxUnpool3dBackward, COPIED | SIM_TYPE(ACL_DOUBLE), SIM_TYPE(ACL_INT64), 3, true)
