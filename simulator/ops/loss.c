/* Elementwise losses and their gradients: a formula, and a reduction of its values. Elements are computed in double and
 * rounded once; the loss of int64 tensors is computed in integers. At the ends of a range, and for NaN, the formula is
 * that of PyTorch. */
#include "loss.h"

#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include <math.h>

/* The tensors of a schema, in the order of their parameters; losses have no gradient. */
enum { GRADIENT, SELF, TARGET, WEIGHT, POSITIVE_WEIGHT, SLOTS };
#define OUT SLOTS /* in sets of slots */

#define SLOT(slot) (1u << (slot))
#define INPUTS_ALIKE (SLOT(TARGET) | SLOT(WEIGHT) | SLOT(POSITIVE_WEIGHT))
#define ALL_ALIKE (INPUTS_ALIKE | SLOT(GRADIENT) | SLOT(OUT))

/* `from` has a block per slot; n is the number that follows the reduction. */
typedef void loss_func(union sim_block_values *restrict to, const union sim_block_values *const *from, double n,
                       size_t count);

struct loss {
    uint64_t lo_types;
    unsigned lo_alike;    /* slots that must have the type of self; a result of another type is cast */
    bool lo_is_gradient;  /* the first tensor is the gradient of the output */
    size_t lo_as;         /* the slot whose shape a gradient has; 0: the shape to which its inputs are broadcast */
    bool lo_natural;      /* the number must be 0 or more */
    bool lo_by_batch;     /* there is a fourth reduction, the sum divided by the size of dimension 0 */
    loss_func *lo_run;
    loss_func *lo_run_integers; /* for int64; NULL: lo_run */
};

/* ---- parsing a call ---- */

struct loss_call {
    const struct loss *lc_loss;
    const aclsimArgument *lc_in[SLOTS]; /* NULL: absent */
    size_t lc_end;                      /* the slots of the schema end here */
    const aclsimArgument *lc_out, *lc_reduction, *lc_number;
};

static struct loss_call parse(const aclsimCall *call)
{
    struct loss_call parsed = {.lc_loss = call->userData};
    size_t slot = parsed.lc_loss->lo_is_gradient ? GRADIENT : SELF;
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (argument->kind != ACLSIM_TENSOR && parsed.lc_reduction == NULL)
            parsed.lc_reduction = argument;
        else if (argument->kind != ACLSIM_TENSOR)
            parsed.lc_number = argument;
        else if (argument->direction & ACLSIM_OUT)
            parsed.lc_out = argument;
        else if (slot < SLOTS)
            parsed.lc_in[slot++] = argument->present ? argument : NULL;
    }
    parsed.lc_end = slot;
    return parsed;
}

static double number_of(const struct loss_call *parsed)
{
    const aclsimArgument *number = parsed->lc_number;
    return number == NULL ? 0 : number->kind == ACLSIM_INTEGER ? (double)number->integer : number->number;
}

/* The shape to which self and target are broadcast, if that is possible. */
static aclsimTensor common_shape(const struct loss_call *parsed)
{
    const aclsimTensor *self = parsed->lc_in[SELF]->tensors, *target = parsed->lc_in[TARGET]->tensors;
    const aclsimTensor *longer = self->rank < target->rank ? target : self, *other = longer == self ? target : self;
    aclsimTensor shape = {.data = self->data, .type = self->type, .rank = longer->rank};
    uint32_t missing = longer->rank - other->rank;
    for (uint32_t k = 0; k < shape.rank; k++)
        shape.dims[k] = k < missing || longer->dims[k] != 1 ? longer->dims[k] : other->dims[k - missing];
    return shape;
}

static aclDataType common_type(const struct loss_call *parsed)
{
    aclDataType met = parsed->lc_in[SELF]->tensors->type;
    for (size_t slot = 0; slot < SLOTS; slot++)
        if (parsed->lc_in[slot] != NULL)
            met = sim_element_promote(met, parsed->lc_in[slot]->tensors->type);
    return met;
}

/* ---- the first phase ---- */

