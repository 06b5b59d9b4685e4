/* GroupedMatmulFinalizeRouting and its versions: products of groups of rows of int8 with their weights, of which each
 * row, times its factor, is added to the row of the result that its index names. The output of a shared expert, times
 * a weight, is added to some rows. The sums are kept in double, and rounded once. */
#include "grouped_int8.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

/* Places of the first version; later ones have three more arguments behind biasOptional: offset, antiquantScale,
 * antiquantOffset; the last ones also tuningConfig before the result. */
enum { X, WEIGHT, SCALE, BIAS, ROWS, GROUPS, SHARED, FACTOR, INDEX, TYPE, SHARED_WEIGHT, SHARED_OFFSET, TURN_X,
       TURN_WEIGHT, LIST_KIND, FIRST_ARGUMENTS = 16 };
#define MORE 3 /* arguments */

struct routing {
    struct sim_grouped_int8 ro_operands;
    const aclsimArgument *ro_next; /* what follows biasOptional, or its three arguments: ROWS is at ro_next[0] */
    const aclsimArgument *ro_absent[2], *ro_out;
    const double *ro_factors, *ro_indices; /* NULL: 1, and the row itself */
    double *ro_sums;
};

/* An argument from rowIndexOptional on back to pertokenScaleOptional, and forward. */
static const aclsimArgument *at(const struct routing *routing, size_t place)
{
    return &routing->ro_next[place - ROWS];
}

static struct routing routing_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool later = call->argumentCount > FIRST_ARGUMENTS;
    struct routing routing = {.ro_next = &given[ROWS + (later ? MORE : 0)],
                              .ro_out = &given[call->argumentCount - 1]};
    routing.ro_operands = (struct sim_grouped_int8){
        .go_x = &given[X], .go_weight = &given[WEIGHT], .go_scale = &given[SCALE], .go_bias = &given[BIAS],
        .go_offset = later ? &given[BIAS + 1] : NULL, .go_rows = at(&routing, ROWS),
        .go_groups = at(&routing, GROUPS), .go_turned = at(&routing, TURN_WEIGHT)->integer != 0,
        .go_counts = at(&routing, LIST_KIND)->integer == 1};
    for (size_t k = 0; k < 2 && later; k++)
        routing.ro_absent[k] = &given[BIAS + 2 + k];
    return routing;
}

/* ---- the first phase ---- */

