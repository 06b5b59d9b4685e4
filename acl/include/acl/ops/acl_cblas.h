/* Matrix products. */
#ifndef ACL_INCLUDE_OPS_ACL_CBLAS_H
#define ACL_INCLUDE_OPS_ACL_CBLAS_H

#include "acl/acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/blas.h"

#ifdef __cplusplus
}
#endif

#endif
