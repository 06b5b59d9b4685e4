/* GroupedMatmulSwigluQuant and its versions: products of groups of rows of int8 with their weights, whose first half,
 * after SiLU, is multiplied by the second one; each row is quantised to int8. Rows behind the last group are not
 * written. */
#include "grouped_int8.h"
#include "report.h"
#include "smooth.h"

#include <inttypes.h>

/* x, weight, bias, offset, weightScale, xScale, groupList, output, outputScale, outputOffset, which is not written */
enum { X, WEIGHT, BIAS, OFFSET, SCALE, ROWS, GROUPS, OUT, OUT_SCALE, OUT_OFFSET, ARGUMENTS };
/* x, weight, weightScale, weightAssistMatrix, bias, xScale, smoothScale, groupList, dequantMode, dequantDtype,
 * quantMode, groupListType, tuningConfig, output, outputScale */
enum {
    LATER_SCALE = 2, LATER_ASSIST, LATER_BIAS, LATER_ROWS, LATER_SMOOTH, LATER_GROUPS, LATER_DEQUANT, LATER_TYPE,
    LATER_MODE, LATER_KIND, LATER_TUNING, LATER_OUT, LATER_OUT_SCALE
};

struct gating {
    struct sim_grouped_int8 ga_operands;
    const aclsimArgument *ga_absent;
    const aclsimArgument *ga_assist;    /* only with a weight of integers of 4 bits, and not used */
    const aclsimArgument *ga_smooth, *ga_modes[2], *ga_kind; /* of later versions, or NULL */
    aclsimArgument ga_out, ga_out_scale;
    int64_t ga_half;     /* columns of the output */
    double *ga_values;   /* of a row */
    const double *ga_factors;
    bool ga_are_columns; /* factors per group and column, otherwise per group */
};

static struct gating gating_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    if (call->argumentCount == ARGUMENTS)
        return (struct gating){
            .ga_operands = {.go_x = &given[X], .go_weight = &given[WEIGHT], .go_scale = &given[SCALE],
                            .go_rows = &given[ROWS], .go_groups = &given[GROUPS]},
            .ga_absent = &given[OFFSET],
            .ga_assist = &given[BIAS],
            .ga_out = given[OUT],
            .ga_out_scale = given[OUT_SCALE],
        };
    return (struct gating){
        .ga_operands = {.go_x = &given[X], .go_weight = &given[WEIGHT], .go_scale = &given[LATER_SCALE],
                        .go_rows = &given[LATER_ROWS], .go_groups = &given[LATER_GROUPS],
                        .go_counts = given[LATER_KIND].integer == 1},
        .ga_absent = &given[LATER_BIAS],
        .ga_assist = &given[LATER_ASSIST],
        .ga_smooth = &given[LATER_SMOOTH],
        .ga_modes = {&given[LATER_DEQUANT], &given[LATER_MODE]},
        .ga_kind = &given[LATER_KIND],
        .ga_out = given[LATER_OUT],
        .ga_out_scale = given[LATER_OUT_SCALE],
    };
}

/* torch_npu passes tensors without elements, and lists without members, for what is absent. */
static bool has_elements(const aclsimArgument *argument)
{
    return argument->present != 0 && (argument->kind == ACLSIM_TENSOR || argument->count != 0) &&
           sim_walk_count(argument->tensors) != 0;
}

static aclnnStatus check_smooth(const struct gating *gating)
{
    const aclsimArgument *smooth = gating->ga_smooth;
    const int64_t dims[] = {gating->ga_operands.go_groups->tensors->dims[0], gating->ga_half};
    if (smooth == NULL || !has_elements(smooth))
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(smooth, SIM_TYPE(ACL_FLOAT)));
    return sim_require_shape(smooth, dims, smooth->tensors->rank == 1 ? 1 : 2, "numbers per group");
}

