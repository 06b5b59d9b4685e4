/* Meetings are slots of a table, so that the gate at which a task is parked exists for ever; it counts changes over all
 * uses of the slot. A woken task finds its meeting again by the key. Everything but the gate is guarded by the lock of
 * the group; the table's own lock and the gate's are taken inside. */
#include "meeting.h"

#include "collective.h"
#include "span.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct sim_table meetings = {
    .tb_stride = sizeof(struct sim_meeting), .tb_limit = 1u << 20, .tb_kind = SIM_KIND_MEETING};

static void free_meeting(struct sim_meeting *meeting, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++)
        free(meeting->mt_copies[rank]);
    free(meeting->mt_parts);
    free(meeting->mt_copies);
    free(meeting->mt_phases);
    atomic_store_explicit(&meeting->mt_slot.sl_handle, 0, memory_order_relaxed);
    sim_table_give(&meetings, meeting);
}

static struct sim_meeting *begin(struct sim_comm_group *group, struct sim_meeting_key key)
{
    uint64_t handle;
    struct sim_meeting *meeting = sim_table_open(&meetings) == 0 ? sim_table_take(&meetings, &handle) : NULL;
    if (meeting == NULL)
        return NULL;
    meeting->mt_parts = calloc(group->gp_count, sizeof *meeting->mt_parts);
    meeting->mt_copies = calloc(group->gp_count, sizeof *meeting->mt_copies);
    meeting->mt_phases = calloc(group->gp_count, sizeof *meeting->mt_phases);
    if (meeting->mt_parts == NULL || meeting->mt_copies == NULL || meeting->mt_phases == NULL) {
        free_meeting(meeting, 0);
        return NULL;
    }
    meeting->mt_next = NULL;
    meeting->mt_key = key;
    meeting->mt_arrived = meeting->mt_working = meeting->mt_done = meeting->mt_left = meeting->mt_left_here = 0;
    meeting->mt_is_carried = false;
    meeting->mt_outcome.oc_code = ACL_SUCCESS;
    atomic_store_explicit(&meeting->mt_slot.sl_handle, handle, memory_order_release);
    struct sim_meeting **last = &group->gp_meetings;
    while (*last != NULL)
        last = &(*last)->mt_next;
    *last = meeting;
    /* A rank that has left the group will not come. */
    for (uint32_t rank = 0; rank < group->gp_count; rank++)
        if (group->gp_ranks[rank].rk_left) {
            sim_comm_fail_left(group, &meeting->mt_outcome, &meeting->mt_gate, rank);
            meeting->mt_phases[rank] = SIM_MEETING_LEFT;
            meeting->mt_left++;
            meeting->mt_left_here += sim_span_is_here(group, rank);
        }
    return meeting;
}

struct sim_meeting *sim_meeting_peek(const struct sim_comm_group *group, struct sim_meeting_key key)
{
    struct sim_meeting *meeting = group->gp_meetings;
    while (meeting != NULL &&
           (meeting->mt_key.mk_recorded != key.mk_recorded || meeting->mt_key.mk_number != key.mk_number))
        meeting = meeting->mt_next;
    return meeting;
}

struct sim_meeting *sim_meeting_find(struct sim_comm_group *group, struct sim_meeting_key key)
{
    struct sim_meeting *meeting = sim_meeting_peek(group, key);
    return meeting != NULL ? meeting : begin(group, key);
}

/* ---- arrival ---- */

static void compare(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank,
                    const struct sim_collective_work *work)
{
    const struct sim_collective_work *first = &meeting->mt_work;
    const struct {
        const char *what;
        uint64_t mine, expected;
    } pairs[] = {{"count", work->wo_count, first->wo_count},
                 {"dataType", work->wo_type, first->wo_type},
                 {"op", work->wo_op, first->wo_op},
                 {"root", work->wo_root, first->wo_root}};
    if (work->wo_kind != first->wo_kind)
        SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_PARAM_INVALID,
                         "EI0005: rank %u called %s where rank %u called %s, expected the same function in the same "
                         "order on all ranks", rank, sim_collective_name(work->wo_kind), meeting->mt_first,
                         sim_collective_name(first->wo_kind));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].mine != pairs[i].expected)
            SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_PARAM_INVALID,
                             "EI0005: %s is %" PRIu64 " on rank %u and %" PRIu64 " on rank %u, expected the same",
                             pairs[i].what, pairs[i].mine, rank, pairs[i].expected, meeting->mt_first);
}

/* With all ranks there: each sends to another one as many elements as that one expects. */
static void compare_tables(struct sim_comm_group *group, struct sim_meeting *meeting)
{
    const struct sim_collective_work *work = &meeting->mt_work;
    for (uint32_t to = 0; to < work->wo_ranks; to++)
        for (uint32_t from = 0; from < work->wo_ranks; from++) {
            const uint64_t expected = meeting->mt_parts[to].sp_to_counts[from];
            const uint64_t sent = meeting->mt_parts[from].sp_from_counts[to];
            if (sent != expected)
                SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_PARAM_INVALID,
                                 "EI0005: rank %u sends %" PRIu64 " elements to rank %u, which expects %" PRIu64, from,
                                 sent, to, expected);
        }
}

static void compare_blocks(struct sim_comm_group *group, struct sim_meeting *meeting)
{
    const struct sim_collective_work *work = &meeting->mt_work;
    const struct sim_collective_part *first = &meeting->mt_parts[meeting->mt_first];
    const size_t bytes = work->wo_ranks * sizeof(uint64_t);
    for (uint32_t rank = 0; rank < work->wo_ranks; rank++) {
        const struct sim_collective_part *part = &meeting->mt_parts[rank];
        if (memcmp(part->sp_from_counts, first->sp_from_counts, bytes) != 0 ||
            memcmp(part->sp_from_starts, first->sp_from_starts, bytes) != 0)
            SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_PARAM_INVALID,
                             "EI0005: sendCounts or sendDispls of rank %u differ from those of rank %u, expected the "
                             "same", rank, meeting->mt_first);
    }
}

