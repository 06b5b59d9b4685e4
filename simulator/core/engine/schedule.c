/* The schedules `lazy`, `random:<seed>` and `replay:<file>`: where each stream is held back, and until when.
 *
 * For each queued task the schedule decides whether its stream is held back there: `lazy` does so for every stream
 * that is not held back already, `random` by chance, and `replay` as its file says. A stream that is held back
 * continues when the schedule releases it, which only happens when a task is queued, or as far as a waiting host needs
 * it. Then its next hold counts. A hold that a host has passed ends with the next task of its stream. A schedule is
 * therefore a list of holds, each of which may be left out: so `ascendcl explore` makes it shorter.
 *
 * The file of `replay` is read when a device opens. The lists of the streams, the chances and the counts are guarded
 * by `lock`. A replay of an instance chooses with its own lock held; the log's lock is taken inside.
 *
 * A program that never waits, but sleeps or reads memory until something changes, needs a thread that runs what is
 * held back: the patrol. Every second it looks whether anything has changed, and if not, it runs whatever is ready. The
 * first task starts it; its start and its end are guarded by `lock`, too. */
#include "schedule.h"
#include "base/config.h"
#include "base/thread.h"
#include "engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define STREAMS 65536u
#define PATIENCE 8 /* polls in vain before a host runs tasks */
#define PATROL_NS UINT64_C(1000000000)
#define CERTAIN 256u /* chances are in parts of this */

/* A task at which a stream is held back. */
struct hold {
    struct hold *ho_next; /* of the same stream */
    uint64_t ho_ticket;
    struct sim_position ho_at, ho_until; /* the second one is known in a replay only; its stream is 0: never */
};

struct held {
    struct hold *hd_first, *hd_last;
    struct sim_stream *hd_next; /* in the list of streams that have holds, or had one when it was walked last */
    bool hd_is_listed;
    uint32_t hd_number;         /* the stream's, for which the chance was drawn */
    uint32_t hd_chance;         /* random: that a task is held back */
    uint32_t hd_polls;          /* since its newest task */
};

static struct sim_lock lock;
static struct held held[STREAMS];
static struct sim_stream *first_held;
static uint64_t random_state, choices;
static uint32_t release_chance;
static bool is_open;

/* What a replay's file says: holds, sorted by their places, and choices, by their numbers. */
struct pick {
    uint64_t pi_choice;
    uint32_t pi_index;
};
static struct {
    struct hold *sc_holds;
    struct pick *sc_picks;
    size_t sc_hold_count, sc_pick_count;
} script;

static struct {
    pthread_t pa_thread;
    _Atomic uint32_t pa_stop;
    bool pa_runs, pa_busy;
} patrol;

static struct held *held_of(const struct sim_stream *stream)
{
    return &held[stream->st_slot.sl_index % STREAMS];
}

/* ---- chances ---- */

/* SplitMix64. With the lock held. */
static uint64_t draw(uint64_t below)
{
    uint64_t mixed = random_state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ mixed >> 31) % below;
}

/* A mistake often needs one stream that is always late, and another one that never is: so streams differ. */
static uint32_t draw_hold_chance(void)
{
    static const uint32_t chances[] = {0, 0, CERTAIN, CERTAIN, CERTAIN / 2, CERTAIN / 4, CERTAIN / 16};
    return chances[draw(sizeof chances / sizeof *chances)];
}

static uint32_t draw_release_chance(void)
{
    static const uint32_t chances[] = {0, CERTAIN / 16, CERTAIN / 4, CERTAIN / 2};
    return chances[draw(sizeof chances / sizeof *chances)];
}

/* ---- the file of a replay ---- */

static int compare_positions(const void *left, const void *right)
{
    const struct sim_position *one = &((const struct hold *)left)->ho_at, *other = &((const struct hold *)right)->ho_at;
    if (one->po_stream != other->po_stream)
        return one->po_stream < other->po_stream ? -1 : 1;
    return one->po_task < other->po_task ? -1 : one->po_task > other->po_task;
}

static int compare_picks(const void *left, const void *right)
{
    uint64_t one = ((const struct pick *)left)->pi_choice, other = ((const struct pick *)right)->pi_choice;
    return one < other ? -1 : one > other;
}

