/* Reductions go block by block: the block of the first rank is loaded, those of the others are combined with it in the
 * order of ranks, and the result is stored to every rank that gets it. A block fits into the first-level cache. No
 * state and no lock. */
#include "collective_work.h"

#include "base/bytes.h"
#include "base/type.h"
#include <string.h>

#define BLOCK 2048 /* elements */
#define GRAIN 64   /* shares begin at multiples, so that no two of them write one cache line */

uint32_t sim_collective_type_size(HcclDataType type)
{
    static const uint8_t sizes[] = {
        [HCCL_DATA_TYPE_INT8] = 1,    [HCCL_DATA_TYPE_INT16] = 2,   [HCCL_DATA_TYPE_INT32] = 4,
        [HCCL_DATA_TYPE_FP16] = 2,    [HCCL_DATA_TYPE_FP32] = 4,    [HCCL_DATA_TYPE_INT64] = 8,
        [HCCL_DATA_TYPE_UINT64] = 8,  [HCCL_DATA_TYPE_UINT8] = 1,   [HCCL_DATA_TYPE_UINT16] = 2,
        [HCCL_DATA_TYPE_UINT32] = 4,  [HCCL_DATA_TYPE_FP64] = 8,    [HCCL_DATA_TYPE_BFP16] = 2,
        [HCCL_DATA_TYPE_INT128] = 16, [HCCL_DATA_TYPE_HIF8] = 1,    [HCCL_DATA_TYPE_FP8E4M3] = 1,
        [HCCL_DATA_TYPE_FP8E5M2] = 1, [HCCL_DATA_TYPE_FP8E8M0] = 1,
    };
    return (size_t)type < sizeof sizes ? sizes[type] : 0;
}

/* ---- reductions ---- */

union block { /* halves are combined as floats */
    int8_t bk_int8[BLOCK];
    int16_t bk_int16[BLOCK];
    int32_t bk_int32[BLOCK];
    int64_t bk_int64[BLOCK];
    uint64_t bk_uint64[BLOCK];
    float bk_float[BLOCK];
    double bk_double[BLOCK];
};

#define SAME(value) (value)
#define COMBINE(type, wide, field, load, expression)                                                                   \
    for (uint64_t i = 0; i < count; i++) {                                                                             \
        const wide one = block->field[i], other = load(((const type *)from)[i]);                                       \
        block->field[i] = (wide)(expression);                                                                          \
    }                                                                                                                  \
    break

/* `bits`: the unsigned type in which sums and products of integers wrap, or the type of floats. */
#define FAMILY(type, wide, bits, field, load)                                                                          \
    switch (op) {                                                                                                      \
    case HCCL_REDUCE_SUM:                                                                                              \
        COMBINE(type, wide, field, load, (bits)one + (bits)other);                                                     \
    case HCCL_REDUCE_PROD:                                                                                             \
        COMBINE(type, wide, field, load, (bits)one * (bits)other);                                                     \
    case HCCL_REDUCE_MAX:                                                                                              \
        COMBINE(type, wide, field, load, one > other || one != one ? one : other);                                     \
    default:                                                                                                           \
        COMBINE(type, wide, field, load, one < other || one != one ? one : other);                                     \
    }                                                                                                                  \
    break

static void combine(union block *block, const void *from, uint64_t count, HcclDataType type, HcclReduceOp op)
{
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
        FAMILY(int8_t, int8_t, uint32_t, bk_int8, SAME);
    case HCCL_DATA_TYPE_INT16:
        FAMILY(int16_t, int16_t, uint32_t, bk_int16, SAME);
    case HCCL_DATA_TYPE_INT32:
        FAMILY(int32_t, int32_t, uint32_t, bk_int32, SAME);
    case HCCL_DATA_TYPE_INT64:
        FAMILY(int64_t, int64_t, uint64_t, bk_int64, SAME);
    case HCCL_DATA_TYPE_UINT64:
        FAMILY(uint64_t, uint64_t, uint64_t, bk_uint64, SAME);
    case HCCL_DATA_TYPE_FP16:
        FAMILY(uint16_t, float, float, bk_float, sim_half_to_float);
    case HCCL_DATA_TYPE_BFP16:
        FAMILY(uint16_t, float, float, bk_float, sim_bfloat_to_float);
    case HCCL_DATA_TYPE_FP64:
        FAMILY(double, double, double, bk_double, SAME);
    default:
        FAMILY(float, float, float, bk_float, SAME);
    }
}

static bool is_half(HcclDataType type)
{
    return type == HCCL_DATA_TYPE_FP16 || type == HCCL_DATA_TYPE_BFP16;
}

