/* What each part of the library does when something happens to all of it: one entry per part, in a table that
 * simulator.c owns and sets when the library is loaded. A lower room reaches the upper ones through this table
 * (ARCHITECTURE.md lists the other ways). Every function may be NULL. The table begins with the uppermost room and is
 * walked in that order, so that a part can use the parts below it until it has finished. */
#ifndef SIM_ROOM_H
#define SIM_ROOM_H

#include "json.h"
#include <acl/acl_base.h>
#include <stdint.h>

struct sim_context;
struct sim_gate;
struct sim_stream;
struct rtExceptionInfo;

struct sim_room {
    const char *rm_name;                             /* "memory/notify" */
    void (*rm_after_fork)(void);                     /* in the child: makes the part as it is after loading */
    void (*rm_reset)(void);                          /* aclsimReset, when no device is open */
    void (*rm_begin_reset)(void);                    /* aclsimReset, before the devices are closed */
    void (*rm_devices_closed)(void);                 /* aclsimReset, after that; the workers still run */
    int (*rm_open)(void);                            /* a device is being opened; returns 0, or -1 with errno */
    void (*rm_device_closing)(int32_t device);       /* its last reset begins; its contexts are still there */
    void (*rm_device_closed)(int32_t device);        /* its contexts are gone; its memory is still there */
    void (*rm_device_aborted)(int32_t device);       /* aclrtDeviceTaskAbort has discarded its tasks */
    void (*rm_finalize)(void);                       /* aclFinalize */
    const char *rm_section;                          /* the member of aclInit's file that rm_configure reads */
    aclError (*rm_configure)(struct sim_json value);
    void (*rm_stream_release)(struct sim_stream *);  /* its context is being closed; the stream is destroyed next */
    /* The stream's tasks are done, and its handle is dead. Called while sim_stream_listeners is not 0, or if it has
     * callbacks. */
    void (*rm_stream_destroyed)(struct sim_stream *, uint64_t handle);
    void (*rm_context_close)(struct sim_context *);  /* its streams are destroyed */
    /* Finds the newest record that is expected to raise the gate (0: none). Sets *guessed to true if another record may
     * do so. False: the gate does not belong to this part. */
    bool (*rm_setter)(const struct sim_gate *, uint64_t *record, bool *guessed);
    void (*rm_event_waited)(uint64_t own, uint64_t waited); /* a record waits for another (sim_event_listeners) */
    void (*rm_exception)(const struct rtExceptionInfo *); /* a task has failed; called on the thread that reports it */
};

/* Called once, by a constructor. The table ends with an entry without a name. */
void sim_room_set(const struct sim_room *table);

void sim_room_after_fork(void);
void sim_room_begin_reset(void);
void sim_room_devices_closed(void);
void sim_room_reset(void);
int sim_room_open(void);
void sim_room_device_closing(int32_t device);
void sim_room_device_closed(int32_t device);
void sim_room_device_aborted(int32_t device);
void sim_room_finalize(void);
aclError sim_room_configure(const char *section, struct sim_json value);
void sim_room_release_stream(struct sim_stream *stream);
void sim_room_stream_destroyed(struct sim_stream *stream, uint64_t handle);
void sim_room_close_context(struct sim_context *context);
void sim_room_event_waited(uint64_t own, uint64_t waited);
uint64_t sim_room_setter(const struct sim_gate *gate, bool *guessed);
void sim_room_exception(const struct rtExceptionInfo *report);

#endif
