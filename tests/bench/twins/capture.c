/* Model running instances: recording, runs of one stream and of several, runs of nothing. */
#include "twin.h"

#define TASKS 1000
#define RUNS 20
#define STREAMS 4
#define STRETCH 5 /* tasks of a stream between two edges */

static aclrtStream streams[STREAMS];
static aclrtEvent events[STREAMS];
static aclmdlRI instance;
static char *words;
static int tasks; /* of the instance */

static void prepare(void)
{
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&streams[i]));
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
    }
    OK(aclrtMalloc((void **)&words, 4 * TASKS, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void queue_tasks(aclrtStream stream, int count)
{
    for (int i = 0; i < count; i++)
        OK(aclrtMemsetAsync(words + 4 * i, 4, 1, 4, stream));
    tasks += count;
}

static void edge(int from, int to)
{
    OK(aclrtRecordEvent(events[from], streams[from]));
    OK(aclrtStreamWaitEvent(streams[to], events[from]));
    tasks += 2;
}

static void prepare_single(void)
{
    prepare();
    OK(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    queue_tasks(streams[0], TASKS);
    OK(aclmdlRICaptureEnd(streams[0], &instance));
}

/* Work goes round the streams, each stretch after the one before on its own stream and on the stream before it. */
static void prepare_multi(void)
{
    prepare();
    OK(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    for (int i = 1; i < STREAMS; i++)
        edge(0, i);
    for (int i = 0; tasks < TASKS; i = (i + 1) % STREAMS) {
        queue_tasks(streams[i], STRETCH);
        edge(i, (i + 1) % STREAMS);
    }
    for (int i = 1; i < STREAMS; i++)
        edge(i, 0);
    OK(aclmdlRICaptureEnd(streams[0], &instance));
}

static void prepare_empty(void)
{
    prepare();
    OK(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureEnd(streams[0], &instance));
}

static double sample_runs(int count)
{
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        OK(aclmdlRIExecuteAsync(instance, streams[0]));
        OK(aclrtSynchronizeStream(streams[0]));
    }
    return twin_each(start, count);
}

static double sample_tasks(void)
{
    return sample_runs(RUNS) / tasks;
}

static double sample_empty(void)
{
    return sample_runs(5000);
}

/* What recording a task costs, where submitting it is 1. */
static double sample_capture(void)
{
    uint64_t start = twin_now();
    queue_tasks(streams[0], TASKS);
    double submitted = twin_each(start, TASKS);
    OK(aclrtSynchronizeStream(streams[0]));
    OK(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    start = twin_now();
    queue_tasks(streams[0], TASKS);
    double captured = twin_each(start, TASKS);
    OK(aclmdlRICaptureEnd(streams[0], &instance));
    OK(aclmdlRIDestroy(instance));
    return captured / submitted;
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"replay_single", prepare_single, sample_tasks},
        {"replay_multi", prepare_multi, sample_tasks},
        {"replay_empty", prepare_empty, sample_empty},
        {"capture", prepare, sample_capture},
    };
    return TWIN_MAIN(rows);
}
