/* Single operators that move a window over the height and width of images: the MaxPool and AvgPool operators, Conv2D
 * and Conv2DTranspose. The arguments give the order of the axes and all numbers of the window. Padding is never the
 * maximum, and adds 0 to a sum. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/op.h"
#include "convolve.h"
#include "line.h"
#include "require.h"
#include "tables.h"

#include <math.h>
#include <stdlib.h>

enum { N, C, H, W, AXES };

/* The window in one direction. */
struct span {
    int64_t sp_size, sp_step, sp_apart, sp_before, sp_after;
};

/* Checks that the tensor has four dimensions, and that `axes` names each of them once. */
static aclnnStatus check_image(const aclsimArgument *image, const aclsimArgument *axes)
{
    unsigned found = 0;
    SIM_TRY(sim_require_rank(image, AXES, AXES));
    for (uint64_t i = 0; i < axes->count; i++)
        if (axes->integers[i] >= 0 && axes->integers[i] < AXES)
            found |= 1u << axes->integers[i];
    SIM_ARGUMENT(axes->count == AXES && found == 0xf, ACLNN_ERR_PARAM_INVALID,
                 "%s is not a permutation of 0 to 3", axes->name);
    return ACL_SUCCESS;
}

static aclnnStatus count_windows(const aclsimArgument *image, int64_t axis, const struct span *span, int64_t *count)
{
    int64_t length = image->tensors->dims[axis];
    *count = sim_op_window_count(length, (span->sp_size - 1) * span->sp_apart + 1, span->sp_step,
                                 span->sp_before + span->sp_after);
    SIM_ARGUMENT(*count > 0, ACLNN_ERR_PARAM_INVALID,
                 "dimension %lld of %s is %lld, which is shorter than the window even with padding", (long long)axis,
                 image->name, (long long)length);
    return ACL_SUCCESS;
}

/* ---- pools: x, axes, ksize, strides, pads, counts_pads, divisor, y ---- */

static void find_spans(const aclsimArgument *given, struct span *spans)
{
    for (int i = 0; i < 2; i++)
        spans[i] = (struct span){given[2].integers[i], given[3].integers[i], 1, given[4].integers[2 * i],
                                 given[4].integers[2 * i + 1]};
}

static aclnnStatus plan_pool(const aclsimCall *call, uint64_t *workspace_size)
{
    const uint64_t types = *(const uint64_t *)call->userData;
    const aclsimArgument *given = call->arguments;
    const int64_t *axes = given[1].integers;
    struct span spans[2];
    int64_t dims[AXES];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[7], types));
    SIM_TRY(check_image(&given[0], &given[1]));
    SIM_TRY(sim_require_steps(&given[2], 2, 1));
    SIM_TRY(sim_require_steps(&given[3], 2, 1));
    SIM_TRY(sim_require_steps(&given[4], 4, 0));
    if (given[5].count != 0)
        SIM_TRY(sim_require_steps(&given[5], 2, 0));
    find_spans(given, spans);
    for (int i = 0; i < AXES; i++)
        dims[i] = given[0].tensors->dims[i];
    for (int i = 0; i < 2; i++)
        SIM_TRY(count_windows(&given[0], axes[H + i], &spans[i], &dims[axes[H + i]]));
    return sim_require_shape(&given[7], dims, AXES, "that of the pooled x");
}

struct pool {
    const struct span *po_rows, *po_columns;
    const aclsimTensor *po_from, *po_to;
    const int64_t *po_axes;
    bool po_averages, po_counts_pads;
    int64_t po_counted[2]; /* padding after the rows and after the columns that is counted in the divisor */
    int64_t po_divisor; /* 0: the number of counted elements */
    enum sim_class po_class;
    struct result {
        int64_t re_integer;
        double re_number;
    } po_result;
};

