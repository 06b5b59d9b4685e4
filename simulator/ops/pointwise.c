#include "pointwise.h"

#include "fail.h"
#include "require.h"
#include "tensordesc.h"

/* The dimension that a tensor has where the result has its dimension `place`. */
static int64_t dim_at(const aclsimTensor *tensor, uint32_t rank, uint32_t place)
{
    return place + tensor->rank < rank ? 1 : tensor->dims[place + tensor->rank - rank];
}

aclnnStatus sim_pointwise_check_spread(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count)
{
    const aclsimTensor *result = out->tensors;
    for (size_t i = 0; i < count; i++) {
        const aclsimTensor *input = inputs[i]->tensors;
        SIM_ARGUMENT(input->rank <= result->rank, ACLNN_ERR_PARAM_INVALID,
                     "%s has %u dimensions, expected %u as %s has, or more", out->name, result->rank, input->rank,
                     inputs[i]->name);
        for (uint32_t k = 0; k < input->rank; k++) {
            uint32_t place = k + result->rank - input->rank;
            SIM_ARGUMENT(input->dims[k] == result->dims[place] || input->dims[k] == 1, ACLNN_ERR_PARAM_INVALID,
                         "dimension %u of %s is %lld and dimension %u of %s is %lld, expected the same or 1", k,
                         inputs[i]->name, (long long)input->dims[k], place, out->name, (long long)result->dims[place]);
        }
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_pointwise_check(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count)
{
    const aclsimTensor *result = out->tensors;
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank = inputs[i]->tensors->rank > rank ? inputs[i]->tensors->rank : rank;
    SIM_TRY(sim_require_rank(out, rank, rank));
    SIM_TRY(sim_pointwise_check_spread(out, inputs, count));
    for (uint32_t place = 0; place < rank; place++) {
        bool stretched = true;
        for (size_t i = 0; i < count; i++)
            stretched = stretched && dim_at(inputs[i]->tensors, rank, place) == 1;
        SIM_ARGUMENT(!stretched || result->dims[place] == 1, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected 1, to which the inputs broadcast", place, out->name,
                     (long long)result->dims[place]);
    }
    return ACL_SUCCESS;
}

/* ---- running ---- */

/* The shape of the result with as few dimensions as the strides of all the tensors allow, so that lines get long. */
struct walk {
    uint32_t wa_rank;
    int64_t wa_dims[SIM_RANK];
    int64_t wa_strides[SIM_RANK][SIM_POINTWISE_TENSORS]; /* in elements; 0 where a tensor is stretched */
};

/* Whether the last dimension so far, of steps `outer`, goes on where one of `dim` steps `inner` ends. */
static bool continues(const int64_t *outer, const int64_t *inner, int64_t dim, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t span;
        if (__builtin_mul_overflow(inner[i], dim, &span) || span != outer[i])
            return false;
    }
    return true;
}

static void plan_walk(struct walk *walk, const aclsimTensor *const *tensors, size_t count)
{
    uint32_t rank = tensors[0]->rank;
    *walk = (struct walk){.wa_rank = 0};
    for (uint32_t place = 0; place < rank; place++) {
        int64_t strides[SIM_POINTWISE_TENSORS], dim = tensors[0]->dims[place], merged;
        if (dim == 1)
            continue;
        for (size_t i = 0; i < count; i++)
            strides[i] = dim_at(tensors[i], rank, place) == 1
                             ? 0
                             : tensors[i]->strides[place + tensors[i]->rank - rank];
        if (walk->wa_rank > 0 && continues(walk->wa_strides[walk->wa_rank - 1], strides, dim, count) &&
            !__builtin_mul_overflow(walk->wa_dims[walk->wa_rank - 1], dim, &merged))
            dim = merged;
        else
            walk->wa_rank++;
        walk->wa_dims[walk->wa_rank - 1] = dim;
        memcpy(walk->wa_strides[walk->wa_rank - 1], strides, sizeof strides);
    }
    if (walk->wa_rank == 0) {
        walk->wa_rank = 1;
        walk->wa_dims[0] = 1;
    }
}

/* In bytes: how far `steps` steps along a dimension lead. */
static int64_t distance(const aclsimTensor *tensor, int64_t stride, int64_t steps)
{
    return steps * stride * (int64_t)(sim_type_bits(tensor->type) / 8);
}

static void run_line(struct sim_pointwise *block, size_t count, int64_t length, char *const *starts,
                     void (*run)(const struct sim_pointwise *block, void *context), void *context)
{
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        block->pw_count = (size_t)(length - done < SIM_BLOCK ? length - done : SIM_BLOCK);
        for (size_t i = 0; i < count; i++)
            block->pw_places[i] = starts[i] + distance(block->pw_tensors[i], block->pw_strides[i], done);
        run(block, context);
    }
}

void sim_pointwise_run(const aclsimTensor *const *tensors, size_t count,
                       void (*run)(const struct sim_pointwise *block, void *context), void *context)
{
    struct walk walk;
    struct sim_pointwise block = {.pw_count = 0};
    int64_t at[SIM_RANK] = {0};
    for (uint32_t k = 0; k < tensors[0]->rank; k++)
        if (tensors[0]->dims[k] == 0)
            return;
    plan_walk(&walk, tensors, count);
    uint32_t last = walk.wa_rank - 1;
    for (size_t i = 0; i < count; i++) {
        block.pw_tensors[i] = tensors[i];
        block.pw_strides[i] = walk.wa_strides[last][i];
    }
    for (;;) {
        char *starts[SIM_POINTWISE_TENSORS];
        for (size_t i = 0; i < count; i++) {
            starts[i] = tensors[i]->data;
            for (uint32_t k = 0; k < last; k++)
                starts[i] += distance(tensors[i], walk.wa_strides[k][i], at[k]);
        }
        run_line(&block, count, walk.wa_dims[last], starts, run, context);
        uint32_t k = last;
        while (k > 0 && ++at[k - 1] == walk.wa_dims[k - 1])
            at[--k] = 0;
        if (k == 0)
            return;
    }
}
