/* Allocators of the program's: descriptions of them, and which one gives the memory for work on a stream. */
#ifndef SIM_ALLOCATOR_H
#define SIM_ALLOCATOR_H

#include "base/object.h"
#include "engine/stream.h"

#include <acl/acl_rt_allocator.h>

struct sim_allocator {
    aclrtAllocatorDesc al_description; /* that it was registered with; it may be gone */
    aclrtAllocator al_object;
    aclrtAllocatorAllocFunc al_allocate;
    aclrtAllocatorFreeFunc al_free;
    aclrtAllocatorAllocAdviseFunc al_advise; /* NULL: none */
    aclrtAllocatorGetAddrFromBlockFunc al_address;
};

struct sim_allocator_description {
    struct sim_object ad_object;
    struct sim_allocator ad_allocator;
};

aclrtAllocatorDesc sim_allocator_create(void); /* NULL: no memory */
/* Locked, to be closed with sim_object_close; NULL with a message of 107017. */
struct sim_allocator_description *sim_allocator_open(aclrtAllocatorDesc handle);
aclError sim_allocator_destroy(aclrtAllocatorDesc handle); /* 107017 */

/* Takes a copy of what the description says, in place of what the stream had: 107017, 100000 where it is not complete. */
aclError sim_allocator_register(struct sim_target stream, aclrtAllocatorDesc handle);
void sim_allocator_unregister(uint64_t stream);
void sim_allocator_forget(struct sim_stream *stream, uint64_t handle); /* the same for a stream that is destroyed */
/* Of the stream with this handle; false when there is none. */
bool sim_allocator_find(uint64_t stream, struct sim_allocator *allocator);

/* A block of the allocator's and its address. The program's functions are called, so no lock may be held. 207001. */
struct sim_allocated {
    aclrtAllocatorBlock ac_block;
    void *ac_address;
};
aclError sim_allocator_take(const struct sim_allocator *allocator, size_t size, struct sim_allocated *taken);
void sim_allocator_give(const struct sim_allocator *allocator, const struct sim_allocated *taken);

void sim_allocator_reset(void);
void sim_allocator_after_fork(void);

#endif
