/* Calling watchers around a task's function. They see the argument as the function left it. There is no state and no
 * lock. */
#include "watch.h"
#include "base/clock.h"
#include "base/site.h"

void sim_watch_submit(const struct sim_stream *stream, uint64_t ticket, struct sim_task *task)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire);
    task->ta_site = sim_site_with_line(task->ta_site);
    for (const struct sim_watcher *watcher; (watcher = sim_watcher_next(&on)) != NULL;)
        if (watcher->wt_submit != NULL)
            watcher->wt_submit(stream, ticket, task);
}

void sim_watch_footprints(const struct sim_op *op, const void *argument, sim_visit_footprint *visit, void *context)
{
    static const int64_t stride = 1;
    if (op->op_footprints != NULL) {
        op->op_footprints(argument, visit, context);
        return;
    }
    size_t count;
    const struct sim_range *ranges = sim_task_ranges(op, argument, &count);
    for (size_t i = 0; i < count; i++) {
        const int64_t size = (int64_t)ranges[i].rg_size;
        const struct sim_footprint footprint = {.fp_address = ranges[i].rg_address, .fp_element = 1, .fp_rank = 1,
                                                .fp_dims = &size, .fp_strides = &stride,
                                                .fp_birth = ranges[i].rg_birth, .fp_read = !ranges[i].rg_write,
                                                .fp_write = ranges[i].rg_write};
        visit(&footprint, context);
    }
}

sim_failure_func *_Atomic sim_watch_on_failure;

SIM_RARE void sim_watch_tell_failure(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    sim_failure_func *tell = atomic_load_explicit(&sim_watch_on_failure, memory_order_acquire);
    if (tell != NULL)
        tell(run, task, argument);
}

/* Asks the watchers whether the task may run: 0, SIM_PARK or SIM_FAILED. */
static aclError ask(uint32_t on, struct sim_run *run, const struct sim_task *task)
{
    aclError code = ACL_SUCCESS;
    uint32_t rest = on;
    for (const struct sim_watcher *watcher; code == ACL_SUCCESS && (watcher = sim_watcher_next(&rest)) != NULL;)
        if (watcher->wt_delay != NULL)
            code = watcher->wt_delay(run, task);
    rest = on;
    for (const struct sim_watcher *watcher; code == ACL_SUCCESS && (watcher = sim_watcher_next(&rest)) != NULL;)
        if (watcher->wt_fail != NULL)
            code = watcher->wt_fail(run, task);
    return code;
}

aclError sim_watch_run(struct sim_run *run, const struct sim_task *task, void *argument)
{
    uint32_t on = atomic_load_explicit(&sim_watchers, memory_order_acquire), rest = on;
    const struct sim_watcher *watcher;
    bool timed = false;
    aclError asked = ask(on, run, task);
    if (unlikely(asked == SIM_PARK))
        return SIM_PARK;
    while ((watcher = sim_watcher_next(&rest)) != NULL) {
        timed |= watcher->wt_finish != NULL || watcher->wt_time != NULL;
        if (watcher->wt_start != NULL)
            watcher->wt_start(run, task, argument);
    }
    struct sim_watched watched = {.wd_start = timed ? sim_clock_now() : 0};
    watched.wd_code = asked == ACL_SUCCESS ? task->ta_op->op_run(run, argument) : asked;
    if (unlikely(asked != ACL_SUCCESS)) {
        sim_watch_tell_failure(run, task, argument);
        if (task->ta_op->op_drop != NULL)
            task->ta_op->op_drop(argument);
    }
    watched.wd_end = timed ? sim_clock_now() : 0;
    for (rest = watched.wd_code == SIM_PARK ? on : 0; (watcher = sim_watcher_next(&rest)) != NULL;)
        if (watcher->wt_park != NULL)
            watcher->wt_park(run, task, argument);
    uint32_t told = timed && watched.wd_code != SIM_PARK ? on : 0;
    for (rest = told; (watcher = sim_watcher_next(&rest)) != NULL;)
        if (watcher->wt_time != NULL)
            watcher->wt_time(run, task, argument, &watched);
    for (rest = told; (watcher = sim_watcher_next(&rest)) != NULL;)
        if (watcher->wt_finish != NULL)
            watcher->wt_finish(run, task, argument, &watched);
    return watched.wd_code;
}
