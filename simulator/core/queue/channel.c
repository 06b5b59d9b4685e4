/* This file provides channels: named queues of messages. No device process is at the other end: any thread may receive
 * a message, through the same handle.
 *
 * A channel owns a queue, which implements capacity, waiting and waking. A channel without a capacity gets the largest
 * one, because its limit is not documented.
 *
 * Locks: the object's lock guards a channel and is never held during a wait. The lock `making` is held while a channel
 * is created, so that two channels of a device cannot get the same name. */
#include "channel.h"
#include "base/config.h"
#include "engine/engine.h"
#include <string.h>

#define CAPACITY_MOST 8192

static struct sim_table channels = SIM_OBJECT_TABLE(struct sim_channel, SIM_KIND_CHANNEL);
static struct sim_lock making; /* taken before the lock of a channel */

static const struct sim_cargo messages = {sim_channel_drop, NULL};

static struct sim_channel *open_channel(const acltdtChannelHandle *handle)
{
    return sim_object_open(&channels, handle, "handle", ACL_ERROR_INVALID_PARAM);
}

/* ---- creating and destroying ---- */

/* Whether a live channel of the device has that name. */
static bool is_taken(int32_t device, const char *name)
{
    bool taken = false;
    for (uint32_t i = 1; i < atomic_load_explicit(&channels.tb_count, memory_order_acquire) && !taken; i++) {
        struct sim_channel *channel = sim_table_at(&channels, i);
        int32_t other;
        sim_lock(&channel->ch_object.ob_lock);
        taken = atomic_load_explicit(&channel->ch_object.ob_slot.sl_handle, memory_order_relaxed) != 0 &&
                strcmp(channel->ch_name, name) == 0 && sim_queue_device(channel->ch_queue, &messages, &other) &&
                other == device;
        sim_object_close(channel);
    }
    return taken;
}

acltdtChannelHandle *sim_channel_create(int32_t device, const char *name, size_t capacity)
{
    uint64_t handle;
    uint32_t queue;
    acltdtChannelHandle *made = NULL;
    sim_lock(&making);
    if (is_taken(device, name)) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "name is \"%s\", which a channel of device %d has already", name, device);
    } else if (sim_queue_create(&messages, device, capacity != 0 ? (uint32_t)capacity : CAPACITY_MOST, &queue) ==
               ACL_SUCCESS) {
        struct sim_channel *channel = sim_object_take(&channels, &handle);
        if (channel != NULL) {
            channel->ch_queue = queue;
            channel->ch_bounded = capacity != 0;
            strcpy(channel->ch_name, name);
            made = sim_object_publish(channel, handle);
        } else {
            sim_queue_destroy(queue, &messages);
        }
    }
    sim_unlock(&making);
    return made;
}

static void destroy(void *object)
{
    struct sim_channel *channel = object;
    sim_queue_destroy(channel->ch_queue, &messages);
    sim_object_end(&channels, channel);
}

aclError sim_channel_destroy(acltdtChannelHandle *handle)
{
    struct sim_channel *channel = open_channel(handle);
    if (channel == NULL)
        return ACL_ERROR_INVALID_PARAM;
    destroy(channel);
    return ACL_SUCCESS;
}

/* ---- calls on one channel ---- */

/* Reads the channel's queue id and name. The queue may be destroyed at any time afterwards; its functions check the
 * id. */
