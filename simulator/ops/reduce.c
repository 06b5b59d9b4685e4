/* The kernel of reductions that combine elements. The operators are in fold.c, spread.c, norm_of.c and log_sum.c.
 *
 * Blocks of elements are combined with a block of as many accumulators. Either all accumulators belong to one result,
 * and are combined with each other at the end, or each belongs to a result of its own. The choice is the one that makes
 * longer blocks. Sums and extremes of contiguous floats have loops of their own in vector.c. */
#include "reduce.h"

#include "base/bytes.h"
#include "base/fail.h"
#include "require.h"
#include "vector.h"
#include <math.h>
#include <stdlib.h>

/* ---- what all reductions share ---- */

aclnnStatus sim_reduce_check(const aclsimArgument *out, const aclsimTensor *self, const struct sim_reduced *reduced)
{
    int64_t dims[SIM_RANK];
    uint32_t rank = 0;
    for (uint32_t k = 0; k < self->rank; k++)
        if (!sim_reduces(reduced, k))
            dims[rank++] = self->dims[k];
        else if (reduced->rd_keeps)
            dims[rank++] = 1;
    return rank == 0 ? sim_require_one(out) : sim_require_shape(out, dims, rank, "that of the result");
}

aclnnStatus sim_reduce_check_filled(const aclsimArgument *self, const struct sim_reduced *reduced)
{
    for (uint32_t k = 0; k < self->tensors->rank; k++)
        SIM_ARGUMENT(!sim_reduces(reduced, k) || self->tensors->dims[k] != 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is 0, expected 1 or more where it is reduced", k, self->name);
    return ACL_SUCCESS;
}

void sim_reduce_walk(struct sim_walk *walk, const aclsimTensor *const *tensors, const struct sim_reduced *reduced)
{
    const aclsimTensor *self = tensors[walk->wk_places - 1];
    int64_t strides[SIM_WALK_PLACES] = {0};
    size_t sizes[SIM_WALK_PLACES] = {0};
    uint32_t place = 0;
    for (uint32_t k = 0; k < self->rank; k++) {
        if (!sim_reduces(reduced, k)) {
            for (uint32_t i = 0; i < walk->wk_places; i++) {
                strides[i] = tensors[i]->strides[tensors[i] == self ? k : place];
                sizes[i] = sim_element_size(tensors[i]->type);
            }
            sim_walk_add(walk, self->dims[k], strides, sizes);
        }
        place += !sim_reduces(reduced, k) || reduced->rd_keeps;
    }
    sim_walk_settle(walk);
}

enum sim_class sim_reduce_class(aclDataType type)
{
    enum sim_class class = sim_element_class(type);
    return class == SIM_CLASS_FLOAT           ? SIM_CLASS_DOUBLE
           : class == SIM_CLASS_COMPLEX_FLOAT ? SIM_CLASS_COMPLEX_DOUBLE
                                              : class;
}

/* ---- combining accumulators ---- */

typedef void (*combine_func)(void *into, const void *from, size_t count);

/* Integers wrap in 64 bits here, and in their own type in finish(). The maximum and minimum of a NaN and a number is
 * NaN; | instead of || lets the compiler vectorise these. */
#define COMBINE(name, type, value)                                                                                     \
    static void name(void *into, const void *from, size_t count)                                                       \
    {                                                                                                                  \
        type *restrict a = into;                                                                                       \
        const type *restrict b = from;                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                             \
            a[i] = (value);                                                                                            \
    }

COMBINE(add_integers, uint64_t, a[i] + b[i])
COMBINE(add_doubles, double, a[i] + b[i])
COMBINE(multiply_integers, uint64_t, a[i] * b[i])
COMBINE(multiply_doubles, double, a[i] * b[i])
COMBINE(greatest_integers, int64_t, b[i] > a[i] ? b[i] : a[i])
COMBINE(greatest_doubles, double, ((b[i] > a[i]) | (b[i] != b[i])) ? b[i] : a[i])
COMBINE(least_integers, int64_t, b[i] < a[i] ? b[i] : a[i])
COMBINE(least_doubles, double, ((b[i] < a[i]) | (b[i] != b[i])) ? b[i] : a[i])

static void add_pairs(void *into, const void *from, size_t count)
{
    add_doubles(into, from, 2 * count);
}

static void multiply_pairs(void *into, const void *from, size_t count)
{
    double *restrict a = into;
    const double *restrict b = from;
    for (size_t i = 0; i < 2 * count; i += 2) {
        double real = a[i] * b[i] - a[i + 1] * b[i + 1];
        a[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];
        a[i] = real;
    }
}

static const struct {
    combine_func fd_integers, fd_doubles, fd_pairs;
    int64_t fd_integer; /* the neutral element, also fd_number */
    double fd_number;
    sim_vector_fold *fd_floats; /* NULL: there is none */
} folds[] = {
    [SIM_FOLD_SUM] = {add_integers, add_doubles, add_pairs, 0, 0, sim_vector_add},
    [SIM_FOLD_PRODUCT] = {multiply_integers, multiply_doubles, multiply_pairs, 1, 1, NULL},
    [SIM_FOLD_GREATEST] = {greatest_integers, greatest_doubles, NULL, INT64_MIN, -INFINITY, sim_vector_greatest},
    [SIM_FOLD_LEAST] = {least_integers, least_doubles, NULL, INT64_MAX, INFINITY, sim_vector_least},
};

/* ---- the first phase ---- */

static aclDataType type_of(const aclsimCall *call, const struct sim_reduction *reduction)
{
    aclDataType self = call->arguments[0].tensors->type, out = call->arguments[reduction->re_out].tensors->type;
    if (reduction->re_tests != 0)
        return ACL_BOOL;
    if (reduction->re_type != 0)
        return (aclDataType)call->arguments[reduction->re_type].integer;
    if (reduction->re_fractional && !sim_element_is(self, SIM_TYPES_FLOAT))
        return ACL_FLOAT;
    return reduction->re_averages && sim_element_is(self, SIM_TYPES_INTEGER) ? out : self; /* a mean has fractions */
}

static aclnnStatus find_reduced(const aclsimCall *call, const struct sim_reduction *reduction,
                                struct sim_reduced *reduced)
{
    const aclsimArgument *self = &call->arguments[0], *given = &call->arguments[reduction->re_dims];
    uint32_t dims[SIM_RANK] = {0};
    uint64_t count = 0;
    reduced->rd_keeps = reduction->re_keeps != 0 && call->arguments[reduction->re_keeps].integer != 0;
    reduced->rd_mask = 0;
    if (given->kind == ACLSIM_INTEGER) {
        SIM_TRY(sim_require_dim(given, self->tensors->rank, dims));
        count = 1;
    } else if (given->kind == ACLSIM_INTEGERS) {
        SIM_TRY(sim_require_dims(given, self->tensors->rank, dims));
        count = given->count;
    }
    for (uint64_t i = 0; i < count; i++)
        reduced->rd_mask |= 1u << dims[i];
    bool noop = reduction->re_noop != 0 && call->arguments[reduction->re_noop].integer != 0;
    if (count == 0 && !noop)
        reduced->rd_mask = (1u << SIM_RANK) - 1;
    return ACL_SUCCESS;
}

static aclnnStatus check_types(const aclsimCall *call, const struct sim_reduction *reduction)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[reduction->re_out];
    aclDataType type = type_of(call, reduction), result = out->tensors->type;
    const char *what = reduction->re_type != 0 ? "dtype" : reduction->re_fractional ? "the result" : self->name;
    if (reduction->re_tests != 0) {
        SIM_TRY(sim_require_type(self, reduction->re_types));
        return sim_require_type(out, reduction->re_tests);
    }
    if (reduction->re_type == 0 && !reduction->re_casts)
        SIM_TRY(sim_require_types(self, out, reduction->re_types));
    SIM_TRY(sim_require_type(self, reduction->re_types));
    SIM_TRY(sim_require_type(out, reduction->re_types));
    SIM_TRY(sim_require_type_named("dtype", type, reduction->re_types));
    SIM_TRY(sim_require_cast(self->name, self->tensors->type, "dtype", type));
    if (reduction->re_casts)
        SIM_TRY(sim_require_cast(what, type, "the type of the output", result));
    else
        SIM_TRY(sim_require_same_type(out, type, "dtype"));
    SIM_ARGUMENT(!sim_walk_is_empty(self->tensors->dims, self->tensors->rank) ||
                     !sim_element_is(result, SIM_TYPES_COMPLEX),
                 ACLNN_ERR_PARAM_INVALID, "%s is %s and %s is empty, expected a real type", out->name,
                 sim_element_name(result), self->name);
    return ACL_SUCCESS;
}

