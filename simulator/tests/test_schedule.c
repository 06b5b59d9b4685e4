/* Schedules that hold tasks back: what runs when under `lazy`, repeated orders under `random` and `replay`, waits of
 * every kind, the patrol, and several host threads. */
#include "address/memory.h"
#include "capture.h"
#include "engine/schedule.h"

#include <inttypes.h>
#include <sys/stat.h>

#define TASKS 64

/* The tasks that ran, by their letters; one thread at a time writes it. */
static char ran[TASKS + 1];
static _Atomic uint32_t ran_count;
static pthread_t opener;           /* the thread that has opened the device */
static _Atomic bool ran_elsewhere; /* a task, on another thread than that one */

static aclError letter(void *which)
{
    uint32_t at = atomic_fetch_add(&ran_count, 1);
    CHECK(at < TASKS);
    if (!pthread_equal(pthread_self(), opener))
        atomic_store(&ran_elsewhere, true);
    ran[at] = *(const char *)which;
    return 0;
}

static void queue(aclrtStream stream, const char *letters)
{
    for (; *letters != '\0'; letters++)
        launch(stream, letter, (void *)(uintptr_t)letters, 0);
}

static bool ran_so_far(const char *letters)
{
    return strlen(letters) == atomic_load(&ran_count) && memcmp(ran, letters, strlen(letters)) == 0;
}

static void begin_under(const char *schedule)
{
    open_device(schedule);
    opener = pthread_self();
    atomic_store(&ran_elsewhere, false);
    memset(ran, 0, sizeof ran);
    atomic_store(&ran_count, 0);
}

static void synchronize(aclrtStream stream)
{
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
}

/* ---- lazy ---- */

static void test_a_wait_runs_what_it_needs_and_no_more(void)
{
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream(), three = make_stream();
    aclrtEvent event = make_event(), early = make_event();
    queue(one, "ab");
    CHECK_CODE(aclrtRecordEvent(event, one), 0);
    queue(one, "c");
    queue(two, "d");
    CHECK_CODE(aclrtRecordEvent(early, two), 0);
    CHECK_CODE(aclrtStreamWaitEvent(two, event), 0);
    queue(two, "e");
    queue(three, "f");
    CHECK(ran_so_far(""));
    CHECK_CODE(aclrtSynchronizeEvent(early), 0);
    CHECK(ran_so_far("d"));
    synchronize(two);
    CHECK(ran_so_far("dabe"));
    synchronize(three);
    CHECK(ran_so_far("dabef"));
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(ran_so_far("dabefc"));
    queue(one, "g"); /* a stream that was synchronised is held back again */
    CHECK(ran_so_far("dabefc"));
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(one, 10000), 0);
    CHECK(ran_so_far("dabefcg"));
}

static void test_a_destroyed_stream_runs_its_tasks(void)
{
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream();
    queue(one, "a");
    queue(two, "b");
    CHECK_CODE(aclrtDestroyStream(one), 0);
    CHECK(ran_so_far("a"));
    one = make_stream(); /* in the same slot: held back from its first task on */
    queue(one, "c");
    CHECK(ran_so_far("a"));
    CHECK_CODE(aclrtDestroyStreamForce(one), 0);
    CHECK(ran_so_far("a"));
    synchronize(two);
    CHECK(ran_so_far("ab"));
}

static void test_polls_in_vain_make_progress(void)
{
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream();
    aclrtEvent event = make_event();
    aclrtStreamStatus status;
    aclrtEventRecordedStatus recorded;
    queue(one, "abc");
    CHECK_CODE(aclrtRecordEvent(event, one), 0);
    CHECK_CODE(aclrtStreamWaitEvent(two, event), 0);
    queue(two, "d");
    for (int i = 0; i < 8; i++) {
        CHECK_CODE(aclrtStreamQuery(two, &status), 0);
        CHECK(status == ACL_STREAM_STATUS_NOT_READY && ran_so_far(""));
    }
    int polls = 0;
    do {
        CHECK_CODE(aclrtStreamQuery(two, &status), 0);
    } while (status != ACL_STREAM_STATUS_COMPLETE && ++polls < 100);
    CHECK(ran_so_far("abcd"));
    queue(one, "e");
    CHECK_CODE(aclrtRecordEvent(event, one), 0);
    polls = 0;
    do {
        CHECK_CODE(aclrtQueryEventStatus(event, &recorded), 0);
    } while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE && ++polls < 100);
    CHECK(ran_so_far("abcde") && polls >= 8);
}

