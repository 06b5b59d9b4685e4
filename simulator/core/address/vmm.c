/* Design notes
 *
 * Virtual memory management: reserved address ranges, and mappings of physical memory (vmm_physical.c) into them.
 *
 * Addresses come from one area (heap_area.c), which is opened with the first reservation. This file owns a list of
 * ranges sorted by address, and each range a list of its mappings. Physical memory of a device ends with the device's
 * last reset, and so do its mappings; ranges stay.
 *
 * A mapping of device memory that has access rights is published in the area's tables like a block of a heap, with its
 * own allocation id. So copies, kernels and queries find it without a lock, and a task that runs after the unmapping
 * fails, as it does after aclrtFree. A mapping of host memory is noted among the registered ranges. A mapping without
 * access rights is not published, so every use of it is an error. The engine's side of a mapping always has pages,
 * those of the memory or scratch memory: a task that runs while its memory is unmapped never faults. The host sees
 * device memory only if it was given access.
 *
 * `sim_vmm_lock` guards the ranges, the mappings and physical memory. The locks of heaps, of registered host memory
 * and of handles are taken inside it, and mmap is called under it: these calls are rare. */
#include "base/config.h"
#include "base/runtime.h"
#include "base/watcher.h"
#include "memory.h"
#include "peer.h"
#include "vmm_inner.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HOST_BIT (UINT32_C(1) << 31) /* in mp_access */
#define UNIT_BYTES (UINT64_C(1) << 21)

struct mapping {
    uint64_t mp_start;
    struct sim_physical *mp_memory;
    uint32_t mp_access; /* one bit per device, and HOST_BIT; 0: not published */
    uint32_t mp_birth;
};

struct range {
    uint64_t ra_start, ra_size;
    struct mapping *ra_mappings;
    size_t ra_count, ra_room;
};

static struct range *ranges;
static size_t range_count, range_room;

