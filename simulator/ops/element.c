/* The element types: promotion, casts, and loops that load and store them, one per pair of a type and a class. */
#include "element.h"

#include "operator/tensordesc.h"
#include "data_type_table.h"
#include "vector.h"
#include <math.h>

/* Kinds of types, in the order of promotion: the higher kind wins. */
enum kind { KIND_NONE, KIND_BOOL, KIND_INTEGER, KIND_FLOAT, KIND_COMPLEX };

/* The types with arithmetic. */
static const enum kind kinds[] = {
    [ACL_FLOAT] = KIND_FLOAT,      [ACL_FLOAT16] = KIND_FLOAT,      [ACL_BF16] = KIND_FLOAT,
    [ACL_DOUBLE] = KIND_FLOAT,     [ACL_INT8] = KIND_INTEGER,       [ACL_INT16] = KIND_INTEGER,
    [ACL_INT32] = KIND_INTEGER,    [ACL_INT64] = KIND_INTEGER,      [ACL_UINT8] = KIND_INTEGER,
    [ACL_UINT16] = KIND_INTEGER,   [ACL_UINT32] = KIND_INTEGER,     [ACL_UINT64] = KIND_INTEGER,
    [ACL_BOOL] = KIND_BOOL,        [ACL_COMPLEX64] = KIND_COMPLEX,  [ACL_COMPLEX128] = KIND_COMPLEX,
};

static enum kind kind_of(aclDataType type)
{
    return (size_t)type < sizeof kinds / sizeof *kinds ? kinds[type] : KIND_NONE;
}

const char *sim_element_name(aclDataType type)
{
#define NAME(constant, name, bits, numpy, package, number) [constant] = name,
    static const char *const names[] = {SIM_DATA_TYPES(NAME)};
    return kind_of(type) == KIND_NONE && type != ACL_INT4 ? "a type without arithmetic" : names[type];
}

size_t sim_element_size(aclDataType type)
{
    return sim_type_bits(type) / 8;
}

enum sim_class sim_element_class(aclDataType type)
{
    switch (kind_of(type)) {
    case KIND_FLOAT:
        return type == ACL_DOUBLE ? SIM_CLASS_DOUBLE : SIM_CLASS_FLOAT;
    case KIND_COMPLEX:
        return type == ACL_COMPLEX128 ? SIM_CLASS_COMPLEX_DOUBLE : SIM_CLASS_COMPLEX_FLOAT;
    default:
        return SIM_CLASS_INTEGER;
    }
}

enum sim_class sim_element_carrier(aclDataType from, aclDataType to)
{
    if (from != ACL_UINT64)
        return sim_element_class(from);
    return sim_element_is(to, SIM_TYPES_HALF) ? SIM_CLASS_DOUBLE : sim_element_class(to);
}

bool sim_element_is_plain(enum sim_class class, aclDataType type)
{
    static const aclDataType plain[SIM_CLASSES] = {
        [SIM_CLASS_INTEGER] = ACL_INT64,           [SIM_CLASS_FLOAT] = ACL_FLOAT,
        [SIM_CLASS_DOUBLE] = ACL_DOUBLE,           [SIM_CLASS_COMPLEX_FLOAT] = ACL_COMPLEX64,
        [SIM_CLASS_COMPLEX_DOUBLE] = ACL_COMPLEX128,
    };
    return plain[class] == type;
}

/* ---- promotion ---- */

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

static bool never_meet(aclDataType one, aclDataType other)
{
    return kind_of(one) == KIND_NONE || kind_of(other) == KIND_NONE ||
           (one != other && (sim_element_is(one, SIM_TYPES_UNSIGNED) || sim_element_is(other, SIM_TYPES_UNSIGNED)));
}

