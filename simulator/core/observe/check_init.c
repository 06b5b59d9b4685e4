/* Design notes
 *
 * Finds reads of device memory that nothing has written since its allocation. Each block of the heaps of devices has a
 * shadow (check_shadow.c), found by the allocation id in a hash table. A block without a shadow counts as written:
 * host memory, which the program writes without the simulator's knowledge, managed memory, imported blocks, memory that
 * the simulator allocates for itself, and blocks that were exposed (wt_expose). Of mappings of physical memory, only
 * the first one of memory that no other process and no host code can write has a shadow, while no other mapping touches
 * it.
 *
 * Memory is checked and marked when a task starts, in the order in which tasks run. Outputs are thus marked a little
 * early, which hides nothing from the tasks that are ordered after it. Copies give their destination the bits of their
 * source, and report only if the destination is host memory. Reported bytes count as written from then on, so that one
 * mistake is one finding.
 *
 * A kernel that declares no ranges may write anything: all blocks that exist then count as written. This costs one
 * store: `forgotten` is the newest such block, and a shadow is completed when it is next looked up.
 *
 * `lock` guards everything here. It is taken with locks of heaps, pools and streams held; under it only the locks of
 * check.c and check_block.c are taken. */
#include "check_init.h"
#include "address/memory.h"
#include "base/zero.h"
#include "check.h"
#include "check_shadow.h"
#include "engine/stream.h"
#include "engine/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u

struct entry {
    struct entry *en_next; /* in its bucket */
    uint32_t en_birth;
    uint64_t en_number; /* of entries, in the order in which they were made */
    struct sim_shadow en_shadow;
};

static struct sim_lock lock;
static struct entry *buckets[BUCKETS];
static uint64_t entries, forgotten;

/* ---- blocks ---- */

static struct entry **link_of(uint32_t birth)
{
    struct entry **link = &buckets[birth % BUCKETS];
    while (*link != NULL && (*link)->en_birth != birth)
        link = &(*link)->en_next;
    return link;
}

static void discard(struct entry **link)
{
    struct entry *entry = *link;
    *link = entry->en_next;
    sim_check_shadow_end(&entry->en_shadow);
    free(entry);
}

static struct entry *find(uint32_t birth)
{
    struct entry *entry = birth != 0 ? *link_of(birth) : NULL;
    if (entry != NULL && unlikely(entry->en_number <= forgotten) && entry->en_shadow.sw_unwritten != 0)
        sim_check_shadow_write(&entry->en_shadow, 0, entry->en_shadow.sw_size);
    return entry;
}

static void drop_birth(uint32_t birth)
{
    struct entry **link = link_of(birth);
    if (*link != NULL)
        discard(link);
}

/* Without memory for an entry, the block counts as written. A program that runs on the device writes its memory
 * unseen. */
static void see_allocate(const struct sim_block *block, const void *site)
{
    (void)site;
    const void *start = (const void *)(uintptr_t)block->bk_start;
    bool is_seen = block->bk_device >= 0 && block->bk_page != SIM_PAGE_IMPORTED && !sim_memory_runs_on_device() &&
                   (sim_heap_zone_contains(&sim_heap_zone_of_device, start) ||
                    sim_heap_zone_contains(&sim_heap_area, start));
    struct entry *entry = is_seen ? malloc(sizeof *entry) : NULL;
    sim_lock(&lock);
    drop_birth(block->bk_birth); /* ids repeat after 16 million allocations */
    if (entry != NULL) {
        struct entry **bucket = &buckets[block->bk_birth % BUCKETS];
        *entry = (struct entry){.en_next = *bucket, .en_birth = block->bk_birth, .en_number = ++entries};
        sim_check_shadow_begin(&entry->en_shadow, block->bk_start, block->bk_size);
        *bucket = entry;
    }
    sim_unlock(&lock);
}

static void see_free(uint32_t birth, const void *site)
{
    (void)site;
    sim_lock(&lock);
    drop_birth(birth);
    sim_unlock(&lock);
}

static void see_expose(uint32_t birth)
{
    see_free(birth, NULL);
}

/* ---- findings ---- */

/* Who reads. */
struct reader {
    const char *rd_name;
    const void *rd_site;
    uint32_t rd_thread;
    uint64_t rd_task; /* 0: a call of the host */
    uint32_t rd_stream;
    bool rd_replays;
};

