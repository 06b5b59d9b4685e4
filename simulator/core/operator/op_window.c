/* Windows of single operators over the height and width of images: turns the attributes of MaxPool, AvgPool, Conv2D,
 * DepthwiseConv2D, Conv2DTranspose and similar types into numbers for their schemas, and finds the channels of
 * BatchNorm. Lists of four follow the layout of x, which is attribute data_format, else the format of the description,
 * else the type's default. This file has no state and no lock. */
#include "base/bytes.h"
#include "op_type.h"

enum { N, C, H, W };

static bool is_type(const struct sim_op_request *request, const char *name)
{
    return strcmp(request->rq_type, name) == 0;
}

static bool is_depthwise(const struct sim_op_request *request)
{
    return is_type(request, "DepthwiseConv2D");
}

static bool is_conv(const struct sim_op_request *request)
{
    return is_type(request, "Conv2D") || is_depthwise(request) || is_type(request, "Conv2DTranspose") ||
           is_type(request, "Conv2DTransposeD");
}

/* The place of the image; the filter of a convolution follows it. */
static uint32_t image_place(const struct sim_op_request *request)
{
    return is_type(request, "Conv2DTranspose") ? 1 : 0; /* input_size comes first */
}

static const struct sim_op_tensor *image_of(const struct sim_op_request *request)
{
    return &request->rq_tensors[image_place(request)];
}

static const struct sim_op_tensor *filter_of(const struct sim_op_request *request)
{
    return &request->rq_tensors[image_place(request) + 1];
}

static bool is_global(const struct sim_op_request *request)
{
    return is_type(request, "GlobalAveragePool") || sim_op_is_set(request, "global_pooling");
}

static bool is_channels_last(const struct sim_op_request *request)
{
    const struct sim_op_tensor *x = image_of(request);
    bool last = !is_type(request, "MaxPoolV3") && !is_type(request, "AvgPoolV2") &&
                !is_type(request, "GlobalAveragePool") && !is_type(request, "BNInfer") &&
                !is_type(request, "BNInference");
    if (x->ot_format == ACL_FORMAT_NCHW || x->ot_format == ACL_FORMAT_NCDHW)
        last = false;
    if (x->ot_format == ACL_FORMAT_NHWC || x->ot_format == ACL_FORMAT_NDHWC)
        last = true;
    const char *layout = sim_op_text(request, "data_format", last ? "NHWC" : "NCHW");
    return strcmp(layout, "NHWC") == 0 || strcmp(layout, "NDHWC") == 0;
}

aclError sim_op_window_channel_axis(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const layouts[] = {"NCHW", "NHWC", "NCDHW", "NDHWC"};
    const char *layout = sim_op_text(request, "data_format", "NCHW");
    bool known = false;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        known = known || strcmp(layout, layouts[i]) == 0;
    SIM_ARGUMENT(known, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute data_format of %s is %s, expected NCHW, NHWC, NCDHW or NDHWC", request->rq_type, layout);
    *numbers = is_channels_last(request) ? (int64_t)image_of(request)->ot_rank - 1 : 1;
    *count = 1;
    return ACL_SUCCESS;
}

aclError sim_op_window_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const int64_t first[] = {0, 1, 2, 3}, last[] = {0, 3, 1, 2};
    const char *layout = sim_op_text(request, "data_format", "NCHW");
    SIM_ARGUMENT(strcmp(layout, "NCHW") == 0 || strcmp(layout, "NHWC") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute data_format of %s is %s, expected NCHW or NHWC", request->rq_type, layout);
    SIM_ARGUMENT(image_of(request)->ot_rank == 4, ACL_ERROR_OP_NOT_FOUND,
                 "inputs[%u] of %s has %u dimensions, expected 4", image_place(request), request->rq_type,
                 image_of(request)->ot_rank);
    memcpy(numbers, is_channels_last(request) ? last : first, sizeof first);
    *count = 4;
    return ACL_SUCCESS;
}

aclError sim_op_window_filter_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const int64_t first[] = {0, 1, 2, 3}, last[] = {0, 3, 1, 2}, outputs_last[] = {3, 2, 0, 1};
    aclFormat format = filter_of(request)->ot_format;
    const int64_t *axes = format == ACL_FORMAT_HWCN   ? outputs_last
                          : format == ACL_FORMAT_NHWC ? last
                          : format == ACL_FORMAT_NCHW ? first
                          : is_channels_last(request) ? outputs_last
                                                      : first;
    SIM_ARGUMENT(filter_of(request)->ot_rank == 4, ACL_ERROR_OP_NOT_FOUND,
                 "inputs[%u] of %s has %u dimensions, expected 4", image_place(request) + 1, request->rq_type,
                 filter_of(request)->ot_rank);
    memcpy(numbers, axes, sizeof first);
    *count = 4;
    return ACL_SUCCESS;
}

