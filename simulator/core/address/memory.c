/* Design notes
 *
 * What an address is, and allocation of device and host memory.
 *
 * An address is looked up in the zone of the devices, in the zone of pinned host memory, in the area of mappings, in
 * managed memory and among the registered ranges, in this order; any other address is ordinary memory. A task carries
 * the allocation ids of the blocks that it touches. An id is not reused for a long time, so that a task notices when it
 * runs that a block was freed, or freed and allocated again.
 *
 * The zones are opened with the first device and stay until aclsimReset. Blocks belong to a device, not to a context;
 * the last reset of a device frees them all.
 *
 * The first three look-ups take no lock. Managed memory is skipped outside its range, and registered ranges while
 * no range is registered (one atomic load each); otherwise they take their locks, which are leaves. The device
 * transitions (engine/device.c) serialise opening and closing. */
#include "memory.h"
#include "base/config.h"
#include "base/runtime.h"
#include "base/site.h"
#include "base/watcher.h"
#include "managed.h"
#include "owner.h"
#include "vmm.h"
#include <inttypes.h>
#include <stdio.h>

#define HUGE_BYTES (UINT64_C(1) << 21)
#define HUGE_FROM (UINT64_C(1) << 20) /* HUGE_FIRST: blocks up to this size take normal pages */
#define NORMAL_SHARE 32 /* one part in 32 of a device is reserved for normal pages */

/* ---- up and down ---- */

