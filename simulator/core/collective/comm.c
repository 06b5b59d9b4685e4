/* Communicators and the groups behind them.
 *
 * A group belongs to its users: the live communicators, and threads that hold a seat. The last one frees it. gp_lock
 * guards the group and is taken inside the lock of a communicator's slot. */
#include "comm.h"

#include "base/clock.h"
#include "base/config.h"
#include "comm_config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "meeting.h"
#include "root.h"
#include "span.h"
#include "transfer.h"
#include "wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct sim_comm {
    struct sim_object cm_object;
    struct sim_comm_group *cm_group;
    uint32_t cm_rank;
};

static struct sim_table comms = SIM_OBJECT_TABLE(struct sim_comm, SIM_KIND_COMMUNICATOR);

/* ---- groups ---- */

static void free_group(struct sim_comm_group *group)
{
    for (uint32_t rank = 0; rank < group->gp_count; rank++)
        free(group->gp_ranks[rank].rk_pairs);
    sim_meeting_forget(group);
    sim_transfer_forget(group);
    for (struct sim_comm_offer *offer = group->gp_offers, *next; offer != NULL; offer = next) {
        next = offer->of_next;
        free(offer);
    }
    if (group->gp_wire != NULL)
        sim_wire_close(group->gp_wire);
    free(group->gp_changed);
    free(group->gp_ranks);
    free(group);
}

struct sim_comm_group *sim_comm_create_group(uint32_t count, const struct sim_comm_options *options, uint64_t number)
{
    struct sim_comm_group *group = calloc(1, sizeof *group);
    struct sim_comm_rank *ranks = calloc(count, sizeof *ranks);
    if (group == NULL || ranks == NULL) {
        free(group);
        free(ranks);
        return NULL;
    }
    group->gp_count = count;
    group->gp_ranks = ranks;
    group->gp_timeout = options->op_timeout;
    if (options->op_name[0] != '\0')
        memcpy(group->gp_name, options->op_name, sizeof group->gp_name);
    else
        snprintf(group->gp_name, sizeof group->gp_name, "group_%016" PRIx64, number);
    for (uint32_t rank = 0; rank < count; rank++) {
        ranks[rank].rk_pairs = calloc(count, sizeof *ranks[rank].rk_pairs);
        if (ranks[rank].rk_pairs == NULL) {
            free_group(group);
            return NULL;
        }
    }
    return group;
}

static struct sim_gate *gate_of(const struct sim_comm_group *group, struct sim_gate *gate)
{
    return group->gp_wire != NULL ? &group->gp_wire->wr_gate : gate;
}

void sim_comm_changed(struct sim_comm_group *group, struct sim_gate *gate)
{
    gate = gate_of(group, gate);
    if (group->gp_wire != NULL && group->gp_changed_count != 0)
        return;
    if (group->gp_changed_count == group->gp_changed_room) {
        const size_t room = 2 * group->gp_changed_room + 4;
        struct sim_gate **more = realloc(group->gp_changed, room * sizeof *more);
        if (more == NULL) { /* nothing is lost, unless the schedule has no workers */
            sim_gate_count(gate);
            return;
        }
        group->gp_changed = more;
        group->gp_changed_room = room;
    }
    group->gp_changed[group->gp_changed_count++] = gate;
}

void sim_comm_unlock(struct sim_comm_group *group)
{
    struct sim_gate *first = NULL, **gates = NULL;
    const size_t count = group->gp_changed_count;
    if (count == 1) {
        first = group->gp_changed[0];
    } else if (count > 1) { /* the array is given up, because another thread may use the next one meanwhile */
        gates = group->gp_changed;
        group->gp_changed = NULL;
        group->gp_changed_room = 0;
    }
    group->gp_changed_count = 0;
    sim_unlock(&group->gp_lock);
    if (first != NULL)
        sim_gate_count(first);
    for (size_t i = 0; gates != NULL && i < count; i++)
        sim_gate_count(gates[i]);
    free(gates);
}

void sim_comm_park(struct sim_run *run, struct sim_comm_group *group, struct sim_gate *gate)
{
    run->rn_gate = gate_of(group, gate);
    run->rn_target = sim_gate_level(run->rn_gate) + 1;
    if (group->gp_wire != NULL)
        run->rn_target += group->gp_changed_count; /* of which this task knows */
}

