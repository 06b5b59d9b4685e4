/* Design notes
 *
 * This file begins and ends captures, records the tasks submitted to captured streams, and rejects calls that are
 * unsafe during a capture.
 *
 * A capture belongs to its instance, whose in_state holds its state; capture_instance.c describes how streams belong to
 * an instance. Only three failures make a capture invalid: an event used by two captures, a task group that another
 * stream's task interrupts, and a lack of memory. Any other failed call leaves the capture as it was. Ending a capture
 * always releases its streams; if it fails, the instance is freed (the body of a conditional task is emptied instead).
 *
 * Locks: the instance's lock guards its state. Whether a thread may make an unsafe call depends on the captures open in
 * its current context: cx_captures counts them, so that contexts without a capture pay one load, and the modes are read
 * along the context's list under cx_lock. */
#include "base/config.h"
#include "capture_inner.h"

static const char *const mode_names[] = {"GLOBAL", "THREAD_LOCAL", "RELAXED"};

void sim_capture_invalidate(struct sim_instance *instance)
{
    if (sim_capture_instance_state(instance) == SIM_INSTANCE_CAPTURING)
        atomic_store_explicit(&instance->in_state, SIM_INSTANCE_INVALID, memory_order_release);
}

/* ---- rejected calls ---- */

aclError sim_capture_check_chip(void)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_SUPPORTED(profile != SIM_P310B && profile != SIM_P910, "%s has no model running instances",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

aclError sim_capture_check_mode(aclmdlRICaptureMode mode)
{
    SIM_CHECK((unsigned)mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED, ACL_ERROR_RT_PARAM_INVALID,
              "mode is %d, expected 0 (GLOBAL), 1 (THREAD_LOCAL) or 2 (RELAXED)", (int)mode);
    return ACL_SUCCESS;
}

SIM_RARE aclError sim_capture_refuse_unsafe(struct sim_context *context, aclError code)
{
    uint32_t self = sim_thread_number(), mode = sim_thread.th_capture_mode;
    uint32_t strictest = ACL_MODEL_RI_CAPTURE_MODE_RELAXED, own = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    sim_lock(&context->cx_lock);
    for (struct sim_instance *at = context->cx_instances; at != NULL; at = at->in_after) {
        uint32_t open = atomic_load_explicit(&at->in_mode, memory_order_relaxed);
        if (!sim_capture_instance_is_capturing(at))
            continue;
        strictest = open < strictest ? open : strictest;
        if (atomic_load_explicit(&at->in_thread, memory_order_relaxed) == self)
            own = open < own ? open : own;
    }
    sim_unlock(&context->cx_lock);
    bool allowed = strictest == ACL_MODEL_RI_CAPTURE_MODE_RELAXED || mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    if (mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)
        allowed = allowed || own == ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    else
        allowed = allowed || (strictest != ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                              own != ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
    SIM_CHECK(allowed, code,
              "a stream of the current context is being captured in mode %s, and this thread's mode is %s; expected "
              "the call after aclmdlRICaptureEnd, or between two calls of aclmdlRICaptureThreadExchangeMode with "
              "RELAXED",
              mode_names[strictest], mode_names[mode]);
    return ACL_SUCCESS;
}

/* ---- submissions ---- */

/* Whether the task may be recorded now. */
static aclError admit(struct sim_instance *instance, const struct sim_branch *branch, const struct sim_op *op)
{
    enum sim_instance_state state = sim_capture_instance_state(instance);
    SIM_CHECK(state != SIM_INSTANCE_INVALID, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
              "the capture was made invalid by an earlier failure, expected aclmdlRICaptureEnd");
    SIM_CHECK(state == SIM_INSTANCE_CAPTURING || state == SIM_INSTANCE_BUILDING, ACL_ERROR_RT_STREAM_MODEL,
              "the stream belongs to an instance that has been built, which accepts no more tasks");
    SIM_SUPPORTED(!(op->op_flags & SIM_OP_LIVE), "%s cannot be recorded, expected a stream that runs its tasks",
                  op->op_name);
    return instance->in_open != NULL ? sim_capture_group_admit(instance, branch, op->op_kind) : ACL_SUCCESS;
}

static aclError record_task(struct sim_instance *instance, struct sim_branch *branch, const struct sim_op *op,
                            const void *argument, size_t size, void *site)
{
    SIM_TRY(admit(instance, branch, op));
    struct sim_captured *captured = sim_capture_branch_append(branch, op, op->op_kind, argument, size, site);
    if (unlikely(captured == NULL)) {
        sim_capture_invalidate(instance);
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    if (unlikely(op->op_kind >= SIM_TASK_FLAG_RECORD && op->op_kind <= SIM_TASK_RESET)) {
        const struct sim_event *event = sim_event_of_task(argument);
        captured->ct_event = atomic_load_explicit(&event->ev_slot.sl_handle, memory_order_relaxed);
        captured->ct_shadow = event->ev_slot.sl_index;
    }
    if (unlikely(instance->in_open != NULL))
        sim_capture_group_joined(instance, branch);
    sim_thread.th_last_task = branch->br_count - 1;
    sim_thread.th_has_last_task = true;
    sim_thread.th_recorder = sim_capture_instance_handle(instance);
    sim_thread.th_recorded_branch = branch->br_index;
    return ACL_SUCCESS;
}

/* Returns true and a failure for a persistent stream that is not bound; false if the stream's capture has just
 * ended. */
static bool is_idle_persistent(const struct sim_stream *stream, aclError *code)
{
    if (atomic_load_explicit(&stream->st_owner, memory_order_relaxed) != SIM_NOBODY)
        return false;
    *code = sim_fail(ACL_ERROR_RT_STREAM_MODEL,
                     "the stream was created with ACL_STREAM_PERSISTENT and is not bound to a model running instance, "
                     "expected aclmdlRIBindStream before");
    return true;
}

SIM_HOT bool sim_capture_submit(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size,
                                void *site, aclError *code)
{
    if (sim_stream_kind(stream.tg_stream) == SIM_STREAM_INSTANCE)
        return false;
    struct sim_instance *instance = sim_capture_instance_of(stream.tg_stream);
    if (instance == NULL)
        return is_idle_persistent(stream.tg_stream, code);
    bool updates = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_UPDATES;
    if (!updates)
        *code = record_task(instance, stream.tg_stream->st_branch, op, argument, size, site);
    sim_object_close(instance);
    if (unlikely(updates))
        *code = sim_capture_group_update(stream, op, argument, size, site);
    return true;
}

/* ---- beginning ---- */

/* Rejects streams that can never be captured; this failure takes precedence over a wrong context. */
static aclError check_flags(struct sim_target stream)
{
    uint32_t flags = stream.tg_stream->st_flags;
    SIM_CHECK((flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0, ACL_ERROR_RT_INTERNAL_ERROR,
              "the stream was created with flag %#x, expected one without ACL_STREAM_CPU_SCHEDULE (0x10) and "
              "ACL_STREAM_DEVICE_USE_ONLY (0x20)",
              flags);
    return ACL_SUCCESS;
}

static aclError check_origin(const struct sim_stream *stream)
{
    SIM_CHECK(sim_stream_taken(stream) != SIM_TAKEN_BOUND && sim_stream_kind(stream) != SIM_STREAM_INSTANCE,
              ACL_ERROR_RT_STREAM_MODEL, "the stream belongs to a model running instance, expected a plain one");
    SIM_SUPPORTED(sim_stream_kind(stream) != SIM_STREAM_DEFAULT,
                  "the default stream of a context cannot be captured, expected one made by aclrtCreateStream");
    return ACL_SUCCESS;
}

/* Takes the origin stream over and opens the capture. */
static aclError open_capture(struct sim_instance *instance, struct sim_target stream, aclmdlRICaptureMode mode)
{
    struct sim_branch *origin;
    SIM_TRY(sim_capture_instance_adopt(instance, stream, SIM_TAKEN_CAPTURES, &origin));
    atomic_store_explicit(&instance->in_mode, mode, memory_order_relaxed);
    atomic_store_explicit(&instance->in_thread, sim_thread_number(), memory_order_relaxed);
    atomic_store_explicit(&instance->in_state, SIM_INSTANCE_CAPTURING, memory_order_release);
    atomic_fetch_add_explicit(&instance->in_context->cx_captures, 1, memory_order_relaxed);
    if (sim_watcher_any())
        sim_watcher_capture(sim_capture_instance_handle(instance), stream.tg_stream);
    return ACL_SUCCESS;
}

static aclError begin_into(struct sim_target stream, aclmdlRICaptureMode mode, aclmdlRI into)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(into, &instance));
    aclError code = ACL_SUCCESS;
    if (instance->in_parent == NULL)
        code = sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "modelRI %p is not a body of a conditional task, expected one that aclmdlRIAddCondTask "
                        "returned", into);
    else if (sim_capture_instance_state(instance) != SIM_INSTANCE_EMPTY)
        code = sim_fail(ACL_ERROR_RT_MODEL_CAPTURED, "modelRI %p was already captured into, expected an empty body",
                        into);
    else
        code = open_capture(instance, stream, mode);
    sim_object_close(instance);
    return code;
}

aclError sim_capture_begin(aclrtStream handle, aclmdlRICaptureMode mode, aclmdlRI into)
{
    struct sim_instance *instance;
    struct sim_target stream;
    SIM_TRY(sim_engine_may_wait()); /* inside a kernel the new objects could not be released again */
    SIM_TRY(sim_stream_find(handle, &stream));
    SIM_TRY(sim_capture_check_mode(mode));
    SIM_TRY(check_flags(stream));
    SIM_TRY(sim_stream_own(handle, &stream));
    SIM_TRY(check_origin(stream.tg_stream));
    SIM_TRY(sim_stream_refuse_taken(stream.tg_stream, sim_stream_taken(stream.tg_stream)));
    if (into != NULL)
        return begin_into(stream, mode, into);
    SIM_TRY(sim_capture_instance_create(sim_thread.th_context, SIM_INSTANCE_EMPTY, mode, &instance));
    aclError code = open_capture(instance, stream, mode);
    if (code == ACL_SUCCESS)
        sim_object_close(instance);
    else
        sim_capture_instance_free(instance);
    return code;
}

/* The instance that the stream is captured into, locked, or NULL. */
static struct sim_instance *captured_into(struct sim_stream *stream)
{
    return sim_stream_taken(stream) == SIM_TAKEN_CAPTURES ? sim_capture_instance_of(stream) : NULL;
}

aclError sim_capture_info(struct sim_stream *stream, aclmdlRICaptureStatus *status, aclmdlRI *instance)
{
    aclmdlRICaptureStatus found = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI handle = NULL;
    struct sim_instance *owner = captured_into(stream);
    if (owner != NULL) {
        found = sim_capture_instance_state(owner) == SIM_INSTANCE_INVALID ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                                                  : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        handle = (aclmdlRI)(uintptr_t)sim_capture_instance_handle(owner);
        sim_object_close(owner);
    }
    if (status != NULL)
        *status = found;
    if (instance != NULL)
        *instance = handle;
    return ACL_SUCCESS;
}

aclmdlRICaptureMode sim_capture_exchange_mode(aclmdlRICaptureMode mode)
{
    aclmdlRICaptureMode before = sim_thread.th_capture_mode;
    sim_thread.th_capture_mode = (uint8_t)mode;
    return before;
}

/* ---- ending ---- */

/* Every stream that joined the capture must end with an event record that another stream of the capture waits for, and
 * the origin stream must wait for at least one of these records. */
static aclError check_joined(const struct sim_instance *instance)
{
    bool came_back = instance->in_branch_count == 1;
    for (uint32_t i = 1; i < instance->in_branch_count; i++) {
        const struct sim_branch *branch = instance->in_branches[i];
        const struct sim_captured *last = branch->br_count != 0 ? &branch->br_tasks[branch->br_count - 1] : NULL;
        SIM_CHECK(last != NULL && last->ct_kind == SIM_TASK_RECORD && last->ct_waited, ACL_ERROR_RT_STREAM_UNJOINED,
                  "stream %#llx joined the capture and has not come back: expected an event recorded as its last task, "
                  "and aclrtStreamWaitEvent for it on another stream of the capture",
                  (unsigned long long)branch->br_user.tg_handle);
    }
    const struct sim_branch *origin = instance->in_branches[0];
    for (uint32_t i = 0; i < origin->br_count && !came_back; i++) {
        struct sim_point from = origin->br_tasks[i].ct_from;
        came_back = from.pt_branch != SIM_NO_BRANCH && from.pt_branch != 0 &&
                    from.pt_index + 1 == instance->in_branches[from.pt_branch]->br_count;
    }
    SIM_CHECK(came_back, ACL_ERROR_RT_STREAM_UNJOINED,
              "no stream that joined the capture has come back to the stream that began it: expected "
              "aclrtStreamWaitEvent there for the last event of one of them");
    return ACL_SUCCESS;
}

static aclError check_end(const struct sim_instance *instance)
{
    uint32_t thread = atomic_load_explicit(&instance->in_thread, memory_order_relaxed);
    aclmdlRICaptureMode mode = atomic_load_explicit(&instance->in_mode, memory_order_relaxed);
    SIM_CHECK(mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED || thread == sim_thread_number(),
              ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
              "the capture was begun in mode %s by thread %u, expected that thread to end it; the capture is discarded",
              mode_names[mode], thread);
    SIM_CHECK(sim_capture_instance_state(instance) != SIM_INSTANCE_INVALID, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
              "the capture was made invalid by an earlier failure");
    SIM_CHECK(!sim_capture_condition_captures(instance), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
              "a body of a conditional task is still being captured, expected its aclmdlRICaptureEnd before");
    SIM_CHECK(instance->in_open == NULL, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
              "a task group is open, expected aclmdlRICaptureTaskGrpEnd before");
    SIM_TRY(check_joined(instance));
    SIM_CHECK(instance->in_unresolved == 0, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
              "%u waits are for events that were never recorded, expected aclrtRecordEvent inside the capture",
              instance->in_unresolved);
    return ACL_SUCCESS;
}

/* Failures that leave the capture as it is. */
static aclError check_call(const struct sim_instance *instance, const struct sim_stream *stream)
{
    SIM_CHECK(instance != NULL, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
              "the stream is not being captured, expected aclmdlRICaptureBegin before");
    SIM_CHECK(stream->st_branch->br_index == 0, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
              "the stream joined a capture that stream %#llx began, expected that stream",
              (unsigned long long)instance->in_branches[0]->br_user.tg_handle);
    return ACL_SUCCESS;
}

static aclError end(struct sim_instance *instance)
{
    aclError code = check_end(instance);
    if (code == ACL_SUCCESS)
        code = sim_capture_plan_make(instance);
    sim_capture_instance_let_go(instance);
    sim_capture_instance_stop_capture(instance, code == ACL_SUCCESS ? SIM_INSTANCE_READY : SIM_INSTANCE_EMPTY);
    return code;
}

static bool captures_body(struct sim_stream *stream)
{
    struct sim_instance *instance = captured_into(stream);
    bool is_body = instance != NULL && instance->in_parent != NULL;
    if (instance != NULL)
        sim_object_close(instance);
    return is_body;
}

aclError sim_capture_end(aclrtStream stream_handle, aclmdlRI *handle)
{
    struct sim_target stream;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_stream_find(stream_handle, &stream));
    SIM_TRY(check_flags(stream));
    SIM_CHECK(handle != NULL || captures_body(stream.tg_stream), ACL_ERROR_RT_PARAM_INVALID,
              "modelRI is NULL, expected a valid pointer: only the capture into a body of a conditional task allows "
              "NULL");
    SIM_TRY(sim_stream_to_clean(stream_handle, &stream));
    SIM_TRY(check_origin(stream.tg_stream));
    struct sim_instance *instance = captured_into(stream.tg_stream);
    bool is_body = instance != NULL && instance->in_parent != NULL;
    aclError code = check_call(instance, stream.tg_stream);
    if (code != ACL_SUCCESS) {
        if (instance != NULL)
            sim_object_close(instance);
        return code;
    }
    code = end(instance);
    if (handle != NULL)
        *handle = code == ACL_SUCCESS ? (aclmdlRI)(uintptr_t)sim_capture_instance_handle(instance) : NULL;
    if (code != ACL_SUCCESS && !is_body) {
        sim_capture_instance_free(instance);
        return code;
    }
    if (code != ACL_SUCCESS)
        sim_capture_instance_clear(instance);
    sim_object_close(instance);
    return code;
}
