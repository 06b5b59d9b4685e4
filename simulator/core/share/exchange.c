/* Design notes
 *
 * The exchange: a process publishes memory, events and notifies under numbers, and other processes import them.
 *
 * A publishing process listens on a socket in the abstract name space; the socket's name contains the process's number,
 * and it vanishes with the process, however that ends. A thread of the publisher (exchange_serve.c) sleeps until a
 * process connects or exits; it exists from the first publication or joined page on. The alternatives were worse:
 * opening the publisher's files through /proc or pidfd_getfd skips its checks and is forbidden in containers, and
 * named files would be left behind. Files travel with the reply. Both sides must belong to the same user. The
 * kernel, not the message, says which process connects, so lists of allowed processes are reliable.
 *
 * This file owns the entries (publications); exchange_serve.c owns the clients, exchange_share.c the links and pages.
 *
 * xc_lock guards entries, clients and links. It is a leaf and is held briefly; no file operation under it blocks.
 * xc_turn is held while the thread is started or stopped, and while a page is joined, which asks another process and
 * can take until the time limit (ANSWER_SECONDS). The thread takes only xc_lock, so that two processes that ask each
 * other both get replies. Order: xc_turn, then xc_lock. */
#include "base/thread.h"
#include "exchange_inner.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ANSWER_SECONDS 10 /* time limit for a reply: a stopped publisher sends none */

#define CLOSED .xc_poll = -1, .xc_listener = -1, .xc_end = -1, .xc_spare = -1, .xc_segment_file = -1

struct exchange sim_exchange = {.xc_turn = PTHREAD_MUTEX_INITIALIZER, CLOSED};

static const char *const kinds[SIM_EXCHANGE_KINDS] = {"memory", "physical", "event", "notify", "group"};

static int32_t pid_of(uint64_t id)
{
    return (int32_t)(id >> 32);
}

bool sim_exchange_is_own(uint64_t id)
{
    return pid_of(id) == getpid();
}

/* ---- keys ---- */

void sim_exchange_write_key(enum sim_exchange_kind kind, uint64_t id, char *key)
{
    snprintf(key, SIM_EXCHANGE_KEY, "aclsim_%s_%016llx", kinds[kind], (unsigned long long)id);
}

bool sim_exchange_read_key(enum sim_exchange_kind kind, const char *key, uint64_t *id)
{
    char again[SIM_EXCHANGE_KEY];
    unsigned long long value = 0;
    const char *digits = memchr(key, '\0', SIM_EXCHANGE_KEY) != NULL ? strrchr(key, '_') : NULL;
    if (digits == NULL)
        return false;
    value = strtoull(digits + 1, NULL, 16);
    sim_exchange_write_key(kind, value, again);
    *id = value;
    return strcmp(key, again) == 0;
}

/* ---- the socket ---- */

void sim_exchange_close(int *file)
{
    int former = *file;
    *file = -1;
    if (former >= 0)
        close(former);
}

/* Process numbers are only valid within one PID name space, so the socket's name contains it. */
static socklen_t write_address(const char *rest, struct sockaddr_un *address)
{
    struct stat space = {0};
    if (stat("/proc/self/ns/pid", &space) != 0)
        space.st_ino = 0;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "aclsim/%llu/%s",
                          (unsigned long long)space.st_ino, rest);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static socklen_t address_of(int32_t pid, struct sockaddr_un *address)
{
    char rest[16];
    snprintf(rest, sizeof rest, "%d", (int)pid);
    return write_address(rest, address);
}

int sim_exchange_watch(int file, uint32_t events, enum source source, uint32_t index)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)source << 32 | index};
    return epoll_ctl(sim_exchange.xc_poll, EPOLL_CTL_ADD, file, &event);
}

void sim_exchange_unwatch(int *file)
{
    if (*file >= 0)
        epoll_ctl(sim_exchange.xc_poll, EPOLL_CTL_DEL, *file, NULL);
    sim_exchange_close(file);
}