aclnnStatus sim_reduction_plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sim_reduction *reduction = call->userData;
    struct sim_reduced reduced;
    (void)workspace_size;
    SIM_TRY(check_types(call, reduction));
    SIM_TRY(find_reduced(call, reduction, &reduced));
    bool is_extreme = reduction->re_fold == SIM_FOLD_GREATEST || reduction->re_fold == SIM_FOLD_LEAST;
    if (is_extreme && reduction->re_end == NULL) /* re_end has a value for no elements */
        SIM_TRY(sim_reduce_check_filled(&call->arguments[0], &reduced));
    return sim_reduce_check(&call->arguments[reduction->re_out], call->arguments[0].tensors, &reduced);
}

/* ---- the second phase ---- */

struct run {
    const struct sim_reduction *rn_reduction;
    enum sim_class rn_class;
    aclDataType rn_self, rn_out, rn_type; /* rn_type: type of the computation */
    int64_t rn_elements;                  /* elements per result */
    double rn_option;
    struct sim_walk rn_reduced; /* over the elements of one result */
    bool rn_beside;             /* each accumulator belongs to a result of its own */
};

/* The results that a thread works on. */
struct part {
    const struct run *pt_run;
    union sim_block_values pt_into, pt_centres;
    enum sim_fold pt_fold; /* of this pass */
    bool pt_maps;          /* whether this pass has the map */
    size_t pt_count;       /* number of accumulators */
    int64_t pt_stride;     /* between the elements of neighbouring results, in elements; used by reduce_beside */
};

