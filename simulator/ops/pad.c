/* Operators that add elements around a tensor: ConstantPadNd and the single operator Pad fill them with one value;
 * ReflectionPad1d to 3d, ReplicationPad1d to 3d, CircularPad2d and CircularPad3d, and the other modes of the single
 * operator PadV3 copy them from the tensor. Elements are copied bit by bit. The gradients add up, in double, what each
 * copy of an element received. */
#include "base/fail.h"
#include "operator/op.h"
#include "planes.h"
#include "report.h"
#include "slices.h"
#include "tables.h"
#include "walk.h"

/* How many elements are added before and after the elements of each dimension; negative numbers remove elements. */
struct padding {
    int64_t pd_before[SIM_RANK], pd_after[SIM_RANK];
};

/* Reads pairs of numbers, which begin with the last dimension. The dimensions without a pair are not padded. */
static struct padding read_pairs(const aclsimArgument *pads, uint32_t rank)
{
    struct padding padding = {{0}, {0}};
    for (uint32_t i = 0; 2 * i < pads->count; i++) {
        padding.pd_before[rank - 1 - i] = pads->integers[2 * i];
        padding.pd_after[rank - 1 - i] = pads->integers[2 * i + 1];
    }
    return padding;
}

/* Finds the dimensions of the result. */
static aclnnStatus find_dims(const aclsimArgument *given, const struct padding *padding, int64_t *dims)
{
    const aclsimTensor *self = given[0].tensors;
    for (uint32_t k = 0; k < self->rank; k++) {
        int64_t before = padding->pd_before[k], after = padding->pd_after[k];
        bool fits = !__builtin_add_overflow(self->dims[k], before, &dims[k]) &&
                    !__builtin_add_overflow(dims[k], after, &dims[k]) && dims[k] >= 0;
        SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                     "%s has %lld and %lld for dimension %u of %s, expected to leave 0 or more of its %lld elements",
                     given[1].name, (long long)before, (long long)after, k, given[0].name, (long long)self->dims[k]);
    }
    return ACL_SUCCESS;
}

static int64_t below_zero(int64_t number)
{
    return number < 0 ? number : 0;
}

/* The elements of a dimension that the padding leaves; not positive: none. find_dims has found that the sum fits. */
static int64_t length_left(const aclsimTensor *self, const struct padding *padding, uint32_t dim)
{
    return self->dims[dim] + below_zero(padding->pd_before[dim]) + below_zero(padding->pd_after[dim]);
}

/* Removes the elements for which the padding is negative, and sets it to 0. Returns false if none are left. */
static bool crop(aclsimTensor *self, struct padding *padding)
{
    for (uint32_t k = 0; k < self->rank; k++) {
        int64_t *before = &padding->pd_before[k], *after = &padding->pd_after[k];
        self->dims[k] = length_left(self, padding, k);
        if (self->dims[k] <= 0)
            return false;
        if (*before < 0)
            sim_walk_advance(self, -*before * self->strides[k]);
        *before = *before < 0 ? 0 : *before;
        *after = *after < 0 ? 0 : *after;
    }
    return true;
}

/* ---- padding with a value; NULL: 0 ---- */

static void pad_with(const aclsimTensor *out, const aclsimTensor *self, struct padding *padding, const void *value)
{
    aclsimTensor inner = *out, view = *self;
    sim_walk_fill(out, value);
    if (!crop(&view, padding))
        return;
    for (uint32_t k = 0; k < inner.rank; k++) {
        if (padding->pd_before[k] != 0)
            sim_walk_advance(&inner, padding->pd_before[k] * inner.strides[k]);
        inner.dims[k] = view.dims[k];
    }
    sim_walk_copy(&inner, &view);
}

/* ---- ConstantPadNd: self, pad, value, out ---- */

