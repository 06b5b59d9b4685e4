/* Devices: setting, resetting, opening and closing them, and the library's part after a fork.
 *
 * Devices are in a fixed array. A device is open from its first set, or its first explicit context, to its last reset.
 * It owns its primary context, which exists while the retain count is not 0.
 *
 * dv_lock guards the retain count, briefly. `turn` is the lifecycle lock: it serialises opening and closing devices,
 * and is held while state callbacks run and tasks are waited for. It is recursive, so that a state callback may call
 * the runtime. Order: `turn`, then dv_lock; neither is taken while another lock of the simulator is held. */
#include "address/memory.h"
#include "address/peer.h"
#include "base/registry.h"
#include "base/room.h"
#include "share/exchange.h"
#include "device.h"
#include "engine.h"
#include "snapshot.h"
#include "base/site.h"
#include "base/watcher.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>

static struct sim_device devices[SIM_DEVICES_MAX];
static pthread_mutex_t turn;
static pthread_once_t turn_once = PTHREAD_ONCE_INIT;
static _Atomic int32_t default_device = -1;
static _Atomic bool any_open;

static void make_turn(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&turn, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void take_turn(void)
{
    pthread_once(&turn_once, make_turn);
    pthread_mutex_lock(&turn);
}

static void give_turn(void)
{
    pthread_mutex_unlock(&turn);
}

static void number_devices(void)
{
    for (int32_t id = 0; id < SIM_DEVICES_MAX; id++) {
        devices[id].dv_id = id;
        sim_peer_forget(id);
    }
}

/* The child has an uninitialised library: no workers, no contexts, and every old handle is dead. Setting a device opens
 * it anew. */
static void after_fork(void)
{
    static const pthread_once_t again = PTHREAD_ONCE_INIT;
    memcpy(&turn_once, &again, sizeof again);
    memset(devices, 0, sizeof devices);
    number_devices();
    sim_table_empty(&sim_contexts);
    sim_table_empty(&sim_streams);
    sim_exchange_after_fork();
    sim_fail_after_fork();
    sim_config_after_fork();
    sim_snapshot_after_fork();
    sim_watcher_after_fork();
    sim_site_after_fork();
    sim_room_after_fork();
    sim_engine_after_fork();
    sim_worker_after_fork();
    sim_memory_after_fork();
    sim_context_unbind();
    atomic_store(&any_open, false);
}

__attribute__((constructor)) static void watch_forks(void)
{
    number_devices();
    pthread_atfork(NULL, NULL, after_fork);
}

aclError sim_device_find(int32_t id, struct sim_device **device)
{
    SIM_TRY(sim_config_check_device(id));
    *device = &devices[id];
    return ACL_SUCCESS;
}

bool sim_device_is_retained(int32_t id)
{
    if ((uint32_t)id >= sim_config_devices())
        return false;
    struct sim_device *device = &devices[id];
    sim_lock(&device->dv_lock);
    bool retained = device->dv_retained != 0;
    sim_unlock(&device->dv_lock);
    return retained;
}

bool sim_device_is_open(int32_t id)
{
    take_turn();
    bool open = devices[id].dv_open;
    give_turn();
    return open;
}

void sim_device_set_default(int32_t id)
{
    atomic_store(&default_device, id);
}

int32_t sim_device_default(void)
{
    return atomic_load_explicit(&default_device, memory_order_relaxed);
}

bool sim_device_any_open(void)
{
    return atomic_load(&any_open);
}

/* With `turn` held: opens tables, heap and workers, and creates the primary context, which is not retained yet. */
static aclError bring_up(struct sim_device *device)
{
    struct sim_context *primary = NULL;
    SIM_TRY(sim_config_check());
    atomic_store(&any_open, true);
    SIM_CHECK(sim_table_open(&sim_contexts) == 0 && sim_table_open(&sim_streams) == 0 &&
                  sim_room_open() == 0 && sim_memory_open(device->dv_id) == 0 && sim_worker_start() == 0,
              ACL_ERROR_RT_DEV_SETUP_ERROR,
              "device %d could not be brought up: %s; the simulator reserves address space and starts threads, "
              "expected no limit on either (ulimit -v, ulimit -f, vm.overcommit_memory)",
              device->dv_id, strerror(errno));
    aclError code = sim_context_create(device, true, &primary);
    if (code != ACL_SUCCESS) {
        sim_memory_close(device->dv_id);
        return code;
    }
    device->dv_primary = primary;
    device->dv_open = true;
    return ACL_SUCCESS;
}

aclError sim_device_open(struct sim_device *device)
{
    take_turn();
    aclError code = device->dv_open ? ACL_SUCCESS : bring_up(device);
    give_turn();
    return code;
}

aclError sim_device_open_id(int32_t id)
{
    struct sim_device *device;
    SIM_TRY(sim_device_find(id, &device));
    return sim_device_open(device);
}

/* Retains the primary context once more and binds it. False when it is not retained yet. */
static bool retain_primary(struct sim_device *device)
{
    sim_lock(&device->dv_lock);
    bool retained = device->dv_retained != 0;
    if (retained) {
        device->dv_retained++;
        sim_context_bind(device->dv_primary, sim_context_handle(device->dv_primary));
    }
    sim_unlock(&device->dv_lock);
    return retained;
}

static aclError first_retain(struct sim_device *device)
{
    sim_registry_fire_device_state(device->dv_id, ACL_RT_DEVICE_STATE_SET_PRE);
    SIM_TRY(sim_device_open(device));
    sim_lock(&device->dv_lock);
    device->dv_retained++;
    sim_context_bind(device->dv_primary, sim_context_handle(device->dv_primary));
    sim_unlock(&device->dv_lock);
    return ACL_SUCCESS;
}

aclError sim_device_set(int32_t id)
{
    struct sim_device *device = NULL;
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_device_find(id, &device));
    aclError code = ACL_SUCCESS;
    if (!retain_primary(device)) {
        take_turn();
        if (!retain_primary(device))
            code = first_retain(device);
        give_turn();
    }
    if (code == ACL_SUCCESS)
        sim_registry_fire_device_state(id, ACL_RT_DEVICE_STATE_SET_POST);
    return code;
}

