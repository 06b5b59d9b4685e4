/* RepeatInterleaveGrad: yGrad, repeats, axis, out. Index i of the axis was repeated repeats[i] times, or each index as
 * often as the only element says; the gradients of the copies are added up, in double. The result has the elements of
 * the input, in any shape. Repetitions that do not add up to the size of the axis end the task. */
#include "base/fail.h"
#include "require.h"
#include "slices.h"
#include <inttypes.h>
#include <stdio.h>

enum { GRADIENT, REPEATS, AXIS, OUT };

/* The gradient as blocks of consecutive numbers. */
struct blocks {
    size_t bk_outer, bk_length, bk_inner;
    size_t bk_short; /* the size of the axis of the result */
};

static aclnnStatus find_blocks(const aclsimCall *call, struct blocks *blocks)
{
    const aclsimTensor *gradient = call->arguments[GRADIENT].tensors;
    const int64_t repeats = sim_walk_count(call->arguments[REPEATS].tensors);
    const int64_t elements = sim_walk_count(call->arguments[OUT].tensors);
    uint32_t axis;
    SIM_TRY(sim_require_dim(&call->arguments[AXIS], gradient->rank, &axis));
    blocks->bk_outer = sim_slices_extent(gradient, 0, axis);
    blocks->bk_length = gradient->rank == 0 ? 1 : (size_t)gradient->dims[axis];
    blocks->bk_inner = gradient->rank == 0 ? 1 : sim_slices_extent(gradient, axis + 1, gradient->rank);
    const size_t step = blocks->bk_outer * blocks->bk_inner;
    blocks->bk_short = repeats != 1 ? (size_t)repeats : step == 0 ? 0 : (size_t)elements / step;
    SIM_ARGUMENT((size_t)elements == step * blocks->bk_short, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %zu for each index of %s", call->arguments[OUT].name, elements,
                 step, call->arguments[AXIS].name);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *repeats = &given[REPEATS];
    struct blocks blocks;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[GRADIENT], &given[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(repeats, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(repeats, 0, 1));
    SIM_ARGUMENT(sim_walk_count(repeats->tensors) != 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has no elements, expected 1 or more", repeats->name);
    return find_blocks(call, &blocks);
}

static aclError fail(const aclsimArgument *repeats, double sum, size_t length)
{
    char text[160];
    snprintf(text, sizeof text, "%.40s adds up to %.0f, expected %zu, the size of the axis, without a negative number",
             repeats->name, sum, length);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const bool one = sim_walk_count(given[REPEATS].tensors) == 1;
    struct blocks blocks;
    double *gradient, *repeats, *sums, all = 0;
    SIM_TRY(find_blocks(call, &blocks));
    SIM_TRY(sim_lists_load(lists, &given[GRADIENT], &gradient));
    SIM_TRY(sim_lists_load(lists, &given[REPEATS], &repeats));
    SIM_TRY(sim_lists_take(lists, blocks.bk_outer * blocks.bk_short * blocks.bk_inner, &sums));
    bool negative = false;
    for (size_t i = 0; i < blocks.bk_short; i++) {
        all += repeats[one ? 0 : i];
        negative |= repeats[one ? 0 : i] < 0;
    }
    if ((blocks.bk_outer * blocks.bk_inner != 0 && all != (double)blocks.bk_length) || negative)
        return fail(&given[REPEATS], all, blocks.bk_length);
    for (size_t outer = 0; outer < blocks.bk_outer; outer++)
        for (size_t i = 0; i < blocks.bk_short; i++) {
            double *to = sums + (outer * blocks.bk_short + i) * blocks.bk_inner;
            for (double left = repeats[one ? 0 : i]; left > 0; left--)
                for (size_t k = 0; k < blocks.bk_inner; k++)
                    to[k] += *gradient++;
        }
    sim_lists_store(&given[OUT], sums);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnRepeatInterleaveGrad = {plan, sim_lists_run, (void *)&kind, false};
