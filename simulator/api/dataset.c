#include "dataset.h"
#include "model_aipp.h"

/* NULL is refused in the same words as in other calls; a dead handle is described. */
#define OPEN(found, handle, refusal)                                                                                   \
    struct sim_dataset *found = sim_dataset_open(handle, "dataset");                                                   \
    if (found == NULL)                                                                                                 \
    return refusal

aclmdlDataset *aclmdlCreateDataset(void)
{
    SIM_ENTER();
    return sim_dataset_create();
}

aclError aclmdlDestroyDataset(const aclmdlDataset *dataset)
{
    SIM_ENTER();
    OPEN(found, dataset, ACL_ERROR_INVALID_PARAM);
    sim_dataset_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataBuffer);
    OPEN(found, dataset, ACL_ERROR_INVALID_PARAM);
    aclError code = sim_dataset_add(found, dataBuffer);
    sim_object_close(found);
    return code;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset)
{
    SIM_ENTER();
    OPEN(found, dataset, 0);
    size_t count = found->da_count;
    sim_object_close(found);
    return count;
}

aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index)
{
    SIM_ENTER();
    OPEN(found, dataset, NULL);
    aclDataBuffer *buffer = index < found->da_count ? found->da_slots[index].sl_buffer : NULL;
    sim_object_close(found);
    return buffer;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc, size_t index)
{
    SIM_ENTER();
    OPEN(found, dataset, ACL_ERROR_INVALID_PARAM);
    aclError code = sim_dataset_describe(found, index, tensorDesc);
    sim_object_close(found);
    return code;
}

aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index)
{
    SIM_ENTER();
    OPEN(found, dataset, NULL);
    aclTensorDesc *desc = index < found->da_count ? found->da_slots[index].sl_desc : NULL;
    sim_object_close(found);
    return desc;
}

aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize)
{
    SIM_ENTER();
    return sim_aipp_create(batchSize);
}
