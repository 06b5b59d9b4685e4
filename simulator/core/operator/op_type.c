/* Design notes
 *
 * Finds the schema of a single operator by its type, and makes the schema's arguments.
 *
 * A type is looked up among those that the user registered, in the table (op_table.c), and among the names of schemas,
 * in this order. Arguments are made for each call, as objects that the binding owns until the call is packed. Nothing
 * is guessed: an attribute that the type does not have is refused, unless its name begins with an underscore, which the
 * vendor's tools reserve for hints. Combinations that a schema does not support are refused by its kernel's plan.
 *
 * This file has no state and no lock. */
#include "op_type.h"

#include "address/memory.h"
#include "base/bytes.h"
#include "base/config.h"
#include "base/type.h"
#include <limits.h>
#include <stdlib.h>

/* ---- arguments ---- */

struct binder {
    const struct sim_op_request *bn_request;
    struct sim_op_binding *bn_binding;
};

/* Stores a new handle; NULL means that its creation failed with a message. */
static aclError keep(union sim_value *value, const void *made)
{
    value->va_pointer = made;
    return made != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

bool sim_op_is_blocked(aclFormat format)
{
    switch (format) {
    case ACL_FORMAT_NC1HWC0:
    case ACL_FORMAT_FRACTAL_Z:
    case ACL_FORMAT_NC1HWC0_C04:
    case ACL_FORMAT_NDC1HWC0:
    case ACL_FRACTAL_Z_3D:
    case ACL_FORMAT_FRACTAL_NZ:
        return true;
    default:
        return format >= ACL_FORMAT_FRACTAL_NZ_C0_16 && format <= ACL_FORMAT_FRACTAL_NZ_C0_8;
    }
}

/* Makes a tensor. `place` counts inputs, then outputs; `shape` has the dimensions in memory, and `order` says which of
 * these are those of the view (NULL: all, as they are). */
static aclError make_shaped(const struct sim_op_request *request, uint32_t place, const struct sim_op_tensor *shape,
                            const int64_t *order, const aclTensor **made)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    int64_t dims[SIM_OP_RANK], strides[SIM_OP_RANK], plain[SIM_OP_RANK], step = 1;
    bool is_input = place < request->rq_input_count;
    const char *side = is_input ? "inputs" : "outputs";
    uint32_t index = is_input ? place : place - request->rq_input_count, rank = shape->ot_rank;
    SIM_ARGUMENT(!sim_op_is_blocked(tensor->ot_format), ACL_ERROR_OP_NOT_FOUND,
                 "%s[%u] has format %d, whose layout the simulator does not support, expected ND or a similar format",
                 side,
                 index, (int)tensor->ot_format);
    SIM_ARGUMENT(!tensor->ot_open && !shape->ot_open, ACL_ERROR_OP_UNSUPPORTED_DYNAMIC,
                 "%s[%u] of %s has a dimension that is not known, expected numbers of 0 or more", side, index,
                 request->rq_type);
    for (uint32_t i = rank; i-- != 0;) {
        plain[i] = step;
        step = (int64_t)((uint64_t)step * (uint64_t)shape->ot_dims[i]); /* a shape that overflows was refused before */
    }
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t from = order != NULL ? order[i] : i;
        dims[i] = shape->ot_dims[from];
        strides[i] = plain[from];
    }
    const struct sim_pattern pattern = {.pt_dims = dims, .pt_strides = strides, .pt_storage = shape->ot_dims,
                                        .pt_rank = rank, .pt_storage_rank = rank, .pt_type = tensor->ot_type,
                                        .pt_format = tensor->ot_format, .pt_data = tensor->ot_data};
    *made = sim_tensor_create(&pattern);
    return *made != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

static aclError make_tensor(const struct sim_op_request *request, uint32_t place, const aclTensor **made)
{
    return make_shaped(request, place, &request->rq_tensors[place], NULL, made);
}

/* Makes an input with its last two dimensions exchanged. */
static aclError make_turned(const struct sim_op_request *request, uint32_t place, const aclTensor **made)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    int64_t order[SIM_OP_RANK];
    SIM_ARGUMENT(tensor->ot_rank >= 2, ACL_ERROR_OP_NOT_FOUND,
                 "inputs[%u] has %u dimensions, expected at least 2 for a transposed input", place, tensor->ot_rank);
    for (uint32_t i = 0; i < tensor->ot_rank; i++)
        order[i] = i + 2 < tensor->ot_rank ? i : 2 * (int64_t)tensor->ot_rank - 3 - i;
    return make_shaped(request, place, tensor, order, made);
}

