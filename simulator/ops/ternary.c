/* Sums with a product or a quotient, linear interpolation, and Scale. Float32 and half precision are computed in
 * double, because the summands may cancel, and rounded once. */
#include "formula.h"

#include "base/fail.h"
#include "require.h"
#include <math.h>

/* ---- self + value * tensor1 * tensor2, self + value * tensor1 / tensor2, and single operators: the same with a tensor
 * as value, and x1 + alpha * x2 ---- */

#define SUM(types, meeting, check, run)                                                                                \
    {.fo_result = "the sum", .fo_in = (types), .fo_out = (types), .fo_meeting = (meeting), .fo_check = (check),        \
     .fo_run = {run}}

SIM_EACH_BITS(add_product, a + d * b * c)
SIM_EACH_FLOAT(add_product, a + (double)d * b * c)
SIM_EACH_BITS(add_scaled, a + c * b)
SIM_EACH_FLOAT(add_scaled, a + (double)c * b)
#define MULTIPLIED (SIM_TYPES_FLOAT | SIM_TYPES_INDEX | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8))
static const struct sim_formula sum_with_product = SUM(MULTIPLIED, 3, NULL, SIM_RUN_REAL(add_product)),
                                product_by_tensor = SUM(MULTIPLIED, 4, NULL, SIM_RUN_REAL(add_product)),
                                scaled_by_tensor = SUM(MULTIPLIED, 3, NULL, SIM_RUN_REAL(add_scaled));
SIM_FORMULA_KERNEL(Addcmul, &sum_with_product);
SIM_FORMULA_KERNEL(InplaceAddcmul, &sum_with_product);

static aclnnStatus check_quotient(const struct sim_formula_call *call)
{
    const aclsimArgument *one = call->fc_in[1], *other = call->fc_in[2];
    SIM_ARGUMENT(sim_element_is(one->tensors->type, SIM_TYPES_FLOAT) ||
                     sim_element_is(other->tensors->type, SIM_TYPES_FLOAT),
                 ACLNN_ERR_PARAM_INVALID, "%s and %s are both int64, expected a floating-point type for one of them",
                 one->name, other->name);
    return ACL_SUCCESS;
}

SIM_EACH_FLOAT(add_quotient, a + (double)d * b / c)
#define DIVIDED (SIM_TYPES_FLOAT | SIM_TYPE(ACL_INT64))
static const struct sim_formula sum_with_quotient = SUM(DIVIDED, 3, check_quotient, SIM_RUN_FLOAT(add_quotient)),
                                quotient_by_tensor = SUM(DIVIDED | SIM_TYPE(ACL_INT32), 4, check_quotient,
                                                         SIM_RUN_FLOAT(add_quotient));
SIM_FORMULA_KERNEL(Addcdiv, &sum_with_quotient);
SIM_FORMULA_KERNEL(InplaceAddcdiv, &sum_with_quotient);

#define INPUT(name) {name, ACLSIM_TENSOR, ACLSIM_IN, false}
#define OUTPUT(name) {name, ACLSIM_TENSOR, ACLSIM_OUT, false}
static const struct sim_parameter sum_parameters[] = {INPUT("input_data"), INPUT("x1"), INPUT("x2"), INPUT("value"),
                                                      OUTPUT("y")},
                                  scaled_parameters[] = {INPUT("x1"), INPUT("x2"), INPUT("alpha"), OUTPUT("y")};
static const struct sim_kernel addcmul_kernel = {sim_formula_plan, sim_formula_run, (void *)&product_by_tensor, true},
                               addcdiv_kernel = {sim_formula_plan, sim_formula_run, (void *)&quotient_by_tensor, true},
                               axpy_kernel = {sim_formula_plan, sim_formula_run, (void *)&scaled_by_tensor, true};
struct sim_row sim_op_addcmul_row = SIM_ROW("Addcmul", SIM_TASK_VECTOR, sum_parameters, &addcmul_kernel),
               sim_op_addcdiv_row = SIM_ROW("Addcdiv", SIM_TASK_VECTOR, sum_parameters, &addcdiv_kernel),
               sim_op_axpy_row = SIM_ROW("AxpyV2", SIM_TASK_VECTOR, scaled_parameters, &axpy_kernel);

/* ---- functions of float32 and half precision whose tensors have one type ---- */

static aclnnStatus check_types(const struct sim_formula_call *call)
{
    const aclsimArgument *first = call->fc_in[0];
    for (size_t i = 1; i < call->fc_count; i++)
        if (call->fc_in[i]->kind == ACLSIM_TENSOR)
            SIM_TRY(sim_require_same_type(call->fc_in[i], first->tensors->type, first->name));
    return ACL_SUCCESS;
}

