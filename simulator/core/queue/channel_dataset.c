/* This file provides datasets of tensors, their items, and the messages that carry them through a channel.
 *
 * An item refers to the program's data. Sending copies the items into a message, so that the program may change its
 * data afterwards. A received dataset owns its items and their data, in host memory. A dataset stores handles: a
 * destroyed item is detected when the dataset is used.
 *
 * Locks: an object's lock guards each item and dataset. Two are held together only while a received dataset is filled
 * or destroyed: its own, then that of one item. */
#include "channel.h"
#include "address/memory.h"
#include <stdlib.h>
#include <string.h>

static struct sim_table items = SIM_OBJECT_TABLE(struct sim_channel_item, SIM_KIND_CHANNEL_ITEM);
static struct sim_table datasets = SIM_OBJECT_TABLE(struct sim_channel_dataset, SIM_KIND_CHANNEL_DATASET);

struct message {
    struct sim_parcel me_parcel;
    size_t me_count;
    struct sim_item me_items[];
};

/* ---- items ---- */

struct sim_channel_item *sim_channel_item_open(const acltdtDataItem *handle)
{
    return sim_object_open(&items, handle, "dataItem", ACL_ERROR_INVALID_PARAM);
}

/* Copies an item with its dimensions and, with `with_data`, its data. */
static aclError copy_item(struct sim_item *copy, const struct sim_item *item, bool with_data)
{
    struct sim_place place;
    uint64_t dims = item->it_rank * sizeof *item->it_dims, data = with_data ? item->it_size : 0;
    *copy = *item;
    copy->it_block = NULL;
    if (with_data)
        copy->it_data = NULL;
    if (dims + data == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(data == 0 || item->it_data != NULL, ACL_ERROR_INVALID_PARAM,
                 "an item of dataset has %llu bytes and its data is NULL, expected a valid pointer",
                 (unsigned long long)data);
    if (data != 0)
        SIM_TRY(sim_memory_span(item->it_data, data, "the data of an item", "its size", &place));
    char *block = data < UINT64_MAX / 2 ? malloc(dims + data) : NULL;
    SIM_ARGUMENT(block != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for an item of %llu bytes",
                 (unsigned long long)data);
    copy->it_block = block;
    if (dims != 0)
        copy->it_dims = memcpy(block, item->it_dims, dims);
    if (data != 0)
        copy->it_data = memcpy(block + dims, sim_memory_reach(item->it_data), data);
    return ACL_SUCCESS;
}

static acltdtDataItem *publish(const struct sim_item *content, bool received)
{
    uint64_t handle;
    struct sim_channel_item *item = sim_object_take(&items, &handle);
    if (item == NULL)
        return NULL;
    item->ci_item = *content;
    item->ci_received = received;
    return sim_object_publish(item, handle);
}

acltdtDataItem *sim_channel_item_create(const struct sim_item *source)
{
    struct sim_item content;
    if (copy_item(&content, source, false) != ACL_SUCCESS)
        return NULL;
    acltdtDataItem *handle = publish(&content, false);
    if (handle == NULL)
        free(content.it_block);
    return handle;
}

void sim_channel_item_destroy(struct sim_channel_item *item)
{
    free(item->ci_item.it_block);
    sim_object_end(&items, item);
}

/* ---- datasets ---- */

struct sim_channel_dataset *sim_channel_dataset_open(const acltdtDataset *handle)
{
    return sim_object_open(&datasets, handle, "dataset", ACL_ERROR_INVALID_PARAM);
}

acltdtDataset *sim_channel_dataset_create(void)
{
    uint64_t handle;
    struct sim_channel_dataset *dataset = sim_object_take(&datasets, &handle);
    return dataset == NULL ? NULL : sim_object_publish(dataset, handle);
}

void sim_channel_dataset_destroy(struct sim_channel_dataset *dataset)
{
    for (size_t i = 0; i < dataset->cd_count && dataset->cd_received; i++) {
        struct sim_channel_item *item = sim_object_peek(&items, dataset->cd_items[i]);
        if (item != NULL) /* aclsimReset may have destroyed it before */
            sim_channel_item_destroy(item);
    }
    free(dataset->cd_items);
    dataset->cd_items = NULL;
    dataset->cd_count = dataset->cd_room = 0;
    dataset->cd_received = false;
    dataset->cd_name[0] = '\0';
    sim_object_end(&datasets, dataset);
}

/* Makes room for `count` items. */
static aclError reserve(struct sim_channel_dataset *dataset, size_t count)
{
    if (count <= dataset->cd_room)
        return ACL_SUCCESS;
    size_t room = count < 4 ? 4 : 2 * count;
    acltdtDataItem **more = realloc(dataset->cd_items, room * sizeof *more);
    SIM_ARGUMENT(more != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for %zu items", room);
    dataset->cd_items = more;
    dataset->cd_room = room;
    return ACL_SUCCESS;
}

/* Copies the content of a live item. */
static aclError read_item(const acltdtDataItem *handle, struct sim_item *content)
{
    struct sim_channel_item *item = sim_channel_item_open(handle);
    if (item == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *content = item->ci_item;
    sim_object_close(item);
    return ACL_SUCCESS;
}

/* Copies the list of handles in a dataset; the caller frees it. */
static aclError list_items(const acltdtDataset *handle, acltdtDataItem ***list, size_t *count)
{
    struct sim_channel_dataset *dataset = sim_channel_dataset_open(handle);
    if (dataset == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *count = dataset->cd_count;
    *list = malloc((*count + 1) * sizeof **list);
    if (*list != NULL && *count != 0)
        memcpy(*list, dataset->cd_items, *count * sizeof **list);
    sim_object_close(dataset);
    SIM_ARGUMENT(*list != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a list of items");
    return ACL_SUCCESS;
}

static bool is_with_data(const struct sim_item *content)
{
    return content->it_data != NULL && content->it_size != 0;
}

/* All data of a dataset must be in host memory, or all in device memory. */
static aclError check_side(acltdtDataset *dataset, const struct sim_item *added)
{
    acltdtDataItem **list;
    size_t count;
    SIM_TRY(list_items(dataset, &list, &count));
    bool agrees = true, on_host = sim_memory_is_host(added->it_data);
    for (size_t i = 0; i < count && is_with_data(added); i++) {
        struct sim_channel_item *item = sim_object_peek(&items, list[i]);
        if (item == NULL)
            continue;
        agrees &= !is_with_data(&item->ci_item) || sim_memory_is_host(item->ci_item.it_data) == on_host;
        sim_object_close(item);
    }
    free(list);
    SIM_ARGUMENT(agrees, ACL_ERROR_INVALID_PARAM,
                 "dataItem has its data in %s memory, expected the data of all items of the dataset in the same kind "
                 "of memory",
                 on_host ? "host" : "device");
    return ACL_SUCCESS;
}

aclError sim_channel_dataset_add(acltdtDataset *handle, acltdtDataItem *item)
{
    struct sim_item content;
    SIM_TRY(read_item(item, &content));
    SIM_TRY(check_side(handle, &content));
    struct sim_channel_dataset *dataset = sim_channel_dataset_open(handle);
    if (dataset == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = dataset->cd_received
                        ? sim_refuse(ACL_ERROR_FEATURE_UNSUPPORTED,
                                     "dataset was filled by acltdtReceiveTensor, expected a dataset that the program "
                                     "filled")
                        : reserve(dataset, dataset->cd_count + 1);
    if (code == ACL_SUCCESS)
        dataset->cd_items[dataset->cd_count++] = item;
    sim_object_close(dataset);
    return code;
}

/* ---- messages ---- */

void sim_channel_drop(struct sim_parcel *parcel)
{
    struct message *message = (struct message *)parcel; /* its first member */
    for (size_t i = 0; i < message->me_count; i++)
        free(message->me_items[i].it_block);
    free(message);
}

/* The item is locked only while its dimensions are copied: its data belongs to the program. */
static aclError pack_item(const acltdtDataItem *handle, struct sim_item *copy)
{
    struct sim_item shape;
    struct sim_channel_item *item = sim_channel_item_open(handle);
    if (item == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = copy_item(&shape, &item->ci_item, false);
    sim_object_close(item);
    SIM_TRY(code);
    code = copy_item(copy, &shape, true);
    free(shape.it_block);
    return code;
}

aclError sim_channel_pack(const acltdtDataset *dataset, struct sim_parcel **parcel)
{
    acltdtDataItem **list;
    size_t count;
    SIM_TRY(list_items(dataset, &list, &count));
    struct message *message = calloc(1, sizeof *message + count * sizeof *message->me_items);
    aclError code = message != NULL ? ACL_SUCCESS : sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for a message");
    while (code == ACL_SUCCESS && message->me_count < count) {
        code = pack_item(list[message->me_count], &message->me_items[message->me_count]);
        message->me_count += code == ACL_SUCCESS;
    }
    free(list);
    if (code != ACL_SUCCESS && message != NULL)
        sim_channel_drop(&message->me_parcel);
    if (code == ACL_SUCCESS)
        *parcel = &message->me_parcel;
    return code;
}

static aclError check_empty(const struct sim_channel_dataset *dataset)
{
    SIM_ARGUMENT(dataset->cd_count == 0 && !dataset->cd_received, ACL_ERROR_INVALID_PARAM,
                 "dataset has %zu items, expected an empty one, as acltdtCreateDataset makes it", dataset->cd_count);
    return ACL_SUCCESS;
}

aclError sim_channel_check_empty(const acltdtDataset *handle)
{
    struct sim_channel_dataset *dataset = sim_channel_dataset_open(handle);
    if (dataset == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = check_empty(dataset);
    sim_object_close(dataset);
    return code;
}

/* Creates the received items, which take over the memory of the message's items one by one. */
static aclError fill(struct sim_channel_dataset *dataset, struct message *message, const char *name)
{
    SIM_TRY(check_empty(dataset));
    SIM_TRY(reserve(dataset, message->me_count));
    dataset->cd_received = true;
    strcpy(dataset->cd_name, name);
    for (size_t i = 0; i < message->me_count; i++) {
        acltdtDataItem *item = publish(&message->me_items[i], true);
        if (item == NULL)
            return ACL_ERROR_BAD_ALLOC;
        message->me_items[i].it_block = NULL;
        dataset->cd_items[dataset->cd_count++] = item;
    }
    return ACL_SUCCESS;
}

aclError sim_channel_unpack(struct sim_parcel *parcel, acltdtDataset *handle, const char *name)
{
    struct sim_channel_dataset *dataset = sim_channel_dataset_open(handle);
    aclError code = ACL_ERROR_INVALID_PARAM;
    if (dataset != NULL) {
        code = fill(dataset, (struct message *)parcel, name);
        sim_object_close(dataset);
    }
    sim_channel_drop(parcel);
    return code;
}

/* ---- reset and fork ---- */

static void destroy_item(void *item)
{
    sim_channel_item_destroy(item);
}

static void destroy_dataset(void *dataset)
{
    sim_channel_dataset_destroy(dataset);
}

void sim_channel_dataset_reset(void)
{
    sim_object_destroy_all(&items, destroy_item);
    sim_object_destroy_all(&datasets, destroy_dataset);
}

void sim_channel_dataset_after_fork(void)
{
    sim_table_empty(&items);
    sim_table_empty(&datasets);
}
