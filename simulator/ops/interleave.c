/* Operators that reorder or repeat elements along a dimension: Roll, ChannelShuffle and the RepeatInterleave operators.
 * Elements are copied bit by bit. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "require.h"
#include "walk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Roll: x, shifts, dims, out; without dims, the elements are rolled in the order of their indices ---- */

#define ROLLED (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE | SIM_TYPE(ACL_UINT32))

/* The shift as a number from 0 to `length` - 1. */
static int64_t wrap(int64_t shift, int64_t length)
{
    int64_t rest = length == 0 ? 0 : shift % length;
    return rest < 0 ? rest + length : rest;
}

/* Finds by how many elements each dimension is rolled. A dimension may be given several times. */
static aclnnStatus find_shifts(const aclsimCall *call, int64_t *shifts)
{
    const aclsimTensor *x = call->arguments[0].tensors;
    const aclsimArgument *given = &call->arguments[1], *dims = &call->arguments[2];
    memset(shifts, 0, SIM_RANK * sizeof *shifts);
    for (uint64_t i = 0; i < dims->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument one = {.name = name, .kind = ACLSIM_INTEGER, .integer = dims->integers[i]};
        uint32_t dim = 0;
        sim_require_name(dims, i, name);
        SIM_TRY(sim_require_dim(&one, x->rank, &dim));
        int64_t length = x->rank == 0 ? 1 : x->dims[dim];
        shifts[dim] = wrap(shifts[dim] - length + wrap(given->integers[i], length), length); /* does not overflow */
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan_roll(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0], *dims = &call->arguments[2], *out = &call->arguments[3];
    int64_t shifts[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, out, ROLLED));
    SIM_TRY(sim_require_count(&call->arguments[1], dims->count == 0 ? 1 : dims->count));
    SIM_TRY(find_shifts(call, shifts));
    return sim_require_shape(out, x->tensors->dims, x->tensors->rank, "that of x");
}

/* The elements are copied twice into host memory, one copy after the other, so that each rolled order is a part of
 * it. */
static aclError roll_all(const aclsimTensor *x, const aclsimTensor *out, int64_t shift)
{
    int64_t length = sim_walk_count(x);
    uint64_t bytes = sim_element_size(x->type);
    bool fits = length >= 0 && sim_size_multiply(&bytes, (uint64_t)length) && bytes <= SIZE_MAX / 2;
    char *memory = fits ? malloc(2 * bytes) : NULL;
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for the elements of x");
    aclsimTensor line = {.data = memory, .strides = {1}, .type = x->type};
    aclsimTensor view = sim_walk_fold(&line, x);
    sim_walk_copy(&view, x);
    memcpy(memory + bytes, memory, bytes);
    sim_walk_advance(&line, length - wrap(shift, length));
    view = sim_walk_fold(&line, x);
    sim_walk_copy(out, &view);
    free(memory);
    return ACL_SUCCESS;
}

/* Each dimension has two parts, before and behind the element that becomes the first; each combination of these is a
 * block that is copied by itself. */
static aclError run_roll(const aclsimCall *call)
{
    const aclsimTensor *x = call->arguments[0].tensors, *out = call->arguments[3].tensors;
    int64_t shifts[SIM_RANK];
    if (call->arguments[2].count == 0)
        return roll_all(x, out, call->arguments[1].integers[0]);
    SIM_TRY(find_shifts(call, shifts));
    for (unsigned block = 0; block < 1u << x->rank; block++) {
        aclsimTensor to = *out, from = *x;
        bool filled = true;
        for (uint32_t k = 0; k < x->rank && filled; k++) {
            bool wraps = (block >> k & 1) != 0;
            int64_t shift = shifts[k], kept = x->dims[k] - shift;
            to.dims[k] = from.dims[k] = wraps ? shift : kept;
            filled = to.dims[k] != 0;
            if (shift != 0 && wraps)
                sim_walk_advance(&from, kept * x->strides[k]);
            else if (shift != 0)
                sim_walk_advance(&to, shift * out->strides[k]);
        }
        if (filled)
            sim_walk_copy(&to, &from);
    }
    return ACL_SUCCESS;
}

/* ---- ChannelShuffle: self, groups, out; the channels are dimension 1 ---- */

static aclnnStatus plan_shuffle(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *groups = &call->arguments[1], *out = &call->arguments[2];
    const aclsimTensor *tensor = self->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ARITHMETIC));
    SIM_TRY(sim_require_rank(self, 3, SIM_RANK - 1));
    SIM_ARGUMENT(groups->integer > 0 && tensor->dims[1] % groups->integer == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected a divisor of %lld, the channels of %s", groups->name,
                 (long long)groups->integer, (long long)tensor->dims[1], self->name);
    return sim_require_shape(out, tensor->dims, tensor->rank, "that of self");
}

