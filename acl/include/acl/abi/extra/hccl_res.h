/* For those who write collectives, libhccl.so and libhcomm.so: a communicator's channels, threads, teams and graph of
 * ranks. All functions refuse the call. */

/* ---- hccl/hccl_ccu_res.h ---- */

typedef uint64_t CcuInsHandle;

ACL_API(9, 2) HcclResult HcclCommAssignCcuIns(HcclComm comm, CcuInsHandle insHandle);
ACL_API(9, 2) HcclResult HcclCommQueryCcuIns(HcclComm comm, CcuInsHandle *insHandles, uint32_t *insNum);
ACL_API(9, 2) HcclResult HcclCommQueryAssignedCcuIns(HcclComm comm, CcuInsHandle *insHandles, uint32_t *insNum);

/* ---- hccl/hccl_channel.h ---- */

#define HCCL_CHANNEL_MAGIC_WORD 0x0F0F0F0Fu
#define HCCL_CHANNEL_VERSION 1
#define HCCL_CHANNEL_DESC_RAW_MAX_LEN 128
#define HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN 255

typedef void *HcclMemHandle;
typedef void *HcclChannelConfig;

typedef enum HcclChannelConfigType {
    HCCL_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0,
    HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG = 1,
} HcclChannelConfigType;

typedef struct HcclChannelDesc {
    CommAbiHeader header;
    uint32_t remoteRank;
    CommProtocol channelProtocol;
    EndpointDesc localEndpoint;
    EndpointDesc remoteEndpoint;
    uint32_t notifyNum;
    HcclMemHandle *memHandles;
    uint32_t memHandleNum;
    union {
        uint8_t raws[128];
        struct {
            uint32_t queueNum;
            uint32_t retryCnt;
            uint32_t retryInterval;
            uint8_t tc;
            uint8_t sl;
        } roceAttr;
        struct {
            uint8_t pathMode;
        } ubMemAttr;
    };
} HcclChannelDesc;

ACL_API(9, 2) HcclResult HcclChannelAcquire(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs,
    uint32_t channelNum, ChannelHandle *channels);
ACL_API(9, 2) HcclResult HcclChannelConfigCreate(HcclChannelConfig *config);
ACL_API(9, 2) HcclResult HcclChannelConfigDestroy(HcclChannelConfig config);
ACL_API(9, 2) HcclResult HcclChannelConfigSetInt(HcclChannelConfig config, HcclChannelConfigType type, uint32_t value);
ACL_API(9, 2) HcclResult HcclChannelConfigSetStr(HcclChannelConfig config, HcclChannelConfigType type,
    const char *value);
ACL_API(9, 2) HcclResult HcclChannelAcquireWithConfig(HcclComm comm, CommEngine engine,
    const HcclChannelDesc *channelDescs, uint32_t channelNum, HcclChannelConfig config, ChannelHandle *channels);
ACL_API(9, 2) HcclResult HcclChannelQuery(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs,
    uint32_t channelNum, ChannelHandle *channels);
ACL_API(9, 2) HcclResult HcclChannelDestroy(HcclComm comm, const ChannelHandle *channels, uint32_t channelNum);
ACL_API(9, 2) HcclResult HcclChannelGetHcclBuffer(HcclComm comm, ChannelHandle channel, void **buffer, uint64_t *size);
ACL_API(9, 2) HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t *memNum,
    CommMem **remoteMems, char ***memTags);

/* ---- hccl/hccl_launch.h ---- */

#define P2P_MAX_ARG_SIZE 8192
#define HCCL_OP_DESC_OP_NAME_MAX_LEN 256
#define HCCL_OPDESC_MAGIC_WORD 0x0F0F0F0Fu
#define HCCL_OPDESC_VERSION 1
#define HCCL_KERNEL_SO_NAME_MAX_LEN 256
#define HCCL_KERNEL_FUNC_NAME_MAX_LEN 256
#define HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD 0x0F0F0F0Fu
#define HCCL_KERNEL_LAUNCH_CFG_VERSION 1

typedef struct HcclP2pKernelParam {
    ThreadHandle sendRecvThread;
    uint8_t opParams[8192];
} HcclP2pKernelParam;

typedef struct HcclOpP2pDesc {
    void *buffer;
    uint8_t reserved[8];
    HcclCMDType cmdType;
    HcclDataType dataType;
    uint64_t count;
    uint32_t remoteRank;
    void *unfoldStream;
} HcclOpP2pDesc;

typedef struct HcclOpDesc {
    CommAbiHeader header;
    uint32_t opDescType;
    char opName[256];
    union {
        uint8_t raws[76];
        HcclOpP2pDesc p2p;
    };
} HcclOpDesc;

typedef struct HcclKernelFuncInfo {
    char kernelSoName[256];
    char kernelFuncName[256];
    void *args;
    uint32_t argSize;
} HcclKernelFuncInfo;

typedef struct HcclKernelLaunchCfg {
    CommAbiHeader header;
    uint64_t timeOut;
    uint8_t reserved[104];
} HcclKernelLaunchCfg;

