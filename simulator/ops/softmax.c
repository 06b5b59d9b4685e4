/* Softmax and its logarithm along one dimension; those of single operators may have several. A line is loaded unless
 * it is contiguous, its largest element is subtracted from all, and the exponentials are computed in the class of
 * self; their sum is kept in double. If the largest element is infinite, or an element is NaN, the whole line
 * becomes NaN, as the formula says. */
#include "base/fail.h"
#include "engine/split.h"
#include "line.h"
#include "require.h"
#include "tables.h"
#include "vector.h"

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

static void lower(double *values, size_t count)
{
    double most = values[0];
    for (size_t i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++)
        values[i] -= most;
}

static void softmax_of_doubles(double *values, size_t count)
{
    double sum = 0;
    lower(values, count);
    for (size_t i = 0; i < count; i++)
        sum += (values[i] = exp(values[i]));
    for (size_t i = 0; i < count; i++)
        values[i] /= sum;
}

static void log_softmax_of_doubles(double *values, size_t count)
{
    double sum = 0;
    lower(values, count);
    for (size_t i = 0; i < count; i++)
        sum += exp(values[i]);
    for (size_t i = 0; i < count; i++)
        values[i] -= log(sum);
}

struct kinds {
    sim_vector_func *ki_floats;
    void (*ki_doubles)(double *values, size_t count); /* in place */
};

static const struct kinds plain = {sim_vector_softmax, softmax_of_doubles},
                          logarithm = {sim_vector_log_softmax, log_softmax_of_doubles};

struct job {
    const struct kinds *jo_kinds;
    struct sim_line jo_from, jo_to;
    enum sim_class jo_class;
    size_t jo_count; /* values per line */
    bool jo_plain;   /* lines need no memory of their own */
    float *jo_floats; /* a line for each seat, in one of the two classes */
    double *jo_doubles;
};

/* places: the addresses of a line of the result and of a line of self. */
static void run_lines(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct job *job = context;
    const size_t count = job->jo_count;
    for (int64_t i = 0; i < length; i++) {
        char *to = places[0] + i * strides[0], *from = places[1] + i * strides[1];
        if (job->jo_plain) {
            job->jo_kinds->ki_floats((float *)to, (const float *)from, count);
        } else if (job->jo_class == SIM_CLASS_FLOAT) {
            float *floats = job->jo_floats + seat * count;
            sim_line_load(&job->jo_from, SIM_CLASS_FLOAT, from, floats);
            job->jo_kinds->ki_floats(floats, floats, count);
            sim_line_store(&job->jo_to, SIM_CLASS_FLOAT, floats, to);
        } else {
            double *doubles = job->jo_doubles + seat * count;
            sim_line_load(&job->jo_from, SIM_CLASS_DOUBLE, from, doubles);
            job->jo_kinds->ki_doubles(doubles, count);
            sim_line_store(&job->jo_to, SIM_CLASS_DOUBLE, doubles, to);
        }
    }
}

/* The tensor with the dimensions of its lines, a bit for each, after the others. */
static aclsimTensor lines_last(const aclsimTensor *tensor, unsigned lines)
{
    aclsimTensor view = *tensor;
    uint32_t next = 0;
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t k = 0; k < tensor->rank; k++)
            if ((lines >> k & 1) == turn) {
                view.dims[next] = tensor->dims[k];
                view.strides[next++] = tensor->strides[k];
            }
    return view;
}

/* Runs over lines of `count` dimensions, a bit for each in `lines`. */
static aclError run_over(const aclsimCall *call, unsigned lines, uint32_t count)
{
    const aclsimTensor *self = call->arguments[0].tensors;
    const uint32_t others = self->rank - count;
    if (sim_walk_is_empty(self->dims, self->rank))
        return ACL_SUCCESS;
    aclsimTensor from = lines_last(self, lines), to = lines_last(call->arguments[2].tensors, lines);
    struct job job = {
        .jo_kinds = call->userData,
        .jo_from = sim_line_of(&from, others, count),
        .jo_to = sim_line_of(&to, others, count),
        .jo_class = sim_element_class(self->type),
    };
    from.rank = to.rank = others;
    job.jo_count = sim_line_length(&job.jo_from);
    job.jo_plain = sim_line_is_plain(&job.jo_from, SIM_CLASS_FLOAT) && sim_line_is_plain(&job.jo_to, SIM_CLASS_FLOAT);
    const size_t grain = sim_walk_grain(call->arguments[2].tensors, job.jo_count);
    const size_t seats = sim_split_seats((size_t)sim_walk_count(&to), grain);
    void *memory = NULL;
    if (!job.jo_plain)
        SIM_TRY(sim_line_reserve(&job.jo_from, job.jo_class, seats, &memory, &job.jo_count));
    job.jo_floats = memory;
    job.jo_doubles = memory;
    sim_walk_split_tensors((const aclsimTensor *[]){&to, &from}, 2, grain, run_lines, &job);
    free(memory);
    return ACL_SUCCESS;
}

static aclError run_softmax(const aclsimCall *call)
{
    const uint32_t rank = call->arguments[0].tensors->rank;
    uint32_t place;
    SIM_TRY(sim_require_dim(&call->arguments[1], rank, &place));
    return run_over(call, 1u << place, rank != 0);
}

const struct sim_kernel sim_kernel_aclnnSoftmax = {plan_softmax, run_softmax, (void *)&plain, true},
                        sim_kernel_aclnnLogSoftmax = {plan_softmax, run_softmax, (void *)&logarithm, true};

/* ---- the single operators: x, axes, y ---- */

static aclnnStatus plan_axes(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0], *axes = &call->arguments[1], *y = &call->arguments[2];
    uint32_t places[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_type(x, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_type(y, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_rank(x, 1, SIM_RANK));
    SIM_ARGUMENT(axes->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected one dimension or more", axes->name);
    SIM_TRY(sim_require_dims(axes, x->tensors->rank, places));
    return sim_require_shape(y, x->tensors->dims, x->tensors->rank, "that of x");
}

static aclError run_axes(const aclsimCall *call)
{
    const aclsimArgument *axes = &call->arguments[1];
    uint32_t places[SIM_RANK];
    unsigned lines = 0;
    SIM_TRY(sim_require_dims(axes, call->arguments[0].tensors->rank, places));
    for (uint64_t i = 0; i < axes->count; i++)
        lines |= 1u << places[i];
    return run_over(call, lines, (uint32_t)axes->count);
}

static const struct sim_kernel axes_kernel = {plan_axes, run_axes, (void *)&plain, true},
                               log_axes_kernel = {plan_axes, run_axes, (void *)&logarithm, true};
static const struct sim_parameter axes_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                       {"axes", ACLSIM_INTEGERS, 0, false},
                                                       {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_softmax_row = SIM_ROW("SoftmaxV2", SIM_TASK_VECTOR, axes_parameters, &axes_kernel),
               sim_op_log_softmax_row = SIM_ROW("LogSoftmaxV2", SIM_TASK_VECTOR, axes_parameters, &log_axes_kernel);
