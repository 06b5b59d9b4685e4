/* Entry points of memory: allocation, registration and queries. Copies and sets are in memory_copy.c. */
#include "address/vmm.h"
#include "base/config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "memory/ipc.h"
#include "queue/queue.h"

#define LARGEST_CACHED ((size_t)1 << 50)
#define HOST_FLAGS (ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED)

/* ---- device memory ---- */

/* Bytes that aclrtMalloc adds to the size; they depend on the chip. */
static uint64_t padding(void)
{
    return sim_config()->cf_soc->so_profile == SIM_P950 ? 0 : 32;
}

/* Values outside the enumeration count as HUGE_FIRST. `peer_huge`: the policies for peer access may take huge pages. */
static aclError read_policy(aclrtMemMallocPolicy policy, bool peer_huge, uint64_t size, struct sim_policy *meaning)
{
    *meaning = (struct sim_policy){SIM_PAGE_NORMAL, false};
    switch (policy) {
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
        SIM_SUPPORTED(sim_memory_has_giant_pages(),
                      "policy is %d, and %s has no pages of 1 GiB, expected another policy", policy,
                      sim_config()->cf_soc->so_name);
        meaning->po_page = SIM_PAGE_GIANT;
        return ACL_SUCCESS;
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
        if (peer_huge)
            meaning->po_page = SIM_PAGE_HUGE;
        return ACL_SUCCESS;
    case ACL_MEM_MALLOC_HUGE_ONLY:
        meaning->po_page = SIM_PAGE_HUGE;
        return ACL_SUCCESS;
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P:
        return ACL_SUCCESS;
    case ACL_MEM_MALLOC_HUGE_FIRST_P2P:
        if (!peer_huge)
            return ACL_SUCCESS;
        break;
    default:
        break;
    }
    *meaning = sim_memory_huge_first(size);
    return ACL_SUCCESS;
}

static aclError allocate(void **devPtr, size_t size, aclrtMemMallocPolicy policy, bool peer_huge, uint64_t pad)
{
    struct sim_policy meaning;
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_ARGUMENT(size <= SIZE_MAX - pad - 31, ACL_ERROR_INVALID_PARAM,
                 "size is %zu, expected a size to which %zu bytes of padding can be added", size, (size_t)pad);
    SIM_TRY(read_policy(policy, peer_huge, sim_memory_whole(size + pad), &meaning));
    if (meaning.po_page == SIM_PAGE_GIANT)
        pad = 0;
    return sim_memory_allocate(devPtr, size, sim_memory_whole(size + pad), meaning);
}

SIM_HOT aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    SIM_ENTER();
    return allocate(devPtr, size, policy, false, padding());
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    SIM_ENTER();
    return allocate(devPtr, size, policy, false, 0);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_CHECK(size <= LARGEST_CACHED, ACL_ERROR_RT_PARAM_INVALID, "size is %zu, expected at most 2^50", size);
    if (policy != ACL_MEM_MALLOC_HUGE_ONLY && policy != ACL_MEM_MALLOC_NORMAL_ONLY &&
        policy != ACL_MEM_MALLOC_HUGE1G_ONLY)
        policy = ACL_MEM_MALLOC_HUGE_FIRST;
    return allocate(devPtr, size, policy, false, padding());
}

/* `host`: the memory is pinned host memory, the only kind that has ACL_RT_MEM_ATTR_VA_FLAG. */
static aclError check_attribute(const aclrtMallocAttribute *attribute, size_t index, bool host)
{
    struct sim_context *context;
    switch (attribute->attr) {
    case ACL_RT_MEM_ATTR_MODULE_ID:
        return ACL_SUCCESS;
    case ACL_RT_MEM_ATTR_DEVICE_ID:
        SIM_TRY(sim_context_current(&context));
        SIM_CHECK(attribute->value.deviceId == (uint32_t)context->cx_device->dv_id, ACL_ERROR_RT_PARAM_INVALID,
                  "cfg->attrs[%zu].value.deviceId is %u, expected the current device, %d", index,
                  attribute->value.deviceId, context->cx_device->dv_id);
        return ACL_SUCCESS;
    case ACL_RT_MEM_ATTR_VA_FLAG:
        if (!host)
            break;
        SIM_CHECK(attribute->value.vaFlag <= 1, ACL_ERROR_RT_PARAM_INVALID,
                  "cfg->attrs[%zu].value.vaFlag is %u, expected 0, or 1 for one address on host and device", index,
                  attribute->value.vaFlag);
        SIM_SUPPORTED(attribute->value.vaFlag == 0 || sim_memory_maps_host(),
                      "cfg->attrs[%zu].value.vaFlag is 1, and %s cannot map host memory, expected 0", index,
                      sim_config()->cf_soc->so_name);
        return ACL_SUCCESS;
    default:
        break;
    }
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "cfg->attrs[%zu].attr is %d, expected ACL_RT_MEM_ATTR_MODULE_ID (1)%s ACL_RT_MEM_ATTR_DEVICE_ID "
                    "(2)%s",
                    index, attribute->attr, host ? "," : " or", host ? " or ACL_RT_MEM_ATTR_VA_FLAG (3)" : "");
}

