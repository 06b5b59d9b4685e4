/* Snapshots of the process: locking, backing up, restoring and unlocking it, and holding calls back meanwhile.
 *
 * The process is running, locked or backed up. Calls that arrive while it is locked sleep at the gate `unlocks`, whose
 * level counts the unlockings, as `locks` counts the lockings. Every call that needs the current context passes here,
 * and so does every other call that changes something. The device state is memory of this process, and nothing changes
 * it between a backup and its restoring, because the queued work is done and new work is held back: so it need not be
 * copied.
 *
 * `lock`, a leaf held briefly, guards the state and `changing`, which lets one call change it at a time. */
#include "snapshot.h"
#include "base/clock.h"
#include "base/registry.h"
#include "base/watcher.h"
#include "context.h"
#include "device.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum state { RUNNING, LOCKED, BACKED_UP };

static const char *const state_names[] = {"running", "locked", "backed up"};

static struct sim_lock lock;
static enum state state;
static bool changing;
static uint64_t locks;
static struct sim_gate unlocks;

/* Begins a change if the state is in the set of bits `states`; the caller ends it with leave(). */
static aclError enter(uint32_t states, aclError code, const char *expected)
{
    sim_lock(&lock);
    enum state now = state;
    bool free = !changing, fits = free && (states >> now & 1) != 0;
    changing = changing || fits;
    sim_unlock(&lock);
    SIM_CHECK(fits, code, "the process is %s%s, expected it %s", state_names[now],
              free ? "" : " and another call is changing that", expected);
    return ACL_SUCCESS;
}

static void leave(enum state next)
{
    sim_lock(&lock);
    state = next;
    changing = false;
    sim_unlock(&lock);
}

static aclError fire(aclrtSnapShotStage stage)
{
    int32_t count = (int32_t)sim_config_devices();
    for (int32_t device = 0; device < count; device++)
        if (sim_device_is_open(device))
            SIM_TRY(sim_registry_fire_snapshot(device, stage));
    return ACL_SUCCESS;
}

static void hold_back(void)
{
    sim_lock(&lock);
    locks++;
    atomic_fetch_or(&sim_watchers, SIM_LOCKED);
    sim_unlock(&lock);
}

static void let_go(void)
{
    sim_lock(&lock);
    bool locked = (atomic_fetch_and(&sim_watchers, ~SIM_LOCKED) & SIM_LOCKED) != 0;
    uint64_t level = locks;
    sim_unlock(&lock);
    if (locked)
        sim_gate_raise(&unlocks, level);
}

aclError sim_snapshot_wait(void)
{
    if (sim_thread.th_in_kernel)
        return ACL_SUCCESS;
    sim_lock(&lock);
    uint64_t target = locks;
    sim_unlock(&lock);
    return sim_engine_refusal(sim_engine_wait_gate(&unlocks, target, SIM_FOREVER));
}

/* Waits for the tasks of one context. Skips the streams of instances: they only do work of a replay on another
 * stream. */
static enum sim_wait finish(struct sim_context *context, uint64_t deadline)
{
    size_t count;
    enum sim_wait wait = SIM_WAIT_PASSED;
    uint64_t *handles = sim_context_streams(context, &count);
    for (size_t i = 0; i < count && wait == SIM_WAIT_PASSED; i++) {
        struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)handles[i]);
        if (stream == NULL || sim_stream_kind(stream) == SIM_STREAM_INSTANCE)
            continue;
        uint64_t tail = sim_stream_tail(stream);
        wait = sim_engine_wait(stream, tail, deadline, SIM_SUBMITTER);
        if (sim_watcher_any() && wait == SIM_WAIT_PASSED)
            sim_watcher_know(sim_record_of(stream, tail));
    }
    free(handles);
    return wait;
}

static enum sim_wait finish_all(uint64_t deadline)
{
    enum sim_wait wait = SIM_WAIT_PASSED;
    uint32_t count = atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire);
    for (uint32_t index = 1; index < count && wait == SIM_WAIT_PASSED; index++) {
        struct sim_context *context = sim_table_at(&sim_contexts, index);
        if (atomic_load_explicit(&context->cx_slot.sl_handle, memory_order_acquire) != 0)
            wait = finish(context, deadline);
    }
    return wait;
}

aclError sim_snapshot_lock(int32_t limit)
{
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(enter(1u << RUNNING, ACL_ERROR_SNAPSHOT_LOCK_FAILED, "running"));
    aclError code = fire(ACL_RT_SNAPSHOT_LOCK_PRE);
    if (code == ACL_SUCCESS) {
        hold_back();
        enum sim_wait wait = finish_all(sim_clock_deadline(limit));
        if (wait == SIM_WAIT_EXPIRED)
            code = sim_fail(ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT,
                            "the work submitted before was not done after %d ms; the process is not locked", limit);
        else
            code = sim_engine_refusal(wait);
        if (code != ACL_SUCCESS)
            let_go();
    }
    leave(code == ACL_SUCCESS ? LOCKED : RUNNING);
    return code;
}

/* A step between two states, with the callbacks before and after it. */
static aclError step(enum state from, enum state to, aclError refusal, aclrtSnapShotStage before,
                     aclrtSnapShotStage after)
{
    SIM_TRY(enter(1u << from, refusal, state_names[from]));
    aclError code = fire(before);
    if (code == ACL_SUCCESS)
        code = fire(after);
    leave(code == ACL_SUCCESS ? to : from);
    return code;
}

aclError sim_snapshot_backup(void)
{
    return step(LOCKED, BACKED_UP, ACL_ERROR_SNAPSHOT_BACKUP_FAILED, ACL_RT_SNAPSHOT_BACKUP_PRE,
                ACL_RT_SNAPSHOT_BACKUP_POST);
}

aclError sim_snapshot_restore(void)
{
    return step(BACKED_UP, LOCKED, ACL_ERROR_SNAPSHOT_RESTORE_FAILED, ACL_RT_SNAPSHOT_RESTORE_PRE,
                ACL_RT_SNAPSHOT_RESTORE_POST);
}

/* The process runs even if a callback fails. */
aclError sim_snapshot_unlock(void)
{
    SIM_TRY(enter(1u << LOCKED | 1u << BACKED_UP, ACL_ERROR_SNAPSHOT_UNLOCK_FAILED, "locked or backed up"));
    let_go();
    leave(RUNNING);
    return fire(ACL_RT_SNAPSHOT_UNLOCK_POST);
}

void sim_snapshot_reset(void)
{
    let_go();
    leave(RUNNING);
}

void sim_snapshot_after_fork(void)
{
    sim_lock_renew(&lock);
    memset(&unlocks, 0, sizeof unlocks); /* the threads that slept are not in the child */
    locks = 0;
    atomic_fetch_and(&sim_watchers, ~SIM_LOCKED);
    leave(RUNNING);
}
