/* Capture: recording the work of streams into a model running instance, and replaying, changing and printing
 * recordings.
 *
 * An instance takes a stream over in one of three ways (st_taken): the stream is captured, it is bound to an instance
 * that is being built, or it updates a group of captured tasks. Every submission to such a stream goes to
 * sim_capture_submit. */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "engine/context.h"
#include "engine/event.h"
#include "engine/recorder.h"

/* ---- calls from the engine, events and memory ---- */

/* These implement rc_submit, rc_record and rc_wait (engine/recorder.h). `external` marks records and waits that connect
 * the recording with work outside of it (flag 1 of the event functions). */
bool sim_capture_submit(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size,
                        void *site, aclError *code);
bool sim_capture_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                        aclError *code);
bool sim_capture_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code);

/* For host calls on an event: returns 107028 while the event's newest record lies in an open capture. */
aclError sim_capture_check_captured(struct sim_event *event);
static inline aclError sim_capture_check_event(struct sim_event *event)
{
    return likely(!sim_event_is_captured(event)) ? ACL_SUCCESS : sim_capture_check_captured(event);
}

/* Implements rc_refuse_unsafe (engine/recorder.h). */
aclError sim_capture_refuse_unsafe(struct sim_context *context, aclError code);

/* Finds the record whose completion is expected to raise this gate. Returns false if the gate belongs to no instance;
 * leaves *guessed alone, because the record is certain. */
bool sim_capture_setter(const struct sim_gate *gate, sim_record *setter, bool *guessed);

/* Opens the table of instances; returns -1 and sets errno on failure. */
int sim_capture_open(void);
/* Called for each stream of a context that is being closed: detaches the stream from its instance, and frees the
 * instance if it was still capturing. */
void sim_capture_release(struct sim_stream *stream);
/* Called afterwards: frees the context's instances. */
void sim_capture_close(struct sim_context *context);
void sim_capture_after_fork(void);

/* ---- recorded tasks ---- */

/* These implement rc_find_task and rc_replace (engine/recorder.h). */
aclError sim_capture_find_task(struct sim_target stream, uint32_t number, enum sim_task_kind kind,
                               struct sim_recorded *recorded);
bool sim_capture_replace(const struct sim_recorded *recorded, void *(*make)(const void *before, void *state),
                         void *state);

/* Stores a copy of the bytes, or of the text, with the task that this thread recorded last. Fails with 107029 if the
 * thread's last task was not recorded. */
aclError sim_capture_note(const void *bytes, size_t size, bool is_text);

/* ---- capturing ---- */

/* Fails with 207000 on products without model running instances. */
aclError sim_capture_check_chip(void);
/* Fails with 107000 if the mode is not one of the three. */
aclError sim_capture_check_mode(aclmdlRICaptureMode mode);

/* Begins a capture: into a new instance, or into `into`, an empty body of a conditional task. */
aclError sim_capture_begin(aclrtStream stream, aclmdlRICaptureMode mode, aclmdlRI into);
/* Reports the capture that the stream belongs to; either output may be NULL. */
aclError sim_capture_info(struct sim_stream *stream, aclmdlRICaptureStatus *status, aclmdlRI *instance);
/* Ends the capture and releases its streams, even on failure. `instance` may be NULL only for a body. */
aclError sim_capture_end(aclrtStream stream, aclmdlRI *instance);
/* Sets this thread's capture mode and returns the previous one. */
aclmdlRICaptureMode sim_capture_exchange_mode(aclmdlRICaptureMode mode);

/* A group collects kernels captured one after another on one stream; an update gives each of them new arguments. */
aclError sim_capture_group_begin(aclrtStream stream);
aclError sim_capture_group_end(struct sim_target stream, aclrtTaskGrp *group);
aclError sim_capture_update_begin(struct sim_target stream, aclrtTaskGrp group);
aclError sim_capture_update_end(struct sim_target stream);

/* ---- replaying ---- */

