/* Each guest has a thread that reads its requests, one after another; a request that waits for a value keeps only its
 * own thread. One thread accepts guests, and one tells those that watch of changes.
 *
 * `lb_lock` guards the guests, their sockets and the values, and is held while something is sent: a guest that does not
 * read is given up after some seconds. The root's functions are called without it. Threads that have ended are joined
 * when the lobby closes. */
#include "lobby.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/thread.h"
#include "host.h"
#include "lobby_message.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define GUESTS 256u       /* connections at a time */
#define SEND_SECONDS 10   /* until a guest that does not read is given up */
#define HELLO_SECONDS 10  /* until a connection that says nothing is given up */
#define RANKS 64u

struct value {
    struct value *va_next;
    char va_name[LOBBY_NAME];
    void *va_bytes;
    size_t va_size;
};

struct guest {
    struct sim_lobby *gu_lobby;
    bool gu_has_thread; /* which is to be joined */
    pthread_t gu_thread;
    int gu_socket; /* -1: it has ended, or has never come */
    bool gu_watches;
    uint64_t gu_ranks; /* one bit each: those that have joined by it, or the lowest one of a process that connects */
};

struct sim_lobby {
    const struct sim_lobby_calls *lb_calls;
    void *lb_root;
    struct sim_root_place lb_place;
    int lb_listener;
    pthread_t lb_accepts, lb_tells;
    _Atomic bool lb_ends;
    pthread_mutex_t lb_lock;
    pthread_cond_t lb_changed; /* a value, or what follows */
    uint64_t lb_connected;     /* processes, by their lowest ranks, one bit each */
    bool lb_is_broken;         /* a process will not connect */
    struct value *lb_values;
    uint32_t lb_guest_count;
    struct guest lb_guests[GUESTS];
};

static void set_limits(int socket, time_t receive_seconds)
{
    const struct timeval receive = {receive_seconds, 0}, send = {SEND_SECONDS, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof receive);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof send);
}

/* ---- values, with the lock held ---- */

static struct value *find_value(const struct sim_lobby *lobby, const char *name)
{
    struct value *value = lobby->lb_values;
    while (value != NULL && strcmp(value->va_name, name) != 0)
        value = value->va_next;
    return value;
}

/* Takes the bytes over if it returns true. */
static bool add_value(struct sim_lobby *lobby, const char *name, void *message, size_t size)
{
    struct value *value = find_value(lobby, name) == NULL ? calloc(1, sizeof *value) : NULL;
    if (value == NULL)
        return false;
    *value = (struct value){.va_next = lobby->lb_values, .va_bytes = message, .va_size = size};
    strncpy(value->va_name, name, sizeof value->va_name - 1);
    lobby->lb_values = value;
    pthread_cond_broadcast(&lobby->lb_changed);
    return true;
}

/* Waits for a change. False at the time-out, or when there will be none. */
static bool await_change(struct sim_lobby *lobby, const struct timespec *deadline)
{
    return !lobby->lb_is_broken && !atomic_load(&lobby->lb_ends) &&
           pthread_cond_timedwait(&lobby->lb_changed, &lobby->lb_lock, deadline) == 0;
}

static struct value *await_value(struct sim_lobby *lobby, const char *name)
{
    const struct timespec deadline = lobby_deadline();
    struct value *value;
    while ((value = find_value(lobby, name)) == NULL && await_change(lobby, &deadline))
        ;
    return value;
}

/* ---- requests ---- */

static bool answer(struct guest *guest, const void *first, size_t first_size, const void *second, size_t second_size)
{
    return lobby_send(guest->gu_socket, LOBBY_ANSWER, first, first_size, second, second_size);
}

static bool join(struct guest *guest, const struct sim_request *request)
{
    struct sim_lobby *lobby = guest->gu_lobby;
    if (request->rq_rank >= request->rq_count || request->rq_count > RANKS)
        return false;
    const struct sim_answer given = lobby->lb_calls->lc_admit(lobby->lb_root, request);
    if (given.an_verdict == SIM_ADMITTED)
        guest->gu_ranks |= UINT64_C(1) << request->rq_rank;
    pthread_mutex_lock(&lobby->lb_lock);
    const bool sent = answer(guest, &given, sizeof given, NULL, 0);
    pthread_mutex_unlock(&lobby->lb_lock);
    return sent;
}

