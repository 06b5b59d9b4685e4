/* Operators that move elements: Cat, Flip, Permute, Repeat, Slice, SliceV2 and Stack. All except Cat and Stack copy a
 * view of self to the result bit by bit; these two cast tensors whose type differs from that of the result. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "pointwise.h"
#include "require.h"
#include "walk.h"

/* ---- Permute: self, dims, out ---- */

static aclsimTensor permuted(const aclsimTensor *self, const uint32_t *dims)
{
    aclsimTensor view = *self;
    for (uint32_t i = 0; i < self->rank; i++) {
        view.dims[i] = self->dims[dims[i]];
        view.strides[i] = self->strides[dims[i]];
    }
    return view;
}

static aclnnStatus plan_permute(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *order = &call->arguments[1], *out = &call->arguments[2];
    uint32_t dims[SIM_RANK], rank = self->tensors->rank;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_ARGUMENT(order->count == rank, ACLNN_ERR_PARAM_INVALID, "%s has %llu elements, expected %u, one per dimension",
                 order->name, (unsigned long long)order->count, rank);
    SIM_TRY(sim_require_dims(order, rank, dims));
    aclsimTensor view = permuted(self->tensors, dims);
    return sim_require_shape(out, view.dims, rank, "that of self permuted");
}

static aclError run_permute(const aclsimCall *call)
{
    uint32_t dims[SIM_RANK];
    const aclsimTensor *self = call->arguments[0].tensors;
    SIM_TRY(sim_require_dims(&call->arguments[1], self->rank, dims));
    aclsimTensor view = permuted(self, dims);
    sim_walk_copy(call->arguments[2].tensors, &view);
    return ACL_SUCCESS;
}

/* ---- Flip: self, dims, out ---- */

