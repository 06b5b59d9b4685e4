/* The argument of an execution's task, shared by the files that create and run it (model_execute.c,
 * model_prepare.c). */
#ifndef SIM_MODEL_CALL_H
#define SIM_MODEL_CALL_H

#include "dataset.h"
#include "model_aipp.h"

#define SIM_MODEL_CALL_SLACK 64 /* a buffer may be this many bytes smaller than the model requires */

#define SIM_MODEL_CALL_RANK_MAX 8 /* most dimensions of a tensor that an executor gets */

struct sim_operand {
    void *op_address; /* the program's address */
    uint64_t op_bytes; /* of the buffer, at most the bytes that the model needs in its largest gear */
    uint32_t op_port;
    uint32_t op_rank; /* rank of the actual shape, if the model's shapes are dynamic */
    int64_t op_dims[SIM_MODEL_CALL_RANK_MAX];
};

/* Ranges, operands, tensors and capacities follow, in this order; inputs come first. */
struct sim_model_call {
    uint32_t ca_model;
    uint32_t ca_inputs, ca_outputs;
    uint32_t ca_gear_operand; /* index of the input that carries the gear; ca_inputs if there is none */
    bool ca_exact; /* every input is read to its end: no gears, no dynamic shapes, no AIPP */
    uint32_t ca_aipp_operand; /* index of the input that carries AIPP parameters; ca_inputs if there is none */
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

/* Whether an execution needs no preparation (model_prepare.c): no AIPP, and buffers for the largest gear. */
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

/* Bytes that a port needs in a gear (SIM_EVERY_GEAR: the largest one); 0: not known before the execution. */
uint64_t sim_model_call_needed(const struct sim_signature *signature, uint32_t port, bool output, int64_t gear);

/* Memory that an execution uses instead of the program's: preprocessed images, and full-size tensors for buffers that
 * are slightly too short. */
struct sim_prepared {
    void *pr_images[SIM_STATIC_AIPP_MAX + 1];
    unsigned char *pr_short; /* the full-size tensors back to back, inputs first */
};

/* Replaces short buffers and images. Returns NULL, or the reason why it cannot, which may be in `text`. The caller
 * calls sim_model_call_finish in both cases. */
const char *sim_model_call_prepare(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                             struct sim_prepared *prepared, char text[SIM_REASON_BYTES]);
/* After a successful execution copies short outputs back, as far as the buffers reach. Frees the replacements. */
void sim_model_call_finish(const struct sim_signature *signature, const struct sim_model_call *call, int64_t gear,
                     struct sim_prepared *prepared, bool well);

#endif
