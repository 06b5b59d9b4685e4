/* Workers: threads that run the streams which no host runs; the ready list; the deadlines of parked streams.
 *
 * A submission does not wake them: waking costs more than most tasks, and the host usually synchronises soon and runs
 * the work itself. Instead one worker at a time patrols the ready list every 50 us, up to 1.6 ms while it finds
 * nothing. It takes a stream that made no progress since the last look, was kicked (a heavy task, a polling host, a
 * callback) or needs a worker. After IDLE_TICKS looks at an empty list it trims cached memory and sleeps until the next
 * push. A stream that it had to take gets a habit: its next push kicks at once, until a host runs it again. Workers
 * without a stream run pieces of large kernels (split.c).
 *
 * pl_lock guards the list, the flags and counts after it, and the increments of the two futex words. A push and a
 * worker that goes to sleep both take it, so that neither misses the other; the lock of split.c is taken inside it. A
 * worker that is awake, or was woken, is not woken again, because it looks at the list before it sleeps. A worker may
 * take the whole list out to look at it; it puts the rest back before it runs a stream.
 * Invariant: while the list is not empty, a worker patrols, was woken, or all are busy and will look. tm_lock guards
 * the list of parked streams with a deadline; the locks of streams and gates are taken inside it. Finalisation ends
 * the threads, and the next push or deadline starts them again; the thread that does either has set pl_state before,
 * so that it is the only one. */
#include "address/memory.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/thread.h"
#include "engine.h"
#include "split.h"
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#define TICK_NS 50000
#define TICK_DOUBLINGS 5   /* up to 1.6 ms */
#define IDLE_TICKS 12
#define QUANTUM 1024       /* tasks that a worker runs of one stream before it checks the others */

enum pool_state { POOL_ENDED, POOL_STARTS, POOL_RUNS, POOL_ENDS };

struct list {
    struct sim_stream *li_first, *li_last;
    uint32_t li_count;
};

static struct {
    _Alignas(SIM_LINE) struct sim_lock pl_lock;
    struct list pl_list;
    _Atomic uint32_t pl_ready; /* length of the list; written under the lock */
    bool pl_patrolled;
    bool pl_tick_sleeps;       /* the patrolling worker sleeps or is about to, and has not been woken */
    enum pool_state pl_state;
    uint32_t pl_deep;          /* workers that sleep until a push or a deadline, or are about to */
    uint32_t pl_deep_woken;    /* how many of them have been woken */
    _Alignas(SIM_LINE) _Atomic uint32_t pl_deep_word;
    _Atomic uint32_t pl_tick_word;
    _Atomic bool pl_stop;
    uint32_t pl_started;       /* number of threads; written by the thread that starts them */
    pthread_t pl_threads[SIM_WORKERS_MAX];
    struct sim_stream *_Atomic pl_held[SIM_WORKERS_MAX]; /* the stream that each runs; set under pl_lock */
} pool;

static struct {
    struct sim_lock tm_lock;
    struct sim_stream *tm_first;
    _Atomic uint32_t tm_count;
} timers;

_Atomic bool sim_worker_serves;

static void *work(void *held);

/* With pl_lock held: true when finalisation has ended the threads, and the caller has to start them. */
static bool must_start(void)
{
    bool must = unlikely(pool.pl_state == POOL_ENDED) && sim_worker_available();
    if (must)
        pool.pl_state = POOL_STARTS;
    return must;
}

SIM_RARE static bool start(void)
{
    uint32_t started = 0;
    while (started < sim_config()->cf_workers &&
           sim_thread_start(&pool.pl_threads[started], work, &pool.pl_held[started]) == 0)
        started++;
    sim_lock(&pool.pl_lock);
    pool.pl_started = started;
    pool.pl_state = started != 0 ? POOL_RUNS : POOL_ENDED;
    sim_unlock(&pool.pl_lock);
    return started != 0;
}

