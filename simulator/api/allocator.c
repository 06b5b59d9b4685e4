/* Entry points of allocators that the program supplies. */
#include "memory/allocator.h"
#include "base/config.h"

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void)
{
    SIM_ENTER();
    return sim_allocator_create();
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    return sim_allocator_destroy(allocatorDesc);
}

/* Body of a setter of one field, after its arguments were checked for NULL. */
#define SET(field, value)                                                                                              \
    do {                                                                                                               \
        struct sim_allocator_description *description = sim_allocator_open(allocatorDesc);                             \
        if (description == NULL)                                                                                       \
            return ACL_ERROR_RT_INVALID_HANDLE;                                                                        \
        description->ad_allocator.field = (value);                                                                     \
        sim_object_close(description);                                                                                 \
        return ACL_SUCCESS;                                                                                            \
    } while (0)

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(allocator);
    SET(al_object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(func);
    SET(al_allocate, func);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(func);
    SET(al_free, func);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(func);
    SET(al_advise, func);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func)
{
    SIM_ENTER();
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(func);
    SET(al_address, func);
}

/* Finds the stream that an allocator is registered with, or will be. */
static aclError find_stream(aclrtStream stream, struct sim_target *target)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_NOT_NULL(stream);
    SIM_SUPPORTED(soc->so_profile != SIM_P310B, "%s does not support registered allocators", soc->so_name);
    return sim_stream_find(stream, target);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(allocatorDesc);
    SIM_TRY(find_stream(stream, &target));
    return sim_allocator_register(target, allocatorDesc);
}

aclError aclrtAllocatorUnregister(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find_stream(stream, &target));
    sim_allocator_unregister(target.tg_handle);
    return ACL_SUCCESS;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
                                   aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc)
{
    SIM_ENTER();
    struct sim_target target;
    struct sim_allocator found;
    SIM_NOT_NULL(stream);
    SIM_NOT_NULL(allocatorDesc);
    SIM_NOT_NULL(allocator);
    SIM_NOT_NULL(allocFunc);
    SIM_NOT_NULL(freeFunc);
    SIM_NOT_NULL(allocAdviseFunc);
    SIM_NOT_NULL(getAddrFromBlockFunc);
    SIM_TRY(find_stream(stream, &target));
    SIM_CHECK(sim_allocator_find(target.tg_handle, &found), ACL_ERROR_RT_PARAM_INVALID,
              "stream is %p, for which no allocator is registered, expected aclrtAllocatorRegister before", stream);
    *allocatorDesc = found.al_description;
    *allocator = found.al_object;
    *allocFunc = found.al_allocate;
    *freeFunc = found.al_free;
    *allocAdviseFunc = found.al_advise;
    *getAddrFromBlockFunc = found.al_address;
    return ACL_SUCCESS;
}
