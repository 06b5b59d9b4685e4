/* The checker "sync": host memory that the program changes while queued copies still use it. */
#ifndef SIM_CHECK_SYNC_H
#define SIM_CHECK_SYNC_H

#include "base/watcher.h"

extern const struct sim_watcher sim_check_sync;
void sim_check_sync_reset(void);
void sim_check_sync_after_fork(void);

#endif
