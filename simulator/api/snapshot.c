/* Entry points of snapshots: locking, backing up and restoring the device state of a process. */
#include "engine/snapshot.h"
#include "base/config.h"

#define LOCK_LIMIT_MS 60000

static aclError check(int pid, const void *reserved, const char *name)
{
    SIM_ARGUMENT(pid == getpid(), ACL_ERROR_INVALID_PARAM, "pid is %d, expected %d, this process", pid, getpid());
    SIM_ARGUMENT(reserved == NULL, ACL_ERROR_INVALID_PARAM, "%s is %p, expected NULL: it is reserved", name, reserved);
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile <= SIM_PA2, "the %s has no snapshots", soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtSnapShotProcessLock(int pid, void *reserve)
{
    SIM_ENTER();
    SIM_TRY(check(pid, reserve, "reserve"));
    return sim_snapshot_lock(LOCK_LIMIT_MS);
}

aclError aclrtSnapShotProcessUnlock(int pid, void *reserve)
{
    SIM_ENTER();
    SIM_TRY(check(pid, reserve, "reserve"));
    return sim_snapshot_unlock();
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args)
{
    SIM_ENTER();
    SIM_TRY(check(pid, args, "args"));
    return sim_snapshot_backup();
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args)
{
    SIM_ENTER();
    SIM_TRY(check(pid, args, "args"));
    return sim_snapshot_restore();
}
