/* Virtual memory: reserving addresses, allocating physical memory, mapping one to the other. */

typedef enum aclrtMemGranularityOptions {
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 65535,
} aclrtMemGranularityOptions;

typedef enum aclrtMemAccessFlags {
    ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
    ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
    ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3,
} aclrtMemAccessFlags;

typedef struct aclrtPhysicalMemProp {
    aclrtMemHandleType handleType;
    aclrtMemAllocationType allocationType;
    aclrtMemAttr memAttr;
    aclrtMemLocation location;
    uint64_t reserve;
} aclrtPhysicalMemProp;

typedef struct aclrtMemAccessDesc {
    aclrtMemAccessFlags flags;
    aclrtMemLocation location;
    uint8_t rsv[12];
} aclrtMemAccessDesc;

/** Reserve a range of device addresses without memory behind it.
 *  rt.reserve_mem_address(size, alignment, expectPtr, flags) -> (virPtr, ret) */
ACL_API(8, 1) aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
    uint64_t flags);

/** Reserve a range of device addresses that is never backed by uncached memory. */
ACL_API(9, 0) aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment, void *expectPtr,
    uint64_t flags);

/** Release a reserved range of addresses.
 *  rt.release_mem_address(virPtr) -> ret */
ACL_API(8, 1) aclError aclrtReleaseMemAddress(void *virPtr);

/** Allocate physical memory without an address.
 *  rt.malloc_physical(size, prop:dict, flags) -> (handle, ret) @py */
ACL_API(8, 1) aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
    uint64_t flags);

/** Free physical memory.
 *  rt.free_physical(handle) -> ret */
ACL_API(8, 1) aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/** Map physical memory to a reserved address.
 *  rt.map_mem(virPtr, size, offset, handle, flags) -> ret */
ACL_API(8, 1) aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);

/** Remove the mapping at an address.
 *  rt.unmap_mem(virPtr) -> ret */
ACL_API(8, 1) aclError aclrtUnmapMem(void *virPtr);

/** The granularity: sizes and addresses of physical memory must be multiples of it.
 *  rt.mem_get_allocation_granularity(prop:dict, option) -> (granularity, ret) @py */
ACL_API(8, 1) aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
    size_t *granularity);

/** Set which devices may access a mapped range, and how. */
ACL_API(8, 5) aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count);

/** Query how a location may access a mapped address. */
ACL_API(8, 5) aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag);

/** The physical memory behind a mapped address; its reference count is increased. */
ACL_API(8, 5) aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle);

/** The properties that physical memory was allocated with. */
ACL_API(8, 5) aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop);

/** Start and size of the allocation that contains an address. */
ACL_API(9, 0) aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize);
