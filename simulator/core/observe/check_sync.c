/* Design notes
 *
 * Finds changes of host memory that the program makes without the simulator's knowledge: of the source of an
 * asynchronous copy before the copy has read it, and of the destination before the copy has written it. A checksum of
 * the bytes at submission is compared with one when the copy starts and, of a source, with one when it has ended. Of
 * more than SAMPLED bytes only that many are read, spread evenly.
 *
 * A change is a finding only if nothing but the host can have made it without an order. So a copy is not compared if,
 * at its submission, there is unfinished work that may write the memory (another copy, an operator), that runs code of
 * the program (a callback, a kernel), or that waits for something which the program may do after it has written
 * (a value, a notify, an external event). Nor is it compared any more once another stream gets work that may write the
 * memory: that would be a race. Each such task is kept with its stream and ticket until the stream's counter has passed
 * the ticket; streams are in memory that is never freed, and count on when they are reused.
 *
 * `lock` guards everything here. It is taken with the lock of a stream held; under it only the locks of check.c and
 * check_block.c are taken. */
#include "check_sync.h"
#include "address/memory.h"
#include "check.h"
#include "engine/stream.h"
#include "engine/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 1024
#define BUCKETS 256u
#define SAMPLED (UINT64_C(1) << 20)
#define PIECE 4096u

/* A side of a copy in host memory: rows of bytes. */
struct side {
    const unsigned char *sd_start;
    uint64_t sd_width, sd_height, sd_pitch;
    uint32_t sd_birth;
    bool sd_write;
};

/* A queued task that is compared, or that may order or change what others compare. */
struct queued {
    struct queued *qu_next; /* in its bucket, or among the unused ones */
    struct sim_stream *qu_stream;
    uint64_t qu_ticket;
    bool qu_bars;     /* nothing is compared that is submitted while this is queued */
    bool qu_compared;
    struct side qu_side; /* sd_start NULL: no host memory */
    uint64_t qu_sum;
};

static struct sim_lock lock;
static struct queued all[KEPT], *unused, *buckets[BUCKETS];
static uint32_t made;    /* of `all` */
static uint32_t barring; /* kept tasks with qu_bars */
static uint32_t kept;
static bool lost;        /* a task was not kept: nothing is compared until none is queued */

static struct queued **bucket_of(const struct sim_stream *stream, uint64_t ticket)
{
    return &buckets[((uintptr_t)stream / SIM_LINE + ticket) % BUCKETS];
}

static bool is_over(const struct queued *queued)
{
    return sim_gate_level(&queued->qu_stream->st_gate) >= queued->qu_ticket;
}

static void drop(struct queued **link)
{
    struct queued *queued = *link;
    *link = queued->qu_next;
    barring -= queued->qu_bars;
    kept--;
    queued->qu_next = unused;
    unused = queued;
}

static void sweep(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct queued **link = &buckets[i]; *link != NULL;) {
            if (is_over(*link))
                drop(link);
            else
                link = &(*link)->qu_next;
        }
    lost = lost && kept != 0;
}

/* ---- checksums ---- */

#define LANES 4 /* that the processor multiplies at the same time */

static uint64_t add_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static uint64_t add_bytes(uint64_t sum, const unsigned char *bytes, uint64_t size)
{
    uint64_t lanes[LANES] = {sum, 1, 2, 3}, words[LANES];
    for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < LANES; i++)
            lanes[i] = add_word(lanes[i], words[i]);
    }
    for (int i = 1; i < LANES; i++)
        lanes[0] = add_word(lanes[0], lanes[i]);
    for (; size != 0; size--)
        lanes[0] = add_word(lanes[0], *bytes++);
    return lanes[0];
}

/* The program may write the bytes meanwhile; then the checksum is of any mixture, which differs from the first. */
__attribute__((no_sanitize("thread"))) static uint64_t checksum(const struct side *side)
{
    uint64_t sum = 1, total = side->sd_width * side->sd_height;
    uint64_t pieces = total > SAMPLED ? SAMPLED / PIECE : 0;
    if (pieces == 0) {
        for (uint64_t row = 0; row < side->sd_height; row++)
            sum = add_bytes(sum, side->sd_start + row * side->sd_pitch, side->sd_width);
        return sum;
    }
    for (uint64_t i = 0; i < pieces; i++) {
        uint64_t at = (total - PIECE) / (pieces - 1) * i, row = at / side->sd_width, into = at % side->sd_width;
        uint64_t rest = side->sd_width - into;
        sum = add_bytes(sum, side->sd_start + row * side->sd_pitch + into, rest < PIECE ? rest : PIECE);
    }
    return sum;
}