static int open_files(struct exchange *exchange)
{
    struct sockaddr_un address;
    socklen_t length = address_of(getpid(), &address);
    exchange->xc_poll = epoll_create1(EPOLL_CLOEXEC);
    exchange->xc_end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    exchange->xc_spare = fcntl(exchange->xc_end, F_DUPFD_CLOEXEC, 0);
    exchange->xc_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (exchange->xc_poll < 0 || exchange->xc_end < 0 || exchange->xc_spare < 0 || exchange->xc_listener < 0 ||
        bind(exchange->xc_listener, (struct sockaddr *)&address, length) != 0 ||
        listen(exchange->xc_listener, SOMAXCONN) != 0 ||
        sim_exchange_watch(exchange->xc_end, EPOLLIN, SOURCE_END, 0) != 0 ||
        sim_exchange_watch(exchange->xc_listener, EPOLLIN, SOURCE_LISTENER, 0) != 0)
        return errno;
    return 0;
}

static void close_files(struct exchange *exchange)
{
    sim_exchange_close(&exchange->xc_poll);
    sim_exchange_close(&exchange->xc_end);
    sim_exchange_close(&exchange->xc_spare);
    sim_exchange_close(&exchange->xc_listener);
}

aclError sim_exchange_start(void)
{
    struct exchange *exchange = &sim_exchange;
    if (exchange->xc_runs)
        return ACL_SUCCESS;
    for (uint32_t i = 0; i < LINKS; i++)
        exchange->xc_links[i].lk_socket = exchange->xc_links[i].lk_bell = -1;
    if (getrandom(&exchange->xc_next_number, sizeof exchange->xc_next_number, 0) < 0)
        exchange->xc_next_number = (uint32_t)getpid();
    exchange->xc_next_who = 0;
    int error = open_files(exchange);
    if (error == 0)
        error = sim_thread_start(&exchange->xc_thread, sim_exchange_serve, NULL);
    if (error != 0)
        close_files(exchange);
    SIM_CHECK(error == 0, ACL_ERROR_RT_IPC_ERROR, "the process cannot be reached by others: %s", strerror(error));
    exchange->xc_runs = true;
    return ACL_SUCCESS;
}

/* ---- publishing ---- */

struct entry *sim_exchange_find(enum sim_exchange_kind kind, uint32_t number)
{
    struct entry *entry = sim_exchange.xc_entries;
    while (entry != NULL && (entry->en_number != number || entry->en_offer.of_kind != kind))
        entry = entry->en_next;
    return entry;
}

aclError sim_exchange_add(const struct sim_offer *offer, bool to_all, uint32_t slot, uint64_t *id)
{
    struct exchange *exchange = &sim_exchange;
    struct entry *entry = malloc(sizeof *entry);
    SIM_CHECK(entry != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for the object that it shares");
    *entry = (struct entry){.en_offer = *offer, .en_to_all = to_all, .en_slot = slot};
    sim_lock(&exchange->xc_lock);
    entry->en_number = exchange->xc_next_number++;
    entry->en_next = exchange->xc_entries;
    exchange->xc_entries = entry;
    *id = sim_exchange_id(getpid(), entry->en_number);
    sim_unlock(&exchange->xc_lock);
    return ACL_SUCCESS;
}

aclError sim_exchange_publish(const struct sim_offer *offer, bool to_all, uint64_t *id)
{
    pthread_mutex_lock(&sim_exchange.xc_turn);
    aclError code = sim_exchange_start();
    if (code == ACL_SUCCESS)
        code = sim_exchange_add(offer, to_all, SLOTS, id);
    pthread_mutex_unlock(&sim_exchange.xc_turn);
    return code;
}

uint64_t sim_exchange_id(int32_t pid, uint32_t number)
{
    return (uint64_t)(uint32_t)pid << 32 | number;
}

uint64_t sim_exchange_renumber(enum sim_exchange_kind kind, uint64_t id, uint32_t number)
{
    sim_lock(&sim_exchange.xc_lock);
    sim_exchange_find(kind, (uint32_t)id)->en_number = number;
    sim_unlock(&sim_exchange.xc_lock);
    return sim_exchange_id(getpid(), number);
}

static aclError refuse_unpublished(uint64_t id, const char *name)
{
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "%s (%#llx) was not made by this process (%d), or is closed, expected "
                    "one that it made and has not closed", name, (unsigned long long)id, (int)getpid());
}

