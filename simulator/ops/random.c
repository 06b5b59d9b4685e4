/* Random numbers of a distribution in all elements of a tensor: InplaceUniform, InplaceNormal and InplaceRandom
 * (selfRef, two parameters, seed, offset), also with tensors as seed and offset, the four forms of Normal (mean, std,
 * seed, offset, out), Bernoulli and BernoulliTensor (self, prob, seed, offset, out; self only gives the shape and the
 * type), and these two in place. Also RReluWithNoise (self, noise, lower, upper, training, seed, offset, out), also in
 * place. */
#include "random.h"

/* ---- distributions ---- */

#define PARAMETERS 2

struct distribution {
    uint64_t di_types;      /* of the result */
    uint64_t di_parameters; /* types of a parameter that is a tensor or a scalar; 0: the type of the result */
    uint8_t di_first, di_count, di_out; /* positions of the parameters, which seed and offset follow, and of the result;
                                           where the first parameter is not at 0, that is a tensor like the result */
    aclnnStatus (*di_check)(const aclsimArgument *parameters);
    double (*di_draw)(const uint32_t words[4], double first, double second, aclDataType type); /* NULL: integers */
};

static double rounded(double value, aclDataType type)
{
    union sim_block_values block, cast;
    block.bv_doubles[0] = value;
    sim_element_store(&block, SIM_CLASS_DOUBLE, &cast, type, 1, 1);
    sim_element_load(&block, SIM_CLASS_DOUBLE, &cast, type, 1, 1);
    return block.bv_doubles[0];
}

/* The result is rounded to the type. If this leads to the end, which is excluded, it is the start instead. */
static double draw_uniform(const uint32_t words[4], double from, double to, aclDataType type)
{
    const double value = rounded(from + (to - from) * sim_philox_fraction(words), type);
    return value < to ? value : rounded(from, type);
}

static double draw_normal(const uint32_t words[4], double mean, double std, aclDataType type)
{
    (void)type;
    return mean + std * sim_philox_normal(words);
}

static double draw_bernoulli(const uint32_t words[4], double prob, double unused, aclDataType type)
{
    (void)unused;
    (void)type;
    return sim_philox_fraction(words) < prob;
}

/* ---- the first phase ---- */

static aclnnStatus check_uniform(const aclsimArgument *parameters)
{
    const double from = sim_curve_number(&parameters[0]), to = sim_curve_number(&parameters[1]);
    SIM_ARGUMENT(to - from >= 0 && to - from < INFINITY, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g and %s is %g, expected finite numbers, the second not less than the first",
                 parameters[0].name, from, parameters[1].name, to);
    return ACL_SUCCESS;
}

static aclnnStatus check_normal(const aclsimArgument *parameters)
{
    const aclsimArgument *std = &parameters[1];
    SIM_ARGUMENT(std->kind == ACLSIM_TENSOR || std->number >= 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected 0 or more", std->name, std->number);
    return ACL_SUCCESS;
}

static aclnnStatus check_integers(const aclsimArgument *parameters)
{
    SIM_ARGUMENT(parameters[0].integer < parameters[1].integer, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld and %s is %lld, expected the first to be less than the second", parameters[0].name,
                 (long long)parameters[0].integer, parameters[1].name, (long long)parameters[1].integer);
    return ACL_SUCCESS;
}

/* Probabilities in a tensor are known only when the kernel runs. There, one below 0 counts as 0, one above 1 as 1. */
static aclnnStatus check_probability(const aclsimArgument *parameters)
{
    return parameters[0].kind == ACLSIM_TENSOR ? ACL_SUCCESS : sim_random_require_probability(&parameters[0]);
}

static aclnnStatus plan_fill(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct distribution *how = call->userData;
    const aclsimArgument *given = call->arguments, *parameters = &given[how->di_first], *out = &given[how->di_out];
    const aclsimArgument *tensors[PARAMETERS] = {NULL};
    size_t count = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(how->di_first == 0 ? out : &given[0], how->di_types));
    if (how->di_first != 0)
        SIM_TRY(sim_require_like(out, &given[0]));
    for (uint32_t i = 0; i < how->di_count; i++) {
        const aclsimArgument *parameter = &parameters[i];
        if (parameter->kind == ACLSIM_TENSOR)
            tensors[count++] = parameter;
        if (how->di_parameters != 0)
            SIM_TRY(sim_require_type(parameter, how->di_parameters));
        else if (parameter->kind == ACLSIM_TENSOR)
            SIM_TRY(sim_require_same_type(parameter, out->tensors->type, out->name));
    }
    SIM_TRY(sim_random_require(&parameters[how->di_count]));
    SIM_TRY(how->di_check(parameters));
    return how->di_first == 0 && count != 0 ? sim_pointwise_check(out, tensors, count)
                                            : sim_pointwise_check_spread(out, tensors, count);
}