static void pool_block(struct pool *pool, const union sim_block_values *block, size_t count)
{
    struct result *result = &pool->po_result;
    for (size_t i = 0; i < count; i++) {
        const int64_t integer = block->bv_integers[i];
        if (pool->po_averages)
            result->re_number += block->bv_doubles[i];
        else if (pool->po_class == SIM_CLASS_INTEGER)
            result->re_integer = integer > result->re_integer ? integer : result->re_integer;
        else if (!(block->bv_doubles[i] <= result->re_number))
            result->re_number = result->re_number != result->re_number ? result->re_number : block->bv_doubles[i];
    }
}

/* Finds the elements of a window in one direction: from `first` to before `end`. Returns their number with padding, of
 * which at most `counted` after the image is included. */
static int64_t cut(const struct span *span, int64_t index, int64_t length, int64_t counted, int64_t *first,
                   int64_t *end)
{
    int64_t start = index * span->sp_step - span->sp_before, stop = start + span->sp_size;
    *first = start < 0 ? 0 : start;
    *end = stop > length ? length : stop;
    return (stop > length + counted ? length + counted : stop) - start;
}

static void pool_window(struct pool *pool, int64_t row, int64_t column, const char *image, char *to)
{
    const aclsimTensor *from = pool->po_from;
    const int64_t h = pool->po_axes[H], w = pool->po_axes[W], size = (int64_t)sim_element_size(from->type);
    int64_t top, bottom, left, right;
    union sim_block_values block;
    int64_t padded = cut(pool->po_rows, row, from->dims[h], pool->po_counted[0], &top, &bottom);
    padded *= cut(pool->po_columns, column, from->dims[w], pool->po_counted[1], &left, &right);
    pool->po_result = (struct result){INT64_MIN, pool->po_averages ? 0 : -INFINITY};
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x += SIM_BLOCK) {
            size_t count = sim_element_block(x, right);
            sim_element_load(&block, pool->po_class, image + (y * from->strides[h] + x * from->strides[w]) * size,
                             from->type, from->strides[w], count);
            pool_block(pool, &block, count);
        }
    int64_t elements = bottom > top && right > left ? (bottom - top) * (right - left) : 0;
    if (pool->po_averages)
        pool->po_result.re_number /=
            (double)(pool->po_divisor != 0 ? pool->po_divisor : pool->po_counts_pads ? padded : elements);
    if (pool->po_class == SIM_CLASS_INTEGER)
        block.bv_integers[0] = pool->po_result.re_integer;
    else
        block.bv_doubles[0] = pool->po_result.re_number;
    sim_element_store(&block, pool->po_class, to, from->type, 0, 1);
}

static aclError run_pool(const aclsimCall *call, bool averages)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *from = given[0].tensors, *to = given[7].tensors;
    const int64_t *axes = given[1].integers, size = (int64_t)sim_element_size(from->type);
    struct span spans[2];
    find_spans(given, spans);
    struct pool pool = {.po_rows = &spans[0], .po_columns = &spans[1], .po_from = from, .po_to = to, .po_axes = axes,
                        .po_averages = averages, .po_counts_pads = given[5].count != 0,
                        .po_divisor = given[6].integer,
                        .po_class = sim_element_is(from->type, SIM_TYPES_FLOAT) ? SIM_CLASS_DOUBLE : SIM_CLASS_INTEGER};
    for (uint64_t i = 0; i < given[5].count; i++)
        pool.po_counted[i] = given[5].integers[i];
    for (int64_t n = 0; n < to->dims[axes[N]]; n++)
        for (int64_t c = 0; c < to->dims[axes[C]]; c++)
            for (int64_t y = 0; y < to->dims[axes[H]]; y++)
                for (int64_t x = 0; x < to->dims[axes[W]]; x++)
                    pool_window(&pool, y, x,
                                (const char *)from->data +
                                    (n * from->strides[axes[N]] + c * from->strides[axes[C]]) * size,
                                (char *)to->data + (n * to->strides[axes[N]] + c * to->strides[axes[C]] +
                                                    y * to->strides[axes[H]] + x * to->strides[axes[W]]) * size);
    return ACL_SUCCESS;
}

