/* Operators that generate elements from numbers: OneHot (self, numClasses, onValue, offValue, axis, out), Arange and
 * Range (start, end, step, out), Linspace (start, end, steps, out), LogSpace (start, end, steps, base, result), and the
 * single operator Range. The three numbers of the latter are tensors of one element, which are read when it runs. */
#include "base/fail.h"
#include "line.h"
#include "operator/op.h"
#include "report.h"
#include "require.h"
#include "tables.h"
#include "walk.h"

#include <math.h>
#include <string.h>

/* ---- OneHot ---- */

/* Finds the dimension of the result along which the classes lie; -1 means the last one. */
static aclnnStatus find_axis(const aclsimCall *call, uint32_t *axis)
{
    const aclsimArgument *self = &call->arguments[0], *given = &call->arguments[4];
    int64_t rank = self->tensors->rank;
    SIM_ARGUMENT(given->integer >= -1 && given->integer <= rank, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected -1 to %lld", given->name, (long long)given->integer, (long long)rank);
    *axis = (uint32_t)(given->integer == -1 ? rank : given->integer);
    return ACL_SUCCESS;
}

static aclnnStatus plan_one_hot(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[5];
    const aclsimTensor *self = given[0].tensors;
    int64_t dims[SIM_RANK];
    uint32_t axis = 0, rank = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[0], SIM_TYPES_INDEX | SIM_TYPE(ACL_UINT8)));
    SIM_TRY(sim_require_types(&given[2], out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_types(&given[3], out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_one(&given[2]));
    SIM_TRY(sim_require_one(&given[3]));
    SIM_TRY(sim_require_rank(&given[0], 0, SIM_RANK - 1));
    SIM_TRY(sim_require_natural(&given[1]));
    SIM_TRY(find_axis(call, &axis));
    for (uint32_t k = 0; k <= self->rank; k++) {
        if (k == axis)
            dims[rank++] = given[1].integer;
        if (k < self->rank)
            dims[rank++] = self->dims[k];
    }
    return sim_require_shape(out, dims, rank, "that of self with a dimension for the classes");
}

struct one_hot {
    aclDataType oh_type; /* of indices */
    int64_t oh_depth, oh_step; /* the step is in bytes */
    size_t oh_size;
    const void *oh_on, *oh_off;
};

/* places: the addresses of the first class in the result, and of the indices. For an index that is not a class, every
 * class gets the off value. */
static aclError write_classes(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct one_hot *job = context;
    union sim_block_values index;
    for (int64_t i = 0; i < length; i++) {
        char *to = places[0] + i * strides[0];
        sim_element_load(&index, SIM_CLASS_INTEGER, places[1] + i * strides[1], job->oh_type, 0, 1);
        for (int64_t k = 0; k < job->oh_depth; k++)
            memcpy(to + k * job->oh_step, k == index.bv_integers[0] ? job->oh_on : job->oh_off, job->oh_size);
    }
    return ACL_SUCCESS;
}

static aclError run_one_hot(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[5].tensors;
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {out->data, self->data};
    struct one_hot job = {.oh_type = self->type, .oh_depth = given[1].integer, .oh_size = sim_element_size(out->type),
                          .oh_on = given[2].tensors->data, .oh_off = given[3].tensors->data};
    const size_t sizes[] = {job.oh_size, sim_element_size(self->type)};
    uint32_t axis = 0;
    SIM_TRY(find_axis(call, &axis));
    if (job.oh_depth > 1) /* a dimension of size 1 may have any stride */
        job.oh_step = out->strides[axis] * (int64_t)job.oh_size;
    for (uint32_t k = 0; k < self->rank; k++) {
        const int64_t strides[] = {out->strides[k < axis ? k : k + 1], self->strides[k]};
        sim_walk_add(&walk, self->dims[k], strides, sizes);
    }
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, write_classes, &job);
}

const struct sim_kernel sim_kernel_aclnnOneHot = {plan_one_hot, run_one_hot, NULL, false};

/* ---- sequences ---- */

/* A number both as an integer, for which it is truncated, and as a double. */
struct number {
    int64_t nu_whole;
    double nu_value;
};

static struct number read_number(const void *from, aclDataType type)
{
    struct number number;
    union sim_block_values block;
    enum sim_class class = sim_element_class(type);
    sim_element_load(&block, class, from, type, 0, 1);
    sim_element_store(&block, class, &number.nu_whole, ACL_INT64, 0, 1);
    sim_element_store(&block, class, &number.nu_value, ACL_DOUBLE, 0, 1);
    return number;
}

/* Numbers at equal distances. Those from index se_half on are counted back from the last, so that it is exact. */
struct sequence {
    aclDataType se_type;
    enum sim_class se_class; /* SIM_CLASS_INTEGER or SIM_CLASS_DOUBLE */
    struct number se_first, se_step, se_last;
    bool se_is_power; /* the numbers are exponents of se_base */
    double se_base;
    int64_t se_next, se_half, se_end; /* indices: of the next number, of the middle, and behind the last one */
};

