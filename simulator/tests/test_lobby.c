/* Lobbies on the loopback interface, with a root of a few words: joining, changes, values, and those who leave. */
#include "collective/guest.h"
#include "collective/host.h"
#include "engine.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RANKS = 4, AGREEMENT = 77 };

/* ---- a root ---- */

struct fake {
    _Atomic uint64_t words[RANKS];   /* 1: joined, 2: ended, 3: given up */
    struct sim_gate gate;
    _Atomic uint64_t told; /* the level of the gate that the guests know */
    struct sim_gate tells;
};

static struct sim_answer admit(void *argument, const struct sim_request *request)
{
    struct fake *fake = argument;
    uint64_t free = 0;
    if (request->rq_agreement != AGREEMENT)
        return (struct sim_answer){SIM_OTHER_AGREEMENT, 0, AGREEMENT};
    if (!atomic_compare_exchange_strong(&fake->words[request->rq_rank], &free, 1))
        return (struct sim_answer){SIM_RANK_TAKEN, 0, AGREEMENT};
    sim_gate_count(&fake->gate);
    return (struct sim_answer){SIM_ADMITTED, 0, AGREEMENT};
}

static void leave(void *argument, uint32_t rank, bool expired)
{
    struct fake *fake = argument;
    atomic_store(&fake->words[rank], expired ? 3 : 2);
    sim_gate_count(&fake->gate);
}

static size_t copy_words(void *argument, uint64_t *words)
{
    struct fake *fake = argument;
    for (int i = 0; i < RANKS; i++)
        words[i] = atomic_load(&fake->words[i]);
    return RANKS;
}

static void await(void *argument, uint64_t *level)
{
    struct fake *fake = argument;
    atomic_store(&fake->told, *level);
    sim_gate_count(&fake->tells);
    sim_engine_wait_gate(&fake->gate, *level + 1, SIM_FOREVER);
    *level = sim_gate_level(&fake->gate);
}

static void wake(void *argument)
{
    struct fake *fake = argument;
    sim_gate_count(&fake->gate);
}

static const struct sim_lobby_calls calls = {admit, leave, copy_words, await, wake};

struct visit {
    _Atomic uint64_t words[SIM_LOBBY_WORDS];
    _Atomic bool is_lost;
    struct sim_gate gate;
    struct sim_guest *guest;
};

static void enter(struct visit *visit, const struct sim_root_place *place)
{
    CHECK(sim_guest_open(place, visit->words, &visit->is_lost, &visit->gate, &visit->guest) == HCCL_SUCCESS);
}

/* Waits until a word of the root, or of a guest's copy, has a value. */
static void expect_word(const _Atomic uint64_t *word, struct sim_gate *gate, uint64_t value)
{
    for (;;) {
        const uint64_t level = sim_gate_level(gate);
        if (atomic_load(word) == value)
            return;
        CHECK(sim_engine_wait_gate(gate, level + 1, SIM_FOREVER) == SIM_WAIT_PASSED);
    }
}

static void await_loss(struct visit *visit)
{
    for (;;) {
        const uint64_t level = sim_gate_level(&visit->gate);
        if (atomic_load(&visit->is_lost))
            return;
        CHECK(sim_engine_wait_gate(&visit->gate, level + 1, SIM_FOREVER) == SIM_WAIT_PASSED);
    }
}

static struct sim_answer ask(struct visit *visit, uint32_t rank, uint64_t agreement)
{
    const struct sim_request request = {.rq_rank = rank, .rq_count = RANKS, .rq_agreement = agreement};
    return sim_guest_ask(visit->guest, &request);
}

static struct sim_lobby *open_lobby(struct fake *fake, struct sim_root_place *place)
{
    struct sim_lobby *lobby = NULL;
    CHECK(sim_lobby_open(&calls, fake, place, &lobby) == HCCL_SUCCESS);
    CHECK(place->pl_has_port && place->pl_address.ss_family == AF_INET);
    return lobby;
}

/* ---- guests ---- */

