/* Routing of tokens to experts: MoeInitRouting and MoeInitRoutingV2, which may quantise the tokens, and
 * MoeComputeExpertTokens. Each token has K experts. The pairs are sorted by expert, in a stable order, and the tokens
 * are copied to their places; a list says where each pair went. */
#include "base/bytes.h"
#include "moe.h"

#include <inttypes.h>
#include <math.h>

/* The rows of the result, and how they are quantised. */
struct rows {
    const double *rw_x, *rw_scale, *rw_offset; /* NULL: no factors, or nothing is added */
    size_t rw_width;
    size_t rw_across; /* from the scales of one expert to those of the next; 0: all experts have the same */
    bool rw_wide;     /* there is a scale per column */
    bool rw_quantised, rw_dynamic;
    double *rw_to, *rw_scales; /* rw_scales: of dynamic rows */
};

/* Copies a token to a row of the result. */
static void put_row(const struct rows *rows, size_t token, size_t expert, size_t to)
{
    const double *from = rows->rw_x + token * rows->rw_width;
    double *row = rows->rw_to + to * rows->rw_width;
    for (size_t k = 0; k < rows->rw_width; k++) {
        const size_t place = expert * rows->rw_across + (rows->rw_wide ? k : 0);
        row[k] = from[k] * (rows->rw_scale == NULL ? 1 : rows->rw_scale[place]);
        if (rows->rw_quantised && !rows->rw_dynamic)
            row[k] = rint(row[k] + (rows->rw_offset == NULL ? 0 : rows->rw_offset[0]));
    }
    if (rows->rw_dynamic)
        rows->rw_scales[to] = sim_packed_quantize(row, rows->rw_width, INT8_MAX);
}

