/* Entry points of memory pools. */
#include "address/memory.h"
#include "memory/pool.h"

static aclError check_props(const aclrtMemPoolProps *poolProps)
{
    SIM_ARGUMENT(poolProps->allocType == ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_ERROR_INVALID_PARAM,
                 "poolProps->allocType is %d, expected ACL_MEM_ALLOCATION_TYPE_PINNED (0)", (int)poolProps->allocType);
    SIM_ARGUMENT(poolProps->handleType == ACL_MEM_HANDLE_TYPE_NONE, ACL_ERROR_INVALID_PARAM,
                 "poolProps->handleType is %d, expected ACL_MEM_HANDLE_TYPE_NONE (0)", (int)poolProps->handleType);
    SIM_ARGUMENT(poolProps->location.type == ACL_MEM_LOCATION_TYPE_DEVICE, ACL_ERROR_INVALID_PARAM,
                 "poolProps->location.type is %d, expected ACL_MEM_LOCATION_TYPE_DEVICE (1)",
                 (int)poolProps->location.type);
    for (size_t i = 0; i < sizeof poolProps->reserved; i++)
        SIM_ARGUMENT(poolProps->reserved[i] == 0, ACL_ERROR_INVALID_PARAM, "poolProps->reserved[%zu] is %u, expected 0",
                     i, poolProps->reserved[i]);
    return ACL_SUCCESS;
}

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
{
    SIM_ENTER();
    SIM_NOT_NULL(memPool);
    SIM_NOT_NULL(poolProps);
    SIM_TRY(check_props(poolProps));
    SIM_TRY(sim_pool_supported());
    return sim_pool_create((int32_t)poolProps->location.id, poolProps->maxSize, memPool);
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool)
{
    SIM_ENTER();
    SIM_NOT_NULL(memPool);
    SIM_TRY(sim_pool_supported());
    return sim_pool_destroy(memPool);
}

static aclError check_value(const void *value)
{
    SIM_NOT_NULL(value);
    SIM_ARGUMENT(sim_memory_is_host(value), ACL_ERROR_INVALID_PARAM, "value is %p, which is not host memory, expected "
                 "a pointer to host memory", value);
    return ACL_SUCCESS;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(memPool);
    SIM_TRY(check_value(value));
    SIM_TRY(sim_pool_supported());
    return sim_pool_set(memPool, attr, value);
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(memPool);
    SIM_TRY(check_value(value));
    SIM_TRY(sim_pool_supported());
    return sim_pool_get(memPool, attr, value);
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep)
{
    SIM_ENTER();
    SIM_NOT_NULL(memPool);
    SIM_TRY(sim_pool_supported());
    return sim_pool_trim(memPool, minBytesToKeep);
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(ptr);
    SIM_NOT_NULL(memPool);
    SIM_NOT_NULL(stream);
    if (size == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_pool_supported());
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(sim_pool_check(memPool));
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_CHECK(size <= SIZE_MAX / 2, ACL_ERROR_RT_MEMORY_ALLOCATION, "size is %zu, which is more than any device has",
              size);
    return sim_pool_malloc(ptr, size, memPool, target, SIM_SITE());
}

aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(ptr);
    SIM_TRY(sim_pool_supported());
    SIM_TRY(sim_stream_to_clean(stream, &target));
    return sim_pool_free(ptr, target, SIM_SITE());
}
