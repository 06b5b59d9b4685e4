/* Random programs of many threads, compared with a sequential model.
 *
 * Every task writes to a log in plain memory, and reads the entries that earlier tasks of its stream, or of a stream
 * that it waited for, must have written. So a missing happens-before shows as a wrong value, and as a data race under
 * ThreadSanitizer. */
#include "engine.h"

#define STREAMS 8
#define EVENTS 8
#define THREADS 6
#define OPERATIONS 4000    /* per thread and round */
#define LOG (THREADS * OPERATIONS)
#define DEPENDENCIES 2

static unsigned rounds;
static uint64_t seed;

/* ---- programs compared with a model ---- */

/* Stream `of` had run `count` tasks, and the last of them wrote `value`. */
struct dependency {
    uint32_t of, count, value;
};

struct step {
    uint32_t stream, place, value, dependencies;
    struct dependency after[DEPENDENCIES];
};

/* The model. Each object is protected by its mutex, which is held during the call, so that the model and the engine
 * have the same order. */
static struct model_stream {
    pthread_mutex_t mutex;
    aclrtStream handle;
    uint32_t submitted, pending;
    struct dependency after[DEPENDENCIES]; /* waits queued since the last task */
    struct step steps[LOG];
    uint32_t log[LOG];  /* written by the tasks */
    uint32_t done;      /* written by the tasks, plain: only the holder of the stream uses it */
} streams[STREAMS];

static struct model_event {
    pthread_mutex_t mutex;
    aclrtEvent handle;
    enum { DEFAULT, EX, FLAG } class;
    bool recorded;
    struct dependency newest;
} events[EVENTS];

static void check_dependency(const struct dependency *dependency)
{
    if (dependency->count != 0)
        CHECK(streams[dependency->of].log[dependency->count - 1] == dependency->value);
}

static void run_step(void *argument)
{
    const struct step *step = argument;
    struct model_stream *stream = &streams[step->stream];
    CHECK(stream->done == step->place);
    for (uint32_t i = 0; i < step->dependencies; i++)
        check_dependency(&step->after[i]);
    stream->log[step->place] = step->value;
    stream->done = step->place + 1;
}

static aclError run_task(void *argument)
{
    run_step(argument);
    return 0;
}

static aclError run_long_task(void *argument)
{
    run_step(argument);
    sched_yield();
    return 0;
}

/* The caller holds the stream's mutex. */
static struct dependency position_of(uint32_t index)
{
    const struct model_stream *stream = &streams[index];
    uint32_t count = stream->submitted;
    return (struct dependency){index, count, count != 0 ? stream->steps[count - 1].value : 0};
}

static void submit_step(uint32_t index, uint64_t random)
{
    struct model_stream *stream = &streams[index];
    struct step *step = &stream->steps[stream->submitted];
    *step = (struct step){.stream = index, .place = stream->submitted, .value = (uint32_t)random | 1,
                          .dependencies = stream->pending};
    memcpy(step->after, stream->after, sizeof step->after);
    stream->pending = 0;
    stream->submitted++;
    uint32_t kind = random >> 8 & 0xff;
    if (kind < 140)
        launch(stream->handle, run_task, step, ACLSIM_TASK_LIGHT);
    else if (kind < 220)
        launch(stream->handle, run_task, step, 0);
    else if (kind < 240)
        launch(stream->handle, run_long_task, step, 0);
    else if (kind < 246)
        launch(stream->handle, run_task, step, ACLSIM_TASK_WORKER);
    else if (index % 2 == 0)
        CHECK_CODE(aclrtLaunchHostFunc(stream->handle, run_step, step), 0);
    else
        CHECK_CODE(aclrtLaunchCallback(run_step, step, ACL_CALLBACK_BLOCK, stream->handle), 0);
}