static void combine(const struct part *part, void *into, const void *from, size_t count)
{
    enum sim_fold fold = part->pt_fold;
    enum sim_class class = part->pt_run->rn_class;
    if (class == SIM_CLASS_INTEGER)
        folds[fold].fd_integers(into, from, count);
    else if (class == SIM_CLASS_DOUBLE)
        folds[fold].fd_doubles(into, from, count);
    else
        folds[fold].fd_pairs(into, from, count);
}

static void begin(struct part *part, size_t count)
{
    const struct run *run = part->pt_run;
    enum sim_fold fold = part->pt_fold;
    part->pt_count = count;
    for (size_t i = 0; i < count; i++)
        if (run->rn_class == SIM_CLASS_INTEGER)
            part->pt_into.bv_integers[i] = folds[fold].fd_integer;
        else if (run->rn_class == SIM_CLASS_DOUBLE)
            part->pt_into.bv_doubles[i] = folds[fold].fd_number;
        else {
            part->pt_into.bv_doubles[2 * i] = folds[fold].fd_number;
            part->pt_into.bv_doubles[2 * i + 1] = 0;
        }
}

/* The mean of no elements is NaN, or 0 for types without NaN. */
static void average(struct part *part)
{
    const struct run *run = part->pt_run;
    if (run->rn_class == SIM_CLASS_INTEGER) {
        int64_t divisor = run->rn_elements == 0 ? 1 : run->rn_elements;
        for (size_t i = 0; i < part->pt_count; i++)
            part->pt_into.bv_integers[i] /= divisor;
        return;
    }
    size_t count = run->rn_class == SIM_CLASS_DOUBLE ? part->pt_count : 2 * part->pt_count;
    double divisor = run->rn_elements == 0 ? NAN : (double)run->rn_elements;
    for (size_t i = 0; i < count; i++)
        part->pt_into.bv_doubles[i] /= divisor;
}

static void finish(struct part *part, char *to, int64_t stride)
{
    const struct run *run = part->pt_run;
    const struct sim_reduction *reduction = run->rn_reduction;
    double *numbers = part->pt_into.bv_doubles;
    if (reduction->re_averages)
        average(part);
    for (size_t i = 0; reduction->re_end != NULL && i < part->pt_count; i++)
        numbers[i] = reduction->re_end(numbers[i], reduction->re_centre == NULL ? 0 : part->pt_centres.bv_doubles[i],
                                       (double)run->rn_elements, run->rn_option);
    if (run->rn_class == SIM_CLASS_INTEGER)
        sim_element_wrap(&part->pt_into, run->rn_type, part->pt_count);
    sim_element_store(&part->pt_into, run->rn_class, to, run->rn_out, stride / (int64_t)sim_element_size(run->rn_out),
                      part->pt_count);
}

