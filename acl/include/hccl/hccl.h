/* Collective communication. */
#ifndef ACL_INCLUDE_HCCL_HCCL_H
#define ACL_INCLUDE_HCCL_HCCL_H

#include "hccl/hccl_comm.h"

#endif
