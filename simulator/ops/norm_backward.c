/* Gradients of normalizations of the last dimensions: LayerNorm, RmsNorm, and those of a sum of two tensors. */
#include "slices.h"
#include "tables.h"

#include <math.h>

/* Checks tensors of the input's type and shape. */
static aclnnStatus check_like(const aclsimArgument *given, const size_t *places, size_t count,
                              const aclsimArgument *input)
{
    SIM_TRY(sim_require_type(input, SIM_TYPES_SINGLE));
    for (size_t i = 0; i < count; i++)
        if (given[places[i]].present != 0)
            SIM_TRY(sim_require_like(&given[places[i]], input));
    return ACL_SUCCESS;
}

/* ---- LayerNormBackward: gradOut, input, normalizedShape, mean, rstd, weight, bias, outputMask, gradInput, gradWeight,
 * gradBias ---- */

static aclnnStatus plan_layer_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[1], *shape = &given[2], *mask = &given[7];
    static const size_t alike[] = {0, 8}, scales[] = {5, 6, 9, 10};
    (void)workspace_size;
    SIM_TRY(sim_require_masked(mask, &given[8]));
    SIM_TRY(check_like(given, alike, mask->booleans[0] ? 2 : 1, input));
    uint64_t types = SIM_TYPE(input->tensors->type) | SIM_TYPE(ACL_FLOAT);
    SIM_TRY(sim_require_normalized(input, shape));
    for (size_t i = 3; i < 5; i++) {
        SIM_TRY(sim_require_type(&given[i], types));
        SIM_TRY(sim_require_numbers(&given[i], input->tensors, input->tensors->rank - (uint32_t)shape->count));
    }
    for (size_t i = 0; i < 4; i++) {
        const aclsimArgument *scale = &given[scales[i]];
        bool is_used = scales[i] < 8 ? scale->present != 0 : mask->booleans[scales[i] - 8];
        if (!is_used)
            continue;
        SIM_TRY(sim_require_type(scale, types));
        SIM_TRY(sim_require_shape(scale, shape->integers, (uint32_t)shape->count, shape->name));
    }
    return ACL_SUCCESS;
}

static aclError layer_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[1].tensors;
    uint32_t rows = input->rank - (uint32_t)given[2].count;
    const struct sim_slices slices = sim_slices_of_rows(input, rows);
    const struct sim_gradient_arguments arguments = {&given[0], &given[3], &given[4], &given[5], rows};
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values;
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    sim_gradient_store(&given[7], &given[8], &gradient);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind layer_kind = {layer_norm};
const struct sim_kernel sim_kernel_aclnnLayerNormBackward = {plan_layer_norm, sim_lists_run, (void *)&layer_kind, true};

/* ---- the other operators, which have float32 statistics, and results for float32 gradients of their scales ---- */

/* Where the arguments are. The input is x1 * alpha + x2; an argument that an operator lacks has place 0, which is that
 * of dy. */
struct places {
    size_t pl_x1, pl_x2, pl_alpha, pl_mean, pl_rstd, pl_gamma, pl_more; /* pl_more is added to the gradient of x1 */
    size_t pl_dx1, pl_dx2, pl_dgamma, pl_dbeta;
};

static const struct places rms_places = {.pl_x1 = 1, .pl_rstd = 2, .pl_gamma = 3, .pl_dx1 = 4, .pl_dgamma = 5};
static const struct places add_places = {
    .pl_x1 = 1, .pl_x2 = 2, .pl_rstd = 3, .pl_mean = 4, .pl_gamma = 5, .pl_more = 6, .pl_dx1 = 7, .pl_dgamma = 8,
    .pl_dbeta = 9,
};
static const struct places deep_places = {
    .pl_x1 = 1, .pl_x2 = 2, .pl_gamma = 3, .pl_mean = 4, .pl_rstd = 5, .pl_alpha = 6, .pl_dx1 = 7, .pl_dx2 = 8,
    .pl_dbeta = 9, .pl_dgamma = 10,
};