uint64_t sim_memory_pinned_capacity(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int open_zones(const struct sim_config *config)
{
    if (sim_heap_zone_of_device.zn_bytes == 0 &&
        sim_heap_zone_open(&sim_heap_zone_of_device, sim_config_devices(), config->cf_memory,
                           !sim_memory_runs_on_device()) != 0)
        return -1;
    if (sim_heap_zone_of_host.zn_bytes != 0)
        return 0;
    uint64_t pinned = sim_memory_pinned_capacity();
    if (sim_heap_zone_open(&sim_heap_zone_of_host, 1, pinned, false) != 0)
        return -1;
    sim_heap_open(&sim_heap_zone_of_host, 0, pinned, pinned);
    return 0;
}

int sim_memory_open(int32_t device)
{
    const struct sim_config *config = sim_config();
    if (open_zones(config) != 0)
        return -1;
    uint64_t capacity = config->cf_memory;
    uint64_t normal = (capacity / NORMAL_SHARE + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    sim_vmm_open_device(device, capacity, normal < capacity ? normal : capacity);
    return 0;
}

void sim_memory_close(int32_t device)
{
    sim_owner_close(device);
    sim_vmm_close_device(device);
    sim_owner_closed(device);
}

void sim_memory_trim(void)
{
    for (uint32_t index = 0; index < sim_heap_zone_of_device.zn_heap_count; index++)
        sim_heap_trim(&sim_heap_zone_of_device, index);
    sim_heap_trim(&sim_heap_zone_of_host, 0);
}

size_t sim_memory_count(void)
{
    return sim_heap_zone_count(&sim_heap_zone_of_device) + sim_heap_zone_count(&sim_heap_zone_of_host);
}

static void reset_zone(struct sim_zone *zone)
{
    for (uint32_t index = 0; index < zone->zn_heap_count; index++)
        sim_heap_close(zone, index, NULL);
    sim_heap_zone_close(zone);
}

void sim_memory_reset(void)
{
    sim_vmm_reset();
    sim_memory_forget_registered();
    sim_managed_reset();
    reset_zone(&sim_heap_zone_of_device);
    reset_zone(&sim_heap_zone_of_host);
}

void sim_memory_after_fork(void)
{
    sim_heap_zone_after_fork(&sim_heap_zone_of_device);
    sim_heap_zone_after_fork(&sim_heap_zone_of_host);
    sim_vmm_after_fork();
    sim_memory_registered_after_fork();
    sim_managed_after_fork();
}

/* ---- what an address is ---- */

/* Locates addresses in the area of mappings, in managed memory and in registered ranges. Returns the place by value, so
 * that the caller's stays in registers. */
SIM_RARE static struct sim_place locate_elsewhere(const void *address)
{
    struct sim_place place = {.pl_class = SIM_MEMORY_FOREIGN};
    if (sim_heap_zone_contains(&sim_heap_area, address)) {
        place.pl_reserved = true;
        place.pl_engine = sim_heap_area.zn_engine;
        if (sim_heap_zone_find(&sim_heap_area, address, &place.pl_block))
            place.pl_class = SIM_MEMORY_DEVICE;
        else
            place.pl_class = sim_memory_find_registered(address, &place.pl_block) ? SIM_MEMORY_HOST : SIM_MEMORY_DEAD;
    } else if (sim_managed_contains(address)) {
        place.pl_class = sim_managed_find(address, &place.pl_block) ? SIM_MEMORY_MANAGED : SIM_MEMORY_DEAD;
    } else if (sim_memory_find_registered(address, &place.pl_block)) {
        place.pl_class = SIM_MEMORY_HOST;
    }
    return place;
}

static inline void locate_in(const struct sim_zone *zone, enum sim_memory_class alive, const void *address,
                             struct sim_place *place)
{
    place->pl_class = sim_heap_zone_find_inside(zone, address, &place->pl_block) ? alive : SIM_MEMORY_DEAD;
    place->pl_reserved = false;
    place->pl_engine = zone->zn_engine;
}

void sim_memory_locate(const void *address, struct sim_place *place)
{
    if (sim_heap_zone_contains(&sim_heap_zone_of_device, address)) {
        locate_in(&sim_heap_zone_of_device, SIM_MEMORY_DEVICE, address, place);
    } else if (sim_heap_zone_contains(&sim_heap_zone_of_host, address)) {
        locate_in(&sim_heap_zone_of_host, SIM_MEMORY_HOST, address, place);
    } else if (unlikely(sim_heap_zone_contains(&sim_heap_area, address) || sim_managed_contains(address) ||
                        sim_memory_has_registered())) {
        struct sim_place elsewhere = locate_elsewhere(address);
        *place = elsewhere;
    } else {
        place->pl_class = SIM_MEMORY_FOREIGN;
        place->pl_reserved = false;
        place->pl_engine = 0;
    }
}

SIM_RARE const char *sim_memory_name(enum sim_memory_class class, bool reserved)
{
    switch (class) {
    case SIM_MEMORY_HOST:
        return "pinned host memory";
    case SIM_MEMORY_DEVICE:
        return "device memory";
    case SIM_MEMORY_MANAGED:
        return "managed memory";
    case SIM_MEMORY_DEAD:
        return reserved ? "reserved address space without mapped memory, or without access to it yet"
                        : "memory that is not allocated (any more)";
    default:
        return "ordinary host memory";
    }
}

static uint64_t left_in(const struct sim_block *block, const void *address)
{
    return block->bk_start + block->bk_size - (uint64_t)(uintptr_t)address;
}

/* Whether adjacent mappings of the same type of memory continue for `size` bytes: users see them as one block. */
SIM_RARE static bool goes_on(enum sim_memory_class class, uint64_t address, uint64_t size)
{
    struct sim_place next;
    for (;;) {
        sim_memory_locate((const void *)(uintptr_t)address, &next);
        if (!next.pl_reserved || next.pl_class != class)
            return false;
        uint64_t left = left_in(&next.pl_block, (const void *)(uintptr_t)address);
        if (size <= left)
            return true;
        address += left;
        size -= left;
    }
}

bool sim_memory_holds(struct sim_place *place, const void *address, uint64_t size)
{
    uint64_t left = left_in(&place->pl_block, address);
    if (likely(size <= left))
        return true;
    if (!place->pl_reserved || !goes_on(place->pl_class, (uint64_t)(uintptr_t)address + left, size - left))
        return false;
    place->pl_block.bk_record = NULL;
    return true;
}

SIM_RARE aclError sim_memory_refuse_low(const void *address, const char *name)
{
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%s is %p, expected an address in host or device memory, which is never below 64 KiB", name,
                    address);
}

/* Locates the address again, so that the caller need not keep what only the message says. */
SIM_RARE static aclError refuse_span(const void *address, uint64_t size, const char *name, const char *size_name)
{
    struct sim_place place;
    const struct sim_block *block = &place.pl_block;
    sim_memory_locate(address, &place);
    if (place.pl_class == SIM_MEMORY_DEAD && sim_watcher_any())
        sim_watcher_missing(address, size);
    if (!sim_memory_is_alive(&place))
        return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "%s is %p, which lies in %s, expected an address inside a block",
                        name, address, sim_memory_describe(&place));
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%s is %" PRIu64 ", expected at most %" PRIu64 ": %s %p lies %" PRIu64
                    " bytes into a block of %" PRIu64 " bytes (%" PRIu64 " requested)",
                    size_name, size, left_in(block, address), name, address,
                    (uint64_t)(uintptr_t)address - block->bk_start, block->bk_size, block->bk_requested);
}

