/* Operators on lists of tensors. The formula of another operator is applied to the first tensors of all lists, then to
 * the second ones, and so on; only the types are those of the list operator.
 *
 * The schema of such an operator has one to three lists of operands, an optional scalar behind or before them, and a
 * list of results. The scalar is a scalar, a tensor of one element, or a list or a tensor with one element per member.
 * It is not rounded to the type of the tensors. */
#ifndef OPS_FOREACH_H
#define OPS_FOREACH_H

#include "formula.h"

struct sim_foreach {
    uint64_t fe_types;                    /* types of the tensors, which all have the same */
    const struct sim_kernel *fe_like;     /* a kernel made by SIM_FORMULA_KERNEL, whose formula is applied */
    const struct sim_formula *fe_formula; /* the formula, if fe_like is NULL */
    uint64_t fe_scalars;                  /* types of the scalar; 0: those that fit the type of the tensors */
    bool fe_many;                         /* a tensor of scalars has one element per member */
    bool fe_one;                          /* each result has one element; otherwise, the shape of the operand */
};

/* Checks the types, the shapes and the lengths of all lists. */
aclnnStatus sim_foreach_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_foreach_run(const aclsimCall *call);

/* Not in place: a result could equal an operand of a later member. */
#define SIM_FOREACH_KERNEL(op, run, ...)                                                                               \
    static const struct sim_foreach foreach_##op = {.fe_types = __VA_ARGS__};                                          \
    const struct sim_kernel sim_kernel_aclnnForeach##op = {sim_foreach_plan, run, (void *)&foreach_##op, false}

/* An operator like another one; the types come first, and may be followed by other members of sim_foreach. */
#define SIM_FOREACH(op, like, ...)                                                                                     \
    extern const struct sim_kernel sim_kernel_aclnn##like;                                                             \
    SIM_FOREACH_KERNEL(op, sim_foreach_run, __VA_ARGS__, .fe_like = &sim_kernel_aclnn##like)

#endif
