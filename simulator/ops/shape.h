/* What operators that move, reduce and pick elements check in their first phase: types, dimensions and shapes. */
#ifndef OPS_SHAPE_H
#define OPS_SHAPE_H

#include "element.h"

#define SIM_SHAPE_RANK (sizeof(((aclsimTensor *)0)->dims) / sizeof(int64_t))

/* Sets of types, named after what is done with elements of them. */
enum sim_types {
    SIM_TYPES_MOVED,    /* all of whole bytes that have a name in NumPy or are bfloat16 */
    SIM_TYPES_COMPUTED, /* those with arithmetic */
    SIM_TYPES_AVERAGED, /* these without bool */
    SIM_TYPES_ORDERED,  /* real ones */
    SIM_TYPES_RANKED,   /* these without bool */
    SIM_TYPES_INDICES,
};

/* 161002 unless the type is one of the set; `name` is the argument's. */
aclnnStatus sim_shape_check_type(const char *name, aclDataType type, enum sim_types types);
/* 161002 unless the type of `from` is one of the set and that of `to` is the same. */
aclnnStatus sim_shape_check_types(const aclsimArgument *from, const aclsimArgument *to, enum sim_types types);
/* 161002 unless `from` may be cast to `to`; both are described by a name. */
aclnnStatus sim_shape_check_cast(const char *from_name, aclDataType from, const char *to_name, aclDataType to);
/* 161002 unless the tensor has these dimensions. */
aclnnStatus sim_shape_check(const aclsimArgument *argument, const int64_t *dims, uint32_t rank);

/* A dimension, counted from the end when it is negative: 161002 outside [-rank, rank). A scalar has dimension 0. */
aclnnStatus sim_shape_dim(const char *name, int64_t value, uint32_t rank, uint32_t *dim);
/* An array of different dimensions, in the array's order; 161002. `dims` has room for SIM_SHAPE_RANK. */
aclnnStatus sim_shape_dims(const aclsimArgument *argument, uint32_t rank, uint32_t *dims);

bool sim_shape_is_empty(const aclsimTensor *tensor);

#endif
