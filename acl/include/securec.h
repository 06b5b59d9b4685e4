/* Bounded copies and prints. */
#ifndef ACL_INCLUDE_SECUREC_H
#define ACL_INCLUDE_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "acl/acl_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/securec.h"

#ifdef __cplusplus
}
#endif

#endif
