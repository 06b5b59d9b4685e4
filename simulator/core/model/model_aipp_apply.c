/* This file applies AIPP parameters to the images of an execution, in the order of the model converter's documentation:
 * swap channels, crop, convert colours, subtract means and minima, scale, pad with zeros. Colours are integers, clipped
 * to 0 to 255; the later steps use single precision, rounded once if the model takes halves. Resizing is rejected when
 * parameters are set.
 *
 * The functions own no state and take no lock. The caller frees the converted images. */
#include "model_aipp.h"
#include "operator/tensordesc.h"
#include <stdlib.h>
#include <string.h>

static const unsigned char mark[sizeof((struct sim_aipp_block *)0)->bl_mark] = "simaipp";

void sim_model_aipp_mark(struct sim_aipp_block *block)
{
    memcpy(block->bl_mark, mark, sizeof mark);
}

int sim_model_aipp_channels(const struct sim_aipp_block *block)
{
    return block->bl_format == ACL_YUV400_U8 ? 1 : block->bl_format == ACL_XRGB8888_U8 ? 4 : 3;
}

uint64_t sim_model_aipp_source_bytes(const struct sim_aipp_block *block)
{
    uint64_t pixels = (uint64_t)block->bl_source[0] * (uint64_t)block->bl_source[1];
    return block->bl_format == ACL_YUV420SP_U8 ? pixels / 2 * 3 : pixels * (uint64_t)sim_model_aipp_channels(block);
}

void sim_model_aipp_shape(aclFormat format, const int64_t dims[SIM_IMAGE_RANK], struct sim_aipp_shape *shape)
{
    bool last = format == ACL_FORMAT_NHWC; /* channels last */
    *shape = (struct sim_aipp_shape){dims[0], dims[last ? 3 : 1], dims[last ? 1 : 2], dims[last ? 2 : 3], last};
}

/* ---- one pixel ---- */

static void swap(int *one, int *other)
{
    int kept = *one;
    *one = *other;
    *other = kept;
}

static void fetch(const struct sim_aipp_block *block, const unsigned char *raw, size_t x, size_t y, int pixel[4])
{
    size_t width = (size_t)block->bl_source[0], at = y * width + x;
    if (block->bl_format == ACL_YUV420SP_U8) { /* a plane of Y, then pairs of U and V for two by two pixels */
        size_t pair = width * (size_t)block->bl_source[1] + y / 2 * width + x / 2 * 2;
        pixel[0] = raw[at];
        pixel[1] = raw[pair];
        pixel[2] = raw[pair + 1];
    } else {
        size_t channels = (size_t)sim_model_aipp_channels(block);
        for (size_t channel = 0; channel < channels; channel++)
            pixel[channel] = raw[at * channels + channel];
    }
}

static void change_places(const struct sim_aipp_block *block, int pixel[4])
{
    if (block->bl_swap_rbuv != 0 && block->bl_format != ACL_YUV400_U8) {
        int first = block->bl_format == ACL_RGB888_U8 ? 0 : 1;
        swap(&pixel[first], &pixel[block->bl_format == ACL_XRGB8888_U8 ? 3 : 2]);
    }
    /* The documentation calls it RGBA to ARGB and uses it to make RGB of XRGB: X becomes the last channel. */
    for (int i = 0; i < 3 && block->bl_swap_ax != 0; i++)
        swap(&pixel[i], &pixel[i + 1]);
}

/* The biases apply to the YUV side: to the input when converting from YUV, otherwise to the output. */
static void convert(const struct sim_aipp_block *block, int pixel[4])
{
    bool from_yuv = block->bl_format == ACL_YUV420SP_U8;
    int result[3];
    for (int row = 0; row < 3; row++) {
        int sum = 0;
        for (int i = 0; i < 3; i++)
            sum += block->bl_matrix[3 * row + i] * (pixel[i] - (from_yuv ? block->bl_input_bias[i] : 0));
        sum = (sum >> 8) + (from_yuv ? 0 : block->bl_output_bias[row]); /* gcc and clang shift arithmetically */
        result[row] = sum < 0 ? 0 : sum > 255 ? 255 : sum;
    }
    memcpy(pixel, result, sizeof result);
}

static float scale(const struct sim_aipp_image *image, int channel, int value)
{
    return ((float)(value - image->im_mean[channel]) - sim_half_to_float(image->im_min[channel])) *
           sim_half_to_float(image->im_var_reci[channel]);
}

/* ---- images ---- */

/* The part of the source that is used. */
static void find_part(const struct sim_aipp_block *block, const struct sim_aipp_image *image, int32_t start[2],
                      int32_t size[2])
{
    bool cut = image->im_crop != 0;
    for (int side = 0; side < 2; side++) {
        start[side] = cut ? image->im_crop_start[side] : 0;
        size[side] = cut ? image->im_crop_size[side] : block->bl_source[side];
    }
}