/* Closes every live context of the device. `keep_handles` keeps them as inactive contexts; without it (aclsimReset)
 * inactive ones are freed too. */
static void close_explicit(struct sim_device *device, bool keep_handles)
{
    uint32_t count = atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire);
    for (uint32_t index = 1; index < count; index++) {
        struct sim_context *context = sim_table_at(&sim_contexts, index);
        bool live = atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire) != 0;
        uint64_t inactive = atomic_load_explicit(&context->cx_inactive, memory_order_acquire);
        if (context->cx_device != device)
            continue;
        if (live)
            sim_context_close(context, true, keep_handles);
        else if (!keep_handles && inactive != 0 && atomic_compare_exchange_strong(&context->cx_inactive, &inactive, 0))
            sim_table_give(&sim_contexts, context);
    }
}

static void take_down(struct sim_device *device)
{
    sim_room_device_closed(device->dv_id);
    sim_memory_close(device->dv_id);
    sim_peer_forget(device->dv_id);
    device->dv_open = false; /* read with `turn` held */
}

/* With `turn` held: the last reset. */
static aclError tear_down(struct sim_device *device, uint32_t retained)
{
    sim_registry_fire_device_state(device->dv_id, ACL_RT_DEVICE_STATE_RESET_PRE);
    sim_room_device_closing(device->dv_id);
    aclError code = sim_context_close(device->dv_primary, false, false);
    sim_lock(&device->dv_lock);
    if (code == ACL_SUCCESS)
        device->dv_primary = NULL;
    else
        device->dv_retained = retained;
    sim_unlock(&device->dv_lock);
    if (code != ACL_SUCCESS)
        return code;
    close_explicit(device, true);
    take_down(device);
    sim_registry_fire_device_state(device->dv_id, ACL_RT_DEVICE_STATE_RESET_POST);
    return ACL_SUCCESS;
}

aclError sim_device_reset(int32_t id, bool force)
{
    struct sim_device *device = NULL;
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_device_find(id, &device));
    aclError code = ACL_SUCCESS;
    take_turn();
    sim_lock(&device->dv_lock);
    uint32_t retained = device->dv_retained;
    bool last = retained == 1 || (force && retained != 0);
    device->dv_retained = last ? 0 : retained - (retained != 0);
    sim_unlock(&device->dv_lock);
    if (last)
        code = tear_down(device, retained);
    give_turn();
    if (retained != 0)
        return code;
    const char *reason = "device %d is not set, expected one aclrtSetDevice before each reset";
    /* The failure of a forced reset does not become the last error. */
    return force ? sim_refuse(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, reason, id)
                 : sim_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, reason, id);
}

void sim_device_reset_all(void)
{
    take_turn();
    for (uint32_t id = 0; id < SIM_DEVICES_MAX; id++) {
        struct sim_device *device = &devices[id];
        if (!device->dv_open)
            continue;
        close_explicit(device, false); /* includes the primary context */
        device->dv_primary = NULL;
        device->dv_retained = 0;
        take_down(device);
    }
    sim_room_devices_closed();
    sim_exchange_reset();
    sim_worker_stop();
    sim_device_set_default(-1);
    atomic_store(&any_open, false);
    give_turn();
}
