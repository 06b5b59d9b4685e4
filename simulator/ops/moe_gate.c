/* MoeGatingTopKSoftmax: x, finished, k, in V2 also renorm and outputSoftmaxResultFlag, y, expertIdx, in V1 rowIdx, in
 * V2 softmaxResult. The k greatest probabilities of each row and their experts; with renorm, the softmax of the k
 * greatest elements. The lower expert comes first among equals. Finished rows get the number of experts as their
 * expert. */
#include "moe.h"

#include <math.h>

#define MOST_CHOICES 1024

struct gate {
    const aclsimArgument *ga_x, *ga_finished, *ga_k, *ga_y, *ga_expert, *ga_row, *ga_softmax; /* NULL: no such one */
    bool ga_renorm;
};

static bool is_second(const aclsimCall *call)
{
    return call->argumentCount == 8;
}

static struct gate parse(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    struct gate gate = {.ga_x = given, .ga_finished = &given[1], .ga_k = &given[2]};
    if (!is_second(call)) {
        gate.ga_y = &given[3];
        gate.ga_expert = &given[4];
        gate.ga_row = &given[5];
        return gate;
    }
    gate.ga_renorm = given[3].integer != 0;
    gate.ga_y = &given[5];
    gate.ga_expert = &given[6];
    if (given[4].integer != 0 && !gate.ga_renorm && given[7].present != 0)
        gate.ga_softmax = &given[7];
    return gate;
}

/* The tensor has the dimensions of x, with `last` as the last one. */
static aclnnStatus check_like(const aclsimArgument *argument, const aclsimTensor *x, int64_t last)
{
    SIM_TRY(sim_moe_require_shape(argument, x->rank, x->dims[0], x->rank == 2 ? last : x->dims[1]));
    SIM_ARGUMENT(argument->tensors->dims[x->rank - 1] == last, ACLNN_ERR_INNER_TILING_ERROR,
                 "the last dimension of %s is %lld, expected %lld", argument->name,
                 (long long)argument->tensors->dims[x->rank - 1], (long long)last);
    return ACL_SUCCESS;
}

static aclnnStatus check_types(const struct gate *gate)
{
    SIM_TRY(sim_require_types(gate->ga_x, gate->ga_y, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(gate->ga_expert, SIM_TYPE(ACL_INT32)));
    if (gate->ga_row != NULL)
        SIM_TRY(sim_require_type(gate->ga_row, SIM_TYPE(ACL_INT32)));
    if (gate->ga_softmax != NULL)
        SIM_TRY(sim_require_type(gate->ga_softmax, SIM_TYPE(ACL_FLOAT)));
    return gate->ga_finished->present == 0 ? ACL_SUCCESS : sim_require_type(gate->ga_finished, SIM_TYPE(ACL_BOOL));
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct gate gate = parse(call);
    const aclsimTensor *x = gate.ga_x->tensors, *finished = gate.ga_finished->tensors;
    (void)workspace_size;
    SIM_TRY(check_types(&gate));
    SIM_ARGUMENT(x->rank == 2 || x->rank == 3, ACLNN_ERR_INNER_TILING_ERROR, "%s has %u dimensions, expected 2 or 3",
                 gate.ga_x->name, x->rank);
    const int64_t experts = x->dims[x->rank - 1], k = gate.ga_k->integer;
    SIM_TRY(sim_moe_require_number(gate.ga_k, 0, experts < MOST_CHOICES ? experts : MOST_CHOICES));
    if (is_second(call))
        SIM_TRY(sim_moe_require_number(&call->arguments[3], 0, 1));
    SIM_TRY(check_like(gate.ga_y, x, k));
    SIM_TRY(check_like(gate.ga_expert, x, k));
    if (gate.ga_row != NULL)
        SIM_TRY(check_like(gate.ga_row, x, k));
    if (gate.ga_softmax != NULL)
        SIM_TRY(check_like(gate.ga_softmax, x, experts));
    SIM_ARGUMENT(gate.ga_finished->present == 0 || sim_require_is_shape(finished, x->dims, x->rank - 1),
                 ACLNN_ERR_INNER_TILING_ERROR, "%s does not have one element per row of %s", gate.ga_finished->name,
                 gate.ga_x->name);
    return ACL_SUCCESS;
}

/* Replaces numbers by their softmax; a NaN, or an infinite greatest one, makes all of them NaN. */
static void softmax(double *numbers, size_t count)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        most = numbers[i] > most || numbers[i] != numbers[i] ? numbers[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] = exp(numbers[i] - most);
    for (size_t i = 0; i < count; i++)
        numbers[i] /= sum;
}

/* Takes the greatest numbers of a row, one after the other, and marks them in `taken`. A NaN is greater than all. */
static void choose(const double *row, size_t experts, size_t k, double *taken, double *values, double *chosen)
{
    for (size_t i = 0; i < experts; i++)
        taken[i] = 0;
    for (size_t j = 0; j < k; j++) {
        size_t best = experts;
        for (size_t i = 0; i < experts; i++)
            if (taken[i] == 0 && (best == experts || row[i] > row[best] ||
                                  (row[i] != row[i] && row[best] == row[best])))
                best = i;
        taken[best] = 1; /* there is one, because k is at most the number of experts */
        values[j] = row[best];
        chosen[j] = (double)best;
    }
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const struct gate gate = parse(call);
    const aclsimTensor *x = gate.ga_x->tensors;
    const size_t rows = sim_slices_extent(x, 0, x->rank - 1), experts = (size_t)x->dims[x->rank - 1];
    const size_t k = (size_t)gate.ga_k->integer;
    double *numbers, *finished, *taken, *values, *chosen, *places;
    if (rows == 0 || experts == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, gate.ga_x, &numbers));
    SIM_TRY(sim_lists_load_or(lists, gate.ga_finished, rows, 0, &finished));
    SIM_TRY(sim_lists_take(lists, experts, &taken));
    SIM_TRY(sim_lists_take(lists, rows * k, &values));
    SIM_TRY(sim_lists_take(lists, rows * k, &chosen));
    SIM_TRY(sim_lists_take(lists, rows * k, &places));
    for (size_t i = 0; i < rows; i++) {
        if (!gate.ga_renorm)
            softmax(numbers + i * experts, experts);
        choose(numbers + i * experts, experts, k, taken, values + i * k, chosen + i * k);
        if (gate.ga_renorm)
            softmax(values + i * k, k);
        for (size_t j = 0; j < k; j++) {
            places[i * k + j] = (double)(j * rows + i);
            chosen[i * k + j] = finished[i] != 0 ? (double)experts : chosen[i * k + j];
        }
    }
    sim_lists_store(gate.ga_y, values);
    sim_lists_store(gate.ga_expert, chosen);
    if (gate.ga_row != NULL)
        sim_lists_store(gate.ga_row, places);
    if (gate.ga_softmax != NULL)
        sim_lists_store(gate.ga_softmax, numbers);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnMoeGatingTopKSoftmax = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnMoeGatingTopKSoftmaxV2 = {plan, sim_lists_run, (void *)&kind, false};
