/* Entry points of bundles, files with several models. */
#include "model/model_bundle.h"
#include "model/model_config.h"

/* ---- opening ---- */

static aclError check_bytes(const void *model, size_t size)
{
    SIM_NOT_NULL(model);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "modelSize is 0, expected the size of a bundle in bytes");
    return ACL_SUCCESS;
}

static aclError open_file(const char *path, void *variables, size_t size, uint32_t *id)
{
    struct sim_bytes bytes;
    SIM_ARGUMENT(path != NULL, ACL_ERROR_INVALID_PARAM, "modelPath is NULL, expected the path of a bundle");
    SIM_ARGUMENT(id != NULL, ACL_ERROR_INVALID_PARAM, "bundleId is NULL, expected a valid pointer");
    SIM_TRY(sim_model_read(path, &bytes));
    aclError code = sim_model_bundle_open(bytes, variables, size, id);
    sim_model_free_bytes(bytes);
    return code;
}

static aclError open_memory(const void *model, size_t model_size, void *variables, size_t size, uint32_t *id)
{
    SIM_TRY(check_bytes(model, model_size));
    SIM_ARGUMENT(id != NULL, ACL_ERROR_INVALID_PARAM, "bundleId is NULL, expected a valid pointer");
    return sim_model_bundle_open((struct sim_bytes){model, model_size}, variables, size, id);
}

aclError aclmdlBundleInitFromFile(const char *modelPath, void *varWeightPtr, size_t varWeightSize, uint32_t *bundleId)
{
    SIM_ENTER();
    return open_file(modelPath, varWeightPtr, varWeightSize, bundleId);
}

aclError aclmdlBundleInitFromMem(const void *model, size_t modelSize, void *varWeightPtr, size_t varWeightSize,
                                 uint32_t *bundleId)
{
    SIM_ENTER();
    return open_memory(model, modelSize, varWeightPtr, varWeightSize, bundleId);
}

/* Loads all models of a bundle, or closes the bundle if one of them fails. */
static aclError load_all(uint32_t id)
{
    size_t count = 0;
    uint32_t model;
    SIM_TRY(sim_model_bundle_count(id, &count));
    for (size_t i = 0; i < count; i++) {
        aclError code = sim_model_bundle_load(id, i, (struct sim_load){0}, &model);
        if (code != ACL_SUCCESS) {
            sim_model_bundle_close(id);
            return code;
        }
    }
    return ACL_SUCCESS;
}

aclError aclmdlBundleLoadFromFile(const char *modelPath, uint32_t *bundleId)
{
    SIM_ENTER();
    SIM_TRY(open_file(modelPath, NULL, 0, bundleId));
    return load_all(*bundleId);
}

aclError aclmdlBundleLoadFromMem(const void *model, size_t modelSize, uint32_t *bundleId)
{
    SIM_ENTER();
    SIM_TRY(open_memory(model, modelSize, NULL, 0, bundleId));
    return load_all(*bundleId);
}

aclError aclmdlBundleUnload(uint32_t bundleId)
{
    SIM_ENTER();
    return sim_model_bundle_close(bundleId);
}

/* ---- models ---- */

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelNum);
    return sim_model_bundle_count(bundleId, modelNum);
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelId);
    return sim_model_bundle_model(bundleId, index, modelId);
}

aclError aclmdlBundleLoadModel(uint32_t bundleId, size_t index, uint32_t *modelId)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelId);
    return sim_model_bundle_load(bundleId, index, (struct sim_load){0}, modelId);
}

aclError aclmdlBundleLoadModelWithMem(uint32_t bundleId, size_t index, void *workPtr, size_t workSize, void *weightPtr,
                                      size_t weightSize, uint32_t *modelId)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelId);
    return sim_model_bundle_load(bundleId, index, sim_load_with_memory(workPtr, workSize, weightPtr, weightSize),
                                 modelId);
}

