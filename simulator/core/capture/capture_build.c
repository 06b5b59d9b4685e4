/* This file builds instances without capture: persistent streams are bound to an instance, which records the tasks
 * submitted to them until aclmdlRIBuildEnd. It also activates streams, and aborts replays of built instances. Events
 * between such streams are flag events, recorded as ordinary tasks. The instance's lock guards all of its state. */
#include "base/config.h"
#include "capture_inner.h"

aclError sim_capture_build_begin(aclmdlRI *handle)
{
    struct sim_context *context;
    struct sim_instance *instance;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_capture_instance_create(context, SIM_INSTANCE_BUILDING, ACL_MODEL_RI_CAPTURE_MODE_RELAXED, &instance));
    *handle = (aclmdlRI)(uintptr_t)sim_capture_instance_handle(instance);
    sim_object_close(instance);
    return ACL_SUCCESS;
}

static aclError check_built(const struct sim_instance *instance)
{
    SIM_CHECK(instance->in_built, ACL_ERROR_RT_PARAM_INVALID,
              "modelRI was captured, expected one of aclmdlRIBuildBegin");
    return ACL_SUCCESS;
}

static aclError check_building(const struct sim_instance *instance)
{
    SIM_TRY(check_built(instance));
    SIM_CHECK(sim_capture_instance_state(instance) == SIM_INSTANCE_BUILDING, ACL_ERROR_RT_MODEL_EXECUTE,
              "modelRI has been built already, expected the call before aclmdlRIBuildEnd");
    return ACL_SUCCESS;
}

static aclError bind(struct sim_instance *instance, struct sim_target stream, bool head)
{
    struct sim_branch *branch;
    uint32_t flags = stream.tg_stream->st_flags;
    SIM_TRY(check_building(instance));
    SIM_TRY(sim_stream_refuse_taken(stream.tg_stream, sim_stream_taken(stream.tg_stream)));
    SIM_SUPPORTED((flags & ACL_STREAM_FAST_LAUNCH) == 0 && !stream.tg_stream->st_stop_on_failure,
                  "the stream was created with ACL_STREAM_FAST_LAUNCH or stops on failure, which cannot be bound to an "
                  "instance");
    SIM_CHECK((flags & ACL_STREAM_DEVICE_USE_ONLY) == 0, ACL_ERROR_RT_INTERNAL_ERROR,
              "the stream was created with ACL_STREAM_DEVICE_USE_ONLY");
    SIM_CHECK((flags & ACL_STREAM_PERSISTENT) != 0, ACL_ERROR_RT_PARAM_INVALID,
              "the stream was created with flag %#x, expected ACL_STREAM_PERSISTENT (0x4)", flags);
    SIM_TRY(sim_capture_instance_adopt(instance, stream, SIM_TAKEN_BOUND, &branch));
    branch->br_head = head;
    return ACL_SUCCESS;
}

aclError sim_capture_build_bind(aclmdlRI handle, struct sim_target stream, bool head)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = bind(instance, stream, head);
    sim_object_close(instance);
    return code;
}

/* The branch of the stream, which must be bound to this instance. */
static aclError find_branch(const struct sim_instance *instance, struct sim_target stream, struct sim_branch **branch)
{
    bool bound = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_BOUND &&
                 atomic_load_explicit(&stream.tg_stream->st_owner, memory_order_relaxed) ==
                     sim_capture_instance_handle(instance);
    SIM_TRY(sim_stream_refuse_captured(stream.tg_stream));
    SIM_CHECK(bound, ACL_ERROR_RT_STREAM_MODEL,
              "the stream is not bound to modelRI, expected aclmdlRIBindStream before");
    *branch = stream.tg_stream->st_branch;
    return ACL_SUCCESS;
}

aclError sim_capture_build_unbind(aclmdlRI handle, struct sim_target stream)
{
    struct sim_instance *instance;
    struct sim_branch *branch;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = find_branch(instance, stream, &branch);
    if (code == ACL_SUCCESS) {
        branch->br_user = (struct sim_target){NULL, 0};
        sim_capture_stream_let_go(stream.tg_stream);
    }
    sim_object_close(instance);
    return code;
}

aclError sim_capture_build_end_task(aclmdlRI handle, struct sim_target stream)
{
    struct sim_instance *instance;
    struct sim_branch *branch;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = check_building(instance);
    if (code == ACL_SUCCESS)
        code = find_branch(instance, stream, &branch);
    if (code == ACL_SUCCESS)
        instance->in_has_end = true;
    sim_object_close(instance);
    return code;
}

static bool is_bound(const struct sim_instance *instance)
{
    bool bound = false;
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        bound = bound || instance->in_branches[i]->br_user.tg_stream != NULL;
    return bound;
}

