/* Messages between two ranks as tasks: a task sends and receives one message or several, in any order. */
#ifndef SIM_TRANSFER_H
#define SIM_TRANSFER_H

#include "comm.h"
#include "engine/engine.h"

struct sim_transfer_message {
    bool tm_sends;
    uint32_t tm_peer;
    HcclDataType tm_type;
    uint64_t tm_count;
    void *tm_buffer; /* the program's address */
};

enum sim_transfer_kind { SIM_TRANSFER_SEND, SIM_TRANSFER_RECEIVE, SIM_TRANSFER_BATCH };

/* Checks the messages and queues a task that ends when all of them are across. */
HcclResult sim_transfer_queue(enum sim_transfer_kind kind, HcclComm comm, const struct sim_transfer_message *messages,
                              uint32_t count, struct sim_target stream, void *site);

/* One side of a message between two processes. */
struct sim_transfer_post {
    uint32_t po_rank, po_peer; /* of this side, and of the other one */
    bool po_sends;
    HcclDataType po_type;
    uint64_t po_recorded, po_number; /* as the key of a meeting, for this pair of ranks */
    uint64_t po_count, po_bytes;
    const void *po_buffer; /* the engine's address */
};

/* With the group's lock held: a rank of another process sends a message (it is copied if `is_carried`), or has received
 * one; or there will be none from that side, because of a failure. */
void sim_transfer_come(struct sim_comm_group *group, const struct sim_transfer_post *post, bool is_carried);
void sim_transfer_received(struct sim_comm_group *group, const struct sim_transfer_post *post);
void sim_transfer_refused(struct sim_comm_group *group, const struct sim_transfer_post *post,
                          const struct sim_comm_outcome *outcome);

/* With the group's lock held: whether a message of the rank is being copied; and the rank has left the group while none
 * is, so that what waits for it fails. */
bool sim_transfer_works(const struct sim_comm_group *group, uint32_t rank);
void sim_transfer_leave_all(struct sim_comm_group *group, uint32_t rank);

/* Frees what a group has left over. */
void sim_transfer_forget(struct sim_comm_group *group);

bool sim_transfer_owns(const struct sim_gate *gate);
void sim_transfer_after_fork(void);

#endif
