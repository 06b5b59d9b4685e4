/* Entry points of tensor descriptions, data buffers and data types. */
#include "address/memory.h"
#include "operator/tensordesc.h"

/* Body of a getter: returns `expression`, which uses `found`, or `neutral` for an invalid handle. */
#define GET(object, open, handle, type, neutral, expression)                                                           \
    SIM_ENTER();                                                                                                       \
    object *found = open(handle);                                                                                      \
    if (found == NULL)                                                                                                 \
        return neutral;                                                                                                \
    type answer = expression;                                                                                          \
    sim_object_close(found);                                                                                           \
    return answer
#define GET_BUFFER(type, neutral, expression)                                                                          \
    GET(struct sim_data_buffer, sim_tensordesc_buffer_open, dataBuffer, type, neutral, expression)
#define GET_DESC(type, neutral, expression)                                                                            \
    GET(struct sim_tensor_desc, sim_tensordesc_open, desc, type, neutral, expression)

float aclFloat16ToFloat(aclFloat16 value)
{
    return sim_half_to_float(value);
}

aclFloat16 aclFloatToFloat16(float value)
{
    return sim_half_from_float(value);
}

/* The size of a type that is smaller than a byte is 1. */
size_t aclDataTypeSize(aclDataType dataType)
{
    return (sim_type_bits(dataType) + 7) / 8;
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
    SIM_ENTER();
    return sim_tensordesc_buffer_create(data, size);
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
    SIM_ENTER();
    struct sim_data_buffer *found = sim_tensordesc_buffer_open(dataBuffer);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_tensordesc_buffer_destroy(found);
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
    SIM_ENTER();
    struct sim_data_buffer *found = sim_tensordesc_buffer_open(dataBuffer);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    found->db_data = data;
    found->db_size = size;
    sim_object_close(found);
    return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
    GET_BUFFER(void *, NULL, found->db_data);
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
    GET_BUFFER(uint32_t, 0, (uint32_t)found->db_size);
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
    GET_BUFFER(size_t, 0, found->db_size);
}

static aclError check_dims(int64_t count, const int64_t *dims)
{
    SIM_ARGUMENT(count >= 0 && count <= SIM_DIMS_MAX, ACL_ERROR_INVALID_PARAM, "numDims is %lld, expected 0 to %d",
                 (long long)count, SIM_DIMS_MAX);
    SIM_ARGUMENT(count == 0 || dims != NULL, ACL_ERROR_INVALID_PARAM, "dims is NULL, expected %lld dimensions",
                 (long long)count);
    return ACL_SUCCESS;
}

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims, aclFormat format)
{
    SIM_ENTER();
    if (check_dims(numDims, dims) != ACL_SUCCESS)
        return NULL;
    return sim_tensordesc_create(dataType, dims, (size_t)numDims, format);
}

void aclDestroyTensorDesc(const aclTensorDesc *desc)
{
    SIM_ENTER();
    struct sim_tensor_desc *found = desc != NULL ? sim_tensordesc_open(desc) : NULL;
    if (found != NULL)
        sim_tensordesc_destroy(found);
}

/* ---- getters ---- */

aclDataType aclGetTensorDescType(const aclTensorDesc *desc)
{
    GET_DESC(aclDataType, ACL_DT_UNDEFINED, found->td_type);
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc)
{
    GET_DESC(aclFormat, ACL_FORMAT_UNDEFINED, found->td_format);
}

size_t aclGetTensorDescSize(const aclTensorDesc *desc)
{
    GET_DESC(size_t, 0, sim_tensordesc_bytes(found));
}

size_t aclGetTensorDescElementCount(const aclTensorDesc *desc)
{
    GET_DESC(size_t, 0, sim_tensordesc_elements(found));
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *desc)
{
    GET_DESC(size_t, 0, sim_tensordesc_has_rank(found) ? found->td_shape.nu_count : (size_t)ACL_UNKNOWN_RANK);
}

