/* Groups that span several processes. Each process has the state of the whole group: what its own ranks do is told to
 * the others, which apply it in the order in which that process has told it. The group's lock is held in each call,
 * unless something else is said. In a group of one process, the functions do nothing. */
#ifndef SIM_SPAN_H
#define SIM_SPAN_H

#include "meeting.h"
#include "transfer.h"

/* Whether a rank is of this process. */
bool sim_span_is_here(const struct sim_comm_group *group, uint32_t rank);

/* Whether the records of an operator contain what its ranks bring, so that no process reaches memory of another one:
 * short inputs do, and everything between hosts. False in a group of one process. */
bool sim_span_carries(const struct sim_comm_group *group, const struct sim_collective_work *work);

/* Lets other processes reach memory of a rank, which must be of one that its device may access: where they cannot,
 * *scratch is a copy of it on the device, to which the range then refers. Returns 207001. sim_span_reclaim frees that
 * again; a result is copied to the range first. No lock is needed. */
aclError sim_span_lend(struct sim_comm_seat seat, struct sim_range *range, void **scratch);
void sim_span_reclaim(const struct sim_range *range, bool is_result, void **scratch);

/* Tells that a rank arrives at a meeting. `ranges`: what it reads and what it writes. If the records carry the
 * input, `part` then points to a copy of the input, which the caller owns. Returns 207001. */
aclError sim_span_arrive(struct sim_comm_seat seat, struct sim_meeting_key key, const struct sim_collective_work *work,
                         const struct sim_range ranges[2], struct sim_collective_part *part, void **copy);
/* Tell that a rank has done its share, or that it leaves a meeting that has failed. */
void sim_span_done(struct sim_comm_group *group, uint32_t rank, struct sim_meeting_key key);
void sim_span_leave(struct sim_comm_group *group, uint32_t rank, struct sim_meeting_key key,
                    const struct sim_comm_outcome *outcome);

/* Tell a rank of another process that a message is sent to it; that its message was received; that there will be none,
 * or that it will not be received. A long message is lent (sim_span_lend). */
aclError sim_span_send(struct sim_comm_seat seat, const struct sim_transfer_post *post, struct sim_range *range,
                       void **scratch);
void sim_span_take(struct sim_comm_group *group, const struct sim_transfer_post *post);
void sim_span_refuse(struct sim_comm_group *group, const struct sim_transfer_post *post,
                     const struct sim_comm_outcome *outcome);

/* Tells that a rank has left the group. */
void sim_span_end(struct sim_comm_group *group, uint32_t rank);
/* Tells the members of a part where they meet. */
void sim_span_offer(struct sim_comm_group *group, uint32_t count, const uint32_t *members, uint64_t number,
                    const struct sim_root_place *root);

/* Applies what others have told. */
void sim_span_receive(struct sim_comm_group *group);
/* Whether there is more to apply; the lock is not held. If not, the next change by the process of `missing` counts the
 * wire's gate on. */
bool sim_span_has_news(struct sim_comm_group *group, uint32_t missing);

#endif
