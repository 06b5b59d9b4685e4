/* Tasks of the control interface: a C function with its ranges, and the latch of a stream. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "engine.h"
#include <acl/acl_sim.h>

#define SIM_LAUNCH_RANGES 4096

/* Every range must lie in one live device block: 107000. */
aclError sim_launch_task(struct sim_target stream, aclsimTaskFunc function, void *argument, const aclsimRange *ranges,
                         size_t count, uint32_t flags, void *site);

aclError sim_launch_hold(struct sim_target stream, void *site, _Atomic sim_record *record);
aclError sim_launch_release(struct sim_stream *stream); /* 107000 when no latch is closed */

#endif
