/* Models. */
#ifndef ACL_INCLUDE_ACL_MDL_H
#define ACL_INCLUDE_ACL_MDL_H

#include "acl_base.h"
#include "acl_rt.h"

/* Names of the inputs that a dynamic model adds, and of the attribute that names the operators before fusion. */
#define ACL_DYNAMIC_TENSOR_NAME "ascend_mbatch_shape_data"
#define ACL_DYNAMIC_AIPP_NAME "ascend_dynamic_aipp_data"
#define ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES "_datadump_original_op_names"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/dataset.h"
#include "abi/model.h"
#include "abi/model_aipp.h"

#ifdef __cplusplus
}
#endif

#endif
