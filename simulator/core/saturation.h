/* Overflow status of a device. */
#ifndef SIM_SATURATION_H
#define SIM_SATURATION_H

#include "engine.h"

#define SIM_OVERFLOW_BYTES 64

/* Queues the writing of the status to SIM_OVERFLOW_BYTES of device memory. */
aclError sim_saturation_status(void *output, struct sim_target stream, void *site);

#endif