/* With pl_lock held: raises the word of a worker, which then looks at the list. Returns the word if the caller has to
 * wake that worker, and NULL if it is awake, or was woken before. A worker that is about to sleep does not fall asleep,
 * because the kernel compares the word. */
static _Atomic uint32_t *someone_to_wake(void)
{
    if (!pool.pl_patrolled && pool.pl_deep == pool.pl_deep_woken)
        return NULL;
    _Atomic uint32_t *word = pool.pl_patrolled ? &pool.pl_tick_word : &pool.pl_deep_word;
    atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
    if (!pool.pl_patrolled) {
        pool.pl_deep_woken++;
        return word;
    }
    bool sleeps = pool.pl_tick_sleeps;
    pool.pl_tick_sleeps = false;
    return sleeps ? word : NULL;
}

static void append(struct list *list, struct sim_stream *stream)
{
    stream->st_next_ready = NULL;
    *(list->li_last != NULL ? &list->li_last->st_next_ready : &list->li_first) = stream;
    list->li_last = stream;
    list->li_count++;
}

/* Moves the streams of the other list to the end of this one. */
static void append_all(struct list *list, struct list *other)
{
    if (other->li_count == 0)
        return;
    *(list->li_last != NULL ? &list->li_last->st_next_ready : &list->li_first) = other->li_first;
    list->li_last = other->li_last;
    list->li_count += other->li_count;
    *other = (struct list){0};
}

/* With pl_lock held: to be called after each change of the list. */
static void note_ready(void)
{
    atomic_store_explicit(&pool.pl_ready, pool.pl_list.li_count, memory_order_relaxed);
}

/* With pl_lock held: takes the stream, which comes after `before`, or is the first one, out of the list. */
static void unlink_after(struct sim_stream *before, struct sim_stream *stream)
{
    *(before != NULL ? &before->st_next_ready : &pool.pl_list.li_first) = stream->st_next_ready;
    if (pool.pl_list.li_last == stream)
        pool.pl_list.li_last = before;
    pool.pl_list.li_count--;
    note_ready();
}

/* False if there are no workers, or the stream is kicked already. */
static bool mark_kicked(struct sim_stream *stream)
{
    return sim_worker_available() && atomic_exchange_explicit(&stream->st_kicked, 1, memory_order_relaxed) == 0;
}

void sim_worker_push(struct sim_stream *stream)
{
    bool kicks = unlikely(atomic_load_explicit(&stream->st_habit, memory_order_relaxed)) && mark_kicked(stream);
    sim_lock(&pool.pl_lock);
    append(&pool.pl_list, stream);
    note_ready();
    _Atomic uint32_t *word = pool.pl_patrolled && !kicks ? NULL : someone_to_wake();
    bool starts = must_start();
    sim_unlock(&pool.pl_lock);
    if (starts)
        (void)start(); /* if no thread starts, the next push tries again, and waiting hosts run the tasks */
    if (word != NULL)
        sim_futex_wake(word, 1);
}

struct sim_stream *sim_worker_pop(void)
{
    if (atomic_load_explicit(&pool.pl_ready, memory_order_relaxed) == 0)
        return NULL;
    sim_lock(&pool.pl_lock);
    struct sim_stream *stream = pool.pl_list.li_first;
    if (stream != NULL)
        unlink_after(NULL, stream);
    sim_unlock(&pool.pl_lock);
    return stream;
}

struct sim_stream *sim_worker_take(bool held)
{
    sim_lock(&pool.pl_lock);
    struct sim_stream *before = NULL, *stream = pool.pl_list.li_first;
    while (stream != NULL && !held && sim_stream_limit(stream) <= sim_gate_level(&stream->st_gate)) {
        before = stream;
        stream = stream->st_next_ready;
    }
    if (stream != NULL)
        unlink_after(before, stream);
    sim_unlock(&pool.pl_lock);
    return stream;
}

/* Wakes the patrolling worker early, or a deep sleeper when no worker patrols. */
static void hurry(void)
{
    sim_lock(&pool.pl_lock);
    _Atomic uint32_t *word = someone_to_wake();
    bool starts = must_start();
    sim_unlock(&pool.pl_lock);
    if (starts)
        (void)start();
    if (word != NULL)
        sim_futex_wake(word, 1);
}

