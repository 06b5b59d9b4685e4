/* ScatterPaKvCache: writes keys and values to their slots in paged caches. Slot s is row s % size of block s / size; a
 * token with a negative slot is left out. In the cache mode PA_NZ, a row of all heads is cut into parts of as many
 * elements as the last dimension of the cache has, which lie in different places of a block. The scatter modes that
 * compress or take strides are not supported. */
#include "base/bytes.h"
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY, KEY_CACHE, SLOTS, VALUE, VALUE_CACHE, LENGTHS, OFFSETS, SEQUENCES, CACHE_MODE, SCATTER_MODE };

#define CACHED                                                                                                         \
    (SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT16) | SIM_TYPE(ACL_UINT16) |        \
     SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_UINT32))

/* The text of an optional argument; `usual` if it is absent or empty. */
static const char *text_of(const aclsimArgument *argument, const char *usual)
{
    return argument->present && argument->text[0] != '\0' ? argument->text : usual;
}

static bool is_split(const aclsimCall *call)
{
    return strcmp(text_of(&call->arguments[CACHE_MODE], "Norm"), "PA_NZ") == 0;
}

/* Both are empty, so that only keys are written. */
static bool is_absent(const aclsimArgument *rows, const aclsimArgument *cache)
{
    return sim_walk_count(rows->tensors) == 0 && sim_walk_count(cache->tensors) == 0;
}

/* Rows (tokens, heads, columns); a cache (blocks, size, heads, columns), or, split, (blocks, heads * columns / width,
 * size, width) or (blocks, heads, columns / width, size, width). */
static aclnnStatus check_cache(const aclsimCall *call, size_t place, size_t cache_place)
{
    const aclsimArgument *rows = &call->arguments[place], *cache = &call->arguments[cache_place];
    const int64_t *dims = rows->tensors->dims, *found = cache->tensors->dims;
    const uint32_t rank = cache->tensors->rank;
    SIM_TRY(sim_require_types(rows, cache, CACHED));
    SIM_TRY(sim_require_rank(rows, 3, 3));
    SIM_TRY(sim_require_rank(cache, 4, is_split(call) ? 5 : 4));
    SIM_ARGUMENT(dims[0] == call->arguments[SLOTS].tensors->dims[0], ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %" PRId64 ", expected %" PRId64 ", one token per slot", rows->name, dims[0],
                 call->arguments[SLOTS].tensors->dims[0]);
    const int64_t width = found[rank - 1];
    SIM_ARGUMENT(!is_split(call) || (width > 0 && dims[2] % width == 0), ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %" PRId64 ", expected a divisor of %" PRId64 ", the columns of %s", rank - 1,
                 cache->name, width, dims[2], rows->name);
    const int64_t parts = is_split(call) ? dims[2] / width : 0;
    int64_t all_parts = parts;
    if (!sim_length_multiply(&all_parts, dims[1]))
        all_parts = -1;
    const int64_t plain[] = {found[0], found[1], dims[1], dims[2]};
    const int64_t split[] = {found[0], all_parts, found[2], width};
    const int64_t deep[] = {found[0], dims[1], parts, found[3], width};
    return sim_require_shape(cache, !is_split(call) ? plain : rank == 4 ? split : deep, rank, rows->name);
}

static aclnnStatus plan_scatter(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments;
    const char *mode = text_of(&all[CACHE_MODE], "Norm"), *scatter = text_of(&all[SCATTER_MODE], "None");
    (void)workspace_size;
    SIM_ARGUMENT(is_split(call) || strcmp(mode, "Norm") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", expected Norm or PA_NZ", all[CACHE_MODE].name, mode);
    SIM_ARGUMENT(strcmp(scatter, "None") == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", but the simulator supports only None", all[SCATTER_MODE].name, scatter);
    SIM_TRY(sim_require_type(&all[SLOTS], SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(&all[SLOTS], 1, 1));
    SIM_TRY(check_cache(call, KEY, KEY_CACHE));
    if (is_absent(&all[VALUE], &all[VALUE_CACHE]))
        return ACL_SUCCESS;
    SIM_TRY(sim_require_same_type(&all[VALUE], all[KEY].tensors->type, all[KEY].name));
    return check_cache(call, VALUE, VALUE_CACHE);
}

/* Removes a dimension at an index. */
static aclsimTensor part_of(const aclsimTensor *tensor, uint32_t dim, int64_t index)
{
    aclsimTensor part = *tensor;
    if (index != 0) /* a dimension of size 1 may have any stride */
        sim_walk_advance(&part, index * tensor->strides[dim]);
    return sim_line_without(&part, dim);
}

/* Writes the row of one token; false if its slot is out of range, with the reason recorded. */
static bool write_row(const aclsimCall *call, size_t place, size_t cache_place, int64_t token)
{
    const aclsimArgument *slots = &call->arguments[SLOTS], *argument = &call->arguments[cache_place];
    const aclsimTensor *cache = argument->tensors;
    const uint32_t dim = is_split(call) ? cache->rank - 2 : 1; /* of the rows in a block */
    const int64_t size = cache->dims[dim];
    union sim_block_values slot;
    sim_element_load(&slot, SIM_CLASS_INTEGER, sim_indices_nth(slots->tensors, token), slots->tensors->type, 0, 1);
    const int64_t at = slot.bv_integers[0];
    if (at < 0)
        return true;
    if (size == 0 || at / size >= cache->dims[0]) {
        char text[160];
        snprintf(text, sizeof text,
                 "%s[%" PRId64 "] is %" PRId64 ", expected less than %" PRId64 " blocks of %" PRId64 " rows in %.40s",
                 slots->name, token, at, cache->dims[0], size, argument->name);
        sim_fail_reason(text);
        return false;
    }
    aclsimTensor from = part_of(call->arguments[place].tensors, 0, token); /* heads, columns */
    aclsimTensor to = part_of(cache, dim, at % size);
    to = part_of(&to, 0, at / size);
    if (is_split(call)) { /* heads, parts, width */
        const int64_t width = to.dims[to.rank - 1], parts = from.dims[1] / width, step = to.strides[to.rank - 2];
        from.rank = 3;
        from.dims[1] = parts;
        from.dims[2] = width;
        from.strides[2] = from.strides[1];
        from.strides[1] = parts == 1 ? 0 : width * from.strides[2];
        if (to.rank == 2) {
            to.strides[2] = to.strides[1];
            to.strides[1] = parts == 1 ? 0 : step;
            to.strides[0] = from.dims[0] == 1 ? 0 : parts * step;
            to.rank = 3;
            memcpy(to.dims, from.dims, 3 * sizeof *to.dims);
        }
    }
    sim_walk_copy(&to, &from);
    return true;
}

static aclError run_scatter(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    const bool has_values = !is_absent(&all[VALUE], &all[VALUE_CACHE]);
    const aclsimTensor *key = all[KEY].tensors, *value = all[VALUE].tensors;
    for (int64_t token = 0; token < all[SLOTS].tensors->dims[0]; token++) {
        if (sim_walk_count(key) != 0 && !write_row(call, KEY, KEY_CACHE, token))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        if (has_values && sim_walk_count(value) != 0 && !write_row(call, VALUE, VALUE_CACHE, token))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnScatterPaKvCache = {plan_scatter, run_scatter, NULL, false};
