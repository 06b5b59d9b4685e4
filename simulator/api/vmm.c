/* Entry points of virtual memory: physical memory, reserved addresses, and mappings. */
#include "address/vmm.h"
#include "address/memory.h"
#include "base/config.h"
#include "engine/device.h"
#include "engine/engine.h"

#define GIANT_BYTES ((size_t)1 << 30)
#define WANTED_FIRST (UINT64_C(16) << 40)
#define WANTED_END (UINT64_C(24) << 40)

static enum sim_profile profile(void)
{
    return sim_config()->cf_soc->so_profile;
}

/* ---- physical memory ---- */

/* What each memory attribute asks for; at_taken is false for attributes that physical memory does not accept. */
struct attr {
    bool at_taken, at_ddr, at_shared;
    enum sim_page at_page;
};

static const struct attr attrs[] = {
    [ACL_DDR_MEM_HUGE] = {true, true, false, SIM_PAGE_HUGE},
    [ACL_DDR_MEM_NORMAL] = {true, true, false, SIM_PAGE_NORMAL},
    [ACL_DDR_MEM_P2P_HUGE] = {true, true, true, SIM_PAGE_HUGE},
    [ACL_DDR_MEM_P2P_NORMAL] = {true, true, true, SIM_PAGE_NORMAL},
    [ACL_HBM_MEM_HUGE] = {true, false, false, SIM_PAGE_HUGE},
    [ACL_HBM_MEM_NORMAL] = {true, false, false, SIM_PAGE_HUGE}, /* served with huge pages */
    [ACL_HBM_MEM_HUGE1G] = {true, false, false, SIM_PAGE_GIANT},
    [ACL_MEM_NORMAL] = {true, false, false, SIM_PAGE_NORMAL},
    [ACL_MEM_HUGE] = {true, false, false, SIM_PAGE_HUGE},
    [ACL_MEM_HUGE1G] = {true, false, false, SIM_PAGE_GIANT},
    [ACL_MEM_P2P_NORMAL] = {true, false, true, SIM_PAGE_NORMAL},
    [ACL_MEM_P2P_HUGE] = {true, false, true, SIM_PAGE_HUGE},
    [ACL_MEM_P2P_HUGE1G] = {true, false, true, SIM_PAGE_GIANT},
};
#define ATTRS (sizeof attrs / sizeof *attrs)

static bool has_giant_pages(aclrtMemAttr attr)
{
    if (attr == ACL_MEM_P2P_HUGE1G)
        return profile() == SIM_PA3;
    return sim_memory_has_giant_pages() || (attr == ACL_HBM_MEM_HUGE1G && profile() == SIM_P950);
}

/* The oldest attribute that describes such memory; queries return it. */
static aclrtMemAttr told_attr(bool on_device, const struct attr *attr, enum sim_page page)
{
    static const aclrtMemAttr device[] = {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE1G};
    static const aclrtMemAttr shared[] = {ACL_MEM_P2P_HUGE, ACL_MEM_P2P_HUGE, ACL_MEM_P2P_HUGE1G};
    static const aclrtMemAttr host[] = {ACL_DDR_MEM_NORMAL, ACL_DDR_MEM_HUGE, ACL_MEM_HUGE1G};
    if (!on_device)
        return host[page];
    return (attr->at_shared ? shared : device)[page];
}

