/* Group normalization and its gradient, alone or followed by swish: each group of channels of a batch index has a mean
 * and a variance. InstanceNorm has groups of one channel. */
#include "slices.h"
#include "report.h"
#include "smooth.h"

#include "base/bytes.h"
#include <inttypes.h>

/* A call of one of the forward operators. */
struct group_norm {
    const aclsimArgument *gn_input, *gn_gamma, *gn_beta, *gn_out, *gn_mean, *gn_rstd;
    const aclsimArgument *gn_group, *gn_epsilon;
    int64_t gn_batch, gn_channels;
    bool gn_activates;
    double gn_scale; /* of swish */
};

/* ---- checks ---- */

static aclnnStatus check_groups(const aclsimArgument *group, int64_t channels)
{
    SIM_ARGUMENT(group->integer > 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 1 or more", group->name,
                 group->integer);
    SIM_ARGUMENT(channels % group->integer == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected a divisor of %" PRId64 ", the number of channels", group->name,
                 group->integer, channels);
    return ACL_SUCCESS;
}

/* The input has as many elements as the three sizes N, C and HxW say. */
static aclnnStatus check_sizes(const aclsimArgument *input, const aclsimArgument *sizes)
{
    uint64_t product = 1;
    bool fits = true;
    for (size_t i = 0; i < 3; i++) {
        SIM_TRY(sim_require_natural(&sizes[i]));
        fits = fits && sim_size_multiply(&product, (uint64_t)sizes[i].integer);
    }
    int64_t count = sim_walk_count(input->tensors);
    SIM_ARGUMENT(fits && product == (uint64_t)count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 " * %" PRId64 " * %" PRId64
                 ", the product of N, C and HxW",
                 input->name, count, sizes[0].integer, sizes[1].integer, sizes[2].integer);
    return ACL_SUCCESS;
}

static aclnnStatus check_format(const aclsimArgument *format, const char *other)
{
    if (format->present == 0 || strcmp(format->text, "NCHW") == 0 || strcmp(format->text, other) == 0)
        return ACL_SUCCESS;
    sim_report_text(format->name, "NCHW");
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is \"%s\", expected NCHW%s%s", format->name, format->text,
                      *other == '\0' ? "" : " or ", other);
}

static aclnnStatus check(const struct group_norm *norm)
{
    const aclsimTensor *input = norm->gn_input->tensors;
    const aclsimArgument *scales[] = {norm->gn_gamma, norm->gn_beta}, *numbers[] = {norm->gn_mean, norm->gn_rstd};
    SIM_TRY(sim_require_types(norm->gn_input, norm->gn_out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_shape(norm->gn_out, input->dims, input->rank, "that of the input"));
    SIM_TRY(check_groups(norm->gn_group, norm->gn_channels));
    SIM_ARGUMENT(norm->gn_epsilon->number > 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected more than 0",
                 norm->gn_epsilon->name, norm->gn_epsilon->number);
    const int64_t dims[] = {norm->gn_batch, norm->gn_group->integer};
    for (size_t i = 0; i < 2; i++) {
        if (scales[i]->present != 0)
            SIM_TRY(sim_require_same_type(scales[i], input->type, norm->gn_input->name));
        SIM_TRY(sim_require_channels(scales[i], norm->gn_channels));
        SIM_TRY(sim_require_same_type(numbers[i], input->type, norm->gn_input->name));
        SIM_TRY(sim_require_shape(numbers[i], dims, 2, "one number per batch index and group"));
    }
    return ACL_SUCCESS;
}

/* ---- forward ---- */

/* Slices of an input with this batch, these channels and this number of groups. */
static struct sim_slices slices_of(const aclsimTensor *input, int64_t batch, int64_t channels, int64_t group)
{
    size_t rows = (size_t)batch * (size_t)channels;
    size_t inner = rows == 0 ? 0 : (size_t)sim_walk_count(input) / rows;
    return sim_slices_of((size_t)batch, (size_t)channels, inner, 1, (size_t)(channels / group));
}

static aclError normalize(const struct group_norm *norm, struct sim_lists *lists)
{
    const aclsimTensor *input = norm->gn_input->tensors;
    double *values, *gamma, *beta, *means, *rstds;
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, norm->gn_input, &values));
    const struct sim_slices slices = slices_of(input, norm->gn_batch, norm->gn_channels, norm->gn_group->integer);
    SIM_TRY(sim_lists_load_or(lists, norm->gn_gamma, slices.sl_channels, 1, &gamma));
    SIM_TRY(sim_lists_load_or(lists, norm->gn_beta, slices.sl_channels, 0, &beta));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &means));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &rstds));
    sim_slices_means(&slices, values, means);
    sim_slices_variances(&slices, values, means, rstds);
    sim_slices_invert(rstds, slices.sl_count, norm->gn_epsilon->number);
    sim_slices_normalize(&slices, values, means, rstds, gamma, beta);
    for (size_t i = 0; i < slices.sl_count * slices.sl_size && norm->gn_activates; i++)
        values[i] /= 1 + exp(-norm->gn_scale * values[i]);
    sim_lists_store(norm->gn_out, values);
    sim_lists_store(norm->gn_mean, means);
    sim_lists_store(norm->gn_rstd, rstds);
    return ACL_SUCCESS;
}

