/* Design notes
 *
 * Managed memory: addresses that mean the same bytes to the host and to every device.
 *
 * One range of 3 TiB is reserved with the first block, at the documented address; if the process uses those addresses
 * already (under a sanitizer), the range lies elsewhere, and is smaller if there is less room. A block gets whole pages
 * of 2 MiB, first fit, and is readable and writable from the host and from every device: nothing migrates, because host
 * and devices are one machine here, and the system backs a page when it is first touched. Freed memory loses its
 * contents but stays mapped, so that a task that is using it does no harm; later tasks fail because the allocation id
 * has changed. Advice and prefetches are stored per page and can be queried; they have no other effect.
 *
 * This file owns the range and the blocks, one array sorted by address. One lock, a leaf, guards them; it is also
 * held while advice for many pages is written. */
#include "managed.h"

#include "base/config.h"
#include "base/runtime.h"
#include "base/watcher.h"
#include "memory.h"
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DOCUMENTED_BASE UINT64_C(0x90000000000)
#define LEAST_BYTES (UINT64_C(1) << 30)
#define NODES 64 /* host NUMA nodes that advice can name */
#define NOWHERE (-2)
#define HOST_ID (-1)

/* The advice for one page. A location of type 0 was not set. */
struct advice {
    uint64_t ad_devices, ad_nodes; /* one bit for each that accesses the page */
    aclrtMemManagedLocation ad_preferred, ad_prefetched;
    bool ad_host, ad_read_mostly;
};

struct block {
    uint64_t bl_start, bl_size, bl_requested;
    uint32_t bl_birth;
    int32_t bl_device;
    struct advice *bl_pages; /* NULL: no page has advice */
};

_Atomic uint64_t sim_managed_base, sim_managed_bytes;
static struct sim_lock lock; /* guards the rest */
static struct block *blocks;
static size_t block_count, block_room;
static void *reserved;
static size_t reserved_bytes;
static uint64_t first_free, highest; /* where blocks may begin; the largest end of a block so far */

aclError sim_managed_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile == SIM_PA2 || soc->so_profile == SIM_PA3, "%s has no managed memory", soc->so_name);
    return ACL_SUCCESS;
}

/* ---- blocks; the lock is held ---- */

/* The first block that ends behind the address, or block_count. */
static size_t index_of(uint64_t address)
{
    size_t low = 0, high = block_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].bl_start + blocks[middle].bl_size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct block *block_at(const void *address)
{
    size_t index = index_of((uint64_t)(uintptr_t)address);
    bool inside = index < block_count && blocks[index].bl_start <= (uint64_t)(uintptr_t)address;
    return inside ? &blocks[index] : NULL;
}

