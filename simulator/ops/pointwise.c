/* Checks of shapes and the loop of elementwise operators. A block of SIM_BLOCK elements fits into the cache in every
 * class, and walks join dimensions so that lines are long. */
#include "pointwise.h"

#include "base/fail.h"
#include "require.h"

aclnnStatus sim_pointwise_check_spread(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count)
{
    const aclsimTensor *result = out->tensors;
    for (size_t i = 0; i < count; i++) {
        const aclsimTensor *input = inputs[i]->tensors;
        SIM_ARGUMENT(input->rank <= result->rank, ACLNN_ERR_PARAM_INVALID,
                     "%s has %u dimensions, expected %u or more, as many as %s", out->name, result->rank, input->rank,
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
        for (size_t i = 0; i < count; i++) {
            const aclsimTensor *input = inputs[i]->tensors;
            uint32_t missing = rank - input->rank;
            stretched = stretched && (place < missing || input->dims[place - missing] == 1);
        }
        SIM_ARGUMENT(!stretched || result->dims[place] == 1, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected 1, the size to which the inputs broadcast", place, out->name,
                     (long long)result->dims[place]);
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_pointwise_check_list(const aclsimArgument *list, const aclsimArgument *out, uint64_t types)
{
    SIM_ARGUMENT(list->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected at least one tensor", list->name);
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(list, i, name);
        const aclsimArgument *const members[] = {&member};
        SIM_TRY(sim_require_types(&member, out, types));
        SIM_TRY(sim_pointwise_check_spread(out, members, 1));
    }
    return ACL_SUCCESS;
}

/* ---- the second phase ---- */

struct pass {
    const aclsimTensor *const *pa_tensors;
    size_t pa_count; /* number of tensors */
    sim_pointwise_func pa_run;
    const void *pa_context;
};

static void run_piece(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct pass *pass = context;
    struct sim_pointwise block;
    (void)seat;
    for (size_t i = 0; i < pass->pa_count; i++) {
        block.pw_tensors[i] = pass->pa_tensors[i];
        block.pw_strides[i] = strides[i] / (int64_t)sim_element_size(block.pw_tensors[i]->type);
    }
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        block.pw_count = sim_element_block(done, length);
        for (size_t i = 0; i < pass->pa_count; i++)
            block.pw_places[i] = places[i] + done * strides[i];
        pass->pa_run(&block, pass->pa_context);
    }
}

static void run_with(const aclsimTensor *const *tensors, size_t count, size_t grain, sim_pointwise_func run,
                     const void *context)
{
    const struct pass pass = {tensors, count, run, context};
    sim_walk_split_tensors(tensors, (uint32_t)count, grain, run_piece, &pass);
}

void sim_pointwise_run(const aclsimTensor *const *tensors, size_t count, sim_pointwise_func run, const void *context)
{
    run_with(tensors, count, sim_walk_grain(tensors[0], 1), run, context);
}

void sim_pointwise_fold(const aclsimTensor *const *tensors, size_t count, sim_pointwise_func run, const void *context)
{
    run_with(tensors, count, SIZE_MAX, run, context);
}
