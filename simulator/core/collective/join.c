/* The ranks of a communicator meet at a root (root.h). The bytes of HcclRootInfo name it.
 *
 * For a rank table, the first process that claims the digest of the file as a name makes the root, under a number that
 * the others know from the digest; processes of other servers than that of rank 0 find it at an address of the table.
 * For a part of a group, the process of the first member makes it, and tells the
 * others over the wire of the whole group. */
#include "join.h"

#include "base/clock.h"
#include "comm_config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "host.h"
#include "net.h"
#include "rank_table.h"
#include "root.h"
#include "span.h"
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- root infos ---- */

/* What an HcclRootInfo contains. */
struct blob {
    char bl_magic[8];
    struct sim_root_place bl_root;
};
static const char magic[8] = "ACLHCCL";
_Static_assert(sizeof(struct blob) <= sizeof(HcclRootInfo), "the identification of a root fits");

HcclResult sim_join_root(HcclRootInfo *info)
{
    struct sim_context *context;
    aclError code;
    if (sim_context_current(&context) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    struct blob blob = {0};
    sim_root_lock();
    struct sim_root *root = sim_root_open(0, context->cx_device->dv_id, &code);
    HcclResult result = root != NULL ? sim_root_let_in_hosts(root) : HCCL_SUCCESS;
    if (root != NULL)
        blob.bl_root = root->ro_place;
    if (result != HCCL_SUCCESS)
        sim_root_remove(root);
    sim_root_unlock();
    SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_MEMORY,
                 "EI0019: this process cannot be reached by others (%d %s)", (int)code, sim_fail_name(code));
    if (result != HCCL_SUCCESS)
        return result;
    memcpy(blob.bl_magic, magic, sizeof magic);
    memset(info, 0, sizeof *info);
    memcpy(info, &blob, sizeof blob);
    return HCCL_SUCCESS;
}

/* With the lock of roots held: the root at a place, or NULL if it is over. */
static HcclResult root_at(const struct sim_root_place *place, int32_t device, struct sim_root **root)
{
    aclError code;
    *root = sim_root_find(place);
    if (*root != NULL)
        return HCCL_SUCCESS;
    if (place->pl_machine != sim_host_machine())
        return sim_root_visit(place, root);
    if (!sim_exchange_is_own(place->pl_id))
        *root = sim_root_open(place->pl_id, device, &code);
    if (*root != NULL)
        (*root)->ro_place = *place;
    return HCCL_SUCCESS;
}

HcclResult sim_join_by_root(uint32_t count, const HcclRootInfo *info, uint32_t rank,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct blob blob;
    SIM_ARGUMENT(count != 0, HCCL_E_PARA, "nRanks is 0, expected at least 1");
    SIM_ARGUMENT(count <= SIM_ROOT_RANKS, HCCL_E_NOT_SUPPORT, "nRanks is %u, expected at most %u in the simulator",
                 count, SIM_ROOT_RANKS);
    SIM_ARGUMENT(rank < count, HCCL_E_PARA, "rank is %u, expected less than %u, nRanks", rank, count);
    memcpy(&blob, info, sizeof blob);
    SIM_ARGUMENT(memcmp(blob.bl_magic, magic, sizeof magic) == 0, HCCL_E_PARA,
                 "rootInfo was not written by HcclGetRootInfo of this library");
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    sim_root_lock();
    struct sim_root *root;
    HcclResult result = root_at(&blob.bl_root, context->cx_device->dv_id, &root);
    if (result == HCCL_SUCCESS)
        result = sim_root_join(root, count, rank, context->cx_device->dv_id, options, seat);
    if (result != HCCL_SUCCESS && root != NULL && root->ro_users == 0 && !root->ro_is_own)
        sim_root_remove(root);
    sim_root_unlock();
    return result;
}

/* ---- rank tables ---- */

#define TABLE_TRIES 1000 /* the process that has the name may be about to end its root */
#define RETRY_NS UINT64_C(100000000)

