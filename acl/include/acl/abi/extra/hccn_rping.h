/* Pings between the network ports of devices, libhccl_plf.so; all functions refuse the call. */

/* ---- hccl/hccn_rping.h ---- */

#define HCCN_RPING_PAYLOAD_LEN_MAX 1500
#define HCCN_RPING_ADDR_TYPE_IP 0
#define HCCN_RPING_ADDR_TYPE_EID 1

typedef void *HccnRpingCtx;

typedef enum HccnResult {
    HCCN_SUCCESS = 0,
    HCCN_E_AGAIN = 1,
    HCCN_E_FAIL = 2,
    HCCN_E_PARA = 3,
    HCCN_E_MEM = 4,
    HCCN_E_RESERVED = 5,
} HccnResult;

typedef enum HccnRpingMode {
    HCCN_RPING_MODE_ROCE = 0,
    HCCN_RPING_MODE_UB = 1,
    PING_MODE_IPoUB = 2,
    HCCN_RPING_MODE_RESERVED = 3,
} HccnRpingMode;

typedef enum HccnRpingAddTargetState {
    HCCN_RPING_ADDTARGET_STATE_DONE = 0,
    HCCN_RPING_ADDTARGET_STATE_DOING = 1,
    HCCN_RPING_ADDTARGET_STATE_FAIL = 2,
    HCCN_RPING_ADDTARGET_STATE_TIMEOUT = 3,
    HCCN_RPING_ADDTARGET_STATE_RESERVED = 4,
} HccnRpingAddTargetState;

typedef enum HccnRpingResultState {
    HCCN_RPING_RESULT_STATE_NOT_FOUND = 0,
    HCCN_RPING_RESULT_STATE_INVALID = 1,
    HCCN_RPING_RESULT_STATE_VALID = 2,
    HCCN_RPING_RESULT_STATE_RESERVED = 3,
} HccnRpingResultState;

typedef struct HccnRpingInitAttrDef {
    HccnRpingMode mode;
    uint32_t port;
    uint32_t npuNum;
    uint32_t bufferSize;
    uint32_t sl;
    uint32_t tc;
    union {
        char *ipAddr;
        char *eid;
    };
} HccnRpingInitAttr;

typedef struct HccnRpingTargetInfoDef {
    uint32_t srcPort;
    union {
        uint32_t reserved;
        uint32_t addrType;
    };
    uint32_t sl;
    uint32_t tc;
    uint32_t port;
    uint32_t payloadLen;
    char payload[1500];
    union {
        char *srcIp;
        char *srcEid;
    };
    union {
        char *dstIp;
        char *dstEid;
    };
} HccnRpingTargetInfo;

typedef struct HccnRpingResultInfoDef {
    uint32_t txPkt;
    uint32_t rxPkt;
    uint32_t minRTT;
    uint32_t maxRTT;
    uint32_t avgRTT;
    HccnRpingResultState state;
    uint32_t reserved[5];
} HccnRpingResultInfo;

typedef struct HccnRpingTimestampDef {
    uint64_t sec;
    uint64_t usec;
} HccnRpingTimestamp;

typedef struct HccnRpingPayloadHeadDef {
    union {
        char srcIp[64];
        char srcEid[16];
    };
    union {
        char dstIp[64];
        char dstEid[16];
    };
    uint32_t payloadLen;
    uint32_t resvd[3];
    HccnRpingTimestamp t1;
    HccnRpingTimestamp t2;
    HccnRpingTimestamp t3;
    HccnRpingTimestamp t4;
    uint32_t rpingBatchId;
    uint32_t addr_type;
    uint8_t reserved[40];
} HccnRpingPayloadHead;

typedef struct HccnRpingAddTargetConfigDef {
    uint32_t connectTimeout;
    uint8_t reserve[32];
} HccnRpingAddTargetConfig;

ACL_API(8, 1) HccnResult HccnRpingInit(uint32_t devLogicId, HccnRpingInitAttr *initAttr, HccnRpingCtx *rpingCtx);
ACL_API(8, 1) HccnResult HccnRpingDeinit(HccnRpingCtx rpingCtx);
ACL_API(8, 1) HccnResult HccnRpingAddTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target);
ACL_API(8, 1) HccnResult HccnRpingRemoveTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target);
ACL_API(8, 1) HccnResult HccnRpingGetTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target,
    HccnRpingAddTargetState *targetState);
ACL_API(8, 1) HccnResult HccnRpingBatchPingStart(HccnRpingCtx rpingCtx, uint32_t pktNum, uint32_t interval,
    uint32_t timeout);
ACL_API(8, 1) HccnResult HccnRpingBatchPingStop(HccnRpingCtx rpingCtx);
ACL_API(8, 1) HccnResult HccnRpingGetResult(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target,
    HccnRpingResultInfo *result);
ACL_API(8, 1) HccnResult HccnRpingGetPayload(HccnRpingCtx rpingCtx, void **payload, uint32_t *payloadLen);
ACL_API(9, 2) HccnResult HccnRpingAddTargetV2(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target,
    HccnRpingAddTargetConfig *config);
ACL_API(9, 2) HccnResult HccnRpingAddTargetWithCfg(HccnRpingCtx rpingCtx, uint32_t targetNum,
    HccnRpingTargetInfo *target, HccnRpingAddTargetConfig *config);
