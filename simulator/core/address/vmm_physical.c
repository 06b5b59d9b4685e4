/* Physical memory: pages of a device's heap without a user address, or a file of host memory. It lives as long as
 * the program holds it or it is mapped; its handle is dead as soon as the program has freed it. Pages that other
 * processes still use stay in the list left_behind. sim_vmm_lock guards everything here. */
#include "base/output.h"
#include "base/runtime.h"
#include "memory.h"
#include "vmm_inner.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define NORMAL_BYTES (UINT64_C(1) << 12)
#define HUGE_BYTES (UINT64_C(1) << 21)
#define GIANT_BYTES (UINT64_C(1) << 30)

struct sim_lock sim_vmm_lock;

static struct sim_table table = {.tb_stride = sizeof(struct sim_physical), .tb_limit = 1u << 20,
                                 .tb_kind = SIM_KIND_PHYSICAL};
static uint64_t host_bytes; /* allocated; guarded by the lock, like the list */
static struct sim_extent *left_behind; /* freed here, still used by other processes */

uint64_t sim_vmm_granularity(const struct sim_memory_kind *kind)
{
    static const uint64_t bytes[] = {
        [SIM_PAGE_NORMAL] = NORMAL_BYTES, [SIM_PAGE_HUGE] = HUGE_BYTES, [SIM_PAGE_GIANT] = GIANT_BYTES};
    return bytes[kind->mk_page];
}

struct sim_physical *sim_vmm_physical_find(aclrtDrvMemHandle handle)
{
    return sim_table_find(&table, handle);
}

aclError sim_vmm_physical_refuse(aclrtDrvMemHandle handle)
{
    return sim_fail(ACL_ERROR_RT_INVALID_HANDLE, "handle is %p, %s, expected live physical memory", handle,
                    sim_handle_describe(handle));
}

/* ---- pages ---- */

static aclError take_pages(struct sim_physical *memory)
{
    const struct sim_memory_kind *kind = &memory->ph_kind;
    uint32_t index = (uint32_t)kind->mk_device;
    memory->ph_pages.ex_offset =
        sim_heap_take_pages(&sim_heap_zone_of_device, index, memory->ph_pages.ex_size, kind->mk_page);
    memory->ph_file = sim_heap_zone_of_device.zn_file;
    SIM_CHECK(memory->ph_pages.ex_offset != 0, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most the %" PRIu64
              " bytes that are free on device %u in pages of %" PRIu64 " bytes",
              memory->ph_pages.ex_size, sim_heap_pages(&sim_heap_zone_of_device, index, kind->mk_page).pg_free, index,
              sim_vmm_granularity(kind));
    return ACL_SUCCESS;
}

static aclError make_file(struct sim_physical *memory)
{
    uint64_t most = sim_memory_pinned_capacity();
    SIM_CHECK(memory->ph_pages.ex_size <= most - host_bytes, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes that are free of %" PRIu64 " on the host",
              memory->ph_pages.ex_size, most - host_bytes, most);
    memory->ph_file = memfd_create("ascend-host-memory", MFD_CLOEXEC);
    if (memory->ph_file < 0 || sim_output_resize(memory->ph_file, memory->ph_pages.ex_size) != 0) {
        if (memory->ph_file >= 0)
            close(memory->ph_file);
        return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the system refused a file of %" PRIu64 " bytes for host "
                        "memory (ulimit -n, ulimit -f)", memory->ph_pages.ex_size);
    }
    memory->ph_pages.ex_offset = 0;
    host_bytes += memory->ph_pages.ex_size;
    return ACL_SUCCESS;
}

static void give_pages(const struct sim_physical *memory)
{
    const struct sim_memory_kind *kind = &memory->ph_kind;
    const struct sim_extent *pages = &memory->ph_pages;
    if (memory->ph_lost)
        sim_heap_drop_pages(&sim_heap_zone_of_device, pages);
    else
        sim_heap_give_pages(&sim_heap_zone_of_device, (uint32_t)kind->mk_device, pages->ex_offset, pages->ex_size,
                            kind->mk_page);
}

