/* The windows of pools, and the operators that compute or distribute averages: AvgPool2d, AvgPool3d,
 * AdaptiveAvgPool2d, AdaptiveAvgPool3d and their backward forms. Padding adds 0 to a sum. */
#include "pool.h"

#include "base/fail.h"

/* ---- the windows of a call ---- */

/* A number of an array that has one for all directions or one for each. */
static int64_t number_of(const aclsimArgument *numbers, uint32_t direction)
{
    return numbers->integers[numbers->count == 1 ? 0 : direction];
}

static aclnnStatus check_numbers(const aclsimArgument *numbers, uint32_t directions, int64_t least)
{
    return sim_require_steps(numbers, numbers->count == 1 ? 1 : directions, least);
}

static aclnnStatus check_regular(const struct sim_pooling *pool, const aclsimArgument *given)
{
    const uint32_t directions = pool->po_directions;
    const aclsimArgument *kernel = &given[pool->po_kernel], *padding = &given[pool->po_padding];
    SIM_TRY(check_numbers(kernel, directions, 1));
    if (given[pool->po_stride].count != 0)
        SIM_TRY(check_numbers(&given[pool->po_stride], directions, 1));
    if (pool->po_auto != 0) {
        SIM_ARGUMENT(given[pool->po_auto].integer == 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 0",
                     given[pool->po_auto].name, (long long)given[pool->po_auto].integer);
        if (padding->count == 4 || padding->count == 0)
            SIM_TRY(sim_require_steps(padding, padding->count, 0));
        else
            SIM_TRY(check_numbers(padding, directions, 0));
    } else {
        SIM_TRY(check_numbers(padding, directions, 0));
        for (uint32_t i = 0; i < directions; i++)
            SIM_ARGUMENT(number_of(padding, i) <= number_of(kernel, i) / 2, ACLNN_ERR_PARAM_INVALID,
                         "%s[%u] is %lld, expected at most half of the %lld of %s", padding->name, i,
                         (long long)number_of(padding, i), (long long)number_of(kernel, i), kernel->name);
    }
    if (pool->po_dilation == 0)
        return ACL_SUCCESS;
    const aclsimArgument *dilation = &given[pool->po_dilation];
    if (pool->po_auto == 0)
        SIM_TRY(check_numbers(dilation, directions, 1));
    for (uint64_t i = 0; i < dilation->count && (pool->po_auto != 0 || pool->po_masks); i++)
        SIM_ARGUMENT(dilation->integers[i] == 1, ACLNN_ERR_PARAM_INVALID, "%s[%llu] is %lld, expected 1",
                     dilation->name, (unsigned long long)i, (long long)dilation->integers[i]);
    return ACL_SUCCESS;
}

/* The numbers of MaxPool's padding are those of all sides, of the height and the width, or of the top, the left, the
 * bottom and the right. */
static void find_padding(const aclsimArgument *padding, uint32_t direction, struct sim_pooling_windows *windows)
{
    if (padding->count == 0)
        return;
    windows->wn_before = windows->wn_after = number_of(padding, direction);
    if (padding->count == 4)
        windows->wn_after = padding->integers[2 + direction];
}

static struct sim_pooling_windows regular_windows(const struct sim_pooling *pool, const aclsimArgument *given,
                                                  uint32_t direction, int64_t length)
{
    const aclsimArgument *stride = &given[pool->po_stride];
    struct sim_pooling_windows windows = {.wn_length = length, .wn_apart = 1};
    windows.wn_kernel = number_of(&given[pool->po_kernel], direction);
    windows.wn_step = stride->count != 0 ? number_of(stride, direction) : pool->po_auto != 0 ? 1 : windows.wn_kernel;
    find_padding(&given[pool->po_padding], direction, &windows);
    if (pool->po_dilation != 0 && pool->po_auto == 0)
        windows.wn_apart = number_of(&given[pool->po_dilation], direction);
    const int64_t step = windows.wn_step, extent = (windows.wn_kernel - 1) * windows.wn_apart + 1;
    const bool rounds_up = given[pool->po_ceil].integer != 0;
    int64_t span = length + windows.wn_before + windows.wn_after - extent + (rounds_up ? step - 1 : 0);
    windows.wn_count = span < 0 ? 0 : span / step + 1;
    if (rounds_up && (windows.wn_count - 1) * step >= length + windows.wn_before)
        windows.wn_count--; /* the last window would start in the padding after the image */
    return windows;
}

