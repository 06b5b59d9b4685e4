/* Transfers on threads and channels. */
#ifndef ACL_INCLUDE_HCOMM_HCOMM_PRIMITIVES_H
#define ACL_INCLUDE_HCOMM_HCOMM_PRIMITIVES_H

#include "hcomm/hcomm_res_defs.h"

#endif