static aclError build_end(struct sim_instance *instance)
{
    SIM_TRY(check_building(instance));
    SIM_CHECK(instance->in_has_end, ACL_ERROR_RT_MODEL_EXECUTE,
              "the last task of modelRI was not named, expected aclmdlRIEndTask before");
    SIM_CHECK(is_bound(instance), ACL_ERROR_RT_STREAM_MODEL,
              "no stream is bound to modelRI any more, expected aclmdlRIUnbindStream after aclmdlRIBuildEnd");
    SIM_TRY(sim_capture_plan_make(instance));
    sim_capture_instance_stop_capture(instance, SIM_INSTANCE_READY);
    return ACL_SUCCESS;
}

aclError sim_capture_build_end(aclmdlRI handle)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = build_end(instance);
    sim_object_close(instance);
    return code;
}

/* ---- activation ---- */

static const struct sim_op active_op = {.op_name = "aclrtActiveStream", .op_run = sim_engine_nothing,
                                        .op_kind = SIM_TASK_ACTIVE};

static aclError activate(struct sim_instance *instance, struct sim_target active, struct sim_branch *branch, void *site)
{
    struct sim_branch *activated;
    SIM_TRY(check_building(instance));
    SIM_TRY(find_branch(instance, active, &activated));
    SIM_CHECK(!activated->br_head && activated != branch, ACL_ERROR_RT_STREAM_MODEL,
              "activeStream starts with modelRI or is the stream itself, expected one bound with flag %#x",
              ACL_MODEL_STREAM_FLAG_DEFAULT);
    struct sim_captured *captured =
        sim_capture_branch_append(branch, &active_op, SIM_TASK_ACTIVE, &activated, sizeof activated, site);
    if (captured == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    captured->ct_shadow = activated->br_stream.tg_stream->st_slot.sl_index;
    return ACL_SUCCESS;
}

aclError sim_capture_activate(struct sim_target active, struct sim_target stream, void *site)
{
    bool bound = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_BOUND;
    struct sim_instance *instance = bound ? sim_capture_instance_of(stream.tg_stream) : NULL;
    SIM_CHECK(instance != NULL, ACL_ERROR_RT_STREAM_MODEL,
              "stream is not bound to a model running instance, expected aclmdlRIBindStream before");
    aclError code = activate(instance, active, stream.tg_stream->st_branch, site);
    sim_object_close(instance);
    return code;
}

/* ---- switches ---- */

static aclError find_jump(struct sim_instance *instance, struct sim_target to, const struct sim_branch *from,
                          uint32_t *branch)
{
    struct sim_branch *found;
    SIM_TRY(check_building(instance));
    SIM_TRY(find_branch(instance, to, &found));
    SIM_CHECK(!found->br_head && found != from, ACL_ERROR_RT_STREAM_MODEL,
              "trueStream starts with modelRI or is the stream itself, expected one bound with flag %#x",
              ACL_MODEL_STREAM_FLAG_DEFAULT);
    *branch = found->br_index;
    return ACL_SUCCESS;
}

aclError sim_capture_find_branch(struct sim_target to, struct sim_target stream, uint32_t *branch)
{
    struct sim_instance *instance = sim_capture_instance_of(stream.tg_stream);
    SIM_CHECK(instance != NULL, ACL_ERROR_RT_STREAM_MODEL, "the stream was unbound by another thread during the call");
    aclError code = find_jump(instance, to, stream.tg_stream->st_branch, branch);
    sim_object_close(instance);
    return code;
}

/* ---- persistent streams ---- */

aclError sim_capture_build_clean(struct sim_target stream)
{
    bool bound = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_BOUND;
    struct sim_instance *instance = bound ? sim_capture_instance_of(stream.tg_stream) : NULL;
    SIM_TRY(sim_stream_refuse_captured(stream.tg_stream));
    if (instance == NULL)
        return ACL_SUCCESS; /* its recorded tasks belong to the instance that it was bound to */
    aclError code = check_building(instance);
    if (code == ACL_SUCCESS)
        sim_capture_branch_clear(stream.tg_stream->st_branch);
    sim_object_close(instance);
    return code;
}

/* ---- stopping ---- */

/* Queued replays are discarded; an aclmdlRIExecute that waits for one returns 507023. The call counts itself as a
 * replay (in_submitted) until it is done, because destroying waits for all replays: so no other thread frees the
 * instance and its stream meanwhile. */
aclError sim_capture_abort(aclmdlRI handle)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    struct sim_target launch = instance->in_launch;
    bool built = instance->in_built;
    if (built)
        instance->in_aborted = instance->in_submitted++;
    sim_object_close(instance);
    SIM_SUPPORTED(built, "modelRI was captured, and only one that was built can be aborted");
    if (launch.tg_stream != NULL)
        sim_engine_drop(launch.tg_stream);
    sim_gate_count(&instance->in_finished);
    return ACL_SUCCESS;
}
