/* Sites: the table of sites that have a line of the program.
 *
 * An entry is a pair of an address and a line, and never changes or ends once its number is published, so that a site
 * can be kept anywhere. Numbers have the top bit set, which no address of a process has. Pairs are found again with a
 * hash table, under `lock`; each thread remembers the pair that it looked up last. If the table is full, further sites
 * are plain addresses. */
#include "site.h"
#include "lock.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ENTRIES (1u << 18)
#define BUCKETS (ENTRIES * 2)
#define NUMBER_BIT (UINT64_C(1) << 63)

struct entry {
    const void *en_address;
    const char *en_line;
};

static struct sim_lock lock; /* guards the following */
static struct entry *entries;
static uint32_t *buckets; /* numbers of entries; 0: free */
static _Atomic uint32_t count; /* numbers given out; 0 is not used */

static bool open_table(void)
{
    size_t bytes = ENTRIES * sizeof *entries + BUCKETS * sizeof *buckets;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    entries = memory;
    buckets = (uint32_t *)(entries + ENTRIES);
    return true;
}

/* With the lock held: the number of a pair, or 0 if the table is full. */
static uint32_t number_of(const void *address, const char *line)
{
    if (entries == NULL && !open_table())
        return 0;
    uint64_t mixed = ((uintptr_t)address ^ (uintptr_t)line << 7) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> 32) % BUCKETS;
    for (; buckets[at] != 0; at = (at + 1) % BUCKETS)
        if (entries[buckets[at]].en_address == address && entries[buckets[at]].en_line == line)
            return buckets[at];
    uint32_t number = atomic_load_explicit(&count, memory_order_relaxed) + 1;
    if (number == ENTRIES)
        return 0;
    entries[number] = (struct entry){address, line};
    buckets[at] = number;
    atomic_store_explicit(&count, number, memory_order_release); /* publishes the entry */
    return number;
}

void *sim_site_with_line(const void *address)
{
    static _Thread_local struct entry last;
    static _Thread_local uint32_t last_number;
    const char *line = sim_thread.th_line;
    if (line == NULL) /* a traced variant has called, on behalf of the program */
        return (void *)(uintptr_t)(sim_thread.th_call_site != NULL ? sim_thread.th_call_site : address);
    if (last.en_address != address || last.en_line != line) {
        sim_lock(&lock);
        last_number = number_of(address, line);
        sim_unlock(&lock);
        last = (struct entry){address, line};
    }
    return (void *)(uintptr_t)(last_number == 0 ? (uintptr_t)address : NUMBER_BIT | last_number);
}

static uintptr_t library_start, library_bytes; /* of this library in memory; written before main */

/* Called for each library of the process; returns 1 for this one, which ends the search. */
static int find_library(struct dl_phdr_info *library, size_t size, void *unused)
{
    uintptr_t low = UINTPTR_MAX, high = 0, here = (uintptr_t)&library_start;
    (void)size;
    (void)unused;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        uintptr_t start = library->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = end > high ? end : high;
    }
    if (here < low || here >= high)
        return 0;
    library_start = low;
    library_bytes = high - low;
    return 1;
}

__attribute__((constructor)) static void note_library(void)
{
    dl_iterate_phdr(find_library, NULL);
}

#define FRAMES 24 /* of this library, at most, between a public function and sim_site_of_call */

void *sim_site_of_call(void)
{
    void *frames[FRAMES];
    if (sim_thread.th_line != NULL) /* reports show the line alone, and walking the stack takes microseconds */
        return sim_site_with_line(NULL);
    int depth = backtrace(frames, FRAMES), at = 0;
    while (at < depth && (uintptr_t)frames[at] - library_start < library_bytes)
        at++;
    return at < depth ? frames[at] : NULL;
}

static const struct entry *entry_of(const void *site)
{
    uint64_t number = (uintptr_t)site & ~NUMBER_BIT;
    bool known = ((uintptr_t)site & NUMBER_BIT) != 0 && number != 0 &&
                 number <= atomic_load_explicit(&count, memory_order_acquire);
    return known ? &entries[number] : NULL;
}

const char *sim_site_line(const void *site)
{
    const struct entry *entry = entry_of(site);
    return entry != NULL ? entry->en_line : NULL;
}

const void *sim_site_address(const void *site)
{
    const struct entry *entry = entry_of(site);
    return entry != NULL ? entry->en_address : site;
}

const char *sim_site_print(const void *site, char text[SIM_SITE_TEXT])
{
    const char *line = sim_site_line(site);
    Dl_info found;
    if (line != NULL)
        snprintf(text, SIM_SITE_TEXT, "%s", line);
    else if (site == NULL || dladdr(site, &found) == 0 || found.dli_fname == NULL)
        snprintf(text, SIM_SITE_TEXT, "%p", site);
    else {
        const char *slash = strrchr(found.dli_fname, '/'), *file = slash != NULL ? slash + 1 : found.dli_fname;
        bool named = found.dli_sname != NULL;
        const char *start = named ? found.dli_saddr : found.dli_fbase;
        snprintf(text, SIM_SITE_TEXT, "%p (%s+%#zx%s%s)", site, named ? found.dli_sname : file,
                 (size_t)((const char *)site - start), named ? " in " : "", named ? file : "");
    }
    return text;
}

void sim_site_after_fork(void)
{
    sim_lock_renew(&lock);
}
