/* The other side of a lobby (lobby.c). A guest that watches has a thread that receives: changes of the words, and the
 * answer to the one request that may be on its way. `gs_lock` guards that answer. A store has a connection of its own,
 * since its requests may wait long. */
#include "guest.h"

#include "base/fail.h"
#include "base/thread.h"
#include "comm_config.h"
#include "host.h"
#include "lobby_message.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct sim_guest {
    int gs_socket;
    pthread_t gs_thread;
    _Atomic uint64_t *gs_words;
    _Atomic bool *gs_is_lost;
    struct sim_gate *gs_gate;
    pthread_mutex_t gs_lock;
    pthread_cond_t gs_has_answer;
    bool gs_answered, gs_ends;
    struct sim_answer gs_answer;
};

/* ---- connecting ---- */

#define STRANGER_SECONDS 1 /* until a program at a port is taken for another one */

static bool set_limit(int connection, int which, uint64_t seconds)
{
    const struct timeval limit = {(time_t)seconds, 0};
    return setsockopt(connection, SOL_SOCKET, which, &limit, sizeof limit) == 0;
}

/* Returns a socket to the lobby with that secret at an address, or -1. */
static int reach_at(const struct sockaddr_storage *address, const struct lobby_hello *hello, uint64_t patience)
{
    const uint64_t limit = sim_comm_connect_timeout() / 1000000000u + 1;
    struct lobby_head head;
    int connection = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return -1;
    if (set_limit(connection, SO_SNDTIMEO, limit) /* it holds for connecting, too */ &&
        set_limit(connection, SO_RCVTIMEO, patience != 0 ? patience : limit) &&
        connect(connection, (const struct sockaddr *)address, sim_host_address_size(address)) == 0 &&
        lobby_send(connection, LOBBY_HELLO, hello, sizeof *hello, NULL, 0) &&
        lobby_receive_bytes(connection, &head, sizeof head) && head.lh_verb == LOBBY_WELCOME &&
        set_limit(connection, SO_RCVTIMEO, hello->lo_watches != 0 ? 0 : limit))
        return connection;
    close(connection);
    return -1;
}

/* Without a port, looks for the lobby at all that it may have; HCCL_E_AGAIN, without a message, if it is at none. */
static HcclResult reach(const struct sim_root_place *place, bool watches, uint32_t rank, int *result)
{
    const struct lobby_hello hello = {LOBBY_PROTOCOL, {place->pl_secret[0], place->pl_secret[1]}, watches, rank};
    struct sockaddr_storage address = place->pl_address;
    struct sim_host_ports ports;
    char text[SIM_HOST_TEXT];
    HcclResult code = place->pl_has_port ? HCCL_SUCCESS : sim_host_ports(&ports);
    if (code != HCCL_SUCCESS)
        return code;
    *result = place->pl_has_port ? reach_at(&address, &hello, 0) : -1;
    while (!place->pl_has_port && *result < 0 && sim_host_next_port(&ports, &address))
        *result = reach_at(&address, &hello, STRANGER_SECONDS);
    if (*result < 0 && !place->pl_has_port)
        return HCCL_E_AGAIN;
    sim_host_write(&address, text);
    SIM_ARGUMENT(*result >= 0, HCCL_E_TCP_CONNECT,
                 "EI0015: the process that made rootInfo cannot be reached at %s, expected that it still waits, and "
                 "that its host lets this one connect (HCCL_IF_IP, HCCL_SOCKET_IFNAME)", text);
    return HCCL_SUCCESS;
}

/* ---- guests ---- */

static void take_message(struct sim_guest *guest, const struct lobby_head *head, const void *message)
{
    const uint64_t *words = message;
    if (head->lh_verb == LOBBY_WORDS) {
        for (size_t i = 0; i < head->lh_size / sizeof *words && i < SIM_LOBBY_WORDS; i++)
            atomic_store(&guest->gs_words[i], words[i]);
        sim_gate_count(guest->gs_gate);
    } else if (head->lh_verb == LOBBY_ANSWER && head->lh_size == sizeof guest->gs_answer) {
        pthread_mutex_lock(&guest->gs_lock);
        memcpy(&guest->gs_answer, message, sizeof guest->gs_answer);
        guest->gs_answered = true;
        pthread_cond_signal(&guest->gs_has_answer);
        pthread_mutex_unlock(&guest->gs_lock);
    }
}

static void *listen_to_lobby(void *argument)
{
    struct sim_guest *guest = argument;
    struct lobby_head head;
    void *message;
    while (lobby_receive(guest->gs_socket, &head, &message)) {
        take_message(guest, &head, message);
        free(message);
    }
    atomic_store(guest->gs_is_lost, true);
    pthread_mutex_lock(&guest->gs_lock);
    guest->gs_ends = true;
    pthread_cond_signal(&guest->gs_has_answer);
    pthread_mutex_unlock(&guest->gs_lock);
    sim_gate_count(guest->gs_gate);
    return NULL;
}

