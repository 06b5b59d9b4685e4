/* Entry points of datasets, the inputs and outputs of models. */
#include "model/dataset.h"
#include "model/model_aipp.h"

/* Opens the dataset of the call; returns `refusal`, with a message, if the handle is NULL or stale. */
#define OPEN(found, refusal)                                                                                           \
    struct sim_dataset *found = sim_dataset_open(dataset, "dataset");                                                  \
    if (found == NULL)                                                                                                 \
    return refusal

/* Body of a function on a dataset: returns `expression`, which uses `found`, or `refusal` for an invalid handle. */
#define WITH_DATASET(type, refusal, expression)                                                                        \
    OPEN(found, refusal);                                                                                              \
    type answer = expression;                                                                                          \
    sim_object_close(found);                                                                                           \
    return answer

aclmdlDataset *aclmdlCreateDataset(void)
{
    SIM_ENTER();
    return sim_dataset_create();
}

aclError aclmdlDestroyDataset(const aclmdlDataset *dataset)
{
    SIM_ENTER();
    OPEN(found, ACL_ERROR_INVALID_PARAM);
    sim_dataset_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataBuffer);
    WITH_DATASET(aclError, ACL_ERROR_INVALID_PARAM, sim_dataset_add(found, dataBuffer));
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset)
{
    SIM_ENTER();
    WITH_DATASET(size_t, 0, found->da_count);
}

aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index)
{
    SIM_ENTER();
    WITH_DATASET(aclDataBuffer *, NULL, index < found->da_count ? found->da_slots[index].sl_buffer : NULL);
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc, size_t index)
{
    SIM_ENTER();
    WITH_DATASET(aclError, ACL_ERROR_INVALID_PARAM, sim_dataset_describe(found, index, tensorDesc));
}

aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index)
{
    SIM_ENTER();
    WITH_DATASET(aclTensorDesc *, NULL, index < found->da_count ? found->da_slots[index].sl_desc : NULL);
}

aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize)
{
    SIM_ENTER();
    return sim_model_aipp_create(batchSize);
}
