/* The kernel of all operators on lists, and those without a formula: ForeachCopy, ForeachZeroInplace and
 * ForeachNorm. */
#include "foreach.h"

#include "base/fail.h"
#include "curve.h"
#include "require.h"
#include <math.h>
#include <string.h>

/* The first list. Only ForeachPowScalarAndTensor has a scalar before it. */
static const aclsimArgument *first_list(const aclsimCall *call)
{
    return &call->arguments[call->arguments[0].kind == ACLSIM_TENSOR_LIST ? 0 : 1];
}

/* Member `place` of a list as an argument of its own; an argument that is not a list, as it is. */
static aclsimArgument member_of(const aclsimArgument *list, uint64_t place)
{
    aclsimArgument member = *list;
    if (list->kind == ACLSIM_TENSOR_LIST) {
        member.kind = ACLSIM_TENSOR;
        member.tensors = &list->tensors[place];
    } else if (list->kind == ACLSIM_SCALAR_LIST) {
        member.kind = ACLSIM_SCALAR;
        member.scalars = &list->scalars[place];
    }
    return member;
}

/* ---- the first phase ---- */

/* The same with a name of its own; `name` has room for SIM_NAME_BYTES. */
static aclsimArgument named_member(const aclsimArgument *list, uint64_t place, char *name)
{
    aclsimArgument member = member_of(list, place);
    sim_require_name(list, place, name);
    member.name = name;
    return member;
}

static aclnnStatus check_length(const aclsimArgument *list, const aclsimArgument *first)
{
    SIM_ARGUMENT(list->count == first->count, ACLNN_ERR_PARAM_INVALID,
                 "%s has length %llu, expected %llu, that of %s", list->name, (unsigned long long)list->count,
                 (unsigned long long)first->count, first->name);
    return ACL_SUCCESS;
}

static aclnnStatus check_tensors(const struct sim_foreach *foreach, const aclsimArgument *list,
                                 const aclsimArgument *first)
{
    bool one = foreach->fe_one && (list->direction & ACLSIM_OUT) != 0;
    SIM_TRY(check_length(list, first));
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = named_member(list, i, name);
        const aclsimTensor *model = &first->tensors[i];
        SIM_TRY(sim_require_type(&member, foreach->fe_types));
        SIM_TRY(sim_require_same_type(&member, first->tensors->type, "the first tensor"));
        SIM_TRY(one ? sim_require_one(&member)
                    : sim_require_shape(&member, model->dims, model->rank, "that of the tensor in the first list"));
    }
    return ACL_SUCCESS;
}

/* Integers take integer scalars, floating-point tensors floating-point ones. A float16 scalar is for float16 tensors
 * only, a bfloat16 one only for operators with a tensor of scalars. */
static uint64_t scalar_types(const struct sim_foreach *foreach, bool is_tensor, aclDataType type)
{
    if (foreach->fe_scalars != 0)
        return foreach->fe_scalars;
    if (sim_element_is(type, SIM_TYPES_INTEGER))
        return is_tensor ? SIM_TYPE(ACL_INT32) : SIM_TYPES_INDEX;
    uint64_t own = type == ACL_BF16 && !foreach->fe_many ? 0 : SIM_TYPE(type);
    return own | SIM_TYPE(ACL_FLOAT) | (is_tensor ? 0 : SIM_TYPE(ACL_DOUBLE));
}

static aclnnStatus check_scalar(const struct sim_foreach *foreach, const aclsimArgument *scalar,
                                const aclsimArgument *first)
{
    bool is_tensor = scalar->kind == ACLSIM_TENSOR;
    const uint64_t types = scalar_types(foreach, is_tensor, first->tensors->type);
    const int64_t count = (int64_t)first->count;
    if (is_tensor)
        SIM_TRY(foreach->fe_many ? sim_require_shape(scalar, &count, 1, "one element per tensor")
                                 : sim_require_one(scalar));
    if (scalar->kind != ACLSIM_SCALAR_LIST)
        return sim_require_type(scalar, types);
    SIM_TRY(check_length(scalar, first));
    for (uint64_t i = 0; i < scalar->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = named_member(scalar, i, name);
        SIM_TRY(sim_require_type(&member, types));
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_foreach_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sim_foreach *foreach = call->userData;
    const aclsimArgument *first = first_list(call);
    (void)workspace_size;
    SIM_ARGUMENT(first->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected at least one tensor", first->name);
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (argument->kind == ACLSIM_TENSOR_LIST)
            SIM_TRY(check_tensors(foreach, argument, first));
    }
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (argument->kind != ACLSIM_TENSOR_LIST)
            SIM_TRY(check_scalar(foreach, argument, first));
    }
    return ACL_SUCCESS;
}

/* ---- the second phase ---- */

#define ARGUMENTS (SIM_FORMULA_OPERANDS + 1) /* with the result */

/* The formula for one member of each list. The plan has checked types and shapes, so that the formula need not. A
 * scalar before the lists takes the place of a condition, which is not promoted either. */