aclDataType sim_element_promote(aclDataType one, aclDataType other)
{
    enum kind kind = kind_of(one), other_kind = kind_of(other);
    if (never_meet(one, other))
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
    if (tensor == ACL_COMPLEX64 && scalar == ACL_DOUBLE)
        return ACL_COMPLEX128;
    if (scalar_kind <= kind)
        return tensor;
    if (scalar_kind == KIND_COMPLEX)
        return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
    if (never_meet(tensor, scalar))
        return ACL_DT_UNDEFINED;
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

/* Rounds a double to float: if it is not exact, to the neighbour whose last bit is 1. Rounding that float again, to at
 * most 11 bits, gives the same result as rounding the double directly. */
static inline float round_to_odd(double value)
{
    float near = (float)value;
    if ((double)near == value || value != value)
        return near;
    uint32_t bits = sim_float_bits(near);
    bits -= fabs((double)near) > fabs(value); /* towards zero; from infinity to the largest number, which is odd */
    return sim_float_of_bits(bits | 1);
}

/* The same for an integer, which a double may not represent exactly. */
static inline float round_integer_to_odd(int64_t value)
{
    const int64_t exact = INT64_C(1) << 53, low = 0x7ff; /* the 11 bits below the 53 that a double holds */
    if (value < -exact || value > exact)
        value = (value & ~low) | ((value & low) != 0 ? low + 1 : 0);
    return round_to_odd((double)value);
}

/* ---- loading and storing ----
 *
 * A switch over types selects a loop. Contiguous elements have a loop of their own, with a constant stride, so that the
 * compiler can vectorise it. */

#define ALWAYS static inline __attribute__((always_inline))

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

#define LOAD_INTEGERS(element)                                                                                         \
    LOAD(ACL_BOOL, uint8_t, source[k] != 0)                                                                            \
    LOAD(ACL_INT8, int8_t, source[k])                                                                                  \
    LOAD(ACL_UINT8, uint8_t, source[k])                                                                                \
    LOAD(ACL_INT16, int16_t, source[k])                                                                                \
    LOAD(ACL_UINT16, uint16_t, source[k])                                                                              \
    LOAD(ACL_INT32, int32_t, (element)source[k])                                                                       \
    LOAD(ACL_UINT32, uint32_t, (element)source[k])                                                                     \
    LOAD(ACL_INT64, int64_t, (element)source[k])                                                                       \
    LOAD(ACL_UINT64, uint64_t, (element)source[k])

#define LOAD_FLOATS(element)                                                                                           \
    LOAD(ACL_FLOAT16, uint16_t, sim_half_to_float(source[k]))                                                          \
    LOAD(ACL_BF16, uint16_t, sim_bfloat_to_float(source[k]))                                                           \
    LOAD(ACL_FLOAT, float, source[k])                                                                                  \
    LOAD(ACL_DOUBLE, double, (element)source[k])

#define LOAD_PAIRS(code, type, element)                                                                                \
    case code: {                                                                                                       \
        const type *source = from;                                                                                     \
        EACH(to[2 * i] = (element)source[2 * k]; to[2 * i + 1] = (element)source[2 * k + 1]);                          \
    }

#define LOADER(name, element, more)                                                                                    \
    ALWAYS void name##_apart(element *to, size_t step, const void *from, aclDataType type, int64_t stride,             \
                             size_t count)                                                                             \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            LOAD_INTEGERS(element)                                                                                     \
            more                                                                                                       \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void name(element *to, size_t step, const void *from, aclDataType type, int64_t stride, size_t count)       \
    {                                                                                                                  \
        if (step == 1 && stride == 1)                                                                                  \
            name##_apart(to, 1, from, type, 1, count);                                                                 \
        else                                                                                                           \
            name##_apart(to, step, from, type, stride, count);                                                         \
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
    if (step == 2 && !sim_element_is(type, SIM_TYPES_COMPLEX)) /* a real element has the imaginary part 0 */
        memset(block, 0, count * (class == SIM_CLASS_COMPLEX_FLOAT ? 2 * sizeof(float) : 2 * sizeof(double)));
    if (class == SIM_CLASS_FLOAT && stride == 1 && type == ACL_FLOAT16)
        sim_vector_half_to_float(block->bv_floats, from, count);
    else if (class == SIM_CLASS_FLOAT && stride == 1 && type == ACL_BF16)
        sim_vector_bfloat_to_float(block->bv_floats, from, count);
    else if (class == SIM_CLASS_INTEGER)
        load_integers(block->bv_integers, step, from, type, stride, count);
    else if (class == SIM_CLASS_FLOAT || class == SIM_CLASS_COMPLEX_FLOAT)
        load_floats(block->bv_floats, step, from, type, stride, count);
    else
        load_doubles(block->bv_doubles, step, from, type, stride, count);
}

void sim_element_load_odd(union sim_block_values *block, const void *from, int64_t stride, size_t count)
{
    const uint64_t low = 0x7ff; /* the 11 bits below the 53 that a double holds */
    const uint64_t *source = from;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = source[(int64_t)i * stride];
        if (value >> 53 != 0)
            value = (value & ~low) | ((value & low) != 0 ? low + 1 : 0);
        block->bv_doubles[i] = (double)value;
    }
}

#define WRAP(code, type)                                                                                               \
    case code:                                                                                                         \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] = (type)values[i];                                                                               \
        break;