static aclError run_max_pool(const aclsimCall *call)
{
    return run_pool(call, false);
}

static aclError run_avg_pool(const aclsimCall *call)
{
    return run_pool(call, true);
}

static const uint64_t max_types = SIM_TYPES_FLOAT | SIM_TYPES_INTEGER, avg_types = SIM_TYPES_FLOAT;
static const struct sim_kernel max_kernel = {plan_pool, run_max_pool, (void *)&max_types, false},
                               avg_kernel = {plan_pool, run_avg_pool, (void *)&avg_types, false};
static const struct sim_parameter pool_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},     {"axes", ACLSIM_INTEGERS, 0, false},
    {"ksize", ACLSIM_INTEGERS, 0, false},       {"strides", ACLSIM_INTEGERS, 0, false},
    {"pads", ACLSIM_INTEGERS, 0, false},        {"counts_pads", ACLSIM_INTEGERS, 0, false},
    {"divisor", ACLSIM_INTEGER, 0, false},      {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_max_pool_row = SIM_ROW("MaxPool", SIM_TASK_VECTOR, pool_parameters, &max_kernel),
               sim_op_avg_pool_row = SIM_ROW("AvgPool", SIM_TASK_VECTOR, pool_parameters, &avg_kernel);

/* ---- Conv2D: x, filter, bias, axes, filter_axes, strides, pads, dilations, groups, y ---- */

static void find_filter_spans(const aclsimArgument *given, struct span *spans)
{
    const int64_t *axes = given[4].integers;
    for (int i = 0; i < 2; i++)
        spans[i] = (struct span){given[1].tensors->dims[axes[H + i]], given[5].integers[i], given[7].integers[i],
                                 given[6].integers[2 * i], given[6].integers[2 * i + 1]};
}

static aclnnStatus check_channels(const aclsimArgument *given)
{
    const int64_t *axes = given[3].integers, *filter_axes = given[4].integers, groups = given[8].integer;
    const aclsimTensor *x = given[0].tensors, *filter = given[1].tensors;
    int64_t outputs = filter->dims[filter_axes[N]], inputs = filter->dims[filter_axes[C]], found = inputs;
    SIM_ARGUMENT(groups > 0 && outputs % groups == 0, ACLNN_ERR_PARAM_INVALID,
                 "groups is %lld and filter has %lld output channels, expected a divisor of the channels",
                 (long long)groups, (long long)outputs);
    SIM_ARGUMENT(sim_length_multiply(&found, groups) && found == x->dims[axes[C]], ACLNN_ERR_PARAM_INVALID,
                 "x has %lld channels, filter has %lld and groups is %lld, expected x to have the product of both",
                 (long long)x->dims[axes[C]], (long long)inputs, (long long)groups);
    return ACL_SUCCESS;
}

/* Counts the windows over the height and width of an image: dimensions of the image that convolution makes. */
static aclnnStatus count_filters(const aclsimArgument *given, const aclsimArgument *image, int64_t *dims)
{
    const int64_t *axes = given[3].integers, *filter_axes = given[4].integers;
    struct span spans[2];
    find_filter_spans(given, spans);
    for (int i = 0; i < 2; i++) {
        SIM_ARGUMENT(spans[i].sp_size >= 1 && spans[i].sp_size <= SIM_MOST_STEP, ACLNN_ERR_PARAM_INVALID,
                     "dimension %lld of filter is %lld, expected 1 to %d", (long long)filter_axes[H + i],
                     (long long)spans[i].sp_size, SIM_MOST_STEP);
        SIM_TRY(count_windows(image, axes[H + i], &spans[i], &dims[axes[H + i]]));
    }
    return ACL_SUCCESS;
}

/* Checks what Conv2D and Conv2DTranspose share. */
static aclnnStatus check_conv(const aclsimArgument *given, const aclsimArgument *y)
{
    SIM_TRY(sim_require_types(&given[0], &given[1], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_types(&given[0], y, SIM_TYPES_SINGLE));
    SIM_TRY(check_image(&given[0], &given[3]));
    SIM_TRY(check_image(&given[1], &given[4]));
    SIM_TRY(sim_require_steps(&given[5], 2, 1));
    SIM_TRY(sim_require_steps(&given[6], 4, 0));
    return sim_require_steps(&given[7], 2, 1);
}

/* A bias has one number per output channel. */
static aclnnStatus check_bias(const aclsimArgument *given, int64_t channels)
{
    if (!given[2].present)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_types(&given[0], &given[2], SIM_TYPES_SINGLE));
    return sim_require_shape(&given[2], &channels, 1, "one number per output channel");
}

static aclnnStatus plan_conv(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    int64_t dims[AXES];
    (void)workspace_size;
    SIM_TRY(check_conv(given, &given[9]));
    SIM_TRY(check_channels(given));
    SIM_TRY(check_bias(given, given[1].tensors->dims[given[4].integers[N]]));
    const int64_t *axes = given[3].integers, *filter_axes = given[4].integers;
    SIM_TRY(count_filters(given, &given[0], dims));
    dims[axes[N]] = given[0].tensors->dims[axes[N]];
    dims[axes[C]] = given[1].tensors->dims[filter_axes[N]];
    return sim_require_shape(&given[9], dims, AXES, "that of the convolution");
}

/* A tensor as consecutive floats in the order of its dimensions, with sizes and strides. */
struct image {
    float *im_values;
    int64_t im_dims[AXES], im_steps[AXES]; /* sizes and strides, in the order N, C, H, W */
};

static aclError load_image(const aclsimTensor *tensor, const int64_t *axes, struct image *image)
{
    struct sim_line line = sim_line_of(tensor, 0, tensor->rank);
    int64_t steps[AXES], step = 1;
    size_t length;
    void *memory;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_FLOAT, 1, &memory, &length));
    sim_line_load(&line, SIM_CLASS_FLOAT, tensor->data, memory);
    image->im_values = memory;
    for (int i = AXES - 1; i >= 0; i--) {
        steps[i] = step;
        step *= tensor->dims[i];
    }
    for (int i = 0; i < AXES; i++) {
        image->im_dims[i] = tensor->dims[axes[i]];
        image->im_steps[i] = steps[axes[i]];
    }
    return ACL_SUCCESS;
}

