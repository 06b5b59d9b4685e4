/* Arithmetic of two operands, computed in their common type and then cast to that of the result. Integers wrap in their
 * type; a bool is true if the computed number is not 0. No document says what a card computes for an integer divided by
 * 0; here the result is 0. */
#include "formula.h"
#include "require.h"
#include <float.h>
#include <tgmath.h>

/* ---- sums and products ---- */

SIM_EACH_ARITHMETIC(add, a + c * b)
static const struct sim_formula sum = {.fo_result = "the sum",
                                       .fo_in = SIM_TYPES_ARITHMETIC,
                                       .fo_out = SIM_TYPES_ARITHMETIC,
                                       .fo_run = {SIM_RUN_REAL(add), SIM_RUN_PAIR(add)}};
SIM_FORMULA_KERNEL(Add, &sum);
SIM_FORMULA_KERNEL(Adds, &sum);
SIM_FORMULA_KERNEL(InplaceAdd, &sum);
SIM_FORMULA_KERNEL(InplaceAdds, &sum);
SIM_FORMULA_KERNEL(AddV3, &sum); /* self is a scalar */
SIM_FORMULA_KERNEL(InplaceAddV3, &sum);

SIM_EACH_ARITHMETIC(subtract, a - c * b)
static const struct sim_formula difference = {.fo_result = "the difference",
                                              .fo_in = SIM_TYPES_ARITHMETIC,
                                              .fo_out = SIM_TYPES_ARITHMETIC,
                                              .fo_run = {SIM_RUN_REAL(subtract), SIM_RUN_PAIR(subtract)}};
SIM_FORMULA_KERNEL(Sub, &difference);
SIM_FORMULA_KERNEL(Subs, &difference);
SIM_FORMULA_KERNEL(InplaceSub, &difference);
SIM_FORMULA_KERNEL(InplaceSubs, &difference);

SIM_EACH_ARITHMETIC(subtract_from, b - c * a)
static const struct sim_formula reverse = {.fo_result = "the difference",
                                           .fo_in = SIM_TYPES_ARITHMETIC,
                                           .fo_out = SIM_TYPES_ARITHMETIC,
                                           .fo_run = {SIM_RUN_REAL(subtract_from), SIM_RUN_PAIR(subtract_from)}};
SIM_FORMULA_KERNEL(Rsub, &reverse);
SIM_FORMULA_KERNEL(Rsubs, &reverse);

