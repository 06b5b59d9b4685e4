/* Models: loading, describing and executing them. */

#define ACL_DIM_ENDPOINTS 2
#define ACL_MAX_DIM_CNT 128
#define ACL_MAX_TENSOR_NAME_LEN 128
#define ACL_MAX_BATCH_NUM 128
#define ACL_MAX_HW_NUM 128
#define ACL_MAX_SHAPE_COUNT 128
#define ACL_INVALID_NODE_INDEX 0xFFFFFFFF
#define ACL_MDL_LOAD_FROM_FILE 1
#define ACL_MDL_LOAD_FROM_FILE_WITH_MEM 2
#define ACL_MDL_LOAD_FROM_MEM 3
#define ACL_MDL_LOAD_FROM_MEM_WITH_MEM 4
#define ACL_MDL_LOAD_FROM_FILE_WITH_Q 5
#define ACL_MDL_LOAD_FROM_MEM_WITH_Q 6
#define ACL_WORKSPACE_MEM_OPTIMIZE_DEFAULT 0
#define ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT 1
#define ACL_MODEL_STREAM_FLAG_HEAD 0
#define ACL_MODEL_STREAM_FLAG_DEFAULT 0x7FFFFFFF

typedef struct aclmdlDesc aclmdlDesc;
typedef struct aclmdlConfigHandle aclmdlConfigHandle;
typedef struct aclmdlExecConfigHandle aclmdlExecConfigHandle;
typedef struct aclmdlBundleQueryInfo aclmdlBundleQueryInfo;
typedef void *aclmdlModel;

typedef enum aclmdlConfigAttr {
    ACL_MDL_PRIORITY_INT32 = 0,
    ACL_MDL_LOAD_TYPE_SIZET = 1,
    ACL_MDL_PATH_PTR = 2,
    ACL_MDL_MEM_ADDR_PTR = 3,
    ACL_MDL_MEM_SIZET = 4,
    ACL_MDL_WEIGHT_ADDR_PTR = 5,
    ACL_MDL_WEIGHT_SIZET = 6,
    ACL_MDL_WORKSPACE_ADDR_PTR = 7,
    ACL_MDL_WORKSPACE_SIZET = 8,
    ACL_MDL_INPUTQ_NUM_SIZET = 9,
    ACL_MDL_INPUTQ_ADDR_PTR = 10,
    ACL_MDL_OUTPUTQ_NUM_SIZET = 11,
    ACL_MDL_OUTPUTQ_ADDR_PTR = 12,
    ACL_MDL_WORKSPACE_MEM_OPTIMIZE = 13,
    ACL_MDL_WEIGHT_PATH_PTR = 14,
    ACL_MDL_MODEL_DESC_PTR = 15,
    ACL_MDL_MODEL_DESC_SIZET = 16,
    ACL_MDL_KERNEL_PTR = 17,
    ACL_MDL_KERNEL_SIZET = 18,
    ACL_MDL_KERNEL_ARGS_PTR = 19,
    ACL_MDL_KERNEL_ARGS_SIZET = 20,
    ACL_MDL_STATIC_TASK_PTR = 21,
    ACL_MDL_STATIC_TASK_SIZET = 22,
    ACL_MDL_DYNAMIC_TASK_PTR = 23,
    ACL_MDL_DYNAMIC_TASK_SIZET = 24,
    ACL_MDL_MEM_MALLOC_POLICY_SIZET = 25,
    ACL_MDL_FIFO_PTR = 26,
    ACL_MDL_FIFO_SIZET = 27,
    ACL_MDL_WITHOUT_GRAPH_INT32 = 28,
    ACL_NPU_PERF_MODE = 29,
    ACL_MDL_RESERVED = 65535,
} aclmdlConfigAttr;

typedef enum aclmdlExecConfigAttr {
    ACL_MDL_STREAM_SYNC_TIMEOUT = 0,
    ACL_MDL_EVENT_SYNC_TIMEOUT = 1,
    ACL_MDL_WORK_ADDR_PTR = 2,
    ACL_MDL_WORK_SIZET = 3,
    ACL_MDL_MPAIMID_SIZET = 4,
    ACL_MDL_AICQOS_SIZET = 5,
    ACL_MDL_AICOST_SIZET = 6,
    ACL_MDL_MEC_TIMETHR_SIZET = 7,
    ACL_MDL_EXEC_PRIORITY_INT32 = 8,
    ACL_MDL_NPU_PERF_MODE = 9,
} aclmdlExecConfigAttr;

