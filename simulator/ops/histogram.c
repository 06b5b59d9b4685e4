/* How many elements fall into each of some bins: Histc and Bincount. Counts and sums of weights are kept in double. */
#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what both share: one sum per bin ---- */

struct bins {
    struct sim_line bi_line; /* the result */
    double *bi_sums;
    int64_t bi_count;
};

static aclError reserve(struct bins *bins, const aclsimTensor *out)
{
    void *memory;
    size_t length;
    bins->bi_line = sim_line_of(out, 0, 1);
    bins->bi_count = out->dims[0];
    SIM_TRY(sim_line_reserve(&bins->bi_line, SIM_CLASS_DOUBLE, 1, &memory, &length));
    memset(memory, 0, length * sizeof *bins->bi_sums);
    bins->bi_sums = memory;
    return ACL_SUCCESS;
}

static aclError store(struct bins *bins, const aclsimTensor *out, aclError code)
{
    if (code == ACL_SUCCESS)
        sim_line_store(&bins->bi_line, SIM_CLASS_DOUBLE, bins->bi_sums, out->data);
    free(bins->bi_sums);
    return code;
}

/* ---- Histc (self, bins, min, max, out): bins of equal width between two numbers ----
 *
 * The greatest number belongs to the last bin. If both numbers are equal, those of the least and the greatest element
 * are taken, and if these are equal too, 1 less and 1 more. A NaN belongs to no bin, and a range that is not finite has
 * no elements. */

enum { SELF, BINS, LEAST, MOST, OUT };

#define COUNTED (SIM_TYPES_INTEGER | SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT))

/* The value of a scalar after a cast to the type of self. */
static double bound(const aclsimArgument *scalar, aclDataType type)
{
    const aclsimScalar *given = scalar->scalars;
    enum sim_class carrier = sim_element_carrier(given->type, type);
    union sim_block_values value, cast;
    sim_element_load(&value, carrier, given->value, given->type, 0, 1);
    sim_element_store(&value, carrier, &cast, type, 0, 1);
    sim_element_load(&value, SIM_CLASS_DOUBLE, &cast, type, 0, 1);
    return value.bv_doubles[0];
}

/* torch_npu passes doubles for integers: what self's type has exactly is accepted in each type. */
static aclnnStatus check_bound(const aclsimArgument *scalar, aclDataType type)
{
    const aclDataType given = scalar->scalars->type;
    SIM_TRY(sim_require_type(scalar, SIM_TYPES_REAL));
    if (bound(scalar, given) != bound(scalar, type))
        SIM_TRY(sim_require_cast(scalar->name, given, "the type of self", type));
    return ACL_SUCCESS;
}

static aclnnStatus plan_histc(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *self = &given[SELF], *out = &given[OUT], *bins = &given[BINS];
    aclDataType type = self->tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, COUNTED));
    SIM_TRY(sim_require_type(out, COUNTED));
    SIM_TRY(sim_require_cast(self->name, type, "the type of the output", out->tensors->type));
    SIM_ARGUMENT(bins->integer >= 1, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 1 or more", bins->name,
                 bins->integer);
    SIM_TRY(check_bound(&given[LEAST], type));
    SIM_TRY(check_bound(&given[MOST], type));
    double least = bound(&given[LEAST], type), most = bound(&given[MOST], type);
    SIM_ARGUMENT(isfinite(least) && isfinite(most) && least <= most, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g and %s is %g, expected finite numbers, and the second not less than the first",
                 given[LEAST].name, least, given[MOST].name, most);
    return sim_require_shape(out, &bins->integer, 1, "one number per bin");
}

struct histogram {
    struct bins hi_bins;
    aclDataType hi_type;
    bool hi_single; /* each operation is rounded to float */
    double hi_least, hi_most;
};

static double narrow(const struct histogram *histogram, double number)
{
    return histogram->hi_single ? (double)(float)number : number;
}

static void widen(struct histogram *histogram, double number)
{
    histogram->hi_least = number < histogram->hi_least ? number : histogram->hi_least;
    histogram->hi_most = number > histogram->hi_most ? number : histogram->hi_most;
}

static void count(struct histogram *histogram, double number)
{
    struct bins *bins = &histogram->hi_bins;
    double width = narrow(histogram, histogram->hi_most - histogram->hi_least);
    if (!isfinite(width) || !(number >= histogram->hi_least && number <= histogram->hi_most))
        return;
    double scaled = narrow(histogram, narrow(histogram, number - histogram->hi_least) * (double)bins->bi_count);
    double place = narrow(histogram, scaled / width);
    bins->bi_sums[place < (double)bins->bi_count ? (int64_t)place : bins->bi_count - 1] += 1;
}

#define EACH_NUMBER(name, function)                                                                                    \
    static aclError name(char *const *places, const int64_t *strides, int64_t length, void *context)                   \
    {                                                                                                                  \
        struct histogram *histogram = context;                                                                         \
        for (int64_t done = 0; done < length; done += SIM_BLOCK) {                                                     \
            size_t size = sim_element_block(done, length);                                                             \
            union sim_block_values block;                                                                              \
            sim_element_load(&block, SIM_CLASS_DOUBLE, places[0] + done * strides[0], histogram->hi_type,              \
                             strides[0] / (int64_t)sim_element_size(histogram->hi_type), size);                        \
            for (size_t i = 0; i < size; i++)                                                                          \
                function(histogram, block.bv_doubles[i]);                                                              \
        }                                                                                                              \
        return ACL_SUCCESS;                                                                                            \
    }

