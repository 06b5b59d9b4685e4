/* A root is a page of the exchange, on which each rank leaves a card: how its process is reached. The process that made
 * the root publishes the page, and all processes with ranks map it. Ranks of one process join in the same way, and
 * share one wire. When the last card is there, every process opens its wire to each of the others, and the root is
 * over. If one rank gives up waiting, or a process ends, the creation has failed for all.
 *
 * The ranks of a table meet at such a page, too: the first process that claims the digest of the file as a name makes
 * it, under a number that the others know from the digest. So do the members of a part of a group: the process of the
 * first one makes the page, and tells the others over the wire of the whole group.
 *
 * `turn` guards the roots of this process, and wires that no group has yet. It is a mutex, because the answers of other
 * processes are awaited with it held. The page is atomic. */
#include "join.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/thread.h"
#include "comm_config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "rank_table.h"
#include "span.h"
#include "wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an HcclRootInfo contains. */
struct blob {
    char bl_magic[8];
    uint64_t bl_machine; /* where process numbers mean the same */
    uint64_t bl_root;
};
static const char magic[8] = "ACLHCCL";
_Static_assert(sizeof(struct blob) <= sizeof(HcclRootInfo), "the identification of a root fits");

/* ---- the page ---- */

enum state { OPEN, COMPLETE, EXPIRED, LOST }; /* of a root; the number of a rank is in the upper half */
enum { STATE, AGREED, JOINED, CARDS = 16 };   /* words of the page */
enum { CLAIM, WHO, DEVICE, PAGE, BOARD, MEMORY, CARD_WORDS = 15 }; /* words of a card */
enum { FREE, TAKEN, READY };                  /* what CLAIM is */
_Static_assert(CARDS + SIM_JOIN_MOST * CARD_WORDS <= SIM_SHARE_RECORDS, "the cards fit into a page");

