/* Queues of shared buffers. */
#ifndef ACL_INCLUDE_ACL_TDT_QUEUE_H
#define ACL_INCLUDE_ACL_TDT_QUEUE_H

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/queue.h"

#ifdef __cplusplus
}
#endif

#endif
