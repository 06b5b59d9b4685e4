/* Shadows of blocks. A shadow has a page per 32 KiB of its block. Of pages that are written wholly or not at all only
 * this is known; others are bitmaps. While the whole block is one or the other, there is not even a list of pages.
 *
 * The caller (check_init.c) holds its lock, which guards all shadows and `used`. */
#include "check_shadow.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (SIM_SHADOW_BYTES / 64)

struct sim_shadow_page {
    uint32_t pg_unwritten; /* bytes */
    uint64_t pg_written[WORDS];
};

static struct sim_shadow_page all; /* stands for pages that are written wholly; NULL: not at all */
static uint64_t used;              /* bytes of lists and bitmaps */

/* ---- memory ---- */

static void *take(uint64_t size)
{
    void *memory = used + size <= SIM_SHADOW_MOST ? calloc(1, size) : NULL;
    used += memory != NULL ? size : 0;
    return memory;
}

static void drop_page(struct sim_shadow_page **page, struct sim_shadow_page *instead)
{
    if (*page != NULL && *page != &all) {
        used -= sizeof **page;
        free(*page);
    }
    *page = instead;
}

static uint64_t pages_of(const struct sim_shadow *shadow)
{
    return (shadow->sw_size + SIM_SHADOW_BYTES - 1) / SIM_SHADOW_BYTES;
}

static void drop_pages(struct sim_shadow *shadow)
{
    for (uint64_t i = 0; shadow->sw_pages != NULL && i < pages_of(shadow); i++)
        drop_page(&shadow->sw_pages[i], NULL);
    if (shadow->sw_pages != NULL && shadow->sw_pages != &shadow->sw_first) {
        used -= pages_of(shadow) * sizeof *shadow->sw_pages;
        free(shadow->sw_pages);
    }
    shadow->sw_pages = NULL;
}

void sim_check_shadow_begin(struct sim_shadow *shadow, uint64_t start, uint64_t size)
{
    *shadow = (struct sim_shadow){.sw_start = start, .sw_size = size, .sw_unwritten = size};
}

void sim_check_shadow_end(struct sim_shadow *shadow)
{
    drop_pages(shadow);
    shadow->sw_unwritten = 0;
}

/* Makes the list of pages of a shadow that is about to be written in part. Without memory, all of it is written. */
static bool list_pages(struct sim_shadow *shadow)
{
    uint64_t count = pages_of(shadow);
    bool is_written = shadow->sw_unwritten == 0;
    if (shadow->sw_pages != NULL)
        return true;
    shadow->sw_first = NULL;
    shadow->sw_pages = count == 1 ? &shadow->sw_first : take(count * sizeof *shadow->sw_pages);
    if (shadow->sw_pages == NULL) {
        shadow->sw_unwritten = 0;
        return false;
    }
    for (uint64_t i = 0; is_written && i < count; i++)
        shadow->sw_pages[i] = &all;
    return true;
}

/* ---- bits ---- */

/* The part of a range that lies in one page. */
struct part {
    uint64_t pt_page;
    uint32_t pt_first, pt_count, pt_limit; /* bytes of the page; of the block in the page */
};

static struct part part_of(const struct sim_shadow *shadow, uint64_t offset, uint64_t size)
{
    uint64_t page = offset / SIM_SHADOW_BYTES, base = page * SIM_SHADOW_BYTES, rest = shadow->sw_size - base;
    uint32_t limit = rest < SIM_SHADOW_BYTES ? (uint32_t)rest : SIM_SHADOW_BYTES;
    uint32_t first = (uint32_t)(offset - base), room = limit - first;
    return (struct part){page, first, size < room ? (uint32_t)size : room, limit};
}