/* Finds the windows in one direction, 0 being the first of the operator, along dimension `dim`. */
static aclnnStatus find_windows(const struct sim_pooling *pool, const aclsimArgument *given, uint32_t direction,
                                uint32_t dim, struct sim_pooling_windows *windows)
{
    const aclsimArgument *self = &given[pool->po_self];
    const int64_t length = self->tensors->dims[dim];
    if (pool->po_kernel == 0) {
        *windows = (struct sim_pooling_windows){.wn_length = length, .wn_apart = 1};
        windows->wn_count = pool->po_sizes != 0 ? given[pool->po_sizes].integers[direction]
                                                : given[pool->po_pooled].tensors->dims[dim];
        return ACL_SUCCESS;
    }
    *windows = regular_windows(pool, given, direction, length);
    SIM_ARGUMENT(windows->wn_count > 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %lld, which is shorter than the window even with padding", dim, self->name,
                 (long long)length);
    return ACL_SUCCESS;
}

/* ---- checks of a call ---- */

/* The mask has a line of bits per element of the window, which has a block of 32 bytes, or a word of 16 bits, per 16
 * windows, and one more. Clients of the operators with words may also give the blocks, as words. */
static aclnnStatus check_mask(const struct sim_pooling *pool, const aclsimArgument *given,
                              const struct sim_pooling_windows *windows, const int64_t *pooled, uint32_t rank)
{
    int64_t dims[SIM_RANK] = {0};
    const int64_t count = windows[1].wn_count * windows[2].wn_count, blocks = count / 16 + (count % 16 != 0) + 1;
    const aclsimTensor *mask = given[pool->po_indices].tensors;
    const bool has_words = pool->po_words && mask->rank == rank && mask->dims[rank - 1] == blocks;
    for (uint32_t k = 0; k + 2 < rank; k++)
        dims[k] = pooled[k];
    dims[rank - 2] = windows[1].wn_kernel * windows[2].wn_kernel;
    dims[rank - 1] = has_words ? blocks : blocks * (pool->po_words ? 16 : 32);
    return sim_require_shape(&given[pool->po_indices], dims, rank, "that of the mask");
}

aclnnStatus sim_pooling_check(const aclsimCall *call, struct sim_pooling_windows *windows)
{
    const struct sim_pooling *pool = call->userData;
    const aclsimArgument *given = call->arguments, *self = &given[pool->po_self], *pooled = &given[pool->po_pooled];
    const uint32_t directions = pool->po_directions, rank = self->tensors->rank;
    int64_t dims[SIM_RANK] = {0};
    SIM_TRY(sim_require_types(self, pooled, pool->po_types));
    if (pool->po_indices != 0)
        SIM_TRY(sim_require_type(&given[pool->po_indices], pool->po_index_types));
    SIM_TRY(sim_require_rank(self, directions + 1, directions + 2));
    SIM_TRY(sim_planes_check_filled(self, pool->po_fills || rank == directions + 1 ? 0 : 1));
    SIM_TRY(sim_require_rank(pooled, rank, rank));
    if (pool->po_kernel != 0)
        SIM_TRY(check_regular(pool, given));
    else if (pool->po_sizes != 0)
        SIM_TRY(sim_require_steps(&given[pool->po_sizes], directions, 0));
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = self->tensors->dims[k];
    for (uint32_t i = 0; i < SIM_DIRECTIONS; i++)
        windows[i] = (struct sim_pooling_windows){.wn_length = 1, .wn_kernel = 1, .wn_step = 1, .wn_apart = 1,
                                                  .wn_count = 1};
    for (uint32_t i = 0; i < directions; i++) {
        const uint32_t dim = rank - directions + i;
        struct sim_pooling_windows *found = &windows[SIM_DIRECTIONS - directions + i];
        SIM_TRY(find_windows(pool, given, i, dim, found));
        dims[dim] = found->wn_count;
    }
    SIM_TRY(sim_require_shape(pooled, dims, rank, "that of the windows"));
    if (pool->po_masks)
        SIM_TRY(check_mask(pool, given, windows, dims, rank));
    else if (pool->po_indices != 0)
        SIM_TRY(sim_require_shape(&given[pool->po_indices], dims, rank, "that of the windows"));
    if (pool->po_gradient == 0)
        return ACL_SUCCESS;
    return sim_require_like(&given[pool->po_gradient], self);
}

