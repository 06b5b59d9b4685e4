/* Host memory that the user registered, and host memory of mappings (vmm.c): a short list of ranges. One lock, a
 * leaf, guards the list. A look-up first reads the count of entries, and skips the lock while the list is empty. */
#include "base/config.h"
#include "base/runtime.h"
#include "base/watcher.h"
#include "memory.h"
#include <inttypes.h>
#include <stdlib.h>

#define PAGE_BYTES 4096
#define BY_MAPPING 4 /* beside the flags of registrations: the user cannot unregister it */

struct registration {
    struct registration *rg_next;
    uint64_t rg_start, rg_size;
    uint32_t rg_birth;
    unsigned rg_flags;
};

static struct sim_lock registry_lock;
static struct registration *registry;
_Atomic uint32_t sim_memory_registered;

bool sim_memory_maps_host(void)
{
    return sim_config()->cf_soc->so_profile <= SIM_PA2;
}

/* The first entry that overlaps the range; the lock is held. */
static struct registration *overlapping(uint64_t start, uint64_t size)
{
    struct registration *entry = registry;
    while (entry != NULL && (start >= entry->rg_start + entry->rg_size || entry->rg_start >= start + size))
        entry = entry->rg_next;
    return entry;
}

static void put_in(struct registration *entry)
{
    entry->rg_next = registry;
    registry = entry;
    atomic_fetch_add_explicit(&sim_memory_registered, 1, memory_order_release);
}

/* Removes and returns the entry that starts there, one of a mapping or not as `by_mapping` says; NULL if there is
 * none. */
static struct registration *take_out(uint64_t start, unsigned by_mapping)
{
    struct registration **link = &registry;
    while (*link != NULL && ((*link)->rg_start != start || ((*link)->rg_flags & BY_MAPPING) != by_mapping))
        link = &(*link)->rg_next;
    struct registration *entry = *link;
    if (entry != NULL) {
        *link = entry->rg_next;
        atomic_fetch_sub_explicit(&sim_memory_registered, 1, memory_order_release);
    }
    return entry;
}

int sim_memory_note_mapped(const struct sim_block *block)
{
    struct registration *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return -1;
    *entry = (struct registration){NULL, block->bk_start, block->bk_size, block->bk_birth,
                                   SIM_REGISTERED_MAPPED | SIM_REGISTERED_PINNED | BY_MAPPING};
    sim_lock(&registry_lock);
    put_in(entry);
    sim_unlock(&registry_lock);
    return 0;
}

void sim_memory_forget_mapped(uint64_t start)
{
    sim_lock(&registry_lock);
    struct registration *entry = take_out(start, BY_MAPPING);
    sim_unlock(&registry_lock);
    free(entry);
}

static bool find(const void *address, unsigned flag, struct sim_block *block)
{
    sim_lock(&registry_lock);
    const struct registration *entry = overlapping((uint64_t)(uintptr_t)address, 1);
    bool found = entry != NULL && (entry->rg_flags & flag) != 0;
    if (found)
        *block = (struct sim_block){.bk_start = entry->rg_start, .bk_size = entry->rg_size,
                                    .bk_requested = entry->rg_size, .bk_birth = entry->rg_birth, .bk_device = -1};
    sim_unlock(&registry_lock);
    return found;
}

SIM_RARE bool sim_memory_find_pinned(const void *address, struct sim_block *block)
{
    return find(address, SIM_REGISTERED_PINNED, block);
}

bool sim_memory_find_mapped(const void *address, struct sim_block *block)
{
    return sim_memory_has_registered() && find(address, SIM_REGISTERED_MAPPED, block);
}

