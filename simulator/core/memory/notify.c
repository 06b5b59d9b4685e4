/* Design notes
 *
 * Notifies: flags and counters of a device that streams change and wait for.
 *
 * A notify is a number and a gate. The gate counts the changes of the number, over all uses of the slot. A waiting task
 * looks at the number under the gate's lock; if its condition does not hold, it parks until the next change. Plain
 * notifies, whose number is 0 or 1, and counting ones share this code. If several waits could use one change, the first
 * to look takes it. Destroying a notify counts as a change, so that its waiting tasks wake up and fail. Tasks keep the
 * handle and look the notify up when they run; they fail if it was destroyed, or if the stream's device cannot reach
 * its device.
 *
 * The number of a notify that processes share is in a page that all of them map. Each process has its own notify for
 * it; the exchange's thread counts its gate on after a change by another process.
 *
 * The gate's lock guards the number and whether the notify is live. Only the exchange's locks are taken inside it. */
#include "notify.h"
#include "address/memory.h"
#include "address/peer.h"
#include "base/clock.h"
#include "engine/device.h"
#include "share/exchange.h"
#include <string.h>

#define ADDRESS_BYTES 64 /* size of the synchronisation unit */

struct sim_notify {
    struct sim_slot nt_slot;
    struct sim_gate nt_gate;
    _Atomic sim_record nt_record; /* the newest queued change; waiting host threads help its stream */
    uint32_t nt_number;
    struct sim_device *nt_device; /* the device that was current at creation */
    int32_t nt_home;              /* the device of the process that created it */
    bool nt_exported;
    uint64_t nt_id;               /* the id by which other processes open it; 0: not exported */
    struct sim_share nt_share;    /* sr_link is NULL if it is not shared with other processes */
};

#define NOTIFY_TABLE(kind) {.tb_stride = sizeof(struct sim_notify), .tb_limit = 1u << 20, .tb_kind = (kind)}

static struct sim_table tables[] = {
    [SIM_NOTIFY_PLAIN] = NOTIFY_TABLE(SIM_KIND_NOTIFY),
    [SIM_NOTIFY_COUNTING] = NOTIFY_TABLE(SIM_KIND_COUNTER),
};
static const char *const names[] = {"notify", "cntNotify"};

static uint32_t most_of_device(void)
{
    static const uint32_t documented[] = {[SIM_P950] = 65535, [SIM_PA3] = 8192,   [SIM_PA2] = 8192,
                                          [SIM_P310B] = 2048, [SIM_P310P] = 1024, [SIM_P910] = 1024};
    const struct sim_config *config = sim_config();
    return config->cf_documented_limits ? documented[config->cf_soc->so_profile] : 65535;
}

/* Returns the live notify, locked, or NULL. */
static struct sim_notify *hold(enum sim_notify_class class, aclrtNotify handle)
{
    struct sim_notify *notify = sim_table_find(&tables[class], handle);
    if (notify == NULL)
        return NULL;
    sim_lock(&notify->nt_gate.gt_lock);
    uint64_t live = atomic_load_explicit(&notify->nt_slot.sl_handle, memory_order_relaxed);
    if (live == (uint64_t)(uintptr_t)handle)
        return notify;
    sim_unlock(&notify->nt_gate.gt_lock);
    return NULL;
}

/* Unlocks a notify after a change; its waiting tasks look again. */
static void release_changed(struct sim_notify *notify)
{
    uint64_t changes = sim_gate_level(&notify->nt_gate);
    atomic_store_explicit(&notify->nt_gate.gt_level, changes + 1, memory_order_release);
    sim_gate_release(&notify->nt_gate, false);
}

/* ---- creation and destruction ---- */

/* Takes a slot for a notify that has no handle yet. The caller publishes it or returns it to the table. */
static aclError take(enum sim_notify_class class, struct sim_device *device, struct sim_notify **notify,
                     uint64_t *value)
{
    uint32_t most = most_of_device(), alive = atomic_fetch_add(&device->dv_notifies, 1);
    bool fits = alive < most && sim_table_open(&tables[class]) == 0;
    *notify = fits ? sim_table_take(&tables[class], value) : NULL;
    if (unlikely(*notify == NULL)) {
        atomic_fetch_sub(&device->dv_notifies, 1);
        return sim_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "device %d has %u notifies alive, expected fewer than %u",
                        device->dv_id, alive, most);
    }
    return ACL_SUCCESS;
}