static struct group_norm group_norm_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    return (struct group_norm){
        .gn_input = &given[0],
        .gn_gamma = &given[1],
        .gn_beta = &given[2],
        .gn_batch = given[3].integer,
        .gn_channels = given[4].integer,
        .gn_group = &given[6],
        .gn_epsilon = &given[7],
        .gn_out = &given[8],
        .gn_mean = &given[9],
        .gn_rstd = &given[10],
    };
}

static aclnnStatus plan_group_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct group_norm norm = group_norm_of(call);
    (void)workspace_size;
    SIM_TRY(sim_require_rank(norm.gn_input, 2, 8));
    SIM_TRY(check_sizes(norm.gn_input, &call->arguments[3]));
    return check(&norm);
}

static aclError group_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const struct group_norm norm = group_norm_of(call);
    return normalize(&norm, lists);
}

static const struct sim_lists_kind plain = {group_norm};
const struct sim_kernel sim_kernel_aclnnGroupNorm = {plan_group_norm, sim_lists_run, (void *)&plain, true};

/* The operators with swish have the arguments input, gamma, beta, group first. Batch and channels are dimensions 0 and
 * 1 of the input. */
static struct group_norm swish_of(const aclsimArgument *given, size_t epsilon, size_t out)
{
    const aclsimTensor *input = given[0].tensors;
    return (struct group_norm){
        .gn_input = &given[0],
        .gn_gamma = &given[1],
        .gn_beta = &given[2],
        .gn_batch = input->dims[0],
        .gn_channels = input->dims[1],
        .gn_group = &given[3],
        .gn_epsilon = &given[epsilon],
        .gn_out = &given[out],
        .gn_mean = &given[out + 1],
        .gn_rstd = &given[out + 2],
        .gn_activates = true,
        .gn_scale = 1,
    };
}

/* GroupNormSiluV2 has the argument activateSilu after epsilon, which GroupNormSilu lacks. */
static struct group_norm silu_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    size_t out = call->argumentCount - 3;
    struct group_norm norm = swish_of(given, 4, out);
    norm.gn_activates = out == 5 || given[5].integer != 0;
    return norm;
}

static aclnnStatus plan_silu(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    SIM_TRY(sim_require_rank(&call->arguments[0], 2, 8));
    const struct group_norm norm = silu_of(call);
    return check(&norm);
}

static aclError silu(const aclsimCall *call, struct sim_lists *lists)
{
    const struct group_norm norm = silu_of(call);
    return normalize(&norm, lists);
}

static const struct sim_lists_kind silu_kind = {silu};
const struct sim_kernel sim_kernel_aclnnGroupNormSilu = {plan_silu, sim_lists_run, (void *)&silu_kind, true},
                        sim_kernel_aclnnGroupNormSiluV2 = {plan_silu, sim_lists_run, (void *)&silu_kind, true};

/* x, gamma, beta, numGroups, dataFormat, eps, activateSwish, swishScale, y, mean, rstd */
static aclnnStatus plan_swish(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(sim_require_rank(&given[0], 2, 8));
    SIM_TRY(check_format(&given[4], ""));
    const struct group_norm norm = swish_of(given, 5, 8);
    return check(&norm);
}

