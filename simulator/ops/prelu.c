/* Prelu: self, weight, out, and its gradient. The weight is a slope for negative elements, one for all or one for each
 * index of dimension 1. It may have further dimensions of size 1: PyTorch's has as many as self. */
#include "base/fail.h"
#include "curve.h"
#include "require.h"

static int64_t channels_of(const aclsimTensor *self)
{
    return self->rank < 2 ? 1 : self->dims[1];
}

static int64_t count_of(const aclsimTensor *line)
{
    return line->rank == 0 ? 1 : line->dims[0];
}

/* The weight without its dimensions of size 1: a line or a scalar, if no more than one dimension is left. */
static aclsimTensor line_of(const aclsimTensor *weight)
{
    aclsimTensor line = *weight;
    line.rank = 0;
    for (uint32_t k = 0; k < weight->rank; k++)
        if (weight->dims[k] != 1) {
            line.dims[line.rank] = weight->dims[k];
            line.strides[line.rank++] = weight->strides[k];
        }
    return line;
}

static aclnnStatus check_weight(const aclsimArgument *weight, const aclsimArgument *self)
{
    const aclsimTensor line = line_of(weight->tensors);
    int64_t channels = channels_of(self->tensors), count = count_of(&line);
    SIM_ARGUMENT(line.rank <= 1, ACLNN_ERR_PARAM_INVALID,
                 "%s has %u dimensions with another size than 1, expected 0 or 1", weight->name, line.rank);
    SIM_ARGUMENT(count == 1 || count == channels, ACLNN_ERR_PARAM_INVALID,
                 "%s has %lld elements, expected 1 or %lld, the size of dimension 1 of %s", weight->name,
                 (long long)count, (long long)channels, self->name);
    return ACL_SUCCESS;
}

/* A view of the weight that is broadcast to self: one dimension for each of self from dimension 1 on. */
static aclsimTensor spread(const aclsimTensor *weight, const aclsimTensor *self)
{
    aclsimTensor view = line_of(weight);
    if (view.rank == 0 || self->rank < 2) {
        view.rank = 0;
        return view;
    }
    view.rank = self->rank - 1;
    for (uint32_t k = 1; k < view.rank; k++) {
        view.dims[k] = 1;
        view.strides[k] = 0;
    }
    return view;
}

/* ---- forward ---- */

static aclnnStatus plan_prelu(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *weight = &call->arguments[1], *out = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(weight, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(out, SIM_TYPES_SINGLE));
    SIM_TRY(check_weight(weight, self));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

SIM_CURVE(bend, a > 0 ? a : b * a)

static aclError run_prelu(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, weight = spread(call->arguments[1].tensors, self);
    sim_curve_apply(bend_doubles, call->arguments[2].tensors, (const aclsimTensor *[]){self, &weight}, 2);
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnPrelu = {plan_prelu, run_prelu, NULL, true};

/* ---- backward: gradOutput, self, weight, gradInput, gradWeight ---- */

static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *self = &given[1], *weight = &given[2];
    const aclsimTensor *from = self->tensors, *slopes = weight->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    for (size_t i = 1; i < 5; i++)
        SIM_TRY(sim_require_same_type(&given[i], given[0].tensors->type, given[0].name));
    SIM_TRY(check_weight(weight, self));
    SIM_TRY(sim_require_shape(&given[0], from->dims, from->rank, "that of self"));
    SIM_TRY(sim_require_shape(&given[3], from->dims, from->rank, "that of self"));
    return sim_require_shape(&given[4], slopes->dims, slopes->rank, "that of weight");
}

SIM_CURVE(slope, b > 0 ? a : c * a)

/* Adds up gradOutput * self where self is negative; the tensors are those of one weight. */
static void add_up(const struct sim_pointwise *block, const void *context)
{
    double *sum = *(double *const *)context;
    union sim_block_values values, gradients;
    sim_element_load(&values, SIM_CLASS_DOUBLE, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                     block->pw_count);
    sim_element_load(&gradients, SIM_CLASS_DOUBLE, block->pw_places[1], block->pw_tensors[1]->type,
                     block->pw_strides[1], block->pw_count);
    for (size_t i = 0; i < block->pw_count; i++)
        *sum += values.bv_doubles[i] > 0 ? 0 : values.bv_doubles[i] * gradients.bv_doubles[i];
}

/* Narrows a view to one index of dimension 1. */
static aclsimTensor channel_of(const aclsimTensor *tensor, int64_t channel)
{
    aclsimTensor part = *tensor;
    part.data = (char *)part.data + channel * part.strides[1] * (int64_t)sim_element_size(part.type);
    part.dims[1] = 1;
    return part;
}

static aclError run_backward(const aclsimCall *call)
{
    const aclsimTensor *gradient = call->arguments[0].tensors, *self = call->arguments[1].tensors;
    const aclsimTensor to = line_of(call->arguments[4].tensors), weight = spread(call->arguments[2].tensors, self);
    int64_t count = count_of(&to), step = to.rank == 0 ? 0 : to.strides[0];
    bool is_empty = sim_walk_is_empty(self->dims, self->rank);
    sim_curve_apply(slope_doubles, call->arguments[3].tensors, (const aclsimTensor *[]){gradient, self, &weight}, 3);
    for (int64_t i = 0; i < count; i++) {
        union sim_block_values sum = {.bv_doubles = {0}};
        double *const total = &sum.bv_doubles[0];
        if (!is_empty) {
            const aclsimTensor part = count == 1 ? *self : channel_of(self, i);
            const aclsimTensor other = count == 1 ? *gradient : channel_of(gradient, i);
            sim_pointwise_fold((const aclsimTensor *[]){&part, &other}, 2, add_up, &total);
        }
        sim_element_store(&sum, SIM_CLASS_DOUBLE, (char *)to.data + i * step * (int64_t)sim_element_size(to.type),
                          to.type, 1, 1);
    }
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnPreluBackward = {plan_backward, run_backward, NULL, false};