void sim_element_wrap(union sim_block_values *block, aclDataType type, size_t count)
{
    int64_t *values = block->bv_integers;
    switch (type) {
        WRAP(ACL_BOOL, bool)
        WRAP(ACL_INT8, int8_t)
        WRAP(ACL_UINT8, uint8_t)
        WRAP(ACL_INT16, int16_t)
        WRAP(ACL_UINT16, uint16_t)
        WRAP(ACL_INT32, int32_t)
        WRAP(ACL_UINT32, uint32_t)
    default:
        break;
    }
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

/* The limits are compared as floating-point numbers. If the upper limit rounds up, it is the first number that does not
 * fit, so >= is right in both cases. */
#define CUT(code, type, element, low, high)                                                                            \
    case code: {                                                                                                       \
        type *target = to;                                                                                             \
        EACH(const element x = from[i * step]; target[k] = x != x                  ? 0                                 \
                                                           : x <= (element)(low)  ? (low)                              \
                                                           : x >= (element)(high) ? (high)                             \
                                                                                  : (type)x);                          \
    }

#define STORE_INTEGERS                                                                                                 \
    STORE(ACL_BOOL, uint8_t, from[i] != 0)                                                                             \
    STORE(ACL_INT8, int8_t, from[i])                                                                                   \
    STORE(ACL_UINT8, uint8_t, from[i])                                                                                 \
    STORE(ACL_INT16, int16_t, from[i])                                                                                 \
    STORE(ACL_UINT16, uint16_t, from[i])                                                                               \
    STORE(ACL_INT32, int32_t, from[i])                                                                                 \
    STORE(ACL_UINT32, uint32_t, from[i])                                                                               \
    STORE(ACL_INT64, int64_t, from[i])                                                                                 \
    STORE(ACL_UINT64, uint64_t, from[i])

#define CUT_INTEGERS(element)                                                                                          \
    STORE(ACL_BOOL, uint8_t, from[i * step] != 0 || (step == 2 && from[i * step + 1] != 0))                            \
    CUT(ACL_INT8, int8_t, element, INT8_MIN, INT8_MAX)                                                                 \
    CUT(ACL_UINT8, uint8_t, element, 0, UINT8_MAX)                                                                     \
    CUT(ACL_INT16, int16_t, element, INT16_MIN, INT16_MAX)                                                             \
    CUT(ACL_UINT16, uint16_t, element, 0, UINT16_MAX)                                                                  \
    CUT(ACL_INT32, int32_t, element, INT32_MIN, INT32_MAX)                                                             \
    CUT(ACL_UINT32, uint32_t, element, 0, UINT32_MAX)                                                                  \
    CUT(ACL_INT64, int64_t, element, INT64_MIN, INT64_MAX)                                                             \
    CUT(ACL_UINT64, uint64_t, element, 0, UINT64_MAX)

#define STORER(name, element, narrow, integers)                                                                        \
    ALWAYS void name##_apart(const element *from, size_t step, void *to, aclDataType type, int64_t stride,             \
                             size_t count)                                                                             \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            STORE(ACL_FLOAT16, uint16_t, sim_half_from_float(narrow(from[i * step])))                                  \
            STORE(ACL_BF16, uint16_t, sim_bfloat_from_float(narrow(from[i * step])))                                   \
            STORE(ACL_FLOAT, float, from[i * step])                                                                    \
            STORE(ACL_DOUBLE, double, from[i * step])                                                                  \
            STORE_PAIRS(ACL_COMPLEX64, float)                                                                          \
            STORE_PAIRS(ACL_COMPLEX128, double)                                                                        \
            integers                                                                                                   \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void name(const element *from, size_t step, void *to, aclDataType type, int64_t stride, size_t count)       \
    {                                                                                                                  \
        if (step == 1 && stride == 1)                                                                                  \
            name##_apart(from, 1, to, type, 1, count);                                                                 \
        else                                                                                                           \
            name##_apart(from, step, to, type, stride, count);                                                         \
    }

STORER(store_integers, int64_t, round_integer_to_odd, STORE_INTEGERS)
STORER(store_floats, float, , CUT_INTEGERS(float))
STORER(store_doubles, double, round_to_odd, CUT_INTEGERS(double))

void sim_element_store(const void *values, enum sim_class class, void *to, aclDataType type, int64_t stride,
                       size_t count)
{
    size_t step = step_of(class);
    if (class == SIM_CLASS_FLOAT && stride == 1 && type == ACL_FLOAT16)
        sim_vector_half_from_float(to, values, count);
    else if (class == SIM_CLASS_FLOAT && stride == 1 && type == ACL_BF16)
        sim_vector_bfloat_from_float(to, values, count);
    else if (class == SIM_CLASS_INTEGER)
        store_integers(values, step, to, type, stride, count);
    else if (class == SIM_CLASS_FLOAT || class == SIM_CLASS_COMPLEX_FLOAT)
        store_floats(values, step, to, type, stride, count);
    else
        store_doubles(values, step, to, type, stride, count);
}
