/* Data buffers and tensor descriptions, data types and half floats. */

#define ACL_TENSOR_SHAPE_RANGE_NUM 2
#define ACL_TENSOR_VALUE_RANGE_NUM 2
#define ACL_UNKNOWN_RANK -2

typedef enum aclMemType {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2,
} aclMemType;

/** Create a data buffer that refers to memory of the program.
 *  acl.create_data_buffer(data, size) -> value */
ACL_API(8, 1) aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);

/** Destroy a data buffer, but not its memory.
 *  acl.destroy_data_buffer(dataBuffer) -> ret */
ACL_API(8, 1) aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer);

/** Make a data buffer refer to other memory.
 *  acl.update_data_buffer(dataBuffer, data, size) -> ret */
ACL_API(8, 1) aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size);

/** The memory that a data buffer refers to.
 *  acl.get_data_buffer_addr(dataBuffer) -> value */
ACL_API(8, 1) void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer);

/** Deprecated: use aclGetDataBufferSizeV2. Bytes of a data buffer, truncated to 32 bits.
 *  acl.get_data_buffer_size(dataBuffer) -> value */
ACL_API(8, 1) uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer);

/** Bytes of a data buffer.
 *  acl.get_data_buffer_size_v2(dataBuffer) -> value */
ACL_API(8, 1) size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer);

/** Bytes of one element of a data type, 0 for an unknown one.
 *  acl.data_type_size(dataType) -> value */
ACL_API(8, 1) size_t aclDataTypeSize(aclDataType dataType);

/** Convert a half float to a float.
 *  acl.float16_to_float(value) -> value */
ACL_API(8, 1) float aclFloat16ToFloat(aclFloat16 value);

/** Convert a float to a half float.
 *  acl.float_to_float16(value) -> value */
ACL_API(8, 1) aclFloat16 aclFloatToFloat16(float value);

/** Create a tensor description.
 *  acl.create_tensor_desc(dataType, dims:[int]#numDims, format) -> value */
ACL_API(8, 1) aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims,
    aclFormat format);

/** Destroy a tensor description.
 *  acl.destroy_tensor_desc(desc) -> None */
ACL_API(8, 1) void aclDestroyTensorDesc(const aclTensorDesc *desc);

/** The data type of a tensor.
 *  acl.get_tensor_desc_type(desc) -> value */
ACL_API(8, 1) aclDataType aclGetTensorDescType(const aclTensorDesc *desc);

/** The format of a tensor.
 *  acl.get_tensor_desc_format(desc) -> value */
ACL_API(8, 1) aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc);

/** Bytes that a tensor of this description takes; 0 if a dimension is dynamic.
 *  acl.get_tensor_desc_size(desc) -> value */
ACL_API(8, 1) size_t aclGetTensorDescSize(const aclTensorDesc *desc);

/** Number of elements of a tensor.
 *  acl.get_tensor_desc_element_count(desc) -> value */
ACL_API(8, 1) size_t aclGetTensorDescElementCount(const aclTensorDesc *desc);

/** Number of dimensions of a tensor.
 *  acl.get_tensor_desc_num_dims(desc) -> value */
ACL_API(8, 1) size_t aclGetTensorDescNumDims(const aclTensorDesc *desc);

/** Deprecated: use aclGetTensorDescDimV2. One dimension of a tensor, -1 for a wrong index.
 *  acl.get_tensor_desc_dim(desc, index) -> value */
ACL_API(8, 1) int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index);

/** One dimension of a tensor.
 *  acl.get_tensor_desc_dim_v2(desc, index) -> (dimSize, ret) */
ACL_API(8, 1) aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize);

/** The range of one dynamic dimension of a tensor.
 *  acl.get_tensor_desc_dim_range(desc, index, dimRangeNum) -> (dimRange:[int]#dimRangeNum, ret) @py */
ACL_API(8, 1) aclError aclGetTensorDescDimRange(const aclTensorDesc *desc, size_t index, size_t dimRangeNum,
    int64_t *dimRange);

/** Set the range of each dimension of a tensor.
 *  acl.set_tensor_shape_range(desc, dimsRange:[[int]]#dimsCount) -> ret */
ACL_API(8, 1) aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount, int64_t dimsRange[][2]);

/** Set the ranges of a tensor's values.
 *  acl.set_tensor_value_range(desc, valueRange:[[int]]#valueCount) -> ret */
ACL_API(8, 1) aclError aclSetTensorValueRange(aclTensorDesc *desc, size_t valueCount, int64_t valueRange[][2]);

/** Name a tensor.
 *  acl.set_tensor_desc_name(desc, name:str) -> None */
ACL_API(8, 1) void aclSetTensorDescName(aclTensorDesc *desc, const char *name);

/** The name of a tensor.
 *  acl.get_tensor_desc_name(desc) -> value */
ACL_API(8, 1) const char *aclGetTensorDescName(aclTensorDesc *desc);

/** Set the format in which a tensor is stored.
 *  acl.set_tensor_format(desc, format) -> ret */
ACL_API(8, 1) aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format);

/** Set the shape in which a tensor is stored.
 *  acl.set_tensor_shape(desc, dims:[int]#numDims) -> ret */
ACL_API(8, 1) aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims);

/** Set the format of a tensor before it was rearranged.
 *  acl.set_tensor_origin_format(desc, format) -> ret */
ACL_API(8, 1) aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format);

/** Set the shape of a tensor before it was rearranged.
 *  acl.set_tensor_origin_shape(desc, dims:[int]#numDims) -> ret */
ACL_API(8, 1) aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims, const int64_t *dims);

/** Deprecated: use aclSetTensorFormat. Set the format in which a tensor is stored.
 *  acl.set_tensor_storage_format(desc, format) -> ret */
ACL_API(8, 1) aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format);

/** Deprecated: use aclSetTensorShape. Set the shape in which a tensor is stored.
 *  acl.set_tensor_storage_shape(desc, dims:[int]#numDims) -> ret */
ACL_API(8, 1) aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims, const int64_t *dims);

/** Create the description that a tensor has in another format.
 *  acl.trans_tensor_desc_format(srcDesc, dstFormat) -> (dstDesc, ret) */
ACL_API(8, 1) aclError aclTransTensorDescFormat(const aclTensorDesc *srcDesc, aclFormat dstFormat,
    aclTensorDesc **dstDesc);

/** The description at an index of an array of descriptions.
 *  acl.get_tensor_desc_by_index(desc, index) -> value */
ACL_API(8, 1) aclTensorDesc *aclGetTensorDescByIndex(aclTensorDesc *desc, size_t index);

/** The data address kept in a tensor description.
 *  acl.get_tensor_desc_address(desc) -> value */
ACL_API(8, 1) void *aclGetTensorDescAddress(const aclTensorDesc *desc);

/** Name the dynamic input that a tensor belongs to.
 *  acl.set_tensor_dynamic_input(desc, dynamicInputName:str) -> ret */
ACL_API(8, 1) aclError aclSetTensorDynamicInput(aclTensorDesc *desc, const char *dynamicInputName);

/** Mark a tensor as constant, with its value in host memory.
 *  acl.set_tensor_const(desc, dataBuffer, length) -> ret */
ACL_API(8, 1) aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length);

/** Set whether a tensor's data is in device or host memory.
 *  acl.set_tensor_place_ment(desc, memType) -> ret */
ACL_API(8, 1) aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType);
