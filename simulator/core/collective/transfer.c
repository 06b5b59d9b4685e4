/* A task begins a transfer: it lists its messages in the group, and looks for the other side of each. Who comes second
 * copies. The n-th message that one rank sends to another meets the n-th that this one receives from it; messages that
 * a capture has recorded are counted apart, and by their executions.
 *
 * Transfers are slots of a table, so that the gate at which a task is parked exists for ever (meeting.c has the same
 * rule). A transfer has its own copy of the messages: one that was discarded stays in the list, so that the other sides
 * fail instead of waiting. The lock of the group guards everything but the gates; it is released during copies, and a
 * transfer is not ended while one of its buffers is being copied.
 *
 * A message between two processes is copied by the receiving one. There the sender's side is a transfer without a task;
 * the sender waits until it is told that the message was received. */
#include "transfer.h"

#include "address/memory.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "collective_work.h"
#include "span.h"
#include "engine/context.h"
#include "engine/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct message {
    bool me_sends, me_matched;
    bool me_was_told; /* to the process of the receiver */
    void *me_scratch; /* what that process reads instead of the buffer, or NULL */
    uint32_t me_peer;
    HcclDataType me_type;
    uint64_t me_recorded, me_number; /* me_recorded 0: it was called */
    uint64_t me_count, me_bytes;
    char *me_buffer; /* the engine's address */
};

struct sim_transfer {
    struct sim_slot tf_slot;
    struct sim_gate tf_gate; /* counts the changes of all transfers that this slot was used for */
    struct sim_transfer *tf_next;
    uint32_t tf_rank, tf_count, tf_left; /* tf_left: messages that are not across yet */
    uint32_t tf_unmatched;
    uint32_t tf_working;                 /* copies that use its buffers */
    bool tf_ended;                       /* it has no task (any more): it stays for the other sides alone */
    struct sim_comm_outcome tf_outcome;
    struct message *tf_messages;
};

static struct sim_table transfers = {
    .tb_stride = sizeof(struct sim_transfer), .tb_limit = 1u << 20, .tb_kind = SIM_KIND_TRANSFER};

/* The argument of a task: then its ranges, then its messages. */
struct task {
    HcclComm tk_comm;
    uint32_t tk_count;
    bool tk_recorded;
    uint64_t tk_executions; /* of a recorded task */
    /* State of an execution. */
    uint64_t tk_ticket;
    const struct sim_stream *tk_stream;
    uint64_t tk_transfer; /* its handle */
    struct sim_comm_wait tk_wait;
    struct sim_range tk_ranges[];
};

static struct message *messages_of(struct task *task)
{
    return (struct message *)(task->tk_ranges + task->tk_count);
}

static const struct sim_range *ranges_of(const void *argument, size_t *count)
{
    const struct task *task = argument;
    *count = task->tk_count;
    return task->tk_ranges;
}

/* ---- transfers, with the group's lock held ---- */

#define FAIL(group, transfer, ...)                                                                                     \
    sim_comm_fail(group, &(transfer)->tf_outcome, &(transfer)->tf_gate, __VA_ARGS__)

/* Adds a transfer of `count` messages, and `extra` bytes behind them, which the caller fills in. */
static struct sim_transfer *add(struct sim_comm_group *group, uint32_t rank, uint32_t count, uint64_t extra)
{
    uint64_t handle;
    struct sim_transfer *transfer = sim_table_open(&transfers) == 0 ? sim_table_take(&transfers, &handle) : NULL;
    struct message *messages = transfer != NULL ? malloc(count * sizeof *messages + extra + 1) : NULL;
    if (messages == NULL) {
        if (transfer != NULL)
            sim_table_give(&transfers, transfer);
        return NULL;
    }
    transfer->tf_rank = rank;
    transfer->tf_count = transfer->tf_left = transfer->tf_unmatched = count;
    transfer->tf_working = 0;
    transfer->tf_ended = false;
    transfer->tf_outcome.oc_code = ACL_SUCCESS;
    transfer->tf_messages = messages;
    transfer->tf_next = group->gp_transfers;
    group->gp_transfers = transfer;
    atomic_store_explicit(&transfer->tf_slot.sl_handle, handle, memory_order_release);
    return transfer;
}

