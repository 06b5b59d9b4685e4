/* Walking over the indices of some dimensions, the last one fastest. */
#ifndef OPS_ODOMETER_H
#define OPS_ODOMETER_H

#include <stdbool.h>
#include <stdint.h>

/* Moves `at`, which starts at zeros, to the next index; false behind the last one. No dimension is 0. */
static inline bool sim_odometer_next(int64_t *at, const int64_t *dims, uint32_t rank)
{
    while (rank > 0 && ++at[rank - 1] == dims[rank - 1])
        at[--rank] = 0;
    return rank > 0;
}

static inline int64_t sim_odometer_offset(const int64_t *at, const int64_t *strides, uint32_t rank)
{
    int64_t offset = 0;
    for (uint32_t k = 0; k < rank; k++)
        offset += at[k] * strides[k];
    return offset;
}

static inline bool sim_odometer_empty(const int64_t *dims, uint32_t rank)
{
    for (uint32_t k = 0; k < rank; k++)
        if (dims[k] == 0)
            return true;
    return false;
}

#endif
