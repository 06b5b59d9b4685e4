/* Snapshots of the process: its calls are held back while its device state is saved and restored. */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "base/fail.h"

/* The steps of a snapshot. They return 507906 to 507909 in the wrong state, and 507912 when a callback fails. Locking
 * waits until the work submitted before is done; after `limit` milliseconds it returns 507905 and locks nothing. */
aclError sim_snapshot_lock(int32_t limit);
aclError sim_snapshot_backup(void);
aclError sim_snapshot_restore(void);
aclError sim_snapshot_unlock(void);

/* Waits until the process is unlocked (sim_runtime_pass). */
aclError sim_snapshot_wait(void);

void sim_snapshot_reset(void); /* aclsimReset: unlocks the process */
void sim_snapshot_after_fork(void);

#endif