static struct sim_transfer *begin(struct sim_comm_group *group, uint32_t rank, struct task *task)
{
    struct sim_transfer *transfer = add(group, rank, task->tk_count, 0);
    if (transfer == NULL)
        return NULL;
    memcpy(transfer->tf_messages, messages_of(task), task->tk_count * sizeof(struct message));
    for (uint32_t i = 0; i < task->tk_count; i++) {
        struct message *message = &transfer->tf_messages[i];
        message->me_buffer = message->me_bytes == 0 ? NULL : sim_memory_reach(task->tk_ranges[i].rg_address);
        if (task->tk_recorded)
            message->me_number = task->tk_executions;
    }
    task->tk_transfer = atomic_load_explicit(&transfer->tf_slot.sl_handle, memory_order_relaxed);
    return transfer;
}

static struct sim_transfer_post post_of(const struct sim_transfer *transfer, const struct message *message)
{
    return (struct sim_transfer_post){.po_rank = transfer->tf_rank, .po_peer = message->me_peer,
                                      .po_sends = message->me_sends, .po_type = message->me_type,
                                      .po_recorded = message->me_recorded, .po_number = message->me_number,
                                      .po_count = message->me_count, .po_bytes = message->me_bytes,
                                      .po_buffer = message->me_buffer};
}

static void free_transfer(struct sim_transfer *transfer)
{
    for (uint32_t i = 0; i < transfer->tf_count; i++)
        sim_span_reclaim(NULL, false, &transfer->tf_messages[i].me_scratch);
    free(transfer->tf_messages);
    atomic_store_explicit(&transfer->tf_slot.sl_handle, 0, memory_order_relaxed);
    sim_table_give(&transfers, transfer);
}

/* Tells other processes that the messages to and from them have failed. */
static void refuse(struct sim_comm_group *group, struct sim_transfer *transfer)
{
    for (uint32_t i = 0; i < transfer->tf_count; i++) {
        struct message *message = &transfer->tf_messages[i];
        if (message->me_matched || sim_span_is_here(group, message->me_peer))
            continue;
        const struct sim_transfer_post post = post_of(transfer, message);
        sim_span_refuse(group, &post, &transfer->tf_outcome);
        message->me_matched = true;
        transfer->tf_unmatched--;
    }
}

/* Its task has ended. A transfer that failed stays until the other sides of all its messages have come. */
static void leave(struct sim_comm_group *group, struct sim_transfer *transfer)
{
    if (sim_span_is_here(group, transfer->tf_rank))
        refuse(group, transfer);
    transfer->tf_ended = true;
    if (transfer->tf_unmatched != 0)
        return;
    struct sim_transfer **at = &group->gp_transfers;
    while (*at != transfer)
        at = &(*at)->tf_next;
    *at = transfer->tf_next;
    free_transfer(transfer);
}

/* Finds a message that has no other side yet. */
static struct message *find(struct sim_comm_group *group, const struct sim_transfer_post *post,
                            struct sim_transfer **transfer)
{
    for (*transfer = group->gp_transfers; *transfer != NULL; *transfer = (*transfer)->tf_next)
        for (uint32_t i = 0; (*transfer)->tf_rank == post->po_rank && i < (*transfer)->tf_count; i++) {
            struct message *message = &(*transfer)->tf_messages[i];
            if (!message->me_matched && message->me_sends == post->po_sends && message->me_peer == post->po_peer &&
                message->me_recorded == post->po_recorded && message->me_number == post->po_number)
                return message;
        }
    return NULL;
}

/* The side that a message of a transfer waits for. */
static struct sim_transfer_post other_side(const struct sim_transfer_post *post)
{
    return (struct sim_transfer_post){.po_rank = post->po_peer, .po_peer = post->po_rank, .po_sends = !post->po_sends,
                                      .po_recorded = post->po_recorded, .po_number = post->po_number};
}

/* Copies a message while the lock is released. Neither transfer ends meanwhile. */
static void copy(struct sim_comm_group *group, struct sim_transfer *transfer, const struct message *mine,
                 struct sim_transfer *partner, const struct message *other)
{
    const struct message *from = mine->me_sends ? mine : other, *to = mine->me_sends ? other : mine;
    transfer->tf_working++;
    partner->tf_working++;
    sim_comm_unlock(group);
    if (from->me_bytes != 0)
        memmove(to->me_buffer, from->me_buffer, from->me_bytes);
    sim_lock(&group->gp_lock);
    transfer->tf_working--;
    partner->tf_working--;
    transfer->tf_left--;
    partner->tf_left--;
    if (partner->tf_left == 0 || (partner->tf_outcome.oc_code != ACL_SUCCESS && partner->tf_working == 0))
        sim_comm_changed(group, &partner->tf_gate);
}