static aclnnStatus check(const aclsimCall *call, const struct places *places)
{
    const aclsimArgument *given = call->arguments, *x = &given[places->pl_x1], *gamma = &given[places->pl_gamma];
    const aclsimTensor *input = x->tensors, *scale = gamma->tensors;
    const size_t alike[] = {0, places->pl_x2, places->pl_more, places->pl_dx1, places->pl_dx2};
    const size_t numbers[] = {places->pl_mean, places->pl_rstd}, sums[] = {places->pl_dgamma, places->pl_dbeta};
    SIM_TRY(check_like(given, alike, sizeof alike / sizeof *alike, x));
    SIM_TRY(sim_require_type(gamma, SIM_TYPE(input->type) | SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_gamma(gamma, x));
    for (size_t i = 0; i < 2; i++) {
        if (numbers[i] != 0) {
            SIM_TRY(sim_require_type(&given[numbers[i]], SIM_TYPE(ACL_FLOAT)));
            SIM_TRY(sim_require_rstd(&given[numbers[i]], input, input->rank - scale->rank));
        }
        if (sums[i] != 0) {
            SIM_TRY(sim_require_type(&given[sums[i]], SIM_TYPE(ACL_FLOAT)));
            SIM_TRY(sim_require_shape(&given[sums[i]], scale->dims, scale->rank, "that of gamma"));
        }
    }
    return ACL_SUCCESS;
}

static size_t count_of(const struct sim_slices *slices)
{
    return slices->sl_count * slices->sl_size;
}

/* Loads x1 * alpha + x2. */
static aclError load_sum(const aclsimArgument *given, const struct places *places, double alpha,
                         const struct sim_slices *slices, struct sim_lists *lists, double **values)
{
    double *others;
    SIM_TRY(sim_lists_load(lists, &given[places->pl_x1], values));
    if (places->pl_x2 == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[places->pl_x2], &others));
    for (size_t i = 0; i < count_of(slices); i++)
        (*values)[i] = (*values)[i] * alpha + others[i];
    return ACL_SUCCESS;
}

