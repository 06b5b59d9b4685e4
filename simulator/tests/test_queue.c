/* Queues, routes, channels and shared buffers under many threads: each element comes out once and in order, and no
 * thread waits for ever. A lost wake-up shows as a hang. */
#include "engine.h"
#include <acl/acl_tdt.h>

#define ROUNDS 2000
#define SIDES 3 /* threads on each side */

static uint32_t source, targets[2];

static uint32_t make_queue(uint32_t depth)
{
    uint32_t id;
    acltdtQueueAttr *attr = acltdtCreateQueueAttr();
    CHECK_CODE(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth), 0);
    CHECK_CODE(acltdtCreateQueue(attr, &id), 0);
    CHECK_CODE(acltdtDestroyQueueAttr(attr), 0);
    return id;
}

static aclError change_route(uint32_t from, uint32_t to, aclError (*change)(acltdtQueueRouteList *))
{
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtQueueRoute *route = acltdtCreateQueueRoute(from, to);
    CHECK_CODE(acltdtAddQueueRoute(list, route), 0);
    aclError code = change(list);
    CHECK_CODE(acltdtDestroyQueueRoute(route), 0);
    CHECK_CODE(acltdtDestroyQueueRouteList(list), 0);
    return code;
}

/* ---- many producers, one queue that is routed to two, many consumers ---- */

struct element {
    uint32_t el_producer, el_number;
};

static void *produce(void *number)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        struct element element = {(uint32_t)(uintptr_t)number, i};
        CHECK_CODE(acltdtEnqueueData(source, &element, sizeof element, NULL, 0, -1, 0), 0);
    }
    return NULL;
}

/* Takes all elements of one target; those of each producer must come in order. */
static void *consume(void *target)
{
    uint32_t newest[SIDES] = {0};
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < SIDES * ROUNDS; i++) {
        struct element element;
        size_t size;
        CHECK_CODE(acltdtDequeueData(*(uint32_t *)target, &element, sizeof element, &size, NULL, 0, -1), 0);
        CHECK(size == sizeof element && element.el_number == newest[element.el_producer] + 1);
        newest[element.el_producer]++;
    }
    return NULL;
}

static void test_routes(void)
{
    pthread_t producers[SIDES], consumers[2];
    source = make_queue(4);
    for (int i = 0; i < 2; i++) {
        targets[i] = make_queue(2);
        CHECK_CODE(change_route(source, targets[i], acltdtBindQueueRoutes), 0);
    }
    for (uintptr_t i = 0; i < SIDES; i++)
        producers[i] = start(produce, (void *)i);
    for (int i = 0; i < 2; i++)
        consumers[i] = start(consume, &targets[i]);
    for (int i = 0; i < SIDES; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(consumers[i], NULL);
        CHECK_CODE(acltdtDestroyQueue(targets[i]), 0);
    }
    CHECK_CODE(acltdtDestroyQueue(source), 0);
}

/* ---- queues that are destroyed while threads wait on them ---- */

static void *wait_for_the_end(void *unused)
{
    unsigned char byte;
    size_t size;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(acltdtDequeueData(source, &byte, 1, &size, NULL, 0, -1), ACL_ERROR_INVALID_QUEUE_ID);
    return unused;
}

static void test_endings(void)
{
    for (int round = 0; round < 100; round++) {
        pthread_t waiters[SIDES];
        source = make_queue(2);
        for (int i = 0; i < SIDES; i++)
            waiters[i] = start(wait_for_the_end, NULL);
        CHECK_CODE(acltdtDestroyQueue(source), 0);
        for (int i = 0; i < SIDES; i++)
            pthread_join(waiters[i], NULL);
    }
}

/* ---- a channel between threads that send and receive ---- */

static acltdtChannelHandle *channel;
static _Atomic uint64_t received;

static void *send_often(void *unused)
{
    for (int64_t i = 1; i <= ROUNDS; i++) {
        const int64_t dims[] = {1};
        acltdtDataset *dataset = acltdtCreateDataset();
        acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT64, &i, sizeof i);
        CHECK_CODE(acltdtAddDataItem(dataset, item), 0);
        CHECK_CODE(acltdtSendTensor(channel, dataset, -1), 0);
        CHECK_CODE(acltdtDestroyDataItem(item), 0);
        CHECK_CODE(acltdtDestroyDataset(dataset), 0);
    }
    return unused;
}