/* Checks the result, because older systems treat MAP_FIXED_NOREPLACE as a hint. */
static uint64_t reserve(void)
{
    uint64_t base = atomic_load_explicit(&sim_managed_base, memory_order_relaxed);
    if (base != 0)
        return base;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *wanted = (void *)(uintptr_t)DOCUMENTED_BASE;
    reserved_bytes = SIM_MANAGED_BYTES;
    reserved = mmap(wanted, reserved_bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (reserved != wanted && reserved != MAP_FAILED) {
        munmap(reserved, reserved_bytes);
        reserved = MAP_FAILED;
    }
    uint64_t bytes = SIM_MANAGED_BYTES;
    for (uint64_t less = bytes; reserved == MAP_FAILED && less >= LEAST_BYTES; less /= 2) {
        bytes = less;
        reserved_bytes = bytes + SIM_MANAGED_PAGE; /* room to align to whole pages */
        reserved = mmap(NULL, reserved_bytes, PROT_NONE, flags, -1, 0);
    }
    if (reserved == MAP_FAILED)
        return 0;
    atomic_store_explicit(&sim_managed_bytes, bytes, memory_order_relaxed);
    base = ((uint64_t)(uintptr_t)reserved + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE * SIM_MANAGED_PAGE;
    first_free = highest = base;
    atomic_store_explicit(&sim_managed_base, base, memory_order_release);
    return base;
}

/* The address at which `size` bytes fit, and the index of the next block; 0 if there is none. */
static uint64_t find_room(uint64_t size, size_t *before)
{
    uint64_t base = reserve(), start = first_free;
    if (base == 0)
        return 0;
    for (*before = 0; *before < block_count; ++*before) {
        if (blocks[*before].bl_start >= start && blocks[*before].bl_start - start >= size)
            return start;
        start = blocks[*before].bl_start + blocks[*before].bl_size;
    }
    return base + sim_managed_bytes - start >= size ? start : 0;
}

static bool make_room_in_list(void)
{
    if (block_count < block_room)
        return true;
    size_t room = block_room == 0 ? 16 : 2 * block_room;
    struct block *grown = realloc(blocks, room * sizeof *grown);
    if (grown == NULL)
        return false;
    blocks = grown;
    block_room = room;
    return true;
}

static uint64_t place(const struct block *made)
{
    size_t before;
    uint64_t start = make_room_in_list() ? find_room(made->bl_size, &before) : 0;
    if (start == 0 || mprotect((void *)(uintptr_t)start, made->bl_size, PROT_READ | PROT_WRITE) != 0)
        return 0;
    if (start + made->bl_size > highest)
        highest = start + made->bl_size;
    memmove(&blocks[before + 1], &blocks[before], (block_count - before) * sizeof *blocks);
    block_count++;
    blocks[before] = *made;
    blocks[before].bl_start = start;
    return start;
}

/* ---- blocks; these functions take the lock ---- */

aclError sim_managed_allocate(void **address, uint64_t size)
{
    int32_t device;
    SIM_TRY(sim_runtime_device(&device));
    SIM_CHECK(size <= SIM_MANAGED_BYTES, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes that a process may have", size,
              SIM_MANAGED_BYTES);
    struct block made = {.bl_size = (size + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE * SIM_MANAGED_PAGE,
                         .bl_requested = size,
                         .bl_birth = sim_heap_birth(),
                         .bl_device = device};
    sim_lock(&lock);
    uint64_t start = place(&made);
    sim_unlock(&lock);
    SIM_CHECK(start != 0, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", for which no managed addresses are free, expected less: a process has %" PRIu64
              " bytes", size, SIM_MANAGED_BYTES);
    *address = (void *)(uintptr_t)start;
    struct sim_block block;
    if (sim_watcher_any() && sim_managed_find(*address, &block))
        sim_watcher_allocate(&block);
    return ACL_SUCCESS;
}

SIM_RARE bool sim_managed_release(const void *address, const void *site)
{
    if (!sim_managed_contains(address))
        return false;
    sim_lock(&lock);
    struct block *block = block_at(address);
    bool starts = block != NULL && block->bl_start == (uint64_t)(uintptr_t)address;
    if (starts) {
        sim_heap_bury(block->bl_birth, site, sim_thread_number());
        free(block->bl_pages);
        madvise((void *)(uintptr_t)block->bl_start, block->bl_size, MADV_DONTNEED);
        memmove(block, block + 1, (size_t)(&blocks[--block_count] - block) * sizeof *block);
    }
    sim_unlock(&lock);
    return starts;
}

SIM_RARE bool sim_managed_find(const void *address, struct sim_block *block)
{
    sim_lock(&lock);
    const struct block *found = block_at(address);
    if (found != NULL)
        *block = (struct sim_block){.bk_start = found->bl_start, .bk_size = found->bl_size,
                                    .bk_requested = found->bl_requested, .bk_birth = found->bl_birth,
                                    .bk_device = found->bl_device, .bk_page = SIM_PAGE_HUGE};
    sim_unlock(&lock);
    return found != NULL;
}

/* ---- checks ---- */

static bool node_exists(int32_t node)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    return node == 0 || (node > 0 && node < NODES && access(path, F_OK) == 0);
}

aclError sim_managed_resolve(aclrtMemManagedLocation *location, const char *name)
{
    unsigned cpu, node = 0;
    switch (location->type) {
    case ACL_MEM_LOCATIONTYPE_DEVICE:
        SIM_CHECK(location->id >= 0 && (uint32_t)location->id < sim_config_devices(), ACL_ERROR_RT_PARAM_INVALID,
                  "%s.id is %d, expected a device, 0 to %u", name, location->id, sim_config_devices() - 1);
        return ACL_SUCCESS;
    case ACL_MEM_LOCATIONTYPE_HOST:
        location->id = HOST_ID;
        return ACL_SUCCESS;
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
        SIM_CHECK(node_exists(location->id), ACL_ERROR_RT_PARAM_INVALID,
                  "%s.id is %d, expected the number of a NUMA node of this host", name, location->id);
        return ACL_SUCCESS;
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT:
        (void)syscall(SYS_getcpu, &cpu, &node, NULL);
        *location = (aclrtMemManagedLocation){ACL_MEM_LOCATIONTYPE_HOST_NUMA, (int32_t)(node < NODES ? node : 0)};
        return ACL_SUCCESS;
    default:
        return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "%s.type is %d, expected ACL_MEM_LOCATIONTYPE_DEVICE (1), _HOST (2), _HOST_NUMA (3) or "
                        "_HOST_NUMA_CURRENT (4)", name, (int)location->type);
    }
}

/* Returns 107000 unless all of it lies in one live block. */
static aclError check_inside(const void *address, uint64_t size, const char *name)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    SIM_CHECK(place.pl_class == SIM_MEMORY_MANAGED, ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, which lies in %s, expected managed memory (aclrtMemAllocManaged)", name, address,
              sim_memory_describe(&place));
    return sim_memory_span(address, size, name, "size", &place);
}