void sim_meeting_arrive(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank,
                        const struct sim_collective_work *work, const struct sim_collective_part *part, void *copy)
{
    if (meeting->mt_arrived == 0) {
        meeting->mt_first = rank;
        meeting->mt_is_carried = sim_span_carries(group, work);
        meeting->mt_work = *work;
        meeting->mt_work.wo_ranks = group->gp_count;
        meeting->mt_work.wo_parts = meeting->mt_parts;
    } else {
        compare(group, meeting, rank, work);
    }
    meeting->mt_parts[rank] = *part;
    meeting->mt_copies[rank] = copy;
    meeting->mt_phases[rank] = SIM_MEETING_ARRIVED;
    /* The task of a rank in another process can end as soon as all have arrived: nothing more will be heard of it. */
    if (meeting->mt_is_carried && !sim_span_is_here(group, rank))
        sim_meeting_finish(group, meeting, rank);
    if (++meeting->mt_arrived < group->gp_count)
        return;
    if (work->wo_kind == SIM_ALL_TO_ALL_V || work->wo_kind == SIM_ALL_GATHER_V)
        compare_tables(group, meeting);
    if (work->wo_kind == SIM_REDUCE_SCATTER_V)
        compare_blocks(group, meeting);
    sim_comm_changed(group, &meeting->mt_gate);
}

void sim_meeting_finish(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank)
{
    meeting->mt_phases[rank] = SIM_MEETING_DONE;
    if (++meeting->mt_done == group->gp_count || meeting->mt_outcome.oc_code != ACL_SUCCESS)
        sim_comm_changed(group, &meeting->mt_gate);
}

bool sim_meeting_is_over(const struct sim_comm_group *group, const struct sim_meeting *meeting, uint32_t rank)
{
    return meeting->mt_is_carried ? meeting->mt_phases[rank] == SIM_MEETING_DONE : meeting->mt_done == group->gp_count;
}

uint32_t sim_meeting_missing(const struct sim_meeting *meeting)
{
    const uint32_t count = meeting->mt_work.wo_ranks;
    for (uint32_t rank = 0; rank < count; rank++)
        if (meeting->mt_phases[rank] == SIM_MEETING_ABSENT)
            return rank;
    for (uint32_t rank = 0; rank < count; rank++)
        if (meeting->mt_phases[rank] == SIM_MEETING_ARRIVED)
            return rank;
    return 0;
}

/* ---- the end ---- */

/* If it has not failed, the last rank of this process leaves after those of the others are done. If it has, each rank
 * tells that it leaves. */
void sim_meeting_leave(struct sim_comm_group *group, struct sim_meeting *meeting, uint32_t rank)
{
    const bool is_here = sim_span_is_here(group, rank), has_failed = meeting->mt_outcome.oc_code != ACL_SUCCESS;
    if (meeting->mt_phases[rank] == SIM_MEETING_LEFT)
        return;
    meeting->mt_phases[rank] = SIM_MEETING_LEFT;
    meeting->mt_left++;
    meeting->mt_left_here += is_here;
    if (is_here && has_failed)
        sim_span_leave(group, rank, meeting->mt_key, &meeting->mt_outcome);
    if (meeting->mt_left < group->gp_count && (has_failed || meeting->mt_left_here < group->gp_here))
        return;
    struct sim_meeting **at = &group->gp_meetings;
    while (*at != meeting)
        at = &(*at)->mt_next;
    *at = meeting->mt_next;
    free_meeting(meeting, group->gp_count);
}

bool sim_meeting_works(const struct sim_comm_group *group, uint32_t rank)
{
    for (const struct sim_meeting *meeting = group->gp_meetings; meeting != NULL; meeting = meeting->mt_next)
        if (meeting->mt_working != 0 && meeting->mt_phases[rank] != SIM_MEETING_LEFT)
            return true;
    return false;
}

void sim_meeting_leave_all(struct sim_comm_group *group, uint32_t rank)
{
    for (struct sim_meeting *meeting = group->gp_meetings, *next; meeting != NULL; meeting = next) {
        next = meeting->mt_next;
        if (meeting->mt_phases[rank] < SIM_MEETING_DONE)
            sim_comm_fail_left(group, &meeting->mt_outcome, &meeting->mt_gate, rank);
        sim_meeting_leave(group, meeting, rank);
    }
}

void sim_meeting_leave_before(struct sim_comm_group *group, uint32_t rank, uint64_t number)
{
    for (struct sim_meeting *meeting = group->gp_meetings, *next; meeting != NULL; meeting = next) {
        next = meeting->mt_next;
        if (meeting->mt_key.mk_recorded != 0 || meeting->mt_key.mk_number >= number || meeting->mt_working != 0)
            continue;
        if (meeting->mt_phases[rank] < SIM_MEETING_DONE)
            SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_SOCKET_CLOSE, "the communicator of rank %u was resumed",
                             rank);
        sim_meeting_leave(group, meeting, rank);
    }
}

void sim_meeting_forget(struct sim_comm_group *group)
{
    for (struct sim_meeting *meeting = group->gp_meetings, *next; meeting != NULL; meeting = next) {
        next = meeting->mt_next;
        free_meeting(meeting, group->gp_count);
    }
}

bool sim_meeting_owns(const struct sim_gate *gate)
{
    return sim_table_slot_of(&meetings, gate) != NULL;
}

void sim_meeting_after_fork(void)
{
    sim_table_empty(&meetings);
}
