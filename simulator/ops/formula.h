/* Elementwise operators that are given by a formula. A struct sim_formula says which types the operator accepts, in
 * which type it computes and what the type of the result is. It has one function per class, and all are made from one
 * expression. Checks, broadcasting, scalars, in-place forms and loops are shared.
 *
 * The schema of such an operator has these parameters, in this order: an optional condition, one to three operands that
 * are promoted to a common type, an optional scale that is not, and an optional number that selects one of several
 * formulas. The result may stand anywhere. */
#ifndef OPS_FORMULA_H
#define OPS_FORMULA_H

#include "multiply.h"
#include "operator/row.h"
#include "pointwise.h"

#define SIM_FORMULA_OPERANDS 4

/* Computes `count` elements of its class, which may be in a block or in a tensor. */
typedef void sim_formula_func(void *restrict to, const void *const *from, size_t count);

struct sim_formula_call;

struct sim_formula {
    const char *fo_result;  /* for messages: "the sum" */
    uint64_t fo_in, fo_out; /* types of the operands and of the result */
    uint64_t fo_condition;  /* not 0: types of a condition, the first operand, which takes no part in promotion */
    uint64_t fo_scalars;    /* types of scalars; 0: those of the operands */
    unsigned fo_meeting;    /* how many operands are promoted to a common type, the others are scales; 0: two */
    bool fo_exact;          /* the type of the result must be the one that the formula gives; */
    bool fo_free;           /* or may be any; if both are false, one to which that type can be cast */
    bool fo_spreads;        /* the operands are broadcast to a result of any shape */
    unsigned fo_modes;      /* length of an array of formulas, from which a number selects; 0: one formula, no number */
    aclDataType (*fo_type)(aclDataType met, aclDataType out); /* type of the computation; NULL: the common type */
    aclDataType (*fo_gives)(aclDataType type);                /* type of the result; NULL: that of the computation */
    aclnnStatus (*fo_check)(const struct sim_formula_call *call);
    bool fo_keeps; /* the result is the first operand, so that the functions need not be called */
    sim_formula_func *fo_run[SIM_CLASSES]; /* if floats have none, uint64 is computed like other integers */
    aclDataType fo_odd;           /* the one type that needs another function than its class, */
    sim_formula_func *fo_run_odd; /* and that function; NULL: there is no such type */
};

/* A parsed call. */
struct sim_formula_call {
    const struct sim_formula *fc_formula;
    const aclsimArgument *fc_in[SIM_FORMULA_OPERANDS], *fc_out;
    size_t fc_count, fc_first;             /* number of operands; index of the first that is not the condition */
    aclDataType fc_met, fc_type, fc_given; /* the operands' common type; type of the computation; of its result */
};

/* Parses a call; returns 161002 if its types are wrong. For kernels with another computation or further checks. */
aclnnStatus sim_formula_parse(const aclsimCall *call, struct sim_formula_call *parsed);

/* A value of fo_type for functions with fractional values: integers are computed in float32. */
aclDataType sim_formula_fractional(aclDataType met, aclDataType out);

aclnnStatus sim_formula_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_formula_run(const aclsimCall *call);

/* A value of fo_gives for tests. */
aclDataType sim_formula_gives_bool(aclDataType type);

#define SIM_FORMULA_KERNEL(op, formula)                                                                                \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_formula_plan, sim_formula_run, (void *)(formula), true}

/* ---- functions made from an expression of a, b, c and d, the operands in order ---- */

#define SIM_EACH_IN(attributes, name, type, to_member, member, expression)                                             \
    attributes static void name(void *restrict to, const void *const *from, size_t count)                              \
    {                                                                                                                  \
        const type *as = from[0], *bs = from[1], *cs = from[2], *ds = from[3];                                         \
        __typeof__(*((union sim_block_values *)0)->to_member) *results = to;                                           \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type a = as[i], b = bs[i], c = cs[i], d = ds[i];                                                     \
            (void)a, (void)b, (void)c, (void)d;                                                                        \
            results[i] = (expression);                                                                                 \
        }                                                                                                              \
    }

