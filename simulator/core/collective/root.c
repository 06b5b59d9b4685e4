/* A root is a page of the exchange, on which each rank leaves a card: how its process is reached. The process that made
 * the root publishes the page, and all processes with ranks map it. Ranks of one process join in the same way, and
 * share one wire. When the last card is there, every process opens its wire to each of the others, and the root is
 * over. If one rank gives up waiting, or a process ends, the creation has failed for all.
 *
 * A process of another host has a copy of the page's words, and asks the process that made the root to write to the
 * page (lobby.h). If the cards are of several hosts, the processes connect by a net, over which their wires send.
 *
 * `turn` guards the roots of this process, and wires that no group has yet. It is a mutex, because the answers of other
 * processes are awaited with it held, except while a net connects: there each process waits for all others. The words
 * are atomic. */
#include "root.h"

#include "base/clock.h"
#include "base/thread.h"
#include "comm_config.h"
#include "connect.h"
#include "guest.h"
#include "host.h"
#include "net.h"
#include "root_page.h"
#include "wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct sim_root *roots;

/* ---- the page ---- */

static void tell(const struct sim_root *root)
{
    if (root->ro_guest == NULL)
        sim_exchange_share_changed(&root->ro_page);
    sim_gate_count(root->ro_gate);
}

static void change_state(const struct sim_root *root, enum state state, uint32_t rank)
{
    uint64_t open = OPEN;
    const bool changed =
        atomic_compare_exchange_strong(word(root, STATE), &open, (uint64_t)rank << 32 | state);
    if (changed && state == EXPIRED && root->ro_guest != NULL)
        sim_guest_give_up(root->ro_guest, rank);
    tell(root);
}

/* Whether the process of a rank that has joined has ended. */
static bool is_gone(const struct sim_root *root, uint32_t rank)
{
    const struct sim_share *page = &root->ro_page;
    if (root->ro_guest != NULL)
        return atomic_load(&root->ro_is_cut);
    return sim_exchange_share_is_gone(page, 0) ||
           sim_exchange_share_is_gone(page, (uint32_t)atomic_load(card_word(root, rank, WHO)));
}

