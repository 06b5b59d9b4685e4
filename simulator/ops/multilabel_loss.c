/* MultilabelMarginLoss: each row of the target lists classes, up to the first -1. The loss is the sum of how much less
 * than 1 the values of these classes exceed those of the others, divided by the number of classes. It is computed in
 * double and rounded once. */
#include "loss.h"

#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include "tables.h"
#include <stdlib.h>

enum { SELF, TARGET, REDUCTION, OUT, IS_TARGET };

static aclnnStatus plan_loss(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments, *self = &arguments[SELF], *reduction = &arguments[REDUCTION];
    const aclsimTensor *tensor = self->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, &arguments[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(call->userData != NULL ? sim_require_type(&arguments[IS_TARGET], SIM_TYPES_INDEX)
                                   : sim_require_types(self, &arguments[IS_TARGET], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&arguments[TARGET], SIM_TYPES_INDEX));
    SIM_TRY(sim_loss_check_reduction(reduction, SIM_LOSS_BATCH_MEAN));
    SIM_TRY(sim_require_rank(self, 1, 2));
    SIM_ARGUMENT(tensor->dims[tensor->rank - 1] != 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is 0, expected 1 class or more", tensor->rank - 1, self->name);
    SIM_TRY(sim_require_shape(&arguments[TARGET], tensor->dims, tensor->rank, "that of self"));
    SIM_TRY(sim_require_shape(&arguments[IS_TARGET], tensor->dims, tensor->rank, "that of self"));
    if (reduction->integer != SIM_LOSS_NONE || tensor->rank == 1)
        return sim_require_one(&arguments[OUT]);
    return sim_require_shape(&arguments[OUT], tensor->dims, 1, "one loss per row");
}

struct job {
    struct sim_targets jo_targets;
    struct sim_line jo_from, jo_marks;
    int64_t jo_step;                  /* bytes between the targets of a row */
    double *jo_values, *jo_is_target; /* a row of self and of isTarget */
    size_t jo_count;
    bool jo_stores;
    double jo_sum;
};

/* Marks the classes of a row, and counts its targets. */
static aclError mark_targets(const struct job *job, const char *targets, size_t *count)
{
    for (size_t i = 0; i < job->jo_count; i++)
        job->jo_is_target[i] = 0;
    for (*count = 0; *count < job->jo_count; ++*count) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, targets + (int64_t)*count * job->jo_step, &class));
        if (class < 0)
            break;
        job->jo_is_target[class] = 1;
    }
    return ACL_SUCCESS;
}

/* The part of a target. As in PyTorch, a class counts twice if it is listed twice, and a difference of NaN counts as
 * 0. */
static double loss_of_target(const struct job *job, int64_t class)
{
    double sum = 0;
    for (size_t i = 0; i < job->jo_count; i++) {
        double missing = 1 - job->jo_values[class] + job->jo_values[i];
        sum += job->jo_is_target[i] == 0 && missing > 0 ? missing : 0;
    }
    return sum;
}

/* places: the addresses of a row of self, of target and of isTarget, and of the loss. */
static aclError run_rows(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        const char *targets = places[1] + i * strides[1];
        double loss = 0;
        size_t count;
        sim_line_load(&job->jo_from, SIM_CLASS_DOUBLE, places[0] + i * strides[0], job->jo_values);
        SIM_TRY(mark_targets(job, targets, &count));
        for (size_t k = 0; k < count; k++) {
            int64_t class;
            SIM_TRY(sim_loss_find_class(&job->jo_targets, targets + (int64_t)k * job->jo_step, &class));
            loss += loss_of_target(job, class);
        }
        loss /= (double)job->jo_count;
        sim_line_store(&job->jo_marks, SIM_CLASS_DOUBLE, job->jo_is_target, places[2] + i * strides[2]);
        if (job->jo_stores)
            sim_loss_store(places[3] + i * strides[3], job->jo_from.li_type, loss);
        job->jo_sum += loss;
    }
    return ACL_SUCCESS;
}

static aclError run_loss(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments, *target = &arguments[TARGET];
    const aclsimTensor *self = arguments[SELF].tensors, *marks = arguments[IS_TARGET].tensors;
    const aclsimTensor *out = arguments[OUT].tensors;
    const uint32_t dim = self->rank - 1;
    int64_t reduction = arguments[REDUCTION].integer, rows = self->rank == 1 ? 1 : self->dims[0];
    struct job job = {.jo_targets = {target, self->dims[dim], -1},
                      .jo_from = sim_line_of(self, dim, 1),
                      .jo_marks = sim_line_of(marks, dim, 1),
                      .jo_stores = reduction == SIM_LOSS_NONE};
    void *values;
    if (self->dims[dim] > 1)
        job.jo_step = target->tensors->strides[dim] * (int64_t)sim_element_size(target->tensors->type);
    SIM_TRY(sim_line_reserve(&job.jo_from, SIM_CLASS_DOUBLE, 2, &values, &job.jo_count));
    job.jo_values = values;
    job.jo_is_target = job.jo_values + job.jo_count;
    const aclsimTensor froms = sim_line_without(self, dim), targets = sim_line_without(target->tensors, dim);
    const aclsimTensor marked = sim_line_without(marks, dim);
    aclError code = sim_walk_tensors((const aclsimTensor *[]){&froms, &targets, &marked, out}, 4, run_rows, &job);
    free(values);
    if (code == ACL_SUCCESS && reduction != SIM_LOSS_NONE)
        sim_loss_store(out->data, out->type, reduction == SIM_LOSS_MEAN ? job.jo_sum / (double)rows : job.jo_sum);
    return code;
}

const struct sim_kernel sim_kernel_aclnnMultilabelMarginLoss = {plan_loss, run_loss, NULL, false};

/* The single operator, which marks targets by integers. */
static const struct sim_kernel single_kernel = {plan_loss, run_loss, "integers", false};
static const struct sim_parameter single_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"target", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"reduction", ACLSIM_INTEGER, 0, false},
                                                         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
                                                         {"is_target", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_multilabel_loss_row =
    SIM_ROW("MultilabelMarginLoss", SIM_TASK_VECTOR, single_parameters, &single_kernel);
