/* Arguments and shapes of single operators that depend on several of their inputs and attributes. This file has no
 * state and no lock. */
#include "base/bytes.h"
#include "op_type.h"

#include <math.h>

static aclError refuse(const struct sim_op_request *request, const char *reason)
{
    return sim_refuse(ACL_ERROR_OP_NOT_FOUND, "operator %s does not accept these tensors and attributes: %s",
                      request->rq_type,
                      reason);
}

const char *sim_op_text(const struct sim_op_request *request, const char *name, const char *missing)
{
    const struct sim_attribute *found = sim_op_attributes_find(&request->rq_attributes, name);
    return found != NULL && found->at_kind == SIM_ATTRIBUTE_TEXT ? found->at_values : missing;
}

aclError sim_op_integers(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count)
{
    const struct sim_source source = {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = name, .so_needed = true};
    return sim_op_numbers(request, &source, numbers, count);
}

aclError sim_op_find_integers(const struct sim_op_request *request, const char *name, uint32_t place,
                              int64_t *numbers, uint32_t *count)
{
    const struct sim_source input = {.so_kind = SIM_FROM_NUMBERS, .so_place = place};
    if (sim_op_attributes_find(&request->rq_attributes, name) != NULL || place >= request->rq_input_count)
        return sim_op_integers(request, name, numbers, count);
    return sim_op_numbers(request, &input, numbers, count);
}

aclError sim_op_find_integer(const struct sim_op_request *request, const char *name, int64_t missing, int64_t *number)
{
    const struct sim_source source = {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = name, .so_number = (double)missing};
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_numbers(request, &source, numbers, &count));
    SIM_ARGUMENT(count == 1, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s has %u numbers, expected one", name,
                 request->rq_type, count);
    *number = *numbers;
    return ACL_SUCCESS;
}

/* ---- Slice(x, offsets, size), SliceD; a size of -1 means the rest ---- */

static aclError find_slice(const struct sim_op_request *request, int64_t *starts, int64_t *sizes, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    uint32_t others;
    SIM_TRY(sim_op_find_integers(request, "offsets", 1, starts, count));
    SIM_TRY(sim_op_find_integers(request, "size", 2, sizes, &others));
    if (*count != x->ot_rank || others != x->ot_rank)
        return refuse(request, "offsets and size need a number for each dimension of x");
    for (uint32_t i = 0; i < *count; i++) {
        int64_t dim = x->ot_dims[i];
        if (sizes[i] == -1)
            sizes[i] = dim - starts[i];
        SIM_ARGUMENT(starts[i] >= 0 && starts[i] <= dim && sizes[i] >= 0 && sizes[i] <= dim - starts[i],
                     ACL_ERROR_OP_NOT_FOUND,
                     "%s takes %lld elements from %lld on of dimension %u of x, which is %lld, expected elements of x",
                     request->rq_type, (long long)sizes[i], (long long)starts[i], i, (long long)dim);
    }
    return ACL_SUCCESS;
}

aclError sim_op_derive_slice_starts(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t sizes[SIM_DIMS_MAX];
    return find_slice(request, numbers, sizes, count);
}

aclError sim_op_derive_slice_ends(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t starts[SIM_DIMS_MAX];
    SIM_TRY(find_slice(request, starts, numbers, count));
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] += starts[i];
    return ACL_SUCCESS;
}

aclError sim_op_derive_slice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t starts[SIM_DIMS_MAX];
    return find_slice(request, starts, numbers, count);
}

aclError sim_op_derive_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    *count = request->rq_tensors[0].ot_rank;
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = i;
    return ACL_SUCCESS;
}

aclError sim_op_derive_ones(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    *count = request->rq_tensors[0].ot_rank;
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = 1;
    return ACL_SUCCESS;
}

/* ---- other shapes for the same elements ---- */

