#include "pointwise.h"

#include "fail.h"
#include "tensordesc.h"

static bool broadcasts(const aclsimTensor *from, const aclsimTensor *to, uint32_t place)
{
    int64_t dim = from->dims[place], wanted = to->dims[place + to->rank - from->rank];
    return dim == wanted || dim == 1;
}

/* The dimension that a tensor has where the result has its dimension `place`. */
static int64_t dim_at(const aclsimTensor *tensor, uint32_t rank, uint32_t place)
{
    return place + tensor->rank < rank ? 1 : tensor->dims[place + tensor->rank - rank];
}

aclnnStatus sim_pointwise_check(const aclsimArgument *out, const aclsimArgument *const *inputs, size_t count)
{
    const aclsimTensor *result = out->tensors;
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank = inputs[i]->tensors->rank > rank ? inputs[i]->tensors->rank : rank;
    SIM_ARGUMENT(result->rank == rank, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %u", out->name,
                 result->rank, rank);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < inputs[i]->tensors->rank; k++) {
            uint32_t place = k + rank - inputs[i]->tensors->rank;
            SIM_ARGUMENT(broadcasts(inputs[i]->tensors, result, k), ACLNN_ERR_PARAM_INVALID,
                         "dimension %u of %s is %lld and dimension %u of %s is %lld, expected the same or 1", k,
                         inputs[i]->name, (long long)inputs[i]->tensors->dims[k], place, out->name,
                         (long long)result->dims[place]);
        }
    for (uint32_t place = 0; place < rank; place++) {
        bool stretched = true;
        for (size_t i = 0; i < count; i++)
            stretched = stretched && dim_at(inputs[i]->tensors, rank, place) == 1;
        SIM_ARGUMENT(!stretched || result->dims[place] == 1, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected 1, to which the inputs broadcast", place, out->name,
                     (long long)result->dims[place]);
    }
    return ACL_SUCCESS;
}

/* The stride that a tensor has along dimension `place` of the result: 0 where it is stretched. */
static int64_t stride_at(const aclsimTensor *tensor, uint32_t rank, uint32_t place)
{
    return dim_at(tensor, rank, place) == 1 ? 0 : tensor->strides[place + tensor->rank - rank];
}

static void run_line(struct sim_pointwise *block, size_t count, int64_t length, char *const *starts,
                     void (*run)(const struct sim_pointwise *block, void *context), void *context)
{
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        block->pw_count = (size_t)(length - done < SIM_BLOCK ? length - done : SIM_BLOCK);
        for (size_t i = 0; i < count; i++)
            block->pw_places[i] =
                starts[i] + done * block->pw_strides[i] * (int64_t)(sim_type_bits(block->pw_tensors[i]->type) / 8);
        run(block, context);
    }
}

void sim_pointwise_run(const aclsimTensor *const *tensors, size_t count,
                       void (*run)(const struct sim_pointwise *block, void *context), void *context)
{
    const aclsimTensor *result = tensors[0];
    uint32_t rank = result->rank, outer = rank == 0 ? 0 : rank - 1;
    int64_t at[sizeof result->dims / sizeof *result->dims] = {0}, length = rank == 0 ? 1 : result->dims[outer];
    struct sim_pointwise block = {.pw_count = 0};
    for (uint32_t k = 0; k < rank; k++)
        if (result->dims[k] == 0)
            return;
    for (size_t i = 0; i < count; i++) {
        block.pw_tensors[i] = tensors[i];
        block.pw_strides[i] = rank == 0 ? 0 : stride_at(tensors[i], rank, outer);
    }
    for (;;) {
        char *starts[SIM_POINTWISE_TENSORS];
        for (size_t i = 0; i < count; i++) {
            int64_t offset = 0;
            for (uint32_t k = 0; k < outer; k++)
                offset += at[k] * stride_at(tensors[i], rank, k);
            starts[i] = (char *)tensors[i]->data + offset * (int64_t)(sim_type_bits(tensors[i]->type) / 8);
        }
        run_line(&block, count, length, starts, run, context);
        uint32_t k = outer;
        while (k > 0 && ++at[k - 1] == result->dims[k - 1])
            at[--k] = 0;
        if (k == 0)
            return;
    }
}
