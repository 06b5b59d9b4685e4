/* This file saves an instance as a model file: its steps in an order that respects the edges of its plan. The
 * instance's lock is held throughout, so that the instance does not change and no replay begins. */
#include "address/memory.h"
#include "operator/model_saver.h"
#include "capture_inner.h"
#include <stdlib.h>

struct saved {
    struct sim_instance *sd_instance;
    uint32_t *sd_order; /* segment numbers in the order of saving */
};

static aclError save_step(const struct sim_step *step, struct sim_saver *saver)
{
    const void *argument = atomic_load_explicit(&step->sp_argument, memory_order_relaxed);
    size_t count = 0;
    char text[256];
    SIM_SUPPORTED(step->sp_op->op_save != NULL, "the instance has a task of %s, which cannot be saved in a model file, "
                  "expected only operators, copies and memory sets", step->sp_op->op_name);
    const struct sim_range *ranges = sim_task_ranges(step->sp_op, argument, &count);
    for (size_t i = 0; i < count; i++)
        if (!sim_memory_lives(&ranges[i]) && sim_memory_refuse(&ranges[i], text, sizeof text) != ACL_SUCCESS)
            return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "a task of %s cannot be saved: %s", step->sp_op->op_name, text);
    return step->sp_op->op_save(argument, saver);
}

static aclError walk(struct sim_saver *saver, void *state)
{
    const struct saved *saved = state;
    const struct sim_plan *plan = &saved->sd_instance->in_plan;
    for (uint32_t i = 0; i < plan->pl_segment_count; i++) {
        const struct sim_segment *segment = &plan->pl_segments[saved->sd_order[i]];
        for (uint32_t k = 0; k < segment->sg_count; k++)
            SIM_TRY(save_step(&plan->pl_steps[segment->sg_first + k], saver));
    }
    return ACL_SUCCESS;
}

static aclError check_spans(const struct sim_saving *saving)
{
    struct sim_place place;
    for (uint32_t i = 0; i < saving->sa_input_count; i++)
        SIM_TRY(sim_memory_span(saving->sa_inputs[i].rg_address, saving->sa_inputs[i].rg_size, "an input", "its size",
                                &place));
    for (uint32_t i = 0; i < saving->sa_output_count; i++)
        SIM_TRY(sim_memory_span(saving->sa_outputs[i].rg_address, saving->sa_outputs[i].rg_size, "an output",
                                "its size", &place));
    return ACL_SUCCESS;
}

/* A saved model runs each step exactly once. */
static aclError check_activations(const struct sim_plan *plan)
{
    for (uint32_t i = 0; i < plan->pl_segment_count; i++)
        SIM_SUPPORTED(plan->pl_segments[i].sg_activations <= 1,
                      "a stream of modelRI is activated by %u tasks, expected at most one, so that it runs once",
                      plan->pl_segments[i].sg_activations);
    return ACL_SUCCESS;
}

static aclError save(struct sim_instance *instance, struct sim_saving *saving, void *block, size_t *size)
{
    struct saved saved = {instance, NULL};
    bool runs = !sim_gate_passed(&instance->in_finished, instance->in_submitted);
    SIM_CHECK(!runs && sim_capture_instance_state(instance) == SIM_INSTANCE_READY, ACL_ERROR_RT_PARAM_INVALID,
              "modelRI %s, expected one that is complete and does not run",
              runs ? "runs" : "is still being captured, built or updated");
    SIM_TRY(check_activations(&instance->in_plan));
    SIM_TRY(check_spans(saving));
    saved.sd_order = calloc(instance->in_plan.pl_segment_count + 1, sizeof *saved.sd_order);
    SIM_CHECK(saved.sd_order != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the model");
    sim_capture_plan_order(&instance->in_plan, saved.sd_order);
    saving->sa_step_count = instance->in_plan.pl_step_count;
    saving->sa_walk = walk;
    saving->sa_state = &saved;
    aclError code = sim_model_saver_save(saving, block, size);
    free(saved.sd_order);
    return code;
}

aclError sim_capture_save(aclmdlRI handle, struct sim_saving *saving, void *block, size_t *size)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    aclError code = save(instance, saving, block, size);
    sim_object_close(instance);
    return code;
}
