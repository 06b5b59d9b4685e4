/* Access of one device to the memory of another. */
#ifndef SIM_PEER_H
#define SIM_PEER_H

#include "base/fail.h"

/* 207000 on chips whose devices do not reach one another. */
aclError sim_peer_supported(void);

/* Whether the program let `device` access the memory of `peer`; ids are the user's and may be any number. */
bool sim_peer_is_enabled(int32_t device, int32_t peer);
void sim_peer_set(int32_t device, int32_t peer, bool enabled);

/* Whether work of `device` may touch the memory of `owner`: its own, a peer's, or any where chips share their memory. */
bool sim_peer_reaches(int32_t device, int32_t owner);

/* What `device` was let access, and who was let access it, ends. */
void sim_peer_forget(int32_t device);

#endif
