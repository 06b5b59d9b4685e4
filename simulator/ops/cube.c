/* The math types of the cube unit. */
#include "cube.h"

#include "base/config.h"
#include "base/fail.h"
#include <inttypes.h>

static const char *const names[] = {"KEEP_DTYPE", "ALLOW_FP32_DOWN_PRECISION", "USE_FP16", "USE_HF32", "USE_FP32_ADD"};

/* Chips whose cube unit has neither float32 nor HF32. */
static bool is_half_only(void)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    return profile == SIM_P910 || profile == SIM_P310P;
}

aclnnStatus sim_cube_check(const aclsimArgument *math, enum sim_math last, aclDataType type, bool strict)
{
    int64_t value = math->integer;
    SIM_ARGUMENT(value >= SIM_KEEP_DTYPE && value <= (int64_t)last, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 (KEEP_DTYPE) to %d (%s)", math->name, value, (int)last, names[last]);
    bool exists = !is_half_only() || (value != SIM_USE_HF32 && (value != SIM_KEEP_DTYPE || type != ACL_FLOAT));
    SIM_ARGUMENT(exists, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 " (%s), which this chip does not support for %s, "
                 "expected 1 or 2", math->name, value, names[value], sim_element_name(type));
    bool fits = (value != SIM_USE_FP16 || type != ACL_BF16) && (value != SIM_USE_HF32 || type == ACL_FLOAT);
    SIM_ARGUMENT(fits || !strict, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 " (%s), which is not supported for %s, expected 0 or 1", math->name, value,
                 names[value], sim_element_name(type));
    return ACL_SUCCESS;
}

enum sim_rounding sim_cube_rounding(const aclsimArgument *math, aclDataType type)
{
    if (type != ACL_FLOAT)
        return SIM_ROUND_NOT;
    switch (math->integer) {
    case SIM_ALLOW_FP32_DOWN_PRECISION:
        return is_half_only() ? SIM_ROUND_HALF : SIM_ROUND_HF32;
    case SIM_USE_FP16:
        return SIM_ROUND_HALF;
    case SIM_USE_HF32:
        return SIM_ROUND_HF32;
    default:
        return SIM_ROUND_NOT;
    }
}
