/* Checks of convolutions, and their computation as matrix products. convolve_narrow.c computes the narrow tensor; the
 * others are computed here.
 *
 * The elements of the wide tensor that the windows cover are copied into a matrix of columns: one column per position
 * of the narrow tensor, one row per wide channel and element of the kernel. The matrix is made for a piece of the
 * positions at a time, so that it does not become many times larger than the tensor. All sums are floats, and are
 * rounded to the type of the result when the whole result is complete. */
#include "convolve.h"

#include "base/bytes.h"
#include "base/fail.h"
#include "operator/op.h"
#include "line.h"
#include "report.h"
#include "require.h"
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 65535
#define COLUMNS (1 << 20) /* floats in the matrix of columns; it is larger if it has very many rows, */
#define FEWEST 64         /* because a piece has at least this many positions */

/* ---- checks ---- */

static uint32_t directions_of(const struct sim_convolution_call *call)
{
    return call->cc_input->tensors->rank - 2;
}

/* The padding has one number per direction; with one or two directions, it may have one per side instead. */
static int64_t pad_of(const struct sim_convolution_call *call, uint32_t direction, uint32_t side)
{
    const aclsimArgument *padding = call->cc_padding;
    return padding->integers[padding->count == directions_of(call) ? direction : 2 * direction + side];
}

static aclnnStatus check_numbers(const struct sim_convolution_call *call)
{
    const uint32_t count = directions_of(call);
    const aclsimArgument *padding = call->cc_padding, *extra = call->cc_extra;
    SIM_TRY(sim_require_steps(call->cc_step, count, 1));
    SIM_TRY(sim_require_steps(padding, count < SIM_SPACE && padding->count == 2 * count ? 2 * count : count, 0));
    SIM_TRY(sim_require_steps(call->cc_apart, count, 1));
    /* Programs pass any output padding to a convolution that is not transposed, which has none. */
    if (!call->cc_transposed || extra == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_steps(extra, count, 0));
    for (uint32_t k = 0; k < count; k++)
        SIM_ARGUMENT(extra->integers[k] < call->cc_step->integers[k] ||
                         extra->integers[k] < call->cc_apart->integers[k],
                     ACLNN_ERR_PARAM_INVALID, "%s[%u] is %lld, expected less than %s[%u] or %s[%u]", extra->name, k,
                     (long long)extra->integers[k], call->cc_step->name, k, call->cc_apart->name, k);
    return ACL_SUCCESS;
}

static aclnnStatus check_channels(const struct sim_convolution_call *call, int64_t *channels)
{
    const aclsimTensor *input = call->cc_input->tensors, *weight = call->cc_weight->tensors;
    int64_t narrow = weight->dims[0], wide = weight->dims[1], groups = call->cc_groups;
    if (groups < 1)
        sim_report_number("groups", 1);
    SIM_ARGUMENT(groups >= 1 && groups <= MOST_GROUPS, ACLNN_ERR_PARAM_INVALID, "groups is %lld, expected 1 to %d",
                 (long long)groups, MOST_GROUPS);
    SIM_ARGUMENT(narrow % groups == 0, ACLNN_ERR_PARAM_INVALID,
                 "groups is %lld and %s has %lld filters, expected a divisor of the filters", (long long)groups,
                 call->cc_weight->name, (long long)narrow);
    SIM_ARGUMENT(sim_length_multiply(&wide, groups), ACLNN_ERR_PARAM_INVALID, "%s has %lld channels, expected fewer",
                 call->cc_weight->name, (long long)wide);
    int64_t expected = call->cc_transposed ? narrow : wide;
    SIM_ARGUMENT(input->dims[1] == expected, ACLNN_ERR_PARAM_INVALID,
                 "%s has %lld channels, expected %lld, those of %s in %lld groups", call->cc_input->name,
                 (long long)input->dims[1], (long long)expected, call->cc_weight->name, (long long)groups);
    *channels = call->cc_transposed ? wide : narrow;
    return ACL_SUCCESS;
}

