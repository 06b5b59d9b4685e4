/* Shadows agree with an array of bytes, whatever is written, erased and copied. Walks over footprints visit each
 * element once, in runs as long as possible. */
#include "observe/check_shadow.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define MOST (3 * SIM_SHADOW_BYTES + 77)

static unsigned char model[2][MOST]; /* 1: written */
static uint64_t seed = 12345;

static uint64_t draw(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

static void compare(const struct sim_shadow *shadow, const unsigned char *bytes, uint64_t offset, uint64_t size)
{
    uint64_t count = 0, first = 0, found = 0;
    for (uint64_t i = offset; i < offset + size; i++)
        if (bytes[i] == 0 && count++ == 0)
            first = i;
    CHECK(sim_check_shadow_count(shadow, offset, size, &found) == count);
    CHECK(count == 0 || found == first);
}

static void test_shadows_agree_with_bytes(uint64_t size)
{
    struct sim_shadow shadows[2];
    for (int i = 0; i < 2; i++) {
        sim_check_shadow_begin(&shadows[i], 4096, size);
        memset(model[i], 0, size);
    }
    for (int step = 0; step < 4000; step++) {
        uint64_t which = draw(2), other = draw(2), from = draw(size), to = draw(size);
        uint64_t most = size - (from > to ? from : to);
        uint64_t count = draw(8) == 0 ? most : draw(most < 300 ? most + 1 : 300);
        if (draw(40) == 0)
            from = to = 0, count = size;
        switch (draw(4)) {
        case 0:
        case 1:
            sim_check_shadow_write(&shadows[which], to, count);
            memset(model[which] + to, 1, count);
            break;
        case 2:
            sim_check_shadow_erase(&shadows[which], to, count);
            memset(model[which] + to, 0, count);
            break;
        default:
            sim_check_shadow_copy(&shadows[which], to, &shadows[other], from, count);
            memmove(model[which] + to, model[other] + from, count);
        }
        compare(&shadows[which], model[which], to, count);
        compare(&shadows[which], model[which], 0, size);
    }
    for (int i = 0; i < 2; i++)
        sim_check_shadow_end(&shadows[i]);
}

struct seen {
    uint64_t se_runs, se_run;
    unsigned char se_bytes[4096];
    uint64_t se_pairs; /* sum of the other addresses */
};

static bool see(void *context, uint64_t one, uint64_t other)
{
    struct seen *seen = context;
    seen->se_runs++;
    for (uint64_t i = 0; i < seen->se_run; i++)
        seen->se_bytes[one + i]++;
    seen->se_pairs += other;
    return true;
}

static uint64_t walk(struct seen *seen, uint64_t address, uint64_t element, uint32_t rank, const int64_t *dims,
                     const int64_t *strides)
{
    struct sim_walk made;
    const struct sim_footprint footprint = {.fp_address = (const void *)(uintptr_t)address, .fp_element = element,
                                            .fp_rank = rank, .fp_dims = dims, .fp_strides = strides};
    memset(seen, 0, sizeof *seen);
    CHECK(sim_check_walk_begin(&made, &footprint, NULL));
    seen->se_run = made.wk_run;
    sim_check_walk_runs(&made, see, seen);
    for (uint64_t i = 0; i < sizeof seen->se_bytes; i++)
        CHECK(seen->se_bytes[i] == 0 || (i >= made.wk_low[0] && i < made.wk_high[0]));
    return seen->se_runs;
}

static void test_walks_visit_each_element_once(void)
{
    struct seen seen;
    CHECK(walk(&seen, 100, 4, 0, NULL, NULL) == 1 && seen.se_run == 4 && seen.se_bytes[100] == 1);
    CHECK(walk(&seen, 0, 4, 2, (int64_t[]){4, 5}, (int64_t[]){5, 1}) == 1 && seen.se_run == 80);
    CHECK(walk(&seen, 0, 4, 2, (int64_t[]){4, 5}, (int64_t[]){1, 4}) == 1 && seen.se_run == 80); /* transposed */
    CHECK(walk(&seen, 0, 4, 2, (int64_t[]){4, 5}, (int64_t[]){10, 1}) == 4 && seen.se_run == 20); /* rows apart */
    CHECK(walk(&seen, 4, 4, 2, (int64_t[]){4, 1}, (int64_t[]){2, 1}) == 4 && seen.se_run == 4);   /* a column */
    CHECK(seen.se_bytes[4] == 1 && seen.se_bytes[8] == 0 && seen.se_bytes[12] == 1);
    CHECK(walk(&seen, 400, 4, 1, (int64_t[]){5}, (int64_t[]){-1}) == 1 && seen.se_run == 20); /* backwards */
    CHECK(seen.se_bytes[384] == 1 && seen.se_bytes[403] == 1 && seen.se_bytes[383] == 0);
    CHECK(walk(&seen, 0, 8, 2, (int64_t[]){100, 3}, (int64_t[]){0, 1}) == 1 && seen.se_run == 24); /* broadcast */
    CHECK(walk(&seen, 0, 8, 2, (int64_t[]){100, 0}, (int64_t[]){1, 1}) == 0);
}

static void test_walks_over_two_keep_the_order(void)
{
    struct sim_walk made;
    struct seen seen = {.se_runs = 0};
    const int64_t dims[] = {2, 3}, one[] = {3, 1}, other[] = {1, 2}, fewer[] = {2, 2};
    struct sim_footprint from = {.fp_element = 4, .fp_rank = 2, .fp_dims = dims, .fp_strides = one};
    struct sim_footprint to = {.fp_element = 4, .fp_rank = 2, .fp_dims = dims, .fp_strides = other};
    CHECK(sim_check_walk_begin(&made, &from, &to) && made.wk_run == 4);
    seen.se_run = 4;
    sim_check_walk_runs(&made, see, &seen);
    CHECK(seen.se_runs == 6 && seen.se_pairs == 4 * (0 + 2 + 4 + 1 + 3 + 5));
    CHECK(sim_check_walk_begin(&made, &from, &from) && made.wk_run == 24);
    to.fp_dims = fewer;
    CHECK(!sim_check_walk_begin(&made, &from, &to));
    to = from;
    to.fp_element = 2;
    CHECK(!sim_check_walk_begin(&made, &from, &to));
}

int main(void)
{
    test_shadows_agree_with_bytes(1);
    test_shadows_agree_with_bytes(100);
    test_shadows_agree_with_bytes(SIM_SHADOW_BYTES);
    test_shadows_agree_with_bytes(MOST);
    test_walks_visit_each_element_once();
    test_walks_over_two_keep_the_order();
    puts("ok");
    return 0;
}