static void test_guests(void)
{
    static struct fake fake;
    static struct visit one, other;
    struct sim_root_place place = {.pl_id = 5};
    struct sim_lobby *lobby = open_lobby(&fake, &place);
    enter(&one, &place);
    enter(&other, &place);
    CHECK(ask(&one, 2, AGREEMENT).an_verdict == SIM_ADMITTED);
    CHECK(ask(&other, 2, AGREEMENT).an_verdict == SIM_RANK_TAKEN);
    CHECK(ask(&other, 3, AGREEMENT + 1).an_verdict == SIM_OTHER_AGREEMENT);
    CHECK(ask(&other, 3, AGREEMENT).an_verdict == SIM_ADMITTED);
    expect_word(&one.words[3], &one.gate, 1);
    expect_word(&other.words[2], &other.gate, 1);
    sim_guest_give_up(other.guest, 3);
    expect_word(&one.words[3], &one.gate, 3);
    sim_guest_close(one.guest); /* as if its process ended */
    expect_word(&other.words[2], &other.gate, 2);
    CHECK(!atomic_load(&other.is_lost));
    sim_lobby_close(lobby);
    await_loss(&other);
    CHECK(ask(&other, 1, AGREEMENT).an_verdict == SIM_UNREACHABLE);
    sim_guest_close(other.guest);
}

/* A change just before the lobby closes. */
static void test_the_last_change(void)
{
    static struct fake fake;
    static struct visit visit;
    struct sim_root_place place = {.pl_id = 5};
    struct sim_lobby *lobby = open_lobby(&fake, &place);
    enter(&visit, &place);
    CHECK(ask(&visit, 2, AGREEMENT).an_verdict == SIM_ADMITTED);
    expect_word(&fake.told, &fake.tells, sim_gate_level(&fake.gate));
    atomic_store(&fake.words[2], 3);
    sim_lobby_close(lobby);
    await_loss(&visit);
    CHECK(atomic_load(&visit.words[2]) == 3);
    sim_guest_close(visit.guest);
}

/* ---- those who are turned away ---- */

static int raw(const struct sim_root_place *place)
{
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(connection, (const struct sockaddr *)&place->pl_address, sizeof(struct sockaddr_in)) == 0);
    return connection;
}

/* The lobby closes the connection. */
static void expect_end(int connection)
{
    char byte;
    while (recv(connection, &byte, 1, 0) > 0)
        ;
    close(connection);
}

static void test_strangers(void)
{
    static struct fake fake;
    static struct visit one;
    struct sim_root_place place = {.pl_id = 5}, wrong;
    struct sim_lobby *lobby = open_lobby(&fake, &place);
    struct sim_guest *guest = NULL;
    wrong = place;
    wrong.pl_secret[1] ^= 1;
    CHECK(sim_guest_open(&wrong, one.words, &one.is_lost, &one.gate, &guest) == HCCL_E_TCP_CONNECT && guest == NULL);
    CHECK_TEXT("EI0015: the process that made rootInfo cannot be reached at 127.0.0.1");
    const char *const said[] = {"GET / HTTP/1.1\r\n\r\n", "\377\377\377\377\0\0\0\0"};
    for (unsigned i = 0; i < 2; i++) {
        int connection = raw(&place);
        CHECK(send(connection, said[i], i == 0 ? strlen(said[i]) : 8, MSG_NOSIGNAL) > 0);
        expect_end(connection);
    }
    for (int i = 0; i < 600; i++) /* more than there are at a time */
        close(raw(&place));
    enter(&one, &place);
    CHECK(ask(&one, 0, AGREEMENT).an_verdict == SIM_ADMITTED);
    sim_guest_close(one.guest);
    sim_lobby_close(lobby);
    CHECK(sim_guest_open(&place, one.words, &one.is_lost, &one.gate, &guest) == HCCL_E_TCP_CONNECT);
}

/* ---- a lobby that is looked for ---- */

