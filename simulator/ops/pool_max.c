/* Pools that find the maximum of each window: MaxPool, MaxPool2dWithIndices, MaxPool2dWithMask, MaxPool3dWithArgmax,
 * AdaptiveMaxPool2d, AdaptiveMaxPool3d and their backward forms. Padding is never the maximum; among equal elements the
 * first is chosen, but a NaN is chosen before all others, and the last one among several.
 *
 * An index is that of an element in its image. A mask has a line of bits per element of the window, in row-major
 * order; bit t of a line, the least significant bit of a byte or word first, is 1 if the element is the one that
 * window t chose. The documents leave the mask undefined: only the backward form reads it. */
#include "pool.h"
#include "tables.h"

#include "base/fail.h"
#include <math.h>

struct maxima {
    const struct sim_planes *ma_self; /* backward: the gradient of self */
    double *ma_pooled;
    const struct sim_planes *ma_indices; /* NULL: the operator has none */
    bool ma_masks;
    int64_t ma_bits;    /* of an element of the mask */
    const struct sim_planes *ma_gradient; /* of self, to which the maxima add ma_pooled; NULL: the maxima are stored */
    int64_t ma_windows; /* per image */
    int64_t ma_across;  /* elements of a window's row */
};

/* The place of a window's bit: the byte or word in the mask, for the element of the window. */
static double *bits_of(const struct maxima *maxima, int64_t image, int64_t window, int64_t element)
{
    const struct sim_planes *mask = maxima->ma_indices;
    return mask->pl_values + image * mask->pl_size + element * mask->pl_dims[2] + window / maxima->ma_bits;
}

static int64_t element_of(const struct maxima *maxima, const struct sim_pooling_cells *cells, int64_t h, int64_t w)
{
    int64_t row = cells[1].wc_skipped + (h - cells[1].wc_first) / cells[1].wc_apart;
    int64_t column = cells[2].wc_skipped + (w - cells[2].wc_first) / cells[2].wc_apart;
    return row * maxima->ma_across + column;
}

/* ---- forward: self, ..., out, indices ---- */

static aclError find(void *context, int64_t image, int64_t pooled, const struct sim_pooling_cells *cells)
{
    const struct maxima *maxima = context;
    const struct sim_planes *self = maxima->ma_self;
    const int64_t *dims = self->pl_dims, window = pooled % maxima->ma_windows;
    const double *values = self->pl_values + image * self->pl_size;
    double best = -INFINITY;
    int64_t at[SIM_DIRECTIONS] = {cells[0].wc_first, cells[1].wc_first, cells[2].wc_first};
    for (int64_t d = cells[0].wc_first; d < cells[0].wc_end; d += cells[0].wc_apart)
        for (int64_t h = cells[1].wc_first; h < cells[1].wc_end; h += cells[1].wc_apart)
            for (int64_t w = cells[2].wc_first; w < cells[2].wc_end; w += cells[2].wc_apart) {
                double value = values[(d * dims[1] + h) * dims[2] + w];
                if (value > best || value != value) {
                    best = value;
                    at[0] = d, at[1] = h, at[2] = w;
                }
            }
    if (maxima->ma_gradient != NULL) {
        double *gradient = maxima->ma_gradient->pl_values + image * self->pl_size;
        gradient[(at[0] * dims[1] + at[1]) * dims[2] + at[2]] += maxima->ma_pooled[pooled];
        return ACL_SUCCESS;
    }
    maxima->ma_pooled[pooled] = best;
    if (maxima->ma_masks)
        *bits_of(maxima, image, window, element_of(maxima, cells, at[1], at[2])) +=
            (double)(1 << window % maxima->ma_bits);
    else if (maxima->ma_indices != NULL)
        maxima->ma_indices->pl_values[pooled] = (double)((at[0] * dims[1] + at[1]) * dims[2] + at[2]);
    return ACL_SUCCESS;
}

static struct maxima maxima_of(const struct sim_pooling *pool, const struct sim_pooling_windows *windows)
{
    return (struct maxima){.ma_masks = pool->po_masks,
                           .ma_bits = pool->po_words ? 16 : 8,
                           .ma_windows = windows[0].wn_count * windows[1].wn_count * windows[2].wn_count,
                           .ma_across = windows[2].wn_kernel};
}

static aclError compute_maxima(const aclsimCall *call, struct sim_planes *planes)
{
    const struct sim_pooling *pool = call->userData;
    struct sim_pooling_windows windows[SIM_DIRECTIONS];
    SIM_TRY(sim_pooling_check(call, windows));
    struct maxima maxima = maxima_of(pool, windows);
    maxima.ma_self = &planes[0];
    maxima.ma_pooled = planes[1].pl_values;
    maxima.ma_indices = pool->po_indices != 0 ? &planes[2] : NULL;
    SIM_TRY(sim_pooling_each(windows, planes[0].pl_count, find, &maxima));
    if (pool->po_masks && !pool->po_words)
        for (int64_t i = 0; i < planes[2].pl_count * planes[2].pl_size; i++)
            planes[2].pl_values[i] -= planes[2].pl_values[i] > INT8_MAX ? 256 : 0; /* a byte is stored as int8 */
    return ACL_SUCCESS;
}