/* Computes one element of the result. `values` begins at the first input channel of the group, `weights` at the filter
 * of the output channel. */
static double convolve(const struct image *x, const float *values, const struct image *filter, const float *weights,
                       const struct span *spans, int64_t row, int64_t column)
{
    double sum = 0;
    int64_t top = row * spans[0].sp_step - spans[0].sp_before, left = column * spans[1].sp_step - spans[1].sp_before;
    for (int64_t c = 0; c < filter->im_dims[C]; c++)
        for (int64_t i = 0; i < filter->im_dims[H]; i++) {
            int64_t y = top + i * spans[0].sp_apart;
            if (y < 0 || y >= x->im_dims[H])
                continue;
            for (int64_t k = 0; k < filter->im_dims[W]; k++) {
                int64_t at = left + k * spans[1].sp_apart;
                if (at >= 0 && at < x->im_dims[W])
                    sum += (double)values[c * x->im_steps[C] + y * x->im_steps[H] + at * x->im_steps[W]] *
                           (double)weights[c * filter->im_steps[C] + i * filter->im_steps[H] + k * filter->im_steps[W]];
            }
        }
    return sum;
}

static double bias_of(const aclsimArgument *bias, int64_t channel)
{
    union sim_block_values block;
    if (!bias->present)
        return 0;
    const aclsimTensor *tensor = bias->tensors;
    sim_element_load(&block, SIM_CLASS_FLOAT,
                     (char *)tensor->data + channel * tensor->strides[0] * (int64_t)sim_element_size(tensor->type),
                     tensor->type, 0, 1);
    return (double)block.bv_floats[0];
}

