/* Profiling. */
#ifndef ACL_INCLUDE_ACL_PROF_H
#define ACL_INCLUDE_ACL_PROF_H

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/prof.h"

#ifdef __cplusplus
}
#endif

#endif
