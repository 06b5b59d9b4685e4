/* Sums with a product or a quotient, and linear interpolation. Float32 and half precision are computed in double,
 * because the summands may cancel, and rounded once. */
#include "formula.h"

#include "base/fail.h"
#include "require.h"
#include <math.h>

/* ---- self + value * tensor1 * tensor2, self + value * tensor1 / tensor2 ---- */

SIM_EACH_BITS(add_product, a + d * b * c)
SIM_EACH_FLOAT(add_product, a + (double)d * b * c)
#define MULTIPLIED (SIM_TYPES_FLOAT | SIM_TYPES_INDEX | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8))
static const struct sim_formula sum_with_product = {.fo_result = "the sum",
                                                    .fo_in = MULTIPLIED,
                                                    .fo_out = MULTIPLIED,
                                                    .fo_meeting = 3,
                                                    .fo_run = {SIM_RUN_REAL(add_product)}};
SIM_FORMULA_KERNEL(Addcmul, &sum_with_product);
SIM_FORMULA_KERNEL(InplaceAddcmul, &sum_with_product);

static aclnnStatus check_quotient(const struct sim_formula_call *call)
{
    const aclsimArgument *one = call->fc_in[1], *other = call->fc_in[2];
    SIM_ARGUMENT(sim_element_is(one->tensors->type, SIM_TYPES_FLOAT) ||
                     sim_element_is(other->tensors->type, SIM_TYPES_FLOAT),
                 ACLNN_ERR_PARAM_INVALID, "%s and %s are both int64, expected a floating-point type for one of them",
                 one->name, other->name);
    return ACL_SUCCESS;
}

SIM_EACH_FLOAT(add_quotient, a + (double)d * b / c)
#define DIVIDED (SIM_TYPES_FLOAT | SIM_TYPE(ACL_INT64))
static const struct sim_formula sum_with_quotient = {.fo_result = "the sum",
                                                     .fo_in = DIVIDED,
                                                     .fo_out = DIVIDED,
                                                     .fo_meeting = 3,
                                                     .fo_check = check_quotient,
                                                     .fo_run = {SIM_RUN_FLOAT(add_quotient)}};
SIM_FORMULA_KERNEL(Addcdiv, &sum_with_quotient);
SIM_FORMULA_KERNEL(InplaceAddcdiv, &sum_with_quotient);

/* ---- interpolation ---- */

/* Starts at the nearer end, so that the weight 1 gives exactly the end. */
static double between(double start, double end, double weight)
{
    return fabs(weight) < 0.5 ? start + weight * (end - start) : end - (end - start) * (1 - weight);
}

/* All tensors have the type of self. */
static aclnnStatus check_types(const struct sim_formula_call *call)
{
    const aclsimArgument *self = call->fc_in[0];
    for (size_t i = 1; i < call->fc_count; i++)
        if (call->fc_in[i]->kind == ACLSIM_TENSOR)
            SIM_TRY(sim_require_same_type(call->fc_in[i], self->tensors->type, self->name));
    return ACL_SUCCESS;
}

SIM_EACH_SINGLE(interpolate, between(a, b, c))
#define INTERPOLATION(formula, out, ...)                                                                               \
    static const struct sim_formula formula = {.fo_result = "the interpolated value",                                  \
                                               .fo_in = SIM_TYPES_SINGLE,                                              \
                                               .fo_out = (out),                                                        \
                                               .fo_check = check_types,                                                \
                                               .fo_run = {[SIM_CLASS_FLOAT] = interpolate_floats},                     \
                                               __VA_ARGS__}

INTERPOLATION(interpolation, SIM_TYPES_SINGLE, .fo_exact = true, .fo_meeting = 3);
SIM_FORMULA_KERNEL(Lerp, &interpolation);
SIM_FORMULA_KERNEL(InplaceLerp, &interpolation);

INTERPOLATION(interpolation_by_scalar, SIM_TYPES_FLOAT, .fo_scalars = SIM_TYPES_REAL);
SIM_FORMULA_KERNEL(Lerps, &interpolation_by_scalar);
SIM_FORMULA_KERNEL(InplaceLerps, &interpolation_by_scalar);