static struct sim_formula formula_of(const aclsimCall *call)
{
    const struct sim_foreach *foreach = call->userData;
    struct sim_formula formula =
        *(foreach->fe_like != NULL ? (const struct sim_formula *)foreach->fe_like->kn_user : foreach->fe_formula);
    formula.fo_in = formula.fo_out = foreach->fe_types;
    formula.fo_condition = first_list(call) == call->arguments ? 0 : SIM_TYPES_REAL;
    formula.fo_scalars = SIM_TYPES_REAL;
    formula.fo_meeting = 0;
    for (size_t i = 0; i < call->argumentCount; i++)
        formula.fo_meeting +=
            call->arguments[i].kind == ACLSIM_TENSOR_LIST && (call->arguments[i].direction & ACLSIM_IN) != 0;
    formula.fo_modes = 0;
    formula.fo_type = formula.fo_run[SIM_CLASS_INTEGER] == NULL ? sim_formula_fractional : NULL;
    formula.fo_gives = NULL;
    return formula;
}

/* The value of a scalar that is a tensor: a formula has fewer tensors than an operator with three lists and one. */
static aclsimArgument value_of(const aclsimArgument *given, uint64_t place, aclsimScalar *value)
{
    const aclsimTensor *tensor = given->tensors;
    size_t size = sim_element_size(tensor->type);
    const char *from = tensor->data;
    if (place != 0) /* a scalar has no stride */
        from += (int64_t)place * tensor->strides[0] * (int64_t)size;
    *value = (aclsimScalar){.type = tensor->type};
    memcpy(value->value, from, size);
    aclsimArgument argument = *given;
    argument.kind = ACLSIM_SCALAR;
    argument.scalars = value;
    return argument;
}

aclError sim_foreach_run(const aclsimCall *call)
{
    const struct sim_foreach *foreach = call->userData;
    struct sim_formula formula = formula_of(call);
    aclsimArgument arguments[ARGUMENTS] = {0};
    aclsimScalar value = {0};
    for (uint64_t i = 0; i < first_list(call)->count; i++) {
        for (size_t k = 0; k < call->argumentCount; k++) {
            const aclsimArgument *given = &call->arguments[k];
            arguments[k] = given->kind == ACLSIM_TENSOR ? value_of(given, foreach->fe_many ? i : 0, &value)
                                                        : member_of(given, i);
        }
        const aclsimCall one = {.arguments = arguments, .argumentCount = call->argumentCount, .userData = &formula};
        SIM_TRY(sim_formula_run(&one));
    }
    return ACL_SUCCESS;
}

/* ---- Copy: x, out; ZeroInplace: x ---- */

static aclError run_copy(const aclsimCall *call)
{
    const aclsimArgument *x = &call->arguments[0], *out = &call->arguments[1];
    for (uint64_t i = 0; i < x->count; i++)
        sim_walk_copy(&out->tensors[i], &x->tensors[i]);
    return ACL_SUCCESS;
}

static aclError run_zero(const aclsimCall *call)
{
    const aclsimArgument *x = &call->arguments[0];
    for (uint64_t i = 0; i < x->count; i++)
        sim_walk_fill(&x->tensors[i], NULL);
    return ACL_SUCCESS;
}

#define COPIED                                                                                                         \
    (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_FLOAT | SIM_TYPE(ACL_UINT16) | SIM_TYPE(ACL_UINT32))
SIM_FOREACH_KERNEL(Copy, run_copy, COPIED);
SIM_FOREACH_KERNEL(ZeroInplace, run_zero, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT16) | SIM_TYPE(ACL_INT32));

/* ---- Norm: x, scalar (the order), out: one element per tensor ---- */

struct norm {
    double no_order;
    double no_total; /* of the elements so far */
};

/* Adds the absolute value of an element. The greatest and the least value are NaN if any element is. */
static double add_size(const struct norm *norm, double size)
{
    const double order = norm->no_order, total = norm->no_total;
    if (isinf(order))
        return size != size || (order > 0 ? size > total : size < total) ? size : total;
    if (order == 0)
        return total + (size != 0);
    return total + (order == 1 ? size : order == 2 ? size * size : pow(size, order));
}

static void add_block(const struct sim_pointwise *block, const void *context)
{
    struct norm *norm = *(struct norm *const *)context;
    union sim_block_values values;
    sim_element_load(&values, SIM_CLASS_DOUBLE, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                     block->pw_count);
    for (size_t i = 0; i < block->pw_count; i++)
        norm->no_total = add_size(norm, fabs(values.bv_doubles[i]));
}

static double root_of(const struct norm *norm)
{
    if (isinf(norm->no_order) || norm->no_order == 0)
        return norm->no_total;
    return norm->no_order == 2 ? sqrt(norm->no_total) : pow(norm->no_total, 1 / norm->no_order);
}

static aclError run_norm(const aclsimCall *call)
{
    const aclsimArgument *x = &call->arguments[0], *out = &call->arguments[2];
    const double order = sim_curve_number(&call->arguments[1]);
    for (uint64_t i = 0; i < x->count; i++) {
        const aclsimTensor *tensor = &x->tensors[i];
        struct norm norm = {.no_order = order, .no_total = order == -INFINITY ? INFINITY : 0}, *const found = &norm;
        union sim_block_values result;
        sim_pointwise_fold(&tensor, 1, add_block, &found);
        result.bv_doubles[0] = root_of(&norm);
        sim_element_store(&result, SIM_CLASS_DOUBLE, out->tensors[i].data, out->tensors[i].type, 0, 1);
    }
    return ACL_SUCCESS;
}

SIM_FOREACH_KERNEL(Norm, run_norm, SIM_TYPES_SINGLE, .fe_one = true,
                   .fe_scalars = SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_DOUBLE) | SIM_TYPE(ACL_INT64));