/* Nothing says which task will write the value, or set the notify: ready tasks run one after another. */
static void test_a_wait_for_what_any_task_may_do(void)
{
    uint64_t *value;
    aclrtNotify notify;
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream(), three = make_stream();
    CHECK_CODE(aclrtMalloc((void **)&value, sizeof *value, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(value, sizeof *value, 0, sizeof *value), 0);
    CHECK_CODE(aclrtCreateNotify(&notify, 0), 0);
    CHECK_CODE(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, one), 0);
    queue(one, "a");
    CHECK_CODE(aclrtWaitAndResetNotify(notify, two, 0), 0);
    CHECK_CODE(aclrtValueWrite(value, 1, 0, two), 0);
    CHECK_CODE(aclrtRecordNotify(notify, three), 0);
    queue(three, "b");
    synchronize(one);
    CHECK(strchr(ran, 'a') != NULL);
    synchronize(three);
    CHECK(strchr(ran, 'b') != NULL);
    CHECK(!atomic_load(&ran_elsewhere)); /* the wait has run them, not the patrol, which would come later */
    CHECK_CODE(aclrtDestroyNotify(notify), 0);
}

static void test_replays_are_held_back_and_destroying_waits_for_them(void)
{
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream();
    begin(one);
    link_streams(one, two);
    queue(two, "a");
    link_streams(two, one); /* the join comes before the tasks of the first stream, which may run at any time */
    queue(one, "b");
    aclmdlRI instance = end(one);
    execute(instance, one);
    execute(instance, one);
    CHECK(ran_so_far(""));
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    CHECK(ran_so_far("abab"));
}

static void test_branches_of_a_replay_are_chosen(void)
{
    static const char *const orders[] = {"ab", "ba"};
    const char *const schedules[] = {"eager", "lazy"};
    for (int i = 0; i < 2; i++) {
        begin_under(schedules[i]);
        aclrtStream one = make_stream(), two = make_stream();
        begin(one);
        link_streams(one, two);
        aclrtEvent join = ex_event();
        queue(two, "b");
        CHECK_CODE(aclrtRecordEvent(join, two), 0);
        queue(one, "a");
        CHECK_CODE(aclrtStreamWaitEvent(one, join), 0);
        aclmdlRI instance = end(one);
        run(instance, one);
        CHECK(ran_so_far(orders[1 - i]) || ran_so_far(orders[i]));
        static char first;
        CHECK(i == 0 || ran[0] != first); /* lazy takes the other one */
        first = ran[0];
        destroy(instance);
    }
}

static aclError clear(void *slot)
{
    atomic_store((_Atomic uint64_t *)sim_memory_reach(slot), 0);
    return 0;
}