static aclError write_numbers(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct sequence *sequence = context;
    const int64_t stride = strides[0] / (int64_t)sim_element_size(sequence->se_type);
    union sim_block_values block;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        for (size_t i = 0; i < count; i++) {
            int64_t at = sequence->se_next++;
            if (sequence->se_class == SIM_CLASS_INTEGER)
                block.bv_bits[i] =
                    (uint64_t)sequence->se_first.nu_whole + (uint64_t)at * (uint64_t)sequence->se_step.nu_whole;
            else if (at < sequence->se_half)
                block.bv_doubles[i] = sequence->se_first.nu_value + (double)at * sequence->se_step.nu_value;
            else
                block.bv_doubles[i] = sequence->se_last.nu_value -
                                      (double)(sequence->se_end - 1 - at) * sequence->se_step.nu_value;
            if (sequence->se_is_power)
                block.bv_doubles[i] = pow(sequence->se_base, block.bv_doubles[i]);
        }
        sim_element_store(&block, sequence->se_class, places[0] + done * strides[0], sequence->se_type, stride, count);
    }
    return ACL_SUCCESS;
}

/* Writes a sequence in the order of the indices. */
static aclError write_sequence(const aclsimTensor *out, struct sequence *sequence)
{
    const struct sim_line line = sim_line_of(out, 0, out->rank);
    sequence->se_type = out->type;
    return sim_walk_run(&line.li_walk, (char *[]){out->data}, write_numbers, sequence);
}

/* A sequence of any length, in integers if the output has these. */
static struct sequence endless(const struct number *numbers, aclDataType type)
{
    return (struct sequence){.se_class = sim_element_is(type, SIM_TYPES_INDEX) ? SIM_CLASS_INTEGER : SIM_CLASS_DOUBLE,
                             .se_first = numbers[0], .se_step = numbers[2], .se_half = INT64_MAX};
}

#define COUNTED (SIM_TYPES_INDEX | SIM_TYPES_FLOAT)

/* ---- Arange and Range: start, end, step, out; only Range includes the end ---- */

static void read_scalars(const aclsimArgument *given, struct number *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = read_number(given[i].scalars->value, given[i].scalars->type);
}

/* The distance from the start to the end. That of integers is exact before it is rounded; one that does not fit 64 bits
 * is approximate. */
static double distance_of(const struct number *numbers, bool whole)
{
    int64_t distance;
    if (!whole)
        return numbers[1].nu_value - numbers[0].nu_value;
    if (__builtin_sub_overflow(numbers[1].nu_whole, numbers[0].nu_whole, &distance))
        return (double)numbers[1].nu_whole - (double)numbers[0].nu_whole;
    return (double)distance;
}

static double length_of(double steps, bool with_end)
{
    return with_end ? floor(steps) + 1 : ceil(steps);
}

/* Programs compute the length of a result with floats in double or in float, whose rounding may differ by one element:
 * either is accepted. */
static aclnnStatus plan_arange(const aclsimCall *call, uint64_t *workspace_size)
{
    const bool with_end = *(const bool *)call->userData;
    const aclsimArgument *given = call->arguments, *out = &given[3];
    struct number numbers[3];
    double values[3];
    (void)workspace_size;
    for (uint32_t i = 0; i < 3; i++)
        SIM_TRY(sim_require_type(&given[i], SIM_TYPES_REAL));
    SIM_TRY(sim_require_type(out, COUNTED));
    const bool whole = sim_element_is(out->tensors->type, SIM_TYPES_INDEX);
    read_scalars(given, numbers, 3);
    for (uint32_t i = 0; i < 3; i++)
        values[i] = whole ? (double)numbers[i].nu_whole : numbers[i].nu_value;
    SIM_ARGUMENT(values[2] != 0, ACLNN_ERR_PARAM_INVALID, "%s is 0, expected another number", given[2].name);
    const double steps = distance_of(numbers, whole) / values[2];
    const float narrow = ((float)values[1] - (float)values[0]) / (float)values[2];
    SIM_ARGUMENT(steps >= 0 && steps < 0x1p62, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, %s is %g and %s is %g, expected steps that lead from the one to the other", given[0].name,
                 values[0], given[1].name, values[1], given[2].name, values[2]);
    const double count = (double)sim_walk_count(out->tensors), expected = length_of(steps, with_end);
    if (count != expected && expected < SIM_MOST_STEP)
        sim_report_shape(out->name, (const int64_t[]){(int64_t)expected}, 1);
    SIM_ARGUMENT(count == expected || (!whole && count == length_of(narrow, with_end)), ACLNN_ERR_PARAM_INVALID,
                 "%s has %.0f elements, expected %.0f", out->name, count, expected);
    return ACL_SUCCESS;
}

