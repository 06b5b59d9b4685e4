/* Pages that several processes map, for events and notifies.
 *
 * A publisher owns one file that holds all its pages, and one bell: an eventfd that is never read, and that all
 * processes which joined a page watch edge-triggered, so that one write wakes them all. The bell is rung only if a
 * process has announced that it will sleep; each awakened process looks at its own pages again. A superfluous wake-up
 * does no harm, so nothing needs undoing when a process dies between the announcement and its sleep.
 *
 * Each process keeps one connection (a link) to each publisher whose pages it joined. When it closes, the publisher
 * learns that the process is gone (it marks its number and rings the bell), and the process learns that the publisher
 * is gone. A page is reused when the publisher has left it and no connection holds it.
 *
 * xc_lock and xc_turn guard links and pages (exchange.c); the contents of pages are atomic. */
#include "base/output.h"
#include "exchange_inner.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

static uint32_t index_of(const struct sim_link *link)
{
    return (uint32_t)(link - sim_exchange.xc_links);
}

static uint32_t slot_of(const struct sim_share *share)
{
    return (uint32_t)(share->sr_page - share->sr_link->lk_segment->sg_pages);
}

/* ---- gates ---- */

static void (*count_gate)(struct sim_gate *gate); /* set before any call */

void sim_exchange_share_set_count(void (*count)(struct sim_gate *gate))
{
    count_gate = count;
}

/* Adds a gate to a link; returns false if memory runs out. The lock is held. */
static bool add_gate(struct sim_link *link, struct sim_gate *gate)
{
    uint32_t hole = 0;
    while (hole < link->lk_gate_count && link->lk_gates[hole] != NULL)
        hole++;
    if (hole == link->lk_gate_count) {
        struct sim_gate **more = realloc(link->lk_gates, (hole + 1) * sizeof(struct sim_gate *));
        if (more == NULL)
            return false;
        link->lk_gates = more;
        link->lk_gate_count++;
    }
    link->lk_gates[hole] = gate;
    return true;
}

static void remove_gate(struct sim_link *link, const struct sim_gate *gate)
{
    uint32_t at = 0;
    while (at < link->lk_gate_count && link->lk_gates[at] != gate)
        at++;
    if (at < link->lk_gate_count)
        link->lk_gates[at] = NULL;
}

void sim_exchange_ring(uint32_t index)
{
    struct sim_link *link = &sim_exchange.xc_links[index];
    for (uint32_t at = 0;; at++) {
        sim_lock(&sim_exchange.xc_lock);
        bool more = at < link->lk_gate_count;
        struct sim_gate *gate = more ? link->lk_gates[at] : NULL;
        sim_unlock(&sim_exchange.xc_lock);
        if (gate != NULL)
            count_gate(gate);
        if (!more)
            return;
    }
}

/* Adds a user of a link's pages; the lock is held. */
static bool use(struct sim_link *link, struct sim_gate *gate)
{
    bool added = add_gate(link, gate);
    link->lk_users += added;
    return added;
}

/* ---- changes; those of the page and of sp_wanted have one order for all (memory_order_seq_cst) ---- */

void sim_exchange_share_want(const struct sim_share *share)
{
    atomic_store(&share->sr_page->sp_wanted, 1);
}

static void ring(const struct sim_link *link)
{
    const uint64_t one = 1;
    ssize_t written = write(link->lk_bell, &one, sizeof one);
    (void)written; /* only 2^64 writes would fill it */
}

void sim_exchange_share_changed(const struct sim_share *share)
{
    if (atomic_load(&share->sr_page->sp_wanted) != 0 && atomic_exchange(&share->sr_page->sp_wanted, 0) != 0)
        ring(share->sr_link);
}

uint32_t sim_exchange_share_self(const struct sim_share *share)
{
    return share->sr_link->lk_who;
}

bool sim_exchange_share_is_published(const struct sim_share *share)
{
    return index_of(share->sr_link) == 0;
}

