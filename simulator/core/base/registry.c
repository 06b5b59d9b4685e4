/* Functions that programs register for events in the life of devices, streams and the process (registry.h).
 *
 * The list owns its entries. `lock`, a leaf, guards the list; `counts` is also read without it. The functions are
 * called from a copy of the list, without the lock. */
#include "registry.h"
#include "clock.h"
#include <stdlib.h>
#include <string.h>

/* The moments that functions are registered for: a stage of a snapshot (from 0), or one of these. */
enum { ON_DEVICE_STATE = 16, ON_STREAM_STATE, ON_ABORT, MOMENTS };

struct entry {
    struct entry *en_next;
    uint32_t en_moment;
    void (*en_function)(void); /* cast to the function type of its moment */
    void *en_user;
    char en_name[];
};

static struct sim_lock lock; /* guards the list and its entries */
static struct entry *entries; /* in order of registration */
static _Atomic uint32_t counts[MOMENTS]; /* read without the lock */

/* The link to the entry, or the end of the list. `function` NULL matches any function. */
static struct entry **find(uint32_t moment, const char *name, void (*function)(void))
{
    struct entry **link = &entries;
    while (*link != NULL && !((*link)->en_moment == moment && strcmp((*link)->en_name, name) == 0 &&
                              (function == NULL || (*link)->en_function == function)))
        link = &(*link)->en_next;
    return link;
}

static aclError add(struct entry **end, uint32_t moment, const char *name, void (*function)(void), void *user)
{
    size_t size = strlen(name) + 1;
    struct entry *entry = malloc(sizeof *entry + size);
    SIM_CHECK(entry != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory to register a function");
    *entry = (struct entry){.en_moment = moment, .en_function = function, .en_user = user};
    memcpy(entry->en_name, name, size);
    *end = entry;
    atomic_fetch_add_explicit(&counts[moment], 1, memory_order_release);
    return ACL_SUCCESS;
}

static void take_out(struct entry **link)
{
    struct entry *entry = *link;
    *link = entry->en_next;
    atomic_fetch_sub_explicit(&counts[entry->en_moment], 1, memory_order_relaxed);
    free(entry);
}

static aclError change_named(uint32_t moment, const char *name, void (*function)(void), void *user)
{
    struct entry **link = find(moment, name, NULL);
    if (function != NULL) {
        SIM_CHECK(*link == NULL, ACL_ERROR_RT_PARAM_INVALID,
                  "regName \"%s\" has a callback already, expected a new name, or NULL first to remove the callback",
                  name);
        return add(link, moment, name, function, user);
    }
    if (*link != NULL)
        take_out(link);
    return ACL_SUCCESS;
}

static aclError set_named(uint32_t moment, const char *name, void (*function)(void), void *user)
{
    sim_lock(&lock);
    aclError code = change_named(moment, name, function, user);
    sim_unlock(&lock);
    return code;
}

aclError sim_registry_set_device_state(const char *name, aclrtDeviceStateCallback function, void *user)
{
    return set_named(ON_DEVICE_STATE, name, (void (*)(void))function, user);
}

aclError sim_registry_set_stream_state(const char *name, aclrtStreamStateCallback function, void *user)
{
    return set_named(ON_STREAM_STATE, name, (void (*)(void))function, user);
}

aclError sim_registry_set_abort(const char *name, aclrtDeviceTaskAbortCallback function, void *user)
{
    return set_named(ON_ABORT, name, (void (*)(void))function, user);
}

static aclError change_snapshot(bool remove, aclrtSnapShotStage stage, void (*function)(void), void *user)
{
    struct entry **link = find((uint32_t)stage, "", function);
    if (!remove) {
        SIM_CHECK(*link == NULL, ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
                  "stage %d has this callback already, expected a new one", (int)stage);
        return add(link, (uint32_t)stage, "", function, user);
    }
    SIM_CHECK(*link != NULL, ACL_ERROR_RT_PARAM_INVALID, "stage %d does not have this callback, expected a registered "
              "one",
              (int)stage);
    take_out(link);
    return ACL_SUCCESS;
}

aclError sim_registry_add_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function, void *user)
{
    sim_lock(&lock);
    aclError code = change_snapshot(false, stage, (void (*)(void))function, user);
    sim_unlock(&lock);
    return code;
}