aclError sim_memory_span(const void *address, uint64_t size, const char *name, const char *size_name,
                         struct sim_place *place)
{
    sim_memory_locate(address, place);
    if (place->pl_class == SIM_MEMORY_FOREIGN)
        return sim_memory_is_low(place, address) ? sim_memory_refuse_low(address, name) : ACL_SUCCESS;
    if (likely(place->pl_class != SIM_MEMORY_DEAD && sim_memory_holds(place, address, size)))
        return ACL_SUCCESS;
    return refuse_span(address, size, name, size_name);
}

/* Finds the mapping of host memory that is mapped for devices. Such memory keeps its class; the mapping has its own
 * allocation id. Registered memory that was freed is not found. */
SIM_RARE static bool find_mapped(const struct sim_range *range, const struct sim_place *place, struct sim_block *block)
{
    return place->pl_class != SIM_MEMORY_DEAD && sim_memory_find_mapped(range->rg_address, block) &&
           range->rg_size <= left_in(block, range->rg_address);
}

bool sim_memory_try_claim(struct sim_range *range)
{
    struct sim_place place;
    sim_memory_locate(range->rg_address, &place);
    if (unlikely(!sim_memory_is_device(&place))) {
        bool mapped = find_mapped(range, &place, &place.pl_block);
        if (mapped) {
            range->rg_record = NULL;
            range->rg_birth = place.pl_block.bk_birth;
        }
        return mapped;
    }
    if (!sim_memory_holds(&place, range->rg_address, range->rg_size))
        return false;
    struct sim_range found = sim_memory_range(&place, range->rg_address, range->rg_size, range->rg_write);
    range->rg_record = found.rg_record; /* only what changed: a copy of the whole waits for earlier stores */
    range->rg_birth = found.rg_birth;
    return true;
}

aclError sim_memory_claim(struct sim_range *range, const char *name)
{
    struct sim_place place;
    struct sim_block mapped;
    if (likely(sim_memory_try_claim(range)))
        return ACL_SUCCESS;
    SIM_TRY(sim_memory_span(range->rg_address, range->rg_size, name, "its size", &place));
    SIM_CHECK(!sim_memory_find_mapped(range->rg_address, &mapped), ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, %" PRIu64 " bytes before the end of registered host memory, expected at least its size, %"
              PRIu64, name, range->rg_address, left_in(&mapped, range->rg_address), range->rg_size);
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%s is %p, which is %s, expected an address inside a block of device memory", name,
                    range->rg_address, sim_memory_describe(&place));
}

SIM_RARE bool sim_memory_is_there(const struct sim_range *range)
{
    struct sim_place place;
    sim_memory_locate(range->rg_address, &place);
    return sim_memory_is_alive(&place) && sim_memory_holds(&place, range->rg_address, range->rg_size);
}