/* Finds the length of the output in one direction. */
static aclnnStatus find_length(const struct sim_convolution_call *call, uint32_t direction, int64_t *length)
{
    int64_t kernel = call->cc_weight->tensors->dims[direction + 2], from = call->cc_input->tensors->dims[direction + 2];
    int64_t pads = pad_of(call, direction, 0) + pad_of(call, direction, 1), step = call->cc_step->integers[direction];
    SIM_ARGUMENT(kernel >= 1 && kernel <= SIM_MOST_STEP, ACLNN_ERR_PARAM_INVALID,
                 "the kernel of %s has size %lld in direction %u, expected 1 to %d", call->cc_weight->name,
                 (long long)kernel, direction, SIM_MOST_STEP);
    int64_t extent = (kernel - 1) * call->cc_apart->integers[direction] + 1;
    if (call->cc_transposed) {
        int64_t extra = call->cc_extra == NULL ? 0 : call->cc_extra->integers[direction];
        *length = from - 1;
        SIM_ARGUMENT(from > 0 && sim_length_multiply(length, step) &&
                         !__builtin_add_overflow(*length, extent + extra - pads, length) && *length > 0,
                     ACLNN_ERR_PARAM_INVALID,
                     "%s has length %lld in direction %u, expected one that gives an output of length 1 or more",
                     call->cc_input->name, (long long)from, direction);
    } else {
        *length = sim_op_window_count(from, extent, step, pads);
        SIM_ARGUMENT(*length > 0, ACLNN_ERR_PARAM_INVALID,
                     "%s has length %lld in direction %u, which is shorter than the window even with padding",
                     call->cc_input->name, (long long)from, direction);
    }
    return ACL_SUCCESS;
}

static aclDataType type_of(const struct sim_convolution_call *call)
{
    return sim_element_promote(call->cc_input->tensors->type, call->cc_weight->tensors->type);
}

