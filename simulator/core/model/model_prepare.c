/* This file prepares the program's buffers for the executor of a model: it replaces short buffers and images with AIPP.
 *
 * A buffer may be up to 64 bytes shorter than the gear of the execution needs. Then a full-size tensor replaces it, so
 * that no byte behind the buffer is read or written; of a longer buffer only the bytes of the gear are used. The
 * execution owns the replacements (struct sim_prepared) and frees them. No lock is needed: the task alone uses its
 * argument. */
#include "address/memory.h"
#include "model_call.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t sim_model_call_needed(const struct sim_signature *signature, uint32_t port, bool output, int64_t gear)
{
    const struct sim_port *found = output ? &signature->sg_outputs[port] : &signature->sg_inputs[port];
    int64_t dims[ACL_MAX_DIM_CNT];
    const int64_t *used = dims;
    uint32_t rank = found->po_rank;
    if (gear < 0 || gear >= signature->sg_gear_count)
        return found->po_bytes;
    if (!output && sim_model_aipp_has_images(signature, port))
        return sim_model_aipp_input_bytes(signature, port, gear);
    if (output)
        used = sim_model_signature_output(signature, port, gear, &rank);
    else
        sim_model_signature_input(signature, port, gear, dims);
    uint64_t bytes = sim_model_shape_bytes(found->po_type, used, rank);
    return bytes == 0 || bytes > found->po_bytes ? found->po_bytes : bytes; /* the file may lack the gear's shape */
}

/* ---- short buffers ---- */

#define ROUNDED(bytes) (((bytes) + 63) / 64 * 64) /* so that each tensor is aligned for any type */

static uint64_t needed_at(const struct sim_signature *signature, const struct sim_model_call *call, uint32_t at,
                          int64_t gear)
{
    return sim_model_call_needed(signature, sim_model_call_operands(call)[at].op_port, at >= call->ca_inputs, gear);
}

static bool is_control(const struct sim_signature *signature, const struct sim_model_call *call, uint32_t at)
{
    return at < call->ca_inputs && sim_model_port_is_control(&signature->sg_inputs[at]);
}

/* The tensor of an operand. Control inputs have no tensor, so later inputs move up. */
static aclsimTensor *tensor_at(const struct sim_signature *signature, const struct sim_model_call *call, uint32_t at)
{
    uint32_t place = at;
    for (uint32_t i = 0; i < at && at < call->ca_inputs; i++)
        place -= sim_model_port_is_control(&signature->sg_inputs[i]);
    return &sim_model_call_tensors(call)[place];
}

static bool is_short(const struct sim_signature *signature, const struct sim_model_call *call, uint32_t at,
                     int64_t gear)
{
    const struct sim_operand *operand = &sim_model_call_operands(call)[at];
    const struct sim_port *ports = at < call->ca_inputs ? signature->sg_inputs : signature->sg_outputs;
    if (likely(operand->op_bytes >= ports[operand->op_port].po_bytes)) /* of the largest gear */
        return false;
    return !is_control(signature, call, at) && operand->op_bytes < needed_at(signature, call, at, gear);
}

/* The bytes for all replacements. *worst is the first operand that is too short to be replaced, or the count of
 * operands if there is none. */
static uint64_t count_short(const struct sim_signature *signature, const struct sim_model_call *call, int64_t gear,
                            uint32_t *worst)
{
    uint64_t total = 0;
    *worst = sim_model_call_count(call);
    for (uint32_t at = 0; at < sim_model_call_count(call); at++) {
        if (likely(!is_short(signature, call, at, gear)))
            continue;
        uint64_t needed = needed_at(signature, call, at, gear);
        if (*worst > at && sim_model_call_operands(call)[at].op_bytes + SIM_MODEL_CALL_SLACK < needed)
            *worst = at;
        total += ROUNDED(needed);
    }
    return total;
}

