/* Cumulative operators along one dimension: Cumsum (self, dim, dtype, out), CumsumV2 (self, dim, exclusive, reverse,
 * out), Cumprod (input, dim, dtype, out), InplaceCumprod (input, dim), and Cummax and Cummin (self, dim, valuesOut,
 * indicesOut). Sums and products are kept in double or in integers of 64 bits. */
#include "base/fail.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"

/* ---- sums and products ---- */

/* The types that an operator takes, and the positions of its arguments; 0: it has no such argument. A result at
 * position 0 replaces self. */
struct operator {
    uint64_t op_in, op_out;
    bool op_multiplies;
    uint8_t op_type, op_exclusive, op_reverse, op_result;
};

struct scan {
    bool sc_multiplies;
    bool sc_exclusive; /* an element is not part of its own sum */
    bool sc_reverse;
    enum sim_class sc_class;
    aclDataType sc_self, sc_out;
    int64_t sc_length;
    int64_t sc_from, sc_to; /* strides, in elements */
};

#define SUMMED (SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL)

/* Finds the dimension, which is a number or a scalar. */
static aclnnStatus find_dim(const aclsimCall *call, uint32_t *dim)
{
    const aclsimArgument *given = &call->arguments[1];
    aclsimArgument number = {.name = given->name, .kind = ACLSIM_INTEGER, .integer = given->integer};
    if (given->kind == ACLSIM_SCALAR) {
        union sim_block_values value;
        SIM_TRY(sim_require_type(given, SIM_TYPES_INDEX));
        sim_element_load(&value, SIM_CLASS_INTEGER, given->scalars->value, given->scalars->type, 0, 1);
        number.integer = value.bv_integers[0];
    }
    return sim_require_dim(&number, call->arguments[0].tensors->rank, dim);
}

static aclnnStatus plan_scan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct operator *operator = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[operator->op_result];
    const aclsimArgument *type = &call->arguments[operator->op_type];
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, operator->op_in));
    SIM_TRY(sim_require_type(out, operator->op_out));
    if (operator->op_type == 0 || type->integer == ACL_DT_UNDEFINED)
        SIM_TRY(sim_require_same_type(out, self->tensors->type, self->name));
    else
        SIM_TRY(sim_require_same_type(out, (aclDataType)type->integer, "dtype"));
    SIM_TRY(sim_require_cast(self->name, self->tensors->type, "the type of the output", out->tensors->type));
    SIM_TRY(find_dim(call, &dim));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

#define SCAN(name, type, field)                                                                                        \
    static void name(const struct scan *scan, union sim_block_values *block, size_t count, type *sum)                 \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type before = *sum;                                                                                        \
            *sum = scan->sc_multiplies ? *sum * block->field[i] : *sum + block->field[i];                              \
            block->field[i] = scan->sc_exclusive ? before : *sum;                                                      \
        }                                                                                                              \
    }

SCAN(scan_bits, uint64_t, bv_bits)
SCAN(scan_doubles, double, bv_doubles)
SCAN(scan_pairs, double _Complex, bv_double_pairs)

