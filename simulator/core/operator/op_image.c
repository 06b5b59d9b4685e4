/* Arguments and shapes of the types that compute on images with their channels in the second dimension: pools,
 * convolutions in two and three directions with their gradients, resizing and sampling (op_table_image.c). This file
 * has no state and no lock. */
#include "base/bytes.h"
#include "op_type.h"

/* The directions of the images, which are the inputs with the most dimensions. */
static uint32_t directions_of(const struct sim_op_request *request)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < request->rq_input_count; i++)
        rank = request->rq_tensors[i].ot_rank > rank ? request->rq_tensors[i].ot_rank : rank;
    return rank > 2 ? rank - 2 : 1;
}

/* The pools with a mask write the channels last in their lists, whatever the layout of x is. */
static bool has_channels_last(const struct sim_op_request *request)
{
    return strstr(request->rq_type, "WithArgmaxV1") != NULL;
}

static aclError refuse_count(const struct sim_op_request *request, const char *name, uint32_t count)
{
    return sim_refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s has %u numbers, expected %u, one per direction",
                      name, request->rq_type, count, directions_of(request));
}

/* Reads a list with a number for each direction, or for each dimension. */
static aclError read_list(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count)
{
    const uint32_t directions = directions_of(request);
    const char *layout = sim_op_text(request, "data_format", "NCHW");
    SIM_ARGUMENT(strcmp(layout, "NCHW") == 0 || strcmp(layout, "NCDHW") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute data_format of %s is %s, which the simulator does not support, expected NCHW or NCDHW",
                 request->rq_type, layout);
    SIM_TRY(sim_op_integers(request, name, numbers, count));
    if (*count == directions + 2)
        memmove(numbers, numbers + (has_channels_last(request) ? 1 : 2), directions * sizeof *numbers);
    else if (*count != directions)
        return refuse_count(request, name, *count);
    *count = directions;
    return ACL_SUCCESS;
}

/* The one of two names that a type uses, or NULL. */
static const char *name_of(const struct sim_op_request *request, const char *one, const char *other)
{
    return sim_op_attributes_find(&request->rq_attributes, one) != NULL     ? one
           : sim_op_attributes_find(&request->rq_attributes, other) != NULL ? other
                                                                            : NULL;
}

/* The same number for each direction. */
static aclError repeat(const struct sim_op_request *request, int64_t number, int64_t *numbers, uint32_t *count)
{
    *count = directions_of(request);
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = number;
    return ACL_SUCCESS;
}

aclError sim_op_image_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *name = name_of(request, "ksize", "ksizes");
    return read_list(request, name != NULL ? name : "kernel_size", numbers, count);
}

aclError sim_op_image_strides(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *name = name_of(request, "strides", "stride");
    return read_list(request, name != NULL ? name : "strides", numbers, count);
}

aclError sim_op_image_dilations(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *name = name_of(request, "dilations", "dilation");
    return name != NULL ? read_list(request, name, numbers, count) : repeat(request, 1, numbers, count);
}

aclError sim_op_image_extra(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *name = "output_padding";
    return name_of(request, name, name) != NULL ? read_list(request, name, numbers, count)
                                                : repeat(request, 0, numbers, count);
}

aclError sim_op_image_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const modes[] = {"padding", "padding_mode"};
    const uint32_t directions = directions_of(request);
    const char *name = name_of(request, "pads", "padding");
    for (size_t i = 0; i < 2; i++) {
        const char *mode = sim_op_text(request, modes[i], "CALCULATED");
        SIM_ARGUMENT(strcmp(mode, "CALCULATED") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                     "attribute %s of %s is %s, which the simulator does not support, expected CALCULATED", modes[i],
                     request->rq_type, mode);
    }
    SIM_TRY(sim_op_integers(request, name != NULL ? name : "pads", numbers, count));
    if (has_channels_last(request) || *count != 2 * directions)
        return read_list(request, name, numbers, count);
    for (uint32_t i = 0; i < directions; i++) {
        SIM_ARGUMENT(numbers[2 * i] == numbers[2 * i + 1], ACL_ERROR_OP_ATTR_NOT_MATCH,
                     "attribute %s of %s has %lld and %lld for direction %u, of which the simulator supports only "
                     "equal ones", name, request->rq_type, (long long)numbers[2 * i], (long long)numbers[2 * i + 1], i);
        numbers[i] = numbers[2 * i];
    }
    *count = directions;
    return ACL_SUCCESS;
}

aclError sim_op_image_counts_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t exclusive;
    SIM_TRY(sim_op_find_integer(request, "exclusive", 1, &exclusive));
    *numbers = exclusive == 0;
    *count = 1;
    return ACL_SUCCESS;
}

/* ---- shapes ---- */