/* Reads location and page size. Physical memory on a device never has normal pages. */
static aclError read_prop(const aclrtPhysicalMemProp *prop, struct sim_memory_kind *kind)
{
    aclrtMemLocationType type = prop->location.type;
    unsigned name = (unsigned)prop->memAttr;
    SIM_ARGUMENT(type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_DEVICE ||
                     type == ACL_MEM_LOCATION_TYPE_HOST_NUMA,
                 ACL_ERROR_INVALID_PARAM,
                 "prop->location.type is %d, expected ACL_MEM_LOCATION_TYPE_HOST (0), _DEVICE (1) or _HOST_NUMA (4)",
                 (int)type);
    bool on_device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
    SIM_ARGUMENT(name < ATTRS && attrs[name].at_taken, ACL_ERROR_INVALID_PARAM,
                 "prop->memAttr is %u, expected one of ACL_HBM_MEM_HUGE (4), _NORMAL (5), _HUGE1G (10), ACL_MEM_* (12 "
                 "to 17) or, on the host, ACL_DDR_MEM_* (2, 3, 6, 7)", name);
    const struct attr *attr = &attrs[name];
    SIM_ARGUMENT(!on_device || !attr->at_ddr, ACL_ERROR_INVALID_PARAM,
                 "prop->memAttr is %u, an ACL_DDR_MEM_*, and prop->location is a device, expected another attribute",
                 name);
    SIM_SUPPORTED(attr->at_page != SIM_PAGE_GIANT || has_giant_pages(prop->memAttr),
                  "prop->memAttr is %u, and %s has no such pages of 1 GiB", name, sim_config()->cf_soc->so_name);
    enum sim_page page = on_device && attr->at_page == SIM_PAGE_NORMAL ? SIM_PAGE_HUGE : attr->at_page;
    *kind = (struct sim_memory_kind){-1, page, told_attr(on_device, attr, page)};
    if (!on_device)
        return ACL_SUCCESS;
    struct sim_device *device;
    SIM_TRY(sim_device_find((int32_t)prop->location.id, &device));
    kind->mk_device = device->dv_id;
    return ACL_SUCCESS;
}

/* The simulator's host has one NUMA node. */
static aclError check_node(const aclrtMemLocation *location)
{
    struct sim_context *context;
    if (location->type != ACL_MEM_LOCATION_TYPE_HOST_NUMA)
        return ACL_SUCCESS;
    SIM_TRY(sim_context_current(&context));
    SIM_CHECK(location->id == 0, ACL_ERROR_RT_PARAM_INVALID, "prop->location.id is %u, expected node 0, the only one",
              location->id);
    return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
                                          size_t *granularity)
{
    SIM_ENTER();
    struct sim_memory_kind kind;
    SIM_NOT_NULL(prop);
    SIM_NOT_NULL(granularity);
    SIM_TRY(read_prop(prop, &kind));
    SIM_CHECK((unsigned)option <= ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, ACL_ERROR_RT_PARAM_INVALID,
              "option is %u, expected 0 (minimum) or 1 (recommended)", (unsigned)option);
    SIM_TRY(sim_vmm_supported());
    *granularity = sim_vmm_granularity(&kind); /* the recommended one is the minimum */
    return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    SIM_ENTER();
    struct sim_memory_kind kind;
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(prop);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected a multiple of the granularity");
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#llx, expected 0 (reserved)",
                 (unsigned long long)flags);
    SIM_ARGUMENT(prop->handleType == ACL_MEM_HANDLE_TYPE_NONE, ACL_ERROR_INVALID_PARAM,
                 "prop->handleType is %d, expected ACL_MEM_HANDLE_TYPE_NONE (0)", (int)prop->handleType);
    SIM_ARGUMENT(prop->allocationType == ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_ERROR_INVALID_PARAM,
                 "prop->allocationType is %d, expected ACL_MEM_ALLOCATION_TYPE_PINNED (0)", (int)prop->allocationType);
    SIM_TRY(read_prop(prop, &kind));
    SIM_TRY(check_node(&prop->location));
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_allocate(&kind, size, handle);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_free(handle);
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop)
{
    SIM_ENTER();
    struct sim_memory_kind kind;
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(prop);
    SIM_TRY(sim_vmm_supported());
    SIM_TRY(sim_vmm_kind(handle, &kind));
    bool on_device = kind.mk_device >= 0;
    *prop = (aclrtPhysicalMemProp){
        .handleType = ACL_MEM_HANDLE_TYPE_NONE,
        .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
        .memAttr = kind.mk_attr,
        .location = {on_device ? (uint32_t)kind.mk_device : 0,
                     on_device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST}};
    return ACL_SUCCESS;
}

/* ---- addresses ---- */