/* places: the addresses of a line of the result and of a line of self. */
static aclError scan_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct scan *scan = context;
    const int64_t from_size = (int64_t)sim_element_size(scan->sc_self);
    const int64_t to_size = (int64_t)sim_element_size(scan->sc_out);
    int64_t last = scan->sc_reverse ? scan->sc_length - 1 : 0, way = scan->sc_reverse ? -1 : 1;
    for (int64_t i = 0; i < length; i++) {
        char *to = places[0] + i * strides[0] + last * scan->sc_to * to_size;
        const char *from = places[1] + i * strides[1] + last * scan->sc_from * from_size;
        union sim_block_values block;
        uint64_t bits = scan->sc_multiplies;
        double sum = scan->sc_multiplies;
        double _Complex pair = scan->sc_multiplies;
        for (int64_t done = 0; done < scan->sc_length; done += SIM_BLOCK) {
            size_t count = sim_element_block(done, scan->sc_length);
            sim_element_load(&block, scan->sc_class, from + way * done * scan->sc_from * from_size, scan->sc_self,
                             way * scan->sc_from, count);
            if (scan->sc_self != scan->sc_out) { /* elements are cast before they are added or multiplied */
                union sim_block_values cast;
                sim_element_store(&block, scan->sc_class, &cast, scan->sc_out, 1, count);
                sim_element_load(&block, scan->sc_class, &cast, scan->sc_out, 1, count);
            }
            if (scan->sc_class == SIM_CLASS_INTEGER) {
                scan_bits(scan, &block, count, &bits);
                sim_element_wrap(&block, scan->sc_out, count);
            } else if (scan->sc_class == SIM_CLASS_DOUBLE)
                scan_doubles(scan, &block, count, &sum);
            else
                scan_pairs(scan, &block, count, &pair);
            sim_element_store(&block, scan->sc_class, to + way * done * scan->sc_to * to_size, scan->sc_out,
                              way * scan->sc_to, count);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_scan(const aclsimCall *call)
{
    const struct operator *operator = call->userData;
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[operator->op_result].tensors;
    const aclsimTensor *tensors[] = {out, self};
    char *places[] = {out->data, self->data};
    struct sim_walk walk = {.wk_places = 2};
    struct scan scan = {.sc_multiplies = operator->op_multiplies, .sc_class = sim_reduce_class(out->type),
                        .sc_self = self->type, .sc_out = out->type, .sc_length = 1};
    uint32_t dim = 0;
    SIM_TRY(find_dim(call, &dim));
    scan.sc_exclusive = operator->op_exclusive != 0 && given[operator->op_exclusive].integer != 0;
    scan.sc_reverse = operator->op_reverse != 0 && given[operator->op_reverse].integer != 0;
    if (self->rank != 0 && self->dims[dim] != 1) {
        scan.sc_length = self->dims[dim];
        scan.sc_from = self->strides[dim];
        scan.sc_to = out->strides[dim];
    }
    const struct sim_reduced reduced = {1u << dim, true};
    sim_reduce_walk(&walk, tensors, &reduced);
    return sim_walk_run(&walk, places, scan_lines, &scan);
}

#define MULTIPLIED (SIM_TYPES_FLOAT | SIM_TYPES_INTEGER | SIM_TYPES_UNSIGNED)

static const struct operator sum = {.op_in = SIM_TYPES_ARITHMETIC, .op_out = SUMMED, .op_type = 2, .op_result = 3},
                             sum_v2 = {.op_in = SUMMED, .op_out = SUMMED, .op_exclusive = 2, .op_reverse = 3,
                                       .op_result = 4},
                             product = {.op_in = MULTIPLIED, .op_out = MULTIPLIED, .op_multiplies = true, .op_type = 2,
                                        .op_result = 3},
                             product_in_place = {.op_in = MULTIPLIED, .op_out = MULTIPLIED, .op_multiplies = true};

const struct sim_kernel sim_kernel_aclnnCumsum = {plan_scan, run_scan, (void *)&sum, false},
                        sim_kernel_aclnnCumsumV2 = {plan_scan, run_scan, (void *)&sum_v2, false},
                        sim_kernel_aclnnCumprod = {plan_scan, run_scan, (void *)&product, false},
                        sim_kernel_aclnnInplaceCumprod = {plan_scan, run_scan, (void *)&product_in_place, false};

/* ---- the greatest or the least element so far, and its index; once there is a NaN, it is the last one ---- */

static aclnnStatus plan_best(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *values = &call->arguments[2], *indices = &call->arguments[3];
    const aclsimTensor *tensor = self->tensors;
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, values, SIM_TYPES_REAL));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    SIM_TRY(find_dim(call, &dim));
    SIM_TRY(sim_require_shape(values, tensor->dims, tensor->rank, "that of self"));
    return sim_require_shape(indices, tensor->dims, tensor->rank, "that of self");
}

enum { VALUES, INDICES, SELF, TENSORS };

