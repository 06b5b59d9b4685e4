/* GridSampler2D, GridSampler3D and their backward forms: each element of the result is read from an image at the place
 * that a grid gives. AffineGrid makes such grids. Coordinates begin with that of the width, and the image extends from
 * -1 to 1. */
#include "base/fail.h"
#include "operator/row.h"
#include "planes.h"
#include "walk.h"

#include <math.h>
#include <string.h>

enum method { LINEAR, NEAREST, CUBIC };
enum beyond { ZEROS, BORDER, REFLECTION };

#define TAPS 4

/* ---- the elements around a place, in one direction ---- */

struct sampling {
    enum method sa_method;
    enum beyond sa_beyond;
    bool sa_aligns; /* -1 and 1 are the centers of the outer elements, not their edges */
    bool sa_backward;
    uint32_t sa_directions;
    const struct sim_planes *sa_input, *sa_grid, *sa_result; /* backward: the gradient of the result */
    struct sim_planes *sa_input_gradient, *sa_grid_gradient;
};

struct taps {
    int ta_count;
    int64_t ta_indices[TAPS]; /* -1: outside of the image */
    double ta_weights[TAPS];
    double ta_slopes[TAPS]; /* derivatives of the weights with respect to the coordinate */
};

/* Mirrors a place at the ends of the image, as often as needed. */
static double reflect(const struct sampling *sampling, double place, int64_t length, double *slope)
{
    const double low = sampling->sa_aligns ? 0 : -0.5, span = (double)(sampling->sa_aligns ? length - 1 : length);
    if (span == 0)
        return 0; /* the slope becomes 0 where the place is clamped */
    place -= low;
    if (place < 0) {
        place = -place;
        *slope = -*slope;
    }
    const double rest = fmod(place, span);
    if (fmod(floor(place / span), 2) == 0)
        return rest + low;
    *slope = -*slope;
    return span - rest + low;
}

/* Moves a place beyond the image into it, unless the elements there are 0. */
static double bring_inside(const struct sampling *sampling, double place, int64_t length, double *slope)
{
    const double last = (double)(length - 1);
    if (sampling->sa_beyond == ZEROS)
        return place;
    if (sampling->sa_beyond == REFLECTION)
        place = reflect(sampling, place, length, slope);
    if (place > 0 && place < last)
        return place;
    *slope = 0;
    if (isnan(place) && sampling->sa_directions > 2) /* PyTorch has other rules for volumes than for images */
        return sampling->sa_backward ? place : last;
    return place >= last ? last : 0; /* 0 also for NaN */
}

static int64_t index_of(double place, int64_t length)
{
    return place >= 0 && place < (double)length ? (int64_t)place : -1;
}

/* The derivative of sim_planes_cubic. */
static double cubic_slope(double x)
{
    const double a = SIM_PLANES_CUBIC, size = fabs(x);
    double slope = size <= 1 ? (3 * (a + 2) * size - 2 * (a + 3)) * size : (3 * a * size - 10 * a) * size + 8 * a;
    return x < 0 ? -slope : slope;
}

static struct taps find_taps(const struct sampling *sampling, double coordinate, int64_t length)
{
    const double size = (double)length;
    struct taps taps = {.ta_count = sampling->sa_method == LINEAR ? 2 : sampling->sa_method == NEAREST ? 1 : TAPS};
    double slope = sampling->sa_aligns ? (size - 1) / 2 : size / 2, unused = 0;
    double place = sampling->sa_aligns ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
    if (sampling->sa_method != CUBIC)
        place = bring_inside(sampling, place, length, &slope);
    const double first = floor(place), part = place - first;
    if (sampling->sa_method == NEAREST) {
        taps.ta_indices[0] = index_of(nearbyint(place), length);
        taps.ta_weights[0] = 1;
        return taps;
    }
    for (int i = 0; i < taps.ta_count; i++) {
        const double away = sampling->sa_method == CUBIC ? i - 1 : i;
        if (sampling->sa_method == LINEAR) {
            taps.ta_indices[i] = index_of(first + away, length);
            taps.ta_weights[i] = i == 0 ? 1 - part : part;
            taps.ta_slopes[i] = i == 0 ? -slope : slope;
        } else {
            taps.ta_indices[i] = index_of(bring_inside(sampling, first + away, length, &unused), length);
            taps.ta_weights[i] = sim_planes_cubic(part - away, SIM_PLANES_CUBIC);
            taps.ta_slopes[i] = cubic_slope(part - away) * slope;
        }
    }
    return taps;
}