static aclnnStatus plan_constant(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *pad = &given[1], *value = &given[2];
    const aclsimTensor *self = given[0].tensors;
    aclDataType type = sim_element_type(value);
    int64_t dims[SIM_RANK] = {0};
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[3], SIM_TYPES_ALL));
    SIM_TRY(sim_require_type(value, SIM_TYPES_ALL));
    SIM_ARGUMENT(sim_element_promote_scalar(self->type, type) != ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s and %s is %s, expected types with a common type", given[0].name,
                 sim_element_name(self->type), value->name, sim_element_name(type));
    if (pad->count % 2 != 0)
        sim_report_count(pad->name, 2);
    SIM_ARGUMENT(pad->count % 2 == 0 && pad->count <= 2 * (uint64_t)self->rank, ACLNN_ERR_PARAM_INVALID,
                 "%s has %llu numbers, expected an even number up to %u, two for each dimension of %s", pad->name,
                 (unsigned long long)pad->count, 2 * self->rank, given[0].name);
    const struct padding padding = read_pairs(pad, self->rank);
    SIM_TRY(find_dims(given, &padding, dims));
    return sim_require_shape(&given[3], dims, self->rank, "that of self with the padding");
}

static aclError run_constant(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[3].tensors;
    const aclsimScalar *value = given[2].scalars;
    struct padding padding = read_pairs(&given[1], self->rank);
    enum sim_class class = sim_element_carrier(value->type, self->type);
    union sim_block_values block;
    _Alignas(16) char bytes[16];
    sim_element_load(&block, class, value->value, value->type, 0, 1);
    sim_element_store(&block, class, bytes, self->type, 0, 1);
    pad_with(out, self, &padding, bytes);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnConstantPadNd = {plan_constant, run_constant, NULL, false};

/* ---- Pad: x, pads (before and after each dimension), value (0 if absent), y ---- */

static aclnnStatus plan_pad(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x = &call->arguments[0], *pads = &call->arguments[1], *value = &call->arguments[2];
    int64_t dims[SIM_RANK];
    uint32_t rank = x->tensors->rank;
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, &call->arguments[3], SIM_TYPES_ALL));
    SIM_TRY(sim_require_count(pads, 2 * (uint64_t)rank));
    if (value->present) {
        SIM_TRY(sim_require_same_type(value, x->tensors->type, x->name));
        SIM_TRY(sim_require_one(value));
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t before = pads->integers[2 * i], after = pads->integers[2 * i + 1];
        bool fits = before >= 0 && after >= 0 && !__builtin_add_overflow(before, after, &dims[i]) &&
                    !__builtin_add_overflow(dims[i], x->tensors->dims[i], &dims[i]);
        SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                     "%s has %lld and %lld for dimension %u, expected 0 or more", pads->name, (long long)before,
                     (long long)after, i);
    }
    return sim_require_shape(&call->arguments[3], dims, rank, "that of x with the padding");
}

/* Reads pairs of numbers, one for each dimension. */
static struct padding read_all(const aclsimArgument *pads)
{
    struct padding padding = {{0}, {0}};
    for (uint64_t i = 0; 2 * i < pads->count; i++) {
        padding.pd_before[i] = pads->integers[2 * i];
        padding.pd_after[i] = pads->integers[2 * i + 1];
    }
    return padding;
}

static aclError run_pad(const aclsimCall *call)
{
    const aclsimTensor *x = call->arguments[0].tensors;
    const aclsimArgument *value = &call->arguments[2];
    struct padding padding = read_all(&call->arguments[1]);
    pad_with(call->arguments[3].tensors, x, &padding, value->present ? value->tensors->data : NULL);
    return ACL_SUCCESS;
}