aclError sim_op_window_channels(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t axes[SIM_DIMS_MAX];
    SIM_TRY(sim_op_window_axes(request, axes, count));
    *numbers = image_of(request)->ot_dims[axes[C]];
    *count = 1;
    return ACL_SUCCESS;
}

/* The channels that a convolution makes. */
static aclError find_outputs(const struct sim_op_request *request, int64_t *outputs)
{
    const struct sim_op_tensor *filter = filter_of(request);
    int64_t axes[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_window_filter_axes(request, axes, &count));
    *outputs = filter->ot_dims[axes[N]];
    SIM_ARGUMENT(!is_depthwise(request) || sim_length_multiply(outputs, filter->ot_dims[axes[C]]),
                 ACL_ERROR_OP_NOT_FOUND, "the filter of %s has more channels than fit into 64 bits", request->rq_type);
    return ACL_SUCCESS;
}

/* The filter of DepthwiseConv2D has `multiplier` filters for each of the channels. As the filter of a convolution with
 * one group per channel, its elements are in the same order if the channels come before the multiplier, as in HWCN, or
 * if one of both is 1. */
aclError sim_op_window_depthwise_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *filter = filter_of(request);
    int64_t axes[SIM_DIMS_MAX], channels[SIM_DIMS_MAX];
    SIM_TRY(sim_op_window_channels(request, channels, count));
    SIM_TRY(sim_op_window_filter_axes(request, axes, count));
    const int64_t multiplier = filter->ot_dims[axes[N]], given = filter->ot_dims[axes[C]];
    const bool first = axes[C] == 1, before = axes[C] == 2;
    SIM_ARGUMENT((given == *channels || given == 1) && (before || given == 1 || (first && multiplier == 1)),
                 ACL_ERROR_OP_NOT_FOUND,
                 "the filter of %s has %lld channels with %lld filters each and x has %lld channels, expected the "
                 "channels of x, and one filter each unless the format is HWCN", request->rq_type, (long long)given,
                 (long long)multiplier, (long long)*channels);
    memcpy(numbers, filter->ot_dims, 4 * sizeof *numbers);
    numbers[axes[C]] = 1;
    *count = 4;
    return find_outputs(request, &numbers[axes[N]]);
}

/* The height and width from a list of four, whose other two must be 1, or from a list of two. */
static aclError find_pair(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count)
{
    int64_t given[SIM_DIMS_MAX], axes[SIM_DIMS_MAX];
    uint32_t ranks;
    if (is_type(request, "MaxPoolV2"))
        SIM_TRY(sim_op_find_integers(request, name, strcmp(name, "ksize") == 0 ? 1 : 2, given, count));
    else
        SIM_TRY(sim_op_integers(request, name, given, count));
    SIM_TRY(sim_op_window_axes(request, axes, &ranks));
    SIM_ARGUMENT(*count == 4 || *count == 2, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s has %u numbers, expected 4, one for each dimension of x", name, request->rq_type,
                 *count);
    SIM_ARGUMENT(*count == 2 || (given[axes[N]] == 1 && given[axes[C]] == 1), ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s is [%lld, %lld, %lld, %lld], expected 1 for the batch and the channels of %s",
                 name, request->rq_type, (long long)given[0], (long long)given[1], (long long)given[2],
                 (long long)given[3], is_channels_last(request) ? "NHWC" : "NCHW");
    for (int i = 0; i < 2; i++)
        numbers[i] = given[*count == 2 ? i : axes[H + i]];
    *count = 2;
    return ACL_SUCCESS;
}

