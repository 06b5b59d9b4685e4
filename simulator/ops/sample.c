/* Random choices: Randperm (n, seed, offset, out), the numbers from 0 to n - 1 in random order, and Multinomial (self,
 * numsamples, replacement, seed, offset, out), indices of weights, drawn with probabilities in proportion to these.
 * MultinomialTensor has tensors as seed and offset. */
#include "random.h"

#include "line.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- Randperm ---- */

/* All integers up to 2 to this power can be stored in the type. */
static int digits_of(aclDataType type)
{
    switch (type) {
    case ACL_INT8:
        return 7;
    case ACL_UINT8:
    case ACL_BF16:
        return 8;
    case ACL_FLOAT16:
        return 11;
    case ACL_INT16:
        return 15;
    case ACL_FLOAT:
        return 24;
    case ACL_INT32:
        return 31;
    case ACL_DOUBLE:
        return 53;
    default:
        return 62;
    }
}

static aclnnStatus plan_permutation(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *n = &call->arguments[0], *out = &call->arguments[3];
    (void)workspace_size;
    SIM_TRY(sim_require_type(out, SIM_TYPES_INTEGER | SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_natural(n));
    const long long most = 1LL << digits_of(out->tensors->type);
    SIM_ARGUMENT(n->integer <= most, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected at most %lld for %s", n->name,
                 (long long)n->integer, most, sim_element_name(out->tensors->type));
    return sim_require_shape(out, &n->integer, 1, "one element for each number");
}

static aclError run_permutation(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[3].tensors;
    const struct sim_random random = sim_random_of(&call->arguments[1]);
    const struct sim_line line = sim_line_of(out, 0, 1);
    void *memory;
    size_t count;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_INTEGER, 1, &memory, &count));
    int64_t *order = memory;
    for (size_t i = 0; i < count; i++) {
        uint32_t words[4];
        sim_random_draw(&random, i, words);
        const size_t place = (size_t)(sim_philox_joined(words) % (i + 1));
        order[i] = order[place]; /* of i itself: set next */
        order[place] = (int64_t)i;
    }
    sim_line_store(&line, SIM_CLASS_INTEGER, order, out->data);
    free(memory);
    return ACL_SUCCESS;
}

/* ---- Multinomial ---- */

