/* A task of a collective operation arrives at a meeting, parks until all ranks are there, does its share of the work,
 * parks until all shares are done, and ends: no buffer is used after its rank's task. It never blocks a thread.
 *
 * The argument is one block without pointers into itself: the ranges, then the tables. Its state says how far this
 * execution is. A replay runs the same argument again; the ticket of the stream tells the next execution from the rest
 * of this one. A task keeps the handle of its communicator and finds the group each time it runs, so a destroyed
 * communicator fails it. The lock of the group guards meetings; no lock is held during the work. */
#include "collective.h"

#include "address/memory.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/stream.h"
#include "meeting.h"
#include "span.h"
#include "transfer.h"
#include "wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FROM, TO, RANGES };
enum { FROM_COUNTS, FROM_STARTS, TO_COUNTS, TO_STARTS, TABLES };

struct collective {
    struct sim_range ct_ranges[RANGES]; /* of size 0: nothing is used */
    HcclComm ct_comm;
    struct sim_collective_work ct_work; /* without parts */
    struct sim_meeting_key ct_key;      /* mk_recorded 0: it is called once */
    /* State of an execution. */
    uint64_t ct_ticket;
    const struct sim_stream *ct_stream;
    struct sim_comm_wait ct_wait;
    struct sim_range ct_reached[RANGES]; /* by other processes: the ranges, or copies of them */
    void *ct_scratch[RANGES];            /* the copies, or NULL */
    bool ct_is_reached;                  /* there was memory for them */
    uint32_t ct_ranks;              /* entries of a table */
    bool ct_tables[TABLES];
    uint64_t ct_numbers[];
};

/* ---- functions ---- */

static aclError run(struct sim_run *run, void *argument);
static void drop(void *argument);

#define OP(kind, name, flags)                                                                                          \
    [kind] = {.op_name = (name), .op_run = run, .op_drop = drop, .op_range_count = RANGES, .op_flags = (flags),        \
              .op_kind = SIM_TASK_OTHER}
static const struct sim_op ops[] = {
    OP(SIM_ALL_REDUCE, "HcclAllReduce", SIM_OP_HEAVY),
    OP(SIM_REDUCE, "HcclReduce", SIM_OP_HEAVY),
    OP(SIM_BROADCAST, "HcclBroadcast", SIM_OP_HEAVY),
    OP(SIM_ALL_GATHER, "HcclAllGather", SIM_OP_HEAVY),
    OP(SIM_ALL_GATHER_V, "HcclAllGatherV", SIM_OP_HEAVY),
    OP(SIM_REDUCE_SCATTER, "HcclReduceScatter", SIM_OP_HEAVY),
    OP(SIM_REDUCE_SCATTER_V, "HcclReduceScatterV", SIM_OP_HEAVY),
    OP(SIM_SCATTER, "HcclScatter", SIM_OP_HEAVY),
    OP(SIM_ALL_TO_ALL, "HcclAlltoAll", SIM_OP_HEAVY),
    OP(SIM_ALL_TO_ALL_V, "HcclAlltoAllV", SIM_OP_HEAVY),
    OP(SIM_BARRIER, "HcclBarrier", SIM_OP_LIGHT),
};

const char *sim_collective_name(enum sim_collective_kind kind)
{
    return ops[kind].op_name;
}

static const uint64_t *table_at(const struct collective *task, unsigned which)
{
    const uint64_t *at = task->ct_numbers;
    if (!task->ct_tables[which])
        return NULL;
    for (unsigned i = 0; i < which; i++)
        at += task->ct_tables[i] ? task->ct_ranks : 0;
    return at;
}

static void *reach(const struct sim_range *range)
{
    return range->rg_size == 0 ? NULL : sim_memory_reach(range->rg_address);
}

static struct sim_collective_part part_of(const struct collective *task)
{
    return (struct sim_collective_part){reach(&task->ct_reached[FROM]), reach(&task->ct_reached[TO]),
                                        table_at(task, FROM_COUNTS), table_at(task, FROM_STARTS),
                                        table_at(task, TO_COUNTS), table_at(task, TO_STARTS)};
}

