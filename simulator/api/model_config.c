#include "model_config.h"
#include <stdlib.h>

/* ---- how to load ---- */

aclmdlConfigHandle *aclmdlCreateConfigHandle(void)
{
    SIM_ENTER();
    return sim_load_options_create();
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle)
{
    SIM_ENTER();
    struct sim_options *found = sim_load_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_load_options_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr, const void *attrValue,
                            size_t valueSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(attrValue);
    struct sim_options *found = sim_load_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_load_options_set(found, attr, attrValue, valueSize);
    sim_object_close(found);
    return code;
}

static aclError read_options(const aclmdlConfigHandle *handle, struct sim_load *load, char **path)
{
    bool queues = false;
    struct sim_options *found = sim_load_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_load_options_read(found, load, path, &queues);
    sim_object_close(found);
    SIM_TRY(code);
    SIM_ARGUMENT(!queues, ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID,
                 "the lists name queues that do not exist: the simulator has none yet");
    return ACL_SUCCESS;
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId)
{
    SIM_ENTER();
    struct sim_load load = {0};
    char *path = NULL;
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(modelId);
    aclError code = read_options(handle, &load, &path);
    if (code == ACL_SUCCESS && path != NULL)
        code = sim_model_read(path, &load.lo_model);
    load.lo_path = path;
    if (code == ACL_SUCCESS)
        code = sim_model_load(&load, modelId);
    if (path != NULL)
        sim_model_free_bytes(load.lo_model);
    free(path);
    return code;
}

/* ---- how to run ---- */

aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void)
{
    SIM_ENTER();
    return sim_run_options_create();
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    struct sim_options *found = sim_run_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_run_options_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr, const void *attrValue,
                                size_t valueSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(attrValue);
    struct sim_options *found = sim_run_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_run_options_set(found, attr, attrValue, valueSize);
    sim_object_close(found);
    return code;
}

/* How long a run on a stream is waited for, in milliseconds; -1: as long as it takes. */
static aclError read_timeout(const aclmdlExecConfigHandle *handle, int32_t *timeout)
{
    struct sim_options *found = sim_run_options_open(handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *timeout = -1;
    if (sim_options_has(found, ACL_MDL_STREAM_SYNC_TIMEOUT))
        *timeout = (int32_t)found->op_values[ACL_MDL_STREAM_SYNC_TIMEOUT];
    sim_object_close(found);
    return ACL_SUCCESS;
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream,
                              const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    int32_t timeout;
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    SIM_NOT_NULL(handle);
    SIM_TRY(read_timeout(handle, &timeout));
    return sim_model_execute_async(modelId, input, output, stream, SIM_SITE());
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream,
                         const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    int32_t timeout;
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    SIM_NOT_NULL(handle);
    SIM_TRY(read_timeout(handle, &timeout));
    return sim_model_execute_on(modelId, input, output, stream, timeout, SIM_SITE());
}
