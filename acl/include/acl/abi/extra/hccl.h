/* Collective communication, libhccl.so and libhcomm.so: communicators, and the operations of their ranks. */

/* ---- hccl/hccl_types.h ---- */

#define HCCL_ROOT_INFO_BYTES 4108
#define COMM_NAME_MAX_LENGTH 128
#define UDI_MAX_LENGTH 128
#define HCCL_COMM_CONFIG_INFO_BYTES 24
#define HCCL_COMM_CONFIG_MAGIC_WORD 0xF0F0F0F0u
#define HCCL_COMM_CONFIG_VERSION 11
#define HCCL_COMM_DEFAULT_BUFFSIZE 200
#define HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET 0xFFFFFFFFu
#define HCCL_COMM_DEFAULT_DETERMINISTIC 0
#define HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET 0xFFFFFFFFu
#define HCCL_COMM_DEFAULT_OP_EXPANSION_MODE 0
#define HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET 0xFFFFFFFFu
#define HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET 0xFFFFFFFFu
#define BUFFER_NAME_MAX_LENGTH 128
#define HCCL_COMM_ALGO_MAX_LENGTH 1600
#define HCCL_COMM_RETRY_ENABLE_MAX_LENGTH 50
#define HCCL_COMM_RETRY_PARAMS_MAX_LENGTH 128
#define HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET -1
#define HCCL_COMM_QOS_CONFIG_NOT_SET 0xFFFFFFFFu
#define HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET 0xFFFFFFFFu
#define HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE 16

typedef void *HcclComm;
typedef void *HcclConn;
typedef void *HcclCommSymWindow;

typedef enum HcclResult {
    HCCL_SUCCESS = 0,
    HCCL_E_PARA = 1,
    HCCL_E_PTR = 2,
    HCCL_E_MEMORY = 3,
    HCCL_E_INTERNAL = 4,
    HCCL_E_NOT_SUPPORT = 5,
    HCCL_E_NOT_FOUND = 6,
    HCCL_E_UNAVAIL = 7,
    HCCL_E_SYSCALL = 8,
    HCCL_E_TIMEOUT = 9,
    HCCL_E_OPEN_FILE_FAILURE = 10,
    HCCL_E_TCP_CONNECT = 11,
    HCCL_E_ROCE_CONNECT = 12,
    HCCL_E_TCP_TRANSFER = 13,
    HCCL_E_ROCE_TRANSFER = 14,
    HCCL_E_RUNTIME = 15,
    HCCL_E_DRV = 16,
    HCCL_E_PROFILING = 17,
    HCCL_E_CCE = 18,
    HCCL_E_NETWORK = 19,
    HCCL_E_AGAIN = 20,
    HCCL_E_REMOTE = 21,
    HCCL_E_SUSPENDING = 22,
    HCCL_E_OPRETRY_FAIL = 23,
    HCCL_E_OOM = 24,
    HCCL_E_IN_STATUS = 1041,
    HCCL_E_RESERVED = 1042,
} HcclResult;

typedef enum HcclReduceOp {
    HCCL_REDUCE_SUM = 0,
    HCCL_REDUCE_PROD = 1,
    HCCL_REDUCE_MAX = 2,
    HCCL_REDUCE_MIN = 3,
    HCCL_REDUCE_RESERVED = 255,
} HcclReduceOp;

typedef enum HcclDataType {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_INT16 = 1,
    HCCL_DATA_TYPE_INT32 = 2,
    HCCL_DATA_TYPE_FP16 = 3,
    HCCL_DATA_TYPE_FP32 = 4,
    HCCL_DATA_TYPE_INT64 = 5,
    HCCL_DATA_TYPE_UINT64 = 6,
    HCCL_DATA_TYPE_UINT8 = 7,
    HCCL_DATA_TYPE_UINT16 = 8,
    HCCL_DATA_TYPE_UINT32 = 9,
    HCCL_DATA_TYPE_FP64 = 10,
    HCCL_DATA_TYPE_BFP16 = 11,
    HCCL_DATA_TYPE_INT128 = 12,
    HCCL_DATA_TYPE_HIF8 = 14,
    HCCL_DATA_TYPE_FP8E4M3 = 15,
    HCCL_DATA_TYPE_FP8E5M2 = 16,
    HCCL_DATA_TYPE_FP8E8M0 = 17,
    HCCL_DATA_TYPE_RESERVED = 255,
} HcclDataType;

typedef enum HcclConfig {
    HCCL_DETERMINISTIC = 0,
    HCCL_CONFIG_RESERVED = 1,
} HcclConfig;

