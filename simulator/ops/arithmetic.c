/* Sums: out = self + alpha * other, computed in the type that self and other meet in, then cast to that of out. */
#include "pointwise.h"
#include "row.h"

/* What a run of blocks works with. */
struct sum {
    aclDataType su_type;
    enum sim_class su_class;
    union sim_block_values su_alpha; /* one element */
    union sim_block_values su_other; /* of a scalar: all elements the same */
    bool su_scalar;
};

static aclnnStatus check_type(const aclsimArgument *argument, aclDataType type)
{
    enum sim_class class;
    SIM_ARGUMENT(sim_element_class(type, &class), ACLNN_ERR_PARAM_INVALID,
                 "%s has data type %d, expected float32, float16, bfloat16, double, int8 to int64, uint8, bool, "
                 "complex64 or complex128",
                 argument->name, (int)type);
    return ACL_SUCCESS;
}

static aclnnStatus check_cast(aclDataType from, const char *what, aclDataType to, const char *name)
{
    SIM_ARGUMENT(sim_element_casts(from, to), ACLNN_ERR_PARAM_INVALID, "%s is %s, which cannot be cast to %s, %s", what,
                 sim_element_name(from), sim_element_name(to), name);
    return ACL_SUCCESS;
}

/* The arguments of the four rows: self, other, alpha and the result, which is self in place. */
struct operands {
    const aclsimArgument *op_self, *op_other, *op_alpha, *op_out;
};

static struct operands operands_of(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    return (struct operands){&arguments[0], &arguments[1], &arguments[2], &arguments[call->argumentCount == 4 ? 3 : 0]};
}

static aclDataType type_of(const struct operands *operands)
{
    aclDataType self = operands->op_self->tensors->type;
    return operands->op_other->kind == ACLSIM_SCALAR
               ? sim_element_promote_scalar(self, operands->op_other->scalars->type)
               : sim_element_promote(self, operands->op_other->tensors->type);
}

static aclnnStatus plan_sum(const aclsimCall *call, uint64_t *workspace_size)
{
    struct operands operands = operands_of(call);
    bool scalar = operands.op_other->kind == ACLSIM_SCALAR;
    const aclsimArgument *inputs[] = {operands.op_self, operands.op_other};
    aclDataType out = operands.op_out->tensors->type;
    (void)workspace_size;
    SIM_TRY(check_type(operands.op_self, operands.op_self->tensors->type));
    SIM_TRY(check_type(operands.op_other,
                       scalar ? operands.op_other->scalars->type : operands.op_other->tensors->type));
    SIM_TRY(check_type(operands.op_alpha, operands.op_alpha->scalars->type));
    SIM_TRY(check_type(operands.op_out, out));
    aclDataType type = type_of(&operands);
    SIM_TRY(check_cast(operands.op_alpha->scalars->type, "alpha", type, "the type of the sum"));
    SIM_TRY(check_cast(type, "the sum", out, "the type of the result"));
    return sim_pointwise_check(operands.op_out, inputs, scalar ? 1 : 2);
}

static void add_integers(int64_t *self, const int64_t *other, int64_t alpha, size_t count)
{
    for (size_t i = 0; i < count; i++)
        self[i] = (int64_t)((uint64_t)self[i] + (uint64_t)alpha * (uint64_t)other[i]);
}

static void add_floats(float *self, const float *other, float alpha, size_t count)
{
    for (size_t i = 0; i < count; i++)
        self[i] += alpha * other[i];
}

static void add_doubles(double *self, const double *other, double alpha, size_t count)
{
    for (size_t i = 0; i < count; i++)
        self[i] += alpha * other[i];
}

static void add_float_pairs(float *self, const float *other, const float *alpha, size_t count)
{
    for (size_t i = 0; i < 2 * count; i += 2) {
        self[i] += alpha[0] * other[i] - alpha[1] * other[i + 1];
        self[i + 1] += alpha[0] * other[i + 1] + alpha[1] * other[i];
    }
}

static void add_double_pairs(double *self, const double *other, const double *alpha, size_t count)
{
    for (size_t i = 0; i < 2 * count; i += 2) {
        self[i] += alpha[0] * other[i] - alpha[1] * other[i + 1];
        self[i + 1] += alpha[0] * other[i + 1] + alpha[1] * other[i];
    }
}

static void add_block(const struct sim_pointwise *block, void *context)
{
    struct sum *sum = context;
    union sim_block_values self, loaded;
    const union sim_block_values *other = sum->su_scalar ? &sum->su_other : &loaded, *alpha = &sum->su_alpha;
    size_t count = block->pw_count;
    sim_element_load(&self, sum->su_class, block->pw_places[1], block->pw_tensors[1]->type, block->pw_strides[1],
                     count);
    if (!sum->su_scalar)
        sim_element_load(&loaded, sum->su_class, block->pw_places[2], block->pw_tensors[2]->type,
                         block->pw_strides[2], count);
    switch (sum->su_class) {
    case SIM_CLASS_INTEGER:
        add_integers(self.bv_integers, other->bv_integers, alpha->bv_integers[0], count);
        sim_element_wrap(&self, sum->su_type, count);
        break;
    case SIM_CLASS_FLOAT:
        add_floats(self.bv_floats, other->bv_floats, alpha->bv_floats[0], count);
        break;
    case SIM_CLASS_DOUBLE:
        add_doubles(self.bv_doubles, other->bv_doubles, alpha->bv_doubles[0], count);
        break;
    case SIM_CLASS_COMPLEX_FLOAT:
        add_float_pairs(self.bv_floats, other->bv_floats, alpha->bv_floats, count);
        break;
    case SIM_CLASS_COMPLEX_DOUBLE:
        add_double_pairs(self.bv_doubles, other->bv_doubles, alpha->bv_doubles, count);
        break;
    }
    sim_element_store(&self, sum->su_class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      count);
}

static aclError run_sum(const aclsimCall *call)
{
    struct operands operands = operands_of(call);
    struct sum sum = {.su_type = type_of(&operands), .su_scalar = operands.op_other->kind == ACLSIM_SCALAR};
    sim_element_class(sum.su_type, &sum.su_class);
    const aclsimScalar *alpha = operands.op_alpha->scalars;
    sim_element_load(&sum.su_alpha, sum.su_class, alpha->value, alpha->type, 0, 1);
    const aclsimTensor *tensors[] = {operands.op_out->tensors, operands.op_self->tensors, NULL};
    if (sum.su_scalar)
        sim_element_load(&sum.su_other, sum.su_class, operands.op_other->scalars->value,
                         operands.op_other->scalars->type, 0, SIM_BLOCK);
    else
        tensors[2] = operands.op_other->tensors;
    sim_pointwise_run(tensors, sum.su_scalar ? 2 : 3, add_block, &sum);
    return ACL_SUCCESS;
}

#define SUM {plan_sum, run_sum, NULL}
const struct sim_kernel sim_kernel_aclnnAdd = SUM, sim_kernel_aclnnAdds = SUM, sim_kernel_aclnnInplaceAdd = SUM,
                        sim_kernel_aclnnInplaceAdds = SUM;
