/* Complex numbers from and to real ones: Complex (real, imag, out), Polar (input, angle, out) and AngleV2 (x, out). */
#include "formula.h"
#include "require.h"
#include <tgmath.h>

#define PI 3.14159265358979323846

/* Makes pairs of the values of two expressions of a and b. */
#define PAIRS(name, type, first, second)                                                                               \
    static void name(void *restrict to, const void *const *from, size_t count)                                         \
    {                                                                                                                  \
        const type *as = from[0], *bs = from[1];                                                                       \
        type *parts = to;                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type a = as[i], b = bs[i];                                                                           \
            parts[2 * i] = (first);                                                                                    \
            parts[2 * i + 1] = (second);                                                                               \
        }                                                                                                              \
    }

static aclDataType gives_pairs(aclDataType type)
{
    return type == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
}

static aclnnStatus check_alike(const struct sim_formula_call *call)
{
    return sim_require_same_type(call->fc_in[1], call->fc_in[0]->tensors->type, call->fc_in[0]->name);
}

PAIRS(join_floats, float, a, b)
PAIRS(join_doubles, double, a, b)
static const struct sim_formula joined = {.fo_result = "the complex number",
                                          .fo_in = SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_DOUBLE),
                                          .fo_out = SIM_TYPES_COMPLEX,
                                          .fo_exact = true,
                                          .fo_gives = gives_pairs,
                                          .fo_check = check_alike,
                                          .fo_run = {SIM_RUN_FLOAT(join)}};
SIM_FORMULA_KERNEL(Complex, &joined);

PAIRS(turn_floats, float, (float)(a * cos((double)b)), (float)(a * sin((double)b)))
static const struct sim_formula turned = {.fo_result = "the complex number",
                                          .fo_in = SIM_TYPE(ACL_FLOAT),
                                          .fo_out = SIM_TYPE(ACL_COMPLEX64),
                                          .fo_exact = true,
                                          .fo_gives = gives_pairs,
                                          .fo_check = check_alike,
                                          .fo_run = {[SIM_CLASS_FLOAT] = turn_floats}};
SIM_FORMULA_KERNEL(Polar, &turned);

/* ---- the angle: of a real number it is 0 or pi, and of NaN it is NaN ---- */

static aclDataType gives_angle(aclDataType type)
{
    return type == ACL_COMPLEX64 ? ACL_FLOAT : type;
}

SIM_EACH_SINGLE(angle, a != a ? a : a < 0 ? (float)PI : 0)
SIM_EACH(angle_float_pairs, float _Complex, bv_floats, bv_float_pairs, carg(a))
static const struct sim_formula angle = {.fo_result = "the angle",
                                         .fo_in = SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE |
                                                  SIM_TYPE(ACL_COMPLEX64),
                                         .fo_out = SIM_TYPES_SINGLE,
                                         .fo_exact = true,
                                         .fo_type = sim_formula_fractional,
                                         .fo_gives = gives_angle,
                                         .fo_run = {[SIM_CLASS_FLOAT] = angle_floats,
                                                    [SIM_CLASS_COMPLEX_FLOAT] = angle_float_pairs}};
SIM_FORMULA_KERNEL(AngleV2, &angle);
