/* The ready list and the workers.
 *
 * A push wakes no thread while a worker patrols. The patrol sleeps 50 us, doubling to 1.6 ms, and takes a stream only
 * if it was kicked or made no progress since the last look, because usually the host that submitted runs its tasks
 * itself. After IDLE_TICKS looks without work it trims the cache of freed memory and sleeps without a limit; the next
 * push wakes it. A worker that has started on a stream wakes another one if the list is not empty. */
#include "memory.h"
#include "stream.h"
#include <pthread.h>
#include <sys/prctl.h>

#define WORKERS 2
#define TICK_US 50
#define BACK_OFF 5 /* times that a tick doubles */
#define IDLE_TICKS 12
#define QUANTUM 1024

static struct {
    ALONE struct sketch_lock pl_lock; /* guards the list */
    struct stream *pl_first, *pl_last;
    ALONE _Atomic uint32_t pl_ready, pl_patrols, pl_sleeping;
    _Atomic uint32_t pl_sleep, pl_tick; /* futexes */
} pool;

static void wake_sleeper(void)
{
    if (atomic_load(&pool.pl_sleeping) != 0)
        futex_wake(&pool.pl_sleep, 1);
}

static void append(struct stream *stream)
{
    lock(&pool.pl_lock);
    stream->st_next_ready = NULL;
    if (pool.pl_last != NULL)
        pool.pl_last->st_next_ready = stream;
    else
        pool.pl_first = stream;
    pool.pl_last = stream;
    unlock(&pool.pl_lock);
    atomic_fetch_add(&pool.pl_ready, 1);
}

/* Called by the thread that has set LISTED, so the stream is in no list. */
void sketch_push(struct stream *stream)
{
    append(stream);
    if (atomic_load(&pool.pl_patrols) == 0)
        wake_sleeper();
}

static struct stream *pop(void)
{
    if (LOAD(&pool.pl_ready) == 0)
        return NULL;
    lock(&pool.pl_lock);
    struct stream *stream = pool.pl_first;
    if (stream != NULL) {
        pool.pl_first = stream->st_next_ready;
        if (pool.pl_first == NULL)
            pool.pl_last = NULL;
    }
    unlock(&pool.pl_lock);
    if (stream != NULL)
        atomic_fetch_sub(&pool.pl_ready, 1);
    return stream;
}

/* A worker is to take the stream now. Without force, only if no thread is at it already. */
void sketch_kick(struct stream *stream, bool force)
{
    if (!force && (LOAD_RELAXED(&stream->st_kicked) || (LOAD(&stream->st_word) & (RUNNING | PARKED)) != 0))
        return;
    STORE_RELAXED(&stream->st_kicked, 1);
    if (LOAD(&pool.pl_patrols) != 0)
        futex_wake(&pool.pl_tick, 1);
    else
        wake_sleeper();
}

/* What a worker does with a stream that it took out of the list. */
enum verdict { DROP, KEEP, TAKE };

static enum verdict judge(struct stream *stream)
{
    uint64_t word = LOAD(&stream->st_word), left;
    enum verdict verdict;
    do {
        uint64_t done = LOAD_RELAXED(&stream->st_done);
        left = word & ~(uint64_t)LISTED;
        verdict = DROP;
        if (TICKET_OF(word) != done && (word & (RUNNING | PARKED)) == 0) {
            if (!LOAD_RELAXED(&stream->st_kicked) && stream->st_seen != done + 1) {
                stream->st_seen = done + 1;
                return KEEP;
            }
            verdict = TAKE;
            left |= RUNNING;
        }
    } while (!REPLACE(&stream->st_word, &word, left));
    return verdict;
}

/* Lets the worker stop or start to be the one that patrols. */
static void end_patrol(bool *patrols)
{
    if (*patrols)
        atomic_store(&pool.pl_patrols, 0);
    *patrols = false;
}

static void begin_patrol(bool *patrols)
{
    uint32_t none = 0;
    if (!*patrols)
        *patrols = atomic_compare_exchange_strong(&pool.pl_patrols, &none, 1);
}

static void sleep_until_pushed(void)
{
    uint32_t seen = LOAD(&pool.pl_sleep);
    atomic_fetch_add(&pool.pl_sleeping, 1);
    if (atomic_load(&pool.pl_ready) == 0 || atomic_load(&pool.pl_patrols) != 0)
        futex_wait(&pool.pl_sleep, seen, FOREVER);
    atomic_fetch_sub(&pool.pl_sleeping, 1);
}

static void *work(void *unused)
{
    prctl(PR_SET_TIMERSLACK, 1);
    sketch_enter();
    bool patrols = false;
    for (int idle = 0, doublings = 0;;) {
        bool ran = false, kept = false;
        for (uint32_t left = LOAD(&pool.pl_ready); left > 0; left--) {
            struct stream *stream = pop();
            if (stream == NULL)
                break;
            enum verdict verdict = judge(stream);
            if (verdict == KEEP) {
                append(stream);
                kept = true;
            }
            if (verdict != TAKE)
                continue;
            if (!LOAD_RELAXED(&stream->st_kicked))
                STORE_RELAXED(&stream->st_habit, 1);
            STORE_RELAXED(&stream->st_kicked, 0);
            stream->st_seen = 0;
            end_patrol(&patrols);
            if (LOAD(&pool.pl_ready) != 0)
                wake_sleeper();
            sketch_run(stream, EVER, WORKER, QUANTUM);
            ran = true;
        }
        if (ran || kept)
            idle = doublings = 0;
        if (ran)
            continue;
        begin_patrol(&patrols);
        if (patrols && (idle++ < IDLE_TICKS || kept)) {
            uint32_t seen = LOAD(&pool.pl_tick);
            long tick = (TICK_US * 1000L) << doublings;
            if (doublings < BACK_OFF)
                doublings++;
            futex_wait(&pool.pl_tick, seen, tick);
            continue;
        }
        if (patrols)
            sketch_trim();
        end_patrol(&patrols);
        sleep_until_pushed();
        idle = 0;
    }
    return unused;
}

void sketch_workers_start(void)
{
    for (int i = 0; i < WORKERS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
    }
}
