/* Nets between threads, by net_plugin.c: order and content of records, and how places are lost. */
#include "base/clock.h"
#include "collective/net.h"
#include "engine.h"

enum { PLACES = 5, RECORDS = 300 };
static const bool is_place[PLACES] = {true, false, true, false, true}; /* a process has the ranks 0 and 1, and so on */

struct side {
    uint32_t place;
    struct sim_gate gate;
    struct sim_net *net;
    HcclResult result;
};
static struct side sides[3] = {{.place = 0}, {.place = 2}, {.place = 4}};

static int set(void *state, const char *name, const void *bytes, size_t size)
{
    (void)name, (void)bytes, (void)size;
    return *(int *)state;
}

static void *open_side(void *argument)
{
    struct side *side = argument;
    int answer = 0;
    const struct acl_hccl_store store = {.state = &answer, .set = set};
    side->result = sim_net_open(PLACES, is_place, side->place, "here", &store, &side->gate, &side->net);
    return NULL;
}

static void open_all(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread = start(open_side, &sides[i]);
        pthread_join(thread, NULL);
        CHECK(sides[i].result == HCCL_SUCCESS);
    }
}

static void *close_side(void *argument)
{
    struct side *side = argument;
    sim_net_close(side->net);
    return NULL;
}

/* ---- records ---- */

struct numbered {
    struct sim_wire_record head;
    uint64_t number;
    uint64_t rest[];
};

/* The size of the n-th record: short ones, and some that do not fit into a socket. */
static uint32_t words_of(uint64_t number)
{
    return number % 50 == 49 ? 200000 : (uint32_t)(number % 7);
}

static void *send_all(void *argument)
{
    struct side *side = argument;
    for (uint64_t number = 0; number < RECORDS; number++) {
        const size_t size = sizeof(struct numbered) + words_of(number) * sizeof(uint64_t);
        struct numbered *record = malloc(size);
        record->head.re_size = (uint32_t)size;
        record->number = number;
        for (uint32_t i = 0; i < words_of(number); i++)
            record->rest[i] = number * 1000 + side->place;
        for (uint32_t place = 0; place < PLACES; place++)
            if (is_place[place] && place != side->place)
                sim_net_send(side->net, place, &record->head);
        free(record);
    }
    return NULL;
}

/* Waits for a record of a place, or for its end: NULL. */
static const struct numbered *next(struct side *side, uint32_t place)
{
    for (;;) {
        const uint64_t level = sim_gate_level(&side->gate);
        const bool lost = sim_net_is_lost(side->net, place);
        const struct sim_wire_record *record = sim_net_receive(side->net, place);
        CHECK(sim_net_has_news(side->net, place) || (record == NULL && !lost));
        if (record != NULL || lost)
            return (const struct numbered *)(const void *)record;
        CHECK(sim_engine_wait_gate(&side->gate, level + 1, SIM_FOREVER) == SIM_WAIT_PASSED);
    }
}

static void *receive_all(void *argument)
{
    struct side *side = argument;
    for (uint32_t place = 0; place < PLACES; place++)
        for (uint64_t number = 0; number < RECORDS && is_place[place] && place != side->place; number++) {
            const struct numbered *record = next(side, place);
            CHECK(record != NULL && record->number == number);
            for (uint32_t i = 0; i < words_of(number); i++)
                CHECK(record->rest[i] == number * 1000 + place);
            sim_net_next(side->net, place);
        }
    return NULL;
}

/* All send and receive at the same time, and close in any order: nothing is lost. */
static void test_records(void)
{
    pthread_t threads[9];
    open_all();
    for (int i = 0; i < 3; i++) {
        threads[3 * i] = start(send_all, &sides[i]);
        threads[3 * i + 1] = start(receive_all, &sides[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[3 * i], NULL);
        pthread_join(threads[3 * i + 1], NULL);
        threads[3 * i + 2] = start(close_side, &sides[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[3 * i + 2], NULL);
}

/* One side closes with records on their way: the others receive them, then learn that nothing more comes. */
static void test_an_early_end(void)
{
    open_all();
    send_all(&sides[0]);
    pthread_t closing = start(close_side, &sides[0]);
    for (int i = 1; i < 3; i++) {
        for (uint64_t number = 0; number < RECORDS; number++) {
            const struct numbered *record = next(&sides[i], 0);
            CHECK(record != NULL && record->number == number);
            sim_net_next(sides[i].net, 0);
        }
        CHECK(next(&sides[i], 0) == NULL);
        CHECK(!sim_net_is_lost(sides[i].net, sides[3 - i].place));
    }
    pthread_t other = start(close_side, &sides[1]);
    close_side(&sides[2]);
    pthread_join(other, NULL);
    pthread_join(closing, NULL);
}

/* A side whose peers stay open is closed after some seconds. */
static void test_others_that_stay(void)
{
    open_all();
    const uint64_t begin = sim_clock_now();
    send_all(&sides[1]);
    close_side(&sides[0]);
    CHECK(sim_clock_now() - begin >= UINT64_C(1900000000));
    CHECK(next(&sides[2], 0) == NULL);
    pthread_t other = start(close_side, &sides[1]);
    close_side(&sides[2]);
    pthread_join(other, NULL);
}

static void test_failures(void)
{
    static struct sim_gate gate;
    int answer = -1;
    const struct acl_hccl_store store = {.state = &answer, .set = set};
    struct sim_net *net = NULL;
    CHECK(sim_net_open(PLACES, is_place, 0, "10.0.0.1", &store, &gate, &net) == HCCL_E_TCP_CONNECT && net == NULL);
    CHECK_TEXT("EI0006: the processes of other hosts cannot be reached from 10.0.0.1: the store has no place for 10");
}

int main(void)
{
    watch_dog(120);
    CHECK(sim_net_is_there() && sim_net_check() == HCCL_SUCCESS);
    test_records();
    test_an_early_end();
    test_others_that_stay();
    test_failures();
    puts("ok");
    return 0;
}
