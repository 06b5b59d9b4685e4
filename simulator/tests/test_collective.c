/* Collective communication in one process: what each operator computes, which ranks wait for which, messages, groups,
 * and captures. */
#include "collective.h"

#include <pthread.h>

static float value_of(uint32_t rank, uint32_t i)
{
    return (float)((rank + 1) * 7 + i % 97);
}

/* Fills the inputs with numbers of the ranks and the outputs with -1. */
static void fill(uint32_t count)
{
    static float values[ROOM];
    for (uint32_t rank = 0; rank < ranks; rank++) {
        synchronize(rank, 0);
        for (uint32_t i = 0; i < count; i++)
            values[i] = value_of(rank, i);
        CHECK_CODE(aclrtMemcpy(from[rank], ROOM * sizeof(float), values, count * sizeof(float),
                               ACL_MEMCPY_HOST_TO_DEVICE), 0);
        for (uint32_t i = 0; i < count; i++)
            values[i] = -1;
        CHECK_CODE(aclrtMemcpy(to[rank], ROOM * sizeof(float), values, count * sizeof(float),
                               ACL_MEMCPY_HOST_TO_DEVICE), 0);
    }
}

static const float *result_of(uint32_t rank)
{
    static float values[ROOM];
    synchronize(rank, 0);
    CHECK_CODE(aclrtMemcpy(values, sizeof values, to[rank], sizeof values, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return values;
}

/* ---- what the operators compute ---- */

static const uint32_t rank_counts[] = {1, 2, 3, 8}, counts[] = {0, 1, 7, 4099};

static void test_sums_reach_all(uint32_t count)
{
    fill(count);
    EACH(HcclAllReduce(from[rank], to[rank], count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count; i++) {
            float sum = 0;
            for (uint32_t other = 0; other < ranks; other++)
                sum += value_of(other, i);
            CHECK(found[i] == sum);
        }
    }
}

static void test_the_greatest_in_place(uint32_t count)
{
    fill(count);
    EACH(HcclAllReduce(from[rank], from[rank], count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, comms[rank],
                       streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        synchronize(rank, 0);
        CHECK_CODE(aclrtMemcpy(to[rank], ROOM * sizeof(float), from[rank], count * sizeof(float) + 4,
                               ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count; i++)
            CHECK(found[i] == value_of(ranks - 1, i));
    }
}

static void test_one_root_gets_the_products(uint32_t count)
{
    const uint32_t root = ranks - 1;
    fill(count);
    EACH(HcclReduce(from[rank], rank == root ? to[rank] : NULL, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_PROD, root,
                    comms[rank], streams[rank]));
    const float *found = result_of(root);
    for (uint32_t i = 0; i < count; i++) {
        float product = value_of(0, i);
        for (uint32_t other = 1; other < ranks; other++)
            product *= value_of(other, i);
        CHECK(found[i] == product);
    }
}

static void test_a_root_is_broadcast(uint32_t count)
{
    const uint32_t root = ranks / 2;
    fill(count);
    EACH(HcclBroadcast(rank == root ? from[rank] : to[rank], count, HCCL_DATA_TYPE_FP32, root, comms[rank],
                       streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count; i++)
            CHECK(found[i] == (rank == root ? -1 : value_of(root, i)));
    }
}

static void test_all_gather(uint32_t count)
{
    fill(count);
    EACH(HcclAllGather(from[rank], to[rank], count, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count * ranks; i++)
            CHECK(found[i] == value_of(i / count, i % count));
    }
}

static void test_sums_are_scattered(uint32_t count)
{
    fill(count * ranks);
    EACH(HcclReduceScatter(from[rank], to[rank], count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                           streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count; i++) {
            float sum = 0;
            for (uint32_t other = 0; other < ranks; other++)
                sum += value_of(other, rank * count + i);
            CHECK(found[i] == sum);
        }
    }
}

static void test_a_root_is_scattered(uint32_t count)
{
    fill(count * ranks);
    EACH(HcclScatter(rank == 0 ? from[rank] : NULL, to[rank], count, HCCL_DATA_TYPE_FP32, 0, comms[rank],
                     streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count; i++)
            CHECK(found[i] == value_of(0, rank * count + i));
    }
}

static void test_all_to_all(uint32_t count)
{
    fill(count * ranks);
    EACH(HcclAlltoAll(from[rank], count, HCCL_DATA_TYPE_FP32, to[rank], count, HCCL_DATA_TYPE_FP32, comms[rank],
                      streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < count * ranks; i++)
            CHECK(found[i] == value_of(i / count, rank * count + i % count));
    }
}

/* ---- tables: rank r sends r + other + 1 elements to another ---- */

static uint64_t share(uint32_t sender, uint32_t receiver)
{
    return sender + receiver + 1;
}

static void check_shares(void)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        uint64_t at = 0;
        for (uint32_t other = 0; other < ranks; other++) {
            uint64_t start = 0;
            for (uint32_t before = 0; before < rank; before++)
                start += share(other, before);
            for (uint64_t i = 0; i < share(other, rank); i++)
                CHECK(found[at++] == value_of(other, (uint32_t)(start + i)));
        }
        CHECK(found[at] == -1);
    }
}

static void test_all_to_all_with_tables(void)
{
    uint64_t sent[MOST], sent_at[MOST], received[MOST], received_at[MOST];
    fill(ROOM);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint64_t out = 0, in = 0;
        for (uint32_t other = 0; other < ranks; other++) {
            sent_at[other] = out;
            received_at[other] = in;
            out += sent[other] = share(rank, other);
            in += received[other] = share(other, rank);
        }
        use(rank);
        CHECK_CODE(HcclAlltoAllV(from[rank], sent, sent_at, HCCL_DATA_TYPE_FP32, to[rank], received, received_at,
                                 HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]), 0);
    }
    check_shares();
}

