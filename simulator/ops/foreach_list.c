/* The table of operators on lists: the operator, the one whose formula it applies, and the types of the tensors. */
#include "foreach.h"
#include <tgmath.h>

/* ---- functions of one tensor ---- */

#define SHORT (SIM_TYPE(ACL_INT16) | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8))
#define NUMBERS (SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32))

SIM_FOREACH(Abs, Abs, SIM_TYPES_SINGLE);
SIM_FOREACH(Acos, Acos, SIM_TYPES_SINGLE);
SIM_FOREACH(Asin, Asin, SIM_TYPES_SINGLE);
SIM_FOREACH(Atan, Atan, SIM_TYPES_SINGLE);
SIM_FOREACH(Cos, Cos, SIM_TYPES_SINGLE);
SIM_FOREACH(Cosh, Cosh, SIM_TYPES_SINGLE);
SIM_FOREACH(Erf, Erf, SIM_TYPES_SINGLE);
SIM_FOREACH(Erfc, Erfc, SIM_TYPES_SINGLE);
SIM_FOREACH(Exp, Exp, SIM_TYPES_SINGLE | SHORT); /* integers are computed in float32, and truncated */
SIM_FOREACH(Expm1, Expm1, SIM_TYPES_SINGLE | SHORT);
SIM_FOREACH(Log, Log, SIM_TYPES_SINGLE);
SIM_FOREACH(Log10, Log10, SIM_TYPES_SINGLE);
SIM_FOREACH(Log1p, Log1p, SIM_TYPES_SINGLE);
SIM_FOREACH(Log2, Log2, SIM_TYPES_SINGLE);
SIM_FOREACH(Neg, Neg, NUMBERS | SHORT);
SIM_FOREACH(Reciprocal, Reciprocal, SIM_TYPES_SINGLE);
SIM_FOREACH(Sigmoid, Sigmoid, SIM_TYPES_SINGLE);
SIM_FOREACH(Sign, Sign, SIM_TYPES_SINGLE | SIM_TYPES_INDEX | SIM_TYPE(ACL_INT8));
SIM_FOREACH(Sin, Sin, SIM_TYPES_SINGLE);
SIM_FOREACH(Sinh, Sinh, SIM_TYPES_SINGLE);
SIM_FOREACH(Sqrt, Sqrt, SIM_TYPES_SINGLE);
SIM_FOREACH(Tan, Tan, SIM_TYPES_SINGLE);
SIM_FOREACH(Tanh, Tanh, SIM_TYPES_SINGLE);

/* ---- sums and differences: x1 + alpha * x2, x + scalar ---- */

SIM_FOREACH(AddList, Add, NUMBERS | SHORT);
SIM_FOREACH(AddListV2, Add, NUMBERS | SHORT);
SIM_FOREACH(SubList, Sub, NUMBERS | SHORT);
SIM_FOREACH(SubListV2, Sub, NUMBERS | SHORT);

#define OWN(op, formula, ...) SIM_FOREACH_KERNEL(op, sim_foreach_run, __VA_ARGS__, .fe_formula = &(formula))

SIM_EACH_BITS(add, a + b)
SIM_EACH_FLOAT(add, a + b)
static const struct sim_formula sum = {.fo_result = "the sum", .fo_run = {SIM_RUN_REAL(add)}};
OWN(AddScalar, sum, NUMBERS | SHORT);
OWN(AddScalarV2, sum, NUMBERS | SHORT);
OWN(AddScalarList, sum, NUMBERS);

SIM_EACH_BITS(subtract, a - b)
SIM_EACH_FLOAT(subtract, a - b)
static const struct sim_formula difference = {.fo_result = "the difference", .fo_run = {SIM_RUN_REAL(subtract)}};
OWN(SubScalar, difference, NUMBERS);
OWN(SubScalarV2, difference, NUMBERS);
OWN(SubScalarList, difference, NUMBERS);

/* ---- products, quotients, maximum, minimum and powers ---- */

