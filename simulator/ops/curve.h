/* Elementwise operators with real operands and numeric parameters: activations and their gradients. A struct sim_curve
 * says which types the operator accepts, and has the function that computes a block. Elements are computed in double
 * and rounded once, to the type of the result. Parameters are never rounded to the type of a tensor.
 *
 * The schema of such an operator has one or two operands, the result, and numbers, which are scalars or attributes, in
 * any order. Texts, further operands and further results are left to the operator's own plan. */
#ifndef OPS_CURVE_H
#define OPS_CURVE_H

#include "operator/row.h"
#include "pointwise.h"

#define SIM_CURVE_OPERANDS 3 /* the most that a function takes; a schema has at most two of them */
#define SIM_CURVE_NUMBERS 4

/* The parameters in both classes. Scalars with fractions have no integer. */
struct sim_curve_numbers {
    double cn_doubles[SIM_CURVE_NUMBERS];
    int64_t cn_integers[SIM_CURVE_NUMBERS];
};

typedef void sim_curve_func(union sim_block_values *restrict to, const union sim_block_values *const *from,
                            const struct sim_curve_numbers *numbers, size_t count);

/* A parsed call. */
struct sim_curve_call {
    const aclsimArgument *cc_in[SIM_CURVE_OPERANDS], *cc_out, *cc_numbers[SIM_CURVE_NUMBERS];
    size_t cc_in_count, cc_number_count;
};

struct sim_curve {
    uint64_t cu_in, cu_out; /* types of the operands and of the result */
    bool cu_exact;          /* operands and result have the same type; otherwise, the operands' common type is cast to
                               that of the result */
    bool cu_broadcasts;     /* the operands are broadcast together; otherwise, all have the same shape */
    aclnnStatus (*cu_check)(const struct sim_curve_call *call); /* further checks; may be NULL */
    sim_curve_func *cu_run;
    sim_curve_func *cu_run_integers; /* for calls in which all types are integers; NULL: cu_run */
};

aclnnStatus sim_curve_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_curve_run(const aclsimCall *call);

#define SIM_SELU_ALPHA 1.6732632423543772848
#define SIM_SELU_SCALE 1.0507009873554804934

/* The value of a scalar or attribute; 1 for a scalar that is absent. */
double sim_curve_number(const aclsimArgument *argument);
/* A check: the first number is 0 or more. */
aclnnStatus sim_curve_check_first_number(const struct sim_curve_call *call);

#define SIM_CURVE_KERNEL(op, curve)                                                                                    \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_curve_plan, sim_curve_run, (void *)(curve), true}
#define SIM_CURVE_KERNEL_IN_PLACE_TOO(op, curve)                                                                       \
    SIM_CURVE_KERNEL(op, curve);                                                                                       \
    SIM_CURVE_KERNEL(Inplace##op, curve)

/* Computes a function of `count` operands, which are broadcast to the result. For kernels whose operands are parts of
 * tensors. */
void sim_curve_apply(sim_curve_func *function, const aclsimTensor *to, const aclsimTensor *const *from, size_t count);

/* ---- functions made from an expression of a, b and c, the operands in order, and n, the numbers ---- */

#define SIM_CURVE_EACH(name, type, member, numbers_member, expression)                                                 \
    static void name(union sim_block_values *restrict to, const union sim_block_values *const *from,                   \
                     const struct sim_curve_numbers *numbers, size_t count)                                            \
    {                                                                                                                  \
        const type *as = from[0]->member, *bs = from[1]->member, *cs = from[2]->member, *n = numbers->numbers_member;  \
        (void)n;                                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type a = as[i], b = bs[i], c = cs[i];                                                                \
            (void)a, (void)b, (void)c;                                                                                 \
            to->member[i] = (expression);                                                                              \
        }                                                                                                              \
    }

#define SIM_CURVE(name, expression) SIM_CURVE_EACH(name##_doubles, double, bv_doubles, cn_doubles, expression)
#define SIM_CURVE_INTEGERS(name, expression)                                                                           \
    SIM_CURVE_EACH(name##_integers, int64_t, bv_integers, cn_integers, expression)

#endif
