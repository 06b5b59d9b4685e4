/* Heaps: reserved address ranges from which blocks are allocated. Each device has one (with two mappings at a constant
 * distance: PROT_NONE for users, read and write for the engine); pinned host memory has one with a single mapping.
 *
 * A zone is one reservation with its tables, cut into equal parts; each part is the address space of one heap, so
 * the bits of an address tell its device. Finding a block takes no lock; blocks are allocated and freed under small
 * locks. A heap's address space is at least four times its capacity, so that capacity runs out before addresses do. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include "base/lock.h"
#include <stddef.h>

#define SIM_HEAPS 64 /* per zone */

/* The type of page that a block is counted in. */
enum sim_page {
    SIM_PAGE_NORMAL,
    SIM_PAGE_HUGE,
    SIM_PAGE_GIANT,
    SIM_PAGE_IMPORTED /* another process's; not counted */
};

/* A live block, as found from any address inside it. */
struct sim_block {
    uint64_t bk_start;     /* user address of its first byte */
    uint64_t bk_size;      /* addressable bytes (the padded size) */
    uint64_t bk_requested; /* bytes asked for */
    uint32_t bk_birth;     /* allocation id: differs for each allocation of an address; never 0 */
    int32_t bk_device;     /* -1: pinned host memory */
    enum sim_page bk_page;
    const _Atomic uint64_t *bk_record; /* the block's record while it is allocated; NULL outside heaps */
};

/* The allocation id of the block that a record describes now, or 0 if there is none. A record is the size / 32 in
 * the high half, then 24 bits of allocation id and 8 bits for heap.c. */
#define SIM_BIRTHS UINT32_C(0xffffff)
static inline uint32_t sim_block_birth(uint64_t record)
{
    return (uint32_t)record >> 8;
}

/* Bytes of one type of page. The totals of normal and huge pages add up to the capacity. */
struct sim_pages {
    uint64_t pg_total, pg_free;
};

/* Freed-by record: the call that freed a block. */
struct sim_death {
    const void *dt_site; /* return address of the public call */
    uint32_t dt_thread;
};

/* Pages in the file of a zone, whole units; an entry of a list. */
struct sim_extent {
    struct sim_extent *ex_next;
    uint64_t ex_offset, ex_size;
};

struct sim_heap;

struct sim_zone {
    _Atomic uint64_t zn_bytes; /* 0: not open; written last, so that a thread that reads it sees the rest */
    uint64_t zn_base;          /* user address of the first byte */
    uint64_t zn_shift;         /* log2 of the bytes of one heap */
    ptrdiff_t zn_engine;       /* what to add to a user address; 0 with one mapping */
    int zn_file;               /* the pages of a zone with two mappings; -1 */
    void *zn_tables;           /* where the tables below lie */
    uint64_t zn_tables_bytes;  /* bytes of the tables */
    uint32_t zn_heap_count;
    struct sim_heap *zn_heaps;
    _Atomic uint32_t *zn_units; /* what each unit of 2 MiB holds */
    _Atomic uint32_t *zn_spans; /* what each span of 64 KiB holds */
    _Atomic uint64_t *zn_slots; /* records of the blocks of slabs, 128 per span */
    _Atomic uint64_t *zn_large; /* records of the blocks that start at a span */
    struct sim_span_info *zn_span_info;
    struct sim_unit_info *zn_unit_info;
    uint64_t *zn_unit_free;     /* one bit per unit */
    _Atomic int8_t *zn_owners;  /* for each unit at which a mapping starts, its device; NULL except in an area */
};

extern struct sim_zone sim_heap_zone_of_device, sim_heap_zone_of_host;
extern struct sim_zone sim_heap_area; /* addresses for mappings; heap_area.c */

/* Reserves address space for `heaps` heaps of `capacity` bytes; returns 0, or -1 with errno. `split`: two mappings. */
int sim_heap_zone_open(struct sim_zone *zone, uint32_t heaps, uint64_t capacity, bool split);

/* Releases the reservation. No thread may use an address of it any more. */
void sim_heap_zone_close(struct sim_zone *zone);

/* In the child of a fork: forgets the zone. Its mappings stay, so that addresses inherited from the parent are never
 * reused. */
void sim_heap_zone_after_fork(struct sim_zone *zone);

static inline bool sim_heap_zone_contains(const struct sim_zone *zone, const void *address)
{
    uint64_t bytes = atomic_load_explicit(&zone->zn_bytes, memory_order_acquire);
    return bytes != 0 && (uint64_t)(uintptr_t)address - zone->zn_base < bytes;
}

/* Finds the live block that contains `address`. Takes no lock. The second requires that the zone contains it. */
bool sim_heap_zone_find(const struct sim_zone *zone, const void *address, struct sim_block *block);
bool sim_heap_zone_find_inside(const struct sim_zone *zone, const void *address, struct sim_block *block);

/* Opens the heap for allocations; `normal` bytes of its capacity are reserved for normal pages. */
void sim_heap_open(struct sim_zone *zone, uint32_t index, uint64_t capacity, uint64_t normal);
/* Frees every block and releases all pages except those that are kept. */
void sim_heap_close(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept);

