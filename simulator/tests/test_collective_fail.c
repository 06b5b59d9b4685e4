/* Every way in which a collective operator, a message or a communicator fails. */
#include "collective.h"
#include "collective/meeting.h"

static HcclRootInfo root;

static void check_async_errors(HcclResult expected)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        HcclResult error = HCCL_E_INTERNAL;
        CHECK_CODE(HcclGetCommAsyncError(comms[rank], &error), 0);
        CHECK(error == expected);
    }
}

static void test_what_differs_between_ranks_is_reported(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0], streams[0]), 0);
    use(1);
    CHECK_CODE(HcclAllReduce(from[1], to[1], 5, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[1], streams[1]), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_PARAM_INVALID);
        CHECK_TEXT("EI0005: count is ");
    }
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    use(1);
    CHECK_CODE(HcclBroadcast(from[1], 1, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_PARAM_INVALID);
        CHECK_TEXT("expected the same function in the same order on all ranks");
    }
    use(0);
    CHECK_CODE(HcclSend(from[0], 3, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    use(1);
    CHECK_CODE(HcclRecv(to[1], 3, HCCL_DATA_TYPE_INT32, 0, comms[1], streams[1]), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_PARAM_INVALID);
        CHECK_TEXT("EI0005: rank 0 sends 3 elements of dataType 4 to rank 1, which expects 3 of dataType 2");
    }
    check_async_errors(HCCL_SUCCESS);
    EACH(HcclBarrier(comms[rank], streams[rank])); /* the communicator is as before */
    synchronize(0, 0);
    synchronize(1, 0);
}

static void test_tables_that_do_not_match(void)
{
    const uint64_t mine[] = {1, 2}, others[] = {1, 3}, starts[] = {0, 8};
    open_ranks(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(HcclAlltoAllV(from[rank], mine, starts, HCCL_DATA_TYPE_FP32, to[rank], rank == 0 ? mine : others,
                                 starts, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]), 0);
    }
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_PARAM_INVALID);
        CHECK_TEXT("EI0005: rank 1 sends 1 elements to rank 0, which expects 2");
    }
}

static void test_blocks_that_differ(void)
{
    const uint64_t lengths[2][2] = {{3, 4}, {3, 4}}, starts[2][2] = {{0, 3}, {0, 4}};
    open_ranks(2);
    EACH(HcclReduceScatterV(from[rank], lengths[rank], starts[rank], to[rank], lengths[rank][rank],
                            HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_PARAM_INVALID);
        CHECK_TEXT("EI0005: sendCounts or sendDispls of rank ");
    }
    const uint64_t far[] = {UINT64_MAX, UINT64_MAX};
    use(0);
    CHECK_CODE(HcclReduceScatterV(from[0], lengths[0], far, to[0], 3, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0],
                                  streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclReduceScatterV(from[0], lengths[0], starts[0], to[0], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                                  comms[0], streams[0]), HCCL_E_PARA);
    CHECK_TEXT("recvCount is 4, expected sendCounts[0], 3");
}

