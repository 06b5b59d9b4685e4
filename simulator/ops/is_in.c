/* IsInTensorScalar (element, testElement, assumeUnique, invert, out): which elements of a tensor are equal to a number;
 * and IsInScalarTensor (element, testElements, assumeUnique, invert, out): whether a number is equal to an element of a
 * tensor. Both operands are compared in their common type. assumeUnique has no effect. */
#include "base/fail.h"
#include "formula.h"
#include "require.h"
#include <stdlib.h>

enum { ELEMENT, TESTS, UNIQUE, INVERT, OUT };

#define SOUGHT (SIM_TYPES_ARITHMETIC | SIM_TYPE(ACL_UINT16))

SIM_TEST(is_equal, a == b)
SIM_TEST(is_unequal, a != b)
#define COMPARISON(name)                                                                                               \
    {                                                                                                                  \
        .fo_result = "the result", .fo_in = SOUGHT, .fo_out = SIM_TYPES_BOOL, .fo_gives = sim_formula_gives_bool,      \
        .fo_run = {SIM_RUN_REAL(name), SIM_RUN_PAIR(name)}                                                             \
    }
static const struct sim_formula equal = COMPARISON(is_equal), unequal = COMPARISON(is_unequal);

/* A comparison of the operands; `found` stands in for the result. `arguments` has room for three. */
static aclsimCall comparison_of(const aclsimCall *call, const aclsimArgument *found, bool inverted,
                                aclsimArgument *arguments)
{
    arguments[0] = call->arguments[ELEMENT];
    arguments[1] = call->arguments[TESTS];
    arguments[2] = *found;
    return (aclsimCall){
        .arguments = arguments, .argumentCount = 3, .userData = (void *)(inverted ? &unequal : &equal)};
}

/* ---- a tensor and a number ---- */

static aclnnStatus plan_elements(const aclsimCall *call, uint64_t *workspace_size)
{
    aclsimArgument arguments[3];
    const aclsimCall comparison = comparison_of(call, &call->arguments[OUT], false, arguments);
    return sim_formula_plan(&comparison, workspace_size);
}

static aclError run_elements(const aclsimCall *call)
{
    aclsimArgument arguments[3];
    const aclsimCall comparison =
        comparison_of(call, &call->arguments[OUT], call->arguments[INVERT].integer != 0, arguments);
    return sim_formula_run(&comparison);
}

const struct sim_kernel sim_kernel_aclnnIsInTensorScalar = {plan_elements, run_elements, NULL, true};

/* ---- a number and a tensor ---- */

/* A contiguous tensor of bools in the shape of the tests, without memory. */
static aclsimTensor bools_like(const aclsimTensor *tests)
{
    const aclsimTensor line = {.strides = {1}, .rank = 1, .type = ACL_BOOL};
    return sim_walk_fold(&line, tests);
}

static aclnnStatus plan_any(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimTensor bools = bools_like(call->arguments[TESTS].tensors);
    aclsimArgument arguments[3], found = call->arguments[OUT];
    SIM_TRY(sim_require_type(&found, SIM_TYPES_BOOL));
    SIM_TRY(sim_require_rank(&found, 0, 0));
    found.tensors = &bools;
    const aclsimCall comparison = comparison_of(call, &found, false, arguments);
    return sim_formula_plan(&comparison, workspace_size);
}

static aclError run_any(const aclsimCall *call)
{
    const int64_t count = sim_walk_count(call->arguments[TESTS].tensors);
    aclsimTensor bools = bools_like(call->arguments[TESTS].tensors);
    aclsimArgument arguments[3], found = call->arguments[OUT];
    bool *const values = count < 0 ? NULL : calloc(count == 0 ? 1 : (size_t)count, sizeof *values), any = false;
    SIM_CHECK(values != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for the comparisons");
    bools.data = values;
    found.tensors = &bools;
    const aclsimCall comparison = comparison_of(call, &found, false, arguments);
    const aclError ret = sim_formula_run(&comparison);
    for (int64_t i = 0; i < count; i++)
        any |= values[i];
    free(values);
    if (ret == ACL_SUCCESS)
        *(bool *)call->arguments[OUT].tensors->data = any != (call->arguments[INVERT].integer != 0);
    return ret;
}

const struct sim_kernel sim_kernel_aclnnIsInScalarTensor = {plan_any, run_any, NULL, false};
