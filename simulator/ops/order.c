/* The element at a position in ascending order: Median and NanMedian over all elements, and MedianDim, NanMedianDim and
 * Kthvalue along one dimension, which also tell where it is. Among equal elements, the one that comes first has the
 * lower position. NaNs come last; a median is the first NaN if there is any, but NanMedian and NanMedianDim ignore
 * them. */
#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ORDERED (SIM_TYPES_INTEGER | SIM_TYPES_SINGLE)

/* The positions of the arguments; 0: the operator has no such argument. The first argument is self. */
struct order {
    bool or_skips_nans;
    uint8_t or_k, or_dim, or_keeps, or_values, or_indices;
};

static aclnnStatus find_reduced(const aclsimCall *call, uint32_t *dim, struct sim_reduced *reduced)
{
    const struct order *order = call->userData;
    *dim = 0;
    *reduced = (struct sim_reduced){(1u << SIM_RANK) - 1, false};
    if (order->or_dim == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_dim(&call->arguments[order->or_dim], call->arguments[0].tensors->rank, dim));
    *reduced = (struct sim_reduced){1u << *dim, call->arguments[order->or_keeps].integer != 0};
    return ACL_SUCCESS;
}

static aclnnStatus check_k(const aclsimArgument *k, const aclsimTensor *self, uint32_t dim)
{
    int64_t length = self->rank == 0 ? 1 : self->dims[dim];
    SIM_ARGUMENT(k->integer >= 1 && k->integer <= length, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 1 to %" PRId64 ", the size of dimension %u", k->name, k->integer, length,
                 dim);
    return ACL_SUCCESS;
}

static aclnnStatus plan_order(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct order *order = call->userData;
    const aclsimArgument *self = &call->arguments[0], *values = &call->arguments[order->or_values];
    const aclsimArgument *indices = &call->arguments[order->or_indices];
    struct sim_reduced reduced;
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, values, ORDERED));
    SIM_TRY(find_reduced(call, &dim, &reduced));
    if (order->or_dim != 0) {
        SIM_TRY(sim_require_type(indices, SIM_TYPE(ACL_INT64)));
        SIM_TRY(sim_reduce_check_filled(self, &reduced));
        SIM_TRY(sim_reduce_check(indices, self->tensors, &reduced));
    }
    if (order->or_k != 0)
        SIM_TRY(check_k(&call->arguments[order->or_k], self->tensors, dim));
    return sim_reduce_check(values, self->tensors, &reduced);
}

/* ---- the second phase ---- */

#define NAN_KEY INT64_MAX /* no other double has it */

/* An element as an integer that has the same order, and its index. */
struct item {
    int64_t it_key, it_place;
};

struct job {
    const struct order *jo_order;
    struct sim_line jo_line;
    enum sim_class jo_class;
    aclDataType jo_type;
    int64_t jo_k;
    size_t jo_length;
    int64_t *jo_values; /* integers, or the bits of doubles */
    struct item *jo_items;
};

