/* Media processing. */
#ifndef ACL_INCLUDE_OPS_ACL_DVPP_H
#define ACL_INCLUDE_OPS_ACL_DVPP_H

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/dvpp.h"

#ifdef __cplusplus
}
#endif

#endif
