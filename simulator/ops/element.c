#include "element.h"

#include "tensordesc.h"
#include <string.h>

/* Kinds in the order in which they win over one another. */
enum kind { KIND_NONE, KIND_BOOL, KIND_INTEGER, KIND_FLOAT, KIND_COMPLEX };

static enum kind kind_of(aclDataType type)
{
    switch (type) {
    case ACL_BOOL:
        return KIND_BOOL;
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_INT64:
        return KIND_INTEGER;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_FLOAT:
    case ACL_DOUBLE:
        return KIND_FLOAT;
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
        return KIND_COMPLEX;
    default:
        return KIND_NONE;
    }
}

const char *sim_element_name(aclDataType type)
{
    switch (type) {
    case ACL_BOOL:
        return "bool";
    case ACL_INT8:
        return "int8";
    case ACL_UINT8:
        return "uint8";
    case ACL_INT16:
        return "int16";
    case ACL_INT32:
        return "int32";
    case ACL_INT64:
        return "int64";
    case ACL_FLOAT16:
        return "float16";
    case ACL_BF16:
        return "bfloat16";
    case ACL_FLOAT:
        return "float32";
    case ACL_DOUBLE:
        return "double";
    case ACL_COMPLEX64:
        return "complex64";
    case ACL_COMPLEX128:
        return "complex128";
    default:
        return "a type without arithmetic";
    }
}

bool sim_element_class(aclDataType type, enum sim_class *class)
{
    switch (kind_of(type)) {
    case KIND_BOOL:
    case KIND_INTEGER:
        *class = SIM_CLASS_INTEGER;
        return true;
    case KIND_FLOAT:
        *class = type == ACL_DOUBLE ? SIM_CLASS_DOUBLE : SIM_CLASS_FLOAT;
        return true;
    case KIND_COMPLEX:
        *class = type == ACL_COMPLEX128 ? SIM_CLASS_COMPLEX_DOUBLE : SIM_CLASS_COMPLEX_FLOAT;
        return true;
    case KIND_NONE:
        break;
    }
    return false;
}

/* ---- where two types meet ---- */

static aclDataType promote_integers(aclDataType one, aclDataType other)
{
    uint32_t bits = sim_type_bits(one), other_bits = sim_type_bits(other);
    if (bits == other_bits)
        return ACL_INT16; /* int8 with uint8 */
    return bits > other_bits ? one : other;
}

static aclDataType promote_floats(aclDataType one, aclDataType other)
{
    return one == ACL_DOUBLE || other == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT;
}

aclDataType sim_element_promote(aclDataType one, aclDataType other)
{
    enum kind kind = kind_of(one), other_kind = kind_of(other);
    if (kind == KIND_NONE || other_kind == KIND_NONE)
        return ACL_DT_UNDEFINED;
    if (one == other)
        return one;
    if (kind == KIND_COMPLEX || other_kind == KIND_COMPLEX) {
        bool wide = one == ACL_COMPLEX128 || other == ACL_COMPLEX128 || one == ACL_DOUBLE || other == ACL_DOUBLE;
        return wide ? ACL_COMPLEX128 : ACL_COMPLEX64;
    }
    if (kind != other_kind)
        return kind > other_kind ? one : other;
    return kind == KIND_FLOAT ? promote_floats(one, other) : promote_integers(one, other);
}

aclDataType sim_element_promote_scalar(aclDataType tensor, aclDataType scalar)
{
    enum kind kind = kind_of(tensor), scalar_kind = kind_of(scalar);
    if (kind == KIND_NONE || scalar_kind == KIND_NONE)
        return ACL_DT_UNDEFINED;
    if (scalar_kind <= kind)
        return tensor;
    if (scalar_kind == KIND_COMPLEX)
        return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
    return scalar_kind == KIND_FLOAT ? ACL_FLOAT : scalar;
}

bool sim_element_casts(aclDataType from, aclDataType to)
{
    enum kind kind = kind_of(from), target = kind_of(to);
    if (kind == KIND_NONE || target == KIND_NONE)
        return false;
    return kind <= target || (kind == KIND_INTEGER && target == KIND_INTEGER);
}

/* ---- half precision ---- */

static float bfloat_to_float(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* To nearest, ties to even; a NaN stays one. */
static uint16_t bfloat_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The float that a double rounds to, but towards its odd neighbour: rounding that once more, to 11 bits or less, gives
 * what rounding the double at once would have given. */
static float round_to_odd(double value)
{
    float near = (float)value;
    uint32_t bits;
    if ((double)near == value || value != value)
        return near;
    memcpy(&bits, &near, sizeof bits);
    bits -= (double)near * (double)near > value * value; /* towards zero */
    bits |= 1;
    memcpy(&near, &bits, sizeof near);
    return near;
}

/* ---- loading and storing ---- */

#define EACH(statement)                                                                                                \
    for (size_t i = 0; i < count; i++) {                                                                               \
        const int64_t k = (int64_t)i * stride;                                                                         \
        statement;                                                                                                     \
    }                                                                                                                  \
    break

#define LOAD(code, type, value)                                                                                        \
    case code: {                                                                                                       \
        const type *source = from;                                                                                     \
        EACH(to[i * step] = (value));                                                                                  \
    }

#define LOAD_INTEGERS                                                                                                  \
    LOAD(ACL_BOOL, uint8_t, source[k] != 0)                                                                            \
    LOAD(ACL_INT8, int8_t, source[k])                                                                                  \
    LOAD(ACL_UINT8, uint8_t, source[k])                                                                                \
    LOAD(ACL_INT16, int16_t, source[k])                                                                                \
    LOAD(ACL_INT32, int32_t, source[k])                                                                                \
    LOAD(ACL_INT64, int64_t, source[k])

#define LOAD_FLOATS(element)                                                                                           \
    LOAD(ACL_FLOAT16, uint16_t, sim_half_to_float(source[k]))                                                          \
    LOAD(ACL_BF16, uint16_t, bfloat_to_float(source[k]))                                                               \
    LOAD(ACL_FLOAT, float, source[k])                                                                                  \
    LOAD(ACL_DOUBLE, double, (element)source[k])

#define LOAD_PAIRS(code, type, element)                                                                                \
    case code: {                                                                                                       \
        const type *source = from;                                                                                     \
        EACH(to[2 * i] = (element)source[2 * k]; to[2 * i + 1] = (element)source[2 * k + 1]);                          \
    }

#define LOADER(name, element, more)                                                                                    \
    static void name(element *to, size_t step, const void *from, aclDataType type, int64_t stride, size_t count)       \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            LOAD_INTEGERS                                                                                              \
            more                                                                                                       \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
    }