aclnnStatus sim_pooling_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_pooling_windows windows[SIM_DIRECTIONS];
    (void)workspace_size;
    return sim_pooling_check(call, windows);
}

/* ---- going through the windows ---- */

/* The products of an index and a length fit, because both are sizes of memory, except in a view that repeats one
 * element; of such a view the images do not fit in memory. */
static struct sim_pooling_cells adaptive_cells(const struct sim_pooling_windows *windows, int64_t index)
{
    struct sim_pooling_cells cells = {.wc_apart = 1};
    cells.wc_first = index * windows->wn_length / windows->wn_count;
    cells.wc_end = ((index + 1) * windows->wn_length + windows->wn_count - 1) / windows->wn_count;
    cells.wc_padded = cells.wc_end - cells.wc_first;
    return cells;
}

static struct sim_pooling_cells cells_of(const struct sim_pooling_windows *windows, int64_t index)
{
    struct sim_pooling_cells cells = {.wc_apart = windows->wn_apart};
    if (windows->wn_kernel == 0)
        return adaptive_cells(windows, index);
    int64_t start = index * windows->wn_step - windows->wn_before, apart = windows->wn_apart;
    int64_t end = start + (windows->wn_kernel - 1) * apart + 1, most = windows->wn_length + windows->wn_after;
    cells.wc_skipped = start < 0 ? (apart - 1 - start) / apart : 0;
    cells.wc_first = start + cells.wc_skipped * apart;
    cells.wc_end = end < windows->wn_length ? end : windows->wn_length;
    cells.wc_padded = (end < most ? end : most) - start;
    return cells;
}

aclError sim_pooling_each(const struct sim_pooling_windows *windows, int64_t images, sim_pooling_func *each,
                          void *context)
{
    struct sim_pooling_cells cells[SIM_DIRECTIONS];
    int64_t pooled = 0;
    for (int64_t image = 0; image < images; image++)
        for (int64_t d = 0; d < windows[0].wn_count; d++) {
            cells[0] = cells_of(&windows[0], d);
            for (int64_t h = 0; h < windows[1].wn_count; h++) {
                cells[1] = cells_of(&windows[1], h);
                for (int64_t w = 0; w < windows[2].wn_count; w++) {
                    cells[2] = cells_of(&windows[2], w);
                    SIM_TRY(each(context, image, pooled++, cells));
                }
            }
        }
    return ACL_SUCCESS;
}

/* ---- averages ---- */

struct averages {
    const struct sim_planes *av_self; /* or its gradient */
    double *av_pooled;
    bool av_backward, av_counts_pads;
    int64_t av_divisor; /* 0: the number of counted elements */
};

static int64_t length_of(const struct sim_pooling_cells *cells)
{
    return cells->wc_end > cells->wc_first ? cells->wc_end - cells->wc_first : 0;
}

