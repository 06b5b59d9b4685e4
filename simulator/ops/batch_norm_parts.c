/* The steps of batch normalization as single operators: BNTrainingReduce sums each channel and its squares,
 * BNTrainingUpdate normalizes with these sums and moves the running statistics towards those of the batch;
 * BNTrainingUpdateGrad, BNTrainingReduceGrad and BNInferGrad are gradients. Channels are in the second dimension. */
#include "slices.h"
#include "tables.h"

#include <math.h>

struct step {
    struct sim_lists_kind st_kind; /* first, because sim_lists_run reads it */
    uint32_t st_images; /* bits: arguments with the shape of the first one; other tensors have a number per channel */
};

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct step *step = call->userData;
    const aclsimArgument *first = call->arguments;
    (void)workspace_size;
    SIM_TRY(sim_require_type(first, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(first, 2, SIM_RANK));
    for (size_t k = 1; k < call->argumentCount; k++) {
        const aclsimArgument *argument = &first[k];
        if (argument->kind != ACLSIM_TENSOR)
            continue;
        if ((step->st_images >> k & 1) != 0) {
            SIM_TRY(sim_require_type(argument, SIM_TYPES_SINGLE));
            SIM_TRY(sim_require_shape(argument, first->tensors->dims, first->tensors->rank, "that of the first input"));
            continue;
        }
        SIM_TRY(sim_require_type(argument, SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_channels(argument, first->tensors->dims[1]));
    }
    return ACL_SUCCESS;
}

/* The elements of the first argument, and how many are in a channel. */
struct images {
    struct sim_slices im_slices;
    double *im_values;
    size_t im_total;
    double im_each;
};

static aclError open_images(const aclsimCall *call, struct sim_lists *lists, struct images *images)
{
    const aclsimTensor *tensor = call->arguments[0].tensors;
    images->im_slices = sim_slices_of_channels(tensor);
    images->im_total = sim_slices_extent(tensor, 0, tensor->rank);
    images->im_each = (double)(images->im_slices.sl_outer * images->im_slices.sl_inner);
    return sim_lists_load(lists, &call->arguments[0], &images->im_values);
}

static size_t channel_of(const struct images *images, size_t element)
{
    return element / images->im_slices.sl_inner % images->im_slices.sl_channels;
}

/* ---- BNTrainingReduce: x, sum, square_sum ---- */

static aclError run_reduce(const aclsimCall *call, struct sim_lists *lists)
{
    struct images x;
    double *sums, *squares;
    SIM_TRY(open_images(call, lists, &x));
    SIM_TRY(sim_lists_take(lists, x.im_slices.sl_channels, &sums));
    SIM_TRY(sim_lists_take(lists, x.im_slices.sl_channels, &squares));
    for (size_t i = 0; i < x.im_total; i++) {
        sums[channel_of(&x, i)] += x.im_values[i];
        squares[channel_of(&x, i)] += x.im_values[i] * x.im_values[i];
    }
    sim_lists_store(&call->arguments[1], sums);
    sim_lists_store(&call->arguments[2], squares);
    return ACL_SUCCESS;
}

/* ---- BNTrainingUpdate: x, sum, square_sum, scale, offset, mean, variance, factor, epsilon, y, then the new mean and
 * variance, and those of the batch ---- */

static aclError run_update(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const double factor = given[7].number, epsilon = given[8].number;
    struct images x;
    double *numbers[6]; /* sum, square_sum, scale, offset, mean, variance */
    SIM_TRY(open_images(call, lists, &x));
    for (size_t k = 0; k < 6; k++)
        SIM_TRY(sim_lists_load(lists, &given[1 + k], &numbers[k]));
    double *const means = numbers[0], *const variances = numbers[1];
    for (size_t c = 0; c < x.im_slices.sl_channels; c++) {
        means[c] /= x.im_each;
        variances[c] = fmax(variances[c] / x.im_each - means[c] * means[c], 0);
        const double unbiased = x.im_each > 1 ? variances[c] * x.im_each / (x.im_each - 1) : variances[c];
        numbers[4][c] += factor * (means[c] - numbers[4][c]);
        numbers[5][c] += factor * (unbiased - numbers[5][c]);
    }
    for (size_t i = 0; i < x.im_total; i++) {
        const size_t c = channel_of(&x, i);
        x.im_values[i] = (x.im_values[i] - means[c]) / sqrt(variances[c] + epsilon) * numbers[2][c] + numbers[3][c];
    }
    sim_lists_store(&given[9], x.im_values);
    sim_lists_store(&given[10], numbers[4]);
    sim_lists_store(&given[11], numbers[5]);
    sim_lists_store(&given[12], means);
    sim_lists_store(&given[13], variances);
    return ACL_SUCCESS;
}

/* ---- BNTrainingUpdateGrad: grads, x, batch_mean, batch_variance, epsilon, diff_scale, diff_offset ---- */

static aclError run_update_grad(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct images grads;
    double *x, *means, *variances, *scales, *offsets;
    SIM_TRY(open_images(call, lists, &grads));
    SIM_TRY(sim_lists_load(lists, &given[1], &x));
    SIM_TRY(sim_lists_load(lists, &given[2], &means));
    SIM_TRY(sim_lists_load(lists, &given[3], &variances));
    SIM_TRY(sim_lists_take(lists, grads.im_slices.sl_channels, &scales));
    SIM_TRY(sim_lists_take(lists, grads.im_slices.sl_channels, &offsets));
    for (size_t i = 0; i < grads.im_total; i++) {
        const size_t c = channel_of(&grads, i);
        scales[c] += grads.im_values[i] * (x[i] - means[c]) / sqrt(variances[c] + given[4].number);
        offsets[c] += grads.im_values[i];
    }
    sim_lists_store(&given[5], scales);
    sim_lists_store(&given[6], offsets);
    return ACL_SUCCESS;
}

/* ---- BNTrainingReduceGrad: grads, x, diff_scale, diff_offset, scale, batch_mean, batch_variance, epsilon, y ---- */

static aclError run_reduce_grad(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct images grads;
    double *x, *numbers[5]; /* diff_scale, diff_offset, scale, batch_mean, batch_variance */
    SIM_TRY(open_images(call, lists, &grads));
    SIM_TRY(sim_lists_load(lists, &given[1], &x));
    for (size_t k = 0; k < 5; k++)
        SIM_TRY(sim_lists_load(lists, &given[2 + k], &numbers[k]));
    for (size_t i = 0; i < grads.im_total; i++) {
        const size_t c = channel_of(&grads, i);
        const double root = sqrt(numbers[4][c] + given[7].number), normal = (x[i] - numbers[3][c]) / root;
        const double mean = (numbers[1][c] + normal * numbers[0][c]) / grads.im_each;
        grads.im_values[i] = numbers[2][c] / root * (grads.im_values[i] - mean);
    }
    sim_lists_store(&given[8], grads.im_values);
    return ACL_SUCCESS;
}

/* ---- BNInferGrad: grads, scale, batch_variance, epsilon, x_backprop ---- */

static aclError run_infer_grad(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct images grads;
    double *scales, *variances;
    SIM_TRY(open_images(call, lists, &grads));
    SIM_TRY(sim_lists_load(lists, &given[1], &scales));
    SIM_TRY(sim_lists_load(lists, &given[2], &variances));
    for (size_t i = 0; i < grads.im_total; i++) {
        const size_t c = channel_of(&grads, i);
        grads.im_values[i] *= scales[c] / sqrt(variances[c] + given[3].number);
    }
    sim_lists_store(&given[4], grads.im_values);
    return ACL_SUCCESS;
}

/* ---- schemas ---- */

#define IN(name) {name, ACLSIM_TENSOR, ACLSIM_IN, false}
#define OUT(name) {name, ACLSIM_TENSOR, ACLSIM_OUT, false}
#define NUMBER(name) {name, ACLSIM_NUMBER, 0, false}
#define STEP(place, type, images, ...)                                                                                 \
    static const struct step step_##place = {{run_##place}, images};                                                   \
    static const struct sim_kernel kernel_##place = {plan, sim_lists_run, (void *)&step_##place, false};              \
    static const struct sim_parameter parameters_##place[] = {__VA_ARGS__};                                            \
    struct sim_row sim_op_bn_##place##_row = SIM_ROW(type, SIM_TASK_VECTOR, parameters_##place, &kernel_##place);

STEP(reduce, "BNTrainingReduce", 1, IN("x"), OUT("sum"), OUT("square_sum"))
STEP(update, "BNTrainingUpdate", 1 | 1 << 9, IN("x"), IN("sum"), IN("square_sum"), IN("scale"), IN("offset"),
     IN("mean"), IN("variance"), NUMBER("factor"), NUMBER("epsilon"), OUT("y"), OUT("mean_out"), OUT("variance_out"),
     OUT("batch_mean"), OUT("batch_variance"))
STEP(update_grad, "BNTrainingUpdateGrad", 1 | 1 << 1, IN("grads"), IN("x"), IN("batch_mean"), IN("batch_variance"),
     NUMBER("epsilon"), OUT("diff_scale"), OUT("diff_offset"))
STEP(reduce_grad, "BNTrainingReduceGrad", 1 | 1 << 1 | 1 << 8, IN("grads"), IN("x"), IN("diff_scale"),
     IN("diff_offset"), IN("scale"), IN("batch_mean"), IN("batch_variance"), NUMBER("epsilon"), OUT("y"))
STEP(infer_grad, "BNInferGrad", 1 | 1 << 4, IN("grads"), IN("scale"), IN("batch_variance"), NUMBER("epsilon"),
     OUT("x_backprop"))