aclError sim_exchange_allow(enum sim_exchange_kind kind, uint64_t id, const char *name, const int32_t *pids,
                            size_t count)
{
    bool full = false;
    sim_lock(&sim_exchange.xc_lock);
    struct entry *entry = sim_exchange_is_own(id) ? sim_exchange_find(kind, (uint32_t)id) : NULL;
    for (size_t i = 0; entry != NULL && i < count && !full; i++) {
        bool is_listed = false;
        for (size_t other = 0; other < entry->en_pid_count && !is_listed; other++)
            is_listed = entry->en_pids[other] == pids[i];
        if (is_listed)
            continue;
        int32_t *more = realloc(entry->en_pids, (entry->en_pid_count + 1) * sizeof *more);
        full = more == NULL;
        if (!full) {
            entry->en_pids = more;
            entry->en_pids[entry->en_pid_count++] = pids[i];
        }
    }
    sim_unlock(&sim_exchange.xc_lock);
    SIM_CHECK(!full, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for %zu processes", count);
    return entry != NULL ? ACL_SUCCESS : refuse_unpublished(id, name);
}

static void free_entry(struct entry *entry)
{
    free(entry->en_pids);
    free(entry);
}

aclError sim_exchange_withdraw(enum sim_exchange_kind kind, uint64_t id, const char *name)
{
    sim_lock(&sim_exchange.xc_lock);
    struct entry *entry = sim_exchange_is_own(id) ? sim_exchange_find(kind, (uint32_t)id) : NULL;
    if (entry != NULL) {
        struct entry **link = &sim_exchange.xc_entries;
        while (*link != entry)
            link = &(*link)->en_next;
        *link = entry->en_next;
    }
    sim_unlock(&sim_exchange.xc_lock);
    if (entry == NULL)
        return refuse_unpublished(id, name);
    free_entry(entry);
    return ACL_SUCCESS;
}

/* Takes the first entry of a kind, or of any kind (SIM_EXCHANGE_KINDS), out of the list. */
static struct entry *take_entry(enum sim_exchange_kind kind)
{
    sim_lock(&sim_exchange.xc_lock);
    struct entry **link = &sim_exchange.xc_entries;
    while (*link != NULL && kind != SIM_EXCHANGE_KINDS && (*link)->en_offer.of_kind != kind)
        link = &(*link)->en_next;
    struct entry *entry = *link;
    if (entry != NULL)
        *link = entry->en_next;
    sim_unlock(&sim_exchange.xc_lock);
    return entry;
}

void sim_exchange_withdraw_all(enum sim_exchange_kind kind)
{
    for (struct entry *entry; (entry = take_entry(kind)) != NULL;)
        free_entry(entry);
}

aclError sim_exchange_check_pids(const int32_t *pid, size_t num)
{
    SIM_CHECK(num != 0 && num <= SIM_EXCHANGE_PIDS, ACL_ERROR_RT_PARAM_INVALID, "num is %zu, expected 1 to %d", num,
              SIM_EXCHANGE_PIDS);
    for (size_t i = 0; i < num; i++)
        SIM_CHECK(pid[i] > 0, ACL_ERROR_RT_PARAM_INVALID,
                  "pid[%zu] is %d, expected a process id, as aclrtDeviceGetBareTgid returns it in that process", i,
                  pid[i]);
    return ACL_SUCCESS;
}

aclError sim_exchange_check_servers(const aclrtServerPid *serverPids, size_t num)
{
    SIM_CHECK(serverPids != NULL, ACL_ERROR_RT_PARAM_INVALID, "serverPids is NULL, expected an array of num");
    SIM_CHECK(num != 0 && num <= SIM_EXCHANGE_PIDS, ACL_ERROR_RT_PARAM_INVALID, "num is %zu, expected 1 to %d", num,
              SIM_EXCHANGE_PIDS);
    for (size_t i = 0; i < num; i++) {
        SIM_CHECK(serverPids[i].pid != NULL, ACL_ERROR_RT_PARAM_INVALID,
                  "serverPids[%zu].pid is NULL, expected an array of num", i);
        SIM_TRY(sim_exchange_check_pids(serverPids[i].pid, serverPids[i].num));
    }
    return ACL_SUCCESS;
}

/* ---- importing ---- */

/* The numbers of events are handles, which have their own error code. */
static aclError code_of_missing(enum sim_exchange_kind kind)
{
    return kind == SIM_EXCHANGE_EVENT ? ACL_ERROR_RT_INVALID_HANDLE : ACL_ERROR_RT_PARAM_INVALID;
}

aclError sim_exchange_refuse(enum sim_exchange_kind kind, aclError code, uint64_t id, const char *name)
{
    const char *why = code == ACL_ERROR_RT_NO_PERMISSION ? "has not allowed this process to open it"
                      : code == ACL_ERROR_RT_TIMEOUT     ? "does not answer"
                      : code == ACL_ERROR_RT_IPC_ERROR   ? "runs another version of this library, or shares too much"
                                                         : "has closed it or never made it";
    return sim_fail(code == ACL_ERROR_RT_PARAM_INVALID ? code_of_missing(kind) : code,
                    "%s (%#llx) is of process %d, which %s (this is process %d)", name, (unsigned long long)id,
                    pid_of(id), why, (int)getpid());
}

static bool is_same_user(int connection)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

aclError sim_exchange_connect(enum sim_exchange_kind kind, uint64_t id, const char *name, int *connection)
{
    struct sockaddr_un address;
    SIM_CHECK(!sim_exchange_is_own(id), code_of_missing(kind),
              "%s (%#llx) was made by this very process, expected one that another process made", name,
              (unsigned long long)id);
    socklen_t length = address_of(pid_of(id), &address);
    const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    SIM_CHECK(made >= 0, ACL_ERROR_RT_IPC_ERROR, "no socket could be opened: %s", strerror(errno));
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int failed;
    do
        failed = connect(made, (struct sockaddr *)&address, length);
    while (failed != 0 && errno == EINTR);
    int error = failed != 0 ? errno : 0;
    if (failed == 0 && is_same_user(made)) {
        *connection = made;
        return ACL_SUCCESS;
    }
    close(made);
    if (error == EAGAIN)
        return sim_exchange_refuse(kind, ACL_ERROR_RT_TIMEOUT, id, name);
    return sim_fail(code_of_missing(kind), "%s (%#llx) is of process %d, which has exited or belongs to another user, "
                    "expected a process that is running", name, (unsigned long long)id, pid_of(id));
}

/* ---- claims: the first process that listens at the name's socket has it, and need not answer ---- */

#define CLAIM_TRIES 1000 /* the holder may be about to listen, or to end its claim */

static bool find_holder(const struct sockaddr_un *address, socklen_t length, int32_t *holder)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof peer;
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool found = made >= 0 && connect(made, (const struct sockaddr *)address, length) == 0 &&
                 getsockopt(made, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
    sim_exchange_close(&made);
    *holder = peer.pid;
    return found;
}

aclError sim_exchange_claim(uint64_t name, int *claim, int32_t *holder)
{
    struct sockaddr_un address;
    char rest[64];
    snprintf(rest, sizeof rest, "%u/%016llx", (unsigned)geteuid(), (unsigned long long)name);
    socklen_t length = write_address(rest, &address);
    for (int tries = 0; tries < CLAIM_TRIES; tries++) {
        *claim = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (*claim >= 0 && bind(*claim, (struct sockaddr *)&address, length) == 0 && listen(*claim, SOMAXCONN) == 0)
            return ACL_SUCCESS;
        sim_exchange_close(claim);
        if (find_holder(&address, length, holder))
            return ACL_SUCCESS;
        sched_yield();
    }
    return sim_fail(ACL_ERROR_RT_IPC_ERROR, "no process can be reached by the name %s", rest);
}

/* Takes the files out of a message's control part. */
static void take_files(struct msghdr *message, int files[FILES])
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && i < FILES; i++)
            memcpy(&files[i], CMSG_DATA(part) + i * sizeof(int), sizeof(int));
    }
}

