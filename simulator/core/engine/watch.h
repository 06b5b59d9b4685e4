/* Watchers of tasks (base/watcher.h): telling them that a task is queued, and calling them around its function. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "base/watcher.h"
#include "task.h"

/* Tells them of a task that is about to become the newest of the stream, whose lock is held, and completes its site. */
void sim_watch_submit(const struct sim_stream *stream, uint64_t ticket, struct sim_task *task) __attribute__((cold));

/* Visits what a task touches: its footprints, or each of its ranges as a row of bytes. */
void sim_watch_footprints(const struct sim_op *op, const void *argument, sim_visit_footprint *visit, void *context);

/* Runs the function of a task, with the watchers called around it. */
aclError sim_watch_run(struct sim_run *run, const struct sim_task *task, void *argument);

/* What learns of each operator that fails, with its arguments, before the failure is kept. One room sets it; NULL: none
 * does. */
typedef void sim_failure_func(const struct sim_run *run, const struct sim_task *task, const void *argument);
extern sim_failure_func *_Atomic sim_watch_on_failure;
void sim_watch_tell_failure(const struct sim_run *run, const struct sim_task *task, const void *argument);

#endif
