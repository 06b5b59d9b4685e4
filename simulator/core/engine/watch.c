/* A watcher is called on the thread that runs the task, outside every lock of the engine, and finds the task's argument
 * as its function left it. A task that parks has not run yet: it is told of when its function comes to an end. */
#include "watch.h"
#include "base/clock.h"
#include "observe/dump.h"
#include "observe/prof.h"

_Atomic uint32_t sim_watchers;

void sim_watch(enum sim_watcher watcher, bool on)
{
    if (on)
        atomic_fetch_or(&sim_watchers, watcher);
    else
        atomic_fetch_and(&sim_watchers, ~(uint32_t)watcher);
}

aclError sim_watch_run(struct sim_run *run, const struct sim_task *task, void *argument)
{
    uint32_t watchers = atomic_load_explicit(&sim_watchers, memory_order_acquire);
    if (watchers & SIM_WATCH_DATA)
        sim_dump_task(run, task, argument, ACLSIM_IN);
    uint64_t start = sim_clock_now();
    aclError code = task->ta_op->op_run(run, argument);
    uint64_t end = sim_clock_now();
    if (code == SIM_PARK)
        return code;
    if (watchers & SIM_WATCH_TIME)
        sim_prof_task(run, task, start, end);
    if ((watchers & SIM_WATCH_DATA) && code == ACL_SUCCESS)
        sim_dump_task(run, task, argument, ACLSIM_OUT);
    if ((watchers & SIM_WATCH_FAILURES) && (code > ACL_SUCCESS || code == SIM_FAILED))
        sim_dump_failure(run, task, argument);
    return code;
}
