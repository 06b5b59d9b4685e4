/* CrossEntropyLoss and its gradient: NLLLoss of the logarithm of softmax, with label smoothing, which spreads a part of
 * the loss over all classes. Rows are computed in double and rounded once. The outputs and gradients of the z-loss
 * are neither written nor read, as on a card. */
#include "loss.h"

#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "report.h"
#include "require.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of the loss, and of its gradient. */
enum { INPUT, TARGET, WEIGHT, REDUCTION, IGNORED, SMOOTHING, SCALE, RETURNS_ZLOSS, LOSS, LOGARITHMS, ZLOSS, ZLOSS_LSE };
enum {
    G_LOSS,
    G_LOGARITHMS,
    G_TARGET,
    G_WEIGHT,
    G_ZLOSS,
    G_ZLOSS_LSE,
    G_REDUCTION,
    G_IGNORED,
    G_SMOOTHING,
    G_SCALE,
    G_OUT
};

/* ---- the first phase ---- */

/* A text that is absent is "mean". */
static aclnnStatus find_reduction(const aclsimArgument *given, int *reduction)
{
    static const char *const names[] = {[SIM_LOSS_NONE] = "none", [SIM_LOSS_MEAN] = "mean", [SIM_LOSS_SUM] = "sum"};
    *reduction = SIM_LOSS_MEAN;
    if (!given->present)
        return ACL_SUCCESS;
    for (*reduction = SIM_LOSS_NONE; *reduction <= SIM_LOSS_SUM; ++*reduction)
        if (strcmp(given->text, names[*reduction]) == 0)
            return ACL_SUCCESS;
    sim_report_text(given->name, names[0]);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is \"%s\", expected none, mean or sum", given->name, given->text);
}

/* Checks what both operators have: rows of classes, their targets, and numbers. `smoothing` is followed by the scale of
 * the z-loss. */
static aclnnStatus check_rows(const aclsimArgument *rows, const aclsimArgument *target, const aclsimArgument *weight,
                              const aclsimArgument *smoothing)
{
    const aclsimArgument *scale = smoothing + 1;
    SIM_TRY(sim_require_type(rows, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(rows, 2, 2));
    const int64_t *dims = rows->tensors->dims;
    SIM_ARGUMENT(dims[1] != 0, ACLNN_ERR_PARAM_INVALID, "dimension 1 of %s is 0, expected 1 class or more", rows->name);
    SIM_TRY(sim_require_shape(target, dims, 1, "one class per row"));
    if (weight->present) {
        SIM_TRY(sim_require_type(weight, SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(weight, &dims[1], 1, "the number of classes"));
    }
    SIM_ARGUMENT(smoothing->number >= 0 && smoothing->number <= 1, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 to 1",
                 smoothing->name, smoothing->number);
    SIM_ARGUMENT(scale->number >= 0 && scale->number < 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected 0 or more, and less than 1", scale->name, scale->number);
    return ACL_SUCCESS;
}

/* The losses or their gradients: one per row, or one for all. */
static aclnnStatus check_losses(const aclsimArgument *losses, int reduction, const aclsimTensor *rows)
{
    return reduction == SIM_LOSS_NONE ? sim_require_shape(losses, rows->dims, 1, "one loss per row")
                                      : sim_require_one(losses);
}

static aclnnStatus plan_loss(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments, *input = &arguments[INPUT];
    int reduction;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&arguments[TARGET], SIM_TYPES_INDEX));
    SIM_TRY(check_rows(input, &arguments[TARGET], &arguments[WEIGHT], &arguments[SMOOTHING]));
    SIM_TRY(find_reduction(&arguments[REDUCTION], &reduction));
    for (size_t i = LOSS; i <= ZLOSS_LSE; i++)
        SIM_TRY(sim_require_same_type(&arguments[i], input->tensors->type, input->name));
    SIM_TRY(check_losses(&arguments[LOSS], reduction, input->tensors));
    return sim_require_shape(&arguments[LOGARITHMS], input->tensors->dims, 2, "that of input");
}

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments, *logarithms = &arguments[G_LOGARITHMS];
    int reduction;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&arguments[G_TARGET], SIM_TYPE(ACL_INT64)));
    SIM_TRY(check_rows(logarithms, &arguments[G_TARGET], &arguments[G_WEIGHT], &arguments[G_SMOOTHING]));
    SIM_TRY(find_reduction(&arguments[G_REDUCTION], &reduction));
    SIM_TRY(sim_require_same_type(&arguments[G_LOSS], logarithms->tensors->type, logarithms->name));
    SIM_TRY(sim_require_same_type(&arguments[G_OUT], logarithms->tensors->type, logarithms->name));
    SIM_TRY(check_losses(&arguments[G_LOSS], reduction, logarithms->tensors));
    return sim_require_shape(&arguments[G_OUT], logarithms->tensors->dims, 2, "that of logProb");
}

