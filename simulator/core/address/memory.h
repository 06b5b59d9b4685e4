/* Memory: classes of addresses, and allocation. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "base/fail.h"
#include "heap.h"
#include "range.h"

/* Opens and closes a device's heap; closing frees all its blocks. Opening returns -1 with errno if there is no
 * address space. Calls are serialised by the device transitions. */
int sim_memory_open(int32_t device);
void sim_memory_close(int32_t device);

/* The engine's check before a task runs: is the range still in the block that contained it at submission? A record
 * is cleared when its block is freed and has another allocation id afterwards, so two loads suffice. Registered
 * memory has no record; sim_memory_refuse looks it up. */
static inline bool sim_memory_lives(const struct sim_range *range)
{
    return range->rg_birth == 0 ||
           (range->rg_record != NULL &&
            sim_block_birth(atomic_load_explicit(range->rg_record, memory_order_acquire)) == range->rg_birth);
}

/* Whether the bytes are allocated now, perhaps by a later allocation; a replay needs no more. */
bool sim_memory_is_there(const struct sim_range *range);

/* Looks the range up again. Returns 0, or 507053 and the reason, which names the thread that freed the memory. */
aclError sim_memory_refuse(const struct sim_range *range, char *text, size_t size);

/* Fills in the allocation id of a range that must lie inside one live device block, or inside host memory that is
 * mapped for devices; otherwise returns 107000. `name` names the argument. */
aclError sim_memory_claim(struct sim_range *range, const char *name);
bool sim_memory_try_claim(struct sim_range *range); /* without a message, for callers that have their own */

/* The address at which the engine reaches a user's device address (or pinned host address, which is the same), or
 * NULL if it lies in no live block. */
void *sim_memory_engine(const void *address);

/* Returns cached pages to the system; called before a worker that patrols sleeps for long. */
void sim_memory_trim(void);
size_t sim_memory_count(void); /* live blocks of devices and of pinned memory */

void sim_memory_reset(void);      /* in aclsimReset; also frees host blocks and registrations */
void sim_memory_after_fork(void); /* the child has no device memory; pinned host memory stays readable */

/* ---- what an address is ---- */

enum sim_memory_class {
    SIM_MEMORY_HOST = ACL_MEM_LOCATION_TYPE_HOST,            /* pinned */
    SIM_MEMORY_DEVICE = ACL_MEM_LOCATION_TYPE_DEVICE,
    SIM_MEMORY_FOREIGN = ACL_MEM_LOCATION_TYPE_UNREGISTERED, /* ordinary memory of the process */
    SIM_MEMORY_MANAGED = ACL_MEM_LOCATION_TYPE_MANAGED,      /* of the host and all devices */
    SIM_MEMORY_DEAD = 99, /* in an address space of blocks, but in no live one */
};

struct sim_place {
    enum sim_memory_class pl_class;
    bool pl_reserved;          /* DEAD, among the addresses for mappings */
    ptrdiff_t pl_engine;       /* what to add to the address to get the engine's */
    struct sim_block pl_block; /* if it is alive */
};

/* Finds the class and the block of an address. */
void sim_memory_locate(const void *address, struct sim_place *place);

/* Whether `size` bytes from there are allocated. A range over several mappings has no single record, so it is looked
 * up again when its task runs. */
bool sim_memory_holds(struct sim_place *place, const void *address, uint64_t size);

/* Whether it is in a live block. */
static inline bool sim_memory_is_alive(const struct sim_place *place)
{
    return place->pl_class != SIM_MEMORY_FOREIGN && place->pl_class != SIM_MEMORY_DEAD;
}

/* Whether devices may access it. */
static inline bool sim_memory_is_device(const struct sim_place *place)
{
    return place->pl_class == SIM_MEMORY_DEVICE || place->pl_class == SIM_MEMORY_MANAGED;
}

/* Whether it is in a block of another process. */
static inline bool sim_memory_is_imported(const struct sim_place *place)
{
    return place->pl_class == SIM_MEMORY_DEVICE && unlikely(place->pl_block.bk_page == SIM_PAGE_IMPORTED);
}

/* No process maps addresses below this: NULL with an offset, or a number used as an address. */
#define SIM_MEMORY_LOWEST UINT64_C(65536)

static inline bool sim_memory_is_low(const struct sim_place *place, const void *address)
{
    return place->pl_class == SIM_MEMORY_FOREIGN && unlikely((uint64_t)(uintptr_t)address < SIM_MEMORY_LOWEST);
}

/* Fails with 107000: the argument `name` is `address`, below 64 KiB. */
aclError sim_memory_refuse_low(const void *address, const char *name);

/* Locates an address and checks that `size` bytes from there are inside the block. Ordinary memory is accepted from
 * 64 KiB on. Returns 107000; `name` and `size_name` name the arguments. */
aclError sim_memory_span(const void *address, uint64_t size, const char *name, const char *size_name,
                         struct sim_place *place);

