/* Watchers of tasks: parts above the engine that measure or copy what runs. While none is on, the engine reads one word
 * before each task, and does nothing else. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "engine.h"

struct sim_watched {
    uint64_t wd_start, wd_end; /* sim_clock_now */
    aclError wd_code;
};

struct sim_watcher {
    /* Before the task's function runs; NULL: not needed. */
    void (*wt_start)(const struct sim_run *run, const struct sim_task *task, const void *argument);
    /* After it has run, with its times and its code; not for a task that parks, until its function comes to an end. */
    void (*wt_finish)(const struct sim_run *run, const struct sim_task *task, const void *argument,
                      const struct sim_watched *watched);
};

/* Switches a watcher, which lives for ever, on or off. At most SIM_WATCHERS different ones. */
#define SIM_WATCHERS 8
void sim_watch_set(const struct sim_watcher *watcher, bool on);
void sim_watch_after_fork(void);

#endif
