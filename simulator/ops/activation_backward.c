/* Gradients of activations: a is the gradient of the output, b the input of the activation, or its output where the
 * schema says so. At the ends of a line, and for NaN, the branch is that of PyTorch. */
#include "base/fail.h"
#include "curve.h"
#include "formula.h"
#include "require.h"
#include "smooth.h"

#include <tgmath.h>

#define GRADIENT(name, types, ...)                                                                                     \
    static const struct sim_curve name = {.cu_in = (types), .cu_out = (types), .cu_run = name##_doubles, __VA_ARGS__}

/* ---- gradients from the output ---- */

SIM_EACH_FLOAT(sigmoid, a * ((1 - b) * b))
SIM_EACH_PAIR(sigmoid, a * conj((1 - b) * b))
static const struct sim_formula sigmoid = {.fo_result = "the gradient",
                                           .fo_in = SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX,
                                           .fo_out = SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX,
                                           .fo_run = {SIM_RUN_FLOAT(sigmoid), SIM_RUN_PAIR(sigmoid)}};
SIM_FORMULA_KERNEL(SigmoidBackward, &sigmoid);

SIM_CURVE(tangent, a * ((1 - b) * (1 + b)))
GRADIENT(tangent, SIM_TYPES_FLOAT, .cu_exact = true, .cu_broadcasts = true);
SIM_CURVE_KERNEL(TanhBackward, &tangent);

SIM_CURVE(selu, SIM_SELU_SCALE * a * (b > 0 ? 1 : b / SIM_SELU_SCALE + SIM_SELU_ALPHA))
GRADIENT(selu, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT8), .cu_check = NULL);
SIM_CURVE_KERNEL(SeluBackward, &selu);

/* ---- from the input ---- */

static double fast_gelu_slope(double x)
{
    const double part = 1 / (1 + exp(-1.702 * x));
    return part + (part == 0 || part == 1 ? 0 : 1.702 * x * part * (1 - part)); /* not infinity times 0 */
}

