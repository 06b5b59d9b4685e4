/* Adam with numbers in tensors. ApplyAdam: var, m, v, beta1Power, beta2Power, lr, beta1, beta2, epsilon, grad,
 * useLocking, useNesterov; the powers are those of the step. ApplyAdamW: var, m, v, beta1Power, beta2Power, lr,
 * weightDecay, beta1, beta2, eps, grad, maxGradNorm, amsgrad, maximize; the powers are those of the step before. */
#include "adam.h"

#include <math.h>

/* Positions that both have, and the other numbers of each. */
enum { VARIABLE, MEAN, SQUARE, FIRST_POWER, SECOND_POWER, RATE };
enum { A_FIRST = RATE + 1, A_SECOND, A_EPSILON, A_GRADIENT, A_LOCKING, A_NESTEROV };
enum { W_DECAY = RATE + 1, W_FIRST, W_SECOND, W_EPSILON, W_GRADIENT, W_GREATEST, W_AMSGRAD, W_MAXIMIZE };

static aclnnStatus require_numbers(const aclsimArgument *given, size_t last, uint64_t types)
{
    for (size_t k = FIRST_POWER; k <= last; k++) {
        SIM_TRY(sim_require_type(&given[k], types));
        SIM_TRY(sim_require_one(&given[k]));
    }
    return ACL_SUCCESS;
}

/* Loads the numbers of one element each. */
static aclError load_numbers(struct sim_lists *lists, const aclsimArgument *given, size_t last, double *numbers)
{
    double *loaded;
    for (size_t k = FIRST_POWER; k <= last; k++) {
        SIM_TRY(sim_lists_load(lists, &given[k], &loaded));
        numbers[k] = *loaded;
    }
    return ACL_SUCCESS;
}

static aclError load_state(struct sim_lists *lists, const aclsimArgument *given, const aclsimArgument *gradient,
                           struct sim_adam_state *state)
{
    SIM_TRY(sim_lists_load(lists, &given[VARIABLE], &state->as_variable));
    SIM_TRY(sim_lists_load(lists, &given[MEAN], &state->as_mean));
    SIM_TRY(sim_lists_load(lists, &given[SQUARE], &state->as_square));
    return sim_lists_load(lists, gradient, &state->as_gradient);
}

static void store_state(const aclsimArgument *given, const struct sim_adam_state *state)
{
    sim_lists_store(&given[VARIABLE], state->as_variable);
    sim_lists_store(&given[MEAN], state->as_mean);
    sim_lists_store(&given[SQUARE], state->as_square);
}

/* ---- ApplyAdam: epsilon is added to the root before the correction by the powers ---- */

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimArgument *const tensors[] = {&given[VARIABLE], &given[MEAN], &given[SQUARE], &given[A_GRADIENT]};
    (void)workspace_size;
    SIM_TRY(sim_adam_require(tensors, 4));
    return require_numbers(given, A_EPSILON, SIM_TYPES_SINGLE);
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)sim_walk_count(given[VARIABLE].tensors);
    const bool ahead = given[A_NESTEROV].integer != 0;
    struct sim_adam_state state = {.as_greatest = NULL};
    double numbers[A_EPSILON + 1];
    SIM_TRY(load_state(lists, given, &given[A_GRADIENT], &state));
    SIM_TRY(load_numbers(lists, given, A_EPSILON, numbers));
    const double first = numbers[A_FIRST], second = numbers[A_SECOND];
    const double rate = numbers[RATE] * sqrt(1 - numbers[SECOND_POWER]) / (1 - numbers[FIRST_POWER]);
    for (size_t i = 0; i < count; i++) {
        const double slope = state.as_gradient[i];
        double *mean = &state.as_mean[i], *square = &state.as_square[i];
        *mean = first * *mean + (1 - first) * slope;
        *square = second * *square + (1 - second) * slope * slope;
        const double next = ahead ? first * *mean + (1 - first) * slope : *mean;
        state.as_variable[i] -= rate * next / (sqrt(*square) + numbers[A_EPSILON]);
    }
    store_state(given, &state);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnApplyAdam = {plan, sim_lists_run, (void *)&kind, true};

/* ---- ApplyAdamW ---- */

static aclnnStatus plan_decay(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const bool keeps = given[W_AMSGRAD].integer != 0;
    (void)workspace_size;
    SIM_TRY(sim_require_present(&given[W_GREATEST], keeps));
    const aclsimArgument *const tensors[] = {&given[VARIABLE], &given[MEAN], &given[SQUARE], &given[W_GRADIENT],
                                             &given[W_GREATEST]};
    SIM_TRY(sim_adam_require(tensors, keeps ? 5 : 4));
    return require_numbers(given, W_EPSILON, SIM_TYPE(given[VARIABLE].tensors->type));
}

/* The greatest squares are read, but not changed. */
static aclError run_decay(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_adam_state state = {.as_greatest = NULL};
    double numbers[W_EPSILON + 1];
    SIM_TRY(load_state(lists, given, &given[W_GRADIENT], &state));
    SIM_TRY(load_numbers(lists, given, W_EPSILON, numbers));
    if (given[W_AMSGRAD].integer != 0)
        SIM_TRY(sim_lists_load(lists, &given[W_GREATEST], &state.as_greatest));
    const struct sim_adam adam = {
        .ad_rate = numbers[RATE],
        .ad_first = numbers[W_FIRST],
        .ad_second = numbers[W_SECOND],
        .ad_decay = numbers[W_DECAY],
        .ad_epsilon = numbers[W_EPSILON],
        .ad_first_power = numbers[FIRST_POWER] * numbers[W_FIRST],
        .ad_second_power = numbers[SECOND_POWER] * numbers[W_SECOND],
        .ad_maximizes = given[W_MAXIMIZE].integer != 0,
    };
    sim_adam_step(&adam, &state, (size_t)sim_walk_count(given[VARIABLE].tensors));
    store_state(given, &state);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind decay = {run_decay};
const struct sim_kernel sim_kernel_aclnnApplyAdamW = {plan_decay, sim_lists_run, (void *)&decay, true};
