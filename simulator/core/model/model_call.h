/* The argument of a model's run, shared by the files that make and run it (model_execute.c, model_prepare.c). */
#ifndef SIM_MODEL_CALL_H
#define SIM_MODEL_CALL_H

#include "dataset.h"
#include "model_aipp.h"

#define SIM_MODEL_CALL_SLACK 64 /* a buffer may be this much smaller than the model asks for */

#define SIM_MODEL_CALL_RANK_MAX 8 /* of a tensor that something runs on */

struct sim_operand {
    void *op_address; /* as the program knows it */
    uint64_t op_bytes; /* of the buffer, at most what the model needs in its largest gear */
    uint32_t op_port;
    uint32_t op_rank; /* of the real shape, where the model's is not known before the run */
    int64_t op_dims[SIM_MODEL_CALL_RANK_MAX];
};

/* Ranges, operands, tensors and capacities follow, in this order; inputs come first. */
struct sim_model_call {
    uint32_t ca_model;
    uint32_t ca_inputs, ca_outputs;
    uint32_t ca_gear_operand; /* which input carries the gear; as many as there are inputs: none */
    uint32_t ca_aipp_operand; /* which one carries parameters of AIPP; the same */
    const aclmdlDataset *ca_output;
    struct sim_range ca_ranges[];
};

static inline uint32_t sim_model_call_count(const struct sim_model_call *call)
{
    return call->ca_inputs + call->ca_outputs;
}

static inline struct sim_operand *sim_model_call_operands(const struct sim_model_call *call)
{
    return (struct sim_operand *)(uintptr_t)(call->ca_ranges + sim_model_call_count(call));
}

static inline aclsimTensor *sim_model_call_tensors(const struct sim_model_call *call)
{
    return (aclsimTensor *)(sim_model_call_operands(call) + sim_model_call_count(call));
}

static inline uint64_t *sim_model_call_capacities(const struct sim_model_call *call)
{
    return (uint64_t *)(sim_model_call_tensors(call) + sim_model_call_count(call));
}

/* Whether a run needs nothing of what model_prepare.c does: no AIPP, and buffers for the largest gear. */
static inline bool sim_model_call_is_plain(const struct sim_signature *signature, const struct sim_model_call *call)
{
    const struct sim_operand *operand = sim_model_call_operands(call);
    bool plain = signature->sg_aipp_count == 0 && call->ca_aipp_operand == call->ca_inputs;
    for (uint32_t i = 0; i < call->ca_inputs && !signature->sg_dynamic; i++, operand++)
        plain = plain && operand->op_bytes >= signature->sg_inputs[operand->op_port].po_bytes;
    for (uint32_t i = 0; i < call->ca_outputs && !signature->sg_dynamic; i++, operand++)
        plain = plain && operand->op_bytes >= signature->sg_outputs[operand->op_port].po_bytes;
    return plain;
}

/* Bytes that a port needs in a gear (SIM_EVERY_GEAR: the largest one); 0: not known before the run. */
uint64_t sim_model_call_needed(const struct sim_signature *signature, uint32_t port, bool output, int64_t gear);

/* What a run puts in the place of the program's memory: preprocessed images, and whole tensors for buffers that are a
 * little shorter. */
struct sim_prepared {
    void *pr_images[SIM_STATIC_AIPP_MAX + 1];
    unsigned char *pr_short; /* one after the other, inputs first */
};

/* NULL, or why the run cannot be, which goes into text; sim_model_call_finish either way. */
const char *sim_model_call_prepare(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                             struct sim_prepared *prepared, char text[SIM_REASON_BYTES]);
/* Copies the bytes that there is room for into short outputs, if the run went well, and frees what took their place. */
void sim_model_call_finish(const struct sim_signature *signature, const struct sim_model_call *call, int64_t gear,
                     struct sim_prepared *prepared, bool well);

#endif