static void test_all_to_all_with_a_matrix(void)
{
    uint64_t matrix[MOST * MOST];
    fill(ROOM);
    for (uint32_t sender = 0; sender < ranks; sender++)
        for (uint32_t receiver = 0; receiver < ranks; receiver++)
            matrix[sender * ranks + receiver] = share(sender, receiver);
    EACH(HcclAlltoAllVC(from[rank], matrix, HCCL_DATA_TYPE_FP32, to[rank], HCCL_DATA_TYPE_FP32, comms[rank],
                        streams[rank]));
    check_shares();
}

static void test_gather_and_scatter_with_tables(void)
{
    uint64_t lengths[MOST], starts[MOST];
    for (uint32_t rank = 0; rank < ranks; rank++) {
        lengths[rank] = 3 * rank + (rank != 1);
        starts[rank] = 50 * (ranks - 1 - rank);
    }
    fill(ROOM);
    EACH(HcclAllGatherV(from[rank], lengths[rank], to[rank], lengths, starts, HCCL_DATA_TYPE_FP32, comms[rank],
                        streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t other = 0; other < ranks; other++)
            for (uint32_t i = 0; i < 50; i++)
                CHECK(found[starts[other] + i] == (i < lengths[other] ? value_of(other, i) : -1));
    }
    fill(ROOM);
    EACH(HcclReduceScatterV(from[rank], lengths, starts, to[rank], lengths[rank], HCCL_DATA_TYPE_FP32,
                            HCCL_REDUCE_MIN, comms[rank], streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < 50; i++)
            CHECK(found[i] == (i < lengths[rank] ? value_of(0, (uint32_t)starts[rank] + i) : -1));
    }
}

static void test_results(void)
{
    for (size_t i = 0; i < sizeof rank_counts / sizeof *rank_counts; i++) {
        open_ranks(rank_counts[i]);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            test_sums_reach_all(counts[k]);
            test_the_greatest_in_place(counts[k]);
            test_one_root_gets_the_products(counts[k]);
            test_a_root_is_broadcast(counts[k]);
            test_all_gather(counts[k]);
            test_sums_are_scattered(counts[k]);
            test_a_root_is_scattered(counts[k]);
            test_all_to_all(counts[k]);
        }
        test_all_to_all_with_tables();
        test_all_to_all_with_a_matrix();
        test_gather_and_scatter_with_tables();
    }
}

