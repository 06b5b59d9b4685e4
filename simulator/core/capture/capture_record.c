/* This file finds recorded tasks by number, replaces their arguments, and attaches a program's notes to them. Tasks and
 * notes belong to the instance, and its lock guards them. */
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

/* A task of a locked instance; NULL if its stream was cleared meanwhile. */
static struct sim_captured *task_at(const struct sim_instance *instance, uint32_t branch, uint32_t index)
{
    bool there = branch < instance->in_branch_count && index < instance->in_branches[branch]->br_count;
    return there ? sim_capture_instance_at(instance, (struct sim_point){branch, index}) : NULL;
}

aclError sim_capture_find_task(struct sim_target stream, uint32_t number, enum sim_task_kind kind,
                               struct sim_recorded *recorded)
{
    bool bound = sim_stream_taken(stream.tg_stream) == SIM_TAKEN_BOUND;
    struct sim_instance *instance = bound ? sim_capture_instance_of(stream.tg_stream) : NULL;
    SIM_CHECK(instance != NULL, ACL_ERROR_RT_STREAM_MODEL,
              "taskStream is not bound to a model running instance, expected aclmdlRIBindStream before");
    uint32_t branch = stream.tg_stream->st_branch->br_index;
    const struct sim_captured *task = task_at(instance, branch, number);
    bool fits = task != NULL && task->ct_kind == kind;
    *recorded = (struct sim_recorded){sim_capture_instance_handle(instance), branch, number};
    sim_object_close(instance);
    SIM_CHECK(fits, ACL_ERROR_RT_PARAM_INVALID,
              "taskId is %u, expected the id that aclrtGetThreadLastTaskId returned for a task of that kind on "
              "taskStream", number);
    return ACL_SUCCESS;
}

/* The recorded task gets the argument as well as the step: it is what programs read back and what the next plan
 * uses. */
void sim_captured_replace(struct sim_instance *instance, struct sim_captured *task, void *argument)
{
    void *before = task->ct_task.ta_ext;
    task->ct_task.ta_ext = argument;
    task->ct_task.ta_is_long = true;
    if (task->ct_step != NULL)
        atomic_store_explicit(&task->ct_step->sp_argument, argument, memory_order_release);
    sim_capture_replay_retire(instance, before);
}

bool sim_capture_replace(const struct sim_recorded *recorded, void *(*make)(const void *before, void *state),
                         void *state)
{
    struct sim_instance *instance = sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)recorded->rc_instance);
    struct sim_captured *task = instance != NULL ? task_at(instance, recorded->rc_branch, recorded->rc_index) : NULL;
    void *argument = task != NULL ? make(sim_task_argument(&task->ct_task), state) : NULL;
    if (argument != NULL)
        sim_captured_replace(instance, task, argument);
    if (instance != NULL)
        sim_object_close(instance);
    return task == NULL || argument != NULL;
}

void sim_capture_notes_free(struct sim_notes *notes)
{
    if (notes == NULL)
        return;
    free(notes->no_info);
    free(notes->no_text);
    free(notes);
}

static aclError keep(struct sim_captured *task, const void *bytes, size_t size, bool is_text)
{
    if (task->ct_notes == NULL)
        task->ct_notes = calloc(1, sizeof *task->ct_notes);
    void *copy = task->ct_notes == NULL ? NULL : is_text ? (void *)strndup(bytes, size) : malloc(size);
    SIM_CHECK(copy != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes", size);
    if (is_text) {
        free(task->ct_notes->no_text);
        task->ct_notes->no_text = copy;
        return ACL_SUCCESS;
    }
    memcpy(copy, bytes, size);
    free(task->ct_notes->no_info);
    task->ct_notes->no_info = copy;
    task->ct_notes->no_size = size;
    return ACL_SUCCESS;
}

/* The stream attribute ACL_STREAM_ATTR_CACHE_OP_INFO is not checked here: the documentation leaves that to the
 * program. */
aclError sim_capture_note(const void *bytes, size_t size, bool is_text)
{
    struct sim_instance *instance = sim_object_peek(&sim_capture_instances, (void *)(uintptr_t)sim_thread.th_recorder);
    struct sim_captured *task =
        instance != NULL ? task_at(instance, sim_thread.th_recorded_branch, sim_thread.th_last_task) : NULL;
    aclError code = task != NULL ? keep(task, bytes, size, is_text) : ACL_SUCCESS;
    if (instance != NULL)
        sim_object_close(instance);
    SIM_CHECK(task != NULL, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
              "this thread's last task was not recorded, expected the call after a task on a stream that is captured, "
              "or bound to an instance that is being built");
    return code;
}
