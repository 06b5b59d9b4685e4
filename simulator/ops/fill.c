/* Operators that write one value to some elements: InplaceMaskedFillScalar, InplaceMaskedFillTensor and
 * InplaceFillDiagonal. The value is cast once, and its bytes are written. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include "update.h"
#include "walk.h"
#include <string.h>

struct fill {
    size_t fi_size; /* of an element */
    _Alignas(16) char fi_value[16];
};

/* ---- InplaceMaskedFillScalar and InplaceMaskedFillTensor: selfRef, mask, value; the mask is broadcast ---- */

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

static void fill_block(const struct sim_pointwise *block, const void *context)
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

/* ---- InplaceFillDiagonal: selfRef, fillValue, wrap ---- */

#define DIAGONAL (SIM_TYPES_ARITHMETIC & ~SIM_TYPE(ACL_COMPLEX128))

static aclnnStatus plan_diagonal(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *value = &call->arguments[1];
    const int64_t *dims = self->tensors->dims;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, DIAGONAL));
    SIM_TRY(sim_require_cast(value->name, sim_element_type(value), "the type of selfRef", self->tensors->type));
    SIM_TRY(sim_require_rank(self, 2, SIM_RANK));
    for (uint32_t k = 1; k < self->tensors->rank; k++)
        SIM_ARGUMENT(self->tensors->rank == 2 || dims[k] == dims[0], ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected %lld: more than two dimensions must be equal", k, self->name,
                     (long long)dims[k], (long long)dims[0]);
    return ACL_SUCCESS;
}

static aclError run_diagonal(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors;
    const aclsimScalar *value = call->arguments[1].scalars;
    const int64_t height = self->dims[0], width = self->dims[1];
    const bool wraps = call->arguments[2].integer != 0 && self->rank == 2;
    _Alignas(16) char element[16];
    sim_update_cast(element, self->type, value->value, value->type);
    if (height == 0 || width == 0)
        return ACL_SUCCESS;
    for (int64_t row = 0;; row += width + 1) { /* a wrapped diagonal begins again below a row without it */
        aclsimTensor line = {.data = self->data, .rank = 1, .type = self->type};
        line.dims[0] = height - row < width ? height - row : width;
        for (uint32_t k = 0; k < self->rank; k++)
            line.strides[0] += self->strides[k];
        if (row != 0)
            sim_walk_advance(&line, row * self->strides[0]);
        if (line.dims[0] == 1)
            line.strides[0] = 0;
        sim_walk_fill(&line, element);
        if (!wraps || height - row - 1 <= width)
            break;
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnInplaceFillDiagonal = {plan_diagonal, run_diagonal, NULL, false};
