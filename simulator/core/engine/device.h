/* Devices: retain counts, primary contexts, state callbacks. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "base/config.h"
#include "context.h"

struct sim_device {
    int32_t dv_id;                 /* as the user counts */
    struct sim_lock dv_lock;       /* guards dv_retained; held only for moments */
    uint32_t dv_retained;
    bool dv_open;                  /* it is up: written, like dv_primary, by who has the turn (device.c) */
    struct sim_context *dv_primary;
    _Atomic uint32_t dv_streams;   /* alive */
    _Atomic uint32_t dv_notifies;  /* alive, counting ones too */
    _Atomic uint32_t dv_events;    /* alive, of the classes that take a hardware id */
    _Atomic bool dv_aborting;      /* its work is being aborted; recovery.c */
};

/* The device of a user's id, or 107001. */
aclError sim_device_find(int32_t id, struct sim_device **device);
bool sim_device_is_retained(int32_t id);
bool sim_device_is_open(int32_t id); /* waits while another thread opens or closes a device */

/* aclrtSetDevice, aclrtResetDevice(Force). */
aclError sim_device_set(int32_t id);
aclError sim_device_reset(int32_t id, bool force);

/* Brings the device up (heap, workers, primary context) without retaining that context. 507033. */
aclError sim_device_open(struct sim_device *device);
aclError sim_device_open_id(int32_t id); /* 107001 too */

/* aclInit's defaultDevice; -1: none. */
void sim_device_set_default(int32_t id);
int32_t sim_device_default(void);

/* True once any device was opened since start or aclsimReset. */
bool sim_device_any_open(void);

/* aclsimReset: discards all work, closes all devices, contexts, events and memory. */
void sim_device_reset_all(void);

#endif
