/* Entry points of collective communication: communicators, operators, groups of calls. */
#include <acl/acl.h>
#include <hccl/hccl.h>

#include "base/config.h"
#include "collective/batch.h"
#include "collective/collective.h"
#include "collective/comm.h"
#include "collective/join.h"
#include "engine/context.h"
#include "engine/device.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MOST (2u * SIM_DEVICES_MAX) /* one message to each rank, and one from each */

#define NOT_NULL(pointer)                                                                                              \
    SIM_ARGUMENT((pointer) != NULL, HCCL_E_PTR, "%s is NULL, expected a valid pointer", #pointer)

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const HcclResult result_ = (call);                                                                             \
        if (result_ != HCCL_SUCCESS)                                                                                   \
            return result_;                                                                                            \
    } while (0)

/* ---- communicators ---- */

HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo)
{
    SIM_ENTER();
    NOT_NULL(rootInfo);
    return sim_join_root(rootInfo);
}

HcclResult HcclGetRootInfoScalable(HcclRootInfo *rootInfo)
{
    SIM_ENTER();
    NOT_NULL(rootInfo);
    return sim_join_root(rootInfo);
}

static HcclResult join(uint32_t count, const HcclRootInfo *info, uint32_t rank, const HcclCommConfig *config,
                       HcclComm *comm)
{
    struct sim_comm_options options;
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_read_options(config, &options);
    if (result == HCCL_SUCCESS)
        result = sim_join_by_root(count, info, rank, &options, &seat);
    return result == HCCL_SUCCESS ? sim_batch_wait(seat, comm) : result;
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank, HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(rootInfo);
    NOT_NULL(comm);
    return join(nRanks, rootInfo, rank, NULL, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(rootInfo);
    NOT_NULL(config);
    NOT_NULL(comm);
    return join(nRanks, rootInfo, rank, config, comm);
}

/* Several roots spread the work of gathering the ranks, of which there is none here: the first one does it all. */
HcclResult HcclCommInitRootInfoScalable(uint32_t nRanks, uint32_t nRoot, const HcclRootInfo *rootInfoList,
                                        uint32_t rank, uint32_t nExtRoot, const HcclCommConfig *config, HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(rootInfoList);
    NOT_NULL(config);
    NOT_NULL(comm);
    SIM_ARGUMENT(nRoot != 0 && nRoot <= nRanks, HCCL_E_PARA, "nRoot is %u, expected 1 to %u, nRanks", nRoot, nRanks);
    SIM_ARGUMENT(nExtRoot == 0, HCCL_E_PARA, "nExtRoot is %u, expected 0", nExtRoot);
    return join(nRanks, rootInfoList, rank, config, comm);
}

static HcclResult join_table(const char *path, uint32_t rank, const HcclCommConfig *config, HcclComm *comm)
{
    struct sim_comm_options options;
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_read_options(config, &options);
    if (result == HCCL_SUCCESS)
        result = sim_join_by_table(path, rank, &options, &seat);
    return result == HCCL_SUCCESS ? sim_batch_wait(seat, comm) : result;
}

HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(clusterInfo);
    NOT_NULL(comm);
    return join_table(clusterInfo, rank, NULL, comm);
}

HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank, HcclCommConfig *config,
                                         HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(clusterInfo);
    NOT_NULL(config);
    NOT_NULL(comm);
    return join_table(clusterInfo, rank, config, comm);
}

/* Who is not a member says so, and gets no communicator. */
HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig *config, HcclComm *subComm)
{
    SIM_ENTER();
    struct sim_comm_options options;
    struct sim_comm_seat seat;
    NOT_NULL(comm);
    NOT_NULL(config);
    NOT_NULL(subComm);
    *subComm = NULL;
    if (rankIds == NULL && subCommId == UINT32_MAX)
        return HCCL_SUCCESS;
    NOT_NULL(rankIds);
    HcclResult result = sim_comm_read_options(config, &options);
    if (result == HCCL_SUCCESS)
        result = sim_join_part(*comm, rankNum, rankIds, subCommId, subCommRankId, &options, &seat);
    return result == HCCL_SUCCESS ? sim_batch_wait(seat, subComm) : result;
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms)
{
    SIM_ENTER();
    const uint32_t present = sim_config_devices();
    NOT_NULL(devices);
    NOT_NULL(comms);
    SIM_ARGUMENT(ndev != 0 && ndev <= present, HCCL_E_PARA, "ndev is %u, expected 1 to %u, the number of devices", ndev,
                 present);
    for (uint32_t i = 0; i < ndev; i++) {
        SIM_ARGUMENT(devices[i] >= 0 && (uint32_t)devices[i] < present, HCCL_E_PARA,
                     "devices[%u] is %d, expected 0 to %u", i, devices[i], present - 1);
        for (uint32_t other = 0; other < i; other++)
            SIM_ARGUMENT(devices[other] != devices[i], HCCL_E_PARA,
                         "devices[%u] and devices[%u] are both %d, expected each device once", other, i, devices[i]);
    }
    return sim_comm_create_all(ndev, devices, comms);
}