/* Makes room for one more element of `size` bytes in an array with `count`. False without memory. */
static bool grow(void *array, size_t count, size_t size)
{
    void **elements = array;
    if ((count & (count - 1)) != 0)
        return true;
    void *larger = realloc(*elements, (count == 0 ? 1 : 2 * count) * size);
    if (larger != NULL)
        *elements = larger;
    return larger != NULL;
}

/* Reads one line into the script. False for a line that is not one of a log. */
static bool read_line(const char *line)
{
    static const char *const others[] = {"#", "run ", "step ", "refuse ", "failed ", "hash ", "\n"};
    struct hold hold = {.ho_next = NULL};
    struct pick pick;
    int count = sscanf(line, "hold %" SCNu32 "#%" SCNu64 " until %" SCNu32 "#%" SCNu64, &hold.ho_at.po_stream,
                       &hold.ho_at.po_task, &hold.ho_until.po_stream, &hold.ho_until.po_task);
    if (count == 2 || count == 4) {
        if (!grow(&script.sc_holds, script.sc_hold_count, sizeof hold))
            return false;
        script.sc_holds[script.sc_hold_count++] = hold;
        return true;
    }
    if (sscanf(line, "pick %" SCNu64 " %" SCNu32, &pick.pi_choice, &pick.pi_index) == 2) {
        if (!grow(&script.sc_picks, script.sc_pick_count, sizeof pick))
            return false;
        script.sc_picks[script.sc_pick_count++] = pick;
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(line, others[i], strlen(others[i])) == 0)
            return true;
    return false;
}

static void forget_script(void)
{
    free(script.sc_holds);
    free(script.sc_picks);
    memset(&script, 0, sizeof script);
}

/* Sorts the holds, and makes one of those of the same place: the log has it again when it is released. */
static void settle_script(void)
{
    size_t count = 0;
    if (script.sc_hold_count != 0)
        qsort(script.sc_holds, script.sc_hold_count, sizeof *script.sc_holds, compare_positions);
    for (size_t i = 0; i < script.sc_hold_count; i++) {
        struct hold *next = &script.sc_holds[i];
        if (count == 0 || compare_positions(next, &script.sc_holds[count - 1]) != 0)
            script.sc_holds[count++] = *next;
        else if (next->ho_until.po_stream != 0)
            script.sc_holds[count - 1].ho_until = next->ho_until;
    }
    script.sc_hold_count = count;
    if (script.sc_pick_count != 0)
        qsort(script.sc_picks, script.sc_pick_count, sizeof *script.sc_picks, compare_picks);
}

static bool read_script(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool good = fgets(line, sizeof line, file) != NULL && strncmp(line, "# acl schedule 1", 16) == 0;
    while (good && fgets(line, sizeof line, file) != NULL)
        good = read_line(line);
    good = ferror(file) == 0 && good;
    fclose(file);
    settle_script();
    return good;
}

bool sim_schedule_is_log(const char *path)
{
    sim_lock(&lock);
    bool was_open = is_open, good = !was_open && read_script(path);
    if (!was_open)
        forget_script();
    sim_unlock(&lock);
    return good;
}

/* ---- deciding ---- */

/* With the lock held, as the functions below: the stream runs by itself up to its first hold. */
static void set_limit(struct sim_stream *stream)
{
    struct hold *first = held_of(stream)->hd_first;
    atomic_store_explicit(&stream->st_held, first != NULL ? first->ho_ticket : 0, memory_order_relaxed);
}

/* Ends the first hold of a stream. The list of streams is left as it is. */
static void end_hold(struct sim_stream *stream)
{
    struct held *all = held_of(stream);
    struct hold *first = all->hd_first;
    all->hd_first = first->ho_next;
    free(first);
    set_limit(stream);
}

static void add_hold(struct sim_stream *stream, uint64_t ticket, struct sim_position at, struct sim_position until)
{
    struct held *all = held_of(stream);
    struct hold *fresh = malloc(sizeof *fresh);
    if (fresh == NULL)
        return;
    *fresh = (struct hold){.ho_ticket = ticket, .ho_at = at, .ho_until = until};
    if (all->hd_first == NULL)
        all->hd_first = fresh;
    else
        all->hd_last->ho_next = fresh;
    all->hd_last = fresh;
    if (!all->hd_is_listed) {
        all->hd_is_listed = true;
        all->hd_next = first_held;
        first_held = stream;
    }
    set_limit(stream);
    sim_schedule_log_hold(at, until.po_stream != 0 ? &until : NULL);
}

