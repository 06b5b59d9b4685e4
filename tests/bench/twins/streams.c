/* Many streams: their creation, work that goes round them, and what they cost while they are idle. */
#include "twin.h"

#define ALIVE 2000
#define WINDOW_NS 200000000u

static aclrtStream streams[ALIVE];
static void *cell;

static void prepare(void)
{
    OK(aclrtMalloc(&cell, 64, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void launch(aclrtStream stream)
{
    OK(aclrtMemsetAsync(cell, 4, 1, 4, stream));
}

static void launch_and_sync(aclrtStream stream)
{
    launch(stream);
    OK(aclrtSynchronizeStream(stream));
}

static void create_streams(void)
{
    for (int i = 0; i < ALIVE; i++)
        OK(aclrtCreateStream(&streams[i]));
}

static void prepare_streams(void)
{
    prepare();
    create_streams();
}

static double sample_create_destroy(void)
{
    const int count = 5000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        aclrtStream made;
        OK(aclrtCreateStream(&made));
        OK(aclrtDestroyStream(made));
    }
    return twin_each(start, count);
}

static double sample_create_use_destroy(void)
{
    const int count = 5000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        aclrtStream made;
        OK(aclrtCreateStream(&made));
        launch_and_sync(made);
        OK(aclrtDestroyStream(made));
    }
    return twin_each(start, count);
}

/* Submissions to each stream in turn. */
static double sample_round_robin(void)
{
    const int rounds = 10;
    uint64_t start = twin_now();
    for (int i = 0; i < rounds; i++) {
        for (int j = 0; j < ALIVE; j++)
            launch(streams[j]);
    }
    double each = twin_each(start, rounds * ALIVE);
    for (int j = 0; j < ALIVE; j++)
        OK(aclrtSynchronizeStream(streams[j]));
    return each;
}

/* Nanoseconds of launching to a stream and synchronising it, for each of the first `alive` streams in turn. */
static double launch_to(int alive)
{
    uint64_t start = twin_now();
    for (int i = 0; i < 5 * ALIVE; i++)
        launch_and_sync(streams[i % alive]);
    return twin_each(start, 5 * ALIVE);
}

/* How much longer that takes with 2,000 streams than with one, which is alone meanwhile. */
static double sample_growth(void)
{
    OK(aclrtCreateStream(&streams[0]));
    double alone = launch_to(1);
    OK(aclrtDestroyStream(streams[0]));
    create_streams();
    double together = launch_to(ALIVE);
    for (int i = 0; i < ALIVE; i++)
        OK(aclrtDestroyStream(streams[i]));
    return together / alone;
}

/* --- Idle streams, each of which has run a task */

static void prepare_idle(void)
{
    prepare_streams();
    for (int i = 0; i < ALIVE; i++)
        launch_and_sync(streams[i]);
    twin_sleep(WINDOW_NS);
}

/* Percent of a core that this process uses while it does nothing; what the sleep itself costs is below 0.1. */
static double sample_idle_cpu(void)
{
    uint64_t start = twin_now(), cpu = twin_clock(CLOCK_PROCESS_CPUTIME_ID);
    twin_sleep(WINDOW_NS);
    return 100.0 * (double)(twin_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)(twin_now() - start);
}

/* Resident KiB of this process, counted page by page: /proc/self/statm may be behind. */
static double resident(void)
{
    char line[256];
    double kib = 0, part;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Rss: %lf", &part) == 1)
            kib = part;
    }
    if (file != NULL)
        fclose(file);
    return kib;
}

static double before;

static void prepare_resident(void)
{
    prepare();
    launch_and_sync(NULL);
    before = resident();
    prepare_idle();
}

static double sample_idle_memory(void)
{
    return (resident() - before) / ALIVE;
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"create_destroy", prepare_streams, sample_create_destroy},
        {"create_use_destroy", prepare_streams, sample_create_use_destroy},
        {"round_robin", prepare_streams, sample_round_robin},
        {"growth_streams", prepare, sample_growth},
        {"idle_cpu", prepare_idle, sample_idle_cpu},
        {"idle_memory", prepare_resident, sample_idle_memory},
    };
    return TWIN_MAIN(rows);
}
