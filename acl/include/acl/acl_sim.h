/* Control of the simulator, which the vendor's library does not have. */
#ifndef ACL_INCLUDE_ACL_SIM_H
#define ACL_INCLUDE_ACL_SIM_H

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/sim.h"

#ifdef __cplusplus
}
#endif

#endif
