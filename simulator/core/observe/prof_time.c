/* Design notes
 *
 * The times that a session of profiling has beside those of its tasks: the clocks of the host, and the submissions of
 * the tasks that have not finished yet. With both, an export for other tools connects a task with the host's work.
 *
 * Each stream has a ring of submissions in the order of their tickets, which grows with its backlog. Where memory runs
 * out, its submissions are forgotten, and the tasks have no such time in the trace. The lock is a leaf: a submission is
 * noted with the lock of its stream held. */
#include "base/clock.h"
#include "base/output.h"
#include "prof.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 65536u /* indices of streams, which have 16 bits */
#define ROOM_FIRST 16u /* powers of two */

struct submission {
    uint64_t su_ticket, su_time;
};

struct ring {
    struct submission *ri_list;
    uint32_t ri_first, ri_count, ri_room;
};

static struct sim_lock lock;
static struct ring rings[STREAMS];
static bool is_used; /* some ring has a list */

/* ---- clocks ---- */

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct sim_prof_clocks sim_prof_time_clocks(void)
{
    return (struct sim_prof_clocks){read_clock(CLOCK_REALTIME), sim_clock_now(), read_clock(CLOCK_MONOTONIC_RAW)};
}

bool sim_prof_time_write_start(const char *directory, const struct sim_prof_clocks *begun)
{
    char path[ACL_DUMP_MAX_FILE_PATH_LENGTH + 128], text[128];
    int length = snprintf(path, sizeof path, "%s/host", directory);
    if (!sim_output_base(path))
        return false;
    snprintf(path + length, sizeof path - (size_t)length, "/start_info");
    length = snprintf(text, sizeof text,
                      "{\"collectionTimeBegin\": \"%" PRIu64 ".%03u\", \"clockMonotonicRaw\": \"%" PRIu64 "\"}\n",
                      begun->cl_real / 1000, (unsigned)(begun->cl_real % 1000), begun->cl_raw);
    return sim_output_write(path, text, (size_t)length);
}

static void write_clocks(FILE *file, const char *name, const struct sim_prof_clocks *clocks)
{
    fprintf(file, "\"%s\":{\"realtime\":%" PRIu64 ",\"monotonic\":%" PRIu64 ",\"raw\":%" PRIu64 "}", name,
            clocks->cl_real, clocks->cl_monotonic, clocks->cl_raw);
}

void sim_prof_time_write(FILE *file, const struct sim_prof_clocks *begun)
{
    struct sim_prof_clocks now = sim_prof_time_clocks();
    fputs("\"otherData\":{", file);
    write_clocks(file, "begin", begun);
    fputc(',', file);
    write_clocks(file, "end", &now);
    fputc('}', file);
}

/* ---- submissions ---- */

/* The lock is held. */
static bool grow(struct ring *ring)
{
    uint32_t room = ring->ri_room == 0 ? ROOM_FIRST : 2 * ring->ri_room;
    struct submission *list = malloc(room * sizeof *list);
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < ring->ri_count; i++)
        list[i] = ring->ri_list[(ring->ri_first + i) & (ring->ri_room - 1)];
    is_used = true;
    free(ring->ri_list);
    *ring = (struct ring){.ri_list = list, .ri_count = ring->ri_count, .ri_room = room};
    return true;
}

void sim_prof_time_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    struct ring *ring = &rings[stream->st_slot.sl_index % STREAMS];
    (void)task;
    sim_lock(&lock);
    if (ring->ri_count == ring->ri_room && !grow(ring))
        ring->ri_count = 0;
    if (ring->ri_room != 0)
        ring->ri_list[(ring->ri_first + ring->ri_count++) & (ring->ri_room - 1)] =
            (struct submission){ticket, sim_clock_now()};
    sim_unlock(&lock);
}

uint64_t sim_prof_time_submitted(const struct sim_stream *stream, uint64_t ticket)
{
    struct ring *ring = &rings[stream->st_slot.sl_index % STREAMS];
    uint64_t time = 0;
    sim_lock(&lock);
    for (; ring->ri_count != 0; ring->ri_count--) {
        const struct submission *oldest = &ring->ri_list[ring->ri_first];
        if (oldest->su_ticket >= ticket) { /* it stays: the steps of a replay ask one after another */
            time = oldest->su_ticket == ticket ? oldest->su_time : 0;
            break;
        }
        ring->ri_first = (ring->ri_first + 1) & (ring->ri_room - 1);
    }
    sim_unlock(&lock);
    return time;
}

void sim_prof_time_forget(void)
{
    sim_lock(&lock);
    for (uint32_t i = 0; is_used && i < STREAMS; i++) {
        free(rings[i].ri_list);
        rings[i] = (struct ring){0};
    }
    is_used = false;
    sim_unlock(&lock);
}

/* The child loses what the rings hold, because the parent may have been changing them when it forked. */
void sim_prof_time_after_fork(void)
{
    sim_lock_renew(&lock);
    if (is_used)
        memset(rings, 0, sizeof rings);
    is_used = false;
}