static aclError check_index(const struct sim_tensor_desc *desc, size_t index)
{
    SIM_ARGUMENT(sim_tensordesc_has_rank(desc), ACL_ERROR_INVALID_PARAM,
                 "desc has no known rank (ACL_UNKNOWN_RANK), so it has no dimension %zu", index);
    SIM_ARGUMENT(index < desc->td_shape.nu_count, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected less than %zu, the number of dimensions", index, desc->td_shape.nu_count);
    return ACL_SUCCESS;
}

int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index)
{
    GET_DESC(int64_t, -1, check_index(found, index) == ACL_SUCCESS ? found->td_shape.nu_values[index] : -1);
}

aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(dimSize);
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = check_index(found, index);
    if (code == ACL_SUCCESS)
        *dimSize = found->td_shape.nu_values[index];
    sim_object_close(found);
    return code;
}

/* Returns the range that was set; otherwise that of the dimension itself, [1, -1] if it is dynamic. */
aclError aclGetTensorDescDimRange(const aclTensorDesc *desc, size_t index, size_t dimRangeNum, int64_t *dimRange)
{
    SIM_ENTER();
    SIM_NOT_NULL(dimRange);
    SIM_ARGUMENT(dimRangeNum >= ACL_TENSOR_SHAPE_RANGE_NUM, ACL_ERROR_INVALID_PARAM,
                 "dimRangeNum is %zu, expected at least %d", dimRangeNum, ACL_TENSOR_SHAPE_RANGE_NUM);
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = check_index(found, index);
    if (code == ACL_SUCCESS) {
        int64_t dim = found->td_shape.nu_values[index];
        bool is_set = 2 * index + 1 < found->td_shape_range.nu_count;
        const int64_t *range = is_set ? &found->td_shape_range.nu_values[2 * index] : NULL;
        dimRange[0] = is_set ? range[0] : dim < 0 ? 1 : dim;
        dimRange[1] = is_set ? range[1] : dim;
    }
    sim_object_close(found);
    return code;
}

/* The text is valid until the name is set again or the description is destroyed. */
const char *aclGetTensorDescName(aclTensorDesc *desc)
{
    GET_DESC(const char *, "", found->td_name != NULL ? found->td_name : "");
}

/* Descriptions from a model are arrays. A description that the program created is an array of one: itself. */
aclTensorDesc *aclGetTensorDescByIndex(aclTensorDesc *desc, size_t index)
{
    SIM_ENTER();
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return NULL;
    sim_object_close(found);
    if (index != 0)
        sim_refuse(ACL_ERROR_INVALID_PARAM, "index is %zu, expected 0: desc describes one tensor", index);
    return index == 0 ? desc : NULL;
}

/* Only descriptions from a model have an address. */
void *aclGetTensorDescAddress(const aclTensorDesc *desc)
{
    GET_DESC(void *, NULL, NULL);
}

/* ---- setters ---- */

void aclSetTensorDescName(aclTensorDesc *desc, const char *name)
{
    SIM_ENTER();
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return;
    if (name != NULL)
        sim_tensordesc_set_text(&found->td_name, name);
    else
        sim_refuse(ACL_ERROR_INVALID_PARAM, "name is NULL, expected a string");
    sim_object_close(found);
}

aclError aclSetTensorDynamicInput(aclTensorDesc *desc, const char *dynamicInputName)
{
    SIM_ENTER();
    SIM_NOT_NULL(dynamicInputName);
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_tensordesc_set_text(&found->td_dynamic_input, dynamicInputName);
    sim_object_close(found);
    return code;
}

/* Sets the list of numbers at byte `offset` of the description. */
static aclError set_numbers(aclTensorDesc *desc, size_t offset, const int64_t *values, size_t count)
{
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_tensordesc_numbers_set((struct sim_numbers *)((char *)found + offset), values, count);
    sim_object_close(found);
    return code;
}

aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount, int64_t dimsRange[][2])
{
    SIM_ENTER();
    SIM_NOT_NULL(dimsRange);
    SIM_ARGUMENT(dimsCount <= SIM_DIMS_MAX, ACL_ERROR_INVALID_PARAM, "dimsCount is %zu, expected at most %d", dimsCount,
                 SIM_DIMS_MAX);
    return set_numbers(desc, offsetof(struct sim_tensor_desc, td_shape_range), *dimsRange, 2 * dimsCount);
}

aclError aclSetTensorValueRange(aclTensorDesc *desc, size_t valueCount, int64_t valueRange[][2])
{
    SIM_ENTER();
    SIM_NOT_NULL(valueRange);
    SIM_ARGUMENT(valueCount <= SIM_VALUES_MAX, ACL_ERROR_INVALID_PARAM, "valueCount is %zu, expected at most %d",
                 valueCount, SIM_VALUES_MAX);
    return set_numbers(desc, offsetof(struct sim_tensor_desc, td_value_range), *valueRange, 2 * valueCount);
}

aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    SIM_ENTER();
    SIM_TRY(check_dims(numDims, dims));
    return set_numbers(desc, offsetof(struct sim_tensor_desc, td_storage_shape), dims, (size_t)numDims);
}

/* The new name of aclSetTensorStorageShape. */
aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    SIM_ENTER();
    SIM_TRY(check_dims(numDims, dims));
    return set_numbers(desc, offsetof(struct sim_tensor_desc, td_storage_shape), dims, (size_t)numDims);
}

aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims, const int64_t *dims)
{
    SIM_ENTER();
    SIM_TRY(check_dims(numDims, dims));
    return set_numbers(desc, offsetof(struct sim_tensor_desc, td_origin_shape), dims, (size_t)numDims);
}

static aclError set_format(aclTensorDesc *desc, size_t offset, aclFormat format)
{
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *(aclFormat *)((char *)found + offset) = format;
    sim_object_close(found);
    return ACL_SUCCESS;
}

aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format)
{
    SIM_ENTER();
    return set_format(desc, offsetof(struct sim_tensor_desc, td_storage_format), format);
}

/* The new name of aclSetTensorStorageFormat. */
aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format)
{
    SIM_ENTER();
    return set_format(desc, offsetof(struct sim_tensor_desc, td_storage_format), format);
}

aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format)
{
    SIM_ENTER();
    return set_format(desc, offsetof(struct sim_tensor_desc, td_origin_format), format);
}

aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataBuffer);
    SIM_ARGUMENT(length != 0, ACL_ERROR_INVALID_PARAM, "length is 0, expected the size of dataBuffer in bytes");
    SIM_ARGUMENT(sim_memory_is_host(dataBuffer), ACL_ERROR_INVALID_PARAM,
                 "dataBuffer is %p, which is device memory, expected host memory", dataBuffer);
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_tensordesc_set_constant(found, dataBuffer, length);
    sim_object_close(found);
    return code;
}

aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType)
{
    SIM_ENTER();
    SIM_ARGUMENT((uint32_t)memType <= ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT, ACL_ERROR_INVALID_PARAM,
                 "memType is %d, expected 0 to %d", memType, ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT);
    struct sim_tensor_desc *found = sim_tensordesc_open(desc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    found->td_placement = memType;
    sim_object_close(found);
    return ACL_SUCCESS;
}

/* Reserved by the vendor: documented as not supported. */
aclError aclTransTensorDescFormat(const aclTensorDesc *srcDesc, aclFormat dstFormat, aclTensorDesc **dstDesc)
{
    SIM_ENTER();
    SIM_NOT_NULL(srcDesc);
    SIM_NOT_NULL(dstDesc);
    return sim_refuse(ACL_ERROR_API_NOT_SUPPORT,
                      "it is reserved, in the vendor's library too (dstFormat is %d); use aclCreateTensorDesc",
                      dstFormat);
}