static const char *widen(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                         struct sim_prepared *prepared, char text[SIM_REASON_BYTES])
{
    uint32_t worst;
    uint64_t total = count_short(signature, call, gear, &worst);
    if (likely(total == 0))
        return NULL;
    if (worst != sim_model_call_count(call)) { /* another gear was set after the submission */
        bool output = worst >= call->ca_inputs;
        const struct sim_operand *operand = &sim_model_call_operands(call)[worst];
        const struct sim_port *port = output ? signature->sg_outputs : signature->sg_inputs;
        snprintf(text, SIM_REASON_BYTES, "%s %u (%.100s) has %llu bytes, expected %llu for the gear that was set last",
                 output ? "output" : "input", operand->op_port, port[operand->op_port].po_name,
                 (unsigned long long)operand->op_bytes, (unsigned long long)needed_at(signature, call, worst, gear));
        return text;
    }
    unsigned char *next = prepared->pr_short = calloc(1, total);
    if (next == NULL)
        return "there is no memory to extend its short buffers";
    for (uint32_t at = 0; at < sim_model_call_count(call); at++) {
        if (!is_short(signature, call, at, gear))
            continue;
        aclsimTensor *tensor = tensor_at(signature, call, at);
        if (at < call->ca_inputs)
            memcpy(next, tensor->data, sim_model_call_operands(call)[at].op_bytes);
        else
            sim_model_call_capacities(call)[at - call->ca_inputs] = needed_at(signature, call, at, gear);
        tensor->data = next;
        next += ROUNDED(needed_at(signature, call, at, gear));
    }
    return NULL;
}

void sim_model_call_finish(const struct sim_signature *signature, const struct sim_model_call *call, int64_t gear,
                     struct sim_prepared *prepared, bool well)
{
    bool images = signature->sg_aipp_count != 0 || call->ca_aipp_operand != call->ca_inputs;
    for (size_t i = 0; images && i < sizeof prepared->pr_images / sizeof *prepared->pr_images; i++)
        free(prepared->pr_images[i]);
    for (uint32_t at = call->ca_inputs; prepared->pr_short != NULL && well && at < sim_model_call_count(call); at++) {
        const struct sim_operand *operand = &sim_model_call_operands(call)[at];
        if (is_short(signature, call, at, gear))
            memcpy(sim_memory_reach(operand->op_address), tensor_at(signature, call, at)->data, operand->op_bytes);
    }
    free(prepared->pr_short);
}

/* ---- images ---- */

static const char *apply(const struct sim_signature *signature, struct sim_model_call *call, uint32_t input,
                         struct sim_aipp_source source, aclFormat format, uint64_t raw_size, void **converted)
{
    return sim_model_aipp_apply(source, raw_size, format, tensor_at(signature, call, input), converted);
}

/* Replaces the program's images by preprocessed ones. */
static const char *prepare_images(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                                  struct sim_prepared *prepared)
{
    const char *reason = NULL;
    for (uint32_t i = 0; i < signature->sg_aipp_count && reason == NULL; i++) {
        const struct sim_static_aipp *aipp = &signature->sg_aipp[i];
        struct sim_aipp_source source = {aipp->sa_block, sizeof aipp->sa_block, true};
        tensor_at(signature, call, aipp->sa_input)->type = aipp->sa_type;
        reason = apply(signature, call, aipp->sa_input, source, aipp->sa_format,
                       needed_at(signature, call, aipp->sa_input, gear), &prepared->pr_images[i]);
    }
    if (reason != NULL || call->ca_aipp_operand == call->ca_inputs)
        return reason;
    const struct sim_operand *parameters = &sim_model_call_operands(call)[call->ca_aipp_operand];
    uint32_t images = sim_model_aipp_images(signature);
    if (!sim_model_aipp_is_applied(signature, images))
        return "it has no input that AIPP can be applied to";
    struct sim_aipp_source source = {sim_memory_reach(parameters->op_address), parameters->op_bytes, false};
    return apply(signature, call, images, source, signature->sg_inputs[images].po_format,
                 needed_at(signature, call, images, gear), &prepared->pr_images[SIM_STATIC_AIPP_MAX]);
}

const char *sim_model_call_prepare(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                             struct sim_prepared *prepared, char text[SIM_REASON_BYTES])
{
    const char *reason = signature->sg_dynamic ? NULL : widen(signature, call, gear, prepared, text);
    return reason != NULL ? reason : prepare_images(signature, call, gear, prepared);
}
