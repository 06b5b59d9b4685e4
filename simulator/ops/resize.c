/* Operators that resize images: the Upsample operators for one to three directions, by the nearest element, by linear
 * or by cubic interpolation, with and without antialiasing, and their backward forms; and Resize. Each direction is
 * resized by itself.
 *
 * The parameters are self, outputSize, with interpolation alignCorners, then a scale for each direction or none, and
 * out; a backward form has the gradient of the result in place of self, and inputSize after outputSize. */
#include "base/fail.h"
#include "operator/row.h"
#include "planes.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum method { NEAREST, EXACT, LINEAR, CUBIC, SMOOTH_LINEAR, SMOOTH_CUBIC };

struct resizing {
    uint64_t rs_types;
    enum method rs_method;
    uint8_t rs_directions;
    bool rs_backward;
    bool rs_takes_none; /* the first dimension may be 0 */
};

/* ---- where an element of the result comes from, in one direction ---- */

struct axis {
    enum method ax_method;
    bool ax_aligns;       /* the corner elements keep their places */
    double ax_scale;      /* not positive: the quotient of the sizes */
    int64_t ax_in, ax_out;
};

/* The elements of the image that an element of the result is computed from, and their weights. */
struct taps {
    int64_t *ta_indices;
    double *ta_weights;
    int64_t ta_count;
};

/* How far apart the neighbours of the result are in the image. */
static double step_of(const struct axis *axis)
{
    if (axis->ax_aligns)
        return axis->ax_out > 1 ? (double)(axis->ax_in - 1) / (double)(axis->ax_out - 1) : 0;
    return axis->ax_scale > 0 ? 1 / axis->ax_scale : (double)axis->ax_in / (double)axis->ax_out;
}

static int64_t clamp(double index, int64_t length)
{
    return index > 0 ? index < (double)length ? (int64_t)index : length - 1 : 0;
}

/* Computed in float, like in PyTorch: a place near the border of two elements must fall on the same side. */
static void find_nearest(const struct axis *axis, int64_t index, struct taps *taps)
{
    const float step = axis->ax_scale > 0 ? (float)(1 / axis->ax_scale) : (float)axis->ax_in / (float)axis->ax_out;
    float place = (float)index * step;
    if (axis->ax_method == EXACT)
        place = (float)(((double)index + 0.5) * (double)step);
    taps->ta_indices[0] = clamp(floor((double)place), axis->ax_in);
    taps->ta_weights[0] = 1;
    taps->ta_count = 1;
}

static void find_interpolated(const struct axis *axis, int64_t index, struct taps *taps)
{
    const bool is_cubic = axis->ax_method == CUBIC;
    const double step = step_of(axis);
    double place = axis->ax_aligns ? step * (double)index : step * ((double)index + 0.5) - 0.5;
    place = fmin(fmax(place, is_cubic ? -2 : 0), (double)axis->ax_in); /* further places have the same value */
    if (!is_cubic)
        place = fmin(place, (double)(axis->ax_in - 1));
    const double first = floor(place), part = place - first;
    taps->ta_count = is_cubic ? 4 : 2;
    for (int64_t i = 0; i < taps->ta_count; i++) {
        const double away = (double)(is_cubic ? i - 1 : i);
        taps->ta_indices[i] = clamp(first + away, axis->ax_in);
        taps->ta_weights[i] = is_cubic ? sim_planes_cubic(part - away, SIM_PLANES_CUBIC) : 1 - fabs(part - away);
    }
}

/* Antialiasing: when an image shrinks, the kernel is as wide as the elements that become one. */
static double support_of(const struct axis *axis)
{
    return (axis->ax_method == SMOOTH_CUBIC ? 2 : 1) * fmax(step_of(axis), 1);
}

static void find_smooth(const struct axis *axis, int64_t index, struct taps *taps)
{
    const double step = step_of(axis), support = support_of(axis), center = step * ((double)index + 0.5);
    const double low = fmax(trunc(center - support + 0.5), 0), high = trunc(center + support + 0.5);
    const int64_t first = low < (double)axis->ax_in ? (int64_t)low : axis->ax_in;
    const int64_t end = high < (double)axis->ax_in ? (int64_t)high : axis->ax_in;
    double total = 0;
    taps->ta_count = 0;
    for (int64_t i = first; i < end; i++) {
        const double x = ((double)i - center + 0.5) / fmax(step, 1);
        const double weight = axis->ax_method != SMOOTH_CUBIC ? fmax(1 - fabs(x), 0)
                              : fabs(x) < 2                   ? sim_planes_cubic(x, -0.5)
                                                              : 0;
        taps->ta_indices[taps->ta_count] = i;
        taps->ta_weights[taps->ta_count++] = weight;
        total += weight;
    }
    for (int64_t i = 0; i < taps->ta_count && total != 0; i++)
        taps->ta_weights[i] /= total;
}

static void find_taps(const struct axis *axis, int64_t index, struct taps *taps)
{
    if (axis->ax_method <= EXACT)
        find_nearest(axis, index, taps);
    else if (axis->ax_method <= CUBIC)
        find_interpolated(axis, index, taps);
    else
        find_smooth(axis, index, taps);
}

