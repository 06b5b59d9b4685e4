/* The experts of each token. MoeGatingTopKSoftmax: x, finished, k, in V2 also renorm and outputSoftmaxResultFlag, y,
 * expertIdx, in V1 rowIdx, in V2 softmaxResult. The k greatest probabilities of each row and their experts; with
 * renorm, the softmax of the k greatest elements. The lower expert comes first among equals. Finished rows get the
 * number of experts as their expert. */
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

/* ---- MoeGatingTopK: x, bias, k, kGroup, groupCount, groupSelectMode, renorm, normType, outFlag, routedScalingFactor,
 * eps, yOut, expertIdxOut, outOut. The scores of a row are its softmax, or its sigmoids. A bias is added to choose
 * experts, and not to the results. Only the experts of the kGroup best groups can be chosen; a group is worth its
 * greatest element, or the sum of the two greatest ones. ---- */

enum { X, BIAS, K, K_GROUP, GROUPS, GROUP_MODE, RENORM, NORM_TYPE, OUT_FLAG, FACTOR, EPS, Y, EXPERT, OUT };

static aclnnStatus check_groups(const aclsimArgument *given, int64_t experts)
{
    SIM_TRY(sim_moe_require_number(&given[GROUPS], 1, experts > 1 ? experts : 1));
    const int64_t groups = given[GROUPS].integer, each = experts / groups;
    SIM_ARGUMENT(experts % groups == 0, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %lld, expected a divisor of %lld, the number of experts", given[GROUPS].name, (long long)groups,
                 (long long)experts);
    SIM_TRY(sim_moe_require_number(&given[K_GROUP], 1, groups));
    SIM_TRY(sim_moe_require_number(&given[GROUP_MODE], 0, 1));
    SIM_ARGUMENT(given[GROUP_MODE].integer == 0 || groups == 1 || each >= 2, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is 1 and a group has %lld experts, expected 2 or more", given[GROUP_MODE].name, (long long)each);
    return sim_moe_require_number(&given[K], 1, given[K_GROUP].integer * each);
}

static aclnnStatus plan_groups(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[X], &given[Y], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[EXPERT], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(&given[X], 2, -1, -1));
    if (given[BIAS].present != 0) {
        SIM_TRY(sim_require_type(&given[BIAS], SIM_TYPES_SINGLE));
        SIM_TRY(sim_moe_require_shape(&given[BIAS], 1, x->dims[1], -1));
    }
    SIM_TRY(check_groups(given, x->dims[1]));
    SIM_TRY(sim_moe_require_number(&given[RENORM], 0, 1));
    SIM_TRY(sim_moe_require_number(&given[NORM_TYPE], 0, 1));
    SIM_TRY(sim_moe_require_shape(&given[Y], 2, x->dims[0], given[K].integer));
    SIM_TRY(sim_moe_require_shape(&given[EXPERT], 2, x->dims[0], given[K].integer));
    if (given[OUT_FLAG].integer == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(&given[OUT], SIM_TYPE(ACL_FLOAT)));
    return sim_moe_require_shape(&given[OUT], 2, x->dims[0], x->dims[1]);
}

/* Memory for one row. */
struct row {
    double *rw_biased, *rw_taken, *rw_values, *rw_groups, *rw_chosen;
};

/* What a group is worth. */
static double worth_of(const double *scores, size_t count, bool two, const struct row *row)
{
    choose(scores, count, two ? 2 : 1, row->rw_taken, row->rw_values, row->rw_chosen);
    return row->rw_values[0] + (two ? row->rw_values[1] : 0);
}

/* Makes the scores of all groups except the best ones the least ones. */
static void keep_groups(const aclsimArgument *given, size_t experts, const struct row *row)
{
    const size_t groups = (size_t)given[GROUPS].integer, each = experts / groups, kept = (size_t)given[K_GROUP].integer;
    if (groups == 1)
        return;
    for (size_t group = 0; group < groups; group++)
        row->rw_groups[group] = worth_of(row->rw_biased + group * each, each, given[GROUP_MODE].integer == 1, row);
    choose(row->rw_groups, groups, kept, row->rw_taken, row->rw_values, row->rw_chosen);
    for (size_t group = 0; group < groups; group++)
        for (size_t i = 0; i < each && row->rw_taken[group] == 0; i++)
            row->rw_biased[group * each + i] = -INFINITY;
}

/* Writes the results of one row, whose numbers become scores. */
static void gate_row(const aclsimArgument *given, size_t experts, const double *bias, double *scores,
                     const struct row *row, double *y, double *expert)
{
    const size_t k = (size_t)given[K].integer;
    const bool is_sigmoid = given[NORM_TYPE].integer == 1;
    double sum = 0;
    if (!is_sigmoid)
        softmax(scores, experts);
    for (size_t i = 0; i < experts; i++) {
        scores[i] = is_sigmoid ? 1 / (1 + exp(-scores[i])) : scores[i];
        row->rw_biased[i] = scores[i] + bias[i];
    }
    keep_groups(given, experts, row);
    choose(row->rw_biased, experts, k, row->rw_taken, row->rw_values, expert);
    for (size_t j = 0; j < k; j++)
        sum += y[j] = scores[(size_t)expert[j]];
    const double divisor = is_sigmoid || given[RENORM].integer == 1 ? sum + given[EPS].number : 1;
    for (size_t j = 0; j < k; j++)
        y[j] = y[j] / divisor * given[FACTOR].number;
}