typedef enum HcclCommConfigCapability {
    HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
    HCCL_COMM_CONFIG_DETERMINISTIC = 1,
    HCCL_COMM_CONFIG_COMM_NAME = 2,
    HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
    HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
    HCCL_COMM_CONFIG_WORLD_RANKID = 5,
    HCCL_COMM_CONFIG_JOBID = 6,
    HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
    HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
    HCCL_COMM_CONFIG_ALGO = 9,
    HCCL_COMM_CONFIG_RETRY = 10,
    HCCL_COMM_CONFIG_BUFFER_NAME = 11,
    HCCL_COMM_CONFIG_RESERVED = 12,
} HcclCommConfigCapability;

typedef enum HcclSendRecvType {
    HCCL_SEND = 0,
    HCCL_RECV = 1,
    HCCL_SEND_RECV_RESERVED = 2,
} HcclSendRecvType;

typedef enum HcclCMDType {
    HCCL_CMD_INVALID = 0,
    HCCL_CMD_BROADCAST = 1,
    HCCL_CMD_ALLREDUCE = 2,
    HCCL_CMD_REDUCE = 3,
    HCCL_CMD_SEND = 4,
    HCCL_CMD_RECEIVE = 5,
    HCCL_CMD_ALLGATHER = 6,
    HCCL_CMD_REDUCE_SCATTER = 7,
    HCCL_CMD_ALLTOALLV = 8,
    HCCL_CMD_ALLTOALLVC = 9,
    HCCL_CMD_ALLTOALL = 10,
    HCCL_CMD_GATHER = 11,
    HCCL_CMD_SCATTER = 12,
    HCCL_CMD_BATCH_SEND_RECV = 13,
    HCCL_CMD_BATCH_PUT = 14,
    HCCL_CMD_BATCH_GET = 15,
    HCCL_CMD_ALLGATHER_V = 16,
    HCCL_CMD_REDUCE_SCATTER_V = 17,
    HCCL_CMD_BATCH_WRITE = 18,
    HCCL_CMD_HALF_ALLTOALLV = 20,
    HCCL_CMD_ALL = 21,
    HCCL_CMD_FINALIZE = 100,
    HCCL_CMD_INTER_GROUP_SYNC = 101,
    HCCL_CMD_INIT = 102,
    HCCL_CMD_BARRIER = 103,
    HCCL_CMD_MAX = 104,
} HcclCMDType;

typedef enum HcclCommStatus {
    HCCL_COMM_STATUS_READY = 0,
    HCCL_COMM_STATUS_SUSPENDING = 1,
    HCCL_COMM_STATUS_INVALID = 254,
    HCCL_COMM_STATUS_RESERVED = 255,
} HcclCommStatus;

typedef enum HcclCommStatePhase {
    HCCL_COMM_STATE_PHASE_INVALID = -1,
    HCCL_COMM_STATE_PHASE_DESTROY_PRE = 0,
    HCCL_COMM_STATE_PHASE_DESTROY_POST = 1,
    HCCL_COMM_STATE_PHASE_RESUME_PRE = 2,
    HCCL_COMM_STATE_PHASE_RESUME_POST = 3,
} HcclCommStatePhase;

typedef struct HcclRootInfoDef {
    char internal[4108];
} HcclRootInfo;

typedef struct HcclCommConfigDef {
    char reserved[24];
    uint32_t hcclBufferSize;
    uint32_t hcclDeterministic;
    char hcclCommName[128];
    char hcclUdi[128];
    uint32_t hcclOpExpansionMode;
    uint32_t hcclRdmaTrafficClass;
    uint32_t hcclRdmaServiceLevel;
    uint32_t hcclWorldRankID;
    uint64_t hcclJobID;
    uint8_t aclGraphZeroCopyEnable;
    int32_t hcclExecTimeOut;
    char hcclAlgo[1600];
    char hcclRetryEnable[50];
    char hcclRetryParams[128];
    char hcclBufferName[128];
    uint32_t hcclQos;
    uint64_t hcclSymWinMaxMemSizePerRank;
    uint32_t hcclChannelSqDepth;
} HcclCommConfig;

typedef struct HcclSendRecvItemDef {
    HcclSendRecvType sendRecvType;
    void *buf;
    uint64_t count;
    HcclDataType dataType;
    uint32_t remoteRank;
} HcclSendRecvItem;

typedef union HcclConfigValue {
    int32_t value;
} HcclConfigValue;

/* ---- hccl/hccl_comm.h ---- */