typedef enum aclmdlAttr {
    ACL_MDL_ATTR_PRIORITY_INT32 = 0,
} aclmdlAttr;

typedef struct aclmdlIODimsRange {
    size_t rangeCount;
    int64_t range[128][2];
} aclmdlIODimsRange;

typedef struct aclmdlBatch {
    size_t batchCount;
    uint64_t batch[128];
} aclmdlBatch;

typedef struct aclmdlHW {
    size_t hwCount;
    uint64_t hw[128][2];
} aclmdlHW;

typedef struct aclmdlExeOMDesc {
    size_t workSize;
    size_t weightSize;
    size_t modelDescSize;
    size_t kernelSize;
    size_t kernelArgsSize;
    size_t staticTaskSize;
    size_t dynamicTaskSize;
    size_t fifoTaskSize;
    size_t reserved[8];
} aclmdlExeOMDesc;

typedef union aclmdlAttrValue_t {
    uint32_t mdlPriority;
    uint32_t reserved[8];
} aclmdlAttrValue_t;

/** Load a model from a file; the library manages its memory.
 *  mdl.load_from_file(modelPath:str) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId);

/** Load a model from memory; the library manages its memory.
 *  mdl.load_from_mem(model, modelSize) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId);

/** Load a model from a file into memory of the program.
 *  mdl.load_from_file_with_mem(modelPath:str, workPtr, workSize, weightPtr, weightSize) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr,
    size_t workSize, void *weightPtr, size_t weightSize);

/** Load a model from memory into memory of the program.
 *  mdl.load_from_mem_with_mem(model, modelSize, workPtr, workSize, weightPtr, weightSize) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId, void *workPtr,
    size_t workSize, void *weightPtr, size_t weightSize);

/** Load a model from a file, with queues for its inputs and outputs.
 *  mdl.load_from_file_with_q(modelPath:str, inputQ, inputQNum, outputQ, outputQNum) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromFileWithQ(const char *modelPath, uint32_t *modelId, const uint32_t *inputQ,
    size_t inputQNum, const uint32_t *outputQ, size_t outputQNum);

/** Load a model from memory, with queues for its inputs and outputs.
 *  mdl.load_from_mem_with_q(model, modelSize, inputQ, inputQNum, outputQ, outputQNum) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadFromMemWithQ(const void *model, size_t modelSize, uint32_t *modelId,
    const uint32_t *inputQ, size_t inputQNum, const uint32_t *outputQ, size_t outputQNum);

/** Load a model from a graph in memory, according to a configuration. */
ACL_API(9, 1) aclError aclmdlLoadFromModel(const aclmdlModel *model, const aclmdlConfigHandle *handle,
    uint32_t *modelId);

/** Load a model according to a configuration.
 *  mdl.load_with_config(handle) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId);

/** Create a load configuration with default values.
 *  mdl.create_config_handle() -> value */
ACL_API(8, 1) aclmdlConfigHandle *aclmdlCreateConfigHandle(void);

/** Destroy a load configuration.
 *  mdl.destroy_config_handle(handle) -> ret */
ACL_API(8, 1) aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle);

/** Set one attribute of a load configuration.
 *  mdl.set_config_opt(handle, attr, attrValue:int|str) -> ret @py */
ACL_API(8, 1) aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr, const void *attrValue,
    size_t valueSize);

/** Set the device address of the weights of one weight file. */
ACL_API(8, 5) aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle *handle, const char *weightFileName,
    void *devPtr, size_t size);

/** Unload a model.
 *  mdl.unload(modelId) -> ret */
ACL_API(8, 1) aclError aclmdlUnload(uint32_t modelId);

/** Bytes of work and weight memory that a model file needs.
 *  mdl.query_size(fileName:str) -> (workSize, weightSize, ret) */
ACL_API(8, 1) aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize);