static void report(const struct reader *reader, const char *argument, const struct entry *entry, uint64_t count,
                   uint64_t first, bool is_warning)
{
    struct sim_finding finding;
    const char *of = argument != NULL ? " of " : "", *name = argument != NULL ? argument : "";
    sim_check_begin(&finding, SIM_CHECK_INIT, "uninitialised-read",
                    "Write the bytes before they are read, for example with aclrtMemcpy or aclrtMemset, or use fewer "
                    "of them.",
                    "%s reads %" PRIu64 " byte%s%s%s that nothing has written since the allocation; the first is byte "
                    "%" PRIu64 " of the block", reader->rd_name, count, count == 1 ? "" : "s", of, name, first);
    finding.fi_is_warning = is_warning;
    if (reader->rd_task != 0)
        sim_check_note(&finding, "read", reader->rd_site, reader->rd_thread, "%s%s%s, task %" PRIu64 " of stream %"
                       PRIu32 "%s", name, *name != '\0' ? " of " : "", reader->rd_name, reader->rd_task,
                       reader->rd_stream, reader->rd_replays ? ", in a replay" : "");
    else
        sim_check_note(&finding, "read", reader->rd_site, reader->rd_thread, "%s", reader->rd_name);
    sim_check_block_note(&finding, entry->en_birth);
    sim_check_report(&finding);
}

/* ---- accesses; the lock is held ---- */

struct access {
    const struct reader *ac_reader;
    const struct sim_op *ac_op; /* NULL: a call of the host */
    bool ac_writes;             /* marks what is written, else checks what is read */
    bool ac_replays;
    bool ac_marks;              /* some of what is written has not been written before */
    uint32_t ac_footprints;
    const char *ac_argument;
    struct sim_footprint ac_pair[2]; /* of a copy: source and destination */
    int64_t ac_shapes[2][2][SIM_WALK_RANK];
    /* while runs are visited */
    struct entry *ac_to, *ac_from;
    uint64_t ac_run, ac_count, ac_first;
    bool ac_none; /* no byte of the runs so far is written */
};

/* Clips a run to the block: what lies outside is not this checker's business. */
static bool clip(const struct entry *entry, uint64_t address, uint64_t *offset, uint64_t *size)
{
    const struct sim_shadow *shadow = &entry->en_shadow;
    uint64_t end = address + *size, last = shadow->sw_start + shadow->sw_size;
    uint64_t from = address > shadow->sw_start ? address : shadow->sw_start;
    end = end < last ? end : last;
    if (end <= from)
        return false;
    *offset = from - shadow->sw_start;
    *size = end - from;
    return true;
}

static bool count_run(void *context, uint64_t one, uint64_t other)
{
    struct access *access = context;
    uint64_t offset, size = access->ac_run, first;
    (void)other;
    if (!clip(access->ac_from, one, &offset, &size))
        return true;
    uint64_t count = sim_check_shadow_count(&access->ac_from->en_shadow, offset, size, &first);
    if (count != 0 && (access->ac_count == 0 || first < access->ac_first))
        access->ac_first = first;
    access->ac_count += count;
    access->ac_none &= count == size;
    return true;
}

static bool write_run(void *context, uint64_t one, uint64_t other)
{
    struct access *access = context;
    uint64_t offset, size = access->ac_run;
    (void)other;
    if (clip(access->ac_to, one, &offset, &size))
        sim_check_shadow_write(&access->ac_to->en_shadow, offset, size);
    return access->ac_to->en_shadow.sw_unwritten != 0;
}

static bool copy_run(void *context, uint64_t one, uint64_t other)
{
    struct access *access = context;
    uint64_t to, from, size = access->ac_run, from_size = access->ac_run;
    if (!clip(access->ac_to, other, &to, &size) || size != access->ac_run)
        return true;
    if (access->ac_from == NULL || !clip(access->ac_from, one, &from, &from_size) || from_size != size)
        sim_check_shadow_write(&access->ac_to->en_shadow, to, size);
    else
        sim_check_shadow_copy(&access->ac_to->en_shadow, to, &access->ac_from->en_shadow, from, size);
    return true;
}

/* The block of a footprint. A replay may use memory that was allocated after the capture. */
static struct entry *entry_of(const struct access *access, const struct sim_footprint *footprint)
{
    struct entry *entry = find(footprint->fp_birth);
    uint64_t address = (uintptr_t)footprint->fp_address;
    if (entry != NULL || !access->ac_replays)
        return entry;
    struct sim_place place;
    sim_memory_locate((const void *)(uintptr_t)address, &place);
    return sim_memory_is_alive(&place) ? find(place.pl_block.bk_birth) : NULL;
}