void sim_worker_call(uint32_t count)
{
    sim_lock(&pool.pl_lock);
    bool patrolled = pool.pl_patrolled && count != 0;
    uint32_t deep = count - patrolled < pool.pl_deep ? count - patrolled : pool.pl_deep;
    if (patrolled)
        atomic_fetch_add_explicit(&pool.pl_tick_word, 1, memory_order_relaxed);
    if (deep != 0)
        atomic_fetch_add_explicit(&pool.pl_deep_word, 1, memory_order_relaxed);
    sim_unlock(&pool.pl_lock);
    if (patrolled)
        sim_futex_wake(&pool.pl_tick_word, 1);
    if (deep != 0)
        sim_futex_wake(&pool.pl_deep_word, (int)deep);
}

bool sim_worker_is_wanted(void)
{
    return atomic_load_explicit(&pool.pl_ready, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&pool.pl_stop, memory_order_relaxed);
}

void sim_worker_kick(struct sim_stream *stream)
{
    if (mark_kicked(stream))
        hurry();
}

/* ---- deadlines ---- */

static void add_timer(struct sim_stream *stream)
{
    sim_lock(&timers.tm_lock);
    if (!stream->st_timed) {
        stream->st_timed = true;
        stream->st_next_timed = timers.tm_first;
        timers.tm_first = stream;
        atomic_fetch_add_explicit(&timers.tm_count, 1, memory_order_release);
    }
    sim_unlock(&timers.tm_lock);
}

void sim_worker_add_timer(struct sim_stream *stream)
{
    add_timer(stream);
    hurry(); /* so that a deep sleeper takes the deadline into account */
}

/* Removes from the list the first stream whose deadline has come, which it returns, and every stream that no longer
 * waits for a deadline. *next is the earliest deadline of the others. */
static struct sim_stream *take_expired(uint64_t now, uint64_t *next)
{
    struct sim_stream *expired = NULL;
    *next = SIM_FOREVER;
    sim_lock(&timers.tm_lock);
    for (struct sim_stream **link = &timers.tm_first, *stream; (stream = *link) != NULL;) {
        sim_lock(&stream->st_gate.gt_lock);
        bool waits = stream->st_state == SIM_PARKED && stream->st_deadline != SIM_FOREVER;
        uint64_t deadline = stream->st_deadline;
        sim_unlock(&stream->st_gate.gt_lock);
        bool take = waits && deadline <= now && expired == NULL;
        if (waits && !take) {
            *next = deadline < *next ? deadline : *next;
            link = &stream->st_next_timed;
            continue;
        }
        *link = stream->st_next_timed;
        stream->st_timed = false;
        atomic_fetch_sub_explicit(&timers.tm_count, 1, memory_order_relaxed);
        if (take)
            expired = stream;
    }
    sim_unlock(&timers.tm_lock);
    return expired;
}

/* Ends the stream's wait. False: it has parked but not entered its gate yet, and stays in the list for the next
 * check. */
static bool expire(struct sim_stream *stream, uint64_t now)
{
    sim_lock(&stream->st_gate.gt_lock);
    bool waits = stream->st_state == SIM_PARKED && stream->st_deadline <= now;
    struct sim_gate *gate = stream->st_parked_at;
    sim_unlock(&stream->st_gate.gt_lock);
    if (!waits)
        return true;
    if (!sim_gate_leave(gate, &stream->st_waiter)) {
        add_timer(stream);
        return false;
    }
    /* Out of its gate, the stream is this thread's until it is resumed. It may have parked there again with another
     * deadline. */
    stream->st_expired = stream->st_deadline <= now;
    sim_engine_resume(stream);
    sim_engine_given_up();
    return true;
}

