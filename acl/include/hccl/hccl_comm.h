/* Communicators. */
#ifndef ACL_INCLUDE_HCCL_HCCL_COMM_H
#define ACL_INCLUDE_HCCL_HCCL_COMM_H

#include "hccl/hccl_types.h"

#endif