static const struct sim_kernel pad_kernel = {plan_pad, run_pad, NULL, false};
static const struct sim_parameter pad_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                      {"pads", ACLSIM_INTEGERS, 0, false},
                                                      {"value", ACLSIM_TENSOR, ACLSIM_IN, true},
                                                      {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_pad_row = SIM_ROW("Pad", SIM_TASK_VECTOR, pad_parameters, &pad_kernel);

/* ---- ReflectionPad, ReplicationPad and CircularPad: self, padding, out ---- */

enum edge { EDGE_REFLECTS, EDGE_REPEATS, EDGE_CIRCLES };

/* How the last ed_dims dimensions are padded. Negative padding removes elements before the others are padded. */
struct edges {
    enum edge ed_edge;
    uint32_t ed_dims;
    uint64_t ed_types;
};

/* Among the dimensions of self, only the first of ed_dims + 2 may be empty. Except where the last element is repeated,
 * a dimension must have more elements than are added at one end. */
static aclnnStatus check_edges(const aclsimArgument *given, const struct edges *edges, const struct padding *padding)
{
    const aclsimTensor *self = given[0].tensors;
    for (uint32_t k = self->rank - edges->ed_dims - 1; k < self->rank; k++) {
        int64_t before = padding->pd_before[k], after = padding->pd_after[k], left = length_left(self, padding, k);
        SIM_ARGUMENT(left > 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s has %lld elements, expected more than the %lld that %s removes", k,
                     given[0].name, (long long)self->dims[k], (long long)(self->dims[k] - left), given[1].name);
        SIM_ARGUMENT(edges->ed_edge == EDGE_REPEATS || (before < left && after < left), ACLNN_ERR_PARAM_INVALID,
                     "%s has %lld and %lld for dimension %u of %s, expected less than %lld, its number of elements",
                     given[1].name, (long long)before, (long long)after, k, given[0].name, (long long)left);
    }
    return ACL_SUCCESS;
}

/* `given`: self and the padding. */
static aclnnStatus check_padded(const aclsimArgument *given, const struct edges *edges, const aclsimArgument *padded)
{
    int64_t dims[SIM_RANK] = {0};
    SIM_TRY(sim_require_types(&given[0], padded, edges->ed_types));
    SIM_TRY(sim_require_rank(&given[0], edges->ed_dims + 1, edges->ed_dims + 2));
    SIM_TRY(sim_require_count(&given[1], 2 * (uint64_t)edges->ed_dims));
    const struct padding padding = read_pairs(&given[1], given[0].tensors->rank);
    SIM_TRY(find_dims(given, &padding, dims));
    SIM_TRY(check_edges(given, edges, &padding));
    return sim_require_shape(padded, dims, given[0].tensors->rank, "that of self with the padding");
}

static aclnnStatus plan_edges(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_padded(call->arguments, call->userData, &call->arguments[2]);
}

/* A part of a dimension of the result: its first index and its length, and the elements of self that it gets. */
struct segment {
    int64_t sg_to, sg_length, sg_from, sg_step;
};

enum { BEFORE, WITHIN, AFTER, SEGMENTS };

static struct segment segment_of(enum edge edge, unsigned which, int64_t length, int64_t before, int64_t after)
{
    static const int64_t steps[] = {[EDGE_REFLECTS] = -1, [EDGE_REPEATS] = 0, [EDGE_CIRCLES] = 1};
    const int64_t firsts[] = {[EDGE_REFLECTS] = before, [EDGE_REPEATS] = 0, [EDGE_CIRCLES] = length - before};
    const int64_t lasts[] = {[EDGE_REFLECTS] = length - 2, [EDGE_REPEATS] = length - 1, [EDGE_CIRCLES] = 0};
    if (which == BEFORE)
        return (struct segment){0, before, firsts[edge], steps[edge]};
    if (which == AFTER)
        return (struct segment){before + length, after, lasts[edge], steps[edge]};
    return (struct segment){before, length, 0, 1};
}

/* Narrows both views to a segment of a dimension. Returns false if it has no elements. */
static bool narrow(aclsimTensor *to, aclsimTensor *from, uint32_t dim, const struct segment *segment)
{
    if (segment->sg_length == 0)
        return false;
    if (segment->sg_to != 0)
        sim_walk_advance(to, segment->sg_to * to->strides[dim]);
    if (segment->sg_from != 0)
        sim_walk_advance(from, segment->sg_from * from->strides[dim]);
    to->dims[dim] = from->dims[dim] = segment->sg_length;
    from->strides[dim] = segment->sg_length == 1 ? 0 : from->strides[dim] * segment->sg_step;
    return true;
}

/* Pads the dimensions from `first` on. Each has three segments; each combination of these is a block that is copied by
 * itself. */
static void pad_edges(const aclsimTensor *out, const aclsimTensor *self, const struct padding *padding, enum edge edge,
                      uint32_t first)
{
    unsigned blocks = 1;
    for (uint32_t k = first; k < self->rank; k++)
        blocks *= SEGMENTS;
    for (unsigned block = 0; block < blocks; block++) {
        aclsimTensor to = *out, from = *self;
        unsigned rest = block;
        bool filled = true;
        for (uint32_t k = first; k < self->rank && filled; k++, rest /= SEGMENTS) {
            const struct segment segment = segment_of(edge, rest % SEGMENTS, self->dims[k], padding->pd_before[k],
                                                      padding->pd_after[k]);
            filled = narrow(&to, &from, k, &segment);
        }
        if (filled)
            sim_walk_copy(&to, &from);
    }
}

static aclError run_edges(const aclsimCall *call)
{
    const struct edges *edges = call->userData;
    aclsimTensor self = *call->arguments[0].tensors;
    struct padding padding = read_pairs(&call->arguments[1], self.rank);
    crop(&self, &padding);
    pad_edges(call->arguments[2].tensors, &self, &padding, edges->ed_edge, self.rank - edges->ed_dims);
    return ACL_SUCCESS;
}

#define COPIED (SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL)
#define CIRCLED (SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_INT32))

#define EDGES(name, form, ...)                                                                                         \
    static const struct edges edges_##name = {__VA_ARGS__};                                                            \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_##form, run_##form, (void *)&edges_##name, false};

EDGES(ReflectionPad1d, edges, EDGE_REFLECTS, 1, SIM_TYPES_ARITHMETIC)
EDGES(ReflectionPad2d, edges, EDGE_REFLECTS, 2, SIM_TYPES_ARITHMETIC)
EDGES(ReflectionPad3d, edges, EDGE_REFLECTS, 3, SIM_TYPES_ARITHMETIC)
EDGES(ReplicationPad1d, edges, EDGE_REPEATS, 1, COPIED)
EDGES(ReplicationPad2d, edges, EDGE_REPEATS, 2, COPIED)
EDGES(ReplicationPad3d, edges, EDGE_REPEATS, 3, COPIED)
EDGES(CircularPad2d, edges, EDGE_CIRCLES, 2, CIRCLED)
EDGES(CircularPad3d, edges, EDGE_CIRCLES, 3, CIRCLED)

/* ---- the gradients of these: gradOutput, self, padding, gradInput ---- */

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *self = &given[1], *gradient = &given[3];
    (void)workspace_size;
    SIM_TRY(check_padded(self, call->userData, &given[0]));
    SIM_TRY(sim_require_same_type(gradient, self->tensors->type, self->name));
    return sim_require_shape(gradient, self->tensors->dims, self->tensors->rank, "that of self");
}

