/* What collectives are made of, libhcomm.so: endpoints, memory, channels and threads, and transfers on them. */

/* ---- hcomm/hcomm_res_defs.h ---- */

#define COMM_ADDR_EID_LEN 16
#define HCOMM_THREAD_CONFIG_MAGIC_WORD 0x0F0F0F2Fu
#define HCOMM_THREAD_CONFIG_VERSION 1

typedef int32_t HcommResult;
typedef void *EndpointHandle;
typedef void *HcommMemHandle;
typedef void *HcommSocket;
typedef uint64_t ChannelHandle;
typedef uint64_t ThreadHandle;

typedef enum ThreadType {
    THREAD_TYPE_INVALID = -1,
    THREAD_TYPE_TS = 0,
} ThreadType;

typedef enum CommEngine {
    COMM_ENGINE_RESERVED = -1,
    COMM_ENGINE_CPU = 0,
    COMM_ENGINE_CPU_TS = 1,
    COMM_ENGINE_AICPU = 2,
    COMM_ENGINE_AICPU_TS = 3,
    COMM_ENGINE_AIV = 4,
    COMM_ENGINE_CCU = 5,
} CommEngine;

typedef enum CommProtocol {
    COMM_PROTOCOL_RESERVED = -1,
    COMM_PROTOCOL_HCCS = 0,
    COMM_PROTOCOL_ROCE = 1,
    COMM_PROTOCOL_PCIE = 2,
    COMM_PROTOCOL_SIO = 3,
    COMM_PROTOCOL_UB_CTP = 4,
    COMM_PROTOCOL_UBC_CTP = 4,
    COMM_PROTOCOL_UBC_TP = 5,
    COMM_PROTOCOL_UB_MEM = 6,
    COMM_PROTOCOL_UBOE = 7,
    COMM_PROTOCOL_HCCS_ONLY = 8,
    COMM_PROTOCOL_UB_RTP = 9,
    COMM_PROTOCOL_UBG = 9,
} CommProtocol;

typedef enum CommAddrType {
    COMM_ADDR_TYPE_RESERVED = -1,
    COMM_ADDR_TYPE_IP_V4 = 0,
    COMM_ADDR_TYPE_IP_V6 = 1,
    COMM_ADDR_TYPE_ID = 2,
    COMM_ADDR_TYPE_EID = 3,
} CommAddrType;

typedef enum EndpointLocType {
    ENDPOINT_LOC_TYPE_RESERVED = -1,
    ENDPOINT_LOC_TYPE_DEVICE = 0,
    ENDPOINT_LOC_TYPE_HOST = 1,
} EndpointLocType;

typedef enum CommMemType {
    COMM_MEM_TYPE_INVALID = -1,
    COMM_MEM_TYPE_DEVICE = 0,
    COMM_MEM_TYPE_HOST = 1,
} CommMemType;

typedef enum HcommSocketRole {
    HCOMM_SOCKET_ROLE_RESERVED = -1,
    HCOMM_SOCKET_ROLE_CLIENT = 0,
    HCOMM_SOCKET_ROLE_SERVER = 1,
} HcommSocketRole;

typedef enum HcommEndpointFeatureType {
    HCOMM_ENDPOINT_FEATURE_INVALID = -1,
    HCOMM_ENDPOINT_FEATURE_NDA = 0,
} HcommEndpointFeatureType;

typedef enum ThreadResType {
    THREAD_RES_TYPE_INVALID = -1,
    THREAD_RES_TYPE_STREAM = 0,
} ThreadResType;

typedef struct CommAbiHeader {
    uint32_t version;
    uint32_t magicWord;
    uint32_t size;
    uint32_t reserved;
} CommAbiHeader;

typedef struct ThreadConfig {
    CommAbiHeader header;
    uint16_t notifyNumPerThread;
    uint8_t reserved[14];
} ThreadConfig;

typedef struct CommAddr {
    CommAddrType type;
    union {
        uint8_t raws[36];
        struct in_addr addr;
        struct in6_addr addr6;
        uint32_t id;
        uint8_t eid[16];
    };
} CommAddr;

typedef struct EndpointLoc {
    EndpointLocType locType;
    union {
        uint8_t raws[60];
        struct {
            uint32_t devPhyId;
            uint32_t superDevId;
            uint32_t serverIdx;
            uint32_t superPodIdx;
        } device;
        struct {
            uint32_t id;
        } host;
    };
} EndpointLoc;

