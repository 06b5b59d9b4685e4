/* Blocks: finding them, allocating and freeing them, and counting their pages. heap_zone.c provides the address space.
 *
 * Tables. A unit (2 MiB) is free, part of a big block, or cut into spans. A span (64 KiB) is part of a middle block, or
 * a slab of equal small blocks. Each block has one 64-bit record (heap_inner.h), which is 0 exactly while the block is
 * not allocated; it is kept outside user pages and found from any address of the block by at most three loads. A block
 * imported from another process gets spans of its own, or the same slot of a span as in its owner. Only its record is
 * set, so that nothing else of such a span is ever allocated.
 *
 * Ownership. A record is set by the thread that took the block. It is cleared by the one thread that finds it unchanged
 * under the lock (the class lock, or hp_lock for middle and big blocks), which is how a double free is noticed. Freed
 * middle and big blocks keep their pages in bins of exact size, up to CACHE_BYTES per heap; above that the pages are
 * released at once. Free units and spans outside the bins hold no pages.
 *
 * Locking. A size class's lock guards the bits and list links of its slabs; hp_lock guards free units and spans, the
 * bins, and the count of pages. Order: class lock, then hp_lock. Each allocation and each free of a block takes one
 * lock once; only those that move pages or spans between a class and the heap take both. Under them no system call is
 * made, except when a heap is closed. */
#include "base/watcher.h"
#include "heap_inner.h"
#include <errno.h>

/* Pages in use (or in stock), in one word, so that readers without the lock see a state that was true: normal pages in
 * the low 40 bits, huge pages (512 for a giant one) above.
 *
 * hp_normal bytes of the capacity are reserved for normal pages. When they are used up, unused huge pages are split
 * into normal ones, so that small blocks can fill the whole device; normal pages are never merged into huge ones. A
 * split huge page counts as normal until its pages are free again. */
#define NORMAL_BYTES (UINT64_C(1) << 12)
#define HUGE_BYTES UNIT_BYTES
#define GIANT_BYTES (UINT64_C(1) << 30)
#define STOCK_PAGES 64u
#define NORMAL_BITS 40
#define NORMAL_MASK ((UINT64_C(1) << NORMAL_BITS) - 1)

/* The reciprocal, scaled by 2^32, divides offsets inside a span by the bytes. */
#define SIZE_CLASS(bytes) {(bytes), UINT32_MAX / (bytes) + 1, SPAN_BYTES / (bytes)}
static const struct size_class {
    uint32_t sc_bytes, sc_reciprocal, sc_slots;
} size_classes[CLASSES] = {
    SIZE_CLASS(512),   SIZE_CLASS(1024),  SIZE_CLASS(1536),  SIZE_CLASS(2048), SIZE_CLASS(2560), SIZE_CLASS(3072),
    SIZE_CLASS(4096),  SIZE_CLASS(4608),  SIZE_CLASS(6144),  SIZE_CLASS(8192), SIZE_CLASS(8704), SIZE_CLASS(10752),
    SIZE_CLASS(12800), SIZE_CLASS(16384), SIZE_CLASS(21504), SIZE_CLASS(32768)};

