/* Snapshots of this process's device state. */

typedef enum aclrtProcessState {
    ACL_RT_PROCESS_STATE_RUNNING = 0,
    ACL_RT_PROCESS_STATE_LOCKED = 1,
} aclrtProcessState;

typedef struct aclrtSnapShotBackupArgs {
    uint32_t backupFlags;
    char reserved[60];
} aclrtSnapShotBackupArgs;

typedef struct aclrtSnapShotRestoreArgs {
    uint32_t restoreFlags;
    char reserved[60];
} aclrtSnapShotRestoreArgs;

/** Stop new work, as the first step of a snapshot. */
ACL_API(8, 5) aclError aclrtSnapShotProcessLock(int pid, void *reserve);

/** Save the device state of the locked process. */
ACL_API(8, 5) aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args);

/** Restore the saved device state. */
ACL_API(8, 5) aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args);

/** Resume work after a snapshot. */
ACL_API(8, 5) aclError aclrtSnapShotProcessUnlock(int pid, void *reserve);