static aclError find_image(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t axes[SIM_DIMS_MAX];
    SIM_TRY(sim_op_window_axes(request, axes, count));
    for (int i = 0; i < 2; i++)
        numbers[i] = image_of(request)->ot_dims[axes[H + i]];
    *count = 2;
    return ACL_SUCCESS;
}

aclError sim_op_window_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    if (!is_conv(request))
        return is_global(request) ? find_image(request, numbers, count) : find_pair(request, "ksize", numbers, count);
    int64_t axes[SIM_DIMS_MAX];
    SIM_TRY(sim_op_window_filter_axes(request, axes, count));
    for (int i = 0; i < 2; i++)
        numbers[i] = filter_of(request)->ot_dims[axes[H + i]];
    *count = 2;
    return ACL_SUCCESS;
}

aclError sim_op_window_strides(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    if (!is_global(request))
        return find_pair(request, "strides", numbers, count);
    numbers[0] = numbers[1] = 1;
    *count = 2;
    return ACL_SUCCESS;
}

aclError sim_op_window_dilations(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    if (sim_op_attributes_find(&request->rq_attributes, "dilations") != NULL)
        return find_pair(request, "dilations", numbers, count);
    numbers[0] = numbers[1] = 1;
    *count = 2;
    return ACL_SUCCESS;
}

int64_t sim_op_window_count(int64_t length, int64_t extent, int64_t stride, int64_t padding)
{
    return stride < 1 || length + padding < extent ? 0 : (length + padding - extent) / stride + 1;
}

/* The sizes in one direction. */
struct span {
    int64_t sp_length, sp_extent, sp_stride;
};

