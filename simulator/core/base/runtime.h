/* The runtime's state for rooms below the engine: the current device of the calling thread, and whether the process is
 * locked. The engine keeps both up to date; what only the engine can do is called through a table. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "fail.h"
#include "handle.h"
#include "watcher.h"

struct sim_runtime {
    /* For a thread without a live context: binds it to the default device of aclInit's file, or returns 107002. */
    aclError (*rt_find_current)(struct sim_context **context);
    /* Opens a device, and so its heap. Returns 107001 for an unknown device, and 507033 if it cannot be opened. */
    aclError (*rt_open_device)(int32_t id);
    /* Waits until the process is unlocked. */
    aclError (*rt_wait_unlocked)(void);
};

/* Sets the table. Called once, by a constructor. */
void sim_runtime_set(const struct sim_runtime *table);

/* Each calls the function of that name in the table. */
aclError sim_runtime_find_current(void);
aclError sim_runtime_open_device(int32_t id);
aclError sim_runtime_wait_unlocked(void);

/* Whether the process is locked for a snapshot, as engine/snapshot.c says by SIM_LOCKED. */
static inline bool sim_runtime_is_locked(void)
{
    return (atomic_load_explicit(&sim_watchers, memory_order_acquire) & SIM_LOCKED) != 0;
}

/* Waits while the process is locked, and otherwise costs one read. Calls that change the device's state begin with it,
 * and hold no lock. It never waits inside a task, because locking waits for the tasks. */
static inline aclError sim_runtime_pass(void)
{
    return unlikely(sim_runtime_is_locked()) ? sim_runtime_wait_unlocked() : ACL_SUCCESS;
}

/* True while the bound context has the handle with which it was bound; the context begins with its slot. */
static inline bool sim_runtime_is_bound(void)
{
    const struct sim_slot *slot = (const void *)sim_thread.th_context;
    return slot != NULL && atomic_load_explicit(&slot->sl_handle, memory_order_acquire) == sim_thread.th_bound;
}

/* Returns 107002 unless a context is current on this thread. Waits while the process is locked. */
static inline aclError sim_runtime_check_current(void)
{
    SIM_TRY(sim_runtime_pass());
    return likely(sim_runtime_is_bound()) ? ACL_SUCCESS : sim_runtime_find_current();
}

/* The same, and stores the device of the context. */
static inline aclError sim_runtime_device(int32_t *device)
{
    SIM_TRY(sim_runtime_check_current());
    *device = sim_thread.th_device;
    return ACL_SUCCESS;
}

#endif
