/* Prefetches of managed memory, as tasks. */
#ifndef SIM_MANAGED_PREFETCH_H
#define SIM_MANAGED_PREFETCH_H

#include "engine/engine.h"

/* Queues one task for ranges that were checked and locations that were resolved. The task fails with 107000 if one
 * of the ranges was freed meanwhile. */
struct sim_managed_goal {
    const void *go_address;
    uint64_t go_size;
    aclrtMemManagedLocation go_location;
};
aclError sim_managed_prefetch(const struct sim_managed_goal *goals, size_t count, bool batch, struct sim_target stream,
                              void *site);

#endif
