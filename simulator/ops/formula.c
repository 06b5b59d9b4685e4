/* The kernel of all formulas. Both phases parse the call in the same way. */
#include "formula.h"

#include "require.h"
#include <string.h>

aclDataType sim_formula_gives_bool(aclDataType type)
{
    (void)type;
    return ACL_BOOL;
}

/* ---- parsing a call ---- */

static aclnnStatus choose(struct sim_formula_call *parsed, const aclsimArgument *number)
{
    unsigned modes = parsed->fc_formula->fo_modes;
    if (modes == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(number->integer >= 0 && number->integer < modes, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 0 to %u", number->name, (long long)number->integer, modes - 1);
    parsed->fc_formula += number->integer;
    return ACL_SUCCESS;
}

/* The end of the operands that are promoted to a common type; the following ones are scales. */
static size_t end_of_meeting(const struct sim_formula_call *parsed)
{
    unsigned meeting = parsed->fc_formula->fo_meeting;
    size_t end = parsed->fc_first + (meeting == 0 ? 2 : meeting);
    return parsed->fc_count < end ? parsed->fc_count : end;
}

/* The common type of an operand and of operands before it, which have the type `met`. */
static aclDataType meet_next(aclDataType met, bool is_scalar, const aclsimArgument *next)
{
    aclDataType type = sim_element_type(next);
    if (next->kind == ACLSIM_SCALAR)
        return sim_element_promote_scalar(met, type);
    return is_scalar ? sim_element_promote_scalar(type, met) : sim_element_promote(met, type);
}

static aclDataType meet(const struct sim_formula_call *parsed)
{
    if (parsed->fc_count == 0)
        return parsed->fc_out->tensors->type;
    const aclsimArgument *first = parsed->fc_in[parsed->fc_first];
    aclDataType met = sim_element_type(first);
    for (size_t i = parsed->fc_first + 1; i < end_of_meeting(parsed); i++)
        met = meet_next(met, first->kind == ACLSIM_SCALAR, parsed->fc_in[i]);
    return met;
}

static uint64_t types_of(const struct sim_formula_call *parsed, size_t operand)
{
    const struct sim_formula *formula = parsed->fc_formula;
    if (operand < parsed->fc_first)
        return formula->fo_condition;
    bool is_scalar = parsed->fc_in[operand]->kind == ACLSIM_SCALAR;
    return is_scalar && formula->fo_scalars != 0 ? formula->fo_scalars : formula->fo_in;
}

aclnnStatus sim_formula_parse(const aclsimCall *call, struct sim_formula_call *parsed)
{
    *parsed = (struct sim_formula_call){.fc_formula = call->userData};
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (argument->kind == ACLSIM_INTEGER)
            SIM_TRY(choose(parsed, argument));
        if (argument->kind == ACLSIM_SCALAR || (argument->kind == ACLSIM_TENSOR && (argument->direction & ACLSIM_IN)))
            parsed->fc_in[parsed->fc_count++] = argument;
        if (argument->kind == ACLSIM_TENSOR && (argument->direction & ACLSIM_OUT))
            parsed->fc_out = argument;
    }
    const struct sim_formula *formula = parsed->fc_formula;
    parsed->fc_first = formula->fo_condition != 0;
    for (size_t i = 0; i < parsed->fc_count; i++)
        SIM_TRY(sim_require_type(parsed->fc_in[i], types_of(parsed, i)));
    SIM_TRY(sim_require_type(parsed->fc_out, formula->fo_out));
    aclDataType met = meet(parsed);
    const aclsimArgument *const *in = &parsed->fc_in[parsed->fc_first];
    SIM_ARGUMENT(met != ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s and %s is %s, expected types with a common type", in[0]->name,
                 sim_element_name(sim_element_type(in[0])), in[1]->name, sim_element_name(sim_element_type(in[1])));
    parsed->fc_met = met;
    parsed->fc_type = formula->fo_type == NULL ? met : formula->fo_type(met, parsed->fc_out->tensors->type);
    parsed->fc_given = formula->fo_gives == NULL ? parsed->fc_type : formula->fo_gives(parsed->fc_type);
    return ACL_SUCCESS;
}

aclDataType sim_formula_fractional(aclDataType met, aclDataType out)
{
    (void)out;
    return sim_element_is(met, SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX) ? met : ACL_FLOAT;
}

/* ---- the first phase ---- */

static aclnnStatus check_result(const struct sim_formula_call *parsed)
{
    const struct sim_formula *formula = parsed->fc_formula;
    aclDataType out = parsed->fc_out->tensors->type;
    if (formula->fo_free)
        return ACL_SUCCESS;
    if (formula->fo_exact)
        return sim_require_same_type(parsed->fc_out, parsed->fc_given, formula->fo_result);
    return sim_require_cast(formula->fo_result, parsed->fc_given, "the type of the output", out);
}

static aclnnStatus check_shapes(const struct sim_formula_call *parsed)
{
    const aclsimArgument *tensors[SIM_FORMULA_OPERANDS];
    size_t count = 0;
    for (size_t i = 0; i < parsed->fc_count; i++)
        if (parsed->fc_in[i]->kind == ACLSIM_TENSOR)
            tensors[count++] = parsed->fc_in[i];
    return parsed->fc_formula->fo_spreads ? sim_pointwise_check_spread(parsed->fc_out, tensors, count)
                                          : sim_pointwise_check(parsed->fc_out, tensors, count);
}

aclnnStatus sim_formula_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_formula_call parsed;
    (void)workspace_size;
    SIM_TRY(sim_formula_parse(call, &parsed));
    for (size_t i = end_of_meeting(&parsed); i < parsed.fc_count; i++)
        SIM_TRY(sim_require_cast(parsed.fc_in[i]->name, sim_element_type(parsed.fc_in[i]),
                                 "the type of the computation", parsed.fc_type));
    SIM_TRY(check_result(&parsed));
    if (parsed.fc_formula->fo_check != NULL)
        SIM_TRY(parsed.fc_formula->fo_check(&parsed));
    return check_shapes(&parsed);
}

