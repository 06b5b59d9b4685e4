/* Operators whose indices are positions in the first dimensions of a tensor: GatherNd, also as a single operator,
 * ScatterNd, ScatterNdUpdate and the single operator ScatterNdAdd. The last dimension of the indices holds one
 * position, which belongs to a part of the tensor; parts are copied bit by bit, or added, in the order of the
 * indices. A position out of range ends the task, and parts written before stay written. */
#include "base/fail.h"
#include "require.h"
#include "tables.h"
#include "update.h"
#include <stdio.h>

/* The first two arguments are the tensor and the indices. Positions of the others: */
struct operator {
    uint64_t op_types;
    uint8_t op_parts;    /* the parts that are read or written */
    uint8_t op_negative; /* whether negative indices count from the end; 0: they are out of range */
    bool op_adds;        /* to what is there */
    bool op_scatters;    /* the parts are written to the tensor, or to a copy of it: */
    uint8_t op_result;
};

static aclnnStatus plan_parts(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct operator *operator = call->userData;
    const aclsimArgument *whole = &call->arguments[0], *indices = &call->arguments[1];
    const aclsimArgument *parts = &call->arguments[operator->op_parts];
    const aclsimTensor *self = whole->tensors, *index = indices->tensors;
    int64_t dims[2 * SIM_RANK];
    uint32_t rank = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(whole, parts, operator->op_types));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(indices, 1, SIM_RANK));
    if (operator->op_scatters) {
        const aclsimArgument *result = &call->arguments[operator->op_result];
        SIM_TRY(sim_require_types(whole, result, operator->op_types));
        SIM_TRY(sim_require_shape(result, self->dims, self->rank, "that of the tensor that is updated"));
    }
    int64_t depth = index->dims[index->rank - 1];
    SIM_ARGUMENT(depth <= self->rank, ACLNN_ERR_PARAM_INVALID,
                 "the last dimension of %s is %lld, expected at most %u, the number of dimensions of %s", indices->name,
                 (long long)depth, self->rank, whole->name);
    for (uint32_t i = 0; i + 1 < index->rank; i++)
        dims[rank++] = index->dims[i];
    for (uint32_t i = (uint32_t)depth; i < self->rank; i++)
        dims[rank++] = self->dims[i];
    return sim_require_shape(parts, dims, rank, "that of the selected elements");
}

struct job {
    const aclsimArgument *jo_self, *jo_indices;
    const aclsimTensor *jo_whole; /* self, or the result that began as a copy of it */
    bool jo_from_end, jo_scatters;
    uint32_t jo_depth;
    size_t jo_size; /* of an element */
    struct sim_walk jo_part;
    struct sim_update jo_update; /* up_run NULL: parts are copied */
};