static void run_images(const aclsimArgument *given, const struct image *x, const struct image *filter)
{
    const aclsimTensor *to = given[9].tensors;
    const int64_t *axes = given[3].integers, size = (int64_t)sim_element_size(to->type);
    const int64_t outputs = filter->im_dims[N] / given[8].integer;
    struct span spans[2];
    union sim_block_values block;
    find_filter_spans(given, spans);
    for (int64_t n = 0; n < to->dims[axes[N]]; n++)
        for (int64_t c = 0; c < to->dims[axes[C]]; c++) {
            const float *values = x->im_values + n * x->im_steps[N] + c / outputs * filter->im_dims[C] * x->im_steps[C];
            const double bias = bias_of(&given[2], c);
            for (int64_t i = 0; i < to->dims[axes[H]]; i++)
                for (int64_t k = 0; k < to->dims[axes[W]]; k++) {
                    int64_t place = n * to->strides[axes[N]] + c * to->strides[axes[C]] + i * to->strides[axes[H]] +
                                    k * to->strides[axes[W]];
                    const float *weights = filter->im_values + c * filter->im_steps[N];
                    block.bv_floats[0] = (float)(bias + convolve(x, values, filter, weights, spans, i, k));
                    sim_element_store(&block, SIM_CLASS_FLOAT, (char *)to->data + place * size, to->type, 0, 1);
                }
        }
}

static aclError run_conv(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    struct image x, filter;
    SIM_TRY(load_image(given[0].tensors, given[3].integers, &x));
    aclError code = load_image(given[1].tensors, given[4].integers, &filter);
    if (code == ACL_SUCCESS) {
        run_images(given, &x, &filter);
        free(filter.im_values);
    }
    free(x.im_values);
    return code;
}

