/* Design notes
 *
 * This file records events during a capture: inside it as edges between branches, and as external records and waits,
 * which connect a replay with work outside.
 *
 * A record stores in the event the capture it belongs to (ev_capture, the instance's handle) and its position
 * (ev_point, a branch and an index in one word). A wait copies the position, so that a later record does not change it.
 * A wait for an event that was never recorded stores only the event's handle; the first record that follows gives it
 * its edge. When the capture ends, ev_capture needs no reset, because the instance it names has stopped capturing.
 *
 * Locks: the instance's lock guards the recording. ev_capture and ev_point have none, and two captures may write them
 * at the same time, so a position is checked against the recording before it is used. */
#include "capture_inner.h"
#include <stdlib.h>

/* The open capture that holds the event's newest record; 0 without one. */
static uint64_t capture_of(struct sim_event *event)
{
    uint64_t handle = atomic_load_explicit(&event->ev_capture, memory_order_acquire);
    if (likely(handle == 0))
        return 0;
    const struct sim_instance *instance = sim_table_find(&sim_capture_instances, (void *)(uintptr_t)handle);
    return instance != NULL && sim_capture_instance_is_capturing(instance) ? handle : 0;
}

SIM_RARE static aclError refuse_captured(void)
{
    return sim_fail(ACL_ERROR_RT_EVENT_CAPTURED,
                    "the event was recorded in a capture that is still open, expected the call after "
                    "aclmdlRICaptureEnd");
}

aclError sim_capture_check_captured(struct sim_event *event)
{
    return likely(capture_of(event) == 0) ? ACL_SUCCESS : refuse_captured();
}

static const struct sim_op record_op = {.op_name = "aclrtRecordEvent",
                                        .op_run = sim_engine_nothing,
                                        .op_kind = SIM_TASK_RECORD};
static const struct sim_op wait_op = {.op_name = "aclrtStreamWaitEvent",
                                      .op_run = sim_engine_nothing,
                                      .op_kind = SIM_TASK_WAIT};

/* Invalidates both captures and closes the instance. Closing it first ensures that no thread holds both locks. */
static aclError conflict(struct sim_instance *instance, uint64_t other)
{
    sim_capture_invalidate(instance);
    unsigned long long handle = sim_capture_instance_handle(instance);
    sim_object_close(instance);
    instance = sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)other);
    if (instance != NULL) {
        sim_capture_invalidate(instance);
        sim_object_close(instance);
    }
    return sim_fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                    "the stream is captured into %#llx and the event was recorded in the capture of %#llx, expected an "
                    "event that one capture uses; both captures are invalid now",
                    handle, (unsigned long long)other);
}

/* ---- edges ---- */

static void join(struct sim_instance *instance, struct sim_captured *wait, uint32_t branch, struct sim_point from)
{
    struct sim_captured *record = sim_capture_instance_at(instance, from);
    wait->ct_from = from;
    wait->ct_shadow = record->ct_shadow;
    record->ct_waited = record->ct_waited || from.pt_branch != branch;
}

/* Gives the waits that came before the event's first record their edges. */
static void resolve(struct sim_instance *instance, uint64_t event, struct sim_point point)
{
    for (uint32_t i = 0; i < instance->in_branch_count && instance->in_unresolved != 0; i++)
        for (uint32_t k = 0; k < instance->in_branches[i]->br_count; k++) {
            struct sim_captured *wait = &instance->in_branches[i]->br_tasks[k];
            if (wait->ct_kind != SIM_TASK_WAIT || wait->ct_event != event || wait->ct_from.pt_branch != SIM_NO_BRANCH)
                continue;
            join(instance, wait, i, point);
            instance->in_unresolved--;
        }
}

