/* Device memory: allocation, and the set and the copy.
 *
 * Two ranges of addresses are reserved: programs get addresses in the first, which nobody can access. Tasks use the
 * second one, at a constant distance, which maps the pages of a memory file. An address is looked
 * up without a lock: the table of units (2 MiB), that of spans
 * (64 KiB), the size class by a multiplication, and the size of the block, which is 0 when it is
 * free. Small blocks come from slabs of one span, whose free blocks are bits; the others are whole spans or units, and
 * freed ones wait for the next request of the same size, at most CACHE_BYTES of them.
 *
 * Lock order: the lock of a size class, then blocks_lock. */
#include "memory.h"
#include "stream.h"
#include <fcntl.h>
#include <linux/falloc.h>

#define DEVICE_BYTES (UINT64_C(64) << 30)
#define UNIT_BITS 21
#define SPAN_BITS 16
#define UNIT (UINT64_C(1) << UNIT_BITS)
#define SPAN (UINT64_C(1) << SPAN_BITS)
#define GRANULE 512
#define UNITS (DEVICE_BYTES / UNIT)
#define SPANS (DEVICE_BYTES / SPAN)
#define UNIT_SPANS 32
#define SMALL_BYTES 32768       /* the largest block of a slab */
#define MIDDLE_BYTES (UNIT - SPAN) /* the largest block inside a unit */
#define CLASSES 12
#define CACHED_UNITS 64 /* the largest block that waits for the next request, and how many of one size do */
#define CACHE_BYTES (UINT64_C(1) << 30)
#define LIGHT_BYTES 4096 /* the largest set that is a light task */

/* Values of unit_use; higher ones are the block's first unit + UNIT_OF_BLOCK. */
enum { UNIT_FREE, UNIT_SPLIT, UNIT_OF_BLOCK };
/* Values of span_use: 0 free, the class + 1, or this bit and the block's first span. */
#define SPAN_OF_BLOCK 0x80000000u

struct slab {
    uint64_t sb_free[2]; /* a bit for each free block */
    uint32_t sb_next, sb_before; /* slabs of the class that have free blocks */
    uint32_t sb_count;
};

struct bin {
    uint32_t bn_first[CACHED_UNITS], bn_count;
};

static const uint32_t class_bytes[CLASSES] = {512,  1024, 1536,  2048,  3072,  4096,
                                              6144, 8192, 12288, 16384, 21504, 32768};
static uint32_t class_factor[CLASSES]; /* 2^32 / bytes, rounded up: divides an offset inside a slab */
static uint32_t class_blocks[CLASSES]; /* of a slab */
static uint8_t class_of[SMALL_BYTES / GRANULE + 1];
static struct {
    ALONE struct sketch_lock cl_lock;
    uint32_t cl_slab; /* the first slab with free blocks, 0: none */
} classes[CLASSES];

static char *device, *pages; /* the two ranges */
static int file;
static _Atomic uint32_t *unit_use, *span_use;
static _Atomic uint32_t *small_bytes; /* per granule: the bytes of the small block that begins there, 0: none */
static _Atomic uint64_t *block_bytes; /* per span: the bytes of the other block that begins there, 0: none */
static struct slab *slabs;            /* per span */

static ALONE struct sketch_lock blocks_lock; /* guards everything below */
static uint64_t free_units[UNITS / 64];      /* bits */
static uint32_t unit_hint;                   /* no unit below is free */
static uint32_t *free_spans;                 /* per split unit, bits */
static uint32_t *split_units, split_count;   /* units with free spans */
static struct bin unit_bins[CACHED_UNITS + 1], span_bins[UNIT_SPANS + 1];
static uint64_t cached_bytes;

