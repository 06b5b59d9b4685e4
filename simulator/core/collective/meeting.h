/* Meetings: one execution of a collective operation, from the first rank's arrival until every rank has left. The lock
 * of the group is held in each call. */
#ifndef SIM_MEETING_H
#define SIM_MEETING_H

#include "collective_work.h"
#include "comm.h"

/* Which execution it is: the number among the calls of a rank, or, of an operator that a capture has recorded, the
 * number among those and that of its execution. */
struct sim_meeting_key {
    uint64_t mk_recorded, mk_number; /* mk_recorded 0: it was called */
};

enum sim_meeting_phase { SIM_MEETING_ABSENT, SIM_MEETING_ARRIVED, SIM_MEETING_DONE, SIM_MEETING_LEFT };

struct sim_meeting {
    struct sim_slot mt_slot;
    struct sim_gate mt_gate;         /* counts the changes of all meetings that this slot was used for */
    struct sim_meeting *mt_next;
    struct sim_meeting_key mt_key;
    struct sim_collective_work mt_work; /* as the first rank called it */
    bool mt_is_carried;                 /* each rank works with copies of all inputs, and needs no rank to be done */
    struct sim_collective_part *mt_parts;
    void **mt_copies;                   /* what the parts point to, if it is the meeting's */
    uint8_t *mt_phases;
    uint32_t mt_first, mt_arrived, mt_working, mt_done, mt_left;
    uint32_t mt_left_here;              /* of this process */
    struct sim_comm_outcome mt_outcome;
};

/* Finds the meeting, or begins it; NULL without memory. */
struct sim_meeting *sim_meeting_find(struct sim_comm_group *group, struct sim_meeting_key key);
/* Finds it if it has begun. */
struct sim_meeting *sim_meeting_peek(const struct sim_comm_group *group, struct sim_meeting_key key);

/* A rank arrives with its part. If it differs from what the first rank called, or tables do not match once all are
 * there, the meeting fails. The meeting frees `copy`. */
void sim_meeting_arrive(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank,
                        const struct sim_collective_work *work, const struct sim_collective_part *part, void *copy);
/* A rank has done its share. */
void sim_meeting_finish(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank);
/* Whether the operator is complete for a rank. */
bool sim_meeting_is_over(const struct sim_comm_group *group, const struct sim_meeting *meeting, uint32_t rank);

/* Notes why it fails. */
#define SIM_MEETING_FAIL(group, meeting, ...)                                                                          \
    sim_comm_fail(group, &(meeting)->mt_outcome, &(meeting)->mt_gate, __VA_ARGS__)

/* A rank needs the meeting no longer. After the last one, the slot is free. */
void sim_meeting_leave(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank);

/* The first rank that has not arrived, or, once all have, that has not done its share. */
uint32_t sim_meeting_missing(const struct sim_meeting *meeting);

/* Whether the buffers of a rank may be in use now. */
bool sim_meeting_works(const struct sim_comm_group *group, uint32_t rank);
/* A rank has left the group while no rank works: what it has not finished fails. */
void sim_meeting_leave_all(struct sim_comm_group *group, uint32_t rank);

/* A rank forgets its calls with lower numbers; those who wait for it there fail. */
void sim_meeting_leave_before(struct sim_comm_group *group, uint32_t rank, uint64_t number);

/* Frees what a group has left over: failed meetings that ranks of other processes have not left. */
void sim_meeting_forget(struct sim_comm_group *group);

bool sim_meeting_owns(const struct sim_gate *gate);
void sim_meeting_after_fork(void);

#endif
