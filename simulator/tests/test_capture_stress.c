/* Captures by many threads, and a thousand captures that must leak nothing. */
#include "capture.h"
#include <malloc.h>

#define THREADS 4

static unsigned factor;

static void start_all(pthread_t threads[THREADS], void *(*run)(void *), void *arguments, size_t size)
{
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = start(run, (char *)arguments + i * size);
}

static void join_all(pthread_t threads[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* ---- each thread has its own capture ---- */

static void capture_own(aclrtStream streams[3], struct line lines[4])
{
    CHECK_CODE(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 0);
    launch(streams[0], note, &lines[0], 0);
    for (int i = 1; i < 3; i++) {
        link_streams(streams[0], streams[i]);
        launch(streams[i], note, &lines[i], i == 1 ? ACLSIM_TASK_LIGHT : ACLSIM_TASK_WORKER);
        lines[i].after[0] = &lines[0];
        lines[3].after[i - 1] = &lines[i];
    }
    CHECK_CODE(aclrtLaunchHostFunc(streams[1], note_host, &lines[1]), 0);
    lines[1].after[0] = NULL;
    for (int i = 1; i < 3; i++)
        link_streams(streams[i], streams[0]);
    lines[3].after[0] = NULL;
    launch(streams[0], note, &lines[3], 0);
}

static void *capture_and_run(void *unused)
{
    aclrtStream streams[3];
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 3; i++)
        streams[i] = make_stream();
    for (uint32_t round = 0; round < 60 * factor; round++) {
        struct line lines[4] = {{0, {NULL}}};
        capture_own(streams, lines);
        aclmdlRI instance = end(streams[0]);
        for (int i = 0; i < 6; i++)
            execute(instance, streams[i % 3]);
        for (int i = 0; i < 3; i++)
            CHECK_CODE(aclrtSynchronizeStream(streams[i]), 0);
        CHECK(lines[0].begun == 6 && lines[1].begun == 12 && lines[2].begun == 6 && lines[3].begun == 6);
        destroy(instance);
    }
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
    return unused;
}

static void test_each_its_own(void)
{
    pthread_t threads[THREADS];
    start_all(threads, capture_and_run, NULL, 0);
    join_all(threads);
}

/* ---- one capture with many threads ---- */

struct part {
    aclrtStream stream;
    aclrtEvent fork, join;
    _Atomic uint32_t *count;
};

static void *take_part(void *argument)
{
    struct part *part = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtStreamWaitEvent(part->stream, part->fork), 0);
    for (int i = 0; i < 100; i++)
        launch(part->stream, count_one, (void *)(uintptr_t)part->count, i % 2);
    CHECK_CODE(aclrtRecordEvent(part->join, part->stream), 0);
    return NULL;
}

static void test_one_of_many(void)
{
    aclrtStream origin = make_stream();
    aclrtEvent fork = ex_event();
    struct part parts[THREADS];
    _Atomic uint32_t count = 0;
    for (int i = 0; i < THREADS; i++)
        parts[i] = (struct part){make_stream(), fork, ex_event(), &count};
    for (uint32_t round = 0; round < 30 * factor; round++) {
        pthread_t threads[THREADS];
        begin(origin);
        CHECK_CODE(aclrtRecordEvent(fork, origin), 0);
        start_all(threads, take_part, parts, sizeof *parts);
        join_all(threads);
        for (int i = 0; i < THREADS; i++)
            CHECK_CODE(aclrtStreamWaitEvent(origin, parts[i].join), 0);
        aclmdlRI instance = end(origin);
        run(instance, origin);
        CHECK(count == (round + 1) * THREADS * 100);
        destroy(instance);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_CODE(aclrtDestroyStream(parts[i].stream), 0);
        CHECK_CODE(aclrtDestroyEvent(parts[i].join), 0);
    }
    CHECK_CODE(aclrtDestroyEvent(fork), 0);
    CHECK_CODE(aclrtDestroyStream(origin), 0);
}

/* ---- many threads end one capture ---- */

struct ender {
    aclrtStream stream;
    pthread_barrier_t *barrier;
    aclmdlRI instance;
    aclError code;
};