static aclError check_attributes(const aclrtMallocConfig *cfg, bool host)
{
    if (cfg == NULL)
        return ACL_SUCCESS;
    SIM_CHECK(cfg->attrs != NULL, ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs is NULL, expected an array or cfg NULL");
    for (size_t index = 0; index < cfg->numAttrs; index++)
        SIM_TRY(check_attribute(&cfg->attrs[index], index, host));
    return ACL_SUCCESS;
}

static aclError allocate_configured(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                                    const aclrtMallocConfig *cfg)
{
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_ARGUMENT(cfg == NULL || cfg->numAttrs == 0 || cfg->attrs != NULL, ACL_ERROR_INVALID_PARAM,
                 "cfg->attrs is NULL with cfg->numAttrs %zu, expected an array of that length", cfg->numAttrs);
    SIM_TRY(check_attributes(cfg, false));
    return allocate(devPtr, size, policy, true, 0);
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    SIM_ENTER();
    return allocate_configured(devPtr, size, policy, cfg);
}

/* Here a policy may also contain hints about bandwidth and protection. They do not change the choice of pages. */
aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    SIM_ENTER();
    const unsigned hints =
        ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;
    return allocate_configured(devPtr, size, (aclrtMemMallocPolicy)((unsigned)policy & ~hints), cfg);
}

SIM_HOT aclError aclrtFree(void *devPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_TRY(sim_runtime_pass());
    return sim_memory_release(devPtr, SIM_SITE());
}

/* Waits for all work of the current context; memory is freed only if this succeeds. */
static aclError synchronize(void)
{
    struct sim_context *context;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_context_current(&context));
    return sim_context_synchronize(context, -1);
}

aclError aclrtFreeWithDevSync(void *devPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_TRY(synchronize());
    return sim_memory_release(devPtr, SIM_SITE());
}

/* Host and device see the same bytes at all times: there is no cache to write back or to invalidate. */
static aclError check_cached(const void *devPtr, size_t size)
{
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    return ACL_SUCCESS;
}

aclError aclrtMemFlush(void *devPtr, size_t size)
{
    SIM_ENTER();
    return check_cached(devPtr, size);
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
    SIM_ENTER();
    return check_cached(devPtr, size);
}

/* A chip has either DDR or HBM. A query for the other one, or for memory of peers, returns the values of the memory
 * that the chip has, so only the page size counts. */
static enum sim_page page_of(aclrtMemAttr attr)
{
    switch (attr) {
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_P2P_NORMAL:
        return SIM_PAGE_NORMAL;
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_HUGE1G:
        return SIM_PAGE_GIANT;
    default:
        return SIM_PAGE_HUGE;
    }
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
    SIM_ENTER();
    struct sim_context *context;
    SIM_NOT_NULL(free);
    SIM_NOT_NULL(total);
    SIM_CHECK((unsigned)attr <= ACL_MEM_P2P_HUGE1G, ACL_ERROR_RT_INVALID_MEMORY_TYPE,
              "attr is %d, expected an aclrtMemAttr (0 to %d)", attr, ACL_MEM_P2P_HUGE1G);
    enum sim_page page = page_of(attr);
    SIM_SUPPORTED(page != SIM_PAGE_GIANT || sim_memory_has_giant_pages(), "attr is %d, and %s has no pages of 1 GiB",
                  attr, sim_config()->cf_soc->so_name);
    SIM_TRY(sim_context_current(&context));
    uint32_t index = (uint32_t)context->cx_device->dv_id;
    sim_vmm_collect();
    struct sim_pages pages = sim_heap_pages(&sim_heap_zone_of_device, index, page);
    if (attr == ACL_DDR_MEM || attr == ACL_HBM_MEM) {
        struct sim_pages normal = sim_heap_pages(&sim_heap_zone_of_device, index, SIM_PAGE_NORMAL);
        pages.pg_free += normal.pg_free;
        pages.pg_total += normal.pg_total;
    }
    *free = pages.pg_free;
    *total = pages.pg_total;
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    SIM_ENTER();
    static const uint32_t page_bytes[] = {1u << 12, 1u << 21, 1u << 30};
    struct sim_place place;
    SIM_NOT_NULL(ptr);
    SIM_NOT_NULL(attributes);
    sim_memory_locate(ptr, &place);
    SIM_CHECK(place.pl_class != SIM_MEMORY_DEAD, ACL_ERROR_RT_PARAM_INVALID,
              "ptr is %p, which lies in %s, expected an address inside a block", ptr, sim_memory_describe(&place));
    bool on_device = sim_memory_is_device(&place);
    enum sim_page page = !on_device                      ? SIM_PAGE_NORMAL
                         : sim_memory_is_imported(&place) ? sim_ipc_page(&place.pl_block)
                                                       : place.pl_block.bk_page;
    *attributes = (aclrtPtrAttributes){
        .location = {on_device ? (uint32_t)place.pl_block.bk_device : 0, (aclrtMemLocationType)place.pl_class},
        .pageSize = page_bytes[page]};
    return ACL_SUCCESS;
}

