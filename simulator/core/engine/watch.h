/* Watchers of tasks: who measures or copies what runs. The engine asks one word before each task; while it is 0 nothing
 * else happens. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "engine.h"

enum sim_watcher {
    SIM_WATCH_TIME = 1,     /* prof.h: start and end of each task */
    SIM_WATCH_DATA = 2,     /* dump.h: what operators read and write */
    SIM_WATCH_FAILURES = 4, /* dump.h: the same of those that fail */
};

void sim_watch(enum sim_watcher watcher, bool on);

#endif
