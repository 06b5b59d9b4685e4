/* Communicators and the groups behind them.
 *
 * A group belongs to its users: the live communicators, and threads that hold a seat. The last one frees it. A root is
 * a group that not every rank has joined yet; HcclRootInfo has its number. If one rank gives up waiting, the creation
 * has failed for all.
 *
 * `roots_lock` guards the list of roots and the joining of a group; gp_lock guards the rest of a group and is taken
 * inside it and inside the lock of a communicator's slot. */
#include "comm.h"

#include "base/clock.h"
#include "base/config.h"
#include "comm_config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "meeting.h"
#include "transfer.h"

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

/* What an HcclRootInfo contains. */
struct blob {
    char bl_magic[8];
    int64_t bl_process;
    uint64_t bl_number;
};
static const char magic[8] = "ACLHCCL";
_Static_assert(sizeof(struct blob) <= sizeof(HcclRootInfo), "the identification of a root fits");

struct root {
    struct root *ro_next;
    uint64_t ro_number;
    const struct sim_comm_group *ro_whole; /* the group of which it is a part, or NULL */
    struct sim_comm_group *ro_group;       /* NULL: no rank has joined */
};

static struct sim_lock roots_lock;
static struct root *roots;

/* ---- groups ---- */

static void free_group(struct sim_comm_group *group)
{
    for (uint32_t rank = 0; rank < group->gp_count; rank++)
        free(group->gp_ranks[rank].rk_pairs);
    sim_transfer_forget(group);
    free(group->gp_changed);
    free(group->gp_ranks);
    free(group);
}

/* `options` of the first rank hold for all. */
static struct sim_comm_group *create_group(uint32_t count, const struct sim_comm_options *options, uint64_t number)
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