static aclnnStatus plan_flip(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[2];
    uint32_t dims[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_rank(self, 1, SIM_RANK));
    SIM_TRY(sim_require_dims(&call->arguments[1], self->tensors->rank, dims));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

static aclError run_flip(const aclsimCall *call)
{
    uint32_t dims[SIM_RANK];
    aclsimTensor view = *call->arguments[0].tensors;
    SIM_TRY(sim_require_dims(&call->arguments[1], view.rank, dims));
    for (uint64_t i = 0; i < call->arguments[1].count; i++) {
        int64_t *stride = &view.strides[dims[i]], dim = view.dims[dims[i]];
        if (dim == 1)
            continue; /* a dimension of size 1 may have any stride */
        sim_walk_advance(&view, (dim - 1) * *stride);
        *stride = -*stride;
    }
    sim_walk_copy(call->arguments[2].tensors, &view);
    return ACL_SUCCESS;
}

/* ---- Slice: self, dim, start, end, step, out; SliceV2: self, starts, ends, axes, steps, out ---- */

/* The part that is taken of one dimension. */
struct cut {
    uint32_t cu_dim;
    int64_t cu_start, cu_step, cu_length;
};

static int64_t clamp(int64_t place, int64_t length)
{
    int64_t wrapped = place < 0 ? place + length : place;
    return wrapped < 0 ? 0 : wrapped > length ? length : wrapped;
}

static aclnnStatus find_cut(const aclsimTensor *self, int64_t start, int64_t end, const char *name, int64_t step,
                            struct cut *cut)
{
    int64_t length = self->dims[cut->cu_dim], last = clamp(end, length);
    SIM_ARGUMENT(step > 0, ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 1 or more", name, (long long)step);
    cut->cu_start = clamp(start, length);
    cut->cu_step = step;
    cut->cu_length = last > cut->cu_start ? (last - cut->cu_start - 1) / step + 1 : 0;
    return ACL_SUCCESS;
}

static aclnnStatus find_one(const aclsimCall *call, struct cut *cuts, uint64_t *count)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors;
    *count = 1;
    SIM_TRY(sim_require_dim(&given[1], self->rank, &cuts->cu_dim));
    return find_cut(self, given[2].integer, given[3].integer, given[4].name, given[4].integer, cuts);
}

static aclnnStatus find_many(const aclsimCall *call, struct cut *cuts, uint64_t *count)
{
    const aclsimArgument *given = call->arguments, *axes = &given[3];
    uint32_t dims[SIM_RANK];
    *count = axes->count;
    for (uint32_t i = 1; i <= 4; i++)
        SIM_ARGUMENT(given[i].count == *count, ACLNN_ERR_PARAM_INVALID,
                     "%s has %llu elements, expected %llu, as many as %s",
                     given[i].name, (unsigned long long)given[i].count, (unsigned long long)*count, axes->name);
    SIM_TRY(sim_require_dims(axes, given[0].tensors->rank, dims));
    for (uint64_t i = 0; i < *count; i++) {
        char name[SIM_NAME_BYTES];
        sim_require_name(&given[4], i, name);
        cuts[i].cu_dim = dims[i];
        SIM_TRY(find_cut(given[0].tensors, given[1].integers[i], given[2].integers[i], name, given[4].integers[i],
                         &cuts[i]));
    }
    return ACL_SUCCESS;
}

static aclnnStatus find_cuts(const aclsimCall *call, struct cut *cuts, uint64_t *count)
{
    return call->arguments[1].kind == ACLSIM_INTEGER ? find_one(call, cuts, count) : find_many(call, cuts, count);
}

static aclnnStatus plan_slice(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[5];
    struct cut cuts[SIM_RANK];
    uint64_t count;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_TRY(sim_require_rank(self, 1, SIM_RANK));
    SIM_TRY(find_cuts(call, cuts, &count));
    aclsimTensor view = *self->tensors;
    for (uint64_t i = 0; i < count; i++)
        view.dims[cuts[i].cu_dim] = cuts[i].cu_length;
    return sim_require_shape(out, view.dims, view.rank, "that of the slice");
}

/* A task runs only if the result has elements, so no cut is empty. */
static aclError run_slice(const aclsimCall *call)
{
    struct cut cuts[SIM_RANK];
    uint64_t count;
    aclsimTensor view = *call->arguments[0].tensors;
    SIM_TRY(find_cuts(call, cuts, &count));
    for (uint64_t i = 0; i < count; i++) {
        const struct cut *cut = &cuts[i];
        sim_walk_advance(&view, cut->cu_start * view.strides[cut->cu_dim]);
        view.dims[cut->cu_dim] = cut->cu_length;
        if (cut->cu_length > 1) /* otherwise the product is unused, and may overflow */
            view.strides[cut->cu_dim] *= cut->cu_step;
    }
    sim_walk_copy(call->arguments[5].tensors, &view);
    return ACL_SUCCESS;
}

/* ---- Repeat: self, repeats, out ---- */

/* The documents allow at most four repeated dimensions, and four only if the first is among them. */
static aclnnStatus check_repeated(const aclsimArgument *repeats)
{
    uint32_t repeated = 0, limit = repeats->count != 0 && repeats->integers[0] != 1 ? 4 : 3;
    for (uint64_t i = 0; i < repeats->count; i++)
        repeated += repeats->integers[i] != 1;
    SIM_ARGUMENT(repeated <= limit, ACLNN_ERR_INNER_NULLPTR,
                 "%s has %u elements that are not 1, expected at most %u when %s[0] is %lld", repeats->name, repeated,
                 limit, repeats->name, (long long)repeats->integers[0]);
    return ACL_SUCCESS;
}

static aclnnStatus plan_repeat(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *repeats = &call->arguments[1], *out = &call->arguments[2];
    int64_t dims[SIM_RANK];
    uint32_t rank = self->tensors->rank;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPES_ALL));
    SIM_ARGUMENT(repeats->count >= rank && repeats->count <= SIM_RANK, ACLNN_ERR_PARAM_INVALID,
                 "%s has %llu elements, expected %u (the number of dimensions of %s) to %zu", repeats->name,
                 (unsigned long long)repeats->count, rank, self->name, SIM_RANK);
    uint32_t lead = (uint32_t)repeats->count - rank;
    for (uint32_t i = 0; i < repeats->count; i++) {
        int64_t times = repeats->integers[i], dim = i < lead ? 1 : self->tensors->dims[i - lead];
        SIM_ARGUMENT(times >= 0, ACLNN_ERR_PARAM_INVALID, "%s[%u] is %lld, expected 0 or more", repeats->name, i,
                     (long long)times);
        dims[i] = times;
        SIM_ARGUMENT(sim_length_multiply(&dims[i], dim), ACLNN_ERR_PARAM_INVALID,
                     "%s[%u] is %lld, expected fewer repeats of the %lld elements of %s", repeats->name, i,
                     (long long)times, (long long)dim, self->name);
    }
    SIM_TRY(check_repeated(repeats));
    return sim_require_shape(out, dims, (uint32_t)repeats->count, "that of self repeated");
}

