/* The address space of heaps: reservations with their tables, free units and spans, and bins of freed blocks. The
 * rules are in heap.c. A zone owns its reservation, tables and file; hp_lock guards the units, spans and bins of its
 * heap. */
#include "base/output.h"
#include "heap_inner.h"
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_BYTES (UINT64_C(1) << 30)
#define LEAST_SHIFT 32 /* from here on one heap's share of each table is whole pages */
#define SMALLEST_SHIFT 28 /* the lower limit if the system refuses more */
#define MOST_SHIFT 46  /* of a whole reservation */
#define CUT_UNITS_TRIED 8

static struct sim_heap device_heaps[SIM_HEAPS], host_heaps[1];

struct sim_zone sim_heap_zone_of_device = {.zn_heaps = device_heaps, .zn_file = -1};
struct sim_zone sim_heap_zone_of_host = {.zn_heaps = host_heaps, .zn_file = -1};

static void punch(const struct sim_zone *zone, uint64_t offset, uint64_t bytes)
{
    void *pages = (void *)(uintptr_t)(zone->zn_base + (uint64_t)zone->zn_engine + offset);
    madvise(pages, bytes, zone->zn_engine != 0 ? MADV_REMOVE : MADV_DONTNEED);
}

/* ---- units and spans; hp_lock is held ---- */

static void mark_units(struct sim_zone *zone, uint32_t first, uint32_t count, bool is_free)
{
    for (uint32_t unit = first; unit < first + count; unit++) {
        uint64_t bit = UINT64_C(1) << unit % 64;
        if (is_free)
            zone->zn_unit_free[unit / 64] |= bit;
        else
            zone->zn_unit_free[unit / 64] &= ~bit;
        atomic_store_explicit(&zone->zn_units[unit], is_free ? UNIT_FREE : UNIT_BLOCK + first, memory_order_release);
    }
}

/* First fit between `unit` and `end`. */
static uint32_t find_units(const struct sim_zone *zone, uint32_t unit, uint32_t end, uint32_t count)
{
    for (uint32_t run = 0; unit < end; unit++) {
        uint64_t word = zone->zn_unit_free[unit / 64];
        if (word == 0) {
            unit |= 63;
            run = 0;
        } else if ((word >> unit % 64 & 1) == 0) {
            run = 0;
        } else if (++run == count) {
            return unit - count + 1;
        }
    }
    return 0;
}

SIM_RARE static uint32_t cut_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t count)
{
    uint32_t end = heap->hp_first + heap->hp_count, first = find_units(zone, heap->hp_hint, end, count);
    if (first == 0)
        first = find_units(zone, heap->hp_first, end, count);
    if (first == 0)
        return 0;
    mark_units(zone, first, count, false);
    heap->hp_hint = first + count;
    return first;
}

static void return_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count)
{
    mark_units(zone, first, count, true);
    if (first < heap->hp_hint)
        heap->hp_hint = first;
}

static void list_unit(struct sim_zone *zone, struct sim_heap *heap, uint32_t unit)
{
    struct sim_unit_info *info = &zone->zn_unit_info[unit];
    info->ui_before = 0;
    info->ui_after = heap->hp_partial;
    if (heap->hp_partial != 0)
        zone->zn_unit_info[heap->hp_partial].ui_before = unit;
    heap->hp_partial = unit;
}

static void unlist_unit(struct sim_zone *zone, struct sim_heap *heap, const struct sim_unit_info *info)
{
    if (info->ui_after != 0)
        zone->zn_unit_info[info->ui_after].ui_before = info->ui_before;
    if (info->ui_before != 0)
        zone->zn_unit_info[info->ui_before].ui_after = info->ui_after;
    else
        heap->hp_partial = info->ui_after;
}

static uint32_t span_mask(uint32_t first, uint32_t count)
{
    return ((UINT32_C(1) << count) - 1) << first % SPANS_A_UNIT;
}

/* The position of `count` consecutive free spans in the bits, or 32. */
static uint32_t find_spans(uint32_t free_bits, uint32_t count)
{
    for (uint32_t more = 1; more < count; more++) /* a bit survives if the next count - 1 are set too */
        free_bits &= free_bits >> 1;
    return free_bits != 0 ? (uint32_t)__builtin_ctz(free_bits) : SPANS_A_UNIT;
}