/* The loop ends when a task of another stream clears its condition, which is held back, too. */
static void test_a_loop_lets_other_streams_run(void)
{
    aclmdlRI instance, body;
    aclmdlRICondHandle condition;
    uint64_t *slot;
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream(), inside = make_stream();
    begin(one);
    CHECK_CODE(aclmdlRICaptureGetInfo(one, NULL, &instance), 0);
    CHECK_CODE(aclmdlRICondHandleCreate(instance, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition), 0);
    CHECK_CODE(aclmdlRICondHandleGetCondPtr(condition, &slot), 0);
    aclmdlRICondTaskParams parameters = {condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body};
    CHECK_CODE(aclmdlRIAddCondTask(parameters, one, 0), 0);
    CHECK_CODE(aclmdlRICaptureToModelRIBegin(inside, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    queue(inside, "a");
    CHECK_CODE(aclmdlRICaptureEnd(inside, NULL), 0);
    instance = end(one);
    execute(instance, one);
    launch(two, clear, slot, 0);
    synchronize(one);
    CHECK(ran[0] == 'a' && atomic_load(&ran_count) < 8);
    destroy(instance);
}

static void *make_callbacks(void *subscribed)
{
    latch_wait(subscribed, 1);
    CHECK_CODE(aclrtProcessReport(10000), 0);
    return NULL;
}

static void call_letter(void *which)
{
    letter(which);
}

/* A thread that waits for callbacks runs no task, and callbacks run on it. */
static void test_callbacks_run_when_their_stream_does(void)
{
    begin_under("lazy");
    aclrtStream one = make_stream();
    struct latch subscribed = LATCH;
    pthread_t thread = start(make_callbacks, &subscribed);
    CHECK_CODE(aclrtSubscribeReport((uint64_t)thread, one), 0);
    latch_open(&subscribed);
    queue(one, "a");
    CHECK_CODE(aclrtLaunchCallback(call_letter, "b", ACL_CALLBACK_BLOCK, one), 0);
    queue(one, "c");
    CHECK(ran_so_far(""));
    synchronize(one);
    CHECK(ran_so_far("abc"));
    pthread_join(thread, NULL);
    CHECK_CODE(aclrtUnSubscribeReport((uint64_t)thread, one), 0);
}

static void put_in_queue(void *queue)
{
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(acltdtEnqueueData(*(const uint32_t *)queue, "abc", 4, NULL, 0, 10000, 0), 0);
}

/* The entry comes from a host function that is held back: the thread that waits for the entry runs the stream. */
static void test_a_wait_at_a_queue_runs_what_is_ready(void)
{
    uint32_t queue_id;
    char text[4];
    size_t size;
    begin_under("lazy");
    aclrtStream one = make_stream();
    acltdtQueueAttr *attribute = acltdtCreateQueueAttr();
    CHECK_CODE(acltdtCreateQueue(attribute, &queue_id), 0);
    CHECK_CODE(aclrtLaunchHostFunc(one, put_in_queue, &queue_id), 0);
    CHECK_CODE(acltdtDequeueData(queue_id, text, sizeof text, &size, NULL, 0, 10000), 0);
    CHECK(strcmp(text, "abc") == 0);
    synchronize(one);
    CHECK_CODE(acltdtDestroyQueue(queue_id), 0);
    CHECK_CODE(acltdtDestroyQueueAttr(attribute), 0);
}

/* ---- the patrol ---- */

/* A program that neither waits nor polls makes progress after a second or two. */
static void test_a_patrol_runs_what_nobody_waits_for(void)
{
    static struct latch done;
    begin_under("lazy");
    aclrtStream one = make_stream();
    done = (struct latch)LATCH;
    launch(one, open_latch, &done, 0);
    CHECK(latch_count(&done) == 0);
    latch_wait(&done, 1);
    CHECK_CODE(aclFinalize(), 0); /* ends the patrol */
}

/* ---- random and replay ---- */

static char log_path[64];
static char order_of_log[4096], hash_of_log[256];

/* Reads the lines of tasks and the hash. */
static void read_log(void)
{
    char line[256];
    FILE *file = fopen(log_path, "r");
    CHECK(file != NULL);
    order_of_log[0] = hash_of_log[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "run ", 4) == 0 || strncmp(line, "failed ", 7) == 0)
            strncat(order_of_log, line, sizeof order_of_log - strlen(order_of_log) - 1);
        if (strncmp(line, "hash ", 5) == 0)
            snprintf(hash_of_log, sizeof hash_of_log, "%s", line);
    }
    fclose(file);
}

/* Three streams, which wait for each other here and there. Ends with a reset, which completes the log. */
static void run_program(const char *schedule)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("schedule_log", log_path), 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    memset(ran, 0, sizeof ran);
    atomic_store(&ran_count, 0);
    aclrtStream streams[] = {make_stream(), make_stream(), make_stream()};
    aclrtEvent event = make_event();
    for (int i = 0; i < 8; i++) {
        queue(streams[i % 3], i % 2 == 0 ? "ab" : "cd");
        if (i % 4 == 1) {
            CHECK_CODE(aclrtRecordEvent(event, streams[0]), 0);
            CHECK_CODE(aclrtStreamWaitEvent(streams[1], event), 0);
        }
        if (i == 4)
            synchronize(streams[1]);
    }
    CHECK(aclrtMemset(NULL, 4, 0, 4) != 0);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK_CODE(aclsimReset(), 0);
    read_log();
}

