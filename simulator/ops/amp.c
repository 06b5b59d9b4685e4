/* Loss scaling for training in mixed precision: ForeachNonFiniteCheckAndUnscale (scaledGrads, foundInf, invScale),
 * which divides gradients by the scale and says whether one of them was infinite or NaN, and AmpUpdateScale
 * (currentScale, growthTracker, foundInf, growthFactor, backoffFactor, growthInterval, updatedScale,
 * updatedGrowthTracker). */
#include "base/fail.h"
#include "operator/row.h"
#include "require.h"
#include "walk.h"

#include <math.h>

static double read_number(const aclsimArgument *given)
{
    union sim_block_values block;
    sim_element_load(&block, SIM_CLASS_DOUBLE, given->tensors->data, given->tensors->type, 0, 1);
    return block.bv_doubles[0];
}

static void write_number(const aclsimArgument *given, double value)
{
    union sim_block_values block = {.bv_doubles = {value}};
    sim_element_store(&block, SIM_CLASS_DOUBLE, given->tensors->data, given->tensors->type, 0, 1);
}

/* ---- ForeachNonFiniteCheckAndUnscale ---- */

static aclnnStatus plan_unscale(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *gradients = &call->arguments[0];
    (void)workspace_size;
    SIM_ARGUMENT(gradients->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected at least one tensor",
                 gradients->name);
    for (uint64_t i = 0; i < gradients->count; i++) {
        char name[SIM_NAME_BYTES];
        aclsimArgument member = *gradients;
        member.kind = ACLSIM_TENSOR;
        member.tensors = &gradients->tensors[i];
        sim_require_name(gradients, i, name);
        member.name = name;
        SIM_TRY(sim_require_type(&member, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_same_type(&member, gradients->tensors->type, "the first tensor"));
    }
    for (uint32_t i = 1; i <= 2; i++) {
        SIM_TRY(sim_require_type(&call->arguments[i], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_one(&call->arguments[i]));
    }
    return ACL_SUCCESS;
}

struct unscaling {
    double un_factor;
    aclDataType un_type;
    bool un_found; /* an element that is infinite or NaN */
};

static aclError unscale_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct unscaling *unscaling = context;
    const int64_t stride = strides[0] / (int64_t)sim_element_size(unscaling->un_type);
    union sim_block_values block;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        char *at = places[0] + done * strides[0];
        sim_element_load(&block, SIM_CLASS_DOUBLE, at, unscaling->un_type, stride, count);
        for (size_t i = 0; i < count; i++) {
            unscaling->un_found |= !isfinite(block.bv_doubles[i]);
            block.bv_doubles[i] *= unscaling->un_factor;
        }
        sim_element_store(&block, SIM_CLASS_DOUBLE, at, unscaling->un_type, stride, count);
    }
    return ACL_SUCCESS;
}

static aclError run_unscale(const aclsimCall *call)
{
    const aclsimArgument *gradients = &call->arguments[0];
    struct unscaling unscaling = {.un_factor = read_number(&call->arguments[2]), .un_type = gradients->tensors->type};
    for (uint64_t i = 0; i < gradients->count; i++)
        SIM_TRY(sim_walk_in_order(&(const aclsimTensor *){&gradients->tensors[i]}, 1, unscale_line, &unscaling));
    if (unscaling.un_found)
        write_number(&call->arguments[1], 1);
    return ACL_SUCCESS;
}

/* ---- AmpUpdateScale ---- */

enum { SCALE, TRACKER, FOUND, GROWTH, BACKOFF, INTERVAL, NEW_SCALE, NEW_TRACKER };

static aclnnStatus plan_update(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *interval = &given[INTERVAL];
    static const int tensors[] = {SCALE, TRACKER, FOUND, NEW_SCALE, NEW_TRACKER};
    (void)workspace_size;
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        const aclsimArgument *tensor = &given[tensors[i]];
        const bool counts = tensors[i] == TRACKER || tensors[i] == NEW_TRACKER;
        SIM_TRY(sim_require_type(tensor, counts ? SIM_TYPE(ACL_INT32) : SIM_TYPES_SINGLE));
        if (!counts)
            SIM_TRY(sim_require_same_type(tensor, given[SCALE].tensors->type, given[SCALE].name));
        SIM_TRY(sim_require_one(tensor));
    }
    SIM_ARGUMENT(interval->integer >= 1 && interval->integer <= INT32_MAX, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 1 to %d", interval->name, (long long)interval->integer, INT32_MAX);
    return ACL_SUCCESS;
}

/* After a step with an infinite gradient the scale shrinks; after `interval` steps without one it grows, unless it
 * would become infinite. */
static aclError run_update(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    double scale = read_number(&given[SCALE]), steps = read_number(&given[TRACKER]) + 1;
    if (read_number(&given[FOUND]) != 0) {
        scale *= given[BACKOFF].number;
        steps = 0;
    } else if (steps == (double)given[INTERVAL].integer) {
        const float grown = (float)(scale * given[GROWTH].number);
        scale = isfinite(grown) ? grown : scale;
        steps = 0;
    }
    write_number(&given[NEW_SCALE], scale);
    write_number(&given[NEW_TRACKER], steps);
    return ACL_SUCCESS;
}

/* Not marked as in place: a tensor could equal another one of the list. */
const struct sim_kernel sim_kernel_aclnnForeachNonFiniteCheckAndUnscale = {plan_unscale, run_unscale, NULL, false},
                        sim_kernel_aclnnAmpUpdateScale = {plan_update, run_update, NULL, true};