SIM_RARE static uint32_t cut_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t count)
{
    uint32_t unit = heap->hp_partial, at = SPANS_A_UNIT;
    for (int tries = 0; unit != 0 && tries < CUT_UNITS_TRIED; tries++) {
        at = find_spans(zone->zn_unit_info[unit].ui_free, count);
        if (at < SPANS_A_UNIT)
            break;
        unit = zone->zn_unit_info[unit].ui_after;
    }
    if (at == SPANS_A_UNIT) {
        unit = cut_units(zone, heap, 1);
        if (unit == 0)
            return 0;
        zone->zn_unit_info[unit].ui_free = UINT32_MAX;
        atomic_store_explicit(&zone->zn_units[unit], UNIT_SPANS, memory_order_release);
        list_unit(zone, heap, unit);
        at = 0;
    }
    uint32_t first = unit * SPANS_A_UNIT + at;
    struct sim_unit_info *info = &zone->zn_unit_info[unit];
    info->ui_free &= ~span_mask(first, count);
    if (info->ui_free == 0)
        unlist_unit(zone, heap, info);
    for (uint32_t span = first; span < first + count; span++)
        atomic_store_explicit(&zone->zn_spans[span], SPAN_BLOCK | first, memory_order_release);
    return first;
}

static void return_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count)
{
    uint32_t unit = first / SPANS_A_UNIT;
    struct sim_unit_info *info = &zone->zn_unit_info[unit];
    for (uint32_t span = first; span < first + count; span++)
        atomic_store_explicit(&zone->zn_spans[span], SPAN_FREE, memory_order_release);
    if (info->ui_free == 0)
        list_unit(zone, heap, unit);
    info->ui_free |= span_mask(first, count);
    if (info->ui_free == UINT32_MAX) {
        unlist_unit(zone, heap, info);
        return_units(zone, heap, unit, 1);
    }
}

/* ---- bins ---- */

/* `first` is the number of the block's first span, also for big blocks. */
static void push_bin(struct sim_zone *zone, uint32_t *bin, uint32_t first)
{
    zone->zn_span_info[first].si_after = *bin;
    *bin = first;
}

static uint32_t pop_bin(struct sim_zone *zone, struct sim_heap *heap, uint32_t *bin, uint64_t bytes)
{
    uint32_t first = *bin;
    if (first != 0) {
        *bin = zone->zn_span_info[first].si_after;
        heap->hp_cached -= bytes;
    }
    return first;
}

uint32_t sim_heap_take_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t count)
{
    uint32_t first = pop_bin(zone, heap, &heap->hp_span_bins[count], count * SPAN_BYTES);
    return likely(first != 0) ? first : cut_spans(zone, heap, count);
}

uint32_t sim_heap_take_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t count)
{
    uint32_t first = 0;
    if (count < UNIT_BINS)
        first = pop_bin(zone, heap, &heap->hp_unit_bins[count], count * UNIT_BYTES) / SPANS_A_UNIT;
    return likely(first != 0) ? first : cut_units(zone, heap, count);
}

/* Releases the pages of a block that is in no table and no bin, and takes hp_lock. The caller then frees the address
 * space and releases hp_lock. hp_punching, raised when the block was taken out, holds off sim_heap_close. */
SIM_RARE static void punch_and_lock(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint64_t bytes)
{
    punch(zone, first * SPAN_BYTES, bytes);
    sim_lock(&heap->hp_lock);
    heap->hp_punching--;
}

/* Keeps a freed block in its bin if there is room. Otherwise releases its pages, without the lock meanwhile; the caller
 * frees the address space. */
static bool keep(struct sim_zone *zone, struct sim_heap *heap, uint32_t *bin, uint32_t first, uint64_t bytes)
{
    if (likely(bin != NULL && heap->hp_cached + bytes <= CACHE_BYTES)) {
        push_bin(zone, bin, first);
        heap->hp_cached += bytes;
        return true;
    }
    heap->hp_punching++;
    sim_unlock(&heap->hp_lock);
    punch_and_lock(zone, heap, first, bytes);
    return false;
}

void sim_heap_give_spans(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count)
{
    if (!keep(zone, heap, &heap->hp_span_bins[count], first, count * SPAN_BYTES))
        return_spans(zone, heap, first, count);
    sim_unlock(&heap->hp_lock);
}

void sim_heap_give_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count)
{
    if (!keep(zone, heap, count < UNIT_BINS ? &heap->hp_unit_bins[count] : NULL, first * SPANS_A_UNIT,
              count * UNIT_BYTES))
        return_units(zone, heap, first, count);
    sim_unlock(&heap->hp_lock);
}

