/* Devices: retain counts, primary contexts, state callbacks. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "base/config.h"
#include "context.h"

struct sim_device {
    int32_t dv_id;                 /* the id that programs use */
    struct sim_lock dv_lock;       /* guards dv_retained; held briefly */
    uint32_t dv_retained;
    bool dv_open;                  /* written, like dv_primary, with the lifecycle lock held (`turn` in device.c) */
    struct sim_context *dv_primary;
    _Atomic uint32_t dv_streams;   /* alive */
    _Atomic uint32_t dv_notifies;  /* alive, including counting ones */
    _Atomic uint32_t dv_events;    /* alive, of the classes that use a hardware id */
    _Atomic bool dv_aborting;      /* its work is being aborted; recovery.c */
};

/* Finds the device of a program's id. Returns 107001 for an unknown id. */
aclError sim_device_find(int32_t id, struct sim_device **device);
/* True while a program has set the device. */
bool sim_device_is_retained(int32_t id);
bool sim_device_is_open(int32_t id); /* waits while another thread opens or closes a device */

/* aclrtSetDevice, aclrtResetDevice(Force). */
aclError sim_device_set(int32_t id);
aclError sim_device_reset(int32_t id, bool force);

/* Opens the device (heap, workers, primary context) without retaining that context. Returns 507033 on failure. */
aclError sim_device_open(struct sim_device *device);
aclError sim_device_open_id(int32_t id); /* returns 107001 for an unknown id */

/* The defaultDevice of aclInit's file; -1: none. */
void sim_device_set_default(int32_t id);
int32_t sim_device_default(void);

/* True if a device was opened since the start or since aclsimReset. */
bool sim_device_any_open(void);

/* aclsimReset: discards all work, closes all devices, contexts, events and memory. */
void sim_device_reset_all(void);

#endif