static aclnnStatus plan_multinomial(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *samples = &call->arguments[1],
                         *out = &call->arguments[call->argumentCount - 1];
    (void)workspace_size;
    SIM_TRY(sim_random_require(&call->arguments[3]));
    SIM_TRY(sim_require_type(self, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_type(out, SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_rank(self, 1, 2));
    aclsimTensor shape = *self->tensors;
    int64_t *last = &shape.dims[shape.rank - 1];
    SIM_ARGUMENT(*last > 0, ACLNN_ERR_PARAM_INVALID, "the last dimension of %s is 0, expected 1 or more", self->name);
    SIM_ARGUMENT(samples->integer > 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 1 or more", samples->name,
                 (long long)samples->integer);
    SIM_ARGUMENT(call->arguments[2].integer != 0 || samples->integer <= *last, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected at most %lld, the number of weights, without replacement", samples->name,
                 (long long)samples->integer, (long long)*last);
    *last = samples->integer;
    return sim_require_shape(out, shape.dims, shape.rank, "that of self with the samples in its last dimension");
}

struct choice {
    double ch_key;
    int64_t ch_index; /* of a weight */
};

struct sampling {
    struct sim_random sa_random;
    bool sa_replacement;
    aclDataType sa_type;                        /* of the weights, */
    int64_t sa_weights, sa_samples;             /* their number in a row, and that of the samples */
    int64_t sa_weight_stride, sa_sample_stride; /* in bytes */
    int64_t sa_row;                             /* index of the row */
    struct choice *sa_choices;                  /* one for each weight */
};

/* With replacement, keys are the sums of the weights up to here. Without it, they are times with an exponential
 * distribution whose rate is the weight: the weights with the earliest times are the sample. */
static aclError make_keys(const struct sampling *job, const char *weights, double *total)
{
    *total = 0;
    for (int64_t i = 0; i < job->sa_weights; i++) {
        union sim_block_values block;
        uint32_t words[4];
        sim_element_load(&block, SIM_CLASS_DOUBLE, weights + i * job->sa_weight_stride, job->sa_type, 1, 1);
        const double weight = block.bv_doubles[0];
        double key = INFINITY;
        *total += weight >= 0 ? weight : NAN;
        if (job->sa_replacement)
            key = *total;
        else if (weight > 0) {
            sim_random_draw(&job->sa_random, (uint64_t)(job->sa_row * job->sa_weights + i), words);
            key = -log(1 - sim_philox_fraction(words)) / weight;
        }
        job->sa_choices[i] = (struct choice){key, i};
    }
    if (!(*total > 0 && *total < INFINITY)) {
        char text[160];
        snprintf(text, sizeof text,
                 "row %lld of self has the sum %g, expected finite weights of 0 or more, some of them more than 0",
                 (long long)job->sa_row, *total);
        sim_fail_reason(text);
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    return ACL_SUCCESS;
}

static int by_key(const void *one, const void *other)
{
    const struct choice *a = one, *b = other;
    return a->ch_key != b->ch_key ? (a->ch_key > b->ch_key) - (a->ch_key < b->ch_key)
                                  : (a->ch_index > b->ch_index) - (a->ch_index < b->ch_index);
}

/* The first weight whose sum is more than a random part of the total. A weight of 0 does not raise the sum, so that it
 * is never the first. */
static int64_t draw_one(const struct sampling *job, uint64_t index, double total)
{
    uint32_t words[4];
    sim_random_draw(&job->sa_random, index, words);
    const double part = total * sim_philox_fraction(words);
    int64_t low = 0, high = job->sa_weights - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (job->sa_choices[middle].ch_key > part)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* places: the addresses of a row of the samples and of the weights. */
static aclError sample_rows(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct sampling *job = context;
    for (int64_t row = 0; row < length; row++, job->sa_row++) {
        double total;
        SIM_TRY(make_keys(job, places[1] + row * strides[1], &total));
        if (!job->sa_replacement)
            qsort(job->sa_choices, (size_t)job->sa_weights, sizeof *job->sa_choices, by_key);
        for (int64_t i = 0; i < job->sa_samples; i++) {
            int64_t *to = (int64_t *)(void *)(places[0] + row * strides[0] + i * job->sa_sample_stride);
            *to = job->sa_replacement ? draw_one(job, (uint64_t)(job->sa_row * job->sa_samples + i), total)
                                      : job->sa_choices[i].ch_index;
        }
    }
    return ACL_SUCCESS;
}

/* In bytes. A dimension of size 1 may have any stride. */
static int64_t step_of(const aclsimTensor *tensor, uint32_t dim)
{
    return tensor->dims[dim] < 2 ? 0 : (int64_t)((uint64_t)tensor->strides[dim] * sim_element_size(tensor->type));
}

static aclError run_multinomial(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[call->argumentCount - 1].tensors;
    const uint32_t last = self->rank - 1;
    const aclsimTensor from = sim_line_without(self, last), to = sim_line_without(out, last);
    const aclsimTensor *tensors[] = {&to, &from};
    struct sampling job = {.sa_random = sim_random_of(&given[3]), .sa_replacement = given[2].integer != 0,
                           .sa_type = self->type, .sa_weights = self->dims[last], .sa_samples = given[1].integer,
                           .sa_weight_stride = step_of(self, last), .sa_sample_stride = step_of(out, last)};
    job.sa_choices = calloc((size_t)job.sa_weights, sizeof *job.sa_choices);
    SIM_CHECK(job.sa_choices != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for the sums of %lld weights", (long long)job.sa_weights);
    aclError code = sim_walk_in_order(tensors, 2, sample_rows, &job);
    free(job.sa_choices);
    return code;
}

const struct sim_kernel sim_kernel_aclnnRandperm = {plan_permutation, run_permutation, NULL, false},
                        sim_kernel_aclnnMultinomial = {plan_multinomial, run_multinomial, NULL, false},
                        sim_kernel_aclnnMultinomialTensor = {plan_multinomial, run_multinomial, NULL, false};