void sim_comm_give_back(struct sim_comm_seat seat)
{
    if (atomic_fetch_sub_explicit(&seat.se_group->gp_uses, 1, memory_order_acq_rel) == 1)
        free_group(seat.se_group);
}

struct sim_comm_seat sim_comm_seat_rank(struct sim_comm_group *group, uint32_t rank, int32_t device)
{
    group->gp_ranks[rank].rk_joined = true;
    group->gp_ranks[rank].rk_device = device;
    group->gp_here++;
    atomic_fetch_add_explicit(&group->gp_uses, 1, memory_order_relaxed);
    return (struct sim_comm_seat){group, rank};
}

HcclResult sim_comm_publish(struct sim_comm_seat seat, HcclComm *handle)
{
    uint64_t value;
    struct sim_comm *comm = sim_object_take(&comms, &value);
    if (comm == NULL) {
        sim_comm_give_back(seat);
        return HCCL_E_MEMORY;
    }
    comm->cm_group = seat.se_group;
    comm->cm_rank = seat.se_rank;
    *handle = sim_object_publish(comm, value);
    return HCCL_SUCCESS;
}

HcclResult sim_comm_create_all(uint32_t count, const int32_t *devices, HcclComm *handles)
{
    struct sim_comm_options options;
    uint64_t number = 0;
    HcclResult result = sim_comm_read_options(NULL, &options);
    struct sim_comm_group *group = NULL;
    if (result == HCCL_SUCCESS && getrandom(&number, sizeof number, 0) == sizeof number)
        group = sim_comm_create_group(count, &options, number);
    if (result == HCCL_SUCCESS && group == NULL)
        result = (HcclResult)sim_refuse(HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
    if (result != HCCL_SUCCESS)
        return result;
    for (uint32_t rank = 0; rank < count; rank++)
        sim_comm_seat_rank(group, rank, devices[rank]);
    for (uint32_t rank = 0; rank < count; rank++) {
        HcclResult each = sim_comm_publish((struct sim_comm_seat){group, rank}, &handles[rank]);
        result = result == HCCL_SUCCESS ? each : result;
    }
    return result;
}

/* ---- handles ---- */

static struct sim_comm_seat seat_of(struct sim_comm *comm)
{
    struct sim_comm_seat seat = {comm->cm_group, comm->cm_rank};
    atomic_fetch_add_explicit(&seat.se_group->gp_uses, 1, memory_order_relaxed);
    sim_object_close(comm);
    return seat;
}

bool sim_comm_try_find(HcclComm handle, struct sim_comm_seat *seat)
{
    struct sim_comm *comm = sim_object_peek(&comms, handle);
    if (comm != NULL)
        *seat = seat_of(comm);
    return comm != NULL;
}

HcclResult sim_comm_find(HcclComm handle, struct sim_comm_seat *seat)
{
    SIM_ARGUMENT(handle != NULL, HCCL_E_PTR, "comm is NULL, expected a live communicator");
    struct sim_comm *comm = sim_object_open(&comms, handle, "comm", HCCL_E_NOT_FOUND);
    if (comm == NULL)
        return HCCL_E_NOT_FOUND;
    *seat = seat_of(comm);
    return HCCL_SUCCESS;
}

HcclResult sim_comm_named(const char *name, HcclComm *handle)
{
    const struct sim_context *context = sim_context_peek();
    *handle = NULL;
    for (uint32_t i = 1; i < atomic_load_explicit(&comms.tb_count, memory_order_acquire); i++) {
        struct sim_comm *comm = sim_table_at(&comms, i);
        sim_lock(&comm->cm_object.ob_lock);
        uint64_t value = atomic_load_explicit(&comm->cm_object.ob_slot.sl_handle, memory_order_relaxed);
        bool found = value != 0 && strcmp(comm->cm_group->gp_name, name) == 0;
        bool here = found && context != NULL &&
                    comm->cm_group->gp_ranks[comm->cm_rank].rk_device == context->cx_device->dv_id;
        sim_unlock(&comm->cm_object.ob_lock);
        if (found && (here || *handle == NULL))
            *handle = (HcclComm)(uintptr_t)value;
        if (here)
            break;
    }
    SIM_ARGUMENT(*handle != NULL, HCCL_E_NOT_FOUND, "commName is \"%s\", expected the name of a live communicator",
                 name);
    return HCCL_SUCCESS;
}

bool sim_comm_has_table(uint64_t digest, uint32_t rank)
{
    bool found = false;
    for (uint32_t i = 1; !found && i < atomic_load_explicit(&comms.tb_count, memory_order_acquire); i++) {
        struct sim_comm *comm = sim_table_at(&comms, i);
        sim_lock(&comm->cm_object.ob_lock);
        found = atomic_load_explicit(&comm->cm_object.ob_slot.sl_handle, memory_order_relaxed) != 0 &&
                comm->cm_group->gp_table == digest && comm->cm_rank == rank;
        sim_unlock(&comm->cm_object.ob_lock);
    }
    return found;
}

/* Ends a communicator, whose lock is held, and returns true; or false, because buffers of the rank are being accessed.
 * The handle is dead before any stream can run again. */
static bool end_comm(struct sim_comm *comm)
{
    const struct sim_comm_seat seat = {comm->cm_group, comm->cm_rank};
    struct sim_comm_group *group = seat.se_group;
    sim_lock(&group->gp_lock);
    if (sim_meeting_works(group, seat.se_rank) || sim_transfer_works(group, seat.se_rank)) {
        sim_comm_unlock(group);
        return false;
    }
    group->gp_ranks[seat.se_rank].rk_left = true;
    sim_meeting_leave_all(group, seat.se_rank);
    sim_transfer_leave_all(group, seat.se_rank);
    sim_span_end(group, seat.se_rank);
    sim_object_end(&comms, comm);
    sim_comm_unlock(group);
    sim_comm_give_back(seat);
    return true;
}

HcclResult sim_comm_destroy(HcclComm handle)
{
    SIM_ARGUMENT(handle != NULL, HCCL_E_PTR, "comm is NULL, expected a live communicator");
    struct sim_comm *comm = sim_object_open(&comms, handle, "comm", HCCL_E_NOT_FOUND);
    if (comm == NULL)
        return HCCL_E_NOT_FOUND;
    if (end_comm(comm))
        return HCCL_SUCCESS;
    sim_object_close(comm);
    return (HcclResult)sim_refuse(HCCL_E_AGAIN, "comm is in use: an operator runs, expected it to have ended");
}

/* ---- waiting, and failures of operators ---- */

void sim_comm_set_deadline(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_wait *wait,
                           uint32_t missing)
{
    const uint64_t now = sim_clock_now(), timeout = seat.se_group->gp_timeout;
    wait->wa_missing = missing;
    if (wait->wa_deadline == 0) {
        wait->wa_deadline = timeout == SIM_FOREVER ? SIM_FOREVER : now + timeout;
        wait->wa_patience = now + sim_comm_patience();
    }
    if (now >= wait->wa_patience) {
        wait->wa_patience = SIM_FOREVER;
        fprintf(stderr, "acl simulator: %s on rank %u of communicator %s still waits for rank %u\n",
                run->rn_task->ta_op->op_name, seat.se_rank, seat.se_group->gp_name, missing);
    }
    run->rn_deadline = wait->wa_patience < wait->wa_deadline ? wait->wa_patience : wait->wa_deadline;
}

bool sim_comm_is_late(const struct sim_run *run, const struct sim_comm_wait *wait)
{
    return run->rn_expired && sim_clock_now() >= wait->wa_deadline;
}

void sim_comm_fail(struct sim_comm_group *group, struct sim_comm_outcome *outcome, struct sim_gate *gate,
                   aclError code, const char *format, ...)
{
    va_list arguments;
    if (outcome->oc_code != ACL_SUCCESS)
        return;
    va_start(arguments, format);
    vsnprintf(outcome->oc_text, sizeof outcome->oc_text, format, arguments);
    va_end(arguments);
    outcome->oc_code = code;
    sim_comm_changed(group, gate);
}

void sim_comm_fail_left(struct sim_comm_group *group, struct sim_comm_outcome *outcome, struct sim_gate *gate,
                        uint32_t rank)
{
    const bool is_lost = group->gp_ranks[rank].rk_is_lost;
    sim_comm_fail(group, outcome, gate, ACL_ERROR_RT_SOCKET_CLOSE, "the %s of rank %u %s",
                  is_lost ? "process" : "communicator", rank, is_lost ? "has ended" : "was destroyed");
}

aclError sim_comm_give_up(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_outcome outcome)
{
    if (outcome.oc_code != ACL_ERROR_RT_PARAM_INVALID) /* then the communicator can be used further */
        seat.se_group->gp_ranks[seat.se_rank].rk_error = HCCL_E_REMOTE;
    sim_comm_unlock(seat.se_group);
    return sim_engine_give_up(run, outcome.oc_code, outcome.oc_text);
}

void sim_comm_wait_unused(struct sim_comm_group *group, struct sim_gate *gate, const uint32_t *users)
{
    gate = gate_of(group, gate);
    while (*users != 0) {
        const uint64_t level = sim_gate_level(gate);
        sim_comm_unlock(group);
        sim_engine_wait_gate(gate, level + 1, SIM_FOREVER);
        sim_lock(&group->gp_lock);
    }
}

/* ---- suspending ---- */

static void suspend(struct sim_comm_group *group, uint32_t rank)
{
    sim_lock(&group->gp_lock);
    group->gp_ranks[rank].rk_suspended = true;
    sim_comm_unlock(group);
}

HcclResult sim_comm_suspend(HcclComm handle)
{
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_find(handle, &seat);
    if (result != HCCL_SUCCESS)
        return result;
    suspend(seat.se_group, seat.se_rank);
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

/* Locks the next communicator of a device from slot *i on, and returns it; NULL at the end. */
static struct sim_comm *next_of_device(int32_t device, uint32_t *i)
{
    while (++*i < atomic_load_explicit(&comms.tb_count, memory_order_acquire)) {
        struct sim_comm *comm = sim_table_at(&comms, *i);
        sim_lock(&comm->cm_object.ob_lock);
        if (atomic_load_explicit(&comm->cm_object.ob_slot.sl_handle, memory_order_relaxed) != 0 &&
            comm->cm_group->gp_ranks[comm->cm_rank].rk_device == device)
            return comm;
        sim_unlock(&comm->cm_object.ob_lock);
    }
    return NULL;
}

void sim_comm_suspend_device(int32_t device)
{
    uint32_t i = 0;
    for (struct sim_comm *comm; (comm = next_of_device(device, &i)) != NULL; sim_object_close(comm))
        suspend(comm->cm_group, comm->cm_rank);
}

/* No task of the device is left, so no buffer of its ranks is being accessed. */
void sim_comm_end_device(int32_t device)
{
    uint32_t i = 0;
    for (struct sim_comm *comm; (comm = next_of_device(device, &i)) != NULL;)
        if (!end_comm(comm))
            sim_object_close(comm);
}

/* The numbers of calls go on at the next multiple of this, on all ranks alike, however far each one was. */
#define EPOCH (UINT64_C(1) << 40)

static uint64_t next_epoch(uint64_t number)
{
    return (number / EPOCH + 1) * EPOCH;
}

HcclResult sim_comm_resume(HcclComm handle)
{
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_find(handle, &seat);
    if (result != HCCL_SUCCESS)
        return result;
    struct sim_comm_group *group = seat.se_group;
    struct sim_comm_rank *rank = &group->gp_ranks[seat.se_rank];
    sim_lock(&group->gp_lock);
    sim_span_receive(group);
    rank->rk_calls = next_epoch(rank->rk_calls);
    sim_meeting_leave_before(group, seat.se_rank, rank->rk_calls);
    for (uint32_t other = 0; other < group->gp_count; other++) {
        struct sim_comm_pair *pair = &rank->rk_pairs[other];
        pair->pr_sent[0] = next_epoch(pair->pr_sent[0]);
        pair->pr_received[0] = next_epoch(pair->pr_received[0]);
    }
    rank->rk_suspended = false;
    rank->rk_error = HCCL_SUCCESS;
    sim_comm_unlock(group);
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
}

/* ---- the end of everything ---- */

/* No task runs any more. */
static void end(void *object)
{
    end_comm(object);
}

void sim_comm_reset(void)
{
    sim_object_destroy_all(&comms, end);
    sim_root_reset();
}

void sim_comm_after_fork(void)
{
    sim_table_empty(&comms);
    sim_meeting_after_fork();
    sim_transfer_after_fork();
    sim_wire_after_fork();
    sim_root_after_fork();
}
