/* InplaceMaskedFillScalar and InplaceMaskedFillTensor: selfRef, mask, value. The value is cast once; its bytes are then
 * written to each element for which the broadcast mask is true. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include "update.h"
#include <string.h>

struct fill {
    size_t fi_size; /* of an element */
    _Alignas(16) char fi_value[16];
};

static aclnnStatus plan_fill(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *mask = &call->arguments[1], *value = &call->arguments[2];
    const aclsimArgument *inputs[] = {self, mask};
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_ARITHMETIC));
    SIM_TRY(sim_require_type(mask, SIM_TYPES_BOOL));
    SIM_TRY(sim_require_type(value, SIM_TYPES_ARITHMETIC));
    SIM_TRY(sim_require_cast(value->name, sim_element_type(value), "the type of selfRef", self->tensors->type));
    if (value->kind == ACLSIM_TENSOR)
        SIM_TRY(sim_require_one(value));
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
    struct fill fill = {.fi_size = sim_element_size(self->type)};
    sim_update_cast(fill.fi_value, self->type,
                    value->kind == ACLSIM_SCALAR ? value->scalars->value : value->tensors->data,
                    sim_element_type(value));
    sim_pointwise_run(tensors, 2, fill_block, &fill);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnInplaceMaskedFillScalar = {plan_fill, run_fill, NULL, false},
                        sim_kernel_aclnnInplaceMaskedFillTensor = {plan_fill, run_fill, NULL, false};
