/* GroupedMatmulV5, which has the arguments of V4 and tuningConfig, a hint that is ignored. */
#include "grouped_matmul.h"

const struct sim_kernel sim_kernel_aclnnGroupedMatmulV5 = {sim_grouped_matmul_plan, sim_grouped_matmul_run, NULL,
                                                           false};