/* Once the publisher is gone, nothing tells whether other processes are, so all count as gone. */
bool sim_exchange_share_is_gone(const struct sim_share *share, uint32_t who)
{
    const struct sim_link *link = share->sr_link;
    uint64_t bits = atomic_load(&link->lk_segment->sg_gone[who % PARTIES / 64]);
    return who != link->lk_who && (atomic_load(&link->lk_gone) || (bits >> who % 64 & 1) != 0);
}

/* ---- the publisher ---- */

static struct segment *map_segment(int file)
{
    void *at = mmap(NULL, sizeof(struct segment), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, sizeof(struct segment), MADV_DONTFORK);
    return at;
}

/* Creates this process's pages for its first publication; returns an error number. xc_turn is held. */
static int open_own(void)
{
    struct exchange *exchange = &sim_exchange;
    struct sim_link *own = &exchange->xc_links[0];
    if (own->lk_segment != NULL)
        return 0;
    int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int file = memfd_create("ascend-shared-pages", MFD_CLOEXEC);
    struct segment *segment = NULL;
    if (bell >= 0 && file >= 0 && sim_output_resize(file, sizeof(struct segment)) == 0)
        segment = map_segment(file);
    if (segment == NULL || sim_exchange_watch(bell, EPOLLIN | EPOLLET, SOURCE_BELL, 0) != 0) {
        int error = errno;
        if (segment != NULL)
            munmap(segment, sizeof *segment);
        sim_exchange_close(&bell);
        sim_exchange_close(&file);
        return error;
    }
    own->lk_pid = getpid();
    own->lk_bell = bell;
    sim_lock(&exchange->xc_lock);
    own->lk_segment = segment;
    exchange->xc_segment_file = file;
    sim_unlock(&exchange->xc_lock);
    return 0;
}

/* Frees a page for reuse if no process holds it; the lock is held. */
static void give_slot(uint32_t slot)
{
    struct exchange *exchange = &sim_exchange;
    bool held = exchange->xc_held[slot];
    for (uint32_t i = 0; i < exchange->xc_client_count && !held; i++)
        held = exchange->xc_clients[i].cl_joins[slot] != 0;
    exchange->xc_taken[slot] = held;
}

/* Takes a page of zeros; returns SLOTS if all are taken or memory runs out. */
static uint32_t take_slot(struct sim_gate *gate)
{
    struct exchange *exchange = &sim_exchange;
    struct sim_link *own = &exchange->xc_links[0];
    uint32_t slot = 0;
    sim_lock(&exchange->xc_lock);
    while (slot < SLOTS && exchange->xc_taken[slot])
        slot++;
    if (slot < SLOTS && !use(own, gate))
        slot = SLOTS;
    if (slot < SLOTS) {
        exchange->xc_taken[slot] = exchange->xc_held[slot] = true;
        memset(&own->lk_segment->sg_pages[slot], 0, sizeof own->lk_segment->sg_pages[slot]);
    }
    sim_unlock(&exchange->xc_lock);
    return slot;
}

static aclError publish(struct sim_offer *offer, bool to_all, struct sim_gate *gate, uint64_t *id,
                        struct sim_share *share)
{
    struct sim_link *own = &sim_exchange.xc_links[0];
    SIM_TRY(sim_exchange_start());
    int error = open_own();
    SIM_CHECK(error == 0, ACL_ERROR_RT_IPC_ERROR, "no memory could be shared: %s", strerror(error));
    uint32_t slot = take_slot(gate);
    SIM_CHECK(slot < SLOTS, ACL_ERROR_RT_IPC_ERROR,
              "%u events, notifies and communicators of this process are shared, expected fewer", SLOTS);
    *share = (struct sim_share){own, &own->lk_segment->sg_pages[slot], gate};
    aclError code = sim_exchange_add(offer, to_all, slot, id);
    if (code != ACL_SUCCESS)
        sim_exchange_share_leave(share);
    return code;
}

