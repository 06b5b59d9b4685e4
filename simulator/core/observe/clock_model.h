/* The clock model: the setting clock=model takes the times of events, profiles and traces from a virtual clock. A task
 * starts when the task before it in its stream has ended, the program has submitted it, and what it waits for has
 * passed; it takes the time of clock_cost.h. Times are nanoseconds; all begin at 0. */
#ifndef SIM_CLOCK_MODEL_H
#define SIM_CLOCK_MODEL_H

#include "base/clock.h"
#include "base/config.h"
#include "engine/task.h"

static inline bool sim_clock_model_is_on(void)
{
    return sim_config()->cf_clock_model;
}

/* The virtual time of the calling thread: of the callback that it makes, or of the host. 0 before a device opens. */
uint64_t sim_clock_model_host(void);
/* The time of the calling thread by the clock that is set. */
static inline uint64_t sim_clock_model_now(void)
{
    return sim_clock_model_is_on() ? sim_clock_model_host() : sim_clock_now();
}

/* The virtual time at which the task that runs has started. */
uint64_t sim_clock_model_of_run(const struct sim_run *run);

/* A step of a saved model begins, on the thread that executes it (struct sim_model_observer). */
void sim_clock_model_step(const struct sim_op *op, const void *argument, uint64_t bytes);

/* ---- life cycle (entries of simulator.c) ---- */

int sim_clock_model_open(void);
void sim_clock_model_waited(uint64_t own, uint64_t waited);
void sim_clock_model_reset(void);
void sim_clock_model_after_fork(void);

#endif