/* A complex tensor as one of floats or doubles; its first dimension selects the real or the imaginary parts. */
static aclsimTensor parts_of(const aclsimTensor *tensor)
{
    if (!sim_element_is(tensor->type, SIM_TYPES_COMPLEX))
        return *tensor;
    aclsimTensor parts = {.data = tensor->data, .dims = {2}, .strides = {1}, .rank = tensor->rank + 1};
    parts.type = tensor->type == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE;
    for (uint32_t k = 0; k < tensor->rank; k++) {
        parts.dims[k + 1] = tensor->dims[k];
        parts.strides[k + 1] = 2 * tensor->strides[k];
    }
    return parts;
}

/* The index of the element of a dimension of `length` elements that was copied to an index of the padded dimension. */
static int64_t source_of(enum edge edge, int64_t index, int64_t length, int64_t before, int64_t after)
{
    const int64_t start = -below_zero(before), left = length - start + below_zero(after);
    const int64_t place = index - (before > 0 ? before : 0);
    if (place >= 0 && place < left)
        return start + place;
    if (edge == EDGE_REFLECTS)
        return start + (place < 0 ? -place : 2 * (left - 1) - place);
    if (edge == EDGE_CIRCLES)
        return start + (place < 0 ? place + left : place - left);
    return start + (place < 0 ? 0 : left - 1);
}

