/* Collective communication, libhccl.so: the names that programs link with; all functions refuse the call. */

typedef void *HcclComm;

typedef enum HcclResult {
    HCCL_SUCCESS = 0,
    HCCL_E_NOT_SUPPORT = 5,
} HcclResult;

typedef enum HcclDataType {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_RESERVED = 255,
} HcclDataType;

typedef enum HcclReduceOp {
    HCCL_REDUCE_SUM = 0,
    HCCL_REDUCE_RESERVED = 255,
} HcclReduceOp;

typedef struct HcclRootInfoDef {
    char internal[4108];
} HcclRootInfo;

ACL_API(8, 1) HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo);
ACL_API(8, 1) HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
    HcclComm *comm);
ACL_API(8, 1) HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms);
ACL_API(8, 1) HcclResult HcclCommDestroy(HcclComm comm);
ACL_API(8, 1) HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
    HcclReduceOp op, HcclComm comm, aclrtStream stream);
ACL_API(8, 1) HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
    aclrtStream stream);
ACL_API(8, 1) HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
    HcclReduceOp op, HcclComm comm, aclrtStream stream);
ACL_API(8, 1) HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
    HcclComm comm, aclrtStream stream);
ACL_API(8, 1) HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
    HcclComm comm, aclrtStream stream);
ACL_API(8, 1) HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
    HcclComm comm, aclrtStream stream);
