/* Entry points of configurations: how to load a model, and how to execute it. */
#include "model/model_config.h"
#include <stdlib.h>

/* ---- both types of configuration ---- */

static aclError destroy(enum sim_options_kind kind, const void *handle)
{
    struct sim_options *found = sim_model_options_open(kind, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_model_options_destroy(kind, found);
    return ACL_SUCCESS;
}

static aclError set(enum sim_options_kind kind, const void *handle, unsigned attr, const void *attrValue,
                    size_t valueSize)
{
    SIM_NOT_NULL(attrValue);
    struct sim_options *found = sim_model_options_open(kind, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_model_options_set(kind, found, attr, attrValue, valueSize);
    sim_object_close(found);
    return code;
}

aclmdlConfigHandle *aclmdlCreateConfigHandle(void)
{
    SIM_ENTER();
    return sim_model_options_create(SIM_LOAD_OPTIONS);
}

aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void)
{
    SIM_ENTER();
    return sim_model_options_create(SIM_RUN_OPTIONS);
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle)
{
    SIM_ENTER();
    return destroy(SIM_LOAD_OPTIONS, handle);
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    return destroy(SIM_RUN_OPTIONS, handle);
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr, const void *attrValue,
                            size_t valueSize)
{
    SIM_ENTER();
    return set(SIM_LOAD_OPTIONS, handle, (unsigned)attr, attrValue, valueSize);
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr, const void *attrValue,
                                size_t valueSize)
{
    SIM_ENTER();
    return set(SIM_RUN_OPTIONS, handle, (unsigned)attr, attrValue, valueSize);
}

/* ---- loading ---- */

/* The simulator's model files contain their weights, so a file of weights is refused instead of being ignored. */
aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle *handle, const char *weightFileName, void *devPtr,
                                        size_t size)
{
    SIM_ENTER();
    SIM_NOT_NULL(weightFileName);
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected the size of the weights in bytes");
    struct sim_options *found = sim_model_options_open(SIM_LOAD_OPTIONS, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_object_close(found);
    return sim_refuse(ACL_ERROR_API_NOT_SUPPORT, "weightFileName is \"%s\", but separate weight files are not "
                      "supported, expected the weights inside the model", weightFileName);
}

static aclError read_options(const aclmdlConfigHandle *handle, struct sim_load *load, struct sim_load_queues *queues,
                             char **path)
{
    struct sim_options *found = sim_model_options_open(SIM_LOAD_OPTIONS, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_model_options_read(found, load, queues, path);
    sim_object_close(found);
    return code;
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId)
{
    SIM_ENTER();
    struct sim_load load = {0};
    struct sim_load_queues queues;
    char *path = NULL;
    SIM_NOT_NULL(modelId);
    aclError code = read_options(handle, &load, &queues, &path);
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

/* Only the vendor's compiler creates graphs in memory, and the simulator has no compiler: every pointer is refused. */
aclError aclmdlLoadFromModel(const aclmdlModel *model, const aclmdlConfigHandle *handle, uint32_t *modelId)
{
    SIM_ENTER();
    SIM_NOT_NULL(model);
    SIM_NOT_NULL(modelId);
    struct sim_options *found = sim_model_options_open(SIM_LOAD_OPTIONS, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_object_close(found);
    return sim_refuse(ACL_ERROR_API_NOT_SUPPORT,
                      "model is %p, but loading a graph that was compiled in this process is not supported, expected "
                      "aclmdlLoadWithConfig", (const void *)model);
}

/* ---- executions ---- */

static aclError read_setting(const aclmdlExecConfigHandle *handle, uint32_t model, struct sim_run_setting *setting)
{
    struct sim_options *found = sim_model_options_open(SIM_RUN_OPTIONS, handle);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *setting = sim_model_options_run(found);
    sim_object_close(found);
    return sim_model_run_check_work(setting, model);
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream,
                              const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    struct sim_run_setting setting;
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    SIM_TRY(read_setting(handle, modelId, &setting));
    return sim_model_execute_async(modelId, input, output, stream, SIM_SITE());
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream,
                         const aclmdlExecConfigHandle *handle)
{
    SIM_ENTER();
    struct sim_run_setting setting;
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    SIM_TRY(read_setting(handle, modelId, &setting));
    return sim_model_execute_on(modelId, input, output, stream, setting.rs_timeout, SIM_SITE());
}
