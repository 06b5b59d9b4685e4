/* Messages list types in the order of their values, and shapes as Python writes lists. */
#include "require.h"

#include "fail.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 256

static bool in_set(uint64_t types, aclDataType type)
{
    return type >= 0 && type < 64 && (types >> type & 1) != 0;
}

/* "float32, float16 or bfloat16" */
static void list_types(char *text, uint64_t types)
{
    size_t length = 0;
    *text = '\0';
    for (int type = 0; type < 64; type++)
        if (in_set(types, (aclDataType)type)) {
            types -= SIM_TYPE(type);
            length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%s",
                                       length == 0 ? "" : types == 0 ? " or " : ", ",
                                       sim_element_name((aclDataType)type));
        }
}

aclnnStatus sim_require_type(const aclsimArgument *argument, uint64_t types)
{
    char text[LIST_BYTES];
    if (in_set(types, argument->tensors->type))
        return ACL_SUCCESS;
    list_types(text, types);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s has data type %d, %s, expected %s", argument->name,
                      (int)argument->tensors->type, sim_element_name(argument->tensors->type), text);
}

/* "[2, 3]" */
static void list_dims(char *text, const int64_t *dims, uint32_t rank)
{
    size_t length = (size_t)snprintf(text, LIST_BYTES, "[");
    for (uint32_t k = 0; k < rank; k++)
        length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%" PRId64, k == 0 ? "" : ", ", dims[k]);
    snprintf(text + length, LIST_BYTES - length, "]");
}

bool sim_same_shape(const aclsimTensor *tensor, const int64_t *dims, uint32_t rank)
{
    return tensor->rank == rank && memcmp(tensor->dims, dims, rank * sizeof *dims) == 0;
}

aclnnStatus sim_require_shape(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose)
{
    const aclsimTensor *tensor = argument->tensors;
    char found[LIST_BYTES], wanted[LIST_BYTES];
    if (sim_same_shape(tensor, dims, rank))
        return ACL_SUCCESS;
    list_dims(found, tensor->dims, tensor->rank);
    list_dims(wanted, dims, rank);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s has shape %s, expected %s, %s", argument->name, found, wanted,
                      whose);
}

aclnnStatus sim_require_cast(const char *what, aclDataType from, const char *where, aclDataType to)
{
    SIM_ARGUMENT(sim_element_casts(from, to), ACLNN_ERR_PARAM_INVALID, "%s is %s, which cannot be cast to %s, %s",
                 what, sim_element_name(from), sim_element_name(to), where);
    return ACL_SUCCESS;
}

aclnnStatus sim_require_dimension(int64_t dim, const char *name, const aclsimArgument *tensor, uint32_t *place)
{
    int64_t rank = tensor->tensors->rank == 0 ? 1 : tensor->tensors->rank;
    SIM_ARGUMENT(dim >= -rank && dim < rank, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected %" PRId64
                 " to %" PRId64 ", because %s has %u dimensions", name, dim, -rank, rank - 1, tensor->name,
                 tensor->tensors->rank);
    *place = (uint32_t)(dim < 0 ? dim + rank : dim);
    return ACL_SUCCESS;
}
