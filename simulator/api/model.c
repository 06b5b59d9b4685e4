/* Entry points of models: loading, sizes, attributes and executions. */
#include "model/format/format.h"
#include "model/model_queue.h"

/* ---- loading ---- */

static aclError check_memory(const void *model, size_t size)
{
    SIM_NOT_NULL(model);
    SIM_ARGUMENT(size >= SIM_FILE_HEADER, ACL_ERROR_INVALID_PARAM,
                 "modelSize is %zu, expected the size of a model in bytes, at least %d (its header)", size,
                 SIM_FILE_HEADER);
    return ACL_SUCCESS;
}

static aclError load_file(const char *path, struct sim_load load, uint32_t *id)
{
    SIM_ARGUMENT(path != NULL, ACL_ERROR_INVALID_PARAM, "modelPath is NULL, expected the path of a model");
    SIM_ARGUMENT(id != NULL, ACL_ERROR_INVALID_PARAM, "modelId is NULL, expected a valid pointer");
    SIM_TRY(sim_model_read(path, &load.lo_model));
    load.lo_path = path;
    aclError code = sim_model_load(&load, id);
    sim_model_free_bytes(load.lo_model);
    return code;
}

static aclError load_memory(const void *model, size_t size, struct sim_load load, uint32_t *id)
{
    SIM_TRY(check_memory(model, size));
    SIM_ARGUMENT(id != NULL, ACL_ERROR_INVALID_PARAM, "modelId is NULL, expected a valid pointer");
    load.lo_model = (struct sim_bytes){model, size};
    return sim_model_load(&load, id);
}

aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId)
{
    SIM_ENTER();
    return load_file(modelPath, (struct sim_load){0}, modelId);
}

aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId)
{
    SIM_ENTER();
    return load_memory(model, modelSize, (struct sim_load){0}, modelId);
}

aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr, size_t workSize,
                                   void *weightPtr, size_t weightSize)
{
    SIM_ENTER();
    return load_file(modelPath, sim_load_with_memory(workPtr, workSize, weightPtr, weightSize), modelId);
}

aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId, void *workPtr,
                                  size_t workSize, void *weightPtr, size_t weightSize)
{
    SIM_ENTER();
    return load_memory(model, modelSize, sim_load_with_memory(workPtr, workSize, weightPtr, weightSize), modelId);
}

aclError aclmdlLoadFromFileWithQ(const char *modelPath, uint32_t *modelId, const uint32_t *inputQ, size_t inputQNum,
                                 const uint32_t *outputQ, size_t outputQNum)
{
    SIM_ENTER();
    struct sim_load_queues queues = {inputQ, outputQ, inputQNum, outputQNum};
    SIM_NOT_NULL(modelPath);
    SIM_NOT_NULL(modelId);
    SIM_TRY(sim_model_queue_check(&queues));
    return load_file(modelPath, (struct sim_load){.lo_queues = &queues}, modelId);
}

aclError aclmdlLoadFromMemWithQ(const void *model, size_t modelSize, uint32_t *modelId, const uint32_t *inputQ,
                                size_t inputQNum, const uint32_t *outputQ, size_t outputQNum)
{
    SIM_ENTER();
    struct sim_load_queues queues = {inputQ, outputQ, inputQNum, outputQNum};
    SIM_TRY(check_memory(model, modelSize));
    SIM_NOT_NULL(modelId);
    SIM_TRY(sim_model_queue_check(&queues));
    return load_memory(model, modelSize, (struct sim_load){.lo_queues = &queues}, modelId);
}

aclError aclmdlUnload(uint32_t modelId)
{
    SIM_ENTER();
    return sim_model_unload(modelId, 0);
}

/* ---- sizes ---- */

static aclError query(struct sim_bytes model, size_t *work, size_t *weight)
{
    struct sim_file file;
    struct sim_signature *signature;
    SIM_TRY(sim_file_view(model, &file));
    SIM_TRY(sim_file_signature(&file, &signature));
    *work = signature->sg_work;
    *weight = signature->sg_weight;
    sim_model_signature_drop(signature);
    return ACL_SUCCESS;
}

aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize)
{
    SIM_ENTER();
    struct sim_bytes model;
    SIM_NOT_NULL(fileName);
    SIM_NOT_NULL(workSize);
    SIM_NOT_NULL(weightSize);
    SIM_TRY(sim_model_read(fileName, &model));
    aclError code = query(model, workSize, weightSize);
    sim_model_free_bytes(model);
    return code;
}

aclError aclmdlQuerySizeFromMem(const void *model, size_t modelSize, size_t *workSize, size_t *weightSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(workSize);
    SIM_NOT_NULL(weightSize);
    SIM_TRY(check_memory(model, modelSize));
    struct sim_bytes bytes = {model, modelSize};
    return query(bytes, workSize, weightSize);
}

static size_t size_of_part(const struct sim_file *file, enum sim_part type)
{
    struct sim_bytes part;
    sim_file_part(file, type, &part);
    return part.by_size;
}

aclError aclmdlQueryExeOMDesc(const char *fileName, aclmdlExeOMDesc *mdlPartitionSize)
{
    SIM_ENTER();
    struct sim_bytes model;
    struct sim_file file;
    aclmdlExeOMDesc sizes = {0};
    SIM_NOT_NULL(fileName);
    SIM_NOT_NULL(mdlPartitionSize);
    SIM_TRY(sim_model_read(fileName, &model));
    aclError code = query(model, &sizes.workSize, &sizes.weightSize);
    if (code == ACL_SUCCESS)
        code = sim_file_view(model, &file);
    if (code == ACL_SUCCESS) {
        sizes.modelDescSize = size_of_part(&file, SIM_PART_MODEL_DEF);
        sizes.kernelSize = size_of_part(&file, SIM_PART_KERNELS);
        sizes.kernelArgsSize = size_of_part(&file, SIM_PART_TASK_PARAMETERS);
        sizes.staticTaskSize = size_of_part(&file, SIM_PART_STATIC_TASKS);
        sizes.dynamicTaskSize = size_of_part(&file, SIM_PART_DYNAMIC_TASKS);
        *mdlPartitionSize = sizes;
    }
    sim_model_free_bytes(model);
    return code;
}

/* ---- attributes ---- */

#define PRIORITY_MOST 7

static aclError check_attribute(aclmdlAttr attr, const aclmdlAttrValue_t *value)
{
    SIM_ARGUMENT(attr == ACL_MDL_ATTR_PRIORITY_INT32, ACL_ERROR_INVALID_PARAM,
                 "attr is %d, expected ACL_MDL_ATTR_PRIORITY_INT32", (int)attr);
    SIM_ARGUMENT(value != NULL, ACL_ERROR_INVALID_PARAM, "attrValue is NULL, expected a valid pointer");
    return ACL_SUCCESS;
}

aclError aclmdlSetAttribute(uint32_t modelId, aclmdlAttr attr, aclmdlAttrValue_t *attrValue)
{
    SIM_ENTER();
    struct sim_model *model;
    SIM_TRY(check_attribute(attr, attrValue));
    SIM_ARGUMENT(attrValue->mdlPriority <= PRIORITY_MOST, ACL_ERROR_INVALID_PARAM,
                 "mdlPriority is %u, expected 0 to %d", attrValue->mdlPriority, PRIORITY_MOST);
    SIM_TRY(sim_model_open(modelId, &model));
    atomic_store_explicit(&model->mo_priority, attrValue->mdlPriority, memory_order_relaxed); /* orders no other data */
    sim_model_close(model);
    return ACL_SUCCESS;
}

aclError aclmdlGetAttribute(uint32_t modelId, aclmdlAttr attr, aclmdlAttrValue_t *attrValue)
{
    SIM_ENTER();
    struct sim_model *model;
    SIM_TRY(check_attribute(attr, attrValue));
    SIM_TRY(sim_model_open(modelId, &model));
    attrValue->mdlPriority = atomic_load_explicit(&model->mo_priority, memory_order_relaxed); /* orders no other data */
    sim_model_close(model);
    return ACL_SUCCESS;
}

/* ---- executions ---- */

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output)
{
    SIM_ENTER();
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    return sim_model_execute(modelId, input, output, SIM_SITE());
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(input);
    SIM_NOT_NULL(output);
    return sim_model_execute_async(modelId, input, output, stream, SIM_SITE());
}
