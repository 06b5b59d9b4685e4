/* Shared by heap.c (blocks), heap_zone.c (address space of heaps) and heap_area.c (address space of mappings). */
#ifndef SIM_HEAP_INNER_H
#define SIM_HEAP_INNER_H

#include "heap.h"

#define UNIT_BYTES (UINT64_C(1) << 21)
#define SPAN_BYTES UINT64_C(65536)
#define SPANS_A_UNIT 32u
#define SLAB_SLOTS 128u
#define SMALL_BYTES 32768u
#define MIDDLE_BYTES (UNIT_BYTES - SPAN_BYTES)
#define CLASSES 16
#define UNIT_BINS 65 /* big blocks above 64 units are never cached */

/* ThreadSanitizer takes the mapping of pages for a write of all their bytes. A task may run meanwhile: it finds the
 * old or the new pages, and does no harm in either. */
#ifdef SIM_TSAN
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#else
#define AnnotateIgnoreWritesBegin(file, line) ((void)0)
#define AnnotateIgnoreWritesEnd(file, line) ((void)0)
#endif

/* Entries of zn_units and zn_spans. Units and spans are numbered from the start of the zone; the first of the zone
 * is never allocated, so 0 means none. */
#define UNIT_FREE 0u
#define UNIT_SPANS 1u              /* cut into spans */
#define UNIT_BLOCK 2u              /* + first unit of the big block */
#define SPAN_FREE 0u
#define SPAN_SLAB 1u               /* + size class */
#define SPAN_BLOCK UINT32_C(0x80000000) /* | first span of the middle block, allocated or cached in a bin */

/* The low 8 bits of a record: 2 of page type, 6 of the bytes not asked for. */
#define RECORD_BYTES (UINT64_C(32) * UINT32_MAX) /* the largest block that a record can describe */

static inline uint64_t record_make(uint64_t size, uint64_t slack, enum sim_page page, uint32_t birth)
{
    return size / 32 << 32 | (uint64_t)birth << 8 | (uint64_t)page << 6 | slack;
}

static inline uint64_t record_size(uint64_t record)
{
    return record >> 32 << 5;
}

static inline enum sim_page record_page(uint64_t record)
{
    return (enum sim_page)(record >> 6 & 3);
}

static inline uint64_t record_slack(uint64_t record)
{
    return record & 63;
}

/* A slab (guarded by its class), or the first span of a block in a bin (guarded by hp_lock, only si_after). */
struct sim_span_info {
    uint64_t si_bits[2]; /* free slots */
    uint32_t si_before, si_after;
    uint32_t si_free;
    uint32_t si_spare;
};

/* A unit cut into spans; while it has free ones it is in the list hp_partial. Guarded by hp_lock. */
struct sim_unit_info {
    uint32_t ui_free; /* one bit per span */
    uint32_t ui_before, ui_after;
};

struct sim_class {
    _Alignas(SIM_LINE) struct sim_lock cl_lock;
    uint32_t cl_partial;         /* slabs with room */
    _Atomic uint64_t cl_stock;   /* normal pages that are charged but in no block; also read without the lock */
};

struct sim_heap {
    uint64_t hp_capacity, hp_normal; /* capacity 0: closed */
    _Alignas(SIM_LINE) struct sim_lock hp_lock; /* guards the rest; the next two are also read without it */
    _Atomic uint64_t hp_used;        /* pages, see heap.c */
    _Atomic uint64_t hp_peak;        /* the largest number of bytes in hp_used so far */
    uint32_t hp_first, hp_count;     /* its units */
    uint32_t hp_hint;                /* where to look for free units first */
    uint32_t hp_partial;             /* cut units with free spans */
    uint64_t hp_cached;              /* bytes in bins */
    uint32_t hp_punching;            /* blocks on their way from a bin to the free units and spans */
    uint32_t hp_span_bins[SPANS_A_UNIT], hp_unit_bins[UNIT_BINS];
    struct sim_class hp_classes[CLASSES];
};

/* Take `count` spans inside one unit, or `count` consecutive units; hp_lock is held. Mark them in the table as one
 * block, and return the number of the first, or return 0 if the heap has no such sequence. */
uint32_t sim_heap_take_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t count);
uint32_t sim_heap_take_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t count);

/* Release such spans or units, into a bin or for good, and hp_lock, which the caller holds. */
void sim_heap_give_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count);
void sim_heap_give_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count);

/* Takes these free units of a heap that no other thread uses yet. */
void sim_heap_retake_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count);

/* Reserves `bytes` of addresses, aligned to a unit, at `wanted` if that is free. Returns NULL with errno. */
char *sim_heap_reserve(uint64_t wanted, uint64_t bytes, int protection);

/* Whether the program would have at least as many addresses left after a reservation of `bytes`. */
bool sim_heap_leaves_room(uint64_t bytes);

/* Reports on stderr, once per flag, that the system refused `wanted` bytes for a use, how many are used instead, and
 * what happens to larger requests. */
void sim_heap_say_smaller(atomic_flag *said, uint64_t wanted, uint64_t bytes, int reason, const char *use,
                          const char *advice);
/* Maps zeroed memory for the zone's tables. Returns NULL with errno. */
char *sim_heap_map_tables(struct sim_zone *zone, uint64_t bytes);
/* Creates the zone's file and maps it at `engine`, behind the first mapping. Returns 0, or -1 with errno. */
int sim_heap_map_engine(struct sim_zone *zone, uint64_t bytes, char *engine);
/* Maps pages of another process's file under spans, or (file -1) the zone's own pages again. Returns false with
 * errno. */
bool sim_heap_lay(const struct sim_zone *zone, uint64_t offset, uint64_t bytes, int file, uint64_t file_offset);
/* Releases the `bytes` that a zone reserved but could not use. Returns -1 and leaves errno unchanged. */
int sim_heap_unreserve(struct sim_zone *zone, uint64_t bytes);

#endif
