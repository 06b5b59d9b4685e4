/* Entry points of kernels: argument lists. */
#include "kernel/kernel.h"

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize)
{
    SIM_ENTER();
    aclrtKernelType type;
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(memSize);
    SIM_TRY(sim_kernel_function_type(funcHandle, &type));
    *memSize = sim_kernel_args_record_size();
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize)
{
    SIM_ENTER();
    aclrtKernelType type;
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(actualArgsSize);
    SIM_TRY(sim_kernel_function_type(funcHandle, &type));
    return sim_kernel_args_room(userArgsSize, actualArgsSize);
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(argsHandle);
    return sim_kernel_args_create(funcHandle, argsHandle);
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void *userHostMem,
                                      size_t actualArgsSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(argsHandle);
    SIM_NOT_NULL(userHostMem);
    SIM_ARGUMENT(actualArgsSize != 0, ACL_ERROR_INVALID_PARAM,
                 "actualArgsSize is 0, expected the size that aclrtKernelArgsGetMemSize returns");
    return sim_kernel_args_create_at(funcHandle, argsHandle, userHostMem, actualArgsSize);
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize, aclrtParamHandle *paramHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(argsHandle);
    SIM_NOT_NULL(param);
    SIM_ARGUMENT(paramSize != 0, ACL_ERROR_INVALID_PARAM, "paramSize is 0, expected the size of param in bytes");
    SIM_NOT_NULL(paramHandle);
    return sim_kernel_args_append(argsHandle, param, paramSize, paramHandle);
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(argsHandle);
    SIM_NOT_NULL(paramHandle);
    return sim_kernel_args_append_holder(argsHandle, paramHandle);
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
                                             void **bufferAddr)
{
    SIM_ENTER();
    SIM_NOT_NULL(argsHandle);
    SIM_NOT_NULL(paramHandle);
    SIM_ARGUMENT(dataSize != 0, ACL_ERROR_INVALID_PARAM, "dataSize is 0, expected the size of the placeholder's data "
                 "in bytes");
    SIM_NOT_NULL(bufferAddr);
    return sim_kernel_args_holder_data(argsHandle, paramHandle, dataSize, bufferAddr);
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
                                   size_t paramSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(argsHandle);
    SIM_NOT_NULL(paramHandle);
    SIM_NOT_NULL(param);
    SIM_ARGUMENT(paramSize != 0, ACL_ERROR_INVALID_PARAM, "paramSize is 0, expected the size of param in bytes");
    return sim_kernel_args_update(argsHandle, paramHandle, param, paramSize);
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(argsHandle);
    return sim_kernel_args_finish(argsHandle);
}
