/* Unique, Unique2, UniqueDim and UniqueConsecutive: elements, or slices along a dimension, without repetitions. The
 * number of results is known only when the kernel has run (sim_row_resize); the outputs have room for all.
 *
 * A row is an element, or the slice at one index of the dimension. The keys (keys.h) of its elements are compared; the
 * real and imaginary part of a complex number have one each. Rows are sorted by them, whatever `sorted` says, except by
 * UniqueConsecutive, and equal neighbours form a group. A NaN is not equal to any element, and follows all numbers. The
 * first row of a group, in the order of the indices, is the result. */
#include "base/bytes.h"
#include "base/fail.h"
#include "indices.h"
#include "keys.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <stdlib.h>
#include <string.h>

#define FLAT 1000 /* as a dimension: the elements are compared */

/* Positions of the arguments; 0: the operator does not have it. The first one is self. */
struct kind {
    uint64_t ki_types, ki_index_types;
    uint8_t ki_dim;
    uint8_t ki_with_inverse, ki_with_counts; /* whether the outputs are wanted */
    uint8_t ki_value, ki_inverse, ki_counts;
    bool ki_sorts;
};

/* ---- the first phase ---- */

struct layout {
    bool la_flat;
    uint32_t la_dim;
    int64_t la_rows;
};

static aclnnStatus find_rows(const aclsimCall *call, struct layout *layout)
{
    const struct kind *kind = call->userData;
    const aclsimArgument *self = &call->arguments[0], *dim = &call->arguments[kind->ki_dim];
    *layout = (struct layout){.la_flat = kind->ki_dim == 0 || (!kind->ki_sorts && dim->integer == FLAT)};
    const int64_t count = sim_walk_count(self->tensors);
    SIM_ARGUMENT(count >= 0, ACLNN_ERR_PARAM_INVALID, "%s has more elements than 64 bits can count", self->name);
    layout->la_rows = count;
    if (layout->la_flat)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_rank(self, 1, SIM_RANK));
    SIM_TRY(sim_require_dim(dim, self->tensors->rank, &layout->la_dim));
    layout->la_rows = self->tensors->dims[layout->la_dim];
    for (uint32_t k = 0; k < self->tensors->rank; k++)
        SIM_ARGUMENT(k == layout->la_dim || self->tensors->dims[k] != 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is 0, expected 1 or more: only dimension %u may be empty", k, self->name,
                     layout->la_dim);
    return ACL_SUCCESS;
}

/* The caller may ask for an output. What is computed for another one is written as well, unless the program passes a
 * tensor of shape [0]. */
enum want { UNWANTED, OFFERED, WANTED };

static bool is_set(const aclsimCall *call, uint8_t flag)
{
    return flag != 0 && call->arguments[flag].integer != 0;
}

static bool is_written(const aclsimTensor *out, enum want want)
{
    static const int64_t none = 0;
    return want == WANTED || (want == OFFERED && !sim_require_is_shape(out, &none, 1));
}

static bool writes_inverse(const aclsimCall *call)
{
    const struct kind *kind = call->userData;
    const enum want want = is_set(call, kind->ki_with_inverse)  ? WANTED
                           : is_set(call, kind->ki_with_counts) ? OFFERED
                                                                : UNWANTED;
    return is_written(call->arguments[kind->ki_inverse].tensors, want);
}

static bool writes_counts(const aclsimCall *call)
{
    const struct kind *kind = call->userData;
    if (kind->ki_counts == 0)
        return false;
    const enum want want = kind->ki_with_counts == 0            ? OFFERED
                           : is_set(call, kind->ki_with_counts) ? WANTED
                                                                : UNWANTED;
    return is_written(call->arguments[kind->ki_counts].tensors, want);
}

static aclnnStatus plan_unique(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct kind *kind = call->userData;
    const aclsimArgument *given = call->arguments, *self = &given[0], *value = &given[kind->ki_value];
    const aclsimArgument *inverse = &given[kind->ki_inverse], *counts = &given[kind->ki_counts];
    struct layout layout;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, value, kind->ki_types));
    SIM_TRY(find_rows(call, &layout));
    const int64_t *const rows = &layout.la_rows;
    if (layout.la_flat)
        SIM_TRY(sim_require_shape(value, rows, 1, "room for all elements of self"));
    else
        SIM_TRY(sim_require_shape(value, self->tensors->dims, self->tensors->rank, "that of self"));
    if (writes_inverse(call)) {
        SIM_TRY(sim_require_type(inverse, kind->ki_index_types));
        if (layout.la_flat)
            SIM_TRY(sim_require_shape(inverse, self->tensors->dims, self->tensors->rank, "that of self"));
        else
            SIM_TRY(sim_require_shape(inverse, rows, 1, "one number per index of the dimension"));
    }
    if (writes_counts(call)) {
        SIM_TRY(sim_require_type(counts, kind->ki_index_types));
        SIM_TRY(sim_require_shape(counts, rows, 1, "room for a number per result"));
    }
    sim_row_will_resize(call);
    return ACL_SUCCESS;
}

