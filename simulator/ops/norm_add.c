/* Normalizations of the last dimensions of a sum of two tensors: AddRmsNorm, also in place, with a second result in
 * float32, or with integer results, AddLayerNorm and DeepNorm; and GemmaRmsNorm, whose weight is gamma + 1. */
#include "packed.h"
#include "slices.h"

#include <inttypes.h>
#include <math.h>

/* What follows the sum. */
struct last {
    const aclsimArgument *la_gamma, *la_beta, *la_mean; /* NULL: no bias; no mean, so that the mean square is used */
    const aclsimArgument *la_y, *la_rstd;               /* rstd may be NULL */
    double la_epsilon, la_offset; /* of the weight from gamma */
    bool la_is_line;              /* gamma has the shape (1, D), and only the last dimension is normalized */
};

/* The number of dimensions before the normalized ones. */
static uint32_t rows_of(const struct last *last)
{
    return last->la_y->tensors->rank - (last->la_is_line ? 1 : last->la_gamma->tensors->rank);
}

/* Checks the types of what is computed from a sum of the type `type`. */
static aclnnStatus check_types(const struct last *last, aclDataType type, uint64_t scale_types)
{
    const aclsimArgument *numbers[] = {last->la_mean, last->la_rstd};
    SIM_TRY(sim_require_type(last->la_gamma, scale_types));
    if (last->la_beta != NULL)
        SIM_TRY(sim_require_type(last->la_beta, scale_types));
    SIM_TRY(sim_require_type(last->la_y, SIM_TYPE(type)));
    for (size_t i = 0; i < 2; i++)
        if (numbers[i] != NULL)
            SIM_TRY(sim_require_type(numbers[i], SIM_TYPE(ACL_FLOAT)));
    return ACL_SUCCESS;
}

/* The same, and the shapes of what is computed from x. */
static aclnnStatus check(const struct last *last, const aclsimArgument *x, aclDataType type, uint64_t scale_types)
{
    const aclsimTensor *input = x->tensors, *gamma = last->la_gamma->tensors;
    const aclsimArgument *numbers[] = {last->la_mean, last->la_rstd};
    SIM_TRY(check_types(last, type, scale_types));
    if (last->la_is_line) {
        SIM_TRY(sim_require_rank(x, 1, SIM_RANK));
        const int64_t line[] = {1, input->dims[input->rank - 1]};
        SIM_TRY(sim_require_shape(last->la_gamma, line, 2, "one line, as there is no sum and no rstd"));
    } else {
        SIM_TRY(sim_require_gamma(last->la_gamma, x));
    }
    if (last->la_beta != NULL)
        SIM_TRY(sim_require_shape(last->la_beta, gamma->dims, gamma->rank, "that of gamma"));
    SIM_TRY(sim_require_shape(last->la_y, input->dims, input->rank, "that of the input"));
    for (size_t i = 0; i < 2; i++)
        if (numbers[i] != NULL)
            SIM_TRY(sim_require_rstd(numbers[i], input, rows_of(last)));
    return ACL_SUCCESS;
}

/* Checks an operand or a copy of the sum. */
static aclnnStatus check_like(const aclsimArgument *argument, const aclsimArgument *x, aclDataType type)
{
    SIM_TRY(sim_require_type(argument, SIM_TYPE(type)));
    return sim_require_shape(argument, x->tensors->dims, x->tensors->rank, "that of the input");
}

/* Normalizes the values in place, and returns the statistics. */
static aclError compute(const struct last *last, double *values, struct sim_lists *lists, double **means,
                        double **rstds)
{
    const struct sim_slices slices = sim_slices_of_rows(last->la_y->tensors, rows_of(last));
    double *gamma, *beta;
    SIM_TRY(sim_lists_load(lists, last->la_gamma, &gamma));
    SIM_TRY(sim_lists_take(lists, slices.sl_channels, &beta));
    if (last->la_beta != NULL)
        SIM_TRY(sim_lists_load(lists, last->la_beta, &beta));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, means));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, rstds));
    for (size_t k = 0; k < slices.sl_channels; k++)
        gamma[k] += last->la_offset;
    if (last->la_mean != NULL)
        sim_slices_means(&slices, values, *means);
    sim_slices_variances(&slices, values, *means, *rstds);
    sim_slices_invert(*rstds, slices.sl_count, last->la_epsilon);
    sim_slices_normalize(&slices, values, *means, *rstds, gamma, beta);
    return ACL_SUCCESS;
}