static void test_a_seed_repeats_its_order(void)
{
    char first[sizeof order_of_log], hash[sizeof hash_of_log], schedule[32];
    unsigned different = 0;
    run_program("eager");
    CHECK(strstr(order_of_log, "run 1#1 aclsimLaunchTask\nrun 1#2 aclsimLaunchTask\n") == order_of_log);
    CHECK(strstr(order_of_log, "failed aclrtMemset 1") != NULL);
    char eager[sizeof order_of_log];
    strcpy(eager, order_of_log);
    for (uint64_t seed = 0; seed < 20 * stress_factor(); seed++) {
        snprintf(schedule, sizeof schedule, "random:%" PRIu64, seed);
        run_program(schedule);
        strcpy(first, order_of_log);
        strcpy(hash, hash_of_log);
        CHECK(strlen(hash) == strlen("hash 0123456789abcdef\n"));
        run_program(schedule);
        CHECK(strcmp(first, order_of_log) == 0 && strcmp(hash, hash_of_log) == 0);
        different += strcmp(first, eager) != 0;
    }
    CHECK(different >= 10);
}

static void test_a_log_repeats_its_schedule(void)
{
    char first[sizeof order_of_log], copy[80], schedule[96];
    const char *const schedules[] = {"lazy", "random:3", "random:4", "random:11", "eager"};
    snprintf(copy, sizeof copy, "%s.first", log_path);
    snprintf(schedule, sizeof schedule, "replay:%s", copy);
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        run_program(schedules[i]);
        strcpy(first, order_of_log);
        CHECK(rename(log_path, copy) == 0);
        run_program(schedule);
        CHECK(strcmp(first, order_of_log) == 0);
    }
    CHECK(remove(copy) == 0);
}

static void write_file(const char *text)
{
    FILE *file = fopen(log_path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_a_list_of_holds(void)
{
    char schedule[96];
    snprintf(schedule, sizeof schedule, "replay:%s", log_path);
    write_file("# acl schedule 1: mine\n\nhold 1#2 until 2#2\nhold 1#3\n");
    begin_under(schedule);
    aclrtStream one = make_stream(), two = make_stream();
    queue(one, "abc");
    CHECK(ran_so_far("a"));
    queue(two, "d");
    CHECK(ran_so_far("ad"));
    queue(two, "e"); /* runs, and then what it releases, up to the next hold */
    CHECK(ran_so_far("adeb"));
    synchronize(two);
    CHECK(ran_so_far("adeb"));
    queue(one, "f"); /* behind a task that is held back */
    CHECK(ran_so_far("adeb"));
    synchronize(one);
    queue(one, "g");
    CHECK(ran_so_far("adebcfg"));
}

static void test_what_is_no_log_is_refused(void)
{
    static const char *const wrong[] = {"", "hold 1#2\n", "# acl schedule 1\nhold 1\n", "# acl schedule 1\nwait\n",
                                        "# acl schedule 1\npick 1\n"};
    char schedule[96];
    CHECK_CODE(aclsimReset(), 0);
    snprintf(schedule, sizeof schedule, "replay:%s", log_path);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i]);
        CHECK_CODE(aclsimConfigure("schedule", schedule), ACL_ERROR_INVALID_PARAM);
    }
    CHECK(remove(log_path) == 0);
    CHECK_CODE(aclsimConfigure("schedule", schedule), ACL_ERROR_INVALID_PARAM);
    CHECK_TEXT("\"replay:<file>\" with the log of a schedule");
    CHECK_CODE(aclsimConfigure("schedule", "random:"), ACL_ERROR_INVALID_PARAM);
    CHECK_CODE(aclsimConfigure("schedule", "random:7x"), ACL_ERROR_INVALID_PARAM);
}

