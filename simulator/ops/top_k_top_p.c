/* ApplyTopKTopP: logits, p, k, out. In each row, the elements that are less than the k-th greatest one become -inf;
 * then those that are least probable, as long as their probabilities, added from the least on, are at most 1 - p. The
 * greatest element stays. A k below 1, or not below the number of columns, leaves all elements. */
#include "slices.h"

#include <math.h>
#include <stdlib.h>

enum { LOGITS, P, K, OUT };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *logits = &given[LOGITS];
    (void)workspace_size;
    SIM_TRY(sim_require_types(logits, &given[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_same_type(&given[P], logits->tensors->type, logits->name));
    SIM_TRY(sim_require_type(&given[K], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_rank(logits, 2, 2));
    SIM_TRY(sim_require_shape(&given[P], logits->tensors->dims, 1, "one number per row"));
    SIM_TRY(sim_require_shape(&given[K], logits->tensors->dims, 1, "one number per row"));
    return sim_require_shape(&given[OUT], logits->tensors->dims, 2, "that of logits");
}

/* An element and its place; of equal elements, the first one is less. A NaN is greater than all numbers. */
struct entry {
    double en_value;
    size_t en_place;
};

static int compare(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    const bool one_is_nan = isnan(a->en_value), other_is_nan = isnan(b->en_value);
    if (one_is_nan != other_is_nan)
        return one_is_nan ? 1 : -1;
    if (!one_is_nan && a->en_value != b->en_value)
        return a->en_value < b->en_value ? -1 : 1;
    return a->en_place < b->en_place ? -1 : 1;
}

/* Keeps the elements from the k-th greatest one on. */
static void keep_greatest(struct entry *sorted, size_t columns, double k)
{
    if (!(k >= 1 && k < (double)columns))
        return;
    const double least = sorted[columns - (size_t)k].en_value;
    for (size_t i = 0; sorted[i].en_value < least; i++)
        sorted[i].en_value = -INFINITY;
}

/* Keeps the most probable elements. */
static void keep_probable(struct entry *sorted, size_t columns, double p)
{
    const double most = sorted[columns - 1].en_value;
    double sum = 0, part = 0;
    for (size_t i = 0; i < columns; i++)
        sum += exp(sorted[i].en_value - most);
    for (size_t i = 0; i + 1 < columns; i++) {
        part += exp(sorted[i].en_value - most) / sum;
        if (part <= 1 - p)
            sorted[i].en_value = -INFINITY;
    }
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[LOGITS].tensors->dims[0], columns = (size_t)given[LOGITS].tensors->dims[1];
    double *logits, *p, *k, *memory;
    if (rows == 0 || columns == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[LOGITS], &logits));
    SIM_TRY(sim_lists_load(lists, &given[P], &p));
    SIM_TRY(sim_lists_load(lists, &given[K], &k));
    SIM_TRY(sim_lists_take(lists, columns * sizeof(struct entry) / sizeof(double), &memory));
    struct entry *sorted = (struct entry *)memory;
    for (size_t row = 0; row < rows; row++) {
        double *values = logits + row * columns;
        for (size_t i = 0; i < columns; i++)
            sorted[i] = (struct entry){values[i], i};
        qsort(sorted, columns, sizeof *sorted, compare);
        keep_greatest(sorted, columns, k[row]);
        keep_probable(sorted, columns, p[row]);
        for (size_t i = 0; i < columns; i++)
            values[sorted[i].en_place] = sorted[i].en_value;
    }
    sim_lists_store(&given[OUT], logits);
    return ACL_SUCCESS;
}

_Static_assert(sizeof(struct entry) % sizeof(double) == 0, "entries fit into a list of doubles");
static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnApplyTopKTopP = {plan, sim_lists_run, (void *)&kind, false};
