/* Norms of vectors: Norm and LinalgVectorNorm, and Renorm and InplaceRenorm, which scale slices to a norm. The order
 * selects what is combined: the number of elements that are not 0, their sizes, squares or powers, or the greatest or
 * least size. The norm of no elements is 0, or infinite for a negative order. */
#include "base/fail.h"
#include "line.h"
#include "reduce.h"
#include "require.h"
#include "tables.h"

#include <math.h>
#include <stdlib.h>

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

#define NORM(fold, map, end, ...)                                                                                      \
    {                                                                                                                  \
        fold, SIM_TYPES_SINGLE, .re_map = (map), .re_end = (end), __VA_ARGS__                                          \
    }
#define NORMS(root_of_squares, root_of_powers, ...)                                                                    \
    {                                                                                                                  \
        [NORM_COUNT] = NORM(SIM_FOLD_SUM, presence, same, __VA_ARGS__),                                                \
        [NORM_SIZES] = NORM(SIM_FOLD_SUM, size, same, __VA_ARGS__),                                                    \
        [NORM_EUCLIDEAN] = NORM(SIM_FOLD_SUM, square, root_of_squares, __VA_ARGS__),                                   \
        [NORM_GREATEST] = NORM(SIM_FOLD_GREATEST, size, not_negative, __VA_ARGS__),                                    \
        [NORM_LEAST] = NORM(SIM_FOLD_LEAST, size, same, __VA_ARGS__),                                                  \
        [NORM_POWERS] = NORM(SIM_FOLD_SUM, power, root_of_powers, __VA_ARGS__),                                        \
    }

/* Both schemas begin with self, the order, the dimensions and whether these are kept. */
#define PLACES .re_option = 1, .re_dims = 2, .re_keeps = 3

static const struct sim_reduction norms_by_order[] = NORMS(square_root, root, PLACES, .re_casts = true, .re_out = 4),
                                  vector_norms[] = NORMS(square_root, root, PLACES, .re_type = 4, .re_out = 5);

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

const struct sim_kernel sim_kernel_aclnnNorm = {plan_norm, run_norm, (void *)norms_by_order, false},
                        sim_kernel_aclnnLinalgVectorNorm = {plan_vector_norm, run_norm, (void *)vector_norms, false};

/* ---- the single operator LpNormReduceV2: x, axes, keepdim, p, y. It leaves the root to another operator, and orders
 * beyond 32 bits are infinite. ---- */

static const struct sim_reduction powers_by_order[] = NORMS(same, same, .re_dims = 1, .re_keeps = 2, .re_option = 3,
                                                            .re_out = 4);

static aclsimCall with_power(const aclsimCall *call)
{
    const double order = call->arguments[3].number;
    const double wanted = order > INT32_MAX ? INFINITY : order <= INT32_MIN ? -INFINITY : order;
    aclsimCall chosen = *call;
    chosen.userData = (void *)&powers_by_order[norm_of(wanted)];
    return chosen;
}

static aclnnStatus plan_powers(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimCall chosen = with_power(call);
    return sim_reduction_plan(&chosen, workspace_size);
}

static aclError run_powers(const aclsimCall *call)
{
    const aclsimCall chosen = with_power(call);
    return sim_reduction_run(&chosen);
}

static const struct sim_kernel powers_kernel = {plan_powers, run_powers, NULL, false};
static const struct sim_parameter powers_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {"axes", ACLSIM_INTEGERS, 0, false}, {"keepdim", ACLSIM_INTEGER, 0, false},
    {"p", ACLSIM_NUMBER, 0, false},         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_norm_powers_row = SIM_ROW("LpNormReduceV2", SIM_TASK_VECTOR, powers_parameters, &powers_kernel);

/* ---- Renorm (self, p, dim, maxNorm, out): slices whose norm is greater than maxNorm are scaled to it ---- */

static const aclsimArgument *result_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount == 5 ? 4 : 0]; /* InplaceRenorm replaces self */
}

static aclnnStatus check_renorm(const aclsimCall *call, const aclsimArgument *result, uint32_t *dim)
{
    const aclsimArgument *self = &call->arguments[0], *numbers[] = {&call->arguments[1], &call->arguments[3]};
    SIM_TRY(sim_require_types(self, result, SIM_TYPES_SINGLE));
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_require_type(numbers[i], SIM_TYPES_REAL));
        SIM_ARGUMENT(sim_reduction_option(numbers[i]) >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more",
                     numbers[i]->name, sim_reduction_option(numbers[i]));
    }
    SIM_TRY(sim_require_rank(self, 2, SIM_RANK));
    return sim_require_dim(&call->arguments[2], self->tensors->rank, dim);
}

static aclnnStatus plan_renorm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimTensor *tensor = call->arguments[0].tensors;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(check_renorm(call, result_of(call), &dim));
    return sim_require_shape(result_of(call), tensor->dims, tensor->rank, "that of self");
}