/* The same, and stores the results. */
static aclError normalize(const struct last *last, double *values, struct sim_lists *lists)
{
    double *means, *rstds;
    SIM_TRY(compute(last, values, lists, &means, &rstds));
    sim_lists_store(last->la_y, values);
    if (last->la_mean != NULL)
        sim_lists_store_rows(last->la_mean, rows_of(last), means);
    if (last->la_rstd != NULL)
        sim_lists_store_rows(last->la_rstd, rows_of(last), rstds);
    return ACL_SUCCESS;
}

static bool is_empty(const aclsimArgument *x)
{
    return sim_walk_is_empty(x->tensors->dims, x->tensors->rank);
}

/* Loads x1 * alpha + x2; they have elements. */
static aclError load_sum(struct sim_lists *lists, const aclsimArgument *x1, const aclsimArgument *x2, double alpha,
                         double **values, size_t *count)
{
    double *others;
    SIM_TRY(sim_lists_load(lists, x1, values));
    SIM_TRY(sim_lists_load(lists, x2, &others));
    *count = (size_t)sim_walk_count(x1->tensors);
    for (size_t i = 0; i < *count; i++)
        (*values)[i] = (*values)[i] * alpha + others[i];
    return ACL_SUCCESS;
}

/* ---- AddRmsNorm: x1, x2, gamma, epsilon, y, rstd, x ---- */

/* The last two results may be absent: rstd alone, or both. */
static struct last add_rms_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[2],
        .la_y = &given[4],
        .la_rstd = given[5].present != 0 ? &given[5] : NULL,
        .la_epsilon = given[3].number,
        .la_is_line = given[6].present == 0,
    };
}

static aclnnStatus plan_add_rms_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = add_rms_norm_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_present(&given[6], given[5].present != 0));
    SIM_TRY(sim_require_type(&given[0], given[5].present != 0 ? SIM_TYPES_SINGLE : SIM_TYPES_HALF));
    SIM_TRY(check_like(&given[1], &given[0], type));
    if (given[6].present != 0)
        SIM_TRY(check_like(&given[6], &given[0], type));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

/* Stores the sum, which is rounded to its type before it is normalized: the values are loaded from there. */
static aclError load_rounded_sum(struct sim_lists *lists, const aclsimArgument *given, const aclsimArgument *x,
                                 double **values, size_t *count)
{
    SIM_TRY(load_sum(lists, &given[0], &given[1], 1, values, count));
    sim_lists_store(x, *values);
    return sim_lists_load(lists, x, values);
}

static aclError add_rms_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = add_rms_norm_of(given);
    double *values;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    /* without the sum as a result, y holds it until it is normalized */
    SIM_TRY(load_rounded_sum(lists, given, &given[given[6].present != 0 ? 6 : 4], &values, &count));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind add_rms_kind = {add_rms_norm};
const struct sim_kernel sim_kernel_aclnnAddRmsNorm = {plan_add_rms_norm, sim_lists_run, (void *)&add_rms_kind, false};

/* ---- variants that always have rstd and the sum. AddRmsNormCast: x1, x2, gamma, epsilon, y1, y2, rstd, x; y1 is y2 in
 * float32. InplaceAddRmsNorm: x1Ref, which becomes y, x2Ref, which becomes the sum, gamma, epsilon, rstd ---- */

enum { IN_PLACE_ARGUMENTS = 5 };

static struct last variant_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool in_place = call->argumentCount == IN_PLACE_ARGUMENTS;
    return (struct last){
        .la_gamma = &given[2],
        .la_epsilon = given[3].number,
        .la_y = in_place ? &given[0] : &given[5],
        .la_rstd = in_place ? &given[4] : &given[6],
    };
}

