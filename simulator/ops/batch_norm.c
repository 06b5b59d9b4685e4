/* Batch normalization and its gradient: each channel, that is each index of dimension 1, has a mean and a variance.
 * Training uses those of the input and moves the running ones towards them; otherwise the running ones are used. The
 * single operators BatchNorm, BNInfer and BNInference may have their channels in another dimension. */
#include "slices.h"
#include "tables.h"

/* The types of a tensor with one number per channel. */
static uint64_t types_beside(const aclsimArgument *input)
{
    return SIM_TYPE(input->tensors->type) | SIM_TYPE(ACL_FLOAT);
}

static aclnnStatus check_input(const aclsimArgument *input)
{
    SIM_TRY(sim_require_type(input, SIM_TYPES_SINGLE));
    return sim_require_rank(input, 2, 8);
}

/* Checks a number per channel, if it is given. */
static aclnnStatus check_channels(const aclsimArgument *numbers, const aclsimArgument *input)
{
    if (numbers->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(numbers, types_beside(input)));
    return sim_require_channels(numbers, input->tensors->dims[1]);
}

/* ---- forward: input, weight, bias, runningMean, runningVar, training, momentum, eps, output, saveMean, saveInvstd
 * ---- */

static aclnnStatus plan_batch_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    bool training = given[5].integer != 0;
    (void)workspace_size;
    SIM_TRY(check_input(&given[0]));
    SIM_TRY(sim_require_like(&given[8], &given[0]));
    for (size_t i = 1; i < 5; i++)
        SIM_TRY(check_channels(&given[i], &given[0]));
    SIM_TRY(sim_require_present(&given[3], !training));
    SIM_TRY(sim_require_present(&given[4], !training));
    for (size_t i = 9; i < 11 && training; i++)
        SIM_TRY(check_channels(&given[i], &given[0]));
    return ACL_SUCCESS;
}

/* Moves running numbers, if there are any, towards those of a batch. */
static void move(const aclsimArgument *running, double *numbers, const double *batch, size_t count, double momentum,
                 double factor)
{
    for (size_t k = 0; k < count; k++)
        numbers[k] = (1 - momentum) * numbers[k] + momentum * batch[k] * factor;
    sim_lists_store(running, numbers);
}

/* The factor from the mean of squares to the estimate of the variance of the population. */
static double unbiased(double count)
{
    return count / (count > 1 ? count - 1 : 1);
}

static aclError batch_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[0].tensors;
    const struct sim_slices slices = sim_slices_of_channels(input);
    double *values, *weight, *bias, *means, *variances, momentum = given[6].number;
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load_or(lists, &given[1], slices.sl_channels, 1, &weight));
    SIM_TRY(sim_lists_load_or(lists, &given[2], slices.sl_channels, 0, &bias));
    SIM_TRY(sim_lists_load_or(lists, &given[3], slices.sl_channels, 0, &means));
    SIM_TRY(sim_lists_load_or(lists, &given[4], slices.sl_channels, 1, &variances));
    if (given[5].integer != 0) {
        double *running_means = means, *running_variances = variances, size = (double)slices.sl_size;
        SIM_TRY(sim_lists_take(lists, slices.sl_channels, &means));
        SIM_TRY(sim_lists_take(lists, slices.sl_channels, &variances));
        sim_slices_means(&slices, values, means);
        sim_slices_variances(&slices, values, means, variances);
        move(&given[3], running_means, means, slices.sl_channels, momentum, 1);
        move(&given[4], running_variances, variances, slices.sl_channels, momentum, unbiased(size));
    }
    sim_slices_invert(variances, slices.sl_channels, given[7].number);
    sim_slices_normalize(&slices, values, means, variances, weight, bias);
    sim_lists_store(&given[8], values);
    if (given[5].integer != 0) {
        sim_lists_store(&given[9], means);
        sim_lists_store(&given[10], variances);
    }
    return ACL_SUCCESS;
}

static const struct sim_lists_kind forward = {batch_norm};
const struct sim_kernel sim_kernel_aclnnBatchNorm = {plan_batch_norm, sim_lists_run, (void *)&forward, true};

/* ---- backward: gradOut, input, weight, runningMean, runningVar, saveMean, saveInvstd, training, eps, outputMask,
 * gradInput, gradWeight, gradBias ---- */

