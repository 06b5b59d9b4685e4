/* The address space of mappings: a zone without heaps, of which only records and their units are kept. The caller
 * (vmm.c) ensures that mappings do not overlap.
 *
 * The area owns a sparse file, its scratch memory. The engine's side is one mapping of that file. Pages of other files
 * are mapped over it, and removed by mapping the scratch memory over them, so that every address always has pages.
 *
 * Mappings are changed with sim_vmm_lock (vmm.c) held; look-ups take no lock. */
#include "heap_inner.h"
#include <errno.h>
#include <sys/mman.h>

#ifdef SIM_TSAN
#define AREA_BYTES (UINT64_C(1) << 40) /* the sanitizer leaves no more room */
#else
#define AREA_BYTES (UINT64_C(32) << 40)
#endif
#define ENOUGH_BYTES (UINT64_C(1) << 36) /* a smaller area than this is reported on stderr */
#define LEAST_BYTES (UINT64_C(1) << 26)

struct sim_zone sim_heap_area = {.zn_file = -1};

static int map_tables(struct sim_zone *zone, uint64_t units)
{
    char *at = sim_heap_map_tables(
        zone, units * (SPANS_A_UNIT * sizeof *zone->zn_large + sizeof *zone->zn_units + sizeof *zone->zn_owners));
    if (at == NULL)
        return -1;
    zone->zn_large = (void *)at;
    zone->zn_units = (void *)(at += units * SPANS_A_UNIT * sizeof *zone->zn_large);
    zone->zn_owners = (void *)(at + units * sizeof *zone->zn_units);
    return 0;
}

static char *engine_of(const struct sim_zone *zone, uint64_t address)
{
    return (char *)(uintptr_t)(address + (uint64_t)zone->zn_engine);
}

static int open_area(struct sim_zone *zone, uint64_t bytes)
{
    char *base = sim_heap_reserve(SIM_AREA_FIRST, 2 * bytes, PROT_NONE);
    if (base == NULL)
        return -1;
    zone->zn_base = (uint64_t)(uintptr_t)base;
    zone->zn_engine = (ptrdiff_t)bytes;
    if (sim_heap_map_engine(zone, bytes, base + bytes) != 0 || map_tables(zone, bytes / UNIT_BYTES) != 0)
        return sim_heap_unreserve(zone, 2 * bytes);
    madvise(base + bytes, bytes, MADV_DONTDUMP); /* keeps terabytes of empty pages out of core dumps */
    atomic_store_explicit(&zone->zn_bytes, bytes, memory_order_release);
    return 0;
}

/* If the address space is limited (ulimit -v, valgrind), the area is as large as possible while leaving the program
 * at least as much. */
int sim_heap_area_open(struct sim_zone *zone)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (zone->zn_bytes != 0 || open_area(zone, AREA_BYTES) == 0)
        return 0;
    int reason = errno;
    for (uint64_t bytes = AREA_BYTES / 2; bytes >= LEAST_BYTES; bytes /= 2) {
        if (!sim_heap_leaves_room(2 * bytes) || open_area(zone, bytes) != 0)
            continue;
        if (bytes < ENOUGH_BYTES)
            sim_heap_say_smaller(&said, ENOUGH_BYTES, bytes, reason, "reserved addresses (aclrtReserveMemAddress)",
                                 "reservations fail with 207001. Raise the limit (ulimit -v)");
        return 0;
    }
    errno = reason;
    return -1;
}

/* Maps pages of a file, or scratch memory again (-1), for the engine. */
static int lay(const struct sim_zone *zone, uint64_t address, uint64_t size, int file, uint64_t offset)
{
    if (!sim_heap_lay(zone, address - zone->zn_base, size, file, offset))
        return -1;
    madvise(engine_of(zone, address), size, MADV_DONTDUMP);
    return 0;
}

int sim_heap_area_map(const struct sim_zone *zone, uint64_t address, uint64_t size, int file, uint64_t offset)
{
    return lay(zone, address, size, file, offset);
}

int sim_heap_area_show(uint64_t address, uint64_t size, int file, uint64_t offset)
{
    void *at = mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                    file, (off_t)offset);
    return at == MAP_FAILED ? -1 : 0;
}

int sim_heap_area_unmap(const struct sim_zone *zone, uint64_t address, uint64_t size, bool shown)
{
    if (shown && mmap((void *)(uintptr_t)address, size, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        return -1;
    return lay(zone, address, size, -1, 0);
}

void sim_heap_area_clean(const struct sim_zone *zone, uint64_t address, uint64_t size)
{
    madvise(engine_of(zone, address), size, MADV_REMOVE);
}

static void mark(struct sim_zone *zone, uint64_t first, uint64_t size, uint32_t what)
{
    for (uint64_t unit = first; unit < first + size / UNIT_BYTES; unit++)
        atomic_store_explicit(&zone->zn_units[unit], what, memory_order_release);
}

void sim_heap_area_publish(struct sim_zone *zone, const struct sim_block *block)
{
    uint64_t first = (block->bk_start - zone->zn_base) / UNIT_BYTES;
    uint64_t record = record_make(block->bk_size, 0, block->bk_page, block->bk_birth);
    atomic_store_explicit(&zone->zn_owners[first], (int8_t)block->bk_device, memory_order_relaxed);
    mark(zone, first, block->bk_size, UNIT_BLOCK + (uint32_t)first);
    atomic_store_explicit(&zone->zn_large[first * SPANS_A_UNIT], record, memory_order_release);
}

void sim_heap_area_withdraw(struct sim_zone *zone, uint64_t address, uint64_t size)
{
    uint64_t first = (address - zone->zn_base) / UNIT_BYTES;
    atomic_store_explicit(&zone->zn_large[first * SPANS_A_UNIT], 0, memory_order_release);
    mark(zone, first, size, UNIT_FREE);
}