static bool give_up(const struct guest *guest, const uint32_t *rank)
{
    guest->gu_lobby->lb_calls->lc_leave(guest->gu_lobby->lb_root, *rank % RANKS, true);
    return true;
}

/* A message: the name, then the bytes, which the lobby keeps. */
static bool set(struct guest *guest, char *message, size_t size)
{
    struct sim_lobby *lobby = guest->gu_lobby;
    void *bytes = malloc(size - LOBBY_NAME + 1);
    message[LOBBY_NAME - 1] = '\0';
    if (bytes == NULL)
        return false;
    memcpy(bytes, message + LOBBY_NAME, size - LOBBY_NAME);
    pthread_mutex_lock(&lobby->lb_lock);
    const uint64_t done = add_value(lobby, message, bytes, size - LOBBY_NAME);
    const bool sent = answer(guest, &done, sizeof done, NULL, 0);
    pthread_mutex_unlock(&lobby->lb_lock);
    if (!done)
        free(bytes);
    return sent;
}

static bool get(struct guest *guest, char *message)
{
    struct sim_lobby *lobby = guest->gu_lobby;
    message[LOBBY_NAME - 1] = '\0';
    pthread_mutex_lock(&lobby->lb_lock);
    const struct value *value = await_value(lobby, message);
    const uint64_t found = value != NULL;
    const bool sent = answer(guest, &found, sizeof found, found ? value->va_bytes : NULL, found ? value->va_size : 0);
    pthread_mutex_unlock(&lobby->lb_lock);
    return sent;
}

static bool note_connected(struct guest *guest)
{
    struct sim_lobby *lobby = guest->gu_lobby;
    const uint64_t done = 1;
    pthread_mutex_lock(&lobby->lb_lock);
    lobby->lb_connected |= guest->gu_ranks;
    pthread_cond_broadcast(&lobby->lb_changed);
    const bool sent = answer(guest, &done, sizeof done, NULL, 0);
    pthread_mutex_unlock(&lobby->lb_lock);
    return sent;
}

static bool serve(struct guest *guest, const struct lobby_head *head, void *message)
{
    switch ((enum lobby_verb)head->lh_verb) {
    case LOBBY_JOIN:
        return head->lh_size == sizeof(struct sim_request) && join(guest, message);
    case LOBBY_LEAVE:
        return head->lh_size == sizeof(uint32_t) && give_up(guest, message);
    case LOBBY_SET:
        return head->lh_size >= LOBBY_NAME && set(guest, message, head->lh_size);
    case LOBBY_GET:
        return head->lh_size == LOBBY_NAME && get(guest, message);
    case LOBBY_DONE:
        return note_connected(guest);
    default:
        return false;
    }
}

static bool is_welcome(struct guest *guest, const struct lobby_head *head, const struct lobby_hello *hello)
{
    const struct sim_root_place *place = &guest->gu_lobby->lb_place;
    return head->lh_verb == LOBBY_HELLO && head->lh_size == sizeof *hello && hello->lo_protocol == LOBBY_PROTOCOL &&
           hello->lo_secret[0] == place->pl_secret[0] && hello->lo_secret[1] == place->pl_secret[1] &&
           hello->lo_rank < RANKS;
}

static void part(struct guest *guest)
{
    struct sim_lobby *lobby = guest->gu_lobby;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        if (guest->gu_watches && (guest->gu_ranks >> rank & 1) != 0)
            lobby->lb_calls->lc_leave(lobby->lb_root, rank, false);
    pthread_mutex_lock(&lobby->lb_lock);
    const uint64_t lowest = guest->gu_ranks & -guest->gu_ranks;
    if ((lobby->lb_connected & lowest) != lowest) {
        lobby->lb_is_broken = true;
        pthread_cond_broadcast(&lobby->lb_changed);
    }
    close(guest->gu_socket);
    guest->gu_socket = -1;
    pthread_mutex_unlock(&lobby->lb_lock);
}

