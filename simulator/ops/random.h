/* Random numbers of operators. Each element has a block of Philox words to itself, which is found by the offset and the
 * index of the element: the numbers do not depend on strides, and other offsets give other numbers. */
#ifndef OPS_RANDOM_H
#define OPS_RANDOM_H

#include "base/fail.h"
#include "base/philox.h"
#include "curve.h"
#include "require.h"
#include <string.h>

struct sim_random {
    uint64_t rn_seed, rn_offset;
};

/* From the arguments seed and offset, which follow each other. Forms for captured graphs have tensors of one element,
 * so that each replay has other numbers, and then an integer, which is added to the offset. */
static inline struct sim_random sim_random_of(const aclsimArgument *seed)
{
    uint64_t values[2];
    if (seed->kind != ACLSIM_TENSOR)
        return (struct sim_random){(uint64_t)seed[0].integer, (uint64_t)seed[1].integer};
    for (uint32_t i = 0; i < 2; i++)
        memcpy(&values[i], seed[i].tensors->data, sizeof values[i]);
    return (struct sim_random){values[0], values[1] + (uint64_t)seed[2].integer};
}

/* Checks what sim_random_of reads. */
static inline aclnnStatus sim_random_require(const aclsimArgument *seed)
{
    for (uint32_t i = 0; seed->kind == ACLSIM_TENSOR && i < 2; i++) {
        SIM_TRY(sim_require_type(&seed[i], SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_UINT64)));
        SIM_TRY(sim_require_one(&seed[i]));
    }
    return ACL_SUCCESS;
}

static inline void sim_random_draw(const struct sim_random *random, uint64_t index, uint32_t words[4])
{
    words[0] = (uint32_t)random->rn_offset;
    words[1] = (uint32_t)(random->rn_offset >> 32);
    words[2] = (uint32_t)index;
    words[3] = (uint32_t)(index >> 32);
    sim_philox(words, random->rn_seed);
}

/* A number or scalar is from 0 to 1. */
static inline aclnnStatus sim_random_require_probability(const aclsimArgument *given)
{
    const double value = sim_curve_number(given);
    SIM_ARGUMENT(value >= 0 && value <= 1, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 to 1", given->name, value);
    return ACL_SUCCESS;
}

#endif
