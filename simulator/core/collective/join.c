/* The ranks of a communicator meet at a root (root.h). The bytes of HcclRootInfo name it.
 *
 * For a rank table, the first process that claims the digest of the file as a name makes the root, under a number that
 * the others know from the digest. For a part of a group, the process of the first member makes it, and tells the
 * others over the wire of the whole group. */
#include "join.h"

#include "base/clock.h"
#include "comm_config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "rank_table.h"
#include "root.h"
#include "span.h"
#include "wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- root infos ---- */

/* What an HcclRootInfo contains. */
struct blob {
    char bl_magic[8];
    uint64_t bl_machine; /* where process numbers mean the same */
    uint64_t bl_root;
};
static const char magic[8] = "ACLHCCL";
_Static_assert(sizeof(struct blob) <= sizeof(HcclRootInfo), "the identification of a root fits");

/* Processes reach each other by their numbers and by names of sockets, which are valid in one name space each, of one
 * running system. */
static uint64_t machine(void)
{
    struct stat processes = {0}, sockets = {0};
    char boot[64] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, boot, sizeof boot) : 0;
    if (file >= 0)
        close(file);
    if (stat("/proc/self/ns/pid", &processes) != 0 || stat("/proc/self/ns/net", &sockets) != 0)
        processes.st_ino = sockets.st_ino = 0;
    uint64_t hash = (uint64_t)processes.st_ino << 32 | (uint32_t)sockets.st_ino;
    for (ssize_t i = 0; i < size; i++)
        hash = hash * UINT64_C(1099511628211) + (unsigned char)boot[i];
    return hash;
}

HcclResult sim_join_root(HcclRootInfo *info)
{
    struct sim_context *context;
    aclError code;
    if (sim_context_current(&context) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    sim_root_lock();
    const struct sim_root *root = sim_root_open(0, context->cx_device->dv_id, &code);
    struct blob blob = {.bl_machine = machine(), .bl_root = root != NULL ? root->ro_id : 0};
    sim_root_unlock();
    SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_MEMORY,
                 "EI0019: this process cannot be reached by others (%d %s)", (int)code, sim_fail_name(code));
    memcpy(blob.bl_magic, magic, sizeof magic);
    memset(info, 0, sizeof *info);
    memcpy(info, &blob, sizeof blob);
    return HCCL_SUCCESS;
}

HcclResult sim_join_by_root(uint32_t count, const HcclRootInfo *info, uint32_t rank,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct blob blob;
    aclError code;
    SIM_ARGUMENT(count != 0, HCCL_E_PARA, "nRanks is 0, expected at least 1");
    SIM_ARGUMENT(count <= SIM_ROOT_RANKS, HCCL_E_NOT_SUPPORT, "nRanks is %u, expected at most %u in the simulator",
                 count, SIM_ROOT_RANKS);
    SIM_ARGUMENT(rank < count, HCCL_E_PARA, "rank is %u, expected less than %u, nRanks", rank, count);
    memcpy(&blob, info, sizeof blob);
    SIM_ARGUMENT(memcmp(blob.bl_magic, magic, sizeof magic) == 0, HCCL_E_PARA,
                 "rootInfo was not written by HcclGetRootInfo of this library");
    SIM_ARGUMENT(blob.bl_machine == machine(), HCCL_E_NOT_SUPPORT,
                 "rootInfo was written on another machine or in another container, expected this one: the simulator "
                 "does not connect several hosts");
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    sim_root_lock();
    struct sim_root *root = sim_root_find(blob.bl_root);
    if (root == NULL && !sim_exchange_is_own(blob.bl_root))
        root = sim_root_open(blob.bl_root, context->cx_device->dv_id, &code);
    HcclResult result = sim_root_join(root, count, rank, context->cx_device->dv_id, options, seat);
    if (result != HCCL_SUCCESS && root != NULL && root->ro_users == 0 && !root->ro_is_own)
        sim_root_remove(root);
    sim_root_unlock();
    return result;
}

/* ---- rank tables ---- */

#define TABLE_TRIES 1000 /* the process that has the name may be about to end its root */

/* With the lock of roots held: the root of a table, which the first process makes. */
static struct sim_root *root_of_table(uint64_t digest, int32_t device)
{
    aclError code = ACL_SUCCESS;
    int claim;
    int32_t holder = 0;
    struct sim_root *root = sim_root_find_table(digest);
    for (int tries = 0; root == NULL && code != ACL_ERROR_RT_TIMEOUT && tries < TABLE_TRIES; tries++) {
        root = sim_root_open(0, device, &code);
        if (root == NULL)
            return NULL;
        root->ro_id = sim_exchange_renumber(SIM_EXCHANGE_GROUP, root->ro_id, (uint32_t)digest);
        if (sim_exchange_claim(digest, &claim, &holder) == ACL_SUCCESS && claim >= 0) {
            root->ro_claim = claim;
        } else {
            sim_root_remove(root);
            root = sim_root_open(sim_exchange_id(holder, (uint32_t)digest), device, &code);
        }
    }
    if (root != NULL)
        root->ro_table = digest;
    return root;
}