/* Casts elements before they are combined. Integers whose type does not change need no cast. */
static void load(const struct part *part, union sim_block_values *block, const char *from, int64_t stride, size_t count)
{
    const struct run *run = part->pt_run;
    const struct sim_reduction *reduction = run->rn_reduction;
    if (reduction->re_tests != 0 && sim_element_is(run->rn_self, SIM_TYPES_FLOAT)) {
        sim_element_load(block, SIM_CLASS_DOUBLE, from, run->rn_self, stride, count);
        for (size_t i = 0; i < count; i++)
            block->bv_integers[i] = block->bv_doubles[i] != 0;
        return;
    }
    sim_element_load(block, run->rn_class, from, run->rn_self, stride, count);
    if (part->pt_maps)
        reduction->re_map(block->bv_doubles, part->pt_centres.bv_doubles, run->rn_beside, run->rn_option, count);
    if (run->rn_class == SIM_CLASS_INTEGER && run->rn_type != run->rn_self)
        sim_element_wrap(block, run->rn_type, count);
}

/* Adds a line of elements that belong to one result. */
static aclError add_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct part *part = context;
    union sim_block_values loaded;
    int64_t step = strides[0] / (int64_t)sim_element_size(part->pt_run->rn_self);
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        load(part, &loaded, places[0] + done * strides[0], step, count);
        combine(part, &part->pt_into, &loaded, count);
    }
    return ACL_SUCCESS;
}

/* The same for contiguous floats, which need only one accumulator here. */
static aclError fold_floats(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct part *part = context;
    (void)strides;
    folds[part->pt_fold].fd_floats(part->pt_into.bv_doubles, (const float *)places[0], (size_t)length);
    return ACL_SUCCESS;
}

static bool folds_floats(const struct part *part)
{
    const struct run *run = part->pt_run;
    const struct sim_walk *reduced = &run->rn_reduced;
    return folds[part->pt_fold].fd_floats != NULL && run->rn_class == SIM_CLASS_DOUBLE && run->rn_self == ACL_FLOAT &&
           !part->pt_maps && !run->rn_beside && reduced->wk_rank != 0 &&
           reduced->wk_strides[reduced->wk_rank - 1][0] == sizeof(float);
}

/* Combines all accumulators of one result. */
static void join(struct part *part)
{
    size_t step = part->pt_run->rn_class == SIM_CLASS_COMPLEX_DOUBLE ? 2 : 1;
    while (part->pt_count > 1) {
        size_t half = part->pt_count / 2;
        part->pt_count -= half;
        combine(part, &part->pt_into, part->pt_into.bv_doubles + part->pt_count * step, half);
    }
}

/* Adds a line of elements. Each of them is the first of a block that goes into neighbouring results. */
static aclError add_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct part *part = context;
    union sim_block_values loaded;
    for (int64_t i = 0; i < length; i++) {
        load(part, &loaded, places[0] + i * strides[0], part->pt_stride, part->pt_count);
        combine(part, &part->pt_into, &loaded, part->pt_count);
    }
    return ACL_SUCCESS;
}

/* One pass over the elements of one result, which begin at `self`, or of `count` neighbouring results. */
static void pass(struct part *part, enum sim_fold fold, bool maps, char *self, size_t count)
{
    const struct run *run = part->pt_run;
    part->pt_fold = fold;
    part->pt_maps = maps && run->rn_class == SIM_CLASS_DOUBLE;
    bool floats = folds_floats(part);
    begin(part, floats ? 1 : count);
    sim_walk_run(&run->rn_reduced, &self, floats ? fold_floats : run->rn_beside ? add_lines : add_line, part);
    if (!run->rn_beside)
        join(part);
}

static void pass_all(struct part *part, char *self, size_t count)
{
    const struct run *run = part->pt_run;
    const struct sim_reduction *reduction = run->rn_reduction;
    if (reduction->re_centre != NULL) {
        pass(part, reduction->re_first, false, self, count);
        for (size_t i = 0; i < part->pt_count; i++)
            part->pt_centres.bv_doubles[i] =
                reduction->re_centre(part->pt_into.bv_doubles[i], (double)run->rn_elements);
    }
    pass(part, reduction->re_fold, reduction->re_map != NULL, self, count);
}

static void reduce_each(char *const *places, const int64_t *strides, int64_t length, const void *context, uint32_t seat)
{
    const struct run *run = context;
    struct part part;
    size_t count = sim_element_block(0, sim_walk_length(&run->rn_reduced));
    (void)seat;
    part.pt_run = run;
    for (int64_t i = 0; i < length; i++) {
        pass_all(&part, places[1] + i * strides[1], count);
        finish(&part, places[0] + i * strides[0], 0);
    }
}

static void reduce_beside(char *const *places, const int64_t *strides, int64_t length, const void *context,
                          uint32_t seat)
{
    const struct run *run = context;
    struct part part;
    (void)seat;
    part.pt_run = run;
    part.pt_stride = strides[1] / (int64_t)sim_element_size(run->rn_self);
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        pass_all(&part, places[1] + done * strides[1], sim_element_block(done, length));
        finish(&part, places[0] + done * strides[0], strides[0]);
    }
}