static void drop_if_unused(struct sim_physical *memory)
{
    if (memory->ph_refs != 0 || memory->ph_maps != 0)
        return;
    bool is_own = memory->ph_kind.mk_device >= 0 && memory->ph_imported == 0;
    if (is_own && memory->ph_shared != 0)
        memory->ph_sharer->sh_withdraw(memory);
    if (!is_own) {
        close(memory->ph_file);
        if (memory->ph_imported == 0)
            host_bytes -= memory->ph_pages.ex_size;
    } else if (memory->ph_shared != 0 && memory->ph_sharer->sh_is_wanted(memory)) {
        memory->ph_pages.ex_next = left_behind;
        left_behind = &memory->ph_pages;
        return;
    } else {
        give_pages(memory);
    }
    sim_table_give(&table, memory);
}

static struct sim_physical *memory_of(struct sim_extent *pages)
{
    return (struct sim_physical *)(void *)((char *)pages - offsetof(struct sim_physical, ph_pages));
}

/* Releases memory in the list that no other process uses any more. */
static void collect(void)
{
    struct sim_extent **link = &left_behind;
    while (*link != NULL) {
        struct sim_physical *memory = memory_of(*link);
        if (memory->ph_sharer->sh_is_wanted(memory)) {
            link = &memory->ph_pages.ex_next;
            continue;
        }
        *link = memory->ph_pages.ex_next;
        give_pages(memory);
        sim_table_give(&table, memory);
    }
}

void sim_vmm_collect(void)
{
    sim_lock(&sim_vmm_lock);
    collect();
    sim_unlock(&sim_vmm_lock);
}

const struct sim_extent *sim_vmm_physical_kept(void)
{
    return left_behind;
}

void sim_vmm_physical_retake(int32_t device)
{
    collect();
    for (struct sim_extent *pages = left_behind; pages != NULL; pages = pages->ex_next) {
        struct sim_physical *memory = memory_of(pages);
        if (memory->ph_kind.mk_device != device)
            continue;
        sim_heap_retake_pages(&sim_heap_zone_of_device, (uint32_t)device, pages, memory->ph_kind.mk_page);
        memory->ph_lost = false;
    }
}

/* ---- allocation and release ---- */

aclrtDrvMemHandle sim_vmm_physical_hold(struct sim_physical *memory)
{
    memory->ph_refs++;
    atomic_store_explicit(&memory->ph_slot.sl_handle, memory->ph_handle, memory_order_release);
    return (aclrtDrvMemHandle)(uintptr_t)memory->ph_handle;
}

static void let_go(struct sim_physical *memory)
{
    if (--memory->ph_refs == 0)
        atomic_store_explicit(&memory->ph_slot.sl_handle, 0, memory_order_relaxed);
    drop_if_unused(memory);
}

void sim_vmm_physical_drop_map(struct sim_physical *memory)
{
    memory->ph_maps--;
    drop_if_unused(memory);
}

/* Takes a slot without a handle; the lock is held. */
static aclError take_slot(struct sim_physical **memory)
{
    uint64_t handle;
    *memory = sim_table_open(&table) == 0 ? sim_table_take(&table, &handle) : NULL;
    SIM_CHECK(*memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there are %u pieces of physical memory already",
              table.tb_limit);
    memset((char *)*memory + sizeof(struct sim_slot), 0, sizeof **memory - sizeof(struct sim_slot));
    (*memory)->ph_handle = handle;
    return ACL_SUCCESS;
}

/* Opens the device if it is not open; -1 means host memory. */
static aclError open_device(int32_t id)
{
    return id < 0 ? ACL_SUCCESS : sim_runtime_open_device(id);
}

static aclError make(const struct sim_memory_kind *kind, uint64_t size, aclrtDrvMemHandle *handle)
{
    struct sim_physical *memory;
    SIM_TRY(take_slot(&memory));
    memory->ph_kind = *kind;
    memory->ph_pages.ex_size = size;
    aclError code = kind->mk_device >= 0 ? take_pages(memory) : make_file(memory);
    if (code == ACL_SUCCESS)
        *handle = sim_vmm_physical_hold(memory);
    else
        sim_table_give(&table, memory);
    return code;
}

