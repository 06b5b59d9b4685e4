/* Heaps: reserved address ranges from which blocks are allocated. Each device has one (with two mappings at a constant
 * distance: PROT_NONE for users, read and write for the engine); pinned host memory has one with a single mapping.
 *
 * A zone is one reservation with its tables, cut into equal parts; each part is the address space of one heap, so the
 * bits of an address tell its device. Finding a block takes no lock; blocks are allocated and freed under small
 * locks. A heap's address space is at least four times its capacity, so that capacity runs out before addresses do. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include "base/lock.h"
#include <stddef.h>

#define SIM_HEAPS 64 /* in one zone */

/* Pages that a block is accounted in. */
enum sim_page { SIM_PAGE_NORMAL, SIM_PAGE_HUGE, SIM_PAGE_GIANT, SIM_PAGE_IMPORTED /* another process's; not counted */ };

/* A live block, as found from any address inside it. */
struct sim_block {
    uint64_t bk_start;     /* user address of its first byte */
    uint64_t bk_size;      /* addressable bytes (the padded size) */
    uint64_t bk_requested; /* bytes asked for */
    uint32_t bk_birth;     /* differs for every life of an address; never 0 */
    int32_t bk_device;     /* -1: pinned host memory */
    enum sim_page bk_page;
    const _Atomic uint64_t *bk_record; /* where it is described while it lives; NULL outside heaps */
};

/* The birth of the block that a record describes just now; 0 when none does. A record is the size / 32 in the high
 * half, then 24 bits of birth and 8 that are heap.c's. */
#define SIM_BIRTHS UINT32_C(0xffffff)
static inline uint32_t sim_block_birth(uint64_t record)
{
    return (uint32_t)(record >> 8) & SIM_BIRTHS;
}

/* Bytes of one kind of page. The totals of normal and huge pages add up to the capacity. */
struct sim_pages {
    uint64_t pg_total, pg_free;
};

/* Who ended the life of a block. */
struct sim_death {
    const void *dt_site; /* return address of the public call */
    uint32_t dt_thread;
};

/* Pages in the file of a zone, whole units, in a list of such. */
struct sim_extent {
    struct sim_extent *ex_next;
    uint64_t ex_offset, ex_size;
};

struct sim_heap;

struct sim_zone {
    _Atomic uint64_t zn_bytes; /* 0: not open; written last, so that whoever reads it sees the rest */
    uint64_t zn_base;          /* user address of the first byte */
    uint64_t zn_shift;         /* log2 of the bytes of one heap */
    ptrdiff_t zn_engine;       /* what to add to a user address; 0 with one mapping */
    int zn_file;               /* the pages of a zone with two mappings; -1 */
    void *zn_tables;           /* where the tables below lie, and ... */
    uint64_t zn_tables_bytes;  /* ... how many bytes they take */
    uint32_t zn_heap_count;
    struct sim_heap *zn_heaps;
    _Atomic uint32_t *zn_units; /* a unit of 2 MiB: what it holds */
    _Atomic uint32_t *zn_spans; /* a span of 64 KiB: what it holds */
    _Atomic uint64_t *zn_slots; /* the blocks of slabs, 128 a span */
    _Atomic uint64_t *zn_large; /* the blocks that start at a span */
    struct sim_span_info *zn_span_info;
    struct sim_unit_info *zn_unit_info;
    uint64_t *zn_unit_free;     /* a bit a unit */
    _Atomic int8_t *zn_owners;  /* a unit that a mapping starts at: its device. An area's; NULL */
};

extern struct sim_zone sim_heap_zone_of_device, sim_heap_zone_of_host;
extern struct sim_zone sim_heap_area; /* addresses for mappings; heap_area.c */

/* Reserves address space for `heaps` heaps of `capacity` bytes; 0, or -1 with errno. `split`: two mappings. */
int sim_heap_zone_open(struct sim_zone *zone, uint32_t heaps, uint64_t capacity, bool split);

/* Gives the reservation back. Nobody may use an address of it any more. */
void sim_heap_zone_close(struct sim_zone *zone);

/* In the child of a fork: forgets the zone. Its mappings stay, so that addresses inherited from the parent are never
 * given out again. */
void sim_heap_zone_after_fork(struct sim_zone *zone);

static inline bool sim_heap_zone_contains(const struct sim_zone *zone, const void *address)
{
    uint64_t bytes = atomic_load_explicit(&zone->zn_bytes, memory_order_acquire);
    return bytes != 0 && (uint64_t)(uintptr_t)address - zone->zn_base < bytes;
}

/* The live block that `address` lies in. Lock-free. */
bool sim_heap_zone_find(const struct sim_zone *zone, const void *address, struct sim_block *block);