aclError sim_exchange_share_publish(enum sim_exchange_kind kind, int32_t device, bool to_all, struct sim_gate *gate,
                                    uint64_t *id, struct sim_share *share)
{
    struct sim_offer offer = {.of_kind = kind, .of_device = device, .of_file = -1};
    pthread_mutex_lock(&sim_exchange.xc_turn);
    aclError code = publish(&offer, to_all, gate, id, share);
    pthread_mutex_unlock(&sim_exchange.xc_turn);
    return code;
}

/* The first page that a client joins gives it a number, which is never reused; the lock is held. */
void sim_exchange_serve_join(struct client *client, const struct entry *entry, struct reply *reply, int files[FILES])
{
    struct exchange *exchange = &sim_exchange;
    if (client->cl_who == 0 && exchange->xc_next_who + 1 < PARTIES)
        client->cl_who = ++exchange->xc_next_who;
    if (client->cl_who == 0 || client->cl_joins[entry->en_slot] == UINT16_MAX) {
        reply->rp_code = ACL_ERROR_RT_IPC_ERROR;
        return;
    }
    client->cl_joins[entry->en_slot]++;
    reply->rp_who = client->cl_who;
    reply->rp_slot = entry->en_slot;
    files[0] = exchange->xc_segment_file;
    files[1] = exchange->xc_links[0].lk_bell;
}

void sim_exchange_serve_leave(struct client *client, uint32_t slot)
{
    if (slot < SLOTS && client->cl_joins[slot] != 0 && --client->cl_joins[slot] == 0)
        give_slot(slot);
}

void sim_exchange_part(struct client *client)
{
    struct sim_link *own = &sim_exchange.xc_links[0];
    if (client->cl_who == 0)
        return;
    atomic_fetch_or(&own->lk_segment->sg_gone[client->cl_who / 64], UINT64_C(1) << client->cl_who % 64);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        while (client->cl_joins[slot] != 0)
            sim_exchange_serve_leave(client, slot);
    ring(own);
}

/* ---- joining; xc_turn is held ---- */

static void close_link(struct sim_link *link)
{
    sim_lock(&sim_exchange.xc_lock);
    struct sim_link former = *link;
    *link = (struct sim_link){.lk_socket = -1, .lk_bell = -1};
    sim_unlock(&sim_exchange.xc_lock);
    if (former.lk_segment != NULL)
        munmap(former.lk_segment, sizeof *former.lk_segment);
    sim_exchange_unwatch(&former.lk_socket);
    sim_exchange_unwatch(&former.lk_bell);
    free(former.lk_gates);
}

/* The link to a live process, or an unused one; NULL if all are in use. */
static struct sim_link *find_link(int32_t pid)
{
    struct sim_link *unused = NULL;
    for (uint32_t i = 1; i < LINKS; i++) {
        struct sim_link *link = &sim_exchange.xc_links[i];
        if (link->lk_segment != NULL && link->lk_pid == pid && !atomic_load(&link->lk_gone))
            return link;
        if (unused == NULL && link->lk_users == 0 && (link->lk_segment == NULL || atomic_load(&link->lk_gone)))
            unused = link;
    }
    return unused;
}

/* Makes a link from the first reply. */
static int open_link(struct sim_link *link, int connection, const struct reply *reply, int files[FILES])
{
    struct segment *segment = map_segment(files[0]);
    if (segment == NULL)
        return errno;
    sim_lock(&sim_exchange.xc_lock);
    *link = (struct sim_link){.lk_who = reply->rp_who, .lk_socket = connection, .lk_bell = files[1],
                              .lk_segment = segment, .lk_users = 0};
    sim_unlock(&sim_exchange.xc_lock);
    files[1] = -1;
    uint32_t index = index_of(link);
    if (sim_exchange_watch(link->lk_bell, EPOLLIN | EPOLLET, SOURCE_BELL, index) != 0 ||
        sim_exchange_watch(connection, EPOLLRDHUP, SOURCE_LINK, index) != 0)
        return errno;
    return 0;
}

