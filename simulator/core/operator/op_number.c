/* Reads the numbers of a single operator: constant inputs and attributes. This file has no state and no lock. */
#include "op_type.h"

#include "address/memory.h"
#include "base/type.h"

bool sim_op_has_input(const struct sim_op_request *request, uint32_t place)
{
    return place < request->rq_input_count && request->rq_tensors[place].ot_type != ACL_DT_UNDEFINED;
}

uint32_t sim_op_present(const struct sim_op_request *request)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < request->rq_input_count; i++)
        count += sim_op_has_input(request, i);
    return count;
}

bool sim_op_is_set(const struct sim_op_request *request, const char *name)
{
    const struct sim_attribute *found = name != NULL ? sim_op_attributes_find(&request->rq_attributes, name) : NULL;
    return found != NULL && found->at_kind == SIM_ATTRIBUTE_INTEGER && found->at_integer != 0;
}

static aclError refuse_kind(const struct sim_op_request *request, const char *name, const char *expected)
{
    return sim_refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s has another type, expected %s", name,
                      request->rq_type, expected);
}

aclError sim_op_host_bytes(const struct sim_op_request *request, uint32_t place, const void **bytes, size_t *size)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    *bytes = tensor->ot_constant;
    *size = tensor->ot_constant_size;
    if (*size != 0 || tensor->ot_placement == ACL_MEMTYPE_DEVICE || tensor->ot_data == NULL)
        return ACL_SUCCESS;
    struct sim_place found;
    sim_memory_locate(tensor->ot_data, &found);
    SIM_ARGUMENT(!sim_memory_is_low(&found, tensor->ot_data), ACL_ERROR_INVALID_PARAM,
                 "inputs[%u] lies at %p, expected an address of host memory, which is never below 64 KiB", place,
                 tensor->ot_data);
    SIM_ARGUMENT(sim_memory_is_host(tensor->ot_data), ACL_ERROR_INVALID_PARAM,
                 "inputs[%u] is placed in host memory and lies at %p, in device memory", place, tensor->ot_data);
    *bytes = tensor->ot_data;
    *size = tensor->ot_size;
    return ACL_SUCCESS;
}

/* Reads the integers of a constant, or of a buffer in host memory. */
aclError sim_op_input_numbers(const struct sim_op_request *request, uint32_t place, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    const void *bytes;
    size_t size, width = tensor->ot_type == ACL_INT32 ? sizeof(int32_t) : sizeof(int64_t);
    *count = 0;
    if (tensor->ot_bytes == 0 && !tensor->ot_open && tensor->ot_type != ACL_DT_UNDEFINED)
        return ACL_SUCCESS; /* an empty list needs no memory */
    SIM_TRY(sim_op_host_bytes(request, place, &bytes, &size));
    SIM_ARGUMENT(size != 0, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s is not a constant, expected aclSetTensorConst or aclSetTensorPlaceMent for host "
                 "memory", place, request->rq_type);
    SIM_ARGUMENT(tensor->ot_type == ACL_INT32 || tensor->ot_type == ACL_INT64, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s has data type %d, expected ACL_INT32 (3) or ACL_INT64 (9)", place, request->rq_type,
                 (int)tensor->ot_type);
    SIM_ARGUMENT(tensor->ot_bytes <= size && tensor->ot_bytes / width <= SIM_DIMS_MAX, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s has %llu bytes, of which %zu are available, expected all of them and at most %d "
                 "numbers", place,
                 request->rq_type, (unsigned long long)tensor->ot_bytes, size, SIM_DIMS_MAX);
    *count = (uint32_t)(tensor->ot_bytes / width);
    for (uint32_t i = 0; i < *count; i++)
        if (width == sizeof(int64_t)) {
            memcpy(&numbers[i], (const char *)bytes + i * width, width);
        } else {
            int32_t narrow;
            memcpy(&narrow, (const char *)bytes + i * width, width);
            numbers[i] = narrow;
        }
    return ACL_SUCCESS;
}

