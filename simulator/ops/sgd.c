/* FusedSgd: paramsRef, gradsRef, momentumBufferListOptionalRef, gradScaleOptional, weightDecay, momentum, lr,
 * dampening, nesterov, maximize, isFirstStep. One step of gradient descent for each parameter. An empty list means that
 * there are no momentum buffers. The gradients are divided by the scale, and stored so. All is computed in double and
 * rounded once. */
#include "base/fail.h"
#include "loss.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"

enum { VARIABLES, GRADIENTS, BUFFERS, SCALE, DECAY, MOMENTUM, RATE, DAMPENING, NESTEROV, MAXIMIZE, FIRST_STEP };

static bool has_buffers(const aclsimArgument *given)
{
    const aclsimArgument *buffers = &given[BUFFERS];
    return buffers->count > 1 ||
           (buffers->count == 1 && !sim_walk_is_empty(buffers->tensors->dims, buffers->tensors->rank));
}

static bool has_scale(const aclsimArgument *given)
{
    const aclsimArgument *scale = &given[SCALE];
    return scale->present && !sim_walk_is_empty(scale->tensors->dims, scale->tensors->rank);
}

static aclnnStatus check_list(const aclsimArgument *list, const aclsimArgument *first)
{
    SIM_ARGUMENT(list->count == first->count, ACLNN_ERR_PARAM_INVALID,
                 "%s has length %llu, expected %llu, that of %s", list->name, (unsigned long long)list->count,
                 (unsigned long long)first->count, first->name);
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(list, i, name);
        const aclsimTensor *model = &first->tensors[i];
        SIM_TRY(sim_require_type(&member, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_same_type(&member, first->tensors->type, "the first parameter"));
        SIM_TRY(sim_require_shape(&member, model->dims, model->rank, "that of the parameter"));
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_ARGUMENT(given[VARIABLES].count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected 1 tensor or more",
                 given[VARIABLES].name);
    SIM_TRY(check_list(&given[VARIABLES], &given[VARIABLES]));
    SIM_TRY(check_list(&given[GRADIENTS], &given[VARIABLES]));
    if (has_buffers(given))
        SIM_TRY(check_list(&given[BUFFERS], &given[VARIABLES]));
    if (has_scale(given)) {
        SIM_TRY(sim_require_type(&given[SCALE], SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_one(&given[SCALE]));
    }
    for (size_t i = DECAY; i <= DAMPENING; i++)
        SIM_ARGUMENT(given[i].number >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more", given[i].name,
                     given[i].number);
    return ACL_SUCCESS;
}

struct step {
    const aclsimArgument *sp_given;
    double sp_scale;
    bool sp_buffered;
};

/* The tensors of a block: the parameter, its gradient, and its buffer if there is one. */
static void step_block(const struct sim_pointwise *block, const void *context)
{
    const struct step *step = context;
    const aclsimArgument *given = step->sp_given;
    const double decay = given[DECAY].number, momentum = given[MOMENTUM].number, rate = given[RATE].number;
    const double taken = 1 - given[DAMPENING].number;
    const bool buffered = step->sp_buffered, nesterov = given[NESTEROV].integer != 0;
    const bool first = given[FIRST_STEP].integer != 0, maximize = given[MAXIMIZE].integer != 0;
    const size_t count = buffered ? 3 : 2;
    union sim_block_values values[3];
    for (size_t i = 0; i < count; i++)
        sim_element_load(&values[i], SIM_CLASS_DOUBLE, block->pw_places[i], block->pw_tensors[i]->type,
                         block->pw_strides[i], block->pw_count);
    for (size_t i = 0; i < block->pw_count; i++) {
        double *variable = &values[0].bv_doubles[i], *gradient = &values[1].bv_doubles[i];
        *gradient /= step->sp_scale;
        double slope = (maximize ? -*gradient : *gradient) + decay * *variable;
        if (buffered) {
            double *buffer = &values[2].bv_doubles[i];
            *buffer = first ? slope : momentum * *buffer + taken * slope;
            slope = nesterov ? slope + momentum * *buffer : *buffer;
        }
        *variable -= rate * slope;
    }
    for (size_t i = 0; i < count; i++)
        if (i != 1 || step->sp_scale != 1)
            sim_element_store(&values[i], SIM_CLASS_DOUBLE, block->pw_places[i], block->pw_tensors[i]->type,
                              block->pw_strides[i], block->pw_count);
}

static aclError run(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool buffered = has_buffers(given);
    const aclsimTensor *scale = given[SCALE].tensors;
    const struct step step = {given, has_scale(given) ? sim_loss_load(scale->data, scale->type) : 1, buffered};
    for (uint64_t i = 0; i < given[VARIABLES].count; i++) {
        const aclsimTensor *tensors[] = {&given[VARIABLES].tensors[i], &given[GRADIENTS].tensors[i],
                                         buffered ? &given[BUFFERS].tensors[i] : NULL};
        sim_pointwise_run(tensors, buffered ? 3 : 2, step_block, &step);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnFusedSgd = {plan, run, NULL, false};
