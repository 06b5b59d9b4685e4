/* What each part of the library does when something happens to all of it: one entry per part, in one table that simulator.c
 * owns and hands in when the library is loaded. A room calls the rooms below it in the order of ARCHITECTURE.md only
 * through this table. Every function may be NULL. The table begins with the uppermost room, and is walked in that order,
 * so that a part may rely on the parts it is made of until it has finished. */
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
    void (*rm_after_fork)(void);                     /* in the child: the part is as after loading */
    void (*rm_reset)(void);                          /* aclsimReset: no device is open */
    void (*rm_begin_reset)(void);                    /* aclsimReset, before the devices are closed */
    void (*rm_devices_closed)(void);                 /* aclsimReset: they are, and workers still run */
    int (*rm_open)(void);                            /* a device is being opened; -1 with errno: it cannot be */
    void (*rm_finalize)(void);                       /* aclFinalize */
    const char *rm_section;                          /* the member of aclInit's file that rm_configure reads */
    aclError (*rm_configure)(struct sim_json value);
    void (*rm_stream_release)(struct sim_stream *);  /* its context is being closed; next, the stream is destroyed */
    /* Its tasks are done, and no call finds it any more (sim_stream_listeners, or it has callbacks). */
    void (*rm_stream_destroyed)(struct sim_stream *, uint64_t handle);
    void (*rm_context_close)(struct sim_context *);  /* its streams are gone */
    /* The newest record that is expected to raise the gate; 0: none; *guessed is set to true when another one may do so.
     * False: the gate is not one of this part's. */
    bool (*rm_setter)(const struct sim_gate *, uint64_t *record, bool *guessed);
    void (*rm_event_waited)(uint64_t own, uint64_t waited); /* a record waits for another (sim_event_listeners) */
    void (*rm_exception)(const struct rtExceptionInfo *); /* a task has failed; on the thread that reports it */
};

/* Called once, by a constructor. The table ends with an entry without a name. */
void sim_room_set(const struct sim_room *table);

void sim_room_after_fork(void);
void sim_room_begin_reset(void);
void sim_room_devices_closed(void);
void sim_room_reset(void);
int sim_room_open(void);
void sim_room_finalize(void);
aclError sim_room_configure(const char *section, struct sim_json value);
void sim_room_release_stream(struct sim_stream *stream);
void sim_room_stream_destroyed(struct sim_stream *stream, uint64_t handle);
void sim_room_close_context(struct sim_context *context);
void sim_room_event_waited(uint64_t own, uint64_t waited);
uint64_t sim_room_setter(const struct sim_gate *gate, bool *guessed);
void sim_room_exception(const struct rtExceptionInfo *report);

#endif
