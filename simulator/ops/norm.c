/* Normalization of lines, that is of the last dimensions of the input: aclnnLayerNorm subtracts the mean and divides by
 * the standard deviation; aclnnRmsNorm divides by the root of the mean square. Lines are kept in float, sums in double;
 * the result is rounded once, to its type. implMode trades precision for speed on a card, and has no effect here. */
#include "base/config.h"
#include "engine/split.h"
#include "operator/op.h"
#include "slices.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LANES 8 /* independent sums, so that additions do not wait for each other */

/* A call of either operator. Optional arguments that are absent are NULL. */
struct norm {
    const aclsimArgument *no_input, *no_weight, *no_bias, *no_out, *no_mean, *no_rstd;
    double no_epsilon;
    bool no_tells_variance; /* the last output is the variance instead of rstd */
    uint32_t no_rows;       /* number of dimensions that are not normalized */
};

static const aclsimArgument *optional(const aclsimArgument *argument)
{
    return argument->present ? argument : NULL;
}

/* ---- the first phase ---- */

static aclnnStatus check_types(const struct norm *norm)
{
    SIM_TRY(sim_require_types(norm->no_input, norm->no_out, SIM_TYPES_SINGLE));
    uint64_t type = SIM_TYPE(norm->no_input->tensors->type);
    if (norm->no_weight != NULL)
        SIM_TRY(sim_require_type(norm->no_weight, type | SIM_TYPE(ACL_FLOAT)));
    if (norm->no_bias != NULL)
        SIM_TRY(sim_require_type(norm->no_bias, type | SIM_TYPE(ACL_FLOAT)));
    return ACL_SUCCESS;
}

static struct norm layer_norm_of(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    return (struct norm){
        .no_input = &arguments[0],
        .no_weight = optional(&arguments[2]),
        .no_bias = optional(&arguments[3]),
        .no_epsilon = arguments[4].number,
        .no_out = &arguments[5],
        .no_mean = optional(&arguments[6]),
        .no_rstd = optional(&arguments[7]),
        .no_rows = arguments[0].tensors->rank - (uint32_t)arguments[1].count,
    };
}