static int64_t lesser(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* ---- MoeInitRouting: x, rowIdx, expertIdx, activeNum, with Quant also scale and offset, expandedX, expandedRowIdx,
 * expandedExpertIdx ---- */

static aclnnStatus plan_first(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *outs = given + call->argumentCount - 3;
    const bool quantises = call->argumentCount == 9;
    (void)workspace_size;
    SIM_TRY(sim_require_type(given, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(outs, SIM_TYPE(quantises ? ACL_INT8 : given->tensors->type)));
    const aclsimArgument *const indices[] = {&given[1], &given[2], &outs[1], &outs[2]};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        SIM_TRY(sim_require_type(indices[i], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(given, 2, -1, -1));
    const int64_t rows = given->tensors->dims[0], width = given->tensors->dims[1];
    SIM_TRY(sim_moe_require_shape(&given[2], 2, rows, -1));
    const int64_t each = given[2].tensors->dims[1], count = sim_walk_count(given[2].tensors);
    SIM_ARGUMENT(count >= 0, ACLNN_ERR_INNER_TILING_ERROR, "%s has more elements than fit into 63 bits", given[2].name);
    SIM_TRY(sim_moe_require_shape(&given[1], 2, rows, each));
    SIM_TRY(sim_moe_require_number(&given[3], 0, INT64_MAX));
    SIM_TRY(sim_moe_require_shape(outs, 2, lesser(rows, given[3].integer) * each, width));
    SIM_TRY(sim_moe_require_shape(&outs[1], 1, count, -1));
    return sim_moe_require_shape(&outs[2], 1, count, -1);
}

static aclError run_first(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments, *outs = given + call->argumentCount - 3;
    const size_t tokens = (size_t)given->tensors->dims[0], count = (size_t)sim_walk_count(given[2].tensors);
    const size_t active = (size_t)outs->tensors->dims[0];
    const bool quantises = call->argumentCount == 9;
    const double scale = quantises ? given[4].number : 1, offset = quantises ? given[5].number : 0;
    struct rows rows = {.rw_width = (size_t)given->tensors->dims[1],
                        .rw_scale = &scale,
                        .rw_offset = &offset,
                        .rw_quantised = quantises};
    double *x, *carried, *experts, *order, *places, *sorted;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, given, &x));
    SIM_TRY(sim_lists_load(lists, &given[1], &carried));
    SIM_TRY(sim_lists_load(lists, &given[2], &experts));
    SIM_TRY(sim_moe_sort(lists, experts, count, &order));
    SIM_TRY(sim_lists_take(lists, count, &places));
    SIM_TRY(sim_lists_take(lists, count, &sorted));
    SIM_TRY(sim_lists_take(lists, active * rows.rw_width, &rows.rw_to));
    rows.rw_x = x;
    for (size_t i = 0; i < count; i++) {
        const size_t from = (size_t)order[i];
        if (carried[from] < 0 || carried[from] >= (double)count)
            return sim_moe_fail(&given[1], from, carried[from], 0, (int64_t)count - 1);
        const size_t row = (size_t)carried[from];
        places[row] = (double)i;
        sorted[i] = experts[from];
        if (i < active)
            put_row(&rows, row % tokens, 0, i);
    }
    sim_lists_store(outs, rows.rw_to);
    sim_lists_store(&outs[1], places);
    sim_lists_store(&outs[2], sorted);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind first = {run_first};
const struct sim_kernel sim_kernel_aclnnMoeInitRouting = {plan_first, sim_lists_run, (void *)&first, false};
const struct sim_kernel sim_kernel_aclnnMoeInitRoutingQuant = {plan_first, sim_lists_run, (void *)&first, false};

/* ---- MoeInitRoutingV2: x, expertIdx, with Quant also scale and offset, activeNum, expertCapacity, expertNum,
 * dropPadMode, expertTokensCountOrCumsumFlag, expertTokensBeforeCapacityFlag, with Quant also quantMode, expandedX,
 * expandedRowIdx, expertTokensCountOrCumsum, expertTokensBeforeCapacity, with Quant also dynamicQuantScale ---- */

enum { NO_COUNTS, CUMULATIVE, COUNTS }; /* values of the flag */

struct route {
    const aclsimArgument *ro_x, *ro_experts, *ro_scale, *ro_offset; /* the last two may be NULL */
    const aclsimArgument *ro_active, *ro_capacity, *ro_number, *ro_mode, *ro_flag, *ro_before;
    const aclsimArgument *ro_quant_mode;                                    /* NULL: not quantised */
    const aclsimArgument *ro_out, *ro_places, *ro_counts, *ro_counts_before, *ro_scales; /* ro_scales may be NULL */
};

static struct route route_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const bool quantises = call->argumentCount == 16;
    struct route route = {.ro_x = given, .ro_experts = &given[1]};
    if (quantises) {
        route.ro_scale = given[2].present != 0 ? &given[2] : NULL;
        route.ro_offset = given[3].present != 0 ? &given[3] : NULL;
        given += 2;
    }
    route.ro_active = &given[2];
    route.ro_capacity = &given[3];
    route.ro_number = &given[4];
    route.ro_mode = &given[5];
    route.ro_flag = &given[6];
    route.ro_before = &given[7];
    if (quantises)
        route.ro_quant_mode = &given++[8];
    route.ro_out = &given[8];
    route.ro_places = &given[9];
    route.ro_counts = &given[10];
    route.ro_counts_before = &given[11];
    if (quantises)
        route.ro_scales = &given[12];
    return route;
}

static bool is_dynamic(const struct route *route)
{
    return route->ro_quant_mode != NULL && route->ro_quant_mode->integer == 1;
}

static bool drops(const struct route *route)
{
    return route->ro_mode->integer == 1;
}

/* Whether the numbers of tokens per expert are written. */
static bool counts(const struct route *route)
{
    return !drops(route) && route->ro_flag->integer != NO_COUNTS;
}

static bool counts_before(const struct route *route)
{
    return drops(route) && route->ro_before->integer != 0;
}

static aclnnStatus check_numbers(const struct route *route, int64_t tokens)
{
    SIM_TRY(sim_moe_require_number(route->ro_active, 0, INT64_MAX));
    SIM_TRY(sim_moe_require_number(route->ro_mode, 0, 1));
    SIM_TRY(sim_moe_require_number(route->ro_flag, NO_COUNTS, COUNTS));
    SIM_TRY(sim_moe_require_number(route->ro_number, drops(route) || counts(route), INT32_MAX));
    SIM_TRY(sim_moe_require_number(route->ro_capacity, drops(route),
                                   drops(route) ? lesser(tokens, INT32_MAX) : INT64_MAX));
    return route->ro_quant_mode == NULL ? ACL_SUCCESS : sim_moe_require_number(route->ro_quant_mode, 0, 1);
}

static aclnnStatus check_quant(const struct route *route, int64_t rows)
{
    const int64_t width = route->ro_x->tensors->dims[1];
    int64_t all = route->ro_number->integer;
    const bool fits = sim_length_multiply(&all, width);
    SIM_TRY(sim_require_type(route->ro_out, SIM_TYPE(ACL_INT8)));
    if (route->ro_scale != NULL) {
        const int64_t found = sim_walk_count(route->ro_scale->tensors);
        SIM_TRY(sim_require_type(route->ro_scale, SIM_TYPE(ACL_FLOAT)));
        SIM_ARGUMENT(is_dynamic(route) ? found == width || (fits && all > 0 && found == all) : found == 1,
                     ACLNN_ERR_INNER_TILING_ERROR, "%s has %" PRId64 " elements, expected %s", route->ro_scale->name,
                     found, is_dynamic(route) ? "one per column, for one or all experts" : "1");
    }
    if (!is_dynamic(route)) {
        SIM_ARGUMENT(route->ro_scale != NULL && route->ro_offset != NULL, ACLNN_ERR_PARAM_NULLPTR,
                     "scale or offset is NULL, expected both for a static quantisation");
        SIM_TRY(sim_require_type(route->ro_offset, SIM_TYPE(ACL_FLOAT)));
        return sim_moe_require_shape(route->ro_offset, 1, 1, -1);
    }
    SIM_TRY(sim_require_present(route->ro_scales, true));
    SIM_TRY(sim_require_type(route->ro_scales, SIM_TYPE(ACL_FLOAT)));
    return sim_moe_require_shape(route->ro_scales, 1, rows, -1);
}

/* The rows of the result. */
static int64_t rows_of(const struct route *route)
{
    const int64_t count = sim_walk_count(route->ro_experts->tensors), active = route->ro_active->integer;
    if (drops(route))
        return route->ro_number->integer * route->ro_capacity->integer;
    return active == 0 ? count : lesser(active, count);
}

static aclnnStatus plan_second(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct route route = route_of(call);
    const aclsimTensor *x = route.ro_x->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_type(route.ro_x, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(route.ro_experts, SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_type(route.ro_places, SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(route.ro_x, 2, -1, -1));
    SIM_TRY(sim_moe_require_shape(route.ro_experts, 2, x->dims[0], -1));
    SIM_TRY(check_numbers(&route, x->dims[0]));
    SIM_TRY(sim_moe_require_shape(route.ro_places, 1, sim_walk_count(route.ro_experts->tensors), -1));
    if (drops(&route))
        SIM_TRY(sim_moe_require_shape(route.ro_out, 3, route.ro_number->integer, route.ro_capacity->integer));
    else
        SIM_TRY(sim_moe_require_shape(route.ro_out, 2, rows_of(&route), x->dims[1]));
    SIM_ARGUMENT(route.ro_out->tensors->dims[route.ro_out->tensors->rank - 1] == x->dims[1],
                 ACLNN_ERR_INNER_TILING_ERROR, "the last dimension of %s is %" PRId64 ", expected %" PRId64,
                 route.ro_out->name, route.ro_out->tensors->dims[route.ro_out->tensors->rank - 1], x->dims[1]);
    const aclsimArgument *numbers = drops(&route) ? route.ro_counts_before : route.ro_counts;
    if (counts(&route) || counts_before(&route)) {
        SIM_TRY(sim_require_present(numbers, true));
        SIM_TRY(sim_require_type(numbers, SIM_TYPE(ACL_INT32)));
        SIM_TRY(sim_moe_require_shape(numbers, 1, route.ro_number->integer, -1));
    }
    return route.ro_quant_mode == NULL ? sim_require_same_type(route.ro_out, x->type, route.ro_x->name)
                                       : check_quant(&route, rows_of(&route));
}

/* Finds where each pair goes, and copies the tokens there; `used` counts the tokens of each expert. */
static aclError place_pairs(const struct route *route, const struct rows *rows, const double *experts,
                            const double *order, size_t count, double *used, double *places)
{
    const size_t each = (size_t)route->ro_experts->tensors->dims[1], number = (size_t)route->ro_number->integer;
    const size_t capacity = (size_t)route->ro_capacity->integer, total = (size_t)rows_of(route);
    for (size_t i = 0; i < count; i++) {
        const size_t pair = (size_t)order[i];
        const double expert = experts[pair];
        if (number > 0 && (expert < 0 || expert >= (double)number))
            return sim_moe_fail(route->ro_experts, pair, expert, 0, (int64_t)number - 1);
        const size_t known = number > 0 ? (size_t)expert : 0, before = number > 0 ? (size_t)used[known]++ : 0;
        const bool dropped = drops(route) && before >= capacity;
        const size_t to = drops(route) ? known * capacity + before : i;
        places[pair] = dropped ? -1 : (double)to;
        if (!dropped && to < total)
            put_row(rows, pair / each, known, to);
    }
    return ACL_SUCCESS;
}

static aclError run_second(const aclsimCall *call, struct sim_lists *lists)
{
    const struct route route = route_of(call);
    const size_t count = (size_t)sim_walk_count(route.ro_experts->tensors), total = (size_t)rows_of(&route);
    const size_t number = (size_t)route.ro_number->integer;
    struct rows rows = {.rw_width = (size_t)route.ro_x->tensors->dims[1],
                        .rw_quantised = route.ro_quant_mode != NULL,
                        .rw_dynamic = is_dynamic(&route)};
    double *x, *experts, *order, *places, *used, *scale = NULL, *offset = NULL;
    SIM_TRY(sim_lists_load(lists, route.ro_x, &x));
    SIM_TRY(sim_lists_load(lists, route.ro_experts, &experts));
    SIM_TRY(sim_moe_sort(lists, experts, count, &order));
    SIM_TRY(sim_lists_take(lists, count, &places));
    SIM_TRY(sim_lists_take(lists, number, &used));
    SIM_TRY(sim_lists_take(lists, total * rows.rw_width, &rows.rw_to));
    SIM_TRY(sim_lists_take(lists, total, &rows.rw_scales));
    if (route.ro_scale != NULL)
        SIM_TRY(sim_lists_load(lists, route.ro_scale, &scale));
    if (route.ro_offset != NULL && !rows.rw_dynamic)
        SIM_TRY(sim_lists_load(lists, route.ro_offset, &offset));
    const size_t scales = route.ro_scale == NULL ? 0 : (size_t)sim_walk_count(route.ro_scale->tensors);
    rows.rw_x = x;
    rows.rw_scale = scale;
    rows.rw_offset = offset;
    rows.rw_wide = rows.rw_dynamic;
    rows.rw_across = rows.rw_dynamic && number > 0 && scales == number * rows.rw_width ? rows.rw_width : 0;
    SIM_TRY(place_pairs(&route, &rows, experts, order, count, used, places));
    sim_lists_store(route.ro_out, rows.rw_to);
    sim_lists_store(route.ro_places, places);
    if (rows.rw_dynamic)
        sim_lists_store(route.ro_scales, rows.rw_scales);
    if (counts_before(&route))
        sim_lists_store(route.ro_counts_before, used);
    for (size_t i = 1; counts(&route) && route.ro_flag->integer == CUMULATIVE && i < number; i++)
        used[i] += used[i - 1];
    if (counts(&route))
        sim_lists_store(route.ro_counts, used);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind second = {run_second};
const struct sim_kernel sim_kernel_aclnnMoeInitRoutingV2 = {plan_second, sim_lists_run, (void *)&second, false};
const struct sim_kernel sim_kernel_aclnnMoeInitRoutingQuantV2 = {plan_second, sim_lists_run, (void *)&second, false};

/* ---- MoeComputeExpertTokens: sortedExperts, numExperts, out: how many entries are at most each expert ---- */

static aclnnStatus plan_tokens(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[2], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_moe_require_shape(&given[0], 1, -1, -1));
    SIM_TRY(sim_moe_require_number(&given[1], 1, INT32_MAX));
    return sim_moe_require_shape(&given[2], 1, given[1].integer, -1);
}

static aclError run_tokens(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)given[0].tensors->dims[0], experts = (size_t)given[1].integer;
    double *sorted, *ends;
    SIM_TRY(sim_lists_load(lists, &given[0], &sorted));
    SIM_TRY(sim_lists_take(lists, experts, &ends));
    for (size_t expert = 0, end = 0; expert < experts; expert++) {
        while (end < count && sorted[end] <= (double)expert)
            end++;
        ends[expert] = (double)end;
    }
    sim_lists_store(&given[2], ends);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind tokens = {run_tokens};
const struct sim_kernel sim_kernel_aclnnMoeComputeExpertTokens = {plan_tokens, sim_lists_run, (void *)&tokens, false};
