/* The single operator GEMM: y = alpha * (a @ b) + beta * c. Alpha and beta are tensors of one element, which are read
 * when the operator runs; y may be c. Programs reach it through aclblas* and by its type name; no aclnn function
 * exists. */
#include "base/fail.h"
#include "operator/op.h"
#include "multiply.h"
#include "require.h"
#include "tables.h"

enum { A, B, C, ALPHA, BETA, RESULT };

static const struct sim_parameter parameters[] = {
    [A] = {"a", ACLSIM_TENSOR, ACLSIM_IN, false},         [B] = {"b", ACLSIM_TENSOR, ACLSIM_IN, false},
    [C] = {"c", ACLSIM_TENSOR, ACLSIM_IN, false},         [ALPHA] = {"alpha", ACLSIM_TENSOR, ACLSIM_IN, false},
    [BETA] = {"beta", ACLSIM_TENSOR, ACLSIM_IN, false},   [RESULT] = {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

#define FACTORS (SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_INT8))
#define RESULTS (SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_INT32))

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments;
    const aclsimTensor *a = all[A].tensors, *b = all[B].tensors;
    aclDataType type = all[RESULT].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&all[A], &all[B], FACTORS));
    SIM_TRY(sim_require_type(&all[RESULT], RESULTS));
    SIM_ARGUMENT(type == ACL_FLOAT || (type == ACL_FLOAT16) == (a->type == ACL_FLOAT16), ACLNN_ERR_PARAM_INVALID,
                 "a is %s and y is %s, expected a of float16 with y of float16 or float32, "
                 "or a of int8 with y of int32 or float32",
                 sim_element_name(a->type), sim_element_name(type));
    SIM_TRY(sim_require_rank(&all[A], 2, 2));
    SIM_TRY(sim_require_rank(&all[B], 2, 2));
    SIM_ARGUMENT(a->dims[1] == b->dims[0], ACLNN_ERR_PARAM_INVALID,
                 "a has %lld columns and b %lld rows, expected the same", (long long)a->dims[1], (long long)b->dims[0]);
    const int64_t dims[] = {a->dims[0], b->dims[1]};
    for (size_t i = C; i <= RESULT; i++)
        SIM_TRY(sim_require_same_type(&all[i], type, "y"));
    SIM_TRY(sim_require_shape(&all[C], dims, 2, "that of the product"));
    SIM_TRY(sim_require_shape(&all[RESULT], dims, 2, "that of the product"));
    SIM_TRY(sim_require_one(&all[ALPHA]));
    return sim_require_one(&all[BETA]);
}

struct job {
    enum sim_class jo_class;
    const aclsimTensor *jo_from, *jo_to; /* c and y */
    union sim_block_values jo_alpha, jo_beta;
};

static void *element(const aclsimTensor *tensor, int64_t row, int64_t column)
{
    int64_t offset = row * tensor->strides[0] + column * tensor->strides[1];
    return (char *)tensor->data + offset * (int64_t)sim_element_size(tensor->type);
}

/* If beta is 0, c is not read: it may hold anything, also NaN. */
static void put(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count)
{
    const struct job *job = context;
    union sim_block_values from = {{0}};
    bool is_integer = job->jo_class == SIM_CLASS_INTEGER;
    if (is_integer ? job->jo_beta.bv_integers[0] != 0 : job->jo_beta.bv_floats[0] != 0)
        sim_element_load(&from, job->jo_class, element(job->jo_from, row, column), job->jo_from->type,
                         job->jo_from->strides[1], count);
    if (is_integer) {
        for (size_t i = 0; i < count; i++)
            sums->bv_bits[i] = job->jo_alpha.bv_bits[0] * sums->bv_bits[i] + job->jo_beta.bv_bits[0] * from.bv_bits[i];
        sim_element_wrap(sums, job->jo_to->type, count);
    } else {
        for (size_t i = 0; i < count; i++)
            sums->bv_floats[i] = job->jo_alpha.bv_floats[0] * sums->bv_floats[i] +
                                 job->jo_beta.bv_floats[0] * from.bv_floats[i];
    }
    sim_element_store(sums, job->jo_class, element(job->jo_to, row, column), job->jo_to->type, job->jo_to->strides[1],
                      count);
}

static aclError run(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    const aclsimTensor *a = all[A].tensors, *b = all[B].tensors, *y = all[RESULT].tensors;
    struct job job = {.jo_class = sim_element_class(y->type), .jo_from = all[C].tensors, .jo_to = y};
    sim_element_load(&job.jo_alpha, job.jo_class, all[ALPHA].tensors->data, y->type, 0, 1);
    sim_element_load(&job.jo_beta, job.jo_class, all[BETA].tensors->data, y->type, 0, 1);
    const struct sim_multiply multiply = {
        .mu_class = job.jo_class,
        .mu_rows = y->dims[0],
        .mu_columns = y->dims[1],
        .mu_depth = a->dims[1],
        .mu_left = {a->data, a->type, a->strides[0], a->strides[1]},
        .mu_right = {b->data, b->type, b->strides[1], b->strides[0]},
        .mu_put = put,
        .mu_alone = sim_multiply_is_alone(y),
        .mu_context = &job,
    };
    return sim_multiply_run(&multiply);
}

static const struct sim_kernel kernel = {plan, run, NULL, false};

/* No op_save: model files refer to operators by the names of schemas that programs see. */
struct sim_row sim_op_gemm_row = {
    .ro_op = {.op_name = "GEMM", .op_run = sim_row_run, .op_ranges = sim_row_ranges,
              .op_footprints = sim_row_footprints, .op_flags = SIM_OP_KERNEL,
              .op_kind = SIM_TASK_CUBE},
    .ro_parameters = parameters,
    .ro_count = sizeof parameters / sizeof *parameters,
    .ro_builtin = &kernel,
};
