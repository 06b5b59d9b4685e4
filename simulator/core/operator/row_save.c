/* Writes a call as a step of a saved model: u32 length and bytes of the operator's name, u32 number of arguments,
 * then each: u32 kind, u32 present, u64 count, and its contents. A tensor: u32 type, u32 rank, its dimensions, its
 * strides, the place of its bytes; a scalar: u32 type, u32 0, two u64; arrays and texts: their elements; an integer
 * or number: u64. Kernel and workspace are omitted: the process that loads the model plans the call again. There is
 * no state and no lock. */
#include "address/memory.h"
#include "base/bytes.h"
#include "base/saver.h"
#include "call.h"
#include <string.h>

/* A write fills the range if the tensor has as many bytes as its elements need, unless the kernel finds how many of
 * them it writes. */
static enum sim_access access_of(const struct sim_call *call, const aclsimTensor *tensor, uint32_t direction,
                                 uint64_t bytes)
{
    uint64_t needed = sim_type_bits(tensor->type);
    bool fits = !call->ca_resizes;
    for (uint32_t i = 0; i < tensor->rank; i++)
        /* Strides of 0: more elements than bytes. */
        fits = sim_size_multiply(&needed, (uint64_t)tensor->dims[i]) && fits;
    enum sim_access write = fits && needed == bytes * 8 ? SIM_ACCESS_FILL : SIM_ACCESS_WRITE;
    return (direction & ACLSIM_IN ? SIM_ACCESS_READ : 0) | (direction & ACLSIM_OUT ? write : 0);
}

static const struct sim_range *save_tensors(struct sim_saver *saver, const struct sim_call *call,
                                            const aclsimArgument *argument, const struct sim_range *range)
{
    const aclsimTensor *tensors = sim_call_at(call, (uint32_t)argument->integer);
    for (uint64_t i = 0; i < argument->count; i++) {
        const aclsimTensor *tensor = &tensors[i];
        sim_saver_u32(saver, tensor->type);
        sim_saver_u32(saver, tensor->rank);
        sim_saver_bytes(saver, tensor->dims, tensor->rank * sizeof *tensor->dims);
        sim_saver_bytes(saver, tensor->strides, tensor->rank * sizeof *tensor->strides);
        if (tensor->data == NULL) {
            sim_saver_place(saver, NULL, 0, 0);
            continue;
        }
        sim_saver_place(saver, range->rg_address, range->rg_size,
                        access_of(call, tensor, argument->direction, range->rg_size));
        range++;
    }
    return range;
}

static void save_scalars(struct sim_saver *saver, const struct sim_call *call, const aclsimArgument *argument)
{
    const aclsimScalar *scalars = sim_call_at(call, (uint32_t)argument->integer);
    for (uint64_t i = 0; i < argument->count; i++) {
        sim_saver_u32(saver, scalars[i].type);
        sim_saver_u32(saver, 0);
        sim_saver_bytes(saver, scalars[i].value, sizeof scalars[i].value);
    }
}

static size_t element_size(aclsimArgumentKind kind)
{
    return kind == ACLSIM_INTEGERS ? sizeof(int64_t) : kind == ACLSIM_FLOATS ? sizeof(float) : 1;
}

aclError sim_row_save(const void *argument, struct sim_saver *saver)
{
    const struct sim_call *call = argument;
    const struct sim_range *range = sim_call_at(call, call->ca_ranges);
    const char *name = call->ca_row->ro_op.op_name;
    sim_saver_step(saver, SIM_SAVED_CALL);
    sim_saver_u32(saver, (uint32_t)strlen(name));
    sim_saver_bytes(saver, name, strlen(name));
    sim_saver_u32(saver, (uint32_t)call->ca_row->ro_count);
    for (size_t i = 0; i < call->ca_row->ro_count; i++) {
        const aclsimArgument *packed = &sim_call_arguments(call)[i];
        sim_saver_u32(saver, packed->kind);
        sim_saver_u32(saver, packed->present);
        sim_saver_u64(saver, packed->count);
        if (packed->kind >= ACLSIM_INTEGER)
            sim_saver_u64(saver, (uint64_t)packed->integer);
        else if (!packed->present)
            continue;
        else if (packed->kind <= ACLSIM_TENSOR_LIST)
            range = save_tensors(saver, call, packed, range);
        else if (packed->kind <= ACLSIM_SCALAR_LIST)
            save_scalars(saver, call, packed);
        else
            sim_saver_bytes(saver, sim_call_at(call, (uint32_t)packed->integer),
                            packed->count * element_size(packed->kind));
    }
    return ACL_SUCCESS;
}
