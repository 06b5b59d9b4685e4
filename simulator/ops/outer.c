/* Operators that call another product with views or copies of their tensors: Ger and Addr of two vectors, Addbmm of two
 * batches, which are joined along the summed axis, and Gemm of matrices that may be transposed. */
#include "base/bytes.h"
#include "base/fail.h"
#include "cube.h"
#include "line.h"
#include "product.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

enum { SELF, LEFT, RIGHT, BETA, ALPHA, OUT, MATH, ARGUMENTS };

/* The call of a product with views, or copies, of the factors. */
struct form {
    aclsimCall fo_call;
    aclsimArgument fo_arguments[ARGUMENTS];
    aclsimTensor fo_left, fo_right;
    aclsimScalar fo_beta, fo_alpha;
};

/* Replaces the arguments at two positions by matrices of these shapes, whose strides are not set yet. */
static void set_factors(struct form *form, uint32_t left, uint32_t right, const int64_t *left_dims,
                        const int64_t *right_dims)
{
    aclsimArgument *arguments = form->fo_arguments;
    form->fo_left = *arguments[left].tensors;
    form->fo_right = *arguments[right].tensors;
    form->fo_left.rank = form->fo_right.rank = 2;
    for (uint32_t k = 0; k < 2; k++) {
        form->fo_left.dims[k] = left_dims[k];
        form->fo_right.dims[k] = right_dims[k];
        form->fo_left.strides[k] = form->fo_right.strides[k] = 0;
    }
    arguments[left].tensors = &form->fo_left;
    arguments[right].tensors = &form->fo_right;
}

static void set_call(struct form *form, const aclsimCall *call, const struct sim_kernel *kernel, size_t count)
{
    form->fo_call = *call;
    form->fo_call.arguments = form->fo_arguments;
    form->fo_call.argumentCount = count;
    form->fo_call.userData = kernel->kn_user;
}

static bool is_in_place(const aclsimCall *call)
{
    return *(const bool *)call->userData;
}

/* The arguments of a sum. In place, the first one is also the output, and the numbers follow the factors. */
static void copy_sum(struct form *form, const aclsimCall *call, bool has_math)
{
    const aclsimArgument *given = call->arguments;
    memcpy(form->fo_arguments, given, OUT * sizeof *given);
    form->fo_arguments[OUT] = given[is_in_place(call) ? SELF : OUT];
    if (has_math)
        form->fo_arguments[MATH] = given[call->argumentCount - 1];
}

/* ---- vectors ---- */

static aclnnStatus require_vectors(const aclsimArgument *one, const aclsimArgument *other)
{
    SIM_TRY(sim_require_rank(one, 1, 1));
    return sim_require_rank(other, 1, 1);
}

/* Makes a column and a row of two vectors. */
static void set_vectors(struct form *form, uint32_t left, uint32_t right)
{
    const aclsimTensor column = *form->fo_arguments[left].tensors, row = *form->fo_arguments[right].tensors;
    set_factors(form, left, right, (const int64_t[]){column.dims[0], 1}, (const int64_t[]){1, row.dims[0]});
    form->fo_left.strides[0] = column.strides[0];
    form->fo_right.strides[1] = row.strides[0];
}

/* Ger: self, vec2, out. */
static void set_ger(struct form *form, const aclsimCall *call)
{
    memcpy(form->fo_arguments, call->arguments, 3 * sizeof *call->arguments);
    set_vectors(form, 0, 1);
    set_call(form, call, &sim_product_outer, 3);
}

static aclnnStatus plan_ger(const aclsimCall *call, uint64_t *workspace_size)
{
    struct form form;
    SIM_TRY(require_vectors(&call->arguments[0], &call->arguments[1]));
    set_ger(&form, call);
    return sim_product_outer.kn_plan(&form.fo_call, workspace_size);
}

static aclError run_ger(const aclsimCall *call)
{
    struct form form;
    set_ger(&form, call);
    return sim_product_outer.kn_run(&form.fo_call);
}

/* Addr: self, vec1, vec2, betaOptional, alphaOptional, out; in place: without out. */
static void set_addr(struct form *form, const aclsimCall *call)
{
    static const aclsimScalar one = {{1}, ACL_BOOL}; /* of the type that can be cast to any other */
    copy_sum(form, call, false);
    for (uint32_t i = BETA; i <= ALPHA; i++)
        if (!form->fo_arguments[i].present)
            form->fo_arguments[i].scalars = &one;
    set_vectors(form, LEFT, RIGHT);
    set_call(form, call, &sim_product_outer_sum, MATH);
}

static aclnnStatus plan_addr(const aclsimCall *call, uint64_t *workspace_size)
{
    struct form form;
    SIM_TRY(require_vectors(&call->arguments[LEFT], &call->arguments[RIGHT]));
    set_addr(&form, call);
    return sim_product_outer_sum.kn_plan(&form.fo_call, workspace_size);
}

static aclError run_addr(const aclsimCall *call)
{
    struct form form;
    set_addr(&form, call);
    return sim_product_outer_sum.kn_run(&form.fo_call);
}

/* ---- Addbmm: self, batch1, batch2, beta, alpha, out, cubeMathType; in place: without out ---- */

/* The batches of the left factor side by side, and those of the right one below each other. */
static void set_batches(struct form *form, const aclsimCall *call)
{
    copy_sum(form, call, true);
    const aclsimTensor *left = form->fo_arguments[LEFT].tensors, *right = form->fo_arguments[RIGHT].tensors;
    const int64_t depth = left->dims[0] * left->dims[2];
    set_factors(form, LEFT, RIGHT, (const int64_t[]){left->dims[1], depth}, (const int64_t[]){depth, right->dims[2]});
    set_call(form, call, &sim_product_batch_sum, ARGUMENTS);
}