/* ---- the execution ---- */

static void begin(struct collective *task, const struct sim_run *run, struct sim_comm_seat seat)
{
    task->ct_ticket = run->rn_ticket;
    task->ct_stream = run->rn_stream;
    task->ct_wait = (struct sim_comm_wait){0};
    if (task->ct_key.mk_recorded != 0)
        task->ct_key.mk_number++;
    memcpy(task->ct_reached, task->ct_ranges, sizeof task->ct_reached);
    task->ct_is_reached = true;
    for (unsigned i = 0; i < RANGES && !sim_span_carries(seat.se_group, &task->ct_work); i++)
        task->ct_is_reached &= sim_span_lend(seat, &task->ct_reached[i], &task->ct_scratch[i]) == ACL_SUCCESS;
}

static void end(struct collective *task, bool has_result)
{
    for (unsigned i = 0; i < RANGES; i++)
        sim_span_reclaim(&task->ct_ranges[i], has_result && i == TO, &task->ct_scratch[i]);
    task->ct_ticket = 0;
}

/* With the group's lock held: ends the rank's part in a meeting that has failed. */
static aclError fail(struct sim_run *run, struct sim_comm_seat seat, struct sim_meeting *meeting)
{
    const struct sim_comm_outcome outcome = meeting->mt_outcome;
    sim_meeting_leave(seat.se_group, meeting, seat.se_rank);
    return sim_comm_give_up(run, seat, outcome);
}

/* With the group's lock held: arrives at the meeting. */
static void arrive(struct collective *task, struct sim_comm_seat seat, struct sim_meeting *meeting)
{
    struct sim_collective_part part = part_of(task);
    void *copy = NULL;
    if (task->ct_is_reached &&
        sim_span_arrive(seat, task->ct_key, &task->ct_work, task->ct_reached, &part, &copy) == ACL_SUCCESS)
        sim_meeting_arrive(seat.se_group, meeting, seat.se_rank, &task->ct_work, &part, copy);
    else
        SIM_MEETING_FAIL(seat.se_group, meeting, ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "rank %u has no memory for the operator, or more than 3.5 GiB for another host", seat.se_rank);
}

/* With the group's lock held: parks until the meeting changes. In one process, each rank does its share once all have
 * arrived; the process of another one may be stopped. */
static aclError park(struct sim_run *run, struct collective *task, struct sim_comm_seat seat,
                     struct sim_meeting *meeting)
{
    sim_comm_park(run, seat.se_group, &meeting->mt_gate);
    run->rn_deadline = SIM_FOREVER;
    if (meeting->mt_arrived < seat.se_group->gp_count || seat.se_group->gp_wire != NULL)
        sim_comm_set_deadline(run, seat, &task->ct_wait, sim_meeting_missing(meeting));
    sim_comm_unlock(seat.se_group);
    return SIM_PARK;
}

/* With the group's lock held, which is released during the work. From here on it waits for the others to be done. */
static void work(struct sim_run *run, struct collective *task, struct sim_comm_seat seat, struct sim_meeting *meeting)
{
    struct sim_comm_group *group = seat.se_group;
    meeting->mt_working++;
    sim_comm_unlock(group);
    if (meeting->mt_is_carried)
        sim_collective_work_alone(&meeting->mt_work, seat.se_rank);
    else
        sim_collective_work(&meeting->mt_work, seat.se_rank);
    sim_lock(&group->gp_lock);
    meeting->mt_working--;
    run->rn_expired = false;
    task->ct_wait = (struct sim_comm_wait){0};
    sim_meeting_finish(group, meeting, seat.se_rank);
    if (!meeting->mt_is_carried)
        sim_span_done(group, seat.se_rank, meeting->mt_key);
}

