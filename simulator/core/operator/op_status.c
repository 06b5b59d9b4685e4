/* Design notes
 *
 * The overflow status as operators: NPUAllocFloatStatus, NPUGetFloatStatus, NPUClearFloatStatus and their second
 * versions. They have no schema, because they depend on their stream and not on their tensors. Each is one task, which
 * clears the status if that is the operator's work, and then writes it to the first element of all tensors of the call,
 * and zeros to the others. So it is also in the input of the first versions, where a card puts it.
 *
 * This file has no state and no lock. */
#include "op_status.h"

#include "address/memory.h"
#include "engine/stream.h"
#include "memory/saturation.h"

#define ELEMENTS 8
#define MOST_TENSORS 2

enum work { ALLOC, GET, CLEAR };

struct kind {
    uint32_t ki_inputs, ki_outputs;
    enum work ki_work;
    struct sim_op ki_op; /* named after the type */
};

/* The argument of a task; the ranges come first. */
struct job {
    struct sim_range jo_ranges[MOST_TENSORS];
    const struct kind *jo_kind;
    bool jo_is_float[MOST_TENSORS];
};

static aclError run(struct sim_run *run, void *argument)
{
    const struct job *job = argument;
    if (job->jo_kind->ki_work == CLEAR)
        sim_saturation_set_status(run->rn_stream, false);
    const bool overflow = job->jo_kind->ki_work != ALLOC && sim_saturation_status(run->rn_stream);
    for (uint32_t i = 0; i < job->jo_kind->ki_op.op_range_count; i++) {
        const int32_t words[ELEMENTS] = {overflow};
        const float floats[ELEMENTS] = {overflow};
        memcpy(sim_memory_engine(job->jo_ranges[i].rg_address), job->jo_is_float[i] ? (const void *)floats : words,
               sizeof words);
    }
    return ACL_SUCCESS;
}

#define KIND(name, inputs, outputs, work)                                                                              \
    {(inputs), (outputs), (work),                                                                                      \
     {.op_name = (name), .op_run = run, .op_range_count = (inputs) + (outputs), .op_flags = SIM_OP_LIGHT,              \
      .op_kind = SIM_TASK_OTHER}}

static const struct kind kinds[] = {
    KIND("NPUAllocFloatStatus", 0, 1, ALLOC), KIND("NPUGetFloatStatus", 1, 1, GET),
    KIND("NPUGetFloatStatusV2", 0, 1, GET),   KIND("NPUClearFloatStatus", 1, 1, CLEAR),
    KIND("NPUClearFloatStatusV2", 0, 0, CLEAR),
};

static const struct kind *find(const struct sim_op_request *request)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].ki_op.op_name, request->rq_type) == 0)
            return &kinds[i];
    return NULL;
}

bool sim_op_status_is(const struct sim_op_request *request)
{
    return find(request) != NULL;
}

aclError sim_op_status_check(const struct sim_op_request *request)
{
    const struct kind *kind = find(request);
    SIM_ARGUMENT(request->rq_input_count == kind->ki_inputs, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "numInputs is %u, expected %u for %s", request->rq_input_count, kind->ki_inputs, request->rq_type);
    SIM_ARGUMENT(request->rq_output_count == kind->ki_outputs, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "numOutputs is %u, expected %u for %s", request->rq_output_count, kind->ki_outputs, request->rq_type);
    for (uint32_t i = 0; i < kind->ki_op.op_range_count; i++) {
        const struct sim_op_tensor *tensor = &request->rq_tensors[i];
        const bool is_one = tensor->ot_type == ACL_FLOAT || tensor->ot_type == ACL_INT32;
        SIM_ARGUMENT(is_one && tensor->ot_bytes == ELEMENTS * sizeof(float), ACL_ERROR_OP_NOT_FOUND,
                     "tensor %u of %s has data type %d and %llu bytes, expected %d numbers of ACL_FLOAT (0) or "
                     "ACL_INT32 (3)", i, request->rq_type, (int)tensor->ot_type, (unsigned long long)tensor->ot_bytes,
                     ELEMENTS);
    }
    return ACL_SUCCESS;
}

aclError sim_op_status_submit(const struct sim_op_request *request, struct sim_target target, void *site)
{
    struct job job = {.jo_kind = find(request)};
    SIM_TRY(sim_stream_refuse_captured(target.tg_stream));
    for (uint32_t i = 0; i < job.jo_kind->ki_op.op_range_count; i++) {
        const struct sim_op_tensor *tensor = &request->rq_tensors[i];
        job.jo_ranges[i] = (struct sim_range){.rg_address = tensor->ot_data, .rg_size = tensor->ot_bytes,
                                              .rg_write = true};
        job.jo_is_float[i] = tensor->ot_type == ACL_FLOAT;
        SIM_TRY(sim_memory_claim(&job.jo_ranges[i], i < request->rq_input_count ? "inputs" : "outputs"));
    }
    return sim_engine_submit(target, &job.jo_kind->ki_op, &job, sizeof job, site, NULL);
}