/* The position of the event's newest record in this capture; false without one. */
static bool find_point(const struct sim_instance *instance, struct sim_event *event, aclrtEvent handle,
                       struct sim_point *point)
{
    uint64_t word = atomic_load_explicit(&event->ev_point, memory_order_relaxed);
    *point = (struct sim_point){(uint32_t)(word >> 32), (uint32_t)word};
    if (point->pt_branch >= instance->in_branch_count ||
        point->pt_index >= instance->in_branches[point->pt_branch]->br_count)
        return false;
    const struct sim_captured *record = sim_capture_instance_at(instance, *point);
    return record->ct_kind == SIM_TASK_RECORD && record->ct_event == (uint64_t)(uintptr_t)handle;
}

static struct sim_captured *append(struct sim_instance *instance, struct sim_branch *branch, const struct sim_op *op,
                                   aclrtEvent event, void *site)
{
    struct sim_captured *captured = sim_capture_branch_append(branch, op, op->op_kind, &event, sizeof event, site);
    if (captured != NULL)
        captured->ct_event = (uint64_t)(uintptr_t)event;
    else
        sim_capture_invalidate(instance);
    return captured;
}

/* ---- external records and waits ---- */

static aclError run_reached(struct sim_run *run, void *argument)
{
    struct sim_external *external = *(struct sim_external **)argument;
    (void)run;
    external->xt_reached = true;
    sim_gate_count(&external->xt_stream.tg_stream->st_latch);
    return ACL_SUCCESS;
}

static aclError run_outer_wait(struct sim_run *run, void *argument)
{
    const struct sim_external *external = *(struct sim_external **)argument;
    return sim_capture_replay_wait_outer(external->xt_instance, external->xt_number, run);
}

static struct sim_edge edge_of_reached(const void *argument)
{
    const struct sim_external *external = *(struct sim_external *const *)argument;
    return (struct sim_edge){.eg_kind = SIM_EDGE_RAISES, .eg_gate = &external->xt_stream.tg_stream->st_latch};
}

static struct sim_edge edge_of_outer_wait(const void *argument)
{
    const struct sim_external *external = *(struct sim_external *const *)argument;
    const sim_record *outer = external->xt_instance->in_outer;
    return (struct sim_edge){.eg_kind = SIM_EDGE_AFTER, .eg_record = outer != NULL ? outer[external->xt_number] : 0};
}

static const struct sim_op external_record_op = {.op_name = "aclrtRecordEventWithFlag", .op_run = run_reached,
                                                 .op_edge = edge_of_reached, .op_kind = SIM_TASK_EXTERNAL_RECORD,
                                                 .op_flags = SIM_OP_LIGHT};
static const struct sim_op external_wait_op = {.op_name = "aclrtStreamWaitEventWithFlag", .op_run = run_outer_wait,
                                               .op_edge = edge_of_outer_wait, .op_kind = SIM_TASK_EXTERNAL_WAIT,
                                               .op_flags = SIM_OP_LIGHT};

static aclError check_external(const struct sim_instance *instance, aclrtEvent event)
{
    SIM_SUPPORTED(instance->in_parent == NULL, "the body of a conditional task cannot use external events");
    for (const struct sim_external *at = instance->in_externals; at != NULL; at = at->xt_next)
        SIM_CHECK(at->xt_event != (uint64_t)(uintptr_t)event, ACL_ERROR_RT_PARAM_INVALID,
                  "event %p is an external event of this capture already, expected each to be recorded or waited for "
                  "once",
                  event);
    return ACL_SUCCESS;
}