/** Bytes of work and weight memory that a model in memory needs.
 *  mdl.query_size_from_mem(model, modelSize) -> (workSize, weightSize, ret) */
ACL_API(8, 1) aclError aclmdlQuerySizeFromMem(const void *model, size_t modelSize, size_t *workSize,
    size_t *weightSize);

/** Sizes of the parts of a model file for embedded targets. */
ACL_API(8, 1) aclError aclmdlQueryExeOMDesc(const char *fileName, aclmdlExeOMDesc *mdlPartitionSize);

/** Execute a model and wait for its end.
 *  mdl.execute(modelId, input, output) -> ret */
ACL_API(8, 1) aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output);

/** Execute a model on a stream according to a configuration, and wait for its end.
 *  mdl.execute_v2(modelId, input, output, stream, handle) -> ret */
ACL_API(8, 1) aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
    aclrtStream stream, const aclmdlExecConfigHandle *handle);

/** Queue one execution of a model on the stream.
 *  mdl.execute_async(modelId, input, output, stream) -> ret */
ACL_API(8, 1) aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
    aclrtStream stream);

/** Queue one execution of a model on the stream, according to a configuration. */
ACL_API(8, 1) aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
    aclrtStream stream, const aclmdlExecConfigHandle *handle);

/** Create an execution configuration with default values.
 *  mdl.create_exec_config_handle() -> value */
ACL_API(8, 1) aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void);

/** Destroy an execution configuration.
 *  mdl.destroy_exec_config_handle(handle) -> ret */
ACL_API(8, 1) aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle);

/** Set one attribute of an execution configuration.
 *  mdl.set_exec_config_opt(handle, attr, attrValue) -> ret @py */
ACL_API(8, 1) aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr,
    const void *attrValue, size_t valueSize);

/** Set one attribute of a loaded model. */
ACL_API(9, 1) aclError aclmdlSetAttribute(uint32_t modelId, aclmdlAttr attr, aclmdlAttrValue_t *attrValue);

/** Read one attribute of a loaded model. */
ACL_API(9, 1) aclError aclmdlGetAttribute(uint32_t modelId, aclmdlAttr attr, aclmdlAttrValue_t *attrValue);

/** Create an empty model description.
 *  mdl.create_desc() -> value */
ACL_API(8, 1) aclmdlDesc *aclmdlCreateDesc(void);

/** Destroy a model description.
 *  mdl.destroy_desc(modelDesc) -> ret */
ACL_API(8, 1) aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc);

/** Fill a description from a loaded model.
 *  mdl.get_desc(modelDesc, modelId) -> ret */
ACL_API(8, 1) aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId);

/** Fill a description from a model file.
 *  mdl.get_desc_from_file(modelDesc, modelPath:str) -> ret */
ACL_API(8, 1) aclError aclmdlGetDescFromFile(aclmdlDesc *modelDesc, const char *modelPath);

/** Fill a description from a model in memory.
 *  mdl.get_desc_from_mem(modelDesc, model, modelSize) -> ret */
ACL_API(8, 1) aclError aclmdlGetDescFromMem(aclmdlDesc *modelDesc, const void *model, size_t modelSize);

/** Number of inputs.
 *  mdl.get_num_inputs(modelDesc) -> value */
ACL_API(8, 1) size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc);

/** Number of outputs.
 *  mdl.get_num_outputs(modelDesc) -> value */
ACL_API(8, 1) size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc);

/** Bytes of an input; for a dynamic input, the largest possible size.
 *  mdl.get_input_size_by_index(modelDesc, index) -> value */
ACL_API(8, 1) size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index);

/** Bytes of an output; the largest possible size, or 0 if it is unknown before an execution.
 *  mdl.get_output_size_by_index(modelDesc, index) -> value */
ACL_API(8, 1) size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index);

