/* Comparisons and logic. Operands are compared in their common type; in logic, every value except 0 is true. The result
 * is a bool, cast to the type of the output tensor. Bitwise logic and shifts are here as well. */
#include "formula.h"

#define ASK(name, in, ...)                                                                                             \
    static const struct sim_formula name = {.fo_result = "the result",                                                 \
                                            .fo_in = (in),                                                             \
                                            .fo_out = SIM_TYPES_ALL,                                                   \
                                            .fo_gives = sim_formula_gives_bool,                                        \
                                            __VA_ARGS__}

/* ---- comparisons ---- */

#define COMPARISON(op, formula)                                                                                        \
    SIM_FORMULA_KERNEL(op##Tensor, &(formula));                                                                        \
    SIM_FORMULA_KERNEL(op##Scalar, &(formula));                                                                        \
    SIM_FORMULA_KERNEL(Inplace##op##Tensor, &(formula));                                                               \
    SIM_FORMULA_KERNEL(Inplace##op##Scalar, &(formula))

SIM_TEST(is_equal, a == b)
ASK(equal, SIM_TYPES_ALL, .fo_run = {SIM_RUN_REAL(is_equal), SIM_RUN_PAIR(is_equal)});
COMPARISON(Eq, equal);

SIM_TEST(is_unequal, a != b)
ASK(unequal, SIM_TYPES_ALL, .fo_run = {SIM_RUN_REAL(is_unequal), SIM_RUN_PAIR(is_unequal)});
COMPARISON(Ne, unequal);

#define ORDER(op, formula, name, expression)                                                                           \
    SIM_TEST_REAL(name, expression)                                                                                    \
    SIM_EACH(name##_bits, uint64_t, bv_integers, bv_bits, expression)                                                  \
    ASK(formula, SIM_TYPES_REAL | SIM_TYPES_UNSIGNED, .fo_run = {SIM_RUN_REAL(name)}, .fo_odd = ACL_UINT64,            \
        .fo_run_odd = name##_bits);                                                                                    \
    COMPARISON(op, formula)

ORDER(Gt, greater, is_greater, a > b);
ORDER(Ge, not_less, is_not_less, a >= b);
ORDER(Lt, less, is_less, a < b);
ORDER(Le, not_greater, is_not_greater, a <= b);

/* ---- logic ---- */

#define LOGIC(formula, name) ASK(formula, SIM_TYPES_ARITHMETIC, .fo_run = {SIM_RUN_REAL(name), SIM_RUN_PAIR(name)})

SIM_TEST(are_true, (a != 0) & (b != 0))
LOGIC(conjunction, are_true);
SIM_FORMULA_KERNEL(LogicalAnd, &conjunction);
SIM_FORMULA_KERNEL(InplaceLogicalAnd, &conjunction);

SIM_TEST(is_any_true, (a != 0) | (b != 0))
LOGIC(disjunction, is_any_true);
SIM_FORMULA_KERNEL(LogicalOr, &disjunction);
SIM_FORMULA_KERNEL(InplaceLogicalOr, &disjunction);

SIM_TEST(is_one_true, (a != 0) != (b != 0))
LOGIC(exclusion, is_one_true);
SIM_FORMULA_KERNEL(LogicalXor, &exclusion);

SIM_TEST(is_false, a == 0)
LOGIC(negation, is_false);
SIM_FORMULA_KERNEL(LogicalNot, &negation);
SIM_FORMULA_KERNEL(InplaceLogicalNot, &negation);

/* ---- bitwise logic ---- */

#define BITS(formula, name, ...)                                                                                       \
    static const struct sim_formula formula = {                                                                        \
        .fo_result = "the result",                                                                                     \
        .fo_in = SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED,                                              \
        .fo_out = SIM_TYPES_ALL,                                                                                       \
        .fo_run = {[SIM_CLASS_INTEGER] = name##_integers},                                                             \
        __VA_ARGS__}

#define BITWISE(op, formula, name, expression)                                                                         \
    SIM_EACH_BITS(name, expression)                                                                                    \
    BITS(formula, name, .fo_run_odd = NULL);                                                                           \
    SIM_FORMULA_KERNEL(Bitwise##op##Tensor, &(formula));                                                               \
    SIM_FORMULA_KERNEL(Bitwise##op##Scalar, &(formula));                                                               \
    SIM_FORMULA_KERNEL(InplaceBitwise##op##Tensor, &(formula));                                                        \
    SIM_FORMULA_KERNEL(InplaceBitwise##op##Scalar, &(formula))

BITWISE(And, common, keep_common, a & b);
BITWISE(Or, united, unite, a | b);
BITWISE(Xor, differing, keep_differing, a ^ b);

SIM_EACH_BITS(flip, ~a)
BITS(flipped, flip, .fo_odd = ACL_BOOL, .fo_run_odd = is_false_integers);
SIM_FORMULA_KERNEL(BitwiseNot, &flipped);

/* ---- shifts: a number of bits that is negative or not below the width of the type shifts all bits out ---- */

#define SHIFTED (SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED)

SIM_EACH_BITS(shift_left, b < 64 ? a << b : 0)
static const struct sim_formula left = {.fo_result = "the shifted number",
                                        .fo_in = SHIFTED,
                                        .fo_out = SHIFTED,
                                        .fo_run = {[SIM_CLASS_INTEGER] = shift_left_integers}};
SIM_FORMULA_KERNEL(LeftShift, &left);
SIM_FORMULA_KERNEL(LeftShifts, &left);

/* Shifts in the sign, except of uint64, which has none; other unsigned types have a sign of 0 in 64 bits. */
SIM_EACH_INTEGER(shift_right, a >> ((uint64_t)b < 64 ? b : 63))
SIM_EACH(shift_right_bits, uint64_t, bv_bits, bv_bits, b < 64 ? a >> b : 0)
static const struct sim_formula right = {.fo_result = "the shifted number",
                                         .fo_in = SHIFTED,
                                         .fo_out = SHIFTED,
                                         .fo_run = {[SIM_CLASS_INTEGER] = shift_right_integers},
                                         .fo_odd = ACL_UINT64,
                                         .fo_run_odd = shift_right_bits};
SIM_FORMULA_KERNEL(RightShift, &right);
