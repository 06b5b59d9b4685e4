/* Capture: streams whose work is recorded into a model running instance, and what may be done with the recording.
 *
 * A stream is taken over by an instance in one of three ways (st_taken): it captures, it was bound to an instance that is
 * built, or it updates a group of captured tasks. What is submitted to it then goes to sim_capture_submit. */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "engine/context.h"
#include "engine/event.h"
#include "engine/recorder.h"

/* ---- what the engine, events and memory ask ---- */

/* As rc_submit, rc_record and rc_wait of engine/recorder.h; `external` ones are those of events for external waits. */
bool sim_capture_submit(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size, void *site,
                        aclError *code);
bool sim_capture_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                        aclError *code);
bool sim_capture_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code);

/* 107028 while the event's newest record lies in an open capture; for calls on the host. */
aclError sim_capture_check_event(struct sim_event *event);

/* As rc_refuse_unsafe of engine/recorder.h. */
aclError sim_capture_refuse_unsafe(struct sim_context *context, aclError code);

/* The record that is expected to raise a gate of an instance, of whose run all is needed; false: the gate belongs to none. */
bool sim_capture_setter(const struct sim_gate *gate, sim_record *setter, bool *guessed);

int sim_capture_open(void); /* the table of instances; -1 with errno */
/* The context of a stream is being closed: an instance that has taken the stream over lets it go, and with it the
 * capture. Then, without its streams, the context's instances are freed. */
void sim_capture_release(struct sim_stream *stream);
void sim_capture_close(struct sim_context *context);
void sim_capture_after_fork(void);

/* ---- recorded tasks ---- */

/* As rc_find_task and rc_replace of engine/recorder.h. */
aclError sim_capture_find_task(struct sim_target stream, uint32_t number, enum sim_task_kind kind,
                               struct sim_recorded *recorded);
bool sim_capture_replace(const struct sim_recorded *recorded, void *(*make)(const void *before, void *state), void *state);

/* Keeps bytes, or a text, with the task that this thread recorded last: 107029 when its last task was not recorded. */
aclError sim_capture_note(const void *bytes, size_t size, bool is_text);

/* ---- capturing ---- */

/* 207000 on products without the feature. */
aclError sim_capture_check_chip(void);
aclError sim_capture_check_mode(aclmdlRICaptureMode mode);

aclError sim_capture_begin(aclrtStream stream, aclmdlRICaptureMode mode, aclmdlRI into);
aclError sim_capture_info(struct sim_stream *stream, aclmdlRICaptureStatus *status, aclmdlRI *instance);
aclError sim_capture_end(aclrtStream stream, aclmdlRI *instance);
/* Of this thread; returns the mode before. */
aclmdlRICaptureMode sim_capture_exchange_mode(aclmdlRICaptureMode mode);

aclError sim_capture_group_begin(aclrtStream stream);
aclError sim_capture_group_end(struct sim_target stream, aclrtTaskGrp *group);
aclError sim_capture_update_begin(struct sim_target stream, aclrtTaskGrp group);
aclError sim_capture_update_end(struct sim_target stream);

/* ---- running ---- */

aclError sim_capture_execute_async(aclmdlRI instance, aclrtStream stream, void *site);
aclError sim_capture_execute(aclmdlRI instance, int32_t timeout, void *site);
aclError sim_capture_abort(aclmdlRI instance);
/* Waits for its runs, at most sim_capture_patience nanoseconds. */
aclError sim_capture_destroy(aclmdlRI instance);
extern uint64_t sim_capture_patience;
aclError sim_capture_add_callback(aclmdlRI instance, aclrtCallback function, void *user);
aclError sim_capture_remove_callback(aclmdlRI instance, aclrtCallback function);

/* ---- building ---- */

aclError sim_capture_build_begin(aclmdlRI *instance);
aclError sim_capture_build_bind(aclmdlRI instance, struct sim_target stream, bool head);
aclError sim_capture_build_unbind(aclmdlRI instance, struct sim_target stream);
aclError sim_capture_build_end_task(aclmdlRI instance, struct sim_target stream);
aclError sim_capture_build_end(aclmdlRI instance);
aclError sim_capture_activate(struct sim_target active, struct sim_target stream, void *site);
/* The branch that a switch on `stream` jumps to: 107005. */
aclError sim_capture_find_branch(struct sim_target to, struct sim_target stream, uint32_t *branch);
/* Forgets what was recorded on a persistent stream; 507011 once its instance has been built. */
aclError sim_capture_build_clean(struct sim_target stream);

/* ---- conditions ---- */

aclError sim_capture_condition_create(aclmdlRI instance, uint32_t value, uint32_t flag, aclmdlRICondHandle *condition);
aclError sim_capture_condition_address(aclmdlRICondHandle condition, uint64_t **address);
aclError sim_capture_condition_add(const aclmdlRICondTaskParams *parameters, struct sim_target stream, void *site);

/* ---- looking and changing ---- */

aclError sim_capture_set_name(aclmdlRI instance, const char *name);
aclError sim_capture_get_name(aclmdlRI instance, uint32_t length, char *name);
aclError sim_capture_get_id(aclmdlRI instance, uint32_t *id);
aclError sim_capture_get_streams(aclmdlRI instance, aclrtStream *streams, uint32_t *count);
aclError sim_capture_get_tasks(aclrtStream stream, aclmdlRITask *tasks, uint32_t *count);
aclError sim_capture_task_type(aclmdlRITask task, aclmdlRITaskType *type);
aclError sim_capture_task_number(aclmdlRITask task, uint32_t *number);
aclError sim_capture_task_get(aclmdlRITask task, aclmdlRITaskParams *parameters);
aclError sim_capture_task_attribute(aclmdlRITask task, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *value);
aclError sim_capture_task_set(aclmdlRITask task, const aclmdlRITaskParams *parameters);
aclError sim_capture_task_disable(aclmdlRITask task);
aclError sim_capture_update(aclmdlRI instance);
aclError sim_capture_print(aclmdlRI instance);
aclError sim_capture_print_json(aclmdlRI instance, const char *path, bool verbose);
/* The constant block of a model file that does what a run of the instance does; fills in the rest of `saving`. */
struct sim_saving;
aclError sim_capture_save(aclmdlRI instance, struct sim_saving *saving, void *block, size_t *size);

#endif