aclnnStatus sim_convolution_check(const struct sim_convolution_call *call, int64_t *channels)
{
    const uint32_t rank = call->cc_input->tensors->rank;
    int64_t dims[SIM_RANK];
    SIM_TRY(sim_require_type(call->cc_input, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(call->cc_weight, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(call->cc_output, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(call->cc_input, 3, 2 + SIM_SPACE));
    SIM_TRY(sim_require_rank(call->cc_weight, rank, rank));
    SIM_TRY(check_numbers(call));
    SIM_TRY(check_channels(call, channels));
    dims[0] = call->cc_input->tensors->dims[0];
    dims[1] = *channels;
    for (uint32_t k = 0; k < rank - 2; k++)
        SIM_TRY(find_length(call, k, &dims[k + 2]));
    SIM_TRY(sim_require_shape(call->cc_output, dims, rank, "that of the convolution"));
    return sim_cube_check(call->cc_math, SIM_USE_HF32, type_of(call), false);
}

/* ---- the layout (length, batch, channels) ---- */

static aclsimTensor permuted(const aclsimTensor *tensor, const uint32_t *order)
{
    aclsimTensor view = *tensor;
    for (uint32_t k = 0; k < 3; k++) {
        view.dims[k] = tensor->dims[order[k]];
        view.strides[k] = tensor->strides[order[k]];
    }
    return view;
}

aclsimTensor sim_convolution_tbc_image(const aclsimTensor *tensor)
{
    return permuted(tensor, (const uint32_t[]){1, 2, 0});
}

aclsimTensor sim_convolution_tbc_weight(const aclsimTensor *tensor)
{
    return permuted(tensor, (const uint32_t[]){2, 1, 0});
}

struct sim_convolution_call sim_convolution_tbc(struct sim_convolution_tbc *tbc, const aclsimArgument *input,
                                                const aclsimArgument *weight, const aclsimArgument *output,
                                                const aclsimArgument *pad, const aclsimArgument *math)
{
    static const int64_t one = 1;
    const aclsimArgument *const all[] = {input, output, weight};
    for (size_t i = 0; i < 3; i++) {
        tbc->ct_tensors[i] = all[i] == weight ? sim_convolution_tbc_weight(all[i]->tensors)
                                              : sim_convolution_tbc_image(all[i]->tensors);
        tbc->ct_arguments[i] = *all[i];
        tbc->ct_arguments[i].tensors = &tbc->ct_tensors[i];
    }
    tbc->ct_pad = pad->integer;
    tbc->ct_padding = (aclsimArgument){.name = pad->name, .kind = ACLSIM_INTEGERS, .count = 1,
                                       .integers = &tbc->ct_pad};
    tbc->ct_one = (aclsimArgument){.name = "stride", .kind = ACLSIM_INTEGERS, .count = 1, .integers = &one};
    return (struct sim_convolution_call){
        .cc_input = &tbc->ct_arguments[0],
        .cc_weight = &tbc->ct_arguments[2],
        .cc_output = &tbc->ct_arguments[1],
        .cc_step = &tbc->ct_one,
        .cc_padding = &tbc->ct_padding,
        .cc_apart = &tbc->ct_one,
        .cc_math = math,
        .cc_groups = 1,
    };
}

/* ---- values ---- */

struct sim_convolution sim_convolution_of(const struct sim_convolution_call *call)
{
    const aclsimTensor *input = call->cc_input->tensors, *output = call->cc_output->tensors;
    const aclsimTensor *wide = call->cc_transposed ? output : input, *narrow = call->cc_transposed ? input : output;
    const aclsimTensor *weight = call->cc_weight->tensors;
    const uint32_t count = directions_of(call), missing = SIM_SPACE - count;
    struct sim_convolution convolution = {
        .cv_batch = input->dims[0],
        .cv_groups = call->cc_groups,
        .cv_wide = weight->dims[1],
        .cv_narrow = weight->dims[0] / call->cc_groups,
        .cv_rounding = sim_cube_rounding(call->cc_math, type_of(call)),
    };
    for (uint32_t k = 0; k < missing; k++)
        convolution.cv_axes[k] = (struct sim_convolution_axis){1, 1, 1, 1, 1, 0};
    for (uint32_t k = 0; k < count; k++)
        convolution.cv_axes[missing + k] = (struct sim_convolution_axis){
            wide->dims[k + 2],           narrow->dims[k + 2],          weight->dims[k + 2],
            call->cc_step->integers[k], call->cc_apart->integers[k], pad_of(call, k, 0)};
    return convolution;
}

static aclError reserve(struct sim_convolution *convolution, enum sim_convolution_part part,
                        const aclsimTensor *tensor, struct sim_line *line, size_t *length)
{
    void *memory = tensor->data;
    *line = sim_line_of(tensor, 0, tensor->rank);
    *length = sim_line_length(line);
    convolution->cv_lent[part] = *length != 0 && sim_line_is_plain(line, SIM_CLASS_FLOAT);
    if (!convolution->cv_lent[part])
        SIM_TRY(sim_line_reserve(line, SIM_CLASS_FLOAT, 1, &memory, length));
    convolution->cv_values[part] = memory;
    return ACL_SUCCESS;
}

aclError sim_convolution_load(struct sim_convolution *convolution, enum sim_convolution_part part,
                              const aclsimTensor *tensor)
{
    struct sim_line line;
    size_t length;
    SIM_TRY(reserve(convolution, part, tensor, &line, &length));
    if (!convolution->cv_lent[part])
        sim_line_load(&line, SIM_CLASS_FLOAT, tensor->data, convolution->cv_values[part]);
    return ACL_SUCCESS;
}

aclError sim_convolution_clear(struct sim_convolution *convolution, enum sim_convolution_part part,
                               const aclsimTensor *tensor)
{
    struct sim_line line;
    size_t length;
    SIM_TRY(reserve(convolution, part, tensor, &line, &length));
    memset(convolution->cv_values[part], 0, length * sizeof(float));
    return ACL_SUCCESS;
}

void sim_convolution_free(struct sim_convolution *convolution)
{
    for (size_t i = 0; i < SIM_PARTS; i++)
        if (!convolution->cv_lent[i])
            free(convolution->cv_values[i]);
}

void sim_convolution_store(const struct sim_convolution *convolution, enum sim_convolution_part part,
                           const aclsimTensor *tensor)
{
    struct sim_line line = sim_line_of(tensor, 0, tensor->rank);
    if (!convolution->cv_lent[part])
        sim_line_store(&line, SIM_CLASS_FLOAT, convolution->cv_values[part], tensor->data);
}

/* ---- pieces of the matrix of columns ---- */

/* Some positions of one group of one image. */
struct piece {
    const struct sim_convolution_axis *pi_axes;
    int64_t pi_first, pi_count;     /* positions */
    int64_t pi_positions, pi_space; /* number of all positions, and of the elements of a wide channel */
    int64_t pi_kernel, pi_rows;     /* elements of the kernel, and of the kernels of all wide channels */
    float *pi_wide, *pi_narrow, *pi_weight, *pi_columns;
};

/* The index in the wide tensor that an element of the kernel has at a position. */
static int64_t index_of(const struct sim_convolution_axis *axis, int64_t position, int64_t element)
{
    return position * axis->ca_step + element * axis->ca_apart - axis->ca_before;
}

static bool is_inside(const struct sim_convolution_axis *axis, int64_t index)
{
    return index >= 0 && index < axis->ca_wide;
}

/* Copies a line of the wide tensor, from `index` on, to the columns, or adds the columns to it. */
static void move_line(const struct sim_convolution_axis *axis, float *line, int64_t index, float *columns,
                      int64_t count, bool adds)
{
    for (int64_t i = 0; i < count; i++, index += axis->ca_step) {
        bool inside = is_inside(axis, index);
        if (adds && inside)
            line[index] += columns[i];
        else if (!adds)
            columns[i] = inside ? line[index] : 0;
    }
}

/* Makes one row of the columns, or adds it to the wide tensor. */
static void move_row(const struct piece *piece, int64_t row, bool adds)
{
    const struct sim_convolution_axis *deep = piece->pi_axes, *high = deep + 1, *flat = deep + 2;
    const int64_t element = row % piece->pi_kernel;
    float *wide = piece->pi_wide + row / piece->pi_kernel * piece->pi_space;
    float *columns = piece->pi_columns + row * piece->pi_count;
    for (int64_t done = 0; done < piece->pi_count;) {
        int64_t position = piece->pi_first + done, place = position % flat->ca_narrow;
        int64_t left = piece->pi_count - done, count = flat->ca_narrow - place;
        int64_t z = index_of(deep, position / flat->ca_narrow / high->ca_narrow,
                             element / flat->ca_kernel / high->ca_kernel);
        int64_t y = index_of(high, position / flat->ca_narrow % high->ca_narrow,
                             element / flat->ca_kernel % high->ca_kernel);
        count = count < left ? count : left;
        if (is_inside(deep, z) && is_inside(high, y))
            move_line(flat, wide + (z * high->ca_wide + y) * flat->ca_wide,
                      index_of(flat, place, element % flat->ca_kernel), columns + done, count, adds);
        else if (!adds)
            memset(columns + done, 0, (size_t)count * sizeof(float));
        done += count;
    }
}

static void move_rows(const struct piece *piece, bool adds)
{
    for (int64_t row = 0; row < piece->pi_rows; row++)
        move_row(piece, row, adds);
}

/* ---- products ---- */

struct target {
    float *ta_values;
    int64_t ta_stride; /* of the rows */
};

static void add_sums(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count)
{
    const struct target *target = context;
    float *to = target->ta_values + row * target->ta_stride + column;
    for (size_t i = 0; i < count; i++)
        to[i] += sums->bv_floats[i];
}

static aclError multiply(const struct sim_convolution *convolution, struct target target, int64_t rows, int64_t columns,
                         int64_t depth, struct sim_factor left, struct sim_factor right)
{
    const struct sim_multiply product = {
        .mu_class = SIM_CLASS_FLOAT,
        .mu_rounding = convolution->cv_rounding,
        .mu_rows = rows,
        .mu_columns = columns,
        .mu_depth = depth,
        .mu_left = left,
        .mu_right = right,
        .mu_put = add_sums,
        .mu_context = &target,
    };
    return sim_multiply_run(&product);
}

/* A factor of floats. */
static struct sim_factor factor(const float *values, int64_t across, int64_t along)
{
    return (struct sim_factor){(const char *)values, ACL_FLOAT, across, along};
}

static aclError run_piece(const struct sim_convolution *convolution, const struct piece *piece,
                          enum sim_convolution_part part)
{
    const int64_t rows = piece->pi_rows, count = piece->pi_count, positions = piece->pi_positions;
    const int64_t channels = convolution->cv_narrow;
    if (part == SIM_PART_WIDE) {
        memset(piece->pi_columns, 0, (size_t)(rows * count) * sizeof(float));
        SIM_TRY(multiply(convolution, (struct target){piece->pi_columns, count}, rows, count, channels,
                         factor(piece->pi_weight, 1, rows), factor(piece->pi_narrow, 1, positions)));
        move_rows(piece, true);
        return ACL_SUCCESS;
    }
    move_rows(piece, false);
    return multiply(convolution, (struct target){piece->pi_weight, rows}, channels, rows, count,
                    factor(piece->pi_narrow, positions, 1), factor(piece->pi_columns, count, 1));
}

/* Runs all pieces of one group of one image. */
static aclError run_group(const struct sim_convolution *convolution, const struct piece *whole, int64_t most,
                          int64_t image, int64_t group, enum sim_convolution_part part)
{
    const int64_t place = image * convolution->cv_groups + group;
    struct piece piece = *whole;
    piece.pi_wide = convolution->cv_values[SIM_PART_WIDE] + place * convolution->cv_wide * piece.pi_space;
    piece.pi_weight = convolution->cv_values[SIM_PART_WEIGHT] + group * convolution->cv_narrow * piece.pi_rows;
    for (int64_t first = 0; first < piece.pi_positions; first += most) {
        piece.pi_first = first;
        piece.pi_count = piece.pi_positions - first < most ? piece.pi_positions - first : most;
        piece.pi_narrow = convolution->cv_values[SIM_PART_NARROW] +
                          place * convolution->cv_narrow * piece.pi_positions + first;
        SIM_TRY(run_piece(convolution, &piece, part));
    }
    return ACL_SUCCESS;
}

aclError sim_convolution_run(const struct sim_convolution *convolution, enum sim_convolution_part part)
{
    struct piece piece = {.pi_axes = convolution->cv_axes, .pi_positions = 1, .pi_space = 1, .pi_kernel = 1};
    aclError code = ACL_SUCCESS;
    if (convolution->cv_batch == 0 || convolution->cv_wide == 0 || convolution->cv_narrow == 0)
        return ACL_SUCCESS; /* the sums are empty, and the sizes of empty tensors could overflow in products */
    if (part == SIM_PART_NARROW)
        return sim_convolution_narrow(convolution);
    for (uint32_t k = 0; k < SIM_SPACE; k++) {
        piece.pi_positions *= convolution->cv_axes[k].ca_narrow;
        piece.pi_space *= convolution->cv_axes[k].ca_wide;
        piece.pi_kernel *= convolution->cv_axes[k].ca_kernel;
    }
    piece.pi_rows = convolution->cv_wide * piece.pi_kernel;
    int64_t most = COLUMNS / piece.pi_rows > FEWEST ? COLUMNS / piece.pi_rows : FEWEST;
    most = most < piece.pi_positions ? most : piece.pi_positions;
    size_t bytes = (size_t)(piece.pi_rows * most) * sizeof(float);
    piece.pi_columns = malloc(bytes);
    SIM_CHECK(piece.pi_columns != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate %zu bytes of host memory for a convolution", bytes);
    for (int64_t image = 0; image < convolution->cv_batch; image++)
        for (int64_t group = 0; code == ACL_SUCCESS && group < convolution->cv_groups; group++)
            code = run_group(convolution, &piece, most, image, group, part);
    free(piece.pi_columns);
    return code;
}