/* ---- the second phase ---- */

/* Types that have fewer values than their class. */
#define NARROW (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED | SIM_TYPES_HALF)

/* What run_line needs; the same for all elements of a call. */
struct job {
    const struct sim_formula_call *jo_call;
    sim_formula_func *jo_run;
    enum sim_class jo_class, jo_given; /* class of the computation, and of its result */
    const aclsimTensor *jo_tensors[SIM_POINTWISE_TENSORS]; /* the result and the operands that are tensors */
    size_t jo_places[SIM_FORMULA_OPERANDS]; /* which of these tensors an operand is; 0: a scalar */
    union sim_block_values jo_scalars[SIM_FORMULA_OPERANDS];
    bool jo_plain[SIM_FORMULA_OPERANDS], jo_plain_result; /* need no conversion where they are contiguous */
    bool jo_keeps;    /* floats, which are only stored */
    int64_t jo_block; /* elements at a time */
    bool jo_odd;      /* uint64 is loaded as doubles that are stored in half precision */
    bool jo_through;  /* the result is stored and loaded again to get to its class */
};

/* Loads elements that have the type of the computation. */
static void load_computed(const struct job *job, enum sim_class class, union sim_block_values *values, const void *from,
                          int64_t stride, size_t count)
{
    if (job->jo_odd && class == SIM_CLASS_DOUBLE)
        sim_element_load_odd(values, from, stride, count);
    else
        sim_element_load(values, class, from, job->jo_call->fc_type, stride, count);
}

/* Casts an operand to the type of the computation. If the class of that type has more values than the type, the operand
 * is stored in the type and loaded again. A scale is not cast to the type. */
