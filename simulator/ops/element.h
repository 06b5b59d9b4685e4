/* Element types of tensors: which type two of them meet in, what may be cast to what, and blocks of elements on their
 * way between memory and the type that a kernel computes in. */
#ifndef OPS_ELEMENT_H
#define OPS_ELEMENT_H

#include <acl/acl_sim.h>

#define SIM_BLOCK 256 /* elements a kernel works on at a time */

/* Elements of the next block of `length`, after `done` ones. */
static inline size_t sim_element_block(int64_t done, int64_t length)
{
    return (size_t)(length - done < SIM_BLOCK ? length - done : SIM_BLOCK);
}

/* Dimensions a tensor may have. */
#define SIM_RANK (sizeof((aclsimTensor *)0)->dims / sizeof *((aclsimTensor *)0)->dims)

/* Sets of data types, a bit each. */
#define SIM_TYPE(code) (UINT64_C(1) << (code))
#define SIM_TYPES_BOOL SIM_TYPE(ACL_BOOL)
#define SIM_TYPES_INTEGER                                                                                              \
    (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT16) | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64) | SIM_TYPE(ACL_UINT8))
#define SIM_TYPES_UNSIGNED (SIM_TYPE(ACL_UINT16) | SIM_TYPE(ACL_UINT32) | SIM_TYPE(ACL_UINT64))
#define SIM_TYPES_HALF (SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_BF16))
#define SIM_TYPES_SINGLE (SIM_TYPE(ACL_FLOAT) | SIM_TYPES_HALF) /* computed in float */
#define SIM_TYPES_FLOAT (SIM_TYPES_SINGLE | SIM_TYPE(ACL_DOUBLE))
#define SIM_TYPES_COMPLEX (SIM_TYPE(ACL_COMPLEX64) | SIM_TYPE(ACL_COMPLEX128))
#define SIM_TYPES_REAL (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_FLOAT)
#define SIM_TYPES_ARITHMETIC (SIM_TYPES_REAL | SIM_TYPES_COMPLEX)
#define SIM_TYPES_ALL (SIM_TYPES_ARITHMETIC | SIM_TYPES_UNSIGNED)
#define SIM_TYPES_INDEX (SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_INT64))

bool sim_element_is(aclDataType type, uint64_t types);

/* What kernels compute in. Float16, bfloat16 and float meet in float; integers and bool in 64 bits, whose low bits are
 * those that a shorter type would have. */
enum sim_class {
    SIM_CLASS_INTEGER,
    SIM_CLASS_FLOAT,
    SIM_CLASS_DOUBLE,
    SIM_CLASS_COMPLEX_FLOAT,
    SIM_CLASS_COMPLEX_DOUBLE,
};
#define SIM_CLASSES 5

/* A block in one of these classes; complex ones hold pairs. */
union sim_block_values {
    int64_t bv_integers[SIM_BLOCK];
    uint64_t bv_bits[SIM_BLOCK]; /* integers, for arithmetic that wraps */
    float bv_floats[2 * SIM_BLOCK];
    double bv_doubles[2 * SIM_BLOCK];
    float _Complex bv_float_pairs[SIM_BLOCK];
    double _Complex bv_double_pairs[SIM_BLOCK];
};

/* The type that two tensors meet in; ACL_DT_UNDEFINED: they do not. Uint16, uint32 and uint64 meet themselves only. */
aclDataType sim_element_promote(aclDataType one, aclDataType other);
/* The same for a tensor and a scalar, which only changes the type when it is of a higher kind: bool, integer, float,
 * complex; but a double scalar makes complex64 complex128. A scalar of a higher kind meets uint16, uint32 and uint64
 * only when it is complex, and one of these types meets no bool. */
aclDataType sim_element_promote_scalar(aclDataType tensor, aclDataType scalar);
bool sim_element_casts(aclDataType from, aclDataType to);

/* Of types that have no class, some class. */
enum sim_class sim_element_class(aclDataType type);
/* The class through which elements of a type, of SIM_TYPES_ALL, get to another one: theirs. But no class of integers
 * has the upper half of uint64, so that these become floats at once. */
enum sim_class sim_element_carrier(aclDataType from, aclDataType to);
/* For messages: "float16". */
const char *sim_element_name(aclDataType type);
/* That of a tensor or scalar. */
aclDataType sim_element_type(const aclsimArgument *operand);
size_t sim_element_size(aclDataType type); /* bytes of one element */

/* `count` elements, `stride` elements apart. Load reads them as they are; wrap cuts integers to the type that they were
 * computed in (a bool to whether it is not 0); store casts them to the type in memory: floats towards zero to the
 * nearest integer that it has, NaN to 0; complex numbers to their real part. */
void sim_element_load(union sim_block_values *block, enum sim_class class, const void *from, aclDataType type,
                      int64_t stride, size_t count);
/* Doubles of uint64 that become half precision: what a double does not have is kept in its last digit, so that they are
 * rounded once. */
void sim_element_load_odd(union sim_block_values *block, const void *from, int64_t stride, size_t count);
void sim_element_wrap(union sim_block_values *block, aclDataType type, size_t count);
void sim_element_store(const union sim_block_values *block, enum sim_class class, void *to, aclDataType type,
                       int64_t stride, size_t count);

#endif
