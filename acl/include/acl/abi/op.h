/* Single operators by name: attributes, execution, handles, custom kernels, compilation. */

#define ACL_COMPILE_FLAG_BIN_SELECTOR 1

typedef struct aclopKernelDesc aclopKernelDesc;

typedef enum aclCompileType {
    ACL_COMPILE_SYS = 0,
    ACL_COMPILE_UNREGISTERED = 1,
} aclopCompileType;

typedef enum aclCompileOpt {
    ACL_PRECISION_MODE = 0,
    ACL_AICORE_NUM = 1,
    ACL_AUTO_TUNE_MODE = 2,
    ACL_OP_SELECT_IMPL_MODE = 3,
    ACL_OPTYPELIST_FOR_IMPLMODE = 4,
    ACL_OP_DEBUG_LEVEL = 5,
    ACL_DEBUG_DIR = 6,
    ACL_OP_COMPILER_CACHE_MODE = 7,
    ACL_OP_COMPILER_CACHE_DIR = 8,
    ACL_OP_PERFORMANCE_MODE = 9,
    ACL_OP_JIT_COMPILE = 10,
    ACL_OP_DETERMINISTIC = 11,
    ACL_CUSTOMIZE_DTYPES = 12,
    ACL_OP_PRECISION_MODE = 13,
    ACL_ALLOW_HF32 = 14,
    ACL_PRECISION_MODE_V2 = 15,
    ACL_OP_DEBUG_OPTION = 16,
} aclCompileOpt;

typedef enum aclCompileFlag {
    ACL_OP_COMPILE_DEFAULT = 0,
    ACL_OP_COMPILE_FUZZ = 1,
} aclOpCompileFlag;

typedef void (*aclDataDeallocator)(void *data, size_t length);

typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc *const inputDesc[], int numOutputs,
    const aclTensorDesc *const outputDesc[], const aclopAttr *opAttr, aclopKernelDesc *kernelDesc);

/** Load all operator models of a directory.
 *  op.set_model_dir(modelDir:str) -> ret */
ACL_API(8, 1) aclError aclopSetModelDir(const char *modelDir);

/** Load one operator model from memory.
 *  op.load(model, modelSize) -> ret */
ACL_API(8, 1) aclError aclopLoad(const void *model, size_t modelSize);

/** Create an empty set of attributes.
 *  op.create_attr() -> value */
ACL_API(8, 1) aclopAttr *aclopCreateAttr(void);

/** Destroy a set of attributes.
 *  op.destroy_attr(attr) -> None */
ACL_API(8, 1) void aclopDestroyAttr(const aclopAttr *attr);

/** Set a boolean attribute.
 *  op.set_attr_bool(attr, attrName:str, attrValue) -> ret */
ACL_API(8, 1) aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue);

/** Set an integer attribute.
 *  op.set_attr_int(attr, attrName:str, attrValue) -> ret */
ACL_API(8, 1) aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue);

/** Set a float attribute.
 *  op.set_attr_float(attr, attrName:str, attrValue) -> ret */
ACL_API(8, 1) aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue);

/** Set a text attribute.
 *  op.set_attr_string(attr, attrName:str, attrValue:str) -> ret */
ACL_API(8, 1) aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue);

/** Set a data type attribute.
 *  op.set_attr_data_type(attr, attrName:str, attrValue) -> (=attr, ret) */
ACL_API(8, 1) aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue);

/** Set an attribute that is a list of booleans.
 *  op.set_attr_list_bool(attr, attrName:str, values:[int]#numValues) -> ret @py */
ACL_API(8, 1) aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
    const uint8_t *values);

/** Set an attribute that is a list of integers.
 *  op.set_attr_list_int(attr, attrName:str, values:[int]#numValues) -> ret @py */
ACL_API(8, 1) aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues, const int64_t *values);

/** Set an attribute that is a list of floats.
 *  op.set_attr_list_float(attr, attrName:str, values:[float]#numValues) -> ret @py */
ACL_API(8, 1) aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues, const float *values);

/** Set an attribute that is a list of texts.
 *  op.set_attr_list_string(attr, attrName:str, values:[str]#numValues) -> ret */
ACL_API(8, 1) aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues,
    const char **values);

/** Set an attribute that is a list of data types.
 *  op.set_attr_list_data_type(attr, attrName:str, values:[int]#numValues) -> (=attr, ret) */
ACL_API(8, 1) aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues,
    const aclDataType values[]);

/** Set an attribute that is a list of lists of integers.
 *  op.set_attr_list_list_int(attr, attrName:str, values:[[int]]#numLists) -> ret @py */
ACL_API(8, 1) aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
    const int *numValues, const int64_t *const values[]);

/** Deprecated: use aclopExecuteV2. Queue a loaded operator on the stream.
 *  op.execute(opType:str, inputDesc:[int]#numInputs, inputs:[int]#numInputs, outputDesc:[int]#numOutputs,
 *      outputs:[int]#numOutputs, attr, stream) -> ret */
ACL_API(8, 1) aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    const aclDataBuffer *const inputs[], int numOutputs, const aclTensorDesc *const outputDesc[],
    aclDataBuffer *const outputs[], const aclopAttr *attr, aclrtStream stream);

/** Queue a loaded operator on the stream; output descriptions of dynamic shape are filled in.
 *  op.execute_v2(opType:str, inputDesc:[int]#numInputs, inputs:[int]#numInputs, outputDesc:[int]#numOutputs,
 *      outputs:[int]#numOutputs, attr, stream) -> ret */