/* Allocates a block of `size` bytes (a multiple of 32), of which `requested` were asked for (at most 63 fewer), at a
 * multiple of 512. Its contents are undefined. Returns NULL if the heap is full. */
void *sim_heap_allocate(struct sim_zone *zone, uint32_t index, uint64_t requested, uint64_t size, enum sim_page page);

/* Allocates `size` bytes of whole huge or giant pages without a user address. Returns their offset in the zone's
 * file, or 0 if the heap is full. */
uint64_t sim_heap_take_pages(struct sim_zone *zone, uint32_t index, uint64_t size, enum sim_page page);
void sim_heap_give_pages(struct sim_zone *zone, uint32_t index, uint64_t offset, uint64_t size, enum sim_page page);
/* Takes the pages that were kept when the heap was closed again in the heap just opened, or releases them while it
 * is closed. */
void sim_heap_retake_pages(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept, enum sim_page page);
void sim_heap_drop_pages(const struct sim_zone *zone, const struct sim_extent *kept);

/* Frees the block that starts at `address`; returns false if none does (any more). */
bool sim_heap_release(struct sim_zone *zone, const void *address, const void *site, uint32_t thread);

/* Finds the start of the block that `address` lies in, whether it is allocated or not; returns false if there cannot
 * be one. */
bool sim_heap_zone_cover(const struct sim_zone *zone, const void *address, uint64_t *start);

/* For owners that allocate one block several times (address/owner.h). sim_heap_end clears the record. sim_heap_begin
 * sets it for another allocation of at most the original size and returns the new allocation id. The block must have
 * a record when it is released. */
void sim_heap_end(const _Atomic uint64_t *record);
uint32_t sim_heap_begin(const _Atomic uint64_t *record, uint64_t requested, uint64_t size, enum sim_page page);

/* Finds the freed-by record of an allocation id; only the last 65,536 are kept. */
bool sim_heap_death(uint32_t birth, struct sim_death *death);

/* Imports another process's block, whose `whole` bytes lie at `offset` of a file, as a block of the first `size`
 * bytes. Returns NULL with errno, which is EINVAL if no block can lie there. Only sim_heap_part ends it; that
 * returns false if the block is not an imported one. */
void *sim_heap_import(struct sim_zone *zone, uint32_t index, int file, uint64_t offset, uint64_t whole, uint64_t size);
bool sim_heap_part(struct sim_zone *zone, const void *address, uint64_t whole, const void *site, uint32_t thread);

/* Counts the live blocks of all heaps of a zone by walking its tables, for tests and reports. */
size_t sim_heap_zone_count(const struct sim_zone *zone);

/* Returns the pages of cached blocks to the system. */
void sim_heap_trim(struct sim_zone *zone, uint32_t index);

/* The total and free bytes of a heap for this type of page. */
struct sim_pages sim_heap_pages(const struct sim_zone *zone, uint32_t index, enum sim_page page);

/* The bytes of the pages that blocks use, now and at most since the heap was opened. The latter may include some
 * pages that were only in stock for small blocks. */
struct sim_usage {
    uint64_t us_now, us_peak;
};
struct sim_usage sim_heap_usage(const struct sim_zone *zone, uint32_t index);

/* ---- areas (heap_area.c) ---- */

/* A zone without heaps: addresses to which pages of other files are mapped. Where nothing is mapped, the engine
 * finds scratch memory, so that a task that runs while its memory is unmapped does no harm. */

#define SIM_AREA_FIRST (UINT64_C(16) << 40) /* its address, unless that is taken */

/* Returns 0, or -1 with errno. An open area stays open until sim_heap_zone_close. */
int sim_heap_area_open(struct sim_zone *zone);

/* Map pages of a file for the engine, and (show) for the host. Return -1 if the system refuses. */
int sim_heap_area_map(const struct sim_zone *zone, uint64_t address, uint64_t size, int file, uint64_t offset);
int sim_heap_area_show(uint64_t address, uint64_t size, int file, uint64_t offset);
/* Maps scratch memory again and hides it from the host. Returns -1 if the system refuses; nothing has changed then. */
int sim_heap_area_unmap(const struct sim_zone *zone, uint64_t address, uint64_t size, bool shown);
/* Returns the scratch pages there to the system. */
void sim_heap_area_clean(const struct sim_zone *zone, uint64_t address, uint64_t size);

/* Publish the bytes, which are whole units, as a live block of a device, and withdraw them. */
void sim_heap_area_publish(struct sim_zone *zone, const struct sim_block *block);
void sim_heap_area_withdraw(struct sim_zone *zone, uint64_t address, uint64_t size);

/* The next allocation id, also for blocks outside heaps (registered memory). */
uint32_t sim_heap_birth(void);
/* Marks an allocation id as freed: stores its freed-by record. */
void sim_heap_bury(uint32_t birth, const void *site, uint32_t thread);

#endif