static void test_a_rank_that_does_not_come(void)
{
    time_scale = "0.005"; /* 340 ms: more than a loaded machine takes between two calls */
    CHECK(setenv("HCCL_EXEC_TIMEOUT", "68", 1) == 0);
    open_ranks(3);
    CHECK(unsetenv("HCCL_EXEC_TIMEOUT") == 0);
    time_scale = "1";
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(HcclAllReduce(from[rank], to[rank], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                                 streams[rank]), 0);
    }
    for (uint32_t rank = 0; rank < 2; rank++) {
        synchronize(rank, ACL_ERROR_RT_TASK_TIMEOUT);
        CHECK_TEXT("has waited for rank 2 until its time-out (HCCL_EXEC_TIMEOUT)");
    }
    use(2);
    CHECK_CODE(HcclAllReduce(from[2], to[2], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[2], streams[2]), 0);
    synchronize(2, ACL_ERROR_RT_TASK_TIMEOUT);
    check_async_errors(HCCL_E_REMOTE);
    use(0);
    CHECK_CODE(HcclRecv(to[0], 4, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    synchronize(0, ACL_ERROR_RT_TASK_TIMEOUT);
    CHECK_TEXT("EI0002: rank 0 has waited for rank 1, which has not sent");
}

/* Ranks that wait learn at once that another one has left, and so do those that come later. */
static void test_a_destroyed_communicator(void)
{
    open_ranks(3);
    use(0);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0], streams[0]), 0);
    use(1);
    CHECK_CODE(HcclRecv(to[1], 4, HCCL_DATA_TYPE_FP32, 2, comms[1], streams[1]), 0);
    run_until_it_waits(streams[1]);
    use(0);
    run_until_it_waits(streams[0]);
    CHECK_CODE(HcclCommDestroy(comms[2]), 0);
    CHECK_CODE(HcclCommDestroy(comms[2]), HCCL_E_NOT_FOUND);
    synchronize(0, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("the communicator of rank 2 was destroyed");
    synchronize(1, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("the communicator of rank 2 was destroyed");
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    synchronize(0, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_CODE(HcclSend(from[0], 4, HCCL_DATA_TYPE_FP32, 2, comms[0], streams[0]), 0);
    synchronize(0, ACL_ERROR_RT_SOCKET_CLOSE);
    use(2);
    CHECK_CODE(HcclBarrier(comms[2], streams[2]), HCCL_E_NOT_FOUND);
}

static void test_a_device_that_is_closed(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0], streams[0]), 0);
    run_until_it_waits(streams[0]);
    CHECK_CODE(aclrtResetDeviceForce(1), 0);
    use(0);
    synchronize(0, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("the communicator of rank 1 was destroyed");
    CHECK_CODE(HcclCommDestroy(comms[1]), HCCL_E_NOT_FOUND);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    synchronize(0, ACL_ERROR_RT_SOCKET_CLOSE);
}