SIM_FOREACH(MulList, Mul, NUMBERS | SHORT);
SIM_FOREACH(MulScalar, Mul, NUMBERS);
SIM_FOREACH(MulScalarV2, Mul, NUMBERS);
SIM_FOREACH(MulScalarList, Mul, NUMBERS);

SIM_FOREACH(DivList, Div, SIM_TYPES_SINGLE);
SIM_FOREACH(DivScalar, Div, SIM_TYPES_SINGLE);
SIM_FOREACH(DivScalarV2, Div, SIM_TYPES_SINGLE);
SIM_FOREACH(DivScalarList, Div, SIM_TYPES_SINGLE);

SIM_FOREACH(MaximumList, Maximum, NUMBERS);
SIM_FOREACH(MaximumScalar, Maximum, NUMBERS);
SIM_FOREACH(MaximumScalarV2, Maximum, NUMBERS);
SIM_FOREACH(MaximumScalarList, Maximum, NUMBERS);

SIM_FOREACH(MinimumList, Minimum, NUMBERS);
SIM_FOREACH(MinimumScalar, Minimum, NUMBERS);
SIM_FOREACH(MinimumScalarV2, Minimum, NUMBERS);
SIM_FOREACH(MinimumScalarList, Minimum, NUMBERS);

SIM_FOREACH(PowList, PowTensorTensor, NUMBERS);
SIM_FOREACH(PowScalar, PowTensorScalar, NUMBERS);
SIM_FOREACH(PowScalarV2, PowTensorScalar, SIM_TYPES_SINGLE);
SIM_FOREACH(PowScalarList, PowTensorScalar, NUMBERS);
SIM_FOREACH(PowScalarAndTensor, PowTensorTensor, NUMBERS);

/* ---- sums with a product or a quotient, interpolation ---- */

SIM_FOREACH(AddcmulScalar, Addcmul, NUMBERS);
SIM_FOREACH(AddcmulScalarV2, Addcmul, NUMBERS);
SIM_FOREACH(AddcmulList, Addcmul, NUMBERS, .fe_many = true);
SIM_FOREACH(AddcmulScalarList, Addcmul, NUMBERS, .fe_many = true);

SIM_FOREACH(AddcdivScalar, Addcdiv, SIM_TYPES_SINGLE);
SIM_FOREACH(AddcdivScalarV2, Addcdiv, SIM_TYPES_SINGLE);
SIM_FOREACH(AddcdivList, Addcdiv, SIM_TYPES_SINGLE, .fe_many = true);
SIM_FOREACH(AddcdivScalarList, Addcdiv, SIM_TYPES_SINGLE, .fe_many = true);

SIM_FOREACH(LerpList, Lerp, SIM_TYPES_SINGLE);
SIM_FOREACH(LerpScalar, Lerp, SIM_TYPES_SINGLE);

/* ---- rounding ---- */

/* Halves are rounded to the odd neighbour. */
static float to_odd(float x)
{
    float down = floor(x);
    if (x - down != 0.5f)
        return rint(x);
    return fmod(down, 2) != 0 ? down : down + 1;
}

/* 1: to the nearest, halves to the even neighbour; 4: halves away from 0. A mode in device memory is unknown in the
 * first phase, so that no mode is refused; other numbers mean 1. */
static float round_off(float x, float mode)
{
    return mode == 2   ? floor(x)
           : mode == 3 ? ceil(x)
           : mode == 4 ? round(x)
           : mode == 5 ? trunc(x)
           : mode == 6 ? to_odd(x)
                       : rint(x);
}

SIM_EACH_INTEGER(round_off, a)
SIM_EACH_SINGLE(round_off, round_off(a, b))
static const struct sim_formula rounding = {.fo_result = "the rounded value",
                                            .fo_run = {[SIM_CLASS_INTEGER] = round_off_integers,
                                                       [SIM_CLASS_FLOAT] = round_off_floats}};
#define ROUNDED (SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT16))
OWN(RoundOffNumber, rounding, ROUNDED, .fe_scalars = SIM_TYPE(ACL_INT8));
OWN(RoundOffNumberV2, rounding, ROUNDED, .fe_scalars = SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT64));
