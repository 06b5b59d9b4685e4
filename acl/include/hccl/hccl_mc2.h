/* Arguments of operators that compute and communicate. */
#ifndef ACL_INCLUDE_HCCL_HCCL_MC2_H
#define ACL_INCLUDE_HCCL_HCCL_MC2_H

#include "hccl/hccl_res.h"

#endif
