/* The index of the greatest or least element along one dimension: ArgMax, ArgMin, and, with the element itself, MaxDim
 * and MinDim. Among equal elements the first is chosen; a NaN is chosen before all others. */
#include "base/fail.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"

/* All schemas begin with self, dim and keepdim. ex_values and ex_indices are the positions of the outputs; 0: the
 * operator does not have it. */
struct extreme {
    uint64_t ex_types, ex_index_types;
    bool ex_least;
    uint8_t ex_values, ex_indices;
};

static aclnnStatus find_dim(const aclsimCall *call, uint32_t *dim, struct sim_reduced *reduced)
{
    const aclsimArgument *given = &call->arguments[1];
    SIM_TRY(sim_require_dim(given, call->arguments[0].tensors->rank, dim));
    *reduced = (struct sim_reduced){1u << *dim, call->arguments[2].integer != 0};
    return ACL_SUCCESS;
}

static aclnnStatus plan_extreme(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct extreme *extreme = call->userData;
    const aclsimArgument *self = &call->arguments[0], *indices = &call->arguments[extreme->ex_indices];
    struct sim_reduced reduced;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, extreme->ex_types));
    SIM_TRY(sim_require_type(indices, extreme->ex_index_types));
    SIM_TRY(find_dim(call, &dim, &reduced));
    SIM_TRY(sim_reduce_check_filled(self, &reduced));
    if (extreme->ex_values != 0) {
        const aclsimArgument *values = &call->arguments[extreme->ex_values];
        SIM_TRY(sim_require_types(self, values, extreme->ex_types));
        SIM_TRY(sim_reduce_check(values, self->tensors, &reduced));
    }
    return sim_reduce_check(indices, self->tensors, &reduced);
}

/* ---- the second phase ---- */

struct run {
    const struct extreme *rn_extreme;
    enum sim_class rn_class;
    aclDataType rn_self, rn_indices;
    int64_t rn_length, rn_stride; /* of the dimension; the stride is in elements */
    /* the best element so far, and its index: */
    union sim_block_values rn_best;
    int64_t rn_place;
};

/* Looks for a better element in a block that begins at index `start`. */
#define SCAN(name, type, field, better)                                                                                \
    static void name(struct run *run, const union sim_block_values *block, int64_t start, size_t count)                \
    {                                                                                                                  \
        type best = run->rn_best.field[0];                                                                             \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type value = block->field[i];                                                                              \
            if (better) {                                                                                              \
                best = value;                                                                                          \
                run->rn_place = start + (int64_t)i;                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        run->rn_best.field[0] = best;                                                                                  \
    }

SCAN(scan_greatest_integers, int64_t, bv_integers, value > best)
SCAN(scan_least_integers, int64_t, bv_integers, value < best)
SCAN(scan_greatest_doubles, double, bv_doubles, best == best && !(value <= best))
SCAN(scan_least_doubles, double, bv_doubles, best == best && !(value >= best))

static void find(struct run *run, const char *self)
{
    bool least = run->rn_extreme->ex_least, whole = run->rn_class == SIM_CLASS_INTEGER;
    size_t size = sim_element_size(run->rn_self);
    union sim_block_values block;
    run->rn_place = 0;
    sim_element_load(&run->rn_best, run->rn_class, self, run->rn_self, 0, 1);
    for (int64_t done = 0; done < run->rn_length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, run->rn_length);
        sim_element_load(&block, run->rn_class, self + done * run->rn_stride * (int64_t)size, run->rn_self,
                         run->rn_stride, count);
        if (whole && least)
            scan_least_integers(run, &block, done, count);
        else if (whole)
            scan_greatest_integers(run, &block, done, count);
        else if (least)
            scan_least_doubles(run, &block, done, count);
        else
            scan_greatest_doubles(run, &block, done, count);
    }
}

/* places: the addresses of the indices, of the values (or the indices again) and of self. */
static aclError find_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct run *run = context;
    for (int64_t i = 0; i < length; i++) {
        find(run, places[2] + i * strides[2]);
        if (run->rn_extreme->ex_values != 0)
            sim_element_store(&run->rn_best, run->rn_class, places[1] + i * strides[1], run->rn_self, 0, 1);
        run->rn_best.bv_integers[0] = run->rn_place;
        sim_element_store(&run->rn_best, SIM_CLASS_INTEGER, places[0] + i * strides[0], run->rn_indices, 0, 1);
    }
    return ACL_SUCCESS;
}

static aclError run_extreme(const aclsimCall *call)
{
    const struct extreme *extreme = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *indices = call->arguments[extreme->ex_indices].tensors;
    const aclsimTensor *values = extreme->ex_values == 0 ? indices : call->arguments[extreme->ex_values].tensors;
    const aclsimTensor *tensors[] = {indices, values, self};
    char *places[] = {indices->data, values->data, self->data};
    struct run run = {.rn_extreme = extreme, .rn_self = self->type, .rn_indices = indices->type, .rn_length = 1};
    struct sim_walk kept = {.wk_places = 3};
    struct sim_reduced reduced;
    uint32_t dim;
    SIM_TRY(find_dim(call, &dim, &reduced));
    run.rn_class = sim_reduce_class(self->type);
    if (self->rank != 0 && self->dims[dim] != 1) {
        run.rn_length = self->dims[dim];
        run.rn_stride = self->strides[dim];
    }
    sim_reduce_walk(&kept, tensors, &reduced);
    return sim_walk_run(&kept, places, find_line, &run);
}

#define EXTREME(name, ...)                                                                                             \
    static const struct extreme extreme_##name = {__VA_ARGS__};                                                        \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_extreme, run_extreme, (void *)&extreme_##name, false};

EXTREME(ArgMax, SIM_TYPES_REAL & ~SIM_TYPES_BOOL, SIM_TYPES_INDEX, .ex_indices = 3)
EXTREME(ArgMin, SIM_TYPES_REAL & ~SIM_TYPES_BOOL, SIM_TYPES_INDEX, .ex_least = true, .ex_indices = 3)
EXTREME(MaxDim, SIM_TYPES_REAL, SIM_TYPES_ARITHMETIC, .ex_values = 3, .ex_indices = 4)
EXTREME(MinDim, SIM_TYPES_REAL, SIM_TYPES_ARITHMETIC, .ex_least = true, .ex_values = 3, .ex_indices = 4)