SIM_EACH_INTEGER(rectify, a > 0 ? a : 0)
SIM_EACH_SINGLE(rectify, a <= 0 ? 0 : a) /* NaN stays */
#define RECTIFIED(result, name)                                                                                        \
    {                                                                                                                  \
        .fo_result = (result), .fo_in = SIM_TYPES_SINGLE | SIM_TYPES_INTEGER,                                          \
        .fo_out = SIM_TYPES_SINGLE | SIM_TYPES_INTEGER,                                                                \
        .fo_run = {[SIM_CLASS_INTEGER] = name##_integers, [SIM_CLASS_FLOAT] = name##_floats}                           \
    }
static const struct sim_formula sum_to_rectify = RECTIFIED("the sum", add),
                                rectified = RECTIFIED("the rectified sum", rectify);

/* The sum wraps in the type of the result before it is rectified. */
static aclError run_rectified(const aclsimCall *call)
{
    struct sim_formula_call parsed;
    SIM_TRY(sim_formula_run(call));
    SIM_TRY(sim_formula_parse(call, &parsed));
    aclsimArgument out = *parsed.fc_out;
    out.direction = ACLSIM_IN | ACLSIM_OUT;
    const aclsimCall last = {.arguments = &out, .argumentCount = 1, .userData = (void *)&rectified};
    return sim_formula_run(&last);
}
#define RECTIFIED_SUM(op)                                                                                              \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_formula_plan, run_rectified, (void *)&sum_to_rectify, true}
RECTIFIED_SUM(AddRelu);
RECTIFIED_SUM(InplaceAddRelu);

SIM_EACH_ARITHMETIC(multiply, a * b)
static const struct sim_formula product = {.fo_result = "the product",
                                           .fo_in = SIM_TYPES_ARITHMETIC,
                                           .fo_out = SIM_TYPES_ARITHMETIC,
                                           .fo_run = {SIM_RUN_REAL(multiply), SIM_RUN_PAIR(multiply)}};
SIM_FORMULA_KERNEL(Mul, &product);
SIM_FORMULA_KERNEL(Muls, &product);
SIM_FORMULA_KERNEL(InplaceMul, &product);
SIM_FORMULA_KERNEL(InplaceMuls, &product);

/* ---- quotients: exact, truncated towards zero, or rounded down ---- */

static int64_t quotient(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
    int64_t cut = quotient(a, b);
    return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? cut - 1 : cut;
}

/* Rounds the exact quotient down: a / b may already be rounded up to a whole number. An infinity gives NaN, as in
 * PyTorch. */
static double floor_quotient_of_floats(double a, double b)
{
    if (b == 0)
        return a / b;
    double rest = fmod(a, b), cut = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        cut -= 1;
    return cut == 0 ? copysign(0, a / b) : rint(cut);
}

SIM_EACH_FLOAT(divide, a / b)
SIM_EACH_PAIR(divide, a / b)
SIM_EACH_INTEGER(divide_cut, quotient(a, b))
SIM_EACH_FLOAT(divide_cut, trunc(a / b))
SIM_EACH_INTEGER(divide_down, floor_quotient(a, b))
SIM_EACH_FLOAT(divide_down, floor_quotient_of_floats(a, b))
#define DIVIDED_DOWN(out)                                                                                              \
    {                                                                                                                  \
        .fo_result = "the quotient", .fo_in = SIM_TYPES_REAL, .fo_out = (out), .fo_run = {SIM_RUN_REAL(divide_down)}   \
    }
static const struct sim_formula quotients[] = {
    {.fo_result = "the quotient",
     .fo_in = SIM_TYPES_ARITHMETIC,
     .fo_out = SIM_TYPES_ARITHMETIC,
     .fo_modes = 3,
     .fo_type = sim_formula_fractional,
     .fo_run = {SIM_RUN_FLOAT(divide), SIM_RUN_PAIR(divide)}},
    {.fo_result = "the quotient",
     .fo_in = SIM_TYPES_REAL,
     .fo_out = SIM_TYPES_ARITHMETIC,
     .fo_run = {SIM_RUN_REAL(divide_cut)}},
    DIVIDED_DOWN(SIM_TYPES_ARITHMETIC),
};
SIM_FORMULA_KERNEL(Div, quotients);
SIM_FORMULA_KERNEL(Divs, quotients);
SIM_FORMULA_KERNEL(DivMod, quotients);
SIM_FORMULA_KERNEL(DivMods, quotients);
SIM_FORMULA_KERNEL(InplaceDiv, quotients);
SIM_FORMULA_KERNEL(InplaceDivs, quotients);
SIM_FORMULA_KERNEL(InplaceDivMod, quotients);
SIM_FORMULA_KERNEL(InplaceDivMods, quotients);

static const struct sim_formula floor_quotients = DIVIDED_DOWN(SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL);
static const struct sim_formula real_floor_quotients = DIVIDED_DOWN(SIM_TYPES_REAL);
SIM_FORMULA_KERNEL(FloorDivide, &floor_quotients);
SIM_FORMULA_KERNEL(FloorDivides, &real_floor_quotients);
SIM_FORMULA_KERNEL(InplaceFloorDivide, &real_floor_quotients);
SIM_FORMULA_KERNEL(InplaceFloorDivides, &real_floor_quotients);

/* ---- maximum and minimum: NaN if either operand is NaN ---- */

SIM_EACH_INTEGER(greater, a > b ? a : b)
SIM_EACH_FLOAT(greater, a > b || a != a ? a : b)
static const struct sim_formula maximum = {.fo_result = "the maximum",
                                           .fo_in = SIM_TYPES_REAL,
                                           .fo_out = SIM_TYPES_REAL,
                                           .fo_run = {SIM_RUN_REAL(greater)}};
SIM_FORMULA_KERNEL(Maximum, &maximum);

SIM_EACH_INTEGER(lesser, a < b ? a : b)
SIM_EACH_FLOAT(lesser, a < b || a != a ? a : b)
static const struct sim_formula minimum = {.fo_result = "the minimum",
                                           .fo_in = SIM_TYPES_REAL,
                                           .fo_out = SIM_TYPES_REAL,
                                           .fo_run = {SIM_RUN_REAL(lesser)}};
SIM_FORMULA_KERNEL(Minimum, &minimum);

/* ---- maximum and minimum of a list of tensors: tensors, out ---- */

#define LISTED (SIM_TYPES_SINGLE | SIM_TYPES_INDEX | SIM_TYPE(ACL_INT8))

static aclnnStatus plan_list(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return sim_pointwise_check_list(&call->arguments[0], &call->arguments[1], LISTED);
}

static aclError run_list(const aclsimCall *call)
{
    const aclsimArgument *list = &call->arguments[0];
    aclsimArgument operands[] = {call->arguments[1], *list};
    operands[0].direction = ACLSIM_IN | ACLSIM_OUT;
    operands[1].kind = ACLSIM_TENSOR;
    sim_walk_copy(operands[0].tensors, list->tensors);
    for (uint64_t i = 1; i < list->count; i++) {
        operands[1].tensors = &list->tensors[i];
        const aclsimCall pair = {.arguments = operands, .argumentCount = 2, .userData = call->userData};
        SIM_TRY(sim_formula_run(&pair));
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnMaxN = {plan_list, run_list, (void *)&maximum, false},
                        sim_kernel_aclnnMinN = {plan_list, run_list, (void *)&minimum, false};

/* ---- powers ---- */

static uint64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0 && base != 1 && base != -1)
        return 0; /* a fraction is truncated to 0; base 0 gives 0 too */
    uint64_t power = 1, square = (uint64_t)base;
    for (uint64_t left = exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent; left != 0; left >>= 1) {
        power *= left & 1 ? square : 1;
        square *= square;
    }
    return power;
}

/* cpow computes a logarithm, which does not exist for a base of 0. */
static double _Complex complex_power(double _Complex base, double _Complex exponent)
{
    if (exponent == 0)
        return 1;
    return base == 0 && creal(exponent) > 0 ? 0 : cpow(base, exponent);
}

/* The largest finite number of a float type. */
static double largest(aclDataType type)
{
    switch (type) {
    case ACL_FLOAT16:
        return 65504;
    case ACL_BF16:
        return 0xffp120;
    case ACL_DOUBLE:
        return DBL_MAX;
    default:
        return FLT_MAX;
    }
}

/* Checks a scalar exponent: the type of the computation must be able to hold it, and an integer power cannot have a
 * negative one. */
static aclnnStatus check_exponent(const aclsimScalar *exponent, aclDataType type)
{
    union sim_block_values value, kept;
    enum sim_class class = sim_element_class(exponent->type);
    sim_element_load(&value, class, exponent->value, exponent->type, 0, 1);
    if (class == SIM_CLASS_INTEGER && sim_element_is(type, SIM_TYPES_BOOL | SIM_TYPES_INTEGER)) {
        kept = value;
        sim_element_wrap(&kept, type, 1);
        SIM_ARGUMENT(value.bv_integers[0] >= 0 && kept.bv_integers[0] == value.bv_integers[0], ACLNN_ERR_PARAM_INVALID,
                     "exponent is %lld, expected 0 or more and within the range of %s, the type of the computation",
                     (long long)value.bv_integers[0], sim_element_name(type));
        return ACL_SUCCESS;
    }
    if (!sim_element_is(type, SIM_TYPES_FLOAT))
        return ACL_SUCCESS;
    sim_element_load(&value, SIM_CLASS_DOUBLE, exponent->value, exponent->type, 0, 1);
    double size = fabs(value.bv_doubles[0]);
    SIM_ARGUMENT(!(size > largest(type)) || isinf(size), ACLNN_ERR_PARAM_INVALID,
                 "exponent is %g, expected a number within the range of %s, the type of the computation",
                 value.bv_doubles[0], sim_element_name(type));
    return ACL_SUCCESS;
}

static aclnnStatus check_power(const struct sim_formula_call *call)
{
    const aclsimArgument *exponent = call->fc_in[1];
    SIM_ARGUMENT(call->fc_met != ACL_BOOL, ACLNN_ERR_PARAM_INVALID,
                 "%s and %s are both bool, expected at least one of another type", call->fc_in[0]->name,
                 exponent->name);
    return exponent->kind == ACLSIM_SCALAR ? check_exponent(exponent->scalars, call->fc_type) : ACL_SUCCESS;
}

SIM_EACH(power_integers, int64_t, bv_bits, bv_integers, integer_power(a, b))
SIM_EACH_FLOAT(power, pow(a, b))
SIM_EACH_PAIR(power, complex_power(a, b))
static const struct sim_formula power = {.fo_result = "the power",
                                         .fo_in = SIM_TYPES_ARITHMETIC,
                                         .fo_out = SIM_TYPES_ALL,
                                         .fo_check = check_power,
                                         .fo_run = {SIM_RUN_REAL(power), SIM_RUN_PAIR(power)}};
SIM_FORMULA_KERNEL(PowTensorTensor, &power);
SIM_FORMULA_KERNEL(InplacePowTensorTensor, &power);

/* As in PyTorch, a number 0.5 takes the square root, which pow() does not for -0 and negative infinity. */
SIM_EACH_FLOAT(power_with_number, b == 0.5 ? sqrt(a) : b == -0.5 ? 1 / sqrt(a) : pow(a, b))
static const struct sim_formula power_with_number = {
    .fo_result = "the power",
    .fo_in = SIM_TYPES_ARITHMETIC,
    .fo_out = SIM_TYPES_ALL,
    .fo_check = check_power,
    .fo_run = {[SIM_CLASS_INTEGER] = power_integers, SIM_RUN_FLOAT(power_with_number), SIM_RUN_PAIR(power)}};
SIM_FORMULA_KERNEL(PowTensorScalar, &power_with_number);
SIM_FORMULA_KERNEL(InplacePowTensorScalar, &power_with_number);

static const struct sim_formula power_of_scalar = {.fo_result = "the power",
                                                   .fo_in = SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL,
                                                   .fo_out = SIM_TYPES_ALL & ~SIM_TYPES_BOOL,
                                                   .fo_run = {SIM_RUN_REAL(power), SIM_RUN_PAIR(power)}};
SIM_FORMULA_KERNEL(PowScalarTensor, &power_of_scalar);
