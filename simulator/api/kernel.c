/* Entry points of kernels: binaries and their functions. */
#include "kernel/kernel.h"

#include "base/config.h"

#define NOT_EMPTY(text)                                                                                                \
    SIM_ARGUMENT(*(text) != '\0', ACL_ERROR_INVALID_PARAM, "%s is \"\", expected a name", #text)

/* ---- binaries ---- */

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen)
{
    SIM_ENTER();
    if (data != NULL && dataLen != 0)
        return sim_kernel_describe(data, dataLen);
    sim_refuse(ACL_ERROR_INVALID_PARAM, "data is %p with dataLen %zu, expected a binary and its size in bytes", data,
               dataLen);
    return NULL;
}

aclError aclrtDestroyBinary(aclrtBinary binary)
{
    SIM_ENTER();
    SIM_NOT_NULL(binary);
    return sim_kernel_undescribe(binary);
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(binary);
    SIM_NOT_NULL(binHandle);
    return sim_kernel_load_described(binary, binHandle);
}

static aclError read_option(const aclrtBinaryLoadOption *option, size_t index, struct sim_binary_options *read)
{
    switch (option->type) {
    case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
        SIM_CHECK(option->value.isLazyLoad <= 1, ACL_ERROR_RT_PARAM_INVALID,
                  "options[%zu].value.isLazyLoad is %u, expected 0 or 1", index, option->value.isLazyLoad);
        return ACL_SUCCESS; /* in both cases code is loaded when its address is first requested */
    case ACL_RT_BINARY_LOAD_OPT_MAGIC:
        read->bo_magic = option->value.magic;
        SIM_CHECK(read->bo_magic == ACL_RT_BINARY_MAGIC_ELF_AICORE ||
                      read->bo_magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE ||
                      read->bo_magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE,
                  ACL_ERROR_RT_PARAM_INVALID,
                  "options[%zu].value.magic is %#x, expected an ACL_RT_BINARY_MAGIC_ELF_*", index, read->bo_magic);
        return ACL_SUCCESS;
    case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
        read->bo_cpu_mode = option->value.cpuKernelMode;
        SIM_CHECK(read->bo_cpu_mode >= 0 && read->bo_cpu_mode <= SIM_CPU_MODE_DATA, ACL_ERROR_RT_PARAM_INVALID,
                  "options[%zu].value.cpuKernelMode is %d, expected 0 to 2", index, read->bo_cpu_mode);
        return ACL_SUCCESS;
    }
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "options[%zu].type is %d, expected an aclrtBinaryLoadOptionType (1 to 3)", index,
                    (int)option->type);
}

#define OPTIONS 64 /* at most, of one load */

static aclError read_options(const aclrtBinaryLoadOptions *options, struct sim_binary_options *read)
{
    *read = (struct sim_binary_options){ACL_RT_BINARY_MAGIC_ELF_AICORE, SIM_CPU_MODE_NONE};
    if (options == NULL)
        return ACL_SUCCESS;
    SIM_ARGUMENT(options->options != NULL || options->numOpt == 0, ACL_ERROR_INVALID_PARAM,
                 "options->options is NULL with numOpt %zu, expected that many options", options->numOpt);
    SIM_CHECK(options->numOpt <= OPTIONS, ACL_ERROR_RT_PARAM_INVALID, "options->numOpt is %zu, expected at most %d",
              options->numOpt, OPTIONS);
    for (size_t i = 0; i < options->numOpt; i++)
        SIM_TRY(read_option(&options->options[i], i, read));
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
    SIM_ENTER();
    struct sim_binary_options read;
    SIM_NOT_NULL(binPath);
    SIM_NOT_NULL(binHandle);
    SIM_TRY(read_options(options, &read));
    return sim_kernel_load_file(binPath, &read, binHandle);
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle)
{
    SIM_ENTER();
    struct sim_binary_options read;
    SIM_NOT_NULL(data);
    SIM_ARGUMENT(length != 0, ACL_ERROR_INVALID_PARAM, "length is 0, expected the size of data in bytes");
    SIM_NOT_NULL(binHandle);
    SIM_TRY(read_options(options, &read));
    return sim_kernel_load_data(data, length, &read, binHandle);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    return sim_kernel_unload(binHandle);
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    SIM_NOT_NULL(kernelName);
    SIM_NOT_NULL(funcHandle);
    NOT_EMPTY(kernelName);
    return sim_kernel_find(binHandle, kernelName, funcHandle);
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle *funcHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    SIM_NOT_NULL(funcHandle);
    return sim_kernel_find_entry(binHandle, funcEntry, funcHandle);
}

aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName, const char *kernelName,
                              aclrtFuncHandle *funcHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(funcName);
    SIM_NOT_NULL(kernelName);
    SIM_NOT_NULL(funcHandle);
    NOT_EMPTY(funcName);
    NOT_EMPTY(kernelName);
    return sim_kernel_find_cpu(handle, funcName, kernelName, funcHandle);
}

aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void **binAddr, size_t *binSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    SIM_NOT_NULL(binAddr);
    SIM_NOT_NULL(binSize);
    return sim_kernel_address(binHandle, binAddr, binSize);
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size)
{
    SIM_ENTER();
    SIM_NOT_NULL(binHandle);
    SIM_NOT_NULL(name);
    SIM_NOT_NULL(dptr);
    SIM_NOT_NULL(size);
    return sim_kernel_global(binHandle, name, dptr, size);
}

/* ---- functions ---- */

aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(symbol);
    SIM_NOT_NULL(funcHandle);
    return sim_kernel_function_of_symbol(symbol, funcHandle);
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
{
    SIM_ENTER();
    struct sim_kernel_code code;
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(aicAddr);
    SIM_NOT_NULL(aivAddr);
    SIM_TRY(sim_kernel_function_code(funcHandle, &code));
    *aicAddr = code.kc_cube;
    *aivAddr = code.kc_vector;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize)
{
    SIM_ENTER();
    struct sim_kernel_code code;
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(aicSize);
    SIM_NOT_NULL(aivSize);
    SIM_TRY(sim_kernel_function_sizes(funcHandle, &code));
    *aicSize = code.kc_cube_size;
    *aivSize = code.kc_vector_size;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    SIM_ENTER();
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(name);
    SIM_CHECK(maxLen != 0, ACL_ERROR_RT_PARAM_INVALID, "maxLen is 0, expected the size of name in bytes");
    return sim_kernel_function_name(funcHandle, maxLen, name);
}

/* The two other attributes are stored in an undocumented part of compiled binaries. */
aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue)
{
    SIM_ENTER();
    aclrtKernelType type;
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(attrValue);
    SIM_TRY(sim_kernel_function_type(funcHandle, &type));
    SIM_CHECK(attrType >= ACL_FUNC_ATTR_KERNEL_TYPE && attrType <= ACL_FUNC_ATTR_KERNEL_SCHED_MODE,
              ACL_ERROR_RT_PARAM_INVALID, "attrType is %d, expected an aclrtFuncAttribute (1 to 3)", (int)attrType);
    SIM_SUPPORTED(attrType == ACL_FUNC_ATTR_KERNEL_TYPE,
                  "attrType is %d, which the simulator cannot read from binaries, expected ACL_FUNC_ATTR_KERNEL_TYPE "
                  "(1)",
                  (int)attrType);
    *attrValue = type;
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(binHandle);
    return sim_kernel_function_binary(funcHandle, binHandle);
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    SIM_NOT_NULL(paramCount);
    return sim_kernel_function_parameter_count(func, paramCount);
}

aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    SIM_NOT_NULL(paramOffset);
    SIM_NOT_NULL(paramSize);
    return sim_kernel_function_parameter(func, paramIndex, paramOffset, paramSize);
}

/* Simulated kernels use no static part of the unified buffer, so all of it is available. */
aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags, size_t *dynamicUbufSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    SIM_NOT_NULL(dynamicUbufSize);
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#x, expected 0: it is reserved", flags);
    SIM_TRY(sim_kernel_function_check(func));
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile == SIM_P950,
                  "%s has no SIMT kernels, expected a chip of profile P950", sim_config()->cf_soc->so_name);
    *dynamicUbufSize = sim_config()->cf_soc->so_ub;
    return ACL_SUCCESS;
}
