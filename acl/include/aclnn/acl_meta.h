/* Arguments of operators. */
#ifndef ACL_INCLUDE_ACLNN_ACL_META_H
#define ACL_INCLUDE_ACLNN_ACL_META_H

#include "acl/acl_base.h"
#include "acl/acl_dump.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/tensor.h"

#ifdef __cplusplus
}
#endif

/* The success status of operators, with the vendor's type. */
static const aclnnStatus OK = 0;

#endif
