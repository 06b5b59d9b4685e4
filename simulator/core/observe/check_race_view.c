/* Races: the bytes of strided views. A view is brought into one form: rows of adjacent bytes, and the dimensions that
 * repeat them. Whether two views share a byte is decided exactly, so that two streams may write different columns of
 * one matrix. There is no state and no lock. */
#include "check_race.h"

#include <string.h>

#define ROWS_TO_COMPARE 4096 /* of the view that has fewer */

/* Inserts a dimension, so that the strides descend. */
static void insert(struct sim_race_view *view, uint64_t dim, uint64_t stride)
{
    uint32_t place = view->vw_rank++;
    for (; place != 0 && view->vw_strides[place - 1] < stride; place--) {
        view->vw_strides[place] = view->vw_strides[place - 1];
        view->vw_dims[place] = view->vw_dims[place - 1];
    }
    view->vw_strides[place] = stride;
    view->vw_dims[place] = dim;
}

/* Joins rows that touch, and dimensions that continue each other. */
static void simplify(struct sim_race_view *view)
{
    while (view->vw_rank != 0 && view->vw_strides[view->vw_rank - 1] <= view->vw_width) {
        view->vw_rank--;
        view->vw_width += (view->vw_dims[view->vw_rank] - 1) * view->vw_strides[view->vw_rank];
    }
    for (uint32_t i = 1; i < view->vw_rank;) {
        if (view->vw_strides[i - 1] != view->vw_strides[i] * view->vw_dims[i]) {
            i++;
            continue;
        }
        view->vw_dims[i] *= view->vw_dims[i - 1];
        for (uint32_t j = i - 1; j + 1 < view->vw_rank; j++) {
            view->vw_dims[j] = view->vw_dims[j + 1];
            view->vw_strides[j] = view->vw_strides[j + 1];
        }
        view->vw_rank--;
        i = 1;
    }
}

bool sim_check_race_view_of(const struct sim_footprint *footprint, struct sim_race_view *view)
{
    memset(view, 0, sizeof *view); /* also between the members, because views are compared as bytes */
    view->vw_start = (uintptr_t)footprint->fp_address;
    view->vw_width = footprint->fp_element;
    view->vw_rows = 1;
    for (uint32_t i = 0; i < footprint->fp_rank; i++) {
        int64_t dim = footprint->fp_dims[i], stride = footprint->fp_strides[i] * (int64_t)footprint->fp_element;
        if (dim <= 0)
            return false;
        if (dim == 1 || stride == 0)
            continue;
        if (stride < 0) { /* from its last element on, forwards */
            view->vw_start -= (uint64_t)((dim - 1) * -stride);
            stride = -stride;
        }
        if (view->vw_rank == SIM_RACE_RANK)
            simplify(view);
        if (view->vw_rank == SIM_RACE_RANK)
            return false;
        insert(view, (uint64_t)dim, (uint64_t)stride);
    }
    simplify(view);
    view->vw_end = view->vw_start + view->vw_width;
    for (uint32_t i = 0; i < view->vw_rank; i++) {
        view->vw_rows *= view->vw_dims[i];
        view->vw_end += (view->vw_dims[i] - 1) * view->vw_strides[i];
    }
    for (uint32_t i = view->vw_rank; i < SIM_RACE_RANK; i++)
        view->vw_dims[i] = view->vw_strides[i] = 0;
    return view->vw_width != 0;
}

void sim_check_race_view_each(const struct sim_race_view *view,
                              void (*visit)(uint64_t start, uint64_t end, void *context), void *context)
{
    uint64_t at[SIM_RACE_RANK] = {0}, start = view->vw_start;
    for (;;) {
        visit(start, start + view->vw_width, context);
        uint32_t i = view->vw_rank;
        while (i != 0 && ++at[i - 1] == view->vw_dims[i - 1]) {
            i--;
            start -= (view->vw_dims[i] - 1) * view->vw_strides[i];
            at[i] = 0;
        }
        if (i == 0)
            return;
        start += view->vw_strides[i - 1];
    }
}

/* Whether the part of the view that its dimensions from `level` on span, moved to `base`, has a byte of the range. */
static bool meets(const struct sim_race_view *view, uint32_t level, uint64_t base, uint64_t start, uint64_t end)
{
    uint64_t inner = view->vw_width;
    for (uint32_t i = level + 1; i < view->vw_rank; i++)
        inner += (view->vw_dims[i] - 1) * view->vw_strides[i];
    if (level == view->vw_rank)
        return base < end && base + inner > start;
    uint64_t stride = view->vw_strides[level], count = view->vw_dims[level];
    /* The first part that ends behind `start`; each part that begins inside the range has its first byte there. */
    uint64_t first = start >= base + inner ? (start - base - inner) / stride + 1 : 0;
    for (uint64_t i = first; i < count && base + i * stride < end; i++)
        if (base + i * stride >= start || meets(view, level + 1, base + i * stride, start, end))
            return true;
    return false;
}

bool sim_check_race_view_meets_bytes(const struct sim_race_view *view, uint64_t start, uint64_t end)
{
    return start < view->vw_end && end > view->vw_start && meets(view, 0, view->vw_start, start, end);
}

struct comparison {
    const struct sim_race_view *co_other;
    bool co_meets;
};

static void compare_row(uint64_t start, uint64_t end, void *context)
{
    struct comparison *comparison = context;
    comparison->co_meets = comparison->co_meets || sim_check_race_view_meets_bytes(comparison->co_other, start, end);
}

/* Two sets of rows with the same stride: whether a row of one, moved by whole strides, meets a row of the other. */
static bool rows_meet(const struct sim_race_view *one, const struct sim_race_view *other)
{
    int64_t stride = (int64_t)one->vw_strides[0], distance = (int64_t)(other->vw_start - one->vw_start);
    int64_t low = distance - (int64_t)one->vw_width, high = distance + (int64_t)other->vw_width;
    /* The smallest multiple of the stride above `low`, which a difference of two rows can be. */
    int64_t steps = low >= 0 ? low / stride + 1 : -((-low - 1) / stride);
    int64_t least = 1 - (int64_t)other->vw_dims[0];
    steps = steps < least ? least : steps;
    return steps < (int64_t)one->vw_dims[0] && steps * stride < high;
}

bool sim_check_race_view_meets(const struct sim_race_view *one, const struct sim_race_view *other)
{
    if (one->vw_start >= other->vw_end || other->vw_start >= one->vw_end)
        return false;
    if (one->vw_rank == 1 && other->vw_rank == 1 && one->vw_strides[0] == other->vw_strides[0])
        return rows_meet(one, other);
    const struct sim_race_view *fewer = one->vw_rows <= other->vw_rows ? one : other;
    struct comparison comparison = {.co_other = fewer == one ? other : one};
    if (fewer->vw_rows <= ROWS_TO_COMPARE)
        sim_check_race_view_each(fewer, compare_row, &comparison);
    return comparison.co_meets;
}