bool sim_exchange_ask(int connection, const struct request *request, struct reply *reply, int files[FILES], int *error)
{
    struct iovec bytes = {reply, sizeof *reply};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES * sizeof(int))];
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t size;
    for (int i = 0; i < FILES; i++)
        files[i] = -1;
    do
        size = send(connection, request, sizeof *request, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    *error = size < 0 ? errno : 0;
    if (size < 0)
        return false;
    do
        size = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    *error = size < 0 ? errno : 0;
    if (size > 0)
        take_files(&message, files);
    if (size == (ssize_t)sizeof *reply)
        return true;
    for (int i = 0; i < FILES; i++)
        sim_exchange_close(&files[i]);
    return false;
}

aclError sim_exchange_code(bool answered, int error, const struct reply *reply)
{
    if (!answered)
        return error == EAGAIN ? ACL_ERROR_RT_TIMEOUT : ACL_ERROR_RT_PARAM_INVALID;
    return reply->rp_protocol == PROTOCOL ? reply->rp_code : ACL_ERROR_RT_IPC_ERROR;
}

aclError sim_exchange_import(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_offer *offer)
{
    const struct request request = {PROTOCOL, VERB_IMPORT, (uint32_t)kind, (uint32_t)id};
    struct reply reply;
    int connection, files[FILES], error;
    SIM_TRY(sim_exchange_connect(kind, id, name, &connection));
    bool answered = sim_exchange_ask(connection, &request, &reply, files, &error);
    close(connection);
    aclError code = sim_exchange_code(answered, error, &reply);
    sim_exchange_close(&files[1]);
    if (code == ACL_SUCCESS && files[0] < 0)
        code = ACL_ERROR_RT_PARAM_INVALID;
    if (code != ACL_SUCCESS) {
        sim_exchange_close(&files[0]);
        return sim_exchange_refuse(kind, code, id, name);
    }
    *offer = (struct sim_offer){.of_kind = kind, .of_device = reply.rp_device, .of_file = files[0],
                                .of_offset = reply.rp_offset, .of_size = reply.rp_size,
                                .of_extra = {reply.rp_extra[0], reply.rp_extra[1]}};
    return ACL_SUCCESS;
}

