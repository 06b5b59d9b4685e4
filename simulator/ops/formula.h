/* Operators that are a formula of elements. A table entry says which types the operator takes, in which type it
 * computes and what comes out, and has one function a class, made from one expression; checks, broadcasting, scalars,
 * in-place forms and loops are common. A row's parameters are, in this order: perhaps a condition, one or two operands,
 * perhaps a scalar that scales, perhaps a number that chooses among several formulas; and, in any place, the result. */
#ifndef OPS_FORMULA_H
#define OPS_FORMULA_H

#include "operator/row.h"
#include "pointwise.h"

#define SIM_FORMULA_OPERANDS 3

typedef void sim_formula_func(union sim_block_values *restrict to, const union sim_block_values *const *from,
                              size_t count);

struct sim_formula_call;

struct sim_formula {
    const char *fo_result;  /* for messages: "the sum" */
    uint64_t fo_in, fo_out; /* types of the operands and of the result */
    uint64_t fo_condition;  /* not 0: types of a first operand that is loaded, but meets none of the others */
    bool fo_exact;          /* the result has the type that the formula gives, */
    bool fo_free;           /* or any; else one that this can be cast to */
    bool fo_spreads;        /* the operands are broadcast to a result of any shape */
    unsigned fo_modes;      /* this many formulas stand in a row, of which a number chooses; 0: one, and no number */
    aclDataType (*fo_type)(aclDataType met, aclDataType out); /* in which it computes; NULL: where the operands meet */
    aclDataType (*fo_gives)(aclDataType type);                /* computed in `type`; NULL: the same */
    aclnnStatus (*fo_check)(const struct sim_formula_call *call);
    sim_formula_func *fo_run[SIM_CLASSES]; /* without one for floats, uint64 is computed as the other integers are */
    aclDataType fo_odd;           /* a type that is computed otherwise than the others of its class, */
    sim_formula_func *fo_run_odd; /* by this; NULL: none is */
};

/* A call, taken apart. */
struct sim_formula_call {
    const struct sim_formula *fc_formula;
    const aclsimArgument *fc_in[SIM_FORMULA_OPERANDS], *fc_out;
    size_t fc_count, fc_first;             /* operands; the first one that is not a condition */
    aclDataType fc_met, fc_type, fc_given; /* where operands meet, in what is computed, what the formula gives */
};

/* 161002. For kernels that compute otherwise, or check more. */
aclnnStatus sim_formula_parse(const aclsimCall *call, struct sim_formula_call *parsed);

aclnnStatus sim_formula_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_formula_run(const aclsimCall *call);

#define SIM_FORMULA_KERNEL(op, formula)                                                                                \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_formula_plan, sim_formula_run, (void *)(formula), true}

/* ---- functions made from an expression of a, b and c, the operands in their order ---- */

#define SIM_EACH(name, type, to_member, member, expression)                                                            \
    static void name(union sim_block_values *restrict to, const union sim_block_values *const *from, size_t count)     \
    {                                                                                                                  \
        const type *as = from[0]->member, *bs = from[1]->member, *cs = from[2]->member;                                \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type a = as[i], b = bs[i], c = cs[i];                                                                \
            (void)a, (void)b, (void)c;                                                                                 \
            to->to_member[i] = (expression);                                                                           \
        }                                                                                                              \
    }

#define SIM_EACH_INTEGER(name, expression) SIM_EACH(name##_integers, int64_t, bv_integers, bv_integers, expression)
#define SIM_EACH_BITS(name, expression) SIM_EACH(name##_integers, uint64_t, bv_bits, bv_bits, expression)
#define SIM_EACH_SINGLE(name, expression) SIM_EACH(name##_floats, float, bv_floats, bv_floats, expression)
#define SIM_EACH_FLOAT(name, expression)                                                                               \
    SIM_EACH_SINGLE(name, expression)                                                                                  \
    SIM_EACH(name##_doubles, double, bv_doubles, bv_doubles, expression)
#define SIM_EACH_PAIR(name, expression)                                                                                \
    SIM_EACH(name##_float_pairs, float _Complex, bv_float_pairs, bv_float_pairs, expression)                           \
    SIM_EACH(name##_double_pairs, double _Complex, bv_double_pairs, bv_double_pairs, expression)
#define SIM_EACH_ARITHMETIC(name, expression)                                                                          \
    SIM_EACH_BITS(name, expression)                                                                                    \
    SIM_EACH_FLOAT(name, expression)                                                                                   \
    SIM_EACH_PAIR(name, expression)

/* Expressions that are 0 or 1. */
#define SIM_TEST_REAL(name, expression)                                                                                \
    SIM_EACH_INTEGER(name, expression)                                                                                 \
    SIM_EACH(name##_floats, float, bv_integers, bv_floats, expression)                                                 \
    SIM_EACH(name##_doubles, double, bv_integers, bv_doubles, expression)
#define SIM_TEST(name, expression)                                                                                     \
    SIM_TEST_REAL(name, expression)                                                                                    \
    SIM_EACH(name##_float_pairs, float _Complex, bv_integers, bv_float_pairs, expression)                              \
    SIM_EACH(name##_double_pairs, double _Complex, bv_integers, bv_double_pairs, expression)

/* The functions of a name, in the order of the classes. */
#define SIM_RUN_FLOAT(name) [SIM_CLASS_FLOAT] = name##_floats, [SIM_CLASS_DOUBLE] = name##_doubles
#define SIM_RUN_REAL(name) [SIM_CLASS_INTEGER] = name##_integers, SIM_RUN_FLOAT(name)
#define SIM_RUN_PAIR(name)                                                                                             \
    [SIM_CLASS_COMPLEX_FLOAT] = name##_float_pairs, [SIM_CLASS_COMPLEX_DOUBLE] = name##_double_pairs

#endif