aclError sim_op_numbers(const struct sim_op_request *request, const struct sim_source *source, int64_t *numbers,
                        uint32_t *count)
{
    *count = 1;
    if (source->so_kind == SIM_FROM_DERIVED)
        return source->so_derive(request, numbers, count);
    if (source->so_kind == SIM_FROM_NUMBERS)
        return sim_op_input_numbers(request, source->so_place, numbers, count);
    const struct sim_attribute *found =
        source->so_name != NULL ? sim_op_attributes_find(&request->rq_attributes, source->so_name) : NULL;
    if (found == NULL) {
        SIM_ARGUMENT(!source->so_needed, ACL_ERROR_OP_ATTR_NOT_MATCH, "%s needs attribute %s, which is missing",
                     request->rq_type, source->so_name);
        *numbers = (int64_t)source->so_number;
        return ACL_SUCCESS;
    }
    if (found->at_kind == SIM_ATTRIBUTE_INTEGER) {
        *numbers = found->at_integer;
        return ACL_SUCCESS;
    }
    if (found->at_kind != SIM_ATTRIBUTE_INTEGERS || found->at_count > SIM_DIMS_MAX)
        return refuse_kind(request, source->so_name, "an integer or a list of at most 128");
    *count = (uint32_t)found->at_count;
    memcpy(numbers, found->at_values, found->at_count * sizeof *numbers);
    return ACL_SUCCESS;
}

static bool is_fraction(aclDataType type)
{
    return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
}

/* Reads a constant of one number with a fraction. */
static aclError input_fraction(const struct sim_op_request *request, uint32_t place, double *number)
{
    const struct sim_op_tensor *tensor = &request->rq_tensors[place];
    const void *bytes;
    size_t size, width = tensor->ot_type == ACL_FLOAT ? sizeof(float) : sizeof(uint16_t);
    uint16_t half;
    float single;
    SIM_TRY(sim_op_host_bytes(request, place, &bytes, &size));
    SIM_ARGUMENT(tensor->ot_bytes == width && size >= width, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s is not a constant of one number, expected aclSetTensorConst or "
                 "aclSetTensorPlaceMent for host memory", place, request->rq_type);
    memcpy(width == sizeof single ? (void *)&single : (void *)&half, bytes, width);
    if (tensor->ot_type == ACL_FLOAT16)
        single = sim_half_to_float(half);
    else if (tensor->ot_type == ACL_BF16)
        single = sim_float_of_bits((uint32_t)half << 16);
    *number = single;
    return ACL_SUCCESS;
}

aclError sim_op_number(const struct sim_op_request *request, const struct sim_source *source, double *number,
                            bool *is_integer)
{
    const struct sim_attribute *found =
        source->so_kind == SIM_FROM_ATTRIBUTE ? sim_op_attributes_find(&request->rq_attributes, source->so_name) : NULL;
    *is_integer = false;
    if (found != NULL && found->at_kind == SIM_ATTRIBUTE_NUMBER) {
        *number = found->at_number;
        return ACL_SUCCESS;
    }
    bool missing = found == NULL && source->so_kind == SIM_FROM_ATTRIBUTE && !source->so_needed;
    if (missing || source->so_kind == SIM_FROM_NUMBER) { /* may have a fraction */
        *number = source->so_number;
        *is_integer = *number == (double)(int64_t)*number;
        return ACL_SUCCESS;
    }
    if (source->so_kind == SIM_FROM_NUMBERS && is_fraction(request->rq_tensors[source->so_place].ot_type))
        return input_fraction(request, source->so_place, number);
    if (source->so_kind == SIM_FROM_INVERSE) {
        const struct sim_source of = {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = source->so_name,
                                      .so_number = source->so_number};
        SIM_TRY(sim_op_number(request, &of, number, is_integer));
        *number = 1 / *number;
        *is_integer = false;
        return ACL_SUCCESS;
    }
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    *is_integer = true;
    SIM_TRY(sim_op_numbers(request, source, numbers, &count));
    if (count != 1)
        return refuse_kind(request, source->so_name, "one number");
    *number = (double)*numbers;
    return ACL_SUCCESS;
}

aclError sim_op_values(const struct sim_op_request *request, const char *name, enum sim_attribute_kind kind,
                       const struct sim_attribute **found)
{
    *found = sim_op_attributes_find(&request->rq_attributes, name);
    SIM_ARGUMENT(*found != NULL, ACL_ERROR_OP_ATTR_NOT_MATCH, "%s needs attribute %s, which is missing",
                 request->rq_type, name);
    return (*found)->at_kind == kind ? ACL_SUCCESS
                                     : refuse_kind(request, name, kind == SIM_ATTRIBUTE_TEXT ? "a string" : "a list");
}