static void test_search(void)
{
    static struct fake fake, unrelated;
    static struct visit one;
    const struct sim_root_place known = {.pl_secret = {1, 2}, .pl_address = {.ss_family = AF_INET}};
    struct sim_root_place place = known, other = known;
    struct sim_guest *guest = NULL;
    CHECK(sim_host_read("127.0.0.1", &place.pl_address));
    other.pl_secret[0] = 3;
    other.pl_address = place.pl_address;
    const struct sim_root_place asked = place;
    CHECK(sim_guest_open(&asked, one.words, &one.is_lost, &one.gate, &guest) == HCCL_E_AGAIN);
    struct sim_lobby *before = open_lobby(&unrelated, &other), *lobby = open_lobby(&fake, &place);
    enter(&one, &asked);
    CHECK(ask(&one, 1, AGREEMENT).an_verdict == SIM_ADMITTED);
    CHECK(atomic_load(&fake.words[1]) == 1 && atomic_load(&unrelated.words[1]) == 0);
    sim_guest_close(one.guest);
    sim_lobby_close(lobby);
    sim_lobby_close(before);
}

/* ---- values ---- */

static struct acl_hccl_store store_of(const struct sim_root_place *place, uint32_t rank)
{
    struct acl_hccl_store store;
    CHECK(sim_guest_connect_store(place, rank, &store) == HCCL_SUCCESS);
    return store;
}

struct reading {
    struct acl_hccl_store store;
    const char *name;
    int result;
    void *bytes;
    size_t size;
};

static void *read_value(void *argument)
{
    struct reading *reading = argument;
    reading->result = reading->store.get(reading->store.state, reading->name, &reading->bytes, &reading->size);
    return NULL;
}

static void test_values(void)
{
    static struct fake fake;
    struct sim_root_place place = {.pl_id = 5};
    struct sim_lobby *lobby = open_lobby(&fake, &place);
    struct acl_hccl_store one = store_of(&place, 0), other = store_of(&place, 1);
    struct reading early = {.store = other, .name = "early"}, never = {.store = other, .name = "never"};
    CHECK(one.set(one.state, "late", "value", 5) == 0);
    CHECK(one.set(one.state, "late", "again", 5) == -1); /* each name once */
    void *bytes;
    size_t size;
    CHECK(other.get(other.state, "late", &bytes, &size) == 0 && size == 5 && memcmp(bytes, "value", 5) == 0);
    free(bytes);
    pthread_t thread = start(read_value, &early);
    CHECK(one.set(one.state, "early", "", 0) == 0);
    pthread_join(thread, NULL);
    CHECK(early.result == 0 && early.size == 0);
    free(early.bytes);
    sim_guest_close_store(&one, true);
    thread = start(read_value, &never);
    struct acl_hccl_store last = store_of(&place, 2);
    sim_guest_close_store(&last, false); /* a process that does not connect: nobody waits for values any more */
    pthread_join(thread, NULL);
    CHECK(never.result == -1);
    sim_lobby_await_connected(lobby, 3); /* nor for it */
    sim_guest_close_store(&other, true);
    sim_lobby_close(lobby);
}

static void test_all_have_connected(void)
{
    static struct fake fake;
    struct sim_root_place place = {.pl_id = 5};
    struct sim_lobby *lobby = open_lobby(&fake, &place);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct acl_hccl_store store = store_of(&place, rank);
        sim_guest_close_store(&store, true);
    }
    sim_lobby_await_connected(lobby, 3);
    sim_lobby_close(lobby);
}

/* ---- addresses and ports ---- */

static void expect_address(const char *name, const char *value, HcclResult code, const char *text)
{
    struct sockaddr_storage address;
    CHECK(setenv(name, value, 1) == 0);
    const HcclResult result = sim_host_address(&address);
    CHECK(result == code);
    if (code != HCCL_SUCCESS) {
        CHECK_TEXT(text);
    } else {
        char written[SIM_HOST_TEXT];
        sim_host_write(&address, written);
        CHECK(strcmp(written, text) == 0);
    }
    CHECK(unsetenv(name) == 0);
}