/* Queues one replay on the stream. */
aclError sim_capture_execute_async(aclmdlRI instance, aclrtStream stream, void *site);
/* Replays once and waits for the end, at most `timeout` milliseconds (negative: without limit). */
aclError sim_capture_execute(aclmdlRI instance, int32_t timeout, void *site);
/* Gives up the queued replays of an instance that was built. */
aclError sim_capture_abort(aclmdlRI instance);
/* Waits for the queued replays, at most sim_capture_patience nanoseconds, calls the registered callbacks, and frees the
 * instance. */
aclError sim_capture_destroy(aclmdlRI instance);
extern uint64_t sim_capture_patience;
/* Registers a function, at most once per instance, to be called when the instance is destroyed. */
aclError sim_capture_add_callback(aclmdlRI instance, aclrtCallback function, void *user);
aclError sim_capture_remove_callback(aclmdlRI instance, aclrtCallback function);

/* ---- building ---- */

aclError sim_capture_build_begin(aclmdlRI *instance);
/* Binds a persistent stream. A head stream starts with the instance; others wait for an activation or a switch. */
aclError sim_capture_build_bind(aclmdlRI instance, struct sim_target stream, bool head);
aclError sim_capture_build_unbind(aclmdlRI instance, struct sim_target stream);
/* Declares that the recording has its last task, which sim_capture_build_end requires. */
aclError sim_capture_build_end_task(aclmdlRI instance, struct sim_target stream);
aclError sim_capture_build_end(aclmdlRI instance);
/* Records on `stream` a task that starts the stream `active`. */
aclError sim_capture_activate(struct sim_target active, struct sim_target stream, void *site);
/* Finds the branch of `to`, where a switch on `stream` jumps. Fails with 107005 if `to` is not bound to the instance,
 * is a head stream, or is `stream` itself. */
aclError sim_capture_find_branch(struct sim_target to, struct sim_target stream, uint32_t *branch);
/* Deletes the tasks recorded on a persistent stream. Fails with 507011 once its instance has been built. */
aclError sim_capture_build_clean(struct sim_target stream);

/* ---- conditions ---- */

/* Creates a condition of an instance that is being captured. */
aclError sim_capture_condition_create(aclmdlRI instance, uint32_t value, uint32_t flag, aclmdlRICondHandle *condition);
/* The address of the condition's value in device memory. */
aclError sim_capture_condition_address(aclmdlRICondHandle condition, uint64_t **address);
/* Records a conditional task and creates the empty instances of its bodies. */
aclError sim_capture_condition_add(const aclmdlRICondTaskParams *parameters, struct sim_target stream, void *site);

/* ---- reading and changing ---- */

aclError sim_capture_set_name(aclmdlRI instance, const char *name);
aclError sim_capture_get_name(aclmdlRI instance, uint32_t length, char *name);
aclError sim_capture_get_id(aclmdlRI instance, uint32_t *id);
/* With a NULL array, sim_capture_get_streams and sim_capture_get_tasks return the count alone. */
aclError sim_capture_get_streams(aclmdlRI instance, aclrtStream *streams, uint32_t *count);
aclError sim_capture_get_tasks(aclrtStream stream, aclmdlRITask *tasks, uint32_t *count);
aclError sim_capture_task_type(aclmdlRITask task, aclmdlRITaskType *type);
aclError sim_capture_task_number(aclmdlRITask task, uint32_t *number);
/* Pointers in the parameters are valid until the next call for this task. */
aclError sim_capture_task_get(aclmdlRITask task, aclmdlRITaskParams *parameters);
aclError sim_capture_task_attribute(aclmdlRITask task, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *value);
/* Changes and disabled tasks take effect with sim_capture_update. */
aclError sim_capture_task_set(aclmdlRITask task, const aclmdlRITaskParams *parameters);
aclError sim_capture_task_disable(aclmdlRITask task);
aclError sim_capture_update(aclmdlRI instance);
aclError sim_capture_print(aclmdlRI instance);
aclError sim_capture_print_json(aclmdlRI instance, const char *path, bool verbose);
/* Writes the constant block of a model file whose execution does the same as a replay of the instance. Fills in the
 * step members of `saving`. */
struct sim_saving;
aclError sim_capture_save(aclmdlRI instance, struct sim_saving *saving, void *block, size_t *size);

#endif
