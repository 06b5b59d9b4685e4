/* Watchers: the table of those that were ever on, and telling them of memory and handles. engine/watch.c tells them of
 * tasks.
 *
 * A watcher keeps its place in `watchers` for ever, because a task that began while it was on may still call it; its
 * bit in sim_watchers says whether it is on. engine/snapshot.c writes SIM_LOCKED there, which no watcher has. `lock`
 * guards adding a watcher. */
#include "watcher.h"
#include "lock.h"
#include "site.h"

_Atomic uint32_t sim_watchers;
static struct sim_lock lock; /* guards adding to `watchers` */
static const struct sim_watcher *_Atomic watchers[SIM_WATCHERS];

void sim_watcher_set(const struct sim_watcher *watcher, bool on)
{
    uint32_t place = 0;
    sim_lock(&lock);
    while (atomic_load_explicit(&watchers[place], memory_order_relaxed) != watcher &&
           atomic_load_explicit(&watchers[place], memory_order_relaxed) != NULL)
        place++;
    atomic_store_explicit(&watchers[place], watcher, memory_order_relaxed); /* setting the bit publishes it */
    if (on)
        atomic_fetch_or(&sim_watchers, 1u << place);
    else
        atomic_fetch_and(&sim_watchers, ~(1u << place));
    sim_unlock(&lock);
}

bool sim_watcher_is_on(const struct sim_watcher *watcher)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire);
    for (const struct sim_watcher *each; (each = sim_watcher_next(&on)) != NULL;)
        if (each == watcher)
            return true;
    return false;
}

void sim_watcher_after_fork(void)
{
    sim_lock_renew(&lock);
    atomic_store(&sim_watchers, 0);
}

const struct sim_watcher *sim_watcher_next(uint32_t *on)
{
    *on &= ~SIM_LOCKED;
    if (*on == 0)
        return NULL;
    const struct sim_watcher *watcher = atomic_load_explicit(&watchers[__builtin_ctz(*on)], memory_order_relaxed);
    *on &= *on - 1;
    return watcher;
}

#define TELL(function, ...)                                                                                            \
    do {                                                                                                               \
        uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire);                                       \
        for (const struct sim_watcher *watcher; (watcher = sim_watcher_next(&on)) != NULL;)                            \
            if (watcher->function != NULL)                                                                             \
                watcher->function(__VA_ARGS__);                                                                        \
    } while (0)

void sim_watcher_allocate(const struct sim_block *block)
{
    const void *site = sim_site_of_call();
    TELL(wt_allocate, block, site);
}

void sim_watcher_free(uint32_t birth, const void *site)
{
    TELL(wt_free, birth, site);
}

void sim_watcher_free_queued(uint32_t birth)
{
    TELL(wt_free_queued, birth);
}

void sim_watcher_refuse(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range)
{
    TELL(wt_refuse, run, task, range);
}

void sim_watcher_missing(const void *address, uint64_t size)
{
    const void *site = sim_site_of_call();
    TELL(wt_missing, address, size, site);
}

void sim_watcher_invalid_free(const void *address, const void *site)
{
    site = sim_site_with_line(site);
    TELL(wt_invalid_free, address, site);
}

void sim_watcher_direction(const void *dst, const void *src, aclrtMemcpyKind kind)
{
    const void *site = sim_site_of_call();
    TELL(wt_direction, dst, src, kind, site);
}

void sim_watcher_tensor(const void *address)
{
    const void *site = sim_site_of_call();
    TELL(wt_tensor, address, site);
}

void sim_watcher_buffer(const struct sim_buffer_use *use)
{
    const void *site = sim_site_of_call();
    TELL(wt_buffer, use, site);
}

void sim_watcher_access(const struct sim_range *ranges, size_t count)
{
    const void *site = sim_site_of_call();
    TELL(wt_access, ranges, count, site);
}

void sim_watcher_copy(const struct sim_footprint *from, const struct sim_footprint *to)
{
    const void *site = sim_site_of_call();
    TELL(wt_copy, from, to, site);
}

void sim_watcher_expose(uint32_t birth)
{
    TELL(wt_expose, birth);
}

void sim_watcher_know(uint64_t record)
{
    TELL(wt_know, record);
}

void sim_watcher_sleep(struct sim_gate *gate, uint64_t target, bool ends, const _Atomic uint32_t *woken)
{
    TELL(wt_sleep, gate, target, ends, woken);
}

void sim_watcher_wake(struct sim_gate *gate, uint64_t target)
{
    TELL(wt_wake, gate, target);
}

uint64_t sim_watcher_next_look(void)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire);
    uint64_t next = UINT64_MAX;
    for (const struct sim_watcher *watcher; (watcher = sim_watcher_next(&on)) != NULL;) {
        uint64_t own = watcher->wt_next_look != NULL ? watcher->wt_next_look() : next;
        next = own < next ? own : next;
    }
    return next;
}

int32_t sim_watcher_phase(const struct sim_row *row, aclrtStream stream)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire);
    int32_t code = 0;
    for (const struct sim_watcher *watcher; code == 0 && (watcher = sim_watcher_next(&on)) != NULL;)
        if (watcher->wt_phase != NULL)
            code = watcher->wt_phase(row, stream);
    return code;
}

void sim_watcher_operator(const struct sim_row *row, const void *values, size_t count, uint64_t start, int32_t code)
{
    TELL(wt_operator, row, values, count, start, code);
}

void sim_watcher_capture(uint64_t instance, const struct sim_stream *stream)
{
    TELL(wt_capture, instance, stream);
}

void sim_watcher_callback(const struct sim_stream *stream, bool ends, bool blocks)
{
    TELL(wt_callback, stream, ends, blocks);
}

void sim_watcher_segment(const struct sim_instance *instance, const struct sim_segment *done, uint32_t choice,
                         const struct sim_segment *next)
{
    TELL(wt_segment, instance, done, choice, next);
}

void sim_watcher_create(const struct sim_table *table, uint64_t handle)
{
    TELL(wt_create, table, handle);
}

void sim_watcher_destroy(const struct sim_table *table, uint32_t index)
{
    TELL(wt_destroy, table, index);
}