/* Makes a tensor that lies in memory in another order than that of its view. The description of an input has the
 * dimensions in memory, that of an output those of the view; the order, as many numbers, is derived. */
static aclError make_moved(const struct sim_op_request *request, const struct sim_source *source, bool is_output,
                           const aclTensor **made)
{
    const uint32_t place = source->so_place + (is_output ? request->rq_input_count : 0);
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    struct sim_op_tensor shape = *tensor;
    int64_t order[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(source->so_derive(request, order, &count));
    SIM_ARGUMENT(tensor->ot_rank == count, ACL_ERROR_OP_NOT_FOUND, "a tensor of %s has %u dimensions, expected %u",
                 request->rq_type, tensor->ot_rank, count);
    for (uint32_t i = 0; is_output && i < count; i++)
        shape.ot_dims[order[i]] = tensor->ot_dims[i];
    return make_shaped(request, place, &shape, order, made);
}

/* Makes a view of a tensor's elements with the size, strides and offset of three constants. */
static aclError make_strided(const struct sim_op_request *request, uint32_t place, uint32_t first,
                             const aclTensor **made)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    int64_t numbers[3][SIM_DIMS_MAX], last, elements;
    uint32_t counts[3];
    for (uint32_t i = 0; i < 3; i++)
        SIM_TRY(sim_op_input_numbers(request, first + i, numbers[i], &counts[i]));
    SIM_ARGUMENT(counts[0] == counts[1] && counts[0] <= SIM_OP_RANK && counts[2] == 1, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "%s got %u sizes, %u strides and %u offsets, expected as many sizes as strides, at most %d, and one "
                 "offset", request->rq_type, counts[0], counts[1], counts[2], SIM_OP_RANK);
    uint64_t bytes = tensor->ot_size > tensor->ot_bytes ? tensor->ot_size : tensor->ot_bytes;
    elements = (int64_t)(bytes * 8 / sim_type_bits(tensor->ot_type)); /* the description may be that of a view */
    bool fits = numbers[2][0] >= 0, empty = false;
    last = numbers[2][0];
    for (uint32_t i = 0; i < counts[0]; i++) {
        int64_t step = numbers[0][i] - 1;
        empty = empty || numbers[0][i] == 0;
        fits = fits && numbers[0][i] >= 0 && numbers[1][i] >= 0 &&
               (empty || (sim_length_multiply(&step, numbers[1][i]) && !__builtin_add_overflow(last, step, &last)));
    }
    SIM_ARGUMENT(fits && (empty || last < elements), ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "%s views a tensor of %lld elements beyond its end, expected sizes, strides and an offset within it",
                 request->rq_type, (long long)elements);
    const struct sim_pattern pattern = {.pt_dims = numbers[0], .pt_strides = numbers[1], .pt_storage = &elements,
                                        .pt_rank = counts[0], .pt_storage_rank = 1, .pt_type = tensor->ot_type,
                                        .pt_format = tensor->ot_format, .pt_offset = numbers[2][0],
                                        .pt_data = tensor->ot_data};
    *made = sim_tensor_create(&pattern);
    return *made != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

/* Makes a tensor of which a kernel needs only the shape, that of the output: one element of an input, repeated. */
static aclError make_like(const struct sim_op_request *request, uint32_t place, const aclTensor **made)
{
    static const int64_t strides[SIM_OP_RANK] = {0}, elements = 1;
    const struct sim_op_tensor *tensor = &request->rq_tensors[place], *shape = sim_op_output(request, 0);
    SIM_ARGUMENT(!shape->ot_open && tensor->ot_bytes != 0, ACL_ERROR_OP_UNSUPPORTED_DYNAMIC,
                 "outputs[0] of %s has a dimension that is not known, or inputs[%u] has no elements, expected numbers "
                 "of 0 or more, and elements", request->rq_type, place);
    const struct sim_pattern pattern = {.pt_dims = shape->ot_dims, .pt_strides = strides, .pt_storage = &elements,
                                        .pt_rank = shape->ot_rank, .pt_storage_rank = 1, .pt_type = tensor->ot_type,
                                        .pt_format = tensor->ot_format, .pt_data = tensor->ot_data};
    *made = sim_tensor_create(&pattern);
    return *made != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

static aclError check_updated(const struct sim_op_request *request, uint32_t place)
{
    const void *input = request->rq_tensors[place].ot_data, *output = sim_op_output(request, 0)->ot_data;
    SIM_ARGUMENT(input == output || output == NULL, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "outputs[0] of %s lies at %p, expected the address of inputs[%u], %p, a part of which it changes",
                 request->rq_type, output, place, input);
    return ACL_SUCCESS;
}

static void destroy_tensor(const aclTensor *handle)
{
    struct sim_tensor *tensor;
    if (sim_tensor_open(handle, "tensor", &tensor) == ACL_SUCCESS)
        sim_tensor_destroy(tensor);
}

/* Makes a list of the tensors from `first` to before `end`, without omitted ones. */
static aclError make_list(const struct sim_op_request *request, uint32_t first, uint32_t end, bool raised,
                          union sim_value *value)
{
    const void *members[SIM_OP_TENSORS] = {NULL};
    uint32_t count = 0;
    aclError code = ACL_SUCCESS;
    for (uint32_t i = first; i < end && code == ACL_SUCCESS; i++) {
        const aclTensor *made = NULL;
        struct sim_op_tensor shape = request->rq_tensors[i];
        if (shape.ot_type == ACL_DT_UNDEFINED)
            continue;
        if (raised)
            code = sim_op_raise(request, &request->rq_tensors[i], &shape);
        if (code == ACL_SUCCESS)
            code = make_shaped(request, i, &shape, NULL, &made);
        if (made != NULL)
            members[count++] = made;
    }
    if (code == ACL_SUCCESS)
        code = keep(value, sim_tensor_list_create(SIM_LIST_TENSORS, members, count));
    for (uint32_t i = 0; code != ACL_SUCCESS && i < count; i++)
        destroy_tensor(members[i]);
    return code;
}

/* Makes the list of indices: an empty tensor for each dimension that has none. */
static aclError make_indices(const struct sim_op_request *request, const struct sim_source *source,
                             union sim_value *value)
{
    static const struct sim_op_tensor none = {.ot_rank = 1};
    int64_t mask[SIM_DIMS_MAX];
    uint32_t dims, next = source->so_place;
    const void *members[SIM_DIMS_MAX];
    SIM_TRY(sim_op_input_numbers(request, (uint32_t)source->so_number, mask, &dims));
    aclError code = ACL_SUCCESS;
    uint32_t count = 0;
    for (; count < dims && code == ACL_SUCCESS; count++) {
        const aclTensor *made = NULL;
        if (mask[count] != 0 && !sim_op_has_input(request, next))
            code = sim_refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, "inputs[%u] of %s, the indices of dimension %u, is missing",
                              next, request->rq_type, count);
        else
            code = mask[count] != 0 ? make_tensor(request, next++, &made)
                                    : make_shaped(request, 0, &none, NULL, &made);
        members[count] = made;
    }
    if (code == ACL_SUCCESS)
        code = keep(value, sim_tensor_list_create(SIM_LIST_TENSORS, members, dims));
    for (uint32_t i = 0; code != ACL_SUCCESS && i < count; i++)
        if (members[i] != NULL)
            destroy_tensor(members[i]);
    return code;
}

/* A factor of 1 is made as a boolean, which every type of tensors accepts. Numbers of inputs keep their kind. */
static const aclScalar *make_scalar(const struct sim_source *source, double number, bool is_integer)
{
    bool one = true;
    int64_t integer = (int64_t)number;
    if (number == 1 && source->so_kind != SIM_FROM_NUMBERS && source->so_kind != SIM_FROM_DERIVED)
        return sim_tensor_scalar_create(&one, ACL_BOOL);
    float value = (float)number;
    return is_integer ? sim_tensor_scalar_create(&integer, ACL_INT64) : sim_tensor_scalar_create(&value, ACL_FLOAT);
}

static aclError set_integer(const struct sim_op_request *request, const struct sim_source *source, int64_t *integer)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_numbers(request, source, numbers, &count));
    SIM_ARGUMENT(count == 1, ACL_ERROR_OP_ATTR_NOT_MATCH, "%s got %u numbers, expected one", request->rq_type,
                 count);
    *integer = *numbers;
    return ACL_SUCCESS;
}

