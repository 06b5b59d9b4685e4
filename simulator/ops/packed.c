/* Loading and storing numbers in packed types. A number of 4 bits has a position in half bytes, counted from the first
 * element of the view; the bytes of an int32 element are in the order of the positions, as on a little-endian host. */
#include "packed.h"

#include "base/bytes.h"
#include "indices.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define HALF_LEAST (-8)
#define HALF_MOST 7

static bool is_packed(aclDataType type)
{
    return type == ACL_INT4 || type == ACL_INT32;
}

/* An int4 view with a negative stride may begin in the middle of a byte, which its address does not say. */
aclnnStatus sim_packed_require(const aclsimArgument *given, uint64_t types)
{
    const aclsimTensor *tensor = given->tensors;
    SIM_TRY(sim_require_type(given, types));
    for (uint32_t k = 0; k < tensor->rank && tensor->type == ACL_INT4; k++)
        SIM_ARGUMENT(tensor->dims[k] < 2 || tensor->strides[k] >= 0, ACLNN_ERR_PARAM_INVALID,
                     "%s has stride %" PRId64 " along dimension %u, expected 0 or more for int4", given->name,
                     tensor->strides[k], k);
    return ACL_SUCCESS;
}

uint32_t sim_packed_axis(const aclsimTensor *tensor)
{
    const uint32_t last = tensor->rank - 1;
    return tensor->strides[last - 1] == 1 && tensor->strides[last] != 1 ? last - 1 : last;
}

/* The numbers may be too many for 64 bits only if a stride is 0; then the view is empty, and has no dimensions. */
aclsimTensor sim_packed_view(const aclsimTensor *tensor, uint32_t axis)
{
    aclsimTensor view = *tensor;
    int64_t step = 1;
    if (!is_packed(tensor->type))
        return view;
    view.type = ACL_INT8;
    view.data = NULL;
    if (tensor->type == ACL_INT32 && !sim_length_multiply(&view.dims[axis], SIM_PACKED_EACH))
        return (aclsimTensor){.type = ACL_INT8};
    for (uint32_t k = view.rank; k > 0; k--) {
        view.strides[k - 1] = step;
        if (!sim_length_multiply(&step, view.dims[k - 1]))
            return (aclsimTensor){.type = ACL_INT8};
    }
    return view;
}

/* The position of the number with index `at`. */
static int64_t position(const aclsimTensor *tensor, uint32_t axis, const int64_t *at)
{
    int64_t elements = 0, within = 0;
    for (uint32_t k = 0; k < tensor->rank; k++) {
        int64_t index = at[k];
        if (tensor->type == ACL_INT32 && k == axis) {
            within = index % SIM_PACKED_EACH;
            index /= SIM_PACKED_EACH;
        }
        elements += index == 0 ? 0 : index * tensor->strides[k]; /* a dimension of size 1 may have any stride */
    }
    return tensor->type == ACL_INT32 ? elements * SIM_PACKED_EACH + within : elements;
}