aclError sim_vmm_allocate(const struct sim_memory_kind *kind, uint64_t size, aclrtDrvMemHandle *handle)
{
    uint64_t unit = sim_vmm_granularity(kind);
    SIM_CHECK(size % unit == 0, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected a multiple of %" PRIu64 " (aclrtMemGetAllocationGranularity)", size, unit);
    SIM_TRY(open_device(kind->mk_device));
    sim_lock(&sim_vmm_lock);
    collect();
    aclError code = make(kind, size, handle);
    sim_unlock(&sim_vmm_lock);
    return code;
}

static aclError refuse_again(uint64_t shared)
{
    uint32_t count = atomic_load_explicit(&table.tb_count, memory_order_acquire);
    for (uint32_t index = 1; index < count; index++) {
        const struct sim_physical *other = sim_table_at(&table, index);
        bool in_use = other->ph_refs != 0 || other->ph_maps != 0;
        SIM_CHECK(!in_use || other->ph_imported != shared, ACL_ERROR_RT_PARAM_INVALID,
                  "shareableHandle %#" PRIx64 " was imported already, expected one import per process", shared);
    }
    return ACL_SUCCESS;
}

static aclError adopt(const struct sim_memory_kind *kind, struct sim_extent pages, uint64_t shared, int file,
                      aclrtDrvMemHandle *handle)
{
    struct sim_physical *memory;
    SIM_TRY(refuse_again(shared));
    SIM_TRY(take_slot(&memory));
    memory->ph_kind = *kind;
    memory->ph_pages = pages;
    memory->ph_file = file;
    memory->ph_imported = shared;
    *handle = sim_vmm_physical_hold(memory);
    return ACL_SUCCESS;
}

aclError sim_vmm_physical_adopt(const struct sim_memory_kind *kind, struct sim_extent pages, uint64_t shared, int file,
                            aclrtDrvMemHandle *handle)
{
    SIM_TRY(open_device(kind->mk_device));
    sim_lock(&sim_vmm_lock);
    aclError code = adopt(kind, pages, shared, file, handle);
    sim_unlock(&sim_vmm_lock);
    return code;
}

aclError sim_vmm_free(aclrtDrvMemHandle handle)
{
    sim_lock(&sim_vmm_lock);
    struct sim_physical *memory = sim_vmm_physical_find(handle);
    if (memory != NULL)
        let_go(memory);
    sim_unlock(&sim_vmm_lock);
    return memory != NULL ? ACL_SUCCESS : sim_vmm_physical_refuse(handle);
}

aclError sim_vmm_kind(aclrtDrvMemHandle handle, struct sim_memory_kind *kind)
{
    sim_lock(&sim_vmm_lock);
    struct sim_physical *memory = sim_vmm_physical_find(handle);
    if (memory != NULL)
        *kind = memory->ph_kind;
    sim_unlock(&sim_vmm_lock);
    return memory != NULL ? ACL_SUCCESS : sim_vmm_physical_refuse(handle);
}

/* ---- up and down ---- */

void sim_vmm_physical_forget(int32_t device)
{
    uint32_t count = atomic_load_explicit(&table.tb_count, memory_order_acquire);
    for (uint32_t index = 1; index < count; index++) {
        struct sim_physical *memory = sim_table_at(&table, index);
        bool in_use = memory->ph_refs != 0 || memory->ph_maps != 0;
        if (!in_use || (device >= 0 && memory->ph_kind.mk_device != device))
            continue;
        memory->ph_lost = true;
        if (memory->ph_refs == 0)
            continue;
        memory->ph_refs = 1;
        let_go(memory);
    }
    for (struct sim_extent *pages = left_behind; device >= 0 && pages != NULL; pages = pages->ex_next)
        memory_of(pages)->ph_lost |= memory_of(pages)->ph_kind.mk_device == device;
    while (device < 0 && left_behind != NULL) { /* other processes have the file, too */
        struct sim_physical *memory = memory_of(left_behind);
        left_behind = left_behind->ex_next;
        sim_table_give(&table, memory);
    }
}

void sim_vmm_physical_after_fork(void)
{
    sim_table_empty(&table);
    sim_lock_renew(&sim_vmm_lock);
    host_bytes = 0;
    left_behind = NULL;
}
