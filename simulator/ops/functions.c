/* Functions of one operand with fractional values: trigonometry, hyperbolic functions, logarithms and powers, the error
 * function and others. Integers and bools are computed in float. Float is computed in double where the C library is not
 * precise enough in float, or where the formula cancels. */
#include "formula.h"
#include <tgmath.h>

#define WHOLE (SIM_TYPES_BOOL | SIM_TYPES_INTEGER)
#define FRACTIONS (SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX)
#define NO_BFLOAT (SIM_TYPES_FLOAT & ~SIM_TYPE(ACL_BF16))

#define FORMULA(name, in, out, ...)                                                                                    \
    static const struct sim_formula name = {.fo_result = "the result",                                                 \
                                            .fo_in = (in),                                                             \
                                            .fo_out = (out),                                                           \
                                            .fo_type = sim_formula_fractional,                                         \
                                            .fo_run = {__VA_ARGS__}}

#define FUNCTION(op, name, in, out, ...)                                                                               \
    FORMULA(name, in, out, __VA_ARGS__);                                                                               \
    SIM_FORMULA_KERNEL(op, &(name));                                                                                   \
    SIM_FORMULA_KERNEL(Inplace##op, &(name))

#define REAL_FUNCTION(op, name, in, out, expression)                                                                   \
    SIM_EACH_FLOAT(name, expression)                                                                                   \
    FUNCTION(op, name, in, out, SIM_RUN_FLOAT(name))

#define COMPLEX_FUNCTION(op, name, expression, of_complex)                                                             \
    SIM_EACH_FLOAT(name, expression)                                                                                   \
    SIM_EACH_PAIR(name, of_complex)                                                                                    \
    FUNCTION(op, name, SIM_TYPES_ARITHMETIC, FRACTIONS, SIM_RUN_FLOAT(name), SIM_RUN_PAIR(name))

/* ---- trigonometry ---- */

SIM_EACH_FLOAT(sine, sin(a))
SIM_EACH_PAIR(sine, sin(a))
FORMULA(sine, SIM_TYPES_ARITHMETIC, FRACTIONS, SIM_RUN_FLOAT(sine), SIM_RUN_PAIR(sine));
SIM_FORMULA_KERNEL(Sin, &sine);
/* The documents list fewer types for InplaceSin than for Sin. */
FORMULA(sine_in_place, SIM_TYPES_SINGLE, SIM_TYPES_SINGLE, [SIM_CLASS_FLOAT] = sine_floats);
SIM_FORMULA_KERNEL(InplaceSin, &sine_in_place);

COMPLEX_FUNCTION(Cos, cosine, cos(a), cos(a));
COMPLEX_FUNCTION(Tan, tangent, tan(a), tan(a));
REAL_FUNCTION(Asin, arcsine, WHOLE | NO_BFLOAT, NO_BFLOAT, asin(a));
REAL_FUNCTION(Acos, arccosine, WHOLE | NO_BFLOAT, NO_BFLOAT, acos(a));
REAL_FUNCTION(Atan, arctangent, WHOLE | SIM_TYPES_FLOAT, SIM_TYPES_FLOAT, atan(a));

/* sin(pi a) / (pi a) */
#define PI 3.14159265358979324
REAL_FUNCTION(Sinc, cardinal_sine, WHOLE | SIM_TYPES_FLOAT, SIM_TYPES_FLOAT, a == 0 ? 1 : sin(PI * a) / (PI * a));

/* ---- hyperbolic functions ---- */

COMPLEX_FUNCTION(Sinh, hyperbolic_sine, sinh(a), sinh(a));
REAL_FUNCTION(Cosh, hyperbolic_cosine, NO_BFLOAT, NO_BFLOAT, cosh(a));
REAL_FUNCTION(Asinh, area_sine, WHOLE | NO_BFLOAT, NO_BFLOAT, asinh(a));
REAL_FUNCTION(Acosh, area_cosine, NO_BFLOAT, NO_BFLOAT, acosh(a));
REAL_FUNCTION(Atanh, area_tangent, WHOLE | NO_BFLOAT, NO_BFLOAT, atanh(a));

/* ---- powers and logarithms ---- */

COMPLEX_FUNCTION(Reciprocal, reciprocal, 1 / a, 1 / a);
REAL_FUNCTION(Exp2, power_of_two, WHOLE | SIM_TYPES_FLOAT, SIM_TYPES_FLOAT, exp2(a));
REAL_FUNCTION(Expm1, power_less_one, SIM_TYPES_BOOL | SIM_TYPE(ACL_INT64) | SIM_TYPES_SINGLE, SIM_TYPES_FLOAT,
              expm1(a));

#define LOG2_E 1.44269504088896341
#define LOG10_E 0.434294481903251828
COMPLEX_FUNCTION(Log2, binary_logarithm, log2(a), log(a) * LOG2_E);
COMPLEX_FUNCTION(Log10, decimal_logarithm, log10(a), log(a) * LOG10_E);
REAL_FUNCTION(Log1p, logarithm_of_successor, WHOLE | SIM_TYPES_FLOAT, SIM_TYPES_FLOAT, log1p(a));

/* ---- the error function ---- */

#define ERROR_IN (SIM_TYPES_BOOL | SIM_TYPE(ACL_INT64) | NO_BFLOAT)
REAL_FUNCTION(Erf, error_function, ERROR_IN, NO_BFLOAT, erf(a));
REAL_FUNCTION(Erfc, error_complement, ERROR_IN, NO_BFLOAT, erfc((double)a));

/* The inverse of erf for a float. Winitzki's formula has a relative error of 0.002, and each step of Halley's method
 * about the third power of the error before it. */
static double inverse_erf(double y)
{
    const double curve = 0.147;
    double size = fabs(y);
    if (!(size < 1))
        return size > 1 ? (double)NAN : y * (double)INFINITY;
    double logarithm = log1p(-size * size), middle = 2 / (PI * curve) + logarithm / 2;
    double x = sqrt(-logarithm / curve / (sqrt(middle * middle - logarithm / curve) + middle));
    for (int step = 0; step < 2; step++) {
        double newton = (erf(x) - size) * exp(x * x) * (sqrt(PI) / 2);
        x -= newton / (1 + x * newton);
    }
    return copysign(x, y);
}

SIM_EACH_SINGLE(error_inverse, inverse_erf(a))
FUNCTION(Erfinv, error_inverse, WHOLE | SIM_TYPES_SINGLE, SIM_TYPES_SINGLE, [SIM_CLASS_FLOAT] = error_inverse_floats);

/* ---- the gamma function ---- */

/* The logarithm of its absolute value. lgamma would write the sign to a variable that all threads share. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

SIM_EACH_FLOAT(gamma_logarithm, log_gamma(a))
static const struct sim_formula gamma_logarithm = {.fo_result = "the input",
                                                   .fo_in = NO_BFLOAT,
                                                   .fo_out = NO_BFLOAT,
                                                   .fo_exact = true,
                                                   .fo_run = {SIM_RUN_FLOAT(gamma_logarithm)}};
SIM_FORMULA_KERNEL(Lgamma, &gamma_logarithm);