static void load(const struct job *job, size_t operand, union sim_block_values *values, const void *from,
                 int64_t stride, size_t count)
{
    const struct sim_formula_call *call = job->jo_call;
    aclDataType type = sim_element_type(call->fc_in[operand]);
    bool meets = operand >= call->fc_first && operand < end_of_meeting(call);
    if (type == call->fc_type) {
        load_computed(job, job->jo_class, values, from, stride, count);
        return;
    }
    if (!meets || !sim_element_is(call->fc_type, NARROW)) {
        sim_element_load(values, job->jo_class, from, type, stride, count);
        return;
    }
    union sim_block_values cast;
    enum sim_class class = sim_element_carrier(type, call->fc_type);
    sim_element_load(values, class, from, type, stride, count);
    sim_element_store(values, class, &cast, call->fc_type, 1, count);
    load_computed(job, job->jo_class, values, &cast, 1, count);
}

static int64_t size_at(const struct job *job, size_t tensor)
{
    return (int64_t)sim_element_size(job->jo_tensors[tensor]->type);
}

/* Converts a block of results to the type of the output. */
static void store(const struct job *job, union sim_block_values *result, char *to, int64_t stride, size_t count)
{
    const struct sim_formula_call *call = job->jo_call;
    if (job->jo_through) {
        union sim_block_values stored;
        sim_element_store(result, job->jo_class, &stored, call->fc_type, 1, count);
        load_computed(job, job->jo_given, result, &stored, 1, count);
    }
    if (job->jo_given == SIM_CLASS_INTEGER)
        sim_element_wrap(result, call->fc_given, count);
    sim_element_store(result, job->jo_given, to, call->fc_out->tensors->type, stride, count);
}

/* Operands and results that are contiguous and need no conversion stay where they are; if all do, there are no blocks.
 * If an operand is the result, it is loaded, because the functions expect that these differ. */
static void run_line(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct job *job = context;
    const size_t operands = job->jo_call->fc_count;
    const bool stays = job->jo_plain_result && strides[0] == size_at(job, 0);
    const int64_t step = strides[0] / size_at(job, 0);
    bool direct[SIM_FORMULA_OPERANDS], whole = stays && operands != 0;
    union sim_block_values loaded[SIM_FORMULA_OPERANDS], result;
    const void *from[SIM_FORMULA_OPERANDS] = {&loaded[0], &loaded[0], &loaded[0], &loaded[0]};
    (void)seat;
    for (size_t i = 0; i < operands; i++) {
        const size_t tensor = job->jo_places[i];
        direct[i] = tensor != 0 && job->jo_plain[i] && strides[tensor] == size_at(job, tensor) &&
                    places[tensor] != places[0];
        whole = whole && direct[i];
    }
    const int64_t block = whole ? length : job->jo_block;
    for (int64_t done = 0; done < length; done += block) {
        const size_t count = (size_t)(length - done < block ? length - done : block);
        char *to = places[0] + done * strides[0];
        for (size_t i = 0; i < operands; i++) {
            const size_t tensor = job->jo_places[i];
            const char *place = places[tensor] + done * strides[tensor];
            from[i] = tensor == 0 ? (const void *)&job->jo_scalars[i] : direct[i] ? place : (const void *)&loaded[i];
            if (tensor != 0 && !direct[i])
                load(job, i, &loaded[i], place, strides[tensor] / size_at(job, tensor), count);
        }
        for (size_t i = operands; i < SIM_FORMULA_OPERANDS; i++) /* the functions may read these, too */
            from[i] = from[0];
        if (stays)
            job->jo_run(to, from, count);
        else if (job->jo_keeps)
            sim_element_store(from[0], SIM_CLASS_FLOAT, to, job->jo_tensors[0]->type, step, count);
        else {
            job->jo_run(&result, from, count);
            store(job, &result, to, step, count);
        }
    }
}

