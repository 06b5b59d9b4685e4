/* Kernels: binaries, functions, their arguments and launches. */

#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

typedef void *aclrtBinary;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;

typedef enum aclrtBinaryLoadOptionType {
    ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
    ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2,
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
    ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3,
} aclrtBinaryLoadOptionType;

typedef enum aclrtFuncAttribute {
    ACL_FUNC_ATTR_KERNEL_TYPE = 1,
    ACL_FUNC_ATTR_KERNEL_RATIO = 2,
    ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3,
} aclrtFuncAttribute;

typedef enum aclrtKernelType {
    ACL_KERNEL_TYPE_AICORE = 0,
    ACL_KERNEL_TYPE_CUBE = 1,
    ACL_KERNEL_TYPE_VECTOR = 2,
    ACL_KERNEL_TYPE_MIX = 3,
    ACL_KERNEL_TYPE_AICPU = 100,
} aclrtKernelType;

typedef union aclrtBinaryLoadOptionValue {
    uint32_t isLazyLoad;
    uint32_t magic;
    int32_t cpuKernelMode;
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

typedef struct aclrtBinaryLoadOption {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

typedef struct aclrtBinaryLoadOptions {
    aclrtBinaryLoadOption *options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

typedef struct aclrtPlaceHolderInfo {
    uint32_t addrOffset;
    uint32_t dataOffset;
} aclrtPlaceHolderInfo;

/** Describe a kernel binary in host memory; the bytes must outlive the description.
 *  rt.create_binary(data, dataLen) -> value */
ACL_API(8, 1) aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen);

/** Destroy the description of a kernel binary.
 *  rt.destroy_binary(binary) -> ret */
ACL_API(8, 1) aclError aclrtDestroyBinary(aclrtBinary binary);

/** Load a described kernel binary onto the current device.
 *  rt.binary_load(binary) -> (binHandle, ret) */
ACL_API(8, 1) aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle);

/** Load a kernel binary from a file.
 *  rt.binary_load_from_file(binPath:str, options:[dict]) -> (binHandle, ret) @py */
ACL_API(8, 1) aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
    aclrtBinHandle *binHandle);

/** Load a kernel binary from memory.
 *  rt.binary_load_from_data(data, length, options:[dict]) -> (binHandle, ret) @py */
ACL_API(8, 5) aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options,
    aclrtBinHandle *binHandle);

/** Unload a kernel binary.
 *  rt.binary_unload(binHandle) -> ret */
ACL_API(8, 1) aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/** Find a kernel of a binary by name.
 *  rt.binary_get_function(binHandle, kernelName:str) -> (funcHandle, ret) */
ACL_API(8, 1) aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
    aclrtFuncHandle *funcHandle);

/** Find a kernel of a binary by its entry number. */
ACL_API(8, 1) aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
    aclrtFuncHandle *funcHandle);

/** Address and size of a loaded binary in device memory. */
ACL_API(8, 5) aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void **binAddr, size_t *binSize);

/** Address and size of a global variable of a binary. */
ACL_API(9, 1) aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size);

/** Register a function of a binary that runs on the device's processor.
 *  rt.register_cpu_func(handle, funcName:str, kernelName:str) -> (funcHandle, ret) @py */
ACL_API(8, 5) aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName, const char *kernelName,
    aclrtFuncHandle *funcHandle);

/** Find a kernel by its host-side symbol. */
ACL_API(9, 1) aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle);

/** The device addresses of a kernel's cube and vector code.
 *  rt.get_function_addr(funcHandle) -> (aicAddr, aivAddr, ret) */
ACL_API(8, 1) aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr);

/** The sizes of a kernel's cube and vector code. */
ACL_API(9, 1) aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize);

/** The name of a kernel.
 *  rt.get_function_name(funcHandle, maxLen) -> (name:str#maxLen, ret) @py */
ACL_API(8, 5) aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name);

/** One attribute of a kernel. */
ACL_API(8, 5) aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
    int64_t *attrValue);

/** The binary that a kernel belongs to. */
ACL_API(9, 1) aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle);

/** Number of parameters of a kernel. */
ACL_API(9, 1) aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount);

/** Offset and size of one parameter of a kernel. */
ACL_API(9, 1) aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
    size_t *paramSize);

/** Bytes of dynamic unified buffer that a block of a kernel can have. */
ACL_API(9, 1) aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags, size_t *dynamicUbufSize);

/** Size in bytes of the handle of an argument list.
 *  rt.kernel_args_get_handle_mem_size(funcHandle) -> (memSize, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize);

/** Size in bytes of an argument list with userArgsSize bytes of arguments.
 *  rt.kernel_args_get_mem_size(funcHandle, userArgsSize) -> (actualArgsSize, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
    size_t *actualArgsSize);

/** Start an argument list for a kernel, in memory of the library.
 *  rt.kernel_args_init(funcHandle) -> (argsHandle, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle);

/** Start an argument list for a kernel, in memory of the program.
 *  rt.kernel_args_init_by_user_mem(funcHandle, argsHandle, userHostMem, actualArgsSize) -> ret */
ACL_API(8, 1) aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
    void *userHostMem, size_t actualArgsSize);

/** Append one argument to an argument list.
 *  rt.kernel_args_append(argsHandle, param, paramSize) -> (paramHandle, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
    aclrtParamHandle *paramHandle);

/** Append a placeholder for a pointer whose data follows the arguments.
 *  rt.kernel_args_append_place_holder(argsHandle) -> (paramHandle, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle);

/** The memory in which to write a placeholder's data.
 *  rt.kernel_args_get_place_holder_buffer(argsHandle, paramHandle, dataSize) -> (bufferAddr, ret) */
ACL_API(8, 1) aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
    size_t dataSize, void **bufferAddr);

/** Replace one argument of an argument list.
 *  rt.kernel_args_para_update(argsHandle, paramHandle, param, paramSize) -> ret */
ACL_API(8, 1) aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
    size_t paramSize);

/** Finish an argument list, so that it can be launched.
 *  rt.kernel_args_finalize(argsHandle) -> ret */
ACL_API(8, 1) aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

/** Queue a kernel with arguments in device memory.
 *  rt.launch_kernel(funcHandle, numBlocks, argsData, argsSize, stream) -> ret */
ACL_API(8, 1) aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
    size_t argsSize, aclrtStream stream);

/** Queue a kernel with arguments in device memory, and launch attributes. */
ACL_API(8, 5) aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
    size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream);

/** Queue a kernel with an argument list and launch attributes.
 *  rt.launch_kernel_with_config(funcHandle, numBlocks, stream, cfg:[dict], argsHandle, reserve) -> ret @py */
ACL_API(8, 1) aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve);

/** Queue a kernel with arguments in host memory, some of which may be placeholders.
 *  rt.launch_kernel_with_host_args(funcHandle, numBlocks, stream, cfg:[dict], hostArgs, argsSize,
 *      placeHolderArray:[dict], placeHolderNum) -> ret @py */
ACL_API(8, 5) aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
    size_t placeHolderNum);

/** Queue a kernel given by symbol with an array of pointers to its arguments. */
ACL_API(9, 1) aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void **args);

/** Queue a SIMT kernel with an array of pointers to its arguments. */
ACL_API(9, 2) aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
    aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args);

/** Queue a SIMT kernel with arguments in host memory, some of which may be placeholders. */
ACL_API(9, 2) aclError aclrtLaunchSIMTKernelWithHostArgs(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
    aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
    aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);