static void load_block(union block *block, const void *from, uint64_t count, HcclDataType type)
{
    const uint16_t *halves = from;
    if (!is_half(type)) {
        memcpy(block, from, count * sim_collective_type_size(type));
    } else if (type == HCCL_DATA_TYPE_FP16) {
        for (uint64_t i = 0; i < count; i++)
            block->bk_float[i] = sim_half_to_float(halves[i]);
    } else {
        for (uint64_t i = 0; i < count; i++)
            block->bk_float[i] = sim_bfloat_to_float(halves[i]);
    }
}

/* Rounds the floats of a block of halves. */
static void round_block(const union block *block, uint64_t count, HcclDataType type, uint16_t *halves)
{
    if (type == HCCL_DATA_TYPE_FP16)
        for (uint64_t i = 0; i < count; i++)
            halves[i] = sim_half_from_float(block->bk_float[i]);
    else
        for (uint64_t i = 0; i < count; i++)
            halves[i] = sim_bfloat_from_float(block->bk_float[i]);
}

/* Reduces `count` elements from `start` on in the input of each rank, and stores them to the ranks from `first` up to
 * `end`, from `to_start` on. */
static void reduce(const struct sim_collective_work *work, uint64_t start, uint64_t count, uint32_t first, uint32_t end,
                   uint64_t to_start)
{
    const uint64_t size = sim_collective_type_size(work->wo_type);
    union block block;
    uint16_t halves[BLOCK];
    const void *result = is_half(work->wo_type) ? (const void *)halves : &block;
    for (uint64_t done = 0, part; done < count; done += part) {
        part = count - done < BLOCK ? count - done : BLOCK;
        for (uint32_t rank = 0; rank < work->wo_ranks; rank++) {
            const char *from = (const char *)work->wo_parts[rank].sp_from + (start + done) * size;
            if (rank == 0)
                load_block(&block, from, part, work->wo_type);
            else
                combine(&block, from, part, work->wo_type, work->wo_op);
        }
        if (result == halves)
            round_block(&block, part, work->wo_type, halves);
        for (uint32_t rank = first; rank < end; rank++)
            memcpy((char *)work->wo_parts[rank].sp_to + (to_start + done) * size, result, part * size);
    }
}

/* ---- shares ---- */

/* Where the share of a rank begins when all of them divide `count` elements; that of the rank `wo_ranks` is the end. */
static uint64_t share_start(const struct sim_collective_work *work, uint32_t rank)
{
    const uint64_t grains = work->wo_count / GRAIN;
    return rank == work->wo_ranks ? work->wo_count : grains * rank / work->wo_ranks * GRAIN;
}

static void move(const struct sim_collective_work *work, const void *from, uint64_t from_start, void *to,
                 uint64_t to_start, uint64_t count)
{
    const uint64_t size = sim_collective_type_size(work->wo_type);
    if (count != 0) /* an empty buffer may be NULL; in place, both may be the same bytes */
        memmove((char *)to + to_start * size, (const char *)from + from_start * size, count * size);
}

static void reduce_share(const struct sim_collective_work *work, uint32_t rank)
{
    const uint64_t start = share_start(work, rank), count = share_start(work, rank + 1) - start;
    const bool to_all = work->wo_kind == SIM_ALL_REDUCE;
    reduce(work, start, count, to_all ? 0 : work->wo_root, to_all ? work->wo_ranks : work->wo_root + 1, start);
}

static void broadcast_share(const struct sim_collective_work *work, uint32_t rank)
{
    const uint64_t start = share_start(work, rank), count = share_start(work, rank + 1) - start;
    for (uint32_t other = 0; other < work->wo_ranks; other++)
        if (other != work->wo_root)
            move(work, work->wo_parts[work->wo_root].sp_to, start, work->wo_parts[other].sp_to, start, count);
}

static void gather_share(const struct sim_collective_work *work, uint32_t rank)
{
    const bool v = work->wo_kind == SIM_ALL_GATHER_V;
    for (uint32_t other = 0; other < work->wo_ranks; other++) {
        const struct sim_collective_part *part = &work->wo_parts[other];
        move(work, work->wo_parts[rank].sp_from, 0, part->sp_to, v ? part->sp_to_starts[rank] : rank * work->wo_count,
             v ? part->sp_to_counts[rank] : work->wo_count);
    }
}

static void exchange_share(const struct sim_collective_work *work, uint32_t rank)
{
    const struct sim_collective_part *own = &work->wo_parts[rank];
    const bool v = work->wo_kind == SIM_ALL_TO_ALL_V;
    for (uint32_t other = 0; other < work->wo_ranks; other++) {
        const struct sim_collective_part *part = &work->wo_parts[other];
        move(work, part->sp_from, v ? part->sp_from_starts[rank] : rank * work->wo_count, own->sp_to,
             v ? own->sp_to_starts[other] : other * work->wo_count, v ? own->sp_to_counts[other] : work->wo_count);
    }
}

