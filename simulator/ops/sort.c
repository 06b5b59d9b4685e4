/* Sort, Argsort and Topk, and the single operator TopK: the elements of a line are sorted by their keys (keys.h). Equal
 * elements stay in their order, and a NaN is greater than all numbers, in both directions: in descending order it comes
 * first. */
#include "base/bytes.h"
#include "base/fail.h"
#include "indices.h"
#include "keys.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"
#include "tables.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The types of self, and positions of the arguments. */
struct order {
    uint64_t or_types;
    uint8_t or_dim, or_indices;
    uint8_t or_values;     /* 0: only indices are returned */
    uint8_t or_descending; /* whether the order is descending; 0: it is ascending */
    uint8_t or_count;      /* how many elements are selected; 0: all */
    bool or_narrow;        /* the indices may be int32 */
};

/* ---- the first phase ---- */

static aclnnStatus check_count(const aclsimCall *call, const struct order *order, uint32_t dim)
{
    const aclsimArgument *count = &call->arguments[order->or_count], *self = &call->arguments[0];
    const int64_t length = sim_indices_length(self->tensors, dim);
    SIM_ARGUMENT(count->integer >= 0 && count->integer <= length, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 to %" PRId64 ", the size of dimension %u of %s", count->name,
                 count->integer, length, dim, self->name);
    return ACL_SUCCESS;
}

static aclnnStatus check_result(const aclsimCall *call, const struct order *order, uint32_t dim,
                                const aclsimArgument *out)
{
    const aclsimTensor *self = call->arguments[0].tensors;
    aclsimTensor shape = *self;
    if (order->or_count != 0)
        shape.dims[dim] = call->arguments[order->or_count].integer;
    return sim_require_shape(out, shape.dims, shape.rank,
                             order->or_count != 0 ? "that of the selected elements" : "that of self");
}

static aclnnStatus plan_sort(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct order *order = call->userData;
    const aclsimArgument *self = &call->arguments[0], *indices = &call->arguments[order->or_indices];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, order->or_types));
    SIM_TRY(sim_require_type(indices, order->or_narrow ? SIM_TYPES_INDEX : SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_dim(&call->arguments[order->or_dim], self->tensors->rank, &dim));
    const int64_t length = sim_indices_length(self->tensors, dim);
    SIM_ARGUMENT(indices->tensors->type == ACL_INT64 || length <= INT32_MAX, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s has %" PRId64 " elements, expected at most %d for indices of type int32", dim,
                 self->name, length, INT32_MAX);
    if (order->or_count != 0)
        SIM_TRY(check_count(call, order, dim));
    if (order->or_values != 0) {
        const aclsimArgument *values = &call->arguments[order->or_values];
        SIM_TRY(sim_require_types(self, values, order->or_types));
        SIM_TRY(check_result(call, order, dim, values));
    }
    return check_result(call, order, dim, indices);
}

/* ---- the second phase ---- */

struct entry {
    uint64_t en_key;
    int64_t en_index;
};

enum { INDICES, VALUES, SELF, TENSORS };

struct sorting {
    aclDataType so_type; /* of self */
    size_t so_width;     /* bytes of an index */
    bool so_descends, so_gives_values;
    int64_t so_length, so_count; /* of the line; how many of the sorted elements are written */
    int64_t so_steps[TENSORS];   /* along the dimension, in elements */
    struct entry *so_entries;    /* one per element of a line */
};

static void load_entries(const struct sorting *sorting, const char *self)
{
    const int64_t step = sorting->so_steps[SELF], size = (int64_t)sim_element_size(sorting->so_type);
    uint64_t keys[SIM_BLOCK];
    for (int64_t done = 0; done < sorting->so_length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, sorting->so_length);
        struct entry *entries = &sorting->so_entries[done];
        sim_keys_load(keys, self + done * step * size, sorting->so_type, step, count);
        for (size_t i = 0; i < count; i++)
            entries[i] = (struct entry){sorting->so_descends ? ~keys[i] : keys[i], done + (int64_t)i};
    }
}

/* No two entries are equal, so that qsort cannot change the order of equal elements. */
static int compare(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    if (a->en_key != b->en_key)
        return a->en_key < b->en_key ? -1 : 1;
    return a->en_index < b->en_index ? -1 : a->en_index > b->en_index;
}

