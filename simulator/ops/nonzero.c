/* Nonzero, NonzeroV2 and MaskedSelect: which elements are not 0, in the order of the indices. The size of the result is
 * known only when the kernel has run (sim_row_resize); the output has room for all elements. Programs that know the
 * number may give the single operator NonZero an output of this size. A NaN is not 0. */
#include "base/fail.h"
#include "operator/row.h"
#include "require.h"
#include "tables.h"
#include "walk.h"
#include <stdio.h>
#include <string.h>

/* Loads whether each element of a block is not 0. */
static void load_marks(bool *marks, const char *from, aclDataType type, int64_t stride, size_t count)
{
    const enum sim_class class = sim_element_class(type);
    union sim_block_values block;
    sim_element_load(&block, class, from, type, stride / (int64_t)sim_element_size(type), count);
    sim_element_store(&block, class, marks, ACL_BOOL, 1, count);
}

/* A stride in bytes. That of a dimension of size 1 is not used, and may have any value: the product may wrap. */
static int64_t in_bytes(int64_t stride, size_t size)
{
    return (int64_t)((uint64_t)stride * size);
}

/* The number of elements of a tensor for which an output must have room. */
static aclnnStatus find_count(const aclsimTensor *tensor, const char *of, int64_t *count)
{
    *count = sim_walk_count(tensor);
    SIM_ARGUMENT(*count >= 0, ACLNN_ERR_PARAM_INVALID, "%s has more elements than 64 bits can count", of);
    return ACL_SUCCESS;
}

/* ---- Nonzero (self, out): one row of indices per element, or (V2) one column ----
 *
 * A scalar counts as an array of one element. Its index may also be left out, as PyTorch does. */

struct layout {
    uint64_t la_types;
    uint8_t la_elements, la_indices; /* the dimensions of out */
    bool la_known;                   /* the program may know the number of elements, and give out this size */
};

static bool is_known(const struct layout *layout, const aclsimTensor *out, int64_t count)
{
    return layout->la_known && out->rank == 2 && out->dims[layout->la_elements] < count;
}

static aclnnStatus plan_nonzero(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct layout *layout = call->userData;
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[1];
    const uint32_t rank = self->tensors->rank;
    int64_t dims[2], count;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, layout->la_types));
    SIM_TRY(sim_require_type(out, SIM_TYPE(ACL_INT64)));
    SIM_TRY(find_count(self->tensors, self->name, &count));
    const bool known = is_known(layout, out->tensors, count);
    dims[layout->la_elements] = known ? out->tensors->dims[layout->la_elements] : count;
    dims[layout->la_indices] = rank;
    if (rank != 0 || !sim_require_is_shape(out->tensors, dims, 2)) {
        dims[layout->la_indices] = rank == 0 ? 1 : rank;
        SIM_TRY(sim_require_shape(out, dims, 2, "room for the indices of all elements of self"));
    }
    if (!known)
        sim_row_will_resize(call);
    return ACL_SUCCESS;
}

struct search {
    const aclsimTensor *se_self;
    aclsimTensor se_out;   /* of the found elements only */
    int64_t se_seen;       /* elements of self */
    int64_t se_count;      /* those that are not 0, */
    int64_t se_written;    /* and those of them whose indices are written */
    int64_t se_step;       /* in bytes, between elements in out, */
    int64_t se_index_step; /* and between the indices of one */
    int64_t se_indices;    /* per element */
};

static void write_indices(const struct search *search, int64_t number)
{
    const aclsimTensor *self = search->se_self;
    char *place = (char *)search->se_out.data + search->se_written * search->se_step;
    for (int64_t k = search->se_indices; k-- != 0;) {
        const int64_t dim = self->rank == 0 ? 1 : self->dims[k], index = number % dim;
        memcpy(place + k * search->se_index_step, &index, sizeof index);
        number /= dim;
    }
}

/* Calls `found` for the number of each element that is not 0. */
#define EACH_FOUND(name, found)                                                                                        \
    static aclError name(char *const *places, const int64_t *strides, int64_t length, void *context)                   \
    {                                                                                                                  \
        struct search *search = context;                                                                               \
        bool marks[SIM_BLOCK];                                                                                         \
        for (int64_t done = 0; done < length; done += SIM_BLOCK) {                                                     \
            const size_t count = sim_element_block(done, length);                                                      \
            load_marks(marks, places[0] + done * strides[0], search->se_self->type, strides[0], count);                \
            for (size_t i = 0; i < count; i++)                                                                         \
                if (marks[i])                                                                                          \
                    found;                                                                                             \
            search->se_seen += (int64_t)count;                                                                         \
        }                                                                                                              \
        return ACL_SUCCESS;                                                                                            \
    }

EACH_FOUND(count_line, search->se_count++)

/* Another stream may change self after the elements were counted, which is a mistake of the program: no index is
 * written outside of the result. */
static void write_found(struct search *search, int64_t number)
{
    if (search->se_written < search->se_count) {
        write_indices(search, number);
        search->se_written++;
    }
}

EACH_FOUND(write_line, write_found(search, search->se_seen + (int64_t)i))