SIM_RARE aclError sim_memory_refuse(const struct sim_range *range, char *text, size_t size)
{
    struct sim_place place;
    sim_memory_locate(range->rg_address, &place);
    bool alive = sim_memory_is_alive(&place);
    if (likely(alive && place.pl_block.bk_birth == range->rg_birth &&
               sim_memory_holds(&place, range->rg_address, range->rg_size)))
        return ACL_SUCCESS;
    struct sim_block mapped;
    if (find_mapped(range, &place, &mapped) && mapped.bk_birth == range->rg_birth)
        return ACL_SUCCESS;
    if (sim_owner_lives(range))
        return ACL_SUCCESS;
    int length = snprintf(text, size, "the %" PRIu64 " bytes at %p, which it %s, were %s before it ran",
                          range->rg_size, range->rg_address, range->rg_write ? "writes" : "reads",
                          place.pl_reserved ? "unmapped"
                          : place.pl_class == SIM_MEMORY_FOREIGN ? "unregistered" : "freed");
    struct sim_death death;
    char site[SIM_SITE_TEXT];
    if (sim_heap_death(range->rg_birth, &death) && length > 0 && (size_t)length < size)
        length +=
            snprintf(text + length, size - (size_t)length, ", by thread %u at %s", death.dt_thread,
                     sim_site_print(death.dt_site, site));
    if (alive && place.pl_block.bk_birth != range->rg_birth && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ", and %s again since",
                 place.pl_reserved ? "mapped" : "allocated");
    return ACL_ERROR_RT_DEVICE_MEM_ERROR;
}

void *sim_memory_engine(const void *address)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    return sim_memory_is_alive(&place) || sim_memory_find_mapped(address, &place.pl_block) ? sim_memory_reach(address)
                                                                                           : NULL;
}

/* ---- blocks ---- */

/* Bytes that a block of this page type could still take; normal pages may be split from huge ones. */
static uint64_t available(uint32_t index, enum sim_page page)
{
    uint64_t bytes = sim_heap_pages(&sim_heap_zone_of_device, index, page).pg_free;
    return page == SIM_PAGE_NORMAL ? bytes + sim_heap_pages(&sim_heap_zone_of_device, index, SIM_PAGE_HUGE).pg_free
                                   : bytes;
}

static void *try_allocate(uint32_t index, uint64_t requested, uint64_t size, struct sim_policy *policy)
{
    void *block = sim_heap_allocate(&sim_heap_zone_of_device, index, requested, size, policy->po_page);
    if (likely(block != NULL) || !policy->po_fall_back)
        return block;
    block = sim_heap_allocate(&sim_heap_zone_of_device, index, requested, size, SIM_PAGE_NORMAL);
    if (block != NULL)
        policy->po_page = SIM_PAGE_NORMAL;
    return block;
}

void *sim_memory_try_allocate(int32_t device, uint64_t requested, uint64_t size, struct sim_policy *policy)
{
    void *block = try_allocate((uint32_t)device, requested, size, policy);
    if (unlikely(block == NULL) && sim_owner_reclaim(device))
        block = try_allocate((uint32_t)device, requested, size, policy);
    return block;
}

aclError sim_memory_allocate(void **address, uint64_t requested, uint64_t size, struct sim_policy policy)
{
    static const char *const names[] = {"normal (4 KiB)", "huge (2 MiB)", "giant (1 GiB)"};
    int32_t device;
    SIM_TRY(sim_runtime_device(&device));
    uint32_t index = (uint32_t)device;
    void *block = sim_memory_try_allocate(device, requested, size, &policy);
    if (unlikely(block == NULL && policy.po_fall_back))
        policy.po_page = SIM_PAGE_NORMAL;
    SIM_CHECK(block != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes that are free in %s pages on device %u, "
              "which has %" PRIu64 " bytes",
              requested, available(index, policy.po_page), names[policy.po_page], index, sim_config()->cf_memory);
    *address = block;
    return ACL_SUCCESS;
}