/* ---- keys ---- */

struct rows {
    aclDataType ro_type;  /* of the parts of an element: its own, or that of the parts of a complex number */
    int64_t ro_parts;     /* per element */
    bool ro_has_nans;
    int64_t ro_count, ro_span;                          /* rows, and keys per row */
    uint64_t *ro_keys;                                  /* by row */
    uint64_t *ro_next;                                  /* while they are loaded */
    int64_t *ro_order, *ro_inverse, *ro_first, *ro_counts; /* per place in the order, row, group and group */
    int64_t ro_groups;
};

static aclError load_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct rows *rows = context;
    const int64_t parts = rows->ro_parts, size = (int64_t)sim_element_size(rows->ro_type);
    uint64_t keys[SIM_BLOCK];
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        for (int64_t part = 0; part < parts; part++) {
            sim_keys_load(keys, places[0] + done * strides[0] + part * size, rows->ro_type, strides[0] / size, count);
            for (size_t i = 0; i < count; i++)
                rows->ro_next[(int64_t)i * parts + part] = keys[i];
        }
        rows->ro_next += (int64_t)count * parts;
    }
    return ACL_SUCCESS;
}

/* The tensor with a dimension in front of the others. */
static aclsimTensor with_first(const aclsimTensor *tensor, uint32_t dim)
{
    aclsimTensor moved = *tensor;
    memmove(moved.dims + 1, tensor->dims, dim * sizeof *moved.dims);
    memmove(moved.strides + 1, tensor->strides, dim * sizeof *moved.strides);
    moved.dims[0] = tensor->dims[dim];
    moved.strides[0] = tensor->strides[dim];
    return moved;
}

static void load_keys(struct rows *rows, const aclsimTensor *self, const struct layout *layout)
{
    const aclsimTensor view = layout->la_flat ? *self : with_first(self, layout->la_dim);
    const aclsimTensor *tensors[] = {&view};
    rows->ro_next = rows->ro_keys;
    sim_walk_in_order(tensors, 1, load_line, rows);
}

static bool allocate(struct rows *rows)
{
    uint64_t keys = sizeof *rows->ro_keys, numbers = 4 * sizeof *rows->ro_order;
    const uint64_t count = rows->ro_count == 0 ? 1 : (uint64_t)rows->ro_count;
    if (!sim_size_multiply(&keys, count) || !sim_size_multiply(&keys, (uint64_t)rows->ro_span) ||
        !sim_size_multiply(&numbers, count))
        return false;
    rows->ro_keys = malloc(keys);
    rows->ro_order = malloc(numbers);
    if (rows->ro_keys == NULL || rows->ro_order == NULL)
        return false;
    rows->ro_inverse = rows->ro_order + count;
    rows->ro_first = rows->ro_inverse + count;
    rows->ro_counts = rows->ro_first + count;
    return true;
}

/* ---- groups ---- */