/* The range of a task at a place that was located. */
static inline struct sim_range sim_memory_range(const struct sim_place *place, const void *address, uint64_t size,
                                                bool write)
{
    if (place->pl_class == SIM_MEMORY_FOREIGN)
        return (struct sim_range){.rg_address = address, .rg_size = size, .rg_write = write};
    return (struct sim_range){address, size, place->pl_block.bk_record, place->pl_block.bk_birth, write};
}

/* Whether the program may read the bytes: device memory only if the program runs on the device. */
bool sim_memory_is_host(const void *address);

/* The type of memory for messages: "pinned host memory", "device memory", ... Inline, so that a place whose address is
 * not needed otherwise can stay in registers. */
const char *sim_memory_name(enum sim_memory_class class, bool reserved);
static inline const char *sim_memory_describe(const struct sim_place *place)
{
    return sim_memory_name(place->pl_class, place->pl_reserved);
}

/* The engine's address of an address that was checked before. */
static inline void *sim_memory_reach(const void *address)
{
    ptrdiff_t distance = 0;
    if (likely(sim_heap_zone_contains(&sim_heap_zone_of_device, address)))
        distance = sim_heap_zone_of_device.zn_engine;
    else if (sim_heap_zone_contains(&sim_heap_area, address))
        distance = sim_heap_area.zn_engine;
    return (char *)(uintptr_t)address + distance;
}

/* ---- blocks ---- */

/* What a policy of aclrtMalloc and similar functions means. */
struct sim_policy {
    enum sim_page po_page;
    bool po_fall_back; /* to normal pages, when huge ones are used up */
};

struct sim_policy sim_memory_huge_first(uint64_t size); /* normal pages up to 1 MiB */

/* Sizes of blocks are multiples of 32. */
static inline uint64_t sim_memory_whole(uint64_t size)
{
    return (size + 31) / 32 * 32;
}

/* Tells watchers that the block is written unseen from now on. */
void sim_memory_expose(const void *address);
/* Allocates a block for the simulator itself, HUGE_FIRST and without padding. Returns 107002 or 207001. */
aclError sim_memory_take(void **address, uint64_t size);

/* Whether the program runs on the device's own processor (run mode ACL_DEVICE) and accesses device memory itself. */
bool sim_memory_runs_on_device(void);
bool sim_memory_has_giant_pages(void);      /* for policies of aclrtMalloc */
uint64_t sim_memory_pinned_capacity(void); /* bytes of host memory */
/* Allocates a block of a device, without a message. Returns NULL if there is no room, even after memory pools have
 * released what they can spare. */
void *sim_memory_try_allocate(int32_t device, uint64_t requested, uint64_t size, struct sim_policy *policy);

/* Allocates a block of the current device. Returns 107002 or 207001. */
aclError sim_memory_allocate(void **address, uint64_t requested, uint64_t size, struct sim_policy policy);
/* Allocates a block of pinned host memory. Returns 107002 or 207001. */
aclError sim_memory_allocate_host(void **address, uint64_t size);

/* The bytes that the blocks of a device use; 0 while it is not open. */
struct sim_usage sim_memory_usage(int32_t device);

/* Free a block; return 107000 if `address` is not the start of a live block of that type. */
aclError sim_memory_release(const void *address, const void *site);
aclError sim_memory_release_host(const void *address, const void *site);

/* ---- registered host memory (memory_host.c) ---- */

enum sim_registration_flags { SIM_REGISTERED_MAPPED = 1, SIM_REGISTERED_PINNED = 2 };

bool sim_memory_maps_host(void); /* whether the chip can */
/* Register and unregister host memory of the program. Return 107000 for a wrong range, 507910 if it is registered
 * already, and 507911 if it is not registered. */
aclError sim_memory_register(void *address, uint64_t size, unsigned flags);
aclError sim_memory_unregister(const void *address, const void *site);
/* Finds the device's address of mapped host memory; returns 107000 if there is none. */
aclError sim_memory_device_pointer(const void *address, void **device_address);
/* Registers host memory of a mapping (vmm.c), which is pinned; only the mapping can remove it. Returns -1 if memory
 * runs out. */
int sim_memory_note_mapped(const struct sim_block *block);
void sim_memory_forget_mapped(uint64_t start);
/* Whether any range is registered: look-ups skip the list while there is none. */
extern _Atomic uint32_t sim_memory_registered;
static inline bool sim_memory_has_registered(void)
{
    return unlikely(atomic_load_explicit(&sim_memory_registered, memory_order_acquire) != 0);
}
/* Finds the pinned registered range that contains `address`. */
bool sim_memory_find_pinned(const void *address, struct sim_block *block);
static inline bool sim_memory_find_registered(const void *address, struct sim_block *block)
{
    return sim_memory_has_registered() && sim_memory_find_pinned(address, block);
}
/* Finds the registered range that is mapped for devices and contains `address`, whatever its class. */
bool sim_memory_find_mapped(const void *address, struct sim_block *block);
void sim_memory_forget_registered(void);
void sim_memory_registered_after_fork(void);

#endif
