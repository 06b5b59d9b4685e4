/* Memory pools: device memory allocated and freed in stream order. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "address/owner.h"
#include "engine/event.h"

#include <acl/acl_rt_memory_soma.h>

/* Returns 207000 on chips without memory pools. */
aclError sim_pool_supported(void);

/* Creates a pool that may hold at most `limit` bytes (0: no limit). Returns 107001 or 207001. */
aclError sim_pool_create(int32_t device, uint64_t limit, aclrtMemPool *handle);
/* Returns 107017 if the handle is not a live pool. */
aclError sim_pool_check(aclrtMemPool handle);
/* Destroys a pool: its handle is dead at once, and blocks in use stay valid until they are freed. */
aclError sim_pool_destroy(aclrtMemPool handle);
/* Set and read an attribute. Return 107017 for a dead handle. */
aclError sim_pool_set(aclrtMemPool handle, aclrtMemPoolAttr attribute, const void *value);
aclError sim_pool_get(aclrtMemPool handle, aclrtMemPoolAttr attribute, void *value);
/* Returns idle blocks to the device until the pool holds at most `keep` bytes, if possible. */
aclError sim_pool_trim(aclrtMemPool handle, uint64_t keep);

/* Allocate and free a block in the order of a stream. Allocating returns 107017, 107000 or 207001; freeing returns
 * 107000. */
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