/* ---- host memory ---- */

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    SIM_ENTER();
    SIM_NOT_NULL(hostPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    return sim_memory_allocate_host(hostPtr, size);
}

/* Host and device share one address space, so pinned memory has the same address on both, whatever the flag says. */
aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    SIM_ENTER();
    SIM_NOT_NULL(ptr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_TRY(check_attributes(cfg, true));
    return sim_memory_allocate_host(ptr, size);
}

aclError aclrtFreeHost(void *hostPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(hostPtr);
    SIM_TRY(sim_runtime_pass());
    return sim_memory_release_host(hostPtr, SIM_SITE());
}

aclError aclrtFreeHostWithDevSync(void *hostPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(hostPtr);
    SIM_TRY(synchronize());
    return sim_memory_release_host(hostPtr, SIM_SITE());
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(ptr);
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_SUPPORTED(sim_memory_maps_host(), "%s cannot map host memory", sim_config()->cf_soc->so_name);
    SIM_SUPPORTED(((unsigned)type & ~(unsigned)(ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY)) == 0,
                  "type is %d, expected ACL_HOST_REGISTER_MAPPED (0), _IOMEMORY (4) or _READONLY (8)", type);
    SIM_TRY(sim_memory_register(ptr, size, SIM_REGISTERED_MAPPED | SIM_REGISTERED_PINNED));
    *devPtr = ptr;
    return ACL_SUCCESS;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(ptr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_CHECK(flag != 0 && (flag & ~HOST_FLAGS) == 0, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#x, expected a sum of ACL_HOST_REG_MAPPED (0x2), _IOMEMORY (0x4), _READONLY (0x8) and _PINNED "
              "(0x10000000)",
              flag);
    unsigned flags = (flag & ACL_HOST_REG_MAPPED ? SIM_REGISTERED_MAPPED : 0u) |
                     (flag & ACL_HOST_REG_PINNED ? SIM_REGISTERED_PINNED : 0u);
    return sim_memory_register(ptr, size, flags);
}

aclError aclrtHostUnregister(void *ptr)
{
    SIM_ENTER();
    SIM_NOT_NULL(ptr);
    return sim_memory_unregister(ptr, SIM_SITE());
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(pHost);
    SIM_NOT_NULL(pDevice);
    SIM_ARGUMENT(flag == 0, ACL_ERROR_INVALID_PARAM, "flag is %#x, expected 0 (reserved)", flag);
    return sim_memory_device_pointer(pHost, pDevice);
}

/* ---- further mappings of physical memory; most are in vmm.c ---- */

aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    SIM_ENTER();
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_map(virPtr, size, offset, handle, flags, false);
}

/* The advice has no effect: all links are the same here. A link that the chip lacks is refused. */
aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink)
{
    SIM_ENTER();
    struct sim_memory_kind kind;
    SIM_NOT_NULL(handle);
    SIM_TRY(sim_vmm_supported());
    SIM_TRY(sim_vmm_kind(handle, &kind));
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    bool has =
        adviceLink == ACL_RT_MEM_ACCESS_LINK_HCCS || (adviceLink == ACL_RT_MEM_ACCESS_LINK_SIO && profile == SIM_PA3);
    SIM_CHECK(has, ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED, "adviceLink is %d, which %s does not have, expected %s",
              (int)adviceLink,
              sim_config()->cf_soc->so_name, profile == SIM_PA3 ? "0 (SIO) or 1 (HCCS)" : "1 (HCCS)");
    return ACL_SUCCESS;
}

aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx)
{
    SIM_ENTER();
    SIM_NOT_NULL(virPtrDst);
    SIM_NOT_NULL(virPtrSrc);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected the size of the mapping");
    SIM_ARGUMENT(linkIdx <= ACL_RT_MEM_LINK_IDX_1, ACL_ERROR_INVALID_PARAM, "linkIdx is %u, expected 0 or 1", linkIdx);
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile == SIM_PA3, "%s has one link", sim_config()->cf_soc->so_name);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_map_again(virPtrDst, size, virPtrSrc);
}

aclError aclrtFreeBuf(aclrtMbuf buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
    return sim_queue_buffer_free(buf);
}