typedef enum HcclOpExpansionMode {
    HCCL_OP_EXPANSION_MODE_INVALID = -1,
    HCCL_OP_EXPANSION_MODE_AI_CPU = 0,
    HCCL_OP_EXPANSION_MODE_AIV = 1,
    HCCL_OP_EXPANSION_MODE_HOST = 2,
    HCCL_OP_EXPANSION_MODE_HOST_TS = 3,
    HCCL_OP_EXPANSION_MODE_CCU_MS = 4,
    HCCL_OP_EXPANSION_MODE_CCU_SCHED = 5,
    HCCL_OP_EXPANSION_AIV_ONLY = 6,
} HcclOpExpansionMode;

typedef enum HcclConfigType {
    HCCL_CONFIG_TYPE_INVALID = -1,
    HCCL_CONFIG_TYPE_OP_EXPANSION_MODE = 0,
    HCCL_CONFIG_TYPE_HCCL_ALGO = 1,
} HcclConfigType;

typedef HcclResult (*HcclCommStateCallback)(HcclComm, HcclCommStatePhase, void *);
typedef HcclOpExpansionMode HcclConfigTypeOpExpansionMode;

/** Create the communicator of this rank from a rank table, a JSON file. */
ACL_API(8, 1) HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm);

/** Create the communicator of this rank from a rank table, with a configuration. */
ACL_API(8, 1) HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank, HcclCommConfig *config,
    HcclComm *comm);

/** Create a communicator of some of the ranks; the others pass no ranks and get no communicator. */
ACL_API(8, 1) HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
    uint64_t subCommId, uint32_t subCommRankId, HcclCommConfig *config, HcclComm *subComm);

/** Write what all ranks need to meet; the root calls it, and passes the bytes on to the others. */
ACL_API(8, 1) HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo);

/** Create the communicator of this rank, on the current device; waits until all ranks have come. */
ACL_API(8, 1) HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
    HcclComm *comm);

/** Create the communicator of this rank with a configuration; waits until all ranks have come. */
ACL_API(8, 1) HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
    const HcclCommConfig *config, HcclComm *comm);

/** Set an option of the process. */
ACL_API(8, 1) HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);

/** An option of the process. */
ACL_API(8, 1) HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue);

/** The name of a communicator, in a buffer of 128 bytes. */
ACL_API(8, 1) HcclResult HcclGetCommName(HcclComm comm, char *commName);

/** The number of ranks of a communicator. */
ACL_API(8, 1) HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize);

/** The rank that a communicator is of. */
ACL_API(8, 1) HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank);

/** Let the stream wait until the streams of all ranks have come. */
ACL_API(8, 1) HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/** Destroy a communicator; operations that wait for other ranks end with an error. */
ACL_API(8, 1) HcclResult HcclCommDestroy(HcclComm comm);

/** Create the communicators of all ranks in this process: comms[i] is of rank i on devices[i]. */
ACL_API(8, 1) HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms);

/** The error that an operation of the communicator has failed with; never waits. */
ACL_API(8, 1) HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError);

/** The text of a code, also of an unknown one. */
ACL_API(8, 1) const char *HcclGetErrorString(HcclResult code);

/** A number: a feature of HcclCommConfigCapability is there if its value is less. */
ACL_API(8, 1) uint32_t HcclGetCommConfigCapability(void);

/** Let the operations of a communicator fail until it is resumed. */
ACL_API(8, 1) HcclResult HcclCommSuspend(HcclComm comm);

/** Let a communicator work again; it forgets what was queued. */
ACL_API(8, 1) HcclResult HcclCommResume(HcclComm comm);

/** Name a reserved range of addresses, in which memory may be activated. */
ACL_API(8, 1) HcclResult HcclCommSetMemoryRange(HcclComm comm, void *baseVirPtr, size_t size, size_t alignment,
    uint64_t flags);

/** Forget a range of addresses, in which no memory is active. */
ACL_API(8, 1) HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void *baseVirPtr);

/** Let operations use memory of a range in place. */
ACL_API(8, 1) HcclResult HcclCommActivateCommMemory(HcclComm comm, void *virPtr, size_t size, size_t offset,
    aclrtDrvMemHandle handle, uint64_t flags);

/** End the use of activated memory. */
ACL_API(8, 1) HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void *virPtr);

/** The communicator of this process that has a name. */
ACL_API(9, 2) HcclResult HcclCommGetHandleWithName(const char *commName, HcclComm *comm);

/** Register a function that is called around resuming and destroying communicators. */
ACL_API(9, 2) HcclResult HcclCommRegCommStateCallback(const char *regName, HcclCommStateCallback cb, void *args);