static aclError run_arange(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[3].tensors;
    struct number numbers[3];
    read_scalars(call->arguments, numbers, 3);
    struct sequence sequence = endless(numbers, out->type);
    return write_sequence(out, &sequence);
}

static const bool includes_end = true, excludes_end = false;
const struct sim_kernel sim_kernel_aclnnArange = {plan_arange, run_arange, (void *)&excludes_end, false},
                        sim_kernel_aclnnRange = {plan_arange, run_arange, (void *)&includes_end, false};

/* ---- Linspace: start, end, steps, out; and LogSpace: start, end, steps, base, result ---- */

static aclnnStatus plan_spaced(const aclsimCall *call, const aclsimArgument *out, uint64_t scalars, uint64_t types)
{
    const aclsimArgument *given = call->arguments, *steps = &given[2];
    SIM_TRY(sim_require_type(&given[0], scalars));
    SIM_TRY(sim_require_type(&given[1], scalars));
    SIM_TRY(sim_require_type(out, types));
    SIM_TRY(sim_require_natural(steps));
    int64_t count = sim_walk_count(out->tensors);
    SIM_ARGUMENT(count == steps->integer, ACLNN_ERR_PARAM_INVALID, "%s has %lld elements, expected %lld, as %s says",
                 out->name, (long long)count, (long long)steps->integer, steps->name);
    return ACL_SUCCESS;
}

/* The numbers of Linspace, or the exponents of LogSpace. If `whole`, start and end are truncated first. */
static struct sequence spaced(const aclsimCall *call, bool whole)
{
    const int64_t steps = call->arguments[2].integer;
    struct number numbers[2];
    read_scalars(call->arguments, numbers, 2);
    for (uint32_t i = 0; i < 2; i++)
        if (whole)
            numbers[i].nu_value = (double)numbers[i].nu_whole;
    struct sequence sequence = {.se_class = SIM_CLASS_DOUBLE, .se_first = numbers[0],
                                .se_last = numbers[steps == 1 ? 0 : 1], .se_half = steps / 2, .se_end = steps};
    if (steps > 1)
        sequence.se_step.nu_value = (numbers[1].nu_value - numbers[0].nu_value) / (double)(steps - 1);
    return sequence;
}

static aclnnStatus plan_linspace(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return plan_spaced(call, &call->arguments[3], SIM_TYPES_REAL,
                       (SIM_TYPES_INTEGER & ~SIM_TYPE(ACL_INT64)) | SIM_TYPES_FLOAT);
}

/* Into integers, start and end are truncated first, and then each number. */
static aclError run_linspace(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[3].tensors;
    struct sequence sequence = spaced(call, sim_element_is(out->type, SIM_TYPES_INTEGER));
    return write_sequence(out, &sequence);
}

static aclnnStatus plan_logspace(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return plan_spaced(call, &call->arguments[4], SIM_TYPES_REAL | SIM_TYPES_UNSIGNED, SIM_TYPES_SINGLE);
}

static aclError run_logspace(const aclsimCall *call)
{
    struct sequence sequence = spaced(call, false);
    sequence.se_is_power = true;
    sequence.se_base = call->arguments[3].number;
    return write_sequence(call->arguments[4].tensors, &sequence);
}

const struct sim_kernel sim_kernel_aclnnLinspace = {plan_linspace, run_linspace, NULL, false},
                        sim_kernel_aclnnLogSpace = {plan_logspace, run_logspace, NULL, false};

/* ---- the single operator Range ---- */

static aclnnStatus plan_range(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    for (uint32_t i = 0; i < 3; i++) {
        SIM_TRY(sim_require_types(&call->arguments[i], &call->arguments[3], COUNTED));
        SIM_TRY(sim_require_one(&call->arguments[i]));
    }
    return sim_require_rank(&call->arguments[3], 1, 1);
}

/* The length of the range can be checked only now, when its numbers are known. */
static aclError run_range(const aclsimCall *call)
{
    const aclsimTensor *out = call->arguments[3].tensors;
    struct number numbers[3];
    for (uint32_t i = 0; i < 3; i++)
        numbers[i] = read_number(call->arguments[i].tensors->data, call->arguments[i].tensors->type);
    if (numbers[2].nu_value == 0 ||
        ceil((numbers[1].nu_value - numbers[0].nu_value) / numbers[2].nu_value) != (double)out->dims[0])
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    struct sequence sequence = endless(numbers, out->type);
    return write_sequence(out, &sequence);
}

static const struct sim_parameter parameters[] = {
    {"start", ACLSIM_TENSOR, ACLSIM_IN, false}, {"limit", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"delta", ACLSIM_TENSOR, ACLSIM_IN, false}, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};
static const struct sim_kernel range_kernel = {plan_range, run_range, NULL, false};

struct sim_row sim_op_range_row = SIM_ROW("Range", SIM_TASK_VECTOR, parameters, &range_kernel);
