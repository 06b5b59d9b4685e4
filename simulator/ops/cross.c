/* LinalgCross: self, other, dim, out. The vectors of three elements lie along one dimension; the others are broadcast.
 * Products are computed in double or in integers of 64 bits. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "reduce.h"
#include "require.h"

#define CROSSED (SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL)
#define ELEMENTS 3
#define TENSORS 3 /* out, self and other */

static aclnnStatus plan_cross(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *inputs[] = {&given[0], &given[1]};
    uint32_t rank = given[0].tensors->rank, dim = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[1], CROSSED));
    SIM_TRY(sim_require_types(&given[0], &given[3], CROSSED));
    SIM_TRY(sim_require_rank(&given[0], 1, SIM_RANK));
    SIM_TRY(sim_require_rank(&given[1], rank, rank));
    SIM_TRY(sim_require_dim(&given[2], rank, &dim));
    for (uint32_t i = 0; i < 2; i++)
        SIM_ARGUMENT(given[i].tensors->dims[dim] == ELEMENTS, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected %d", dim, given[i].name,
                     (long long)given[i].tensors->dims[dim], ELEMENTS);
    return sim_pointwise_check(&given[3], inputs, 2);
}

struct cross {
    aclDataType cr_type;
    enum sim_class cr_class;
    int64_t cr_steps[TENSORS]; /* bytes from one element of a vector to the next */
};

/* The factors in one element of the result: a * b - c * d. */
struct factors {
    union sim_block_values fa_a, fa_b, fa_c, fa_d;
};

static void cross_block(enum sim_class class, struct factors *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (class == SIM_CLASS_INTEGER)
            from->fa_a.bv_bits[i] = from->fa_a.bv_bits[i] * from->fa_b.bv_bits[i] -
                                    from->fa_c.bv_bits[i] * from->fa_d.bv_bits[i];
        else if (class == SIM_CLASS_DOUBLE)
            from->fa_a.bv_doubles[i] = from->fa_a.bv_doubles[i] * from->fa_b.bv_doubles[i] -
                                       from->fa_c.bv_doubles[i] * from->fa_d.bv_doubles[i];
        else
            from->fa_a.bv_double_pairs[i] = from->fa_a.bv_double_pairs[i] * from->fa_b.bv_double_pairs[i] -
                                            from->fa_c.bv_double_pairs[i] * from->fa_d.bv_double_pairs[i];
}

/* Loads one element of each of `count` vectors. */
static void load(const struct cross *cross, union sim_block_values *block, const char *from, int64_t stride,
                 size_t count)
{
    sim_element_load(block, cross->cr_class, from, cross->cr_type,
                     stride / (int64_t)sim_element_size(cross->cr_type), count);
}

/* places: the addresses of the first elements of vectors of out, self and other. */
static aclError cross_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct cross *cross = context;
    const int64_t size = (int64_t)sim_element_size(cross->cr_type);
    struct factors from;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        for (int64_t k = 0; k < ELEMENTS; k++) {
            const int64_t next = (k + 1) % ELEMENTS, last = (k + 2) % ELEMENTS;
            const char *self = places[1] + done * strides[1], *other = places[2] + done * strides[2];
            load(cross, &from.fa_a, self + next * cross->cr_steps[1], strides[1], count);
            load(cross, &from.fa_b, other + last * cross->cr_steps[2], strides[2], count);
            load(cross, &from.fa_c, self + last * cross->cr_steps[1], strides[1], count);
            load(cross, &from.fa_d, other + next * cross->cr_steps[2], strides[2], count);
            cross_block(cross->cr_class, &from, count);
            sim_element_store(&from.fa_a, cross->cr_class, places[0] + done * strides[0] + k * cross->cr_steps[0],
                              cross->cr_type, strides[0] / size, count);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_cross(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *tensors[] = {given[3].tensors, given[0].tensors, given[1].tensors};
    const size_t size = sim_element_size(tensors[0]->type), sizes[] = {size, size, size};
    struct cross cross = {.cr_type = tensors[0]->type, .cr_class = sim_reduce_class(tensors[0]->type)};
    struct sim_walk walk = {.wk_places = TENSORS};
    char *places[TENSORS];
    uint32_t dim = 0;
    SIM_TRY(sim_require_dim(&given[2], tensors[0]->rank, &dim));
    for (uint32_t i = 0; i < TENSORS; i++) {
        cross.cr_steps[i] = tensors[i]->strides[dim] * (int64_t)size;
        places[i] = tensors[i]->data;
    }
    for (uint32_t k = 0; k < tensors[0]->rank; k++) {
        int64_t strides[TENSORS];
        for (uint32_t i = 0; i < TENSORS; i++)
            strides[i] = tensors[i]->dims[k] == 1 ? 0 : tensors[i]->strides[k];
        if (k != dim)
            sim_walk_add(&walk, tensors[0]->dims[k], strides, sizes);
    }
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, cross_line, &cross);
}

const struct sim_kernel sim_kernel_aclnnLinalgCross = {plan_cross, run_cross, NULL, false};