HcclResult sim_join_by_table(const char *path, uint32_t rank, const struct sim_comm_options *options,
                             struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct sim_rank_table table;
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    HcclResult result = sim_rank_table_read(path, rank, &table);
    if (result != HCCL_SUCCESS)
        return result;
    SIM_ARGUMENT(!sim_comm_has_table(table.rt_digest, rank), HCCL_E_PARA,
                 "rank is %u, for which this process has a communicator of this clusterInfo, expected it to be "
                 "destroyed before", rank);
    const int32_t device = context->cx_device->dv_id;
    sim_root_lock();
    struct sim_root *root = root_of_table(table.rt_digest, device);
    result = sim_root_join(root, table.rt_count, rank, device, options, seat);
    if (result == HCCL_SUCCESS)
        seat->se_group->gp_table = table.rt_digest;
    else if (root != NULL && root->ro_users == 0)
        sim_root_remove(root);
    sim_root_unlock();
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

/* Takes the offer with a number out of the list; 0: there is none. */
static uint64_t take_offer(struct sim_comm_group *group, uint64_t number)
{
    uint64_t id = 0;
    sim_lock(&group->gp_lock);
    sim_span_receive(group);
    struct sim_comm_offer **at = &group->gp_offers, *offer;
    while ((offer = *at) != NULL && offer->of_number != number)
        at = &offer->of_next;
    if (offer != NULL) {
        id = offer->of_root;
        *at = offer->of_next;
        free(offer);
    }
    sim_comm_unlock(group);
    return id;
}

/* With the lock of roots held: the root of a part, or NULL as long as the process of the first member has not made
 * it. */
static struct sim_root *root_of_part(struct sim_comm_seat whole, uint32_t count, const uint32_t *members,
                                     uint64_t number, int32_t device, aclError *code)
{
    struct sim_comm_group *group = whole.se_group;
    struct sim_root *root = sim_root_find_part(group, number);
    const bool makes_it = sim_span_is_here(group, members[0]);
    const uint64_t id = root == NULL && !makes_it ? take_offer(group, number) : 0;
    *code = ACL_SUCCESS;
    if (root != NULL || (!makes_it && id == 0))
        return root;
    root = sim_root_open(id, device, code);
    if (root == NULL)
        return NULL;
    root->ro_whole = group;
    root->ro_number = number;
    if (makes_it && group->gp_wire != NULL) {
        sim_lock(&group->gp_lock);
        sim_span_offer(group, count, members, number, root->ro_id);
        sim_comm_unlock(group);
    }
    return root;
}

static bool has_left(struct sim_comm_group *group, uint32_t rank)
{
    sim_lock(&group->gp_lock);
    const bool left = group->gp_ranks[rank].rk_left;
    sim_comm_unlock(group);
    return left;
}

/* Waits for that process, and leaves with the lock of roots held. */
static HcclResult await_root(struct sim_comm_seat whole, uint32_t count, const uint32_t *members, uint64_t number,
                             int32_t device, struct sim_root **root)
{
    struct sim_comm_group *group = whole.se_group;
    const uint64_t deadline = sim_clock_now() + sim_comm_connect_timeout();
    aclError code;
    for (;;) {
        const uint64_t level = group->gp_wire != NULL ? sim_gate_level(&group->gp_wire->wr_gate) : 0;
        sim_root_lock();
        *root = root_of_part(whole, count, members, number, device, &code);
        SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_TCP_CONNECT,
                     "EI0015: the process of rank %u cannot be reached, expected that it still creates the part "
                     "(%d %s)", members[0], (int)code, sim_fail_name(code));
        if (*root != NULL)
            return HCCL_SUCCESS;
        SIM_ARGUMENT(!has_left(group, members[0]), HCCL_E_TCP_CONNECT,
                     "EI0015: rank %u has left the communicator, expected that it creates the part", members[0]);
        sim_root_unlock();
        const bool waits = !sim_span_has_news(group, members[0]);
        const enum sim_wait wait =
            waits ? sim_engine_help_gate(&group->gp_wire->wr_gate, level + 1, deadline) : SIM_WAIT_PASSED;
        if (wait == SIM_WAIT_EXPIRED) {
            sim_root_lock();
            return (HcclResult)sim_refuse(HCCL_E_TIMEOUT,
                                          "EI0015: rank %u has not created the part %" PRIu64 " in time "
                                          "(HCCL_CONNECT_TIMEOUT)", members[0], number);
        }
    }
}

HcclResult sim_join_part(HcclComm comm, uint32_t count, const uint32_t *members, uint64_t number, uint32_t rank,
                         struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_comm_seat whole;
    struct sim_root *root;
    HcclResult result = sim_engine_may_wait() == ACL_SUCCESS ? sim_comm_find(comm, &whole) : HCCL_E_RUNTIME;
    if (result != HCCL_SUCCESS)
        return result;
    const int32_t device = whole.se_group->gp_ranks[whole.se_rank].rk_device;
    result = check_members(whole, count, members, rank);
    if (result == HCCL_SUCCESS) {
        if (options->op_name[0] == '\0')
            snprintf(options->op_name, sizeof options->op_name, "%.90s_sub_%" PRIu64, whole.se_group->gp_name, number);
        result = await_root(whole, count, members, number, device, &root);
        if (result == HCCL_SUCCESS)
            result = sim_root_join(root, count, rank, device, options, seat);
        if (result == HCCL_SUCCESS)
            seat->se_group->gp_is_part = true;
        sim_root_unlock();
    }
    sim_comm_give_back(whole);
    return result;
}

/* ---- the end of joining ---- */

HcclResult sim_join_wait(struct sim_comm_seat seat, HcclComm *comm)
{
    HcclResult result = sim_root_wait(seat.se_group);
    if (result == HCCL_SUCCESS)
        return sim_comm_publish(seat, comm);
    sim_comm_give_back(seat);
    return result;
}