/* The channels are walked over as two dimensions: the groups of self, and the channels of a group. */
static aclError run_shuffle(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[2].tensors;
    int64_t groups = call->arguments[1].integer;
    size_t size = sim_element_size(self->type);
    const size_t sizes[] = {size, size};
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {out->data, self->data};
    for (uint32_t k = 0; k < self->rank; k++) {
        int64_t to = out->strides[k], from = self->strides[k], dim = self->dims[k];
        if (k == 1) {
            sim_walk_add(&walk, groups, (const int64_t[]){to, from * (dim / groups)}, sizes);
            sim_walk_add(&walk, dim / groups, (const int64_t[]){to * groups, from}, sizes);
        } else
            sim_walk_add(&walk, dim, (const int64_t[]){to, from}, sizes);
    }
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, sim_walk_copy_line, &size);
}

/* ---- RepeatInterleave: self, repeats, outputSize, out; WithDim: self, repeats, dim, outputSize, out; repeats is a
 * tensor, or in the forms with Int a number ---- */

#define REPEATED (SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE)

struct interleave {
    const aclsimArgument *in_self, *in_repeats, *in_size, *in_out;
    bool in_flat;      /* without a dimension, the elements are repeated in the order of their indices */
    uint32_t in_dim;   /* the dimension of self; of the result, if it is flat */
    int64_t in_length; /* how many slices or elements are repeated */
};

static aclnnStatus parse(const aclsimCall *call, struct interleave *parsed)
{
    const aclsimArgument *given = call->arguments;
    const size_t last = call->argumentCount - 1;
    *parsed = (struct interleave){&given[0], &given[1], &given[last - 1], &given[last], last == 3, 0, 0};
    const aclsimTensor *self = given[0].tensors;
    SIM_TRY(sim_require_types(&given[0], &given[last], REPEATED));
    if (parsed->in_flat) {
        parsed->in_length = sim_walk_count(self);
        return ACL_SUCCESS;
    }
    SIM_TRY(sim_require_rank(&given[0], 1, SIM_RANK));
    SIM_TRY(sim_require_dim(&given[2], self->rank, &parsed->in_dim));
    parsed->in_length = self->dims[parsed->in_dim];
    return ACL_SUCCESS;
}

/* A number of repeats says how large the result is; the numbers in a tensor are known only when the operator runs. */
static aclnnStatus check_repeats(const struct interleave *parsed)
{
    const aclsimArgument *repeats = parsed->in_repeats, *size = parsed->in_size;
    int64_t whole = parsed->in_length;
    if (repeats->kind == ACLSIM_INTEGER) {
        SIM_TRY(sim_require_natural(repeats));
        SIM_ARGUMENT(sim_length_multiply(&whole, repeats->integer) && whole == size->integer, ACLNN_ERR_PARAM_INVALID,
                     "%s is %lld, expected %lld times %lld, the product of %s and the elements", size->name,
                     (long long)size->integer, (long long)repeats->integer, (long long)parsed->in_length,
                     repeats->name);
        return ACL_SUCCESS;
    }
    SIM_TRY(sim_require_type(repeats, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(repeats, 0, 1));
    int64_t count = sim_walk_count(repeats->tensors);
    SIM_ARGUMENT(count == 1 || count == whole, ACLNN_ERR_PARAM_INVALID, "%s has %lld elements, expected 1 or %lld",
                 repeats->name, (long long)count, (long long)whole);
    return ACL_SUCCESS;
}

static aclnnStatus plan_interleave(const aclsimCall *call, uint64_t *workspace_size)
{
    struct interleave parsed;
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(parse(call, &parsed));
    SIM_TRY(sim_require_natural(parsed.in_size));
    SIM_TRY(check_repeats(&parsed));
    const aclsimTensor *self = parsed.in_self->tensors;
    if (!parsed.in_flat)
        memcpy(dims, self->dims, sizeof dims);
    dims[parsed.in_dim] = parsed.in_size->integer;
    return sim_require_shape(parsed.in_out, dims, parsed.in_flat ? 1 : self->rank, "that of self with the repeats");
}

/* Walks over the first copy of each element, and in the innermost dimension over its copies. */
static aclError run_times(const struct interleave *parsed)
{
    const aclsimTensor *self = parsed->in_self->tensors, *out = parsed->in_out->tensors;
    const int64_t times = parsed->in_repeats->integer, copies[] = {out->strides[parsed->in_dim], 0};
    size_t size = sim_element_size(self->type);
    const size_t sizes[] = {size, size};
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {out->data, self->data};
    aclsimTensor first = *out;
    first.strides[parsed->in_dim] *= times;
    if (parsed->in_flat)
        first = sim_walk_fold(&first, self);
    for (uint32_t k = 0; k < self->rank; k++)
        sim_walk_add(&walk, self->dims[k], (const int64_t[]){first.strides[k], self->strides[k]}, sizes);
    sim_walk_add(&walk, times, copies, sizes);
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, sim_walk_copy_line, &size);
}

/* The numbers of repeats in a tensor, which are taken one after another. A single one serves for all. */
struct spread {
    const aclsimTensor *sp_repeats;
    int64_t sp_index;
    aclsimTensor sp_rest; /* the part of the result that is yet to be written */
    uint32_t sp_dim;
};