static aclError find_spans(const struct sim_op_request *request, struct span *spans)
{
    int64_t lengths[SIM_DIMS_MAX], sizes[SIM_DIMS_MAX], strides[SIM_DIMS_MAX], apart[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(find_image(request, lengths, &count));
    SIM_TRY(sim_op_window_sizes(request, sizes, &count));
    SIM_TRY(sim_op_window_strides(request, strides, &count));
    SIM_TRY(sim_op_window_dilations(request, apart, &count));
    for (int i = 0; i < 2; i++) {
        bool fits = sizes[i] >= 1 && strides[i] >= 1 && apart[i] >= 1 && sizes[i] <= INT32_MAX &&
                    strides[i] <= INT32_MAX && apart[i] <= INT32_MAX;
        SIM_ARGUMENT(fits, ACL_ERROR_OP_ATTR_NOT_MATCH,
                     "the window of %s has size %lld, stride %lld and dilation %lld, expected 1 or more",
                     request->rq_type, (long long)sizes[i], (long long)strides[i], (long long)apart[i]);
        spans[i] = (struct span){lengths[i], (sizes[i] - 1) * apart[i] + 1, strides[i]};
    }
    return ACL_SUCCESS;
}

/* Pads as much as the last window needs, half of it before the image. */
static void pad_same(const struct span *span, int64_t *pads)
{
    int64_t count = span->sp_length / span->sp_stride + (span->sp_length % span->sp_stride != 0);
    int64_t needed = count < 1 ? 0 : (count - 1) * span->sp_stride + span->sp_extent - span->sp_length;
    pads[0] = needed < 0 ? 0 : needed / 2;
    pads[1] = needed < 0 ? 0 : needed - pads[0];
}

/* Adds padding for a last, incomplete window if it begins in the image or in the padding before it. */
static void pad_last(const struct span *span, int64_t *pads)
{
    int64_t whole = span->sp_length + pads[0] + pads[1] - span->sp_extent, rest = whole % span->sp_stride;
    if (whole >= 0 && rest != 0 && whole - rest + span->sp_stride < span->sp_length + pads[0])
        pads[1] += span->sp_stride - rest;
}

static aclError find_pads(const struct sim_op_request *request, int64_t *numbers)
{
    uint32_t count;
    memset(numbers, 0, 4 * sizeof *numbers);
    if (sim_op_attributes_find(&request->rq_attributes, "pads") == NULL && !is_conv(request))
        return ACL_SUCCESS;
    SIM_TRY(sim_op_integers(request, "pads", numbers, &count));
    SIM_ARGUMENT(count == 4, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute pads of %s has %u numbers, expected 4: top, bottom, left and right", request->rq_type,
                 count);
    for (int i = 0; i < 4; i++)
        SIM_ARGUMENT(numbers[i] >= 0 && numbers[i] <= INT32_MAX, ACL_ERROR_OP_ATTR_NOT_MATCH,
                     "attribute pads of %s has %lld, expected 0 or more", request->rq_type, (long long)numbers[i]);
    return ACL_SUCCESS;
}

static aclError find_all_pads(const struct sim_op_request *request, bool ceils, int64_t *numbers, uint32_t *count)
{
    struct span spans[2];
    bool has_mode = is_type(request, "MaxPoolV3") || is_type(request, "AvgPoolV2");
    const char *name = has_mode ? "padding_mode" : "padding", *missing = has_mode ? "CALCULATED" : "";
    const char *mode = is_global(request) ? "VALID"
                       : is_conv(request) ? "CALCULATED"
                                          : sim_op_text(request, name, missing);
    *count = 4;
    SIM_TRY(find_spans(request, spans));
    memset(numbers, 0, 4 * sizeof *numbers);
    if (strcmp(mode, "VALID") == 0)
        return ACL_SUCCESS;
    if (strcmp(mode, "SAME") == 0) {
        for (int i = 0; i < 2; i++)
            pad_same(&spans[i], &numbers[2 * i]);
        return ACL_SUCCESS;
    }
    SIM_ARGUMENT((has_mode || is_conv(request)) && strcmp(mode, "CALCULATED") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s is \"%s\", expected SAME or VALID%s", name, request->rq_type, mode,
                 has_mode ? " or CALCULATED" : "");
    SIM_TRY(find_pads(request, numbers));
    for (int i = 0; i < 2 && ceils && sim_op_is_set(request, "ceil_mode"); i++)
        pad_last(&spans[i], &numbers[2 * i]);
    return ACL_SUCCESS;
}

aclError sim_op_window_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_all_pads(request, true, numbers, count);
}

/* Attribute exclusive of AvgPoolV2, true by default. Padding that ceil_mode adds for the last window does not count. */
aclError sim_op_window_counts_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    bool counts = is_type(request, "AvgPoolV2") &&
                  sim_op_attributes_find(&request->rq_attributes, "exclusive") != NULL &&
                  !sim_op_is_set(request, "exclusive");
    int64_t pads[SIM_DIMS_MAX];
    *count = 0;
    if (!counts)
        return ACL_SUCCESS;
    SIM_TRY(find_all_pads(request, false, pads, count));
    for (int i = 0; i < 2; i++)
        numbers[i] = pads[2 * i + 1];
    *count = 2;
    return ACL_SUCCESS;
}

aclError sim_op_window_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t axes[SIM_DIMS_MAX], pads[SIM_DIMS_MAX];
    struct span spans[2];
    SIM_TRY(find_spans(request, spans));
    SIM_TRY(sim_op_window_pads(request, pads, count));
    SIM_TRY(sim_op_window_axes(request, axes, count));
    memcpy(numbers, image_of(request)->ot_dims, 4 * sizeof *numbers);
    if (is_conv(request))
        SIM_TRY(find_outputs(request, &numbers[axes[C]]));
    for (int i = 0; i < 2; i++)
        numbers[axes[H + i]] = sim_op_window_count(spans[i].sp_length, spans[i].sp_extent, spans[i].sp_stride,
                                                   pads[2 * i] + pads[2 * i + 1]);
    *count = 4;
    return ACL_SUCCESS;
}

