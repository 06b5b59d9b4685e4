/* Numbers in packed types: integers of 4 bits, and scales of the cube unit, 64-bit integers that hold a float32.
 * Integers of 4 bits have the type int4, two per byte, or int32, eight per element along one dimension; the first one
 * is in the lowest bits. Tensors are loaded as lists of doubles, or unpacked to int8. */
#ifndef OPS_PACKED_H
#define OPS_PACKED_H

#include "slices.h"

#define SIM_PACKED_EACH 8 /* numbers per int32 element */
#define SIM_TYPES_PACKED (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT4) | SIM_TYPE(ACL_INT32))
#define SIM_TYPES_SCALE (SIM_TYPE(ACL_UINT64) | SIM_TYPE(ACL_INT64)) /* scales of the cube unit */

/* An input has one of the types, and its integers of 4 bits, if any, can be found. */
aclnnStatus sim_packed_require(const aclsimArgument *given, uint64_t types);
/* The dimension along which int32 elements are packed, of a tensor of 2 dimensions or more: the contiguous one. */
uint32_t sim_packed_axis(const aclsimTensor *tensor);
/* The view of a tensor of int8, int4 or int32 as int8, without data. */
aclsimTensor sim_packed_view(const aclsimTensor *tensor, uint32_t axis);
/* Unpacks a tensor: *plain is the tensor itself, or a copy in memory that the caller frees. */
aclError sim_packed_open(const aclsimTensor *tensor, uint32_t axis, aclsimTensor *plain, void **memory);

/* The output is of int8, int4 or int32, and has the shape of `like`; int32 elements are packed along its last
 * dimension. */
aclnnStatus sim_packed_require_out(const aclsimArgument *out, const aclsimArgument *like);
/* Replaces a row of numbers by integers, of which the greatest size is `most`, and returns their scale. It is 0 for a
 * row of zeros, and NaN if a number is NaN. */
double sim_packed_quantize(double *row, size_t width, double most);
/* The greater number, or NaN if there is one. */
static inline double sim_packed_greater(double one, double other)
{
    return one != one || one > other ? one : other;
}
/* Stores rounded numbers in such an output; those that are out of range are clamped. */
void sim_packed_store(const aclsimArgument *out, const double *numbers);

/* An optional tensor has one number, or `count` ones along its last dimension; all others have size 1. */
aclnnStatus sim_packed_require_vector(const aclsimArgument *given, int64_t count);
/* Loads such a tensor as `count` numbers, or sets NULL if it is absent. */
aclError sim_packed_load_vector(struct sim_lists *lists, const aclsimArgument *given, size_t count,
                                const double **numbers);
/* Loads all numbers of a tensor of floats or scales. */
aclError sim_packed_load(struct sim_lists *lists, const aclsimArgument *given, double **numbers);

#endif
