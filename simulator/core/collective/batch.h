/* HcclGroupStart and HcclGroupEnd: what a thread calls between them is one unit. Messages to the same stream become
 * one task, so that two ranks that both send first do not wait for each other, and a thread can create the
 * communicators of several devices. Groups nest; the outermost end does the work. Collective operations are queued at
 * once, since queuing never waits. */
#ifndef SIM_BATCH_H
#define SIM_BATCH_H

#include "transfer.h"

void sim_batch_start(void);
HcclResult sim_batch_end(void);
bool sim_batch_is_open(void);

/* Queue a message, and the creation of a communicator, now or at the end of the group. */
HcclResult sim_batch_message(enum sim_transfer_kind kind, HcclComm comm, const struct sim_transfer_message *message,
                             aclrtStream stream, void *site);
HcclResult sim_batch_wait(struct sim_comm_seat seat, HcclComm *comm);

#endif
