/* Owners of blocks: parts above that keep blocks of a device's heap and decide when they end, such as memory pools and
 * imports from other processes. Every function may be NULL. */
#ifndef SIM_OWNER_H
#define SIM_OWNER_H

#include "base/fail.h"
#include "range.h"

struct sim_owner {
    /* aclrtFree: false when no block of the owner starts there; else *code is the outcome. */
    bool (*ow_release)(const void *address, const void *site, aclError *code);
    /* Whether the range belongs to a life of its block that another one has followed, but that is not over yet. */
    bool (*ow_lives)(const struct sim_range *range);
    /* The device is out of memory: all that the owner can do without goes back. False when that is nothing. */
    bool (*ow_reclaim)(int32_t device);
    /* The device's heap is about to be closed, and has been closed: all blocks of the owner end before. */
    void (*ow_close)(int32_t device);
    void (*ow_closed)(int32_t device);
};

/* Called once, by a constructor. The table ends with NULL. */
void sim_owner_set(const struct sim_owner *const *table);

extern _Atomic uint32_t sim_owner_blocks; /* those that aclrtFree asks the owners about */

bool sim_owner_find_release(const void *address, const void *site, aclError *code);
static inline bool sim_owner_release(const void *address, const void *site, aclError *code)
{
    return unlikely(atomic_load_explicit(&sim_owner_blocks, memory_order_acquire) != 0) &&
           sim_owner_find_release(address, site, code);
}

bool sim_owner_lives(const struct sim_range *range);
bool sim_owner_reclaim(int32_t device);
void sim_owner_close(int32_t device);
void sim_owner_closed(int32_t device);

#endif
