/* Tasks of the control interface: a C function with its ranges, and holding and releasing a stream. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "engine.h"
#include <acl/acl_sim.h>

#define SIM_LAUNCH_RANGES 4096

/* Launches a C function. Returns 107000 if a range does not lie in one live device block. */
aclError sim_launch_task(struct sim_target stream, aclsimTaskFunc function, void *argument, const aclsimRange *ranges,
                         size_t count, uint32_t flags, void *site);

/* Queues a task that waits for a release. */
aclError sim_launch_hold(struct sim_target stream, void *site, _Atomic sim_record *record);
/* Releases the oldest hold. Returns 107000 when the stream has none. */
aclError sim_launch_release(struct sim_stream *stream);

#endif