/* `share` is the page of another process's notify, whose device is `home`, or NULL for a notify of this process. */
static void publish(struct sim_notify *notify, struct sim_device *device, int32_t home, const struct sim_share *share,
                    uint64_t value)
{
    sim_lock(&notify->nt_gate.gt_lock); /* another thread may be checking the slot's former handle */
    notify->nt_number = 0;
    notify->nt_device = device;
    notify->nt_home = home;
    notify->nt_exported = false;
    notify->nt_id = 0;
    notify->nt_share = share != NULL ? *share : (struct sim_share){0};
    atomic_store_explicit(&notify->nt_slot.sl_handle, value, memory_order_release);
    sim_unlock(&notify->nt_gate.gt_lock);
}

aclError sim_notify_create(enum sim_notify_class class, aclrtNotify *handle)
{
    struct sim_context *context;
    struct sim_notify *notify;
    uint64_t value = 0;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(take(class, context->cx_device, &notify, &value));
    publish(notify, context->cx_device, context->cx_device->dv_id, NULL, value);
    *handle = (aclrtNotify)(uintptr_t)value;
    return ACL_SUCCESS;
}

static aclError refuse_dead(enum sim_notify_class class, aclrtNotify handle)
{
    return sim_fail(ACL_ERROR_RT_INVALID_HANDLE, "%s is %p, %s, expected a live %s", names[class], handle,
                    sim_handle_describe(handle), sim_table_name(&tables[class]));
}

aclError sim_notify_check(enum sim_notify_class class, aclrtNotify handle)
{
    return sim_table_find(&tables[class], handle) != NULL ? ACL_SUCCESS : refuse_dead(class, handle);
}

aclError sim_notify_id(enum sim_notify_class class, aclrtNotify handle, uint32_t *id)
{
    SIM_TRY(sim_notify_check(class, handle));
    *id = sim_handle_index((uint64_t)(uintptr_t)handle);
    return ACL_SUCCESS;
}

aclError sim_notify_destroy(enum sim_notify_class class, aclrtNotify handle)
{
    struct sim_notify *notify = hold(class, handle);
    if (notify == NULL)
        return refuse_dead(class, handle);
    atomic_fetch_sub(&notify->nt_device->dv_notifies, 1);
    atomic_store_explicit(&notify->nt_slot.sl_handle, 0, memory_order_relaxed);
    struct sim_share share = notify->nt_share;
    uint64_t id = notify->nt_id;
    notify->nt_share = (struct sim_share){0};
    release_changed(notify);
    if (id != 0)
        sim_exchange_withdraw(SIM_EXCHANGE_NOTIFY, id, "notify");
    if (share.sr_link != NULL)
        sim_exchange_share_leave(&share);
    sim_table_give(&tables[class], notify);
    return ACL_SUCCESS;
}

/* ---- several processes ---- */

aclError sim_notify_share_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile != SIM_P310B && strncmp(soc->so_name, "Ascend950DT", 11) != 0,
                  "%s cannot share notifies between processes", soc->so_name);
    return ACL_SUCCESS;
}

static bool is_shared(const struct sim_notify *notify)
{
    return unlikely(notify->nt_share.sr_link != NULL);
}

/* Moves the number to the shared page, where waiting streams look from now on. Returns false if the notify was
 * destroyed meanwhile. */
static bool attach(aclrtNotify handle, const struct sim_share *share, uint64_t id)
{
    struct sim_notify *notify = hold(SIM_NOTIFY_PLAIN, handle);
    if (notify == NULL)
        return false;
    notify->nt_share = *share;
    notify->nt_id = id;
    if (notify->nt_number != 0)
        atomic_store(&share->sr_page->sp_flag, 1);
    release_changed(notify);
    return true;
}

