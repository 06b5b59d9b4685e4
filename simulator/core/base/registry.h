/* Functions that users register for moments of devices, streams and the process. Those with a name are set and taken out
 * by it; those of a snapshot's stage by their address. */
#ifndef SIM_REGISTRY_H
#define SIM_REGISTRY_H

#include "fail.h"

/* aclrtRegDeviceStateCallback, aclrtRegStreamStateCallback, aclrtSetDeviceTaskAbortCallback: a NULL function takes the
 * name out (success also when it is unknown); a second registration of a name is 107000. 207001. */
aclError sim_registry_set_device_state(const char *name, aclrtDeviceStateCallback function, void *user);
aclError sim_registry_set_stream_state(const char *name, aclrtStreamStateCallback function, void *user);
aclError sim_registry_set_abort(const char *name, aclrtDeviceTaskAbortCallback function, void *user);

/* 507913 the stage has this function already, 207001; removing one that the stage lacks is 107000. */
aclError sim_registry_add_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function, void *user);
aclError sim_registry_remove_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function);

/* Call the registered functions, in the thread that causes the change and outside the registry's lock, so that they may
 * register and take out. Nobody registered costs one load. */
void sim_registry_fire_device_state(int32_t device, aclrtDeviceState state);
void sim_registry_fire_stream_state(aclrtStream stream, aclrtStreamState state);


/* These may fail: the first code of a function that is not 0, with its message, or 107019 when the deadline has passed
 * before one (which learns how many milliseconds are left, 0 for no limit); and 507912 from one of a snapshot. */
aclError sim_registry_fire_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint64_t deadline);
aclError sim_registry_fire_snapshot(int32_t device, aclrtSnapShotStage stage);

void sim_registry_reset(void);
void sim_registry_after_fork(void);

#endif
