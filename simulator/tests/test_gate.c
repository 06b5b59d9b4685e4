/* Locks and gates: two threads repeat a pair of racing operations. A lost wake-up shows as a hang, a missing
 * happens-before as a data race. */
#include "engine.h"

#define ROUNDS 20000
#define CROWD 40 /* more waiters than are woken in one batch */

static struct sim_gate there, back;
static uint32_t handed_over; /* plain: only the gates order the accesses */

/* ---- the lock ---- */

static struct {
    struct sim_lock lock;
    uint32_t count; /* plain */
} shared;

static void *lock_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        sim_lock(&shared.lock);
        uint32_t count = shared.count;
        if (i % 16 == 0)
            sched_yield(); /* lets the other threads go to sleep */
        shared.count = count + 1;
        sim_unlock(&shared.lock);
    }
    return unused;
}

/* With and without the membarrier system call. */
static void test_lock(void)
{
    bool has_membarrier = sim_lock_has_membarrier;
    for (int pass = 0; pass < 2; pass++, sim_lock_has_membarrier = false) {
        pthread_t threads[4];
        shared.count = 0;
        for (int i = 0; i < 4; i++)
            threads[i] = start(lock_often, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        CHECK(shared.count == 4 * ROUNDS);
        CHECK(atomic_load(&shared.lock.lk_sleepers) == 0);
    }
    sim_lock_has_membarrier = has_membarrier;
}

/* ---- raising the count, against hosts that begin to wait for it ---- */

static void *answer(void *unused)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        CHECK(sim_engine_wait_gate(&there, i, SIM_FOREVER) == SIM_WAIT_PASSED);
        CHECK(handed_over == 2 * i - 1);
        handed_over++;
        sim_gate_set(&back, i);
    }
    return unused;
}

static void test_to_and_fro(void)
{
    pthread_t thread = start(answer, NULL);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        handed_over++;
        sim_gate_set(&there, i);
        CHECK(sim_engine_wait_gate(&back, i, SIM_FOREVER) == SIM_WAIT_PASSED);
        CHECK(handed_over == 2 * i);
    }
    pthread_join(thread, NULL);
}

/* ---- leaving a gate, against being woken ---- */

static struct sim_gate contested;
static _Atomic uint32_t entered, raised;

static void *raise_it(void *unused)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (atomic_load(&entered) < i)
            sched_yield();
        sim_gate_set(&contested, i);
        atomic_store(&raised, i);
    }
    return unused;
}

static void test_leave(void)
{
    pthread_t thread = start(raise_it, NULL);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        _Atomic uint32_t word = 0;
        struct sim_waiter waiter = {.wt_target = i, .wt_word = &word};
        CHECK(sim_gate_enter(&contested, &waiter));
        atomic_store(&entered, i);
        if (i % 2 == 0)
            sched_yield();
        bool left = sim_gate_leave(&contested, &waiter);
        CHECK(left == (atomic_load(&word) == 0));
        CHECK(!sim_gate_leave(&contested, &waiter));
        while (atomic_load(&raised) < i)
            sched_yield();
        CHECK(contested.gt_waiters == NULL);
    }
    pthread_join(thread, NULL);
}

/* A waiter can be removed only from the gate in which it is. */
static void test_other_gate(void)
{
    struct sim_gate first = {0}, second = {0};
    _Atomic uint32_t word = 0;
    struct sim_waiter waiter = {.wt_target = 1, .wt_word = &word};
    CHECK(sim_gate_enter(&second, &waiter));
    CHECK(!sim_gate_leave(&first, &waiter));
    CHECK(sim_gate_leave(&second, &waiter));
    CHECK(second.gt_waiters == NULL);
}

/* ---- waking all waiters, and many waiters ---- */

