/* Instances of the communication unit. */
#ifndef ACL_INCLUDE_HCCL_HCCL_CCU_RES_H
#define ACL_INCLUDE_HCCL_HCCL_CCU_RES_H

#include "hccl/hccl_res.h"

#endif