/* ---- the second phase ---- */

struct fill {
    const struct distribution *fi_how;
    struct sim_random fi_random;
    uint64_t fi_next;                               /* index of the next element */
    const aclsimTensor *fi_tensors[1 + PARAMETERS]; /* the result, and parameters */
    uint32_t fi_places[PARAMETERS];                 /* which of these a parameter is; 0: a number, */
    double fi_numbers[PARAMETERS];                  /* and that number */
    uint64_t fi_least, fi_span;                     /* integers: the first one, and how many there are */
};

static void draw_integers(struct fill *fill, union sim_block_values *block, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t words[4];
        sim_random_draw(&fill->fi_random, fill->fi_next++, words);
        block->bv_bits[i] = fill->fi_least + sim_philox_joined(words) % fill->fi_span;
    }
}

/* places: of `count` elements of the tensors. */
static void draw_numbers(struct fill *fill, char *const *places, const int64_t *strides, union sim_block_values *block,
                         size_t count)
{
    union sim_block_values values[PARAMETERS];
    for (uint32_t k = 0; k < PARAMETERS; k++) {
        const uint32_t place = fill->fi_places[k];
        const aclDataType type = place == 0 ? ACL_DOUBLE : fill->fi_tensors[place]->type;
        const int64_t stride = place == 0 ? 0 : strides[place] / (int64_t)sim_element_size(type);
        sim_element_load(&values[k], SIM_CLASS_DOUBLE, place == 0 ? (char *)&fill->fi_numbers[k] : places[place], type,
                         stride, count);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t words[4];
        sim_random_draw(&fill->fi_random, fill->fi_next++, words);
        block->bv_doubles[i] = fill->fi_how->di_draw(words, values[0].bv_doubles[i], values[1].bv_doubles[i],
                                                     fill->fi_tensors[0]->type);
    }
}

static aclError fill_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct fill *fill = context;
    const aclDataType type = fill->fi_tensors[0]->type;
    const bool whole = fill->fi_how->di_draw == NULL;
    union sim_block_values block;
    char *at[1 + PARAMETERS] = {places[0], places[1], places[2]};
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        if (whole)
            draw_integers(fill, &block, count);
        else
            draw_numbers(fill, at, strides, &block, count);
        sim_element_store(&block, whole ? SIM_CLASS_INTEGER : SIM_CLASS_DOUBLE, at[0], type,
                          strides[0] / (int64_t)sim_element_size(type), count);
        for (uint32_t i = 0; i < 1 + PARAMETERS; i++)
            at[i] += (int64_t)count * strides[i]; /* the strides of tensors that are not there are 0 */
    }
    return ACL_SUCCESS;
}

static aclError run_fill(const aclsimCall *call)
{
    const struct distribution *how = call->userData;
    const aclsimArgument *parameters = &call->arguments[how->di_first];
    struct fill fill = {.fi_how = how, .fi_random = sim_random_of(&parameters[how->di_count]),
                        .fi_tensors = {call->arguments[how->di_out].tensors}};
    uint32_t count = 1;
    for (uint32_t i = 0; i < how->di_count; i++) {
        if (parameters[i].kind == ACLSIM_TENSOR) {
            fill.fi_places[i] = count;
            fill.fi_tensors[count++] = parameters[i].tensors;
        } else
            fill.fi_numbers[i] = sim_curve_number(&parameters[i]);
    }
    if (how->di_draw == NULL) {
        fill.fi_least = (uint64_t)parameters[0].integer;
        fill.fi_span = (uint64_t)parameters[1].integer - fill.fi_least;
    }
    return sim_walk_in_order(fill.fi_tensors, count, fill_line, &fill);
}

/* ---- operators ---- */

#define ALL_REAL (SIM_TYPES_INTEGER | SIM_TYPES_FLOAT)
#define KERNEL(op, distribution)                                                                                       \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_fill, run_fill, (void *)(distribution), true}

static const struct distribution
    uniform = {.di_types = ALL_REAL, .di_first = 1, .di_count = 2, .di_check = check_uniform, .di_draw = draw_uniform},
    random_integers = {.di_types = SIM_TYPES_ARITHMETIC, .di_first = 1, .di_count = 2, .di_check = check_integers},
    normal_in_place = {.di_types = SIM_TYPES_FLOAT, .di_first = 1, .di_count = 2, .di_check = check_normal,
                       .di_draw = draw_normal},
    normal = {.di_types = SIM_TYPES_FLOAT, .di_count = 2, .di_out = 4, .di_check = check_normal,
              .di_draw = draw_normal};

