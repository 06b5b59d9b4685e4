/* Gated linear units: a tensor is split into two halves along a dimension, and one half, after an activation, is
 * multiplied by the other. Their gradients have the same halves. */
#include "base/fail.h"
#include "curve.h"
#include "require.h"
#include "smooth.h"

#include <math.h>

/* ---- halves ---- */

/* The dimension of the halves, of which `halves` have the size. */
static aclnnStatus check_halves(const aclsimArgument *whole, uint32_t dim, const aclsimArgument *const *halves,
                                size_t count)
{
    aclsimTensor half = *whole->tensors;
    SIM_ARGUMENT(half.dims[dim] % 2 == 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %lld, expected an even number", dim, whole->name, (long long)half.dims[dim]);
    half.dims[dim] /= 2;
    for (size_t i = 0; i < count; i++)
        SIM_TRY(sim_require_shape(halves[i], half.dims, half.rank, "that of one half"));
    return ACL_SUCCESS;
}

static aclnnStatus require_dim(const aclsimArgument *whole, const aclsimArgument *given, uint32_t *dim)
{
    SIM_TRY(sim_require_rank(whole, 1, SIM_RANK));
    return sim_require_dim(given, whole->tensors->rank, dim);
}

/* All tensors of the call have the type of the first. */
static aclnnStatus check_types(const aclsimCall *call, uint64_t types)
{
    const aclsimArgument *first = &call->arguments[0];
    SIM_TRY(sim_require_type(first, types));
    for (size_t i = 1; i < call->argumentCount; i++)
        if (call->arguments[i].kind == ACLSIM_TENSOR)
            SIM_TRY(sim_require_same_type(&call->arguments[i], first->tensors->type, first->name));
    return ACL_SUCCESS;
}

struct halves {
    aclsimTensor ha_left, ha_right;
};

/* The tensor is not empty. */
static struct halves split(const aclsimTensor *whole, uint32_t dim)
{
    struct halves halves = {*whole, *whole};
    int64_t size = whole->dims[dim] / 2, offset = size * whole->strides[dim];
    halves.ha_left.dims[dim] = halves.ha_right.dims[dim] = size;
    halves.ha_right.data = (char *)whole->data + offset * (int64_t)sim_element_size(whole->type);
    return halves;
}

/* ---- Glu and SwiGlu: self, dim, out; their gradients: gradient, self, dim, out ---- */

struct gate {
    uint64_t ga_types;
    sim_curve_func *ga_value;            /* of the left and the right half */
    sim_curve_func *ga_left, *ga_right; /* gradients for the halves, of the gradient, the left and the right half */
};

static aclnnStatus plan_gate(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct gate *gate = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[2];
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(check_types(call, gate->ga_types));
    SIM_TRY(require_dim(self, &call->arguments[1], &dim));
    return check_halves(self, dim, &out, 1);
}

static aclError run_gate(const aclsimCall *call)
{
    const struct gate *gate = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors;
    uint32_t dim = 0;
    SIM_TRY(require_dim(&call->arguments[0], &call->arguments[1], &dim));
    if (sim_walk_is_empty(self->dims, self->rank))
        return ACL_SUCCESS;
    const struct halves in = split(self, dim);
    sim_curve_apply(gate->ga_value, call->arguments[2].tensors, (const aclsimTensor *[]){&in.ha_left, &in.ha_right}, 2);
    return ACL_SUCCESS;
}

static aclnnStatus plan_gate_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct gate *gate = call->userData;
    const aclsimArgument *gradient = &call->arguments[0], *self = &call->arguments[1];
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(check_types(call, gate->ga_types));
    SIM_TRY(require_dim(self, &call->arguments[2], &dim));
    SIM_TRY(check_halves(self, dim, &gradient, 1));
    return sim_require_shape(&call->arguments[3], self->tensors->dims, self->tensors->rank, "that of the input");
}

