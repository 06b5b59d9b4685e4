/* Checks of arguments that operators share in their first phase. A check that fails returns 161002, with a message that
 * says what was expected. */
#ifndef OPS_REQUIRE_H
#define OPS_REQUIRE_H

#include "element.h"

/* The type is one of the set. */
aclnnStatus sim_require_type_named(const char *name, aclDataType type, uint64_t types);
/* The same for the type of a tensor or scalar. Kernels check it in both phases, so that it must cost little. */
static inline aclnnStatus sim_require_type(const aclsimArgument *argument, uint64_t types)
{
    const aclDataType type = sim_element_type(argument);
    return sim_element_is(type, types) ? ACL_SUCCESS : sim_require_type_named(argument->name, type, types);
}
/* The tensor has this type, which the message calls the type of `whose`. */
aclnnStatus sim_require_same_type(const aclsimArgument *argument, aclDataType type, const char *whose);
/* Both tensors have the same type, and it is in the set. */
aclnnStatus sim_require_types(const aclsimArgument *from, const aclsimArgument *to, uint64_t types);
/* `what` of one type can be cast to the other type, that of `where`. */
aclnnStatus sim_require_cast(const char *what, aclDataType from, const char *where, aclDataType to);

/* Writes the name of a member of a list, such as "tensors[2]", to `name`, which has room for SIM_NAME_BYTES. */
#define SIM_NAME_BYTES 64
void sim_require_name(const aclsimArgument *list, uint64_t place, char *name);
/* The same; returns the member of a list of tensors as an argument of its own, for checks. */
aclsimArgument sim_require_member(const aclsimArgument *list, uint64_t place, char *name);

/* An array has this many numbers. */
aclnnStatus sim_require_count(const aclsimArgument *numbers, uint64_t count);
/* The same for the sizes, steps and padding of windows. Each number is from `least` to SIM_MOST_STEP, which is more
 * than a card accepts, and small enough that products do not overflow. */
#define SIM_MOST_STEP (1 << 20)
aclnnStatus sim_require_steps(const aclsimArgument *numbers, uint64_t count, int64_t least);

/* The number is 0 or more. */
aclnnStatus sim_require_natural(const aclsimArgument *number);

/* The tensor has `least` to `most` dimensions. */
aclnnStatus sim_require_rank(const aclsimArgument *argument, uint32_t least, uint32_t most);
/* The tensor has this shape, which the message calls `whose`, such as "that of self". */
aclnnStatus sim_require_shape(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose);
/* The same with another code than 161002, which some operators return for shapes. */
aclnnStatus sim_require_shape_or(aclnnStatus code, const aclsimArgument *argument, const int64_t *dims, uint32_t rank,
                                 const char *whose);
bool sim_require_is_shape(const aclsimTensor *tensor, const int64_t *dims, uint32_t rank);
/* The tensor has the type and the shape of the other one. */
aclnnStatus sim_require_like(const aclsimArgument *argument, const aclsimArgument *other);
/* The tensor is a scalar, or has one dimension of size 1. */
aclnnStatus sim_require_one(const aclsimArgument *argument);

/* The argument is a valid dimension of a tensor of `rank` dimensions; negative ones count from the end. A scalar has
 * dimension 0. */
aclnnStatus sim_require_dim(const aclsimArgument *given, uint32_t rank, uint32_t *dim);
/* The same for an array of different dimensions. `dims` has room for SIM_RANK elements. */
aclnnStatus sim_require_dims(const aclsimArgument *given, uint32_t rank, uint32_t *dims);

#endif