static int64_t key_of(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (isnan(number))
        return NAN_KEY;
    if (number == 0)
        return 0; /* -0 equals 0 */
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static int compare_items(const void *one, const void *other)
{
    const struct item *a = one, *b = other;
    if (a->it_key != b->it_key)
        return a->it_key < b->it_key ? -1 : 1;
    return a->it_place < b->it_place ? -1 : a->it_place > b->it_place;
}

/* The position of the result in the sorted line, the last `nans` elements of which are NaNs. */
static size_t position(const struct job *job, size_t nans)
{
    size_t numbers = job->jo_length - nans;
    if (job->jo_order->or_k != 0)
        return (size_t)job->jo_k - 1;
    if (job->jo_order->or_skips_nans)
        return numbers == 0 ? 0 : (numbers - 1) / 2;
    return nans != 0 ? numbers : (numbers - 1) / 2;
}

static int64_t find(const struct job *job, const char *self)
{
    size_t nans = 0;
    sim_line_load(&job->jo_line, job->jo_class, self, job->jo_values);
    for (size_t i = 0; i < job->jo_length; i++) {
        int64_t value = job->jo_values[i];
        bool whole = job->jo_class == SIM_CLASS_INTEGER;
        job->jo_items[i] = (struct item){whole ? value : key_of(value), (int64_t)i};
        nans += !whole && job->jo_items[i].it_key == NAN_KEY;
    }
    qsort(job->jo_items, job->jo_length, sizeof *job->jo_items, compare_items);
    return job->jo_items[position(job, nans)].it_place;
}

/* places: the addresses of the indices (or the values again), of the values and of self. */
static aclError find_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    for (int64_t i = 0; i < length; i++) {
        union sim_block_values block;
        int64_t place = find(job, places[2] + i * strides[2]);
        memcpy(&block, &job->jo_values[place], sizeof *job->jo_values);
        sim_element_store(&block, job->jo_class, places[1] + i * strides[1], job->jo_type, 0, 1);
        block.bv_integers[0] = place;
        if (job->jo_order->or_indices != 0)
            sim_element_store(&block, SIM_CLASS_INTEGER, places[0] + i * strides[0], ACL_INT64, 0, 1);
    }
    return ACL_SUCCESS;
}

/* The median of no elements is NaN, or 0 for types without NaN. */
static void store_nan(const aclsimTensor *values)
{
    const union sim_block_values none = {.bv_doubles = {NAN}};
    sim_element_store(&none, SIM_CLASS_DOUBLE, values->data, values->type, 0, 1);
}

static aclError run_order(const aclsimCall *call)
{
    const struct order *order = call->userData;
    const aclsimTensor *self = call->arguments[0].tensors, *values = call->arguments[order->or_values].tensors;
    const aclsimTensor *indices = order->or_indices == 0 ? values : call->arguments[order->or_indices].tensors;
    const aclsimTensor *tensors[] = {indices, values, self};
    char *places[] = {indices->data, values->data, self->data};
    struct sim_walk kept = {.wk_places = 3};
    struct sim_reduced reduced;
    uint32_t dim;
    void *memory;
    SIM_TRY(find_reduced(call, &dim, &reduced));
    if (sim_walk_is_empty(self->dims, self->rank)) {
        if (order->or_dim == 0)
            store_nan(values);
        return ACL_SUCCESS;
    }
    struct job job = {
        .jo_order = order,
        .jo_line = sim_line_of(self, dim, order->or_dim == 0 ? self->rank : self->rank != 0),
        .jo_class = sim_reduce_class(self->type),
        .jo_type = self->type,
        .jo_k = order->or_k == 0 ? 0 : call->arguments[order->or_k].integer,
    };
    SIM_TRY(sim_line_reserve(&job.jo_line, job.jo_class, 1 + sizeof(struct item) / sizeof(int64_t), &memory,
                             &job.jo_length));
    job.jo_values = memory;
    job.jo_items = (struct item *)(job.jo_values + job.jo_length);
    sim_reduce_walk(&kept, tensors, &reduced);
    aclError code = sim_walk_run(&kept, places, find_line, &job);
    free(memory);
    return code;
}

#define ORDER(name, ...)                                                                                               \
    static const struct order order_##name = {__VA_ARGS__};                                                            \
    const struct sim_kernel sim_kernel_aclnn##name = {plan_order, run_order, (void *)&order_##name, false};

ORDER(Median, .or_values = 1)
ORDER(NanMedian, .or_skips_nans = true, .or_values = 1)
ORDER(MedianDim, .or_dim = 1, .or_keeps = 2, .or_values = 3, .or_indices = 4)
ORDER(NanMedianDim, .or_skips_nans = true, .or_dim = 1, .or_keeps = 2, .or_values = 3, .or_indices = 4)
ORDER(Kthvalue, .or_k = 1, .or_dim = 2, .or_keeps = 3, .or_values = 4, .or_indices = 5)
