/* Saturation of floating-point results that overflow, and the overflow status. */
#ifndef SIM_SATURATION_H
#define SIM_SATURATION_H

#include "engine/engine.h"
#include <acl/acl_sim.h>

#define SIM_OVERFLOW_BYTES 64

/* The mode of the process, which streams take at their creation. Setting returns 207000 for a mode that the chip
 * lacks. */
aclrtFloatOverflowMode sim_saturation_mode(void);
aclError sim_saturation_set_mode(aclrtFloatOverflowMode mode);
int sim_saturation_open(void); /* when a device opens: fixes the default mode of new streams */

/* Called after a kernel, or after another task that has written `count` elements at `data`. On a stream that
 * saturates, infinities become the largest finite number, NaN becomes 0, and the status is set. With a NULL stream
 * nothing happens. */
void sim_saturation_apply(struct sim_stream *stream, const aclsimArgument *arguments, size_t count);
void sim_saturation_apply_to(struct sim_stream *stream, aclDataType type, void *data, uint64_t count);

/* Switches the status on or off for later tasks of the stream, for this public function. */
enum sim_switch_call { SIM_SWITCH, SIM_SWITCH_ATTRIBUTE, SIM_SWITCH_CALLS };
aclError sim_saturation_switch(enum sim_switch_call call, struct sim_target stream, bool on, void *site);

/* Queue a task that writes the status to SIM_OVERFLOW_BYTES of device memory, or one that clears it. `call` selects
 * the function named in messages. */
enum sim_status_call { SIM_STATUS, SIM_STATUS_FLOAT, SIM_STATUS_NPU, SIM_STATUS_CALLS };
aclError sim_saturation_read(enum sim_status_call call, void *output, uint64_t size, aclrtStream stream, void *site);
aclError sim_saturation_clear(enum sim_status_call call, aclrtStream stream, void *site);

/* The status as tasks of the stream see it, for tasks that read or change it. */
bool sim_saturation_status(const struct sim_stream *stream);
void sim_saturation_set_status(struct sim_stream *stream, bool overflow);

/* The device address that mirrors the status of a context; allocated at the first call. Returns 207001 if memory
 * runs out. */
aclError sim_saturation_address(struct sim_context *context, void **address);
void sim_saturation_close(struct sim_context *context); /* frees that memory */

void sim_saturation_reset(void); /* in aclsimReset, and in the child of a fork */

#endif
