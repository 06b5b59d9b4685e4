/* Functions that programs register for events in the life of devices, streams and the process. They are identified by a
 * name; those for a stage of a snapshot by their address. */
#ifndef SIM_REGISTRY_H
#define SIM_REGISTRY_H

#include "fail.h"

/* aclrtRegDeviceStateCallback, aclrtRegStreamStateCallback, aclrtSetDeviceTaskAbortCallback: register a function by
 * name, or remove the name if the function is NULL (success also for an unknown name). Return 107000 if the name is
 * registered already, and 207001 without memory. */
aclError sim_registry_set_device_state(const char *name, aclrtDeviceStateCallback function, void *user);
aclError sim_registry_set_stream_state(const char *name, aclrtStreamStateCallback function, void *user);
aclError sim_registry_set_abort(const char *name, aclrtDeviceTaskAbortCallback function, void *user);

/* Add a function to a stage, or remove it. Adding returns 507913 if the stage has the function already, and 207001
 * without memory; removing returns 107000 if the stage lacks it. */
aclError sim_registry_add_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function, void *user);
aclError sim_registry_remove_snapshot(aclrtSnapShotStage stage, aclrtSnapShotCallBack function);

/* Call the registered functions on the thread that causes the change, outside the registry's lock, so that they may
 * register and remove functions. If none is registered, this costs one load. */
void sim_registry_fire_device_state(int32_t device, aclrtDeviceState state);
void sim_registry_fire_stream_state(aclrtStream stream, aclrtStreamState state);

/* The same for functions that may fail, until one does. The first passes the milliseconds left (0: no limit) to each
 * function, and returns its code, or 107019 when the deadline has passed; the second returns 507912. */
aclError sim_registry_fire_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint64_t deadline);
aclError sim_registry_fire_snapshot(int32_t device, aclrtSnapShotStage stage);

void sim_registry_reset(void);
void sim_registry_after_fork(void);

#endif