static aclnnStatus plan_variant(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = variant_of(call);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], call->argumentCount == IN_PLACE_ARGUMENTS ? SIM_TYPES_SINGLE : SIM_TYPES_HALF));
    SIM_TRY(check_like(&given[1], &given[0], type));
    SIM_TRY(check(&last, &given[0], type, SIM_TYPE(type)));
    if (call->argumentCount == IN_PLACE_ARGUMENTS)
        return ACL_SUCCESS;
    SIM_TRY(check_like(&given[4], &given[0], ACL_FLOAT));
    return check_like(&given[7], &given[0], type);
}

static aclError variant(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const bool in_place = call->argumentCount == IN_PLACE_ARGUMENTS;
    const struct last last = variant_of(call);
    double *values;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_rounded_sum(lists, given, &given[in_place ? 1 : 7], &values, &count));
    SIM_TRY(normalize(&last, values, lists));
    if (!in_place)
        sim_lists_store(&given[4], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind variant_kind = {variant};
const struct sim_kernel sim_kernel_aclnnAddRmsNormCast = {plan_variant, sim_lists_run, (void *)&variant_kind, false};
const struct sim_kernel sim_kernel_aclnnInplaceAddRmsNorm = {plan_variant, sim_lists_run, (void *)&variant_kind,
                                                             false};

/* ---- with int8 results: x1, x2 and gamma are the first arguments ---- */

static struct last quantized_of(const aclsimArgument *given, size_t epsilon, size_t y)
{
    return (struct last){.la_gamma = &given[2], .la_y = &given[y], .la_epsilon = given[epsilon].number};
}

/* Checks a number per element of gamma, if it is given. */
static aclnnStatus check_factor(const aclsimArgument *factor, const aclsimTensor *gamma, uint64_t types)
{
    if (factor->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(factor, types));
    return sim_require_shape(factor, gamma->dims, gamma->rank, "that of gamma");
}

static aclnnStatus check_quantized(const struct last *last, const aclsimArgument *given, const aclsimArgument *x,
                                   uint64_t types)
{
    aclDataType type = given[0].tensors->type;
    SIM_TRY(sim_require_type(&given[0], types));
    SIM_TRY(check_like(&given[1], &given[0], type));
    SIM_TRY(check_like(x, &given[0], type));
    return check(last, &given[0], ACL_INT8, SIM_TYPE(type));
}

/* AddRmsNormQuant: x1, x2, gamma, scales1, scales2, zeroPoints1, zeroPoints2, in V2 also beta, axis, epsilon, divMode,
 * y1, y2, x, in V2 also rmsNormOut, which has no bias. `rest` is what follows zeroPoints2 and beta. */
struct quant {
    struct last qu_last;
    const aclsimArgument *qu_rest, *qu_normal; /* qu_normal NULL: V1 */
};

static struct quant quant_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool is_second = call->argumentCount == 15;
    struct quant quant = {quantized_of(given, is_second ? 9 : 8, is_second ? 11 : 10), &given[is_second ? 8 : 7], NULL};
    if (is_second) {
        quant.qu_last.la_beta = given[7].present != 0 ? &given[7] : NULL;
        quant.qu_normal = &given[14];
    }
    return quant;
}

static aclnnStatus plan_quant(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct quant quant = quant_of(call);
    const aclsimArgument *given = call->arguments, *axis = &quant.qu_rest[0];
    (void)workspace_size;
    SIM_TRY(check_quantized(&quant.qu_last, given, &quant.qu_rest[5], SIM_TYPES_SINGLE));
    for (size_t i = 3; i < 5; i++) {
        SIM_TRY(check_factor(&given[i], given[2].tensors, SIM_TYPES_SINGLE));
        SIM_TRY(check_factor(&given[i + 2], given[2].tensors, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT32)));
    }
    SIM_ARGUMENT(axis->integer == -1, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected -1", axis->name,
                 axis->integer);
    if (quant.qu_normal != NULL && quant.qu_normal->present != 0)
        SIM_TRY(check_like(quant.qu_normal, &given[0], given[0].tensors->type));
    return given[4].present == 0 ? ACL_SUCCESS : check_like(&quant.qu_rest[4], &given[0], ACL_INT8);
}