struct best {
    bool be_least;
    enum sim_class be_class;
    aclDataType be_types[TENSORS];
    int64_t be_length, be_steps[TENSORS]; /* along the dimension; the steps are in elements */
    int64_t be_place;                     /* index of the best element so far */
};

/* Replaces a block that begins at index `start` by the best elements so far. Among equal elements, the last one
 * counts. */
#define BEST(name, type, field, better)                                                                                \
    static void name(struct best *job, union sim_block_values *block, int64_t *places, type *best, int64_t start,      \
                     size_t count)                                                                                     \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type value = block->field[i], found = *best;                                                         \
            if (start + (int64_t)i == 0 || (better)) {                                                                 \
                *best = value;                                                                                         \
                job->be_place = start + (int64_t)i;                                                                    \
            }                                                                                                          \
            block->field[i] = *best;                                                                                   \
            places[i] = job->be_place;                                                                                 \
        }                                                                                                              \
    }

BEST(greatest_integers, int64_t, bv_integers, value >= found)
BEST(least_integers, int64_t, bv_integers, value <= found)
BEST(greatest_doubles, double, bv_doubles, value != value || value >= found)
BEST(least_doubles, double, bv_doubles, value != value || value <= found)

/* places: the addresses of a line of the values, of the indices and of self. */
static aclError find_best(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct best *job = context;
    int64_t steps[TENSORS]; /* in bytes */
    for (int i = 0; i < TENSORS; i++)
        steps[i] = job->be_steps[i] * (int64_t)sim_element_size(job->be_types[i]);
    for (int64_t i = 0; i < length; i++) {
        union sim_block_values block, indices;
        int64_t integer = 0;
        double number = 0;
        for (int64_t done = 0; done < job->be_length; done += SIM_BLOCK) {
            size_t count = sim_element_block(done, job->be_length);
            char *at[TENSORS];
            for (int k = 0; k < TENSORS; k++)
                at[k] = places[k] + i * strides[k] + done * steps[k];
            sim_element_load(&block, job->be_class, at[SELF], job->be_types[SELF], job->be_steps[SELF], count);
            if (job->be_class == SIM_CLASS_INTEGER && job->be_least)
                least_integers(job, &block, indices.bv_integers, &integer, done, count);
            else if (job->be_class == SIM_CLASS_INTEGER)
                greatest_integers(job, &block, indices.bv_integers, &integer, done, count);
            else if (job->be_least)
                least_doubles(job, &block, indices.bv_integers, &number, done, count);
            else
                greatest_doubles(job, &block, indices.bv_integers, &number, done, count);
            sim_element_store(&block, job->be_class, at[VALUES], job->be_types[VALUES], job->be_steps[VALUES], count);
            sim_element_store(&indices, SIM_CLASS_INTEGER, at[INDICES], job->be_types[INDICES],
                              job->be_steps[INDICES], count);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_best(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *tensors[] = {given[2].tensors, given[3].tensors, self};
    char *places[TENSORS];
    struct sim_walk walk = {.wk_places = TENSORS};
    struct best job = {.be_least = *(const bool *)call->userData, .be_class = sim_reduce_class(self->type),
                       .be_length = 1};
    uint32_t dim = 0;
    SIM_TRY(find_dim(call, &dim));
    bool single = self->rank == 0 || self->dims[dim] == 1;
    for (int i = 0; i < TENSORS; i++) {
        job.be_types[i] = tensors[i]->type;
        job.be_steps[i] = single ? 0 : tensors[i]->strides[dim];
        places[i] = tensors[i]->data;
    }
    if (!single)
        job.be_length = self->dims[dim];
    const struct sim_reduced reduced = {1u << dim, true};
    sim_reduce_walk(&walk, tensors, &reduced);
    return sim_walk_run(&walk, places, find_best, &job);
}

static const bool greatest = false, least = true;
const struct sim_kernel sim_kernel_aclnnCummax = {plan_best, run_best, (void *)&greatest, false},
                        sim_kernel_aclnnCummin = {plan_best, run_best, (void *)&least, false};