static aclError run_maxima(const aclsimCall *call)
{
    const struct sim_pooling *pool = call->userData;
    return sim_planes_run(call, pool->po_directions, compute_maxima);
}

/* ---- backward: gradOutput, self, indices, ..., gradInput ---- */

static aclError spread_by_mask(void *context, int64_t image, int64_t pooled, const struct sim_pooling_cells *cells)
{
    const struct maxima *maxima = context;
    const int64_t window = pooled % maxima->ma_windows, across = maxima->ma_self->pl_dims[2];
    for (int64_t h = cells[1].wc_first; h < cells[1].wc_end; h++)
        for (int64_t w = cells[2].wc_first; w < cells[2].wc_end; w++) {
            unsigned bits = (unsigned)(int)*bits_of(maxima, image, window, element_of(maxima, cells, h, w));
            if ((bits >> window % maxima->ma_bits & 1) != 0) {
                maxima->ma_self->pl_values[image * maxima->ma_self->pl_size + h * across + w] +=
                    maxima->ma_pooled[pooled];
                return ACL_SUCCESS;
            }
        }
    return ACL_SUCCESS;
}

static aclError spread_by_index(const struct sim_planes *pooled, const struct sim_planes *indices, const char *name,
                                const struct sim_planes *gradient)
{
    for (int64_t i = 0; i < pooled->pl_count * pooled->pl_size; i++) {
        const double index = indices->pl_values[i];
        if (!(index >= 0 && index < (double)gradient->pl_size))
            return sim_planes_fail_index(name, index, gradient->pl_size);
        gradient->pl_values[i / pooled->pl_size * gradient->pl_size + (int64_t)index] += pooled->pl_values[i];
    }
    return ACL_SUCCESS;
}

static aclError compute_gradient(const aclsimCall *call, struct sim_planes *planes)
{
    const struct sim_pooling *pool = call->userData;
    struct sim_pooling_windows windows[SIM_DIRECTIONS];
    if (!pool->po_masks)
        return spread_by_index(&planes[0], &planes[2], call->arguments[pool->po_indices].name, &planes[3]);
    SIM_TRY(sim_pooling_check(call, windows));
    struct maxima maxima = maxima_of(pool, windows);
    maxima.ma_self = &planes[3];
    maxima.ma_pooled = planes[0].pl_values;
    maxima.ma_indices = &planes[2];
    return sim_pooling_each(windows, planes[3].pl_count, spread_by_mask, &maxima);
}

static aclError run_gradient(const aclsimCall *call)
{
    const struct sim_pooling *pool = call->userData;
    return sim_planes_run(call, pool->po_directions, compute_gradient);
}

/* ---- the operators ---- */

#define INDEXED(op, dims, types, ...)                                                                                  \
    SIM_POOLING(op, run_maxima, .po_types = SIM_TYPES_SINGLE, .po_index_types = (types), .po_directions = (dims),      \
                .po_kernel = 1, .po_stride = 2, .po_padding = 3, .po_dilation = 4, .po_ceil = 5, .po_pooled = 6,       \
                .po_indices = 7, __VA_ARGS__)                                                                          \
    SIM_POOLING(op##Backward, run_gradient, .po_types = SIM_TYPES_SINGLE, .po_index_types = (types),                   \
                .po_directions = (dims), .po_self = 1, .po_indices = 2, .po_kernel = 3, .po_stride = 4,                \
                .po_padding = 5, .po_dilation = 6, .po_ceil = 7, .po_gradient = 8, __VA_ARGS__)

INDEXED(MaxPool2dWithIndices, 2, SIM_TYPES_INDEX, .po_masks = false)
INDEXED(MaxPool2dWithMask, 2, SIM_TYPE(ACL_INT8), .po_masks = true)
INDEXED(MaxPool3dWithArgmax, 3, SIM_TYPE(ACL_INT32), .po_masks = false)

SIM_POOLING(MaxPool, run_maxima, .po_types = SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16), .po_directions = 2,
            .po_kernel = 1, .po_stride = 2, .po_auto = 3, .po_padding = 4, .po_dilation = 5, .po_ceil = 6,
            .po_pooled = 7)
SIM_POOLING(AdaptiveMaxPool2d, run_maxima, .po_types = SIM_TYPES_FLOAT, .po_index_types = SIM_TYPE(ACL_INT64),
            .po_directions = 2, .po_sizes = 1, .po_pooled = 2, .po_indices = 3)