static aclError fail_spread(const char *format, int64_t found, int64_t wanted)
{
    char text[160];
    snprintf(text, sizeof text, format, (long long)found, (long long)wanted);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* Writes a slice as often as the next number of repeats says. */
static aclError spread_slice(struct spread *spread, const aclsimTensor *slice)
{
    const aclsimTensor *repeats = spread->sp_repeats;
    aclsimTensor *rest = &spread->sp_rest;
    int64_t room = rest->dims[spread->sp_dim], stride = rest->strides[spread->sp_dim], at = 0;
    union sim_block_values times;
    if (repeats->rank == 1 && repeats->dims[0] != 1)
        at = spread->sp_index++ * repeats->strides[0] * (int64_t)sim_element_size(repeats->type);
    sim_element_load(&times, SIM_CLASS_INTEGER, (const char *)repeats->data + at, repeats->type, 0, 1);
    int64_t count = times.bv_integers[0];
    if (count < 0 || count > room)
        return fail_spread("repeats has %lld, expected 0 to %lld, the rest of outputSize", count, room);
    if (count == 0)
        return ACL_SUCCESS;
    rest->dims[spread->sp_dim] = count;
    sim_walk_copy(rest, slice);
    rest->dims[spread->sp_dim] = room - count;
    if (count != room)
        sim_walk_advance(rest, count * stride);
    return ACL_SUCCESS;
}

static aclError finish_spread(const struct spread *spread, int64_t size)
{
    int64_t rest = spread->sp_rest.dims[spread->sp_dim];
    return rest == 0 ? ACL_SUCCESS
                     : fail_spread("the sum of repeats is %lld, expected %lld, outputSize", size - rest, size);
}

/* places: the address of an element of self. */
static aclError spread_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct spread *spread = context;
    aclsimTensor slice = {.type = spread->sp_rest.type};
    for (int64_t i = 0; i < length; i++) {
        slice.data = places[0] + i * strides[0];
        SIM_TRY(spread_slice(spread, &slice));
    }
    return ACL_SUCCESS;
}

static aclError run_numbers(const struct interleave *parsed)
{
    struct spread spread = {parsed->in_repeats->tensors, 0, *parsed->in_out->tensors, parsed->in_dim};
    aclsimTensor slice = *parsed->in_self->tensors;
    if (parsed->in_flat) {
        const size_t size = sim_element_size(slice.type);
        struct sim_walk walk = {.wk_places = 1};
        for (uint32_t k = 0; k < slice.rank; k++)
            sim_walk_add(&walk, slice.dims[k], &slice.strides[k], &size);
        sim_walk_join(&walk);
        SIM_TRY(sim_walk_run(&walk, (char *[]){slice.data}, spread_line, &spread));
        return finish_spread(&spread, parsed->in_size->integer);
    }
    slice.dims[parsed->in_dim] = 1;
    for (int64_t i = 0; i < parsed->in_length; i++) {
        if (i != 0)
            sim_walk_advance(&slice, slice.strides[parsed->in_dim]);
        SIM_TRY(spread_slice(&spread, &slice));
    }
    return finish_spread(&spread, parsed->in_size->integer);
}

static aclError run_interleave(const aclsimCall *call)
{
    struct interleave parsed;
    SIM_TRY(parse(call, &parsed));
    return parsed.in_repeats->kind == ACLSIM_INTEGER ? run_times(&parsed) : run_numbers(&parsed);
}

/* ---- RepeatInterleaveTensor: repeats, outputSize, out; each index is written as often as repeats says ---- */

static aclnnStatus plan_indices(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *repeats = &call->arguments[0], *size = &call->arguments[1], *out = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_types(repeats, out, SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(repeats, 1, 1));
    SIM_TRY(sim_require_natural(size));
    return sim_require_shape(out, &size->integer, 1, "that of the repeated indices");
}

static aclError run_indices(const aclsimCall *call)
{
    const aclsimTensor *repeats = call->arguments[0].tensors;
    struct spread spread = {repeats, 0, *call->arguments[2].tensors, 0};
    union sim_block_values index;
    _Alignas(8) char element[8];
    const aclsimTensor slice = {.data = element, .type = spread.sp_rest.type};
    for (int64_t i = 0; i < repeats->dims[0]; i++) {
        index.bv_integers[0] = i;
        sim_element_store(&index, SIM_CLASS_INTEGER, element, slice.type, 0, 1);
        SIM_TRY(spread_slice(&spread, &slice));
    }
    return finish_spread(&spread, call->arguments[1].integer);
}

const struct sim_kernel sim_kernel_aclnnRoll = {plan_roll, run_roll, NULL, false},
                        sim_kernel_aclnnChannelShuffle = {plan_shuffle, run_shuffle, NULL, false},
                        sim_kernel_aclnnRepeatInterleave = {plan_interleave, run_interleave, NULL, false},
                        sim_kernel_aclnnRepeatInterleaveWithDim = {plan_interleave, run_interleave, NULL, false},
                        sim_kernel_aclnnRepeatInterleaveInt = {plan_interleave, run_interleave, NULL, false},
                        sim_kernel_aclnnRepeatInterleaveIntWithDim = {plan_interleave, run_interleave, NULL, false},
                        sim_kernel_aclnnRepeatInterleaveTensor = {plan_indices, run_indices, NULL, false};