/* ---- the second phase ---- */

struct job {
    struct sim_targets jo_targets;
    struct sim_line jo_from, jo_to;
    double *jo_values, *jo_weights; /* a row, and the weights of all classes */
    size_t jo_count;                /* classes */
    double jo_smoothing;
    bool jo_stores; /* losses are stored */
    double jo_sum, jo_total;
    double jo_divisor; /* of gradients */
};

/* Fills a job; the caller frees jo_values. */
static aclError open_job(struct job *job, const aclsimTensor *from, const aclsimTensor *to,
                         const aclsimArgument *target, const aclsimArgument *weight, int64_t ignored)
{
    void *values;
    job->jo_targets = (struct sim_targets){target, from->dims[1], ignored};
    job->jo_from = sim_line_of(from, 1, 1);
    job->jo_to = sim_line_of(to, 1, 1);
    SIM_TRY(sim_line_reserve(&job->jo_from, SIM_CLASS_DOUBLE, 2, &values, &job->jo_count));
    job->jo_values = values;
    job->jo_weights = job->jo_values + job->jo_count;
    for (size_t i = 0; i < job->jo_count; i++)
        job->jo_weights[i] = 1;
    if (weight->present) {
        const struct sim_line line = sim_line_of(weight->tensors, 0, 1);
        sim_line_load(&line, SIM_CLASS_DOUBLE, weight->tensors->data, job->jo_weights);
    }
    return ACL_SUCCESS;
}

static void take_log_softmax(double *values, size_t count)
{
    double most = values[0], sum = 0;
    for (size_t i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += exp(values[i] - most);
    for (size_t i = 0; i < count; i++)
        values[i] -= most + log(sum);
}

static double loss_of_row(const struct job *job, int64_t class)
{
    double spread = 0;
    if (job->jo_smoothing > 0) /* otherwise, an infinite logarithm has no part in the loss */
        for (size_t i = 0; i < job->jo_count; i++)
            spread -= job->jo_weights[i] * job->jo_values[i];
    return (1 - job->jo_smoothing) * -job->jo_weights[class] * job->jo_values[class] +
           job->jo_smoothing / (double)job->jo_count * spread;
}

/* places: the addresses of a row of input, of its target, of its logarithms and of its loss. */
static aclError run_rows(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, places[1] + i * strides[1], &class));
        sim_line_load(&job->jo_from, SIM_CLASS_DOUBLE, places[0] + i * strides[0], job->jo_values);
        take_log_softmax(job->jo_values, job->jo_count);
        sim_line_store(&job->jo_to, SIM_CLASS_DOUBLE, job->jo_values, places[2] + i * strides[2]);
        double loss = class < 0 ? 0 : loss_of_row(job, class);
        if (job->jo_stores)
            sim_loss_store(places[3] + i * strides[3], job->jo_to.li_type, loss);
        job->jo_sum += loss;
        job->jo_total += class < 0 ? 0 : job->jo_weights[class];
    }
    return ACL_SUCCESS;
}

