/* The log of a schedule: names of streams and tasks, and the file.
 *
 * A line is `hold 1#2` (stream 1 is held back before its second task), `hold 1#2 until 2#5` (until the fifth task of
 * stream 2 is queued), `pick 3 0` (the third choice among ready segments of replays took the first of them), `run 1#2
 * aclrtMemcpyAsync` (a task has run), `step` (one step of a replay), `refuse` (a task was not run, because its memory
 * was freed), `failed aclrtMemcpy 107000`, or `hash` with the hash of all lines from `run` to `failed`. Holds and picks
 * are what `replay:` reads; the file has them as soon as they are decided, so that a program that crashes leaves them,
 * too.
 *
 * `lock`, a leaf, guards the names, the file and the hash. Its functions are called with locks of streams, of replays
 * and of any room that fails. */
#include "base/config.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/watcher.h"
#include "engine.h"
#include "schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define STREAMS 65536u /* indices of streams, which have 16 bits in a record */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)
#define LINE_BYTES 256

static struct sim_lock lock;
static FILE *file;
static bool is_child; /* of a fork: the log is the parent's */
static uint64_t hash;
static uint32_t numbers;
static struct {
    uint64_t na_handle; /* of the stream that has the number; 0: none */
    uint64_t na_before; /* the ticket before its first task */
    uint32_t na_number;
} names[STREAMS];

/* With the lock held. */
static struct sim_position position_of(const struct sim_stream *stream, uint64_t ticket)
{
    uint32_t index = stream->st_slot.sl_index % STREAMS;
    return (struct sim_position){names[index].na_number, ticket - names[index].na_before};
}

struct sim_position sim_schedule_position(const struct sim_stream *stream, uint64_t ticket)
{
    uint64_t handle = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed);
    uint32_t index = stream->st_slot.sl_index % STREAMS;
    sim_lock(&lock);
    if (names[index].na_handle != handle && handle != 0) { /* 0: it is being destroyed */
        names[index].na_handle = handle;
        names[index].na_before = ticket - 1;
        names[index].na_number = ++numbers;
    }
    struct sim_position position = position_of(stream, ticket);
    sim_unlock(&lock);
    return position;
}

void sim_schedule_log_rename(void)
{
    sim_lock(&lock);
    memset(names, 0, atomic_load(&sim_streams.tb_count) * sizeof *names);
    numbers = 0;
    sim_unlock(&lock);
}

/* With the lock held: writes a line that is part of the order. */
__attribute__((format(printf, 1, 2)))
static void write_order(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (file == NULL)
        return;
    for (const char *at = line; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * HASH_FACTOR;
    hash = (hash ^ '\n') * HASH_FACTOR;
    fprintf(file, "%s\n", line);
}

void sim_schedule_log_hold(struct sim_position at, const struct sim_position *until)
{
    sim_lock(&lock);
    if (file != NULL && until == NULL)
        fprintf(file, "hold %" PRIu32 "#%" PRIu64 "\n", at.po_stream, at.po_task);
    else if (file != NULL)
        fprintf(file, "hold %" PRIu32 "#%" PRIu64 " until %" PRIu32 "#%" PRIu64 "\n", at.po_stream, at.po_task,
                until->po_stream, until->po_task);
    sim_unlock(&lock);
}

void sim_schedule_log_pick(uint64_t choice, uint32_t index)
{
    sim_lock(&lock);
    if (file != NULL)
        fprintf(file, "pick %" PRIu64 " %" PRIu32 "\n", choice, index);
    sim_unlock(&lock);
}

/* ---- what the log watches ---- */

static void watch_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    (void)task;
    (void)sim_schedule_position(stream, ticket);
}

static void write_task(const char *what, const struct sim_run *run, const struct sim_task *task)
{
    sim_lock(&lock);
    struct sim_position position = position_of(run->rn_stream, run->rn_ticket);
    write_order("%s %" PRIu32 "#%" PRIu64 " %s", what, position.po_stream, position.po_task, task->ta_op->op_name);
    sim_unlock(&lock);
}

static void watch_finish(const struct sim_run *run, const struct sim_task *task, const void *argument,
                         const struct sim_watched *watched)
{
    (void)argument;
    (void)watched;
    write_task(sim_thread.th_walker != NULL ? "step" : "run", run, task);
}

static void watch_refuse(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range)
{
    (void)range;
    write_task("refuse", run, task);
}

static const struct sim_watcher watcher = {
    .wt_submit = watch_submit, .wt_finish = watch_finish, .wt_refuse = watch_refuse};

static void listen(const char *function, aclError code)
{
    sim_lock(&lock);
    write_order("failed %s %d", function, code);
    sim_unlock(&lock);
}

/* ---- the file ---- */

void sim_schedule_log_open(void)
{
    char path[512], schedule[512];
    if (is_child || file != NULL || sim_config_get("schedule_log", path, sizeof path) != ACL_SUCCESS ||
        sim_config_get("schedule", schedule, sizeof schedule) != ACL_SUCCESS || strcmp(path, "none") == 0)
        return;
    FILE *opened = sim_output_open(path);
    if (opened == NULL) {
        fprintf(stderr, "acl simulator: the log of the schedule %s could not be written: %s\n", path, strerror(errno));
        return;
    }
    setvbuf(opened, NULL, _IOLBF, 0);
    fprintf(opened, "# acl schedule 1: %s\n", schedule);
    sim_lock(&lock);
    file = opened;
    hash = HASH_START;
    sim_unlock(&lock);
    sim_watcher_set(&watcher, true);
    atomic_store(&sim_fail_listener, listen);
}

void sim_schedule_log_close(void)
{
    sim_lock(&lock);
    FILE *opened = file;
    uint64_t last = hash;
    file = NULL;
    sim_unlock(&lock);
    if (opened == NULL)
        return;
    sim_watcher_set(&watcher, false);
    atomic_store(&sim_fail_listener, NULL);
    fprintf(opened, "hash %016" PRIx64 "\n", last);
    if (!sim_output_close(opened))
        fprintf(stderr, "acl simulator: the log of the schedule is not complete: %s\n", strerror(errno));
}

void sim_schedule_log_after_fork(void)
{
    sim_lock_renew(&lock);
    file = NULL;
    is_child = true;
    if (numbers != 0)
        memset(names, 0, sizeof names);
    numbers = 0;
    atomic_store(&sim_fail_listener, NULL);
}

__attribute__((destructor)) static void complete(void)
{
    sim_schedule_log_close();
}
