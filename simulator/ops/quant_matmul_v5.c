/* QuantMatmulV5: x1, x2, x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, bias, transposeX1, transposeX2,
 * groupSize, out. x1Scale has one number per row, x2Scale one per column; scales per group are not supported. */
#include "quant_matmul.h"

static const struct sim_quant_matmul version = {
    .qm_kind = {sim_quant_matmul_run},
    .qm_types = SIM_TYPES_PACKED,
    .qm_rows = 2,
    .qm_scale = 3,
    .qm_offset = 6,
    .qm_bias = 8,
    .qm_turns = 9,
    .qm_group = 11,
    .qm_absent = {4, 5, 7},
};
const struct sim_kernel sim_kernel_aclnnQuantMatmulV5 = {sim_quant_matmul_plan, sim_lists_run, (void *)&version,
                                                         false};
