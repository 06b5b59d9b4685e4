/* Races: which agents accessed which bytes. For each block (by its allocation id) there is a sorted list of spans, with
 * the last write and the reads since then, and a short list of views that have too many rows for spans.
 *
 * A write forgets what it overwrites: what is ordered after the write is ordered after that, too, or the race has been
 * reported. A read forgets the reads that are ordered before it. An access is shared by the spans that remember it
 * (ra_references). When a block has SPANS spans, or all blocks ALL_SPANS, they are forgotten: then a race may be
 * missed, but none is invented. Without host memory, nothing is remembered either.
 *
 * The lock of check_race.c, which every caller holds, guards everything here. */
#include "check_race.h"
#include "base/zero.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u
#define READS 4
#define SPANS 8192u           /* of one block */
#define ALL_SPANS (UINT64_C(1) << 19)
#define ROWS 64               /* a view with more rows is not cut into spans */
#define VIEWS 64              /* of one block */
#define REPORTED 8            /* former accesses that one access is reported with */
#define NAME_BYTES 64

struct span {
    uint64_t sp_start, sp_end;
    struct sim_race_access *sp_write, *sp_reads[READS]; /* NULL: none; reads are filled from the front */
};

struct seen_view {
    struct sim_race_access *sv_access;
    struct sim_race_view sv_view;
};

struct block {
    struct block *bl_next;
    uint32_t bl_birth;
    uint32_t bl_count, bl_room, bl_view_count;
    struct span *bl_spans;
    struct seen_view *bl_views;
};

static struct block *buckets[BUCKETS];
static uint64_t all_spans;

/* One call of sim_check_race_memory_touch. */
struct touch {
    const struct sim_race_access *to_access;
    struct sim_race_access *to_kept; /* its copy, made when a place remembers it */
    const struct sim_clocks *to_known;
    struct block *to_block;
    uint32_t to_reported;
    const struct sim_race_access *to_with[REPORTED];
};

/* ---- accesses ---- */

static struct sim_race_access *refer(struct touch *touch)
{
    if (touch->to_kept == NULL) {
        touch->to_kept = malloc(sizeof *touch->to_kept);
        if (touch->to_kept == NULL)
            return NULL;
        *touch->to_kept = *touch->to_access;
        touch->to_kept->ra_references = 1; /* of the touch */
    }
    touch->to_kept->ra_references++;
    return touch->to_kept;
}

static void let_go(struct sim_race_access *access)
{
    if (access != NULL && --access->ra_references == 0)
        free(access);
}

static void copy_references(struct span *span)
{
    if (span->sp_write != NULL)
        span->sp_write->ra_references++;
    for (int i = 0; i < READS && span->sp_reads[i] != NULL; i++)
        span->sp_reads[i]->ra_references++;
}

static void drop_references(struct span *span)
{
    let_go(span->sp_write);
    for (int i = 0; i < READS && span->sp_reads[i] != NULL; i++)
        let_go(span->sp_reads[i]);
}

/* ---- blocks ---- */

static struct block **link_of(uint32_t birth)
{
    struct block **link = &buckets[birth % BUCKETS];
    while (*link != NULL && (*link)->bl_birth != birth)
        link = &(*link)->bl_next;
    return link;
}

static void empty(struct block *block)
{
    for (uint32_t i = 0; i < block->bl_count; i++)
        drop_references(&block->bl_spans[i]);
    for (uint32_t i = 0; i < block->bl_view_count; i++)
        let_go(block->bl_views[i].sv_access);
    all_spans -= block->bl_count;
    block->bl_count = block->bl_view_count = 0;
}

static void discard(struct block **link)
{
    struct block *block = *link;
    *link = block->bl_next;
    empty(block);
    free(block->bl_spans);
    free(block->bl_views);
    free(block);
}

void sim_check_race_memory_forget(uint32_t birth)
{
    struct block **link = link_of(birth);
    if (*link != NULL)
        discard(link);
}

void sim_check_race_memory_reset(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        while (buckets[i] != NULL)
            discard(&buckets[i]);
}

void sim_check_race_memory_abandon(void)
{
    sim_zero(buckets, sizeof buckets);
    all_spans = 0;
}

static struct block *find_or_make(uint32_t birth)
{
    struct block **link = link_of(birth);
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        (*link)->bl_birth = birth;
    return *link;
}

/* ---- reports ---- */

