/* Operators that assign values without arithmetic: casts, copies, constants, the choice between two tensors, and
 * ClipByValue. sim_element_store casts between all types. */
#include "formula.h"
#include "report.h"
#include "require.h"
#include "tables.h"
#include "walk.h"

SIM_EACH_ARITHMETIC(keep, a)
#define KEEP .fo_keeps = true, .fo_run = {SIM_RUN_REAL(keep), SIM_RUN_PAIR(keep)}

/* ---- casts and copies ---- */

/* A copy without a change of type keeps all bits, also those of a NaN. */
static aclError run_copy(const aclsimCall *call)
{
    struct sim_formula_call parsed;
    SIM_TRY(sim_formula_parse(call, &parsed));
    const aclsimTensor *out = parsed.fc_out->tensors, *in = parsed.fc_in[0]->tensors;
    if (out->type != in->type)
        return sim_formula_run(call);
    sim_walk_copy(out, in);
    return ACL_SUCCESS;
}

static aclnnStatus plan_cast(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *type = &call->arguments[1], *out = &call->arguments[2];
    SIM_TRY(sim_formula_plan(call, workspace_size));
    if (type->integer != (int64_t)out->tensors->type)
        sim_report_number(type->name, out->tensors->type);
    SIM_ARGUMENT(type->integer == (int64_t)out->tensors->type, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected %d, the data type of %s", type->name, (long long)type->integer,
                 (int)out->tensors->type, out->name);
    return ACL_SUCCESS;
}

static const struct sim_formula cast = {
    .fo_result = "the value", .fo_in = SIM_TYPES_ALL, .fo_out = SIM_TYPES_ALL, .fo_free = true, KEEP};
const struct sim_kernel sim_kernel_aclnnCast = {plan_cast, run_copy, (void *)&cast, true};

static const struct sim_formula copy = {.fo_result = "the value",
                                        .fo_in = SIM_TYPES_ALL,
                                        .fo_out = SIM_TYPES_ALL,
                                        .fo_free = true,
                                        .fo_spreads = true,
                                        KEEP};
const struct sim_kernel sim_kernel_aclnnInplaceCopy = {sim_formula_plan, run_copy, (void *)&copy, true};

/* ---- constants ---- */

static const struct sim_formula fill = {.fo_result = "the value",
                                        .fo_in = SIM_TYPES_ALL,
                                        .fo_out = SIM_TYPES_ALL,
                                        .fo_free = true,
                                        .fo_spreads = true,
                                        KEEP};
SIM_FORMULA_KERNEL(InplaceFillScalar, &fill);

#define FILLED (SIM_TYPES_ALL & ~(SIM_TYPE(ACL_DOUBLE) | SIM_TYPES_COMPLEX))
static const struct sim_formula fill_from_tensor = {
    .fo_result = "the value", .fo_in = FILLED, .fo_out = FILLED, .fo_free = true, KEEP};

/* The value may be a scalar tensor or have one dimension of size 1, whatever the shape of the result is. */
static aclnnStatus plan_fill_from_tensor(const aclsimCall *call, uint64_t *workspace_size)
{
    struct sim_formula_call parsed;
    (void)workspace_size;
    SIM_TRY(sim_formula_parse(call, &parsed));
    return sim_require_one(parsed.fc_in[0]);
}
const struct sim_kernel sim_kernel_aclnnInplaceFillTensor = {plan_fill_from_tensor, sim_formula_run,
                                                             (void *)&fill_from_tensor, true};

SIM_EACH_ARITHMETIC(clear, 0)
static const struct sim_formula zero = {.fo_result = "the value",
                                        .fo_out = SIM_TYPES_ALL,
                                        .fo_spreads = true,
                                        .fo_run = {SIM_RUN_REAL(clear), SIM_RUN_PAIR(clear)}};
SIM_FORMULA_KERNEL(InplaceZero, &zero);

SIM_EACH_ARITHMETIC(set, 1)
static const struct sim_formula one = {.fo_result = "the value",
                                       .fo_out = SIM_TYPES_ALL,
                                       .fo_spreads = true,
                                       .fo_run = {SIM_RUN_REAL(set), SIM_RUN_PAIR(set)}};
SIM_FORMULA_KERNEL(InplaceOne, &one);

/* ---- choice ---- */

SIM_EACH_ARITHMETIC(pick, a != 0 ? b : c)
static const struct sim_formula choice = {.fo_result = "the selected value",
                                          .fo_in = SIM_TYPES_ALL,
                                          .fo_out = SIM_TYPES_ALL,
                                          .fo_condition = SIM_TYPES_BOOL | SIM_TYPE(ACL_UINT8),
                                          .fo_run = {SIM_RUN_REAL(pick), SIM_RUN_PAIR(pick)}};
SIM_FORMULA_KERNEL(SWhere, &choice);

/* ---- ClipByValue: x, clip_value_min, clip_value_max, y; a NaN of x stays ---- */

SIM_EACH_INTEGER(clip, a < b ? (b > c ? c : b) : a > c ? c : a)
SIM_EACH_FLOAT(clip, a < b ? (b > c ? c : b) : a > c ? c : a)
#define CLIPPED (SIM_TYPES_FLOAT | SIM_TYPES_INTEGER)
static const struct sim_formula clipped = {.fo_result = "the clipped x", .fo_in = CLIPPED, .fo_out = CLIPPED,
                                           .fo_exact = true, .fo_run = {SIM_RUN_REAL(clip)}};
static const struct sim_kernel clip_kernel = {sim_formula_plan, sim_formula_run, (void *)&clipped, true};
static const struct sim_parameter clip_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false}, {"clip_value_min", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"clip_value_max", ACLSIM_TENSOR, ACLSIM_IN, false}, {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_clip_row = SIM_ROW("ClipByValue", SIM_TASK_VECTOR, clip_parameters, &clip_kernel);
