/* Allocation ids, and the ring of the most recent freed-by records. Both are of the whole process, and need no lock. */
#include "base/site.h"
#include "base/watcher.h"
#include "heap.h"

#define DEATHS 65536u

/* Threads take allocation ids in batches of BIRTHS_DEALT, so that they rarely contend for the counter. */
#define BIRTHS_DEALT 256u
static _Atomic uint32_t hands;
static _Thread_local uint32_t next_birth;

/* The most recent freed-by records, by allocation id. Entries are overwritten without a lock: a reader that finds
 * the same id before and after reading the other fields has a consistent entry. */
static struct {
    _Atomic uint32_t birth, thread;
    _Atomic(const void *) site;
} deaths[DEATHS];

uint32_t sim_heap_birth(void)
{
    if (unlikely(next_birth % BIRTHS_DEALT == 0)) {
        uint32_t hand = atomic_fetch_add_explicit(&hands, 1, memory_order_relaxed) * BIRTHS_DEALT & SIM_BIRTHS;
        next_birth = hand + 1; /* a batch's first id is unused: 0 means none, and an empty batch */
    }
    return next_birth++ & SIM_BIRTHS;
}

void sim_heap_bury(uint32_t birth, const void *site, uint32_t thread)
{
    uint32_t index = birth % DEATHS;
    if (sim_watcher_any()) {
        site = sim_site_with_line(site);
        sim_watcher_free(birth, site);
    }
    atomic_store_explicit(&deaths[index].birth, 0, memory_order_relaxed);
    atomic_store_explicit(&deaths[index].site, site, memory_order_release);
    atomic_store_explicit(&deaths[index].thread, thread, memory_order_release);
    atomic_store_explicit(&deaths[index].birth, birth, memory_order_release);
}

bool sim_heap_death(uint32_t birth, struct sim_death *death)
{
    uint32_t index = birth % DEATHS;
    if (atomic_load_explicit(&deaths[index].birth, memory_order_acquire) != birth)
        return false;
    death->dt_site = atomic_load_explicit(&deaths[index].site, memory_order_acquire);
    death->dt_thread = atomic_load_explicit(&deaths[index].thread, memory_order_acquire);
    return atomic_load_explicit(&deaths[index].birth, memory_order_relaxed) == birth;
}