static uint32_t class_of(uint64_t size)
{
    static const uint8_t table[65] = {0,  0,  1,  2,  3,  4,  5,  6,  6,  7,  8,  8,  8,  9,  9,  9,  9,
                                      10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 14,
                                      14, 14, 14, 14, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15,
                                      15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    return table[(size + 511) / 512];
}

/* The slot that an offset inside a span lies in. */
static uint32_t slot_of(uint32_t class, uint32_t offset)
{
    return (uint32_t)((uint64_t)offset * size_classes[class].sc_reciprocal >> 32);
}

/* ---- finding ---- */

/* The record of the block that covers `offset`, and the block's start. NULL if there cannot be a block. */
static _Atomic uint64_t *record_at(const struct sim_zone *zone, uint64_t offset, uint64_t *start)
{
    uint32_t unit = atomic_load_explicit(&zone->zn_units[offset / UNIT_BYTES], memory_order_acquire);
    if (unit >= UNIT_BLOCK) {
        *start = (uint64_t)(unit - UNIT_BLOCK) * UNIT_BYTES;
        return &zone->zn_large[*start / SPAN_BYTES];
    }
    if (unit == UNIT_FREE)
        return NULL;
    uint32_t index = (uint32_t)(offset / SPAN_BYTES);
    uint32_t span = atomic_load_explicit(&zone->zn_spans[index], memory_order_acquire);
    if (span & SPAN_BLOCK) {
        *start = (uint64_t)(span & ~SPAN_BLOCK) * SPAN_BYTES;
        return &zone->zn_large[*start / SPAN_BYTES];
    }
    if (span == SPAN_FREE)
        return NULL;
    uint32_t class = span - SPAN_SLAB, slot = slot_of(class, (uint32_t)(offset % SPAN_BYTES));
    *start = (uint64_t)index * SPAN_BYTES + (uint64_t)slot * size_classes[class].sc_bytes;
    return &zone->zn_slots[(size_t)index * SLAB_SLOTS + slot];
}

bool sim_heap_zone_find(const struct sim_zone *zone, const void *address, struct sim_block *block)
{
    return sim_heap_zone_contains(zone, address) && sim_heap_zone_find_inside(zone, address, block);
}

bool sim_heap_zone_find_inside(const struct sim_zone *zone, const void *address, struct sim_block *block)
{
    uint64_t offset = (uint64_t)(uintptr_t)address - zone->zn_base, start;
    const _Atomic uint64_t *record = record_at(zone, offset, &start);
    if (record == NULL)
        return false;
    uint64_t word = atomic_load_explicit(record, memory_order_acquire);
    if (word == 0 || offset - start >= record_size(word))
        return false;
    block->bk_start = zone->zn_base + start;
    block->bk_size = record_size(word);
    block->bk_requested = block->bk_size - record_slack(word);
    block->bk_birth = sim_block_birth(word);
    if (unlikely(zone->zn_owners != NULL))
        block->bk_device = atomic_load_explicit(&zone->zn_owners[start / UNIT_BYTES], memory_order_relaxed);
    else
        block->bk_device = zone != &sim_heap_zone_of_host ? (int32_t)(offset >> zone->zn_shift) : -1;
    block->bk_page = record_page(word);
    block->bk_record = record;
    return true;
}

bool sim_heap_zone_cover(const struct sim_zone *zone, const void *address, uint64_t *start)
{
    if (!sim_heap_zone_contains(zone, address) ||
        record_at(zone, (uint64_t)(uintptr_t)address - zone->zn_base, start) == NULL)
        return false;
    *start += zone->zn_base;
    return true;
}

/* ---- pages ---- */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t normal_total(const struct sim_heap *heap, uint64_t used)
{
    uint64_t bytes = round_up((used & NORMAL_MASK) * NORMAL_BYTES, HUGE_BYTES);
    if (bytes <= heap->hp_normal)
        return heap->hp_normal;
    return bytes < heap->hp_capacity ? bytes : heap->hp_capacity;
}

static uint64_t huge_used(uint64_t used)
{
    return (used >> NORMAL_BITS) * HUGE_BYTES;
}

/* What a block adds to hp_used. */
static uint64_t pages_of(uint64_t size, enum sim_page page)
{
    if (page == SIM_PAGE_NORMAL)
        return round_up(size, NORMAL_BYTES) / NORMAL_BYTES;
    return round_up(size, page == SIM_PAGE_HUGE ? HUGE_BYTES : GIANT_BYTES) / HUGE_BYTES << NORMAL_BITS;
}

static bool fits(const struct sim_heap *heap, uint64_t used, enum sim_page page)
{
    return huge_used(used) + (page == SIM_PAGE_NORMAL ? (used & NORMAL_MASK) * NORMAL_BYTES
                                                      : normal_total(heap, used)) <= heap->hp_capacity;
}

static uint64_t bytes_used(uint64_t used)
{
    return huge_used(used) + (used & NORMAL_MASK) * NORMAL_BYTES;
}

/* Counts pages of a block; returns false if they exceed the capacity. hp_lock is held, as for the next function. */
static bool charge(struct sim_heap *heap, uint64_t pages, enum sim_page page)
{
    uint64_t used = atomic_load_explicit(&heap->hp_used, memory_order_relaxed) + pages;
    if (unlikely(!fits(heap, used, page)))
        return false;
    atomic_store_explicit(&heap->hp_used, used, memory_order_relaxed);
    if (unlikely(bytes_used(used) > atomic_load_explicit(&heap->hp_peak, memory_order_relaxed)))
        atomic_store_explicit(&heap->hp_peak, bytes_used(used), memory_order_relaxed);
    return true;
}

static void discharge(struct sim_heap *heap, uint64_t pages)
{
    uint64_t used = atomic_load_explicit(&heap->hp_used, memory_order_relaxed);
    atomic_store_explicit(&heap->hp_used, used - pages, memory_order_relaxed);
}

/* The same for threads that hold a class lock or none. */
SIM_RARE static bool lock_and_charge(struct sim_heap *heap, uint64_t pages, enum sim_page page)
{
    sim_lock(&heap->hp_lock);
    bool charged = charge(heap, pages, page);
    sim_unlock(&heap->hp_lock);
    return charged;
}

SIM_RARE static void lock_and_discharge(struct sim_heap *heap, uint64_t pages)
{
    sim_lock(&heap->hp_lock);
    discharge(heap, pages);
    sim_unlock(&heap->hp_lock);
}

/* Small blocks in normal pages are the frequent case: their class charges pages in advance, so that most allocations
 * touch only the class. Pages in stock count as free. The class's lock is held. */
static void set_stock(struct sim_class *class, uint64_t pages)
{
    atomic_store_explicit(&class->cl_stock, pages, memory_order_relaxed);
}

static bool draw(struct sim_heap *heap, struct sim_class *class, uint64_t pages)
{
    uint64_t stock = atomic_load_explicit(&class->cl_stock, memory_order_relaxed);
    if (unlikely(stock < pages)) {
        uint64_t buy = STOCK_PAGES;
        if (!lock_and_charge(heap, buy, SIM_PAGE_NORMAL) && !lock_and_charge(heap, buy = pages, SIM_PAGE_NORMAL))
            return false;
        stock += buy;
    }
    set_stock(class, stock - pages);
    return true;
}

static void put_back(struct sim_heap *heap, struct sim_class *class, uint64_t pages)
{
    uint64_t stock = atomic_load_explicit(&class->cl_stock, memory_order_relaxed) + pages;
    if (unlikely(stock > 2 * STOCK_PAGES)) {
        lock_and_discharge(heap, STOCK_PAGES);
        stock -= STOCK_PAGES;
    }
    set_stock(class, stock);
}

/* Releases the stocks of all classes, when the heap seems to be full. */
static void sell_stocks(struct sim_heap *heap)
{
    for (int number = 0; number < CLASSES; number++) {
        struct sim_class *class = &heap->hp_classes[number];
        sim_lock(&class->cl_lock);
        lock_and_discharge(heap, atomic_load_explicit(&class->cl_stock, memory_order_relaxed));
        set_stock(class, 0);
        sim_unlock(&class->cl_lock);
    }
}

/* hp_used without the pages in stock. */
static uint64_t used_by_blocks(const struct sim_heap *heap)
{
    uint64_t used = atomic_load_explicit(&heap->hp_used, memory_order_relaxed), stock = 0;
    for (int number = 0; number < CLASSES; number++)
        stock += atomic_load_explicit(&heap->hp_classes[number].cl_stock, memory_order_relaxed);
    return used - (stock < (used & NORMAL_MASK) ? stock : used & NORMAL_MASK); /* other threads may be moving pages */
}

struct sim_usage sim_heap_usage(const struct sim_zone *zone, uint32_t index)
{
    const struct sim_heap *heap = &zone->zn_heaps[index];
    uint64_t now = bytes_used(used_by_blocks(heap));
    uint64_t peak = atomic_load_explicit(&heap->hp_peak, memory_order_relaxed);
    return (struct sim_usage){now, peak > now ? peak : now};
}

struct sim_pages sim_heap_pages(const struct sim_zone *zone, uint32_t index, enum sim_page page)
{
    const struct sim_heap *heap = &zone->zn_heaps[index];
    uint64_t used = used_by_blocks(heap);
    uint64_t normal = normal_total(heap, used);
    if (page == SIM_PAGE_NORMAL) {
        uint64_t taken = (used & NORMAL_MASK) * NORMAL_BYTES;
        return (struct sim_pages){normal, normal > taken ? normal - taken : 0};
    }
    uint64_t total = heap->hp_capacity - normal, taken = huge_used(used);
    struct sim_pages pages = {total, total > taken ? total - taken : 0};
    if (page == SIM_PAGE_GIANT) {
        pages.pg_total -= pages.pg_total % GIANT_BYTES;
        pages.pg_free -= pages.pg_free % GIANT_BYTES;
    }
    return pages;
}

/* ---- small blocks ---- */

static void list_slab(struct sim_zone *zone, struct sim_class *class, uint32_t span)
{
    struct sim_span_info *info = &zone->zn_span_info[span];
    info->si_before = 0;
    info->si_after = class->cl_partial;
    if (class->cl_partial != 0)
        zone->zn_span_info[class->cl_partial].si_before = span;
    class->cl_partial = span;
}

static void unlist_slab(struct sim_zone *zone, struct sim_class *class, const struct sim_span_info *info)
{
    if (info->si_after != 0)
        zone->zn_span_info[info->si_after].si_before = info->si_before;
    if (info->si_before != 0)
        zone->zn_span_info[info->si_before].si_after = info->si_after;
    else
        class->cl_partial = info->si_after;
}

/* Makes a slab of a free span; returns false if there is none. The class's lock is held. */
SIM_RARE static bool add_slab(struct sim_zone *zone, struct sim_heap *heap, uint32_t class)
{
    sim_lock(&heap->hp_lock);
    uint32_t span = sim_heap_take_spans(zone, heap, 1), slots = size_classes[class].sc_slots;
    sim_unlock(&heap->hp_lock);
    if (span == 0)
        return false;
    struct sim_span_info *info = &zone->zn_span_info[span];
    info->si_free = slots;
    info->si_bits[0] = slots >= 64 ? UINT64_MAX : (UINT64_C(1) << slots) - 1;
    info->si_bits[1] = slots == 128 ? UINT64_MAX : 0;
    atomic_store_explicit(&zone->zn_spans[span], SPAN_SLAB + class, memory_order_release);
    list_slab(zone, &heap->hp_classes[class], span);
    return true;
}

/* Takes a slot of the class, whose lock is held; returns NULL if there is no address space for another slab. */
static _Atomic uint64_t *take_slot(struct sim_zone *zone, struct sim_heap *heap, uint32_t number, uint64_t *offset)
{
    struct sim_class *class = &heap->hp_classes[number];
    if (unlikely(class->cl_partial == 0 && !add_slab(zone, heap, number)))
        return NULL;
    uint32_t span = class->cl_partial;
    struct sim_span_info *info = &zone->zn_span_info[span];
    uint32_t half = info->si_bits[0] == 0, slot = (uint32_t)__builtin_ctzll(info->si_bits[half]) + half * 64;
    info->si_bits[half] &= info->si_bits[half] - 1;
    if (--info->si_free == 0)
        unlist_slab(zone, class, info);
    *offset = (uint64_t)span * SPAN_BYTES + (uint64_t)slot * size_classes[number].sc_bytes;
    return &zone->zn_slots[(size_t)span * SLAB_SLOTS + slot];
}

static _Atomic uint64_t *take_small(struct sim_zone *zone, struct sim_heap *heap, uint64_t size, enum sim_page page,
                                    uint64_t *offset)
{
    uint32_t number = class_of(size);
    uint64_t pages = pages_of(size, page);
    struct sim_class *class = &heap->hp_classes[number];
    _Atomic uint64_t *record = NULL;
    bool normal = page == SIM_PAGE_NORMAL;
    sim_lock(&class->cl_lock);
    if (likely(normal ? draw(heap, class, pages) : lock_and_charge(heap, pages, page))) {
        record = take_slot(zone, heap, number, offset);
        if (unlikely(record == NULL && normal))
            put_back(heap, class, pages);
        else if (unlikely(record == NULL))
            lock_and_discharge(heap, pages);
    }
    sim_unlock(&class->cl_lock);
    return record;
}

/* Frees the block that `word` describes, unless another thread has freed it. An empty slab is released, unless it is
 * the class's only slab with room, which will be needed again. */
static bool give_small(struct sim_zone *zone, struct sim_heap *heap, uint64_t offset, _Atomic uint64_t *record,
                       uint64_t word)
{
    uint32_t span = (uint32_t)(offset / SPAN_BYTES);
    uint32_t number = class_of(record_size(word));
    uint32_t slot = slot_of(number, (uint32_t)(offset % SPAN_BYTES));
    struct sim_class *class = &heap->hp_classes[number];
    struct sim_span_info *info = &zone->zn_span_info[span];
    sim_lock(&class->cl_lock);
    if (unlikely(atomic_load_explicit(record, memory_order_relaxed) != word)) {
        sim_unlock(&class->cl_lock);
        return false;
    }
    atomic_store_explicit(record, 0, memory_order_release);
    uint64_t pages = pages_of(record_size(word), record_page(word));
    if (likely(record_page(word) == SIM_PAGE_NORMAL))
        put_back(heap, class, pages);
    else
        lock_and_discharge(heap, pages);
    info->si_bits[slot / 64] |= UINT64_C(1) << slot % 64;
    if (info->si_free++ == 0)
        list_slab(zone, class, span);
    bool empty = info->si_free == size_classes[number].sc_slots && (info->si_before != 0 || info->si_after != 0);
    if (unlikely(empty)) {
        unlist_slab(zone, class, info);
        atomic_store_explicit(&zone->zn_spans[span], SPAN_BLOCK | span, memory_order_release);
    }
    sim_unlock(&class->cl_lock);
    if (unlikely(empty)) {
        sim_lock(&heap->hp_lock);
        sim_heap_give_spans(zone, heap, span, 1);
    }
    return true;
}

/* ---- middle and big blocks ---- */

/* Addresses for a middle or a big block of whole spans or units; returns the number of its first span, or 0. hp_lock is
 * held; sim_heap_give_spans and _units release it. */
static uint32_t take_extent(struct sim_zone *zone, struct sim_heap *heap, uint64_t bytes)
{
    return bytes <= MIDDLE_BYTES ? sim_heap_take_spans(zone, heap, (uint32_t)(bytes / SPAN_BYTES))
                                 : sim_heap_take_units(zone, heap, (uint32_t)(bytes / UNIT_BYTES)) * SPANS_A_UNIT;
}

static void give_extent(struct sim_zone *zone, struct sim_heap *heap, uint32_t span, uint64_t bytes)
{
    if (bytes <= MIDDLE_BYTES)
        sim_heap_give_spans(zone, heap, span, (uint32_t)(bytes / SPAN_BYTES));
    else
        sim_heap_give_units(zone, heap, span / SPANS_A_UNIT, (uint32_t)(bytes / UNIT_BYTES));
}

static uint64_t extent_of(uint64_t size)
{
    return size <= MIDDLE_BYTES ? round_up(size, SPAN_BYTES) : round_up(size, UNIT_BYTES);
}

static _Atomic uint64_t *take_large(struct sim_zone *zone, struct sim_heap *heap, uint64_t size, enum sim_page page,
                                    uint64_t *offset)
{
    uint64_t pages = pages_of(size, page);
    uint32_t span = 0;
    sim_lock(&heap->hp_lock);
    if (likely(charge(heap, pages, page))) {
        span = take_extent(zone, heap, extent_of(size));
        if (unlikely(span == 0))
            discharge(heap, pages);
    }
    sim_unlock(&heap->hp_lock);
    *offset = (uint64_t)span * SPAN_BYTES;
    return span != 0 ? &zone->zn_large[span] : NULL;
}

static bool give_large(struct sim_zone *zone, struct sim_heap *heap, uint64_t offset, _Atomic uint64_t *record,
                       uint64_t word)
{
    uint64_t size = record_size(word);
    sim_lock(&heap->hp_lock);
    if (unlikely(atomic_load_explicit(record, memory_order_relaxed) != word)) {
        sim_unlock(&heap->hp_lock);
        return false;
    }
    atomic_store_explicit(record, 0, memory_order_release);
    discharge(heap, pages_of(size, record_page(word)));
    give_extent(zone, heap, (uint32_t)(offset / SPAN_BYTES), extent_of(size));
    return true;
}

/* ---- all blocks ---- */

static _Atomic uint64_t *take(struct sim_zone *zone, struct sim_heap *heap, uint64_t size, enum sim_page page,
                              uint64_t *offset)
{
    return likely(size <= SMALL_BYTES) ? take_small(zone, heap, size, page, offset)
                                       : take_large(zone, heap, size, page, offset);
}

/* Allocates; if that fails, releases stocks and cached blocks of other sizes and tries again. */
static _Atomic uint64_t *take_hard(struct sim_zone *zone, uint32_t index, uint64_t size, enum sim_page page,
                                   uint64_t *offset)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    if (unlikely(size > heap->hp_capacity || size > RECORD_BYTES))
        return NULL;
    _Atomic uint64_t *record = take(zone, heap, size, page, offset);
    if (likely(record != NULL))
        return record;
    sell_stocks(heap);
    sim_heap_trim(zone, index);
    return take(zone, heap, size, page, offset);
}

