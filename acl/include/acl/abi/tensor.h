/* Arguments of aclnn operators: tensors, scalars, arrays, lists, and reusable executors. */

typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

/** Prepare operator execution; the path of a configuration file may be NULL. */
ACL_API(8, 1) aclnnStatus aclnnInit(const char *configPath);

/** End operator execution. */
ACL_API(8, 1) aclnnStatus aclnnFinalize(void);

/** Create a tensor: a view with strides and offset on storage in device memory.
 *  acl.create_tensor(viewDims:[int]#viewDimsNum, dataType, stride:[int]#viewDimsNum, offset, format,
 *      storageDims:[int]#storageDimsNum, tensorData) -> value @extension */
ACL_API(8, 1) aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
    const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
    void *tensorData);

/** Give an existing tensor new properties and data. */
ACL_API(8, 1) aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
    aclDataType dataType, const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
    uint64_t storageDimsNum, void *tensorDataAddr);

/** Destroy a tensor, but not its data.
 *  acl.destroy_tensor(tensor) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyTensor(const aclTensor *tensor);

/** The view's dimensions, in an array that the caller deletes; operators that find the size of an output change it.
 *  acl.get_view_shape(tensor) -> (viewDims:[int]#viewDimsNum, ret) @py @extension */
ACL_API(8, 1) aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum);

/** The storage's dimensions, in an array that the caller deletes. */
ACL_API(8, 1) aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum);

/** The view's strides, in an array that the caller deletes. */
ACL_API(8, 1) aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum);

/** The view's offset in elements. */
ACL_API(8, 1) aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);

/** The format of a tensor. */
ACL_API(8, 1) aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);

/** The data type of a tensor. */
ACL_API(8, 1) aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);

/** Set the data address of a tensor.
 *  acl.set_raw_tensor_addr(tensor, addr) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);

/** The data address of a tensor.
 *  acl.get_raw_tensor_addr(tensor) -> (addr, ret) @extension */
ACL_API(8, 1) aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);

/** Create a scalar from a value in host memory.
 *  acl.create_scalar(value, dataType) -> value @extension */
ACL_API(8, 1) aclScalar *aclCreateScalar(void *value, aclDataType dataType);

/** Destroy a scalar.
 *  acl.destroy_scalar(scalar) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyScalar(const aclScalar *scalar);

/** Create an array of 64-bit integers.
 *  acl.create_int_array(value:[int]#size) -> value @extension */
ACL_API(8, 1) aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);

/** Number of elements of an integer array. */
ACL_API(8, 1) aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);

/** Destroy an integer array.
 *  acl.destroy_int_array(array) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyIntArray(const aclIntArray *array);

/** Create an array of floats.
 *  acl.create_float_array(value:[float]#size) -> value @extension */
ACL_API(8, 1) aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);

/** Number of elements of a float array. */
ACL_API(8, 1) aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);

/** Destroy a float array.
 *  acl.destroy_float_array(array) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);

/** Create an array of booleans.
 *  acl.create_bool_array(value:[int]#size) -> value @extension */
ACL_API(8, 1) aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);

/** Number of elements of a boolean array. */
ACL_API(8, 1) aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);

/** Destroy a boolean array.
 *  acl.destroy_bool_array(array) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);

/** Create a list of tensors, which belong to it from then on.
 *  acl.create_tensor_list(value:[int]#size) -> value @extension */
ACL_API(8, 1) aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size);

/** Number of tensors in a list. */
ACL_API(8, 1) aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size);

/** Destroy a list and its tensors.
 *  acl.destroy_tensor_list(array) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyTensorList(const aclTensorList *array);

/** Create a list of scalars, which belong to it from then on.
 *  acl.create_scalar_list(value:[int]#size) -> value @extension */
ACL_API(8, 1) aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size);

/** Number of scalars in a list. */
ACL_API(8, 1) aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size);

/** Destroy a list and its scalars.
 *  acl.destroy_scalar_list(array) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyScalarList(const aclScalarList *array);

/** Make an executor reusable; the caller must then destroy it.
 *  acl.set_acl_op_executor_repeatable(executor) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);

/** Destroy a repeatable executor.
 *  acl.destroy_acl_op_executor(executor) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);

/** Set the data address of one input tensor of a repeatable executor.
 *  acl.set_input_tensor_addr(executor, index, tensor, addr) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
    void *addr);

/** Set the data address of one output tensor of a repeatable executor.
 *  acl.set_output_tensor_addr(executor, index, tensor, addr) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
    void *addr);

/** Set the data address of one tensor of an input list of a repeatable executor. */
ACL_API(8, 1) aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
    const size_t relativeIndex, aclTensorList *tensors, void *addr);

/** Set the data address of one tensor of an output list of a repeatable executor. */
ACL_API(8, 1) aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
    const size_t relativeIndex, aclTensorList *tensors, void *addr);

/** Set the data address of one tensor, input or output, of a repeatable executor.
 *  acl.set_tensor_addr(executor, index, tensor, addr) -> ret @extension */
ACL_API(8, 1) aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);

/** Set the data address of one tensor of a list, input or output, of a repeatable executor. */
ACL_API(8, 1) aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
    aclTensorList *tensors, void *addr);

/** Older spelling of aclSetInputTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
    void *addr);

/** Older spelling of aclSetOutputTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
    void *addr);

/** Older spelling of aclSetDynamicInputTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
    const size_t relativeIndex, aclTensorList *tensors, void *addr);

/** Older spelling of aclSetDynamicOutputTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
    const size_t relativeIndex, aclTensorList *tensors, void *addr);

/** Older spelling of aclSetTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);

/** Older spelling of aclSetDynamicTensorAddr. */
ACL_API(8, 1) aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
    aclTensorList *tensors, void *addr);