/* ---- resizing in one direction ---- */

/* `outer` images with lines of `inner` elements. Backward, each element of `from` is added to those that it was
 * computed from; `to` is 0 at first. */
static aclError resize(const struct axis *axis, bool backward, int64_t outer, int64_t inner, const double *from,
                       double *to)
{
    const size_t most = axis->ax_method < SMOOTH_LINEAR ? 4 : (size_t)axis->ax_in;
    struct taps taps = {malloc(most * sizeof(int64_t)), malloc(most * sizeof(double)), 0};
    const bool allocated = taps.ta_indices != NULL && taps.ta_weights != NULL;
    for (int64_t index = 0; allocated && index < axis->ax_out; index++) {
        find_taps(axis, index, &taps);
        for (int64_t i = 0; i < outer; i++)
            for (int64_t k = 0; k < taps.ta_count; k++) {
                const int64_t large = (i * axis->ax_out + index) * inner;
                const int64_t small = (i * axis->ax_in + taps.ta_indices[k]) * inner;
                const double *source = from + (backward ? large : small);
                double *target = to + (backward ? small : large);
                for (int64_t n = 0; n < inner; n++)
                    target[n] += taps.ta_weights[k] * source[n];
            }
    }
    free(taps.ta_indices);
    free(taps.ta_weights);
    SIM_CHECK(allocated, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %zu weights", most);
    return ACL_SUCCESS;
}

/* Resizes in all directions. planes: the operand and the result. */
static aclError resize_all(const struct axis *axes, bool backward, const struct sim_planes *planes)
{
    double *from = planes[0].pl_values;
    int64_t outer = planes[0].pl_count;
    aclError ret = ACL_SUCCESS;
    for (int k = 0; k < SIM_DIRECTIONS && ret == ACL_SUCCESS; k++) {
        int64_t inner = 1, elements = outer * planes[1].pl_dims[k];
        for (int i = k + 1; i < SIM_DIRECTIONS; i++)
            inner *= planes[0].pl_dims[i];
        double *to = planes[1].pl_values;
        if (k + 1 < SIM_DIRECTIONS)
            to = calloc((size_t)(elements * inner), sizeof(double));
        if (to != NULL)
            ret = resize(&axes[k], backward, outer, inner, from, to);
        if (from != planes[0].pl_values)
            free(from);
        SIM_CHECK(to != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %lld elements",
                  (long long)(elements * inner));
        from = to;
        outer = elements;
    }
    if (ret != ACL_SUCCESS && from != planes[0].pl_values && from != planes[1].pl_values)
        free(from);
    return ret;
}

/* ---- the Upsample operators ---- */

static aclnnStatus plan_resizing(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct resizing *resizing = call->userData;
    const aclsimArgument *given = call->arguments, *out = &given[call->argumentCount - 1];
    const uint32_t directions = resizing->rs_directions, rank = directions + 2;
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], out, resizing->rs_types));
    SIM_TRY(sim_require_rank(&given[0], rank, rank));
    SIM_TRY(sim_planes_check_filled(&given[0], resizing->rs_takes_none ? 1 : 0));
    SIM_TRY(sim_require_steps(&given[1], directions, 1));
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = k < 2 ? given[0].tensors->dims[k] : given[1].integers[k - 2];
    if (!resizing->rs_backward)
        return sim_require_shape(out, dims, rank, "that of the resized images");
    SIM_TRY(sim_require_steps(&given[2], rank, resizing->rs_takes_none ? 0 : 1));
    SIM_TRY(sim_require_shape(out, given[2].integers, rank, "inputSize"));
    SIM_TRY(sim_planes_check_filled(out, resizing->rs_takes_none ? 1 : 0));
    for (uint32_t k = 0; k < 2; k++)
        dims[k] = given[2].integers[k];
    return sim_require_shape(&given[0], dims, rank, "that of inputSize resized to outputSize");
}

static aclError compute_resizing(const aclsimCall *call, struct sim_planes *planes)
{
    const struct resizing *resizing = call->userData;
    const bool backward = resizing->rs_backward, interpolates = resizing->rs_method >= LINEAR;
    const aclsimArgument *next = &call->arguments[backward ? 3 : 2], *out = &call->arguments[call->argumentCount - 1];
    const bool aligns = interpolates && next->integer != 0;
    struct axis axes[SIM_DIRECTIONS];
    next += interpolates ? 1 : 0;
    for (int k = 0; k < SIM_DIRECTIONS; k++) {
        axes[k] = (struct axis){.ax_in = planes[backward ? 1 : 0].pl_dims[k],
                                .ax_out = planes[backward ? 0 : 1].pl_dims[k]};
        if (k < SIM_DIRECTIONS - resizing->rs_directions)
            continue; /* the images lack the direction: it is copied */
        axes[k].ax_method = resizing->rs_method;
        axes[k].ax_aligns = aligns;
        if (next < out)
            axes[k].ax_scale = (next++)->number;
    }
    return resize_all(axes, backward, planes);
}