EACH_NUMBER(widen_line, widen)
EACH_NUMBER(count_line, count)

static aclError run_histc(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[SELF].tensors, *out = given[OUT].tensors;
    struct histogram histogram = {
        .hi_type = self->type,
        .hi_single = sim_element_class(self->type) == SIM_CLASS_FLOAT,
        .hi_least = bound(&given[LEAST], self->type),
        .hi_most = bound(&given[MOST], self->type),
    };
    SIM_TRY(reserve(&histogram.hi_bins, out));
    if (histogram.hi_least == histogram.hi_most) {
        histogram.hi_least = INFINITY;
        histogram.hi_most = -INFINITY;
        sim_walk_tensors(&self, 1, widen_line, &histogram);
    }
    if (histogram.hi_least == histogram.hi_most) {
        histogram.hi_least = narrow(&histogram, histogram.hi_least - 1);
        histogram.hi_most = narrow(&histogram, histogram.hi_most + 1);
    }
    return store(&histogram.hi_bins, out, sim_walk_tensors(&self, 1, count_line, &histogram));
}

/* ---- Bincount (self, weights, minlength, out): a bin per integer ---- */

static aclnnStatus plan_bincount(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *weights = &call->arguments[1], *length = &call->arguments[2];
    const aclsimArgument *out = &call->arguments[3];
    bool weighted = weights->present != 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SIM_TYPES_INTEGER));
    const uint64_t sums = SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_DOUBLE) | (call->userData != NULL ? SIM_TYPES_INDEX : 0);
    SIM_TRY(sim_require_type(out, weighted ? sums : SIM_TYPES_INDEX));
    SIM_TRY(sim_require_rank(self, 1, 1));
    SIM_TRY(sim_require_rank(out, 1, 1));
    if (weighted) {
        SIM_TRY(sim_require_type(weights, SIM_TYPES_REAL & ~SIM_TYPE(ACL_BF16)));
        SIM_TRY(sim_require_shape(weights, self->tensors->dims, 1, "that of self"));
    }
    SIM_TRY(sim_require_natural(length));
    SIM_ARGUMENT(out->tensors->dims[0] >= length->integer, ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %" PRId64 ", expected %" PRId64 " or more, as %s says", out->name,
                 out->tensors->dims[0], length->integer, length->name);
    return ACL_SUCCESS;
}

struct tally {
    struct bins ta_bins;
    const aclsimTensor *ta_tensors[2]; /* self and the weights; NULL: all are 1 */
};

static aclError SIM_RARE fail_at(const struct tally *tally, int64_t place, int64_t value)
{
    char text[160];
    snprintf(text, sizeof text, "self[%" PRId64 "] is %" PRId64 ", expected 0 or more, and less than %" PRId64
             ", the size of the result", place, value, tally->ta_bins.bi_count);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* Loads a block of a tensor of one dimension, whose only line is walked over. */
static void load(const struct tally *tally, size_t index, union sim_block_values *block, enum sim_class class,
                 const char *place, int64_t stride, size_t size)
{
    aclDataType type = tally->ta_tensors[index]->type;
    sim_element_load(block, class, place, type, stride / (int64_t)sim_element_size(type), size);
}

static aclError tally_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct tally *tally = context;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t size = sim_element_block(done, length);
        union sim_block_values values, weights;
        load(tally, 0, &values, SIM_CLASS_INTEGER, places[0] + done * strides[0], strides[0], size);
        for (size_t i = 0; i < size; i++)
            weights.bv_doubles[i] = 1;
        if (tally->ta_tensors[1] != NULL)
            load(tally, 1, &weights, SIM_CLASS_DOUBLE, places[1] + done * strides[1], strides[1], size);
        for (size_t i = 0; i < size; i++) {
            int64_t value = values.bv_integers[i];
            if (value < 0 || value >= tally->ta_bins.bi_count)
                return fail_at(tally, done + (int64_t)i, value);
            tally->ta_bins.bi_sums[value] += weights.bv_doubles[i];
        }
    }
    return ACL_SUCCESS;
}

static aclError run_bincount(const aclsimCall *call)
{
    const aclsimArgument *weights = &call->arguments[1];
    const aclsimTensor *out = call->arguments[3].tensors;
    bool weighted = weights->present != 0;
    struct tally tally = {.ta_tensors = {call->arguments[0].tensors, weighted ? weights->tensors : NULL}};
    SIM_TRY(reserve(&tally.ta_bins, out));
    return store(&tally.ta_bins, out, sim_walk_tensors(tally.ta_tensors, weighted ? 2 : 1, tally_line, &tally));
}

const struct sim_kernel sim_kernel_aclnnHistc = {plan_histc, run_histc, NULL, false},
                        sim_kernel_aclnnBincount = {plan_bincount, run_bincount, NULL, false};

/* The single operator, whose weights and result may be integers. */
static const struct sim_kernel single_kernel = {plan_bincount, run_bincount, "integers", false};
static const struct sim_parameter single_parameters[] = {{"array", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"weights", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"size", ACLSIM_INTEGER, 0, false},
                                                         {"bins", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_bincount_row = SIM_ROW("Bincount", SIM_TASK_VECTOR, single_parameters, &single_kernel);