SIM_POOLING(AdaptiveMaxPool3d, run_maxima, .po_types = SIM_TYPES_SINGLE, .po_index_types = SIM_TYPE(ACL_INT32),
            .po_directions = 3, .po_sizes = 1, .po_pooled = 2, .po_indices = 3)
SIM_POOLING(AdaptiveMaxPool2dBackward, run_gradient, .po_types = SIM_TYPES_SINGLE, .po_index_types = SIM_TYPES_INDEX,
            .po_directions = 2, .po_self = 1, .po_indices = 2, .po_gradient = 3)
SIM_POOLING(AdaptiveMaxPool3dBackward, run_gradient, .po_types = SIM_TYPES_SINGLE,
            .po_index_types = SIM_TYPE(ACL_INT32), .po_directions = 3, .po_self = 1, .po_indices = 2, .po_gradient = 3)

/* ---- single operators ---- */

/* The gradient without indices: grads, orig_x, ..., y. */
static aclError compute_found(const aclsimCall *call, struct sim_planes *planes)
{
    struct sim_pooling_windows windows[SIM_DIRECTIONS];
    SIM_TRY(sim_pooling_check(call, windows));
    struct maxima maxima = maxima_of(call->userData, windows);
    maxima.ma_self = &planes[1];
    maxima.ma_pooled = planes[0].pl_values;
    maxima.ma_gradient = &planes[2];
    return sim_pooling_each(windows, planes[1].pl_count, find, &maxima);
}

static aclError run_found(const aclsimCall *call)
{
    const struct sim_pooling *pool = call->userData;
    return sim_planes_run(call, pool->po_directions, compute_found);
}

#define WINDOWS                                                                                                        \
    {"ksize", ACLSIM_INTEGERS, 0, false}, {"strides", ACLSIM_INTEGERS, 0, false}, {"pads", ACLSIM_INTEGERS, 0, false}, \
        {"dilation", ACLSIM_INTEGERS, 0, false}, {"ceil_mode", ACLSIM_INTEGER, 0, false}
#define MASKED .po_types = SIM_TYPES_SINGLE, .po_index_types = SIM_TYPE(ACL_UINT16), .po_masks = true, .po_words = true
#define SINGLE(place, type, run, parameters, ...)                                                                      \
    static const struct sim_pooling pool_##place = {__VA_ARGS__};                                                      \
    static const struct sim_kernel kernel_##place = {sim_pooling_plan, run, (void *)&pool_##place, false};             \
    struct sim_row sim_op_##place##_row = SIM_ROW(type, SIM_TASK_VECTOR, parameters, &kernel_##place);

static const struct sim_parameter mask_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, WINDOWS, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    {"argmax", ACLSIM_TENSOR, ACLSIM_OUT, false}};
static const struct sim_parameter mask_grad_parameters[] = {
    {"grad", ACLSIM_TENSOR, ACLSIM_IN, false}, {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"argmax", ACLSIM_TENSOR, ACLSIM_IN, false}, WINDOWS, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};
static const struct sim_parameter deep_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, WINDOWS, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};
static const struct sim_parameter deep_grad_parameters[] = {
    {"grads", ACLSIM_TENSOR, ACLSIM_IN, false}, {"orig_x", ACLSIM_TENSOR, ACLSIM_IN, false}, WINDOWS,
    {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

SINGLE(max_pool_mask, "MaxPoolWithArgmaxV1", run_maxima, mask_parameters, MASKED, .po_directions = 2, .po_kernel = 1,
       .po_stride = 2, .po_padding = 3, .po_dilation = 4, .po_ceil = 5, .po_pooled = 6, .po_indices = 7)
SINGLE(max_pool_mask_grad, "MaxPoolGradWithArgmaxV1", run_gradient, mask_grad_parameters, MASKED, .po_directions = 2,
       .po_self = 1, .po_indices = 2, .po_kernel = 3, .po_stride = 4, .po_padding = 5, .po_dilation = 6, .po_ceil = 7,
       .po_gradient = 8)
SINGLE(max_pool_3d, "MaxPool3D", run_maxima, deep_parameters, .po_types = SIM_TYPES_SINGLE, .po_directions = 3,
       .po_kernel = 1, .po_stride = 2, .po_padding = 3, .po_dilation = 4, .po_ceil = 5, .po_pooled = 6)
SINGLE(max_pool_3d_grad, "MaxPool3DGrad", run_found, deep_grad_parameters, .po_types = SIM_TYPES_SINGLE,
       .po_directions = 3, .po_self = 1, .po_kernel = 2, .po_stride = 3, .po_padding = 4, .po_dilation = 5,
       .po_ceil = 6, .po_gradient = 7)