/* Computes the norms of all slices along a dimension as aclnnNorm does. */
static aclError find_norms(const aclsimCall *call, uint32_t dim, double *norms)
{
    const aclsimTensor *self = call->arguments[0].tensors;
    const aclsimTensor out = {.data = norms, .rank = 1, .dims = {self->dims[dim]}, .strides = {1}, .type = ACL_DOUBLE};
    int64_t others[SIM_RANK];
    uint32_t count = 0;
    for (uint32_t k = 0; k < self->rank; k++)
        if (k != dim)
            others[count++] = k;
    const aclsimArgument arguments[] = {
        call->arguments[0],
        call->arguments[1],
        {.name = "dims", .kind = ACLSIM_INTEGERS, .count = count, .integers = others},
        {.name = "keepdim", .kind = ACLSIM_INTEGER, .integer = 0},
        {.name = "norms", .kind = ACLSIM_TENSOR, .count = 1, .tensors = &out},
    };
    const aclsimCall norm = {.arguments = arguments, .argumentCount = 5, .userData = (void *)norms_by_order};
    return run_norm(&norm);
}

struct slice {
    aclDataType sl_type;
    double sl_scale;
};

/* places: the addresses of a line of the result and of a line of self. */
static aclError scale_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct slice *slice = context;
    int64_t size = (int64_t)sim_element_size(slice->sl_type);
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        union sim_block_values block;
        sim_element_load(&block, SIM_CLASS_DOUBLE, places[1] + done * strides[1], slice->sl_type, strides[1] / size,
                         count);
        for (size_t i = 0; i < count; i++)
            block.bv_doubles[i] *= slice->sl_scale;
        sim_element_store(&block, SIM_CLASS_DOUBLE, places[0] + done * strides[0], slice->sl_type, strides[0] / size,
                          count);
    }
    return ACL_SUCCESS;
}

/* As PyTorch computes it. */
static double factor_of(double norm, double most)
{
    return norm > most ? most / (norm + 1e-7) : 1;
}

static void scale_slices(const aclsimCall *call, uint32_t dim, const double *norms)
{
    const aclsimTensor *from = call->arguments[0].tensors, *to = result_of(call)->tensors;
    double most = sim_reduction_option(&call->arguments[3]);
    aclsimTensor sources = sim_line_without(from, dim), targets = sim_line_without(to, dim);
    for (int64_t i = 0; i < from->dims[dim]; i++) {
        struct slice slice = {from->type, factor_of(norms[i], most)};
        sim_walk_tensors((const aclsimTensor *[]){&targets, &sources}, 2, scale_line, &slice);
        if (i + 1 == from->dims[dim]) /* the stride of a single slice may be any number */
            break;
        sim_walk_advance(&sources, from->strides[dim]);
        sim_walk_advance(&targets, to->strides[dim]);
    }
}

static aclError run_renorm(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors;
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[2], self->rank, &dim));
    if (sim_walk_is_empty(self->dims, self->rank))
        return ACL_SUCCESS;
    double *norms = calloc((size_t)self->dims[dim], sizeof *norms);
    SIM_CHECK(norms != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for the norms of self");
    aclError code = find_norms(call, dim, norms);
    if (code == ACL_SUCCESS)
        scale_slices(call, dim, norms);
    free(norms);
    return code;
}

/* ---- the single operator Renorm: the factors of the slices, in place of the scaled slices ---- */

static aclnnStatus plan_factors(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0];
    int64_t dims[SIM_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(check_renorm(call, &call->arguments[4], &dim));
    dims[dim] = x->tensors->dims[dim];
    return sim_require_shape(&call->arguments[4], dims, x->tensors->rank, "one number per slice");
}

static aclError run_factors(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[4].tensors;
    const double most = sim_reduction_option(&call->arguments[3]);
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[2], self->rank, &dim));
    double *norms = calloc((size_t)self->dims[dim] + 1, sizeof *norms);
    SIM_CHECK(norms != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for the norms of x");
    aclError code = find_norms(call, dim, norms);
    const struct sim_line line = sim_line_of(out, 0, out->rank);
    for (int64_t i = 0; i < self->dims[dim]; i++)
        norms[i] = factor_of(norms[i], most);
    if (code == ACL_SUCCESS)
        sim_line_store(&line, SIM_CLASS_DOUBLE, norms, out->data);
    free(norms);
    return code;
}

static const struct sim_kernel factors_kernel = {plan_factors, run_factors, NULL, false};
static const struct sim_parameter factors_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                          {"p", ACLSIM_SCALAR, 0, false},
                                                          {"dim", ACLSIM_INTEGER, 0, false},
                                                          {"maxnorm", ACLSIM_SCALAR, 0, false},
                                                          {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_renorm_row = SIM_ROW("Renorm", SIM_TASK_VECTOR, factors_parameters, &factors_kernel);

const struct sim_kernel sim_kernel_aclnnRenorm = {plan_renorm, run_renorm, NULL, true},
                        sim_kernel_aclnnInplaceRenorm = {plan_renorm, run_renorm, NULL, true};