typedef struct EndpointDesc {
    CommProtocol protocol;
    CommAddr commAddr;
    EndpointLoc loc;
    union {
        uint8_t raws[52];
    };
} EndpointDesc;

typedef struct CommMem {
    CommMemType type;
    void *addr;
    uint64_t size;
} CommMem;

/* ---- hcomm/hcomm_team_defs.h ---- */

typedef uint64_t *HcommTeamHandle;
typedef uint64_t *HcommWindowHandle;

typedef struct HcommTeamSyncMemRequirement {
    uint32_t signalCount;
    uint32_t counterCount;
    uint32_t barrierCount;
    uint32_t reserved[5];
} HcommTeamSyncMemRequirement;

/* ---- hcomm/hcomm_channel.h ---- */

#define HCOMM_CHANNEL_DESC_ABI_V1_SIZE 344
#define HCOMM_CHANNEL_MAGIC_WORD 0x0FCF0F0Fu
#define HCOMM_CHANNEL_VERSION_ONE 1
#define HCOMM_CHANNEL_VERSION 4
#define HCOMM_CHANNEL_NAME_MAX_LEN 191
#define HCOMM_CHANNEL_DESC_RAW_MAX_LEN 128

typedef void *HcommChannelConfig;

typedef enum HcommChannelConfigType {
    HCOMM_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0,
} HcommChannelConfigType;

typedef struct HcommChannelDesc {
    CommAbiHeader header;
    EndpointDesc remoteEndpoint;
    uint32_t notifyNum;
    bool exchangeAllMems;
    HcommMemHandle *memHandles;
    uint32_t memHandleNum;
    HcommSocket socket;
    HcommSocketRole role;
    uint16_t port;
    union {
        uint8_t raws[128];
        struct {
            uint32_t queueNum;
            uint32_t retryCnt;
            uint32_t retryInterval;
            uint8_t tc;
            uint8_t sl;
            uint32_t qpThreshold;
            uint32_t cqAttrFlags;
            uint16_t *srcPortList;
        } roceAttr;
        struct {
            uint32_t qos;
        } hccsAttr;
        struct {
            uint32_t sqDepth;
        } ubAttr;
        struct {
            uint8_t pathMode;
        } ubMemAttr;
    };
    uint32_t qos;
    const char *channelName;
} HcommChannelDesc;

ACL_API(9, 2) HcommResult HcommChannelCreate(EndpointHandle endpointHandle, CommEngine engine,
    HcommChannelDesc *channelDescs, uint32_t channelNum, ChannelHandle *channels);
ACL_API(9, 2) HcommResult HcommChannelConfigCreate(HcommChannelConfig *config);
ACL_API(9, 2) HcommResult HcommChannelConfigDestroy(HcommChannelConfig config);
ACL_API(9, 2) HcommResult HcommChannelConfigSetInt(HcommChannelConfig config, HcommChannelConfigType type,
    uint32_t value);
ACL_API(9, 2) HcommResult HcommChannelCreateWithConfig(EndpointHandle endpointHandle, CommEngine engine,
    HcommChannelDesc *channelDescs, uint32_t channelNum, HcommChannelConfig config, ChannelHandle *channels);
ACL_API(9, 2) HcommResult HcommChannelGetStatus(const ChannelHandle *channelList, uint32_t listNum,
    int32_t *statusList);
ACL_API(9, 2) HcommResult HcommChannelDestroy(const ChannelHandle *channels, uint32_t channelNum);

/* ---- hcomm/hcomm_primitives.h ---- */

#define HCOMM_TIMEOUT_FLOAT_TYPE 1

typedef enum HcommReduceOp {
    HCOMM_REDUCE_SUM = 0,
    HCOMM_REDUCE_PROD = 1,
    HCOMM_REDUCE_MAX = 2,
    HCOMM_REDUCE_MIN = 3,
    HCOMM_REDUCE_RESERVED = 255,
} HcommReduceOp;

typedef enum HcommDataType {
    HCOMM_DATA_TYPE_INT8 = 0,
    HCOMM_DATA_TYPE_INT16 = 1,
    HCOMM_DATA_TYPE_INT32 = 2,
    HCOMM_DATA_TYPE_FP16 = 3,
    HCOMM_DATA_TYPE_FP32 = 4,
    HCOMM_DATA_TYPE_INT64 = 5,
    HCOMM_DATA_TYPE_UINT64 = 6,
    HCOMM_DATA_TYPE_UINT8 = 7,
    HCOMM_DATA_TYPE_UINT16 = 8,
    HCOMM_DATA_TYPE_UINT32 = 9,
    HCOMM_DATA_TYPE_FP64 = 10,
    HCOMM_DATA_TYPE_BFP16 = 11,
    HCOMM_DATA_TYPE_INT128 = 12,
    HCOMM_DATA_TYPE_HIF8 = 14,
    HCOMM_DATA_TYPE_FP8E4M3 = 15,
    HCOMM_DATA_TYPE_FP8E5M2 = 16,
    HCOMM_DATA_TYPE_FP8E8M0 = 17,
    HCOMM_DATA_TYPE_RESERVED = 255,
} HcommDataType;