ACL_API(8, 1) aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclDataBuffer *outputs[], aclopAttr *attr,
    aclrtStream stream);

/** Fill in the output descriptions that an operator gives for its inputs.
 *  op.infer_shape(opType:str, inputDesc:[int]#numInputs, inputs:[int]#numInputs, numOutputs, outputDesc:[int], attr)
 *      -> ret @py */
ACL_API(8, 1) aclError aclopInferShape(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclopAttr *attr);

/** Find a loaded operator once, for many executions.
 *  op.create_handle(opType:str, inputDesc:[int]#numInputs, outputDesc:[int]#numOutputs, opAttr) -> (handle, ret) */
ACL_API(8, 1) aclError aclopCreateHandle(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    int numOutputs, const aclTensorDesc *const outputDesc[], const aclopAttr *opAttr, aclopHandle **handle);

/** Destroy an operator handle.
 *  op.destroy_handle(handle) -> None */
ACL_API(8, 1) void aclopDestroyHandle(aclopHandle *handle);

/** Queue the operator of a handle on the stream.
 *  op.execute_with_handle(handle, inputs:[int]#numInputs, outputs:[int]#numOutputs, stream) -> ret */
ACL_API(8, 1) aclError aclopExecWithHandle(aclopHandle *handle, int numInputs, const aclDataBuffer *const inputs[],
    int numOutputs, aclDataBuffer *const outputs[], aclrtStream stream);

/** Queue a change of data type on the stream.
 *  op.cast(srcDesc, srcBuffer, dstDesc, dstBuffer, truncate, stream) -> ret */
ACL_API(8, 1) aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
    const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer, uint8_t truncate, aclrtStream stream);

/** Create an operator handle for a change of data type.
 *  op.create_handle_for_cast(srcDesc, dstDesc, truncate) -> (handle, ret) */
ACL_API(8, 1) aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc, aclTensorDesc *dstDesc, uint8_t truncate,
    aclopHandle **handle);

/** Set how many loaded operators are kept at most.
 *  op.set_max_op_queue_num(maxOpNum) -> ret */
ACL_API(8, 1) aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum);

/** Set the function that chooses a kernel for an operator.
 *  op.register_compile_func(opType:str, func:callable) -> ret @py */
ACL_API(8, 1) aclError aclopRegisterCompileFunc(const char *opType, aclopCompileFunc func);

/** Remove the function that chooses a kernel for an operator.
 *  op.unregister_compile_func(opType:str) -> ret */
ACL_API(8, 1) aclError aclopUnregisterCompileFunc(const char *opType);

/** Register the kernel binary of an operator.
 *  op.create_kernel(opType:str, kernelId:str, kernelName:str, binData, binSize, enginetype, deallocator) -> ret @py */
ACL_API(8, 1) aclError aclopCreateKernel(const char *opType, const char *kernelId, const char *kernelName,
    void *binData, int binSize, aclopEngineType enginetype, aclDataDeallocator deallocator);

/** Set kernel, block count and arguments, inside the function that chooses a kernel.
 *  op.set_kernel_args(kernelDesc, kernelId:str, blockDim, args, argSize) -> ret */
ACL_API(8, 1) aclError aclopSetKernelArgs(aclopKernelDesc *kernelDesc, const char *kernelId, uint32_t blockDim,
    const void *args, uint32_t argSize);

/** Set the sizes of a kernel's workspaces, inside the function that chooses a kernel.
 *  op.set_kernel_workspace_sizes(kernelDesc, numWorkspaces, workspaceSizes) -> ret */
ACL_API(8, 1) aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc *kernelDesc, int numWorkspaces,
    size_t *workspaceSizes);

/** Call the function that chooses a kernel of an operator, for the given tensors.
 *  op.update_params(opType:str, inputDesc:[int]#numInputs, outputDesc:[int]#numOutputs, attr) -> ret */
ACL_API(8, 1) aclError aclopUpdateParams(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    int numOutputs, const aclTensorDesc *const outputDesc[], const aclopAttr *attr);

/** Set a compilation option. */
ACL_API(8, 1) aclError aclSetCompileopt(aclCompileOpt opt, const char *value);

/** Bytes that the text of a compilation option takes. */
ACL_API(8, 1) size_t aclGetCompileoptSize(aclCompileOpt opt);

/** The text of a compilation option. */
ACL_API(8, 1) aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length);

/** Choose whether operators are compiled exactly or with fuzzy shapes. */
ACL_API(8, 1) aclError aclopSetCompileFlag(aclOpCompileFlag flag);

/** Compile an operator. */
ACL_API(8, 1) aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    int numOutputs, const aclTensorDesc *const outputDesc[], const aclopAttr *attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char *opPath);

/** Compile an operator where needed and queue it on the stream. */
ACL_API(8, 1) aclError aclopCompileAndExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    const aclDataBuffer *const inputs[], int numOutputs, const aclTensorDesc *const outputDesc[],
    aclDataBuffer *const outputs[], const aclopAttr *attr, aclopEngineType engineType, aclopCompileType compileFlag,
    const char *opPath, aclrtStream stream);

/** Compile an operator where needed and queue it; output descriptions of dynamic shape are filled in. */
ACL_API(8, 1) aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclDataBuffer *outputs[], aclopAttr *attr,
    aclopEngineType engineType, aclopCompileType compileFlag, const char *opPath, aclrtStream stream);
