/* Normalizations of the last dimensions of a sum of two tensors: AddRmsNorm, AddLayerNorm and DeepNorm; and
 * GemmaRmsNorm, whose weight is gamma + 1. */
#include "slices.h"

/* What follows the sum. */
struct last {
    const aclsimArgument *la_gamma, *la_beta, *la_mean; /* NULL: no bias; no mean, so that the mean square is used */
    const aclsimArgument *la_y, *la_rstd;
    double la_epsilon, la_offset; /* of the weight from gamma */
};

/* Checks what is computed from x, whose sum has the type `type`. */
static aclnnStatus check(const struct last *last, const aclsimArgument *x, aclDataType type, uint64_t scale_types)
{
    const aclsimTensor *input = x->tensors, *gamma = last->la_gamma->tensors;
    const aclsimArgument *numbers[] = {last->la_mean, last->la_rstd};
    SIM_TRY(sim_require_type(last->la_gamma, scale_types));
    SIM_TRY(sim_require_gamma(last->la_gamma, x));
    if (last->la_beta != NULL) {
        SIM_TRY(sim_require_type(last->la_beta, scale_types));
        SIM_TRY(sim_require_shape(last->la_beta, gamma->dims, gamma->rank, "that of gamma"));
    }
    SIM_TRY(sim_require_type(last->la_y, SIM_TYPE(type)));
    SIM_TRY(sim_require_shape(last->la_y, input->dims, input->rank, "that of the input"));
    for (size_t i = 0; i < 2; i++)
        if (numbers[i] != NULL) {
            SIM_TRY(sim_require_type(numbers[i], SIM_TYPE(ACL_FLOAT)));
            SIM_TRY(sim_require_rstd(numbers[i], input, input->rank - gamma->rank));
        }
    return ACL_SUCCESS;
}

/* Checks an operand or a copy of the sum. */
static aclnnStatus check_like(const aclsimArgument *argument, const aclsimArgument *x, aclDataType type)
{
    SIM_TRY(sim_require_type(argument, SIM_TYPE(type)));
    return sim_require_shape(argument, x->tensors->dims, x->tensors->rank, "that of the input");
}

/* Normalizes the values in place and stores the results. */
static aclError normalize(const struct last *last, double *values, struct sim_lists *lists)
{
    const aclsimTensor *y = last->la_y->tensors;
    uint32_t rows = y->rank - last->la_gamma->tensors->rank;
    const struct sim_slices slices = sim_slices_of_rows(y, rows);
    double *gamma, *beta, *means, *rstds;
    SIM_TRY(sim_lists_load(lists, last->la_gamma, &gamma));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &beta));
    if (last->la_beta != NULL)
        SIM_TRY(sim_lists_load(lists, last->la_beta, &beta));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &means));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &rstds));
    for (size_t k = 0; k < slices.sl_channels; k++)
        gamma[k] += last->la_offset;
    if (last->la_mean != NULL)
        sim_slices_means(&slices, values, means);
    sim_slices_variances(&slices, values, means, rstds);
    sim_slices_invert(rstds, slices.sl_count, last->la_epsilon);
    sim_slices_normalize(&slices, values, means, rstds, gamma, beta);
    sim_lists_store(last->la_y, values);
    if (last->la_mean != NULL)
        sim_lists_store_rows(last->la_mean, rows, means);
    sim_lists_store_rows(last->la_rstd, rows, rstds);
    return ACL_SUCCESS;
}

static bool is_empty(const aclsimArgument *x)
{
    return sim_walk_is_empty(x->tensors->dims, x->tensors->rank);
}

/* Loads x1 * alpha + x2; they have elements. */
static aclError load_sum(struct sim_lists *lists, const aclsimArgument *x1, const aclsimArgument *x2, double alpha,
                         double **values, size_t *count)
{
    double *others;
    SIM_TRY(sim_lists_load(lists, x1, values));
    SIM_TRY(sim_lists_load(lists, x2, &others));
    *count = (size_t)sim_walk_count(x1->tensors);
    for (size_t i = 0; i < *count; i++)
        (*values)[i] = (*values)[i] * alpha + others[i];
    return ACL_SUCCESS;
}

/* ---- AddRmsNorm: x1, x2, gamma, epsilon, y, rstd, x ---- */

static struct last add_rms_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[2],
        .la_y = &given[4],
        .la_rstd = &given[5],
        .la_epsilon = given[3].number,
    };
}

