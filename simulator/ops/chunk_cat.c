/* ChunkCat: tensors, dim, numChunks, out. Each tensor is cut along dimension 0 into chunks of equal size, the last ones
 * of which may be short or missing, and end in zeros. Row k of the result has the elements of the chunks k of all
 * tensors, one after another, cast to its type. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include "walk.h"

enum { TENSORS, DIM, CHUNKS, OUT };

/* The number of rows of a chunk. */
static int64_t rows_of(const aclsimTensor *tensor, int64_t chunks)
{
    return tensor->dims[0] / chunks + (tensor->dims[0] % chunks != 0);
}

/* The number of elements of a chunk; false if it does not fit. */
static bool find_width(const aclsimTensor *tensor, int64_t chunks, int64_t *width)
{
    *width = rows_of(tensor, chunks);
    for (uint32_t k = 1; k < tensor->rank; k++)
        if (!sim_length_multiply(width, tensor->dims[k]))
            return false;
    return true;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *list = &given[TENSORS];
    const int64_t chunks = given[CHUNKS].integer;
    int64_t dims[] = {chunks, 0};
    (void)workspace_size;
    SIM_ARGUMENT(list->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected 1 tensor or more", list->name);
    SIM_ARGUMENT(given[DIM].integer == 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 0", given[DIM].name,
                 (long long)given[DIM].integer);
    SIM_ARGUMENT(chunks >= 1, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 1 or more", given[CHUNKS].name,
                 (long long)chunks);
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(list, i, name);
        int64_t width;
        SIM_TRY(sim_require_type(&member, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_same_type(&member, list->tensors->type, "the first tensor"));
        SIM_TRY(sim_require_rank(&member, 1, SIM_RANK));
        SIM_ARGUMENT(find_width(member.tensors, chunks, &width) && !__builtin_add_overflow(dims[1], width, &dims[1]),
                     ACLNN_ERR_PARAM_INVALID, "%s has too many elements, expected a result that fits 64 bits", name);
    }
    SIM_TRY(sim_require_type(&given[OUT], SIM_TYPES_SINGLE));
    SIM_ARGUMENT(sim_element_size(given[OUT].tensors->type) >= sim_element_size(list->tensors->type),
                 ACLNN_ERR_PARAM_INVALID, "%s is %s, expected no shorter type than %s, that of %s", given[OUT].name,
                 sim_element_name(given[OUT].tensors->type), sim_element_name(list->tensors->type), list->name);
    return sim_require_shape(&given[OUT], dims, 2, "one row per chunk");
}

static void cast_block(const struct sim_pointwise *block, const void *context)
{
    union sim_block_values values;
    (void)context;
    sim_element_load(&values, SIM_CLASS_FLOAT, block->pw_places[1], block->pw_tensors[1]->type, block->pw_strides[1],
                     block->pw_count);
    sim_element_store(&values, SIM_CLASS_FLOAT, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

/* Copies a chunk, if the tensor has it, to the elements of a row that begin there. */
static void copy_chunk(const aclsimTensor *tensor, int64_t chunk, int64_t rows, const aclsimTensor *row)
{
    const int64_t first = chunk * rows, left = tensor->dims[0] - first;
    aclsimTensor from = *tensor;
    if (left <= 0 || sim_walk_is_empty(tensor->dims, tensor->rank))
        return;
    from.dims[0] = left < rows ? left : rows;
    if (first != 0)
        sim_walk_advance(&from, first * tensor->strides[0]);
    const aclsimTensor to = sim_walk_fold(row, &from);
    sim_pointwise_run((const aclsimTensor *[]){&to, &from}, 2, cast_block, NULL);
}

static aclError run(const aclsimCall *call)
{
    const aclsimArgument *list = &call->arguments[TENSORS];
    const aclsimTensor *out = call->arguments[OUT].tensors;
    const int64_t chunks = call->arguments[CHUNKS].integer;
    aclsimTensor place = {.data = out->data, .rank = 1, .type = out->type};
    place.strides[0] = out->strides[1];
    sim_walk_fill(out, NULL);
    for (uint64_t i = 0; i < list->count && !sim_walk_is_empty(out->dims, out->rank); i++) {
        int64_t width = 0;
        find_width(&list->tensors[i], chunks, &width);
        for (int64_t chunk = 0; chunk < chunks && width != 0; chunk++) {
            aclsimTensor row = place;
            if (chunk != 0)
                sim_walk_advance(&row, chunk * out->strides[0]);
            copy_chunk(&list->tensors[i], chunk, rows_of(&list->tensors[i], chunks), &row);
        }
        if (i + 1 < list->count)
            sim_walk_advance(&place, width * out->strides[1]);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnChunkCat = {plan, run, NULL, false};
