/* What all reductions share: the set of reduced dimensions, checks of shapes, a walk over the other dimensions, and the
 * kernel of reductions that combine elements in one or two passes. */
#ifndef OPS_REDUCE_H
#define OPS_REDUCE_H

#include "operator/row.h"
#include "walk.h"

/* A set of reduced dimensions. With rd_keeps they have the size 1 in the result, otherwise the result lacks them. */
struct sim_reduced {
    unsigned rd_mask;
    bool rd_keeps;
};

static inline bool sim_reduces(const struct sim_reduced *reduced, uint32_t dim)
{
    return (reduced->rd_mask >> dim & 1) != 0;
}

/* Returns 161002 unless the tensor has the shape of the result. Instead of a scalar, a tensor with one dimension of
 * size 1 is accepted as well. */
aclnnStatus sim_reduce_check(const aclsimArgument *out, const aclsimTensor *self, const struct sim_reduced *reduced);
/* Returns 161002 if a reduced dimension is empty, because there is no greatest of no elements. */
aclnnStatus sim_reduce_check_filled(const aclsimArgument *self, const struct sim_reduced *reduced);

/* Builds a walk over the dimensions that are not reduced. The last tensor is self, the others are results. */
void sim_reduce_walk(struct sim_walk *walk, const aclsimTensor *const *tensors, const struct sim_reduced *reduced);

/* The class of a reduction: integers, doubles, or complex doubles. */
enum sim_class sim_reduce_class(aclDataType type);

/* ---- reductions that combine elements ---- */

enum sim_fold { SIM_FOLD_SUM, SIM_FOLD_PRODUCT, SIM_FOLD_GREATEST, SIM_FOLD_LEAST };

/* Replaces numbers before they are combined. The centre of number i is centres[i * step]. */
typedef void sim_reduce_map(double *numbers, const double *centres, size_t step, double option, size_t count);

/* How an operator reduces, and the positions of its arguments; 0: it has no such argument. The first one is self. */
struct sim_reduction {
    enum sim_fold re_fold;
    uint64_t re_types;
    uint64_t re_tests; /* not 0: whether an element is not 0 is combined, and these are the types of the result */
    bool re_averages;
    bool re_casts;      /* the type of the result may differ from that of the computation */
    bool re_fractional; /* integers are computed in float32 */
    /* Further steps, for types whose class is double. With re_centre there are two passes: re_first combines the
     * elements, re_centre makes the centre of that, and re_map gets it in the second pass. re_end makes the result. */
    enum sim_fold re_first;
    double (*re_centre)(double combined, double elements);
    sim_reduce_map *re_map;
    double (*re_end)(double combined, double centre, double elements, double option);
    uint8_t re_dims, re_keeps, re_noop, re_type, re_option, re_out;
};

aclnnStatus sim_reduction_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_reduction_run(const aclsimCall *call);
/* The same for an operator with two results, whose userData is an array of two reductions. */
aclnnStatus sim_reduction_plan_two(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_reduction_run_two(const aclsimCall *call);

/* The value of an argument that is a number or a real scalar. */
double sim_reduction_option(const aclsimArgument *option);

#define SIM_REDUCTION(name, ...)                                                                                       \
    static const struct sim_reduction reduction_##name = {__VA_ARGS__};                                                \
    const struct sim_kernel sim_kernel_aclnn##name = {sim_reduction_plan, sim_reduction_run,                           \
                                                      (void *)&reduction_##name, false};

#define SIM_REDUCTION_TWO(name, ...)                                                                                   \
    static const struct sim_reduction reductions_##name[] = {__VA_ARGS__};                                             \
    const struct sim_kernel sim_kernel_aclnn##name = {sim_reduction_plan_two, sim_reduction_run_two,                   \
                                                      (void *)reductions_##name, false};

/* A map from an expression of the number x, its centre and the option. */
#define SIM_REDUCE_MAP(name, expression)                                                                               \
    static void name(double *numbers, const double *centres, size_t step, double option, size_t count)                 \
    {                                                                                                                  \
        (void)option;                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const double x = numbers[i], centre = centres[i * step];                                                   \
            (void)centre;                                                                                              \
            numbers[i] = (expression);                                                                                 \
        }                                                                                                              \
    }

#endif