static void *end_it(void *argument)
{
    struct ender *ender = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    pthread_barrier_wait(ender->barrier);
    ender->code = aclmdlRICaptureEnd(ender->stream, &ender->instance);
    return NULL;
}

static void test_ends_at_once(void)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS);
    aclrtStream stream = make_stream();
    for (uint32_t round = 0; round < 50 * factor; round++) {
        struct ender enders[THREADS];
        pthread_t threads[THREADS];
        begin(stream);
        launch(stream, do_nothing, NULL, 0);
        for (int i = 0; i < THREADS; i++)
            enders[i] = (struct ender){stream, &barrier, NULL, 0};
        start_all(threads, end_it, enders, sizeof *enders);
        join_all(threads);
        int ended = 0;
        for (int i = 0; i < THREADS; i++) {
            ended += enders[i].code == 0;
            CHECK(enders[i].code == 0 || enders[i].code == ACL_ERROR_RT_STREAM_NOT_CAPTURED);
            if (enders[i].code == 0)
                destroy(enders[i].instance);
        }
        CHECK(ended == 1);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    pthread_barrier_destroy(&barrier);
}

/* ---- replays while the instance, or their stream, is destroyed ---- */

struct user {
    aclmdlRI instance;
    pthread_barrier_t *barrier;
    uint32_t queued;
    bool forcing; /* its stream is destroyed during the replays */
};

static void *execute_until_it_is_gone(void *argument)
{
    struct user *user = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    aclrtStream stream = make_stream();
    pthread_barrier_wait(user->barrier);
    for (aclError code = 0; code == 0 && user->queued < 60; user->queued += code == 0) {
        code = aclmdlRIExecuteAsync(user->instance, stream);
        CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
        if (user->forcing) {
            CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
            stream = make_stream();
        } else if (user->queued % 8 == 7) {
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        }
    }
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return NULL;
}

static void count_on_host(void *counter)
{
    count_one(counter);
}

static aclmdlRI capture_counters(_Atomic uint32_t *count)
{
    aclrtStream origin = make_stream(), other = make_stream();
    begin(origin);
    link_streams(origin, other);
    launch(other, count_one, (void *)(uintptr_t)count, ACLSIM_TASK_WORKER);
    launch(other, count_one, (void *)(uintptr_t)count, 0);
    CHECK_CODE(aclrtLaunchHostFunc(origin, count_on_host, (void *)(uintptr_t)count), 0);
    launch(origin, count_one, (void *)(uintptr_t)count, 0);
    link_streams(other, origin);
    aclmdlRI instance = end(origin);
    CHECK_CODE(aclrtDestroyStream(origin), 0);
    CHECK_CODE(aclrtDestroyStream(other), 0);
    return instance;
}

static void test_destroying_in_the_middle(bool forcing)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (uint32_t round = 0; round < 10 * factor; round++) {
        _Atomic uint32_t count = 0;
        struct user users[THREADS];
        pthread_t threads[THREADS];
        uint32_t queued = 0;
        aclmdlRI instance = capture_counters(&count);
        for (int i = 0; i < THREADS; i++)
            users[i] = (struct user){instance, &barrier, 0, forcing};
        start_all(threads, execute_until_it_is_gone, users, sizeof *users);
        pthread_barrier_wait(&barrier);
        while (!forcing && atomic_load(&count) < 40)
            sched_yield();
        CHECK_CODE(aclmdlRIDestroy(instance), 0);
        join_all(threads);
        for (int i = 0; i < THREADS; i++)
            queued += users[i].queued;
        CHECK(forcing ? count <= 4 * queued : count == 4 * queued);
    }
    pthread_barrier_destroy(&barrier);
}

/* ---- leaks ---- */

static size_t heap_in_use(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0; /* sanitizers replace malloc; AddressSanitizer looks for leaks itself */
#else
    return mallinfo2().uordblks;
#endif
}