/* ---- sampling ---- */

/* Reads one element of the result from an image or, backward, adds its gradient to those of the elements and of the
 * coordinates. */
static void sample(const struct sampling *sampling, const struct taps *taps, int64_t image, int64_t element,
                   double *slopes)
{
    const int64_t *dims = sampling->sa_input->pl_dims, start = image * sampling->sa_input->pl_size;
    double *result = &sampling->sa_result->pl_values[image * sampling->sa_result->pl_size + element];
    double sum = 0;
    for (int d = 0; d < taps[0].ta_count; d++)
        for (int h = 0; h < taps[1].ta_count; h++)
            for (int w = 0; w < taps[2].ta_count; w++) {
                const bool outside =
                    taps[0].ta_indices[d] < 0 || taps[1].ta_indices[h] < 0 || taps[2].ta_indices[w] < 0;
                if (outside && sampling->sa_directions > 2)
                    continue; /* in flat images, 0 is multiplied by the weight, which may be NaN */
                const int64_t row = taps[0].ta_indices[d] * dims[1] + taps[1].ta_indices[h];
                const int64_t at = start + row * dims[2] + taps[2].ta_indices[w];
                const double deep = taps[0].ta_weights[d], high = taps[1].ta_weights[h], wide = taps[2].ta_weights[w];
                const double value = outside ? 0 : sampling->sa_input->pl_values[at];
                if (!sampling->sa_backward) {
                    sum += value * (deep * high * wide);
                    continue;
                }
                if (!outside)
                    sampling->sa_input_gradient->pl_values[at] += *result * (deep * high * wide);
                slopes[0] += *result * value * (taps[0].ta_slopes[d] * high * wide);
                slopes[1] += *result * value * (deep * taps[1].ta_slopes[h] * wide);
                slopes[2] += *result * value * (deep * high * taps[2].ta_slopes[w]);
            }
    if (!sampling->sa_backward)
        *result = sum;
}

static void sample_all(const struct sampling *sampling)
{
    const int64_t batch = sampling->sa_input->pl_tensor->dims[0], channels = sampling->sa_input->pl_tensor->dims[1];
    const int64_t elements = sampling->sa_result->pl_size;
    const uint32_t directions = sampling->sa_directions;
    for (int64_t n = 0; n < batch; n++)
        for (int64_t element = 0; element < elements; element++) {
            const int64_t place = (n * elements + element) * directions;
            struct taps taps[SIM_DIRECTIONS] = {{.ta_count = 1, .ta_weights = {1}}}; /* the depth of a flat image */
            double slopes[SIM_DIRECTIONS] = {0};
            for (uint32_t i = 0; i < directions; i++) {
                const uint32_t direction = SIM_DIRECTIONS - 1 - i;
                taps[direction] = find_taps(sampling, sampling->sa_grid->pl_values[place + i],
                                            sampling->sa_input->pl_dims[direction]);
            }
            for (int64_t c = 0; c < channels; c++)
                sample(sampling, taps, n * channels + c, element, slopes);
            for (uint32_t i = 0; i < directions && sampling->sa_backward; i++)
                sampling->sa_grid_gradient->pl_values[place + i] = slopes[SIM_DIRECTIONS - 1 - i];
        }
}

/* ---- the operators ---- */

/* The parameters are input, grid, interpolationMode, paddingMode, alignCorners and out; those of a backward form are
 * gradOutput, the first five of these, outputMask, inputGrad and gridGrad. */