static aclnnStatus check_flags(const struct routing *routing)
{
    const aclsimArgument *numbers[] = {at(routing, TYPE), at(routing, TURN_X)};
    for (size_t k = 0; k < 2; k++) {
        if (numbers[k]->integer != 0)
            sim_report_number(numbers[k]->name, 0);
        SIM_ARGUMENT(numbers[k]->integer == 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0, %s",
                     numbers[k]->name, numbers[k]->integer, k == 0 ? "float32" : "false");
    }
    for (size_t k = 0; k < 2; k++)
        SIM_ARGUMENT(routing->ro_absent[k] == NULL || routing->ro_absent[k]->present == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s is a tensor, expected NULL", routing->ro_absent[k]->name);
    return sim_groups_require_kind(at(routing, LIST_KIND));
}

/* The rows of the shared expert lie within the result. */
static aclnnStatus check_shared(const struct routing *routing, int64_t columns)
{
    const aclsimArgument *shared = at(routing, SHARED), *offset = at(routing, SHARED_OFFSET);
    const int64_t rows = routing->ro_out->tensors->dims[0];
    if (shared->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(shared, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(shared, 2, 2));
    const int64_t dims[] = {shared->tensors->dims[0], columns};
    SIM_TRY(sim_require_shape(shared, dims, 2, "the columns of the product"));
    SIM_ARGUMENT(offset->integer >= 0 && dims[0] <= rows && offset->integer <= rows - dims[0], ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 " and %s has %" PRId64 " rows, expected rows within the %" PRId64 " of %s",
                 offset->name, offset->integer, shared->name, dims[0], rows, routing->ro_out->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct routing routing = routing_of(call);
    const int64_t *rows = routing.ro_operands.go_x->tensors->dims;
    const aclsimArgument *factors = at(&routing, FACTOR), *indices = at(&routing, INDEX);
    int64_t columns = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_present(routing.ro_operands.go_groups, true));
    SIM_TRY(sim_grouped_int8_check(&routing.ro_operands, &columns));
    SIM_TRY(check_flags(&routing));
    SIM_TRY(sim_require_type(routing.ro_out, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_rank(routing.ro_out, 2, 2));
    const int64_t dims[] = {routing.ro_out->tensors->dims[0], columns};
    SIM_TRY(sim_require_shape(routing.ro_out, dims, 2, "the columns of the product"));
    SIM_TRY(check_shared(&routing, columns));
    if (factors->present != 0) {
        SIM_TRY(sim_require_type(factors, SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(factors, rows, 1, "one number per row of x"));
    }
    SIM_TRY(sim_require_present(indices, true));
    SIM_TRY(sim_require_type(indices, SIM_TYPES_INDEX));
    return sim_require_shape(indices, rows, 1, "one number per row of x");
}

/* ---- the second phase ---- */

static aclError route_rows(void *context, int64_t group, int64_t start, int64_t rows, const float *products)
{
    const struct routing *routing = context;
    const int64_t *dims = routing->ro_out->tensors->dims;
    (void)group;
    for (int64_t i = 0; i < rows; i++) {
        const double index = routing->ro_indices[start + i];
        const double factor = routing->ro_factors == NULL ? 1 : routing->ro_factors[start + i];
        if (!(index >= 0 && index < (double)dims[0])) {
            char text[128];
            snprintf(text, sizeof text, "%.40s[%" PRId64 "] is %.0f, expected 0 to %" PRId64,
                     at(routing, INDEX)->name, start + i, index, dims[0] - 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        double *sums = routing->ro_sums + (int64_t)index * dims[1];
        for (int64_t k = 0; k < dims[1]; k++)
            sums[k] += factor * (double)products[i * dims[1] + k];
    }
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    struct routing routing = routing_of(call);
    const aclsimArgument *shared = at(&routing, SHARED), *factors = at(&routing, FACTOR);
    const aclsimTensor *out = routing.ro_out->tensors;
    const size_t columns = (size_t)out->dims[1];
    double *loaded;
    SIM_TRY(sim_lists_take(lists, (size_t)out->dims[0] * columns, &routing.ro_sums));
    if (shared->present != 0) {
        const size_t count = (size_t)shared->tensors->dims[0] * columns;
        double *first = routing.ro_sums + (size_t)at(&routing, SHARED_OFFSET)->integer * columns;
        SIM_TRY(sim_lists_load(lists, shared, &loaded));
        for (size_t i = 0; i < count; i++)
            first[i] = at(&routing, SHARED_WEIGHT)->number * loaded[i];
    }
    if (factors->present != 0) {
        SIM_TRY(sim_lists_load(lists, factors, &loaded));
        routing.ro_factors = loaded;
    }
    SIM_TRY(sim_lists_load(lists, at(&routing, INDEX), &loaded));
    routing.ro_indices = loaded;
    SIM_TRY(sim_grouped_int8_run(&routing.ro_operands, lists, route_rows, &routing));
    sim_lists_store(routing.ro_out, routing.ro_sums);
    return ACL_SUCCESS;
}

#define VERSION(op) const struct sim_kernel sim_kernel_aclnn##op = {plan, sim_lists_run, (void *)&kind, false}

static const struct sim_lists_kind kind = {run};
VERSION(GroupedMatmulFinalizeRouting);
VERSION(GroupedMatmulFinalizeRoutingV2);
VERSION(GroupedMatmulFinalizeRoutingV3);
VERSION(GroupedMatmulFinalizeRoutingWeightNz);
VERSION(GroupedMatmulFinalizeRoutingWeightNzV2);