static aclError product_of(const struct sim_op_request *request, uint32_t first, uint32_t end, int64_t *product)
{
    *product = 1;
    for (uint32_t i = first; i < end; i++)
        if (!sim_length_multiply(product, request->rq_tensors[0].ot_dims[i]))
            return refuse(request, "the number of elements of x does not fit into 64 bits");
    return ACL_SUCCESS;
}

static aclError find_axis(const struct sim_op_request *request, int64_t *axis, int64_t most)
{
    int64_t rank = request->rq_tensors[0].ot_rank, given = *axis;
    *axis += *axis < 0 ? rank : 0;
    SIM_ARGUMENT(*axis >= 0 && *axis <= most, ACL_ERROR_OP_ATTR_NOT_MATCH, "axis of %s is %lld, expected %lld to %lld",
                 request->rq_type, (long long)given, (long long)-rank, (long long)most);
    return ACL_SUCCESS;
}

/* Flatten(x; axis = 1): a matrix. */
aclError sim_op_derive_flat_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    uint32_t rank = request->rq_tensors[0].ot_rank;
    int64_t axis;
    *count = 2;
    SIM_TRY(sim_op_find_integer(request, "axis", 1, &axis));
    SIM_TRY(find_axis(request, &axis, rank));
    SIM_TRY(product_of(request, 0, (uint32_t)axis, &numbers[0]));
    return product_of(request, (uint32_t)axis, rank, &numbers[1]);
}

/* FlattenV2(x; axis = 1, end_axis = -1): joins the dimensions from one axis to the other. */
aclError sim_op_derive_joined_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t first, last;
    SIM_TRY(sim_op_find_integer(request, "axis", 1, &first));
    SIM_TRY(sim_op_find_integer(request, "end_axis", -1, &last));
    SIM_TRY(find_axis(request, &first, (int64_t)x->ot_rank - 1));
    SIM_TRY(find_axis(request, &last, (int64_t)x->ot_rank - 1));
    if (first > last)
        return refuse(request, "end_axis comes before axis");
    *count = 0;
    for (uint32_t i = 0; i < x->ot_rank; i++)
        if (i <= first || i > last)
            numbers[(*count)++] = x->ot_dims[i];
    return product_of(request, (uint32_t)first, (uint32_t)last + 1, &numbers[first]);
}

/* Reshape(x, shape): -1 (once) is inferred, 0 keeps the dimension of x. */
aclError sim_op_derive_reshaped_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t elements, others = 1;
    uint32_t open = UINT32_MAX;
    SIM_TRY(sim_op_find_integers(request, "shape", 1, numbers, count));
    SIM_TRY(product_of(request, 0, x->ot_rank, &elements));
    for (uint32_t i = 0; i < *count; i++) {
        if (numbers[i] == 0 && i < x->ot_rank)
            numbers[i] = x->ot_dims[i];
        if (numbers[i] == -1 && open == UINT32_MAX)
            open = i;
        else if (numbers[i] < 0 || !sim_length_multiply(&others, numbers[i]))
            return refuse(request, "shape has a negative number other than a single -1, or too many elements");
    }
    if (open != UINT32_MAX)
        numbers[open] = others == 0 ? 0 : elements / others;
    return ACL_SUCCESS;
}

/* ExpandDims(x, axis), Unsqueeze(x; axes = []) */
aclError sim_op_derive_expanded_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t axes[SIM_DIMS_MAX];
    uint32_t added = 0, from = 0, found = 0;
    if (request->rq_input_count > 1 || sim_op_attributes_find(&request->rq_attributes, "axes") != NULL)
        SIM_TRY(sim_op_find_integers(request, "axes", 1, axes, &added));
    *count = x->ot_rank + added;
    if (*count > SIM_OP_RANK)
        return refuse(request, "the result has more than 8 dimensions");
    for (uint32_t i = 0; i < added; i++) {
        axes[i] += axes[i] < 0 ? *count : 0;
        if (axes[i] < 0 || axes[i] >= *count || (found >> axes[i] & 1) != 0)
            return refuse(request, "an axis is out of range for the result, or is repeated");
        found |= 1u << axes[i];
    }
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = (found >> i & 1) != 0 ? 1 : x->ot_dims[from++];
    return ACL_SUCCESS;
}

