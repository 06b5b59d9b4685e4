/* Profiling: collection to files, subscription per model, marks of the program. */

#define ACL_PROF_ACL_API 0x1ULL
#define ACL_PROF_TASK_TIME 0x2ULL
#define ACL_PROF_AICORE_METRICS 0x4ULL
#define ACL_PROF_AICPU 0x8ULL
#define ACL_PROF_L2CACHE 0x10ULL
#define ACL_PROF_HCCL_TRACE 0x20ULL
#define ACL_PROF_TRAINING_TRACE 0x40ULL
#define ACL_PROF_MSPROFTX 0x80ULL
#define ACL_PROF_RUNTIME_API 0x100ULL
#define ACL_PROF_TASK_TIME_L0 0x800ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL
#define ACL_PROF_OP_ATTR 0x4000ULL
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65
#define ACL_PROF_GE_API_L0 0x200ULL
#define ACL_PROF_GE_API_L1 0x1000000ULL
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
#define ACL_PROF_API_STATS 0x400000000ULL
#define ACL_PROF_AICORE_SHAPE 0x800000000ULL
#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8
#define ACL_PROF_EVENT_ATTR_VERSION 1

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

typedef enum aclprofAicoreMetrics {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 255,
} aclprofAicoreMetrics;

typedef enum aclprofStepTag {
    ACL_STEP_START = 0,
    ACL_STEP_END = 1,
} aclprofStepTag;

typedef enum aclprofConfigType {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_AIV_METRICS = 2,
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    ACL_PROF_LLC_MODE = 4,
    ACL_PROF_SYS_IO_FREQ = 5,
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    ACL_PROF_DVPP_FREQ = 7,
    ACL_PROF_HOST_SYS = 8,
    ACL_PROF_HOST_SYS_USAGE = 9,
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    ACL_PROF_ARGS_MAX = 17,
    ACL_PROF_LOW_POWER_FREQ = 11,
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    ACL_PROF_SYS_CPU_FREQ = 13,
    ACL_PROF_OPTYPE = 14,
    ACL_PROF_NTS_METRICS = 15,
    ACL_PROF_PATH = 16,
} aclprofConfigType;

typedef enum aclprofSubscribeOpFlag {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 255,
} aclprofSubscribeOpFlag;

typedef enum aclprofSubscribeOpAttri {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0,
    ACL_SUBSCRIBE_ATTRI_NONE = 1,
} aclprofSubscribeOpAttri;

typedef enum aclprofMessageType {
    ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0,
} aclprofMessageType;

typedef struct aclprofTensor {
    uint32_t type;
    uint32_t format;
    uint32_t dataType;
    uint32_t shapeDim;
    uint32_t shape[8];
} aclprofTensor;

typedef struct aclprofTensorInfo {
    uint64_t opNameId;
    uint64_t opTypeId;
    uint32_t resv;
    uint32_t tensorNum;
    uint32_t kernelType;
    uint32_t blockNums;
    void *stream;
    aclprofTensor *tensors;
} aclprofTensorInfo;

typedef struct aclprofEventAttributes {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union Message {
        aclprofTensorInfo *tensorInfo;
    } message;
} aclprofEventAttributes;

/** Prepare profiling and set the directory for its results.
 *  prof.init(profilerResultPath:str#length) -> ret */
ACL_API(8, 1) aclError aclprofInit(const char *profilerResultPath, size_t length);

/** End profiling.
 *  prof.finalize() -> ret */
ACL_API(8, 1) aclError aclprofFinalize(void);

/** Create a configuration: devices, core metrics and what to collect (ACL_PROF_*).
 *  prof.create_config(deviceIdList:[int]#deviceNums, aicoreMetrics, aicoreEvents, dataTypeConfig) -> value */
ACL_API(8, 1) aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
    aclprofAicoreMetrics aicoreMetrics, const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig);

/** Destroy a profiling configuration.
 *  prof.destroy_config(profilerConfig) -> ret */
ACL_API(8, 1) aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);

/** Set one option of profiling, as text.
 *  prof.set_config(configType, config:str#configLength) -> ret */
ACL_API(8, 1) aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength);

/** Start collecting according to a configuration.
 *  prof.start(profilerConfig) -> ret */
ACL_API(8, 1) aclError aclprofStart(const aclprofConfig *profilerConfig);

/** Stop collecting; the configuration must be that of aclprofStart.
 *  prof.stop(profilerConfig) -> ret */
ACL_API(8, 1) aclError aclprofStop(const aclprofConfig *profilerConfig);

/** Create a subscription that writes operator records to a file descriptor.
 *  prof.create_subscribe_config(timeInfoSwitch, aicoreMetrics, fd) -> value @py */
ACL_API(8, 1) aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
    aclprofAicoreMetrics aicoreMetrics, void *fd);

/** Destroy a subscription.
 *  prof.destroy_subscribe_config(profSubscribeConfig) -> ret */
ACL_API(8, 1) aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig);

/** Subscribe to the operator records of a model.
 *  prof.model_subscribe(modelId, profSubscribeConfig) -> ret */