/* Makes an argument from numbers or attributes, as the schema's parameter requires it. */
static aclError set_value(const struct sim_op_request *request, const struct sim_source *source,
                          const struct sim_parameter *parameter, union sim_value *value)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    bool is_integer;
    double number;
    const struct sim_attribute *found;
    switch (parameter->pa_kind) {
    case ACLSIM_INTEGER:
        return set_integer(request, source, &value->va_integer);
    case ACLSIM_NUMBER:
        return sim_op_number(request, source, &value->va_number, &is_integer);
    case ACLSIM_SCALAR:
        SIM_TRY(sim_op_number(request, source, &number, &is_integer));
        return keep(value, make_scalar(source, number, is_integer));
    case ACLSIM_INTEGERS:
        SIM_TRY(sim_op_numbers(request, source, numbers, &count));
        return keep(value, sim_tensor_array_create(SIM_ARRAY_INTS, numbers, count));
    case ACLSIM_FLOATS:
        SIM_TRY(sim_op_values(request, source->so_name, SIM_ATTRIBUTE_FLOATS, &found));
        return keep(value, sim_tensor_array_create(SIM_ARRAY_FLOATS, found->at_values, found->at_count));
    case ACLSIM_BOOLEANS:
        SIM_TRY(sim_op_values(request, source->so_name, SIM_ATTRIBUTE_BOOLEANS, &found));
        return keep(value, sim_tensor_array_create(SIM_ARRAY_BOOLS, found->at_values, found->at_count));
    case ACLSIM_TEXT:
        SIM_TRY(sim_op_values(request, source->so_name, SIM_ATTRIBUTE_TEXT, &found));
        value->va_pointer = found->at_values;
        return ACL_SUCCESS;
    default:
        return sim_refuse(ACL_ERROR_OP_NOT_FOUND, "%s takes %s in a form that a single operator cannot pass",
                          request->rq_type, parameter->pa_name);
    }
}