/* Whether the elements of a call are floats in all blocks, also where operands are cast. */
static bool is_single(const struct job *job)
{
    const struct sim_formula_call *call = job->jo_call;
    bool single = job->jo_class == SIM_CLASS_FLOAT && job->jo_given == SIM_CLASS_FLOAT;
    for (size_t i = call->fc_first; i < call->fc_count; i++)
        single = single && (call->fc_in[i]->kind == ACLSIM_SCALAR ||
                            sim_element_is(call->fc_in[i]->tensors->type, SIM_TYPES_SINGLE));
    return single;
}

/* Fills a block with a scalar, but no more of it than the call needs. */
static void load_scalar(struct job *job, size_t operand, size_t needed)
{
    static const size_t sizes[SIM_CLASSES] = {
        [SIM_CLASS_INTEGER] = sizeof(int64_t),           [SIM_CLASS_FLOAT] = sizeof(float),
        [SIM_CLASS_DOUBLE] = sizeof(double),             [SIM_CLASS_COMPLEX_FLOAT] = sizeof(float _Complex),
        [SIM_CLASS_COMPLEX_DOUBLE] = sizeof(double _Complex),
    };
    union sim_block_values *values = &job->jo_scalars[operand];
    const size_t size = sizes[job->jo_class];
    load(job, operand, values, job->jo_call->fc_in[operand]->scalars->value, 0, 1);
    for (size_t filled = 1; filled < needed; filled *= 2)
        memcpy((char *)values + filled * size, values, (needed - filled < filled ? needed - filled : filled) * size);
}

aclError sim_formula_run(const aclsimCall *call)
{
    struct sim_formula_call parsed;
    SIM_TRY(sim_formula_parse(call, &parsed));
    const struct sim_formula *formula = parsed.fc_formula;
    const aclDataType out = parsed.fc_out->tensors->type;
    struct job job;
    job.jo_call = &parsed;
    job.jo_class = sim_element_carrier(parsed.fc_type, formula->fo_gives == NULL ? out : parsed.fc_type);
    job.jo_given = sim_element_carrier(parsed.fc_given, out);
    job.jo_through = false;
    if (formula->fo_run[job.jo_class] == NULL) {
        job.jo_class = sim_element_class(parsed.fc_type);
        job.jo_through = job.jo_class != job.jo_given;
    }
    job.jo_odd = parsed.fc_type == ACL_UINT64 && sim_element_is(out, SIM_TYPES_HALF);
    bool odd = formula->fo_run_odd != NULL && parsed.fc_type == formula->fo_odd;
    job.jo_run = odd ? formula->fo_run_odd : formula->fo_run[job.jo_class];
    job.jo_block = is_single(&job) ? SIM_BLOCK_FLOATS : SIM_BLOCK;
    job.jo_keeps = formula->fo_keeps && job.jo_class == SIM_CLASS_FLOAT && job.jo_given == SIM_CLASS_FLOAT;
    job.jo_plain_result = !job.jo_through && job.jo_given != SIM_CLASS_INTEGER &&
                          sim_element_is_plain(job.jo_given, out);
    job.jo_tensors[0] = parsed.fc_out->tensors;
    const int64_t elements = sim_walk_count(parsed.fc_out->tensors);
    const size_t needed = (size_t)((uint64_t)elements < (uint64_t)job.jo_block ? elements : job.jo_block);
    uint32_t count = 1;
    for (size_t i = 0; i < parsed.fc_count; i++) {
        const aclsimArgument *operand = parsed.fc_in[i];
        job.jo_places[i] = 0;
        if (operand->kind == ACLSIM_SCALAR) {
            load_scalar(&job, i, needed);
            continue;
        }
        job.jo_plain[i] = operand->tensors->type == parsed.fc_type &&
                          sim_element_is_plain(job.jo_class, parsed.fc_type);
        job.jo_places[i] = count;
        job.jo_tensors[count++] = operand->tensors;
    }
    sim_walk_split_tensors(job.jo_tensors, count, sim_walk_grain(job.jo_tensors[0], 1), run_line, &job);
    return ACL_SUCCESS;
}