ACL_API(8, 1) aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig);

/** End the subscription to a model.
 *  prof.model_unsubscribe(modelId) -> ret
 *  prof.model_un_subscribe(modelId) -> ret */
ACL_API(8, 1) aclError aclprofModelUnSubscribe(uint32_t modelId);

/** Bytes of one operator record.
 *  prof.get_op_desc_size() -> (opDescSize, ret) */
ACL_API(8, 1) aclError aclprofGetOpDescSize(size_t *opDescSize);

/** Number of operator records in a buffer.
 *  prof.get_op_num(opInfo, opInfoLen) -> (opNumber, ret) */
ACL_API(8, 1) aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber);

/** Bytes of the operator type's text in a record.
 *  prof.get_op_type_len(opInfo, opInfoLen, index) -> (opTypeLen, ret) */
ACL_API(8, 1) aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opTypeLen);

/** The operator type in a record.
 *  prof.get_op_type(opInfo, opInfoLen, index, opTypeLen) -> (opType:str#opTypeLen, ret) @py
 *  prof.get_op_type_v2(opInfo, opInfoLen, index) -> (opType:str, ret) @py */
ACL_API(8, 1) aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index, char *opType,
    size_t opTypeLen);

/** Bytes of the operator name's text in a record.
 *  prof.get_op_name_len(opInfo, opInfoLen, index) -> (opNameLen, ret) */
ACL_API(8, 1) aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen);

/** The operator name in a record.
 *  prof.get_op_name(opInfo, opInfoLen, index, opNameLen) -> (opName:str#opNameLen, ret) @py
 *  prof.get_op_name_v2(opInfo, opInfoLen, index) -> (opName:str, ret) @py */
ACL_API(8, 1) aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName,
    size_t opNameLen);

/** Start time of the operator in a record, in nanoseconds.
 *  prof.get_op_start(opInfo, opInfoLen, index) -> value */
ACL_API(8, 1) uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index);

/** End time of the operator in a record, in nanoseconds.
 *  prof.get_op_end(opInfo, opInfoLen, index) -> value */
ACL_API(8, 1) uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);

/** Duration of the operator in a record, in nanoseconds.
 *  prof.get_op_duration(opInfo, opInfoLen, index) -> value */
ACL_API(8, 1) uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index);

/** The model that a record belongs to.
 *  prof.get_model_id(opInfo, opInfoLen, index) -> value */
ACL_API(8, 1) size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);

/** The type of object that a record describes. */
ACL_API(8, 5) aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen, uint32_t index);

/** One attribute of the operator in a record, as text. */
ACL_API(8, 5) const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen, uint32_t index,
    aclprofSubscribeOpAttri attri);

/** Create the description of a training step.
 *  prof.create_step_info() -> value */
ACL_API(8, 1) aclprofStepInfo *aclprofCreateStepInfo(void);

/** Destroy the description of a training step.
 *  prof.destroy_step_info(stepinfo) -> None */
ACL_API(8, 1) void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo);

/** Queue a mark of a step's start or end on the stream.
 *  prof.get_step_timestamp(stepInfo, tag, stream) -> ret */
ACL_API(8, 1) aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream);

/** Create a mark.
 *  prof.create_stamp() -> value */
ACL_API(8, 1) void *aclprofCreateStamp(void);

/** Destroy a mark.
 *  prof.destroy_stamp(stamp) -> None */
ACL_API(8, 1) void aclprofDestroyStamp(void *stamp);

/** Set the text of a mark.
 *  prof.set_stamp_trace_message(stamp, msg:str, msgLen) -> ret */
ACL_API(8, 1) aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);

/** Record a moment.
 *  prof.mark(stamp) -> ret */
ACL_API(8, 1) aclError aclprofMark(void *stamp);

/** Queue a mark with a text on the stream.
 *  prof.mark_ex(msg:str#msgLen, stream) -> ret */
ACL_API(8, 1) aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);

/** Start a span that the next matching aclprofPop of this thread ends.
 *  prof.push(stamp) -> ret */
ACL_API(8, 1) aclError aclprofPush(void *stamp);

/** End the span that this thread started last.
 *  prof.pop() -> ret */
ACL_API(8, 1) aclError aclprofPop(void);

/** Start a span that may end on another thread.
 *  prof.range_start(stamp) -> (rangeId, ret) */
ACL_API(8, 1) aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);

/** End a span by its number.
 *  prof.range_stop(rangeId) -> ret */
ACL_API(8, 1) aclError aclprofRangeStop(uint32_t rangeId);

/** Start a span with attributes; this thread's next aclprofRangePop ends it. */
ACL_API(9, 0) aclError aclprofRangePushEx(aclprofEventAttributes *attr);

/** End the span that aclprofRangePushEx started last on this thread. */
ACL_API(9, 0) aclError aclprofRangePop(void);

/** The number that represents a text in profiling data. */
ACL_API(9, 0) uint64_t aclprofStr2Id(const char *message);

/** Queue a mark with data of the program on the stream. */
ACL_API(8, 5) aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream);