/* Squeeze(x; axis = []): removes these axes, which must be 1; without any, all that are 1. */
aclError sim_op_derive_squeezed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t axes[SIM_DIMS_MAX];
    uint32_t given = 0, gone = 0;
    if (sim_op_attributes_find(&request->rq_attributes, "axis") != NULL)
        SIM_TRY(sim_op_integers(request, "axis", axes, &given));
    for (uint32_t i = 0; i < given; i++) {
        SIM_TRY(find_axis(request, &axes[i], (int64_t)x->ot_rank - 1));
        if (x->ot_dims[axes[i]] != 1)
            return refuse(request, "a dimension to remove is not 1");
        gone |= 1u << axes[i];
    }
    *count = 0;
    for (uint32_t i = 0; i < x->ot_rank; i++)
        if (given == 0 ? x->ot_dims[i] != 1 : (gone >> i & 1) == 0)
            numbers[(*count)++] = x->ot_dims[i];
    return ACL_SUCCESS;
}

/* ---- LayerNorm(x, gamma, beta; begin_norm_axis = 0, begin_params_axis = 0), LayerNormV3 (with equal axes) ---- */

static aclError find_norm_axis(const struct sim_op_request *request, int64_t *axis)
{
    int64_t rank = request->rq_tensors[0].ot_rank, other;
    if (rank == 0)
        return refuse(request, "x has no dimensions");
    SIM_TRY(sim_op_find_integer(request, "begin_norm_axis", 0, axis));
    SIM_TRY(sim_op_find_integer(request, "begin_params_axis", 0, &other));
    SIM_TRY(find_axis(request, axis, rank - 1));
    SIM_TRY(find_axis(request, &other, rank - 1));
    SIM_ARGUMENT(*axis == other || strcmp(request->rq_type, "LayerNorm") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute begin_params_axis of %s is %lld, which the simulator does not support, expected that of "
                 "begin_norm_axis, %lld", request->rq_type, (long long)other, (long long)*axis);
    for (uint32_t i = 1; i < 3; i++)
        SIM_ARGUMENT(request->rq_tensors[i].ot_rank == rank - other, ACL_ERROR_OP_NOT_FOUND,
                     "inputs[%u] of %s has %u dimensions, expected %lld, those of x from begin_params_axis on", i,
                     request->rq_type, request->rq_tensors[i].ot_rank, (long long)(rank - other));
    return ACL_SUCCESS;
}

aclError sim_op_derive_normalized(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t axis;
    SIM_TRY(find_norm_axis(request, &axis));
    *count = x->ot_rank - (uint32_t)axis;
    memcpy(numbers, x->ot_dims + axis, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

aclError sim_op_derive_first_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    *count = x->ot_rank;
    memcpy(numbers, x->ot_dims, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

/* RmsNorm(x, gamma; epsilon = 1e-6): one number for each line of gamma's shape */
aclError sim_op_derive_rms_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    SIM_TRY(sim_op_derive_first_dims(request, numbers, count));
    for (uint32_t i = 0; i < *count && i < request->rq_tensors[1].ot_rank; i++)
        numbers[*count - 1 - i] = 1;
    return ACL_SUCCESS;
}

/* GatherElements(x, index; dim = 0) */
aclError sim_op_derive_second_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *index = &request->rq_tensors[1];
    *count = index->ot_rank;
    memcpy(numbers, index->ot_dims, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

/* CdistGrad(grad, x1, x2, cdist; p = 2) with expanded inputs: the dimension before the last one is summed over */
aclError sim_op_derive_folded_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    SIM_TRY(sim_op_derive_second_dims(request, numbers, count));
    if (*count < 2)
        return refuse(request, "x1 has fewer than 2 dimensions");
    numbers[*count - 2] = numbers[*count - 1];
    --*count;
    return ACL_SUCCESS;
}

aclError sim_op_derive_line_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t axis;
    SIM_TRY(find_norm_axis(request, &axis));
    SIM_TRY(sim_op_derive_first_dims(request, numbers, count));
    for (uint32_t i = (uint32_t)axis; i < *count; i++)
        numbers[i] = 1;
    return ACL_SUCCESS;
}

/* ---- TopK(x, k; sorted = true, dim = -1, largest = true): values, indices; TopKV2; TopKD(x, assist_seq; k, ...) ----
 */

aclError sim_op_derive_selected_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t selected[SIM_DIMS_MAX], axis;
    SIM_TRY(sim_op_find_integers(request, "k", 1, selected, count));
    if (*count != 1)
        return refuse(request, "k is not a single number");
    SIM_TRY(sim_op_find_integer(request, "dim", -1, &axis));
    SIM_TRY(find_axis(request, &axis, (int64_t)x->ot_rank - 1));
    SIM_TRY(sim_op_derive_first_dims(request, numbers, count));
    numbers[axis] = *selected;
    return ACL_SUCCESS;
}