static aclError quant(const aclsimCall *call, struct sim_lists *lists)
{
    const struct quant quant = quant_of(call);
    const aclsimArgument *given = call->arguments, *rest = quant.qu_rest;
    struct last unbiased = quant.qu_last;
    double *values, *means, *rstds, *beta, *scales, *zeros, *results;
    size_t count, period = sim_slices_extent(given[2].tensors, 0, given[2].tensors->rank);
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    unbiased.la_beta = NULL;
    SIM_TRY(load_rounded_sum(lists, given, &rest[5], &values, &count));
    SIM_TRY(compute(&unbiased, values, lists, &means, &rstds));
    if (quant.qu_normal != NULL) {
        sim_lists_store(quant.qu_normal, values);
        SIM_TRY(sim_lists_load_or(lists, &given[7], period, 0, &beta));
        for (size_t i = 0; i < count; i++)
            values[i] += beta[i % period];
    }
    for (size_t k = 0; k < 2 && given[3 + k].present != 0; k++) {
        SIM_TRY(sim_lists_load(lists, &given[3 + k], &scales));
        SIM_TRY(sim_lists_load_or(lists, &given[5 + k], period, 0, &zeros));
        SIM_TRY(sim_lists_take(lists, count, &results));
        for (size_t i = 0; i < count; i++) {
            double scale = scales[i % period];
            results[i] = rint((rest[2].integer != 0 ? values[i] / scale : values[i] * scale) + zeros[i % period]);
        }
        sim_lists_store(&rest[3 + k], results);
    }
    return ACL_SUCCESS;
}

static const struct sim_lists_kind quant_kind = {quant};
const struct sim_kernel sim_kernel_aclnnAddRmsNormQuant = {plan_quant, sim_lists_run, (void *)&quant_kind, false};
const struct sim_kernel sim_kernel_aclnnAddRmsNormQuantV2 = {plan_quant, sim_lists_run, (void *)&quant_kind, false};

/* AddRmsNormDynamicQuant: x1, x2, gamma, smoothScale1, smoothScale2, in V2 also beta, epsilon, in V2 also outputMask,
 * y1, y2, x, scale1, scale2. Without a mask, the second result is computed if smoothScale2 is given. */
struct dynamic {
    struct last dy_last;
    const aclsimArgument *dy_y, *dy_x, *dy_scales;
    bool dy_wants[2];
};

static struct dynamic dynamic_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool is_second = call->argumentCount == 13;
    const size_t y = is_second ? 8 : 6;
    const aclsimArgument *mask = is_second && given[7].present != 0 ? &given[7] : NULL;
    struct dynamic dynamic = {quantized_of(given, is_second ? 6 : 5, y), &given[y], &given[y + 2], &given[y + 3],
                              {mask == NULL, mask == NULL && given[4].present != 0}};
    if (is_second && given[5].present != 0)
        dynamic.dy_last.la_beta = &given[5];
    for (size_t k = 0; k < 2 && mask != NULL && mask->count == 2; k++)
        dynamic.dy_wants[k] = mask->booleans[k];
    return dynamic;
}