/* Whether the stream is held back at this task, and until which other one. */
static bool is_to_be_held(const struct held *all, struct sim_position at, struct sim_position *until)
{
    enum sim_schedule schedule = sim_config()->cf_schedule;
    if (schedule == SIM_LAZY)
        return all->hd_first == NULL;
    if (schedule == SIM_RANDOM)
        return draw(CERTAIN) < all->hd_chance;
    const struct hold wanted = {.ho_at = at};
    const struct hold *found = script.sc_hold_count == 0 ? NULL
                                                         : bsearch(&wanted, script.sc_holds, script.sc_hold_count,
                                                                   sizeof wanted, compare_positions);
    if (found != NULL)
        *until = found->ho_until;
    return found != NULL;
}

static bool is_to_be_released(const struct hold *hold, struct sim_position now)
{
    switch (sim_config()->cf_schedule) {
    case SIM_RANDOM:
        return draw(CERTAIN) < release_chance;
    case SIM_REPLAY:
        return hold->ho_until.po_stream == now.po_stream && hold->ho_until.po_task == now.po_task;
    default:
        return false;
    }
}

/* Ends holds because this task was queued; leaves streams without holds out of the list. */
static bool release(struct sim_position now)
{
    bool released = false;
    for (struct sim_stream **link = &first_held, *stream; (stream = *link) != NULL;) {
        struct held *all = held_of(stream);
        struct hold *first = all->hd_first;
        if (first != NULL && is_to_be_released(first, now)) {
            sim_schedule_log_hold(first->ho_at, &now);
            end_hold(stream);
            released = true;
        }
        all->hd_is_listed = all->hd_first != NULL;
        if (all->hd_is_listed)
            link = &all->hd_next;
        else
            *link = all->hd_next;
    }
    return released;
}

static void start_patrol(void);

static bool decide(struct sim_stream *stream, uint64_t ticket)
{
    struct sim_position now = sim_schedule_position(stream, ticket), until = {0, 0};
    struct held *all = held_of(stream);
    sim_lock(&lock);
    if (!patrol.pa_runs)
        start_patrol();
    if (all->hd_number != now.po_stream) {
        all->hd_number = now.po_stream;
        all->hd_chance = draw_hold_chance();
    }
    all->hd_polls = 0;
    while (all->hd_first != NULL && all->hd_first->ho_ticket <= sim_gate_level(&stream->st_gate))
        end_hold(stream); /* a host has passed it */
    bool released = release(now);
    if (is_to_be_held(all, now, &until))
        add_hold(stream, ticket, now, until);
    sim_unlock(&lock);
    return released;
}

static uint32_t poll(struct sim_stream *stream)
{
    sim_lock(&lock);
    uint32_t polls = ++held_of(stream)->hd_polls;
    sim_unlock(&lock);
    return polls > PATIENCE ? polls - PATIENCE : 0;
}

static uint32_t choose(uint32_t count)
{
    sim_lock(&lock);
    uint64_t choice = ++choices;
    uint32_t index = count - 1;
    if (sim_config()->cf_schedule == SIM_LAZY)
        index = 0;
    else if (sim_config()->cf_schedule == SIM_RANDOM)
        index = (uint32_t)draw(count);
    else if (script.sc_pick_count != 0) {
        const struct pick wanted = {choice, 0};
        const struct pick *found =
            bsearch(&wanted, script.sc_picks, script.sc_pick_count, sizeof wanted, compare_picks);
        index = found != NULL && found->pi_index < count ? found->pi_index : index;
    }
    sim_unlock(&lock);
    if (index != count - 1)
        sim_schedule_log_pick(choice, index);
    return index;
}

static const struct sim_scheduler scheduler = {.sd_submit = decide, .sd_poll = poll, .sd_choose = choose};

/* ---- the patrol ---- */

