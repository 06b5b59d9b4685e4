/* The math types of the cube unit, which select the format to which float32 factors are rounded before they are
 * multiplied: HF32 or float16, as the documents say for the family of the chip. SIM_USE_FP32_ADD promises more precise
 * sums than SIM_KEEP_DTYPE; here both are equally precise. */
#ifndef OPS_CUBE_H
#define OPS_CUBE_H

#include "multiply.h"

enum sim_math { SIM_KEEP_DTYPE, SIM_ALLOW_FP32_DOWN_PRECISION, SIM_USE_FP16, SIM_USE_HF32, SIM_USE_FP32_ADD };

/* Returns 161002 unless the math type is at most `last`, and the chip supports it for factors of `type`. With `strict`,
 * math types that do not apply to that type are refused too. */
aclnnStatus sim_cube_check(const aclsimArgument *math, enum sim_math last, aclDataType type, bool strict);

/* The format for factors of `type`, for a math type that has been checked. */
enum sim_rounding sim_cube_rounding(const aclsimArgument *math, aclDataType type);

#endif
