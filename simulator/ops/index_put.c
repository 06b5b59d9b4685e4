/* Index (self, indices, out) and IndexPutImpl (selfRef, indices, values, accumulate, unsafe), which read and write the
 * elements at lists of indices, as NumPy's self[indices].
 *
 * Each tensor of indices belongs to the next dimension of self. An empty one, which may have the type of self, stands
 * for all of that dimension, or it holds indices and selects nothing: `choose` decides. Tensors of indices are
 * broadcast together. A mask belongs to as many dimensions as it has, and becomes one line of indices for each: the
 * positions of its true elements. Their number is not known in the first phase, so that shapes are checked in the
 * second if there is a mask. The range of indices is always checked. */
#include "base/fail.h"
#include "indices.h"
#include "operator/row.h"
#include "require.h"
#include "tables.h"
#include "update.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES (2 * SIM_RANK) /* the most dimensions of the selected elements */

enum { SELF, LIST, OTHER, ACCUMULATE }; /* other: the result, or the values */

struct selection {
    uint32_t se_count;                 /* how many dimensions are indexed */
    uint32_t se_dims[SIM_RANK];        /* which, in ascending order */
    aclsimTensor se_tensors[SIM_RANK]; /* their indices */
    char se_names[SIM_RANK][SIM_NAME_BYTES];
    uint32_t se_masks;
    void *se_memory[SIM_RANK]; /* lines of indices, one allocation per mask */
    uint32_t se_rank;          /* the common shape of all indices: */
    int64_t se_shape[SIM_RANK];
    uint32_t se_place; /* the dimension of the selected elements where that shape begins */
};

/* ---- collecting indices ---- */

/* Replaces a mask by the positions of its true elements. It is read twice: if another thread changes it meanwhile, the
 * positions still fit into their memory, and are within self. */
static aclError expand_mask(struct selection *selection, const aclsimTensor *mask)
{
    const int64_t elements = sim_walk_count(mask);
    const uint32_t rank = mask->rank;
    int64_t found = 0;
    for (int64_t i = 0; i < elements; i++)
        found += *sim_indices_nth(mask, i) != 0;
    int64_t *memory = calloc((size_t)found * rank + 1, sizeof *memory);
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for the positions of %" PRId64 " elements", found);
    selection->se_memory[selection->se_masks - 1] = memory;
    for (int64_t i = 0, n = 0; i < elements && n < found; i++) {
        if (*sim_indices_nth(mask, i) == 0)
            continue;
        int64_t rest = i;
        for (uint32_t k = rank; k > 0; k--) {
            memory[(k - 1) * found + n] = rest % mask->dims[k - 1];
            rest /= mask->dims[k - 1];
        }
        n++;
    }
    for (uint32_t k = 0; k < rank; k++)
        selection->se_tensors[selection->se_count - rank + k] =
            (aclsimTensor){.data = memory + k * found, .dims = {found}, .strides = {1}, .rank = 1, .type = ACL_INT64};
    return ACL_SUCCESS;
}

static void add_indices(struct selection *selection, uint32_t dim, const aclsimTensor *tensor, const char *name)
{
    const uint32_t at = selection->se_count++;
    selection->se_dims[at] = dim;
    selection->se_tensors[at] = *tensor;
    snprintf(selection->se_names[at], sizeof selection->se_names[at], "%s", name);
}

static bool is_empty(const aclsimTensor *tensor)
{
    return sim_walk_is_empty(tensor->dims, tensor->rank);
}

/* Collects the indices of each dimension. In the first phase a mask stands in place of its indices. `none` has the bits
 * of the empty tensors that select nothing. */