/* 1e8 - 1e8 + 1 is 1, and in the opposite order it is 0. */
static void test_sums_are_in_the_order_of_the_ranks(void)
{
    static const float values[] = {1e8f, -1e8f, 1};
    open_ranks(3);
    EACH(aclrtMemcpy(from[rank], sizeof(float), &values[rank], sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    EACH(HcclAllReduce(from[rank], to[rank], 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++)
        CHECK(result_of(rank)[0] == 1);
}

/* ---- waiting for other ranks ---- */

/* One thread queues a thousand operators on eight ranks and synchronises none of them. */
static void test_nobody_synchronises(void)
{
    open_ranks(8);
    fill(64);
    aclrtEvent events[MOST];
    for (int i = 0; i < 1000; i++)
        EACH(HcclAllReduce(to[rank], to[rank], 64, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, comms[rank], streams[rank]));
    EACH(aclrtCreateEvent(&events[rank]));
    EACH(aclrtRecordEvent(events[rank], streams[rank]));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
            CHECK_CODE(aclrtQueryEventStatus(events[rank], &status), 0);
    }
}

static void test_a_barrier_holds_streams_and_not_hosts(void)
{
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], streams[0]), 0);
    aclrtStreamStatus status;
    CHECK_CODE(aclrtStreamQuery(streams[0], &status), 0);
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    use(1);
    CHECK_CODE(HcclBarrier(comms[1], streams[1]), 0);
    synchronize(0, 0);
    synchronize(1, 0);
}