static aclnnStatus plan_add_rms_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = add_rms_norm_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(check_like(&given[1], &given[0], type));
    SIM_TRY(check_like(&given[6], &given[0], type));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

/* The sum is rounded to its type before it is normalized: the values are loaded from where it is stored. */
static aclError add_rms_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = add_rms_norm_of(given);
    double *values;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_sum(lists, &given[0], &given[1], 1, &values, &count));
    sim_lists_store(&given[6], values);
    SIM_TRY(sim_lists_load(lists, &given[6], &values));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind add_rms_kind = {add_rms_norm};
const struct sim_kernel sim_kernel_aclnnAddRmsNorm = {plan_add_rms_norm, sim_lists_run, (void *)&add_rms_kind, false};

/* ---- AddLayerNorm: x1, x2, gamma, beta, bias, epsilon, additionalOutput, y, mean, rstd, x ---- */

static struct last add_layer_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[2],
        .la_beta = &given[3],
        .la_epsilon = given[5].number,
        .la_y = &given[7],
        .la_mean = &given[8],
        .la_rstd = &given[9],
    };
}

/* The operands have the same type, or one of them is float32. */
static aclnnStatus plan_add_layer_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *bias = &given[4];
    const aclsimTensor *x1 = given[0].tensors, *x2 = given[1].tensors, *gamma = given[2].tensors;
    const struct last last = add_layer_norm_of(given);
    aclDataType type = x1->type == x2->type ? x1->type : ACL_FLOAT;
    uint64_t others = x1->type == ACL_FLOAT ? SIM_TYPES_SINGLE : SIM_TYPE(x1->type) | SIM_TYPE(ACL_FLOAT);
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[1], others));
    SIM_TRY(sim_require_shape(&given[1], x1->dims, x1->rank, "that of x1"));
    SIM_TRY(check(&last, &given[0], type, SIM_TYPE(type) | SIM_TYPE(ACL_FLOAT)));
    if (bias->present != 0) {
        SIM_TRY(sim_require_type(bias, SIM_TYPE(type)));
        if (!sim_require_is_shape(bias->tensors, gamma->dims, gamma->rank))
            SIM_TRY(sim_require_shape(bias, x1->dims, x1->rank, "that of x1"));
    }
    return given[6].integer != 0 ? check_like(&given[10], &given[0], type) : ACL_SUCCESS;
}

static aclError add_layer_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *bias = &given[4];
    const struct last last = add_layer_norm_of(given);
    double *values, *more;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_sum(lists, &given[0], &given[1], 1, &values, &count));
    if (bias->present != 0) {
        size_t period = (size_t)sim_walk_count(bias->tensors);
        SIM_TRY(sim_lists_load(lists, bias, &more));
        for (size_t i = 0; i < count; i++)
            values[i] += more[i % period];
    }
    if (given[6].integer != 0)
        sim_lists_store(&given[10], values);
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind add_layer_kind = {add_layer_norm};
const struct sim_kernel sim_kernel_aclnnAddLayerNorm = {plan_add_layer_norm, sim_lists_run, (void *)&add_layer_kind,
                                                        false};

/* ---- DeepNorm: x, gx, beta, gamma, alpha, epsilon, mean, rstd, y ---- */

static struct last deep_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_beta = &given[2],
        .la_gamma = &given[3],
        .la_epsilon = given[5].number,
        .la_mean = &given[6],
        .la_rstd = &given[7],
        .la_y = &given[8],
    };
}

static aclnnStatus plan_deep_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = deep_norm_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(check_like(&given[1], &given[0], type));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

static aclError deep_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = deep_norm_of(given);
    double *values;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_sum(lists, &given[0], &given[1], given[4].number, &values, &count));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind deep_kind = {deep_norm};
const struct sim_kernel sim_kernel_aclnnDeepNorm = {plan_deep_norm, sim_lists_run, (void *)&deep_kind, true};

/* ---- GemmaRmsNorm: x, gamma, epsilon, y, rstd ---- */

static struct last gemma_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[1],
        .la_epsilon = given[2].number,
        .la_y = &given[3],
        .la_rstd = &given[4],
        .la_offset = 1,
    };
}

static aclnnStatus plan_gemma(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = gemma_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

static aclError gemma(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = gemma_of(given);
    double *values;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind gemma_kind = {gemma};
const struct sim_kernel sim_kernel_aclnnGemmaRmsNorm = {plan_gemma, sim_lists_run, (void *)&gemma_kind, true};
