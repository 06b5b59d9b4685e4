/* Capture and model running instances: recording the work of streams, and replaying and changing the recording. */

#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 1

typedef void *aclrtTaskGrp;
typedef void *aclmdlRI;
typedef void *aclmdlRITask;
typedef void *aclmdlRICondHandle;

typedef enum aclmdlRICaptureMode {
    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2,
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2,
} aclmdlRICaptureStatus;

typedef enum aclmdlRITaskType {
    ACL_MODEL_RI_TASK_DEFAULT = 0,
    ACL_MODEL_RI_TASK_KERNEL = 1,
    ACL_MODEL_RI_TASK_EVENT_RECORD = 2,
    ACL_MODEL_RI_TASK_EVENT_WAIT = 3,
    ACL_MODEL_RI_TASK_EVENT_RESET = 4,
    ACL_MODEL_RI_TASK_VALUE_WRITE = 5,
    ACL_MODEL_RI_TASK_VALUE_WAIT = 6,
} aclmdlRITaskType;

typedef enum aclmdlRICondHandleFlag {
    ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1,
} aclmdlRICondHandleFlag;

typedef enum aclmdlRICondTaskType {
    ACL_MODEL_RI_COND_TYPE_IF = 0,
    ACL_MODEL_RI_COND_TYPE_WHILE = 1,
    ACL_MODEL_RI_COND_TYPE_SWITCH = 2,
} aclmdlRICondTaskType;

typedef struct aclmdlRIKernelTaskParams {
    aclrtFuncHandle funcHandle;
    aclrtLaunchKernelCfg *cfg;
    void *args;
    uint32_t isHostArgs;
    size_t argsSize;
    uint32_t numBlocks;
    uint32_t rsv[10];
} aclmdlRIKernelTaskParams;

typedef struct aclmdlRIEventRecordTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t recordFlag;
} aclmdlRIEventRecordTaskParams;

typedef struct aclmdlRIEventWaitTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t waitFlag;
} aclmdlRIEventWaitTaskParams;

typedef struct aclmdlRIEventResetTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t resetFlag;
} aclmdlRIEventResetTaskParams;

typedef struct aclmdlRIValueWriteTaskParams {
    void *devAddr;
    uint64_t value;
} aclmdlRIValueWriteTaskParams;

typedef struct aclmdlRIValueWaitTaskParams {
    void *devAddr;
    uint64_t value;
    uint32_t flag;
} aclmdlRIValueWaitTaskParams;

typedef struct aclmdlRITaskParams {
    aclmdlRITaskType type;
    uint32_t rsv0[3];
    aclrtTaskGrp taskGrp;
    void *opInfoPtr;
    size_t opInfoSize;
    uint8_t rsv1[32];
    union {
        uint8_t rsv2[128];
        aclmdlRIKernelTaskParams kernelTaskParams;
        aclmdlRIEventRecordTaskParams eventRecordTaskParams;
        aclmdlRIEventWaitTaskParams eventWaitTaskParams;
        aclmdlRIEventResetTaskParams eventResetTaskParams;
        aclmdlRIValueWriteTaskParams valueWriteTaskParams;
        aclmdlRIValueWaitTaskParams valueWaitTaskParams;
    };
} aclmdlRITaskParams;

typedef struct tagAclmdlRICondTaskParams {
    aclmdlRICondHandle handle;
    aclmdlRICondTaskType type;
    uint32_t size;
    aclmdlRI *modelRIArray;
} aclmdlRICondTaskParams;

/** Record later work of the stream instead of running it.
 *  mdl.ri_capture_begin(stream, mode) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/** Record the work of the stream into an existing running instance.
 *  mdl.ri_capture_to_model_ri_begin(stream, modelRI, mode) -> ret @extension */
ACL_API(9, 1) aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode);

/** Query whether the stream is being captured, and into which running instance.
 *  mdl.ri_capture_get_info(stream) -> (status, modelRI, ret) @extension */
ACL_API(8, 1) aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI);

/** End the capture and return the running instance.
 *  mdl.ri_capture_end(stream) -> (modelRI, ret) @extension */
ACL_API(8, 1) aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);

/** Exchange this thread's capture mode for another.
 *  mdl.ri_capture_thread_exchange_mode(mode) -> (=mode, ret) @py @extension */
ACL_API(8, 1) aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode);

/** Open a group of captured tasks that can be updated later.
 *  mdl.ri_capture_task_grp_begin(stream) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/** Close the group of captured tasks and return its handle.
 *  mdl.ri_capture_task_grp_end(stream) -> (handle, ret) @extension */
ACL_API(8, 1) aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle);