static aclError dims_of(const struct sim_op_tensor *tensor, uint32_t first, int64_t *numbers, uint32_t *count)
{
    *count = tensor->ot_rank > first ? tensor->ot_rank - first : 0;
    memcpy(numbers, tensor->ot_dims + first, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

aclError sim_op_image_output_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return dims_of(sim_op_output(request, 0), 0, numbers, count);
}

aclError sim_op_image_extent(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return dims_of(&request->rq_tensors[0], 2, numbers, count);
}

/* Col2im(x, output_size): x has the dimensions batch, channels, elements of a window, windows. */
aclError sim_op_image_columns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    SIM_ARGUMENT(x->ot_rank == 4, ACL_ERROR_OP_NOT_FOUND, "inputs[0] of %s has %u dimensions, expected 4",
                 request->rq_type, x->ot_rank);
    numbers[0] = x->ot_dims[0];
    numbers[1] = x->ot_dims[1];
    numbers[2] = x->ot_dims[3];
    *count = 3;
    SIM_ARGUMENT(sim_length_multiply(&numbers[1], x->ot_dims[2]), ACL_ERROR_OP_NOT_FOUND,
                 "inputs[0] of %s has more columns than fit into 64 bits", request->rq_type);
    return ACL_SUCCESS;
}

/* ResizeD(x; mode = "linear"): x without its height of 1. */
aclError sim_op_image_lines(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const int64_t *dims = request->rq_tensors[0].ot_dims;
    numbers[0] = dims[0];
    numbers[1] = dims[1];
    numbers[2] = dims[3];
    *count = 3;
    return ACL_SUCCESS;
}

aclError sim_op_image_length(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    numbers[0] = request->rq_tensors[0].ot_dims[3];
    *count = 1;
    return ACL_SUCCESS;
}

/* AffineGrid(theta, output_size): y has a row of coordinates per place; the grid is of the height and width. */
aclError sim_op_image_grid_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    SIM_TRY(sim_op_input_numbers(request, 1, numbers, count));
    SIM_ARGUMENT(*count == 4, ACL_ERROR_OP_INPUT_NOT_MATCH, "inputs[1] of %s has %u numbers, expected 4",
                 request->rq_type, *count);
    numbers[1] = numbers[2];
    numbers[2] = numbers[3];
    numbers[3] = 2;
    return ACL_SUCCESS;
}

/* ResizeGradD(grads; data_format = "NCHW") */
aclError sim_op_image_order(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const layouts[] = {"NCHW", "HWNC", "NHWC"};
    static const int64_t orders[][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {0, 3, 1, 2}};
    const uint32_t rank = request->rq_tensors[0].ot_rank;
    int64_t layout;
    SIM_ARGUMENT(rank == 4, ACL_ERROR_OP_NOT_FOUND, "inputs[0] of %s has %u dimensions, expected 4", request->rq_type,
                 rank);
    SIM_TRY(sim_op_word(request, "data_format", "NCHW", layouts, 3, &layout));
    memcpy(numbers, orders[layout], sizeof orders[0]);
    *count = 4;
    return ACL_SUCCESS;
}

aclError sim_op_image_moved_extent(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t order[SIM_DIMS_MAX];
    SIM_TRY(sim_op_image_order(request, order, count));
    for (uint32_t i = 0; i < 2; i++)
        numbers[i] = request->rq_tensors[0].ot_dims[order[2 + i]];
    *count = 2;
    return ACL_SUCCESS;
}

/* ---- words ---- */

/* ResizeBilinearV2: places are those of corners, or of the centres of elements. */
aclError sim_op_image_aligns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t halves;
    *count = 1;
    SIM_TRY(sim_op_find_integer(request, "align_corners", 0, numbers));
    SIM_TRY(sim_op_find_integer(request, "half_pixel_centers", 0, &halves));
    SIM_ARGUMENT(*numbers != 0 || halves != 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attributes align_corners and half_pixel_centers of %s are false, which the simulator does not "
                 "support, expected one of them", request->rq_type);
    return ACL_SUCCESS;
}

/* ResizeD and ResizeGradD: the same as a word. */
aclError sim_op_image_corners(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"half_pixel", "align_corners", "pytorch_half_pixel"};
    *count = 1;
    SIM_TRY(sim_op_word(request, "coordinate_transformation_mode", "half_pixel", words, 3, numbers));
    *numbers = *numbers == 1;
    return ACL_SUCCESS;
}

aclError sim_op_image_interpolation(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"bilinear", "nearest", "bicubic"};
    *count = 1;
    return sim_op_word(request, "interpolation_mode", "bilinear", words, 3, numbers);
}

aclError sim_op_image_border(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"zeros", "border", "reflection"};
    *count = 1;
    return sim_op_word(request, "padding_mode", "zeros", words, 3, numbers);
}

bool sim_op_image_is_cubic(const struct sim_op_request *request)
{
    return strcmp(sim_op_text(request, "mode", "nearest"), "cubic") == 0;
}

/* Lines as images of height 1. */
bool sim_op_image_is_linear(const struct sim_op_request *request)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    return strcmp(sim_op_text(request, "mode", "nearest"), "linear") == 0 && x->ot_rank == 4 && x->ot_dims[2] == 1;
}
