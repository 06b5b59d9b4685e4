/* Operators that count the elements of a tensor in the order of its indices: Take (self, index, out), InplacePut
 * (selfRef, index, source, accumulate), InplaceMaskedScatter (selfRef, mask, source) and the single operator
 * MaskedScatter. */
#include "base/fail.h"
#include "indices.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include "tables.h"
#include "update.h"
#include <inttypes.h>
#include <stdio.h>

struct job {
    struct sim_indices jo_indices;
    struct sim_update jo_update; /* of InplacePut */
    size_t jo_size;              /* of an element, for the others */
    const aclsimTensor *jo_counted; /* the tensor whose elements are counted */
    int64_t jo_next, jo_count;      /* its next element; how many there are */
};

/* ---- Take and InplacePut ---- */

static aclnnStatus plan_take(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *index = &call->arguments[1], *out = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_type(index, SIM_TYPES_INDEX));
    return sim_require_shape(out, index->tensors->dims, index->tensors->rank, "that of index");
}

/* places: the addresses of the result and of the indices. */
static aclError take_elements(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    int64_t number;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_find(&job->jo_indices, places[1] + i * strides[1], &number))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        memcpy(places[0] + i * strides[0], sim_indices_nth(job->jo_counted, number), job->jo_size);
    }
    return ACL_SUCCESS;
}

static aclError run_take(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[0], *index = &call->arguments[1];
    const aclsimTensor *out = call->arguments[2].tensors, *tensors[] = {out, index->tensors};
    struct job job = {.jo_indices = sim_indices_flat(index, self),
                      .jo_size = sim_element_size(out->type),
                      .jo_counted = self->tensors};
    return sim_indices_end(&job.jo_indices, sim_walk_tensors(tensors, 2, take_elements, &job));
}

static aclnnStatus plan_put(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *index = &call->arguments[1], *source = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, source, SIM_TYPES_ARITHMETIC));
    SIM_TRY(sim_require_type(index, SIM_TYPES_INDEX));
    const int64_t count = sim_walk_count(index->tensors), found = sim_walk_count(source->tensors);
    SIM_ARGUMENT(found == count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 ", as many as %s", source->name, found, count,
                 index->name);
    SIM_ARGUMENT(count == 0 || !sim_walk_is_empty(self->tensors->dims, self->tensors->rank), ACLNN_ERR_PARAM_INVALID,
                 "%s has no elements, expected 1 or more because %s is not empty", self->name, index->name);
    return ACL_SUCCESS;
}

/* places: the addresses of the indices, in their order. */
static aclError put_elements(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    int64_t number;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_find(&job->jo_indices, places[0] + i * strides[0], &number))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        sim_update_element(&job->jo_update, sim_indices_nth(job->jo_indices.in_self->tensors, number),
                           sim_indices_nth(job->jo_counted, job->jo_next++));
    }
    return ACL_SUCCESS;
}

static aclError run_put(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[0], *index = &call->arguments[1];
    struct job job = {.jo_indices = sim_indices_flat(index, self), .jo_counted = call->arguments[2].tensors};
    sim_update_start(&job.jo_update, self->tensors->type,
                     call->arguments[3].integer != 0 ? SIM_UPDATE_ADD : SIM_UPDATE_REPLACE, NULL);
    return sim_indices_end(&job.jo_indices, sim_walk_in_order(&index->tensors, 1, put_elements, &job));
}

/* ---- InplaceMaskedScatter ---- */

static aclnnStatus plan_masked(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *mask = &call->arguments[1], *source = &call->arguments[2];
    const aclsimArgument *inputs[] = {self, mask};
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, source, SIM_TYPES_REAL));
    SIM_TRY(sim_require_type(mask, SIM_TYPES_BOOL | SIM_TYPE(ACL_UINT8)));
    return sim_pointwise_check(self, inputs, 2);
}

/* places: the addresses of self and of the mask, in the order of the indices. */
static aclError replace_masked(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        if (places[1][i * strides[1]] == 0)
            continue;
        if (job->jo_next == job->jo_count)
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        memcpy(places[0] + i * strides[0], sim_indices_nth(job->jo_counted, job->jo_next++), job->jo_size);
    }
    return ACL_SUCCESS;
}

static aclError run_masked(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *mask = call->arguments[1].tensors;
    const aclsimTensor *source = call->arguments[2].tensors, *tensors[] = {self, mask};
    struct job job = {
        .jo_size = sim_element_size(self->type), .jo_counted = source, .jo_count = sim_walk_count(source)};
    char text[128];
    if (sim_walk_in_order(tensors, 2, replace_masked, &job) == ACL_SUCCESS)
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "source has %" PRId64 " elements, expected 1 for each element that the mask selects",
             job.jo_count);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* ---- the single operator MaskedScatter: y, mask, updates, x ---- */

static aclnnStatus plan_scatter(const aclsimCall *call, uint64_t *workspace_size)
{
    SIM_TRY(sim_require_like(&call->arguments[3], &call->arguments[0]));
    return plan_masked(call, workspace_size);
}

static aclError run_scatter(const aclsimCall *call)
{
    sim_walk_copy(call->arguments[0].tensors, call->arguments[3].tensors);
    return run_masked(call);
}

static const struct sim_kernel scatter_kernel = {plan_scatter, run_scatter, NULL, false};
static const struct sim_parameter scatter_parameters[] = {{"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
                                                          {"mask", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                          {"updates", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                          {"x", ACLSIM_TENSOR, ACLSIM_IN, false}};

struct sim_row sim_op_masked_scatter_row =
    SIM_ROW("MaskedScatter", SIM_TASK_VECTOR, scatter_parameters, &scatter_kernel);

const struct sim_kernel sim_kernel_aclnnTake = {plan_take, run_take, NULL, false},
                        sim_kernel_aclnnInplacePut = {plan_put, run_put, NULL, false},
                        sim_kernel_aclnnInplaceMaskedScatter = {plan_masked, run_masked, NULL, false};
