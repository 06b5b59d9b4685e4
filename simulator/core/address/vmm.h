/* Virtual memory: physical memory without an address, reserved addresses, and mappings of the one to the other. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "base/fail.h"
#include "heap.h"

/* What physical memory is asked for as. */
struct sim_memory_kind {
    int32_t mk_device; /* -1: memory of the host */
    enum sim_page mk_page;
    aclrtMemAttr mk_attr; /* as it is told */
};

/* 207000 where the program runs on the device itself. */
aclError sim_vmm_supported(void);

/* The bytes that sizes and addresses of such memory are multiples of. */
uint64_t sim_vmm_granularity(const struct sim_memory_kind *kind);

/* ---- physical memory: returns 107017 if the handle is not a live one ---- */

aclError sim_vmm_allocate(const struct sim_memory_kind *kind, uint64_t size, aclrtDrvMemHandle *handle);
aclError sim_vmm_free(aclrtDrvMemHandle handle);
aclError sim_vmm_kind(aclrtDrvMemHandle handle, struct sim_memory_kind *kind);

/* ---- addresses: returns 107000 if the address is not that of a reserved range ---- */

/* `wanted` may be NULL: any address. The start is a multiple of `unit`. */
aclError sim_vmm_reserve(uint64_t size, uint64_t unit, const void *wanted, void **address);
aclError sim_vmm_release(const void *address);

/* ---- mappings ---- */

/* Checks all arguments. Without `access` the memory cannot be used until access is granted. */
aclError sim_vmm_map(const void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags,
                     bool access);
/* The memory of a mapping once more, at the start of a reserved range. */
aclError sim_vmm_map_again(const void *address, uint64_t size, const void *source);
aclError sim_vmm_unmap(const void *address, const void *site);

aclError sim_vmm_give_access(const void *address, uint64_t size, const aclrtMemAccessDesc *descs, size_t count);
aclError sim_vmm_access(const void *address, const aclrtMemLocation *location, uint64_t *flag);
aclError sim_vmm_retain(const void *address, aclrtDrvMemHandle *handle);

/* The mapping that an address lies in. */
bool sim_vmm_extent(const void *address, uint64_t *start, uint64_t *size);

/* Takes back what freed memory other processes have let go of by now. */
void sim_vmm_collect(void);

/* ---- up and down ---- */

void sim_vmm_open_device(int32_t device, uint64_t capacity, uint64_t normal); /* its heap */
void sim_vmm_close_device(int32_t device); /* its physical memory, its mappings, its heap */
void sim_vmm_reset(void);
void sim_vmm_after_fork(void);

#endif