uint64_t sim_heap_take_pages(struct sim_zone *zone, uint32_t index, uint64_t size, enum sim_page page)
{
    uint64_t offset;
    return take_hard(zone, index, size, page, &offset) != NULL ? offset : 0; /* without a record no look-up finds it */
}

void sim_heap_give_pages(struct sim_zone *zone, uint32_t index, uint64_t offset, uint64_t size, enum sim_page page)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    sim_lock(&heap->hp_lock);
    discharge(heap, pages_of(size, page));
    sim_heap_give_units(zone, heap, (uint32_t)(offset / UNIT_BYTES), (uint32_t)(size / UNIT_BYTES));
}

void sim_heap_retake_pages(struct sim_zone *zone, uint32_t index, const struct sim_extent *kept, enum sim_page page)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    sim_heap_retake_units(zone, heap, (uint32_t)(kept->ex_offset / UNIT_BYTES), (uint32_t)(kept->ex_size / UNIT_BYTES));
    lock_and_charge(heap, pages_of(kept->ex_size, page), page);
}

/* Returns the address, so that the call is the last of its callers, which then keep nothing for later. It is not NULL,
 * and the attribute says so: otherwise each allocation would ask once more, in a third instruction. */
SIM_RARE __attribute__((returns_nonnull)) static void *tell_allocated(const struct sim_zone *zone, uint64_t offset)
{
    struct sim_block block;
    void *address = (void *)(uintptr_t)(zone->zn_base + offset);
    if (sim_heap_zone_find_inside(zone, address, &block))
        sim_watcher_allocate(&block);
    return address;
}

