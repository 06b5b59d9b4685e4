/* Device memory, page-locked host memory, copies and fills. */

#define ACL_HOST_REG_MAPPED 0x2U
#define ACL_HOST_REG_IOMEMORY 0x4U
#define ACL_HOST_REG_READONLY 0x8U
#define ACL_HOST_REG_PINNED 0x10000000U
#define ACL_RT_MEM_LINK_IDX_0 0
#define ACL_RT_MEM_LINK_IDX_1 1
#define ACL_RT_MEM_TYPE_DEV 2
#define ACL_RT_MEM_TYPE_DVPP 8
#define ACL_RT_MEM_TYPE_RSVD 16

typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7,
} aclrtMemcpyKind;

typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 256,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 4096,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 1048576,
} aclrtMemMallocPolicy;

typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8,
} aclrtHostRegisterType;

typedef enum aclrtMallocAttrType {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1,
    ACL_RT_MEM_ATTR_DEVICE_ID = 2,
    ACL_RT_MEM_ATTR_VA_FLAG = 3,
} aclrtMallocAttrType;

typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9,
} aclrtHacType;

typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1,
} aclrtHostMemMapCapability;

typedef enum aclrtMemLinkType {
    ACL_RT_MEM_ACCESS_LINK_SIO = 0,
    ACL_RT_MEM_ACCESS_LINK_HCCS = 1,
    ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH = 2,
    ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH = 3,
} aclrtMemLinkType;

typedef enum aclrtMemPgType {
    NORMAL_PAGE_TYPE = 0,
    HUGE_PAGE_TYPE = 1,
    HUGE1G_PAGE_TYPE = 2,
} aclrtMemPgType;

typedef enum aclrtMemType {
    HBM_TYPE = 0,
    DDR_TYPE = 1,
    P2P_HBM_TYPE = 2,
    P2P_DDR_TYPE = 3,
} aclrtMemType;

typedef union aclrtMallocAttrValue {
    uint16_t moduleId;
    uint32_t deviceId;
    uint32_t vaFlag;
    uint8_t rsv[8];
} aclrtMallocAttrValue;

typedef struct aclrtMallocAttribute {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

typedef struct aclrtMallocConfig {
    aclrtMallocAttribute *attrs;
    size_t numAttrs;
} aclrtMallocConfig;

typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize;
    uint32_t rsv[4];
} aclrtPtrAttributes;

typedef struct aclrtMemUsageInfo {
    char name[32];
    uint64_t curMemSize;
    uint64_t memPeakSize;
    size_t reserved[8];
} aclrtMemUsageInfo;

typedef struct aclrtMemcpyBatchAttr {
    aclrtMemLocation dstLoc;
    aclrtMemLocation srcLoc;
    uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/** Allocate device memory on the current device, with some bytes of padding behind it.
 *  rt.malloc(size, policy) -> (devPtr, ret) */
ACL_API(8, 1) aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocate device memory on the current device without padding; the size is rounded up to a multiple of 32.
 *  rt.malloc_align32(size, policy) -> (devPtr, ret) */
ACL_API(8, 1) aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocate device memory that the device's processor accesses through its cache.
 *  rt.malloc_cached(size, policy) -> (devPtr, ret) */
ACL_API(8, 1) aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocate device memory with extra attributes.
 *  rt.malloc_with_cfg(size, policy, cfg:dict) -> (devPtr, ret) @py */
ACL_API(8, 1) aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
    aclrtMallocConfig *cfg);

/** Allocate device memory that the task scheduler can reach.
 *  rt.malloc_for_task_scheduler(size, policy, cfg:dict) -> (devPtr, ret) @py */
ACL_API(8, 1) aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
    aclrtMallocConfig *cfg);

/** Free device memory.
 *  rt.free(devPtr) -> ret */
ACL_API(8, 1) aclError aclrtFree(void *devPtr);

/** Wait for the device, then free device memory. */
ACL_API(8, 5) aclError aclrtFreeWithDevSync(void *devPtr);

/** Allocate page-locked host memory.
 *  rt.malloc_host(size) -> (hostPtr, ret) */
ACL_API(8, 1) aclError aclrtMallocHost(void **hostPtr, size_t size);

/** Allocate page-locked host memory with extra attributes.
 *  rt.malloc_host_with_cfg(size, cfg:dict) -> (ptr, ret) @py */
ACL_API(8, 1) aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg);

/** Free page-locked host memory.
 *  rt.free_host(hostPtr) -> ret */
ACL_API(8, 1) aclError aclrtFreeHost(void *hostPtr);

/** Wait for the device, then free page-locked host memory. */
ACL_API(8, 5) aclError aclrtFreeHostWithDevSync(void *hostPtr);

/** Free and total bytes of one memory type on the current device.
 *  rt.get_mem_info(attr) -> (free, total, ret) */
ACL_API(8, 1) aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

/** Memory in use on a device, by component. */
ACL_API(8, 5) aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
    size_t *outputNum);

/** The location of an address, host or device, and its page size.
 *  rt.pointer_get_attributes(ptr) -> (attributes:dict, ret) @py */
ACL_API(8, 1) aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes);

/** Query whether all addresses are in memory of the given types (ACL_RT_MEM_TYPE_*). */
ACL_API(8, 5) aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult,
    uint32_t reserve);

/** Write cached lines of device memory back to memory.
 *  rt.mem_flush(devPtr, size) -> ret */
