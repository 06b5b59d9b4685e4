/* Means, variances and gradients of slices; loading and storing of whole tensors; checks that normalizations share. */
#include "slices.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- slices ---- */

/* The slices of an empty input are not divided: there is nothing to compute. */
struct sim_slices sim_slices_of(size_t outer, size_t channels, size_t inner, size_t span, size_t group)
{
    return (struct sim_slices){
        .sl_outer = outer,
        .sl_channels = channels,
        .sl_inner = inner,
        .sl_span = span,
        .sl_group = group,
        .sl_count = span == 0 || group == 0 ? 0 : outer / span * (channels / group),
        .sl_size = span * group * inner,
    };
}

size_t sim_slices_extent(const aclsimTensor *tensor, uint32_t first, uint32_t last)
{
    size_t extent = 1;
    for (uint32_t k = first; k < last; k++)
        extent *= (size_t)tensor->dims[k];
    return extent;
}

struct sim_slices sim_slices_of_channels(const aclsimTensor *input)
{
    size_t outer = (size_t)input->dims[0], channels = (size_t)input->dims[1];
    return sim_slices_of(outer, channels, sim_slices_extent(input, 2, input->rank), outer, 1);
}

struct sim_slices sim_slices_of_rows(const aclsimTensor *input, uint32_t rows)
{
    size_t channels = sim_slices_extent(input, rows, input->rank);
    return sim_slices_of(sim_slices_extent(input, 0, rows), channels, 1, 1, channels);
}

/* ---- lists of numbers ---- */

void sim_lists_free(struct sim_lists *lists)
{
    for (size_t i = 0; i < lists->ls_count; i++)
        free(lists->ls_numbers[i]);
}

aclError sim_lists_run(const aclsimCall *call)
{
    const struct sim_lists_kind *kind = call->userData;
    struct sim_lists lists = {.ls_count = 0};
    aclError code = kind->lk_run(call, &lists);
    sim_lists_free(&lists);
    return code;
}

aclError sim_lists_take(struct sim_lists *lists, size_t count, double **numbers)
{
    *numbers = lists->ls_count < SIM_LISTS ? calloc(count == 0 ? 1 : count, sizeof(double)) : NULL;
    SIM_CHECK(*numbers != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %zu elements or more",
              count);
    lists->ls_numbers[lists->ls_count++] = *numbers;
    return ACL_SUCCESS;
}

static aclError load(struct sim_lists *lists, const aclsimTensor *tensor, double **numbers)
{
    int64_t count = sim_walk_count(tensor); /* -1, of a count that does not fit, is too large as well */
    struct sim_line line = sim_line_of(tensor, 0, tensor->rank);
    SIM_TRY(sim_lists_take(lists, (size_t)count, numbers));
    sim_line_load(&line, SIM_CLASS_DOUBLE, tensor->data, *numbers);
    return ACL_SUCCESS;
}

aclError sim_lists_load(struct sim_lists *lists, const aclsimArgument *tensor, double **numbers)
{
    return load(lists, tensor->tensors, numbers);
}

aclError sim_lists_load_or(struct sim_lists *lists, const aclsimArgument *tensor, size_t count, double missing,
                           double **numbers)
{
    if (tensor->present != 0)
        return load(lists, tensor->tensors, numbers);
    SIM_TRY(sim_lists_take(lists, count, numbers));
    for (size_t i = 0; i < count; i++)
        (*numbers)[i] = missing;
    return ACL_SUCCESS;
}

static aclsimTensor rows_of(const aclsimArgument *tensor, uint32_t rows)
{
    aclsimTensor view = *tensor->tensors;
    view.rank = rows;
    return view;
}

static void store(const aclsimTensor *tensor, const double *numbers)
{
    struct sim_line line = sim_line_of(tensor, 0, tensor->rank);
    sim_line_store(&line, SIM_CLASS_DOUBLE, numbers, tensor->data);
}

void sim_lists_store(const aclsimArgument *tensor, const double *numbers)
{
    if (tensor->present != 0)
        store(tensor->tensors, numbers);
}

void sim_lists_store_rows(const aclsimArgument *tensor, uint32_t rows, const double *numbers)
{
    if (tensor->present == 0)
        return;
    const aclsimTensor view = rows_of(tensor, rows);
    store(&view, numbers);
}

/* ---- arithmetic ---- */

/* A run: consecutive elements of the same slice and channel. */
struct run {
    size_t ru_slice, ru_channel;
};

static struct run run_at(const struct sim_slices *slices, size_t index)
{
    size_t outer = index / slices->sl_channels, channel = index % slices->sl_channels;
    size_t across = slices->sl_channels / slices->sl_group;
    return (struct run){outer / slices->sl_span * across + channel / slices->sl_group, channel};
}

