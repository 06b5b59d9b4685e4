/* A root is a page of the exchange, on which each rank leaves a card: how its process is reached. The process that made
 * the root publishes the page, and all processes with ranks map it. Ranks of one process join in the same way, and
 * share one wire. When the last card is there, every process opens its wire to each of the others, and the root is
 * over. If one rank gives up waiting, or a process ends, the creation has failed for all.
 *
 * `turn` guards the roots of this process, and wires that no group has yet. It is a mutex, because the answers of other
 * processes are awaited with it held. The page is atomic. */
#include "root.h"

#include "base/clock.h"
#include "base/thread.h"
#include "comm_config.h"
#include "wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the page ---- */

enum state { OPEN, COMPLETE, EXPIRED, LOST }; /* of a root; the number of a rank is in the upper half */
enum { STATE, AGREED, JOINED, CARDS = 16 };   /* words of the page */
enum { CLAIM, WHO, DEVICE, PAGE, BOARD, MEMORY, CARD_WORDS = 15 }; /* words of a card */
enum { FREE, TAKEN, READY };                  /* what CLAIM is */
_Static_assert(CARDS + SIM_ROOT_RANKS * CARD_WORDS <= SIM_SHARE_RECORDS, "the cards fit into a page");

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct sim_root *roots;

static _Atomic uint64_t *word(const struct sim_root *root, uint32_t index)
{
    return &root->ro_page.sr_page->sp_records[index];
}

static _Atomic uint64_t *card_word(const struct sim_root *root, uint32_t rank, uint32_t index)
{
    return word(root, CARDS + rank * CARD_WORDS + index);
}

static void change_state(const struct sim_root *root, enum state state, uint32_t rank)
{
    uint64_t open = OPEN;
    atomic_compare_exchange_strong(word(root, STATE), &open, (uint64_t)rank << 32 | state);
    sim_exchange_share_changed(&root->ro_page);
    sim_gate_count(root->ro_gate);
}

/* The state, after a look at the processes that have joined. */
static uint64_t look(const struct sim_root *root)
{
    const struct sim_share *page = &root->ro_page;
    const uint64_t state = atomic_load(word(root, STATE));
    for (uint32_t rank = 0; state == OPEN && rank < root->ro_group->gp_count; rank++)
        if (atomic_load(card_word(root, rank, CLAIM)) != FREE &&
            (sim_exchange_share_is_gone(page, 0) ||
             sim_exchange_share_is_gone(page, (uint32_t)atomic_load(card_word(root, rank, WHO)))))
            change_state(root, LOST, rank);
    return atomic_load(word(root, STATE));
}

/* ---- roots ---- */

struct sim_root *sim_root_find_table(uint64_t digest)
{
    struct sim_root *root = roots;
    while (root != NULL && root->ro_table != digest)
        root = root->ro_next;
    return root;
}

struct sim_root *sim_root_find_part(const struct sim_comm_group *whole, uint64_t number)
{
    struct sim_root *root = roots;
    while (root != NULL && (root->ro_whole != whole || root->ro_number != number))
        root = root->ro_next;
    return root;
}

struct sim_root *sim_root_find(uint64_t id)
{
    struct sim_root *root = roots;
    while (root != NULL && root->ro_id != id)
        root = root->ro_next;
    return root;
}

static void close_root(struct sim_root *root)
{
    if (root->ro_claim >= 0)
        close(root->ro_claim);
    if (root->ro_is_own)
        sim_exchange_withdraw(SIM_EXCHANGE_GROUP, root->ro_id, "rootInfo");
    if (root->ro_page.sr_link != NULL)
        sim_exchange_share_leave(&root->ro_page);
    if (root->ro_wire != NULL)
        sim_wire_close(root->ro_wire);
    free(root);
}

void sim_root_remove(struct sim_root *root)
{
    struct sim_root **at = &roots;
    while (*at != root)
        at = &(*at)->ro_next;
    *at = root->ro_next;
    close_root(root);
}

struct sim_root *sim_root_open(uint64_t id, int32_t device, aclError *code)
{
    struct sim_root *root = calloc(1, sizeof *root);
    struct sim_wire *wire = root != NULL ? sim_wire_take() : NULL;
    int32_t home;
    *code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (wire == NULL) {
        free(root);
        return NULL;
    }
    root->ro_id = id;
    root->ro_claim = -1;
    root->ro_is_own = id == 0;
    root->ro_wire = wire;
    root->ro_gate = &wire->wr_gate;
    *code = id == 0 ? sim_exchange_share_publish(SIM_EXCHANGE_GROUP, device, true, root->ro_gate, &root->ro_id,
                                                 &root->ro_page)
                    : sim_exchange_share_join(SIM_EXCHANGE_GROUP, id, "rootInfo", root->ro_gate, &home,
                                              &root->ro_page);
    if (*code != ACL_SUCCESS) {
        root->ro_is_own = false;
        close_root(root);
        return NULL;
    }
    root->ro_next = roots;
    roots = root;
    return root;
}