static aclnnStatus plan_batches(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *one = &call->arguments[LEFT], *other = &call->arguments[RIGHT];
    SIM_TRY(sim_require_rank(one, 3, 3));
    SIM_TRY(sim_require_rank(other, 3, 3));
    const int64_t *left = one->tensors->dims, *right = other->tensors->dims;
    int64_t depth = left[0];
    SIM_ARGUMENT(left[0] == right[0], ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %lld and that of %s is %lld, expected the same", one->name, (long long)left[0],
                 other->name, (long long)right[0]);
    SIM_ARGUMENT(left[2] == right[1], ACLNN_ERR_PARAM_INVALID,
                 "dimension 2 of %s is %lld and dimension 1 of %s is %lld, expected the same", one->name,
                 (long long)left[2], other->name, (long long)right[1]);
    SIM_ARGUMENT(sim_length_multiply(&depth, left[2]), ACLNN_ERR_PARAM_INVALID,
                 "%s has too many elements, expected a product that fits 64 bits", one->name);
    struct form form;
    set_batches(&form, call);
    return sim_product_batch_sum.kn_plan(&form.fo_call, workspace_size);
}

/* Copies a factor to contiguous floats in memory that the caller frees. */
static aclError copy_factor(const aclsimTensor *from, aclsimTensor *to)
{
    struct sim_line line = sim_line_of(from, 0, from->rank);
    size_t length;
    void *memory = NULL;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_FLOAT, 1, &memory, &length));
    sim_line_load(&line, SIM_CLASS_FLOAT, from->data, memory);
    to->data = memory;
    to->type = ACL_FLOAT;
    to->strides[0] = to->dims[1];
    to->strides[1] = 1;
    return ACL_SUCCESS;
}

static aclError run_batches(const aclsimCall *call)
{
    const aclsimTensor *left = call->arguments[LEFT].tensors, *right = call->arguments[RIGHT].tensors;
    aclsimTensor rows = *left;
    struct form form;
    set_batches(&form, call);
    for (uint32_t k = 0; k < 2; k++) { /* the rows first, then the batches */
        rows.dims[k] = left->dims[1 - k];
        rows.strides[k] = left->strides[1 - k];
    }
    /* The copies are floats; only if the factors were, the math type rounds them. */
    if (sim_element_promote(left->type, right->type) != ACL_FLOAT)
        form.fo_arguments[MATH].integer = SIM_KEEP_DTYPE;
    SIM_TRY(copy_factor(&rows, &form.fo_left));
    aclError code = copy_factor(right, &form.fo_right);
    if (code == ACL_SUCCESS) {
        code = sim_product_batch_sum.kn_run(&form.fo_call);
        free(form.fo_right.data);
    }
    free(form.fo_left.data);
    return code;
}

/* ---- Gemm: A, B, C, alpha, beta, transA, transB, out, cubeMathType ---- */

static void set_scalar(aclsimArgument *to, aclsimScalar *scalar, const aclsimArgument *from)
{
    const float value = (float)from->number;
    *scalar = (aclsimScalar){.type = ACL_FLOAT};
    memcpy(scalar->value, &value, sizeof value);
    *to = (aclsimArgument){.name = from->name, .kind = ACLSIM_SCALAR, .present = 1, .count = 1, .scalars = scalar};
}

static aclsimTensor transposed(const aclsimTensor *tensor, const aclsimArgument *transposes)
{
    aclsimTensor view = *tensor;
    for (uint32_t k = 0; transposes->integer != 0 && k < 2; k++) {
        view.dims[k] = tensor->dims[1 - k];
        view.strides[k] = tensor->strides[1 - k];
    }
    return view;
}

static void set_gemm(struct form *form, const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    aclsimArgument *arguments = form->fo_arguments;
    form->fo_left = transposed(given[0].tensors, &given[5]);
    form->fo_right = transposed(given[1].tensors, &given[6]);
    arguments[SELF] = given[2];
    arguments[LEFT] = given[0];
    arguments[RIGHT] = given[1];
    arguments[LEFT].tensors = &form->fo_left;
    arguments[RIGHT].tensors = &form->fo_right;
    arguments[OUT] = given[7];
    arguments[MATH] = given[8];
    set_scalar(&arguments[ALPHA], &form->fo_alpha, &given[3]);
    set_scalar(&arguments[BETA], &form->fo_beta, &given[4]);
    set_call(form, call, &sim_kernel_aclnnAddmm, ARGUMENTS);
}

static aclnnStatus plan_gemm(const aclsimCall *call, uint64_t *workspace_size)
{
    struct form form;
    SIM_TRY(sim_require_rank(&call->arguments[0], 2, 2));
    SIM_TRY(sim_require_rank(&call->arguments[1], 2, 2));
    set_gemm(&form, call);
    return sim_kernel_aclnnAddmm.kn_plan(&form.fo_call, workspace_size);
}

static aclError run_gemm(const aclsimCall *call)
{
    struct form form;
    set_gemm(&form, call);
    return sim_kernel_aclnnAddmm.kn_run(&form.fo_call);
}

static const bool yes = true, no = false;

const struct sim_kernel sim_kernel_aclnnGer = {plan_ger, run_ger, NULL, false},
                        sim_kernel_aclnnAddr = {plan_addr, run_addr, (void *)&no, false},
                        sim_kernel_aclnnInplaceAddr = {plan_addr, run_addr, (void *)&yes, false},
                        sim_kernel_aclnnAddbmm = {plan_batches, run_batches, (void *)&no, false},
                        sim_kernel_aclnnInplaceAddbmm = {plan_batches, run_batches, (void *)&yes, false},
                        sim_kernel_aclnnGemm = {plan_gemm, run_gemm, NULL, false};