/* Where the ranks of a table with several servers meet. Its digest is the secret. */
static struct sim_root_place place_of_table(const struct sim_rank_table *table)
{
    return (struct sim_root_place){.pl_secret = {table->rt_digest, ~table->rt_digest},
                                   .pl_address = table->rt_address};
}

/* The root of a table on this host, which the first process makes; it lets in processes of other hosts. */
static HcclResult open_table_root(const struct sim_rank_table *table, int32_t device, struct sim_root **result)
{
    const uint32_t number = (uint32_t)table->rt_digest;
    aclError code = ACL_SUCCESS;
    int claim;
    int32_t holder = 0;
    struct sim_root *root = NULL;
    for (int tries = 0; root == NULL && code != ACL_ERROR_RT_TIMEOUT && tries < TABLE_TRIES; tries++) {
        root = sim_root_open(0, device, &code);
        if (root == NULL)
            return HCCL_SUCCESS;
        root->ro_place.pl_id = sim_exchange_renumber(SIM_EXCHANGE_GROUP, root->ro_place.pl_id, number);
        if (sim_exchange_claim(table->rt_digest, &claim, &holder) == ACL_SUCCESS && claim >= 0) {
            root->ro_claim = claim;
        } else {
            sim_root_remove(root);
            root = sim_root_open(sim_exchange_id(holder, number), device, &code);
        }
    }
    *result = root;
    if (root == NULL || table->rt_servers <= 1)
        return HCCL_SUCCESS;
    const struct sim_root_place place = place_of_table(table);
    memcpy(root->ro_place.pl_secret, place.pl_secret, sizeof place.pl_secret);
    root->ro_place.pl_address = place.pl_address;
    return root->ro_claim >= 0 ? sim_root_let_in_hosts(root) : HCCL_SUCCESS;
}

/* With the lock of roots held. NULL without memory. HCCL_E_AGAIN, without a message: the server of rank 0 has no root
 * yet. */
static HcclResult root_of_table(const struct sim_rank_table *table, int32_t device, struct sim_root **root)
{
    const struct sim_root_place place = place_of_table(table);
    *root = sim_root_find_table(table->rt_digest);
    if (*root != NULL)
        return HCCL_SUCCESS;
    HcclResult result = table->rt_servers <= 1 || table->rt_is_first ? open_table_root(table, device, root)
                                                                     : sim_root_visit(&place, root);
    if (*root != NULL)
        (*root)->ro_table = table->rt_digest;
    return result;
}

static HcclResult join_table(const struct sim_rank_table *table, uint32_t rank, int32_t device,
                             const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_root *root;
    sim_root_lock();
    HcclResult result = root_of_table(table, device, &root);
    if (result == HCCL_SUCCESS)
        result = sim_root_join(root, table->rt_count, rank, device, options, seat);
    if (result == HCCL_SUCCESS)
        seat->se_group->gp_table = table->rt_digest;
    else if (root != NULL && root->ro_users == 0)
        sim_root_remove(root);
    sim_root_unlock();
    /* An earlier root of the same table may be about to end. */
    return result == HCCL_E_UNAVAIL && table->rt_servers > 1 ? HCCL_E_AGAIN : result;
}

/* Nothing can tell this process when the server of rank 0 begins to listen, so it tries again, as HCCL does. */
static HcclResult join_table_in_time(const struct sim_rank_table *table, uint32_t rank, int32_t device,
                                     const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    static _Atomic uint32_t nothing;
    const uint64_t deadline = sim_clock_now() + sim_comm_connect_timeout();
    char text[SIM_HOST_TEXT];
    HcclResult result;
    while ((result = join_table(table, rank, device, options, seat)) == HCCL_E_AGAIN && sim_clock_now() < deadline)
        sim_futex_wait(&nothing, 0, RETRY_NS);
    if (result != HCCL_E_AGAIN)
        return result;
    sim_host_write(&table->rt_address, text);
    return (HcclResult)sim_refuse(HCCL_E_TIMEOUT,
                                  "EI0015: no process of the server of rank 0 has joined at %s in time "
                                  "(HCCL_CONNECT_TIMEOUT), expected that it uses the same clusterInfo and the same "
                                  "ports (HCCL_IF_BASE_PORT, HCCL_HOST_SOCKET_PORT_RANGE)", text);
}

