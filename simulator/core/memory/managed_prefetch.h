/* Prefetches of managed memory, as tasks. */
#ifndef SIM_MANAGED_PREFETCH_H
#define SIM_MANAGED_PREFETCH_H

#include "engine/engine.h"

/* Ranges that were checked and their places that were resolved, as one task: 107000 when one was freed since. */
struct sim_managed_goal {
    const void *go_address;
    uint64_t go_size;
    aclrtMemManagedLocation go_location;
};
aclError sim_managed_prefetch(const struct sim_managed_goal *goals, size_t count, bool batch, struct sim_target stream,
                              void *site);

#endif