/* The images of the call: gradOutput and gradInput. */
static aclError add_gradients(const aclsimCall *call, struct sim_planes *planes)
{
    const struct edges *edges = call->userData;
    const struct padding padding = read_pairs(&call->arguments[2], SIM_DIRECTIONS);
    const int64_t *from = planes[0].pl_dims, *to = planes[1].pl_dims;
    int64_t place[SIM_DIRECTIONS], source[SIM_DIRECTIONS];
    for (int64_t i = 0; i < planes[0].pl_count * planes[0].pl_size; i++) {
        int64_t rest = i;
        for (int k = SIM_DIRECTIONS - 1; k >= 0; k--) {
            place[k] = rest % from[k];
            rest /= from[k];
            source[k] = source_of(edges->ed_edge, place[k], to[k], padding.pd_before[k], padding.pd_after[k]);
        }
        planes[1].pl_values[rest * planes[1].pl_size + (source[0] * to[1] + source[1]) * to[2] + source[2]] +=
            planes[0].pl_values[i];
    }
    return ACL_SUCCESS;
}

static aclError run_gradient(const aclsimCall *call)
{
    const struct edges *edges = call->userData;
    const aclsimArgument *given = call->arguments;
    const aclsimTensor tensors[] = {parts_of(given[0].tensors), parts_of(given[3].tensors)};
    aclsimArgument images[] = {given[0], given[3], given[2]};
    images[0].tensors = &tensors[0];
    images[1].tensors = &tensors[1];
    const aclsimCall sums = {.name = call->name, .arguments = images, .argumentCount = 3, .userData = call->userData};
    if (sim_walk_is_empty(tensors[1].dims, tensors[1].rank))
        return ACL_SUCCESS;
    return sim_planes_run(&sums, edges->ed_dims, add_gradients);
}

#define DERIVED (SIM_TYPES_FLOAT | SIM_TYPES_COMPLEX)

EDGES(ReflectionPad1dBackward, gradient, EDGE_REFLECTS, 1, DERIVED)
EDGES(ReflectionPad2dBackward, gradient, EDGE_REFLECTS, 2, DERIVED)
EDGES(ReflectionPad3dBackward, gradient, EDGE_REFLECTS, 3, DERIVED)
EDGES(ReplicationPad1dBackward, gradient, EDGE_REPEATS, 1, DERIVED)
EDGES(ReplicationPad2dBackward, gradient, EDGE_REPEATS, 2, DERIVED)
EDGES(ReplicationPad3dBackward, gradient, EDGE_REPEATS, 3, DERIVED)
EDGES(CircularPad2dBackward, gradient, EDGE_CIRCLES, 2, SIM_TYPES_SINGLE)
EDGES(CircularPad3dBackward, gradient, EDGE_CIRCLES, 3, SIM_TYPES_SINGLE)

/* ---- PadV3: x, pads (before and after each dimension), mode (enum edge), y ---- */

/* The most elements that can be added at one end of a dimension of `length` elements. */
static int64_t most_added(enum edge edge, int64_t length)
{
    if (edge == EDGE_REFLECTS)
        return length > 0 ? length - 1 : 0;
    return edge == EDGE_CIRCLES || length == 0 ? length : INT64_MAX;
}

