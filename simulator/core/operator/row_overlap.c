/* Tensors of one call that share bytes. Overlapping outputs are refused, because the result would depend on the order
 * of the writes.
 *
 * If an input overlaps an output, the kernel could overwrite elements that it has yet to read. Such a call runs with
 * copies of these inputs, so that its result is the same as with separate outputs. Kernels marked kn_in_place need no
 * copy of an input that matches the output element for element: they read each element, or each line, before they write
 * it.
 *
 * This file has no state and no lock; the caller owns the copies. */
#include "call.h"

#include "address/memory.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <stdio.h>
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

/* A cheap test first: in nearly every call, no range that is read overlaps one that is written. */
static bool ranges_meet(const struct sim_call *call)
{
    const struct sim_range *ranges = sim_call_at(call, call->ca_ranges), *end = ranges + call->ca_range_count;
    for (const struct sim_range *output = ranges; output < end; output++)
        for (const struct sim_range *input = ranges; output->rg_write && input < end; input++)
            if (!input->rg_write && unlikely(meet(input, output)))
                return true;
    return false;
}

bool sim_row_overlaps(const struct sim_call *call)
{
    if (likely(!ranges_meet(call)))
        return false;
    for (struct sim_call_cursor input = sim_call_start(call); sim_call_next(&input);)
        if (collides(&input))
            return true;
    return false;
}

/* A copy has the same offset from this boundary as the original, because sums may be split by alignment. */
#define BOUNDARY 64

static size_t room_for(const struct sim_range *range)
{
    return ((size_t)range->rg_size + 2 * BOUNDARY - 1) / BOUNDARY * BOUNDARY;
}

struct sim_call *sim_row_overlap_apart(const struct sim_call *call)
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

/* ---- outputs that share bytes ---- */

/* A view without the dimensions that repeat the same bytes. */
struct view {
    const struct sim_range *vi_range;
    uint64_t vi_elements;
    uint64_t vi_size; /* bytes of an element */
    uint32_t vi_rank;
    int64_t vi_dims[sizeof((aclsimTensor *)0)->dims / sizeof(int64_t)];
    int64_t vi_steps[sizeof((aclsimTensor *)0)->dims / sizeof(int64_t)]; /* in bytes */
    uintptr_t vi_first;                                                  /* address of the first element */
};

static struct view view_of(const struct sim_call_cursor *at)
{
    const aclsimTensor *tensor = at->cu_tensor;
    struct view view = {.vi_range = at->cu_range, .vi_elements = 1, .vi_size = (sim_type_bits(tensor->type) + 7) / 8};
    uintptr_t first = (uintptr_t)at->cu_range->rg_address;
    for (uint32_t k = 0; k < tensor->rank; k++) {
        if (tensor->dims[k] == 1 || tensor->strides[k] == 0)
            continue;
        int64_t step = tensor->strides[k] * (int64_t)view.vi_size;
        view.vi_dims[view.vi_rank] = tensor->dims[k];
        view.vi_steps[view.vi_rank++] = step;
        first -= step < 0 ? (uintptr_t)(step * (tensor->dims[k] - 1)) : 0; /* the range begins at the lowest byte */
        if (!sim_size_multiply(&view.vi_elements, (uint64_t)tensor->dims[k]))
            view.vi_elements = UINT64_MAX;
    }
    view.vi_first = first;
    return view;
}

/* One bit for each byte that both ranges have. */
struct marks {
    uintptr_t mk_low, mk_end;
    unsigned char *mk_bits;
};

/* Marks the bytes of an element, or (ask) returns whether one is marked. */
static bool visit(const struct marks *marks, uintptr_t at, uint64_t size, bool ask)
{
    for (uintptr_t byte = at; byte < at + size; byte++) {
        if (byte < marks->mk_low || byte >= marks->mk_end)
            continue;
        unsigned char *bits = &marks->mk_bits[(byte - marks->mk_low) / 8], bit = 1u << (byte - marks->mk_low) % 8;
        if (ask && (*bits & bit) != 0)
            return true;
        *bits |= ask ? 0 : bit;
    }
    return false;
}

static bool visit_all(const struct marks *marks, const struct view *view, bool ask)
{
    int64_t at[sizeof view->vi_dims / sizeof *view->vi_dims] = {0};
    uintptr_t place = view->vi_first;
    for (uint64_t i = 0; i < view->vi_elements; i++) {
        if (visit(marks, place, view->vi_size, ask))
            return true;
        for (uint32_t k = view->vi_rank; k > 0; k--) {
            place += (uintptr_t)view->vi_steps[k - 1];
            if (++at[k - 1] < view->vi_dims[k - 1])
                break;
            place -= (uintptr_t)(view->vi_steps[k - 1] * view->vi_dims[k - 1]);
            at[k - 1] = 0;
        }
    }
    return false;
}

/* Views whose ranges overlap may still be interleaved without a common byte, like columns of a matrix. A view with
 * more elements than bytes overlaps itself, and is treated as sharing bytes. */
static aclnnStatus share_bytes(const struct view *one, const struct view *other, bool *shared)
{
    uint64_t bytes = one->vi_range->rg_size, other_bytes = other->vi_range->rg_size;
    uintptr_t low = (uintptr_t)one->vi_range->rg_address, other_low = (uintptr_t)other->vi_range->rg_address;
    struct marks marks = {low > other_low ? low : other_low,
                          low + bytes < other_low + other_bytes ? low + bytes : other_low + other_bytes, NULL};
    *shared = one->vi_elements >= bytes / one->vi_size && other->vi_elements >= other_bytes / other->vi_size;
    if (*shared)
        return ACL_SUCCESS;
    *shared = one->vi_elements > bytes || other->vi_elements > other_bytes;
    if (*shared)
        return ACL_SUCCESS;
    marks.mk_bits = calloc((marks.mk_end - marks.mk_low + 7) / 8, 1);
    SIM_ARGUMENT(marks.mk_bits != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory to compare its outputs");
    visit_all(&marks, one, false);
    *shared = visit_all(&marks, other, true);
    free(marks.mk_bits);
    return ACL_SUCCESS;
}

/* "out", or for a list "out[2]". */
static const char *name_of(const struct sim_call_cursor *at, char text[64])
{
    const aclsimArgument *argument = &sim_call_arguments(at->cu_call)[at->cu_argument];
    if (argument->kind != ACLSIM_TENSOR_LIST)
        return argument->name;
    snprintf(text, 64, "%.40s[%llu]", argument->name, (unsigned long long)at->cu_member - 1);
    return text;
}

aclnnStatus sim_row_overlap_check_outputs(const struct sim_call *call)
{
    for (struct sim_call_cursor one = sim_call_start(call); sim_call_next(&one);) {
        if (!one.cu_range->rg_write)
            continue;
        for (struct sim_call_cursor other = one; sim_call_next(&other);) {
            if (likely(!other.cu_range->rg_write || !meet(one.cu_range, other.cu_range)))
                continue;
            char names[2][64];
            bool shared;
            const struct view views[] = {view_of(&one), view_of(&other)};
            SIM_TRY(share_bytes(&views[0], &views[1], &shared));
            SIM_ARGUMENT(!shared, ACLNN_ERR_PARAM_INVALID,
                         "%s and %s are both written and overlap, expected separate memory for each",
                         name_of(&one, names[0]), name_of(&other, names[1]));
        }
    }
    return ACL_SUCCESS;
}
