/* Functions of one operand, and activations. A function with fractional values computes integers in the type of the
 * result; the other functions keep the type of the operand. */
#include "formula.h"
#include "vector.h"
#include <tgmath.h>

#define IN_PLACE_TOO(op, formula)                                                                                      \
    SIM_FORMULA_KERNEL(op, formula);                                                                                   \
    SIM_FORMULA_KERNEL(Inplace##op, formula)

/* A function of floats whose loop is in vector.c. */
#define EACH_VECTOR(name, function)                                                                                    \
    static void name##_floats(void *restrict to, const void *const *from, size_t count)                                \
    {                                                                                                                  \
        function(to, from[0], count);                                                                                  \
    }
#define EACH_DOUBLE(name, expression) SIM_EACH(name##_doubles, double, bv_doubles, bv_doubles, expression)

/* ---- functions that keep the type ---- */

SIM_EACH_BITS(negate, 0 - a)
SIM_EACH_FLOAT(negate, -a)
SIM_EACH_PAIR(negate, -a)
#define NEGATED                                                                                                        \
    (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64) | SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX)
static const struct sim_formula negative = {.fo_result = "the negative",
                                            .fo_in = NEGATED,
                                            .fo_out = NEGATED,
                                            .fo_run = {SIM_RUN_REAL(negate), SIM_RUN_PAIR(negate)}};
IN_PLACE_TOO(Neg, &negative);

static aclDataType size_type(aclDataType type)
{
    return type == ACL_COMPLEX64 ? ACL_FLOAT : type;
}

SIM_EACH_BITS(size, (int64_t)a < 0 ? 0 - a : a)
SIM_EACH_FLOAT(size, fabs(a))
SIM_EACH(size_float_pairs, float _Complex, bv_floats, bv_float_pairs, fabs(a))
static const struct sim_formula absolute = {.fo_result = "the absolute value",
                                            .fo_in = SIM_TYPES_REAL | SIM_TYPE(ACL_COMPLEX64),
                                            .fo_out = SIM_TYPES_REAL,
                                            .fo_exact = true,
                                            .fo_gives = size_type,
                                            .fo_run = {SIM_RUN_REAL(size),
                                                       [SIM_CLASS_COMPLEX_FLOAT] = size_float_pairs}};
SIM_FORMULA_KERNEL(Abs, &absolute);

SIM_EACH_INTEGER(rectify, a > 0 ? a : 0)
SIM_EACH_SINGLE(rectify, a <= 0 ? 0 : a) /* NaN stays */
#define RECTIFIED                                                                                                      \
    (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_UINT8) | SIM_TYPES_SINGLE)
static const struct sim_formula relu = {.fo_result = "the rectified value",
                                        .fo_in = RECTIFIED,
                                        .fo_out = RECTIFIED,
                                        .fo_exact = true,
                                        .fo_run = {[SIM_CLASS_INTEGER] = rectify_integers,
                                                   [SIM_CLASS_FLOAT] = rectify_floats}};
IN_PLACE_TOO(Relu, &relu);

/* ---- functions with fractional values ---- */

static aclDataType has_fractions(aclDataType met, aclDataType out)
{
    return sim_element_is(met, SIM_TYPES_BOOL | SIM_TYPES_INTEGER) ? out : met;
}

#define FUNCTION(formula, name, in, ...)                                                                               \
    static const struct sim_formula formula = {.fo_result = "the result",                                              \
                                               .fo_in = (in),                                                          \
                                               .fo_out = SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX,                          \
                                               .fo_type = has_fractions,                                               \
                                               .fo_run = {SIM_RUN_FLOAT(name), SIM_RUN_PAIR(name)},                    \
                                               __VA_ARGS__}

static aclnnStatus check_exponential(const struct sim_formula_call *call)
{
    aclDataType out = call->fc_out->tensors->type;
    SIM_ARGUMENT(sim_element_is(call->fc_met, SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX) ||
                     sim_element_is(out, SIM_TYPES_FLOAT),
                 ACLNN_ERR_PARAM_INVALID, "%s is %s and %s is %s, expected a real floating-point type for the latter",
                 call->fc_in[0]->name, sim_element_name(call->fc_met), call->fc_out->name, sim_element_name(out));
    return ACL_SUCCESS;
}

EACH_VECTOR(raise, sim_vector_exp)
EACH_DOUBLE(raise, exp(a))
SIM_EACH_PAIR(raise, exp(a))
FUNCTION(exponential, raise, SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX | SIM_TYPES_BOOL | SIM_TYPE(ACL_INT64),
         .fo_check = check_exponential);
IN_PLACE_TOO(Exp, &exponential);

SIM_EACH_FLOAT(take_log, log(a))
SIM_EACH_PAIR(take_log, log(a))
FUNCTION(logarithm, take_log, SIM_TYPES_ARITHMETIC, .fo_check = NULL);
IN_PLACE_TOO(Log, &logarithm);

SIM_EACH_FLOAT(take_root, sqrt(a))
SIM_EACH_PAIR(take_root, sqrt(a))
FUNCTION(root, take_root, SIM_TYPES_ARITHMETIC, .fo_check = NULL);
IN_PLACE_TOO(Sqrt, &root);

SIM_EACH_FLOAT(divide_by_root, 1 / sqrt(a))
SIM_EACH_PAIR(divide_by_root, 1 / sqrt(a))
FUNCTION(inverse_root, divide_by_root, SIM_TYPES_ARITHMETIC, .fo_check = NULL);
IN_PLACE_TOO(Rsqrt, &inverse_root);

EACH_VECTOR(squash, sim_vector_sigmoid)
EACH_DOUBLE(squash, 1 / (1 + exp(-a)))
SIM_EACH_PAIR(squash, 1 / (1 + exp(-a)))
FUNCTION(sigmoid, squash, SIM_TYPES_ARITHMETIC, .fo_check = NULL);
IN_PLACE_TOO(Sigmoid, &sigmoid);

EACH_VECTOR(take_tanh, sim_vector_tanh)
static const struct sim_formula tangent = {.fo_result = "the result",
                                           .fo_in = SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE,
                                           .fo_out = SIM_TYPES_SINGLE,
                                           .fo_type = has_fractions,
                                           .fo_run = {[SIM_CLASS_FLOAT] = take_tanh_floats}};
IN_PLACE_TOO(Tanh, &tangent);

/* ---- activations of float32 and half precision ---- */

#define ACTIVATION(name)                                                                                               \
    {                                                                                                                  \
        .fo_result = "the activation", .fo_in = SIM_TYPES_SINGLE, .fo_out = SIM_TYPES_SINGLE, .fo_exact = true,        \
        .fo_run = {[SIM_CLASS_FLOAT] = name##_floats}, .fo_modes = 2                                                   \
    }

EACH_VECTOR(weigh, sim_vector_gelu)
EACH_VECTOR(weigh_by_tanh, sim_vector_gelu_by_tanh)
static const struct sim_formula gelus[] = {ACTIVATION(weigh), ACTIVATION(weigh_by_tanh)};
SIM_FORMULA_KERNEL(Gelu, &gelus[1]); /* its page gives only the formula with tanh */
SIM_FORMULA_KERNEL(GeluV2, gelus);

EACH_VECTOR(weigh_by_sigmoid, sim_vector_silu)
static const struct sim_formula silu = ACTIVATION(weigh_by_sigmoid);
SIM_FORMULA_KERNEL(Silu, &silu);