static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[1], *mask = &given[9], *outputs = &given[10];
    size_t statistics = given[7].integer != 0 ? 5 : 3;
    (void)workspace_size;
    SIM_TRY(check_input(input));
    SIM_TRY(sim_require_like(&given[0], input));
    SIM_TRY(check_channels(&given[2], input));
    for (size_t i = statistics; i < statistics + 2; i++) {
        SIM_TRY(sim_require_present(&given[i], true));
        SIM_TRY(check_channels(&given[i], input));
    }
    SIM_TRY(sim_require_masked(mask, outputs));
    if (mask->booleans[0])
        SIM_TRY(sim_require_like(&outputs[0], input));
    for (size_t i = 1; i < 3; i++)
        if (mask->booleans[i])
            SIM_TRY(check_channels(&outputs[i], input));
    return ACL_SUCCESS;
}

static aclError backward(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *outputs = &given[10];
    bool training = given[7].integer != 0;
    const struct sim_slices slices = sim_slices_of_channels(given[1].tensors);
    size_t statistics = training ? 5 : 3;
    const struct sim_gradient_arguments arguments = {&given[0], &given[statistics], &given[statistics + 1], &given[2],
                                                     SIM_RANK};
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values, *variances;
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    if (!training) {
        SIM_TRY(sim_lists_load(lists, &given[4], &variances));
        sim_slices_invert(variances, slices.sl_channels, given[8].number);
        gradient.gr_rstds = variances;
        gradient.gr_through_means = gradient.gr_through_rstds = false;
    }
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    sim_gradient_store(&given[9], outputs, &gradient);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind gradient_kind = {backward};
const struct sim_kernel sim_kernel_aclnnBatchNormBackward = {plan_backward, sim_lists_run, (void *)&gradient_kind,
                                                             true};

/* ---- the steps of batch normalization across devices ---- */

/* input, eps, mean, invstd */
static aclnnStatus plan_stats(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_input(&given[0]));
    for (size_t i = 2; i < 4; i++) {
        SIM_TRY(sim_require_type(&given[i], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_channels(&given[i], given[0].tensors->dims[1]));
    }
    return ACL_SUCCESS;
}

static aclError stats(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[0].tensors;
    const struct sim_slices slices = sim_slices_of_channels(input);
    double *values, *means, *variances;
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &means));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &variances));
    sim_slices_means(&slices, values, means);
    sim_slices_variances(&slices, values, means, variances);
    sim_slices_invert(variances, slices.sl_channels, given[1].number);
    sim_lists_store(&given[2], means);
    sim_lists_store(&given[3], variances);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind stats_kind = {stats};
const struct sim_kernel sim_kernel_aclnnBatchNormStats = {plan_stats, sim_lists_run, (void *)&stats_kind, true};

/* input, mean, invstd, runningMean, runningVar, momentum, eps, counts, meanAll, invstdAll; mean and invstd have a row
 * per device. */