static aclnnStatus collect(const aclsimCall *call, bool expands, uint64_t none, struct selection *selection)
{
    const aclsimArgument *self = &call->arguments[SELF], *list = &call->arguments[LIST];
    const aclsimTensor *tensor = self->tensors;
    uint32_t dim = 0;
    *selection = (struct selection){0};
    for (uint64_t i = 0; i < list->count; i++) {
        const aclsimTensor *indices = &list->tensors[i];
        const bool is_whole = is_empty(indices) && (none >> i & 1) == 0;
        const bool is_mask = !is_whole && indices->type == ACL_BOOL;
        const uint32_t width = is_mask ? indices->rank : 1;
        char name[SIM_NAME_BYTES];
        sim_require_name(list, i, name);
        if (!is_whole || indices->type != tensor->type)
            SIM_TRY(sim_require_type_named(name, indices->type, SIM_TYPES_INDEX | SIM_TYPES_BOOL));
        SIM_ARGUMENT(width != 0, ACLNN_ERR_PARAM_INVALID, "%s is a scalar, expected a mask of 1 dimension or more",
                     name);
        SIM_ARGUMENT(dim + width <= tensor->rank, ACLNN_ERR_PARAM_INVALID,
                     "%s has indices for more than %u dimensions, expected at most those of %s", list->name,
                     tensor->rank, self->name);
        for (uint32_t k = 0; is_mask && k < width; k++)
            SIM_ARGUMENT(indices->dims[k] == tensor->dims[dim + k], ACLNN_ERR_PARAM_INVALID,
                         "dimension %u of the mask %s is %" PRId64 ", expected %" PRId64 ", the size in %s", k, name,
                         indices->dims[k], tensor->dims[dim + k], self->name);
        for (uint32_t k = 0; !is_whole && k < width; k++)
            add_indices(selection, dim + k, indices, name);
        dim += width;
        selection->se_masks += is_mask;
        if (is_mask && expands)
            SIM_TRY(expand_mask(selection, indices));
    }
    return ACL_SUCCESS;
}

static void release(struct selection *selection)
{
    for (uint32_t i = 0; i < selection->se_masks; i++)
        free(selection->se_memory[i]);
}

/* ---- shapes ---- */

/* Widens the common shape by that of one tensor of indices; false if they cannot be broadcast together. */
static bool meet(struct selection *selection, const aclsimTensor *indices)
{
    int64_t *shape = selection->se_shape;
    while (selection->se_rank < indices->rank) {
        memmove(shape + 1, shape, selection->se_rank++ * sizeof *shape);
        *shape = 1;
    }
    for (uint32_t k = 0; k < indices->rank; k++) {
        int64_t *common = &shape[selection->se_rank - indices->rank + k];
        if (*common == 1)
            *common = indices->dims[k];
        else if (indices->dims[k] != 1 && indices->dims[k] != *common)
            return false;
    }
    return true;
}

static bool is_indexed(const struct selection *selection, uint32_t dim)
{
    for (uint32_t i = 0; i < selection->se_count; i++)
        if (selection->se_dims[i] == dim)
            return true;
    return false;
}

/* Finds the shape of the selected elements: that of the indices takes the place of the indexed dimensions, or comes
 * first if these are not neighbours. `strides` are those of self, 0 for dimensions of the indices. */
static uint32_t find_shape(struct selection *selection, const aclsimTensor *self, int64_t *dims, int64_t *strides)
{
    const uint32_t count = selection->se_count;
    const uint32_t first = count == 0 ? 0 : selection->se_dims[0];
    const bool neighbours = count == 0 || selection->se_dims[count - 1] - first == count - 1;
    uint32_t rank = 0;
    selection->se_place = neighbours ? first : 0;
    for (uint32_t k = 0; k <= self->rank; k++) {
        if (k == selection->se_place)
            for (uint32_t i = 0; i < selection->se_rank; i++) {
                strides[rank] = 0;
                dims[rank++] = selection->se_shape[i];
            }
        if (k < self->rank && !is_indexed(selection, k)) {
            strides[rank] = self->strides[k];
            dims[rank++] = self->dims[k];
        }
    }
    return rank;
}

static bool is_broadcast(const aclsimTensor *values, const int64_t *dims, uint32_t rank)
{
    for (uint32_t k = 0; k < values->rank && values->rank <= rank; k++)
        if (values->dims[k] != 1 && values->dims[k] != dims[rank - values->rank + k])
            return false;
    return values->rank <= rank;
}

/* ---- what empty tensors mean ---- */

static bool is_put(const aclsimCall *call)
{
    return call->argumentCount > ACCUMULATE;
}

/* Whether the selected elements fit the other tensor, if there is no mask and `none` selects nothing. */
static bool fits(const aclsimCall *call, uint64_t none)
{
    const aclsimTensor *other = call->arguments[OTHER].tensors;
    struct selection selection;
    int64_t dims[PLACES], strides[PLACES];
    if (collect(call, false, none, &selection) != ACL_SUCCESS)
        return false;
    for (uint32_t i = 0; i < selection.se_count; i++)
        if (!meet(&selection, &selection.se_tensors[i]))
            return false;
    const uint32_t rank = find_shape(&selection, call->arguments[SELF].tensors, dims, strides);
    return is_put(call) ? is_broadcast(other, dims, rank) : sim_require_is_shape(other, dims, rank);
}

