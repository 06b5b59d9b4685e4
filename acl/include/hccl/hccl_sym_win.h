/* Windows in the memory of other ranks. */
#ifndef ACL_INCLUDE_HCCL_HCCL_SYM_WIN_H
#define ACL_INCLUDE_HCCL_HCCL_SYM_WIN_H

#include "hccl/hccl_res.h"

#endif
