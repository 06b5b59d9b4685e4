/* Roots: the places where the ranks of a communicator meet while it is created. */
#ifndef SIM_ROOT_H
#define SIM_ROOT_H

#include "comm.h"
#include "lobby.h"
#include "share/exchange.h"

#define SIM_ROOT_RANKS 64u /* the most of a communicator */

struct sim_root {
    struct sim_root *ro_next;
    struct sim_root_place ro_place;
    const struct sim_comm_group *ro_whole; /* the group of which it is a part, or NULL */
    uint64_t ro_number;                    /* of the part */
    uint64_t ro_table;                     /* the digest of a rank table, or 0 */
    int ro_claim;                          /* of that name, or -1 */
    bool ro_is_own;                        /* this process has published the page */
    struct sim_share ro_page;              /* without a link, if the root is of another host */
    _Atomic uint64_t *ro_words;            /* of the page, or a copy of them */
    struct sim_lobby *ro_lobby;            /* for other hosts; NULL: they cannot take part */
    struct sim_guest *ro_guest;            /* of the lobby of another host */
    _Atomic bool ro_is_cut;                /* from that lobby */
    struct sim_wire *ro_wire;              /* NULL: the group has it */
    struct sim_gate *ro_gate;              /* of the wire: counts the changes of the page */
    struct sim_comm_group *ro_group;       /* NULL: no rank of this process has joined */
    uint32_t ro_users;                     /* ranks of this process that have joined and still wait */
    enum { SIM_ROOT_JOINS, SIM_ROOT_CONNECTS, SIM_ROOT_CONNECTED } ro_phase; /* of this process */
    HcclResult ro_result;                  /* of connecting */
};

/* While roots are looked up, opened and joined, this lock is held. It may be held for long. */
void sim_root_lock(void);
void sim_root_unlock(void);

/* Find a root that this process knows: by its place, as that of a part of a group, or of a rank table. NULL: none. */
struct sim_root *sim_root_find(const struct sim_root_place *place);
struct sim_root *sim_root_find_part(const struct sim_comm_group *whole, uint64_t number);
struct sim_root *sim_root_find_table(uint64_t digest);

/* Publishes a page (id 0), or opens that of another process. NULL, with the code of the exchange. */
struct sim_root *sim_root_open(uint64_t id, int32_t device, aclError *code);
/* Lets processes of other hosts join a root of this process, where that is possible (sim_net_is_there,
 * sim_host_is_alone). */
HcclResult sim_root_let_in_hosts(struct sim_root *root);
/* Opens the root of a process of another host. If there is none yet, returns HCCL_E_AGAIN and sets no error message. */
HcclResult sim_root_visit(const struct sim_root_place *place, struct sim_root **root);
void sim_root_remove(struct sim_root *root);

/* Joins as one rank. HCCL_E_UNAVAIL if the root is NULL or over. */
HcclResult sim_root_join(struct sim_root *root, uint32_t count, uint32_t rank, int32_t device,
                         const struct sim_comm_options *options, struct sim_comm_seat *seat);

/* Waits until all ranks have joined the group of a root, as one of them, and connects the processes. The lock is not
 * held. */
HcclResult sim_root_wait(const struct sim_comm_group *group);

void sim_root_reset(void);
void sim_root_after_fork(void);

#endif
