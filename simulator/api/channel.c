/* Entry points of channels, and of the datasets that are sent through them. The vendor documents them for training
 * cards; on P310B and P310P no channel, dataset or item can be created. Choices where the documents are silent:
 *
 * - A time-out below -1 is refused, as in other calls; an empty dataset is sent and received like any other.
 * - On the oldest cards, receiving from a channel without a capacity accepts only the time-out -1 (no limit).
 * - Every channel works in both directions.
 * - An item has slice 0 of 0, because tensors are never sliced. A dataset that was not received has the name "". */
#include "queue/channel.h"
#include "address/memory.h"
#include "base/config.h"
#include "engine/device.h"
#include <string.h>

#define CAPACITY_LEAST 2
#define CAPACITY_MOST 8192

static bool has_channels(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    bool has = soc->so_profile != SIM_P310B && soc->so_profile != SIM_P310P;
    if (!has)
        sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no channels, expected a training card", soc->so_name);
    return has;
}

/* ---- channels ---- */

static acltdtChannelHandle *create(uint32_t device, const char *name, size_t capacity)
{
    struct sim_device *found;
    if (name == NULL || *name == '\0') {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "name is %s, expected a name", name == NULL ? "NULL" : "empty");
        return NULL;
    }
    if (strnlen(name, SIM_QUEUE_NAME) == SIM_QUEUE_NAME) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "name has more than %d characters", SIM_QUEUE_NAME - 1);
        return NULL;
    }
    if (sim_device_find((int32_t)device, &found) != ACL_SUCCESS)
        return NULL;
    return sim_channel_create((int32_t)device, name, capacity);
}

acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name)
{
    SIM_ENTER();
    return has_channels() ? create(deviceId, name, 0) : NULL;
}

acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name, size_t capacity)
{
    SIM_ENTER();
    if (!has_channels())
        return NULL;
    if (capacity < CAPACITY_LEAST || capacity > CAPACITY_MOST) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "capacity is %zu, expected %d to %d", capacity, CAPACITY_LEAST,
                   CAPACITY_MOST);
        return NULL;
    }
    return create(deviceId, name, capacity);
}

aclError acltdtDestroyChannel(acltdtChannelHandle *handle)
{
    SIM_ENTER();
    return sim_channel_destroy(handle);
}

aclError acltdtStopChannel(acltdtChannelHandle *handle)
{
    SIM_ENTER();
    return sim_channel_stop(handle);
}

aclError acltdtCleanChannel(acltdtChannelHandle *handle)
{
    SIM_ENTER();
    return sim_channel_clean(handle);
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(size);
    return sim_channel_size(handle, size);
}

static aclError check_timeout(int32_t timeout)
{
    SIM_ARGUMENT(timeout >= -1, ACL_ERROR_INVALID_PARAM,
                 "timeout is %d, expected -1 (no limit), 0 (do not wait) or milliseconds", timeout);
    return ACL_SUCCESS;
}

aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(dataset);
    SIM_TRY(check_timeout(timeout));
    return sim_channel_send(handle, dataset, timeout);
}

aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(dataset);
    SIM_TRY(check_timeout(timeout));
    return sim_channel_receive(handle, dataset, timeout);
}

/* ---- datasets ---- */

acltdtDataset *acltdtCreateDataset(void)
{
    SIM_ENTER();
    return has_channels() ? sim_channel_dataset_create() : NULL;
}

aclError acltdtDestroyDataset(acltdtDataset *dataset)
{
    SIM_ENTER();
    struct sim_channel_dataset *found = sim_channel_dataset_open(dataset);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_channel_dataset_destroy(found);
    return ACL_SUCCESS;
}

aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataset);
    SIM_NOT_NULL(dataItem);
    return sim_channel_dataset_add(dataset, dataItem);
}

/* Body of a function on an object: returns `expression`, which uses `found`, or `refusal` for an invalid handle. */
#define WITH(open, type, refusal, expression)                                                                          \
    if ((found = open) == NULL)                                                                                        \
        return refusal;                                                                                                \
    type answer = expression;                                                                                          \
    sim_object_close(found);                                                                                           \
    return answer

acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index)
{
    SIM_ENTER();
    struct sim_channel_dataset *found;
    WITH(sim_channel_dataset_open(dataset), acltdtDataItem *, NULL,
         index < found->cd_count ? found->cd_items[index] : NULL);
}

size_t acltdtGetDatasetSize(const acltdtDataset *dataset)
{
    SIM_ENTER();
    struct sim_channel_dataset *found;
    WITH(sim_channel_dataset_open(dataset), size_t, 0, found->cd_count);
}

