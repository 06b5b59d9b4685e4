/* Activations that are curves: self, numbers, out. A NaN of self gives NaN, unless a comment says otherwise. */
#include "base/fail.h"
#include "curve.h"
#include "require.h"

#include <math.h>

#define ACTIVATION(name, types, ...)                                                                                   \
    static const struct sim_curve name = {.cu_in = (types), .cu_out = (types), .cu_run = name##_doubles, __VA_ARGS__}

/* ---- lines with bends ---- */

static double ramp(double x)
{
    return x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

SIM_CURVE(hard_sigmoid, ramp(a))
SIM_CURVE_INTEGERS(hard_sigmoid, a >= 3)
ACTIVATION(hard_sigmoid, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32), .cu_exact = true,
           .cu_run_integers = hard_sigmoid_integers);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Hardsigmoid, &hard_sigmoid);

SIM_CURVE(hard_swish, a * ramp(a))
ACTIVATION(hard_swish, SIM_TYPES_SINGLE, .cu_check = NULL);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Hardswish, &hard_swish);

SIM_CURVE(leaky_relu, a > 0 ? a : n[0] * a)
ACTIVATION(leaky_relu, SIM_TYPES_FLOAT, .cu_check = NULL);
SIM_CURVE_KERNEL_IN_PLACE_TOO(LeakyRelu, &leaky_relu);

/* A fraction is not a bound of integers. */
static aclnnStatus check_bounds(const struct sim_curve_call *call)
{
    for (size_t i = 0; i < call->cc_number_count; i++)
        SIM_TRY(sim_require_cast(call->cc_numbers[i]->name, sim_element_type(call->cc_numbers[i]),
                                 "the type of the input", call->cc_in[0]->tensors->type));
    return ACL_SUCCESS;
}

/* The upper bound wins if the bounds are in the wrong order. */
#define BETWEEN(low, high) (a < (low) ? ((low) > (high) ? (high) : (low)) : a > (high) ? (high) : a)
SIM_CURVE(hard_tanh, BETWEEN(n[0], n[1]))
SIM_CURVE_INTEGERS(hard_tanh, BETWEEN(n[0], n[1]))
ACTIVATION(hard_tanh, SIM_TYPES_FLOAT | SIM_TYPES_INTEGER, .cu_exact = true, .cu_check = check_bounds,
           .cu_run_integers = hard_tanh_integers);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Hardtanh, &hard_tanh);

/* The scalars take part in the promotion: integers with a fraction as the threshold or the value give fractions. */
static aclnnStatus check_promoted(const struct sim_curve_call *call)
{
    aclDataType met = call->cc_in[0]->tensors->type;
    for (size_t i = 0; i < call->cc_number_count; i++)
        met = sim_element_promote_scalar(met, sim_element_type(call->cc_numbers[i]));
    return sim_require_cast("the result", met, "the type of the output", call->cc_out->tensors->type);
}

SIM_CURVE(threshold, a <= n[0] ? n[1] : a)
SIM_CURVE_INTEGERS(threshold, a <= n[0] ? n[1] : a)
ACTIVATION(threshold, SIM_TYPES_SINGLE | SIM_TYPES_INTEGER, .cu_check = check_promoted,
           .cu_run_integers = threshold_integers);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Threshold, &threshold);

/* ---- lines with a gap around 0 ---- */

SIM_CURVE(hard_shrink, a >= -n[0] && a <= n[0] ? 0 : a)
ACTIVATION(hard_shrink, SIM_TYPES_SINGLE, .cu_check = NULL);
SIM_CURVE_KERNEL(Hardshrink, &hard_shrink);

static double shrink_by(double x, double gap, double bias)
{
    return x > gap ? x - bias : x < -gap ? x + bias : x != x ? x : 0;
}

SIM_CURVE(soft_shrink, shrink_by(a, n[0], n[0]))
ACTIVATION(soft_shrink, SIM_TYPES_SINGLE, .cu_check = sim_curve_check_first_number);
SIM_CURVE_KERNEL(Softshrink, &soft_shrink);

SIM_CURVE(shrink, shrink_by(a, n[0], n[1]))
ACTIVATION(shrink, SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16), .cu_check = sim_curve_check_first_number);
SIM_CURVE_KERNEL(Shrink, &shrink);

/* ---- functions with an exponential ---- */

static aclnnStatus check_alpha(const struct sim_curve_call *call)
{
    SIM_ARGUMENT(sim_curve_number(call->cc_numbers[0]) != 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is 0, expected another number", call->cc_numbers[0]->name);
    return ACL_SUCCESS;
}

SIM_CURVE(celu, a > 0 ? a : n[0] * expm1(a / n[0]))
ACTIVATION(celu, SIM_TYPES_SINGLE, .cu_check = check_alpha);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Celu, &celu);

/* Integers are truncated towards 0. */
SIM_CURVE(selu, SIM_SELU_SCALE * (a > 0 ? a : SIM_SELU_ALPHA * expm1(a)))
ACTIVATION(selu, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT8), .cu_check = NULL);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Selu, &selu);

/* x * tanh(log(1 + exp(x))) without cancellation. Above 40, exp(x) could overflow, and the tangent is 1. */
static double mish_of(double x)
{
    double power = exp(x), part = power * (power + 2);
    return x > 40 ? x : x * (part / (part + 2));
}

SIM_CURVE(mish, mish_of(a))
ACTIVATION(mish, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL_IN_PLACE_TOO(Mish, &mish);

SIM_CURVE(swish, a / (1 + exp(-n[0] * a)))
ACTIVATION(swish, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(Swish, &swish);

/* The second output of aclnnLogSigmoidForward is not written: the gradient does not need it. */
SIM_CURVE(log_sigmoid, (a < 0 ? a : 0) - log1p(exp(-fabs(a))))
ACTIVATION(log_sigmoid, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(LogSigmoid, &log_sigmoid);
SIM_CURVE_KERNEL(LogSigmoidForward, &log_sigmoid);