uint64_t sim_worker_run_timers(void)
{
    uint64_t next = SIM_FOREVER, look = sim_watcher_any() ? sim_watcher_next_look() : SIM_FOREVER;
    uint32_t most = atomic_load_explicit(&timers.tm_count, memory_order_acquire);
    if (likely(most == 0))
        return look;
    uint64_t now = sim_clock_now();
    bool again = false;
    for (struct sim_stream *stream; most-- != 0 && (stream = take_expired(now, &next)) != NULL;)
        again = !expire(stream, now) || again;
    if (again && next > now + TICK_NS)
        next = now + TICK_NS;
    return look < next ? look : next;
}

/* ---- workers ---- */

enum verdict { DROPPED, KEPT, WANTED, HELD };

/* What becomes of a stream that was taken out of the list: it leaves the list, goes back into it for another look, or
 * is to be run. Then the caller holds it if it `may` hold a stream. */
static enum verdict judge(struct sim_stream *stream, bool may)
{
    uint64_t level = sim_gate_level(&stream->st_gate);
    sim_lock(&stream->st_gate.gt_lock);
    bool kicked = atomic_load_explicit(&stream->st_kicked, memory_order_relaxed) != 0;
    enum verdict verdict = DROPPED;
    if (stream->st_state == SIM_READY) {
        bool wanted = kicked || stream->st_worker || stream->st_seen == level + 1;
        verdict = !wanted ? KEPT : may ? HELD : WANTED;
    }
    if (verdict == HELD) {
        stream->st_state = SIM_RUNNING;
        if (!kicked && !stream->st_worker)
            atomic_store_explicit(&stream->st_habit, 1, memory_order_relaxed);
    }
    if (verdict == HELD || verdict == DROPPED) {
        stream->st_listed = false;
        stream->st_seen = 0;
        atomic_store_explicit(&stream->st_kicked, 0, memory_order_relaxed);
    } else if (verdict == KEPT) {
        stream->st_seen = level + 1;
    }
    sim_unlock(&stream->st_gate.gt_lock);
    return verdict;
}

static void stop_patrolling(bool *patrols)
{
    if (!*patrols)
        return;
    *patrols = false;
    sim_lock(&pool.pl_lock);
    pool.pl_patrolled = false;
    sim_unlock(&pool.pl_lock);
}

/* Takes the first stream out of the list, which the worker may hold, or all of them. None while the threads end. */
static struct list take(struct sim_stream *_Atomic *held, bool all)
{
    struct list taken = {0};
    sim_lock(&pool.pl_lock);
    if (!atomic_load_explicit(&pool.pl_stop, memory_order_relaxed) && pool.pl_list.li_first != NULL) {
        struct sim_stream *stream = pool.pl_list.li_first;
        if (all) {
            append_all(&taken, &pool.pl_list);
            note_ready();
        } else {
            unlink_after(NULL, stream);
            append(&taken, stream);
            atomic_store_explicit(held, stream, memory_order_relaxed);
        }
    }
    sim_unlock(&pool.pl_lock);
    return taken;
}

/* Puts the streams at which the worker has not looked back to the start of the list, and the others to its end. */
static void put_back(struct list *taken, struct list *kept)
{
    if (taken->li_count == 0 && kept->li_count == 0)
        return;
    sim_lock(&pool.pl_lock);
    append_all(taken, &pool.pl_list);
    append_all(taken, kept);
    pool.pl_list = *taken;
    note_ready();
    sim_unlock(&pool.pl_lock);
}

/* Looks at one stream of the list, or at all, at `*most` at most. Returns the stream that this worker holds now, or
 * NULL. *verdict: on the last one. *grace: some stay in the list for another look. */
