/* Products of groups of matrices, which all versions of GroupedMatmul share: x, weight, bias, scale, offset,
 * antiquantScale, antiquantOffset, from V4 on perTokenScale, groupList, from V4 on three lists for activations that are
 * ignored, splitItem, from V2 on groupType, from V4 on groupListType and actType, in V5 tuningConfig, the result, and
 * from V4 on two more results that are not written. */
#ifndef OPS_GROUPED_MATMUL_H
#define OPS_GROUPED_MATMUL_H

#include "operator/row.h"

aclnnStatus sim_grouped_matmul_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_grouped_matmul_run(const aclsimCall *call);

#endif
