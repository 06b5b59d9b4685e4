/* Functions of one operand and of numbers that are passed by value: NanToNum, RoundDecimals and Logit. The result has
 * the type and the shape of the operand. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include <string.h>
#include <tgmath.h>

/* Replaces a block of operands by the results. */
typedef void function_run(union sim_block_values *values, size_t count, const aclsimArgument *numbers);

struct function {
    uint64_t fn_types;
    function_run *fn_run[SIM_CLASSES]; /* NULL: the values stay */
};

/* The numbers follow the first operand; the form in place has no tensor behind them. */
static const aclsimArgument *result_of(const aclsimCall *call)
{
    const aclsimArgument *last = &call->arguments[call->argumentCount - 1];
    return last->kind == ACLSIM_TENSOR ? last : &call->arguments[0];
}

static aclnnStatus plan_function(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct function *function = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = result_of(call);
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, function->fn_types));
    return sim_pointwise_check(out, &self, 1);
}

static void run_block(const struct sim_pointwise *block, const void *context)
{
    const aclsimCall *call = context;
    const struct function *function = call->userData;
    aclDataType type = block->pw_tensors[0]->type;
    enum sim_class class = sim_element_class(type);
    union sim_block_values values;
    sim_element_load(&values, class, block->pw_places[1], type, block->pw_strides[1], block->pw_count);
    if (function->fn_run[class] != NULL)
        function->fn_run[class](&values, block->pw_count, &call->arguments[1]);
    sim_element_store(&values, class, block->pw_places[0], type, block->pw_strides[0], block->pw_count);
}

static aclError run_function(const aclsimCall *call)
{
    const aclsimTensor *tensors[] = {result_of(call)->tensors, call->arguments[0].tensors};
    sim_pointwise_run(tensors, 2, run_block, call);
    return ACL_SUCCESS;
}

#define KERNEL(op, function)                                                                                           \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_function, run_function, (void *)(function), true}

/* ---- NanToNum: nan, posinf, neginf ---- */

static void replace(union sim_block_values *values, size_t count, const aclsimArgument *numbers)
{
    const float nan = (float)numbers[0].number, above = (float)numbers[1].number, below = (float)numbers[2].number;
    float *floats = values->bv_floats;
    for (size_t i = 0; i < count; i++) {
        const float a = floats[i];
        floats[i] = a != a ? nan : a == INFINITY ? above : a == -INFINITY ? below : a;
    }
}

static const struct function replacement = {SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE,
                                            {[SIM_CLASS_FLOAT] = replace}};
KERNEL(NanToNum, &replacement);
KERNEL(InplaceNanToNum, &replacement);

/* ---- RoundDecimals: decimals; halves are rounded to the even neighbour ---- */

#define ROUND_FLOATS(name, type, member)                                                                               \
    static void name(union sim_block_values *values, size_t count, const aclsimArgument *numbers)                      \
    {                                                                                                                  \
        const double decimals = (double)numbers[0].integer;                                                            \
        const type scale = (type)pow(10.0, fabs(decimals));                                                            \
        type *rounded = values->member;                                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            rounded[i] = decimals < 0 ? rint(rounded[i] / scale) * scale : rint(rounded[i] * scale) / scale;           \
    }

ROUND_FLOATS(round_floats, float, bv_floats)
ROUND_FLOATS(round_doubles, double, bv_doubles)

static void round_integers(union sim_block_values *values, size_t count, const aclsimArgument *numbers)
{
    const int64_t decimals = numbers[0].integer;
    int64_t *integers = values->bv_integers, scale = 1;
    if (decimals < -18) { /* 64 bits hold no such power of 10 */
        memset(integers, 0, count * sizeof *integers);
        return;
    }
    for (int64_t i = decimals; i < 0; i++)
        scale *= 10;
    for (size_t i = 0; i < count; i++) {
        int64_t whole = integers[i] / scale, rest = integers[i] % scale, size = rest < 0 ? -rest : rest;
        bool away = size > scale - size || (size == scale - size && whole % 2 != 0);
        uint64_t rounded = (uint64_t)whole + (away ? (rest < 0 ? UINT64_MAX : 1) : 0);
        integers[i] = (int64_t)(rounded * (uint64_t)scale);
    }
}

static const struct function rounding = {SIM_TYPES_FLOAT | SIM_TYPES_INDEX,
                                         {[SIM_CLASS_INTEGER] = round_integers,
                                          [SIM_CLASS_FLOAT] = round_floats,
                                          [SIM_CLASS_DOUBLE] = round_doubles}};
KERNEL(RoundDecimals, &rounding);
KERNEL(InplaceRoundDecimals, &rounding);

/* ---- Logit: eps; if it is not negative, the operand is clamped to eps and 1 - eps ---- */

/* The quotient is near 1 where the logarithm is near 0: in float, nothing of it would be right there. */
static void take_logit(union sim_block_values *values, size_t count, const aclsimArgument *numbers)
{
    const float low = (float)numbers[0].number, high = 1 - low;
    float *floats = values->bv_floats;
    for (size_t i = 0; i < count; i++) {
        const float a = floats[i];
        const double clamped = low < 0 ? a : a < low ? low : a > high ? high : a;
        floats[i] = (float)log(clamped / (1 - clamped));
    }
}

static const struct function logit = {SIM_TYPES_SINGLE, {[SIM_CLASS_FLOAT] = take_logit}};
KERNEL(Logit, &logit);
