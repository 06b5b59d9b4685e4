/* Joining: how the ranks of a communicator find each other, in one process or in several on the same machine. */
#ifndef SIM_JOIN_H
#define SIM_JOIN_H

#include "comm.h"

/* Makes the identification of a communicator whose ranks are about to join. */
HcclResult sim_join_root(HcclRootInfo *info);

/* Joins the communicator of a root as one rank with the current device. sim_join_wait then waits until every rank has
 * joined, and makes the handle. Two steps, so that one thread can join as several ranks. */
HcclResult sim_join_by_root(uint32_t count, const HcclRootInfo *info, uint32_t rank,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat);
HcclResult sim_join_wait(struct sim_comm_seat seat, HcclComm *comm);

/* Joins the communicator of a rank table, whose ranks are in processes that read the same file. */
HcclResult sim_join_by_table(const char *path, uint32_t rank, const struct sim_comm_options *options,
                             struct sim_comm_seat *seat);

/* Joins a part of a communicator; the members call it with the same number. Sets the name if it has none. */
HcclResult sim_join_part(HcclComm comm, uint32_t count, const uint32_t *members, uint64_t number, uint32_t rank,
                         struct sim_comm_options *options, struct sim_comm_seat *seat);

#endif
