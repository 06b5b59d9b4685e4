/* Memory pools: device memory given out and taken back in the order of streams. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "address/owner.h"
#include "engine/event.h"

#include <acl/acl_rt_memory_soma.h>

aclError sim_pool_supported(void); /* 207000 */

/* `limit` 0: none. 107001, 207001. */
aclError sim_pool_create(int32_t device, uint64_t limit, aclrtMemPool *handle);
aclError sim_pool_check(aclrtMemPool handle); /* 107017 */
/* The handle is dead at once; what is in use stays so until it is freed. */
aclError sim_pool_destroy(aclrtMemPool handle);
aclError sim_pool_set(aclrtMemPool handle, aclrtMemPoolAttr attribute, const void *value);
aclError sim_pool_get(aclrtMemPool handle, aclrtMemPoolAttr attribute, void *value);
aclError sim_pool_trim(aclrtMemPool handle, uint64_t keep);

aclError sim_pool_malloc(void **address, size_t size, aclrtMemPool handle, struct sim_target stream, void *site);
aclError sim_pool_free(void *address, struct sim_target stream, void *site);

/* ---- what memory, events and those who wait ask ---- */

/* A stream was made to wait, with the task `own`, for a record. */
void sim_pool_note_wait(sim_record own, sim_record waited);

/* A host has waited: what pools keep above their thresholds goes back to the device. */
void sim_pool_give_back(void);
static inline void sim_pool_settle(void)
{
    if (unlikely(atomic_load_explicit(&sim_event_listeners, memory_order_relaxed) != 0))
        sim_pool_give_back();
}

extern const struct sim_owner sim_pool_owner; /* of the blocks that pools have */
void sim_pool_after_fork(void);

#endif
