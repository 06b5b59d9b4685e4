/* IsClose: whether two elements are equal within tolerances, |self - other| <= atol + rtol * |other|. It is computed in
 * double, so that large integers are close to their neighbours even with tolerances of 0. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"

#include <math.h>

/* The arguments: self, other, rtol, atol, equal_nan, out. */
enum { SELF, OTHER, RTOL, ATOL, EQUAL_NAN, OUT };

static aclnnStatus plan_close(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments, *inputs[] = {&arguments[SELF], &arguments[OTHER]};
    (void)workspace_size;
    SIM_TRY(sim_require_types(inputs[0], inputs[1], SIM_TYPES_REAL));
    SIM_TRY(sim_require_type(&arguments[OUT], SIM_TYPES_BOOL));
    for (size_t i = RTOL; i <= ATOL; i++)
        SIM_ARGUMENT(arguments[i].number >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more",
                     arguments[i].name, arguments[i].number);
    return sim_pointwise_check(&arguments[OUT], inputs, 2);
}

/* The difference of an infinity to anything else is not finite, and so never close. */
static bool is_close(double self, double other, const aclsimArgument *arguments)
{
    double distance = fabs(self - other);
    if (self == other || (arguments[EQUAL_NAN].integer != 0 && isnan(self) && isnan(other)))
        return true;
    return isfinite(distance) && distance <= arguments[ATOL].number + arguments[RTOL].number * fabs(other);
}

static void run_block(const struct sim_pointwise *block, const void *context)
{
    const aclsimCall *call = context;
    union sim_block_values self, other, result;
    sim_element_load(&self, SIM_CLASS_DOUBLE, block->pw_places[1], block->pw_tensors[1]->type, block->pw_strides[1],
                     block->pw_count);
    sim_element_load(&other, SIM_CLASS_DOUBLE, block->pw_places[2], block->pw_tensors[2]->type, block->pw_strides[2],
                     block->pw_count);
    for (size_t i = 0; i < block->pw_count; i++)
        result.bv_integers[i] = is_close(self.bv_doubles[i], other.bv_doubles[i], call->arguments);
    sim_element_store(&result, SIM_CLASS_INTEGER, block->pw_places[0], ACL_BOOL, block->pw_strides[0], block->pw_count);
}

static aclError run_close(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const aclsimTensor *tensors[] = {arguments[OUT].tensors, arguments[SELF].tensors, arguments[OTHER].tensors};
    sim_pointwise_run(tensors, 3, run_block, call);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnIsClose = {plan_close, run_close, NULL, true};
