/* Sum (tensors, out): the sum of a list of tensors, each of which is broadcast to the result. It is kept in double, or
 * in integers of 64 bits, and rounded once. */
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "reduce.h"

#include <stdlib.h>

#define ADDED                                                                                                          \
    (SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT32))

static aclnnStatus plan_sum(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return sim_pointwise_check_list(&call->arguments[0], &call->arguments[1], ADDED);
}

static void load(const struct sim_pointwise *block, size_t index, enum sim_class class,
                 union sim_block_values *values)
{
    sim_element_load(values, class, block->pw_places[index], block->pw_tensors[index]->type, block->pw_strides[index],
                     block->pw_count);
}

static void store(const struct sim_pointwise *block, enum sim_class class, const union sim_block_values *values)
{
    sim_element_store(values, class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

/* Adds a block of a tensor to the sums. */
static void add_block(const struct sim_pointwise *block, const void *context)
{
    enum sim_class class = *(const enum sim_class *)context;
    union sim_block_values sums, values;
    load(block, 0, class, &sums);
    load(block, 1, class, &values);
    for (size_t i = 0; i < block->pw_count; i++)
        if (class == SIM_CLASS_INTEGER)
            sums.bv_bits[i] += values.bv_bits[i];
        else
            sums.bv_doubles[i] += values.bv_doubles[i];
    store(block, class, &sums);
}

static void store_block(const struct sim_pointwise *block, const void *context)
{
    enum sim_class class = *(const enum sim_class *)context;
    union sim_block_values sums;
    load(block, 1, class, &sums);
    store(block, class, &sums);
}

/* A tensor of zeros in the shape of another one. Its memory is NULL if there is none. */
static aclsimTensor zeros(const aclsimTensor *shape, aclDataType type)
{
    const aclsimTensor line = {.strides = {1}, .rank = 1, .type = type};
    aclsimTensor sums = sim_walk_fold(&line, shape);
    int64_t count = sim_walk_count(shape);
    sums.data = count < 0 ? NULL : calloc(count == 0 ? 1 : (size_t)count, sim_element_size(type));
    return sums;
}

static aclError run_sum(const aclsimCall *call)
{
    const aclsimArgument *list = &call->arguments[0];
    const aclsimTensor *out = call->arguments[1].tensors;
    enum sim_class class = sim_reduce_class(out->type);
    aclsimTensor sums = zeros(out, class == SIM_CLASS_INTEGER ? ACL_INT64 : ACL_DOUBLE);
    SIM_CHECK(sums.data != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for the sums");
    for (uint64_t i = 0; i < list->count; i++)
        sim_pointwise_run((const aclsimTensor *[]){&sums, &list->tensors[i]}, 2, add_block, &class);
    sim_pointwise_run((const aclsimTensor *[]){out, &sums}, 2, store_block, &class);
    free(sums.data);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnSum = {plan_sum, run_sum, NULL, false};
