/* Communicators of several processes with two ranks each, a thread per rank: sums and messages of many lengths on
 * several streams, captures, and the end of one process. The others are children, forked before this one uses the
 * library. */
#include "engine.h"

#include <hccl/hccl.h>
#include <sys/wait.h>

enum { PROCESSES = 3, EACH = 2, RANKS = PROCESSES * EACH, STREAMS = 3, LONGEST = 5000, ROUNDS = 60 };

/* The children start threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static HcclRootInfo root;
static uint32_t process;

struct rank {
    uint32_t ra_number;
    HcclComm ra_comm;
    aclrtStream ra_streams[STREAMS];
    int32_t *ra_from[STREAMS], *ra_to[STREAMS];
};

static uint32_t length_of(int round)
{
    static const uint32_t lengths[] = {1, 300, LONGEST, 64, 513, 0, 1024};
    return lengths[(unsigned)round % (sizeof lengths / sizeof *lengths)];
}

static int32_t value_of(uint32_t rank, int round, uint32_t i)
{
    return (int32_t)(rank * 1000 + (uint32_t)round * 7 + i);
}

static void fill(struct rank *rank, int round)
{
    static _Thread_local int32_t values[LONGEST];
    for (uint32_t i = 0; i < LONGEST; i++)
        values[i] = value_of(rank->ra_number, round, i);
    CHECK_CODE(aclrtMemcpy(rank->ra_from[round % STREAMS], sizeof values, values, sizeof values,
                           ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static const int32_t *result(struct rank *rank, int round)
{
    static _Thread_local int32_t values[LONGEST];
    CHECK_CODE(aclrtSynchronizeStream(rank->ra_streams[round % STREAMS]), 0);
    CHECK_CODE(aclrtMemcpy(values, sizeof values, rank->ra_to[round % STREAMS], sizeof values,
                           ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return values;
}

static void check_sum(struct rank *rank, int round)
{
    const int32_t *found = result(rank, round);
    for (uint32_t i = 0; i < length_of(round); i++)
        CHECK(found[i] == RANKS * (RANKS - 1) / 2 * 1000 + RANKS * value_of(0, round, i));
}

/* Several sums are under way at the same time, one per stream. */
static void add(struct rank *rank)
{
    for (int round = 0; round < ROUNDS + STREAMS; round++) {
        if (round >= STREAMS)
            check_sum(rank, round - STREAMS);
        if (round >= ROUNDS)
            continue;
        fill(rank, round);
        CHECK_CODE(HcclAllReduce(rank->ra_from[round % STREAMS], rank->ra_to[round % STREAMS], length_of(round),
                                 HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, rank->ra_comm,
                                 rank->ra_streams[round % STREAMS]), 0);
    }
}

/* Each rank sends to the next one, which may be in the same process or in another. */
static void pass(struct rank *rank)
{
    const uint32_t next = (rank->ra_number + 1) % RANKS, before = (rank->ra_number + RANKS - 1) % RANKS;
    for (int round = 0; round < ROUNDS; round++) {
        aclrtStream stream = rank->ra_streams[round % STREAMS];
        fill(rank, round);
        CHECK_CODE(HcclGroupStart(), 0);
        CHECK_CODE(HcclSend(rank->ra_from[round % STREAMS], length_of(round), HCCL_DATA_TYPE_INT32, next,
                            rank->ra_comm, stream), 0);
        CHECK_CODE(HcclRecv(rank->ra_to[round % STREAMS], length_of(round), HCCL_DATA_TYPE_INT32, before,
                            rank->ra_comm, stream), 0);
        CHECK_CODE(HcclGroupEnd(), 0);
        const int32_t *found = result(rank, round);
        for (uint32_t i = 0; i < length_of(round); i++)
            CHECK(found[i] == value_of(before, round, i));
    }
}

static void replay(struct rank *rank)
{
    aclmdlRI instance;
    aclrtStream stream = rank->ra_streams[0];
    for (int round = 1; round < 4; round++) { /* lengths of both kinds */
        fill(rank, 0);
        CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 0);
        CHECK_CODE(HcclAllReduce(rank->ra_from[0], rank->ra_to[0], length_of(round), HCCL_DATA_TYPE_INT32,
                                 HCCL_REDUCE_MAX, rank->ra_comm, stream), 0);
        CHECK_CODE(HcclBarrier(rank->ra_comm, stream), 0);
        CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
        for (int run = 0; run < 20; run++)
            CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
        const int32_t *found = result(rank, 0);
        for (uint32_t i = 0; i < length_of(round); i++)
            CHECK(found[i] == value_of(RANKS - 1, 0, i));
        CHECK_CODE(aclmdlRIDestroy(instance), 0);
    }
}