static void fail_a_capture(aclrtStream streams[2], uint32_t round)
{
    aclmdlRI instance;
    aclrtTaskGrp group;
    begin(streams[0]);
    link_streams(streams[0], streams[1]);
    CHECK_CODE(aclrtLaunchHostFunc(streams[1], note_host, NULL), 0);
    aclError expected = ACL_ERROR_RT_STREAM_UNJOINED;
    if (round % 2 == 0) {
        CHECK_CODE(aclmdlRICaptureTaskGrpBegin(streams[0]), 0);
        CHECK_CODE(aclsimLaunchTask(streams[1], do_nothing, NULL, NULL, 0, 0), ACL_ERROR_STREAM_TASK_GROUP_INTR);
        CHECK_CODE(aclmdlRICaptureTaskGrpEnd(streams[0], &group), ACL_ERROR_STREAM_TASK_GROUP_INTR);
        expected = ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    }
    CHECK_CODE(aclmdlRICaptureEnd(streams[0], &instance), expected);
    CHECK(instance == NULL);
}

static void capture_once(aclrtStream streams[2], aclrtStream third)
{
    struct line lines[4] = {{0, {NULL}}};
    aclrtTaskGrp group;
    aclmdlRI body;
    begin(streams[0]);
    CHECK_CODE(aclmdlRICaptureTaskGrpBegin(streams[0]), 0);
    launch(streams[0], note, &lines[0], 0);
    CHECK_CODE(aclmdlRICaptureTaskGrpEnd(streams[0], &group), 0);
    link_streams(streams[0], streams[1]);
    CHECK_CODE(aclrtLaunchHostFunc(streams[1], note_host, &lines[1]), 0);
    aclmdlRI instance;
    aclmdlRICondHandle condition;
    CHECK_CODE(aclmdlRICaptureGetInfo(streams[1], NULL, &instance), 0);
    CHECK_CODE(aclmdlRICondHandleCreate(instance, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition), 0);
    aclmdlRICondTaskParams parameters = {condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &body};
    CHECK_CODE(aclmdlRIAddCondTask(parameters, streams[1], 0), 0);
    CHECK_CODE(aclmdlRICaptureToModelRIBegin(third, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    launch(third, note, &lines[2], 0);
    CHECK_CODE(aclmdlRICaptureEnd(third, NULL), 0);
    aclrtEvent event = ex_event();
    CHECK_CODE(aclrtRecordEventWithFlag(event, streams[0], ACL_EVENT_RECORD_EXTERNAL), 0);
    link_streams(streams[1], streams[0]);
    instance = end(streams[0]);
    execute(instance, streams[0]);
    execute(instance, streams[1]);
    execute(instance, third);
    CHECK_CODE(aclrtSynchronizeEvent(event), 0);
    CHECK_CODE(aclmdlRICaptureTaskUpdateBegin(third, group), 0);
    launch(third, note, &lines[3], 0);
    CHECK_CODE(aclmdlRICaptureTaskUpdateEnd(third), 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(lines[0].begun == 3 && lines[1].begun == 3 && lines[2].begun == 3);
    run(instance, third);
    CHECK(lines[0].begun == 3 && lines[3].begun == 1);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    destroy(instance);
}

static void test_nothing_is_left(void)
{
    aclrtStream streams[2] = {make_stream(), make_stream()}, third = make_stream();
    uint32_t slots = 0, instances = 0, alive = live(&sim_streams);
    size_t heap = 0;
    for (uint32_t round = 0; round < 1000; round++) {
        if (round == 50) { /* all caches are filled by now */
            slots = atomic_load(&sim_streams.tb_count);
            instances = atomic_load(&sim_capture_instances.tb_count);
            heap = heap_in_use();
        }
        if (round % 5 == 4)
            fail_a_capture(streams, round);
        else
            capture_once(streams, third);
    }
    CHECK(atomic_load(&sim_streams.tb_count) == slots);
    CHECK(atomic_load(&sim_capture_instances.tb_count) == instances);
    CHECK(heap_in_use() <= heap + 4096);
    check_nothing_left(alive);
    CHECK_CODE(aclrtDestroyStream(streams[0]), 0);
    CHECK_CODE(aclrtDestroyStream(streams[1]), 0);
    CHECK_CODE(aclrtDestroyStream(third), 0);
}

static void tests(bool parallel)
{
    (void)parallel;
    test_each_its_own();
    test_one_of_many();
    test_ends_at_once();
    test_destroying_in_the_middle(false);
    test_destroying_in_the_middle(true);
    test_nothing_is_left();
}

int main(void)
{
    factor = stress_factor();
    watch_dog(60);
    test_schedules(tests);
    return 0;
}