struct root {
    struct root *ro_next;
    uint64_t ro_id;
    const struct sim_comm_group *ro_whole; /* the group of which it is a part, or NULL */
    uint64_t ro_number;                    /* of the part */
    uint64_t ro_table;                     /* the digest of a rank table, or 0 */
    int ro_claim;                          /* of that name, or -1 */
    bool ro_is_own;                        /* this process has published the page */
    struct sim_share ro_page;
    struct sim_wire *ro_wire;              /* NULL: the group has it */
    struct sim_gate *ro_gate;              /* of the wire: counts the changes of the page */
    struct sim_comm_group *ro_group;       /* NULL: no rank of this process has joined */
    uint32_t ro_users;                     /* ranks of this process that have joined and still wait */
    bool ro_is_connected;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct root *roots;

static _Atomic uint64_t *word(const struct root *root, uint32_t index)
{
    return &root->ro_page.sr_page->sp_records[index];
}

static _Atomic uint64_t *card_word(const struct root *root, uint32_t rank, uint32_t index)
{
    return word(root, CARDS + rank * CARD_WORDS + index);
}

static void change_state(const struct root *root, enum state state, uint32_t rank)
{
    uint64_t open = OPEN;
    atomic_compare_exchange_strong(word(root, STATE), &open, (uint64_t)rank << 32 | state);
    sim_exchange_share_changed(&root->ro_page);
    sim_gate_count(root->ro_gate);
}

/* The state, after a look at the processes that have joined. */
static uint64_t look(const struct root *root)
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

static struct root *find_root_of_table(uint64_t digest)
{
    struct root *root = roots;
    while (root != NULL && root->ro_table != digest)
        root = root->ro_next;
    return root;
}

static struct root *find_root(uint64_t id, const struct sim_comm_group *whole, uint64_t number)
{
    struct root *root = roots;
    while (root != NULL &&
           (whole != NULL ? root->ro_whole != whole || root->ro_number != number : root->ro_id != id))
        root = root->ro_next;
    return root;
}

static void close_root(struct root *root)
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

static void remove_root(struct root *root)
{
    struct root **at = &roots;
    while (*at != root)
        at = &(*at)->ro_next;
    *at = root->ro_next;
    close_root(root);
}

/* Publishes a page (id 0) or opens that of another process. NULL, with the code of the exchange. */
static struct root *open_root(uint64_t id, int32_t device, aclError *code)
{
    struct root *root = calloc(1, sizeof *root);
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

/* Numbers of processes are valid in one name space of one running system. */
static uint64_t machine(void)
{
    struct stat space = {0};
    char boot[64] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, boot, sizeof boot) : 0;
    if (file >= 0)
        close(file);
    if (stat("/proc/self/ns/pid", &space) != 0)
        space.st_ino = 0;
    uint64_t hash = space.st_ino;
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
    pthread_mutex_lock(&turn);
    const struct root *root = open_root(0, context->cx_device->dv_id, &code);
    struct blob blob = {.bl_machine = machine(), .bl_root = root != NULL ? root->ro_id : 0};
    pthread_mutex_unlock(&turn);
    SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_MEMORY,
                 "EI0019: this process cannot be reached by others (%d %s)", (int)code, sim_fail_name(code));
    memcpy(blob.bl_magic, magic, sizeof magic);
    memset(info, 0, sizeof *info);
    memcpy(info, &blob, sizeof blob);
    return HCCL_SUCCESS;
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

static HcclResult agree(const struct root *root, uint32_t count, const struct sim_comm_options *options)
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
static HcclResult create_group(struct root *root, uint32_t count, const struct sim_comm_options *options,
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
static HcclResult take_place(struct root *root, uint32_t rank, int32_t device)
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

static HcclResult join_root(struct root *root, uint32_t count, uint32_t rank, int32_t device,
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

HcclResult sim_join_by_root(uint32_t count, const HcclRootInfo *info, uint32_t rank,
                            const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_context *context;
    struct blob blob;
    aclError code;
    SIM_ARGUMENT(count != 0, HCCL_E_PARA, "nRanks is 0, expected at least 1");
    SIM_ARGUMENT(count <= SIM_JOIN_MOST, HCCL_E_NOT_SUPPORT, "nRanks is %u, expected at most %u in the simulator",
                 count, SIM_JOIN_MOST);
    SIM_ARGUMENT(rank < count, HCCL_E_PARA, "rank is %u, expected less than %u, nRanks", rank, count);
    memcpy(&blob, info, sizeof blob);
    SIM_ARGUMENT(memcmp(blob.bl_magic, magic, sizeof magic) == 0, HCCL_E_PARA,
                 "rootInfo was not written by HcclGetRootInfo of this library");
    SIM_ARGUMENT(blob.bl_machine == machine(), HCCL_E_NOT_SUPPORT,
                 "rootInfo was written on another machine or in another container, expected this one: the simulator "
                 "does not connect several hosts");
    if (sim_context_current(&context) != ACL_SUCCESS || sim_engine_may_wait() != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    pthread_mutex_lock(&turn);
    struct root *root = find_root(blob.bl_root, NULL, 0);
    if (root == NULL && !sim_exchange_is_own(blob.bl_root))
        root = open_root(blob.bl_root, context->cx_device->dv_id, &code);
    HcclResult result = join_root(root, count, rank, context->cx_device->dv_id, options, seat);
    if (result != HCCL_SUCCESS && root != NULL && root->ro_users == 0 && !root->ro_is_own)
        remove_root(root);
    pthread_mutex_unlock(&turn);
    return result;
}

/* ---- rank tables ---- */

#define TABLE_TRIES 1000 /* the process that has the name may be about to end its root */

/* With the turn held: the root of a table, which the first process makes. */
static struct root *root_of_table(uint64_t digest, int32_t device)
{
    aclError code = ACL_SUCCESS;
    int claim;
    int32_t holder = 0;
    struct root *root = find_root_of_table(digest);
    for (int tries = 0; root == NULL && code != ACL_ERROR_RT_TIMEOUT && tries < TABLE_TRIES; tries++) {
        root = open_root(0, device, &code);
        if (root == NULL)
            return NULL;
        root->ro_id = sim_exchange_renumber(SIM_EXCHANGE_GROUP, root->ro_id, (uint32_t)digest);
        if (sim_exchange_claim(digest, &claim, &holder) == ACL_SUCCESS && claim >= 0) {
            root->ro_claim = claim;
        } else {
            remove_root(root);
            root = open_root(sim_exchange_id(holder, (uint32_t)digest), device, &code);
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
    pthread_mutex_lock(&turn);
    struct root *root = root_of_table(table.rt_digest, device);
    result = join_root(root, table.rt_count, rank, device, options, seat);
    if (result == HCCL_SUCCESS)
        seat->se_group->gp_table = table.rt_digest;
    else if (root != NULL && root->ro_users == 0)
        remove_root(root);
    pthread_mutex_unlock(&turn);
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

/* With the turn held: the root of a part, or NULL as long as the process of the first member has not made it. */
static struct root *root_of_part(struct sim_comm_seat whole, uint32_t count, const uint32_t *members, uint64_t number,
                                 int32_t device, aclError *code)
{
    struct sim_comm_group *group = whole.se_group;
    struct root *root = find_root(0, group, number);
    const bool makes_it = sim_span_is_here(group, members[0]);
    const uint64_t id = root == NULL && !makes_it ? take_offer(group, number) : 0;
    *code = ACL_SUCCESS;
    if (root != NULL || (!makes_it && id == 0))
        return root;
    root = open_root(id, device, code);
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

/* Waits for that process, and leaves with the turn held. */
static HcclResult await_root(struct sim_comm_seat whole, uint32_t count, const uint32_t *members, uint64_t number,
                             int32_t device, struct root **root)
{
    struct sim_comm_group *group = whole.se_group;
    const uint64_t deadline = sim_clock_now() + sim_comm_connect_timeout();
    aclError code;
    for (;;) {
        const uint64_t level = group->gp_wire != NULL ? sim_gate_level(&group->gp_wire->wr_gate) : 0;
        pthread_mutex_lock(&turn);
        *root = root_of_part(whole, count, members, number, device, &code);
        SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_TCP_CONNECT,
                     "EI0015: the process of rank %u cannot be reached, expected that it still creates the part "
                     "(%d %s)", members[0], (int)code, sim_fail_name(code));
        if (*root != NULL)
            return HCCL_SUCCESS;
        SIM_ARGUMENT(!has_left(group, members[0]), HCCL_E_TCP_CONNECT,
                     "EI0015: rank %u has left the communicator, expected that it creates the part", members[0]);
        pthread_mutex_unlock(&turn);
        const bool waits = !sim_span_has_news(group, members[0]);
        const enum sim_wait wait =
            waits ? sim_engine_help_gate(&group->gp_wire->wr_gate, level + 1, deadline) : SIM_WAIT_PASSED;
        if (wait == SIM_WAIT_EXPIRED) {
            pthread_mutex_lock(&turn);
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
    struct root *root;
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
            result = join_root(root, count, rank, device, options, seat);
        if (result == HCCL_SUCCESS)
            seat->se_group->gp_is_part = true;
        pthread_mutex_unlock(&turn);
    }
    sim_comm_give_back(whole);
    return result;
}

/* ---- the end of joining ---- */

/* With the turn held: all cards are there. */
static void connect(struct root *root)
{
    struct sim_comm_group *group = root->ro_group;
    struct sim_wire *wire = root->ro_wire;
    bool spans = false;
    root->ro_is_connected = true;
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
        return;
    for (uint32_t rank = 0; rank < group->gp_count; rank++) {
        const uint32_t place = group->gp_ranks[rank].rk_place;
        const struct sim_wire_card card = {atomic_load(card_word(root, rank, PAGE)),
                                           atomic_load(card_word(root, rank, BOARD)),
                                           atomic_load(card_word(root, rank, MEMORY))};
        if (place != wire->wr_self && place == rank)
            sim_wire_connect(wire, place, &card);
        group->gp_ranks[rank].rk_left = group->gp_ranks[rank].rk_is_lost =
            place != wire->wr_self && !wire->wr_peers[place].pe_open;
    }
    wire->wr_may_spin = group->gp_count <= sim_thread_cpus();
    group->gp_wire = wire;
    root->ro_wire = NULL;
}

static HcclResult report(const struct root *root, uint64_t state)
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

static uint32_t first_missing(const struct root *root)
{
    uint32_t rank = 0;
    while (rank + 1 < root->ro_group->gp_count && atomic_load(card_word(root, rank, CLAIM)) == READY)
        rank++;
    return rank;
}

/* Waits until the root is over, and returns its state. */
static uint64_t wait_for(const struct root *root)
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

HcclResult sim_join_wait(struct sim_comm_seat seat, HcclComm *comm)
{
    pthread_mutex_lock(&turn);
    struct root *root = roots;
    while (root->ro_group != seat.se_group)
        root = root->ro_next;
    pthread_mutex_unlock(&turn);
    const uint64_t state = wait_for(root);
    pthread_mutex_lock(&turn);
    if (state == COMPLETE && !root->ro_is_connected)
        connect(root);
    HcclResult result = state == COMPLETE ? HCCL_SUCCESS : report(root, state);
    if (--root->ro_users == 0)
        remove_root(root);
    pthread_mutex_unlock(&turn);
    if (result == HCCL_SUCCESS)
        return sim_comm_publish(seat, comm);
    sim_comm_give_back(seat);
    return result;
}

/* ---- the end of everything ---- */

void sim_join_reset(void)
{
    pthread_mutex_lock(&turn);
    while (roots != NULL)
        remove_root(roots);
    pthread_mutex_unlock(&turn);
}

void sim_join_after_fork(void)
{
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    roots = NULL; /* the pages are the parent's */
}