static size_t runs_of(const struct sim_slices *slices)
{
    return slices->sl_inner == 0 ? 0 : slices->sl_outer * slices->sl_channels;
}

void sim_slices_means(const struct sim_slices *slices, const double *values, double *means)
{
    for (size_t r = 0; r < runs_of(slices); r++) {
        double *mean = &means[run_at(slices, r).ru_slice];
        for (size_t i = 0; i < slices->sl_inner; i++)
            *mean += *values++;
    }
    for (size_t k = 0; k < slices->sl_count; k++)
        means[k] /= (double)slices->sl_size;
}

void sim_slices_variances(const struct sim_slices *slices, const double *values, const double *means,
                          double *variances)
{
    for (size_t r = 0; r < runs_of(slices); r++) {
        size_t k = run_at(slices, r).ru_slice;
        for (size_t i = 0; i < slices->sl_inner; i++, values++)
            variances[k] += (*values - means[k]) * (*values - means[k]);
    }
    for (size_t k = 0; k < slices->sl_count; k++)
        variances[k] /= (double)slices->sl_size;
}

void sim_slices_invert(double *variances, size_t count, double epsilon)
{
    for (size_t k = 0; k < count; k++)
        variances[k] = 1 / sqrt(variances[k] + epsilon);
}

void sim_slices_normalize(const struct sim_slices *slices, double *values, const double *means, const double *rstds,
                          const double *weight, const double *bias)
{
    for (size_t r = 0; r < runs_of(slices); r++) {
        struct run run = run_at(slices, r);
        double mean = means[run.ru_slice], rstd = rstds[run.ru_slice];
        for (size_t i = 0; i < slices->sl_inner; i++, values++)
            *values = (*values - mean) * rstd * weight[run.ru_channel] + bias[run.ru_channel];
    }
}

/* Loads a number per slice. */
static aclError load_numbers(struct sim_lists *lists, const aclsimArgument *numbers, uint32_t rows, const double **list)
{
    uint32_t rank = numbers->tensors->rank;
    const aclsimTensor view = rows_of(numbers, rank < rows ? rank : rows);
    double *loaded;
    SIM_TRY(load(lists, &view, &loaded));
    *list = loaded;
    return ACL_SUCCESS;
}

aclError sim_gradient_load(const struct sim_slices *slices, const struct sim_gradient_arguments *arguments,
                           const double *input, struct sim_lists *lists, struct sim_gradient *gradient)
{
    double *weight, *zeros;
    SIM_TRY(sim_lists_load(lists, arguments->ga_output, &gradient->gr_output));
    SIM_TRY(sim_lists_take(lists, slices->sl_count, &zeros));
    gradient->gr_means = zeros;
    if (arguments->ga_mean != NULL)
        SIM_TRY(load_numbers(lists, arguments->ga_mean, arguments->ga_rows, &gradient->gr_means));
    SIM_TRY(load_numbers(lists, arguments->ga_rstd, arguments->ga_rows, &gradient->gr_rstds));
    SIM_TRY(sim_lists_load_or(lists, arguments->ga_weight, slices->sl_channels, 1, &weight));
    SIM_TRY(sim_lists_take(lists, slices->sl_channels, &gradient->gr_weights));
    SIM_TRY(sim_lists_take(lists, slices->sl_channels, &gradient->gr_biases));
    gradient->gr_input = input;
    gradient->gr_weight = weight;
    gradient->gr_through_means = arguments->ga_mean != NULL;
    gradient->gr_through_rstds = true;
    return ACL_SUCCESS;
}

void sim_gradient_sum(const struct sim_slices *slices, const struct sim_gradient *gradient)
{
    const double *slopes = gradient->gr_output, *values = gradient->gr_input;
    for (size_t r = 0; r < runs_of(slices); r++) {
        struct run run = run_at(slices, r);
        double mean = gradient->gr_means[run.ru_slice], rstd = gradient->gr_rstds[run.ru_slice];
        for (size_t i = 0; i < slices->sl_inner; i++, slopes++, values++) {
            gradient->gr_weights[run.ru_channel] += *slopes * ((*values - mean) * rstd);
            gradient->gr_biases[run.ru_channel] += *slopes;
        }
    }
}

/* With t = gradient * weight and n = (value - mean) * rstd, the gradient of the input is
 * (t - mean(t) - n * mean(t * n)) * rstd. */
