/* EmbeddingDenseBackward: grad, indices, numWeights, paddingIdx, scaleGradByFreq, out. Each row of the result is the
 * sum of the rows of grad whose index is its number, divided by the number of these if scaleGradByFreq is true. Sums
 * are computed in double precision, in the order of the indices, and rounded once. The row of paddingIdx stays 0. */
#include "base/bytes.h"
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRAD, INDICES, COUNT, PADDING, SCALES, OUT };

static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *grad = &call->arguments[GRAD], *indices = &call->arguments[INDICES];
    const aclsimTensor *tensor = grad->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(grad, &call->arguments[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_REAL & ~SIM_TYPE(ACL_BF16)));
    SIM_TRY(sim_require_rank(grad, 1, SIM_RANK));
    SIM_TRY(sim_require_natural(&call->arguments[COUNT]));
    SIM_TRY(sim_require_shape(indices, tensor->dims, tensor->rank - 1, "that of grad without its last dimension"));
    const int64_t dims[] = {call->arguments[COUNT].integer, tensor->dims[tensor->rank - 1]};
    return sim_require_shape(&call->arguments[OUT], dims, 2, "that of the weights");
}

/* A row of grad, and the row of the result to which it is added. */
struct entry {
    int64_t en_index, en_row;
};

/* Sorts by index; rows of one index stay in their order. */
static int compare(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    if (a->en_index != b->en_index)
        return a->en_index < b->en_index ? -1 : 1;
    return a->en_row < b->en_row ? -1 : a->en_row > b->en_row;
}

/* Collects the indices, sorted; an index may have any type. */
static aclError load_entries(const aclsimCall *call, struct entry *entries, int64_t count)
{
    const aclsimTensor *index = call->arguments[INDICES].tensors;
    const int64_t most = call->arguments[COUNT].integer - 1;
    const enum sim_class class =
        sim_element_is(index->type, SIM_TYPES_FLOAT) ? SIM_CLASS_DOUBLE : SIM_CLASS_INTEGER;
    union sim_block_values block;
    for (int64_t i = 0; i < count; i++) {
        entries[i].en_row = i;
        sim_element_load(&block, class, sim_indices_nth(index, i), index->type, 0, 1);
        sim_element_store(&block, class, &entries[i].en_index, ACL_INT64, 0, 1);
        if (entries[i].en_index < 0 || entries[i].en_index > most) {
            char text[160];
            snprintf(text, sizeof text,
                     "element %" PRId64 " of indices is %" PRId64 ", expected 0 to %" PRId64 " for %" PRId64 " weights",
                     i, entries[i].en_index, most, most + 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
    }
    if (count != 0)
        qsort(entries, (size_t)count, sizeof *entries, compare);
    return ACL_SUCCESS;
}

/* The sum begins at `sum`, and the row that is added is loaded behind it. */
static void add_rows(const aclsimCall *call, const struct entry *entries, int64_t count, double *sum, size_t length)
{
    const aclsimTensor *grad = call->arguments[GRAD].tensors, *out = call->arguments[OUT].tensors;
    const struct sim_line from = sim_line_of(grad, grad->rank - 1, 1), to = sim_line_of(out, 1, 1);
    const bool scales = call->arguments[SCALES].integer != 0;
    const uint64_t padding = (uint64_t)call->arguments[PADDING].integer;
    const aclsimTensor rows = sim_line_without(grad, grad->rank - 1), results = sim_line_without(out, 1);
    double *row = sum + length;
    for (int64_t first = 0, end; first < count; first = end) {
        const int64_t index = entries[first].en_index;
        memset(sum, 0, length * sizeof *sum);
        for (end = first; end < count && entries[end].en_index == index; end++) {
            sim_line_load(&from, SIM_CLASS_DOUBLE, sim_indices_nth(&rows, entries[end].en_row), row);
            for (size_t i = 0; i < length; i++)
                sum[i] += row[i];
        }
        for (size_t i = 0; i < length && scales; i++)
            sum[i] /= (double)(end - first);
        if ((uint64_t)index != padding)
            sim_line_store(&to, SIM_CLASS_DOUBLE, sum, sim_indices_nth(&results, index));
    }
}

static aclError run_backward(const aclsimCall *call)
{
    const aclsimTensor *grad = call->arguments[GRAD].tensors, *out = call->arguments[OUT].tensors;
    const int64_t count = sim_walk_count(call->arguments[INDICES].tensors);
    const struct sim_line line = sim_line_of(grad, grad->rank - 1, 1);
    uint64_t bytes = sizeof(struct entry);
    struct entry *entries = NULL;
    void *sum;
    size_t length;
    sim_walk_fill(out, NULL);
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_DOUBLE, 2, &sum, &length));
    if (sim_size_multiply(&bytes, (uint64_t)count))
        entries = malloc(bytes);
    aclError code = entries == NULL ? sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                               "cannot allocate host memory for %" PRId64 " indices", count)
                                    : load_entries(call, entries, count);
    if (code == ACL_SUCCESS)
        add_rows(call, entries, count, sum, length);
    free(entries);
    free(sum);
    return code;
}

const struct sim_kernel sim_kernel_aclnnEmbeddingDenseBackward = {plan_backward, run_backward, NULL, false};