static void *entertain(void *argument)
{
    struct guest *guest = argument;
    struct sim_lobby *lobby = guest->gu_lobby;
    struct lobby_head head;
    void *message;
    bool stays = lobby_receive(guest->gu_socket, &head, &message);
    if (stays) {
        stays = is_welcome(guest, &head, message);
        pthread_mutex_lock(&lobby->lb_lock);
        stays = stays && lobby_send(guest->gu_socket, LOBBY_WELCOME, NULL, 0, NULL, 0);
        guest->gu_watches = stays && ((const struct lobby_hello *)message)->lo_watches != 0;
        pthread_mutex_unlock(&lobby->lb_lock);
        if (stays && !guest->gu_watches)
            guest->gu_ranks = UINT64_C(1) << ((const struct lobby_hello *)message)->lo_rank;
        set_limits(guest->gu_socket, 0);
        free(message);
    }
    if (stays)
        lobby->lb_calls->lc_wake(lobby->lb_root); /* it gets the words */
    while (stays && lobby_receive(guest->gu_socket, &head, &message)) {
        stays = serve(guest, &head, message);
        free(message);
    }
    part(guest);
    return NULL;
}

/* ---- the lobby's threads ---- */

/* A guest that has ended, or one more; NULL: there are too many. */
static struct guest *free_guest(struct sim_lobby *lobby)
{
    uint32_t i = 0;
    while (i < lobby->lb_guest_count && lobby->lb_guests[i].gu_socket >= 0)
        i++;
    if (i == GUESTS)
        return NULL;
    struct guest *guest = &lobby->lb_guests[i];
    if (i == lobby->lb_guest_count)
        lobby->lb_guest_count++;
    else if (guest->gu_has_thread)
        pthread_join(guest->gu_thread, NULL); /* it needs the lock no longer */
    *guest = (struct guest){.gu_lobby = lobby, .gu_socket = -1};
    return guest;
}

static void admit(struct sim_lobby *lobby, int socket)
{
    set_limits(socket, HELLO_SECONDS);
    pthread_mutex_lock(&lobby->lb_lock);
    struct guest *guest = free_guest(lobby);
    if (guest != NULL) {
        guest->gu_socket = socket;
        guest->gu_has_thread = sim_thread_start(&guest->gu_thread, entertain, guest) == 0;
        if (!guest->gu_has_thread)
            guest->gu_socket = -1;
    }
    if (guest == NULL || !guest->gu_has_thread)
        close(socket);
    pthread_mutex_unlock(&lobby->lb_lock);
}

static void *accept_all(void *argument)
{
    struct sim_lobby *lobby = argument;
    while (!atomic_load(&lobby->lb_ends)) {
        int socket = accept4(lobby->lb_listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket >= 0)
            admit(lobby, socket);
        else if (errno != EINTR && errno != ECONNABORTED)
            break; /* it was shut down, or there are no descriptors: who comes later is not heard */
    }
    return NULL;
}

/* Tells guests of changes, and once more when the lobby closes, since a change is often the reason for that. */
static void *tell_all(void *argument)
{
    struct sim_lobby *lobby = argument;
    uint64_t words[SIM_LOBBY_WORDS], level = 0;
    for (;;) {
        const bool is_last = atomic_load(&lobby->lb_ends);
        const size_t count = lobby->lb_calls->lc_words(lobby->lb_root, words);
        pthread_mutex_lock(&lobby->lb_lock);
        for (uint32_t i = 0; i < lobby->lb_guest_count; i++) {
            const struct guest *guest = &lobby->lb_guests[i];
            if (guest->gu_socket >= 0 && guest->gu_watches &&
                !lobby_send(guest->gu_socket, LOBBY_WORDS, words, count * sizeof *words, NULL, 0))
                shutdown(guest->gu_socket, SHUT_RDWR); /* its thread ends */
        }
        pthread_mutex_unlock(&lobby->lb_lock);
        if (is_last)
            return NULL;
        lobby->lb_calls->lc_await(lobby->lb_root, &level);
    }
}

