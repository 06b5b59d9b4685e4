/* Single operators. */
#ifndef ACL_INCLUDE_ACL_OP_H
#define ACL_INCLUDE_ACL_OP_H

#include "acl_base.h"
#include "acl_dump.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/op.h"

#ifdef __cplusplus
}
#endif

#endif