void *sim_heap_allocate(struct sim_zone *zone, uint32_t index, uint64_t requested, uint64_t size, enum sim_page page)
{
    uint64_t offset;
    _Atomic uint64_t *record = take_hard(zone, index, size, page, &offset);
    if (unlikely(record == NULL))
        return NULL;
    atomic_store_explicit(record, record_make(size, size - requested, page, sim_heap_birth()), memory_order_release);
    return sim_watcher_any() ? tell_allocated(zone, offset) : (void *)(uintptr_t)(zone->zn_base + offset);
}

void sim_heap_end(const _Atomic uint64_t *record)
{
    atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)record, 0, memory_order_release);
}

uint32_t sim_heap_begin(const _Atomic uint64_t *record, uint64_t requested, uint64_t size, enum sim_page page)
{
    uint32_t birth = sim_heap_birth();
    atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)record, record_make(size, size - requested, page, birth),
                          memory_order_release);
    return birth;
}

bool sim_heap_release(struct sim_zone *zone, const void *address, const void *site, uint32_t thread)
{
    if (!sim_heap_zone_contains(zone, address))
        return false;
    uint64_t offset = (uint64_t)(uintptr_t)address - zone->zn_base, start, word;
    _Atomic uint64_t *record = record_at(zone, offset, &start);
    if (record == NULL || start != offset || (word = atomic_load_explicit(record, memory_order_acquire)) == 0 ||
        unlikely(record_page(word) == SIM_PAGE_IMPORTED))
        return false;
    sim_heap_bury(sim_block_birth(word), site, thread);
    struct sim_heap *heap = &zone->zn_heaps[offset >> zone->zn_shift];
    return likely(record_size(word) <= SMALL_BYTES) ? give_small(zone, heap, offset, record, word)
                                                    : give_large(zone, heap, offset, record, word);
}