/* The state, after a look at the processes that have joined. */
static uint64_t look(const struct sim_root *root)
{
    const uint64_t state = atomic_load(word(root, STATE));
    for (uint32_t rank = 0; state == OPEN && rank < root->ro_group->gp_count; rank++)
        if (atomic_load(card_word(root, rank, CLAIM)) != FREE && is_gone(root, rank))
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

struct sim_root *sim_root_find(const struct sim_root_place *place)
{
    struct sim_root *root = roots;
    while (root != NULL &&
           (root->ro_place.pl_id != place->pl_id || root->ro_place.pl_machine != place->pl_machine))
        root = root->ro_next;
    return root;
}

static void close_root(struct sim_root *root)
{
    if (root->ro_lobby != NULL)
        sim_lobby_close(root->ro_lobby);
    if (root->ro_guest != NULL)
        sim_guest_close(root->ro_guest);
    if (root->ro_page.sr_link == NULL)
        free(root->ro_words);
    if (root->ro_claim >= 0)
        close(root->ro_claim);
    if (root->ro_is_own)
        sim_exchange_withdraw(SIM_EXCHANGE_GROUP, root->ro_place.pl_id, "rootInfo");
    if (root->ro_page.sr_link != NULL)
        sim_exchange_share_leave(&root->ro_page);
    if (root->ro_wire != NULL)
        sim_wire_close(root->ro_wire);
    if (root->ro_group != NULL)
        sim_comm_give_back((struct sim_comm_seat){root->ro_group, 0});
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

/* A root that is not in the list; NULL without memory. */
static struct sim_root *create_root(void)
{
    struct sim_root *root = calloc(1, sizeof *root);
    struct sim_wire *wire = root != NULL ? sim_wire_take() : NULL;
    if (wire == NULL) {
        free(root);
        return NULL;
    }
    root->ro_claim = -1;
    root->ro_wire = wire;
    root->ro_gate = &wire->wr_gate;
    return root;
}

static struct sim_root *add_root(struct sim_root *root)
{
    root->ro_next = roots;
    roots = root;
    return root;
}

struct sim_root *sim_root_open(uint64_t id, int32_t device, aclError *code)
{
    struct sim_root *root = create_root();
    int32_t home;
    *code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (root == NULL)
        return NULL;
    root->ro_place = (struct sim_root_place){.pl_machine = sim_host_machine(), .pl_id = id};
    root->ro_is_own = id == 0;
    *code = id == 0 ? sim_exchange_share_publish(SIM_EXCHANGE_GROUP, device, true, root->ro_gate,
                                                 &root->ro_place.pl_id, &root->ro_page)
                    : sim_exchange_share_join(SIM_EXCHANGE_GROUP, id, "rootInfo", root->ro_gate, &home,
                                              &root->ro_page);
    if (*code != ACL_SUCCESS) {
        root->ro_is_own = false;
        close_root(root);
        return NULL;
    }
    root->ro_words = root->ro_page.sr_page->sp_records;
    return add_root(root);
}

HcclResult sim_root_visit(const struct sim_root_place *place, struct sim_root **result)
{
    HcclResult code = sim_net_check();
    if (code != HCCL_SUCCESS)
        return code;
    SIM_ARGUMENT(place->pl_address.ss_family != 0, HCCL_E_NOT_SUPPORT,
                 "rootInfo was written on another host, where libacl_hccl_net.so is missing, expected it on all hosts: "
                 "install Gloo's development package there (apt install libgloo-dev) and build the simulator again");
    struct sim_root *root = create_root();
    if (root != NULL)
        root->ro_words = calloc(WORDS, sizeof *root->ro_words);
    code = HCCL_E_MEMORY;
    if (root != NULL && root->ro_words != NULL) {
        root->ro_place = *place;
        code = sim_guest_open(place, root->ro_words, &root->ro_is_cut, root->ro_gate, &root->ro_guest);
    }
    if (code != HCCL_SUCCESS) {
        if (root != NULL)
            close_root(root);
        return code;
    }
    *result = add_root(root);
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

/* Agrees if the word is 0, and returns the word. */
static uint64_t agree(const struct sim_root *root, uint64_t mine)
{
    uint64_t agreed = 0;
    return atomic_compare_exchange_strong(word(root, AGREED), &agreed, mine) ? mine : agreed;
}

static HcclResult check_agreement(uint64_t mine, uint64_t agreed, const struct sim_comm_options *options)
{
    SIM_ARGUMENT((uint32_t)agreed == (uint32_t)mine, HCCL_E_PARA,
                 "EI0015: nRanks is %u, and another rank has called with %u, expected the same on all ranks",
                 (uint32_t)mine, (uint32_t)agreed);
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
    root->ro_group = sim_comm_create_group(count, options, root->ro_place.pl_id);
    SIM_ARGUMENT(root->ro_group != NULL, HCCL_E_MEMORY, "there is no memory for a communicator of %u ranks", count);
    atomic_fetch_add_explicit(&root->ro_group->gp_uses, 1, memory_order_relaxed); /* the root's own */
    return HCCL_SUCCESS;
}

/* Leaves the card of a rank, of this host or another one, on the page. */
static bool leave_card(struct sim_root *root, const struct sim_request *request, const struct sim_wire_card *card)
{
    const uint32_t rank = request->rq_rank;
    uint64_t claim = FREE;
    if (!atomic_compare_exchange_strong(card_word(root, rank, CLAIM), &claim, TAKEN))
        return false;
    atomic_store(card_word(root, rank, WHO), sim_exchange_share_self(&root->ro_page));
    atomic_store(card_word(root, rank, DEVICE), request->rq_device);
    atomic_store(card_word(root, rank, PAGE), request->rq_page);
    atomic_store(card_word(root, rank, BOARD), card->wc_board);
    atomic_store(card_word(root, rank, MEMORY), card->wc_memory);
    atomic_store(card_word(root, rank, MACHINE), request->rq_machine);
    atomic_store(card_word(root, rank, CLAIM), READY);
    if (atomic_fetch_add(word(root, JOINED), 1) + 1 == request->rq_count)
        change_state(root, COMPLETE, 0);
    tell(root);
    return true;
}

static HcclResult check_device(const struct sim_comm_group *group, uint32_t rank, int32_t device)
{
    for (uint32_t other = 0; other < group->gp_count; other++)
        SIM_ARGUMENT(other == rank || !group->gp_ranks[other].rk_joined || group->gp_ranks[other].rk_device != device,
                     HCCL_E_PARA,
                     "EI0015: the current device is %d, with which rank %u has joined, expected another device for "
                     "each rank", device, other);
    return HCCL_SUCCESS;
}

static HcclResult refuse_over(void)
{
    return (HcclResult)sim_refuse(HCCL_E_UNAVAIL,
                                  "rootInfo belongs to a communicator whose ranks have all joined or have given up, or "
                                  "to a process that has ended, expected a new one from HcclGetRootInfo");
}

/* Asks the process that made the root. */
static HcclResult ask(const struct sim_root *root, const struct sim_request *request,
                      const struct sim_comm_options *options)
{
    const struct sim_answer answer = sim_guest_ask(root->ro_guest, request);
    if (answer.an_verdict == SIM_OTHER_AGREEMENT)
        return check_agreement(request->rq_agreement, answer.an_agreed, options);
    SIM_ARGUMENT(answer.an_verdict != SIM_RANK_TAKEN, HCCL_E_PARA,
                 "EI0015: rank is %u, which has joined already, expected another number for each rank",
                 request->rq_rank);
    return answer.an_verdict == SIM_ADMITTED ? HCCL_SUCCESS : refuse_over();
}

HcclResult sim_root_join(struct sim_root *root, uint32_t count, uint32_t rank, int32_t device,
                         const struct sim_comm_options *options, struct sim_comm_seat *seat)
{
    struct sim_request request = {rank, count, agreement(count, options), (uint64_t)device, 0, sim_host_machine()};
    if (root == NULL || atomic_load(word(root, STATE)) != OPEN)
        return refuse_over();
    HcclResult result = root->ro_guest != NULL
                            ? HCCL_SUCCESS /* what the ranks have agreed on is known to the other host */
                            : check_agreement(request.rq_agreement, agree(root, request.rq_agreement), options);
    if (result == HCCL_SUCCESS)
        result = create_group(root, count, options, device);
    if (result == HCCL_SUCCESS)
        result = check_device(root->ro_group, rank, device);
    if (result != HCCL_SUCCESS)
        return result;
    request.rq_page = root->ro_wire->wr_card.wc_page;
    if (root->ro_guest != NULL)
        result = ask(root, &request, options);
    else
        SIM_ARGUMENT(leave_card(root, &request, &root->ro_wire->wr_card), HCCL_E_PARA,
                     "EI0015: rank is %u, which has joined already, expected another number for each rank", rank);
    if (result != HCCL_SUCCESS)
        return result;
    *seat = sim_comm_seat_rank(root->ro_group, rank, device);
    root->ro_users++;
    return HCCL_SUCCESS;
}

/* ---- the end of joining ---- */

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
        if (root->ro_guest == NULL)
            sim_exchange_share_want(&root->ro_page);
        const uint64_t state = look(root);
        if (state != OPEN)
            return state;
        if (sim_engine_help_gate(root->ro_gate, level + 1, deadline) == SIM_WAIT_EXPIRED)
            change_state(root, EXPIRED, first_missing(root));
    }
}

/* With the turn held: one rank of this process connects it, and the others wait for that. */
static void connect_once(struct sim_root *root)
{
    if (root->ro_phase == SIM_ROOT_JOINS) {
        root->ro_phase = SIM_ROOT_CONNECTS;
        root->ro_result = sim_connect_all(root);
        root->ro_phase = SIM_ROOT_CONNECTED;
        sim_gate_count(root->ro_gate);
    }
    while (root->ro_phase != SIM_ROOT_CONNECTED) {
        const uint64_t level = sim_gate_level(root->ro_gate);
        pthread_mutex_unlock(&turn);
        sim_engine_help_gate(root->ro_gate, level + 1, SIM_FOREVER);
        pthread_mutex_lock(&turn);
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
    if (state == COMPLETE)
        connect_once(root);
    HcclResult result = state == COMPLETE ? root->ro_result : report(root, state);
    if (--root->ro_users == 0)
        sim_root_remove(root);
    pthread_mutex_unlock(&turn);
    return result;
}

/* ---- what the lobby does, in its threads ---- */

static struct sim_answer admit(void *argument, const struct sim_request *request)
{
    struct sim_root *root = argument;
    static const struct sim_wire_card unreachable = {0};
    struct sim_answer answer = {.an_verdict = SIM_OVER};
    if (atomic_load(word(root, STATE)) != OPEN)
        return answer;
    answer.an_agreed = agree(root, request->rq_agreement);
    answer.an_verdict = answer.an_agreed != request->rq_agreement ? SIM_OTHER_AGREEMENT
                        : leave_card(root, request, &unreachable) ? SIM_ADMITTED : SIM_RANK_TAKEN;
    return answer;
}

static void leave(void *argument, uint32_t rank, bool expired)
{
    change_state(argument, expired ? EXPIRED : LOST, rank);
}

static size_t copy_words(void *argument, uint64_t *words)
{
    const struct sim_root *root = argument;
    sim_exchange_share_want(&root->ro_page);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = atomic_load(word(root, i));
    return WORDS;
}

static void await(void *argument, uint64_t *level)
{
    const struct sim_root *root = argument;
    sim_engine_wait_gate(root->ro_gate, *level + 1, SIM_FOREVER);
    *level = sim_gate_level(root->ro_gate);
}

static void wake(void *argument)
{
    const struct sim_root *root = argument;
    sim_gate_count(root->ro_gate);
}

HcclResult sim_root_let_in_hosts(struct sim_root *root)
{
    static const struct sim_lobby_calls calls = {admit, leave, copy_words, await, wake};
    if (!sim_net_is_there() || sim_host_is_alone())
        return HCCL_SUCCESS;
    return sim_lobby_open(&calls, root, &root->ro_place, &root->ro_lobby);
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
