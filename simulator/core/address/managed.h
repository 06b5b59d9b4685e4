/* Managed memory: addresses that mean the same bytes to the host and to every device. */
#ifndef SIM_MANAGED_H
#define SIM_MANAGED_H

#include "base/fail.h"
#include "heap.h"

#define SIM_MANAGED_PAGE (UINT64_C(1) << 21)
#define SIM_MANAGED_BYTES (UINT64_C(3) << 40) /* for a process */
#define SIM_MANAGED_RANGES 65536u             /* of one batch */

aclError sim_managed_supported(void); /* 207000 */
aclError sim_managed_allocate(void **address, uint64_t size); /* 107002, 207001 */
/* False unless a live block starts there. */
bool sim_managed_release(const void *address, const void *site);

/* Whether an address is one of managed memory, alive or not. */
extern _Atomic uint64_t sim_managed_base; /* 0: there never was any */
extern _Atomic uint64_t sim_managed_bytes; /* from there; written first */
static inline bool sim_managed_contains(const void *address)
{
    uint64_t base = atomic_load_explicit(&sim_managed_base, memory_order_acquire);
    return base != 0 && (uint64_t)(uintptr_t)address - base < sim_managed_bytes;
}
bool sim_managed_find(const void *address, struct sim_block *block);

/* What a place is to be: 107000 unless it is there. The current NUMA node becomes a node with its number. */
aclError sim_managed_resolve(aclrtMemManagedLocation *location, const char *name);

/* 107000 unless the bytes are whole pages of one live block. */
aclError sim_managed_check_pages(const void *address, uint64_t size, const char *name);

/* All of an advice but the location of those that ignore theirs is checked. 107000, 207001. */
aclError sim_managed_advise(const void *address, uint64_t size, aclrtMemManagedAdviseType advice,
                            const aclrtMemManagedLocation *location);

/* 107000 for an attribute, a size of its value or a range that is none; then the value can be told. */
aclError sim_managed_check_attribute(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size,
                                     size_t data_size);
void sim_managed_tell(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size, void *data,
                      size_t data_size);

/* Pages were prefetched; none when their block was freed since. */
void sim_managed_note_prefetch(const void *address, uint64_t size, const aclrtMemManagedLocation *location);

void sim_managed_reset(void);
void sim_managed_after_fork(void);

#endif