static aclError swish(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct group_norm norm = swish_of(given, 5, 8);
    norm.gn_activates = given[6].integer != 0;
    norm.gn_scale = given[7].number;
    return normalize(&norm, lists);
}

static const struct sim_lists_kind swish_kind = {swish};
const struct sim_kernel sim_kernel_aclnnGroupNormSwish = {plan_swish, sim_lists_run, (void *)&swish_kind, true};

/* ---- backward ---- */

/* Checks the numbers per group of a gradient. */
static aclnnStatus check_statistics(const aclsimArgument *numbers, uint64_t types, int64_t batch, int64_t group)
{
    uint64_t product = (uint64_t)batch;
    bool fits = sim_size_multiply(&product, (uint64_t)group);
    int64_t count = sim_walk_count(numbers->tensors);
    SIM_TRY(sim_require_type(numbers, types));
    SIM_ARGUMENT(fits && product == (uint64_t)count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 " * %" PRId64 ", one per batch index and group",
                 numbers->name, count, batch, group);
    return ACL_SUCCESS;
}

static aclnnStatus check_scale(const aclsimArgument *scale, uint64_t types, int64_t channels)
{
    SIM_TRY(sim_require_type(scale, types));
    return sim_require_channels(scale, channels);
}

/* gradOut, input, mean, rstd, gamma, N, C, HxW, group, outputMask, gradInput, gradGamma, gradBeta */
static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[1], *mask = &given[9], *outputs = &given[10];
    const aclsimTensor *tensor = input->tensors;
    int64_t channels = given[6].integer;
    (void)workspace_size;
    SIM_TRY(sim_require_types(input, &given[0], SIM_TYPES_SINGLE));
    uint64_t types = SIM_TYPE(tensor->type) | SIM_TYPE(ACL_FLOAT);
    SIM_TRY(check_sizes(input, &given[5]));
    SIM_TRY(check_sizes(&given[0], &given[5]));
    SIM_TRY(check_groups(&given[8], channels));
    for (size_t i = 2; i < 4; i++)
        SIM_TRY(check_statistics(&given[i], types, given[5].integer, given[8].integer));
    if (given[4].present != 0)
        SIM_TRY(check_scale(&given[4], types, channels));
    SIM_TRY(sim_require_masked(mask, outputs));
    if (mask->booleans[0])
        SIM_TRY(sim_require_like(&outputs[0], input));
    for (size_t i = 1; i < 3; i++)
        if (mask->booleans[i])
            SIM_TRY(check_scale(&outputs[i], types, channels));
    return ACL_SUCCESS;
}

static aclError backward(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sim_gradient_arguments arguments = {&given[0], &given[2], &given[3], &given[4], SIM_RANK};
    const struct sim_slices slices =
        slices_of(given[1].tensors, given[5].integer, given[6].integer, given[8].integer);
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values;
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    sim_gradient_store(&given[9], &given[10], &gradient);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind backward_kind = {backward};
const struct sim_kernel sim_kernel_aclnnGroupNormBackward = {plan_backward, sim_lists_run, (void *)&backward_kind,
                                                             true};

/* dy, mean, rstd, x, gamma, beta, numGroups, dataFormat, swishScale, dgammaIsRequire, dbetaIsRequire, dx, dgamma,
 * dbeta */
static aclnnStatus plan_swish_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *x = &given[3];
    const aclsimTensor *tensor = x->tensors;
    static const size_t alike[] = {0, 11}, per_channel[] = {4, 5, 12, 13};
    (void)workspace_size;
    SIM_TRY(sim_require_type(x, SIM_TYPES_SINGLE));
    uint64_t types = SIM_TYPE(tensor->type);
    SIM_TRY(sim_require_rank(x, 2, 8));
    SIM_TRY(check_format(&given[7], ""));
    SIM_TRY(check_groups(&given[6], tensor->dims[1]));
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_require_like(&given[alike[i]], x));
        SIM_TRY(check_statistics(&given[1 + i], types, tensor->dims[0], given[6].integer));
    }
    for (size_t i = 0; i < 4; i++)
        SIM_TRY(check_scale(&given[per_channel[i]], types, tensor->dims[1]));
    return ACL_SUCCESS;
}