/* Whether all bytes of the hull are written: most footprints need no more than this. */
static bool is_hull_written(const struct entry *entry, const struct sim_walk *walk)
{
    uint64_t offset, size = walk->wk_high[0] - walk->wk_low[0], first;
    if (!clip(entry, walk->wk_low[0], &offset, &size))
        return true;
    return sim_check_shadow_count(&entry->en_shadow, offset, size, &first) == 0;
}

static void write_footprint(struct access *access, const struct sim_footprint *footprint)
{
    struct sim_walk walk;
    struct entry *entry = entry_of(access, footprint);
    if (entry == NULL || entry->en_shadow.sw_unwritten == 0)
        return;
    if (!sim_check_walk_begin(&walk, footprint, NULL)) {
        sim_check_shadow_write(&entry->en_shadow, 0, entry->en_shadow.sw_size);
        return;
    }
    if (walk.wk_run == 0 || is_hull_written(entry, &walk))
        return;
    access->ac_to = entry;
    access->ac_run = walk.wk_run;
    sim_check_walk_runs(&walk, write_run, access);
}

static void read_footprint(struct access *access, const struct sim_footprint *footprint)
{
    struct sim_walk walk;
    struct entry *entry = entry_of(access, footprint);
    if (entry == NULL || entry->en_shadow.sw_unwritten == 0 || footprint->fp_is_hull ||
        !sim_check_walk_begin(&walk, footprint, NULL) || walk.wk_run == 0 || is_hull_written(entry, &walk))
        return;
    if (access->ac_op != NULL && access->ac_op->op_footprints != NULL &&
        sim_check_reads_part(access->ac_op->op_name, footprint->fp_name))
        return;
    access->ac_from = access->ac_to = entry;
    access->ac_run = walk.wk_run;
    access->ac_count = 0;
    access->ac_none = true;
    sim_check_walk_runs(&walk, count_run, access);
    if (access->ac_count == 0)
        return;
    /* A copy to the host may take padding along that the program does not use. */
    bool may_be_right = (access->ac_op == NULL || access->ac_op->op_kind == SIM_TASK_COPY) && !access->ac_none;
    report(access->ac_reader, footprint->fp_name, entry, access->ac_count, access->ac_first, may_be_right);
    sim_check_walk_runs(&walk, write_run, access);
}

/* A copy to host memory is a read by the program; otherwise the destination becomes as unwritten as the source. */
static void copy_footprints(struct access *access, const struct sim_footprint *from, const struct sim_footprint *to)
{
    struct sim_walk walk;
    struct sim_place place;
    access->ac_from = entry_of(access, from);
    access->ac_to = entry_of(access, to);
    bool from_written = access->ac_from == NULL || access->ac_from->en_shadow.sw_unwritten == 0;
    bool to_written = access->ac_to == NULL || access->ac_to->en_shadow.sw_unwritten == 0;
    if (from_written && to_written)
        return;
    if (access->ac_to == NULL) {
        sim_memory_locate(to->fp_address, &place);
        if (place.pl_class == SIM_MEMORY_HOST || place.pl_class == SIM_MEMORY_FOREIGN)
            read_footprint(access, from);
        return;
    }
    if (from_written || !sim_check_walk_begin(&walk, from, to)) {
        write_footprint(access, to);
        return;
    }
    access->ac_run = walk.wk_run;
    sim_check_walk_runs(&walk, copy_run, access);
}

static void see_footprint(const struct sim_footprint *footprint, void *context)
{
    struct access *access = context;
    access->ac_footprints++;
    if (footprint->fp_read && !access->ac_writes)
        read_footprint(access, footprint);
    if (!footprint->fp_write)
        return;
    if (access->ac_writes)
        write_footprint(access, footprint);
    else if (!access->ac_marks) {
        const struct entry *entry = entry_of(access, footprint);
        access->ac_marks = entry != NULL && entry->en_shadow.sw_unwritten != 0;
    }
}

/* Keeps the two sides of a copy; their dimensions live only during the visit. */
static void keep_side(const struct sim_footprint *footprint, void *context)
{
    struct access *access = context;
    int side = footprint->fp_write;
    access->ac_footprints += footprint->fp_rank <= SIM_WALK_RANK && footprint->fp_read != footprint->fp_write ? 1 : 3;
    if (footprint->fp_rank > SIM_WALK_RANK)
        return;
    struct sim_footprint *kept = &access->ac_pair[side];
    *kept = *footprint;
    memcpy(access->ac_shapes[side][0], footprint->fp_dims, footprint->fp_rank * sizeof(int64_t));
    memcpy(access->ac_shapes[side][1], footprint->fp_strides, footprint->fp_rank * sizeof(int64_t));
    kept->fp_dims = access->ac_shapes[side][0];
    kept->fp_strides = access->ac_shapes[side][1];
}