static aclError run_gate_gradient(const aclsimCall *call)
{
    const struct gate *gate = call->userData;
    const aclsimTensor *gradient = call->arguments[0].tensors, *self = call->arguments[1].tensors;
    uint32_t dim = 0;
    SIM_TRY(require_dim(&call->arguments[1], &call->arguments[2], &dim));
    if (sim_walk_is_empty(self->dims, self->rank))
        return ACL_SUCCESS;
    const struct halves in = split(self, dim), out = split(call->arguments[3].tensors, dim);
    const aclsimTensor *const from[] = {gradient, &in.ha_left, &in.ha_right};
    sim_curve_apply(gate->ga_left, &out.ha_left, from, 3);
    sim_curve_apply(gate->ga_right, &out.ha_right, from, 3);
    return ACL_SUCCESS;
}

SIM_CURVE(glu, a / (1 + exp(-b)))
SIM_CURVE(glu_left, a / (1 + exp(-c)))
SIM_CURVE(glu_right, a * b / (1 + exp(-c)) / (1 + exp(c)))
static const struct gate glu = {SIM_TYPES_FLOAT, glu_doubles, glu_left_doubles, glu_right_doubles};
const struct sim_kernel sim_kernel_aclnnGlu = {plan_gate, run_gate, (void *)&glu, false};
const struct sim_kernel sim_kernel_aclnnGluBackward = {plan_gate_gradient, run_gate_gradient, (void *)&glu, false};

SIM_CURVE(swi_glu, a / (1 + exp(-a)) * b)
SIM_CURVE(swi_glu_left, a * c * sim_swish_slope(b, 1))
SIM_CURVE(swi_glu_right, a * (b / (1 + exp(-b))))
static const struct gate swi_glu = {SIM_TYPES_SINGLE, swi_glu_doubles, swi_glu_left_doubles, swi_glu_right_doubles};
const struct sim_kernel sim_kernel_aclnnSwiGlu = {plan_gate, run_gate, (void *)&swi_glu, false};
const struct sim_kernel sim_kernel_aclnnSwiGluGrad = {plan_gate_gradient, run_gate_gradient, (void *)&swi_glu, false};

/* ---- GeGlu: self, dim, approximate, in V3 also activateLeft, out, outGelu ---- */

/* The functions without and with the approximation. */
SIM_CURVE(gelu, sim_gelu(a))
SIM_CURVE(gelu_by_tanh, sim_gelu_by_tanh(a))
static sim_curve_func *const gelus[] = {gelu_doubles, gelu_by_tanh_doubles};

SIM_CURVE(product, sim_gelu(a) * b)
SIM_CURVE(product_by_tanh, sim_gelu_by_tanh(a) * b)
static sim_curve_func *const products[] = {product_doubles, product_by_tanh_doubles};

SIM_CURVE(slope, a * c * sim_gelu_slope(b))
SIM_CURVE(slope_by_tanh, a * c * sim_gelu_slope_by_tanh(b))
static sim_curve_func *const slopes[] = {slope_doubles, slope_by_tanh_doubles};

static aclnnStatus plan_geglu(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *end = given + call->argumentCount;
    uint32_t dim = 0;
    bool by_tanh = false;
    (void)workspace_size;
    SIM_TRY(check_types(call, SIM_TYPES_SINGLE));
    SIM_TRY(require_dim(&given[0], &given[1], &dim));
    SIM_TRY(sim_gelu_require(&given[2], &by_tanh));
    return check_halves(&given[0], dim, (const aclsimArgument *[]){end - 2, end - 1}, 2);
}

static aclError run_geglu(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments, *end = given + call->argumentCount;
    bool activates_left = call->argumentCount == 6 && given[3].integer != 0, by_tanh = false;
    uint32_t dim = 0;
    SIM_TRY(require_dim(&given[0], &given[1], &dim));
    SIM_TRY(sim_gelu_require(&given[2], &by_tanh));
    if (sim_walk_is_empty(given[0].tensors->dims, given[0].tensors->rank))
        return ACL_SUCCESS;
    const struct halves in = split(given[0].tensors, dim);
    const aclsimTensor *active = activates_left ? &in.ha_left : &in.ha_right;
    const aclsimTensor *passive = activates_left ? &in.ha_right : &in.ha_left;
    sim_curve_apply(products[by_tanh], end[-2].tensors, (const aclsimTensor *[]){active, passive}, 2);
    sim_curve_apply(gelus[by_tanh], end[-1].tensors, (const aclsimTensor *[]){active}, 1);
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnGeGlu = {plan_geglu, run_geglu, NULL, false};
const struct sim_kernel sim_kernel_aclnnGeGluV3 = {plan_geglu, run_geglu, NULL, false};

/* ---- its gradient: gradOutput, self, gelu, dim, approximate, in V3 also activateLeft, gradInput ---- */

static aclnnStatus plan_geglu_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *self = &given[1], *end = given + call->argumentCount;
    uint32_t dim = 0;
    bool by_tanh = false;
    (void)workspace_size;
    SIM_TRY(check_types(call, SIM_TYPES_SINGLE));
    SIM_TRY(require_dim(self, &given[3], &dim));
    SIM_TRY(sim_gelu_require(&given[4], &by_tanh));
    SIM_TRY(check_halves(self, dim, (const aclsimArgument *[]){&given[0], &given[2]}, 2));
    return sim_require_shape(end - 1, self->tensors->dims, self->tensors->rank, "that of the input");
}