aclError sim_memory_register(void *address, uint64_t size, unsigned flags)
{
    uint64_t start = (uint64_t)(uintptr_t)address;
    SIM_CHECK(start % PAGE_BYTES == 0, ACL_ERROR_RT_PARAM_INVALID, "ptr is %p, expected a multiple of %d", address,
              PAGE_BYTES);
    SIM_CHECK(start + size > start, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected a size for which ptr %p + size does not overflow", size, address);
    SIM_TRY(sim_runtime_check_current());
    struct sim_place place;
    sim_memory_locate(address, &place);
    if (sim_memory_is_low(&place, address))
        return sim_memory_refuse_low(address, "ptr");
    SIM_CHECK(place.pl_class == SIM_MEMORY_FOREIGN || place.pl_class == SIM_MEMORY_HOST, ACL_ERROR_RT_PARAM_INVALID,
              "ptr is %p, which is %s, expected host memory", address, sim_memory_describe(&place));
    SIM_CHECK(place.pl_class == SIM_MEMORY_FOREIGN || (flags & SIM_REGISTERED_PINNED) == 0,
              ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "ptr is %p, which is pinned already, expected ordinary memory",
              address);
    struct registration *entry = malloc(sizeof *entry);
    SIM_CHECK(entry != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for one more registration");
    struct sim_block block = {.bk_start = start, .bk_size = size, .bk_requested = size, .bk_birth = sim_heap_birth(),
                              .bk_device = -1};
    *entry = (struct registration){NULL, start, size, block.bk_birth, flags};
    sim_lock(&registry_lock);
    const struct registration *other = overlapping(start, size);
    uint64_t other_start = other != NULL ? other->rg_start : 0, other_size = other != NULL ? other->rg_size : 0;
    if (other == NULL)
        put_in(entry);
    sim_unlock(&registry_lock);
    if (other_size == 0) {
        if (sim_watcher_any())
            sim_watcher_allocate(&block);
        return ACL_SUCCESS;
    }
    free(entry);
    return sim_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                    "ptr %p with size %" PRIu64 " overlaps the %" PRIu64 " bytes registered at 0x%" PRIx64
                    ", expected memory that is not registered",
                    address, size, other_size, other_start);
}

aclError sim_memory_unregister(const void *address, const void *site)
{
    SIM_TRY(sim_runtime_check_current());
    sim_lock(&registry_lock);
    struct registration *entry = take_out((uint64_t)(uintptr_t)address, 0);
    if (entry != NULL) {
        sim_heap_bury(entry->rg_birth, site, sim_thread_number());
    }
    sim_unlock(&registry_lock);
    SIM_CHECK(entry != NULL, ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
              "ptr is %p, expected the start of memory registered with aclrtHostRegister", address);
    free(entry);
    return ACL_SUCCESS;
}

aclError sim_memory_device_pointer(const void *address, void **device_address)
{
    SIM_TRY(sim_runtime_check_current());
    sim_lock(&registry_lock);
    const struct registration *entry = overlapping((uint64_t)(uintptr_t)address, 1);
    bool mapped = entry != NULL && (entry->rg_flags & SIM_REGISTERED_MAPPED) != 0;
    sim_unlock(&registry_lock);
    SIM_CHECK(mapped, ACL_ERROR_RT_PARAM_INVALID,
              "pHost is %p, expected an address in memory registered as mapped (ACL_HOST_REG_MAPPED)", address);
    *device_address = (void *)(uintptr_t)address; /* host and device share one address space */
    return ACL_SUCCESS;
}

void sim_memory_forget_registered(void)
{
    sim_lock(&registry_lock);
    while (registry != NULL) {
        struct registration *next = registry->rg_next;
        free(registry);
        registry = next;
    }
    atomic_store_explicit(&sim_memory_registered, 0, memory_order_relaxed);
    sim_unlock(&registry_lock);
}

/* The parent may have been changing its list when it forked: the child leaves it alone. */
void sim_memory_registered_after_fork(void)
{
    registry = NULL;
    atomic_store_explicit(&sim_memory_registered, 0, memory_order_relaxed);
    sim_lock_renew(&registry_lock);
}
