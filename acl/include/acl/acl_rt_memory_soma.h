/* Stream-ordered memory pools. */
#ifndef ACL_INCLUDE_ACL_RT_MEMORY_SOMA_H
#define ACL_INCLUDE_ACL_RT_MEMORY_SOMA_H

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/pool.h"

#ifdef __cplusplus
}
#endif

#endif