/* ---- joining, with the turn held ---- */

/* What all ranks have to agree on, as one word. */
static uint64_t agreement(uint32_t count, const struct sim_comm_options *options)
{
    uint32_t hash = 0;
    for (const char *at = options->op_name; *at != '\0'; at++)
        hash = hash * 16777619u + (unsigned char)*at;
    return (uint64_t)hash << 32 | count;
}

static HcclResult agree(const struct sim_root *root, uint32_t count, const struct sim_comm_options *options)
{
    const uint64_t mine = agreement(count, options);
    uint64_t agreed = 0;
    if (atomic_compare_exchange_strong(word(root, AGREED), &agreed, mine))
        return HCCL_SUCCESS;
    SIM_ARGUMENT((uint32_t)agreed == count, HCCL_E_PARA,
                 "EI0015: nRanks is %u, and another rank has called with %u, expected the same on all ranks", count,
                 (uint32_t)agreed);
    SIM_ARGUMENT(agreed == mine, HCCL_E_PARA,
                 "EI0015: config->hcclCommName is \"%s\", and another rank has another name, expected the same on all "
                 "ranks", options->op_name);
    return HCCL_SUCCESS;
}

/* The first rank of this process creates its side of the group. */
static HcclResult create_group(struct sim_root *root, uint32_t count, const struct sim_comm_options *options,
                               int32_t device)
{
    if (root->ro_group != NULL)
        return HCCL_SUCCESS;
    aclError code = sim_wire_publish(root->ro_wire, count, device);
    SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_MEMORY, "this process cannot be reached by others (%d %s)", (int)code,
                 sim_fail_name(code));
    root->ro_group = sim_comm_create_group(count, options, root->ro_id);
    SIM_ARGUMENT(root->ro_group != NULL, HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
    return HCCL_SUCCESS;
}

/* Leaves a card. */
static HcclResult take_place(struct sim_root *root, uint32_t rank, int32_t device)
{
    const struct sim_wire_card *card = &root->ro_wire->wr_card;
    const struct sim_comm_group *group = root->ro_group;
    uint64_t claim = FREE;
    for (uint32_t other = 0; other < group->gp_count; other++)
        SIM_ARGUMENT(other == rank || !group->gp_ranks[other].rk_joined || group->gp_ranks[other].rk_device != device,
                     HCCL_E_PARA,
                     "EI0015: the current device is %d, with which rank %u has joined, expected another device for "
                     "each rank", device, other);
    SIM_ARGUMENT(atomic_compare_exchange_strong(card_word(root, rank, CLAIM), &claim, TAKEN), HCCL_E_PARA,
                 "EI0015: rank is %u, which has joined already, expected another number for each rank", rank);
    atomic_store(card_word(root, rank, WHO), sim_exchange_share_self(&root->ro_page));
    atomic_store(card_word(root, rank, DEVICE), (uint64_t)device);
    atomic_store(card_word(root, rank, PAGE), card->wc_page);
    atomic_store(card_word(root, rank, BOARD), card->wc_board);
    atomic_store(card_word(root, rank, MEMORY), card->wc_memory);
    atomic_store(card_word(root, rank, CLAIM), READY);
    return HCCL_SUCCESS;
}

HcclResult sim_root_join(struct sim_root *root, uint32_t count, uint32_t rank, int32_t device,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    SIM_ARGUMENT(root != NULL && atomic_load(word(root, STATE)) == OPEN, HCCL_E_UNAVAIL,
                 "rootInfo belongs to a communicator whose ranks have all joined or have given up, or to a process "
                 "that has ended, expected a new one from HcclGetRootInfo");
    HcclResult result = agree(root, count, options);
    if (result == HCCL_SUCCESS)
        result = create_group(root, count, options, device);
    if (result == HCCL_SUCCESS)
        result = take_place(root, rank, device);
    if (result != HCCL_SUCCESS)
        return result;
    *seat = sim_comm_seat_rank(root->ro_group, rank, device);
    root->ro_users++;
    if (atomic_fetch_add(word(root, JOINED), 1) + 1 == count)
        change_state(root, COMPLETE, 0);
    sim_exchange_share_changed(&root->ro_page);
    return HCCL_SUCCESS;
}

