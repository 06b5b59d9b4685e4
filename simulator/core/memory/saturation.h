/* What happens to floats that overflow, and the status that tells of it. */
#ifndef SIM_SATURATION_H
#define SIM_SATURATION_H

#include "engine/engine.h"
#include <acl/acl_sim.h>

#define SIM_OVERFLOW_BYTES 64

/* Of the process; streams take it when they are created. 207000 for a mode that the chip lacks. */
aclrtFloatOverflowMode sim_saturation_mode(void);
aclError sim_saturation_set_mode(aclrtFloatOverflowMode mode);
int sim_saturation_open(void); /* a device opens: what new streams do is known */

/* After a kernel, and after another task that has written `count` elements at `data`: on a stream that saturates (NULL
 * does not) infinities there become the largest number there is, NaN becomes 0, and the status is set. */
void sim_saturation_apply(struct sim_stream *stream, const aclsimArgument *arguments, size_t count);
void sim_saturation_apply_to(struct sim_stream *stream, aclDataType type, void *data, uint64_t count);

/* Switches the status on or off for what is submitted to the stream from now on, by the call or by the attribute. */
enum sim_switch_call { SIM_SWITCH, SIM_SWITCH_ATTRIBUTE, SIM_SWITCH_CALLS };
aclError sim_saturation_switch(enum sim_switch_call call, struct sim_target stream, bool on, void *site);

/* Queue the reading of the status to SIM_OVERFLOW_BYTES of device memory, and its clearing. Messages name the call. */
enum sim_status_call { SIM_STATUS, SIM_STATUS_FLOAT, SIM_STATUS_NPU, SIM_STATUS_CALLS };
aclError sim_saturation_read(enum sim_status_call call, void *output, uint64_t size, aclrtStream stream, void *site);
aclError sim_saturation_clear(enum sim_status_call call, aclrtStream stream, void *site);

/* The device address that has the status of a context, made when it is first asked for. 207001. */
aclError sim_saturation_address(struct sim_context *context, void **address);
void sim_saturation_close(struct sim_context *context); /* gives it back */

void sim_saturation_reset(void); /* aclsimReset, and in the child of a fork */

#endif