static aclError check_type(const struct sim_op_request *request, const struct sim_source *source, aclDataType type)
{
    const struct sim_attribute *found =
        source->so_name != NULL ? sim_op_attributes_find(&request->rq_attributes, source->so_name) : NULL;
    SIM_ARGUMENT(found == NULL || (found->at_kind == SIM_ATTRIBUTE_INTEGER && found->at_integer == (int64_t)type),
                 ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s is %lld, expected %d, the data type of the output",
                 source->so_name, request->rq_type, (long long)found->at_integer, (int)type);
    return ACL_SUCCESS;
}

/* `place` counts inputs, then outputs. */
static aclError make_view(const struct sim_op_request *request, const struct sim_source *source, uint32_t place,
                          const aclTensor **made)
{
    struct sim_op_tensor shape = {0};
    int64_t numbers[SIM_DIMS_MAX];
    if (source->so_derive == NULL)
        return make_shaped(request, place, sim_op_output(request, 0), NULL, made);
    SIM_TRY(source->so_derive(request, numbers, &shape.ot_rank)); /* at most SIM_OP_RANK */
    memcpy(shape.ot_dims, numbers, shape.ot_rank * sizeof *numbers);
    return make_shaped(request, place, &shape, NULL, made);
}

/* Makes booleans from the bits of a number. */
static aclError make_mask(const struct sim_source *source, union sim_value *value)
{
    bool values[CHAR_BIT] = {false};
    for (uint32_t i = 0; i < source->so_place; i++)
        values[i] = ((unsigned)source->so_number >> i & 1) != 0;
    return keep(value, sim_tensor_array_create(SIM_ARRAY_BOOLS, values, source->so_place));
}