static struct sim_stream *look(struct sim_stream *_Atomic *held, bool all, uint32_t *most, enum verdict *verdict,
                               bool *grace)
{
    struct list taken = take(held, all), kept = {0};
    struct sim_stream *stream = NULL;
    *verdict = DROPPED;
    while (*most != 0 && taken.li_count != 0 && *verdict != HELD) {
        stream = taken.li_first;
        struct sim_stream *next = stream->st_next_ready; /* a host may list a stream again as soon as it is dropped */
        *verdict = judge(stream, !all);
        if (*verdict == WANTED)
            break;
        if (*verdict == KEPT)
            append(&kept, stream);
        taken.li_first = next;
        if (--taken.li_count == 0)
            taken.li_last = NULL;
        --*most;
    }
    *grace = *grace || kept.li_count != 0;
    put_back(&taken, &kept);
    return *verdict == HELD ? stream : NULL;
}

/* Looks once at every stream that is in the list now. It takes the streams to be run one by one, so that other workers
 * can take the next one. It takes the list as a whole while no stream is to be run: to take the lock for each of
 * thousands of streams would slow down the host that submits to them. */
static bool look_at_list(struct sim_stream *_Atomic *held, bool *patrols, bool *grace)
{
    bool ran = false, all = false;
    enum verdict verdict = DROPPED;
    for (uint32_t most = atomic_load_explicit(&pool.pl_ready, memory_order_relaxed); most != 0;) {
        struct sim_stream *stream = look(held, all, &most, &verdict, grace);
        if (stream != NULL) {
            stop_patrolling(patrols);
            if (atomic_load_explicit(&pool.pl_ready, memory_order_relaxed) != 0)
                hurry(); /* another worker takes over, because this one is busy now */
            sim_engine_run(stream, UINT64_MAX, SIM_WORKER, QUANTUM);
            ran = true;
        }
        atomic_store_explicit(held, NULL, memory_order_relaxed);
        if (all && verdict != WANTED)
            break;
        all = verdict == DROPPED || verdict == KEPT;
    }
    return ran;
}

/* Runs pieces of a kernel that another thread has begun. A push meanwhile wakes a worker that sleeps; if there is none,
 * this one sees it after its piece. */
static bool help_split(struct sim_stream *_Atomic *held, bool *patrols)
{
    if (!sim_split_is_offered())
        return false;
    stop_patrolling(patrols);
    return sim_split_help((uint32_t)(held - pool.pl_held) + 1); /* seat 0 is that of the thread that has begun */
}

static bool start_patrolling(bool *patrols)
{
    sim_lock(&pool.pl_lock);
    if (!*patrols && !pool.pl_patrolled)
        *patrols = pool.pl_patrolled = true;
    pool.pl_tick_sleeps = pool.pl_tick_sleeps || *patrols;
    sim_unlock(&pool.pl_lock);
    return *patrols;
}

/* Sleeps until a push, an offer or a deadline, unless one of the first two came before. Reads the deadlines after
 * this worker counts as asleep, so that a thread that adds one later wakes it. */
static void sleep_deeply(void)
{
    sim_lock(&pool.pl_lock);
    uint32_t seen = atomic_load_explicit(&pool.pl_deep_word, memory_order_relaxed);
    bool work = (pool.pl_list.li_first != NULL && !pool.pl_patrolled) || sim_split_is_offered();
    pool.pl_deep += !work;
    sim_unlock(&pool.pl_lock);
    if (work)
        return;
    if (!atomic_load_explicit(&pool.pl_stop, memory_order_acquire))
        sim_futex_wait(&pool.pl_deep_word, seen, sim_clock_left(sim_worker_run_timers()));
    sim_lock(&pool.pl_lock);
    pool.pl_deep--;
    pool.pl_deep_woken -= pool.pl_deep_woken != 0;
    sim_unlock(&pool.pl_lock);
}

