/* GlobalAveragePool and GlobalMaxPool: self, out. Each channel of each image becomes one element; NaN is greater than
 * all other numbers. */
#include "base/fail.h"
#include "operator/row.h"
#include "planes.h"

#include <math.h>

struct global {
    uint64_t gl_types;
    bool gl_averages;
};

static aclnnStatus plan_global(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct global *global = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[1];
    const uint32_t rank = self->tensors->rank;
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, global->gl_types));
    SIM_TRY(sim_require_rank(self, 4, SIM_RANK));
    SIM_TRY(sim_planes_check_filled(self, 2));
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = k < 2 ? self->tensors->dims[k] : 1;
    return sim_require_shape(out, dims, rank, "one element per channel of self");
}

static aclError compute_global(const aclsimCall *call, struct sim_planes *planes)
{
    const struct global *global = call->userData;
    const int64_t channels = planes[1].pl_count, length = planes[0].pl_count / channels;
    for (int64_t channel = 0; channel < channels; channel++) {
        const double *values = planes[0].pl_values + channel * length;
        double sum = 0, best = -INFINITY;
        for (int64_t i = 0; i < length; i++) {
            sum += values[i];
            best = values[i] > best || values[i] != values[i] ? values[i] : best;
        }
        planes[1].pl_values[channel] = global->gl_averages ? sum / (double)length : best;
    }
    return ACL_SUCCESS;
}

static aclError run_global(const aclsimCall *call)
{
    return sim_planes_run(call, 0, compute_global);
}

static const struct global average = {SIM_TYPES_FLOAT, true},
                           maximum = {SIM_TYPES_FLOAT & ~SIM_TYPE(ACL_BF16), false};

const struct sim_kernel sim_kernel_aclnnGlobalAveragePool = {plan_global, run_global, (void *)&average, false},
                        sim_kernel_aclnnGlobalMaxPool = {plan_global, run_global, (void *)&maximum, false};