/* Each dimension of the result is walked over as two: the repetition, and the position in it. */
static aclError run_repeat(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[2].tensors;
    size_t size = sim_element_size(self->type), sizes[] = {size, size};
    uint32_t lead = out->rank - self->rank;
    struct sim_walk walk = {.wk_places = 2};
    char *places[] = {out->data, self->data};
    for (uint32_t i = 0; i < out->rank; i++) {
        int64_t dim = i < lead ? 1 : self->dims[i - lead];
        int64_t within[] = {out->strides[i], i < lead ? 0 : self->strides[i - lead]};
        int64_t between[] = {(int64_t)((uint64_t)out->strides[i] * (uint64_t)dim), 0}; /* wraps only where unused */
        sim_walk_add(&walk, call->arguments[1].integers[i], between, sizes);
        sim_walk_add(&walk, dim, within, sizes);
    }
    sim_walk_settle(&walk);
    sim_walk_split(&walk, places, sim_walk_grain(out, 1), sim_walk_copy_piece, &size);
    return ACL_SUCCESS;
}

/* ---- Cat and Stack: tensors, dim, out ---- */

/* An empty tensor of one dimension may be concatenated with tensors of any shape. */
static bool is_nothing(const aclsimTensor *tensor)
{
    return tensor->rank == 1 && tensor->dims[0] == 0;
}

static aclnnStatus require_members(const aclsimArgument *list)
{
    SIM_ARGUMENT(list->count != 0, ACLNN_ERR_PARAM_INVALID, "%s is empty, expected at least one tensor", list->name);
    return ACL_SUCCESS;
}

/* The common type of all tensors, or ACL_DT_UNDEFINED. */
static aclDataType type_of_all(const aclsimArgument *list)
{
    aclDataType type = list->tensors[0].type;
    for (uint64_t i = 1; i < list->count; i++)
        type = list->tensors[i].type == type ? type : sim_element_promote(type, list->tensors[i].type);
    return type;
}

/* The result has a type to which the common type of all tensors can be cast. */
static aclnnStatus check_common_type(const aclsimArgument *list, const aclsimArgument *out)
{
    aclDataType type = type_of_all(list);
    SIM_ARGUMENT(type != ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID,
                 "%s has no common type, expected equal types or types with arithmetic", list->name);
    return type == out->tensors->type
               ? ACL_SUCCESS
               : sim_require_cast("the common type of the tensors", type, "the type of the output", out->tensors->type);
}

/* The tensor whose shape the others must match: the first that is not an empty one of one dimension, otherwise the
 * first of all. */
static aclsimTensor find_model(const aclsimArgument *list)
{
    uint64_t model = 0;
    while (model < list->count && is_nothing(&list->tensors[model]))
        model++;
    return list->tensors[model < list->count ? model : 0];
}

/* Checks member `place` of the list, and adds its length to `whole`. */
static aclnnStatus add_member(const aclsimArgument *list, uint64_t place, uint32_t dim, aclsimTensor *whole)
{
    char name[SIM_NAME_BYTES];
    const aclsimArgument member = sim_require_member(list, place, name);
    int64_t before = whole->dims[dim], more = member.tensors->dims[dim];
    SIM_TRY(sim_require_rank(&member, 1, SIM_RANK));
    SIM_TRY(sim_require_type(&member, SIM_TYPES_ALL));
    if (is_nothing(member.tensors))
        return ACL_SUCCESS;
    SIM_TRY(sim_require_rank(&member, whole->rank, whole->rank));
    whole->dims[dim] = more;
    SIM_TRY(sim_require_shape(&member, whole->dims, whole->rank, "that of the other tensors except along dim"));
    SIM_ARGUMENT(!__builtin_add_overflow(before, more, &whole->dims[dim]), ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is too large in total", dim, list->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan_cat(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *list = &call->arguments[0], *out = &call->arguments[2];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(require_members(list));
    SIM_TRY(sim_require_type(out, SIM_TYPES_ALL));
    aclsimTensor whole = find_model(list);
    SIM_TRY(sim_require_dim(&call->arguments[1], whole.rank, &dim));
    whole.dims[dim] = 0;
    for (uint64_t i = 0; i < list->count; i++)
        SIM_TRY(add_member(list, i, dim, &whole));
    SIM_TRY(sim_require_shape(out, whole.dims, whole.rank, "that of the concatenated tensors"));
    return check_common_type(list, out);
}

static aclnnStatus plan_stack(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *list = &call->arguments[0], *out = &call->arguments[2];
    int64_t dims[SIM_RANK] = {0};
    uint32_t dim = 0;
    (void)workspace_size;
    SIM_TRY(require_members(list));
    SIM_TRY(sim_require_type(out, SIM_TYPES_ALL));
    const aclsimTensor *first = list->tensors;
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(list, i, name);
        SIM_TRY(sim_require_rank(&member, 0, SIM_RANK - 1));
        SIM_TRY(sim_require_type(&member, SIM_TYPES_ALL));
        SIM_TRY(sim_require_shape(&member, first->dims, first->rank, "that of the other tensors"));
    }
    SIM_TRY(sim_require_dim(&call->arguments[1], first->rank + 1, &dim));
    for (uint32_t k = 0; k <= first->rank; k++)
        dims[k] = k == dim ? (int64_t)list->count : first->dims[k < dim ? k : k - 1];
    SIM_TRY(sim_require_shape(out, dims, first->rank + 1, "that of the stacked tensors"));
    return check_common_type(list, out);
}

