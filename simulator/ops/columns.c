/* Im2col: self, kernelSize, dilation, padding, stride, out. The shape of self is (N, C, H, W) or (C, H, W), that of the
 * result (N, C * kH * kW, L) or (C * kH * kW, L). Each of its L columns has the elements of a window; those of the
 * padding are 0. Im2colBackward (gradOutput, inputSize, kernelSize, dilation, padding, stride, out) adds up columns
 * into images of the height and width inputSize. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/op.h"
#include "operator/row.h"
#include "planes.h"
#include "walk.h"

/* The windows in the direction of the height or the width. */
struct windows {
    int64_t wi_length; /* of self */
    int64_t wi_kernel, wi_apart, wi_padding, wi_step;
    int64_t wi_count;
};

/* `numbers` are kernelSize, dilation, padding and stride. */
static struct windows windows_of(const aclsimArgument *numbers, uint32_t direction, int64_t length)
{
    struct windows windows = {length, numbers[0].integers[direction], numbers[1].integers[direction],
                              numbers[2].integers[direction], numbers[3].integers[direction], 0};
    windows.wi_count = sim_op_window_count(windows.wi_length, (windows.wi_kernel - 1) * windows.wi_apart + 1,
                                           windows.wi_step, 2 * windows.wi_padding);
    return windows;
}

static aclnnStatus check_numbers(const aclsimArgument *numbers)
{
    for (uint32_t i = 0; i < 4; i++)
        SIM_TRY(sim_require_steps(&numbers[i], 2, i == 2 ? 0 : 1)); /* the padding may be 0 */
    return ACL_SUCCESS;
}

/* Finds the last two dimensions of the columns for images of `channels` channels, the height and width of which are
 * `lengths`, the dimensions from `first` on of the argument `image`. */
static aclnnStatus find_columns(const aclsimArgument *numbers, const aclsimArgument *image, uint32_t first,
                                const int64_t *lengths, int64_t channels, int64_t *dims)
{
    dims[0] = channels;
    dims[1] = 1;
    for (uint32_t k = 0; k < 2; k++) {
        const struct windows windows = windows_of(numbers, k, lengths[k]);
        SIM_ARGUMENT(windows.wi_count > 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, which is shorter than the window even with padding", first + k,
                     image->name, (long long)windows.wi_length);
        SIM_ARGUMENT(sim_length_multiply(&dims[0], windows.wi_kernel) &&
                         sim_length_multiply(&dims[1], windows.wi_count),
                     ACLNN_ERR_PARAM_INVALID, "%s has too many windows, expected a result that fits 64 bits",
                     image->name);
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan_columns(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors;
    int64_t dims[3];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[5], SIM_TYPES_SINGLE | SIM_TYPES_BOOL));
    SIM_TRY(sim_require_rank(&given[0], 3, 4));
    SIM_TRY(check_numbers(&given[1]));
    dims[0] = self->dims[0];
    SIM_TRY(find_columns(&given[1], &given[0], self->rank - 2, &self->dims[self->rank - 2],
                         self->dims[self->rank - 3], &dims[1]));
    return sim_require_shape(&given[5], self->rank == 4 ? dims : dims + 1, self->rank - 1, "that of the columns");
}

/* A batch of channels in the order N, C, H, W, without N for a single one. */
static aclsimTensor with_batch(const aclsimTensor *tensor)
{
    aclsimTensor batch = *tensor;
    if (tensor->rank == 4)
        return batch;
    batch.rank = 4;
    batch.dims[0] = 1;
    for (uint32_t k = 0; k < 3; k++) {
        batch.dims[k + 1] = tensor->dims[k];
        batch.strides[k + 1] = tensor->strides[k];
    }
    return batch;
}

/* Narrows both views, in one direction, to the windows whose element `at` lies in self. Returns false if no window
 * remains. */
static bool narrow(aclsimTensor *to, aclsimTensor *from, uint32_t dim, const struct windows *windows, int64_t at)
{
    int64_t place = at * windows->wi_apart - windows->wi_padding, step = windows->wi_step; /* of the first window */
    int64_t first = place >= 0 ? 0 : (step - 1 - place) / step;
    int64_t end = place >= windows->wi_length ? 0 : (windows->wi_length - 1 - place) / step + 1;
    end = end < windows->wi_count ? end : windows->wi_count;
    if (first >= end)
        return false;
    if (first != 0)
        sim_walk_advance(to, first * to->strides[dim]);
    if (place + first * step != 0)
        sim_walk_advance(from, (place + first * step) * from->strides[dim]);
    to->dims[dim] = from->dims[dim] = end - first;
    from->strides[dim] = end - first == 1 ? 0 : from->strides[dim] * step;
    return true;
}

