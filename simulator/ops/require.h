/* Checks of arguments that operators share in their first phase; each answers 161002 with a message that says what was
 * expected. */
#ifndef OPS_REQUIRE_H
#define OPS_REQUIRE_H

#include "element.h"

/* The type of a tensor or scalar is one of the set. */
aclnnStatus sim_require_type(const aclsimArgument *argument, uint64_t types);
/* The same for a type that is itself an argument. */
aclnnStatus sim_require_type_named(const char *name, aclDataType type, uint64_t types);
/* The tensor's type is this one, that of `whose`. */
aclnnStatus sim_require_same_type(const aclsimArgument *argument, aclDataType type, const char *whose);
/* Both tensors have the same type of the set. */
aclnnStatus sim_require_types(const aclsimArgument *from, const aclsimArgument *to, uint64_t types);
/* `what` of one type can be cast to the other type, that of `where`. */
aclnnStatus sim_require_cast(const char *what, aclDataType from, const char *where, aclDataType to);

/* The tensor has so many dimensions. */
aclnnStatus sim_require_rank(const aclsimArgument *argument, uint32_t least, uint32_t most);
/* The tensor's shape is this one, which the message calls `whose`: "that of self". */
aclnnStatus sim_require_shape(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose);
bool sim_require_is_shape(const aclsimTensor *tensor, const int64_t *dims, uint32_t rank);
/* The tensor has no dimensions, or one that is 1. */
aclnnStatus sim_require_one(const aclsimArgument *argument);

/* A dimension of `rank` ones, counted from the end where it is negative; a scalar has dimension 0. */
aclnnStatus sim_require_dim(const aclsimArgument *given, uint32_t rank, uint32_t *dim);
/* An array of different ones, in its order. `dims` has room for SIM_RANK. */
aclnnStatus sim_require_dims(const aclsimArgument *given, uint32_t rank, uint32_t *dims);

#endif