static const char *name_of(const struct sim_race_access *access, char text[NAME_BYTES])
{
    if (sim_race_is_host(access))
        return "the host";
    if (access->ra_branch != 0)
        snprintf(text, NAME_BYTES, "branch %u of a replay on stream %u", access->ra_branch, access->ra_stream);
    else
        snprintf(text, NAME_BYTES, "stream %u", access->ra_stream);
    return text;
}

static const char *verb_of(const struct sim_race_access *access)
{
    if (access->ra_kind != SIM_RACE_USE)
        return access->ra_kind == SIM_RACE_FREE ? "free" : "allocate";
    return access->ra_write ? "write" : "read";
}

static void add_note(struct sim_finding *finding, const struct sim_race_access *access)
{
    char name[NAME_BYTES];
    const char *of = access->ra_argument[0] != '\0' ? " of " : "";
    if (sim_race_is_host(access))
        sim_check_note(finding, verb_of(access), access->ra_site, access->ra_thread, "%s%s%s, by the calling thread",
                       access->ra_argument, of, access->ra_function);
    else
        sim_check_note(finding, verb_of(access), access->ra_site, access->ra_thread, "%s%s%s, task %" PRIu64 " of %s",
                       access->ra_argument, of, access->ra_function, access->ra_ticket, name_of(access, name));
}

static const char *advice_of(const struct sim_race_access *first, const struct sim_race_access *second)
{
    if (sim_race_is_host(first) || sim_race_is_host(second))
        return "Synchronise the stream (aclrtSynchronizeStream) between its task and the access of the host.";
    if (first->ra_branch != 0 && second->ra_branch != 0 && first->ra_stream == second->ra_stream)
        return "Connect the branches while they are captured: record an event on the one (aclrtRecordEvent) and let "
               "the other wait for it (aclrtStreamWaitEvent).";
    if (first->ra_kind == SIM_RACE_ALLOCATION || second->ra_kind != SIM_RACE_USE || first->ra_kind == SIM_RACE_FREE)
        return "Allocate and free the memory in the order of its use: record an event on the one stream "
               "(aclrtRecordEvent) and let the other wait for it (aclrtStreamWaitEvent).";
    return "Record an event on the first stream behind its task (aclrtRecordEvent) and let the second stream wait for "
           "it (aclrtStreamWaitEvent), or synchronise the first stream in between.";
}

/* The range is that of bytes that both touched, or of a part of them. */
static void report(struct touch *touch, struct sim_race_access *former, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < touch->to_reported; i++)
        if (touch->to_with[i] == former)
            return;
    if (touch->to_reported == REPORTED)
        return;
    touch->to_with[touch->to_reported++] = former;
    /* A host that accesses memory is at fault, not a task that was queued before. */
    const struct sim_race_access *active = touch->to_access, *other = former;
    if (sim_race_is_host(former)) {
        active = former;
        other = touch->to_access;
    }
    char active_name[NAME_BYTES], other_name[NAME_BYTES], place[128];
    struct sim_check_block block;
    bool known = sim_check_block_find(touch->to_block->bl_birth, &block);
    uint64_t base = known ? block.cb_block.bk_start : 0;
    if (known && block.cb_name[0] != '\0')
        snprintf(place, sizeof place, "\"%s\" (%#" PRIx64 ")", block.cb_name, base);
    else if (known)
        snprintf(place, sizeof place, "the block at %#" PRIx64, base);
    struct sim_finding finding;
    sim_check_begin(&finding, SIM_CHECK_RACE, "race", advice_of(former, touch->to_access),
                    "%s %ss bytes %" PRIu64 " to %" PRIu64 " of %s while %s may still %s them",
                    name_of(active, active_name), verb_of(active), start - base, end - 1 - base,
                    known ? place : "memory", name_of(other, other_name), verb_of(other));
    add_note(&finding, former);
    add_note(&finding, touch->to_access);
    sim_check_block_note(&finding, touch->to_block->bl_birth);
    sim_check_report(&finding);
}

static bool conflicts(const struct touch *touch, const struct sim_race_access *former)
{
    return former != NULL && (former->ra_write || touch->to_access->ra_write) &&
           !sim_race_is_ordered(former, touch->to_access->ra_agent, touch->to_known);
}

/* ---- comparing ---- */