/* ---- ending ---- */

/* Closes everything except the entries. Also used in the child of a fork, without a lock, since no thread runs
 * there. */
static void close_all(struct exchange *exchange)
{
    close_files(exchange);
    for (uint32_t i = 0; i < exchange->xc_client_count; i++)
        sim_exchange_close(&exchange->xc_clients[i].cl_socket);
    sim_exchange_share_close_all();
    exchange->xc_client_count = 0;
    exchange->xc_runs = false;
}

/* Ends the running thread. xc_turn is held. */
static void end_thread(struct exchange *exchange)
{
    uint64_t one = 1;
    ssize_t written = write(exchange->xc_end, &one, sizeof one);
    (void)written; /* cannot fail: the counter goes from 0 to 1 */
    pthread_join(exchange->xc_thread, NULL);
    close_all(exchange);
}

static bool is_used(struct exchange *exchange)
{
    sim_lock(&exchange->xc_lock);
    bool used = exchange->xc_entries != NULL;
    for (uint32_t i = 0; i < exchange->xc_client_count; i++)
        used |= exchange->xc_clients[i].cl_socket >= 0;
    for (uint32_t i = 0; i < LINKS; i++)
        used |= exchange->xc_links[i].lk_users != 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        used |= exchange->xc_taken[i] || exchange->xc_held[i];
    sim_unlock(&exchange->xc_lock);
    return used;
}

void sim_exchange_rest(void)
{
    struct exchange *exchange = &sim_exchange;
    if (pthread_mutex_trylock(&exchange->xc_turn) != 0)
        return; /* another thread is using the exchange */
    if (exchange->xc_runs && !is_used(exchange))
        end_thread(exchange);
    pthread_mutex_unlock(&exchange->xc_turn);
}

void sim_exchange_reset(void)
{
    struct exchange *exchange = &sim_exchange;
    pthread_mutex_lock(&exchange->xc_turn);
    sim_exchange_withdraw_all(SIM_EXCHANGE_KINDS);
    if (exchange->xc_runs)
        end_thread(exchange);
    pthread_mutex_unlock(&exchange->xc_turn);
}

void sim_exchange_after_fork(void)
{
    struct exchange *exchange = &sim_exchange;
    exchange->xc_turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    sim_lock_renew(&exchange->xc_lock);
    close_files(exchange); /* first, so that the parent's epoll instance, which the child shares, is not changed */
    if (exchange->xc_runs)
        close_all(exchange);
    exchange->xc_entries = NULL; /* the parent may have been changing its list when it forked */
}