struct grid {
    uint32_t gr_directions;
    bool gr_backward;
};

static aclnnStatus check_mode(const aclsimArgument *mode, int64_t most)
{
    SIM_ARGUMENT(mode->integer >= 0 && mode->integer <= most, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 0 to %lld", mode->name, (long long)mode->integer, (long long)most);
    return ACL_SUCCESS;
}

static aclnnStatus plan_grid(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct grid *operator = call->userData;
    const aclsimArgument *given = &call->arguments[operator->gr_backward ? 1 : 0];
    const aclsimArgument *input = &given[0], *grid = &given[1];
    const aclsimArgument *result = operator->gr_backward ? call->arguments : &given[5];
    const uint32_t directions = operator->gr_directions, rank = directions + 2;
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(input, grid, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_types(input, result, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_rank(input, rank, rank));
    SIM_TRY(sim_planes_check_filled(input, 2));
    SIM_TRY(sim_require_rank(grid, rank, rank));
    SIM_TRY(check_mode(&given[2], directions == 2 ? CUBIC : NEAREST));
    SIM_TRY(check_mode(&given[3], REFLECTION));
    for (uint32_t k = 1; k <= directions; k++)
        dims[k] = grid->tensors->dims[k];
    dims[0] = input->tensors->dims[0];
    dims[rank - 1] = directions;
    SIM_TRY(sim_require_shape(grid, dims, rank, "places for each image of input"));
    for (uint32_t k = rank - 1; k > 1; k--)
        dims[k] = dims[k - 1];
    dims[1] = input->tensors->dims[1];
    SIM_TRY(sim_require_shape(result, dims, rank, "that of the places of grid"));
    if (!operator->gr_backward)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_count(&given[5], 2));
    for (uint32_t i = 0; i < 2; i++) {
        SIM_TRY(sim_require_same_type(&given[6 + i], input->tensors->type, input->name));
        SIM_TRY(sim_require_shape(&given[6 + i], given[i].tensors->dims, rank,
                                  i == 0 ? "that of input" : "that of grid"));
    }
    return ACL_SUCCESS;
}

static aclError compute_grid(const aclsimCall *call, struct sim_planes *planes)
{
    const struct grid *operator = call->userData;
    const bool backward = operator->gr_backward;
    const aclsimArgument *given = &call->arguments[backward ? 1 : 0];
    const struct sampling sampling = {
        .sa_method = (enum method)given[2].integer, .sa_beyond = (enum beyond)given[3].integer,
        .sa_aligns = given[4].integer != 0, .sa_backward = backward, .sa_directions = operator->gr_directions,
        .sa_input = &planes[backward ? 1 : 0], .sa_grid = &planes[backward ? 2 : 1],
        .sa_result = &planes[backward ? 0 : 2], .sa_input_gradient = &planes[3], .sa_grid_gradient = &planes[4]};
    sample_all(&sampling);
    for (uint32_t i = 0; i < 2 && backward; i++)
        planes[3 + i].pl_unwanted = !given[5].booleans[i];
    return ACL_SUCCESS;
}

static aclError run_grid(const aclsimCall *call)
{
    const struct grid *operator = call->userData;
    return sim_planes_run(call, operator->gr_directions, compute_grid);
}

#define GRID(op, ...)                                                                                                  \
    static const struct grid grid_##op = {__VA_ARGS__};                                                                \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_grid, run_grid, (void *)&grid_##op, false};

GRID(GridSampler2D, 2, false)
GRID(GridSampler2DBackward, 2, true)
GRID(GridSampler3D, 3, false)
GRID(GridSampler3DBackward, 3, true)

/* ---- AffineGrid: theta, size, alignCorners, out ---- */

#define MOST_SIZE (100 * 1000) /* documented */

static aclnnStatus plan_affine(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *theta = &call->arguments[0], *size = &call->arguments[1], *out = &call->arguments[3];
    int64_t dims[SIM_DIRECTIONS + 2] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(theta, out, SIM_TYPES_SINGLE));
    SIM_ARGUMENT(size->count == 4 || size->count == 5, ACLNN_ERR_PARAM_INVALID, "%s has %llu numbers, expected 4 or 5",
                 size->name, (unsigned long long)size->count);
    for (uint64_t i = 0; i < size->count; i++)
        SIM_ARGUMENT(size->integers[i] > 0 && size->integers[i] <= MOST_SIZE, ACLNN_ERR_PARAM_INVALID,
                     "%s[%llu] is %lld, expected 1 to %d", size->name, (unsigned long long)i,
                     (long long)size->integers[i], MOST_SIZE);
    const uint32_t directions = (uint32_t)size->count - 2;
    const int64_t matrices[] = {size->integers[0], directions, directions + 1};
    SIM_TRY(sim_require_shape(theta, matrices, 3, "a matrix for each image of size"));
    dims[0] = size->integers[0];
    for (uint32_t k = 0; k < directions; k++)
        dims[k + 1] = size->integers[k + 2];
    dims[directions + 1] = directions;
    return sim_require_shape(out, dims, directions + 2, "a place for each element of an image of size");
}

