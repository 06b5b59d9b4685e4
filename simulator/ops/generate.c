/* Operators that generate elements from numbers: OneHot (self, numClasses, onValue, offValue, axis, out), and the
 * single operator Range. The three numbers of Range are tensors of one element, which are read when it runs. */
#include "base/fail.h"
#include "operator/op.h"
#include "require.h"
#include "tables.h"
#include "walk.h"

#include <math.h>
#include <string.h>

/* ---- OneHot ---- */

/* Finds the dimension of the result along which the classes lie; -1 means the last one. */
static aclnnStatus find_axis(const aclsimCall *call, uint32_t *axis)
{
    const aclsimArgument *self = &call->arguments[0], *given = &call->arguments[4];
    int64_t rank = self->tensors->rank;
    SIM_ARGUMENT(given->integer >= -1 && given->integer <= rank, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected -1 to %lld", given->name, (long long)given->integer, (long long)rank);
    *axis = (uint32_t)(given->integer == -1 ? rank : given->integer);
    return ACL_SUCCESS;
}

static aclnnStatus plan_one_hot(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[5];
    const aclsimTensor *self = given[0].tensors;
    int64_t dims[SIM_RANK];
    uint32_t axis = 0, rank = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_INDEX | SIM_TYPE(ACL_UINT8)));
    SIM_TRY(sim_require_types(&given[2], out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_types(&given[3], out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_one(&given[2]));
    SIM_TRY(sim_require_one(&given[3]));
    SIM_TRY(sim_require_rank(&given[0], 0, SIM_RANK - 1));
    SIM_ARGUMENT(given[1].integer >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 0 or more", given[1].name,
                 (long long)given[1].integer);
    SIM_TRY(find_axis(call, &axis));
    for (uint32_t k = 0; k <= self->rank; k++) {
        if (k == axis)
            dims[rank++] = given[1].integer;
        if (k < self->rank)
            dims[rank++] = self->dims[k];
    }
    return sim_require_shape(out, dims, rank, "that of self with a dimension for the classes");
}

struct one_hot {
    aclDataType oh_type; /* of indices */
    int64_t oh_depth, oh_step; /* the step is in bytes */
    size_t oh_size;
    const void *oh_on, *oh_off;
};

/* places: the addresses of the first class in the result, and of the indices. For an index that is not a class, every
 * class gets the off value. */
static aclError write_classes(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct one_hot *job = context;
    union sim_block_values index;
    for (int64_t i = 0; i < length; i++) {
        char *to = places[0] + i * strides[0];
        sim_element_load(&index, SIM_CLASS_INTEGER, places[1] + i * strides[1], job->oh_type, 0, 1);
        for (int64_t k = 0; k < job->oh_depth; k++)
            memcpy(to + k * job->oh_step, k == index.bv_integers[0] ? job->oh_on : job->oh_off, job->oh_size);
    }
    return ACL_SUCCESS;
}

static aclError run_one_hot(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[5].tensors;
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {out->data, self->data};
    struct one_hot job = {.oh_type = self->type, .oh_depth = given[1].integer, .oh_size = sim_element_size(out->type),
                          .oh_on = given[2].tensors->data, .oh_off = given[3].tensors->data};
    const size_t sizes[] = {job.oh_size, sim_element_size(self->type)};
    uint32_t axis = 0;
    SIM_TRY(find_axis(call, &axis));
    job.oh_step = out->strides[axis] * (int64_t)job.oh_size;
    for (uint32_t k = 0; k < self->rank; k++) {
        const int64_t strides[] = {out->strides[k < axis ? k : k + 1], self->strides[k]};
        sim_walk_add(&walk, self->dims[k], strides, sizes);
    }
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, write_classes, &job);
}

const struct sim_kernel sim_kernel_aclnnOneHot = {plan_one_hot, run_one_hot, NULL, false};

/* ---- Range ---- */

#define COUNTED (SIM_TYPES_INDEX | SIM_TYPES_FLOAT)

static aclnnStatus plan_range(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    for (uint32_t i = 0; i < 3; i++) {
        SIM_TRY(sim_require_types(&call->arguments[i], &call->arguments[3], COUNTED));
        SIM_TRY(sim_require_one(&call->arguments[i]));
    }
    return sim_require_rank(&call->arguments[3], 1, 1);
}

/* The length of the range can be checked only now, when its numbers are known. */
static aclError run_range(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[3].tensors;
    union sim_block_values numbers[3], block;
    bool whole = sim_element_is(out->type, SIM_TYPES_INDEX);
    enum sim_class class = whole ? SIM_CLASS_INTEGER : SIM_CLASS_DOUBLE;
    double values[3];
    for (uint32_t i = 0; i < 3; i++) {
        const aclsimTensor *from = call->arguments[i].tensors;
        sim_element_load(&numbers[i], class, from->data, from->type, 0, 1);
        values[i] = whole ? (double)numbers[i].bv_integers[0] : numbers[i].bv_doubles[0];
    }
    if (values[2] == 0 || ceil((values[1] - values[0]) / values[2]) != (double)out->dims[0])
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    for (int64_t done = 0; done < out->dims[0]; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, out->dims[0]);
        for (size_t i = 0; i < count; i++) {
            if (whole)
                block.bv_bits[i] = numbers[0].bv_bits[0] + ((uint64_t)done + i) * numbers[2].bv_bits[0];
            else
                block.bv_doubles[i] = values[0] + (double)((size_t)done + i) * values[2];
        }
        char *to = (char *)out->data + done * out->strides[0] * (int64_t)sim_element_size(out->type);
        sim_element_store(&block, class, to, out->type, out->strides[0], count);
    }
    return ACL_SUCCESS;
}

static const struct sim_parameter parameters[] = {
    {"start", ACLSIM_TENSOR, ACLSIM_IN, false}, {"limit", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"delta", ACLSIM_TENSOR, ACLSIM_IN, false}, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};
static const struct sim_kernel range_kernel = {plan_range, run_range, NULL, false};

struct sim_row sim_op_range_row = SIM_ROW("Range", SIM_TASK_VECTOR, parameters, &range_kernel);
