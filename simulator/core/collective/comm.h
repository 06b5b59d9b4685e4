/* Communicators. The ranks of one communicator are a group; each rank has a handle of its own, an HcclComm. The ranks
 * may be in several processes, each of which has the state of the whole group (span.h). */
#ifndef SIM_COMM_H
#define SIM_COMM_H

#include "base/object.h"
#include "engine/engine.h"
#include "lobby.h"
#include <hccl/hccl.h>

#define SIM_COMM_NAME 128
#define SIM_COMM_TEXT 320

struct sim_meeting;
struct sim_transfer;
struct sim_wire;

/* Messages called so far, and those recorded by captures, between two ranks. */
struct sim_comm_pair {
    uint64_t pr_sent[2], pr_received[2];
};

/* One rank of a group; guarded by gp_lock. */
struct sim_comm_rank {
    bool rk_joined;
    bool rk_left;            /* its communicator was destroyed, or its process has ended */
    bool rk_is_lost;         /* the latter */
    bool rk_suspended;       /* its calls are refused */
    int32_t rk_device;       /* of a rank of this process */
    uint32_t rk_place;       /* of its process: the lowest rank there */
    uint64_t rk_calls;       /* operators called so far, apart from those of captures */
    uint64_t rk_captured;    /* operators recorded by captures */
    struct sim_comm_pair *rk_pairs; /* one per rank */
    HcclResult rk_error;     /* what HcclGetCommAsyncError returns */
};

/* Where the members of a part of a group meet. */
struct sim_comm_offer {
    struct sim_comm_offer *of_next;
    uint64_t of_number;
    struct sim_root_place of_place;
};

struct sim_comm_group {
    struct sim_lock gp_lock;
    _Atomic uint32_t gp_uses;   /* communicators and threads that use it; the last one frees it */
    struct sim_wire *gp_wire;   /* to the other processes; NULL: all ranks are in this one */
    uint32_t gp_count;
    uint32_t gp_here;           /* ranks of this process */
    bool gp_is_part;            /* of another group */
    uint64_t gp_table;          /* the digest of its rank table, or 0 */
    uint64_t gp_timeout;        /* of operators, in nanoseconds; SIM_FOREVER: none */
    char gp_name[SIM_COMM_NAME];
    struct sim_comm_rank *gp_ranks;
    struct sim_meeting *gp_meetings;   /* collectives that not every rank has finished, oldest first */
    struct sim_transfer *gp_transfers; /* messages of which only one side has come */
    struct sim_comm_offer *gp_offers;  /* parts of this group that other processes create */
    struct sim_gate **gp_changed;      /* gates to count on when the lock is released */
    size_t gp_changed_count, gp_changed_room;
};

/* With the group's lock held: counts the gate on when the lock is released, because a stream that becomes ready may run
 * on this thread at once, and take the lock. The gate must exist for ever. A group of several processes has one gate
 * for everything, that of its wire. */
void sim_comm_changed(struct sim_comm_group *group, struct sim_gate *gate);
void sim_comm_unlock(struct sim_comm_group *group);
/* With the group's lock held: a task is about to park until the gate is counted on after the lock was released. */
void sim_comm_park(struct sim_run *run, struct sim_comm_group *group, struct sim_gate *gate);

/* What a communicator was asked to be (HcclCommConfig). */
struct sim_comm_options {
    char op_name[SIM_COMM_NAME]; /* "": the group gets a name */
    uint64_t op_timeout;
};

/* One rank's place in a group, for as long as a thread uses it. */
struct sim_comm_seat {
    struct sim_comm_group *se_group;
    uint32_t se_rank;
};

/* Reads a configuration and the environment; NULL: the environment alone. */
HcclResult sim_comm_read_options(const HcclCommConfig *config, struct sim_comm_options *options);

/* Creates a group without ranks; NULL without memory. Its users are the seats. */
struct sim_comm_group *sim_comm_create_group(uint32_t count, const struct sim_comm_options *options, uint64_t number);
/* Seats a rank of this process, and gives it a handle. */
struct sim_comm_seat sim_comm_seat_rank(struct sim_comm_group *group, uint32_t rank, int32_t device);
HcclResult sim_comm_publish(struct sim_comm_seat seat, HcclComm *handle);

/* Creates a group of the given devices, and all its communicators. */
HcclResult sim_comm_create_all(uint32_t count, const int32_t *devices, HcclComm *comms);

/* Refuse the calls of one rank, and accept them again; what it called before is forgotten. */
HcclResult sim_comm_suspend(HcclComm comm);
HcclResult sim_comm_resume(HcclComm comm);
void sim_comm_suspend_device(int32_t device); /* all communicators of a device */
void sim_comm_end_device(int32_t device); /* it is closed: ends its communicators */

/* With the group's lock held: fails while the rank is suspended. */
static inline HcclResult sim_comm_check_suspended(const struct sim_comm_rank *rank)
{
    SIM_ARGUMENT(!rank->rk_suspended, HCCL_E_SUSPENDING, "comm is suspended, expected HcclCommResume before");
    return HCCL_SUCCESS;
}

/* Ends one rank of a group; operators of other ranks that need it fail. */
HcclResult sim_comm_destroy(HcclComm comm);

/* How long a task waits for other ranks; all 0 before it waits. */
struct sim_comm_wait {
    uint32_t wa_missing; /* the rank that it waits for */
    uint64_t wa_deadline;
    uint64_t wa_patience; /* when it names a rank that has not come; SIM_FOREVER: it has done so */
};

/* Sets the deadline of a task that parks because a rank has not come. After some time, names that rank on stderr. */
void sim_comm_set_deadline(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_wait *wait,
                           uint32_t missing);
/* Whether that deadline has passed. */
bool sim_comm_is_late(const struct sim_run *run, const struct sim_comm_wait *wait);

/* The first failure of an operator, which holds for all of its ranks; oc_code 0: none. */
struct sim_comm_outcome {
    aclError oc_code;
    char oc_text[SIM_COMM_TEXT];
};

/* With the group's lock held: notes a failure unless there is one already, and lets those look who wait at the gate. */
void sim_comm_fail(struct sim_comm_group *group, struct sim_comm_outcome *outcome, struct sim_gate *gate,
                   aclError code, const char *format, ...) __attribute__((format(printf, 5, 6), cold));
/* The same because a rank has left. */
void sim_comm_fail_left(struct sim_comm_group *group, struct sim_comm_outcome *outcome, struct sim_gate *gate,
                        uint32_t rank);
/* The result of a task whose operator has failed; releases the group's lock. */
aclError sim_comm_give_up(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_outcome outcome);
/* Waits until no thread uses the buffers of an operator that has failed. Releases the lock meanwhile; the thread that
 * ends the use counts the gate on. */
void sim_comm_wait_unused(struct sim_comm_group *group, struct sim_gate *gate, const uint32_t *users);

/* Finds the place of a live communicator, with a message if there is none; the caller gives it back. */
HcclResult sim_comm_find(HcclComm comm, struct sim_comm_seat *seat);
bool sim_comm_try_find(HcclComm comm, struct sim_comm_seat *seat);
void sim_comm_give_back(struct sim_comm_seat seat);

/* The handle of the communicator with a name; HCCL_E_NOT_FOUND without one. */
HcclResult sim_comm_named(const char *name, HcclComm *comm);

/* Whether this process has a communicator of a rank table as that rank. */
bool sim_comm_has_table(uint64_t digest, uint32_t rank);

void sim_comm_reset(void);
void sim_comm_after_fork(void);

#endif