static aclError read_channel(const acltdtChannelHandle *handle, uint32_t *queue, bool *bounded, char *name)
{
    struct sim_channel *channel = open_channel(handle);
    if (channel == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *queue = channel->ch_queue;
    *bounded = channel->ch_bounded;
    memcpy(name, channel->ch_name, SIM_QUEUE_NAME);
    sim_object_close(channel);
    return ACL_SUCCESS;
}

static aclError read_bounded(const acltdtChannelHandle *handle, uint32_t *queue)
{
    bool bounded;
    char name[SIM_QUEUE_NAME];
    SIM_TRY(read_channel(handle, queue, &bounded, name));
    SIM_ARGUMENT(bounded, ACL_ERROR_FEATURE_UNSUPPORTED,
                 "handle is the channel \"%s\", which has no capacity, expected one of acltdtCreateChannelWithCapacity",
                 name);
    return ACL_SUCCESS;
}

aclError sim_channel_stop(acltdtChannelHandle *handle)
{
    uint32_t queue;
    bool bounded;
    char name[SIM_QUEUE_NAME];
    SIM_TRY(read_channel(handle, &queue, &bounded, name));
    sim_queue_stop(queue, &messages);
    return ACL_SUCCESS;
}

aclError sim_channel_clean(acltdtChannelHandle *handle)
{
    uint32_t queue;
    SIM_TRY(read_bounded(handle, &queue));
    sim_queue_clean(queue, &messages);
    return ACL_SUCCESS;
}

aclError sim_channel_size(const acltdtChannelHandle *handle, size_t *size)
{
    uint32_t queue;
    SIM_TRY(read_bounded(handle, &queue));
    *size = sim_queue_count(queue, &messages);
    return ACL_SUCCESS;
}

/* ---- sending and receiving ---- */

static aclError outcome_of(enum sim_passage passage, const char *name, int32_t timeout, bool put)
{
    SIM_ARGUMENT(passage != SIM_PASSAGE_GONE, ACL_ERROR_FAILURE,
                 "handle is the channel \"%s\", which was stopped or destroyed", name);
    SIM_CHECK(passage != SIM_PASSAGE_EXPIRED, put ? ACL_ERROR_RT_QUEUE_FULL : ACL_ERROR_RT_QUEUE_EMPTY,
              "handle is the channel \"%s\", which is %s, and stayed so for the timeout of %d ms", name,
              put ? "full" : "empty", timeout);
    return sim_engine_refusal(passage == SIM_PASSAGE_KERNEL ? SIM_WAIT_KERNEL : SIM_WAIT_PASSED);
}

aclError sim_channel_send(const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout)
{
    uint32_t queue;
    bool bounded;
    char name[SIM_QUEUE_NAME];
    struct sim_parcel *parcel;
    SIM_TRY(read_channel(handle, &queue, &bounded, name));
    SIM_ARGUMENT(bounded || timeout == -1, ACL_ERROR_INVALID_PARAM,
                 "timeout is %d, expected -1 (no limit) for a channel without a capacity", timeout);
    SIM_TRY(sim_channel_pack(dataset, &parcel));
    enum sim_passage passage = sim_queue_put(queue, &messages, parcel, (struct sim_patience){timeout, NULL});
    if (passage != SIM_PASSED)
        sim_channel_drop(parcel);
    return outcome_of(passage, name, timeout, true);
}

aclError sim_channel_receive(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout)
{
    uint32_t queue;
    bool bounded;
    char name[SIM_QUEUE_NAME];
    struct sim_parcel *parcel;
    uint64_t room = UINT64_MAX;
    SIM_TRY(read_channel(handle, &queue, &bounded, name));
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_ARGUMENT(bounded || timeout == -1 || soc->so_profile != SIM_P910, ACL_ERROR_INVALID_PARAM,
                 "timeout is %d, expected -1 (no limit) for a channel without a capacity on %s", timeout, soc->so_name);
    SIM_TRY(sim_channel_check_empty(dataset));
    enum sim_passage passage = sim_queue_take(queue, &messages, &parcel, &room, (struct sim_patience){timeout, NULL});
    SIM_TRY(outcome_of(passage, name, timeout, false));
    return sim_channel_unpack(parcel, dataset, name);
}

/* ---- reset and fork ---- */

void sim_channel_reset(void)
{
    sim_object_destroy_all(&channels, destroy);
    sim_channel_dataset_reset();
}

void sim_channel_after_fork(void)
{
    sim_lock_renew(&making);
    sim_table_empty(&channels);
    sim_channel_dataset_after_fork();
}
