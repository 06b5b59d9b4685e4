/* Owners of blocks: upper rooms that allocate and free blocks of a device's heap in their own way, such as memory
 * pools and imports from other processes. Every function may be NULL. */
#ifndef SIM_OWNER_H
#define SIM_OWNER_H

#include "base/fail.h"
#include "range.h"

struct sim_owner {
    /* aclrtFree: returns false if no block of the owner starts there; otherwise *code is the result. */
    bool (*ow_release)(const void *address, const void *site, aclError *code);
    /* Whether the range belongs to a former allocation of its block that is still in use. */
    bool (*ow_lives)(const struct sim_range *range);
    /* The device is out of memory: the owner releases all that it can spare. Returns false if that is nothing. */
    bool (*ow_reclaim)(int32_t device);
    /* Called before and after the device's heap is closed. The owner's blocks end in the first call. */
    void (*ow_close)(int32_t device);
    void (*ow_closed)(int32_t device);
};

/* Called once, by a constructor. The table ends with NULL. */
void sim_owner_set(const struct sim_owner *const *table);

extern _Atomic uint32_t sim_owner_blocks; /* blocks of all owners: aclrtFree skips the owners while this is 0 */

bool sim_owner_find_release(const void *address, const void *site, aclError *code);
static inline bool sim_owner_release(const void *address, const void *site, aclError *code)
{
    return unlikely(atomic_load_explicit(&sim_owner_blocks, memory_order_acquire) != 0) &&
           sim_owner_find_release(address, site, code);
}

/* Call these functions of all owners. */
bool sim_owner_lives(const struct sim_range *range);
bool sim_owner_reclaim(int32_t device);
void sim_owner_close(int32_t device);
void sim_owner_closed(int32_t device);

#endif