/* Each position in the window is a block of the result that is copied by itself. */
static aclError run_columns(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor self = with_batch(given[0].tensors), *out = given[5].tensors;
    const struct windows rows = windows_of(&given[1], 0, self.dims[2]);
    const struct windows columns = windows_of(&given[1], 1, self.dims[3]);
    const int64_t positions = rows.wi_kernel * columns.wi_kernel;
    const int64_t across = out->strides[out->rank - 2], along = out->strides[out->rank - 1];
    sim_walk_fill(out, NULL);
    for (int64_t position = 0; position < positions; position++) {
        aclsimTensor from = self, to = {.data = out->data, .rank = 4, .type = out->type};
        to.dims[0] = self.dims[0];
        to.dims[1] = self.dims[1];
        to.dims[2] = rows.wi_count;
        to.dims[3] = columns.wi_count;
        to.strides[0] = out->strides[0];
        to.strides[1] = self.dims[1] == 1 ? 0 : across * positions;
        to.strides[2] = rows.wi_count == 1 ? 0 : along * columns.wi_count;
        to.strides[3] = along;
        if (position != 0)
            sim_walk_advance(&to, position * across);
        if (narrow(&to, &from, 2, &rows, position / columns.wi_kernel) &&
            narrow(&to, &from, 3, &columns, position % columns.wi_kernel))
            sim_walk_copy(&to, &from);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnIm2col = {plan_columns, run_columns, NULL, false};

/* ---- backward ---- */

static aclnnStatus plan_images(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[6];
    const uint32_t rank = given[0].tensors->rank;
    int64_t image[4] = {0}, columns[3] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(&given[0], 2, 3));
    SIM_TRY(sim_require_rank(out, rank + 1, rank + 1));
    SIM_TRY(sim_require_steps(&given[1], 2, 1));
    SIM_TRY(check_numbers(&given[2]));
    image[0] = columns[0] = given[0].tensors->dims[0];
    image[1] = out->tensors->dims[rank - 2];
    image[2] = given[1].integers[0];
    image[3] = given[1].integers[1];
    SIM_TRY(find_columns(&given[2], &given[1], 0, &image[2], image[1], &columns[1]));
    SIM_TRY(sim_require_shape(out, rank == 3 ? image : image + 1, rank + 1, "images of the size inputSize"));
    return sim_require_shape(&given[0], rank == 3 ? columns : columns + 1, rank, "that of the columns of out");
}

static aclError add_columns(const aclsimCall *call, struct sim_planes *planes)
{
    const int64_t *dims = &planes[1].pl_dims[1];
    const struct windows rows = windows_of(&call->arguments[2], 0, dims[0]);
    const struct windows columns = windows_of(&call->arguments[2], 1, dims[1]);
    const double *from = planes[0].pl_values;
    for (int64_t image = 0; image < planes[1].pl_count; image++)
        for (int64_t position = 0; position < rows.wi_kernel * columns.wi_kernel; position++) {
            const int64_t top = position / columns.wi_kernel * rows.wi_apart - rows.wi_padding;
            const int64_t left = position % columns.wi_kernel * columns.wi_apart - columns.wi_padding;
            for (int64_t h = 0; h < rows.wi_count; h++)
                for (int64_t w = 0; w < columns.wi_count; w++) {
                    const int64_t y = top + h * rows.wi_step, x = left + w * columns.wi_step;
                    const double value = *from++;
                    if (y >= 0 && y < dims[0] && x >= 0 && x < dims[1])
                        planes[1].pl_values[(image * dims[0] + y) * dims[1] + x] += value;
                }
        }
    return ACL_SUCCESS;
}

static aclError run_images(const aclsimCall *call)
{
    return sim_planes_run(call, 2, add_columns);
}

const struct sim_kernel sim_kernel_aclnnIm2colBackward = {plan_images, run_images, NULL, false};