static aclError add_external(struct sim_instance *instance, struct sim_branch *branch, const struct sim_op *op,
                             aclrtEvent event, void *site)
{
    aclrtStream stream = NULL;
    SIM_TRY(check_external(instance, event));
    struct sim_external *external = calloc(1, sizeof *external);
    SIM_CHECK(external != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for an external event");
    external->xt_instance = instance;
    external->xt_event = (uint64_t)(uintptr_t)event;
    bool is_wait = op->op_kind == SIM_TASK_EXTERNAL_WAIT;
    aclError code = ACL_SUCCESS;
    if (is_wait)
        external->xt_number = instance->in_external_waits++;
    else
        code = sim_stream_create(instance->in_context, 0, 0, SIM_STREAM_INSTANCE, &stream);
    if (code != ACL_SUCCESS) {
        free(external);
        return code;
    }
    if (stream != NULL)
        external->xt_stream = (struct sim_target){sim_table_find(&sim_streams, stream), (uint64_t)(uintptr_t)stream};
    external->xt_next = instance->in_externals;
    instance->in_externals = external;
    struct sim_captured *captured =
        sim_capture_branch_append(branch, op, op->op_kind, &external, sizeof external, site);
    if (captured == NULL) {
        sim_capture_invalidate(instance);
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    captured->ct_event = (uint64_t)(uintptr_t)event;
    captured->ct_shadow = instance->in_shadows++;
    return ACL_SUCCESS;
}

/* ---- inside a capture ---- */

/* Locks the instance that the stream is captured into, after checking that it accepts the task; NULL without one. */
static aclError open_for_event(struct sim_target stream, struct sim_instance **instance, enum sim_task_kind kind)
{
    aclError code = ACL_SUCCESS;
    enum sim_taken taken = sim_stream_taken(stream.tg_stream);
    *instance = NULL;
    SIM_CHECK(taken != SIM_TAKEN_UPDATES, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
              "the stream updates captured tasks, expected kernels only");
    SIM_SUPPORTED(taken != SIM_TAKEN_BOUND,
                  "the stream is bound to a model running instance, expected an event made by "
                  "aclrtCreateEventWithFlag");
    struct sim_instance *found = taken == SIM_TAKEN_CAPTURES ? sim_capture_instance_of(stream.tg_stream) : NULL;
    if (found == NULL)
        return ACL_SUCCESS;
    if (sim_capture_instance_state(found) == SIM_INSTANCE_INVALID)
        code = sim_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                        "the capture was made invalid by an earlier failure, expected aclmdlRICaptureEnd");
    else if (found->in_open != NULL)
        code = sim_capture_group_admit(found, stream.tg_stream->st_branch, kind);
    if (code == ACL_SUCCESS)
        *instance = found;
    else
        sim_object_close(found);
    return code;
}

static aclError record_inside(struct sim_instance *instance, struct sim_event *event, aclrtEvent handle,
                              struct sim_branch *branch, void *site)
{
    struct sim_point point = {branch->br_index, branch->br_count};
    struct sim_captured *captured = append(instance, branch, &record_op, handle, site);
    if (captured == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    captured->ct_shadow = instance->in_shadows++;
    atomic_store_explicit(&event->ev_point, (uint64_t)point.pt_branch << 32 | point.pt_index, memory_order_relaxed);
    atomic_store_explicit(&event->ev_capture, sim_capture_instance_handle(instance), memory_order_release);
    if (instance->in_unresolved != 0)
        resolve(instance, captured->ct_event, point);
    return ACL_SUCCESS;
}

static aclError refuse_implicit(void)
{
    return sim_fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                    "the event was recorded in a capture that is still open, and the default stream cannot join it");
}

bool sim_capture_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                        aclError *code)
{
    struct sim_instance *instance;
    uint64_t from = capture_of(event);
    *code = open_for_event(stream, &instance, external ? SIM_TASK_EXTERNAL_RECORD : SIM_TASK_RECORD);
    if (*code != ACL_SUCCESS)
        return true;
    if (instance == NULL) { /* a record outside replaces the one inside a capture */
        if (from != 0 && sim_stream_kind(stream.tg_stream) == SIM_STREAM_DEFAULT) {
            *code = refuse_implicit();
            return true;
        }
        atomic_compare_exchange_strong(&event->ev_capture, &from, 0);
        return false;
    }
    if (from != 0 && from != sim_capture_instance_handle(instance)) {
        *code = conflict(instance, from);
        return true;
    }
    struct sim_branch *branch = stream.tg_stream->st_branch;
    *code = external ? add_external(instance, branch, &external_record_op, handle, site)
                     : record_inside(instance, event, handle, branch, site);
    sim_object_close(instance);
    return true;
}

