/* What is asked of the recorder, which capture is, when a stream or an event belongs to it. Each function returns true when
 * it has dealt with the call, whose outcome is *code; false when the stream or the event has been let go meanwhile, and the
 * call goes on as for any other. */
#ifndef SIM_RECORDER_H
#define SIM_RECORDER_H

#include "event.h"
#include "task.h"

struct sim_recorder {
    /* A submission to a stream that an instance has taken over. */
    bool (*rc_submit)(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size, void *site,
                      aclError *code);
    /* Records and waits of Ex events that concern a capture: the stream captures, or the event was recorded in a capture
     * that is still open. */
    bool (*rc_record)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code);
    bool (*rc_wait)(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                    aclError *code);
};

/* Set by simulator.c before any call. */
extern const struct sim_recorder *sim_recorder;

#endif
