/* NLLLoss and NLLLoss2d with their gradients: the loss of an element is its value in the class that the target names,
 * with the weight of that class. Targets equal to ignoreIndex have the loss 0. Sums are computed in double and rounded
 * once. A target that is not a class ends the task. */
#include "loss.h"

#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <inttypes.h>
#include <stdio.h>

#define TARGETS (SIM_TYPES_INDEX | SIM_TYPE(ACL_UINT8))

/* The positions of the arguments; la_gradient is used by gradients only. */
struct layout {
    uint8_t la_self, la_target, la_weight, la_reduction, la_ignored, la_total, la_out, la_gradient;
    bool la_is_gradient;
    bool la_is_2d;
};

static uint32_t class_dim(const struct layout *layout, const aclsimTensor *self)
{
    return layout->la_is_2d ? 1 : self->rank - 1;
}

/* ---- the first phase ---- */

/* A tensor with one element per target. */
static aclnnStatus check_per_target(const aclsimArgument *argument, const aclsimTensor *targets)
{
    if (targets->rank == 0)
        return sim_require_one(argument);
    return sim_require_shape(argument, targets->dims, targets->rank, "that of self without its classes");
}

static aclnnStatus plan_loss(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct layout *layout = call->userData;
    const aclsimArgument *arguments = call->arguments, *self = &arguments[layout->la_self];
    const aclsimArgument *reduction = &arguments[layout->la_reduction], *out = &arguments[layout->la_out];
    const aclsimTensor *tensor = self->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, &arguments[layout->la_weight], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&arguments[layout->la_target], TARGETS));
    SIM_TRY(sim_require_types(self, &arguments[layout->la_total], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_loss_check_reduction(reduction, SIM_LOSS_BATCH_MEAN));
    SIM_TRY(layout->la_is_2d ? sim_require_rank(self, 4, 4) : sim_require_rank(self, 1, 2));
    const uint32_t dim = class_dim(layout, tensor);
    const aclsimTensor targets = sim_line_without(tensor, dim);
    SIM_TRY(check_per_target(&arguments[layout->la_target], &targets));
    SIM_TRY(sim_require_shape(&arguments[layout->la_weight], &tensor->dims[dim], 1, "the number of classes"));
    SIM_TRY(sim_require_one(&arguments[layout->la_total]));
    const aclsimArgument *each = layout->la_is_gradient ? &arguments[layout->la_gradient] : out;
    SIM_TRY(reduction->integer == SIM_LOSS_NONE ? check_per_target(each, &targets) : sim_require_one(each));
    if (!layout->la_is_gradient)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_types(self, each, SIM_TYPES_SINGLE));
    return sim_require_shape(out, tensor->dims, tensor->rank, "that of self");
}

/* ---- the second phase ---- */

/* A walk over the targets: what it reads, and the sums that it makes. */
struct job {
    struct sim_targets jo_targets;
    const aclsimTensor *jo_weight, *jo_each; /* jo_each: the losses, or their gradients; one element is broadcast */
    aclDataType jo_type;
    int64_t jo_step; /* the bytes between classes */
    bool jo_stores;  /* losses are stored */
    double jo_sum, jo_total;
    double jo_divisor; /* of gradients */
};

aclError sim_loss_find_class(const struct sim_targets *targets, const char *place, int64_t *class)
{
    const aclsimArgument *given = targets->tg_given;
    union sim_block_values block;
    char text[200];
    sim_element_load(&block, SIM_CLASS_INTEGER, place, given->tensors->type, 0, 1);
    int64_t target = block.bv_integers[0];
    *class = target == targets->tg_ignored ? -1 : target;
    if (target == targets->tg_ignored || (target >= 0 && target < targets->tg_classes))
        return ACL_SUCCESS;
    snprintf(text, sizeof text,
             "%.40s has an element %" PRId64 ", expected a class from 0 to %" PRId64 ", or %" PRId64 " for none",
             given->name, target, targets->tg_classes - 1, targets->tg_ignored);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static double weight_of(const struct job *job, int64_t class)
{
    const char *weights = job->jo_weight->data;
    int64_t stride = job->jo_weight->strides[0] * (int64_t)sim_element_size(job->jo_type);
    return class < 0 ? 0 : sim_loss_load(weights + class * stride, job->jo_type);
}

/* places: the addresses of self in class 0, of the targets and of the losses. */
static aclError add_losses(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, places[1] + i * strides[1], &class));
        const char *self = places[0] + i * strides[0];
        double weight = weight_of(job, class);
        double value = class < 0 ? 0 : -weight * sim_loss_load(self + class * job->jo_step, job->jo_type);
        if (job->jo_stores)
            sim_loss_store(places[2] + i * strides[2], job->jo_type, value);
        job->jo_sum += value;
        job->jo_total += weight;
    }
    return ACL_SUCCESS;
}

