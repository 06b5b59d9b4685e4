/* Conversions to packed types. TransQuantParamV2 and V3 and the helper TransQuantParam make scales of the cube unit: 64
 * bits with a float32, whose last 13 bits are cut off or rounded, a flag, and an offset of 9 bits.
 * ConvertWeightToINT4Pack packs integers of 4 bits; a weight in FRACTAL_NZ is packed in the same order, because
 * products here read views by their strides. */
#include "base/bytes.h"
#include "operator/tensordesc.h"
#include "indices.h"
#include "packed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SCALE_BITS UINT32_C(0xffffe000)
#define HAS_SCALE (UINT64_C(1) << 46)
#define OFFSET_SHIFT 37
#define OFFSET_LEAST (-256)
#define OFFSET_MOST 255
#define OFFSET_BITS 0x1ff

aclnnStatus sim_helper_aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray,
                                            uint64_t offsetSize, uint64_t **quantParam, uint64_t *quantParamSize);

static uint64_t pack_scale(float scale, float offset, bool rounds)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    if (rounds) /* to nearest, ties to even */
        bits += ~SCALE_BITS / 2 + (bits / (~SCALE_BITS + 1) & 1);
    const int64_t whole = (int64_t)fmax(OFFSET_LEAST, fmin(OFFSET_MOST, rint((double)offset)));
    return (bits & SCALE_BITS) | HAS_SCALE | ((uint64_t)whole & OFFSET_BITS) << OFFSET_SHIFT;
}

/* ---- TransQuantParam: one scale and one offset may stand for all ---- */

static aclnnStatus check_count(const char *name, uint64_t count, uint64_t most)
{
    SIM_ARGUMENT(count == most || count == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRIu64 ", expected 1 or %" PRIu64 " numbers", name, count, most);
    return ACL_SUCCESS;
}

aclnnStatus sim_helper_aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray,
                                            uint64_t offsetSize, uint64_t **quantParam, uint64_t *quantParamSize)
{
    const uint64_t offsets = offsetArray == NULL ? 1 : offsetSize, count = scaleSize > offsets ? scaleSize : offsets;
    uint64_t bytes = sizeof **quantParam;
    SIM_ARGUMENT(scaleArray != NULL, ACLNN_ERR_PARAM_NULLPTR, "scaleArray is NULL, expected a valid pointer");
    SIM_ARGUMENT(quantParam != NULL, ACLNN_ERR_PARAM_NULLPTR, "quantParam is NULL, expected a valid pointer");
    SIM_ARGUMENT(quantParamSize != NULL, ACLNN_ERR_PARAM_NULLPTR, "quantParamSize is NULL, expected a valid pointer");
    SIM_ARGUMENT(count <= SIM_VALUES_MAX, ACLNN_ERR_PARAM_INVALID, "%s is %" PRIu64 ", expected at most %d numbers",
                 scaleSize == count ? "scaleSize" : "offsetSize", count, SIM_VALUES_MAX);
    SIM_TRY(check_count("scaleSize", scaleSize, count));
    SIM_TRY(check_count("offsetSize", offsets, count));
    *quantParam = sim_size_multiply(&bytes, count) ? malloc(bytes) : NULL;
    SIM_ARGUMENT(*quantParam != NULL, ACLNN_ERR_INNER, "cannot allocate host memory for %" PRIu64 " scales", count);
    for (uint64_t i = 0; i < count; i++) {
        const float offset = offsetArray == NULL ? 0 : offsetArray[offsetSize == 1 ? 0 : i];
        (*quantParam)[i] = pack_scale(scaleArray[scaleSize == 1 ? 0 : i], offset, false);
    }
    *quantParamSize = count;
    return ACL_SUCCESS;
}

/* ---- TransQuantParamV2: scale, offset, out; V3 also has roundMode before out ---- */

static int64_t most_of(const aclsimArgument *given)
{
    const int64_t scales = sim_walk_count(given[0].tensors);
    const int64_t offsets = given[1].present == 0 ? 1 : sim_walk_count(given[1].tensors);
    return scales > offsets ? scales : offsets;
}

static aclnnStatus plan_param(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *out = &given[call->argumentCount - 1];
    const int64_t count = most_of(given);
    (void)workspace_size;
    SIM_ARGUMENT(out == &given[2] || given[2].integer == 0 || given[2].integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 or 1", given[2].name, given[2].integer);
    for (size_t k = 0; k < 2 && (k == 0 || given[1].present != 0); k++) {
        SIM_TRY(sim_require_type(&given[k], SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_rank(&given[k], 1, 2));
        SIM_TRY(sim_packed_require_vector(&given[k], count));
    }
    SIM_TRY(sim_require_type(out, SIM_TYPES_SCALE));
    SIM_TRY(sim_require_rank(out, 1, 2));
    const int64_t found = sim_walk_count(out->tensors);
    SIM_ARGUMENT(found == count && found == out->tensors->dims[out->tensors->rank - 1], ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " elements, expected %" PRId64 " in the last dimension", out->name, found, count);
    return ACL_SUCCESS;
}

static aclError run_param(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *out = given[call->argumentCount - 1].tensors;
    const bool rounds = call->argumentCount > 3 && given[2].integer != 0;
    const int64_t count = most_of(given);
    const double *scales, *offsets;
    SIM_TRY(sim_packed_load_vector(lists, &given[0], (size_t)count, &scales));
    SIM_TRY(sim_packed_load_vector(lists, &given[1], (size_t)count, &offsets));
    for (int64_t i = 0; i < count; i++) {
        const uint64_t packed = pack_scale((float)scales[i], offsets == NULL ? 0 : (float)offsets[i], rounds);
        memcpy(sim_indices_nth(out, i), &packed, sizeof packed);
    }
    return ACL_SUCCESS;
}

static const struct sim_lists_kind param = {run_param};
const struct sim_kernel sim_kernel_aclnnTransQuantParamV2 = {plan_param, sim_lists_run, (void *)&param, false},
                        sim_kernel_aclnnTransQuantParamV3 = {plan_param, sim_lists_run, (void *)&param, false};

/* ---- ConvertWeightToINT4Pack: weight, weightInt4Pack ---- */

static aclnnStatus plan_pack(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *weight = &call->arguments[0], *packed = &call->arguments[1];
    (void)workspace_size;
    SIM_TRY(sim_require_type(weight, SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_rank(weight, 2, 3));
    SIM_TRY(sim_require_type(packed, SIM_TYPE(ACL_INT4) | SIM_TYPE(ACL_INT32)));
    return sim_packed_require_out(packed, weight);
}

static aclError run_pack(const aclsimCall *call, struct sim_lists *lists)
{
    double *numbers;
    SIM_TRY(sim_lists_load(lists, &call->arguments[0], &numbers));
    sim_packed_store(&call->arguments[1], numbers);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind pack = {run_pack};
const struct sim_kernel sim_kernel_aclnnConvertWeightToINT4Pack = {plan_pack, sim_lists_run, (void *)&pack, false};
