/* Functions of two operands with fractional values. Integers are computed in float32. */
#include "formula.h"
#include <tgmath.h>

#define FUNCTION(formula, name, in, out, ...)                                                                          \
    static const struct sim_formula formula = {.fo_result = "the result",                                              \
                                               .fo_in = (in),                                                          \
                                               .fo_out = (out),                                                        \
                                               .fo_type = sim_formula_fractional,                                      \
                                               .fo_run = {SIM_RUN_FLOAT(name)},                                        \
                                               __VA_ARGS__}

SIM_EACH_FLOAT(take_angle, atan2(a, b))
FUNCTION(angle, take_angle, SIM_TYPES_REAL, SIM_TYPES_FLOAT, .fo_scalars = 0);
SIM_FORMULA_KERNEL(Atan2, &angle);
SIM_FORMULA_KERNEL(InplaceAtan2, &angle);

/* ---- logarithms of sums of powers ---- */

/* The distance of equal infinities is 0, too. These are computed in double, because the summands may cancel. */
static double distance(double a, double b)
{
    return a == b ? 0 : fabs(a - b);
}

#define SUMMED (SIM_TYPES_REAL | SIM_TYPES_UNSIGNED)
#define LOG2_E 1.44269504088896340736

SIM_EACH_FLOAT(add_powers, (a > b ? a : b) + log1p(exp(-distance(a, b))))
FUNCTION(log_of_sum, add_powers, SUMMED, SIM_TYPES_SINGLE, .fo_scalars = 0);
SIM_FORMULA_KERNEL(LogAddExp, &log_of_sum);

SIM_EACH_FLOAT(add_powers_of_2, (a > b ? a : b) + LOG2_E * log1p(exp2(-distance(a, b))))
FUNCTION(log2_of_sum, add_powers_of_2, SUMMED, SIM_TYPES_SINGLE, .fo_scalars = 0);
SIM_FORMULA_KERNEL(LogAddExp2, &log2_of_sum);

/* ---- products with a logarithm: 0 if the factor is 0, also where the logarithm is infinite ---- */

SIM_EACH_FLOAT(multiply_log, a == 0 && b == b ? 0 : a * log(b))
#define FACTORS (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE)
FUNCTION(log_product, multiply_log, FACTORS, FACTORS, .fo_scalars = SIM_TYPES_REAL);
SIM_FORMULA_KERNEL(XLogYTensor, &log_product);
SIM_FORMULA_KERNEL(XLogYScalarOther, &log_product);
SIM_FORMULA_KERNEL(XLogYScalarSelf, &log_product);
SIM_FORMULA_KERNEL(InplaceXLogYTensor, &log_product);
SIM_FORMULA_KERNEL(InplaceXLogYScalarOther, &log_product);
