/* Schedules that hold tasks back: `lazy`, `random:<seed>` and `replay:<file>`, and the log of a schedule.
 *
 * Such a schedule has no workers. A stream runs in the thread that submits to it, as in `eager`, but only up to a task
 * at which the schedule holds it back: until another task is submitted, or until a host waits for what comes later.
 * schedule.c decides, and schedule_log.c gives streams and tasks their names and writes the log. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include "stream.h"
#include <stdio.h>

/* What the engine asks a schedule. */
struct sim_scheduler {
    /* The task was queued. Decides at which task its stream is held back (st_held). True if another stream is not held
     * back any more, or less. */
    bool (*sd_submit)(struct sim_stream *stream, uint64_t ticket);
    /* A host polls the stream, which has not finished: how many tasks the host runs now. */
    uint32_t (*sd_poll)(struct sim_stream *stream);
    /* Which one of `count` ready segments of a replay runs next. A lock of the instance is held. */
    uint32_t (*sd_choose)(uint32_t count);
};

/* A task by its names, which are the same in each run: the number of its stream, in the order in which streams got
 * their first tasks, and its number in the stream. Both count from 1. */
struct sim_position {
    uint32_t po_stream;
    uint64_t po_task;
};

/* ---- schedule_log.c ---- */

/* Opens the log if the setting schedule_log names a file. */
void sim_schedule_log_open(void);
/* Writes the hash of the order, and closes the log. */
void sim_schedule_log_close(void);
/* Forgets the names of streams. */
void sim_schedule_log_rename(void);
void sim_schedule_log_after_fork(void);

/* The place of a task that is queued now; gives its stream a number if it has none. */
struct sim_position sim_schedule_position(const struct sim_stream *stream, uint64_t ticket);

/* Writes that a stream is held back at a task; `until`: up to the submission of another one; NULL: not known yet. */
void sim_schedule_log_hold(struct sim_position at, const struct sim_position *until);
/* Writes that the choice with this number took a segment other than the usual one. */
void sim_schedule_log_pick(uint64_t choice, uint32_t index);

/* ---- life cycle (entries of simulator.c) ---- */

/* True if the file is a log, or the list of a shrunk one. */
bool sim_schedule_is_log(const char *path);

int sim_schedule_open(void);
void sim_schedule_finalize(void);
void sim_schedule_devices_closed(void);
void sim_schedule_reset(void);
void sim_schedule_after_fork(void);

#endif