/* Replaces the strides and the address of an empty tensor, which may be invalid. */
static aclsimTensor without_elements(const aclsimTensor *self, const aclsimTensor *out)
{
    aclsimTensor view = *self;
    view.data = out->data;
    for (uint32_t k = 0; k < view.rank; k++)
        view.strides[k] = 0;
    return view;
}

static void measure(struct run *run, const aclsimTensor *self, const struct sim_reduced *reduced)
{
    size_t size = sim_element_size(self->type);
    run->rn_elements = sim_walk_is_empty(self->dims, self->rank) ? 0 : 1;
    run->rn_reduced.wk_places = 1;
    for (uint32_t k = 0; k < self->rank; k++) {
        if (!sim_reduces(reduced, k))
            continue;
        sim_walk_add(&run->rn_reduced, self->dims[k], &self->strides[k], &size);
        if (!sim_length_multiply(&run->rn_elements, self->dims[k]))
            run->rn_elements = INT64_MAX;
    }
    sim_walk_settle(&run->rn_reduced);
}

/* Whether blocks of neighbouring results are better than blocks of the elements of one result: longer, or of the same
 * length and closer together. */
static bool is_beside(const struct sim_walk *kept, const struct sim_walk *reduced)
{
    size_t results = sim_element_block(0, sim_walk_length(kept));
    size_t elements = sim_element_block(0, sim_walk_length(reduced));
    if (results != elements || kept->wk_rank == 0 || reduced->wk_rank == 0)
        return results > elements;
    return llabs(kept->wk_strides[kept->wk_rank - 1][1]) < llabs(reduced->wk_strides[reduced->wk_rank - 1][0]);
}

aclError sim_reduction_run(const aclsimCall *call)
{
    const struct sim_reduction *reduction = call->userData;
    const aclsimTensor *out = call->arguments[reduction->re_out].tensors;
    aclsimTensor self = *call->arguments[0].tensors;
    struct sim_reduced reduced;
    struct run run = {.rn_reduction = reduction, .rn_self = self.type, .rn_out = out->type};
    struct sim_walk kept = {.wk_places = 2};
    if (sim_walk_is_empty(self.dims, self.rank))
        self = without_elements(&self, out);
    const aclsimTensor *tensors[] = {out, &self};
    char *places[] = {out->data, self.data};
    SIM_TRY(find_reduced(call, reduction, &reduced));
    run.rn_type = type_of(call, reduction);
    run.rn_class = sim_reduce_class(run.rn_type);
    measure(&run, &self, &reduced);
    if (reduction->re_option != 0)
        run.rn_option = sim_reduction_option(&call->arguments[reduction->re_option]);
    sim_reduce_walk(&kept, tensors, &reduced);
    run.rn_beside = is_beside(&kept, &run.rn_reduced);
    size_t grain = sim_walk_grain(out, (size_t)run.rn_elements);
    if (run.rn_beside) /* whole blocks */
        grain = grain < SIM_BLOCK ? SIM_BLOCK : grain / SIM_BLOCK * SIM_BLOCK;
    sim_walk_split(&kept, places, grain, run.rn_beside ? reduce_beside : reduce_each, &run);
    return ACL_SUCCESS;
}

double sim_reduction_option(const aclsimArgument *option)
{
    union sim_block_values value;
    if (option->kind == ACLSIM_INTEGER)
        return (double)option->integer;
    if (option->kind == ACLSIM_NUMBER)
        return option->number;
    sim_element_load(&value, SIM_CLASS_DOUBLE, option->scalars->value, option->scalars->type, 0, 1);
    return value.bv_doubles[0];
}

/* ---- two results ---- */

/* The call of one of the two reductions. */
static aclsimCall one_of(const aclsimCall *call, size_t index)
{
    const struct sim_reduction *reductions = call->userData;
    aclsimCall one = *call;
    one.userData = (void *)&reductions[index];
    return one;
}

aclnnStatus sim_reduction_plan_two(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimCall first = one_of(call, 0), second = one_of(call, 1);
    SIM_TRY(sim_reduction_plan(&first, workspace_size));
    return sim_reduction_plan(&second, workspace_size);
}

aclError sim_reduction_run_two(const aclsimCall *call)
{
    const aclsimCall first = one_of(call, 0), second = one_of(call, 1);
    SIM_TRY(sim_reduction_run(&first));
    return sim_reduction_run(&second);
}