/* ---- opening and closing ---- */

static bool start_threads(struct sim_lobby *lobby)
{
    if (sim_thread_start(&lobby->lb_accepts, accept_all, lobby) != 0)
        return false;
    if (sim_thread_start(&lobby->lb_tells, tell_all, lobby) == 0)
        return true;
    shutdown(lobby->lb_listener, SHUT_RDWR);
    pthread_join(lobby->lb_accepts, NULL);
    return false;
}

HcclResult sim_lobby_open(const struct sim_lobby_calls *calls, void *root, struct sim_root_place *place,
                          struct sim_lobby **result)
{
    struct sim_lobby *lobby = calloc(1, sizeof *lobby);
    const bool is_known = place->pl_address.ss_family != 0;
    HcclResult code = lobby == NULL ? HCCL_E_MEMORY : is_known ? HCCL_SUCCESS : sim_host_address(&place->pl_address);
    int listener = -1;
    if (code == HCCL_SUCCESS)
        code = sim_host_listen(&place->pl_address, is_known, &listener);
    if (code != HCCL_SUCCESS) {
        place->pl_address.ss_family = 0;
        free(lobby);
        return code;
    }
    if (!is_known && getrandom(place->pl_secret, sizeof place->pl_secret, 0) != sizeof place->pl_secret)
        place->pl_secret[0] = sim_clock_now();
    place->pl_has_port = true;
    lobby->lb_calls = calls;
    lobby->lb_root = root;
    lobby->lb_place = *place;
    lobby->lb_listener = listener;
    pthread_mutex_init(&lobby->lb_lock, NULL);
    lobby_init_condition(&lobby->lb_changed);
    if (start_threads(lobby)) {
        *result = lobby;
        return HCCL_SUCCESS;
    }
    close(listener);
    free(lobby);
    place->pl_address.ss_family = 0;
    return (HcclResult)sim_refuse(HCCL_E_MEMORY, "no thread can be started that answers other hosts");
}

void sim_lobby_await_connected(struct sim_lobby *lobby, uint32_t count)
{
    const struct timespec deadline = lobby_deadline();
    pthread_mutex_lock(&lobby->lb_lock);
    while ((uint32_t)__builtin_popcountll(lobby->lb_connected) < count && await_change(lobby, &deadline))
        ;
    pthread_mutex_unlock(&lobby->lb_lock);
}

void sim_lobby_close(struct sim_lobby *lobby)
{
    atomic_store(&lobby->lb_ends, true);
    shutdown(lobby->lb_listener, SHUT_RDWR);
    pthread_join(lobby->lb_accepts, NULL);
    lobby->lb_calls->lc_wake(lobby->lb_root);
    pthread_join(lobby->lb_tells, NULL);
    pthread_mutex_lock(&lobby->lb_lock);
    pthread_cond_broadcast(&lobby->lb_changed);
    for (uint32_t i = 0; i < lobby->lb_guest_count; i++)
        if (lobby->lb_guests[i].gu_socket >= 0)
            shutdown(lobby->lb_guests[i].gu_socket, SHUT_RDWR);
    pthread_mutex_unlock(&lobby->lb_lock);
    for (uint32_t i = 0; i < lobby->lb_guest_count; i++)
        if (lobby->lb_guests[i].gu_has_thread)
            pthread_join(lobby->lb_guests[i].gu_thread, NULL);
    close(lobby->lb_listener);
    for (struct value *value; (value = lobby->lb_values) != NULL;) {
        lobby->lb_values = value->va_next;
        free(value->va_bytes);
        free(value);
    }
    pthread_mutex_destroy(&lobby->lb_lock);
    pthread_cond_destroy(&lobby->lb_changed);
    free(lobby);
}