static aclError run_loss(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const aclsimTensor *input = arguments[INPUT].tensors, *logarithms = arguments[LOGARITHMS].tensors;
    const aclsimTensor *loss = arguments[LOSS].tensors, *target = arguments[TARGET].tensors;
    int reduction;
    SIM_TRY(find_reduction(&arguments[REDUCTION], &reduction));
    struct job job = {.jo_smoothing = arguments[SMOOTHING].number, .jo_stores = reduction == SIM_LOSS_NONE};
    SIM_TRY(open_job(&job, input, logarithms, &arguments[TARGET], &arguments[WEIGHT], arguments[IGNORED].integer));
    const aclsimTensor rows = sim_line_without(input, 1), results = sim_line_without(logarithms, 1);
    aclError code = sim_walk_tensors((const aclsimTensor *[]){&rows, target, &results, loss}, 4, run_rows, &job);
    free(job.jo_values);
    if (code == ACL_SUCCESS && reduction != SIM_LOSS_NONE)
        sim_loss_store(loss->data, loss->type, reduction == SIM_LOSS_MEAN ? job.jo_sum / job.jo_total : job.jo_sum);
    return code;
}

/* places: the address of a target. */
static aclError add_weights(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, places[0] + i * strides[0], &class));
        job->jo_total += class < 0 ? 0 : job->jo_weights[class];
    }
    return ACL_SUCCESS;
}

/* The loss of a row is a sum of logarithms with factors; through softmax, each logarithm depends on all inputs. */
static void take_gradient(const struct job *job, int64_t class, double gradient)
{
    double *values = job->jo_values, sum = 0;
    const double share = job->jo_smoothing / (double)job->jo_count, rest = 1 - job->jo_smoothing;
    for (size_t i = 0; i < job->jo_count; i++)
        sum -= share * job->jo_weights[i];
    sum -= rest * job->jo_weights[class];
    for (size_t i = 0; i < job->jo_count; i++) {
        double factor = -share * job->jo_weights[i] - ((int64_t)i == class ? rest * job->jo_weights[i] : 0);
        values[i] = gradient * (factor - exp(values[i]) * sum);
    }
}

/* places: the addresses of a row of the result, of its target, of its logarithms and of the gradient of its loss. */
static aclError run_gradient_rows(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        int64_t class;
        SIM_TRY(sim_loss_find_class(&job->jo_targets, places[1] + i * strides[1], &class));
        sim_line_load(&job->jo_from, SIM_CLASS_DOUBLE, places[2] + i * strides[2], job->jo_values);
        double gradient = sim_loss_load(places[3] + i * strides[3], job->jo_from.li_type);
        if (class >= 0)
            take_gradient(job, class, gradient / job->jo_divisor);
        else
            memset(job->jo_values, 0, job->jo_count * sizeof *job->jo_values);
        sim_line_store(&job->jo_to, SIM_CLASS_DOUBLE, job->jo_values, places[0] + i * strides[0]);
    }
    return ACL_SUCCESS;
}

static aclError run_gradient(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const aclsimTensor *logarithms = arguments[G_LOGARITHMS].tensors, *out = arguments[G_OUT].tensors;
    const aclsimTensor *target = arguments[G_TARGET].tensors, *loss = arguments[G_LOSS].tensors;
    int reduction;
    SIM_TRY(find_reduction(&arguments[G_REDUCTION], &reduction));
    struct job job = {.jo_smoothing = arguments[G_SMOOTHING].number};
    SIM_TRY(open_job(&job, logarithms, out, &arguments[G_TARGET], &arguments[G_WEIGHT], arguments[G_IGNORED].integer));
    const aclsimTensor rows = sim_line_without(out, 1), sources = sim_line_without(logarithms, 1);
    aclError code = sim_walk_tensors((const aclsimTensor *[]){target}, 1, add_weights, &job);
    job.jo_divisor = reduction == SIM_LOSS_MEAN ? job.jo_total : 1;
    if (code == ACL_SUCCESS)
        code = sim_walk_tensors((const aclsimTensor *[]){&rows, target, &sources, loss}, 4, run_gradient_rows, &job);
    free(job.jo_values);
    return code;
}

const struct sim_kernel sim_kernel_aclnnCrossEntropyLoss = {plan_loss, run_loss, NULL, false};
const struct sim_kernel sim_kernel_aclnnCrossEntropyLossGrad = {plan_gradient, run_gradient, NULL, false};
