/* Remainders and greatest common divisors, computed like arithmetic.c: in the common type of the operands, then cast to
 * the type of the result. No document says what a card computes for an integer divided by 0; here the quotient is 0, so
 * the remainder is the dividend. */
#include "formula.h"
#include <tgmath.h>

#define DIVISION(formula, name, in, out)                                                                               \
    static const struct sim_formula formula = {                                                                        \
        .fo_result = "the remainder", .fo_in = (in), .fo_out = (out), .fo_run = {SIM_RUN_REAL(name)}}

/* ---- the remainder of truncated division: it has the sign of the dividend ---- */

/* The least integer divided by -1 overflows. */
static int64_t cut_remainder(int64_t a, int64_t b)
{
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

SIM_EACH_INTEGER(divide_cut, cut_remainder(a, b))
SIM_EACH_FLOAT(divide_cut, fmod(a, b))
#define CUT (SIM_TYPES_FLOAT | SIM_TYPES_INDEX | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8))
DIVISION(cut, divide_cut, CUT, CUT);
SIM_FORMULA_KERNEL(FmodTensor, &cut);
SIM_FORMULA_KERNEL(FmodScalar, &cut);
SIM_FORMULA_KERNEL(InplaceFmodTensor, &cut);
SIM_FORMULA_KERNEL(InplaceFmodScalar, &cut);

/* ---- the remainder of division that rounds down: it has the sign of the divisor ---- */

static int64_t floor_remainder(int64_t a, int64_t b)
{
    int64_t rest = cut_remainder(a, b);
    return rest != 0 && b != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double turn(double rest, double b)
{
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

SIM_EACH_INTEGER(divide_down, floor_remainder(a, b))
SIM_EACH_FLOAT(divide_down, turn(fmod(a, b), b))
#define DOWN (SIM_TYPES_FLOAT | SIM_TYPES_INDEX)
DIVISION(down, divide_down, DOWN, SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL);
DIVISION(same_down, divide_down, DOWN, DOWN);
SIM_FORMULA_KERNEL(RemainderTensorTensor, &down);
SIM_FORMULA_KERNEL(RemainderTensorScalar, &down);
SIM_FORMULA_KERNEL(RemainderScalarTensor, &same_down);
SIM_FORMULA_KERNEL(InplaceRemainderTensorTensor, &same_down);
SIM_FORMULA_KERNEL(InplaceRemainderTensorScalar, &same_down);

/* ---- greatest common divisors: never negative, except where the type does not have the number ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

SIM_EACH_BITS(share, divisor((int64_t)a < 0 ? 0 - a : a, (int64_t)b < 0 ? 0 - b : b))
static const struct sim_formula common = {.fo_result = "the greatest common divisor",
                                          .fo_in = SIM_TYPES_INTEGER,
                                          .fo_out = SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED,
                                          .fo_run = {[SIM_CLASS_INTEGER] = share_integers}};
SIM_FORMULA_KERNEL(Gcd, &common);
