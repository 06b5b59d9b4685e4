/* Watchers of tasks: parts above the engine that measure tasks or copy their data. While none is on, the engine only
 * reads one word before each task. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "engine.h"

struct sim_watched {
    uint64_t wd_start, wd_end; /* sim_clock_now */
    aclError wd_code;
};

struct sim_watcher {
    /* Called before the task's function runs; may be NULL. */
    void (*wt_start)(const struct sim_run *run, const struct sim_task *task, const void *argument);
    /* Called after the function has run, with its times and its code; if the task parks, only after its last call. */
    void (*wt_finish)(const struct sim_run *run, const struct sim_task *task, const void *argument,
                      const struct sim_watched *watched);
};

/* Switches a watcher, which must never be freed, on or off. At most SIM_WATCHERS different ones. */
#define SIM_WATCHERS 8
void sim_watch_set(const struct sim_watcher *watcher, bool on);
void sim_watch_after_fork(void);

#endif