static bool fits(const struct sim_aipp_block *block, const struct sim_aipp_image *image,
                 const struct sim_aipp_shape *shape)
{
    int32_t start[2], size[2];
    const int32_t *pads = image->im_pad_sizes;
    bool padded = image->im_pad != 0;
    find_part(block, image, start, size);
    for (int side = 0; side < 2; side++)
        if (start[side] < 0 || size[side] < 1 || (int64_t)start[side] + size[side] > block->bl_source[side])
            return false;
    return size[1] + (padded ? (int64_t)pads[0] + pads[1] : 0) == shape->sh_height &&
           size[0] + (padded ? (int64_t)pads[2] + pads[3] : 0) == shape->sh_width &&
           (!padded || (pads[0] >= 0 && pads[1] >= 0 && pads[2] >= 0 && pads[3] >= 0));
}

static void apply(const struct sim_aipp_block *block, const struct sim_aipp_image *image, const unsigned char *raw,
                  const struct sim_aipp_shape *shape, int64_t number, aclDataType type, void *target)
{
    int32_t start[2], size[2];
    bool padded = image->im_pad != 0;
    int64_t top = padded ? image->im_pad_sizes[0] : 0, left = padded ? image->im_pad_sizes[2] : 0;
    find_part(block, image, start, size);
    for (int32_t y = 0; y < size[1]; y++)
        for (int32_t x = 0; x < size[0]; x++) {
            int pixel[4] = {0};
            fetch(block, raw, (size_t)(start[0] + x), (size_t)(start[1] + y), pixel);
            change_places(block, pixel);
            if (block->bl_csc != 0)
                convert(block, pixel);
            for (int64_t channel = 0; channel < shape->sh_channels; channel++) {
                int64_t row = number * shape->sh_height + top + y, at = (row * shape->sh_width + left + x);
                if (shape->sh_channels_last)
                    at = at * shape->sh_channels + channel;
                else
                    at += (number * (shape->sh_channels - 1) + channel) * shape->sh_height * shape->sh_width;
                float value = scale(image, (int)channel, pixel[channel]);
                if (type == ACL_FLOAT)
                    ((float *)target)[at] = value;
                else
                    ((uint16_t *)target)[at] = sim_half_from_float(value);
            }
        }
}

/* Copies the parameters, because the block may be unaligned. */
static void image_of(const unsigned char *bytes, int64_t number, struct sim_aipp_image *image)
{
    memcpy(image, bytes + sizeof(struct sim_aipp_block) + (size_t)number * sizeof *image, sizeof *image);
}

static bool is_size(const struct sim_aipp_block *block, int32_t side)
{
    return side >= 1 && side <= SIM_AIPP_SIDE_MAX && (side % 2 == 0 || block->bl_format != ACL_YUV420SP_U8);
}

const char *sim_model_aipp_apply(struct sim_aipp_source source, uint64_t raw_size, aclFormat format,
                                 aclsimTensor *tensor, void **converted)
{
    const unsigned char *bytes = source.as_bytes;
    uint64_t size = source.as_size;
    struct sim_aipp_block block;
    struct sim_aipp_image image;
    struct sim_aipp_shape shape;
    if (size < sizeof block || (memcpy(&block, bytes, sizeof block), memcmp(block.bl_mark, mark, sizeof mark)) != 0)
        return "the input " SIM_AIPP_INPUT " holds no parameters: set them before (aclmdlSetInputAIPP)";
    sim_model_aipp_shape(format, tensor->dims, &shape);
    if (!source.as_shared &&
        (block.bl_count < shape.sh_batch || sim_model_aipp_bytes((uint64_t)shape.sh_batch) > size))
        return "the input " SIM_AIPP_INPUT " has parameters for fewer images than the execution";
    if (!is_size(&block, block.bl_source[0]) || !is_size(&block, block.bl_source[1]))
        return "the parameters of its AIPP give an impossible image size";
    if (shape.sh_channels > sim_model_aipp_channels(&block) ||
        (uint64_t)shape.sh_batch * sim_model_aipp_source_bytes(&block) > raw_size)
        return "the input with images has fewer bytes or channels than the parameters of its AIPP say";
    uint64_t needed = sim_model_shape_bytes(tensor->type, tensor->dims, SIM_IMAGE_RANK); /* 0 or UINT64_MAX: no size */
    if (needed - 1 >= SIZE_MAX - 1 || (*converted = calloc(1, needed)) == NULL)
        return "there is no memory for its preprocessed images";
    for (int64_t number = 0; number < shape.sh_batch; number++) {
        image_of(bytes, source.as_shared ? 0 : number, &image); /* once, as a program may be writing it */
        if (!fits(&block, &image, &shape))
            return "the size of an image after AIPP is not the size that the execution takes";
        apply(&block, &image,
              (const unsigned char *)tensor->data + (uint64_t)number * sim_model_aipp_source_bytes(&block), &shape,
              number, tensor->type, *converted);
    }
    tensor->data = *converted;
    return NULL;
}
