/* Aborting the work of a stream or a device. */
#ifndef SIM_RECOVERY_H
#define SIM_RECOVERY_H

#include "device.h"
#include "stream.h"

/* Waits until the stream has nothing to do: what runs ends, the rest is discarded. 107017, 107019 after 60 s. */
aclError sim_recovery_abort_stream(struct sim_target stream);

/* The same for all streams of all contexts of a device, with its callbacks, at most some milliseconds (0: no limit). Its
 * work is refused meanwhile. 107019, 107022 when that goes on already, and what a callback returns. */
aclError sim_recovery_abort_device(struct sim_device *device, uint32_t timeout);

#endif