static aclnnStatus check_around(const aclsimCall *call, const aclsimArgument *x, const aclsimArgument *padded,
                                uint64_t types)
{
    const aclsimArgument *pads = &call->arguments[1], *mode = &call->arguments[2];
    const uint32_t rank = x->tensors->rank;
    int64_t dims[SIM_RANK] = {0};
    SIM_TRY(sim_require_types(x, padded, types));
    SIM_TRY(sim_require_count(pads, 2 * (uint64_t)rank));
    SIM_ARGUMENT(mode->integer >= EDGE_REFLECTS && mode->integer <= EDGE_CIRCLES, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected %d to %d", mode->name, (long long)mode->integer, EDGE_REFLECTS, EDGE_CIRCLES);
    for (uint32_t i = 0; i < rank; i++) {
        int64_t before = pads->integers[2 * i], after = pads->integers[2 * i + 1], length = x->tensors->dims[i];
        int64_t most = most_added((enum edge)mode->integer, length);
        bool fits = before >= 0 && before <= most && after >= 0 && after <= most &&
                    !__builtin_add_overflow(before, after, &dims[i]) &&
                    !__builtin_add_overflow(dims[i], length, &dims[i]);
        SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                     "%s has %lld and %lld for dimension %u of %s, expected 0 to %lld in this mode", pads->name,
                     (long long)before, (long long)after, i, x->name, (long long)most);
    }
    return sim_require_shape(padded, dims, rank, "that of x with the padding");
}

static aclnnStatus plan_around(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_around(call, &call->arguments[0], &call->arguments[3], SIM_TYPES_ALL);
}

static aclError run_around(const aclsimCall *call)
{
    const struct padding padding = read_all(&call->arguments[1]);
    pad_edges(call->arguments[3].tensors, call->arguments[0].tensors, &padding, (enum edge)call->arguments[2].integer,
              0);
    return ACL_SUCCESS;
}

static const struct sim_kernel around_kernel = {plan_around, run_around, NULL, false};
static const struct sim_parameter around_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"pads", ACLSIM_INTEGERS, 0, false},
                                                         {"mode", ACLSIM_INTEGER, 0, false},
                                                         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_pad_edges_row = SIM_ROW("PadV3", SIM_TASK_VECTOR, around_parameters, &around_kernel);

/* ---- PadV3Grad: the same arguments, of which x is the gradient of the padded tensor ---- */

static aclnnStatus plan_around_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_around(call, &call->arguments[3], &call->arguments[0], SIM_TYPES_SINGLE);
}

static aclError run_around_gradient(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimTensor *from = call->arguments[0].tensors, *to = call->arguments[3].tensors;
    const struct padding padding = read_all(&call->arguments[1]);
    const enum edge edge = (enum edge)call->arguments[2].integer;
    const size_t count = sim_slices_extent(from, 0, from->rank);
    double *values, *sums;
    SIM_TRY(sim_lists_load(lists, &call->arguments[0], &values));
    SIM_TRY(sim_lists_take(lists, sim_slices_extent(to, 0, to->rank), &sums));
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, place = 0, step = 1;
        for (uint32_t k = from->rank; k-- != 0; step *= (size_t)to->dims[k]) {
            const int64_t index = (int64_t)(rest % (size_t)from->dims[k]);
            rest /= (size_t)from->dims[k];
            place += step * (size_t)source_of(edge, index, to->dims[k], padding.pd_before[k], padding.pd_after[k]);
        }
        sums[place] += values[i];
    }
    sim_lists_store(&call->arguments[3], sums);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind around_gradient_kind = {run_around_gradient};
static const struct sim_kernel around_gradient_kernel = {plan_around_gradient, sim_lists_run,
                                                         (void *)&around_gradient_kind, false};

struct sim_row sim_op_pad_edges_grad_row =
    SIM_ROW("PadV3Grad", SIM_TASK_VECTOR, around_parameters, &around_gradient_kernel);
