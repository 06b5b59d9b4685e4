/* One kernel on several threads (split.h). As many threads take part as there are workers, the calling one among them,
 * so that a worker is left for streams while a host thread computes.
 *
 * The calling thread runs the first piece and sees how long it takes. If the others would take longer than waking a
 * thread, it offers them: a job in a list, from which idle workers take pieces. It takes pieces itself until none are
 * left, removes the job from the list, and waits for the workers that still run a piece. Thus it never waits for a
 * worker that is busy or late, and a job that no worker notices only takes longer.
 *
 * A job is on the stack of the calling thread. `lock`, a leaf, guards the list and the entry of a worker into a job; a
 * worker that has left does not touch the job again. jb_next and jb_helpers change without the lock: a piece belongs to
 * the thread whose addition returned its number, and the release in leave(), paired with the acquire in await(), makes
 * the results of a worker visible to the calling thread. */
#include "split.h"

#include "base/clock.h"
#include "base/config.h"
#include "engine.h"
#include <sched.h>

#define WAKE_NS (100 * 1000) /* a sleeping thread needs this long to start, when its CPU sleeps, too */
#define SPIN_NS 10000  /* the calling thread spins this long for the last pieces; they are short */

struct job {
    sim_split_func *jb_function;
    void *jb_argument;
    size_t jb_count, jb_grain, jb_pieces;
    uint32_t jb_most;            /* workers that may help at a time */
    struct job *jb_following;
    _Alignas(SIM_LINE) _Atomic size_t jb_next; /* the first piece that no thread has taken */
    _Atomic uint32_t jb_helpers; /* workers that run pieces */
};

static struct sim_lock lock;
static struct job *first_job; /* guarded by the lock */
static _Atomic uint32_t offers; /* length of the list, written under the lock, and read without it as a hint */

/* ---- running pieces ---- */

/* Runs the next piece. False if none is left. */
static bool run_piece(struct job *job, uint32_t seat)
{
    size_t piece = atomic_fetch_add_explicit(&job->jb_next, 1, memory_order_relaxed);
    if (piece >= job->jb_pieces)
        return false;
    size_t first = piece * job->jb_grain, left = job->jb_count - first;
    job->jb_function(job->jb_argument, first, first + (left < job->jb_grain ? left : job->jb_grain), seat);
    return true;
}

/* ---- the worker's side ---- */

/* With the lock held: a job that has pieces left and may have another helper, or NULL. */
static struct job *find_job(void)
{
    struct job *job = first_job;
    while (job != NULL && !(atomic_load_explicit(&job->jb_next, memory_order_relaxed) < job->jb_pieces &&
                            atomic_load_explicit(&job->jb_helpers, memory_order_relaxed) < job->jb_most))
        job = job->jb_following;
    return job;
}

bool sim_split_is_offered(void)
{
    if (likely(atomic_load_explicit(&offers, memory_order_relaxed) == 0))
        return false;
    sim_lock(&lock);
    bool offered = find_job() != NULL;
    sim_unlock(&lock);
    return offered;
}

static struct job *enter(void)
{
    sim_lock(&lock);
    struct job *job = find_job();
    if (job != NULL)
        atomic_fetch_add_explicit(&job->jb_helpers, 1, memory_order_relaxed);
    sim_unlock(&lock);
    return job;
}

static void leave(struct job *job)
{
    _Atomic uint32_t *word = &job->jb_helpers;
    if (atomic_fetch_sub_explicit(word, 1, memory_order_release) == 1)
        sim_futex_wake(word, 1); /* only the address is used: the job may be gone */
}

bool sim_split_help(uint32_t seat)
{
    struct job *job = enter();
    if (job == NULL)
        return false;
    while (!sim_worker_is_wanted() && run_piece(job, seat))
        ;
    leave(job);
    return true;
}

/* ---- the calling thread's side ---- */

static uint32_t helpers_at_most(void)
{
    return sim_worker_available() ? sim_config()->cf_workers - 1 : 0;
}

uint32_t sim_split_seats(size_t count, size_t grain)
{
    return count > grain && sim_worker_available() ? sim_config()->cf_workers + 1 : 1;
}

static void offer(struct job *job)
{
    size_t left = job->jb_pieces - 1; /* the calling thread has run one, and runs another */
    sim_lock(&lock);
    job->jb_following = first_job;
    first_job = job;
    atomic_fetch_add_explicit(&offers, 1, memory_order_relaxed);
    sim_unlock(&lock);
    sim_worker_call(left - 1 < job->jb_most ? (uint32_t)(left - 1) : job->jb_most);
}

static void take_back(struct job *job)
{
    struct job **link = &first_job;
    sim_lock(&lock);
    while (*link != job)
        link = &(*link)->jb_following;
    *link = job->jb_following;
    atomic_fetch_sub_explicit(&offers, 1, memory_order_relaxed);
    sim_unlock(&lock);
}

/* Waits until the last worker has left, which needs at most the time of one piece. */
static void await(struct job *job)
{
    uint32_t left;
    const uint64_t until = sim_clock_now() + SPIN_NS;
    for (int turn = 1; (left = atomic_load_explicit(&job->jb_helpers, memory_order_acquire)) != 0; turn++) {
        if (turn % 64 == 0)
            sched_yield(); /* the worker may need this CPU */
        if (turn % 16 == 0 && sim_clock_now() >= until)
            sim_futex_wait(&job->jb_helpers, left, SIM_FOREVER);
    }
}

void sim_split_run(size_t count, size_t grain, sim_split_func *function, void *argument)
{
    const uint32_t most = count > grain ? helpers_at_most() : 0;
    struct job job = {.jb_function = function, .jb_argument = argument, .jb_count = count, .jb_grain = grain,
                      .jb_pieces = count / grain + (count % grain != 0), .jb_most = most};
    const uint64_t begun = most != 0 ? sim_clock_now() : 0;
    if (!run_piece(&job, 0))
        return;
    bool offered = job.jb_pieces > 2 && most != 0 && sim_clock_now() - begun >= WAKE_NS / (job.jb_pieces - 1);
    if (offered)
        offer(&job);
    while (run_piece(&job, 0))
        ;
    if (!offered)
        return;
    take_back(&job);
    await(&job);
}

void sim_split_after_fork(void)
{
    sim_lock_renew(&lock);
    first_job = NULL;
    atomic_store_explicit(&offers, 0, memory_order_relaxed);
}