void sketch_memory_open(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *range = mmap(NULL, 2 * DEVICE_BYTES + 2 * UNIT, PROT_NONE, flags, -1, 0);
    device = (char *)(((uintptr_t)range + UNIT - 1) & ~(UNIT - 1));
    pages = device + DEVICE_BYTES;
    file = memfd_create("device", MFD_CLOEXEC);
    flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (range == MAP_FAILED || ftruncate(file, (off_t)DEVICE_BYTES) != 0 ||
        mmap(pages, DEVICE_BYTES, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED)
        abort();
    madvise(pages, DEVICE_BYTES, MADV_HUGEPAGE);
    unit_use = reserve(UNITS * sizeof *unit_use);
    span_use = reserve(SPANS * sizeof *span_use);
    small_bytes = reserve(DEVICE_BYTES / GRANULE * sizeof *small_bytes);
    block_bytes = reserve(SPANS * sizeof *block_bytes);
    slabs = reserve(SPANS * sizeof *slabs);
    free_spans = reserve(UNITS * sizeof *free_spans);
    split_units = reserve(UNITS * sizeof *split_units);
    for (int i = 0; i < CLASSES; i++) {
        class_factor[i] = (uint32_t)((UINT64_C(1) << 32) / class_bytes[i] + 1);
        class_blocks[i] = SPAN / class_bytes[i];
    }
    for (uint32_t granules = 1, class = 0; granules <= SMALL_BYTES / GRANULE; granules++) {
        while (class_bytes[class] < granules * GRANULE)
            class++;
        class_of[granules] = class;
    }
    memset(free_units, 0xff, sizeof free_units);
    free_units[0] &= ~UINT64_C(1); /* 0 means "none" */
}

static void return_pages(uint64_t offset, uint64_t size)
{
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

/* --- Units and spans. The caller holds blocks_lock. The functions return 0 if none is free. */

static uint32_t take_units(uint32_t count)
{
    for (int pass = 0; pass < 2; pass++) {
        uint32_t found = 0;
        for (uint32_t i = pass == 0 ? unit_hint : 0; i < UNITS; i++) {
            if (found == 0 && free_units[i / 64] == 0) {
                i |= 63;
                continue;
            }
            found = (free_units[i / 64] >> (i % 64) & 1) != 0 ? found + 1 : 0;
            if (found < count)
                continue;
            uint32_t first = i - count + 1;
            for (uint32_t unit = first; unit <= i; unit++)
                free_units[unit / 64] &= ~(UINT64_C(1) << (unit % 64));
            unit_hint = i + 1;
            return first;
        }
    }
    return 0;
}

static void give_units(uint32_t first, uint32_t count)
{
    for (uint32_t unit = first; unit < first + count; unit++) {
        free_units[unit / 64] |= UINT64_C(1) << (unit % 64);
        STORE(&unit_use[unit], UNIT_FREE);
    }
    if (first < unit_hint)
        unit_hint = first;
}

/* Takes fewer spans than a unit has, from one unit. */
static uint32_t take_spans(uint32_t count)
{
    uint32_t wanted = (1u << count) - 1;
    for (uint32_t i = split_count; i-- > 0;) {
        uint32_t unit = split_units[i], bits = free_spans[unit];
        for (uint32_t bit = 0; bit + count <= UNIT_SPANS && bits >> bit != 0; bit++) {
            if ((bits >> bit & wanted) != wanted)
                continue;
            free_spans[unit] &= ~(wanted << bit);
            if (free_spans[unit] == 0)
                split_units[i] = split_units[--split_count];
            return unit * UNIT_SPANS + bit;
        }
        if (split_count - i > 8) /* a look at the newest ones only */
            break;
    }
    uint32_t unit = take_units(1);
    if (unit == 0)
        return 0;
    STORE(&unit_use[unit], UNIT_SPLIT);
    free_spans[unit] = ~wanted;
    split_units[split_count++] = unit;
    return unit * UNIT_SPANS;
}

static void give_spans(uint32_t first, uint32_t count)
{
    uint32_t unit = first / UNIT_SPANS;
    if (free_spans[unit] == 0)
        split_units[split_count++] = unit;
    free_spans[unit] |= ((1u << count) - 1) << (first % UNIT_SPANS);
    for (uint32_t span = first; span < first + count; span++)
        STORE(&span_use[span], 0);
}

/* Takes a cached block of that many bytes out of its bin; 0 when the bin is empty. */
static inline uint32_t take_cached(struct bin *bin, uint64_t size)
{
    if (bin->bn_count == 0)
        return 0;
    cached_bytes -= size;
    return bin->bn_first[--bin->bn_count];
}

/* --- Allocation */

static uint32_t new_slab(uint32_t class)
{
    lock(&blocks_lock);
    uint32_t span = take_spans(1);
    unlock(&blocks_lock);
    if (span == 0)
        return 0;
    struct slab *slab = &slabs[span];
    uint32_t blocks = slab->sb_count = class_blocks[class];
    slab->sb_free[0] = blocks >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << blocks) - 1;
    slab->sb_free[1] = blocks >= 128 ? ~UINT64_C(0) : blocks > 64 ? (UINT64_C(1) << (blocks - 64)) - 1 : 0;
    slab->sb_next = slab->sb_before = 0;
    STORE(&span_use[span], class + 1);
    return classes[class].cl_slab = span;
}

static int malloc_small(void **block, size_t size)
{
    uint32_t class = class_of[(size + GRANULE - 1) / GRANULE];
    lock(&classes[class].cl_lock);
    uint32_t span = classes[class].cl_slab;
    if (span == 0)
        span = new_slab(class);
    if (span == 0) {
        unlock(&classes[class].cl_lock);
        return SKETCH_NO_MEMORY;
    }
    struct slab *slab = &slabs[span];
    uint32_t index = slab->sb_free[0] != 0 ? (uint32_t)__builtin_ctzll(slab->sb_free[0])
                                           : 64 + (uint32_t)__builtin_ctzll(slab->sb_free[1]);
    slab->sb_free[index / 64] &= ~(UINT64_C(1) << (index % 64));
    if (--slab->sb_count == 0) {
        classes[class].cl_slab = slab->sb_next;
        if (slab->sb_next != 0)
            slabs[slab->sb_next].sb_before = 0;
        slab->sb_next = 0;
    }
    unlock(&classes[class].cl_lock);
    uint64_t offset = span * SPAN + (uint64_t)index * class_bytes[class];
    STORE(&small_bytes[offset / GRANULE], (uint32_t)size);
    *block = device + offset;
    return SKETCH_OK;
}

int sketch_malloc(void **block, size_t size)
{
    if (sketch_thread.th_context == NULL)
        return SKETCH_NO_CONTEXT;
    if (block == NULL || size == 0)
        return SKETCH_INVALID;
    if (size <= SMALL_BYTES)
        return malloc_small(block, size);
    if (size > DEVICE_BYTES)
        return SKETCH_NO_MEMORY;
    uint32_t first;
    lock(&blocks_lock);
    if (size <= MIDDLE_BYTES) {
        uint32_t count = (uint32_t)((size + SPAN - 1) / SPAN);
        first = take_cached(&span_bins[count], count * SPAN);
        if (first == 0 && (first = take_spans(count)) != 0) {
            for (uint32_t span = first; span < first + count; span++)
                STORE(&span_use[span], SPAN_OF_BLOCK | first);
        }
    } else {
        uint32_t count = (uint32_t)((size + UNIT - 1) / UNIT);
        first = count <= CACHED_UNITS ? take_cached(&unit_bins[count], count * UNIT) : 0;
        if (first == 0 && (first = take_units(count)) != 0) {
            for (uint32_t unit = first; unit < first + count; unit++)
                STORE(&unit_use[unit], first + UNIT_OF_BLOCK);
        }
        first *= UNIT_SPANS;
    }
    if (first != 0)
        STORE(&block_bytes[first], size);
    unlock(&blocks_lock);
    if (first == 0)
        return SKETCH_NO_MEMORY;
    *block = device + first * SPAN;
    return SKETCH_OK;
}

/* Bytes from the offset to the end of its block, whose offset goes to `start`; 0 when no block is there. */
static inline uint64_t bytes_left(uint64_t offset, uint64_t *start)
{
    uint64_t size;
    uint32_t use = LOAD(&unit_use[offset / UNIT]);
    if (likely(use >= UNIT_OF_BLOCK)) {
        *start = (use - UNIT_OF_BLOCK) * UNIT;
        size = LOAD(&block_bytes[*start / SPAN]);
    } else {
        if (use == UNIT_FREE || (use = LOAD(&span_use[offset / SPAN])) == 0)
            return 0;
        if ((use & SPAN_OF_BLOCK) != 0) {
            *start = (use & ~SPAN_OF_BLOCK) * SPAN;
            size = LOAD(&block_bytes[*start / SPAN]);
        } else {
            uint64_t index = (offset % SPAN * class_factor[use - 1]) >> 32;
            *start = (offset & ~(SPAN - 1)) + index * class_bytes[use - 1];
            size = LOAD(&small_bytes[*start / GRANULE]);
        }
    }
    return offset - *start < size ? size - (offset - *start) : 0;
}

static int free_small(uint64_t offset, uint32_t class)
{
    if (atomic_exchange_explicit(&small_bytes[offset / GRANULE], 0, memory_order_acq_rel) == 0)
        return SKETCH_INVALID; /* another thread has freed it */
    uint32_t span = (uint32_t)(offset / SPAN);
    lock(&classes[class].cl_lock);
    struct slab *slab = &slabs[span];
    uint32_t index = (uint32_t)((offset % SPAN * class_factor[class]) >> 32);
    slab->sb_free[index / 64] |= UINT64_C(1) << (index % 64);
    if (slab->sb_count++ == 0) {
        slab->sb_next = classes[class].cl_slab;
        slab->sb_before = 0;
        if (slab->sb_next != 0)
            slabs[slab->sb_next].sb_before = span;
        classes[class].cl_slab = span;
    }
    unlock(&classes[class].cl_lock);
    return SKETCH_OK;
}

int sketch_free(void *block)
{
    if (sketch_thread.th_context == NULL)
        return SKETCH_NO_CONTEXT;
    if (block == NULL)
        return SKETCH_OK;
    uint64_t offset = (uint64_t)((char *)block - device), start;
    if (offset >= DEVICE_BYTES || bytes_left(offset, &start) == 0 || start != offset)
        return SKETCH_INVALID;
    uint32_t span = (uint32_t)(offset / SPAN);
    bool middle = LOAD(&unit_use[offset / UNIT]) == UNIT_SPLIT;
    if (middle) {
        uint32_t use = LOAD(&span_use[span]);
        if ((use & SPAN_OF_BLOCK) == 0)
            return free_small(offset, use - 1);
    }
    uint64_t size = atomic_exchange_explicit(&block_bytes[span], 0, memory_order_acq_rel);
    if (size == 0)
        return SKETCH_INVALID; /* another thread has freed it */
    unsigned bits = middle ? SPAN_BITS : UNIT_BITS; /* a shift, because a division would cost more than all the rest */
    uint32_t count = (uint32_t)((size + (UINT64_C(1) << bits) - 1) >> bits);
    lock(&blocks_lock);
    if (middle || count <= CACHED_UNITS) {
        struct bin *bin = middle ? &span_bins[count] : &unit_bins[count];
        if (bin->bn_count < CACHED_UNITS && cached_bytes + ((uint64_t)count << bits) <= CACHE_BYTES) {
            bin->bn_first[bin->bn_count++] = (uint32_t)(offset >> bits);
            cached_bytes += (uint64_t)count << bits;
            unlock(&blocks_lock);
            return SKETCH_OK;
        }
    }
    unlock(&blocks_lock);
    return_pages(offset, (uint64_t)count << bits);
    lock(&blocks_lock);
    if (middle)
        give_spans(span, count);
    else
        give_units((uint32_t)(offset / UNIT), count);
    unlock(&blocks_lock);
    return SKETCH_OK;
}

/* Empties one of the bins by one block. */
static bool trim_one(struct bin *bins, uint32_t sizes, uint64_t piece, void (*give)(uint32_t, uint32_t))
{
    uint32_t first = 0, count;
    lock(&blocks_lock);
    for (count = 1; count <= sizes && first == 0; count++)
        first = take_cached(&bins[count], count * piece);
    count--;
    unlock(&blocks_lock);
    if (first == 0)
        return false;
    return_pages(first * piece, count * piece);
    lock(&blocks_lock);
    give(first, count);
    unlock(&blocks_lock);
    return true;
}

void sketch_trim(void)
{
    while (trim_one(unit_bins, CACHED_UNITS, UNIT, give_units) || trim_one(span_bins, UNIT_SPANS, SPAN, give_spans))
        ;
}

/* --- Setting and copying */

struct set_argument {
    void *sa_target;
    uint64_t sa_size;
    int sa_value;
};

static void run_set(void *argument)
{
    struct set_argument *set = argument;
    if (likely(set->sa_size == 4)) {
        uint32_t word = 0x01010101u * (uint8_t)set->sa_value;
        memcpy(set->sa_target, &word, sizeof word);
    } else {
        memset(set->sa_target, set->sa_value, set->sa_size);
    }
}

int sketch_set(sketch_stream stream, void *target, int value, size_t size)
{
    static const struct sketch_op light = {run_set, SKETCH_LIGHT}, heavy = {run_set, SKETCH_HEAVY};
    uint64_t offset = (uint64_t)((char *)target - device), start;
    if (unlikely(offset >= DEVICE_BYTES || bytes_left(offset, &start) < size))
        return SKETCH_INVALID;
    struct set_argument argument = {pages + offset, size, value};
    return sketch_launch(stream, size <= LIGHT_BYTES ? &light : &heavy, &argument, sizeof argument);
}

/* Changes an address of the device to the one where its pages are. False: no block has that many bytes there. */
static inline bool find_pages(const char **address, size_t size)
{
    uint64_t offset = (uint64_t)(*address - device), start;
    if (offset >= DEVICE_BYTES)
        return true; /* memory of the host */
    *address = pages + offset;
    return likely(bytes_left(offset, &start) >= size);
}

int sketch_copy(void *target, const void *source, size_t size)
{
    if (unlikely(sketch_thread.th_context == NULL))
        return SKETCH_NO_CONTEXT;
    const char *to = target, *from = source;
    if (!find_pages(&to, size) || !find_pages(&from, size))
        return SKETCH_INVALID;
    if (sketch_thread.th_in_task)
        return SKETCH_IN_TASK;
    struct stream *stream = sketch_streams; /* held meanwhile, so that no task of the default stream runs */
    for (;;) {
        uint64_t word = LOAD(&stream->st_word);
        if ((word & (RUNNING | PARKED)) != 0 || TICKET_OF(word) != LOAD(&stream->st_done)) {
            sketch_wait_until(stream, TICKET_OF(word));
            continue;
        }
        if (!REPLACE_STRONG(&stream->st_word, &word, word | RUNNING))
            continue;
        if (size == 4)
            memcpy((char *)to, from, 4);
        else
            memcpy((char *)to, from, size);
        for (word = LOAD(&stream->st_word); TICKET_OF(word) == LOAD_RELAXED(&stream->st_done);) {
            if (REPLACE(&stream->st_word, &word, word & ~(uint64_t)RUNNING))
                return SKETCH_OK;
        }
        sketch_release_pending(stream);
        return SKETCH_OK;
    }
}