/* A member is loaded in the class of the common type of all members, and cast from there to the type of the result:
 * beside float32, an integer is rounded to float32 even if the result is double. A common type of half precision has
 * the class of float32, so that only the result is rounded to a half. */
static void cast_block(const struct sim_pointwise *block, const void *context)
{
    const aclDataType through = *(const aclDataType *)context;
    const enum sim_class class = sim_element_carrier(through, block->pw_tensors[0]->type);
    union sim_block_values values;
    if (through == ACL_UINT64 && class == SIM_CLASS_DOUBLE && block->pw_tensors[0]->type != ACL_DOUBLE)
        sim_element_load_odd(&values, block->pw_places[1], block->pw_strides[1], block->pw_count);
    else
        sim_element_load(&values, class, block->pw_places[1], block->pw_tensors[1]->type, block->pw_strides[1],
                         block->pw_count);
    if (class == SIM_CLASS_INTEGER)
        sim_element_wrap(&values, through, block->pw_count);
    sim_element_store(&values, class, block->pw_places[0], block->pw_tensors[0]->type, block->pw_strides[0],
                      block->pw_count);
}

/* Copies a member to its part of the result. */
static void copy_member(const aclsimTensor *part, const aclsimTensor *member, aclDataType through)
{
    if (member->type == part->type) /* the common type, if it can be cast back, holds all its values */
        sim_walk_copy(part, member);
    else
        sim_pointwise_run((const aclsimTensor *[]){part, member}, 2, cast_block, &through);
}

static aclError run_cat(const aclsimCall *call)
{
    const aclsimArgument *list = &call->arguments[0];
    const aclsimTensor *out = call->arguments[2].tensors;
    aclDataType through = type_of_all(list);
    int64_t start = 0;
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[1], out->rank, &dim));
    for (uint64_t i = 0; i < list->count; i++) {
        const aclsimTensor *member = &list->tensors[i];
        if (sim_walk_is_empty(member->dims, member->rank))
            continue;
        aclsimTensor part = *out;
        part.dims[dim] = member->dims[dim];
        if (start != 0)
            sim_walk_advance(&part, start * part.strides[dim]);
        copy_member(&part, member, through);
        start += member->dims[dim];
    }
    return ACL_SUCCESS;
}

static aclError run_stack(const aclsimCall *call)
{
    const aclsimArgument *list = &call->arguments[0];
    const aclsimTensor *out = call->arguments[2].tensors;
    aclDataType through = type_of_all(list);
    uint32_t dim;
    SIM_TRY(sim_require_dim(&call->arguments[1], out->rank, &dim));
    for (uint64_t i = 0; i < list->count; i++) {
        aclsimTensor part = *out;
        if (i != 0)
            sim_walk_advance(&part, (int64_t)i * out->strides[dim]);
        part.rank--;
        for (uint32_t k = dim; k < part.rank; k++) {
            part.dims[k] = out->dims[k + 1];
            part.strides[k] = out->strides[k + 1];
        }
        copy_member(&part, &list->tensors[i], through);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnPermute = {plan_permute, run_permute, NULL, false},
                        sim_kernel_aclnnFlip = {plan_flip, run_flip, NULL, false},
                        sim_kernel_aclnnSlice = {plan_slice, run_slice, NULL, false},
                        sim_kernel_aclnnSliceV2 = {plan_slice, run_slice, NULL, false},
                        sim_kernel_aclnnRepeat = {plan_repeat, run_repeat, NULL, false},
                        sim_kernel_aclnnCat = {plan_cat, run_cat, NULL, false},
                        sim_kernel_aclnnStack = {plan_stack, run_stack, NULL, false};
