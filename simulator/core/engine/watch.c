/* Watchers of tasks: switching them on and off, and calling them around a task's function.
 *
 * They are called on the thread that runs the task, outside every lock of the engine, and see the argument as the
 * function left it. A watcher keeps its place in `watchers` for ever, because a task that began while it was on may
 * still call it; its bit in sim_watchers says whether it is on. `lock` guards adding a watcher. */
#include "watch.h"
#include "base/clock.h"

_Atomic uint32_t sim_watchers;
static struct sim_lock lock; /* guards adding to `watchers` */
static const struct sim_watcher *_Atomic watchers[SIM_WATCHERS];

void sim_watch_set(const struct sim_watcher *watcher, bool on)
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

void sim_watch_after_fork(void)
{
    sim_lock_renew(&lock);
    atomic_store(&sim_watchers, 0);
}

static const struct sim_watcher *next(uint32_t *on)
{
    if (*on == 0)
        return NULL;
    const struct sim_watcher *watcher = atomic_load_explicit(&watchers[__builtin_ctz(*on)], memory_order_relaxed);
    *on &= *on - 1;
    return watcher;
}

aclError sim_watch_run(struct sim_run *run, const struct sim_task *task, void *argument)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire), rest = on;
    const struct sim_watcher *watcher;
    while ((watcher = next(&rest)) != NULL)
        if (watcher->wt_start != NULL)
            watcher->wt_start(run, task, argument);
    struct sim_watched watched = {.wd_start = sim_clock_now()};
    watched.wd_code = task->ta_op->op_run(run, argument);
    watched.wd_end = sim_clock_now();
    for (rest = watched.wd_code == SIM_PARK ? 0 : on; (watcher = next(&rest)) != NULL;)
        watcher->wt_finish(run, task, argument, &watched);
    return watched.wd_code;
}
