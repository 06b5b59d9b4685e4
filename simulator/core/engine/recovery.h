/* Aborting the work of a stream or a device. */
#ifndef SIM_RECOVERY_H
#define SIM_RECOVERY_H

#include "device.h"
#include "stream.h"

/* Waits for the running task of the stream and discards the others. Returns 107017 when the stream was destroyed, and
 * 107019 after 60 s. */
aclError sim_recovery_abort_stream(struct sim_target stream);

/* The same for all streams of all contexts of a device, with the abort callbacks, within `timeout` milliseconds (0: no
 * limit). New work for the device is refused meanwhile. Returns 107019 when the time is over, 107022 when an abort is
 * in progress already, or the code of a callback that failed. */
aclError sim_recovery_abort_device(struct sim_device *device, uint32_t timeout);

#endif
