/* Channels that carry datasets of tensors, and these datasets and their items. */
#ifndef SIM_CHANNEL_H
#define SIM_CHANNEL_H

#include "queue.h"
#include <acl/acl_tdt.h>

#define SIM_CHANNEL_DIMS 128 /* dimensions of an item at most */

/* What an item says, and where its data is. */
struct sim_item {
    acltdtTensorType it_type;
    aclDataType it_data_type;
    uint32_t it_rank;
    int64_t *it_dims; /* at the start of it_block; NULL without dimensions */
    void *it_data;    /* the program's, or behind the dimensions in it_block */
    uint64_t it_size;
    void *it_block;   /* what is to be freed, or NULL */
};

struct sim_channel_item {
    struct sim_object ci_object;
    struct sim_item ci_item;
    bool ci_received; /* the dataset's that it came with */
};

struct sim_channel_dataset {
    struct sim_object cd_object;
    acltdtDataItem **cd_items; /* handles: looked up when they are used */
    size_t cd_count, cd_room;
    bool cd_received;             /* the items are its own */
    char cd_name[SIM_QUEUE_NAME]; /* of the channel that it came through */
};

/* ---- channel_dataset.c ---- */

/* The live object, locked; NULL for any other handle, with a message (100000). Give it back with sim_object_close. */
struct sim_channel_item *sim_channel_item_open(const acltdtDataItem *handle);
struct sim_channel_dataset *sim_channel_dataset_open(const acltdtDataset *handle);

/* NULL with a message. `source` gives the program's data and dimensions, of which the latter are copied. */
acltdtDataItem *sim_channel_item_create(const struct sim_item *source);
acltdtDataset *sim_channel_dataset_create(void);
/* Both take the object opened. */
void sim_channel_item_destroy(struct sim_channel_item *item);
void sim_channel_dataset_destroy(struct sim_channel_dataset *dataset);
/* 100000 for a mixture of host and device memory, 200006 for a received dataset, 200000. */
aclError sim_channel_dataset_add(acltdtDataset *dataset, acltdtDataItem *item);

/* A parcel of copies of all items: 100000, 107000, 200000. */
aclError sim_channel_pack(const acltdtDataset *dataset, struct sim_parcel **parcel);
/* 100000 for a dataset that is not empty. */
aclError sim_channel_check_empty(const acltdtDataset *dataset);
/* Fills the dataset, which is the items' owner from now on, and frees the parcel in any case. 100000, 200000. */
aclError sim_channel_unpack(struct sim_parcel *parcel, acltdtDataset *dataset, const char *name);
void sim_channel_drop(struct sim_parcel *parcel);

/* ---- channel.c ---- */

struct sim_channel {
    struct sim_object ch_object;
    uint32_t ch_queue;
    bool ch_bounded; /* made with a capacity */
    char ch_name[SIM_QUEUE_NAME];
};

/* NULL with a message; capacity 0: without one. */
acltdtChannelHandle *sim_channel_create(int32_t device, const char *name, size_t capacity);
/* Of these, whoever waits is woken by the first two, and fails. 100000, 500001 after a stop, 200006 without a capacity. */
aclError sim_channel_destroy(acltdtChannelHandle *handle);
aclError sim_channel_stop(acltdtChannelHandle *handle);
aclError sim_channel_clean(acltdtChannelHandle *handle);
aclError sim_channel_size(const acltdtChannelHandle *handle, size_t *size);
/* 207014 and 207013 when the time is over, 500001 for a channel that is stopped or gone meanwhile; 100000. */
aclError sim_channel_send(const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout);
aclError sim_channel_receive(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout);

void sim_channel_reset(void);
void sim_channel_after_fork(void);
void sim_channel_dataset_reset(void); /* these two are called by those two */
void sim_channel_dataset_after_fork(void);

#endif