static void *work(void *held)
{
    bool patrols = false;
    uint32_t idle = 0, doublings = 0;
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_NAME, "acl-worker");
    while (!atomic_load_explicit(&pool.pl_stop, memory_order_acquire)) {
        uint64_t deadline = sim_worker_run_timers();
        uint32_t seen = atomic_load_explicit(&pool.pl_tick_word, memory_order_acquire);
        bool grace = false;
        bool ran = look_at_list(held, &patrols, &grace);
        ran = ran || (!grace && help_split(held, &patrols));
        if (ran || grace)
            idle = doublings = 0;
        if (ran)
            continue;
        if (start_patrolling(&patrols) && idle++ < IDLE_TICKS) {
            uint64_t tick = (uint64_t)TICK_NS << doublings, left = sim_clock_left(deadline);
            doublings += doublings < TICK_DOUBLINGS;
            sim_futex_wait(&pool.pl_tick_word, seen, tick < left ? tick : left);
            continue;
        }
        if (patrols) {
            stop_patrolling(&patrols);
            sim_memory_trim();
        }
        sleep_deeply();
        idle = doublings = 0;
    }
    stop_patrolling(&patrols);
    return NULL;
}

int sim_worker_start(void)
{
    if (sim_config()->cf_schedule != SIM_PARALLEL || sim_worker_available())
        return 0;
    atomic_store(&sim_worker_serves, true);
    sim_lock(&pool.pl_lock);
    bool starts = must_start();
    sim_unlock(&pool.pl_lock);
    bool failed = starts && !start();
    if (failed)
        atomic_store(&sim_worker_serves, false);
    return failed ? -1 : 0;
}

/* With pl_lock held: true when a thread runs a stream with tasks left, which may take any time. A stream without tasks
 * is about to be released. */
static bool is_busy(void)
{
    for (uint32_t i = 0; i < pool.pl_started; i++) {
        struct sim_stream *stream = atomic_load_explicit(&pool.pl_held[i], memory_order_relaxed);
        if (stream != NULL && sim_gate_level(&stream->st_gate) < sim_stream_tail(stream))
            return true;
    }
    return false;
}

/* Ends the threads after their current tasks; with `idle` only if no thread runs a task. Returns false if no thread has
 * to be ended. */
static bool end(bool idle)
{
    sim_lock(&pool.pl_lock);
    bool ends = pool.pl_state == POOL_RUNS && !(idle && is_busy());
    if (ends) {
        pool.pl_state = POOL_ENDS;
        atomic_store_explicit(&pool.pl_stop, true, memory_order_release);
        atomic_fetch_add(&pool.pl_deep_word, 1);
        atomic_fetch_add(&pool.pl_tick_word, 1);
    }
    sim_unlock(&pool.pl_lock);
    if (!ends)
        return false;
    sim_futex_wake(&pool.pl_deep_word, SIM_WORKERS_MAX);
    sim_futex_wake(&pool.pl_tick_word, SIM_WORKERS_MAX);
    for (uint32_t i = 0; i < pool.pl_started; i++)
        pthread_join(pool.pl_threads[i], NULL);
    sim_lock(&pool.pl_lock);
    atomic_store_explicit(&pool.pl_stop, false, memory_order_relaxed);
    pool.pl_state = POOL_ENDED;
    sim_unlock(&pool.pl_lock);
    return true;
}

void sim_worker_rest(void)
{
    if (sim_thread.th_depth != 0 || !end(true)) /* this thread runs a task: it may be a worker */
        return;
    uint32_t count = atomic_load_explicit(&pool.pl_ready, memory_order_relaxed);
    for (struct sim_stream *stream; count-- != 0 && (stream = sim_worker_pop()) != NULL;) {
        sim_lock(&stream->st_gate.gt_lock);
        stream->st_listed = stream->st_state == SIM_READY;
        bool ready = stream->st_listed;
        sim_unlock(&stream->st_gate.gt_lock);
        if (ready)
            sim_worker_push(stream);
    }
    if (sim_worker_run_timers() != SIM_FOREVER)
        hurry();
}

void sim_worker_stop(void)
{
    atomic_store(&sim_worker_serves, false);
    (void)end(false);
    for (struct sim_stream *stream; (stream = sim_worker_pop()) != NULL;) /* stale entries of idle streams */
        stream->st_listed = false;
}

void sim_worker_after_fork(void)
{
    sim_split_after_fork();
    memset(&pool, 0, sizeof pool);
    atomic_store(&sim_worker_serves, false);
    memset(&timers, 0, sizeof timers);
}