/* places: the addresses of the result in class 0, of the targets and of the gradients of the losses. */
static aclError spread_gradients(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, places[1] + i * strides[1], &class));
        double gradient = sim_loss_load(places[2] + i * strides[2], job->jo_type);
        if (class >= 0)
            sim_loss_store(places[0] + i * strides[0] + class * job->jo_step, job->jo_type,
                           -weight_of(job, class) * (gradient / job->jo_divisor));
    }
    return ACL_SUCCESS;
}

/* Walks over the targets, along with the elements of class 0 of `classes`, which is self or the result. */
static aclError walk_targets(const aclsimCall *call, const aclsimTensor *classes, sim_walk_func line, struct job *job)
{
    const struct layout *layout = call->userData;
    const uint32_t dim = class_dim(layout, classes);
    const aclsimTensor bases = sim_line_without(classes, dim);
    const aclsimArgument *target = &call->arguments[layout->la_target];
    job->jo_targets = (struct sim_targets){target, classes->dims[dim], call->arguments[layout->la_ignored].integer};
    job->jo_weight = call->arguments[layout->la_weight].tensors;
    job->jo_type = classes->type;
    job->jo_step = classes->dims[dim] < 2 ? 0 : classes->strides[dim] * (int64_t)sim_element_size(classes->type);
    return sim_walk_tensors((const aclsimTensor *[]){&bases, target->tensors, job->jo_each}, 3, line, job);
}

static aclError run_loss(const aclsimCall *call)
{
    const struct layout *layout = call->userData;
    const aclsimTensor *out = call->arguments[layout->la_out].tensors;
    const aclsimTensor *total = call->arguments[layout->la_total].tensors;
    int64_t reduction = call->arguments[layout->la_reduction].integer;
    struct job job = {.jo_each = out, .jo_stores = reduction == SIM_LOSS_NONE};
    SIM_TRY(walk_targets(call, call->arguments[layout->la_self].tensors, add_losses, &job));
    if (reduction != SIM_LOSS_NONE)
        sim_loss_store(out->data, out->type, reduction == SIM_LOSS_MEAN ? job.jo_sum / job.jo_total : job.jo_sum);
    sim_loss_store(total->data, total->type, job.jo_total);
    return ACL_SUCCESS;
}

static aclError run_gradient(const aclsimCall *call)
{
    const struct layout *layout = call->userData;
    const aclsimTensor *out = call->arguments[layout->la_out].tensors;
    const aclsimTensor *total = call->arguments[layout->la_total].tensors;
    bool is_mean = call->arguments[layout->la_reduction].integer == SIM_LOSS_MEAN;
    struct job job = {.jo_each = call->arguments[layout->la_gradient].tensors,
                      .jo_divisor = is_mean ? sim_loss_load(total->data, total->type) : 1};
    sim_walk_fill(out, NULL);
    return walk_targets(call, out, spread_gradients, &job);
}

#define LOSS(op, is_2d)                                                                                                \
    static const struct layout layout_##op = {.la_self = 0, .la_target = 1, .la_weight = 2, .la_reduction = 3,         \
                                              .la_ignored = 4, .la_out = 5, .la_total = 6, .la_is_2d = (is_2d)};       \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_loss, run_loss, (void *)&layout_##op, false};
#define GRADIENT(op, is_2d)                                                                                            \
    static const struct layout layout_##op = {.la_gradient = 0, .la_self = 1, .la_target = 2, .la_weight = 3,          \
                                              .la_reduction = 4, .la_ignored = 5, .la_total = 6, .la_out = 7,          \
                                              .la_is_gradient = true, .la_is_2d = (is_2d)};                            \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_loss, run_gradient, (void *)&layout_##op, false};

LOSS(NLLLoss, false)
LOSS(NLLLoss2d, true)
GRADIENT(NLLLossBackward, false)
GRADIENT(NLLLoss2dBackward, true)