static aclError check_reservation(void *const *virPtr, size_t size, size_t alignment, uint64_t flags)
{
    SIM_NOT_NULL(virPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_ARGUMENT(flags <= 1, ACL_ERROR_INVALID_PARAM, "flags is %#llx, expected 0, or 1 as in older versions",
                 (unsigned long long)flags);
    SIM_CHECK(alignment == 0, ACL_ERROR_RT_PARAM_INVALID, "alignment is %zu, expected 0 (reserved)", alignment);
    return ACL_SUCCESS;
}

/* Large ranges are aligned to 1 GiB, so that pages of that size can be mapped there. */
static uint64_t unit_of(size_t size)
{
    return size < GIANT_BYTES ? UINT64_C(1) << 21 : GIANT_BYTES;
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags)
{
    SIM_ENTER();
    SIM_TRY(check_reservation(virPtr, size, alignment, flags));
    uint64_t wanted = (uint64_t)(uintptr_t)expectPtr, unit = unit_of(size);
    SIM_CHECK(wanted == 0 || profile() != SIM_P950, ACL_ERROR_RT_PARAM_INVALID, "expectPtr is %p, expected NULL on %s",
              expectPtr, sim_config()->cf_soc->so_name);
    SIM_CHECK(wanted == 0 || (wanted >= WANTED_FIRST && wanted < WANTED_END && size <= WANTED_END - wanted),
              ACL_ERROR_RT_PARAM_INVALID, "expectPtr is %p, expected NULL, or %zu bytes between 16 and 24 TiB",
              expectPtr, size);
    SIM_CHECK(wanted % unit == 0, ACL_ERROR_RT_PARAM_INVALID, "expectPtr is %p, expected a multiple of %#llx",
              expectPtr, (unsigned long long)unit);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_reserve(size, unit, expectPtr, virPtr);
}

aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags)
{
    SIM_ENTER();
    SIM_TRY(check_reservation(virPtr, size, alignment, flags));
    SIM_SUPPORTED(profile() == SIM_PA3, "%s cannot reserve addresses without uncached memory",
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(size % GIANT_BYTES == 0, ACL_ERROR_RT_PARAM_INVALID, "size is %zu, expected a multiple of 1 GiB", size);
    SIM_CHECK(expectPtr != NULL && (uint64_t)(uintptr_t)expectPtr % GIANT_BYTES == 0, ACL_ERROR_RT_PARAM_INVALID,
              "expectPtr is %p, expected a multiple of 1 GiB, preferably between 40 and 224 TiB", expectPtr);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_reserve(size, GIANT_BYTES, expectPtr, virPtr);
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(virPtr);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_release(virPtr);
}

/* ---- mappings ---- */

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    SIM_ENTER();
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_map(virPtr, size, offset, handle, flags, true);
}

aclError aclrtUnmapMem(void *virPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(virPtr);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_unmap(virPtr, SIM_SITE());
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    SIM_ENTER();
    SIM_CHECK(virPtr != NULL, ACL_ERROR_RT_PARAM_INVALID, "virPtr is NULL, expected the start of a mapping");
    SIM_CHECK(desc != NULL, ACL_ERROR_RT_PARAM_INVALID, "desc is NULL, expected an array of count");
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_give_access(virPtr, size, desc, count);
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(virPtr);
    SIM_NOT_NULL(location);
    SIM_NOT_NULL(flag);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_access(virPtr, location, flag);
}

aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(virPtr);
    SIM_NOT_NULL(handle);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_retain(virPtr, handle);
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
    SIM_ENTER();
    struct sim_place place;
    uint64_t start, size;
    SIM_NOT_NULL(ptr);
    SIM_CHECK(pbase != NULL || psize != NULL, ACL_ERROR_RT_PARAM_INVALID,
              "pbase and psize are NULL, expected a valid pointer in one of them");
    if (!sim_vmm_extent(ptr, &start, &size)) {
        sim_memory_locate(ptr, &place);
        bool allocated = place.pl_class == SIM_MEMORY_DEVICE || place.pl_class == SIM_MEMORY_HOST;
        SIM_CHECK(allocated && place.pl_block.bk_record != NULL, ACL_ERROR_RT_PARAM_INVALID,
                  "ptr is %p, %s, expected an address in a block or a mapping", ptr, sim_memory_describe(&place));
        start = place.pl_block.bk_start;
        size = place.pl_block.bk_size;
    }
    if (pbase != NULL)
        *pbase = (void *)(uintptr_t)start;
    if (psize != NULL)
        *psize = size;
    return ACL_SUCCESS;
}
