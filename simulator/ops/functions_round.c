/* Functions of one operand that keep its type, such as rounding and the sign, and tests with a bool as their result. */
#include "formula.h"
#include <tgmath.h>

/* ---- functions that keep the type; rounding leaves integers as they are ---- */

#define KEEPING(name, types, ...)                                                                                      \
    static const struct sim_formula name = {                                                                           \
        .fo_result = "the input", .fo_in = (types), .fo_out = (types), .fo_exact = true, .fo_run = {__VA_ARGS__}}

#define ROUNDING(op, name, types, ...)                                                                                 \
    KEEPING(name, types, __VA_ARGS__);                                                                                 \
    SIM_FORMULA_KERNEL(op, &(name));                                                                                   \
    SIM_FORMULA_KERNEL(Inplace##op, &(name))

SIM_EACH_FLOAT(rounded_up, ceil(a))
ROUNDING(Ceil, rounded_up, SIM_TYPES_FLOAT, SIM_RUN_FLOAT(rounded_up));

SIM_EACH_BITS(rounded_down, a)
SIM_EACH_FLOAT(rounded_down, floor(a))
ROUNDING(Floor, rounded_down, SIM_TYPES_FLOAT | SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED, SIM_RUN_REAL(rounded_down));

SIM_EACH_BITS(rounded_near, a)
SIM_EACH_FLOAT(rounded_near, rint(a))
ROUNDING(Round, rounded_near, SIM_TYPES_FLOAT | SIM_TYPES_INDEX, SIM_RUN_REAL(rounded_near));

SIM_EACH_SINGLE(truncated, trunc(a))
ROUNDING(Trunc, truncated, SIM_TYPES_SINGLE, [SIM_CLASS_FLOAT] = truncated_floats);

SIM_EACH_BITS(fraction, 0)
SIM_EACH_SINGLE(fraction, a - trunc(a))
ROUNDING(Frac, fraction, SIM_TYPES_SINGLE | SIM_TYPES_INTEGER, [SIM_CLASS_INTEGER] = fraction_integers,
         [SIM_CLASS_FLOAT] = fraction_floats);

/* The sign of NaN is 0, as in PyTorch; that of a complex number has its direction and the absolute value 1. */
SIM_EACH_INTEGER(sign, (a > 0) - (a < 0))
SIM_EACH_FLOAT(sign, (a > 0) - (a < 0))
SIM_EACH_PAIR(sign, a == 0 ? 0 : a / fabs(a))
KEEPING(sign, SIM_TYPES_BOOL | SIM_TYPES_INDEX | SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX, SIM_RUN_REAL(sign),
        SIM_RUN_PAIR(sign));
SIM_FORMULA_KERNEL(Sign, &sign);

/* ---- tests ---- */

#define TEST(op, name, in, ...)                                                                                        \
    static const struct sim_formula name = {.fo_result = "the result",                                                 \
                                            .fo_in = (in),                                                             \
                                            .fo_out = SIM_TYPES_BOOL,                                                  \
                                            .fo_gives = sim_formula_gives_bool,                                        \
                                            __VA_ARGS__};                                                              \
    SIM_FORMULA_KERNEL(op, &(name))

SIM_TEST_REAL(is_finite, a > -INFINITY && a < INFINITY)
TEST(IsFinite, is_finite, SIM_TYPES_FLOAT, .fo_run = {SIM_RUN_REAL(is_finite)});

SIM_TEST_REAL(is_infinite, a == -INFINITY || a == INFINITY)
TEST(IsInf, is_infinite, SIM_TYPES_REAL, .fo_run = {SIM_RUN_REAL(is_infinite)});

SIM_TEST_REAL(is_positive_infinity, a == INFINITY)
TEST(IsPosInf, is_positive_infinity, SIM_TYPES_FLOAT, .fo_run = {SIM_RUN_REAL(is_positive_infinity)});

SIM_TEST_REAL(is_negative_infinity, a == -INFINITY)
TEST(IsNegInf, is_negative_infinity, SIM_TYPES_FLOAT, .fo_run = {SIM_RUN_REAL(is_negative_infinity)});

/* -0 has a sign. A uint64 has none, although its upper half is negative in the class of integers. */
SIM_EACH_INTEGER(has_sign, a < 0)
SIM_EACH(has_sign_floats, float, bv_integers, bv_floats, signbit(a) != 0)
SIM_EACH(has_sign_doubles, double, bv_integers, bv_doubles, signbit(a) != 0)
SIM_EACH(has_sign_bits, uint64_t, bv_integers, bv_bits, 0)
TEST(Signbit, has_sign, SIM_TYPES_REAL | SIM_TYPES_UNSIGNED, .fo_run = {SIM_RUN_REAL(has_sign)}, .fo_odd = ACL_UINT64,
     .fo_run_odd = has_sign_bits);