static uint64_t mask_of(uint32_t first, uint32_t count)
{
    return (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

/* Calls of `body` with each word of a part and the bits in it. */
#define EACH_WORD(part, word, mask, body)                                                                              \
    for (uint32_t at_ = (part)->pt_first, end_ = at_ + (part)->pt_count, count_; at_ < end_; at_ += count_) {          \
        count_ = 64 - at_ % 64 < end_ - at_ ? 64 - at_ % 64 : end_ - at_;                                              \
        const uint32_t word = at_ / 64;                                                                                \
        const uint64_t mask = mask_of(at_ % 64, count_);                                                               \
        body                                                                                                           \
    }

/* A bitmap for a page that has none. NULL: there is no memory for it. */
static struct sim_shadow_page *make_bitmap(const struct part *part, const struct sim_shadow_page *former)
{
    struct sim_shadow_page *page = take(sizeof *page);
    if (page == NULL)
        return NULL;
    page->pg_unwritten = former == &all ? 0 : part->pt_limit;
    memset(page->pg_written, former == &all ? 0xff : 0, sizeof page->pg_written);
    return page;
}

/* Sets or clears the bits of a part. Returns false if there is no memory for a bitmap; the page is written then. */
static void change_part(struct sim_shadow *shadow, const struct part *part, bool written)
{
    struct sim_shadow_page **place = &shadow->sw_pages[part->pt_page], *page = *place;
    struct sim_shadow_page *whole = written ? &all : NULL;
    if (page == whole)
        return;
    uint32_t before = page == &all ? 0 : page == NULL ? part->pt_limit : page->pg_unwritten, after = before;
    bool covers = part->pt_count == part->pt_limit;
    if (!covers && (page == NULL || page == &all) && (page = make_bitmap(part, page)) != NULL)
        *place = page;
    if (covers || page == NULL) {
        bool is_written = written || !covers;
        drop_page(place, is_written ? &all : NULL);
        shadow->sw_unwritten += (is_written ? 0 : part->pt_limit) - (uint64_t)before;
        return;
    }
    EACH_WORD(part, word, mask, {
        uint64_t bits = written ? ~page->pg_written[word] & mask : page->pg_written[word] & mask;
        after += (written ? -1u : 1u) * (uint32_t)__builtin_popcountll(bits);
        page->pg_written[word] ^= bits;
    })
    page->pg_unwritten = after;
    shadow->sw_unwritten += after - (uint64_t)before;
    if (after == (written ? 0 : part->pt_limit))
        drop_page(place, whole);
}

static void change(struct sim_shadow *shadow, uint64_t offset, uint64_t size, bool written)
{
    if (size == 0 || shadow->sw_unwritten == (written ? 0 : shadow->sw_size))
        return;
    if (size == shadow->sw_size) {
        drop_pages(shadow);
        shadow->sw_unwritten = written ? 0 : size;
        return;
    }
    if (!list_pages(shadow))
        return;
    for (struct part part; size != 0; offset += part.pt_count, size -= part.pt_count) {
        part = part_of(shadow, offset, size);
        change_part(shadow, &part, written);
    }
    if (shadow->sw_unwritten == (written ? 0 : shadow->sw_size))
        drop_pages(shadow);
}

void sim_check_shadow_write(struct sim_shadow *shadow, uint64_t offset, uint64_t size)
{
    change(shadow, offset, size, true);
}

void sim_check_shadow_erase(struct sim_shadow *shadow, uint64_t offset, uint64_t size)
{
    change(shadow, offset, size, false);
}

/* Counts the unwritten bytes of a part; `base` is the offset of its page. */
static uint64_t count_part(const struct sim_shadow_page *page, const struct part *part, uint64_t base, uint64_t *first)
{
    uint64_t count = 0;
    if (page == &all)
        return 0;
    if (page == NULL) {
        *first = base + part->pt_first;
        return part->pt_count;
    }
    EACH_WORD(part, word, mask, {
        uint64_t bits = ~page->pg_written[word] & mask;
        if (bits != 0 && count == 0)
            *first = base + word * UINT64_C(64) + (unsigned)__builtin_ctzll(bits);
        count += (unsigned)__builtin_popcountll(bits);
    })
    return count;
}

uint64_t sim_check_shadow_count(const struct sim_shadow *shadow, uint64_t offset, uint64_t size, uint64_t *first)
{
    uint64_t count = 0;
    if (size == 0 || shadow->sw_unwritten == 0)
        return 0;
    *first = offset;
    if (shadow->sw_pages == NULL)
        return size;
    for (struct part part; size != 0; offset += part.pt_count, size -= part.pt_count) {
        uint64_t found = 0;
        part = part_of(shadow, offset, size);
        uint64_t more = count_part(shadow->sw_pages[part.pt_page], &part, offset - part.pt_first, &found);
        if (more != 0 && count == 0)
            *first = found;
        count += more;
    }
    return count;
}

/* ---- copies ---- */

/* Up to 64 bits from there, as a word. */
static uint64_t read_bits(const struct sim_shadow *shadow, uint64_t offset, uint32_t count)
{
    uint64_t bits = 0;
    if (shadow->sw_pages == NULL)
        return shadow->sw_unwritten == 0 ? UINT64_MAX : 0;
    for (uint32_t got = 0; got < count;) {
        struct part part = part_of(shadow, offset + got, count - got);
        const struct sim_shadow_page *page = shadow->sw_pages[part.pt_page];
        uint32_t into = part.pt_first % 64, some = 64 - into < part.pt_count ? 64 - into : part.pt_count;
        uint64_t word = page == &all ? UINT64_MAX : page == NULL ? 0 : page->pg_written[part.pt_first / 64] >> into;
        bits |= (word & mask_of(0, some)) << got;
        got += some;
    }
    return bits;
}

/* Changes up to 64 bytes run by run: most words are all written or not at all. */
static void write_bits(struct sim_shadow *shadow, uint64_t offset, uint64_t bits, uint32_t count)
{
    for (uint32_t at = 0; at < count;) {
        bool written = bits >> at & 1;
        uint64_t rest = (written ? ~bits : bits) >> at;
        uint32_t run = rest != 0 ? (uint32_t)__builtin_ctzll(rest) : 64;
        run = run < count - at ? run : count - at;
        change(shadow, offset + at, run, written);
        at += run;
    }
}

void sim_check_shadow_copy(struct sim_shadow *to, uint64_t to_offset, const struct sim_shadow *from,
                           uint64_t from_offset, uint64_t size)
{
    uint64_t first, unwritten = sim_check_shadow_count(from, from_offset, size, &first);
    if (unwritten == 0 || unwritten == size) {
        change(to, to_offset, size, unwritten == 0);
        return;
    }
    bool backwards = to == from && to_offset > from_offset; /* reads what it has not changed yet */
    for (uint64_t done = 0; done < size;) {
        uint32_t count = size - done < 64 ? (uint32_t)(size - done) : 64;
        uint64_t at = backwards ? size - done - count : done;
        write_bits(to, to_offset + at, read_bits(from, from_offset + at, count), count);
        done += count;
    }
}

/* ---- walking over footprints ---- */

static void swap(struct sim_walk *walk, uint32_t i, uint32_t j)
{
    int64_t dim = walk->wk_dims[i], stride = walk->wk_strides[0][i];
    walk->wk_dims[i] = walk->wk_dims[j];
    walk->wk_strides[0][i] = walk->wk_strides[0][j];
    walk->wk_dims[j] = dim;
    walk->wk_strides[0][j] = stride;
}

/* Of a single footprint any order will do: strides that fall join the most elements. */
static void sort(struct sim_walk *walk)
{
    for (uint32_t i = 0; i < walk->wk_rank; i++) {
        if (walk->wk_strides[0][i] < 0) {
            walk->wk_start[0] += (uint64_t)walk->wk_strides[0][i] * (uint64_t)(walk->wk_dims[i] - 1);
            walk->wk_strides[0][i] = -walk->wk_strides[0][i];
        }
        for (uint32_t j = i; j > 0 && walk->wk_strides[0][j] > walk->wk_strides[0][j - 1]; j--)
            swap(walk, j, j - 1);
    }
    while (walk->wk_rank > 0 && walk->wk_strides[0][walk->wk_rank - 1] == 0)
        walk->wk_rank--; /* the same elements again */
}

static void join(struct sim_walk *walk, int sides)
{
    while (walk->wk_rank > 0 && walk->wk_strides[0][walk->wk_rank - 1] == (int64_t)walk->wk_run &&
           (sides == 1 || walk->wk_strides[1][walk->wk_rank - 1] == (int64_t)walk->wk_run))
        walk->wk_run *= (uint64_t)walk->wk_dims[--walk->wk_rank];
}

bool sim_check_walk_begin(struct sim_walk *walk, const struct sim_footprint *one, const struct sim_footprint *other)
{
    const struct sim_footprint *footprints[] = {one, other};
    int sides = other != NULL ? 2 : 1;
    if (one->fp_rank > SIM_WALK_RANK ||
        (sides == 2 && (one->fp_rank != other->fp_rank || one->fp_element != other->fp_element)))
        return false;
    walk->wk_run = one->fp_element;
    walk->wk_rank = 0;
    for (int side = 0; side < sides; side++)
        walk->wk_low[side] = walk->wk_high[side] = walk->wk_start[side] = (uintptr_t)footprints[side]->fp_address;
    for (uint32_t i = 0; i < one->fp_rank; i++) {
        int64_t dim = one->fp_dims[i];
        if (sides == 2 && dim != other->fp_dims[i])
            return false;
        if (dim <= 0)
            walk->wk_run = 0;
        if (dim <= 1)
            continue;
        walk->wk_dims[walk->wk_rank] = dim;
        for (int side = 0; side < sides; side++) {
            int64_t stride = footprints[side]->fp_strides[i] * (int64_t)one->fp_element;
            walk->wk_strides[side][walk->wk_rank] = stride;
            *(stride < 0 ? &walk->wk_low[side] : &walk->wk_high[side]) += (uint64_t)stride * (uint64_t)(dim - 1);
        }
        walk->wk_rank++;
    }
    for (int side = 0; side < sides; side++)
        walk->wk_high[side] += one->fp_element;
    if (sides == 1)
        sort(walk);
    join(walk, sides);
    return true;
}

void sim_check_walk_runs(const struct sim_walk *walk, bool (*visit)(void *context, uint64_t one, uint64_t other),
                         void *context)
{
    int64_t index[SIM_WALK_RANK] = {0};
    uint64_t at[2] = {walk->wk_start[0], walk->wk_start[1]};
    if (walk->wk_run == 0)
        return;
    for (;;) {
        if (!visit(context, at[0], at[1]))
            return;
        uint32_t dim = walk->wk_rank;
        for (; dim > 0; dim--) {
            uint32_t i = dim - 1;
            at[0] += (uint64_t)walk->wk_strides[0][i];
            at[1] += (uint64_t)walk->wk_strides[1][i];
            if (++index[i] < walk->wk_dims[i])
                break;
            at[0] -= (uint64_t)walk->wk_strides[0][i] * (uint64_t)walk->wk_dims[i];
            at[1] -= (uint64_t)walk->wk_strides[1][i] * (uint64_t)walk->wk_dims[i];
            index[i] = 0;
        }
        if (dim == 0)
            return;
    }
}
