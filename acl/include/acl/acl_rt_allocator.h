/* Allocators supplied by the program. */
#ifndef ACL_INCLUDE_ACL_RT_ALLOCATOR_H
#define ACL_INCLUDE_ACL_RT_ALLOCATOR_H

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/allocator.h"

#ifdef __cplusplus
}
#endif

#endif