/** The state of the communicator that has a name. */
ACL_API(9, 2) HcclResult HcclCommGetStatus(const char *commId, HcclCommStatus *status);

/** Choose for each of some ranks whether it uses its own network port or the backup. */
ACL_API(9, 2) HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t *ranks, bool *useBackup, uint32_t nRanks);

/** Begin a group: its calls only queue until the outermost group ends. */
ACL_API(9, 2) HcclResult HcclGroupStart(void);

/** End a group; the outermost one does the work of all calls in it. */
ACL_API(9, 2) HcclResult HcclGroupEnd(void);

/** Whether the thread is in a group. */
ACL_API(9, 2) HcclResult HcclGroupStatusGet(bool *isGroupEnabled);

/** Register memory of the same size on all ranks as a window. */
ACL_API(9, 2) HcclResult HcclCommSymWinRegister(HcclComm comm, void *addr, uint64_t size, HcclCommSymWindow *winHandle,
    uint32_t flag);

/** Unregister a window on all ranks. */
ACL_API(9, 2) HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);

/** The window that has an address, and the place in it; NULL if there is none. */
ACL_API(9, 2) HcclResult HcclCommSymWinGet(HcclComm comm, void *ptr, size_t size, HcclCommSymWindow *winHandle,
    size_t *offset);

/** An option of a communicator. */
ACL_API(9, 2) HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void *info);

/* ---- hccl/hccl.h ---- */

/** Reduce the elements of all ranks, with the result on all ranks. */
ACL_API(8, 1) HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
    HcclReduceOp op, HcclComm comm, aclrtStream stream);

/** Copy the root's elements to all ranks. */
ACL_API(8, 1) HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
    aclrtStream stream);

/** Reduce the elements of all ranks, with block r of the result on rank r. */
ACL_API(8, 1) HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
    HcclReduceOp op, HcclComm comm, aclrtStream stream);

/** Reduce the elements of all ranks, with the part of the result that tables name on each rank. */
ACL_API(8, 1) HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
    void *recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm, aclrtStream stream);

/** Copy block r of the root's elements to rank r. */
ACL_API(8, 1) HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
    uint32_t root, HcclComm comm, aclrtStream stream);

/** Copy the elements of all ranks to all ranks, in the order of the ranks. */
ACL_API(8, 1) HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
    HcclComm comm, aclrtStream stream);

/** Copy the elements of all ranks to all ranks, to the places and with the counts of tables. */
ACL_API(8, 1) HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
    const void *recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream);

/** Send elements to a rank, which receives them. */
ACL_API(8, 1) HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
    HcclComm comm, aclrtStream stream);

/** Receive elements that a rank sends. */
ACL_API(8, 1) HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
    aclrtStream stream);

/** Copy parts between all ranks, whose places and counts are in tables of each rank. */
ACL_API(8, 1) HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
    HcclDataType sendType, const void *recvBuf, const void *recvCounts, const void *rdispls, HcclDataType recvType,
    HcclComm comm, aclrtStream stream);

/** Copy block j of rank i to block i of rank j, for all ranks. */
ACL_API(8, 1) HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
    const void *recvBuf, uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream);

/** Reduce the elements of all ranks, with the result on the root. */
ACL_API(8, 1) HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
    HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);

/** Send to and receive from several ranks; no item waits for another. */
ACL_API(8, 1) HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
    aclrtStream stream);

/** Copy parts between all ranks, whose counts are in one matrix. */
ACL_API(9, 2) HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
    const void *recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream);

/** Write what all ranks need to meet, on one of several roots. */
ACL_API(9, 2) HcclResult HcclGetRootInfoScalable(HcclRootInfo *rootInfo);

/** Create the communicator of this rank from the root info of several roots. */
ACL_API(9, 2) HcclResult HcclCommInitRootInfoScalable(uint32_t nRanks, uint32_t nRoot, const HcclRootInfo *rootInfoList,
    uint32_t rank, uint32_t nExtRoot, const HcclCommConfig *config, HcclComm *comm);

/** Register memory that other ranks may use. */
ACL_API(9, 2) HcclResult HcclCommRegister(HcclComm comm, void *addr, uint64_t size, void **handle, uint32_t flag);

/** Unregister memory. */
ACL_API(9, 2) HcclResult HcclCommDeregister(HcclComm comm, void *handle);

/** Exchange registered memory with some ranks. */
ACL_API(9, 2) HcclResult HcclCommExchangeMem(HcclComm comm, void *windowHandle, uint32_t *peerRanks,
    uint32_t peerRankNum);