SIM_CURVE(multiply, a * b)

static aclError run_geglu_gradient(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments, *end = given + call->argumentCount;
    const aclsimTensor *gradient = given[0].tensors, *gelu = given[2].tensors;
    bool activates_left = call->argumentCount == 7 && given[5].integer != 0, by_tanh = false;
    uint32_t dim = 0;
    SIM_TRY(require_dim(&given[1], &given[3], &dim));
    SIM_TRY(sim_gelu_require(&given[4], &by_tanh));
    if (sim_walk_is_empty(gradient->dims, gradient->rank))
        return ACL_SUCCESS;
    const struct halves in = split(given[1].tensors, dim), out = split(end[-1].tensors, dim);
    const aclsimTensor *active = activates_left ? &in.ha_left : &in.ha_right;
    const aclsimTensor *passive = activates_left ? &in.ha_right : &in.ha_left;
    const aclsimTensor *active_out = activates_left ? &out.ha_left : &out.ha_right;
    const aclsimTensor *passive_out = activates_left ? &out.ha_right : &out.ha_left;
    sim_curve_apply(multiply_doubles, passive_out, (const aclsimTensor *[]){gradient, gelu}, 2);
    sim_curve_apply(slopes[by_tanh], active_out, (const aclsimTensor *[]){gradient, active, passive}, 3);
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnGeGluBackward = {plan_geglu_gradient, run_geglu_gradient, NULL, false};
const struct sim_kernel sim_kernel_aclnnGeGluV3Backward = {plan_geglu_gradient, run_geglu_gradient, NULL, false};

/* ---- GeluMul: input, approximate, out; FatreluMul: input, threshold, out; the left half of the last dimension ---- */

static aclnnStatus plan_last(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *input = &call->arguments[0], *middle = &call->arguments[1], *out = &call->arguments[2];
    bool by_tanh = false;
    (void)workspace_size;
    SIM_TRY(check_types(call, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(input, 2, SIM_RANK));
    SIM_TRY(middle->kind == ACLSIM_TENSOR ? sim_require_one(middle) : sim_gelu_require(middle, &by_tanh));
    return check_halves(input, input->tensors->rank - 1, &out, 1);
}

static aclError run_gelu_mul(const aclsimCall *call)
{
    const aclsimTensor *input = call->arguments[0].tensors;
    bool by_tanh = false;
    SIM_TRY(sim_gelu_require(&call->arguments[1], &by_tanh));
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    const struct halves in = split(input, input->rank - 1);
    sim_curve_apply(products[by_tanh], call->arguments[2].tensors,
                    (const aclsimTensor *[]){&in.ha_left, &in.ha_right}, 2);
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnGeluMul = {plan_last, run_gelu_mul, NULL, false};

SIM_CURVE(fatrelu_mul, (a <= c ? 0 : a) * b)

static aclError run_fatrelu_mul(const aclsimCall *call)
{
    const aclsimTensor *input = call->arguments[0].tensors, *threshold = call->arguments[1].tensors;
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    const struct halves in = split(input, input->rank - 1);
    sim_curve_apply(fatrelu_mul_doubles, call->arguments[2].tensors,
                    (const aclsimTensor *[]){&in.ha_left, &in.ha_right, threshold}, 3);
    return ACL_SUCCESS;
}
const struct sim_kernel sim_kernel_aclnnFatreluMul = {plan_last, run_fatrelu_mul, NULL, false};