/* ---- tasks ---- */

static bool bars(const struct sim_op *op)
{
    switch (op->op_kind) {
    case SIM_TASK_CUBE:
    case SIM_TASK_VECTOR:
        return op->op_footprints == NULL; /* operators declare what they write */
    case SIM_TASK_COPY: /* where these write is in memory */
        return op->op_range_count == 1 || strcmp(op->op_name, "aclrtMemcpyAsyncWithOffset") == 0;
    case SIM_TASK_SET:
    case SIM_TASK_RECORD:
    case SIM_TASK_WAIT:
    case SIM_TASK_RESET:
    case SIM_TASK_FLAG_RECORD:
        return false;
    case SIM_TASK_OTHER: /* aclsimStreamHold stops time for tests */
        return strcmp(op->op_name, "aclsimStreamHold") != 0;
    default:
        return true;
    }
}

struct sides {
    struct side si_found;
    uint32_t si_count;
    bool si_writes; /* to host memory that is not `si_found` */
};

/* Takes host memory that belongs to the simulator, or is registered with it; other host memory is not used by tasks. */
static void see_side(const struct sim_footprint *footprint, void *context)
{
    struct sides *sides = context;
    struct sim_place place;
    sides->si_count++;
    sim_memory_locate(footprint->fp_address, &place);
    bool is_host = place.pl_class == SIM_MEMORY_HOST || place.pl_class == SIM_MEMORY_FOREIGN;
    if (!is_host || footprint->fp_birth == 0 || footprint->fp_element != 1 || footprint->fp_rank > 2 ||
        footprint->fp_rank == 0 || sides->si_found.sd_start != NULL) {
        sides->si_writes |= is_host && footprint->fp_write;
        return;
    }
    bool flat = footprint->fp_rank == 1;
    sides->si_found = (struct side){.sd_start = footprint->fp_address,
                                    .sd_width = (uint64_t)footprint->fp_dims[flat ? 0 : 1],
                                    .sd_height = flat ? 1 : (uint64_t)footprint->fp_dims[0],
                                    .sd_pitch = flat ? 0 : (uint64_t)footprint->fp_strides[0],
                                    .sd_birth = footprint->fp_birth, .sd_write = footprint->fp_write};
}

static uint64_t end_of(const struct side *side)
{
    return (uintptr_t)side->sd_start + (side->sd_height - 1) * side->sd_pitch + side->sd_width;
}

static bool meet(const struct side *one, const struct side *other)
{
    return (uintptr_t)one->sd_start < end_of(other) && (uintptr_t)other->sd_start < end_of(one);
}

/* Whether an unfinished task may write the bytes of a side. */
static bool is_written(const struct side *side)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const struct queued *queued = buckets[i]; queued != NULL; queued = queued->qu_next)
            if (queued->qu_side.sd_start != NULL && queued->qu_side.sd_write && meet(&queued->qu_side, side))
                return true;
    return false;
}

/* Stops comparing what a task of another stream may write as well. */
static void give_up_written(const struct sim_stream *stream, const struct side *side)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct queued *queued = buckets[i]; queued != NULL; queued = queued->qu_next)
            if (queued->qu_compared && queued->qu_stream != stream && meet(&queued->qu_side, side))
                queued->qu_compared = false;
}

static struct queued *take(void)
{
    if (unused == NULL && made == KEPT)
        sweep();
    if (unused == NULL && made < KEPT)
        return &all[made++];
    struct queued *queued = unused;
    unused = queued != NULL ? queued->qu_next : NULL;
    return queued;
}