/* The scales of a row and of a weight are always multiplied; only quantisation by rows is supported. */
static aclnnStatus check_modes(const struct gating *gating)
{
    for (size_t k = 0; k < 2 && gating->ga_modes[k] != NULL; k++) {
        const aclsimArgument *mode = gating->ga_modes[k];
        const int64_t most = k == 0; /* the mode 1 of the weight says that its scales have parts */
        if (mode->integer < 0 || mode->integer > most)
            sim_report_number(mode->name, 0);
        SIM_ARGUMENT(mode->integer >= 0 && mode->integer <= most, ACLNN_ERR_PARAM_INVALID,
                     "%s is %" PRId64 ", expected %s", mode->name, mode->integer, k == 0 ? "0 or 1" : "0");
    }
    return gating->ga_kind == NULL ? ACL_SUCCESS : sim_groups_require_kind(gating->ga_kind);
}

static aclnnStatus check_absent(const struct gating *gating)
{
    const bool narrow = gating->ga_operands.go_weight->tensors->type != ACL_INT8;
    const aclsimArgument *const all[] = {gating->ga_absent, narrow ? NULL : gating->ga_assist};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        SIM_ARGUMENT(all[k] == NULL || !has_elements(all[k]), ACLNN_ERR_PARAM_INVALID,
                     "%s is given, expected NULL for this weight", all[k]->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    struct gating gating = gating_of(call);
    const int64_t *rows = gating.ga_operands.go_x->tensors->dims;
    int64_t columns = 0;
    (void)workspace_size;
    SIM_TRY(sim_grouped_int8_check(&gating.ga_operands, &columns));
    SIM_ARGUMENT(columns % 2 == 0, ACLNN_ERR_PARAM_INVALID, "%s has %" PRId64 " columns, expected an even number",
                 gating.ga_operands.go_weight->name, columns);
    SIM_TRY(check_absent(&gating));
    gating.ga_half = columns / 2;
    SIM_TRY(check_modes(&gating));
    SIM_TRY(check_smooth(&gating));
    SIM_TRY(sim_require_type(&gating.ga_out, SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_type(&gating.ga_out_scale, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_shape(&gating.ga_out, (const int64_t[]){rows[0], gating.ga_half}, 2, "half of the product"));
    return sim_require_shape(&gating.ga_out_scale, rows, 1, "one number per row");
}

/* Stores rows of an output. */
static void store_rows(const aclsimArgument *output, int64_t start, int64_t rows, const double *numbers)
{
    const aclsimTensor part = sim_groups_rows(output->tensors, start, start + rows);
    aclsimArgument argument = *output;
    argument.tensors = &part;
    sim_lists_store(&argument, numbers);
}

static aclError gate_rows(void *context, int64_t group, int64_t start, int64_t rows, const float *products)
{
    const struct gating *gating = context;
    const int64_t half = gating->ga_half;
    for (int64_t i = 0; i < rows; i++, products += 2 * half) {
        for (int64_t k = 0; k < half; k++) {
            const double factor = gating->ga_factors == NULL ? 1
                                  : gating->ga_factors[gating->ga_are_columns ? group * half + k : group];
            gating->ga_values[k] = sim_silu(products[k]) * products[half + k] * factor;
        }
        const double scale = sim_packed_quantize(gating->ga_values, (size_t)half, INT8_MAX);
        store_rows(&gating->ga_out, start + i, 1, gating->ga_values);
        store_rows(&gating->ga_out_scale, start + i, 1, &scale);
    }
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    struct gating gating = gating_of(call);
    double *factors;
    gating.ga_half = gating.ga_out.tensors->dims[1];
    SIM_TRY(sim_lists_take(lists, (size_t)gating.ga_half, &gating.ga_values));
    if (gating.ga_smooth != NULL && has_elements(gating.ga_smooth)) {
        SIM_TRY(sim_lists_load(lists, gating.ga_smooth, &factors));
        gating.ga_factors = factors;
        gating.ga_are_columns = gating.ga_smooth->tensors->rank == 2;
    }
    return sim_grouped_int8_run(&gating.ga_operands, lists, gate_rows, &gating);
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulSwigluQuant = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulSwigluQuantWeightNZ = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulSwigluQuantV2 = {plan, sim_lists_run, (void *)&kind, false};
const struct sim_kernel sim_kernel_aclnnGroupedMatmulSwigluQuantWeightNzV2 = {plan, sim_lists_run, (void *)&kind,
                                                                              false};