static aclnnStatus plan_dynamic_quant(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[0].tensors;
    const struct dynamic dynamic = dynamic_of(call);
    (void)workspace_size;
    if (call->argumentCount == 13 && given[7].present != 0)
        SIM_TRY(sim_require_count(&given[7], 2));
    SIM_TRY(check_quantized(&dynamic.dy_last, given, dynamic.dy_x, SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(&given[2], 1, 1));
    for (size_t k = 0; k < 2; k++) {
        if (!dynamic.dy_wants[k])
            continue;
        SIM_TRY(check_factor(&given[3 + k], given[2].tensors, SIM_TYPE(x->type)));
        SIM_TRY(check_like(&dynamic.dy_y[k], &given[0], ACL_INT8));
        SIM_TRY(sim_require_type(&dynamic.dy_scales[k], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(&dynamic.dy_scales[k], x->dims, x->rank - 1, "one number per line"));
    }
    return ACL_SUCCESS;
}

/* Each line has a scale: the greatest size of its values becomes 127. */
static void quantize_lines(const double *values, const double *smooth, size_t count, size_t period, double *results,
                           double *scales)
{
    for (size_t i = 0; i < count; i++)
        results[i] = values[i] * smooth[i % period];
    for (size_t line = 0; line < count / period; line++)
        scales[line] = sim_packed_quantize(results + line * period, period, INT8_MAX);
}

static aclError dynamic_quant(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct dynamic dynamic = dynamic_of(call);
    double *values, *means, *rstds, *smooth, *results, *scales;
    size_t count, period = (size_t)given[2].tensors->dims[0];
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_rounded_sum(lists, given, dynamic.dy_x, &values, &count));
    SIM_TRY(compute(&dynamic.dy_last, values, lists, &means, &rstds));
    for (size_t k = 0; k < 2; k++) {
        if (!dynamic.dy_wants[k])
            continue;
        SIM_TRY(sim_lists_load_or(lists, &given[3 + k], period, 1, &smooth));
        SIM_TRY(sim_lists_take(lists, count, &results));
        SIM_TRY(sim_lists_take(lists, count / period, &scales));
        quantize_lines(values, smooth, count, period, results, scales);
        sim_lists_store(&dynamic.dy_y[k], results);
        sim_lists_store(&dynamic.dy_scales[k], scales);
    }
    return ACL_SUCCESS;
}

static const struct sim_lists_kind dynamic_kind = {dynamic_quant};
const struct sim_kernel sim_kernel_aclnnAddRmsNormDynamicQuant = {plan_dynamic_quant, sim_lists_run,
                                                                  (void *)&dynamic_kind, false};
const struct sim_kernel sim_kernel_aclnnAddRmsNormDynamicQuantV2 = {plan_dynamic_quant, sim_lists_run,
                                                                    (void *)&dynamic_kind, false};

/* ---- AddLayerNorm: x1, x2, gamma, beta, bias, epsilon, additionalOutput, y, mean, rstd, x ---- */

static struct last add_layer_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[2],
        .la_beta = &given[3],
        .la_epsilon = given[5].number,
        .la_y = &given[7],
        .la_mean = &given[8],
        .la_rstd = &given[9],
    };
}

/* A shape that does not fit has a code of its own here. */
static aclnnStatus check_fit(const aclsimArgument *argument, const int64_t *dims, uint32_t rank, const char *whose)
{
    return sim_require_shape_or(ACLNN_ERR_INNER_TILING_ERROR, argument, dims, rank, whose);
}

/* Mean and rstd: with the dimensions of 1, without them, or in the shape of x1. */
static aclnnStatus check_number(const aclsimArgument *number, const aclsimTensor *x1, uint32_t rows)
{
    int64_t dims[SIM_RANK];
    for (uint32_t k = 0; k < x1->rank; k++)
        dims[k] = k < rows ? x1->dims[k] : 1;
    if (sim_require_is_shape(number->tensors, dims, rows) ||
        sim_require_is_shape(number->tensors, x1->dims, x1->rank))
        return ACL_SUCCESS;
    return check_fit(number, dims, x1->rank, "one number per normalized slice");
}

