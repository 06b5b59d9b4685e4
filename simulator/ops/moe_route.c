/* Routing of tokens to experts: MoeInitRouting with V2 and V3, which may quantise the tokens, and
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

/* ---- MoeInitRoutingV3: only the experts of a range get tokens. With dropPadMode 1, each expert has a place per
 * capacity; otherwise the tokens are in the order of the experts, and rows without token are 0. ---- */

enum { X, EXPERTS, SCALE, OFFSET, ACTIVE, CAPACITY, NUMBER, MODE, COUNT_TYPE, COUNT_FLAG, QUANT, RANGE, PLACE_TYPE, TO,
       PLACES, COUNTED, SCALES };
enum { BY_END, BY_EXPERT, BY_PAIR }; /* count types: the ends of the groups, counts, pairs of expert and count */

struct part {
    int64_t pa_first, pa_end; /* the experts that get tokens */
    size_t pa_rows;           /* of the result */
    bool pa_drops;
};

static struct part part_of(const aclsimArgument *given)
{
    const bool ranged = given[RANGE].present != 0 && given[RANGE].count == 2;
    const aclsimTensor *to = given[TO].tensors;
    return (struct part){.pa_first = ranged ? given[RANGE].integers[0] : 0,
                         .pa_end = ranged ? given[RANGE].integers[1] : given[NUMBER].integer,
                         .pa_rows = sim_slices_extent(to, 0, to->rank - 1),
                         .pa_drops = given[MODE].integer == 1};
}

static aclnnStatus check_part(const aclsimArgument *given)
{
    SIM_TRY(sim_moe_require_number(&given[NUMBER], 1, INT32_MAX));
    SIM_TRY(sim_moe_require_number(&given[MODE], 0, 1));
    SIM_TRY(sim_moe_require_number(&given[COUNT_TYPE], BY_END, BY_PAIR));
    SIM_TRY(sim_moe_require_number(&given[QUANT], -1, 1));
    SIM_TRY(sim_moe_require_number(&given[PLACE_TYPE], 0, given[MODE].integer == 1 ? 0 : 1));
    if (given[RANGE].present != 0 && given[RANGE].count != 0)
        SIM_TRY(sim_require_count(&given[RANGE], 2));
    const struct part part = part_of(given);
    SIM_ARGUMENT(part.pa_first >= 0 && part.pa_first < part.pa_end && part.pa_end <= given[NUMBER].integer,
                 ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 " to %" PRId64 ", expected a part of 0 to %" PRId64 ", the experts",
                 given[RANGE].name, part.pa_first, part.pa_end, given[NUMBER].integer);
    if (!part.pa_drops)
        return ACL_SUCCESS;
    SIM_ARGUMENT(part.pa_first == 0 && part.pa_end == given[NUMBER].integer, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 " to %" PRId64 ", expected all experts, because dropPadMode is 1", given[RANGE].name,
                 part.pa_first, part.pa_end);
    return sim_moe_require_number(&given[CAPACITY], 1, INT32_MAX);
}

