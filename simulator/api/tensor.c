/* Entry points of tensors, scalars, arrays and lists. */
#include "address/memory.h"
#include "operator/tensor.h"

#include <stdlib.h>
#include <string.h>

/* Programs call aclnnInit before their first operator and aclnnFinalize after the last; there is nothing to prepare. */
aclnnStatus aclnnInit(const char *configPath)
{
    SIM_ENTER();
    (void)configPath;
    return ACL_SUCCESS;
}

aclnnStatus aclnnFinalize(void)
{
    SIM_ENTER();
    return ACL_SUCCESS;
}

static aclnnStatus check_values(const void *values, const char *name, uint64_t count, uint64_t most)
{
    SIM_ARGUMENT(count <= most, ACLNN_ERR_PARAM_INVALID, "%s has %llu elements, expected at most %llu", name,
                 (unsigned long long)count, (unsigned long long)most);
    SIM_ARGUMENT(count == 0 || values != NULL, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected %llu elements", name,
                 (unsigned long long)count);
    return ACL_SUCCESS;
}

static aclnnStatus check_pattern(const struct sim_pattern *pattern)
{
    SIM_TRY(check_values(pattern->pt_dims, "viewDims", pattern->pt_rank, SIM_DIMS_MAX));
    return check_values(pattern->pt_storage, "storageDims", pattern->pt_storage_rank, SIM_DIMS_MAX);
}

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
                           int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                           void *tensorData)
{
    SIM_ENTER();
    struct sim_pattern pattern = {viewDims, stride, storageDims, viewDimsNum, storageDimsNum, dataType, format, offset,
                                  tensorData};
    return check_pattern(&pattern) == ACL_SUCCESS ? sim_tensor_create(&pattern) : NULL;
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
                          uint64_t storageDimsNum, void *tensorDataAddr)
{
    SIM_ENTER();
    struct sim_tensor *found;
    struct sim_pattern pattern = {viewDims, stride, storageDims, viewDimsNum, storageDimsNum, dataType, format, offset,
                                  tensorDataAddr};
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    aclnnStatus code = check_pattern(&pattern);
    if (code == ACL_SUCCESS)
        code = sim_tensor_set(found, &pattern);
    sim_object_close(found);
    return code;
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    SIM_ENTER();
    struct sim_tensor *found;
    if (tensor == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    sim_tensor_destroy(found);
    return ACL_SUCCESS;
}

#define NOT_NULL(pointer)                                                                                              \
    SIM_ARGUMENT((pointer) != NULL, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a valid pointer", #pointer)

/* Programs free these with delete[], which ends in free. */
static aclnnStatus give_numbers(struct sim_tensor *tensor, const int64_t *numbers, uint64_t count, int64_t **copy,
                                uint64_t *length)
{
    int64_t *made = malloc((count + 1) * sizeof *made);
    if (made != NULL) {
        memcpy(made, numbers, count * sizeof *made);
        *copy = made;
        *length = count;
    }
    sim_object_close(tensor);
    SIM_ARGUMENT(made != NULL, ACLNN_ERR_INNER, "there is no memory for %llu numbers", (unsigned long long)count);
    return ACL_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    SIM_ENTER();
    struct sim_tensor *found;
    NOT_NULL(viewDims);
    NOT_NULL(viewDimsNum);
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    return give_numbers(found, sim_tensor_dims(found), found->te_rank, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum)
{
    SIM_ENTER();
    struct sim_tensor *found;
    NOT_NULL(storageDims);
    NOT_NULL(storageDimsNum);
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    return give_numbers(found, sim_tensor_storage(found), found->te_storage_rank, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum)
{
    SIM_ENTER();
    struct sim_tensor *found;
    NOT_NULL(stridesValue);
    NOT_NULL(stridesNum);
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    return give_numbers(found, sim_tensor_strides(found), found->te_rank, stridesValue, stridesNum);
}

/* Body of a getter of one property of an object. */
#define GET(object, open, handle, target, expression)                                                                  \
    SIM_ENTER();                                                                                                       \
    object *found;                                                                                                     \
    NOT_NULL(target);                                                                                                  \
    SIM_TRY(open);                                                                                                     \
    *(target) = expression;                                                                                            \
    sim_object_close(found);                                                                                           \
    return ACL_SUCCESS

#define GET_TENSOR(target, expression)                                                                                 \
    GET(struct sim_tensor, sim_tensor_open(tensor, "tensor", &found), tensor, target, expression)
#define GET_ARRAY(kind)                                                                                                \
    GET(struct sim_array, sim_tensor_array_open(array, kind, "array", &found), array, size, found->ar_count)
#define GET_LIST(list, kind)                                                                                           \
    GET(struct sim_list, sim_tensor_list_open(list, kind, #list, &found), list, size, found->li_count)

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    GET_TENSOR(offset, found->te_offset);
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    GET_TENSOR(format, found->te_format);
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    GET_TENSOR(dataType, found->te_type);
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr)
{
    GET_TENSOR(addr, found->te_data);
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr)
{
    SIM_ENTER();
    struct sim_tensor *found;
    SIM_TRY(sim_tensor_open(tensor, "tensor", &found));
    found->te_data = addr;
    sim_object_close(found);
    return ACL_SUCCESS;
}

/* ---- scalars, arrays, lists ---- */

static aclnnStatus check_readable(const void *value)
{
    struct sim_place place;
    NOT_NULL(value);
    sim_memory_locate(value, &place);
    SIM_ARGUMENT(sim_memory_is_host(value), ACLNN_ERR_PARAM_INVALID,
                 "value is %p, which is %s, expected an address in host memory", value, sim_memory_describe(&place));
    return ACL_SUCCESS;
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    SIM_ENTER();
    return check_readable(value) == ACL_SUCCESS ? sim_tensor_scalar_create(value, dataType) : NULL;
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    SIM_ENTER();
    struct sim_scalar *found;
    if (scalar == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_tensor_scalar_open(scalar, "scalar", &found));
    sim_tensor_scalar_destroy(found);
    return ACL_SUCCESS;
}

static void *create_array(enum sim_array_kind kind, const void *values, uint64_t count)
{
    return check_values(values, "value", count, SIM_VALUES_MAX) == ACL_SUCCESS
               ? sim_tensor_array_create(kind, values, count)
               : NULL;
}

static aclnnStatus destroy_array(enum sim_array_kind kind, const void *array)
{
    struct sim_array *found;
    if (array == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_tensor_array_open(array, kind, "array", &found));
    sim_tensor_array_destroy(found);
    return ACL_SUCCESS;
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    SIM_ENTER();
    return create_array(SIM_ARRAY_INTS, value, size);
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size)
{
    GET_ARRAY(SIM_ARRAY_INTS);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    SIM_ENTER();
    return destroy_array(SIM_ARRAY_INTS, array);
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    SIM_ENTER();
    return create_array(SIM_ARRAY_FLOATS, value, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size)
{
    GET_ARRAY(SIM_ARRAY_FLOATS);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    SIM_ENTER();
    return destroy_array(SIM_ARRAY_FLOATS, array);
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    SIM_ENTER();
    return create_array(SIM_ARRAY_BOOLS, value, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size)
{
    GET_ARRAY(SIM_ARRAY_BOOLS);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    SIM_ENTER();
    return destroy_array(SIM_ARRAY_BOOLS, array);
}

static void *create_list(enum sim_list_kind kind, const void *const *members, uint64_t count)
{
    return check_values(members, "value", count, SIM_VALUES_MAX) == ACL_SUCCESS
               ? sim_tensor_list_create(kind, members, count)
               : NULL;
}

static aclnnStatus destroy_list(enum sim_list_kind kind, const void *list)
{
    struct sim_list *found;
    if (list == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_tensor_list_open(list, kind, "array", &found));
    sim_tensor_list_destroy(found);
    return ACL_SUCCESS;
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    SIM_ENTER();
    return create_list(SIM_LIST_TENSORS, (const void *const *)value, size);
}

aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size)
{
    GET_LIST(tensorList, SIM_LIST_TENSORS);
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    SIM_ENTER();
    return destroy_list(SIM_LIST_TENSORS, array);
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size)
{
    SIM_ENTER();
    return create_list(SIM_LIST_SCALARS, (const void *const *)value, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size)
{
    GET_LIST(scalarList, SIM_LIST_SCALARS);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array)
{
    SIM_ENTER();
    return destroy_list(SIM_LIST_SCALARS, array);
}
