/* Activations that several operators share: Gelu, which is x times the normal distribution function, its approximation
 * with a hyperbolic tangent, the argument that selects one of the two, and slopes; Relu, FastGelu and SiLU. */
#ifndef OPS_SMOOTH_H
#define OPS_SMOOTH_H

#include "base/fail.h"
#include "report.h"
#include <acl/acl_sim.h>
#include <math.h>
#include <string.h>

#define SIM_GELU_CUBE 0.044715
#define SIM_GELU_FACTOR (M_2_SQRTPI * M_SQRT2) /* 2 * sqrt(2 / pi) */

/* These forms avoid cancellation for negative x: 1 + erf(x) is erfc(-x), 1 + tanh(x) is 2 / (1 + exp(-2x)). */
static inline double sim_gelu(double x)
{
    return 0.5 * x * erfc(-x * M_SQRT1_2);
}

static inline double sim_gelu_inner(double x)
{
    return SIM_GELU_FACTOR * (x + SIM_GELU_CUBE * x * x * x);
}

static inline double sim_gelu_by_tanh(double x)
{
    return x / (1 + exp(-sim_gelu_inner(x)));
}

static inline double sim_gelu_slope(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2) + x * (0.5 * M_2_SQRTPI * M_SQRT1_2) * exp(-0.5 * x * x);
}

static inline double sim_gelu_slope_by_tanh(double x)
{
    double inner = sim_gelu_inner(x), part = 1 / (1 + exp(-inner));
    return part + x * (SIM_GELU_FACTOR * (1 + 3 * SIM_GELU_CUBE * x * x)) * (part / (1 + exp(inner)));
}

/* The slope of x * sigmoid(beta * x). */
static inline double sim_swish_slope(double x, double beta)
{
    double part = 1 / (1 + exp(-beta * x));
    return part + beta * x * part / (1 + exp(beta * x));
}

static inline double sim_relu(double x)
{
    return x <= 0 ? 0 : x;
}

static inline double sim_fast_gelu(double x)
{
    return x / (1 + exp(-1.702 * x));
}

static inline double sim_silu(double x)
{
    return x / (1 + exp(-x));
}

/* `approximate` is 0 or 1, or "none" or "tanh"; a text that is absent is "none". */
static inline aclnnStatus sim_gelu_require(const aclsimArgument *approximate, bool *by_tanh)
{
    *by_tanh = false;
    if (!approximate->present)
        return ACL_SUCCESS;
    if (approximate->kind != ACLSIM_TEXT) {
        *by_tanh = approximate->integer == 1;
        SIM_ARGUMENT(approximate->integer == 0 || *by_tanh, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 0 to 1",
                     approximate->name, (long long)approximate->integer);
        return ACL_SUCCESS;
    }
    *by_tanh = strcmp(approximate->text, "tanh") == 0;
    if (!*by_tanh && strcmp(approximate->text, "none") != 0)
        sim_report_text(approximate->name, "none");
    SIM_ARGUMENT(*by_tanh || strcmp(approximate->text, "none") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%s\", expected none or tanh", approximate->name, approximate->text);
    return ACL_SUCCESS;
}

#endif