static void test_crowd(void)
{
    struct sim_gate gate = {0};
    _Atomic uint32_t words[CROWD] = {0};
    struct sim_waiter waiters[CROWD];
    for (uint32_t i = 0; i < CROWD; i++) {
        waiters[i] = (struct sim_waiter){.wt_target = i + 1, .wt_word = &words[i]};
        CHECK(sim_gate_enter(&gate, &waiters[i]));
    }
    sim_gate_set(&gate, CROWD / 2);
    for (uint32_t i = 0; i < CROWD; i++)
        CHECK(atomic_load(&words[i]) == (i < CROWD / 2));
    CHECK(!sim_gate_enter(&gate, &waiters[0]));
    sim_gate_raise(&gate, 1);
    CHECK(sim_gate_level(&gate) == CROWD / 2);
    waiters[CROWD - 1].wt_kind = SIM_WAITER_LEAVES; /* only its target wakes it */
    sim_lock(&gate.gt_lock);
    sim_gate_release(&gate, true);
    for (uint32_t i = 0; i < CROWD; i++)
        CHECK(atomic_load(&words[i]) == (i < CROWD - 1) && sim_gate_leave(&gate, &waiters[i]) == (i == CROWD - 1));
    CHECK(gate.gt_waiters == NULL);
}

static struct sim_gate crowded;
static struct sleeper sleepers[CROWD];
static uint32_t before_the_crowd; /* plain */

static void *wait_in_crowd(void *argument)
{
    sleeper_enter(argument);
    CHECK(sim_engine_wait_gate(&crowded, 1, SIM_FOREVER) == SIM_WAIT_PASSED);
    CHECK(before_the_crowd == 1);
    return NULL;
}

static void test_sleeping_crowd(void)
{
    pthread_t threads[CROWD];
    for (int i = 0; i < CROWD; i++)
        threads[i] = start(wait_in_crowd, &sleepers[i]);
    for (int i = 0; i < CROWD; i++)
        await_asleep(&sleepers[i]);
    sim_lock(&crowded.gt_lock);
    sim_gate_release(&crowded, true); /* they wake, check the count, and sleep again */
    before_the_crowd = 1;
    sim_gate_set(&crowded, 1);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

/* ---- a flag that is set and cleared immediately: all threads that waited are released ---- */

static struct sim_gate flag;

static void *wave(void *unused)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (bool waited = false; !waited; sched_yield()) {
            sim_lock(&flag.gt_lock);
            waited = flag.gt_waiters != NULL;
            sim_unlock(&flag.gt_lock);
        }
        sim_gate_set(&flag, 1);
        sim_gate_set(&flag, 0);
    }
    return unused;
}

static void test_flag(void)
{
    pthread_t thread = start(wave, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        _Atomic uint32_t word = 0;
        struct sim_waiter waiter = {.wt_target = 1, .wt_word = &word};
        while (!sim_gate_enter(&flag, &waiter)) /* the flag of the previous round is still set */
            sched_yield();
        while (atomic_load(&word) == 0)
            sim_futex_wait(&word, 0, SIM_FOREVER);
        CHECK(!sim_gate_leave(&flag, &waiter));
    }
    pthread_join(thread, NULL);
}

/* ---- parked streams that immediately park again at the same gate ---- */

static void test_streams(const char *schedule)
{
    static struct sim_gate gate;
    aclrtStream streams[8];
    uint64_t first[8];
    open_device(schedule);
    uint64_t level = sim_gate_level(&gate);
    for (int i = 0; i < 8; i++) {
        streams[i] = make_stream();
        first[i] = sim_stream_tail(target_of(streams[i]).tg_stream); /* where the slot's previous stream ended */
        for (uint64_t k = 1; k <= 50; k++)
            park_at(streams[i], &gate, level + k, SIM_FOREVER);
    }
    for (uint64_t k = 1; k <= 50; k++) {
        sim_gate_set(&gate, level + k);
        for (int i = 0; i < 8 && k % 7 == 0; i++)
            CHECK(sim_engine_wait(target_of(streams[i]).tg_stream, first[i] + k, SIM_FOREVER, SIM_HELPER) ==
                  SIM_WAIT_PASSED);
    }
    for (int i = 0; i < 8; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
    CHECK(gate.gt_waiters == NULL);
}

int main(void)
{
    watch_dog(60);
    test_lock();
    test_to_and_fro();
    test_leave();
    test_other_gate();
    test_crowd();
    test_sleeping_crowd();
    test_flag();
    test_streams("eager");
    test_streams("parallel");
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