aclError aclmdlBundleLoadModelWithConfig(uint32_t bundleId, size_t index, aclmdlConfigHandle *handle, uint32_t *modelId)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelId);
    struct sim_options *options = sim_model_options_open(SIM_LOAD_OPTIONS, handle);
    if (options == NULL)
        return ACL_ERROR_INVALID_PARAM;
    struct sim_load load = sim_model_options_memory(options);
    sim_object_close(options);
    return sim_model_bundle_load(bundleId, index, load, modelId);
}

aclError aclmdlBundleUnloadModel(uint32_t bundleId, uint32_t modelId)
{
    SIM_ENTER();
    return sim_model_bundle_unload(bundleId, modelId);
}

/* ---- queries ---- */

/* Body of a function on the result of a query: returns `call`, which uses `found`. */
#define WITH_ANSWER(call)                                                                                              \
    struct sim_bundle_answer *found = sim_model_bundle_answer_open(queryInfo);                                         \
    if (found == NULL)                                                                                                 \
        return ACL_ERROR_INVALID_PARAM;                                                                                \
    aclError code = call;                                                                                              \
    sim_object_close(found);                                                                                           \
    return code

aclmdlBundleQueryInfo *aclmdlBundleCreateQueryInfo(void)
{
    SIM_ENTER();
    return sim_model_bundle_answer_create();
}

aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo *queryInfo)
{
    SIM_ENTER();
    struct sim_bundle_answer *found = sim_model_bundle_answer_open(queryInfo);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_model_bundle_answer_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlBundleQueryInfoFromMem(const void *model, size_t modelSize, aclmdlBundleQueryInfo *queryInfo)
{
    SIM_ENTER();
    SIM_TRY(check_bytes(model, modelSize));
    struct sim_bytes bytes = {model, modelSize};
    WITH_ANSWER(sim_model_bundle_ask(found, bytes));
}

static aclError ask(aclmdlBundleQueryInfo *queryInfo, struct sim_bytes bytes)
{
    WITH_ANSWER(sim_model_bundle_ask(found, bytes));
}

aclError aclmdlBundleQueryInfoFromFile(const char *fileName, aclmdlBundleQueryInfo *queryInfo)
{
    SIM_ENTER();
    struct sim_bytes bytes;
    SIM_NOT_NULL(fileName);
    SIM_NOT_NULL(queryInfo);
    SIM_TRY(sim_model_read(fileName, &bytes));
    aclError code = ask(queryInfo, bytes);
    sim_model_free_bytes(bytes);
    return code;
}

static aclError count_models(const struct sim_bundle_answer *answer, size_t *count)
{
    SIM_ARGUMENT(answer->an_count != 0, ACL_ERROR_INVALID_PARAM,
                 "queryInfo is empty, expected aclmdlBundleQueryInfoFromFile before");
    *count = answer->an_count;
    return ACL_SUCCESS;
}

aclError aclmdlBundleGetQueryModelNum(const aclmdlBundleQueryInfo *queryInfo, size_t *modelNum)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelNum);
    WITH_ANSWER(count_models(found, modelNum));
}

static aclError variables_of(const struct sim_bundle_answer *answer, size_t *size)
{
    size_t count = 0;
    SIM_TRY(count_models(answer, &count));
    *size = answer->an_variables;
    return ACL_SUCCESS;
}

aclError aclmdlBundleGetVarWeightSize(const aclmdlBundleQueryInfo *queryInfo, size_t *variableWeightSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(variableWeightSize);
    WITH_ANSWER(variables_of(found, variableWeightSize));
}

static aclError sizes_of(const struct sim_bundle_answer *answer, size_t index, size_t *work, size_t *weights)
{
    size_t count = 0;
    SIM_TRY(count_models(answer, &count));
    SIM_ARGUMENT(index < count, ACL_ERROR_INVALID_PARAM, "index is %zu, expected less than %zu", index, count);
    *work = answer->an_sizes[index][0];
    *weights = answer->an_sizes[index][1];
    return ACL_SUCCESS;
}

aclError aclmdlBundleGetSize(const aclmdlBundleQueryInfo *queryInfo, size_t index, size_t *workSize,
                             size_t *constWeightSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(workSize);
    SIM_NOT_NULL(constWeightSize);
    WITH_ANSWER(sizes_of(found, index, workSize, constWeightSize));
}