HcclResult sim_join_by_table(const char *path, uint32_t rank, const struct sim_comm_options *options,
                             struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct sim_rank_table table;
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    HcclResult result = sim_rank_table_read(path, rank, &table);
    if (result == HCCL_SUCCESS && table.rt_servers > 1)
        result = sim_net_check();
    if (result != HCCL_SUCCESS)
        return result;
    SIM_ARGUMENT(!sim_comm_has_table(table.rt_digest, rank), HCCL_E_PARA,
                 "rank is %u, for which this process has a communicator of this clusterInfo, expected it to be "
                 "destroyed before", rank);
    return join_table_in_time(&table, rank, context->cx_device->dv_id, options, seat);
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

/* Takes the offer with a number out of the list; false: there is none. */
static bool take_offer(struct sim_comm_group *group, uint64_t number, struct sim_root_place *place)
{
    sim_lock(&group->gp_lock);
    sim_span_receive(group);
    struct sim_comm_offer **at = &group->gp_offers, *offer;
    while ((offer = *at) != NULL && offer->of_number != number)
        at = &offer->of_next;
    const bool found = offer != NULL;
    if (found) {
        *place = offer->of_place;
        *at = offer->of_next;
        free(offer);
    }
    sim_comm_unlock(group);
    return found;
}

/* With the lock of roots held: makes the root of a part, and tells the other members. */
static HcclResult make_root_of_part(struct sim_comm_group *group, uint32_t count, const uint32_t *members,
                                    uint64_t number, int32_t device, struct sim_root **root)
{
    aclError code;
    *root = sim_root_open(0, device, &code);
    SIM_ARGUMENT(*root != NULL, HCCL_E_MEMORY, "EI0019: this process cannot be reached by others (%d %s)", (int)code,
                 sim_fail_name(code));
    HcclResult result =
        group->gp_wire != NULL && group->gp_wire->wr_net != NULL ? sim_root_let_in_hosts(*root) : HCCL_SUCCESS;
    if (result != HCCL_SUCCESS) {
        sim_root_remove(*root);
        return result;
    }
    if (group->gp_wire != NULL) {
        sim_lock(&group->gp_lock);
        sim_span_offer(group, count, members, number, &(*root)->ro_place);
        sim_comm_unlock(group);
    }
    return HCCL_SUCCESS;
}

/* With the lock of roots held: the root of a part, or NULL as long as the process of the first member has not made
 * it. */
static HcclResult root_of_part(struct sim_comm_seat whole, uint32_t count, const uint32_t *members, uint64_t number,
                               int32_t device, struct sim_root **root)
{
    struct sim_comm_group *group = whole.se_group;
    struct sim_root_place place;
    HcclResult result = HCCL_SUCCESS;
    *root = sim_root_find_part(group, number);
    if (*root != NULL)
        return HCCL_SUCCESS;
    if (sim_span_is_here(group, members[0]))
        result = make_root_of_part(group, count, members, number, device, root);
    else if (!take_offer(group, number, &place))
        return HCCL_SUCCESS;
    else
        result = root_at(&place, device, root);
    SIM_ARGUMENT(result != HCCL_SUCCESS || *root != NULL, HCCL_E_TCP_CONNECT,
                 "EI0015: the process of rank %u cannot be reached, expected that it still creates the part",
                 members[0]);
    if (result == HCCL_SUCCESS) {
        (*root)->ro_whole = group;
        (*root)->ro_number = number;
    }
    return result;
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
    for (;;) {
        const uint64_t level = group->gp_wire != NULL ? sim_gate_level(&group->gp_wire->wr_gate) : 0;
        sim_root_lock();
        HcclResult result = root_of_part(whole, count, members, number, device, root);
        if (result != HCCL_SUCCESS || *root != NULL)
            return result;
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