/* A flag event is recorded once per round and never cleared, so all waits are for that record. */
static void record(struct model_event *event, uint32_t index)
{
    if (event->class == FLAG && event->recorded)
        return;
    event->newest = position_of(index);
    event->recorded = true;
    CHECK_CODE(aclrtRecordEvent(event->handle, streams[index].handle), 0);
}

static void wait_for(struct model_event *event, uint32_t index)
{
    struct model_stream *stream = &streams[index];
    if (stream->pending == DEPENDENCIES || (event->class != EX && !event->recorded))
        return;
    if (event->recorded)
        stream->after[stream->pending++] = event->newest;
    CHECK_CODE(aclrtStreamWaitEvent(stream->handle, event->handle), 0);
}

static bool is_complete(struct model_event *event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK_CODE(aclrtQueryEventStatus(event->handle, &status), 0);
    return event->recorded && status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

static void operate(uint64_t random)
{
    uint32_t index = random % STREAMS, choice = (random >> 6) % 100;
    struct model_stream *stream = &streams[index];
    struct model_event *event = &events[(random >> 3) % EVENTS];
    random >>= 13;
    pthread_mutex_lock(&stream->mutex);
    pthread_mutex_lock(&event->mutex);
    struct dependency here = position_of(index), there = event->newest;
    aclrtStreamStatus status;
    bool locked = true;
    if (choice < 60) {
        submit_step(index, random);
    } else if (choice < 72) {
        record(event, index);
    } else if (choice < 86) {
        wait_for(event, index);
    } else if (choice < 90) {
        pthread_mutex_unlock(&event->mutex);
        pthread_mutex_unlock(&stream->mutex);
        locked = false;
        CHECK_CODE(aclrtSynchronizeStream(stream->handle), 0);
        check_dependency(&here);
    } else if (choice < 93) {
        CHECK_CODE(aclrtSynchronizeEvent(event->handle), 0);
        check_dependency(&there);
    } else if (choice < 96) {
        if (is_complete(event))
            check_dependency(&there);
    } else {
        CHECK_CODE(aclrtStreamQuery(stream->handle, &status), 0);
        if (status == ACL_STREAM_STATUS_COMPLETE)
            check_dependency(&here);
    }
    if (locked) {
        pthread_mutex_unlock(&event->mutex);
        pthread_mutex_unlock(&stream->mutex);
    }
}

static void *run_program(void *number)
{
    uint64_t state = seed + (uint64_t)(uintptr_t)number * UINT64_C(0x9e3779b97f4a7c15);
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < OPERATIONS; i++)
        operate(next_random(&state));
    return NULL;
}

static void make_events(void)
{
    static const uint32_t flags = ACL_EVENT_SYNC;
    for (uint32_t i = 0; i < EVENTS; i++) {
        struct model_event *event = &events[i];
        event->class = i % 4 == 1 ? EX : i % 4 == 3 ? FLAG : DEFAULT;
        event->recorded = false;
        event->newest = (struct dependency){0, 0, 0};
        CHECK_CODE(event->class == EX     ? aclrtCreateEventExWithFlag(&event->handle, flags)
                   : event->class == FLAG ? aclrtCreateEventWithFlag(&event->handle, flags)
                                          : aclrtCreateEvent(&event->handle),
                   0);
    }
}