/* With the group's lock held, which it releases. */
static aclError advance(struct sim_run *run, struct collective *task, struct sim_comm_seat seat)
{
    struct sim_comm_group *group = seat.se_group;
    struct sim_meeting *meeting = sim_meeting_find(group, task->ct_key);
    if (meeting == NULL) {
        sim_comm_unlock(group);
        return sim_engine_give_up(run, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for the operator");
    }
    if (meeting->mt_phases[seat.se_rank] == SIM_MEETING_ABSENT && meeting->mt_outcome.oc_code == ACL_SUCCESS)
        arrive(task, seat, meeting);
    if (meeting->mt_outcome.oc_code == ACL_SUCCESS && meeting->mt_arrived == group->gp_count &&
        meeting->mt_phases[seat.se_rank] == SIM_MEETING_ARRIVED)
        work(run, task, seat, meeting);
    if (meeting->mt_outcome.oc_code == ACL_SUCCESS && !sim_meeting_is_over(group, meeting, seat.se_rank)) {
        if (!sim_comm_is_late(run, &task->ct_wait))
            return park(run, task, seat, meeting);
        SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_TASK_TIMEOUT,
                         "EI0002: rank %u has waited for rank %u until its time-out (HCCL_EXEC_TIMEOUT)", seat.se_rank,
                         sim_meeting_missing(meeting));
    }
    if (meeting->mt_outcome.oc_code != ACL_SUCCESS)
        return fail(run, seat, meeting);
    sim_meeting_leave(group, meeting, seat.se_rank);
    sim_comm_unlock(group);
    return ACL_SUCCESS;
}

static aclError run(struct sim_run *run, void *argument)
{
    struct collective *task = argument;
    struct sim_comm_seat seat;
    const bool begins = task->ct_ticket != run->rn_ticket || task->ct_stream != run->rn_stream;
    if (!sim_comm_try_find(task->ct_comm, &seat)) {
        end(task, false);
        return sim_engine_give_up(run, ACL_ERROR_RT_SOCKET_CLOSE, "its communicator was destroyed");
    }
    if (begins)
        begin(task, run, seat);
    aclError code;
    do {
        sim_lock(&seat.se_group->gp_lock);
        sim_span_receive(seat.se_group);
        code = advance(run, task, seat);
    } while (code == SIM_PARK && sim_span_has_news(seat.se_group, task->ct_wait.wa_missing));
    if (code != SIM_PARK)
        end(task, code == ACL_SUCCESS);
    sim_comm_give_back(seat);
    return code;
}

/* Discards one execution. Waits while another rank still accesses the buffers of this one. */
static void drop(void *argument)
{
    struct collective *task = argument;
    struct sim_comm_seat seat;
    if (task->ct_ticket == 0 && task->ct_key.mk_recorded != 0)
        task->ct_key.mk_number++;
    end(task, false);
    if (!sim_comm_try_find(task->ct_comm, &seat))
        return;
    sim_lock(&seat.se_group->gp_lock);
    sim_span_receive(seat.se_group);
    struct sim_meeting *meeting = sim_meeting_find(seat.se_group, task->ct_key);
    if (meeting != NULL) {
        SIM_MEETING_FAIL(seat.se_group, meeting, ACL_ERROR_RT_SOCKET_CLOSE, "the operator of rank %u was discarded",
                         seat.se_rank);
        sim_comm_wait_unused(seat.se_group, &meeting->mt_gate, &meeting->mt_working);
        sim_meeting_leave(seat.se_group, meeting, seat.se_rank);
    }
    sim_comm_unlock(seat.se_group);
    sim_comm_give_back(seat);
}

bool sim_collective_setter(const struct sim_gate *gate, sim_record *record, bool *guessed)
{
    if (!sim_meeting_owns(gate) && !sim_transfer_owns(gate) && !sim_wire_owns(gate))
        return false;
    *record = 0;
    *guessed = true;
    return true;
}

/* ---- checks ---- */

#define BIT(type) (UINT64_C(1) << (type))
#define SMALL (BIT(HCCL_DATA_TYPE_INT8) | BIT(HCCL_DATA_TYPE_INT32) | BIT(HCCL_DATA_TYPE_FP16) | \
               BIT(HCCL_DATA_TYPE_FP32))
#define WORDS (BIT(HCCL_DATA_TYPE_INT16) | BIT(HCCL_DATA_TYPE_BFP16)) /* without products */

