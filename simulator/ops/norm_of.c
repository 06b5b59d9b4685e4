/* Norms of vectors: Norm and LinalgVectorNorm. The order selects what is combined: the number of elements that are not
 * 0, their sizes, squares or powers, or the greatest or least size. The norm of no elements is 0, or infinite for a
 * negative order. */
#include "base/fail.h"
#include "reduce.h"
#include "require.h"

#include <math.h>

SIM_REDUCE_MAP(presence, x != 0)
SIM_REDUCE_MAP(size, fabs(x))
SIM_REDUCE_MAP(square, x * x)
SIM_REDUCE_MAP(power, pow(fabs(x), option))

static double same(double combined, double centre, double elements, double order)
{
    (void)centre;
    (void)elements;
    (void)order;
    return combined;
}

/* The greatest of no elements is the neutral element, -infinity. */
static double not_negative(double combined, double centre, double elements, double order)
{
    return combined < 0 ? 0 : same(combined, centre, elements, order);
}

static double square_root(double combined, double centre, double elements, double order)
{
    return sqrt(same(combined, centre, elements, order));
}

static double root(double combined, double centre, double elements, double order)
{
    return pow(same(combined, centre, elements, order), 1 / order);
}

enum norm { NORM_COUNT, NORM_SIZES, NORM_EUCLIDEAN, NORM_GREATEST, NORM_LEAST, NORM_POWERS };

static enum norm norm_of(double order)
{
    return order == 0           ? NORM_COUNT
           : order == 1         ? NORM_SIZES
           : order == 2         ? NORM_EUCLIDEAN
           : order == INFINITY  ? NORM_GREATEST
           : order == -INFINITY ? NORM_LEAST
                                : NORM_POWERS;
}

/* Both schemas begin with self, the order, the dimensions and whether these are kept. */
#define NORM(fold, map, end, ...)                                                                                      \
    {                                                                                                                  \
        fold, SIM_TYPES_SINGLE, .re_map = (map), .re_end = (end), .re_option = 1, .re_dims = 2, .re_keeps = 3,         \
                                __VA_ARGS__                                                                            \
    }
#define NORMS(...)                                                                                                     \
    {                                                                                                                  \
        [NORM_COUNT] = NORM(SIM_FOLD_SUM, presence, same, __VA_ARGS__),                                                \
        [NORM_SIZES] = NORM(SIM_FOLD_SUM, size, same, __VA_ARGS__),                                                    \
        [NORM_EUCLIDEAN] = NORM(SIM_FOLD_SUM, square, square_root, __VA_ARGS__),                                       \
        [NORM_GREATEST] = NORM(SIM_FOLD_GREATEST, size, not_negative, __VA_ARGS__),                                    \
        [NORM_LEAST] = NORM(SIM_FOLD_LEAST, size, same, __VA_ARGS__),                                                  \
        [NORM_POWERS] = NORM(SIM_FOLD_SUM, power, root, __VA_ARGS__),                                                  \
    }

static const struct sim_reduction norms[] = NORMS(.re_casts = true, .re_out = 4),
                                  vector_norms[] = NORMS(.re_type = 4, .re_out = 5);

static aclsimCall with_order(const aclsimCall *call)
{
    const struct sim_reduction *all = call->userData;
    aclsimCall chosen = *call;
    chosen.userData = (void *)&all[norm_of(sim_reduction_option(&call->arguments[1]))];
    return chosen;
}

static aclnnStatus plan_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    SIM_TRY(sim_require_type(&call->arguments[1], SIM_TYPES_REAL));
    const aclsimCall chosen = with_order(call);
    return sim_reduction_plan(&chosen, workspace_size);
}

/* dtype is the type of self, or a wider one. */
static aclnnStatus plan_vector_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *type = &call->arguments[4];
    SIM_TRY(plan_norm(call, workspace_size));
    SIM_ARGUMENT(type->integer == ACL_FLOAT || type->integer == self->tensors->type, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s and %s is %s, expected float32 or the type of %s", type->name,
                 sim_element_name((aclDataType)type->integer), self->name, sim_element_name(self->tensors->type),
                 self->name);
    return ACL_SUCCESS;
}

static aclError run_norm(const aclsimCall *call)
{
    const aclsimCall chosen = with_order(call);
    return sim_reduction_run(&chosen);
}

const struct sim_kernel sim_kernel_aclnnNorm = {plan_norm, run_norm, (void *)norms, false},
                        sim_kernel_aclnnLinalgVectorNorm = {plan_vector_norm, run_norm, (void *)vector_norms, false};