KERNEL(InplaceUniform, &uniform);
KERNEL(InplaceRandom, &random_integers);
KERNEL(InplaceNormal, &normal_in_place);
KERNEL(InplaceUniformTensor, &uniform);
KERNEL(InplaceRandomTensor, &random_integers);
KERNEL(InplaceNormalTensor, &normal_in_place);
KERNEL(NormalTensorTensor, &normal);
KERNEL(NormalTensorFloat, &normal);
KERNEL(NormalFloatTensor, &normal);
KERNEL(NormalFloatFloat, &normal);

#define PROBABILITIES (SIM_TYPES_FLOAT & ~SIM_TYPE(ACL_BF16))
#define BERNOULLI(name, types, parameters, out)                                                                        \
    static const struct distribution name = {.di_types = (types), .di_parameters = (parameters), .di_first = 1,        \
                                             .di_count = 1, .di_out = (out), .di_check = check_probability,            \
                                             .di_draw = draw_bernoulli}

BERNOULLI(bernoulli, SIM_TYPES_REAL, SIM_TYPES_FLOAT, 4);
BERNOULLI(bernoulli_tensor, SIM_TYPES_FLOAT, PROBABILITIES, 4);
BERNOULLI(bernoulli_in_place, SIM_TYPES_REAL, SIM_TYPES_FLOAT, 0);
BERNOULLI(bernoulli_tensor_in_place, SIM_TYPES_REAL & ~SIM_TYPE(ACL_BF16), PROBABILITIES, 0);

KERNEL(Bernoulli, &bernoulli);
KERNEL(BernoulliTensor, &bernoulli_tensor);
KERNEL(InplaceBernoulli, &bernoulli_in_place);
KERNEL(InplaceBernoulliTensor, &bernoulli_tensor_in_place);

/* ---- RReluWithNoise: a slope for elements that are not positive. In training it is drawn for each element, and noise
 * receives it, or 1 for other elements; otherwise it is the mean of the bounds. ---- */

enum { RESULT, SELF, NOISE, TENSORS };

struct relu {
    struct sim_random re_random;
    uint64_t re_next; /* index of the next element */
    aclDataType re_type;
    bool re_training;
    double re_lower, re_upper;
};

/* The in-place form has the same arguments without a result. */
static const aclsimArgument *result_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount > 7 ? 7 : 0];
}

static aclnnStatus plan_relu(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *noise = &call->arguments[1], *out = result_of(call);
    const aclsimTensor *tensor = self->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, noise, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_SINGLE));
    for (uint32_t i = 2; i <= 3; i++)
        SIM_TRY(sim_require_type(&call->arguments[i], SIM_TYPES_REAL));
    SIM_TRY(check_uniform(&call->arguments[2]));
    SIM_TRY(sim_require_shape(noise, tensor->dims, tensor->rank, "that of self"));
    return sim_require_shape(out, tensor->dims, tensor->rank, "that of self");
}

static aclError relu_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct relu *relu = context;
    const int64_t size = (int64_t)sim_element_size(relu->re_type);
    union sim_block_values values, slopes;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        sim_element_load(&values, SIM_CLASS_DOUBLE, places[SELF] + done * strides[SELF], relu->re_type,
                         strides[SELF] / size, count);
        for (size_t i = 0; i < count; i++) {
            const uint64_t index = relu->re_next++;
            uint32_t words[4];
            slopes.bv_doubles[i] = 1;
            if (!(values.bv_doubles[i] <= 0))
                continue;
            slopes.bv_doubles[i] = relu->re_lower / 2 + relu->re_upper / 2;
            if (relu->re_training) {
                sim_random_draw(&relu->re_random, index, words);
                slopes.bv_doubles[i] = draw_uniform(words, relu->re_lower, relu->re_upper, relu->re_type);
            }
            values.bv_doubles[i] *= slopes.bv_doubles[i];
        }
        sim_element_store(&values, SIM_CLASS_DOUBLE, places[RESULT] + done * strides[RESULT], relu->re_type,
                          strides[RESULT] / size, count);
        if (relu->re_training)
            sim_element_store(&slopes, SIM_CLASS_DOUBLE, places[NOISE] + done * strides[NOISE], relu->re_type,
                              strides[NOISE] / size, count);
    }
    return ACL_SUCCESS;
}

static aclError run_relu(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *tensors[TENSORS] = {
        [RESULT] = result_of(call)->tensors, [SELF] = given[0].tensors, [NOISE] = given[1].tensors};
    struct relu relu = {.re_random = sim_random_of(&given[5]), .re_type = tensors[SELF]->type,
                        .re_training = given[4].integer != 0, .re_lower = sim_curve_number(&given[2]),
                        .re_upper = sim_curve_number(&given[3])};
    return sim_walk_in_order(tensors, TENSORS, relu_line, &relu);
}

const struct sim_kernel sim_kernel_aclnnRReluWithNoise = {plan_relu, run_relu, NULL, true},
                        sim_kernel_aclnnInplaceRReluWithNoise = {plan_relu, run_relu, NULL, true};