static bool is_pair(const struct access *access)
{
    return access->ac_footprints == 2 && access->ac_pair[0].fp_address != NULL && access->ac_pair[1].fp_address != NULL;
}

/* Kernels that declare nothing may write anything, and so may copies whose addresses are in memory. */
static bool is_unknown(const struct sim_op *op, const struct access *access)
{
    bool is_kernel = op->op_kind == SIM_TASK_CUBE || op->op_kind == SIM_TASK_VECTOR ||
                     op->op_kind == SIM_TASK_HOST_KERNEL;
    return access->ac_footprints == 0 ? is_kernel && op->op_footprints == NULL : op->op_kind == SIM_TASK_COPY;
}

static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    const struct sim_op *op = task->ta_op;
    const struct reader reader = {op->op_name, task->ta_site, task->ta_thread, run->rn_ticket,
                                  run->rn_stream->st_slot.sl_index, run->rn_replays};
    struct access access;
    access.ac_reader = &reader;
    access.ac_op = op;
    access.ac_writes = false;
    access.ac_replays = run->rn_replays;
    access.ac_marks = false;
    access.ac_footprints = 0;
    sim_lock(&lock);
    if (unlikely(sim_check_is_copy(op))) {
        access.ac_pair[0].fp_address = access.ac_pair[1].fp_address = NULL;
        sim_watch_footprints(op, argument, keep_side, &access);
        if (is_pair(&access)) {
            copy_footprints(&access, &access.ac_pair[0], &access.ac_pair[1]);
            sim_unlock(&lock);
            return;
        }
    }
    access.ac_footprints = 0;
    if (!sim_check_ignores_reads(op))
        sim_watch_footprints(op, argument, see_footprint, &access);
    access.ac_writes = true;
    if (access.ac_marks)
        sim_watch_footprints(op, argument, see_footprint, &access);
    if (unlikely(is_unknown(op, &access)))
        forgotten = entries;
    sim_unlock(&lock);
}

/* ---- the host ---- */

static struct reader caller(const void *site)
{
    const char *function = sim_thread.th_function;
    return (struct reader){.rd_name = function != NULL ? function : "a call", .rd_site = site,
                           .rd_thread = sim_thread_number()};
}

static void see_copy(const struct sim_footprint *from, const struct sim_footprint *to, const void *site)
{
    const struct reader reader = caller(site);
    struct access access = {.ac_reader = &reader};
    sim_lock(&lock);
    copy_footprints(&access, from, to);
    sim_unlock(&lock);
}

/* Copies are seen by see_copy, too, which knows more. */
static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    static const int64_t stride = 1;
    struct access access = {.ac_reader = NULL};
    (void)site;
    if (count != 1 || !ranges->rg_write)
        return;
    const int64_t size = (int64_t)ranges->rg_size;
    const struct sim_footprint footprint = {.fp_address = ranges->rg_address, .fp_element = 1, .fp_rank = 1,
                                            .fp_dims = &size, .fp_strides = &stride, .fp_birth = ranges->rg_birth};
    sim_lock(&lock);
    write_footprint(&access, &footprint);
    sim_unlock(&lock);
}

const struct sim_watcher sim_check_init = {.wt_start = see_start, .wt_allocate = see_allocate, .wt_free = see_free,
                                           .wt_access = see_access, .wt_copy = see_copy, .wt_expose = see_expose};

/* ---- life cycle ---- */

static bool is_alive(const struct entry *entry)
{
    struct sim_place place;
    sim_memory_locate((const void *)(uintptr_t)entry->en_shadow.sw_start, &place);
    return sim_memory_is_alive(&place) && place.pl_block.bk_birth == entry->en_birth;
}

static void sweep(bool everything)
{
    sim_lock(&lock);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct entry **link = &buckets[i]; *link != NULL;) {
            if (everything || !is_alive(*link))
                discard(link);
            else
                link = &(*link)->en_next;
        }
    sim_unlock(&lock);
}

void sim_check_init_open(void)
{
    sweep(false);
}

void sim_check_init_reset(void)
{
    sweep(true);
}

void sim_check_init_after_fork(void)
{
    sim_lock_renew(&lock);
    sim_zero(buckets, sizeof buckets); /* the parent's entries may be half linked */
}
