/* This file provides datasets. A dataset owns its descriptions; its data buffers belong to the program.
 *
 * Locks: the dataset's lock guards its list. Descriptions have locks of their own, taken inside it one at a time. */
#include "dataset.h"
#include "operator/tensordesc.h"
#include <stdlib.h>

static struct sim_table datasets = SIM_OBJECT_TABLE(struct sim_dataset, SIM_KIND_DATASET);

struct sim_dataset *sim_dataset_open(const aclmdlDataset *handle, const char *argument)
{
    return sim_object_open(&datasets, handle, argument, ACL_ERROR_INVALID_PARAM);
}

struct sim_dataset *sim_dataset_peek(const aclmdlDataset *handle)
{
    return sim_object_peek(&datasets, handle);
}

aclmdlDataset *sim_dataset_create(void)
{
    uint64_t handle;
    struct sim_dataset *dataset = sim_object_take(&datasets, &handle);
    return dataset == NULL ? NULL : sim_object_publish(dataset, handle);
}

static void drop_desc(struct sim_dataset_slot *slot)
{
    struct sim_tensor_desc *desc = slot->sl_desc == NULL ? NULL : sim_tensordesc_peek(slot->sl_desc);
    if (desc != NULL) /* NULL if the program destroyed the description */
        sim_tensordesc_destroy(desc);
    slot->sl_desc = NULL;
}

void sim_dataset_destroy(struct sim_dataset *dataset)
{
    for (size_t i = 0; i < dataset->da_count; i++)
        drop_desc(&dataset->da_slots[i]);
    free(dataset->da_slots);
    dataset->da_slots = NULL;
    dataset->da_count = dataset->da_room = 0;
    dataset->da_gear_model = 0;
    sim_object_end(&datasets, dataset);
}

aclError sim_dataset_add(struct sim_dataset *dataset, aclDataBuffer *buffer)
{
    if (dataset->da_count == dataset->da_room) {
        size_t room = dataset->da_room == 0 ? 4 : 2 * dataset->da_room;
        struct sim_dataset_slot *slots = realloc(dataset->da_slots, room * sizeof *slots);
        SIM_ARGUMENT(slots != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for %zu data buffers", room);
        dataset->da_slots = slots;
        dataset->da_room = room;
    }
    dataset->da_slots[dataset->da_count++] = (struct sim_dataset_slot){.sl_buffer = buffer};
    return ACL_SUCCESS;
}

aclError sim_dataset_choose_gear(aclmdlDataset *handle, uint32_t model, int64_t gear)
{
    struct sim_dataset *dataset = sim_dataset_open(handle, "dataset");
    if (dataset == NULL)
        return ACL_ERROR_INVALID_PARAM;
    dataset->da_gear_model = model;
    dataset->da_gear = gear;
    sim_object_close(dataset);
    return ACL_SUCCESS;
}

static aclError check_index(const struct sim_dataset *dataset, size_t index)
{
    SIM_ARGUMENT(index < dataset->da_count, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected less than %zu, the number of buffers of the dataset", index,
                 dataset->da_count);
    return ACL_SUCCESS;
}

aclError sim_dataset_describe(struct sim_dataset *dataset, size_t index, const aclTensorDesc *desc)
{
    aclTensorDesc *copy = NULL;
    SIM_TRY(check_index(dataset, index));
    if (desc != NULL)
        SIM_TRY(sim_tensordesc_copy(desc, &copy));
    drop_desc(&dataset->da_slots[index]);
    dataset->da_slots[index].sl_desc = copy;
    return ACL_SUCCESS;
}

aclError sim_dataset_adopt(struct sim_dataset *dataset, size_t index, aclTensorDesc *desc)
{
    struct sim_dataset_slot own = {.sl_desc = desc};
    SIM_ARGUMENT(desc != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a tensor description");
    aclError code = check_index(dataset, index);
    if (code != ACL_SUCCESS) {
        drop_desc(&own);
        return code;
    }
    drop_desc(&dataset->da_slots[index]);
    dataset->da_slots[index].sl_desc = desc;
    return ACL_SUCCESS;
}

aclError sim_dataset_memory(aclmdlDataset *handle, size_t index, void **address, size_t *size)
{
    struct sim_dataset *dataset = sim_dataset_open(handle, "dataset");
    if (dataset == NULL)
        return ACL_ERROR_INVALID_PARAM;
    size_t count = dataset->da_count;
    const aclDataBuffer *found = index < count ? dataset->da_slots[index].sl_buffer : NULL;
    sim_object_close(dataset);
    SIM_ARGUMENT(found != NULL, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected less than %zu, the number of buffers of the dataset", index, count);
    struct sim_data_buffer *buffer = sim_tensordesc_buffer_open(found);
    if (buffer == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *address = buffer->db_data;
    *size = buffer->db_size;
    sim_object_close(buffer);
    SIM_ARGUMENT(*address != NULL, ACL_ERROR_INVALID_PARAM, "buffer %zu of the dataset has no memory", index);
    return ACL_SUCCESS;
}

static void destroy(void *dataset)
{
    sim_dataset_destroy(dataset);
}

void sim_dataset_reset(void)
{
    sim_object_destroy_all(&datasets, destroy);
}

void sim_dataset_after_fork(void)
{
    sim_table_empty(&datasets);
}
