/* Checks of types, shapes and dimensions. Messages list types in the order of their values, and shapes like Python
 * lists. A check that fails also reports what it expected (report.h). */
#include "require.h"

#include "base/fail.h"
#include "report.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 512 /* enough for all types, or for 2 * SIM_RANK dimensions of any size */

/* ---- types ---- */

/* "float32, float16 or bfloat16" */
static void list_types(char *text, uint64_t types)
{
    size_t length = 0;
    for (aclDataType type = 0; types != 0; type++)
        if (sim_element_is(type, types)) {
            types -= SIM_TYPE(type);
            length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%s",
                                       length == 0 ? "" : types == 0 ? " or " : ", ", sim_element_name(type));
        }
}

aclnnStatus sim_require_type_named(const char *name, aclDataType type, uint64_t types)
{
    char text[LIST_BYTES];
    if (likely(sim_element_is(type, types)))
        return ACL_SUCCESS;
    sim_report_type(name, types);
    list_types(text, types);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s has data type %d, %s, expected %s", name, (int)type,
                      sim_element_name(type), text);
}

aclnnStatus sim_require_same_type(const aclsimArgument *argument, aclDataType type, const char *whose)
{
    aclDataType found = argument->tensors->type;
    if (found != type)
        sim_report_type(argument->name, SIM_TYPE(type));
    SIM_ARGUMENT(found == type, ACLNN_ERR_PARAM_INVALID, "%s has data type %d, %s, expected %s, that of %s",
                 argument->name, (int)found, sim_element_name(found), sim_element_name(type), whose);
    return ACL_SUCCESS;
}

aclnnStatus sim_require_types(const aclsimArgument *from, const aclsimArgument *to, uint64_t types)
{
    SIM_TRY(sim_require_type(from, types));
    return sim_require_same_type(to, from->tensors->type, from->name);
}

aclnnStatus sim_require_cast(const char *what, aclDataType from, const char *where, aclDataType to)
{
    SIM_ARGUMENT(sim_element_casts(from, to), ACLNN_ERR_PARAM_INVALID, "%s is %s, which cannot be cast to %s, %s",
                 what, sim_element_name(from), sim_element_name(to), where);
    return ACL_SUCCESS;
}

/* ---- members of lists ---- */

void sim_require_name(const aclsimArgument *list, uint64_t place, char *name)
{
    snprintf(name, SIM_NAME_BYTES, "%.40s[%" PRIu64 "]", list->name, place);
}

aclsimArgument sim_require_member(const aclsimArgument *list, uint64_t place, char *name)
{
    sim_require_name(list, place, name);
    return (aclsimArgument){.name = name, .kind = ACLSIM_TENSOR, .tensors = &list->tensors[place]};
}

/* ---- numbers ---- */

aclnnStatus sim_require_count(const aclsimArgument *numbers, uint64_t count)
{
    if (numbers->count != count)
        sim_report_count(numbers->name, count);
    SIM_ARGUMENT(numbers->count == count, ACLNN_ERR_PARAM_INVALID, "%s has %llu numbers, expected %llu", numbers->name,
                 (unsigned long long)numbers->count, (unsigned long long)count);
    return ACL_SUCCESS;
}