/* ---- OneHot(x, depth, on_value, off_value; axis = -1), OneHotD(x, on_value, off_value; depth, axis = -1) ---- */

aclError sim_op_derive_one_hot_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t depth[SIM_DIMS_MAX], axis;
    SIM_TRY(sim_op_find_integers(request, "depth", 1, depth, count));
    SIM_TRY(sim_op_find_integer(request, "axis", -1, &axis));
    if (*count != 1 || axis < -1 || axis > x->ot_rank || x->ot_rank == SIM_OP_RANK)
        return refuse(request, "depth is not a single number, or axis is out of range for the result");
    *count = 0;
    for (uint32_t i = 0; i <= x->ot_rank; i++) {
        if (i == (axis == -1 ? x->ot_rank : axis))
            numbers[(*count)++] = *depth;
        if (i < x->ot_rank)
            numbers[(*count)++] = x->ot_dims[i];
    }
    return ACL_SUCCESS;
}

/* ---- Range(start, limit, delta) ---- */

/* Reads the single number of an input that the host has. */
static aclError read_number(const struct sim_op_request *request, uint32_t place, double *number)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    const struct sim_source source = {.so_kind = SIM_FROM_NUMBERS, .so_place = place};
    int64_t found[SIM_DIMS_MAX];
    uint32_t count = 1;
    const void *bytes = NULL;
    size_t size = 0;
    float single;
    bool is_single = tensor->ot_type == ACL_FLOAT, is_double = tensor->ot_type == ACL_DOUBLE;
    if (is_single || is_double) {
        SIM_TRY(sim_op_host_bytes(request, place, &bytes, &size));
        SIM_ARGUMENT(size != 0, ACL_ERROR_OP_INPUT_NOT_MATCH,
                     "inputs[%u] of %s is not a constant, expected aclSetTensorConst or aclSetTensorPlaceMent for host "
                     "memory", place, request->rq_type);
    } else {
        SIM_TRY(sim_op_numbers(request, &source, found, &count));
    }
    if (count != 1 || (bytes != NULL && (tensor->ot_bytes > size || tensor->ot_bytes != (is_single ? 4 : 8))))
        return refuse(request, "its start, limit and delta must be tensors of one element");
    if (is_single) {
        memcpy(&single, bytes, sizeof single);
        *number = (double)single;
    } else if (is_double) {
        memcpy(number, bytes, sizeof *number);
    } else {
        *number = (double)*found;
    }
    return ACL_SUCCESS;
}

aclError sim_op_derive_range_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    double values[3];
    for (uint32_t i = 0; i < 3; i++)
        SIM_TRY(read_number(request, i, &values[i]));
    double length = ceil((values[1] - values[0]) / values[2]);
    SIM_ARGUMENT(values[2] != 0 && length < (double)INT64_MAX, ACL_ERROR_OP_NOT_FOUND,
                 "delta of %s is %g, with which the range from %g never reaches %g", request->rq_type, values[2],
                 values[0],
                 values[1]);
    *numbers = length < 0 ? 0 : (int64_t)length;
    *count = 1;
    return ACL_SUCCESS;
}