aclError sim_notify_export(aclrtNotify handle, bool to_all, char *key)
{
    struct sim_notify *notify = hold(SIM_NOTIFY_PLAIN, handle);
    struct sim_share share;
    uint64_t id;
    if (notify == NULL)
        return refuse_dead(SIM_NOTIFY_PLAIN, handle);
    bool again = notify->nt_exported, foreign = is_shared(notify) && notify->nt_id == 0;
    int32_t home = notify->nt_home;
    notify->nt_exported = true;
    sim_unlock(&notify->nt_gate.gt_lock);
    SIM_CHECK(!again && !foreign, ACL_ERROR_RT_INTERNAL_ERROR, "notify %s, expected one that this process made and has "
              "not exported", foreign ? "is another process's" : "was exported before");
    aclError code = sim_exchange_share_publish(SIM_EXCHANGE_NOTIFY, home, to_all, &notify->nt_gate, &id, &share);
    if (code != ACL_SUCCESS) {
        sim_lock(&notify->nt_gate.gt_lock);
        notify->nt_exported = false;
        sim_unlock(&notify->nt_gate.gt_lock);
        return code;
    }
    if (!attach(handle, &share, id)) {
        sim_exchange_withdraw(SIM_EXCHANGE_NOTIFY, id, "notify");
        sim_exchange_share_leave(&share);
        return refuse_dead(SIM_NOTIFY_PLAIN, handle);
    }
    sim_exchange_write_key(SIM_EXCHANGE_NOTIFY, id, key);
    return ACL_SUCCESS;
}

aclError sim_notify_allow(aclrtNotify handle, const int32_t *pids, size_t count)
{
    struct sim_notify *notify = hold(SIM_NOTIFY_PLAIN, handle);
    if (notify == NULL)
        return refuse_dead(SIM_NOTIFY_PLAIN, handle);
    uint64_t id = notify->nt_id;
    sim_unlock(&notify->nt_gate.gt_lock);
    SIM_CHECK(id != 0, ACL_ERROR_RT_PARAM_INVALID, "notify was not exported, expected aclrtNotifyGetExportKey before");
    return sim_exchange_allow(SIM_EXCHANGE_NOTIFY, id, "notify", pids, count);
}

aclError sim_notify_import(const char *key, bool enable_peer, aclrtNotify *handle)
{
    struct sim_context *context;
    struct sim_notify *notify;
    struct sim_share share;
    uint64_t id, value = 0;
    int32_t home;
    SIM_CHECK(sim_exchange_read_key(SIM_EXCHANGE_NOTIFY, key, &id), ACL_ERROR_RT_PARAM_INVALID,
              "key is \"%.64s\", expected one made by aclrtNotifyGetExportKey", key);
    SIM_TRY(sim_context_current(&context));
    struct sim_device *device = context->cx_device;
    SIM_TRY(take(SIM_NOTIFY_PLAIN, device, &notify, &value));
    aclError code = sim_exchange_share_join(SIM_EXCHANGE_NOTIFY, id, "key", &notify->nt_gate, &home, &share);
    if (code != ACL_SUCCESS) {
        atomic_fetch_sub(&device->dv_notifies, 1);
        sim_table_give(&tables[SIM_NOTIFY_PLAIN], notify);
        return code;
    }
    if (enable_peer && home != device->dv_id && home >= 0 && (uint32_t)home < sim_config_devices())
        sim_peer_set(device->dv_id, home, true);
    publish(notify, device, home, &share, value);
    *handle = (aclrtNotify)(uintptr_t)value;
    return ACL_SUCCESS;
}

/* For a locked notify that processes share: checks whether this run may touch it. */
static aclError check_shared(struct sim_run *run, const struct sim_notify *notify)
{
    const struct sim_context *context = atomic_load_explicit(&run->rn_stream->st_context, memory_order_relaxed);
    if (sim_exchange_share_is_gone(&notify->nt_share, 0)) {
        run->rn_reason = "the process that created the notify has exited";
        return ACL_ERROR_RT_SOCKET_CLOSE;
    }
    if (!sim_peer_reaches(context->cx_device->dv_id, notify->nt_home)) {
        run->rn_reason = "the notify is another process's, on another device, which this device has no access to "
                         "(ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS, aclrtDeviceEnablePeerAccess)";
        return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    }
    return ACL_SUCCESS;
}

/* ---- tasks ---- */

struct notify_task {
    aclrtNotify nk_handle;
    enum sim_notify_class nk_class;
    uint32_t nk_mode; /* an aclrtCntNotifyRecordMode or an aclrtCntNotifyWaitMode */
    uint32_t nk_value;
    bool nk_clears;       /* a wait that resets the number to 0 */
    uint64_t nk_timeout;  /* time-out of a wait, in nanoseconds, or SIM_FOREVER */
    uint64_t nk_deadline; /* set when the task first runs the wait; 0: not yet */
};