#define SIM_EACH(name, type, to_member, member, expression) SIM_EACH_IN(, name, type, to_member, member, expression)
#define SIM_EACH_INTEGER(name, expression) SIM_EACH(name##_integers, int64_t, bv_integers, bv_integers, expression)
#define SIM_EACH_BITS(name, expression) SIM_EACH(name##_integers, uint64_t, bv_bits, bv_bits, expression)
#define SIM_EACH_SINGLE(name, expression) SIM_EACH(name##_floats, float, bv_floats, bv_floats, expression)

/* The same with a version for vectors of 32 bytes, for formulas that cost less than memory. Vectors of 64 bytes are no
 * faster in the cache, and slower beyond it. Both versions round alike, because expressions are not contracted. */
#ifdef __x86_64__
#define SIM_EACH_SINGLE_WIDE(name, expression)                                                                         \
    SIM_EACH_IN(__attribute__((target("avx2"))), name##_avx2, float, bv_floats, bv_floats, expression)                 \
    SIM_EACH(name##_plain, float, bv_floats, bv_floats, expression)                                                    \
    static void name##_floats(void *restrict to, const void *const *from, size_t count)                                \
    {                                                                                                                  \
        (sim_multiply_vector() >= 32 ? name##_avx2 : name##_plain)(to, from, count);                                   \
    }
#else
#define SIM_EACH_SINGLE_WIDE(name, expression) SIM_EACH_SINGLE(name, expression)
#endif

#define SIM_EACH_FLOAT(name, expression)                                                                               \
    SIM_EACH_SINGLE(name, expression)                                                                                  \
    SIM_EACH(name##_doubles, double, bv_doubles, bv_doubles, expression)
#define SIM_EACH_PAIR(name, expression)                                                                                \
    SIM_EACH(name##_float_pairs, float _Complex, bv_float_pairs, bv_float_pairs, expression)                           \
    SIM_EACH(name##_double_pairs, double _Complex, bv_double_pairs, bv_double_pairs, expression)
#define SIM_EACH_ARITHMETIC(name, expression)                                                                          \
    SIM_EACH_BITS(name, expression)                                                                                    \
    SIM_EACH_SINGLE_WIDE(name, expression)                                                                             \
    SIM_EACH(name##_doubles, double, bv_doubles, bv_doubles, expression)                                               \
    SIM_EACH_PAIR(name, expression)

/* For expressions with the value 0 or 1. */
#define SIM_TEST_REAL(name, expression)                                                                                \
    SIM_EACH_INTEGER(name, expression)                                                                                 \
    SIM_EACH(name##_floats, float, bv_integers, bv_floats, expression)                                                 \
    SIM_EACH(name##_doubles, double, bv_integers, bv_doubles, expression)
#define SIM_TEST(name, expression)                                                                                     \
    SIM_TEST_REAL(name, expression)                                                                                    \
    SIM_EACH(name##_float_pairs, float _Complex, bv_integers, bv_float_pairs, expression)                              \
    SIM_EACH(name##_double_pairs, double _Complex, bv_integers, bv_double_pairs, expression)

/* Initialisers of fo_run: the functions that the macros above made for a name. */
#define SIM_RUN_FLOAT(name) [SIM_CLASS_FLOAT] = name##_floats, [SIM_CLASS_DOUBLE] = name##_doubles
#define SIM_RUN_REAL(name) [SIM_CLASS_INTEGER] = name##_integers, SIM_RUN_FLOAT(name)
#define SIM_RUN_PAIR(name)                                                                                             \
    [SIM_CLASS_COMPLEX_FLOAT] = name##_float_pairs, [SIM_CLASS_COMPLEX_DOUBLE] = name##_double_pairs

#endif
