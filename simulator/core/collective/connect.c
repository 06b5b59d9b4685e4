/* Processes are known by their lowest ranks, which are their places (wire.h). On one host, every process opens its wire
 * to each of the others. If there are several hosts, all processes connect by a net, also those of one host, and the
 * lobby of the root keeps what they need for that. No state; a process connects once for all of its ranks (root.c). */
#include "connect.h"

#include "base/thread.h"
#include "guest.h"
#include "host.h"
#include "net.h"
#include "root_page.h"
#include "wire.h"

/* Opens the wire to a process whose lowest rank is `place`. If it has ended meanwhile, operators with it fail. */
static HcclResult connect_to(struct sim_root *root, uint32_t place)
{
    const struct sim_wire_card card = {atomic_load(card_word(root, place, PAGE)),
                                       atomic_load(card_word(root, place, BOARD)),
                                       atomic_load(card_word(root, place, MEMORY))};
    aclError code = sim_wire_connect(root->ro_wire, place, &card);
    SIM_ARGUMENT(code != ACL_ERROR_RT_TIMEOUT, HCCL_E_TIMEOUT, "EI0006: the process of rank %u does not answer", place);
    SIM_ARGUMENT(code == ACL_SUCCESS || code == ACL_ERROR_RT_PARAM_INVALID, HCCL_E_TCP_CONNECT,
                 "EI0006: the process of rank %u cannot be reached (%d %s)", place, (int)code, sim_fail_name(code));
    return HCCL_SUCCESS;
}

/* Whether two ranks are of one process. */
static bool is_same(const struct sim_root *root, uint32_t one, uint32_t other)
{
    return atomic_load(card_word(root, one, PAGE)) == atomic_load(card_word(root, other, PAGE)) &&
           atomic_load(card_word(root, one, MACHINE)) == atomic_load(card_word(root, other, MACHINE));
}

/* The processes, by their lowest ranks. */
struct processes {
    uint32_t pr_count;
    bool pr_places[SIM_ROOT_RANKS];
    bool pr_span_hosts;
};

static struct processes find_processes(const struct sim_root *root)
{
    const struct sim_comm_group *group = root->ro_group;
    const uint64_t machine = sim_host_machine();
    struct processes found = {0};
    for (uint32_t rank = 0; rank < group->gp_count; rank++) {
        uint32_t place = 0;
        while (!is_same(root, place, rank))
            place++;
        group->gp_ranks[rank].rk_place = place;
        found.pr_count += place == rank;
        found.pr_places[rank] = place == rank;
        found.pr_span_hosts |= atomic_load(card_word(root, rank, MACHINE)) != machine ||
                               atomic_load(card_word(root, rank, BOARD)) == 0; /* joined as if from another host */
        if (atomic_load(card_word(root, rank, MACHINE)) == machine &&
            atomic_load(card_word(root, rank, PAGE)) == root->ro_wire->wr_card.wc_page)
            root->ro_wire->wr_self = place;
    }
    return found;
}

/* Opens the wires to the other processes of this host. */
static HcclResult connect_here(struct sim_root *root)
{
    struct sim_comm_group *group = root->ro_group;
    struct sim_wire *wire = root->ro_wire;
    for (uint32_t rank = 0; rank < group->gp_count; rank++) {
        const uint32_t place = group->gp_ranks[rank].rk_place;
        HcclResult result = place != wire->wr_self && place == rank ? connect_to(root, place) : HCCL_SUCCESS;
        if (result != HCCL_SUCCESS)
            return result;
        group->gp_ranks[rank].rk_left = group->gp_ranks[rank].rk_is_lost =
            place != wire->wr_self && !wire->wr_peers[place].pe_open;
    }
    wire->wr_may_spin = group->gp_count <= sim_thread_cpus();
    return HCCL_SUCCESS;
}

/* Connects the processes of all hosts. The lock of roots is not held. */
static HcclResult connect_hosts(struct sim_root *root, const struct processes *processes)
{
    struct sockaddr_storage own;
    struct acl_hccl_store store;
    struct sim_net *net;
    char address[SIM_HOST_TEXT];
    HcclResult result = sim_net_check();
    if (result == HCCL_SUCCESS)
        result = sim_host_address(&own);
    if (result == HCCL_SUCCESS)
        result = sim_guest_connect_store(&root->ro_place, root->ro_wire->wr_self, &store);
    if (result != HCCL_SUCCESS)
        return result;
    sim_host_write(&own, address);
    result = sim_net_open(root->ro_group->gp_count, processes->pr_places, root->ro_wire->wr_self, address, &store,
                          root->ro_gate, &net);
    sim_guest_close_store(&store, result == HCCL_SUCCESS);
    if (root->ro_lobby != NULL)
        sim_lobby_await_connected(root->ro_lobby, processes->pr_count);
    if (result == HCCL_SUCCESS)
        sim_wire_join_net(root->ro_wire, processes->pr_places, net);
    return result;
}

HcclResult sim_connect_all(struct sim_root *root)
{
    const struct processes processes = find_processes(root);
    HcclResult result = HCCL_SUCCESS;
    if (processes.pr_count == 1)
        return HCCL_SUCCESS;
    if (processes.pr_span_hosts) {
        sim_root_unlock();
        result = connect_hosts(root, &processes);
        sim_root_lock();
    } else {
        result = connect_here(root);
    }
    if (result != HCCL_SUCCESS)
        return result;
    root->ro_group->gp_wire = root->ro_wire;
    root->ro_wire = NULL;
    return HCCL_SUCCESS;
}