/* ---- the end of joining ---- */

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

/* With the turn held: all cards are there. */
static HcclResult connect_all(struct sim_root *root)
{
    struct sim_comm_group *group = root->ro_group;
    struct sim_wire *wire = root->ro_wire;
    bool spans = false;
    for (uint32_t rank = 0; rank < group->gp_count; rank++) {
        const uint64_t page = atomic_load(card_word(root, rank, PAGE));
        uint32_t place = 0;
        while (atomic_load(card_word(root, place, PAGE)) != page)
            place++;
        group->gp_ranks[rank].rk_place = place;
        if (page == wire->wr_card.wc_page)
            wire->wr_self = place;
        else
            spans = true;
    }
    if (!spans)
        return HCCL_SUCCESS;
    for (uint32_t rank = 0; rank < group->gp_count; rank++) {
        const uint32_t place = group->gp_ranks[rank].rk_place;
        HcclResult result = place != wire->wr_self && place == rank ? connect_to(root, place) : HCCL_SUCCESS;
        if (result != HCCL_SUCCESS)
            return result;
        group->gp_ranks[rank].rk_left = group->gp_ranks[rank].rk_is_lost =
            place != wire->wr_self && !wire->wr_peers[place].pe_open;
    }
    wire->wr_may_spin = group->gp_count <= sim_thread_cpus();
    group->gp_wire = wire;
    root->ro_wire = NULL;
    return HCCL_SUCCESS;
}

static HcclResult report(const struct sim_root *root, uint64_t state)
{
    const uint32_t rank = (uint32_t)(state >> 32);
    SIM_ARGUMENT((uint32_t)state != LOST, HCCL_E_TCP_TRANSFER,
                 "EI0015: the process of rank %u, or that which made rootInfo, has ended while the communicator was "
                 "created", rank);
    return (HcclResult)sim_refuse(HCCL_E_TIMEOUT,
                                  "EI0015: %u of %u ranks have joined the communicator in time (HCCL_CONNECT_TIMEOUT), "
                                  "and rank %u is the first that has not", (uint32_t)atomic_load(word(root, JOINED)),
                                  root->ro_group->gp_count, rank);
}

static uint32_t first_missing(const struct sim_root *root)
{
    uint32_t rank = 0;
    while (rank + 1 < root->ro_group->gp_count && atomic_load(card_word(root, rank, CLAIM)) == READY)
        rank++;
    return rank;
}

/* Waits until the root is over, and returns its state. */
static uint64_t wait_for(const struct sim_root *root)
{
    const uint64_t deadline = sim_clock_now() + sim_comm_connect_timeout();
    for (;;) {
        const uint64_t level = sim_gate_level(root->ro_gate);
        sim_exchange_share_want(&root->ro_page);
        const uint64_t state = look(root);
        if (state != OPEN)
            return state;
        if (sim_engine_help_gate(root->ro_gate, level + 1, deadline) == SIM_WAIT_EXPIRED)
            change_state(root, EXPIRED, first_missing(root));
    }
}

HcclResult sim_root_wait(const struct sim_comm_group *group)
{
    pthread_mutex_lock(&turn);
    struct sim_root *root = roots;
    while (root->ro_group != group)
        root = root->ro_next;
    pthread_mutex_unlock(&turn);
    const uint64_t state = wait_for(root);
    pthread_mutex_lock(&turn);
    if (state == COMPLETE && !root->ro_is_connected) {
        root->ro_is_connected = true;
        root->ro_result = connect_all(root);
    }
    HcclResult result = state == COMPLETE ? root->ro_result : report(root, state);
    if (--root->ro_users == 0)
        sim_root_remove(root);
    pthread_mutex_unlock(&turn);
    return result;
}

/* ---- the turn, and the end of everything ---- */

void sim_root_lock(void)
{
    pthread_mutex_lock(&turn);
}

void sim_root_unlock(void)
{
    pthread_mutex_unlock(&turn);
}

void sim_root_reset(void)
{
    pthread_mutex_lock(&turn);
    while (roots != NULL)
        sim_root_remove(roots);
    pthread_mutex_unlock(&turn);
}

void sim_root_after_fork(void)
{
    for (const struct sim_root *root = roots; root != NULL; root = root->ro_next)
        if (root->ro_claim >= 0)
            close(root->ro_claim); /* or the claim would last as long as the child */
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    roots = NULL; /* the pages are the parent's */
}