/* The other side has not come. Another process that receives is told once. */
static void await(struct sim_comm_group *group, struct sim_transfer *transfer, struct message *mine,
                  const struct sim_range *range)
{
    const struct sim_transfer_post post = post_of(transfer, mine);
    const struct sim_comm_seat seat = {group, transfer->tf_rank};
    struct sim_range reached = *range;
    if (group->gp_ranks[mine->me_peer].rk_left)
        sim_comm_fail_left(group, &transfer->tf_outcome, &transfer->tf_gate, mine->me_peer);
    if (transfer->tf_outcome.oc_code != ACL_SUCCESS || !mine->me_sends || mine->me_was_told ||
        sim_span_is_here(group, mine->me_peer))
        return;
    mine->me_was_told = true;
    if (sim_span_send(seat, &post, &reached, &mine->me_scratch) != ACL_SUCCESS)
        FAIL(group, transfer, ACL_ERROR_RT_MEMORY_ALLOCATION,
             "there is no memory for the message to rank %u, or it is longer than 3.5 GiB, for another host",
             mine->me_peer);
}

static void meet(struct sim_comm_group *group, struct sim_transfer *transfer, struct message *mine,
                 const struct sim_range *range)
{
    struct sim_transfer *partner;
    const struct sim_transfer_post post = post_of(transfer, mine), wanted = other_side(&post);
    struct message *other = find(group, &wanted, &partner);
    if (other == NULL) {
        await(group, transfer, mine, range);
        return;
    }
    mine->me_matched = other->me_matched = true;
    transfer->tf_unmatched--;
    partner->tf_unmatched--;
    if (partner->tf_outcome.oc_code != ACL_SUCCESS) {
        FAIL(group, transfer, partner->tf_outcome.oc_code, "%s", partner->tf_outcome.oc_text);
        if (partner->tf_ended && partner->tf_unmatched == 0)
            leave(group, partner);
        return;
    }
    if (transfer->tf_outcome.oc_code != ACL_SUCCESS) { /* it is discarded */
        FAIL(group, partner, transfer->tf_outcome.oc_code, "%s", transfer->tf_outcome.oc_text);
    } else if (other->me_count != mine->me_count || other->me_type != mine->me_type) {
        const struct message *sent = mine->me_sends ? mine : other, *received = mine->me_sends ? other : mine;
        const uint32_t from = mine->me_sends ? transfer->tf_rank : mine->me_peer, to = sent->me_peer;
        FAIL(group, transfer, ACL_ERROR_RT_PARAM_INVALID,
             "EI0005: rank %u sends %" PRIu64 " elements of dataType %d to rank %u, which expects %" PRIu64
             " of dataType %d", from, sent->me_count, (int)sent->me_type, to, received->me_count,
             (int)received->me_type);
        FAIL(group, partner, transfer->tf_outcome.oc_code, "%s", transfer->tf_outcome.oc_text);
    } else {
        copy(group, transfer, mine, partner, other);
    }
    if (!sim_span_is_here(group, mine->me_peer)) { /* this side has received it */
        if (partner->tf_outcome.oc_code == ACL_SUCCESS)
            sim_span_take(group, &post);
        else
            sim_span_refuse(group, &post, &partner->tf_outcome);
        leave(group, partner);
    }
}

/* ---- what other processes tell ---- */

/* Adds a side of another process. */
static struct sim_transfer *add_side(struct sim_comm_group *group, const struct sim_transfer_post *post, uint64_t extra)
{
    struct sim_transfer *transfer = add(group, post->po_rank, 1, extra);
    if (transfer == NULL)
        return NULL;
    transfer->tf_ended = true;
    transfer->tf_messages[0] =
        (struct message){.me_sends = post->po_sends, .me_peer = post->po_peer, .me_type = post->po_type,
                         .me_recorded = post->po_recorded, .me_number = post->po_number, .me_count = post->po_count,
                         .me_bytes = post->po_bytes, .me_buffer = (char *)(uintptr_t)post->po_buffer};
    return transfer;
}

void sim_transfer_come(struct sim_comm_group *group, const struct sim_transfer_post *post, bool is_carried)
{
    struct sim_transfer *transfer = add_side(group, post, is_carried ? post->po_bytes : 0);
    if (transfer == NULL)
        return; /* the receiver fails at its time-out */
    if (is_carried) {
        transfer->tf_messages[0].me_buffer = (char *)(transfer->tf_messages + 1);
        memcpy(transfer->tf_messages + 1, post->po_buffer, post->po_bytes);
    } else if (post->po_buffer == NULL && post->po_bytes != 0) {
        FAIL(group, transfer, ACL_ERROR_RT_MEMORY_ALLOCATION, "the message of rank %u could not be mapped",
             post->po_rank);
    }
}