aclnnStatus sim_loss_check_reduction(const aclsimArgument *reduction, int count)
{
    SIM_ARGUMENT(reduction->integer >= 0 && reduction->integer < count, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 0 to %d", reduction->name, (long long)reduction->integer, count - 1);
    return ACL_SUCCESS;
}

static aclnnStatus check_types(const struct loss_call *parsed)
{
    const struct loss *loss = parsed->lc_loss;
    const aclsimArgument *self = parsed->lc_in[SELF], *out = parsed->lc_out;
    SIM_TRY(sim_require_type(self, loss->lo_types));
    for (size_t slot = 0; slot < SLOTS; slot++) {
        if (parsed->lc_in[slot] == NULL)
            continue;
        SIM_TRY(sim_require_type(parsed->lc_in[slot], loss->lo_types));
        if (loss->lo_alike & SLOT(slot))
            SIM_TRY(sim_require_same_type(parsed->lc_in[slot], self->tensors->type, self->name));
    }
    SIM_TRY(sim_require_type(out, loss->lo_types));
    if (loss->lo_alike & SLOT(OUT)) {
        const aclsimArgument *like = parsed->lc_in[loss->lo_as == TARGET ? TARGET : SELF];
        return sim_require_same_type(out, like->tensors->type, like->name);
    }
    return sim_require_cast("the result", common_type(parsed), "the type of the output", out->tensors->type);
}

static aclnnStatus check_shapes(const struct loss_call *parsed)
{
    const aclsimArgument *inputs[SLOTS], *out = parsed->lc_out;
    const size_t as = parsed->lc_loss->lo_as;
    size_t count = 0;
    for (size_t slot = 0; slot < SLOTS; slot++)
        if (parsed->lc_in[slot] != NULL)
            inputs[count++] = parsed->lc_in[slot];
    if (!parsed->lc_loss->lo_is_gradient) {
        const aclsimTensor shape = common_shape(parsed);
        const aclsimArgument common = {.name = "the result", .kind = ACLSIM_TENSOR, .tensors = &shape};
        SIM_TRY(sim_pointwise_check_spread(&common, inputs, count));
        if (parsed->lc_reduction->integer != SIM_LOSS_NONE)
            return sim_require_one(out);
        return sim_require_shape(out, shape.dims, shape.rank, "that of self and target together");
    }
    if (as == 0)
        return sim_pointwise_check(out, inputs, count);
    const aclsimTensor *like = parsed->lc_in[as]->tensors;
    SIM_TRY(sim_require_shape(out, like->dims, like->rank, as == SELF ? "that of self" : "that of target"));
    return sim_pointwise_check_spread(out, inputs, count);
}

static aclnnStatus plan_loss(const aclsimCall *call, uint64_t *workspace_size)
{
    struct loss_call parsed = parse(call);
    double number = number_of(&parsed);
    (void)workspace_size;
    SIM_TRY(check_types(&parsed));
    SIM_TRY(sim_loss_check_reduction(parsed.lc_reduction,
                                     parsed.lc_loss->lo_by_batch ? SIM_LOSS_REDUCTIONS : SIM_LOSS_BATCH_MEAN));
    SIM_ARGUMENT(!parsed.lc_loss->lo_natural || number >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more",
                 parsed.lc_number->name, number);
    return check_shapes(&parsed);
}

/* ---- the second phase ---- */

struct sums {
    double su_doubles;
    uint64_t su_integers; /* wraps */
};

/* What run_block needs; the same for all blocks of a call. */
struct job {
    loss_func *jo_run;
    enum sim_class jo_class;
    size_t jo_tensors[SLOTS]; /* which tensor of the block a slot is; 0: not in the schema */
    double jo_number;
    double jo_divisor; /* of gradients */
    struct sums *jo_sums; /* values are added to these; NULL: they are stored */
};

static void add_block(const struct job *job, const union sim_block_values *block, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (job->jo_class == SIM_CLASS_INTEGER)
            job->jo_sums->su_integers += block->bv_bits[i];
        else
            job->jo_sums->su_doubles += block->bv_doubles[i];
}

static void run_block(const struct sim_pointwise *block, const void *context)
{
    const struct job *job = context;
    union sim_block_values loaded[SLOTS], result;
    const union sim_block_values *from[SLOTS];
    for (size_t slot = 0; slot < SLOTS; slot++) {
        size_t tensor = job->jo_tensors[slot];
        from[slot] = &loaded[tensor == 0 ? SELF : slot];
        if (tensor != 0)
            sim_element_load(&loaded[slot], job->jo_class, block->pw_places[tensor], block->pw_tensors[tensor]->type,
                             block->pw_strides[tensor], block->pw_count);
    }
    job->jo_run(&result, from, job->jo_number, block->pw_count);
    if (job->jo_sums != NULL) {
        add_block(job, &result, block->pw_count);
        return;
    }
    if (job->jo_divisor != 1)
        for (size_t i = 0; i < block->pw_count; i++)
            result.bv_doubles[i] /= job->jo_divisor;
    sim_element_store(&result, job->jo_class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

/* By what a sum is divided; `shape` is that of all values. */
static int64_t divisor_of(const struct loss_call *parsed, const aclsimTensor *shape)
{
    const aclsimTensor *self = parsed->lc_in[SELF]->tensors;
    switch (parsed->lc_reduction->integer) {
    case SIM_LOSS_MEAN:
        return sim_walk_count(shape);
    case SIM_LOSS_BATCH_MEAN:
        return self->rank == 0 ? 1 : self->dims[0];
    default:
        return 1;
    }
}

double sim_loss_load(const void *from, aclDataType type)
{
    union sim_block_values block;
    sim_element_load(&block, SIM_CLASS_DOUBLE, from, type, 0, 1);
    return block.bv_doubles[0];
}

void sim_loss_store(void *to, aclDataType type, double value)
{
    union sim_block_values block;
    block.bv_doubles[0] = value;
    sim_element_store(&block, SIM_CLASS_DOUBLE, to, type, 0, 1);
}

/* The mean of no integers is 0, that of no floats NaN. */
static void store_sum(const struct job *job, int64_t divisor, const aclsimTensor *to)
{
    if (job->jo_class != SIM_CLASS_INTEGER) {
        sim_loss_store(to->data, to->type, job->jo_sums->su_doubles / (double)divisor);
        return;
    }
    union sim_block_values block;
    block.bv_integers[0] = (int64_t)job->jo_sums->su_integers / (divisor == 0 ? 1 : divisor);
    sim_element_store(&block, SIM_CLASS_INTEGER, to->data, to->type, 0, 1);
}

static aclError run_loss(const aclsimCall *call)
{
    static const float unit = 1;
    static const aclsimTensor ones = {.data = (void *)&unit, .type = ACL_FLOAT}; /* in the place of absent weights */
    const struct loss_call parsed = parse(call);
    const struct loss *loss = parsed.lc_loss;
    const aclsimTensor *out = parsed.lc_out->tensors, shape = common_shape(&parsed);
    bool reduces = !loss->lo_is_gradient && parsed.lc_reduction->integer != SIM_LOSS_NONE;
    const aclsimTensor *tensors[SIM_POINTWISE_TENSORS] = {reduces ? &shape : out};
    const int64_t divisor = divisor_of(&parsed, tensors[0]);
    bool fractional = reduces && divisor != 1 && out->type != ACL_INT64; /* the mean of integers as a float */
    bool in_integers = loss->lo_run_integers != NULL && common_type(&parsed) == ACL_INT64 && !fractional;
    struct sums sums = {0, 0};
    struct job job = {.jo_run = in_integers ? loss->lo_run_integers : loss->lo_run,
                      .jo_class = in_integers ? SIM_CLASS_INTEGER : SIM_CLASS_DOUBLE,
                      .jo_number = number_of(&parsed),
                      .jo_divisor = loss->lo_is_gradient ? (double)divisor : 1,
                      .jo_sums = reduces ? &sums : NULL};
    size_t count = 1;
    for (size_t slot = loss->lo_is_gradient ? GRADIENT : SELF; slot < parsed.lc_end; slot++) {
        tensors[count] = parsed.lc_in[slot] == NULL ? &ones : parsed.lc_in[slot]->tensors;
        job.jo_tensors[slot] = count++;
    }
    if (!reduces) {
        sim_pointwise_run(tensors, count, run_block, &job);
        return ACL_SUCCESS;
    }
    sim_pointwise_fold(tensors, count, run_block, &job);
    store_sum(&job, divisor, out);
    return ACL_SUCCESS;
}

/* ---- the formulas: g is the gradient, x self, t the target, w and p the weights, n the number ---- */

#define FORMULA(name, expression)                                                                                      \
    static void name(union sim_block_values *restrict to, const union sim_block_values *const *from, double n,         \
                     size_t count)                                                                                     \
    {                                                                                                                  \
        const double *gs = from[GRADIENT]->bv_doubles, *xs = from[SELF]->bv_doubles, *ts = from[TARGET]->bv_doubles;   \
        const double *ws = from[WEIGHT]->bv_doubles, *ps = from[POSITIVE_WEIGHT]->bv_doubles;                          \
        (void)n;                                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const double g = gs[i], x = xs[i], t = ts[i], w = ws[i], p = ps[i];                                        \
            (void)g, (void)x, (void)t, (void)w, (void)p;                                                               \
            to->bv_doubles[i] = (expression);                                                                          \
        }                                                                                                              \
    }

#define KERNEL(op, formula, types, alike, ...)                                                                         \
    static const struct loss loss_##op = {.lo_types = (types), .lo_alike = (alike), .lo_run = formula, __VA_ARGS__};   \
    const struct sim_kernel sim_kernel_aclnn##op = {plan_loss, run_loss, (void *)&loss_##op, true};

/* ---- of a difference ---- */

FORMULA(square, (x - t) * (x - t))
FORMULA(square_slope, 2 * (x - t) * g)
KERNEL(MseLoss, square, SIM_TYPES_SINGLE, 0, .lo_is_gradient = false)
KERNEL(MseLossOut, square, SIM_TYPES_SINGLE, 0, .lo_is_gradient = false)
KERNEL(MseLossBackward, square_slope, SIM_TYPES_SINGLE, SLOT(GRADIENT) | SLOT(TARGET), .lo_is_gradient = true)

static void distance_of_integers(union sim_block_values *restrict to, const union sim_block_values *const *from,
                                 double n, size_t count)
{
    const int64_t *xs = from[SELF]->bv_integers, *ts = from[TARGET]->bv_integers;
    (void)n;
    for (size_t i = 0; i < count; i++)
        to->bv_bits[i] = xs[i] > ts[i] ? (uint64_t)xs[i] - (uint64_t)ts[i] : (uint64_t)ts[i] - (uint64_t)xs[i];
}

/* The sign of NaN is 0, as in PyTorch. */
FORMULA(distance, fabs(x - t))
FORMULA(distance_slope, g * ((x > t) - (x < t)))
KERNEL(L1Loss, distance, SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT64), 0, .lo_run_integers = distance_of_integers)
KERNEL(L1LossBackward, distance_slope, SIM_TYPES_SINGLE, 0, .lo_is_gradient = true)

/* A parabola for differences below n, and lines beyond. */
static double smooth_distance(double distance, double n)
{
    return distance < n ? 0.5 * distance * distance / n : distance - 0.5 * n;
}

static double smooth_slope(double difference, double n)
{
    if (fabs(difference) >= n && difference != 0)
        return difference > 0 ? 1 : -1;
    return n == 0 ? difference : difference / n;
}

FORMULA(smooth, smooth_distance(fabs(x - t), n))
FORMULA(smooth_gradient, g * smooth_slope(x - t, n))
KERNEL(SmoothL1Loss, smooth, SIM_TYPES_SINGLE, 0, .lo_natural = true)
KERNEL(SmoothL1LossBackward, smooth_gradient, SIM_TYPES_SINGLE, 0, .lo_is_gradient = true, .lo_natural = true)

/* ---- of a product ---- */

/* log(1 + exp(x)) without an overflow. */
static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

FORMULA(soft_margin, softplus(-x * t))
FORMULA(soft_margin_slope, -t * g / (1 + exp(x * t)))
KERNEL(SoftMarginLoss, soft_margin, SIM_TYPES_SINGLE, 0, .lo_is_gradient = false)
KERNEL(SoftMarginLossBackward, soft_margin_slope, SIM_TYPES_SINGLE, 0, .lo_is_gradient = true)

/* ---- of probabilities ---- */

/* So that a probability of 0 for what happened has a finite loss. */
static double log_above_limit(double logarithm)
{
    return logarithm < -100 ? -100 : logarithm;
}

static double slope_of_entropy(double x, double t)
{
    double product = (1 - x) * x;
    return (x - t) / (product < 1e-12 ? 1e-12 : product);
}

FORMULA(entropy, w * ((t - 1) * log_above_limit(log1p(-x)) - t * log_above_limit(log(x))))
FORMULA(entropy_slope, g * slope_of_entropy(x, t) * w)
KERNEL(BinaryCrossEntropy, entropy, SIM_TYPES_SINGLE, ALL_ALIKE, .lo_is_gradient = false)
KERNEL(BinaryCrossEntropyBackward, entropy_slope, SIM_TYPES_SINGLE, ALL_ALIKE, .lo_is_gradient = true,
       .lo_as = SELF)

/* x is the logarithm of p / (1 - p) for a probability p. */
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The slope of the loss by its target. Its logarithms cancel exactly where p is 1. */
static double slope_by_target(double x, double p)
{
    return (x > 0 ? -x : p * -x) + (p - 1) * log1p(exp(-fabs(x)));
}

FORMULA(entropy_of_logits, w * ((1 - t) * x + (1 + (p - 1) * t) * softplus(-x)))
FORMULA(entropy_of_logits_slope, g * w * ((p * t + 1 - t) * sigmoid(x) - p * t))
FORMULA(entropy_of_logits_slope_by_target, g * w * slope_by_target(x, p))
KERNEL(BinaryCrossEntropyWithLogits, entropy_of_logits, SIM_TYPES_SINGLE, ALL_ALIKE, .lo_is_gradient = false)
KERNEL(BinaryCrossEntropyWithLogitsBackward, entropy_of_logits_slope, SIM_TYPES_SINGLE, INPUTS_ALIKE | SLOT(OUT),
       .lo_is_gradient = true, .lo_as = SELF)
KERNEL(BinaryCrossEntropyWithLogitsTargetBackward, entropy_of_logits_slope_by_target, SIM_TYPES_SINGLE, 0,
       .lo_is_gradient = true, .lo_as = SELF)

/* x is a logarithm, and with n, logTarget, so is t. */
static double divergence_of(double x, double t, double n)
{
    return n != 0 ? exp(t) * (t - x) : (t == 0 ? 0 : t * log(t)) - t * x;
}

FORMULA(divergence, divergence_of(x, t, n))
FORMULA(divergence_slope, (n != 0 ? -exp(t) : -t) * g)
KERNEL(KlDiv, divergence, SIM_TYPES_SINGLE, 0, .lo_by_batch = true)
KERNEL(KlDivBackward, divergence_slope, SIM_TYPES_SINGLE, SLOT(OUT), .lo_is_gradient = true, .lo_as = SELF,
       .lo_by_batch = true)

/* The logarithm of a target of 0 is negative infinity, as the documented formula says. */
FORMULA(divergence_slope_by_target, (n != 0 ? exp(t) * (t - x + 1) : log(t) - x + 1) * g)
KERNEL(KlDivTargetBackward, divergence_slope_by_target, SIM_TYPES_SINGLE, SLOT(OUT), .lo_is_gradient = true,
       .lo_as = TARGET, .lo_by_batch = true)