aclError sim_managed_check_pages(const void *address, uint64_t size, const char *name)
{
    SIM_CHECK((uint64_t)(uintptr_t)address % SIM_MANAGED_PAGE == 0, ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, expected a multiple of 2 MiB", name, address);
    SIM_CHECK(size % SIM_MANAGED_PAGE == 0, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected a multiple of 2 MiB", size);
    return check_inside(address, size, name);
}

/* ---- advice ---- */

/* The advice of the page at an address that was checked; NULL if the page was freed meanwhile, has none, or memory
 * runs out. */
static struct advice *first_page(const void *address, uint64_t size, bool make)
{
    struct block *block = block_at(address);
    uint64_t into = block != NULL ? (uint64_t)(uintptr_t)address - block->bl_start : 0;
    if (block == NULL || block->bl_size - into < size)
        return NULL;
    if (block->bl_pages == NULL && make)
        block->bl_pages = calloc(block->bl_size / SIM_MANAGED_PAGE, sizeof *block->bl_pages);
    return block->bl_pages != NULL ? block->bl_pages + into / SIM_MANAGED_PAGE : NULL;
}

static uint64_t pages_of(const void *address, uint64_t size)
{
    return ((uint64_t)(uintptr_t)address % SIM_MANAGED_PAGE + size + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE;
}

static void set_accessed(struct advice *page, const aclrtMemManagedLocation *location, bool accessed)
{
    if (location->type == ACL_MEM_LOCATIONTYPE_HOST) {
        page->ad_host = accessed;
        return;
    }
    bool device = location->type == ACL_MEM_LOCATIONTYPE_DEVICE;
    uint64_t *bits = device ? &page->ad_devices : &page->ad_nodes, bit = UINT64_C(1) << location->id;
    *bits = accessed ? *bits | bit : *bits & ~bit;
}

static void apply(struct advice *page, aclrtMemManagedAdviseType advice, const aclrtMemManagedLocation *location)
{
    switch (advice) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
        page->ad_read_mostly = advice == ACL_MEM_ADVISE_SET_READ_MOSTLY;
        return;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
        page->ad_preferred = *location;
        return;
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        page->ad_preferred = (aclrtMemManagedLocation){ACL_MEM_LOCATIONTYPE_INVALID, 0};
        return;
    default:
        set_accessed(page, location, advice == ACL_MEM_ADVISE_SET_ACCESSED_BY);
    }
}

aclError sim_managed_advise(const void *address, uint64_t size, aclrtMemManagedAdviseType advice,
                            const aclrtMemManagedLocation *given)
{
    aclrtMemManagedLocation location = *given;
    SIM_CHECK((unsigned)advice <= ACL_MEM_ADVISE_UNSET_ACCESSED_BY, ACL_ERROR_RT_PARAM_INVALID,
              "advise is %d, expected an aclrtMemManagedAdviseType (0 to %d)", (int)advice,
              ACL_MEM_ADVISE_UNSET_ACCESSED_BY);
    if (advice == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || advice >= ACL_MEM_ADVISE_SET_ACCESSED_BY)
        SIM_TRY(sim_managed_resolve(&location, "location"));
    SIM_TRY(sim_managed_check_pages(address, size, "ptr"));
    sim_lock(&lock);
    struct advice *page = first_page(address, size, true);
    for (uint64_t left = page != NULL ? pages_of(address, size) : 0; left != 0; left--)
        apply(page++, advice, &location);
    sim_unlock(&lock);
    SIM_CHECK(page != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory to store the advice for the block at "
              "%p",
              address);
    return ACL_SUCCESS;
}

/* ---- attributes ---- */

static bool is_list(aclrtMemManagedRangeAttribute attribute)
{
    return attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
}

aclError sim_managed_check_attribute(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size,
                                     size_t data_size)
{
    SIM_CHECK(attribute >= ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
                  attribute <= ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
              ACL_ERROR_RT_PARAM_INVALID, "attribute is %d, expected an aclrtMemManagedRangeAttribute (1 to %d)",
              (int)attribute, ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
    SIM_CHECK(is_list(attribute) ? data_size != 0 && data_size % sizeof(int32_t) == 0 : data_size == sizeof(int32_t),
              ACL_ERROR_RT_PARAM_INVALID, "dataSize is %zu with attribute %d, expected %s", data_size, (int)attribute,
              is_list(attribute) ? "a multiple of 4, not 0" : "4");
    return check_inside(address, size, "ptr");
}

static bool is_same(const aclrtMemManagedLocation *one, const aclrtMemManagedLocation *other)
{
    return one->type == other->type && one->id == other->id;
}

/* What all pages have in common: a location that differs counts as not set. */
static struct advice common_of(const struct advice *page, uint64_t count)
{
    struct advice common = {0};
    if (page != NULL)
        common = *page;
    for (uint64_t i = 1; page != NULL && i < count; i++) {
        const aclrtMemManagedLocation none = {ACL_MEM_LOCATIONTYPE_INVALID, 0};
        common.ad_devices &= page[i].ad_devices;
        common.ad_nodes &= page[i].ad_nodes;
        common.ad_host &= page[i].ad_host;
        common.ad_read_mostly &= page[i].ad_read_mostly;
        if (!is_same(&common.ad_preferred, &page[i].ad_preferred))
            common.ad_preferred = none;
        if (!is_same(&common.ad_prefetched, &page[i].ad_prefetched))
            common.ad_prefetched = none;
    }
    return common;
}

static int32_t id_of(const aclrtMemManagedLocation *location)
{
    return location->type == ACL_MEM_LOCATIONTYPE_INVALID ? NOWHERE : location->id;
}

/* Lists devices, then nodes, then the host, as far as there is room; the remaining entries are NOWHERE. */
static void tell_accessors(const struct advice *common, int32_t *ids, size_t room)
{
    size_t count = 0;
    for (int bit = 0; bit < 2 * NODES && count < room; bit++)
        if (((bit < NODES ? common->ad_devices : common->ad_nodes) >> bit % NODES & 1) != 0)
            ids[count++] = bit % NODES;
    if (common->ad_host && count < room)
        ids[count++] = HOST_ID;
    while (count < room)
        ids[count++] = NOWHERE;
}

void sim_managed_tell(aclrtMemManagedRangeAttribute attribute, const void *address, uint64_t size, void *data,
                      size_t data_size)
{
    sim_lock(&lock);
    struct advice common = common_of(first_page(address, size, false), pages_of(address, size));
    sim_unlock(&lock);
    int32_t *value = data;
    switch (attribute) {
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *value = common.ad_read_mostly;
        return;
    case ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        tell_accessors(&common, value, data_size / sizeof *value);
        return;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *value = (int32_t)common.ad_preferred.type;
        return;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *value = id_of(&common.ad_preferred);
        return;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *value = (int32_t)common.ad_prefetched.type;
        return;
    default:
        *value = id_of(&common.ad_prefetched);
    }
}

void sim_managed_note_prefetch(const void *address, uint64_t size, const aclrtMemManagedLocation *location)
{
    sim_lock(&lock);
    struct advice *page = first_page(address, size, true);
    for (uint64_t left = page != NULL ? pages_of(address, size) : 0; left != 0; left--)
        (page++)->ad_prefetched = *location;
    sim_unlock(&lock);
}

/* ---- the end of everything ---- */

static void forget(void)
{
    for (size_t i = 0; i < block_count; i++)
        free(blocks[i].bl_pages);
    free(blocks);
    blocks = NULL;
    block_count = block_room = 0;
}

void sim_managed_reset(void)
{
    sim_lock(&lock);
    forget();
    uint64_t base = atomic_exchange(&sim_managed_base, 0);
    if (base != 0)
        munmap(reserved, reserved_bytes);
    sim_unlock(&lock);
}

/* The parent's blocks stay mapped, and their addresses are never reused. The parent may have been changing its array
 * when it forked: the child leaves it alone. */
void sim_managed_after_fork(void)
{
    sim_lock_renew(&lock);
    first_free = highest;
    blocks = NULL;
    block_count = block_room = 0;
}