/* ---- several host threads ---- */

struct host {
    aclrtStream stream, other;
    aclrtEvent event;
    uint64_t random, sum;
};

static aclError add(void *sum)
{
    ++*(uint64_t *)sum;
    return 0;
}

/* Queues tasks on its own stream, lets another stream wait for some, and waits in each way. */
static void *work(void *argument)
{
    struct host *host = argument;
    uint64_t tasks = 0;
    aclrtStreamStatus status;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (unsigned i = 0; i < 300 * stress_factor(); i++) {
        switch (next_random(&host->random) % 6) {
        case 0:
            CHECK_CODE(aclrtRecordEvent(host->event, host->stream), 0);
            CHECK_CODE(aclrtStreamWaitEvent(host->other, host->event), 0);
            break;
        case 1:
            synchronize(host->stream);
            CHECK(host->sum == tasks);
            break;
        case 2:
            CHECK_CODE(aclrtStreamQuery(host->stream, &status), 0);
            break;
        case 3:
            CHECK_CODE(aclrtSynchronizeStream(host->other), 0);
            break;
        default:
            launch(host->stream, add, &host->sum, next_random(&host->random) % 2 ? ACLSIM_TASK_LIGHT : 0);
            tasks++;
        }
    }
    synchronize(host->stream);
    CHECK(host->sum == tasks);
    return NULL;
}

static void test_several_hosts(const char *schedule)
{
    struct host hosts[4];
    pthread_t threads[4];
    begin_under(schedule);
    for (int i = 0; i < 4; i++)
        hosts[i] = (struct host){.stream = make_stream(), .event = make_event(), .random = (uint64_t)i + 77};
    for (int i = 0; i < 4; i++)
        hosts[i].other = hosts[(i + 1) % 4].stream;
    for (int i = 0; i < 4; i++)
        threads[i] = start(work, &hosts[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
}

/* A host that sleeps is woken by the submission of the task that it needs. */
static void test_a_submission_wakes_a_host_that_needs_it(void)
{
    uint64_t *value;
    begin_under("lazy");
    aclrtStream one = make_stream(), two = make_stream();
    CHECK_CODE(aclrtMalloc((void **)&value, sizeof *value, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemset(value, sizeof *value, 0, sizeof *value), 0);
    CHECK_CODE(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, one), 0);
    struct waiter waiter = {.stream = one};
    pthread_t thread = start(wait_there, &waiter);
    await_asleep(&waiter.sleeper);
    CHECK_CODE(aclrtValueWrite(value, 1, 0, two), 0);
    pthread_join(thread, NULL);
    CHECK_CODE(waiter.code, 0);
}

/* ---- the other schedules ---- */

static void test_nothing_is_left_for_the_next_schedule(void)
{
    begin_under("lazy");
    aclrtStream stream = make_stream();
    queue(stream, "a");
    begin_under("eager");
    stream = make_stream();
    queue(stream, "b");
    CHECK(ran_so_far("b"));
}

int main(void)
{
    watch_dog(300);
    snprintf(log_path, sizeof log_path, "/tmp/test_schedule.%d", (int)getpid());
    test_a_wait_runs_what_it_needs_and_no_more();
    test_a_destroyed_stream_runs_its_tasks();
    test_polls_in_vain_make_progress();
    test_a_wait_for_what_any_task_may_do();
    test_replays_are_held_back_and_destroying_waits_for_them();
    test_branches_of_a_replay_are_chosen();
    test_a_loop_lets_other_streams_run();
    test_callbacks_run_when_their_stream_does();
    test_a_wait_at_a_queue_runs_what_is_ready();
    test_a_patrol_runs_what_nobody_waits_for();
    test_a_seed_repeats_its_order();
    test_a_log_repeats_its_schedule();
    test_a_list_of_holds();
    test_what_is_no_log_is_refused();
    test_a_submission_wakes_a_host_that_needs_it();
    test_several_hosts("lazy");
    test_several_hosts("random:5");
    test_several_hosts("eager");
    test_nothing_is_left_for_the_next_schedule();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