/* Finds the byte offset of the part at the position in one line of indices. */
static aclError find_part(const struct job *job, const char *line, int64_t *offset)
{
    const aclsimTensor *whole = job->jo_whole, *indices = job->jo_indices->tensors;
    *offset = 0;
    for (uint32_t i = 0; i < job->jo_depth; i++) {
        union sim_block_values found;
        const int64_t length = whole->dims[i], least = job->jo_from_end ? -length : 0;
        sim_element_load(&found, SIM_CLASS_INTEGER,
                         line + i * indices->strides[indices->rank - 1] * (int64_t)sim_element_size(indices->type),
                         indices->type, 0, 1);
        const int64_t index = found.bv_integers[0];
        if (index < least || index >= length) {
            char text[224];
            snprintf(text, sizeof text, "%.40s has %lld for dimension %u of %.40s, expected %lld to %lld",
                     job->jo_indices->name, (long long)index, i, job->jo_self->name, (long long)least,
                     (long long)length - 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        if (length > 1) /* a dimension of size 1 may have any stride */
            *offset += (index < 0 ? index + length : index) * whole->strides[i] * (int64_t)job->jo_size;
    }
    return ACL_SUCCESS;
}

/* places: the addresses of a part, and of a line of indices. */
static aclError copy_parts(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    int64_t offset;
    for (int64_t i = 0; i < length; i++) {
        SIM_TRY(find_part(job, places[1] + i * strides[1], &offset));
        char *part = places[0] + i * strides[0], *whole = (char *)job->jo_whole->data + offset;
        char *pair[] = {job->jo_scatters ? whole : part, job->jo_scatters ? part : whole};
        if (job->jo_update.up_run != NULL)
            sim_walk_run(&job->jo_part, pair, sim_update_line, &job->jo_update);
        else
            sim_walk_run(&job->jo_part, pair, sim_walk_copy_line, &job->jo_size);
    }
    return ACL_SUCCESS;
}

static aclError run_parts(const aclsimCall *call)
{
    const struct operator *operator = call->userData;
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *indices = given[1].tensors, *parts = given[operator->op_parts].tensors;
    const bool scatters = operator->op_scatters;
    const uint32_t outer = indices->rank - 1;
    struct job job = {.jo_self = &given[0], .jo_indices = &given[1], .jo_scatters = scatters,
                      .jo_from_end = operator->op_negative != 0 && given[operator->op_negative].integer != 0,
                      .jo_whole = given[scatters ? operator->op_result : 0].tensors,
                      .jo_depth = (uint32_t)indices->dims[outer], .jo_size = sim_element_size(parts->type),
                      .jo_part.wk_places = 2};
    struct sim_walk walk = {.wk_places = 2};
    const size_t size = job.jo_size, sizes[] = {size, sim_element_size(indices->type)}, same[] = {size, size};
    if (operator->op_adds)
        sim_update_start(&job.jo_update, parts->type, SIM_UPDATE_ADD, NULL);
    if (scatters && operator->op_result != 0)
        sim_walk_copy(job.jo_whole, given[0].tensors);
    for (uint32_t k = 0; k < outer; k++)
        sim_walk_add(&walk, indices->dims[k], (const int64_t[]){parts->strides[k], indices->strides[k]}, sizes);
    for (uint32_t k = outer; k < parts->rank; k++) {
        const int64_t part = parts->strides[k], whole = job.jo_whole->strides[job.jo_depth + k - outer];
        sim_walk_add(&job.jo_part, parts->dims[k],
                     (const int64_t[]){scatters ? whole : part, scatters ? part : whole}, same);
    }
    sim_walk_settle(&job.jo_part);
    char *places[] = {parts->data, indices->data};
    return sim_walk_run(&walk, places, copy_parts, &job);
}

#define GATHERED                                                                                                       \
    (SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPES_BOOL |           \
     SIM_TYPES_SINGLE)
#define UPDATED (SIM_TYPES_SINGLE | SIM_TYPES_BOOL)

static const struct operator gather = {.op_types = GATHERED, .op_parts = 3, .op_negative = 2},
                             single_add = {.op_types = SIM_TYPES_REAL, .op_parts = 2, .op_adds = true,
                                           .op_scatters = true, .op_result = 3},
                             single_gather = {.op_types = SIM_TYPES_ALL, .op_parts = 2},
                             scatter = {.op_types = UPDATED, .op_parts = 2, .op_scatters = true, .op_result = 3},
                             update = {.op_types = UPDATED | SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_INT8), .op_parts = 2,
                                       .op_scatters = true};

const struct sim_kernel sim_kernel_aclnnGatherNd = {plan_parts, run_parts, (void *)&gather, false},
                        sim_kernel_aclnnScatterNd = {plan_parts, run_parts, (void *)&scatter, false},
                        sim_kernel_aclnnScatterNdUpdate = {plan_parts, run_parts, (void *)&update, false};

static const struct sim_kernel gather_kernel = {plan_parts, run_parts, (void *)&single_gather, false};
static const struct sim_parameter gather_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"indices", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

static const struct sim_kernel add_kernel = {plan_parts, run_parts, (void *)&single_add, false};
static const struct sim_parameter add_parameters[] = {{"var", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                      {"indices", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                      {"updates", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                      {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_scatter_nd_add_row = SIM_ROW("ScatterNdAdd", SIM_TASK_VECTOR, add_parameters, &add_kernel);
struct sim_row sim_op_gather_nd_row = SIM_ROW("GatherNd", SIM_TASK_VECTOR, gather_parameters, &gather_kernel);