static aclError wait_inside(struct sim_instance *instance, struct sim_event *event, aclrtEvent handle, uint64_t from,
                            struct sim_branch *branch, void *site)
{
    struct sim_point point;
    bool inside = from != 0 && find_point(instance, event, handle, &point);
    SIM_CHECK(inside || atomic_load_explicit(&event->ev_record, memory_order_acquire) == 0,
              ACL_ERROR_RT_CAPTURE_DEPENDENCY,
              "the event was recorded outside of the capture, expected a record inside it or one with flag 1 "
              "(external)");
    struct sim_captured *wait = append(instance, branch, &wait_op, handle, site);
    if (wait == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (inside)
        join(instance, wait, branch->br_index, point);
    else
        instance->in_unresolved++;
    return ACL_SUCCESS;
}

/* The stream joins the capture that the event was recorded in. */
static aclError join_capture(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t from,
                             void *site)
{
    struct sim_branch *branch;
    if (sim_stream_kind(stream.tg_stream) == SIM_STREAM_DEFAULT)
        return refuse_implicit();
    SIM_CHECK(sim_stream_kind(stream.tg_stream) == SIM_STREAM_USER, ACL_ERROR_RT_STREAM_MODEL,
              "the stream belongs to a model running instance, expected a plain one");
    SIM_CHECK((stream.tg_stream->st_flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0,
              ACL_ERROR_RT_INTERNAL_ERROR, "a stream created with flag %#x cannot join a capture",
              stream.tg_stream->st_flags);
    struct sim_instance *instance = sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)from);
    if (instance == NULL || !sim_capture_instance_is_capturing(instance)) { /* the capture has just ended */
        if (instance != NULL)
            sim_object_close(instance);
        return ACL_SUCCESS;
    }
    aclError code = ACL_SUCCESS;
    if (instance->in_context != sim_thread.th_context)
        code = sim_fail(ACL_ERROR_RT_STREAM_CONTEXT, "the event was recorded in a capture of another context than the "
                                                     "stream's, expected one context");
    else if (sim_capture_instance_state(instance) == SIM_INSTANCE_INVALID)
        code = sim_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                        "the capture was made invalid by an earlier failure, expected aclmdlRICaptureEnd");
    else if (instance->in_open != NULL)
        code = sim_capture_group_admit(instance, NULL, SIM_TASK_WAIT);
    if (code == ACL_SUCCESS)
        code = sim_capture_instance_adopt(instance, stream, SIM_TAKEN_CAPTURES, &branch);
    if (code == ACL_SUCCESS)
        code = wait_inside(instance, event, handle, from, branch, site);
    sim_object_close(instance);
    return code;
}

bool sim_capture_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, bool external, void *site,
                      aclError *code)
{
    struct sim_instance *instance;
    uint64_t from = capture_of(event);
    *code = open_for_event(stream, &instance, external ? SIM_TASK_EXTERNAL_WAIT : SIM_TASK_WAIT);
    if (*code != ACL_SUCCESS)
        return true;
    if (instance == NULL) {
        if (from == 0)
            return false;
        *code = join_capture(event, handle, stream, from, site);
        return true;
    }
    if (from != 0 && from != sim_capture_instance_handle(instance)) {
        *code = conflict(instance, from);
        return true;
    }
    struct sim_branch *branch = stream.tg_stream->st_branch;
    *code = external ? add_external(instance, branch, &external_wait_op, handle, site)
                     : wait_inside(instance, event, handle, from, branch, site);
    sim_object_close(instance);
    return true;
}
