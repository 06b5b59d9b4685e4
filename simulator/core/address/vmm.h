/* Virtual memory: physical memory without an address, reserved addresses, and mappings of memory to addresses. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "base/fail.h"
#include "heap.h"

/* The properties with which physical memory is allocated. */
struct sim_memory_kind {
    int32_t mk_device; /* -1: memory of the host */
    enum sim_page mk_page;
    aclrtMemAttr mk_attr; /* as the program gave it, to be reported back */
};

/* Returns 207000 if the program runs on the device itself. */
aclError sim_vmm_supported(void);

/* The granularity: sizes and addresses of such memory are multiples of it. */
uint64_t sim_vmm_granularity(const struct sim_memory_kind *kind);

/* ---- physical memory: returns 107017 if the handle is not a live one ---- */

aclError sim_vmm_allocate(const struct sim_memory_kind *kind, uint64_t size, aclrtDrvMemHandle *handle);
aclError sim_vmm_free(aclrtDrvMemHandle handle);
aclError sim_vmm_kind(aclrtDrvMemHandle handle, struct sim_memory_kind *kind);

/* ---- addresses: returns 107000 if the address is not that of a reserved range ---- */

/* Reserves addresses, at `wanted` unless that is NULL. The start is a multiple of `unit`. */
aclError sim_vmm_reserve(uint64_t size, uint64_t unit, const void *wanted, void **address);
aclError sim_vmm_release(const void *address);

/* ---- mappings ---- */

/* Checks all arguments and maps. Without `access` the memory cannot be used until access is granted. */
aclError sim_vmm_map(const void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags,
                     bool access);
/* Maps the memory of the mapping at `source` again, at the start of a reserved range. */
aclError sim_vmm_map_again(const void *address, uint64_t size, const void *source);
aclError sim_vmm_unmap(const void *address, const void *site);

aclError sim_vmm_give_access(const void *address, uint64_t size, const aclrtMemAccessDesc *descs, size_t count);
aclError sim_vmm_access(const void *address, const aclrtMemLocation *location, uint64_t *flag);
aclError sim_vmm_retain(const void *address, aclrtDrvMemHandle *handle);

/* Finds the mapping that contains an address. */
bool sim_vmm_extent(const void *address, uint64_t *start, uint64_t *size);

/* Releases freed memory that other processes have stopped using. */
void sim_vmm_collect(void);

/* ---- up and down ---- */

void sim_vmm_open_device(int32_t device, uint64_t capacity, uint64_t normal); /* also opens its heap */
void sim_vmm_close_device(int32_t device); /* also ends its physical memory and mappings */
void sim_vmm_reset(void);
void sim_vmm_after_fork(void);

#endif