aclError sim_gradient_run(const struct sim_slices *slices, const struct sim_gradient *gradient,
                          struct sim_lists *lists)
{
    double *shifts, *slants, *slopes = gradient->gr_output, size = (double)slices->sl_size;
    const double *values = gradient->gr_input;
    SIM_TRY(sim_lists_take(lists, slices->sl_count, &shifts));
    SIM_TRY(sim_lists_take(lists, slices->sl_count, &slants));
    sim_gradient_sum(slices, gradient);
    for (size_t r = 0; r < runs_of(slices); r++) {
        struct run run = run_at(slices, r);
        size_t k = run.ru_slice;
        for (size_t i = 0; i < slices->sl_inner; i++, slopes++, values++) {
            *slopes *= gradient->gr_weight[run.ru_channel];
            shifts[k] += gradient->gr_through_means ? *slopes / size : 0;
            slants[k] += gradient->gr_through_rstds
                             ? *slopes * ((*values - gradient->gr_means[k]) * gradient->gr_rstds[k]) / size
                             : 0;
        }
    }
    slopes = gradient->gr_output;
    values = gradient->gr_input;
    for (size_t r = 0; r < runs_of(slices); r++) {
        size_t k = run_at(slices, r).ru_slice;
        double mean = gradient->gr_means[k], rstd = gradient->gr_rstds[k];
        for (size_t i = 0; i < slices->sl_inner; i++, slopes++, values++) {
            double slant = gradient->gr_through_rstds ? (*values - mean) * rstd * slants[k] : 0;
            *slopes = (*slopes - shifts[k] - slant) * rstd;
        }
    }
    return ACL_SUCCESS;
}

void sim_gradient_store(const aclsimArgument *mask, const aclsimArgument *outputs,
                        const struct sim_gradient *gradient)
{
    const double *const results[] = {gradient->gr_output, gradient->gr_weights, gradient->gr_biases};
    for (size_t i = 0; i < 3; i++)
        if (mask->booleans[i])
            sim_lists_store(&outputs[i], results[i]);
}

/* ---- checks ---- */

aclnnStatus sim_require_present(const aclsimArgument *argument, bool needed)
{
    if (needed && argument->present == 0)
        sim_report_absent(argument->name);
    SIM_ARGUMENT(!needed || argument->present != 0, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a valid pointer",
                 argument->name);
    return ACL_SUCCESS;
}

aclnnStatus sim_require_masked(const aclsimArgument *mask, const aclsimArgument *outputs)
{
    SIM_TRY(sim_require_count(mask, 3));
    for (size_t i = 0; i < 3; i++)
        SIM_TRY(sim_require_present(&outputs[i], mask->booleans[i]));
    return ACL_SUCCESS;
}

aclnnStatus sim_require_channels(const aclsimArgument *numbers, int64_t count)
{
    return numbers->present == 0 ? ACL_SUCCESS : sim_require_shape(numbers, &count, 1, "one number per channel");
}

aclnnStatus sim_require_normalized(const aclsimArgument *input, const aclsimArgument *shape)
{
    uint32_t rank = input->tensors->rank;
    SIM_TRY(sim_require_rank(input, 1, SIM_RANK));
    SIM_ARGUMENT(shape->count >= 1 && shape->count <= rank, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " elements, expected 1 to %u, the number of dimensions of %s", shape->name,
                 shape->count, rank, input->name);
    for (uint32_t k = 0; k < shape->count; k++) {
        uint32_t place = rank - (uint32_t)shape->count + k;
        SIM_ARGUMENT(shape->integers[k] == input->tensors->dims[place], ACLNN_ERR_PARAM_INVALID,
                     "element %u of %s is %" PRId64 " and dimension %u of %s is %" PRId64 ", expected the same", k,
                     shape->name, shape->integers[k], place, input->name, input->tensors->dims[place]);
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_require_numbers(const aclsimArgument *numbers, const aclsimTensor *input, uint32_t rows)
{
    int64_t dims[SIM_RANK];
    for (uint32_t k = 0; k < input->rank; k++)
        dims[k] = k < rows ? input->dims[k] : 1;
    return sim_require_shape(numbers, dims, input->rank, "one number per normalized slice");
}

aclnnStatus sim_require_rstd(const aclsimArgument *rstd, const aclsimTensor *input, uint32_t rows)
{
    if (rstd->tensors->rank == rows)
        return sim_require_shape(rstd, input->dims, rows, "one number per normalized slice");
    if (sim_require_is_shape(rstd->tensors, input->dims, input->rank))
        return ACL_SUCCESS;
    return sim_require_numbers(rstd, input, rows);
}

aclnnStatus sim_require_gamma(const aclsimArgument *gamma, const aclsimArgument *input)
{
    const aclsimTensor *tensor = input->tensors;
    uint32_t rank = gamma->tensors->rank;
    char whose[64];
    SIM_TRY(sim_require_rank(input, 1, SIM_RANK));
    SIM_TRY(sim_require_rank(gamma, 1, tensor->rank));
    snprintf(whose, sizeof whose, "the last dimensions of %s", input->name);
    return sim_require_shape(gamma, tensor->dims + (tensor->rank - rank), rank, whose);
}