aclError sim_registry_remove_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function)
{
    sim_lock(&lock);
    aclError code = change_snapshot(true, stage, (void (*)(void))function, NULL);
    sim_unlock(&lock);
    return code;
}

/* A copy of the moment's entries, which the caller frees, so that user code runs without the lock. */
static struct entry *copy(uint32_t moment, uint32_t *count)
{
    *count = 0;
    if (likely(atomic_load_explicit(&counts[moment], memory_order_acquire) == 0))
        return NULL;
    sim_lock(&lock);
    struct entry *copies = calloc(atomic_load_explicit(&counts[moment], memory_order_relaxed) + 1, sizeof *copies);
    for (const struct entry *entry = entries; copies != NULL && entry != NULL; entry = entry->en_next)
        if (entry->en_moment == moment)
            memcpy(&copies[(*count)++], entry, sizeof *entry);
    sim_unlock(&lock);
    return copies;
}

void sim_registry_fire_device_state(int32_t device, aclrtDeviceState state)
{
    uint32_t count;
    struct entry *copies = copy(ON_DEVICE_STATE, &count);
    for (uint32_t i = 0; i < count; i++)
        ((aclrtDeviceStateCallback)copies[i].en_function)(device, state, copies[i].en_user);
    free(copies);
}

void sim_registry_fire_stream_state(aclrtStream stream, aclrtStreamState state)
{
    uint32_t count;
    struct entry *copies = copy(ON_STREAM_STATE, &count);
    for (uint32_t i = 0; i < count; i++)
        ((aclrtStreamStateCallback)copies[i].en_function)(stream, state, copies[i].en_user);
    free(copies);
}

aclError sim_registry_fire_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint64_t deadline)
{
    uint32_t count;
    struct entry *copies = copy(ON_ABORT, &count);
    aclError code = ACL_SUCCESS;
    for (uint32_t i = 0; i < count && code == ACL_SUCCESS; i++) {
        uint64_t left = sim_clock_left(deadline);
        uint32_t milliseconds = left == SIM_FOREVER ? 0 : (uint32_t)((left + 999999) / 1000000);
        if (left == 0)
            code = sim_fail(ACL_ERROR_RT_WAIT_TIMEOUT, "the timeout expired before every callback was called");
        else
            code =
                ((aclrtDeviceTaskAbortCallback)copies[i].en_function)(device, stage, milliseconds, copies[i].en_user);
        if (code != ACL_SUCCESS && left != 0)
            sim_fail(code, "a callback of aclrtSetDeviceTaskAbortCallback returned %d in stage %d", code, (int)stage);
    }
    free(copies);
    return code;
}

aclError sim_registry_fire_snapshot(int32_t device, aclrtSnapShotStage stage)
{
    uint32_t count, returned = 0;
    struct entry *copies = copy((uint32_t)stage, &count);
    for (uint32_t i = 0; i < count && returned == 0; i++)
        returned = ((aclrtSnapShotCallBack)copies[i].en_function)(device, copies[i].en_user);
    free(copies);
    SIM_CHECK(returned == 0, ACL_ERROR_SNAPSHOT_CALLBACK_FAILED,
              "a callback of aclrtSnapShotCallbackRegister returned %u in stage %d for device %d", returned, (int)stage,
              device);
    return ACL_SUCCESS;
}

void sim_registry_reset(void)
{
    sim_lock(&lock);
    while (entries != NULL)
        take_out(&entries);
    sim_unlock(&lock);
}

void sim_registry_after_fork(void)
{
    /* The list is abandoned, because another thread may have been changing it during the fork. */
    sim_lock_renew(&lock);
    entries = NULL;
    memset(counts, 0, sizeof counts);
}
