/* AdvanceStep: moves the sequences of a batch to their next token, in place. The block of a position is looked up in
 * the row of its sequence, as vLLM does. Sequences from numQueries on are padding: token 0, position 0, slot -1. */
#include "base/fail.h"
#include "indices.h"
#include "operator/row.h"
#include "require.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS, SAMPLED, POSITIONS, LENGTHS, SLOTS, TABLES, NUM_SEQUENCES, NUM_QUERIES, BLOCK_SIZE };

static aclnnStatus plan_advance(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments, *sequences = &all[NUM_SEQUENCES], *queries = &all[NUM_QUERIES];
    (void)workspace_size;
    for (size_t i = TOKENS; i <= TABLES; i++)
        SIM_TRY(sim_require_type(&all[i], SIM_TYPE(ACL_INT64)));
    SIM_ARGUMENT(queries->integer > 0 && sequences->integer > queries->integer, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 " and %s %" PRId64 ", expected 1 query or more, and more sequences", queries->name,
                 queries->integer, sequences->name, sequences->integer);
    SIM_ARGUMENT(all[BLOCK_SIZE].integer > 0, ACLNN_ERR_INNER_TILING_ERROR, "%s is %" PRId64 ", expected 1 or more",
                 all[BLOCK_SIZE].name, all[BLOCK_SIZE].integer);
    for (size_t i = TOKENS; i <= TABLES; i++) {
        const aclsimTensor *tensor = all[i].tensors;
        const int64_t count = i == SAMPLED ? queries->integer : sequences->integer;
        SIM_ARGUMENT(tensor->rank > 0 && tensor->dims[0] == count, ACLNN_ERR_INNER_TILING_ERROR,
                     "dimension 0 of %s is %" PRId64 ", expected %" PRId64, all[i].name,
                     tensor->rank > 0 ? tensor->dims[0] : 1, count);
        SIM_ARGUMENT(i == TABLES ? tensor->rank == 2 : sim_walk_count(tensor) == count, ACLNN_ERR_INNER_TILING_ERROR,
                     "%s has %u dimensions and %" PRId64 " elements, expected %s", all[i].name, tensor->rank,
                     sim_walk_count(tensor), i == TABLES ? "2 dimensions" : "1 element per sequence or query");
    }
    return ACL_SUCCESS;
}

static int64_t number_of(const aclsimTensor *tensor, int64_t place)
{
    int64_t number;
    memcpy(&number, sim_indices_nth(tensor, place), sizeof number);
    return number;
}

static void put_number(const aclsimTensor *tensor, int64_t place, int64_t number)
{
    memcpy(sim_indices_nth(tensor, place), &number, sizeof number);
}

/* Moves one sequence; false if its position has no block. */
static bool advance(const aclsimCall *call, int64_t sequence)
{
    const aclsimArgument *all = call->arguments;
    const aclsimTensor *tables = all[TABLES].tensors;
    const int64_t size = all[BLOCK_SIZE].integer, position = number_of(all[LENGTHS].tensors, sequence);
    if (position < 0 || position / size >= tables->dims[1]) {
        char text[160];
        snprintf(text, sizeof text,
                 "%s[%" PRId64 "] is %" PRId64 ", expected 0 or more, and less than %" PRId64 " blocks of %" PRId64,
                 all[LENGTHS].name, sequence, position, tables->dims[1], size);
        sim_fail_reason(text);
        return false;
    }
    const int64_t offset = (sequence == 0 ? 0 : sequence * tables->strides[0]) +
                           (position < size ? 0 : position / size * tables->strides[1]);
    int64_t block;
    memcpy(&block, (const char *)tables->data + offset * (int64_t)sizeof block, sizeof block);
    put_number(all[TOKENS].tensors, sequence, number_of(all[SAMPLED].tensors, sequence));
    put_number(all[POSITIONS].tensors, sequence, position);
    /* a position or block that is too large wraps */
    put_number(all[LENGTHS].tensors, sequence, (int64_t)((uint64_t)position + 1));
    put_number(all[SLOTS].tensors, sequence,
               (int64_t)((uint64_t)block * (uint64_t)size + (uint64_t)(position % size)));
    return true;
}

static aclError run_advance(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    const int64_t queries = all[NUM_QUERIES].integer;
    for (int64_t i = 0; i < queries; i++)
        if (!advance(call, i))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
    for (int64_t i = queries; i < all[NUM_SEQUENCES].integer; i++) {
        put_number(all[TOKENS].tensors, i, 0);
        put_number(all[POSITIONS].tensors, i, 0);
        put_number(all[SLOTS].tensors, i, -1);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnAdvanceStep = {plan_advance, run_advance, NULL, false};