/* Opens the heap for allocations, of which the last `normal` bytes cannot be taken by huge pages. */
void sim_heap_open(struct sim_zone *zone, uint32_t index, uint64_t capacity, uint64_t normal);
/* Ends the life of every block and gives all pages back but those that are kept. */
void sim_heap_close(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept);

/* A block of `size` bytes (a multiple of 32) of which `requested` were asked for (at most 63 less), at an address that
 * is a multiple of 512; contents undefined. NULL when the heap is full. */
void *sim_heap_allocate(struct sim_zone *zone, uint32_t index, uint64_t requested, uint64_t size, enum sim_page page);

/* The same without an address for users: `size` bytes, whole huge or giant pages. Where they start in the zone's file, or
 * 0 when the heap is full. */
uint64_t sim_heap_take_pages(struct sim_zone *zone, uint32_t index, uint64_t size, enum sim_page page);
void sim_heap_give_pages(struct sim_zone *zone, uint32_t index, uint64_t offset, uint64_t size, enum sim_page page);
/* What was kept when the heap was closed: taken once more in the heap just opened, or given back while it is closed. */
void sim_heap_retake_pages(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept, enum sim_page page);
void sim_heap_drop_pages(const struct sim_zone *zone, const struct sim_extent *kept);

/* Ends the life of the block that starts at `address`; false when none does (any more). */
bool sim_heap_release(struct sim_zone *zone, const void *address, const void *site, uint32_t thread);

/* Where the block begins whose place an address lies in, alive or not; false where none can be. */
bool sim_heap_zone_cover(const struct sim_zone *zone, const void *address, uint64_t *start);

/* For who owns a block and gives it several lives: what its record says while it is not to be seen by anybody, and the
 * record of another life, of at most the bytes it was allocated with; the birth is returned. It is released with these. */
void sim_heap_end(const _Atomic uint64_t *record);
uint32_t sim_heap_begin(const _Atomic uint64_t *record, uint64_t requested, uint64_t size, enum sim_page page);

/* How the block of this birth ended, if that is still remembered (the last 65,536 are). */
bool sim_heap_death(uint32_t birth, struct sim_death *death);

/* Another process's block, whose `whole` bytes lie at `offset` of a file: a block of the first `size` bytes, with the same
 * pages. NULL with errno: EINVAL where no block can lie so. It is ended by the second alone; false when it is none. */
void *sim_heap_import(struct sim_zone *zone, uint32_t index, int file, uint64_t offset, uint64_t whole, uint64_t size);
bool sim_heap_part(struct sim_zone *zone, const void *address, uint64_t whole, const void *site, uint32_t thread);

/* Live blocks of all heaps of a zone. A walk of its tables, for tests and reports. */
size_t sim_heap_zone_count(const struct sim_zone *zone);

/* Gives the pages of freed blocks back to the system. */
void sim_heap_trim(struct sim_zone *zone, uint32_t index);

struct sim_pages sim_heap_pages(const struct sim_zone *zone, uint32_t index, enum sim_page page);

/* Bytes of the pages that blocks take, now and at most since the heap was opened; the latter may count some pages that were
 * only kept in stock for small blocks. */
struct sim_usage {
    uint64_t us_now, us_peak;
};
struct sim_usage sim_heap_usage(const struct sim_zone *zone, uint32_t index);

/* ---- areas (heap_area.c) ---- */

/* A zone without heaps: addresses to which pages of other files are mapped. What the engine finds where nothing is mapped
 * is scratch memory, so that a task which runs while its memory is unmapped does no harm. */

#define SIM_AREA_FIRST (UINT64_C(16) << 40) /* where it lies, unless that place is taken */

/* 0, or -1 with errno; an open one stays, until sim_heap_zone_close. */
int sim_heap_area_open(struct sim_zone *zone);

/* Pages of a file for the engine, and for the host too when it may see them. -1: no memory for that. */
int sim_heap_area_map(const struct sim_zone *zone, uint64_t address, uint64_t size, int file, uint64_t offset);
int sim_heap_area_show(uint64_t address, uint64_t size, int file, uint64_t offset);
/* Scratch memory again, and nothing for the host. -1 when the system refuses: then it is as it was. */
int sim_heap_area_unmap(const struct sim_zone *zone, uint64_t address, uint64_t size, bool shown);
/* Gives the scratch pages there back to the system. */
void sim_heap_area_clean(const struct sim_zone *zone, uint64_t address, uint64_t size);

/* From here on, or no longer, the bytes are a live block of a device. They are whole units. */
void sim_heap_area_publish(struct sim_zone *zone, const struct sim_block *block);
void sim_heap_area_withdraw(struct sim_zone *zone, uint64_t address, uint64_t size);

/* A birth for a block that lies in no heap (memory that the user registered). */
uint32_t sim_heap_birth(void);
void sim_heap_bury(uint32_t birth, const void *site, uint32_t thread);

#endif
