/* Memory, threads and contexts of a communicator. */
#ifndef ACL_INCLUDE_HCCL_HCCL_RES_H
#define ACL_INCLUDE_HCCL_HCCL_RES_H

#include "hcomm/hcomm_res_defs.h"

/* C99 has no unnamed unions, and C++ no types declared in them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/hccl_res.h"

#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

#endif
