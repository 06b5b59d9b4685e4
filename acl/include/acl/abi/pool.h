/* Memory pools: allocation and release in stream order. */

typedef void *aclrtMemPool;

typedef enum aclrtMemPoolAttr {
    ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
    ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8,
} aclrtMemPoolAttr;

typedef struct aclrtMemPoolProps {
    aclrtMemAllocationType allocType;
    aclrtMemHandleType handleType;
    aclrtMemLocation location;
    size_t maxSize;
    unsigned char reserved[32];
} aclrtMemPoolProps;

/** Create a memory pool. */
ACL_API(9, 0) aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps);

/** Destroy a memory pool. */
ACL_API(9, 0) aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);

/** Set one attribute of a memory pool. */
ACL_API(9, 0) aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value);

/** Read one attribute of a memory pool. */
ACL_API(9, 0) aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value);

/** Allocate from a pool, for use from this point of the stream on. */
ACL_API(9, 1) aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream);

/** Return memory to its pool at this point of the stream. */
ACL_API(9, 1) aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream);

/** Return unused memory of a pool to the device, but keep some bytes. */
ACL_API(9, 1) aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);