HcclResult HcclCommDestroy(HcclComm comm)
{
    SIM_ENTER();
    return sim_comm_destroy(comm);
}

HcclResult HcclCommSuspend(HcclComm comm)
{
    SIM_ENTER();
    return sim_comm_suspend(comm);
}

HcclResult HcclCommResume(HcclComm comm)
{
    SIM_ENTER();
    return sim_comm_resume(comm);
}

/* ---- what a communicator is ---- */

HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize)
{
    SIM_ENTER();
    struct sim_comm_seat seat;
    NOT_NULL(rankSize);
    TRY(sim_comm_find(comm, &seat));
    *rankSize = seat.se_group->gp_count;
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank)
{
    SIM_ENTER();
    struct sim_comm_seat seat;
    NOT_NULL(rank);
    TRY(sim_comm_find(comm, &seat));
    *rank = seat.se_rank;
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommName(HcclComm comm, char *commName)
{
    SIM_ENTER();
    struct sim_comm_seat seat;
    NOT_NULL(commName);
    TRY(sim_comm_find(comm, &seat));
    memcpy(commName, seat.se_group->gp_name, SIM_COMM_NAME);
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

HcclResult HcclCommGetHandleWithName(const char *commName, HcclComm *comm)
{
    SIM_ENTER();
    NOT_NULL(commName);
    NOT_NULL(comm);
    return sim_comm_named(commName, comm);
}

HcclResult HcclCommGetStatus(const char *commId, HcclCommStatus *status)
{
    SIM_ENTER();
    HcclComm comm;
    NOT_NULL(commId);
    NOT_NULL(status);
    *status = sim_comm_named(commId, &comm) == HCCL_SUCCESS ? HCCL_COMM_STATUS_READY : HCCL_COMM_STATUS_INVALID;
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError)
{
    SIM_ENTER();
    struct sim_comm_seat seat;
    NOT_NULL(asyncError);
    TRY(sim_comm_find(comm, &seat));
    sim_lock(&seat.se_group->gp_lock);
    *asyncError = seat.se_group->gp_ranks[seat.se_rank].rk_error;
    sim_unlock(&seat.se_group->gp_lock);
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

const char *HcclGetErrorString(HcclResult code)
{
    static const char *const texts[] = {
        [HCCL_SUCCESS] = "no error",
        [HCCL_E_PARA] = "an argument is wrong",
        [HCCL_E_PTR] = "a pointer is NULL",
        [HCCL_E_MEMORY] = "there is no memory",
        [HCCL_E_INTERNAL] = "internal error",
        [HCCL_E_NOT_SUPPORT] = "not supported",
        [HCCL_E_NOT_FOUND] = "not found",
        [HCCL_E_UNAVAIL] = "not available",
        [HCCL_E_SYSCALL] = "a call of the operating system failed",
        [HCCL_E_TIMEOUT] = "timed out",
        [HCCL_E_OPEN_FILE_FAILURE] = "a file cannot be opened",
        [HCCL_E_TCP_CONNECT] = "no connection by TCP",
        [HCCL_E_ROCE_CONNECT] = "no connection by RoCE",
        [HCCL_E_TCP_TRANSFER] = "a transfer by TCP failed",
        [HCCL_E_ROCE_TRANSFER] = "a transfer by RoCE failed",
        [HCCL_E_RUNTIME] = "a call of the runtime failed",
        [HCCL_E_DRV] = "a call of the driver failed",
        [HCCL_E_PROFILING] = "a call of the profiler failed",
        [HCCL_E_CCE] = "a call of the compiler failed",
        [HCCL_E_NETWORK] = "the network failed",
        [HCCL_E_AGAIN] = "in use, try again",
        [HCCL_E_REMOTE] = "another rank failed",
        [HCCL_E_SUSPENDING] = "the communicator is suspended",
    };
    const size_t number = (size_t)code;
    return number < sizeof texts / sizeof *texts ? texts[number] : "unknown error";
}

/* How many features of HcclCommConfig there are. */
uint32_t HcclGetCommConfigCapability(void)
{
    SIM_ENTER();
    return sim_config()->cf_cann < 805 ? 5 : HCCL_COMM_CONFIG_RESERVED;
}

/* Results are always deterministic, so the setting is only kept. */
static _Atomic int32_t deterministic;

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue)
{
    SIM_ENTER();
    SIM_ARGUMENT(config == HCCL_DETERMINISTIC, HCCL_E_PARA, "config is %d, expected HCCL_DETERMINISTIC (0)",
                 (int)config);
    SIM_ARGUMENT(configValue.value >= 0 && configValue.value <= 2, HCCL_E_PARA, "configValue is %d, expected 0 to 2",
                 configValue.value);
    deterministic = configValue.value;
    return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue)
{
    SIM_ENTER();
    NOT_NULL(configValue);
    SIM_ARGUMENT(config == HCCL_DETERMINISTIC, HCCL_E_PARA, "config is %d, expected HCCL_DETERMINISTIC (0)",
                 (int)config);
    configValue->value = deterministic;
    return HCCL_SUCCESS;
}

/* ---- groups of calls ---- */

HcclResult HcclGroupStart(void)
{
    SIM_ENTER();
    sim_batch_start();
    return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd(void)
{
    SIM_ENTER();
    return sim_batch_end();
}

HcclResult HcclGroupStatusGet(bool *isGroupEnabled)
{
    SIM_ENTER();
    NOT_NULL(isGroupEnabled);
    *isGroupEnabled = sim_batch_is_open();
    return HCCL_SUCCESS;
}

/* ---- operators ---- */

static HcclResult queue(const struct sim_collective_call *call, aclrtStream stream, void *site)
{
    struct sim_target target;
    NOT_NULL(stream);
    return sim_stream_own(stream, &target) != ACL_SUCCESS ? HCCL_E_RUNTIME : sim_collective_queue(call, target, site);
}

#define QUEUE(...) queue(&(struct sim_collective_call){__VA_ARGS__}, stream, SIM_SITE())

HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_ALL_REDUCE, .cl_comm = comm, .cl_type = dataType, .cl_op = op, .cl_count = count,
                 .cl_from = sendBuf, .cl_to = recvBuf);
}

HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_REDUCE, .cl_comm = comm, .cl_type = dataType, .cl_op = op, .cl_root = root,
                 .cl_count = count, .cl_from = sendBuf, .cl_to = recvBuf);
}

HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_BROADCAST, .cl_comm = comm, .cl_type = dataType, .cl_op = HCCL_REDUCE_RESERVED,
                 .cl_root = root, .cl_count = count, .cl_to = buf);
}

HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm,
                         aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_ALL_GATHER, .cl_comm = comm, .cl_type = dataType, .cl_op = HCCL_REDUCE_RESERVED,
                 .cl_count = sendCount, .cl_from = sendBuf, .cl_to = recvBuf);
}

HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                          const void *recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    NOT_NULL(recvCounts);
    NOT_NULL(recvDispls);
    return QUEUE(.cl_kind = SIM_ALL_GATHER_V, .cl_comm = comm, .cl_type = dataType, .cl_op = HCCL_REDUCE_RESERVED,
                 .cl_own_count = sendCount, .cl_from = sendBuf, .cl_to = recvBuf, .cl_to_counts = recvCounts,
                 .cl_to_starts = recvDispls);
}

HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                             HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_REDUCE_SCATTER, .cl_comm = comm, .cl_type = dataType, .cl_op = op,
                 .cl_count = recvCount, .cl_from = sendBuf, .cl_to = recvBuf);
}

HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls, void *recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream)
{
    SIM_ENTER();
    NOT_NULL(sendCounts);
    NOT_NULL(sendDispls);
    return QUEUE(.cl_kind = SIM_REDUCE_SCATTER_V, .cl_comm = comm, .cl_type = dataType, .cl_op = op,
                 .cl_own_count = recvCount, .cl_from = sendBuf, .cl_to = recvBuf, .cl_from_counts = sendCounts,
                 .cl_from_starts = sendDispls);
}

HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_SCATTER, .cl_comm = comm, .cl_type = dataType, .cl_op = HCCL_REDUCE_RESERVED,
                 .cl_root = root, .cl_count = recvCount, .cl_from = sendBuf, .cl_to = recvBuf);
}

static HcclResult check_types(HcclDataType sent, HcclDataType received)
{
    SIM_ARGUMENT(sent == received, HCCL_E_PARA, "sendType is %d and recvType is %d, expected the same", (int)sent,
                 (int)received);
    return HCCL_SUCCESS;
}

HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType, const void *recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    SIM_ARGUMENT(sendCount == recvCount, HCCL_E_PARA,
                 "sendCount is %llu and recvCount is %llu, expected the same", (unsigned long long)sendCount,
                 (unsigned long long)recvCount);
    HcclResult result = check_types(sendType, recvType);
    return result != HCCL_SUCCESS ? result
                                  : QUEUE(.cl_kind = SIM_ALL_TO_ALL, .cl_comm = comm, .cl_type = sendType,
                                          .cl_op = HCCL_REDUCE_RESERVED, .cl_count = sendCount, .cl_from = sendBuf,
                                          .cl_to = (void *)(uintptr_t)recvBuf);
}

HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls, HcclDataType sendType,
                         const void *recvBuf, const void *recvCounts, const void *rdispls, HcclDataType recvType,
                         HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    NOT_NULL(sendCounts);
    NOT_NULL(sdispls);
    NOT_NULL(recvCounts);
    NOT_NULL(rdispls);
    HcclResult result = check_types(sendType, recvType);
    return result != HCCL_SUCCESS
               ? result
               : QUEUE(.cl_kind = SIM_ALL_TO_ALL_V, .cl_comm = comm, .cl_type = sendType,
                       .cl_op = HCCL_REDUCE_RESERVED, .cl_from = sendBuf, .cl_to = (void *)(uintptr_t)recvBuf,
                       .cl_from_counts = sendCounts, .cl_from_starts = sdispls, .cl_to_counts = recvCounts,
                       .cl_to_starts = rdispls);
}

HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType, const void *recvBuf,
                          HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    NOT_NULL(sendCountMatrix);
    HcclResult result = check_types(sendType, recvType);
    return result != HCCL_SUCCESS
               ? result
               : QUEUE(.cl_kind = SIM_ALL_TO_ALL_V, .cl_comm = comm, .cl_type = sendType,
                       .cl_op = HCCL_REDUCE_RESERVED, .cl_from = sendBuf, .cl_to = (void *)(uintptr_t)recvBuf,
                       .cl_matrix = sendCountMatrix);
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    return QUEUE(.cl_kind = SIM_BARRIER, .cl_comm = comm, .cl_type = HCCL_DATA_TYPE_INT8,
                 .cl_op = HCCL_REDUCE_RESERVED);
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_transfer_message message = {true, destRank, dataType, count, sendBuf};
    NOT_NULL(stream);
    return sim_batch_message(SIM_TRANSFER_SEND, comm, &message, stream, SIM_SITE());
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_transfer_message message = {false, srcRank, dataType, count, recvBuf};
    NOT_NULL(stream);
    return sim_batch_message(SIM_TRANSFER_RECEIVE, comm, &message, stream, SIM_SITE());
}

static HcclResult queue_items(const HcclSendRecvItem *items, uint32_t count, struct sim_transfer_message *messages,
                              HcclComm comm, struct sim_target stream, void *site)
{
    for (uint32_t i = 0; i < count; i++) {
        SIM_ARGUMENT(items[i].sendRecvType == HCCL_SEND || items[i].sendRecvType == HCCL_RECV, HCCL_E_PARA,
                     "sendRecvInfo[%u].sendRecvType is %d, expected HCCL_SEND (0) or HCCL_RECV (1)", i,
                     (int)items[i].sendRecvType);
        messages[i] = (struct sim_transfer_message){items[i].sendRecvType == HCCL_SEND, items[i].remoteRank,
                                                    items[i].dataType, items[i].count, items[i].buf};
    }
    return sim_transfer_queue(SIM_TRANSFER_BATCH, comm, messages, count, stream, site);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    NOT_NULL(sendRecvInfo);
    NOT_NULL(stream);
    SIM_ARGUMENT(itemNum != 0 && itemNum <= ITEMS_MOST, HCCL_E_PARA,
                 "itemNum is %u, expected the length of sendRecvInfo, at most %u", itemNum, ITEMS_MOST);
    SIM_ARGUMENT(!sim_batch_is_open(), HCCL_E_NOT_SUPPORT,
                 "it was called between HcclGroupStart and HcclGroupEnd, expected HcclSend and HcclRecv there");
    if (sim_stream_own(stream, &target) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    struct sim_transfer_message *messages = malloc(itemNum * sizeof *messages);
    SIM_ARGUMENT(messages != NULL, HCCL_E_MEMORY, "there is no memory for %u messages", itemNum);
    HcclResult result = queue_items(sendRecvInfo, itemNum, messages, comm, target, SIM_SITE());
    free(messages);
    return result;
}