static void *receive_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        acltdtDataset *dataset = acltdtCreateDataset();
        CHECK_CODE(acltdtReceiveTensor(channel, dataset, -1), 0);
        CHECK(acltdtGetDatasetSize(dataset) == 1);
        int64_t *data = acltdtGetDataAddrFromItem(acltdtGetDataItem(dataset, 0));
        atomic_fetch_add(&received, (uint64_t)*data);
        CHECK_CODE(acltdtDestroyDataset(dataset), 0);
    }
    return unused;
}

static void test_channel(void)
{
    pthread_t threads[2 * SIDES];
    channel = acltdtCreateChannelWithCapacity(0, "stress", 2);
    for (int i = 0; i < 2 * SIDES; i++)
        threads[i] = start(i % 2 == 0 ? send_often : receive_often, NULL);
    for (int i = 0; i < 2 * SIDES; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&received) == SIDES * (uint64_t)ROUNDS * (ROUNDS + 1) / 2);
    CHECK_CODE(acltdtDestroyChannel(channel), 0);
}

/* A channel without a capacity accepts any number of messages, so sending never waits and takes no time limit. */
static void test_limits_of_sending(void)
{
    const int64_t dims[] = {1}, one = 1;
    acltdtDataset *dataset = acltdtCreateDataset();
    acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT64, (void *)(uintptr_t)&one, 8);
    acltdtChannelHandle *free_one = acltdtCreateChannel(0, "without a capacity");
    acltdtChannelHandle *full = acltdtCreateChannelWithCapacity(0, "with a capacity", 2);
    CHECK_CODE(acltdtAddDataItem(dataset, item), 0);
    for (int32_t limit = 0; limit < 2; limit++) {
        CHECK_CODE(acltdtSendTensor(free_one, dataset, limit), ACL_ERROR_INVALID_PARAM);
        CHECK_TEXT("expected -1 (no limit) for a channel without a capacity");
        CHECK_CODE(acltdtSendTensor(free_one, dataset, -1), 0);
        CHECK_CODE(acltdtSendTensor(full, dataset, -2), ACL_ERROR_INVALID_PARAM);
        CHECK_CODE(acltdtSendTensor(full, dataset, limit), 0);
    }
    CHECK_CODE(acltdtSendTensor(full, dataset, 0), ACL_ERROR_RT_QUEUE_FULL);
    CHECK_CODE(acltdtDestroyChannel(free_one), 0);
    CHECK_CODE(acltdtDestroyChannel(full), 0);
    CHECK_CODE(acltdtDestroyDataItem(item), 0);
    CHECK_CODE(acltdtDestroyDataset(dataset), 0);
}

/* ---- chains of buffers that are passed on through queues, on a chip that has them ---- */

static void *put_chains(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        acltdtBuf head, member;
        CHECK_CODE(acltdtAllocBuf(8, ACL_TDT_NORMAL_MEM, &head), 0);
        CHECK_CODE(acltdtCopyBufRef(head, &member), 0);
        CHECK_CODE(acltdtSetBufDataLen(member, i % 9), 0);
        CHECK_CODE(acltdtAppendBufChain(head, member), 0);
        CHECK_CODE(acltdtEnqueue(source, head, -1), 0);
        CHECK_CODE(acltdtFreeBuf(head), ACL_ERROR_INVALID_PARAM); /* the queue owns it now */
    }
    return unused;
}

static void *take_chains(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < ROUNDS; i++) {
        acltdtBuf head, member;
        size_t length;
        uint32_t count;
        CHECK_CODE(acltdtDequeue(source, &head, -1), 0);
        CHECK_CODE(acltdtGetBufChainNum(head, &count), 0);
        CHECK_CODE(acltdtGetBufFromChain(head, 1, &member), 0);
        CHECK_CODE(acltdtGetBufDataLen(member, &length), 0);
        CHECK(count == 2 && length < 9);
        CHECK_CODE(acltdtFreeBuf(head), 0);
    }
    return unused;
}

static void test_buffers(void)
{
    pthread_t threads[2 * SIDES];
    source = make_queue(3);
    for (int i = 0; i < 2 * SIDES; i++)
        threads[i] = start(i % 2 == 0 ? put_chains : take_chains, NULL);
    for (int i = 0; i < 2 * SIDES; i++)
        pthread_join(threads[i], NULL);
    CHECK(aclsimLiveCount("shared buffer") == 0);
    CHECK_CODE(acltdtEnqueueData(source, threads, sizeof threads, NULL, 0, 0, 0), 0); /* discarded by the reset */
}

int main(void)
{
    watch_dog(300);
    open_device("parallel");
    test_routes();
    test_endings();
    test_channel();
    test_limits_of_sending();
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("soc", "Ascend310B1"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    test_buffers();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