static aclError run_groups(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[X].tensors->dims[0], experts = (size_t)given[X].tensors->dims[1];
    const size_t k = (size_t)given[K].integer;
    double *numbers, *bias, *y, *expert;
    struct row row;
    if (rows == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[X], &numbers));
    SIM_TRY(sim_lists_load_or(lists, &given[BIAS], experts, 0, &bias));
    SIM_TRY(sim_lists_take(lists, rows * k, &y));
    SIM_TRY(sim_lists_take(lists, rows * k, &expert));
    double **const parts[] = {&row.rw_biased, &row.rw_taken, &row.rw_values, &row.rw_groups, &row.rw_chosen};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        SIM_TRY(sim_lists_take(lists, experts, parts[i]));
    for (size_t i = 0; i < rows; i++)
        gate_row(given, experts, bias, numbers + i * experts, &row, y + i * k, expert + i * k);
    sim_lists_store(&given[Y], y);
    sim_lists_store(&given[EXPERT], expert);
    if (given[OUT_FLAG].integer != 0)
        sim_lists_store(&given[OUT], numbers);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind groups = {run_groups};
const struct sim_kernel sim_kernel_aclnnMoeGatingTopK = {plan_groups, sim_lists_run, (void *)&groups, false};

/* ---- MoeGatingTopKBackward: xNorm, which are the scores of the gate, gradY, expertIdx, renorm, normType,
 * routedScalingFactor, eps, out. The gradient of x with scores of the sigmoid ---- */

enum { SCORES, GRAD, CHOSEN, BACK_RENORM, BACK_TYPE, BACK_FACTOR, BACK_EPS, GRAD_X };

static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *scores = given[SCORES].tensors, *grad = given[GRAD].tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[SCORES], SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_types(&given[GRAD], &given[GRAD_X], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[CHOSEN], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(&given[SCORES], 2, -1, -1));
    SIM_TRY(sim_moe_require_shape(&given[GRAD], 2, scores->dims[0], -1));
    SIM_ARGUMENT(scores->dims[0] > 0 && grad->dims[1] > 0 && grad->dims[1] <= scores->dims[1],
                 ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has %lld rows and %lld columns, expected 1 or more, and at most the %lld experts of %s",
                 given[GRAD].name, (long long)grad->dims[0], (long long)grad->dims[1], (long long)scores->dims[1],
                 given[SCORES].name);
    SIM_TRY(sim_moe_require_shape(&given[CHOSEN], 2, grad->dims[0], grad->dims[1]));
    SIM_TRY(sim_moe_require_shape(&given[GRAD_X], 2, scores->dims[0], scores->dims[1]));
    SIM_TRY(sim_moe_require_number(&given[BACK_RENORM], 0, 0));
    return sim_moe_require_number(&given[BACK_TYPE], 1, 1);
}

/* With the scores s of the k chosen experts and d, their sum and eps: y = factor * s / d. */
static void add_row(const aclsimArgument *given, const double *scores, const double *grad, const double *chosen,
                    size_t k, double *result)
{
    double sum = given[BACK_EPS].number, inner = 0;
    for (size_t j = 0; j < k; j++) {
        sum += scores[(size_t)chosen[j]];
        inner += scores[(size_t)chosen[j]] * grad[j];
    }
    for (size_t j = 0; j < k; j++) {
        const double score = scores[(size_t)chosen[j]];
        result[(size_t)chosen[j]] +=
            score * (1 - score) * given[BACK_FACTOR].number * (grad[j] - inner / sum) / sum;
    }
}

static aclError run_backward(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[GRAD].tensors->dims[0], k = (size_t)given[GRAD].tensors->dims[1];
    const int64_t experts = given[SCORES].tensors->dims[1];
    double *scores, *grad, *chosen, *result;
    SIM_TRY(sim_lists_load(lists, &given[SCORES], &scores));
    SIM_TRY(sim_lists_load(lists, &given[GRAD], &grad));
    SIM_TRY(sim_lists_load(lists, &given[CHOSEN], &chosen));
    SIM_TRY(sim_lists_take(lists, rows * (size_t)experts, &result));
    for (size_t i = 0; i < rows * k; i++)
        if (chosen[i] < 0 || chosen[i] >= (double)experts)
            return sim_moe_fail(&given[CHOSEN], i, chosen[i], 0, experts - 1);
    for (size_t i = 0; i < rows; i++)
        add_row(given, scores + i * (size_t)experts, grad + i * k, chosen + i * k, k, result + i * (size_t)experts);
    sim_lists_store(&given[GRAD_X], result);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind backward = {run_backward};
const struct sim_kernel sim_kernel_aclnnMoeGatingTopKBackward = {plan_backward, sim_lists_run, (void *)&backward,
                                                                  false};