aclError sim_packed_open(const aclsimTensor *tensor, uint32_t axis, aclsimTensor *plain, void **memory)
{
    int64_t at[SIM_RANK] = {0};
    *memory = NULL;
    *plain = *tensor;
    if (!is_packed(tensor->type))
        return ACL_SUCCESS;
    *plain = sim_packed_view(tensor, axis);
    const int64_t count = plain->rank == 0 ? 0 : sim_walk_count(plain);
    int8_t *numbers = malloc((size_t)count + 1);
    SIM_CHECK(numbers != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate %" PRId64 " bytes of host memory for integers of 4 bits", count);
    for (int64_t i = 0; i < count; i++, sim_walk_step(plain->dims, plain->rank, at)) {
        const int64_t place = position(tensor, axis, at);
        const uint8_t byte = ((const uint8_t *)tensor->data)[place >> 1];
        const int number = byte >> ((place & 1) * 4) & 15;
        numbers[i] = (int8_t)(number > HALF_MOST ? number - 16 : number);
    }
    plain->data = *memory = numbers;
    return ACL_SUCCESS;
}

/* ---- outputs ---- */

aclnnStatus sim_packed_require_out(const aclsimArgument *out, const aclsimArgument *like)
{
    aclsimTensor wanted = *like->tensors;
    int64_t *last = &wanted.dims[wanted.rank - 1];
    SIM_TRY(sim_packed_require(out, SIM_TYPES_PACKED));
    const int64_t each = out->tensors->type == ACL_INT8 ? 1 : out->tensors->type == ACL_INT4 ? 2 : SIM_PACKED_EACH;
    SIM_ARGUMENT(*last % each == 0, ACLNN_ERR_PARAM_INVALID,
                 "the last dimension of %s is %" PRId64 ", expected a multiple of %" PRId64
                 " for integers of 4 bits", like->name, *last, each);
    if (out->tensors->type == ACL_INT32)
        *last /= SIM_PACKED_EACH;
    return sim_require_shape(out, wanted.dims, wanted.rank, "that of the integers");
}

double sim_packed_quantize(double *row, size_t width, double most)
{
    double size = 0;
    for (size_t k = 0; k < width; k++)
        size = sim_packed_greater(fabs(row[k]), size);
    const double scale = size / most;
    for (size_t k = 0; k < width; k++)
        row[k] = rint(scale == 0 ? 0 : row[k] / scale);
    return scale;
}

void sim_packed_store(const aclsimArgument *out, const double *numbers)
{
    const aclsimTensor *tensor = out->tensors;
    const uint32_t axis = tensor->rank - 1;
    int64_t at[SIM_RANK] = {0};
    if (!is_packed(tensor->type)) {
        sim_lists_store(out, numbers);
        return;
    }
    const aclsimTensor view = sim_packed_view(tensor, axis);
    const int64_t count = view.rank == 0 ? 0 : sim_walk_count(&view);
    for (int64_t i = 0; i < count; i++, sim_walk_step(view.dims, view.rank, at)) {
        const int64_t place = position(tensor, axis, at), shift = (place & 1) * 4;
        uint8_t *byte = (uint8_t *)tensor->data + (place >> 1);
        const double number = numbers[i] != numbers[i] ? 0 : fmax(HALF_LEAST, fmin(HALF_MOST, numbers[i]));
        *byte = (uint8_t)((*byte & ~(15 << shift)) | ((int)number & 15) << shift);
    }
}

/* ---- numbers per column ---- */

aclnnStatus sim_packed_require_vector(const aclsimArgument *given, int64_t count)
{
    const aclsimTensor *tensor = given->tensors;
    if (given->present == 0)
        return ACL_SUCCESS;
    const int64_t found = sim_walk_count(tensor), last = tensor->rank == 0 ? 1 : tensor->dims[tensor->rank - 1];
    SIM_ARGUMENT(found == last && (last == 1 || last == count), ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected 1 or %" PRId64 ", in the last dimension", given->name, found,
                 count);
    return ACL_SUCCESS;
}

aclError sim_packed_load(struct sim_lists *lists, const aclsimArgument *given, double **numbers)
{
    const aclsimTensor *tensor = given->tensors;
    if (!sim_element_is(tensor->type, SIM_TYPES_SCALE))
        return sim_lists_load(lists, given, numbers);
    const int64_t count = sim_walk_count(tensor);
    SIM_TRY(sim_lists_take(lists, (size_t)count, numbers));
    for (int64_t i = 0; i < count; i++) {
        uint64_t scale;
        memcpy(&scale, sim_indices_nth(tensor, i), sizeof scale);
        const uint32_t bits = (uint32_t)scale & 0xffffe000;
        float number;
        memcpy(&number, &bits, sizeof number);
        (*numbers)[i] = number;
    }
    return ACL_SUCCESS;
}

aclError sim_packed_load_vector(struct sim_lists *lists, const aclsimArgument *given, size_t count,
                                const double **numbers)
{
    double *loaded, *spread;
    *numbers = NULL;
    if (given->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_packed_load(lists, given, &loaded));
    SIM_TRY(sim_lists_take(lists, count, &spread));
    const bool one = sim_walk_count(given->tensors) == 1;
    for (size_t i = 0; i < count; i++)
        spread[i] = loaded[one ? 0 : i];
    *numbers = spread;
    return ACL_SUCCESS;
}
