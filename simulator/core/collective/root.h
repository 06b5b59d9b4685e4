/* Roots: the places where the ranks of a communicator meet while it is created. */
#ifndef SIM_ROOT_H
#define SIM_ROOT_H

#include "comm.h"
#include "share/exchange.h"

#define SIM_ROOT_RANKS 64u /* the most of a communicator */

struct sim_root {
    struct sim_root *ro_next;
    uint64_t ro_id;
    const struct sim_comm_group *ro_whole; /* the group of which it is a part, or NULL */
    uint64_t ro_number;                    /* of the part */
    uint64_t ro_table;                     /* the digest of a rank table, or 0 */
    int ro_claim;                          /* of that name, or -1 */
    bool ro_is_own;                        /* this process has published the page */
    struct sim_share ro_page;
    struct sim_wire *ro_wire;              /* NULL: the group has it */
    struct sim_gate *ro_gate;              /* of the wire: counts the changes of the page */
    struct sim_comm_group *ro_group;       /* NULL: no rank of this process has joined */
    uint32_t ro_users;                     /* ranks of this process that have joined and still wait */
    bool ro_is_connected;
    HcclResult ro_result;                  /* of that */
};

/* While roots are looked up, opened and joined, this lock is held. It may be held for long. */
void sim_root_lock(void);
void sim_root_unlock(void);

/* Find a root that this process knows: by its id, as that of a part of a group, or of a rank table. NULL: none. */
struct sim_root *sim_root_find(uint64_t id);
struct sim_root *sim_root_find_part(const struct sim_comm_group *whole, uint64_t number);
struct sim_root *sim_root_find_table(uint64_t digest);

/* Publishes a page (id 0), or opens that of another process. NULL, with the code of the exchange. */
struct sim_root *sim_root_open(uint64_t id, int32_t device, aclError *code);
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