/* ---- blocks of other processes ---- */

void *sim_heap_import(struct sim_zone *zone, uint32_t index, int file, uint64_t offset, uint64_t whole, uint64_t size)
{
    struct sim_heap *heap = &zone->zn_heaps[index];
    uint64_t into = offset % SPAN_BYTES, bytes = extent_of(whole);
    bool small = whole <= SMALL_BYTES;
    uint32_t class = small ? class_of(whole) : 0, slot = small ? slot_of(class, (uint32_t)into) : 0;
    bool fits = whole != 0 && whole <= RECORD_BYTES && size != 0 && size <= whole &&
                into == (uint64_t)slot * (small ? size_classes[class].sc_bytes : 0) &&
                offset <= INT64_MAX - RECORD_BYTES;
    errno = fits ? ENOMEM : EINVAL;
    if (!fits)
        return NULL;
    sim_lock(&heap->hp_lock);
    uint32_t span = take_extent(zone, heap, bytes);
    sim_unlock(&heap->hp_lock);
    if (span == 0)
        return NULL;
    uint64_t start = (uint64_t)span * SPAN_BYTES;
    if (!sim_heap_lay(zone, start, bytes, file, offset - into)) {
        int error = errno;
        sim_lock(&heap->hp_lock);
        give_extent(zone, heap, span, bytes);
        errno = error;
        return NULL;
    }
    if (small)
        atomic_store_explicit(&zone->zn_spans[span], SPAN_SLAB + class, memory_order_release);
    _Atomic uint64_t *record = small ? &zone->zn_slots[(size_t)span * SLAB_SLOTS + slot] : &zone->zn_large[span];
    uint64_t padded = round_up(size, 32);
    atomic_store_explicit(record, record_make(padded, padded - size, SIM_PAGE_IMPORTED, sim_heap_birth()),
                          memory_order_release);
    offset = start + into;
    return sim_watcher_any() ? tell_allocated(zone, offset) : (void *)(uintptr_t)(zone->zn_base + offset);
}

