/* Gradients of softmax and of its logarithm along one dimension, from the gradient and the result of the forward
 * operator. A line is computed in double and rounded once. */
#include "engine/split.h"
#include "operator/row.h"
#include "line.h"
#include "require.h"

#include <math.h>
#include <stdlib.h>

/* Both schemas have the arguments gradOutput, output, dim, out. */
static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *gradient = &call->arguments[0], *output = &call->arguments[1], *out = &call->arguments[3];
    const aclsimTensor *tensor = gradient->tensors;
    uint32_t place;
    (void)workspace_size;
    SIM_TRY(sim_require_types(gradient, output, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_dim(&call->arguments[2], tensor->rank, &place));
    SIM_TRY(sim_require_shape(output, tensor->dims, tensor->rank, "that of gradOutput"));
    return sim_require_shape(out, tensor->dims, tensor->rank, "that of gradOutput");
}

/* Replace the gradient of the output by that of the input. */
typedef void gradient_func(double *gradient, const double *output, size_t count);

static void softmax(double *gradient, const double *output, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += gradient[i] * output[i];
    for (size_t i = 0; i < count; i++)
        gradient[i] = output[i] * (gradient[i] - sum);
}

static void log_softmax(double *gradient, const double *output, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += gradient[i];
    for (size_t i = 0; i < count; i++)
        gradient[i] -= exp(output[i]) * sum;
}

struct kind {
    gradient_func *ki_run;
};

static const struct kind plain = {softmax}, logarithm = {log_softmax};

struct job {
    const struct kind *jo_kind;
    struct sim_line jo_to, jo_gradient, jo_output;
    double *jo_values; /* for each seat a line of the gradient, then one of the output */
    size_t jo_count;   /* values per line */
};

/* places: the addresses of a line of the result, of the gradient and of the output. */
static void run_lines(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct job *job = context;
    double *gradient = job->jo_values + 2 * seat * job->jo_count, *output = gradient + job->jo_count;
    for (int64_t i = 0; i < length; i++) {
        sim_line_load(&job->jo_gradient, SIM_CLASS_DOUBLE, places[1] + i * strides[1], gradient);
        sim_line_load(&job->jo_output, SIM_CLASS_DOUBLE, places[2] + i * strides[2], output);
        job->jo_kind->ki_run(gradient, output, job->jo_count);
        sim_line_store(&job->jo_to, SIM_CLASS_DOUBLE, gradient, places[0] + i * strides[0]);
    }
}

static aclError run_gradient(const aclsimCall *call)
{
    const aclsimTensor *gradient = call->arguments[0].tensors, *output = call->arguments[1].tensors;
    const aclsimTensor *to = call->arguments[3].tensors;
    uint32_t place, rank = gradient->rank != 0;
    void *memory;
    SIM_TRY(sim_require_dim(&call->arguments[2], gradient->rank, &place));
    if (sim_walk_is_empty(gradient->dims, gradient->rank))
        return ACL_SUCCESS;
    struct job job = {
        .jo_kind = call->userData,
        .jo_to = sim_line_of(to, place, rank),
        .jo_gradient = sim_line_of(gradient, place, rank),
        .jo_output = sim_line_of(output, place, rank),
    };
    const aclsimTensor targets = sim_line_without(to, place), gradients = sim_line_without(gradient, place);
    const aclsimTensor outputs = sim_line_without(output, place);
    const size_t grain = sim_walk_grain(to, sim_line_length(&job.jo_gradient));
    const size_t seats = sim_split_seats((size_t)sim_walk_count(&targets), grain);
    SIM_TRY(sim_line_reserve(&job.jo_gradient, SIM_CLASS_DOUBLE, 2 * seats, &memory, &job.jo_count));
    job.jo_values = memory;
    sim_walk_split_tensors((const aclsimTensor *[]){&targets, &gradients, &outputs}, 3, grain, run_lines, &job);
    free(memory);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnSoftmaxBackward = {plan_gradient, run_gradient, (void *)&plain, true};
const struct sim_kernel sim_kernel_aclnnLogSoftmaxBackward = {plan_gradient, run_gradient, (void *)&logarithm, true};
