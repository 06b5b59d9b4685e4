/* Softmax and its logarithm along one dimension. A line is loaded, its largest element is subtracted from all, and the
 * exponentials are computed in the class of self; their sum is kept in double. If the largest element is infinite, or
 * an element is NaN, the whole line becomes NaN, as the formula says. */
#include "operator/row.h"
#include "line.h"
#include "require.h"

#include <math.h>
#include <stdlib.h>

/* Both schemas have the arguments self, dim, out. */
static aclnnStatus plan_softmax(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *dim = &call->arguments[1], *out = &call->arguments[2];
    uint32_t place;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_type(out, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_dim(dim, self->tensors->rank, &place));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

#define SOFTMAX(element, exponential)                                                                                  \
    static void lower_##element(element *values, size_t count)                                                         \
    {                                                                                                                  \
        element most = values[0];                                                                                      \
        for (size_t i = 1; i < count; i++)                                                                             \
            most = values[i] > most ? values[i] : most;                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] -= most;                                                                                         \
    }                                                                                                                  \
    static void softmax_##element(element *values, size_t count)                                                       \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        lower_##element(values, count);                                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            sum += (values[i] = exponential(values[i]));                                                               \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] /= (element)sum;                                                                                 \
    }                                                                                                                  \
    static void log_softmax_##element(element *values, size_t count)                                                   \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        lower_##element(values, count);                                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            sum += exponential(values[i]);                                                                             \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] -= (element)log(sum);                                                                            \
    }

SOFTMAX(float, expf)
SOFTMAX(double, exp)

struct kinds {
    void (*ki_floats)(float *values, size_t count);
    void (*ki_doubles)(double *values, size_t count);
};

static const struct kinds plain = {softmax_float, softmax_double}, logarithm = {log_softmax_float, log_softmax_double};

struct job {
    const struct kinds *jo_kinds;
    struct sim_line jo_from, jo_to;
    enum sim_class jo_class;
    size_t jo_count; /* values per line */
    void *jo_values;
};

/* places: the addresses of a line of the result and of a line of self. */
static aclError run_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        sim_line_load(&job->jo_from, job->jo_class, places[1] + i * strides[1], job->jo_values);
        if (job->jo_class == SIM_CLASS_FLOAT)
            job->jo_kinds->ki_floats(job->jo_values, job->jo_count);
        else
            job->jo_kinds->ki_doubles(job->jo_values, job->jo_count);
        sim_line_store(&job->jo_to, job->jo_class, job->jo_values, places[0] + i * strides[0]);
    }
    return ACL_SUCCESS;
}

static aclError run_softmax(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[0], *dim = &call->arguments[1];
    const aclsimTensor *from = self->tensors, *to = call->arguments[2].tensors;
    uint32_t place, rank = from->rank != 0;
    SIM_TRY(sim_require_dim(dim, self->tensors->rank, &place));
    if (sim_walk_is_empty(from->dims, from->rank))
        return ACL_SUCCESS;
    struct job job = {
        .jo_kinds = call->userData,
        .jo_from = sim_line_of(from, place, rank),
        .jo_to = sim_line_of(to, place, rank),
        .jo_class = sim_element_class(from->type),
    };
    const aclsimTensor others = sim_line_without(from, place), targets = sim_line_without(to, place);
    SIM_TRY(sim_line_reserve(&job.jo_from, job.jo_class, 1, &job.jo_values, &job.jo_count));
    sim_walk_tensors((const aclsimTensor *[]){&targets, &others}, 2, run_lines, &job);
    free(job.jo_values);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnSoftmax = {plan_softmax, run_softmax, (void *)&plain, true},
                        sim_kernel_aclnnLogSoftmax = {plan_softmax, run_softmax, (void *)&logarithm, true};
