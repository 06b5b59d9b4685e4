/* Streams: ordered queues of work on a device. */

#define ACL_STREAM_FAST_LAUNCH 0x1U
#define ACL_STREAM_FAST_SYNC 0x2U
#define ACL_CONTINUE_ON_FAILURE 0
#define ACL_STOP_ON_FAILURE 1
#define ACL_STREAM_PERSISTENT 0x4U
#define ACL_STREAM_HUGE 0x8U
#define ACL_STREAM_CPU_SCHEDULE 0x10U
#define ACL_STREAM_DEVICE_USE_ONLY 0x20U

typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 65535,
} aclrtStreamStatus;

typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3,
} aclrtStreamConfigAttr;

typedef enum aclrtStreamAttr {
    ACL_STREAM_ATTR_FAILURE_MODE = 1,
    ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
    ACL_STREAM_ATTR_PRIORITY = 5,
} aclrtStreamAttr;

typedef struct aclrtStreamConfigHandle {
    void *workptr;
    size_t workSize;
    size_t flag;
    uint32_t priority;
} aclrtStreamConfigHandle;

typedef union aclrtStreamAttrValue {
    uint64_t failureMode;
    uint32_t overflowSwitch;
    uint32_t userCustomTag;
    uint32_t cacheOpInfoSwitch;
    uint32_t streamPriority;
    uint32_t reserve[4];
} aclrtStreamAttrValue;

/** Create a stream in the current context.
 *  rt.create_stream() -> (stream, ret) */
ACL_API(8, 1) aclError aclrtCreateStream(aclrtStream *stream);

/** Create a stream with a priority (0 is the highest) and ACL_STREAM_* flags.
 *  rt.create_stream_with_config(priority, flag) -> (stream, ret) */
ACL_API(8, 1) aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag);

/** Create a stream as a configuration describes it. */
ACL_API(8, 1) aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle);

/** Create a stream configuration with default values. */
ACL_API(8, 1) aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);

/** Destroy a stream configuration. */
ACL_API(8, 1) aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);

/** Set one attribute of a stream configuration. */
ACL_API(8, 1) aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
    const void *attrValue, size_t valueSize);

/** Wait for the stream's work and destroy the stream.
 *  rt.destroy_stream(stream) -> ret */
ACL_API(8, 1) aclError aclrtDestroyStream(aclrtStream stream);

/** Discard the stream's work and destroy the stream.
 *  rt.destroy_stream_force(stream) -> ret */
ACL_API(8, 1) aclError aclrtDestroyStreamForce(aclrtStream stream);

/** Wait until all work queued on the stream is done.
 *  rt.synchronize_stream(stream) -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeStream(aclrtStream stream);

/** Wait for the stream's work, at most timeout milliseconds (-1: for ever).
 *  rt.synchronize_stream_with_timeout(stream, timeout) -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/** Query, without waiting, whether the stream's work is done.
 *  rt.stream_query(stream) -> (status, ret) */
ACL_API(8, 1) aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

/** The id of a stream.
 *  rt.stream_get_id(stream) -> (streamId, ret) */
ACL_API(8, 1) aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);

/** The priority of a stream. */
ACL_API(8, 5) aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);

/** The flags that a stream was created with. */
ACL_API(8, 5) aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);

/** Number of streams that can still be created on the current device.
 *  rt.get_stream_available_num() -> (streamCount, ret) */
ACL_API(8, 5) aclError aclrtGetStreamAvailableNum(uint32_t *streamCount);

/** The lowest and the highest stream priority of the current device.
 *  rt.device_get_stream_priority_range() -> (leastPriority, greatestPriority, ret) */
ACL_API(8, 5) aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority);

/** The default stream of the current context, which NULL stands for.
 *  rt.ctx_get_current_default_stream() -> (stream, ret) */
ACL_API(8, 5) aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);

/** Choose whether the stream continues or stops after a failed task.
 *  rt.set_stream_failure_mode(stream, mode) -> ret */
ACL_API(8, 1) aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/** Set one attribute of a stream.
 *  rt.set_stream_attribute(stream, stmAttrType, value:dict) -> ret @py */
ACL_API(8, 5) aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
    aclrtStreamAttrValue *value);

/** Read one attribute of a stream.
 *  rt.get_stream_attribute(stream, stmAttrType) -> (value:dict, ret) @py */
ACL_API(8, 5) aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
    aclrtStreamAttrValue *value);

/** Stop the task that runs on the stream; queued tasks stay. */
ACL_API(8, 5) aclError aclrtStreamStop(aclrtStream stream);

/** Remove the recorded tasks of a persistent stream, so that new ones can be recorded. */
ACL_API(8, 5) aclError aclrtPersistentTaskClean(aclrtStream stream);
