/* ApplyAdamWV2: var, m, v, maxGradNorm, grad, step, lr, beta1, beta2, weightDecay, eps, amsgrad, maximize; and
 * ApplyFusedEmaAdam: grad, var, m, v, s, step, lr, emaDecay, beta1, beta2, eps, mode, biasCorrection, weightDecay. All
 * is computed in double and rounded once. */
#include "adam.h"

#include <math.h>

aclnnStatus sim_adam_require(const aclsimArgument *const *tensors, size_t count)
{
    SIM_TRY(sim_require_type(tensors[0], SIM_TYPES_SINGLE));
    for (size_t i = 1; i < count; i++)
        SIM_TRY(sim_require_like(tensors[i], tensors[0]));
    return ACL_SUCCESS;
}

void sim_adam_step(const struct sim_adam *adam, const struct sim_adam_state *state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double slope = adam->ad_maximizes ? -state->as_gradient[i] : state->as_gradient[i];
        double *mean = &state->as_mean[i], *square = &state->as_square[i], size;
        *mean = adam->ad_first * *mean + (1 - adam->ad_first) * slope;
        *square = adam->ad_second * *square + (1 - adam->ad_second) * slope * slope;
        size = *square;
        if (state->as_greatest != NULL) {
            const double before = state->as_greatest[i];
            size = before > size || before != before ? before : size;
            state->as_greatest[i] = size;
        }
        const double deviation = sqrt(size / (1 - adam->ad_second_power)) + adam->ad_epsilon;
        state->as_variable[i] = state->as_variable[i] * (1 - adam->ad_rate * adam->ad_decay) -
                                adam->ad_rate * (*mean / (1 - adam->ad_first_power)) / deviation;
    }
}

/* ---- ApplyAdamWV2: the step counts from 0. The documents do not say so, but torch_npu subtracts 1 from PyTorch's,
 * which counts from 1. ---- */

enum { VARIABLE, MEAN, SQUARE, GREATEST, GRADIENT, STEP, RATE, FIRST, SECOND, DECAY, EPSILON, AMSGRAD, MAXIMIZE };

static aclnnStatus require_step(const aclsimArgument *step, uint64_t types)
{
    SIM_TRY(sim_require_type(step, types));
    SIM_ARGUMENT(sim_walk_count(step->tensors) == 1, ACLNN_ERR_PARAM_INVALID, "%s has %lld elements, expected 1",
                 step->name, (long long)sim_walk_count(step->tensors));
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const bool keeps = given[AMSGRAD].integer != 0;
    (void)workspace_size;
    SIM_TRY(sim_require_present(&given[GREATEST], keeps));
    const aclsimArgument *const tensors[] = {&given[VARIABLE], &given[MEAN], &given[SQUARE], &given[GRADIENT],
                                             &given[GREATEST]};
    SIM_TRY(sim_adam_require(tensors, keeps ? 5 : 4));
    return require_step(&given[STEP], SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_FLOAT));
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const bool keeps = given[AMSGRAD].integer != 0;
    struct sim_adam_state state = {.as_greatest = NULL};
    double *step;
    SIM_TRY(sim_lists_load(lists, &given[VARIABLE], &state.as_variable));
    SIM_TRY(sim_lists_load(lists, &given[MEAN], &state.as_mean));
    SIM_TRY(sim_lists_load(lists, &given[SQUARE], &state.as_square));
    SIM_TRY(sim_lists_load(lists, &given[GRADIENT], &state.as_gradient));
    SIM_TRY(sim_lists_load(lists, &given[STEP], &step));
    if (keeps)
        SIM_TRY(sim_lists_load(lists, &given[GREATEST], &state.as_greatest));
    const struct sim_adam adam = {
        .ad_rate = given[RATE].number,
        .ad_first = given[FIRST].number,
        .ad_second = given[SECOND].number,
        .ad_decay = given[DECAY].number,
        .ad_epsilon = given[EPSILON].number,
        .ad_first_power = pow(given[FIRST].number, *step + 1),
        .ad_second_power = pow(given[SECOND].number, *step + 1),
        .ad_maximizes = given[MAXIMIZE].integer != 0,
    };
    sim_adam_step(&adam, &state, (size_t)sim_walk_count(given[VARIABLE].tensors));
    sim_lists_store(&given[VARIABLE], state.as_variable);
    sim_lists_store(&given[MEAN], state.as_mean);
    sim_lists_store(&given[SQUARE], state.as_square);
    if (keeps)
        sim_lists_store(&given[GREATEST], state.as_greatest);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnApplyAdamWV2 = {plan, sim_lists_run, (void *)&kind, true};

/* ---- ApplyFusedEmaAdam: s is the moving average of the variable. In mode 0, the decay is added to the gradient, and
 * in mode 1 to the update. ---- */

enum { F_GRADIENT, F_VARIABLE, F_MEAN, F_SQUARE, F_AVERAGE, F_STEP, F_RATE, F_KEPT, F_FIRST, F_SECOND, F_EPSILON };
enum { F_MODE = F_EPSILON + 1, F_CORRECTS, F_DECAY };

static aclnnStatus plan_average(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimArgument *const tensors[] = {&given[F_GRADIENT], &given[F_VARIABLE], &given[F_MEAN], &given[F_SQUARE],
                                             &given[F_AVERAGE]};
    (void)workspace_size;
    SIM_TRY(sim_adam_require(tensors, 5));
    SIM_ARGUMENT(given[F_MODE].integer == 0 || given[F_MODE].integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 0 or 1", given[F_MODE].name, (long long)given[F_MODE].integer);
    return require_step(&given[F_STEP], SIM_TYPE(ACL_INT64));
}

static aclError run_average(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)sim_walk_count(given[F_VARIABLE].tensors);
    const double first = given[F_FIRST].number, second = given[F_SECOND].number, kept = given[F_KEPT].number;
    const double decay = given[F_DECAY].number;
    const bool corrects = given[F_CORRECTS].integer != 0, early = given[F_MODE].integer == 0;
    double *numbers[F_STEP + 1];
    for (size_t k = 0; k <= F_STEP; k++)
        SIM_TRY(sim_lists_load(lists, &given[k], &numbers[k]));
    const double step = *numbers[F_STEP], means = corrects ? 1 - pow(first, step) : 1;
    const double squares = corrects ? 1 - pow(second, step) : 1;
    for (size_t i = 0; i < count; i++) {
        double *variable = &numbers[F_VARIABLE][i], *mean = &numbers[F_MEAN][i], *square = &numbers[F_SQUARE][i];
        const double slope = numbers[F_GRADIENT][i] + (early ? decay * *variable : 0);
        *mean = first * *mean + (1 - first) * slope;
        *square = second * *square + (1 - second) * slope * slope;
        const double update = *mean / means / (sqrt(*square / squares) + given[F_EPSILON].number);
        *variable -= given[F_RATE].number * (update + (early ? 0 : decay * *variable));
        numbers[F_AVERAGE][i] = kept * numbers[F_AVERAGE][i] + (1 - kept) * *variable;
    }
    for (size_t k = F_VARIABLE; k <= F_AVERAGE; k++)
        sim_lists_store(&given[k], numbers[k]);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind average = {run_average};
const struct sim_kernel sim_kernel_aclnnApplyFusedEmaAdam = {plan_average, sim_lists_run, (void *)&average, true};