static aclnnStatus plan_gather(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *counts = &given[7];
    static const size_t per_channel[] = {3, 4, 8, 9};
    (void)workspace_size;
    SIM_TRY(check_input(&given[0]));
    SIM_TRY(sim_require_type(counts, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(counts, 1, 1));
    const int64_t dims[] = {counts->tensors->dims[0], given[0].tensors->dims[1]};
    for (size_t i = 1; i < 3; i++) {
        SIM_TRY(sim_require_type(&given[i], SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_shape(&given[i], dims, 2, "one row per count"));
    }
    for (size_t i = 0; i < 4; i++)
        if (given[per_channel[i]].present != 0) {
            SIM_TRY(sim_require_type(&given[per_channel[i]], SIM_TYPES_SINGLE));
            SIM_TRY(sim_require_channels(&given[per_channel[i]], dims[1]));
        }
    return ACL_SUCCESS;
}

static aclError gather(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    size_t channels = (size_t)given[0].tensors->dims[1], devices = (size_t)given[7].tensors->dims[0];
    double *means, *rstds, *counts, *running[2], *all_means, *variances, total = 0, epsilon = given[6].number;
    SIM_TRY(sim_lists_load(lists, &given[1], &means));
    SIM_TRY(sim_lists_load(lists, &given[2], &rstds));
    SIM_TRY(sim_lists_load(lists, &given[7], &counts));
    for (size_t i = 0; i < 2; i++)
        SIM_TRY(sim_lists_load_or(lists, &given[3 + i], channels, 0, &running[i]));
    SIM_TRY(sim_lists_take(lists, channels, &all_means));
    SIM_TRY(sim_lists_take(lists, channels, &variances));
    for (size_t i = 0; i < devices; i++)
        total += counts[i];
    for (size_t i = 0; i < devices * channels; i++)
        all_means[i % channels] += means[i] * counts[i / channels] / total;
    for (size_t i = 0; i < devices * channels; i++) {
        double distance = means[i] - all_means[i % channels], variance = 1 / (rstds[i] * rstds[i]) - epsilon;
        variances[i % channels] += (variance + distance * distance) * counts[i / channels] / total;
    }
    move(&given[3], running[0], all_means, channels, given[5].number, 1);
    move(&given[4], running[1], variances, channels, given[5].number, unbiased(total));
    sim_slices_invert(variances, channels, epsilon);
    sim_lists_store(&given[8], all_means);
    sim_lists_store(&given[9], variances);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind gather_kind = {gather};
const struct sim_kernel sim_kernel_aclnnBatchNormGatherStatsWithCounts = {plan_gather, sim_lists_run,
                                                                          (void *)&gather_kind, true};

/* input, weight, bias, mean, invstd, eps, output */
static aclnnStatus plan_elements(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_input(&given[0]));
    SIM_TRY(sim_require_like(&given[6], &given[0]));
    for (size_t i = 1; i < 5; i++)
        SIM_TRY(check_channels(&given[i], &given[0]));
    return ACL_SUCCESS;
}

static aclError elements(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sim_slices slices = sim_slices_of_channels(given[0].tensors);
    double *values, *weight, *bias, *means, *rstds;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load_or(lists, &given[1], slices.sl_channels, 1, &weight));
    SIM_TRY(sim_lists_load_or(lists, &given[2], slices.sl_channels, 0, &bias));
    SIM_TRY(sim_lists_load(lists, &given[3], &means));
    SIM_TRY(sim_lists_load(lists, &given[4], &rstds));
    sim_slices_normalize(&slices, values, means, rstds, weight, bias);
    sim_lists_store(&given[6], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind elements_kind = {elements};
const struct sim_kernel sim_kernel_aclnnBatchNormElemt = {plan_elements, sim_lists_run, (void *)&elements_kind, true};

/* gradOut, input, mean, invstd, weight, inputG, weightG, biasG, sumDy, sumDyXmu, gradWeight, gradBias */
static bool gives(const aclsimArgument *given, size_t output)
{
    return given[output < 10 ? 5 : output - 4].integer != 0;
}

static aclnnStatus plan_reduce(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[1];
    (void)workspace_size;
    SIM_TRY(check_input(input));
    SIM_TRY(sim_require_like(&given[0], input));
    for (size_t i = 2; i < 5; i++)
        SIM_TRY(check_channels(&given[i], input));
    for (size_t i = 8; i < 12; i++) {
        SIM_TRY(sim_require_present(&given[i], gives(given, i)));
        if (gives(given, i))
            SIM_TRY(check_channels(&given[i], input));
    }
    return ACL_SUCCESS;
}

static aclError reduce(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sim_slices slices = sim_slices_of_channels(given[1].tensors);
    double *slopes, *values, *means, *rstds, *ones, *sums, *moments, *weights;
    SIM_TRY(sim_lists_load(lists, &given[0], &slopes));
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_lists_load(lists, &given[2], &means));
    SIM_TRY(sim_lists_load(lists, &given[3], &rstds));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &ones));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &sums));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &moments));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &weights));
    for (size_t k = 0; k < slices.sl_channels; k++)
        ones[k] = 1;
    const struct sim_gradient gradient = {slopes, values, means, ones, ones, false, false, moments, sums};
    sim_gradient_sum(&slices, &gradient);
    for (size_t k = 0; k < slices.sl_channels; k++)
        weights[k] = moments[k] * rstds[k];
    const double *const results[] = {sums, moments, weights, sums};
    for (size_t i = 8; i < 12; i++)
        if (gives(given, i))
            sim_lists_store(&given[i], results[i - 8]);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind reduce_kind = {reduce};
const struct sim_kernel sim_kernel_aclnnBatchNormReduceBackward = {plan_reduce, sim_lists_run, (void *)&reduce_kind,
                                                                   true};

/* gradOut, input, mean, invstd, weight, sumDy, sumDyXmu, counter, gradInput */
static aclnnStatus plan_elements_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[1];
    (void)workspace_size;
    SIM_TRY(check_input(input));
    SIM_TRY(sim_require_like(&given[0], input));
    SIM_TRY(sim_require_like(&given[8], input));
    for (size_t i = 2; i < 7; i++)
        SIM_TRY(check_channels(&given[i], input));
    return sim_require_type(&given[7], SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT));
}

/* The gradient is (gradOut - sumDy / n - (input - mean) * invstd^2 * sumDyXmu / n) * invstd * weight, where n is the
 * sum of the counter: the elements of a channel on all devices. */