static aclnnStatus check_fits(const struct last *last, const aclsimArgument *given)
{
    const aclsimArgument *bias = &given[4];
    const aclsimTensor *x1 = given[0].tensors, *gamma = given[2].tensors;
    const uint32_t rank = gamma->rank;
    SIM_ARGUMENT(!is_empty(&given[0]), ACLNN_ERR_INNER_TILING_ERROR, "%s has no elements, expected 1 or more",
                 given[0].name);
    SIM_TRY(check_fit(&given[1], x1->dims, x1->rank, "that of x1"));
    SIM_ARGUMENT(rank >= 1 && rank <= x1->rank, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has %u dimensions, expected 1 to %u, the number of x1", given[2].name, rank, x1->rank);
    SIM_TRY(check_fit(&given[2], x1->dims + (x1->rank - rank), rank, "the last dimensions of x1"));
    SIM_TRY(check_fit(&given[3], gamma->dims, rank, "that of gamma"));
    if (bias->present != 0 && !sim_require_is_shape(bias->tensors, gamma->dims, rank))
        SIM_TRY(check_fit(bias, x1->dims, x1->rank, "that of x1"));
    SIM_TRY(check_fit(last->la_y, x1->dims, x1->rank, "that of x1"));
    SIM_TRY(check_number(last->la_mean, x1, rows_of(last)));
    SIM_TRY(check_number(last->la_rstd, x1, rows_of(last)));
    return given[6].integer != 0 ? check_fit(&given[10], x1->dims, x1->rank, "that of x1") : ACL_SUCCESS;
}

/* The operands have the same type, or one of them is float32. */
static aclnnStatus plan_add_layer_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *bias = &given[4];
    const aclsimTensor *x1 = given[0].tensors, *x2 = given[1].tensors;
    const struct last last = add_layer_norm_of(given);
    aclDataType type = x1->type == x2->type ? x1->type : ACL_FLOAT;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    uint64_t others = x1->type == ACL_FLOAT ? SIM_TYPES_SINGLE : SIM_TYPE(x1->type) | SIM_TYPE(ACL_FLOAT);
    SIM_TRY(sim_require_type(&given[1], others));
    SIM_TRY(check_types(&last, type, SIM_TYPE(type) | SIM_TYPE(ACL_FLOAT)));
    if (bias->present != 0)
        SIM_TRY(sim_require_type(bias, SIM_TYPE(type)));
    if (given[6].integer != 0)
        SIM_TRY(sim_require_type(&given[10], SIM_TYPE(type)));
    return check_fits(&last, given);
}

static aclError add_layer_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *bias = &given[4];
    const struct last last = add_layer_norm_of(given);
    double *values, *more;
    size_t count;
    SIM_TRY(load_sum(lists, &given[0], &given[1], 1, &values, &count));
    if (bias->present != 0) {
        size_t period = (size_t)sim_walk_count(bias->tensors);
        SIM_TRY(sim_lists_load(lists, bias, &more));
        for (size_t i = 0; i < count; i++)
            values[i] += more[i % period];
    }
    if (given[6].integer != 0)
        sim_lists_store(&given[10], values);
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind add_layer_kind = {add_layer_norm};
const struct sim_kernel sim_kernel_aclnnAddLayerNorm = {plan_add_layer_norm, sim_lists_run, (void *)&add_layer_kind,
                                                        false};

/* ---- DeepNorm: x, gx, beta, gamma, alpha, epsilon, mean, rstd, y ---- */

static struct last deep_norm_of(const aclsimArgument *given)
{
    return (struct last){
        .la_beta = &given[2],
        .la_gamma = &given[3],
        .la_epsilon = given[5].number,
        .la_mean = &given[6],
        .la_rstd = &given[7],
        .la_y = &given[8],
    };
}

static aclnnStatus plan_deep_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = deep_norm_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    SIM_TRY(check_like(&given[1], &given[0], type));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

static aclError deep_norm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = deep_norm_of(given);
    double *values;
    size_t count;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(load_sum(lists, &given[0], &given[1], given[4].number, &values, &count));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind deep_kind = {deep_norm};
const struct sim_kernel sim_kernel_aclnnDeepNorm = {plan_deep_norm, sim_lists_run, (void *)&deep_kind, true};

/* ---- GemmaRmsNorm: x, gamma, epsilon, y, rstd ---- */

static struct last gemma_of(const aclsimArgument *given)
{
    return (struct last){
        .la_gamma = &given[1],
        .la_epsilon = given[2].number,
        .la_y = &given[3],
        .la_rstd = &given[4],
        .la_offset = 1,
    };
}

static aclnnStatus plan_gemma(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = gemma_of(given);
    aclDataType type = given[0].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_SINGLE));
    return check(&last, &given[0], type, SIM_TYPE(type));
}

static aclError gemma(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct last last = gemma_of(given);
    double *values;
    if (is_empty(&given[0]))
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[0], &values));
    return normalize(&last, values, lists);
}

static const struct sim_lists_kind gemma_kind = {gemma};
const struct sim_kernel sim_kernel_aclnnGemmaRmsNorm = {plan_gemma, sim_lists_run, (void *)&gemma_kind, true};
