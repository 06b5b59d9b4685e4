/* Channels that carry tensors between host and device. */
#ifndef ACL_INCLUDE_ACL_TDT_H
#define ACL_INCLUDE_ACL_TDT_H

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/channel.h"

#ifdef __cplusplus
}
#endif

#endif
