/* Managed memory: addresses that mean the same bytes to the host and to every device. */
#ifndef SIM_MANAGED_H
#define SIM_MANAGED_H

#include "base/fail.h"
#include "heap.h"

#define SIM_MANAGED_PAGE (UINT64_C(1) << 21)
#define SIM_MANAGED_BYTES (UINT64_C(3) << 40) /* per process */
#define SIM_MANAGED_RANGES 65536u             /* per batch */

/* Returns 207000 on chips without managed memory. */
aclError sim_managed_supported(void);
/* Allocates a block. Returns 107002 without a context, and 207001 if memory runs out. */
aclError sim_managed_allocate(void **address, uint64_t size);
/* Frees the block; returns false unless a live block starts there. */
bool sim_managed_release(const void *address, const void *site);

/* Whether an address is in managed memory, allocated or not. */
extern _Atomic uint64_t sim_managed_base; /* 0 until the first allocation */
extern _Atomic uint64_t sim_managed_bytes; /* bytes from there; written first */
static inline bool sim_managed_contains(const void *address)
{
    uint64_t base = atomic_load_explicit(&sim_managed_base, memory_order_acquire);
    return base != 0 && (uint64_t)(uintptr_t)address - base < sim_managed_bytes;
}
/* Finds the live block that contains an address. */
bool sim_managed_find(const void *address, struct sim_block *block);

/* Checks a location and returns 107000 if it does not exist. The current NUMA node is replaced by its number. */
aclError sim_managed_resolve(aclrtMemManagedLocation *location, const char *name);

/* Returns 107000 unless the bytes are whole pages of one live block. */
aclError sim_managed_check_pages(const void *address, uint64_t size, const char *name);

/* Applies an advice to pages. Returns 107000 if an argument is wrong, and 207001 if memory runs out. The location is
 * ignored by advice that does not use it. */
aclError sim_managed_advise(const void *address, uint64_t size, aclrtMemManagedAdviseType advice,
                            const aclrtMemManagedLocation *location);

/* Returns 107000 if the attribute, the size of its value, or the range is wrong; otherwise sim_managed_tell can read
 * it. */
aclError sim_managed_check_attribute(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size,
                                     size_t data_size);
void sim_managed_tell(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size, void *data,
                      size_t data_size);

/* Records that pages were prefetched; does nothing if their block was freed meanwhile. */
void sim_managed_note_prefetch(const void *address, uint64_t size, const aclrtMemManagedLocation *location);

void sim_managed_reset(void);
void sim_managed_after_fork(void);

#endif
