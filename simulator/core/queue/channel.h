/* Channels that carry datasets of tensors, and these datasets and their items. */
#ifndef SIM_CHANNEL_H
#define SIM_CHANNEL_H

#include "queue.h"
#include <acl/acl_tdt.h>

#define SIM_CHANNEL_DIMS 128 /* dimensions of an item at most */

/* The type, shape and data of an item. */
struct sim_item {
    acltdtTensorType it_type;
    aclDataType it_data_type;
    uint32_t it_rank;
    int64_t *it_dims; /* at the start of it_block; NULL without dimensions */
    void *it_data;    /* the program's memory, or after the dimensions in it_block */
    uint64_t it_size;
    void *it_block;   /* the memory that the item owns, or NULL */
};

struct sim_channel_item {
    struct sim_object ci_object;
    struct sim_item ci_item;
    bool ci_received; /* owned by the dataset that it was received with */
};

struct sim_channel_dataset {
    struct sim_object cd_object;
    acltdtDataItem **cd_items; /* handles, looked up at each use */
    size_t cd_count, cd_room;
    bool cd_received;             /* it owns its items */
    char cd_name[SIM_QUEUE_NAME]; /* of the channel that it was received from */
};

/* ---- channel_dataset.c ---- */

/* Find the live object and lock it; NULL with a message (100000) for any other handle. Unlock it with
 * sim_object_close. */
struct sim_channel_item *sim_channel_item_open(const acltdtDataItem *handle);
struct sim_channel_dataset *sim_channel_dataset_open(const acltdtDataset *handle);

/* Creates an item; NULL with a message on failure. Copies the dimensions of `source`, and refers to its data. */
acltdtDataItem *sim_channel_item_create(const struct sim_item *source);
/* Creates an empty dataset; NULL with a message on failure. */
acltdtDataset *sim_channel_dataset_create(void);
/* Both destroy an object that the caller has opened. */
void sim_channel_item_destroy(struct sim_channel_item *item);
void sim_channel_dataset_destroy(struct sim_channel_dataset *dataset);
/* Adds an item. Fails with 100000 if host and device memory would be mixed, 200006 if the dataset was received, or
 * 200000. */
aclError sim_channel_dataset_add(acltdtDataset *dataset, acltdtDataItem *item);

/* Makes a queue entry with copies of all items. Fails with 100000, 107000 or 200000. */
aclError sim_channel_pack(const acltdtDataset *dataset, struct sim_parcel **parcel);
/* Fails with 100000 if the dataset is not empty. */
aclError sim_channel_check_empty(const acltdtDataset *dataset);
/* Fills the dataset, which then owns the items. Always frees the entry. Fails with 100000 or 200000. */
aclError sim_channel_unpack(struct sim_parcel *parcel, acltdtDataset *dataset, const char *name);
/* Frees an entry and its items. */
void sim_channel_drop(struct sim_parcel *parcel);

/* ---- channel.c ---- */

struct sim_channel {
    struct sim_object ch_object;
    uint32_t ch_queue;
    bool ch_bounded; /* created with a capacity */
    char ch_name[SIM_QUEUE_NAME];
};

/* Creates a channel; NULL with a message on failure. A capacity of 0 means no capacity. */
acltdtChannelHandle *sim_channel_create(int32_t device, const char *name, size_t capacity);
/* Destroying or stopping a channel wakes its waiting senders and receivers, which then fail. */
aclError sim_channel_destroy(acltdtChannelHandle *handle);
aclError sim_channel_stop(acltdtChannelHandle *handle);
/* Discard the messages, and count them. Both fail with 200006 for a channel without a capacity. */
aclError sim_channel_clean(acltdtChannelHandle *handle);
aclError sim_channel_size(const acltdtChannelHandle *handle, size_t *size);
/* Sending times out with 207014, receiving with 207013. Both fail with 500001 if the channel was stopped or destroyed,
 * and with 100000 for invalid arguments. */
aclError sim_channel_send(const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout);
aclError sim_channel_receive(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout);

void sim_channel_reset(void);
void sim_channel_after_fork(void);
void sim_channel_dataset_reset(void); /* called by the two functions above, as the next one */
void sim_channel_dataset_after_fork(void);

#endif