aclnnStatus sim_require_steps(const aclsimArgument *numbers, uint64_t count, int64_t least)
{
    SIM_TRY(sim_require_count(numbers, count));
    for (uint64_t i = 0; i < count; i++) {
        if (numbers->integers[i] >= least && numbers->integers[i] <= SIM_MOST_STEP)
            continue;
        char name[SIM_NAME_BYTES];
        sim_require_name(numbers, i, name);
        sim_report_number(name, least > 1 ? least : 1);
        return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected %" PRId64 " to %d", name,
                          numbers->integers[i], least, SIM_MOST_STEP);
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_require_natural(const aclsimArgument *number)
{
    if (number->integer < 0)
        sim_report_number(number->name, 1);
    SIM_ARGUMENT(number->integer >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0 or more", number->name,
                 number->integer);
    return ACL_SUCCESS;
}

/* ---- shapes ---- */

aclnnStatus sim_require_rank(const aclsimArgument *argument, uint32_t least, uint32_t most)
{
    uint32_t rank = argument->tensors->rank;
    if (rank < least || rank > most)
        sim_report_rank(argument->name, rank < least ? least : most);
    SIM_ARGUMENT(least != most || rank == least, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %u",
                 argument->name, rank, least);
    SIM_ARGUMENT(rank >= least && rank <= most, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %u to %u",
                 argument->name, rank, least, most);
    return ACL_SUCCESS;
}

/* "[2, 3]" */
static void list_dims(char *text, const int64_t *dims, uint32_t rank)
{
    size_t length = (size_t)snprintf(text, LIST_BYTES, "[");
    for (uint32_t k = 0; k < rank; k++)
        length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%" PRId64, k == 0 ? "" : ", ", dims[k]);
    snprintf(text + length, LIST_BYTES - length, "]");
}

bool sim_require_is_shape(const aclsimTensor *tensor, const int64_t *dims, uint32_t rank)
{
    return tensor->rank == rank && memcmp(tensor->dims, dims, rank * sizeof *dims) == 0;
}

aclnnStatus sim_require_shape_or(aclnnStatus code, const aclsimArgument *argument, const int64_t *dims, uint32_t rank,
                                 const char *whose)
{
    const aclsimTensor *tensor = argument->tensors;
    char found[LIST_BYTES], wanted[LIST_BYTES];
    if (sim_require_is_shape(tensor, dims, rank))
        return ACL_SUCCESS;
    sim_report_shape(argument->name, dims, rank);
    list_dims(found, tensor->dims, tensor->rank);
    list_dims(wanted, dims, rank);
    return sim_refuse(code, "%s has shape %s, expected %s, %s", argument->name, found, wanted, whose);
}

aclnnStatus sim_require_shape(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose)
{
    return sim_require_shape_or(ACLNN_ERR_PARAM_INVALID, argument, dims, rank, whose);
}

aclnnStatus sim_require_like(const aclsimArgument *argument, const aclsimArgument *other)
{
    const aclsimTensor *wanted = other->tensors;
    char whose[SIM_NAME_BYTES];
    snprintf(whose, sizeof whose, "that of %.40s", other->name);
    SIM_TRY(sim_require_same_type(argument, wanted->type, other->name));
    return sim_require_shape(argument, wanted->dims, wanted->rank, whose);
}

aclnnStatus sim_require_one(const aclsimArgument *argument)
{
    static const int64_t one = 1;
    char found[LIST_BYTES];
    if (argument->tensors->rank == 0 || sim_require_is_shape(argument->tensors, &one, 1))
        return ACL_SUCCESS;
    sim_report_shape(argument->name, &one, 1);
    list_dims(found, argument->tensors->dims, argument->tensors->rank);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s has shape %s, expected [] or [1]", argument->name, found);
}

/* ---- dimensions ---- */

static aclnnStatus find_dim(const char *name, int64_t value, uint32_t rank, uint32_t *dim)
{
    int64_t count = rank == 0 ? 1 : rank;
    *dim = (uint32_t)(value < 0 ? value + count : value);
    if (value < -count || value >= count)
        sim_report_number(name, 0);
    SIM_ARGUMENT(value >= -count && value < count, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for %u dimensions", name, value, -count,
                 count - 1, rank);
    return ACL_SUCCESS;
}

aclnnStatus sim_require_dim(const aclsimArgument *given, uint32_t rank, uint32_t *dim)
{
    return find_dim(given->name, given->integer, rank, dim);
}

aclnnStatus sim_require_dims(const aclsimArgument *given, uint32_t rank, uint32_t *dims)
{
    unsigned seen = 0;
    for (uint64_t i = 0; i < given->count; i++) {
        char name[SIM_NAME_BYTES];
        uint32_t dim;
        sim_require_name(given, i, name);
        SIM_TRY(find_dim(name, given->integers[i], rank, &dim));
        SIM_ARGUMENT((seen >> dim & 1) == 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected each dimension once",
                     name, given->integers[i]);
        seen |= 1u << dim;
        dims[i] = dim; /* in bounds: at most SIM_RANK dimensions are different */
    }
    return ACL_SUCCESS;
}