/* With `wide`, weight and bias may have more or fewer dimensions than are normalized. */
static aclnnStatus check_layer_norm(const aclsimCall *call, bool wide)
{
    const aclsimArgument *shape = &call->arguments[1];
    struct norm norm = layer_norm_of(call);
    const aclsimArgument *scales[] = {norm.no_weight, norm.no_bias}, *numbers[] = {norm.no_mean, norm.no_rstd};
    const aclsimTensor *input = norm.no_input->tensors;
    SIM_TRY(check_types(&norm));
    SIM_TRY(sim_require_normalized(norm.no_input, shape));
    SIM_TRY(sim_require_shape(norm.no_out, input->dims, input->rank, "that of input"));
    for (size_t i = 0; i < 2; i++) {
        if (scales[i] != NULL)
            SIM_TRY(wide ? sim_require_gamma(scales[i], norm.no_input)
                         : sim_require_shape(scales[i], shape->integers, (uint32_t)shape->count, shape->name));
        if (numbers[i] != NULL) {
            SIM_TRY(sim_require_type(numbers[i], SIM_TYPE(input->type) | SIM_TYPE(ACL_FLOAT)));
            SIM_TRY(sim_require_numbers(numbers[i], input, norm.no_rows));
        }
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan_layer_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_layer_norm(call, false);
}

static aclnnStatus plan_layer_norm_mode(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *mode = &call->arguments[8];
    struct norm norm = layer_norm_of(call);
    const aclsimArgument *inputs[] = {norm.no_input, norm.no_weight, norm.no_bias};
    SIM_TRY(plan_layer_norm(call, workspace_size));
    SIM_ARGUMENT(mode->integer >= 0 && mode->integer <= 2, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 to 2", mode->name, mode->integer);
    for (size_t i = 0; mode->integer == 2 && i < 3; i++)
        if (inputs[i] != NULL)
            SIM_ARGUMENT(inputs[i]->tensors->type == ACL_FLOAT16, ACLNN_ERR_PARAM_INVALID,
                         "%s is 2, which computes in float16, and %s is %s, expected float16", mode->name,
                         inputs[i]->name, sim_element_name(inputs[i]->tensors->type));
    return ACL_SUCCESS;
}

static struct norm rms_norm_of(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    return (struct norm){
        .no_input = &arguments[0],
        .no_weight = &arguments[1],
        .no_epsilon = arguments[2].number,
        .no_out = &arguments[3],
        .no_rstd = &arguments[4],
        .no_rows = arguments[0].tensors->rank - arguments[1].tensors->rank,
    };
}

static aclnnStatus plan_rms_norm(const aclsimCall *call, uint64_t *workspace_size)
{
    struct norm norm = rms_norm_of(call);
    const aclsimTensor *input = norm.no_input->tensors;
    (void)workspace_size;
    SIM_TRY(check_types(&norm));
    SIM_TRY(sim_require_type(norm.no_rstd, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_gamma(norm.no_weight, norm.no_input));
    SIM_TRY(sim_require_shape(norm.no_out, input->dims, input->rank, "that of x"));
    return sim_require_rstd(norm.no_rstd, input, norm.no_rows);
}

/* ---- the second phase ---- */

/* Defines a function that sums an expression over all elements; `value` is the element. */
#define SUM(name, expression)                                                                                          \
    static double name(const float *values, size_t count, double mean)                                                 \
    {                                                                                                                  \
        double lanes[LANES] = {0};                                                                                     \
        (void)mean;                                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const double value = values[i];                                                                            \
            lanes[i % LANES] += (expression);                                                                          \
        }                                                                                                              \
        for (size_t i = 1; i < LANES; i++)                                                                             \
            lanes[0] += lanes[i];                                                                                      \
        return lanes[0];                                                                                               \
    }

SUM(sum_values, value)
SUM(sum_squares, (value - mean) * (value - mean))

static void normalize(float *values, const float *weight, const float *bias, size_t count, double mean, double rstd)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((values[i] - mean) * rstd) * weight[i] + bias[i];
}

/* The line of a weight or bias that a thread loaded last. */
struct scale {
    const char *sc_place; /* NULL: none was loaded */
    float *sc_values;
};

static void load_scale(struct scale *scale, const struct sim_line *line, const char *place)
{
    if (scale->sc_place == place)
        return;
    sim_line_load(line, SIM_CLASS_FLOAT, place, scale->sc_values);
    scale->sc_place = place;
}

/* A weight or bias, broadcast to the shape of the input, and without the dimensions of a line. */
static aclsimTensor broadcast_scale(const struct norm *norm, const aclsimArgument *argument, struct sim_line *line)
{
    const aclsimTensor *given = argument->tensors;
    aclsimTensor view = *norm->no_input->tensors;
    const uint32_t missing = view.rank - given->rank;
    view.data = given->data;
    view.type = given->type;
    for (uint32_t k = 0; k < view.rank; k++)
        view.strides[k] = k < missing ? 0 : given->strides[k - missing];
    *line = sim_line_of(&view, norm->no_rows, view.rank - norm->no_rows);
    view.rank = norm->no_rows;
    return view;
}

static void put_number(const aclsimArgument *numbers, char *place, double number)
{
    union sim_block_values block;
    if (numbers == NULL)
        return;
    block.bv_floats[0] = (float)number;
    sim_element_store(&block, SIM_CLASS_FLOAT, place, numbers->tensors->type, 0, 1);
}

/* The lines of one seat. */
struct seat {
    float *se_values;
    struct scale se_weight, se_bias;
};

struct job {
    const struct norm *jo_norm;
    bool jo_centred;
    struct sim_line jo_from, jo_to, jo_weight, jo_bias;
    size_t jo_count; /* values per line */
    struct seat *jo_seats;
};

/* places: the addresses of a line of the result, of a line of the input, of the mean, of rstd, and of lines of weight
 * and bias. */
static void run_lines(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct job *job = context;
    const struct norm *norm = job->jo_norm;
    struct scale *weight = &job->jo_seats[seat].se_weight, *bias = &job->jo_seats[seat].se_bias;
    float *values = job->jo_seats[seat].se_values;
    size_t count = job->jo_count;
    for (int64_t i = 0; i < length; i++) {
        sim_line_load(&job->jo_from, SIM_CLASS_FLOAT, places[1] + i * strides[1], values);
        double mean = job->jo_centred ? sum_values(values, count, 0) / (double)count : 0;
        double variance = sum_squares(values, count, mean) / (double)count;
        double rstd = 1 / sqrt(variance + norm->no_epsilon);
        if (norm->no_weight != NULL)
            load_scale(weight, &job->jo_weight, places[4] + i * strides[4]);
        if (norm->no_bias != NULL)
            load_scale(bias, &job->jo_bias, places[5] + i * strides[5]);
        normalize(values, weight->sc_values, bias->sc_values, count, mean, rstd);
        sim_line_store(&job->jo_to, SIM_CLASS_FLOAT, values, places[0] + i * strides[0]);
        put_number(norm->no_mean, places[2] + i * strides[2], mean);
        put_number(norm->no_rstd, places[3] + i * strides[3], norm->no_tells_variance ? variance : rstd);
    }
}

/* The tensor reduced to the dimensions before those of a line. The result stands in for an absent output. */
static aclsimTensor rows_of(const struct norm *norm, const aclsimArgument *argument)
{
    aclsimTensor tensor = *(argument == NULL ? norm->no_out : argument)->tensors;
    tensor.rank = norm->no_rows;
    return tensor;
}

/* Three lines for each seat, in `values`: weights begin as 1, biases as 0. */
static void set_seats(const struct job *job, size_t seats, float *values)
{
    for (size_t i = 0; i < seats; i++) {
        float *weight = values + job->jo_count, *bias = weight + job->jo_count;
        job->jo_seats[i] = (struct seat){values, {NULL, weight}, {NULL, bias}};
        for (size_t k = 0; k < job->jo_count; k++) {
            weight[k] = 1;
            bias[k] = 0;
        }
        values = bias + job->jo_count;
    }
}

/* How many lines make a piece; only one piece if elements of any result share bytes. */
static size_t grain_of(const struct norm *norm, size_t count)
{
    const aclsimArgument *results[] = {norm->no_out, norm->no_mean, norm->no_rstd};
    size_t grain = 0;
    for (size_t i = 0; i < 3; i++) {
        const size_t next = results[i] == NULL ? 0 : sim_walk_grain(results[i]->tensors, count);
        grain = next > grain ? next : grain;
    }
    return grain;
}

static aclError run_norm(const struct norm *norm, bool centred)
{
    const aclsimTensor *input = norm->no_input->tensors;
    if (sim_walk_is_empty(input->dims, input->rank))
        return ACL_SUCCESS;
    const aclsimTensor to = rows_of(norm, norm->no_out), from = rows_of(norm, norm->no_input);
    const aclsimTensor means = rows_of(norm, norm->no_mean), rstds = rows_of(norm, norm->no_rstd);
    uint32_t rows = norm->no_rows;
    struct job job = {
        .jo_norm = norm,
        .jo_centred = centred,
        .jo_from = sim_line_of(input, rows, input->rank - rows),
        .jo_to = sim_line_of(norm->no_out->tensors, rows, input->rank - rows),
    };
    const size_t grain = grain_of(norm, sim_line_length(&job.jo_from));
    const size_t seats = sim_split_seats((size_t)sim_walk_count(&to), grain);
    struct seat places[SIM_WORKERS_MAX + 1];
    void *memory;
    SIM_TRY(sim_line_reserve(&job.jo_from, SIM_CLASS_FLOAT, 3 * seats, &memory, &job.jo_count));
    job.jo_seats = places;
    set_seats(&job, seats, memory);
    aclsimTensor weights = to, biases = to; /* the result also stands in for absent inputs */
    if (norm->no_weight != NULL)
        weights = broadcast_scale(norm, norm->no_weight, &job.jo_weight);
    if (norm->no_bias != NULL)
        biases = broadcast_scale(norm, norm->no_bias, &job.jo_bias);
    const aclsimTensor *const tensors[] = {&to, &from, &means, &rstds, &weights, &biases};
    sim_walk_split_tensors(tensors, 6, grain, run_lines, &job);
    free(memory);
    return ACL_SUCCESS;
}

static aclError run_layer_norm(const aclsimCall *call)
{
    struct norm norm = layer_norm_of(call);
    return run_norm(&norm, true);
}

static aclError run_rms_norm(const aclsimCall *call)
{
    struct norm norm = rms_norm_of(call);
    return run_norm(&norm, false);
}

const struct sim_kernel sim_kernel_aclnnLayerNorm = {plan_layer_norm, run_layer_norm, NULL, false},
                        sim_kernel_aclnnLayerNormWithImplMode = {plan_layer_norm_mode, run_layer_norm, NULL, false},
                        sim_kernel_aclnnRmsNorm = {plan_rms_norm, run_rms_norm, NULL, false};

/* The single operator LayerNorm has the arguments of aclnnLayerNorm, but outputs the variance. */
static aclnnStatus plan_layer_norm_variance(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_layer_norm(call, true);
}

static aclError run_layer_norm_variance(const aclsimCall *call)
{
    struct norm norm = layer_norm_of(call);
    norm.no_tells_variance = true;
    return run_norm(&norm, true);
}

static const struct sim_kernel variance_kernel = {plan_layer_norm_variance, run_layer_norm_variance, NULL, false};
static const struct sim_parameter variance_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},       {"normalized_shape", ACLSIM_INTEGERS, 0, false},
    {"gamma", ACLSIM_TENSOR, ACLSIM_IN, true},    {"beta", ACLSIM_TENSOR, ACLSIM_IN, true},
    {"epsilon", ACLSIM_NUMBER, 0, false},         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    {"mean", ACLSIM_TENSOR, ACLSIM_OUT, true},    {"variance", ACLSIM_TENSOR, ACLSIM_OUT, true},
};

struct sim_row sim_op_layer_norm_row = SIM_ROW("LayerNorm", SIM_TASK_VECTOR, variance_parameters, &variance_kernel);