static void run_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start(run, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void test_programs(void)
{
    make_events();
    for (int i = 0; i < STREAMS; i++) {
        struct model_stream *stream = &streams[i];
        stream->submitted = stream->pending = stream->done = 0;
        memset(stream->log, 0, sizeof stream->log);
    }
    run_threads(run_program);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    for (int i = 0; i < STREAMS; i++) {
        const struct model_stream *stream = &streams[i];
        CHECK(stream->done == stream->submitted);
        for (uint32_t k = 0; k < stream->submitted; k++)
            CHECK(stream->log[k] == stream->steps[k].value);
    }
    for (int i = 0; i < EVENTS; i++)
        CHECK_CODE(aclrtDestroyEvent(events[i].handle), 0);
}

/* ---- contention: only the tasks of one thread have an order ---- */

static struct {
    uint32_t ran;           /* plain: a stream runs one task at a time */
    uint32_t next[THREADS]; /* plain: the tasks of a thread run in order */
} counters[STREAMS];
static uint32_t places[THREADS][STREAMS][3 * OPERATIONS];

static aclError count_place(void *argument)
{
    size_t at = (size_t)((uint32_t *)argument - &places[0][0][0]);
    size_t thread = at / (STREAMS * 3 * OPERATIONS), stream = at / (3 * OPERATIONS) % STREAMS;
    uint32_t place = at % (3 * OPERATIONS);
    CHECK(counters[stream].next[thread]++ == place);
    counters[stream].ran++;
    return 0;
}

static void *contend(void *number)
{
    uintptr_t thread = (uintptr_t)number - 1;
    uint64_t state = seed + thread * 77777 + 3;
    uint32_t submitted[STREAMS] = {0};
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 3 * OPERATIONS; i++) {
        uint64_t random = next_random(&state);
        uint32_t index = random & 1 ? 0 : (random >> 1) % STREAMS;
        aclrtStreamStatus status;
        launch(streams[index].handle, count_place, &places[thread][index][submitted[index]++],
               (random >> 8) % 8 == 0 ? 0 : ACLSIM_TASK_LIGHT);
        if ((random >> 12) % 50 == 0)
            CHECK_CODE(aclrtSynchronizeStream(streams[index].handle), 0);
        if ((random >> 12) % 50 == 1)
            CHECK_CODE(aclrtStreamQuery(streams[index].handle, &status), 0);
    }
    return NULL;
}

static void test_contention(void)
{
    memset(counters, 0, sizeof counters);
    run_threads(contend);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    uint32_t ran = 0;
    for (int i = 0; i < STREAMS; i++)
        ran += counters[i].ran;
    CHECK(ran == THREADS * 3 * OPERATIONS);
}

/* ---- create, use, destroy, with stale handles of other threads ---- */

static void *_Atomic leaked, *_Atomic leaked_event, *_Atomic leaked_context; /* of other threads; may be stale */
static _Atomic uint32_t ran, accepted;

static aclError count_run(void *unused)
{
    (void)unused;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static void try_launch(aclrtStream stream)
{
    aclError code = aclsimLaunchTask(stream, count_run, NULL, NULL, 0, 0);
    /* STREAM_CONTEXT: between two look-ups the slot became the default stream of another thread's context. */
    CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE || code == ACL_ERROR_RT_STREAM_CONTEXT);
    atomic_fetch_add_explicit(&accepted, code == 0, memory_order_relaxed);
}

/* Uses a handle that may be stale. Such calls must not affect an event that was created later in the same slot. */
static void try_event(aclrtEvent event, aclrtStream stream)
{
    aclrtEventRecordedStatus status;
    aclError code = aclrtQueryEventStatus(event, &status);
    CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
    code = aclrtRecordEvent(event, stream);
    CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
    code = aclrtResetEvent(event, stream);
    CHECK(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
}

static void try_context(aclrtContext context)
{
    int32_t device = -1;
    aclrtStream stream;
    aclError code = aclrtSetCurrentContext(context);
    CHECK(code == 0 || code == ACL_ERROR_RT_PARAM_INVALID);
    if (code == 0) {
        code = aclrtGetDevice(&device);
        CHECK(code == ACL_ERROR_RT_CONTEXT_NULL || device == 0);
        code = aclrtCreateStream(&stream);
        CHECK(code == 0 || code == ACL_ERROR_RT_CONTEXT_NULL);
    }
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* Creates and destroys a context whose handle the other threads use. */
static void leak_context(void)
{
    aclrtContext context;
    CHECK_CODE(aclrtCreateContext(&context, 0), 0);
    atomic_store(&leaked_context, context);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtDestroyContext(context), 0);
    try_context(atomic_load(&leaked_context));
}

/* Creates and destroys events whose handles other threads use meanwhile. Their calls must not destroy an event. */
static void *leak_events(void *unused)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    aclrtStream stream = make_stream();
    for (int i = 0; i < OPERATIONS; i++) {
        aclrtEvent event;
        CHECK_CODE(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), 0);
        try_event(atomic_exchange(&leaked_event, event), stream);
        CHECK_CODE(aclrtDestroyEvent(event), 0);
        if (i % 64 == 0)
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    return unused;
}