void sim_transfer_received(struct sim_comm_group *group, const struct sim_transfer_post *post)
{
    struct sim_transfer *transfer;
    const struct sim_transfer_post sent = other_side(post);
    struct message *message = find(group, &sent, &transfer);
    if (message == NULL)
        return;
    message->me_matched = true;
    transfer->tf_unmatched--;
    transfer->tf_left--;
}

void sim_transfer_refused(struct sim_comm_group *group, const struct sim_transfer_post *post,
                          const struct sim_comm_outcome *outcome)
{
    struct sim_transfer *transfer;
    const struct sim_transfer_post waiting = other_side(post);
    struct message *message = find(group, &waiting, &transfer);
    if (message != NULL) {
        message->me_matched = true;
        transfer->tf_unmatched--;
    } else if (find(group, post, &transfer) == NULL) {
        transfer = add_side(group, post, 0);
    }
    if (transfer != NULL)
        FAIL(group, transfer, outcome->oc_code, "%s", outcome->oc_text);
}

bool sim_transfer_works(const struct sim_comm_group *group, uint32_t rank)
{
    for (const struct sim_transfer *each = group->gp_transfers; each != NULL; each = each->tf_next)
        if (each->tf_rank == rank && each->tf_working != 0)
            return true;
    return false;
}

void sim_transfer_leave_all(struct sim_comm_group *group, uint32_t rank)
{
    for (struct sim_transfer *each = group->gp_transfers; each != NULL; each = each->tf_next)
        for (uint32_t i = 0; i < each->tf_count; i++)
            if (!each->tf_messages[i].me_matched && (each->tf_rank == rank || each->tf_messages[i].me_peer == rank))
                sim_comm_fail_left(group, &each->tf_outcome, &each->tf_gate, rank);
}

void sim_transfer_forget(struct sim_comm_group *group)
{
    for (struct sim_transfer *each = group->gp_transfers, *next; each != NULL; each = next) {
        next = each->tf_next;
        free_transfer(each);
    }
    group->gp_transfers = NULL;
}

/* ---- the execution ---- */

static aclError give_up(struct sim_run *run, struct sim_comm_seat seat, struct sim_transfer *transfer)
{
    const struct sim_comm_outcome outcome = transfer->tf_outcome;
    leave(seat.se_group, transfer);
    return sim_comm_give_up(run, seat, outcome);
}

/* The first message whose other side has not come. */
static const struct message *unmatched(const struct sim_transfer *transfer)
{
    uint32_t i = 0;
    while (transfer->tf_messages[i].me_matched)
        i++;
    return &transfer->tf_messages[i];
}

/* With the group's lock held: parks until the transfer changes. */
static aclError park(struct sim_run *run, struct task *task, struct sim_comm_seat seat, struct sim_transfer *transfer)
{
    sim_comm_park(run, seat.se_group, &transfer->tf_gate);
    run->rn_deadline = SIM_FOREVER; /* while messages are being copied */
    if (transfer->tf_unmatched != 0 && transfer->tf_outcome.oc_code == ACL_SUCCESS)
        sim_comm_set_deadline(run, seat, &task->tk_wait, unmatched(transfer)->me_peer);
    sim_comm_unlock(seat.se_group);
    return SIM_PARK;
}

static void report_late(struct sim_comm_group *group, struct sim_transfer *transfer)
{
    const struct message *late = unmatched(transfer);
    FAIL(group, transfer, ACL_ERROR_RT_TASK_TIMEOUT,
         "EI0002: rank %u has waited for rank %u, which has not %s, until its time-out (HCCL_EXEC_TIMEOUT)",
         transfer->tf_rank, late->me_peer, late->me_sends ? "received" : "sent");
}

static struct sim_transfer *current(const struct task *task)
{
    return sim_table_find(&transfers, (const void *)(uintptr_t)task->tk_transfer);
}