static aclError elements_backward(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sim_slices slices = sim_slices_of_channels(given[1].tensors);
    int64_t devices = sim_walk_count(given[7].tensors);
    double *slopes, *values, *means, *rstds, *weight, *sums, *moments, *counts, total = 0;
    SIM_TRY(sim_lists_load(lists, &given[0], &slopes));
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_lists_load(lists, &given[2], &means));
    SIM_TRY(sim_lists_load(lists, &given[3], &rstds));
    SIM_TRY(sim_lists_load_or(lists, &given[4], slices.sl_channels, 1, &weight));
    SIM_TRY(sim_lists_load(lists, &given[5], &sums));
    SIM_TRY(sim_lists_load(lists, &given[6], &moments));
    SIM_TRY(sim_lists_load(lists, &given[7], &counts));
    for (int64_t i = 0; i < devices; i++)
        total += counts[i];
    size_t count = slices.sl_outer * slices.sl_channels * slices.sl_inner;
    for (size_t i = 0; i < count; i++) {
        size_t k = i / slices.sl_inner % slices.sl_channels;
        double slant = (values[i] - means[k]) * rstds[k] * rstds[k] * moments[k];
        slopes[i] = (slopes[i] - (sums[k] + slant) / total) * rstds[k] * weight[k];
    }
    sim_lists_store(&given[8], slopes);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind elements_backward_kind = {elements_backward};
const struct sim_kernel sim_kernel_aclnnBatchNormElemtBackward = {plan_elements_backward, sim_lists_run,
                                                                  (void *)&elements_backward_kind, true};

/* ---- single operators. The axis is the dimension of the channels. Mean and variance are divided by the momentum, or
 * set to 0 if it is 0. exponential_avg_factor is the share of this batch in batch_mean and batch_variance. ---- */

enum {
    X, AXIS, SCALE, OFFSET, MEAN, VARIANCE, MOMENTUM, TRAINING, EPSILON, FACTOR, Y, BATCH_MEAN, BATCH_VARIANCE,
    SAVED_MEAN, SAVED_VARIANCE,
};

/* Whether mean and variance are read. */
static bool reads_statistics(const aclsimArgument *given)
{
    return given[TRAINING].integer == 0 || given[FACTOR].number != 1;
}

static aclnnStatus plan_single(const aclsimCall *call, uint64_t *workspace_size)
{
    static const uint8_t numbers[] = {SCALE, OFFSET, BATCH_MEAN, BATCH_VARIANCE, SAVED_MEAN, SAVED_VARIANCE, MEAN,
                                      VARIANCE};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    const bool reads = reads_statistics(given);
    uint32_t axis;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[X], &given[Y], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(&given[X], 2, SIM_RANK));
    SIM_TRY(sim_require_shape(&given[Y], x->dims, x->rank, "that of x"));
    SIM_TRY(sim_require_dim(&given[AXIS], x->rank, &axis));
    SIM_ARGUMENT(axis != 0, ACLNN_ERR_PARAM_INVALID, "%s is 0, expected 1 to %u", given[AXIS].name, x->rank - 1);
    SIM_TRY(sim_require_present(&given[MEAN], reads));
    SIM_TRY(sim_require_present(&given[VARIANCE], reads));
    for (size_t i = 0; i < sizeof numbers - (reads ? 0 : 2); i++)
        if (given[numbers[i]].present != 0) {
            SIM_TRY(sim_require_type(&given[numbers[i]], types_beside(&given[X])));
            SIM_TRY(sim_require_channels(&given[numbers[i]], x->dims[axis]));
        }
    if (given[MOMENTUM].present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(&given[MOMENTUM], types_beside(&given[X])));
    return sim_require_one(&given[MOMENTUM]);
}

/* The tensor with its channels in dimension 1. */
static aclsimTensor channels_second(const aclsimTensor *tensor, uint32_t axis)
{
    aclsimTensor view = *tensor;
    for (uint32_t k = axis; k > 1; k--) {
        view.dims[k] = tensor->dims[k - 1];
        view.strides[k] = tensor->strides[k - 1];
    }
    view.dims[1] = tensor->dims[axis];
    view.strides[1] = tensor->strides[axis];
    return view;
}

