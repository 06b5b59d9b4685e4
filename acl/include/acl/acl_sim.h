/* Control of the simulator, which the vendor's library does not have. */
#ifndef ACL_INCLUDE_ACL_SIM_H
#define ACL_INCLUDE_ACL_SIM_H

#include "acl_rt.h"

/* C99 does not have unnamed unions. */
#if !defined __cplusplus && __STDC_VERSION__ < 201112L
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/sim.h"

#ifdef __cplusplus
}
#endif

#if !defined __cplusplus && __STDC_VERSION__ < 201112L
#pragma GCC diagnostic pop
#endif

#endif