static aclError average(void *context, int64_t image, int64_t pooled, const struct sim_pooling_cells *cells)
{
    const struct averages *averages = context;
    const int64_t *dims = averages->av_self->pl_dims;
    double *self = averages->av_self->pl_values + image * averages->av_self->pl_size, sum = 0;
    int64_t count = length_of(&cells[0]) * length_of(&cells[1]) * length_of(&cells[2]);
    if (count == 0)
        return ACL_SUCCESS;
    if (averages->av_counts_pads)
        count = cells[0].wc_padded * cells[1].wc_padded * cells[2].wc_padded;
    const double divisor = (double)(averages->av_divisor != 0 ? averages->av_divisor : count);
    const double part = averages->av_backward ? averages->av_pooled[pooled] / divisor : 0;
    for (int64_t d = cells[0].wc_first; d < cells[0].wc_end; d++)
        for (int64_t h = cells[1].wc_first; h < cells[1].wc_end; h++) {
            double *line = self + (d * dims[1] + h) * dims[2];
            for (int64_t w = cells[2].wc_first; w < cells[2].wc_end; w++) {
                sum += line[w];
                line[w] += part;
            }
        }
    if (!averages->av_backward)
        averages->av_pooled[pooled] = sum / divisor;
    return ACL_SUCCESS;
}

/* The tensors are self and out, or gradOutput, self and its gradient. */
static aclError compute_averages(const aclsimCall *call, struct sim_planes *planes)
{
    const struct sim_pooling *pool = call->userData;
    const bool backward = pool->po_gradient != 0;
    struct sim_pooling_windows windows[SIM_DIRECTIONS];
    struct averages averages = {.av_self = &planes[backward ? 2 : 0], .av_backward = backward,
                                .av_pooled = planes[backward ? 0 : 1].pl_values};
    if (pool->po_divisor != 0) {
        averages.av_divisor = call->arguments[pool->po_divisor].integer;
        averages.av_counts_pads = call->arguments[pool->po_counts_pads].integer != 0;
    }
    SIM_TRY(sim_pooling_check(call, windows));
    return sim_pooling_each(windows, averages.av_self->pl_count, average, &averages);
}

static aclError run_averages(const aclsimCall *call)
{
    const struct sim_pooling *pool = call->userData;
    return sim_planes_run(call, pool->po_directions, compute_averages);
}

#define AVERAGES(op, ...) SIM_POOLING(op, run_averages, .po_types = SIM_TYPES_SINGLE, __VA_ARGS__)

AVERAGES(AvgPool2d, .po_directions = 2, .po_kernel = 1, .po_stride = 2, .po_padding = 3, .po_ceil = 4,
         .po_counts_pads = 5, .po_divisor = 6, .po_pooled = 8, .po_fills = true)
AVERAGES(AvgPool3d, .po_directions = 3, .po_kernel = 1, .po_stride = 2, .po_padding = 3, .po_ceil = 4,
         .po_counts_pads = 5, .po_divisor = 6, .po_pooled = 7)
AVERAGES(AvgPool2dBackward, .po_directions = 2, .po_self = 1, .po_kernel = 2, .po_stride = 3, .po_padding = 4,
         .po_ceil = 5, .po_counts_pads = 6, .po_divisor = 7, .po_gradient = 9, .po_fills = true)
AVERAGES(AvgPool3dBackward, .po_directions = 3, .po_self = 1, .po_kernel = 2, .po_stride = 3, .po_padding = 4,
         .po_ceil = 5, .po_counts_pads = 6, .po_divisor = 7, .po_gradient = 8)
AVERAGES(AdaptiveAvgPool2d, .po_directions = 2, .po_sizes = 1, .po_pooled = 2)
AVERAGES(AdaptiveAvgPool3d, .po_directions = 3, .po_sizes = 1, .po_pooled = 2)
AVERAGES(AdaptiveAvgPool2dBackward, .po_directions = 2, .po_self = 1, .po_gradient = 2)
AVERAGES(AdaptiveAvgPool3dBackward, .po_directions = 3, .po_self = 1, .po_gradient = 2)
