/* Guests: the connections of a process to the lobby of another one (lobby.h). */
#ifndef SIM_GUEST_H
#define SIM_GUEST_H

#include "engine/gate.h"
#include "lobby.h"
#include "net_plugin.h"

struct sim_guest;
/* Connects to the lobby of a root. A place without a port may have none yet: HCCL_E_AGAIN, without an error message.
 * From then on a thread writes the words. It counts the gate on when the words have changed, and when the connection is
 * lost (*is_lost). */
HcclResult sim_guest_open(const struct sim_root_place *place, _Atomic uint64_t *words, _Atomic bool *is_lost,
                          struct sim_gate *gate, struct sim_guest **guest);
void sim_guest_close(struct sim_guest *guest);
struct sim_answer sim_guest_ask(struct sim_guest *guest, const struct sim_request *request);
void sim_guest_give_up(struct sim_guest *guest, uint32_t rank);

/* Values under names, which the lobby keeps while the processes connect. `rank`: the lowest one of this process. */
HcclResult sim_guest_connect_store(const struct sim_root_place *place, uint32_t rank, struct acl_hccl_store *store);
/* Tells the lobby whether this process has connected: if not, all others fail to. */
void sim_guest_close_store(struct acl_hccl_store *store, bool connected);

#endif