void sim_heap_trim(struct sim_zone *zone, uint32_t index)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    for (uint32_t bin = 1; bin < SPANS_A_UNIT + UNIT_BINS;) {
        bool middle = bin < SPANS_A_UNIT;
        uint32_t count = middle ? bin : bin - SPANS_A_UNIT;
        uint64_t bytes = count * (middle ? SPAN_BYTES : UNIT_BYTES);
        sim_lock(&heap->hp_lock);
        uint32_t first =
            pop_bin(zone, heap, middle ? &heap->hp_span_bins[count] : &heap->hp_unit_bins[count], bytes);
        heap->hp_punching += first != 0;
        sim_unlock(&heap->hp_lock);
        if (first == 0) {
            bin++;
            continue;
        }
        punch_and_lock(zone, heap, first, bytes);
        if (middle)
            return_spans(zone, heap, first, count);
        else
            return_units(zone, heap, first / SPANS_A_UNIT, count);
        sim_unlock(&heap->hp_lock);
    }
}

/* ---- zones ---- */

/* The tables, and how many entries of each belong to one unit. They follow one another in one mapping, in which only
 * used pages are backed by memory. */
#define EACH_TABLE(X)                                                                                                  \
    X(zn_units, 1)                                                                                                     \
    X(zn_spans, SPANS_A_UNIT)                                                                                          \
    X(zn_slots, SPANS_A_UNIT * SLAB_SLOTS)                                                                             \
    X(zn_large, SPANS_A_UNIT)                                                                                          \
    X(zn_span_info, SPANS_A_UNIT)                                                                                      \
    X(zn_unit_info, 1)

static uint64_t tables_size(const struct sim_zone *zone, uint64_t units)
{
    uint64_t bytes = units / 8; /* zn_unit_free */
#define ADD(field, each) bytes += units * (each) * sizeof *zone->field;
    EACH_TABLE(ADD)
#undef ADD
    return bytes;
}

/* Without huge pages: the tables are touched sparsely. */
char *sim_heap_map_tables(struct sim_zone *zone, uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    zone->zn_tables = at;
    zone->zn_tables_bytes = bytes;
    return at;
}

static int map_tables(struct sim_zone *zone, uint64_t units)
{
    char *at = sim_heap_map_tables(zone, tables_size(zone, units));
    if (at == NULL)
        return -1;
#define PLACE(field, each)                                                                                             \
    zone->field = (void *)at;                                                                                          \
    at += units * (each) * sizeof *zone->field;
    EACH_TABLE(PLACE)
#undef PLACE
    zone->zn_unit_free = (void *)at;
    return 0;
}

char *sim_heap_reserve(uint64_t wanted, uint64_t bytes, int protection)
{
    char *raw = mmap((void *)(uintptr_t)wanted, bytes + UNIT_BYTES, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    uint64_t before = -(uint64_t)(uintptr_t)raw % UNIT_BYTES;
    if (before != 0)
        munmap(raw, before);
    if (before != UNIT_BYTES)
        munmap(raw + before + bytes, UNIT_BYTES - before);
    return raw + before;
}

/* Huge pages make copies faster. The child of a fork does not get the mapping, because it may not use it. */
int sim_heap_map_engine(struct sim_zone *zone, uint64_t bytes, char *engine)
{
    zone->zn_file = memfd_create("ascend-device-memory", MFD_CLOEXEC);
    if (zone->zn_file < 0 || sim_output_resize(zone->zn_file, bytes) != 0 ||
        mmap(engine, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, zone->zn_file, 0) ==
            MAP_FAILED)
        return -1;
    madvise(engine, bytes, MADV_HUGEPAGE);
    madvise(engine, bytes, MADV_DONTFORK);
    return 0;
}

bool sim_heap_lay(const struct sim_zone *zone, uint64_t offset, uint64_t bytes, int file, uint64_t file_offset)
{
    char *at = (char *)(uintptr_t)zone->zn_base + zone->zn_engine + offset;
    bool own = file < 0;
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    void *laid = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                      own ? zone->zn_file : file, (off_t)(own ? offset : file_offset));
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    if (laid == MAP_FAILED)
        return false;
    madvise(at, bytes, MADV_HUGEPAGE);
    madvise(at, bytes, MADV_DONTFORK);
    return true;
}

static void close_file(struct sim_zone *zone)
{
    if (zone->zn_file >= 0)
        close(zone->zn_file);
    zone->zn_file = -1;
}

int sim_heap_unreserve(struct sim_zone *zone, uint64_t bytes)
{
    int reason = errno;
    close_file(zone);
    munmap((void *)(uintptr_t)zone->zn_base, bytes);
    errno = reason;
    return -1;
}

