/* What a process does when the last rank has joined: it connects to the other processes. */
#ifndef SIM_CONNECT_H
#define SIM_CONNECT_H

#include "root.h"

/* Gives the group its wire, if there are several processes. All cards are there, and the lock of roots is held; it is
 * released while processes of several hosts connect, because each of them waits for all others. */
HcclResult sim_connect_all(struct sim_root *root);

#endif