ACL_API(8, 1) aclError aclrtMemFlush(void *devPtr, size_t size);

/** Invalidate cached lines of device memory, so that the next read comes from memory.
 *  rt.mem_invalidate(devPtr, size) -> ret */
ACL_API(8, 1) aclError aclrtMemInvalidate(void *devPtr, size_t size);

/** Copy memory and wait for the end.
 *  rt.memcpy(dst, destMax, src, count, kind) -> ret */
ACL_API(8, 1) aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind);

/** Queue a copy on the stream.
 *  rt.memcpy_async(dst, destMax, src, count, kind, stream) -> ret */
ACL_API(8, 1) aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream);

/** Deprecated: use aclrtMemcpyAsync. Queue a copy, or copy synchronously if the memory requires it.
 *  rt.memcpy_async_with_condition(dst, destMax, src, count, kind, stream) -> ret */
ACL_API(8, 1) aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
    aclrtMemcpyKind kind, aclrtStream stream);

/** Queue a copy between addresses that are stored in device memory, each with an offset. */
ACL_API(8, 5) aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset, const void **src,
    size_t count, size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream);

/** Copy a rectangle between pitched memory and wait for the end.
 *  rt.memcpy2d(dst, dpitch, src, spitch, width, height, kind) -> ret */
ACL_API(8, 1) aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
    size_t height, aclrtMemcpyKind kind);

/** Queue the copy of a rectangle between pitched memory on the stream.
 *  rt.memcpy2d_async(dst, dpitch, src, spitch, width, height, kind, stream) -> ret */
ACL_API(8, 1) aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
    size_t height, aclrtMemcpyKind kind, aclrtStream stream);

/** Bytes of device memory that a copy description takes.
 *  rt.get_memcpy_desc_size(kind) -> (descSize, ret) */
ACL_API(8, 1) aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize);

/** Write a copy description to device memory.
 *  rt.set_memcpy_desc(desc, kind, srcAddr, dstAddr, count, config) -> (=desc, ret) */
ACL_API(8, 1) aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count,
    void *config);

/** Queue the copy that is described in device memory.
 *  rt.memcpy_async_with_desc(desc, kind, stream) -> ret */
ACL_API(8, 1) aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream);

/** Copy several pieces and wait; on failure, report the index of the first that failed. */
ACL_API(8, 5) aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex);

/** Copy several pieces and wait for the end. */
ACL_API(9, 1) aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs);

/** Queue the copy of several pieces; on failure, report the index of the first that failed. */
ACL_API(8, 5) aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
    aclrtStream stream);

/** Queue the copy of several pieces on the stream. */
ACL_API(9, 1) aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream);

/** Fill bytes and wait for the end.
 *  rt.memset(devPtr, maxCount, value, count) -> ret */
ACL_API(8, 1) aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count);

/** Queue filling bytes on the stream.
 *  rt.memset_async(devPtr, maxCount, value, count, stream) -> ret */
ACL_API(8, 1) aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream);

/** Fill with a 32-bit value and wait for the end. */
ACL_API(9, 1) aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N);

/** Queue filling with a 32-bit value on the stream. */
ACL_API(9, 1) aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream);

/** Map host memory for the device and return its device address.
 *  rt.host_register(ptr, size, type) -> (devPtr, ret) */
ACL_API(8, 1) aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr);

/** Lock or map host memory for the device, according to the ACL_HOST_REG_* flags.
 *  rt.host_register_v2(ptr, size, flag) -> ret */
ACL_API(8, 5) aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);

/** The device's address of host memory that is mapped.
 *  rt.host_get_device_pointer(pHost, flag) -> (pDevice, ret) */
ACL_API(8, 5) aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag);

/** End the mapping of host memory.
 *  rt.host_unregister(ptr) -> ret */
ACL_API(8, 1) aclError aclrtHostUnregister(void *ptr);

/** Query whether an engine of the device can use mapped host memory. */
ACL_API(9, 0) aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
    aclrtHostMemMapCapability *capabilities);

/** The atomic operations that the device can do on host memory. */
ACL_API(9, 1) aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities,
    const aclrtAtomicOperation *operations, const uint32_t count, int32_t deviceId);

/** The device address of a global variable of a kernel. */
ACL_API(9, 1) aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr);

/** The size of a global variable of a kernel. */
ACL_API(9, 1) aclError aclrtGetSymbolSize(const void *symbol, size_t *size);

/** Copy out of a global variable of a kernel and wait for the end. */
ACL_API(9, 1) aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
    aclrtMemcpyKind kind);

/** Queue a copy out of a global variable of a kernel. */
ACL_API(9, 1) aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count,
    size_t offset, aclrtMemcpyKind kind, aclrtStream stream);

/** Copy into a global variable of a kernel and wait for the end. */
ACL_API(9, 1) aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
    aclrtMemcpyKind kind);

/** Queue a copy into a global variable of a kernel. */
ACL_API(9, 1) aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
    aclrtMemcpyKind kind, aclrtStream stream);

/** Map physical memory to a reserved address without the right to access it. */
ACL_API(9, 2) aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
    uint64_t flags);

/** Map memory a second time, to be accessed through the chosen link. */
ACL_API(9, 1) aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx);

/** Advise through which type of link physical memory should be mapped. */
ACL_API(9, 2) aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink);

/** Free a shared buffer. */
ACL_API(8, 5) aclError aclrtFreeBuf(aclrtMbuf buf);