bool sim_heap_part(struct sim_zone *zone, const void *address, uint64_t whole, const void *site, uint32_t thread)
{
    if (!sim_heap_zone_contains(zone, address))
        return false;
    uint64_t offset = (uint64_t)(uintptr_t)address - zone->zn_base, start, bytes = extent_of(whole);
    _Atomic uint64_t *record = record_at(zone, offset, &start);
    uint64_t word = record != NULL ? atomic_load_explicit(record, memory_order_acquire) : 0;
    if (word == 0 || record_page(word) != SIM_PAGE_IMPORTED ||
        !atomic_compare_exchange_strong_explicit(record, &word, 0, memory_order_acq_rel, memory_order_relaxed))
        return false;
    sim_heap_bury(sim_block_birth(word), site, thread);
    uint32_t span = (uint32_t)(offset / SPAN_BYTES);
    if (whole <= SMALL_BYTES)
        atomic_store_explicit(&zone->zn_spans[span], SPAN_BLOCK | span, memory_order_release);
    if (sim_heap_lay(zone, (uint64_t)span * SPAN_BYTES, bytes, -1, 0)) { /* otherwise these addresses stay unused */
        struct sim_heap *heap = &zone->zn_heaps[offset >> zone->zn_shift];
        sim_lock(&heap->hp_lock);
        give_extent(zone, heap, span, bytes);
    }
    return true;
}
