/* Nets: the connections of a process to the others of a communicator whose ranks are on several hosts. Records arrive
 * in order, whole, and with any size. Places are those of the wire (wire.h). */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "engine/gate.h"
#include "net_plugin.h"
#include "wire.h"
#include <hccl/hccl_types.h>

struct sim_net;

/* Whether communicators may span hosts; sim_net_check returns HCCL_E_NOT_SUPPORT with the command that brings what is
 * missing. */
bool sim_net_is_there(void);
HcclResult sim_net_check(void);

/* Connects the process of the place `self` to those of the other places in `is_place`, of `count`; each of them does
 * the same, and sim_net_check has succeeded. `address`: by which they reach this host. The gate, which exists for ever,
 * is counted on when something has arrived. */
HcclResult sim_net_open(uint32_t count, const bool *is_place, uint32_t self, const char *address,
                        const struct acl_hccl_store *store, struct sim_gate *gate, struct sim_net **net);
/* Sends what is queued, waits some seconds until the others close theirs, and closes. */
void sim_net_close(struct sim_net *net);

/* Queues a copy. Without memory, the place is lost. */
void sim_net_send(struct sim_net *net, uint32_t place, const struct sim_wire_record *record);
/* The oldest record of a place, or NULL; sim_net_next frees it. */
const struct sim_wire_record *sim_net_receive(struct sim_net *net, uint32_t place);
void sim_net_next(struct sim_net *net, uint32_t place);
/* Whether nothing more will arrive from a place, apart from what there is to receive. */
bool sim_net_is_lost(struct sim_net *net, uint32_t place);
bool sim_net_has_news(struct sim_net *net, uint32_t place);

#endif
