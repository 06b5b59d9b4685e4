/* Inputs that share bytes with outputs: what a kernel writes would change what it has yet to read. A call that has such
 * inputs is run with copies of them, so that every operator gives what it gives with outputs of their own. An output that
 * is one of its inputs, element for element, is no such case for kernels that say so (kn_in_place): they read each
 * element, or each line of them, before they write it. */
#include "call.h"

#include "memory.h"
#include <stdlib.h>
#include <string.h>

static bool meet(const struct sim_range *one, const struct sim_range *other)
{
    uintptr_t start = (uintptr_t)one->rg_address, other_start = (uintptr_t)other->rg_address;
    return start < other_start + other->rg_size && other_start < start + one->rg_size;
}

/* Whether the same index leads to the same bytes in both. */
static bool is_same_view(const aclsimTensor *one, const aclsimTensor *other)
{
    if (one->data != other->data || one->rank != other->rank || sim_type_bits(one->type) != sim_type_bits(other->type))
        return false;
    for (uint32_t k = 0; k < one->rank; k++)
        if (one->dims[k] != other->dims[k] || (one->dims[k] != 1 && one->strides[k] != other->strides[k]))
            return false;
    return true;
}

/* Whether the cursor is at an input that an output would change. */
static bool collides(const struct sim_call_cursor *input)
{
    const struct sim_call *call = input->cu_call;
    if (input->cu_range->rg_write)
        return false;
    for (struct sim_call_cursor output = sim_call_start(call); sim_call_next(&output);)
        if (output.cu_range->rg_write && meet(input->cu_range, output.cu_range) &&
            !(call->ca_kernel.kn_in_place && is_same_view(input->cu_tensor, output.cu_tensor)))
            return true;
    return false;
}

bool sim_call_overlaps(const struct sim_call *call)
{
    for (struct sim_call_cursor input = sim_call_start(call); sim_call_next(&input);)
        if (collides(&input))
            return true;
    return false;
}

/* Bytes for a copy that lies as far behind a boundary as what is copied: sums may be cut up by alignment. */
#define BOUNDARY 64

static size_t room_for(const struct sim_range *range)
{
    return ((size_t)range->rg_size + 2 * BOUNDARY - 1) / BOUNDARY * BOUNDARY;
}

struct sim_call *sim_call_apart(const struct sim_call *call)
{
    size_t size = ((size_t)call->ca_size + BOUNDARY - 1) / BOUNDARY * BOUNDARY, at = size;
    for (struct sim_call_cursor input = sim_call_start(call); sim_call_next(&input);)
        if (collides(&input))
            size += room_for(input.cu_range);
    struct sim_call *apart = aligned_alloc(BOUNDARY, size);
    if (apart == NULL)
        return NULL;
    memcpy(apart, call, call->ca_size);
    struct sim_call_cursor changed = sim_call_start(apart);
    for (struct sim_call_cursor input = sim_call_start(call); sim_call_next(&input) && sim_call_next(&changed);) {
        if (!collides(&input))
            continue;
        char *low = sim_memory_reach(input.cu_range->rg_address);
        char *copy = (char *)apart + at + (uintptr_t)low % BOUNDARY;
        memcpy(copy, low, (size_t)input.cu_range->rg_size);
        changed.cu_tensor->data = copy + ((char *)input.cu_tensor->data - low);
        at += room_for(input.cu_range);
    }
    return apart;
}