static void *create_and_destroy(void *number)
{
    uint64_t state = seed + (uint64_t)(uintptr_t)number * 999 + 5;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < OPERATIONS / 2; i++) {
        uint64_t random = next_random(&state);
        aclrtStream stream = make_stream();
        for (uint64_t k = random & 7; k != 0; k--)
            try_launch(stream);
        aclrtEvent event = make_event();
        CHECK_CODE(aclrtRecordEvent(event, stream), 0);
        atomic_store(&leaked, stream);
        if (random >> 3 & 1)
            CHECK_CODE(aclrtStreamWaitEvent(streams[0].handle, event), 0);
        if (random >> 7 & 1) /* often before the record has run */
            CHECK_CODE(aclrtDestroyEvent(event), 0);
        if ((random >> 4) % 4 == 0)
            CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
        CHECK_CODE(aclsimLaunchTask(stream, count_run, NULL, NULL, 0, 0), ACL_ERROR_RT_INVALID_HANDLE);
        try_launch(atomic_load(&leaked));
        if ((random >> 8) % 8 == 0)
            leak_context();
        if (random >> 7 & 1)
            continue;
        if (random >> 6 & 1)
            CHECK_CODE(aclrtSynchronizeEvent(event), 0);
        CHECK_CODE(aclrtDestroyEvent(event), 0);
    }
    return NULL;
}

static void test_lives(void)
{
    atomic_store(&ran, 0);
    atomic_store(&accepted, 0);
    run_threads(create_and_destroy);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(ran == accepted);
    atomic_store(&leaked_event, make_event());
    run_threads(leak_events);
}

/* ---- both schedules ---- */

static _Atomic bool stop_serving;

static void *serve(void *unused)
{
    while (!atomic_load(&stop_serving)) {
        aclError code = aclrtProcessReport(-1);
        CHECK(code == 0 || code == ACL_ERROR_RT_THREAD_SUBSCRIBE);
    }
    return unused;
}

static void run_stop(void *unused)
{
    (void)unused;
    atomic_store(&stop_serving, true);
}

static void test_schedule(const char *schedule)
{
    open_device(schedule);
    atomic_store(&stop_serving, false);
    pthread_t server = start(serve, NULL);
    for (int i = 0; i < STREAMS; i++) {
        streams[i].handle = make_stream();
        if (i % 2 == 1)
            CHECK_CODE(aclrtSubscribeReport((uint64_t)server, streams[i].handle), 0);
    }
    for (unsigned round = 0; round < rounds; round++) {
        seed += 1000;
        watch_dog(120);
        test_programs();
        test_contention();
        test_lives();
    }
    CHECK_CODE(aclrtLaunchCallback(run_stop, NULL, ACL_CALLBACK_BLOCK, streams[1].handle), 0);
    pthread_join(server, NULL);
    CHECK_CODE(aclsimReset(), 0);
}

int main(int count, char **arguments)
{
    seed = count > 1 ? strtoull(arguments[1], NULL, 0) : 1;
    rounds = stress_factor();
    for (int i = 0; i < STREAMS; i++)
        pthread_mutex_init(&streams[i].mutex, NULL);
    for (int i = 0; i < EVENTS; i++)
        pthread_mutex_init(&events[i].mutex, NULL);
    test_schedule("parallel");
    test_schedule("eager");
    return 0;
}