/* ---- Concat(concat_dim, x...), ConcatV2(x..., concat_dim) ---- */

aclError sim_op_derive_last_number(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    if (request->rq_input_count < 2)
        return refuse(request, "it needs a tensor and the dimension that it joins along");
    const struct sim_source source = {.so_kind = SIM_FROM_NUMBERS, .so_place = request->rq_input_count - 1};
    return sim_op_numbers(request, &source, numbers, count);
}

aclError sim_op_derive_joined_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    bool leads = strcmp(request->rq_type, "Concat") == 0; /* the number comes first */
    const struct sim_source source = {.so_kind = SIM_FROM_NUMBERS};
    const struct sim_op_tensor *members = request->rq_tensors + (leads ? 1 : 0);
    int64_t axis[SIM_DIMS_MAX];
    if (request->rq_input_count < 2)
        return refuse(request, "it needs a tensor and the dimension that it joins along");
    SIM_TRY(leads ? sim_op_numbers(request, &source, axis, count) : sim_op_derive_last_number(request, axis, count));
    *axis += *axis < 0 ? members->ot_rank : 0;
    if (*count != 1 || *axis < 0 || *axis >= members->ot_rank)
        return refuse(request, "it joins along a dimension that its first tensor does not have");
    *count = members->ot_rank;
    memcpy(numbers, members->ot_dims, *count * sizeof *numbers);
    for (uint32_t i = 1; i < request->rq_input_count - 1; i++)
        if (members[i].ot_rank != *count ||
            __builtin_add_overflow(numbers[*axis], members[i].ot_dims[*axis], &numbers[*axis]))
            return refuse(request, "its tensors do not have as many dimensions as the first one");
    return ACL_SUCCESS;
}

/* ---- GeluV2(x; approximate = "none") ---- */

aclError sim_op_derive_approximation(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *approximate = sim_op_text(request, "approximate", "none");
    SIM_ARGUMENT(strcmp(approximate, "none") == 0 || strcmp(approximate, "tanh") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute approximate of %s is \"%s\", expected none or tanh", request->rq_type, approximate);
    *numbers = strcmp(approximate, "tanh") == 0;
    *count = 1;
    return ACL_SUCCESS;
}

/* ConfusionTransposeD(x; perm, shape, transpose_first): the shape, permuted if the permutation is the second step. */
aclError sim_op_derive_confused_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t perm[SIM_DIMS_MAX], shape[SIM_DIMS_MAX], is_first;
    uint32_t rank;
    SIM_TRY(sim_op_integers(request, "perm", perm, &rank));
    SIM_TRY(sim_op_integers(request, "shape", shape, count));
    SIM_TRY(sim_op_find_integer(request, "transpose_first", 0, &is_first));
    for (uint32_t i = 0; i < *count; i++) {
        if (is_first == 0 && (rank != *count || perm[i] < 0 || perm[i] >= *count))
            return refuse(request, "perm does not list the dimensions of shape");
        numbers[i] = shape[is_first != 0 ? i : (uint32_t)perm[i]];
    }
    return ACL_SUCCESS;
}

/* Iou(bboxes, gtboxes; aligned = false): a row for each true box, and a column for each of the others. */
aclError sim_op_derive_overlap_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *boxes = &request->rq_tensors[0], *others = &request->rq_tensors[1];
    int64_t is_aligned;
    SIM_TRY(sim_op_find_integer(request, "aligned", 0, &is_aligned));
    if (boxes->ot_rank != 2 || others->ot_rank != 2)
        return refuse(request, "boxes do not have 2 dimensions");
    *count = 2;
    numbers[0] = others->ot_dims[0];
    numbers[1] = is_aligned != 0 ? 1 : boxes->ot_dims[0];
    return ACL_SUCCESS;
}
