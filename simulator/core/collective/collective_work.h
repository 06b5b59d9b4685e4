/* The work of a collective operation: reductions and moves between the buffers of its ranks. */
#ifndef SIM_COLLECTIVE_WORK_H
#define SIM_COLLECTIVE_WORK_H

#include <acl/acl_base.h>
#include <hccl/hccl.h>
#include <stdbool.h>
#include <stdint.h>

enum sim_collective_kind {
    SIM_ALL_REDUCE,
    SIM_REDUCE,
    SIM_BROADCAST,
    SIM_ALL_GATHER,
    SIM_ALL_GATHER_V,
    SIM_REDUCE_SCATTER,
    SIM_REDUCE_SCATTER_V,
    SIM_SCATTER,
    SIM_ALL_TO_ALL,
    SIM_ALL_TO_ALL_V, /* also AlltoAllVC, whose matrix becomes four tables */
    SIM_BARRIER,
};

/* What one rank brings. The addresses are the engine's. The tables count elements, one entry per rank; which of them
 * there are depends on the kind. Broadcast uses `sp_to` alone. */
struct sim_collective_part {
    const void *sp_from;
    void *sp_to;
    const uint64_t *sp_from_counts, *sp_from_starts, *sp_to_counts, *sp_to_starts;
};

struct sim_collective_work {
    enum sim_collective_kind wo_kind;
    HcclDataType wo_type;
    HcclReduceOp wo_op;
    uint32_t wo_root, wo_ranks;
    uint64_t wo_count;
    const struct sim_collective_part *wo_parts; /* one per rank */
};

#define SIM_COLLECTIVE_KINDS (SIM_BARRIER + 1)

/* Bytes of an element; 0 for an unknown type. */
uint32_t sim_collective_type_size(HcclDataType type);

/* Does the share of one rank. The shares of different ranks write different bytes, and may be done in any order and at
 * the same time. Sums are in the order of ranks, on whichever thread; float16 and bfloat16 are summed in float and
 * rounded once, integers wrap, and a NaN is both the greatest and the least. */
void sim_collective_work(const struct sim_collective_work *work, uint32_t rank);

/* Computes what one rank gets, with the same results. The shares of all ranks do the work once; this does the work of
 * the whole operator for each rank, but needs no other rank to write. Broadcast reads `sp_from` of the root here. */
void sim_collective_work_alone(const struct sim_collective_work *work, uint32_t rank);

/* Whether the input is so small that each rank can send it to all others. It is the same on all ranks. */
#define SIM_COLLECTIVE_SHORT 2048u /* bytes */
bool sim_collective_is_short(const struct sim_collective_work *work);
/* Bytes that a rank brings, of which the tables of its part decide, if the operator has tables. UINT64_MAX if they are
 * missing or go beyond any memory. */
uint64_t sim_collective_input(const struct sim_collective_work *work, uint32_t rank,
                              const struct sim_collective_part *part);
/* Elements up to the end of the last block of a table; UINT64_MAX if a sum is too great. */
uint64_t sim_collective_end(const uint64_t *counts, const uint64_t *starts, uint32_t ranks);

#endif