/* The number of tasks queued and finished so far. False while a thread runs a stream, or no stream is ready. */
static bool look_around(uint64_t *sum)
{
    bool ready = false;
    uint32_t count = atomic_load_explicit(&sim_streams.tb_count, memory_order_acquire);
    *sum = 0;
    for (uint32_t index = 1; index < count; index++) {
        struct sim_stream *stream = sim_stream_at(index);
        sim_lock(&stream->st_gate.gt_lock);
        enum sim_stream_state state = stream->st_state;
        *sum += sim_stream_tail(stream) + sim_gate_level(&stream->st_gate);
        sim_unlock(&stream->st_gate.gt_lock);
        if (state == SIM_RUNNING)
            return false;
        ready = ready || state == SIM_READY;
    }
    return ready;
}

static void set_busy(bool busy)
{
    sim_lock(&lock);
    patrol.pa_busy = busy;
    sim_unlock(&lock);
}

static void *walk(void *unused)
{
    uint64_t seen = UINT64_MAX, sum;
    (void)unused;
    prctl(PR_SET_NAME, "acl-patrol");
    while (atomic_load_explicit(&patrol.pa_stop, memory_order_acquire) == 0) {
        sim_futex_wait(&patrol.pa_stop, 0, PATROL_NS);
        sim_worker_run_timers();
        bool waits = look_around(&sum);
        set_busy(waits && sum == seen);
        while (waits && sum == seen && atomic_load(&patrol.pa_stop) == 0 && sim_engine_run_any(1))
            continue;
        set_busy(false);
        seen = waits ? sum : UINT64_MAX;
    }
    return NULL;
}

/* With the lock held. Without a thread, a program that never waits makes no progress, and others do. */
static void start_patrol(void)
{
    atomic_store(&patrol.pa_stop, 0);
    patrol.pa_runs = sim_thread_start(&patrol.pa_thread, walk, NULL) == 0;
}

/* Ends the patrol; with `idle` only if it runs no task. */
static void end_patrol(bool idle)
{
    sim_lock(&lock);
    bool ends = patrol.pa_runs && !(idle && patrol.pa_busy);
    pthread_t thread = patrol.pa_thread;
    if (ends)
        patrol.pa_runs = false;
    atomic_store(&patrol.pa_stop, ends);
    sim_unlock(&lock);
    if (!ends)
        return;
    sim_futex_wake(&patrol.pa_stop, 1);
    pthread_join(thread, NULL);
}

/* ---- life cycle ---- */

/* With the lock held. */
static void forget_holds(void)
{
    for (struct sim_stream *stream = first_held; stream != NULL; stream = held_of(stream)->hd_next)
        while (held_of(stream)->hd_first != NULL)
            end_hold(stream);
    first_held = NULL;
    memset(held, 0, atomic_load(&sim_streams.tb_count) * sizeof *held);
    forget_script();
}

static void begin(void)
{
    const struct sim_config *config = sim_config();
    char schedule[512];
    random_state = config->cf_seed;
    choices = 0;
    release_chance = draw_release_chance();
    if (config->cf_schedule == SIM_REPLAY && sim_config_get("schedule", schedule, sizeof schedule) == ACL_SUCCESS)
        (void)read_script(strchr(schedule, ':') + 1); /* it was checked when the setting was read */
    atomic_store_explicit(&sim_engine_scheduler, &scheduler, memory_order_release);
}

int sim_schedule_open(void)
{
    sim_lock(&lock);
    bool first = !is_open;
    is_open = true;
    if (first && sim_config()->cf_schedule >= SIM_LAZY)
        begin();
    sim_unlock(&lock);
    if (first)
        sim_schedule_log_open();
    return 0;
}

void sim_schedule_finalize(void)
{
    end_patrol(true);
}

void sim_schedule_devices_closed(void)
{
    end_patrol(false);
}

void sim_schedule_reset(void)
{
    atomic_store_explicit(&sim_engine_scheduler, NULL, memory_order_release);
    sim_schedule_log_close();
    sim_schedule_log_rename();
    sim_lock(&lock);
    forget_holds();
    is_open = false;
    sim_unlock(&lock);
}

void sim_schedule_after_fork(void)
{
    sim_lock_renew(&lock);
    atomic_store_explicit(&sim_engine_scheduler, NULL, memory_order_release);
    sim_schedule_log_after_fork();
    first_held = NULL; /* the parent may have been changing its lists */
    if (is_open)
        memset(held, 0, sizeof held);
    memset(&script, 0, sizeof script);
    memset(&patrol, 0, sizeof patrol);
    is_open = false;
}