/* The elements are counted first, because the place of an index in the contiguous result of V2 depends on the count. */
static aclError run_nonzero(const aclsimCall *call)
{
    const struct layout *layout = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *out = call->arguments[1].tensors;
    struct search search = {.se_self = self, .se_indices = out->dims[layout->la_indices]};
    const bool known = is_known(layout, out, sim_walk_count(self));
    int64_t dims[2];
    SIM_TRY(sim_walk_in_order(&self, 1, count_line, &search));
    if (known && search.se_count != out->dims[layout->la_elements]) {
        char text[128];
        snprintf(text, sizeof text, "%lld elements of x are not 0, expected %lld, for which y has room",
                 (long long)search.se_count, (long long)out->dims[layout->la_elements]);
        sim_fail_reason(text);
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    dims[layout->la_elements] = search.se_count;
    dims[layout->la_indices] = search.se_indices;
    search.se_out = sim_walk_part(out, dims);
    search.se_step = in_bytes(search.se_out.strides[layout->la_elements], sizeof(int64_t));
    search.se_index_step = in_bytes(search.se_out.strides[layout->la_indices], sizeof(int64_t));
    search.se_seen = 0;
    if (search.se_indices != 0)
        SIM_TRY(sim_walk_in_order(&self, 1, write_line, &search));
    return known ? ACL_SUCCESS : sim_row_resize(call, 1, &search.se_out);
}

#define NONZERO(name, ...)                                                                                             \
    static const struct layout layout_##name = {__VA_ARGS__};                                                          \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_nonzero, run_nonzero, (void *)&layout_##name, false};

NONZERO(Nonzero, SIM_TYPES_REAL, .la_elements = 0, .la_indices = 1)
NONZERO(NonzeroV2, SIM_TYPES_REAL | SIM_TYPES_UNSIGNED, .la_elements = 1, .la_indices = 0)

static const struct layout layout_single = {SIM_TYPES_REAL, .la_elements = 0, .la_indices = 1, .la_known = true};
static const struct sim_kernel single_kernel = {plan_nonzero, run_nonzero, (void *)&layout_single, false};
static const struct sim_parameter single_parameters[] = {{"x", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_nonzero_row = SIM_ROW("NonZero", SIM_TASK_VECTOR, single_parameters, &single_kernel);

/* ---- MaskedSelect (self, mask, out): the elements of self where the mask is true; both are broadcast together ---- */

enum { SELF, MASK, OUT };

/* A view without elements of its own, in the shape to which self and mask are broadcast. */
static aclnnStatus find_shape(const aclsimArgument *given, aclsimTensor *shape)
{
    const aclsimTensor *self = given[SELF].tensors, *mask = given[MASK].tensors;
    const uint32_t rank = self->rank > mask->rank ? self->rank : mask->rank;
    *shape = (aclsimTensor){.data = self->data, .rank = rank, .type = ACL_BOOL};
    for (uint32_t k = 0; k < rank; k++) {
        const int64_t dim = k < rank - self->rank ? 1 : self->dims[k - (rank - self->rank)];
        const int64_t other = k < rank - mask->rank ? 1 : mask->dims[k - (rank - mask->rank)];
        SIM_ARGUMENT(dim == other || dim == 1 || other == 1, ACLNN_ERR_PARAM_INVALID,
                     "%s and %s cannot be broadcast together: their sizes are %lld and %lld in dimension %u",
                     given[SELF].name, given[MASK].name, (long long)dim, (long long)other, k);
        shape->dims[k] = dim == 1 ? other : dim;
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan_select(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    aclsimTensor shape;
    int64_t count;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[SELF], &given[OUT], SIM_TYPES_REAL));
    SIM_TRY(sim_require_type(&given[MASK], SIM_TYPES_BOOL | SIM_TYPE(ACL_UINT8)));
    SIM_TRY(find_shape(given, &shape));
    SIM_TRY(find_count(&shape, "the common shape of self and mask", &count));
    SIM_TRY(sim_require_shape(&given[OUT], &count, 1, "room for all elements"));
    sim_row_will_resize(call);
    return ACL_SUCCESS;
}

struct selection {
    aclDataType sl_mask;
    size_t sl_size; /* of an element */
    char *sl_out;
    int64_t sl_step, sl_count; /* in bytes, between elements of out; written so far */
};

/* places: the common shape, self and mask. */
static aclError select_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct selection *selection = context;
    bool marks[SIM_BLOCK];
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        const char *self = places[SELF + 1] + done * strides[SELF + 1];
        load_marks(marks, places[MASK + 1] + done * strides[MASK + 1], selection->sl_mask, strides[MASK + 1], count);
        for (size_t i = 0; i < count; i++)
            if (marks[i])
                memcpy(selection->sl_out + selection->sl_count++ * selection->sl_step,
                       self + (int64_t)i * strides[SELF + 1], selection->sl_size);
    }
    return ACL_SUCCESS;
}

static aclError run_select(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *out = given[OUT].tensors;
    const size_t size = sim_element_size(out->type);
    aclsimTensor shape;
    struct selection selection = {.sl_mask = given[MASK].tensors->type,
                                  .sl_size = size,
                                  .sl_out = out->data,
                                  .sl_step = in_bytes(out->strides[0], size)};
    SIM_TRY(find_shape(given, &shape));
    const aclsimTensor *tensors[] = {&shape, given[SELF].tensors, given[MASK].tensors};
    SIM_TRY(sim_walk_in_order(tensors, 3, select_line, &selection));
    const aclsimTensor part = sim_walk_part(out, &selection.sl_count);
    return sim_row_resize(call, OUT, &part);
}

const struct sim_kernel sim_kernel_aclnnMaskedSelect = {plan_select, run_select, NULL, false};