static void test_addresses(void)
{
    expect_address("HCCL_IF_IP", "127.0.0.1", HCCL_SUCCESS, "127.0.0.1");
    expect_address("HCCL_IF_IP", "::1", HCCL_SUCCESS, "::1");
    expect_address("HCCL_IF_IP", "localhost", HCCL_E_PARA, "EI0001: HCCL_IF_IP is \"localhost\", expected an address");
    expect_address("HCCL_SOCKET_IFNAME", "lo", HCCL_SUCCESS, "127.0.0.1");
    expect_address("HCCL_SOCKET_IFNAME", "=eth77,lo", HCCL_SUCCESS, "127.0.0.1");
    expect_address("HCCL_SOCKET_IFNAME", "=l", HCCL_E_TCP_CONNECT, "matches HCCL_SOCKET_IFNAME==l");
    expect_address("HCCL_SOCKET_FAMILY", "IPv4", HCCL_E_PARA, "EI0001: HCCL_SOCKET_FAMILY is \"IPv4\"");
}

/* The ports, as text, and an asterisk if any other may be taken. */
static void expect_ports(const char *name, const char *value, const char *expected)
{
    struct sim_host_ports ports;
    struct sockaddr_storage address = {.ss_family = AF_INET};
    char text[512] = "";
    CHECK(name == NULL || setenv(name, value, 1) == 0);
    CHECK(sim_host_ports(&ports) == HCCL_SUCCESS);
    unsigned first = 0, last = 0, count = 0;
    while (sim_host_next_port(&ports, &address)) {
        last = ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
        first = count++ == 0 ? last : first;
        if (count <= 8)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u ", last);
    }
    if (count > 8)
        snprintf(text, sizeof text, "%u to %u ", first, last);
    CHECK(strlen(text) + ports.po_or_any == strlen(expected) && strncmp(text, expected, strlen(text)) == 0);
    CHECK(name == NULL || unsetenv(name) == 0);
}

static void refuse_ports(const char *name, const char *value)
{
    struct sim_host_ports ports;
    CHECK(setenv(name, value, 1) == 0);
    CHECK(sim_host_ports(&ports) == HCCL_E_PARA);
    CHECK_TEXT("EI0001");
    CHECK(unsetenv(name) == 0);
}

static void test_ports(void)
{
    const char *const ranges = "HCCL_HOST_SOCKET_PORT_RANGE", *const base = "HCCL_IF_BASE_PORT";
    expect_ports(NULL, NULL, "60000 to 60031 *");
    expect_ports(ranges, "auto", "60000 to 60031 *");
    expect_ports(ranges, "61000,61002-61004,65535", "61000 61002 61003 61004 65535 ");
    expect_ports(base, "1024", "1024 to 1055 ");
    expect_ports(base, "65520", "65520 to 65535 ");
    for (const char *const *at = (const char *const[]){"0", "1-", "9-8", "65536", "x", "1,,2", " 1", NULL}; *at; at++)
        refuse_ports(ranges, *at);
    for (const char *const *at = (const char *const[]){"1023", "65521", "2000-3000", "-1", "2000,", NULL}; *at; at++)
        refuse_ports(base, *at);
}

static void test_listening(void)
{
    struct sockaddr_storage address;
    int first, second, third;
    CHECK(sim_host_read("127.0.0.1", &address));
    CHECK(sim_host_listen(&address, false, &first) == HCCL_SUCCESS);
    char one[16];
    snprintf(one, sizeof one, "%u", ntohs(((struct sockaddr_in *)(void *)&address)->sin_port));
    CHECK(setenv("HCCL_HOST_SOCKET_PORT_RANGE", one, 1) == 0);
    CHECK(sim_host_listen(&address, false, &second) == HCCL_E_TCP_CONNECT);
    CHECK_TEXT("EI0019: no port of HCCL_HOST_SOCKET_PORT_RANGE or HCCL_IF_BASE_PORT is free at 127.0.0.1");
    CHECK(unsetenv("HCCL_HOST_SOCKET_PORT_RANGE") == 0);
    CHECK(sim_host_listen(&address, true, &third) == HCCL_SUCCESS);
    close(first);
    close(third);
}

int main(void)
{
    watch_dog(120);
    test_addresses();
    test_ports();
    test_listening();
    CHECK(setenv("HCCL_IF_IP", "127.0.0.1", 1) == 0);
    test_guests();
    test_the_last_change();
    test_strangers();
    test_search();
    test_values();
    test_all_have_connected();
    puts("ok");
    return 0;
}
