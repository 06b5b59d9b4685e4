/* Allocators that the program supplies for work on a stream. */

typedef void *aclrtAllocatorDesc;
typedef void *aclrtAllocator;
typedef void *aclrtAllocatorBlock;
typedef void *aclrtAllocatorAddr;
typedef void *(*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
typedef void *(*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size, aclrtAllocatorAddr addr);
typedef void *(*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);

/** Create an empty description of an allocator.
 *  rt.allocator_create_desc() -> value */
ACL_API(8, 1) aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);

/** Destroy the description of an allocator.
 *  rt.allocator_destroy_desc(allocatorDesc) -> ret */
ACL_API(8, 1) aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc);

/** Set the object that is passed to the allocator's functions.
 *  rt.allocator_set_obj_to_desc(allocatorDesc, allocator) -> ret */
ACL_API(8, 1) aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator);

/** Set the function that allocates a block.
 *  rt.allocator_set_alloc_func_to_desc(allocatorDesc, func:callable) -> ret @py */
ACL_API(8, 1) aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func);

/** Set the function that frees a block.
 *  rt.allocator_set_free_func_to_desc(allocatorDesc, func:callable) -> ret @py */
ACL_API(8, 1) aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func);

/** Set the function that allocates a block at a suggested address.
 *  rt.allocator_set_alloc_advise_func_to_desc(allocatorDesc, func:callable) -> ret @py */
ACL_API(8, 1) aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
    aclrtAllocatorAllocAdviseFunc func);

/** Set the function that returns the address of a block.
 *  rt.allocator_set_get_addr_from_block_func_to_desc(allocatorDesc, func:callable) -> ret @py */
ACL_API(8, 1) aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
    aclrtAllocatorGetAddrFromBlockFunc func);

/** Use the described allocator for work on a stream.
 *  rt.allocator_register(stream, allocatorDesc) -> ret */
ACL_API(8, 1) aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc);

/** Stop using the program's allocator for a stream.
 *  rt.allocator_unregister(stream) -> ret */
ACL_API(8, 1) aclError aclrtAllocatorUnregister(aclrtStream stream);

/** The allocator registered for a stream, with its functions. */
ACL_API(8, 5) aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
    aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
    aclrtAllocatorAllocAdviseFunc *allocAdviseFunc, aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc);
