/* Devices: selecting, resetting, synchronising and querying them, and their ids. */

#define ACL_DEV_FEATURE_SUPPORT 1
#define ACL_DEV_FEATURE_NOT_SUPPORT 0
#define ACL_HOST_DEVICE_CONNECT_TYPE_PCIE 0
#define ACL_HOST_DEVICE_CONNECT_TYPE_HCCS 1
#define ACL_HOST_DEVICE_CONNECT_TYPE_UB 2
#define ACL_DEVICE_FORM_FACTOR_POD 0
#define ACL_DEVICE_FORM_FACTOR_A_K 1
#define ACL_DEVICE_FORM_FACTOR_A_X 2
#define ACL_DEVICE_FORM_FACTOR_PCIE_CARD 3
#define ACL_RT_DEVS_TOPOLOGY_HCCS 1
#define ACL_RT_DEVS_TOPOLOGY_PIX 2
#define ACL_RT_DEVS_TOPOLOGY_PIB 4
#define ACL_RT_DEVS_TOPOLOGY_PHB 8
#define ACL_RT_DEVS_TOPOLOGY_SYS 16
#define ACL_RT_DEVS_TOPOLOGY_SIO 32
#define ACL_RT_DEVS_TOPOLOGY_HCCS_SW 64

typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2,
} aclDeviceInfo;

typedef enum aclrtRunMode {
    ACL_DEVICE = 0,
    ACL_HOST = 1,
} aclrtRunMode;

typedef enum aclrtTsId {
    ACL_TS_ID_AICORE = 0,
    ACL_TS_ID_AIVECTOR = 1,
    ACL_TS_ID_RESERVED = 2,
} aclrtTsId;

typedef enum aclrtDeviceStatus {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 65535,
} aclrtDeviceStatus;

typedef enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
    ACL_DEV_ATTR_WARP_SIZE = 202,
    ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
    ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204,
    ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
    ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
    ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
    ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
    ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
    ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
    ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
    ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
    ACL_DEV_ATTR_SMP_ID = 401,
    ACL_DEV_ATTR_PHY_CHIP_ID = 402,
    ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403,
    ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
    ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
    ACL_DEV_ATTR_SUPER_POD_ID = 405,
    ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
    ACL_DEV_ATTR_MAINBOARD_ID = 407,
    ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
    ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
    ACL_DEV_ATTR_IS_VIRTUAL = 501,
    ACL_DEV_ATTR_NPU_ARCH = 601,
} aclrtDevAttr;

typedef enum aclrtDevFeatureType {
    ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
    ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21,
} aclrtDevFeatureType;

typedef struct aclrtUtilizationInfo {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

typedef struct aclrtUuid {
    char bytes[16];
} aclrtUuid;

/** Number of devices that this process may use.
 *  rt.get_device_count() -> (count, ret) */
ACL_API(8, 1) aclError aclrtGetDeviceCount(uint32_t *count);

/** Make a device current for this thread; open it first if this process has not opened it.
 *  rt.set_device(deviceId) -> ret */
ACL_API(8, 1) aclError aclrtSetDevice(int32_t deviceId);

/** The device that is current for this thread.
 *  rt.get_device() -> (deviceId, ret) */
ACL_API(8, 1) aclError aclrtGetDevice(int32_t *deviceId);

/** Undo one aclrtSetDevice; undoing the last one releases everything on the device.
 *  rt.reset_device(deviceId) -> ret @py */
ACL_API(8, 1) aclError aclrtResetDevice(int32_t deviceId);

/** Release everything on the device, regardless of how often it was set.
 *  rt.reset_device_force(deviceId) -> ret @py */
ACL_API(8, 1) aclError aclrtResetDeviceForce(int32_t deviceId);

/** Wait until all streams of the current context are done.
 *  rt.synchronize_device() -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeDevice(void);

/** Wait for all streams of the current context, at most timeout milliseconds (-1: for ever).
 *  rt.synchronize_device_with_timeout(timeout) -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/** Query whether this program runs on the host or on the device's own processor.
 *  rt.get_run_mode() -> (runMode, ret) */
ACL_API(8, 1) aclError aclrtGetRunMode(aclrtRunMode *runMode);

/** Select the task scheduler to which this thread submits.
 *  rt.set_ts_device(tsId) -> ret */
ACL_API(8, 1) aclError aclrtSetTsDevice(aclrtTsId tsId);

/** Query whether a device can be used.
 *  rt.query_device_status(deviceId) -> (deviceStatus, ret) */
ACL_API(8, 1) aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus);

/** How busy the cores and the memory of a device are, in percent.
 *  rt.get_device_utilization_rate(deviceId) -> (utilizationInfo:dict, ret) @py */
ACL_API(8, 1) aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo);

/** One property of a device, from the older list of properties.
 *  acl.get_device_capability(deviceId, deviceInfo) -> (value, ret) */
ACL_API(8, 1) aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value);

/** One property of a device: cores, memory, caches, identity and the like.
 *  rt.get_device_info(deviceId, attr) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value);

/** Query whether a device has a feature.
 *  rt.get_device_capability(deviceId, devFeatureType) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value);

/** The unique identity of a device.
 *  rt.device_get_uuid(deviceId) -> (uuid:dict, ret) @py */
ACL_API(8, 5) aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid);

/** The PCI bus id of a device, as text. */
ACL_API(9, 2) aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len);

/** The device with the given PCI bus id. */
ACL_API(9, 2) aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId);

/** How two devices are linked (ACL_RT_DEVS_TOPOLOGY_*).
 *  rt.get_devices_topo(deviceId, otherDeviceId) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value);

/** The logical id of a device, given its user id.
 *  rt.get_logic_dev_id_by_user_dev_id(userDevid) -> (logicDevId, ret) */
ACL_API(8, 5) aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId);

/** The user id of a device, given its logical id.
 *  rt.get_user_dev_id_by_logic_dev_id(logicDevId) -> (userDevid, ret) */
ACL_API(8, 5) aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid);

/** The logical id of a device, given its physical id.
 *  rt.get_logic_dev_id_by_phy_dev_id(phyDevId) -> (logicDevId, ret) */
ACL_API(8, 5) aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId);

/** The physical id of a device, given its logical id.
 *  rt.get_phy_dev_id_by_logic_dev_id(logicDevId) -> (phyDevId, ret) */
ACL_API(8, 5) aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId);

/** The user id of a device, given its physical id. */
ACL_API(9, 1) aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId);

/** The physical id of a device, given its user id. */
ACL_API(9, 1) aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId);

/** Write the float overflow flags of the device to device memory, in stream order. */
ACL_API(8, 5) aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize, uint32_t checkMode,
    aclrtStream stream);

/** Write the level-2 cache of the current device back to memory. */
ACL_API(9, 2) aclError aclrtDeviceL2CacheFlush(void *rsv);