/** Name and dimensions of an input, -1 for a dynamic one.
 *  mdl.get_input_dims(modelDesc, index) -> (dims:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims);

/** Name and dimensions of an input, before static preprocessing if it has any.
 *  mdl.get_input_dims_v2(modelDesc, index) -> (dims:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims);

/** The range of each dimension of an input.
 *  mdl.get_input_dims_range(modelDesc, index) -> (dimsRange:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetInputDimsRange(const aclmdlDesc *modelDesc, size_t index, aclmdlIODimsRange *dimsRange);

/** Name and dimensions of an output.
 *  mdl.get_output_dims(modelDesc, index) -> (dims:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims);

/** Dimensions of an output for the dynamic sizes that were chosen last.
 *  mdl.get_cur_output_dims(modelDesc, index) -> (dims:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims);

/** The name of an input.
 *  mdl.get_input_name_by_index(modelDesc, index) -> value */
ACL_API(8, 1) const char *aclmdlGetInputNameByIndex(const aclmdlDesc *modelDesc, size_t index);

/** The name of an output.
 *  mdl.get_output_name_by_index(modelDesc, index) -> value */
ACL_API(8, 1) const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *modelDesc, size_t index);

/** The index of an input.
 *  mdl.get_input_index_by_name(modelDesc, name:str) -> (index, ret) */
ACL_API(8, 1) aclError aclmdlGetInputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index);

/** The index of an output.
 *  mdl.get_output_index_by_name(modelDesc, name:str) -> (index, ret) */
ACL_API(8, 1) aclError aclmdlGetOutputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index);

/** The format of an input.
 *  mdl.get_input_format(modelDesc, index) -> value */
ACL_API(8, 1) aclFormat aclmdlGetInputFormat(const aclmdlDesc *modelDesc, size_t index);

/** The format of an output.
 *  mdl.get_output_format(modelDesc, index) -> value */
ACL_API(8, 1) aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index);

/** The data type of an input.
 *  mdl.get_input_data_type(modelDesc, index) -> value */
ACL_API(8, 1) aclDataType aclmdlGetInputDataType(const aclmdlDesc *modelDesc, size_t index);

/** The data type of an output.
 *  mdl.get_output_data_type(modelDesc, index) -> value */
ACL_API(8, 1) aclDataType aclmdlGetOutputDataType(const aclmdlDesc *modelDesc, size_t index);

/** One attribute of an operator of the model, as text.
 *  mdl.get_op_attr(modelDesc, opName:str, attr:str) -> value */
ACL_API(8, 1) const char *aclmdlGetOpAttr(aclmdlDesc *modelDesc, const char *opName, const char *attr);

/** The full name of a tensor whose name the description shortened.
 *  mdl.get_tensor_real_name(modelDesc, name:str) -> value */
ACL_API(8, 1) const char *aclmdlGetTensorRealName(const aclmdlDesc *modelDesc, const char *name);

/** Name, inputs and outputs of the operator that a task belongs to; the caller destroys the descriptions.
 *  mdl.create_and_get_op_desc(deviceId, streamId, taskId, opNameLen) -> (opName:str#opNameLen, inputDesc, numInputs,
 *      outputDesc, numOutputs, ret) @py */
ACL_API(8, 1) aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId, char *opName,
    size_t opNameLen, aclTensorDesc **inputDesc, size_t *numInputs, aclTensorDesc **outputDesc, size_t *numOutputs);

/** The batch sizes that the model was built for.
 *  mdl.get_dynamic_batch(modelDesc) -> (batch:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch);

/** The heights and widths that the model was built for.
 *  mdl.get_dynamic_hw(modelDesc, index) -> (hw:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw);

/** Number of dimension sets that the model was built for.
 *  mdl.get_input_dynamic_gear_count(modelDesc, index) -> (gearCount, ret) */
ACL_API(8, 1) aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc *modelDesc, size_t index, size_t *gearCount);

/** The dimension sets that the model was built for.
 *  mdl.get_input_dynamic_dims(modelDesc, index, gearCount) -> (dims:[dict], ret) @py */
ACL_API(8, 1) aclError aclmdlGetInputDynamicDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims,
    size_t gearCount);

/** Choose the batch size of the next execution.
 *  mdl.set_dynamic_batch_size(modelId, dataset, index, batchSize) -> ret */
ACL_API(8, 1) aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset *dataset, size_t index,
    uint64_t batchSize);

/** Choose height and width of the next execution.
 *  mdl.set_dynamic_hw_size(modelId, dataset, index, height, width) -> ret */
