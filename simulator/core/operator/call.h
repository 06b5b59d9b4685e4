/* The packed call of an operator, and the executor that keeps it between the two phases. Used inside this
 * room only. */
#ifndef SIM_CALL_H
#define SIM_CALL_H

#include "row.h"

/* One block. The aclsimArguments follow, and then the data that they refer to by offsets from the block's start. */
struct sim_call {
    struct sim_row *ca_row;
    struct sim_kernel ca_kernel;
    void *ca_workspace; /* the engine's address */
    uint64_t ca_workspace_size;
    uint32_t ca_size; /* of the whole block */
    uint32_t ca_ranges, ca_range_count;
    bool ca_overlaps; /* an output would change an input: sim_row_overlap_apart's copy must be run */
    bool ca_resizes;  /* the kernel finds the size of an output when it runs */
    uint32_t ca_handles; /* if so: of the tensors, one per argument; 0: they are unknown, as in a loaded model */
};

/* Where a tensor of a call came from, and which bytes of its data it covers. */
struct sim_operand {
    const void *od_handle;
    void *od_data;       /* last read from the descriptor */
    int64_t od_first;    /* bytes from there to the first element */
    int64_t od_low;      /* bytes from there to the lowest byte that the view touches */
    uint64_t od_bytes;   /* bytes that the view covers from there on; 0: no element */
    uint32_t od_tensor;  /* offset of its aclsimTensor */
    uint16_t od_parameter;
    uint16_t od_member; /* index in a list */
    uint8_t od_direction;
};

struct sim_pack {
    struct sim_call *pk_call; /* this and the next are allocated with malloc */
    struct sim_operand *pk_operands;
    uint32_t pk_count;
    uint32_t pk_room, pk_operand_room; /* used while packing */
};

static inline void *sim_call_at(const struct sim_call *call, uint32_t offset)
{
    return (unsigned char *)(uintptr_t)call + offset;
}

static inline aclsimArgument *sim_call_arguments(const struct sim_call *call)
{
    return sim_call_at(call, sizeof *call);
}

/* Packs the arguments. Returns 161002 if an argument is not a live descriptor of the right type or its shape is
 * impossible, and 561000 if memory runs out. The caller drops the pack in any case, unless an executor took it over. */
aclnnStatus sim_call_pack(struct sim_pack *pack, struct sim_row *row, const union sim_value *values);
void sim_call_drop(struct sim_pack *pack);

/* The parts of packing, for arguments that are not descriptors. sim_call_begin makes a call in which no argument is
 * present. sim_call_reserve adds `size` zeroed bytes and returns their offset, or 0 if memory runs out; the call may
 * move. sim_call_measure finds the bytes that a tensor's dimensions and strides cover, from `offset` elements after its
 * data on; it returns 161002 if the shape or the data type is impossible. */
aclnnStatus sim_call_begin(struct sim_pack *pack, struct sim_row *row);
uint32_t sim_call_reserve(struct sim_pack *pack, uint64_t size);
struct sim_operand *sim_call_operand(struct sim_pack *pack); /* NULL if memory runs out */
/* Fills in the view of an opened tensor, and the bytes that it covers. Returns 161002. */
aclnnStatus sim_call_view(const struct sim_tensor *tensor, const char *name, aclsimTensor *seen,
                          struct sim_operand *operand);
aclnnStatus sim_call_measure(const aclsimTensor *tensor, int64_t offset, const char *name, struct sim_operand *operand);

/* Returns 161001 if a required argument is NULL; called before packing. */
aclnnStatus sim_row_check_call(const struct sim_row *row, const union sim_value *values);

/* Chooses the kernel and asks it for the size of the workspace. Returns 561003, or the code of its plan. */
aclnnStatus sim_row_plan_call(struct sim_call *call, uint64_t *workspace_size);

/* Adds the handles of the tensors to a planned call, if its kernel finds the size of an output. */
aclnnStatus sim_row_keep_handles(struct sim_pack *pack);

/* Steps through the tensors of a placed call that have elements, and their ranges. */
struct sim_call_cursor {
    const struct sim_call *cu_call;
    const struct sim_range *cu_range;
    aclsimTensor *cu_tensor;
    size_t cu_argument;
    uint64_t cu_member;
};

static inline struct sim_call_cursor sim_call_start(const struct sim_call *call)
{
    return (struct sim_call_cursor){.cu_call = call};
}

bool sim_call_next(struct sim_call_cursor *cursor); /* false at the end */

/* Returns 161002 if the elements are not aligned to their size, because a card could not access them. */
aclnnStatus sim_call_check_place(const struct sim_operand *operand, aclDataType type, const char *name);
/* Stores the current addresses of the operands and the workspace, and claims their bytes. Returns 107000, or 161002
 * for a tensor that is not aligned or for outputs that overlap. */
aclError sim_call_place(const struct sim_pack *pack, void *workspace);
/* Whether every tensor that the call writes is empty, so that there is nothing to submit. */
bool sim_call_writes_nothing(const struct sim_pack *pack);
/* row_overlap.c: whether an output of a placed call would change an input, and a copy of the call that has copies of
 * such inputs behind it. The caller frees the copy; it is NULL if memory runs out. */
bool sim_row_overlaps(const struct sim_call *call);
aclnnStatus
sim_row_overlap_check_outputs(const struct sim_call *call); /* 161002 for overlapping outputs */
struct sim_call *sim_row_overlap_apart(const struct sim_call *call);
const char *sim_call_name(const struct sim_pack *pack, const struct sim_operand *operand); /* of its parameter */

/* Makes an executor that owns the pack; returns NULL if memory runs out. If it is placed, the pack has the addresses of
 * the tensors already, and their descriptors are not read again. */
aclOpExecutor *sim_executor_create(const struct sim_pack *pack, bool placed);
void sim_executor_reset(void);
void sim_executor_after_fork(void);

#endif
