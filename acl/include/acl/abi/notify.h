/* Notifies (one bit) and counting notifies: streams set them and wait for them, across devices and processes. */

#define ACL_NOTIFY_DEFAULT 0x0U
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x1U
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x2U
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x2U

typedef void *aclrtNotify;
typedef void *aclrtCntNotify;

typedef enum aclrtCntNotifyRecordMode {
    ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
    ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4,
} aclrtCntNotifyRecordMode;

typedef enum aclrtCntNotifyWaitMode {
    ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4,
} aclrtCntNotifyWaitMode;

typedef struct aclrtCntNotifyRecordInfo {
    aclrtCntNotifyRecordMode mode;
    uint32_t value;
} aclrtCntNotifyRecordInfo;

typedef struct aclrtCntNotifyWaitInfo {
    aclrtCntNotifyWaitMode mode;
    uint32_t value;
    uint32_t timeout;
    uint8_t isClear;
    uint8_t rsv[3];
} aclrtCntNotifyWaitInfo;

/** Create a notify on the current device.
 *  rt.create_notify(flag) -> (notify, ret) */
ACL_API(8, 5) aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag);

/** Destroy a notify.
 *  rt.destroy_notify(notify) -> ret */
ACL_API(8, 5) aclError aclrtDestroyNotify(aclrtNotify notify);

/** Queue setting the notify on the stream.
 *  rt.record_notify(notify, stream) -> ret */
ACL_API(8, 5) aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/** Make the stream wait until the notify is set, at most timeout seconds (0: for ever), then clear it.
 *  rt.wait_and_reset_notify(notify, stream, timeout) -> ret @py */
ACL_API(8, 5) aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout);

/** The id of a notify, unique on its device.
 *  rt.get_notify_id(notify) -> (notifyId, ret) */
ACL_API(8, 5) aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId);

/** Clear several notifies synchronously.
 *  rt.notify_batch_reset(notifies:[int]#num) -> ret */
ACL_API(8, 5) aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num);

/** Create a key with which another process can open the notify.
 *  rt.notify_get_export_key(notify, len, flags) -> (key:str#len, ret) @py */
ACL_API(8, 5) aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags);

/** Set the processes that may open an exported notify.
 *  rt.notify_set_import_pid(notify, pid:[int]#num) -> ret */
ACL_API(8, 5) aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num);

/** Set the processes on other servers that may open an exported notify. */
ACL_API(8, 5) aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids, size_t num);

/** Open a notify of another process with its key.
 *  rt.notify_import_by_key(key:str, flags) -> (notify, ret) */
ACL_API(8, 5) aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags);

/** The device address of the hardware synchronisation unit. */
ACL_API(8, 5) aclError aclrtGetHardwareSyncAddr(void **addr);

/** Create a counting notify. */
ACL_API(8, 5) aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag);

/** Destroy a counting notify. */
ACL_API(8, 5) aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);

/** Queue a change of the counter on the stream. */
ACL_API(8, 5) aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
    aclrtCntNotifyRecordInfo *info);

/** Make the stream wait until the counter meets a condition. */
ACL_API(8, 5) aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
    aclrtCntNotifyWaitInfo *info);

/** Queue setting the counter to 0 on the stream. */
ACL_API(8, 5) aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);

/** The id of a counting notify. */
ACL_API(8, 5) aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId);