/* Opens the zone with heaps of 1 << zn_shift bytes. */
static int open_zone(struct sim_zone *zone, bool split)
{
    uint64_t bytes = (uint64_t)zone->zn_heap_count << zone->zn_shift;
    char *base = sim_heap_reserve(0, split ? 2 * bytes : bytes, split ? PROT_NONE : PROT_READ | PROT_WRITE);
    if (base == NULL)
        return -1;
    zone->zn_base = (uint64_t)(uintptr_t)base;
    zone->zn_engine = split ? (ptrdiff_t)bytes : 0;
    if ((split && sim_heap_map_engine(zone, bytes, base + bytes) != 0) || map_tables(zone, bytes / UNIT_BYTES) != 0)
        return sim_heap_unreserve(zone, split ? 2 * bytes : bytes);
    atomic_store_explicit(&zone->zn_bytes, bytes, memory_order_release);
    return 0;
}

bool sim_heap_leaves_room(uint64_t bytes)
{
    void *probe = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return probe != MAP_FAILED && munmap(probe, 2 * bytes) == 0;
}

void sim_heap_say_smaller(atomic_flag *said, uint64_t wanted, uint64_t bytes, int reason, const char *use,
                          const char *advice)
{
    if (!atomic_flag_test_and_set(said))
        fprintf(stderr,
                "acl simulator: the system refused %" PRIu64 " MiB of address space for %s (%s); using %" PRIu64
                " MiB: larger %s.\n",
                wanted >> 20, use, strerror(reason), bytes >> 20, advice);
}

/* If the address space is limited (ulimit -v, valgrind), opens the zone as large as possible. */
static int open_smaller(struct sim_zone *zone, bool split)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    int reason = errno;
    uint64_t wanted = UINT64_C(1) << zone->zn_shift;
    while (zone->zn_shift-- > SMALLEST_SHIFT) {
        uint64_t bytes = UINT64_C(1) << zone->zn_shift;
        if (!sim_heap_leaves_room(zone->zn_heap_count * bytes * (split ? 2 : 1)) || open_zone(zone, split) != 0)
            continue;
        sim_heap_say_smaller(&said, wanted, bytes, reason, "the memory of a device",
                             "allocations fail with 207001. Raise the limit (ulimit -v), or set ACL_SIM_MEMORY");
        return 0;
    }
    errno = reason;
    return -1;
}

int sim_heap_zone_open(struct sim_zone *zone, uint32_t heaps, uint64_t capacity, bool split)
{
    zone->zn_shift = LEAST_SHIFT;
    while (zone->zn_shift < MOST_SHIFT && UINT64_C(1) << zone->zn_shift < capacity * 4)
        zone->zn_shift++;
    if (heaps > SIM_HEAPS || (uint64_t)heaps << zone->zn_shift > UINT64_C(1) << MOST_SHIFT) {
        errno = ENOMEM;
        return -1;
    }
    zone->zn_heap_count = heaps;
    return open_zone(zone, split) == 0 ? 0 : open_smaller(zone, split);
}

void sim_heap_zone_close(struct sim_zone *zone)
{
    uint64_t bytes = atomic_exchange_explicit(&zone->zn_bytes, 0, memory_order_acq_rel);
    if (bytes == 0)
        return;
    munmap((void *)(uintptr_t)zone->zn_base, bytes + (uint64_t)zone->zn_engine);
    munmap(zone->zn_tables, zone->zn_tables_bytes);
    close_file(zone);
}

void sim_heap_zone_after_fork(struct sim_zone *zone)
{
    close_file(zone);
    atomic_store_explicit(&zone->zn_bytes, 0, memory_order_relaxed);
    for (uint32_t index = 0; index < zone->zn_heap_count; index++)
        memset(&zone->zn_heaps[index], 0, sizeof *zone->zn_heaps);
}

/* ---- heaps ---- */

/* Resets what hp_lock guards. Also called when a heap is opened, because a block may have been freed while it was
 * closing. */
static void empty(struct sim_heap *heap)
{
    heap->hp_cached = 0;
    heap->hp_partial = 0;
    memset(heap->hp_span_bins, 0, sizeof heap->hp_span_bins);
    memset(heap->hp_unit_bins, 0, sizeof heap->hp_unit_bins);
}

void sim_heap_open(struct sim_zone *zone, uint32_t index, uint64_t capacity, uint64_t normal)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    sim_lock(&heap->hp_lock);
    empty(heap);
    heap->hp_count = (uint32_t)((UINT64_C(1) << zone->zn_shift) / UNIT_BYTES);
    heap->hp_first = heap->hp_hint = index * heap->hp_count;
    memset(&zone->zn_unit_free[heap->hp_first / 64], 0xff, heap->hp_count / 8);
    if (index == 0)
        zone->zn_unit_free[0] &= ~UINT64_C(1);
    heap->hp_normal = normal;
    heap->hp_capacity = capacity;
    sim_unlock(&heap->hp_lock);
}

