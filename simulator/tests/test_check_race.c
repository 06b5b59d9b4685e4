/* The checker of races, from C: programs with an order between two accesses have no finding, those without it have one;
 * also under load, with several host threads. */
#include "observe/check.h"
#include "address/memory.h"
#include "check.h"
#include "engine/stream.h"
#include <acl/acl_sim.h>
#include <pthread.h>
#include <semaphore.h>

#define SIZE 4096
#define THREADS 4
#define ROUNDS 200

static void *block[4];
static aclrtStream streams[THREADS];

/* ThreadSanitizer would report a race that really happens: programs with a race run in the schedule "eager", in which
 * one thread runs each task at its submission. */
static void open_device(const char *schedule)
{
    CHECK_CODE(aclsimConfigure("check", "race"), 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), 0);
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 4; i++)
        CHECK_CODE(aclrtMalloc(&block[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_CODE(aclrtCreateStream(&streams[i]), 0);
}

static void set(int stream, int which)
{
    CHECK_CODE(aclrtMemsetAsync(block[which], SIZE, 1, SIZE, streams[stream]), 0);
}

static size_t found(void)
{
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    size_t count = sim_check_count();
    for (size_t i = 0; i < count; i++)
        CHECK(strstr(sim_check_at(i), "\"rule\":\"race\"") != NULL);
    sim_check_forget();
    return count;
}

static void test_a_missing_wait_is_found_also_if_the_order_was_right(void)
{
    set(0, 0);
    CHECK_CODE(aclsimStreamHold(streams[1]), 0);
    set(1, 0);
    CHECK_CODE(aclsimStreamRelease(streams[1]), 0);
    CHECK(found() == 1);
}

static void test_a_wait_is_an_order_also_if_its_record_had_passed(void)
{
    aclrtEvent event;
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    set(0, 0);
    CHECK_CODE(aclrtRecordEvent(event, streams[0]), 0);
    CHECK_CODE(aclrtSynchronizeStream(streams[0]), 0);
    CHECK_CODE(aclrtStreamWaitEvent(streams[1], event), 0);
    set(1, 0);
    CHECK(found() == 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

static sem_t replayed, first_is_over;

static aclError count_replay(void *argument)
{
    (void)argument;
    return sem_post(&replayed);
}

/* Keeps the task of the first replay from being counted as finished until the second one has run. */
static void wait_for_second(const struct sim_run *run, const struct sim_task *task, const void *argument,
                            const struct sim_watched *watched)
{
    (void)argument;
    (void)watched;
    if (strcmp(task->ta_op->op_name, "aclmdlRIExecuteAsync") != 0 ||
        (uint64_t)(uintptr_t)streams[0] != atomic_load(&run->rn_stream->st_slot.sl_handle))
        return;
    CHECK(sem_post(&first_is_over) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(sem_wait(&replayed) == 0);
}

static void test_replays_of_one_instance_are_ordered(void)
{
    static const struct sim_watcher slow = {.wt_finish = wait_for_second};
    const aclsimRange range = {.address = block[0], .size = SIZE, .write = 1};
    aclmdlRI instance;
    CHECK(sem_init(&replayed, 0, 0) == 0 && sem_init(&first_is_over, 0, 0) == 0);
    CHECK_CODE(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    CHECK_CODE(aclsimLaunchTask(streams[0], count_replay, NULL, &range, 1, 0), 0);
    CHECK_CODE(aclmdlRICaptureEnd(streams[0], &instance), 0);
    sim_watcher_set(&slow, true);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, streams[0]), 0);
    CHECK(sem_wait(&first_is_over) == 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, streams[1]), 0);
    CHECK(found() == 0);
    sim_watcher_set(&slow, false);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
}

static void test_memory_that_was_allocated_again_is_new(void)
{
    void *first, *second;
    CHECK_CODE(aclrtMalloc(&first, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemsetAsync(first, SIZE, 1, SIZE, streams[0]), 0);
    CHECK_CODE(aclrtSynchronizeStream(streams[0]), 0);
    CHECK_CODE(aclrtFree(first), 0);
    CHECK_CODE(aclrtMalloc(&second, SIZE, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemsetAsync(second, SIZE, 1, SIZE, streams[1]), 0);
    CHECK(found() == 0);
    CHECK_CODE(aclrtFree(second), 0);
}

static void *work(void *argument)
{
    int own = (int)(intptr_t)argument, next = (own + 1) % THREADS;
    aclrtEvent event;
    char bytes[SIZE];
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    for (int i = 0; i < ROUNDS; i++) {
        set(own, own);
        CHECK_CODE(aclrtRecordEvent(event, streams[own]), 0);
        CHECK_CODE(aclrtStreamWaitEvent(streams[next], event), 0);
        CHECK_CODE(aclrtMemsetAsync((char *)block[own] + i, 1, 1, 1, streams[next]), 0);
        CHECK_CODE(aclrtSynchronizeStream(streams[next]), 0);
        CHECK_CODE(aclrtMemcpy(bytes, SIZE, block[own], SIZE, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    }
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    return NULL;
}

static void test_threads_that_wait_have_no_finding(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(found() == 0);
}

/* Random rows: more pieces of one block than are kept, in an order that no event gives. */
static void test_many_pieces_are_bounded(void)
{
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t first = (random >> 8) % (SIZE - 8);
        CHECK_CODE(aclrtMemsetAsync((char *)block[1] + first, 3, 1, 3, streams[0]), 0);
    }
    set(1, 1);
    CHECK(found() != 0);
}

int main(void)
{
    open_device("eager");
    test_a_missing_wait_is_found_also_if_the_order_was_right();
    test_many_pieces_are_bounded();
    set(0, 2);
    set(1, 2);
    CHECK(sim_check_count() == 1);
    CHECK_CODE(aclsimReset(), 0);
    CHECK(sim_check_count() == 0);
    CHECK_CODE(aclsimConfigure("workers", "2"), 0);
    open_device("parallel");
    test_a_wait_is_an_order_also_if_its_record_had_passed();
    test_replays_of_one_instance_are_ordered();
    test_memory_that_was_allocated_again_is_new();
    test_threads_that_wait_have_no_finding();
    CHECK_CODE(aclsimReset(), 0);
    puts("ok");
    return 0;
}
