/* Snapshots of the process: its calls are held back while its device state is saved and brought back. */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "base/fail.h"

/* 507906 to 507909 in the wrong state, 507912 when a callback fails. Locking waits until the work submitted so far is
 * done, at most some milliseconds: 507905, and then nothing is locked. */
aclError sim_snapshot_lock(int32_t limit);
aclError sim_snapshot_backup(void);
aclError sim_snapshot_restore(void);
aclError sim_snapshot_unlock(void);

/* Waits until the process is unlocked (sim_runtime_pass). */
aclError sim_snapshot_wait(void);

void sim_snapshot_reset(void); /* aclsimReset: lets everybody go on */
void sim_snapshot_after_fork(void);

#endif