void sim_collective_work(const struct sim_collective_work *work, uint32_t rank)
{
    const struct sim_collective_part *own = &work->wo_parts[rank];
    switch (work->wo_kind) {
    case SIM_ALL_REDUCE:
    case SIM_REDUCE:
        reduce_share(work, rank);
        break;
    case SIM_BROADCAST:
        broadcast_share(work, rank);
        break;
    case SIM_ALL_GATHER:
    case SIM_ALL_GATHER_V:
        gather_share(work, rank);
        break;
    case SIM_REDUCE_SCATTER:
        reduce(work, rank * work->wo_count, work->wo_count, rank, rank + 1, 0);
        break;
    case SIM_REDUCE_SCATTER_V:
        reduce(work, own->sp_from_starts[rank], own->sp_from_counts[rank], rank, rank + 1, 0);
        break;
    case SIM_SCATTER:
        move(work, work->wo_parts[work->wo_root].sp_from, rank * work->wo_count, own->sp_to, 0, work->wo_count);
        break;
    case SIM_ALL_TO_ALL:
    case SIM_ALL_TO_ALL_V:
        exchange_share(work, rank);
        break;
    case SIM_BARRIER:
        break;
    }
}

void sim_collective_work_alone(const struct sim_collective_work *work, uint32_t rank)
{
    const struct sim_collective_part *own = &work->wo_parts[rank];
    const bool v = work->wo_kind == SIM_ALL_GATHER_V;
    switch (work->wo_kind) {
    case SIM_REDUCE:
        if (rank != work->wo_root)
            break;
        __attribute__((fallthrough));
    case SIM_ALL_REDUCE:
        reduce(work, 0, work->wo_count, rank, rank + 1, 0);
        break;
    case SIM_BROADCAST:
        if (rank != work->wo_root)
            move(work, work->wo_parts[work->wo_root].sp_from, 0, own->sp_to, 0, work->wo_count);
        break;
    case SIM_ALL_GATHER:
    case SIM_ALL_GATHER_V:
        for (uint32_t other = 0; other < work->wo_ranks; other++)
            move(work, work->wo_parts[other].sp_from, 0, own->sp_to,
                 v ? own->sp_to_starts[other] : other * work->wo_count,
                 v ? own->sp_to_counts[other] : work->wo_count);
        break;
    default: /* their shares write to the rank alone */
        sim_collective_work(work, rank);
        break;
    }
}

/* ---- input ---- */

uint64_t sim_collective_end(const uint64_t *counts, const uint64_t *starts, uint32_t ranks)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        const uint64_t each = starts[i] > UINT64_MAX - counts[i] ? UINT64_MAX : starts[i] + counts[i];
        if (counts[i] != 0 && each > end)
            end = each;
    }
    return end;
}

/* The same in bytes, from the tables of what a rank sends. Every entry is the same where all ranks get the same. */
static uint64_t table_bytes(const struct sim_collective_work *work, const struct sim_collective_part *part)
{
    const bool gathers = work->wo_kind == SIM_ALL_GATHER_V;
    if (part->sp_from_counts == NULL || (gathers ? part->sp_to_counts : part->sp_from_starts) == NULL)
        return UINT64_MAX;
    uint64_t bytes = gathers ? part->sp_from_counts[0]
                             : sim_collective_end(part->sp_from_counts, part->sp_from_starts, work->wo_ranks);
    return sim_size_multiply(&bytes, sim_collective_type_size(work->wo_type)) ? bytes : UINT64_MAX;
}

uint64_t sim_collective_input(const struct sim_collective_work *work, uint32_t rank,
                              const struct sim_collective_part *part)
{
    uint64_t bytes = sim_collective_type_size(work->wo_type);
    if (!sim_size_multiply(&bytes, work->wo_count) || bytes > UINT64_MAX / work->wo_ranks)
        return UINT64_MAX;
    switch (work->wo_kind) {
    case SIM_ALL_GATHER_V:
    case SIM_REDUCE_SCATTER_V:
    case SIM_ALL_TO_ALL_V:
        return table_bytes(work, part);
    case SIM_BROADCAST:
        return rank == work->wo_root ? bytes : 0;
    case SIM_SCATTER:
        return rank == work->wo_root ? bytes * work->wo_ranks : 0;
    case SIM_REDUCE_SCATTER:
    case SIM_ALL_TO_ALL:
        return bytes * work->wo_ranks;
    default:
        return bytes;
    }
}

bool sim_collective_is_short(const struct sim_collective_work *work)
{
    const bool has_tables = work->wo_kind == SIM_ALL_GATHER_V || work->wo_kind == SIM_REDUCE_SCATTER_V ||
                            work->wo_kind == SIM_ALL_TO_ALL_V;
    return !has_tables && sim_collective_input(work, work->wo_root, NULL) <= SIM_COLLECTIVE_SHORT;
}
