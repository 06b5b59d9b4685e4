/* Pings between network ports. */
#ifndef ACL_INCLUDE_HCCL_HCCN_RPING_H
#define ACL_INCLUDE_HCCL_HCCN_RPING_H

#include <stdint.h>

#include "acl/acl_api.h"

/* C99 has no unnamed unions, and C++ no types declared in them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/hccn_rping.h"

#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

#endif