LOADER(load_integers, int64_t, )
LOADER(load_floats, float,
       LOAD_FLOATS(float) LOAD_PAIRS(ACL_COMPLEX64, float, float) LOAD_PAIRS(ACL_COMPLEX128, double, float))
LOADER(load_doubles, double,
       LOAD_FLOATS(double) LOAD_PAIRS(ACL_COMPLEX64, float, double) LOAD_PAIRS(ACL_COMPLEX128, double, double))

static size_t step_of(enum sim_class class)
{
    return class == SIM_CLASS_COMPLEX_FLOAT || class == SIM_CLASS_COMPLEX_DOUBLE ? 2 : 1;
}

void sim_element_load(union sim_block_values *block, enum sim_class class, const void *from, aclDataType type,
                      int64_t stride, size_t count)
{
    size_t step = step_of(class);
    if (step == 2) /* what is real in memory has no imaginary part */
        memset(block, 0, sizeof *block);
    if (class == SIM_CLASS_INTEGER)
        load_integers(block->bv_integers, step, from, type, stride, count);
    else if (class == SIM_CLASS_FLOAT || class == SIM_CLASS_COMPLEX_FLOAT)
        load_floats(block->bv_floats, step, from, type, stride, count);
    else
        load_doubles(block->bv_doubles, step, from, type, stride, count);
}

void sim_element_wrap(union sim_block_values *block, aclDataType type, size_t count)
{
    int64_t *values = block->bv_integers;
    for (size_t i = 0; i < count; i++)
        values[i] = type == ACL_INT8    ? (int8_t)values[i]
                    : type == ACL_UINT8 ? (uint8_t)values[i]
                    : type == ACL_INT16 ? (int16_t)values[i]
                    : type == ACL_INT32 ? (int32_t)values[i]
                    : type == ACL_BOOL  ? values[i] != 0
                                        : values[i];
}

#define STORE(code, type, value)                                                                                       \
    case code: {                                                                                                       \
        type *target = to;                                                                                             \
        EACH(target[k] = (type)(value));                                                                               \
    }

#define STORE_PAIRS(code, type)                                                                                        \
    case code: {                                                                                                       \
        type *target = to;                                                                                             \
        EACH(target[2 * k] = (type)from[i * step]; target[2 * k + 1] = step == 2 ? (type)from[i * step + 1] : 0);      \
    }

/* What no cast allows is not there: a kernel's plan has refused it. */
#define STORER(name, element, narrow, more)                                                                            \
    static void name(const element *from, size_t step, void *to, aclDataType type, int64_t stride, size_t count)       \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            STORE(ACL_FLOAT16, uint16_t, sim_half_from_float(narrow(from[i * step])))                                  \
            STORE(ACL_BF16, uint16_t, bfloat_from_float(narrow(from[i * step])))                                       \
            STORE(ACL_FLOAT, float, from[i * step])                                                                    \
            STORE(ACL_DOUBLE, double, from[i * step])                                                                  \
            STORE_PAIRS(ACL_COMPLEX64, float)                                                                          \
            STORE_PAIRS(ACL_COMPLEX128, double)                                                                        \
            more                                                                                                       \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
    }

STORER(store_integers, int64_t, round_to_odd,
       STORE(ACL_BOOL, uint8_t, from[i] != 0) STORE(ACL_INT8, int8_t, from[i]) STORE(ACL_UINT8, uint8_t, from[i])
       STORE(ACL_INT16, int16_t, from[i]) STORE(ACL_INT32, int32_t, from[i]) STORE(ACL_INT64, int64_t, from[i]))
STORER(store_floats, float, , )
STORER(store_doubles, double, round_to_odd, )

void sim_element_store(const union sim_block_values *block, enum sim_class class, void *to, aclDataType type,
                       int64_t stride, size_t count)
{
    size_t step = step_of(class);
    if (class == SIM_CLASS_INTEGER)
        store_integers(block->bv_integers, step, to, type, stride, count);
    else if (class == SIM_CLASS_FLOAT || class == SIM_CLASS_COMPLEX_FLOAT)
        store_floats(block->bv_floats, step, to, type, stride, count);
    else
        store_doubles(block->bv_doubles, step, to, type, stride, count);
}
