/* Endpoints, memory and threads. */
#ifndef ACL_INCLUDE_HCOMM_HCOMM_RES_H
#define ACL_INCLUDE_HCOMM_HCOMM_RES_H

#include "hcomm/hcomm_res_defs.h"

#endif
