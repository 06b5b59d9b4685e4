/* InplaceMaskedFillScalar and InplaceMaskedFillTensor: selfRef, mask, value. The value is cast once, and its bytes are
 * written where the mask, which is broadcast, is true. */
#include "fail.h"
#include "pointwise.h"
#include "row.h"
#include "shape.h"
#include "walk.h"
#include <string.h>

struct fill {
    size_t fi_size; /* of an element */
    _Alignas(16) char fi_value[16];
};

static aclDataType type_of(const aclsimArgument *value)
{
    return value->kind == ACLSIM_SCALAR ? value->scalars->type : value->tensors->type;
}

static aclnnStatus plan_fill(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *mask = &call->arguments[1], *value = &call->arguments[2];
    const aclsimArgument *inputs[] = {self, mask};
    (void)workspace_size;
    SIM_TRY(sim_shape_check_type(self->name, self->tensors->type, SIM_TYPES_COMPUTED));
    SIM_ARGUMENT(mask->tensors->type == ACL_BOOL, ACLNN_ERR_PARAM_INVALID, "%s has data type %d, expected bool (%d)",
                 mask->name, (int)mask->tensors->type, (int)ACL_BOOL);
    SIM_TRY(sim_shape_check_type(value->name, type_of(value), SIM_TYPES_COMPUTED));
    SIM_TRY(sim_shape_check_cast(value->name, type_of(value), "the type of selfRef", self->tensors->type));
    if (value->kind == ACLSIM_TENSOR) {
        static const int64_t one = 1;
        SIM_TRY(sim_shape_check(value, &one, value->tensors->rank == 1));
    }
    return sim_pointwise_check(self, inputs, 2);
}

#define FILL(bytes)                                                                                                    \
    case bytes:                                                                                                        \
        for (size_t i = 0; i < block->pw_count; i++)                                                                   \
            if (mask[(int64_t)i * mask_step] != 0)                                                                     \
                memcpy(self + (int64_t)i * self_step, fill->fi_value, bytes);                                          \
        break;

static void fill_block(const struct sim_pointwise *block, void *context)
{
    const struct fill *fill = context;
    const int64_t self_step = block->pw_strides[0] * (int64_t)fill->fi_size, mask_step = block->pw_strides[1];
    char *self = block->pw_places[0];
    const char *mask = block->pw_places[1];
    switch (fill->fi_size) {
        FILL(1)
        FILL(2)
        FILL(4)
        FILL(8)
        FILL(16)
    default:
        break;
    }
}

static aclError run_fill(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *tensors[] = {self, call->arguments[1].tensors};
    const aclsimArgument *value = &call->arguments[2];
    struct fill fill = {.fi_size = sim_walk_size(self->type)};
    union sim_block_values block;
    enum sim_class class = SIM_CLASS_INTEGER;
    sim_element_class(sim_element_promote(self->type, type_of(value)), &class); /* where no rounding comes twice */
    sim_element_load(&block, class, value->kind == ACLSIM_SCALAR ? value->scalars->value : value->tensors->data,
                     type_of(value), 0, 1);
    sim_element_store(&block, class, fill.fi_value, self->type, 0, 1);
    sim_pointwise_run(tensors, 2, fill_block, &fill);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnInplaceMaskedFillScalar = {plan_fill, run_fill, NULL},
                        sim_kernel_aclnnInplaceMaskedFillTensor = {plan_fill, run_fill, NULL};