void sim_heap_retake_units(struct sim_zone *zone, struct sim_heap *heap, uint32_t first, uint32_t count)
{
    sim_lock(&heap->hp_lock);
    mark_units(zone, first, count, false);
    sim_unlock(&heap->hp_lock);
}

void sim_heap_drop_pages(const struct sim_zone *zone, const struct sim_extent *kept)
{
    punch(zone, kept->ex_offset, kept->ex_size);
}

/* Releases all pages between two offsets except the kept ones, whose list is not sorted. */
static void punch_between(const struct sim_zone *zone, uint64_t from, uint64_t end, const struct sim_extent *kept)
{
    while (from < end) {
        uint64_t until = end, after = end;
        for (const struct sim_extent *extent = kept; extent != NULL; extent = extent->ex_next)
            if (extent->ex_offset >= from && extent->ex_offset < until) {
                until = extent->ex_offset;
                after = until + extent->ex_size;
            }
        punch(zone, from, until - from);
        from = after;
    }
}

static void clear(void *table, uint64_t bytes, bool whole_pages)
{
    if (whole_pages)
        madvise(table, bytes, MADV_DONTNEED);
    else
        memset(table, 0, bytes);
}

void sim_heap_close(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    for (int class = 0; class < CLASSES; class++)
        sim_lock(&heap->hp_classes[class].cl_lock);
    sim_lock(&heap->hp_lock);
    while (heap->hp_punching != 0) { /* a worker may be trimming; it needs no other lock to finish */
        sim_unlock(&heap->hp_lock);
        sched_yield();
        sim_lock(&heap->hp_lock);
    }
    uint64_t units = heap->hp_count, first = heap->hp_first;
    if (units != 0) { /* zeros mean that no block is allocated */
#define CLEAR(field, each)                                                                                             \
    clear((void *)(zone->field + first * (each)), units * (each) * sizeof *zone->field, zone->zn_shift >= LEAST_SHIFT);
        EACH_TABLE(CLEAR)
#undef CLEAR
        punch_between(zone, first * UNIT_BYTES, (first + units) * UNIT_BYTES, kept);
    }
    heap->hp_capacity = heap->hp_normal = 0;
    heap->hp_count = 0;
    atomic_store_explicit(&heap->hp_used, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->hp_peak, 0, memory_order_relaxed);
    empty(heap);
    sim_unlock(&heap->hp_lock);
    for (int class = CLASSES; class-- > 0;) {
        heap->hp_classes[class].cl_partial = 0;
        atomic_store_explicit(&heap->hp_classes[class].cl_stock, 0, memory_order_relaxed);
        sim_unlock(&heap->hp_classes[class].cl_lock);
    }
}

/* ---- counting ---- */

static bool is_alive(const _Atomic uint64_t *record)
{
    return atomic_load_explicit(record, memory_order_relaxed) != 0;
}

static size_t count_span(const struct sim_zone *zone, uint64_t span)
{
    uint32_t holds = atomic_load_explicit(&zone->zn_spans[span], memory_order_acquire);
    if (holds == SPAN_FREE || holds & SPAN_BLOCK)
        return is_alive(&zone->zn_large[span]); /* only the first span of a middle block has a record */
    size_t count = 0;
    for (uint32_t slot = 0; slot < SLAB_SLOTS; slot++)
        count += is_alive(&zone->zn_slots[span * SLAB_SLOTS + slot]);
    return count;
}

static size_t count_unit(const struct sim_zone *zone, uint64_t unit)
{
    uint32_t holds = atomic_load_explicit(&zone->zn_units[unit], memory_order_acquire);
    uint64_t span = unit * SPANS_A_UNIT;
    if (holds != UNIT_SPANS)
        return holds != UNIT_FREE && is_alive(&zone->zn_large[span]);
    size_t count = 0;
    for (uint32_t i = 0; i < SPANS_A_UNIT; i++)
        count += count_span(zone, span + i);
    return count;
}

size_t sim_heap_zone_count(const struct sim_zone *zone)
{
    size_t count = 0;
    if (atomic_load_explicit(&zone->zn_bytes, memory_order_acquire) == 0)
        return 0;
    for (uint32_t index = 0; index < zone->zn_heap_count; index++) {
        struct sim_heap *heap = &zone->zn_heaps[index];
        sim_lock(&heap->hp_lock);
        uint64_t unit = heap->hp_first, end = unit + heap->hp_count;
        sim_unlock(&heap->hp_lock);
        for (; unit < end; unit++)
            count += count_unit(zone, unit);
    }
    return count;
}
