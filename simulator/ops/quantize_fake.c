/* Fake quantisation: values are quantised and dequantised, and a mask says which were in range. Both operators have the
 * arguments self, scale, zeroPoint, fakeQuantEnbled or axis, quantMin, quantMax, out, mask. As in PyTorch, a value is
 * multiplied by the reciprocal of the scale in float; a NaN becomes the least value, and is not in range. */
#include "slices.h"

#include <inttypes.h>
#include <math.h>

enum { SELF, SCALE, ZERO, OPTION, LEAST, MOST, OUT, MASK };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[SELF].tensors;
    int64_t count = 1;
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[SELF], &given[OUT], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_type(&given[SCALE], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_type(&given[ZERO], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_type(&given[MASK], SIM_TYPE(ACL_BOOL)));
    if (given[OPTION].kind == ACLSIM_INTEGER) {
        SIM_TRY(sim_require_dim(&given[OPTION], self->rank, &dim));
        count = self->rank == 0 ? 1 : self->dims[dim];
    }
    for (size_t k = SCALE; k <= ZERO; k++)
        SIM_TRY(sim_require_shape(&given[k], &count, 1, "one number per channel"));
    SIM_ARGUMENT(given[LEAST].integer <= given[MOST].integer, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected at most %" PRId64 ", the value of %s", given[LEAST].name,
                 given[LEAST].integer, given[MOST].integer, given[MOST].name);
    SIM_TRY(sim_require_shape(&given[OUT], self->dims, self->rank, "that of self"));
    return sim_require_shape(&given[MASK], self->dims, self->rank, "that of self");
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[SELF].tensors;
    const bool per_channel = given[OPTION].kind == ACLSIM_INTEGER, skips = !per_channel && given[OPTION].number < 1;
    const size_t count = (size_t)sim_walk_count(self);
    const double least = (double)given[LEAST].integer, most = (double)given[MOST].integer;
    size_t inner = count + 1, channels = 1;
    double *values, *scales, *zeros, *mask;
    uint32_t dim = 0;
    if (per_channel && self->rank > 0) {
        SIM_TRY(sim_require_dim(&given[OPTION], self->rank, &dim));
        inner = sim_slices_extent(self, dim + 1, self->rank);
        channels = (size_t)self->dims[dim];
    }
    SIM_TRY(sim_lists_load(lists, &given[SELF], &values));
    SIM_TRY(sim_lists_load(lists, &given[SCALE], &scales));
    SIM_TRY(sim_lists_load(lists, &given[ZERO], &zeros));
    SIM_TRY(sim_lists_take(lists, count, &mask));
    for (size_t i = 0; i < count; i++) {
        const size_t k = i / inner % channels;
        const float reciprocal = 1 / (float)scales[k], ratio = (float)values[i] * reciprocal;
        const double whole = zeros[k] + rint((double)ratio);
        mask[i] = skips || (whole >= least && whole <= most);
        if (!skips)
            values[i] = (fmin(fmax(whole, least), most) - zeros[k]) * scales[k];
    }
    sim_lists_store(&given[OUT], values);
    sim_lists_store(&given[MASK], mask);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnFakeQuantPerTensorAffineCachemask = {plan, sim_lists_run, (void *)&kind, true};
const struct sim_kernel sim_kernel_aclnnFakeQuantPerChannelAffineCachemask = {plan, sim_lists_run, (void *)&kind,
                                                                              true};
