/* Checks of routing operators, and a stable sort. */
#include "moe.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool fits(const aclsimTensor *tensor, uint32_t dim, int64_t size)
{
    return size < 0 || tensor->rank <= dim || tensor->dims[dim] == size;
}

/* "3 x any size" */
static void list_sizes(char *text, size_t room, uint32_t rank, int64_t first, int64_t second)
{
    char one[32] = "any size", other[32] = "any size";
    if (first >= 0)
        snprintf(one, sizeof one, "%" PRId64, first);
    if (second >= 0)
        snprintf(other, sizeof other, "%" PRId64, second);
    snprintf(text, room, "%s%s%s%s", one, rank > 1 ? " x " : "", rank > 1 ? other : "",
             rank > 2 ? " and more dimensions" : "");
}

static void report_sizes(const aclsimArgument *argument, int64_t first, int64_t second)
{
    aclsimTensor wanted = *argument->tensors;
    if (first >= 0)
        wanted.dims[0] = first;
    if (second >= 0)
        wanted.dims[1] = second;
    sim_report_shape(argument->name, wanted.dims, wanted.rank);
}

aclnnStatus sim_moe_require_shape(const aclsimArgument *argument, uint32_t rank, int64_t first, int64_t second)
{
    const aclsimTensor *tensor = argument->tensors;
    char text[96];
    if (tensor->rank != rank)
        sim_report_rank(argument->name, rank);
    SIM_ARGUMENT(tensor->rank == rank, ACLNN_ERR_INNER_TILING_ERROR, "%s has %u dimensions, expected %u",
                 argument->name, tensor->rank, rank);
    list_sizes(text, sizeof text, rank, first, second);
    if (!fits(tensor, 0, first) || !fits(tensor, 1, second))
        report_sizes(argument, first, second);
    SIM_ARGUMENT(fits(tensor, 0, first) && fits(tensor, 1, second), ACLNN_ERR_INNER_TILING_ERROR,
                 "dimension %d of %s is %" PRId64 ", expected the shape %s", fits(tensor, 0, first), argument->name,
                 tensor->dims[fits(tensor, 0, first)], text);
    return ACL_SUCCESS;
}

aclnnStatus sim_moe_require_number(const aclsimArgument *number, int64_t least, int64_t most)
{
    if (number->integer < least || number->integer > most)
        sim_report_number(number->name, least);
    SIM_ARGUMENT(number->integer >= least && number->integer <= most, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64, number->name, number->integer, least, most);
    return ACL_SUCCESS;
}

/* Merges the sorted halves of a range, in which the left one comes first among equals. */
static void merge(const double *keys, const double *from, double *to, size_t start, size_t middle, size_t end)
{
    size_t left = start, right = middle;
    for (size_t i = start; i < end; i++) {
        const bool take_left =
            left < middle && (right >= end || keys[(size_t)from[left]] <= keys[(size_t)from[right]]);
        to[i] = from[take_left ? left++ : right++];
    }
}

aclError sim_moe_sort(struct sim_lists *lists, const double *keys, size_t count, double **positions)
{
    double *from, *to;
    SIM_TRY(sim_lists_take(lists, count, &from));
    SIM_TRY(sim_lists_take(lists, count, &to));
    for (size_t i = 0; i < count; i++)
        from[i] = (double)i;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = start + width < count ? start + width : count;
            merge(keys, from, to, start, middle, middle + width < count ? middle + width : count);
        }
        double *sorted = to;
        to = from;
        from = sorted;
    }
    *positions = from;
    return ACL_SUCCESS;
}

aclError sim_moe_fail(const aclsimArgument *argument, size_t place, double value, int64_t least, int64_t most)
{
    char text[192];
    snprintf(text, sizeof text, "element %zu of %.60s is %.0f, expected %" PRId64 " to %" PRId64, place, argument->name,
             value, least, most);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}
