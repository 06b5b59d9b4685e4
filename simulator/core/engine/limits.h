/* Settings of programs for later work: switches, time-outs, sizes, numbers of cores. Callers have checked ids and
 * types. */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#include "stream.h"

/* ---- switches of the process; struct sim_context has those of contexts ---- */

#define SIM_PROCESS_OPTIONS 4
int64_t sim_limits_option(aclSysParamOpt option);
void sim_limits_set_option(aclSysParamOpt option, int64_t value);

/* ---- time-outs ---- */

/* The limit of a wait for an event, in nanoseconds; SIM_FOREVER: none. */
uint64_t sim_limits_wait(void);
void sim_limits_set_wait(uint32_t seconds);

/* The unit of operator time-outs, and the time-out, in microseconds. Setting rounds up to whole units; 0 sets the
 * maximum. It returns the value in force. */
uint64_t sim_limits_interval(void);
uint64_t sim_limits_execute(void);
uint64_t sim_limits_set_execute(uint64_t microseconds);
/* The limit of a kernel launch without its own time-out, in nanoseconds. SIM_FOREVER until the program sets one: the
 * default of a chip is meant for the speed of that chip. */
uint64_t sim_limits_launch(void);

/* ---- sizes on the device ---- */

/* True when the chip has this limit. */
bool sim_limits_has(aclrtDeviceLimit limit);
/* Rounds the value up and stores it. Returns 107000, with `name` in the message, for a value out of range. */
aclError sim_limits_set_size(aclrtDeviceLimit limit, uint64_t value, const char *name);
uint64_t sim_limits_size(aclrtDeviceLimit limit);

/* ---- cores: the value of the stream, else of the device, else of the hardware; setting 0 removes a value ---- */

uint32_t sim_limits_hardware(aclrtDevResLimitType type);
uint32_t sim_limits_of_device(int32_t device, aclrtDevResLimitType type);
void sim_limits_set_device(int32_t device, aclrtDevResLimitType type, uint32_t cores);
uint32_t sim_limits_of_stream(const struct sim_stream *stream, aclrtDevResLimitType type);
/* The value of the stream that this thread uses, while it lives; else of the device. */
uint32_t sim_limits_of_thread(int32_t device, aclrtDevResLimitType type);
void sim_limits_use(struct sim_target stream);
void sim_limits_stop_using(struct sim_target stream);

void sim_limits_reset(void); /* aclsimReset, and in the child of a fork */

#endif