typedef enum HcommTransferType {
    HCOMM_TRANSFER_TYPE_INVALID = -1,
    HCOMM_TRANSFER_TYPE_WRITE = 0,
    HCOMM_TRANSFER_TYPE_WRITE_REDUCE = 1,
    HCOMM_TRANSFER_TYPE_WRITE_WITH_NOTIFY = 2,
    HCOMM_TRANSFER_TYPE_WRITE_REDUCE_WITH_NOTIFY = 3,
    HCOMM_TRANSFER_TYPE_READ = 4,
    HCOMM_TRANSFER_TYPE_READ_REDUCE = 5,
    HCOMM_TRANSFER_TYPE_NOTIFY_RECORD = 6,
} HcommTransferType;

typedef struct HcommBatchTransferDesc {
    HcommTransferType transType;
    uint8_t reserved[4];
    union {
        uint8_t raws[56];
        struct {
            uint64_t len;
            void *dst;
            void *src;
        } write;
        struct {
            uint64_t len;
            void *dst;
            void *src;
        } read;
        struct {
            uint64_t count;
            void *dst;
            void *src;
            HcommReduceOp reduceOp;
            HcommDataType dataType;
        } reduce;
        struct {
            uint32_t notifyIdx;
        } notifyRecord;
        struct {
            uint64_t len;
            void *dst;
            void *src;
            uint32_t notifyIdx;
        } writeWithNotify;
        struct {
            uint64_t count;
            void *dst;
            void *src;
            HcommReduceOp reduceOp;
            HcommDataType dataType;
            uint32_t notifyIdx;
        } writeReduceWithNotify;
    } transferInfo;
} HcommBatchTransferDesc;

ACL_API(9, 2) int32_t HcommLocalCopyOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t len);
ACL_API(9, 2) int32_t HcommLocalReduceOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t count,
    HcommDataType dataType, HcommReduceOp reduceOp);
ACL_API(9, 2) int32_t HcommThreadNotifyRecordOnThread(ThreadHandle thread, ThreadHandle dstThread,
    uint32_t dstNotifyIdx);
ACL_API(9, 2) int32_t HcommThreadNotifyWaitOnThread(ThreadHandle thread, uint32_t notifyIdx, uint32_t timeOut);
ACL_API(9, 2) int32_t HcommAclrtNotifyRecordOnThread(ThreadHandle thread, uint64_t dstNotifyId);
ACL_API(9, 2) int32_t HcommAclrtNotifyWaitOnThread(ThreadHandle thread, uint64_t notifyId, uint32_t timeOut);
ACL_API(9, 2) int32_t HcommWriteOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t len);
ACL_API(9, 2) int32_t HcommWriteReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t count, HcommDataType dataType, HcommReduceOp reduceOp);
ACL_API(9, 2) int32_t HcommWriteWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
    const void *src, uint64_t len, uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommWriteReduceWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
    const void *src, uint64_t count, HcommDataType dataType, HcommReduceOp reduceOp, uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommReadOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t len);
ACL_API(9, 2) int32_t HcommReadReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t count, HcommDataType dataType, HcommReduceOp reduceOp);
ACL_API(9, 2) int32_t HcommWriteNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t len);
ACL_API(9, 2) int32_t HcommWriteNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len);
ACL_API(9, 2) int32_t HcommWriteWithNotifyNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
    const void *src, uint64_t len, uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommWriteWithNotifyNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len,
    uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommReadNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
    uint64_t len);
ACL_API(9, 2) int32_t HcommReadNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len);
ACL_API(9, 2) int32_t HcommBatchTransferOnThread(ThreadHandle thread, ChannelHandle channel,
    const HcommBatchTransferDesc *transferDescs, uint32_t transferDescNum);