/* Which types a chip reduces, with every operation or all but products. */
static const struct {
    uint64_t all, no_products;
} reduced[] = {
    [SIM_P950] = {SMALL | BIT(HCCL_DATA_TYPE_INT64) | BIT(HCCL_DATA_TYPE_UINT64) | BIT(HCCL_DATA_TYPE_FP64), WORDS},
    [SIM_PA3] = {SMALL | BIT(HCCL_DATA_TYPE_INT64), WORDS},
    [SIM_PA2] = {SMALL | BIT(HCCL_DATA_TYPE_INT64), WORDS},
    [SIM_P310B] = {SMALL, 0},
    [SIM_P310P] = {SMALL, BIT(HCCL_DATA_TYPE_INT16)},
    [SIM_P910] = {SMALL | BIT(HCCL_DATA_TYPE_INT64), 0},
};

static bool reduces(enum sim_collective_kind kind)
{
    return kind == SIM_ALL_REDUCE || kind == SIM_REDUCE || kind == SIM_REDUCE_SCATTER || kind == SIM_REDUCE_SCATTER_V;
}

static HcclResult check_type(const struct sim_collective_call *call)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    const uint32_t size = sim_collective_type_size(call->cl_type);
    SIM_ARGUMENT(size != 0, HCCL_E_PARA, "dataType is %d, expected a member of HcclDataType", (int)call->cl_type);
    if (!reduces(call->cl_kind))
        return HCCL_SUCCESS;
    SIM_ARGUMENT(call->cl_op <= HCCL_REDUCE_MIN, HCCL_E_PARA, "op is %d, expected 0 (sum), 1 (product), 2 (maximum) or "
                 "3 (minimum)", (int)call->cl_op);
    const uint64_t types = reduced[soc->so_profile].all |
                           (call->cl_op != HCCL_REDUCE_PROD ? reduced[soc->so_profile].no_products : 0);
    SIM_ARGUMENT((types & BIT(call->cl_type)) != 0, HCCL_E_NOT_SUPPORT,
                 "%s does not reduce dataType %d with op %d", soc->so_name, (int)call->cl_type, (int)call->cl_op);
    SIM_ARGUMENT((uintptr_t)call->cl_from % size == 0 && (uintptr_t)call->cl_to % size == 0, HCCL_E_PARA,
                 "sendBuf is %p and recvBuf is %p, expected multiples of %u, the size of an element", call->cl_from,
                 call->cl_to, size);
    return HCCL_SUCCESS;
}

/* ---- what a rank touches ---- */

/* Elements of both buffers. */
static void elements_of(const struct collective *task, uint32_t rank, uint64_t *from, uint64_t *to)
{
    const struct sim_collective_work *work = &task->ct_work;
    const uint64_t count = work->wo_count, all = count * task->ct_ranks;
    const bool is_root = rank == work->wo_root;
    *from = *to = count;
    switch (work->wo_kind) {
    case SIM_REDUCE:
        *to = is_root ? count : 0;
        break;
    case SIM_BROADCAST:
        *from = 0;
        break;
    case SIM_ALL_GATHER:
        *to = all;
        break;
    case SIM_REDUCE_SCATTER:
        *from = all;
        break;
    case SIM_SCATTER:
        *from = is_root ? all : 0;
        break;
    case SIM_ALL_TO_ALL:
        *from = *to = all;
        break;
    case SIM_ALL_GATHER_V:
        *from = table_at(task, FROM_COUNTS)[rank];
        *to = sim_collective_end(table_at(task, TO_COUNTS), table_at(task, TO_STARTS), task->ct_ranks);
        break;
    case SIM_REDUCE_SCATTER_V:
        *from = sim_collective_end(table_at(task, FROM_COUNTS), table_at(task, FROM_STARTS), task->ct_ranks);
        *to = table_at(task, FROM_COUNTS)[rank];
        break;
    case SIM_ALL_TO_ALL_V:
        *from = sim_collective_end(table_at(task, FROM_COUNTS), table_at(task, FROM_STARTS), task->ct_ranks);
        *to = sim_collective_end(table_at(task, TO_COUNTS), table_at(task, TO_STARTS), task->ct_ranks);
        break;
    default:
        break;
    }
}