struct sim_usage sim_memory_usage(int32_t device)
{
    bool open = atomic_load_explicit(&sim_heap_zone_of_device.zn_bytes, memory_order_acquire) != 0;
    return open ? sim_heap_usage(&sim_heap_zone_of_device, (uint32_t)device) : (struct sim_usage){0, 0};
}

bool sim_memory_is_host(const void *address)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    return (place.pl_class != SIM_MEMORY_DEVICE || sim_memory_runs_on_device()) && place.pl_class != SIM_MEMORY_DEAD;
}

bool sim_memory_runs_on_device(void)
{
    return sim_config()->cf_soc->so_profile == SIM_P310B;
}

bool sim_memory_has_giant_pages(void)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    return profile == SIM_PA3 || profile == SIM_PA2;
}

struct sim_policy sim_memory_huge_first(uint64_t size)
{
    return size > HUGE_FROM ? (struct sim_policy){SIM_PAGE_HUGE, true} : (struct sim_policy){SIM_PAGE_NORMAL, false};
}

SIM_RARE static void expose(const void *address)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    if (sim_memory_is_alive(&place))
        sim_watcher_expose(place.pl_block.bk_birth);
}

void sim_memory_expose(const void *address)
{
    if (sim_watcher_any())
        expose(address);
}

aclError sim_memory_take(void **address, uint64_t size)
{
    SIM_CHECK(size < UINT64_MAX / 2, ACL_ERROR_RT_MEMORY_ALLOCATION, "size is %" PRIu64 ", which is more than any "
              "device has", size);
    uint64_t whole = sim_memory_whole(size);
    SIM_TRY(sim_memory_allocate(address, size, whole, sim_memory_huge_first(whole)));
    sim_memory_expose(*address);
    return ACL_SUCCESS;
}

aclError sim_memory_allocate_host(void **address, uint64_t size)
{
    SIM_TRY(sim_runtime_check_current());
    uint64_t rounded = (size + 31) / 32 * 32;
    void *block = rounded < size ? NULL : sim_heap_allocate(&sim_heap_zone_of_host, 0, size, rounded, SIM_PAGE_NORMAL);
    struct sim_pages pages = sim_heap_pages(&sim_heap_zone_of_host, 0, SIM_PAGE_NORMAL);
    SIM_CHECK(block != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes that are free of %" PRIu64
              " bytes of pinned memory",
              size, pages.pg_free, pages.pg_total);
    *address = block;
    return ACL_SUCCESS;
}

SIM_RARE static aclError refuse_release(const void *address, const char *name, const char *expected, const void *site)
{
    struct sim_place place;
    if (sim_watcher_any())
        sim_watcher_invalid_free(address, site);
    sim_memory_locate(address, &place);
    bool alive = sim_memory_is_alive(&place);
    uint64_t into = alive ? (uint64_t)(uintptr_t)address - place.pl_block.bk_start : 0;
    SIM_CHECK(!sim_memory_is_imported(&place), ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, which is memory of another process, expected aclrtIpcMemClose for it", name, address);
    SIM_CHECK(into == 0, ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, %" PRIu64 " bytes into a block of %s, expected the start of a live block of %s", name, address,
              into, sim_memory_describe(&place), expected);
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "%s is %p, which is %s, expected the start of a live block of %s", name,
                    address, sim_memory_describe(&place), expected);
}

aclError sim_memory_release(const void *address, const void *site)
{
    aclError code;
    if (sim_owner_release(address, site, &code))
        return code;
    if (likely(sim_heap_release(&sim_heap_zone_of_device, address, site, sim_thread_number())))
        return ACL_SUCCESS;
    if (sim_managed_release(address, site))
        return ACL_SUCCESS;
    return refuse_release(address, "devPtr", "device memory", site);
}

aclError sim_memory_release_host(const void *address, const void *site)
{
    if (likely(sim_heap_release(&sim_heap_zone_of_host, address, site, sim_thread_number())))
        return ACL_SUCCESS;
    return refuse_release(address, "hostPtr", "aclrtMallocHost", site);
}