static uint64_t its_number(const void *argument)
{
    return sim_handle_index((uint64_t)(uintptr_t)((const struct notify_task *)argument)->nk_handle);
}

/* Locks the notify of a task. Returns 107017 if it is dead, and 107000 without peer access (the documentation has no
 * code for that). */
static aclError hold_for(struct sim_run *run, const struct notify_task *task, struct sim_notify **notify)
{
    const struct sim_context *context = atomic_load_explicit(&run->rn_stream->st_context, memory_order_relaxed);
    *notify = hold(task->nk_class, task->nk_handle);
    if (*notify == NULL) {
        run->rn_reason = "the notify of the task was destroyed before the task ran or while it waited";
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    if (sim_peer_reaches(context->cx_device->dv_id, (*notify)->nt_device->dv_id))
        return ACL_SUCCESS;
    sim_unlock(&(*notify)->nt_gate.gt_lock);
    run->rn_reason = "the notify belongs to another device, expected access of the stream's device to that one "
                     "(aclrtDeviceEnablePeerAccess)";
    return ACL_ERROR_RT_PARAM_INVALID;
}

/* Sums wrap (the documentation does not say what happens). */
static uint32_t changed(uint32_t mode, uint32_t number, uint32_t value)
{
    switch (mode) {
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
        return number + value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
        return number | value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
        return number & value;
    default:
        return value;
    }
}

static bool is_met(uint32_t mode, uint32_t number, uint32_t value)
{
    switch (mode) {
    case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
        return number < value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
        return number > value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
        return number >= value;
    case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE:
        return (number & value) == value;
    default:
        return number == value;
    }
}

static aclError run_change(struct sim_run *run, void *argument)
{
    const struct notify_task *task = argument;
    struct sim_notify *notify;
    SIM_TRY(hold_for(run, task, &notify));
    aclError code = is_shared(notify) ? check_shared(run, notify) : ACL_SUCCESS;
    if (code == ACL_SUCCESS && is_shared(notify)) { /* a plain notify is set or cleared */
        atomic_store(&notify->nt_share.sr_page->sp_flag, task->nk_value);
        sim_exchange_share_changed(&notify->nt_share);
    }
    notify->nt_number = changed(task->nk_mode, notify->nt_number, task->nk_value);
    release_changed(notify);
    return code;
}

/* Takes the flag of a locked notify that processes share, or notes that this process waits for it. */
static bool take_flag(const struct sim_notify *notify)
{
    _Atomic uint32_t *flag = &notify->nt_share.sr_page->sp_flag;
    uint32_t set = 1;
    if (atomic_compare_exchange_strong(flag, &set, 0))
        return true;
    sim_exchange_share_want(&notify->nt_share);
    set = 1;
    return atomic_compare_exchange_strong(flag, &set, 0);
}

static aclError run_wait(struct sim_run *run, void *argument)
{
    struct notify_task *task = argument;
    struct sim_notify *notify;
    SIM_TRY(hold_for(run, task, &notify));
    uint64_t changes = sim_gate_level(&notify->nt_gate);
    bool met = is_shared(notify) ? take_flag(notify) : is_met(task->nk_mode, notify->nt_number, task->nk_value);
    aclError code = !met && is_shared(notify) ? check_shared(run, notify) : ACL_SUCCESS;
    if (unlikely(code != ACL_SUCCESS)) {
        sim_unlock(&notify->nt_gate.gt_lock);
        return code;
    }
    if (met && task->nk_clears) {
        notify->nt_number = 0;
        release_changed(notify); /* the condition of another wait may hold now */
        return ACL_SUCCESS;
    }
    sim_unlock(&notify->nt_gate.gt_lock);
    if (met)
        return ACL_SUCCESS;
    if (run->rn_expired)
        return ACL_ERROR_RT_TASK_TIMEOUT;
    if (task->nk_deadline == 0)
        task->nk_deadline = task->nk_timeout == SIM_FOREVER ? SIM_FOREVER : sim_clock_now() + task->nk_timeout;
    run->rn_gate = &notify->nt_gate;
    run->rn_target = changes + 1;
    run->rn_deadline = task->nk_deadline;
    return SIM_PARK;
}

static aclError renew(void *argument)
{
    ((struct notify_task *)argument)->nk_deadline = 0;
    return ACL_SUCCESS;
}

static struct sim_edge edge_at(const struct notify_task *task, enum sim_edge_kind kind)
{
    const struct sim_notify *notify = sim_table_find(&tables[task->nk_class], task->nk_handle);
    return (struct sim_edge){.eg_kind = notify != NULL ? kind : SIM_EDGE_NONE,
                             .eg_gate = notify != NULL ? &notify->nt_gate : NULL};
}

static struct sim_edge edge_of_change(const void *argument)
{
    return edge_at(argument, SIM_EDGE_RAISES);
}

static struct sim_edge edge_of_wait(const void *argument)
{
    return edge_at(argument, SIM_EDGE_AWAITS);
}

/* `edge`: NULL for a change that no wait needs. */
#define NOTIFY_OP(name, run, edge, kind)                                                                               \
    {.op_name = name, .op_run = run, .op_edge = edge, .op_flags = SIM_OP_LIGHT, .op_kind = kind, .op_renew = renew,    \
     .op_number = its_number}

static struct sim_notify *notify_of(const struct sim_gate *gate)
{
    struct sim_notify *notify = NULL;
    for (int class = SIM_NOTIFY_PLAIN; class <= SIM_NOTIFY_COUNTING && notify == NULL; class++)
        notify = sim_table_slot_of(&tables[class], gate);
    return notify;
}

bool sim_notify_is_shared(struct sim_gate *gate)
{
    const struct sim_notify *notify = notify_of(gate);
    sim_lock(&gate->gt_lock);
    bool shared = notify != NULL && (is_shared(notify) || notify->nt_exported);
    sim_unlock(&gate->gt_lock);
    return shared;
}

bool sim_notify_setter(const struct sim_gate *gate, sim_record *record, bool *guessed)
{
    struct sim_notify *notify = notify_of(gate);
    if (notify == NULL)
        return false;
    *record = atomic_load_explicit(&notify->nt_record, memory_order_acquire);
    *guessed = true;
    return true;
}

static aclError queue_change(const struct sim_op *op, const struct notify_task *task, struct sim_target stream,
                             void *site)
{
    struct sim_notify *notify = sim_table_find(&tables[task->nk_class], task->nk_handle);
    return sim_engine_submit(stream, op, task, sizeof *task, site, notify != NULL ? &notify->nt_record : NULL);
}

aclError sim_notify_record(aclrtNotify handle, struct sim_target stream, void *site)
{
    static const struct sim_op op = NOTIFY_OP("aclrtRecordNotify", run_change, edge_of_change, SIM_TASK_NOTIFY_RECORD);
    struct notify_task task = {
        .nk_handle = handle, .nk_mode = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, .nk_value = 1};
    return queue_change(&op, &task, stream, site);
}

aclError sim_notify_change(aclrtCntNotify handle, const aclrtCntNotifyRecordInfo *change, struct sim_target stream,
                           void *site)
{
    static const struct sim_op op =
        NOTIFY_OP("aclrtCntNotifyRecord", run_change, edge_of_change, SIM_TASK_NOTIFY_RECORD);
    struct notify_task task = {.nk_handle = handle, .nk_class = SIM_NOTIFY_COUNTING, .nk_mode = change->mode,
                               .nk_value = change->value};
    return queue_change(&op, &task, stream, site);
}

aclError sim_notify_reset(enum sim_notify_resetter by, aclrtNotify handle, struct sim_target stream, void *site)
{
    static const struct sim_op ops[] = {
        [SIM_NOTIFY_RESET_BATCH] = NOTIFY_OP("aclrtNotifyBatchReset", run_change, NULL, SIM_TASK_OTHER),
        [SIM_NOTIFY_RESET_COUNTER] = NOTIFY_OP("aclrtCntNotifyReset", run_change, edge_of_change, SIM_TASK_OTHER),
    };
    struct notify_task task = {
        .nk_handle = handle, .nk_mode = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE,
        .nk_class = by == SIM_NOTIFY_RESET_COUNTER ? SIM_NOTIFY_COUNTING : SIM_NOTIFY_PLAIN};
    return queue_change(&ops[by], &task, stream, site);
}

/* Older firmware of P310P does not support the time-out of a wait. */
static uint64_t nanoseconds(uint32_t seconds)
{
    bool ignored = sim_config()->cf_soc->so_profile == SIM_P310P;
    return seconds == 0 || seconds == UINT32_MAX || ignored ? SIM_FOREVER : seconds * UINT64_C(1000000000);
}

/* A notify that processes share can only be waited for on the device where it was made. */
static aclError check_home(aclrtNotify handle, struct sim_target stream)
{
    struct sim_notify *notify = hold(SIM_NOTIFY_PLAIN, handle);
    if (notify == NULL)
        return refuse_dead(SIM_NOTIFY_PLAIN, handle);
    const struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    int32_t home = notify->nt_home, device = context->cx_device->dv_id;
    bool fits = !is_shared(notify) || home == device;
    sim_unlock(&notify->nt_gate.gt_lock);
    SIM_CHECK(fits, ACL_ERROR_RT_PARAM_INVALID,
              "the notify is shared by processes and was made on device %d, and the stream is on device %d, expected a "
              "stream of the device that it was made on", home, device);
    return ACL_SUCCESS;
}

aclError sim_notify_wait(aclrtNotify handle, uint32_t seconds, struct sim_target stream, void *site)
{
    SIM_TRY(check_home(handle, stream));
    static const struct sim_op op = NOTIFY_OP("aclrtWaitAndResetNotify", run_wait, edge_of_wait, SIM_TASK_NOTIFY_WAIT);
    struct notify_task task = {.nk_handle = handle, .nk_mode = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, .nk_value = 1,
                               .nk_clears = true, .nk_timeout = nanoseconds(seconds)};
    return sim_engine_submit(stream, &op, &task, sizeof task, site, NULL);
}

aclError sim_notify_wait_for(aclrtCntNotify handle, const aclrtCntNotifyWaitInfo *until, struct sim_target stream,
                             void *site)
{
    static const struct sim_op op =
        NOTIFY_OP("aclrtCntNotifyWaitWithTimeout", run_wait, edge_of_wait, SIM_TASK_NOTIFY_WAIT);
    struct notify_task task = {.nk_handle = handle, .nk_class = SIM_NOTIFY_COUNTING, .nk_mode = until->mode,
                               .nk_value = until->value, .nk_clears = until->isClear != 0,
                               .nk_timeout = nanoseconds(until->timeout)};
    return sim_engine_submit(stream, &op, &task, sizeof task, site, NULL);
}

/* ---- the synchronisation unit ---- */

/* Kernels run whole here and synchronise nothing between cores, so the address only has to belong to the device. */
static struct {
    struct sim_lock sy_lock;
    struct sim_range sy_ranges[SIM_DEVICES_MAX]; /* their allocation ids tell whether the device is still up */
} sync_units;

aclError sim_notify_sync_address(void **address)
{
    struct sim_context *context;
    struct sim_place place;
    SIM_TRY(sim_context_current(&context));
    struct sim_range *range = &sync_units.sy_ranges[context->cx_device->dv_id];
    aclError code = ACL_SUCCESS;
    sim_lock(&sync_units.sy_lock);
    sim_memory_locate(range->rg_address, &place);
    if (place.pl_class != SIM_MEMORY_DEVICE || place.pl_block.bk_birth != range->rg_birth) {
        code = sim_memory_take((void **)(uintptr_t)&range->rg_address, ADDRESS_BYTES);
        if (code == ACL_SUCCESS) {
            sim_memory_locate(range->rg_address, &place);
            range->rg_birth = place.pl_block.bk_birth;
        }
    }
    if (code == ACL_SUCCESS)
        *address = (void *)(uintptr_t)range->rg_address;
    sim_unlock(&sync_units.sy_lock);
    return code;
}

/* ---- the end ---- */

void sim_notify_forget_all(void)
{
    for (int class = SIM_NOTIFY_PLAIN; class <= SIM_NOTIFY_COUNTING; class++)
        for (uint32_t i = 1; i < atomic_load_explicit(&tables[class].tb_count, memory_order_acquire); i++) {
            struct sim_notify *notify = sim_table_at(&tables[class], i);
            uint64_t handle = atomic_load_explicit(&notify->nt_slot.sl_handle, memory_order_acquire);
            if (handle != 0)
                sim_notify_destroy((enum sim_notify_class)class, (aclrtNotify)(uintptr_t)handle);
        }
}

void sim_notify_after_fork(void)
{
    sim_table_empty(&tables[SIM_NOTIFY_PLAIN]);
    sim_table_empty(&tables[SIM_NOTIFY_COUNTING]);
    memset(&sync_units, 0, sizeof sync_units);
}