ACL_API(9, 2) HcclResult HcclAicpuKernelLaunch(HcclComm comm, const HcclOpDesc *opInfo,
    const HcclKernelFuncInfo *funcInfo, ThreadHandle aicpuThreadHandle, aclrtStream userStream,
    const HcclKernelLaunchCfg *kernelLaunchCfg);

/* ---- hccl/hccl_mc2.h ---- */

ACL_API(9, 2) HcclResult HcclKfcAllocOpArgs(void **opArgs);
ACL_API(9, 2) HcclResult HcclKfcFreeOpArgs(void *opArgs);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetSrcDataType(void *opArgs, uint8_t srcDataType);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetDstDataType(void *opArgs, uint8_t dstDataType);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetReduceType(void *opArgs, uint32_t reduceType);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetCount(void *opArgs, uint64_t count);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetAlgConfig(void *opArgs, char *algConfig);
ACL_API(9, 2) HcclResult HcclKfcOpArgsSetCommEngine(void *opArgs, uint8_t commEngine);
ACL_API(9, 2) HcclResult HcclCreateOpResCtx(HcclComm comm, uint8_t opType, void *opArgs, void **opResCtx);

/* ---- hccl/hccl_rank_graph.h ---- */

#define COMM_LINK_MAGIC_WORD 0x0F0E0F0Fu
#define COMM_LINK_VERSION 1

typedef uint32_t EndpointAttrBwCoeff;
typedef uint32_t EndpointAttrDieId;
typedef uint32_t EndpointAttrLocation;

typedef enum EndpointAttr {
    ENDPOINT_ATTR_INVALID = -1,
    ENDPOINT_ATTR_BW_COEFF = 0,
    ENDPOINT_ATTR_DIE_ID = 1,
    ENDPOINT_ATTR_LOCATION = 2,
} EndpointAttr;

typedef enum CommTopo {
    COMM_TOPO_RESERVED = -1,
    COMM_TOPO_CLOS = 0,
    COMM_TOPO_1DMESH = 1,
    COMM_TOPO_910_93 = 2,
    COMM_TOPO_310P = 3,
    COMM_TOPO_A2AXSERVER = 4,
    COMM_TOPO_CUSTOM = 5,
} CommTopo;

typedef enum HcclHeterogMode {
    HCCL_HETEROG_MODE_INVALID = -1,
    HCCL_HETEROG_MODE_HOMOGENEOUS = 0,
    HCCL_HETEROG_MODE_MIX_A2_A3 = 1,
} HcclHeterogMode;

typedef struct CommLink {
    CommAbiHeader header;
    EndpointDesc srcEndpointDesc;
    EndpointDesc dstEndpointDesc;
    union {
        uint8_t raws[128];
        struct {
            CommProtocol linkProtocol;
            uint8_t hop;
        };
    } linkAttr;
} CommLink;

ACL_API(9, 2) HcclResult HcclRankGraphGetLayers(HcclComm comm, uint32_t **netLayers, uint32_t *netLayerNum);
ACL_API(9, 2) HcclResult HcclRankGraphGetRanksByLayer(HcclComm comm, uint32_t netLayer, uint32_t **ranks,
    uint32_t *rankNum);
ACL_API(9, 2) HcclResult HcclRankGraphGetRankSizeByLayer(HcclComm comm, uint32_t netLayer, uint32_t *rankNum);
ACL_API(9, 2) HcclResult HcclRankGraphGetTopoTypeByLayer(HcclComm comm, uint32_t netLayer, CommTopo *topoType);
ACL_API(9, 2) HcclResult HcclRankGraphGetInstSizeListByLayer(HcclComm comm, uint32_t netLayer, uint32_t **instSizeList,
    uint32_t *listSize);
ACL_API(9, 2) HcclResult HcclRankGraphGetLinks(HcclComm comm, uint32_t netLayer, uint32_t srcRank, uint32_t dstRank,
    CommLink **links, uint32_t *linkNum);
ACL_API(9, 2) HcclResult HcclRankGraphGetTopoInstsByLayer(HcclComm comm, uint32_t netLayer, uint32_t **topoInsts,
    uint32_t *topoInstNum);
ACL_API(9, 2) HcclResult HcclRankGraphGetTopoType(HcclComm comm, uint32_t netLayer, uint32_t topoInstId,
    CommTopo *topoType);
ACL_API(9, 2) HcclResult HcclRankGraphGetRanksByTopoInst(HcclComm comm, uint32_t netLayer, uint32_t topoInstId,
    uint32_t **ranks, uint32_t *rankNum);
ACL_API(9, 2) HcclResult HcclGetHeterogMode(HcclComm comm, HcclHeterogMode *mode);
ACL_API(9, 2) HcclResult HcclRankGraphGetEndpointNum(HcclComm comm, uint32_t layer, uint32_t topoInstId, uint32_t *num);
ACL_API(9, 2) HcclResult HcclRankGraphGetEndpointDesc(HcclComm comm, uint32_t layer, uint32_t topoInstId,
    uint32_t *descNum, EndpointDesc *endpointDesc);