static const struct sim_kernel conv_kernel = {plan_conv, run_conv, NULL, false};
static const struct sim_parameter conv_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},     {"filter", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"bias", ACLSIM_TENSOR, ACLSIM_IN, true},   {"axes", ACLSIM_INTEGERS, 0, false},
    {"filter_axes", ACLSIM_INTEGERS, 0, false}, {"strides", ACLSIM_INTEGERS, 0, false},
    {"pads", ACLSIM_INTEGERS, 0, false},        {"dilations", ACLSIM_INTEGERS, 0, false},
    {"groups", ACLSIM_INTEGER, 0, false},       {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_conv2d_row = SIM_ROW("Conv2D", SIM_TASK_CUBE, conv_parameters, &conv_kernel);

/* ---- Conv2DTranspose: the first nine arguments of Conv2D, dims, y. y has the shape dims; a convolution of it would
 * have the shape of x. The filter has the channels of x, and those of a group of y. ---- */

static aclnnStatus check_transposed_channels(const aclsimArgument *given)
{
    const int64_t *axes = given[3].integers, *filter_axes = given[4].integers, groups = given[8].integer;
    const aclsimTensor *x = given[0].tensors, *filter = given[1].tensors, *y = given[10].tensors;
    int64_t inputs = filter->dims[filter_axes[N]], outputs = filter->dims[filter_axes[C]], found = outputs;
    SIM_ARGUMENT(groups > 0 && inputs > 0 && inputs % groups == 0 && inputs == x->dims[axes[C]],
                 ACLNN_ERR_PARAM_INVALID,
                 "groups is %lld, x has %lld channels and filter has %lld for them, expected the same, a multiple of "
                 "groups", (long long)groups, (long long)x->dims[axes[C]], (long long)inputs);
    SIM_ARGUMENT(sim_length_multiply(&found, groups) && found == y->dims[axes[C]], ACLNN_ERR_PARAM_INVALID,
                 "y has %lld channels, filter has %lld and groups is %lld, expected y to have the product of both",
                 (long long)y->dims[axes[C]], (long long)outputs, (long long)groups);
    return check_bias(given, found);
}

static aclnnStatus plan_transposed(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *y = &given[10];
    const int64_t *axes = given[3].integers;
    int64_t dims[AXES];
    (void)workspace_size;
    SIM_TRY(check_conv(given, y));
    SIM_TRY(sim_require_count(&given[9], AXES));
    SIM_TRY(sim_require_shape(y, given[9].integers, AXES, "input_size"));
    SIM_TRY(check_transposed_channels(given));
    SIM_TRY(count_filters(given, y, dims));
    dims[axes[N]] = y->tensors->dims[axes[N]];
    dims[axes[C]] = given[0].tensors->dims[axes[C]];
    return sim_require_shape(&given[0], dims, AXES, "that of a convolution of y");
}

/* The tensor with its dimensions in the order N, C, H, W. */
static aclsimTensor ordered(const aclsimTensor *tensor, const int64_t *axes)
{
    aclsimTensor view = *tensor;
    for (int i = 0; i < AXES; i++) {
        view.dims[i] = tensor->dims[axes[i]];
        view.strides[i] = tensor->strides[axes[i]];
    }
    return view;
}

static aclError transpose(struct sim_convolution *convolution, const aclsimArgument *given, const aclsimTensor *x,
                          const aclsimTensor *filter, const aclsimTensor *y)
{
    const int64_t space = y->dims[H] * y->dims[W];
    SIM_TRY(sim_convolution_load(convolution, SIM_PART_NARROW, x));
    SIM_TRY(sim_convolution_load(convolution, SIM_PART_WEIGHT, filter));
    SIM_TRY(sim_convolution_clear(convolution, SIM_PART_WIDE, y));
    SIM_TRY(sim_convolution_run(convolution, SIM_PART_WIDE));
    float *values = convolution->cv_values[SIM_PART_WIDE];
    for (int64_t line = 0; line < y->dims[N] * y->dims[C]; line++) {
        const float bias = (float)bias_of(&given[2], line % y->dims[C]);
        for (int64_t i = 0; i < space; i++)
            *values++ += bias;
    }
    sim_convolution_store(convolution, SIM_PART_WIDE, y);
    return ACL_SUCCESS;
}

static aclError run_transposed(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const int64_t *axes = given[3].integers;
    const aclsimTensor x = ordered(given[0].tensors, axes), filter = ordered(given[1].tensors, given[4].integers),
                       y = ordered(given[10].tensors, axes);
    struct span spans[2];
    struct sim_convolution convolution = {
        .cv_batch = x.dims[N],
        .cv_groups = given[8].integer,
        .cv_wide = filter.dims[C],
        .cv_narrow = filter.dims[N] / given[8].integer,
        .cv_rounding = SIM_ROUND_NOT,
    };
    find_filter_spans(given, spans);
    convolution.cv_axes[0] = (struct sim_convolution_axis){1, 1, 1, 1, 1, 0}; /* there is no depth */
    for (int i = 0; i < 2; i++)
        convolution.cv_axes[1 + i] =
            (struct sim_convolution_axis){y.dims[H + i],    x.dims[H + i],     spans[i].sp_size,
                                          spans[i].sp_step, spans[i].sp_apart, spans[i].sp_before};
    aclError code = transpose(&convolution, given, &x, &filter, &y);
    sim_convolution_free(&convolution);
    return code;
}

static const struct sim_kernel transposed_kernel = {plan_transposed, run_transposed, NULL, false};
static const struct sim_parameter transposed_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},     {"filter", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"bias", ACLSIM_TENSOR, ACLSIM_IN, true},   {"axes", ACLSIM_INTEGERS, 0, false},
    {"filter_axes", ACLSIM_INTEGERS, 0, false}, {"strides", ACLSIM_INTEGERS, 0, false},
    {"pads", ACLSIM_INTEGERS, 0, false},        {"dilations", ACLSIM_INTEGERS, 0, false},
    {"groups", ACLSIM_INTEGER, 0, false},       {"dims", ACLSIM_INTEGERS, 0, false},
    {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_transposed_row =
    SIM_ROW("Conv2DTranspose", SIM_TASK_CUBE, transposed_parameters, &transposed_kernel);
