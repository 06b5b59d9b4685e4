/* Time in nanoseconds of the monotonic clock. Deadlines are absolute; SIM_FOREVER means no deadline. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "fail.h"

static inline uint64_t sim_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The deadline `milliseconds` from now; negative: none. */
static inline uint64_t sim_clock_deadline(int32_t milliseconds)
{
    return milliseconds < 0 ? SIM_FOREVER : sim_clock_now() + (uint64_t)milliseconds * 1000000u;
}

/* The same for a call that may wait in slices (sim.h): its time counts from its first slice. A wait without a time-out,
 * the usual one, returns first. */
static inline uint64_t sim_clock_deadline_of_call(int32_t milliseconds)
{
    if (milliseconds < 0)
        return SIM_FOREVER;
    uint64_t since = sim_thread.th_wait_since;
    if (likely(since == 0))
        return sim_clock_deadline(milliseconds);
    sim_thread.th_wait_since = 0;
    return since + (uint64_t)milliseconds * 1000000u;
}

/* The time left until `deadline`; 0 when it has passed. */
static inline uint64_t sim_clock_left(uint64_t deadline)
{
    if (deadline == SIM_FOREVER)
        return SIM_FOREVER;
    uint64_t now = sim_clock_now();
    return now < deadline ? deadline - now : 0;
}

/* Checks of a program's time-out in milliseconds, where -1 means no limit. A value below -1 does not become the last
 * error; 0 does. */
#define SIM_TIMEOUT_BOUND(timeout)                                                                                     \
    SIM_ARGUMENT((timeout) >= -1, ACL_ERROR_RT_PARAM_INVALID,                                                          \
                 "%s is %d, expected -1 (no limit) or milliseconds above 0", #timeout, (timeout))
#define SIM_TIMEOUT_NOT_ZERO(timeout)                                                                                  \
    SIM_CHECK((timeout) != 0, ACL_ERROR_RT_PARAM_INVALID,                                                              \
              "%s is 0, expected -1 (no limit) or milliseconds above 0", #timeout)

#endif