void sim_comm_changed(struct sim_comm_group *group, struct sim_gate *gate)
{
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

void sim_comm_give_back(struct sim_comm_seat seat)
{
    if (atomic_fetch_sub_explicit(&seat.se_group->gp_uses, 1, memory_order_acq_rel) == 1)
        free_group(seat.se_group);
}

static void seat_rank(struct sim_comm_group *group, uint32_t rank, int32_t device)
{
    group->gp_ranks[rank].rk_joined = true;
    group->gp_ranks[rank].rk_device = device;
    group->gp_joined++;
    atomic_fetch_add_explicit(&group->gp_uses, 1, memory_order_relaxed);
}

/* ---- roots ---- */

HcclResult sim_comm_root(HcclRootInfo *info)
{
    struct sim_context *context;
    struct blob blob = {.bl_process = getpid()};
    if (sim_context_current(&context) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    struct root *root = calloc(1, sizeof *root);
    if (root == NULL || getrandom(&blob.bl_number, sizeof blob.bl_number, 0) != sizeof blob.bl_number) {
        free(root);
        return (HcclResult)sim_refuse(HCCL_E_MEMORY, "there is no memory for the identification of a root");
    }
    memcpy(blob.bl_magic, magic, sizeof magic);
    memset(info, 0, sizeof *info);
    memcpy(info, &blob, sizeof blob);
    root->ro_number = blob.bl_number;
    sim_lock(&roots_lock);
    root->ro_next = roots;
    roots = root;
    sim_unlock(&roots_lock);
    return HCCL_SUCCESS;
}

static struct root **find_root(const struct sim_comm_group *whole, uint64_t number)
{
    struct root **at = &roots;
    while (*at != NULL && ((*at)->ro_number != number || (*at)->ro_whole != whole))
        at = &(*at)->ro_next;
    return at;
}

static void remove_root(struct root **at)
{
    struct root *root = *at;
    *at = root->ro_next;
    free(root);
}

/* With roots_lock held: joins a root's group, which the first rank creates. */
static HcclResult join_root(struct root **at, uint32_t count, uint32_t rank, int32_t device,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct root *root = *at;
    SIM_ARGUMENT(root != NULL, HCCL_E_UNAVAIL,
                 "rootInfo belongs to a communicator whose ranks have all joined or have given up, expected a new one "
                 "from HcclGetRootInfo");
    if (root->ro_group == NULL)
        root->ro_group = create_group(count, options, root->ro_number);
    struct sim_comm_group *group = root->ro_group;
    SIM_ARGUMENT(group != NULL, HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
    SIM_ARGUMENT(group->gp_count == count, HCCL_E_PARA,
                 "EI0015: nRanks is %u, and another rank has called with %u, expected the same on all ranks", count,
                 group->gp_count);
    SIM_ARGUMENT(!group->gp_ranks[rank].rk_joined, HCCL_E_PARA,
                 "EI0015: rank is %u, which has joined already, expected another number for each rank", rank);
    for (uint32_t other = 0; other < count; other++)
        SIM_ARGUMENT(!group->gp_ranks[other].rk_joined || group->gp_ranks[other].rk_device != device, HCCL_E_PARA,
                     "EI0015: the current device is %d, with which rank %u has joined, expected another device for "
                     "each rank", device, other);
    seat_rank(group, rank, device);
    *seat = (struct sim_comm_seat){group, rank};
    if (group->gp_joined == count)
        remove_root(at);
    return HCCL_SUCCESS;
}

HcclResult sim_comm_join(uint32_t count, const HcclRootInfo *info, uint32_t rank,
                         const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct blob blob;
    SIM_ARGUMENT(count != 0, HCCL_E_PARA, "nRanks is 0, expected at least 1");
    SIM_ARGUMENT(count <= sim_config_devices(), HCCL_E_NOT_SUPPORT,
                 "nRanks is %u, expected at most %u, the number of devices: the simulator connects ranks of one "
                 "process only, with one device each", count, sim_config_devices());
    SIM_ARGUMENT(rank < count, HCCL_E_PARA, "rank is %u, expected less than %u, nRanks", rank, count);
    memcpy(&blob, info, sizeof blob);
    SIM_ARGUMENT(memcmp(blob.bl_magic, magic, sizeof magic) == 0, HCCL_E_PARA,
                 "rootInfo was not written by HcclGetRootInfo of this library");
    SIM_ARGUMENT(blob.bl_process == getpid(), HCCL_E_NOT_SUPPORT,
                 "rootInfo was written by process %" PRId64 ", expected this process (%d): the simulator connects "
                 "ranks of one process only", blob.bl_process, getpid());
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    sim_lock(&roots_lock);
    HcclResult result =
        join_root(find_root(NULL, blob.bl_number), count, rank, context->cx_device->dv_id, options, seat);
    sim_unlock(&roots_lock);
    if (result == HCCL_SUCCESS)
        sim_gate_count(&seat->se_group->gp_joining);
    return result;
}

/* ---- parts of a group ---- */

static HcclResult check_members(struct sim_comm_seat whole, uint32_t count, const uint32_t *members, uint32_t rank)
{
    SIM_ARGUMENT(!whole.se_group->gp_is_part, HCCL_E_PARA,
                 "comm is a part of another communicator, expected the whole");
    SIM_ARGUMENT(count != 0 && count <= whole.se_group->gp_count, HCCL_E_PARA,
                 "rankNum is %u, expected 1 to %u, the number of ranks", count, whole.se_group->gp_count);
    for (uint32_t i = 0; i < count; i++)
        SIM_ARGUMENT(members[i] < whole.se_group->gp_count && (i == 0 || members[i] > members[i - 1]), HCCL_E_PARA,
                     "rankIds[%u] is %u, expected ascending numbers of ranks below %u", i, members[i],
                     whole.se_group->gp_count);
    SIM_ARGUMENT(rank < count && members[rank] == whole.se_rank, HCCL_E_PARA,
                 "subCommRankId is %u, expected the place of rank %u in rankIds", rank, whole.se_rank);
    return HCCL_SUCCESS;
}

/* The first member makes a root, which has the number that the program has chosen. */
static HcclResult join_part(struct sim_comm_seat whole, uint32_t count, uint64_t number, uint32_t rank,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct root **at = find_root(whole.se_group, number);
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
        SIM_ARGUMENT(*at != NULL, HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
        (*at)->ro_whole = whole.se_group;
        (*at)->ro_number = number;
    }
    return join_root(at, count, rank, whole.se_group->gp_ranks[whole.se_rank].rk_device, options, seat);
}

HcclResult sim_comm_join_part(HcclComm comm, uint32_t count, const uint32_t *members, uint64_t number, uint32_t rank,
                              struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_comm_seat whole;
    HcclResult result = sim_engine_may_wait() == ACL_SUCCESS ? sim_comm_find(comm, &whole) : HCCL_E_RUNTIME;
    if (result != HCCL_SUCCESS)
        return result;
    result = check_members(whole, count, members, rank);
    if (result == HCCL_SUCCESS) {
        if (options->op_name[0] == '\0')
            snprintf(options->op_name, sizeof options->op_name, "%.90s_sub_%" PRIu64, whole.se_group->gp_name, number);
        sim_lock(&roots_lock);
        result = join_part(whole, count, number, rank, options, seat);
        if (result == HCCL_SUCCESS)
            seat->se_group->gp_is_part = true;
        sim_unlock(&roots_lock);
    }
    if (result == HCCL_SUCCESS)
        sim_gate_count(&seat->se_group->gp_joining);
    sim_comm_give_back(whole);
    return result;
}

/* ---- the end of joining ---- */

/* Ends the creation for all ranks unless the last one has come meanwhile. */
static void give_up(struct sim_comm_group *group)
{
    sim_lock(&roots_lock);
    struct root **at = &roots;
    while (*at != NULL && (*at)->ro_group != group)
        at = &(*at)->ro_next;
    if (*at != NULL) {
        remove_root(at);
        group->gp_failed = true;
    }
    sim_unlock(&roots_lock);
    sim_gate_raise(&group->gp_joining, group->gp_count);
}

static HcclResult report_missing(const struct sim_comm_group *group)
{
    uint32_t rank = 0;
    while (group->gp_ranks[rank].rk_joined)
        rank++;
    return (HcclResult)sim_refuse(HCCL_E_TIMEOUT,
                                  "EI0015: %u of %u ranks have joined the communicator in time (HCCL_CONNECT_TIMEOUT), "
                                  "and rank %u is the first that has not", group->gp_joined, group->gp_count, rank);
}

static HcclResult publish(struct sim_comm_seat seat, HcclComm *handle)
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

HcclResult sim_comm_wait(struct sim_comm_seat seat, HcclComm *comm)
{
    struct sim_comm_group *group = seat.se_group;
    uint64_t deadline = sim_clock_now() + sim_comm_connect_timeout();
    if (sim_engine_help_gate(&group->gp_joining, group->gp_count, deadline) == SIM_WAIT_EXPIRED)
        give_up(group);
    if (!group->gp_failed)
        return publish(seat, comm);
    HcclResult result = report_missing(group);
    sim_comm_give_back(seat);
    return result;
}

HcclResult sim_comm_create_all(uint32_t count, const int32_t *devices, HcclComm *handles)
{
    struct sim_comm_options options;
    uint64_t number = 0;
    HcclResult result = sim_comm_read_options(NULL, &options);
    struct sim_comm_group *group = NULL;
    if (result == HCCL_SUCCESS && getrandom(&number, sizeof number, 0) == sizeof number)
        group = create_group(count, &options, number);
    if (result == HCCL_SUCCESS && group == NULL)
        result = (HcclResult)sim_refuse(HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
    if (result != HCCL_SUCCESS)
        return result;
    for (uint32_t rank = 0; rank < count; rank++)
        seat_rank(group, rank, devices[rank]);
    for (uint32_t rank = 0; rank < count; rank++) {
        HcclResult each = publish((struct sim_comm_seat){group, rank}, &handles[rank]);
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

/* Ends a communicator, whose lock is held, and returns true; or false, because buffers of the rank are being accessed.
 * The handle is dead before any stream can run again. */
static bool end_comm(struct sim_comm *comm)
{
    const struct sim_comm_seat seat = {comm->cm_group, comm->cm_rank};
    struct sim_comm_group *group = seat.se_group;
    sim_lock(&group->gp_lock);
    if (sim_meeting_works(group) || sim_transfer_works(group, seat.se_rank)) {
        sim_comm_unlock(group);
        return false;
    }
    sim_meeting_leave_all(group, seat.se_rank);
    sim_transfer_leave_all(group, seat.se_rank);
    group->gp_ranks[seat.se_rank].rk_left = true;
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

#define PATIENCE UINT64_C(10000000000) /* nanoseconds */

void sim_comm_set_deadline(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_wait *wait,
                           uint32_t missing)
{
    const uint64_t now = sim_clock_now(), timeout = seat.se_group->gp_timeout;
    if (wait->wa_deadline == 0) {
        wait->wa_deadline = timeout == SIM_FOREVER ? SIM_FOREVER : now + timeout;
        wait->wa_patience = now + PATIENCE;
    }
    if (now >= wait->wa_patience) {
        wait->wa_patience = SIM_FOREVER;
        fprintf(stderr, "acl simulator: %s on rank %u of communicator %s still waits for rank %u\n",
                run->rn_task->ta_op->op_name, seat.se_rank, seat.se_group->gp_name, missing);
    }
    run->rn_deadline = wait->wa_patience < wait->wa_deadline ? wait->wa_patience : wait->wa_deadline;
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

aclError sim_comm_give_up(struct sim_run *run, struct sim_comm_seat seat, struct sim_comm_outcome outcome)
{
    if (outcome.oc_code != ACL_ERROR_RT_PARAM_INVALID) /* then the communicator can be used further */
        seat.se_group->gp_ranks[seat.se_rank].rk_error = HCCL_E_REMOTE;
    sim_comm_unlock(seat.se_group);
    return sim_engine_give_up(run, outcome.oc_code, outcome.oc_text);
}

void sim_comm_wait_unused(struct sim_comm_group *group, struct sim_gate *gate, const uint32_t *users)
{
    while (*users != 0) {
        const uint64_t level = sim_gate_level(gate);
        sim_comm_unlock(group);
        sim_engine_wait_gate(gate, level + 1, SIM_FOREVER);
        sim_lock(&group->gp_lock);
    }
}

/* ---- suspending ---- */

HcclResult sim_comm_suspend(HcclComm handle)
{
    struct sim_comm_seat seat;
    HcclResult result = sim_comm_find(handle, &seat);
    if (result != HCCL_SUCCESS)
        return result;
    sim_lock(&seat.se_group->gp_lock);
    seat.se_group->gp_ranks[seat.se_rank].rk_suspended = true;
    sim_comm_unlock(seat.se_group);
    sim_comm_give_back(seat);
    return HCCL_SUCCESS;
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

static void forget_roots(void)
{
    while (roots != NULL)
        remove_root(&roots);
}

void sim_comm_reset(void)
{
    sim_object_destroy_all(&comms, end);
    sim_lock(&roots_lock);
    forget_roots();
    sim_unlock(&roots_lock);
}

void sim_comm_after_fork(void)
{
    sim_table_empty(&comms);
    sim_meeting_after_fork();
    sim_transfer_after_fork();
    sim_lock_renew(&roots_lock);
    forget_roots();
}
