/* Memory pools: device memory allocated and freed in stream order. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "address/owner.h"
#include "engine/event.h"

#include <acl/acl_rt_memory_soma.h>

aclError sim_pool_supported(void); /* 207000 */

/* `limit` is the most bytes that the pool may hold, 0 for no limit. Returns 107001 or 207001. */
aclError sim_pool_create(int32_t device, uint64_t limit, aclrtMemPool *handle);
aclError sim_pool_check(aclrtMemPool handle); /* 107017 */
/* The handle is dead at once. Blocks in use stay valid until they are freed. */
aclError sim_pool_destroy(aclrtMemPool handle);
aclError sim_pool_set(aclrtMemPool handle, aclrtMemPoolAttr attribute, const void *value);
aclError sim_pool_get(aclrtMemPool handle, aclrtMemPoolAttr attribute, void *value);
aclError sim_pool_trim(aclrtMemPool handle, uint64_t keep);

aclError sim_pool_malloc(void **address, size_t size, aclrtMemPool handle, struct sim_target stream, void *site);
aclError sim_pool_free(void *address, struct sim_target stream, void *site);

/* ---- called by memory, events and waiting threads ---- */

/* Notes that a stream waits, with its task `own`, for the record `waited`. */
void sim_pool_note_wait(sim_record own, sim_record waited);

/* After a host thread has waited: returns what pools hold above their thresholds to the device. */
void sim_pool_give_back(void);
static inline void sim_pool_settle(void)
{
    if (unlikely(atomic_load_explicit(&sim_event_listeners, memory_order_relaxed) != 0))
        sim_pool_give_back();
}

extern const struct sim_owner sim_pool_owner; /* the owner functions for blocks of pools */
void sim_pool_after_fork(void);

#endif
