/* Clamping: the maximum of self and the lower bound, then the minimum of that and the upper bound, so that the upper
 * bound wins if it is the smaller one. A NaN among the operands gives NaN. Scalar bounds are cast to the type of self;
 * tensors are promoted to a common type. */
#include "formula.h"

#include "base/fail.h"
#include "require.h"

#define CLAMPED (SIM_TYPES_FLOAT | SIM_TYPES_INTEGER)

#define RAISE(a, low) ((a) > (low) || (a) != (a) ? (a) : (low))
#define LOWER(a, high) ((a) < (high) || (a) != (a) ? (a) : (high))

SIM_EACH_INTEGER(raise, a > b ? a : b)
SIM_EACH_FLOAT(raise, RAISE(a, b))
SIM_EACH_INTEGER(lower, a < b ? a : b)
SIM_EACH_FLOAT(lower, LOWER(a, b))
SIM_EACH_INTEGER(clamp, a > c || b > c ? c : a > b ? a : b)
SIM_EACH_FLOAT(clamp, LOWER(RAISE(a, b), c))

/* The bounds may be bool, self may not. */
#define CLAMP(name, meeting)                                                                                           \
    {                                                                                                                  \
        .fo_result = "the clamped value", .fo_in = CLAMPED | SIM_TYPES_BOOL, .fo_out = CLAMPED,                        \
        .fo_meeting = (meeting), .fo_run = {SIM_RUN_REAL(name)}                                                        \
    }

enum { LEAST, MOST, BOTH };

static const struct sim_formula by_scalars[] = {
    [LEAST] = CLAMP(raise, 1), [MOST] = CLAMP(lower, 1), [BOTH] = CLAMP(clamp, 1)};
static const struct sim_formula by_tensors[] = {
    [LEAST] = CLAMP(raise, 2), [MOST] = CLAMP(lower, 2), [BOTH] = CLAMP(clamp, 3)};

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    SIM_TRY(sim_require_type(&call->arguments[0], CLAMPED));
    return sim_formula_plan(call, workspace_size);
}

/* ---- one bound ---- */

#define ONE_BOUND(op, formula)                                                                                         \
    const struct sim_kernel sim_kernel_aclnn##op = {plan, sim_formula_run, (void *)(formula), true}

ONE_BOUND(ClampMin, &by_scalars[LEAST]);
ONE_BOUND(ClampMax, &by_scalars[MOST]);
ONE_BOUND(InplaceClampMax, &by_scalars[MOST]);
ONE_BOUND(ClampMinTensor, &by_tensors[LEAST]);
ONE_BOUND(InplaceClampMinTensor, &by_tensors[LEAST]);
ONE_BOUND(ClampMaxTensor, &by_tensors[MOST]);
ONE_BOUND(InplaceClampMaxTensor, &by_tensors[MOST]);

/* ---- two bounds, one of which may be absent: self, clipValueMin, clipValueMax, out ---- */

#define PARAMETERS 4

/* The call without the absent bound, of the formula for the other one. `kept` has room for its arguments. */
static aclsimCall present(const aclsimCall *call, aclsimArgument *kept)
{
    const struct sim_formula *formulas = call->userData;
    bool has_least = call->arguments[1].present != 0, has_most = call->arguments[2].present != 0;
    aclsimCall made = *call;
    made.userData = (void *)&formulas[!has_most ? LEAST : !has_least ? MOST : BOTH];
    made.arguments = kept;
    made.argumentCount = 0;
    for (size_t i = 0; i < PARAMETERS; i++)
        if (call->arguments[i].present != 0)
            kept[made.argumentCount++] = call->arguments[i];
    return made;
}

static aclnnStatus plan_two(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *least = &call->arguments[1], *most = &call->arguments[2];
    aclsimArgument kept[PARAMETERS];
    SIM_ARGUMENT(least->present != 0 || most->present != 0, ACLNN_ERR_PARAM_NULLPTR,
                 "%s and %s are NULL, expected at least one valid pointer", least->name, most->name);
    const aclsimCall made = present(call, kept);
    return plan(&made, workspace_size);
}

static aclError run_two(const aclsimCall *call)
{
    aclsimArgument kept[PARAMETERS];
    const aclsimCall made = present(call, kept);
    return sim_formula_run(&made);
}

const struct sim_kernel sim_kernel_aclnnClamp = {plan_two, run_two, (void *)by_scalars, true},
                        sim_kernel_aclnnClampTensor = {plan_two, run_two, (void *)by_tensors, true};