aclError sim_vmm_supported(void)
{
    SIM_SUPPORTED(!sim_memory_runs_on_device(), "%s, whose run mode is ACL_DEVICE, has no virtual memory management, "
                  "expected aclrtMalloc", sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

/* ---- sorted lists ---- */

/* Makes room for one more element of an array at index `at`; returns false if memory runs out. */
static bool open_gap(void **array, size_t *count, size_t *room, size_t at, size_t bytes)
{
    if (*count == *room) {
        size_t more = *room != 0 ? 2 * *room : 8;
        void *bigger = realloc(*array, more * bytes);
        if (bigger == NULL)
            return false;
        *array = bigger;
        *room = more;
    }
    char *place = (char *)*array + at * bytes;
    memmove(place + bytes, place, (*count - at) * bytes);
    ++*count;
    return true;
}

static void close_gap(void *array, size_t *count, size_t at, size_t bytes)
{
    char *place = (char *)array + at * bytes;
    --*count;
    memmove(place, place + bytes, (*count - at) * bytes);
}

/* The number of ranges that start at or before an address; only the last of them can contain it. */
static size_t ranges_before(uint64_t address)
{
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].ra_start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t mappings_before(const struct range *range, uint64_t address)
{
    size_t low = 0, high = range->ra_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (range->ra_mappings[middle].mp_start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct range *range_of(uint64_t address)
{
    size_t before = ranges_before(address);
    struct range *range = before != 0 ? &ranges[before - 1] : NULL;
    return range != NULL && address - range->ra_start < range->ra_size ? range : NULL;
}

static struct mapping *mapping_in(const struct range *range, uint64_t address)
{
    size_t before = range != NULL ? mappings_before(range, address) : 0;
    struct mapping *mapping = before != 0 ? &range->ra_mappings[before - 1] : NULL;
    return mapping != NULL && address - mapping->mp_start < mapping->mp_memory->ph_pages.ex_size ? mapping : NULL;
}

static struct mapping *mapping_of(uint64_t address)
{
    return mapping_in(range_of(address), address);
}

static uint64_t number(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

/* ---- addresses ---- */

/* The first free address with enough room, and its index in the list; 0 if there is none. */
static uint64_t find_free(uint64_t size, uint64_t unit, size_t *at)
{
    uint64_t end = sim_heap_area.zn_base + sim_heap_area.zn_bytes, start = sim_heap_area.zn_base;
    for (*at = 0;; ++*at) {
        start = (start + unit - 1) / unit * unit;
        uint64_t limit = *at < range_count ? ranges[*at].ra_start : end;
        if (start <= limit && size <= limit - start)
            return start;
        if (*at == range_count)
            return 0;
        start = ranges[*at].ra_start + ranges[*at].ra_size;
    }
}

/* `wanted` if it is free, and its index in the list; 0 otherwise. */
static uint64_t find_wanted(uint64_t wanted, uint64_t size, size_t *at)
{
    uint64_t end = sim_heap_area.zn_base + sim_heap_area.zn_bytes;
    *at = ranges_before(wanted);
    if (wanted < sim_heap_area.zn_base || wanted > end || size > end - wanted || range_of(wanted) != NULL ||
        (*at < range_count && ranges[*at].ra_start - wanted < size))
        return 0;
    return wanted;
}

static aclError reserve_locked(uint64_t size, uint64_t unit, uint64_t wanted, void **address)
{
    size_t at;
    uint64_t whole = (size + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    SIM_CHECK(sim_heap_area_open(&sim_heap_area) == 0, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "the system refused address space for mappings (ulimit -v)");
    uint64_t most = sim_heap_area.zn_bytes;
    SIM_CHECK(whole >= size && whole <= most, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most %" PRIu64, size, most);
    uint64_t start = wanted != 0 ? find_wanted(wanted, whole, &at) : find_free(whole, unit, &at);
    SIM_CHECK(start != 0 || wanted == 0, ACL_ERROR_RT_PARAM_INVALID,
              "expectPtr is 0x%" PRIx64 ", where %" PRIu64 " bytes are not free, expected NULL or another address",
              wanted, size);
    SIM_CHECK(start != 0 && open_gap((void **)&ranges, &range_count, &range_room, at, sizeof *ranges),
              ACL_ERROR_RT_MEMORY_ALLOCATION, "size is %" PRIu64 ", more than the free contiguous address space of "
              "%" PRIu64,
              size, most);
    ranges[at] = (struct range){.ra_start = start, .ra_size = whole};
    *address = (void *)(uintptr_t)start;
    return ACL_SUCCESS;
}

aclError sim_vmm_reserve(uint64_t size, uint64_t unit, const void *wanted, void **address)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    aclError code = reserve_locked(size, unit, number(wanted), address);
    sim_unlock(&sim_vmm_lock);
    return code;
}

static aclError release_locked(uint64_t address)
{
    struct range *range = range_of(address);
    SIM_CHECK(range != NULL && range->ra_start == address, ACL_ERROR_RT_PARAM_INVALID,
              "virPtr is 0x%" PRIx64 ", expected the start of a reserved range (aclrtReserveMemAddress)", address);
    SIM_CHECK(range->ra_count == 0, ACL_ERROR_RT_PARAM_INVALID,
              "virPtr is 0x%" PRIx64 ", a range that still has %zu mappings, expected aclrtUnmapMem for each before",
              address, range->ra_count);
    sim_heap_area_clean(&sim_heap_area, address, range->ra_size);
    free(range->ra_mappings);
    close_gap(ranges, &range_count, (size_t)(range - ranges), sizeof *ranges);
    return ACL_SUCCESS;
}

aclError sim_vmm_release(const void *address)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    aclError code = release_locked(number(address));
    sim_unlock(&sim_vmm_lock);
    return code;
}

/* ---- mappings ---- */

static uint32_t owner_bit(const struct sim_physical *memory)
{
    return memory->ph_kind.mk_device >= 0 ? UINT32_C(1) << memory->ph_kind.mk_device : HOST_BIT;
}

static aclError refuse_system(uint64_t address)
{
    return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "the system refused to change the mapping at 0x%" PRIx64 " (vm.max_map_count)", address);
}

static bool expose_at(uint64_t address)
{
    struct sim_place place;
    sim_memory_locate((const void *)(uintptr_t)address, &place);
    bool is_alive = sim_memory_is_alive(&place);
    if (is_alive)
        sim_watcher_expose(place.pl_block.bk_birth);
    return is_alive;
}

/* Bytes that have another address or are another process's may be written unseen. So may those of mappings that touch,
 * because one task may use both. */
SIM_RARE static void tell_mapped(const struct sim_physical *memory, const struct sim_block *block)
{
    sim_watcher_allocate(block);
    bool touches = expose_at(block->bk_start - 1);
    touches |= expose_at(block->bk_start + block->bk_size);
    if (memory->ph_birth != 0)
        sim_watcher_expose(memory->ph_birth);
    if (touches || memory->ph_birth != 0 || memory->ph_imported != 0 || memory->ph_shared != 0)
        sim_watcher_expose(block->bk_birth);
}

/* Adds access rights; the first ones publish the mapping. */
static aclError grant(struct mapping *mapping, uint32_t access)
{
    struct sim_physical *memory = mapping->mp_memory;
    struct sim_block block = {.bk_start = mapping->mp_start, .bk_size = memory->ph_pages.ex_size,
                              .bk_birth = sim_heap_birth(), .bk_device = memory->ph_kind.mk_device,
                              .bk_page = memory->ph_kind.mk_page};
    uint32_t fresh = access & ~mapping->mp_access;
    if ((fresh & HOST_BIT) != 0 && sim_heap_area_show(mapping->mp_start, memory->ph_pages.ex_size, memory->ph_file,
                                                      memory->ph_pages.ex_offset) != 0)
        return refuse_system(mapping->mp_start);
    if (mapping->mp_access == 0 && fresh != 0) {
        SIM_CHECK(block.bk_device >= 0 || sim_memory_note_mapped(&block) == 0, ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "there is no memory to record one more mapping");
        if (block.bk_device >= 0)
            sim_heap_area_publish(&sim_heap_area, &block);
        mapping->mp_birth = block.bk_birth;
        if (sim_watcher_any())
            tell_mapped(memory, &block);
        memory->ph_birth = memory->ph_birth != 0 ? memory->ph_birth : block.bk_birth;
    }
    if ((fresh & HOST_BIT) != 0 && sim_watcher_any())
        sim_watcher_expose(mapping->mp_birth);
    mapping->mp_access |= access;
    return ACL_SUCCESS;
}

/* Withdraws the mapping from look-ups; running tasks continue. */
static void hide(struct mapping *mapping, const void *site)
{
    const struct sim_physical *memory = mapping->mp_memory;
    if (mapping->mp_access == 0)
        return;
    sim_heap_bury(mapping->mp_birth, site, sim_thread_number());
    if (memory->ph_kind.mk_device >= 0)
        sim_heap_area_withdraw(&sim_heap_area, mapping->mp_start, memory->ph_pages.ex_size);
    else
        sim_memory_forget_mapped(mapping->mp_start);
}

/* Unmaps the pages; the caller removes the mapping from its list. */
static int take_off(struct mapping *mapping, const void *site)
{
    struct sim_physical *memory = mapping->mp_memory;
    hide(mapping, site);
    bool shown = (mapping->mp_access & HOST_BIT) != 0 || memory->ph_kind.mk_device < 0;
    if (sim_heap_area_unmap(&sim_heap_area, mapping->mp_start, memory->ph_pages.ex_size, shown) != 0)
        return -1;
    sim_vmm_physical_drop_map(memory);
    return 0;
}

static aclError check_place(const struct range *range, uint64_t address, const struct sim_physical *memory)
{
    uint64_t unit = sim_vmm_granularity(&memory->ph_kind), size = memory->ph_pages.ex_size;
    SIM_CHECK(range != NULL, ACL_ERROR_RT_PARAM_INVALID,
              "virPtr is 0x%" PRIx64 ", expected an address in a reserved range (aclrtReserveMemAddress)", address);
    SIM_CHECK(address % unit == 0, ACL_ERROR_RT_PARAM_INVALID,
              "virPtr is 0x%" PRIx64 ", expected a multiple of the granularity, %" PRIu64, address, unit);
    uint64_t left = range->ra_start + range->ra_size - address;
    SIM_CHECK(size <= left, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes from virPtr 0x%" PRIx64
              " to the end of its range", size, left, address);
    return ACL_SUCCESS;
}

static aclError check_neighbours(const struct range *range, uint64_t address, const struct sim_physical *memory)
{
    if (range->ra_count == 0)
        return ACL_SUCCESS;
    const struct sim_physical *other = range->ra_mappings[0].mp_memory;
    SIM_CHECK(other->ph_kind.mk_device == memory->ph_kind.mk_device, ACL_ERROR_RT_PARAM_INVALID,
              "handle is memory of device %d and the range of virPtr has memory of device %d (-1: the host), expected "
              "one device per range", memory->ph_kind.mk_device, other->ph_kind.mk_device);
    SIM_CHECK((other->ph_imported != 0) == (memory->ph_imported != 0), ACL_ERROR_RT_PARAM_INVALID,
              "handle %s imported and the range of virPtr has memory that %s, expected either only imported memory or "
              "none of it per range",
              memory->ph_imported != 0 ? "was" : "was not", other->ph_imported != 0 ? "was" : "was not");
    size_t at = mappings_before(range, address);
    const struct mapping *next = at < range->ra_count ? &range->ra_mappings[at] : NULL,
                         *here = mapping_in(range, address);
    if (here == NULL && next != NULL && next->mp_start - address < memory->ph_pages.ex_size)
        here = next;
    SIM_CHECK(here == NULL, ACL_ERROR_RT_PARAM_INVALID,
              "virPtr 0x%" PRIx64 " with size %" PRIu64 " overlaps the mapping of %" PRIu64 " bytes at 0x%" PRIx64
              ", expected addresses that are not mapped",
              address, memory->ph_pages.ex_size, here->mp_memory->ph_pages.ex_size, here->mp_start);
    return ACL_SUCCESS;
}

static aclError map_locked(uint64_t address, struct sim_physical *memory, bool access)
{
    struct range *range = range_of(address);
    SIM_TRY(check_place(range, address, memory));
    SIM_TRY(check_neighbours(range, address, memory));
    size_t at = mappings_before(range, address);
    SIM_CHECK(open_gap((void **)&range->ra_mappings, &range->ra_count, &range->ra_room, at, sizeof *range->ra_mappings),
              ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for one more mapping");
    struct mapping *mapping = &range->ra_mappings[at];
    *mapping = (struct mapping){.mp_start = address, .mp_memory = memory};
    memory->ph_maps++;
    aclError code = sim_heap_area_map(&sim_heap_area, address, memory->ph_pages.ex_size, memory->ph_file,
                                      memory->ph_pages.ex_offset) == 0
                        ? ACL_SUCCESS
                        : refuse_system(address);
    if (code == ACL_SUCCESS && access)
        code = grant(mapping, owner_bit(memory));
    if (code != ACL_SUCCESS) {
        (void)take_off(mapping, NULL);
        close_gap(range->ra_mappings, &range->ra_count, at, sizeof *mapping);
    }
    return code;
}

static aclError check_size(uint64_t size, const struct sim_physical *memory)
{
    SIM_CHECK(size == memory->ph_pages.ex_size, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected that of the physical memory, %" PRIu64, size, memory->ph_pages.ex_size);
    return ACL_SUCCESS;
}

aclError sim_vmm_map(const void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags,
                     bool access)
{
    SIM_NOT_NULL(virPtr);
    SIM_NOT_NULL(handle);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected the size of the physical memory");
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#" PRIx64 ", expected 0 (reserved)", flags);
    SIM_CHECK(offset == 0, ACL_ERROR_RT_PARAM_INVALID, "offset is %zu, expected 0: a handle is always mapped "
              "completely", offset);
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    struct sim_physical *memory = sim_vmm_physical_find(handle);
    aclError code = memory != NULL ? check_size(size, memory) : sim_vmm_physical_refuse(handle);
    if (code == ACL_SUCCESS)
        code = map_locked(number(virPtr), memory, access);
    sim_unlock(&sim_vmm_lock);
    return code;
}

static aclError map_again_locked(uint64_t address, uint64_t size, uint64_t source)
{
    const struct range *range = range_of(address);
    const struct mapping *mapping = mapping_of(source);
    SIM_CHECK(range != NULL && range->ra_start == address, ACL_ERROR_RT_PARAM_INVALID,
              "virPtrDst is 0x%" PRIx64 ", expected the start of a reserved range (aclrtReserveMemAddress)", address);
    SIM_CHECK(mapping != NULL && mapping->mp_start == source, ACL_ERROR_RT_PARAM_INVALID,
              "virPtrSrc is 0x%" PRIx64 ", expected the start of a mapping (aclrtMapMem)", source);
    SIM_TRY(check_size(size, mapping->mp_memory));
    return map_locked(address, mapping->mp_memory, true);
}

aclError sim_vmm_map_again(const void *address, uint64_t size, const void *source)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    aclError code = map_again_locked(number(address), size, number(source));
    sim_unlock(&sim_vmm_lock);
    return code;
}

static aclError refuse_unmapped(uint64_t address, const char *expected)
{
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr is 0x%" PRIx64 ", expected %s (aclrtMapMem)", address,
                    expected);
}

static aclError unmap_locked(uint64_t address, const void *site)
{
    struct range *range = range_of(address);
    struct mapping *mapping = mapping_in(range, address);
    if (mapping == NULL || mapping->mp_start != address)
        return refuse_unmapped(address, "the start of a mapping");
    if (take_off(mapping, site) != 0)
        return refuse_system(address);
    close_gap(range->ra_mappings, &range->ra_count, (size_t)(mapping - range->ra_mappings), sizeof *mapping);
    return ACL_SUCCESS;
}

aclError sim_vmm_unmap(const void *address, const void *site)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    aclError code = unmap_locked(number(address), site);
    sim_unlock(&sim_vmm_lock);
    return code;
}

/* ---- access ---- */

/* The access bit of a location; `name` and `index` name it in messages. */
static aclError read_location(const aclrtMemLocation *location, const char *name, size_t index, uint32_t *bit)
{
    *bit = HOST_BIT;
    SIM_CHECK(location->type == ACL_MEM_LOCATION_TYPE_HOST || location->type == ACL_MEM_LOCATION_TYPE_DEVICE,
              ACL_ERROR_RT_PARAM_INVALID,
              "type in %s[%zu] is %d, expected ACL_MEM_LOCATION_TYPE_HOST (0) or _DEVICE (1)", name, index,
              (int)location->type);
    if (location->type == ACL_MEM_LOCATION_TYPE_HOST)
        return ACL_SUCCESS;
    SIM_TRY(sim_config_check_device((int32_t)location->id));
    *bit = UINT32_C(1) << location->id;
    return ACL_SUCCESS;
}

static aclError read_desc(const aclrtMemAccessDesc *desc, size_t index, uint32_t *bit)
{
    SIM_CHECK(desc->flags == ACL_RT_MEM_ACCESS_FLAGS_READWRITE, ACL_ERROR_RT_PARAM_INVALID,
              "desc[%zu].flags is %d, expected ACL_RT_MEM_ACCESS_FLAGS_READWRITE (3)", index, (int)desc->flags);
    for (size_t i = 0; i < sizeof desc->rsv; i++)
        SIM_CHECK(desc->rsv[i] == 0, ACL_ERROR_RT_PARAM_INVALID, "desc[%zu].rsv[%zu] is %u, expected 0 (reserved)",
                  index, i, desc->rsv[i]);
    return read_location(&desc->location, "desc", index, bit);
}

/* Memory of a device can be accessed from another device only with peer access. */
static aclError check_reach(const struct sim_physical *memory, const aclrtMemLocation *location)
{
    int32_t owner = memory->ph_kind.mk_device, device = (int32_t)location->id;
    SIM_CHECK(owner < 0 || location->type == ACL_MEM_LOCATION_TYPE_HOST || sim_peer_reaches(device, owner),
              ACL_ERROR_RT_PARAM_INVALID,
              "desc names device %d and virPtr has memory of device %d, expected that device, or one that has access "
              "to it (aclrtDeviceEnablePeerAccess)", device, owner);
    return ACL_SUCCESS;
}

static aclError give_access_locked(uint64_t address, uint64_t size, const aclrtMemAccessDesc *descs, size_t count)
{
    uint32_t access = 0;
    struct mapping *mapping = mapping_of(address);
    SIM_CHECK(count != 0 && count <= SIM_DEVICE_IDS + 1, ACL_ERROR_RT_PARAM_INVALID,
              "count is %zu, expected 1 to %d: the host and each device once", count, SIM_DEVICE_IDS + 1);
    if (mapping == NULL || mapping->mp_start != address)
        return refuse_unmapped(address, "the start of a mapping");
    SIM_TRY(check_size(size, mapping->mp_memory));
    for (size_t index = 0; index < count; index++) {
        uint32_t bit;
        SIM_TRY(read_desc(&descs[index], index, &bit));
        SIM_TRY(check_reach(mapping->mp_memory, &descs[index].location));
        access |= bit;
    }
    return grant(mapping, access);
}

aclError sim_vmm_give_access(const void *address, uint64_t size, const aclrtMemAccessDesc *descs, size_t count)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    aclError code = give_access_locked(number(address), size, descs, count);
    sim_unlock(&sim_vmm_lock);
    return code;
}

aclError sim_vmm_access(const void *address, const aclrtMemLocation *location, uint64_t *flag)
{
    uint32_t bit;
    SIM_TRY(read_location(location, "location", 0, &bit));
    sim_lock(&sim_vmm_lock);
    const struct mapping *mapping = mapping_of(number(address));
    if (mapping != NULL)
        *flag = (mapping->mp_access & bit) != 0 ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    sim_unlock(&sim_vmm_lock);
    return mapping != NULL ? ACL_SUCCESS : refuse_unmapped(number(address), "an address in a mapping");
}

aclError sim_vmm_retain(const void *address, aclrtDrvMemHandle *handle)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    const struct mapping *mapping = mapping_of(number(address));
    if (mapping != NULL)
        *handle = sim_vmm_physical_hold(mapping->mp_memory);
    sim_unlock(&sim_vmm_lock);
    return mapping != NULL ? ACL_SUCCESS : refuse_unmapped(number(address), "an address in a mapping");
}

bool sim_vmm_extent(const void *address, uint64_t *start, uint64_t *size)
{
    sim_lock(&sim_vmm_lock);
    const struct mapping *mapping = mapping_of(number(address));
    if (mapping != NULL) {
        *start = mapping->mp_start;
        *size = mapping->mp_memory->ph_pages.ex_size;
    }
    sim_unlock(&sim_vmm_lock);
    return mapping != NULL;
}

/* ---- up and down ---- */

/* Ends the mappings of a device's memory, or (-2) all mappings. */
static void end_mappings(int32_t device)
{
    for (size_t i = 0; i < range_count; i++) {
        struct range *range = &ranges[i];
        if (range->ra_count == 0 || (device != -2 && range->ra_mappings[0].mp_memory->ph_kind.mk_device != device))
            continue;
        for (size_t at = 0; at < range->ra_count; at++)
            (void)take_off(&range->ra_mappings[at], NULL);
        range->ra_count = 0;
    }
}

void sim_vmm_open_device(int32_t device, uint64_t capacity, uint64_t normal)
{
    sim_lock(&sim_vmm_lock);
    sim_heap_open(&sim_heap_zone_of_device, (uint32_t)device, capacity, normal);
    sim_vmm_physical_retake(device);
    sim_unlock(&sim_vmm_lock);
}

void sim_vmm_close_device(int32_t device)
{
    sim_lock(&sim_vmm_lock);
    end_mappings(device);
    sim_vmm_physical_forget(device);
    sim_heap_close(&sim_heap_zone_of_device, (uint32_t)device, sim_vmm_physical_kept());
    sim_unlock(&sim_vmm_lock);
}

void sim_vmm_reset(void)
{
    sim_lock(&sim_vmm_lock);
    end_mappings(-2);
    sim_vmm_physical_forget(-1);
    for (size_t i = 0; i < range_count; i++)
        free(ranges[i].ra_mappings);
    free(ranges);
    ranges = NULL;
    range_count = range_room = 0;
    sim_heap_zone_close(&sim_heap_area);
    sim_unlock(&sim_vmm_lock);
}

/* The parent may have been changing its lists when it forked: the child leaves them alone. */
void sim_vmm_after_fork(void)
{
    ranges = NULL;
    range_count = range_room = 0;
    sim_heap_zone_after_fork(&sim_heap_area);
    sim_vmm_physical_after_fork();
}
