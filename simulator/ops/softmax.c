/* Softmax and its logarithm along one dimension: a line is loaded, its largest element taken from all, and the powers
 * and their sum computed in the class of self; the sum is kept in double. Without a largest element that is a number
 * (an infinite one, a NaN) the line ends as NaN, as the formula says. */
#include "line.h"
#include "require.h"
#include "row.h"
#include "tensordesc.h"
#include "odometer.h"

#include <math.h>
#include <stdlib.h>

/* Both rows have the arguments self, dim, out. */
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

static void run_line(const aclsimCall *call, enum sim_class class, void *values, size_t count)
{
    const struct kinds *kinds = call->userData;
    if (class == SIM_CLASS_FLOAT)
        kinds->ki_floats(values, count);
    else
        kinds->ki_doubles(values, count);
}

/* A tensor without the dimension of the lines. */
static aclsimTensor without(const aclsimTensor *tensor, uint32_t place)
{
    aclsimTensor rest = *tensor;
    rest.rank = tensor->rank == 0 ? 0 : tensor->rank - 1;
    for (uint32_t k = place; k < rest.rank; k++) {
        rest.dims[k] = tensor->dims[k + 1];
        rest.strides[k] = tensor->strides[k + 1];
    }
    return rest;
}

static aclError run_softmax(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[0], *dim = &call->arguments[1];
    const aclsimTensor *from = self->tensors, *to = call->arguments[2].tensors;
    uint32_t place, rank = from->rank != 0;
    int64_t at[SIM_RANK] = {0};
    SIM_TRY(sim_require_dim(dim, self->tensors->rank, &place));
    if (sim_odometer_empty(from->dims, from->rank))
        return ACL_SUCCESS;
    struct sim_line line = sim_line_of(from, place, rank), result = sim_line_of(to, place, rank);
    const aclsimTensor others = without(from, place), targets = without(to, place);
    void *values;
    size_t length;
    enum sim_class class = sim_element_class(from->type);
    SIM_TRY(sim_line_reserve(&line, class, 1, &values, &length));
    do {
        sim_line_load(&line, class, sim_line_place(&others, at), values);
        run_line(call, class, values, length);
        sim_line_store(&result, class, values, sim_line_place(&targets, at));
    } while (sim_odometer_next(at, others.dims, others.rank));
    free(values);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnSoftmax = {plan_softmax, run_softmax, (void *)&plain},
                        sim_kernel_aclnnLogSoftmax = {plan_softmax, run_softmax, (void *)&logarithm};
