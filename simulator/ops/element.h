/* Element types of tensors: promotion of two types to a common one, permitted casts, and blocks of elements that are
 * converted between their type in memory and the type that a kernel computes in. */
#ifndef OPS_ELEMENT_H
#define OPS_ELEMENT_H

#include <acl/acl_sim.h>

#define SIM_BLOCK 256 /* elements that a kernel works on at a time */
#define SIM_BLOCK_FLOATS (4 * SIM_BLOCK) /* the same if all are floats, which leave room for more */

/* The size of the next block, when `done` of `length` elements are processed. */
static inline size_t sim_element_block(int64_t done, int64_t length)
{
    return (size_t)(length - done < SIM_BLOCK ? length - done : SIM_BLOCK);
}

/* The most dimensions that a tensor may have. */
#define SIM_RANK (sizeof((aclsimTensor *)0)->dims / sizeof *((aclsimTensor *)0)->dims)

/* Sets of data types, one bit per type. */
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

static inline bool sim_element_is(aclDataType type, uint64_t types)
{
    return (unsigned)type < 64 && (types >> type & 1) != 0;
}

/* The type that kernels compute in. Float16, bfloat16 and float are computed in float; integers and bool in 64 bits,
 * the low bits of which are the result in a shorter type. */
enum sim_class {
    SIM_CLASS_INTEGER,
    SIM_CLASS_FLOAT,
    SIM_CLASS_DOUBLE,
    SIM_CLASS_COMPLEX_FLOAT,
    SIM_CLASS_COMPLEX_DOUBLE,
};
#define SIM_CLASSES 5

/* A block in one of these classes; complex classes hold pairs. */
union sim_block_values {
    int64_t bv_integers[SIM_BLOCK];
    uint64_t bv_bits[SIM_BLOCK]; /* integers, for arithmetic that wraps */
    float bv_floats[SIM_BLOCK_FLOATS];
    double bv_doubles[2 * SIM_BLOCK];
    float _Complex bv_float_pairs[SIM_BLOCK];
    double _Complex bv_double_pairs[SIM_BLOCK];
};

/* The common type of two tensors, or ACL_DT_UNDEFINED. Uint16, uint32 and uint64 have a common type only with
 * themselves. */
aclDataType sim_element_promote(aclDataType one, aclDataType other);
/* The same for a tensor and a scalar. A scalar changes the type only if it is of a higher kind (bool, integer, float,
 * complex), except that a double scalar turns complex64 into complex128. With a uint16, uint32 or uint64 tensor, only
 * a complex scalar of a higher kind is allowed; a bool tensor has no common type with a scalar of these types. */
aclDataType sim_element_promote_scalar(aclDataType tensor, aclDataType scalar);
bool sim_element_casts(aclDataType from, aclDataType to);

/* The class in which elements of a type are computed; the result is arbitrary for types that have no class. */
enum sim_class sim_element_class(aclDataType type);
/* The class through which elements of a type in SIM_TYPES_ALL are cast to another type. It is that of the source type,
 * except for uint64: the integer class lacks the upper half of its values, so that they are cast through the class of
 * the target type. */
enum sim_class sim_element_carrier(aclDataType from, aclDataType to);
/* The name of a type in messages: "float16". */
const char *sim_element_name(aclDataType type);
/* The type of a tensor or scalar. */
static inline aclDataType sim_element_type(const aclsimArgument *operand)
{
    return operand->kind == ACLSIM_SCALAR ? operand->scalars->type : operand->tensors->type;
}
size_t sim_element_size(aclDataType type); /* bytes of one element */

/* Whether elements of a type are in memory what they are in the class. */
bool sim_element_is_plain(enum sim_class class, aclDataType type);

/* These work on `count` elements, `stride` elements apart. Load converts them to the class; wrap reduces integers to
 * the type that they were computed in (a bool is whether the number is not 0); store casts them to the type in memory:
 * floats are truncated and clamped to the range of an integer type, NaN becomes 0, and complex numbers lose their
 * imaginary part. The values that are stored need not be in a block. */
void sim_element_load(union sim_block_values *block, enum sim_class class, const void *from, aclDataType type,
                      int64_t stride, size_t count);
/* Loads uint64 as doubles that will be stored in half precision. The bits that a double cannot hold are merged into its
 * last bit, so that the result is rounded only once. */
void sim_element_load_odd(union sim_block_values *block, const void *from, int64_t stride, size_t count);
void sim_element_wrap(union sim_block_values *block, aclDataType type, size_t count);
void sim_element_store(const void *values, enum sim_class class, void *to, aclDataType type, int64_t stride,
                       size_t count);

#endif