static aclError differentiate(const aclsimCall *call, struct sim_lists *lists, const struct places *places)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[places->pl_x1].tensors;
    uint32_t rows = input->rank - given[places->pl_gamma].tensors->rank;
    const struct sim_slices slices = sim_slices_of_rows(input, rows);
    const struct sim_gradient_arguments arguments = {
        .ga_output = &given[0],
        .ga_mean = places->pl_mean == 0 ? NULL : &given[places->pl_mean],
        .ga_rstd = &given[places->pl_rstd],
        .ga_weight = &given[places->pl_gamma],
        .ga_rows = rows,
    };
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values, *more, alpha = places->pl_alpha == 0 ? 1 : given[places->pl_alpha].number;
    SIM_TRY(load_sum(given, places, alpha, &slices, lists, &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    if (places->pl_more == 0)
        SIM_TRY(sim_lists_take(lists, count_of(&slices), &more));
    else
        SIM_TRY(sim_lists_load_or(lists, &given[places->pl_more], count_of(&slices), 0, &more));
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    if (places->pl_dx2 != 0)
        sim_lists_store(&given[places->pl_dx2], gradient.gr_output);
    for (size_t i = 0; i < count_of(&slices); i++)
        gradient.gr_output[i] = gradient.gr_output[i] * alpha + more[i];
    sim_lists_store(&given[places->pl_dx1], gradient.gr_output);
    sim_lists_store(&given[places->pl_dgamma], gradient.gr_weights);
    if (places->pl_dbeta != 0)
        sim_lists_store(&given[places->pl_dbeta], gradient.gr_biases);
    return ACL_SUCCESS;
}

#define GRADIENT(name, places)                                                                                         \
    static aclnnStatus plan_##places(const aclsimCall *call, uint64_t *workspace_size)                                 \
    {                                                                                                                  \
        (void)workspace_size;                                                                                          \
        return check(call, &(places));                                                                                 \
    }                                                                                                                  \
    static aclError run_##places(const aclsimCall *call, struct sim_lists *lists)                                      \
    {                                                                                                                  \
        return differentiate(call, lists, &(places));                                                                  \
    }                                                                                                                  \
    static const struct sim_lists_kind kind_##places = {run_##places};                                                 \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_##places, sim_lists_run, (void *)&kind_##places, true};

GRADIENT(RmsNormGrad, rms_places)
GRADIENT(AddLayerNormGrad, add_places)
GRADIENT(DeepNormGrad, deep_places)

/* ---- the single operator LayerNormGrad: dy, x, variance, mean, gamma, pd_x, pd_gamma, pd_beta ----
 *
 * It has no epsilon, and so the variance alone gives rstd; a variance of 0 counts as the least one. */

#define VARIANCE_LEAST 1e-12

static aclnnStatus plan_variance(const aclsimCall *call, uint64_t *workspace_size)
{
    static const size_t alike[] = {0, 5}, numbers[] = {2, 3}, scales[] = {4, 6, 7};
    const aclsimArgument *given = call->arguments, *x = &given[1], *gamma = &given[4];
    const aclsimTensor *input = x->tensors, *scale = gamma->tensors;
    const uint64_t types = SIM_TYPE(input->type) | SIM_TYPE(ACL_FLOAT);
    (void)workspace_size;
    SIM_TRY(check_like(given, alike, sizeof alike / sizeof *alike, x));
    SIM_TRY(sim_require_gamma(gamma, x));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        SIM_TRY(sim_require_type(&given[numbers[i]], types));
        SIM_TRY(sim_require_numbers(&given[numbers[i]], input, input->rank - scale->rank));
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        SIM_TRY(sim_require_type(&given[scales[i]], types));
        SIM_TRY(sim_require_shape(&given[scales[i]], scale->dims, scale->rank, "that of gamma"));
    }
    return ACL_SUCCESS;
}

static aclError run_variance(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[1].tensors;
    const uint32_t rows = input->rank - given[4].tensors->rank;
    const struct sim_slices slices = sim_slices_of_rows(input, rows);
    const struct sim_gradient_arguments arguments = {&given[0], &given[3], &given[2], &given[4], rows};
    struct sim_gradient gradient = {.gr_output = NULL};
    double *values, *rstds;
    SIM_TRY(sim_lists_load(lists, &given[1], &values));
    SIM_TRY(sim_gradient_load(&slices, &arguments, values, lists, &gradient));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &rstds));
    for (size_t i = 0; i < slices.sl_count; i++)
        rstds[i] = 1 / sqrt(fmax(gradient.gr_rstds[i], VARIANCE_LEAST));
    gradient.gr_rstds = rstds;
    SIM_TRY(sim_gradient_run(&slices, &gradient, lists));
    sim_lists_store(&given[5], gradient.gr_output);
    sim_lists_store(&given[6], gradient.gr_weights);
    sim_lists_store(&given[7], gradient.gr_biases);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind variance_kind = {run_variance};
static const struct sim_kernel variance_kernel = {plan_variance, sim_lists_run, (void *)&variance_kind, true};
static const struct sim_parameter variance_parameters[] = {
    {"dy", ACLSIM_TENSOR, ACLSIM_IN, false},        {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"variance", ACLSIM_TENSOR, ACLSIM_IN, false},  {"mean", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"gamma", ACLSIM_TENSOR, ACLSIM_IN, false},     {"pd_x", ACLSIM_TENSOR, ACLSIM_OUT, false},
    {"pd_gamma", ACLSIM_TENSOR, ACLSIM_OUT, false}, {"pd_beta", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_layer_norm_grad_row =
    SIM_ROW("LayerNormGrad", SIM_TASK_VECTOR, variance_parameters, &variance_kernel);
