/* Collective operations as tasks: each rank queues one on a stream of its device. */
#ifndef SIM_COLLECTIVE_H
#define SIM_COLLECTIVE_H

#include "collective_work.h"
#include "engine/engine.h"

/* A call of one rank, with the program's addresses and tables. */
struct sim_collective_call {
    enum sim_collective_kind cl_kind;
    HcclComm cl_comm;
    HcclDataType cl_type;
    HcclReduceOp cl_op;    /* HCCL_REDUCE_RESERVED: it reduces nothing */
    uint32_t cl_root;
    uint64_t cl_count;     /* that all ranks give; of the V forms, 0 */
    uint64_t cl_own_count; /* of AllGatherV and ReduceScatterV: that this rank sends or receives */
    const void *cl_from;
    void *cl_to;
    /* Of the V forms, one entry per rank, in host memory; copied. */
    const uint64_t *cl_from_counts, *cl_from_starts, *cl_to_counts, *cl_to_starts;
    const uint64_t *cl_matrix; /* of AlltoAllVC, instead: a row for each sender */
};

/* The public function of a kind. */
const char *sim_collective_name(enum sim_collective_kind kind);

/* Checks the call and queues it. */
HcclResult sim_collective_queue(const struct sim_collective_call *call, struct sim_target stream, void *site);

/* Finds what may raise the gate of a collective operation (rm_setter). */
bool sim_collective_setter(const struct sim_gate *gate, sim_record *record, bool *guessed);

#endif
