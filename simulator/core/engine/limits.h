/* What programs set for later work: switches, time-outs, sizes, shares of cores. Ids and types have been checked. A file
 * limits.h would hide that of the C library. */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#include "stream.h"

/* ---- switches; those of contexts are in the context ---- */

#define SIM_PROCESS_OPTIONS 4
int64_t sim_limits_option(aclSysParamOpt option);
void sim_limits_set_option(aclSysParamOpt option, int64_t value);

/* ---- operators' time-outs ---- */

/* Nanoseconds that a wait for an event may last; SIM_FOREVER: no limit. */
uint64_t sim_limits_wait(void);
void sim_limits_set_wait(uint32_t seconds);

/* Microseconds of a step, and that an operator may take. Setting rounds up to steps, 0 is the most there is; returns
 * what is in force. */
uint64_t sim_limits_interval(void);
uint64_t sim_limits_execute(void);
uint64_t sim_limits_set_execute(uint64_t microseconds);
/* Nanoseconds that a launch may last which says nothing itself. SIM_FOREVER until the program has set something: what a
 * chip begins with is meant for its own speed. */
uint64_t sim_limits_launch(void);

/* ---- sizes on the device ---- */

bool sim_limits_has(aclrtDeviceLimit limit); /* the chip does */
/* Rounds up and keeps; 107000 with `name` for a value out of range. */
aclError sim_limits_set_size(aclrtDeviceLimit limit, uint64_t value, const char *name);
uint64_t sim_limits_size(aclrtDeviceLimit limit);

/* ---- cores: what was set, or what the next wider place says; 0 sets nothing ---- */

uint32_t sim_limits_hardware(aclrtDevResLimitType type);
uint32_t sim_limits_of_device(int32_t device, aclrtDevResLimitType type);
void sim_limits_set_device(int32_t device, aclrtDevResLimitType type, uint32_t cores);
uint32_t sim_limits_of_stream(const struct sim_stream *stream, aclrtDevResLimitType type);
/* The stream that this thread uses, as long as it lives; else the device. */
uint32_t sim_limits_of_thread(int32_t device, aclrtDevResLimitType type);
void sim_limits_use(struct sim_target stream);
void sim_limits_stop_using(struct sim_target stream);

void sim_limits_reset(void); /* aclsimReset, and in the child of a fork */

#endif