ACL_API(9, 2) int32_t HcommChannelNotifyRecordOnThread(ThreadHandle thread, ChannelHandle channel,
    uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommChannelNotifyRecord(ChannelHandle channel, uint32_t remoteNotifyIdx);
ACL_API(9, 2) int32_t HcommChannelNotifyWaitOnThread(ThreadHandle thread, ChannelHandle channel,
    uint32_t localNotifyIdx, uint32_t timeOut);
ACL_API(9, 2) int32_t HcommChannelNotifyWait(ChannelHandle channel, uint32_t localNotifyIdx, uint32_t timeOut);
ACL_API(9, 2) HcommResult HcommAicpuTsTaskCacheLookup(const char *tag, bool *isHit);
ACL_API(9, 2) HcommResult HcommAicpuTsTaskCacheStart(const char *tag, void **addrs, uint64_t *sizes, uint64_t count);
ACL_API(9, 2) HcommResult HcommAicpuTsTaskCacheEnd(const char *tag);
ACL_API(9, 2) HcommResult HcommAicpuTsTaskCacheExecute(const char *tag, void **addrs, uint64_t *sizes, uint64_t count);
ACL_API(9, 2) HcommResult HcommAicpuTsTaskCacheClear(const char *tag);
ACL_API(9, 2) int32_t HcommBatchModeStart(const char *batchTag);
ACL_API(9, 2) int32_t HcommBatchModeEnd(const char *batchTag);
ACL_API(9, 2) int32_t HcommAcquireComm(const char *commId);
ACL_API(9, 2) int32_t HcommReleaseComm(const char *commId);
ACL_API(9, 2) int32_t HcommFenceOnThread(ThreadHandle thread);
ACL_API(9, 2) int32_t HcommChannelFenceOnThread(ThreadHandle thread, ChannelHandle channel);
ACL_API(9, 2) int32_t HcommChannelFence(ChannelHandle channel);
ACL_API(9, 2) int32_t HcommSetNotifyWaitTimeOut(float timeOut);
ACL_API(9, 2) int32_t HcommThreadResAcquireTimeOut(float timeOut);
ACL_API(9, 2) int32_t HcommChannelNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, ChannelHandle channel,
    uint32_t localNotifyIdx);
ACL_API(9, 2) int32_t HcommThreadNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, uint32_t notifyIdx);
ACL_API(9, 2) int32_t HcommChannelDrainOnThread(ThreadHandle thread, ChannelHandle channel);

/* ---- hcomm/hcomm_res.h ---- */

ACL_API(9, 2) HcommResult HcommEndpointCreate(const EndpointDesc *endpoint, EndpointHandle *endpointHandle);
ACL_API(9, 2) HcommResult HcommEndpointDestroy(EndpointHandle endpointHandle);
ACL_API(9, 2) HcommResult HcommEndpointGetDescNum(int32_t deviceLogicId, uint32_t *descNum);
ACL_API(9, 2) HcommResult HcommEndpointGetDescs(int32_t deviceLogicId, uint32_t *descNum, EndpointDesc *endpointDescs);
ACL_API(9, 2) HcommResult HcommMemReg(EndpointHandle endpointHandle, const char *memTag, const CommMem *mem,
    HcommMemHandle *memHandle);
ACL_API(9, 2) HcommResult HcommMemUnreg(EndpointHandle endpointHandle, HcommMemHandle memHandle);
ACL_API(9, 2) HcommResult HcommMemExport(EndpointHandle endpointHandle, HcommMemHandle memHandle, void **memDesc,
    uint32_t *memDescLen);
ACL_API(9, 2) HcommResult HcommMemImport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen,
    CommMem *outMem);
ACL_API(9, 2) HcommResult HcommMemUnimport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen);
ACL_API(9, 2) HcommResult HcommThreadAlloc(CommEngine engine, uint32_t threadNum, const uint32_t *notifyNumPerThread,
    ThreadHandle *threads);
ACL_API(9, 2) HcommResult HcommThreadFree(const ThreadHandle *threads, uint32_t threadNum);
ACL_API(9, 2) HcommResult HcommEndpointGetListenPort(EndpointHandle endpointHandle, uint32_t *port);
ACL_API(9, 2) HcommResult HcommThreadResGetInfo(ThreadHandle thread, ThreadResType resType, uint32_t infoLen,
    void **info);
ACL_API(9, 2) HcommResult HcommEndpointCheckFeature(HcommEndpointFeatureType featureType,
    const EndpointDesc *endpointDesc, bool *value);

/** Allocate device memory that is fit for windows. */
ACL_API(9, 2) HcommResult HcommMemAlloc(void **ptr, size_t size);

/** Free memory of HcommMemAlloc. */
ACL_API(9, 2) HcommResult HcommMemFree(void *ptr);
