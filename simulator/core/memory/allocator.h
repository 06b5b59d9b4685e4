/* Allocators that the program provides: their descriptions, and which one supplies the memory for work on a stream. */
#ifndef SIM_ALLOCATOR_H
#define SIM_ALLOCATOR_H

#include "base/object.h"
#include "engine/stream.h"

#include <acl/acl_rt_allocator.h>

struct sim_allocator {
    aclrtAllocatorDesc al_description; /* the description it was registered with, which may be destroyed by now */
    aclrtAllocator al_object;
    aclrtAllocatorAllocFunc al_allocate;
    aclrtAllocatorFreeFunc al_free;
    aclrtAllocatorAllocAdviseFunc al_advise; /* NULL: not given */
    aclrtAllocatorGetAddrFromBlockFunc al_address;
};

struct sim_allocator_description {
    struct sim_object ad_object;
    struct sim_allocator ad_allocator;
};

aclrtAllocatorDesc sim_allocator_create(void); /* NULL if memory runs out */
/* Returns the locked description, to be closed with sim_object_close, or NULL with the message of 107017. */
struct sim_allocator_description *sim_allocator_open(aclrtAllocatorDesc handle);
/* Destroys a description; returns 107017 if it is not live. */
aclError sim_allocator_destroy(aclrtAllocatorDesc handle);

/* Copies the description as the stream's allocator, in place of an earlier one. Returns 107017 for a dead handle,
 * and 100000 if the description is incomplete. */
aclError sim_allocator_register(struct sim_target stream, aclrtAllocatorDesc handle);
void sim_allocator_unregister(uint64_t stream);
void sim_allocator_forget(struct sim_stream *stream, uint64_t handle); /* when the stream is destroyed */
/* Finds the allocator of the stream with this handle; returns false if it has none. */
bool sim_allocator_find(uint64_t stream, struct sim_allocator *allocator);

/* A block from the program's allocator, and its address. Calls the program's functions, so the caller holds no lock.
 * Returns 207001 if the allocator has no memory. */
struct sim_allocated {
    aclrtAllocatorBlock ac_block;
    void *ac_address;
};
aclError sim_allocator_take(const struct sim_allocator *allocator, size_t size, struct sim_allocated *taken);
void sim_allocator_give(const struct sim_allocator *allocator, const struct sim_allocated *taken);

void sim_allocator_reset(void);
void sim_allocator_after_fork(void);

#endif
