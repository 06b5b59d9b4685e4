/* Checks of arguments that many operators share; each answers 161002 with a message that says what was expected. */
#ifndef OPS_REQUIRE_H
#define OPS_REQUIRE_H

#include "element.h"

#define SIM_TYPE(type) (UINT64_C(1) << (type)) /* a set of types is a sum of these */
#define SIM_TYPES_HALF (SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_BF16))
#define SIM_TYPES_FLOAT (SIM_TYPE(ACL_FLOAT) | SIM_TYPES_HALF)

/* The tensor's type is one of the set. */
aclnnStatus sim_require_type(const aclsimArgument *argument, uint64_t types);

bool sim_same_shape(const aclsimTensor *tensor, const int64_t *dims, uint32_t rank);

/* The tensor's shape is this one, which the message calls `whose`: "that of self". */
aclnnStatus sim_require_shape(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose);

/* `what` of one type can be cast to the other type, that of `where`. */
aclnnStatus sim_require_cast(const char *what, aclDataType from, const char *where, aclDataType to);

/* Turns a dimension that may count from the end, -1 the last one, into its place; a tensor without dimensions has one
 * for this. */
aclnnStatus sim_require_dimension(int64_t dim, const char *name, const aclsimArgument *tensor, uint32_t *place);

#endif