static aclError join(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_gate *gate, int32_t *device,
                     struct sim_share *share)
{
    const struct request request = {PROTOCOL, VERB_JOIN, (uint32_t)kind, (uint32_t)id};
    int32_t pid = (int32_t)(id >> 32);
    struct reply reply = {0};
    int files[FILES] = {-1, -1}, error = 0;
    SIM_TRY(sim_exchange_start());
    struct sim_link *link = find_link(pid);
    SIM_CHECK(link != NULL, ACL_ERROR_RT_IPC_ERROR,
              "events, notifies and communicators of %u processes are in use, expected fewer", LINKS - 1);
    bool is_new = link->lk_segment == NULL || atomic_load(&link->lk_gone), answered = false;
    if (!is_new && !(answered = sim_exchange_ask(link->lk_socket, &request, &reply, files, &error))) {
        atomic_store(&link->lk_gone, true); /* the thread may not know yet; the number may belong to a new process */
        link = find_link(-1);
        SIM_CHECK(link != NULL, ACL_ERROR_RT_IPC_ERROR, "too many processes are in use");
        is_new = true;
    }
    int connection = -1;
    if (is_new) {
        SIM_TRY(sim_exchange_connect(kind, id, name, &connection));
        close_link(link);
        answered = sim_exchange_ask(connection, &request, &reply, files, &error);
    }
    aclError code = sim_exchange_code(answered, error, &reply);
    bool complete = files[0] >= 0 && files[1] >= 0 && reply.rp_slot < SLOTS && reply.rp_who != 0;
    if (code == ACL_SUCCESS && !complete)
        code = ACL_ERROR_RT_PARAM_INVALID;
    if (code == ACL_SUCCESS && is_new) {
        error = open_link(link, connection, &reply, files);
        link->lk_pid = pid;
        code = error != 0 ? ACL_ERROR_RT_IPC_ERROR : ACL_SUCCESS;
        if (error != 0 && link->lk_segment != NULL)
            close_link(link);
        else if (error == 0)
            connection = -1;
    }
    for (int i = 0; i < FILES; i++)
        sim_exchange_close(&files[i]);
    sim_exchange_close(&connection);
    if (code != ACL_SUCCESS)
        return sim_exchange_refuse(kind, code, id, name);
    sim_lock(&sim_exchange.xc_lock);
    bool used = use(link, gate);
    sim_unlock(&sim_exchange.xc_lock);
    SIM_CHECK(used, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for the object that another process shares");
    *share = (struct sim_share){link, &link->lk_segment->sg_pages[reply.rp_slot], gate};
    *device = reply.rp_device;
    return ACL_SUCCESS;
}

aclError sim_exchange_share_join(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_gate *gate,
                                 int32_t *device, struct sim_share *share)
{
    pthread_mutex_lock(&sim_exchange.xc_turn);
    aclError code = join(kind, id, name, gate, device, share);
    pthread_mutex_unlock(&sim_exchange.xc_turn);
    return code;
}

void sim_exchange_share_leave(struct sim_share *share)
{
    struct sim_link *link = share->sr_link;
    uint32_t slot = slot_of(share);
    const struct request request = {PROTOCOL, VERB_LEAVE, 0, slot};
    sim_lock(&sim_exchange.xc_lock);
    remove_gate(link, share->sr_gate);
    link->lk_users--;
    if (index_of(link) == 0) {
        sim_exchange.xc_held[slot] = false;
        give_slot(slot);
    } else if (!atomic_load(&link->lk_gone)) {
        ssize_t sent = send(link->lk_socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent; /* if it is lost, the publisher learns it when the connection closes */
    }
    sim_unlock(&sim_exchange.xc_lock);
    *share = (struct sim_share){0};
}

/* ---- ending ---- */

void sim_exchange_share_close_all(void)
{
    struct exchange *exchange = &sim_exchange;
    sim_exchange_close(&exchange->xc_segment_file);
    for (uint32_t i = 0; i < LINKS; i++)
        close_link(&exchange->xc_links[i]);
    memset(exchange->xc_taken, 0, sizeof exchange->xc_taken);
    memset(exchange->xc_held, 0, sizeof exchange->xc_held);
}
