/* Access of one device to the memory of another. */
#ifndef SIM_PEER_H
#define SIM_PEER_H

#include "base/fail.h"

/* Returns 207000 on chips whose devices cannot access each other's memory. */
aclError sim_peer_supported(void);

/* Whether the program gave `device` access to the memory of `peer`; ids come from the user and may be any number. */
bool sim_peer_is_enabled(int32_t device, int32_t peer);
void sim_peer_set(int32_t device, int32_t peer, bool enabled);

/* Whether work of `device` may access the memory of `owner`: its own, a peer's, or any if the chips share memory. */
bool sim_peer_reaches(int32_t device, int32_t owner);

/* Ends the access of `device` to others, and that of others to `device`. */
void sim_peer_forget(int32_t device);

#endif