/* The scales of the tokens are copied, or those of dynamic rows are computed; a static scale is one number. */
static aclnnStatus check_scales(const aclsimArgument *given, const struct part *part)
{
    const aclsimArgument *scale = &given[SCALE], *offset = &given[OFFSET];
    const int64_t rows = given[X].tensors->dims[0], width = given[X].tensors->dims[1], quant = given[QUANT].integer;
    if (scale->present != 0)
        SIM_TRY(sim_require_type(scale, SIM_TYPE(ACL_FLOAT)));
    if (quant == 0) {
        SIM_ARGUMENT(scale->present != 0 && offset->present != 0, ACLNN_ERR_PARAM_NULLPTR,
                     "scale or offset is NULL, expected both for a static quantisation");
        SIM_TRY(sim_require_type(offset, SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_moe_require_shape(scale, 1, 1, -1));
        return sim_moe_require_shape(offset, 1, 1, -1);
    }
    if (quant == -1 && scale->present != 0)
        SIM_TRY(sim_moe_require_shape(scale, 1, rows, -1));
    if (quant == 1 && scale->present != 0) {
        SIM_TRY(sim_moe_require_shape(scale, 2, -1, width));
        const int64_t lines = scale->tensors->dims[0], experts = part->pa_end - part->pa_first;
        SIM_ARGUMENT(lines == 1 || lines == experts, ACLNN_ERR_INNER_TILING_ERROR,
                     "dimension 0 of %s is %" PRId64 ", expected 1 or %" PRId64 ", the number of experts", scale->name,
                     lines, experts);
    }
    if (quant == -1 && scale->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(&given[SCALES], SIM_TYPE(ACL_FLOAT)));
    return sim_moe_require_shape(&given[SCALES], 1, (int64_t)part->pa_rows, -1);
}

static aclnnStatus check_shapes(const aclsimArgument *given)
{
    const aclsimTensor *x = given[X].tensors, *to = given[TO].tensors;
    const int64_t count = sim_walk_count(given[EXPERTS].tensors), active = given[ACTIVE].integer;
    SIM_TRY(sim_moe_require_shape(&given[PLACES], 1, count, -1));
    if (given[MODE].integer == 1) {
        SIM_TRY(sim_moe_require_shape(&given[TO], 3, given[NUMBER].integer, given[CAPACITY].integer));
    } else {
        SIM_TRY(sim_moe_require_shape(&given[TO], 2, -1, x->dims[1]));
        SIM_ARGUMENT(to->dims[0] == count || (active > 0 && to->dims[0] == active && active < count),
                     ACLNN_ERR_INNER_TILING_ERROR,
                     "dimension 0 of %s is %" PRId64 ", expected %" PRId64 ", the pairs, or activeNum if it is less",
                     given[TO].name, to->dims[0], count);
    }
    SIM_ARGUMENT(to->dims[to->rank - 1] == x->dims[1], ACLNN_ERR_INNER_TILING_ERROR,
                 "the last dimension of %s is %" PRId64 ", expected %" PRId64, given[TO].name, to->dims[to->rank - 1],
                 x->dims[1]);
    const struct part part = part_of(given);
    if (given[COUNT_FLAG].integer != 0) {
        const bool pairs = given[COUNT_TYPE].integer == BY_PAIR;
        SIM_TRY(sim_require_type(&given[COUNTED], SIM_TYPE(ACL_INT64)));
        SIM_TRY(sim_moe_require_shape(&given[COUNTED], pairs ? 2 : 1,
                                      pairs ? given[NUMBER].integer : part.pa_end - part.pa_first, 2));
    }
    return check_scales(given, &part);
}

static aclnnStatus plan_third(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclDataType type = given[X].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[X], SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_type(&given[EXPERTS], SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_type(&given[PLACES], SIM_TYPE(ACL_INT32)));
    SIM_TRY(check_part(given));
    SIM_TRY(sim_require_type(&given[TO], SIM_TYPE(given[QUANT].integer == -1 ? type : ACL_INT8)));
    SIM_ARGUMENT(given[QUANT].integer == -1 || type != ACL_INT8, ACLNN_ERR_PARAM_INVALID,
                 "%s has data type int8 and %s is %" PRId64 ", expected -1", given[X].name, given[QUANT].name,
                 given[QUANT].integer);
    SIM_TRY(sim_moe_require_shape(&given[X], 2, -1, -1));
    SIM_TRY(sim_moe_require_shape(&given[EXPERTS], 2, given[X].tensors->dims[0], -1));
    return check_shapes(given);
}

/* Copies the tokens of the range to their places. `used` counts the tokens of each expert of the range. */
static void place_part(const aclsimArgument *given, const struct part *part, const struct rows *rows,
                       const double *experts, const double *order, const double *scales, double *used, double *places)
{
    const size_t count = (size_t)sim_walk_count(given[EXPERTS].tensors), each = (size_t)given[EXPERTS].tensors->dims[1];
    const size_t capacity = (size_t)given[CAPACITY].integer;
    const int64_t active = given[ACTIVE].integer;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t pair = (size_t)order[i];
        const bool is_in = experts[pair] >= (double)part->pa_first && experts[pair] < (double)part->pa_end;
        const size_t expert = is_in ? (size_t)experts[pair] - (size_t)part->pa_first : 0;
        const size_t before = is_in ? (size_t)used[expert]++ : 0;
        const size_t to = part->pa_drops ? expert * capacity + before : next;
        const bool kept = is_in && (!part->pa_drops || before < capacity);
        next += is_in;
        if (given[PLACE_TYPE].integer == 1)
            places[i] = (double)pair;
        else
            places[pair] = kept ? (double)to : -1;
        if (!kept || to >= part->pa_rows || (!part->pa_drops && active > 0 && to >= (size_t)active))
            continue;
        put_row(rows, pair / each, expert, to);
        if (given[QUANT].integer == -1 && scales != NULL)
            rows->rw_scales[to] = scales[pair / each];
    }
}