static aclError set_argument(const struct binder *binder, const struct sim_source *source, size_t index)
{
    const struct sim_op_request *request = binder->bn_request;
    const struct sim_parameter *parameter = &binder->bn_binding->bi_row->ro_parameters[index];
    union sim_value *value = &binder->bn_binding->bi_values[index];
    const aclTensor *tensor = NULL;
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    uint32_t place = source->so_place;
    switch (source->so_kind) {
    case SIM_FROM_INPUT:
        SIM_TRY(sim_op_is_set(request, source->so_name) ? make_turned(request, place, &tensor)
                                                        : make_tensor(request, place, &tensor));
        return keep(value, tensor);
    case SIM_FROM_MOVED:
    case SIM_FROM_OUTPUT_MOVED:
        SIM_TRY(make_moved(request, source, source->so_kind == SIM_FROM_OUTPUT_MOVED, &tensor));
        return keep(value, tensor);
    case SIM_FROM_OPTIONAL:
        if (!sim_op_has_input(request, place))
            return ACL_SUCCESS;
        SIM_TRY(make_tensor(request, place, &tensor));
        return keep(value, tensor);
    case SIM_FROM_OUTPUT:
        place += request->rq_input_count;
        SIM_TRY(source->so_derive != NULL ? make_view(request, source, place, &tensor)
                                          : make_tensor(request, place, &tensor));
        return keep(value, tensor);
    case SIM_FROM_LIKE:
        SIM_TRY(make_like(request, place, &tensor));
        return keep(value, tensor);
    case SIM_FROM_MASK:
        return make_mask(source, value);
    case SIM_FROM_STRIDES:
        SIM_TRY(make_strided(request, place, (uint32_t)source->so_number, &tensor));
        return keep(value, tensor);
    case SIM_FROM_UPDATED_STRIDES:
        SIM_TRY(check_updated(request, place));
        SIM_TRY(make_strided(request, request->rq_input_count, (uint32_t)source->so_number, &tensor));
        return keep(value, tensor);
    case SIM_FROM_INDICES:
        return make_indices(request, source, value);
    case SIM_FROM_INPUTS:
        SIM_ARGUMENT(place + (uint32_t)source->so_number <= request->rq_input_count, ACL_ERROR_OP_INPUT_NOT_MATCH,
                     "numInputs is %u, expected more for %s", request->rq_input_count, request->rq_type);
        return make_list(request, place, request->rq_input_count - (uint32_t)source->so_number, false, value);
    case SIM_FROM_RAISED:
        return make_list(request, 0, request->rq_input_count, true, value);
    case SIM_FROM_OUTPUTS:
    case SIM_FROM_OUTPUTS_RAISED:
        return make_list(request, request->rq_input_count, request->rq_input_count + request->rq_output_count,
                         source->so_kind == SIM_FROM_OUTPUTS_RAISED, value);
    case SIM_FROM_VIEW:
        SIM_TRY(make_view(request, source, place, &tensor));
        return keep(value, tensor);
    case SIM_FROM_TYPE:
        value->va_integer = sim_op_output(request, 0)->ot_type;
        return check_type(request, source, sim_op_output(request, 0)->ot_type);
    case SIM_FROM_MATH: /* KEEP_DTYPE, or ALLOW_FP32_DOWN_PRECISION for chips that cannot multiply float32 */
        value->va_integer = profile == SIM_P910 || profile == SIM_P310P;
        return ACL_SUCCESS;
    default:
        return set_value(request, source, parameter, value);
    }
}

/* ---- types of the table ---- */

static aclError check_fixed(const struct sim_op_request *request, const struct sim_source *source)
{
    bool is_integer;
    double number;
    if (source->so_name == NULL || sim_op_attributes_find(&request->rq_attributes, source->so_name) == NULL)
        return ACL_SUCCESS;
    struct sim_source given = {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = source->so_name};
    SIM_TRY(sim_op_number(request, &given, &number, &is_integer));
    SIM_ARGUMENT(number == source->so_number, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s is %g, which the simulator does not support, expected %g", source->so_name,
                 request->rq_type, number, source->so_number);
    return ACL_SUCCESS;
}

static bool has_source(const struct sim_op_type *type, const char *name)
{
    for (size_t i = 0; i < SIM_OP_SOURCES; i++)
        if (type->ty_sources[i].so_name != NULL && strcmp(type->ty_sources[i].so_name, name) == 0)
            return true;
    return false;
}

static aclError refuse_attribute(const struct sim_op_request *request, const char *name)
{
    return sim_refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "%s has no attribute %s", request->rq_type, name);
}