HcclResult sim_guest_open(const struct sim_root_place *place, _Atomic uint64_t *words, _Atomic bool *is_lost,
                          struct sim_gate *gate, struct sim_guest **result)
{
    struct sim_guest *guest = calloc(1, sizeof *guest);
    SIM_ARGUMENT(guest != NULL, HCCL_E_MEMORY, "there is no memory for a connection to another host");
    guest->gs_words = words;
    guest->gs_is_lost = is_lost;
    guest->gs_gate = gate;
    pthread_mutex_init(&guest->gs_lock, NULL);
    lobby_init_condition(&guest->gs_has_answer);
    HcclResult code = reach(place, true, 0, &guest->gs_socket);
    if (code == HCCL_SUCCESS && sim_thread_start(&guest->gs_thread, listen_to_lobby, guest) != 0) {
        close(guest->gs_socket);
        code = (HcclResult)sim_refuse(HCCL_E_MEMORY, "no thread can be started that receives from another host");
    }
    if (code != HCCL_SUCCESS) {
        pthread_mutex_destroy(&guest->gs_lock);
        pthread_cond_destroy(&guest->gs_has_answer);
        free(guest);
        return code;
    }
    *result = guest;
    return HCCL_SUCCESS;
}

void sim_guest_close(struct sim_guest *guest)
{
    shutdown(guest->gs_socket, SHUT_RDWR);
    pthread_join(guest->gs_thread, NULL);
    close(guest->gs_socket);
    pthread_mutex_destroy(&guest->gs_lock);
    pthread_cond_destroy(&guest->gs_has_answer);
    free(guest);
}

struct sim_answer sim_guest_ask(struct sim_guest *guest, const struct sim_request *request)
{
    struct sim_answer answer = {.an_verdict = SIM_UNREACHABLE};
    if (!lobby_send(guest->gs_socket, LOBBY_JOIN, request, sizeof *request, NULL, 0))
        return answer;
    pthread_mutex_lock(&guest->gs_lock);
    const struct timespec deadline = lobby_deadline();
    int error = 0;
    while (!guest->gs_answered && !guest->gs_ends && error == 0)
        error = pthread_cond_timedwait(&guest->gs_has_answer, &guest->gs_lock, &deadline);
    if (guest->gs_answered)
        answer = guest->gs_answer;
    guest->gs_answered = false;
    pthread_mutex_unlock(&guest->gs_lock);
    return answer;
}

void sim_guest_give_up(struct sim_guest *guest, uint32_t rank)
{
    lobby_send(guest->gs_socket, LOBBY_LEAVE, &rank, sizeof rank, NULL, 0);
}

/* ---- stores ---- */

struct store {
    int st_socket;
};

/* Asks for something about a name. On success, *value has the rest of the answer, at `*rest`, and is to be freed. */
static bool ask_store(const struct store *store, enum lobby_verb verb, const char *name, const void *bytes, size_t size,
                      void **value, size_t *rest)
{
    char padded[LOBBY_NAME] = "";
    struct lobby_head head;
    uint64_t success = 0;
    strncpy(padded, name, sizeof padded - 1);
    if (!lobby_send(store->st_socket, verb, padded, sizeof padded, bytes, size) ||
        !lobby_receive(store->st_socket, &head, value))
        return false;
    if (head.lh_verb == LOBBY_ANSWER && head.lh_size >= sizeof success)
        memcpy(&success, *value, sizeof success);
    if (success != 0) {
        *rest = head.lh_size - sizeof success;
        return true;
    }
    free(*value);
    return false;
}

/* Asks for something that has no value as its answer. */
static bool tell_store(const struct store *store, enum lobby_verb verb, const char *name, const void *bytes,
                       size_t size)
{
    void *value;
    size_t rest;
    const bool done = ask_store(store, verb, name, bytes, size, &value, &rest);
    if (done)
        free(value);
    return done;
}

static int set_value(void *state, const char *name, const void *bytes, size_t size)
{
    return tell_store(state, LOBBY_SET, name, bytes, size) ? 0 : -1;
}

static int get_value(void *state, const char *name, void **bytes, size_t *size)
{
    char *value;
    if (!ask_store(state, LOBBY_GET, name, NULL, 0, (void **)&value, size))
        return -1;
    memmove(value, value + sizeof(uint64_t), *size);
    *bytes = value;
    return 0;
}

HcclResult sim_guest_connect_store(const struct sim_root_place *place, uint32_t rank, struct acl_hccl_store *result)
{
    struct store *store = calloc(1, sizeof *store);
    SIM_ARGUMENT(store != NULL, HCCL_E_MEMORY, "there is no memory for a connection to another host");
    HcclResult code = reach(place, false, rank, &store->st_socket);
    if (code != HCCL_SUCCESS) {
        free(store);
        return code;
    }
    *result = (struct acl_hccl_store){store, set_value, get_value};
    return HCCL_SUCCESS;
}

void sim_guest_close_store(struct acl_hccl_store *store, bool connected)
{
    struct store *state = store->state;
    if (connected)
        tell_store(state, LOBBY_DONE, "", NULL, 0);
    close(state->st_socket);
    free(state);
}