static HcclResult claim(struct sim_range *range, const void *address, uint64_t elements, HcclDataType type, bool write,
                        const char *name)
{
    uint64_t bytes = elements;
    if (elements == 0)
        return HCCL_SUCCESS;
    SIM_ARGUMENT(address != NULL, HCCL_E_PTR, "%s is NULL, expected device memory", name);
    SIM_ARGUMENT(elements != UINT64_MAX && sim_size_multiply(&bytes, sim_collective_type_size(type)), HCCL_E_PARA,
                 "%s would have %" PRIu64 " elements, which no memory holds", name, elements);
    *range = (struct sim_range){.rg_address = address, .rg_size = bytes, .rg_write = write};
    return sim_memory_claim(range, name) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_PARA;
}

static HcclResult claim_buffers(struct collective *task, const struct sim_collective_call *call, uint32_t rank)
{
    const bool broadcasts = call->cl_kind == SIM_BROADCAST, writes = !broadcasts || rank != call->cl_root;
    uint64_t from, to, most = UINT64_MAX / 16 / task->ct_ranks;
    SIM_ARGUMENT(call->cl_count <= most, HCCL_E_PARA, "count is %" PRIu64 ", expected at most %" PRIu64, call->cl_count,
                 most);
    elements_of(task, rank, &from, &to);
    SIM_ARGUMENT(call->cl_from != call->cl_to || from == 0 || to == 0 ||
                     (call->cl_kind != SIM_ALL_TO_ALL && call->cl_kind != SIM_ALL_TO_ALL_V &&
                      call->cl_kind != SIM_ALL_GATHER_V && call->cl_kind != SIM_REDUCE_SCATTER_V), HCCL_E_PARA,
                 "sendBuf and recvBuf are both %p, expected different buffers", call->cl_from);
    HcclResult result = claim(&task->ct_ranges[FROM], call->cl_from, from, call->cl_type, false, "sendBuf");
    if (result == HCCL_SUCCESS)
        result = claim(&task->ct_ranges[TO], call->cl_to, to, call->cl_type, writes, broadcasts ? "buf" : "recvBuf");
    return result;
}

/* ---- the call ---- */

/* Sets the tables of AlltoAllVC from its matrix. */
static void read_matrix(const uint64_t *matrix, uint32_t rank, uint32_t ranks, uint64_t *numbers)
{
    uint64_t *const tables[TABLES] = {numbers, numbers + ranks, numbers + 2 * ranks, numbers + 3 * ranks};
    uint64_t sent = 0, received = 0;
    for (uint32_t other = 0; other < ranks; other++) {
        tables[FROM_COUNTS][other] = matrix[(size_t)rank * ranks + other];
        tables[FROM_STARTS][other] = sent;
        sent += tables[FROM_COUNTS][other];
        tables[TO_COUNTS][other] = matrix[(size_t)other * ranks + rank];
        tables[TO_STARTS][other] = received;
        received += tables[TO_COUNTS][other];
    }
}

static struct collective *create(const struct sim_collective_call *call, struct sim_comm_seat seat, size_t *size)
{
    const uint64_t *const given[] = {call->cl_from_counts, call->cl_from_starts, call->cl_to_counts,
                                     call->cl_to_starts};
    const bool gathers = call->cl_kind == SIM_ALL_GATHER_V;
    const uint32_t ranks = seat.se_group->gp_count;
    uint32_t count = 0;
    for (unsigned i = 0; i < TABLES; i++)
        count += given[i] != NULL || call->cl_matrix != NULL || (gathers && i == FROM_COUNTS);
    *size = sizeof(struct collective) + (size_t)count * ranks * sizeof(uint64_t);
    struct collective *task = calloc(1, *size);
    if (task == NULL)
        return NULL;
    task->ct_comm = call->cl_comm;
    task->ct_ranks = ranks;
    task->ct_work = (struct sim_collective_work){call->cl_kind, call->cl_type, call->cl_op, call->cl_root, ranks,
                                                 call->cl_count, NULL};
    for (unsigned i = 0; i < TABLES; i++)
        task->ct_tables[i] = given[i] != NULL || call->cl_matrix != NULL || (gathers && i == FROM_COUNTS);
    for (unsigned i = 0; i < TABLES; i++)
        if (given[i] != NULL)
            memcpy(task->ct_numbers + (table_at(task, i) - task->ct_numbers), given[i], ranks * sizeof(uint64_t));
    for (uint32_t i = 0; gathers && i < ranks; i++) /* the first table: the same to every rank */
        task->ct_numbers[i] = call->cl_own_count;
    if (call->cl_matrix != NULL)
        read_matrix(call->cl_matrix, seat.se_rank, ranks, task->ct_numbers);
    return task;
}

