/* Marks and ranges for tools. */
#ifndef ACL_INCLUDE_MSTX_MS_TOOLS_EXT_H
#define ACL_INCLUDE_MSTX_MS_TOOLS_EXT_H

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/mstx.h"

#ifdef __cplusplus
}
#endif

#endif