static void test_a_stream_that_is_aborted(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    CHECK_CODE(HcclSend(from[0], 4, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    CHECK_CODE(aclrtStreamAbort(streams[0]), 0);
    use(1);
    CHECK_CODE(HcclBarrier(comms[1], streams[1]), 0);
    synchronize(1, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("the operator of rank 0 was discarded");
    CHECK_CODE(HcclRecv(to[1], 4, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    synchronize(1, ACL_ERROR_RT_SOCKET_CLOSE);
    EACH(HcclBarrier(comms[rank], streams[rank]));
    synchronize(0, 0);
    synchronize(1, 0);
}

/* One rank has called twice, the other once, when both resume; then they meet again. */
static void test_a_suspended_communicator(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    CHECK_CODE(HcclSend(from[0], 4, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    CHECK_CODE(HcclCommSuspend(comms[0]), 0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), HCCL_E_SUSPENDING);
    CHECK_TEXT("comm is suspended, expected HcclCommResume before (22 HCCL_E_SUSPENDING)");
    CHECK_CODE(HcclSend(from[0], 4, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), HCCL_E_SUSPENDING);
    use(1);
    CHECK_CODE(HcclBarrier(comms[1], streams[1]), 0);
    synchronize(1, 0);
    use(0);
    CHECK_CODE(aclrtStreamAbort(streams[0]), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(HcclCommResume(comms[rank]), 0);
        CHECK_CODE(HcclBarrier(comms[rank], streams[rank]), 0);
        CHECK_CODE(HcclSend(from[rank], 4, HCCL_DATA_TYPE_FP32, rank, comms[rank], streams[rank]), 0);
        CHECK_CODE(aclrtStreamAbort(streams[rank]), 0);
        CHECK_CODE(HcclCommResume(comms[rank]), 0);
    }
    EACH(HcclBarrier(comms[rank], streams[rank]));
    synchronize(0, 0);
    synchronize(1, 0);
    check_async_errors(HCCL_SUCCESS);
}

/* Aborting the work of a device suspends its communicators. */
static void test_an_aborted_device(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    CHECK_CODE(aclrtDeviceTaskAbort(0, 0), 0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), HCCL_E_SUSPENDING);
    use(1);
    CHECK_CODE(HcclBarrier(comms[1], streams[1]), 0);
    synchronize(1, ACL_ERROR_RT_SOCKET_CLOSE);
    CHECK_TEXT("the operator of rank 0 was discarded");
    EACH(HcclCommResume(comms[rank]));
    EACH(HcclBarrier(comms[rank], streams[rank]));
    synchronize(0, 0);
    synchronize(1, 0);
    check_async_errors(HCCL_SUCCESS);
}

static bool works(HcclComm comm)
{
    struct sim_comm_seat seat;
    CHECK(sim_comm_try_find(comm, &seat));
    sim_lock(&seat.se_group->gp_lock);
    const bool found = sim_meeting_works(seat.se_group, seat.se_rank);
    sim_comm_unlock(seat.se_group);
    sim_comm_give_back(seat);
    return found;
}

/* A communicator is not destroyed while its operator works. It may have ended when the call comes, so this is tried
 * until the call has been refused. */
static void test_a_communicator_in_use(void)
{
    enum { BYTES = 64 << 20 };
    int32_t devices[] = {0, 1};
    float *big[2];
    HcclResult result = HCCL_SUCCESS;
    open_ranks(2);
    EACH(aclrtMalloc((void **)&big[rank], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    EACH(aclrtMemset(big[rank], BYTES, 0, BYTES));
    for (int tries = 0; result == HCCL_SUCCESS && tries < 1000; tries++) {
        EACH(HcclAllReduce(big[rank], big[rank], BYTES / sizeof(float), HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                           comms[rank], streams[rank]));
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        use(0);
        while (!works(comms[0]) && status == ACL_STREAM_STATUS_NOT_READY)
            CHECK_CODE(aclrtStreamQuery(streams[0], &status), 0);
        result = HcclCommDestroy(comms[0]);
        if (result == HCCL_E_AGAIN)
            CHECK_TEXT("comm is in use: an operator runs, expected it to have ended (20 HCCL_E_AGAIN)");
        for (uint32_t rank = 0; rank < 2; rank++) {
            use(rank);
            CHECK(aclrtSynchronizeStream(streams[rank]) == ACL_SUCCESS || result == HCCL_SUCCESS);
        }
        if (result == HCCL_SUCCESS) {
            CHECK_CODE(HcclCommDestroy(comms[1]), 0);
            CHECK_CODE(HcclCommInitAll(2, devices, comms), 0);
        }
    }
    CHECK(result == HCCL_E_AGAIN);
    CHECK_CODE(HcclCommDestroy(comms[0]), 0);
}

static void test_ranks_that_do_not_join(void)
{
    HcclComm comm;
    time_scale = "0.0005";
    open_ranks(2);
    time_scale = "1";
    use(0);
    CHECK_CODE(HcclGetRootInfo(&root), 0);
    CHECK_CODE(HcclCommInitRootInfo(2, &root, 1, &comm), HCCL_E_TIMEOUT);
    CHECK_TEXT("1 of 2 ranks have joined the communicator in time (HCCL_CONNECT_TIMEOUT), and rank 0 is the first");
    CHECK_CODE(HcclCommInitRootInfo(2, &root, 0, &comm), HCCL_E_UNAVAIL);
}

static void test_settings(void)
{
    HcclComm comm;
    HcclCommConfig config;
    HcclCommStatus status;
    HcclConfigValue value = {.value = 2};
    open_ranks(1);
    use(0);
    CHECK_CODE(HcclSetConfig(HCCL_DETERMINISTIC, value), 0);
    value.value = 0;
    CHECK_CODE(HcclGetConfig(HCCL_DETERMINISTIC, &value), 0);
    CHECK(value.value == 2);
    value.value = 3;
    CHECK_CODE(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA);
    CHECK_TEXT("configValue is 3, expected 0 to 2");
    CHECK_CODE(HcclSetConfig(HCCL_CONFIG_RESERVED, value), HCCL_E_PARA);
    CHECK_CODE(HcclGetConfig(HCCL_CONFIG_RESERVED, &value), HCCL_E_PARA);
    CHECK_CODE(HcclGetConfig(HCCL_DETERMINISTIC, NULL), HCCL_E_PTR);
    CHECK(HcclGetCommConfigCapability() == HCCL_COMM_CONFIG_RESERVED);
    HcclCommConfigInit(&config);
    strcpy(config.hcclCommName, "alone");
    CHECK_CODE(HcclGetRootInfoScalable(&root), 0);
    CHECK_CODE(HcclCommInitRootInfoScalable(1, 2, &root, 0, 0, &config, &comm), HCCL_E_PARA);
    CHECK_TEXT("nRoot is 2, expected 1 to 1");
    CHECK_CODE(HcclCommInitRootInfoScalable(1, 1, &root, 0, 1, &config, &comm), HCCL_E_PARA);
    CHECK_CODE(HcclCommInitRootInfoScalable(1, 1, &root, 0, 0, &config, &comm), 0);
    CHECK_CODE(HcclCommGetStatus("alone", &status), 0);
    CHECK(status == HCCL_COMM_STATUS_READY);
    CHECK_CODE(HcclCommDestroy(comm), 0);
    CHECK_CODE(HcclCommGetStatus("alone", &status), 0);
    CHECK(status == HCCL_COMM_STATUS_INVALID);
    CHECK_CODE(HcclGetRankId(comm, NULL), HCCL_E_PTR);
    CHECK_CODE(HcclGetCommName(comm, config.hcclCommName), HCCL_E_NOT_FOUND);
    CHECK_TEXT("comm is a destroyed communicator");

    CHECK_CODE(HcclGetRootInfo(&root), 0);
    memset(config.reserved, 0, sizeof config.reserved);
    CHECK_CODE(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), HCCL_E_PARA);
    CHECK_TEXT("config does not begin as HcclCommConfigInit writes it");
    HcclCommConfigInit(&config);
    config.hcclExecTimeOut = -2;
    CHECK_CODE(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), HCCL_E_PARA);
    CHECK_TEXT("config->hcclExecTimeOut is -2");
    CHECK(setenv("HCCL_EXEC_TIMEOUT", "soon", 1) == 0);
    CHECK_CODE(HcclCommInitRootInfo(1, &root, 0, &comm), HCCL_E_PARA);
    CHECK_TEXT("EI0001: HCCL_EXEC_TIMEOUT is \"soon\"");
    CHECK(unsetenv("HCCL_EXEC_TIMEOUT") == 0);
    CHECK_CODE(HcclCommInitRootInfo(1, &root, 0, &comm), 0);
}

static void test_refused_calls(void)
{
    HcclComm comm;
    HcclCommConfig config;
    int32_t twice[] = {0, 0}, far[] = {0, 8};
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclCommInitAll(0, twice, &comm), HCCL_E_PARA);
    CHECK_CODE(HcclCommInitAll(2, twice, &comm), HCCL_E_PARA);
    CHECK_TEXT("expected each device once");
    CHECK_CODE(HcclCommInitAll(2, far, &comm), HCCL_E_PARA);
    CHECK_CODE(HcclCommInitAll(2, NULL, &comm), HCCL_E_PTR);
    CHECK_CODE(HcclGetRootInfo(NULL), HCCL_E_PTR);
    memset(&root, 0, sizeof root);
    CHECK_CODE(HcclCommInitRootInfo(2, &root, 0, &comm), HCCL_E_PARA);
    CHECK_CODE(HcclGetRootInfo(&root), 0);
    CHECK_CODE(HcclCommInitRootInfo(2, &root, 2, &comm), HCCL_E_PARA);
    CHECK_CODE(HcclCommInitRootInfo(UINT32_MAX, &root, 2, &comm), HCCL_E_NOT_SUPPORT);
    HcclCommConfigInit(&config);
    config.hcclDeterministic = 3;
    CHECK_CODE(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), HCCL_E_PARA);
    CHECK_TEXT("config->hcclDeterministic is 3");
    HcclCommConfigInit(&config);
    strcpy(config.hcclCommName, "world");
    CHECK_CODE(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), 0);
    char name[128];
    HcclComm found;
    CHECK_CODE(HcclGetCommName(comm, name), 0);
    CHECK(strcmp(name, "world") == 0);
    CHECK_CODE(HcclCommGetHandleWithName("world", &found), 0);
    CHECK(found == comm);
    CHECK_CODE(HcclCommGetHandleWithName("nobody", &found), HCCL_E_NOT_FOUND);

    const HcclDataType f4 = HCCL_DATA_TYPE_FP32;
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, f4, HCCL_REDUCE_SUM, NULL, streams[0]), HCCL_E_PTR);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, f4, HCCL_REDUCE_SUM, comms[0], NULL), HCCL_E_PTR);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, f4, HCCL_REDUCE_SUM, streams[0], streams[0]), HCCL_E_NOT_FOUND);
    CHECK_TEXT("comm is a live stream");
    CHECK_CODE(HcclAllReduce(NULL, to[0], 4, f4, HCCL_REDUCE_SUM, comms[0], streams[0]), HCCL_E_PTR);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, f4, (HcclReduceOp)4, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, (HcclDataType)13, HCCL_REDUCE_SUM, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, HCCL_DATA_TYPE_UINT8, HCCL_REDUCE_SUM, comms[0], streams[0]),
               HCCL_E_NOT_SUPPORT);
    CHECK_CODE(HcclAllReduce((char *)from[0] + 2, to[0], 4, f4, HCCL_REDUCE_SUM, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 2 * ROOM, f4, HCCL_REDUCE_SUM, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAllReduce(from[0], to[0], UINT64_MAX, f4, HCCL_REDUCE_SUM, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAllReduce(from[0], to[0], 4, f4, HCCL_REDUCE_SUM, comms[1], streams[0]), HCCL_E_PARA);
    CHECK_TEXT("stream belongs to device 0, expected device 1, as the communicator");
    CHECK_CODE(HcclBroadcast(from[0], 4, f4, 2, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclSend(from[0], 4, f4, 2, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclAlltoAll(from[0], 1, f4, from[0], 1, f4, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_TEXT("expected different buffers");
    CHECK_CODE(HcclAlltoAll(from[0], 1, f4, to[0], 2, f4, comms[0], streams[0]), HCCL_E_PARA);
    HcclSendRecvItem item = {HCCL_SEND_RECV_RESERVED, from[0], 1, f4, 1};
    CHECK_CODE(HcclBatchSendRecv(NULL, 1, comms[0], streams[0]), HCCL_E_PTR);
    CHECK_CODE(HcclBatchSendRecv(&item, UINT32_MAX, comms[0], streams[0]), HCCL_E_PARA);
    CHECK_CODE(HcclBatchSendRecv(&item, 1, comms[0], streams[0]), HCCL_E_PARA);
    CHECK(strcmp(HcclGetErrorString(HCCL_E_PTR), "a pointer is NULL") == 0);
    CHECK(strcmp(HcclGetErrorString((HcclResult)999), "unknown error") == 0);
    EACH(HcclBarrier(comms[rank], streams[rank])); /* no refused call counts as an operator */
    synchronize(0, 0);
    synchronize(1, 0);
}

int main(void)
{
    test_what_differs_between_ranks_is_reported();
    test_tables_that_do_not_match();
    test_blocks_that_differ();
    test_a_rank_that_does_not_come();
    test_a_destroyed_communicator();
    test_a_device_that_is_closed();
    test_a_stream_that_is_aborted();
    test_a_suspended_communicator();
    test_an_aborted_device();
    test_a_communicator_in_use();
    test_ranks_that_do_not_join();
    test_settings();
    test_refused_calls();
    CHECK_CODE(aclsimReset(), 0);
    puts("ok");
}