/* places: the addresses of a line of the indices, of the values (or the indices again) and of self. */
static aclError sort_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct sorting *sorting = context;
    const size_t size = sim_element_size(sorting->so_type), width = sorting->so_width;
    for (int64_t i = 0; i < length; i++) {
        const char *self = places[SELF] + i * strides[SELF];
        char *values = places[VALUES] + i * strides[VALUES], *indices = places[INDICES] + i * strides[INDICES];
        load_entries(sorting, self);
        qsort(sorting->so_entries, (size_t)sorting->so_length, sizeof *sorting->so_entries, compare);
        for (int64_t k = 0; k < sorting->so_count; k++) {
            const int64_t index = sorting->so_entries[k].en_index;
            const int32_t narrow = (int32_t)index;
            memcpy(indices + k * sorting->so_steps[INDICES] * (int64_t)width,
                   width == sizeof narrow ? (const void *)&narrow : (const void *)&index, width);
            if (sorting->so_gives_values)
                memcpy(values + k * sorting->so_steps[VALUES] * (int64_t)size,
                       self + index * sorting->so_steps[SELF] * (int64_t)size, size);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_sort(const aclsimCall *call)
{
    const struct order *order = call->userData;
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *indices = given[order->or_indices].tensors;
    const aclsimTensor *values = order->or_values == 0 ? indices : given[order->or_values].tensors;
    const aclsimTensor *tensors[TENSORS] = {indices, values, self};
    char *places[TENSORS] = {indices->data, values->data, self->data};
    struct sim_walk walk = {.wk_places = TENSORS};
    struct sorting sorting = {.so_type = self->type, .so_gives_values = order->or_values != 0,
                              .so_width = sim_element_size(indices->type)};
    uint64_t bytes = sizeof *sorting.so_entries;
    uint32_t dim;
    SIM_TRY(sim_require_dim(&given[order->or_dim], self->rank, &dim));
    if (sim_walk_is_empty(indices->dims, indices->rank))
        return ACL_SUCCESS;
    sorting.so_descends = order->or_descending != 0 && given[order->or_descending].integer != 0;
    sorting.so_length = sorting.so_count = sim_indices_length(self, dim);
    if (order->or_count != 0 && self->rank != 0)
        sorting.so_count = given[order->or_count].integer;
    for (int i = 0; i < TENSORS; i++)
        sorting.so_steps[i] = self->rank == 0 ? 0 : tensors[i]->strides[dim];
    const struct sim_reduced reduced = {1u << dim, true};
    sim_reduce_walk(&walk, tensors, &reduced);
    if (sim_size_multiply(&bytes, (uint64_t)sorting.so_length))
        sorting.so_entries = malloc(bytes);
    SIM_CHECK(sorting.so_entries != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory to sort %" PRId64 " elements", sorting.so_length);
    aclError code = sim_walk_run(&walk, places, sort_lines, &sorting);
    free(sorting.so_entries);
    return code;
}

#define SORTED (SIM_TYPES_INTEGER | SIM_TYPES_SINGLE | SIM_TYPES_UNSIGNED)
#define SELECTED (SIM_TYPES_INTEGER | SIM_TYPES_FLOAT)

#define ORDER(name, ...)                                                                                               \
    static const struct order order_##name = {__VA_ARGS__};                                                            \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_sort, run_sort, (void *)&order_##name, false};

/* self, dim, descending, out */
ORDER(Argsort, SORTED, .or_dim = 1, .or_descending = 2, .or_indices = 3)
/* self, stable, dim, descending, valuesOut, indicesOut */
ORDER(Sort, SORTED | SIM_TYPES_BOOL, .or_dim = 2, .or_descending = 3, .or_values = 4, .or_indices = 5)
/* self, k, dim, largest, sorted, valuesOut, indicesOut; the elements are always sorted */
ORDER(Topk, SELECTED, .or_count = 1, .or_dim = 2, .or_descending = 3, .or_values = 5, .or_indices = 6)

/* Single operators differ in the type of their indices: x, k, dim, largest, sorted, values, indices. */
static const struct order order_of_single = {SELECTED, .or_count = 1, .or_dim = 2, .or_descending = 3, .or_values = 5,
                                             .or_indices = 6, .or_narrow = true};
static const struct sim_kernel top_k_kernel = {plan_sort, run_sort, (void *)&order_of_single, false};
static const struct sim_parameter top_k_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},        {"k", ACLSIM_INTEGER, 0, false},
    {"dim", ACLSIM_INTEGER, 0, false},             {"largest", ACLSIM_INTEGER, 0, false},
    {"sorted", ACLSIM_INTEGER, 0, false},          {"values", ACLSIM_TENSOR, ACLSIM_OUT, false},
    {"indices", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_top_k_row = SIM_ROW("TopK", SIM_TASK_VECTOR, top_k_parameters, &top_k_kernel);

static const struct order order_of_all = {SORTED | SIM_TYPES_BOOL, .or_dim = 2, .or_descending = 3, .or_values = 4,
                                          .or_indices = 5, .or_narrow = true};
static const struct sim_kernel sort_kernel = {plan_sort, run_sort, (void *)&order_of_all, false};
static const struct sim_parameter sort_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},   {"stable", ACLSIM_INTEGER, 0, false},
    {"axis", ACLSIM_INTEGER, 0, false},       {"descending", ACLSIM_INTEGER, 0, false},
    {"y1", ACLSIM_TENSOR, ACLSIM_OUT, false}, {"y2", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_sort_row = SIM_ROW("Sort", SIM_TASK_VECTOR, sort_parameters, &sort_kernel);
