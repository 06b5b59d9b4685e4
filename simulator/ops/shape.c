/* Sets of types are masks of kinds, so that each set is one line with the words that describe it. */
#include "shape.h"

#include "fail.h"
#include <stdio.h>

enum { BOOLEAN = 1, NUMBER = 2, INDEX = 4, COMPLEX = 8, WIDE_UNSIGNED = 16 };

#define NUMBERS "float32, float16, bfloat16, double, int8 to int64"

static const struct {
    unsigned kinds;
    const char *text;
} sets[] = {
    [SIM_TYPES_MOVED] = {BOOLEAN | NUMBER | INDEX | COMPLEX | WIDE_UNSIGNED,
                         NUMBERS ", uint8 to uint64, bool, complex64 or complex128"},
    [SIM_TYPES_COMPUTED] = {BOOLEAN | NUMBER | INDEX | COMPLEX, NUMBERS ", uint8, bool, complex64 or complex128"},
    [SIM_TYPES_AVERAGED] = {NUMBER | INDEX | COMPLEX, NUMBERS ", uint8, complex64 or complex128"},
    [SIM_TYPES_ORDERED] = {BOOLEAN | NUMBER | INDEX, NUMBERS ", uint8 or bool"},
    [SIM_TYPES_RANKED] = {NUMBER | INDEX, NUMBERS " or uint8"},
    [SIM_TYPES_INDICES] = {INDEX, "int32 or int64"},
};

static unsigned kind_of(aclDataType type)
{
    enum sim_class class;
    switch (type) {
    case ACL_BOOL:
        return BOOLEAN;
    case ACL_INT32:
    case ACL_INT64:
        return INDEX;
    case ACL_UINT16:
    case ACL_UINT32:
    case ACL_UINT64:
        return WIDE_UNSIGNED;
    default:
        if (!sim_element_class(type, &class))
            return 0;
        return class == SIM_CLASS_COMPLEX_FLOAT || class == SIM_CLASS_COMPLEX_DOUBLE ? COMPLEX : NUMBER;
    }
}

aclnnStatus sim_shape_check_type(const char *name, aclDataType type, enum sim_types types)
{
    SIM_ARGUMENT((kind_of(type) & sets[types].kinds) != 0, ACLNN_ERR_PARAM_INVALID, "%s has data type %d, expected %s",
                 name, (int)type, sets[types].text);
    return ACL_SUCCESS;
}

aclnnStatus sim_shape_check_types(const aclsimArgument *from, const aclsimArgument *to, enum sim_types types)
{
    SIM_TRY(sim_shape_check_type(from->name, from->tensors->type, types));
    SIM_ARGUMENT(to->tensors->type == from->tensors->type, ACLNN_ERR_PARAM_INVALID,
                 "%s has data type %d, expected %d, that of %s", to->name, (int)to->tensors->type,
                 (int)from->tensors->type, from->name);
    return ACL_SUCCESS;
}

aclnnStatus sim_shape_check_cast(const char *from_name, aclDataType from, const char *to_name, aclDataType to)
{
    SIM_ARGUMENT(sim_element_casts(from, to), ACLNN_ERR_PARAM_INVALID, "%s is %s, which cannot be cast to %s, %s",
                 from_name, sim_element_name(from), sim_element_name(to), to_name);
    return ACL_SUCCESS;
}

aclnnStatus sim_shape_check(const aclsimArgument *argument, const int64_t *dims, uint32_t rank)
{
    const aclsimTensor *tensor = argument->tensors;
    SIM_ARGUMENT(tensor->rank == rank, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %u", argument->name,
                 tensor->rank, rank);
    for (uint32_t i = 0; i < rank; i++)
        SIM_ARGUMENT(tensor->dims[i] == dims[i], ACLNN_ERR_PARAM_INVALID, "dimension %u of %s is %lld, expected %lld",
                     i, argument->name, (long long)tensor->dims[i], (long long)dims[i]);
    return ACL_SUCCESS;
}

aclnnStatus sim_shape_dim(const char *name, int64_t value, uint32_t rank, uint32_t *dim)
{
    int64_t count = rank == 0 ? 1 : rank;
    *dim = (uint32_t)(value < 0 ? value + count : value);
    SIM_ARGUMENT(value >= -count && value < count, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected %lld to %lld for %u dimensions", name, (long long)value, (long long)-count,
                 (long long)count - 1, rank);
    return ACL_SUCCESS;
}

aclnnStatus sim_shape_dims(const aclsimArgument *argument, uint32_t rank, uint32_t *dims)
{
    unsigned seen = 0;
    for (uint64_t i = 0; i < argument->count; i++) {
        char name[64];
        uint32_t dim;
        snprintf(name, sizeof name, "%s[%llu]", argument->name, (unsigned long long)i);
        SIM_TRY(sim_shape_dim(name, argument->integers[i], rank, &dim));
        SIM_ARGUMENT((seen >> dim & 1) == 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected each dimension once", name,
                     (long long)argument->integers[i]);
        seen |= 1u << dim;
        dims[i] = dim; /* different ones are at most SIM_SHAPE_RANK */
    }
    return ACL_SUCCESS;
}

bool sim_shape_is_empty(const aclsimTensor *tensor)
{
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == 0)
            return true;
    return false;
}
