/* Element types of tensors: which type two of them meet in, what may be cast to what, and blocks of elements on their
 * way between memory and the type that a kernel computes in. */
#ifndef OPS_ELEMENT_H
#define OPS_ELEMENT_H

#include <acl/acl_sim.h>

#define SIM_BLOCK 256 /* elements a kernel works on at a time */

/* What kernels compute in. Float16, bfloat16 and float meet in float; integers and bool in 64 bits, whose low bits are
 * those that a shorter type would have. */
enum sim_class {
    SIM_CLASS_INTEGER,
    SIM_CLASS_FLOAT,
    SIM_CLASS_DOUBLE,
    SIM_CLASS_COMPLEX_FLOAT,
    SIM_CLASS_COMPLEX_DOUBLE,
};

/* A block in one of these classes; complex ones hold pairs. */
union sim_block_values {
    int64_t bv_integers[SIM_BLOCK];
    float bv_floats[2 * SIM_BLOCK];
    double bv_doubles[2 * SIM_BLOCK];
};

/* The type that two tensors meet in; ACL_DT_UNDEFINED: they do not. */
aclDataType sim_element_promote(aclDataType one, aclDataType other);
/* The same for a tensor and a scalar, which only changes the type when it is of a higher kind: bool, integer, float,
 * complex. */
aclDataType sim_element_promote_scalar(aclDataType tensor, aclDataType scalar);
bool sim_element_casts(aclDataType from, aclDataType to);

/* False: no type that kernels compute with, such as a string or an eight-bit float. */
bool sim_element_class(aclDataType type, enum sim_class *class);
/* For messages: "float16". */
const char *sim_element_name(aclDataType type);

/* `count` elements, `stride` elements apart. Load reads them as they are; wrap cuts integers to the type that they were
 * computed in (a bool to whether it is not 0); store casts them to the type in memory. */
void sim_element_load(union sim_block_values *block, enum sim_class class, const void *from, aclDataType type,
                      int64_t stride, size_t count);
void sim_element_wrap(union sim_block_values *block, aclDataType type, size_t count);
void sim_element_store(const union sim_block_values *block, enum sim_class class, void *to, aclDataType type,
                       int64_t stride, size_t count);

#endif