/* Replaces the running numbers by the statistics to normalize with, and stores the outputs beside y. */
static aclError find_statistics(const aclsimArgument *given, const struct sim_slices *slices, const double *values,
                                double **means, double **variances, struct sim_lists *lists)
{
    const size_t channels = slices->sl_channels;
    double *running_means = *means, *running_variances = *variances, share = given[FACTOR].number;
    if (given[TRAINING].integer != 0) {
        SIM_TRY(sim_lists_take(lists, channels, means));
        SIM_TRY(sim_lists_take(lists, channels, variances));
        sim_slices_means(slices, values, *means);
        sim_slices_variances(slices, values, *means, *variances);
        move(&given[BATCH_MEAN], running_means, *means, channels, share, 1);
        move(&given[BATCH_VARIANCE], running_variances, *variances, channels, share,
             unbiased((double)slices->sl_size));
    } else {
        sim_lists_store(&given[BATCH_MEAN], running_means);
        sim_lists_store(&given[BATCH_VARIANCE], running_variances);
    }
    sim_lists_store(&given[SAVED_MEAN], *means);
    sim_lists_store(&given[SAVED_VARIANCE], *variances);
    return ACL_SUCCESS;
}

static aclError single(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    aclsimArgument x = given[X], y = given[Y];
    double *values, *scale, *offset, *means, *variances, *momentum;
    uint32_t axis;
    SIM_TRY(sim_require_dim(&given[AXIS], x.tensors->rank, &axis));
    const aclsimTensor from = channels_second(x.tensors, axis), to = channels_second(y.tensors, axis);
    const struct sim_slices slices = sim_slices_of_channels(&from);
    const size_t channels = slices.sl_channels;
    if (sim_walk_is_empty(from.dims, from.rank))
        return ACL_SUCCESS;
    x.tensors = &from;
    y.tensors = &to;
    SIM_TRY(sim_lists_load(lists, &x, &values));
    SIM_TRY(sim_lists_load_or(lists, &given[SCALE], channels, 1, &scale));
    SIM_TRY(sim_lists_load_or(lists, &given[OFFSET], channels, 0, &offset));
    SIM_TRY(sim_lists_load_or(lists, &given[MOMENTUM], 1, 1, &momentum));
    if (reads_statistics(given)) {
        SIM_TRY(sim_lists_load(lists, &given[MEAN], &means));
        SIM_TRY(sim_lists_load(lists, &given[VARIANCE], &variances));
    } else {
        SIM_TRY(sim_lists_take(lists, channels, &means));
        SIM_TRY(sim_lists_take(lists, channels, &variances));
    }
    for (size_t k = 0; k < channels; k++) {
        means[k] *= *momentum == 0 ? 0 : 1 / *momentum;
        variances[k] *= *momentum == 0 ? 0 : 1 / *momentum;
    }
    SIM_TRY(find_statistics(given, &slices, values, &means, &variances, lists));
    sim_slices_invert(variances, channels, given[EPSILON].number);
    sim_slices_normalize(&slices, values, means, variances, scale, offset);
    sim_lists_store(&y, values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind single_kind = {single};
static const struct sim_kernel single_kernel = {plan_single, sim_lists_run, (void *)&single_kind, true};
static const struct sim_parameter single_parameters[] = {
    [X] = {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    [AXIS] = {"axis", ACLSIM_INTEGER, 0, false},
    [SCALE] = {"scale", ACLSIM_TENSOR, ACLSIM_IN, true},
    [OFFSET] = {"offset", ACLSIM_TENSOR, ACLSIM_IN, true},
    [MEAN] = {"mean", ACLSIM_TENSOR, ACLSIM_IN, true},
    [VARIANCE] = {"variance", ACLSIM_TENSOR, ACLSIM_IN, true},
    [MOMENTUM] = {"momentum", ACLSIM_TENSOR, ACLSIM_IN, true},
    [TRAINING] = {"is_training", ACLSIM_INTEGER, 0, false},
    [EPSILON] = {"epsilon", ACLSIM_NUMBER, 0, false},
    [FACTOR] = {"exponential_avg_factor", ACLSIM_NUMBER, 0, false},
    [Y] = {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [BATCH_MEAN] = {"batch_mean", ACLSIM_TENSOR, ACLSIM_OUT, true},
    [BATCH_VARIANCE] = {"batch_variance", ACLSIM_TENSOR, ACLSIM_OUT, true},
    [SAVED_MEAN] = {"reserve_space_1", ACLSIM_TENSOR, ACLSIM_OUT, true},
    [SAVED_VARIANCE] = {"reserve_space_2", ACLSIM_TENSOR, ACLSIM_OUT, true},
};

struct sim_row sim_op_batch_norm_row = SIM_ROW("BatchNorm", SIM_TASK_VECTOR, single_parameters, &single_kernel);