#define ALIKE(result, name, out, ...)                                                                                  \
    {                                                                                                                  \
        .fo_result = (result), .fo_in = SIM_TYPES_SINGLE, .fo_out = (out), .fo_check = check_types,                    \
        .fo_run = {[SIM_CLASS_FLOAT] = name##_floats}, __VA_ARGS__                                                     \
    }

/* Starts at the nearer end, so that the weight 1 gives exactly the end. */
static double between(double start, double end, double weight)
{
    return fabs(weight) < 0.5 ? start + weight * (end - start) : end - (end - start) * (1 - weight);
}

SIM_EACH_SINGLE(interpolate, between(a, b, c))
static const struct sim_formula interpolation = ALIKE("the interpolated value", interpolate, SIM_TYPES_SINGLE,
                                                      .fo_exact = true, .fo_meeting = 3),
                                by_scalar = ALIKE("the interpolated value", interpolate, SIM_TYPES_FLOAT,
                                                  .fo_scalars = SIM_TYPES_REAL);
SIM_FORMULA_KERNEL(Lerp, &interpolation);
SIM_FORMULA_KERNEL(InplaceLerp, &interpolation);
SIM_FORMULA_KERNEL(Lerps, &by_scalar);
SIM_FORMULA_KERNEL(InplaceLerps, &by_scalar);

/* ---- Scale: x * scale + bias. The dimensions of scale and bias are those of x from `axis` on ---- */

enum { X, SCALE, BIAS, AXIS, NUM_AXES, FROM_BLOB, Y };

SIM_EACH_SINGLE(scale, (double)a * b)
SIM_EACH_SINGLE(scale_and_shift, (double)a * b + c)
#define SCALED(name) ALIKE("the scaled value", name, SIM_TYPES_SINGLE, .fo_exact = true, .fo_meeting = 3)
static const struct sim_formula scaling = SCALED(scale), shifting = SCALED(scale_and_shift);

/* A call of one of these formulas, in which the dimensions of scale and bias are aligned with those of x. */
struct aligned {
    aclsimTensor al_tensors[2];
    aclsimArgument al_arguments[4];
    aclsimCall al_call;
};

static bool is_one(const aclsimTensor *tensor)
{
    return tensor->rank == 0 || (tensor->rank == 1 && tensor->dims[0] == 1);
}

/* Appends dimensions of size 1, so that the last one belongs to the last one of x. */
static aclsimTensor align(const aclsimTensor *tensor, uint32_t rank)
{
    aclsimTensor view = *tensor;
    view.rank = is_one(tensor) ? 0 : rank;
    for (uint32_t k = tensor->rank; k < view.rank; k++) {
        view.dims[k] = 1;
        view.strides[k] = 0;
    }
    return view;
}

static void make_aligned(const aclsimCall *call, uint32_t rank, struct aligned *aligned)
{
    const aclsimArgument *arguments = call->arguments;
    bool has_bias = arguments[BIAS].present != 0;
    size_t count = 0;
    aligned->al_arguments[count++] = arguments[X];
    for (size_t i = SCALE; i <= (has_bias ? BIAS : SCALE); i++) {
        aligned->al_tensors[i - SCALE] = align(arguments[i].tensors, rank);
        aligned->al_arguments[count] = arguments[i];
        aligned->al_arguments[count++].tensors = &aligned->al_tensors[i - SCALE];
    }
    aligned->al_arguments[count++] = arguments[Y];
    aligned->al_call = *call;
    aligned->al_call.arguments = aligned->al_arguments;
    aligned->al_call.argumentCount = count;
    aligned->al_call.userData = (void *)(has_bias ? &shifting : &scaling);
}

/* `rank` is the number of dimensions of x from `axis` on. */
static aclnnStatus find_rank(const aclsimArgument *arguments, uint32_t *rank)
{
    uint32_t axis, whole = arguments[X].tensors->rank;
    SIM_TRY(sim_require_dim(&arguments[AXIS], whole, &axis));
    *rank = whole - axis;
    return ACL_SUCCESS;
}

/* The shape of scale. numAxes counts only if scaleFromBlob is true: -1 means all dimensions, 0 a single element. */
static aclnnStatus check_scale(const aclsimArgument *arguments, uint32_t rank)
{
    const aclsimArgument *scale = &arguments[SCALE], *number = &arguments[NUM_AXES];
    const aclsimTensor *x = arguments[X].tensors;
    bool from_blob = arguments[FROM_BLOB].integer != 0;
    SIM_ARGUMENT(number->integer >= -1, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected -1 or more", number->name,
                 (long long)number->integer);
    if (from_blob ? number->integer == 0 : is_one(scale->tensors))
        return sim_require_one(scale);
    int64_t count = !from_blob ? scale->tensors->rank : number->integer == -1 ? rank : number->integer;
    SIM_ARGUMENT(count <= rank, ACLNN_ERR_PARAM_INVALID,
                 "%s would have %lld dimensions, expected at most %u, as many as %s has from %s on", scale->name,
                 (long long)count, rank, arguments[X].name, arguments[AXIS].name);
    return sim_require_shape(scale, &x->dims[x->rank - rank], (uint32_t)count, "that of the dimensions of x");
}

static aclnnStatus plan_scale(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *bias = &call->arguments[BIAS];
    const aclsimTensor *scale = call->arguments[SCALE].tensors;
    struct aligned aligned;
    uint32_t rank;
    SIM_TRY(find_rank(call->arguments, &rank));
    SIM_TRY(check_scale(call->arguments, rank));
    if (bias->present != 0)
        SIM_TRY(sim_require_shape(bias, scale->dims, scale->rank, "that of scale"));
    make_aligned(call, rank, &aligned);
    return sim_formula_plan(&aligned.al_call, workspace_size);
}

static aclError run_scale(const aclsimCall *call)
{
    struct aligned aligned;
    uint32_t rank;
    SIM_TRY(find_rank(call->arguments, &rank));
    make_aligned(call, rank, &aligned);
    return sim_formula_run(&aligned.al_call);
}

const struct sim_kernel sim_kernel_aclnnScale = {plan_scale, run_scale, NULL, true};