static uint64_t later(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* The first span that ends behind `start`. */
static uint32_t find(const struct block *block, uint64_t start)
{
    uint32_t low = 0, high = block->bl_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->bl_spans[middle].sp_end > start)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void compare_span(struct touch *touch, const struct span *span, uint64_t start, uint64_t end)
{
    if (conflicts(touch, span->sp_write))
        report(touch, span->sp_write, later(start, span->sp_start), earlier(end, span->sp_end));
    for (int i = 0; i < READS && touch->to_access->ra_write && span->sp_reads[i] != NULL; i++)
        if (conflicts(touch, span->sp_reads[i]))
            report(touch, span->sp_reads[i], later(start, span->sp_start), earlier(end, span->sp_end));
}

static void compare_with_views(struct touch *touch, const struct sim_race_view *view)
{
    struct block *block = touch->to_block;
    for (uint32_t i = 0; i < block->bl_view_count; i++) {
        struct seen_view *seen = &block->bl_views[i];
        if (conflicts(touch, seen->sv_access) && sim_check_race_view_meets(&seen->sv_view, view))
            report(touch, seen->sv_access, later(view->vw_start, seen->sv_view.vw_start),
                   earlier(view->vw_end, seen->sv_view.vw_end));
    }
}

/* Forgets views that a contiguous access, or one of the same shape, replaces. */
static void replace_views(struct touch *touch, const struct sim_race_view *view)
{
    struct block *block = touch->to_block;
    for (uint32_t i = 0; i < block->bl_view_count;) {
        struct seen_view *seen = &block->bl_views[i];
        bool covered = (view->vw_rank == 0 && view->vw_start <= seen->sv_view.vw_start &&
                        view->vw_end >= seen->sv_view.vw_end) ||
                       memcmp(view, &seen->sv_view, sizeof *view) == 0;
        bool stronger = touch->to_access->ra_write ||
                        (!seen->sv_access->ra_write &&
                         sim_race_is_ordered(seen->sv_access, touch->to_access->ra_agent, touch->to_known));
        if (!covered || !stronger) {
            i++;
            continue;
        }
        let_go(seen->sv_access);
        *seen = block->bl_views[--block->bl_view_count];
    }
}

/* ---- remembering ---- */

/* Makes room for `count` spans at `place`. */
static struct span *insert(struct block *block, uint32_t place, uint32_t count)
{
    if (block->bl_count + count > block->bl_room) {
        uint32_t room = block->bl_room == 0 ? 4 : 2 * block->bl_room;
        struct span *spans = realloc(block->bl_spans, room * sizeof *spans);
        if (spans == NULL)
            return NULL;
        block->bl_spans = spans;
        block->bl_room = room;
    }
    struct span *at = block->bl_spans + place;
    memmove(at + count, at, (block->bl_count - place) * sizeof *at);
    block->bl_count += count;
    all_spans += count;
    return at;
}

static void take_out(struct block *block, uint32_t first, uint32_t end)
{
    if (first == end)
        return;
    for (uint32_t i = first; i < end; i++)
        drop_references(&block->bl_spans[i]);
    memmove(block->bl_spans + first, block->bl_spans + end, (block->bl_count - end) * sizeof *block->bl_spans);
    block->bl_count -= end - first;
    all_spans -= end - first;
}

/* Cuts the span that `address` lies inside of. Returns the index of the first span that begins there or behind. */
static uint32_t cut(struct block *block, uint64_t address)
{
    uint32_t place = find(block, address);
    if (place == block->bl_count || block->bl_spans[place].sp_start >= address)
        return place;
    struct span *second = insert(block, place + 1, 1);
    if (second == NULL) {
        take_out(block, place, place + 1);
        return place;
    }
    *second = second[-1];
    copy_references(second);
    second[-1].sp_end = second->sp_start = address;
    return place + 1;
}

static void add_read(struct touch *touch, struct span *span)
{
    int kept = 0;
    struct sim_race_access *reads[READS + 1] = {NULL};
    for (int i = 0; i < READS && span->sp_reads[i] != NULL; i++)
        if (sim_race_is_ordered(span->sp_reads[i], touch->to_access->ra_agent, touch->to_known))
            let_go(span->sp_reads[i]);
        else
            reads[kept++] = span->sp_reads[i];
    if (kept == READS) {
        let_go(reads[0]);
        memmove(reads, reads + 1, --kept * sizeof *reads);
    }
    reads[kept] = refer(touch);
    memcpy(span->sp_reads, reads, sizeof span->sp_reads);
}

static void fill(struct touch *touch, uint32_t place, uint64_t start, uint64_t end)
{
    struct sim_race_access *access = refer(touch);
    struct span *span = access != NULL ? insert(touch->to_block, place, 1) : NULL;
    if (span == NULL) {
        let_go(access);
        return;
    }
    *span = (struct span){.sp_start = start, .sp_end = end};
    *(touch->to_access->ra_write ? &span->sp_write : &span->sp_reads[0]) = access;
}

static void remember_bytes(struct touch *touch, uint64_t start, uint64_t end)
{
    struct block *block = touch->to_block;
    if (block->bl_count >= SPANS || all_spans >= ALL_SPANS)
        empty(block);
    if (all_spans >= ALL_SPANS)
        for (uint32_t i = 0; i < BUCKETS; i++)
            for (struct block *other = buckets[i]; other != NULL; other = other->bl_next)
                empty(other);
    uint32_t first = cut(block, start), last = cut(block, end);
    if (touch->to_access->ra_write) {
        take_out(block, first, last);
        fill(touch, first, start, end);
        return;
    }
    for (; start < end; first++) {
        struct span *span = first < block->bl_count ? &block->bl_spans[first] : NULL;
        uint64_t next = span != NULL && span->sp_start < end ? span->sp_start : end;
        if (start < next) {
            uint32_t before = block->bl_count;
            fill(touch, first, start, next);
            first -= block->bl_count == before; /* there was no memory: the gap stays */
            start = next;
            continue;
        }
        add_read(touch, span);
        start = span->sp_end;
    }
}

static void remember_view(struct touch *touch, const struct sim_race_view *view)
{
    struct block *block = touch->to_block;
    if (block->bl_views == NULL)
        block->bl_views = calloc(VIEWS, sizeof *block->bl_views);
    if (block->bl_views == NULL)
        return;
    if (block->bl_view_count == VIEWS) {
        let_go(block->bl_views[0].sv_access);
        memmove(block->bl_views, block->bl_views + 1, --block->bl_view_count * sizeof *block->bl_views);
    }
    struct sim_race_access *access = refer(touch);
    if (access != NULL)
        block->bl_views[block->bl_view_count++] = (struct seen_view){access, *view};
}

/* ---- both ---- */

static void touch_row(uint64_t start, uint64_t end, void *context)
{
    struct touch *touch = context;
    struct block *block = touch->to_block;
    uint32_t first = find(block, start);
    for (uint32_t i = first; i < block->bl_count && block->bl_spans[i].sp_start < end; i++)
        compare_span(touch, &block->bl_spans[i], start, end);
    struct span *same = first < block->bl_count ? &block->bl_spans[first] : NULL;
    if (same == NULL || same->sp_start != start || same->sp_end != end) {
        remember_bytes(touch, start, end);
    } else if (!touch->to_access->ra_write) { /* the usual case: the bytes of an earlier access */
        add_read(touch, same);
    } else {
        struct sim_race_access *access = refer(touch);
        drop_references(same);
        *same = (struct span){.sp_start = start, .sp_end = end, .sp_write = access};
    }
}

static void touch_view(struct touch *touch, const struct sim_race_view *view)
{
    struct block *block = touch->to_block;
    for (uint32_t i = find(block, view->vw_start);
         i < block->bl_count && block->bl_spans[i].sp_start < view->vw_end; i++) {
        const struct span *span = &block->bl_spans[i];
        bool concerns = conflicts(touch, span->sp_write);
        for (int j = 0; j < READS && span->sp_reads[j] != NULL; j++)
            concerns = concerns || conflicts(touch, span->sp_reads[j]);
        if (concerns && sim_check_race_view_meets_bytes(view, span->sp_start, span->sp_end))
            compare_span(touch, span, view->vw_start, view->vw_end);
    }
    remember_view(touch, view);
}

void sim_check_race_memory_touch(const struct sim_race_access *access, const struct sim_clocks *known, uint32_t birth,
                           const struct sim_race_view *view)
{
    struct touch touch = {.to_access = access, .to_known = known, .to_block = find_or_make(birth)};
    if (touch.to_block == NULL)
        return;
    if (touch.to_block->bl_view_count != 0) {
        compare_with_views(&touch, view);
        replace_views(&touch, view);
    }
    if (view->vw_rows <= ROWS)
        sim_check_race_view_each(view, touch_row, &touch);
    else
        touch_view(&touch, view);
    let_go(touch.to_kept);
}

bool sim_check_race_memory_writer(uint32_t birth, uint64_t address, uint32_t *agent, uint64_t *clock)
{
    const struct block *block = *link_of(birth);
    uint32_t place = block != NULL ? find(block, address) : 0;
    if (block == NULL || place == block->bl_count || block->bl_spans[place].sp_start > address ||
        block->bl_spans[place].sp_write == NULL)
        return false;
    *agent = block->bl_spans[place].sp_write->ra_agent;
    *clock = block->bl_spans[place].sp_write->ra_clock;
    return true;
}