static void *run(void *argument)
{
    struct rank *rank = argument;
    HcclComm part;
    uint32_t members[] = {0, 2, 3};
    CHECK_CODE(aclrtSetDevice((int32_t)(rank->ra_number % EACH)), 0);
    for (int i = 0; i < STREAMS; i++) {
        CHECK_CODE(aclrtCreateStream(&rank->ra_streams[i]), 0);
        CHECK_CODE(aclrtMalloc((void **)&rank->ra_from[i], LONGEST * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtMalloc((void **)&rank->ra_to[i], LONGEST * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    }
    CHECK_CODE(HcclCommInitRootInfo(RANKS, &root, rank->ra_number, &rank->ra_comm), 0);
    add(rank);
    pass(rank);
    replay(rank);
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    for (uint32_t place = 0; place < 3; place++)
        if (members[place] == rank->ra_number) {
            CHECK_CODE(HcclCreateSubCommConfig(&rank->ra_comm, 3, members, 5, place, &config, &part), 0);
            CHECK_CODE(HcclBarrier(part, rank->ra_streams[0]), 0);
            CHECK_CODE(aclrtSynchronizeStream(rank->ra_streams[0]), 0);
            CHECK_CODE(HcclCommDestroy(part), 0);
        }
    CHECK_CODE(HcclBarrier(rank->ra_comm, rank->ra_streams[0]), 0);
    CHECK_CODE(aclrtSynchronizeStream(rank->ra_streams[0]), 0);
    return NULL;
}

/* The last process is killed while the others wait for its ranks. */
static void outlive(struct rank *ranks)
{
    if (process == PROCESSES - 1)
        raise(SIGKILL);
    for (uint32_t i = 0; i < EACH; i++) {
        CHECK_CODE(aclrtSetDevice((int32_t)i), 0);
        CHECK_CODE(HcclAllReduce(ranks[i].ra_from[0], ranks[i].ra_to[0], i == 0 ? LONGEST : 1, HCCL_DATA_TYPE_INT32,
                                 HCCL_REDUCE_SUM, ranks[i].ra_comm, ranks[i].ra_streams[0]), 0);
    }
    for (uint32_t i = 0; i < EACH; i++) {
        HcclResult error;
        CHECK_CODE(aclrtSetDevice((int32_t)i), 0);
        aclError code = aclrtSynchronizeStream(ranks[i].ra_streams[0]);
        CHECK(code == ACL_ERROR_RT_SOCKET_CLOSE || code == ACL_ERROR_RT_PARAM_INVALID); /* or the counts differ first */
        CHECK_CODE(HcclBarrier(ranks[i].ra_comm, ranks[i].ra_streams[0]), 0);
        CHECK_CODE(aclrtSynchronizeStream(ranks[i].ra_streams[0]), ACL_ERROR_RT_SOCKET_CLOSE);
        CHECK_CODE(HcclGetCommAsyncError(ranks[i].ra_comm, &error), 0);
        CHECK(error == HCCL_E_REMOTE);
        CHECK_CODE(HcclCommDestroy(ranks[i].ra_comm), 0);
    }
}

static void be_process(int (*pipes)[2])
{
    struct rank ranks[EACH];
    pthread_t threads[EACH];
    watch_dog(300);
    CHECK_CODE(aclsimConfigure("devices", "2"), 0);
    if (process == 0) {
        CHECK_CODE(aclrtSetDevice(0), 0);
        CHECK_CODE(HcclGetRootInfo(&root), 0);
        for (int i = 1; i < PROCESSES; i++)
            CHECK(write(pipes[i][1], &root, sizeof root) == sizeof root);
    } else {
        CHECK(read(pipes[process][0], &root, sizeof root) == sizeof root);
    }
    for (uint32_t i = 0; i < EACH; i++) {
        ranks[i].ra_number = process * EACH + i;
        CHECK(pthread_create(&threads[i], NULL, run, &ranks[i]) == 0);
    }
    for (uint32_t i = 0; i < EACH; i++)
        pthread_join(threads[i], NULL);
    outlive(ranks);
    CHECK_CODE(aclsimReset(), 0);
}

int main(void)
{
    int pipes[PROCESSES][2], status;
    pid_t children[PROCESSES];
    for (int i = 1; i < PROCESSES; i++) {
        CHECK(pipe(pipes[i]) == 0);
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            process = (uint32_t)i;
            be_process(pipes);
            return 0;
        }
    }
    be_process(pipes);
    for (int i = 1; i < PROCESSES; i++) {
        CHECK(waitpid(children[i], &status, 0) == children[i]);
        CHECK(i == PROCESSES - 1 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    puts("ok");
}