/* Takes the number of the call, or, while the stream is captured, of the recorded operator. */
static HcclResult number(struct collective *task, struct sim_comm_seat seat, struct sim_target stream)
{
    struct sim_comm_rank *rank = &seat.se_group->gp_ranks[seat.se_rank];
    const bool recorded = atomic_load(&stream.tg_stream->st_taken) == SIM_TAKEN_CAPTURES;
    sim_lock(&seat.se_group->gp_lock);
    HcclResult result = sim_comm_check_suspended(rank);
    if (result == HCCL_SUCCESS && recorded)
        task->ct_key.mk_recorded = ++rank->rk_captured;
    else if (result == HCCL_SUCCESS)
        task->ct_key.mk_number = ++rank->rk_calls;
    sim_comm_unlock(seat.se_group);
    return result;
}

static HcclResult submit(struct collective *task, size_t size, struct sim_comm_seat seat, struct sim_target stream,
                         void *site)
{
    HcclResult result = number(task, seat, stream);
    if (result != HCCL_SUCCESS)
        return result;
    if (sim_engine_submit(stream, &ops[task->ct_work.wo_kind], task, size, site, NULL) == ACL_SUCCESS)
        return HCCL_SUCCESS;
    if (task->ct_key.mk_recorded == 0)
        drop(task); /* the other ranks wait for this number */
    return HCCL_E_RUNTIME;
}

static HcclResult queue(const struct sim_collective_call *call, struct sim_comm_seat seat, struct sim_target stream,
                        void *site)
{
    const struct sim_comm_group *group = seat.se_group;
    const struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    const int32_t device = group->gp_ranks[seat.se_rank].rk_device;
    size_t size;
    SIM_ARGUMENT(context->cx_device->dv_id == device, HCCL_E_PARA,
                 "stream belongs to device %d, expected device %d, as the communicator", context->cx_device->dv_id,
                 device);
    SIM_ARGUMENT(call->cl_root < group->gp_count, HCCL_E_PARA, "root is %u, expected less than %u, the number of ranks",
                 call->cl_root, group->gp_count);
    HcclResult result = check_type(call);
    if (result != HCCL_SUCCESS)
        return result;
    SIM_ARGUMENT(call->cl_kind != SIM_REDUCE_SCATTER_V || call->cl_own_count == call->cl_from_counts[seat.se_rank],
                 HCCL_E_PARA, "recvCount is %" PRIu64 ", expected sendCounts[%u], %" PRIu64, call->cl_own_count,
                 seat.se_rank, call->cl_from_counts[seat.se_rank]);
    struct collective *task = create(call, seat, &size);
    SIM_ARGUMENT(task != NULL, HCCL_E_MEMORY, "there is no memory for the operator");
    result = claim_buffers(task, call, seat.se_rank);
    if (result == HCCL_SUCCESS)
        result = submit(task, size, seat, stream, site);
    free(task);
    return result;
}

HcclResult sim_collective_queue(const struct sim_collective_call *call, struct sim_target stream, void *site)
{
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_find(call->cl_comm, &seat);
    if (result != HCCL_SUCCESS)
        return result;
    result = queue(call, seat, stream, site);
    sim_comm_give_back(seat);
    return result;
}