/* With the group's lock held, which it releases. */
static aclError advance(struct sim_run *run, struct task *task, struct sim_comm_seat seat)
{
    struct sim_comm_group *group = seat.se_group;
    struct sim_transfer *transfer = current(task);
    const bool starts = transfer == NULL;
    if (starts)
        transfer = begin(group, seat.se_rank, task);
    if (transfer == NULL) {
        sim_comm_unlock(group);
        return sim_engine_give_up(run, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for the operator");
    }
    for (uint32_t i = 0; i < transfer->tf_count; i++) {
        struct message *message = &transfer->tf_messages[i];
        if (!message->me_matched && (starts || !sim_span_is_here(group, message->me_peer)))
            meet(group, transfer, message, &task->tk_ranges[i]);
    }
    if (transfer->tf_unmatched != 0 && sim_comm_is_late(run, &task->tk_wait))
        report_late(group, transfer);
    if (transfer->tf_outcome.oc_code != ACL_SUCCESS)
        return transfer->tf_working != 0 ? park(run, task, seat, transfer) : give_up(run, seat, transfer);
    if (transfer->tf_left != 0)
        return park(run, task, seat, transfer);
    leave(group, transfer);
    sim_comm_unlock(group);
    return ACL_SUCCESS;
}

static aclError run(struct sim_run *run, void *argument)
{
    struct task *task = argument;
    struct sim_comm_seat seat;
    if (task->tk_ticket != run->rn_ticket || task->tk_stream != run->rn_stream) {
        task->tk_ticket = run->rn_ticket;
        task->tk_stream = run->rn_stream;
        task->tk_transfer = 0;
        task->tk_wait = (struct sim_comm_wait){0};
        task->tk_executions++;
    }
    if (!sim_comm_try_find(task->tk_comm, &seat))
        return sim_engine_give_up(run, ACL_ERROR_RT_SOCKET_CLOSE, "its communicator was destroyed");
    aclError code;
    do {
        sim_lock(&seat.se_group->gp_lock);
        sim_span_receive(seat.se_group);
        code = advance(run, task, seat);
    } while (code == SIM_PARK && sim_span_has_news(seat.se_group, task->tk_wait.wa_missing));
    if (code != SIM_PARK)
        task->tk_ticket = 0;
    sim_comm_give_back(seat);
    return code;
}

/* Discards one execution: the other sides of its messages fail. */
static void drop(void *argument)
{
    struct task *task = argument;
    struct sim_comm_seat seat;
    task->tk_executions += task->tk_ticket == 0;
    if (!sim_comm_try_find(task->tk_comm, &seat))
        return;
    sim_lock(&seat.se_group->gp_lock);
    sim_span_receive(seat.se_group);
    struct sim_transfer *transfer = task->tk_ticket != 0 ? current(task) : NULL;
    if (transfer == NULL)
        transfer = begin(seat.se_group, seat.se_rank, task);
    if (transfer != NULL) {
        FAIL(seat.se_group, transfer, ACL_ERROR_RT_SOCKET_CLOSE, "the operator of rank %u was discarded", seat.se_rank);
        sim_comm_wait_unused(seat.se_group, &transfer->tf_gate, &transfer->tf_working);
        for (uint32_t i = 0; i < transfer->tf_count; i++)
            if (!transfer->tf_messages[i].me_matched)
                meet(seat.se_group, transfer, &transfer->tf_messages[i], &task->tk_ranges[i]);
        leave(seat.se_group, transfer);
    }
    task->tk_ticket = 0;
    sim_comm_unlock(seat.se_group);
    sim_comm_give_back(seat);
}

/* ---- the call ---- */

#define OP(name)                                                                                                       \
    {.op_name = (name), .op_run = run, .op_drop = drop, .op_ranges = ranges_of, .op_flags = SIM_OP_HEAVY,              \
     .op_kind = SIM_TASK_OTHER}
static const struct sim_op ops[] = {
    [SIM_TRANSFER_SEND] = OP("HcclSend"),
    [SIM_TRANSFER_RECEIVE] = OP("HcclRecv"),
    [SIM_TRANSFER_BATCH] = OP("HcclBatchSendRecv"),
};

static HcclResult check_message(const struct sim_transfer_message *message, uint32_t ranks, struct sim_range *range)
{
    const char *name = message->tm_sends ? "sendBuf" : "recvBuf";
    const uint32_t size = sim_collective_type_size(message->tm_type);
    uint64_t bytes = message->tm_count;
    SIM_ARGUMENT(message->tm_peer < ranks, HCCL_E_PARA, "%s is %u, expected less than %u, the number of ranks",
                 message->tm_sends ? "destRank" : "srcRank", message->tm_peer, ranks);
    SIM_ARGUMENT(size != 0, HCCL_E_PARA, "dataType is %d, expected a member of HcclDataType", (int)message->tm_type);
    SIM_ARGUMENT(sim_size_multiply(&bytes, size) && bytes != UINT64_MAX, HCCL_E_PARA,
                 "count is %" PRIu64 ", which no memory holds", message->tm_count);
    if (bytes == 0)
        return HCCL_SUCCESS;
    SIM_ARGUMENT(message->tm_buffer != NULL, HCCL_E_PTR, "%s is NULL, expected device memory", name);
    *range = (struct sim_range){.rg_address = message->tm_buffer, .rg_size = bytes, .rg_write = !message->tm_sends};
    return sim_memory_claim(range, name) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_PARA;
}

/* Takes the number of each message among those of its pair. */
static HcclResult number(struct task *task, struct sim_comm_seat seat)
{
    struct message *messages = messages_of(task);
    const struct sim_comm_rank *rank = &seat.se_group->gp_ranks[seat.se_rank];
    sim_lock(&seat.se_group->gp_lock);
    HcclResult result = sim_comm_check_suspended(rank);
    for (uint32_t i = 0; result == HCCL_SUCCESS && i < task->tk_count; i++) {
        struct sim_comm_pair *pair = &rank->rk_pairs[messages[i].me_peer];
        uint64_t *counts = messages[i].me_sends ? pair->pr_sent : pair->pr_received;
        *(task->tk_recorded ? &messages[i].me_recorded : &messages[i].me_number) = ++counts[task->tk_recorded];
    }
    sim_comm_unlock(seat.se_group);
    return result;
}

static HcclResult fill(struct task *task, const struct sim_transfer_message *given, uint32_t ranks)
{
    struct message *messages = messages_of(task);
    for (uint32_t i = 0; i < task->tk_count; i++) {
        HcclResult result = check_message(&given[i], ranks, &task->tk_ranges[i]);
        if (result != HCCL_SUCCESS)
            return result;
        messages[i] = (struct message){.me_sends = given[i].tm_sends, .me_peer = given[i].tm_peer,
                                       .me_type = given[i].tm_type, .me_count = given[i].tm_count,
                                       .me_bytes = task->tk_ranges[i].rg_size};
    }
    return HCCL_SUCCESS;
}

static HcclResult queue(enum sim_transfer_kind kind, struct task *task, size_t size, struct sim_comm_seat seat,
                        struct sim_target stream, void *site)
{
    const struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    const int32_t device = seat.se_group->gp_ranks[seat.se_rank].rk_device;
    SIM_ARGUMENT(context->cx_device->dv_id == device, HCCL_E_PARA,
                 "stream belongs to device %d, expected device %d, as the communicator", context->cx_device->dv_id,
                 device);
    task->tk_recorded = atomic_load(&stream.tg_stream->st_taken) == SIM_TAKEN_CAPTURES;
    HcclResult result = number(task, seat);
    if (result != HCCL_SUCCESS)
        return result;
    if (sim_engine_submit(stream, &ops[kind], task, size, site, NULL) == ACL_SUCCESS)
        return HCCL_SUCCESS;
    if (!task->tk_recorded)
        drop(task); /* the other sides wait for these numbers */
    return HCCL_E_RUNTIME;
}

HcclResult sim_transfer_queue(enum sim_transfer_kind kind, HcclComm comm, const struct sim_transfer_message *messages,
                              uint32_t count, struct sim_target stream, void *site)
{
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_find(comm, &seat);
    if (result != HCCL_SUCCESS)
        return result;
    const size_t size = sizeof(struct task) + count * (sizeof(struct sim_range) + sizeof(struct message));
    struct task *task = calloc(1, size);
    if (task != NULL) {
        task->tk_comm = comm;
        task->tk_count = count;
        result = fill(task, messages, seat.se_group->gp_count);
        if (result == HCCL_SUCCESS)
            result = queue(kind, task, size, seat, stream, site);
        free(task);
    } else {
        result = (HcclResult)sim_refuse(HCCL_E_MEMORY, "there is no memory for %u messages", count);
    }
    sim_comm_give_back(seat);
    return result;
}

/* ---- gates, and the end of everything ---- */

bool sim_transfer_owns(const struct sim_gate *gate)
{
    return sim_table_slot_of(&transfers, gate) != NULL;
}

void sim_transfer_after_fork(void)
{
    sim_table_empty(&transfers);
}