/* The gradient of swish is a factor of that of the output. */
static aclError swish_gradient(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[3].tensors;
    const struct sim_gradient_arguments arguments = {&given[0], &given[1], &given[2], &given[4], SIM_RANK};
    const struct sim_slices slices = slices_of(x, x->dims[0], x->dims[1], given[6].integer);
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values, *outputs, *beta;
    SIM_TRY(sim_lists_load(lists, &given[3], &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    SIM_TRY(sim_lists_load(lists, &given[3], &outputs));
    SIM_TRY(sim_lists_load(lists, &given[5], &beta));
    sim_slices_normalize(&slices, outputs, gradient.gr_means, gradient.gr_rstds, gradient.gr_weight, beta);
    for (size_t i = 0; i < slices.sl_count * slices.sl_size; i++)
        gradient.gr_output[i] *= sim_swish_slope(outputs[i], given[8].number);
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    sim_lists_store(&given[11], gradient.gr_output);
    if (given[9].integer != 0)
        sim_lists_store(&given[12], gradient.gr_weights);
    if (given[10].integer != 0)
        sim_lists_store(&given[13], gradient.gr_biases);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind swish_gradient_kind = {swish_gradient};
const struct sim_kernel sim_kernel_aclnnGroupNormSwishGrad = {plan_swish_gradient, sim_lists_run,
                                                              (void *)&swish_gradient_kind, true};

/* ---- InstanceNorm: x, gamma, beta, dataFormat, eps, y, mean, variance ---- */

static bool channels_are_last(const aclsimArgument *format)
{
    return format->text[1] == 'H';
}

static aclnnStatus plan_instance_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *x = &given[0];
    const aclsimTensor *tensor = x->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, &given[5], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_rank(x, 4, 4));
    SIM_TRY(check_format(&given[3], "NHWC"));
    SIM_TRY(sim_require_shape(&given[5], tensor->dims, 4, "that of x"));
    uint32_t place = channels_are_last(&given[3]) ? 3 : 1;
    int64_t dims[] = {tensor->dims[0], 1, 1, 1};
    dims[place] = tensor->dims[place];
    for (size_t i = 1; i < 3; i++) {
        SIM_TRY(check_scale(&given[i], SIM_TYPE(tensor->type), tensor->dims[place]));
        SIM_TRY(sim_require_same_type(&given[5 + i], tensor->type, x->name));
        SIM_TRY(sim_require_shape(&given[5 + i], dims, 4, "one number per batch index and channel"));
    }
    return ACL_SUCCESS;
}

static aclError instance_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[0].tensors;
    size_t batch = (size_t)x->dims[0], area = sim_slices_extent(x, 1, 3);
    const struct sim_slices slices =
        channels_are_last(&given[3])
            ? sim_slices_of(batch * area, (size_t)x->dims[3], 1, area, 1)
            : sim_slices_of(batch, (size_t)x->dims[1], sim_slices_extent(x, 2, 4), 1, 1);
    double *values, *gamma, *beta, *means, *variances, *rstds;
    if (sim_walk_is_empty(x->dims, x->rank))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    SIM_TRY(sim_lists_load(lists, &given[1], &gamma));
    SIM_TRY(sim_lists_load(lists, &given[2], &beta));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &means));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &variances));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &rstds));
    sim_slices_means(&slices, values, means);
    sim_slices_variances(&slices, values, means, variances);
    memcpy(rstds, variances, slices.sl_count * sizeof *rstds);
    sim_slices_invert(rstds, slices.sl_count, given[4].number);
    sim_slices_normalize(&slices, values, means, rstds, gamma, beta);
    sim_lists_store(&given[5], values);
    sim_lists_store(&given[6], means);
    sim_lists_store(&given[7], variances);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind instance_kind = {instance_norm};
const struct sim_kernel sim_kernel_aclnnInstanceNorm = {plan_instance_norm, sim_lists_run, (void *)&instance_kind,
                                                        true};