/* Stores the counts in the form that the call asks for. */
static aclError store_counts(const aclsimArgument *given, const struct part *part, struct sim_lists *lists,
                             double *used)
{
    const size_t experts = (size_t)(part->pa_end - part->pa_first);
    double *pairs;
    size_t next = 0;
    if (given[COUNT_TYPE].integer != BY_PAIR) {
        for (size_t i = 1; given[COUNT_TYPE].integer == BY_END && i < experts; i++)
            used[i] += used[i - 1];
        sim_lists_store(&given[COUNTED], used);
        return ACL_SUCCESS;
    }
    SIM_TRY(sim_lists_take(lists, 2 * (size_t)given[NUMBER].integer, &pairs));
    for (size_t i = 0; i < experts; i++)
        if (used[i] != 0) {
            pairs[next++] = (double)(i + (size_t)part->pa_first);
            pairs[next++] = used[i];
        }
    sim_lists_store(&given[COUNTED], pairs);
    return ACL_SUCCESS;
}

static aclError run_third(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct part part = part_of(given);
    const size_t count = (size_t)sim_walk_count(given[EXPERTS].tensors);
    const int64_t quant = given[QUANT].integer;
    struct rows rows = {.rw_width = (size_t)given[X].tensors->dims[1],
                        .rw_quantised = quant != -1,
                        .rw_dynamic = quant == 1};
    double *x, *experts, *keys, *order, *places, *used, *scale = NULL, *offset = NULL;
    SIM_TRY(sim_lists_load(lists, &given[X], &x));
    SIM_TRY(sim_lists_load(lists, &given[EXPERTS], &experts));
    SIM_TRY(sim_lists_take(lists, count, &keys));
    SIM_TRY(sim_lists_take(lists, count, &places));
    SIM_TRY(sim_lists_take(lists, (size_t)(part.pa_end - part.pa_first), &used));
    SIM_TRY(sim_lists_take(lists, part.pa_rows * rows.rw_width, &rows.rw_to));
    SIM_TRY(sim_lists_take(lists, part.pa_rows, &rows.rw_scales));
    for (size_t i = 0; i < count; i++) /* experts before the range come last */
        keys[i] = experts[i] < (double)part.pa_first ? INT32_MAX : experts[i];
    SIM_TRY(sim_moe_sort(lists, keys, count, &order));
    if (given[SCALE].present != 0)
        SIM_TRY(sim_lists_load(lists, &given[SCALE], &scale));
    if (quant == 0)
        SIM_TRY(sim_lists_load(lists, &given[OFFSET], &offset));
    rows.rw_x = x;
    rows.rw_scale = quant == -1 ? NULL : scale;
    rows.rw_offset = offset;
    rows.rw_wide = rows.rw_dynamic;
    rows.rw_across = rows.rw_dynamic && scale != NULL && given[SCALE].tensors->dims[0] > 1 ? rows.rw_width : 0;
    place_part(given, &part, &rows, experts, order, scale, used, places);
    sim_lists_store(&given[TO], rows.rw_to);
    sim_lists_store(&given[PLACES], places);
    if (quant == 1 || (quant == -1 && scale != NULL))
        sim_lists_store(&given[SCALES], rows.rw_scales);
    return given[COUNT_FLAG].integer != 0 ? store_counts(given, &part, lists, used) : ACL_SUCCESS;
}

static const struct sim_lists_kind third = {run_third};
const struct sim_kernel sim_kernel_aclnnMoeInitRoutingV3 = {plan_third, sim_lists_run, (void *)&third, false};

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