/* AdaptiveAvgPool2d(x; output_size): the last two dimensions of x change. */
aclError sim_op_window_adapted_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = image_of(request);
    int64_t sizes[SIM_DIMS_MAX];
    SIM_TRY(sim_op_integers(request, "output_size", sizes, count));
    SIM_ARGUMENT(*count == 2 && x->ot_rank >= 2, ACL_ERROR_OP_NOT_FOUND,
                 "attribute output_size of %s has %u numbers and x has %u dimensions, expected 2, and 3 or 4",
                 request->rq_type, *count, x->ot_rank);
    memcpy(numbers, x->ot_dims, x->ot_rank * sizeof *numbers);
    memcpy(numbers + x->ot_rank - 2, sizes, 2 * sizeof *numbers);
    *count = x->ot_rank;
    return ACL_SUCCESS;
}

/* ---- Conv2DTransposeD(x, filter, bias; input_size, strides, pads, ...), Conv2DTranspose(input_size, x, ...) ---- */

/* The shape of y without input_size: the smallest whose convolution has the shape of x, and output_padding. */
static aclError find_transposed(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t axes[SIM_DIMS_MAX], filter_axes[SIM_DIMS_MAX], pads[SIM_DIMS_MAX], extra[SIM_DIMS_MAX] = {0}, groups;
    struct span spans[2];
    SIM_TRY(find_spans(request, spans));
    SIM_TRY(sim_op_window_pads(request, pads, count));
    SIM_TRY(sim_op_window_axes(request, axes, count));
    SIM_TRY(sim_op_window_filter_axes(request, filter_axes, count));
    SIM_TRY(sim_op_find_integer(request, "groups", 1, &groups));
    if (sim_op_attributes_find(&request->rq_attributes, "output_padding") != NULL)
        SIM_TRY(sim_op_integers(request, "output_padding", extra, count));
    SIM_ARGUMENT(*count == 4, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute output_padding of %s has %u numbers, expected 4, one for each dimension of x",
                 request->rq_type, *count);
    memcpy(numbers, image_of(request)->ot_dims, 4 * sizeof *numbers);
    numbers[axes[C]] = filter_of(request)->ot_dims[filter_axes[C]];
    bool fits = sim_length_multiply(&numbers[axes[C]], groups);
    for (int i = 0; i < 2 && fits; i++) {
        int64_t *length = &numbers[axes[H + i]];
        *length -= *length > 0;
        fits = sim_length_multiply(length, spans[i].sp_stride) &&
               !__builtin_add_overflow(*length, spans[i].sp_extent - pads[2 * i] - pads[2 * i + 1], length) &&
               !__builtin_add_overflow(*length, extra[axes[H + i]], length);
    }
    SIM_ARGUMENT(fits, ACL_ERROR_OP_NOT_FOUND, "y of %s would have a dimension that does not fit into 64 bits",
                 request->rq_type);
    *count = 4;
    return ACL_SUCCESS;
}

aclError sim_op_window_transposed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_source input = {.so_kind = SIM_FROM_NUMBERS, .so_place = 0};
    SIM_TRY(image_place(request) == 0 ? sim_op_integers(request, "input_size", numbers, count)
                                      : sim_op_numbers(request, &input, numbers, count));
    SIM_ARGUMENT(*count == 4, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "input_size of %s has %u numbers, expected 4, the dimensions of y", request->rq_type, *count);
    return (numbers[0] | numbers[1] | numbers[2] | numbers[3]) == 0 ? find_transposed(request, numbers, count)
                                                                    : ACL_SUCCESS;
}