SIM_CURVE(fast_gelu, a * fast_gelu_slope(b))
GRADIENT(fast_gelu, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(FastGeluBackward, &fast_gelu);

/* ---- lines with bends ---- */

SIM_CURVE(hard_sigmoid, b > -3 && b < 3 ? a / 6 : 0)
GRADIENT(hard_sigmoid, SIM_TYPES_SINGLE, .cu_check = NULL);
SIM_CURVE_KERNEL(HardsigmoidBackward, &hard_sigmoid);

SIM_CURVE(hard_swish, b <= -3 ? 0 : b < 3 ? a * (b / 3 + 0.5) : a)
GRADIENT(hard_swish, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(HardswishBackward, &hard_swish);
SIM_CURVE_KERNEL(HardswishBackwardV2, &hard_swish);

SIM_CURVE(hard_tanh, b <= n[0] || b >= n[1] ? 0 : a)
GRADIENT(hard_tanh, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(HardtanhBackward, &hard_tanh);

/* n: negativeSlope, selfIsResult: the output has the sign of the input unless the slope is negative */
SIM_CURVE(leaky_relu, b > 0 ? a : n[0] * a)
GRADIENT(leaky_relu, SIM_TYPES_FLOAT, .cu_broadcasts = true);
SIM_CURVE_KERNEL(LeakyReluBackward, &leaky_relu);

SIM_CURVE(threshold, b <= n[0] ? 0 : a)
GRADIENT(threshold, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8),
         .cu_exact = true, .cu_broadcasts = true);
SIM_CURVE_KERNEL(ThresholdBackward, &threshold);

SIM_CURVE(hard_shrink, b >= -n[0] && b <= n[0] ? 0 : a)
GRADIENT(hard_shrink, SIM_TYPES_SINGLE, .cu_exact = true, .cu_broadcasts = true);
SIM_CURVE_KERNEL(HardshrinkBackward, &hard_shrink);

static const struct sim_curve soft_shrink = {.cu_in = SIM_TYPES_SINGLE,
                                             .cu_out = SIM_TYPES_SINGLE,
                                             .cu_exact = true,
                                             .cu_broadcasts = true,
                                             .cu_check = sim_curve_check_first_number,
                                             .cu_run = hard_shrink_doubles};
SIM_CURVE_KERNEL(SoftshrinkBackward, &soft_shrink);

/* ---- functions with an exponential ---- */

/* n: alpha, scale, inputScale, isResult. An output belongs to one input only if alpha is not negative. */
static aclnnStatus check_elu(const struct sim_curve_call *call)
{
    const aclsimArgument *gradient = call->cc_in[0];
    if (sim_curve_number(call->cc_numbers[3]) != 0)
        SIM_TRY(sim_curve_check_first_number(call));
    return sim_require_same_type(call->cc_in[1], gradient->tensors->type, gradient->name);
}

SIM_CURVE(elu, a * (b > 0        ? n[1]
                    : n[3] != 0 ? n[2] * (b + n[0] * n[1])
                                : n[2] * n[0] * n[1] * exp(n[2] * b)))
GRADIENT(elu, SIM_TYPES_SINGLE, .cu_check = check_elu);
SIM_CURVE_KERNEL(EluBackward, &elu);

/* x may have integers, but the gradient has fractions. */
static aclnnStatus check_softplus(const struct sim_curve_call *call)
{
    return sim_require_type(call->cc_in[0], SIM_TYPES_FLOAT);
}

/* n: beta, threshold */
SIM_CURVE(softplus, b * n[0] > n[1] ? a : a / (1 + exp(-b * n[0])))
static const struct sim_curve softplus = {.cu_in = SIM_TYPES_REAL,
                                          .cu_out = SIM_TYPES_FLOAT,
                                          .cu_broadcasts = true,
                                          .cu_check = check_softplus,
                                          .cu_run = softplus_doubles};
SIM_CURVE_KERNEL(SoftplusBackward, &softplus);

SIM_CURVE(silu, a * sim_swish_slope(b, 1))
GRADIENT(silu, SIM_TYPES_SINGLE, .cu_exact = true, .cu_broadcasts = true);
SIM_CURVE_KERNEL(SiluBackward, &silu);

SIM_CURVE(swish, a * sim_swish_slope(b, n[0]))
GRADIENT(swish, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(SwishBackward, &swish);

/* With t = tanh(log(1 + exp(x))), the slope is t + x * sigmoid(x) * (1 - t * t). Above 40, exp(x) could overflow, and
 * t is 1. */
static double mish_slope(double x)
{
    double power = exp(x), part = power * (power + 2), ends = part + 2;
    double tangent = x > 40 ? 1 : part / ends, rest = x > 40 ? 0 : 4 * (part + 1) / (ends * ends);
    return tangent + x / (1 + exp(-x)) * rest;
}

SIM_CURVE(mish, a * mish_slope(b))
GRADIENT(mish, SIM_TYPES_SINGLE, .cu_broadcasts = true);
SIM_CURVE_KERNEL(MishBackward, &mish);

SIM_CURVE(log_sigmoid, a / (1 + exp(b)))
GRADIENT(log_sigmoid, SIM_TYPES_SINGLE, .cu_exact = true);

/* buffer is the second output of aclnnLogSigmoidForward. It is not read, so it may be empty. */
static aclnnStatus plan_log_sigmoid(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[1], *buffer = &call->arguments[2];
    SIM_TRY(sim_curve_plan(call, workspace_size));
    SIM_TRY(sim_require_same_type(buffer, self->tensors->type, self->name));
    if (sim_walk_is_empty(buffer->tensors->dims, buffer->tensors->rank))
        return ACL_SUCCESS;
    return sim_require_shape(buffer, self->tensors->dims, self->tensors->rank, "that of self");
}
const struct sim_kernel sim_kernel_aclnnLogSigmoidBackward = {plan_log_sigmoid, sim_curve_run, (void *)&log_sigmoid,
                                                              true};

/* a is the input, b the gradient. n: eps, by which the ends of 0 to 1 are cut off; if it is negative, nothing is cut
 * off, and the logarithm does not exist outside. */
SIM_CURVE(logit, n[0] < 0 ? (a < 0 || a > 1 ? NAN : b / (a * (1 - a)))
                          : (a < n[0] || a > 1 - n[0] ? 0 : b / (a * (1 - a))))
GRADIENT(logit, SIM_TYPES_SINGLE, .cu_exact = true);
SIM_CURVE_KERNEL(LogitGrad, &logit);

/* ---- Gelu ---- */

SIM_CURVE(gelu, a * sim_gelu_slope(b))
GRADIENT(gelu, SIM_TYPES_SINGLE, .cu_broadcasts = true);

SIM_CURVE(gelu_by_tanh, a * sim_gelu_slope_by_tanh(b))
GRADIENT(gelu_by_tanh, SIM_TYPES_SINGLE, .cu_broadcasts = true);
SIM_CURVE_KERNEL(GeluBackward, &gelu_by_tanh); /* the gradient of Gelu, which uses tanh */

static aclnnStatus plan_gelu(const aclsimCall *call, uint64_t *workspace_size)
{
    bool by_tanh = false;
    SIM_TRY(sim_gelu_require(&call->arguments[2], &by_tanh));
    return sim_curve_plan(call, workspace_size);
}

static aclError run_gelu(const aclsimCall *call)
{
    aclsimCall chosen = *call;
    bool by_tanh = false;
    SIM_TRY(sim_gelu_require(&call->arguments[2], &by_tanh));
    chosen.userData = (void *)(by_tanh ? &gelu_by_tanh : &gelu);
    return sim_curve_run(&chosen);
}
const struct sim_kernel sim_kernel_aclnnGeluBackwardV2 = {plan_gelu, run_gelu, (void *)&gelu, true};