/* Returns the bits of the empty tensors that select nothing. The shape of the result of Index shows them. Values that
 * are broadcast do not, and PyTorch's self[:, []] = 1 has such values: there, an empty tensor of indices selects
 * nothing if its type is not that of self, which torch_npu gives to whole dimensions, or if no tensor has elements. */
static uint64_t choose(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[SELF].tensors;
    const aclsimArgument *list = &call->arguments[LIST];
    uint64_t empty = 0, sure = 0;
    bool selects = false, masks = false;
    for (uint64_t i = 0; i < list->count; i++) {
        const aclsimTensor *indices = &list->tensors[i];
        const uint64_t bit = UINT64_C(1) << i;
        selects = selects || !is_empty(indices);
        masks = masks || (!is_empty(indices) && indices->type == ACL_BOOL);
        if (is_empty(indices) && sim_element_is(indices->type, SIM_TYPES_INDEX)) {
            empty |= bit;
            sure |= indices->type != self->type ? bit : 0;
        }
    }
    if (masks)
        return is_empty(call->arguments[OTHER].tensors) && !is_empty(self) ? empty : 0;
    if (is_put(call)) {
        const uint64_t none = selects ? sure : empty;
        return fits(call, none) ? none : 0;
    }
    for (uint64_t none = empty; none != 0; none = (none - 1) & empty)
        if (fits(call, none))
            return none;
    return 0;
}

/* ---- the first phase ---- */

#define SELECTED SIM_TYPES_REAL

static aclnnStatus plan_selection(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[SELF], *list = &call->arguments[LIST];
    const aclsimArgument *other = &call->arguments[OTHER];
    struct selection selection;
    int64_t dims[PLACES], strides[PLACES];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, other, SELECTED));
    SIM_TRY(collect(call, false, 0, &selection));
    if (selection.se_masks != 0)
        return ACL_SUCCESS;
    SIM_TRY(collect(call, false, choose(call), &selection));
    for (uint32_t i = 0; i < selection.se_count; i++)
        SIM_ARGUMENT(meet(&selection, &selection.se_tensors[i]), ACLNN_ERR_PARAM_INVALID,
                     "%s cannot be broadcast together with the other tensors in %s", selection.se_names[i],
                     list->name);
    const uint32_t rank = find_shape(&selection, self->tensors, dims, strides);
    if (!is_put(call))
        return sim_require_shape(other, dims, rank, "that of the selected elements");
    SIM_ARGUMENT(is_broadcast(other->tensors, dims, rank), ACLNN_ERR_PARAM_INVALID,
                 "%s cannot be broadcast to the shape of the selected elements", other->name);
    return ACL_SUCCESS;
}

/* ---- the second phase ---- */