/* The n-th operator meets the n-th, on whichever streams. */
static void test_streams_of_one_rank(void)
{
    aclrtStream second;
    open_ranks(2);
    fill(4);
    use(0);
    CHECK_CODE(aclrtCreateStream(&second), 0);
    CHECK_CODE(aclsimStreamHold(streams[0]), 0);
    CHECK_CODE(HcclBroadcast(from[0], 4, HCCL_DATA_TYPE_FP32, 0, comms[0], streams[0]), 0);
    CHECK_CODE(HcclBroadcast(from[0], 1, HCCL_DATA_TYPE_FP32, 0, comms[0], second), 0);
    use(1);
    CHECK_CODE(aclrtCreateStream(&streams[2]), 0);
    CHECK_CODE(HcclBroadcast(to[1], 4, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    CHECK_CODE(HcclBroadcast(to[1] + 8, 1, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[2]), 0);
    CHECK_CODE(aclrtSynchronizeStream(streams[2]), 0);
    use(0);
    CHECK_CODE(aclsimStreamRelease(streams[0]), 0);
    CHECK(result_of(1)[3] == value_of(0, 3) && result_of(1)[8] == value_of(0, 0));
}

/* ---- threads ---- */

static HcclRootInfo root;

static void *run_rank(void *argument)
{
    const uint32_t rank = *(const uint32_t *)argument;
    HcclComm comm;
    uint32_t size, own;
    use(rank);
    CHECK_CODE(HcclCommInitRootInfo(ranks, &root, rank, &comm), 0);
    CHECK_CODE(HcclGetRankSize(comm, &size), 0);
    CHECK_CODE(HcclGetRankId(comm, &own), 0);
    CHECK(size == ranks && own == rank);
    for (int i = 0; i < 200; i++) {
        CHECK_CODE(HcclAllReduce(from[rank], to[rank], 4099, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, streams[rank]),
                   0);
        CHECK_CODE(HcclBarrier(comm, streams[rank]), 0);
    }
    CHECK_CODE(aclrtSynchronizeStream(streams[rank]), 0);
    CHECK_CODE(HcclCommDestroy(comm), 0);
    return NULL;
}

static void test_a_thread_per_rank(void)
{
    pthread_t threads[MOST];
    uint32_t numbers[MOST];
    open_ranks(4);
    fill(4099);
    use(0);
    CHECK_CODE(HcclGetRootInfo(&root), 0);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        numbers[rank] = rank;
        CHECK(pthread_create(&threads[rank], NULL, run_rank, &numbers[rank]) == 0);
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        CHECK(pthread_join(threads[rank], NULL) == 0);
    for (uint32_t rank = 0; rank < ranks; rank++)
        CHECK(result_of(rank)[4098] == 7 * (1 + 2 + 3 + 4) + 4 * (4098 % 97));
    use(0);
    HcclComm late;
    CHECK_CODE(HcclCommInitRootInfo(ranks, &root, 0, &late), HCCL_E_UNAVAIL);
    CHECK_TEXT("whose ranks have all joined");
}

/* ---- messages ---- */

static void test_messages_in_order(void)
{
    open_ranks(2);
    fill(20);
    use(0);
    CHECK_CODE(HcclSend(from[0], 4, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    CHECK_CODE(HcclSend(from[0] + 10, 2, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]), 0);
    use(1);
    CHECK_CODE(HcclRecv(to[1], 4, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    CHECK_CODE(HcclRecv(to[1] + 4, 2, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    const float *found = result_of(1);
    CHECK(found[0] == value_of(0, 0) && found[3] == value_of(0, 3) && found[4] == value_of(0, 10) && found[6] == -1);
    synchronize(0, 0);
}

/* The messages from a rank wait on several streams: each meets the one of its own pair and number. */
static void test_messages_of_several_streams(void)
{
    static const uint32_t to_rank[] = {2, 2, 1};
    aclrtStream waiting[3];
    open_ranks(3);
    fill(30);
    use(0);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_CODE(aclrtCreateStream(&waiting[i]), 0);
        CHECK_CODE(HcclSend(from[0] + 10 * i, 4, HCCL_DATA_TYPE_FP32, to_rank[i], comms[0], waiting[i]), 0);
        run_until_it_waits(waiting[i]);
    }
    use(2);
    CHECK_CODE(HcclRecv(to[2], 4, HCCL_DATA_TYPE_FP32, 0, comms[2], streams[2]), 0);
    CHECK_CODE(HcclRecv(to[2] + 4, 4, HCCL_DATA_TYPE_FP32, 0, comms[2], streams[2]), 0);
    use(1);
    CHECK_CODE(HcclRecv(to[1], 4, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]), 0);
    CHECK(result_of(2)[0] == value_of(0, 0) && result_of(2)[7] == value_of(0, 13));
    CHECK(result_of(1)[3] == value_of(0, 23));
}

/* Both ranks send first: in a group, also inside another one, nobody waits for ever. */
static void test_messages_of_a_group(void)
{
    bool is_open;
    open_ranks(2);
    fill(20);
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(HcclGroupStart(), 0);
        CHECK_CODE(HcclGroupStart(), 0);
        CHECK_CODE(HcclSend(from[rank], 4, HCCL_DATA_TYPE_FP32, 1 - rank, comms[rank], streams[rank]), 0);
        CHECK_CODE(HcclGroupEnd(), 0);
        CHECK_CODE(HcclRecv(to[rank], 4, HCCL_DATA_TYPE_FP32, 1 - rank, comms[rank], streams[rank]), 0);
        CHECK_CODE(HcclGroupStatusGet(&is_open), 0);
        CHECK(is_open);
        CHECK_CODE(HcclGroupEnd(), 0);
        CHECK_CODE(HcclGroupStatusGet(&is_open), 0);
        CHECK(!is_open);
    }
    for (uint32_t rank = 0; rank < 2; rank++)
        CHECK(result_of(rank)[3] == value_of(1 - rank, 3));
    CHECK_CODE(HcclGroupEnd(), HCCL_E_PARA);
    CHECK_TEXT("no group is open");
}

static void test_a_batch_of_messages(void)
{
    open_ranks(3);
    fill(20);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        HcclSendRecvItem items[4];
        uint32_t count = 0;
        for (uint32_t other = ranks; other-- > 0;)
            if (other != rank) {
                items[count++] = (HcclSendRecvItem){HCCL_SEND, from[rank], 5, HCCL_DATA_TYPE_FP32, other};
                items[count++] = (HcclSendRecvItem){HCCL_RECV, to[rank] + 5 * other, 5, HCCL_DATA_TYPE_FP32, other};
            }
        use(rank);
        CHECK_CODE(HcclBatchSendRecv(items, count, comms[rank], streams[rank]), 0);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const float *found = result_of(rank);
        for (uint32_t i = 0; i < 15; i++)
            CHECK(found[i] == (i / 5 == rank ? -1 : value_of(i / 5, i % 5)));
    }
}

/* A thread creates the communicators of two devices. */
static void test_creation_in_a_group(void)
{
    HcclComm pair[2];
    open_ranks(2);
    use(0);
    CHECK_CODE(HcclGetRootInfo(&root), 0);
    CHECK_CODE(HcclGroupStart(), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(HcclCommInitRootInfo(2, &root, rank, &pair[rank]), 0);
    }
    CHECK_CODE(HcclGroupEnd(), 0);
    EACH(HcclBarrier(pair[rank], streams[rank]));
    synchronize(0, 0);
    synchronize(1, 0);
}

/* Ranks 0 and 2 of three, with the default name, by one thread. */
static void test_a_part_of_the_ranks(void)
{
    HcclComm part[3];
    HcclCommConfig config;
    uint32_t members[] = {0, 2}, own, size;
    char whole[128], name[128], expected[160];
    open_ranks(3);
    fill(4);
    HcclCommConfigInit(&config);
    CHECK_CODE(HcclGroupStart(), 0);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        use(rank);
        CHECK_CODE(rank == 1 ? HcclCreateSubCommConfig(&comms[1], 2, NULL, UINT32_MAX, 0, &config, &part[1])
                             : HcclCreateSubCommConfig(&comms[rank], 2, members, 5, rank / 2, &config, &part[rank]), 0);
    }
    CHECK_CODE(HcclGroupEnd(), 0);
    CHECK(part[1] == NULL);
    CHECK_CODE(HcclGetRankId(part[2], &own), 0);
    CHECK_CODE(HcclGetRankSize(part[2], &size), 0);
    CHECK_CODE(HcclGetCommName(comms[0], whole), 0);
    CHECK_CODE(HcclGetCommName(part[0], name), 0);
    snprintf(expected, sizeof expected, "%s_sub_5", whole);
    CHECK(own == 1 && size == 2 && strcmp(name, expected) == 0);
    for (uint32_t rank = 0; rank < ranks; rank += 2) {
        use(rank);
        CHECK_CODE(HcclAllReduce(from[rank], to[rank], 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, part[rank],
                                 streams[rank]), 0);
    }
    CHECK(result_of(0)[2] == value_of(0, 2) + value_of(2, 2) && result_of(2)[3] == value_of(0, 3) + value_of(2, 3));
    use(0);
    CHECK_CODE(HcclCreateSubCommConfig(&part[0], 1, members, 6, 0, &config, &part[1]), HCCL_E_PARA);
    CHECK_TEXT("comm is a part of another communicator");
    CHECK_CODE(HcclCreateSubCommConfig(&comms[0], 2, members, 6, 1, &config, &part[1]), HCCL_E_PARA);
    CHECK_TEXT("expected the place of rank 0 in rankIds");
    members[1] = 0;
    CHECK_CODE(HcclCreateSubCommConfig(&comms[0], 2, members, 6, 0, &config, &part[1]), HCCL_E_PARA);
    CHECK_TEXT("rankIds[1] is 0, expected ascending numbers of ranks below 3");
}

/* ---- captures ---- */

/* An all-reduce and a ring of messages, replayed with other inputs, with a called operator between. */
static void test_captured_operators_run_again(void)
{
    enum { RUNS = 20 };
    aclmdlRI instances[MOST];
    open_ranks(3);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        use(rank);
        CHECK_CODE(aclmdlRICaptureBegin(streams[rank], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
        CHECK_CODE(HcclAllReduce(from[rank], to[rank], 100, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                                 streams[rank]), 0);
        CHECK_CODE(HcclGroupStart(), 0);
        CHECK_CODE(HcclSend(from[rank], 5, HCCL_DATA_TYPE_FP32, (rank + 1) % 3, comms[rank], streams[rank]), 0);
        CHECK_CODE(HcclRecv(to[rank] + 200, 5, HCCL_DATA_TYPE_FP32, (rank + 2) % 3, comms[rank], streams[rank]), 0);
        CHECK_CODE(HcclGroupEnd(), 0);
        CHECK_CODE(aclmdlRICaptureEnd(streams[rank], &instances[rank]), 0);
    }
    for (int run = 0; run < RUNS; run++) {
        fill(300);
        EACH(aclrtMemsetAsync(from[rank] + run, 4, 0, 4, streams[rank]));
        EACH(aclmdlRIExecuteAsync(instances[rank], streams[rank]));
        EACH(HcclBarrier(comms[rank], streams[rank]));
        for (uint32_t rank = 0; rank < ranks; rank++) {
            const float *found = result_of(rank);
            for (uint32_t i = 0; i < 100; i++)
                CHECK(found[i] == (i == (uint32_t)run ? 0 : 42 + 3 * (float)(i % 97)));
            for (uint32_t i = 0; i < 5; i++)
                CHECK(found[200 + i] == (i == (uint32_t)run ? 0 : value_of((rank + 2) % 3, i)));
        }
    }
    EACH(aclmdlRIDestroy(instances[rank]));
}

/* The first replay of one rank and the first call of the other wait at the same time: they do not meet. */
static void test_recorded_operators_are_counted_apart(void)
{
    aclmdlRI instances[2];
    aclrtStream second[2];
    open_ranks(2);
    fill(4);
    for (uint32_t rank = 0; rank < 2; rank++) {
        use(rank);
        CHECK_CODE(aclrtCreateStream(&second[rank]), 0);
        CHECK_CODE(aclmdlRICaptureBegin(streams[rank], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
        CHECK_CODE(HcclBroadcast(rank == 0 ? from[0] : to[1], 4, HCCL_DATA_TYPE_FP32, 0, comms[rank], streams[rank]),
                   0);
        CHECK_CODE(aclmdlRICaptureEnd(streams[rank], &instances[rank]), 0);
    }
    use(0);
    CHECK_CODE(aclmdlRIExecuteAsync(instances[0], streams[0]), 0);
    run_until_it_waits(streams[0]);
    use(1);
    CHECK_CODE(HcclBarrier(comms[1], second[1]), 0);
    run_until_it_waits(second[1]);
    CHECK_CODE(aclmdlRIExecuteAsync(instances[1], streams[1]), 0);
    use(0);
    CHECK_CODE(HcclBarrier(comms[0], second[0]), 0);
    CHECK_CODE(aclrtSynchronizeStream(second[0]), 0);
    CHECK(result_of(1)[3] == value_of(0, 3));
    synchronize(0, 0);
    EACH(aclmdlRIDestroy(instances[rank]));
}

int main(void)
{
    test_results();
    test_sums_are_in_the_order_of_the_ranks();
    test_nobody_synchronises();
    test_a_barrier_holds_streams_and_not_hosts();
    test_streams_of_one_rank();
    test_a_thread_per_rank();
    test_messages_in_order();
    test_messages_of_several_streams();
    test_messages_of_a_group();
    test_a_batch_of_messages();
    test_creation_in_a_group();
    test_a_part_of_the_ranks();
    test_captured_operators_run_again();
    test_recorded_operators_are_counted_apart();
    CHECK_CODE(aclsimReset(), 0);
    puts("ok");
}
