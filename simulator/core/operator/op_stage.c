/* Inputs of single operators that are in host memory: the public call copies them to the device. This file has no state
 * and no lock. */
#include "op_type.h"

#include "address/memory.h"
#include "call.h"

#define STAGE_ALIGNMENT 64

void sim_op_stage_constants(const struct sim_op_request *request)
{
    for (uint32_t i = 0; i < request->rq_input_count; i++) {
        struct sim_op_tensor *tensor = &request->rq_tensors[i];
        if (tensor->ot_data != NULL || tensor->ot_constant_size == 0 || tensor->ot_bytes > SIM_CONSTANT_BYTES ||
            tensor->ot_bytes > tensor->ot_constant_size)
            continue;
        tensor->ot_data = tensor->ot_constant;
        tensor->ot_size = tensor->ot_constant_size;
        tensor->ot_placement = ACL_MEMTYPE_HOST;
    }
}

/* If the operand is an input in host memory, sets *bytes to its address, otherwise to NULL. */
static aclError find_staged(const struct sim_op_request *request, const struct sim_operand *operand, const void **bytes)
{
    size_t size;
    *bytes = NULL;
    for (uint32_t i = 0; i < request->rq_input_count && operand->od_direction == ACLSIM_IN; i++) {
        const struct sim_op_tensor *tensor = &request->rq_tensors[i];
        if (tensor->ot_placement == ACL_MEMTYPE_DEVICE || operand->od_bytes == 0 || tensor->ot_data != operand->od_data)
            continue;
        SIM_TRY(sim_op_host_bytes(request, i, bytes, &size));
        *bytes = tensor->ot_data;
        return ACL_SUCCESS;
    }
    return ACL_SUCCESS;
}

static uint64_t staged_size(const struct sim_operand *operand)
{
    return (operand->od_bytes + STAGE_ALIGNMENT - 1) / STAGE_ALIGNMENT * STAGE_ALIGNMENT;
}

aclError sim_op_stage(const struct sim_op_request *request, const struct sim_pack *pack, struct sim_target target,
                      void **block)
{
    const void *bytes;
    uint64_t total = 0, offset = 0;
    *block = NULL;
    for (uint32_t i = 0; i < pack->pk_count; i++) {
        SIM_TRY(find_staged(request, &pack->pk_operands[i], &bytes));
        total += bytes != NULL ? staged_size(&pack->pk_operands[i]) : 0;
    }
    if (total == 0)
        return ACL_SUCCESS;
    SIM_SUPPORTED(sim_stream_taken(target.tg_stream) == SIM_TAKEN_NOT,
                  "%s has inputs in host memory, which a captured single operator would read only once: expected "
                  "device memory", request->rq_type);
    SIM_TRY(sim_memory_take(block, total));
    for (uint32_t i = 0; i < pack->pk_count; i++) {
        struct sim_operand *operand = &pack->pk_operands[i];
        SIM_TRY(find_staged(request, operand, &bytes));
        if (bytes == NULL)
            continue;
        memcpy((char *)sim_memory_reach(*block) + offset, (const char *)bytes + operand->od_low, operand->od_bytes);
        operand->od_data = (char *)*block + offset - operand->od_low;
        offset += staged_size(operand);
    }
    return ACL_SUCCESS;
}