static void keep(struct sim_stream *stream, uint64_t ticket, const struct side *side, bool barrier, bool compared)
{
    struct queued *queued = take(), **bucket = bucket_of(stream, ticket);
    if (queued == NULL) {
        lost = true;
        return;
    }
    *queued = (struct queued){.qu_next = *bucket, .qu_stream = stream, .qu_ticket = ticket, .qu_bars = barrier,
                              .qu_compared = compared, .qu_side = *side};
    if (compared)
        queued->qu_sum = checksum(side);
    *bucket = queued;
    kept++;
    barring += barrier;
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    const struct sim_op *op = task->ta_op;
    const void *argument = task->ta_is_long ? task->ta_ext : (const void *)task->ta_argument;
    struct sides sides = {.si_count = 0};
    bool barrier = bars(op);
    if (!barrier)
        sim_watch_footprints(op, argument, see_side, &sides);
    barrier |= sides.si_writes;
    if (!barrier && (sides.si_found.sd_start == NULL || sides.si_found.sd_width == 0 || sides.si_found.sd_height == 0))
        return;
    sim_lock(&lock);
    if (barring != 0 || lost)
        sweep();
    bool compared = !barrier && op->op_kind == SIM_TASK_COPY && barring == 0 && !lost;
    if (compared && kept != 0 && is_written(&sides.si_found)) {
        sweep();
        compared = !is_written(&sides.si_found);
    }
    if (kept != 0 && sides.si_found.sd_start != NULL && sides.si_found.sd_write)
        give_up_written(stream, &sides.si_found);
    keep((struct sim_stream *)(uintptr_t)stream, ticket, &sides.si_found, barrier, compared);
    sim_unlock(&lock);
}

/* ---- findings ---- */

static void report(const struct sim_run *run, const struct sim_task *task, const struct side *side, bool has_run)
{
    struct sim_finding finding;
    const char *name = task->ta_op->op_name;
    uint64_t bytes = side->sd_width * side->sd_height;
    if (side->sd_write)
        sim_check_begin(&finding, SIM_CHECK_SYNC, "host-write-to-destination",
                        "Synchronise the stream before the host writes to the destination of an asynchronous copy.",
                        "the host changed the destination of %s (%" PRIu64 " bytes at %p) between its submission and "
                        "its start; the copy overwrites the change", name, bytes, (const void *)side->sd_start);
    else
        sim_check_begin(&finding, SIM_CHECK_SYNC, "host-write-before-copy",
                        "Synchronise the stream, or wait for an event after the copy, before the host writes to its "
                        "source again.",
                        "the host changed the source of %s (%" PRIu64 " bytes at %p) %s", name, bytes,
                        (const void *)side->sd_start,
                        has_run ? "while it ran" : "between its submission and its start");
    sim_check_note(&finding, side->sd_write ? "write" : "read", task->ta_site, task->ta_thread,
                   "%s, task %" PRIu64 " of stream %" PRIu32, name, run->rn_ticket, run->rn_stream->st_slot.sl_index);
    sim_check_block_note(&finding, side->sd_birth);
    sim_check_report(&finding);
}

/* A copy between host memory and itself is compared on one side only. It is kept until it ends, for it may still
 * write. */
static void compare(const struct sim_run *run, const struct sim_task *task, bool has_run)
{
    if (run->rn_replays || task->ta_op->op_kind != SIM_TASK_COPY)
        return;
    sim_lock(&lock);
    struct queued *queued = *bucket_of(run->rn_stream, run->rn_ticket);
    while (queued != NULL && (queued->qu_stream != run->rn_stream || queued->qu_ticket != run->rn_ticket))
        queued = queued->qu_next;
    struct sim_check_block block;
    if (queued != NULL && queued->qu_compared) {
        const struct side *side = &queued->qu_side;
        bool lives = !sim_check_block_find(side->sd_birth, &block) || block.cb_alive;
        bool changed = lives && checksum(side) != queued->qu_sum;
        if (changed)
            report(run, task, side, has_run);
        queued->qu_compared = !changed && !has_run && !side->sd_write;
    }
    sim_unlock(&lock);
}

static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    (void)argument;
    compare(run, task, false);
}

/* The stream's counter has not passed the copy yet: the program may not know that it has ended. */
static void see_finish(const struct sim_run *run, const struct sim_task *task, const void *argument,
                       const struct sim_watched *watched)
{
    (void)argument;
    (void)watched;
    compare(run, task, true);
}

const struct sim_watcher sim_check_sync = {.wt_submit = see_submit, .wt_start = see_start,
                                           .wt_finish = see_finish};

/* ---- life cycle ---- */

static void forget(void)
{
    memset(buckets, 0, sizeof buckets);
    unused = NULL;
    made = barring = kept = 0;
    lost = false;
}

void sim_check_sync_reset(void)
{
    sim_lock(&lock);
    forget();
    sim_unlock(&lock);
}

void sim_check_sync_after_fork(void)
{
    sim_lock_renew(&lock);
    forget();
}