/* No two rows are equal, so that qsort_r cannot change the order of rows with equal keys. */
static int compare(const void *one, const void *other, void *context)
{
    const struct rows *rows = context;
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    const uint64_t *keys = rows->ro_keys + a * rows->ro_span, *others = rows->ro_keys + b * rows->ro_span;
    for (int64_t k = 0; k < rows->ro_span; k++)
        if (keys[k] != others[k])
            return keys[k] < others[k] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool is_equal(const struct rows *rows, int64_t one, int64_t other)
{
    const uint64_t *keys = rows->ro_keys + one * rows->ro_span, *others = rows->ro_keys + other * rows->ro_span;
    for (int64_t k = 0; k < rows->ro_span; k++)
        if (keys[k] != others[k] || (rows->ro_has_nans && keys[k] == SIM_KEYS_NAN))
            return false;
    return true;
}

static void find_groups(struct rows *rows, bool sorts)
{
    const int64_t *order = rows->ro_order;
    for (int64_t i = 0; i < rows->ro_count; i++)
        rows->ro_order[i] = i;
    if (sorts)
        qsort_r(rows->ro_order, (size_t)rows->ro_count, sizeof *rows->ro_order, compare, rows);
    rows->ro_groups = 0;
    for (int64_t i = 0; i < rows->ro_count; i++) {
        if (i == 0 || !is_equal(rows, order[i - 1], order[i])) {
            rows->ro_first[rows->ro_groups] = order[i];
            rows->ro_counts[rows->ro_groups++] = 0;
        }
        rows->ro_counts[rows->ro_groups - 1]++;
        rows->ro_inverse[order[i]] = rows->ro_groups - 1;
    }
}

/* ---- results ---- */

static char *at_index(const aclsimTensor *tensor, uint32_t dim, int64_t index)
{
    return (char *)tensor->data + index * tensor->strides[dim] * (int64_t)sim_element_size(tensor->type);
}

static void store_elements(const struct rows *rows, const aclsimTensor *self, const aclsimTensor *value)
{
    const size_t size = sim_element_size(self->type);
    for (int64_t i = 0; i < rows->ro_groups; i++)
        memcpy(at_index(value, 0, i), sim_indices_nth(self, rows->ro_first[i]), size);
}

static void store_slices(const struct rows *rows, const aclsimTensor *self, const aclsimTensor *value, uint32_t dim)
{
    aclsimTensor from = sim_line_without(self, dim), to = sim_line_without(value, dim);
    for (int64_t i = 0; i < rows->ro_groups; i++) {
        from.data = at_index(self, dim, rows->ro_first[i]);
        to.data = at_index(value, dim, i);
        sim_walk_copy(&to, &from);
    }
}

static void store_numbers(const aclsimTensor *out, const int64_t *numbers)
{
    const struct sim_line line = sim_line_of(out, 0, out->rank);
    sim_line_store(&line, SIM_CLASS_INTEGER, numbers, out->data);
}

static aclError store(const aclsimCall *call, const struct layout *layout, const struct rows *rows)
{
    const struct kind *kind = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *value = call->arguments[kind->ki_value].tensors;
    int64_t dims[SIM_RANK];
    memcpy(dims, value->dims, sizeof dims);
    dims[layout->la_dim] = rows->ro_groups;
    const aclsimTensor part = sim_walk_part(value, dims);
    if (layout->la_flat)
        store_elements(rows, self, &part);
    else
        store_slices(rows, self, &part, layout->la_dim);
    SIM_TRY(sim_row_resize(call, kind->ki_value, &part));
    if (writes_inverse(call))
        store_numbers(call->arguments[kind->ki_inverse].tensors, rows->ro_inverse);
    if (!writes_counts(call))
        return ACL_SUCCESS;
    const aclsimTensor counts = sim_walk_part(call->arguments[kind->ki_counts].tensors, &rows->ro_groups);
    store_numbers(&counts, rows->ro_counts);
    return sim_row_resize(call, kind->ki_counts, &counts);
}

static aclError run_unique(const aclsimCall *call)
{
    const struct kind *kind = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors;
    const bool is_complex = sim_element_is(self->type, SIM_TYPES_COMPLEX);
    struct rows rows = {.ro_type = self->type, .ro_parts = 1};
    struct layout layout;
    SIM_TRY(find_rows(call, &layout));
    if (is_complex) {
        rows.ro_type = self->type == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE;
        rows.ro_parts = 2;
    }
    rows.ro_has_nans = is_complex || sim_element_is(self->type, SIM_TYPES_FLOAT);
    rows.ro_count = layout.la_rows;
    rows.ro_span = rows.ro_parts;
    if (!layout.la_flat && rows.ro_count != 0)
        rows.ro_span *= sim_walk_count(self) / rows.ro_count;
    aclError code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (allocate(&rows)) {
        load_keys(&rows, self, &layout);
        find_groups(&rows, kind->ki_sorts);
        code = store(call, &layout, &rows);
    } else {
        sim_fail(code, "cannot allocate host memory to compare %lld elements or slices", (long long)rows.ro_count);
    }
    free(rows.ro_keys);
    free(rows.ro_order);
    return code;
}

#define UNIQUE(name, ...)                                                                                              \
    static const struct kind kind_##name = {__VA_ARGS__};                                                              \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_unique, run_unique, (void *)&kind_##name, false};

#define TYPES (SIM_TYPES_REAL | SIM_TYPES_UNSIGNED)

/* self, sorted, returnInverse, valueOut, inverseOut */
UNIQUE(Unique, TYPES, SIM_TYPE(ACL_INT64), .ki_with_inverse = 2, .ki_value = 3, .ki_inverse = 4, .ki_sorts = true)
/* self, sorted, returnInverse, returnCounts, valueOut, inverseOut, countsOut */
UNIQUE(Unique2, TYPES, SIM_TYPE(ACL_INT64), .ki_with_inverse = 2, .ki_with_counts = 3, .ki_value = 4, .ki_inverse = 5,
       .ki_counts = 6, .ki_sorts = true)
/* self, sorted, returnInverse, dim, valueOut, inverseOut, countsOut */
UNIQUE(UniqueDim, TYPES, SIM_TYPE(ACL_INT64), .ki_with_inverse = 2, .ki_dim = 3, .ki_value = 4, .ki_inverse = 5,
       .ki_counts = 6, .ki_sorts = true)
/* self, returnInverse, returnCounts, dim, valueOut, inverseOut, countsOut */
UNIQUE(UniqueConsecutive, SIM_TYPES_ALL, SIM_TYPES_INDEX, .ki_with_inverse = 1, .ki_with_counts = 2, .ki_dim = 3,
       .ki_value = 4, .ki_inverse = 5, .ki_counts = 6)