static aclError fail_shape(const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%.40s does not fit the number of elements that the masks select", what);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* The address of the element at a position that is broadcast to the tensor. */
static const char *place_of(const aclsimTensor *tensor, const int64_t *at, uint32_t rank)
{
    int64_t offset = 0;
    for (uint32_t k = 0; k < tensor->rank; k++)
        offset += tensor->dims[k] == 1 ? 0 : at[rank - tensor->rank + k] * tensor->strides[k];
    return (const char *)tensor->data + offset * (int64_t)sim_element_size(tensor->type);
}

/* Updates the slices at all positions of the indices. `apart` are the strides of the other tensor along the dimensions
 * of the selected elements. */
static aclError update_slices(const aclsimCall *call, const struct selection *selection, const struct sim_walk *slice,
                              const int64_t *apart, struct sim_update *update)
{
    const aclsimArgument *self = &call->arguments[SELF];
    const aclsimTensor *other = call->arguments[OTHER].tensors;
    const bool puts = is_put(call);
    struct sim_indices indices[SIM_RANK];
    int64_t at[SIM_RANK] = {0};
    for (uint32_t i = 0; i < selection->se_count; i++)
        indices[i] = sim_indices_of(selection->se_names[i], &selection->se_tensors[i], self, self->tensors,
                                    selection->se_dims[i], true);
    if (sim_walk_is_empty(selection->se_shape, selection->se_rank))
        return ACL_SUCCESS;
    do {
        char *mine = self->tensors->data, *theirs = other->data;
        for (uint32_t i = 0; i < selection->se_count; i++) {
            int64_t offset;
            if (!sim_indices_offset(&indices[i], place_of(&selection->se_tensors[i], at, selection->se_rank), &offset))
                return sim_indices_fail(&indices[i]);
            mine += offset;
        }
        for (uint32_t k = 0; k < selection->se_rank; k++)
            theirs += at[k] * apart[selection->se_place + k] * (int64_t)update->up_size;
        char *places[] = {puts ? mine : theirs, puts ? theirs : mine};
        sim_walk_run(slice, places, sim_update_line, update);
    } while (sim_walk_step(selection->se_shape, selection->se_rank, at));
    return ACL_SUCCESS;
}

static aclError run_collected(const aclsimCall *call, struct selection *selection)
{
    const aclsimTensor *self = call->arguments[SELF].tensors, *other = call->arguments[OTHER].tensors;
    const bool puts = is_put(call);
    struct sim_walk slice = {.wk_places = 2};
    struct sim_update update = {0};
    int64_t dims[PLACES], strides[PLACES], apart[PLACES] = {0};
    const size_t sizes[] = {sim_element_size(self->type), sim_element_size(self->type)};
    for (uint32_t i = 0; i < selection->se_count; i++)
        if (!meet(selection, &selection->se_tensors[i]))
            return fail_shape("indices");
    const uint32_t rank = find_shape(selection, self, dims, strides);
    if (puts ? !is_broadcast(other, dims, rank) : !sim_require_is_shape(other, dims, rank))
        return fail_shape(call->arguments[OTHER].name);
    for (uint32_t k = 0; k < other->rank; k++)
        apart[rank - other->rank + k] = other->dims[k] == 1 ? 0 : other->strides[k];
    for (uint32_t k = 0; k < rank; k++) {
        const int64_t mine = strides[k], theirs = apart[k];
        if (k < selection->se_place || k >= selection->se_place + selection->se_rank)
            sim_walk_add(&slice, dims[k], (const int64_t[]){puts ? mine : theirs, puts ? theirs : mine}, sizes);
    }
    sim_walk_settle(&slice);
    sim_update_start(&update, self->type,
                     puts && call->arguments[ACCUMULATE].integer != 0 ? SIM_UPDATE_ADD : SIM_UPDATE_REPLACE, NULL);
    return update_slices(call, selection, &slice, apart, &update);
}

static aclError run_selection(const aclsimCall *call)
{
    struct selection selection;
    aclError code = collect(call, true, choose(call), &selection);
    if (code == ACL_SUCCESS)
        code = run_collected(call, &selection);
    release(&selection);
    return code;
}

const struct sim_kernel sim_kernel_aclnnIndex = {plan_selection, run_selection, NULL, false},
                        sim_kernel_aclnnIndexPutImpl = {plan_selection, run_selection, NULL, false};

/* ---- the single operator IndexPutV2: y, indices, value, accumulate, x; y begins as a copy of x ---- */

enum { START = ACCUMULATE + 1 };

static aclnnStatus plan_copied(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimTensor *y = call->arguments[SELF].tensors;
    SIM_TRY(sim_require_same_type(&call->arguments[START], y->type, "y"));
    SIM_TRY(sim_require_shape(&call->arguments[START], y->dims, y->rank, "that of y"));
    return plan_selection(call, workspace_size);
}

static aclError run_copied(const aclsimCall *call)
{
    sim_walk_copy(call->arguments[SELF].tensors, call->arguments[START].tensors);
    return run_selection(call);
}

static const struct sim_kernel put_kernel = {plan_copied, run_copied, NULL, false};
static const struct sim_parameter put_parameters[] = {
    {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},         {"indices", ACLSIM_TENSOR_LIST, ACLSIM_IN, false},
    {"value", ACLSIM_TENSOR, ACLSIM_IN, false},      {"accumulate", ACLSIM_INTEGER, 0, false},
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
};

struct sim_row sim_op_index_put_row = SIM_ROW("IndexPutV2", SIM_TASK_VECTOR, put_parameters, &put_kernel);