static aclError bind_type(const struct binder *binder, const struct sim_op_type *type)
{
    const struct sim_op_request *request = binder->bn_request;
    const struct sim_attributes *attributes = &request->rq_attributes;
    uint32_t outputs = type->ty_outputs == 0 ? 1 : type->ty_outputs;
    if (outputs == SIM_OP_ANY_COUNT)
        outputs = request->rq_output_count != 0 ? request->rq_output_count : 1;
    SIM_ARGUMENT(request->rq_output_count == outputs, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "numOutputs is %u, expected %u for %s", request->rq_output_count, outputs, type->ty_name);
    for (size_t i = 0; i < attributes->as_count; i++)
        if (attributes->as_list[i].at_name[0] != '_' && !has_source(type, attributes->as_list[i].at_name))
            return refuse_attribute(request, attributes->as_list[i].at_name);
    if (type->ty_shape == SIM_SHAPE_EXACT || type->ty_shape == SIM_SHAPE_VIEWED)
        SIM_TRY(sim_op_check_view(request, type));
    struct sim_row *row = type->ty_row != NULL ? sim_row_find(type->ty_row) : sim_op_own_rows[type->ty_own];
    binder->bn_binding->bi_row = row;
    for (size_t i = 0; i < SIM_OP_SOURCES && type->ty_sources[i].so_kind != SIM_FROM_NOTHING; i++) {
        const struct sim_source *source = &type->ty_sources[i];
        if (source->so_kind == SIM_SOURCE_FIXED)
            SIM_TRY(check_fixed(request, source));
        else if (i < row->ro_count)
            SIM_TRY(set_argument(binder, source, i));
    }
    return ACL_SUCCESS;
}

/* ---- types with the name of a schema ---- */

/* Whether a schema has only tensors: otherwise its arguments differ from those of the type. */
static bool takes_tensors(const struct sim_row *row)
{
    for (size_t i = 0; i < row->ro_count; i++)
        if (row->ro_parameters[i].pa_kind != ACLSIM_TENSOR ||
            row->ro_parameters[i].pa_direction == (ACLSIM_IN | ACLSIM_OUT))
            return false;
    return true;
}

/* Whether the next input or output is given; fails if it is required and missing. */
static aclError next_tensor(const struct sim_op_request *request, const struct sim_parameter *parameter,
                            uint32_t place, bool *given)
{
    bool in = parameter->pa_direction == ACLSIM_IN;
    *given = in ? sim_op_has_input(request, place) : place < request->rq_output_count;
    SIM_ARGUMENT(*given || parameter->pa_optional, in ? ACL_ERROR_OP_INPUT_NOT_MATCH : ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "%s needs %s %u, %s, which is missing", request->rq_type, in ? "input" : "output", place,
                 parameter->pa_name);
    return ACL_SUCCESS;
}

/* Binds the tensors in their order. */
static aclError bind_row(const struct binder *binder)
{
    const struct sim_op_request *request = binder->bn_request;
    const struct sim_row *row = binder->bn_binding->bi_row;
    uint32_t inputs = 0, outputs = 0;
    for (size_t i = 0; i < request->rq_attributes.as_count; i++)
        if (request->rq_attributes.as_list[i].at_name[0] != '_')
            return refuse_attribute(request, request->rq_attributes.as_list[i].at_name);
    for (size_t i = 0; i < row->ro_count; i++) {
        const struct sim_parameter *parameter = &row->ro_parameters[i];
        bool in = (parameter->pa_direction & ACLSIM_IN) != 0, given;
        const struct sim_source source = {.so_kind = in ? SIM_FROM_INPUT : SIM_FROM_OUTPUT,
                                          .so_place = in ? inputs++ : outputs++};
        SIM_TRY(next_tensor(request, parameter, source.so_place, &given));
        if (given)
            SIM_TRY(set_argument(binder, &source, i));
    }
    SIM_ARGUMENT(request->rq_input_count <= inputs, ACL_ERROR_OP_INPUT_NOT_MATCH, "numInputs is %u, expected %u for %s",
                 request->rq_input_count, inputs, request->rq_type);
    SIM_ARGUMENT(request->rq_output_count <= outputs, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "numOutputs is %u, expected %u for %s", request->rq_output_count, outputs, request->rq_type);
    return ACL_SUCCESS;
}

