/* Watchers of tasks: who measures or copies what runs. The engine asks one word before each task; while it is 0 nothing
 * else happens. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "engine.h"

enum sim_watcher {
    SIM_WATCH_TIME = 1, /* prof.h: start and end of each task */
};

void sim_watch(enum sim_watcher watcher, bool on);

#endif