static aclError run_resizing(const aclsimCall *call)
{
    const struct resizing *resizing = call->userData;
    return sim_planes_run(call, resizing->rs_directions, compute_resizing);
}

#define RESIZE(op, types, method, directions, ...)                                                                     \
    static const struct resizing resizing_##op = {(types), method, directions, __VA_ARGS__};                           \
    const struct sim_kernel sim_kernel_aclnnUpsample##op = {plan_resizing, run_resizing, (void *)&resizing_##op, false};
#define BOTH(op, types, backward_types, method, directions)                                                            \
    RESIZE(op, types, method, directions, .rs_backward = false)                                                        \
    RESIZE(op##Backward, backward_types, method, directions, .rs_backward = true)

#define SINGLE SIM_TYPES_SINGLE
#define FLOAT SIM_TYPES_FLOAT
#define BYTE SIM_TYPE(ACL_UINT8)

BOTH(Nearest1d, FLOAT | BYTE, FLOAT, NEAREST, 1)
BOTH(Nearest2d, FLOAT | BYTE, SINGLE, NEAREST, 2)
BOTH(Nearest3d, FLOAT | BYTE, FLOAT, NEAREST, 3)
RESIZE(Nearest1dV2, FLOAT | BYTE, NEAREST, 1, .rs_backward = false)
RESIZE(Nearest2dV2, FLOAT | BYTE, NEAREST, 2, .rs_takes_none = true)
BOTH(NearestExact1d, SINGLE | BYTE, SINGLE, EXACT, 1)
RESIZE(NearestExact2d, SINGLE | BYTE, EXACT, 2, .rs_takes_none = true)
RESIZE(NearestExact2dBackward, SINGLE, EXACT, 2, .rs_backward = true, .rs_takes_none = true)
BOTH(NearestExact3d, SINGLE, SINGLE, EXACT, 3)
BOTH(Linear1d, SINGLE, SINGLE, LINEAR, 1)
BOTH(Bilinear2d, FLOAT, SINGLE, LINEAR, 2)
RESIZE(Bilinear2dBackwardV2, SINGLE, LINEAR, 2, .rs_backward = true)
BOTH(Trilinear3d, FLOAT, FLOAT, LINEAR, 3)
BOTH(Bicubic2d, SINGLE, SINGLE, CUBIC, 2)
BOTH(Bilinear2dAA, SINGLE, SINGLE, SMOOTH_LINEAR, 2)
RESIZE(Bicubic2dAA, SINGLE, SMOOTH_CUBIC, 2, .rs_takes_none = true)
RESIZE(Bicubic2dAAGrad, SINGLE, SMOOTH_CUBIC, 2, .rs_backward = true)

/* ---- Resize: self, scales, mode, out ---- */

static bool is_nearest(const aclsimCall *call)
{
    return strcmp(call->arguments[2].text, "nearest") == 0;
}

static aclnnStatus plan_scaled(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    int64_t dims[4] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[3], SINGLE));
    SIM_TRY(sim_require_rank(&given[0], 4, 4));
    SIM_TRY(sim_planes_check_filled(&given[0], 0));
    SIM_TRY(sim_require_count(&given[1], 4));
    if (!is_nearest(call) && strcmp(given[2].text, "bilinear") != 0)
        sim_report_text(given[2].name, "nearest");
    SIM_ARGUMENT(is_nearest(call) || strcmp(given[2].text, "bilinear") == 0, ACLNN_ERR_PARAM_INVALID,
                 "mode is \"%.40s\", expected \"nearest\" or \"bilinear\"", given[2].text);
    for (int k = 0; k < 4; k++) {
        const double scale = (double)given[1].floats[k], size = floor((double)given[0].tensors->dims[k] * scale);
        SIM_ARGUMENT(k < 2 ? scale == 1 : size >= 1 && size <= SIM_MOST_STEP, ACLNN_ERR_PARAM_INVALID,
                     "scales[%d] is %g, expected %s", k, scale, k < 2 ? "1" : "one that gives 1 to 1048576 elements");
        dims[k] = (int64_t)size;
    }
    return sim_require_shape(&given[3], dims, 4, "that of the resized images");
}

static aclError compute_scaled(const aclsimCall *call, struct sim_planes *planes)
{
    struct axis axes[SIM_DIRECTIONS];
    for (int k = 0; k < SIM_DIRECTIONS; k++)
        axes[k] = (struct axis){.ax_method = k == 0 || is_nearest(call) ? NEAREST : LINEAR,
                                .ax_in = planes[0].pl_dims[k], .ax_out = planes[1].pl_dims[k],
                                .ax_scale = (double)call->arguments[1].floats[1 + k]}; /* 1 for the depth */
    return resize_all(axes, false, planes);
}

static aclError run_scaled(const aclsimCall *call)
{
    return sim_planes_run(call, 2, compute_scaled);
}

const struct sim_kernel sim_kernel_aclnnResize = {plan_scaled, run_scaled, NULL, false};