ACL_API(8, 1) aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset *dataset, size_t index, uint64_t height,
    uint64_t width);

/** Choose the dimension set of the next execution.
 *  mdl.set_input_dynamic_dims(modelId, dataset, index, dims:dict) -> ret @py */
ACL_API(8, 1) aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset *dataset, size_t index,
    const aclmdlIODims *dims);

/** Load all models of a bundle file.
 *  mdl.bundle_load_from_file(modelPath:str) -> (bundleId, ret) */
ACL_API(8, 1) aclError aclmdlBundleLoadFromFile(const char *modelPath, uint32_t *bundleId);

/** Load all models of a bundle in memory.
 *  mdl.bundle_load_from_mem(model, modelSize) -> (bundleId, ret) */
ACL_API(8, 1) aclError aclmdlBundleLoadFromMem(const void *model, size_t modelSize, uint32_t *bundleId);

/** Unload a bundle with its models.
 *  mdl.bundle_unload(bundleId) -> ret */
ACL_API(8, 1) aclError aclmdlBundleUnload(uint32_t bundleId);

/** Number of models in a loaded bundle.
 *  mdl.bundle_get_model_num(bundleId) -> (modelNum, ret) */
ACL_API(8, 1) aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum);

/** The model at an index of a loaded bundle.
 *  mdl.bundle_get_model_id(bundleId, index) -> (modelId, ret) */
ACL_API(8, 1) aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId);

/** Create an empty object for the results of bundle queries. */
ACL_API(9, 0) aclmdlBundleQueryInfo *aclmdlBundleCreateQueryInfo(void);

/** Destroy the results of bundle queries. */
ACL_API(9, 0) aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo *queryInfo);

/** Query a bundle file. */
ACL_API(9, 0) aclError aclmdlBundleQueryInfoFromFile(const char *fileName, aclmdlBundleQueryInfo *queryInfo);

/** Query a bundle in memory. */
ACL_API(9, 0) aclError aclmdlBundleQueryInfoFromMem(const void *model, size_t modelSize,
    aclmdlBundleQueryInfo *queryInfo);

/** Number of models in the queried bundle. */
ACL_API(9, 0) aclError aclmdlBundleGetQueryModelNum(const aclmdlBundleQueryInfo *queryInfo, size_t *modelNum);

/** Bytes of the variable weights that the bundle's models share. */
ACL_API(9, 0) aclError aclmdlBundleGetVarWeightSize(const aclmdlBundleQueryInfo *queryInfo, size_t *variableWeightSize);

/** Bytes of work memory and constant weights of one model of the bundle. */
ACL_API(9, 0) aclError aclmdlBundleGetSize(const aclmdlBundleQueryInfo *queryInfo, size_t index, size_t *workSize,
    size_t *constWeightSize);

/** Open a bundle file without loading its models. */
ACL_API(9, 0) aclError aclmdlBundleInitFromFile(const char *modelPath, void *varWeightPtr, size_t varWeightSize,
    uint32_t *bundleId);

/** Open a bundle in memory without loading its models. */
ACL_API(9, 0) aclError aclmdlBundleInitFromMem(const void *model, size_t modelSize, void *varWeightPtr,
    size_t varWeightSize, uint32_t *bundleId);

/** Load one model of an open bundle. */
ACL_API(9, 0) aclError aclmdlBundleLoadModel(uint32_t bundleId, size_t index, uint32_t *modelId);

/** Load one model of an open bundle into memory of the program. */
ACL_API(9, 0) aclError aclmdlBundleLoadModelWithMem(uint32_t bundleId, size_t index, void *workPtr, size_t workSize,
    void *weightPtr, size_t weightSize, uint32_t *modelId);

/** Load one model of an open bundle according to a configuration. */
ACL_API(9, 0) aclError aclmdlBundleLoadModelWithConfig(uint32_t bundleId, size_t index, aclmdlConfigHandle *handle,
    uint32_t *modelId);

/** Unload one model of an open bundle. */
ACL_API(9, 0) aclError aclmdlBundleUnloadModel(uint32_t bundleId, uint32_t modelId);