static struct sim_row *find_row(const char *type)
{
    char name[128];
    if (strlen(type) > sizeof name - 8)
        return NULL;
    strcpy(name, "aclnn");
    return sim_row_find(strcat(name, type));
}

bool sim_op_is_pointwise(const char *type)
{
    const struct sim_row *row = find_row(type);
    return row != NULL && row->ro_builtin != NULL && row->ro_builtin->kn_plan != NULL && takes_tensors(row);
}

/* ---- all types ---- */

static aclError bind_user_type(const struct binder *binder)
{
    struct sim_op_binding *binding = binder->bn_binding;
    binding->bi_text = sim_op_attributes_json(&binder->bn_request->rq_attributes);
    SIM_ARGUMENT(binding->bi_text != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the attributes");
    binding->bi_values[SIM_USER_ATTRIBUTES].va_pointer = binding->bi_text;
    uint32_t inputs = binder->bn_request->rq_input_count, outputs = binder->bn_request->rq_output_count;
    SIM_TRY(make_list(binder->bn_request, 0, inputs, false, &binding->bi_values[SIM_USER_INPUTS]));
    return make_list(binder->bn_request, inputs, inputs + outputs, false, &binding->bi_values[SIM_USER_OUTPUTS]);
}

aclError sim_op_bind(const struct sim_op_request *request, struct sim_op_binding *binding)
{
    const struct binder binder = {request, binding};
    bool known;
    *binding = (struct sim_op_binding){.bi_row = sim_op_user_row(request->rq_type)};
    if (binding->bi_row != NULL)
        return bind_user_type(&binder);
    const struct sim_op_type *type = sim_op_type_find(request, &known);
    if (type != NULL)
        return bind_type(&binder, type);
    SIM_ARGUMENT(!known, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "numInputs is %u, of which %u are present, expected another number for %s", request->rq_input_count,
                 sim_op_present(request), request->rq_type);
    binding->bi_row = find_row(request->rq_type);
    SIM_ARGUMENT(binding->bi_row != NULL, ACL_ERROR_OP_NOT_FOUND,
                 "the simulator does not know operator %s: register a kernel for it with acl.sim.kernel(\"%s\") or "
                 "aclsimRegisterKernel", request->rq_type, request->rq_type);
    SIM_ARGUMENT(takes_tensors(binding->bi_row), ACL_ERROR_OP_NOT_FOUND,
                 "the simulator does not know the attributes of operator %s, which are not the arguments of aclnn%s: "
                 "register a kernel for it with acl.sim.kernel(\"%s\") or aclsimRegisterKernel", request->rq_type,
                 request->rq_type,
                 request->rq_type);
    return bind_row(&binder);
}

static void destroy_value(aclsimArgumentKind kind, const void *handle)
{
    struct sim_scalar *scalar;
    struct sim_array *array;
    struct sim_list *list;
    static const enum sim_array_kind arrays[] = {
        [ACLSIM_INTEGERS] = SIM_ARRAY_INTS, [ACLSIM_FLOATS] = SIM_ARRAY_FLOATS, [ACLSIM_BOOLEANS] = SIM_ARRAY_BOOLS};
    if (kind == ACLSIM_TENSOR)
        destroy_tensor(handle);
    else if (kind == ACLSIM_TENSOR_LIST && sim_tensor_list_open(handle, SIM_LIST_TENSORS, "list", &list) == ACL_SUCCESS)
        sim_tensor_list_destroy(list);
    else if (kind == ACLSIM_SCALAR && sim_tensor_scalar_open(handle, "scalar", &scalar) == ACL_SUCCESS)
        sim_tensor_scalar_destroy(scalar);
    else if (kind >= ACLSIM_INTEGERS && kind <= ACLSIM_BOOLEANS &&
             sim_tensor_array_open(handle, arrays[kind], "array", &array) == ACL_SUCCESS)
        sim_tensor_array_destroy(array);
}

void sim_op_unbind(struct sim_op_binding *binding)
{
    for (size_t i = 0; binding->bi_row != NULL && i < binding->bi_row->ro_count; i++)
        if (binding->bi_row->ro_parameters[i].pa_kind < ACLSIM_INTEGER && binding->bi_values[i].va_pointer != NULL)
            destroy_value(binding->bi_row->ro_parameters[i].pa_kind, binding->bi_values[i].va_pointer);
    free(binding->bi_text);
}
