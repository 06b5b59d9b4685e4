/* Entry points around single operators: compiler options, models of operators, and kernels of the program. */
#include "operator/op.h"

#include "base/config.h"
#include "model/model.h"

/* ---- options ---- */

static aclError check_option(aclCompileOpt opt)
{
    SIM_ARGUMENT((unsigned)opt < SIM_COMPILE_OPTIONS, ACL_ERROR_INTERNAL_ERROR, "opt is %d, expected 0 to %d", (int)opt,
                 SIM_COMPILE_OPTIONS - 1);
    return ACL_SUCCESS;
}

aclError aclSetCompileopt(aclCompileOpt opt, const char *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    SIM_TRY(check_option(opt));
    SIM_ARGUMENT(opt != ACL_AUTO_TUNE_MODE, ACL_ERROR_FEATURE_UNSUPPORTED,
                 "opt is ACL_AUTO_TUNE_MODE (2), which is not supported any more, expected another option");
    return sim_op_set_option((unsigned)opt, value);
}

/* The value of an option that was never set is an empty text. */
size_t aclGetCompileoptSize(aclCompileOpt opt)
{
    SIM_ENTER();
    return check_option(opt) == ACL_SUCCESS ? sim_op_get_option((unsigned)opt, NULL, 0) : 0;
}

aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    SIM_ARGUMENT((unsigned)opt < SIM_COMPILE_OPTIONS && opt != ACL_AUTO_TUNE_MODE, ACL_ERROR_API_NOT_SUPPORT,
                 "opt is %d, which has no value, expected 0 to %d except ACL_AUTO_TUNE_MODE (2)", (int)opt,
                 SIM_COMPILE_OPTIONS - 1);
    size_t size = sim_op_get_option((unsigned)opt, value, length);
    SIM_ARGUMENT(size <= length, ACL_ERROR_FAILURE, "length is %zu, expected at least the %zu of aclGetCompileoptSize",
                 length, size);
    return ACL_SUCCESS;
}

/* Shapes are never compiled into an operator, so both flags have the same effect here. */
aclError aclopSetCompileFlag(aclOpCompileFlag flag)
{
    SIM_ENTER();
    SIM_ARGUMENT(flag == ACL_OP_COMPILE_DEFAULT || flag == ACL_OP_COMPILE_FUZZ, ACL_ERROR_INVALID_PARAM,
                 "flag is %d, expected ACL_OP_COMPILE_DEFAULT (0) or ACL_OP_COMPILE_FUZZ (1)", (int)flag);
    return ACL_SUCCESS;
}

/* ---- models of operators ---- */

aclError aclopSetModelDir(const char *modelDir)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelDir);
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile != SIM_P950 || sim_config()->cf_cann < 901,
                  "%s no longer supports models of single operators", sim_config()->cf_soc->so_name);
    return sim_op_load_folder(modelDir, sim_model_operator_check_file);
}

aclError aclopLoad(const void *model, size_t modelSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(model);
    SIM_ARGUMENT(modelSize != 0, ACL_ERROR_INVALID_PARAM, "modelSize is 0, expected the size of a model in bytes");
    return sim_model_operator_check(model, modelSize);
}

/* The limit has no effect: operators are found by their type, and none is ever evicted. */
aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum)
{
    SIM_ENTER();
    SIM_ARGUMENT(maxOpNum != 0, ACL_ERROR_INVALID_PARAM, "maxOpNum is 0, expected at least 1");
    return ACL_SUCCESS;
}

/* ---- kernels of the program ---- */

aclError aclopRegisterCompileFunc(const char *opType, aclopCompileFunc func)
{
    SIM_ENTER();
    SIM_NOT_NULL(opType);
    SIM_ARGUMENT(func != NULL, ACL_ERROR_INVALID_PARAM, "func is NULL, expected a function");
    return sim_op_add_selector(opType, func);
}

aclError aclopUnregisterCompileFunc(const char *opType)
{
    SIM_ENTER();
    SIM_NOT_NULL(opType);
    return sim_op_remove_selector(opType);
}

aclError aclopCreateKernel(const char *opType, const char *kernelId, const char *kernelName, void *binData, int binSize,
                           aclopEngineType enginetype, aclDataDeallocator deallocator)
{
    SIM_ENTER();
    SIM_NOT_NULL(opType);
    SIM_NOT_NULL(kernelId);
    SIM_NOT_NULL(kernelName);
    SIM_NOT_NULL(binData);
    SIM_ARGUMENT(binSize > 0, ACL_ERROR_INVALID_PARAM, "binSize is %d, expected the size of binData in bytes", binSize);
    SIM_ARGUMENT((unsigned)enginetype <= ACL_ENGINE_VECTOR, ACL_ERROR_INVALID_PARAM,
                 "enginetype is %d, expected 0 to %d", (int)enginetype, ACL_ENGINE_VECTOR);
    return sim_op_add_kernel(opType, kernelId, binData, (size_t)binSize, deallocator);
}

aclError aclopSetKernelArgs(aclopKernelDesc *kernelDesc, const char *kernelId, uint32_t blockDim, const void *args,
                            uint32_t argSize)
{
    SIM_ENTER();
    (void)blockDim; /* like args, used only by a kernel on a chip */
    SIM_NOT_NULL(kernelDesc);
    SIM_NOT_NULL(kernelId);
    SIM_ARGUMENT(args != NULL || argSize == 0, ACL_ERROR_INVALID_PARAM,
                 "args is NULL with argSize %u, expected a block of that size", argSize);
    return sim_op_choose_kernel(kernelDesc, kernelId);
}

aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc *kernelDesc, int numWorkspaces, size_t *workspaceSizes)
{
    SIM_ENTER();
    SIM_NOT_NULL(kernelDesc);
    SIM_ARGUMENT(numWorkspaces >= 0, ACL_ERROR_INVALID_PARAM, "numWorkspaces is %d, expected 0 or more", numWorkspaces);
    SIM_ARGUMENT(numWorkspaces == 0 || workspaceSizes != NULL, ACL_ERROR_INVALID_PARAM,
                 "workspaceSizes is NULL with numWorkspaces %d, expected an array", numWorkspaces);
    return sim_op_choose_kernel(kernelDesc, NULL);
}

aclError aclopUpdateParams(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], const aclopAttr *attr)
{
    SIM_ENTER();
    const struct sim_op_given given = {.gi_type = opType, .gi_input_count = numInputs, .gi_output_count = numOutputs,
                                       .gi_input_descs = inputDesc, .gi_output_descs = outputDesc, .gi_attr = attr};
    return sim_op_select(&given);
}
