/* Functions of one operand: FastGelu (self, out), Elu and Softplus (self, scalars, out), and the single operators
 * Exp, Log and Power with a base or exponent, a scale and a shift, LeakyRelu, Swish, Relu6 and HardSwish. */
#include "base/fail.h"
#include "curve.h"
#include "operator/op.h"
#include "tables.h"

#include <math.h>

#define OF_FLOATS(name, ...)                                                                                           \
    static const struct sim_curve name = {                                                                             \
        .cu_in = SIM_TYPES_FLOAT, .cu_out = SIM_TYPES_FLOAT, .cu_run = name##_doubles, __VA_ARGS__}
#define ROW_KERNEL(name)                                                                                               \
    static const struct sim_kernel name##_kernel = {sim_curve_plan, sim_curve_run, (void *)&name, true}

/* n: alpha, scale, inputScale */
SIM_CURVE(elu, a > 0 ? n[1] * a : n[0] * n[1] * expm1(n[2] * a))
OF_FLOATS(elu, .cu_check = NULL);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Elu, &elu);

/* Beyond the threshold the result is x. */
static double soften(double x, double beta, double threshold)
{
    double scaled = beta * x;
    return scaled > threshold ? x : (scaled > 0 ? scaled + log1p(exp(-scaled)) : log1p(exp(scaled))) / beta;
}

SIM_CURVE(softplus, soften(a, n[0], n[1]))
OF_FLOATS(softplus, .cu_check = NULL);
SIM_CURVE_KERNEL(Softplus, &softplus);

SIM_CURVE(fast_gelu, a / (1 + exp(-1.702 * a)))
static const struct sim_curve fast_gelu = {
    .cu_in = SIM_TYPES_SINGLE, .cu_out = SIM_TYPES_SINGLE, .cu_exact = true, .cu_run = fast_gelu_doubles};
SIM_CURVE_KERNEL(FastGelu, &fast_gelu);

/* ---- single operators ---- */

static aclnnStatus check_base(const struct sim_curve_call *call)
{
    const aclsimArgument *base = call->cc_numbers[0];
    SIM_ARGUMENT(base->number == -1 || base->number > 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected a number above 0, or -1 for e", base->name, base->number);
    return ACL_SUCCESS;
}

/* n: base (-1 for e), scale, shift */
SIM_CURVE(exponential, n[0] == -1 ? exp(n[1] * a + n[2]) : pow(n[0], n[1] * a + n[2]))
OF_FLOATS(exponential, .cu_check = check_base);
ROW_KERNEL(exponential);

SIM_CURVE(logarithm, log(n[1] * a + n[2]) / (n[0] == -1 ? 1 : log(n[0])))
OF_FLOATS(logarithm, .cu_check = check_base);
ROW_KERNEL(logarithm);

/* n: power, scale, shift */
SIM_CURVE(power, pow(n[1] * a + n[2], n[0]))
OF_FLOATS(power, .cu_check = NULL);
ROW_KERNEL(power);

#define PARAMETERS(first)                                                                                              \
    {                                                                                                                  \
        {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {first, ACLSIM_NUMBER, 0, false}, {"scale", ACLSIM_NUMBER, 0, false},  \
        {"shift", ACLSIM_NUMBER, 0, false}, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},                                   \
    }

static const struct sim_parameter based[] = PARAMETERS("base"), powered[] = PARAMETERS("power");

SIM_CURVE(leaky_relu, a > 0 ? a : n[0] * a)
OF_FLOATS(leaky_relu, .cu_check = NULL);
ROW_KERNEL(leaky_relu);

SIM_CURVE(swish, a / (1 + exp(-n[0] * a)))
OF_FLOATS(swish, .cu_check = NULL);
ROW_KERNEL(swish);

SIM_CURVE(relu6, a < 0 ? 0 : a > 6 ? 6 : a)
OF_FLOATS(relu6, .cu_check = NULL);
ROW_KERNEL(relu6);

SIM_CURVE(hard_swish, a <= -3 ? 0 : a * (a > 3 ? 6 : a + 3) / 6)
OF_FLOATS(hard_swish, .cu_check = NULL);
ROW_KERNEL(hard_swish);

#define ONE_NUMBER(name)                                                                                               \
    {                                                                                                                  \
        {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {name, ACLSIM_NUMBER, 0, false},                                       \
            {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},                                                                   \
    }

static const struct sim_parameter sloped[] = ONE_NUMBER("negative_slope"), scaled[] = ONE_NUMBER("scale");
static const struct sim_parameter plain[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                             {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_leaky_relu_row = SIM_ROW("LeakyRelu", SIM_TASK_VECTOR, sloped, &leaky_relu_kernel),
               sim_op_swish_row = SIM_ROW("Swish", SIM_TASK_VECTOR, scaled, &swish_kernel),
               sim_op_relu6_row = SIM_ROW("Relu6", SIM_TASK_VECTOR, plain, &relu6_kernel),
               sim_op_hard_swish_row = SIM_ROW("HardSwish", SIM_TASK_VECTOR, plain, &hard_swish_kernel);

struct sim_row sim_op_exp_row = SIM_ROW("Exp", SIM_TASK_VECTOR, based, &exponential_kernel);
struct sim_row sim_op_log_row = SIM_ROW("Log", SIM_TASK_VECTOR, based, &logarithm_kernel);
struct sim_row sim_op_power_row = SIM_ROW("Power", SIM_TASK_VECTOR, powered, &power_kernel);