ACL_API(9, 2) HcclResult HcclRankGraphGetEndpointInfo(HcclComm comm, uint32_t rankId, const EndpointDesc *endpointDesc,
    EndpointAttr endpointAttr, uint32_t infoLen, void *info);

/* ---- hccl/hccl_res.h ---- */

#define HCCL_RES_TAG_MAX_LEN 255

typedef aclrtStream ThreadResTypeStream;

typedef enum HcclDedicatedThreadType {
    HCCL_DED_THREAD_TYPE_INVALID = -1,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH = 0,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE = 1,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE = 2,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_ACLGRAPH = 3,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_GE = 4,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE = 5,
} HcclDedicatedThreadType;

ACL_API(9, 2) HcclResult HcclGetHcclBuffer(HcclComm comm, void **buffer, uint64_t *size);
ACL_API(9, 2) HcclResult HcclGetHcclBufferCleared(HcclComm comm, void **buffer, uint64_t *size);
ACL_API(9, 2) HcclResult HcclThreadAcquire(HcclComm comm, CommEngine engine, uint32_t threadNum,
    uint32_t notifyNumPerThread, ThreadHandle *threads);
ACL_API(9, 2) HcclResult HcclThreadAcquireWithConfig(HcclComm comm, CommEngine engine, uint32_t threadNum,
    ThreadType type, const ThreadConfig *config, ThreadHandle *threads);
ACL_API(9, 2) HcclResult HcclThreadAcquireWithStream(HcclComm comm, CommEngine engine, aclrtStream stream,
    uint32_t notifyNum, ThreadHandle *thread);
ACL_API(9, 2) HcclResult HcclDedicatedThreadAcquire(HcclComm comm, HcclDedicatedThreadType useType,
    uint32_t notifyNumPerThread, ThreadHandle *thread);
ACL_API(9, 2) HcclResult HcclEngineCtxCreate(HcclComm comm, const char *ctxTag, CommEngine engine, uint64_t size,
    void **ctx);
ACL_API(9, 2) HcclResult HcclEngineCtxGet(HcclComm comm, const char *ctxTag, CommEngine engine, void **ctx,
    uint64_t *size);
ACL_API(9, 2) HcclResult HcclEngineCtxCopy(HcclComm comm, CommEngine engine, const char *ctxTag, const void *srcCtx,
    uint64_t size, uint64_t dstCtxOffset);
ACL_API(9, 2) HcclResult HcclEngineCtxDestroy(HcclComm comm, const char *ctxTag, CommEngine engine);
ACL_API(9, 2) HcclResult HcclCommMemReg(HcclComm comm, const char *memTag, const CommMem *mem,
    HcclMemHandle *memHandle);
ACL_API(9, 2) HcclResult HcclThreadResGetInfo(HcclComm comm, ThreadHandle thread, ThreadResType resType,
    uint32_t infoLen, void **info);

/* ---- hccl/hccl_sym_win.h ---- */

ACL_API(9, 2) HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank,
    void **ptr);

/* ---- hccl/hccl_team.h ---- */

#define HCCL_TEAM_CREATE_DESC_MAGIC_WORD 0x0FCF0F14u
#define HCCL_TEAM_CREATE_DESC_VERSION 1
#define HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD 0x0FCF0F15u
#define HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION 1

typedef struct HcclTeamCreateDesc {
    CommAbiHeader header;
    const uint32_t *rankIds;
    uint32_t rankNum;
    uint32_t selfRankId;
    uint32_t netLayer;
    CommProtocol protocol;
    HcommTeamSyncMemRequirement requirement;
    uint32_t reserved[4];
} HcclTeamCreateDesc;

typedef struct HcclTeamCreateChannelsDesc {
    CommAbiHeader header;
    CommEngine engine;
    uint32_t notifyNum;
    CommProtocol protocol;
    uint32_t channelCnt;
    uint32_t reserved[4];
} HcclTeamCreateChannelsDesc;

ACL_API(9, 2) HcclResult HcclWorldTeamCreate(HcclComm comm, const HcclTeamCreateDesc *desc, HcommTeamHandle *worldTeam);
ACL_API(9, 2) HcclResult HcclSubTeamCreate(HcommTeamHandle worldTeam, const HcclTeamCreateDesc *desc,
    HcommTeamHandle *team);
ACL_API(9, 2) HcclResult HcclTeamDestroy(HcommTeamHandle team);
ACL_API(9, 2) HcclResult HcclTeamWindowRegister(HcclComm comm, HcommTeamHandle worldTeam, const CommMem *localMem,
    HcommWindowHandle *window, uint32_t flag);
ACL_API(9, 2) HcclResult HcclTeamWindowDeregister(HcommTeamHandle worldTeam, HcommWindowHandle window);
ACL_API(9, 2) HcclResult HcclTeamChannelsCreate(HcclComm comm, HcommTeamHandle team,
    const HcclTeamCreateChannelsDesc *desc);
