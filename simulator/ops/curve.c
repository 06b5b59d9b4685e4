/* The kernel of all curves. Both phases parse the call in the same way. */
#include "curve.h"

#include "base/fail.h"
#include "require.h"
#include <string.h>

/* ---- parsing a call ---- */

static struct sim_curve_call parse(const aclsimCall *call)
{
    struct sim_curve_call parsed = {.cc_in_count = 0};
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        bool is_tensor = argument->kind == ACLSIM_TENSOR;
        if (argument->kind == ACLSIM_SCALAR || argument->kind == ACLSIM_INTEGER || argument->kind == ACLSIM_NUMBER)
            parsed.cc_numbers[parsed.cc_number_count++] = argument;
        if (is_tensor && (argument->direction & ACLSIM_IN) && parsed.cc_in_count < 2)
            parsed.cc_in[parsed.cc_in_count++] = argument;
        if (is_tensor && (argument->direction & ACLSIM_OUT) && parsed.cc_out == NULL)
            parsed.cc_out = argument;
    }
    return parsed;
}

double sim_curve_number(const aclsimArgument *argument)
{
    union sim_block_values block;
    if (argument->kind == ACLSIM_INTEGER)
        return (double)argument->integer;
    if (argument->kind == ACLSIM_NUMBER)
        return argument->number;
    if (!argument->present)
        return 1;
    sim_element_load(&block, SIM_CLASS_DOUBLE, argument->scalars->value, argument->scalars->type, 0, 1);
    return block.bv_doubles[0];
}

/* ---- the first phase ---- */

aclnnStatus sim_curve_check_first_number(const struct sim_curve_call *call)
{
    double number = sim_curve_number(call->cc_numbers[0]);
    SIM_ARGUMENT(number >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more", call->cc_numbers[0]->name,
                 number);
    return ACL_SUCCESS;
}

static aclnnStatus check_types(const struct sim_curve *curve, const struct sim_curve_call *parsed)
{
    const aclsimArgument *first = parsed->cc_in[0], *out = parsed->cc_out;
    aclDataType met = first->tensors->type;
    for (size_t i = 0; i < parsed->cc_in_count; i++)
        SIM_TRY(sim_require_type(parsed->cc_in[i], curve->cu_in));
    SIM_TRY(sim_require_type(out, curve->cu_out));
    for (size_t i = 0; i < parsed->cc_number_count; i++)
        if (parsed->cc_numbers[i]->kind == ACLSIM_SCALAR && parsed->cc_numbers[i]->present)
            SIM_TRY(sim_require_type(parsed->cc_numbers[i], SIM_TYPES_REAL));
    for (size_t i = 1; i < parsed->cc_in_count; i++) {
        if (curve->cu_exact)
            SIM_TRY(sim_require_same_type(parsed->cc_in[i], met, first->name));
        met = sim_element_promote(met, parsed->cc_in[i]->tensors->type);
    }
    return curve->cu_exact ? sim_require_same_type(out, met, first->name)
                           : sim_require_cast("the result", met, "the type of the output", out->tensors->type);
}

static aclnnStatus check_shapes(const struct sim_curve *curve, const struct sim_curve_call *parsed)
{
    const aclsimTensor *first = parsed->cc_in[0]->tensors;
    if (curve->cu_broadcasts)
        return sim_pointwise_check(parsed->cc_out, parsed->cc_in, parsed->cc_in_count);
    for (size_t i = 1; i < parsed->cc_in_count; i++)
        SIM_TRY(sim_require_shape(parsed->cc_in[i], first->dims, first->rank, "that of the first input"));
    return sim_require_shape(parsed->cc_out, first->dims, first->rank, "that of the first input");
}

aclnnStatus sim_curve_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sim_curve *curve = call->userData;
    struct sim_curve_call parsed = parse(call);
    (void)workspace_size;
    SIM_TRY(check_types(curve, &parsed));
    if (curve->cu_check != NULL)
        SIM_TRY(curve->cu_check(&parsed));
    return check_shapes(curve, &parsed);
}

/* ---- the second phase ---- */

/* What run_block needs; the same for all blocks of a call. */
struct job {
    sim_curve_func *jo_run;
    enum sim_class jo_class;
    size_t jo_count; /* number of operands */
    struct sim_curve_numbers jo_numbers;
};

static void run_block(const struct sim_pointwise *block, const void *context)
{
    const struct job *job = context;
    union sim_block_values loaded[SIM_CURVE_OPERANDS], result;
    const union sim_block_values *from[SIM_CURVE_OPERANDS] = {&loaded[0], &loaded[0], &loaded[0]};
    for (size_t i = 0; i < job->jo_count; i++) {
        from[i] = &loaded[i];
        sim_element_load(&loaded[i], job->jo_class, block->pw_places[1 + i], block->pw_tensors[1 + i]->type,
                         block->pw_strides[1 + i], block->pw_count);
    }
    job->jo_run(&result, from, &job->jo_numbers, block->pw_count);
    sim_element_store(&result, job->jo_class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

static void run(struct job *job, const aclsimTensor *to, const aclsimTensor *const *from)
{
    const aclsimTensor *tensors[SIM_POINTWISE_TENSORS] = {to};
    memcpy(&tensors[1], from, job->jo_count * sizeof *from);
    sim_pointwise_run(tensors, 1 + job->jo_count, run_block, job);
}

void sim_curve_apply(sim_curve_func *function, const aclsimTensor *to, const aclsimTensor *const *from, size_t count)
{
    struct job job = {.jo_run = function, .jo_class = SIM_CLASS_DOUBLE, .jo_count = count};
    run(&job, to, from);
}

static bool is_integer(aclDataType type)
{
    return sim_element_is(type, SIM_TYPES_BOOL | SIM_TYPES_INTEGER);
}

static void set_number(struct sim_curve_numbers *numbers, size_t place, const aclsimArgument *argument)
{
    union sim_block_values block;
    numbers->cn_doubles[place] = sim_curve_number(argument);
    if (argument->kind != ACLSIM_SCALAR || !argument->present || !is_integer(argument->scalars->type))
        return;
    sim_element_load(&block, SIM_CLASS_INTEGER, argument->scalars->value, argument->scalars->type, 0, 1);
    numbers->cn_integers[place] = block.bv_integers[0];
}

aclError sim_curve_run(const aclsimCall *call)
{
    const struct sim_curve *curve = call->userData;
    struct sim_curve_call parsed = parse(call);
    struct job job = {.jo_run = curve->cu_run, .jo_class = SIM_CLASS_DOUBLE, .jo_count = parsed.cc_in_count};
    const aclsimTensor *from[SIM_CURVE_OPERANDS] = {NULL};
    bool whole = curve->cu_run_integers != NULL;
    for (size_t i = 0; i < parsed.cc_in_count; i++) {
        from[i] = parsed.cc_in[i]->tensors;
        whole = whole && is_integer(from[i]->type);
    }
    for (size_t i = 0; i < parsed.cc_number_count; i++) {
        const aclsimArgument *number = parsed.cc_numbers[i];
        set_number(&job.jo_numbers, i, number);
        whole = whole && number->kind == ACLSIM_SCALAR && is_integer(number->scalars->type);
    }
    if (whole) {
        job.jo_run = curve->cu_run_integers;
        job.jo_class = SIM_CLASS_INTEGER;
    }
    run(&job, parsed.cc_out->tensors, from);
    return ACL_SUCCESS;
}