/* The coordinate of an element in the middle of a direction is 0. */
static double coordinate_of(int64_t index, int64_t length, bool aligns)
{
    return length == 1 ? 0 : (double)(2 * index - (length - 1)) / (double)(aligns ? length - 1 : length);
}

/* Moves the place of an element by a matrix; `to` is its first coordinate in the result, one of `result`. */
static void store_place(const double (*matrix)[SIM_DIRECTIONS + 1], const double *place, const aclsimTensor *result,
                        int64_t to)
{
    const uint32_t directions = result->rank - 2;
    aclsimTensor view = *result;
    union sim_block_values moved;
    for (uint32_t row = 0; row < directions; row++) {
        moved.bv_doubles[row] = matrix[row][directions];
        for (uint32_t k = 0; k < directions; k++)
            moved.bv_doubles[row] += matrix[row][k] * place[k];
    }
    sim_walk_advance(&view, to);
    sim_element_store(&moved, SIM_CLASS_DOUBLE, view.data, view.type, view.strides[view.rank - 1], directions);
}

static void load_matrix(const aclsimTensor *theta, int64_t image, double (*matrix)[SIM_DIRECTIONS + 1])
{
    union sim_block_values loaded;
    for (int64_t row = 0; row < theta->dims[1]; row++) {
        aclsimTensor view = *theta;
        sim_walk_advance(&view, image * theta->strides[0] + row * theta->strides[1]);
        sim_element_load(&loaded, SIM_CLASS_DOUBLE, view.data, view.type, view.strides[2], (size_t)theta->dims[2]);
        memcpy(matrix[row], loaded.bv_doubles, (size_t)theta->dims[2] * sizeof(double));
    }
}

static aclError run_affine(const aclsimCall *call)
{
    const aclsimTensor *theta = call->arguments[0].tensors, *out = call->arguments[3].tensors;
    const bool aligns = call->arguments[2].integer != 0;
    const uint32_t directions = out->rank - 2;
    const int64_t elements = sim_walk_count(out) / out->dims[0] / directions; /* of an image */
    for (int64_t image = 0; image < out->dims[0]; image++) {
        double matrix[SIM_DIRECTIONS][SIM_DIRECTIONS + 1], place[SIM_DIRECTIONS];
        load_matrix(theta, image, matrix);
        for (int64_t i = 0; i < elements; i++) {
            int64_t rest = i, to = image * out->strides[0];
            for (uint32_t k = directions; k >= 1; k--) {
                int64_t index = rest % out->dims[k];
                rest /= out->dims[k];
                place[directions - k] = coordinate_of(index, out->dims[k], aligns);
                to += index * out->strides[k];
            }
            store_place((const double (*)[SIM_DIRECTIONS + 1])matrix, place, out, to);
        }
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnAffineGrid = {plan_affine, run_affine, NULL, false};
