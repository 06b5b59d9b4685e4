/* Faults of a device: reports, aborting work, repair. */

#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20

typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 65535,
} aclrtErrorType;

typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2,
} aclrtAicoreErrorType;

typedef struct aclrtMemUceInfo {
    void *addr;
    size_t len;
    size_t reserved[14];
} aclrtMemUceInfo;

typedef struct aclrtMemUceInfoArray {
    size_t arraySize;
    aclrtMemUceInfo memUceInfoArray[20];
} aclrtMemUceInfoArray;

typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;
    aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

typedef struct aclrtErrorInfo {
    uint8_t tryRepair;
    uint8_t hasDetail;
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/** The uncorrectable memory errors of a device.
 *  rt.get_mem_uce_info(deviceId, arraySize) -> (memUceInfoArray:[dict], ret) @py */
ACL_API(8, 1) aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize,
    size_t *retSize);

/** Repair uncorrectable memory errors of a device.
 *  rt.mem_uce_repair(deviceId, memUceInfoArray:[dict]) -> ret @py */
ACL_API(8, 1) aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize);

/** The error of a device, and whether it can be repaired. */
ACL_API(8, 5) aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo);

/** Repair a device's error. */
ACL_API(8, 5) aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo);

/** Abort all work of this process on a device.
 *  rt.device_task_abort(deviceId, timeout) -> ret */
ACL_API(8, 1) aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/** Abort the work of a stream.
 *  rt.stream_abort(stream) -> ret */
ACL_API(8, 1) aclError aclrtStreamAbort(aclrtStream stream);

/** Resume collective communication on a device after a repair. */
ACL_API(8, 5) aclError aclRecoverAllHcclTasks(int32_t deviceId);
