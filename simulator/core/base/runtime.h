/* What every room may ask about the runtime: the current device of the calling thread, and whether the process is
 * locked. The engine keeps both up to date; what only the engine can do goes through a table. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "fail.h"
#include "handle.h"

struct sim_runtime {
    /* The calling thread has no live context: binds it to the default device of aclInit's file. 107002. */
    aclError (*rt_find_current)(struct sim_context **context);
    /* Brings a device up, which keeps its heap. 107001, 507033. */
    aclError (*rt_open_device)(int32_t id);
    /* Waits until the process is unlocked. */
    aclError (*rt_wait_unlocked)(void);
};

/* Called once, by a constructor. */
void sim_runtime_set(const struct sim_runtime *table);

aclError sim_runtime_find_current(void);
aclError sim_runtime_open_device(int32_t id);
aclError sim_runtime_wait_unlocked(void);

/* Waits while the process is locked for a snapshot; costs one read while it is not. Calls that change the device's
 * state begin with it, with no lock held; tasks pass, because locking waits for them. */
extern _Atomic bool sim_runtime_locked; /* written by engine/snapshot.c */
static inline aclError sim_runtime_pass(void)
{
    bool locked = atomic_load_explicit(&sim_runtime_locked, memory_order_acquire);
    return unlikely(locked) ? sim_runtime_wait_unlocked() : ACL_SUCCESS;
}

/* The context that a thread is bound to begins with its slot; the binding holds for one life of it. */
static inline bool sim_runtime_is_bound(void)
{
    const struct sim_slot *slot = (const void *)sim_thread.th_context;
    return slot != NULL && atomic_load_explicit(&slot->sl_handle, memory_order_acquire) == sim_thread.th_bound;
}

/* 107002 unless a context is current on this thread. Waits while the process is locked. */
static inline aclError sim_runtime_check_current(void)
{
    SIM_TRY(sim_runtime_pass());
    return likely(sim_runtime_is_bound()) ? ACL_SUCCESS : sim_runtime_find_current();
}

/* The same, and its device. */
static inline aclError sim_runtime_device(int32_t *device)
{
    SIM_TRY(sim_runtime_check_current());
    *device = sim_thread.th_device;
    return ACL_SUCCESS;
}

#endif
