/* Calling each part of the library (room.h). simulator.c owns the table, which is set once, before any call; so no lock
 * is needed. */
#include "room.h"

#include <string.h>

static const struct sim_room none, *rooms = &none; /* set before any call: constructors run at loading */

void sim_room_set(const struct sim_room *table)
{
    rooms = table;
}

#define EACH(room) for (const struct sim_room *room = rooms; room->rm_name != NULL; room++)
#define CALL_EACH(hook, arguments)                                                                                     \
    EACH (room)                                                                                                        \
        if (room->hook != NULL)                                                                                        \
    room->hook arguments

void sim_room_after_fork(void)
{
    CALL_EACH(rm_after_fork, ());
}

void sim_room_begin_reset(void)
{
    CALL_EACH(rm_begin_reset, ());
}

void sim_room_devices_closed(void)
{
    CALL_EACH(rm_devices_closed, ());
}

void sim_room_reset(void)
{
    CALL_EACH(rm_reset, ());
}

int sim_room_open(void)
{
    EACH (room)
        if (room->rm_open != NULL && room->rm_open() != 0)
            return -1;
    return 0;
}

void sim_room_device_closing(int32_t device)
{
    CALL_EACH(rm_device_closing, (device));
}

void sim_room_device_closed(int32_t device)
{
    CALL_EACH(rm_device_closed, (device));
}

void sim_room_device_aborted(int32_t device)
{
    CALL_EACH(rm_device_aborted, (device));
}

void sim_room_finalize(void)
{
    CALL_EACH(rm_finalize, ());
}

aclError sim_room_configure(const char *section, struct sim_json value)
{
    EACH (room)
        if (room->rm_section != NULL && strcmp(room->rm_section, section) == 0)
            return room->rm_configure(value);
    return ACL_SUCCESS;
}

void sim_room_release_stream(struct sim_stream *stream)
{
    CALL_EACH(rm_stream_release, (stream));
}

void sim_room_stream_destroyed(struct sim_stream *stream, uint64_t handle)
{
    CALL_EACH(rm_stream_destroyed, (stream, handle));
}

void sim_room_close_context(struct sim_context *context)
{
    CALL_EACH(rm_context_close, (context));
}

void sim_room_event_waited(uint64_t own, uint64_t waited)
{
    CALL_EACH(rm_event_waited, (own, waited));
}

uint64_t sim_room_setter(const struct sim_gate *gate, bool *guessed)
{
    uint64_t record = 0;
    EACH (room)
        if (room->rm_setter != NULL && room->rm_setter(gate, &record, guessed))
            break;
    return record;
}

void sim_room_exception(const struct rtExceptionInfo *report)
{
    CALL_EACH(rm_exception, (report));
}
