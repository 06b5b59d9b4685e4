/* Indices in tensors: the messages for those out of range, and elements in their order. */
#include "indices.h"

#include "base/fail.h"
#include <inttypes.h>
#include <stdio.h>

struct sim_indices sim_indices_of(const char *name, const aclsimTensor *tensor, const aclsimArgument *self,
                                  const aclsimTensor *view, uint32_t dim, bool from_end)
{
    const int64_t length = sim_indices_length(self->tensors, dim);
    return (struct sim_indices){
        .in_name = name,
        .in_tensor = tensor,
        .in_self = self,
        .in_dim = dim,
        .in_from_end = from_end,
        .in_length = length,
        .in_step = length < 2 ? 0 : view->strides[dim] * (int64_t)sim_element_size(view->type),
    };
}

struct sim_indices sim_indices_flat(const aclsimArgument *given, const aclsimArgument *self)
{
    return (struct sim_indices){.in_name = given->name,
                                .in_tensor = given->tensors,
                                .in_self = self,
                                .in_flat = true,
                                .in_from_end = true,
                                .in_length = sim_walk_count(self->tensors)};
}

char *sim_indices_nth(const aclsimTensor *tensor, int64_t number)
{
    int64_t offset = 0;
    for (uint32_t k = tensor->rank; k > 0; k--) {
        const int64_t at = number % tensor->dims[k - 1];
        offset += at == 0 ? 0 : at * tensor->strides[k - 1]; /* a dimension of size 1 may have any stride */
        number /= tensor->dims[k - 1];
    }
    return (char *)tensor->data + offset * (int64_t)sim_element_size(tensor->type);
}

static const char *place_of(const aclsimTensor *index, const int64_t *at)
{
    int64_t offset = 0;
    for (uint32_t k = 0; k < index->rank; k++)
        offset += at[k] == 0 ? 0 : at[k] * index->strides[k]; /* a dimension of size 1 may have any stride */
    return (const char *)index->data + offset * (int64_t)sim_element_size(index->type);
}

aclError SIM_RARE sim_indices_fail(const struct sim_indices *indices)
{
    const aclsimTensor *index = indices->in_tensor;
    int64_t at[SIM_RANK] = {0}, found;
    char text[448], what[80];
    while (sim_indices_find(indices, place_of(index, at), &found) && sim_walk_step(index->dims, index->rank, at))
        continue;
    size_t length = (size_t)snprintf(text, sizeof text, "%.60s", indices->in_name);
    for (uint32_t k = 0; k < index->rank; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64 "%s", k == 0 ? "[" : ", ", at[k],
                                   k + 1 == index->rank ? "]" : "");
    int64_t value = sim_indices_at(indices, place_of(index, at));
    if (indices->in_flat)
        snprintf(what, sizeof what, "%.40s", indices->in_self->name);
    else
        snprintf(what, sizeof what, "dimension %u of %.40s", indices->in_dim, indices->in_self->name);
    if (indices->in_length == 0)
        snprintf(text + length, sizeof text - length,
                 " is %" PRId64 ", expected no index, as %s has no elements", value, what);
    else
        snprintf(text + length, sizeof text - length, " is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for %s%s",
                 value, indices->in_from_end ? -indices->in_length : 0, indices->in_length - 1,
                 indices->in_flat ? "all elements of " : "", what);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}