const char *acltdtGetDatasetName(const acltdtDataset *dataset)
{
    SIM_ENTER();
    struct sim_channel_dataset *found;
    WITH(sim_channel_dataset_open(dataset), const char *, NULL, found->cd_name);
}

/* ---- items ---- */

static aclError check_shape(acltdtTensorType type, const int64_t *dims, size_t count)
{
    SIM_ARGUMENT(type >= ACL_TENSOR_DATA_UNDEFINED && type <= ACL_TENSOR_DATA_END_TENSOR, ACL_ERROR_INVALID_PARAM,
                 "tdtType is %d, expected -1 to 4", (int)type);
    SIM_ARGUMENT((dims == NULL) == (count == 0), ACL_ERROR_INVALID_PARAM,
                 "dims is %p with dimNum %zu, expected an array of that length, or NULL and 0", (const void *)dims,
                 count);
    SIM_ARGUMENT(count <= SIM_CHANNEL_DIMS, ACL_ERROR_INVALID_PARAM, "dimNum is %zu, expected at most %d", count,
                 SIM_CHANNEL_DIMS);
    SIM_ARGUMENT(type == ACL_TENSOR_DATA_TENSOR || count == 0, ACL_ERROR_INVALID_PARAM,
                 "dimNum is %zu and tdtType %d, expected dimensions only with ACL_TENSOR_DATA_TENSOR (0)", count,
                 (int)type);
    SIM_ARGUMENT(sim_memory_is_host(dims), ACL_ERROR_INVALID_PARAM,
                 "dims is %p, which is device memory, expected host memory", (const void *)dims);
    return ACL_SUCCESS;
}

acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum, aclDataType dataType,
                                     void *data, size_t size)
{
    SIM_ENTER();
    if (!has_channels() || check_shape(tdtType, dims, dimNum) != ACL_SUCCESS)
        return NULL;
    bool is_tensor = tdtType == ACL_TENSOR_DATA_TENSOR; /* items of other types have no data */
    return sim_channel_item_create(&(struct sim_item){.it_type = tdtType, .it_data_type = dataType,
                                                      .it_rank = (uint32_t)dimNum,
                                                      .it_dims = (int64_t *)(uintptr_t)dims,
                                                      .it_data = is_tensor ? data : NULL,
                                                      .it_size = is_tensor ? size : 0});
}

aclError acltdtDestroyDataItem(acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found = sim_channel_item_open(dataItem);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    if (found->ci_received) {
        sim_object_close(found);
        return sim_refuse(ACL_ERROR_INVALID_PARAM,
                          "dataItem was received and is destroyed with its dataset, expected an item of "
                          "acltdtCreateDataItem");
    }
    sim_channel_item_destroy(found);
    return ACL_SUCCESS;
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), acltdtTensorType, ACL_TENSOR_DATA_UNDEFINED, found->ci_item.it_type);
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), aclDataType, ACL_DT_UNDEFINED, found->ci_item.it_data_type);
}

void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), void *, NULL, found->ci_item.it_data);
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), size_t, 0, found->ci_item.it_size);
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), size_t, 0, found->ci_item.it_rank);
}

static aclError give_dims(const struct sim_item *item, int64_t *dims, size_t room)
{
    SIM_ARGUMENT(room >= item->it_rank, ACL_ERROR_INVALID_PARAM,
                 "dimNum is %zu, expected at least %u, the number of dimensions of the item", room, item->it_rank);
    if (item->it_rank == 0)
        return ACL_SUCCESS;
    SIM_NOT_NULL(dims);
    SIM_ARGUMENT(sim_memory_is_host(dims), ACL_ERROR_INVALID_PARAM,
                 "dims is %p, which is device memory, expected host memory", (void *)dims);
    memcpy(dims, item->it_dims, item->it_rank * sizeof *dims);
    return ACL_SUCCESS;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum)
{
    SIM_ENTER();
    struct sim_channel_item *found;
    WITH(sim_channel_item_open(dataItem), aclError, ACL_ERROR_INVALID_PARAM, give_dims(&found->ci_item, dims, dimNum));
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum, size_t *sliceId)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataItem);
    SIM_NOT_NULL(sliceNum);
    SIM_NOT_NULL(sliceId);
    struct sim_channel_item *found = sim_channel_item_open(dataItem);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_object_close(found);
    *sliceNum = 0;
    *sliceId = 0;
    return ACL_SUCCESS;
}
