/* Functions of one operand with numeric parameters: Elu and Softplus (self, scalars, out), and the single operators
 * Exp, Log and Power with a base or exponent, a scale and a shift, LeakyRelu, Swish, Relu6 and HardSwish. All are
 * computed in double and rounded once, to the type of the result. */
#include "base/fail.h"
#include "operator/op.h"
#include "pointwise.h"
#include "require.h"
#include "tables.h"

#include <math.h>

#define NUMBERS 3 /* most numeric parameters of a function */

struct curve {
    double (*cu_value)(double x, const double *numbers);
    uint32_t cu_count;                                               /* number of parameters */
    aclnnStatus (*cu_check)(const aclsimArgument *numbers); /* may be NULL */
};

/* The numeric parameters stand between the operand and the result. */
static double number_of(const aclsimArgument *argument)
{
    union sim_block_values block;
    if (argument->kind != ACLSIM_SCALAR)
        return argument->number;
    sim_element_load(&block, SIM_CLASS_DOUBLE, argument->scalars->value, argument->scalars->type, 0, 1);
    return block.bv_doubles[0];
}

static aclnnStatus plan_curve(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct curve *curve = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[1 + curve->cu_count];
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_type(out, SIM_TYPES_FLOAT));
    for (uint32_t i = 1; i <= curve->cu_count; i++)
        if (call->arguments[i].kind == ACLSIM_SCALAR)
            SIM_TRY(sim_require_type(&call->arguments[i], SIM_TYPES_REAL));
    if (curve->cu_check != NULL)
        SIM_TRY(curve->cu_check(&call->arguments[1]));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of the input");
}

struct job {
    const struct curve *jo_curve;
    double jo_numbers[NUMBERS];
};

static void run_block(const struct sim_pointwise *block, void *context)
{
    const struct job *job = context;
    union sim_block_values values;
    sim_element_load(&values, SIM_CLASS_DOUBLE, block->pw_places[1], block->pw_tensors[1]->type, block->pw_strides[1],
                     block->pw_count);
    for (size_t i = 0; i < block->pw_count; i++)
        values.bv_doubles[i] = job->jo_curve->cu_value(values.bv_doubles[i], job->jo_numbers);
    sim_element_store(&values, SIM_CLASS_DOUBLE, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

static aclError run_curve(const aclsimCall *call)
{
    struct job job = {.jo_curve = call->userData};
    uint32_t count = job.jo_curve->cu_count;
    const aclsimTensor *tensors[] = {call->arguments[1 + count].tensors, call->arguments[0].tensors};
    for (uint32_t i = 0; i < count; i++)
        job.jo_numbers[i] = number_of(&call->arguments[1 + i]);
    sim_pointwise_run(tensors, 2, run_block, &job);
    return ACL_SUCCESS;
}

/* ---- operators ---- */

/* numbers: alpha, scale, inputScale */
static double elu(double x, const double *numbers)
{
    return x > 0 ? numbers[1] * x : numbers[0] * numbers[1] * expm1(numbers[2] * x);
}

/* numbers: beta, threshold; beyond the threshold the result is x */
static double softplus(double x, const double *numbers)
{
    double scaled = numbers[0] * x;
    return scaled > numbers[1] ? x : (scaled > 0 ? scaled + log1p(exp(-scaled)) : log1p(exp(scaled))) / numbers[0];
}

static const struct curve elus = {elu, 3, NULL}, softpluses = {softplus, 2, NULL};
const struct sim_kernel sim_kernel_aclnnElu = {plan_curve, run_curve, (void *)&elus, false},
                        sim_kernel_aclnnSoftplus = {plan_curve, run_curve, (void *)&softpluses, false};

/* numbers: base (-1 for e), scale, shift */
static double exponential(double x, const double *numbers)
{
    double power = numbers[1] * x + numbers[2];
    return numbers[0] == -1 ? exp(power) : pow(numbers[0], power);
}

static double logarithm(double x, const double *numbers)
{
    double value = log(numbers[1] * x + numbers[2]);
    return numbers[0] == -1 ? value : value / log(numbers[0]);
}

/* numbers: power, scale, shift */
static double power(double x, const double *numbers)
{
    return pow(numbers[1] * x + numbers[2], numbers[0]);
}

static aclnnStatus check_base(const aclsimArgument *numbers)
{
    SIM_ARGUMENT(numbers->number == -1 || numbers->number > 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected a number above 0, or -1 for e", numbers->name, numbers->number);
    return ACL_SUCCESS;
}

static const struct curve exponentials = {exponential, 3, check_base}, logarithms = {logarithm, 3, check_base},
                          powers = {power, 3, NULL};
static const struct sim_kernel exp_kernel = {plan_curve, run_curve, (void *)&exponentials, false},
                               log_kernel = {plan_curve, run_curve, (void *)&logarithms, false},
                               power_kernel = {plan_curve, run_curve, (void *)&powers, false};

#define PARAMETERS(first)                                                                                              \
    {                                                                                                                  \
        {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {first, ACLSIM_NUMBER, 0, false}, {"scale", ACLSIM_NUMBER, 0, false},  \
        {"shift", ACLSIM_NUMBER, 0, false}, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},                                   \
    }

static const struct sim_parameter based[] = PARAMETERS("base"), powered[] = PARAMETERS("power");

static double leaky_relu(double x, const double *numbers)
{
    return x > 0 ? x : numbers[0] * x;
}

static double swish(double x, const double *numbers)
{
    return x / (1 + exp(-numbers[0] * x));
}

static double relu6(double x, const double *numbers)
{
    (void)numbers;
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

static double hard_swish(double x, const double *numbers)
{
    return x <= -3 ? 0 : x * relu6(x + 3, numbers) / 6;
}

static const struct curve leaky_relus = {leaky_relu, 1, NULL}, swishes = {swish, 1, NULL}, relu6s = {relu6, 0, NULL},
                          hard_swishes = {hard_swish, 0, NULL};
static const struct sim_kernel leaky_kernel = {plan_curve, run_curve, (void *)&leaky_relus, false},
                               swish_kernel = {plan_curve, run_curve, (void *)&swishes, false},
                               relu6_kernel = {plan_curve, run_curve, (void *)&relu6s, false},
                               hard_swish_kernel = {plan_curve, run_curve, (void *)&hard_swishes, false};

#define ONE_NUMBER(name)                                                                                               \
    {                                                                                                                  \
        {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {name, ACLSIM_NUMBER, 0, false},                                       \
            {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},                                                                   \
    }

static const struct sim_parameter sloped[] = ONE_NUMBER("negative_slope"), scaled[] = ONE_NUMBER("scale");
static const struct sim_parameter plain[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                             {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_leaky_relu_row = SIM_ROW("LeakyRelu", SIM_TASK_VECTOR, sloped, &leaky_kernel),
               sim_op_swish_row = SIM_ROW("Swish", SIM_TASK_VECTOR, scaled, &swish_kernel),
               sim_op_relu6_row = SIM_ROW("Relu6", SIM_TASK_VECTOR, plain, &relu6_kernel),
               sim_op_hard_swish_row = SIM_ROW("HardSwish", SIM_TASK_VECTOR, plain, &hard_swish_kernel);

struct sim_row sim_op_exp_row = SIM_ROW("Exp", SIM_TASK_VECTOR, based, &exp_kernel);
struct sim_row sim_op_log_row = SIM_ROW("Log", SIM_TASK_VECTOR, based, &log_kernel);
struct sim_row sim_op_power_row = SIM_ROW("Power", SIM_TASK_VECTOR, powered, &power_kernel);