/** Use the next tasks on the stream as new versions of a group's tasks.
 *  mdl.ri_capture_task_update_begin(stream, handle) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);

/** End the update of a group's tasks.
 *  mdl.ri_capture_task_update_end(stream) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/** Replay a running instance, and wait at most timeout milliseconds.
 *  mdl.ri_execute(modelRI, timeout) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/** Queue one replay of a running instance on the stream.
 *  mdl.ri_execute_async(modelRI, stream) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/** Stop a running instance.
 *  mdl.ri_abort(modelRI) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRIAbort(aclmdlRI modelRI);

/** Destroy a running instance.
 *  mdl.ri_destroy(modelRI) -> ret @py @extension */
ACL_API(8, 1) aclError aclmdlRIDestroy(aclmdlRI modelRI);

/** Add a function called when the running instance is destroyed.
 *  mdl.ri_destroy_register_callback(modelRI, func:callable, userData:object) -> ret @py @extension */
ACL_API(9, 0) aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData);

/** Remove a function called when the running instance is destroyed.
 *  mdl.ri_destroy_unregister_callback(modelRI, func:callable) -> ret @py @extension */
ACL_API(9, 0) aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func);

/** Start building a running instance without capture.
 *  mdl.ri_build_begin(flag) -> (modelRI, ret) @extension */
ACL_API(8, 5) aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag);

/** Make a stream part of the running instance being built.
 *  mdl.ri_bind_stream(modelRI, stream, flag) -> ret @py @extension */
ACL_API(8, 5) aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag);

/** Mark the end of the running instance on a stream.
 *  mdl.ri_end_task(modelRI, stream) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);

/** Finish building a running instance.
 *  mdl.ri_build_end(modelRI, reserve=NULL) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve);

/** Release a stream from a running instance.
 *  mdl.ri_unbind_stream(modelRI, stream) -> ret @py @extension */
ACL_API(8, 5) aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);

/** Name a running instance.
 *  mdl.ri_set_name(modelRI, name:str) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRISetName(aclmdlRI modelRI, const char *name);

/** The name of a running instance.
 *  mdl.ri_get_name(modelRI, maxLen) -> (name:str, ret) @py @extension */
ACL_API(8, 5) aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name);

/** The id of a running instance.
 *  mdl.ri_get_id(modelRI) -> (modelRIId, ret) @extension */
ACL_API(9, 1) aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId);

/** Deprecated: use aclmdlRIDebugJsonPrint. Print the contents of a running instance.
 *  mdl.ri_debug_print(modelRI) -> ret @extension */
ACL_API(8, 1) aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/** Write the contents of a running instance to a JSON file.
 *  mdl.ri_debug_json_print(modelRI, path:str, flags) -> ret @extension */
ACL_API(8, 5) aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags);

/** The streams of a running instance; NULL asks for their number.
 *  mdl.ri_get_streams(modelRI) -> (streams:[int]#numStreams, ret) @py @extension */
ACL_API(9, 1) aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams);

/** The tasks of one stream of a running instance; NULL asks for their number.
 *  mdl.ri_get_tasks_by_stream(stream) -> (tasks:[int]#numTasks, ret) @py @extension */
ACL_API(9, 1) aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks);

/** The type of a task.
 *  mdl.ri_task_get_type(task) -> (type, ret) @extension */
ACL_API(9, 1) aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type);

/** The position of a task in its stream.
 *  mdl.ri_task_get_seq_id(task) -> (id, ret) @extension */
ACL_API(9, 1) aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id);

/** The parameters of a task.
 *  mdl.ri_task_get_params(task) -> (params:dict, ret) @py @extension */
ACL_API(9, 1) aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params);

/** Change the parameters of a task; takes effect with aclmdlRIUpdate.
 *  mdl.ri_task_set_params(task, params:dict) -> ret @py @extension */
ACL_API(9, 1) aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params);

/** Skip a task in later replays; takes effect with aclmdlRIUpdate.
 *  mdl.ri_task_disable(task) -> ret @extension */
ACL_API(9, 1) aclError aclmdlRITaskDisable(aclmdlRITask task);

/** One launch attribute of a kernel task.
 *  mdl.ri_kernel_task_get_attribute(task, attrId) -> (attrValue:dict, ret) @py @extension */
ACL_API(9, 1) aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
    aclrtLaunchKernelAttrValue *attrValue);

/** Apply the changes of a running instance's tasks to later replays.
 *  mdl.ri_update(modelRI) -> ret @extension */
ACL_API(9, 1) aclError aclmdlRIUpdate(aclmdlRI modelRI);

/** Create the condition of a conditional task.
 *  mdl.ri_cond_handle_create(modelRI, defaultLaunchValue, flag) -> (handle, ret) @extension */
ACL_API(9, 1) aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
    aclmdlRICondHandleFlag flag, aclmdlRICondHandle *handle);

/** The device address of a condition's value.
 *  mdl.ri_cond_handle_get_cond_ptr(handle) -> (ptr, ret) @extension */
ACL_API(9, 1) aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr);

/** Queue a task that replays other running instances, depending on its condition.
 *  mdl.ri_add_cond_task(params:dict, stream, flags) -> (=params:dict, ret) @py @extension */
ACL_API(9, 1) aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags);
