/* What HCCL reads from the environment and from HcclCommConfig. */
#ifndef SIM_COMM_CONFIG_H
#define SIM_COMM_CONFIG_H

#include "comm.h"

/* How long ranks wait for each other when a communicator is created, in nanoseconds. */
uint64_t sim_comm_connect_timeout(void);
/* How long an operator waits before it names a rank that has not come. */
uint64_t sim_comm_patience(void);

#endif
