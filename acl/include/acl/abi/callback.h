/* Calls from the library into the program: in stream order, on state changes, on failures. */

typedef struct rtExceptionInfo aclrtExceptionInfo;
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void *args);

typedef enum aclrtDeviceTaskAbortStage {
    ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
    ACL_RT_DEVICE_TASK_ABORT_POST = 1,
} aclrtDeviceTaskAbortStage;

typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage, uint32_t timeout,
    void *args);

typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

typedef enum aclrtDeviceState {
    ACL_RT_DEVICE_STATE_SET_PRE = 0,
    ACL_RT_DEVICE_STATE_SET_POST = 1,
    ACL_RT_DEVICE_STATE_RESET_PRE = 2,
    ACL_RT_DEVICE_STATE_RESET_POST = 3,
} aclrtDeviceState;

typedef enum aclrtSnapShotStage {
    ACL_RT_SNAPSHOT_LOCK_PRE = 0,
    ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
    ACL_RT_SNAPSHOT_BACKUP_POST = 2,
    ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
    ACL_RT_SNAPSHOT_RESTORE_POST = 4,
    ACL_RT_SNAPSHOT_UNLOCK_POST = 5,
} aclrtSnapShotStage;

typedef enum aclrtStreamState {
    ACL_RT_STREAM_STATE_CREATE_POST = 1,
    ACL_RT_STREAM_STATE_DESTROY_PRE = 2,
} aclrtStreamState;

typedef enum aclRegisterCallbackType {
    ACL_REG_TYPE_ACL_MODEL = 0,
    ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
    ACL_REG_TYPE_ACL_OP_CBLAS = 2,
    ACL_REG_TYPE_ACL_OP_COMPILER = 3,
    ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
    ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
    ACL_REG_TYPE_ACL_DVPP = 6,
    ACL_REG_TYPE_ACL_RETR = 7,
    ACL_REG_TYPE_OTHER = 65535,
} aclRegisterCallbackType;

typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *exceptionInfo);
typedef void (*aclrtHostFunc)(void *args);
typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo *exceptionInfo, void *userData);
typedef void (*aclrtDeviceStateCallback)(int32_t deviceId, aclrtDeviceState state, void *args);
typedef void (*aclrtStreamStateCallback)(aclrtStream stream, aclrtStreamState state, void *args);
typedef aclError (*aclInitCallbackFunc)(const char *configStr, size_t len, void *userData);
typedef aclError (*aclFinalizeCallbackFunc)(void *userData);

/** Let the given thread run the callbacks of a stream.
 *  rt.subscribe_report(threadId, stream) -> ret */
ACL_API(8, 1) aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/** Undo aclrtSubscribeReport.
 *  rt.unsubscribe_report(threadId, stream) -> ret */
ACL_API(8, 1) aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/** Run the callbacks that wait for this thread, waiting at most timeout milliseconds (-1: for ever) for one.
 *  rt.process_report(timeout) -> ret */
ACL_API(8, 1) aclError aclrtProcessReport(int32_t timeout);

/** Queue a callback on the stream; blockType decides whether later work waits for its end.
 *  rt.launch_callback(fn:callable, userData:object, blockType, stream) -> ret @py */
ACL_API(8, 1) aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
    aclrtStream stream);

/** Queue a host function on the stream; later work waits for its end. It needs no subscription.
 *  rt.launch_host_func(stream, fn:callable, args:object) -> ret @py @extension */
ACL_API(8, 5) aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/** Let the given thread run the host functions of a stream. */
ACL_API(8, 1) aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/** Undo aclrtSubscribeHostFunc. */
ACL_API(8, 1) aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/** Run the host functions that wait for this thread, waiting at most timeout milliseconds for one. */
ACL_API(8, 1) aclError aclrtProcessHostFunc(int32_t timeout);

/** Deprecated: use aclrtExceptionInfoCallbackRegister. Set the function that is
 *  called when a task fails; NULL removes it.
 *  rt.set_exception_info_callback([callback:callable]) -> ret @py */
ACL_API(8, 1) aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/** Add a function that is called when a task fails. */
ACL_API(9, 2) aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/** Remove a function that is called when a task fails. */
ACL_API(9, 2) aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/** The id of the failed task.
 *  rt.get_task_id_from_exception_info(info) -> value */
ACL_API(8, 1) uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);

/** The id of the failed task's stream.
 *  rt.get_stream_id_from_exception_info(info) -> value */
ACL_API(8, 1) uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);

/** The id of the thread that submitted the failed task.
 *  rt.get_thread_id_from_exception_info(info) -> value */
ACL_API(8, 1) uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);

/** The id of the device on which the task failed.
 *  rt.get_device_id_from_exception_info(info) -> value */
ACL_API(8, 1) uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);

/** The error code of the failed task.
 *  rt.get_error_code_from_exception_info(info) -> value */
ACL_API(8, 1) uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);

/** The arguments of the failed kernel, in device memory. */
ACL_API(9, 0) aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **devArgsPtr,
    uint32_t *devArgsLen);

/** The kernel that failed. */
ACL_API(9, 0) aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *func);

/** Set the function that is called when a kernel of one loaded binary fails. */
ACL_API(9, 0) aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback,
    void *userData);

/** The id of the task that this thread submitted last.
 *  rt.get_thread_last_task_id() -> (taskId, ret) */
ACL_API(8, 1) aclError aclrtGetThreadLastTaskId(uint32_t *taskId);

/** Add a function that aclInit calls for a component. */
ACL_API(8, 5) aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
    void *userData);

/** Remove a function that aclInit calls. */
ACL_API(8, 5) aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc);

/** Add a function that aclFinalize calls for a component. */
ACL_API(8, 5) aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
    void *userData);

/** Remove a function that aclFinalize calls. */
ACL_API(8, 5) aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc);

/** Add, under a name, a function that is called when a stream is created or destroyed; NULL removes it. */
ACL_API(8, 5) aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args);

/** Add, under a name, a function that is called when a device is set or reset; NULL removes it. */
ACL_API(8, 5) aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback, void *args);

/** Add, under a name, a function that is called when device work is aborted; NULL removes it. */
ACL_API(8, 5) aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback,
    void *args);

/** Add a function called at a stage of process snapshots. */
ACL_API(9, 0) aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback,
    void *args);

/** Remove a function called at a stage of process snapshots. */
ACL_API(9, 0) aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback);
